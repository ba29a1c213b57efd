//! Julia: CUDA.jl and its forerunners CuArrays.jl and CUDAnative.jl, AMDGPU.jl, oneAPI.jl.
//!
//! CUDA.jl prints binary units (`Base.format_bytes`), and from version to version other lines below the first:
//! `Effective GPU memory usage` (the whole device), `CUDA allocator usage` (3.x), `Memory pool usage` with
//! `(A allocated, C cached)` up to 3.x and `(R reserved)` from 4.0 on.

use super::notice::{Notice, settle};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "julia", triggers: &["GPU memory", "OUT_OF_", "OutOfMemory"], read };

/// The message has at most five lines of its own; a wrapped paste twice as many.
const LINES: usize = 10;

fn read(document: &Document, position: usize) -> Option<Event> {
    let notice = Notice::at(document, position, LINES)?;
    if let Some(from) = notice.starts("OutofGPUmemory") {
        return out_of_memory(&notice, from);
    }
    // `CUDA error: out of memory (code 2, ERROR_OUT_OF_MEMORY)`, `HIPError(code hipErrorOutOfMemory, …)`.
    let from = notice.starts_any(&[
        "CUDAerror:outofmemory(code2,ERROR_OUT_OF_MEMORY)",
        "CUDAerror:outofmemory(code#2,ERROR_OUT_OF_MEMORY)",
        "HIPError(codehipErrorOutOfMemory",
        "CuError(CUDA_ERROR_OUT_OF_MEMORY",
        "CUDAdrv.CuError(0x00000002",
    ])?;
    let to = notice.text.find(")", from).map_or(notice.text.squeezed.len(), |at| at + 1);
    let mut event = notice.event("julia-cuda-error", Program::Julia, Resource::Gpu, from, to);
    if event.message.contains("hip") {
        event.sign(Sign::Hip);
    }
    event.sign(Sign::Disguised);
    settle(&mut event);
    Some(event)
}

fn out_of_memory(notice: &Notice, from: usize) -> Option<Event> {
    let text = &notice.text;
    let mut end = from + "OutofGPUmemory".len();
    let mut figures = Vec::new();
    let mut keep = |fact: Fact, found: Option<(crate::units::Figure, usize)>| {
        let (figure, at) = found?;
        figures.push((fact, figure));
        end = end.max(at);
        Some(at)
    };
    let requested = keep(Fact::Requested, notice.size("tryingtoallocate", from));
    // `Effective GPU memory usage: 99.85% (15.758 GiB/15.782 GiB)`
    if let Some(open) = text.after("EffectiveGPUmemoryusage:", from).and_then(|at| text.after("(", at))
        && let Some(slash) = keep(Fact::Used, notice.size_at(open))
        && text.squeezed.get(slash..).is_some_and(|rest| rest.starts_with('/'))
    {
        keep(Fact::Capacity, notice.size_at(slash + 1));
    }
    let pool = text.after("Memorypoolusage:", from).or_else(|| text.after("Poolusage:", from)).or_else(|| {
        // CuArrays: `CuArrays.jl SplittingPool usage: …`.
        text.after("Poolusage", from)?;
        text.after("usage:", text.find("Poolusage", from)?)
    });
    if let Some(at) = pool
        && let Some((usage, open)) = notice.size_at(at)
    {
        let inner = text.squeezed.get(open..).is_some_and(|rest| rest.starts_with('('));
        let first = if inner { notice.size_at(open + 1) } else { None };
        match first {
            Some((figure, after)) if text.squeezed[after..].starts_with("reserved") => {
                keep(Fact::Allocated, Some((usage, open)));
                keep(Fact::Reserved, Some((figure, after + "reserved)".len())));
            }
            Some((figure, after)) if text.squeezed[after..].starts_with("allocated") => {
                keep(Fact::Allocated, Some((figure, after)));
                keep(Fact::Reserved, Some((usage, open)));
                if let Some(comma) = text.find(",", after).filter(|at| *at == after + "allocated".len()) {
                    let cached = if text.squeezed[comma + 1..].starts_with("cached") {
                        comma + ",cached".len()
                    } else {
                        comma + 1
                    };
                    keep(Fact::Cached, notice.size_at(cached));
                }
            }
            // A parenthesis that is cut off hides what the first figure is.
            _ if inner => {}
            _ => {
                keep(Fact::Allocated, Some((usage, open)));
            }
        }
    }
    // 3.x without a pool.
    if pool.is_none() {
        keep(Fact::Allocated, notice.size("CUDAallocatorusage:", from));
    }
    keep(Fact::Limit, notice.size("Hardmemorylimit:", from).or_else(|| notice.size("hardlimit:", from)));
    let mut event = notice.event("julia-out-of-gpu-memory", Program::Julia, Resource::Gpu, from, end);
    for (fact, figure) in figures {
        event.facts.note(fact, figure);
    }
    if requested.is_none() && !event.facts.sizes.is_empty() {
        event.sign(Sign::Cut);
    }
    settle(&mut event);
    Some(event)
}
