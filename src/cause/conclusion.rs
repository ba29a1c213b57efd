//! What the ranked causes amount to: proved, likely, only a family, or open.

use super::{CauseId, Finding};
use crate::dialect::Sign;
use crate::domain::{closed_set, named_variants};
use crate::incident::Incident;
use crate::text::Text;

closed_set! {
    /// Causes of which one would look for the same kind of remedy.
    pub enum Family {
        OwnNeed = "own need",
        SomebodyElse = "somebody else",
        OutsideTheAllocator = "outside the allocator",
        ASetting = "a setting",
        Pieces = "pieces",
        Host = "host",
        SharedMemory = "shared memory",
        Unrelated = "unrelated",
    }
}

impl Family {
    /// The family of a cause.
    pub const fn of(cause: CauseId) -> Family {
        match cause {
            CauseId::Capacity
            | CauseId::SingleHugeAllocation
            | CauseId::TransientPeak
            | CauseId::LeakGrowth
            | CauseId::DuplicateModel
            | CauseId::KvCache => Family::OwnNeed,
            CauseId::OtherProcess | CauseId::WrongDevice => Family::SomebodyElse,
            CauseId::NonFramework => Family::OutsideTheAllocator,
            CauseId::FrameworkLimit | CauseId::Preallocation => Family::ASetting,
            CauseId::Fragmentation => Family::Pieces,
            CauseId::HostMemory | CauseId::HostWorkers => Family::Host,
            CauseId::SharedMemory => Family::SharedMemory,
            CauseId::DriverOrUnrelated => Family::Unrelated,
        }
    }

    /// The name for people, to stand after "the cause is".
    pub fn name(self) -> Text {
        match self {
            Family::OwnNeed => Text::new("this job's own need", "任务自身的需求"),
            Family::SomebodyElse => {
                Text::new("somebody else on the device, or the wrong device", "其他占用者或用错设备")
            }
            Family::OutsideTheAllocator => {
                Text::new("memory outside the framework's allocator", "框架分配器之外的显存")
            }
            Family::ASetting => Text::new("a limit or a pool that was set", "设置的上限或内存池"),
            Family::Pieces => Text::new("free memory in pieces", "空闲内存碎片化"),
            Family::Host => Text::new("the machine's memory", "主机内存"),
            Family::SharedMemory => Text::new("shared memory", "共享内存"),
            Family::Unrelated => Text::new("something other than a lack of memory", "内存不足以外的问题"),
        }
    }
}

named_variants! {
    /// What can be concluded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Conclusion {
        /// Arithmetic or a replay leaves no doubt about the first cause.
        Proved = "proved",
        /// The first cause stands out.
        Likely = "likely",
        /// Only the family of the cause is known.
        Family(Family) = "family",
        /// Nothing decides.
        Open = "open",
    }
}

impl Conclusion {
    /// True where an observation should decide before anything is changed.
    pub const fn is_undecided(self) -> bool {
        matches!(self, Conclusion::Family(_) | Conclusion::Open)
    }
}

/// A first cause stands out from here on, and from this many times the second. Of what was told with less, two in five
/// were wrong, out of fold.
pub(crate) const STANDS_OUT: f64 = 0.7;
const BEFORE_THE_SECOND: f64 = 2.0;

/// What is open and yet carries this much is not called undecided: little in the log tells it from its rivals, but of
/// what was told with so much seven in eight were right, out of fold.
pub(crate) const SURE_ENOUGH: f64 = 0.8;

/// A family is known where its causes together reach this.
const FAMILY_KNOWN: f64 = 0.65;

/// Candidates less likely than this share of the first are not worth an observation.
const CANDIDATE: f64 = 0.22;

/// Where only the family is known, members of it that are at least this likely are candidates as well.
const OF_THE_FAMILY: f64 = 0.1;

/// What is less likely than this is not named beside another: readers of 119 reports objected to eleven causes that
/// their logs spoke against, and nearly all of these had been told at 5 to 10 %.
const LEAST: f64 = 0.08;

/// Candidates named at most.
const NAMED: usize = 4;

/// The causes between which the log leaves open, the likeliest first.
pub fn candidates(findings: &[Finding], conclusion: Conclusion) -> Vec<CauseId> {
    let shares: Vec<(CauseId, f64)> = findings.iter().map(|finding| (finding.cause.id, finding.confidence)).collect();
    let family = match conclusion {
        Conclusion::Family(family) => Some(family),
        _ => None,
    };
    named(&shares, family).map(|(cause, _)| cause).collect()
}

