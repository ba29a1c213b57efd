//! Releases that a log allows: what came later is neither advised nor asked for.

use super::Incident;
use super::context::{Clue, Frame};
use crate::domain::program::PytorchAllocator;
use crate::domain::{Accelerator, Program};

/// Major and minor number.
pub(crate) type Release = (u16, u16);

/// Spellings and the first release that knows them.
const SPELLINGS: &[(Program, &str, Release)] = &[
    (Program::Pytorch, "torch.utils.checkpoint", (0, 4)),
    (Program::Pytorch, "memory_reserved(", (1, 4)),
    (Program::Pytorch, "reset_peak_memory_stats", (1, 4)),
    (Program::Pytorch, "_record_memory_history", (2, 1)),
    (Program::Pytorch, "memory_summary(", (1, 4)),
    (Program::Pytorch, "prefetch_factor", (1, 7)),
    (Program::Pytorch, "persistent_workers", (1, 7)),
    (Program::Pytorch, "gradient_as_bucket_view", (1, 7)),
    (Program::Pytorch, "set_per_process_memory_fraction", (1, 8)),
    (Program::Pytorch, "inference_mode(", (1, 9)),
    (Program::Pytorch, "save_on_cpu", (1, 10)),
    (Program::Pytorch, "torch.autocast(", (1, 10)),
    (Program::Pytorch, "use_reentrant", (1, 11)),
    (Program::Pytorch, "_ALLOC_CONF", (1, 8)),
    (Program::Pytorch, "expandable_segments", (2, 1)),
    (Program::Pytorch, "torchrun", (1, 10)),
    (Program::Pytorch, "roundup_power2_divisions", (1, 12)),
    (Program::Pytorch, "mmap=True", (2, 1)),
    (Program::Pytorch, "get_peft_model", (1, 13)),
    (Program::Pytorch, "bitsandbytes.", (1, 8)),
    (Program::Pytorch, "scaled_dot_product_attention", (2, 0)),
    (Program::Pytorch, "torch.distributed.checkpoint", (2, 0)),
    (Program::Pytorch, "cut_cross_entropy", (2, 4)),
    (Program::Pytorch, "torchao.", (2, 2)),
    (Program::Pytorch, "torch.optim.Adafactor", (2, 5)),
    (Program::Tensorflow, "TF_FORCE_GPU_ALLOW_GROWTH", (1, 14)),
    (Program::Tensorflow, "tf.recompute_grad", (2, 0)),
    (Program::Tensorflow, "TF_GPU_ALLOCATOR", (2, 5)),
    (Program::Tensorflow, "tf.config.", (2, 0)),
    (Program::Tensorflow, "tf.keras.mixed_precision", (2, 4)),
    (Program::Lightning, "-mixed\"", (2, 0)),
    (Program::Lightning, "Trainer(inference_mode", (1, 8)),
    (Program::Ray, "RAY_memory_usage_threshold", (2, 2)),
    (Program::Vllm, "--quantization fp8", (0, 4)),
    (Program::Vllm, "--kv-cache-dtype", (0, 3)),
    (Program::Vllm, "--cpu-offload-gb", (0, 5)),
    (Program::Vllm, "--max-num-batched-tokens", (0, 1)),
];

/// Version of torch as (major, minor): the one printed, else the newest that the message's wording and the frames
/// allow.
pub(crate) fn torch(incident: &Incident) -> Option<Release> {
    let (event, context) = (&incident.event, &incident.context);
    if let Some(version) = context.torch_version.get() {
        let mut parts = version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
        if let (Some(major), Some(minor)) = (parts.next(), parts.next()) {
            return Some((major, minor));
        }
    }
    let own = event.program.pytorch_allocator() == PytorchAllocator::Yes && !event.program.is_engine();
    let of_the_wording = event.versions.filter(|_| own).and_then(|versions| versions.to);
    let of_the_frames = context.frames.iter().filter_map(newest_torch).min();
    of_the_wording.into_iter().chain(of_the_frames).min()
}

