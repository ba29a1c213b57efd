//! A shorter context.

use super::prelude::*;
use crate::cause::nature::takes_share_of_free;
use crate::estimate::serving::Budget;

pub const FIX: Fix = Fix {
    id: "max-model-len",
    class: Class::Inference,
    title: || text!(en: "A shorter maximum context: fewer tokens cached", zh: "缩短最大上下文：减少缓存的 token"),
    doc: || {
        text!(
            en: "The cache must hold at least one request of full length: `2 × layers × kv heads × head size × \
                 bytes × tokens`. The need is proportional to the length, so need and room give the longest that \
                 fits.",
            zh: "KV 缓存至少要放下一条最长请求：`2 × 层数 × kv 头数 × 头维度 × 字节 × token 数`。需求与长度成正比，\
                 因此由需求与可用量即可算出最大长度。"
        )
    },
    helps: &[Work::Serving, Work::Inference, Work::Training],
    needs: &[Need::Short],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "--max-model-len {shown}"),
        line(Target::Sglang, "--context-length {shown}"),
        line(Target::Tgi, "--max-total-tokens {shown}"),
        line(Target::LlamaCpp, "-c {shown}"),
        line(Target::Ollama, "PARAMETER num_ctx {shown}").note(
            "or options: {\"num_ctx\": …}; from 0.5.13 on the variable OLLAMA_CONTEXT_LENGTH={shown}",
            "或 options: {\"num_ctx\": …}；0.5.13 起也可用环境变量 OLLAMA_CONTEXT_LENGTH={shown}",
        ),
        line(Target::Ollama, "PARAMETER num_ctx {shown}")
            .note("or options: {\"num_ctx\": …}", "或 options: {\"num_ctx\": …}")
            .older(),
        line(Target::Lmdeploy, "--session-len {shown}"),
        line(Target::TensorRtLlm, "--max_seq_len {shown}"),
        line(Target::Exllama, "max_seq_len = {shown}"),
        said(Target::Program, "a context window of {shown} tokens", "上下文窗口设为 {shown} 个 token"),
        said(
            Target::Pytorch,
            "a cache for fewer tokens: what is free holds {part} % of this request",
            "缓存容纳更少的 token：空闲显存只能容纳此次申请的 {part} %",
        ),
        said(Target::Pytorch, "a cache for fewer tokens: half as many at first", "缓存容纳更少的 token：先减半")
            .when("own"),
    ],
    fixtures: &["llama.cpp/cache", "llama.cpp/compute"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let Some(engine) = case.engine() else { return own_cache(case) };
    if case.sign(Sign::WeightsBuffer) {
        return Advice::WontHelp(text!(
            en: "what was refused are the weights, in which the context has no part",
            zh: "被拒绝的是权重，与上下文长度无关"
        ));
    }
    if !(case.on_device() || case.model_beyond_ram() || case.sign(Sign::CacheRefused)) {
        return Advice::Silent;
    }
    let facts = &case.incident.event.facts;
    let mut budget = Budget::of(facts);
    budget.length = budget.length.or(case.context.sequence_length.value());
    if case.sign(Sign::UnevenDevices) {
        return Advice::Silent;
    }
    if engine == Program::MlcLlm && case.sign(Sign::EngineStartup) {
        return Advice::WontHelp(text!(
            en: "the check at start holds weights and temporary buffers against its share of the device; the context's \
                 cache is not in it",
            zh: "启动检查只用权重与临时缓冲区同所占份额比较，不含上下文的缓存"
        ));
    }
    if case.compares_at_start() {
        return Advice::WontHelp(text!(
            en: "the check at start compares what is free with the share asked for; the context plays no part in it \
                 yet",
            zh: "启动检查只比较空闲量与要求的份额，此时与上下文长度无关"
        ));
    }
    if let Some(room) = budget.room.filter(|room| *room < 0.0 && case.resource() == Resource::KvCache) {
        let room = show(room as i128);
        return Advice::WontHelp(text!(
            en: "{room} is left before a single token is cached: no length fits until the weights do",
            zh: "在缓存任何 token 之前可用量就是 {room}：权重放不下时，任何长度都放不下"
        ));
    }
    if case.on_gpu() && engine.warms_up_before_its_pool() && case.sign(Sign::EngineWarmup) {
        return Advice::WontHelp(text!(
            en: "the warm-up takes a prefill of the largest batch, whatever the longest request",
            zh: "预热按最大批的 prefill 进行，与最长请求无关"
        ));
    }
    let of_free = matches!(engine.device_use(), DeviceUse::PoolOfFree { .. });
    if takes_share_of_free(case.incident) {
        return Advice::WontHelp(text!(
            en: "the cache is a share of what is free, whatever the length: a shorter context asks for as much",
            zh: "KV cache 按空闲量的比例分配，与长度无关：缩短上下文后申请的仍一样多"
        ));
    }
    if case.on_gpu() && (engine.sizes_pool_by_device() || of_free) && case.context.profiles_an_engine().is_none() {
        return Advice::WontHelp(text!(
            en: "the pool is sized by its share of the device, whatever the length: a shorter context frees \
                 nothing beside it",
            zh: "缓存池按设备份额确定大小，与长度无关：缩短上下文不会在池外腾出空间"
        ));
    }
    if case.sign(Sign::StaticPool) {
        return Advice::WontHelp(text!(
            en: "the pool is what the weights leave of the static fraction; it does not grow when requests get shorter",
            zh: "缓存池是静态占比中权重之外的部分，不会因请求变短而变大"
        ));
    }
    let buffer = BufferOfCache::of(case);
    let length = buffer.as_ref().map(|buffer| buffer.length).or(budget.length);
    let computed = budget.longest().or_else(|| buffer.and_then(|buffer| buffer.longest()));
    let tried = computed.or(length.map(|length| (length / 2).max(16)));
    let half = || text!(en: "<half of the length now>", zh: "<现在长度的一半>");
    let shown = tried.map_or_else(half, |tokens| Text::same(tokens.to_string()));
    let sure = computed.is_some();
    // TGI has a limit for what is put in and another for all of it.
    let own = case.own_option(Quantity::Sequence).filter(|_| engine != Program::Tgi);
    let own = own.zip(tried).filter(|(option, tried)| *tried < option.value());
    Draft::new(case, &FIX)
        .own(own.map(|(option, tried)| option.with(tried)))
        .when("computed", sure)
        .when("beyond-ram", case.model_beyond_ram())
        // Sampling's warm-up grows with the number of sequences, not with their length.
        .weight(if case.sign(Sign::SamplerWarmup) { 0.7 } else { 1.0 })
        .frees_if(
            case.missing().filter(|missing| sure && missing.high > 0).map(|missing| {
                let short = show(missing.middle());
                (
                    missing,
                    text!(
                        en: "the missing {short}, by the ratio of need to room",
                        zh: "缺少的 {short}，按需求与可用量之比"
                    ),
                )
            }),
            text!(
                en: "bytes per token times the tokens taken off; the log does not give the bytes per token",
                zh: "每 token 字节数 × 减少的 token 数；日志没有给出每 token 字节数"
            ),
        )
        .certainty(if sure { Certainty::Arithmetic } else { Certainty::RuleOfThumb })
        .fill_text("shown", shown)
        .because(match (computed, length) {
            (Some(tokens), Some(length)) => text!(
                en: "the cache has room for {tokens} tokens, {length} are asked for",
                zh: "缓存可容纳 {tokens} 个 token，要求 {length} 个"
            ),
            (Some(tokens), None) => text!(
                en: "the cache has room for {tokens} tokens",
                zh: "缓存可容纳 {tokens} 个 token"
            ),
            (None, Some(length)) => text!(
                en: "{engine} sets memory aside for a request of full length, {length} tokens here",
                zh: "{engine} 按一条最长请求预留内存，此处为 {length} 个 token"
            ),
            (None, None) => text!(
                en: "{engine} sets memory aside for a request of full length; the log does not give the length",
                zh: "{engine} 按一条最长请求预留内存；日志没有给出该长度"
            ),
        })
}

