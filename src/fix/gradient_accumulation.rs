//! Accumulation alone: the partner of a smaller batch.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "gradient-accumulation",
    class: Class::Batch,
    title: || text!(en: "Gradient accumulation", zh: "梯度累积"),
    doc: || {
        text!(
            en: "Accumulation lets a smaller batch count like the large one. It frees the activations of the \
                 samples that are no longer held at once, nothing else: weights, gradients and optimizer state \
                 stay, and gradients now live between micro-steps. The mean over micro-steps equals the large \
                 batch only if the loss is averaged over all valid items; batch normalisation and in-batch \
                 negatives see the small batch.",
            zh: "梯度累积让小批等效于大批。它只省下不再同时保留的那部分样本的激活；权重、梯度和优化器状态都不变，且\
                 梯度在微步之间一直存活。只有损失按全部有效元素求平均时才与大批等价；BatchNorm 和批内负样本看到的仍\
                 是小批。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training],
    applies: |case| case.training_step(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[],
    fixtures: &["context/side-tables", "context/retried"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.context.batch_size.value() == Some(1) {
        return Advice::WontHelp(text!(
            en: "the batch is 1: accumulation splits a batch, and this one cannot be split",
            zh: "批大小已是 1：梯度累积靠拆分批次，这里已无可拆"
        ));
    }
    if case.phase() == Some(Phase::OptimizerStep) || case.clue(Clue::OptimizerState) {
        return Advice::WontHelp(text!(
            en: "it failed in the optimizer's step: accumulation leaves weights, gradients and state as \
                 they are and keeps gradients alive longer",
            zh: "失败发生在优化器更新时：梯度累积不减少权重、梯度和优化器状态，反而让梯度存活更久"
        ));
    }
    Advice::Withheld(
        text!(en: "belongs to smaller-batch, whose knobs hold both", zh: "与 smaller-batch 配套，其设置行已包含两者"),
    )
}
