//! llama.cpp and what is built on ggml: a buffer for weights, cache or computation that the device refused.
//!
//! `ggml/src/ggml-cuda/ggml-cuda.cu`, `ggml/src/ggml-alloc.c`, `src/llama-model.cpp`, `src/llama-context.cpp`. Which
//! buffer it was stands in the lines that follow.

use super::surroundings;
use crate::dialect::joined::Printed;
use crate::dialect::metal::of_llama_cpp;
use crate::dialect::{Dialect, Event, Fact, Resource, Sign, field, net};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{self, Base, Locale};

pub const DIALECT: Dialect = Dialect {
    name: "llama.cpp",
    triggers: &[
        "out of memory",
        "llocate ",
        "emory allocation",
        "OutOfMemory",
        "GGML_ASSERT: ggml-metal.m",
        "GGML_ASSERT(ggml-metal.m",
    ],
    read,
};

/// A refusal is told by up to this many lines: the buffer, the graph, the context, the model, the server.
const REPORT: usize = 12;

/// What the refused buffer was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buffer {
    Unknown,
    Model,
    Cache,
    Compute,
}

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if let Some(event) = bare_error(document, position).or_else(|| above_the_working_set(document, position)) {
        return Some(event);
    }
    // Others say `cudaMalloc failed` as well, behind the place in their own sources.
    let elsewhere = [".h:", ".cc:", ".cpp:", ".cu:"].iter().any(|ending| line.contains(ending))
        && !["ggml", "llama"].iter().any(|name| line.contains(name));
    if !is_ours(line) || elsewhere || is_bare(document, position) {
        return None;
    }
    // `allocating … on device 0:` may stand on a line of its own.
    let torn = !line.contains("allocating")
        && line.contains("cudaMalloc failed")
        && position.checked_sub(1).is_some_and(|before| field::text(document, before).trim_end().ends_with(':'));
    let position = if torn { position - 1 } else { position };
    buffer_refused(document, position)
}

/// An error of CUDA or Metal that names ggml only on the lines around it: `CUDA error: out of memory`, then
/// `current device: 0, in function alloc at …/ggml-cuda.cu`.
fn bare_error(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let cuda = ["CUDA error: out of memory", "ROCm error: out of memory", "HIP error: out of memory"];
    let metal = line.contains("kIOGPUCommandBufferCallbackErrorOutOfMemory");
    if !metal && !cuda.iter().any(|words| line.contains(words)) {
        return None;
    }
    let near =
        || field::before(position, 3).chain(field::behind(document, position, 3)).map(|at| field::text(document, at));
    // Metal's code stands far from the last line of llama.cpp's start.
    let shown = line.contains("ggml") || near().any(|line| line.contains("ggml"));
    if !(shown || metal && of_llama_cpp(document, position)) {
        return None;
    }
    let slug = if metal { "llamacpp-metal-error" } else { "llamacpp-cuda-error" };
    let mut event = field::event(document, position, slug, Program::LlamaCpp, Resource::Gpu);
    event.sign(Sign::NoFigures);
    if metal {
        event.sign(Sign::Mps);
    }
    let device = near().find_map(|line| field::number_after(line, "current device:"));
    if let Some(device) = device.and_then(|device| u32::try_from(device).ok()) {
        event.facts.device.note(device, event.at);
    }
    projected(document, position, &mut event);
    Some(event)
}

/// An assertion of `ggml-metal.m` below buffers that together are above the working set which Metal recommends, until
/// the end of 2023: `allocated 'data' buffer, size = 3427.77 MB, offs = 4160536576, ( 7524.40 / 5461.34)`.
fn above_the_working_set(document: &Document, position: usize) -> Option<Event> {
    const LINES: usize = 8;
    if !field::text(document, position).contains("ggml-metal.m") {
        return None;
    }
    let told = field::before(position, LINES).find_map(|at| {
        let line = field::text(document, at);
        let (_, pair) = line.rsplit_once('(').filter(|_| line.contains("ggml_metal_add_buffer: allocated"))?;
        let (held, rest) = pair.split_once('/')?;
        let size = |number: &str| units::size_in(number.trim(), "MiB", Base::Binary, Locale::of(line));
        Some((size(held)?, size(rest.split(')').next()?)?, at))
    });
    let (held, recommended, at) = told.filter(|(held, recommended, _)| held.bytes > recommended.bytes)?;
    let mut event = field::event(document, position, "llamacpp-metal-error", Program::LlamaCpp, Resource::Gpu);
    let place = Span::line(field::number(document, at));
    event.facts.note(Fact::Allocated, held.at(place));
    event.facts.note(Fact::Capacity, recommended.at(place));
    event.sign(Sign::Mps);
    Some(event)
}

