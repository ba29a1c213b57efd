//! /dev/shm or another shared segment is too small.

use super::reading::{Kind, kind, ramp, size};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::{Evidence, Span};
use crate::incident::Incident;
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

pub const CAUSE: Cause = Cause {
    id: CauseId::SharedMemory,
    title: || text!(en: "shared memory (/dev/shm) is too small", zh: "共享内存（/dev/shm）不足"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["pytorch-host/worker-bus-error", "pytorch-host/nccl-segment", "host/group-of-shared-files"],
};

fn doc() -> Text {
    Text::new(
        r#"/dev/shm or another shared segment is too small. Data loaders hand batches over through it, NCCL talks through it.

**How it shows.** A bus error in a worker, `unable to write to file </torch_…>`, `No space left on device` for a path in /dev/shm, or a cgroup whose memory is mostly `shmem` while its tasks hold little.

**Told from its neighbours.** Containers get 64 MiB unless told otherwise, and machines half of their RAM: on bare metal a full /dev/shm is rarer and RAM more likely. `Too many open files` is a limit on descriptors. Files left in /dev/shm count against the container's memory.

**Example.** 8 workers × 2 prefetched batches × 96 MiB = 1.5 GiB in a /dev/shm of 64 MiB."#,
        r#"/dev/shm 或其他共享段太小。数据加载器通过它传递批次，NCCL 通过它通信。

**表现。** worker 出现 bus error，`unable to write to file </torch_…>`，/dev/shm 路径报 `No space left on device`，或 cgroup 内存大部分是 `shmem` 而各任务占用很少。

**与相近原因的区别。** 容器默认只有 64 MiB，物理机默认为内存的一半：在物理机上 /dev/shm 占满较少见，更可能是内存不足。`Too many open files` 是描述符限制。留在 /dev/shm 中的文件计入容器内存。

**示例。** 8 个 worker × 预取 2 批 × 96 MiB = 1.5 GiB，而 /dev/shm 只有 64 MiB。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Shm => Some(1.5),
        Kind::Host => Some(-3.0),
        _ => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let event = &incident.event;
    let mut found = Vec::new();
    if kind(incident) == Kind::Shm {
        found.push(
            Evidence::new(0.7, text!(en: "the message is about a shared-memory segment; containers get 64 MiB of /dev/shm unless told otherwise", zh: "报错涉及共享内存段；容器的 /dev/shm 默认只有 64 MiB"))
                .at(event.at),
        );
        if let Some(requested) = event.facts.get(Fact::Requested) {
            let want = size(requested.interval());
            found.push(
                Evidence::new(0.5, text!(en: "a segment of {want} could not be had", zh: "无法得到 {want} 的共享段"))
                    .at(requested.at),
            );
        }
        if event.has(Sign::DataLoaderWorker) {
            found.push(
                Evidence::new(0.3, text!(en: "workers hand batches over through it", zh: "worker 通过它传递批次"))
                    .at(event.at),
            );
        }
    } else if let Some((shared, at)) = shared_pages(incident)
        && let Some(limit) = event.facts.get(Fact::Limit).or(event.facts.get(Fact::Capacity))
        && shared >= limit.bytes / 2
    {
        let (held, all) = (Bytes(shared), size(limit.interval()));
        found.push(
            Evidence::new(
                ramp(shared as f64 / limit.bytes.max(1) as f64, &[(0.5, 4.4), (0.8, 6.0)]),
                text!(en: "{held} of the limit's {all} are shared memory", zh: "上限 {all} 中有 {held} 是共享内存"),
            )
            .at(at),
        );
    }
    found
}

/// Shared memory of the group or of the victim: files in /dev/shm and tmpfs, which killing a process does not free.
fn shared_pages(incident: &Incident) -> Option<(u64, Span)> {
    let facts = &incident.event.facts;
    let group = facts.numbers.get(&Number::Shmem).map(|(bytes, at)| (*bytes as u64, *at));
    let victim = facts.get(Fact::ShmemRss).map(|figure| (figure.bytes, figure.at));
    group.into_iter().chain(victim).max_by_key(|(bytes, _)| *bytes)
}

fn refute(_incident: &Incident) -> Text {
    text!(
        en: "Run `df -h /dev/shm` inside the container while the job runs: if it never passes 90 % used, shared memory is not the matter.",
        zh: "任务运行时在容器内执行 `df -h /dev/shm`：若使用率从未超过 90 %，则不是共享内存的问题。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{confidence, event, first, settled};
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;

    #[test]
    fn a_full_dev_shm_is_itself() {
        let incident = settled(event(Program::Pytorch, Resource::Shm, &[(Fact::Requested, "34210184")]));
        assert!(confidence(&incident, CauseId::SharedMemory) > 0.7);
    }

    #[test]
    fn a_group_whose_memory_is_mostly_shared_files() {
        let told = |shared: f64| {
            let mut event = event(Program::LinuxKernel, Resource::Cgroup, &[(Fact::Limit, "2.00 GiB")]);
            event.sign(Sign::KilledWithProof);
            event.facts.numbers.insert(Number::Shmem, (shared, Span::line(9)));
            settled(event)
        };
        assert_eq!(first(&told(1.8e9)), CauseId::SharedMemory);
        assert!(confidence(&told(2e7), CauseId::SharedMemory) < 0.05);
    }
}
