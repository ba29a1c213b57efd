//! Apple's Metal backend: `MPS backend out of memory (MPS allocated: …)` and `Invalid buffer size: …`.
//!
//! The sizes are binary whatever their label: up to 2.7 it says `GB`, from 2.8 on `GiB` (`MPSAllocator.mm`).

use super::{LONGEST_TEXT, Reader, wording};
use crate::dialect::joined::Joined;
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;

pub fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    if let Some(at) = line.text.find("Invalid buffer size") {
        return invalid_buffer(&super::window(document, position, at));
    }
    let hit = line.text.find("MPS")?;
    let text = super::window(document, position, hit);
    const WORDS: &str = "MPSbackendoutofmemory";
    let core = text.find(WORDS, 0).filter(|at| text.line_at(*at) == line.number)?;
    let to = text.find("outofmemory", core + WORDS.len()).unwrap_or(text.squeezed.len());
    let (_, from) = wording::class(text.squeezed.get(..core)?);
    let mut fields = Reader::new(&text, core, to);
    fields.reach(core + WORDS.len());
    fields.size_after(Fact::Allocated, "MPSallocated:");
    fields.size_after(Fact::OtherAllocations, "otherallocations:");
    if fields.size_after(Fact::FractionLimit, "maxallowed:")
        && let Some(limit) = fields.facts.get(Fact::FractionLimit)
    {
        // The watermark is both: a fraction set for the process, and the limit that applies.
        fields.facts.note(Fact::Limit, limit);
    }
    let requested = fields.size_after(Fact::Requested, "Triedtoallocate");
    for end in ["pool.", "maycausesystemfailure)."] {
        if let Some(at) = text.find(end, fields.reached).filter(|at| *at < fields.reached + 250 && *at < to) {
            fields.reach(at + end.len());
        }
    }
    fields.close();
    let mut range = wording::Range::default();
    let printed = text.squeezed.get(core..fields.reached).unwrap_or_default();
    if ["KiB", "MiB", "GiB"].iter().any(|unit| printed.contains(unit)) {
        range.since((2, 8));
    } else if ["KB", "MB", "GB"].iter().any(|unit| printed.contains(unit)) {
        range.until((2, 7));
    }
    let mut event = Event::new("pytorch-mps", Program::Pytorch, Resource::Gpu, text.span(from, fields.reached));
    event.message = text.readable(from, fields.reached, LONGEST_TEXT);
    event.sign(Sign::Mps);
    if fields.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    } else if !requested || fields.elided() {
        event.sign(Sign::Cut);
    }
    event.facts = fields.facts;
    event.versions = range.learned();
    Some(event)
}

/// `Invalid buffer size: 24.00 GiB`: one tensor exceeds the largest buffer that Metal makes.
fn invalid_buffer(text: &Joined) -> Option<Event> {
    const WORDS: &str = "Invalidbuffersize";
    let core = text.find(WORDS, 0)?;
    let (_, from) = wording::class(text.squeezed.get(..core)?);
    let mut fields = Reader::new(text, core, text.squeezed.len());
    if !fields.size_after(Fact::Requested, "Invalidbuffersize:") {
        return None;
    }
    let mut event =
        Event::new("pytorch-mps-buffer-size", Program::Pytorch, Resource::Gpu, text.span(from, fields.reached));
    event.message = text.readable(from, fields.reached, LONGEST_TEXT);
    event.facts = fields.facts;
    event.sign(Sign::Mps);
    event.sign(Sign::BufferSizeLimit);
    Some(event)
}
