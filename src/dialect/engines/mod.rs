//! Engines that serve language models: they size pools at start, and fail in words of their own.
//!
//! Where such an engine passes on PyTorch's message, the figures are read by [`super::pytorch::allocator`]. What an
//! engine was told (length of the context, share of the device) and what it reported before it failed (size of the
//! weights, room for the cache) stands in other lines, which [`surroundings`] reads.

pub mod llama_cpp;
pub mod ollama;
pub mod others;
pub mod sglang;
pub mod surroundings;
pub mod tensorrt_llm;
pub mod vllm;

use super::notice::Notice;
use super::{Event, Fact, Sign, Standing};
use crate::domain::Program;
use crate::input::Document;
use crate::units::{Base, Figure};

/// Completes an event of an engine, or of PyTorch inside one, with what the lines around it tell. Takes hundreds of
/// lines, so it is not done for every event of a flood.
pub fn complete(document: &Document, event: &mut Event) {
    if event.standing == Standing::Harmless || !event.resource.on_device() && event.program != Program::LlamaCpp {
        return;
    }
    let first = event.at.first;
    let position = document.lines.partition_point(|line| line.number < first);
    match event.program {
        Program::Pytorch => surroundings::note_where_an_engine_runs(document, position, event),
        program if program.is_engine() => {
            surroundings::note(document, position, event);
            vllm::complete(event);
            llama_cpp::complete(document, position, event);
            if !event.facts.sizes.is_empty() {
                event.signs.remove(&Sign::NoFigures);
            }
        }
        _ => {}
    }
}

/// The message whose first words, written without blanks, stand on the line of a hit or on one of the `back` lines
/// before it: the hit may lie behind a wrap. Also gives where the words start.
fn message(document: &Document, position: usize, words: &[&str], back: usize, lines: usize) -> Option<(Notice, usize)> {
    (0..=back).find_map(|back| {
        let first = position.checked_sub(back)?;
        let notice = Notice::at(document, first, lines.saturating_add(back))?;
        notice.starts_any(words).map(|from| (notice, from))
    })
}

/// The decimal number behind `words` in a squeezed text, such as a share of the device.
fn decimal(notice: &Notice, words: &str, from: usize) -> Option<(f64, usize)> {
    notice.text.decimal_at(notice.text.after(words, from)?)
}

/// A figure whose unit stands in its label: `Free GPU memory … (GiB): 12.34`. `label` is what stands before the unit.
fn labelled(notice: &Notice, label: &str, from: usize) -> Option<(Figure, usize)> {
    let text = &notice.text;
    let open = text.after(label, from)?;
    let open = text.after("(", open).filter(|at| at - open < 80)?;
    let close = text.find("):", open).filter(|at| at - open < 8)?;
    let unit = text.squeezed.get(open..close)?;
    let start = close + "):".len();
    text.number_of(start, unit, Base::Binary)
}

/// Takes the figures of PyTorch's message that an engine passes on in or right behind its own.
fn take_pytorch(event: &mut Event, inner: Event) {
    for (fact, figure) in inner.facts.sizes {
        event.facts.sizes.entry(fact).or_insert(figure);
    }
    event.facts.unreadable.extend(inner.facts.unreadable);
    event.facts.device = inner.facts.device;
    event.facts.other_processes = inner.facts.other_processes;
    if !event.facts.pid.is_known() {
        event.facts.pid = inner.facts.pid;
    }
    for (sign, at) in inner.signs {
        event.signs.entry(sign).or_insert(at);
    }
    event.versions = inner.versions;
    event.at.first = event.at.first.min(inner.at.first);
    event.at.last = event.at.last.max(inner.at.last);
}

/// Notes a figure of the message itself.
fn note(event: &mut Event, fact: Fact, found: Option<(Figure, usize)>) -> Option<usize> {
    let (figure, end) = found?;
    event.facts.note(fact, figure);
    Some(end)
}
