//! Enough is free or cached in total, but not in one piece.

use super::reading::size;
use super::{Cause, CauseId};
use crate::dialect::Sign;
use crate::incident::recording::{Pieces, Verdict};
use crate::incident::{Incident, release};
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

pub const CAUSE: Cause = Cause {
    id: CauseId::Fragmentation,
    title: || text!(en: "the cached memory is fragmented", zh: "缓存显存碎片化"),
    doc,
    refute,
    fixtures: &["pytorch/epoch-five", "pytorch/writeup-en"],
};

fn doc() -> Text {
    Text::new(
        "Enough memory is cached or free in total, but not in one piece where the request could use it.\n\n\
         **How it shows.** A large part of the device, some 8 % or more, is reserved by the allocator but not \
         allocated, and cached plus free memory would cover the request. Where a program prints its free pieces \
         (TensorFlow's dump), the largest piece is smaller than the request while their sum is larger.\n\n\
         **Told from its neighbours.** “Free + cached ≥ request” alone holds in about a third of real reports and is \
         seldom the cause: it takes a cache that is large as a share of the device. Free blocks inside private pools \
         (CUDA graphs) do not count, since only their own graphs may use them. If cached plus free memory is smaller \
         than the request, no setting of the allocator can help.\n\n\
         **Example.** `Tried to allocate 1.25 GiB … 23.69 GiB total … 15.20 GiB allocated, 6.90 GiB reserved but \
         unallocated`: 29 % of the device lie idle in the cache. `expandable_segments:True` lets the allocator \
         remap whole free pages.",
        "缓存与空闲的总量足够，但没有一块连续空间能满足请求。\n\n\
         **表现。** 设备中相当一部分（约 8 % 以上）被缓存分配器保留而未分配，且缓存与空闲之和足以满足请求。若程序打印了\
         空闲块（如 TensorFlow 的 dump），最大的空闲块小于请求而总和大于请求。\n\n\
         **与相近原因的区别。** 仅凭“空闲 + 缓存 ≥ 请求”不够：约三分之一的真实报错满足它，却很少是真正原因；缓存占设备\
         的比例必须本身就大。私有池（CUDA Graphs）中的空闲块不算，只有对应的图能使用。若缓存与空闲之和小于请求，任何分\
         配器设置都无济于事。\n\n\
         **示例。** `Tried to allocate 1.25 GiB … 23.69 GiB total … 15.20 GiB allocated, 6.90 GiB reserved but \
         unallocated`：设备的 29 % 闲置在缓存里。`expandable_segments:True` 可让分配器重新映射完全空闲的物理页。",
    )
}

/// True where the log, a snapshot or the message shows expandable segments.
fn expandable_on(incident: &Incident) -> bool {
    let told = |conf: &String| conf.replace(' ', "").contains("expandable_segments:True");
    incident.event.has(Sign::ExpandableSegmentsOn)
        || incident.proof().is_some_and(|recording| recording.expandable)
        || incident.context.alloc_conf.get().is_some_and(told)
}

/// The variable by which PyTorch's segments can be let grow, where they do not already: Windows ignores the option, and
/// older releases refuse it.
pub(super) fn growing_segments(incident: &Incident) -> Option<&'static str> {
    let understood =
        incident.event.on_pytorch() && !incident.on_windows() && release::knows(incident, "expandable_segments");
    release::conf_variable(incident).filter(|_| understood && !expandable_on(incident))
}

