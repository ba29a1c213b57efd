//! What is written for a job is known to its releases and to its machine: by the dates, paths, devices and shells that
//! its log shows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::fixes::{lines_of, plan_of};
use crate::every_log::every_log;
use oomdoc::fix::FIXES;

/// The lines of all fixes that are offered for a text, with their remarks.
fn lines_for(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, text).unwrap();
    let Some(plan) = plan_of(&path) else { return Vec::new() };
    plan.offers.into_iter().flat_map(|ranked| ranked.offer.knobs).map(|knob| knob.line.en).collect()
}

/// A step of training on a card of 8 GiB that failed, under a Python and with what stands before it.
fn trained(before: &str, python: &str, message: &str) -> String {
    format!(
        "{before}Epoch 1 step 10 loss 0.51\nTraceback (most recent call last):\n  File \"/w/train.py\", line 40, in \
        <module>\n    loss = criterion(model(images), labels)\n  File \"/v/lib/{python}/site-packages/torch/nn/\
        functional.py\", line 90, in relu\n    return torch.relu(x)\n{message}\n"
    )
}

const OLD: &str = "RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.80 GiB total capacity; 5.10 \
    GiB already allocated; 40.00 MiB free; 6.90 GiB reserved in total by PyTorch)";
const HINT: &str = " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  \
    See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF";

/// A card of which somebody else holds most.
const CROWDED: &str = "RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.80 GiB total capacity; \
    1.10 GiB already allocated; 40.00 MiB free; 1.20 GiB reserved in total by PyTorch)";

/// `max_split_size_mb` was printed with "PyTorch 1.10 or newer" for messages of which the wording shows an older one.
#[test]
fn a_message_without_the_hint_is_older_than_what_the_hint_speaks_of() {
    let old = lines_for(&trained("", "python3.8", OLD));
    assert!(!old.iter().any(|line| line.contains("max_split_size_mb")), "{old:#?}");
    let new = lines_for(&trained("", "python3.8", &format!("{OLD}{HINT}")));
    assert!(new.iter().any(|line| line.contains("max_split_size_mb")), "{new:#?}");
}

/// bf16 and `torch.autocast` came with PyTorch 1.10, `torch.cuda.amp` with 1.6.
#[test]
fn sixteen_bits_are_those_of_the_release() {
    let with = |function: &str| {
        let called = format!(
            "Traceback (most recent call last):\n  File \"/w/train.py\", line 40, in <module>\n    loss = model(images).\
            mean()\n  File \"/v/lib/python3.8/site-packages/torch/nn/modules/module.py\", line 889, in {function}\n    \
            result = self.forward(*input, **kwargs)\n{OLD}\n"
        );
        lines_of(&format!("Epoch 1 step 10 loss 0.51\n{called}"), "mixed-precision").join("\n")
    };
    let amp = with("_call_impl");
    assert!(amp.contains("torch.cuda.amp.autocast()") && !amp.contains("bf16"), "{amp}");
    assert!(!with("__call__").contains("autocast"));
}

/// `torch.utils.checkpoint(…, use_reentrant=False)` and its form without were printed one below the other.
#[test]
fn a_form_for_older_releases_stands_alone() {
    for log in every_log() {
        let lines = log.lines();
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        let both = [
            ("checkpoint(block, x, use_reentrant=False)", "checkpoint(block, x) "),
            ("jax.lax.map(f, xs, batch_size=1024)", "xs.reshape("),
            ("ollama show MODEL ", "ollama show --modelfile"),
            ("--memPoolSize", "max_workspace_size"),
            ("all-linear", "task_type=\"CAUSAL_LM\""),
        ];
        for (new, old) in both {
            assert!(!(has(new) && has(old)), "{}: {new} beside {old}", log.name());
        }
    }
}

/// Logs of 2018 to 2024 were told what came years later.
#[test]
fn what_came_after_the_stamps_of_a_log_is_not_written_for_it() {
    let stamped = |day: &str| {
        let before = format!("{day} 10:12:08,114 INFO run: {{'batch_size': 8, 'num_workers': 4}}\n");
        format!("{before}RuntimeError: DataLoader worker (pid 325) is killed by signal: Killed.\n{before}")
    };
    let old = lines_of(&stamped("2019-12-23"), "fewer-workers").join("\n");
    assert!(!old.is_empty() && !old.contains("prefetch"), "{old}");
    let new = lines_of(&stamped("2023-12-23"), "fewer-workers").join("\n");
    assert!(new.contains("prefetch"), "{new}");
}

