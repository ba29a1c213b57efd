//! Another process holds memory that this one needs.

use super::{Cause, CauseId};
use crate::account::identity::strangers;
use crate::domain::Accelerator;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::OtherProcess,
    title: || text!(en: "another process holds the memory", zh: "其他进程占用了显存或内存"),
    doc,
    refute,
    fixtures: &["pytorch/two-processes", "context/neighbour", "host/bystander", "vllm/startup"],
};

fn doc() -> Text {
    Text::new(
        "Another process holds memory that this one needs: a forgotten run, a notebook kernel, a second server, the \
         desktop, another user.\n\n\
         **How it shows.** PyTorch 2.1 and later name processes with what they hold; otherwise the account leaves a \
         part of the device that is neither free nor the framework's. “0 bytes allocated” on a full device means that \
         this was the first request. On Linux hosts a killed process that held little points the same way.\n\n\
         **Told from its neighbours.** The question is whether the request would have fitted without the others. A \
         context takes 0.2 … 0.6 GiB and is not another process. In a container without the host's pid namespace this \
         very process is listed under a foreign pid: the one that, with what PyTorch reserved, would be more than is \
         in use. Missing names prove nothing: Windows, ROCm and containers hide them.\n\n\
         **Example.** `11.90 GiB total … 1.31 GiB allocated … 12.00 MiB free, 1.40 GiB reserved`: some 10 GiB are \
         somebody else's.",
        "其他进程占用了本进程需要的内存：遗留的训练、notebook 内核、第二个服务、桌面或其他用户。\n\n\
         **表现。** PyTorch 2.1 及以后会列出进程及其占用；否则账目中会有一部分既非空闲也不属于框架。设备已满却“已分配 \
         0 字节”，说明这是第一次请求。在 Linux 主机上，被杀进程本身占用很少也指向同一原因。\n\n\
         **与相近原因的区别。** 关键是：没有其他进程时请求能否满足。一个上下文只占 0.2 … 0.6 GiB，不算其他进程。容器未\
         共享宿主机 pid 命名空间时，本进程会以陌生 pid 出现：它与 PyTorch 保留量之和会超过已用显存。没有列出进程不能说\
         明没有：Windows、ROCm 和容器都会隐藏。\n\n\
         **示例。** `11.90 GiB total … 1.31 GiB allocated … 12.00 MiB free, 1.40 GiB reserved`：约 10 GiB 属于别人。",
    )
}

fn refute(incident: &Incident) -> Text {
    if incident.event.resource.on_host() {
        let list = incident.system().processes();
        return text!(
            en: "Run `{list}` while the job runs: if the job's own processes hold nearly everything, nobody else is to \
                 blame.",
            zh: "任务运行时执行 `{list}`：若几乎全由本任务的进程占用，则与其他进程无关。"
        );
    }
    // Which device it is, not every message tells.
    let of_device = incident.context.asked_of(incident.event.facts.device.value());
    let strangers = strangers(&incident.event, &incident.ledger);
    let pids: Vec<String> =
        strangers.sure.iter().chain(&strangers.doubtful).take(4).map(|pid| pid.to_string()).collect();
    if pids.is_empty() {
        let look = match incident.event.accelerator() {
            Accelerator::Cuda => format!("nvidia-smi{of_device}"),
            other => incident.system().devices().unwrap_or(other.driver_meter()).now.to_string(),
        };
        text!(
            en: "Stop this job and run `{look}`: if the memory in use falls to near 0, it was this job's own after \
                 all.",
            zh: "停掉本任务后运行 `{look}`：若显存占用降到接近 0，则占用者就是本任务自己。"
        )
    } else {
        let list = pids.join(", ");
        let query = pids.join(",");
        text!(
            en: "Run `ps -o pid,user,etime,cmd -p {query}` on the host: if {list} belongs to this job, nobody else is \
                 in the way.",
            zh: "在宿主机上运行 `ps -o pid,user,etime,cmd -p {query}`：若 {list} 就是本进程或本任务自己的进程，则不是其\
                 他进程的问题。"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch, torch_among};
    use super::*;
    use crate::dialect::{Fact, Resource};
    use crate::domain::Program;

    #[test]
    fn a_pool_of_a_few_mib_was_left_over_by_others() {
        let pool = |limit, held| {
            let figures = [(Fact::Requested, "2.50 MiB"), (Fact::Limit, limit), (Fact::Allocated, held)];
            first(&settled(event(Program::Tensorflow, Resource::Gpu, &figures)))
        };
        assert_eq!(pool("8.30 MiB", "7.50 MiB"), CauseId::OtherProcess);
        assert_ne!(pool("9.30 GiB", "9.30 GiB"), CauseId::OtherProcess);
    }

    #[test]
    fn a_device_full_of_somebody_elses_memory() {
        let incident = torch(&[
            (Fact::Requested, "40.00 MiB"),
            (Fact::Capacity, "11.90 GiB"),
            (Fact::Allocated, "1.31 GiB"),
            (Fact::Free, "12.00 MiB"),
            (Fact::Reserved, "1.40 GiB"),
        ]);
        assert_eq!(first(&incident), CauseId::OtherProcess);
        assert!(confidence(&incident, CauseId::OtherProcess) > 0.7);
    }

    #[test]
    fn a_named_process_without_which_the_request_would_have_fitted() {
        let incident = torch_among(
            &[
                (Fact::Requested, "512.00 MiB"),
                (Fact::Capacity, "39.39 GiB"),
                (Fact::Free, "100.00 MiB"),
                (Fact::Process, "27.00 GiB"),
                (Fact::Allocated, "26.00 GiB"),
                (Fact::ReservedUnallocated, "500.00 MiB"),
            ],
            &[(4321, "12.20 GiB")],
        );
        assert_eq!(first(&incident), CauseId::OtherProcess);
        assert!(refute(&incident).en.contains("-p 4321"));
    }

    #[test]
    fn this_process_under_its_host_pid_is_nobody_else() {
        let incident = torch_among(
            &[
                (Fact::Requested, "128.00 MiB"),
                (Fact::Capacity, "23.69 GiB"),
                (Fact::Free, "40.00 MiB"),
                (Fact::Allocated, "22.40 GiB"),
                (Fact::ReservedUnallocated, "300.00 MiB"),
            ],
            &[(99, "23.20 GiB")],
        );
        assert!(confidence(&incident, CauseId::OtherProcess) < 0.1);
    }

    #[test]
    fn a_context_of_ours_is_no_other_process() {
        assert!(confidence(&torch(&FULL_CARD), CauseId::OtherProcess) < 0.1);
    }
}
