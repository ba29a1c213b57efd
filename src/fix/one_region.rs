//! A pool in one piece for TensorFlow and JAX.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "one-region",
    class: Class::AllocConfig,
    title: || text!(en: "One region for the framework's pool", zh: "让框架的内存池保持一整块"),
    doc: || {
        text!(
            en: "TensorFlow and JAX with growth on demand take regions one after another that never join. \
                 Preallocating one region, or the driver's asynchronous pool \
                 (`TF_GPU_ALLOCATOR=cuda_malloc_async`, CUDA 11.2 or newer), keeps free memory in one piece.",
            zh: "TensorFlow 与 JAX 在按需增长时会逐个申请区域，彼此不能合并。预分配一整块，或使用驱动的异步内存池\
                 （`TF_GPU_ALLOCATOR=cuda_malloc_async`，需 CUDA 11.2 或更新），可让空闲内存保持连续。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu, Need::Running],
    applies: |case| {
        // A larger pool of JAX leaves less for the library that the driver refused.
        let beside = case.sign(Sign::ForeignLibrary) && case.program() == Program::Jax;
        case.program().preallocates() && case.accelerator() != Accelerator::Tpu && !beside
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::TensorFlow, "export TF_GPU_ALLOCATOR=cuda_malloc_async")
            .note("and unset TF_FORCE_GPU_ALLOW_GROWTH", "并取消 TF_FORCE_GPU_ALLOW_GROWTH"),
        line(Target::Jax, "export XLA_PYTHON_CLIENT_PREALLOCATE=true XLA_CLIENT_MEM_FRACTION=.9")
            .note("older: XLA_PYTHON_CLIENT_MEM_FRACTION", "旧名 XLA_PYTHON_CLIENT_MEM_FRACTION"),
        line(Target::Jax, "export XLA_PYTHON_CLIENT_PREALLOCATE=true XLA_PYTHON_CLIENT_MEM_FRACTION=.9").older(),
    ],
    fixtures: &["tensorflow/dump-fragmented", "tensorflow/shape-only"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_if(
            case.free().map(|free| {
                let shown = show(free.middle());
                (
                    Interval::between(0, free.high.max(1)),
                    text!(en: "at most the {shown} that is free in pieces", zh: "最多为以碎片形式空闲的 {shown}"),
                )
            }),
            text!(en: "the log does not show how much is free in pieces", zh: "日志没有给出碎片形式的空闲量"),
        )
        .certainty(Certainty::Likely)
        .because(join(
            text!(en: "enough is free in sum but not in one piece", zh: "总量足够但不连续"),
            case.situation(),
        ))
}
