//! The arithmetic of ranking, to the byte: a constant that moves moves one of these.

use super::*;
use crate::cause::{CAUSES, CauseId, Finding};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::{Known, Span};
use crate::incident::Context;
use crate::incident::context::{Clue, Phase, Precision, Trainer};
use crate::units::{self, Base, Figure, GIB};

const B: i128 = GIB as i128;

fn seen<T>(value: T) -> Known<T> {
    Known::Seen(value, Span::line(3))
}

fn given<T>(value: T) -> Known<T> {
    Known::Seen(value, Span::GIVEN)
}

fn incident(program: Program, resource: Resource, figures: &[(Fact, &str)], context: Context) -> Incident {
    let mut event = Event::new("test", program, resource, Span::line(7));
    for (fact, text) in figures {
        event.facts.note(*fact, exactly(text));
    }
    Incident::alone(event, context)
}

/// A figure without a rounding error.
fn exactly(text: &str) -> Figure {
    Figure { half_width: 0, ..units::parse(text, Base::Binary).unwrap().at(Span::line(7)) }
}

fn found(causes: &[(CauseId, f64)]) -> Vec<Finding> {
    let finding = |(id, confidence): &(CauseId, f64)| Finding {
        cause: CAUSES.iter().find(|cause| cause.id == *id).unwrap(),
        confidence: *confidence,
        proved: false,
        evidence: Vec::new(),
        refute: Text::default(),
    };
    causes.iter().map(finding).collect()
}

fn offer<'p>(plan: &'p Plan, id: &str) -> &'p Offer {
    &plan.offers.iter().find(|ranked| ranked.fix.id == id).unwrap_or_else(|| panic!("{id} is offered")).offer
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// A training step on a full card: 20 GiB allocated, 2 GiB requested, 1 GiB free, nothing cached.
const STEP: &[(Fact, &str)] = &[
    (Fact::Requested, "2 GiB"),
    (Fact::Capacity, "24 GiB"),
    (Fact::Free, "1 GiB"),
    (Fact::Allocated, "20 GiB"),
    (Fact::ReservedUnallocated, "0 GiB"),
];

fn training() -> Context {
    Context { phase: seen(Phase::Backward), trainer: seen(Trainer::PlainPytorch), ..Context::default() }
}

#[test]
fn what_is_missing_lies_between_all_of_the_cache_and_none_of_it() {
    let figures = [
        (Fact::Requested, "4 GiB"),
        (Fact::Capacity, "24 GiB"),
        (Fact::Free, "1 GiB"),
        (Fact::Allocated, "20 GiB"),
        (Fact::ReservedUnallocated, "2 GiB"),
    ];
    let incident = incident(Program::Pytorch, Resource::Gpu, &figures, training());
    let missing = Case::new(&incident, &[]).missing().expect("all figures are there");
    assert_eq!((missing.low, missing.high), (B, 3 * B));
}

#[test]
fn an_amount_covers_what_is_missing_and_a_twentieth_of_what_is_in_use() {
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, training());
    let case = Case::new(&incident, &[]);
    // 1 GiB is missing, 1 GiB the margin.
    assert!(near(case.reach(Interval::between(2 * B, 3 * B)), 1.0));
    assert!(near(case.reach(Interval::between(0, 2 * B)), 0.5));
    assert!(near(case.reach(Interval::between(B, 2 * B)), 0.75));
    assert!(near(case.reach(Interval::between(0, B / 2)), 0.0));
}

#[test]
fn the_probability_of_a_cure_is_that_of_its_causes_times_what_its_bytes_cover() {
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, training());
    let plan = plan(&incident, &found(&[(CauseId::Capacity, 0.6), (CauseId::TransientPeak, 0.4)]));
    let checkpointing = offer(&plan, "gradient-checkpointing");
    let Frees::Bytes { range, .. } = &checkpointing.frees else { panic!("a share of what is allocated") };
    assert_eq!((range.low, range.high), (2 * B, 14 * B));
    assert!(near(checkpointing.cures, 0.6 * 0.65 + 0.4 * 0.25), "{}", checkpointing.cures);
    // Half of the images' activations free 0 to 9 GiB of the 2 that are wanted.
    let mixed = offer(&plan, "mixed-precision");
    let certain = (0.6 * 0.5 + 0.4 * 0.35) * 0.6;
    assert!(near(mixed.cures, certain), "{} of {certain}", mixed.cures);
}

