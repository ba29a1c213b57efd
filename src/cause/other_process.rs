//! Another process holds memory that this one needs.

use super::reading::{
    Kind, about, entry, foreign, kind, limited, place, ramp, refused_although_free, short_of_desired, size,
    taken_meanwhile,
};
use super::{Cause, CauseId, engine};
use crate::account::identity::{may_be_itself, strangers};
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::{Accelerator, Number};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, MIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::OtherProcess,
    title: || text!(en: "another process holds the memory", zh: "其他进程占用了显存"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["pytorch/two-processes", "context/neighbour", "host/bystander", "vllm/startup"],
};

fn doc() -> Text {
    Text::new(
        r#"Another process holds memory that this one needs: a forgotten run, a notebook kernel, a second server, the desktop, another user.

**How it shows.** PyTorch 2.1 and later name processes with what they hold; otherwise the account leaves a part of the device that is neither free nor the framework's. “0 bytes allocated” on a full device means that this was the first request. On Linux hosts a killed process that held little points the same way.

**Told from its neighbours.** The question is whether the request would have fitted without the others. A context takes 0.2 … 0.6 GiB and is not another process. In a container without the host's pid namespace this very process is listed under a foreign pid: the one that, with what PyTorch reserved, would be more than is in use. Missing names prove nothing: Windows, ROCm and containers hide them.

**Example.** `11.90 GiB total … 1.31 GiB allocated … 12.00 MiB free, 1.40 GiB reserved`: some 10 GiB are somebody else's."#,
        r#"其他进程占用了本进程需要的内存：遗留的训练、notebook 内核、第二个服务、桌面或其他用户。

**表现。** PyTorch 2.1 及以后会列出进程及其占用；否则账目中会有一部分既非空闲也不属于框架。设备已满却“已分配 0 字节”，说明这是第一次请求。在 Linux 主机上，被杀进程本身占用很少也指向同一原因。

**与相近原因的区别。** 关键是：没有其他进程时请求能否满足。一个上下文只占 0.2 … 0.6 GiB，不算其他进程。容器未共享宿主机 pid 命名空间时，本进程会以陌生 pid 出现：它与 PyTorch 保留量之和会超过已用显存。没有列出进程不能说明没有：Windows、ROCm 和容器都会隐藏。

**示例。** `11.90 GiB total … 1.31 GiB allocated … 12.00 MiB free, 1.40 GiB reserved`：约 10 GiB 属于别人。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(-1.6),
        Kind::PooledTensor => Some(-0.7),
        Kind::Engine => Some(-1.0),
        Kind::WeightBuffers => Some(-0.7),
        Kind::KvCache => Some(-2.5),
        Kind::Host => Some(-2.3),
        Kind::Shm | Kind::OnChip => None,
    }
}

