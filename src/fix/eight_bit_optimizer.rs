//! Adam's state in 8 bit.

use super::budget::Change;
use super::prelude::*;
use crate::estimate::states;

pub const FIX: Fix = Fix {
    id: "eight-bit-optimizer",
    class: Class::Optimizer,
    title: || text!(en: "8-bit optimizer", zh: "8-bit 优化器"),
    doc: || {
        text!(
            en: "Adam keeps 8 bytes of state per 32-bit parameter; the 8-bit form 2.03, with tensors below 4096 \
                 elements left at 32 bit. The paged form can be pushed out to the host. Some runs need the \
                 embeddings at 32 bit for stability.",
            zh: "Adam 每个 32 位参数保存 8 字节状态；8-bit 版本为 2.03 字节，少于 4096 个元素的张量仍为 32 \
                 位。paged 版本可换出到主机。有些任务需要把 embedding 保持 32 位以稳定训练。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::Loaded],
    // bitsandbytes has no kernels for Apple's devices.
    applies: |case| !case.arguments_alone() && case.pytorch() && !case.evaluating() && !case.apple(),
    costs: Costs { slows: (-0.05, 0.05), numerics: Numerics::Benign },
    knobs: &[
        line(Target::HfTrainer, "optim=\"adamw_8bit\"").note("or \"paged_adamw_8bit\"", "或 \"paged_adamw_8bit\""),
        line(Target::HfTrainer, "optim=\"adamw_bnb_8bit\"").older(),
        line(Target::LlamaFactory, "optim: adamw_8bit"),
        line(Target::Axolotl, "optimizer: adamw_bnb_8bit"),
        line(Target::Swift, "--optim adamw_8bit"),
        line(Target::Diffusers, "--use_8bit_adam").when("example-script"),
        line(Target::Pytorch, "bitsandbytes.optim.AdamW8bit(params, lr=lr)").unless("own-optimizer"),
        said(
            Target::Program,
            "an 8-bit optimizer in the place of the program's own, where it has an option for one",
            "若程序有此选项：用 8 位优化器替换它自带的优化器",
        )
        .when("own-optimizer"),
        said(
            Target::Program,
            "an 8-bit optimizer, by the program's own option where it has one",
            "8 位优化器：使用程序自带的选项（若有）",
        )
        .when("installed"),
    ],
    fixtures: &["context/ranks", "pytorch/snapshot-capacity"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let name = case.context.optimizer.get().cloned();
    let known = name.as_deref().and_then(states::Optimizer::named);
    if known.is_some_and(|optimizer| optimizer.state() < 4.0) {
        let name = name.unwrap_or_default();
        return Advice::Withheld(text!(en: "{name} keeps little state already", zh: "{name} 的状态已经很小"));
    }
    if case.adapters() {
        return Advice::WontHelp(text!(
            en: "only the adapters have optimizer state: there is little to shrink",
            zh: "只有适配器才有优化器状态：没有多少可压缩"
        ));
    }
    // fairscale divides the optimizer's state over the ranks in a wrapper of its own.
    if case.frames_of("/fairscale/") {
        return Advice::Silent;
    }
    if let Some(why) = case.still_too_large(Change::EightBitOptimizer).filter(|_| !case.composing()) {
        return Advice::Withheld(why);
    }
    let stepping = case.phase() == Some(Phase::OptimizerStep) || case.clue(Clue::OptimizerState);
    let state = known.map_or(8.0, states::Optimizer::state);
    let high = state - states::Optimizer::Adam8bit.state();
    // Of a small model the states are the lesser part, and nothing shows that they are Adam's.
    if !stepping && !case.large_model() && known.is_none() && !case.composing() {
        return Advice::Silent;
    }
    if let Some(why) = case.no_states_yet() {
        return Advice::Withheld(why);
    }
    Draft::new(case, &FIX)
        .when("example-script", case.runs_an_example_of_diffusers())
        .when("stepping", stepping)
        .when("own-optimizer", case.brings_its_optimizer())
        .weight(if stepping {
            1.6
        } else if case.language_model() {
            0.9
        } else {
            0.4
        })
        .frees_if(case.of_parameters(high / 2.0, high), case.ask_for_parameters())
        .certainty(if stepping { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(text!(
            en: "Adam's state takes 8 bytes per 32-bit parameter, 2.03 in 8 bit",
            zh: "Adam 状态每个 32 位参数 8 字节，8-bit 为 2.03 字节"
        ))
}
