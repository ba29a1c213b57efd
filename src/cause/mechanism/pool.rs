//! Pools that are taken at start.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker, on_gpu, takes_share_of_free, warms_up_before_its_pool};
use crate::cause::reading::{place, request_share, short_of_desired, size, whole};
use crate::dialect::{Fact, Sign};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::incident::Incident;
use crate::incident::context::{AnnouncedPool, Clue};
use crate::text;
use crate::units::{Bytes, GIB, about, percent};

/// The share of the device's memory that XLA and TensorFlow reserve at start: 0.75 of the total since jaxlib 0.4.1, 0.9
/// of what is free before.
const POOL_SHARES: [f64; 2] = [0.75, 0.9];

/// From this share of the device on, a request of such a framework is its pool: no tensor is cut to the device's size.
const WHOLE: f64 = 0.94;

/// From this share of the device on, what is set aside decides what the rest gets.
const LARGE_POOL: f64 = 0.4;

/// The largest pool that the log announces, or the largest cache of keys and values, where it is a large part of the
/// device, and that part.
pub(crate) fn announced(incident: &Incident, of_keys_and_values: bool) -> Option<(AnnouncedPool, f64)> {
    let capacity = incident.ledger.capacity.filter(|_| on_gpu(incident))?.middle().max(1) as f64;
    // TensorFlow's own failures tell of its pool by figures of theirs.
    let own = |pool: &&AnnouncedPool| pool.of_tensorflow && incident.event.program == Program::Tensorflow;
    let pools = incident.context.pools.iter().filter(|pool| pool.of_keys_and_values == of_keys_and_values);
    let pools = pools.filter(|pool| !own(pool));
    let most = pools.max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let share = most.bytes / capacity;
    (share >= LARGE_POOL).then_some((*most, share))
}

/// TensorFlow's pool in the process of another framework, where it is most of what that one finds taken.
pub(super) fn of_tensorflow_beside(incident: &Incident, taken: u64) -> bool {
    let beside = announced(incident, false).filter(|(pool, _)| pool.of_tensorflow);
    beside.is_some_and(|(pool, _)| pool.bytes >= taken as f64 * 0.75)
}

/// True for a request as large as the device, and no larger within the rounding.
fn all_of_it(incident: &Incident, share: f64) -> bool {
    let beyond = incident
        .ledger
        .requested
        .zip(whole(incident))
        .is_none_or(|(asked, all)| asked.low > all.high + all.high / 1000);
    share >= WHOLE && !beyond
}

/// True where what was asked for is a framework's pool itself: no part of it is a tensor that could be smaller.
pub fn is_requested(incident: &Incident) -> bool {
    (POOL.read)(incident).is_some_and(|reading| {
        matches!(reading.level, "taken-at-start" | "being-made" | "own-piece" | "committed-heap" | "share-of-free")
    })
}

/// True where a pool asks for pieces of a size that is set, whatever it was asked for itself: Paddle's of 2018.
pub(super) fn is_own_piece(incident: &Incident) -> bool {
    incident.event.program == Program::Paddle && incident.event.has(Sign::PoolCreation)
}

