//! A serving engine's own account: its share of the device, the weights, the cache.

use super::pool::announced;
use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker};
use crate::cause::reading::{place, request_share, size};
use crate::dialect::{Fact, Sign};
use crate::domain::{Number, Program, Resource};
use crate::estimate::serving::{Budget, Fraction, HIGHEST_SHARE, static_fraction_needed};
use crate::evidence::Span;
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::text;
use crate::units::{Bytes, Figure, GIB, percent, signed};

/// A share from which on raising it further gains next to nothing.
const HIGH_SHARE: f64 = 0.88;

fn seen_at(incident: &Incident, number: Number) -> Span {
    incident.event.facts.numbers.get(&number).map_or(incident.event.at, |(_, at)| *at)
}

/// With a high share there is hardly more to give.
fn nothing_left(budget: &Budget) -> &'static str {
    let high = budget.share.is_some_and(|share| share >= HIGH_SHARE);
    if high { "nothing-left-of-a-high-share" } else { "nothing-left" }
}

/// What the cache needs against what is left for it.
pub const CACHE_NEED: Mechanism = Mechanism {
    id: "cache-need",
    levels: &[
        "weights-exceed",
        "nothing-left",
        "nothing-left-of-a-high-share",
        "little-missing",
        "much-missing",
        "context-too-long",
        "cache-itself",
        "before-the-cache",
    ],
    read: |incident| {
        let event = &incident.event;
        if event.has(Sign::CacheRefused) {
            return Some(
                Reading::new(
                    "cache-itself",
                    text!(en: "what could not be allocated is the KV cache itself", zh: "分配失败的正是 KV cache 本身"),
                )
                .at(event.at),
            );
        }
        if let Some(at) = incident.context.profiles_an_engine() {
            return Some(
                Reading::new(
                    "before-the-cache",
                    text!(
                        en: "the engine ran its largest batch to measure what is left for the cache: no cache was \
                             made yet",
                        zh: "引擎正以最大批次试运行来测量可留给缓存的空间：此时尚未分配 KV cache"
                    ),
                )
                .at(at),
            );
        }
        if asker(incident) != Asker::KvCache {
            return None;
        }
        let budget = Budget::of(&event.facts);
        if budget.weights_exceed()
            && let Some(weights) = budget.weights
        {
            let weights = signed(weights as i128);
            return Some(
                Reading::new(
                    "weights-exceed",
                    text!(
                        en: "the weights of {weights} alone exceed the engine's share of the device",
                        zh: "仅权重 {weights} 就超过了引擎的份额"
                    ),
                )
                .at(place(event, Fact::Weights)),
            );
        }
        if let Some(room) = budget.room.filter(|room| *room <= 0.0) {
            let room = signed(room as i128);
            return Some(
                Reading::new(nothing_left(&budget), text!(
                    en: "{room} is left before a single token is cached: the length of the context is not the matter",
                    zh: "在缓存任何 token 之前可用量就是 {room}：与上下文长度无关"
                ))
                    .at(seen_at(incident, Number::KvAvailable)),
            );
        }
        if let (Some(needed), Some(available)) = (event.facts.get(Fact::Needed), event.facts.get(Fact::Available))
            && needed.interval().surely_at_least(available.interval())
        {
            // A twentieth of a share is 1.2 GiB of a 24 GiB card, 4 GiB of an 80 GiB one.
            let little = needed.bytes < available.bytes.saturating_mul(3) / 2;
            let (need, have) = (size(needed.interval()), size(available.interval()));
            return Some(
                Reading::new(
                    if little { "little-missing" } else { "much-missing" },
                    text!(
                        en: "one full-length request needs {need} of cache; {have} are left for it",
                        zh: "单个满长度请求需要 {need} 缓存，而可用 {have}"
                    ),
                )
                .at(needed.at)
                .at(available.at),
            );
        }
        if let (Some((length, at)), Some((tokens, held))) =
            (event.facts.numbers.get(&Number::MaxModelLen), event.facts.numbers.get(&Number::KvCacheTokens))
            && length > tokens
        {
            let (length, tokens) = (*length as u64, *tokens as u64);
            return Some(
                Reading::new(
                    "context-too-long",
                    text!(
                        en: "a context of {length} tokens is configured; the cache holds {tokens}",
                        zh: "配置的上下文为 {length} 个 token，而缓存只能容纳 {tokens} 个"
                    ),
                )
                .at(*at)
                .at(*held),
            );
        }
        (event.has(Sign::EngineStartup) && budget.tokens.is_none() && event.facts.get(Fact::Needed).is_none()).then(
            || {
                Reading::new(
                    nothing_left(&budget),
                    text!(
                        en: "the engine found no memory for its cache; the log does not say how much it may \
                             take, nor how much was free",
                        zh: "引擎没有可用于缓存的显存；日志未说明它可用多少、当时空闲多少"
                    ),
                )
                .at(event.at)
                .untold()
            },
        )
    },
};

