//! What surrounds the run: trainer, platform, container, and clues outside the traceback.

use super::origin;
use super::settings::Setting;
use super::{Clue, Frame, Platform, Trainer, pass, place};

/// The logger of a script that is run itself.
const OWN_LOOP: &str = "__main__";

/// The trainers that a line shows, told by paths, banners and command names rather than by mentions in prose.
pub(super) fn trainers(text: &str, found: &mut Vec<Trainer>) {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut add = |trainer, shown: bool| {
        if shown {
            found.push(trainer);
        }
    };
    add(Trainer::Axolotl, says(&["axolotl/", "axolotl.cli", "axolotl train", "[axolotl."]));
    add(Trainer::LlamaFactory, says(&["llamafactory", "llama-factory"]));
    add(
        Trainer::Swift,
        says(&["swift sft", "swift rlhf", "/swift/", "swift.cli", "ms-swift", "'global_step/max_steps'"]),
    );
    add(Trainer::Trl, says(&["/trl/", "trl/", "sfttrainer", "grpotrainer", "dpotrainer", "ppotrainer"]));
    add(
        Trainer::ComfyUi,
        says(&[
            "comfyui",
            "comfy/",
            "set vram state to:",
            "error occurred when executing",
            "exception during processing !!!",
            "got prompt",
            "got an oom, unloading all loaded models",
            "tips: if the workflow worked before",
        ]),
    );
    add(
        Trainer::StableDiffusionWebUi,
        says(&["stable-diffusion-webui", "sd.webui", "launching web ui with arguments"])
            || lower.starts_with("loading weights ["),
    );
    add(
        Trainer::Ultralytics,
        says(&["ultralytics", "yolo detect", "yolo train", "yolo segment", "yolo task="])
            || says(&["class"]) && says(&["images"]) && says(&["instances"])
            || says(&["caching images ("]),
    );
    add(
        Trainer::Lightning,
        says(&[
            "pytorch_lightning",
            "lightning/pytorch",
            "lightning.pytorch",
            "global_rank:",
            "tpu available:",
            "sanity checking",
        ]),
    );
    add(Trainer::MmEngine, says(&["/mmengine/", "mmengine -", "/mmcv/", "/mmdet/", "tools/dist_train.sh"]));
    add(Trainer::NeMo, says(&["/nemo/", "nemo.collections", "[nemo "]));
    add(
        Trainer::Vllm,
        says(&[
            "/vllm/",
            "vllm/worker/",
            "vllm/v1/",
            "vllm serve",
            // Its workers below Ray, 0.2 to 0.6.
            "(rayworkervllm pid=",
            "vllm.entrypoints",
            "vllm-openai",
            "[gpu_worker.py",
            "enginecore",
            "gpu kv cache size:",
            "[gpu_executor.py",
            "# gpu blocks:",
            "capturing cuda graph shapes",
            // 0.2 to 0.6.
            "capturing the model for cuda graphs. this may lead to",
            "capturing cuda graphs (",
        ]),
    );
    add(Trainer::Sglang, says(&["/sglang/", "sglang/srt/", "sglang.launch_server", "--mem-fraction-static"]));
    add(
        Trainer::Tgi,
        says(&[
            "text_generation_server/",
            "text_generation_launcher",
            "text_generation_router",
            "text-generation-launcher",
        ]),
    );
    add(Trainer::Lmdeploy, says(&["/lmdeploy/", "lmdeploy serve"]));
    add(Trainer::TensorRtLlm, says(&["/tensorrt_llm/", "trtllm-serve", "[tensorrt-llm]"]));
    add(Trainer::Fastai, says(&["/fastai/"]));
    // Its own scripts have options; trainers that are built on its core have settings of their own.
    let built_on =
        says(&["distributed/megatron/", "workers/megatron", "megatron_workers", "skyrl", "/verl/", "/slime/"]);
    add(Trainer::Megatron, says(&["/megatron/", "megatron-lm", "pretrain_gpt.py"]) && !built_on);
    // Its scripts of training, and those made from them, count batches where transformers' Trainer does not.
    add(Trainer::Diffusers, says(&["/diffusers/", "loading pipeline components", "num batches each epoch"]));
    add(
        Trainer::HfTrainer,
        says(&["transformers/trainer", "trainingarguments("])
            // Scripts without it have the same words for their own loop.
            || says(&["***** running training *****"]) && !lower.contains(OWN_LOOP)
            || says(&["'learning_rate':"]) && says(&["'epoch':"]),
    );
    add(
        Trainer::DeepSpeed,
        says(&["/deepspeed/", "deepspeed --", "deepspeed train"]) && !says(&["install deepspeed"])
            || says(&["--deepspeed", "[launch.py:"]),
    );
    add(Trainer::Accelerate, says(&["accelerate launch", "/accelerate/"]));
    add(Trainer::Fsdp, says(&["fully_sharded_data_parallel", "fullyshardeddataparallel"]));
}