/// A framework's pool that took, or tries to take, the device.
pub const POOL: Mechanism = Mechanism {
    id: "pool",
    levels: &[
        "taken-at-start",
        "growth-refused",
        "being-made",
        "own-piece",
        "configured",
        "committed-heap",
        "share-of-free",
        "announced",
    ],
    read: |incident| {
        let event = &incident.event;
        if is_own_piece(incident) {
            return Some(
                Reading::new(
                    "own-piece",
                    text!(
                        en: "what was asked for is a piece of the pool, a set share of the device, whatever the \
                             program needed",
                        zh: "所申请的是内存池自身的一块，即设备的固定比例，与程序实际需要多少无关"
                    ),
                )
                .at(event.at),
            );
        }
        if event.has(Sign::PoolCreation) {
            return Some(
                Reading::new(
                    "being-made",
                    text!(
                        en: "the pool itself was being made: its configured size is more than the device can give",
                        zh: "失败发生在创建内存池时：配置的池大小超过设备所能提供"
                    ),
                )
                .at(event.at),
            );
        }
        if event.has(Sign::HeapCommit)
            && let Some(requested) = event.facts.get(Fact::Requested).filter(|requested| requested.bytes >= GIB)
        {
            let want = size(requested.interval());
            return Some(
                Reading::new(
                    "committed-heap",
                    text!(
                        en: "the virtual machine sets its heap of {want} aside at start, before the program needs it",
                        zh: "虚拟机在启动时就预留 {want} 的堆，而程序此时并不需要"
                    ),
                )
                .at(requested.at),
            );
        }
        if takes_share_of_free(incident)
            && let Some(free) = event.facts.get(Fact::Free)
        {
            let shown = size(free.interval());
            return Some(
                Reading::new(
                    "share-of-free",
                    text!(
                        en: "the cache is a share of the {shown} that were free, and that share could not be had",
                        zh: "KV cache 按当时空闲的 {shown} 的一定比例分配，而这一比例未能满足"
                    ),
                )
                .at(free.at),
            );
        }
        if asker(incident) == Asker::PooledTensor
            && let Some(share) = request_share(incident)
            && (POOL_SHARES.iter().any(|pool| (share - pool).abs() < 0.01) || all_of_it(incident, share))
        {
            let part = percent(share);
            let want = incident.ledger.requested.map_or_else(String::new, |requested| size(requested).to_string());
            return Some(
                Reading::new(
                    "taken-at-start",
                    text!(
                        en: "{want} is {part} of the device: the pool that is taken at start, not a tensor",
                        zh: "{want} 恰为设备的 {part}：这是启动时预占的内存池，而不是张量"
                    ),
                )
                .at(place(event, Fact::Requested)),
            );
        }
        if event.has(Sign::PoolGrowthRefused) {
            return Some(
                Reading::new(
                    "growth-refused",
                    text!(
                        en: "it is the driver that refused the pool's own growth, not an operation that found the pool \
                             full",
                        zh: "被驱动拒绝的是内存池自身的增长，而不是某个算子发现内存池已满"
                    ),
                )
                .at(event.at),
            );
        }
        if let Some((pool, part)) = announced(incident, false) {
            let (size, part) = (Bytes(pool.bytes as u64), percent(part));
            return Some(
                Reading::new(
                    "announced",
                    text!(
                        en: "the program said that it takes {size}, {part} of the device, for a pool of its own",
                        zh: "程序声明为自己的内存池占用 {size}，即设备的 {part}"
                    ),
                )
                .at(Span::line(pool.line)),
            );
        }
        (event.facts.numbers.contains_key(&Number::PoolConfigured) && !event.has(Sign::RefusedByLimit)).then(|| {
            Reading::new(
                "configured",
                text!(
                    en: "a memory pool is switched on and it was CUDA beneath it that refused: the pool holds the \
                         device, or grows in steps too large for it",
                    zh: "已启用内存池，而拒绝请求的是其下层的 CUDA：设备已被内存池占住，或池的增长步长过大"
                ),
            )
            .at(event.facts.numbers.get(&Number::PoolConfigured).map_or(event.at, |(_, at)| *at))
        })
    },
};

/// What an engine misses at start of the share that it is set to take.
pub const START_SHARE: Mechanism = Mechanism {
    id: "start-share",
    levels: &["little-missing", "some-missing", "much-missing"],
    read: |incident| {
        let (short, capacity) = (short_of_desired(incident)?, incident.ledger.capacity?);
        let desired = incident.event.facts.get(Fact::Desired)?;
        if short.middle() <= 0 {
            return None;
        }
        let level = match short.middle() as f64 / capacity.middle().max(1) as f64 {
            s if s < 0.03 => "little-missing",
            s if s < 0.12 => "some-missing",
            _ => "much-missing",
        };
        let (short, want) = (size(short), size(desired.interval()));
        Some(
            Reading::new(
                level,
                text!(
                    en: "the engine wants {want} at start; {short} were missing (computed)",
                    zh: "引擎启动时要占 {want}，差 {short}（计算值）"
                ),
            )
            .at(desired.at),
        )
    },
};

