//! Every fix speaks up in its fixtures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::every_log::{Judged, every_log};
use oomdoc::cause::CauseId;
use oomdoc::cause::mechanism::readings;
use oomdoc::cause::nature::{JobKind, job_kind};
use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::dialect::{Fact, Resource, Sign};
use oomdoc::domain::program::{Kind, PytorchAllocator};
use oomdoc::domain::trainer::Purpose;
use oomdoc::domain::{Accelerator, Number, Program};
use oomdoc::fix::{Class, FIXES, Frees, Part, Plan, Ranked};
use oomdoc::incident::Incident;
use oomdoc::incident::context::{Clue, Frame, Given, Phase, Platform, Trainer};
use oomdoc::input::Source;
use oomdoc::report::Diagnosis;
use oomdoc::text::Text;
use oomdoc::units::Interval;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs")
}

pub(super) fn plan_of(path: &Path) -> Option<Plan> {
    let document = oomdoc::dialect::reader().read(&Source::File(path.to_path_buf())).ok()?;
    let given = Given::default();
    let explanation = diagnose(vec![FileEvents::of(&document, &given)], &given);
    explanation.diagnoses.into_iter().next().map(|diagnosis| diagnosis.plan)
}

/// Ids that a plan offers, and those that it refuses with a reason.
fn spoken(plan: &Plan) -> Vec<&'static str> {
    let refused = plan.wont_help.iter().chain(&plan.withheld).map(|(fix, _)| fix.id);
    plan.offers.iter().map(|ranked| ranked.fix.id).chain(refused).collect()
}