/// How telling a trainer is when several show: a recipe on top of a library names the knobs, not the library below it.
pub(super) fn rank_of(trainer: Trainer) -> usize {
    const ORDER: [Trainer; 22] = [
        Trainer::LlamaFactory,
        Trainer::Axolotl,
        Trainer::Swift,
        Trainer::Trl,
        Trainer::ComfyUi,
        Trainer::StableDiffusionWebUi,
        Trainer::Ultralytics,
        Trainer::Lightning,
        Trainer::MmEngine,
        Trainer::NeMo,
        // SGLang borrows layers of vLLM's.
        Trainer::Sglang,
        Trainer::Vllm,
        Trainer::Tgi,
        Trainer::Lmdeploy,
        Trainer::TensorRtLlm,
        Trainer::Fastai,
        Trainer::Megatron,
        Trainer::Diffusers,
        Trainer::HfTrainer,
        Trainer::DeepSpeed,
        Trainer::Accelerate,
        Trainer::Fsdp,
    ];
    ORDER.iter().position(|known| *known == trainer).unwrap_or(ORDER.len())
}

/// True for a traceback through PyTorch that shows no trainer at all.
pub(super) fn plain(frames: &[Frame]) -> bool {
    frames.iter().any(|frame| frame.path().contains("/torch/")) && frames.iter().any(Frame::is_user_code)
}

/// True for a prompt of Unix on a machine that Windows named, `user@DESKTOP-7R2K9QX:~$`.
fn shell_on_windows(text: &str) -> bool {
    ["@DESKTOP-", "@LAPTOP-"].iter().any(|name| {
        let Some((_, rest)) = text.split_once(name) else { return false };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        end >= 3 && rest.get(end..).is_some_and(|rest| rest.starts_with(":~") || rest.starts_with(":/"))
    })
}

/// Platform and container as paths and names show them.
pub(super) fn platform(text: &str, found: &mut Vec<Setting>) {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if windows_path(text) || says(OF_WINDOWS) || pointer_of_windows(text) {
        found.push(Setting::Platform(Platform::Windows));
    } else if says(&["wsl2", "wsl 2", "microsoft-standard", "/usr/lib/wsl", "/mnt/c/", "/mnt/d/", "@wsl:"])
        || shell_on_windows(text)
    {
        found.push(Setting::Platform(Platform::Wsl));
    } else if mac_path(text) || killed_on_a_mac(text) || says(OF_MACS) {
        found.push(Setting::Platform(Platform::MacOs));
    } else if of_bsd(&lower) {
        found.push(Setting::Platform(Platform::Bsd));
    } else if says(&["nvmap", "jetson"]) || of_tegra(&lower) {
        found.push(Setting::Platform(Platform::Jetson));
    } else if says(&["/home/", "/usr/lib", "/usr/local", "/opt/"]) {
        found.push(Setting::Platform(Platform::Linux));
    }
    if says(&[
        "docker run",
        "docker-compose",
        "/docker/",
        "containerd://",
        "docker://",
        "/.dockerenv",
        "kubectl ",
        "kubepods",
        "singularity exec",
        "apptainer exec",
        "docker exec",
    ]) || prompt_of_a_container(text)
    {
        found.push(Setting::Container);
    }
}

/// True for a shell's word on a killed process as macOS has it, with the signal's number: `Killed: 9`, `run.sh: line 3:
/// 4711 Killed: 9   ./grid`. `jobs killed: 9` is a count.
fn killed_on_a_mac(text: &str) -> bool {
    text.trim() == "Killed: 9" || text.contains(": line ") && text.contains(" Killed: 9 ")
}

