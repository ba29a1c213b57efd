//! Which events are one failure: repetitions, other ranks, launchers, and the proof of a symptom.
//!
//! Each event is held against the few incidents that are still near it, so that the work grows with the number of
//! events and not with its square, however many ranks a job had.

use super::survival::{Aftermath, Failure, Survival};
use super::{
    Incident, RankFall,
    context::{Clue, Context, ContextReader, Frame, Phase},
};
use crate::dialect::naming::Introductions;
use crate::dialect::{Event, Fact, Resource, Sign, Standing};
use crate::domain::program::{Kind, PytorchAllocator};
use crate::domain::{Accelerator, Program};
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::order::InOrder;

/// A logger or launcher repeats a message within this many lines.
const REPEATED_WITHIN: u64 = 200;
/// One rank's traceback is shorter than this, so the next rank's message comes within it.
const NEXT_RANK_WITHIN: u64 = 600;
/// Incidents that a new event is compared with, latest first.
const COMPARED_WITH: usize = 12;
/// Lines between a failure without figures and a generic line whose figures are the same request's.
const BESIDE: u64 = 12;

/// Incidents that carry the memory readings around them, and what the lines around introduce; of more, only the primary
/// one does.
const WITH_SERIES: usize = 32;

/// An incident in the making.
struct Group {
    event: Event,
    followers: Vec<Event>,
    ranks: Vec<RankFall>,
    /// Last line of any of its events.
    last: u64,
    /// The run of the log that it belongs to: how many launch commands stand before it.
    run: usize,
}

/// What a later event is to an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// The same message again.
    Repeats,
    /// The same message again, and this one says more.
    SaysMore,
    /// An engine's own verdict on a failure that its framework reported.
    Verdict,
    /// The kernel's or scheduler's proof of a death that the program only noticed.
    Proves,
    /// A program's notice of a death that the kernel already reported.
    Symptom,
    /// Another rank with the same failure.
    OtherRank,
    /// A process killed while the job was going down.
    TornDown,
}

/// Groups events into incidents, in the order of the log, and sets aside what is harmless.
/// Exactly one incident is primary when there is any: the failure that came first and that the others followed from.
pub fn assemble(document: &Document, events: Vec<Event>) -> (Vec<Incident>, Vec<Event>) {
    let (mut harmless, events): (Vec<Event>, Vec<Event>) =
        events.into_iter().partition(|event| event.standing == Standing::Harmless);
    if events.is_empty() {
        return (Vec::new(), harmless);
    }
    let reader = ContextReader::new(document);
    let groups = group(document, &reader, events);
    let survivals = survivals(document, &reader, &groups);
    if let Some(finished) = all_over(&survivals) {
        harmless.extend(groups.into_iter().map(|group| outlived(group.event, finished)));
        harmless.order_by_key(|event| event.at.first);
        return (Vec::new(), harmless);
    }
    let primary = primary_of(document, &groups, &survivals);
    let shared = shared_devices(&groups);
    let kills_apart: Vec<Option<u64>> = (0..groups.len()).map(|i| kills_apart(document, &groups, i)).collect();
    let mut previous = None;
    let mut incidents = Vec::with_capacity(groups.len());
    for (i, mut group) in groups.into_iter().enumerate() {
        let mut context = reader.at(group.event.at, group.event.rank, previous);
        if context.user_frame().is_none() {
            // The same failure printed elsewhere may stand below the full traceback.
            for follower in group.followers.iter().filter(|f| f.resource == group.event.resource).take(4) {
                let frames = reader.frames_at(follower.at, follower.rank);
                if frames.iter().any(Frame::is_user_code) || context.frames.is_empty() && !frames.is_empty() {
                    context.take_frames(frames);
                    break;
                }
            }
        }
        if crowded(&group, &context) || group.event.facts.device.value().is_some_and(|device| shared.contains(&device))
        {
            context.clues.entry(Clue::RanksOnOneDevice).or_insert(group.event.at);
        }
        if let Some(at) = context.ranks_listed_on(group.event.facts.device.value().unwrap_or(0)) {
            context.clues.insert(Clue::RanksOnOneDevice, at);
        }
        // A counter of a compiler's or a simulation's steps is none of training.
        let computes = group.event.program.kind() == Kind::Application
            && group.event.program.pytorch_allocator() == PytorchAllocator::No;
        if (computes || context.builds()) && context.phase.value() == Some(Phase::Train) {
            context.phase = Known::Unknown;
        }
        // Who answers has probabilities of tokens, and no loss.
        if context.phase.value() == Some(Phase::Loss)
            && (group.event.program.is_engine()
                || context.frames.iter().any(|frame| frame.path().contains("tensorrt_llm/")))
        {
            context.phase = Known::Unknown;
        }
        if context.origin.mines || context.origin.moves_molecules {
            (context.phase, context.epoch) = (Known::Unknown, Known::Unknown);
        }
        if i >= WITH_SERIES && Some(i) != primary {
            context.series = Vec::new();
        } else if let Some(position) = document.position(group.event.at.first) {
            // Half of the time that a context takes.
            context.introduced = Introductions::around(document, position);
        }
        previous = Some(group.last.max(group.event.at.last));
        let told = |fact| reader.device_told(fact, group.event.facts.device.value(), group.event.at);
        told(Fact::FractionLimit).into_iter().for_each(|share| context.device_share.note(share, share.at));
        let listed = context.listed_total(None).filter(|_| context.partitions.is_empty());
        let known = context.device_total.value().or(listed);
        // A banner's figure counts beside those of the message: one without any stays a bare one.
        let announced = told(Fact::Capacity);
        let asks = [Fact::Requested, Fact::Needed].iter().any(|fact| group.event.facts.get(*fact).is_some());
        if let (Some(total), Resource::Gpu) = (known.or(announced.filter(|_| asks)), group.event.resource) {
            group.event.facts.note(Fact::Capacity, total);
        }
        announced.into_iter().for_each(|total| context.device_total.note(total, total.at));
        // What a program asks for above the limit that it had set itself, it refuses itself.
        let facts = &mut group.event.facts;
        let asked = facts.get(Fact::Requested).or(facts.get(Fact::Needed)).map(|figure| figure.bytes);
        if let Some(limit) = context.own_limit.value().filter(|limit| asked.is_some_and(|asked| asked > limit.bytes))
            && group.event.resource == Resource::Host
        {
            facts.note(Fact::Limit, limit);
            group.event.sign(Sign::RefusedByLimit);
        }
        if let Some(first) = kills_apart.get(i).copied().flatten() {
            context.clues.insert(Clue::KilledApart, Span::lines(first, group.event.at.first));
        }
        // A message that names no vendor is of the one whose devices the lines around it name.
        if let Some(sign) = foreign_device(&group.event, &context) {
            group.event.sign(sign);
        }
        group.event.standing = Standing::Failure;
        group.event.rank = group.event.rank.or(context.rank.value());
        let board = reader.board(group.event.facts.device.value(), group.event.at).cloned();
        let mut alone = Incident::alone(group.event, context);
        let unknown = alone.ledger.capacity.is_none() && alone.event.resource == Resource::Gpu;
        let nvidias = matches!(alone.event.accelerator(), Accelerator::Cuda | Accelerator::Any);
        alone.ledger.board = board.filter(|_| unknown && nvidias);
        incidents.push(Incident {
            primary: Some(i) == primary,
            survived: survivals.get(i).copied().flatten(),
            followers: group.followers,
            clock: group.ranks.first().and_then(|fall| fall.clock),
            ranks: if group.ranks.len() > 1 { group.ranks } else { Vec::new() },
            ..alone
        });
    }
    (incidents, harmless)
}

