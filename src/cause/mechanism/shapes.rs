//! What the failing line makes, and how its size depends on the data.

use super::{Mechanism, Reading};
use crate::cause::nature::on_gpu;
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::text;
use crate::text::Text;

fn clue(incident: &Incident, clue: Clue, level: &'static str, text: Text) -> Option<Reading> {
    let span = incident.context.clues.get(&clue)?;
    Some(Reading::new(level, text).at(*span))
}

/// Something quadratic.
pub const QUADRATIC: Mechanism = Mechanism {
    id: "quadratic",
    levels: &["pairs"],
    read: |incident| {
        clue(
            incident,
            Clue::Quadratic,
            "pairs",
            text!(
                en: "the failing line makes something quadratic: every pair of tokens, points or masks",
                zh: "失败处的代码产生平方规模的张量：每一对 token、点或掩码"
            ),
        )
    },
};

/// Logits over a vocabulary, or optimizer state.
pub const VOCABULARY: Mechanism = Mechanism {
    id: "failing-line",
    levels: &["vocabulary", "optimizer-state", "loads-model"],
    read: |incident| {
        clue(
            incident,
            Clue::VocabularyLogits,
            "vocabulary",
            text!(
                en: "the failing line makes logits or a loss over the whole vocabulary",
                zh: "失败处产生整个词表大小的 logits 或损失"
            ),
        )
        .or_else(|| {
            clue(
                incident,
                Clue::OptimizerState,
                "optimizer-state",
                text!(
                    en: "the failing line creates optimizer state, which the first steps did without",
                    zh: "失败处正在创建优化器状态，最初几步还没有它"
                ),
            )
        })
        .or_else(|| {
            clue(
                incident,
                Clue::LoadsModel,
                "loads-model",
                text!(
                    en: "the failing line loads or moves a model",
                    zh: "失败处正在加载或搬移模型"
                ),
            )
        })
    },
};

/// A convolution's workspace.
pub const WORKSPACE: Mechanism = Mechanism {
    id: "convolution-workspace",
    levels: &["at-work"],
    read: |incident| {
        clue(
            incident,
            Clue::ConvWorkspace,
            "at-work",
            text!(
                en: "a convolution, which takes a workspace of its own, is at work",
                zh: "正在进行卷积，卷积会占用自己的工作区"
            ),
        )
    },
};

/// A pass without a backward pass that keeps what one would need.
pub const KEPT: Mechanism = Mechanism {
    id: "gradients-kept",
    levels: &["volatile-ignored"],
    read: |incident| {
        let text = text!(
            en: "the program still marks its inputs volatile, which has had no effect since PyTorch 0.4: its forward \
                 pass keeps what a backward pass would need",
            zh: "程序仍以 volatile 标记输入，而自 PyTorch 0.4 起它不再生效：前向传播会保留反向所需的一切"
        );
        clue(incident, Clue::VolatileIgnored, "volatile-ignored", text).filter(|_| on_gpu(incident))
    },
};

/// Sizes that change from step to step.
pub const VARIABLE: Mechanism = Mechanism {
    id: "variable-shapes",
    levels: &["vary"],
    read: |incident| {
        clue(incident, Clue::VariableShapes, "vary", text!(
            en: "tensor sizes change from step to step, which splits cached blocks and makes some steps larger than \
                 others",
            zh: "张量大小逐步变化，会把缓存块切碎，也使某些步远大于其他步"
        ))
            .filter(|_| on_gpu(incident))
    },
};

/// A smaller batch failed as well.
pub const SMALLER_TRIED: Mechanism = Mechanism {
    id: "smaller-batch-tried",
    levels: &["failed-as-well"],
    read: |incident| {
        clue(
            incident,
            Clue::SmallerBatchTried,
            "failed-as-well",
            text!(en: "a smaller batch is said to have failed as well", zh: "据称减小批大小后仍然失败"),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::torch;
    use crate::evidence::Span;

    #[test]
    fn each_clue_has_its_level() {
        for (seen, mechanism, want) in [
            (Clue::Quadratic, &QUADRATIC, "pairs"),
            (Clue::VocabularyLogits, &VOCABULARY, "vocabulary"),
            (Clue::OptimizerState, &VOCABULARY, "optimizer-state"),
            (Clue::LoadsModel, &VOCABULARY, "loads-model"),
            (Clue::ConvWorkspace, &WORKSPACE, "at-work"),
            (Clue::VariableShapes, &VARIABLE, "vary"),
            (Clue::SmallerBatchTried, &SMALLER_TRIED, "failed-as-well"),
        ] {
            let mut incident = torch(&[]);
            assert_eq!(level(mechanism, &incident), None);
            incident.context.clues.insert(seen, Span::line(4));
            assert_eq!(level(mechanism, &incident), Some(want));
        }
    }
}
