//! One file per program family: it recognises that family's texts and yields events with figures. Dialects never judge.

pub mod boosting;
pub mod containers;
pub mod cuda;
pub mod cupy;
pub mod dataloader;
pub mod engines;
pub mod field;
pub mod joined;
pub mod julia;
pub mod kernel;
pub mod launcher;
pub mod metal;
pub mod mxnet;
pub mod nccl_shm;
pub mod notice;
pub mod numba;
pub mod onnxruntime;
pub mod oom_daemons;
pub mod opencv;
pub mod paddle;
pub mod proof;
pub mod pytorch;
pub mod rapids;
pub mod ray;
pub mod runtimes;
pub mod rust_gpu;
pub mod schedulers;
pub mod simulation;
pub mod slurm;
pub mod stated;
pub mod sycl;
pub mod tensorrt;
pub mod torch_host;
pub mod triton_language;
pub mod triton_server;
pub mod xla;

use crate::evidence::{Known, Span};
use crate::input::{Document, Literals, Reader};
use crate::units::Figure;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    Gpu,
    Host,
    Cgroup,
    Shm,
    KvCache,
    CudaSharedMemory,
}

impl Resource {
    /// The name of the contract.
    pub fn id(self) -> &'static str {
        match self {
            Resource::Gpu => "gpu",
            Resource::Host => "host",
            Resource::Cgroup => "cgroup",
            Resource::Shm => "shm",
            Resource::KvCache => "kv-cache",
            Resource::CudaSharedMemory => "cuda-shared-memory",
        }
    }

    /// True for the memory of an accelerator, however it is managed.
    pub fn on_device(self) -> bool {
        matches!(self, Resource::Gpu | Resource::KvCache)
    }

    /// True for the memory of the machine.
    pub fn on_host(self) -> bool {
        matches!(self, Resource::Host | Resource::Cgroup | Resource::Shm)
    }
}

/// A figure that a message prints. The name of each is fixed by the JSON contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// What was asked for. In PyTorch ≥ 0.4 messages the segment asked of the driver, not the tensor's size.
    Requested,
    /// The device's (or pool's, machine's) total.
    Capacity,
    /// A limit below the capacity that applies: cgroup, ulimit, watermark.
    Limit,
    Free,
    /// Handed out by the framework's allocator.
    Allocated,
    /// Held by the framework's allocator, handed out or not.
    Reserved,
    /// Held by the framework's allocator and not handed out (`cached` in PyTorch 1.0–1.3 messages is this too, see `Cached`).
    ReservedUnallocated,
    /// What the driver says this process holds, everything included.
    Process,
    /// A cap set by `set_per_process_memory_fraction` or its like.
    FractionLimit,
    Peak,
    LargestFreeChunk,
    TotalVm,
    AnonRss,
    FileRss,
    ShmemRss,
    /// Free blocks inside private pools (CUDA graphs, MemPool), as PyTorch 2.4+ prints them.
    PrivatePools,
    /// `cached` of PyTorch 1.0–1.3: reserved and not handed out.
    Cached,
    /// MPS: what Metal holds beside the allocator's own.
    OtherAllocations,
    /// Ascend NPU: `current active`.
    CurrentActive,
    /// In use on the whole device or machine, by whomever.
    Used,
    /// A need that an engine computed: the KV cache for one full-length request, a buffer, a model.
    Needed,
    /// What an engine found available for that need. May be printed negative: then see the event's `negative_available`.
    Available,
    /// Memory asked for by a setting: `gpu_memory_utilization`, a pool size.
    Desired,
    /// Weights of the model, as loaded.
    Weights,
}

