//! Who holds the device, by the account of its bytes.

use super::{Mechanism, Reading};
use crate::account::Holder;
use crate::cause::nature::{Asker, asker, on_gpu};
use crate::cause::reading::{
    allocated_share, cached, limited, looks_like_wddm, place, refused_although_free, request_share, size, whole,
    whole_name,
};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval, percent};

/// What the job's own tensors hold of the device.
pub const OWN_TENSORS: Mechanism = Mechanism {
    id: "own-tensors",
    levels: &["nothing", "little", "a-third", "half", "most", "nearly-all"],
    read: |incident| {
        if !on_gpu(incident) {
            return None;
        }
        let (share, allocated, all) = (allocated_share(incident)?, incident.ledger.allocated?, whole(incident)?);
        let level = match share {
            s if s < 0.01 => "nothing",
            s if s < 0.2 => "little",
            s if s < 0.45 => "a-third",
            s if s < 0.7 => "half",
            s if s < 0.88 => "most",
            _ => "nearly-all",
        };
        let (held, part, all) = (size(allocated), percent(share), size(all));
        let Text { en: of, zh: of_zh } = whole_name(incident);
        let Text { en: computed, zh: computed_zh } = unless_printed(incident, Fact::Allocated, held);
        let text = match level {
            "nothing" => text!(
                en: "the job itself holds next to nothing of {of} ({all})",
                zh: "任务自身几乎没有占用{of_zh}（{all}）"
            ),
            "most" | "nearly-all" => {
                text!(
                    en: "the job's own tensors hold {held}{computed}, {part} of {of} ({all})",
                    zh: "任务自身的张量占用 {held}{computed_zh}，为{of_zh}（{all}）的 {part}"
                )
            }
            _ => {
                text!(
                    en: "the job's own tensors hold only {held}{computed}, {part} of {of} ({all})",
                    zh: "任务自身的张量只占用 {held}{computed_zh}，为{of_zh}（{all}）的 {part}"
                )
            }
        };
        let reading = Reading::new(level, text).at(place(&incident.event, Fact::Allocated));
        // What of a limit is the job's own says nothing of the device.
        Some(if incident.ledger.capacity.is_some() { reading } else { reading.untold() })
    },
};

/// That a figure was computed, where the log prints another one for it, or none.
fn unless_printed(incident: &Incident, fact: Fact, shown: Bytes) -> Text {
    let printed = incident.event.facts.get(fact).is_some_and(|figure| size(figure.interval()) == shown);
    if printed { Text::default() } else { Text::new(" (computed)", "（计算值）") }
}

/// A process of which nothing says what of it are tensors.
pub const UNDIVIDED: Mechanism = Mechanism {
    id: "process-undivided",
    levels: &["fills-the-device", "part"],
    read: |incident| {
        let ledger = &incident.ledger;
        let process = ledger.amount(Holder::ThisProcess).filter(|_| on_gpu(incident))?;
        let share = ledger.share(Some(process))?;
        let (held, part) = (size(process), percent(share));
        let level = if share >= 0.85 { "fills-the-device" } else { "part" };
        Some(
            Reading::new(
                level,
                text!(
                    en: "{held}, {part} of the device, are this process's; nothing says what of it are tensors, and of \
                         what",
                    zh: "本进程占用 {held}，为设备的 {part}；日志未说明其中哪些是张量、属于什么"
                ),
            )
            .at(place(&incident.event, Fact::Process)),
        )
    },
};

