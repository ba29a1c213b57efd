//! A shorter context.

use super::case::{Case, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Fact;
use crate::estimate::kv_cache;
use crate::text;

pub const FIX: Fix = Fix {
    id: "max-model-len",
    class: Class::Inference,
    title: || text!(en: "Shorter maximum context", zh: "缩短最大上下文"),
    doc: || {
        text!(
            en: "The cache must hold at least one request of full length: `2 × layers × kv heads × head size × bytes × tokens`. The need is proportional to the length, so need and room give the longest that fits.",
            zh: "KV 缓存至少要放下一条最长请求：`2 × 层数 × kv 头数 × 头维度 × 字节 × token 数`。需求与长度成正比，因此由需求与可用量即可算出最大长度。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let Some(engine) = case.engine() else { return Advice::Silent };
    if !case.on_device() {
        return Advice::Silent;
    }
    let facts = &case.incident.event.facts;
    let estimated = facts.number("estimated_max_len").or_else(|| facts.number("kv_max_tokens"));
    let length = facts.number("max_model_len").map(|n| n as u64).or(case.context.sequence_length.value());
    let computed = estimated.map(|n| n as u64).or_else(|| {
        let (needed, available) = (facts.get(Fact::Needed)?, facts.get(Fact::Available)?);
        Some(kv_cache::longest(length?, needed.bytes, available.bytes, 16))
    });
    let computed = computed.filter(|tokens| *tokens > 0);
    let tried = computed.or(length.map(|length| (length / 2).max(16)));
    let shown = tried.map_or("8192".to_string(), |tokens| tokens.to_string());
    let sure = computed.is_some();
    Draft::new(case, &[(CauseId::KvCache, if sure { 0.85 } else { 0.65 }), (CauseId::Preallocation, 0.35), (CauseId::Capacity, 0.35), (CauseId::FrameworkLimit, 0.3), (CauseId::TransientPeak, 0.35)])
        .frees_if(
            case.missing().filter(|missing| sure && missing.high > 0).map(|missing| {
                let short = show(missing.middle());
                (missing, text!(en: "the missing {short}, by the ratio of need to room", zh: "缺少的 {short}，按需求与可用量之比"))
            }),
            text!(en: "bytes per token times the tokens taken off; the log does not tell the bytes per token", zh: "每 token 字节数 × 减少的 token 数；日志没有给出每 token 字节数"),
        )
        .certainty(if sure { Certainty::Arithmetic } else { Certainty::RuleOfThumb })
        .knob("vllm", format!("--max-model-len {shown}"))
        .knob("sglang", format!("--context-length {shown}"))
        .knob("tgi", format!("--max-total-tokens {shown}"))
        .knob("llama.cpp", format!("-c {shown}"))
        .knob("ollama", format!("OLLAMA_CONTEXT_LENGTH={shown} ollama serve   # or num_ctx {shown}"))
        .knob("lmdeploy", format!("--session-len {shown}"))
        .knob("tensorrt-llm", format!("--max_seq_len {shown}"))
        .knob("exllama", format!("max_seq_len = {shown}"))
        .because(match (computed, length) {
            (Some(tokens), Some(length)) => text!(
                en: "the cache has room for {tokens} tokens, {length} are asked for",
                zh: "缓存可容纳 {tokens} 个 token，要求 {length} 个"
            ),
            (Some(tokens), None) => text!(en: "the cache has room for {tokens} tokens", zh: "缓存可容纳 {tokens} 个 token"),
            _ => text!(en: "{engine} must hold a request of full length; try {shown}", zh: "{engine} 必须能容纳一条最长请求；先试 {shown}"),
        })
}
