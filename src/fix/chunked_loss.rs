//! Logits in pieces.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "chunked-loss",
    class: Class::Activations,
    title: || text!(en: "Chunked or fused cross-entropy", zh: "分块或融合的交叉熵"),
    doc: || {
        text!(
            en: "The usual path holds 12 bytes per logit: tokens × vocabulary. 8192 tokens of a vocabulary of \
                 128256 take 11.7 GiB. Liger or cut cross-entropy compute the loss in pieces with equal results up \
                 to rounding.",
            zh: "常规路径每个 logit 占 12 字节：token 数 × 词表。8192 个 token、词表 128256 需 11.7 GiB。Liger 或 \
                 cut cross-entropy 分块计算损失，结果只有舍入差别。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::NoEngine],
    applies: |case| case.training_step() && case.language_model() && case.pytorch(),
    costs: Costs { slows: (-0.2, 0.05), numerics: Numerics::Same },
    knobs: &[
        line(Target::LlamaFactory, "enable_liger_kernel: true"),
        line(Target::Swift, "--use_liger_kernel true"),
        line(Target::HfTrainer, "use_liger_kernel=True"),
        line(Target::Pytorch, "loss = cut_cross_entropy.linear_cross_entropy(hidden, lm_head.weight, labels)"),
    ],
    fixtures: &["context/hf-trainer", "context/ranks"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let logits = case.clue(Clue::VocabularyLogits);
    Draft::new(case, &FIX)
        .when("logits", logits)
        .frees_if(
            case.requested().filter(|requested| logits && requested.low > 0).map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(requested.low, requested.scale(3.0).high),
                    text!(
                        en: "one to three tensors like the {shown} requested",
                        zh: "一到三个与所申请 {shown} 同样大小的张量"
                    ),
                )
            }),
            text!(
                en: "12 bytes × tokens × vocabulary; the log does not tell all of these",
                zh: "12 字节 × token 数 × 词表；日志没有给全"
            ),
        )
        .certainty(if logits { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(join(
            text!(
                en: "logits and their gradient over the whole vocabulary need not exist at once",
                zh: "整个词表的 logits 及其梯度不必同时存在"
            ),
            case.situation(),
        ))
}