/// What lies idle in the framework's cache, against the request.
pub const CACHE: Mechanism = Mechanism {
    id: "cache",
    levels: &["too-little", "slack", "some-alone", "some-with-free", "much", "most"],
    read: |incident| {
        let ledger = &incident.ledger;
        if !on_gpu(incident) {
            return None;
        }
        let (cached, requested) = (cached(incident)?, ledger.requested?);
        let share = ledger
            .share(Some(cached))
            .or_else(|| Some(cached.middle() as f64 / whole(incident)?.middle().max(1) as f64))
            .unwrap_or(0.0);
        let alone = cached.surely_at_least(requested);
        // Without a figure of free memory only the cache itself can be held against the request.
        let with_free = match ledger.short_of_free_and_cached {
            Some(short) => short.low <= 0,
            None if alone => true,
            None => return None,
        };
        let at = place(
            &incident.event,
            if incident.event.facts.get(Fact::ReservedUnallocated).is_some() {
                Fact::ReservedUnallocated
            } else {
                Fact::Reserved
            },
        );
        let (have, want, part) = (size(cached), size(requested), percent(share));
        let free = size(ledger.free.unwrap_or(Interval::exactly(0)));
        let Text { en: of, zh: of_zh } = whole_name(incident);
        let Text { en: computed, zh: computed_zh } = unless_printed(incident, Fact::ReservedUnallocated, have);
        // "Free + cached ≥ request" alone holds in about a third of real reports and is seldom the cause: some slack is
        // the normal state of a full allocator, and below half a GiB it is a handful of its smallest segments.
        let level = if !with_free {
            "too-little"
        } else if share < 0.04 || cached.middle() < (GIB / 2) as i128 {
            "slack"
        } else if share >= 0.3 {
            "most"
        } else if share >= 0.12 {
            "much"
        } else if alone {
            "some-alone"
        } else {
            "some-with-free"
        };
        let text = match level {
            "too-little" => {
                text!(
                    en: "{have} cached{computed} and {free} free are together less than the {want} asked for: in one \
                         piece they would not have sufficed either",
                    zh: "缓存 {have}{computed_zh}与空闲 {free} 之和小于请求 {want}：即使连续也不够"
                )
            }
            "slack" if cached.high == 0 => {
                text!(
                    en: "nothing is cached{computed} that could lie in pieces",
                    zh: "没有缓存{computed_zh}，也就谈不上碎片"
                )
            }
            "slack" => {
                text!(
                    en: "{have} are cached{computed}, {part} of {of}: the usual slack of a full allocator",
                    zh: "缓存中有 {have}{computed_zh}，占{of_zh} {part}：显存占满时正常的余量"
                )
            }
            "some-with-free" => {
                text!(
                    en: "{have} cached{computed} and {free} free would together have held the {want} asked for",
                    zh: "缓存 {have}{computed_zh}加空闲 {free} 合起来本可容纳所请求的 {want}"
                )
            }
            _ => {
                text!(
                    en: "{have} is reserved by the allocator but not allocated{computed}, {part} of {of}, yet \
                         {want} could not be served",
                    zh: "缓存分配器保留而未分配的有 {have}{computed_zh}，占{of_zh} {part}，却无法满足 {want} 的申请"
                )
            }
        };
        Some(Reading::new(level, text).at(at))
    },
};

/// The largest free piece, where it is printed.
pub const PIECES: Mechanism = Mechanism {
    id: "pieces",
    levels: &["too-small-piece", "heap-in-pieces", "short-runs", "slivers", "expandable-already"],
    read: |incident| {
        let ledger = &incident.ledger;
        let event = &incident.event;
        if let (Some(largest), Some(requested)) = (event.facts.get(Fact::LargestFreeChunk), ledger.requested) {
            let all = cached(incident)
                .or_else(|| Some((whole(incident)? - ledger.allocated?).at_least_zero()))
                .or(ledger.free);
            if let Some(all) = all
                && requested.surely_at_least(largest.interval())
                && all.surely_at_least(requested)
            {
                let (piece, want, all) = (size(largest.interval()), size(requested), size(all));
                // Of a heap in RAM no more is known, and nothing else is short.
                let level = if asker(incident) == Asker::Host { "heap-in-pieces" } else { "too-small-piece" };
                return Some(
                    Reading::new(
                        level,
                        text!(
                            en: "{all} are free in total (computed), but the largest free piece is {piece}, less than \
                                 the {want} asked for",
                            zh: "空闲共 {all}（计算值），但最大的空闲块只有 {piece}，小于请求的 {want}"
                        ),
                    )
                    .at(largest.at),
                );
            }
        }
        if let (Some((run, at)), Some(requested), Some(pool)) =
            (event.facts.numbers.get(&Number::LongestFreeRunPercent), ledger.requested, ledger.reserved.or(ledger.cap))
            // A map without a free place shows a pool that has not grown to its limit.
            && (*run > 0.0 || ledger.reserved.is_some())
            && let Some(idle) = ledger.allocated.map(|allocated| (pool - allocated).at_least_zero())
            && idle.surely_at_least(requested)
            && pool.middle() as f64 * (run + 1.0) / 100.0 < requested.middle() as f64
        {
            // A few percent in slivers are the normal state of a full pool.
            let level = if idle.middle() * 12 >= pool.middle() { "short-runs" } else { "slivers" };
            let (run, all, want) = (*run as u64, size(idle), size(requested));
            return Some(
                Reading::new(
                    level,
                    text!(
                        en: "{all} of the pool are free, but the longest free run of its map is {run} %, too short for \
                             {want}",
                        zh: "内存池中空闲 {all}，但分布图中最长的连续空闲只有 {run} %，放不下 {want}"
                    ),
                )
                .at(*at),
            );
        }
        let on = event.has(Sign::ExpandableSegmentsOn)
            || incident.proof().is_some_and(|recording| recording.expandable)
            || incident
                .context
                .alloc_conf
                .get()
                .is_some_and(|conf| conf.replace(' ', "").contains("expandable_segments:True"));
        on.then(|| {
            Reading::new(
                "expandable-already",
                text!(
                    en: "expandable segments were already on: wholly free pages can be remapped, so less of the \
                         cache is lost to fragmentation",
                    zh: "已启用 expandable_segments：完全空闲的物理页可以重新映射，缓存不易碎片化"
                ),
            )
            .seen(&incident.context.alloc_conf)
        })
    },
};