/// The sign of a vendor other than NVIDIA, where the lines around a device's message name only that one's devices.
fn foreign_device(event: &Event, context: &Context) -> Option<Sign> {
    let message = event.message.to_ascii_lowercase();
    let named = event.program.accelerator().is_some() || message.contains("cuda") || message.contains("nvidia");
    let unsaid = matches!(event.accelerator(), Accelerator::Cuda | Accelerator::Any);
    if event.resource != Resource::Gpu || !unsaid || named {
        return None;
    }
    match context.origin.vendor? {
        Accelerator::Hip => Some(Sign::Hip),
        Accelerator::Xpu => Some(Sign::Xpu),
        Accelerator::Npu => Some(Sign::Npu),
        _ => None,
    }
}

fn group(document: &Document, reader: &ContextReader, events: Vec<Event>) -> Vec<Group> {
    let only_followers = events.iter().all(|event| event.standing == Standing::Follower);
    let mut groups: Vec<Group> = Vec::new();
    let mut waiting: Vec<Event> = Vec::new();
    for event in events {
        let run = reader.runs_before(event.at.first);
        if event.standing == Standing::Follower && !(only_followers && groups.is_empty()) {
            match groups.iter_mut().rev().find(|group| group.run == run || group.last <= event.at.first) {
                Some(group) => group.followers.push(event),
                None => waiting.push(event),
            }
            continue;
        }
        let tie = groups
            .iter()
            .enumerate()
            .rev()
            .take(COMPARED_WITH)
            .filter(|(_, group)| group.run == run)
            .find_map(|(i, group)| tie(group, &event).map(|tie| (i, tie)));
        match tie.and_then(|(i, tie)| groups.get_mut(i).map(|group| (group, tie))) {
            Some((group, tie)) => group.join(document, event, tie),
            None => groups.push(Group {
                ranks: vec![fall(document, &event)],
                last: event.at.last,
                followers: Vec::new(),
                event,
                run,
            }),
        }
    }
    // Followers that stood before any failure: a watchdog's word may come first in a buffered log.
    if let Some(first) = groups.first_mut() {
        first.followers.splice(0..0, waiting);
    }
    groups.iter_mut().for_each(Group::take_figures_beside);
    groups.iter_mut().for_each(Group::order_ranks);
    groups
}