/// Lines before a failure in which llama.cpp (`common_fit_params`, from the end of 2025 on) tells what it will take.
const PROJECTED_BEFORE: usize = 200;

/// `projected to use 18046 MiB of device memory vs. 14720 MiB of free device memory`: its own account of a model, its
/// cache and its buffers on one device, before anything is loaded. What it then made fit is no account of what it took.
fn projected(document: &Document, position: usize, event: &mut Event) {
    const USES: &str = "projected to use ";
    let told = field::before(position, PROJECTED_BEFORE)
        .take_while(|at| !field::text(document, *at).contains("successfully fit params"))
        .find(|at| {
            let line = field::text(document, *at);
            line.contains(USES) && line.contains(" of device memory vs. ")
        });
    let Some(at) = told else { return };
    let line = field::text(document, at);
    let place = Span::line(field::number(document, at));
    let figure = |label: &str| field::size_after(line, label, Base::Binary).map(|size| size.at(place));
    let (Some(need), Some(free)) = (figure(USES), figure(" of device memory vs. ")) else { return };
    if need.bytes > free.bytes {
        event.facts.note(Fact::Needed, need);
        event.facts.note(Fact::Free, free);
        event.signs.remove(&Sign::NoFigures);
    }
}

fn is_ollama(line: &str) -> bool {
    line.contains("ollama") && !line.contains("github.com/ollama/ollama/llama")
        || line.contains(" source=") && line.contains("msg=")
}

/// True for a line of a program that writes down what is spoken.
fn is_of_speech(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("whisper") || lower.contains("transcri")
}

/// True for a line of llama.cpp itself, rather than of the library of tensors below it.
fn is_of_llama(line: &str) -> bool {
    ["llama_", "llm_load", "llama-", "llama.cpp"].iter().any(|word| line.contains(word))
}

/// Words that only ggml and llama.cpp print.
fn is_ours(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "cudaMalloc failed",
        "ggml",
        "llama_",
        "llama-",
        "load_tensors:",
        "alloc_tensor_range",
        "graph_reserve",
        "sched_reserve",
        "unable to allocate CUDA",
        "unable to allocate ROCm",
        "unable to allocate Vulkan",
        "of pinned memory:",
    ];
    WORDS.iter().any(|word| line.contains(word))
        // Intel's refusals end in its runtime's own words, which tell more.
        && !line.contains("sycl")
}

/// True for the driver's words alone, which many programs print, with nothing of ggml's or llama.cpp's around.
fn is_bare(document: &Document, position: usize) -> bool {
    let of_theirs = |at: usize| {
        let line = field::text(document, at);
        ["ggml", "llama", "gguf", "allocating "].iter().any(|word| line.contains(word))
    };
    let around = || field::before(position, REPORT).chain(field::behind(document, position, REPORT));
    field::text(document, position).trim().starts_with("cudaMalloc failed") && !around().any(of_theirs)
}

/// A line that belongs to the report of one refusal.
fn continues(line: &str) -> bool {
    is_ours(line) && ["fail", "error", "unable", "rror "].iter().any(|word| line.contains(word))
        || [
            "failed to allocate",
            "failed to load model",
            "failed to initialize the context",
            "unable to allocate",
            "exiting due to model loading",
            "retrying without pipeline",
            "failed to create context",
            "ErrorOutOfDeviceMemory",
            "  current device:",
            "cudaMalloc failed",
            "GGML_ASSERT",
            "unable to load model",
        ]
        .iter()
        .any(|word| line.contains(word))
}

/// The number of the last line of the report that starts at `position`.
pub(super) fn end_of_report(document: &Document, position: usize) -> u64 {
    let last = field::behind(document, position, REPORT).take_while(|at| continues(field::text(document, *at))).last();
    field::number(document, last.unwrap_or(position))
}

