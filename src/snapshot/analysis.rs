//! What a snapshot says about one device: the peaks, who held them, what was free in which pieces, what grows.

use super::history::{self, History, Peak};
use super::holders::{self, Holding, Site, Sites};
use super::model::{Device, Encoding, Generation, Settings, Snapshot};
use super::predict::{Budget, Fidelity};
use super::space::{self, Image, Played, Rules, Wanted, Window};
use super::store::{Action, NONE, NumberMap};
use super::what_if::{Base, BatchScale, WhatIf};
use crate::allocator::{LARGE_SEGMENT, SMALL_SEGMENT, round_up};
use crate::order::InOrder;
use crate::text;
use crate::text::Text;

/// Points of the timeline at most.
const TIMELINE: usize = 480;
/// OOM entries that are looked into; programs that catch the error in a loop have thousands.
const OOMS_EXAMINED: usize = 16;

/// The free memory inside of what the allocator holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fragmentation {
    pub reserved: u64,
    pub active: u64,
    /// Free bytes in segments.
    pub free: u64,
    /// Free pieces by size, largest first: size and how many.
    pub pieces: Vec<(u64, u64)>,
    /// Bytes of free pieces in private pools, which other requests cannot use.
    pub free_in_private_pools: u64,
    /// Free bytes in segments that are wholly free.
    pub free_segments: u64,
}

impl Fragmentation {
    pub fn largest(&self) -> u64 {
        self.pieces.first().map_or(0, |(size, _)| *size)
    }

    fn of(image: &Image) -> Fragmentation {
        let mut out = Fragmentation { reserved: image.reserved(), ..Fragmentation::default() };
        let mut sizes: Vec<u64> = Vec::new();
        for (size, segment) in image.free() {
            out.free = out.free.saturating_add(size);
            if segment.range.pool != (0, 0) {
                out.free_in_private_pools = out.free_in_private_pools.saturating_add(size);
            }
            if size == segment.range.size {
                out.free_segments = out.free_segments.saturating_add(size);
            }
            sizes.push(size);
        }
        out.active = out.reserved.saturating_sub(out.free);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        for size in sizes {
            match out.pieces.last_mut() {
                Some(last) if last.0 == size => last.1 += 1,
                _ => out.pieces.push((size, 1)),
            }
        }
        out
    }
}

/// What could have served a request that failed, other things unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WouldFit {
    /// If what the device had free and what the allocator had cached had been one piece.
    pub free_and_cached: bool,
    /// If the whole granules (20 MiB) of its holes could have been returned to the driver.
    pub recoverable_by_expandable: bool,
    /// If free memory of private pools had been usable too, where without it `free_and_cached` fails.
    pub with_private_pools: bool,
    /// The free piece that is large enough but of another stream or pool.
    pub elsewhere: bool,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Oom {
    pub event: u32,
    /// Rounded, as the trace has it.
    pub requested: u64,
    pub device_free: u64,
    pub stack: u32,
    pub would_fit: WouldFit,
    pub fragmentation: Fragmentation,
    pub holding: Holding,
}

/// Something that grows from step to step.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// True when the steps are those of the optimizer, false for equal stretches of the trace.
    pub by_steps: bool,
    /// Least bytes in use in each of the steps or stretches looked at.
    pub floors: Vec<u64>,
    /// Steps or stretches from the first floor to the last. Of many steps only some are looked at.
    pub spans: usize,
    /// Bytes that one of them adds.
    pub per_step: u64,
    /// The sites that grow: site and bytes from the first to the last step, largest first.
    pub sites: Vec<(u32, u64)>,
}

/// A snapshot and what it says.
pub struct SnapshotAnalysis {
    /// The path as given, or `-`.
    pub source: String,
    /// Size of the file in bytes, as read.
    pub bytes: u64,
    pub encoding: Encoding,
    pub generation: Generation,
    pub settings: Option<Settings>,
    pub devices: Vec<DeviceAnalysis>,
    /// The places in the program that holders point to.
    pub sites: Vec<Site>,
}

