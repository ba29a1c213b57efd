//! The JSON of `oomdoc replay` (`docs/replay.schema.json`), for programs. Bytes are integers; what is not known is
//! absent.

use super::wording;
use super::{Replayed, View};
use crate::incident::recording::Verdict;
use crate::report::Diagnosis;
use crate::report::json::Judgement;
use crate::report::view::{Tool, texts};
use crate::snapshot::NONE;
use crate::snapshot::analysis::{self, DeviceAnalysis, SnapshotAnalysis};
use crate::snapshot::holders::{self, Category, Certainty, Site};
use crate::snapshot::join;
use crate::snapshot::model::{Encoding, Generation};
use crate::snapshot::predict;
use crate::snapshot::what_if::{self, Change};
use crate::text::Lang;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// Free pieces that are listed, largest first.
const PIECES: usize = 64;

/// Bytes are integers; a value that is not known is absent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc replay --format json")]
pub struct Document<'a> {
    #[schemars(extend("const" = "oomdoc.replay/1"))]
    schema: &'static str,
    tool: Tool,
    /// The first snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Input<'a>>,
    /// All snapshots, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Input<'a>>,
    devices: Vec<Device<'a>>,
}

/// A memory snapshot.
#[derive(Debug, Serialize, JsonSchema)]
struct Input<'a> {
    /// Path as given.
    source: &'a str,
    bytes: u64,
    format: Format,
    #[serde(skip_serializing_if = "Option::is_none")]
    pickle_protocol: Option<u8>,
    torch: Versions,
    /// Where the snapshot keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocator_settings: Option<Settings<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Format {
    Pickle,
    Json,
}

/// Versions of PyTorch that write this format.
#[derive(Debug, Serialize, JsonSchema)]
struct Versions {
    from: String,
    /// Absent for the newest format.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

/// Settings of the allocator.
#[derive(Debug, Serialize, JsonSchema)]
struct Settings<'a> {
    /// As in PYTORCH_CUDA_ALLOC_CONF.
    conf: &'a str,
    expandable_segments: bool,
}

/// One device of one snapshot.
#[derive(Debug, Serialize, JsonSchema)]
struct Device<'a> {
    device: u32,
    /// Entries of the trace.
    events: usize,
    /// Segments at the end.
    segments: usize,
    /// In use at the end.
    allocated_bytes: u64,
    /// Reserved at the end.
    reserved_bytes: u64,
    /// Absent where no history was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak: Option<Peak<'a>>,
    /// The last state, in place of the peak where no history was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<State<'a>>,
    /// Failed requests.
    oom: Vec<Oom<'a>>,
    /// What the first of them comes of and what would change it, as `explain --snapshot` has it; absent where nothing
    /// failed or nothing was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnosis: Option<Judgement<'a>>,
    /// Failed requests beyond those listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    further_oom: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    growth: Option<Growth<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_to_allocator: Option<Budget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fidelity: Option<Fidelity<'a>>,
    /// The recorded requests under other circumstances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    what_if: Vec<WhatIf<'a>>,
    /// What they are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    what_if_base: Option<Base>,
    /// Which batch fits (--batch-scale).
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_scale: Option<BatchScale<'a>>,
    /// No allocator can do with less.
    #[serde(skip_serializing_if = "Option::is_none")]
    packing_bound_bytes: Option<u64>,
    /// What is missing of the record.
    notes: Vec<Cow<'a, str>>,
    /// Of several inputs, the one it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

/// The moment at which most was in use.
#[derive(Debug, Serialize, JsonSchema)]
struct Peak<'a> {
    /// Index of the entry after which it was reached; absent when it was before the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u32>,
    /// Most bytes asked for and live at once.
    requested_bytes: u64,
    /// The same plus what rounding adds to the blocks that the final state shows; nothing is reconstructed.
    block_bytes: u64,
    /// Most bytes of blocks in use, their sizes reconstructed: the peak of memory_allocated, but for blocks that wait for
    /// other streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    active_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    active_event: Option<u32>,
    /// Most bytes reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved_event: Option<u32>,
    #[serde(flatten)]
    state: State<'a>,
}

/// How memory lay and who held it.
#[derive(Debug, Serialize, JsonSchema)]
struct State<'a> {
    fragmentation: Fragmentation,
    held_bytes: u64,
    /// Largest first.
    holders: Vec<Holder<'a>>,
    categories: Vec<InCategory>,
    /// Blocks by size.
    sizes: Vec<SizeClass>,
}