#[test]
fn every_fix_speaks_up_in_its_fixtures() {
    let mut read: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    let mut silent = Vec::new();
    for fix in FIXES {
        if fix.fixtures.is_empty() {
            silent.push(format!("{}: no fixture", fix.id));
        }
        for name in fix.fixtures {
            let spoken = read.entry((*name).to_string()).or_insert_with(|| {
                plan_of(&logs().join(format!("{name}.log"))).map(|plan| spoken(&plan)).unwrap_or_default()
            });
            if !spoken.contains(&fix.id) {
                silent.push(format!("{}: says nothing to {name}", fix.id));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

/// Fixes offered for a log of the project, by its path from the root.
fn offered(log: &str) -> Vec<&'static str> {
    let plan = plan_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(log)).unwrap();
    plan.offers.iter().map(|ranked| ranked.fix.id).collect()
}

/// `@torch.no_grad()` stands in a traceback as `decorate_context`; "without gradients" was advised all the same.
#[test]
fn gradients_that_a_decorator_switches_off_are_not_advised_to_be_switched_off() {
    for log in ["tests/planted/logs/0221.log", "tests/planted/logs/0134.log"] {
        assert!(!offered(log).contains(&"no-grad-in-eval"), "{log}");
    }
}

/// The account, or the kernel's table, shows one process that holds all of the group's limit.
#[test]
fn nobody_is_stopped_where_one_process_holds_all() {
    for log in ["host/group-of-page-tables", "kernel/memcg-3x-docker"] {
        assert!(!offered(&format!("fixtures/logs/{log}.log")).contains(&"fewer-at-once"), "{log}");
    }
    assert!(offered("fixtures/logs/host/bystander.log").contains(&"fewer-at-once"));
}

/// The line that stands first for a fix, in both languages.
fn first_line(ranked: &Ranked) -> String {
    ranked.offer.knobs.first().map(|knob| format!("{} {}", knob.line.en, knob.line.zh)).unwrap_or_default()
}

/// What contradicts an offer in its incident, by rules that know nothing of how fixes decide.
fn contradictions(incident: &Incident, ranked: &Ranked) -> Vec<String> {
    let (event, context) = (&incident.event, &incident.context);
    let (id, line) = (ranked.fix.id, first_line(ranked));
    let kind = job_kind(incident);
    let mut wrong = Vec::new();
    let mut rule = |broken: bool, what: &str| {
        if broken {
            wrong.push(format!("{id}: {what}: {line}"));
        }
    };
    let gradients = ["optimizer.step", "loss.backward", "loss.item", "checkpoint(block", "AdamW", "LoraConfig"];
    let trains = kind == Some(JobKind::Training) || kind == Some(JobKind::Compiled);
    rule(gradients.iter().any(|word| line.contains(word)) && !trains, "training advice where nothing is trained");
    let pytorch = event.program.pytorch_allocator() == PytorchAllocator::Yes;
    let loader = event.has(Sign::DataLoaderWorker)
        || context.workers.is_known() && (pytorch || trains)
        || incident.ledger.loader.is_some()
        || context.has(Clue::SampleCache)
        || context.frames.iter().any(|frame| format!("{frame:?}").to_ascii_lowercase().contains("loader"))
        || context.trainer.value().is_some_and(|trainer| trainer.purpose() == Purpose::Training)
        || context.has(Clue::DataParallel)
        || trains && event.facts.number(Number::TableLikeNamedCount).is_some_and(|tasks| tasks >= 2.0);
    rule(line.contains("DataLoader(") && !loader, "a data loader that nothing shows");
    let accelerator = event.accelerator();
    let nvidia = ["nvidia-smi", "CUDA_VISIBLE", "torch.cuda", "PYTORCH_CUDA", "/dev/nvidia"];
    let else_where = !matches!(accelerator, Accelerator::Cuda | Accelerator::Hip);
    rule(nvidia.iter().any(|word| line.contains(word)) && else_where, "words of NVIDIA for another device");
    let speaks_of =
        |program: Program| event.program == program || incident.followers.iter().any(|event| event.program == program);
    let slurm = speaks_of(Program::Slurm);
    let kubernetes = speaks_of(Program::Kubernetes);
    let docker = speaks_of(Program::Docker);
    rule(slurm && (line.contains("docker") || line.contains("resources: {")), "a container's limit under Slurm");
    rule((docker || kubernetes) && line.contains("#SBATCH"), "Slurm's limit of a container");
    let engine = event.program.is_engine();
    rule(engine && (line.contains("model.") || line.contains("loss")), "lines of code for an engine");
    if let Frees::Bytes { range, of, .. } = &ranked.offer.frees {
        let ledger = &incident.ledger;
        let bound = match of {
            Part::Held => ledger.allocated,
            Part::Request => ledger.requested,
            Part::Whole => ledger.capacity.filter(|_| event.resource.on_device()),
        };
        let above = bound.is_some_and(|bound| range.high > bound.high);
        rule(above, "saves more than there is");
    }
    rule(context.batch_size.value() == Some(1) && id == "smaller-batch", "a part of a batch of one");
    let others = incident.ledger.others.is_some_and(|others| others.high > 0);
    let idle = ledger_idle(incident);
    rule(["free-the-device", "kill-zombies"].contains(&id) && idle && !others, "others, of whom there are none");
    let planned = kind == Some(JobKind::Compiled);
    let running = ["free-the-device", "kill-zombies", "preallocation-fraction", "empty-cache", "record-a-snapshot"];
    rule(planned && running.contains(&id), "a change of the run, where a compiler refused");
    let blank = line.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(blank, _)| blank);
    let chinese = ranked.offer.knobs.first().map(|knob| knob.line.zh.as_str()).unwrap_or_default();
    let english = |blank: &str| {
        blank != "cell"
            && blank.starts_with(|c: char| c.is_ascii_lowercase())
            && blank.chars().all(|c| c.is_ascii_lowercase() || c == ' ')
    };
    let untranslated = blank.filter(|blank| english(blank)).any(|blank| chinese.contains(&format!("<{blank}>")));
    rule(untranslated, "a blank in English in a Chinese line");
    let all_lines = || ranked.offer.knobs.iter().map(|knob| knob.line.en.as_str());
    let says = |words: &[&str]| all_lines().any(|line| words.iter().any(|word| line.contains(word)));
    let session = context.has(Clue::TensorFlow1);
    rule(session && says(&["tf.config.", "TF_FORCE_GPU", "tf.keras.mixed_precision"]), "TensorFlow 2 for TensorFlow 1");
    let old = event.versions.and_then(|versions| versions.to).is_some_and(|newest| newest < (1, 4));
    let later = ["use_reentrant", "memory_reserved", "save_on_cpu", "torch.autocast(", "inference_mode(", "peft"];
    rule(old && pytorch && says(&later), "a later PyTorch than the log allows");
    rule(context.has(Clue::EarlyVllm) && says(&["--quantization fp8"]), "a later vLLM than the log allows");
    let wrapped = context.has(Clue::Wrapped) && engine;
    rule(wrapped && says(&["--session-len", "--max-model-len", "--gpu-memory"]), "an engine's own flag for a wrapper");
    let tensors = ["chunk-the-operation", "fix-the-shape", "smaller-batch"];
    let of_pool = |level: &str| matches!(level, "taken-at-start" | "being-made" | "committed-heap" | "share-of-free");
    let pool = readings(incident).iter().any(|(mechanism, read)| mechanism.id == "pool" && of_pool(read.level));
    rule(tensors.contains(&id) && pool, "a part of a pool");
    rule(id == "gc-collect" && says(&["del model"]) && trains, "the model deleted in the midst of its training");
    rule(
        !trains && says(&["optax.", "donate_argnums"]) && kind == Some(JobKind::Inference),
        "an optimizer in inference",
    );
    let warm_up = event.has(Sign::EngineWarmup) && event.program == Program::Tgi;
    rule(warm_up && id == "lower-engine-memory", "a smaller share where the share is the whole process's");
    rule(event.has(Sign::RefusedByLimit) && id == "smaller-buffers", "a lower limit where the limit refused");
    let longer = event.has(Sign::BeyondContext);
    rule(longer && ["max-model-len", "weight-quantisation", "more-devices"].contains(&id), "a shorter context");
    wrong
}

/// Changes of what a pass over data keeps.
const OF_A_PASS: [&str; 11] = [
    "smaller-batch",
    "smaller-images",
    "shorter-sequences",
    "mixed-precision",
    "gradient-checkpointing",
    "activation-offload",
    "fused-attention",
    "chunked-loss",
    "group-by-length",
    "chunk-the-operation",
    "no-grad-in-eval",
];

/// The same by what is alive at the failing point, what its code works with, and what the causes found exclude.
fn out_of_place(diagnosis: &Diagnosis, ranked: &Ranked, text: &str) -> Vec<String> {
    let incident = &diagnosis.incident;
    let (event, context) = (&incident.event, &incident.context);
    let (id, line) = (ranked.fix.id, first_line(ranked));
    let confidence = |cause: CauseId| {
        let found = diagnosis.findings.iter().filter(|finding| finding.cause.id == cause);
        found.map(|finding| finding.confidence).sum::<f64>()
    };
    let codes = || context.frames.iter().filter_map(|frame| frame.code.as_deref());
    let shown = |words: &[&str]| {
        let file = |frame: &Frame| words.iter().any(|word| frame.file.replace('\\', "/").contains(word));
        codes().any(|code| words.iter().any(|word| code.contains(word))) || context.frames.iter().any(file)
    };
    let phase = context.phase.value();
    let mut wrong = Vec::new();
    let mut rule = |broken: bool, what: &str| {
        if broken {
            wrong.push(format!("{id}: {what}: {line}"));
        }
    };
    let gpu = event.resource == Resource::Gpu;
    let pass = OF_A_PASS.contains(&id) && gpu;
    rule(pass && matches!(phase, Some(Phase::Checkpoint | Phase::OptimizerStep)), "activations that are gone");
    rule(pass && matches!(phase, Some(Phase::Load | Phase::Resume)), "data where weights are loaded");
    rule(pass && event.has(Sign::Initializer), "data where a variable is made");
    rule(id == "read-less-at-once" && phase == Some(Phase::Load), "data where weights are loaded");
    rule(line.contains("read_csv") && !shown(&["read_csv", "read_table"]), "a table that nothing reads");
    let array = ["np.load(", "numpy.load(", "fromfile", "loadtxt", "genfromtxt"];
    rule(line.starts_with("np.load(") && !shown(&array), "an array that nothing reads");
    let library = ["/transformers/", "/diffusers/", "from_pretrained"];
    let purpose = context.trainer.value().map(Trainer::purpose);
    let around = matches!(purpose, Some(Purpose::Training | Purpose::Diffusion));
    let of_the_hub = context.model.get().is_some_and(|model| model.contains('/'));
    // The bar of transformers' loader is the library's own line.
    let shows = shown(&library) || around || of_the_hub || context.has(Clue::CheckpointShards);
    rule(line.contains("from_pretrained") && !shows, "a library that nothing shows");
    let arguments = ["per_device_train", "gradient_checkpointing=True", "use_liger_kernel=True", "dataloader_num"];
    let own = context.frames.first().is_some_and(|first| first.function == "<module>")
        && context.frames.len() > 1
        && !shown(&["transformers/trainer", "rainer"]);
    // A name that the log's own settings print is the program's.
    let of_the_log = line.split([':', '=']).next().is_some_and(|name| text.contains(&format!("{name}:")));
    let argument = arguments.iter().any(|word| line.starts_with(word)) && !of_the_log;
    rule(argument && own, "arguments of a trainer that does not run");
    let unpatched = ["modeling_gpt2.", "modeling_bert.", "modeling_t5.", "modeling_opt.", "modeling_bloom."];
    rule(line.contains("liger") && shown(&unpatched), "a model that Liger does not patch");
    rule(event.accelerator() == Accelerator::Tpu && line.contains("XLA_PYTHON"), "a variable that a TPU ignores");
    let unix = ["export ", "free ", "ps ", "sudo ", "watch ", "ulimit "];
    let windows = context.platform.value() == Some(Platform::Windows);
    rule(windows && unix.iter().any(|tool| line.starts_with(tool)), "a tool that Windows lacks");
    let of_any_size = ["fix-the-shape", "same-collectives", "check-ids", "launch-blocking", "expandable-segments-off"];
    rule(event.has(Sign::AbsurdRequest) && !of_any_size.contains(&id), "a change of a size that nobody meant");
    let limited = incident.ledger.cap.is_some()
        || event.has(Sign::RefusedByLimit)
        || event.facts.get(Fact::Limit).is_some()
        || confidence(CauseId::FrameworkLimit) >= 0.5;
    let figure = |fact: Fact| event.facts.get(fact).map(|figure| figure.interval());
    let room = figure(Fact::Requested).zip(figure(Fact::Free)).zip(figure(Fact::Capacity));
    // What is free of a device and more than it has is of something else.
    let is_part = |free: Interval, all: Interval| free.low <= all.high;
    let room = room.filter(|((_, free), all)| is_part(*free, *all));
    let room = room.is_some_and(|((asked, free), all)| free.low > asked.high * 4 && free.low * 5 > all.high);
    rule(gpu && room && !limited && OF_A_PASS.contains(&id), "less memory where more was free");
    // A scheduler's limit is what was asked of it.
    let scheduled = event.program.kind() == Kind::Scheduler;
    let own_limit = event.has(Sign::RefusedByLimit) && event.resource.on_host() && !scheduled;
    let never = diagnosis.plan.withheld.iter().any(|(_, why)| why.en.contains("never fit"));
    let begun = !matches!(phase, Some(Phase::Forward | Phase::Loss | Phase::Backward))
        || context.step.value() != Some(0)
        || context.epoch.value().is_some_and(|epoch| epoch > 1)
        || context.has(Clue::Resumed)
        || matches!(context.trainer.value(), Some(Trainer::DeepSpeed | Trainer::Megatron))
        || context.zero_stage.is_known()
        || shown(&["/deepspeed/"]);
    let of_states = ["eight-bit-optimizer", "lighter-optimizer", "cpu-offload"].contains(&id);
    rule(gpu && of_states && !begun && !never, "states that no step has made yet");
    let more = ["raise-host-limit", "swap", "fewer-at-once"].contains(&id);
    // The tasks of one executor share its limit.
    let tasks = id == "fewer-at-once" && event.program.id() == "spark";
    rule(
        own_limit && more && !tasks && confidence(CauseId::FrameworkLimit) >= 0.5,
        "more RAM for a limit of the program's own",
    );
    rule(id == "smaller-batch" && confidence(CauseId::LeakGrowth) >= 0.6, "a smaller batch for what grows");
    let grows = confidence(CauseId::LeakGrowth) >= 0.6 && confidence(CauseId::Fragmentation) < 0.15;
    rule(gpu && grows && ["expandable-segments", "max-split-size"].contains(&id), "an arrangement of what grows");
    rule(id == "gc-collect" && context.has(Clue::Accumulates), "a collection of what is referenced");
    let read = shown(&["torch.load(", "load_state_dict", "torch/serialization.py"])
        || context.frames.iter().any(|frame| frame.function.contains("load_"));
    let told = context.has(Clue::Resumed) || context.frames.is_empty();
    rule(id == "load-to-cpu" && !read && !told, "a checkpoint that nothing reads");
    rule(id == "device-per-rank" && shown(&["torch.load("]), "a device that torch.load does not ask");
    let large = figure(Fact::Requested).zip(figure(Fact::Capacity));
    let small = large.is_some_and(|(asked, all)| asked.high * 9 < all.low);
    rule(gpu && small && ["chunk-the-operation", "fix-the-shape"].contains(&id), "a part of a small request");
    let evaluates = matches!(phase, Some(Phase::Validation | Phase::Inference | Phase::Decode | Phase::Warmup))
        || context.has(Clue::Predicts)
        || context.has(Clue::Serves)
        || purpose == Some(Purpose::Diffusion);
    rule(id == "no-grad-in-eval" && !evaluates, "a graph that nothing shows");
    let of_a_cache = ["max-model-len", "fewer-sequences", "kv-cache-dtype"].contains(&id);
    rule(event.has(Sign::WeightsBuffer) && of_a_cache, "a cache where weights were refused");
    rule(line.contains("fused=True") && !line.contains("CPUOffload") && !shown(&["_foreach_"]), "no temporaries");
    // What the log sets already.
    let command = context.command.get().map(String::as_str).unwrap_or_default();
    let set = line.split("   #").next().unwrap_or_default();
    let in_force = set.split(" --").filter(|option| option.contains(' ') && !option.contains('<'));
    let mut in_force = in_force.map(|option| option.trim().trim_start_matches('-'));
    rule(in_force.any(|option| command.contains(&format!("--{option} "))), "a value that is set already");
    wrong
}

/// What a whole screen says that belongs to another vendor's device: every line and reason, also of what does not help
/// and of what would tell.
fn foreign_words(diagnosis: &Diagnosis) -> Vec<String> {
    let incident = &diagnosis.incident;
    let accelerator = incident.event.accelerator();
    if matches!(accelerator, Accelerator::Cuda | Accelerator::Hip) || incident.event.resource.on_host() {
        return Vec::new();
    }
    let mut said: Vec<Text> = diagnosis.plan.wont_help.iter().map(|(_, why)| why.clone()).collect();
    said.extend(diagnosis.findings.iter().map(|finding| finding.refute.clone()));
    said.extend(diagnosis.decide.iter().map(|observation| observation.act.clone()));
    for ranked in &diagnosis.plan.offers {
        said.extend(ranked.offer.knobs.iter().map(|knob| knob.line.clone()));
        said.push(ranked.offer.why.clone());
    }
    let nvidia = ["nvidia-smi", "CUDA_VISIBLE", "CUDA_LAUNCH", "torch.cuda.", "PYTORCH_CUDA", "/dev/nvidia"];
    let of_others = |text: &Text| nvidia.iter().any(|word| text.en.contains(word) || text.zh.contains(word));
    said.iter().filter(|text| of_others(text)).map(|text| format!("{}: {}", accelerator.id(), text.en)).collect()
}

/// What is to be found out and cannot be: outcomes that do not exclude each other, causes that are not open, what the log
/// answers, what another part of the screen excludes, and what the system or the release does not have.
fn idle_checks(diagnosis: &Diagnosis) -> Vec<String> {
    let incident = &diagnosis.incident;
    let (event, context) = (&incident.event, &incident.context);
    let mut wrong = Vec::new();
    let named: Vec<CauseId> = diagnosis.findings.iter().map(|finding| finding.cause.id).collect();
    let refused = |id: &str| diagnosis.plan.wont_help.iter().any(|(fix, _)| fix.id == id);
    let windows = incident.on_windows();
    let old = event.program.pytorch_allocator() == PytorchAllocator::Yes
        && event.versions.and_then(|versions| versions.to).is_some_and(|newest| newest < (2, 1));
    let later = |text: &str| {
        context.has(Clue::TensorFlow1) && text.contains("tf.config.") || old && text.contains("expandable_segments")
    };
    for (at, check) in diagnosis.decide.iter().enumerate() {
        let act = check.act.en.as_str();
        let mut rule = |broken: bool, what: &str| {
            if broken {
                wrong.push(format!("{}: {what}: {act}", check.id));
            }
        };
        let mut seen: Vec<&str> = check.outcomes.iter().map(|outcome| outcome.see.en.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        rule(seen.len() < 2, "one outcome, whatever it is");
        let strange = |cause: &CauseId| !named.contains(cause);
        let asked = check.outcomes.iter().map(|outcome| outcome.then);
        let whether = at == 0 && event.has(Sign::KilledWithoutProof);
        rule(!whether && asked.clone().any(|cause| strange(&cause)), "a cause that is not open");
        let shared = act.contains("/dev/shm");
        rule(shared && event.facts.get(Fact::ShmemRss).is_some(), "what the log tells");
        let killed = event.has(Sign::KilledWithProof) || event.has(Sign::KilledWithoutProof);
        rule(killed && act.contains("shapes"), "the shapes of a kill");
        let saves = matches!(context.phase.value(), Some(Phase::Checkpoint | Phase::Load | Phase::Resume));
        rule(saves && act.contains("shapes"), "the shapes of a checkpoint");
        rule(act.contains("half the context") && refused("max-model-len"), "a context that has no part in it");
        let builds = context.has(Clue::BuildsEngine);
        rule(builds && (act.contains("each step") || act.contains("request")), "steps of a compiler");
        let unix = ["ps -eo", "dmesg", "ulimit", "df -h", "free -h"];
        rule(windows && unix.iter().any(|tool| act.contains(tool)), "a tool that Windows lacks");
        rule(context.imports() && act.contains("once a minute"), "a watch over what is over at once");
        rule(later(act), "a later release than the log allows");
    }
    let refutes = diagnosis.findings.iter().map(|finding| finding.refute.en.as_str());
    wrong.extend(refutes.filter(|text| later(text)).map(|text| format!("a later release than the log allows: {text}")));
    wrong
}

/// What is advised to another kind of program than the one that failed, by what it does.
fn of_another_kind(incident: &Incident, ranked: &Ranked) -> Vec<String> {
    let context = &incident.context;
    let (id, line) = (ranked.fix.id, first_line(ranked));
    let mut wrong = Vec::new();
    let mut rule = |broken: bool, what: &str| {
        if broken {
            wrong.push(format!("{id}: {what}: {line}"));
        }
    };
    let text = |frame: &Frame| {
        let file = frame.file.replace('\\', "/");
        format!(
            "{} {} {}",
            file.rsplit('/').next().unwrap_or_default(),
            frame.function,
            frame.code.as_deref().unwrap_or_default()
        )
        .to_ascii_lowercase()
    };
    let says = |words: &[&str]| context.frames.iter().any(|frame| words.iter().any(|word| text(frame).contains(word)));
    let sound = says(&["audio", "waveform", "waves", "spectrogram", "vocoder", "torchaudio"]);
    rule(
        sound && ["height", "width", "imgsz", "pixels", "(Tiled)"].iter().any(|word| line.contains(word)),
        "pixels of sound",
    );
    let builds = context.has(Clue::BuildsEngine);
    let serving = ["kv_cache", "free_gpu_memory_fraction", "gpu-memory-utilization", "mem-fraction"];
    rule(builds && serving.iter().any(|word| line.contains(word)), "a pool of an engine that is only built");
    let object = context.has(Clue::EngineObject);
    rule(object && line.trim_start().starts_with("--"), "options of a command line that nobody typed");
    let draws = context.trainer.value().is_some_and(Trainer::only_draws);
    let trains = ["gradient", "optimizer", "backward", "checkpoint(", "torch.autocast"];
    rule(draws && trains.iter().any(|word| line.contains(word)), "training advice to a program that draws");
    // A whole traceback in which nothing is called a model, a loss or a layer.
    let whole = context.frames.first().is_some_and(|first| first.function == "<module>");
    let own = context.frames.iter().all(|frame| frame.is_user_code() && frame.code.is_some());
    let model =
        ["model", "net", "train", "loss", "layer", "forward", "batch", "encod", "decod", "embed", "optim", "head"];
    let alone = whole && own && !says(&model) && !context.phase.is_known() && !context.batch_size.is_known();
    rule(alone && context.trainer.value().is_none() && line.contains("samples"), "samples where no model runs");
    if let Frees::Bytes { range, of: Part::Held, .. } = &ranked.offer.frees
        && let Some(pool) =
            context.pools.iter().filter(|pool| !pool.of_keys_and_values).map(|pool| pool.bytes).reduce(f64::max)
        && let Some((allocated, capacity)) = incident.ledger.allocated.zip(incident.ledger.capacity)
        && pool * 2.0 > capacity.middle() as f64
        && (pool as i128) < allocated.high
    {
        rule(range.high > allocated.high - pool as i128 && id != "smaller-pool", "saves what a pool holds");
    }
    if ranked.fix.class == Class::Limits
        && incident.event.resource == Resource::Gpu
        && let Some(all) = incident.ledger.capacity
        && let Some((allocated, asked)) = incident.ledger.allocated.zip(incident.ledger.requested)
    {
        let fraction = id == "raise-memory-fraction";
        rule(fraction && (allocated + asked).low > all.high, "a limit that is above the device");
    }
    wrong
}

/// What is in force already, what an engine sizes by itself, and what a failing call has no part in.
fn against_what_runs(incident: &Incident, ranked: &Ranked) -> Vec<String> {
    let (event, context) = (&incident.event, &incident.context);
    let (id, line) = (ranked.fix.id, first_line(ranked));
    let mut wrong = Vec::new();
    let mut rule = |broken: bool, what: &str| {
        if broken {
            wrong.push(format!("{id}: {what}: {line}"));
        }
    };
    let lines = || ranked.offer.knobs.iter().map(|knob| knob.line.en.as_str());
    let says = |word: &str| lines().any(|line| line.contains(word));
    let calls = |words: &[&str]| {
        let codes = context.frames.iter().filter_map(|frame| frame.code.as_deref());
        codes.into_iter().any(|code| words.iter().any(|word| code.contains(word)))
    };
    let alone = context.other_batch.get().is_some_and(|(_, count)| *count <= 1) && !context.batch_size.is_known();
    rule(alone && id == "smaller-batch", "a part of one sample");
    rule(calls(&["deepcopy("]) && says("del model"), "a model deleted before it is copied");
    let named = [context.model.get(), context.command.get()].into_iter().flatten();
    let widths = || line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("Q"));
    let in_use = named.flat_map(|name| widths().filter(move |width| name.contains(*width))).count() > 0;
    rule(id == "weight-quantisation" && in_use, "the quantisation that runs");
    let waits = calls(&["distributed.barrier(", "dist.barrier(", "init_process_group"]);
    rule(waits && line.contains("=<index> "), "one device for several ranks");
    let sizes = ["lower-engine-memory", "more-devices", "weight-quantisation", "max-model-len"];
    rule(event.has(Sign::UnevenDevices) && sizes.contains(&id), "a size, where only what is free was compared");
    let evicted = event.resource == Resource::Host && event.facts.number(Number::MemoryRequest).is_some();
    rule(evicted && says("limits: {memory"), "a limit for what a node evicted");
    let apart = [Trainer::HfTrainer, Trainer::Lightning];
    let validates = context.phase.value() == Some(Phase::Validation);
    let own_batch = validates && context.trainer.value().is_some_and(|trainer| apart.contains(&trainer));
    let loop_of_its_own = context.frames.first().is_some_and(|first| first.function == "<module>")
        && !context.frames.iter().any(|frame| frame.file.contains("rainer"));
    rule(own_batch && !loop_of_its_own && id == "smaller-batch", "the batch of training, in validation");
    let exllama = context.frames.last().is_some_and(|frame| frame.file.contains("exllamav2/"));
    rule(exllama && id == "weight-offload", "layers on the CPU, which ExLlama does not have");
    let starts = event.message.contains("Exception during initialization");
    rule(starts && (OF_A_PASS.contains(&id) || id == "less-at-once"), "data where a session is made");
    rule(event.has(Sign::AddressSpaceLimit) && says("memoryOverhead"), "memory where addresses were counted");
    rule(calls(&["model.state_dict("]) && says("save_only_model"), "what comes after the model");
    let autocast = context.frames.iter().any(|frame| frame.file.replace('\\', "/").ends_with("amp/autocast_mode.py"));
    rule(autocast && id == "mixed-precision", "autocast, which runs already");
    let turing = context.has(Clue::BeforeAmpere);
    let later = ["dtype=torch.bfloat16", "bf16=True", "fp8", "flash_attention_2", "--quantization awq"];
    rule(turing && later.iter().any(|word| says(word)), "what a GPU before Ampere does not have");
    let full = context.side.iter().filter(|told| told.subject.as_deref() == Some("/dev/shm"));
    let full = full.filter_map(|told| told.total).map(|total| total.bytes).max();
    let tried = line.split_once("--shm-size=").and_then(|(_, size)| size.split_once('g')?.0.parse::<u64>().ok());
    let no_more = full.zip(tried).is_some_and(|(full, tried)| tried << 30 <= full);
    rule(id == "shm-size" && no_more, "a size that was full");
    let ranks = context.has(Clue::RanksOnOneDevice);
    rule(ranks && id == "kill-zombies", "ranks of the job as leftovers");
    let victim = event.facts.process_name.get().filter(|_| event.resource.on_host() && context.frames.is_empty());
    let own_name = victim.is_some_and(|name| {
        !["py", "pt_", "jupyter", "ipy", "conda", "torchrun", "sh"].iter().any(|start| name.starts_with(start))
            && !name.contains([':', '.', '('])
            && !matches!(event.program, Program::Ray | Program::Dask)
    });
    rule(own_name && ["DataLoader(", "np.", "self."].iter().any(|word| says(word)), "code for an installed command");
    let container = matches!(event.program, Program::Kubernetes | Program::Docker);
    let one = event.resource == Resource::Cgroup && !event.has(Sign::DataLoaderWorker) && !context.workers.is_known();
    rule(container && one && id == "fewer-at-once", "other jobs, in a container of its own");
    let of_a_kind = what_its_kind_lacks(incident, id, &lines().collect::<Vec<_>>());
    rule(of_a_kind.is_some(), of_a_kind.unwrap_or_default());
    let early = context.dated.value().is_some_and(|dated| dated < (2021, 6));
    rule(early && (says("inference_mode(") || says("torch.autocast(")), "what came after the day of the log");
    wrong
}

/// What the device, the program or its files do not have of what an offer asks for.
fn what_its_kind_lacks(incident: &Incident, id: &str, lines: &[&str]) -> Option<&'static str> {
    let (event, context) = (&incident.event, &incident.context);
    let says = |word: &str| lines.iter().any(|line| line.contains(word));
    let file = |frame: &Frame| frame.file.replace('\\', "/");
    let shows = |word: &str| context.frames.iter().any(|frame| file(frame).contains(word));
    let called = |name: &str| context.frames.iter().any(|frame| frame.function == name);
    let apple = event.resource.on_device() && event.accelerator() == Accelerator::Mps;
    let elsewhere = ["more-devices", "activation-offload", "cpu-offload", "shard-states", "data-parallel"];
    let stub = context.frames.first().is_some_and(|first| {
        file(first).contains("/bin/") && first.code.as_deref().is_some_and(|code| code.starts_with("sys.exit("))
    });
    let own = context.frames.iter().skip(1).any(Frame::is_user_code);
    let validates = context.phase.value() == Some(Phase::Validation) && event.resource == Resource::Gpu;
    let pytorch = event.program.pytorch_allocator() == PytorchAllocator::Yes;
    let of_a_pool = ["lower-engine-memory", "fewer-sequences", "max-model-len", "kv-cache-dtype", "fewer-cuda-graphs"];
    let named = |text: &str| text.to_ascii_lowercase().contains("ema") || text.contains("average");
    let told = context.command.get().is_some_and(|command| named(command))
        || context.frames.iter().any(|frame| named(&frame.function) || frame.code.as_deref().is_some_and(named));
    let rules = [
        (apple && elsewhere.contains(&id), "another device or a host apart, which Apple's do not have"),
        (shows("/diffusers/") && says("device_map=\"auto\""), "a map that pipelines refuse"),
        (
            shows("/diffusers/") && says("from_pretrained(..., quantization_config=Bits"),
            "one model's option for several",
        ),
        (stub && !own && (says("DataLoader(") || says("checkpoint(block")), "code for an installed command"),
        (validates && pytorch && id == "smaller-batch", "the batch of training in validation"),
        (called("create_weights") && of_a_pool.contains(&id), "a pool where weights are made"),
        (incident.on_windows() && says("--query-compute-apps"), "figures that Windows' driver does not tell"),
        (shows("fastai/basic_train.py") && says("learn.dls"), "the second fastai"),
        (id == "ema-on-cpu" && !told, "an average that nothing names"),
        (context.fsdp.value() == Some(true) && id == "shard-states", "shards, which are in force"),
        (called("tiled_decode") && id == "vae-tiling", "tiles, which are in force"),
    ];
    rules.into_iter().find(|(broken, _)| *broken).map(|(_, what)| what)
}

