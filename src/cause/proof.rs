//! What arithmetic on printed figures, or a replay of the very failure, leaves no doubt about.

use super::CauseId;
use super::mechanism::{MECHANISMS, Mechanism, Reading};
use super::nature::{Asker, asker};
use super::reading::{Grown, cached, foreign, grown};
use crate::account::proof::{self, ProofKind};
use crate::evidence::Evidence;
use crate::incident::Incident;

/// A cause that follows, with what it follows from.
pub(crate) struct Proof {
    pub cause: CauseId,
    pub evidence: Evidence,
}

/// Weight of a proof among the evidence: it stands first.
const DECIDES: f64 = 8.0;

/// The cause that follows without doubt, if one does.
pub(crate) fn proof(incident: &Incident) -> Option<Proof> {
    let level = |id: &str| {
        let mechanism: &'static Mechanism = MECHANISMS.iter().find(|mechanism| mechanism.id == id)?;
        Some((mechanism, (mechanism.read)(incident)?))
    };
    let by = |cause, (mechanism, reading): (&'static Mechanism, Reading)| {
        let mut evidence = Evidence::new(mechanism.id, DECIDES, reading.text);
        (evidence.lines, evidence.entry) = (reading.lines, reading.entry);
        Some(Proof { cause, evidence })
    };
    let at = |id: &str, levels: &[&str]| level(id).filter(|(_, reading)| levels.contains(&reading.level));

    // A replay of the very failure goes before everything that the log alone tells.
    if grown(incident) == Some(Grown::OverSteps)
        && let Some(found) = at("recorded-growth", &["over-steps", "many-passes"])
    {
        return by(CauseId::LeakGrowth, found);
    }
    if let Some(found) = at("replay", &["served"]) {
        return by(CauseId::Fragmentation, found);
    }
    let logic = incident.proofs();
    let certain = |kind| proof::of(&logic, kind).is_some_and(proof::Proof::certain);
    // Of what is printed as the device's size; a pool's limit is another matter.
    if matches!(asker(incident), Asker::Tensor | Asker::PooledTensor)
        && certain(ProofKind::RequestExceedsDevice)
        && at("keys-and-values", &["made-here", "announced"]).is_none()
        && let Some(found) = at("request-share", &["exceeds"])
    {
        return by(CauseId::SingleHugeAllocation, found);
    }
    // What a phase of its own needs at that moment, after steps that went well, is no need of the steps.
    if grown(incident).is_none()
        && level("phase-apart").is_none()
        && let Some(found) = at("replay", &["need-exceeds"])
    {
        return by(CauseId::Capacity, found);
    }
    let replayed = incident.proof().is_some_and(|recording| recording.pieces().is_some());
    if asker(incident) == Asker::OnChip
        && let Some(found) = level("on-chip")
        && incident.ledger.requested.is_some()
    {
        return by(CauseId::DriverOrUnrelated, found);
    }
    // One buffer of a planned program is as much a request as a tensor is.
    if let Some(found) = at("largest-buffer", &["exceeds-the-device"]) {
        return by(CauseId::SingleHugeAllocation, found);
    }
    if let Some(found) = at("host-request", &["exceeds-machine"]) {
        return by(CauseId::SingleHugeAllocation, found);
    }
    if let Some(found) = at("limit", &["reserve-exceeded", "custom-allocator"]) {
        return by(CauseId::FrameworkLimit, found);
    }
    if let Some(states) = proof::of(&logic, ProofKind::StatesExceedDevice).filter(|states| states.certain()) {
        let mut evidence = Evidence::new(states.kind.id(), DECIDES, states.statement.clone());
        evidence.lines.clone_from(&states.lines);
        return Some(Proof { cause: CauseId::Capacity, evidence });
    }
    if certain(ProofKind::RefusedByLimit)
        && let Some(found) = at("limit", &["reached-while-free"])
    {
        return by(CauseId::FrameworkLimit, found);
    }
    // Files in memory that killing a process does not free are three quarters and more of what binds.
    if asker(incident) == Asker::Host
        && let Some(found) = at("shared-memory", &["most-of-the-limit"])
    {
        return by(CauseId::SharedMemory, found);
    }
    if let Some(found) = at("loader-arithmetic", &["exceeds", "exceeds-after-an-epoch"]) {
        return by(CauseId::HostWorkers, found);
    }
    if let (Some(idle), Some(all)) = (cached(incident), incident.ledger.capacity)
        && certain(ProofKind::FitsInCache)
        && idle.low * 4 >= all.high
        && !replayed
        && at("pieces", &["expandable-already"]).is_none()
        && let Some(found) = at("cache", &["much", "most"])
    {
        return by(CauseId::Fragmentation, found);
    }
    // Others hold half of the device and more than was missing, and what this process holds is the smaller part:
    // whatever it does, they are in its way.
    if foreign(incident).is_some_and(|others| others.separated && others.share >= 0.5 && others.would_serve)
        && certain(ProofKind::FitsWithoutOthers)
        && at("like-sized-processes", &["ranks"]).is_none()
        && level("idle-neighbours").is_none()
        && level("ranks-on-one-device").is_none()
        && let Some(found) = level("strangers")
    {
        return by(CauseId::OtherProcess, found);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, event, host, settled, torch, torch_among};
    use super::*;
    use crate::dialect::{Fact, Resource};
    use crate::domain::Program;

    fn proved(incident: &Incident) -> Option<CauseId> {
        proof(incident).map(|proof| proof.cause)
    }

    #[test]
    fn arithmetic_proves_what_it_can() {
        let mut beyond = FULL_CARD;
        beyond[0].1 = "40.00 GiB";
        assert_eq!(proved(&torch(&beyond)), Some(CauseId::SingleHugeAllocation));
        let idle = torch(&[
            (Fact::Requested, "1.25 GiB"),
            (Fact::Capacity, "23.69 GiB"),
            (Fact::Free, "300.00 MiB"),
            (Fact::Allocated, "14.20 GiB"),
            (Fact::ReservedUnallocated, "7.90 GiB"),
        ]);
        assert_eq!(proved(&idle), Some(CauseId::Fragmentation));
        let others = torch_among(
            &[
                (Fact::Requested, "400.00 MiB"),
                (Fact::Capacity, "20.00 GiB"),
                (Fact::Free, "100.00 MiB"),
                (Fact::Process, "5.00 GiB"),
                (Fact::Allocated, "4.50 GiB"),
                (Fact::ReservedUnallocated, "50.00 MiB"),
            ],
            &[(4, "14.80 GiB")],
        );
        assert_eq!(proved(&others), Some(CauseId::OtherProcess));
        let tile = [(Fact::Requested, "144.00 KiB"), (Fact::Limit, "99.00 KiB")];
        let tile = settled(event(Program::Triton, Resource::CudaSharedMemory, &tile));
        assert_eq!(proved(&tile), Some(CauseId::DriverOrUnrelated));
    }

    #[test]
    fn what_is_merely_likely_is_not_proved() {
        for incident in [torch(&FULL_CARD), torch(&[]), host(&[])] {
            assert_eq!(proved(&incident), None);
        }
        let small = torch_among(
            &[
                (Fact::Requested, "90.00 MiB"),
                (Fact::Capacity, "23.64 GiB"),
                (Fact::Free, "70.00 MiB"),
                (Fact::Process, "23.07 GiB"),
            ],
            &[(31, "512.00 MiB")],
        );
        assert_eq!(proved(&small), None, "the neighbour's half a GiB would have served, and yet is no cause");
    }
}
