//! Data-loading workers fill the RAM.

use super::nature::{JobKind, job_kind};
use super::{Cause, CauseId};
use crate::dialect::Sign;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::HostWorkers,
    title: || text!(en: "worker processes fill the RAM", zh: "工作进程占满了内存"),
    doc,
    refute,
    fixtures: &["cause/workers-fill-group", "kernel/memcg-workers"],
};

fn doc() -> Text {
    Text::new(
        "Worker processes fill the RAM together: data-loading workers with their copies, prefetched batches and \
         caches, parallel jobs, one process per core.\n\n\
         **How it shows.** A worker dies, not the trainer; a kernel table lists many like-named tasks whose sum is \
         near the limit (or over it: pages shared at the fork that turn private are counted in every row); dozens of \
         kills in one job step.\n\n\
         **Told from its neighbours.** One worker or none cannot multiply anything: then it is *growth* or plain *host \
         memory*. A bus error in a worker is */dev/shm*, not RAM. Python lists of small objects become private page by \
         page because reading them writes their reference counts.\n\n\
         **Example.** 8 workers × 3.2 GiB of a data set held as Python dictionaries fill a node of 32 GiB in the first \
         epoch.",
        "多个工作进程合起来占满内存：数据加载 worker 的副本、预取批次和缓存，并行作业，每核一个进程。\n\n\
         **表现。** 死掉的是 worker 而不是训练进程；内核任务表中许多同名任务合计接近上限（或超过上限：fork 时共享的页变\
         为私有后在每一行都计数）；一个作业步中有几十次杀进程。\n\n\
         **与相近原因的区别。** 只有一个或没有 worker 时谈不上成倍占用：那是*增长*或单纯的*主机内存*。worker 中的 bus \
         error 是 */dev/shm* 而不是内存。由小对象组成的 Python 列表会逐页变为私有，因为读取会改写引用计数。\n\n\
         **示例。** 数据集以 Python 字典存放、每份 3.2 GiB，8 个 worker 在第一个 epoch 就占满 32 GiB 的节点。",
    )
}

fn refute(incident: &Incident) -> Text {
    let loads = incident.event.has(Sign::DataLoaderWorker)
        || incident.ledger.loader.is_some()
        || incident.context.persistent_workers.is_known()
        || job_kind(incident) == Some(JobKind::Training);
    if !loads {
        return text!(
            en: "Run once with a single worker process: if memory still runs out at about the same point, the workers \
                 do not multiply anything.",
            zh: "只用一个工作进程运行一次：若仍在差不多的位置耗尽内存，则与进程数量无关。"
        );
    }
    text!(
        en: "Run once with `num_workers=0` (one process): if memory still runs out at about the same step, the workers \
             do not multiply anything.",
        zh: "用 `num_workers=0`（单进程）运行一次：若仍在差不多的步数耗尽内存，则与 worker 数量无关。"
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
    use crate::evidence::{Known, Span};

    fn table(count: f64, sum: f64, top: f64) -> Incident {
        let mut event = event(Program::LinuxKernel, Resource::Cgroup, &[(Fact::Limit, "8.00 GiB")]);
        event.sign(Sign::KilledWithProof);
        for (name, value) in
            [(Number::TableLikeNamedCount, count), (Number::TableLikeNamedSum, sum), (Number::TableTopRss, top)]
        {
            event.facts.numbers.insert(name, (value, Span::line(9)));
        }
        settled(event)
    }

    #[test]
    fn many_equal_tasks_that_fill_the_limit_are_workers() {
        assert_eq!(first(&table(9.0, 7.6e9, 1.1e9)), CauseId::HostWorkers);
    }

    #[test]
    fn one_big_task_is_not() {
        assert!(confidence(&table(3.0, 7.6e9, 7.4e9), CauseId::HostWorkers) < 0.2);
    }

    #[test]
    fn a_single_worker_multiplies_nothing() {
        let dead = |workers| {
            let mut event = event(Program::Pytorch, Resource::Host, &[]);
            event.sign(Sign::DataLoaderWorker);
            let mut incident = settled(event);
            incident.context.workers = Known::Seen(workers, Span::line(2));
            confidence(&incident, CauseId::HostWorkers)
        };
        assert!(dead(8) > 0.4 && dead(1) < 0.5 * dead(8));
    }
}