/// True where nearly all of the device was free.
fn ledger_idle(incident: &Incident) -> bool {
    let ledger = &incident.ledger;
    ledger.free.zip(ledger.capacity).is_some_and(|(free, capacity)| free.low * 20 > capacity.high * 19)
}

#[test]
fn no_fix_is_advised_where_it_cannot_work() {
    let of = |log: &Judged| {
        let text = log.text().to_ascii_lowercase();
        let mut wrong = Vec::new();
        for diagnosis in &log.explanation.diagnoses {
            wrong.extend(foreign_words(diagnosis));
            wrong.extend(idle_checks(diagnosis));
            wrong.extend(crate::subjects::words_of_another(diagnosis));
            for ranked in &diagnosis.plan.offers {
                wrong.extend(contradictions(&diagnosis.incident, ranked));
                wrong.extend(out_of_place(diagnosis, ranked, &text));
                wrong.extend(of_another_kind(&diagnosis.incident, ranked));
                wrong.extend(against_what_runs(&diagnosis.incident, ranked));
                wrong.extend(crate::places::out_of_words(&diagnosis.incident, ranked, &text));
            }
        }
        wrong.into_iter().map(|what| format!("{}: {what}", log.name())).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = every_log().into_par_iter().flat_map_iter(of).collect();
    assert!(wrong.is_empty(), "{} offers: {:#?}", wrong.len(), wrong.iter().take(60).collect::<Vec<_>>());
}

/// The lines of a fix that is offered for a text; none where it is not.
pub fn lines_of(text: &str, id: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, text).unwrap();
    let plan = plan_of(&path).unwrap();
    let ranked = plan.offers.into_iter().find(|ranked| ranked.fix.id == id);
    ranked.into_iter().flat_map(|ranked| ranked.offer.knobs).map(|knob| knob.line.en).collect()
}

