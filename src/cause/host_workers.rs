//! Data-loading workers fill the RAM.

use super::reading::{Kind, kind};
use super::{Cause, CauseId};
use crate::dialect::Sign;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::HostWorkers,
    title: || text!(en: "many worker processes fill the RAM", zh: "多个工作进程占满了内存"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &[],
};

fn doc() -> Text {
    text!(en: "Workers fill the RAM together.", zh: "多个工作进程合计占满内存。")
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
            Evidence::new(1.0, text!(en: "a data-loading worker died, not the training process", zh: "死掉的是数据加载 worker，而不是训练进程"))
                .at(event.at),
        );
    }
    if let Some(workers) = context.workers.value() {
        if workers >= 4 {
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
    if let Some((kills, at)) = event.facts.numbers.get("oom_events")
        && *kills >= 8.0
    {
        let kills = *kills as u64;
        found.push(
            Evidence::new(1.8, text!(en: "{kills} kills in one step: workers were restarted and killed again", zh: "一个作业步中被杀 {kills} 次：worker 不断重启又被杀"))
                .at(*at),
        );
    }
    if let Some(processes) = context.local_processes.value()
        && processes >= 8
    {
        found.push(
            Evidence::new(
                0.8,
                text!(en: "{processes} processes share the node's memory", zh: "{processes} 个进程共享该节点的内存"),
            )
            .seen(&context.local_processes),
        );
    }
    found
}

fn refute(_incident: &Incident) -> Text {
    text!(
        en: "Run once with `num_workers=0` (one process): if memory still runs out at about the same step, the workers do not multiply anything.",
        zh: "用 `num_workers=0`（单进程）运行一次：若仍在差不多的步数耗尽内存，则与 worker 数量无关。"
    )
}
