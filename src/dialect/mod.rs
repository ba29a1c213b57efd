//! One file per program family: it recognises that family's texts and yields events with figures. Dialects never judge.

pub mod allocators;
mod bare;
pub mod boosting;
pub mod compilers;
pub mod containers;
mod counted;
pub mod cuda;
pub mod cupy;
pub mod dataloader;
mod doubt;
pub mod engines;
pub mod field;
pub mod jittor;
pub mod joined;
mod julia;
pub mod kernel;
mod labelled;
pub mod launcher;
pub mod macos;
pub mod mention;
pub mod metal;
pub mod mxnet;
pub mod naming;
pub mod nccl_shm;
pub mod net;
pub mod notebooks;
pub mod notice;
pub mod numba;
pub mod onnxruntime;
pub mod oom_daemons;
pub mod opencv;
mod options;
pub mod paddle;
pub mod proof;
pub mod pytorch;
pub mod rapids;
pub mod ray;
mod recase;
mod record;
mod rewrap;
pub mod runtimes;
pub mod rust_gpu;
mod said;
pub mod schedulers;
pub mod services;
mod setting;
mod shells;
pub mod simulation;
pub mod slurm;
pub mod solvers;
pub mod stated;
pub mod sycl;
pub(crate) mod syslog;
pub mod tensorrt;
pub mod torch_host;
pub mod triton_language;
pub mod triton_server;
pub mod windows;
mod wording;
pub mod wordings;
pub mod xla;

use crate::domain::program::{Kind, Meter, PROCESS_METER, PytorchAllocator};
use crate::domain::{Accelerator, Program};
use crate::evidence::{Known, Span};
use crate::input::{Document, Literals, Reader};
use crate::units::{Base, Figure};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::LazyLock;

pub use crate::domain::{Fact, Number, Resource, Sign};

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
    /// The setting that the message says to raise, as one writes it: `CacheSize = <more>`.
    pub setting: Known<String>,
    /// Counts and ratios that are no sizes: tokens, exit codes, utilization; printed under `facts.extra`.
    pub numbers: BTreeMap<Number, (f64, Span)>,
}

impl Facts {
    pub fn get(&self, fact: Fact) -> Option<Figure> {
        self.sizes.get(&fact).copied()
    }

    /// Forgets the figures from line `from` on that another reading of the same message does not bear out.
    fn keep_agreed(&mut self, other: &Facts, from: u64) {
        self.sizes.retain(|fact, figure| {
            figure.at.first < from || other.get(*fact).is_some_and(|known| known.bytes == figure.bytes)
        });
    }

    /// Keeps the first figure printed for a fact.
    pub fn note(&mut self, fact: Fact, figure: Figure) {
        self.sizes.entry(fact).or_insert(figure);
    }

    pub fn number(&self, number: Number) -> Option<f64> {
        self.numbers.get(&number).map(|(value, _)| *value)
    }
}

/// Whether an event is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Memory ran out and an operation, process or job died of it.
    Failure,
    /// Something else broke because of a failure: a worker that exited after its parent died, a watchdog, a launcher's
    /// clean-up.
    Follower,
    /// A message about memory that is no failure: a warning, a retry that worked, an optional buffer refused.
    Harmless,
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
    /// Slug of the message's shape, such as `pytorch-of-which`. For reports only: what a shape means is a sign or a
    /// fact.
    dialect: &'static str,
    /// The program whose memory ran out.
    pub program: Program,
    /// Who runs on it, where `program` is a language's runtime, one of its libraries or the system.
    pub caller: Option<Program>,
    pub resource: Resource,
    /// Lines of the message.
    pub at: Span,
    pub rank: Option<u32>,
    /// The message on one line.
    pub message: String,
    /// The line on which the message begins, where it is not the first of [`Event::at`]: an allocator's warnings may
    /// stand above the exception that is quoted.
    pub quoted_at: Option<u64>,
    pub facts: Facts,
    pub signs: BTreeMap<Sign, Span>,
    /// The program's versions that the wording proves.
    pub versions: Option<Versions>,
    /// For a harmless event: why it is no failure.
    pub harmless_because: Option<crate::text::Text>,
}