#[test]
fn spilling_that_is_in_force_is_not_switched_on_in_another_way() {
    let failed = "distributed.worker - WARNING - Compute Failed\n\
        Exception: \"MemoryError('std::bad_alloc: out_of_memory: CUDA error at: /opt/conda/include/rmm/mr/device/\
        cuda_memory_resource.hpp:60: cudaErrorMemoryAllocation out of memory')\"\n";
    let plain = lines_of(&format!("cluster = LocalCUDACluster()\n{failed}"), "spill-to-host").join("\n");
    assert!(plain.contains("enable_cudf_spill=True"), "{plain}");
    for shown in [
        "$ dask cuda worker tcp://10.0.0.4:8786 --enable-jit-unspill --device-memory-limit 0.8\n",
        "cluster = LocalCUDACluster(jit_unspill=True)\n",
    ] {
        let lines = lines_of(&format!("{shown}{failed}"), "spill-to-host").join("\n");
        assert!(lines.contains("device_memory_limit"), "{lines}");
        assert!(!lines.contains("enable_cudf_spill"), "{lines}");
    }
    let frame =
        "  File \"/opt/conda/lib/python3.10/site-packages/dask_cuda/proxify_host_file.py\", line 640, in __getitem__\n";
    let lines = lines_of(&format!("{failed}{frame}"), "spill-to-host").join("\n");
    assert!(!lines.contains("enable_cudf_spill"), "{lines}");
}

