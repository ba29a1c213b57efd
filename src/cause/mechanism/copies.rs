//! The same thing twice in memory.

use super::{Mechanism, Reading};
use crate::cause::nature::{JobKind, job_kind, on_gpu};
use crate::incident::context::{Clue, Phase};
use crate::text;
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
            if let Some(span) = clue(Clue::LoadedTwice) {
                return Some(
                    Reading::new(
                        "same-lines",
                        text!(
                            en: "the log tells twice of the same load, in the same words",
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
    levels: &["would-have-sufficed", "besides"],
    read: |incident| {
        let (_, refusal) = incident.observed.as_deref()?.refused(incident)?;
        let weights = refusal.weights.as_ref()?;
        let again = weights.modules.saturating_add(weights.tensors);
        let extra = again.saturating_mul(weights.bytes);
        // What is small beside the device is there twice on purpose, and in nobody's way.
        if extra == 0 || (extra as f64) < WORTH_A_COPY * refusal.total as f64 {
            return None;
        }
        let missing = refusal.requested.saturating_sub(refusal.free);
        let level = if extra >= missing { "would-have-sufficed" } else { "besides" };
        let (class, one, modules, tensors) = (&weights.class, Bytes(weights.bytes), weights.modules, weights.tensors);
        let all = Bytes(extra);
        Some(Reading::new(
            level,
            text!(
                en: "the weights of {class} ({one}) lie on the device {again} more times, {all} in all: {modules} \
                     modules alike, and {tensors} sets of tensors that belong to no module (a state dict, a moving \
                     average)",
                zh: "{class} 的权重（{one}）在设备上还有 {again} 份，共 {all}：{modules} 个相同的模块，以及 {tensors} 组\
                     不属于任何模块的张量（state dict、滑动平均）"
            ),
        ))
    },
};

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
                    en: "the run goes on from a checkpoint: what was read from it stays on the device until it is \
                         deleted",
                    zh: "本次运行从检查点恢复：读入的内容在被删除之前一直留在设备上"
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
    fn a_checkpoint_that_training_goes_on_from_may_still_be_there() {
        let mut incident = torch(&[]);
        incident.context.clues.insert(Clue::Resumed, crate::evidence::Span::line(2));
        assert_eq!(level(&RESUMED, &incident), None, "nothing shows that it trains");
        incident.context.phase.note(Phase::Backward, crate::evidence::Span::line(9));
        assert_eq!(level(&RESUMED, &incident), Some("in-training"));
    }
}