/// The driver had as much free as was asked for.
pub const ALTHOUGH_FREE: Mechanism = Mechanism {
    id: "refused-although-free",
    levels: &["enough", "plenty", "windows", "windows-plenty", "under-a-limit"],
    read: |incident| {
        if !on_gpu(incident) || !refused_although_free(incident) {
            return None;
        }
        let (free, requested) = (incident.ledger.free?, incident.ledger.requested?);
        let plenty = free.low > requested.high.saturating_mul(8);
        let level = match (limited(incident), looks_like_wddm(incident), plenty) {
            (true, ..) => "under-a-limit",
            (_, true, true) => "windows-plenty",
            (_, true, false) => "windows",
            (_, _, true) => "plenty",
            _ => "enough",
        };
        let (free, want) = (size(free), size(requested));
        let Text { en: computed, zh: computed_zh } = unless_printed(incident, Fact::Free, free);
        let text = match level {
            "windows" | "windows-plenty" => {
                text!(
                    en: "{want} were refused with {free} free on what looks like Windows, where device memory must \
                         also be backed by RAM or page file",
                    zh: "看起来是 Windows：空闲 {free} 却拒绝了 {want}，而 Windows 上显存还必须有内存或页面文件支撑"
                )
            }
            _ => {
                text!(
                    en: "{want} were refused although {free} were free{computed}, as far as that was read at the same \
                         moment",
                    zh: "空闲 {free}{computed_zh} 却拒绝了 {want}（前提是两者读于同一时刻）"
                )
            }
        };
        Some(Reading::new(level, text).at(place(&incident.event, Fact::Free)))
    },
};

/// What this process holds outside the framework's allocator.
pub const OUTSIDE: Mechanism = Mechanism {
    id: "outside-the-allocator",
    levels: &["usual", "some", "much", "graphs-usual", "graphs-much"],
    read: |incident| {
        let ledger = &incident.ledger;
        let outside = ledger.non_framework?;
        let all = ledger.capacity.or(ledger.cap).filter(|all| all.middle() > 0)?;
        let share = outside.middle() as f64 / all.middle() as f64;
        let (amount, part) = (size(outside), percent(share));
        if incident.event.facts.get(Fact::OtherAllocations).is_some() {
            // Graphs and kernel caches count as "other allocations"; a few GiB are normal.
            let level = if share < 0.3 { "graphs-usual" } else { "graphs-much" };
            return Some(
                Reading::new(
                    level,
                    text!(
                        en: "“other allocations” (graphs, caches and other uses) are {amount}, {part} of the limit",
                        zh: "“other allocations”（计算图、缓存等）为 {amount}，占上限的 {part}"
                    ),
                )
                .at(place(&incident.event, Fact::OtherAllocations)),
            );
        }
        // A context with its libraries takes 0.3 … 1 GiB and is no cause by itself.
        let level = match share {
            _ if outside.middle() < GIB as i128 => "usual",
            s if s < 0.06 => "usual",
            s if s < 0.1 => "some",
            _ => "much",
        };
        let text = match level {
            "usual" => {
                text!(
                    en: "outside the framework's allocator this process holds {amount} (computed), about what a \
                         context and libraries take",
                    zh: "本进程在框架分配器之外占用 {amount}（计算值），与上下文和库的常规开销相当"
                )
            }
            _ => {
                text!(
                    en: "{amount} of this process (computed; {part} of the device) lie outside the framework's \
                         allocator; a context alone takes 0.3 to 1 GiB",
                    zh: "本进程有 {amount}（计算值，设备的 {part}）在框架分配器之外；单个上下文只需 0.3 到 1 GiB"
                )
            }
        };
        Some(Reading::new(level, text).at(place(&incident.event, Fact::Process)))
    },
};

