//! /dev/shm or another shared segment is too small.

use super::{Cause, CauseId};
use crate::dialect::Sign;
use crate::domain::program::PytorchAllocator;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::SharedMemory,
    title: || {
        text!(
            en: "shared memory (/dev/shm, tmpfs, shared mappings) fills up",
            zh: "共享内存（/dev/shm、tmpfs、共享映射）占满"
        )
    },
    doc,
    refute,
    fixtures: &["pytorch-host/worker-bus-error", "pytorch-host/nccl-segment", "host/group-of-shared-files"],
};

fn doc() -> Text {
    Text::new(
        "/dev/shm or another shared segment is too small. Data loaders hand batches over through it, NCCL talks \
         through it.\n\n\
         **How it shows.** A bus error in a worker, `unable to write to file </torch_…>`, `No space left on device` \
         for a path in /dev/shm, or a cgroup whose memory is mostly `shmem` while its tasks hold little.\n\n\
         **Told from its neighbours.** Containers get 64 MiB unless told otherwise, and machines half of their RAM: on \
         bare metal a full /dev/shm is rarer and RAM more likely. `Too many open files` is a limit on descriptors. \
         Files left in /dev/shm count against the container's memory.\n\n\
         **Example.** 8 workers × 2 prefetched batches × 96 MiB = 1.5 GiB in a /dev/shm of 64 MiB.",
        "/dev/shm 或其他共享段太小。数据加载器通过它传递批次，NCCL 通过它通信。\n\n\
         **表现。** worker 出现 bus error，`unable to write to file </torch_…>`，/dev/shm 路径报 `No space left on \
         device`，或 cgroup 内存大部分是 `shmem` 而各任务占用很少。\n\n\
         **与相近原因的区别。** 容器默认只有 64 MiB，物理机默认为内存的一半：在物理机上 /dev/shm 占满较少见，更可能是内\
         存不足。`Too many open files` 是描述符限制。留在 /dev/shm 中的文件计入容器内存。\n\n\
         **示例。** 8 个 worker × 预取 2 批 × 96 MiB = 1.5 GiB，而 /dev/shm 只有 64 MiB。",
    )
}

fn refute(incident: &Incident) -> Text {
    if incident.event.has(Sign::SystemV) {
        return text!(
            en: "Run `ipcs -lm; ipcs -mu`: if the segments and their pages stay far below the limits, shared memory is \
                 not the matter.",
            zh: "执行 `ipcs -lm; ipcs -mu`：若段数与页数都远低于上限，则不是共享内存的问题。"
        );
    }
    let loads = incident.event.has(Sign::DataLoaderWorker)
        || incident.event.program.pytorch_allocator() == PytorchAllocator::Yes
        || incident.context.workers.is_known();
    if loads && incident.context.shared_memory().is_some_and(|(used, total, _)| used >= total / 10 * 9) {
        return text!(
            en: "Run once with `num_workers=0`: if it fails as before, what fills /dev/shm is not the job's own.",
            zh: "设置 `num_workers=0` 运行一次：若仍然失败，则填满 /dev/shm 的不是本任务。"
        );
    }
    text!(
        en: "Run `df -h /dev/shm` inside the container while the job runs: if far more stays available than is asked \
             for at a time, shared memory is not the matter.",
        zh: "任务运行时在容器内执行 `df -h /dev/shm`：若可用量始终远大于单次申请量，则不是共享内存的问题。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{confidence, event, first, settled};
    use super::*;
    use crate::dialect::Resource;
    use crate::dialect::{Fact, Sign};
    use crate::domain::Number;
    use crate::domain::Program;
    use crate::evidence::Span;

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
