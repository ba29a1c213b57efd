//! Fewer processes at a time.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Resource;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "fewer-at-once",
    class: Class::Host,
    title: || text!(en: "Run fewer jobs or processes at once", zh: "减少同时运行的任务或进程"),
    doc: || {
        text!(
            en: "Several processes on one machine add up. Stagger their starts, lower the parallelism, or give each a share.",
            zh: "同一台机器上的多个进程占用相加。错开启动、降低并行度，或给每个任务分配份额。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_host() || case.resource() == Resource::Shm {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::OtherProcess, 0.7), (CauseId::HostMemory, 0.3), (CauseId::HostWorkers, 0.3), (CauseId::Capacity, 0.2), (CauseId::DuplicateModel, 0.3)])
        .frees_unknown(text!(en: "what each further process holds; ps or the kernel's table tells", zh: "每个多余进程的占用；ps 或内核表可见"))
        .slows(0.0, 0.5)
        .knob(Target::Ray, "ray.remote(num_cpus=2)   # fewer tasks at a time")
        .knob(Target::Dask, "LocalCluster(n_workers=<fewer>, memory_limit=\"auto\")")
        .knob(Target::Shell, "ps -eo pid,rss,cmd --sort=-rss | head   # then run fewer at a time, e.g. MAX_JOBS=2 or make -j2")
        .because(text!(en: "memory of processes that run side by side adds up", zh: "并行进程的内存占用相加"))
}