/// A pool below this was made of left-overs: TensorFlow and XLA take three quarters or more of what is free at start, and
/// the GPUs that they run on have 1 GiB and more.
const LEFT_OVERS: u64 = 512 * MIB;

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let mut found = Vec::new();
    if refused_although_free(incident) && !limited(incident) {
        found.push(
            Evidence::new(-1.5, text!(en: "there was room for the request: nobody had to leave", zh: "当时的空闲足以满足请求：不需要任何进程让出"))
                .at(place(event, Fact::Free)),
        );
    } else if let Some(others) = foreign(incident).filter(|_| !event.resource.on_host()) {
        // Without a list of processes, desktop and context blur the amount: the same share then proves less.
        let by_share: &[(f64, f64)] = if others.separated {
            &[(0.01, -2.0), (0.04, -0.8), (0.08, 0.8), (0.15, 1.8), (0.3, 2.4), (0.6, 4.0)]
        } else {
            &[(0.02, -1.5), (0.08, -0.5), (0.13, 0.5), (0.2, 1.8), (0.4, 2.6), (0.7, 4.5)]
        };
        let mut weight = ramp(others.sure_share, by_share);
        if !others.would_serve {
            weight = weight.min(0.0) - 0.7;
        }
        let (amount, part) = (size(others.amount), percent(others.share));
        let short = ledger.short_of_free.or(short_of_desired(incident)).map_or_else(|| "?".to_string(), about);
        let evidence = match (weight > 0.0, others.separated, others.named.is_some()) {
            (true, true, true) => {
                text!(en: "other processes hold {amount}, {part} of the device; {short} were missing", zh: "其他进程占用 {amount}，为设备的 {part}；缺口为 {short}")
            }
            (true, true, false) => {
                text!(en: "{amount}, {part} of the device, belong to nobody the message names: neither free nor this process; {short} were missing", zh: "{amount}（设备的 {part}）既非空闲也不属于本进程，报错未说明归属；缺口为 {short}")
            }
            (true, false, _) => {
                text!(en: "beyond a usual context, {amount} ({part} of the device) are neither free nor held by the framework; {short} were missing", zh: "除常规上下文外，还有 {amount}（设备的 {part}）既非空闲也不由框架持有；缺口为 {short}")
            }
            (false, _, _) if !others.would_serve => {
                text!(en: "what others hold, {amount}, would not have been enough: {short} were missing", zh: "其他进程占用的 {amount} 即使释放也不够：缺口为 {short}")
            }
            (false, _, _) => {
                text!(en: "other processes hold at most {amount}, {part} of the device", zh: "其他进程最多占用 {amount}，为设备的 {part}")
            }
        };
        let lines = event.facts.other_processes.iter().map(|other| other.figure.at);
        let mut evidence = Evidence::new(weight, evidence).at(place(event, Fact::Free));
        for at in lines {
            evidence = evidence.at(at);
        }
        found.push(evidence);
    }
    if kind(incident) == Kind::PooledTensor
        && let Some(limit) = event.facts.get(Fact::Limit)
        && limit.bytes < LEFT_OVERS
        && event.facts.get(Fact::Capacity).is_none()
    {
        let pool = Bytes(limit.bytes);
        found.push(
            Evidence::new(4.0, text!(en: "the pool was given {pool} at start, a sliver of any GPU: it is made of what the others left over", zh: "内存池启动时只分到 {pool}，远小于任何 GPU：这是其他进程占用后的剩余"))
                .at(limit.at),
        );
    }
    if kind(incident) == Kind::PooledTensor
        && let (Some(limit), Some(pool), Some(requested)) =
            (event.facts.get(Fact::Limit), ledger.reserved, ledger.requested)
        && (limit.interval() - pool).surely_at_least(requested)
    {
        let (limit, pool, want) = (size(limit.interval()), size(pool), size(requested));
        found.push(
            Evidence::new(3.0, text!(en: "the pool held {pool} of the {limit} it may take, yet could not grow by {want}: the device itself was full", zh: "内存池上限 {limit}，只持有 {pool}，却无法再增长 {want}：设备本身已满"))
                .at(place(event, Fact::Limit)),
        );
    }
    if event.facts.get(Fact::Allocated).is_some_and(|figure| figure.bytes == 0)
        && foreign(incident).is_some_and(|others| others.share > 0.3)
    {
        found.push(
            Evidence::new(1.5, text!(en: "the framework had 0 bytes allocated: this was its first request", zh: "框架已分配 0 字节：这是它的第一次请求"))
                .at(place(event, Fact::Allocated)),
        );
    }
    // A library's handle fails to be made on a device that this very process has filled; a context fails on somebody else's.
    if event.has(Sign::ContextCreation) && !event.has(Sign::ForeignLibrary) {
        found.push(
            Evidence::new(1.8, text!(en: "not even a context could be created, which takes a few hundred MiB", zh: "连几百 MiB 的上下文都无法创建"))
                .at(event.at),
        );
    }
    found.extend(bystander(incident));
    found.extend(engine_finds_little(incident));
    if let Some((row, holder)) = busy_rival(incident) {
        let used = Bytes(row.used.bytes);
        let index = row.index;
        found.push(
            Evidence::new(1.0, text!(en: "nvidia-smi in the log lists {holder} on GPU {index}, where {used} are used", zh: "日志中的 nvidia-smi 显示 GPU {index} 已用 {used}，其上有 {holder}"))
                .at(row.used.at),
        );
    }
    found.extend(engine::crowded_out(incident));
    if let Some((taken, recording)) = taken_meanwhile(incident) {
        found.push(
            Evidence::new(1.5, text!(en: "the allocator had {taken} before that it could no longer get when it failed: something outside of it took them in between", zh: "分配器此前拥有过的 {taken} 在失败时已拿不到：期间被分配器之外的什么占去了"))
                .recorded(entry(recording)),
        );
    }
    found
}

/// On a host: the victim held next to nothing, or the processes that the message lists hold a fraction of what is used.
fn bystander(incident: &Incident) -> Option<Evidence> {
    let event = &incident.event;
    let facts = &event.facts;
    if !event.resource.on_host() {
        return None;
    }
    if let Some(evidence) = smaller_than_another(incident) {
        return Some(evidence);
    }
    let used = facts.get(Fact::Used).map(|figure| figure.bytes as f64).or_else(|| {
        let (all, free) = (facts.get(Fact::Capacity)?, facts.get(Fact::Free)?);
        Some(all.bytes.saturating_sub(free.bytes) as f64)
    })?;
    let used_size = Bytes(used as u64);
    if let Some((listed, at)) = facts.numbers.get(&Number::TopUsersSum) {
        // Ten processes that hold less than a third of what is used: the rest is nobody's in this list.
        let (weight, sum) = (ramp(listed / used, &[(0.2, 3.5), (0.4, 1.0), (0.7, -1.0)]), Bytes(*listed as u64));
        return Some(
            Evidence::new(weight, text!(en: "the largest processes listed hold {sum} together, of {used_size} in use", zh: "列出的最大进程合计占用 {sum}，而已用内存为 {used_size}"))
                .at(*at),
        );
    }
    let victim = facts.get(Fact::AnonRss).map(|rss| (rss.bytes as f64, rss.at));
    let victim = victim.or_else(|| facts.numbers.get(&Number::VictimRss).copied())?;
    (event.resource == Resource::Host && victim.0 < 0.03 * used).then(|| {
        let held = Bytes(victim.0 as u64);
        Evidence::new(3.3, text!(en: "the victim held only {held} of {used_size} in use: it is a bystander", zh: "被杀进程只占用 {held}，而已用内存为 {used_size}：它只是旁观者"))
            .at(victim.1)
    })
}