#[test]
fn a_cure_of_less_than_three_in_a_hundred_is_not_worth_its_line() {
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, training());
    let offered = |confidence: f64| {
        let causes = [(CauseId::Capacity, confidence), (CauseId::OtherProcess, 1.0 - confidence)];
        let plan = plan(&incident, &found(&causes));
        plan.offers.iter().any(|ranked| ranked.fix.id == "gradient-checkpointing")
    };
    // It cures 65 of 100 cases of the one cause and none of the other.
    assert_eq!([offered(0.07), offered(0.05), offered(0.045)], [true, true, false]);
}

#[test]
fn a_language_model_is_told_by_any_of_its_marks() {
    let told = |context: Context| {
        let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
        Case::new(&incident, &[]).language_model()
    };
    assert!(!told(training()));
    assert!(told(Context { sequence_length: seen(2048), ..training() }));
    assert!(told(Context { lora: seen(true), ..training() }));
}

#[test]
fn parameters_are_counted_by_torch_where_torch_may_be() {
    let asked = |program: Program| {
        let incident = incident(program, Resource::Gpu, STEP, training());
        Case::new(&incident, &[]).ask_for_parameters().en
    };
    assert!(asked(Program::Pytorch).contains("model.parameters()"));
    let elsewhere = asked(Program::Jax);
    assert!(elsewhere.contains("number of parameters") && !elsewhere.contains("model.parameters()"), "{elsewhere}");
}

#[test]
fn what_parameters_take_is_told_with_its_product() {
    let of = |parameters| {
        let context = Context { parameters: seen(parameters), ..training() };
        let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
        Case::new(&incident, &[]).of_parameters(2.0, 4.0)
    };
    let (range, formula) = of(1.5e9).expect("the count is known");
    assert_eq!((range.low, range.high), (3_000_000_000, 6_000_000_000));
    assert!(formula.en.contains("1.50 G parameters") && formula.zh.contains("1.50 G"), "{}", formula.en);
    assert!(of(0.0).is_none());
}

#[test]
fn a_share_of_nothing_is_no_amount() {
    let of = |allocated: &str| {
        let figures = [(Fact::Requested, "2 GiB"), (Fact::Capacity, "24 GiB"), (Fact::Allocated, allocated)];
        let incident = incident(Program::Pytorch, Resource::Gpu, &figures, training());
        Case::new(&incident, &[]).share_of_allocated(0.25, 0.5, Text::same("half"))
    };
    let (range, formula) = of("20 GiB").expect("a share");
    assert_eq!((range.low, range.high), (5 * B, 10 * B));
    assert!(formula.en.contains("25–50 % of 20.00 GiB") && formula.zh.contains("25–50 %"), "{}", formula.en);
    assert!(of("0 GiB").is_none());
}

#[test]
fn training_is_told_by_any_of_its_marks() {
    let told = |change: fn(&mut Context)| {
        let mut context = Context::default();
        change(&mut context);
        let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
        Case::new(&incident, &[]).training()
    };
    let marks: [fn(&mut Context); 6] = [
        |context| context.optimizer = seen("adamw".to_string()),
        |context| context.epochs = seen(3),
        |context| context.epoch = seen(1),
        |context| context.gradient_checkpointing = seen(false),
        |context| context.zero_stage = seen(2),
        |context| {
            context.clues.insert(Clue::OptimizerState, Span::line(3));
        },
    ];
    for (at, mark) in marks.into_iter().enumerate() {
        assert!(told(mark), "mark {at}");
    }
    assert!(!told(|_| ()));
    assert!(!told(|context| {
        context.phase = seen(Phase::Inference);
        context.epochs = seen(3);
    }));
}

/// The machine's memory is no bound of what a device can free, however large the device is.
#[test]
fn a_device_of_unknown_size_bounds_nothing() {
    let bound = |resource| {
        let context = Context { host_total: seen(exactly("64 GiB")), ..training() };
        let incident = incident(Program::Pytorch, resource, &[(Fact::Requested, "2 GiB")], context);
        Case::new(&incident, &[]).bound()
    };
    assert_eq!(bound(Resource::Gpu), None);
    assert_eq!(bound(Resource::Host), Some(Interval::exactly(64 * GIB)));
}

