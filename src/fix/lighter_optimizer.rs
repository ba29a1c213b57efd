//! An optimizer with less state.

use super::budget::Change;
use super::prelude::*;
use crate::estimate::states;

pub const FIX: Fix = Fix {
    id: "lighter-optimizer",
    class: Class::Optimizer,
    title: || {
        text!(
            en: "An optimizer with less state (Adafactor, Lion, SGD)",
            zh: "状态更小的优化器（Adafactor、Lion、SGD）"
        )
    },
    doc: || {
        text!(
            en: "Bytes of state per 32-bit parameter: Adam 8, Lion or SGD with momentum 4, Adafactor without \
                 momentum about 0.01, plain SGD 0. They train differently: learning rates must be found anew.",
            zh: "每个 32 位参数的状态字节数：Adam 8，Lion 或带动量的 SGD 4，无动量 Adafactor 约 0.01，纯 SGD 0。训练\
                 行为不同，需要重新调学习率。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::Loaded],
    applies: |case| !case.arguments_alone() && !case.evaluating() && !case.adapters(),
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Optimisation },
    knobs: &[
        line(Target::HfTrainer, "optim=\"adafactor\""),
        line(Target::Pytorch, "torch.optim.Adafactor(params)")
            .note("PyTorch 2.5+; or SGD(params, lr, momentum=0.9)", "需 PyTorch 2.5+；或 SGD(params, lr, momentum=0.9)")
            .unless("own-optimizer"),
        said(
            Target::TensorFlow,
            "SGD without momentum, which keeps no states beside the weights",
            "不带动量的 SGD：除权重外不保存任何状态",
        )
        .when("stepping"),
        said(
            Target::Program,
            "SGD, by the program's own option for the optimizer: it has an optimizer of its own",
            "改用 SGD：通过程序自身的优化器选项（它自带优化器）",
        )
        .when("own-optimizer"),
    ],
    fixtures: &["context/ranks", "pytorch/snapshot-capacity"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let known = case.context.optimizer.get().and_then(|name| states::Optimizer::named(name));
    if known.is_some_and(|optimizer| optimizer.state() < 4.0) {
        return Advice::Silent;
    }
    let state = known.map_or(8.0, states::Optimizer::state);
    let stepping = case.phase() == Some(Phase::OptimizerStep) || case.clue(Clue::OptimizerState);
    if !stepping && !case.large_model() && known.is_none() {
        return Advice::Silent;
    }
    if let Some(why) = case.still_too_large(Change::NoOptimizerState) {
        return Advice::Withheld(why);
    }
    if let Some(why) = case.no_states_yet() {
        return Advice::Withheld(why);
    }
    Draft::new(case, &FIX)
        .when("stepping", stepping)
        .when("own-optimizer", case.brings_its_optimizer())
        .weight(if stepping {
            1.5
        } else if case.language_model() {
            0.7
        } else {
            0.25
        })
        .frees_if(case.of_parameters(state / 4.0, state), case.ask_for_parameters())
        .because(text!(
            en: "the optimizer's state is {state} bytes per 32-bit parameter; others keep 0 to 4",
            zh: "优化器状态为每个 32 位参数 {state} 字节；其他优化器为 0 到 4"
        ))
}