/// The pools were in place; warm-up or capture beside them failed.
pub const WARM_UP: Mechanism = Mechanism {
    id: "warm-up",
    levels: &["beside-the-pools", "start-up"],
    read: |incident| {
        let event = &incident.event;
        if event.has(Sign::EngineWarmup) {
            let text = if warms_up_before_its_pool(incident) {
                text!(
                    en: "the engine tried the largest batch that its settings allow, before it sized its cache",
                    zh: "引擎在确定缓存大小之前，先按设置允许的最大批次试运行"
                )
            } else {
                text!(
                    en: "the pools had been set up; what failed is the memory left beside them for warm-up and graphs",
                    zh: "内存池已建好；失败的是池外留给预热和 CUDA Graph 的部分"
                )
            };
            // Weights in fixed buffers have no warm-up: the message says only that a later buffer failed.
            let reading = Reading::new("beside-the-pools", text);
            // And what fails before the pool is made says nothing of it.
            if asker(incident) == Asker::WeightBuffers || warms_up_before_its_pool(incident) {
                return Some(reading.at(event.at).untold());
            }
            let sized = incident.event.facts.numbers.get(&Number::KvCacheTokens).map(|(_, at)| *at);
            return Some(reading.at(sized.unwrap_or(event.at)));
        }
        let imports = asker(incident) == Asker::Host && incident.context.imports();
        (imports || on_gpu(incident) && event.has(Sign::EngineStartup)).then(|| {
            Reading::new(
                "start-up",
                text!(en: "it failed at start-up, before anything could grow", zh: "失败发生在启动阶段，还来不及增长"),
            )
            .at(event.at)
        })
    },
};

/// What lies outside the framework's allocator, and the share that a pool takes at start, where the one is the other
/// and a context.
fn share_taken_outside(incident: &Incident) -> Option<(String, String)> {
    let ledger = &incident.ledger;
    let capacity = ledger.capacity?.middle().max(1) as f64;
    let outside = ledger.non_framework.or(ledger.outside)?.at_least_zero();
    let share = POOL_SHARES.into_iter().find(|share| {
        let pool = (capacity * share) as i128;
        outside.high >= pool && outside.low <= pool + CONTEXT
    })?;
    Some((about(outside), percent(share)))
}

/// A simulator on the GPU in the same process, where much of the device is neither free nor PyTorch's.
fn simulator(incident: &Incident) -> Option<Reading> {
    let span = incident.context.clues.get(&Clue::GpuSimulator).filter(|_| on_gpu(incident))?;
    let capacity = incident.ledger.capacity?.middle();
    let outside = incident.ledger.non_framework.or(incident.ledger.outside)?.at_least_zero();
    (outside.low > CONTEXT && outside.low > capacity / 10).then(|| {
        let held = about(outside);
        Reading::new(
            "simulator",
            text!(
                en: "{held} (computed) lie outside PyTorch's allocator, where the simulator of the same process keeps \
                     its scenes, contacts and pictures",
                zh: "{held}（计算值）在 PyTorch 的分配器之外：同一进程的仿真器在此保存场景、接触和图像"
            ),
        )
        .at(*span)
    })
}

/// The most that a context with its libraries' kernels takes.
const CONTEXT: i128 = GIB as i128;