/// `updater_gpu_hist.cu` of 2023 was told of a class of 2025, the plugin of 2017 of one of 2022.
#[test]
fn xgboost_is_told_of_the_matrices_that_it_has() {
    let failed = |day: &str, file: &str| {
        format!(
            "[I {day} 03:11:52,208] Trial 3 finished with value: 0.8 and parameters: {{'max_depth': 9}}\n\
            xgboost.core.XGBoostError: [03:12:40] {file}:781: Exception in gpu_hist: out of memory\n"
        )
    };
    let of = |day: &str, file: &str| lines_of(&failed(day, file), "quantised-features").join("\n");
    let (now, before) = ("src/tree/updater_gpu_hist.cu", "xgboost/plugin/updater_gpu/src/device_helpers.cuh");
    assert!(of("2025-11-14", now).contains("ExtMemQuantileDMatrix"));
    let of_2023 = of("2023-11-14", now);
    assert!(of_2023.contains("QuantileDMatrix") && !of_2023.contains("ExtMem"), "{of_2023}");
    assert!(!of("2025-11-14", before).contains("QuantileDMatrix"), "{}", of("2025-11-14", before));
}

/// Multicast over the switch was turned off for NCCL 2.7, and on boards that have none.
#[test]
fn nvlink_sharp_is_turned_off_only_where_it_may_run() {
    let failed = "node:44:48 [3] include/alloc.h:48 NCCL WARN Cuda failure 'out of memory'\n";
    let plain = lines_of(failed, "nccl-buffers").join("\n");
    assert!(plain.contains("NCCL_BUFFSIZE") && !plain.contains("NVLS"), "{plain}");
    let hopper = format!("NVIDIA H100 80GB HBM3\n{failed}");
    assert!(lines_of(&hopper, "nccl-buffers").join("\n").contains("NCCL_NVLS_ENABLE=0"));
    let old = lines_of(&format!("NCCL version 2.7.3+cuda11.0\n{hopper}"), "nccl-buffers").join("\n");
    assert!(!old.contains("NVLS"), "{old}");
}

/// A name of which the table of releases tells nothing would be written for any of them.
#[test]
fn names_that_came_late_are_in_the_table() {
    const LATE: &[&str] = &[
        "torch.autocast(",
        "inference_mode(",
        "set_per_process_memory_fraction",
        "max_split_size_mb",
        "garbage_collection_threshold",
        "expandable_segments",
        "mmap=True",
        "assign=True",
        "_record_memory_history",
        "prefetch_factor",
        "persistent_workers",
        "gradient_as_bucket_view",
        "save_on_cpu",
        "use_reentrant",
        "scaled_dot_product_attention",
        "fully_shard(",
        "torchao.",
        "torch.optim.Adafactor",
        "get_peft_model",
        "all-linear",
        "save_only_model",
        "adamw_8bit",
        "adamw_torch_fused",
        "attn_implementation",
        "BitsAndBytesConfig",
        "gradient_checkpointing_kwargs",
        "use_liger_kernel",
        "logits_to_keep",
        "PipelineQuantizationConfig",
        "NamedSharding",
        "batch_size=1024)",
        "XLA_CLIENT_MEM_FRACTION",
        "NCCL_NVLS_ENABLE",
        "NCCL_CUMEM_ENABLE",
        "QuantileDMatrix",
        "cudf.set_option",
        "enable_cudf_spill",
        "--memPoolSize",
        "set_memory_pool_limit",
        "ollama ps",
        "ollama stop",
        "OLLAMA_CONTEXT_LENGTH",
        "OLLAMA_KV_CACHE_TYPE",
        "OLLAMA_NUM_PARALLEL",
        "TF_FORCE_GPU_ALLOW_GROWTH",
        "TF_GPU_ALLOCATOR",
        "RAY_memory_usage_threshold",
        "--enable-sleep-mode",
        "--cpu-offload-gb",
        "-fa on",
    ];
    let source = include_str!("../../src/incident/release.rs");
    let table = source.split_once("const CAME").unwrap().1.split_once("];").unwrap().0.replace("\\\"", "\"");
    let written: Vec<String> = FIXES.iter().flat_map(|fix| fix.knobs).map(|line| line.template().en).collect();
    for name in LATE {
        let used = written.iter().any(|line| line.contains(name));
        assert!(used || table.contains(name), "{name} is neither written nor dated");
        assert!(table.contains(name), "{name} is written, and no row tells when it came");
    }
}

