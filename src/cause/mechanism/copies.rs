//! The same thing twice in memory.

use super::{Mechanism, Reading};
use crate::cause::nature::{JobKind, job_kind, on_gpu};
use crate::incident::context::{Clue, Phase};
use crate::incident::timeline::HeldWeights;
use crate::text;
use crate::text::{Lang, Text, counted};
use crate::units::Bytes;

/// The log shows the same load more than once, or a copy of a model in the making.
pub const LOADED_TWICE: Mechanism =
    Mechanism {
        id: "loaded-twice",
        levels: &["same-lines", "copied-here", "announced"],
        read: |incident| {
            if !on_gpu(incident) {
                return None;
            }
            let clue = |clue| incident.context.clues.get(&clue).copied();
            if let Some(span) = clue(Clue::CopiesModel) {
                return Some(
                Reading::new(
                    "copied-here",
                    text!(en: "the failing line makes a second copy of a model", zh: "失败处正在创建模型的第二份副本"),
                )
                .at(span),
            );
            }
            if let Some(span) = clue(Clue::SpawnedAgain) {
                return Some(
                    Reading::new(
                        "copied-here",
                        text!(
                            en: "a spawned child runs the script again, and with it whatever loads the model",
                            zh: "spawn 出的子进程会再次运行脚本，模型也随之再次加载"
                        ),
                    )
                    .at(span),
                );
            }
            if let Some(span) = clue(Clue::LoadedTwice) {
                return Some(
                    Reading::new(
                        "same-lines",
                        text!(
                            en: "the log reports the same load twice, in the same words",
                            zh: "日志两次以相同的文字记录了同一次加载"
                        ),
                    )
                    .at(span),
                );
            }
            let span = clue(Clue::SecondModel)?;
            Some(
            Reading::new("announced", text!(
                en: "the log names a second model of the same kind: an average, a teacher, a reference or a target",
                zh: "日志提到同类的第二个模型：滑动平均、教师、参考或目标网络"
            ))
                .at(span),
        )
        },
    };

/// The same weights several times on the device, as Python's own objects told at the failure (`oomdoc run --snapshot`).
pub const HELD_AGAIN: Mechanism = Mechanism {
    id: "held-again",
    levels: &["would-have-sufficed", "moved-meanwhile", "made-meanwhile", "besides"],
    read: |incident| {
        let (process, refusal) = incident.observed.as_deref()?.refused(incident)?;
        let weights = refusal.weights.as_ref()?;
        let loose = weights.tensors.saturating_mul(weights.bytes);
        let extra = weights.again.saturating_add(loose);
        // What is small beside the device is there twice on purpose, and in nobody's way.
        if extra == 0 || (extra as f64) < WORTH_A_COPY * refusal.total as f64 {
            return None;
        }
        let missing = refusal.requested.saturating_sub(refusal.free);
        // What was allocated since the last step holds the copies, so that the steps had none.
        let after_step = process.rows.last().map(|(_, held)| *held);
        let since = after_step.map_or(0, |held| refusal.allocated.saturating_sub(held));
        let level = if since as f64 >= MOSTLY_SINCE * extra as f64 {
            // Sets of tensors are made for a moment, as in a save; a module is there to be used.
            if weights.again >= loose { "moved-meanwhile" } else { "made-meanwhile" }
        } else if extra >= missing {
            "would-have-sufficed"
        } else {
            "besides"
        };
        let (class, one, all) = (&weights.class, Bytes(weights.bytes), Bytes(extra));
        let (since_en, since_zh) = match level {
            "made-meanwhile" | "moved-meanwhile" => (", made since the last step", "，是上一步之后产生的"),
            _ => ("", ""),
        };
        let held = [of_modules(weights), of_tensors(weights)];
        let joined = |lang, and: &str| {
            let held: Vec<&str> = held.iter().flatten().map(|held| held.in_lang(lang)).collect();
            held.join(and)
        };
        let (in_en, in_zh) = (joined(Lang::En, " and "), joined(Lang::Zh, "，"));
        Some(Reading::new(
            level,
            text!(
                en: "the weights of {class} ({one}) lie on the device again, {all} in all{since_en}: {in_en}",
                zh: "{class} 的权重（{one}）在设备上另有副本，共 {all}{since_zh}：{in_zh}"
            ),
        ))
    },
};

/// Modules with the same weights, and what of theirs is not on the device yet.
fn of_modules(weights: &HeldWeights) -> Option<Text> {
    let modules = weights.modules;
    let more = Bytes(modules.saturating_mul(weights.bytes).saturating_sub(weights.again));
    let alike = counted(modules, "module", "modules");
    let (en, zh) = if more.0 == 0 {
        Default::default()
    } else {
        (format!(" ({more} of it still to come)"), format!("（其中 {more} 尚未到达）"))
    };
    (modules > 0).then(|| text!(en: "in {alike} alike{en}", zh: "相同的模块 {modules} 个{zh}"))
}

/// Sets of tensors that hold the same.
fn of_tensors(weights: &HeldWeights) -> Option<Text> {
    let tensors = weights.tensors;
    let sets = counted(tensors, "set", "sets");
    (tensors > 0).then(|| {
        text!(
            en: "in {sets} of tensors that belong to no module, such as a state dict or a moving average",
            zh: "不属于任何模块的整组张量（state dict、滑动平均等）{tensors} 组"
        )
    })
}

