//! What a memory snapshot of the very failure shows when it is replayed.

use super::{Mechanism, Reading};
use crate::cause::reading::{Grown, entry, grown, taken_meanwhile};
use crate::incident::recording::{Pieces, Verdict};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, percent};

/// Who needs no more than this share of what is to be had is refused for how it lies, not for how much it is.
const ENOUGH: f64 = 0.9;

/// The same requests under other settings of the allocator.
pub const REPLAY: Mechanism = Mechanism {
    id: "replay",
    levels: &[
        "served",
        "served-at-best",
        "served-nearly-full",
        "served-full",
        "need-exceeds",
        "in-pieces-anyway",
        "no-setting-helps",
        "too-little",
    ],
    read: |incident| {
        let recording = incident.proof()?;
        let asked = Bytes(recording.requested?);
        let had = recording.reserved.saturating_add(recording.device_free?);
        let shown = Bytes(had);
        let reading = match recording.pieces()? {
            Pieces::InTheWay { trial, full } => {
                let Verdict::Serves { peak_reserved, .. } = trial.verdict else { return None };
                let (conf, peak, part) = (&trial.conf, Bytes(peak_reserved), percent(full));
                let level = match full {
                    f if f < 0.9 && recording.from_the_start => "served",
                    // What lay there when it began the replay packs anew, as no real run would have it.
                    f if f < 0.9 => "served-at-best",
                    f if f < 0.96 => "served-nearly-full",
                    _ => "served-full",
                };
                let limits = recording.limits_of_the_replay();
                Reading::new(
                    level,
                    Text::new(
                        format!(
                            "replayed with {conf}, the {asked} are served: {peak} reserved at most, of {shown} to be \
                             had, of which the job's own tensors are {part}{}",
                            limits.en
                        ),
                        format!(
                            "以 {conf} 重放，这次的 {asked} 可以满足：最多保留 {peak}，而可用 {shown}，其中任务自身的张\
                             量占 {part}{}",
                            limits.zh
                        ),
                    ),
                )
            }
            Pieces::NotInTheWay { .. } | Pieces::TooLittle if recording.least > had => {
                let least = Bytes(recording.least);
                Reading::new(
                    "need-exceeds",
                    text!(
                        en: "the program needs {least} at that moment, the {asked} asked for included; the allocator \
                             could have {shown}",
                        zh: "连同申请的 {asked}，程序此刻需要 {least}，而分配器可用 {shown}"
                    ),
                )
            }
            Pieces::NotInTheWay { tried } if (recording.least as f64) < ENOUGH * had as f64 => {
                let least = Bytes(recording.least);
                Reading::new(
                    "in-pieces-anyway",
                    text!(
                        en: "with the {asked} the program needs {least}, well below the {shown} to be had, and yet no \
                             setting of the allocator serves it ({tried} were replayed): what is live lies scattered \
                             over the segments",
                        zh: "连同申请的 {asked}，程序只需要 {least}，远低于可用的 {shown}，但重放的 {tried} 种分配器\
                             设置都无法满足：存活的块散布在各个段中"
                    ),
                )
            }
            Pieces::NotInTheWay { tried } => Reading::new(
                "no-setting-helps",
                text!(
                    en: "replayed under {tried} other settings of the allocator, the {asked} cannot be had of {shown} \
                         under any: pieces are not in the way",
                    zh: "以另外 {tried} 种分配器设置重放，在可用的 {shown} 中都拿不到 {asked}：碎片不是障碍"
                ),
            ),
            Pieces::TooLittle => Reading::new(
                "too-little",
                text!(
                    en: "free and cached memory together were less than the {asked} asked for, to the byte: no \
                         arrangement serves it",
                    zh: "空闲与缓存合计精确到字节也少于申请的 {asked}：怎样排列都不够"
                ),
            ),
        };
        Some(reading.recorded(entry(recording)))
    },
};