/// When each release of PyTorch came out: year and month (by its tags).
const TORCH_SINCE: &[(Release, (u16, u8))] = &[
    ((0, 1), (2017, 1)),
    ((0, 2), (2017, 8)),
    ((0, 3), (2017, 12)),
    ((0, 4), (2018, 4)),
    ((1, 0), (2018, 12)),
    ((1, 1), (2019, 4)),
    ((1, 2), (2019, 8)),
    ((1, 3), (2019, 10)),
    ((1, 4), (2020, 1)),
    ((1, 5), (2020, 4)),
    ((1, 6), (2020, 7)),
    ((1, 7), (2020, 10)),
    ((1, 8), (2021, 3)),
    ((1, 9), (2021, 6)),
    ((1, 10), (2021, 10)),
    ((1, 11), (2022, 3)),
    ((1, 12), (2022, 6)),
    ((1, 13), (2022, 10)),
    ((2, 0), (2023, 3)),
    ((2, 1), (2023, 10)),
    ((2, 2), (2024, 1)),
    ((2, 3), (2024, 4)),
    ((2, 4), (2024, 7)),
    ((2, 5), (2024, 10)),
    ((2, 6), (2025, 1)),
];

/// The newest torch of the day that the log prints; `None` from the last release of the table on, after which others
/// came. It bounds what may be written, and tells nothing of which one ran.
fn torch_of_the_day(incident: &Incident) -> Option<Release> {
    let dated = incident.context.dated.value()?;
    TORCH_SINCE.iter().any(|(_, since)| *since > dated).then_some(())?;
    Some(TORCH_SINCE.iter().rev().find(|(_, since)| *since <= dated).map_or((0, 1), |(release, _)| *release))
}

/// The newest release of a program that the log allows, where it tells one.
fn newest(incident: &Incident, program: Program) -> Option<Release> {
    let shown = |clue| incident.context.has(clue);
    match program {
        Program::Pytorch => torch(incident).into_iter().chain(torch_of_the_day(incident)).min(),
        Program::Tensorflow => shown(Clue::TensorFlow1).then_some((1, 13)),
        Program::Vllm => shown(Clue::EarlyVllm).then_some((0, 3)),
        // Its loop of training was taken apart into `loops/` in 1.4; 2.0 has no Python 3.7.
        Program::Lightning => {
            let has = |name: &str| incident.context.frames.iter().any(|frame| frame.file.contains(name));
            let oldest = has("pytorch_lightning/trainer/training_loop").then_some((1, 3));
            oldest.or((has("python3.7/") || has("python3.6/")).then_some((1, 9)))
        }
        // The monitor that raised this was replaced by one that ends workers.
        Program::Ray => incident.event.message.contains("RayOutOfMemoryError").then_some((1, 13)),
        _ => None,
    }
}

/// True where a release of the program may be at work.
pub(crate) fn allows(incident: &Incident, program: Program, since: Release) -> bool {
    newest(incident, program).is_none_or(|newest| newest >= since)
}

/// Spellings of libraries whose releases no log tells, and the month in which they came.
const SINCE_A_DAY: &[(&str, (u16, u8))] = &[
    // transformers 4.37 and 4.36, bitsandbytes, PEFT, Liger.
    ("save_only_model", (2024, 1)),
    ("attn_implementation", (2023, 12)),
    ("BitsAndBytesConfig", (2022, 11)),
    ("get_peft_model", (2023, 2)),
    ("load_in_4bit", (2023, 5)),
    ("use_liger_kernel", (2024, 9)),
    // diffusers 0.34.
    ("PipelineQuantizationConfig", (2025, 6)),
];

/// True where nothing in the text came after the newest releases that the log allows.
pub(crate) fn knows(incident: &Incident, text: &str) -> bool {
    let dated = incident.context.dated.value();
    let of_the_day =
        |(spelling, since): &(&str, (u16, u8))| dated.is_none_or(|dated| dated >= *since) || !text.contains(spelling);
    SINCE_A_DAY.iter().all(of_the_day)
        && SPELLINGS
            .iter()
            .all(|(program, spelling, since)| !text.contains(spelling) || allows(incident, *program, *since))
}

