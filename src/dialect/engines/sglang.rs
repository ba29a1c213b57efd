//! SGLang: the static pool, graph capture, and the scheduler's words around PyTorch's message.
//!
//! `sglang/srt/model_executor/*`, `sglang/srt/managers/schedule*.py`. Sizes are printed as `GB` and are 2^30 bytes.

use super::{message, take_pytorch};
use crate::dialect::pytorch::allocator;
use crate::dialect::{Dialect, Event, Resource, Sign, field};
use crate::domain::{Number, Program};
use crate::input::Document;
use crate::text;
use crate::units::GIB;

pub const DIALECT: Dialect =
    Dialect { name: "sglang", triggers: &["ot enough memory", "out of memory", " capac"], read };

const LINES: usize = 12;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("ot enough memory") {
        return pool_too_small(document, position);
    }
    if line.contains("memory capacity is unbalanced") {
        return unbalanced(document, position);
    }
    if line.contains("raph failed") {
        return wrapped(document, position, &["Capturecudagraphfailed", "graphfailed"], "sglang-capture-graph-failed");
    }
    if line.contains("Scheduler hit an exception") {
        return wrapped(
            document,
            position,
            &["Schedulerhitanexception", "hitanexception"],
            "sglang-scheduler-exception",
        );
    }
    if line.contains("ode out of memory") || line.contains("fill out of memory") {
        return batch_too_large(document, position);
    }
    None
}

/// The pool holds no token: `Not enough memory. Please try to increase --mem-fraction-static.`
fn pool_too_small(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["Notenoughmemory.Pleasetryto"], 0, LINES)?;
    let end = notice.text.after("mem-fraction-static", from)?;
    let mut event = notice.event("sglang-mem-fraction-static", Program::Sglang, Resource::KvCache, from, end);
    event.sign(Sign::EngineStartup);
    event.sign(Sign::StaticPool);
    event.sign(Sign::NoFigures);
    Some(event)
}

/// One of the devices that a model is split over has less free than another: `The memory capacity is unbalanced. Some
/// GPUs may be occupied by other processes. pre_model_load_memory=57.4, local_gpu_memory=78.0`, in GB of 2^30 bytes.
fn unbalanced(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["Thememorycapacityisunbalanced"], 0, 3)?;
    let mut event = notice.event("sglang-unbalanced", Program::Sglang, Resource::Gpu, from, from + 1);
    event.message = field::quoted(field::text(document, position));
    event.sign(Sign::EngineStartup);
    event.sign(Sign::UnevenDevices);
    for (name, label) in [(Number::LeastFree, "pre_model_load_memory="), (Number::OwnFree, "local_gpu_memory=")] {
        let gib = super::decimal(&notice, label, from).map(|(gib, _)| (gib * GIB as f64).round());
        field::note_number(&mut event, name, gib);
    }
    if event.facts.numbers.is_empty() {
        event.sign(Sign::NoFigures);
    }
    Some(event)
}

/// PyTorch's message in the engine's own sentence.
fn wrapped(document: &Document, position: usize, words: &[&str], dialect: &'static str) -> Option<Event> {
    let (notice, from) = message(document, position, words, 0, LINES)?;
    let inner = allocator::read(document, position)?;
    let mut event = notice.event(dialect, Program::Sglang, Resource::Gpu, from, from + 1);
    event.message = crate::dialect::field::quoted(field::text(document, position));
    take_pytorch(&mut event, inner);
    if dialect == "sglang-capture-graph-failed" {
        event.sign(Sign::EngineWarmup);
        event.sign(Sign::GraphCapture);
    } else {
        event.sign(Sign::WhileServing);
    }
    Some(event)
}

/// `Decode out of memory. Try to lower your batch size.`: no request of the batch could be set back.
fn batch_too_large(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("happened") {
        return Some(retracted(document, position));
    }
    let words = ["Decodeoutofmemory.", "Prefilloutofmemory."];
    let (notice, from) = message(document, position, &words, 0, LINES)?;
    let end = notice.text.after("outofmemory", from)?;
    let mut event = notice.event("sglang-batch-too-large", Program::Sglang, Resource::KvCache, from, end);
    event.message = field::quoted(line);
    event.sign(Sign::CacheRefused);
    for (name, words) in [(Number::TokensRequested, "Trytoallocate"), (Number::TokensAvailable, "Availabletokens:")] {
        field::note_number(&mut event, name, notice.count(words, end).map(|(count, _)| count as f64));
    }
    Some(event)
}

/// The cache was full and requests were set back; before 0.4.9 it is told in words that sound worse:
/// `Decode out of memory happened. #retracted_reqs: 1`.
fn retracted(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "sglang-retracted", Program::Sglang, Resource::KvCache);
    event.make_harmless(text!(
        en: "the cache was full for a moment; requests were set back and run again, which costs time and nothing else",
        zh: "KV cache 一时占满，部分请求被撤回并稍后重跑，只损失时间"
    ));
    event
}
