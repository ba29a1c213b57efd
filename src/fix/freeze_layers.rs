//! Train the upper layers only.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "freeze-layers",
    class: Class::Model,
    title: || text!(en: "Freeze the lower layers, or take a smaller model", zh: "冻结底层，或换更小的模型"),
    doc: || {
        text!(
            en: "Frozen layers need no gradient and no optimizer state; below the lowest trainable layer no activations are kept either.",
            zh: "冻结的层不需要梯度和优化器状态；最低可训练层以下也不保留激活。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.learns() || case.diffusion() || case.evaluating() {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::Capacity, 0.3)])
        .weight(case.if_training())
        .frees_unknown(case.ask_for_parameters())
        .slows(-0.3, 0.0)
        .numerics(Numerics::Model)
        .knob(Target::Ultralytics, "freeze=10   # or a smaller model: yolo11n instead of yolo11x")
        .knob(Target::Fastai, "learn.freeze_to(-2)")
        .knob(Target::Pytorch, "for p in model.encoder.parameters(): p.requires_grad_(False)   # or a smaller model of the family")
        .because(join(text!(en: "what is not trained keeps no gradients, state or activations", zh: "不训练的部分不保留梯度、状态和激活"), case.situation()))
}