/// Everything about one device.
pub struct DeviceAnalysis {
    pub ordinal: u32,
    pub events: usize,
    pub segments: usize,
    pub allocated: u64,
    pub reserved: u64,
    /// `None` without a trace worth the name: only the final state is known.
    pub peak: Option<Peak>,
    /// `memory_allocated` and memory waiting for streams at its highest, by true block sizes.
    pub peak_active: Option<(u64, u32)>,
    pub peak_reserved: Option<(u64, u32)>,
    /// Who held it at the peak, or at the end without a trace.
    pub holding: Holding,
    pub at_peak: Fragmentation,
    pub peak_image: Image,
    pub ooms: Vec<Oom>,
    /// The map at the first OOM.
    pub oom_image: Option<Image>,
    /// The site of each allocation in the two maps.
    pub map_sites: NumberMap<u32, u32>,
    /// OOM entries that were not examined, being too many.
    pub further_ooms: usize,
    pub timeline: Vec<Window>,
    pub growth: Option<Growth>,
    /// Steps of the optimizer that the trace marks.
    pub steps: usize,
    pub notes: Vec<Text>,
    pub history: History,
    /// Entries that did not fit the memory map.
    pub misfits: u64,
    /// How well the simulator foresees the record; `None` when nothing was simulated.
    pub fidelity: Option<Fidelity>,
    pub budget: Option<Budget>,
    pub what_if: Vec<WhatIf>,
    /// What the variations are compared with.
    pub what_if_base: Option<Base>,
    /// Which batch fits, where that was asked for.
    pub batch_scale: Option<BatchScale>,
    /// What single sites hold along the timeline; empty until [`layers`] was asked for.
    pub layers: Vec<Layer>,
}

/// What one site holds along the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub site: u32,
    /// Bytes at the highest entry of each window.
    pub bytes: Vec<u64>,
}

/// The sites that hold most at the peak or at the first failed request, along the timeline: at most `count`, the
/// largest first.
pub fn layers(analysis: &DeviceAnalysis, sites: &mut Sites<'_>, count: usize) -> Vec<Layer> {
    let mut chosen: Vec<u32> = Vec::new();
    let oom = analysis.ooms.first().map(|oom| &oom.holding);
    for holder in oom.into_iter().chain([&analysis.holding]).flat_map(|holding| holding.holders.iter().take(count)) {
        if !chosen.contains(&holder.site) && chosen.len() < count {
            chosen.push(holder.site);
        }
    }
    let history = &analysis.history;
    let mut held: Vec<u64> = vec![0; chosen.len()];
    // Sites are few among many stacks: look each stack up once.
    let mut slot_of: NumberMap<u32, Option<usize>> = NumberMap::default();
    let mut slot = |sites: &mut Sites<'_>, stack: u32| {
        *slot_of.entry(stack).or_insert_with(|| {
            let site = sites.of(stack);
            chosen.iter().position(|other| *other == site)
        })
    };
    for allocation in history.allocations.iter().filter(|allocation| allocation.is_live(NONE)) {
        if let Some(slot) = slot(sites, allocation.stack).and_then(|slot| held.get_mut(slot)) {
            *slot = slot.saturating_add(allocation.size);
        }
    }
    let mut layers: Vec<Layer> = chosen.iter().map(|site| Layer { site: *site, bytes: Vec::new() }).collect();
    let mut moments = analysis.timeline.iter().map(|window| window.high.1).peekable();
    for (i, id) in history.of_event.iter().enumerate() {
        let number = i as u32;
        if let Some(allocation) = history.allocations.get(*id as usize)
            && let Some(slot) = slot(sites, allocation.stack).and_then(|slot| held.get_mut(slot))
        {
            if allocation.born == number {
                *slot = slot.saturating_add(allocation.size);
            } else if allocation.freed == number {
                *slot = slot.saturating_sub(allocation.size);
            }
        }
        while moments.next_if(|moment| *moment <= number).is_some() {
            for (layer, bytes) in layers.iter_mut().zip(&held) {
                layer.bytes.push(*bytes);
            }
        }
    }
    layers
}