#[test]
fn a_line_of_its_own_takes_the_place_of_one_for_any_program() {
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, training());
    let case = Case::new(&incident, &[]);
    let knob = |target| Knob { target, line: Text::same("x") };
    let targets = |knobs: &[Target]| {
        let knobs = case.order(knobs.iter().copied().map(knob).collect());
        knobs.into_iter().map(|knob| knob.target).collect::<Vec<_>>()
    };
    assert_eq!(targets(&[Target::Program, Target::Pytorch]), [Target::Pytorch]);
    assert_eq!(targets(&[Target::Program]), [Target::Program]);
}

#[test]
fn what_covers_half_of_the_shortage_is_worth_half() {
    let figures = [
        (Fact::Requested, "10 GiB"),
        (Fact::Capacity, "24 GiB"),
        (Fact::Free, "1 GiB"),
        (Fact::Allocated, "20 GiB"),
        (Fact::ReservedUnallocated, "0 GiB"),
    ];
    let incident = incident(Program::Pytorch, Resource::Gpu, &figures, training());
    let plan = plan(&incident, &found(&[(CauseId::Capacity, 1.0)]));
    // 9 GiB and the margin are wanted; checkpointing frees 2 to 14, in the middle 8.
    assert!(near(offer(&plan, "gradient-checkpointing").cures, 0.65 * 8.0 / 10.0));
}

#[test]
fn costs_weigh_by_how_deep_they_cut() {
    let of = |numerics| kept(&Costs { slows: (0.0, 0.0), numerics });
    assert!(near(of(Numerics::Same), 1.0) && near(of(Numerics::Benign), 0.97));
    assert!(near(of(Numerics::Optimisation), 0.88) && near(of(Numerics::Model), 0.75));
    let slow = |low, high| kept(&Costs { slows: (low, high), numerics: Numerics::Same });
    assert!(near(slow(0.2, 0.4), 0.85) && near(slow(-1.0, -0.5), 1.05));
}

#[test]
fn of_equal_cures_the_one_that_leaves_the_model_alone_comes_first() {
    let ranked = |fix: &'static Fix| {
        value(&Offer {
            title: None,
            frees: Frees::Unknown(Text::default()),
            costs: fix.costs,
            certainty: Certainty::RuleOfThumb,
            cures: 0.5,
            knobs: Vec::new(),
            why: Text::default(),
        })
    };
    let fix = |id: &str| FIXES.iter().copied().find(|fix| fix.id == id).unwrap();
    assert!(ranked(fix("smaller-batch")) > ranked(fix("freeze-layers")));
    assert!(ranked(fix("gradient-checkpointing")) > ranked(fix("qlora")));
}

#[test]
fn what_only_looks_stands_behind_every_change() {
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, training());
    for leading in [CauseId::Capacity, CauseId::LeakGrowth] {
        let rival = if leading == CauseId::Capacity { CauseId::LeakGrowth } else { CauseId::Capacity };
        let plan = plan(&incident, &found(&[(leading, 0.5), (rival, 0.3)]));
        let looks: Vec<bool> = plan.offers.iter().map(|ranked| ranked.look).collect();
        assert!(looks.is_sorted(), "{leading}: {looks:?}");
        let recording = plan.offers.iter().find(|ranked| ranked.fix.id == "record-a-snapshot");
        assert!(recording.is_some_and(|ranked| ranked.look), "{leading}");
        // Nothing can be changed about what grows before it is found.
        let search = plan.offers.iter().find(|ranked| ranked.fix.id == "find-the-leak").expect("growth is named");
        assert_eq!(search.look, leading != CauseId::LeakGrowth);
    }
}

#[test]
fn nothing_is_changed_for_a_cause_that_nobody_named() {
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, training());
    let plan = plan(&incident, &found(&[(CauseId::Fragmentation, 0.9), (CauseId::Capacity, 0.02)]));
    assert!(plan.withheld.iter().any(|(_, why)| why.en == "it cures none of the causes that are named"));
    for ranked in plan.offers.iter().filter(|ranked| !ranked.look) {
        assert!(cures_at_best(ranked.fix, CauseId::Fragmentation) >= SOME_CURE, "{}", ranked.fix.id);
    }
}