/// True for a prompt on a host that has the name which Docker gives a container: `root@3f1c5be2a9d1:/work#`,
/// `(kge) ada@3f1c5be2a9d1:~$`.
fn prompt_of_a_container(text: &str) -> bool {
    let Some((lead, rest)) = text.split_once('@') else { return false };
    let lead = lead.trim_start_matches(['(', '[']);
    let user = lead.split_once(") ").map_or(lead, |(_, user)| user);
    if user.is_empty() || !user.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-')) {
        return false;
    }
    let name = rest.split([':', ' ', '#', ']']).next().unwrap_or_default();
    name.len() == 12
        && name.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
        && name.bytes().any(|b| b.is_ascii_digit())
}

/// Names of libraries and compilers for Windows, and what programs say of their system.
const OF_WINDOWS: &[&str] = &[
    "cudart64_",
    "cudnn64_",
    "cublas64_",
    "nvcuda.dll",
    "w64-mingw32",
    "running under: windows",
    "| windows]",
    "os: windows",
    "platform: windows",
    // What Node and Electron call it: `OS version: Windows_NT x64 10.0.22621`.
    "windows_nt",
    // A .NET that speaks the user's language, in its stacks too; those of other systems speak English.
    "   bei system.",
    "   en system.",
    "   à system.",
    "   в system.",
    // R's own words, which it has on Windows alone. `memory.limit()` is called elsewhere too, and only warns there.
    "reached total allocation of",
    "your machine has a 4gb address limit",
    // A worker of R's on a machine that Windows named: `closing unused connection 9 (<-DESKTOP-7R2K9QX:11460)`.
    "<-desktop-",
    "<-laptop-",
    // TensorFlow's own builds for it.
    ".\\tensorflow/core/",
    // pytest's banner, and what applications of Electron's print.
    "platform win32 --",
    "\"platform\":\"win",
    // Go's runtime, and the code by which Windows has nothing left to commit.
    "runtime/mem_windows.go",
    "failed with errno=1455",
    // Redis' port, which makes a fork out of a copy of its heap (ERROR_COMMITMENT_LIMIT).
    "error code=0x000005af",
    // The name that AMD's driver for Windows gives; libdrm's, which Mesa prints, has a blank before the sign or none.
    "amd radeon(tm)",
];

/// `[libplacebo @ 000001f80c47a2c0]`: FFmpeg prints an address; the C library of Windows, without a `0x`, all of it. So
/// does Node in its stack: ` 1: 00007FF70B1FB106 node::OnFatalError+1318`.
fn pointer_of_windows(text: &str) -> bool {
    let of_node = || {
        let (number, rest) = text.trim_start().split_once(": ")?;
        let address = rest.split(' ').next()?;
        let whole = address.len() == 16 && address.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(number.parse::<u32>().is_ok() && whole && address.starts_with("00007FF"))
    };
    if of_node() == Some(true) {
        return true;
    }
    text.split_once(" @ ").and_then(|(_, rest)| rest.split_once(']')).is_some_and(|(address, _)| {
        address.len() == 16 && address.starts_with("0000") && address.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// gensim's frames, calls and what it logs. That it is installed tells nothing of who loads the data.
const OF_GENSIM: &[&str] =
    &["/gensim/models/", "\\gensim\\models\\", "gensim.models.", "progress: at sentence #", "progress: at example #"];

/// Names of Apple's machines, system and packages, as prompts, triples of compilers and paths show them.
const OF_MACS: &[&str] = &[
    "darwin",
    "macos-",
    "macos 1",
    "mac os x",
    "macbook",
    "@mbp",
    "mac-mini",
    "mac-studio",
    "@imac",
    "/opt/homebrew/",
    "/library/frameworks/",
    // Its C++ runtime as it ends a program, and its shells' word for that. Loaders elsewhere name libraries of its kind
    // as well.
    "libc++abi.dylib:",
    "abort trap: 6",
    "apple m1",
    "apple m2",
    "apple m3",
    "apple m4",
];

/// What `uname` says on a system of BSD's family, at a line's start or behind a label, and the triple of its compilers:
/// `OpenBSD 7.1`, `OS: FreeBSD 14.0`, `x86_64-unknown-freebsd`. A guest's or a peer's is named within a sentence, and
/// programs that came from there have its name in theirs: `netcat-openbsd`.
fn of_bsd(lower: &str) -> bool {
    ["openbsd", "freebsd", "netbsd", "dragonfly"].iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let (before, behind) = (&lower[..at], &lower[at + name.len()..]);
            let of_a_triple = before.ends_with("-unknown-") || before.ends_with("-portbld-");
            let release = behind.trim_start().starts_with(|c: char| c.is_ascii_digit());
            let label = ["os: ", "system: ", "platform: "].iter().any(|label| before.ends_with(label));
            of_a_triple || release && (before.trim().is_empty() || label)
        })
    })
}

