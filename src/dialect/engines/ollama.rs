//! Ollama: its own refusals before a model is loaded, and those of the runner that it reports.
//!
//! `llm/server.go`, `server/sched.go`. The runner is llama.cpp, whose lines come through as they are or inside JSON.

use super::{llama_cpp, message};
use crate::dialect::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "ollama", triggers: &["more system memory", "out of memory", "llocate ", "illed"], read };

/// How far the estimate stands before the failure that it did not foresee.
const NEAR: usize = 60;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("more system memory") {
        return system_memory(document, position);
    }
    if line.contains("terminated") || line.contains("\"error\"") {
        return reported(document, position);
    }
    if line.contains("CUDA error: out of memory") || line.contains("CUDA error 2:") {
        return beyond_estimate(document, position);
    }
    None
}

/// `model requires more system memory (4.0 GiB) than is available (3.9 GiB)`
fn system_memory(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["requiresmoresystemmemory"], 0, 3)?;
    let text = &notice.text;
    let mut to = from + "requiresmoresystemmemory".len();
    let mut event = notice.event("ollama-system-memory", Program::Ollama, Resource::Host, from, to);
    event.message = field::quoted(field::text(document, position));
    for (fact, words) in [(Fact::Requested, "systemmemory("), (Fact::Free, "isavailable(")] {
        if let Some((figure, end)) = notice.size(words, from).filter(|(_, end)| end - from < 120) {
            event.facts.note(fact, figure);
            to = end;
        }
    }
    event.at.last = event.at.last.max(text.span(from, to).last);
    event.sign(Sign::EngineStartup);
    event.sign(Sign::ModelBeyondRam);
    if event.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    }
    Some(event)
}

/// The runner's last words inside the server's: `llama runner process has terminated: cudaMalloc failed: out of memory
/// …`.
fn reported(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if !(line.contains("llama") && line.contains("process") || line.contains("ollama")) {
        return None;
    }
    if line.contains("signal: killed") {
        let mut event = field::event(document, position, "ollama-runner-killed", Program::Ollama, Resource::Host);
        event.sign(Sign::KilledWithoutProof);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    let mut event = match llama_cpp::buffer_refused(document, position) {
        Some(event) => event,
        None if line.contains("out of memory") => {
            let mut event =
                field::event(document, position, "ollama-runner-terminated", Program::Ollama, Resource::Gpu);
            event.sign(Sign::NoFigures);
            event.sign(Sign::WeightsBuffer);
            event
        }
        None => return None,
    };
    event.program = Program::Ollama;
    event.sign(Sign::PassedOn);
    if event.dialect == "llamacpp-cuda-buffer-alloc" {
        event.dialect = "ollama-runner-terminated";
    }
    Some(event)
}

/// A bare CUDA error behind an estimate of what would fit.
fn beyond_estimate(document: &Document, position: usize) -> Option<Event> {
    field::before(position, NEAR).find(|at| field::text(document, *at).contains("msg=\"offload"))?;
    let mut event = field::event(document, position, "ollama-offload-estimate", Program::Ollama, Resource::Gpu);
    event.sign(Sign::NoFigures);
    event.at.last = event.at.last.max(llama_cpp::end_of_report(document, position));
    Some(event)
}
