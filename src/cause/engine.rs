//! Evidence from a serving engine's own account, for several causes: what its share of the device must hold, what the
//! weights left, what an estimate had promised.

use super::reading::{Kind, kind, place, ramp, request_share};
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::estimate::serving::{Budget, Fraction, HIGHEST_SHARE, static_fraction_needed};
use crate::evidence::{Evidence, Span};
use crate::incident::Incident;
use crate::text;
use crate::units::{Bytes, GIB, signed};

fn shown(bytes: f64) -> String {
    signed(bytes as i128)
}

/// Where a number among the facts was printed, or the message.
fn seen_at(incident: &Incident, number: Number) -> Span {
    incident.event.facts.numbers.get(&number).map_or(incident.event.at, |(_, at)| *at)
}

/// A share from which on raising it further gains next to nothing.
const HIGH_SHARE: f64 = 0.88;

/// For *capacity*: the weights alone are too much for what the engine may or can take.
pub fn too_much(incident: &Incident) -> Vec<Evidence> {
    let mut found = Vec::new();
    let event = &incident.event;
    let budget = Budget::of(&event.facts);
    if kind(incident) == Kind::KvCache
        && budget.weights_exceed()
        && let Some(weights) = budget.weights
    {
        let weights = shown(weights);
        found.push(
            Evidence::new(2.4, match budget.room {
                Some(room) if room < 0.0 => {
                    let room = shown(room);
                    text!(en: "the weights take {weights} and leave {room} for the cache: they alone exceed the share", zh: "权重占 {weights}，留给 KV cache 的是 {room}：仅权重就超过了份额")
                }
                _ => text!(en: "the weights of {weights} alone exceed the share", zh: "仅权重 {weights} 就超过了份额"),
            })
            .at(place(event, Fact::Weights)),
        );
    }
    if kind(incident) == Kind::KvCache
        && let (Some(share), Some(room)) = (budget.share, budget.room)
        && share >= HIGH_SHARE
        && room <= 0.0
    {
        found.push(
            Evidence::new(1.4, text!(en: "nothing is left at a share of {share} of the device: there is hardly more to give", zh: "份额已达 {share} 仍无剩余：几乎没有提高的余地"))
                .at(seen_at(incident, Number::GpuMemoryUtilization)),
        );
    }
    if kind(incident) == Kind::Tensor
        && let Some((_, at)) = event.facts.numbers.get(&Number::KvCacheTokens)
    {
        found.push(
            Evidence::new(-1.5, text!(en: "what the tensors hold includes a cache that was sized to fill the share: a full device is the plan here", zh: "张量占用中包含按份额建好的 KV cache：占满设备本就是设计如此"))
                .at(*at),
        );
    }
    if let Some(fraction) = static_fraction_needed(&incident.event) {
        let free = shown(event.facts.number(Number::AvailMem).unwrap_or(0.0));
        let at = seen_at(incident, Number::AvailMem);
        found.push(match fraction {
            Fraction::Possible(_) => {
                Evidence::new(-1.0, text!(en: "{free} were free after the weights: a larger fraction would use them", zh: "加载权重后仍空闲 {free}：提高占比即可使用"))
            }
            Fraction::Impossible => {
                Evidence::new(2.6, text!(en: "only {free} were free after the weights: no fraction leaves room for a cache and for the work beside it", zh: "加载权重后只剩 {free}：任何占比都无法同时容纳 KV cache 和计算所需"))
            }
        }
        .at(at));
    }
    if kind(incident) == Kind::WeightBuffers
        && !event.has(Sign::CacheRefused)
        && let (Some(requested), Some(free)) =
            (event.facts.get(Fact::Requested), event.facts.number(Number::DeviceFreeAtStart))
        && requested.bytes as f64 > free
    {
        let (want, free) = (Bytes(requested.bytes), shown(free));
        found.push(
            Evidence::new(2.0, text!(en: "one buffer of {want} is more than the {free} that were free before anything was loaded", zh: "单个缓冲区 {want} 已超过加载前的空闲量 {free}"))
                .at(requested.at),
        );
    }
    found
}