/// Memory of one kind.
#[derive(Debug, Serialize, JsonSchema)]
struct InCategory {
    category: Category,
    bytes: u64,
    certainty: Certainty,
}

/// Blocks of a range of sizes.
#[derive(Debug, Serialize, JsonSchema)]
struct SizeClass {
    /// Absent for the largest class.
    #[serde(skip_serializing_if = "Option::is_none")]
    up_to_bytes: Option<u64>,
    count: u64,
    bytes: u64,
}

/// What is reserved and not in use.
#[derive(Debug, Serialize, JsonSchema)]
struct Fragmentation {
    reserved_bytes: u64,
    /// Blocks in use or waiting for other streams.
    active_bytes: u64,
    free_bytes: u64,
    largest_free_bytes: u64,
    free_in_private_pools_bytes: u64,
    /// The 64 largest sizes.
    free_pieces: Vec<Pieces>,
}

/// Free pieces of one size.
#[derive(Debug, Serialize, JsonSchema)]
struct Pieces {
    bytes: u64,
    count: u64,
}

/// Who holds memory, and how much.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SiteHolder")]
pub(in crate::report) struct Holder<'a> {
    bytes: u64,
    count: u64,
    largest_bytes: u64,
    category: Category,
    certainty: Certainty,
    /// Innermost frame of the program's own code, file:line function; absent without a stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a str>,
    /// What that line ran: the innermost frame of a library.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_frame: Option<&'a str>,
    /// The stack, innermost first, frames of libraries folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<&'a [String]>,
}

/// A request that failed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FailedRequest")]
struct Oom<'a> {
    /// Entry of the trace, counted from 0.
    event: u32,
    /// Rounded.
    requested_bytes: u64,
    device_free_bytes: u64,
    would_fit: WouldFit,
    #[serde(flatten)]
    state: State<'a>,
}

/// Where the request would have fitted.
#[derive(Debug, Serialize, JsonSchema)]
struct WouldFit {
    /// Into what is free on the device and cached, together.
    free_and_cached: bool,
    /// Into that, with expandable segments.
    recoverable_by_expandable: bool,
    /// Into that and what private pools keep free.
    with_private_pools: bool,
    /// Into a free piece of another stream or pool.
    in_other_stream_or_pool: bool,
}

/// Memory that grows over the recording.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GrowthOfFloor")]
struct Growth<'a> {
    by: GrowthBy,
    /// Least in use in each window; of many steps only some are looked at.
    floor_bytes: &'a [u64],
    per_step_bytes: u64,
    holders: Vec<Grown<'a>>,
}

/// What the windows are.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GrowthBy {
    OptimizerSteps,
    /// Equal stretches of the trace.
    Stretches,
}

/// A place that holds more and more.
#[derive(Debug, Serialize, JsonSchema)]
struct Grown<'a> {
    bytes: u64,
    /// Absent without a stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a str>,
}

/// What the allocator could have of the device.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AllocatorBudget")]
struct Budget {
    at_least_bytes: u64,
    /// Absent when the limit was never reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most_bytes: Option<u64>,
}

/// How far the simulated allocator does what the record shows.
#[derive(Debug, Serialize, JsonSchema)]
struct Fidelity<'a> {
    allocations: u64,
    /// Allocations at the recorded address.
    same_address: u64,
    segments: u64,
    /// Segments of the recorded size.
    same_size: u64,
    /// Requests that failed in the record.
    failed_requests: u64,
    /// Those that fail in the simulation too.
    failed_too: u64,
    first_divergence: Option<Divergence<'a>>,
    /// True where the simulation took too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    given_up: bool,
}

/// Where record and simulation part.
#[derive(Debug, Serialize, JsonSchema)]
struct Divergence<'a> {
    /// Entry of the trace, counted from 0.
    event: u32,
    how: &'a str,
}

