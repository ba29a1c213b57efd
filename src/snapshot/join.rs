//! A snapshot and an incident: whether they are of one failure, and what the snapshot then says about it.

use super::analysis::{DeviceAnalysis, Fragmentation, Oom};
use super::holders::{self, Holding, Site};
use super::model::{Settings, Snapshot};
use super::predict::Fidelity;
use super::store::NONE;
use super::what_if::{Change, EXPANDABLE, VariationOutcome, WhatIf};
use crate::account;
use crate::allocator::{LARGE_ROUNDING, LARGE_SEGMENT, MIDDLE_LIMIT, SMALL_LIMIT, SMALL_SEGMENT, round_up};
use crate::dialect::{Event, Fact, Resource};
use crate::domain::Program;
use crate::domain::program::PytorchAllocator;
use crate::evidence::{Known, Span};
use crate::incident::context::Frame;
use crate::incident::recording::{HeldAt, Recording, Rise, Standing, Trial, Verdict};
use crate::incident::{Context, Incident};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Figure, Interval, MIB};

/// Places that are kept of what holds memory.
const HOLDERS: usize = 24;
/// Frames of a stack that are taken into the context.
const FRAMES: usize = 128;
/// Dialect of an incident that only a snapshot tells of.
pub const FROM_SNAPSHOT: &str = "pytorch-snapshot";
/// What "allocated" and "reserved" of one failure may differ by in log and snapshot: memory that waits for other
/// streams counts in one and not in the other, and threads go on while the message is made.
const SLACK: u64 = 32 * MIB;

/// How a device's record stands to an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// The failed request of this index is the incident's.
    Same(usize),
    NoFailure,
    /// Another failure or device, with both figures.
    Other(Text),
}

impl Relation {
    /// The more it tells, the higher.
    pub fn rank(&self) -> u8 {
        match self {
            Relation::Same(_) => 2,
            Relation::NoFailure => 1,
            Relation::Other(_) => 0,
        }
    }
}

/// What PyTorch asks of the driver for a request, which is the figure in its message (`get_allocation_size` in
/// `CUDACachingAllocator.cpp`); the trace has the request itself, rounded to 512 bytes.
fn segment_of(request: u64) -> u64 {
    if request <= SMALL_LIMIT {
        SMALL_SEGMENT
    } else if request < MIDDLE_LIMIT {
        LARGE_SEGMENT
    } else {
        round_up(request, LARGE_ROUNDING)
    }
}

/// Whether a device's record and an incident are of one failure. `name` is that of the snapshot's file.
pub fn relation(incident: &Incident, name: &str, device: &DeviceAnalysis) -> Relation {
    let event = &incident.event;
    if event.resource != Resource::Gpu || event.program.pytorch_allocator() == PytorchAllocator::No {
        let resource = event.resource.id();
        return Relation::Other(text!(
            en: "{name} holds GPU memory of PyTorch, and what ran out here is another thing ({resource}, {}): it \
                 proves nothing here",
            zh: "{name} 记录的是 PyTorch 的显存，而这里耗尽的是另一种资源（{resource}，{}）：不能作为证据",
            event.program
        ));
    }
    let ordinal = device.ordinal;
    if let Some(index) = event.facts.device.value().filter(|index| *index != ordinal) {
        return Relation::Other(text!(
            en: "{name} is of GPU {ordinal}, the failure of the log is on GPU {index}: it proves nothing here",
            zh: "{name} 记录的是 GPU {ordinal}，而日志中的失败发生在 GPU {index}：不能作为证据"
        ));
    }
    if device.ooms.is_empty() {
        return Relation::NoFailure;
    }
    // The same failure of another rank stands among the messages that followed.
    let told = std::iter::once(event).chain(&incident.followers).map(Told::of).filter(|told| told.requested.is_some());
    let told: Vec<Told> = told.collect();
    let fits = device.ooms.iter().position(|oom| told.iter().any(|told| told.fits(oom)));
    if let Some(index) = fits {
        return Relation::Same(index);
    }
    let recorded = device.ooms.first().map(recorded).unwrap_or_default();
    Relation::Other(match told.first() {
        Some(told) => {
            let log = told.shown();
            Text::new(
                format!(
                    "{name} is not of this failure: it recorded {}, the log has {}. It is not used as proof",
                    recorded.en, log.en
                ),
                format!("{name} 不是本次失败的快照：快照中{}，日志中{}。不作为证据使用", recorded.zh, log.zh),
            )
        }
        None => Text::new(
            format!(
                "{name} recorded {}; the log prints no figures by which to tell whether that is this failure. It is \
                 not used as proof",
                recorded.en
            ),
            format!("{name} 中{}；日志没有打印可供核对的数字，无法确认是否同一次失败。不作为证据使用", recorded.zh),
        ),
    })
}