impl Fact {
    pub const ALL: [Fact; 24] = [
        Fact::Requested,
        Fact::Capacity,
        Fact::Limit,
        Fact::Free,
        Fact::Allocated,
        Fact::Reserved,
        Fact::ReservedUnallocated,
        Fact::Process,
        Fact::FractionLimit,
        Fact::Peak,
        Fact::LargestFreeChunk,
        Fact::TotalVm,
        Fact::AnonRss,
        Fact::FileRss,
        Fact::ShmemRss,
        Fact::PrivatePools,
        Fact::Cached,
        Fact::OtherAllocations,
        Fact::CurrentActive,
        Fact::Used,
        Fact::Needed,
        Fact::Available,
        Fact::Desired,
        Fact::Weights,
    ];

    /// The key in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Fact::Requested => "requested_bytes",
            Fact::Capacity => "capacity_bytes",
            Fact::Limit => "limit_bytes",
            Fact::Free => "free_bytes",
            Fact::Allocated => "allocated_bytes",
            Fact::Reserved => "reserved_bytes",
            Fact::ReservedUnallocated => "reserved_unallocated_bytes",
            Fact::Process => "process_bytes",
            Fact::FractionLimit => "fraction_limit_bytes",
            Fact::Peak => "peak_bytes",
            Fact::LargestFreeChunk => "largest_free_chunk_bytes",
            Fact::TotalVm => "total_vm_bytes",
            Fact::AnonRss => "anon_rss_bytes",
            Fact::FileRss => "file_rss_bytes",
            Fact::ShmemRss => "shmem_rss_bytes",
            Fact::PrivatePools => "private_pools_bytes",
            Fact::Cached => "cached_bytes",
            Fact::OtherAllocations => "other_allocations_bytes",
            Fact::CurrentActive => "current_active_bytes",
            Fact::Used => "used_bytes",
            Fact::Needed => "needed_bytes",
            Fact::Available => "available_bytes",
            Fact::Desired => "desired_bytes",
            Fact::Weights => "weights_bytes",
        }
    }
}

/// Another process that a message names, with what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessUse {
    pub pid: u64,
    pub figure: Figure,
}

/// The printed figures of one message. What is not in here was not printed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    pub sizes: BTreeMap<Fact, Figure>,
    /// Figures whose text was there but can be no size (an underflow, "not available").
    pub unreadable: BTreeMap<Fact, Span>,
    /// The device index as the program sees it, after `CUDA_VISIBLE_DEVICES`.
    pub device: Known<u32>,
    /// Every `Process N has X memory in use`, in the order printed. One of them may be the failing process itself.
    pub other_processes: Vec<ProcessUse>,
    /// The process that was killed or that failed, where a message names it.
    pub pid: Known<u64>,
    pub process_name: Known<String>,
    /// The task whose request started a kernel's report: not the culprit.
    pub trigger_process: Known<String>,
    /// The task that holds most in a kernel's table.
    pub largest_process: Known<String>,
    pub cgroup: Known<String>,
    /// Counts and ratios that are no sizes: tokens, exit codes, utilization; printed under `facts.extra`.
    pub numbers: BTreeMap<&'static str, (f64, Span)>,
}

impl Facts {
    pub fn get(&self, fact: Fact) -> Option<Figure> {
        self.sizes.get(&fact).copied()
    }

    /// Keeps the first figure printed for a fact.
    pub fn note(&mut self, fact: Fact, figure: Figure) {
        self.sizes.entry(fact).or_insert(figure);
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).map(|(value, _)| *value)
    }
}

/// Whether an event is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Memory ran out and an operation, process or job died of it.
    Failure,
    /// Something else broke because of a failure: a worker that exited after its parent died, a watchdog, a launcher's clean-up.
    Follower,
    /// A message about memory that is no failure: a warning, a retry that worked, an optional buffer refused.
    Harmless,
}

