//! What must hold for every fix on any incident, and what the ranking must do on plain ones.

use super::*;
use crate::account::proof::{self, Proof, ProofKind};
use crate::cause;
use crate::dialect::{Event, Fact, ProcessUse, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::{Known, Span};
use crate::incident::context::{Clue, ContextReader, Frame, Phase, Precision, Trainer};
use crate::incident::{Context, Recording};
use crate::input::Document;
use crate::units::{self, Base, GIB, MIB};

fn seen<T>(value: T) -> Known<T> {
    Known::Seen(value, Span::line(3))
}

fn incident(program: Program, resource: Resource, figures: &[(Fact, &str)], context: Context) -> Incident {
    let mut event = Event::new("test", program, resource, Span::line(7));
    for (fact, text) in figures {
        event.facts.note(*fact, units::parse(text, Base::Binary).unwrap().at(Span::line(7)));
    }
    Incident::alone(event, context)
}

fn planned(incident: &Incident) -> Plan {
    plan(incident, &cause::rank(incident))
}

fn offered<'a>(plan: &'a Plan, id: &str) -> Option<&'a Ranked> {
    plan.offers.iter().find(|ranked| ranked.fix.id == id)
}

fn refused(plan: &Plan, id: &str) -> bool {
    plan.wont_help.iter().any(|(fix, _)| fix.id == id)
}

fn withheld(plan: &Plan, id: &str) -> bool {
    plan.withheld.iter().any(|(fix, _)| fix.id == id)
}

/// A full 24 GiB card.
const FULL: &[(Fact, &str)] = &[
    (Fact::Requested, "1.50 GiB"),
    (Fact::Capacity, "23.65 GiB"),
    (Fact::Free, "312.00 MiB"),
    (Fact::Process, "23.33 GiB"),
    (Fact::Allocated, "22.41 GiB"),
    (Fact::ReservedUnallocated, "480.00 MiB"),
];

/// The same card with a cache that would have sufficed in one piece.
const SPLINTERED: &[(Fact, &str)] = &[
    (Fact::Requested, "2.00 GiB"),
    (Fact::Capacity, "23.65 GiB"),
    (Fact::Free, "312.00 MiB"),
    (Fact::Process, "23.33 GiB"),
    (Fact::Allocated, "15.41 GiB"),
    (Fact::ReservedUnallocated, "7.40 GiB"),
];

#[test]
fn ids_are_slugs_and_stand_once() {
    let ids: std::collections::BTreeSet<_> = FIXES.iter().map(|fix| fix.id).collect();
    assert_eq!(ids.len(), FIXES.len());
    assert!(FIXES.len() >= 40);
    assert!(ids.iter().all(|id| id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')));
}

#[test]
fn a_smaller_batch_comes_with_numbers_and_its_accumulation() {
    let context = Context { batch_size: seen(16), trainer: seen(Trainer::HfTrainer), ..Context::default() };
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    let batch = offered(&plan, "smaller-batch").expect("a smaller batch");
    assert_eq!(batch.offer.knobs[0].target, Target::HfTrainer);
    assert_eq!(batch.offer.knobs[0].line.en, "per_device_train_batch_size=8, gradient_accumulation_steps=2");
    assert!(plan.offers.iter().take(5).any(|ranked| ranked.fix.id == "smaller-batch"));
    assert!(refused(&plan, "empty-cache") && refused(&plan, "expandable-segments"));
}

#[test]
fn one_sample_cannot_be_split() {
    let context = Context { batch_size: seen(1), phase: seen(Phase::Backward), ..Context::default() };
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    assert!(refused(&plan, "smaller-batch") && refused(&plan, "gradient-accumulation"));
    assert!(offered(&plan, "gradient-checkpointing").is_some());
}

#[test]
fn optimizer_state_is_not_cured_by_accumulation() {
    let mut context = Context { batch_size: seen(4), phase: seen(Phase::OptimizerStep), ..Context::default() };
    context.clues.insert(Clue::OptimizerState, Span::line(5));
    context.parameters = seen(1.4e9);
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    assert!(refused(&plan, "gradient-accumulation") && refused(&plan, "gradient-checkpointing"));
    assert!(offered(&plan, "eight-bit-optimizer").is_some());
}

#[test]
fn splintered_cache_asks_for_expandable_segments_first() {
    let context = Context { alloc_conf: seen("garbage_collection_threshold:0.8".to_string()), ..Context::default() };
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, SPLINTERED, context));
    let first = &plan.offers[0];
    assert_eq!(first.fix.id, "expandable-segments");
    assert_eq!(
        first.offer.knobs[0].line.en,
        "export PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8,expandable_segments:True"
    );
    let Frees::Bytes { range, .. } = &first.offer.frees else { panic!("a range") };
    assert!(range.high <= (7.41 * GIB as f64) as i128);
}

#[test]
fn expandable_segments_are_withheld_where_they_are_on_or_unsupported() {
    let on = Context { alloc_conf: seen("expandable_segments:True".to_string()), ..Context::default() };
    assert!(withheld(&planned(&incident(Program::Pytorch, Resource::Gpu, SPLINTERED, on)), "expandable-segments"));
    let old = Context { torch_version: seen("1.13.1".to_string()), ..Context::default() };
    assert!(withheld(&planned(&incident(Program::Pytorch, Resource::Gpu, SPLINTERED, old)), "expandable-segments"));
    let mut event = incident(Program::Pytorch, Resource::Gpu, SPLINTERED, Context::default()).event;
    event.sign(Sign::Windows);
    assert!(withheld(&planned(&Incident::alone(event, Context::default())), "expandable-segments"));
}

