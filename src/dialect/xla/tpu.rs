//! The TPU compiler's and runtime's refusals: `Ran out of memory in memory space hbm. Used U of C hbm.` and its kin.
//! Sizes are powers of 1024 with one letter (`55.24G`).

use super::family::Surroundings;
use crate::dialect::notice::{Notice, settle};
use crate::dialect::{Event, Fact, Resource, Sign, field};
use crate::domain::{Number, Program};
use crate::input::Document;

/// Lines within which the list of the largest buffers begins.
const LISTED: usize = 40;

pub fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    const SPARSE: &str = "TPU TensorCore Hbm usage:";
    if line.text.trim_start().starts_with(USAGE) {
        return cut_head(document, position);
    }
    let about = line.text.contains("memory space ")
        || line.text.contains(SPARSE)
        || line.text.contains("would exceed memory (size=");
    if !about {
        return None;
    }
    let notice = super::notice(document, position, 16)?;
    let text = &notice.text;
    let exhausted = notice.starts_any(&["RESOURCE_EXHAUSTED", "Resourceexhausted"]);
    if let Some(from) = notice.starts("TPUTensorCoreHbmusage:") {
        let (dense, end) = notice.size("Hbmusage:", from)?;
        let mut event = notice.event("xla-tpu-sparsecore", Program::Jax, Resource::Gpu, exhausted.unwrap_or(from), end);
        event.facts.numbers.insert(Number::Tensorcore, (dense.bytes as f64, dense.at));
        if let Some((sparse, end)) = notice.size("SparseCoreHbmusage", end) {
            event.facts.numbers.insert(Number::Sparsecore, (sparse.bytes as f64, sparse.at));
            event.at.last = event.at.last.max(text.span(from, end).last);
        }
        if let Some((capacity, end)) = notice.size("exceedingavailablebytes:", from) {
            event.facts.note(Fact::Capacity, capacity);
            event.message = text.readable(exhausted.unwrap_or(from), end, 600);
        }
        return Some(finish(document, position, event));
    }
    if let Some(from) = notice.starts("Allocation(size=") {
        let (requested, end) = notice.size("Allocation(size=", from)?;
        let mut event = notice.event("xla-tpu-allocation", Program::Jax, Resource::Gpu, exhausted.unwrap_or(from), end);
        event.facts.note(Fact::Requested, requested);
        if let Some((capacity, end)) = notice.size("wouldexceedmemory(size=", end) {
            event.facts.note(Fact::Capacity, capacity);
            event.message = text.readable(exhausted.unwrap_or(from), end + 1, 600);
        }
        return Some(finish(document, position, event));
    }
    let from = notice.starts("memoryspace")?;
    let space = text.squeezed.get(from + "memoryspace".len()..)?;
    // `Ran out of memory in memory space hbm.`, `Ran out of memory in memory space vmem while allocating on stack …`
    let on_chip = space.starts_with("vmem") || space.starts_with("smem");
    let start = exhausted.or_else(|| notice.starts("Ranoutofmemory")).unwrap_or(from).min(from);
    let resource = if on_chip { Resource::CudaSharedMemory } else { Resource::Gpu };
    let mut end = from + "memoryspace".len();
    let mut event = notice.event("xla-tpu-compile", Program::Jax, resource, start, end);
    if let Some((used, at)) = notice.size("Used", from) {
        event.facts.note(Fact::Requested, used);
        end = at;
        let of = text.squeezed.get(at..).is_some_and(|rest| rest.starts_with("of"));
        if let Some((capacity, at)) = notice.size_at(at + 2).filter(|_| of) {
            event.facts.note(if on_chip { Fact::Limit } else { Fact::Capacity }, capacity);
            end = at;
        }
    }
    // A kernel's scratchpad: `Scoped allocation with size 24.50M and limit 16.00M exceeded scoped vmem limit …`
    for (fact, words) in [(Fact::Requested, "Scopedallocationwithsize"), (Fact::Limit, "andlimit")] {
        if let Some((figure, at)) = notice.size(words, from).filter(|_| on_chip) {
            event.facts.note(fact, figure);
            end = end.max(at);
        }
    }
    with_parts(document, position, &notice, start, from..end, event)
}

