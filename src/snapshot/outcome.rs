//! How a variation of a recorded program ends, and how surely that is known.
//!
//! A recording that begins with an empty allocator and that the simulator foresees entry by entry leaves one thing
//! open: how much the device leaves to the allocator. Every denied request tells how many bytes were missing, and with
//! fewer than the fewest of them more, all goes the same way: so the courses that a program can take between two limits
//! can be run through one by one, and what is said holds for each limit between them.

use super::analysis::DeviceAnalysis;
use super::history::History;
use super::predict::{self, Program, RecordedDevice, RecordedRequest};
use super::store::NONE;
use super::what_if::{Change, Variation};
use crate::allocator::block::{self, BlockId};
use crate::allocator::caching::CachingAllocator;
use crate::allocator::device::Surroundings;
use crate::text::Text;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// One simulation takes no longer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Requests between two looks at the clock.
const CLOCK: usize = 4096;
/// Requests that are simulated to run through the courses of one variation, and their number at most.
const EFFORT: usize = 2_000_000;
const COURSES: usize = 256;
/// Limits that are tried below the most that the device can have had, where courses would prove nothing.
const BETWEEN: u64 = 4;
/// More than any device has.
const BOUNDLESS: u64 = 1 << 44;

/// How a variation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum VariationOutcome {
    /// All requests were served, or one failed.
    Ran {
        /// To be expected.
        peak_reserved: u64,
        /// Surely not less, and not more (`u64::MAX` where that can't be said), where all is served: the same as the
        /// expected where nothing is open.
        least_reserved: u64,
        most_reserved: u64,
        /// Most bytes of blocks in use.
        peak_active: u64,
        /// The entry whose request failed, and its bytes.
        oom: Option<(u32, u64)>,
        /// `None` where it depends on what is not known. Where no limit is known at all, true of a device that has as
        /// much.
        served: Option<bool>,
        /// All is surely served where the allocator can have so many bytes, which are more than it is known to have.
        enough: Option<u64>,
        /// It surely fails where the allocator can have less, which may be.
        too_little: Option<u64>,
        retries: u64,
        /// Why there is a range.
        because: Vec<Doubt>,
    },
    /// PyTorch refuses these settings.
    Refused(Text),
    /// It took too long.
    GivenUp,
}

/// What leaves a figure open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The allocator held so much when the recording began, of which this was in use: what came before, and how it
    /// would have lain under other settings, is not recorded.
    Before { reserved: u64, in_use: u64 },
    /// The simulator does not foresee every segment of the record.
    Astray,
    /// What the device leaves to the allocator is known to a range, or from below alone.
    Limit { low: u64, high: Option<u64> },
    /// Whether the program limits itself, which alone makes PyTorch collect its cache before the device is full.
    OwnLimit,
}

/// What a recording leaves open of any run of its requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    open: Vec<Doubt>,
    /// Bytes free between blocks in use when it began, which cannot be given back.
    stuck: u64,
    /// Most bytes in use in the record.
    active: u64,
}

impl Record {
    pub(super) fn of(analysis: &DeviceAnalysis) -> Record {
        let history = &analysis.history;
        let mut record = Record { active: analysis.peak_active.map_or(0, |(bytes, _)| bytes), ..Record::default() };
        if history.begins_late() {
            let (reserved, in_use) = (history.initial_reserved(), history.initial_requested);
            record.open.push(Doubt::Before { reserved, in_use });
        }
        if analysis.fidelity.as_ref().is_some_and(|fidelity| fidelity.same_size != fidelity.segments) {
            record.open.push(Doubt::Astray);
        }
        let mut live: BTreeMap<u64, u64> = BTreeMap::new();
        for allocation in history.allocations.iter().filter(|allocation| allocation.born == NONE) {
            live.insert(allocation.address, allocation.size);
        }
        for range in &history.initial {
            let used = live.range(range.address..range.address.saturating_add(range.size));
            let used = used.fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
            record.stuck = record.stuck.saturating_add(if used > 0 { range.size.saturating_sub(used) } else { 0 });
        }
        record
    }
}