#[test]
fn of_full_states_a_quarter_stays_on_each_of_four_ranks() {
    let context = Context {
        parameters: given(1e9),
        world_size: seen(4),
        optimizer: seen("adamw".to_string()),
        precision: seen(Precision::Bf16),
        ..training()
    };
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
    let plan = plan(&incident, &found(&[(CauseId::Capacity, 0.9)]));
    let Frees::Bytes { range, .. } = &offer(&plan, "shard-states").frees else { panic!("parameters are known") };
    // 16 − 4 bytes each at most, seven tenths of it at the least.
    assert_eq!((range.low, range.high), (8_400_000_000, 12_000_000_000));
}

#[test]
fn in_inference_two_bytes_of_each_parameter_do_not_shrink_with_the_batch() {
    let context = Context {
        phase: seen(Phase::Inference),
        parameters: given(2.0 * GIB as f64),
        batch_size: seen(16),
        ..Context::default()
    };
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
    let plan = plan(&incident, &found(&[(CauseId::Capacity, 0.9)]));
    // 4 GiB of weights stay: 16 × (21 − 4)/(22 − 4) ÷ 1.25 = 12.09.
    let line = &offer(&plan, "smaller-batch").knobs.first().expect("a line").line.en;
    assert!(line.contains("batch_size = 12") || line.contains("batch_size = 8"), "{line}");
    let Frees::Bytes { formula, .. } = &offer(&plan, "smaller-batch").frees else { panic!("figures are known") };
    assert!(formula.en.contains("(22.00 GiB − 4.00 GiB)"), "{}", formula.en);
}

#[test]
fn a_total_batch_is_printed_as_a_total() {
    let lines = |trainer, world| {
        let context =
            Context { batch_size: seen(16), world_size: seen(world), trainer: seen(trainer), ..Context::default() };
        let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
        let plan = plan(&incident, &found(&[(CauseId::Capacity, 0.9)]));
        offer(&plan, "smaller-batch").knobs.iter().map(|knob| knob.line.en.clone()).collect::<Vec<_>>().join("\n")
    };
    // 64 over four GPUs were 16 on each; 8 on each are 32.
    assert!(
        lines(Trainer::Ultralytics, 4).contains("batch=32   # of all GPUs together"),
        "{}",
        lines(Trainer::Ultralytics, 4)
    );
    assert!(lines(Trainer::Ultralytics, 1).contains("batch=8   # accumulates"));
    assert!(lines(Trainer::HfTrainer, 4).contains("per_device_train_batch_size=8"));
}

#[test]
fn states_that_never_fit_are_said_before_any_opinion() {
    let context = Context {
        parameters: given(7e9),
        optimizer: seen("adamw".to_string()),
        precision: seen(Precision::Mixed),
        ..training()
    };
    let incident = incident(Program::Pytorch, Resource::Gpu, STEP, context);
    let plan = plan(&incident, &found(&[(CauseId::Capacity, 0.9)]));
    let why = |id: &str| {
        let (_, why) = plan.withheld.iter().find(|(fix, _)| fix.id == id).unwrap_or_else(|| panic!("{id} is withheld"));
        why.en.clone()
    };
    let never = "7.00 G parameters × 16 bytes = 104.31 GiB of 24.00 GiB";
    for id in
        ["gradient-checkpointing", "smaller-batch", "mixed-precision", "activation-offload", "expandable-segments"]
    {
        assert!(plan.offers.iter().all(|ranked| ranked.fix.id != id), "{id}");
    }
    assert!(why("gradient-checkpointing").contains(never), "{}", why("gradient-checkpointing"));
    assert!(why("eight-bit-optimizer").contains("even then"), "{}", why("eight-bit-optimizer"));
    let sharded = offer(&plan, "shard-states");
    assert!(sharded.knobs.iter().any(|knob| knob.line.en.contains("--nproc_per_node=6")), "{:?}", sharded.knobs);
    assert!(plan.offers.iter().any(|ranked| ["lora", "qlora"].contains(&ranked.fix.id)));
}

