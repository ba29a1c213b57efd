//! Where a fix is advice at all: what must be so before it is asked. Which fix needs what stands in its file as a list;
//! what each need means stands here, and [`super::Fix::advice`] asks it, so that no fix can forget one.

use super::case::Case;
use super::work::runs_under_its_own_name;
use crate::cause::mechanism::pool;
use crate::cause::{CauseId, nature};
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::program::Kind;
use crate::domain::trainer::Trainer;
use crate::domain::{Number, Program, closed_set};
use crate::incident::context::{Clue, Frame};
use crate::input::gpu_tables::GpuRow;
use crate::units::Interval;

closed_set! {
    /// Something that must be so for a fix to be able to help.
    pub enum Need {
        /// A device's memory ran out: GPU, TPU, NPU or a cache on it.
        Device = "device",
        /// A device's general memory ran out, not a cache that an engine had set aside.
        Gpu = "gpu",
        /// RAM ran out, of the machine or of a control group; /dev/shm is none.
        Ram = "ram",
        /// The log shows that a model is trained.
        Training = "training",
        /// Processes that load data are known to run beside the job, or the script's own loader shows.
        Loader = "loader",
        /// The user writes the lines that allocate: neither an engine nor an application with settings only.
        OwnCode = "own-code",
        /// The memory in question is that of tensors that the program works on: no engine's cache or pool.
        NoEngine = "no-engine",
        /// It failed while running: a compiler that plans a whole program holds no memory yet, and nobody is in its
        /// way.
        Running = "running",
        /// The figures leave room for memory that belongs to somebody else.
        OthersHold = "others-hold",
        /// The device is one whose processes a tool lists: NVIDIA's and AMD's.
        ListedProcesses = "listed-processes",
        /// Host and device have memories of their own, and there may be several devices: it is none of Apple's.
        Discrete = "discrete",
        /// PyTorch's caching allocator manages the memory.
        PytorchCache = "pytorch-cache",
        /// More than one sample is worked on at once, as far as is known.
        Batch = "batch",
        /// Memory was missing, rather than room in a context that is set too short.
        Short = "short",
        /// A process ran that could have needed less: the kernel found one to kill.
        Process = "process",
        /// What was refused may be a tensor: it is not a framework's pool, nor a file that is mapped.
        Tensor = "tensor",
        /// The weights are in place: what is held besides them can be made smaller.
        Loaded = "loaded",
        /// A pass over data may be under way: neither the optimizer's step nor saving, loading, building or starting.
        Pass = "pass",
        /// The request is a large part of what there is: one tensor that a part of it would replace.
        LargeRequest = "large-request",
        /// The log shows a limit below the hardware's, or a refusal by one.
        Limit = "limit",
        /// What failed writes out the scores of attention.
        Attention = "attention",
        /// A graph may be kept that nobody needs: a model is evaluated or asked.
        Evaluation = "evaluation",
        /// The system is one with the tools of Unix.
        Unix = "unix",
        /// The limit that refused is the machine's or a group's, not one that the program sets itself.
        NoOwnLimit = "no-own-limit",
        /// An amount of memory was missing: it was not refused although much more was free and no limit shows.
        Shortage = "shortage",
        /// The request is of a size that was meant.
        Meant = "meant",
    }
}

/// Fixes that stand although the request is of a size that nobody meant, which every other one needs: they change the
/// size, or the code that made the error of something else.
pub const OF_ANY_SIZE: [&str; 6] = [
    "fix-the-shape",
    "same-collectives",
    "check-ids",
    "launch-blocking",
    "expandable-segments-off",
    "chunk-the-operation",
];

