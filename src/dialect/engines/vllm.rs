//! vLLM: the checks of its start-up and its own words around PyTorch's message.
//!
//! `vllm/v1/worker/*_worker.py` (free memory at start, profiling), `vllm/v1/core/kv_cache_utils.py` (cache), and before
//! 0.8 `vllm/worker/worker.py`. The wordings differ between versions in blanks, quotes and parentheses, so the labels
//! decide.

use super::{decimal, message, note};
use crate::dialect::notice::Notice;
use crate::dialect::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::{Number, Program};
use crate::input::Document;
use crate::text;
use crate::units::{Base, Figure, size};

pub const DIALECT: Dialect = Dialect {
    name: "vllm",
    triggers: &["GPU memory", "max seq", "memory for ", "out of memory", "memory profiling", " blocks: 0,"],
    read,
};

/// The longest message has five lines of a narrow terminal.
const LINES: usize = 6;
/// A hit may stand this many lines below the first words.
const BACK: usize = 2;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("max seq") {
        return too_long(document, position);
    }
    if line.contains("cache blocks") {
        return no_blocks(document, position);
    }
    if line.contains(" blocks: 0, # CPU blocks:") {
        return counted_none(document, position);
    }
    if line.contains("memory profiling") {
        return profiling(document, position);
    }
    if line.contains("warming up") {
        return warm_up(document, position);
    }
    if line.contains("GPU memory") { startup(document, position) } else { None }
}

/// `Free memory on device cuda:0 (17.1/22.05 GiB) on startup is less than desired GPU memory utilization (0.92, 20.28
/// GiB)`; before 0.11 without the device's name.
fn startup(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["Freememoryondevice", "Freememory"], BACK, LINES)?;
    let text = &notice.text;
    let verdict = text.find("GPUmemoryutilization", from).or_else(|| text.find("lessthandesired", from))?;
    let mut to = verdict + "GPUmemoryutilization".len();
    let mut event = notice.event("vllm-free-memory-on-startup", Program::Vllm, Resource::Gpu, from, to);
    if let Some(open) = text.after("(", from).filter(|open| *open < verdict)
        && let Some((free, capacity, _)) = of(&notice, open)
    {
        event.facts.note(Fact::Free, free);
        event.facts.note(Fact::Capacity, capacity);
        let name = text.squeezed.get(from..open).unwrap_or_default();
        if let Some(index) = name.rsplit(':').next().and_then(field::leading_number).filter(|_| name.contains(':')) {
            event.facts.device.note(u32::try_from(index).ok()?, event.at);
        }
    }
    if let Some((share, end)) = decimal(&notice, "utilization(", verdict) {
        field::note_number(&mut event, Number::GpuMemoryUtilization, Some(share));
        to = end;
        if let Some(end) = note(&mut event, Fact::Desired, notice.size(",", end).filter(|(_, at)| at - end < 20)) {
            to = end + 1;
        }
    }
    event.at.last = event.at.last.max(text.span(from, to).last);
    event.message = text.readable(from, to, 600);
    event.sign(Sign::EngineStartup);
    Some(event)
}

/// `17.1/22.05GiB`: the unit stands behind the second figure only.
fn of(notice: &Notice, open: usize) -> Option<(Figure, Figure, usize)> {
    let text = &notice.text.squeezed;
    let (number, _) = text.get(open..)?.split_once('/')?;
    let slash = open + number.len();
    let (whole, end) = notice.size_at(slash + 1)?;
    let digits = text.get(slash + 1..end)?.find(|c: char| c.is_ascii_alphabetic())?;
    let unit = text.get(slash + 1 + digits..end)?;
    let number = number.strip_suffix(unit).unwrap_or(number);
    let part = size(number, unit, Base::Binary)?.at(notice.text.span(open, slash));
    Some((part, whole, end))
}