/// For *a limit*: the engine's share or its own estimate was in the way, and the device has more.
pub fn share_too_small(incident: &Incident) -> Vec<Evidence> {
    let mut found = Vec::new();
    let event = &incident.event;
    let budget = Budget::of(&event.facts);
    if kind(incident) == Kind::KvCache {
        let by_share = event.has(Sign::EngineStartup)
            && event.program.sizes_pool_by_device()
            && budget.share.is_none_or(|share| share < HIGH_SHARE);
        if by_share && budget.tokens.is_none() && event.facts.get(Fact::Needed).is_none() {
            found.push(
                Evidence::new(1.0, text!(en: "nothing was left for the cache under the share of the device that is set", zh: "在所设显存占比下没有给缓存留下空间"))
                    .at(event.at),
            );
        }
        if let Some(share) = budget.share.filter(|share| *share < HIGH_SHARE) {
            found.push(
                Evidence::new(
                    1.0,
                    text!(en: "the engine may use only {share} of the device", zh: "引擎只被允许使用设备的 {share}"),
                )
                .at(seen_at(incident, Number::GpuMemoryUtilization)),
            );
        }
        if let (Some(needed), Some(available)) = (event.facts.get(Fact::Needed), event.facts.get(Fact::Available))
            && needed.bytes < available.bytes.saturating_mul(3) / 2
            && budget.share.is_none_or(|share| share < HIGHEST_SHARE)
        {
            let missing = needed.bytes.saturating_sub(available.bytes);
            // A twentieth of a share is 1.2 GiB of a 24 GiB card, 4 GiB of an 80 GiB one.
            let weight = if missing <= GIB { 2.2 } else { 1.3 };
            let missing = Bytes(missing);
            found.push(
                Evidence::new(weight, text!(en: "only {missing} were missing: a slightly larger share of the device would do", zh: "只差 {missing}：略微提高显存占比即可"))
                    .at(available.at),
            );
        }
        if let Some(Fraction::Possible(fraction)) = static_fraction_needed(&incident.event) {
            found.push(
                Evidence::new(1.5, text!(en: "by what was free before and after the weights, a static fraction of {fraction} leaves room for the cache", zh: "按加载权重前后的空闲量计算，占比 {fraction} 即可为 KV cache 留出空间"))
                    .at(seen_at(incident, Number::AvailMem)),
            );
        }
    }
    if let (Some(partial), Some(free)) =
        (event.facts.number(Number::RequiredPartial), event.facts.number(Number::EstimatedFree))
        && partial <= free
        && event.program == Program::Ollama
    {
        let (partial, free) = (shown(partial), shown(free));
        found.push(
            Evidence::new(3.0, text!(en: "Ollama had estimated {partial} for what it put on the device, of {free} free, and it did not fit: its estimate is what was too low", zh: "Ollama 估算放到设备上的部分需 {partial}，空闲 {free}，实际却放不下：是它的估算偏低"))
                .at(seen_at(incident, Number::RequiredPartial)),
        );
    }
    if event.has(Sign::ModelBeyondRam)
        && let Some(free) = event.facts.get(Fact::Free)
        && just_below_a_limit(free.bytes)
    {
        let shown = Bytes(free.bytes);
        found.push(
            Evidence::new(2.4, text!(en: "{shown} available is just below a round size that containers are given: the limit is likely the container's, not the machine's", zh: "可用 {shown} 略低于容器常用的整数上限：很可能是容器的限制，而不是整机内存"))
                .at(free.at),
        );
    }
    found
}

/// True within a twentieth below 4, 8, 16 … GiB. A quarter of all values up to 64 GiB would be; of 2 GiB and less see
/// [`crowded_out`].
fn just_below_a_limit(bytes: u64) -> bool {
    (2..=6).map(|power| GIB << power).any(|limit| bytes <= limit && bytes >= limit - limit / 20)
}

