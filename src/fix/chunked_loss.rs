//! Logits in pieces.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Clue;
use crate::text;
use crate::units::Interval;

pub const FIX: Fix = Fix {
    id: "chunked-loss",
    class: Class::Activations,
    title: || text!(en: "Chunked or fused cross-entropy", zh: "分块或融合的交叉熵"),
    doc: || {
        text!(
            en: "The usual path holds 12 bytes per logit: tokens × vocabulary. 8192 tokens of a vocabulary of 128256 take 11.7 GiB. Liger or cut cross-entropy compute the loss in pieces with equal results up to rounding.",
            zh: "常规路径每个 logit 占 12 字节：token 数 × 词表。8192 个 token、词表 128256 需 11.7 GiB。Liger 或 cut cross-entropy 分块计算损失，结果只有舍入差别。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.training_step() || !case.language_model() || !case.pytorch() {
        return Advice::Silent;
    }
    let logits = case.clue(Clue::VocabularyLogits);
    Draft::new(case, &[(CauseId::Capacity, if logits { 0.6 } else { 0.2 }), (CauseId::TransientPeak, if logits { 0.75 } else { 0.2 }), (CauseId::SingleHugeAllocation, if logits { 0.7 } else { 0.1 })])
        .frees_if(
            case.requested().filter(|requested| logits && requested.low > 0).map(|requested| {
                let shown = show(requested.middle());
                (Interval::between(requested.low, requested.scale(3.0).high), text!(en: "one to three tensors like the {shown} asked for", zh: "一到三个与所申请 {shown} 同样大小的张量"))
            }),
            text!(en: "12 bytes × tokens × vocabulary; the log does not tell all of these", zh: "12 字节 × token 数 × 词表；日志没有给全"),
        )
        .slows(-0.2, 0.05)
        .certainty(if logits { Certainty::Likely } else { Certainty::RuleOfThumb })
        .knob(Target::LlamaFactory, "enable_liger_kernel: true")
        .knob(Target::Swift, "--use_liger_kernel true")
        .knob(Target::HfTrainer, "use_liger_kernel=True")
        .knob(Target::Pytorch, "loss = cut_cross_entropy.linear_cross_entropy(hidden, lm_head.weight, labels)")
        .because(join(text!(en: "logits and their gradient over the whole vocabulary need not exist at once", zh: "整个词表的 logits 及其梯度不必同时存在"), case.situation()))
}
