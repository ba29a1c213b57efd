//! What an engine was told and what it reported before it failed, read from the lines around its message.

use crate::dialect::{Event, Fact, field};
use crate::domain::Number;
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{Base, Figure, KIB, MIB, parse, size};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Lines before a message that are looked at: from the launch to a failure in start-up an engine prints a few hundred.
const BEFORE: usize = 400;
/// Lines behind it: advice, and the command as pasted below an error.
const BEHIND: usize = 30;

/// What a phrase tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tells {
    /// A count or ratio of this name.
    Count(Number),
    /// The same, where the phrase is a short flag and counts only in a command of llama.cpp.
    Flag(Number),
    /// A size that is a fact.
    Size(Fact),
    /// A size among the numbers, in bytes; it may be negative.
    Bytes(Number),
    /// The parts in front of and behind a slash: `offloaded 33/41 layers`.
    Pair(Number, Number),
}

use Tells::{Bytes, Count, Flag, Pair, Size};

/// Phrases with `-` written as `_`, so that flags, keys of dumps and keyword arguments read alike.
const PHRASES: &[(&str, Tells)] = &[
    ("gpu_memory_utilization", Count(Number::GpuMemoryUtilization)),
    ("max_model_len", Count(Number::MaxModelLen)),
    ("max_seq_len", Count(Number::MaxModelLen)),
    ("max_num_seqs", Count(Number::MaxNumSeqs)),
    ("max_num_batched_tokens", Count(Number::MaxNumBatchedTokens)),
    ("tensor_parallel_size", Count(Number::TensorParallelSize)),
    ("__tp_size", Count(Number::TensorParallelSize)),
    ("__tp ", Count(Number::TensorParallelSize)),
    ("pipeline_parallel_size", Count(Number::PipelineParallelSize)),
    ("block_size", Count(Number::BlockSize)),
    ("mem_fraction_static", Count(Number::MemFractionStatic)),
    ("cuda_graph_max_bs", Count(Number::CudaGraphMaxBs)),
    ("chunked_prefill_size", Count(Number::ChunkedPrefillSize)),
    ("max_running_requests", Count(Number::MaxRunningRequests)),
    ("context_length", Count(Number::MaxModelLen)),
    ("free_gpu_memory_fraction", Count(Number::FreeGpuMemoryFraction)),
    ("free_gpu_mem_fraction", Count(Number::FreeGpuMemoryFraction)),
    ("cache_max_entry_count", Count(Number::CacheMaxEntryCount)),
    ("session_len", Count(Number::MaxModelLen)),
    ("n_gpu_layers", Count(Number::NGpuLayers)),
    ("num_gpu", Count(Number::NGpuLayers)),
    ("ctx_size", Count(Number::NCtx)),
    ("n_ctx ", Count(Number::NCtx)),
    ("n_ctx=", Count(Number::NCtx)),
    ("num_ctx", Count(Number::NCtx)),
    ("OLLAMA_NUM_PARALLEL", Count(Number::NParallel)),
    ("__parallel ", Count(Number::NParallel)),
    ("n_batch", Count(Number::NBatch)),
    ("n_ubatch", Count(Number::NUbatch)),
    (" _ngl ", Flag(Number::NGpuLayers)),
    (" _c ", Flag(Number::NCtx)),
    (" _np ", Flag(Number::NParallel)),
    (" _b ", Flag(Number::NBatch)),
    (" _ub ", Flag(Number::NUbatch)),
    ("GPU KV cache size:", Count(Number::KvCacheTokens)),
    ("# GPU blocks:", Count(Number::GpuBlocks)),
    ("estimated maximum model length is", Count(Number::EstimatedMaxModelLen)),
    ("Model loading took", Size(Fact::Weights)),
    ("Loading model weights took", Size(Fact::Weights)),
    ("model weights take", Size(Fact::Weights)),
    ("mem usage=", Size(Fact::Weights)),
    ("Available KV cache memory:", Bytes(Number::KvAvailable)),
    ("Estimated CUDA graph memory:", Bytes(Number::CudaGraph)),
    ("PyTorch activation peak memory takes", Bytes(Number::ActivationPeak)),
    ("Load weight begin. avail mem=", Bytes(Number::FreeBeforeWeights)),
    ("avail mem=", Bytes(Number::AvailMem)),
    ("KV self size  =", Bytes(Number::KvSelf)),
    ("KV self size =", Bytes(Number::KvSelf)),
    ("n_layer  ", Count(Number::LayersRepeating)),
    ("offloaded ", Pair(Number::LayersOffloaded, Number::LayersModel)),
    ("layers.model=", Count(Number::LayersModel)),
    ("layers.offload=", Count(Number::LayersOffloaded)),
    ("memory.available=\"[", Bytes(Number::EstimatedFree)),
    ("memory.required.full=\"", Bytes(Number::RequiredFull)),
    ("memory.required.partial=\"", Bytes(Number::RequiredPartial)),
    ("projector.weights=\"", Bytes(Number::ProjectorWeights)),
    ("projector.graph=\"", Bytes(Number::ProjectorGraph)),
];