/// The same for a cache of a program's own, where no engine keeps it.
fn own_cache(case: &Case) -> Advice {
    if !case.on_gpu() || !super::need::makes_a_cache(case) {
        return Advice::Silent;
    }
    let part = case
        .free()
        .zip(case.requested())
        .map(|(free, asked)| (free.low.max(0) as f64 / asked.middle().max(1) as f64 * 100.0).floor());
    let draft = Draft::new(case, &FIX);
    let draft = match part.filter(|part| (1.0..100.0).contains(part)) {
        Some(part) => draft.fill("part", part),
        None => draft,
    };
    draft
        .when("own", true)
        .of_request()
        .frees_if(
            case.requested().map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(requested.low / 2, requested.high),
                    text!(en: "half or more of the {shown} requested", zh: "所申请 {shown} 的一半以上"),
                )
            }),
            text!(en: "bytes per token × tokens", zh: "每 token 字节数 × token 数"),
        )
        .because(join(
            text!(
                en: "the cache is made for a number of tokens, whatever the batch",
                zh: "缓存按 token 数分配，与批大小无关"
            ),
            case.situation(),
        ))
}

/// A cache that is one buffer for the whole context, as llama.cpp makes it.
struct BufferOfCache {
    /// Tokens it is made for.
    length: u64,
    /// Its size in bytes.
    size: f64,
    /// What the device has for it, where the log tells.
    room: Option<f64>,
}

/// Left to the buffers for computation: rarely below 0.3 GiB, seldom above 1 GiB.
const COMPUTE: f64 = (1u64 << 30) as f64;

impl BufferOfCache {
    fn of(case: &Case) -> Option<BufferOfCache> {
        let event = &case.incident.event;
        let size = event.facts.get(Fact::Requested).filter(|_| event.has(Sign::CacheRefused))?.bytes as f64;
        let length = event.facts.number(Number::NCtx).filter(|tokens| *tokens >= 1.0)? as u64;
        let weights = event.facts.get(Fact::Weights).map(|weights| weights.bytes as f64);
        let room = event.facts.number(Number::DeviceFreeAtStart).zip(weights).map(|(free, weights)| free - weights);
        Some(BufferOfCache { length, size, room: room.map(|room| room - COMPUTE) })
    }

    /// In steps of 256 tokens, to which llama.cpp pads its cache.
    fn longest(&self) -> Option<u64> {
        let share = (self.room? / self.size).min(1.0);
        Some((self.length as f64 * share) as u64 / 256 * 256).filter(|tokens| *tokens > 0)
    }
}
