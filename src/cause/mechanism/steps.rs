//! What the steps before the failure needed, as PyTorch's own counters told from inside (`oomdoc run --snapshot`).

use super::{Mechanism, Reading};
use crate::incident::timeline::{InsideProcess, Refusal};
use crate::text;
use crate::units::Bytes;

/// Steps after which everything that a step needs has been in place at once: the optimizer makes its states at the end
/// of the first, so that the second is the first to run its passes beside them; one more for what is set up late.
const SETTLED: u64 = 3;

/// What a step needs differs by so much without any reason that is worth telling: sizes are rounded, and libraries try
/// out several algorithms.
const ALIKE: f64 = 0.05;

/// A rise of this share of the level over all steps is one.
const RISEN: f64 = 0.05;

/// A failing step this many steps' growth above the steps before it may be no more than the next of them.
const NEXT: f64 = 3.0;

/// The failed request against the steps that went well.
///
/// Where each step peaks above the last because each leaves more behind, the readings tell, and nothing is added here.
pub const BEFORE: Mechanism = Mechanism {
    id: "steps-before",
    levels: &["higher", "ever-higher", "as-high", "fitted-before"],
    read: |incident| {
        let (process, refusal) = incident.observed.as_deref()?.refused(incident)?;
        let settled = refusal.step >= SETTLED && process.peak > 0 && process.device == Some(refusal.device);
        settled.then(|| compare(process, refusal)).flatten()
    },
};

/// The first step of an optimizer, in which it makes what it keeps for each parameter from then on.
pub const STATES: Mechanism = Mechanism {
    id: "optimizer-states",
    levels: &["unfinished"],
    read: |incident| {
        let (_, refusal) = incident.observed.as_deref()?.refused(incident)?;
        // Once all have theirs, what a step asks for is its own, and gone with it.
        let states = refusal.states.filter(|states| (1..states.all).contains(&states.parameters))?;
        let (made, some, all) = (Bytes(states.made), Bytes(states.parameters), Bytes(states.all));
        let (to_come, total) = (Bytes(states.whole.saturating_sub(states.made)), Bytes(refusal.total));
        let needed = Bytes(refusal.allocated.saturating_add(to_come.0));
        Some(Reading::new(
            "unfinished",
            text!(
                en: "the optimizer was making its states, which stay: {made}, complete for {some} of {all} of \
                     parameters, and about {to_come} were to come: after that, {needed} would be allocated of {total}",
                zh: "优化器正在创建会一直保留的状态：已有 {made}，{all} 参数中的 {some} 已齐备，还需约 {to_come}：之后 \
                     {total} 中将分配 {needed}"
            ),
        ))
    },
};

fn compare(process: &InsideProcess, refusal: &Refusal) -> Option<Reading> {
    let needed = refusal.allocated.saturating_add(refusal.requested);
    let above = needed.saturating_sub(process.peak);
    let growth = growth_per_step(process);
    if growth.is_some_and(|each| above as f64 <= NEXT * each) {
        return None;
    }
    let (steps, step) = (refusal.step, process.peak_step);
    let (peak, room) = (Bytes(process.peak), Bytes(refusal.total.saturating_sub(process.peak)));
    let (held, asked, more) = (Bytes(refusal.allocated), Bytes(refusal.requested), Bytes(above));
    let level = match above as f64 / process.peak as f64 {
        _ if above == 0 => "fitted-before",
        share if share <= ALIKE => "as-high",
        _ if rose_to_the_end(process, steps) => "ever-higher",
        _ => "higher",
    };
    let text = match level {
        "fitted-before" => text!(
            en: "{steps} steps peaked at up to {peak} allocated (step {step}); this request, {asked} on top of {held}, \
                 needs no more than that, and yet found no room",
            zh: "此前 {steps} 步的已分配峰值达 {peak}（第 {step} 步）；此次在 {held} 之上再请求 {asked}，并未超过该峰\
                 值，却没有空间"
        ),
        "as-high" => text!(
            en: "{steps} steps peaked at up to {peak} allocated (step {step}), and this one needs hardly more: \
                 {asked} on top of {held}",
            zh: "此前 {steps} 步的已分配峰值达 {peak}（第 {step} 步），此次所需相差无几：在 {held} 之上请求 {asked}"
        ),
        "ever-higher" => text!(
            en: "the {steps} steps before peaked ever higher, at last at {peak} (step {step}), although what stays \
                 after a step does not rise; this one asks for {asked} on top of {held}, {more} more than any of them",
            zh: "此前 {steps} 步的峰值越来越高，最后达 {peak}（第 {step} 步），而每步结束后的占用并未上升；此次在 \
                 {held} 之上请求 {asked}，比它们都多 {more}"
        ),
        _ => text!(
            en: "{steps} steps peaked at {peak} at most (step {step}) and left {room} of the device; what failed asks \
                 for {asked} on top of {held}, {more} more than any of them",
            zh: "此前 {steps} 步的峰值最高为 {peak}（第 {step} 步），设备尚余 {room}；失败之处在 {held} 之上请求 \
                 {asked}，比它们都多 {more}"
        ),
    };
    Some(Reading::new(level, text))
}

