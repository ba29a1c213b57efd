//! The partition is smaller than the device.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Sign;
use crate::domain::{Accelerator, Target};
use crate::text;

pub const FIX: Fix = Fix {
    id: "carve-out",
    class: Class::Limits,
    title: || text!(en: "Enlarge the partition (MIG, UMA carve-out, GTT)", zh: "扩大分区（MIG、UMA 划分、GTT）"),
    doc: || {
        text!(
            en: "A MIG slice, a virtual GPU profile or the BIOS's carve-out of an APU bounds what the process may use, whatever the chip holds.",
            zh: "MIG 切片、vGPU 配置或 APU 的 BIOS 显存划分限制了进程可用量，与芯片总量无关。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let apu = case.sign(Sign::UnifiedMemory) || case.sign(Sign::Hip) || case.sign(Sign::Xpu);
    if !case.on_device() || !apu {
        return Advice::Silent;
    }
    let draft = Draft::new(case, &[(CauseId::FrameworkLimit, 0.5), (CauseId::Capacity, 0.12)])
        .frees_unknown(text!(en: "as much as the partition grows", zh: "等于分区增加的量"))
        .knob(Target::Sycl, "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1   # single buffers above 4 GiB")
        .knob(
            Target::Pytorch,
            if case.sign(Sign::Xpu) {
                "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1   # single buffers above 4 GiB"
            } else {
                "rocm-smi --showmeminfo vram gtt   # shows the pools; change them in the BIOS or ttm.pages_limit"
            },
        );
    let draft = match case.accelerator() {
        Accelerator::Cuda => draft.knob(Target::Shell, "nvidia-smi -L   # shows the partition; change it in MIG"),
        Accelerator::Hip => draft.knob(
            Target::Shell,
            "rocm-smi --showmeminfo vram gtt   # shows the pools; change them in the BIOS or ttm.pages_limit",
        ),
        _ => draft,
    };
    draft.because(join(
        text!(en: "the process sees a part of the machine's memory only", zh: "进程只能看到机器内存的一部分"),
        case.situation(),
    ))
}
