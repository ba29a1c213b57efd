//! The backend `cudaMallocAsync` (2.0 on): `Allocation on device 0 would exceed allowed memory. (out of memory)` and up
//! to six lines of figures (`c10/cuda/CUDAMallocAsyncAllocator.cpp`).
//!
//! It prints what was really requested, unrounded, and no reserved figure. 2.3 … 2.9 print the device index as a raw
//! byte, so that Python shows no more than `Allocation on device ` for the first GPU.

use super::{LONGEST_TEXT, Reader, wording};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::evidence::Known;
use crate::input::Document;

pub fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    let hit = line.text.find("Allocation on device")?;
    let text = super::window(document, position, hit);
    const WORDS: &str = "Allocationondevice";
    let core = text.find(WORDS, 0)?;
    let (class, from) = wording::class(text.squeezed.get(..core)?);
    let end = core + WORDS.len();
    let exceeds = text.find("wouldexceedallowedmemory", end).filter(|at| *at <= end + 4);
    // Cut by the raw index, the words end their line; anything else after them is prose.
    let cut_by_index = line.text.trim_end().ends_with("Allocation on device");
    if exceeds.is_none() && !cut_by_index {
        return None;
    }
    let to = text.find(WORDS, end).unwrap_or(text.squeezed.len());
    let mut fields = Reader::new(&text, core, to);
    fields.reach(end);
    let mut range = wording::Range::default();
    range.since((2, 0));
    // Where they end it, a number that follows is the next line's.
    if let Some((index, after)) = text.count_at(end).filter(|_| !cut_by_index) {
        fields.facts.device =
            u32::try_from(index).map_or(Known::default(), |index| Known::Seen(index, text.span(end, after)));
    } else {
        range.between((2, 3), (2, 9));
    }
    if let Some(at) = exceeds {
        let after = at + "wouldexceedallowedmemory".len();
        let end = text.find("(outofmemory)", after).filter(|at| *at <= after + 2);
        fields.reach(end.map_or(after, |at| at + "(outofmemory)".len()));
    }
    fields.size_after(Fact::Allocated, "Currentlyallocated:");
    fields.size_after(Fact::Requested, "Requested:");
    fields.size_after(Fact::Capacity, "Devicelimit:");
    fields.size_after(Fact::Free, "Free(accordingtoCUDA):");
    let complete = fields.size_after(Fact::FractionLimit, "user-suppliedmemoryfraction):");
    // All ones stand for "no fraction set", which is no unreadable figure.
    fields.facts.unreadable.remove(&Fact::FractionLimit);
    wording::narrow_by_class(&mut range, class);

    let mut event =
        Event::new("pytorch-malloc-async", Program::Pytorch, Resource::Gpu, text.span(from, fields.reached));
    event.message = text.readable(from, fields.reached, LONGEST_TEXT);
    event.sign(Sign::AsyncBackend);
    if fields.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    }
    if !complete {
        event.sign(Sign::Cut);
    }
    event.facts = fields.facts;
    event.versions = range.learned();
    Some(event)
}