/// What a variation comes to, for every limit that its device can have.
pub(super) fn outcome(
    history: &History,
    program: &Program,
    variation: &Variation,
    record: &Record,
) -> VariationOutcome {
    let needed = Needed::of(history, program, variation);
    if as_recorded(history, program, variation) {
        let reserved = history.peak_reserved.0;
        let before: Vec<Doubt> = record.open.iter().filter(|doubt| **doubt != Doubt::Astray).copied().collect();
        let unchanged = variation.config.as_ref().is_ok_and(|config| *config == program.config);
        return VariationOutcome::Ran {
            peak_reserved: reserved,
            least_reserved: if before.is_empty() || unchanged { reserved } else { needed.held },
            most_reserved: if before.is_empty() { reserved } else { u64::MAX },
            peak_active: record.active,
            oom: None,
            served: Some(true),
            enough: None,
            too_little: None,
            retries: 0,
            because: before,
        };
    }
    let found = match record.open.is_empty() {
        true => proved(history, program, variation, needed),
        false => estimated(history, program, variation, needed, record),
    };
    let Some(mut outcome) = found else { return VariationOutcome::GivenUp };
    limited_by_itself(&mut outcome, variation, needed);
    outcome
}

/// Nothing but the limit of the device is open.
fn proved(history: &History, program: &Program, variation: &Variation, needed: Needed) -> Option<VariationOutcome> {
    let (low, high) = variation.budget;
    let generous = high.unwrap_or(BOUNDLESS).max(low);
    let Courses { mut all, complete } = courses(history, program, variation, low, generous)?;
    if !complete {
        let ran = run(history, program, variation, generous)?;
        // Where nothing was denied, all goes the same way wherever there is as much.
        let from = if ran.short.is_none() { ran.peak_reserved } else { generous };
        all.push(Course { from, ran });
    }
    let served: Vec<&Course> = all.iter().filter(|course| course.ran.oom.is_none()).collect();
    let of: Vec<&Course> = if served.is_empty() { all.iter().collect() } else { served.clone() };
    let middle = if high.is_some() { low + (generous - low) / 2 } else { generous };
    let expected = of.get(of.partition_point(|course| course.from <= middle).saturating_sub(1))?;
    let last = all.last()?;
    let peaks = || of.iter().map(|course| course.ran.peak_reserved);
    let most = peaks().max().unwrap_or(0);
    let (least_reserved, most_reserved) = match complete {
        true => (peaks().min().unwrap_or(0), most),
        // With less than the last limit no more is reserved than that.
        false if last.ran.short.is_none() => (needed.held, most.max(last.from)),
        false => (needed.held, generous),
    };
    let fails_first = all.iter().take_while(|course| course.ran.oom.is_some()).count();
    let fails_last = all.iter().rposition(|course| course.ran.oom.is_some());
    let enough = match fails_last {
        _ if !complete => Some(last).filter(|course| course.ran.oom.is_none() && course.ran.short.is_none()),
        Some(failing) => all.get(failing + 1),
        None => None,
    };
    let first_served = all.get(fails_first).filter(|_| complete && fails_first > 0);
    let (enough, first_served) = (enough.map(|course| course.from), first_served.map(|course| course.from));
    let decided = match (served.len(), high) {
        (0, _) if complete => Some(false),
        (_, None) => Some(last.ran.oom.is_none()),
        (served, _) if complete && served == all.len() => Some(true),
        _ => None,
    };
    let open = least_reserved < most_reserved || decided.is_none() || enough.is_some();
    Some(VariationOutcome::Ran {
        peak_reserved: expected.ran.peak_reserved,
        least_reserved,
        most_reserved,
        peak_active: expected.ran.peak_active,
        oom: if decided == Some(true) { None } else { all.iter().find_map(|course| course.ran.oom) },
        served: decided,
        enough: enough.filter(|bytes| *bytes > low),
        too_little: Some(first_served.unwrap_or(needed.asked)).filter(|bytes| *bytes > low && decided != Some(false)),
        retries: expected.ran.retries,
        because: if open { vec![Doubt::Limit { low, high }] } else { Vec::new() },
    })
}

/// More is open than the limit: what is expected is tried, what is sure is what was asked for at once.
fn estimated(
    history: &History,
    program: &Program,
    variation: &Variation,
    needed: Needed,
    record: &Record,
) -> Option<VariationOutcome> {
    let (low, high) = variation.budget;
    let generous = high.unwrap_or(BOUNDLESS).max(low);
    let mut all: Vec<Ran> = Vec::new();
    let lowest = low.saturating_sub(record.stuck);
    if let Some(high) = high.filter(|high| *high > lowest) {
        for part in 0..BETWEEN {
            all.push(run(history, program, variation, lowest + (high - lowest) / BETWEEN * part)?);
        }
    }
    all.push(run(history, program, variation, generous)?);
    let served: Vec<&Ran> = all.iter().filter(|ran| ran.oom.is_none()).collect();
    let of: Vec<&Ran> = if served.is_empty() { all.iter().collect() } else { served.clone() };
    let expected = of.get(of.len() / 2)?;
    let decided = match &variation.change {
        _ if needed.asked > generous => Some(false),
        Change::Capacity(_) => None,
        _ if served.is_empty() => Some(false),
        _ => (served.len() == all.len()).then_some(true),
    };
    let mut because = record.open.clone();
    because.extend(high.filter(|high| *high > low).map(|_| Doubt::Limit { low, high }));
    Some(VariationOutcome::Ran {
        peak_reserved: expected.peak_reserved,
        least_reserved: needed.held,
        most_reserved: high.unwrap_or(u64::MAX),
        peak_active: expected.peak_active,
        oom: if decided == Some(true) { None } else { all.iter().find_map(|ran| ran.oom) },
        served: decided,
        enough: None,
        too_little: Some(needed.asked).filter(|bytes| *bytes > low && decided != Some(false)),
        retries: expected.retries,
        because,
    })
}

