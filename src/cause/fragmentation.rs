//! Enough is free or cached in total, but not in one piece.

use super::reading::{Kind, cached, entry, fitted_before, kind, place, ramp, size, trend};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::{Evidence, Span};
use crate::incident::Incident;
use crate::incident::context::{Clue, Measure};
use crate::incident::recording::{Pieces, Recording, Verdict};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval, MIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::Fragmentation,
    title: || text!(en: "the cached memory is in too many pieces", zh: "缓存显存碎片化"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["pytorch/epoch-five", "pytorch/writeup-en", "context/ultralytics"],
};

fn doc() -> Text {
    Text::new(
        r#"Enough memory is cached or free in total, but not in one piece where the request could use it.

**How it shows.** A large part of the device, some 8 % or more, is reserved by the allocator and not handed out, and cached plus free memory would cover the request. Where a program prints its free pieces (TensorFlow's dump), the largest piece is smaller than the request while their sum is larger.

**Told from its neighbours.** “Free + cached ≥ request” alone holds in about a third of real reports and is seldom the cause: it takes a cache that is large as a share of the device. Free blocks inside private pools (CUDA graphs) do not count, since only their own graphs may use them. If cached plus free memory is smaller than the request, no setting of the allocator can help.

**Example.** `Tried to allocate 1.25 GiB … 23.69 GiB total … 15.20 GiB allocated, 6.90 GiB reserved but unallocated`: 29 % of the device lie idle in the cache. `expandable_segments:True` lets the allocator move whole free granules."#,
        r#"缓存或空闲的总量足够，但没有请求能用的连续一块。

**表现。** 设备中相当一部分（约 8 % 以上）被缓存分配器保留而未分配，且缓存与空闲之和足以满足请求。若程序打印了空闲块（如 TensorFlow 的 dump），最大的空闲块小于请求而总和大于请求。

**与相近原因的区别。** 仅凭“空闲 + 缓存 ≥ 请求”不够：约三分之一的真实报错满足它，却很少是真正原因；缓存占设备的比例必须本身就大。私有池（CUDA Graphs）中的空闲块不算，只有对应的图能使用。若缓存与空闲之和小于请求，任何分配器设置都无济于事。

**示例。** `Tried to allocate 1.25 GiB … 23.69 GiB total … 15.20 GiB allocated, 6.90 GiB reserved but unallocated`：设备的 29 % 闲置在缓存里。`expandable_segments:True` 可让分配器重新映射空闲的整块颗粒。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        // Without a figure of the cache nothing can be said for it.
        Kind::Tensor => Some(if cached(incident).is_some() { -1.8 } else { -2.6 }),
        Kind::PooledTensor => Some(-2.0),
        Kind::Engine => Some(-3.0),
        Kind::WeightBuffers | Kind::KvCache | Kind::Host | Kind::Shm | Kind::OnChip => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let mut found = told(incident);
    if let Some(recording) = incident.proof() {
        found.extend(replayed(recording));
    }
    found
}

/// What a replay of the very failure says: with it, the question is no matter of likelihood any more. Where a job fills the
/// device anyway, other settings may serve this request and little beyond.
fn replayed(recording: &Recording) -> Option<Evidence> {
    let asked = Bytes(recording.requested?);
    let found = match recording.pieces()? {
        Pieces::InTheWay { trial, full } => {
            let Verdict::Serves { peak_reserved, .. } = trial.verdict else { return None };
            let (conf, peak) = (&trial.conf, Bytes(peak_reserved));
            let had = Bytes(recording.reserved.saturating_add(recording.device_free?));
            let weight = ramp(full, &[(0.85, 8.0), (0.93, 3.0), (0.97, 1.5)]);
            if full < 0.93 {
                Evidence::new(
                    weight,
                    text!(en: "replayed with {conf}, the {asked} are served: {peak} reserved at most, of {had} to be had", zh: "以 {conf} 重放，这次的 {asked} 可以满足：最多保留 {peak}，而可用 {had}"),
                )
            } else {
                let part = percent(full);
                Evidence::new(
                    weight,
                    text!(en: "replayed with {conf}, the {asked} are served, but then the job's own tensors fill {part} of the {had} to be had", zh: "以 {conf} 重放，这次的 {asked} 可以满足，但任务自身的张量随即占可用的 {had} 中的 {part}"),
                )
            }
        }
        Pieces::NotInTheWay { tried } => Evidence::new(
            -8.0,
            text!(en: "replayed under {tried} other settings of the allocator, the {asked} fail under every one: pieces are not in the way", zh: "以另外 {tried} 种分配器设置重放，{asked} 的申请全部失败：碎片不是障碍"),
        ),
        Pieces::TooLittle => {
            let (cached, free) = (
                Bytes(recording.cached.saturating_sub(recording.cached_in_private_pools)),
                Bytes(recording.device_free?),
            );
            Evidence::new(
                -8.0,
                text!(en: "the {cached} cached and the {free} free of the snapshot are together less than {asked}, to the byte: no arrangement serves it", zh: "快照中缓存的 {cached} 加空闲的 {free} 精确到字节也少于 {asked}：怎样排列都不够"),
            )
        }
    };
    Some(found.recorded(entry(recording)))
}

/// What the pool holds: as printed, or between its peak, since such pools give nothing back, and its limit.
fn pool(incident: &Incident) -> Option<Interval> {
    let ledger = &incident.ledger;
    ledger.reserved.or_else(|| {
        let (peak, cap) = (incident.event.facts.get(Fact::Peak)?.interval(), ledger.cap?);
        Some(Interval::between(peak.low.min(cap.high), cap.high))
    })
}

/// What the log tells.
fn told(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let mut found = Vec::new();
    if let (Some(largest), Some(requested)) = (event.facts.get(Fact::LargestFreeChunk), ledger.requested) {
        let piece = largest.interval();
        // What a pool may still take up to its limit is not free in it.
        let free_in_all = cached(incident).or(ledger.free);
        if requested.surely_at_least(piece)
            && let Some(free_in_all) = free_in_all
            && free_in_all.surely_at_least(requested)
        {
            let (piece, requested, all) = (size(piece), size(requested), size(free_in_all));
            found.push(
                Evidence::new(4.0, text!(en: "{all} are free in total, but the largest free piece is {piece}, less than the {requested} asked for", zh: "空闲共 {all}，但最大的空闲块只有 {piece}，小于请求的 {requested}"))
                    .at(largest.at),
            );
            return found;
        }
    }
    if let (Some((run, at)), Some(requested), Some(pool)) =
        (event.facts.numbers.get(&Number::LongestFreeRunPercent), ledger.requested, pool(incident))
        && let Some(free_in_all) = ledger.allocated.map(|allocated| (pool - allocated).at_least_zero())
        && free_in_all.surely_at_least(requested)
        && pool.high as f64 * (run + 1.0) / 100.0 < requested.low as f64
    {
        // A few percent in slivers are the normal state of a full pool.
        let idle = free_in_all.middle() as f64 / pool.middle().max(1) as f64;
        let weight = ramp(idle, &[(0.03, 0.3), (0.08, 1.8), (0.15, 3.5)]);
        let (run, all, want) = (*run as u64, size(free_in_all), size(requested));
        found.push(
            Evidence::new(weight, text!(en: "{all} of the pool are free, but the longest free run of its map is {run} %, too short for {want}", zh: "内存池中空闲 {all}，但分布图中最长的连续空闲只有 {run} %，放不下 {want}"))
                .at(*at),
        );
        return found;
    }
    let (Some(cached), Some(requested)) = (cached(incident), ledger.requested) else { return found };
    let at = place(
        event,
        if event.facts.get(Fact::ReservedUnallocated).is_some() { Fact::ReservedUnallocated } else { Fact::Reserved },
    );
    let share = ledger.share(Some(cached)).unwrap_or(0.0);
    let serves_alone = cached.surely_at_least(requested);
    // Without a figure of free memory (Intel's first wording), only the cache itself can be held against the request.
    let serves_with_free = match ledger.short_of_free_and_cached {
        Some(short) => short.low <= 0,
        None if serves_alone => true,
        None => return found,
    };
    let (have, want, part) = (size(cached), size(requested), percent(share));

    if !serves_with_free {
        let free = size(ledger.free.unwrap_or(Interval::exactly(0)));
        found.push(
            Evidence::new(-3.5, text!(en: "{have} cached and {free} free are together less than the {want} asked for: in one piece they would not have sufficed either", zh: "缓存 {have} 与空闲 {free} 之和小于请求 {want}：即使连续也不够"))
                .at(at),
        );
        return found;
    }
    // "Free + cached ≥ request" alone holds in about a third of real reports and is seldom the cause: some slack is the
    // normal state of a full allocator. What tells is the share of the device that lies idle in the cache.
    let mut weight =
        ramp(share, &[(0.02, -2.0), (0.05, -0.8), (0.065, 0.8), (0.08, 1.8), (0.12, 2.5), (0.2, 3.0), (0.35, 4.2)]);
    if cached.middle() < (GIB / 2) as i128 {
        // Below this the cache is a handful of 2 MiB and 20 MiB segments, whatever its share of a small device.
        weight = weight.min(-0.5);
    }
    found.push(
        Evidence::new(
            weight,
            if weight > 0.0 {
                text!(en: "{have} are reserved by the allocator and not handed out, {part} of the device, yet {want} could not be had", zh: "缓存分配器保留而未分配的有 {have}，占设备 {part}，却拿不出 {want}")
            } else {
                text!(en: "{have} are cached, {part} of the device: the usual slack of a full allocator", zh: "缓存中有 {have}，占设备 {part}：显存占满时正常的余量")
            },
        )
        .at(at),
    );
    let ratio = cached.middle() as f64 / requested.middle().max(1) as f64;
    if serves_alone && share >= 0.05 && requested.middle() > (20 * MIB) as i128 {
        let times = format!("{ratio:.1}");
        found.push(
            Evidence::new(
                0.5,
                text!(en: "the cache alone is {times} times the request", zh: "仅缓存就是请求的 {times} 倍"),
            )
            .at(at),
        );
    }
    if event.has(Sign::ExpandableSegmentsOn) || expandable_on(incident) {
        found.push(
            Evidence::new(-1.5, text!(en: "expandable segments were already on: whole free granules can be moved, so less of the cache can be stuck", zh: "已启用 expandable_segments：空闲的整块颗粒可以重新映射，缓存不容易卡住"))
                .seen(&incident.context.alloc_conf),
        );
    }
    if weight > 0.0
        && let (Some((series, reserved)), Some((_, allocated))) =
            (trend(incident, Measure::GpuReserved), trend(incident, Measure::GpuAllocated))
        && reserved.rise > 0.0
        && reserved.relative_rise >= 0.02
        && allocated.rise < 0.3 * reserved.rise
        && let (Some(first), Some(last)) = (series.readings.first(), series.readings.last())
    {
        let (from, to) = (Bytes(first.bytes), Bytes(last.bytes));
        found.push(
            Evidence::new(2.2, text!(en: "reserved memory rose from {from} to {to} while allocated memory stayed the same: the cache splits into pieces that fit nothing", zh: "保留量从 {from} 升到 {to}，而已分配量不变：缓存被切成无法使用的碎片"))
                .at(Span::lines(first.line, last.line)),
        );
    } else if weight > 0.0
        && let Some((text, at)) = fitted_before(incident)
    {
        found.push(Evidence::new(0.4, text).at(at));
    }
    if let Some(span) = incident.context.clues.get(&Clue::VariableShapes) {
        found.push(
            Evidence::new(0.5, text!(en: "tensor sizes change from step to step, which splits cached blocks", zh: "张量大小逐步变化，会把缓存块切碎"))
                .at(*span),
        );
    }
    found
}

fn expandable_on(incident: &Incident) -> bool {
    incident.proof().is_some_and(|recording| recording.expandable)
        || incident
            .context
            .alloc_conf
            .get()
            .is_some_and(|conf| conf.replace(' ', "").contains("expandable_segments:True"))
}

fn refute(incident: &Incident) -> Text {
    if let Some(recording) = incident.proof()
        && let Some(Pieces::InTheWay { trial, .. }) = recording.pieces()
        && let Verdict::Serves { peak_reserved, .. } = trial.verdict
    {
        let (conf, peak, asked) = (&trial.conf, Bytes(peak_reserved), Bytes(recording.requested.unwrap_or_default()));
        return text!(
            en: "Run once with `PYTORCH_CUDA_ALLOC_CONF={conf}`: the replay foresees that the {asked} are served with {peak} reserved at most; if the same request fails again, it is wrong.",
            zh: "设置 `PYTORCH_CUDA_ALLOC_CONF={conf}` 运行一次：重放预计 {asked} 可以满足，最多保留 {peak}；若同一申请仍失败，则结论有误。"
        );
    }
    if expandable_on(incident) || incident.event.has(Sign::ExpandableSegmentsOn) {
        return text!(
            en: "Take a memory snapshot before the failure (`torch.cuda.memory._record_memory_history()`, `_dump_snapshot`): if no stream's free blocks add up to the request, the cache was not in the way.",
            zh: "在失败前导出显存快照（`torch.cuda.memory._record_memory_history()`、`_dump_snapshot`）：若任一 stream 的空闲块之和都达不到请求量，则不是碎片化。"
        );
    }
    let want = incident.ledger.requested.map_or_else(|| "?".to_string(), |requested| size(requested).to_string());
    if let Some(setting) = incident.event.program.unpooled() {
        return text!(
            en: "Run once with `{setting}`, which keeps no pool that could be in pieces: if {want} still cannot be had, it was not fragmentation.",
            zh: "设置 `{setting}` 运行一次，此时没有会碎片化的内存池：若仍拿不到 {want}，则不是碎片化。"
        );
    }
    let accelerator = incident.event.accelerator();
    let Some(variable) = accelerator.torch_conf().filter(|_| incident.event.on_pytorch()) else {
        return text!(
            en: "Run the failing step alone in a fresh process: if {want} still cannot be had there, no pieces are in its way.",
            zh: "在新进程中单独运行失败的步骤：若仍拿不到 {want}，则与碎片化无关。"
        );
    };
    text!(
        en: "Run once with `{variable}=expandable_segments:True`: if {want} still cannot be had and “reserved but unallocated” is small then, it was not fragmentation.",
        zh: "设置 `{variable}=expandable_segments:True` 运行一次：若仍拿不到 {want}，且此时“已保留但未分配”很小，则不是碎片化。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, finding, first, settled, torch};
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::Known;

    const SPLIT: [(Fact, &str); 5] = [
        (Fact::Requested, "1.25 GiB"),
        (Fact::Capacity, "23.69 GiB"),
        (Fact::Free, "300.00 MiB"),
        (Fact::Allocated, "15.20 GiB"),
        (Fact::ReservedUnallocated, "6.90 GiB"),
    ];

    #[test]
    fn a_large_share_idle_in_the_cache_is_fragmentation() {
        let incident = torch(&SPLIT);
        assert_eq!(first(&incident), CauseId::Fragmentation);
        let evidence = &finding(&incident, CauseId::Fragmentation).evidence[0];
        assert!(evidence.text.en.contains("6.90 GiB") && evidence.text.en.contains("29 %"), "{}", evidence.text.en);
        assert_eq!(evidence.lines, vec![7]);
    }

    #[test]
    fn slack_on_a_full_card_is_not_although_the_arithmetic_holds() {
        // Free + cached = 174 MiB cover the 64 MiB, as on most full cards.
        assert!(confidence(&torch(&FULL_CARD), CauseId::Fragmentation) < 0.1);
    }

    #[test]
    fn cached_memory_that_would_not_have_sufficed_rules_it_out() {
        let mut figures = SPLIT;
        figures[0].1 = "8.00 GiB";
        assert!(confidence(&torch(&figures), CauseId::Fragmentation) < 0.03);
    }

    #[test]
    fn expandable_segments_already_on_lower_it() {
        let plain = torch(&SPLIT);
        let mut expandable = torch(&SPLIT);
        expandable.context.alloc_conf = Known::Seen("expandable_segments:True".to_string(), Span::line(1));
        assert!(confidence(&expandable, CauseId::Fragmentation) < 0.8 * confidence(&plain, CauseId::Fragmentation));
        assert!(!refute(&expandable).en.contains("expandable_segments:True"), "what is on cannot be tried");
    }

    #[test]
    fn a_largest_piece_below_the_request_decides() {
        let mut event = super::super::trial::event(
            Program::Tensorflow,
            crate::dialect::Resource::Gpu,
            &[(Fact::Requested, "700.00 MiB"), (Fact::Reserved, "3.40 GiB"), (Fact::Allocated, "2.10 GiB")],
        );
        event.facts.note(Fact::LargestFreeChunk, super::super::trial::figure("310.00 MiB"));
        assert_eq!(first(&super::super::trial::settled(event)), CauseId::Fragmentation);
    }

    #[test]
    fn reserved_that_grows_beside_steady_allocations_is_its_signature() {
        use crate::incident::context::{Reading, Series, StepUnit};
        use crate::units::MIB;
        // A middling cache, 7 % of the device, which alone decides nothing.
        let mut incident = torch(&[
            (Fact::Requested, "700.00 MiB"),
            (Fact::Capacity, "23.69 GiB"),
            (Fact::Free, "120.00 MiB"),
            (Fact::Allocated, "20.90 GiB"),
            (Fact::ReservedUnallocated, "1.70 GiB"),
        ]);
        let plain = confidence(&incident, CauseId::Fragmentation);
        for (measure, step) in [(Measure::GpuAllocated, 0), (Measure::GpuReserved, 150 * MIB)] {
            let readings =
                (0..12).map(|i| Reading { line: i + 1, step: Some(i as f64), bytes: 20 * GIB + i * step }).collect();
            let series = Series { measure, rank: None, per: StepUnit::Epoch, running_maximum: false, readings };
            incident.context.series.push(series);
        }
        let with_readings = confidence(&incident, CauseId::Fragmentation);
        assert!(with_readings > 0.5 && with_readings > 2.0 * plain, "{plain} {with_readings}");
        assert!(confidence(&incident, CauseId::LeakGrowth) < 0.1, "the job itself does not grow");
    }

    fn with(recording: crate::incident::Recording) -> Incident {
        Incident { recording: Some(recording), ..torch(&super::super::trial::RECORDED) }
    }

    fn proof(active: u64, served: Option<u64>) -> crate::incident::Recording {
        super::super::trial::recording(active, served)
    }

    #[test]
    fn a_replay_that_serves_the_request_proves_it() {
        let incident = with(proof(3500 * MIB, Some(7000 * MIB)));
        assert!(confidence(&incident, CauseId::Fragmentation) > 0.98);
        let found = finding(&incident, CauseId::Fragmentation);
        let entry = found.evidence[0].entry.clone().expect("the entry that it rests on");
        assert_eq!((entry.source.as_str(), entry.event), ("runs/oom.pickle", Some(41)));
        assert!(found.refute.en.contains("6.84 GiB reserved at most"), "{}", found.refute.en);
    }

    #[test]
    fn a_replay_that_fails_too_rules_it_out() {
        let incident = with(proof(3500 * MIB, None));
        assert!(confidence(&torch(&super::super::trial::RECORDED), CauseId::Fragmentation) > 0.7, "by the log alone");
        assert!(confidence(&incident, CauseId::Fragmentation) < 0.05);
        assert_eq!(first(&incident), CauseId::Capacity);
    }

    #[test]
    fn where_the_job_fills_the_device_a_served_request_proves_little() {
        let incident = with(proof(80 * GIB, Some(82 * GIB)));
        let served = replayed(incident.proof().expect("a proof")).expect("evidence").weight;
        assert!((1.0..3.0).contains(&served), "{served}");
    }

    #[test]
    fn a_snapshot_that_is_not_of_this_failure_or_not_foreseen_changes_nothing() {
        let alone = confidence(&torch(&super::super::trial::RECORDED), CauseId::Fragmentation);
        let mut other = proof(3500 * MIB, None);
        other.standing = crate::incident::recording::Standing::Other(Text::same("another run"));
        assert_eq!(confidence(&with(other), CauseId::Fragmentation), alone);
        let mut strange = proof(3500 * MIB, None);
        strange.faithful = false;
        assert_eq!(confidence(&with(strange), CauseId::Fragmentation), alone);
    }

    #[test]
    fn what_a_pool_may_still_take_is_not_free_in_it() {
        let pool = |peak: Option<&str>| {
            let mut figures = vec![
                (Fact::Requested, "2.00 GiB"),
                (Fact::Limit, "10.00 GiB"),
                (Fact::Allocated, "4.00 GiB"),
                (Fact::LargestFreeChunk, "300.00 MiB"),
            ];
            figures.extend(peak.map(|peak| (Fact::Peak, peak)));
            let mut event = event(Program::Tensorflow, Resource::Gpu, &figures);
            event.facts.numbers.insert(Number::LongestFreeRunPercent, (3.0, event.at));
            told(&settled(event)).iter().map(|evidence| evidence.weight).sum::<f64>()
        };
        assert_eq!(pool(None), 0.0, "nobody says that the pool has grown to its limit");
        assert!(pool(Some("9.00 GiB")) > 0.0, "it had grown to 9 GiB, and gives nothing back");
    }
}
