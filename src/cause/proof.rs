//! What arithmetic on printed figures, or a replay of the very failure, leaves no doubt about.

use super::CauseId;
use super::mechanism::{MECHANISMS, Mechanism, Reading, cited};
use super::nature::{Asker, asker};
use super::reading::{Grown, foreign, grown};
use crate::account::proof::{self, ProofKind};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

/// A cause that follows, with what it follows from.
pub(crate) struct Proof {
    pub cause: CauseId,
    pub evidence: Evidence,
}

/// What each cause is proved by, and what must be so. A proof is about the request that failed: that something would
/// have served it does not show that the job would have run, so a cache that would have held it, in pieces, is told as
/// a fact and proves no cause without a replay.
pub(crate) fn premises(cause: CauseId) -> Option<Text> {
    Some(match cause {
        CauseId::SingleHugeAllocation => text!(
            en: "one request, or one buffer of a compiled program, is larger than the whole device or machine at every \
                 end of the rounding; the request is no cache of keys and values and comes from no phase of its own \
                 after steps that went well, and what it is held against is printed as the size of the device, not of \
                 a pool",
            zh: "单次请求或编译后程序的单个缓冲区，在舍入的任何一端都大于整个设备或机器；请求不是 KV cache，也不出自\
                 若干步正常之后的另一阶段，比较的对象是打印的设备容量而不是内存池"
        ),
        CauseId::FrameworkLimit => text!(
            en: "what was held and what was asked for exceed a limit below the device, while the device had as much \
                 free; or an allocator's own reserve of addresses is exceeded",
            zh: "已持有与申请之和超过低于设备容量的上限，而设备当时有足够空闲；或超出分配器自己预留的地址空间"
        ),
        CauseId::OtherProcess => text!(
            en: "the message itself tells this process from others; these hold half of the device and more, at least \
                 what was missing, and are neither ranks of this job nor like it in size",
            zh: "报错本身区分了本进程与其他进程；其他进程占用设备的一半以上且不少于缺口，既不是本任务的 rank，大小也\
                 不相近"
        ),
        CauseId::Capacity => text!(
            en: "parameters told by the log, times the least bytes that the way they run takes for each, exceed the \
                 device; or the replay of the failure's snapshot shows that no layout would have held what was needed",
            zh: "日志给出的参数量乘以该运行方式每参数的最少字节数超过设备；或重放失败时的快照表明任何布局都放不下"
        ),
        CauseId::Fragmentation => text!(
            en: "the replay of the failure's snapshot, which recorded the job from its first request on, serves the \
                 request under other settings of the allocator",
            zh: "重放失败时的快照（从任务的第一次请求开始记录）：换用其他分配器设置即可满足请求"
        ),
        CauseId::LeakGrowth => text!(
            en: "the snapshot of the failure shows blocks of many passes kept at once, or growth from step to step",
            zh: "失败时的快照显示同时保留了多次前向的块，或逐步增长"
        ),
        CauseId::SharedMemory => text!(
            en: "the kernel's report counts three quarters and more of the limit as shared memory, which killing a \
                 process does not free",
            zh: "内核报告中共享内存占上限的四分之三以上，杀死进程并不能释放它"
        ),
        CauseId::HostMemory => text!(
            en: "a program's own account of what its work needs exceeds the machine's memory, both printed",
            zh: "程序自己给出的工作所需内存超过机器内存，两者均已打印"
        ),
        CauseId::HostWorkers => text!(
            en: "processes × workers × what each holds by the settings told exceeds the machine or limit even at the \
                 low end",
            zh: "进程数 × worker 数 × 按设置每个所占，其下限已超过机器内存或上限"
        ),
        CauseId::DriverOrUnrelated => text!(
            en: "a kernel asked for more on-chip memory than a block may have; no general memory was short",
            zh: "kernel 请求的片上内存超过单个线程块的上限；并不缺少普通显存"
        ),
        _ => return None,
    })
}

/// Weight of a proof among the evidence: it stands first.
const DECIDES: f64 = 8.0;

/// The cause that follows without doubt, if one does.
pub(crate) fn proof(incident: &Incident) -> Option<Proof> {
    let level = |id: &str| {
        let mechanism: &'static Mechanism = MECHANISMS.iter().find(|mechanism| mechanism.id == id)?;
        Some((mechanism, cited(incident, (mechanism.read)(incident)?)))
    };
    let by = |cause, (mechanism, reading): (&'static Mechanism, Reading)| {
        let mut evidence = Evidence::new(mechanism.id, DECIDES, reading.text);
        (evidence.lines, evidence.entry) = (reading.lines, reading.entry);
        evidence.lines.sort_unstable();
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
    if asker(incident) == Asker::OnChip
        && let Some(found) = level("on-chip")
        && incident.ledger.requested.is_some()
    {
        return by(CauseId::DriverOrUnrelated, found);
    }
    // Of what is printed as the device's size; a pool's limit is another matter. In a phase of its own after steps that
    // went well the size of the request and the need of the phase are one thing under two names.
    if matches!(asker(incident), Asker::Tensor | Asker::PooledTensor)
        && certain(ProofKind::RequestExceedsDevice)
        && level("phase-apart").is_none()
        && at("keys-and-values", &["made-here", "announced"]).is_none()
        && !incident.event.needs_in_all()
        && let Some(found) = at("request-share", &["exceeds"])
    {
        return by(CauseId::SingleHugeAllocation, found);
    }
    // What a phase of its own needs at that moment, after steps that went well, is no need of the steps.
    if grown(incident).is_none()
        && level("phase-apart").is_none()
        && at("steps-before", &["higher", "ever-higher", "fitted-before"]).is_none()
        && let Some(found) = at("replay", &["need-exceeds"])
    {
        return by(CauseId::Capacity, found);
    }
    // One buffer of a planned program is as much a request as a tensor is.
    if let Some(found) = at("largest-buffer", &["exceeds-the-device"]) {
        return by(CauseId::SingleHugeAllocation, found);
    }
    if let Some(found) = at("host-request", &["exceeds-machine"]) {
        return by(CauseId::SingleHugeAllocation, found);
    }
    if let Some(found) = at("host-request", &["need-exceeds-machine", "data-exceeds-machine"]) {
        return by(CauseId::HostMemory, found);
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
    // Others hold half of the device and more than was missing, and what this process holds is the smaller part:
    // whatever it does, they are in its way.
    if foreign(incident).is_some_and(|others| others.separated && others.share >= 0.5 && others.would_serve)
        && certain(ProofKind::FitsWithoutOthers)
        && at("like-sized-processes", &["ranks"]).is_none()
        && level("idle-neighbours").is_none()
        && at("chosen-device", &["another-meant"]).is_none()
        && level("ranks-on-one-device").is_none()
        // Started by one launcher, they may be this very job's.
        && !incident.event.lists_ids_in_a_row(3)
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
    use crate::evidence::Span;
    use crate::incident::context::Phase;

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
        assert_eq!(proved(&idle), None, "a cache in pieces is a fact about one request, and no verdict");
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

    /// Validation on forty batches at once is both: which of the two its user would name, no figure tells.
    #[test]
    fn a_request_beyond_the_device_in_a_phase_after_good_steps_proves_no_cause() {
        let mut beyond = FULL_CARD;
        beyond[0].1 = "40.00 GiB";
        let mut incident = torch(&beyond);
        incident.context.phase.note(Phase::Validation, Span::line(4));
        assert_eq!(proved(&incident), Some(CauseId::SingleHugeAllocation), "no step is known to have gone well");
        incident.context.step.note(40, Span::line(3));
        assert_eq!(proved(&incident), None);
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