impl Need {
    /// True where it is so, or nothing tells that it is not: each need says which of the two it asks for.
    pub fn met(self, case: &Case) -> bool {
        match self {
            Need::Device => case.on_device(),
            Need::Gpu => case.on_gpu(),
            Need::Ram => case.on_host() && case.resource() != Resource::Shm,
            Need::Training => case.training(),
            Need::Loader => loader(case),
            Need::OwnCode => own_code(case),
            // What draws by ggml works on pictures, and has none of an engine's caches.
            Need::NoEngine => case.engine().is_none() || case.clue(Clue::StableDiffusionCpp),
            Need::Running => nature::one_piece(case.incident) && !case.clue(Clue::BuildsEngine),
            Need::OthersHold => others_may_hold(case),
            Need::ListedProcesses => case.discrete_gpu(),
            Need::Discrete => !case.apple(),
            Need::PytorchCache => case.caching_allocator(),
            Need::Batch => !case.one_at_a_time(),
            Need::Short => !case.sign(Sign::BeyondContext),
            Need::Process => {
                let facts = &case.incident.event.facts;
                let named = facts.pid.is_known() || facts.process_name.is_known() || facts.largest_process.is_known();
                case.program() != Program::LinuxKernel || case.resource() != Resource::Host || named
            }
            Need::Tensor => {
                !pool::is_requested(case.incident)
                    && !case.sign(Sign::MappedFile)
                    && !makes_a_cache(case)
                    // What is limited is a number of buffers, not what they hold.
                    && !case.incident.event.facts.numbers.contains_key(&Number::ResourceLimitCount)
                    // An execution context is sized by the engine's profile, not by what is given to it.
                    && case.program() != Program::TensorRt
            }
            Need::Loaded => !case.loading() && !case.data_goes_first(),
            Need::Pass => case.in_a_pass() && !case.beside_a_full_pool(),
            Need::LargeRequest => large_request(case),
            Need::Limit => limited(case),
            Need::Attention => case.in_attention() || case.context.attention.is_known(),
            Need::Evaluation => {
                case.evaluating() || case.inference() || case.clue(Clue::Predicts) || case.clue(Clue::VolatileIgnored)
            }
            Need::Unix => !case.windows(),
            Need::NoOwnLimit => !stopped_at_its_own_limit(case),
            Need::Shortage => !case.refused_with_room() || limited(case),
            Need::Meant => !case.absurd(),
        }
    }
}

/// Above this, the processes that fill the machine beside a training job are its loader's workers.
const LIKELY_WORKERS: f64 = 0.3;

/// True for a frame in which a data loader is at work.
fn of_a_loader(frame: &Frame) -> bool {
    let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
    code.contains("loader") || frame.file.to_ascii_lowercase().contains("dataloader")
}

/// True where something shows that a data loader feeds the job.
pub fn loader(case: &Case) -> bool {
    let context = case.context;
    case.sign(Sign::DataLoaderWorker)
        || case.sign(Sign::PoolWorkerKilled)
        || case.ledger.loader.is_some()
        || context.workers.is_known()
        || context.persistent_workers.is_known()
        || case.clue(Clue::SampleCache)
        || context.frames.iter().any(of_a_loader)
        || case.on_host() && case.training() && case.confidence(CauseId::HostWorkers) >= LIKELY_WORKERS
}

/// True where those processes are PyTorch's or a trainer's own, rather than a pool that a program keeps for its work.
pub fn torch_loader(case: &Case) -> bool {
    let context = case.context;
    case.sign(Sign::DataLoaderWorker)
        || case.trainer().is_some()
        || case.pytorch()
        || context.persistent_workers.is_known()
        || case.ledger.loader.is_some()
        || case.clue(Clue::SampleCache)
        || context.frames.iter().any(of_a_loader)
        || case.training()
}

/// Parts of paths of programs that are used from a browser: their users set fields, not lines.
const BROWSER_PROGRAMS: &[&str] = &["webui", "gradio", "streamlit", "fooocus", "swarmui", "invokeai"];

/// True unless the program is one that people run and set, but do not write.
pub fn own_code(case: &Case) -> bool {
    let named = |path: &str| {
        let path = path.to_ascii_lowercase();
        BROWSER_PROGRAMS.iter().any(|name| path.contains(name))
    };
    let application = case.program().only_infers()
        || case.trainer().is_some_and(Trainer::only_draws)
        || case.context.frames.iter().any(|frame| named(&frame.file))
        || case.context.program.get().is_some_and(|program| named(program));
    if case.on_host() && runs_under_its_own_name(case) || case.of_a_tool() {
        return false;
    }
    // A trainer that samples keeps an engine within, and its user writes the trainer's settings.
    let written = case.trainer().is_some() || case.context.user_frame().is_some();
    let within = || case.engine_around().is_none() && written;
    (case.engine().is_none() || within()) && !application
}

/// Part of the device, or of what is allocated, from which on a request is a large one.
const LARGE: i128 = 8;
/// Where neither is known, a request of this many bytes.
const LARGE_ALONE: i128 = 1 << 30;