#[test]
fn changes_that_suffice_only_together_are_one_offer_with_both_lines() {
    // 1.2 G parameters × 16 bytes are 17.9 GiB; with 8-bit states 11.2 GiB, with a fifth of the activations enough.
    let figures = [
        (Fact::Requested, "2 GiB"),
        (Fact::Capacity, "16 GiB"),
        (Fact::Free, "0.5 GiB"),
        (Fact::Allocated, "15 GiB"),
        (Fact::ReservedUnallocated, "0 GiB"),
    ];
    let context = Context {
        parameters: given(1.2e9),
        optimizer: seen("adamw".to_string()),
        precision: seen(Precision::Mixed),
        trainer: seen(Trainer::HfTrainer),
        phase: seen(Phase::Backward),
        ..Context::default()
    };
    let incident = incident(Program::Pytorch, Resource::Gpu, &figures, context);
    let plan = plan(&incident, &found(&[(CauseId::Capacity, 0.9)]));
    let combined = offer(&plan, "combination");
    assert!(combined.why.en.contains("of 16.00 GiB") && combined.why.en.contains(" + "), "{}", combined.why.en);
    assert!(combined.knobs.iter().all(|knob| knob.line.en.lines().count() >= 2), "{:?}", combined.knobs);
    assert!(combined.costs.slows.1 > 0.0);
}

#[test]
fn the_threshold_of_the_collector_is_for_libraries_beside_pytorch() {
    let ask = |sign: Option<Sign>, version: &str, cause| {
        let context = Context { torch_version: seen(version.to_string()), ..training() };
        let cached = [STEP.split_last().unwrap().1, &[(Fact::ReservedUnallocated, "3 GiB")]].concat();
        let mut incident = incident(Program::Pytorch, Resource::Gpu, &cached, context);
        if let Some(sign) = sign {
            incident.event.sign(sign);
        }
        plan(&incident, &found(&[(cause, 0.9)]))
    };
    let has = |plan: &Plan| plan.offers.iter().any(|ranked| ranked.fix.id == "garbage-collection-threshold");
    assert!(!has(&ask(None, "2.10.0", CauseId::Fragmentation)), "PyTorch frees its cache by itself");
    assert!(!has(&ask(Some(Sign::ForeignLibrary), "2.4.0", CauseId::NonFramework)), "it would act on nothing");
    assert!(has(&ask(Some(Sign::ForeignLibrary), "2.10.0", CauseId::NonFramework)));
    for ranked in ask(Some(Sign::ForeignLibrary), "2.4.0", CauseId::NonFramework).offers {
        for knob in ranked.offer.knobs {
            let cap = knob.line.en.contains("set_per_process_memory_fraction(0");
            assert!(!cap, "{}: {}", ranked.fix.id, knob.line.en);
        }
    }
}

/// Ids of what is offered.
fn ids(plan: &Plan) -> Vec<&'static str> {
    plan.offers.iter().map(|ranked| ranked.fix.id).collect()
}

const TRAINING_ONLY: [&str; 10] = [
    "gradient-checkpointing",
    "eight-bit-optimizer",
    "lighter-optimizer",
    "shard-states",
    "lora",
    "freeze-layers",
    "activation-offload",
    "chunked-loss",
    "fewer-workers",
    "no-python-lists-in-dataset",
];

#[test]
fn servers_and_applications_get_no_advice_for_training() {
    for program in
        [Program::Vllm, Program::Sglang, Program::LlamaCpp, Program::ComfyUi, Program::SdWebUi, Program::Blender]
    {
        let incident = incident(program, Resource::Gpu, STEP, Context::default());
        let causes: Vec<(CauseId, f64)> = CauseId::ALL.iter().map(|cause| (*cause, 0.06)).collect();
        let offered = ids(&plan(&incident, &found(&causes)));
        assert!(TRAINING_ONLY.iter().all(|id| !offered.contains(id)), "{program}: {offered:?}");
    }
}

#[test]
fn a_killed_compiler_or_database_gets_no_advice_for_loaders() {
    for (victim, own) in [("cc1plus", "fewer-at-once"), ("mysqld", "smaller-buffers"), ("java", "smaller-buffers")] {
        let mut killed = incident(Program::LinuxKernel, Resource::Host, &[], Context::default());
        killed.event.facts.process_name = seen(victim.to_string());
        killed.event.sign(Sign::KilledWithProof);
        let plan = plan(&killed, &found(&[(CauseId::HostMemory, 0.7), (CauseId::HostWorkers, 0.1)]));
        let offered = ids(&plan);
        assert!(TRAINING_ONLY.iter().all(|id| !offered.contains(id)), "{victim}: {offered:?}");
        assert!(offered.contains(&own), "{victim}: {offered:?}");
        for ranked in &plan.offers {
            for knob in &ranked.offer.knobs {
                let python = ["DataLoader", "read_csv", "datasets.", "tracemalloc"];
                let found = python.iter().find(|word| knob.line.en.contains(*word));
                assert!(found.is_none(), "{victim}, {}: {}", ranked.fix.id, knob.line.en);
            }
        }
    }
}