impl Event {
    pub fn new(dialect: &'static str, program: Program, resource: Resource, at: Span) -> Event {
        Event {
            standing: Standing::Failure,
            dialect,
            program,
            caller: None,
            resource,
            at,
            rank: None,
            message: String::new(),
            quoted_at: None,
            facts: Facts::default(),
            signs: BTreeMap::new(),
            versions: None,
            harmless_because: None,
        }
    }

    /// The slug of the message's shape, for reports: no diagnosis may rest on it.
    pub fn wording(&self) -> &'static str {
        self.dialect
    }

    /// Gives the message the slug of another shape.
    fn rename(&mut self, dialect: &'static str) {
        self.dialect = dialect;
    }

    /// True when both are messages of one shape.
    pub fn same_wording(&self, other: &Event) -> bool {
        self.dialect == other.dialect
    }

    pub fn has(&self, sign: Sign) -> bool {
        self.signs.contains_key(&sign)
    }

    /// True where what ran out is a number of things: no input of another size makes a difference.
    pub fn ran_out_of_a_count(&self) -> bool {
        self.has(Sign::SessionsRanOut) || self.has(Sign::HandlesRanOut)
    }

    /// True where at least so many other processes are listed whose ids follow on one another, and on this one's where
    /// it is told: one launcher started them. Each starts threads while the next one is still to come.
    pub fn lists_ids_in_a_row(&self, least: u64) -> bool {
        const BETWEEN: u64 = 16;
        let ids = || self.facts.other_processes.iter().map(|other| other.pid).chain(self.facts.pid.value());
        let others = self.facts.other_processes.len() as u64;
        others >= least && ids().min().zip(ids().max()).is_some_and(|(first, last)| last - first <= others + BETWEEN)
    }

    /// The family of the device: by what the message speaks of, else by the program; NVIDIA's where neither tells.
    pub fn accelerator(&self) -> Accelerator {
        let signs = [
            (Sign::Hip, Accelerator::Hip),
            (Sign::Mps, Accelerator::Mps),
            (Sign::Xpu, Accelerator::Xpu),
            (Sign::Npu, Accelerator::Npu),
            (Sign::Tpu, Accelerator::Tpu),
        ];
        let spoken = signs.into_iter().find(|(sign, _)| self.has(*sign)).map(|(_, accelerator)| accelerator);
        let metal = ["ggml_metal", "ggml_backend_metal", "Metal buffer"].iter().any(|word| self.message.contains(word));
        // `device xpu:0`: the index under which PyTorch names it.
        let by_name = [("xpu:", Accelerator::Xpu), ("npu:", Accelerator::Npu)];
        let by_name = by_name.into_iter().find(|(name, _)| self.message.contains(name)).map(|(_, named)| named);
        let spoken = spoken.or(metal.then_some(Accelerator::Mps)).or(by_name).or(self.program.accelerator());
        spoken.unwrap_or(if self.on_any_vendors_device() { Accelerator::Any } else { Accelerator::Cuda })
    }

    /// True where the message speaks of a driver's interface that every vendor implements.
    fn on_any_vendors_device(&self) -> bool {
        // MindSpore's pool words its refusals alike on Ascend and on NVIDIA's.
        matches!(self.program, Program::Vulkan | Program::OpenCl | Program::WebGpu | Program::Wgpu | Program::Mindspore)
            || ["VK_ERROR", "ulkan", "CL_MEM_OBJECT", "clCreateBuffer", "WebGPU", "vc4-drm", "[drm]", "i915 "]
                .iter()
                .any(|word| self.message.contains(word))
    }

    /// True where the message itself says that memory ran out.
    pub fn says_out_of_memory(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        [
            "out of memory",
            "out_of_memory",
            "out-of-memory",
            "outofmemory",
            "out_of_device_memory",
            "insufficient memory",
        ]
        .iter()
        .any(|words| message.contains(words))
    }

    /// The line to print beside the message.
    pub fn line(&self) -> u64 {
        self.quoted_at.unwrap_or(self.at.first)
    }

    /// Where the program's user reads how much of what ran out it uses.
    pub fn meter(&self) -> Meter {
        if self.resource.on_host() { PROCESS_METER } else { self.program.meter(self.accelerator()) }
    }

    /// True where the memory is PyTorch's caching allocator, as far as the program or the figures tell.
    pub fn on_pytorch(&self) -> bool {
        match self.program.pytorch_allocator() {
            PytorchAllocator::Yes => true,
            PytorchAllocator::Sometimes => self.facts.get(Fact::Allocated).is_some(),
            PytorchAllocator::No => false,
        }
    }

    pub fn sign(&mut self, sign: Sign) {
        self.signs.entry(sign).or_insert(self.at);
    }

    /// Makes it one that did no harm, and says why.
    pub fn make_harmless(&mut self, because: crate::text::Text) {
        self.standing = Standing::Harmless;
        self.harmless_because = Some(because);
    }

    /// Makes it the failure that it is after all, by what is known of the job besides.
    pub fn make_failure(&mut self) {
        self.standing = Standing::Failure;
        self.harmless_because = None;
    }
}

