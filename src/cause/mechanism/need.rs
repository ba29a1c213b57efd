//! What the model itself needs, against the device.

use super::{Mechanism, Reading};
use crate::account::proof::{Proof, ProofKind};
use crate::cause::nature::{JobKind, job_kind, on_gpu};
use crate::cause::reading::{size, whole};
use crate::dialect::Fact;
use crate::evidence::Known;
use crate::incident::Incident;
use crate::incident::context::{Phase, Precision};
use crate::text;
use crate::units::{Bytes, percent};

/// True where the model is at work, and what is held is less than these bytes of weights.
fn works_in_less(incident: &Incident, weights: f64) -> bool {
    let at_work = matches!(
        incident.context.phase.value(),
        Some(
            Phase::Forward
                | Phase::Loss
                | Phase::Backward
                | Phase::OptimizerStep
                | Phase::Train
                | Phase::Validation
                | Phase::Inference
                | Phase::Warmup
                | Phase::Decode
        )
    );
    let ledger = &incident.ledger;
    let held = ledger.process.or(ledger.reserved).or(ledger.allocated);
    at_work && held.is_some_and(|held| (held.high as f64) < weights)
}

/// Bytes that the weight of one parameter takes at least.
fn weight_bytes(incident: &Incident) -> f64 {
    let context = &incident.context;
    let weight = match context.precision.value() {
        Some(Precision::Fp32) => 4.0,
        Some(Precision::Fp16 | Precision::Bf16 | Precision::Mixed) | None => 2.0,
        Some(Precision::Int8 | Precision::Fp8) => 1.0,
        Some(Precision::Int4) => 0.5,
    };
    let quantised = context.quantized.value() == Some(true);
    let named = context.quantised_width().map(|(least, _)| least);
    named.or(quantised.then_some(0.5)).unwrap_or(weight)
}

/// Bytes that one parameter takes at least: its weight, and in full training gradient and optimizer state beside it.
fn least_bytes(incident: &Incident) -> f64 {
    let context = &incident.context;
    let weight = weight_bytes(incident);
    let quantised = context.quantized.value() == Some(true);
    let named = context.quantised_width();
    let full = job_kind(incident) == Some(JobKind::Training)
        && context.lora.value() != Some(true)
        && named.is_none()
        && !quantised
        && context.cpu_offload.value() != Some(true)
        && context.zero_stage.value().unwrap_or(0) < 2
        && context.fsdp.value() != Some(true);
    if full {
        // A gradient as wide as the weight, and the least state that a common optimizer keeps of it: two moments of a
        // byte each (8-bit Adam).
        weight * 2.0 + 2.0
    } else {
        weight
    }
}

/// The weights, or all that training keeps for them, against the device.
pub const WEIGHTS: Mechanism = Mechanism {
    id: "model-against-device",
    levels: &["exceeds", "fills", "fits"],
    read: |incident| {
        if !on_gpu(incident) {
            return None;
        }
        let all = whole(incident).filter(|all| all.middle() > 0)?;
        let context = &incident.context;
        let devices = context.world_size.value().max(context.parallel.value()).unwrap_or(1).max(1);
        let proved = incident.proofs().into_iter().find(|proof| proof.kind == ProofKind::StatesExceedDevice);
        let proved = proved.filter(Proof::certain).map(|proof| proof.amount.low as f64);
        let (need, at) = match (incident.event.facts.get(Fact::Weights), &incident.context.parameters) {
            (None, Known::Seen(_, at)) if proved.is_some() => (proved.unwrap_or_default(), *at),
            (Some(weights), _) => (weights.bytes as f64, weights.at),
            // Several devices may split them; how is not told. And a model that is at work while less is held than its
            // weights would take is narrower than assumed, or lies elsewhere.
            (None, Known::Seen(parameters, _)) if works_in_less(incident, parameters * weight_bytes(incident)) => {
                return None;
            }
            (None, Known::Seen(parameters, at)) if devices == 1 => (parameters * least_bytes(incident), *at),
            _ => return None,
        };
        let share = need / all.middle() as f64;
        let level = match share {
            s if s > 1.0 => "exceeds",
            s if s > 0.7 => "fills",
            _ => "fits",
        };
        let (need, part, all) = (Bytes(need as u64), percent(share), size(all));
        let text = match level {
            "exceeds" => {
                text!(
                    en: "the model alone takes at least {need} (computed); the device has {all}",
                    zh: "仅模型就至少需要 {need}（计算值），而设备只有 {all}"
                )
            }
            _ => {
                text!(
                    en: "the model alone takes at least {need} (computed), {part} of the device",
                    zh: "仅模型就至少需要 {need}（计算值），占设备的 {part}"
                )
            }
        };
        Some(Reading::new(level, text).at(at))
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::torch;
    use crate::evidence::Span;

    #[test]
    fn parameters_are_held_against_the_device() {
        let model = |parameters, train: bool| {
            let mut incident = torch(&[(Fact::Capacity, "24.00 GiB"), (Fact::Requested, "20.00 MiB")]);
            incident.context.parameters.note(parameters, Span::line(2));
            if train {
                incident.context.optimizer.note("adamw".into(), Span::line(3));
            }
            level(&WEIGHTS, &incident)
        };
        assert_eq!(model(7e9, true), Some("exceeds"), "seven billion with gradients and states");
        assert_eq!(model(10e9, false), Some("fills"));
        assert_eq!(model(1e9, false), Some("fits"));
    }

    #[test]
    fn a_model_that_works_in_less_than_its_weights_is_narrower_than_assumed() {
        let serving = |phase| {
            let mut incident = torch(&[
                (Fact::Capacity, "40.18 GiB"),
                (Fact::Requested, "42.00 MiB"),
                (Fact::Process, "40.01 GiB"),
                (Fact::Allocated, "37.95 GiB"),
            ]);
            incident.context.parameters.note(34e9, Span::line(1));
            incident.context.phase.note(phase, Span::line(2));
            level(&WEIGHTS, &incident)
        };
        assert_eq!(serving(Phase::Inference), None);
        assert_eq!(serving(Phase::Load), Some("exceeds"));
    }
}