/// The cache holds less than one request of full length: in tokens (up to 0.7), or in bytes since.
fn too_long(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) =
        message(document, position, &["Themodel'smaxseq", "model'smaxseq", "models'maxseq", "maxseq"], 0, LINES)?;
    let text = &notice.text;
    let length = text.after("(", from).and_then(|at| text.count_at(at));
    let needed = text.find("KVcacheisneeded", from);
    let stored = text.find("storedinKVcache", from).or_else(|| text.find("storedintheKVcache", from));
    let (dialect, end) = match (needed, stored) {
        (Some(at), None) => ("vllm-v1-kv-needed", at + "KVcacheisneeded".len()),
        (None, Some(at)) => ("vllm-max-seq-len-v0", at + "storedinKVcache".len()),
        (Some(a), Some(b)) if a < b => ("vllm-v1-kv-needed", a + "KVcacheisneeded".len()),
        (_, Some(at)) => ("vllm-max-seq-len-v0", at + "storedinKVcache".len()),
        (None, None) => return None,
    };
    let mut event = notice.event(dialect, Program::Vllm, Resource::KvCache, from, end);
    event.sign(Sign::EngineStartup);
    let mut to = end;
    field::note_number(&mut event, Number::MaxModelLen, length.map(|(tokens, _)| tokens as f64));
    if dialect == "vllm-max-seq-len-v0" {
        if let Some((tokens, at)) = notice.count("KVcache(", end - "KVcache".len()).filter(|(_, at)| at - end < 24) {
            field::note_number(&mut event, Number::KvCacheTokens, Some(tokens as f64));
            to = at + 1;
        }
    } else {
        if let Some((printed, start)) = text.size_before(end - "KVcacheisneeded".len(), Base::Binary)
            && let crate::dialect::joined::Printed::Size(figure) = printed
            && start > from
        {
            event.facts.note(Fact::Needed, figure);
        }
        let available = text
            .after("availableKVcachememory", end)
            .filter(|at| at - end < 90)
            .or_else(|| text.after("largerthantheavailable", end).filter(|at| at - end < 60));
        if let Some(at) = available {
            to = at;
            let open = if text.squeezed.get(at..).is_some_and(|rest| rest.starts_with('(')) { at + 1 } else { at };
            if let Some(at) = note(&mut event, Fact::Available, notice.size_at(open)) {
                to = at + 1;
            }
        }
        if let Some((tokens, at)) = notice.count("estimatedmaximummodellengthis", to) {
            field::note_number(&mut event, Number::EstimatedMaxModelLen, Some(tokens as f64));
            to = at;
        }
    }
    event.at.last = event.at.last.max(text.span(from, to.min(text.squeezed.len())).last);
    event.message = text.readable(from, to, 600);
    Some(event)
}

/// `No available memory for the cache blocks`: the weights and the peak of profiling leave nothing of the share.
fn no_blocks(document: &Document, position: usize) -> Option<Event> {
    let words = ["Noavailablememoryforthecacheblocks", "availablememoryforthecacheblocks"];
    let (notice, from) = message(document, position, &words, 0, LINES)?;
    let end = notice.text.after("cacheblocks", from)?;
    let mut event = notice.event("vllm-no-cache-blocks", Program::Vllm, Resource::KvCache, from, end);
    event.sign(Sign::EngineStartup);
    event.sign(Sign::NoFigures);
    Some(event)
}

/// `# CUDA blocks: 0, # CPU blocks: 87381` above a traceback that was cut before its exception: there will be no cache.
fn counted_none(document: &Document, position: usize) -> Option<Event> {
    const NEAR: usize = 200;
    let behind = || field::behind(document, position, NEAR).map(|at| field::text(document, at));
    let told = behind().any(|line| line.contains("for the cache blocks") || line.contains("to the KV cache"));
    if told || !behind().any(|line| line.contains("Traceback (most recent call last)")) {
        return None;
    }
    let mut event = field::event(document, position, "vllm-no-cache-blocks", Program::Vllm, Resource::KvCache);
    event.sign(Sign::EngineStartup);
    event.sign(Sign::NoFigures);
    event.sign(Sign::Cut);
    Some(event)
}

/// Tells a cache that has less than nothing by its name, once the figure is known.
pub(super) fn complete(event: &mut Event) {
    if event.dialect == "vllm-no-cache-blocks"
        && event.facts.number(Number::KvAvailable).is_some_and(|bytes| bytes < 0.0)
    {
        event.dialect = "vllm-no-cache-blocks-negative";
    }
}

/// `CUDA out of memory occurred when warming up sampler with 1024 dummy requests.`
fn warm_up(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) =
        message(document, position, &["outofmemoryoccurredwhenwarmingup", "memoryoccurredwhenwarmingup"], 1, LINES)?;
    let end = notice.text.after("warmingup", from)?;
    let mut event = notice.event("vllm-sampler-warmup", Program::Vllm, Resource::Gpu, from, end);
    event.message = notice.text.readable(from.saturating_sub("CUDA".len()), end + 60, 200);
    event.sign(Sign::EngineWarmup);
    event.sign(Sign::SamplerWarmup);
    field::note_number(&mut event, Number::DummyRequests, notice.count("with", end).map(|(count, _)| count as f64));
    Some(event)
}

/// The profiling run found more free memory at its end than at its start: another process let go meanwhile.
fn profiling(document: &Document, position: usize) -> Option<Event> {
    let (notice, from) = message(document, position, &["Errorinmemoryprofiling"], 0, LINES)?;
    let mut event = notice.event(
        "vllm-memory-profiling-race",
        Program::Vllm,
        Resource::Gpu,
        from,
        from + "Errorinmemoryprofiling".len(),
    );
    let sizes = [
        (Number::InitialFree, notice.size("Initialfreememory", from)),
        (Number::CurrentFree, notice.size("currentfreememory", from)),
    ];
    for (name, found) in sizes {
        field::note_number(&mut event, name, found.map(|(figure, _)| figure.bytes as f64));
    }
    event.make_harmless(text!(
        en: "nothing ran out: memory was freed by another process on the device while vLLM measured its own use; start it when the others are settled",
        zh: "并非显存不足：vLLM 测量自身用量期间，同一设备上的其他进程释放了显存；待其他进程稳定后再启动"
    ));
    Some(event)
}