/// Analyses one device. `rules` say how requests are rounded under the recorded settings.
pub fn device(snapshot: &Snapshot, device: &Device, sites: &mut Sites<'_>, rules: Rules<'_>) -> DeviceAnalysis {
    let mut history = history::walk_back(device);
    let last = if device.trace.is_empty() { NONE } else { (device.trace.len() - 1) as u32 };
    let recorded = device.trace.iter().any(|event| event.action == Action::Alloc);

    let ooms: Vec<u32> = entries(device, Action::Oom).collect();
    let examined: Vec<u32> = ooms.iter().copied().take(OOMS_EXAMINED).collect();
    let moment = if recorded { history.peak.event } else { last };
    let mut images: Vec<u32> = examined.clone();
    images.push(moment);
    images.sort_unstable();
    images.dedup();
    let starts = window_starts(device.trace.len(), TIMELINE);
    let Played { peak_active, images, windows, misfits } =
        space::play(device, &mut history, rules, Wanted { images: &images, windows: &starts });
    let image_at = |event: u32| images.iter().find(|(at, _)| *at == event).map(|(_, image)| image);

    let ooms: Vec<Oom> = examined
        .iter()
        .filter_map(|&event| {
            let (entry, image) = (device.trace.get(event as usize)?, image_at(event)?);
            let fragmentation = Fragmentation::of(image);
            Some(Oom {
                event,
                requested: entry.size,
                device_free: entry.addr,
                stack: entry.stack,
                would_fit: would_fit(entry.size, entry.stream, entry.addr, image, &fragmentation),
                fragmentation,
                holding: holders::at(sites, &history, event),
            })
        })
        .collect();
    let peak_image = image_at(moment).cloned().unwrap_or_default();
    let oom_image = ooms.first().and_then(|oom| image_at(oom.event)).cloned();
    let holding = holders::at(sites, &history, moment);
    let mut map_sites = NumberMap::default();
    for segment in [Some(&peak_image), oom_image.as_ref()].into_iter().flatten().flat_map(|image| &image.segments) {
        for piece in &segment.pieces {
            if let Some(allocation) = history.allocations.get(piece.holder as usize) {
                map_sites.insert(piece.holder, sites.of(allocation.stack));
            }
        }
    }
    let growth = growth(snapshot, device, &history, sites, &windows);
    let mut notes = device.notes.clone();
    notes.extend(losses(snapshot, device, &history, misfits, recorded));
    DeviceAnalysis {
        ordinal: device.ordinal,
        events: device.trace.len(),
        segments: device.segments.len(),
        allocated: device.allocated(),
        reserved: device.reserved(),
        peak: recorded.then_some(history.peak),
        peak_active: recorded.then_some(peak_active),
        peak_reserved: recorded.then_some(history.peak_reserved),
        holding,
        at_peak: Fragmentation::of(&peak_image),
        peak_image,
        further_ooms: entries(device, Action::Oom).count() - ooms.len(),
        ooms,
        oom_image,
        map_sites,
        timeline: windows,
        growth,
        steps: optimizer_steps(snapshot, device).len(),
        notes,
        history,
        misfits,
        fidelity: None,
        budget: None,
        what_if: Vec::new(),
        what_if_base: None,
        batch_scale: None,
        layers: Vec::new(),
    }
}

fn entries(device: &Device, action: Action) -> impl Iterator<Item = u32> {
    device.trace.iter().enumerate().filter(move |(_, event)| event.action == action).map(|(i, _)| i as u32)
}

/// First entries of at most `count` equal windows.
fn window_starts(events: usize, count: usize) -> Vec<u32> {
    let count = count.min(events);
    (0..count).map(|i| (i as u64 * events as u64 / count.max(1) as u64) as u32).collect()
}

