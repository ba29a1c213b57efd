//! /dev/shm or another shared segment is too small.

use super::reading::{Kind, kind, size};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::SharedMemory,
    title: || text!(en: "shared memory (/dev/shm) is too small", zh: "共享内存（/dev/shm）不足"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &[],
};

fn doc() -> Text {
    text!(en: "/dev/shm is full.", zh: "/dev/shm 已满。")
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
    } else if let (Some(shared), Some(limit)) = (event.facts.get(Fact::ShmemRss), event.facts.get(Fact::Limit))
        && shared.bytes >= limit.bytes / 2
    {
        let (held, all) = (size(shared.interval()), size(limit.interval()));
        found.push(
            Evidence::new(
                4.0,
                text!(en: "{held} of the limit's {all} are shared memory", zh: "上限 {all} 中有 {held} 是共享内存"),
            )
            .at(shared.at),
        );
    }
    found
}

fn refute(_incident: &Incident) -> Text {
    text!(
        en: "Run `df -h /dev/shm` inside the container while the job runs: if it never passes 90 % used, shared memory is not the matter.",
        zh: "任务运行时在容器内执行 `df -h /dev/shm`：若使用率从未超过 90 %，则不是共享内存的问题。"
    )
}
