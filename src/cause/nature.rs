//! What an incident is by the program behind it: who asked whom for memory, and what kind of job it was. Everything in
//! the mechanisms that depends on a program stands here.

use crate::dialect::{Fact, Resource, Sign, naming};
use crate::domain::program::{DeviceUse, Kind, PytorchAllocator};
use crate::domain::trainer::{Purpose, Trainer};
use crate::domain::{Number, Program, closed_set};
use crate::evidence::{Known, Span};
use crate::incident::Incident;
use crate::incident::context::{Clue, Frame, Phase};

closed_set! {
    /// The kinds of failure, by who asked whom for memory. Priors are set for each.
    pub enum Asker {
        /// A program asked its device for a tensor or buffer: PyTorch, Paddle, CuPy, CUDA.jl, MLX …
        Tensor = "tensor",
        /// The same under a framework that takes most of the device at start and serves from its own pool: XLA,
        /// TensorFlow.
        PooledTensor = "pooled-tensor",
        /// An inference engine that sizes a pool: vLLM, SGLang, TensorRT-LLM, LMDeploy, TGI.
        Engine = "engine",
        /// A program that loads weights into fixed buffers and splits them over devices: llama.cpp, Ollama, ExLlama.
        WeightBuffers = "weight-buffers",
        /// The key/value cache of an engine.
        KvCache = "kv-cache",
        /// RAM of the machine or of a container.
        Host = "host",
        /// /dev/shm.
        Shm = "shm",
        /// Shared memory on the chip, per thread block.
        OnChip = "on-chip",
    }
}

pub fn asker(incident: &Incident) -> Asker {
    match incident.event.resource {
        Resource::KvCache => Asker::KvCache,
        Resource::Host | Resource::Cgroup => Asker::Host,
        Resource::Shm => Asker::Shm,
        Resource::CudaSharedMemory => Asker::OnChip,
        // While an engine is built no pool of its own is there yet: its compiler asks for buffers.
        Resource::Gpu if incident.context.has(Clue::BuildsEngine) => Asker::Tensor,
        Resource::Gpu => match incident.event.program.device_use() {
            // An engine reports what its framework refused in the framework's words.
            DeviceUse::OnDemand if engine_around(incident) => Asker::Engine,
            DeviceUse::OnDemand => Asker::Tensor,
            DeviceUse::Preallocated { .. } => Asker::PooledTensor,
            DeviceUse::SizedPool { .. } | DeviceUse::PoolOfFree { .. } => Asker::Engine,
            DeviceUse::FixedBuffers => Asker::WeightBuffers,
        },
    }
}

/// True where the log shows an inference engine around the framework that failed.
fn engine_around(incident: &Incident) -> bool {
    incident.context.trainer.value().and_then(Trainer::engine).is_some()
}

/// True where the device's memory is meant.
pub fn on_gpu(incident: &Incident) -> bool {
    matches!(asker(incident), Asker::Tensor | Asker::PooledTensor | Asker::Engine | Asker::WeightBuffers)
}

/// True when the figure asked for is one buffer. A compiler's report (XLA) gives the need of a whole program instead;
/// its dialects tell by what it exceeds the device, or what its parts are.
pub fn one_piece(incident: &Incident) -> bool {
    let numbers = &incident.event.facts.numbers;
    ![Number::ExceededBy, Number::ProgramTotal].iter().any(|name| numbers.contains_key(name))
}

closed_set! {
    /// The kind of job, as its user would name it.
    pub enum JobKind {
        Training = "training",
        Inference = "inference",
        /// A server that answers requests.
        Serving = "serving",
        /// A program planned as a whole by a compiler.
        Compiled = "compiled",
        /// A program of the machine without a device.
        Host = "host",
        /// A job, pod or container whose scheduler reports it.
        Scheduler = "scheduler",
    }
}