impl Group {
    fn join(&mut self, document: &Document, event: Event, tie: Tie) {
        self.last = self.last.max(event.at.last);
        match tie {
            Tie::Repeats | Tie::Symptom => {
                self.event.complete(&event);
                self.followers.push(event);
            }
            Tie::SaysMore => self.replace(event),
            Tie::Verdict => self.replace(event),
            Tie::Proves => {
                if self.event.program.names_itself() {
                    self.event.resource = event.resource;
                    for (sign, at) in &event.signs {
                        self.event.signs.entry(*sign).or_insert(*at);
                    }
                    self.event.signs.remove(&Sign::KilledWithoutProof);
                    self.event.complete(&event);
                    self.followers.push(event);
                } else {
                    self.replace(event);
                }
            }
            Tie::OtherRank => {
                self.ranks.push(fall(document, &event));
                self.followers.push(event);
            }
            Tie::TornDown => self.followers.push(event),
        }
    }

    /// Makes `event` the one that speaks for the incident and completes it with what the earlier one printed.
    fn replace(&mut self, event: Event) {
        let earlier = std::mem::replace(&mut self.event, event);
        self.event.complete(&earlier);
        if self.event.rank.is_none() {
            self.event.rank = earlier.rank;
        }
        self.followers.push(earlier);
    }

    /// A failure without figures takes those of a generic line right beside it: `failed to allocate a buffer of 5 GiB`,
    /// then a bare `std::bad_alloc`. Nobody says what a process that was killed had asked for.
    fn take_figures_beside(&mut self) {
        let killed = self.event.has(Sign::KilledWithoutProof) || self.event.has(Sign::KilledWithProof);
        if !bare(&self.event) || killed {
            return;
        }
        let at = self.event.at.first;
        let beside = self.followers.iter().filter(|follower| {
            let same_memory = follower.resource == self.event.resource
                || follower.resource.on_host() && self.event.resource.on_host();
            let same_rank = follower.rank == self.event.rank || follower.rank.is_none() || self.event.rank.is_none();
            same_memory && same_rank && follower.has(Sign::Generic) && !bare(follower)
        });
        let distance = |follower: &&Event| follower.at.first.abs_diff(at);
        let nearest = beside.min_by_key(distance).filter(|follower| distance(follower) <= BESIDE);
        if let Some(nearest) = nearest {
            self.event.facts.sizes.extend(nearest.facts.sizes.iter().map(|(fact, figure)| (*fact, *figure)));
            self.event.signs.remove(&Sign::NoFigures);
        }
    }

    /// Puts the rank that fell first in front and lets its message speak, by the clock where all lines carry one.
    fn order_ranks(&mut self) {
        if self.ranks.len() < 2 || self.ranks.iter().any(|fall| fall.clock.is_none()) {
            return;
        }
        self.ranks.order_by(|a, b| a.clock.partial_cmp(&b.clock).unwrap_or(std::cmp::Ordering::Equal));
        let Some(first) = self.ranks.first().copied() else { return };
        if first.line == self.event.at.first {
            return;
        }
        if let Some(i) = self.followers.iter().position(|follower| follower.at.first == first.line) {
            std::mem::swap(&mut self.followers[i], &mut self.event);
        }
    }
}

impl Event {
    /// Takes over figures and names that this event lacks and `other`, a report of the same failure, prints.
    fn complete(&mut self, other: &Event) {
        for (fact, figure) in &other.facts.sizes {
            self.facts.sizes.entry(*fact).or_insert(*figure);
        }
        for (number, value) in &other.facts.numbers {
            self.facts.numbers.entry(*number).or_insert(*value);
        }
        complete(&mut self.facts.device, &other.facts.device);
        complete(&mut self.facts.pid, &other.facts.pid);
        complete(&mut self.facts.process_name, &other.facts.process_name);
        complete(&mut self.facts.cgroup, &other.facts.cgroup);
        complete(&mut self.facts.setting, &other.facts.setting);
        complete(&mut self.facts.trigger_process, &other.facts.trigger_process);
        complete(&mut self.facts.largest_process, &other.facts.largest_process);
        if self.facts.other_processes.is_empty() {
            self.facts.other_processes.clone_from(&other.facts.other_processes);
        }
        if !self.facts.sizes.is_empty() {
            self.signs.remove(&Sign::NoFigures);
        }
    }
}

fn complete<T: Clone>(slot: &mut crate::evidence::Known<T>, other: &crate::evidence::Known<T>) {
    if !slot.is_known() && other.is_known() {
        *slot = other.clone();
    }
}

