//! Where a fix is advice at all: what must be so before it is asked. Which fix needs what stands in its file as a list;
//! what each need means stands here, and [`super::Fix::advice`] asks it, so that no fix can forget one.

use super::case::Case;
use crate::cause::mechanism::pool;
use crate::cause::{CauseId, nature};
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::trainer::Trainer;
use crate::domain::{Program, closed_set};
use crate::incident::context::{Clue, Frame};
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
    }
}

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
            Need::NoEngine => case.engine().is_none(),
            Need::Running => nature::one_piece(case.incident),
            Need::OthersHold => others_may_hold(case),
            Need::ListedProcesses => case.discrete_gpu(),
            Need::PytorchCache => case.caching_allocator(),
            Need::Batch => case.context.batch_size.value() != Some(1),
            Need::Short => !case.sign(Sign::BeyondContext),
            Need::Process => {
                let facts = &case.incident.event.facts;
                let named = facts.pid.is_known() || facts.process_name.is_known() || facts.largest_process.is_known();
                case.program() != Program::LinuxKernel || case.resource() != Resource::Host || named
            }
            Need::Tensor => !pool::is_requested(case.incident) && !case.sign(Sign::MappedFile),
            Need::Loaded => !case.loading(),
        }
    }
}

/// Above this, the processes that fill the machine beside a training job are its loader's workers.
const LIKELY_WORKERS: f64 = 0.3;

/// True where something shows that a data loader feeds the job.
pub fn loader(case: &Case) -> bool {
    let context = case.context;
    let shown = |frame: &Frame| {
        let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
        code.contains("loader") || frame.file.to_ascii_lowercase().contains("dataloader")
    };
    case.sign(Sign::DataLoaderWorker)
        || case.ledger.loader.is_some()
        || context.workers.is_known()
        || context.persistent_workers.is_known()
        || case.clue(Clue::SampleCache)
        || context.frames.iter().any(shown)
        || case.on_host() && case.training() && case.confidence(CauseId::HostWorkers) >= LIKELY_WORKERS
}

/// True where those processes are PyTorch's or a trainer's own, rather than a pool that a program keeps for its work.
pub fn torch_loader(case: &Case) -> bool {
    let context = case.context;
    let shown = |frame: &Frame| {
        let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
        code.contains("loader") || frame.file.to_ascii_lowercase().contains("dataloader")
    };
    case.sign(Sign::DataLoaderWorker)
        || case.trainer().is_some()
        || case.pytorch()
        || context.persistent_workers.is_known()
        || case.ledger.loader.is_some()
        || case.clue(Clue::SampleCache)
        || context.frames.iter().any(shown)
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
        || matches!(case.trainer(), Some(Trainer::ComfyUi | Trainer::StableDiffusionWebUi))
        || case.context.frames.iter().any(|frame| named(&frame.file))
        || case.context.program.get().is_some_and(|program| named(program));
    // A trainer that samples keeps an engine within, and its user writes the trainer's settings.
    (case.engine().is_none() || case.engine_around().is_none()) && !application
}

/// Share of a device that its driver and a display may keep for themselves: less than this is nobody's.
const NOBODYS: i128 = 50;

/// False where the figures rule out that anybody else holds enough of the device to matter.
fn others_may_hold(case: &Case) -> bool {
    if case.others().is_some() {
        return true;
    }
    let Some(capacity) = case.capacity() else { return true };
    let free = case.free().unwrap_or(Interval::exactly(0));
    // Nearly all of the device was free.
    if free.low > capacity.high - capacity.high / NOBODYS * 2 {
        return false;
    }
    // All that is in use, this process holds.
    let own = case.incident.event.facts.get(Fact::Process).map(|figure| figure.interval()).or(case.allocated());
    own.is_none_or(|own| (capacity - own - free).high > capacity.high / NOBODYS)
}