impl DeviceAnalysis {
    /// Bytes that no allocator can do without: the most that was asked for at once, with a request that failed on top
    /// of what lived then.
    pub fn least_needed(&self) -> Option<u64> {
        let peak = self.peak?.requested;
        let at_failure = self.ooms.first().map(|oom| {
            let live = self.history.allocations.iter().filter(|allocation| allocation.is_live(oom.event));
            live.fold(oom.requested, |sum, allocation| sum.saturating_add(allocation.requested))
        });
        Some(peak.max(at_failure.unwrap_or(0)))
    }
}

fn would_fit(request: u64, stream: u64, device_free: u64, image: &Image, holes: &Fragmentation) -> WouldFit {
    let usable = holes.free - holes.free_in_private_pools;
    let granules = image
        .free()
        // What still lies in expandable segments has been tried already.
        .filter(|(_, segment)| segment.range.pool == (0, 0) && !segment.range.expandable)
        .map(|(size, segment)| {
            let granule = if segment.range.small { SMALL_SEGMENT } else { LARGE_SEGMENT };
            // A wholly free segment goes back in one piece.
            if size == segment.range.size { size } else { size / granule * granule }
        })
        .fold(0, u64::saturating_add);
    let in_granules = round_up(request, LARGE_SEGMENT);
    let free_and_cached = device_free.saturating_add(usable) >= request;
    WouldFit {
        free_and_cached,
        recoverable_by_expandable: device_free.saturating_add(granules) >= in_granules,
        with_private_pools: !free_and_cached && device_free.saturating_add(holes.free) >= request,
        elsewhere: image
            .free()
            .any(|(size, segment)| size >= request && (segment.range.stream != stream || segment.range.pool != (0, 0))),
    }
}

/// Steps or stretches whose floor is looked at, at most.
const GROWTH_WINDOWS: usize = 16;

fn growth(
    snapshot: &Snapshot,
    device: &Device,
    history: &History,
    sites: &mut Sites<'_>,
    windows: &[Window],
) -> Option<Growth> {
    let steps = optimizer_steps(snapshot, device);
    let by_steps = steps.len() >= 4;
    // The floor of each step or stretch, with its number: the fewest bytes in use in it, and when.
    let floors: Vec<(usize, (u64, u32))> = if by_steps {
        let stretches = steps.windows(2).map(|pair| (pair[0], pair[1])).enumerate();
        let skip = stretches.len().div_ceil(GROWTH_WINDOWS).max(1);
        let low =
            |(from, to): (u32, u32)| windows.iter().filter(|w| w.first >= from && w.last <= to).map(|w| w.low).min();
        stretches.step_by(skip).filter_map(|(number, stretch)| Some((number, low(stretch)?))).collect()
    } else {
        let size = windows.len().div_ceil(GROWTH_WINDOWS).max(1);
        let lows = windows.chunks(size).map(|chunk| chunk.iter().map(|w| w.low).min()).enumerate();
        lows.filter_map(|(number, low)| Some((number, low?))).collect()
    };
    // The first stretch builds the model; the last may end in the middle of a step.
    let floors = floors.get(1..floors.len().saturating_sub(1)).filter(|floors| floors.len() >= 4)?;
    let ((first_number, first), (last_number, last)) = (*floors.first()?, *floors.last()?);
    let spans = (last_number - first_number).max(1);
    let risen = last.0.checked_sub(first.0)?;
    let rises = floors.windows(2).filter(|pair| pair[1].1.0 > pair[0].1.0).count();
    let significant = risen >= (16 << 20) && risen >= history.peak.requested / 20;
    if !significant || rises * 4 < (floors.len() - 1) * 3 {
        return None;
    }
    let held = |sites: &mut Sites<'_>, event: u32| {
        let mut by_site: NumberMap<u32, u64> = NumberMap::default();
        for allocation in history.allocations.iter().filter(|allocation| allocation.is_live(event)) {
            *by_site.entry(sites.of(allocation.stack)).or_default() += allocation.size;
        }
        by_site
    };
    let before = held(sites, first.1);
    let mut grown: Vec<(u32, u64)> = held(sites, last.1)
        .into_iter()
        .filter_map(|(site, bytes)| {
            let more = bytes.checked_sub(before.get(&site).copied().unwrap_or(0))?;
            (more * 20 >= risen).then_some((site, more))
        })
        .collect();
    grown.order_by_key(|(site, bytes)| (std::cmp::Reverse(*bytes), *site));
    Some(Growth {
        by_steps,
        floors: floors.iter().map(|(_, (low, _))| *low).collect(),
        spans,
        per_step: risen / spans as u64,
        sites: grown,
    })
}