/// Idle blocks of private pools (graphs).
pub const PRIVATE_POOLS: Mechanism = Mechanism {
    id: "private-pools",
    levels: &["much", "beside-a-full-pool", "some"],
    read: |incident| {
        let ledger = &incident.ledger;
        let pools = ledger.amount(Holder::PrivatePools).filter(|pools| pools.middle() > 0)?;
        let share = ledger.share(Some(pools))?;
        let part = percent(share);
        let full = ledger.share(ledger.reserved).is_some_and(|share| share >= 0.85)
            && ledger.share(ledger.cached).is_some_and(|share| share < 0.03)
            && request_share(incident).is_some_and(|share| share < 0.02);
        let (level, text) = if share >= 0.3 {
            // An engine's or compiler's graphs take a few hundred MiB; most of a card means graphs recorded over and
            // over.
            (
                "much",
                text!(
                    en: "{pools}, {part} of the device, sit idle in private pools: graphs are recorded again and again \
                         and never dropped",
                    zh: "{pools}（设备的 {part}）闲置在私有池中：CUDA Graph 被反复录制且从未释放"
                ),
            )
        } else if full && asker(incident) == Asker::Tensor {
            (
                "beside-a-full-pool",
                text!(
                    en: "graphs and a pool with hardly any slack: a server that sized its pools to the device, and a \
                         small request that comes after",
                    zh: "有 CUDA Graph，内存池几乎没有余量：服务程序按设备大小建池，之后的小请求无处可放"
                ),
            )
        } else {
            (
                "some",
                text!(en: "{pools} sit idle in private pools of graphs", zh: "{pools} 闲置在 CUDA Graph 的私有池中"),
            )
        };
        Some(Reading::new(level, text).at(place(&incident.event, Fact::PrivatePools)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{settled, torch};
    use crate::domain::Program;

    fn held(allocated: &'static str) -> Incident {
        torch(&[(Fact::Requested, "1.00 GiB"), (Fact::Capacity, "20.00 GiB"), (Fact::Allocated, allocated)])
    }

    #[test]
    fn what_the_tensors_hold_is_told_in_six_levels() {
        for (allocated, want) in [
            ("10.00 MiB", "nothing"),
            ("2.00 GiB", "little"),
            ("6.00 GiB", "a-third"),
            ("12.00 GiB", "half"),
            ("16.00 GiB", "most"),
            ("19.00 GiB", "nearly-all"),
        ] {
            assert_eq!(level(&OWN_TENSORS, &held(allocated)), Some(want), "{allocated}");
        }
    }

    #[test]
    fn a_process_that_is_not_divided() {
        for (process, want) in [("19.50 GiB", "fills-the-device"), ("9.00 GiB", "part")] {
            let incident = torch(&[(Fact::Capacity, "20.00 GiB"), (Fact::Process, process)]);
            assert_eq!(level(&UNDIVIDED, &incident), Some(want));
        }
        assert_eq!(level(&UNDIVIDED, &held("10.00 GiB")), None);
    }

    fn idle(requested: &'static str, free: &'static str, cached: &'static str) -> Incident {
        torch(&[
            (Fact::Requested, requested),
            (Fact::Capacity, "20.00 GiB"),
            (Fact::Free, free),
            (Fact::Allocated, "10.00 GiB"),
            (Fact::ReservedUnallocated, cached),
        ])
    }

    #[test]
    fn the_cache_is_held_against_the_request() {
        for (requested, free, cached, want) in [
            ("4.00 GiB", "1.00 GiB", "1.00 GiB", "too-little"),
            ("100.00 MiB", "20.00 MiB", "200.00 MiB", "slack"),
            ("1.00 GiB", "20.00 MiB", "1.50 GiB", "some-alone"),
            ("2.00 GiB", "1.00 GiB", "1.50 GiB", "some-with-free"),
            ("2.00 GiB", "1.00 GiB", "4.00 GiB", "much"),
            ("2.00 GiB", "1.00 GiB", "8.00 GiB", "most"),
        ] {
            assert_eq!(level(&CACHE, &idle(requested, free, cached)), Some(want), "{requested} {free} {cached}");
        }
        assert_eq!(level(&CACHE, &held("10.00 GiB")), None, "no figure of the cache");
    }

    #[test]
    fn pieces_that_are_too_small() {
        let mut pieces = idle("2.00 GiB", "20.00 MiB", "4.00 GiB");
        pieces.event.facts.note(Fact::LargestFreeChunk, crate::cause::trial::figure("1.00 GiB"));
        assert_eq!(level(&PIECES, &pieces), Some("too-small-piece"));
        for (pool, want) in [("14.00 GiB", "short-runs"), ("10.50 GiB", "slivers")] {
            let mut map =
                torch(&[(Fact::Requested, "300.00 MiB"), (Fact::Reserved, pool), (Fact::Allocated, "10.00 GiB")]);
            map.event.facts.numbers.insert(Number::LongestFreeRunPercent, (1.0, crate::evidence::Span::line(2)));
            assert_eq!(level(&PIECES, &map), Some(want), "{pool}");
        }
        let mut on = idle("2.00 GiB", "20.00 MiB", "4.00 GiB");
        on.event.sign(Sign::ExpandableSegmentsOn);
        assert_eq!(level(&PIECES, &on), Some("expandable-already"));
    }

    #[test]
    fn a_refusal_with_room_left() {
        let free = |capacity, requested, free| {
            torch(&[(Fact::Requested, requested), (Fact::Capacity, capacity), (Fact::Free, free)])
        };
        assert_eq!(level(&ALTHOUGH_FREE, &free("23.69 GiB", "2.00 GiB", "4.00 GiB")), Some("enough"));
        assert_eq!(level(&ALTHOUGH_FREE, &free("23.69 GiB", "200.00 MiB", "14.00 GiB")), Some("plenty"));
        assert_eq!(level(&ALTHOUGH_FREE, &free("24.00 GiB", "2.00 GiB", "4.00 GiB")), Some("windows"));
        assert_eq!(level(&ALTHOUGH_FREE, &free("24.00 GiB", "200.00 MiB", "14.00 GiB")), Some("windows-plenty"));
        assert_eq!(level(&ALTHOUGH_FREE, &free("23.69 GiB", "2.00 GiB", "1.00 GiB")), None);
        let mut capped = crate::cause::trial::event(
            Program::Pytorch,
            crate::dialect::Resource::Gpu,
            &[(Fact::Requested, "2.00 GiB"), (Fact::Capacity, "23.69 GiB"), (Fact::Free, "8.00 GiB")],
        );
        capped.facts.note(Fact::FractionLimit, crate::cause::trial::figure("12.00 GiB"));
        assert_eq!(level(&ALTHOUGH_FREE, &settled(capped)), Some("under-a-limit"));
    }

    #[test]
    fn what_lies_outside_the_allocator() {
        let process = |process| {
            torch(&[
                (Fact::Capacity, "20.00 GiB"),
                (Fact::Process, process),
                (Fact::Allocated, "10.00 GiB"),
                (Fact::ReservedUnallocated, "0 bytes"),
            ])
        };
        assert_eq!(level(&OUTSIDE, &process("10.50 GiB")), Some("usual"));
        assert_eq!(level(&OUTSIDE, &process("11.50 GiB")), Some("some"));
        assert_eq!(level(&OUTSIDE, &process("15.00 GiB")), Some("much"));
        let apple = |other| {
            torch(&[(Fact::FractionLimit, "20.00 GiB"), (Fact::Allocated, "5.00 GiB"), (Fact::OtherAllocations, other)])
        };
        assert_eq!(level(&OUTSIDE, &apple("2.00 GiB")), Some("graphs-usual"));
        assert_eq!(level(&OUTSIDE, &apple("12.00 GiB")), Some("graphs-much"));
    }

    #[test]
    fn private_pools_by_their_share() {
        let pools = |pools, allocated| {
            torch(&[
                (Fact::Requested, "64.00 MiB"),
                (Fact::Capacity, "20.00 GiB"),
                (Fact::Free, "40.00 MiB"),
                (Fact::Process, "19.50 GiB"),
                (Fact::Allocated, allocated),
                (Fact::PrivatePools, pools),
                (Fact::ReservedUnallocated, "10.00 MiB"),
            ])
        };
        assert_eq!(level(&PRIVATE_POOLS, &pools("8.00 GiB", "18.00 GiB")), Some("much"));
        assert_eq!(level(&PRIVATE_POOLS, &pools("300.00 MiB", "18.50 GiB")), Some("beside-a-full-pool"));
        assert_eq!(level(&PRIVATE_POOLS, &pools("1.00 GiB", "9.00 GiB")), Some("some"));
    }
}
