//! The message of the caching allocators: `CUDA out of memory. Tried to allocate …` and its kin for HIP, XPU and NPU.
//!
//! Two shapes, in many versions: a list in parentheses (1.0 … 2.0, and NPU) and sentences (2.1 on). Both are read by
//! their own words wherever these stand, because people cut, wrap and reorder messages.
//! (`c10/cuda/CUDACachingAllocator.cpp`, `c10/xpu/XPUCachingAllocator.cpp`, `torch_npu`'s `NPUCachingAllocator.cpp`.)

use super::{LONGEST_TEXT, Reader, wording, writeup};
use crate::dialect::joined::{Joined, Printed};
use crate::dialect::{Event, Fact, ProcessUse, Resource, Sign};
use crate::domain::Program;
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::units::{Base, MIB};

/// Whose allocator speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Device {
    Cuda,
    Hip,
    Xpu,
    Npu,
    /// Another accelerator with PyTorch's wording (MLU, MUSA, …).
    Other,
}

/// Squeezed words that name the device in front of `out of memory`.
const DEVICES: [(&str, Device); 9] = [
    ("CUDA", Device::Cuda),
    ("HIP", Device::Hip),
    ("XPU", Device::Xpu),
    ("NPU", Device::Npu),
    ("MLU", Device::Other),
    ("MUSA", Device::Other),
    ("GCU", Device::Other),
    ("cuda", Device::Cuda),
    ("Cuda", Device::Cuda),
];

const OUT_OF_MEMORY: &str = "outofmemory";
const TRIED: &str = "Triedtoallocate";

/// Reads the message that stands at or around a line. Wrapping programs' dialects use it to take the figures of the
/// PyTorch message that they pass on.
pub fn read(document: &Document, position: usize) -> Option<Event> {
    if !names_a_device(document, position) {
        return None;
    }
    let first = first_line(document, position)?;
    let hit = document.lines.get(first).and_then(|line| hit_in(&line.text)).unwrap_or(0);
    let text = super::window(document, first, hit);
    let Some(message) = Message::locate(&text) else { return class_alone(document, position) };
    let mut event = message.read(&text)?;
    event.rank = document.lines.get(first).and_then(|line| line.rank);
    if event.has(Sign::Cut) && event.facts.get(Fact::Requested).is_some() {
        writeup::complete(document, &mut event);
    }
    let no_figures = event.facts.sizes.is_empty() && event.facts.unreadable.is_empty();
    if no_figures && !event.has(Sign::AbsurdRequest) {
        let line = document.lines.get(first)?;
        if !stands_as_a_message(&line.text) {
            return None;
        }
        event.message = Joined::of([line], 0).readable(0, usize::MAX, LONGEST_TEXT);
        event.sign(Sign::NoFigures);
    }
    if goes_on(document, &event) {
        event.sign(Sign::CaughtAndContinued);
    }
    Some(event)
}

/// A quick look, so that the kernel's and other programs' `out of memory` costs little: false where neither the line
/// nor the end of the one before it has any word of an allocator's message.
fn names_a_device(document: &Document, position: usize) -> bool {
    let Some(line) = document.lines.get(position) else { return false };
    let before = position.checked_sub(1).and_then(|before| document.lines.get(before));
    line.text.contains("Tried to allocate")
        || line.text.contains("total capac")
        || line.text.contains("OutOfMemoryError")
        || DEVICES.iter().any(|(word, _)| {
            line.text.contains(word) || before.is_some_and(|before| before.text.trim_end().ends_with(word))
        })
        // Torn between `out of memory.` and `Tried`.
        || line.text.trim_end().ends_with("memory.")
}