/// What `event` is to the incident, if it belongs to it at all. The event stands after the incident's first one.
fn tie(group: &Group, event: &Event) -> Option<Tie> {
    let known = &group.event;
    let distance = event.at.first.saturating_sub(group.last);
    let pids = (known.facts.pid.value(), event.facts.pid.value());
    let same_pid = matches!(pids, (Some(a), Some(b)) if a == b);
    let other_pid = matches!(pids, (Some(a), Some(b)) if a != b);

    if known.resource.on_host() && event.resource.on_host() {
        // A bare `Killed` is none because it stands in a pod's log.
        let proof =
            |e: &Event| e.has(Sign::KilledWithProof) || e.program.is_warden() && !e.has(Sign::KilledWithoutProof);
        let symptom = |e: &Event| e.has(Sign::KilledWithoutProof) || e.has(Sign::DataLoaderWorker);
        if !other_pid {
            if symptom(known) && !proof(known) && proof(event) {
                return Some(Tie::Proves);
            }
            if proof(known) && symptom(event) && !proof(event) {
                // The program's own words name what was killed, wherever they stand.
                return Some(if event.program.names_itself() && !known.program.names_itself() && same_pid {
                    Tie::Verdict
                } else {
                    Tie::Symptom
                });
            }
            if proof(known) && proof(event) && (same_pid || pids.0.is_none() || pids.1.is_none()) {
                // Slurm counts what the kernel reports, bash says what it saw of the same.
                return (distance <= REPEATED_WITHIN).then_some(Tie::Repeats);
            }
        }
        if same_pid && distance <= REPEATED_WITHIN {
            return Some(Tie::Repeats);
        }
    }
    let ranks_differ = matches!((known.rank, event.rank), (Some(a), Some(b)) if a != b);
    let devices_differ =
        matches!((known.facts.device.value(), event.facts.device.value()), (Some(a), Some(b)) if a != b);
    if distance <= NEXT_RANK_WITHIN && known.resource == event.resource && (ranks_differ || devices_differ) {
        let fallen = group.ranks.iter().any(|fall| match event.rank {
            Some(_) => fall.rank == event.rank,
            None => fall.device == event.facts.device.value(),
        });
        let same_shape = known.same_wording(event) || known.program == event.program;
        if fallen {
            // This rank's message was already read: printed again by a launcher, or a second failure of its own.
            return known_again(group, event).then_some(Tie::Repeats);
        }
        if same_shape && !event.has(Sign::CaughtAndContinued) {
            return Some(Tie::OtherRank);
        }
    }
    if ranks_differ || devices_differ {
        return None;
    }
    if distance <= REPEATED_WITHIN {
        if known.resource == event.resource || bare(known) && known.resource.on_device() && event.resource.on_device() {
            let verdict = event.program.is_engine() && !known.program.is_engine();
            if verdict && (bare(known) || bare(event) || known.resource == event.resource) && agree(known, event) {
                return Some(Tie::Verdict);
            }
        }
        // The engine spoke first and its framework's message, which it quotes, came after.
        let quoted = known.program.is_engine() && matches!(event.program, Program::Pytorch | Program::Cuda);
        if quoted && known.resource == event.resource && (bare(known) || bare(event)) && agree(known, event) {
            return Some(Tie::Repeats);
        }
        if known.resource == event.resource {
            // The host's figureless symptoms (a bus error, then the worker's death) are one story, told twice.
            if agree(known, event) && !other_pid {
                if same_figures(known, event) || bare(event) && kindred(known, event) {
                    return Some(Tie::Repeats);
                }
                if bare(known) && kindred(known, event) {
                    return Some(Tie::SaysMore);
                }
            }
        }
        // A rank or worker killed right after a failure on the device: the launcher tears the job down.
        if known.resource.on_device() && event.resource.on_host() && event.has(Sign::KilledWithoutProof) {
            return Some(Tie::TornDown);
        }
    }
    None
}

/// True when the event repeats one that the group already holds for its rank.
fn known_again(group: &Group, event: &Event) -> bool {
    bare(event)
        || same_figures(&group.event, event)
        || group
            .followers
            .iter()
            .rev()
            .take(COMPARED_WITH)
            .any(|earlier| earlier.rank == event.rank && (same_figures(earlier, event) || bare(earlier)))
}

/// True for an event that prints no size at all.
fn bare(event: &Event) -> bool {
    event.facts.sizes.is_empty()
}

/// True when no figure that both print differs.
fn agree(a: &Event, b: &Event) -> bool {
    a.facts.sizes.iter().all(|(fact, figure)| match b.facts.sizes.get(fact) {
        // Printed in another unit or with fewer digits it is still the same.
        Some(other) => figure.bytes.abs_diff(other.bytes) <= figure.half_width + other.half_width + 1,
        None => true,
    })
}