/// The ids that are offered for a text, best first.
pub fn offers_for(text: &str) -> Vec<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, text).unwrap();
    plan_of(&path).unwrap().offers.iter().map(|ranked| ranked.fix.id).collect()
}

/// A card of 8 GiB on which next to nothing is free.
pub const FULL_CARD: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 128.00 MiB. GPU 0 has a total \
    capacity of 7.73 GiB of which 39.00 MiB is free. Including non-PyTorch memory, this process has 7.70 GiB memory in \
    use. Of the allocated memory 7.57 GiB is allocated by PyTorch, and 20.31 MiB is reserved by PyTorch but \
    unallocated.\n";

/// A traceback of a training step of a language model, with what stands between its ends.
pub fn training_step(between: &str) -> String {
    format!(
        "LlamaForCausalLM: 166,212,608 parameters\n  0%|          | 0/40 [00:00<?, ?it/s]\n\
        Traceback (most recent call last):\n  File \"/w/finetune.py\", line 59, in <module>\n    main()\n  \
        File \"/w/finetune.py\", line 40, in compute_loss\n    loss = model(input_ids=x, labels=x).loss\n{between}  \
        File \"/v/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py\", line 459, in forward\n    \
        logits = self.lm_head(hidden_states)\n{FULL_CARD}"
    )
}

#[test]
fn a_pass_under_autocast_is_not_told_to_compute_in_16_bit() {
    let autocast = "  File \"/v/lib/python3.11/site-packages/torch/amp/autocast_mode.py\", line 44, in decorate_autocast\n    \
        return func(*args, **kwargs)\n";
    assert!(offers_for(&training_step("")).contains(&"mixed-precision"));
    assert!(!offers_for(&training_step(autocast)).contains(&"mixed-precision"));
}

#[test]
fn no_state_is_made_smaller_before_an_optimizer_has_one() {
    let of_states = ["eight-bit-optimizer", "lighter-optimizer", "cpu-offload", "lora"];
    let first = offers_for(&training_step(""));
    assert!(!first.iter().any(|id| of_states.contains(id)), "{first:?}");
    let later = offers_for(&training_step("").replace("0/40", "7/40"));
    assert!(of_states.iter().all(|id| later.contains(id)), "{later:?}");
}

#[test]
fn a_loader_that_could_not_be_forked_starts_fewer_workers() {
    let text = "  File \"/e/lib/python3.5/site-packages/torch/utils/data/dataloader.py\", line 289, in __init__\n    \
        w.start()\n  File \"/e/lib/python3.5/multiprocessing/popen_fork.py\", line 67, in _launch\n    \
        self.pid = os.fork()\nOSError: [Errno 12] Cannot allocate memory\n";
    assert_eq!(offers_for(text).first(), Some(&"fewer-workers"));
    // Its Python has no PyTorch that knows how many batches are prefetched.
    assert_eq!(lines_of(text, "fewer-workers"), ["DataLoader(..., num_workers=2)"]);
}

#[test]
fn what_rises_with_every_step_is_looked_for_before_there_is_more_memory() {
    let refused = "Traceback (most recent call last):\n  File \"/w/cpu_train.py\", line 13, in <module>\n    \
        out = model(x)\n  File \"/v/lib/python3.11/site-packages/torch/nn/modules/linear.py\", line 125, in forward\n    \
        return F.linear(input, self.weight, self.bias)\nRuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. \
        DefaultCPUAllocator: can't allocate memory: you tried to allocate 143360000 bytes. Error code 12 (Cannot \
        allocate memory)\n";
    let steps = |readings: [u32; 4]| {
        let told = readings.iter().enumerate().map(|(step, mib)| format!("step {step} resident {mib} MiB\n"));
        offers_for(&format!("{}{refused}", told.collect::<String>()))
    };
    let rising = steps([1034, 1717, 2401, 3085]);
    assert_eq!(rising.first(), Some(&"find-the-leak"), "{rising:?}");
    assert!(!rising.contains(&"read-less-at-once"), "{rising:?}");
    let level = steps([3034, 3037, 3035, 3085]);
    assert!(level.first() != Some(&"find-the-leak") && level.contains(&"read-less-at-once"), "{level:?}");
}

#[test]
fn an_installed_command_gets_no_lines_of_code() {
    let killed = |name: &str| {
        format!(
            "RuntimeError: DataLoader worker (pid 629) is killed by signal: Killed.\nMemory cgroup out of memory: \
            Killed process 629 ({name}) total-vm:13595580kB, anon-rss:6295572kB, file-rss:77660kB, shmem-rss:16kB\n"
        )
    };
    let python = lines_of(&killed("python3"), "fewer-workers");
    assert!(python.iter().any(|line| line.starts_with("DataLoader(")), "{python:?}");
    assert_eq!(lines_of(&killed("grid_train"), "fewer-workers"), ["2 worker processes"]);
    assert!(!offers_for(&killed("grid_train")).contains(&"no-python-lists-in-dataset"));
}

#[test]
fn a_container_of_one_program_has_no_other_jobs_to_stop() {
    let pod = "  kube-state-metric:\n    Image:          registry.example.org/kube-state-metrics:v2.12.0\n    Limits:\n      \
        memory:  244Mi\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n    Last State:     \
        Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n";
    let offers = offers_for(pod);
    assert_eq!(offers.first(), Some(&"raise-host-limit"));
    assert!(offers.contains(&"smaller-buffers") && !offers.contains(&"fewer-at-once"), "{offers:?}");
    assert!(!offers.contains(&"read-less-at-once"), "{offers:?}");
    let workers = format!("DataLoader: num_workers=8\n{pod}");
    assert!(offers_for(&workers).contains(&"fewer-at-once"));
}

#[test]
fn ranks_that_crowd_one_device_are_moved_and_nothing_of_them_is_saved() {
    let offers = offered("fixtures/logs/fix/ranks-on-one-card.log");
    assert_eq!(offers.first(), Some(&"device-per-rank"));
    let saved = ["kill-zombies", "smaller-batch", "smaller-images", "mixed-precision"];
    assert!(!offers.iter().any(|id| saved.contains(id)), "{offers:?}");
}

#[test]
fn weights_that_fill_a_device_come_before_the_batch() {
    let loaded = |parameters: &str| {
        offers_for(&format!("INFO finetune: loaded base model in bfloat16, {parameters} B parameters\n{FULL_CARD}"))
    };
    let large = loaded("3.31");
    assert_eq!(large.first(), Some(&"weight-quantisation"), "{large:?}");
    let small = loaded("0.31");
    assert_eq!(small.first(), Some(&"smaller-batch"), "{small:?}");
}

/// Readers of 2018 had no `inference_mode`; `no_grad` is in every release.
#[test]
fn gradients_are_switched_off_by_what_the_release_of_the_wording_has() {
    let validation = |frames: &str, message: &str| {
        let text = format!(
            "Epoch: [0][1100/1182]\nTraceback (most recent call last):\n  File \"train.py\", line 349, in <module>\n    \
            main()\n  File \"train.py\", line 282, in validate\n    scores = model(x)\n{frames}{message}"
        );
        lines_of(&text, "no-grad-in-eval").concat()
    };
    assert!(validation("", "RuntimeError: CUDA error: out of memory\n").starts_with("with torch.no_grad()"));
    assert!(validation("", FULL_CARD).starts_with("with torch.inference_mode()"));
}

