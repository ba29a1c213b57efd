//! Settings of well-known programs, as their documentation gives them: where the program is certain by its files or its
//! command, a change is the option that it has, and what it has no option for is not offered.

use super::case::Case;
use super::draft::unspelled;
use super::knob::{Line, and_remark, line, said};
use crate::domain::Target;
use crate::incident::context::{Clue, Frame, Quantity};
use crate::text::Text;

/// A program that people run and set.
pub struct Tool {
    /// Its name, for messages of tests.
    pub name: &'static str,
    /// Folders of its own and ends of the paths of its files, in lower case.
    pub files: &'static [&'static str],
    /// Names of its scripts and commands, without folders.
    pub scripts: &'static [&'static str],
    /// What a line of its own says.
    pub clue: Option<Clue>,
    /// The line for each change.
    pub rows: &'static [(&'static str, Line)],
    /// Changes that it has no option for: it does so already, or cannot.
    pub lacks: &'static [&'static str],
}

/// An option or a key.
const fn option(text: &'static str) -> Line {
    line(Target::Program, text)
}

/// Changes of lines that only who writes a program can make.
const IN_CODE: &[&str] = &["activation-offload", "chunk-the-operation", "detach-logged-tensors", "fused-attention"];

/// The programs, the more special ones first.
pub const TOOLS: &[Tool] = &[
    // demucs.separate: recordings are split into segments by itself; HTDemucs takes 7.8 seconds at most.
    Tool {
        name: "Demucs",
        files: &["/demucs/separate.py", "/demucs/__main__.py"],
        scripts: &["demucs", "demucs.separate"],
        clue: Some(Clue::SeparatesTracks),
        rows: &[(
            "smaller-batch",
            option("--segment 7")
                .note("seconds of sound at once; -d cpu needs no GPU", "每次处理的秒数；-d cpu 不用 GPU"),
        )],
        lacks: &["mixed-precision", "shorter-sequences", "weight-quantisation", "chunk-the-operation"],
    },
    // Its scripts print the name of the option below the error; they take one picture after another, in 16 bit.
    Tool {
        name: "Real-ESRGAN",
        files: &["/inference_realesrgan.py", "/inference_realesrgan_video.py", "/inference_realesrgan_infer.py"],
        scripts: &["inference_realesrgan.py", "inference_realesrgan_video.py"],
        clue: Some(Clue::NamesTiles),
        rows: &[
            ("smaller-images", option("--tile 400").note("then 200: pieces of a picture", "再试 200：把图片分块")),
            ("read-less-at-once", option("--tile 400").note("then 200: pieces of a picture", "再试 200：把图片分块")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "no-grad-in-eval"],
    },
    Tool {
        name: "GFPGAN",
        files: &["/inference_gfpgan.py"],
        scripts: &["inference_gfpgan.py"],
        clue: None,
        rows: &[("smaller-images", option("--bg_tile 200").note("or --bg_upsampler none", "或 --bg_upsampler none"))],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation"],
    },
    // train.py, val.py (test.py) and detect.py of all three name these options so; YOLOv5 and v7 train in 16 bit.
    Tool {
        name: "YOLOv3, YOLOv5 or YOLOv7",
        files: &["/yolov5/", "/yolov3/", "/yolov7/", "/yolov5-master/", "/yolov3-master/", "/yolov7-main/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch-size {batch}")),
            ("smaller-images", option("--img-size {shown}").note("and no --multi-scale", "并去掉 --multi-scale")),
            ("smaller-eval-batch", option("--batch-size {tried}")),
            ("fewer-workers", option("--workers {tried}")),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "eight-bit-optimizer", "bf16-states", "group-by-length"],
    },
    Tool {
        name: "kohya's sd-scripts",
        files: &["/sd-scripts/", "/library/train_util.py"],
        scripts: &[
            "train_network.py",
            "sdxl_train_network.py",
            "sdxl_train.py",
            "train_db.py",
            "flux_train_network.py",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("mixed-precision", option("--mixed_precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("--mixed_precision=fp16").when("before-ampere")),
            ("eight-bit-optimizer", option("--optimizer_type=AdamW8bit")),
            ("smaller-images", option("--resolution={shown},{shown}")),
            ("fewer-workers", option("--max_data_loader_n_workers={tried}")),
        ],
        lacks: IN_CODE,
    },
    // The example scripts for training in the repository of diffusers.
    Tool {
        name: "diffusers' training scripts",
        files: &[
            "/train_text_to_image.py",
            "/train_text_to_image_sdxl.py",
            "/train_text_to_image_lora.py",
            "/train_text_to_image_lora_sdxl.py",
            "/train_dreambooth.py",
            "/train_dreambooth_lora.py",
            "/train_dreambooth_lora_sdxl.py",
            "/train_dreambooth_flux.py",
            "/train_dreambooth_lora_flux.py",
            "/train_controlnet.py",
            "/train_controlnet_sdxl.py",
        ],
        scripts: &[
            "train_text_to_image.py",
            "train_text_to_image_sdxl.py",
            "train_text_to_image_lora.py",
            "train_text_to_image_lora_sdxl.py",
            "train_dreambooth.py",
            "train_dreambooth_lora.py",
            "train_dreambooth_lora_sdxl.py",
            "train_dreambooth_flux.py",
            "train_dreambooth_lora_flux.py",
            "train_controlnet.py",
            "train_controlnet_sdxl.py",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("mixed-precision", option("--mixed_precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("--mixed_precision=fp16").when("before-ampere")),
            ("eight-bit-optimizer", option("--use_8bit_adam")),
            ("fused-attention", option("--enable_xformers_memory_efficient_attention")),
            ("smaller-images", option("--resolution={shown}")),
            ("fewer-workers", option("--dataloader_num_workers={tried}")),
        ],
        lacks: &[],
    },
    Tool {
        name: "timm's scripts",
        files: &["/pytorch-image-models/train.py", "/pytorch-image-models/validate.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("-b {batch}")),
            ("smaller-eval-batch", option("-vb {tried}")),
            ("gradient-checkpointing", option("--grad-checkpointing")),
            ("mixed-precision", option("--amp")),
            ("smaller-images", option("--img-size {shown}")),
            ("fewer-workers", option("-j {tried}")),
        ],
        lacks: IN_CODE,
    },
    Tool {
        name: "OpenNMT-py",
        files: &["/onmt/"],
        scripts: &["onmt_train"],
        clue: None,
        rows: &[
            ("smaller-batch", option("-batch_size {batch} -accum_count {steps}")),
            ("smaller-eval-batch", option("-valid_batch_size {tried}")),
        ],
        lacks: IN_CODE,
    },
    // tools/train.py of YOLOX: sizes and loaders stand in the file of the experiment (yolox/exp/yolox_base.py).
    Tool {
        name: "YOLOX",
        files: &["/yolox/core/", "/yolox/models/", "/yolox/exp/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("-b {total}")),
            ("mixed-precision", option("--fp16")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller self.input_size, and self.multiscale_range = 0, in the file of the experiment",
                    "在实验文件中减小 self.input_size，并设 self.multiscale_range = 0",
                ),
            ),
            (
                "fewer-workers",
                said(
                    Target::Program,
                    "self.data_num_workers = {tried} in the file of the experiment",
                    "在实验文件中设 self.data_num_workers = {tried}",
                ),
            ),
        ],
        lacks: &[
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "bf16-states",
            "group-by-length",
            "shorter-sequences",
        ],
    },
    // Its batch is counted in tokens, or in sentences by --batch-size (fairseq/options.py, 0.8 to 0.12).
    Tool {
        name: "fairseq",
        files: &["/fairseq_cli/", "/fairseq/"],
        scripts: &["fairseq-train", "fairseq-generate", "fairseq-interactive"],
        clue: Some(Clue::Fairseq),
        rows: &[
            ("smaller-batch", option("--max-tokens <half> --update-freq <twice>").when("trains")),
            ("smaller-batch", option("--max-tokens <half>").unless("trains")),
            ("smaller-eval-batch", option("--max-tokens-valid <half>")),
            ("mixed-precision", option("--fp16")),
            ("fewer-workers", option("--num-workers {tried}")),
        ],
        lacks: &["smaller-images", "chunk-the-operation", "fused-attention", "activation-offload"],
    },
    // Keys of SOLVER and INPUT behind the command or in the configuration (detectron2/config/defaults.py).
    Tool {
        name: "detectron2",
        files: &["/detectron2/engine/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("SOLVER.IMS_PER_BATCH {total}").when("trains")),
            ("smaller-images", option("INPUT.MAX_SIZE_TRAIN {shown}").when("trains")),
            ("mixed-precision", option("SOLVER.AMP.ENABLED True").when("trains")),
            ("fewer-workers", option("DATALOADER.NUM_WORKERS {tried}")),
        ],
        lacks: &["gradient-checkpointing", "chunk-the-operation", "shorter-sequences", "group-by-length"],
    },
    // An evaluation of language models, in which nothing is trained: the command's options are all that there is.
    Tool {
        name: "lm-evaluation-harness",
        files: &["/lm_eval/"],
        scripts: &["lm_eval", "lm-eval"],
        clue: None,
        rows: &[
            ("smaller-eval-batch", option("--batch_size {tried}")),
            ("smaller-batch", option("--batch_size {batch}")),
        ],
        lacks: &["no-grad-in-eval", "chunked-loss", "logits-to-keep", "chunk-the-operation", "mixed-precision"],
    },
    Tool {
        name: "WhisperX's command",
        files: &["/bin/whisperx"],
        scripts: &["whisperx"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size 4")),
            ("less-at-once", option("--batch_size 4")),
            ("weight-quantisation", option("--compute_type int8").note("or a smaller --model", "或更小的 --model")),
        ],
        lacks: &["mixed-precision", "shorter-sequences", "smaller-images"],
    },
    // Windows of 30 seconds, one after another, in 16 bit: the size of the model decides.
    Tool {
        name: "Whisper's command",
        files: &["/bin/whisper"],
        scripts: &["whisper"],
        clue: None,
        rows: &[
            ("weight-quantisation", option("--model small").note("or base: a smaller model", "或 base：更小的模型")),
            ("less-at-once", option("--model small").note("or base: a smaller model", "或 base：更小的模型")),
        ],
        lacks: &["smaller-batch", "shorter-sequences", "mixed-precision", "smaller-images"],
    },
    // It computes in 16 bit by itself, and has neither checkpoints of activations nor a size of pictures to set: the
    // plan, made for an amount of memory, decides about patches and batch.
    Tool {
        name: "nnU-Net 2",
        files: &["/nnunetv2/"],
        scripts: &["nnUNetv2_train", "nnUNetv2_predict"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("nnUNetv2_plan_experiment -d <dataset> -gpu_memory_target <GB> -overwrite_plans_name <name>")
                    .note("then nnUNetv2_train ... -p <name>", "之后 nnUNetv2_train ... -p <name>")
                    .when("trains"),
            ),
            ("fewer-workers", line(Target::Shell, "export nnUNet_n_proc_DA={tried}").when("trains")),
            ("fewer-workers", option("-npp 1 -nps 1").unless("trains")),
        ],
        lacks: &["gradient-checkpointing", "mixed-precision", "smaller-images", "chunk-the-operation"],
    },
    Tool {
        name: "CompVis' txt2img",
        files: &["/scripts/txt2img.py"],
        scripts: &["txt2img.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--n_samples 1")),
            ("smaller-images", option("--H {shown} --W {shown}").note("multiples of 64", "64 的倍数")),
        ],
        lacks: &["weight-quantisation"],
    },
    // What it draws is as large as the picture that it is given.
    Tool {
        name: "CompVis' img2img",
        files: &["/scripts/img2img.py"],
        scripts: &["img2img.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--n_samples 1")),
            (
                "smaller-images",
                said(Target::Program, "a smaller picture for --init-img", "给 --init-img 一张更小的图片"),
            ),
        ],
        lacks: &["weight-quantisation"],
    },
    // Wan's own generate.py: weights in bf16, frames are 4n+1.
    Tool {
        name: "Wan's generate.py",
        files: &["/wan/text2video.py", "/wan/image2video.py", "/wan/textimage2video.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("weight-offload", option("--t5_cpu").note("and --offload_model True", "以及 --offload_model True")),
            ("smaller-images", option("--frame_num 49").note("4n+1; 81 unless set", "形如 4n+1；默认 81")),
        ],
        lacks: &["mixed-precision", "vae-tiling", "chunk-the-operation"],
    },
    // fMRIPrep and what else is built on niworkflows: processes of nipype's MultiProc plugin.
    Tool {
        name: "NiPreps",
        files: &["/niworkflows/", "/fmriprep/"],
        scripts: &["fmriprep"],
        clue: Some(Clue::NiPreps),
        rows: &[
            ("fewer-workers", option("--nprocs 2 --omp-nthreads 2")),
            ("fewer-at-once", option("--nprocs 2 --omp-nthreads 2")),
        ],
        lacks: &[],
    },
    Tool {
        name: "nipype",
        files: &["/nipype/"],
        scripts: &[],
        clue: Some(Clue::Nipype),
        rows: &[
            (
                "fewer-workers",
                option("workflow.run(plugin=\"MultiProc\", plugin_args={\"n_procs\": 2, \"memory_gb\": <GB>})"),
            ),
            (
                "fewer-at-once",
                option("workflow.run(plugin=\"MultiProc\", plugin_args={\"n_procs\": 2, \"memory_gb\": <GB>})"),
            ),
        ],
        lacks: &[],
    },
    // TensorRT-LLM's benchmark in C++ reads an engine that is built already.
    Tool {
        name: "gptManagerBenchmark",
        files: &[],
        scripts: &["gptManagerBenchmark"],
        clue: None,
        rows: &[("lower-engine-memory", option("--kv_cache_free_gpu_mem_fraction {tried}"))],
        lacks: &["more-devices", "max-model-len", "kv-cache-dtype"],
    },
    Tool {
        name: "LightningCLI",
        files: &["/lightning/pytorch/cli.py", "/pytorch_lightning/cli.py", "/pytorch_lightning/utilities/cli.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("mixed-precision", option("--trainer.precision bf16-mixed").unless("before-ampere")),
            ("mixed-precision", option("--trainer.precision 16-mixed").when("before-ampere")),
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "a smaller batch in the section data of the configuration",
                    "配置文件 data 一节中更小的批大小",
                ),
            ),
            (
                "smaller-eval-batch",
                said(
                    Target::Program,
                    "a smaller batch for validation in the section data of the configuration",
                    "配置文件 data 一节中更小的验证批大小",
                ),
            ),
        ],
        lacks: &[],
    },
];