/// An exception's class that ends a log, its message lost: `torch.OutOfMemoryError`.
fn class_alone(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    let class = line.text.trim().trim_end_matches(':');
    if class != "torch.OutOfMemoryError" && class != "torch.cuda.OutOfMemoryError" {
        return None;
    }
    let mut event = Event::new("pytorch-bare", Program::Pytorch, Resource::Gpu, Span::line(line.number));
    event.message = class.to_string();
    event.sign(Sign::NoFigures);
    let mut range = wording::Range::default();
    wording::narrow_by_class(&mut range, Some(&format!("{class}:")));
    event.versions = range.learned();
    Some(event)
}

/// The byte offset of the first of the message's words in a line.
fn hit_in(line: &str) -> Option<usize> {
    ["out of memory", "Tried to allocate", "total capac", "OutOfMemoryError"].iter().filter_map(|w| line.find(w)).min()
}

/// The position of the line that the message starts on: the line itself, or one of the three before it when the
/// words `out of memory` stand there, whole or torn.
fn first_line(document: &Document, position: usize) -> Option<usize> {
    let line = document.lines.get(position)?;
    let rank = line.rank;
    let own = super::window(document, position, hit_in(&line.text).unwrap_or(0));
    if let Some(at) = own.find(OUT_OF_MEMORY, 0)
        && own.line_at(at) == line.number
    {
        return Some(position);
    }
    let Some(tail) = own.find(TRIED, 0).or_else(|| own.find("totalcapac", 0)) else {
        return line.text.contains("OutOfMemoryError").then_some(position);
    };
    if own.line_at(tail) != line.number {
        return None;
    }
    for back in 1..=3 {
        let Some(start) = position.checked_sub(back) else { break };
        if document.lines[start].rank != rank {
            break;
        }
        let lines = Joined::of(&document.lines[start..=position], 0);
        let Some(at) = lines.squeezed.rfind(OUT_OF_MEMORY) else { continue };
        let end = at + OUT_OF_MEMORY.len();
        let near = [TRIED, "totalcapac"].iter().any(|words| lines.find(words, end).is_some_and(|t| t <= end + 200));
        if near && lines.line_at(at) == document.lines[start].number {
            return Some(start);
        }
    }
    Some(position)
}

/// Where a message stands in its joined text.
struct Message {
    /// The start of the message, the exception class included where it stands right in front.
    from: usize,
    /// The start of `out of memory` or, where the beginning is lost, of the first field.
    core: usize,
    /// The start of whatever comes next.
    to: usize,
    device: Device,
    class: Option<&'static str>,
}

impl Message {
    fn locate(text: &Joined) -> Option<Message> {
        // Other words of the same kind may stand in front: `ran out of memory with exception: CUDA out of memory. …`.
        let mut from = 0;
        while let Some(core) = text.find(OUT_OF_MEMORY, from) {
            if let Some(message) = Message::around(text, core) {
                return Some(message);
            }
            from = core + OUT_OF_MEMORY.len();
            if text.find_starting_before(OUT_OF_MEMORY, text.end_of_first_line()).is_none_or(|first| first >= from) {
                break;
            }
        }
        // The beginning is lost: only the figures make it recognisable.
        if from > 0 || !(text.contains("hasatotalcapac") || text.contains("totalcapacity;")) {
            return None;
        }
        let core = text.find(TRIED, 0).or_else(|| text.find("GPU", 0))?;
        let to = text.find(TRIED, core + TRIED.len()).unwrap_or(text.squeezed.len());
        // Intel's extension puts its own refusal there.
        let refused = text.squeezed.get(..core).is_some_and(|before| before.ends_with("withsizelargerthan4GB!"));
        let device = if refused { Device::Xpu } else { Device::Cuda };
        Some(Message { from: core, core, to, device, class: None })
    }