/// The recorded requests under another circumstance.
#[derive(Debug, Serialize, JsonSchema)]
struct WhatIf<'a> {
    change: &'a Change,
    /// Settings of the allocator in force.
    conf: &'a str,
    /// Version of PyTorch.
    torch: String,
    /// Of another device.
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity_bytes: Option<u64>,
    /// Without a holder: its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_reserved_bytes: Option<u64>,
    /// Surely not less, where all is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_reserved_at_least_bytes: Option<u64>,
    /// And not more, where that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_reserved_at_most_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_active_bytes: Option<u64>,
    /// All is surely served where the allocator can have so many bytes of the device: more than it is known to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    served_from_bytes: Option<u64>,
    /// It surely fails where the allocator can have less: more than it is known to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_below_bytes: Option<u64>,
    /// Why a figure is a range, or the end open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    because: Vec<String>,
    /// Whether a request fails; absent when it depends on what is not known. Where the record never came to a limit, it
    /// is false on a device that has `served_from_bytes`, or else the peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    oom: Option<bool>,
    /// Where a request failed in the record: whether that one is served, though a later one may fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    serves: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oom_event: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oom_requested_bytes: Option<u64>,
    /// Times that the cache was given back because the device was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<u64>,
    /// Why PyTorch refuses these settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
    /// True where the simulation took too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    given_up: bool,
    /// Reserved memory less than with the recorded settings; negative when it takes more; absent when a request failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    saves_bytes: Option<i64>,
}

/// Which batch fits, as far as a recording of one batch tells.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchScale<'a> {
    /// Batch of the recording, where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_batch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity_bytes: Option<u64>,
    /// The largest batch that fits, where that of the recording was given: 0 where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<Batches>,
    /// The same, in recorded batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Times>,
    /// True where the recording begins in the middle or ends with the failed request, so that less may fit.
    at_most: bool,
    /// In use at the peak and growing with the batch.
    grows_bytes: u64,
    /// In use at the peak and perhaps growing with the batch.
    may_grow_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_because: Option<&'a str>,
}

/// Batches, both ends included.
#[derive(Debug, Serialize, JsonSchema)]
struct Batches {
    low: u64,
    high: u64,
}

/// Multiples of the recorded batch, both ends included.
#[derive(Debug, Serialize, JsonSchema)]
struct Times {
    low: f64,
    high: f64,
}

impl BatchScale<'_> {
    fn of(scale: &what_if::BatchScale, lang: Lang) -> BatchScale<'_> {
        let fits = scale.fits.as_ref().ok();
        let times = |parts: u64, whole: u64| (parts as f64 / whole.max(1) as f64 * 1e4).round() / 1e4;
        BatchScale {
            recorded_batch: scale.recorded,
            capacity_bytes: scale.capacity,
            batch: fits.filter(|_| scale.recorded.is_some()).map(|fits| Batches { low: fits.low, high: fits.high }),
            times: fits.map(|fits| Times { low: times(fits.low, fits.parts), high: times(fits.high, fits.parts) }),
            at_most: scale.open.is_some(),
            grows_bytes: scale.grows.0,
            may_grow_bytes: scale.grows.1,
            unknown_because: scale.fits.as_ref().err().map(|why| why.in_lang(lang)),
        }
    }
}

/// The analyses as one JSON document.
pub fn document(replayed: &[Replayed], view: View) -> Document<'_> {
    let several = replayed.len() > 1;
    let devices = replayed.iter().flat_map(|replayed| {
        let analysis = &replayed.analysis;
        let source = several.then_some(analysis.source.as_str());
        replayed.devices().map(move |device| Device::of(device, &analysis.sites, source, view))
    });
    let analyses = || replayed.iter().map(|replayed| &replayed.analysis);
    Document {
        schema: "oomdoc.replay/1",
        tool: Tool::this(),
        input: analyses().next().map(Input::of),
        inputs: if several { analyses().map(Input::of).collect() } else { Vec::new() },
        devices: devices.collect(),
    }
}

/// The index of an entry, where there is one.
fn entry(event: u32) -> Option<u32> {
    (event != NONE).then_some(event)
}

impl Input<'_> {
    fn of(analysis: &SnapshotAnalysis) -> Input<'_> {
        let (format, pickle_protocol) = match analysis.encoding {
            Encoding::Pickle(protocol) => (Format::Pickle, Some(protocol)),
            Encoding::Json => (Format::Json, None),
        };
        let settings = analysis.settings.as_ref();
        Input {
            source: &analysis.source,
            bytes: analysis.bytes,
            format,
            pickle_protocol,
            torch: Versions::of(analysis.generation),
            allocator_settings: settings
                .map(|settings| Settings { conf: &settings.conf, expandable_segments: settings.expandable_segments }),
        }
    }
}

impl Versions {
    fn of(generation: Generation) -> Versions {
        let version = |(major, minor): (u16, u16)| format!("{major}.{minor}");
        Versions { from: version(generation.from), to: generation.to.map(version) }
    }
}

