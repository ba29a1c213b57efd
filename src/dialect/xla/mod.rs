//! TensorFlow, JAX and EXLA. They share the allocator, the driver's lines and XLA's errors, and print one failure in
//! up to five places: the driver's refusal, the allocator's warning, its dump, the operation, the exception. All of it
//! is read as one event.
//!
//! One file per kind of text: [`bfc`] the allocator's lines and its dump, [`buffers`] XLA's account of a program's
//! buffers, [`tpu`] the TPU compiler's, [`cudnn`] handles that find no memory left.

mod bfc;
mod buffers;
mod cudnn;
mod family;
pub mod tensor;
mod tpu;

use super::notice::{Notice, settle};
use super::{Dialect, Event, Fact, Facts, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::{Known, Span};
use crate::input::{Document, Line};
use crate::text::Text;
use crate::units::Figure;

pub const DIALECT: Dialect = Dialect {
    name: "xla",
    triggers: &[
        "RESOURCE_EXHAUSTED",
        "OOM when",
        "out of memory",
        "Out of memory",
        "llocate ",
        "bfc_allocator",
        "Dst tensor is not",
        "onvolution algorithm",
        "cudnn handle",
        "create cublas handle",
        "OUT_OF_",
        "would exceed memory (size=",
        "Total hbm usage >=",
        "Attempting to reserve ",
    ],
    read,
};

/// Lines without a word of the failure after which it is over. A Python traceback stands between the allocator's dump
/// and the exception.
const SILENCE: usize = 150;
/// A dump has a line per chunk; a pool of a hundred thousand chunks has not been seen.
const LONGEST: usize = 60_000;

/// What a line says about the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Voice {
    /// The driver refused a piece: often a step of a back-off.
    Driver,
    /// The allocator refused, and the caller can do without.
    Optional,
    /// A part of the dump or of XLA's account.
    Account,
    /// The allocator refused.
    Allocator,
    /// The operation or the exception.
    Exception,
}

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    if let Some(event) = not_memory(line) {
        return Some(event);
    }
    if let Some(event) = cudnn::read(document, position) {
        return Some(event);
    }
    if let Some(event) = tpu::read(document, position) {
        return Some(event);
    }
    Failure::start(document, position)?.event()
}

/// True for the words of a quota and for HTTP's status of one, which stands by itself: `20429988310 bytes` holds its
/// digits as well.
fn speaks_of_a_quota(text: &str) -> bool {
    ["uota", "ate limit", "oo many requests"].iter().any(|word| text.contains(word))
        || text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "429")
}

/// gRPC and web services use the same status word for other quotas.
fn not_memory(line: &Line) -> Option<Event> {
    let text = &line.text;
    let exhausted = text.contains("RESOURCE_EXHAUSTED") || text.contains("esource exhausted");
    let (slug, en, zh) = if !exhausted {
        return None;
    } else if text.contains("message larger than max") {
        (
            "grpc-message-size",
            "a gRPC message exceeds the channel's size limit; memory did not run out",
            "gRPC 消息超过通道的大小上限，并非内存不足",
        )
    } else if !text.contains("ut of memory") && speaks_of_a_quota(text) {
        (
            "service-quota",
            "a web service's quota is used up; memory did not run out",
            "网络服务的配额已用尽，并非内存不足",
        )
    } else {
        return None;
    };
    let mut event = Event::new(slug, Program::Grpc, Resource::Host, Span::line(line.number));
    event.message = super::field::quoted(text);
    event.make_harmless(Text::new(en, zh));
    Some(event)
}