    /// The message whose words `out of memory` stand at `core`, if they are an allocator's.
    fn around(text: &Joined, core: usize) -> Option<Message> {
        let after = core + OUT_OF_MEMORY.len();
        let before = text.squeezed.get(..core)?;
        let told = DEVICES.iter().find(|(word, _)| before.ends_with(word));
        let tried = text.find(TRIED, core);
        // Words that PyTorch never put there (`Memory cgroup out of memory`) are someone else's.
        let device = match told {
            Some((_, device)) => *device,
            None if tried.is_some_and(|at| at <= after + 8) => Device::Other,
            None => return None,
        };
        let start = core - told.map_or(0, |(word, _)| word.len());
        let (class, from) = wording::class(text.squeezed.get(..start)?);
        let second_try = tried.and_then(|at| text.find(TRIED, at + TRIED.len()));
        let next = text.find(OUT_OF_MEMORY, after);
        let to = [second_try, next].into_iter().flatten().min().unwrap_or(text.squeezed.len());
        Some(Message { from, core, to, device, class })
    }

    fn read(&self, text: &Joined) -> Option<Event> {
        let mut fields = Reader::new(text, self.core, self.to);
        fields.reach((self.core + OUT_OF_MEMORY.len()).min(self.to));
        let mut range = wording::Range::default();
        let mut signs = Vec::new();

        if let Some(at) = fields.find(TRIED) {
            if !fields.size_after(Fact::Requested, TRIED) && fields.has("Triedtoallocatemorethan1EB") {
                signs.push(Sign::AbsurdRequest);
                range.since((1, 9));
                fields.reach(at + "Triedtoallocatemorethan1EBmemory.".len());
            }
            fields.reach(at + TRIED.len());
        }
        if fields.has("preemptivelyrejected") {
            signs.push(Sign::RefusedByLimit);
            range.since((2, 12));
            fields.size_after(Fact::Requested, "Requestedsize:");
        }
        let sentences = fields.sentences(&mut range);
        let list = !sentences && fields.list(&mut range);
        let complete = if sentences {
            fields.has("byPyTorchbutunallocated")
        } else if list {
            fields.has("reservedintotal") || fields.has("cached)")
        } else {
            signs.contains(&Sign::AbsurdRequest) || signs.contains(&Sign::RefusedByLimit)
        };
        fields.tail(&mut range, &mut signs);
        fields.close();
        wording::narrow_by_class(&mut range, self.class);

        let slug = match (self.device, sentences, list) {
            _ if signs.contains(&Sign::AbsurdRequest) => "pytorch-more-than-1eb",
            _ if signs.contains(&Sign::RefusedByLimit) => "pytorch-preemptively-rejected",
            (Device::Npu, ..) => "pytorch-npu",
            (Device::Xpu, ..) => "pytorch-xpu",
            (_, true, _) if fields.has("capacty") => "pytorch-capacty",
            (_, true, _) => "pytorch-of-which",
            (_, _, true) if fields.has("cached)") => "pytorch-cached",
            (_, _, true) => "pytorch-reserved-in-total",
            _ if fields.facts.sizes.is_empty() => "pytorch-bare",
            _ => "pytorch-cut",
        };
        let mut event = Event::new(slug, Program::Pytorch, Resource::Gpu, text.span(self.from, fields.reached));
        event.message = text.readable(self.from, fields.reached, LONGEST_TEXT);
        if fields.facts.unreadable.contains_key(&Fact::Requested) {
            signs.push(Sign::AbsurdRequest);
        }
        if !complete && fields.facts.get(Fact::Requested).is_some() || fields.elided() {
            signs.push(Sign::Cut);
        }
        event.facts = fields.facts;
        match self.device {
            Device::Hip => signs.push(Sign::Hip),
            Device::Xpu => signs.push(Sign::Xpu),
            Device::Npu => signs.push(Sign::Npu),
            Device::Cuda | Device::Other => {}
        }
        let least = [2 * MIB, 20 * MIB];
        if event.facts.get(Fact::Requested).is_some_and(|figure| least.contains(&figure.bytes)) {
            signs.push(Sign::MinimumSegment);
        }
        for sign in signs {
            event.sign(sign);
        }
        // torch_npu and the XPU allocator have wordings of their own, whose history differs.
        if matches!(self.device, Device::Cuda | Device::Hip) {
            event.versions = range.learned();
        }
        Some(event)
    }
}

