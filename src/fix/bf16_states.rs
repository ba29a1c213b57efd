//! Weights, gradients and state in 16 bit.

use super::budget::Change;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "bf16-states",
    class: Class::Precision,
    title: || text!(en: "Pure bf16 training states", zh: "纯 bf16 训练状态"),
    doc: || {
        text!(
            en: "Weights, gradients and Adam's state take 8 instead of 16 bytes per parameter. Small updates are \
                 lost in rounding unless it is stochastic or compensated: training may differ.",
            zh: "权重、梯度和 Adam 状态从每参数 16 字节降到 8 字节。若不用随机舍入或补偿，小更新会在舍入中丢失：训练\
                 结果可能不同。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training],
    // fairscale keeps copies in 32 bit of what it divides.
    applies: |case| {
        case.large_model()
            && !case.evaluating()
            && !case.adapters()
            && !case.clue(Clue::BeforeAmpere)
            && !case.frames_of("/fairscale/")
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Optimisation },
    knobs: &[
        line(Target::Lightning, "Trainer(precision=\"bf16-true\")"),
        line(Target::LlamaFactory, "pure_bf16: true"),
        line(Target::HfTrainer, "from_pretrained(..., torch_dtype=torch.bfloat16)")
            .note("and bf16=True", "并设 bf16=True")
            .when("pretrained"),
        line(Target::Pytorch, "model.to(torch.bfloat16)").note("before the optimizer is made", "在创建优化器之前"),
    ],
    fixtures: &["context/ranks", "context/hf-trainer"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.clue(Clue::SixteenBitStates) {
        return Advice::Withheld(text!(en: "the states are of 16 bit already", zh: "训练状态已是 16 位"));
    }
    if case.context.origin.weights_in_16_bit {
        return Advice::Withheld(text!(en: "the weights are loaded in 16 bit already", zh: "权重已按 16 位加载"));
    }
    if let Some(why) = case.still_too_large(Change::SixteenBitStates).filter(|_| !case.composing()) {
        return Advice::Withheld(why);
    }
    let (least, most) = match case.no_states_yet() {
        Some(_) if case.phase() == Some(Phase::Backward) => (2.0, 4.0),
        Some(_) => (2.0, 2.0),
        None => (4.0, 8.0),
    };
    Draft::new(case, &FIX)
        .when("pretrained", case.trainer_seen().is_some() || case.pretrained() && !case.context.frames.is_empty())
        .frees_if(case.of_parameters(least, most), case.ask_for_parameters())
        .because(text!(en: "states of 16 bytes per parameter shrink to 8", zh: "每参数 16 字节的状态降到 8 字节"))
}
