//! Apple's watermark.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "mps-watermark",
    class: Class::Limits,
    title: || text!(en: "Raise the GPU's limit in unified memory", zh: "提高统一内存中 GPU 的上限"),
    doc: || {
        text!(
            en: "PyTorch on Apple silicon refuses above a multiple of Metal's recommended working set (1.7 by \
                 default). 0.0 removes the limit and can freeze the whole machine. Smaller batches or half \
                 precision are safer.",
            zh: "Apple 芯片上的 PyTorch 在超过 Metal 推荐工作集的若干倍（默认 1.7）时拒绝分配。设为 0.0 会取消上限，\
                 可能让整机卡死。减小批或使用半精度更安全。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |case| case.sign(Sign::Mps),
    costs: Costs { slows: (0.0, 0.5), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0")
            .note("no limit: save your work first", "取消上限：请先保存工作"),
        line(Target::Pytorch, "torch.mps.empty_cache()")
            .note("between independent pieces of work", "在彼此独立的任务之间调用"),
        line(Target::Mlx, "sudo sysctl iogpu.wired_limit_mb=<MB below the RAM>"),
        line(Target::Metal, "sudo sysctl iogpu.wired_limit_mb=<MB below the RAM>"),
    ],
    fixtures: &["metal/command-buffer", "pytorch/mps-elided"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let numbers = &case.incident.event.facts.numbers;
    if numbers.contains_key(&Number::ResourceLimitCount) || case.sign(Sign::BufferSizeLimit) {
        return Advice::Withheld(text!(
            en: "the number of buffers or the size of one is limited here, which no watermark changes",
            zh: "此处受限的是缓冲区个数或单个缓冲区大小，与水位线无关"
        ));
    }
    Draft::new(case, &FIX)
        .frees_unknown(text!(en: "as far as the machine's memory reaches", zh: "取决于整机内存"))
        .because(join(
            text!(en: "the watermark refused, not the machine", zh: "拒绝的是水位线，而不是机器本身"),
            case.situation(),
        ))
}