/// One failure while its lines are gathered.
struct Failure<'a> {
    document: &'a Document,
    position: usize,
    /// Position of the last line that spoke of it.
    last: usize,
    facts: Facts,
    /// The request by how well it is printed; the best one wins.
    request: Option<(Request, Figure)>,
    loudest: Voice,
    host: bool,
    /// The memory is named as a TPU's.
    tpu: bool,
    pinned: bool,
    /// A variable of the graph was being made.
    initializer: bool,
    driver_refused: bool,
    /// Not even a context could be made.
    context: bool,
    /// The words that the CPU's client uses, and older clients of GPUs.
    bare_words: bool,
    /// Its sentence without the status that it puts before it: other programs say the same.
    sentence: bool,
    /// Position of the line that says most, for the quote.
    quote: (Voice, usize),
    dump: bfc::Dump,
    buffers: buffers::Account,
}

/// Where a request was printed, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Request {
    /// By the driver's refusal: a step of the pool's growth.
    Driver,
    /// Product of a tensor's shape.
    Shape,
    /// With a unit.
    Rounded,
    /// In bytes, padded to the allocator's granularity.
    Padded,
    /// In bytes.
    Exact,
}

impl<'a> Failure<'a> {
    /// Gathers the failure whose first line stands at `position`.
    fn start(document: &'a Document, position: usize) -> Option<Failure<'a>> {
        let first = document.lines.get(position)?;
        let mut failure = Failure {
            document,
            position,
            last: position,
            facts: Facts::default(),
            request: None,
            loudest: Voice::Driver,
            host: false,
            pinned: false,
            initializer: false,
            driver_refused: false,
            tpu: false,
            context: false,
            bare_words: false,
            sentence: false,
            quote: (Voice::Driver, position),
            dump: bfc::Dump::default(),
            buffers: buffers::Account::default(),
        };
        let voice = failure.hear(position)?;
        failure.note(voice, position);
        let mut exception = voice == Voice::Exception;
        let mut silent = 0;
        let lines = document.lines.get(position + 1..)?;
        for (i, line) in lines.iter().take(LONGEST).enumerate() {
            if line.rank != first.rank && line.rank.is_some() && first.rank.is_some() {
                continue;
            }
            let at = position + 1 + i;
            // After the exception the same failure is only repeated; another refusal is another failure.
            if exception && bfc::refusal(&line.text).is_some_and(|r| failure.differs(r)) {
                break;
            }
            match failure.hear(at) {
                Some(voice) => {
                    failure.note(voice, at);
                    exception |= voice == Voice::Exception;
                    silent = 0;
                }
                None => {
                    silent += 1;
                    // A run that goes on has survived it.
                    if silent > SILENCE || exception && silent > 40 || family::progress(&line.text) {
                        break;
                    }
                }
            }
        }
        Some(failure)
    }

    fn differs(&self, bytes: u64) -> bool {
        self.request.is_some_and(|(_, known)| known.bytes.abs_diff(bytes) > known.half_width + known.bytes / 50)
    }

    fn note(&mut self, voice: Voice, at: usize) {
        self.last = at;
        self.loudest = self.loudest.max(voice);
        if voice > self.quote.0 {
            self.quote = (voice, at);
        }
    }

    fn ask(&mut self, kind: Request, figure: Figure) {
        if self.request.is_none_or(|(known, _)| kind > known) {
            self.request = Some((kind, figure));
        }
    }

    fn device(&mut self, index: Option<u64>, at: Span) {
        if let Some(index) = index.and_then(|i| u32::try_from(i).ok()) {
            self.facts.device.note(index, at);
        }
    }

    /// Reads one line; tells whether and how it speaks of the failure.
    fn hear(&mut self, position: usize) -> Option<Voice> {
        let line = self.document.lines.get(position)?;
        let text = line.text.as_str();
        if text.len() > 8192 && !text.contains("llocat") {
            return None;
        }
        let at = Span::line(line.number);
        if let Some(voice) = self.buffers.read(text, at) {
            return Some(voice);
        }
        if let Some(voice) = self.allocator(position, text, at) {
            return Some(voice);
        }
        if let Some(voice) = self.dump.read(text, at) {
            self.pinned |= self.dump.pinned_host;
            return Some(voice);
        }
        None
    }

    /// The driver's and the allocator's refusals, the operation's and the exception's words.
    fn allocator(&mut self, position: usize, text: &str, at: Span) -> Option<Voice> {
        use super::field::{after, number_after};
        if !self.worth_reading(text) {
            return None;
        }
        // `failed to allocate 343.34M (360015104 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY`
        if text.contains("from device:") && text.contains("failed to alloc") {
            if let Some(bytes) = text.split_once('(').and_then(|(_, rest)| super::field::leading_number(rest)) {
                self.ask(Request::Driver, Figure { bytes, half_width: 0, at });
            }
            self.driver_refused = true;
            return Some(Voice::Driver);
        }
        // `failed to alloc 1462056704 bytes unified memory; result: CUDA_ERROR_OUT_OF_MEMORY` (cuda_driver.cc, 2.4 on)
        if text.contains(" bytes unified memory") {
            if let Some(bytes) = number_after(text, "failed to alloc ") {
                self.ask(Request::Driver, Figure { bytes, half_width: 0, at });
            }
            self.driver_refused = true;
            return Some(Voice::Driver);
        }
        if text.contains("bytes on host:") && text.contains("failed to alloc") {
            return Some(Voice::Driver);
        }
        if let Some(rest) = after(text, "an out of memory trying to allocate ") {
            let harmless = text.contains("is not a failure")
                || super::field::text(self.document, position + 1).contains("is not a failure") && rest.len() < 60;
            if let Some(allocator) = text.split("Allocator (").nth(1).and_then(|rest| rest.split(')').next()) {
                self.place(allocator, at);
            }
            if harmless {
                return Some(Voice::Optional);
            }
            if let Some(size) = super::field::leading_size(rest, crate::units::Base::Binary) {
                self.ask(Request::Rounded, size.at(at));
            }
            if rest.contains("requested by op _EagerConst") {
                self.facts.numbers.entry(Number::ConstantCopied).or_insert((1.0, at));
            }
            if let Some(bytes) = number_after(rest, "(rounded to ") {
                self.ask(Request::Padded, Figure { bytes, half_width: 0, at });
            }
            return Some(Voice::Allocator);
        }
        if text.contains("OOM when allocating tensor") {
            let words = wrapped(self.document, position, 4);
            let from = words.find("OOM when allocating tensor").unwrap_or(0);
            let words = words.get(from..).unwrap_or_default();
            if let Some(bytes) = tensor::bytes(words) {
                self.ask(Request::Shape, Figure { bytes, half_width: 0, at });
            }
            if let Some(count) = tensor::elements(words) {
                self.facts.numbers.entry(Number::TensorElements).or_insert((count, at));
            }
            if let Some(first) = tensor::first_of_many(words) {
                self.facts.numbers.entry(Number::FirstDimension).or_insert((first as f64, at));
            }
            if let Some(side) = tensor::square(words) {
                self.facts.numbers.entry(Number::SquareSide).or_insert((side as f64, at));
            }
            if let Some(by) = after(words, "by allocator ").and_then(|rest| rest.split_whitespace().next()) {
                self.place(by, at);
            }
            // Of the nodes listed after the message the first is the one that failed; the others only take its result.
            let first_node = words.match_indices("[[").nth(1).map_or(words.len(), |(second, _)| second);
            let words = words.get(..first_node).unwrap_or(words);
            if let Some(rounds) = tensor::built_before(words) {
                self.facts.numbers.entry(Number::RoundsBefore).or_insert((rounds as f64, at));
            }
            if let Some(count) = tensor::variables(words) {
                self.facts.numbers.entry(Number::GraphVariables).or_insert((count as f64, at));
            }
            // A session that makes its variables assigns to each what its initializer gave.
            let assigns =
                (words.contains("/Assign = Assign[") || words.contains("/Assign}}")) && !words.contains("save/");
            self.initializer |= words.contains("/Initializer/") || words.contains("/initial_value") || assigns;
            let (gpu, cpu) = (words.find("device:GPU"), words.find("device:CPU"));
            if cpu.is_some_and(|cpu| gpu.is_none_or(|gpu| cpu < gpu)) {
                self.host = true;
            }
            let index = number_after(words, "device:GPU:").or_else(|| number_after(words, "device:CPU:"));
            self.device(index, at);
            return Some(Voice::Exception);
        }
        // XLA: `Out of memory while trying to allocate N bytes.`, on the CPU `Out of memory allocating N bytes.`
        if let Some(rest) = after(text, "Out of memory while trying to allocate ") {
            self.sentence |= !text.contains("xhausted") && !text.contains("XHAUSTED");
            self.exact_or_rounded(rest, at);
            return Some(Voice::Exception);
        }
        if text.contains("Out of memory allocating ") && text.contains(" bytes.") && !text.contains("allocated so far")
        {
            self.exact_or_rounded(after(text, "Out of memory allocating ")?, at);
            self.bare_words = true;
            self.sentence |= !text.contains("xhausted") && !text.contains("XHAUSTED");
            return Some(Voice::Exception);
        }
        if let Some(rest) = after(text, "Failed to allocate request for ") {
            self.exact_or_rounded(rest, at);
            self.device(number_after(rest, "device ordinal "), at);
            return Some(Voice::Exception);
        }
        // `cuMemAllocAsync failed to allocate N bytes`, with `Free memory/Total memory: F/T`.
        if let Some(rest) = after(text, "failed to allocate ").filter(|_| text.contains("AllocAsync")) {
            self.exact_or_rounded(rest, at);
            self.device(number_after(text, "gpu_async_"), at);
            self.async_memory(position, at);
            return Some(Voice::Allocator);
        }
        if text.contains("failed to allocate memory") && (text.contains("[Op:") || text.contains("ResourceExhausted")) {
            return Some(Voice::Exception);
        }
        if text.contains("Dst tensor is not initialized") {
            self.facts.numbers.entry(Number::ConstantCopied).or_insert((1.0, at));
            return Some(Voice::Exception);
        }
        // `Attempting to allocate 1.5G. That was not possible. There are 2.1G free.; (0x0x0_HBM0)`
        let attempt = after(text, "Attempting to allocate ").or_else(|| after(text, "Attempting to reserve "));
        if let Some(rest) = attempt.filter(|rest| rest.contains("not possible")) {
            self.tpu |= rest.contains("_HBM") || rest.contains("TPU");
            self.exact_or_rounded(rest, at);
            if let Some(size) = super::field::size_after(rest, "There are ", crate::units::Base::Binary) {
                self.facts.note(Fact::Free, size.at(at));
            }
            if let Some(size) =
                super::field::size_after(rest, "contiguous region of free memory is ", crate::units::Base::Binary)
            {
                self.facts.note(Fact::LargestFreeChunk, size.at(at));
            }
            // `There are 6.92G free, 0B reserved, and 3.40G reservable.`: so much lies in one piece at that end.
            if rest.contains(" reservable")
                && let Some(size) = super::field::size_after(rest, "reserved, and ", crate::units::Base::Binary)
            {
                self.facts.note(Fact::LargestFreeChunk, size.at(at));
            }
            self.memory_of_a_tpu(position);
            return Some(Voice::Exception);
        }
        // The first call of a process that finds no room for its context.
        if text.contains("failed. Status: out of memory") {
            self.device(number_after(text, "on GPU:"), at);
            self.context = true;
            return Some(Voice::Exception);
        }
        if text.contains("failed call to cuDevicePrimaryCtxRetain") && text.contains("OUT_OF_MEMORY") {
            self.device(number_after(text, "device ordinal "), at);
            self.context = true;
            return Some(Voice::Exception);
        }
        let exhausted = text.contains("RESOURCE_EXHAUSTED") || text.contains("esource exhausted");
        if text.contains("hared memory size limit") {
            return None;
        }
        if exhausted && let Some(rest) = after(text, "ailed to allocate ") {
            self.exact_or_rounded(rest, at);
            return Some(Voice::Exception);
        }
        if exhausted && (text.contains("emory") || text.contains("OOM")) {
            return Some(Voice::Exception);
        }
        if text.contains("ResourceExhaustedError") && text.contains("rror:") || text.contains("OP_REQUIRES failed") {
            return (self.loudest >= Voice::Allocator || text.contains("exhausted")).then_some(Voice::Exception);
        }
        None
    }

    fn worth_reading(&self, text: &str) -> bool {
        [
            "llocat",
            "emory",
            "exhausted",
            "EXHAUSTED",
            "OOM",
            "Dst tensor",
            "OP_REQUIRES",
            "OUT_OF_MEMORY",
            "ed to alloc",
        ]
        .iter()
        .any(|word| text.contains(word))
    }

    fn exact_or_rounded(&mut self, rest: &str, at: Span) {
        let Some(size) = super::field::leading_size(rest, crate::units::Base::Binary) else { return };
        let kind = if size.half_width == 0 { Request::Exact } else { Request::Rounded };
        self.ask(kind, size.at(at));
        // `17.71GiB (19016122368B)`, `12.50GiB (13421772800 bytes)`
        if let Some(open) = rest.find('(').filter(|open| *open < 24)
            && let Some(bytes) = super::field::leading_number(&rest[open + 1..])
            && kind == Request::Rounded
        {
            self.ask(Request::Exact, Figure { bytes, half_width: 0, at });
        }
    }

    /// The allocator's name tells the memory: `GPU_0_bfc`, `cuda_host_bfc`, `cpu`.
    fn place(&mut self, allocator: &str, at: Span) {
        if allocator.contains("host_bfc") || allocator.contains("Host") {
            self.host = true;
            self.pinned = true;
        } else if allocator.starts_with("cpu") || allocator.starts_with("mklcpu") || allocator.starts_with("CPU") {
            self.host = true;
        } else if let Some(rest) = allocator.split("GPU_").nth(1) {
            self.device(super::field::leading_number(rest), at);
        }
    }

    fn async_memory(&mut self, position: usize, at: Span) {
        let words = wrapped(self.document, position, 4);
        let Some(rest) = super::field::after(&words, "Free memory/Total memory:") else { return };
        // It stands on a line of its own, below the message.
        let mut told = self.document.lines.iter().skip(position).take(4);
        let at = told.find(|line| line.text.contains("Total memory")).map_or(at, |line| Span::line(line.number));
        let mut parts = rest.splitn(2, '/');
        let exactly = |part: Option<&str>| part.and_then(|p| super::field::leading_number(p.trim()));
        let free = exactly(parts.next());
        let total = exactly(parts.next());
        if let (Some(free), Some(total)) = (free, total) {
            self.facts.note(Fact::Free, Figure { bytes: free, half_width: 0, at });
            self.facts.note(Fact::Capacity, Figure { bytes: total, half_width: 0, at });
        }
        self.facts.numbers.entry(Number::AsyncAllocator).or_insert((1.0, at));
    }

    /// The account that TPU's runtime puts below a program that it could not load: `HBM capacity 8.00G:`,
    /// `Currently allocated: 5.96G ( 6,402,281,472 bytes)`, `Program requirement: …`.
    fn memory_of_a_tpu(&mut self, position: usize) {
        const LINES: usize = 8;
        for line in self.document.lines.iter().skip(position + 1).take(LINES) {
            let at = Span::line(line.number);
            let told = |label: &str| {
                let rest = super::field::after(&line.text, label)?;
                let bytes =
                    super::field::after(rest, "(").and_then(|bytes| super::field::leading_number(bytes.trim_start()));
                let exact = bytes.map(|bytes| Figure { bytes, half_width: 0, at });
                exact
                    .or_else(|| Some(super::field::leading_size(rest.trim_start(), crate::units::Base::Binary)?.at(at)))
            };
            if let Some(whole) = told("HBM capacity ") {
                self.facts.note(Fact::Capacity, whole);
            }
            if let Some(held) = told("Currently allocated:") {
                self.facts.note(Fact::Allocated, held);
            }
            if let Some(asked) = told("Program requirement:") {
                self.ask(Request::Exact, asked);
            }
        }
    }

    fn event(mut self) -> Option<Event> {
        let start = self.document.lines.get(self.position)?;
        let end = self.document.lines.get(self.last)?;
        let span = Span::lines(start.number, end.number);
        let around = family::Surroundings::of(self.document, self.position, self.last);
        if self.sentence && !around.speaks() {
            return None;
        }
        let program = around.program(self.facts.numbers.contains_key(&Number::TensorElements));
        self.host |= self.pinned || self.bare_words && !self.driver_refused && !self.facts.device.is_known();
        let resource = if self.host { Resource::Host } else { Resource::Gpu };
        let silent = match self.loudest {
            Voice::Optional => true,
            // A back-off that the run survived, or whose exception is not in the log: the run went on.
            Voice::Driver => around.goes_on || self.only_host_retries(),
            _ => false,
        };
        let slug = match (program, self.loudest) {
            (_, Voice::Driver) => "xla-driver-refused",
            (_, Voice::Optional) => "tensorflow-optional-refused",
            (Program::Tensorflow, _) if self.dump.seen => "tensorflow-bfc-dump",
            (Program::Tensorflow, _) => "tensorflow-oom",
            (_, _) if self.host => "xla-cpu-out-of-memory",
            (_, _) if self.buffers.seen => "xla-buffer-assignment",
            _ => "xla-out-of-memory",
        };
        let mut event = Event::new(slug, program, resource, span);
        event.rank = start.rank;
        event.message = super::field::quoted(&wrapped(self.document, self.quote.1, 1));
        if silent {
            event.sign(Sign::CaughtAndContinued);
            event.make_harmless(if self.loudest == Voice::Optional {
                Text::new(
                    "an optional scratch buffer was refused; the caller says that this is no failure, and none follows",
                    "可选的临时缓冲区申请被拒绝，调用方注明这不是错误，其后也没有失败",
                )
            } else {
                Text::new(
                    "a pool tried a smaller size after each refusal; no operation failed",
                    "内存池在每次被拒后改用更小的大小重试，没有操作失败",
                )
            });
            return Some(event);
        }
        if self.loudest == Voice::Driver {
            event.sign(Sign::PoolGrowthRefused);
        }
        around.startup_figures(&mut self.facts);
        self.dump.finish(&mut self.facts);
        self.buffers.finish(&mut self.facts);
        if program != Program::Tensorflow && around.program {
            self.facts.numbers.entry(Number::WholeProgram).or_insert((1.0, span));
        }
        let request = self.request.map(|(_, figure)| figure).or(self.dump.requested);
        event.facts = self.facts;
        if let Some(figure) = request {
            event.facts.note(Fact::Requested, figure);
        }
        if !event.facts.device.is_known()
            && let Some(index) = self.dump.device
        {
            event.facts.device = Known::Seen(index, span);
        }
        if self.pinned {
            event.sign(Sign::PinnedHost);
        }
        if self.initializer {
            event.sign(Sign::Initializer);
        }
        if self.tpu {
            event.sign(Sign::Tpu);
        }
        if self.context {
            event.sign(Sign::ContextCreation);
            event.sign(Sign::Disguised);
        }
        if event.message.contains("Dst tensor") {
            event.sign(Sign::Disguised);
        }
        settle(&mut event);
        Some(event)
    }

    /// Windows: tries for pinned host memory that shrink, with nothing after them.
    fn only_host_retries(&self) -> bool {
        !self.driver_refused
    }
}

/// Up to `count` lines from `position` on as one.
fn wrapped(document: &Document, position: usize, count: usize) -> String {
    super::field::unwrapped(document, position, count)
}

/// Reads a short text of this family that stands on a few lines.
fn notice(document: &Document, position: usize, lines: usize) -> Option<Notice> {
    Notice::at(document, position, lines)
}
