//! What several mechanisms read from an incident: the shares of the device that decide between causes.

use super::nature::{Asker, asker};
use crate::account::Board;
use crate::dialect::{Event, Fact, Number, Sign};
use crate::domain::Accelerator;
use crate::domain::program::DeviceUse;
use crate::evidence::{Span, TraceEntry};
use crate::gpu::context_size;
use crate::incident::context::{Clue, Growth, Measure, Series};
use crate::incident::release;
use crate::incident::{Incident, Recording};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval, MIB};

/// The middle of an amount, for printing.
pub fn size(amount: Interval) -> Bytes {
    Bytes(amount.middle_bytes())
}

/// Where a memory snapshot shows it.
pub fn entry(recording: &Recording) -> TraceEntry {
    TraceEntry { source: recording.source.clone(), event: recording.event }
}

/// What a snapshot of the very failure says about growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grown {
    /// From step to step: by the marks of the optimizer, or by a log that shows several steps within a recording from
    /// the run's start.
    OverSteps,
    /// All through a recording of which nobody says how many steps it spans.
    Somehow,
}

/// Whether what is held has grown over the recording; `None` where it has not, or where the log shows one pass.
pub fn grown(incident: &Incident) -> Option<Grown> {
    let recording = incident.proof()?;
    let rise = recording.growth.as_ref()?;
    if rise.by_steps {
        return Some(Grown::OverSteps);
    }
    // What the optimizer creates in its first step is no leak: it is a small part of what is held.
    if rise.last.saturating_sub(rise.first) < recording.active / 5 * 2 {
        return None;
    }
    let (step, epoch) = (incident.context.step.value(), incident.context.epoch.value());
    match (step, epoch) {
        (Some(step), _) if step >= 4 && recording.from_the_start => Some(Grown::OverSteps),
        (_, Some(epoch)) if epoch >= 2 && recording.from_the_start => Some(Grown::OverSteps),
        (Some(step), None | Some(0 | 1)) if step < 4 => None,
        _ => Some(Grown::Somehow),
    }
}

/// Bytes that the allocator had and could no longer get when the request failed, where that is more than the driver's
/// own housekeeping: somebody outside of it took them in between.
pub fn taken_meanwhile(incident: &Incident) -> Option<(Bytes, &Recording)> {
    let recording = incident.proof()?;
    Some((Bytes(recording.taken_meanwhile().filter(|bytes| *bytes >= 64 * MIB)?), recording))
}

/// Where a figure was printed, or the message where it was derived.
pub fn place(event: &Event, fact: Fact) -> Span {
    event.facts.get(fact).map_or(event.at, |figure| figure.at)
}

/// What there was to use in all: the device, or the pool or limit where only that is printed, or what a board of the
/// device's name has.
pub fn whole(incident: &Incident) -> Option<Interval> {
    let ledger = &incident.ledger;
    let by_name = || whole_by_name(incident).map(|board| board.total);
    ledger.capacity.or(ledger.cap).or_else(by_name).filter(|whole| whole.middle() > 0)
}

/// The board that [`whole`] is known from, where that is its name alone.
pub fn whole_by_name(incident: &Incident) -> Option<&Board> {
    let ledger = &incident.ledger;
    ledger.board.as_ref().filter(|_| ledger.capacity.is_none() && ledger.cap.is_none())
}

/// The size of [`whole`] in words.
pub fn whole_size(incident: &Incident) -> Option<Text> {
    let all = whole(incident)?;
    if whole_by_name(incident).is_none() {
        return Some(Text::same(size(all).to_string()));
    }
    // As it is sold: what a driver keeps back of it is not known of a name.
    let sold = Bytes(u64::try_from(all.high).unwrap_or_default());
    Some(text!(en: "{sold} by its name", zh: "按型号 {sold}"))
}

/// How to name [`whole`]: what a pool may take or a limit allows is not the device.
pub fn whole_name(incident: &Incident) -> Text {
    if incident.ledger.capacity.is_some() {
        Text::new("the device", "设备")
    } else if let Some(board) = whole_by_name(incident) {
        Text::new(format!("a device named {}", board.name), format!("名为 {} 的设备", board.name))
    } else {
        Text::new("the limit", "上限")
    }
}

/// An amount as a share of the device, or of the pool or limit where only that is printed.
pub fn share_of_whole(incident: &Incident, amount: Option<Interval>) -> Option<f64> {
    Some(amount?.middle() as f64 / whole(incident)?.middle() as f64)
}

/// What was asked for, as a share of the device or pool.
pub fn request_share(incident: &Incident) -> Option<f64> {
    share_of_whole(incident, incident.ledger.requested)
}

/// What the framework has allocated, as a share of the device or pool.
pub fn allocated_share(incident: &Incident) -> Option<f64> {
    share_of_whole(incident, incident.ledger.allocated)
}

/// Free memory inside the default pools: what another layout could use. The free blocks of private pools are not in it,
/// since only their own graphs may use them.
pub fn cached(incident: &Incident) -> Option<Interval> {
    incident.ledger.amount(crate::account::Holder::Cached).or(incident.ledger.cached)
}

/// True when the driver had at least as much free as was asked for, and that is no sliver of the device. "Free" is read
/// after the failure, so a few hundred MiB on a full device mean nothing; and before its pool was taken, by a program
/// that takes the device up front.
pub fn refused_although_free(incident: &Incident) -> bool {
    let ledger = &incident.ledger;
    if incident.event.program.preallocates() {
        return false;
    }
    match (ledger.free, ledger.requested) {
        (Some(free), Some(requested)) => {
            free.surely_at_least(requested) && ledger.share(Some(free)).is_none_or(|share| share >= 0.05)
        }
        _ => false,
    }
}

