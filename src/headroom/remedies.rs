//! What would make room: the same question with settings changed, one by one and together. Ids are those of
//! `oomdoc rules`.

use super::{Curve, Largest, Question, TargetDevice, judge};
use crate::domain::Verdict;
use crate::estimate::architecture::Body;
use crate::estimate::batch::split;
use crate::estimate::peak::Peak;
use crate::estimate::setup::{Attention, Lora, Precision, Quantised, Setup};
use crate::estimate::states::Optimizer;
use crate::estimate::training::Training;
use crate::order::InOrder;
use crate::text;
use crate::text::Text;

/// A change, or several together, and what they do to the peak.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// Ids of the fixes in `oomdoc rules`.
    pub ids: Vec<&'static str>,
    pub what: Text,
    /// The peak with it.
    pub peak: Peak,
    /// The answer with it.
    pub verdict: Verdict,
}

impl Remedy {
    /// `gradient-checkpointing + qlora`.
    pub fn id(&self) -> String {
        self.ids.join(" + ")
    }
}

/// A change to a description.
struct Change {
    id: &'static str,
    what: Text,
    /// What it costs beside memory: time and the training's outcome, in steps of which one cheap change is 1. Together
    /// they add up, so that a combination is offered only where nothing cheaper fits.
    cost: u32,
    /// Only layers of attention have it.
    of_transformers: bool,
    /// Puts it into the description; `None` where it does not apply.
    with: fn(Setup) -> Option<Setup>,
}

/// What costs nothing but time comes first, then what changes arithmetic, then what trains less.
fn changes() -> Vec<Change> {
    let change = |id, what, cost, of_transformers, with| Change { id, what, cost, of_transformers, with };
    vec![
        change("fused-attention", Text::new("fused attention (SDPA)", "融合注意力（SDPA）"), 1, true, |setup| {
            (setup.attention == Attention::Eager).then_some(Setup { attention: Attention::Fused, ..setup })
        }),
        change("fused-optimizer", Text::new("the fused optimizer", "融合优化器"), 1, false, |setup| {
            let helps = !setup.fused && setup.optimizer.foreach_temporaries() > 0.0;
            helps.then_some(Setup { fused: true, ..setup })
        }),
        change("gradient-checkpointing", Text::new("gradient checkpointing", "激活重计算"), 3, true, |setup| {
            (!setup.checkpointing).then_some(Setup { checkpointing: true, ..setup })
        }),
        change("mixed-precision", Text::new("autocast to bf16", "bf16 autocast"), 4, false, |setup| {
            let applies = setup.precision == Precision::Fp32 && setup.quantised().is_none();
            applies.then_some(Setup { precision: Precision::Mixed, ..setup })
        }),
        change("eight-bit-optimizer", Text::new("an 8-bit optimizer", "8-bit 优化器"), 5, false, |setup| {
            (setup.optimizer == Optimizer::Adam).then_some(Setup { optimizer: Optimizer::Adam8bit, ..setup })
        }),
        change(
            "bf16-states",
            Text::new("weights and states in bf16", "权重与状态改用 bf16"),
            7,
            false,
            |setup| {
                let applies = matches!(setup.precision, Precision::Fp32 | Precision::Mixed) && setup.lora.is_none();
                applies.then_some(Setup { precision: Precision::Pure16, ..setup })
            },
        ),
        change("shorter-sequences", Text::new("sequences of half the length", "序列长度减半"), 8, true, |setup| {
            let (sequence, target_sequence) = (setup.sequence / 2.0, setup.target_sequence / 2.0);
            (sequence >= 256.0).then_some(Setup { sequence, target_sequence, ..setup })
        }),
        change(
            "lora",
            Text::new("LoRA of rank 16, frozen weights in bf16", "LoRA（秩 16），冻结权重用 bf16"),
            10,
            true,
            |setup| {
                let lora = Some(Lora { rank: 16.0, all_linear: true, quantised: None });
                setup.lora.is_none().then_some(Setup { precision: Precision::Pure16, lora, ..setup })
            },
        ),
        change(
            "qlora",
            Text::new("LoRA of rank 16 on weights in 4 bit", "在 4 位权重上做 LoRA（秩 16）"),
            12,
            true,
            |setup| {
                let lora = setup.lora.unwrap_or(Lora { rank: 16.0, all_linear: true, quantised: None });
                let quantised = Some(Quantised::FOUR_BIT);
                let precision = Precision::Mixed;
                let applies = lora.quantised.is_none();
                applies.then_some(Setup { precision, lora: Some(Lora { quantised, ..lora }), ..setup })
            },
        ),
    ]
}