/// With a threshold of garbage collection: PyTorch collects only where the program limits itself by
/// `set_per_process_memory_fraction`, which a recording does not tell. Then no more is reserved than that limit, and
/// from one on at which the threshold is never reached nothing is collected.
fn limited_by_itself(outcome: &mut VariationOutcome, variation: &Variation, needed: Needed) {
    let threshold = variation.config.as_ref().ok().and_then(|config| config.garbage_collection_threshold);
    let Some(threshold) = threshold.filter(|threshold| *threshold > 0.0) else { return };
    let VariationOutcome::Ran { peak_reserved, least_reserved, most_reserved, enough, because, served, .. } = outcome
    else {
        return;
    };
    if variation.own_limit.is_some() || *served == Some(false) {
        return;
    }
    let most = if *most_reserved == u64::MAX { *peak_reserved } else { *most_reserved };
    let uncollected = (most as f64 / threshold).ceil() as u64;
    *least_reserved = needed.held;
    *most_reserved = (*most_reserved).max(uncollected.min(variation.budget.1.unwrap_or(u64::MAX)));
    if because.iter().all(|doubt| matches!(doubt, Doubt::Limit { .. })) {
        *enough = Some((*enough).map_or(uncollected, |bytes| bytes.max(uncollected)));
    }
    because.push(Doubt::OwnLimit);
}

/// True where nothing goes differently than in the record: settings that differ in the rounding of sizes alone, and
/// round none of the requests differently.
fn as_recorded(history: &History, program: &Program, variation: &Variation) -> bool {
    let Ok(config) = &variation.config else { return false };
    let plain = variation.change == Change::Settings && variation.torch == program.version && variation.sizes.is_none();
    if !plain || config.with_rounding_of(&program.config) != program.config {
        return false;
    }
    let (theirs, ours) =
        (predict::rounding(&program.config, program.version), predict::rounding(config, program.version));
    let failed = program.requests.iter().any(|request| matches!(request, RecordedRequest::Failed { .. }));
    !failed && history.allocations.iter().all(|made| theirs(made.requested) == ours(made.requested))
}

/// Bytes that no layout does without: the most that was live at once, rounded as the settings want it.
#[derive(Debug, Clone, Copy)]
struct Needed {
    /// Of what was served in the record.
    held: u64,
    /// With the requests that failed.
    asked: u64,
}

impl Needed {
    fn of(history: &History, program: &Program, variation: &Variation) -> Needed {
        let Ok(config) = &variation.config else { return Needed { held: 0, asked: 0 } };
        let round = predict::rounding(config, variation.torch);
        let bytes_of = |id: u32| {
            let recorded = history.allocations.get(id as usize).map_or(0, |allocation| allocation.requested);
            match variation.size_of(id, recorded) {
                0 => 0,
                bytes => round(bytes),
            }
        };
        let initial = (0..history.allocations.len() as u32)
            .filter(|id| history.allocations.get(*id as usize).is_some_and(|allocation| allocation.born == NONE));
        let mut now = initial.map(bytes_of).fold(0u64, u64::saturating_add);
        let mut needed = Needed { held: now, asked: now };
        for request in &program.requests {
            match *request {
                RecordedRequest::Alloc { id, .. } => now = now.saturating_add(bytes_of(id)),
                RecordedRequest::Free { id } => now = now.saturating_sub(bytes_of(id)),
                RecordedRequest::Failed { event, bytes, .. } => {
                    let more = variation.size_of_failed(event, bytes).map_or(0, &round);
                    needed.asked = needed.asked.max(now.saturating_add(more));
                }
                RecordedRequest::Release { .. } => {}
            }
            needed.held = needed.held.max(now);
        }
        Needed { asked: needed.asked.max(needed.held), ..needed }
    }
}