/// True when both print figures, at least one of them the same, and none differs.
fn same_figures(a: &Event, b: &Event) -> bool {
    agree(a, b) && a.facts.sizes.keys().any(|fact| *fact != Fact::Capacity && b.facts.sizes.contains_key(fact))
}

/// True when the same program, or a part of it, can have printed both.
fn kindred(a: &Event, b: &Event) -> bool {
    a.program == b.program || a.program == Program::Cuda || b.program == Program::Cuda || a.same_wording(b)
}

fn fall(document: &Document, event: &Event) -> RankFall {
    let text = document.line(event.at.first).unwrap_or_default();
    RankFall {
        rank: event.rank,
        device: event.facts.device.value(),
        file: 0,
        line: event.at.first,
        clock: clock(&text),
        asked: event.facts.get(Fact::Requested).map(|figure| figure.bytes),
    }
}

/// The first time of day in a line, in seconds since midnight: `[2024-05-01 12:34:56,789]`, `03:04:05.678`.
pub(super) fn clock(text: &str) -> Option<f64> {
    clock_at(text).map(|(_, seconds)| seconds)
}

/// The same, and where its eight characters begin.
pub(super) fn clock_at(text: &str) -> Option<(usize, f64)> {
    let bytes = text.as_bytes();
    let number = |at: usize| -> Option<f64> {
        let two = text.get(at..at + 2)?;
        two.bytes().all(|b| b.is_ascii_digit()).then(|| two.parse().ok())?
    };
    for at in memchr::memchr_iter(b':', bytes).filter(|at| *at >= 2).take(16) {
        if bytes.get(at + 3) != Some(&b':') {
            continue;
        }
        let (Some(hour), Some(minute), Some(second)) = (number(at - 2), number(at + 1), number(at + 4)) else {
            continue;
        };
        if hour > 23.0 || minute > 59.0 || second > 60.0 {
            continue;
        }
        let fraction = match bytes.get(at + 6) {
            Some(b'.' | b',') => {
                let digits = bytes[at + 7..].iter().take_while(|b| b.is_ascii_digit()).count().min(9);
                text.get(at + 7..at + 7 + digits)
                    .and_then(|d| d.parse::<f64>().ok())
                    .map_or(0.0, |value| value / 10f64.powi(digits as i32))
            }
            _ => 0.0,
        };
        return Some((at - 2, hour * 3600.0 + minute * 60.0 + second + fraction));
    }
    None
}

/// True where a rank other than the first failed on the first device for a reason that a launcher's own numbering of
/// devices does not explain: it was loading a checkpoint there, or other ranks' processes sit on the same device; and
/// where ranks show as such, whichever failed.
fn crowded(group: &Group, context: &Context) -> bool {
    let elsewhere = context.rank.value().is_some_and(|rank| rank > 0) && group.event.facts.device.value() == Some(0);
    elsewhere && (context.has(Clue::LoadsModel) || group.event.facts.other_processes.len() >= 2)
        || started_together(&group.event, context)
}

/// True where the message lists processes whose ids follow on one another, and a launcher started as many: ranks of
/// this job, which are nobody's to end. Where no launcher shows, they may as well be a neighbour's.
fn started_together(event: &Event, context: &Context) -> bool {
    let launched = context.origin.spread.max(context.world_size.value().unwrap_or(0));
    launched >= 2 && event.lists_ids_in_a_row(2)
}

/// Messages that are held against each other for [`shared_devices`].
const MESSAGES_COMPARED: usize = 64;

/// Devices on which several processes of this very log sit: one message lists, beside those that another one lists, a
/// process that holds just what the process of that other message held.
fn shared_devices(groups: &[Group]) -> Vec<u32> {
    let all = groups.iter().flat_map(|group| std::iter::once(&group.event).chain(&group.followers));
    let messages: Vec<&Event> = all
        .filter(|event| event.facts.device.value().is_some() && !event.facts.other_processes.is_empty())
        .take(MESSAGES_COMPARED)
        .collect();
    let mut devices = Vec::new();
    for one in &messages {
        let Some(own) = one.facts.get(Fact::Process).filter(|own| own.bytes > 0) else { continue };
        for other in messages.iter().filter(|other| other.facts.device.value() == one.facts.device.value()) {
            let lists_it = other.facts.other_processes.iter().any(|listed| {
                listed.figure.bytes.abs_diff(own.bytes) <= listed.figure.half_width + own.half_width
                    && !one.facts.other_processes.iter().any(|known| known.pid == listed.pid)
            });
            if lists_it && let Some(device) = one.facts.device.value() {
                devices.push(device);
            }
        }
    }
    devices.sort_unstable();
    devices.dedup();
    devices
}

/// The first and the last of a flood of failures that are asked whether they were outlived.
const ASKED_AFTER: usize = 128;