/// The engine's share of the device, and whether another one would do.
pub const ENGINE_SHARE: Mechanism = Mechanism {
    id: "engine-share",
    levels: &["low", "high", "another-would-do", "none-would-do"],
    read: |incident| {
        if asker(incident) != Asker::KvCache {
            return None;
        }
        match static_fraction_needed(&incident.event) {
            Some(Fraction::Possible(fraction)) => {
                return Some(
                    Reading::new(
                        "another-would-do",
                        text!(
                            en: "by what was free before and after the weights, a static fraction of {fraction} leaves \
                                 room for the cache",
                            zh: "按加载权重前后的空闲量计算，占比 {fraction} 即可为 KV cache 留出空间"
                        ),
                    )
                    .at(seen_at(incident, Number::AvailMem)),
                );
            }
            Some(Fraction::Impossible) => {
                let free = signed(incident.event.facts.number(Number::AvailMem).unwrap_or(0.0) as i128);
                return Some(
                    Reading::new(
                        "none-would-do",
                        text!(
                            en: "only {free} were free after the weights: no fraction leaves room for a cache and for \
                                 the work beside it",
                            zh: "加载权重后只剩 {free}：任何占比都无法同时容纳 KV cache 和计算所需"
                        ),
                    )
                    .at(seen_at(incident, Number::AvailMem)),
                );
            }
            None => {}
        }
        let budget = Budget::of(&incident.event.facts);
        let share = budget.share?;
        let at = seen_at(incident, Number::GpuMemoryUtilization);
        Some(if share < HIGH_SHARE {
            Reading::new(
                "low",
                text!(en: "the engine may use only {share} of the device", zh: "引擎只被允许使用设备的 {share}"),
            )
            .at(at)
        } else if share < HIGHEST_SHARE {
            Reading::new(
                "high",
                text!(
                    en: "the engine may use {share} of the device: there is hardly more to give",
                    zh: "引擎的份额已达 {share}：几乎没有提高的余地"
                ),
            )
            .at(at)
        } else {
            return None;
        })
    },
};

/// A cache of keys and values in a program that no reader knows as an engine.
pub const KEYS_AND_VALUES: Mechanism = Mechanism {
    id: "keys-and-values",
    levels: &["made-here", "announced", "grows", "passed-on"],
    read: |incident| {
        if !matches!(asker(incident), Asker::Tensor | Asker::Engine) {
            return None;
        }
        let clue = |clue| incident.context.clues.get(&clue).copied();
        if let Some(span) = clue(Clue::AllocatesCache) {
            return Some(
                Reading::new(
                    "made-here",
                    text!(en: "the failing line makes a KV cache", zh: "失败处正在创建 KV cache"),
                )
                .at(span),
            );
        }
        if let Some((pool, share)) = announced(incident, true) {
            let (size, part) = (Bytes(pool.bytes as u64), percent(share));
            return Some(
                Reading::new(
                    "announced",
                    text!(
                        en: "the log announces a KV cache of {size}, {part} of the device",
                        zh: "日志声明 KV cache 为 {size}，即设备的 {part}"
                    ),
                )
                .at(Span::line(pool.line)),
            );
        }
        let span = clue(Clue::ServesWithCache)?;
        let rises = super::growth::rising(incident);
        Some(if rises {
            Reading::new(
                "grows",
                text!(
                    en: "requests are answered with KV caches, and what is held rises",
                    zh: "请求使用 KV cache 处理，且占用持续上升"
                ),
            )
            .at(span)
        } else {
            Reading::new(
                "passed-on",
                text!(en: "a KV cache is passed on from token to token", zh: "KV cache 逐 token 传递"),
            )
            .at(span)
        })
    },
};

