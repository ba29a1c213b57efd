//! What a line needs of the program it is written for: a line that names what came later than the newest release which
//! the log allows is not offered.

use super::Knob;
use super::case::Case;
use crate::domain::{Program, Target};
use crate::incident::context::Clue;

type Release = (u16, u16);

/// Spellings and the first release that knows them.
const SPELLINGS: &[(Program, &str, Release)] = &[
    (Program::Pytorch, "torch.utils.checkpoint", (0, 4)),
    (Program::Pytorch, "memory_reserved(", (1, 4)),
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
    (Program::Vllm, "--quantization fp8", (0, 4)),
    (Program::Vllm, "--kv-cache-dtype", (0, 3)),
    (Program::Vllm, "--cpu-offload-gb", (0, 5)),
    (Program::Vllm, "--max-num-batched-tokens", (0, 1)),
];

/// The newest release of a program that the log allows, where it tells one.
fn newest(case: &Case, program: Program) -> Option<Release> {
    match program {
        Program::Pytorch => case.torch_version().filter(|_| case.may_be_pytorch()),
        Program::Tensorflow => case.clue(Clue::TensorFlow1).then_some((1, 13)),
        Program::Vllm => case.clue(Clue::EarlyVllm).then_some((0, 3)),
        _ => None,
    }
}

/// Libraries on top of PyTorch, none of which runs on what came before.
const ON_TORCH_1: [Target; 6] =
    [Target::HfTrainer, Target::Trl, Target::Lightning, Target::DeepSpeed, Target::Accelerate, Target::LlamaFactory];

/// True where nothing in the line came after the newest release that the log allows.
pub fn known(case: &Case, knob: &Knob) -> bool {
    let allowed = |program, since| newest(case, program).is_none_or(|newest| newest >= since);
    (!ON_TORCH_1.contains(&knob.target) || allowed(Program::Pytorch, (1, 0)))
        && SPELLINGS
            .iter()
            .all(|(program, spelling, since)| !knob.line.en.contains(spelling) || allowed(*program, *since))
}
