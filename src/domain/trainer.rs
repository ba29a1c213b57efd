//! The frameworks and launchers around a PyTorch program's loop, which decide how a knob is spelled: one row each.

use super::Target::{self, *};
use super::{Program, closed_set};

closed_set! {
    /// The framework or launcher around the training loop.
    pub enum Trainer {
        PlainPytorch = "plain-pytorch",
        HfTrainer = "hf-trainer",
        Trl = "trl",
        Accelerate = "accelerate",
        Lightning = "lightning",
        DeepSpeed = "deep-speed",
        Ultralytics = "ultralytics",
        Megatron = "megatron",
        LlamaFactory = "llama-factory",
        Axolotl = "axolotl",
        Swift = "swift",
        Fsdp = "fsdp",
        Diffusers = "diffusers",
        ComfyUi = "comfy-ui",
        StableDiffusionWebUi = "stable-diffusion-web-ui",
        MmEngine = "mm-engine",
        Fastai = "fastai",
        NeMo = "ne-mo",
        Vllm = "vllm",
        Sglang = "sglang",
        Tgi = "tgi",
        Lmdeploy = "lmdeploy",
        TensorRtLlm = "tensorrt-llm",
    }
}

/// What a trainer is used for, as far as its presence tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Training.
    Training,
    /// Pictures by diffusion, mostly inference.
    Diffusion,
    /// Serving a model to others.
    Serving,
    /// Training and inference alike.
    Either,
}

/// What is known of one trainer.
#[derive(Debug)]
struct Row {
    name: &'static str,
    purpose: Purpose,
    /// Its models are language models.
    language: bool,
    /// Whose knobs its user can turn, nearest first.
    targets: &'static [Target],
}

const fn row(name: &'static str, purpose: Purpose, targets: &'static [Target]) -> Row {
    Row { name, purpose, language: false, targets }
}

/// A trainer of language models.
const fn language(name: &'static str, targets: &'static [Target]) -> Row {
    Row { name, purpose: Purpose::Training, language: true, targets }
}

impl Trainer {
    const fn row(self) -> &'static Row {
        use Purpose::{Diffusion, Either, Serving, Training};
        match self {
            Trainer::PlainPytorch => &const { row("PyTorch", Either, &[Pytorch]) },
            Trainer::HfTrainer => &const { language("HF Trainer", &[HfTrainer, Accelerate, Pytorch]) },
            Trainer::Trl => &const { language("TRL", &[Trl, HfTrainer, Accelerate, Pytorch]) },
            Trainer::Accelerate => &const { row("Accelerate", Either, &[Accelerate, Pytorch, HfTrainer]) },
            Trainer::Lightning => &const { row("Lightning", Training, &[Lightning, Pytorch]) },
            Trainer::DeepSpeed => &const { row("DeepSpeed", Training, &[DeepSpeed, HfTrainer, Pytorch]) },
            Trainer::Ultralytics => &const { row("Ultralytics", Training, &[Ultralytics, Pytorch]) },
            Trainer::Megatron => &const { language("Megatron-LM", &[Megatron, Pytorch]) },
            Trainer::LlamaFactory => {
                &const { language("LLaMA-Factory", &[LlamaFactory, HfTrainer, DeepSpeed, Pytorch]) }
            }
            Trainer::Axolotl => &const { language("Axolotl", &[Axolotl, DeepSpeed]) },
            Trainer::Swift => &const { language("ms-swift", &[Swift, HfTrainer, DeepSpeed, Pytorch]) },
            Trainer::Fsdp => &const { row("FSDP", Training, &[Fsdp, Pytorch]) },
            Trainer::Diffusers => &const { row("Diffusers", Diffusion, &[Diffusers, Accelerate, Pytorch]) },
            Trainer::ComfyUi => &const { row("ComfyUI", Diffusion, &[ComfyUi]) },
            Trainer::StableDiffusionWebUi => &const { row("Stable Diffusion WebUI", Diffusion, &[SdWebUi]) },
            Trainer::MmEngine => &const { row("MMEngine", Training, &[MmEngine, Pytorch]) },
            Trainer::Fastai => &const { row("fastai", Training, &[Fastai, Pytorch]) },
            Trainer::NeMo => &const { row("NeMo", Training, &[Lightning, Megatron, Pytorch]) },
            Trainer::Vllm => &const { row("vLLM", Serving, &[Vllm]) },
            Trainer::Sglang => &const { row("SGLang", Serving, &[Sglang]) },
            Trainer::Tgi => &const { row("TGI", Serving, &[Tgi]) },
            Trainer::Lmdeploy => &const { row("LMDeploy", Serving, &[Lmdeploy]) },
            Trainer::TensorRtLlm => &const { row("TensorRT-LLM", Serving, &[TensorRtLlm]) },
        }
    }

    /// The name as its authors write it.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    pub const fn purpose(self) -> Purpose {
        self.row().purpose
    }

    /// The inference engine that it is, where it is one.
    pub const fn engine(self) -> Option<Program> {
        match self {
            Trainer::Vllm => Some(Program::Vllm),
            Trainer::Sglang => Some(Program::Sglang),
            Trainer::Tgi => Some(Program::Tgi),
            Trainer::Lmdeploy => Some(Program::Lmdeploy),
            Trainer::TensorRtLlm => Some(Program::TensorRtLlm),
            _ => None,
        }
    }

    /// True for programs of the browser that draw with models and train none.
    pub const fn only_draws(self) -> bool {
        matches!(self, Trainer::ComfyUi | Trainer::StableDiffusionWebUi)
    }

    /// True where the loop of its own that evaluates switches gradients off: Ultralytics' `smart_inference_mode`,
    /// MMEngine's `@torch.no_grad()`, Lightning's evaluation loop, `torch.no_grad()` in `prediction_step` of the HF
    /// Trainer and its kin, and in fastai's `validate()`.
    pub const fn evaluates_without_gradients(self) -> bool {
        use Trainer::{Axolotl, Fastai, HfTrainer, Lightning, LlamaFactory, MmEngine, Swift, Trl, Ultralytics};
        matches!(self, HfTrainer | Trl | LlamaFactory | Axolotl | Swift | Ultralytics | MmEngine | Fastai | Lightning)
    }

    /// True where the batch of evaluation is set apart from that of training.
    pub const fn has_a_batch_for_evaluation(self) -> bool {
        use Trainer::{Axolotl, HfTrainer, Lightning, LlamaFactory, Swift, Trl};
        matches!(self, HfTrainer | Trl | LlamaFactory | Axolotl | Swift | Lightning)
    }

    /// True where a language model is at work.
    pub const fn trains_language_models(self) -> bool {
        self.row().language
    }

    /// Whose knobs its user can turn, nearest first.
    pub const fn targets(self) -> &'static [Target] {
        self.row().targets
    }
}