#[test]
fn the_variable_has_its_new_name_from_torch_2_10() {
    let new = Context { torch_version: seen("2.10.0+cu128".to_string()), ..Context::default() };
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, SPLINTERED, new));
    assert_eq!(
        offered(&plan, "expandable-segments").unwrap().offer.knobs[0].line.en,
        "export PYTORCH_ALLOC_CONF=expandable_segments:True"
    );
}

#[test]
fn memory_of_others_is_freed_first() {
    let mut event = incident(
        Program::Pytorch,
        Resource::Gpu,
        &[
            (Fact::Requested, "512.00 MiB"),
            (Fact::Capacity, "23.65 GiB"),
            (Fact::Free, "200.00 MiB"),
            (Fact::Process, "2.10 GiB"),
            (Fact::Allocated, "1.50 GiB"),
            (Fact::ReservedUnallocated, "100.00 MiB"),
        ],
        Context::default(),
    )
    .event;
    let figure = units::parse("21.30 GiB", Base::Binary).unwrap().at(Span::line(7));
    event.facts.other_processes.push(ProcessUse { pid: 4711, figure });
    let plan = planned(&Incident::alone(event, Context::default()));
    assert_eq!(plan.offers[0].fix.id, "free-the-device");
    assert!(plan.offers[0].offer.knobs[0].line.en.contains("4711"));
}

#[test]
fn shared_memory_is_sized_from_workers_and_batch() {
    let context = Context {
        workers: seen(8),
        batch_size: seen(32),
        sample_size: seen(units::parse("3 MiB", Base::Binary).unwrap().at(Span::line(2))),
        ..Context::default()
    };
    let plan = planned(&incident(Program::Pytorch, Resource::Shm, &[], context));
    assert_eq!(plan.offers[0].fix.id, "shm-size");
    // 1.5 × 18 × 96 MiB = 2592 MiB.
    assert!(plan.offers[0].offer.knobs.iter().any(|knob| knob.line.en.contains("--shm-size=3g")));
    let plan = planned(&incident(Program::Pytorch, Resource::Shm, &[], Context::default()));
    assert!(plan.offers[0].offer.knobs.iter().any(|knob| knob.line.en.contains("--shm-size=8g")));
}

#[test]
fn the_context_that_fits_follows_from_need_and_room() {
    let figures = [(Fact::Needed, "4.00 GiB"), (Fact::Available, "3.00 GiB")];
    let context = Context { sequence_length: seen(32_768), ..Context::default() };
    let plan = planned(&incident(Program::Vllm, Resource::KvCache, &figures, context));
    let context = offered(&plan, "max-model-len").expect("a shorter context");
    assert_eq!(context.offer.knobs[0].line.en, "--max-model-len 24320");
    assert_eq!(context.offer.certainty, Certainty::Arithmetic);
}

#[test]
fn what_cannot_reach_is_withheld() {
    // An 8-bit optimizer for 10 M parameters frees 60 MB where gigabytes are missing.
    let mut context = Context { parameters: seen(1e7), phase: seen(Phase::OptimizerStep), ..Context::default() };
    context.clues.insert(Clue::OptimizerState, Span::line(5));
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    assert!(withheld(&plan, "eight-bit-optimizer"));
}

#[test]
fn growth_in_evaluation_comes_before_the_batch() {
    let mut context =
        Context { phase: seen(Phase::Validation), trainer: seen(Trainer::HfTrainer), ..Context::default() };
    context.clues.insert(Clue::Accumulates, Span::line(5));
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    let place = |id: &str| plan.offers.iter().position(|ranked| ranked.fix.id == id);
    assert!(place("offload-eval-predictions").is_some_and(|first| first < 3));
    assert!(place("smaller-batch").is_none_or(|batch| place("offload-eval-predictions").unwrap() < batch));
}

/// Digit groups of a text, to compare languages.
fn digits(text: &str) -> Vec<String> {
    let mut groups: Vec<String> =
        text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).map(str::to_string).collect();
    groups.sort();
    groups
}

fn same_in_both(text: &crate::text::Text, of: &str) {
    assert!(!text.en.is_empty() && !text.zh.is_empty(), "{of}: {text:?}");
    assert_eq!(digits(&text.en), digits(&text.zh), "{of}: {text:?}");
}

/// Many incidents: every pairing of figures, resource, program, phase and clue that this list spans.
fn synthetic() -> Vec<Incident> {
    let mut incidents = Vec::new();
    let figures: [&[(Fact, &str)]; 4] =
        [FULL, SPLINTERED, &[], &[(Fact::Requested, "1024.00 GiB"), (Fact::Capacity, "8.00 GiB")]];
    let programs = [
        Program::Pytorch,
        Program::Jax,
        Program::Tensorflow,
        Program::Vllm,
        Program::LlamaCpp,
        Program::LinuxKernel,
        Program::Kubernetes,
        Program::Dask,
    ];
    let resources = [Resource::Gpu, Resource::Host, Resource::Cgroup, Resource::Shm, Resource::KvCache];
    let phases = [None, Some(Phase::Load), Some(Phase::Backward), Some(Phase::OptimizerStep), Some(Phase::Validation)];
    let trainers = [None, Some(Trainer::HfTrainer), Some(Trainer::Diffusers), Some(Trainer::Vllm)];
    for (i, figures) in figures.iter().enumerate() {
        for program in programs {
            for resource in resources {
                for phase in phases {
                    for trainer in trainers {
                        let mut context = Context::default();
                        if let Some(phase) = phase {
                            context.phase = seen(phase);
                        }
                        if let Some(trainer) = trainer {
                            context.trainer = seen(trainer);
                        }
                        if i % 2 == 0 {
                            context.batch_size = seen(7);
                            context.parameters = seen(7e9);
                            context.workers = seen(4);
                            context.world_size = seen(4);
                            context.precision = seen(Precision::Fp32);
                        }
                        for clue in [Clue::VocabularyLogits, Clue::Quadratic, Clue::Accumulates] {
                            if i == 1 {
                                context.clues.insert(clue, Span::line(4));
                            }
                        }
                        incidents.push(incident(program, resource, figures, context));
                    }
                }
            }
        }
    }
    incidents
}

