//! A kernel's tile against the chip's shared memory.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Resource;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "smaller-kernel-tiles",
    class: Class::Shapes,
    title: || text!(en: "Smaller tiles or fewer stages in the kernel", zh: "减小核函数的分块或流水级数"),
    doc: || {
        text!(
            en: "On-chip shared memory is a property of the GPU: a block's tiles times its pipeline stages must fit. Autotuning configurations written for a larger chip fail on a smaller one. GPU memory has no part in it.",
            zh: "片上共享内存由 GPU 型号决定：分块大小乘流水级数必须放得下。为更大芯片写的 autotune 配置在小芯片上会失败。与显存无关。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if case.resource() != Resource::CudaSharedMemory {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::SharedMemory, 0.85), (CauseId::SingleHugeAllocation, 0.8), (CauseId::Capacity, 0.8), (CauseId::FrameworkLimit, 0.7), (CauseId::DriverOrUnrelated, 0.8), (CauseId::TransientPeak, 0.5), (CauseId::KvCache, 0.3), (CauseId::NonFramework, 0.3)])
        .frees_unknown(text!(en: "tile bytes × stages; a stage less divides accordingly", zh: "分块字节 × 级数；减少一级相应减少"))
        .slows(0.0, 0.3)
        .certainty(Certainty::Likely)
        .knob(Target::Triton, "triton.Config({\"BLOCK_M\": 64, \"BLOCK_N\": 64}, num_stages=2)   # drop configurations above the chip's limit")
        .knob(Target::Pytorch, "torch._inductor.config.max_autotune_gemm = False   # or the library's smaller block size")
        .knob(Target::Program, "smaller blocks or tiles, or fewer pipeline stages, where the kernel's sizes are set")
        .because(join(text!(en: "one thread block asks for more shared memory than the chip gives", zh: "一个线程块申请的共享内存超过芯片上限"), case.situation()))
}