/// `C:\Users\…`, a drive letter that starts a word.
pub(super) fn windows_path(text: &str) -> bool {
    let slashed = |path: &str| path.starts_with(|c: char| c.is_ascii_alphabetic()) && path.get(1..3) == Some(":/");
    // Python's own frames have slashes where the path was given so: `File "E:/code/main.py"`; Go's always have, and
    // TensorFlow's nodes those of their frames: `(defined at E:/code/main.py:21)`.
    let behind = |words: &str| text.split_once(words).map(|(_, path)| path);
    let file = behind("File \"").and_then(|path| path.split('"').next());
    if file.is_some_and(|path| slashed(path) || path.contains('\\'))
        || behind("(defined at ").is_some_and(slashed)
        || text.strip_prefix('\t').is_some_and(|path| slashed(path) && path.contains(".go:"))
    {
        return true;
    }
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b":\\").any(|at| {
        at >= 1
            && bytes[at - 1].is_ascii_alphabetic()
            && (at == 1 || !bytes[at - 2].is_ascii_alphanumeric())
            && bytes.get(at + 2).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(*b, b'_' | b'.' | b'\\'))
    })
}

/// True for a home folder of macOS; below another folder it is an image of some disk.
fn mac_path(text: &str) -> bool {
    text.match_indices("/Users/")
        .take(8)
        .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':')))
}

/// Commands that start a script of the user's own.
const LAUNCHERS: &[&str] = &[
    "torchrun",
    "accelerate",
    "deepspeed",
    "colossalai",
    "composer",
    "horovodrun",
    "ipython",
    "jupyter",
    "pytest",
    "python",
    "ray",
    "streamlit",
    "uvicorn",
    "gunicorn",
    "celery",
];

/// The outermost frame of a package's own command: `File "/opt/env/bin/ketos", line 8, in <module>`.
fn starts_in_a_command(text: &str) -> bool {
    let Some((file, _)) = text.split_once("\", line ").filter(|(_, rest)| rest.ends_with("in <module>")) else {
        return false;
    };
    let name = file.rsplit_once("/bin/").map(|(_, name)| name).filter(|name| !name.contains(['/', '.', ' ']));
    name.is_some_and(|name| !LAUNCHERS.iter().any(|launcher| name.starts_with(launcher)))
}

/// Bytes of the block that tcmalloc reports: `tcmalloc: large alloc 1056964608 bytes == …`.
pub(super) fn large_block(text: &str) -> Option<u64> {
    let (_, after) = text.split_once("large alloc ")?;
    after.split(' ').next()?.parse().ok()
}

/// Code that keeps a tensor of each step and the graph behind it: `running_loss += loss`, `val_losses.append(loss)`.
/// What becomes a number first is none, and neither are lists of what one pass makes, as `features.append(x)`.
fn keeps_tensors(text: &str) -> bool {
    const NUMBERS: &[&str] =
        &[".item(", ".detach(", ".cpu(", ".numpy(", ".tolist(", ".data", "float(", "mean_absolute", "print("];
    const OF_STEPS: &[&str] = &["running_", "epoch_", "train_", "training_", "val_", "valid_", "test_", "avg_", "sum_"];
    const LISTS: &[&str] = &["losses", "loss_list", "loss_hist", "loss_history", "preds", "predictions", "all_preds"];
    if text.len() > 256 || NUMBERS.iter().any(|number| text.contains(number)) {
        return false;
    }
    // A notebook numbers the lines that it shows.
    let code = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let of_steps = |name: &str| OF_STEPS.iter().any(|start| name.starts_with(start));
    let tensor = |value: &str| ["loss", "logits", "pred", "criterion("].iter().any(|start| value.starts_with(start));
    if let Some((sum, held)) = code.split_once("+=") {
        let sum = sum.trim();
        return of_steps(sum) && sum.ends_with("loss") && held.trim_start().starts_with("loss");
    }
    code.split_once(".append(").is_some_and(|(list, held)| {
        let plain = list.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let named = LISTS.contains(&list) || of_steps(list) && LISTS.iter().any(|name| list.ends_with(name));
        plain && named && tensor(held)
    })
}