/// Another framework in the same process.
pub const SECOND_FRAMEWORK: Mechanism = Mechanism {
    id: "second-framework",
    levels: &["its-share", "present", "simulator"],
    read: |incident| {
        if let Some(reading) = simulator(incident) {
            return Some(reading);
        }
        let span = incident.context.clues.get(&Clue::SecondFramework)?;
        // What the clue shows is then the program itself.
        let itself = matches!(incident.event.program, Program::Tensorflow | Program::Jax);
        let share = share_taken_outside(incident);
        (on_gpu(incident) && !itself).then(|| match share {
            Some((held, share)) => Reading::new(
                "its-share",
                text!(
                    en: "{held} lie outside this framework's allocator: the {share} of the device that XLA and \
                         TensorFlow reserve at start, and a context (computed)",
                    zh: "{held} 在本框架的分配器之外：正是 XLA 和 TensorFlow 启动时预留的设备的 {share}，加一个上下文\
                         （计算值）"
                ),
            )
            .at(*span),
            None => Reading::new(
                "present",
                text!(
                    en: "another framework in the same process may have taken its share first",
                    zh: "同一进程中的另一个框架可能先占走了它的份额"
                ),
            )
            .at(*span),
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
    use crate::evidence::Span;

    #[test]
    fn pools_that_took_the_device() {
        let share =
            event(Program::Jax, Resource::Gpu, &[(Fact::Requested, "18.00 GiB"), (Fact::Capacity, "24.00 GiB")]);
        assert_eq!(level(&POOL, &settled(share)), Some("taken-at-start"));
        let mut refused = event(Program::Jax, Resource::Gpu, &[]);
        refused.sign(Sign::PoolGrowthRefused);
        assert_eq!(level(&POOL, &settled(refused)), Some("growth-refused"));
        let mut made = event(Program::Rapids, Resource::Gpu, &[]);
        made.sign(Sign::PoolCreation);
        assert_eq!(level(&POOL, &settled(made)), Some("being-made"));
        let mut configured = event(Program::Rapids, Resource::Gpu, &[]);
        configured.facts.numbers.insert(Number::PoolConfigured, (1.0, Span::line(2)));
        assert_eq!(level(&POOL, &settled(configured)), Some("configured"));
        let mut heap = event(Program::Java, Resource::Host, &[(Fact::Requested, "8.00 GiB")]);
        heap.sign(Sign::HeapCommit);
        assert_eq!(level(&POOL, &settled(heap)), Some("committed-heap"));
        let mut free = event(Program::TensorRtLlm, Resource::KvCache, &[(Fact::Free, "8.00 GiB")]);
        free.sign(Sign::CacheRefused);
        assert_eq!(level(&POOL, &settled(free)), Some("share-of-free"));
        assert_eq!(level(&POOL, &torch(&[])), None);
    }

    #[test]
    fn what_is_missing_at_start() {
        for (free, want) in
            [("17.80 GiB", "little-missing"), ("17.00 GiB", "some-missing"), ("9.00 GiB", "much-missing")]
        {
            let figures = [(Fact::Desired, "18.00 GiB"), (Fact::Free, free), (Fact::Capacity, "20.00 GiB")];
            assert_eq!(
                level(&START_SHARE, &settled(event(Program::Vllm, Resource::Gpu, &figures))),
                Some(want),
                "{free}"
            );
        }
    }

    #[test]
    fn start_and_warm_up() {
        let mut incident = torch(&[]);
        incident.event.sign(Sign::EngineStartup);
        assert_eq!(level(&WARM_UP, &incident), Some("start-up"));
        incident.event.sign(Sign::EngineWarmup);
        assert_eq!(level(&WARM_UP, &incident), Some("beside-the-pools"));
        incident.context.clues.insert(Clue::SecondFramework, Span::line(2));
        assert_eq!(level(&SECOND_FRAMEWORK, &incident), Some("present"));
        // 24 GiB less 18 of XLA's pool and half a GiB of a context.
        let figures = [
            (Fact::Capacity, "24.00 GiB"),
            (Fact::Allocated, "5.20 GiB"),
            (Fact::Reserved, "5.40 GiB"),
            (Fact::Free, "0.10 GiB"),
        ];
        let mut beside = torch(&figures);
        beside.context.clues.insert(Clue::SecondFramework, Span::line(2));
        assert_eq!(level(&SECOND_FRAMEWORK, &beside), Some("its-share"));
    }

    #[test]
    fn an_announced_pool_counts_where_it_is_a_large_part_of_the_device() {
        let mut incident = torch(&crate::cause::trial::FULL_CARD);
        let pool = |gib: u64| AnnouncedPool {
            line: 2,
            bytes: (gib * GIB) as f64,
            of_keys_and_values: false,
            of_tensorflow: false,
        };
        incident.context.pools = vec![pool(2)];
        assert_eq!(level(&POOL, &incident), None);
        incident.context.pools = vec![pool(2), pool(11)];
        assert_eq!(level(&POOL, &incident), Some("announced"));
    }
}
