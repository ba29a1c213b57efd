//! Text Generation Inference, LMDeploy and MLC LLM: a few messages each.

use super::{message, note};
use crate::dialect::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::{Number, Program};
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "engines", triggers: &["ot enough memory", "GPU memory", "out of memory", "memory for "], read };

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("Not enough memory to handle") {
        return tgi(document, position);
    }
    if line.contains("Insufficient GPU memory error") {
        return mlc(document, position);
    }
    if line.contains("nough gpu memory") {
        return lmdeploy(document, position);
    }
    if line.contains("[TM][") && line.contains("out of memory") {
        let mut event = field::event(document, position, "lmdeploy-turbomind", Program::Lmdeploy, Resource::Gpu);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    None
}

/// `Not enough memory to handle 4096 prefill tokens. You need to decrease --max-batch-prefill-tokens`: the warm-up of
/// the server (`server/text_generation_server/models/flash_causal_lm.py`).
fn tgi(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["Notenoughmemorytohandle"], 0, 3)?;
    let mut event = notice.event("tgi-warmup", Program::Tgi, Resource::Gpu, from, from + 1);
    event.message = field::quoted(field::text(document, position));
    event.sign(Sign::EngineWarmup);
    event.sign(Sign::NoFigures);
    let tokens = notice.count("tohandle", from).map(|(count, _)| count as f64);
    field::note_number(&mut event, Number::PrefillTokens, tokens);
    Some(event)
}

/// `No enough gpu memory for kv cache.`, `… for runtime.` (`lmdeploy/pytorch/engine/cache_engine.py` and its kin).
fn lmdeploy(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let resource = if line.contains("kv cache") { Resource::KvCache } else { Resource::Gpu };
    let mut event = field::event(document, position, "lmdeploy-gpu-memory", Program::Lmdeploy, resource);
    event.sign(Sign::EngineStartup);
    event.sign(Sign::NoFigures);
    Some(event)
}

/// `The available single GPU memory is 5120.000 MB, which is less than the sum of model weight size (4096.000 MB) and
/// temporary buffer size (2048.000 MB).` (`cpp/serve/engine.cc`) What is called available is the device's memory times
/// `gpu_memory_utilization`.
fn mlc(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["InsufficientGPUmemoryerror"], 0, 8)?;
    let mut event = notice.event("mlc-gpu-memory", Program::MlcLlm, Resource::Gpu, from, from + 1);
    event.message = notice.text.readable(from, from + 400, 400);
    event.sign(Sign::EngineStartup);
    let mut end = from;
    for (fact, words) in [(Fact::Limit, "GPUmemoryis"), (Fact::Weights, "weightsize(")] {
        end = note(&mut event, fact, notice.size(words, from)).unwrap_or(end).max(end);
    }
    if let Some((figure, at)) = notice.size("buffersize(", from) {
        field::note_number(&mut event, Number::TemporaryBuffer, Some(figure.bytes as f64));
        end = end.max(at);
    }
    event.at.last = event.at.last.max(notice.text.span(from, end.max(from + 1)).last);
    Some(event)
}