/// True when a limit below the device's size is printed. PyTorch 2.5 … 2.9 print `allowed` for a fraction of 1 as well.
pub fn limited(incident: &Incident) -> bool {
    match (incident.ledger.cap, incident.ledger.capacity) {
        (Some(cap), Some(capacity)) => cap.high < capacity.low,
        (cap, _) => cap.is_some(),
    }
}

/// Memory of the device that is neither free nor this process's.
#[derive(Debug, Clone, Copy)]
pub struct Foreign {
    pub amount: Interval,
    pub share: f64,
    /// The same with what nobody names counted half where others are named: it may be the driver's or a display's.
    pub sure_share: f64,
    /// The message separates this process from others, so that the amount holds no context of ours.
    pub separated: bool,
    /// The part that the message names by pid.
    pub named: Option<Interval>,
    /// The request would have fitted if this memory had been free, and the cache in one piece.
    pub would_serve: bool,
}

/// What other processes hold, as far as the account shows it. `None` when the message does not tell.
pub fn foreign(incident: &Incident) -> Option<Foreign> {
    let ledger = &incident.ledger;
    // Apple prints no figure of other processes, and an integrated GPU's capacity is two pools added up.
    if incident.event.has(Sign::Mps) || looks_integrated(incident) {
        return None;
    }
    let nothing = Interval::exactly(0);
    let (amount, separated) = match (ledger.unexplained, ledger.outside) {
        (Some(unexplained), _) => (ledger.others.unwrap_or(nothing) + unexplained.at_least_zero(), true),
        (None, Some(outside)) => {
            ((outside - Interval::between(context_size::USUAL.high, context_size::USUAL.high)).at_least_zero(), false)
        }
        // At start-up this process holds nothing but its context, so all that is used is somebody's. XLA and TensorFlow
        // print free and total memory when they find the device, before they take their pool; on CUDA's own pool they
        // print them when a request failed, and what they hold themselves by then is not told.
        (None, None)
            if ledger.allocated.is_none()
                && (incident.event.has(Sign::EngineStartup)
                    || asker(incident) == Asker::PooledTensor
                        && !incident.event.facts.numbers.contains_key(&Number::AsyncAllocator)) =>
        {
            (
                (ledger.capacity?
                    - ledger.free?
                    - Interval::between(context_size::USUAL.high, context_size::USUAL.high))
                .at_least_zero(),
                false,
            )
        }
        (None, None) => (ledger.others?, true),
    };
    let amount = match ledger.others {
        Some(named) if named.middle() > amount.middle() => named,
        _ => amount,
    };
    // Where one of those listed may be this very process, only what the others hold whichever it is is surely theirs.
    let perhaps_own = ledger.others.is_some_and(|named| named.high > 2 * named.low.max(1)) && separated;
    let amount = if perhaps_own { Interval::between(amount.low.max(0), amount.low.max(0)) } else { amount };
    let share = ledger.share(Some(amount))?;
    let named_share = ledger.share(ledger.others);
    Some(Foreign {
        amount,
        share,
        sure_share: named_share.map_or(share, |named| (named + share) / 2.0),
        separated,
        named: ledger.others,
        would_serve: ledger
            .short_of_free_and_cached
            .or(ledger.short_of_free)
            .or(short_of_desired(incident))
            .is_some_and(|short| amount.middle() >= short.middle()),
    })
}

/// The trend of one kind of reading, if the log holds such a series.
pub fn trend(incident: &Incident, measure: Measure) -> Option<(&Series, Growth)> {
    incident
        .context
        .series
        .iter()
        .filter(|series| series.measure == measure)
        .filter_map(|series| Some((series, series.growth()?)))
        .max_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence))
}

/// What keeps a framework from taking its pool at start, as it is written for the release that runs.
pub fn pool_off(incident: &Incident) -> Option<&'static str> {
    // A TPU's runtime knows none of these settings.
    if incident.event.accelerator() == Accelerator::Tpu {
        return None;
    }
    match incident.event.program.device_use() {
        DeviceUse::Preallocated { off: Some(off) }
            if incident.context.has(Clue::TensorFlow1) || !release::knows(incident, off) =>
        {
            Some("config.gpu_options.allow_growth = True")
        }
        DeviceUse::Preallocated { off } => off,
        _ => None,
    }
}

/// What an engine misses at start-up: the share that it is set to take, less what is free.
pub fn short_of_desired(incident: &Incident) -> Option<Interval> {
    Some(incident.event.facts.get(Fact::Desired)?.interval() - incident.ledger.free?)
}

/// True for an AMD chip with an integrated GPU: it reports a carve-out of RAM and the memory that can be mapped beside
/// it as one capacity, and "used" then holds what nobody took. No discrete AMD card has these sizes (they come with 4,
/// 6, 8, 12, 16, 20, 24, 32, 48, 64, 128, 192, 256 or 288 GB).
pub fn looks_integrated(incident: &Incident) -> bool {
    const DISCRETE: [f64; 14] = [4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 24.0, 32.0, 48.0, 64.0, 128.0, 192.0, 256.0, 288.0];
    let Some(capacity) = incident.ledger.capacity else { return false };
    let gib = capacity.middle() as f64 / GIB as f64;
    incident.event.has(Sign::Hip) && !DISCRETE.iter().any(|size| (size - gib).abs() <= size * 0.02)
}

/// True for a card under Windows' display driver model, which lends system memory and lists no other process.
pub fn looks_like_wddm(incident: &Incident) -> bool {
    crate::account::looks_like_wddm(&incident.event, incident.ledger.capacity)
}