#[test]
fn one_tensor_of_which_nothing_is_told_may_be_scores() {
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 72.00 GiB. GPU 0 has a total capacity of \
        23.65 GiB of which 18.80 GiB is free. Of the allocated memory 3.15 GiB is allocated by PyTorch, and 50.00 MiB is \
        reserved by PyTorch but unallocated.\n";
    assert_eq!(offers_for(text).get(2), Some(&"fused-attention"));
    let place = "  File \"/w/train.py\", line 7, in <module>\n    mask = torch.ones(n, n, device=x.device)\n";
    assert!(!offers_for(&format!("{place}{text}")).contains(&"fused-attention"));
}

#[test]
fn a_simulation_that_is_run_as_it_is_gets_no_loop_to_write() {
    assert!(!offered("fixtures/logs/simulation/kokkos.log").contains(&"chunk-the-operation"));
}

#[test]
fn a_tensor_of_one_sample_is_not_halved() {
    let refused = |shape: &str| {
        offers_for(&format!(
            "2019-03-01 10:00:00.000000: W tensorflow/core/framework/op_kernel.cc:1192] Resource exhausted: OOM when \
            allocating tensor with shape[{shape}] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by \
            allocator GPU_0_bfc\n"
        ))
    };
    assert!(refused("16,12,402,354,128").contains(&"smaller-batch"));
    assert!(!refused("1,12,402,354,128").contains(&"smaller-batch"));
    // A filter has no samples.
    assert!(refused("1,1,2048,4096").contains(&"smaller-batch"));
}

#[test]
fn a_loop_of_chainers_trainer_has_a_batch() {
    let text = "Traceback (most recent call last):\n  \
        File \"/e/lib/python3.5/site-packages/chainer/training/trainer.py\", line 343, in run\n    update()\n\
        cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 25,600,000 bytes (allocated so far: 3,562,561,536 \
        bytes).\n";
    assert_eq!(offers_for(text).first(), Some(&"smaller-batch"));
}

/// Ranks of one job, however much each holds: a launcher that was asked for four, and ids that follow on one another.
/// They were told to be somebody else's, proved, and to be killed.
#[test]
fn processes_whose_ids_follow_on_one_another_are_ranks_and_are_not_ended() {
    let listed = |pids: [u32; 3]| {
        format!(
            "$ torchrun --standalone --nproc_per_node=4 pretrain.py\n\
             torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacity of \
             79.11 GiB of which 7.19 MiB is free. Process {} has 9.81 GiB memory in use. Process {} has 34.90 GiB memory \
             in use. Process {} has 23.77 GiB memory in use. Including non-PyTorch memory, this process has 10.62 GiB \
             memory in use. Of the allocated memory 9.60 GiB is allocated by PyTorch, and 531.50 MiB is reserved by \
             PyTorch but unallocated.\n",
            pids[0], pids[1], pids[2]
        )
    };
    let ranks = offers_for(&listed([70211, 70210, 70212]));
    assert_eq!(ranks.first(), Some(&"device-per-rank"), "{ranks:?}");
    assert!(!ranks.contains(&"free-the-device") && !ranks.contains(&"kill-zombies"), "{ranks:?}");
    let strangers = offers_for(&listed([70211, 3391, 15020]));
    assert_eq!(strangers.first(), Some(&"free-the-device"), "{strangers:?}");
    // Without a launcher they are as well a neighbour's.
    let alone = listed([70211, 70210, 70212]).replace("torchrun --standalone --nproc_per_node=4", "python");
    assert!(!offers_for(&alone).contains(&"device-per-rank"));
}

#[test]
fn processes_of_one_size_on_the_wrong_device_are_ranks() {
    let offers = offered("tests/planted/logs/0356.log");
    assert_eq!(offers.first(), Some(&"device-per-rank"), "{offers:?}");
    let others = ["other-device", "free-the-device", "kill-zombies", "smaller-batch"];
    assert!(!offers.iter().any(|id| others.contains(id)), "{offers:?}");
}

#[test]
fn one_process_beside_idle_devices_is_told_to_use_them() {
    let lines = |devices: &str| {
        lines_of(
            &format!("devices: {devices}\nbatch 32 x 1024 tokens\nnumber of parameters: 94.83M\n{FULL_CARD}"),
            "data-parallel",
        )
    };
    assert!(lines("gpu0=0.4G gpu1=0.0G gpu2=0.0G gpu3=0.0G").concat().contains("one process for each GPU"));
    assert!(lines("gpu0=0.4G").is_empty());
}

#[test]
fn shared_memory_that_was_full_is_enlarged_beyond_its_size() {
    let failed = "RuntimeError: DataLoader worker (pid 13) is killed by signal: Bus error.\n";
    let size = |table: &str| lines_of(&format!("{table}{failed}"), "shm-size").concat();
    assert!(size("").contains("--shm-size=8g"));
    // A row without its table's header.
    assert!(size("tmpfs                 24G   23G  1.1G  96% /dev/shm\n").contains("--shm-size=48g"));
    assert!(size("$ docker run --gpus all --shm-size=16g train python train.py\n").contains("--shm-size=32g"));
}

#[test]
fn a_request_refused_far_below_the_machines_memory_asks_for_no_more_of_it() {
    let refused = |share: &str| {
        let told: String = (1..9).map(|batch| format!("INFO batch {batch}: {share}{batch}% of memory\n")).collect();
        offers_for(&format!(
            "{told}Traceback (most recent call last):\n  File \"/w/crawl.py\", line 9, in <module>\n    \
            text = part * count\nMemoryError\n"
        ))
    };
    let far = refused("0.0");
    assert!(far.contains(&"raise-ulimit") && !far.contains(&"raise-host-limit"), "{far:?}");
    let near = refused("9");
    assert!(near.contains(&"raise-host-limit") && !near.contains(&"raise-ulimit"), "{near:?}");
}

#[test]
fn an_array_that_was_padded_has_sides_that_nobody_meant() {
    let text = "Traceback (most recent call last):\n  File \"/w/loader.py\", line 739, in getCrop\n    \
        cropped = np.pad(cropped, ((top, bottom), (left, right)))\n\
        numpy.core._exceptions._ArrayMemoryError: Unable to allocate 58.0 GiB for an array with shape (176351, 176460) \
        and data type uint16\n";
    assert_eq!(offers_for(text).first(), Some(&"fix-the-shape"));
    // The message has told the shape: there is nothing to print.
    assert!(lines_of(text, "fix-the-shape").concat().contains("(176351, 176460)"));
    let made = text.replace("np.pad(cropped, ((top, bottom), (left, right)))", "np.zeros((n, m), dtype=np.uint16)");
    assert_eq!(offers_for(&made).first(), Some(&"read-less-at-once"));
}

#[test]
fn a_gpu_before_ampere_gets_what_it_has() {
    let lines = |board: &str| {
        let text = format!("GPU: {board}\n{}", training_step(""));
        lines_of(&text, "mixed-precision").concat()
    };
    assert!(lines("NVIDIA A100-SXM4-80GB").contains("bfloat16"));
    assert!(lines("Tesla V100-SXM2-32GB").contains("float16") && !lines("Tesla V100-SXM2-32GB").contains("bfloat16"));
}

#[test]
fn narrower_weights_leave_a_pool_no_smaller() {
    assert!(!offered("tests/corpus/reports/0409.log").contains(&"weight-quantisation"));
}

#[test]
fn the_allocators_old_words_are_those_of_tensorflow_1() {
    let text = "W tensorflow/core/common_runtime/bfc_allocator.cc:275] Ran out of memory trying to allocate 8.00GiB.  See \
        logs for memory state.\nW tensorflow/core/framework/op_kernel.cc:968] Resource exhausted: OOM when allocating \
        tensor with shape[2048,100000]\n";
    let later = ["mixed_precision", "TF_GPU_ALLOCATOR", "tf.config."];
    for id in offers_for(text) {
        let lines = lines_of(text, id).concat();
        assert!(!later.iter().any(|word| lines.contains(word)), "{id}: {lines}");
    }
}

#[test]
fn whoever_else_uses_a_device_of_vulkan_is_looked_for() {
    assert!(
        lines_of(&std::fs::read_to_string(logs().join("llama.cpp/vulkan.log")).unwrap(), "free-the-device")
            .concat()
            .contains("nvtop")
    );
}

#[test]
fn layers_that_are_split_are_not_split_again() {
    let failed = std::fs::read_to_string(logs().join("llama.cpp/vulkan.log")).unwrap();
    assert!(offers_for(&failed).contains(&"more-devices"));
    assert!(!offers_for(&format!("$ ./llama-server -m model.gguf -ts 1,1\n{failed}")).contains(&"more-devices"));
}