impl<'a> Device<'a> {
    fn of(
        (device, diagnosis): (&'a DeviceAnalysis, Option<&'a Diagnosis>),
        sites: &'a [Site],
        source: Option<&'a str>,
        view: View,
    ) -> Device<'a> {
        let state = State::of(&device.at_peak, &device.holding, sites, view.top);
        let (peak, end) = match device.peak {
            Some(peak) => {
                let (active, reserved) = (device.peak_active, device.peak_reserved);
                let peak = Peak {
                    event: entry(peak.event),
                    requested_bytes: peak.requested,
                    block_bytes: peak.blocks,
                    active_bytes: active.map(|(bytes, _)| bytes),
                    active_event: active.and_then(|(_, event)| entry(event)),
                    reserved_bytes: reserved.map(|(bytes, _)| bytes),
                    reserved_event: reserved.and_then(|(_, event)| entry(event)),
                    state,
                };
                (Some(peak), None)
            }
            None => (None, Some(state)),
        };
        Device {
            device: device.ordinal,
            events: device.events,
            segments: device.segments,
            allocated_bytes: device.allocated,
            reserved_bytes: device.reserved,
            peak,
            end,
            oom: device.ooms.iter().map(|oom| Oom::of(oom, sites, view)).collect(),
            diagnosis: diagnosis.map(|diagnosis| Judgement::of(diagnosis, view.style.lang)),
            further_oom: Some(device.further_ooms).filter(|further| *further > 0),
            growth: device.growth.as_ref().map(|growth| Growth::of(growth, sites, view.top)),
            available_to_allocator: device
                .budget
                .map(|budget| Budget { at_least_bytes: budget.low, at_most_bytes: budget.high }),
            fidelity: device.fidelity.as_ref().map(|fidelity| Fidelity::of(fidelity, view.style.lang)),
            what_if: device.what_if.iter().map(|entry| WhatIf::of(entry, device, sites, view.style.lang)).collect(),
            what_if_base: device.what_if_base.filter(|_| !device.what_if.is_empty()).map(Base::from),
            batch_scale: device.batch_scale.as_ref().map(|scale| BatchScale::of(scale, view.style.lang)),
            packing_bound_bytes: device.least_needed(),
            notes: texts(&device.notes, view.style.lang),
            source,
        }
    }
}

impl<'a> State<'a> {
    fn of(holes: &analysis::Fragmentation, holding: &'a holders::Holding, sites: &'a [Site], top: usize) -> State<'a> {
        let pieces = holes.pieces.iter().take(PIECES).map(|(bytes, count)| Pieces { bytes: *bytes, count: *count });
        let categories = holding.categories.iter();
        let sizes = holding.sizes.iter().map(|(bound, count, bytes)| SizeClass {
            up_to_bytes: (*bound != u64::MAX).then_some(*bound),
            count: *count,
            bytes: *bytes,
        });
        State {
            fragmentation: Fragmentation {
                reserved_bytes: holes.reserved,
                active_bytes: holes.active,
                free_bytes: holes.free,
                largest_free_bytes: holes.largest(),
                free_in_private_pools_bytes: holes.free_in_private_pools,
                free_pieces: pieces.collect(),
            },
            held_bytes: holding.bytes,
            holders: holding.holders.iter().take(top).map(|holder| Holder::of(holder, sites)).collect(),
            categories: categories
                .map(|(category, bytes, certainty)| InCategory {
                    category: *category,
                    bytes: *bytes,
                    certainty: *certainty,
                })
                .collect(),
            sizes: sizes.collect(),
        }
    }
}

impl<'a> Holder<'a> {
    pub(in crate::report) fn of(holder: &holders::Holder, sites: &'a [Site]) -> Holder<'a> {
        let site = sites.get(holder.site as usize).filter(|site| !site.label.is_empty());
        Holder {
            bytes: holder.bytes,
            count: holder.count,
            largest_bytes: holder.largest,
            category: holder.category,
            certainty: holder.certainty,
            frame: site.map(|site| site.label.as_str()),
            inner_frame: site.and_then(|site| site.inner.as_deref()),
            frames: site.map(|site| site.frames.as_slice()),
        }
    }
}

impl<'a> Oom<'a> {
    fn of(oom: &'a analysis::Oom, sites: &'a [Site], view: View) -> Oom<'a> {
        let fit = oom.would_fit;
        Oom {
            event: oom.event,
            requested_bytes: oom.requested,
            device_free_bytes: oom.device_free,
            would_fit: WouldFit {
                free_and_cached: fit.free_and_cached,
                recoverable_by_expandable: fit.recoverable_by_expandable,
                with_private_pools: fit.with_private_pools,
                in_other_stream_or_pool: fit.elsewhere,
            },
            state: State::of(&oom.fragmentation, &oom.holding, sites, view.top),
        }
    }
}