static SEARCH: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(PHRASES.iter().map(|(phrase, _)| phrase)).ok());

/// Notes on an event what the lines around it tell; what the message itself told stays. The nearest line before the
/// message wins, back to the command that started this run; lines behind it fill what is left open.
pub fn note(document: &Document, position: usize, event: &mut Event) {
    let mut command = None;
    for at in field::before(position + 1, BEFORE) {
        let line = field::text(document, at);
        read(line, field::number(document, at), event);
        if is_prompt(line) {
            command = Some(at);
            break;
        }
    }
    if command.is_none() {
        for at in field::behind(document, position, BEHIND) {
            if is_prompt(field::text(document, at)) {
                break;
            }
            read(field::text(document, at), field::number(document, at), event);
        }
    }
}

/// Words that only a serving engine's log holds.
const ENGINE_WORDS: [&str; 7] = [
    "KV cache",
    "gpu_memory_utilization",
    "gpu-memory-utilization",
    "mem-fraction-static",
    "mem_fraction_static",
    "vllm/",
    "sglang/",
];

/// As [`note`], for the message of a framework that may have failed inside an engine: adds nothing where no line around
/// it is an engine's.
pub fn note_where_an_engine_runs(document: &Document, position: usize, event: &mut Event) {
    let engine = field::before(position + 1, BEFORE)
        .chain(field::behind(document, position, BEHIND))
        .map(|at| field::text(document, at))
        .any(|line| line.len() <= LONGEST && ENGINE_WORDS.iter().any(|word| line.contains(word)));
    if engine {
        note(document, position, event);
    }
}

/// True for a shell's prompt with a command: another run begins there.
fn is_prompt(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("$ ") || line.starts_with("# vllm ") || line.starts_with("# python")
}

/// The longest line that is looked at.
const LONGEST: usize = 32 << 10;

fn read(line: &str, number: u64, event: &mut Event) {
    if line.len() > LONGEST {
        return;
    }
    let Some(search) = SEARCH.as_ref() else { return };
    let plain;
    let text = if line.contains('-') {
        // A sign in front of a number stays; it matters for what an engine has left.
        plain = underscored(line);
        plain.as_str()
    } else {
        line
    };
    let at = Span::line(number);
    for hit in search.find_overlapping_iter(text) {
        let Some((_, tells)) = PHRASES.get(hit.pattern().as_usize()) else { continue };
        let rest = text.get(hit.end()..).unwrap_or_default();
        match tells {
            Count(number) => keep(event, *number, value(rest), at),
            Flag(number) if text.contains("llama") || text.trim_start().starts_with('_') => {
                keep(event, *number, value(rest), at);
            }
            Flag(_) => {}
            Size(fact) => {
                if let Some((false, figure)) = signed_size(rest, at) {
                    event.facts.note(*fact, figure);
                }
            }
            // What was free before the weights came is another figure than what is free after.
            Bytes(Number::AvailMem) if text.contains("begin") => {}
            Bytes(number) => {
                if let Some((negative, figure)) = signed_size(rest, at) {
                    let bytes = figure.bytes as f64;
                    keep(event, *number, Some(if negative { -bytes } else { bytes }), at);
                }
            }
            Pair(first, second) => {
                let Some((a, b)) = rest.split_once('/') else { continue };
                let b = b.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                if let (Ok(a), Ok(b)) = (a.trim().parse::<u32>(), b.parse::<u32>()) {
                    keep(event, *first, Some(f64::from(a)), at);
                    keep(event, *second, Some(f64::from(b)), at);
                }
            }
        }
    }
}

/// The line with each hyphen that joins or begins a word replaced; one in front of a digit stays.
fn underscored(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let joins = c == '-' && !chars.peek().is_some_and(char::is_ascii_digit);
        out.push(if joins { '_' } else { c });
    }
    out
}

