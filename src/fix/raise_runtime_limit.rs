//! The program's own ceiling.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "raise-runtime-limit",
    class: Class::Limits,
    title: || text!(en: "Raise the program's own limit", zh: "提高程序自身的上限"),
    doc: || {
        text!(
            en: "A heap limit (`-Xmx`, `--max-old-space-size`), a pool, a worker's memory limit or a fraction refuses before the machine is full.",
            zh: "堆上限（`-Xmx`、`--max-old-space-size`）、内存池、worker 限额或比例会在机器用尽之前拒绝申请。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let java = case.on_host() && case.incident.event.facts.process_name.get().is_some_and(|name| name.contains("java"));
    let draft = Draft::new(
        case,
        &[
            (CauseId::FrameworkLimit, 0.75),
            (CauseId::HostMemory, if java { 0.5 } else { 0.25 }),
            (CauseId::Preallocation, 0.3),
        ],
    )
    .frees_unknown(text!(en: "frees nothing: it raises the limit", zh: "不释放内存：它提高上限"))
    .knob(
        if java { Target::Shell } else { Target::Java },
        "-Xmx<below the container's limit>   # or -XX:MaxRAMPercentage=75",
    )
    .knob(Target::Spark, "--conf spark.executor.memoryOverhead=4g")
    .knob(Target::Go, "GOMEMLIMIT=<nine tenths of the limit>   # collects earlier; does not lift ulimit -v")
    .knob(Target::Node, "NODE_OPTIONS=--max-old-space-size=8192")
    .knob(Target::Dask, "dask-worker --memory-limit 0   # or a larger one")
    .knob(
        Target::Ray,
        "RAY_memory_monitor_refresh_ms=0   # for a short loading peak; or RAY_memory_usage_threshold=0.98",
    )
    .knob(Target::Rapids, "rmm.reinitialize(pool_allocator=True, maximum_pool_size=<below the card's memory>)")
    .knob(Target::Cupy, "cupy.get_default_memory_pool().set_limit(fraction=0.95)");
    let draft = if case.on_host() {
        draft.knob(Target::TensorFlow, "TF_CUDA_HOST_MEM_LIMIT_IN_MB=65536")
    } else {
        draft
            .knob(
                Target::DaskCuda,
                "LocalCUDACluster(rmm_pool_size=<below the card's memory>, device_memory_limit=0.8)",
            )
            .knob(Target::OnnxRuntime, "gpu_mem_limit=<bytes>, arena_extend_strategy=\"kSameAsRequested\"")
    };
    draft.because(join(
        text!(en: "the program stops at a limit of its own", zh: "程序停在了自己设定的上限"),
        case.situation(),
    ))
}
