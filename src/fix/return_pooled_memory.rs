//! Pools of libraries that keep what was freed until they are told to let go.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "return-pooled-memory",
    class: Class::AllocConfig,
    title: || text!(en: "Give the pool's free memory back", zh: "归还内存池中的空闲内存"),
    doc: || {
        text!(
            en: "CUDA.jl and CuPy keep freed memory in a pool, in blocks that may fit no later request, and arrays \
                 that the collector has not reached yet count as used. Collect and empty the pool between phases, \
                 or do without it: slower, and nothing is kept.",
            zh: "CUDA.jl 与 CuPy 会把释放的内存留在池中，其中的块可能满足不了后续请求；垃圾回收尚未处理的数组也算已用。\
                 在各阶段之间执行回收并清空内存池，或不用内存池：更慢，但不会保留。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    // A trainer of networks has no phases between which arrays are dropped.
    applies: |case| matches!(case.program(), Program::Julia | Program::Cupy) && !case.frames_of("/chainer/"),
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[
        line(Target::Julia, "GC.gc(true); CUDA.reclaim()").note(
            "between phases; or, for a whole run, JULIA_CUDA_MEMORY_POOL=none",
            "在各阶段之间；或整个运行设 JULIA_CUDA_MEMORY_POOL=none",
        ),
        line(Target::Cupy, "cupy.get_default_memory_pool().free_all_blocks()")
            .note("between phases, once the arrays are dropped", "在各阶段之间，数组释放之后"),
    ],
    fixtures: &["julia/allocated-cached"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_if(
            case.of_the_cache().filter(|(range, _)| range.high > 0),
            text!(en: "what the pool keeps; the log does not print it", zh: "内存池保留的量；日志未打印"),
        )
        .because(text!(
            en: "the pool keeps freed memory in blocks that a request of another size may not fit",
            zh: "内存池保留的空闲块可能不适合其他大小的请求"
        ))
}