/// Code that keeps no more than a number of the loss: `loss = criterion(out, y).item()`.
pub(super) fn makes_a_number_of_the_loss(text: &str) -> bool {
    text.len() <= 256
        && text.split_once(" = ").is_some_and(|(name, value)| {
            name.trim_start().starts_with("loss") && (value.contains(".item()") || value.starts_with("float("))
        })
}

/// Clues that a line holds, wherever it stands in the log.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>) {
    let lower = text.to_ascii_lowercase();
    place::clues(&lower, found);
    pass::clues(&lower, found);
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut add = |clue, shown: bool| {
        if shown {
            found.push(clue);
        }
    };
    add(
        Clue::NoGradVisible,
        says(&["torch.no_grad()", "inference_mode()"]) && !says(&["volatile was removed"])
            // The decorator, in a traceback of several as well; the optimizers' own is none of a forward pass.
            || says(&["decorate_context"]) && says(&["torch/autograd/grad_mode.py", "torch/utils/_contextlib.py"]),
    );
    add(Clue::EmptyCacheTried, says(&["empty_cache()"]));
    add(
        Clue::DataParallel,
        says(&["nn.dataparallel", "/data_parallel.py", "\\data_parallel.py", "parallel/data_parallel"])
            && !says(&["distributed"]),
    );
    add(Clue::ShortWorkspace, says(&["do not have sufficient workspace memory to run"]));
    add(Clue::UnequalDevices, says(&["imbalance between your gpus"]));
    add(
        Clue::DeviceAssert,
        says(&["device-side assert triggered", "assertion `srcindex", "assertion `t >= 0", "assertion `idx"])
            || says(&["assertion `"]) && says(&["thread: ["]),
    );
    add(
        Clue::CudaGraphs,
        says(&["capturing cuda graph", "capture cuda graph", "cudagraph", "cuda_graph", "(e.g., cuda graphs)"]),
    );
    add(
        Clue::SampleCache,
        says(&[
            "use_ram_cache: true",
            "use_ram_cache=true",
            "cache_ram: true",
            "cache='ram'",
            "cache=ram",
            "cache_in_memory=true",
            "caching images",
            "cached in ram",
            "dataset cached",
            "cache_size_gb",
        ]) || says(&["缓存"]) && says(&["内存", "ram"]) && says(&["数据", "样本", "图像", "图片"]) && !says(&["显存"]),
    );
    add(
        Clue::SecondModel,
        says(&[
            "average of the weights",
            "averaging the weights",
            "averaged weights",
            "ema model",
            "ema weights",
            "ema of the",
            "teacher",
            "reference model",
            "ref model",
            "ref_model",
            "target network",
            "target net",
            "same architecture",
        ]) && !says(&["teacher_forc", "teacher forc", "teacher-forc", "import "]),
    );
    add(
        Clue::Resumed,
        says(&[
            "resuming from",
            "resume from checkpoint:",
            "resumed from",
            "resuming training",
            "restoring checkpoint",
            "loading checkpoint from",
            "loaded checkpoint",
            "=> loading checkpoint",
            "auto resume",
            "auto-resume",
        ]),
    );
    add(
        Clue::Builds,
        says(&[
            "ninja: build stopped",
            "error: could not compile",
            "make: *** [",
            "make[1]: *** [",
            "make[2]: *** [",
            "error compiling objects for extension",
            "cc1plus",
            "rustc --crate-name",
            "cmake --build",
        ]),
    );
    add(
        Clue::BuildsEngine,
        says(&["engine building failed", "failed to build engine", "trtllm-build", "[buildengine]", "build_engine("])
            || says(&["tactic"]) && says(&["[trt]", "tensorrt", "device memory is insufficient"])
            || says(&["builder.cpp::buildserializednetwork"]),
    );
    add(
        Clue::GathersOnSave,
        says(&["gather_16bit_weights_on_model_save", "gather_fp16_weights_on_model_save"]) && says(&["true"]),
    );
    add(
        Clue::Serves,
        says(&[
            "text_generation_server",
            "text_generation_router",
            "application startup complete",
            "uvicorn running",
            "\"post /",
            " post /",
            "lmdeploy/",
            "openai/api_server",
            "tritonserver",
            "gunicorn",
            "xinference",
        ]),
    );
    add(
        Clue::TilesDecoding,
        says(&["use_tiling = true", "use_tiling=true", "use_tiling: true", "enable_tiling()", "enable_vae_tiling()"])
            || lower.split_whitespace().any(|word| matches!(word, "--tiling" | "--vae-tiling" | "--enable-vae-tiling"))
            || says(&[
                "using tiled vae",
                "tiled vae decode",
                "tiled decoding",
                "retrying with tiled",
                "in decode_tiled_",
            ]),
    );
    add(Clue::SixteenBitStates, says(&["mem_efficient"]) && says(&["fp16_impl", "fp16-impl", "memory-efficient-fp16"]));
    add(Clue::WholeFraction, whole_fraction(&lower));
    add(Clue::ValidatedBefore, validation_ended(&lower));
    add(Clue::SeveralDevices, several_devices(&lower));
    add(Clue::GrowingList, says(&["tcmalloc: large alloc"]));
    add(Clue::KeepsTensors, keeps_tensors(text));
    add(Clue::ConvWorkspace, says(&["cudnn.benchmark = true", "cudnn.benchmark=true", "cudnn_benchmark: true"]));
    add(
        Clue::TensorFlow1,
        !lower.contains("compat.v1")
            && (says(&[
                "configproto",
                "[[node:",
                "see above for traceback",
                "tf.session(",
                "tf.placeholder(",
                "config.gpu_options",
                "tensorflow/python/client/session.py",
                "tensorflow\\python\\client\\session.py",
                "tensorflow_core/python/client/session.py",
                "tensorflow-gpu==1",
                // Where its own builds for Windows were made.
                "tf_jenkins",
                // Its allocator's words up to 1.4.
                "see logs for memory state",
            ]) || dated_before_tensorflow_2(&lower)
                || undated_by_tensorflow(text)),
    );
    add(Clue::BeforeAmpere, before_ampere(&lower));
    add(Clue::EarlyVllm, says(&["llm_engine.py"]) && says(&["# gpu blocks:"]));
    add(
        Clue::EngineObject,
        says(&[
            "llm(model=",
            "= llm(",
            "= llama(",
            "sgl.engine(",
            // LMDeploy's.
            "turbomindengineconfig(",
            "pipe = pipeline(",
        ]),
    );
    add(
        Clue::Wrapped,
        // LocalAI passes on what its backends print.
        says(&["grpc("]) && says(&["stderr", "stdout"])
            || says(&[
                "swift deploy",
                "swift infer",
                "swift app",
                "swift eval",
                "swift/llm",
                "xinference launch",
                "fastchat.serve",
                "llamafactory-cli api",
                "llamafactory-cli chat",
                "bentoml serve",
                "litserve",
                "langchain",
                "lm_eval --",
                "--model_args",
                "llmrayactor",
                "vllm_maxlen",
                "engine=vllm",
                // Text generation web UI, Jan, KoboldAI, Khoj and what else has llama.cpp within.
                "llamacppmodel",
                "llamacpp-router",
                "jan/data/",
                "koboldai",
                "offline chat model",
                "lm studio",
                "lmstudio",
                "lms load ",
                "lms log ",
            ])
            || says(&["/go/src/"]) && says(&["llama.cpp"]),
    );
    add(Clue::InstalledCommand, starts_in_a_command(text));
    add(Clue::PipelineSubmits, says(&["bcbio", "nextdenovo", "paralleltask", "cromwell"]));
    add(
        Clue::CalledFromR,
        says(&["py_call_impl", "library(keras)", "library(tensorflow)", "library(torch)", "reticulate"]),
    );
    // Not a user or a host of that name.
    add(Clue::GpuSimulator, says(&["isaacgym", "isaac gym", "isaaclab", "isaac lab", "isaacsim", "isaac sim"]));
    add(
        Clue::NativeProgram,
        says(&[
            "terminate called after throwing an instance of 'c10",
            "c++ exception with description",
            "exception: the following operation failed in the torchscript interpreter",
        ]) || text.starts_with("LAMMPS (")
            // Torch 7, whose scripts are written in Lua.
            || text.contains("bin/luajit:") || text.contains("bin/lua:") || lower.trim_end().ends_with("in main chunk")
            || lower.trim_start().starts_with("[c]: in function '")
            || text.starts_with("[==========] Running "),
    );
    // The bar of Lightning's `trainer.predict`; what Ultralytics prints of each frame, and is told for it.
    let predicts = ["predicting dataloader", "video 1/1 (frame ", "mode=predict", "mode=\"predict\"", "mode='predict'"];
    add(Clue::Predicts, says(&predicts));
    add(Clue::StableDiffusionCpp, says(&["stable-diffusion.cpp"]));
    add(Clue::NamesTiles, says(&["try to set --tile with a smaller number"]));
    add(Clue::SeparatesTracks, lower.trim_start().starts_with("separating track "));
    add(Clue::Nipype, says(&["nipype.workflow"]));
    add(Clue::Fairseq, says(&["fairseq.trainer", "fairseq.tasks", "fairseq_cli.train"]));
    add(Clue::NiPreps, says(&["niworkflows.interfaces", "fmriprep v", "fmriprep version"]));
    add(Clue::WorkersAreThreads, says(OF_GENSIM));
    add(Clue::LocalWorkers, says(&["localcluster", "tcp://127.0.0.1", "localcudacluster"]));
    // What Ray's own libraries and trainers built on it call their actors.
    add(
        Clue::RayManaged,
        says(&[
            "raytrainworker",
            "workerdict",
            "taskrunner",
            "rolloutworker",
            "policyevaluator",
            "implicitfunc",
            "trial_runner",
            "llmrayactor",
        ]),
    );
    add(Clue::Joblib, says(&["joblib", "loky", "[parallel(n_jobs="]));
    add(Clue::Pprof, says(&["pprof"]));
    add(Clue::CheckpointShards, says(&["loading checkpoint shards"]));
    add(Clue::TritonServer, says(&["tritonserver", "pb_stub"]));
    // The second is of its gpttype_adapter.cpp.
    add(Clue::KoboldCpp, says(&["koboldcpp", "automatic rope scaling: using (scale"]));
    add(Clue::Splats, says(&["splatfacto", "gsplat", "num_gaussians", "number of gaussians"]));
    add(Clue::CopyPerNode, says(&["use_numa=1"]));
    add(
        Clue::SecondFramework,
        says(&["created tensorflow device", "xla_bridge", "import jax", "import tensorflow", "jaxlib", "torch_xla"]),
    );
    add(Clue::LongLived, says(&["ipykernel", "<ipython-input", "cell in[", "uvicorn", "gradio", "jupyter"]));
    add(
        Clue::JitUnspill,
        says(&["dask_cuda/proxify", "jit_unspill=true", "--enable-jit-unspill"]) && !says(&["disable-jit-unspill"]),
    );
    add(
        Clue::SmallerBatchTried,
        says(&["smaller batch", "batch size 1", "batch_size=1", "batch size to 1", "batch size of 1"])
            && says(&["still", "same error", "also fail", "even with", "tried"]),
    );
    add(
        Clue::VariableShapes,
        says(&["group_by_length", "dynamic_padding", "variable length", "multi_scale", "multiscale", "bucket_batch"]),
    );
}