fn recorded(oom: &Oom) -> Text {
    let (asked, active, reserved) =
        (Bytes(oom.requested), Bytes(oom.fragmentation.active), Bytes(oom.fragmentation.reserved));
    text!(
        en: "{asked} asked for with {active} in use and {reserved} reserved",
        zh: "申请 {asked}，占用 {active}，保留 {reserved}"
    )
}

/// The figures of a message that a snapshot has too.
struct Told {
    requested: Option<Interval>,
    allocated: Option<Interval>,
    reserved: Option<Interval>,
}

impl Told {
    fn of(event: &Event) -> Told {
        let ledger = account::settle(event);
        Told { requested: ledger.requested, allocated: ledger.allocated, reserved: ledger.reserved }
    }

    fn fits(&self, oom: &Oom) -> bool {
        let holes = &oom.fragmentation;
        let asked = |bytes: u64| self.requested.is_some_and(|told| within(told, bytes, 0));
        let close =
            |told: Option<Interval>, bytes: u64| told.is_none_or(|told| within(told, bytes, SLACK.max(bytes / 50)));
        (asked(oom.requested) || asked(segment_of(oom.requested)))
            && (self.allocated.is_some() || self.reserved.is_some())
            && close(self.allocated, holes.active)
            && close(self.reserved, holes.reserved)
    }

    fn shown(&self) -> Text {
        let asked = self.requested.map(|told| Bytes(told.middle_bytes()).to_string()).unwrap_or_default();
        let mut out = text!(en: "{asked} asked for", zh: "申请 {asked}");
        if let Some(allocated) = self.allocated.map(|told| Bytes(told.middle_bytes())) {
            out += text!(en: " with {allocated} allocated", zh: "，已分配 {allocated}");
        }
        if let Some(reserved) = self.reserved.map(|told| Bytes(told.middle_bytes())) {
            out += text!(en: " and {reserved} reserved", zh: "，保留 {reserved}");
        }
        out
    }
}

/// True when bytes lie within what a printed figure can stand for, give or take `slack`.
fn within(told: Interval, bytes: u64, slack: u64) -> bool {
    let (bytes, slack) = (i128::from(bytes), i128::from(slack));
    told.low - slack <= bytes && bytes <= told.high + slack
}

/// What is known of the file besides its devices.
pub struct File<'f> {
    pub source: &'f str,
    pub settings: Option<&'f Settings>,
}

/// What a device's record says about an incident to which it stands in `relation`. Simulate first: variations that were
/// not tried are not there.
pub fn recording(file: &File<'_>, device: &DeviceAnalysis, sites: &[Site], relation: &Relation) -> Recording {
    let oom = match relation {
        Relation::Same(index) => device.ooms.get(*index),
        _ => None,
    };
    let peak_event = device.peak_active.map(|(_, event)| event).filter(|event| *event != NONE);
    let moment = oom.map(|oom| oom.event).or(peak_event);
    let holes = oom.map_or(&device.at_peak, |oom| &oom.fragmentation);
    let holding = oom.map_or(&device.holding, |oom| &oom.holding);
    let requested = oom.map(|oom| oom.requested);
    let live = |event: u32| {
        let live = device.history.allocations.iter().filter(|allocation| allocation.is_live(event));
        live.map(|allocation| allocation.requested).fold(0, u64::saturating_add)
    };
    let held = match oom {
        Some(oom) => live(oom.event),
        None => device.peak.map_or(0, |peak| peak.requested),
    };
    let faithful = device.fidelity.as_ref().is_some_and(Fidelity::fails_alike);
    let history = &device.history;
    Recording {
        source: file.source.to_string(),
        device: device.ordinal,
        standing: match relation {
            Relation::Same(_) => Standing::SameFailure,
            Relation::NoFailure => Standing::NoFailure,
            Relation::Other(why) => Standing::Other(why.clone()),
        },
        event: moment,
        events: device.events,
        requested,
        device_free: oom.map(|oom| oom.device_free),
        active: if device.peak.is_none() { device.allocated } else { holes.active },
        reserved: if device.peak.is_none() { device.reserved } else { holes.reserved },
        cached: holes.free,
        cached_in_private_pools: holes.free_in_private_pools,
        pieces: holes.pieces.iter().map(|(_, count)| count).sum(),
        largest_piece: holes.largest(),
        budget: device.budget.map(|budget| (budget.low, budget.high)),
        least: held.saturating_add(requested.unwrap_or(0)),
        peak_reserved: device.peak_reserved.map(|(bytes, _)| bytes),
        from_the_start: device.peak.is_some() && !history.begins_late(),
        steps: device.steps,
        conf: file.settings.map(|settings| settings.conf.clone()).filter(|conf| !conf.is_empty()),
        expandable: file.settings.is_some_and(|settings| settings.expandable_segments),
        faithful,
        trials: device.what_if.iter().map(|entry| trial(entry, oom, holes, sites)).collect(),
        growth: device.growth.as_ref().and_then(|growth| {
            Some(Rise {
                by_steps: growth.by_steps,
                first: *growth.floors.first()?,
                last: *growth.floors.last()?,
                windows: if growth.by_steps { growth.spans } else { growth.floors.len() },
                per_window: growth.per_step,
                places: growth.sites.iter().take(HOLDERS).map(|(site, bytes)| (place(sites, *site), *bytes)).collect(),
            })
        }),
        holders: held_at(holding, sites),
        categories: holding.categories.clone(),
        notes: device.notes.clone(),
    }
}