#[test]
fn every_offer_keeps_its_promises() {
    for fix in FIXES {
        same_in_both(&(fix.title)(), fix.id);
        same_in_both(&(fix.doc)(), fix.id);
    }
    for incident in synthetic() {
        let plan = planned(&incident);
        let case = Case::new(&incident, &[]);
        for (fix, why) in plan.wont_help.iter().chain(&plan.withheld) {
            same_in_both(why, fix.id);
        }
        for ranked in &plan.offers {
            let (id, offer) = (ranked.fix.id, &ranked.offer);
            assert!(!offer.knobs.is_empty(), "{id}");
            assert!(offer.knobs.iter().all(|knob| !knob.line.en.is_empty()), "{id}");
            // A place that was left open: a name with a format behind it is none that is filled.
            assert!(offer.knobs.iter().all(|knob| !knob.line.en.contains(":.")), "{id}");
            assert!((0.0..=1.0).contains(&offer.cures), "{id}");
            assert!(offer.costs.slows.0 <= offer.costs.slows.1, "{id}");
            same_in_both(&offer.why, id);
            match &offer.frees {
                Frees::Bytes { range, formula, of } => {
                    same_in_both(formula, id);
                    assert!(0 <= range.low && range.low <= range.high, "{id}: {range:?}");
                    if let (Some(capacity), true) = (incident.ledger.capacity, incident.event.resource.on_device()) {
                        // A request may be larger than the device; nothing that is held can.
                        let bound = match of {
                            Part::Request => case.requested().unwrap_or(capacity),
                            Part::Held => case.held(false).unwrap_or(capacity),
                            Part::Whole => capacity,
                        };
                        assert!(range.high <= bound.high, "{id}: {range:?} of {bound:?}");
                    }
                }
                Frees::Unknown(reason) => same_in_both(reason, id),
            }
        }
        // A third of one class stands before another way only where that way is worth less than half of it.
        // The one that speaks to the leading cause keeps its place.
        let changes: Vec<&Ranked> = plan.offers.iter().filter(|ranked| !ranked.look).collect();
        for (i, ranked) in changes.iter().enumerate().take(5).filter(|(i, _)| *i != FIRST - 1) {
            let class = ranked.fix.class;
            let alike = changes.iter().take(i).filter(|other| other.fix.class == class).count();
            let rest = changes.iter().skip(i + 1).filter(|other| other.fix.class != class);
            let best = rest.map(|other| other.value).fold(0.0, f64::max);
            assert!(alike < 2 || best < ranked.value * 0.5, "{class:?}: {}", ranked.fix.id);
        }
    }
}

#[test]
fn knobs_of_programs_that_the_log_rules_out_are_dropped() {
    let plan = planned(&incident(Program::LightGbm, Resource::Gpu, &[], Context::default()));
    for ranked in &plan.offers {
        for knob in &ranked.offer.knobs {
            assert!(
                ![Target::Jax, Target::HfTrainer, Target::Pytorch, Target::Ollama].contains(&knob.target),
                "{}",
                ranked.fix.id
            );
        }
    }
    assert!(offered(&plan, "quantised-features").is_some(), "a line of its own remains");
    assert!(offered(&plan, "smaller-batch").is_none(), "boosted trees have no batch");
}

#[test]
fn a_limit_in_mebibytes_is_raised_by_half() {
    let figures = [(Fact::Limit, "128 MiB")];
    let plan = planned(&incident(Program::Kubernetes, Resource::Cgroup, &figures, Context::default()));
    let raise = offered(&plan, "raise-host-limit").expect("a higher limit");
    assert!(raise.offer.knobs.iter().any(|knob| knob.line.en == "resources: {limits: {memory: 192Mi}}"));
}

#[test]
fn a_request_that_grows_with_an_unknown_batch_shrinks_with_it() {
    let figures = [
        (Fact::Requested, "11.00 GiB"),
        (Fact::Capacity, "15.70 GiB"),
        (Fact::Free, "300.00 MiB"),
        (Fact::Allocated, "13.00 GiB"),
        (Fact::ReservedUnallocated, "1.90 GiB"),
    ];
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, &figures, Context::default()));
    let Frees::Bytes { range, .. } = &offered(&plan, "smaller-batch").expect("half the batch").offer.frees else {
        panic!("a range")
    };
    assert!(range.high >= 12 * GIB as i128 && range.high < 13 * GIB as i128);
}