impl Reader<'_> {
    /// `GPU d has a total capacity of … of which … is free. …` (2.1 on). True when it is that shape.
    fn sentences(&mut self, range: &mut wording::Range) -> bool {
        let Some(total) = self.find("hasatotalcapac") else {
            // 2.3 printed the index as a raw byte: as a C string the message of GPU 0 ends after `GPU `.
            if let Some(at) = self.find(TRIED)
                && let Some((_, end)) = self.text.size_at(at + TRIED.len(), Base::Binary)
                && self.text.squeezed.get(end..self.to).is_some_and(|rest| rest.starts_with(".GPU"))
            {
                let end = end + ".GPU".len();
                if end >= self.to || self.text.line_at(end) > self.text.line_at(end - 1) {
                    range.between((2, 3), (2, 3));
                    self.reach(end);
                    return true;
                }
            }
            return false;
        };
        self.index_before(total, range);
        let spelt = self.text.squeezed.get(total..).unwrap_or_default();
        if spelt.starts_with("hasatotalcapacty") {
            range.between((2, 1), (2, 1));
        } else if spelt.starts_with("hasatotalcapacity") {
            range.since((2, 2));
        }
        let word = "hasatotal".len() + spelt["hasatotal".len()..].bytes().take_while(u8::is_ascii_alphabetic).count();
        if let Some((printed, end)) = self.text.size_at(total + word, Base::Binary) {
            self.keep(Fact::Capacity, printed);
            self.reach(end);
        }
        self.size_before(Fact::Free, "isfree");
        self.size_after(Fact::Process, "thisprocesshas");
        if let Some(at) = self.find("thisprocesshas").and_then(|at| self.text.find("memoryinuse", at)) {
            self.reach(at + "memoryinuse.".len());
        }
        self.other_processes();
        if self.size_before(Fact::FractionLimit, "allowed;") {
            range.since((2, 5));
        }
        if !self.size_after(Fact::Allocated, "Oftheallocatedmemory") {
            self.size_before(Fact::Allocated, "isallocatedbyPyTorch");
        }
        if self.size_before(Fact::PrivatePools, "allocatedinprivatepools") {
            range.since((2, 4));
        }
        self.size_before(Fact::ReservedUnallocated, "isreservedbyPyTorch");
        if let Some(at) = self.find("byPyTorchbutunallocated") {
            self.reach(at + "byPyTorchbutunallocated.".len());
        }
        true
    }

    /// The device index in front of `has a total capacity`.
    fn index_before(&mut self, total: usize, range: &mut wording::Range) {
        let before = self.text.squeezed.get(..total).unwrap_or_default();
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        if let Ok(index) = before[before.len() - digits..].parse::<u32>() {
            self.facts.device = Known::Seen(index, self.text.span(total - digits, total));
            return;
        }
        // 2.3 printed the index as a raw byte, which may have been lost on the way.
        if before.ends_with("GPU") {
            range.between((2, 3), (2, 3));
        }
    }

    /// Every `Process N has X memory in use`.
    fn other_processes(&mut self) {
        let mut from = self.from;
        while let Some(at) = self.text.find("Process", from).filter(|at| *at < self.to) {
            from = at + "Process".len();
            let Some((pid, end)) = self.text.count_at(from) else { continue };
            let Some(end) = self.text.find("has", end).filter(|has| *has == end).map(|has| has + "has".len()) else {
                continue;
            };
            if let Some((printed, end)) = self.text.size_at(end, Base::Binary) {
                if let Printed::Size(figure) = printed {
                    self.facts.other_processes.push(ProcessUse { pid, figure });
                }
                self.reach(end + "memoryinuse.".len());
            }
        }
    }

    /// `(GPU d; … total capacity; … already allocated; … free; … reserved in total by PyTorch)` (1.0 … 2.0, NPU).
    /// True when it is that shape.
    fn list(&mut self, range: &mut wording::Range) -> bool {
        for word in ["(GPU", "(NPU", "(XPU", "(MLU", "(MUSA"] {
            if let Some((index, end)) = self.find(word).and_then(|at| self.text.count_at(at + word.len()))
                && let Ok(index) = u32::try_from(index)
            {
                self.facts.device = Known::Seen(index, self.text.span(end - 1, end));
                self.reach(end);
            }
        }
        // The brackets went lost in a write-up: `GPU 0; 8.00 GiB total capacity; …`.
        if !self.facts.device.is_known()
            && let Some((index, end)) = self.find("GPU").and_then(|at| self.text.count_at(at + "GPU".len()))
            && self.text.squeezed.get(end..).is_some_and(|rest| rest.starts_with(';'))
            && let Ok(index) = u32::try_from(index)
        {
            self.facts.device = Known::Seen(index, self.text.span(end - 1, end));
        }
        let capacity = self.size_before(Fact::Capacity, "totalcap");
        let allocated = self.size_before(Fact::Allocated, "alreadyallocated");
        if !capacity && !allocated {
            return false;
        }
        self.size_before(Fact::CurrentActive, "currentactive");
        self.size_before(Fact::Free, "free");
        if self.size_before(Fact::FractionLimit, "allowed") {
            range.since((1, 8));
        }
        if self.size_before(Fact::Reserved, "reservedintotal") {
            range.between((1, 4), (2, 0));
            if let Some(at) = self.find("reservedintotalbyPyTorch") {
                self.reach(at + "reservedintotalbyPyTorch)".len());
            }
        } else if self.size_before(Fact::Cached, "cached") {
            range.between((1, 0), (1, 3));
        } else {
            range.until((2, 0));
        }
        true
    }

    /// The hint at the end, which tells the version and the mode of the allocator.
    fn tail(&mut self, range: &mut wording::Range, signs: &mut Vec<Sign>) {
        const ENDS: [&str; 10] = [
            "#environment-variables)",
            "alloc-conf)",
            "andPYTORCH_CUDA_ALLOC_CONF",
            "andPYTORCH_HIP_ALLOC_CONF",
            "expandable_segments_reserve_by_class.",
            "returnednullptr.",
            "MemoryManagement",
            "avoidfragmentation.",
            "expandable_segments:True",
            "foravoidfragmentation",
        ];
        // The hint follows its message closely; one further down is another's.
        let from = self.reached;
        let near = |at: &usize| *at <= from + 900;
        let has =
            |reader: &Self, words: &str| reader.text.find(words, from).filter(near).is_some_and(|at| at < reader.to);
        if has(self, "Ifreservedmemoryis>>allocatedmemory") {
            range.between((1, 10), (2, 0));
        } else if self.facts.sizes.contains_key(&Fact::Reserved) && self.closed_list() {
            range.until((1, 9));
        }
        // The place of the failure stood in the message as long as it held the stack.
        if has(self, "(mallocat") {
            range.until((1, 5));
        }
        if has(self, "Ifreservedbutunallocatedmemoryislargetrysettingmax_split_size_mb") {
            range.between((2, 1), (2, 1));
        }
        if has(self, "trysettingPYTORCH_ALLOC_CONF=expandable_segments") {
            range.since((2, 10));
            if has(self, "#environment-variables") {
                range.until((2, 10));
            }
        } else if has(self, "trysettingPYTORCH_CUDA_ALLOC_CONF=expandable_segments") {
            range.since((2, 2));
            if has(self, "#environment-variables") {
                range.until((2, 9));
            }
        } else if has(self, "trysettingPYTORCH_HIP_ALLOC_CONF=expandable_segments") {
            range.since((2, 2));
        }
        if has(self, "#optimizing-memory-usage") {
            range.since((2, 11));
        }
        if has(self, "expandable_segmentsisenabled.") {
            signs.push(Sign::ExpandableSegmentsOn);
            range.since((2, 15));
        }
        if has(self, "exceedstheexpandable-segmentreserve") {
            signs.push(Sign::ExpandableReserve);
            signs.push(Sign::ExpandableSegmentsOn);
            range.since((2, 15));
            if let Some(at) = self.text.find("exceedstheexpandable-segmentreserve", from) {
                let end = self.text.find("atleast", at).and_then(|at| self.text.size_at(at + 7, Base::Binary));
                self.reach(end.map_or(at, |(_, end)| end + 1));
            }
        }
        if has(self, "ThecustomallocatorbackingthisMemPoolreturnednullptr") {
            signs.push(Sign::CustomAllocator);
            range.since((2, 15));
        }
        let end = ENDS
            .iter()
            .filter_map(|end| self.text.find(end, from).filter(near).map(|at| at + end.len()))
            .filter(|end| *end <= self.to)
            .max();
        if let Some(end) = end {
            self.reach(end);
        }
    }

    /// True when the list's closing parenthesis ends its line, so that a hint would have shown.
    fn closed_list(&self) -> bool {
        let Some(at) = self.find("reservedintotalbyPyTorch)") else { return false };
        let end = at + "reservedintotalbyPyTorch)".len();
        end >= self.text.squeezed.len() || self.text.line_at(end) > self.text.line_at(end - 1)
    }
}

