//! ZeRO or FSDP.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::estimate::states;
use crate::text;

pub const FIX: Fix = Fix {
    id: "shard-states",
    class: Class::Sharding,
    title: || text!(en: "Shard states over the GPUs (ZeRO, FSDP)", zh: "在多卡间切分状态（ZeRO、FSDP）"),
    doc: || {
        text!(
            en: "Of 16 bytes per parameter, ZeRO-1 divides the 12 of the optimizer by the number of ranks, ZeRO-2 also the gradients, ZeRO-3 and FSDP everything, for more communication. One unwrapped unit saves nothing at the peak.",
            zh: "每参数 16 字节中，ZeRO-1 把优化器的 12 字节按卡数平分，ZeRO-2 再分梯度，ZeRO-3 与 FSDP 全部切分，代价是更多通信。若只包成一个单元，峰值不会下降。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.training() || case.evaluating() || !case.learns() {
        return Advice::Silent;
    }
    let ranks = case.context.world_size.value();
    if ranks.is_none_or(|ranks| ranks < 2) {
        return Advice::Silent;
    }
    let n = ranks.unwrap_or(2);
    let stage = case.context.zero_stage.value().unwrap_or(if case.context.fsdp.value() == Some(true) { 3 } else { 0 });
    if stage >= 3 {
        return Advice::Withheld(text!(en: "everything is sharded already", zh: "状态已全部切分"));
    }
    let regime = states::Regime::with_master_weights(states::Optimizer::Adam);
    let saving = regime.sharded(stage, n) - regime.sharded(3, n);
    Draft::new(case, &[(CauseId::Capacity, 0.5), (CauseId::TransientPeak, 0.2)])
        .frees_if(
            case.of_parameters((saving * 0.7 * 100.0).round() / 100.0, (saving * 100.0).round() / 100.0),
            case.ask_for_parameters(),
        )
        .slows(0.05, 0.4)
        .knob(Target::DeepSpeed, "\"zero_optimization\": {\"stage\": 3}")
        .knob(Target::HfTrainer, "fsdp=\"full_shard auto_wrap\"   # or deepspeed=\"zero3.json\"")
        .knob(Target::Lightning, "Trainer(strategy=\"fsdp\")")
        .knob(Target::Accelerate, "accelerate launch --use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP ...")
        .knob(Target::Swift, "--deepspeed zero3")
        .knob(Target::LlamaFactory, "deepspeed: examples/deepspeed/ds_z3_config.json")
        .knob(Target::Pytorch, "for block in model.layers: fully_shard(block)\nfully_shard(model)")
        .because(text!(en: "{n} ranks hold the same states now; stage 3 gives each 1/{n}", zh: "现在 {n} 个进程各存一份状态；第 3 阶段各存 1/{n}"))
}