/// True where nothing follows a line but the shell's prompt: who tried again is gone.
fn ends_at_a_prompt(document: &Document, position: usize, last: u64) -> bool {
    let behind = field::behind(document, position, 2 * REPORT).filter(|at| field::number(document, *at) > last);
    let next = behind.map(|at| field::text(document, at).trim()).find(|text| !text.is_empty());
    let waits = |text: &str| {
        field::behind_a_folder(text).is_some() || text == "$" || text.contains('@') && text.ends_with(['$', '#'])
    };
    next.is_some_and(|text| net::is_prompt(text) || waits(text))
}

/// Reads a refusal that starts at `position`.
pub(super) fn buffer_refused(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("pinned memory") {
        return Some(unpinned(document, position));
    }
    let text = field::joined(document, position, 3);
    let first_ends = text.end_of_first_line();
    let host = line.contains("cpu_buffer")
        || line.contains("aligned_malloc")
        || line.contains("CPU buffer")
        || line.contains("CPU_");
    let verdicts = [
        "cudaMallocfailed:outofmemory",
        "hipMallocfailed:outofmemory",
        "failedtoallocate",
        "unabletoallocate",
        "Devicememoryallocationofsize",
        "attemptedtoallocate",
    ];
    let verdict = verdicts
        .iter()
        .filter_map(|words| text.find(words, 0))
        .min()
        // `allocating … on device 0:` may be torn from `cudaMalloc failed`.
        .filter(|at| *at < first_ends || line.contains("allocating"))?;
    let mut event = field::event(
        document,
        position,
        "llamacpp-cuda-buffer-alloc",
        Program::LlamaCpp,
        if host { Resource::Host } else { Resource::Gpu },
    );
    event.at = Span::lines(event.at.first, text.line_at(verdict));
    if host {
        event.dialect = "llamacpp-cpu-buffer";
    }
    // `allocating 590.07 MiB on device 0:`, `buffer of size 5064192000`, `size = 512.00 MiB`.
    let labels = ["allocating", "bufferofsize", "allocationofsize", "size=", "attemptedtoallocate", "failedtoallocate"];
    let found = labels.iter().find_map(|label| {
        let at = text.after(label, 0)?;
        match text.size_at(at, Base::Binary) {
            Some((Printed::Size(figure), _)) => Some(figure),
            // The caller's plain number of bytes has no unit.
            _ => text.count_at(at).filter(|(bytes, _)| *bytes > 4096).map(|(bytes, end)| crate::units::Figure {
                bytes,
                half_width: 0,
                at: text.span(at, end),
            }),
        }
    });
    if let Some(figure) = found {
        event.facts.note(Fact::Requested, figure);
    }
    let device = ["ondevice", "allocateCUDA", "allocateROCm", "allocateVulkan", "allocateMetal"]
        .iter()
        .find_map(|label| text.after(label, 0).and_then(|at| text.count_at(at)));
    if let Some(device) = device.and_then(|(device, _)| u32::try_from(device).ok()) {
        event.facts.device.note(device, event.at);
    }
    event.at.last = event.at.last.max(end_of_report(document, position));
    let last = document.lines.partition_point(|line| line.number <= event.at.last);
    let report: Vec<&str> =
        document.lines.get(position..last).unwrap_or_default().iter().map(|line| line.text.as_str()).collect();
    match purpose(&report, field::before(position, 3).map(|at| field::text(document, at))) {
        Buffer::Cache => {
            event.dialect = "llamacpp-kv-buffer";
            event.sign(Sign::CacheRefused);
            event.sign(Sign::EngineStartup);
        }
        Buffer::Compute => {
            event.dialect = if host { "llamacpp-cpu-buffer" } else { "llamacpp-compute-buffer" };
            event.sign(Sign::EngineWarmup);
        }
        Buffer::Model | Buffer::Unknown => {
            event.sign(Sign::EngineStartup);
            if !host {
                event.sign(Sign::WeightsBuffer);
            }
        }
    }
    if report.iter().any(|line| line.contains("retrying without pipeline"))
        && !ends_at_a_prompt(document, position, event.at.last)
    {
        event.dialect = "llamacpp-retry-without-pipeline";
        event.make_harmless(text!(
            en: "the buffers for pipelined copies did not fit, and it tried again without them; only a failure after that would count",
            zh: "流水线并行所需的多份缓冲区放不下，程序已改为不使用流水线重试；只有此后再次失败才算数"
        ));
        return Some(event);
    }
    // A driver of Vulkan makes single buffers of 2 to 4 GiB only, whatever is free.
    if report.iter().any(|line| line.contains("Requested buffer size exceeds")) {
        event.sign(Sign::BufferSizeLimit);
    }
    if event.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    }
    if !host && event.dialect == "llamacpp-cuda-buffer-alloc" {
        projected(document, position, &mut event);
    }
    Some(event)
}

