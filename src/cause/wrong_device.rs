//! The load sits on one device while others are idle, or on a device not meant.

use super::{Cause, CauseId};
use crate::domain::Accelerator;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::WrongDevice,
    title: || text!(en: "the load sits on the wrong device", zh: "负载落在了错误的设备上"),
    doc,
    refute,
    fixtures: &["cause/ranks-on-card-0"],
};

fn doc() -> Text {
    Text::new(
        "The load sits on one device while others are idle, or on a device that was not meant.\n\n\
         **How it shows.** Rank 3 fails on GPU 0; a checkpoint saved on one GPU is restored by all ranks onto that \
         GPU; `nvidia-smi` shows one full card and idle ones; a device list was set, but the card in use is full of \
         somebody else's memory, so the list was not in force.\n\n\
         **Told from its neighbours.** The index in a message counts visible devices only: “GPU 0” under \
         `CUDA_VISIBLE_DEVICES=5` is card 5. If every card is equally full, it is *capacity*.\n\n\
         **Example.** `torch.load(path)` without `map_location` on 4 ranks puts 4 copies on GPU 0.",
        "负载集中在一个设备而其他设备空闲，或落在了并非预期的设备上。\n\n\
         **表现。** rank 3 在 GPU 0 上失败；在某个 GPU 上保存的检查点被所有 rank 恢复到该 GPU；`nvidia-smi` 显示一张卡\
         满、其他空闲；设置了设备列表，但实际使用的卡被别人的显存占满，说明列表没有生效。\n\n\
         **与相近原因的区别。** 报错中的编号只计可见设备：`CUDA_VISIBLE_DEVICES=5` 下的 “GPU 0” 就是第 5 号卡。若每张卡\
         都同样满，则是*容量不足*。\n\n\
         **示例。** 4 个 rank 执行不带 `map_location` 的 `torch.load(path)`，会在 GPU 0 上放 4 份。",
    )
}

fn refute(incident: &Incident) -> Text {
    let device = incident.event.facts.device.value().unwrap_or(0);
    let look = match incident.event.accelerator() {
        Accelerator::Cuda => "nvidia-smi --query-gpu=index,memory.used --format=csv -l 1",
        other => other.driver_meter().now,
    };
    text!(
        en: "Run `{look}` while it starts: if GPU {device} is no fuller than the others, the load is where it should \
             be.",
        zh: "启动时运行 `{look}`：若 GPU {device} 并不比其他 GPU 更满，则负载位置没有问题。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, first, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::evidence::{Known, Span};
    use crate::incident::context::Clue;

    #[test]
    fn a_chosen_device_that_is_full_of_others_may_not_be_the_one_used() {
        let mut incident = torch(&[
            (Fact::Requested, "40.00 MiB"),
            (Fact::Capacity, "31.75 GiB"),
            (Fact::Allocated, "4.10 GiB"),
            (Fact::Free, "12.00 MiB"),
            (Fact::Reserved, "4.20 GiB"),
        ]);
        let before = confidence(&incident, CauseId::WrongDevice);
        incident.context.visible_devices = Known::Seen("3".to_string(), Span::line(1));
        // One report shows it so, another a list in force on a device that others use as well.
        let after = confidence(&incident, CauseId::WrongDevice);
        assert!(after > 2.0 * before && after < 0.5, "{before} {after}");
    }

    #[test]
    fn equal_processes_on_one_device_are_ranks_of_one_job() {
        let beside = |others: &[(u64, &str)]| {
            let figures = [
                (Fact::Requested, "512.00 MiB"),
                (Fact::Capacity, "23.69 GiB"),
                (Fact::Free, "60.00 MiB"),
                (Fact::Process, "5.90 GiB"),
                (Fact::Allocated, "5.20 GiB"),
                (Fact::ReservedUnallocated, "100.00 MiB"),
            ];
            confidence(&super::super::trial::torch_among(&figures, others), CauseId::WrongDevice)
        };
        assert!(
            beside(&[(1, "5.88 GiB"), (2, "5.90 GiB"), (3, "5.90 GiB")]) > 3.0 * beside(&[(1, "17.70 GiB")]).max(0.01)
        );
    }

    #[test]
    fn a_rank_on_the_first_device_is_out_of_place() {
        let mut incident = torch(&FULL_CARD[..2]);
        incident.event.facts.device = Known::Seen(0, Span::line(7));
        incident.event.rank = Some(0);
        assert!(confidence(&incident, CauseId::WrongDevice) < 0.05, "rank 0 belongs there");
        incident.event.rank = Some(3);
        incident.context.clues.insert(Clue::RanksOnOneDevice, Span::line(2));
        assert_eq!(first(&incident), CauseId::WrongDevice);
    }
}
