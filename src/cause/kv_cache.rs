//! An inference engine's cache does not fit as configured.

use super::nature::takes_share_of_free;
use super::{Cause, CauseId};
use crate::domain::Number;
use crate::domain::program::DeviceUse;
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::KvCache,
    title: || text!(en: "the KV cache does not fit as configured", zh: "KV cache 按当前配置放不下"),
    doc,
    refute,
    fixtures: &["vllm/kv-tokens", "vllm/kv-bytes", "llama.cpp/cache", "tensorrt-llm/executor", "pytorch/private-pools"],
};

fn doc() -> Text {
    Text::new(
        "An inference engine's key/value cache does not fit as configured: the context is longer, or the concurrency \
         higher, than what is left beside the weights.\n\n\
         **How it shows.** The engine says how many tokens fit and how many were configured, or how many bytes one \
         full-length request needs and how many are left. In llama.cpp the buffer that fails is named a KV buffer.\n\n\
         **Told from its neighbours.** If nothing or a negative amount is left for the cache, the weights are the \
         matter (*capacity*) or a fraction is set too low (*a limit*). If a little is missing, a slightly larger \
         fraction does as well as a shorter context.\n\n\
         **Example.** `max seq len (65536) is larger than the maximum number of tokens that can be stored in KV cache \
         (38912)`: a context of 36 864 fits.",
        "推理引擎的 KV cache 按当前配置放不下：上下文长度或并发超过了权重之外剩余的空间。\n\n\
         **表现。** 引擎会说明能容纳多少 token、配置了多少，或一个满长度请求需要多少字节、还剩多少。llama.cpp 中失败的\
         缓冲区会标明是 KV buffer。\n\n\
         **与相近原因的区别。** 若留给缓存的空间为零或负，则问题在权重（*容量不足*）或占比设置过低（*人为上限*）。若只\
         差一点，略微提高占比与缩短上下文同样有效。\n\n\
         **示例。** `max seq len (65536) is larger than the maximum number of tokens that can be stored in KV cache \
         (38912)`：36 864 的上下文放得下。",
    )
}

/// Tokens in a block of a paged cache, as most engines have it.
const BLOCK: u64 = 16;

fn refute(incident: &Incident) -> Text {
    let facts = &incident.event.facts;
    let program = incident.event.program;
    if takes_share_of_free(incident)
        && let DeviceUse::PoolOfFree { share } = program.device_use()
    {
        return text!(
            en: "Start once with `{share}` at half of what it is: if it still finds no room, the cache is not what is \
                 too large.",
            zh: "将 `{share}` 减半启动一次：若仍没有空间，则不是 KV cache 过大。"
        );
    }
    // Half of a length that the cache holds not a tenth of would fail for the cache's own sake.
    let fits = facts.number(Number::KvCacheTokens).or(facts.number(Number::EstimatedMaxModelLen));
    let held = fits.map(|tokens| tokens as u64 / BLOCK * BLOCK);
    let half = facts.number(Number::MaxModelLen).map(|length| (length / 2.0) as u64);
    let half = half.map(|half| held.map_or(half, |held| half.min(held))).filter(|n| *n > 0);
    match (program.context_option(), half) {
        (Some(option), _) if program.device_use() == DeviceUse::FixedBuffers => text!(
            en: "Start once with half the context (`{option}`): if it fails at the same buffer size, the cache is not \
                 what is too large.",
            zh: "将上下文（`{option}`）减半启动一次：若仍在同样大小的缓冲区失败，则不是 KV cache 过大。"
        ),
        // What another program starts has its option spelled there.
        (Some(_), Some(half)) if incident.context.has(Clue::Wrapped) || incident.calls_an_engine() => text!(
            en: "Start once with a context of {half} tokens: if it still finds no room, the weights or a limit \
                 are in the way, not the cache.",
            zh: "用 {half} 个 token 的上下文启动一次：若仍没有空间，则问题在权重或某个上限，而不在 KV cache。"
        ),
        (Some(option), Some(half)) => text!(
            en: "Start once with `{option} {half}`: if it still finds no room, the weights or a limit are in the way, \
                 not the cache.",
            zh: "用 `{option} {half}` 启动一次：若仍没有空间，则问题在权重或某个上限，而不在 KV cache。"
        ),
        _ => text!(
            en: "Start once with half the context length: if it still finds no room, the weights or a limit are in the \
                 way, not the cache.",
            zh: "将上下文长度减半启动一次：若仍没有空间，则问题在权重或某个上限，而不在 KV cache。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{confidence, event, first, settled};
    use super::*;
    use crate::dialect::Fact;
    use crate::dialect::Resource;
    use crate::domain::Number;
    use crate::domain::Program;
    use crate::evidence::Span;

    #[test]
    fn a_context_longer_than_the_cache_is_the_cache() {
        let mut event = event(Program::Vllm, Resource::KvCache, &[]);
        event.facts.numbers.insert(Number::MaxModelLen, (65536.0, Span::line(7)));
        event.facts.numbers.insert(Number::KvCacheTokens, (38912.0, Span::line(7)));
        let incident = settled(event);
        assert_eq!(first(&incident), CauseId::KvCache);
        assert!(refute(&incident).en.contains("--max-model-len 32768"));
    }

    /// With half the length it would fail as before, and the right cause would be cleared.
    #[test]
    fn a_context_to_try_is_no_longer_than_the_cache() {
        let mut event = event(Program::Vllm, Resource::KvCache, &[]);
        event.facts.numbers.insert(Number::MaxModelLen, (65536.0, Span::line(7)));
        event.facts.numbers.insert(Number::KvCacheTokens, (9000.0, Span::line(7)));
        assert!(refute(&settled(event)).en.contains("--max-model-len 8992"));
    }

    #[test]
    fn a_cache_that_is_a_share_of_what_is_free_is_as_large_whatever_the_context() {
        let mut event = event(Program::TensorRtLlm, Resource::KvCache, &[(Fact::Free, "41.00 GiB")]);
        event.sign(crate::dialect::Sign::CacheRefused);
        let told = refute(&settled(event)).en;
        assert!(told.contains("free_gpu_memory_fraction") && !told.contains("context"), "{told}");
    }

    #[test]
    fn a_cache_that_nearly_fits_speaks_for_the_fraction() {
        let shares = |needed| {
            let figures = [(Fact::Needed, needed), (Fact::Available, "10.00 GiB")];
            let incident = settled(event(Program::Vllm, Resource::KvCache, &figures));
            confidence(&incident, CauseId::KvCache) / confidence(&incident, CauseId::FrameworkLimit)
        };
        assert!(shares("30.00 GiB") > 2.0 * shares("10.60 GiB"));
    }

    #[test]
    fn a_tensor_of_a_training_job_is_no_cache() {
        let training = super::super::trial::torch(&super::super::trial::FULL_CARD);
        assert!(confidence(&training, CauseId::KvCache) < 0.02);
    }
}
