//! Weights, gradients and state in 16 bit.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "bf16-states",
    class: Class::Precision,
    title: || text!(en: "Pure bf16 training states", zh: "纯 bf16 训练状态"),
    doc: || {
        text!(
            en: "Weights, gradients and Adam's state take 8 instead of 16 bytes per parameter. Small updates are lost in rounding unless it is stochastic or compensated: training may differ.",
            zh: "权重、梯度和 Adam 状态从每参数 16 字节降到 8 字节。若不用随机舍入或补偿，小更新会在舍入中丢失：训练结果可能不同。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu()
        || !case.training()
        || !case.language_model()
        || case.evaluating()
        || case.context.lora.value() == Some(true)
    {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::Capacity, 0.35), (CauseId::TransientPeak, 0.1)])
        .frees_if(case.of_parameters(4.0, 8.0), case.ask_for_parameters())
        .numerics(Numerics::Optimisation)
        .knob(Target::Lightning, "Trainer(precision=\"bf16-true\")")
        .knob(Target::LlamaFactory, "pure_bf16: true")
        .knob(Target::HfTrainer, "from_pretrained(..., torch_dtype=torch.bfloat16)   # and bf16=True")
        .knob(Target::Pytorch, "model.to(torch.bfloat16)   # before the optimizer is made")
        .because(text!(en: "states of 16 bytes per parameter shrink to 8", zh: "每参数 16 字节的状态降到 8 字节"))
}