/// True where a line names a board of Kepler to Turing, and none that came later.
fn before_ampere(lower: &str) -> bool {
    const BEFORE: [&str; 19] = [
        // vLLM's own finding.
        "for volta and turing gpus",
        "tesla t4",
        "nvidia t4",
        "v100",
        "tesla p100",
        "p100-pcie",
        "p100-sxm",
        "tesla p40",
        "tesla p4 ",
        "tesla k80",
        "tesla m40",
        "tesla m60",
        "geforce gtx",
        "nvidia gtx",
        "geforce rtx 20",
        "nvidia rtx 20",
        "titan rtx",
        "titan v",
        "quadro rtx",
    ];
    const LATER: [&str; 9] = ["a100", "h100", "h200", "a10g", "rtx 30", "rtx 40", "rtx 50", "rtx a", "ada"];
    BEFORE.iter().any(|board| lower.contains(board)) && !LATER.iter().any(|board| lower.contains(board))
}

/// How CUDA names the device of a Jetson, in the lines of programs that list it.
const OF_JETSONS: &[&str] = &["device 0: orin,", "device 0: xavier,", "name: orin,", "name: xavier,"];

/// True where NVIDIA's chips with one memory are named: `tegra` begins its word (`tegra234`, `linux-tegra`), and no
/// integral holds it.
pub(super) fn of_tegra(lower: &str) -> bool {
    lower.match_indices("tegra").any(|(at, _)| !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric()))
        // `Device 0: Orin, compute capability 8.7`
        || OF_JETSONS.iter().any(|name| lower.contains(name))
}