/// A name on Windows is no assignment before a command: neither its shell nor PowerShell has that.
#[test]
fn a_variable_is_set_on_a_line_of_its_own_on_windows() {
    let assigns = |line: &str| {
        let (name, rest) = line.split_once('=').unwrap_or_default();
        let upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        !name.is_empty() && name.bytes().all(upper) && rest.contains(' ')
    };
    let failed = "  File \"D:\\envs\\fcn\\lib\\site-packages\\torch\\nn\\functional.py\", line 9, in relu\n";
    let lines =
        lines_for(&format!("(fcn) D:\\fcn>python main.py\nTraceback (most recent call last):\n{failed}{OLD}\n"));
    assert!(!lines.is_empty());
    for line in &lines {
        let parts = line.lines().flat_map(|line| line.split("   # ").flat_map(|part| part.split("then: ")));
        for part in parts {
            assert!(!assigns(part.trim()), "{line}");
        }
        assert!(!line.contains("&&") && !line.contains("sudo ") && !line.contains("expandable_segments"), "{line}");
    }
}

/// One index was printed for jobs of several ranks, whose others would have found no device.
#[test]
fn a_job_of_several_devices_is_given_as_many_indices() {
    let failed = |command: &str| {
        format!(
            "$ {command}\nTraceback (most recent call last):\n  File \"/w/a.py\", line 3, in main\n    x = net(y)\n{CROWDED}\n"
        )
    };
    let of = |command: &str| lines_of(&failed(command), "other-device").join("\n");
    assert!(of("python a.py").contains("CUDA_VISIBLE_DEVICES=<index>"), "{}", of("python a.py"));
    for command in ["python -m torch.distributed.launch --nproc_per_node=4 a.py", "torchrun --nproc-per-node 8 a.py"] {
        assert!(of(command).contains("<an index for each"), "{}", of(command));
    }
}

/// Other devices were proposed where the log counts one.
#[test]
fn a_machine_of_one_device_has_no_other() {
    let failed = |devices: u32| {
        format!(
            "ggml_cuda_init: found {devices} CUDA devices:\n  Device 0: NVIDIA RTX A2000\nllm_load_tensors: ggml ctx \
            size = 0.15 MiB\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 9650.50 MiB on device 0: cudaMalloc \
            failed: out of memory\nllama_model_load: error loading model: unable to allocate backend buffer\n"
        )
    };
    let (one, two) = (lines_for(&failed(1)), lines_for(&failed(2)));
    assert!(two.iter().any(|line| line.contains("-ts 1,1")), "{two:#?}");
    for line in &one {
        assert!(!line.contains("-ts 1,1") && !line.contains("_VISIBLE_DEVICES"), "{line}");
    }
}

/// A split over two devices was proposed to a model that lay on more.
#[test]
fn a_split_is_larger_than_the_one_in_force() {
    let failed = |option: &str| {
        format!(
            "$ vllm serve a/b-70b {option}\nINFO 03-19 07:26:40 [gpu_model_runner.py:1] Loading model weights\n\
            ERROR 03-19 07:27:53 [core.py:3]   File \"/v/lib/python3.12/site-packages/vllm/model_executor/layers/linear.\
            py\", line 9, in create_weights\nERROR 03-19 07:27:53 [core.py:3] torch.OutOfMemoryError: CUDA out of memory. \
            Tried to allocate 448.00 MiB. GPU 0 has a total capacity of 23.52 GiB of which 52.00 MiB is free.\n"
        )
    };
    let of = |option: &str| lines_of(&failed(option), "more-devices").join("\n");
    assert_eq!(of(""), "--tensor-parallel-size 2");
    assert_eq!(of("--tensor-parallel-size 4"), "--tensor-parallel-size 8");
}

/// NVIDIA's tool and variable were printed for devices of AMD and Intel.
#[test]
fn tools_and_variables_are_those_of_the_vendor() {
    let nvidia = |lines: &[String]| {
        let theirs =
            |line: &&String| line.contains("nvidia") || line.contains("CUDA_VISIBLE") || line.contains("torch.cuda");
        lines.iter().find(theirs).cloned()
    };
    let radeon = lines_for(
        "physical GPU (device: 0, name: Vega 10 XL [Radeon RX Vega 56], pci bus id: 0000:0b:00.0)\n2020-01-08 19:06:11.3: \
        E tensorflow/stream_executor/rocm/rocm_driver.cc:601] failed to allocate 7.20G (7731150848 bytes) from device: \
        hipError_t(1002)\n",
    );
    assert!(!radeon.is_empty() && nvidia(&radeon).is_none(), "{radeon:#?}");
    let arc = lines_for(
        ">>> x = torch.rand(46000, 40000, device='xpu')\nRuntimeError: Current platform can NOT allocate memory block with \
        size larger than 4GB! Tried to allocate 6.85 GiB (GPU  0; 15.56 GiB total capacity; 0 bytes already allocated; 0 \
        bytes reserved in total by PyTorch)\n",
    );
    assert!(nvidia(&arc).is_none(), "{arc:#?}");
}