/// True where the log shows that a model is trained: by the phase, the settings, or the trainer around the loop.
pub fn trains(incident: &Incident) -> bool {
    let context = &incident.context;
    let purpose = context.trainer.value().map(Trainer::purpose);
    let shown = matches!(
        context.phase.value(),
        Some(
            Phase::Backward | Phase::OptimizerStep | Phase::Train | Phase::Loss | Phase::Validation | Phase::Checkpoint
        )
    ) || context.optimizer.is_known()
        // Of a script that predicts, the epoch is the checkpoint's, and the trainer's library only has the model.
        || !context.runs_to_predict()
            && (context.epoch.is_known()
                || context.epochs.is_known()
                || purpose == Some(Purpose::Training) && !context.has(Clue::Predicts))
        || context.accumulation.is_known()
        || context.zero_stage.is_known()
        || context.gradient_checkpointing.is_known()
        || context.has(Clue::OptimizerState)
        || incident.event.has(Sign::DataLoaderWorker)
        // Chainer's trainer and updaters.
        || context.frames.iter().any(|frame| frame.path().contains("/chainer/training/"))
        // The model is run within a function that computes a loss.
        || context.frames.iter().any(|frame| frame.is_user_code() && frame.function.to_lowercase().contains("loss"));
    // What draws has steps as well; only a gradient or an optimizer tells that it learns.
    let learns = matches!(context.phase.value(), Some(Phase::Backward | Phase::OptimizerStep | Phase::Loss))
        || context.has(Clue::OptimizerState)
        || context.accumulation.is_known();
    shown && (purpose != Some(Purpose::Diffusion) || learns)
}

/// The kind of job as far as the program, the phase and the log's own words tell.
pub fn job_kind(incident: &Incident) -> Option<JobKind> {
    let event = &incident.event;
    let context = &incident.context;
    let purpose = context.trainer.value().map(Trainer::purpose);
    if context.has(Clue::BuildsEngine) {
        return Some(JobKind::Compiled);
    }
    let engine = matches!(asker(incident), Asker::Engine | Asker::KvCache)
        || purpose == Some(Purpose::Serving)
        || event.program.is_engine() && event.program.device_use() != DeviceUse::FixedBuffers;
    let scheduler = matches!(event.program.kind(), Kind::Scheduler);
    let pictures = purpose == Some(Purpose::Diffusion);
    Some(if engine {
        JobKind::Serving
    } else if !one_piece(incident) {
        JobKind::Compiled
    } else if scheduler {
        JobKind::Scheduler
    } else if trains(incident) {
        JobKind::Training
    } else if pictures
        || matches!(context.phase.value(), Some(Phase::Inference | Phase::Decode))
        || context.has(Clue::Predicts)
        || matches!(asker(incident), Asker::WeightBuffers)
    {
        JobKind::Inference
    } else if asker(incident) == Asker::Host {
        JobKind::Host
    } else {
        return None;
    })
}

/// The application or engine around the framework, or the program on a language's runtime, where the log shows one.
pub fn program(incident: &Incident) -> Option<&str> {
    let trainer = incident.context.trainer.value().filter(|trainer| *trainer != Trainer::PlainPytorch);
    let caller = || incident.event.caller.as_ref().map(|caller| caller.id());
    trainer.map(Trainer::id).or(killed(incident)).or_else(caller).or_else(|| installed(incident))
}

/// The installed command in which a traceback starts: `esm-fold` of `/venv/bin/esm-fold`. What only launches others is
/// none.
fn installed(incident: &Incident) -> Option<&str> {
    let first = incident.context.frames.iter().find(|frame| frame.function == "<module>")?;
    let (folder, name) = first.file.rsplit_once(['/', '\\'])?;
    let name = name.trim_end_matches(".exe");
    let bin = folder.ends_with("/bin") || folder.ends_with("\\Scripts");
    (bin && is_its_own(name)).then_some(name)
}

/// True for a word that names a program which works by itself, rather than launches others.
fn is_its_own(name: &str) -> bool {
    let word = name.len() >= 3 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    word && !naming::is_wrapper(name) && !Program::named(name).is_some_and(|program| program.runs_others())
}