impl<'a> Growth<'a> {
    fn of(growth: &'a analysis::Growth, sites: &'a [Site], top: usize) -> Growth<'a> {
        let grown = growth.sites.iter().take(top).map(|(site, bytes)| {
            let label = sites.get(*site as usize).map(|site| site.label.as_str());
            Grown { bytes: *bytes, frame: label.filter(|label| !label.is_empty()) }
        });
        Growth {
            by: if growth.by_steps { GrowthBy::OptimizerSteps } else { GrowthBy::Stretches },
            floor_bytes: &growth.floors,
            per_step_bytes: growth.per_step,
            holders: grown.collect(),
        }
    }
}

impl Fidelity<'_> {
    fn of(fidelity: &predict::Fidelity, lang: Lang) -> Fidelity<'_> {
        let divergence = fidelity.first_divergence.as_ref();
        Fidelity {
            allocations: fidelity.allocations,
            same_address: fidelity.same_address,
            segments: fidelity.segments,
            same_size: fidelity.same_size,
            failed_requests: fidelity.failed,
            failed_too: fidelity.failed_too,
            first_divergence: divergence.map(|(event, how)| Divergence { event: *event, how: how.in_lang(lang) }),
            given_up: fidelity.given_up,
        }
    }
}

/// The recorded program under its own settings, run as the variations are.
#[derive(Debug, Serialize, JsonSchema)]
struct Base {
    peak_reserved_bytes: u64,
    peak_active_bytes: u64,
}

impl From<what_if::Base> for Base {
    fn from(base: what_if::Base) -> Base {
        Base { peak_reserved_bytes: base.reserved, peak_active_bytes: base.in_use }
    }
}

impl<'a> WhatIf<'a> {
    fn of(entry: &'a what_if::WhatIf, device: &DeviceAnalysis, sites: &'a [Site], lang: Lang) -> WhatIf<'a> {
        let failed = device.ooms.first().map(|oom| oom.event);
        let mut out = WhatIf {
            change: &entry.change,
            conf: &entry.conf,
            torch: format!("{}.{}", entry.torch.major, entry.torch.minor),
            capacity_bytes: None,
            frame: None,
            peak_reserved_bytes: None,
            peak_reserved_at_least_bytes: None,
            peak_reserved_at_most_bytes: None,
            peak_active_bytes: None,
            served_from_bytes: None,
            fails_below_bytes: None,
            because: Vec::new(),
            oom: None,
            serves: match join::verdict(entry, failed) {
                Verdict::Serves { .. } if failed.is_some() => Some(true),
                Verdict::Fails { .. } if failed.is_some() => Some(false),
                _ => None,
            },
            oom_event: None,
            oom_requested_bytes: None,
            retries: None,
            refused: None,
            given_up: false,
            saves_bytes: entry.saves.map(|saves| i64::try_from(saves).unwrap_or(0)),
        };
        match &entry.change {
            Change::Capacity(bytes) => out.capacity_bytes = Some(*bytes),
            Change::Without(site) => out.frame = sites.get(*site as usize).map(|site| site.label.as_str()),
            _ => {}
        }
        match &entry.outcome {
            what_if::VariationOutcome::Ran {
                peak_reserved,
                least_reserved,
                most_reserved,
                peak_active,
                oom,
                served,
                enough,
                too_little,
                retries,
                because,
            } => {
                out.served_from_bytes = *enough;
                out.fails_below_bytes = *too_little;
                out.because = because.iter().map(|doubt| wording::doubt(*doubt).in_lang(lang).to_string()).collect();
                out.peak_reserved_bytes = Some(*peak_reserved);
                let range = least_reserved < most_reserved;
                out.peak_reserved_at_least_bytes = Some(*least_reserved).filter(|_| range);
                out.peak_reserved_at_most_bytes = Some(*most_reserved).filter(|most| range && *most < u64::MAX);
                out.peak_active_bytes = Some(*peak_active);
                out.oom = served.map(|served| !served);
                out.oom_event = oom.and_then(|(event, _)| self::entry(event));
                out.oom_requested_bytes = oom.map(|(_, bytes)| bytes);
                out.retries = Some(*retries);
            }
            what_if::VariationOutcome::Refused(why) => out.refused = Some(why.in_lang(lang)),
            what_if::VariationOutcome::GivenUp => out.given_up = true,
        }
        out
    }
}