/// What a dialect noticed beyond figures. Causes weigh these; dialects only report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// The message prints no figures at all.
    NoFigures,
    /// The message breaks off or has parts left out.
    Cut,
    /// The request is so large that it can only be a size bug (PyTorch's "more than 1EB", 2^64 − x).
    AbsurdRequest,
    /// The request is the allocator's own minimum segment (2 MiB or 20 MiB): the tensor was smaller.
    MinimumSegment,
    /// The message says a fraction or limit refused the request before the driver was asked.
    RefusedByLimit,
    /// The message's tail shows that expandable segments were on.
    ExpandableSegmentsOn,
    /// PyTorch 2.15: the request exceeds `expandable_segments_reserve`.
    ExpandableReserve,
    /// PyTorch 2.15: a custom allocator behind a MemPool refused.
    CustomAllocator,
    /// The cudaMallocAsync backend.
    AsyncBackend,
    /// An error of cuBLAS, cuDNN, NCCL or the driver that hides an out-of-memory.
    Disguised,
    /// The error may have been raised by an earlier asynchronous operation.
    Asynchronous,
    /// Raised while creating a context or library handle, before any tensor.
    ContextCreation,
    /// A library other than the framework asked for the memory (NCCL, cuDNN workspace, TensorRT, Dr.Jit …).
    ForeignLibrary,
    /// Pinned (page-locked) host memory.
    PinnedHost,
    /// The program caught the failure and went on.
    CaughtAndContinued,
    /// A process died of SIGKILL with no word on memory: probably, not surely, the kernel's killer.
    KilledWithoutProof,
    /// The killer is proved by a kernel, cgroup or scheduler line.
    KilledWithProof,
    /// A data-loading worker process died or failed.
    DataLoaderWorker,
    /// A system running Windows (WDDM), where other processes are not listed and memory is virtualised.
    Windows,
    /// AMD HIP/ROCm wording.
    Hip,
    /// Apple MPS wording.
    Mps,
    /// Intel XPU wording.
    Xpu,
    /// Ascend NPU wording.
    Npu,
    /// The failure happened while an engine started or sized its pools.
    EngineStartup,
    /// The failure happened in profiling, warm-up or graph capture, after the weights were loaded.
    EngineWarmup,
    /// Unified memory: the device's memory is the machine's.
    UnifiedMemory,
    /// An address-space or commit limit (ulimit -v, page file) rather than RAM.
    AddressSpaceLimit,
    /// Another CUDA error than out-of-memory.
    OtherCudaError,
}

/// The versions of the program that can have printed a text, both ends inclusive, as (major, minor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    pub from: Option<(u16, u16)>,
    pub to: Option<(u16, u16)>,
}

impl std::fmt::Display for Versions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.from, self.to) {
            (Some(a), Some(b)) if a == b => write!(f, "{}.{}", a.0, a.1),
            (Some(a), Some(b)) => write!(f, "{}.{} … {}.{}", a.0, a.1, b.0, b.1),
            (Some(a), None) => write!(f, "≥ {}.{}", a.0, a.1),
            (None, Some(b)) => write!(f, "≤ {}.{}", b.0, b.1),
            (None, None) => write!(f, "?"),
        }
    }
}

/// One message of one program.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub standing: Standing,
    /// Slug of the message's shape, such as `pytorch-of-which`.
    pub dialect: &'static str,
    /// Lower-case name of the program whose memory ran out, as in the JSON contract.
    pub framework: &'static str,
    pub resource: Resource,
    /// Lines of the message.
    pub at: Span,
    pub rank: Option<u32>,
    /// The message on one line.
    pub message: String,
    pub facts: Facts,
    pub signs: BTreeMap<Sign, Span>,
    /// The program's versions that the wording proves.
    pub versions: Option<Versions>,
    /// For a harmless event: why it is no failure.
    pub harmless_because: Option<crate::text::Text>,
}

impl Event {
    pub fn new(dialect: &'static str, framework: &'static str, resource: Resource, at: Span) -> Event {
        Event {
            standing: Standing::Failure,
            dialect,
            framework,
            resource,
            at,
            rank: None,
            message: String::new(),
            facts: Facts::default(),
            signs: BTreeMap::new(),
            versions: None,
            harmless_because: None,
        }
    }

    pub fn has(&self, sign: Sign) -> bool {
        self.signs.contains_key(&sign)
    }