/// What each failure's aftermath shows.
fn survivals(document: &Document, reader: &ContextReader, groups: &[Group]) -> Vec<Option<Survival>> {
    let spans =
        |group: &Group| group.followers.iter().map(|event| event.at).chain([group.event.at]).collect::<Vec<_>>();
    let mut messages: Vec<(u64, u64)> = groups.iter().flat_map(spans).map(|at| (at.first, at.last)).collect();
    messages.sort_unstable();
    let aftermath = Aftermath::of(document, reader, &messages);
    let asked = |i: usize| i < ASKED_AFTER || i + ASKED_AFTER >= groups.len();
    let of = |group: &Group| {
        let raised = !reader.frames_at(group.event.at, group.event.rank).is_empty();
        let last = group.last.max(group.event.at.last);
        aftermath.survival(&Failure { event: &group.event, last, raised })
    };
    groups.iter().enumerate().map(|(i, group)| asked(i).then(|| of(group)).flatten()).collect()
}

/// The good end of a run that outlived all of its failures.
fn all_over(survivals: &[Option<Survival>]) -> Option<Survival> {
    let last = survivals.last().copied().flatten().filter(|last| matches!(last, Survival::Finished(_)));
    last.filter(|_| survivals.iter().all(Option::is_some))
}

/// A failure that ended nothing, as a note.
fn outlived(mut event: Event, survival: Survival) -> Event {
    event.sign(Sign::CaughtAndContinued);
    event.make_harmless(survival.text());
    event
}

/// The incident that the job died of: of the newest run the first that the program neither says it caught nor
/// outlived; none where it outlived all. Who has tried again asks about the last try.
fn primary_of(document: &Document, groups: &[Group], survivals: &[Option<Survival>]) -> Option<usize> {
    let dead = |i: &usize| survivals.get(*i).is_none_or(Option::is_none);
    let run = (0..groups.len()).filter(dead).map(|i| groups[i].run).max()?;
    let of_newest = || (0..groups.len()).filter(dead).filter(|i| groups[*i].run == run);
    let first = of_newest().find(|i| !groups[*i].event.has(Sign::CaughtAndContinued)).or_else(|| of_newest().next())?;
    // A system's log holds the kills of days: those a while after another did not follow from it.
    let killed = |i: usize| groups[i].event.has(Sign::KilledWithProof) && groups[i].event.facts.pid.is_known();
    let mut newest = first;
    for later in of_newest().filter(|i| *i > first && killed(first) && killed(*i)) {
        if times_between(document, &groups[newest].event, &groups[later].event) > ONE_STORY {
            newest = later;
        }
    }
    Some(newest)
}

/// Kills of one program that are compared, the newest of them.
const KILLS_COMPARED: usize = 16;
/// Seconds that a restarted program takes at the least to come to its limit again where it grows into it: what it needs
/// from the start, it has taken before.
const GROWS_FOR: f64 = 1800.0;
/// So far, as a share, the sizes at which a program is killed at one limit lie apart.
const ONE_SIZE: f64 = 0.1;

/// The first of three and more kills of one program at the same size, each long after the kill before.
fn kills_apart(document: &Document, groups: &[Group], last: usize) -> Option<u64> {
    let told = |group: &Group| {
        let facts = &group.event.facts;
        let held = facts.get(Fact::AnonRss).or(facts.get(Fact::Process))?.bytes as f64;
        group.event.has(Sign::KilledWithProof).then_some((facts.process_name.get()?.clone(), held))
    };
    let (name, size) = told(groups.get(last)?)?;
    let alike = |group: &&Group| {
        told(group).is_some_and(|(other, held)| other == name && (held - size).abs() <= ONE_SIZE * size)
    };
    let kills: Vec<&Group> = groups.get(..=last)?.iter().rev().take(KILLS_COMPARED).filter(alike).collect();
    let apart = |pair: &&[&Group]| times_between(document, &pair[1].event, &pair[0].event) >= GROWS_FOR;
    let first = kills.last()?.event.at.first;
    (kills.windows(2).filter(apart).count() >= 2).then_some(first)
}

/// Seconds within which kills of one shortage follow each other.
const ONE_STORY: f64 = 600.0;

/// Seconds between two lines by the kernel's own count or by the time of day, 0 where neither tells.
fn times_between(document: &Document, earlier: &Event, later: &Event) -> f64 {
    // A kernel's line in a log without times: the line behind it or in front of it may be another writer's.
    let stamp = |event: &Event, read: fn(&str) -> Option<f64>| {
        let own = (event.at.first..=event.at.last).take(4);
        let beside = [event.at.last + 1, event.at.first.saturating_sub(1)];
        own.chain(beside).find_map(|line| read(&document.line(line)?))
    };
    let both = |read: fn(&str) -> Option<f64>| stamp(earlier, read).zip(stamp(later, read));
    match (both(uptime), both(clock)) {
        (Some((from, to)), _) => to - from,
        // Past midnight the clock goes back; by a little it does so where two writers share a log.
        (None, Some((from, to))) if from - to > ONE_STORY => to - from + 86_400.0,
        (None, Some((from, to))) => to - from,
        (None, None) => 0.0,
    }
}

