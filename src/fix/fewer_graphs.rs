//! No or fewer graphs.

use super::case::{Case, bytes};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::{Fact, Sign};
use crate::domain::program::DeviceUse;
use crate::domain::{Number, Target};
use crate::incident::context::{Clue, Phase};
use crate::text;
use crate::units::Interval;

pub const FIX: Fix = Fix {
    id: "fewer-cuda-graphs",
    class: Class::Inference,
    title: || text!(en: "Fewer CUDA graphs (eager mode)", zh: "减少 CUDA graph（eager 模式）"),
    doc: || {
        text!(
            en: "Captured graphs keep private pools, one size after the other. Without them decoding is up to a third slower for small models.",
            zh: "捕获的 CUDA graph 会为每个尺寸保留私有池。关闭后小模型解码最多慢约三分之一。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
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
    Draft::new(case, &[(CauseId::Capacity, 0.2), (CauseId::TransientPeak, 0.4), (CauseId::Preallocation, if case.sign(Sign::GraphCapture) { 0.4 } else { 0.15 }), (CauseId::NonFramework, 0.25), (CauseId::KvCache, 0.12), (CauseId::Fragmentation, 0.1)])
        .weight(capture)
        .frees_if(pools, text!(en: "the log does not show how much the graphs hold", zh: "日志没有给出 CUDA graph 的占用"))
        .slows(0.0, 0.3)
        .knob(Target::Vllm, "--enforce-eager")
        .knob(Target::Sglang, format!("--cuda-graph-max-bs {largest}   # or --disable-cuda-graph"))
        .knob(Target::Tgi, "--cuda-graphs 0")
        .knob(Target::Pytorch, "torch.compile(model)   # mode=\"default\" instead of \"reduce-overhead\" or \"max-autotune\"")
        .because(text!(en: "captured graphs keep memory of their own beside the cache", zh: "捕获的 CUDA graph 在缓存之外另占显存"))
}