/// The name of the process that the killer ended, where it is a program's: `tmux: server` is tmux's, what an
/// interpreter ran as a service is the service's, and that of a runtime or a launcher says nothing of what it ran.
fn killed(incident: &Incident) -> Option<&str> {
    let event = &incident.event;
    let name = event.facts.process_name.get().filter(|_| event.program.kind() == Kind::OomKiller)?;
    let name = name.split([':', '/', ' ']).next().unwrap_or_default();
    // `shasta-Linux-0.`: a release's file, as far as the kernel keeps its name.
    let release = ["-Linux", "-linux", "_linux"].iter().find_map(|mark| name.split_once(mark));
    let name = release.map_or(name, |(name, _)| name);
    // What an interpreter runs as a service, the service's unit names.
    const INTERPRETERS: [&str; 8] = ["ruby", "java", "node", "php", "php-fpm", "perl", "python", "python3"];
    if INTERPRETERS.contains(&name)
        && let Some(group) = event.facts.cgroup.get()
        && let Some(unit) = group.rsplit('/').next().and_then(|unit| unit.strip_suffix(".service"))
        && !unit.contains(['@', '\\', '-'])
    {
        return Some(unit);
    }
    is_its_own(name).then_some(name)
}

/// The frame in which a PyTorch program first touches its device, where CUDA's runtime refused it there: from PyTorch
/// 1.0 on the allocator words its own refusals in another way (`c10/cuda/CUDACachingAllocator.cpp`), so that what was
/// refused is the context, or what it loads. Of 18 such reports none was cured by a smaller need.
pub fn first_touch(incident: &Incident) -> Option<Span> {
    // A batch is moved as well, and long after the model was.
    const TOUCHES: [&str; 5] = ["device=", "set_device(", "barrier(", "cuda.manual_seed", "cuda.empty_cache("];
    // What leaves the device or is page-locked takes the machine's memory.
    const ELSEWHERE: [&str; 4] = ["\"cpu\"", "'cpu'", ".cpu(", "pin_memory"];
    let (event, context) = (&incident.event, &incident.context);
    let of_the_runtime =
        event.has(Sign::Disguised) && event.says_out_of_memory() && event.facts.get(Fact::Requested).is_none();
    let on_demand = event.program.pytorch_allocator() != PytorchAllocator::No && asker(incident) == Asker::Tensor;
    let begun = context.step.value().is_some_and(|step| step > 0) || context.epoch.is_known();
    if !of_the_runtime || !on_demand || begun || event.has(Sign::PinnedHost) {
        return None;
    }
    let last = context.frames.last()?;
    let has = |frame: &Frame, words: &[&str]| {
        frame.code.as_deref().is_some_and(|code| words.iter().any(|words| code.contains(words)))
    };
    // By its frames: a line of loading may be the last that was told before a pass.
    let loads = matches!(context.phase, Known::Seen(Phase::Load, at) if context.frames.iter().any(|f| f.at == at));
    // While a module is imported nothing is worked on yet.
    let imports = context.frames.len() > 1 && last.function == "<module>" && has(last, &[".cuda(", ".to("]);
    let touches = loads || imports || has(last, &TOUCHES);
    (touches && !context.frames.iter().any(|frame| has(frame, &ELSEWHERE))).then_some(last.at)
}

/// True where an engine sizes its cache as a share of what the weights leave free, and the cache is what failed.
pub fn takes_share_of_free(incident: &Incident) -> bool {
    asker(incident) == Asker::KvCache
        && matches!(incident.event.program.device_use(), DeviceUse::PoolOfFree { .. })
        && incident.event.has(Sign::CacheRefused)
}

/// True where an engine's warm-up comes before its cache is sized.
pub fn warms_up_before_its_pool(incident: &Incident) -> bool {
    let engine = incident.context.trainer.value().and_then(Trainer::engine).unwrap_or(incident.event.program);
    engine.warms_up_before_its_pool()
}

/// True for a simulator of quantum states, whose one array doubles with each qubit.
pub fn is_state_vector(incident: &Incident) -> bool {
    incident.event.program.kind() == Kind::QuantumSimulator
}