/// What a program does with every limit from this one to that of the next course.
pub(super) struct Course {
    pub(super) from: u64,
    pub(super) ran: Ran,
}

pub(super) struct Courses {
    pub(super) all: Vec<Course>,
    /// False where there are more than were run.
    complete: bool,
}

/// The courses between two limits, both included. `None` when one takes too long.
pub(super) fn courses(
    history: &History,
    program: &Program,
    variation: &Variation,
    low: u64,
    high: u64,
) -> Option<Courses> {
    let most = (EFFORT / program.requests.len().max(1)).clamp(BETWEEN as usize, COURSES);
    let mut all = Vec::new();
    let mut from = low;
    while all.len() < most {
        let ran = run(history, program, variation, from)?;
        let next = ran.short.map(|missing| from.saturating_add(missing)).filter(|next| *next <= high);
        all.push(Course { from, ran });
        match next {
            Some(next) => from = next,
            None => return Some(Courses { all, complete: true }),
        }
    }
    Some(Courses { all, complete: false })
}

/// One simulated run.
pub(super) struct Ran {
    pub(super) peak_reserved: u64,
    pub(super) peak_active: u64,
    pub(super) oom: Option<(u32, u64)>,
    retries: u64,
    /// The fewest bytes by which the device was ever too small; `None` where it never was.
    short: Option<u64>,
}

/// Runs the program from an empty device, what was there before the trace allocated first. `None` when it takes too
/// long.
pub(super) fn run(history: &History, program: &Program, variation: &Variation, budget: u64) -> Option<Ran> {
    let config = variation.config.as_ref().ok()?.clone();
    let started = Instant::now();
    let whole = variation.budget.1.unwrap_or(BOUNDLESS).max(budget);
    let total = variation.own_limit.map_or(whole, |limit| limit.saturating_mul(2));
    let device = RecordedDevice::of_total(budget, total);
    let mut simulator = CachingAllocator::new(device, Surroundings::default(), config, variation.torch);
    if variation.own_limit.is_some() {
        simulator.set_memory_fraction(0.5).ok()?;
    }
    let mut ids: Vec<BlockId> = vec![block::NONE; history.allocations.len()];
    let mut oom = None;
    let mut before: Vec<u32> = (0..history.allocations.len() as u32)
        .filter(|id| history.allocations.get(*id as usize).is_some_and(|a| a.born == NONE))
        .collect();
    before.sort_unstable_by_key(|id| (history.allocations.get(*id as usize).map(|a| a.address), *id));
    for id in before {
        let Some(allocation) = history.allocations.get(id as usize) else { continue };
        let bytes = variation.size_of(id, allocation.requested);
        let stream = program.stream(allocation.stream);
        if bytes == 0 {
            continue;
        }
        match predict::serve(&mut simulator, bytes, stream, 0) {
            Some(block) => ids[id as usize] = block,
            None => oom = oom.or(Some((NONE, bytes))),
        }
    }
    for (i, request) in program.requests.iter().enumerate() {
        if oom.is_some() {
            break;
        }
        if i % CLOCK == CLOCK - 1 && started.elapsed() > PATIENCE {
            return None;
        }
        match *request {
            RecordedRequest::Alloc { event, id, bytes, stream, pool } => {
                let bytes = variation.size_of(id, bytes);
                if bytes == 0 {
                    continue;
                }
                match predict::serve(&mut simulator, bytes, stream, pool) {
                    Some(block) => {
                        if let Some(slot) = ids.get_mut(id as usize) {
                            *slot = block;
                        }
                    }
                    None => oom = Some((event, bytes)),
                }
            }
            RecordedRequest::Free { id } => {
                if let Some(block) = ids.get_mut(id as usize)
                    && *block != block::NONE
                {
                    simulator.free(*block);
                    *block = block::NONE;
                }
            }
            RecordedRequest::Failed { event, bytes, stream } => {
                let Some(bytes) = variation.size_of_failed(event, bytes) else { continue };
                match predict::serve(&mut simulator, bytes, stream, 0) {
                    // The record goes on without it.
                    Some(block) => simulator.free(block),
                    None => oom = Some((event, bytes)),
                }
            }
            RecordedRequest::Release { pool } => {
                let _ = predict::give_back(&mut simulator, pool);
            }
        }
        simulator.device.grown.clear();
    }
    let peak = |counter: i64| u64::try_from(counter).unwrap_or(0);
    Some(Ran {
        peak_reserved: peak(simulator.stats.reserved_bytes.all.peak),
        peak_active: peak(simulator.stats.active_bytes.all.peak),
        oom,
        retries: simulator.stats.num_alloc_retries,
        short: simulator.device.short,
    })
}
