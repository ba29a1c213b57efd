//! A remedy of inference, not of training.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "half-in-training",
    class: Class::Precision,
    title: || text!(en: "model.half() in training", zh: "训练时使用 model.half()"),
    doc: || {
        text!(
            en: "fp16 weights without a scaler or master weights overflow or stop learning. Use autocast, or bf16 \
                 states.",
            zh: "没有 scaler 和主权重的 fp16 权重会溢出或停止学习。请用 autocast，或 bf16 状态。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training],
    applies: |case| case.training_step() && matches!(case.precision(), None | Some(Precision::Fp32)) && case.pytorch(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[],
    fixtures: &["fix/averaged-weights", "fix/gathered-outputs"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.confidence(CauseId::Capacity) < 0.4 {
        return Advice::Silent;
    }
    Advice::WontHelp(text!(
        en: "fp16 weights shrink the states but training diverges without a scaler and master weights; autocast is \
             the way",
        zh: "fp16 权重能缩小状态，但没有 scaler 和主权重训练会发散；应使用 autocast"
    ))
}
