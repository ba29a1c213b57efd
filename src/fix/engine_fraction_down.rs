//! Less for the pool, more for what comes on top.

use super::case::{Case, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::{Fact, Sign};
use crate::text;

pub const FIX: Fix = Fix {
    id: "lower-engine-memory",
    class: Class::Inference,
    title: || text!(en: "Give the engine a smaller share of the GPU", zh: "降低推理引擎的显存比例"),
    doc: || {
        text!(
            en: "Activations of long prompts, graphs, sampling over the vocabulary and other processes live outside the pool that the engine reserves. When the failure is there, or when the start-up check finds less free than asked, lower the share.",
            zh: "长提示的激活、CUDA graph、词表采样以及其他进程都在引擎预留的池之外。如果失败发生在这里，或启动检查发现空闲少于要求，就降低份额。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let Some(engine) = case.engine() else { return Advice::Silent };
    if !case.on_gpu() {
        return Advice::Silent;
    }
    let free = case.free().or_else(|| case.incident.event.facts.get(Fact::Available).map(|figure| figure.interval()));
    let share = free.zip(case.capacity()).filter(|_| case.sign(Sign::EngineStartup)).and_then(|(free, capacity)| {
        let share = free.low.max(0) as f64 / capacity.middle().max(1) as f64;
        (0.05..0.98).contains(&share).then(|| (share * 100.0).floor() / 100.0)
    });
    let tried = share.map_or("0.85".to_string(), |share| format!("{share:.2}"));
    Draft::new(case, &[(CauseId::OtherProcess, 0.35), (CauseId::Preallocation, 0.5), (CauseId::FrameworkLimit, 0.5), (CauseId::Capacity, 0.35), (CauseId::TransientPeak, 0.5), (CauseId::NonFramework, 0.4)])
        .frees_if(
            case.capacity().map(|capacity| {
                let total = show(capacity.middle());
                (capacity.scale(0.05), text!(en: "5 % of {total} for each 0.05", zh: "每降低 0.05 即 {total} 的 5 %"))
            }),
            text!(en: "5 % of the device for each 0.05", zh: "每降低 0.05 即设备的 5 %"),
        )
        .certainty(if share.is_some() { Certainty::Arithmetic } else { Certainty::RuleOfThumb })
        .slows(0.0, 0.15)
        .knob("vllm", format!("--gpu-memory-utilization {tried}"))
        .knob("sglang", format!("--mem-fraction-static {tried}"))
        .knob("tgi", format!("--cuda-memory-fraction {tried}"))
        .knob("lmdeploy", "--cache-max-entry-count 0.5")
        .knob("tensorrt-llm", format!("kv_cache_free_gpu_memory_fraction={tried}"))
        .because(text!(en: "{engine} reserves its pool first; what failed needs room beside it: try {tried}", zh: "{engine} 先预留缓存池；失败的部分需要池外空间：先试 {tried}"))
}
