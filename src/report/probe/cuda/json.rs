//! The `cuda` part of the probe's JSON, and the failure that was worked out.

use super::{Measured, Part, busy, cuda_version, outcome_text};
use crate::gpu::cuda::protocol::{self as cuda, Taken};
use crate::gpu::twin;
use crate::report::view::Read;
use crate::text::{Lang, Text};
use schemars::JsonSchema;
use serde::Serialize;

/// What a process with a context of its own found out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cuda {
    /// CUDA that the driver serves.
    cuda_version: String,
    /// CUDA's number of the device.
    ordinal: u32,
    name: String,
    uuid: Read<String>,
    multiprocessors: u32,
    compute_capability: String,
    total_bytes: u64,
    free_bytes: u64,
    /// What a bare context takes.
    context_bytes: Read<u64>,
    /// Left to others whatever the probe does.
    margin_bytes: u64,
    /// Of virtual memory management.
    granularity_bytes: Read<u64>,
    /// The largest allocation that the driver served.
    largest_block_bytes: Read<u64>,
    /// The most that could be mapped in small pages.
    largest_mapped_bytes: Read<u64>,
    /// Not more than this was tried.
    largest_tried_bytes: Read<u64>,
    /// Small pages give clearly more than one block; null where the device maps none.
    physically_fragmented: Read<Option<bool>>,
    bandwidth: Read<Bandwidth>,
    memory_check: Read<MemoryCheck>,
    allocation_seconds: Read<Vec<Latency>>,
    /// A failure re-created on the device.
    experiment: Read<Vec<Read<Outcome>>>,
    /// Why it stopped on a GPU in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// How the probe's own process ended before it was through.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_short: Option<String>,
}

/// Of the device's memory.
#[derive(Debug, Serialize, JsonSchema)]
struct Bandwidth {
    read_bytes_per_second: u64,
    write_bytes_per_second: u64,
    /// Both directions counted.
    copy_bytes_per_second: u64,
    /// By clock and bus width; null where the driver does not tell these.
    peak_bytes_per_second: Option<u64>,
    buffer_bytes: u64,
}