/// Combinations that are shown; cheaper ones leave nothing to the dearer.
const COMBINATIONS: usize = 2;

/// The cheapest combinations of changes that fit where no single change does.
fn together(changes: &[&Change], setup: Setup, tried: impl Fn(Setup) -> (Peak, Verdict)) -> Vec<Remedy> {
    let chosen =
        |set: u32| changes.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, change)| *change);
    let mut sets: Vec<u32> = (1..1 << changes.len().min(16)).filter(|set: &u32| set.count_ones() > 1).collect();
    sets.order_by_key(|set| (chosen(*set).map(|change| change.cost).sum::<u32>(), set.count_ones()));
    let mut found: Vec<(u32, Remedy)> = Vec::new();
    for set in sets {
        // A superset of what fits already asks for more than needed.
        if found.len() >= COMBINATIONS || found.iter().any(|(smaller, _)| set & smaller == *smaller) {
            continue;
        }
        let Some(changed) = chosen(set).try_fold(setup, |setup, change| (change.with)(setup)) else { continue };
        let (peak, verdict) = tried(changed);
        if verdict == Verdict::Fits {
            let joined = |of: fn(&Text) -> &str, with: &str| {
                chosen(set).map(|change| of(&change.what)).collect::<Vec<_>>().join(with)
            };
            let what = Text::new(joined(|what| &what.en, " + "), joined(|what| &what.zh, " + "));
            found.push((set, Remedy { ids: chosen(set).map(|change| change.id).collect(), what, peak, verdict }));
        }
    }
    found.into_iter().map(|(_, remedy)| remedy).collect()
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
            ids: vec![if matches!(curve, Curve::Served(_)) { "fewer-sequences" } else { "gradient-accumulation" }],
            what: if matches!(curve, Curve::Served(_)) {
                text!(en: "at most {b} requests at once", zh: "最多同时处理 {b} 个请求")
            } else {
                text!(en: "batch {b} with gradients accumulated over {a} steps", zh: "批大小 {b}，梯度累积 {a} 步")
            },
            peak,
            verdict: judged(peak),
        });
    }
    let training = match (curve, &question.described) {
        (Curve::Described(training), _) | (_, Some(training)) => training,
        _ => return remedies,
    };
    let before = training.peak(batch).expected;
    let is_transformer = !matches!(training.model.body, Body::Convolutions(_));
    let tried = |setup: Setup| {
        let peak = Training { setup, ..(**training).clone() }.peak(batch);
        (peak, judged(peak))
    };
    let all = changes();
    let mut helping = Vec::new();
    for change in all.iter().filter(|change| is_transformer || !change.of_transformers) {
        let Some(setup) = (change.with)(training.setup) else { continue };
        let (peak, verdict) = tried(setup);
        // What saves little alone may save much where another change has made it the highest.
        helping.push(change);
        if peak.expected < 0.98 * before {
            remedies.push(Remedy { ids: vec![change.id], what: change.what.clone(), peak, verdict });
        }
    }
    if remedies.iter().all(|remedy| remedy.verdict != Verdict::Fits) {
        remedies.extend(together(&helping, training.setup, tried));
    }
    // The first line is what to do: of what fits the cheapest, in the order of the changes.
    remedies.order_by_key(|remedy| remedy.verdict != Verdict::Fits);
    remedies
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the most wasteful training looks like: every change applies to it.
    const WASTEFUL: Setup = Setup {
        precision: Precision::Fp32,
        optimizer: Optimizer::Adam,
        fused: false,
        lora: None,
        checkpointing: false,
        attention: Attention::Eager,
        sequence: 600.0,
        target_sequence: 600.0,
        image: None,
        stage: 0,
        ranks: 1,
        attention_known: true,
        accumulates: false,
    };

    #[test]
    fn a_change_that_was_made_is_not_offered_again() {
        for change in changes() {
            let made = (change.with)(WASTEFUL).unwrap_or_else(|| panic!("{} applies", change.id));
            assert_ne!(made, WASTEFUL, "{}", change.id);
            assert_eq!((change.with)(made), None, "{}", change.id);
        }
    }

    #[test]
    fn weights_in_four_bits_are_computed_with_in_sixteen_already() {
        let change = |id: &str| changes().into_iter().find(|change| change.id == id).expect("a change");
        let quantised = (change("qlora").with)(WASTEFUL).expect("applies");
        let precision = Precision::Fp32;
        assert_eq!((change("mixed-precision").with)(Setup { precision, ..quantised }), None);
        assert_eq!((change("bf16-states").with)(quantised), None, "the weights are not in 32 bits");
    }
}
