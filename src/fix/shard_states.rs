//! ZeRO or FSDP.

use super::budget::{Budget, Change};
use super::prelude::*;
use crate::estimate::states;

pub const FIX: Fix = Fix {
    id: "shard-states",
    class: Class::Sharding,
    title: || text!(en: "Shard states over the GPUs (ZeRO, FSDP)", zh: "在多卡间切分状态（ZeRO、FSDP）"),
    doc: || {
        text!(
            en: "Of 16 bytes per parameter, ZeRO-1 divides the 12 of the optimizer by the number of ranks, ZeRO-2 \
                 also the gradients, ZeRO-3 and FSDP everything, for more communication. One unwrapped unit saves \
                 nothing at the peak.",
            zh: "每参数 16 字节中，ZeRO-1 把优化器的 12 字节按卡数平分，ZeRO-2 再分梯度，ZeRO-3 与 FSDP 全部切分，代\
                 价是更多通信。若只包成一个单元，峰值不会下降。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::Discrete],
    applies: |case| !case.evaluating() && case.learns() && !case.ranks_read_one_device(),
    costs: Costs { slows: (0.05, 0.4), numerics: Numerics::Same },
    knobs: &[
        line(Target::DeepSpeed, "\"zero_optimization\": {\"stage\": 3}"),
        line(Target::HfTrainer, "fsdp=\"full_shard auto_wrap\"")
            .note("or deepspeed=\"zero3.json\"", "或 deepspeed=\"zero3.json\"")
            .unless("zero"),
        line(Target::HfTrainer, "\"zero_optimization\": {\"stage\": 3}")
            .note("in the DeepSpeed configuration that is in use", "写在现用的 DeepSpeed 配置中")
            .when("zero"),
        line(Target::Lightning, "Trainer(strategy=\"fsdp\")"),
        line(Target::Accelerate, "accelerate launch --use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP ..."),
        line(Target::Swift, "--deepspeed zero3"),
        line(Target::Axolotl, "deepspeed: deepspeed_configs/zero3_bf16.json"),
        line(Target::LlamaFactory, "deepspeed: examples/deepspeed/ds_z3_config.json"),
        line(Target::Shell, "torchrun --nproc_per_node={ranks} train.py")
            .note("with FSDP or ZeRO-3 in the script", "脚本中使用 FSDP 或 ZeRO-3"),
        line(Target::Pytorch, "for block in model.layers: fully_shard(block)\nfully_shard(model)"),
    ],
    fixtures: &["fix/same-states-on-four-ranks"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let ranks = case.context.world_size.value();
    if case.by_fsdp() {
        return Advice::Withheld(text!(en: "everything is sharded already", zh: "状态已全部切分"));
    }
    if ranks.is_none_or(|ranks| ranks < 2) {
        return over_more(case);
    }
    let n = ranks.unwrap_or(2);
    let stage = case.sharding_stage();
    if stage >= 3 {
        return Advice::Withheld(text!(en: "everything is sharded already", zh: "状态已全部切分"));
    }
    let regime = states::Regime::with_master_weights(states::Optimizer::Adam);
    let saving = regime.sharded(stage, n) - regime.sharded(3, n);
    if let Some(why) = case.still_too_large(Change::ShardAll).filter(|_| !case.composing()) {
        return Advice::Withheld(why);
    }
    Draft::new(case, &FIX)
        .when("zero", case.context.zero_stage.is_known())
        .frees_if(
            case.of_parameters((saving * 0.7 * 100.0).round() / 100.0, (saving * 100.0).round() / 100.0),
            case.ask_for_parameters(),
        )
        .because(text!(
            en: "{n} ranks hold the same states now; stage 3 gives each 1/{n}",
            zh: "现在 {n} 个进程各存一份状态；第 3 阶段各存 1/{n}"
        ))
}

/// One device, whose memory the states exceed: how many hold them.
fn over_more(case: &Case) -> Advice {
    if case.only_device() {
        return Advice::Silent;
    }
    let (Some(budget), Some(room), Some(_)) = (Budget::of(case), case.capacity(), case.never_fits()) else {
        return Advice::Silent;
    };
    let Some((devices, states)) = budget.devices_that_hold(room.low) else { return Advice::Silent };
    let (all, each) = (show(budget.states().high), show(states.high));
    Draft::new(case, &FIX)
        .fill("ranks", devices)
        .frees(
            budget.states() - states,
            text!(
                en: "states of {all} over {devices} devices: {each} on each",
                zh: "{all} 的状态分到 {devices} 张卡：每张 {each}"
            ),
        )
        .certainty(Certainty::Likely)
        .because(text!(
            en: "one device cannot hold the states; {devices} can: {each} on each",
            zh: "单卡放不下这些状态；{devices} 张卡可以：每张 {each}"
        ))
}