/// Of causes with their shares, the likeliest first, those that are named beside one another.
fn named(shares: &[(CauseId, f64)], family: Option<Family>) -> impl Iterator<Item = (CauseId, f64)> {
    let most = shares.first().map_or(0.0, |(_, share)| *share);
    let worth = move |cause: CauseId, share: f64| {
        family == Some(Family::of(cause)) && share >= OF_THE_FAMILY || share >= (most * CANDIDATE).max(LEAST)
    };
    let all = shares.iter().filter(|(cause, share)| worth(*cause, *share)).count();
    // What stands alone is held against the next.
    shares
        .iter()
        .filter(move |(cause, share)| all < 2 || worth(*cause, *share))
        .take(if all < 2 { 2 } else { NAMED })
        .copied()
}

/// Of causes with their shares, the likeliest first, how many may be printed beside one another, whatever is concluded.
pub(super) fn printable(shares: &[(CauseId, f64)]) -> usize {
    let family = shares.first().map(|(cause, _)| Family::of(*cause));
    let last = named(shares, family).last().map(|(cause, _)| cause);
    shares.iter().position(|(cause, _)| Some(*cause) == last).map_or(0, |at| at + 1)
}

/// What the findings of an incident amount to.
pub fn conclude(incident: &Incident, findings: &[Finding]) -> Conclusion {
    let Some(first) = findings.first() else { return Conclusion::Open };
    if first.proved {
        return Conclusion::Proved;
    }
    let second = findings.get(1).map_or(0.0, |second| second.confidence);
    // What only how often it stands behind such messages speaks for is a guess, however good: a bare message, a full
    // process of which nothing says what fills it.
    let guessed = first.evidence.iter().all(|evidence| {
        evidence.weight <= 0.0 || is_of_the_message(evidence.id) || is_of_others(first.cause.id, evidence.id)
    });
    if guessed && incident.event.has(Sign::KilledWithoutProof) {
        return Conclusion::Open;
    }
    // Where no other cause is worth telling, there is nothing to decide between, and the cause is all of its family.
    let alone = findings.len() == 1;
    let least = if alone { FAMILY_KNOWN } else { STANDS_OUT };
    if first.confidence >= least && first.confidence >= BEFORE_THE_SECOND * second && (!guessed || alone) {
        return Conclusion::Likely;
    }
    let family = Family::of(first.cause.id);
    let share: f64 =
        findings.iter().filter(|finding| Family::of(finding.cause.id) == family).map(|f| f.confidence).sum();
    let within = candidates(findings, Conclusion::Open).iter().all(|cause| Family::of(*cause) == family);
    if share >= FAMILY_KNOWN && within { Conclusion::Family(family) } else { Conclusion::Open }
}

/// What a process holds outside its allocator tells whether that is the cause, and nothing of what the rest holds: a
/// usual context stands beside every other cause.
pub(super) fn is_of_others(cause: CauseId, mechanism: &str) -> bool {
    mechanism == "outside-the-allocator" && cause != CauseId::NonFramework
}

/// Mechanisms that only tell what kind of message it is.
fn is_of_the_message(id: &str) -> bool {
    matches!(id, "bound" | "prior" | "error")
}

#[cfg(test)]
mod tests {
    use super::super::rank;
    use super::super::trial::{FULL_CARD, host, torch};
    use super::*;

    fn of(incident: &Incident) -> Conclusion {
        conclude(incident, &rank(incident))
    }

    #[test]
    fn bare_messages_claim_nothing() {
        assert!(of(&torch(&[])).is_undecided());
        let mut kill = host(&[]);
        kill.event.sign(Sign::KilledWithoutProof);
        assert_eq!(of(&kill), Conclusion::Open);
    }

    #[test]
    fn arithmetic_is_told_as_proved() {
        let mut beyond = FULL_CARD;
        beyond[0].1 = "40.00 GiB";
        assert_eq!(of(&torch(&beyond)), Conclusion::Proved);
    }

    #[test]
    fn what_has_no_rival_leaves_nothing_to_decide() {
        let incident = torch(&FULL_CARD);
        let mut findings = rank(&incident);
        findings.truncate(1);
        findings[0].confidence = 0.88;
        assert_eq!(conclude(&incident, &findings), Conclusion::Likely);
        let mut kill = host(&[]);
        kill.event.sign(Sign::KilledWithoutProof);
        let mut findings = rank(&kill);
        findings.truncate(1);
        findings[0].confidence = 0.88;
        assert_eq!(conclude(&kill, &findings), Conclusion::Open, "whether it was memory at all is open");
    }

    #[test]
    fn every_cause_has_a_family() {
        for cause in CauseId::ALL {
            assert!(Family::ALL.contains(&Family::of(*cause)));
        }
    }

    #[test]
    fn a_full_process_of_which_nothing_says_why_is_a_family() {
        assert_eq!(of(&torch(&FULL_CARD)), Conclusion::Family(Family::OwnNeed));
    }
}
