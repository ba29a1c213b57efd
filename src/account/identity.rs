//! Which of the processes that a message lists is the failing one itself, and which are surely not.
//!
//! PyTorch prints "this process" for the entry of the driver's list whose pid is its own `getpid()`. A container
//! without the host's pid namespace sees the host's pids, so that none is its own and the failing process is listed as
//! a stranger. Two different processes hold different memory: where a listed process and what this one has reserved are
//! together more than the device has in use, the listed process is this one; a window for the size of a context proves
//! nothing, since two ranks on one device hold nearly the same.

use super::{Invariant, Ledger, Part};
use crate::dialect::{Event, Fact};
use crate::gpu::context_size;
use crate::units::{Interval, MIB};
use std::collections::BTreeSet;

/// What is known of which listed process is the failing one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Identity {
    /// The message lists no other process.
    #[default]
    NoneListed,
    /// The message tells this process from the others, whose pids are therefore in the same namespace.
    ToldApart,
    /// None of the listed processes holds as much as this one has reserved: all are others. Their pids may be the
    /// host's.
    AllOthers,
    /// This one, under a pid that is not its own.
    ListedAs(u64),
    /// It may be any of these; `surely` when it must be one of them.
    AnyOf { pids: Vec<u64>, surely: bool },
}

/// Below this, what PyTorch reserved is too little to be recognised in a process's figure.
const TELLING: i128 = 64 * MIB as i128;

/// A listed process and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed {
    pub pid: u64,
    pub amount: Interval,
}

/// Recognises the failing process among those listed by arithmetic: `held` is what its framework surely holds, `used`
/// what the device has in use.
pub(super) fn recognise(event: &Event, listed: &[Listed], held: Option<Interval>, used: Option<Interval>) -> Identity {
    if listed.is_empty() {
        return Identity::NoneListed;
    }
    let facts = &event.facts;
    if let Some(own) = facts.pid.value()
        && listed.iter().any(|process| process.pid == own)
    {
        return Identity::ListedAs(own);
    }
    if facts.get(Fact::Process).is_some() || facts.unreadable.contains_key(&Fact::Process) {
        return Identity::ToldApart;
    }
    let held = held.unwrap_or(Interval::exactly(0));
    let candidates: Vec<Listed> = listed.iter().filter(|process| process.amount.high >= held.low).copied().collect();
    if candidates.is_empty() {
        return Identity::AllOthers;
    }
    let pids = || candidates.iter().map(|process| process.pid).collect();
    let all: Interval = listed.iter().map(|process| process.amount).sum();
    // As another process, it would leave this one without what it reserved and the least of contexts.
    let apart = all + held + Interval::exactly(context_size::LEAST);
    let surely = held.middle() >= TELLING && used.is_some_and(|used| apart.low > used.high);
    match candidates.as_slice() {
        [only] if surely => Identity::ListedAs(only.pid),
        _ => Identity::AnyOf { pids: pids(), surely },
    }
}

/// Whether a process that a table in the log lists for the failing device may be the failing one: its pid says so, or
/// it holds as much as this one has reserved and there is no room for both.
pub fn may_be_itself(event: &Event, ledger: &Ledger, pid: u64, holds: Option<Interval>) -> bool {
    if event.facts.pid.value() == Some(pid) || ledger.self_listed_as == Some(pid) {
        return true;
    }
    if let Identity::AnyOf { pids, .. } = &ledger.identity
        && pids.contains(&pid)
    {
        return true;
    }
    match (holds, ledger.reserved.or(ledger.allocated), ledger.capacity) {
        (Some(holds), Some(own), Some(capacity)) => (holds + own).low > capacity.high,
        _ => false,
    }
}

/// The other processes of a message, by what may be done with their pids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strangers {
    /// Surely not the failing process, under pids that are valid where it ran.
    pub sure: Vec<u64>,
    /// Another process or the failing one itself, or a pid of another namespace.
    pub doubtful: Vec<u64>,
}

/// The only source of pids that an advice to end a process may name: [`Strangers::sure`].
pub fn strangers(event: &Event, ledger: &Ledger) -> Strangers {
    let facts = &event.facts;
    let mut found = Strangers::default();
    let told_apart = ledger.identity == Identity::ToldApart && ledger.process.is_some();
    let doubted = ledger.in_doubt().iter().any(|part| matches!(part, Part::Process | Part::Others));
    let twice = ledger.contradictions.iter().any(|told| told.id == Invariant::PidListedOnce);
    let own = ledger.process.or(ledger.reserved).or(ledger.allocated).unwrap_or(Interval::exactly(0));
    let mut seen = BTreeSet::new();
    for other in &facts.other_processes {
        if Some(other.pid) == ledger.self_listed_as || facts.pid.value() == Some(other.pid) || !seen.insert(other.pid) {
            continue;
        }
        let together = own + other.figure.interval();
        let both_fit = ledger.capacity.is_some_and(|capacity| together.low <= capacity.high);
        if told_apart && both_fit && !doubted && !twice {
            found.sure.push(other.pid);
        } else {
            found.doubtful.push(other.pid);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Resource;
    use crate::evidence::Span;
    use crate::units::GIB;

    /// One process is listed with so many bytes; this one holds 8 GiB, and the device has so many in use.
    fn recognised(listed: u64, used: u64) -> Identity {
        let event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        let listed = [Listed { pid: 7, amount: Interval::exactly(listed) }];
        recognise(&event, &listed, Some(Interval::exactly(8 * GIB)), Some(Interval::exactly(used)))
    }

    #[test]
    fn the_failing_pid_is_itself_whatever_it_holds() {
        let mut event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        event.facts.pid = crate::evidence::Known::Seen(41, Span::line(1));
        let ledger = Ledger::default();
        assert!(may_be_itself(&event, &ledger, 41, None));
        assert!(!may_be_itself(&event, &ledger, 42, None));
    }

    #[test]
    fn a_process_is_another_as_long_as_both_fit_with_the_least_of_contexts() {
        let both = 9 * GIB + 8 * GIB + context_size::LEAST;
        let open = Identity::AnyOf { pids: vec![7], surely: false };
        assert_eq!(recognised(9 * GIB, both), open);
        assert_eq!(recognised(9 * GIB, both - 1), Identity::ListedAs(7));
        assert_eq!(recognised(8 * GIB, 8 * GIB), Identity::ListedAs(7));
        // It holds less than this one has reserved.
        assert_eq!(recognised(8 * GIB - 1, 8 * GIB), Identity::AllOthers);
    }

    #[test]
    fn too_little_is_told_from_nobody() {
        let event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        let listed = [Listed { pid: 7, amount: Interval::exactly(9 * GIB) }];
        let of = |held: i128| {
            let held = Interval::between(held, held);
            recognise(&event, &listed, Some(held), Some(Interval::exactly(9 * GIB)))
        };
        assert_eq!(of(TELLING), Identity::ListedAs(7));
        assert_eq!(of(TELLING - 1), Identity::AnyOf { pids: vec![7], surely: false });
    }
}
