//! The partition is smaller than the device.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "carve-out",
    class: Class::Limits,
    title: || {
        text!(
            en: "Lift the device's own limit (MIG, UMA, GTT, buffer size)",
            zh: "放宽设备自身的上限（MIG、UMA、GTT、单个缓冲区）"
        )
    },
    doc: || {
        text!(
            en: "A MIG slice, a virtual GPU profile or the BIOS's carve-out of an APU bounds what the process may \
                 use, whatever the chip holds.",
            zh: "MIG 切片、vGPU 配置或 APU 的 BIOS 显存划分限制了进程可用量，与芯片总量无关。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Device],
    applies: |case| {
        // A share that the message prints is the limit, and no carve-out of an APU.
        let fraction = case.incident.event.facts.get(Fact::FractionLimit).is_some();
        let of_an_apu = case.sign(Sign::Hip) && !fraction && case.confidence(CauseId::FrameworkLimit) >= 0.3;
        // What Vulkan and OpenCL make in one piece is the driver's own, on whatever card.
        let one_buffer = case.sign(Sign::BufferSizeLimit);
        of_an_apu && !one_buffer
            || shows_a_carve_out_alone(case)
            || case.sign(Sign::UnifiedMemory)
            || one_buffer && case.accelerator() == Accelerator::Xpu
            || case.sign(Sign::Xpu) && beyond_one_buffer(case)
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Sycl, "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1")
            .note("single buffers above 4 GiB", "允许单个缓冲区超过 4 GiB")
            .when("sycl"),
        said(
            Target::Pytorch,
            "tensors below 4 GiB each, or a newer PyTorch or extension: this check is the extension's own",
            "每个张量小于 4 GiB，或换更新的 PyTorch 或扩展：这个检查属于扩展本身",
        )
        .when("checked"),
        line(Target::LlamaCpp, "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1")
            .note("single buffers above 4 GiB", "允许单个缓冲区超过 4 GiB")
            .when("xpu"),
        line(Target::Pytorch, "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1")
            .note("single buffers above 4 GiB", "允许单个缓冲区超过 4 GiB")
            .when("xpu"),
        line(Target::Shell, "rocm-smi --showmeminfo vram gtt")
            .note(
                "shows the pools; change them in the BIOS or ttm.pages_limit",
                "显示各内存池；在 BIOS 或 ttm.pages_limit 中调整",
            )
            .when("hip"),
        line(Target::Shell, "nvidia-smi -L")
            .note("shows the partition; change it in MIG", "显示分区；在 MIG 中调整")
            .when("cuda"),
        line(Target::Shell, "grep -i cma /proc/meminfo")
            .note(
                "contiguous memory; enlarge it with the kernel parameter cma=<size>",
                "连续内存区域；用内核参数 cma=<大小> 扩大",
            )
            .when("contiguous"),
    ],
    fixtures: &["sycl/buffer", "tensorrt/nvmap"],
    advise,
};

/// True where the device has no more than the BIOS of an APU gives its GPU unless it is told otherwise, 512 MiB or
/// less than 2 GiB: no card that ROCm runs on has so little.
fn shows_a_carve_out_alone(case: &Case) -> bool {
    let all = case.incident.event.facts.get(Fact::Capacity);
    case.accelerator() == Accelerator::Hip && all.is_some_and(|all| all.bytes < 2 * GIB)
}

/// The largest single buffer that Level Zero makes unless it is told otherwise.
const LARGEST_BUFFER: i128 = 4 * GIB as i128;

fn beyond_one_buffer(case: &Case) -> bool {
    case.requested().is_some_and(|requested| requested.high >= LARGEST_BUFFER)
        || case.confidence(CauseId::FrameworkLimit) >= 0.5
}

fn advise(case: &Case) -> Advice {
    // The extension's own check refuses before the driver is asked.
    let checked = case.incident.event.refuses_large_blocks();
    let granted = case.context.origin.large_buffer_granted;
    Draft::new(case, &FIX)
        .when("sycl", !granted && !checked)
        .when("checked", checked)
        .when("xpu", case.sign(Sign::Xpu) && !granted && !checked)
        .when("cuda", case.accelerator() == Accelerator::Cuda && !case.sign(Sign::ContiguousMemory))
        .when("contiguous", case.sign(Sign::ContiguousMemory))
        .when("hip", case.accelerator() == Accelerator::Hip)
        // Nothing else makes room for a model.
        .weight(if shows_a_carve_out_alone(case) { 8.0 } else { 1.0 })
        .frees_unknown(text!(en: "as much as the partition grows", zh: "等于分区增加的量"))
        .because(join(
            text!(en: "the process sees only a part of the machine's memory", zh: "进程只能看到机器内存的一部分"),
            case.situation(),
        ))
}
