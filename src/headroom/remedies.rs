//! What would make room: the same question with one setting changed. Ids are those of `oomdoc rules`.

use super::{Curve, Largest, Question, TargetDevice, judge};
use crate::domain::Verdict;
use crate::estimate::batch::split;
use crate::estimate::peak::Peak;
use crate::estimate::states::Optimizer;
use crate::estimate::training::{Attention, Lora, Precision, Setup, Training};
use crate::text;
use crate::text::Text;

/// A change and what it does to the peak.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// Id of the fix in `oomdoc rules`.
    pub id: &'static str,
    pub what: Text,
    /// The peak with it.
    pub peak: Peak,
    /// The answer with it.
    pub verdict: Verdict,
}

type Change = (&'static str, Text, fn(&mut Setup) -> bool);

/// Changes to a description, with the cheapest for the training's outcome first. Each tells whether it applies.
fn changes() -> Vec<Change> {
    vec![
        ("fused-attention", Text::new("fused attention (SDPA)", "融合注意力（SDPA）"), |setup| {
            std::mem::replace(&mut setup.attention, Attention::Fused) == Attention::Eager
        }),
        ("fused-optimizer", Text::new("the fused optimizer", "融合优化器"), |setup| {
            !std::mem::replace(&mut setup.fused, true) && setup.optimizer.foreach_temporaries() > 0.0
        }),
        ("gradient-checkpointing", Text::new("gradient checkpointing", "激活重计算"), |setup| {
            !std::mem::replace(&mut setup.checkpointing, true)
        }),
        ("mixed-precision", Text::new("autocast to bf16", "bf16 autocast"), |setup| {
            std::mem::replace(&mut setup.precision, Precision::Mixed) == Precision::Fp32
        }),
        ("eight-bit-optimizer", Text::new("an 8-bit optimizer", "8-bit 优化器"), |setup| {
            std::mem::replace(&mut setup.optimizer, Optimizer::Adam8bit) == Optimizer::Adam
        }),
        ("bf16-states", Text::new("weights and states in bf16", "权重与状态改用 bf16"), |setup| {
            let before = std::mem::replace(&mut setup.precision, Precision::Pure16);
            matches!(before, Precision::Fp32 | Precision::Mixed) && setup.lora.is_none()
        }),
        (
            "lora",
            Text::new(
                "LoRA of rank 16 on attention, frozen weights in bf16",
                "注意力层 LoRA（秩 16），冻结权重用 bf16",
            ),
            |setup| {
                setup.precision = Precision::Pure16;
                setup.lora.replace(Lora { rank: 16.0, all_linear: false, quantised: None }).is_none()
            },
        ),
    ]
}

/// What can be tried, where the answer was not "fits".
pub fn of(
    curve: &Curve,
    question: &Question,
    device: &TargetDevice,
    batch: Option<u64>,
    largest: Option<Largest>,
) -> Vec<Remedy> {
    let Some(batch) = batch else { return Vec::new() };
    let headroom = question.headroom.share(device.capacity).max(1.0 - question.share);
    let judged = |peak: Peak| judge(peak, device.outside(), device, headroom);
    let mut remedies = Vec::new();
    if let Some(largest) = largest.filter(|largest| largest.safe > 0 && largest.safe < batch)
        && let Some(split) = split(batch, largest.safe)
    {
        let (b, a) = (split.batch, split.accumulation);
        let peak = curve.peak(b);
        remedies.push(Remedy {
            id: if matches!(curve, Curve::Served(_)) { "fewer-sequences" } else { "gradient-accumulation" },
            what: if matches!(curve, Curve::Served(_)) {
                text!(en: "at most {b} requests at once", zh: "最多同时处理 {b} 个请求")
            } else {
                text!(en: "batch {b} with gradients accumulated over {a} steps", zh: "批大小 {b}，梯度累积 {a} 步")
            },
            peak,
            verdict: judged(peak),
        });
    }
    let Curve::Described(training) = curve else { return remedies };
    let before = training.peak(batch).expected;
    for (id, what, change) in changes() {
        let mut setup = training.setup;
        let is_transformer = !matches!(training.model.body, crate::estimate::architecture::Body::Convolutions(_));
        if !change(&mut setup) || !is_transformer && matches!(id, "lora" | "gradient-checkpointing" | "fused-attention")
        {
            continue;
        }
        let peak = Training { setup, ..(**training).clone() }.peak(batch);
        if peak.expected < 0.98 * before {
            remedies.push(Remedy { id, what, peak, verdict: judged(peak) });
        }
    }
    remedies
}
