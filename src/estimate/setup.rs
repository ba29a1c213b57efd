//! How a model is trained, as far as memory depends on it.

use super::states::Optimizer;
use crate::text::Text;

/// Numeric precision of training, as far as it decides which copies exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    Fp32,
    /// 32-bit weights under autocast to bf16 or fp16.
    Mixed,
    /// Weights, gradients and states in 16 bit.
    Pure16,
    /// 16-bit weights with 32-bit master weights in the optimizer (DeepSpeed, Megatron).
    MasterWeights,
}

impl Precision {
    pub fn text(self) -> Text {
        match self {
            Precision::Fp32 => Text::new("fp32", "fp32"),
            Precision::Mixed => Text::new("autocast", "autocast 混合精度"),
            Precision::Pure16 => Text::new("weights and states in 16 bit", "16 位权重与状态"),
            Precision::MasterWeights => Text::new("16 bit with 32-bit master weights", "16 位，另有 32 位主权重"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// SDPA or flash attention.
    Fused,
    /// Scores are written out: quadratic in the sequence.
    Eager,
}

impl Attention {
    pub fn text(self) -> Text {
        match self {
            Attention::Fused => Text::new("fused attention", "融合注意力"),
            Attention::Eager => Text::new("attention written out", "未融合的注意力"),
        }
    }
}

/// Low-rank adapters on frozen weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lora {
    pub rank: f64,
    /// On all linear layers rather than on those of attention alone.
    pub all_linear: bool,
    pub quantised: Option<Quantised>,
}

/// How frozen weights are quantised. Loaders of 4 and 8 bit quantise the linear layers inside of the layers alone:
/// embeddings, head and norms stay as they were (bitsandbytes skips the head, and embeddings are no linear layers).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantised {
    /// Bytes of a quantised parameter with its scales: least (scales quantised too) and most.
    pub width: (f64, f64),
    /// True where `prepare_model_for_kbit_training` turned embeddings, head and norms to 32 bit, which makes the
    /// residual stream 32 bit and autocast copy the head; `None` where that is not known.
    pub prepared: Option<bool>,
}

impl Quantised {
    /// NF4 and FP4 in blocks of 64: a 32-bit scale for each, or with double quantisation an 8-bit one.
    pub const FOUR_BIT: Quantised = Quantised { width: (0.5 + 1.0 / 64.0 + 4.0 / 16384.0, 0.5625), prepared: None };
    /// Int8 with a scale for each row.
    pub const EIGHT_BIT: Quantised = Quantised { width: (1.0, 1.03), prepared: None };

    /// Bits of a parameter.
    pub fn bits(self) -> u8 {
        if self.width.0 < 1.0 { 4 } else { 8 }
    }

    /// As it is computed with: the more demanding way where it is not known.
    fn is_prepared(self) -> bool {
        self.prepared != Some(false)
    }
}

/// How a model is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    pub precision: Precision,
    pub optimizer: Optimizer,
    /// The fused form of the optimizer, which needs no temporaries.
    pub fused: bool,
    pub lora: Option<Lora>,
    pub checkpointing: bool,
    pub attention: Attention,
    /// The user said which: some families wrote their scores out until lately.
    pub attention_known: bool,
    /// Tokens of a sample.
    pub sequence: f64,
    /// Tokens of the decoder's side.
    pub target_sequence: f64,
    /// Pixels of an image's side.
    pub image: Option<f64>,
    /// ZeRO stage; 3 for fully sharded data parallelism, 0 for none.
    pub stage: u8,
    /// Processes that share the states.
    pub ranks: u64,
    /// Gradients live through forward, as with accumulation over several batches.
    pub accumulates: bool,
}

impl Setup {
    /// The quantisation of frozen weights, where they are.
    pub fn quantised(&self) -> Option<Quantised> {
        self.lora.and_then(|lora| lora.quantised)
    }

    /// The precision that tensors really get: what was made 32 bit runs under autocast, what was not stays 16 bit.
    pub(super) fn effective(&self) -> Precision {
        match (self.quantised(), self.precision) {
            (None, precision) => precision,
            (Some(_), Precision::Fp32) => Precision::Fp32,
            (Some(quantised), _) if quantised.is_prepared() => Precision::Mixed,
            (Some(_), _) => Precision::Pure16,
        }
    }

    /// Quantised layers return what they were given: 32 bit from a 32-bit residual stream.
    pub(super) fn wide_results(&self) -> bool {
        self.quantised().is_some_and(Quantised::is_prepared)
    }
}
