//! A narrower cache.

use super::prelude::*;
use crate::estimate::serving::Budget;

pub const FIX: Fix = Fix {
    id: "kv-cache-dtype",
    class: Class::Inference,
    title: || text!(en: "8-bit KV cache", zh: "8 位 KV 缓存"),
    doc: || {
        text!(
            en: "fp8 halves a 16-bit cache; llama.cpp's q8_0 takes 34/64 of it. Quality suffers a little; some \
                 attention kernels do not support it.",
            zh: "fp8 使 16 位缓存减半；llama.cpp 的 q8_0 为 34/64。质量略有下降；部分注意力 kernel 不支持。"
        )
    },
    helps: &[Work::Serving],
    needs: &[Need::Device, Need::Short],
    applies: |case| case.engine().is_some(),
    costs: Costs { slows: (-0.1, 0.1), numerics: Numerics::Model },
    knobs: &[
        line(Target::Vllm, "--kv-cache-dtype fp8").unless("before-ampere"),
        line(Target::Sglang, "--kv-cache-dtype fp8_e5m2").unless("before-ampere"),
        line(Target::LlamaCpp, "-fa on -ctk q8_0 -ctv q8_0"),
        line(Target::LlamaCpp, "-fa -ctk q8_0 -ctv q8_0").older(),
        line(Target::Ollama, "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve"),
        line(Target::Lmdeploy, "--quant-policy 8"),
    ],
    fixtures: &["ollama/cache", "llama.cpp/cache"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let budget = Budget::of(&case.incident.event.facts);
    if case.sign(Sign::EngineStartup) && case.on_gpu() && budget.share.is_some()
        || budget.room.is_some_and(|room| room < 0.0)
        || case.sign(Sign::StaticPool)
        || case.sign(Sign::WeightsBuffer)
        || case.on_gpu() && case.engine().is_some_and(|engine| engine.sizes_pool_by_device())
    {
        // Nothing is left for a cache of any width, or no cache is at stake yet.
        return Advice::Silent;
    }
    let halved = match (budget.tokens, budget.length) {
        (Some(tokens), Some(length)) if case.resource() == Resource::KvCache => Some((tokens, length)),
        _ => None,
    };
    if let Some((tokens, length)) = halved.filter(|(tokens, length)| tokens.saturating_mul(2) < *length) {
        return Advice::Withheld(text!(
            en: "at half the bytes the cache holds 2 × {tokens} tokens, still less than {length}",
            zh: "字节减半后缓存可容纳 2 × {tokens} 个 token，仍少于 {length}"
        ));
    }
    let needed = case.incident.event.facts.get(Fact::Needed).filter(|_| case.resource() == Resource::KvCache);
    Draft::new(case, &FIX)
        .frees_if(
            needed.map(|needed| {
                let shown = bytes(needed.bytes);
                (needed.interval().scale(0.5), text!(en: "half of the {shown} needed", zh: "所需 {shown} 的一半"))
            }),
            text!(en: "half of the cache; its size is not in the log", zh: "缓存的一半；日志没有给出其大小"),
        )
        .certainty(if needed.is_some() || halved.is_some() { Certainty::Arithmetic } else { Certainty::RuleOfThumb })
        .because(text!(en: "the cache holds the same tokens in half the bytes", zh: "同样的 token 只需一半字节"))
}