fn refute(incident: &Incident) -> Text {
    if let Some(recording) = incident.proof()
        && let Some(Pieces::InTheWay { trial, .. }) = recording.pieces()
        && let Verdict::Serves { peak_reserved, .. } = trial.verdict
    {
        let (conf, peak, asked) = (&trial.conf, Bytes(peak_reserved), Bytes(recording.requested.unwrap_or_default()));
        return text!(
            en: "Run once with `PYTORCH_CUDA_ALLOC_CONF={conf}`: the replay foresees that the {asked} are served with \
                 {peak} reserved at most; if the same request fails again, it is wrong.",
            zh: "设置 `PYTORCH_CUDA_ALLOC_CONF={conf}` 运行一次：重放预计 {asked} 可以满足，最多保留 {peak}；若同一申请\
                 仍失败，则结论有误。"
        );
    }
    if expandable_on(incident) {
        return text!(
            en: "Take a memory snapshot before the failure (`torch.cuda.memory._record_memory_history()`, \
                 `_dump_snapshot`): if no stream's free blocks add up to the request, the cache was not in the way.",
            zh: "在失败前导出显存快照（`torch.cuda.memory._record_memory_history()`、`_dump_snapshot`）：若任一 stream \
                 的空闲块之和都达不到请求量，则不是碎片化。"
        );
    }
    let (en, zh) = match incident.ledger.requested.map(size) {
        Some(want) => (want.to_string(), want.to_string()),
        None => ("the same request".to_string(), "同样的请求".to_string()),
    };
    if let Some(setting) = incident.event.program.unpooled() {
        return text!(
            en: "Run once with `{setting}`, which keeps no pool that could be in pieces: if {en} still cannot be \
                 had, it was not fragmentation.",
            zh: "设置 `{setting}` 运行一次，此时没有会碎片化的内存池：若仍拿不到 {zh}，则不是碎片化。"
        );
    }
    let Some(variable) = growing_segments(incident) else {
        return text!(
            en: "Run the failing step alone in a fresh process: if {en} still cannot be had there, no pieces are in \
                 its way.",
            zh: "在新进程中单独运行失败的步骤：若仍拿不到 {zh}，则与碎片化无关。"
        );
    };
    text!(
        en: "Run once with `{variable}=expandable_segments:True`: if {en} still cannot be had and “reserved but \
             unallocated” is small then, it was not fragmentation.",
        zh: "设置 `{variable}=expandable_segments:True` 运行一次：若仍拿不到 {zh}，且此时“已保留但未分配”很小，则不是\
             碎片化。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, finding, first, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::domain::Program;
    use crate::evidence::Known;
    use crate::evidence::Span;
    use crate::incident::Recording;
    use crate::incident::context::Measure;
    use crate::units::{GIB, MIB};

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

    fn proof(active: u64, served: Option<u64>) -> Recording {
        super::super::trial::recording(active, served)
    }

    #[test]
    fn a_replay_that_serves_the_request_proves_it() {
        let incident = with(proof(3500 * MIB, Some(7000 * MIB)));
        let found = finding(&incident, CauseId::Fragmentation);
        assert!(found.proved && found.confidence > 0.95);
        let entry = found.evidence[0].entry.clone().expect("the entry that it rests on");
        assert_eq!((entry.source.as_str(), entry.event), ("runs/oom.pickle", Some(41)));
        assert!(found.refute.en.contains("6.84 GiB reserved at most"), "{}", found.refute.en);
    }

    /// What lay there when the record began is packed anew for another setting: an upper bound is no proof.
    #[test]
    fn a_replay_of_a_recording_that_begins_late_proves_nothing() {
        let late = Recording { from_the_start: false, ..proof(3500 * MIB, Some(7000 * MIB)) };
        let found = finding(&with(late), CauseId::Fragmentation);
        assert!(!found.proved && found.confidence <= 0.9);
        let told = &found.evidence.iter().find(|evidence| evidence.id == "replay").expect("the replay").text;
        assert!(told.en.contains("packed anew") && told.zh.contains("重新排列"), "{told:?}");
    }

    #[test]
    fn a_replay_that_fails_too_rules_it_out_where_hardly_enough_is_there_in_all() {
        let tight = Recording { least: 7200 * MIB, ..proof(3500 * MIB, None) };
        let incident = with(tight);
        assert!(confidence(&torch(&super::super::trial::RECORDED), CauseId::Fragmentation) > 0.7, "by the log alone");
        assert!(confidence(&incident, CauseId::Fragmentation) < 0.05);
        assert_eq!(first(&incident), CauseId::Capacity);
        // 4.4 of 7.3 GiB: no setting serves it, and it is the pieces all the same.
        let scattered = with(proof(3500 * MIB, None));
        assert_eq!(first(&scattered), CauseId::Fragmentation);
        assert!(!finding(&scattered, CauseId::Fragmentation).proved);
    }

    #[test]
    fn where_the_job_fills_the_device_a_served_request_proves_little() {
        let incident = Incident { recording: Some(proof(80 * GIB, Some(82 * GIB))), ..torch(&FULL_CARD) };
        assert!(!finding(&incident, CauseId::Capacity).proved);
        assert!(confidence(&incident, CauseId::Fragmentation) < 0.9);
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
}
