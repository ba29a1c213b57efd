//! No or fewer graphs.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "fewer-cuda-graphs",
    class: Class::Inference,
    title: || text!(en: "Fewer CUDA graphs (eager mode)", zh: "减少 CUDA graph（eager 模式）"),
    doc: || {
        text!(
            en: "Captured graphs keep private pools, one size after the other. Without them decoding is up to a \
                 third slower for small models.",
            zh: "捕获的 CUDA graph 会为每个尺寸保留私有池。关闭后小模型解码最多慢约三分之一。"
        )
    },
    helps: &[Work::Serving, Work::Training, Work::Inference],
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "--enforce-eager"),
        line(Target::Sglang, "--cuda-graph-max-bs {largest}")
            .note("or --disable-cuda-graph", "或 --disable-cuda-graph"),
        line(Target::Tgi, "--cuda-graphs 0"),
        line(Target::Pytorch, "torch.compile(model)")
            .note(
                "mode=\"default\" instead of \"reduce-overhead\" or \"max-autotune\"; of an engine: its eager mode",
                "用 mode=\"default\" 代替 \"reduce-overhead\" 或 \"max-autotune\"；若是推理引擎，用其 eager 模式",
            )
            .when("compiled"),
    ],
    fixtures: &["vllm/kv-bytes", "vllm/no-blocks"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let engine = case.engine();
    if !case.on_device()
        || engine.is_none() && !case.clue(Clue::CudaGraphs) && case.context.compile.value() != Some(true)
    {
        return Advice::Silent;
    }
    if engine.is_some_and(|engine| engine.device_use() == DeviceUse::FixedBuffers)
        || engine.is_some() && case.sign(Sign::EngineStartup) && case.on_gpu()
    {
        return Advice::Silent;
    }
    // Nothing was captured before the pool is sized, nor where no graph shows.
    let shown = case.clue(Clue::CudaGraphs) || case.sign(Sign::GraphCapture) || engine == Some(Program::Vllm);
    let eager = case
        .context
        .command
        .get()
        .is_some_and(|command| command.contains("enforce_eager") || command.contains("enforce-eager"));
    if eager {
        return Advice::Withheld(text!(en: "it runs in eager mode already", zh: "已在 eager 模式下运行"));
    }
    if engine.is_some() && (!shown || engine.is_some_and(|engine| engine.warms_up_before_its_pool())) {
        return Advice::Silent;
    }
    let capture = if case.clue(Clue::CudaGraphs) || case.sign(Sign::EngineWarmup) || case.phase() == Some(Phase::Warmup)
    {
        1.5
    } else {
        0.8
    };
    let set = case.incident.event.facts.number(Number::CudaGraphMaxBs).filter(|set| (2.0..1e6).contains(set));
    let largest = set.map_or(32, |set| (set as u64 / 4).max(1));
    let pools = case.incident.event.facts.get(Fact::PrivatePools).map(|pools| {
        let shown = bytes(pools.bytes);
        (
            Interval::between(0, pools.interval().high),
            text!(en: "at most the {shown} in private pools", zh: "最多为私有池中的 {shown}"),
        )
    });
    Draft::new(case, &FIX)
        .when("compiled", case.clue(Clue::CudaGraphs) || case.context.compile.value() == Some(true))
        .when("capture", case.sign(Sign::GraphCapture))
        .weight(capture)
        .frees_if(
            pools,
            text!(
                en: "the log does not show how much the graphs hold",
                zh: "日志没有给出 CUDA graph 的占用"
            ),
        )
        .fill("largest", largest)
        .because(text!(
            en: "captured graphs keep memory of their own beside the cache",
            zh: "捕获的 CUDA graph 在缓存之外另占显存"
        ))
}
