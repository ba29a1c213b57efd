//! TensorRT-LLM: the creation of its executor, and CUDA's errors in its own prefix.
//!
//! `tensorrt_llm/_torch/pyexecutor/py_executor_creator.py`. The units stand in the labels.

use super::{labelled, message, note};
use crate::dialect::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::{Number, Program};
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "tensorrt-llm", triggers: &["GPU memory", "out of memory", "okensInPagedKvCache ("], read };

/// The report lists every component that was created before.
const LINES: usize = 24;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("insufficient GPU memory") || line.contains("xecutor creation failed") {
        return executor(document, position);
    }
    if line.contains("okensInPagedKvCache (") {
        return too_few_tokens(document, position);
    }
    if line.contains("out of memory") && line.contains("TensorRT-LLM]") && !line.contains("Tried to allocate") {
        let mut event = field::event(document, position, "trtllm-cuda-error", Program::TensorRtLlm, Resource::Gpu);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    None
}

/// `maxTokensInPagedKvCache (28672) must be large enough to process at least 1 sequence to completion (i.e. must be
/// larger than beam_width (1) * tokensPerBlock (128) * maxBlocksPerSeq (272))`: the cache holds less than one sequence
/// of the length that the engine was built for (`cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp`).
fn too_few_tokens(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["okensInPagedKvCache("], 1, LINES)?;
    let text = &notice.text;
    let end = text.after("mustbelargeenough", from)?;
    let mut event = notice.event("trtllm-max-tokens-in-kv", Program::TensorRtLlm, Resource::KvCache, from, end);
    let (tokens, _) = notice.count("okensInPagedKvCache(", from)?;
    field::note_number(&mut event, Number::KvCacheTokens, Some(tokens as f64));
    let mut last = end;
    let mut factor = |label: &str| {
        let (count, at) = notice.count(label, from)?;
        last = last.max(at);
        Some(count)
    };
    let factors = [factor("beam_width("), factor("tokensPerBlock("), factor("maxBlocksPerSeq(")];
    if let [beams, Some(block), Some(blocks)] = factors {
        let needed = block.saturating_mul(blocks).saturating_mul(beams.unwrap_or(1));
        field::note_number(&mut event, Number::MaxModelLen, Some(needed as f64));
    }
    event.at.last = event.at.last.max(text.span(from, last).last);
    event.message = text.readable(from, last, 400);
    event.sign(Sign::EngineStartup);
    Some(event)
}

fn executor(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["Executorcreationfailed"], 1, LINES)?;
    let text = &notice.text;
    let component = text.after("componentcouldnotbecreated:", from);
    let cache = component
        .and_then(|at| text.squeezed.get(at..))
        .is_some_and(|name| name.starts_with("KVcache") || name.starts_with("InitialKVcache"));
    let resource = if cache { Resource::KvCache } else { Resource::Gpu };
    let mut event = notice.event("trtllm-executor-creation", Program::TensorRtLlm, resource, from, from + 1);
    let mut end = text.after("GPUmemory", from).unwrap_or(from);
    for (fact, label) in [(Fact::Capacity, "TotalGPUmemory"), (Fact::Free, "FreeGPUmemorybefore")] {
        end = note(&mut event, fact, labelled(&notice, label, from)).unwrap_or(end).max(end);
    }
    event.at.last = event.at.last.max(text.span(from, end).last);
    event.message = text.readable(from, end, 400);
    event.sign(Sign::EngineStartup);
    if cache {
        event.sign(Sign::CacheRefused);
    }
    Some(event)
}
