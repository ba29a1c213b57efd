//! Split weights over devices.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::text;

pub const FIX: Fix = Fix {
    id: "more-devices",
    class: Class::Sharding,
    title: || text!(en: "Split the model over more GPUs, or a larger GPU", zh: "把模型拆到更多 GPU，或换更大的 GPU"),
    doc: || {
        text!(
            en: "Tensor parallelism divides weights and cache by the number of GPUs. It needs fast links and a number that divides the heads.",
            zh: "张量并行把权重和缓存按 GPU 数平分。需要高速互联，且 GPU 数要能整除注意力头数。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_device() || !case.inference() && !case.loading() {
        return Advice::Silent;
    }
    let ranks = case.context.world_size.value().unwrap_or(1).max(1);
    let tried = ranks.saturating_mul(2);
    Draft::new(case, &[(CauseId::Capacity, 0.55), (CauseId::KvCache, 0.4), (CauseId::WrongDevice, 0.4)])
        .weight(if case.engine().is_some() { 1.0 } else { 0.6 })
        .frees_if(
            case.share_of_allocated(0.3, 0.5, text!(en: "half of weights and cache", zh: "权重与缓存的一半")),
            text!(en: "half of weights and cache; their sizes are not in the log", zh: "权重与缓存的一半；日志没有给出大小"),
        )
        .slows(0.0, 0.3)
        .numerics(Numerics::Same)
        .knob("vllm", format!("--tensor-parallel-size {tried}"))
        .knob("sglang", format!("--tp {tried}"))
        .knob("tgi", format!("--num-shard {tried}"))
        .knob("tensorrt-llm", format!("--tp_size {tried}"))
        .knob("lmdeploy", format!("--tp {tried}"))
        .knob("llama.cpp", "-sm layer -ts 1,1")
        .knob("pytorch", "from_pretrained(..., device_map=\"auto\")")
        .because(join(text!(en: "weights alone may be more than one GPU holds", zh: "仅权重就可能超过单卡容量"), case.situation()))
}