#[test]
fn programs_outside_pytorch_get_their_own_knobs() {
    let first_knob = |program, figures: &[(Fact, &str)], id: &str| {
        let plan = planned(&incident(program, Resource::Gpu, figures, Context::default()));
        offered(&plan, id)
            .and_then(|ranked| ranked.offer.knobs.first().map(|knob| knob.target))
            .unwrap_or(Target::Program)
    };
    let request = [(Fact::Requested, "6.00 GiB")];
    assert_eq!(first_knob(Program::Rapids, &request, "spill-to-host"), Target::Rapids);
    assert_eq!(first_knob(Program::DaskCuda, &request, "spill-to-host"), Target::DaskCuda);
    assert_eq!(first_knob(Program::TensorRt, &request, "narrower-profile"), Target::TensorRt);
    assert_eq!(first_knob(Program::Xgboost, &request, "quantised-features"), Target::Xgboost);
    assert_eq!(first_knob(Program::OnnxRuntime, &request, "arena-growth"), Target::OnnxRuntime);
    assert_eq!(first_knob(Program::Qiskit, &request, "smaller-state-vector"), Target::Qiskit);
    assert_eq!(first_knob(Program::Pytorch, &request, "spill-to-host"), Target::Program);
}

#[test]
fn donated_inputs_free_at_most_the_smaller_side() {
    let mut incident = incident(Program::Jax, Resource::Gpu, &[(Fact::Requested, "4.00 GiB")], Context::default());
    incident.event.facts.numbers.insert(Number::Parameter, (3.0 * GIB as f64, Span::line(2)));
    incident.event.facts.numbers.insert(Number::Output, (2.0 * GIB as f64, Span::line(3)));
    let plan = planned(&incident);
    let offer = &offered(&plan, "donate-buffers").expect("an offer").offer;
    let Frees::Bytes { range, .. } = &offer.frees else { panic!("{:?}", offer.frees) };
    assert_eq!((range.low, range.high), (0, 2 * GIB as i128));
}

#[test]
fn a_count_of_buffers_is_no_matter_of_a_watermark() {
    let mut incident = incident(Program::Mlx, Resource::Gpu, &[], Context::default());
    incident.event.sign(Sign::Mps);
    incident.event.sign(Sign::RefusedByLimit);
    incident.event.facts.numbers.insert(Number::ResourceLimitCount, (499_000.0, Span::line(2)));
    let plan = planned(&incident);
    assert!(withheld(&plan, "mps-watermark") && offered(&plan, "evaluate-each-step").is_some());
}

/// An incident of the size of the snapshot's.
fn replayed(served: Option<u64>) -> Plan {
    use crate::cause::trial;
    let incident = trial::torch(&trial::RECORDED);
    planned(&Incident { recording: Some(trial::recording(3500 * MIB, served)), ..incident })
}

#[test]
fn settings_that_the_replay_proves_are_offered_with_exact_bytes() {
    let plan = replayed(Some(7000 * MIB));
    let first = plan.offers.first().expect("an offer");
    assert_eq!((first.fix.id, first.offer.certainty), ("expandable-segments", Certainty::Arithmetic));
    let Frees::Bytes { range, .. } = &first.offer.frees else { panic!("{:?}", first.offer.frees) };
    assert_eq!((range.low, range.high), (1000 * MIB as i128, 1000 * MIB as i128));
    assert!(first.offer.why.en.contains("snapshot oom.pickle, entry 42"), "{}", first.offer.why.en);
}

#[test]
fn settings_replayed_from_midway_free_at_most_what_the_replay_says() {
    use crate::cause::trial;
    let recording = Recording { from_the_start: false, ..trial::recording(3500 * MIB, Some(7000 * MIB)) };
    let plan = planned(&Incident { recording: Some(recording), ..trial::torch(&trial::RECORDED) });
    let offer = &offered(&plan, "expandable-segments").expect("an offer").offer;
    assert_eq!(offer.certainty, Certainty::Likely);
    let Frees::Bytes { range, .. } = &offer.frees else { panic!("{:?}", offer.frees) };
    assert_eq!((range.low, range.high), (0, 1000 * MIB as i128));
    assert!(!offer.why.en.contains("proved") && offer.why.en.contains("packed anew"), "{}", offer.why.en);
}

#[test]
fn settings_that_fail_in_the_replay_will_not_help() {
    let plan = replayed(None);
    assert!(offered(&plan, "expandable-segments").is_none());
    let (_, why) = plan.wont_help.iter().find(|(fix, _)| fix.id == "expandable-segments").expect("said");
    assert!(why.en.contains("fail all the same, on 1000.00 MiB") && why.zh.contains("依然失败"), "{why:?}");
    assert!(withheld(&plan, "record-a-snapshot"), "there is one");
}

#[test]
fn a_request_beyond_the_device_is_cured_where_it_is_made() {
    let figures = [
        (Fact::Requested, "72.00 GiB"),
        (Fact::Capacity, "11.69 GiB"),
        (Fact::Free, "11.11 GiB"),
        (Fact::Allocated, "360.00 MiB"),
    ];
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, &figures, Context::default()));
    assert!(offered(&plan, "fix-the-shape").is_some() && offered(&plan, "chunk-the-operation").is_some());
}

/// A frame of a traceback.
fn frame(file: &str, function: &str, code: &str) -> Frame {
    Frame { file: file.into(), line: 12, function: function.into(), code: Some(code.into()), at: Span::line(2) }
}