/// Files of cgroup v2 were read on kernels of which every distribution had v1.
#[test]
fn control_groups_are_read_where_their_version_has_them() {
    let killed = |kernel: &str| {
        format!(
            "CPU: 4 PID: 635 Comm: worker Not tainted {kernel}\nmemory: usage 262144kB, limit 262144kB, failcnt 221\nMemory \
            cgroup out of memory: Killed process 634 (worker) total-vm:318096kB, anon-rss:256000kB, file-rss:52kB, \
            shmem-rss:92kB, UID:0 pgtables:1372kB oom_score_adj:986\n"
        )
    };
    let of = |kernel: &str| lines_of(&killed(kernel), "record-a-snapshot").join("\n");
    let old = of("4.18.0-305.el8.x86_64 #1");
    assert!(old.contains("memory.failcnt") && !old.contains("cgroup/memory.stat"), "{old}");
    let new = of("6.8.0-45-generic #45");
    assert!(new.contains("cgroup/memory.stat") && !new.contains("failcnt"), "{new}");
}

/// Swap was to be added by an administrator's commands inside containers and on clusters.
#[test]
fn guests_change_no_system() {
    for log in every_log() {
        let text = log.text();
        let guest = ["slurmstepd", "/scratch/", "/content/", "/kaggle/"].iter().any(|sign| text.contains(sign));
        let short = text.lines().count() < 200;
        if guest && short {
            assert!(!log.lines().iter().any(|line| line.contains("sudo ")), "{}", log.name());
        }
    }
}

/// The container's memory that YARN counts has had two names.
#[test]
fn spark_is_told_the_name_that_its_message_has() {
    let killed = |key: &str| {
        format!(
            "ExecutorLostFailure (executor 13 exited caused by one of the running tasks) Reason: Container killed by YARN \
            for exceeding memory limits. 20.0 GB of 20 GB physical memory used. Consider boosting {key}.\n"
        )
    };
    for key in ["spark.yarn.executor.memoryOverhead", "spark.executor.memoryOverhead"] {
        let lines = lines_of(&killed(key), "raise-runtime-limit").join("\n");
        assert!(lines.contains(&format!("--conf {key}=")), "{lines}");
    }
}

/// MMEngine's keys were printed for OpenMMLab's libraries from before it.
#[test]
fn keys_of_mmengine_stand_where_it_shows() {
    for log in every_log() {
        if !log.text().to_ascii_lowercase().contains("mmengine") {
            assert!(!log.lines().iter().any(|line| line.contains("optim_wrapper")), "{}", log.name());
        }
    }
}

/// Keras by itself was told calls of tf.keras, TensorFlow 1.15 to 2.1 those of 2.4, and torch 1.2 those of 1.4.
#[test]
fn older_releases_show_by_what_they_print_and_where_their_files_lie() {
    let oom = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with \
        shape[128,1024,32,32] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n";
    let told = |before: &str| lines_for(&format!("{before}{oom}")).join("\n");
    assert!(told("").contains("tf.keras.mixed_precision"), "{}", told(""));
    let file = "  File \"/v/lib/python3.7/site-packages/tensorflow_core/python/eager/execute.py\", line 67, in quick_execute\n";
    for before in ["Using TensorFlow backend.\n", file] {
        assert!(!told(before).contains("tf.keras.mixed_precision"), "{before}");
    }
    assert!(!told("Using TensorFlow backend.\n").contains("recompute_grad"));
    let full = "RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.80 GiB total capacity; 6.10 GiB \
        already allocated; 40.00 MiB free; 900.00 MiB cached)\n";
    let called = |line: u32| {
        format!(
            "Traceback (most recent call last):\n  File \"/w/run.py\", line 4, in main\n    out = net(x)\n  File \
            \"/v/lib/python3.7/site-packages/torch/nn/modules/module.py\", line {line}, in __call__\n    result = \
            self.forward(*input, **kwargs)\n{full}"
        )
    };
    assert!(!lines_for(&called(547)).join("\n").contains("memory_summary("));
}
