//! Data-loading workers fill the RAM.

use super::reading::{Kind, kind, ramp};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB};

pub const CAUSE: Cause = Cause {
    id: CauseId::HostWorkers,
    title: || text!(en: "many worker processes fill the RAM", zh: "多个工作进程占满了内存"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["cause/workers-fill-group", "kernel/memcg-workers"],
};

fn doc() -> Text {
    Text::new(
        r#"Worker processes fill the RAM together: data-loading workers with their copies, prefetched batches and caches, parallel jobs, one process per core.

**How it shows.** A worker dies, not the trainer; a kernel table lists many like-named tasks whose sum is near the limit (or over it: pages shared at the fork that turn private are counted in every row); dozens of kills in one job step.

**Told from its neighbours.** One worker or none cannot multiply anything: then it is *growth* or plain *host memory*. A bus error in a worker is */dev/shm*, not RAM. Python lists of small objects become private page by page because reading them writes their reference counts.

**Example.** 8 workers × 3.2 GiB of a data set held as Python dictionaries fill a node of 32 GiB in the first epoch."#,
        r#"多个工作进程合起来占满内存：数据加载 worker 的副本、预取批次和缓存，并行作业，每核一个进程。

**表现。** 死掉的是 worker 而不是训练进程；内核任务表中许多同名任务合计接近上限（或超过上限：fork 时共享的页变为私有后在每一行都计数）；一个作业步中有几十次杀进程。

**与相近原因的区别。** 只有一个或没有 worker 时谈不上成倍占用：那是*增长*或单纯的*主机内存*。worker 中的 bus error 是 */dev/shm* 而不是内存。由小对象组成的 Python 列表会逐页变为私有，因为读取会改写引用计数。

**示例。** 数据集以 Python 字典存放、每份 3.2 GiB，8 个 worker 在第一个 epoch 就占满 32 GiB 的节点。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Host => Some(-1.8),
        Kind::Shm => Some(-1.6),
        _ => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    if event.has(Sign::DataLoaderWorker) && kind(incident) == Kind::Host {
        found.push(
            Evidence::new(3.2, text!(en: "a data-loading worker died, not the training process", zh: "死掉的是数据加载 worker，而不是训练进程"))
                .at(event.at),
        );
    }
    if event.has(Sign::PoolWorkerKilled) {
        found.push(
            Evidence::new(2.8, text!(en: "a worker of a process pool was killed", zh: "进程池中的一个 worker 被杀"))
                .at(event.at),
        );
    }
    if let Some(workers) = context.workers.value() {
        let all = workers.saturating_mul(context.local_processes.value().unwrap_or(1));
        if workers >= 4 && all >= 24 {
            found.push(
                Evidence::new(ramp(all as f64, &[(24.0, 1.4), (100.0, 2.6)]), text!(en: "{all} workers on one machine each hold copies and prefetched batches", zh: "同一台机器上 {all} 个 worker 各自持有副本和预取的批次"))
                    .seen(&context.workers),
            );
        } else if workers >= 4 {
            found.push(
                Evidence::new(0.8, text!(en: "{workers} workers each hold copies and prefetched batches", zh: "{workers} 个 worker 各自持有副本和预取的批次"))
                    .seen(&context.workers),
            );
        } else if workers <= 1 {
            found.push(
                Evidence::new(-1.5, text!(en: "with {workers} worker there is nothing to multiply", zh: "只有 {workers} 个 worker，谈不上成倍占用"))
                    .seen(&context.workers),
            );
        }
    }
    if let Some((kills, at)) = event.facts.numbers.get(&Number::OomEvents)
        && *kills >= 8.0
    {
        let kills = *kills as u64;
        found.push(
            Evidence::new(3.0, text!(en: "{kills} kills in one step: workers were restarted and killed again", zh: "一个作业步中被杀 {kills} 次：worker 不断重启又被杀"))
                .at(*at),
        );
    }
    if let (Some((count, at)), Some((sum, _)), Some((top, _))) = (
        event.facts.numbers.get(&Number::TableLikeNamedCount),
        event.facts.numbers.get(&Number::TableLikeNamedSum),
        event.facts.numbers.get(&Number::TableTopRss),
    ) && let Some(bound) = event.facts.get(Fact::Limit).or(event.facts.get(Fact::Capacity))
        && *count >= 3.0
        && *sum >= 0.5 * bound.bytes as f64
        && *top <= 0.6 * sum
    {
        let (count, all) = (*count as u64, Bytes(bound.bytes));
        let together = Bytes(*sum as u64);
        let name = event.facts.largest_process.get().cloned().unwrap_or_default();
        let beyond = *sum > bound.bytes as f64;
        found.push(
            Evidence::new(
                4.0,
                if beyond {
                    text!(en: "{count} tasks named {name} count {together} together, over the {all} that bind: pages shared at the fork are becoming private copies", zh: "{count} 个名为 {name} 的任务合计 {together}，超过生效的 {all}：fork 时共享的页正在变成各自的私有副本")
                } else {
                    text!(en: "{count} tasks named {name} hold {together} together, of the {all} that bind", zh: "{count} 个名为 {name} 的任务合计占用 {together}，而上限为 {all}")
                },
            )
            .at(*at),
        );
    }
    found.extend(arithmetic(incident));
    if event.has(Sign::CompilerKilled) {
        found.push(
            Evidence::new(2.6, text!(en: "a compiler was killed: builds start one for each core, and each takes 1–3 GB", zh: "编译器被杀：构建会按核数并行启动，每个占用 1–3 GB"))
                .at(event.at),
        );
    }
    if let Some(processes) = context.local_processes.value()
        && processes >= 8
    {
        let limit = event.facts.get(Fact::Limit).or(context.memory_limit.get().copied());
        // Importing a framework alone takes half a GiB in each process.
        let each = limit.map(|limit| limit.bytes / processes).filter(|each| *each < 4 * GIB);
        found.push(match each {
            Some(each) => {
                let (each, all) = (Bytes(each), Bytes(each.saturating_mul(processes)));
                Evidence::new(
                    3.2,
                    text!(en: "{processes} processes share {all}: {each} for each", zh: "{processes} 个进程共享 {all}：每个只有 {each}"),
                )
            }
            None => Evidence::new(
                2.0,
                text!(en: "{processes} processes share the node's memory", zh: "{processes} 个进程共享该节点的内存"),
            ),
        }
        .seen(&context.local_processes));
    }
    found
}

/// What the loaders take by their own settings, against what there is.
fn arithmetic(incident: &Incident) -> Option<Evidence> {
    let account = incident.ledger.loader?;
    let (need, limit) = (account.need, account.limit);
    let all = Bytes(limit.middle_bytes());
    let (weight, text) = if need.without_caches().low > limit.high {
        let least = Bytes(need.without_caches().low.clamp(0, u64::MAX as i128) as u64);
        (
            6.0,
            text!(en: "workers and prefetched batches alone take {least}, and there is {all}", zh: "仅 worker 和预取批次就占用 {least}，而总共只有 {all}"),
        )
    } else if need.after_one_epoch().low > limit.high {
        let (first, end) = (need.after_one_epoch().middle_bytes(), need.in_the_end().middle_bytes());
        let (first, end, readers) = (Bytes(first), Bytes(end), account.loader.readers());
        (
            5.0,
            text!(en: "{readers} processes that keep what they read hold {first} by the end of the first epoch, {end} if it goes on, and there is {all}", zh: "{readers} 个进程各自缓存读到的样本：第一个 epoch 结束时占用 {first}，继续下去将达到 {end}，而总共只有 {all}"),
        )
    } else if need.in_the_end().low > limit.high {
        let (end, readers) = (Bytes(need.in_the_end().middle_bytes()), account.loader.readers());
        (
            3.2,
            text!(en: "the caches of {readers} processes grow to {end} in all, and there is {all}", zh: "{readers} 个进程的缓存合计将增长到 {end}，而总共只有 {all}"),
        )
    } else if need.in_the_end().high < limit.low / 3 && account.batch_known {
        let most = Bytes(need.in_the_end().high.clamp(0, u64::MAX as i128) as u64);
        (
            -2.0,
            text!(en: "by their settings the loaders take {most} at most, of {all}", zh: "按其设置，数据加载最多占用 {most}，而总共有 {all}"),
        )
    } else {
        return None;
    };
    Some(Evidence::new(weight, text).seen(&incident.context.workers))
}

fn refute(_incident: &Incident) -> Text {
    text!(
        en: "Run once with `num_workers=0` (one process): if memory still runs out at about the same step, the workers do not multiply anything.",
        zh: "用 `num_workers=0`（单进程）运行一次：若仍在差不多的步数耗尽内存，则与 worker 数量无关。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{confidence, event, first, settled};
    use super::*;
    use crate::dialect::Resource;
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