fn purpose<'a>(report: &[&str], before: impl Iterator<Item = &'a str>) -> Buffer {
    let has = |words: &[&str]| report.iter().any(|line| words.iter().any(|word| line.contains(word)));
    // What works on the cache (`llama_kv_cache_update_impl`) computes.
    let computes = has(&["compute buffer"]);
    if !computes && has(&["kv cache", "KV cache", "kv_cache", "self-attention cache", "buffer for kv"]) {
        Buffer::Cache
    } else if has(&["compute", "graph_reserve", "gallocr"]) {
        Buffer::Compute
    } else if has(&["loading model", "alloc_tensor_range", "load_tensors", "unable to allocate"])
        || before.into_iter().any(|line| line.contains("loading model tensors"))
    {
        Buffer::Model
    } else {
        Buffer::Unknown
    }
}

/// Page-locked memory only speeds copies up; without it ordinary memory serves.
fn unpinned(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "llamacpp-unpinned", Program::LlamaCpp, Resource::Host);
    event.sign(Sign::PinnedHost);
    event.make_harmless(text!(
        en: "page-locked host memory was refused, and ordinary memory is used instead: copies get slower, nothing else",
        zh: "锁页内存申请被拒，改用普通内存：仅拷贝变慢"
    ));
    event
}

/// Lines before a refusal in which the device's memory and the buffers already made are told.
const LOADING: usize = 200;

/// Completes a refusal with what the lines before it tell of the device; says whether Ollama ran it.
pub(super) fn complete(document: &Document, position: usize, event: &mut Event) {
    let around = |is: fn(&str) -> bool| {
        let lines = field::before(position, 80).chain(field::behind(document, position, 20));
        lines.map(|at| field::text(document, at)).any(is)
    };
    if event.program == Program::LlamaCpp {
        if around(is_ollama) {
            event.program = Program::Ollama;
        } else if around(is_of_speech) && !around(is_of_llama) {
            event.program = Program::WhisperCpp;
        }
    }
    memory_of_device(document, position, event);
}

/// Notes what the device had free when it was found, and the buffers that were made on it before the refusal.
fn memory_of_device(document: &Document, position: usize, event: &mut Event) {
    let Some(device) = event.facts.device.value() else { return };
    let free_label = format!("device CUDA{device} (");
    let mut others = false;
    for at in field::before(position, LOADING) {
        let line = field::text(document, at);
        let span = Span::line(field::number(document, at));
        if line.contains("buffer size") {
            if let Some(figure) = surroundings::buffer(line, device, "model", span) {
                event.facts.note(Fact::Weights, figure);
            }
            if let Some(figure) = surroundings::buffer(line, device, "KV", span) {
                event.facts.numbers.entry(Number::KvBuffer).or_insert((figure.bytes as f64, span));
            }
        } else if line.contains("using device ") {
            // Printed without decimals: a mark within is one between thousands, and which one it is nothing tells.
            let tail = line.rsplit_once(") - ").map(|(_, tail)| tail);
            let plain = |tail: &&str| !tail.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ',']);
            let free = tail.filter(plain).and_then(|tail| field::leading_size(tail, Base::Binary));
            if !line.contains(&free_label) {
                others = true;
            } else if let Some(free) = free {
                event.facts.numbers.entry(Number::DeviceFreeAtStart).or_insert((free.bytes as f64, span));
            }
        }
    }
    if others {
        field::note_number(event, Number::SplitOverDevices, Some(1.0));
    }
}