/// A traceback of PyTorch's whose user's line is the last but what libraries add.
fn traced(frames: Vec<Frame>) -> Incident {
    let context = Context { frames, ..Context::default() };
    incident(Program::Pytorch, Resource::Gpu, FULL, context)
}

#[test]
fn what_is_copied_is_not_deleted_before_the_copy() {
    let copied = traced(vec![
        frame("/home/ada/ema.py", "<module>", "average = copy.deepcopy(model)"),
        frame("/usr/lib/python3.11/copy.py", "deepcopy", "y = _reconstruct(x, memo, *rv)"),
    ]);
    let plan = planned(&copied);
    let lines: Vec<String> =
        plan.offers.iter().flat_map(|ranked| &ranked.offer.knobs).map(|k| k.line.en.clone()).collect();
    assert!(!lines.iter().any(|line| line.contains("del model")), "{lines:?}");
}

#[test]
fn a_batch_of_one_under_any_name_is_not_halved() {
    let mut folds = traced(Vec::new());
    folds.context.other_batch.note(("diffusion_batch_size".into(), 1), Span::line(1));
    let plan = planned(&folds);
    assert!(offered(&plan, "smaller-batch").is_none());
    let (_, why) = plan.wont_help.iter().find(|(fix, _)| fix.id == "smaller-batch").expect("said");
    assert_eq!(why.en, "diffusion_batch_size is 1 already");
}

#[test]
fn ranks_that_wait_for_each_other_are_not_sent_to_one_device() {
    let waits = traced(vec![frame("/home/ada/train.py", "initialize", "distributed.barrier()")]);
    let plan = planned(&waits);
    let line = first_line_of(&plan, "other-device");
    assert!(line.is_empty() || line.contains("<an index for each rank>"), "{line}");
}

/// Between steps of training it is the evaluation's own batch that lies on the device.
#[test]
fn what_fails_in_validation_is_cured_by_the_batch_of_validation() {
    let mut validates = traced(Vec::new());
    validates.context.trainer = seen(Trainer::Lightning);
    validates.context.phase = seen(Phase::Validation);
    let plan = planned(&validates);
    assert!(offered(&plan, "smaller-batch").is_none());
    assert!(first_line_of(&plan, "smaller-eval-batch").contains("val_set"));
}

/// A node that runs short evicts pods whatever their limits.
#[test]
fn an_evicted_pod_needs_a_node_with_room_and_no_larger_limit() {
    let figures = [(Fact::Limit, "100.00 MiB"), (Fact::Free, "60.00 MiB"), (Fact::Used, "20.00 MiB")];
    let mut evicted = incident(Program::Kubernetes, Resource::Host, &figures, Context::default());
    evicted.event.facts.numbers.insert(Number::MemoryRequest, (0.0, Span::line(3)));
    let plan = planned(&evicted);
    let lines: Vec<&str> =
        plan.offers.iter().flat_map(|ranked| &ranked.offer.knobs).map(|knob| knob.line.en.as_str()).collect();
    assert!(!lines.iter().any(|line| line.contains("limits:")), "{lines:?}");
    assert!(first_line_of(&plan, "raise-host-limit").contains("a node with more memory"), "{lines:?}");
}

#[test]
fn a_quantisation_that_is_in_use_is_not_offered_as_a_narrower_one() {
    let of = |name: &str| {
        let mut context = Context::default();
        context.model.note(name.into(), Span::line(1));
        let mut refused = incident(Program::LlamaCpp, Resource::Gpu, &[(Fact::Requested, "16.00 GiB")], context);
        refused.event.sign(Sign::WeightsBuffer);
        first_line_of(&planned(&refused), "weight-quantisation")
    };
    assert!(of("cobalt-8b-Q8_0.gguf").contains("Q4_K_M"));
    assert!(of("cobalt-8b-Q4_K_M.gguf").contains("Q3_K_M"));
    assert!(of("cobalt-8b-IQ3_XXS.gguf").contains("Q2_K"));
    assert_eq!(of("cobalt-8b-Q2_K.gguf"), "");
}

#[test]
fn an_option_of_the_command_line_is_changed_where_it_sets_the_size() {
    let mut sized = traced(Vec::new());
    sized.context.image_size.note(1024, Span::line(1));
    let told = ContextReader::new(&Document::from_text("test", "python seg.py --crop_size 1024 --dim 1024\n")).at(
        Span::line(2),
        None,
        None,
    );
    (sized.context.command, sized.context.options) = (told.command, told.options);
    let line = first_line_of(&planned(&sized), "smaller-images");
    assert!(line.starts_with("--crop_size 768"), "{line}");
    sized.context.command = crate::evidence::Known::Unknown;
    sized.context.options.clear();
    // Nothing shows a transform of the user's.
    assert_eq!(first_line_of(&planned(&sized), "smaller-images"), "smaller pictures, or tiles of them");
}

fn first_line_of(plan: &Plan, id: &str) -> String {
    offered(plan, id).and_then(|ranked| ranked.offer.knobs.first()).map(|knob| knob.line.en.clone()).unwrap_or_default()
}

#[test]
fn where_activations_are_gone_nothing_makes_them_smaller() {
    for phase in [Phase::Checkpoint, Phase::OptimizerStep] {
        let context = Context { batch_size: seen(16), phase: seen(phase), ..Context::default() };
        let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
        for id in ["smaller-batch", "mixed-precision", "activation-offload", "chunk-the-operation", "smaller-images"] {
            assert!(offered(&plan, id).is_none(), "{phase:?}: {id}");
        }
        assert!(refused(&plan, "smaller-batch"), "{phase:?}");
    }
}