/// True for a memory fraction that keeps nothing back: `cuda_memory_fraction: 1.0`.
fn whole_fraction(lower: &str) -> bool {
    ["cuda_memory_fraction", "cuda-memory-fraction", "per_process_memory_fraction"].iter().any(|name| {
        let after = lower.split_once(name).map_or("", |(_, after)| after).trim_start_matches([' ', ':', '=', '(']);
        let number = after.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or("");
        number.parse::<f64>().is_ok_and(|share| share == 1.0)
    })
}

/// True for a line with the result of a validation: its end, a loss with a figure, a table of precision.
fn validation_ended(lower: &str) -> bool {
    let figure = |name: &str| {
        lower.match_indices(name).any(|(at, _)| {
            let after = lower.get(at + name.len()..).unwrap_or("").trim_start_matches(['\'', '"', ' ', ':', '=']);
            let first = after.split([' ', ',', ']', '}', '\t']).next().unwrap_or("");
            first.parse::<f64>().is_ok() && first.contains('.')
        })
    };
    lower.contains("test: total time")
        || lower.contains("average precision") && lower.contains("(ap) @[")
        || ["val_loss", "valid_loss", "eval_loss", "bbox_map"].iter().any(|name| figure(name))
}

/// True for a row of fastai's table below its header with a column of the validation: `1   0.34   0.32   18:20`.
pub(super) fn is_row_of_epochs(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let epoch = words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let figures = words.take(2).filter(|word| word.contains('.') && word.parse::<f64>().is_ok()).count();
    epoch && figures == 2
}