impl Tool {
    /// True where it shows: by a frame, by the script that was started, or by a line of its own.
    fn shows(&self, case: &Case) -> bool {
        let of_it = |frame: &Frame| {
            let file = format!("/{}", frame.path().to_ascii_lowercase());
            self.files.iter().any(|part| if part.ends_with('/') { file.contains(part) } else { file.ends_with(part) })
        };
        let named = |program: &String| {
            let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
            self.scripts.contains(&name)
        };
        // A command of its own may stand behind variables and launchers.
        let started = |command: &String| command.split_whitespace().take(6).any(|word| named(&word.to_string()));
        case.context.frames.iter().any(of_it)
            || case.context.program.get().is_some_and(named)
            || case.context.command.get().is_some_and(started)
            || self.clue.is_some_and(|clue| case.clue(clue))
    }
}

/// What a well-known program has for a change.
pub(super) enum Setting {
    /// Lines, of which those hold that their circumstances allow.
    Lines(Vec<Line>),
    /// No option, or one that is in force.
    None,
}

impl Case<'_> {
    /// The well-known program that runs here.
    pub(super) fn tool(&self) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.shows(self))
    }

    /// What that program has for a change; `None` where nothing is written down of it.
    pub(super) fn setting_of_a_tool(&self, fix: &str) -> Option<Setting> {
        let tool = self.tool()?;
        if tool.lacks.contains(&fix) {
            return Some(Setting::None);
        }
        let lines: Vec<Line> = tool.rows.iter().filter(|(of, _)| *of == fix).map(|(_, line)| *line).collect();
        if lines.is_empty() {
            return None;
        }
        // A switch that the command gives is in force, and a value that it gives is not ours to guess anew.
        let command = self.context.command.get().map(String::as_str).unwrap_or_default();
        let given = |line: &Line| {
            let template = line.template().en;
            let name = template.split([' ', '=']).next().unwrap_or_default();
            name.starts_with('-') && command.split([' ', '=']).any(|word| word == name)
        };
        if lines.iter().any(given) { Some(Setting::None) } else { Some(Setting::Lines(lines)) }
    }
}