/// Whether what is held grows over the recording.
pub const GROWTH: Mechanism = Mechanism {
    id: "recorded-growth",
    levels: &["over-steps", "many-passes", "somehow", "one-pass", "none"],
    read: |incident| {
        let recording = incident.proof()?;
        let at = entry(recording);
        let Some(rise) = &recording.growth else {
            let steps = recording.steps;
            return (steps >= 4).then(|| {
                Reading::new(
                    "none",
                    text!(
                        en: "the snapshot spans {steps} steps of the optimizer, and nothing grows from one to the next",
                        zh: "快照覆盖 {steps} 个优化器步，步与步之间没有增长"
                    ),
                )
                .recorded(at)
            });
        };
        let kind = grown(incident)?;
        let (first, last, each, steps) = (Bytes(rise.first), Bytes(rise.last), Bytes(rise.per_window), rise.windows);
        let passes = recording.passes_kept();
        if let Some((held, passes)) = passes.as_ref().filter(|(_, passes)| *passes >= 5) {
            let (place, blocks) = (&held.place, held.blocks);
            return Some(
                Reading::new(
                    "many-passes",
                    Text::new(
                        format!(
                            "{blocks} results of {} are kept at once, {passes} for each tensor of parameters: those of \
                             many passes, unless the model is recurrent; in use grows from {first} to {last}",
                            place.en
                        ),
                        format!(
                            "{} 的 {blocks} 个结果同时存活，平均每个参数张量 {passes} 个：除非模型是循环结构，否则来自\
                             多次前向；占用从 {first} 增长到 {last}",
                            place.zh
                        ),
                    ),
                )
                .recorded(at),
            );
        }
        let from = rise.places.first().map(|(place, bytes)| {
            let bytes = Bytes(*bytes);
            Text::new(format!("; {bytes} of it come from {}", place.en), format!("；其中 {bytes} 来自 {}", place.zh))
        });
        let Text { en: from_en, zh: from_zh } = from.unwrap_or_else(|| Text::new("", ""));
        let reading = match kind {
            Grown::OverSteps if rise.by_steps => Reading::new(
                "over-steps",
                text!(
                    en: "memory in use between steps grows from {first} to {last} over {steps} steps of the optimizer, \
                         {each} from one to the next{from_en}",
                    zh: "步间占用在 {steps} 个优化器步内从 {first} 增长到 {last}，每步增加 {each}{from_zh}"
                ),
            ),
            Grown::OverSteps => Reading::new(
                "over-steps",
                text!(
                    en: "what is not given back grows from {first} to {last} from the start of the run on, over the \
                         steps that the log shows{from_en}",
                    zh: "自运行开始，未归还的显存在日志所示的各训练步中从 {first} 持续增长到 {last}{from_zh}"
                ),
            ),
            Grown::Somehow if passes.is_some() => Reading::new(
                "one-pass",
                text!(
                    en: "what is not given back grows from {first} to {last} all through the snapshot, and no more is \
                         kept than one pass over the model makes",
                    zh: "未归还的显存在整个快照中从 {first} 增长到 {last}，且保留量不多于模型一次前向所产生的"
                ),
            ),
            Grown::Somehow => Reading::new(
                "somehow",
                text!(
                    en: "what is not given back grows from {first} to {last} all through the snapshot: a leak if that \
                         is several steps, the activations of one pass if not",
                    zh: "未归还的显存在整个快照中从 {first} 增长到 {last}：若跨越多个训练步则是泄漏，若只有一次前向则是\
                         其激活"
                ),
            ),
        };
        Some(reading.recorded(at))
    },
};

/// Memory that the allocator had had and could no longer get.
pub const TAKEN: Mechanism = Mechanism {
    id: "taken-meanwhile",
    levels: &["taken"],
    read: |incident| {
        let (taken, recording) = taken_meanwhile(incident)?;
        Some(
            Reading::new(
                "taken",
                text!(
                    en: "the allocator had {taken} before that it could no longer get when it failed: something \
                         outside of it took them in between",
                    zh: "分配器此前拥有过的 {taken} 在失败时已拿不到：其间已被分配器之外的使用者占用"
                ),
            )
            .recorded(entry(recording)),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{RECORDED, recording, torch};
    use crate::incident::Incident;
    use crate::incident::recording::Rise;
    use crate::units::{GIB, MIB};

    fn replayed(change: impl FnOnce(&mut crate::incident::Recording), active: u64, served: Option<u64>) -> Incident {
        let mut recording = recording(active, served);
        change(&mut recording);
        Incident { recording: Some(recording), ..torch(&RECORDED) }
    }

    #[test]
    fn the_replays_outcomes() {
        let served = |active| level(&REPLAY, &replayed(|_| {}, active, Some(active + 1000 * MIB)));
        assert_eq!(served(3500 * MIB), Some("served"));
        assert_eq!(served(37_000 * MIB), Some("served-nearly-full"));
        assert_eq!(served(150_000 * MIB), Some("served-full"));
        assert_eq!(level(&REPLAY, &replayed(|_| {}, 3500 * MIB, None)), Some("in-pieces-anyway"));
        assert_eq!(level(&REPLAY, &replayed(|r| r.least = 7200 * MIB, 3500 * MIB, None)), Some("no-setting-helps"));
        assert_eq!(level(&REPLAY, &replayed(|r| r.least = 90 * GIB, 3500 * MIB, None)), Some("need-exceeds"));
        let little = replayed(|r| (r.cached, r.reserved) = (100 * MIB, 3600 * MIB), 3500 * MIB, None);
        assert!(matches!(level(&REPLAY, &little), Some("too-little" | "need-exceeds")));
    }

    #[test]
    fn growth_over_the_recording() {
        let rise = |by_steps| Rise {
            by_steps,
            first: GIB,
            last: 3 * GIB,
            windows: 10,
            per_window: 200 * MIB,
            places: Vec::new(),
        };
        let steps = replayed(|r| r.growth = Some(rise(true)), 3500 * MIB, None);
        assert_eq!(level(&GROWTH, &steps), Some("over-steps"));
        let somehow = replayed(|r| r.growth = Some(rise(false)), 3500 * MIB, None);
        assert_eq!(level(&GROWTH, &somehow), Some("somehow"));
        assert_eq!(level(&GROWTH, &replayed(|r| r.steps = 9, 3500 * MIB, None)), Some("none"));
    }

    #[test]
    fn memory_that_was_taken_meanwhile() {
        let taken = replayed(|r| r.peak_reserved = Some(r.reserved + 4 * GIB), 3500 * MIB, None);
        assert_eq!(level(&TAKEN, &taken), Some("taken"));
        assert_eq!(level(&TAKEN, &torch(&RECORDED)), None);
    }
}
