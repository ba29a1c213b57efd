//! Locate growth.

use super::case::{Case, join};
use super::draft::Draft;
use super::replayed;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "find-the-leak",
    class: Class::Leak,
    title: || text!(en: "Find what grows", zh: "定位增长来源"),
    doc: || {
        text!(
            en: "Print the allocated bytes at the same point every 100 steps. If they climb, record a memory snapshot over two steps and look for blocks of the first that are alive in the second. On the host, compare PSS or tracemalloc of the parent and of the workers.",
            zh: "每隔 100 步在同一位置打印已分配量。若持续上升，录制两步的内存快照，找出第一步分配、第二步仍存活的块。主机侧则比较主进程与 worker 的 PSS 或 tracemalloc。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let draft = Draft::new(case, &[(CauseId::LeakGrowth, 0.35)]).frees_unknown(text!(
        en: "the growth per step is not in the log; two readings some steps apart give it",
        zh: "日志没有每步增长量；相隔若干步的两次读数即可得到"
    ));
    let now = case.accelerator().torch_meter().now;
    let draft = if case.on_host() {
        draft
            .knob(
                Target::Shell,
                "watch -n 60 'grep -H ^Pss: /proc/PID/smaps_rollup'   # parent and each worker: whose grows?",
            )
            .knob(Target::Pytorch, "tracemalloc.start(25)   # then compare tracemalloc.take_snapshot() of two epochs")
    } else {
        draft.knob(Target::Pytorch, format!("print(step, {now} >> 20)   # every 100 steps at the same point")).knob(
            Target::Jax,
            "jax.profiler.save_device_memory_profile(f\"step{step}.prof\")   # two of them, then: pprof -diff_base",
        )
    };
    let draft = if case.caching_allocator() {
        draft.knob(Target::Pytorch, "torch.cuda.memory._record_memory_history(max_entries=200_000)")
    } else {
        draft
    };
    draft.because(join(
        text!(
            en: "usage grows until it hits the limit: a larger limit or a smaller batch only moves the failure later",
            zh: "占用不断增长直到触顶：更大的上限或更小的批只会推迟失败"
        ),
        replayed::grows(case).unwrap_or_default(),
    ))
}
