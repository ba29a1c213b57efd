//! More of the device for the KV cache.

use super::case::{Case, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::text;

pub const FIX: Fix = Fix {
    id: "raise-engine-memory",
    class: Class::Inference,
    title: || text!(en: "Give the engine a larger share of the GPU", zh: "提高推理引擎的显存比例"),
    doc: || {
        text!(
            en: "Weights, activations and the cache must fit into the share that the engine may take. A larger share leaves more for the cache and less for graphs, other processes and spikes.",
            zh: "权重、激活和 KV 缓存都要放进引擎可用的份额里。份额越大，缓存越多，但留给 CUDA graph、其他进程和峰值的余量越少。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let Some(engine) = case.engine() else { return Advice::Silent };
    if !case.on_device() {
        return Advice::Silent;
    }
    let set = case.incident.event.facts.number("gpu_memory_utilization");
    if set.is_some_and(|share| share >= 0.95) {
        return Advice::Withheld(text!(en: "the share is at its useful maximum already", zh: "比例已接近可用上限"));
    }
    Draft::new(case, &[(CauseId::KvCache, 0.4), (CauseId::FrameworkLimit, 0.45)])
        .frees_if(
            case.capacity().map(|capacity| {
                let total = show(capacity.middle());
                (capacity.scale(0.05), text!(en: "5 % of {total} for each 0.05", zh: "每提高 0.05 即 {total} 的 5 %"))
            }),
            text!(en: "5 % of the device for each 0.05", zh: "每提高 0.05 即设备的 5 %"),
        )
        .certainty(Certainty::Likely)
        .knob("vllm", "--gpu-memory-utilization 0.95")
        .knob("sglang", "--mem-fraction-static 0.9")
        .knob("tgi", "--cuda-memory-fraction 0.95")
        .knob("tensorrt-llm", "kv_cache_free_gpu_memory_fraction=0.95")
        .knob("lmdeploy", "--cache-max-entry-count 0.9")
        .because(
            text!(en: "{engine} sizes its cache from the share it may take", zh: "{engine} 按可用份额决定缓存大小"),
        )
}
