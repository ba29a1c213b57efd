//! Locate growth.

use super::prelude::*;
use super::replayed;

pub const FIX: Fix = Fix {
    id: "find-the-leak",
    class: Class::Leak,
    title: || text!(en: "Find what grows", zh: "定位增长来源"),
    doc: || {
        text!(
            en: "Print the allocated bytes at the same point every 100 steps. If they climb, record a memory \
                 snapshot over two steps and look for blocks of the first that are alive in the second. On the \
                 host, compare PSS or tracemalloc of the parent and of the workers.",
            zh: "每隔 100 步在同一位置打印已分配量。若持续上升，录制两步的显存快照，找出第一步分配、第二步仍存活的\
                 块。主机侧则比较主进程与 worker 的 PSS 或 tracemalloc。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Running, Need::Process],
    // What is gathered once grows with nothing.
    applies: |case| !(case.on_gpu() && case.gathers_results()),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "watch -n 60 'grep -H ^Pss: /proc/PID/smaps_rollup'")
            .note("parent and each worker: whose grows?", "主进程与各 worker：谁在增长？")
            .when("several"),
        line(Target::Shell, "grep VmRSS /proc/PID/status")
            .note(
                "at two moments of the run: does it grow with what is done?",
                "在运行中的两个时刻各看一次：是否随处理量增长？",
            )
            .when("unknown"),
        said(
            Target::Program,
            "print the free heap after each round: does it fall?",
            "每轮之后打印空闲堆：是否逐轮减少？",
        )
        .when("board"),
        line(Target::Linux, "sudo slabtop -o -s c")
            .note("twice, some minutes apart: whose objects become more?", "相隔几分钟各一次：哪类对象在变多？")
            .when("kernel"),
        line(Target::Python, "tracemalloc.start(25)")
            .note(
                "then compare tracemalloc.take_snapshot() of two moments",
                "然后比较两个时刻的 tracemalloc.take_snapshot()",
            )
            .when("objects"),
        line(Target::Java, "jcmd PID GC.class_histogram")
            .note("twice, some minutes apart: which class grows?", "相隔几分钟各一次：哪个类在增长？")
            .when("host"),
        line(Target::Node, "NODE_OPTIONS=--inspect <your command>")
            .note(
                "then chrome://inspect → Memory: two heap snapshots, some minutes apart, compared",
                "然后打开 chrome://inspect → Memory：隔几分钟取两份堆快照并比较",
            )
            .when("host"),
        line(Target::Go, "go tool pprof -inuse_space http://localhost:6060/debug/pprof/heap")
            .note("twice, then -diff_base", "取两次，再用 -diff_base 比较")
            .when("pprof"),
        line(Target::Go, "GODEBUG=gctrace=1 <your command>")
            .note("does the live heap climb from one collection to the next?", "存活堆是否逐次回收后仍在上升？")
            .when("without-pprof"),
        line(Target::Pytorch, "print(step, {now} >> 20)")
            .note("after each step, at the same point", "每步之后，在同一位置打印")
            .when("own-loop"),
        said(
            Target::Pytorch,
            "{now}, in a callback or hook, at the same point of several steps",
            "在回调或钩子中，于多个步的同一位置打印 {now}",
        )
        .when("loop-of-others"),
        line(Target::Julia, "GC.gc(); CUDA.reclaim(); CUDA.pool_status()")
            .note("after each step: does it still climb?", "每步之后执行：是否仍在上升？")
            .unless("host"),
        line(Target::Jax, "jax.profiler.save_device_memory_profile(f\"step{STEP}.prof\")")
            .note("two of them, then: pprof -diff_base", "保存两份，再用 pprof -diff_base 比较")
            .unless("host"),
        line(Target::Jax, "for a in jax.live_arrays(): print(a.shape, a.nbytes)")
            .note("after two steps: which shape becomes more?", "在两步之后各打印一次：哪种形状变多？")
            .when("host"),
        line(Target::Pytorch, "torch.cuda.memory._record_memory_history(max_entries=200_000)").when("recordable"),
    ],
    fixtures: &["host/after-two-days", "host/last-straw-go"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let host = case.on_host();
    let python = case.works().contains(&Work::Data) && !case.works().contains(&Work::Host);
    let several = Need::Loader.met(case);
    Draft::new(case, &FIX)
        .when("rises", case.rises_all_along())
        .when("host", host)
        .when("own-loop", !host && !case.driven() && !case.of_a_tool())
        .when("loop-of-others", !host && (case.driven() || case.of_a_tool()))
        // It counts what Python allocates: the buffers of tensors are none of that.
        .when(
            "objects",
            host && !case.pytorch()
                && !case.handles_weights()
                && !case.incident.on_a_board()
                // `tracemalloc` came with Python 3.4.
                && !case.context.frames.iter().any(|frame| frame.path().contains("python2")),
        )
        .when("board", case.incident.on_a_board())
        // Its address serves a profile where the program serves it.
        .when("pprof", host && case.clue(Clue::Pprof))
        .when("without-pprof", host && !case.clue(Clue::Pprof))
        .when("several", host && several)
        .when("kernel", case.filled_by_the_kernel())
        .when(
            "unknown",
            host && !case.filled_by_the_kernel() && !several && (!python || case.pytorch() || case.handles_weights()),
        )
        .when("recordable", case.caching_allocator())
        .fill("now", case.accelerator().torch_meter().now)
        .frees_unknown(text!(
            en: "the growth per step is not in the log; two readings some steps apart give it",
            zh: "日志没有每步增长量；相隔若干步的两次读数即可得到"
        ))
        .because(join(
            text!(
                en: "usage grows until it hits the limit: a larger limit or a smaller batch only postpones the failure",
                zh: "占用不断增长直到触顶：更大的上限或更小的批只会推迟失败"
            ),
            replayed::grows(case).unwrap_or_default(),
        ))
}