fn held_at(holding: &Holding, sites: &[Site]) -> Vec<HeldAt> {
    let held = holding.holders.iter().take(HOLDERS).map(|holder| {
        let site = sites.get(holder.site as usize);
        HeldAt {
            place: place(sites, holder.site),
            own_code: site.is_some_and(|site| {
                !holders::is_silent(site) && site.frames.iter().any(|frame| !frame.starts_with('('))
            }),
            bytes: holder.bytes,
            blocks: holder.count,
            category: holder.category,
            certainty: holder.certainty,
        }
    });
    held.collect()
}

fn place(sites: &[Site], site: u32) -> Text {
    holders::place(sites.get(site as usize))
}

/// How a variation ends for the failed request of entry `failed`, where one is in question. It counts whether that
/// request is served; a later one may still fail.
pub fn verdict(entry: &WhatIf, failed: Option<u32>) -> Verdict {
    match &entry.outcome {
        VariationOutcome::Refused(why) => Verdict::Refused(why.clone()),
        VariationOutcome::GivenUp => Verdict::Unclear,
        VariationOutcome::Ran { peak_reserved: peak, oom, served, .. } => {
            let beyond = match (oom, failed) {
                (Some((event, _)), Some(failed)) => *event != NONE && *event > failed,
                _ => false,
            };
            match (served, oom) {
                (Some(true), _) => Verdict::Serves { peak_reserved: *peak, to_the_end: true },
                (_, Some(_)) if beyond => Verdict::Serves { peak_reserved: *peak, to_the_end: false },
                (Some(false), Some((_, bytes))) => Verdict::Fails { bytes: *bytes },
                _ => Verdict::Unclear,
            }
        }
    }
}

/// Whether expandable segments would have served the first failed request is what the replay says, where it says so:
/// the free pages of the moment are an estimate.
pub fn settle_would_fit(device: &mut DeviceAnalysis) {
    let faithful = device.fidelity.as_ref().is_some_and(Fidelity::fails_alike);
    let Some(oom) = device.ooms.first_mut().filter(|_| faithful) else { return };
    let expandable = |entry: &&WhatIf| entry.change == Change::Settings && entry.conf == EXPANDABLE;
    match device.what_if.iter().find(expandable).map(|entry| verdict(entry, Some(oom.event))) {
        Some(Verdict::Serves { .. }) => oom.would_fit.recoverable_by_expandable = true,
        Some(Verdict::Fails { .. }) => oom.would_fit.recoverable_by_expandable = false,
        _ => {}
    }
}

fn trial(entry: &WhatIf, oom: Option<&Oom>, holes: &Fragmentation, sites: &[Site]) -> Trial {
    let mut saves = None;
    let verdict = verdict(entry, oom.map(|oom| oom.event));
    if let (Verdict::Serves { peak_reserved, .. }, Some(oom)) = (&verdict, oom) {
        let needed = holes.reserved.saturating_add(segment_of(oom.requested));
        saves = Some(i128::from(needed) - i128::from(*peak_reserved));
    }
    let torch = entry.torch;
    let name = match &entry.change {
        Change::Settings if entry.conf.is_empty() => Text::new("no settings at all", "不使用任何设置"),
        Change::Settings => Text::same(entry.conf.clone()),
        Change::Torch => Text::same(format!("PyTorch {}.{}", torch.major, torch.minor)),
        Change::Capacity(bytes) => {
            let bytes = Bytes(*bytes);
            text!(en: "a device of {bytes}", zh: "显存为 {bytes} 的设备")
        }
        Change::HalfBatch => Text::new("activations of half the size", "激活值减半"),
        Change::Without(site) => {
            let place = place(sites, *site);
            Text::new(format!("without {}", place.en), format!("去掉 {}", place.zh))
        }
    };
    Trial { change: entry.change.clone(), name, conf: entry.conf.clone(), verdict, saves }
}