#[test]
fn a_request_that_a_part_of_the_free_memory_would_hold_is_no_matter_of_size() {
    let figures = [
        (Fact::Requested, "1.10 GiB"),
        (Fact::Capacity, "23.70 GiB"),
        (Fact::Free, "20.10 GiB"),
        (Fact::Allocated, "2.00 GiB"),
    ];
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, &figures, Context::default()));
    assert!(plan.offers.iter().all(|ranked| !ranked.fix.class.frees_an_amount()), "{:?}", plan.offers[0].fix.id);
}

#[test]
fn a_size_that_nobody_meant_is_corrected_and_nothing_else() {
    let mut event = incident(Program::Pytorch, Resource::Gpu, &[], Context::default()).event;
    event.sign(Sign::AbsurdRequest);
    let plan = planned(&Incident::alone(event, Context::default()));
    assert_eq!(plan.offers.iter().map(|ranked| ranked.fix.id).collect::<Vec<_>>(), ["fix-the-shape"]);
}

#[test]
fn a_loop_of_the_users_own_gets_no_arguments_of_a_trainer() {
    let frames = vec![
        frame("/home/a/train.py", "<module>", "outputs = model(x, labels=x)"),
        frame("/env/site-packages/transformers/models/gpt2/modeling_gpt2.py", "forward", "loss = self.loss_function("),
    ];
    let mut context = Context {
        trainer: seen(Trainer::HfTrainer),
        phase: seen(Phase::Loss),
        batch_size: seen(16),
        frames,
        ..Context::default()
    };
    context.clues.insert(Clue::VocabularyLogits, Span::line(4));
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context.clone()));
    assert!(!first_line_of(&plan, "smaller-batch").contains("per_device"), "{}", first_line_of(&plan, "smaller-batch"));
    assert!(!first_line_of(&plan, "chunked-loss").contains("liger"), "GPT-2 is none of its models");
    context.frames.insert(1, frame("/env/site-packages/transformers/trainer.py", "train", "self.training_step(x)"));
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    assert!(first_line_of(&plan, "smaller-batch").contains("per_device"));
}

#[test]
fn liger_is_named_with_the_release_that_patches_the_model() {
    let frames = vec![
        frame("/env/site-packages/transformers/trainer.py", "train", "self.training_step(x)"),
        frame("/env/site-packages/transformers/models/qwen3/modeling_qwen3.py", "forward", "logits = self.lm_head(x)"),
    ];
    let mut context =
        Context { trainer: seen(Trainer::HfTrainer), phase: seen(Phase::Loss), frames, ..Context::default() };
    context.clues.insert(Clue::VocabularyLogits, Span::line(4));
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    assert_eq!(first_line_of(&plan, "chunked-loss"), "use_liger_kernel=True   # liger-kernel 0.5.9 or newer");
}

#[test]
fn what_grows_in_a_list_is_mended_where_it_is_appended() {
    let mut context = Context {
        phase: seen(Phase::Train),
        epoch: seen(2),
        frames: vec![frame("train.py", "main", "history.append(loss)")],
        ..Context::default()
    };
    context.clues.insert(Clue::Accumulates, Span::line(4));
    context.clues.insert(Clue::LongLived, Span::line(4));
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
    assert!(first_line_of(&plan, "detach-logged-tensors").starts_with("history.append(loss.item())"));
    assert!(offered(&plan, "gc-collect").is_none(), "the list refers to it");
}

#[test]
fn a_layer_that_is_made_has_read_no_data() {
    let frames = vec![
        frame("/home/a/train.py", "build", "self.head = nn.Linear(width, words)"),
        frame("/env/site-packages/torch/nn/modules/linear.py", "__init__", "self.weight = Parameter("),
    ];
    let context = Context { phase: seen(Phase::Train), frames, ..Context::default() };
    let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context.clone()));
    assert!(offered(&plan, "smaller-batch").is_none() && offered(&plan, "gradient-checkpointing").is_none());
    let plan = planned(&incident(Program::Pytorch, Resource::Host, &[(Fact::Requested, "2 GiB")], context));
    assert!(offered(&plan, "read-less-at-once").is_none());
}

#[test]
fn on_a_mac_lines_are_those_that_it_has() {
    let kept = |line: &str| Knob { target: Target::Shell, line: Text::same(line) }.works_beyond_linux();
    for line in ["sudo sysctl iogpu.wired_limit_mb=49152", "print the free heap after each round", "vm_stat"] {
        assert!(kept(line), "{line}");
    }
    for line in [
        "free -h",
        "sudo sysctl vm.max_map_count=1048576",
        "sudo fallocate -l 32G /swapfile && sudo swapon /swapfile",
        "watch -n 60 'grep -H ^Pss: /proc/PID/smaps_rollup'",
        "sudo mount -o remount,size=8G /dev/shm",
        "nvidia-smi -L",
    ] {
        assert!(!kept(line), "{line}");
    }
}

#[test]
fn on_windows_lines_are_those_of_its_shell() {
    let set = |line: &str| {
        Knob { target: Target::Shell, line: Text::same(line) }.for_windows(Shell::Cmd).map(|knob| knob.line.en)
    };
    assert_eq!(set("export A=1 B=2   # once").as_deref(), Some("set A=1\nset B=2   # once"));
    assert_eq!(
        set("CUDA_LAUNCH_BLOCKING=1 <your command>").as_deref(),
        Some("set CUDA_LAUNCH_BLOCKING=1\n<your command>")
    );
    assert_eq!(set("free -h"), None);
    assert_eq!(set("nvidia-smi").as_deref(), Some("nvidia-smi"));
}