/// A program that starts an engine and has options of its own for what it passes on.
struct Wrapper {
    files: &'static [&'static str],
    /// Names in its command, in lower case.
    commands: &'static [&'static str],
    /// vLLM's options without hyphens, and how they are written there.
    names: &'static [(&'static str, &'static str)],
}

/// Wrappers of vLLM; an option that is not listed is none of theirs.
const WRAPPERS: &[Wrapper] = &[
    // It divides a model over all devices that are visible.
    Wrapper {
        files: &["/llamafactory/"],
        commands: &["llamafactory-cli"],
        names: &[("max_model_len", "--vllm_maxlen {}"), ("gpu_memory_utilization", "--vllm_gpu_util {}")],
    },
    // Weights are those of the trained actor: they have no other form.
    Wrapper {
        files: &["/verl/"],
        commands: &["verl.trainer.main_ppo", "actor_rollout_ref."],
        names: &[
            ("max_model_len", "actor_rollout_ref.rollout.max_model_len={}"),
            ("gpu_memory_utilization", "actor_rollout_ref.rollout.gpu_memory_utilization={}"),
            ("max_num_seqs", "actor_rollout_ref.rollout.max_num_seqs={}"),
            ("max_num_batched_tokens", "actor_rollout_ref.rollout.max_num_batched_tokens={}"),
            ("tensor_parallel_size", "actor_rollout_ref.rollout.tensor_model_parallel_size={}"),
            ("enforce_eager", "actor_rollout_ref.rollout.enforce_eager={}"),
        ],
    },
    // `langchain_community.llms.VLLM` takes some itself and passes on the rest.
    Wrapper {
        files: &["/langchain_community/llms/vllm.py", "/langchain/llms/vllm.py"],
        commands: &[],
        names: &[
            ("tensor_parallel_size", "VLLM(..., tensor_parallel_size={})"),
            ("max_model_len", "VLLM(..., vllm_kwargs={\"max_model_len\": {}})"),
            ("gpu_memory_utilization", "VLLM(..., vllm_kwargs={\"gpu_memory_utilization\": {}})"),
            ("enforce_eager", "VLLM(..., vllm_kwargs={\"enforce_eager\": {}})"),
        ],
    },
];