/// True where one request is much of what there is, or the cause found is that it is too large.
fn large_request(case: &Case) -> bool {
    let Some(asked) = case.requested().filter(|asked| asked.high > 0) else {
        return case.absurd() || case.confidence(CauseId::SingleHugeAllocation) >= LARGE_CAUSE;
    };
    match case.capacity().or(case.allocated()) {
        Some(all) => asked.high.saturating_mul(LARGE) >= all.low,
        None => asked.high >= LARGE_ALONE || case.confidence(CauseId::SingleHugeAllocation) >= LARGE_CAUSE,
    }
}

/// From this share on the size of the request is a cause worth a change, where the request itself is not printed.
const LARGE_CAUSE: f64 = 0.3;

/// True where a limit is printed, set or named: by the message, its figures, or what the program was told.
fn limited(case: &Case) -> bool {
    // More than the whole device was wanted: no limit below it was in the way.
    if case.on_gpu() && case.demand().zip(case.capacity()).is_some_and(|(demand, all)| demand.low > all.high) {
        return false;
    }
    let facts = &case.incident.event.facts;
    case.ledger.cap.is_some()
        || case.sign(Sign::RefusedByLimit)
        || facts.get(Fact::FractionLimit).is_some()
        || facts.get(Fact::Limit).is_some()
        || case.confidence(CauseId::FrameworkLimit) >= LIKELY_LIMIT
}

/// The cause that a limit refused stands on evidence of its own from here on.
const LIKELY_LIMIT: f64 = 0.5;

/// Below this, what a limit refused is not short of the machine's memory.
const UNLIKELY_MACHINE: f64 = 0.1;

/// True where the program refused by a limit of its own: more of the machine's memory does not lift it.
fn stopped_at_its_own_limit(case: &Case) -> bool {
    let own = case.program().own_limit().is_some() || case.sign(Sign::RefusedByLimit);
    // A scheduler's limit is what was asked of it.
    // A leak that fills a heap meets the heap's limit as well, and the machine's memory is not asked.
    let machine_is_none = case.sign(Sign::RefusedByLimit) && case.confidence(CauseId::HostMemory) < UNLIKELY_MACHINE;
    own && case.program().kind() != Kind::Scheduler
        && case.on_host()
        && (case.confidence(CauseId::FrameworkLimit) >= LIKELY_LIMIT || machine_is_none)
}

/// True where what was refused is a cache of keys and values in a program without an engine: it is made for a number
/// of tokens, not for a batch.
pub fn makes_a_cache(case: &Case) -> bool {
    case.engine().is_none()
        && (case.clue(Clue::AllocatesCache) || case.confidence(CauseId::KvCache) >= LIKELY_CACHE)
        && !case.clue(Clue::ServesWithCache)
}

const LIKELY_CACHE: f64 = 0.5;

/// Share of a device that its driver and a display may keep for themselves: less than this is nobody's.
const NOBODYS: i128 = 50;

/// What a context and libraries take beside the framework's pool, at the most.
const CONTEXT: i128 = 1 << 30;

/// False where the figures rule out that anybody else holds enough of the device to matter.
fn others_may_hold(case: &Case) -> bool {
    let Some(capacity) = case.capacity() else { return true };
    let free = case.free().unwrap_or(Interval::exactly(0));
    // Nearly all of the device was free.
    if free.low > capacity.high - capacity.high / NOBODYS * 5 {
        return false;
    }
    if case.others().is_some() {
        return true;
    }
    // All that is in use, this process holds; beside what its framework reserved it has a context.
    let process = case.incident.event.facts.get(Fact::Process).map(|figure| figure.interval());
    let context = Interval::between(0, CONTEXT.min(capacity.high / 8));
    let own = process.or_else(|| Some(case.ledger.reserved.or(case.allocated())? + context));
    // Where the message does not tell, a table that lists all devices as good as idle does; what the message tells was
    // so at the failure, and whoever held the rest may have left since.
    let idle = |row: &GpuRow| row.used.bytes < row.total.bytes / 20;
    let all_idle = || !case.context.gpus.is_empty() && case.context.gpus.iter().all(idle);
    own.map_or_else(|| !all_idle(), |own| (capacity - own - free).low > capacity.high / NOBODYS)
}
