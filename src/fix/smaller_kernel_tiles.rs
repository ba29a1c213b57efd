//! A kernel's tile against the chip's shared memory.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "smaller-kernel-tiles",
    class: Class::Shapes,
    title: || text!(en: "Smaller tiles or fewer stages in the kernel", zh: "减小 kernel 的分块或流水级数"),
    doc: || {
        text!(
            en: "On-chip shared memory is a property of the GPU: a block's tiles times its pipeline stages must \
                 fit. Autotuning configurations written for a larger chip fail on a smaller one. GPU memory has no \
                 part in it.",
            zh: "片上共享内存由 GPU 型号决定：分块大小乘流水级数必须放得下。为更大芯片写的 autotune 配置在小芯片上会\
                 失败。与显存无关。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |case| case.resource() == Resource::CudaSharedMemory,
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Same },
    knobs: &[
        line(Target::Triton, "triton.Config({\"BLOCK_M\": 64, \"BLOCK_N\": 64}, num_stages=2)")
            .note("drop configurations above the chip's limit", "去掉超过芯片上限的配置"),
        line(Target::Pytorch, "torch._inductor.config.max_autotune_gemm = False")
            .note("or the library's smaller block size", "或使用该库更小的块大小"),
        said(
            Target::Program,
            "smaller blocks or tiles, or fewer pipeline stages, where the kernel's sizes are set",
            "在设置核函数尺寸处减小块或 tile，或减少流水级数",
        ),
    ],
    fixtures: &["jax/shared-memory", "jax/tpu-vmem"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_unknown(text!(
            en: "tile bytes × stages; a stage less divides accordingly",
            zh: "分块字节 × 级数；减少一级相应减少"
        ))
        .certainty(Certainty::Likely)
        .because(join(
            text!(
                en: "one thread block asks for more shared memory than the chip gives",
                zh: "一个线程块申请的共享内存超过芯片上限"
            ),
            case.situation(),
        ))
}