impl Case<'_> {
    /// An option of vLLM as the program around it spells it, its bare name where that is not known, nothing where it
    /// has none for it.
    pub(super) fn spelled_around(&self, target: Target, line: Text) -> Option<Text> {
        let command = self.context.command.get().map(|command| command.to_ascii_lowercase()).unwrap_or_default();
        let shows = |wrapper: &&Wrapper| {
            let of_it = |frame: &Frame| wrapper.files.iter().any(|part| frame.path().contains(part));
            let key = self.context.option(Quantity::Share).map_or("", |spelled| spelled.name());
            wrapper.commands.iter().any(|name| command.contains(name) || key.starts_with(name))
                || self.context.frames.iter().any(of_it)
        };
        let known = WRAPPERS.iter().find(shows).filter(|_| target == Target::Vllm && line.en.starts_with("--"));
        let Some(wrapper) = known else { return Some(unspelled(target, line)) };
        let spelled = |line: &str| {
            let option = and_remark(line).0.trim_start_matches('-');
            let (name, value) = option.split_once(' ').unwrap_or((option, "True"));
            let name = name.replace('-', "_");
            let (_, form) = wrapper.names.iter().find(|(of, _)| *of == name)?;
            // What stands behind the first option is left to the words of the change.
            Some(form.replace("{}", value.split(" --").next().unwrap_or(value)))
        };
        Some(Text::new(spelled(&line.en)?, spelled(&line.zh)?))
    }
}