#[test]
fn every_cause_has_something_that_may_cure_it_whatever_the_program() {
    let device: [Program; 6] = [
        Program::Pytorch,
        Program::named("my-solver").unwrap(),
        Program::Vllm,
        Program::LlamaCpp,
        Program::Jax,
        Program::Cuda,
    ];
    let host =
        [Program::Python, Program::LinuxKernel, Program::Java, Program::Slurm, Program::named("my-tool").unwrap()];
    let on_device = |cause| !matches!(cause, CauseId::HostMemory | CauseId::HostWorkers | CauseId::SharedMemory);
    let on_host = |cause| {
        matches!(
            cause,
            CauseId::HostMemory
                | CauseId::LeakGrowth
                | CauseId::OtherProcess
                | CauseId::FrameworkLimit
                | CauseId::HostWorkers
        )
    };
    let mut bare = Vec::new();
    let mut ask = |program: Program, resource, cause: CauseId| {
        let incident = incident(program, resource, &[], Context::default());
        if plan(&incident, &found(&[(cause, 0.8)])).offers.is_empty() {
            bare.push(format!("{program} on {resource}: {cause}"));
        }
    };
    for cause in CauseId::ALL {
        for program in device.iter().filter(|_| on_device(*cause)) {
            // A cache of keys and values is an engine's.
            let resource = if *cause == CauseId::KvCache { Resource::KvCache } else { Resource::Gpu };
            if *cause != CauseId::KvCache || program.is_engine() {
                ask(*program, resource, *cause);
            }
        }
        for program in host.iter().filter(|_| on_host(*cause)) {
            ask(*program, Resource::Host, *cause);
        }
        if *cause == CauseId::SharedMemory {
            ask(Program::Pytorch, Resource::Shm, *cause);
        }
    }
    assert!(bare.is_empty(), "{bare:#?}");
}

#[test]
fn every_target_is_written_for_and_every_circumstance_exists() {
    let used: std::collections::BTreeSet<Target> =
        FIXES.iter().flat_map(|fix| fix.knobs.iter().map(|line| line.target)).collect();
    let unused: Vec<&Target> = Target::ALL.iter().filter(|target| !used.contains(target)).collect();
    assert!(unused.is_empty(), "{unused:?}");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fix");
    for fix in FIXES {
        // The file has the id's name, and sets every circumstance that its lines and its row of probabilities name.
        let source = std::fs::read_to_string(folder.join(format!("{}.rs", fix.id.replace('-', "_")))).expect(fix.id);
        let body = source.split_once("\n    advise,\n").expect("a file of a fix").1;
        let lines = fix.knobs.iter().filter_map(knob::Line::circumstance);
        for circumstance in lines.chain(cures::of(fix.id).when.keys().map(String::as_str)) {
            let set = draft::UNIVERSAL.contains(&circumstance) || body.contains(&format!("\"{circumstance}\""));
            assert!(set, "{}: nothing sets {circumstance}", fix.id);
        }
        for line in fix.knobs {
            for name in knob::placeholders(&line.template().en) {
                let by_draft = ["module", "device", "tool", "processes"].contains(&name);
                assert!(by_draft || body.contains(&format!("\"{name}\"")), "{}: nothing fills {name}", fix.id);
            }
        }
        assert!(!fix.helps.is_empty() && !fix.fixtures.is_empty(), "{}", fix.id);
    }
}

#[test]
fn an_offered_line_has_every_figure_in_it() {
    let mut killed = incident(Program::LinuxKernel, Resource::Host, &[], Context::default());
    killed.event.facts.numbers.insert(Number::MemoryRequest, (0.0, Span::line(2)));
    for incident in [killed, incident(Program::Pytorch, Resource::Gpu, STEP, training())] {
        let causes: Vec<(CauseId, f64)> = CauseId::ALL.iter().map(|cause| (*cause, 0.06)).collect();
        for ranked in plan(&incident, &found(&causes)).offers {
            for knob in &ranked.offer.knobs {
                assert!(knob::placeholders(&knob.line.en).is_empty(), "{}: {}", ranked.fix.id, knob.line.en);
            }
        }
    }
}