#[test]
fn a_checkpoint_goes_to_the_cpu_only_where_one_is_read() {
    let offers = |code: &str| {
        let frames = vec![frame("/home/a/run.py", "main", code)];
        let context = Context { phase: seen(Phase::Load), frames, ..Context::default() };
        let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
        offered(&plan, "load-to-cpu").is_some()
    };
    assert!(offers("state = torch.load(path)"));
    assert!(!offers("state = torch.load(path, map_location='cpu')"), "in force");
    assert!(!offers("model.to(device)"), "the weights are in host memory");
}

#[test]
fn the_librarys_own_call_that_generates_keeps_no_graph() {
    let offers = |file: &str| {
        let frames = vec![
            frame("/home/a/score.py", "main", "scores = model.generate(ids)"),
            frame(file, "forward", "logits = self.lm_head(hidden)"),
        ];
        let context = Context { phase: seen(Phase::Inference), frames, ..Context::default() };
        offered(&planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context)), "no-grad-in-eval").is_some()
    };
    assert!(offers("/home/a/model.py"));
    assert!(!offers("/env/site-packages/transformers/generation/utils.py"));
}

#[test]
fn the_first_share_to_try_lies_below_the_one_in_force() {
    let tried = |share: Option<f64>| {
        let mut incident = incident(Program::Lmdeploy, Resource::Gpu, &[], Context::default());
        let numbers = &mut incident.event.facts.numbers;
        numbers.extend(share.map(|share| (Number::CacheMaxEntryCount, (share, Span::line(1)))));
        first_line_of(&planned(&incident), "lower-engine-memory")
    };
    assert_eq!(tried(None), "--cache-max-entry-count 0.50");
    assert_eq!(tried(Some(0.8)), "--cache-max-entry-count 0.50");
    assert_eq!(tried(Some(0.2)), "--cache-max-entry-count 0.16");
}

#[test]
fn the_first_three_hold_a_change_for_the_leading_cause() {
    for incident in synthetic() {
        let findings = cause::rank(&incident);
        let Some(leading) = findings.first().map(|leading| leading.cause.id) else { continue };
        let plan = plan(&incident, &findings);
        let spoken = |offers: &[Ranked]| offers.iter().any(|ranked| is_for(ranked.fix, leading));
        assert_eq!(spoken(&plan.offers[..plan.offers.len().min(FIRST)]), spoken(&plan.offers), "{leading}");
    }
}

#[test]
fn no_line_is_newer_than_the_python_of_the_frames_allows() {
    let newest = |file: &str| {
        let context = Context { frames: vec![frame(file, "backward", "loss.backward()")], ..Context::default() };
        let incident = incident(Program::Pytorch, Resource::Gpu, &[], context);
        super::case::Case::new(&incident, &[]).torch_version()
    };
    assert_eq!(newest("/usr/local/lib/python2.7/dist-packages/torch/utils/data/dataloader.py"), Some((1, 4)));
    assert_eq!(newest("/opt/env/lib/python3.7/site-packages/torch/tensor.py"), Some((1, 8)));
    assert_eq!(newest("C:\\env\\python3.8\\site-packages\\torch\\_tensor.py"), Some((2, 4)));
    assert_eq!(newest("/opt/env/lib/python3.7/site-packages/timm/models.py"), None);
    assert_eq!(newest("/opt/env/lib/python3.13/site-packages/torch/_tensor.py"), None);
}

/// The script's own line and nothing below it.
fn script(file: &str, code: &str) -> Vec<Frame> {
    vec![frame(file, "<module>", "main()"), frame(file, "main", code)]
}

#[test]
fn a_script_without_a_model_gets_no_batch() {
    let offers = |file: &str, code: &str| {
        let context = Context { frames: script(file, code), ..Context::default() };
        let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
        ["smaller-batch", "smaller-images", "mixed-precision", "less-at-once"].map(|id| offered(&plan, id).is_some())
    };
    assert_eq!(offers("/home/a/stitch.py", "wall = torch.empty(rows, columns)"), [false, false, false, true]);
    // What the model works on is not told: nothing is said of pictures.
    assert_eq!(offers("/home/a/score.py", "wall = model(rows)"), [true, false, true, false]);
    assert_eq!(offers("/home/a/train.py", "wall = torch.empty(rows, columns)"), [true, false, true, false]);
}

#[test]
fn sound_has_no_pixels() {
    let pixels = |code: &str| {
        let context = Context {
            frames: script("/home/a/nodes.py", code),
            trainer: seen(Trainer::ComfyUi),
            phase: seen(Phase::Decode),
            ..Context::default()
        };
        let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
        let tiled = first_line_of(&plan, "vae-tiling").contains("(Tiled)");
        [offered(&plan, "smaller-images").is_some(), tiled]
    };
    assert_eq!(pixels("images = vae.decode(latents)"), [true, true]);
    assert_eq!(pixels("waves = vae.decode(latents)"), [false, false]);
    assert_eq!(pixels("heatwaves = vae.decode(latents)"), [true, true], "a part of a word is none");
}