/// True for a line of TensorFlow's own logging whose date lies before 2.0, which came out on 30 September 2019.
fn dated_before_tensorflow_2(lower: &str) -> bool {
    lower.contains(" tensorflow/") && origin::month(lower).is_some_and(|dated| dated < (2019, 10))
}

/// True for a line of TensorFlow's own logging without the date that it prints since 2017.
fn undated_by_tensorflow(text: &str) -> bool {
    ["I", "W", "E", "F"]
        .iter()
        .any(|level| text.trim_start().strip_prefix(level).is_some_and(|rest| rest.starts_with(" tensorflow/core/")))
}

/// Words that come before or after a number of devices.
const DEVICES: [&str; 4] = ["gpus", "gpu(s)", "devices", "gpu"];

/// True for `8 GPUs visible`, `gpus: 4`, `using 2 GPU(s)`: a program that says how many devices it sees, and sees
/// several.
fn several_devices(lower: &str) -> bool {
    let words: Vec<&str> = lower.split([' ', ':', '=', ',', '\t', '"']).filter(|word| !word.is_empty()).collect();
    let count = |word: &str| word.parse::<u32>().is_ok_and(|count| (2..=64).contains(&count));
    words.windows(2).any(|pair| match pair {
        [a, b] => {
            count(a) && DEVICES.contains(b) && *b != "gpu"
                || DEVICES[..3].contains(a) && count(b)
                || *a == "devices" && b.starts_with("[0")
        }
        _ => false,
    })
}

/// True for a line which shows that the program skipped what failed and went on.
pub(super) fn went_on(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["skipping", "skipped batch", "skip this batch", "retrying with", "falling back to", "ran out of memory, retrying"]
        .iter()
        .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line is looked at only where a keyword of the topics stands in it: a mark that none covers is never seen.
    #[test]
    fn every_mark_of_a_trainer_is_looked_for() {
        use crate::incident::context::topics;
        let source = include_str!("surroundings.rs");
        let marked =
            source.split_once("pub(super) fn trainers").and_then(|(_, rest)| rest.split_once("/// How telling"));
        let (body, _) = marked.expect("the function");
        // What counts beside other words only.
        let beside = ["class", "images", "instances", "'learning_rate':", "'epoch':"];
        let marks = body.split('"').skip(1).step_by(2).filter(|mark| !beside.contains(mark));
        let unread: Vec<&str> = marks.filter(|mark| topics::of(mark) & topics::CLUE == 0).collect();
        assert!(unread.is_empty(), "{unread:?}");
    }

    #[test]
    fn an_integral_is_no_board() {
        assert!(of_tegra("linux-tegra 5.10") && of_tegra("tegra234") && !of_tegra("merger.integrate_batch(pred)"));
    }

    #[test]
    fn several_devices_are_several() {
        for text in ["[0/8] worker on cuda, 8 gpus visible", "using 4 gpu(s)", "gpus: 2", "devices [0,1] devices [0,1]"]
        {
            assert!(several_devices(text), "{text}");
        }
        for text in ["1 gpu(s): nvidia t4", "gpu 2 is busy", "256 devices of the fleet", "step 4 of 8"] {
            assert!(!several_devices(text), "{text}");
        }
    }
}