/// The seconds since boot in front of a kernel's message: `[ 3936.393311] `.
fn uptime(text: &str) -> Option<f64> {
    let (stamp, _) = text.split_once('[')?.1.split_once(']')?;
    let stamp = stamp.trim_start();
    (stamp.len() <= 20 && stamp.contains('.')).then(|| stamp.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Resource;
    use crate::evidence::{Known, Span};
    use crate::units::{Figure, GIB, MIB};

    fn event(program: Program, resource: Resource, line: u64) -> Event {
        Event::new("test", program, resource, Span::line(line))
    }

    fn with(mut event: Event, fact: Fact, bytes: u64) -> Event {
        event.facts.note(fact, Figure { bytes, half_width: 0, at: event.at });
        event
    }

    fn on_rank(mut event: Event, rank: u32) -> Event {
        event.rank = Some(rank);
        event
    }

    fn of_pid(mut event: Event, pid: u64, sign: Sign) -> Event {
        event.facts.pid = Known::Seen(pid, event.at);
        event.sign(sign);
        event
    }

    fn incidents(text: &str, events: Vec<Event>) -> Vec<Incident> {
        assemble(&Document::from_text("-", text), events).0
    }

    #[test]
    fn the_rank_that_fell_first_by_the_clock_speaks_for_the_others() {
        let text = "10:00:07.5 rank 0\n10:00:05.25 rank 3\n10:00:09 rank 1\n";
        let events = [(0, 1), (3, 2), (1, 3)].map(|(rank, line)| {
            on_rank(with(event(Program::Pytorch, Resource::Gpu, line), Fact::Requested, MIB * line), rank)
        });
        let incidents = incidents(text, events.to_vec());
        assert_eq!(incidents.len(), 1);
        assert_eq!(incidents[0].event.rank, Some(3));
        assert_eq!(incidents[0].ranks.iter().map(|fall| fall.rank).collect::<Vec<_>>(), [Some(3), Some(0), Some(1)]);
        assert_eq!(incidents[0].followers.len(), 2);
    }

    #[test]
    fn of_kills_of_several_days_the_newest_is_asked_about() {
        let kill =
            |line: u64| of_pid(event(Program::LinuxKernel, Resource::Host, line), 100 + line, Sign::KilledWithProof);
        let asked = |text: &str| {
            let incidents = incidents(text, vec![kill(1), kill(2), kill(3)]);
            incidents.iter().find(|one| one.primary).map(|one| one.event.at.first)
        };
        assert_eq!(asked("Mar 9 22:10:13 killed\nMar 10 03:44:51 killed\nMar 10 03:44:52 killed\n"), Some(2));
        assert_eq!(asked("[ 3936.393433] killed\n[ 3936.5] killed\n[99136.5] killed\n"), Some(3));
        assert_eq!(asked("[ 3936.393433] killed\n[ 3936.5] killed\n[ 3940.5] killed\n"), Some(1));
        assert_eq!(asked("killed\nkilled\nkilled\n"), Some(1));
        assert_eq!(asked("22:10:13 killed\n22:10:12 killed\n22:10:13 killed\n"), Some(1), "no day lies between");
    }

    #[test]
    fn of_several_runs_the_newest_is_asked_about() {
        let text = "$ python train.py --batch-size 32\nfailed\n$ python train.py --batch-size 16\nfailed\nfailed\n";
        let events = [2, 4, 5].map(|line| {
            let event = event(Program::Pytorch, Resource::Gpu, line);
            with(event, Fact::Requested, MIB * line)
        });
        let incidents = incidents(text, events.to_vec());
        assert_eq!(incidents.iter().map(|one| one.primary).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn the_kernel_proves_what_the_program_noticed() {
        let noticed = of_pid(event(Program::Pytorch, Resource::Host, 1), 77, Sign::KilledWithoutProof);
        let kernel = with(
            of_pid(event(Program::LinuxKernel, Resource::Cgroup, 9), 77, Sign::KilledWithProof),
            Fact::AnonRss,
            GIB,
        );
        let other = with(
            of_pid(event(Program::LinuxKernel, Resource::Host, 12), 78, Sign::KilledWithProof),
            Fact::AnonRss,
            MIB,
        );
        let incidents = incidents("", vec![noticed, kernel, other]);
        assert_eq!(incidents.len(), 2);
        assert_eq!(incidents[0].event.program, Program::Pytorch);
        assert_eq!(incidents[0].event.resource, Resource::Cgroup);
        assert_eq!(incidents[0].event.facts.get(Fact::AnonRss).unwrap().bytes, GIB);
        assert!(!incidents[0].event.has(Sign::KilledWithoutProof));
    }

    #[test]
    fn an_engine_verdict_speaks_and_keeps_the_figures() {
        let torch = with(event(Program::Pytorch, Resource::Gpu, 1), Fact::Requested, GIB);
        let incidents = incidents("", vec![torch, event(Program::Vllm, Resource::Gpu, 2)]);
        assert_eq!(incidents.len(), 1);
        assert_eq!(incidents[0].event.program, Program::Vllm);
        assert_eq!(incidents[0].event.facts.get(Fact::Requested).unwrap().bytes, GIB);
    }

    #[test]
    fn an_engine_that_speaks_first_takes_the_figures_of_what_it_quotes() {
        let torch = with(event(Program::Pytorch, Resource::Gpu, 2), Fact::Requested, GIB);
        let incidents = incidents("", vec![event(Program::Sglang, Resource::Gpu, 1), torch]);
        assert_eq!((incidents.len(), incidents[0].event.program), (1, Program::Sglang));
        assert_eq!(incidents[0].event.facts.get(Fact::Requested).unwrap().bytes, GIB);
    }

    #[test]
    fn a_message_without_figures_is_the_one_with_figures_said_again() {
        let full = with(event(Program::Pytorch, Resource::Gpu, 5), Fact::Requested, GIB);
        for order in [
            vec![event(Program::Pytorch, Resource::Gpu, 2), full.clone()],
            vec![full, event(Program::Pytorch, Resource::Gpu, 8)],
        ] {
            let incidents = incidents("", order);
            assert_eq!(incidents.len(), 1);
            assert!(incidents[0].event.facts.get(Fact::Requested).is_some());
        }
    }

    #[test]
    fn different_failures_and_different_runs_stay_apart() {
        let one = with(event(Program::Pytorch, Resource::Gpu, 2), Fact::Requested, GIB);
        let two = with(event(Program::Pytorch, Resource::Gpu, 4), Fact::Requested, MIB);
        assert_eq!(incidents("", vec![one.clone(), two]).len(), 2);
        let again = with(event(Program::Pytorch, Resource::Gpu, 4), Fact::Requested, GIB);
        assert_eq!(incidents("$ python a.py\nboom\n$ python a.py --batch-size 2\nboom\n", vec![one, again]).len(), 2);
    }

    #[test]
    fn a_follower_alone_is_a_failure_and_never_primary_beside_one() {
        let mut follower = event(Program::Pytorch, Resource::Host, 1);
        follower.standing = Standing::Follower;
        let alone = incidents("", vec![follower.clone()]);
        assert_eq!((alone.len(), alone[0].primary, alone[0].event.standing), (1, true, Standing::Failure));
        let both = incidents("", vec![follower, with(event(Program::Pytorch, Resource::Gpu, 3), Fact::Free, 1)]);
        assert_eq!((both.len(), both[0].event.resource, both[0].followers.len()), (1, Resource::Gpu, 1));
    }

    #[test]
    fn a_job_of_many_ranks_is_grouped_in_no_time() {
        let events: Vec<Event> = (0..4096)
            .map(|rank| {
                on_rank(
                    with(event(Program::Pytorch, Resource::Gpu, 1 + 30 * rank), Fact::Requested, MIB + rank),
                    rank as u32,
                )
            })
            .collect();
        let incidents = incidents("", events);
        assert_eq!((incidents.len(), incidents[0].ranks.len()), (1, 4096));
    }

    #[test]
    fn times_of_day_are_read_from_log_prefixes() {
        assert_eq!(clock("[2024-05-01 12:00:01,500] boom"), Some(43201.5));
        assert_eq!(clock("E1121 00:01:00.25 x:y"), Some(60.25));
        assert_eq!(clock("a::b 99:99:99"), None);
    }

    #[test]
    fn processes_of_one_log_that_list_each_other_share_a_device() {
        let message = |line, own: u64, others: &[(u64, u64)]| {
            let mut event = with(event(Program::Pytorch, Resource::Gpu, line), Fact::Process, own * MIB);
            event.facts.device.note(0, event.at);
            let listed = others.iter().map(|(pid, mib)| crate::dialect::ProcessUse {
                pid: *pid,
                figure: Figure { bytes: mib * MIB, half_width: 0, at: event.at },
            });
            event.facts.other_processes = listed.collect();
            event
        };
        let groups = |events: Vec<Event>| -> Vec<Group> {
            let group =
                |event: Event| Group { ranks: Vec::new(), last: event.at.last, followers: Vec::new(), event, run: 0 };
            events.into_iter().map(group).collect()
        };
        let both = [message(5, 1400, &[(11, 2300)]), message(9, 40, &[(11, 2300), (12, 1400)])];
        assert_eq!(shared_devices(&groups(both.to_vec())), [0]);
        let strangers = [message(5, 1400, &[(11, 2300)]), message(9, 1400, &[(11, 2300)])];
        assert_eq!(shared_devices(&groups(strangers.to_vec())), [] as [u32; 0]);
    }
}
