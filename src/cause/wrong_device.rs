//! The load sits on one device while others are idle, or on a device not meant.

use super::reading::{foreign, on_gpu};
use super::{Cause, CauseId};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::WrongDevice,
    title: || text!(en: "the load sits on the wrong device", zh: "负载落在了错误的设备上"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &[],
};

fn doc() -> Text {
    text!(en: "One device is full while others are idle.", zh: "一个设备已满而其他设备空闲。")
}

fn prior(incident: &Incident) -> Option<f64> {
    on_gpu(incident).then_some(-3.3)
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    let device = event.facts.device.value();
    if let Some(span) = context.clues.get(&Clue::RanksOnOneDevice) {
        found.push(
            Evidence::new(2.5, text!(en: "several ranks load onto one device", zh: "多个 rank 都加载到同一个设备上"))
                .at(*span),
        );
    }
    if let (Some(0), Some(rank)) = (device, context.rank.value().or(event.rank))
        && rank > 0
        && context.visible_devices.get().is_none_or(|list| list.contains(','))
    {
        found.push(
            Evidence::new(1.8, text!(en: "rank {rank} failed on GPU 0, which is rank 0's", zh: "rank {rank} 在 GPU 0 上失败，而 GPU 0 属于 rank 0"))
                .at(event.at),
        );
    }
    if let Some(list) = context.visible_devices.get()
        && foreign(incident).is_some_and(|others| others.share >= 0.5)
    {
        found.push(
            Evidence::new(3.5, text!(en: "a device was chosen on purpose (CUDA_VISIBLE_DEVICES={list}), yet the one in use was full of others' memory", zh: "已指定设备（CUDA_VISIBLE_DEVICES={list}），但实际使用的设备被其他进程占满"))
                .seen(&context.visible_devices),
        );
    }
    if let Some(device) = device
        && let Some(row) = context.gpus.iter().find(|row| row.index == device)
    {
        let idle: Vec<_> = context
            .gpus
            .iter()
            .filter(|other| other.index != device && other.used.bytes < other.total.bytes / 10)
            .collect();
        if row.used.bytes > row.total.bytes / 10 * 8
            && let Some(first) = idle.first()
        {
            let index = first.index;
            found.push(
                Evidence::new(1.6, text!(en: "GPU {device} is full while GPU {index} is idle", zh: "GPU {device} 已满，而 GPU {index} 空闲"))
                    .at(row.used.at)
                    .at(first.used.at),
            );
        }
    }
    if let Some(span) = context.clues.get(&Clue::DataParallel)
        && device == Some(0)
    {
        found.push(
            Evidence::new(1.0, text!(en: "DataParallel gathers on GPU 0, which therefore fills first", zh: "DataParallel 在 GPU 0 上汇总，因此它最先占满")).at(*span),
        );
    }
    found
}

fn refute(incident: &Incident) -> Text {
    let device = incident.event.facts.device.value().unwrap_or(0);
    text!(
        en: "Run `nvidia-smi --query-gpu=index,memory.used --format=csv -l 1` while it starts: if GPU {device} is no fuller than the others, the load is where it should be.",
        zh: "启动时运行 `nvidia-smi --query-gpu=index,memory.used --format=csv -l 1`：若 GPU {device} 并不比其他 GPU 更满，则负载位置没有问题。"
    )
}