#[test]
fn what_a_pool_holds_is_freed_by_nothing_but_a_smaller_pool() {
    use crate::incident::context::AnnouncedPool;
    let saved = |pools: Vec<AnnouncedPool>| {
        let context = Context { phase: seen(Phase::Backward), pools, ..Context::default() };
        let plan = planned(&incident(Program::Pytorch, Resource::Gpu, FULL, context));
        let checkpointing = offered(&plan, "gradient-checkpointing").map(|ranked| ranked.offer.frees.clone());
        checkpointing.map(|frees| match frees {
            Frees::Bytes { range, .. } => range.high,
            Frees::Unknown(_) => 0,
        })
    };
    let pool = AnnouncedPool { line: 1, bytes: 20.0 * GIB as f64, of_keys_and_values: false, of_tensorflow: false };
    assert!(saved(Vec::new()).is_some_and(|most| most > 10 * GIB as i128));
    assert!(saved(vec![pool]).is_none_or(|most| most <= 3 * GIB as i128));
}

#[test]
fn no_limit_is_raised_for_what_exceeds_the_device() {
    let offers = |requested: &str| {
        let figures = [
            (Fact::Requested, requested),
            (Fact::Capacity, "16.00 GiB"),
            (Fact::Allocated, "8.00 GiB"),
            (Fact::FractionLimit, "12.00 GiB"),
        ];
        let mut incident = incident(Program::Pytorch, Resource::Gpu, &figures, Context::default());
        incident.event.sign(Sign::RefusedByLimit);
        offered(&planned(&incident), "raise-memory-fraction").is_some()
    };
    assert!(offers("5.00 GiB"));
    assert!(!offers("9.00 GiB"));
}

#[test]
fn an_engine_that_is_built_serves_nobody() {
    let mut context = Context::default();
    context.clues.insert(Clue::BuildsEngine, Span::line(4));
    let figures = [(Fact::Requested, "22.40 GiB")];
    let plan = planned(&incident(Program::TensorRtLlm, Resource::Gpu, &figures, context));
    assert!(offered(&plan, "lower-engine-memory").is_none() && offered(&plan, "kv-cache-dtype").is_none());
    assert!(offered(&plan, "fewer-sequences").is_some());
}

#[test]
fn an_engine_that_is_an_object_takes_arguments() {
    let mut context = Context::default();
    context.clues.insert(Clue::EngineObject, Span::line(1));
    let figures = [(Fact::Needed, "4.00 GiB"), (Fact::Available, "3.00 GiB")];
    context.sequence_length = seen(32_768);
    let plan = planned(&incident(Program::Vllm, Resource::KvCache, &figures, context.clone()));
    assert_eq!(first_line_of(&plan, "max-model-len"), "LLM(..., max_model_len=24320)");
    assert_eq!(first_line_of(&plan, "kv-cache-dtype"), "LLM(..., kv_cache_dtype=\"fp8\")");
    let plan = planned(&incident(Program::LlamaCpp, Resource::Gpu, &[], context));
    assert!(first_line_of(&plan, "weight-offload").starts_with("Llama(..., n_gpu_layers="));
}

#[test]
fn no_batch_is_in_a_variable_that_is_being_made() {
    let mut incident = incident(Program::Tensorflow, Resource::Gpu, &[], Context::default());
    incident.event.sign(Sign::Initializer);
    let plan = planned(&incident);
    assert!(offered(&plan, "smaller-batch").is_none() && offered(&plan, "chunk-the-operation").is_none());
    assert!(offered(&plan, "weight-quantisation").is_none());
    assert!(first_line_of(&plan, "weight-offload").contains("/cpu:0"));
}

#[test]
fn a_form_of_few_bits_needs_what_its_name_tells_and_exllamas_keeps_no_layer_on_the_host() {
    let of = |name: &str| {
        let mut context = Context::default();
        context.model.note(name.into(), Span::line(1));
        context.parameters.note(32e9, Span::line(1));
        context.phase.note(Phase::Inference, Span::line(2));
        let facts = [(Fact::Requested, "66.00 MiB"), (Fact::Capacity, "15.00 GiB"), (Fact::Free, "39.00 MiB")];
        incident(Program::Pytorch, Resource::Gpu, &facts, context)
    };
    let offers = |refused: &Incident| offered(&planned(refused), "weight-offload").is_some();
    let proved = |refused: &Incident| {
        let proofs = refused.proofs();
        proof::of(&proofs, ProofKind::StatesExceedDevice).is_some_and(Proof::certain)
    };
    let (narrow, wide) = (of("heron-32B-exl2-3_0"), of("heron-32B"));
    assert!(!offers(&narrow) && offers(&wide));
    assert!(!proved(&narrow), "32 billion weights of 3 bits are 11.2 GiB");
    assert!(proved(&of("heron-32B-Q8_0.gguf")));
}

#[test]
fn a_placeholder_of_several_words_is_one_value_to_a_shell_of_windows() {
    let set = "GOMEMLIMIT=<nine tenths of the limit>";
    assert_eq!(of_windows(set, Shell::PowerShell), "$env:GOMEMLIMIT = \"<nine tenths of the limit>\"");
    assert_eq!(of_windows(set, Shell::Cmd), format!("set {set}"));
    assert_eq!(of_windows("A=<one or two> tool --fast", Shell::Cmd), "set A=<one or two>\ntool --fast");
    assert_eq!(of_windows("export A=1 B=<two of them>", Shell::Cmd), "set A=1\nset B=<two of them>");
    assert_eq!(of_windows("--batch <half of it>", Shell::Cmd), "--batch <half of it>");
}