/// For *other processes*: so little was left that somebody else must hold the rest.
pub fn crowded_out(incident: &Incident) -> Vec<Evidence> {
    let mut found = Vec::new();
    let event = &incident.event;
    if event.has(Sign::ModelBeyondRam)
        && let Some(free) = event.facts.get(Fact::Free).filter(|free| free.bytes < 5 * GIB / 2)
    {
        let shown = Bytes(free.bytes);
        found.push(
            Evidence::new(3.2, text!(en: "only {shown} of RAM were available, less than any machine that serves models has: other programs hold the rest", zh: "可用内存只有 {shown}，低于任何用来跑模型的机器的容量：其余被其他程序占用"))
                .at(free.at),
        );
    }
    if event.has(Sign::UnevenDevices) {
        found.push(
            Evidence::new(3.5, text!(en: "one of the devices has less free than the others before anything was loaded", zh: "加载任何内容之前，其中一张卡的空闲量就少于其他卡"))
                .at(event.at),
        );
    }
    if kind(incident) == Kind::WeightBuffers
        && event.has(Sign::EngineStartup)
        && event.has(Sign::WeightsBuffer)
        // What was loaded before it stands in the words of the program that failed.
        && !event.has(Sign::PassedOn)
        && event.facts.get(Fact::Weights).is_none()
        && let Some(requested) = event.facts.get(Fact::Requested).filter(|requested| requested.bytes < 2 * GIB)
    {
        let want = Bytes(requested.bytes);
        found.push(
            Evidence::new(1.6, text!(en: "not even the first buffer, {want} of weights, found room: the device was nearly full before", zh: "连第一个权重缓冲区 {want} 都放不下：设备此前就已接近占满"))
                .at(requested.at),
        );
    }
    found
}

/// For *a peak*: the pools were there, the work beside them was not foreseen.
pub fn beside_the_pool(incident: &Incident) -> Vec<Evidence> {
    let mut found = Vec::new();
    let event = &incident.event;
    if event.has(Sign::WhileServing) {
        found.push(
            Evidence::new(2.4, text!(en: "it failed while serving, after weights, cache and graphs had found their place: the work on one batch was too much", zh: "失败发生在服务期间，权重、KV cache 和计算图都已就位：是某个批次的计算超出了余量"))
                .at(event.at),
        );
    }
    if kind(incident) == Kind::Tensor
        && let Some((_, at)) = event.facts.numbers.get(&Number::KvCacheTokens)
    {
        // A large request is the work on a long prompt or a full batch; a small one only finds what the pool left.
        let weight = ramp(request_share(incident).unwrap_or(0.02), &[(0.005, 0.8), (0.04, 3.2)]);
        found.push(
            Evidence::new(weight, text!(en: "the cache had been sized before: what failed is the work beside it, which grows with the batch and the length", zh: "KV cache 此前已分配好：失败的是池外的计算，它随批次和长度增长"))
                .at(*at),
        );
    }
    found
}

/// For *a pool that took the device*: the cache had been sized, and what comes after finds nothing.
pub fn pool_took_it(incident: &Incident) -> Vec<Evidence> {
    let mut found = Vec::new();
    let event = &incident.event;
    if kind(incident) == Kind::Tensor
        && let Some((_, at)) = event.facts.numbers.get(&Number::KvCacheTokens)
    {
        let weight = ramp(request_share(incident).unwrap_or(0.02), &[(0.005, 2.8), (0.04, 1.4)]);
        found.push(
            Evidence::new(weight, text!(en: "an engine had taken its share for weights and cache before this request", zh: "在该请求之前，引擎已按份额为权重和 KV cache 占用了设备"))
                .at(*at),
        );
    }
    if event.has(Sign::CacheRefused)
        && event.has(Sign::EngineStartup)
        && event.resource == Resource::KvCache
        && let Some(free) = event.facts.get(Fact::Free)
    {
        let shown = Bytes(free.bytes);
        found.push(
            Evidence::new(2.2, text!(en: "the cache is a share of the {shown} that were free, and that share could not be had", zh: "KV cache 按当时空闲的 {shown} 的一定比例分配，而这一比例未能满足"))
                .at(free.at),
        );
    }
    found
}