    pub fn sign(&mut self, sign: Sign) {
        self.signs.entry(sign).or_insert(self.at);
    }
}

/// A program family's reader.
pub struct Dialect {
    /// Name of the family, also the folder of its fixtures below `fixtures/logs`.
    pub name: &'static str,
    /// Literal strings of five bytes and more, one of which stands on the first line of each of its messages. Case counts,
    /// except in one that begins with `(?i)`. Hundreds cost little; a word that stands on every other line of a log costs
    /// much (see `input::scan`).
    pub triggers: &'static [&'static str],
    /// Reads the message that starts at or around `document.lines[position]`, a line that holds one of the triggers.
    /// Returns nothing when the line is not the start of one of the family's messages.
    pub read: fn(document: &Document, position: usize) -> Option<Event>,
}

/// Every dialect, in the order in which they are asked. The first that answers for a line wins, so a program that wraps
/// another one's message stands before it, and the errors that CUDA gives to any program stand last.
pub const DIALECTS: &[&Dialect] = &[
    &torch_host::DIALECT,
    &julia::DIALECT,
    &engines::vllm::DIALECT,
    &engines::sglang::DIALECT,
    &engines::tensorrt_llm::DIALECT,
    &engines::ollama::DIALECT,
    &engines::llama_cpp::DIALECT,
    &engines::others::DIALECT,
    &xla::DIALECT,
    &boosting::DIALECT,
    &cupy::DIALECT,
    &numba::DIALECT,
    &rapids::DIALECT,
    &paddle::DIALECT,
    &mxnet::DIALECT,
    &onnxruntime::DIALECT,
    &tensorrt::DIALECT,
    &triton_language::DIALECT,
    &triton_server::DIALECT,
    &opencv::DIALECT,
    &metal::DIALECT,
    &sycl::DIALECT,
    &rust_gpu::DIALECT,
    &simulation::DIALECT,
    &pytorch::DIALECT,
    &nccl_shm::DIALECT,
    &dataloader::DIALECT,
    &kernel::DIALECT,
    &slurm::DIALECT,
    &oom_daemons::DIALECT,
    &ray::DIALECT,
    &containers::DIALECT,
    &schedulers::DIALECT,
    &runtimes::DIALECT,
    &launcher::DIALECT,
    &cuda::DIALECT,
];

/// The trigger literals of all dialects, each once, and who asked for them.
struct Triggers {
    reader: Reader,
    /// For each literal the dialects, by their position in [`DIALECTS`], that asked for it.
    askers: Vec<Vec<usize>>,
}

/// Built on the first use, in a fifth of a millisecond.
static TRIGGERS: LazyLock<Triggers> = LazyLock::new(|| {
    let mut askers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, dialect) in DIALECTS.iter().enumerate() {
        for trigger in dialect.triggers {
            askers.entry(trigger).or_default().push(i);
        }
    }
    let reader = Reader::new(Literals::new(askers.keys().copied()));
    Triggers { reader, askers: askers.into_values().collect() }
});

/// Reads logs for the dialects: of a large one it keeps what stands around their triggers.
pub fn reader() -> &'static Reader {
    &TRIGGERS.reader
}

/// The trigger literals of all dialects, each once, sorted.
pub fn literals() -> Vec<&'static str> {
    let all: BTreeSet<&str> = DIALECTS.iter().flat_map(|dialect| dialect.triggers).copied().collect();
    all.into_iter().collect()
}

impl Document {
    /// Reads a text that is already in memory, as a test or another program does. All of its lines are kept. (It stands
    /// here because the dialects' triggers decide which quotes and escapes are undone.)
    pub fn from_text(source: &str, text: &str) -> Document {
        reader().text(source, text)
    }
}

/// A loop that fails and tries again can write tens of thousands of messages. What explains them stands in the first; how
/// it ended, in the last.
const FIRST_EVENTS: usize = 1024;
const LAST_EVENTS: usize = 512;
/// So many of a document's events are asked whether an engine's settings stand around them: the look takes hundreds of lines.
const INSIDE_ENGINES: usize = 48;