/// True when a line with the words but no figures is a message and not source code, advice or a mention.
fn stands_as_a_message(line: &str) -> bool {
    const MARKS: &[char] = &['*', '`', '"', '\'', '#', ' ', '“', '”'];
    let line = line.trim_matches(MARKS);
    let Some(at) = line.find("out of memory") else {
        // Torn right inside the words: the class in front must vouch for it.
        return line.contains("OutOfMemoryError:");
    };
    if crate::dialect::mention::is_code_or_advice(line, at) {
        return false;
    }
    let before = line[..at].trim_end().trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let after = line[at + "out of memory".len()..].trim_start();
    let ended = after.is_empty() || after.starts_with(['.', '!', ')', '\'', '"', '(', ',', ';', '*', '`', '。', '，']);
    let passed_on =
        ["occurred", "when ", "while ", "during ", "error", "on "].iter().any(|word| after.starts_with(word));
    let raised = before.is_empty() || before.ends_with([':', '：', '(', '>', '|', ']', '-', '.', '…', '\'']);
    let blamed = ["rror", "ailed", "xception", "FATAL", "报错"].iter().any(|word| line.contains(word));
    raised && (ended || passed_on) || ended && blamed
}

/// True when the failing line or one of the three after it says that the program went on without what failed.
fn goes_on(document: &Document, event: &Event) -> bool {
    const WORDS: [&str; 13] = [
        "skipping",
        "Skipping",
        "skipped",
        "retrying",
        "Retrying",
        "Failed (",
        "falling back",
        "Falling back",
        "continuing with",
        "跳过",
        "ecreasing batch size",
        "educing batch size",
        "rying again",
    ];
    let Some(from) = document.position(event.at.first) else { return false };
    let Some(to) = document.position(event.at.last) else { return false };
    let near = document.lines.get(from..to.saturating_add(4).min(document.lines.len())).unwrap_or_default();
    // nnU-Net says what it does about it before it prints the error that it caught.
    let announced = from.checked_sub(1).and_then(|before| document.lines.get(before)).is_some_and(|before| {
        let lower = before.text.to_ascii_lowercase();
        lower.contains("memory") && ["moving", "falling back", "retrying"].iter().any(|word| lower.contains(word))
    });
    announced || near.iter().any(|line| WORDS.iter().any(|word| line.text.contains(word)))
}
