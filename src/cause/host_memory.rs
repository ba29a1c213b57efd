//! The machine, container or job ran out of RAM.

use super::{Cause, CauseId};
use crate::dialect::Resource;
use crate::domain::System;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::HostMemory,
    title: || text!(en: "the machine or container ran out of RAM", zh: "主机或容器内存耗尽"),
    doc,
    refute,
    fixtures: &["slurm/step-killed", "context/deepspeed", "host/crash-loop"],
};

fn doc() -> Text {
    Text::new(
        "The machine, container or job ran out of RAM. A GPU's memory has nothing to do with it.\n\n\
         **How it shows.** The kernel's killer names a victim, a scheduler reports an out-of-memory step, a container \
         ends with `OOMKilled`, an allocator on the CPU is refused, or a process simply dies of SIGKILL.\n\n\
         **Told from its neighbours.** SIGKILL and exit code 137 alone are no proof: time-outs and `docker stop` send \
         it too; the kernel's log decides. Which limit was hit (the job's, the container's, the machine's) decides the \
         remedy. Many like-named tasks point to *workers*, a shared-memory share to */dev/shm*, rising readings to \
         *growth*.\n\n\
         **Example.** `Detected 1 oom_kill event in StepId=…`: the job's memory limit, not the node's RAM.",
        "主机、容器或作业的内存耗尽，与显存无关。\n\n\
         **表现。** 内核 OOM killer 点名受害者，调度器报告某一步内存耗尽，容器以 `OOMKilled` 结束，CPU 分配器被拒绝，或\
         进程直接死于 SIGKILL。\n\n\
         **与相近原因的区别。** 单凭 SIGKILL 或退出码 137 不能证明：超时和 `docker stop` 也会发送它，要看内核日志。触及\
         的是作业、容器还是机器的上限，决定了解决办法。许多同名任务指向 *worker*，共享内存占比高指向 */dev/shm*，读数上\
         升指向*增长*。\n\n\
         **示例。** `Detected 1 oom_kill event in StepId=…`：触及的是作业的内存上限，而不是节点内存。",
    )
}

fn refute(incident: &Incident) -> Text {
    let pid = incident.event.facts.pid.value();
    let kills = incident.system().kills().unwrap_or_default();
    match incident.event.resource {
        Resource::Cgroup => text!(
            en: "Run `cat memory.events memory.peak memory.max` in the job's cgroup: if `oom_kill` is 0, it was not \
                 killed for memory.",
            zh: "在该作业的 cgroup 中运行 `cat memory.events memory.peak memory.max`：若 `oom_kill` 为 0，则不是因内存\
                 被杀。"
        ),
        _ if incident.on_windows() => text!(
            en: "Look in the Event Viewer (Windows Logs, System) for event 2004 of that moment, and watch Memory in \
                 the Task Manager while the job runs: without the event and with plenty available it was not RAM.",
            zh: "在事件查看器（Windows 日志—系统）中查找当时的事件 2004，并在任务运行时查看任务管理器的“内存”：若没有\
                 该事件且可用内存充足，则不是内存问题。"
        ),
        _ if incident.system() == System::MacOs => text!(
            en: "Run `{kills}`, and watch Memory in the Activity Monitor while the job runs: if no line names it and \
                 the pressure stays green, it was not RAM.",
            zh: "运行 `{kills}`，并在任务运行时查看活动监视器的“内存”：若没有记录提到它且内存压力保持绿色，则不是内存\
                 问题。"
        ),
        _ if incident.system() == System::Bsd => text!(
            en: "Run `{kills}`, and watch `top` while the job runs: if no line names it and plenty stays free, it was \
                 not RAM.",
            zh: "运行 `{kills}`，并在任务运行时查看 `top`：若没有记录提到它且空闲充足，则不是内存问题。"
        ),
        // The line itself is the proof; whether the victim was what filled it is another matter.
        _ if incident.event.proves_that_ram_ran_short() => text!(
            en: "Compare what the killed process held with the machine's RAM: if it is a small part, another process \
                 filled it, which `ps -eo pid,user,rss,comm --sort=-rss | head` shows while the job runs.",
            zh: "将被杀进程的占用与机器内存比较：若只占一小部分，则是别的进程占满的，任务运行时 `ps -eo \
                 pid,user,rss,comm --sort=-rss | head` 可以看到。"
        ),
        _ => match pid {
            Some(pid) => text!(
                en: "Run `dmesg -T | grep -iE 'out of memory|oom-kill|{pid}'` on that machine: if no line of that \
                     moment names it, something else killed it.",
                zh: "在该机器上运行 `dmesg -T | grep -iE 'out of memory|oom-kill|{pid}'`：若当时没有任何一行提到它，则\
                     是被别的原因杀死的。"
            ),
            None => text!(
                en: "Run `dmesg -T | grep -iE 'out of memory|oom-kill'` on that machine, and `free -h` while the job \
                     runs: if there is no such line and plenty stays available, it was not RAM.",
                zh: "在该机器上运行 `dmesg -T | grep -iE 'out of memory|oom-kill'`，并在任务运行时查看 `free -h`：若没\
                     有相应记录且可用内存充足，则不是内存问题。"
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, host, settled, torch};
    use super::*;
    use crate::dialect::{Fact, Sign};
    use crate::domain::Program;

    #[test]
    fn a_kill_is_a_matter_of_ram_first() {
        let mut event = event(Program::Slurm, Resource::Cgroup, &[]);
        event.sign(Sign::KilledWithProof);
        assert_eq!(first(&settled(event)), CauseId::HostMemory);
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
        assert_eq!(confidence(&torch(&FULL_CARD), CauseId::HostMemory), 0.0, "a full card is none of RAM's");
    }
}
