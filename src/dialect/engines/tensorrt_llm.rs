//! TensorRT-LLM: the creation of its executor, and CUDA's errors in its own prefix.
//!
//! `tensorrt_llm/_torch/pyexecutor/py_executor_creator.py`. The units stand in the labels.

use super::{labelled, message, note};
use crate::dialect::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "tensorrt-llm", triggers: &["GPU memory", "out of memory"], read };

/// The report lists every component that was created before.
const LINES: usize = 24;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("insufficient GPU memory") || line.contains("xecutor creation failed") {
        return executor(document, position);
    }
    if line.contains("out of memory") && line.contains("TensorRT-LLM]") && !line.contains("Tried to allocate") {
        let mut event = field::event(document, position, "trtllm-cuda-error", Program::TensorRtLlm, Resource::Gpu);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    None
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