/// The entries at which steps of the optimizer begin, by the marks that PyTorch itself sets.
fn optimizer_steps(snapshot: &Snapshot, device: &Device) -> Vec<u32> {
    let starts = snapshot.annotations.iter().filter(|a| a.starts && a.name.starts_with("Optimizer.step#"));
    let mut starts: Vec<u64> = starts.map(|a| a.time_us).filter(|time| *time > 0).collect();
    starts.sort_unstable();
    starts
        .iter()
        .map(|time| device.trace.partition_point(|event| event.time_us < *time) as u32)
        .filter(|event| (*event as usize) < device.trace.len())
        .collect()
}

/// What is missing of the record, said in words.
fn losses(snapshot: &Snapshot, device: &Device, history: &History, misfits: u64, recorded: bool) -> Vec<Text> {
    let mut notes = Vec::new();
    let events = device.trace.len();
    if !recorded {
        notes.push(if events == 0 {
            Text::new(
                "no history was recorded (torch.cuda.memory._record_memory_history): only the final state is known, \
                 peaks are not",
                "没有记录历史（torch.cuda.memory._record_memory_history）：只知道最终状态，无法得知峰值",
            )
        } else {
            text!(
                en: "the trace (entries: {events}) holds no allocation (recorded with enabled=\"state\"?): only the \
                     final state is known, peaks are not",
                zh: "trace 只有 {events} 条记录且没有分配（是否用了 enabled=\"state\"？）：只知道最终状态，无法得知峰值"
            )
        });
        return notes;
    }
    if history.begins_late() {
        let ring = events >= 1000 && (events.is_power_of_two() || events.is_multiple_of(1000));
        let before = crate::units::Bytes(history.initial_requested);
        let held = crate::units::Bytes(history.initial_reserved());
        notes.push(if ring {
            text!(
                en: "the trace holds the last {events} entries, a round number: older ones were most likely \
                     overwritten (max_entries). {before} in use and {held} reserved at its start were found by walking \
                     back; a higher peak before it cannot be seen",
                zh: "trace 恰好有 {events} 条（整数）：更早的记录很可能已被覆盖（max_entries）。通过回溯得到其开始时已\
                     用 {before}、已保留 {held}；此前若有更高峰值则无法看到"
            )
        } else {
            text!(
                en: "recording began in the middle: {before} in use and {held} reserved at its start were found by \
                     walking back; a higher peak before it cannot be seen",
                zh: "记录从中途开始：通过回溯得到开始时已用 {before}、已保留 {held}；此前若有更高峰值则无法看到"
            )
        });
    }
    if history.misfits > 0 {
        let n = history.misfits;
        notes.push(text!(
            en: "{n} entries contradict the final state (filtered, reordered, or memory changed while it was copied): \
                 figures are off by as much as these moved",
            zh: "{n} 条记录与最终状态矛盾（被过滤、乱序，或复制时显存仍在变化）：相关数字可能有同等偏差"
        ));
    }
    if misfits > 0 {
        notes.push(text!(
            en: "{misfits} entries could not be placed on the memory map: holes and block sizes are estimates there",
            zh: "{misfits} 条记录无法放到内存图上：相应的空洞和 block 大小为估计值"
        ));
    }
    if snapshot.stacks.is_empty() {
        notes.push(Text::new(
            "no stacks were recorded (context=\"all\" keeps them): holders cannot be named",
            "没有记录调用栈（context=\"all\" 会保留）：无法指出由谁占用",
        ));
    }
    notes
}
