//! RMM's pool: its size, and the way around it.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "rmm-pool-size",
    class: Class::AllocConfig,
    title: || text!(en: "A smaller or asynchronous RMM pool", zh: "减小 RMM 内存池或改用异步分配"),
    doc: || {
        text!(
            en: "A pool takes its initial size at once and serves nobody else: CUDA libraries and other processes \
                 get what is left. cudaMallocAsync's pool is shared by all libraries that use it and gives memory \
                 back.",
            zh: "内存池一次占走初始大小且不与他人共享：CUDA 库和其他进程只能用剩下的部分。cudaMallocAsync 的池由所有\
                 使用它的库共享，并会归还内存。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    applies: |case| {
        let pool = case.incident.event.of_a_pool()
            || case.context.frames.iter().any(|frame| frame.code.as_deref().is_some_and(|code| code.contains("pool")));
        pool || case.sign(Sign::PoolCreation) || case.confidence(CauseId::Preallocation) >= 0.3
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Rapids, "rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())")
            .note("instead of a pool", "代替内存池"),
        line(Target::DaskCuda, "dask-cuda-worker --rmm-async")
            .note("or --rmm-pool-size 0.6, a share of the card", "或 --rmm-pool-size 0.6（占整卡的比例）"),
        line(Target::Spark, "--conf spark.rapids.memory.gpu.pool=ASYNC")
            .note("or a smaller spark.rapids.memory.gpu.allocFraction", "或减小 spark.rapids.memory.gpu.allocFraction")
            .when("spark-rapids"),
    ],
    fixtures: &["rapids/pool-creation", "rapids/pool"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_unknown(text!(
            en: "what the pool holds above the need; the log does not print the pool's size",
            zh: "池中超出实际需要的部分；日志未打印池的大小"
        ))
        .certainty(Certainty::Likely)
        .because(text!(en: "the pool is what holds the card", zh: "占住显存的正是内存池"))
}
