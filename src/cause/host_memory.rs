//! The machine, container or job ran out of RAM.

use super::reading::{Kind, kind, looks_like_wddm, place, refused_although_free, size};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::Number;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::Phase;
use crate::text;
use crate::text::Text;
use crate::units::GIB;

pub const CAUSE: Cause = Cause {
    id: CauseId::HostMemory,
    title: || text!(en: "the machine or container ran out of RAM", zh: "主机或容器内存耗尽"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["slurm/step-killed", "context/deepspeed", "host/crash-loop"],
};

fn doc() -> Text {
    Text::new(
        r#"The machine, container or job ran out of RAM. A GPU's memory has nothing to do with it.

**How it shows.** The kernel's killer names a victim, a scheduler reports an out-of-memory step, a container ends with `OOMKilled`, an allocator on the CPU is refused, or a process simply dies of SIGKILL.

**Told from its neighbours.** SIGKILL and exit code 137 alone are no proof: time-outs and `docker stop` send it too; the kernel's log decides. Which limit was hit (the job's, the container's, the machine's) decides the remedy. Many like-named tasks point to *workers*, a shared-memory share to */dev/shm*, rising readings to *growth*.

**Example.** `Detected 1 oom_kill event in StepId=…`: the job's memory limit, not the node's RAM."#,
        r#"主机、容器或作业的内存耗尽，与显存无关。

**表现。** 内核 OOM killer 点名受害者，调度器报告某一步内存耗尽，容器以 `OOMKilled` 结束，CPU 分配器被拒绝，或进程直接死于 SIGKILL。

**与相近原因的区别。** 单凭 SIGKILL 或退出码 137 不能证明：超时和 `docker stop` 也会发送它，要看内核日志。触及的是作业、容器还是机器的上限，决定了解决办法。许多同名任务指向 *worker*，共享内存占比高指向 */dev/shm*，读数上升指向*增长*。

**示例。** `Detected 1 oom_kill event in StepId=…`：触及的是作业的内存上限，而不是节点内存。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Host => Some(0.3),
        Kind::Shm => Some(-2.0),
        // Windows charges GPU memory to the commit limit; elsewhere a GPU failure is none of RAM's.
        Kind::Tensor if looks_like_wddm(incident) && refused_although_free(incident) => Some(-1.5),
        Kind::Tensor if incident.event.has(Sign::PinnedHost) => Some(-0.5),
        _ => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    if kind(incident) == Kind::Tensor {
        if event.has(Sign::PinnedHost) {
            found.push(
                Evidence::new(1.5, text!(en: "pinned memory is the machine's RAM, not the device's", zh: "锁页内存是主机内存，不是显存"))
                    .at(event.at),
            );
        } else if let (Some(free), Some(requested)) = (ledger.free, ledger.requested) {
            let (free_text, want) = (size(free), size(requested));
            // Far more free than asked: on Windows the one thing left is the commit limit (RAM + page file).
            let weight = if free.low > requested.high.saturating_mul(8) { 2.2 } else { 0.2 };
            found.push(
                Evidence::new(weight, text!(en: "{want} were refused with {free_text} free on what looks like Windows, where device memory must also be backed by RAM or page file", zh: "看起来是 Windows：空闲 {free_text} 却拒绝了 {want}，而 Windows 上显存还必须有内存或页面文件支撑"))
                    .at(place(event, Fact::Free)),
            );
        }
        return found;
    }
    if event.has(Sign::AddressSpaceLimit) && event.has(Sign::Windows) {
        found.push(
            Evidence::new(1.2, text!(en: "Windows' commit limit, RAM and page file together, was reached", zh: "达到了 Windows 的提交上限（内存加页面文件）"))
                .at(event.at),
        );
    }
    if event.has(Sign::KilledWithProof) {
        found.push(
            Evidence::new(0.5, text!(en: "the kernel or the scheduler states that it killed for lack of memory", zh: "内核或调度器明确指出因内存不足而杀死进程"))
                .at(event.at),
        );
    } else if event.has(Sign::KilledWithoutProof) {
        found.push(
            Evidence::new(0.2, text!(en: "the process died of SIGKILL without a word: most often the kernel's out-of-memory killer, but nothing here proves it", zh: "进程被 SIGKILL 杀死且没有任何说明：多半是内核 OOM killer，但这里没有证据"))
                .at(event.at),
        );
    }
    if let Some(limit) = event.facts.get(Fact::Limit)
        && event.resource == Resource::Cgroup
    {
        let all = size(limit.interval());
        found.push(
            Evidence::new(0.3, text!(en: "the limit that was hit is {all}, set for this container or job", zh: "触及的是该容器或作业的上限 {all}"))
                .at(limit.at),
        );
    }
    if let (Some(rss), Some(limit)) = (event.facts.get(Fact::AnonRss), event.facts.get(Fact::Limit)) {
        let share = rss.bytes as f64 / limit.bytes.max(1) as f64;
        if share >= 0.7 {
            let (held, all) = (size(rss.interval()), size(limit.interval()));
            found.push(
                Evidence::new(
                    0.4,
                    text!(en: "the victim itself held {held} of {all}", zh: "被杀进程自身占用了 {all} 中的 {held}"),
                )
                .at(rss.at),
            );
        }
    }
    if let Some(limit) = context.memory_limit.get()
        && event.facts.get(Fact::Limit).is_none()
    {
        let all = size(limit.interval());
        found.push(
            Evidence::new(
                if limit.bytes < 16 * GIB { 1.3 } else { 0.8 },
                text!(en: "the job may use {all} in all", zh: "该作业总共只能使用 {all}"),
            )
            .at(limit.at),
        );
    }
    found.extend(restarts(incident));
    if context.phase.value() == Some(Phase::Load) || context.cpu_offload.value() == Some(true) {
        found.push(Evidence::new(
            0.5,
            text!(en: "weights or optimizer state pass through RAM here", zh: "此处权重或优化器状态要经过主机内存"),
        ));
    }
    found
}

/// What a container's state tells of when it dies: a need at start shows within seconds, again and again.
fn restarts(incident: &Incident) -> Vec<Evidence> {
    let numbers = &incident.event.facts.numbers;
    let mut found = Vec::new();
    if let Some((seconds, at)) = numbers.get(&Number::LifetimeSeconds)
        && *seconds < 300.0
    {
        found.push(
            Evidence::new(0.9, text!(en: "it was killed {seconds:.0} seconds after its start: what it needs to start does not fit", zh: "启动 {seconds:.0} 秒后被杀：启动所需就放不下"))
                .at(*at),
        );
    }
    if let Some((restarts, at)) = numbers.get(&Number::RestartCount)
        && *restarts >= 5.0
    {
        found.push(
            Evidence::new(0.6, text!(en: "it was restarted {restarts:.0} times: every run meets the limit", zh: "已重启 {restarts:.0} 次：每次运行都会触及上限"))
                .at(*at),
        );
    }
    if let Some((request, at)) = numbers.get(&Number::MemoryRequest)
        && *request == 0.0
    {
        found.push(
            Evidence::new(0.3, text!(en: "the pod requests no memory, so it is the first to be evicted when the node runs short", zh: "该 pod 没有声明内存 request，节点内存紧张时最先被驱逐"))
                .at(*at),
        );
    }
    found
}

fn refute(incident: &Incident) -> Text {
    let pid = incident.event.facts.pid.value();
    match incident.event.resource {
        Resource::Cgroup => text!(
            en: "Run `cat memory.events memory.peak memory.max` in the job's cgroup: if `oom_kill` is 0, it was not killed for memory.",
            zh: "在该作业的 cgroup 中运行 `cat memory.events memory.peak memory.max`：若 `oom_kill` 为 0，则不是因内存被杀。"
        ),
        _ => match pid {
            Some(pid) => text!(
                en: "Run `dmesg -T | grep -iE 'out of memory|oom-kill|{pid}'` on that machine: if no line of that moment names it, something else killed it.",
                zh: "在该机器上运行 `dmesg -T | grep -iE 'out of memory|oom-kill|{pid}'`：若当时没有任何一行提到它，则是被别的原因杀死的。"
            ),
            None => text!(
                en: "Run `dmesg -T | grep -iE 'out of memory|oom-kill'` on that machine, and `free -h` while the job runs: if there is no such line and plenty stays available, it was not RAM.",
                zh: "在该机器上运行 `dmesg -T | grep -iE 'out of memory|oom-kill'`，并在任务运行时查看 `free -h`：若没有相应记录且可用内存充足，则不是内存问题。"
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, host, settled, torch};
    use super::*;
    use crate::domain::Program;

    #[test]
    fn a_kill_with_proof_is_surer_than_one_without() {
        let told = |sign| {
            let mut event = event(Program::Slurm, Resource::Cgroup, &[]);
            event.sign(sign);
            confidence(&settled(event), CauseId::HostMemory)
        };
        assert!(told(Sign::KilledWithProof) > told(Sign::KilledWithoutProof));
        assert_eq!(first(&host(&[])), CauseId::HostMemory);
    }

    #[test]
    fn windows_needs_ram_behind_its_gpu_memory() {
        let refused = torch(&[
            (Fact::Requested, "300.00 MiB"),
            (Fact::Capacity, "16.00 GiB"),
            (Fact::Allocated, "3.00 GiB"),
            (Fact::Free, "11.00 GiB"),
            (Fact::Reserved, "3.20 GiB"),
        ]);
        assert!(confidence(&refused, CauseId::HostMemory) > 0.15);
        assert_eq!(prior(&torch(&FULL_CARD)), None, "a full card is none of RAM's");
    }
}