/// How the table of what a program takes begins, which is printed with a refusal alone.
const USAGE: &str = "Total hbm usage >=";

/// That table without the refusal above it.
fn cut_head(document: &Document, position: usize) -> Option<Event> {
    let above = document.lines.get(position.saturating_sub(LISTED)..position)?;
    // What the runtime reserves for a program that is compiled tells of its own request.
    let refusals = ["memory space ", "Attempting to reserve ", "Attempting to allocate "];
    if above.iter().any(|line| refusals.iter().any(|words| line.text.contains(words))) {
        return None;
    }
    let notice = super::notice(document, position, 16)?;
    let from = notice.starts("Totalhbmusage>=")?;
    let (used, end) = notice.size("Totalhbmusage>=", from)?;
    let mut event = notice.event("xla-tpu-compile", Program::Jax, Resource::Gpu, from, end);
    event.facts.note(Fact::Requested, used);
    event.sign(Sign::Cut);
    with_parts(document, position, &notice, from, from..end, event)
}

/// An event of which a part of the notice is read, with what the table behind it tells; its text begins at `start`.
fn with_parts(
    document: &Document,
    position: usize,
    notice: &Notice,
    start: usize,
    read: std::ops::Range<usize>,
    mut event: Event,
) -> Option<Event> {
    let (from, mut end) = (read.start, read.end);
    // The parts: `reserved 260.00M`, `program 55.24G`, `arguments 0B`, `HLO temp 54.99G`.
    let parts = [
        ("reserved", Number::ReservedByRuntime),
        ("arguments", Number::Parameter),
        ("program", Number::ProgramTotal),
        ("HLOtemp", Number::Temp),
        ("Outputsize", Number::Output),
        ("Exceededhbmcapacityby", Number::ExceededBy),
    ];
    for (words, name) in parts {
        if let Some((size, at)) = notice.size(words, from) {
            event.facts.numbers.entry(name).or_insert((size.bytes as f64, size.at));
            end = end.max(at);
        }
    }
    // `Largest program allocations in hbm: 1. Size: 32.00G`: the first of the list is the largest.
    let below = super::notice(document, position, LISTED)?;
    if let Some(list) = below.text.find("Largestprogramallocations", 0)
        && let Some((size, _)) = below.size("1.Size:", list)
    {
        event.facts.numbers.entry(Number::LargestBuffer).or_insert((size.bytes as f64, size.at));
        // `Extra memory due to padding: 31.00G (32.0x expansion)`, of the first; the program's own sum otherwise.
        let expansion = below.size("Extramemoryduetopadding:", list).and_then(|(_, end)| {
            let second = below.text.find("2.Size:", list).unwrap_or(usize::MAX);
            (end < second).then(|| below.text.decimal_at(below.text.after("(", end.saturating_sub(1))?)).flatten()
        });
        field::note_number(&mut event, Number::PaddingFactor, expansion.map(|(factor, _)| factor));
    }
    // `HLO temp 11.18G (1.2% utilization: Unpadded (143.06M) Padded (11.18G), …`
    let sums = notice.size("Unpadded(", from).zip(notice.size(")Padded(", from));
    if let Some(((data, _), (padded, _))) = sums.filter(|((data, _), _)| data.bytes > 0) {
        let factor = padded.bytes as f64 / data.bytes as f64;
        field::note_number(&mut event, Number::PaddingFactor, Some((factor * 10.0).round() / 10.0));
    }
    event.at.last = event.at.last.max(notice.text.span(from, end).last);
    event.message = notice.text.readable(start, end, 600);
    Some(finish(document, position, event))
}

fn finish(document: &Document, position: usize, mut event: Event) -> Event {
    // The same compiler serves TensorFlow.
    if Surroundings::of(document, position, position).only_tensorflow() {
        event.program = Program::Tensorflow;
    }
    event.sign(Sign::Tpu);
    settle(&mut event);
    event
}