#[test]
fn weights_that_are_loaded_in_16_bit_are_not_advised_16_bit() {
    let loading = |width: &str| {
        let text = format!(
            "INFO - Loading model weights (48 layers, hidden size 4096{width})\nTraceback (most recent call last):\n  \
            File \"/w/main.py\", line 24, in <module>\n    model = LlamaForCausalLM(config).eval()\n  \
            File \"/v/lib/python3.11/site-packages/torch/nn/modules/linear.py\", line 109, in __init__\n    \
            torch.empty((out_features, in_features), **factory_kwargs)\n{FULL_CARD}"
        );
        lines_of(&text, "weight-quantisation").concat()
    };
    assert!(loading("").contains("16 instead of 32"));
    assert!(loading(", float16").contains("instead of 16") && loading(", bfloat16").contains("instead of 16"));
}

/// A card of 8 GiB as older releases told of it, with what stands before.
pub(crate) fn refused(before: &str) -> String {
    format!(
        "{before}torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.77 GiB. GPU 0 has a total capacty \
        of 15.64 GiB of which 0.77 GiB is free. Including non-PyTorch memory, this process has 14.86 GiB memory in use. \
        Of the allocated memory 13.40 GiB is allocated by PyTorch, and 0.80 GiB is reserved by PyTorch but \
        unallocated.\n"
    )
}

#[test]
fn a_scene_of_gaussians_has_neither_a_batch_nor_blocks() {
    let offers = offered("fixtures/logs/fix/gaussians.log");
    assert!(offers.contains(&"fewer-gaussians"), "{offers:?}");
    let of_layers = ["smaller-batch", "gradient-checkpointing", "activation-offload"];
    assert!(!offers.iter().any(|id| of_layers.contains(id)), "{offers:?}");
}

#[test]
fn frames_that_are_moved_as_a_whole_stay_in_host_memory() {
    let offers = offered("fixtures/logs/fix/frames-of-a-video.log");
    assert_eq!(offers.first(), Some(&"keep-data-on-host"));
    assert!(!offers.contains(&"weight-quantisation"), "no weight is in the frames: {offers:?}");
    assert!(!offers.contains(&"chunk-the-operation"), "{offers:?}");
}

#[test]
fn an_apple_has_neither_other_devices_nor_a_host_apart() {
    let metal = "$ ./llama-embedding -m /Users/ada/models/Embedding-Gemma-300M.gguf -c 32768\n\
        llama_context: n_ctx         = 32768\nllama_context: n_ubatch      = 32768\n\
        ggml_backend_metal_buffer_type_alloc_buffer: error: failed to allocate buffer, size = 71808.25 MiB\n\
        ggml_gallocr_reserve_n: failed to allocate Metal buffer of size 75296407552\n\
        llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n";
    let offers = offers_for(metal);
    assert_eq!(offers.first(), Some(&"max-model-len"), "{offers:?}");
    let elsewhere = ["more-devices", "weight-offload", "free-the-device", "fewer-sequences"];
    assert!(!offers.iter().any(|id| elsewhere.contains(id)), "{offers:?}");
}

#[test]
fn kobold_cpp_is_told_its_own_options() {
    let text = "KoboldCpp - Version 1.95.1\nllama_model_loader: loaded meta data from /models/embedding-4B-Q8_0.gguf\n\
        llama_context: n_ctx         = 40960\n\
        ggml_backend_cuda_buffer_type_alloc_buffer: allocating 218035.25 MiB on device 0: cudaMalloc failed: out of \
        memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 228626530304\n\
        llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n";
    let lines =
        ["max-model-len", "fewer-sequences", "weight-offload"].map(|id| lines_of(text, id).join("\n")).join("\n");
    assert!(lines.contains("--contextsize 20480") && !lines.contains("--fit on"), "{lines}");
    assert!(!lines.lines().any(|line| line.starts_with("-c ") || line.starts_with("-ub ")), "{lines}");
}

#[test]
fn a_pipeline_is_balanced_and_never_spread_automatically() {
    let text = refused(
        "Loading pipeline components...: 100%|██████████| 7/7 [00:02<00:00,  2.86it/s]\n\
        Traceback (most recent call last):\n  File \"/w/infer.py\", line 19, in <module>\n    \
        pipeline = FluxPipeline.from_pretrained(path, torch_dtype=torch.bfloat16).to(\"cuda\")\n  \
        File \"/v/lib/python3.11/site-packages/diffusers/pipelines/pipeline_utils.py\", line 454, in to\n    \
        module.to(device, dtype)\n",
    );
    let lines = ["more-devices", "weight-offload", "weight-quantisation"].map(|id| lines_of(&text, id).join("\n"));
    let lines = lines.join("\n");
    assert!(lines.contains("device_map=\"balanced\"") && lines.contains("enable_model_cpu_offload()"), "{lines}");
    assert!(!lines.contains("\"auto\"") && !lines.contains("=BitsAndBytesConfig"), "{lines}");
}

#[test]
fn the_first_fastai_is_not_told_names_of_the_second() {
    let text = refused(
        "Traceback (most recent call last):\n  File \"/w/fit.py\", line 9, in <module>\n    learn.fit_one_cycle(4)\n  \
        File \"/v/lib/python3.7/site-packages/fastai/basic_train.py\", line 59, in validate\n    \
        val_loss = loss_batch(model, xb, yb, loss_func, cb_handler=cb_handler)\n  \
        File \"/v/lib/python3.7/site-packages/torch/nn/modules/module.py\", line 547, in __call__\n    \
        result = self.forward(*input, **kwargs)\n",
    );
    let ids = ["smaller-eval-batch", "smaller-images", "smaller-batch"];
    let lines = ids.map(|id| lines_of(&text, id).join("\n")).join("\n");
    assert!(!lines.contains("learn.dls") && !lines.contains("item_tfms"), "{lines}");
    assert!(!offers_for(&text).contains(&"no-grad-in-eval"), "its validate() runs without gradients");
}

#[test]
fn a_module_called_by_its_oldest_name_has_no_autocast() {
    let text = |function: &str| {
        refused(&format!(
            "Traceback (most recent call last):\n  File \"/w/train.py\", line 9, in train_epoch\n    loss = model(x)\n  \
            File \"/v/lib/site-packages/torch/nn/modules/module.py\", line 550, in {function}\n    \
            result = self.forward(*input, **kwargs)\n"
        ))
    };
    let new = lines_of(&text("_call_impl"), "mixed-precision").join("\n");
    assert!(new.contains("torch.autocast("), "{new}");
    let old = lines_of(&text("__call__"), "mixed-precision").join("\n");
    assert!(!old.contains("torch.autocast("), "{old}");
}

#[test]
fn shared_memory_of_wsl_is_mounted_anew_before_any_container() {
    let failed = "RuntimeError: DataLoader worker (pid 5127) is killed by signal: Bus error. It is possible that \
        dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n";
    let wsl = lines_of(&format!("dora@WSL:~/code$ python train.py\n{failed}"), "shm-size");
    assert!(wsl.first().is_some_and(|line| line.contains("remount")), "{wsl:?}");
    let docker = lines_of(&format!("$ docker run --gpus all trainer python train.py\n{failed}"), "shm-size");
    assert!(docker.first().is_some_and(|line| line.starts_with("docker run")), "{docker:?}");
}

#[test]
fn a_library_that_answers_is_not_trained_by_a_bar_of_progress() {
    let text = "Applied providers: ['CUDAExecutionProvider', 'CPUExecutionProvider']\n\
        Processing:   2%|▏ | 37/1810 [00:19<09:47,  3.02frame/s]\n\
        [E:onnxruntime:, sequential_executor.cc:514 onnxruntime::ExecuteKernel] Non-zero status code returned while \
        running FusedConv node. Name:'Conv_3' Status Message: bfc_arena.cc:376 onnxruntime::BFCArena::\
        AllocateRawInternal Failed to allocate memory for requested buffer of size 104857600\n";
    let offers = offers_for(text);
    assert!(!offers.contains(&"smaller-batch"), "{offers:?}");
    let command = format!("$ python run.py --execution-provider cuda --execution-threads 60\n{text}");
    let lines = lines_of(&command, "less-at-once");
    assert!(lines.first().is_some_and(|line| line.starts_with("--execution-threads 7")), "{lines:?}");
}