/// For *the cache*: the part that failed is the cache itself.
pub fn the_cache_itself(incident: &Incident) -> Vec<Evidence> {
    let event = &incident.event;
    if let Some((room, at)) = event.facts.numbers.get(&Number::KvAvailable).filter(|(room, _)| *room < 0.0) {
        let room = shown(*room);
        return vec![
            Evidence::new(-1.2, text!(en: "{room} is left before a single token is cached: the length of the context is not the matter", zh: "在缓存任何 token 之前可用量就是 {room}：与上下文长度无关"))
                .at(*at),
        ];
    }
    if !event.has(Sign::CacheRefused) {
        return Vec::new();
    }
    vec![
        Evidence::new(
            2.4,
            text!(en: "what could not be allocated is the KV cache itself", zh: "分配失败的正是 KV cache 本身"),
        )
        .at(place(event, Fact::Requested)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::CauseId;
    use super::super::trial::{confidence, event, first, settled};
    use super::*;

    fn cache(figures: &[(Fact, &str)], numbers: &[(Number, f64)], program: Program) -> Incident {
        let mut event = event(program, Resource::KvCache, figures);
        for (number, value) in numbers {
            event.facts.numbers.insert(*number, (*value, Span::line(3)));
        }
        settled(event)
    }

    #[test]
    fn weights_beyond_the_share_are_a_matter_of_capacity() {
        let lack = |room: f64, share| {
            let numbers = [(Number::KvAvailable, room * GIB as f64), (Number::GpuMemoryUtilization, share)];
            cache(&[(Fact::Weights, "28.00 GiB")], &numbers, Program::Vllm)
        };
        assert_eq!(first(&lack(-9.0, 0.92)), CauseId::Capacity);
        assert_eq!(first(&lack(-1.0, 0.5)), CauseId::FrameworkLimit);
    }

    #[test]
    fn what_the_weights_leave_decides_over_the_static_fraction() {
        let left = |before: f64, after: f64| {
            let g = GIB as f64;
            cache(&[], &[(Number::FreeBeforeWeights, before * g), (Number::AvailMem, after * g)], Program::Sglang)
        };
        assert_eq!(static_fraction_needed(&left(78.0, 20.0).event), Some(Fraction::Possible(0.76)));
        assert_eq!(first(&left(78.0, 20.0)), CauseId::FrameworkLimit);
        assert_eq!(first(&left(23.0, 1.5)), CauseId::Capacity);
    }

    #[test]
    fn an_estimate_that_did_not_hold_is_the_programs_own() {
        let mut event = event(Program::Ollama, Resource::Gpu, &[]);
        event.facts.numbers.insert(Number::RequiredPartial, (9e9, Span::line(2)));
        event.facts.numbers.insert(Number::EstimatedFree, (9.5e9, Span::line(2)));
        assert_eq!(first(&settled(event)), CauseId::FrameworkLimit);
    }

    #[test]
    fn ram_just_below_a_round_size_is_a_containers() {
        let asked = |free: &'static str| {
            let mut event =
                event(Program::Ollama, Resource::Host, &[(Fact::Requested, "9.10 GiB"), (Fact::Free, free)]);
            event.sign(Sign::ModelBeyondRam);
            settled(event)
        };
        assert_eq!(first(&asked("7.8 GiB")), CauseId::FrameworkLimit);
        assert_eq!(first(&asked("5.6 GiB")), CauseId::HostMemory);
        assert_eq!(first(&asked("1.1 GiB")), CauseId::OtherProcess);
        assert!(confidence(&asked("5.6 GiB"), CauseId::FrameworkLimit) < 0.3);
    }
}