fn keep(event: &mut Event, number: Number, value: Option<f64>, at: Span) {
    if let Some(value) = value {
        event.facts.numbers.entry(number).or_insert((value, at));
    }
}

/// The number behind a key: `=0.9`, `: 32768,`, ` 8192`, `', '4096'`; thousands may be set off by commas or written
/// `32k`.
fn value(rest: &str) -> Option<f64> {
    let rest = rest.trim_start_matches([' ', '=', ':', '"', '\'', '\\', '`', '(']);
    let rest = rest.strip_prefix(", ").map_or(rest, |rest| rest.trim_start_matches(['"', '\'']));
    let mut end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(rest.len());
    // `max_num_seqs=256, dtype=…`: a comma that no three digits follow ends the number.
    while let Some(comma) = rest[..end].rfind(',') {
        if end - comma == 4 {
            break;
        }
        end = comma;
    }
    let number = rest[..end].trim_end_matches('.').replace(',', "");
    let value: f64 = number.parse().ok()?;
    let thousands = matches!(rest.as_bytes().get(end), Some(b'k' | b'K'));
    Some(if thousands { value * KIB as f64 } else { value })
}

/// The size behind a label, with a sign: `-2.16 GiB`, `14.99GiB`, `= 512.00 MiB`, `"1.8 GiB"`. A number without a unit
/// is in MiB nowhere, so it is no size.
fn signed_size(rest: &str, at: Span) -> Option<(bool, Figure)> {
    let rest = rest.trim_start_matches([' ', '=', ':', '"', '[']);
    let (negative, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    let unit = rest[digits..].trim_start();
    let word = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
    if word == 0 {
        return None;
    }
    let found = size(&rest[..digits], &unit[..word], Base::Binary)?;
    Some((negative, found.at(at)))
}

/// The size that a llama.cpp line gives for a buffer of a device: `CUDA0 model buffer size =  4403.49 MiB`.
pub fn buffer(line: &str, device: u32, kind: &str, at: Span) -> Option<Figure> {
    let label = format!("{device} {kind} buffer size");
    let (_, rest) = line.split_once(&label)?;
    parse(rest.trim_start_matches([' ', '=']).split_inclusive("iB").next()?, Base::Binary)
        .map(|found| found.at(at))
        .filter(|figure| figure.bytes < u64::MAX / MIB)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;

    fn told(text: &str) -> Event {
        let document = Document::from_text("-", text);
        let mut event = Event::new("test", Program::Vllm, Resource::KvCache, Span::line(1));
        note(&document, document.lines.len() - 1, &mut event);
        event
    }

    #[test]
    fn flags_dumps_and_reports_are_read_alike() {
        let event = told(
            "$ vllm serve org/m --max-model-len 16k --gpu-memory-utilization 0.85\n\
             args: Namespace(max_num_seqs=256, tensor_parallel_size=2)\n\
             Model loading took 14.99 GiB and 3.1 seconds\n\
             Available KV cache memory: -1.25 GiB\nGPU KV cache size: 126,305 tokens\nend",
        );
        let number = |name| event.facts.number(name);
        assert_eq!(number(Number::MaxModelLen), Some(16384.0));
        assert_eq!(number(Number::GpuMemoryUtilization), Some(0.85));
        assert_eq!(number(Number::MaxNumSeqs), Some(256.0));
        assert_eq!(number(Number::TensorParallelSize), Some(2.0));
        assert_eq!(number(Number::KvAvailable), Some(-1_342_177_280.0));
        assert_eq!(number(Number::KvCacheTokens), Some(126_305.0));
        assert_eq!(event.facts.get(Fact::Weights).map(|f| f.bytes), Some(16_095_389_942));
    }

    #[test]
    fn the_nearest_run_counts() {
        let event = told("$ vllm serve m --max-model-len 65536\nboom\n$ vllm serve m --max-model-len 4096\nlast");
        assert_eq!(event.facts.number(Number::MaxModelLen), Some(4096.0));
    }

    #[test]
    fn short_flags_count_in_commands_of_llama_cpp_only() {
        assert_eq!(told("./llama-server -m x.gguf -ngl 99 -c 32768\nx").facts.number(Number::NCtx), Some(32768.0));
        assert_eq!(told("tar -c 5 x\nx").facts.number(Number::NCtx), None);
        assert_eq!(told("offloaded 20/33 layers to GPU").facts.number(Number::LayersModel), Some(33.0));
    }
}