#[test]
fn an_installed_command_of_a_package_has_no_block_to_edit() {
    let text = refused(
        "Epoch 0:   4%|█████| 21/512 [11:46<4:37:02, 33.85s/it]\nTraceback (most recent call last):\n  \
        File \"/v/bin/ilab\", line 8, in <module>\n    sys.exit(ilab())\n  \
        File \"/v/lib/python3.11/site-packages/instructlab/model/full_train.py\", line 223, in train\n    \
        loss.backward()\n  File \"/v/lib/python3.11/site-packages/torch/_tensor.py\", line 521, in backward\n    \
        torch.autograd.backward(\n",
    );
    let lines =
        ["gradient-checkpointing", "smaller-batch", "activation-offload"].map(|id| lines_of(&text, id).join("\n"));
    let lines = lines.join("\n");
    assert!(lines.contains("own option"), "{lines}");
    assert!(!["checkpoint(block", "DataLoader(", "save_on_cpu"].iter().any(|code| lines.contains(code)), "{lines}");
}

#[test]
fn a_checkpoint_that_every_rank_reads_is_mapped_to_the_host() {
    let text = "Initializing distributed: GLOBAL_RANK: 3, MEMBER: 4/4\n    system = System.load_from_checkpoint(path)\n\
        torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacty of \
        23.65 GiB of which 11.56 MiB is free.\n";
    let text = format!("GPU available: True (cuda), used: True\n{text}");
    let offers = offers_for(&text);
    assert_eq!(offers.first(), Some(&"load-to-cpu"), "{offers:?}");
    let of_size = ["device-per-rank", "shard-states", "weight-offload", "ddp-bucket-view"];
    assert!(!offers.iter().any(|id| of_size.contains(id)), "{offers:?}");
}

/// A kill by the kernel of one process, with what was run before.
fn killed(before: &str, kib: u64) -> String {
    format!(
        "{before}Killed\n[118206.040260] Out of memory: Killed process 512744 (python3) total-vm:{}kB, anon-rss:{kib}kB, \
        file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:27322kB oom_score_adj:0\n",
        kib + 2_000_000
    )
}

#[test]
fn one_process_that_held_nearly_all_has_no_other_to_stop_and_no_data_in_pieces() {
    let text = killed(
        "~$ free -g\n              total        used        free      shared  buff/cache   available\n\
        Mem:             15           1          13           0           0          13\n~$ python3 \
        convert-pth-to-ggml.py models/7B/ 1\n",
        13_598_039,
    );
    let offers = offers_for(&text);
    assert!(!offers.contains(&"fewer-at-once") && !offers.contains(&"read-less-at-once"), "{offers:?}");
    let small = offers_for(&killed("~$ python3 sort.py\nLoading data: names.csv\n", 3_598_039));
    assert!(small.contains(&"fewer-at-once") && small.contains(&"read-less-at-once"), "{small:?}");
}

#[test]
fn a_model_of_the_hub_is_loaded_by_its_own_loader() {
    let text = killed(
        "$ python inference.py --model_path \"deepseek-ai/deepseek-vl2-small\"\n\
        Loading checkpoint shards:  75%|████▎ | 3/4 [00:08<00:02,  2.79s/it]\n",
        53_310_294,
    );
    let lines = lines_of(&text, "load-weights-once");
    assert!(lines.iter().any(|line| line.contains("low_cpu_mem_usage=True")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("mmap=True")), "{lines:?}");
}

#[test]
fn weights_that_are_held_for_each_node_of_memory_are_held_once() {
    let text = killed(
        "root@n7:~# export USE_NUMA=1\nroot@n7:~# python ./ktransformers/local_chat.py --gguf_path /models/DeepSeek-R1-Q4_K_M/\n\
        loading blk.42.attn_kv_b.weight to cuda:0\n",
        1_065_421_163,
    );
    assert_eq!(lines_of(&text, "load-weights-once").first().map(|line| line.contains("unset USE_NUMA")), Some(true));
    assert!(!offers_for(&text).contains(&"read-less-at-once"));
}

#[test]
fn a_request_of_so_many_bytes_for_each_parameter_is_no_activation() {
    let text = "Total parameters: 2,883,366,942 (2,883,366,942 trainable)\nTraceback (most recent call last):\n  \
        File \"/w/parlai/utils/fp16.py\", line 194, in backward\n    loss.backward()\n\
        RuntimeError: CUDA out of memory. Tried to allocate {} (GPU 3; 80.94 GiB total capacity; 64.45 GiB already \
        allocated; 8.74 GiB free; 69.85 GiB reserved in total by PyTorch)\n";
    let of_a_pass = ["gradient-checkpointing", "smaller-batch", "activation-offload", "chunk-the-operation"];
    let of_states = offers_for(&text.replace("{}", "21.48 GiB"));
    assert!(!of_states.iter().any(|id| of_a_pass.contains(id)), "{of_states:?}");
    let of_a_layer = offers_for(&text.replace("{}", "17.48 GiB"));
    assert!(of_a_layer.contains(&"gradient-checkpointing"), "{of_a_layer:?}");
}

#[test]
fn an_engine_that_makes_its_weights_has_neither_pool_nor_batch() {
    let text = "[2026-07-19 12:10:20] Load weight begin.\n[2026-07-19 12:10:24] Scheduler hit an exception: Traceback \
        (most recent call last):\n  \
        File \"/v/lib/python3.12/site-packages/sglang/srt/model_loader/loader.py\", line 652, in load_model\n    \
        model = _initialize_model(\n  \
        File \"/v/lib/python3.12/site-packages/sglang/srt/layers/quantization/mxfp4.py\", line 318, in create_weights\n    \
        torch.zeros(\ntorch.OutOfMemoryError: CUDA out of memory.\n";
    let offers = offers_for(text);
    let of_a_pool = ["lower-engine-memory", "fewer-sequences", "max-model-len", "kv-cache-dtype"];
    assert!(!offers.iter().any(|id| of_a_pool.contains(id)), "{offers:?}");
    assert!(offers.contains(&"more-devices"), "{offers:?}");
}

#[test]
fn results_that_are_gathered_are_gathered_on_the_host() {
    let text = "Test:  [2428/2429]  eta: 0:00:01    time: 1.3779  data: 0.0079  max mem: 4121\n\
        Traceback (most recent call last):\n  File \"eval.py\", line 246, in evaluate\n    \
        evaluator.synchronize_between_processes()\n  File \"/w/datasets/eval.py\", line 655, in \
        synchronize_between_processes\n    all_preds = dist.all_gather(self.results)\n  \
        File \"/w/util/dist.py\", line 76, in all_gather\n    \
        tensor_list.append(torch.empty((max_size,), dtype=torch.uint8, device=device))\n\
        RuntimeError: CUDA out of memory.\n";
    let lines = lines_of(text, "offload-eval-predictions");
    assert!(lines.first().is_some_and(|line| line.contains("gloo")), "{lines:?}");
    let offers = offers_for(text);
    assert!(!offers.contains(&"detach-logged-tensors") && !offers.contains(&"find-the-leak"), "{offers:?}");
}

#[test]
fn a_group_that_is_set_up_has_no_data_yet() {
    let text = "Setting up the communicator\nnode:4412:4801 [3] include/alloc.h:48 NCCL WARN Cuda failure 'out of memory'\n\
        node:4412:4801 [3] NCCL INFO channel.cc:24 -> 1\nnode:4412:4801 [3] NCCL INFO init.cc:274 -> 1\n";
    let offers = offers_for(text);
    let of_data = ["smaller-batch", "smaller-images", "mixed-precision", "gradient-checkpointing"];
    assert!(!offers.iter().any(|id| of_data.contains(id)), "{offers:?}");
}

#[test]
fn a_command_that_starts_in_a_later_traceback_is_installed_all_the_same() {
    let text = "Traceback (most recent call last):\n  \
        File \"/v/lib/python3.8/site-packages/torch/utils/data/_utils/signal_handling.py\", line 66, in handler\n    \
        _error_if_any_worker_fails()\nRuntimeError: DataLoader worker (pid 18120) is killed by signal: Killed.\n\n\
        The above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  \
        File \"/v/bin/ketos\", line 8, in <module>\n    sys.exit(cli())\n  \
        File \"/v/lib/python3.8/site-packages/kraken/lib/train.py\", line 392, in run\n    \
        for _, batch in enumerate(self.train_set):\nRuntimeError: DataLoader worker (pid(s) 18120) exited unexpectedly\n";
    assert_eq!(lines_of(text, "fewer-workers"), ["2 worker processes"]);
    assert!(!offers_for(text).contains(&"no-python-lists-in-dataset"));
    let own = text.replace("/v/bin/ketos", "/w/train.py");
    assert!(lines_of(&own, "fewer-workers").iter().any(|line| line.starts_with("DataLoader(")));
}

#[test]
fn an_average_that_is_nothing_beside_the_device_is_left_where_it_is() {
    let of = |parameters: &str| {
        offers_for(&refused(&format!(
            "$ python train.py --model-ema --amp\nModel b2 created, param count: {parameters}\n\
            Traceback (most recent call last):\n  File \"/w/train.py\", line 503, in train_epoch\n    loss.backward()\n"
        )))
    };
    assert!(of("1109109994").contains(&"ema-on-cpu"));
    assert!(!of("9109994").contains(&"ema-on-cpu"));
}