/// The kernel killed a task of a few percent of what another one holds: an adjustment of scores chose it.
fn smaller_than_another(incident: &Incident) -> Option<Evidence> {
    let facts = &incident.event.facts;
    let all = incident.ledger.bound?.middle() as f64;
    let victim = facts.get(Fact::AnonRss)?;
    let (top, at) = *facts.numbers.get(&Number::TableTopRss)?;
    let (victim_pid, top_pid) = (facts.pid.value()? as f64, facts.number(Number::TableTopPid)?);
    let other = facts.largest_process.get().filter(|name| facts.process_name.get() != Some(name))?;
    // Before Linux 5.1 a child dies in place of the task that was chosen; its own figures then say nothing.
    let chosen = facts.number(Number::ChosenPid).is_none_or(|chosen| chosen == victim_pid);
    let bystander = chosen && victim_pid != top_pid && top >= 0.3 * all && (victim.bytes as f64) < 0.1 * top;
    bystander.then(|| {
        let (held, top) = (Bytes(victim.bytes), Bytes(top as u64));
        Evidence::new(3.3, text!(en: "the victim held only {held}, {other} holds {top}: it is a bystander", zh: "被杀进程只占用 {held}，而 {other} 占用 {top}：它只是旁观者"))
            .at(at)
    })
}

/// On a host: a program that compares what a model needs with what is available before it loads it. A gap of a few percent
/// is a machine too small; where half is missing, somebody else is using it.
fn engine_finds_little(incident: &Incident) -> Option<Evidence> {
    let event = &incident.event;
    if kind(incident) != Kind::Host || !event.has(Sign::EngineStartup) {
        return None;
    }
    let (need, free) = (event.facts.get(Fact::Requested)?, event.facts.get(Fact::Free)?);
    let missing = need.bytes.saturating_sub(free.bytes) as f64 / need.bytes.max(1) as f64;
    let (need_size, left) = (Bytes(need.bytes), Bytes(free.bytes));
    Some(
        Evidence::new(ramp(missing, &[(0.05, 0.3), (0.3, 1.5), (0.6, 2.4)]), text!(en: "{left} were available of the {need_size} needed, before the program had taken anything", zh: "程序尚未占用内存时，所需 {need_size} 中只有 {left} 可用"))
            .at(free.at),
    )
}

/// The row of the failing device in a printed `nvidia-smi` table and a process on it that is not this one.
fn busy_rival(incident: &Incident) -> Option<(&crate::input::nvidia_smi_table::GpuRow, String)> {
    let device = incident.event.facts.device.value()?;
    let row = incident.context.gpus.iter().find(|row| row.index == device)?;
    let (pid, name, _) = row.processes.iter().find(|(pid, _, held)| {
        let held = held.map(|figure| figure.interval());
        !may_be_itself(&incident.event, &incident.ledger, *pid, held)
    })?;
    Some((row, name.clone().map_or_else(|| format!("pid {pid}"), |name| format!("{name} (pid {pid})"))))
}

fn refute(incident: &Incident) -> Text {
    if incident.event.resource.on_host() {
        return text!(
            en: "Run `ps -eo pid,user,rss,comm --sort=-rss | head -15` while the job runs: if the job's own processes hold nearly everything, nobody else is to blame.",
            zh: "任务运行时执行 `ps -eo pid,user,rss,comm --sort=-rss | head -15`：若几乎全由本任务的进程占用，则与其他进程无关。"
        );
    }
    let device = incident.event.facts.device.value().unwrap_or(0);
    let strangers = strangers(&incident.event, &incident.ledger);
    let pids: Vec<String> =
        strangers.sure.iter().chain(&strangers.doubtful).take(4).map(|pid| pid.to_string()).collect();
    if pids.is_empty() {
        let look = match incident.event.accelerator() {
            Accelerator::Cuda => format!("nvidia-smi -i {device}"),
            other => other.driver_meter().now.to_string(),
        };
        text!(
            en: "Stop this job and run `{look}`: if the memory in use falls to near 0, it was this job's own after all.",
            zh: "停掉本任务后运行 `{look}`：若显存占用降到接近 0，则占用者就是本任务自己。"
        )
    } else {
        let list = pids.join(", ");
        let query = pids.join(",");
        text!(
            en: "Run `ps -o pid,user,etime,cmd -p {query}` on the host: if {list} are this very process or workers of the same job, nobody else is in the way.",
            zh: "在宿主机上运行 `ps -o pid,user,etime,cmd -p {query}`：若 {list} 就是本进程或本任务自己的进程，则不是其他进程的问题。"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch, torch_among};
    use super::*;
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