/// An engine had sized its pools; the work beside them failed.
pub const POOL_SIZED: Mechanism = Mechanism {
    id: "cache-sized-before",
    levels: &["small-request", "large-request", "while-serving"],
    read: |incident| {
        let event = &incident.event;
        if event.has(Sign::WhileServing) {
            return Some(
                Reading::new(
                    "while-serving",
                    text!(
                        en: "it was the scheduler that failed, which works on batches once weights, cache and graphs \
                             have their place",
                        zh: "失败的是调度器：权重、KV cache 和 CUDA Graph 就位之后，由它处理各个批次"
                    ),
                )
                .at(event.at),
            );
        }
        let of_tensors = matches!(asker(incident), Asker::Tensor | Asker::Engine);
        let (_, at) = event.facts.numbers.get(&Number::KvCacheTokens).filter(|_| of_tensors)?;
        // A large request is the work on a long prompt or a full batch; a small one only finds what the pool left.
        let large = request_share(incident).unwrap_or(0.0) >= 0.02;
        Some(
            Reading::new(
                if large { "large-request" } else { "small-request" },
                text!(
                    en: "the cache had been sized to fill the share before: what failed is the work beside it, which \
                         grows with the batch and the length",
                    zh: "KV cache 此前已按份额分配好：失败的是池外的计算，它随批次和长度增长"
                ),
            )
            .at(*at),
        )
    },
};

/// The limit of the job, or what the program found free, or the machine's memory where neither is printed.
fn there_for_the_job(incident: &Incident) -> Option<Figure> {
    let (facts, context) = (&incident.event.facts, &incident.context);
    let limit = facts.get(Fact::Limit).or(context.memory_limit.get().copied());
    let free = || context.announced_free.get().copied();
    limit.or_else(free).or_else(|| facts.get(Fact::Capacity).or(context.host_total.get().copied()))
}

