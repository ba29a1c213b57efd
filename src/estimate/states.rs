//! Weights, gradients and optimizer state: bytes per parameter.
//!
//! Measured on torch 2.11 unless the item says otherwise; ±5 %.

/// An optimizer, as far as its state's size differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizer {
    Sgd,
    SgdMomentum,
    /// Adam, AdamW, NAdam, RAdam, Adamax, Adadelta.
    Adam,
    AmsGrad,
    RmsProp,
    Adagrad,
    Lion,
    /// Without momentum: a row and a column per matrix.
    Adafactor,
    /// bitsandbytes, blocks of 256.
    Adam8bit,
}

impl Optimizer {
    /// Reads the names that logs and settings use (`AdamW`, `adamw_torch_fused`, `paged_adamw_8bit`).
    pub fn named(name: &str) -> Option<Optimizer> {
        let name = name.to_ascii_lowercase();
        let has = |word: &str| name.contains(word);
        Some(if has("8bit") || has("8-bit") {
            Optimizer::Adam8bit
        } else if has("adafactor") {
            Optimizer::Adafactor
        } else if has("adagrad") {
            Optimizer::Adagrad
        } else if has("amsgrad") {
            Optimizer::AmsGrad
        } else if has("adam") || has("adadelta") {
            Optimizer::Adam
        } else if has("rmsprop") {
            Optimizer::RmsProp
        } else if has("lion") {
            Optimizer::Lion
        } else if has("momentum") {
            Optimizer::SgdMomentum
        } else if has("sgd") {
            Optimizer::Sgd
        } else {
            return None;
        })
    }

    /// As PyTorch and its companions call it.
    pub fn name(self) -> &'static str {
        match self {
            Optimizer::Sgd => "SGD",
            Optimizer::SgdMomentum => "SGD with momentum",
            Optimizer::Adam => "AdamW",
            Optimizer::AmsGrad => "AMSGrad",
            Optimizer::RmsProp => "RMSprop",
            Optimizer::Adagrad => "Adagrad",
            Optimizer::Lion => "Lion",
            Optimizer::Adafactor => "Adafactor",
            Optimizer::Adam8bit => "8-bit AdamW",
        }
    }

    /// State in bytes per parameter of 32 bit; parameters of 16 bit keep half of it, save the quantised ones.
    pub fn state(self) -> f64 {
        match self {
            Optimizer::Sgd => 0.0,
            Optimizer::SgdMomentum | Optimizer::RmsProp | Optimizer::Adagrad | Optimizer::Lion => 4.0,
            Optimizer::Adam => 8.0,
            Optimizer::AmsGrad => 12.0,
            Optimizer::Adafactor => 0.01,
            Optimizer::Adam8bit => 2.0 + 2.0 * 4.0 / 256.0,
        }
    }

    /// Temporaries of `step()` in the foreach form, which CUDA takes when nothing is set, in bytes per 32-bit
    /// parameter. The fused form needs none.
    pub fn foreach_temporaries(self) -> f64 {
        match self {
            Optimizer::Adam | Optimizer::AmsGrad | Optimizer::RmsProp | Optimizer::Adafactor => 4.0,
            Optimizer::Adagrad => 8.0,
            _ => 0.0,
        }
    }
}

/// Bytes per parameter of one way to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regime {
    pub weights: f64,
    pub gradients: f64,
    /// Optimizer state, 32-bit master weights included.
    pub optimizer: f64,
}

impl Regime {
    /// Everything in 32 bit, with or without autocast.
    pub fn full_precision(optimizer: Optimizer) -> Regime {
        Regime { weights: 4.0, gradients: 4.0, optimizer: optimizer.state() }
    }

    /// 16-bit weights and gradients with 32-bit master weights (Megatron, DeepSpeed).
    pub fn with_master_weights(optimizer: Optimizer) -> Regime {
        Regime { weights: 2.0, gradients: 2.0, optimizer: 4.0 + optimizer.state() }
    }

    pub fn sum(&self) -> f64 {
        self.weights + self.gradients + self.optimizer
    }

    /// Bytes per parameter on each of `ranks` devices under a ZeRO stage (0 is plain data parallelism; FSDP's full
    /// sharding is stage 3). Gathered units come on top.
    pub fn sharded(&self, stage: u8, ranks: u64) -> f64 {
        let n = ranks.max(1) as f64;
        let part = |whole: f64, from: u8| if stage >= from { whole / n } else { whole };
        part(self.optimizer, 1) + part(self.gradients, 2) + part(self.weights, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    #[test]
    fn llama_3_8b_states() {
        let parameters = 32.0 * 218.10e6 + 2.0 * 525.3e6 + 65.0 * 4096.0;
        let regime = Regime::with_master_weights(Optimizer::Adam);
        assert_eq!(regime.sum(), 16.0);
        assert!((parameters * regime.sum() / GIB as f64 - 119.66).abs() < 0.05);
        assert!((parameters * regime.sharded(3, 8) / GIB as f64 - 14.96).abs() < 0.01);
        assert!((2.0 * 218.1e6 * 2.0 / GIB as f64 - 0.81).abs() < 0.01);
    }

    #[test]
    fn fusing_the_step_saves_one_copy_of_the_parameters() {
        let regime = Regime::full_precision(Optimizer::Adam);
        assert_eq!(regime.sum() + Optimizer::Adam.foreach_temporaries(), 20.0);
        assert_eq!(regime.sum(), 16.0);
    }

    #[test]
    fn stages_shard_one_more_part_each() {
        let regime = Regime::with_master_weights(Optimizer::Adam);
        assert_eq!([0, 1, 2, 3].map(|stage| regime.sharded(stage, 4)), [16.0, 7.0, 5.5, 4.0]);
    }

    #[test]
    fn optimizers_are_read_from_settings() {
        assert_eq!(Optimizer::named("paged_adamw_8bit"), Some(Optimizer::Adam8bit));
        assert_eq!(Optimizer::named("AdamW"), Some(Optimizer::Adam));
        assert_eq!(Optimizer::named("Adafactor"), Some(Optimizer::Adafactor));
        assert_eq!(Optimizer::named("mystery"), None);
        assert!((Optimizer::Adam8bit.state() - 2.03).abs() < 0.01);
    }
}