/// Reads the messages of a document, in order; of a flood the first and the last ones. A line that lies inside a message already read is not asked again, unless
/// another rank printed it.
pub fn events(document: &Document) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let Triggers { reader, askers } = &*TRIGGERS;
    let mut asked: Vec<usize> = Vec::new();
    for (position, line) in document.lines.iter().enumerate() {
        asked.clear();
        let _ = reader.literals().search(line.text.as_bytes(), |hit| {
            asked.extend(askers.get(hit.literal).into_iter().flatten());
            ControlFlow::Continue(())
        });
        if asked.is_empty() {
            continue;
        }
        let number = line.number;
        let read_already = |event: &Event| {
            event.at.first <= number && number <= event.at.last && (event.rank == line.rank || line.rank.is_none())
        };
        // The next messages of many ranks may stand between the lines of one, but not more than there are ranks on a node.
        if events.iter().rev().take(16).any(read_already) {
            continue;
        }
        asked.sort_unstable();
        asked.dedup();
        let mut event = asked.iter().find_map(|i| (DIALECTS[*i].read)(document, position));
        if let Some(event) = event.as_mut().filter(|_| events.len() < INSIDE_ENGINES) {
            engines::complete(document, event);
        }
        if let Some(event) = event
            && !events.iter().rev().take(16).any(|earlier| {
                earlier.at.first <= event.at.last
                    && event.at.first <= earlier.at.last
                    && earlier.dialect == event.dialect
                    && earlier.rank == event.rank
            })
        {
            events.push(event);
            if events.len() > FIRST_EVENTS + 2 * LAST_EVENTS {
                events.drain(FIRST_EVENTS..events.len() - LAST_EVENTS);
            }
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trigger_is_found() {
        for trigger in literals() {
            let text = trigger.trim_start_matches("(?i)");
            assert!(text.len() >= crate::input::SHORTEST, "{trigger} is too short to be found");
            for before in ["", "a", "ab", "\u{fffd}", "abcd"] {
                assert!(reader().literals().any(format!("{before}{text}").as_bytes()), "{trigger}");
            }
        }
        assert!(reader().literals().any(b"torch.cuda.OutOfMemoryError: x") && !reader().literals().any(b"all is well"));
        for words in ["out of memory", "OutOfMemoryError", "Killed process"] {
            assert!(reader().literals().any(words.as_bytes()), "{words}: a failure in any program's text");
        }
    }

    #[test]
    fn flood_of_messages_keeps_the_first_and_the_last() {
        let text = "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB.\n".repeat(5000);
        let events = events(&Document::from_text("-", &text));
        assert!(events.len() <= FIRST_EVENTS + 2 * LAST_EVENTS);
        assert_eq!(events.first().map(|event| event.at.first), Some(1));
        assert_eq!(events.last().map(|event| event.at.first), Some(5000));
    }

    #[test]
    fn a_line_inside_a_message_is_asked_again_only_for_another_rank() {
        let mut document = Document::from_text(
            "-",
            "CUDA out of memory. Tried to allocate 1.00 GiB.\nGPU 0 has a total\ncapacity of 4.00 GiB of which 1.00 MiB is free.",
        );
        assert_eq!(events(&document).len(), 1);
        let other = crate::input::Line {
            number: 2,
            text: "CUDA out of memory. Tried to allocate 3.00 GiB.".to_string(),
            rank: Some(1),
        };
        document.lines.iter_mut().for_each(|line| line.rank = Some(0));
        document.lines[1].number = 3;
        document.lines[2].number = 4;
        document.lines.insert(1, other);
        let ranks: Vec<_> = events(&document).iter().map(|event| (event.rank, event.at.last)).collect();
        assert_eq!(ranks, [(Some(0), 4), (Some(1), 2)]);
    }
}