/// Of the copies' bytes so much was allocated since the last step, where they were made by what failed. Some may be
/// freed again.
const MOSTLY_SINCE: f64 = 0.8;

/// A share of the device from which on copies are worth telling.
const WORTH_A_COPY: f64 = 0.05;

/// A training job that goes on from a checkpoint, whose tensors may still lie beside the model.
pub const RESUMED: Mechanism = Mechanism {
    id: "resumed",
    levels: &["in-training"],
    read: |incident| {
        let span = incident.context.clues.get(&Clue::Resumed)?;
        let trains = job_kind(incident) == Some(JobKind::Training)
            || matches!(incident.context.phase.value(), Some(Phase::Forward | Phase::Resume));
        (on_gpu(incident) && trains).then(|| {
            Reading::new(
                "in-training",
                text!(
                    en: "the run goes on from a checkpoint: what was read from it may still lie on the device beside \
                         the model",
                    zh: "本次运行从检查点恢复：读入的内容可能仍与模型一起留在设备上"
                ),
            )
            .at(*span)
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::torch;

    #[test]
    fn equal_lines_of_a_load() {
        let mut incident = torch(&[]);
        assert_eq!(level(&LOADED_TWICE, &incident), None);
        incident.context.clues.insert(Clue::LoadedTwice, crate::evidence::Span::lines(2, 9));
        assert_eq!(level(&LOADED_TWICE, &incident), Some("same-lines"));
        incident.context.clues.insert(Clue::CopiesModel, crate::evidence::Span::line(20));
        assert_eq!(level(&LOADED_TWICE, &incident), Some("copied-here"));
        incident.context.clues.clear();
        incident.context.clues.insert(Clue::SecondModel, crate::evidence::Span::line(2));
        assert_eq!(level(&LOADED_TWICE, &incident), Some("announced"));
    }

    #[test]
    fn weights_that_lie_there_again_are_a_matter_of_the_job_or_of_what_failed() {
        use crate::cause::trial::FULL_CARD;
        use crate::cause::{CauseId, rank};
        use crate::incident::timeline::{HeldWeights, InsideProcess, Refusal, Timeline};
        use crate::units::GIB;
        let of = |modules, again, tensors, bytes, rows: &[(u64, u64)]| {
            let weights = HeldWeights { class: "Net".into(), bytes, modules, again, tensors };
            let requested = crate::dialect::Fact::Requested;
            let mut incident = torch(&FULL_CARD);
            let requested = incident.event.facts.get(requested).unwrap().bytes;
            let refusal = Refusal {
                requested,
                total: 24 * GIB,
                allocated: 23 * GIB,
                weights: Some(weights),
                ..Refusal::default()
            };
            let process = InsideProcess { rows: rows.to_vec(), failures: vec![refusal], ..InsideProcess::default() };
            incident.observed = Some(std::sync::Arc::new(Timeline { inside: vec![process], ..Timeline::default() }));
            incident
        };
        let held = |modules: u64, bytes, rows: &[(u64, u64)]| {
            level(&HELD_AGAIN, &of(modules, modules * bytes, 0, bytes, rows))
        };
        assert_eq!(held(0, 6 * GIB, &[]), None);
        assert_eq!(held(2, 6 * GIB, &[]), Some("would-have-sufficed"));
        assert_eq!(held(1, 6 * GIB, &[(1, 22 * GIB)]), Some("would-have-sufficed"), "the steps had them too");
        assert_eq!(held(1, 6 * GIB, &[(1, 17 * GIB)]), Some("moved-meanwhile"));
        assert_eq!(rank(&of(1, 6 * GIB, 0, 6 * GIB, &[(1, 17 * GIB)]))[0].cause.id, CauseId::DuplicateModel);
        let saved = of(0, 0, 1, 6 * GIB, &[(1, 17 * GIB)]);
        assert_eq!(level(&HELD_AGAIN, &saved), Some("made-meanwhile"), "a set of tensors, as for a save");
        assert_ne!(rank(&saved)[0].cause.id, CauseId::DuplicateModel);
        let on_its_way = of(1, 2 * GIB, 0, 6 * GIB, &[(1, 21 * GIB)]);
        let told = (HELD_AGAIN.read)(&on_its_way).unwrap();
        assert_eq!(told.level, "moved-meanwhile");
        assert!(told.text.en.contains("2.00 GiB in all, made since the last step"), "{told:?}");
        assert!(told.text.en.contains("in 1 module alike (4.00 GiB of it still to come)"), "{told:?}");
        assert_eq!(held(1, GIB / 2, &[]), None, "a small one is in nobody's way");
    }

    #[test]
    fn a_checkpoint_that_training_goes_on_from_may_still_be_there() {
        let mut incident = torch(&[]);
        incident.context.clues.insert(Clue::Resumed, crate::evidence::Span::line(2));
        assert_eq!(level(&RESUMED, &incident), None, "nothing shows that it trains");
        incident.context.phase.note(Phase::Backward, crate::evidence::Span::line(9));
        assert_eq!(level(&RESUMED, &incident), Some("in-training"));
    }
}
