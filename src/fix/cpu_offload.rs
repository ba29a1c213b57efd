//! Optimizer state on the host.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "cpu-offload",
    class: Class::Offload,
    title: || text!(en: "Offload optimizer state to host memory", zh: "把优化器状态卸载到主机内存"),
    doc: || {
        text!(
            en: "12 of 16 bytes per parameter leave the GPU; the host needs one and a half times as much. Steps take 1.3 to 10 times as long.",
            zh: "每参数 16 字节中的 12 字节离开显存；主机需要其一倍半。步时变为 1.3 到 10 倍。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu()
        || !case.training()
        || case.evaluating()
        || !case.pytorch()
        || case.context.lora.value() == Some(true)
    {
        return Advice::Silent;
    }
    if case.context.cpu_offload.value() == Some(true) {
        return Advice::Withheld(text!(en: "it offloads to the host already", zh: "已经卸载到主机"));
    }
    let large = case.language_model() || case.context.zero_stage.is_known() || case.context.fsdp.is_known();
    if !large {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::Capacity, 0.5), (CauseId::TransientPeak, 0.2)])
        .frees_if(case.of_parameters(6.0, 12.0), case.ask_for_parameters())
        .slows(0.25, 0.9)
        .knob(Target::DeepSpeed, "\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}}")
        .knob(Target::Fsdp, "fully_shard(model, offload_policy=CPUOffloadPolicy())")
        .knob(Target::HfTrainer, "deepspeed=\"zero2_offload.json\"")
        .knob(Target::Pytorch, "torchao.optim.CPUOffloadOptimizer(model.parameters(), torch.optim.AdamW, fused=True)")
        .because(text!(en: "optimizer state is touched once per step and can wait in host memory", zh: "优化器状态每步只用一次，可以放在主机内存"))
}