/// A program family's reader.
pub struct Dialect {
    /// Name of the family, also the folder of its fixtures below `fixtures/logs`.
    pub name: &'static str,
    /// Literal strings of five bytes and more, one of which stands on the first line of each of its messages. Case
    /// counts, except in one that begins with `(?i)`. Hundreds cost little; a word that stands on every other line of a
    /// log costs much (see `input::scan`).
    pub triggers: &'static [&'static str],
    /// Reads the message that starts at or around `document.lines[position]`, a line that holds one of the triggers.
    /// Returns nothing when the line is not the start of one of the family's messages.
    pub read: fn(document: &Document, position: usize) -> Option<Event>,
}

/// Every dialect, in the order in which they are asked. The first that answers for a line wins, so a program that wraps
/// another one's message stands before it, and the errors that CUDA gives to any program stand last.
pub const DIALECTS: &[&Dialect] = &[
    &wordings::DIALECT,
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
    &jittor::DIALECT,
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
    &solvers::DIALECT,
    &pytorch::DIALECT,
    &nccl_shm::DIALECT,
    &dataloader::DIALECT,
    &kernel::DIALECT,
    &slurm::DIALECT,
    &oom_daemons::DIALECT,
    &ray::DIALECT,
    &containers::DIALECT,
    &schedulers::DIALECT,
    &windows::DIALECT,
    &macos::DIALECT,
    &compilers::DIALECT,
    &allocators::DIALECT,
    &services::DIALECT,
    &notebooks::DIALECT,
    &runtimes::DIALECT,
    &launcher::DIALECT,
    &cuda::DIALECT,
    &net::DIALECT,
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

/// A loop that fails and tries again can write tens of thousands of messages. What explains them stands in the first;
/// how it ended, in the last.
const FIRST_EVENTS: usize = 1024;
const LAST_EVENTS: usize = 512;
/// So many of a document's events are asked whether an engine's settings stand around them: the look takes hundreds of
/// lines.
const INSIDE_ENGINES: usize = 48;

/// So many lines the net is asked about before it counts as a flood: each look takes hundreds of lines.
const MOST_LOOKS: usize = 1024;

/// Reads the messages of a document, in order; of a flood the first and the last ones. A line that lies inside a
/// message already read is not asked again, unless another rank printed it.
pub fn events(document: &Document) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let Triggers { reader, askers } = &*TRIGGERS;
    let mut asked: Vec<usize> = Vec::new();
    let mut looks = 0;
    for (position, line) in document.lines.iter().enumerate() {
        asked.clear();
        let _ = reader.literals().search(line.text.as_bytes(), |hit| {
            asked.extend(askers.get(hit.literal).into_iter().flatten());
            ControlFlow::Continue(())
        });
        for hit in torn(document, position, reader.literals()) {
            asked.extend(askers.get(hit).into_iter().flatten());
        }
        if asked.is_empty() || mention::is_passed_test(&line.text) || mention::is_of_a_metric(&line.text) {
            continue;
        }
        let number = line.number;
        let read_already = |event: &Event| {
            event.at.first <= number && number <= event.at.last && (event.rank == line.rank || line.rank.is_none())
        };
        // The next messages of many ranks may stand between the lines of one, but not more than there are ranks on a
        // node.
        if events.iter().rev().take(16).any(read_already) {
            continue;
        }
        asked.sort_unstable();
        asked.dedup();
        // The net looks far ahead: of a flood it is asked about the beginning and the end.
        let spent = looks > MOST_LOOKS && position + LAST_EVENTS < document.lines.len();
        looks += usize::from(asked.iter().any(|i| std::ptr::eq(DIALECTS[*i], &net::DIALECT)));
        let look = Look { inside_engine: events.len() < INSIDE_ENGINES, spent };
        let mut event = look.read(document, position, &asked);
        let lowered = |event: &Event| !event.message.bytes().any(|byte| byte.is_ascii_uppercase());
        let poor = |event: &Event| event.has(Sign::Generic) || wordings::read_on_one_line(event) || lowered(event);
        if !spent && event.as_ref().is_none_or(poor) {
            looks += 1;
            let read_to = events.iter().rev().take(16).map(|event| event.at.last).max().unwrap_or(0);
            event = look.mended(document, position, event, read_to);
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
    net::yield_to_known(&mut events);
    net::doubt_the_unknown(document, &mut events);
    for event in &mut events {
        event.quoted_at = event.quoted_at.or_else(|| quoted_at(document, event));
    }
    events
}

/// Letters and digits by which a message is found again in its lines.
const RECOGNISED_BY: usize = 24;
/// Lines that are searched for it: a dump of an allocator may have tens of thousands.
const SEARCHED: usize = 4096;

/// The line on which an event's message begins, where it is another than the event's first.
fn quoted_at(document: &Document, event: &Event) -> Option<u64> {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let wanted: String = plain(&event.message).chars().take(RECOGNISED_BY).collect();
    let from = document.position(event.at.first)?;
    let lines = document.lines.get(from..)?.iter().take_while(|line| line.number <= event.at.last).take(SEARCHED);
    let found = lines.filter(|_| wanted.len() == RECOGNISED_BY).find(|line| plain(&line.text).contains(&wanted))?;
    (found.number != event.at.first).then_some(found.number)
}

/// How closely a line is looked at.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// Whether an engine's settings are looked for around an event.
    inside_engine: bool,
    /// The net is asked no more.
    spent: bool,
}

impl Look {
    /// The event that the first of the dialects that were asked for reads at a line.
    fn read(self, document: &Document, position: usize, asked: &[usize]) -> Option<Event> {
        let is_net = |i: &usize| std::ptr::eq(DIALECTS[*i], &net::DIALECT);
        let mut event = asked
            .iter()
            .filter(|i| !(self.spent && is_net(i)))
            .find_map(|i| (DIALECTS[*i].read)(document, position))?;
        // `heap out of memory` in a list of changes.
        if event.facts.sizes.is_empty() && net::shows_a_file(document, position) {
            return None;
        }
        if self.inside_engine {
            engines::complete(document, &mut event);
            options::complete(document, position, &mut event);
        }
        if event.program.kind() == Kind::GpuApi {
            // The interface's own error: whoever called it is named by the lines around.
            let line = field::text(document, position);
            let caller = match event.program {
                // What stands around NCCL's message is as often another rank's, or the launcher's.
                Program::Cuda if event.has(Sign::Nccl) => naming::exception(line),
                // The compiler's refusal: whoever runs it shows as little as it does itself.
                _ if event.resource == Resource::CudaSharedMemory => None,
                _ => naming::caller(document, position),
            };
            event.program = caller.unwrap_or(event.program);
            if event.resource == Resource::Gpu && net::asks_host(line) {
                event.resource = Resource::Host;
                event.sign(Sign::PinnedHost);
            }
        }
        // The interface's words carry no figures; those that the program put beside them are told by their own words.
        let foreign = matches!(event.program, Program::Unlisted(_) | Program::Windows | Program::Python)
            || event.program.kind() == Kind::Runtime
            || event.program.kind() == Kind::GpuApi;
        if self.inside_engine && foreign && !event.has(Sign::Generic) {
            if solvers::counts_numbers(&event) {
                // They have no unit.
            } else if event.facts.sizes.is_empty() {
                net::read_figures(document, position, &mut event, field::text(document, position), Base::Binary);
            } else {
                net::read_state(document, position, &mut event);
            }
            if !event.facts.sizes.is_empty() {
                event.signs.remove(&Sign::NoFigures);
            }
        }
        let killed = matches!(event.program.kind(), Kind::OomKiller | Kind::Scheduler);
        // What is built on a framework has a name of its own.
        let framework = event.program.kind() == Kind::TrainingFramework;
        if !self.spent && self.inside_engine {
            let caller = match event.program.runs_others() || killed {
                true => naming::runs_on(document, position, event.program),
                false if framework => naming::built_on(document, position, event.program),
                false => None,
            };
            event.caller = caller.or_else(|| naming::fork(document, position, event.program));
        }
        if !self.spent && net::survived(document, position, &event) {
            event.sign(Sign::CaughtAndContinued);
            event.make_harmless(net::got_over());
        }
        if event.message.contains("NCCL") {
            event.sign(Sign::Nccl);
        }
        setting::complete(document, position, &mut event);
        counted::complete(document, position, &mut event);
        // What is free or there in all is no EiB: a counter ran below nought.
        let sizes = [Fact::Free, Fact::Available, Fact::Capacity];
        event.facts.sizes.retain(|fact, figure| !sizes.contains(fact) || figure.bytes < said::EXBIBYTE);
        let beyond = |asked: Figure| asked.bytes >= said::EXBIBYTE;
        if event.facts.get(Fact::Requested).map_or_else(|| event.asks_beyond_any_machine(), beyond) {
            event.sign(Sign::AbsurdRequest);
        }
        doubt::settle(document, &mut event);
        Some(event)
    }

    /// What the line tells in the case in which programs print it, or as a part of a paragraph that was broken, where
    /// that is more than it tells alone.
    /// `read_to` is the last line of the messages already read: no paragraph reaches back into them.
    fn mended(self, document: &Document, position: usize, alone: Option<Event>, read_to: u64) -> Option<Event> {
        let mut best = alone;
        let mut others = Vec::new();
        for mended in recase::mended(document, position).into_iter().chain(rewrap::mended(document, position)) {
            let Some(line) = mended.document.lines.get(mended.position).filter(|line| line.number > read_to) else {
                continue;
            };
            let asked = askers_of(&line.text);
            let Some(mut event) = self.read(&mended.document, mended.position, &asked) else { continue };
            let better = match &best {
                None => !self.next_tells(document, position, &event),
                Some(known) if known.standing != Standing::Failure => false,
                Some(_) if mended.doubtful || event.standing != Standing::Failure => false,
                Some(known) if known.has(Sign::Generic) && !event.has(Sign::Generic) => true,
                Some(known) if !known.has(Sign::Generic) && event.has(Sign::Generic) => false,
                // A paragraph that reaches back tells more, or the line stands for itself.
                Some(known) if event.at.first < known.at.first => {
                    event.facts.sizes.len() > known.facts.sizes.len() || !known.has(Sign::Generic)
                }
                Some(known) => known.same_wording(&event) || event.facts.sizes.len() >= known.facts.sizes.len(),
            };
            if better {
                // What stands in front of the message in a paragraph takes no name from it.
                let known = best.as_ref().map(|known| known.program);
                if event.program == Program::Generic
                    && let Some(known) = known.filter(|known| matches!(known, Program::Unlisted(_)))
                {
                    event.program = known;
                }
                event.at.last = event.at.last.max(mended.last);
                event.message = recase::as_printed(&event.message, field::text(document, position));
                best = Some(event);
                break;
            }
            if mended.joined && event.has(Sign::Generic) {
                others.push(event);
            }
        }
        // Whether a line was broken here, nobody knows: what a figure is must not depend on it.
        if let Some(best) = best.as_mut().filter(|best| best.has(Sign::Generic)) {
            // What the lines above the message tell is no part of it.
            others.iter().for_each(|other| best.facts.keep_agreed(&other.facts, best.at.first));
        }
        best
    }

    /// True where the next line tells as much by itself: the message begins there, and the line above is another's that
    /// happens to be as long as some others.
    fn next_tells(self, document: &Document, position: usize, joined: &Event) -> bool {
        let Some(next) = document.lines.get(position + 1) else { return false };
        let alone = self.read(document, position + 1, &askers_of(&next.text));
        alone.is_some_and(|alone| alone.same_wording(joined) && alone.facts.sizes.len() >= joined.facts.sizes.len())
    }
}

/// The dialects, by their position in [`DIALECTS`], whose triggers stand in a text.
fn askers_of(text: &str) -> Vec<usize> {
    let Triggers { reader, askers } = &*TRIGGERS;
    let mut asked = Vec::new();
    let _ = reader.literals().search(text.as_bytes(), |hit| {
        asked.extend(askers.get(hit.literal).into_iter().flatten());
        ControlFlow::Continue(())
    });
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// The trigger literals that a wrap tore in two: they begin at the end of the line at `position` and go on in the next
/// of its rank.
fn torn(document: &Document, position: usize, literals: &Literals) -> Vec<usize> {
    /// No terminal is narrower.
    const NARROWEST: usize = 40;
    /// The longest literals are somewhat shorter.
    const SEAM: usize = 40;
    let Some(line) = document.lines.get(position).filter(|line| line.text.len() >= NARROWEST) else {
        return Vec::new();
    };
    let next = document.lines[position + 1..].iter().take(4).find(|next| next.rank == line.rank);
    let Some(next) = next.map(|next| next.text.trim_start()).filter(|next| !next.is_empty()) else {
        return Vec::new();
    };
    let end = line.text.trim_end().as_bytes();
    let end = &end[end.len().saturating_sub(SEAM)..];
    let begin = &next.as_bytes()[..next.len().min(SEAM)];
    let mut found = Vec::new();
    for blank in [&b""[..], b" "] {
        let seam = [end, blank, begin].concat();
        let _ = literals.search(&seam, |hit| {
            if hit.at < end.len() && hit.at + hit.length > end.len() + blank.len() {
                found.push(hit.literal);
            }
            ControlFlow::Continue(())
        });
    }
    found
}

#[cfg(test)]
pub(crate) mod testing {
    use super::Event;
    use crate::input::Document;

    /// The first message that a reader finds in a log, whichever literals lead to it.
    pub fn first(read: fn(&Document, usize) -> Option<Event>, log: &str) -> Option<Event> {
        let document = Document::from_text("-", log);
        (0..document.lines.len()).find_map(|position| read(&document, position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trigger_is_found() {
        for trigger in literals() {
            let text = trigger.trim_start_matches("(?i)");
            assert!(text.len() >= crate::input::scan::SHORTEST, "{trigger} is too short to be found");
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