/// Patterns written and read back.
#[derive(Debug, Serialize, JsonSchema)]
struct MemoryCheck {
    bytes: u64,
    wrong_words: u64,
    sums_agree: bool,
    /// The first wrong words.
    first: Vec<WrongWord>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WrongWord {
    offset: u64,
    /// In hexadecimal.
    wrong_bits: String,
}

/// Seconds of one allocation; null where the device has no such way.
#[derive(Debug, Serialize, JsonSchema)]
struct Latency {
    bytes: u64,
    alloc: f64,
    free: f64,
    pool_alloc: Option<f64>,
    pool_free: Option<f64>,
    map: Option<f64>,
}

/// A state of the memory re-created on the device, and whether the request goes through.
#[derive(Debug, Serialize, JsonSchema)]
struct Outcome {
    layout: String,
    /// By how much free memory and request were raised, so that the margin stays free.
    raised_bytes: u64,
    scale: f64,
    free_bytes: u64,
    requested_bytes: u64,
    /// Without the state the device refused what it must and granted what it must.
    control: bool,
    observed: Vec<Ways>,
    predicted: Ways,
    agrees: bool,
    memory_returned: bool,
    verdict: Or<twin::FailureMode, Inconclusive>,
    text: String,
}

/// A word, or one that says why there is none.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "{W}_or_{N}")]
enum Or<W, N> {
    Word(W),
    None(N),
}

impl<W, N> Or<W, N> {
    fn of(word: Option<W>, none: N) -> Or<W, N> {
        word.map_or(Or::None(none), Or::Word)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Inconclusive {
    /// The control failed, or the repetitions differ.
    Inconclusive,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Open {
    /// The cases differ.
    Open,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum NotTried {
    /// On no device.
    NotTried,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Basis {
    Arithmetic,
    Device,
}

/// Whether the request goes through.
#[derive(Debug, Serialize, JsonSchema)]
struct Ways {
    /// As one allocation.
    plain: bool,
    /// With the pages of PyTorch's expandable segments.
    torch_pages: bool,
    /// With the smallest pages that the device maps.
    smallest_pages: bool,
}

impl From<twin::Ways> for Ways {
    fn from(ways: twin::Ways) -> Ways {
        Ways { plain: ways.plain, torch_pages: ways.torch, smallest_pages: ways.small }
    }
}

/// A failure worked out by arithmetic, and what a device said of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reproduction {
    /// Where the failure stands: a line of a log, an entry of a snapshot.
    origin: String,
    basis: Basis,
    /// What the device said of the verdict, which is the arithmetic's.
    measured: Or<Measured, NotTried>,
    verdict: Or<twin::FailureMode, Open>,
    text: String,
    /// States that have the sums of the message; one where a snapshot shows it.
    cases: Vec<Case>,
}

/// A state of the allocator's segments, and what follows from it.
#[derive(Debug, Serialize, JsonSchema)]
struct Case {
    layout: String,
    requested_bytes: u64,
    free_bytes: u64,
    /// Segments without a live block.
    idle_segment_bytes: u64,
    /// Free inside segments that hold live blocks.
    cached_bytes: u64,
    largest_hole_bytes: u64,
    /// Whole free pages of PyTorch's expandable segments.
    whole_20mib_pages_bytes: u64,
    /// Whole free pages of the smallest size.
    whole_2mib_pages_bytes: u64,
    predicted: Ways,
    verdict: twin::FailureMode,
}

/// The `cuda` part of the contract.
pub fn part(part: &Part, lang: Lang) -> Read<Cuda> {
    let read = match part {
        Part::Refused(why) | Part::Unsuited(why) => return Read::missing(why, lang),
        Part::Read(read) => read,
    };
    let ready = read.driver().and_then(|driver| Ok((driver, read.device()?, read.memory()?)));
    let (driver, device, memory) = match ready {
        Ok(ready) => ready,
        Err(failure) => return Read::missing(&failure.text(), lang),
    };
    let largest = read.largest();
    let unknown_context = Text::new(
        "needs NVML's free memory before, with nobody coming meanwhile",
        "需要 NVML 提供之前的空闲量，且期间无人使用",
    );
    let unmapped = Text::new("no virtual memory management", "不支持虚拟内存管理");
    Read::Value(Cuda {
        cuda_version: cuda_version(driver.cuda_version),
        ordinal: device.ordinal,
        name: device.name,
        uuid: taken(device.uuid, lang, |uuid| uuid),
        multiprocessors: device.multiprocessors,
        compute_capability: format!("{}.{}", device.capability.0, device.capability.1),
        total_bytes: memory.total,
        free_bytes: memory.free,
        context_bytes: memory.context.map_or_else(|| Read::missing(&unknown_context, lang), Read::Value),
        margin_bytes: memory.margin,
        granularity_bytes: taken(read.granularity(), lang, |bytes| bytes),
        largest_block_bytes: taken(largest.clone(), lang, |found| found.single),
        largest_mapped_bytes: match largest.clone().map(|found| found.mapped) {
            Ok(None) => Read::missing(&unmapped, lang),
            Ok(Some(bytes)) => Read::Value(bytes),
            Err(failure) => Read::missing(&failure.text(), lang),
        },
        largest_tried_bytes: taken(largest.clone(), lang, |found| found.bound),
        physically_fragmented: taken(largest, lang, |found| found.physically_fragmented()),
        bandwidth: taken(read.bandwidth(), lang, Bandwidth::of),
        memory_check: taken(read.check(), lang, MemoryCheck::of),
        allocation_seconds: taken(read.latencies(), lang, |found| found.into_iter().map(Latency::of).collect()),
        experiment: taken(read.experiment(), lang, |found| {
            found.into_iter().map(|one| taken(one, lang, |outcome| Outcome::of(&outcome, lang))).collect()
        }),
        refused: read.busy().map(|bytes| busy(bytes).in_lang(lang).to_string()),
        cut_short: read.cut.as_ref().map(|failure| failure.text().in_lang(lang).to_string()),
    })
}

fn taken<R, T>(taken: Taken<R>, lang: Lang, value: impl FnOnce(R) -> T) -> Read<T> {
    match taken {
        Ok(read) => Read::Value(value(read)),
        Err(failure) => Read::missing(&failure.text(), lang),
    }
}

impl Bandwidth {
    fn of(found: cuda::Bandwidth) -> Bandwidth {
        Bandwidth {
            read_bytes_per_second: found.read as u64,
            write_bytes_per_second: found.write as u64,
            copy_bytes_per_second: found.copy as u64,
            peak_bytes_per_second: found.peak.map(|peak| peak as u64),
            buffer_bytes: found.buffer,
        }
    }
}

impl MemoryCheck {
    fn of(found: cuda::MemoryCheck) -> MemoryCheck {
        let first = found.first.iter();
        MemoryCheck {
            bytes: found.bytes,
            wrong_words: found.wrong_words,
            sums_agree: found.sums_agree,
            first: first
                .map(|(offset, bits)| WrongWord { offset: *offset, wrong_bits: format!("{bits:#018x}") })
                .collect(),
        }
    }
}

impl Latency {
    fn of(one: cuda::Latency) -> Latency {
        let cuda::Latency { bytes, alloc, free, pool_alloc, pool_free, map } = one;
        Latency { bytes, alloc, free, pool_alloc, pool_free, map }
    }
}

impl Outcome {
    fn of(outcome: &cuda::ExperimentOutcome, lang: Lang) -> Outcome {
        Outcome {
            layout: outcome.layout.text().in_lang(lang).to_string(),
            raised_bytes: outcome.raised,
            scale: 1.0 / (1u64 << outcome.halvings.min(63)) as f64,
            free_bytes: outcome.free,
            requested_bytes: outcome.requested,
            control: outcome.control,
            observed: outcome.observed.iter().copied().map(Ways::from).collect(),
            predicted: outcome.predicted.ways.into(),
            agrees: outcome.agrees,
            memory_returned: outcome.returned,
            verdict: Or::of(outcome.verdict, Inconclusive::Inconclusive),
            text: outcome_text(outcome).in_lang(lang).to_string(),
        }
    }
}

impl Reproduction {
    pub fn of(reproduction: &twin::Reproduction, measured: Option<Measured>, lang: Lang) -> Reproduction {
        let cases = reproduction.cases.iter().map(|(state, prediction)| Case {
            layout: state.layout.text().in_lang(lang).to_string(),
            requested_bytes: prediction.requested,
            free_bytes: prediction.free,
            idle_segment_bytes: prediction.idle,
            cached_bytes: prediction.cached,
            largest_hole_bytes: prediction.largest_hole,
            whole_20mib_pages_bytes: prediction.torch_pages,
            whole_2mib_pages_bytes: prediction.small_pages,
            predicted: prediction.ways.into(),
            verdict: prediction.ways.verdict(),
        });
        Reproduction {
            origin: reproduction.origin.in_lang(lang).to_string(),
            basis: if measured.is_some() { Basis::Device } else { Basis::Arithmetic },
            measured: Or::of(measured, NotTried::NotTried),
            verdict: Or::of(reproduction.verdict(), Open::Open),
            text: reproduction.text().in_lang(lang).to_string(),
            cases: cases.collect(),
        }
    }
}