/// A program's own estimate of what it puts on the device, and what it found there.
pub const ESTIMATE: Mechanism = Mechanism {
    id: "own-estimate",
    levels: &[
        "was-too-low",
        "buffer-beyond-free",
        "first-buffer",
        "uneven-devices",
        "beyond-what-there-is",
        "beyond-the-device",
        "beyond-what-was-free",
    ],
    read: |incident| {
        let event = &incident.event;
        if event.resource.on_host()
            && let Some(need) = incident.context.announced_need.get()
            && let Some(there) = there_for_the_job(incident)
            && need.bytes > there.bytes
        {
            let (want, all) = (Bytes(need.bytes), Bytes(there.bytes));
            return Some(
                Reading::new(
                    "beyond-what-there-is",
                    text!(
                        en: "the program itself had estimated at least {want}, more than the {all} there were for it",
                        zh: "程序自己估算至少需要 {want}，多于可供它使用的 {all}"
                    ),
                )
                .at(need.at)
                .at(there.at),
            );
        }
        if let (Some(need), Some(free)) = (event.facts.get(Fact::Needed), event.facts.get(Fact::Free))
            && event.program == Program::LlamaCpp
            && event.resource == Resource::Gpu
            && need.bytes > free.bytes
        {
            let all = incident.ledger.capacity.map_or(0, |all| all.high);
            let level =
                if i128::from(need.bytes) > all && all > 0 { "beyond-the-device" } else { "beyond-what-was-free" };
            let (want, left) = (Bytes(need.bytes), Bytes(free.bytes));
            return Some(
                Reading::new(
                    level,
                    text!(
                        en: "the program itself had projected {want}, where {left} were free, before it took anything",
                        zh: "程序在占用任何内存之前就预计需要 {want}，而空闲只有 {left}"
                    ),
                )
                .at(need.at)
                .at(free.at),
            );
        }
        if event.has(Sign::UnevenDevices) {
            return Some(
                Reading::new(
                    "uneven-devices",
                    text!(
                        en: "one of the devices has less free than the others before anything was loaded",
                        zh: "加载任何内容之前，其中一张卡的空闲量就少于其他卡"
                    ),
                )
                .at(event.at),
            );
        }
        if let (Some(partial), Some(free)) =
            (event.facts.number(Number::RequiredPartial), event.facts.number(Number::EstimatedFree))
            && partial <= free
        {
            let (partial, free) = (signed(partial as i128), signed(free as i128));
            return Some(
                Reading::new(
                    "was-too-low",
                    text!(
                        en: "the program had estimated {partial} for what it put on the device, of {free} free, and it \
                             did not fit: its estimate is what was too low",
                        zh: "程序估算放到设备上的部分需 {partial}，空闲 {free}，实际却放不下：是它的估算偏低"
                    ),
                )
                .at(seen_at(incident, Number::RequiredPartial))
                .at(seen_at(incident, Number::EstimatedFree)),
            );
        }
        if asker(incident) != Asker::WeightBuffers || event.has(Sign::CacheRefused) {
            return None;
        }
        let requested = event.facts.get(Fact::Requested)?;
        if let Some(free) = event.facts.number(Number::DeviceFreeAtStart)
            && requested.bytes as f64 > free
        {
            let (want, free) = (Bytes(requested.bytes), signed(free as i128));
            return Some(
                Reading::new(
                    "buffer-beyond-free",
                    text!(
                        en: "one buffer of {want} is more than the {free} that were free before anything was loaded",
                        zh: "单个缓冲区 {want} 已超过加载前的空闲量 {free}"
                    ),
                )
                .at(seen_at(incident, Number::DeviceFreeAtStart))
                .at(requested.at),
            );
        }
        (event.has(Sign::WeightsBuffer)
            && event.has(Sign::EngineStartup)
            && !event.has(Sign::PassedOn)
            && event.facts.get(Fact::Weights).is_none()
            && requested.bytes < 2 * GIB)
            .then(|| {
                let want = Bytes(requested.bytes);
                Reading::new(
                    "first-buffer",
                    text!(
                        en: "a buffer of {want} of weights found no room, which an idle device mostly has",
                        zh: "{want} 的权重缓冲区放不下，而空闲的设备通常都有这么多"
                    ),
                )
                .at(requested.at)
            })
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, settled, torch};
    use crate::dialect::Resource;
    use crate::domain::Program;

    fn cache(figures: &[(Fact, &str)], numbers: &[(Number, f64)]) -> Incident {
        let mut event = event(Program::Vllm, Resource::KvCache, figures);
        for (name, value) in numbers {
            event.facts.numbers.insert(*name, (*value, Span::line(3)));
        }
        settled(event)
    }

    #[test]
    fn the_caches_need() {
        let g = GIB as f64;
        let weights = [(Fact::Weights, "28.00 GiB")];
        assert_eq!(level(&CACHE_NEED, &cache(&weights, &[(Number::KvAvailable, -9.0 * g)])), Some("weights-exceed"));
        assert_eq!(level(&CACHE_NEED, &cache(&weights, &[(Number::KvAvailable, -g)])), Some("nothing-left"));
        let high = cache(&weights, &[(Number::KvAvailable, -g), (Number::GpuMemoryUtilization, 0.92)]);
        assert_eq!(level(&CACHE_NEED, &high), Some("nothing-left-of-a-high-share"));
        let need = |needed, available| cache(&[(Fact::Needed, needed), (Fact::Available, available)], &[]);
        assert_eq!(level(&CACHE_NEED, &need("4.00 GiB", "3.50 GiB")), Some("little-missing"));
        assert_eq!(level(&CACHE_NEED, &need("14.00 GiB", "3.50 GiB")), Some("much-missing"));
        let long = cache(&[], &[(Number::MaxModelLen, 8192.0), (Number::KvCacheTokens, 4096.0)]);
        assert_eq!(level(&CACHE_NEED, &long), Some("context-too-long"));
        let mut buffer = event(Program::LlamaCpp, Resource::Gpu, &[]);
        buffer.sign(Sign::CacheRefused);
        assert_eq!(level(&CACHE_NEED, &settled(buffer)), Some("cache-itself"));
    }

    #[test]
    fn the_engines_share() {
        for (share, want) in [(0.5, Some("low")), (0.9, Some("high")), (0.98, None)] {
            assert_eq!(level(&ENGINE_SHARE, &cache(&[], &[(Number::GpuMemoryUtilization, share)])), want);
        }
        let left = |before: f64, after: f64| {
            let g = GIB as f64;
            let mut incident = cache(&[], &[(Number::FreeBeforeWeights, before * g), (Number::AvailMem, after * g)]);
            incident.event.program = Program::Sglang;
            incident
        };
        assert_eq!(level(&ENGINE_SHARE, &left(78.0, 20.0)), Some("another-would-do"));
        assert_eq!(level(&ENGINE_SHARE, &left(23.0, 1.5)), Some("none-would-do"));
    }

    #[test]
    fn work_beside_a_sized_cache() {
        let beside = |requested| {
            let mut incident = torch(&[(Fact::Requested, requested), (Fact::Capacity, "24.00 GiB")]);
            incident.event.facts.numbers.insert(Number::KvCacheTokens, (1e5, Span::line(2)));
            level(&POOL_SIZED, &incident)
        };
        assert_eq!(beside("20.00 MiB"), Some("small-request"));
        assert_eq!(beside("2.00 GiB"), Some("large-request"));
        let mut serving = torch(&[]);
        serving.event.sign(Sign::WhileServing);
        assert_eq!(level(&POOL_SIZED, &serving), Some("while-serving"));
    }

    #[test]
    fn estimates_and_first_buffers() {
        let mut low = event(Program::Ollama, Resource::Gpu, &[]);
        low.facts.numbers.insert(Number::RequiredPartial, (9e9, Span::line(2)));
        low.facts.numbers.insert(Number::EstimatedFree, (9.5e9, Span::line(2)));
        assert_eq!(level(&ESTIMATE, &settled(low)), Some("was-too-low"));
        let mut beyond = event(Program::LlamaCpp, Resource::Gpu, &[(Fact::Requested, "8.00 GiB")]);
        beyond.facts.numbers.insert(Number::DeviceFreeAtStart, (5e9, Span::line(2)));
        assert_eq!(level(&ESTIMATE, &settled(beyond)), Some("buffer-beyond-free"));
        let mut first = event(Program::LlamaCpp, Resource::Gpu, &[(Fact::Requested, "500.00 MiB")]);
        first.sign(Sign::WeightsBuffer);
        first.sign(Sign::EngineStartup);
        assert_eq!(level(&ESTIMATE, &settled(first)), Some("first-buffer"));
        let mut uneven = event(Program::Sglang, Resource::Gpu, &[]);
        uneven.sign(Sign::UnevenDevices);
        assert_eq!(level(&ESTIMATE, &settled(uneven)), Some("uneven-devices"));
    }

    #[test]
    fn a_cache_of_keys_and_values_is_seen_without_an_engine() {
        let mut incident = torch(&crate::cause::trial::FULL_CARD);
        assert_eq!(level(&KEYS_AND_VALUES, &incident), None);
        incident.context.clues.insert(Clue::ServesWithCache, Span::line(5));
        assert_eq!(level(&KEYS_AND_VALUES, &incident), Some("passed-on"));
        let samples = (1..9u64).map(|i| (i, (i * GIB) as f64)).collect();
        let unit = crate::incident::context::Unit::Bytes;
        incident.context.trends =
            vec![crate::incident::context::Trend { label: "occupied".into(), unit, free: false, samples }];
        assert_eq!(level(&KEYS_AND_VALUES, &incident), Some("grows"));
        let large = |bytes| crate::incident::context::AnnouncedPool {
            line: 3,
            bytes,
            of_keys_and_values: true,
            of_tensorflow: false,
        };
        incident.context.pools = vec![large(1.0 * GIB as f64)];
        assert_eq!(level(&KEYS_AND_VALUES, &incident), Some("grows"), "a sixteenth of the device decides nothing");
        incident.context.pools = vec![large(12.0 * GIB as f64)];
        assert_eq!(level(&KEYS_AND_VALUES, &incident), Some("announced"));
        incident.context.clues.insert(Clue::AllocatesCache, Span::line(6));
        assert_eq!(level(&KEYS_AND_VALUES, &incident), Some("made-here"));
    }
}