/// Bytes that each step leaves behind, where that is a rise at all. The first step is left out: the optimizer's states
/// stay after it.
fn growth_per_step(process: &InsideProcess) -> Option<f64> {
    let (from, to) = (process.rows.get(1)?, process.rows.last()?);
    let steps = to.0.checked_sub(from.0).filter(|steps| *steps > 0)?;
    let risen = to.1.checked_sub(from.1)?;
    (risen as f64 >= RISEN * to.1 as f64).then(|| risen as f64 / steps as f64)
}

/// True where the peak was raised in most of the steps of the second half: each step, or the data of it, is larger than
/// the one before.
fn rose_to_the_end(process: &InsideProcess, steps: u64) -> bool {
    let half = steps / 2;
    let raised = process.raises.iter().filter(|(step, _)| *step > half).count() as u64;
    raised * 2 > steps - half && steps >= 2 * SETTLED
}

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, settled};
    use crate::cause::{CauseId, rank};
    use crate::dialect::{Fact, Resource};
    use crate::domain::Program;
    use crate::incident::Incident;
    use crate::incident::context::Phase;
    use crate::incident::timeline::Timeline;
    use std::sync::Arc;

    const GIB: f64 = 1_073_741_824.0;

    /// A job on 24 GiB whose steps held and peaked so much, in GiB, before a request on top of what was allocated.
    fn failed(steps: &[(f64, f64)], allocated: f64, requested: f64, phase: Option<Phase>) -> Incident {
        let bytes = |gib: f64| (gib * GIB) as u64;
        let mut process = InsideProcess { pid: 7, device: Some(0), ..InsideProcess::default() };
        for (i, (held, peak)) in steps.iter().enumerate() {
            let step = i as u64 + 1;
            process.rows.push((step, bytes(*held)));
            if bytes(*peak) > process.peak {
                (process.peak, process.peak_step) = (bytes(*peak), step);
                process.raises.push((step, bytes(*peak)));
            }
        }
        process.steps = steps.len() as u64;
        process.failures.push(Refusal {
            requested: bytes(requested),
            total: bytes(24.0),
            allocated: bytes(allocated),
            step: process.steps,
            phase,
            ..Refusal::default()
        });
        let printed = |gib: f64| format!("{gib:.2} GiB");
        let figures = [
            (Fact::Requested, printed(requested)),
            (Fact::Capacity, printed(24.0)),
            (Fact::Allocated, printed(allocated)),
            (Fact::Reserved, printed(allocated + 0.1)),
            (Fact::Free, printed((23.4 - allocated).max(0.01))),
        ];
        let figures: Vec<(Fact, &str)> = figures.iter().map(|(fact, text)| (*fact, text.as_str())).collect();
        let mut incidents = vec![settled(event(Program::Pytorch, Resource::Gpu, &figures))];
        let timeline = Arc::new(Timeline { inside: vec![process], ..Timeline::default() });
        crate::incident::observed::put_to(&mut incidents, &timeline);
        incidents.remove(0)
    }

    fn alike(held: f64, peak: f64) -> Vec<(f64, f64)> {
        vec![(held, peak); 12]
    }

    #[test]
    fn an_evaluation_that_no_call_names_is_held_against_the_steps_before_it() {
        let incident = failed(&alike(4.0, 9.0), 20.5, 4.0, None);
        assert_eq!(level(&BEFORE, &incident), Some("higher"));
        let text = (BEFORE.read)(&incident).unwrap().text.en;
        assert!(text.contains("12 steps peaked at 9.00 GiB at most (step 1) and left 15.00 GiB"), "{text}");
        assert!(text.contains("4.00 GiB on top of 20.50 GiB, 15.50 GiB more than any of them"), "{text}");
        assert_eq!(rank(&incident)[0].cause.id, CauseId::TransientPeak);
    }

    #[test]
    fn a_longest_sample_and_a_save_need_more_than_any_step() {
        for phase in [Phase::Forward, Phase::Backward, Phase::Checkpoint] {
            let incident = failed(&alike(4.0, 12.0), 22.5, 1.5, Some(phase));
            assert_eq!(level(&BEFORE, &incident), Some("higher"));
            assert_eq!(rank(&incident)[0].cause.id, CauseId::TransientPeak, "{phase:?}");
        }
    }

    #[test]
    fn nothing_is_compared_before_a_step_has_run_beside_the_optimizers_states() {
        for steps in 0..3 {
            let incident = failed(&alike(6.0, 15.0)[..steps], 22.9, 1.0, Some(Phase::OptimizerStep));
            assert_eq!(level(&BEFORE, &incident), None, "{steps}");
        }
    }

    #[test]
    fn what_each_step_leaves_behind_is_growth_and_no_phase_of_its_own() {
        for steps in [4u32, 30] {
            let each = 16.0 / f64::from(steps);
            let rows: Vec<(f64, f64)> =
                (1..=steps).map(|i| f64::from(i) * each).map(|held| (4.0 + held, 6.5 + held)).collect();
            let incident = failed(&rows, 23.3, 0.5, Some(Phase::Forward));
            assert_eq!(level(&BEFORE, &incident), None, "{steps}");
            if steps > 4 {
                assert_eq!(rank(&incident)[0].cause.id, CauseId::LeakGrowth);
            }
        }
    }

    #[test]
    fn a_job_that_always_stood_near_the_end_needs_less_and_no_phase_is_blamed() {
        let incident = failed(&alike(14.0, 22.8), 22.9, 0.5, Some(Phase::Backward));
        assert_eq!(level(&BEFORE, &incident), Some("as-high"));
        assert_eq!(rank(&incident)[0].cause.id, CauseId::Capacity);
    }

    #[test]
    fn what_fitted_before_is_no_lack_of_capacity() {
        let incident = failed(&alike(8.0, 21.0), 16.0, 3.0, Some(Phase::Forward));
        assert_eq!(level(&BEFORE, &incident), Some("fitted-before"));
        assert_ne!(rank(&incident)[0].cause.id, CauseId::Capacity);
    }

    #[test]
    fn larger_and_larger_inputs_are_told_from_what_is_kept() {
        let rows: Vec<(f64, f64)> = (0..16u32).map(|i| (4.0, 8.0 + 0.7 * f64::from(i))).collect();
        let incident = failed(&rows, 21.0, 3.0, Some(Phase::Forward));
        assert_eq!(level(&BEFORE, &incident), Some("ever-higher"));
        assert_ne!(rank(&incident)[0].cause.id, CauseId::LeakGrowth);
    }

    #[test]
    fn states_that_an_optimizer_still_makes_are_a_lasting_need_and_what_its_later_steps_ask_for_is_not() {
        use crate::incident::timeline::HeldStates;
        let of = |parameters: f64| {
            let mut incident = failed(&[], 22.0, 1.0, Some(Phase::OptimizerStep));
            let mut timeline = incident.observed.as_deref().cloned().unwrap();
            let bytes = |gib: f64| (gib * GIB) as u64;
            let (made, whole) = (bytes(2.0 * parameters), bytes(16.0));
            let states = HeldStates { made, parameters: bytes(parameters), all: bytes(8.0), whole };
            timeline.inside[0].failures[0].states = Some(states);
            incident.observed = Some(Arc::new(timeline));
            incident
        };
        let told = (STATES.read)(&of(3.0)).unwrap().text.en;
        assert!(told.contains("6.00 GiB, complete for 3.00 GiB of 8.00 GiB of parameters"), "{told}");
        assert!(told.contains("about 10.00 GiB were to come: after that, 32.00 GiB would be allocated"), "{told}");
        assert_eq!(rank(&of(3.0))[0].cause.id, CauseId::Capacity);
        for finished_or_without in [8.0, 0.0] {
            assert_eq!(level(&STATES, &of(finished_or_without)), None);
        }
        let of_capacity = |parameters| {
            let found = rank(&of(parameters));
            found.iter().find(|finding| finding.cause.id == CauseId::Capacity).map_or(0.0, |finding| finding.confidence)
        };
        assert!(
            of_capacity(3.0) > 0.85 && of_capacity(3.0) > of_capacity(8.0),
            "what the step itself needs may be all of it"
        );
    }

    #[test]
    fn figures_of_another_device_are_not_compared() {
        let mut incident = failed(&alike(4.0, 9.0), 20.5, 4.0, None);
        let mut timeline = incident.observed.as_deref().cloned().unwrap();
        timeline.inside[0].device = Some(1);
        incident.observed = Some(Arc::new(timeline));
        assert_eq!(level(&BEFORE, &incident), None);
    }
}