/// The incident that a snapshot alone tells of: its first failed request. What only a message prints (the size of the
/// device, other processes) stays unknown.
pub fn incident(snapshot: &Snapshot, device: &DeviceAnalysis) -> Option<Incident> {
    let oom = device.ooms.first()?;
    let holes = &oom.fragmentation;
    let exactly = |bytes: u64| Figure { bytes, half_width: 0, at: Span::GIVEN };
    let mut event = Event::new(FROM_SNAPSHOT, Program::Pytorch, Resource::Gpu, Span::GIVEN);
    let (asked, free) = (Bytes(oom.requested), Bytes(oom.device_free));
    let (ordinal, entry) = (device.ordinal, u64::from(oom.event) + 1);
    event.message = format!(
        "out of memory on GPU {ordinal}: {asked} asked for, {free} of the device free (entry {entry} of {})",
        device.events
    );
    event.facts.device = Known::Seen(ordinal, Span::GIVEN);
    event.facts.note(Fact::Requested, exactly(oom.requested));
    event.facts.note(Fact::Free, exactly(oom.device_free));
    let private = holes.free_in_private_pools;
    // As PyTorch prints them: the free blocks of private pools count as allocated.
    event.facts.note(Fact::Allocated, exactly(holes.active.saturating_add(private)));
    event.facts.note(Fact::ReservedUnallocated, exactly(holes.free.saturating_sub(private)));
    event.facts.note(Fact::Reserved, exactly(holes.reserved));
    if private > 0 {
        event.facts.note(Fact::PrivatePools, exactly(private));
    }
    let mut context = Context::default();
    let mut frames: Vec<Frame> = snapshot
        .frames_of(oom.stack)
        .filter(|(file, ..)| file.ends_with(".py") || file.starts_with('<'))
        .take(FRAMES)
        .map(|(file, line, function)| Frame {
            file: file.to_string(),
            line: line.into(),
            function: function.to_string(),
            code: None,
            at: Span::GIVEN,
        })
        .collect();
    frames.reverse();
    context.take_frames(frames);
    if let Some(settings) = snapshot.settings.as_ref().filter(|settings| !settings.conf.is_empty()) {
        context.alloc_conf = Known::Seen(settings.conf.clone(), Span::GIVEN);
    }
    Some(Incident::alone(event, context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::analysis::WouldFit;
    use crate::units::{Base, GIB, parse};

    fn told(figures: &[(Fact, &str)]) -> Told {
        let mut event = Event::new("test", Program::Pytorch, Resource::Gpu, Span::line(1));
        for (fact, text) in figures {
            event.facts.note(*fact, parse(text, Base::Binary).unwrap().at(Span::line(1)));
        }
        Told::of(&event)
    }

    fn oom(requested: u64, active: u64, free: u64) -> Oom {
        Oom {
            event: 9,
            requested,
            device_free: 0,
            stack: NONE,
            would_fit: WouldFit::default(),
            fragmentation: Fragmentation { reserved: active + free, active, free, ..Fragmentation::default() },
            holding: Holding::default(),
        }
    }

    const FULL: [(Fact, &str); 3] =
        [(Fact::Requested, "786.00 MiB"), (Fact::Allocated, "5.35 GiB"), (Fact::ReservedUnallocated, "154.09 MiB")];

    #[test]
    fn the_message_prints_the_segment_and_the_trace_has_the_request() {
        let active = (5.35 * GIB as f64) as u64;
        assert!(told(&FULL).fits(&oom(823_413_760, active, 154 * MIB)), "785.27 MiB of a segment of 786");
        assert!(told(&FULL).fits(&oom(786 * MIB, active, 154 * MIB)));
        assert!(!told(&FULL).fits(&oom(780 * MIB, active, 154 * MIB)));
        let small = [(Fact::Requested, "20.00 MiB"), (Fact::Allocated, "5.35 GiB")];
        assert!(told(&small).fits(&oom(3 * MIB, active, 0)), "the smallest segment of the large pool");
    }

    #[test]
    fn memory_in_use_must_agree_up_to_what_waits_for_streams() {
        let active = (5.35 * GIB as f64) as u64;
        assert!(told(&FULL).fits(&oom(786 * MIB, active + 60 * MIB, 154 * MIB)));
        assert!(!told(&FULL).fits(&oom(786 * MIB, active + GIB, 154 * MIB)));
        assert!(!told(&FULL).fits(&oom(786 * MIB, active, 2 * GIB)), "another state of the cache");
        assert!(!told(&FULL[..1]).fits(&oom(786 * MIB, active, 154 * MIB)), "a request alone is no match");
    }
}