/// The variable that sets the options of PyTorch's caching allocator: `PYTORCH_ALLOC_CONF` from 2.10 (the CUDA name is
/// read as well and wins), the family's own name before (PyTorch 2.10, CUDAAllocatorConfig.cpp).
pub(crate) fn conf_variable(incident: &Incident) -> Option<&'static str> {
    let accelerator = incident.event.accelerator();
    let renamed = matches!(accelerator, Accelerator::Cuda | Accelerator::Hip)
        && torch(incident).is_some_and(|version| version >= (2, 10))
        && !incident.context.alloc_conf.is_known();
    if renamed { Some("PYTORCH_ALLOC_CONF") } else { accelerator.torch_conf() }
}

/// The newest torch that has the file of a frame: the last release for the Python of its path (by the wheels on PyPI),
/// `torch/tensor.py`, which is `_tensor.py` since 1.9, and a module that is called by `__call__` itself, which is
/// `_call_impl` since 1.6.
fn newest_torch(frame: &Frame) -> Option<Release> {
    let file = frame.file.replace('\\', "/");
    const PYTHONS: [(&str, Release); 6] = [
        ("python2.7", (1, 4)),
        ("python3.5", (1, 5)),
        ("python3.6", (1, 10)),
        ("python3.7", (1, 13)),
        ("python3.8", (2, 4)),
        ("python3.9", (2, 8)),
    ];
    if !file.contains("-packages/torch/") {
        return None;
    }
    let python = PYTHONS.iter().find(|(python, _)| file.split('/').any(|folder| folder == *python));
    let renamed = file.ends_with("/torch/tensor.py").then_some((1, 8));
    let called = file.ends_with("/torch/nn/modules/module.py") && frame.function == "__call__";
    python.map(|(_, newest)| *newest).into_iter().chain(renamed).chain(called.then_some((1, 5))).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::trial::torch as failed;
    use crate::evidence::Span;

    #[test]
    fn what_came_after_the_day_of_the_log_is_not_written() {
        let mut incident = failed(&[]);
        assert!(knows(&incident, "with torch.inference_mode():"));
        incident.context.dated.note((2018, 12), Span::line(1));
        assert!(!knows(&incident, "with torch.inference_mode():") && knows(&incident, "with torch.no_grad():"));
        assert_eq!(torch(&incident), None, "which release ran is not known");
        incident.context.dated = crate::evidence::Known::Seen((2021, 6), Span::line(1));
        assert!(knows(&incident, "with torch.inference_mode():") && !knows(&incident, "expandable_segments:True"));
        incident.context.dated = crate::evidence::Known::Seen((2031, 1), Span::line(1));
        assert!(knows(&incident, "expandable_segments:True"));
    }

    #[test]
    fn the_oldest_monitor_of_ray_knows_no_threshold_of_the_newest() {
        let mut incident = failed(&[]);
        assert!(knows(&incident, "RAY_memory_usage_threshold=0.98"));
        incident.event.message = "ray.memory_monitor.RayOutOfMemoryError: More than 95% of the memory".into();
        assert!(!knows(&incident, "RAY_memory_usage_threshold=0.98"));
    }

    #[test]
    fn a_lightning_of_the_first_kind_knows_no_names_of_the_second() {
        let mut incident = failed(&[]);
        assert!(knows(&incident, "Trainer(precision=\"bf16-mixed\")"));
        let file = "/opt/env/lib/python3.7/site-packages/pytorch_lightning/trainer/training_loop.py";
        let function = "run_training_epoch".to_string();
        let frame = Frame { file: file.into(), line: 1, function, code: None, at: Span::line(1) };
        incident.context.frames.push(frame);
        assert!(!knows(&incident, "Trainer(precision=\"bf16-mixed\")"));
    }

    #[test]
    fn releases_come_one_after_another() {
        assert!(TORCH_SINCE.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }
}
