//! Optimizer state on the host.

use super::budget::Change;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "cpu-offload",
    class: Class::Offload,
    title: || text!(en: "Offload optimizer state to host memory", zh: "把优化器状态卸载到主机内存"),
    doc: || {
        text!(
            en: "12 of 16 bytes per parameter leave the GPU; the host needs 1.5 times as much. Steps \
                 take 1.3 to 10 times as long.",
            zh: "每参数 16 字节中的 12 字节离开显存；主机需要其 1.5 倍。每步耗时变为 1.3 到 10 倍。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::Loaded, Need::Discrete],
    applies: |case| !case.evaluating() && case.pytorch() && !case.adapters(),
    costs: Costs { slows: (0.25, 0.9), numerics: Numerics::Same },
    knobs: &[
        line(
            Target::DeepSpeed,
            "\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}}",
        ),
        line(Target::Fsdp, "fully_shard(model, offload_policy=CPUOffloadPolicy())").unless("first-fsdp"),
        line(Target::Lightning, "Trainer(strategy=FSDPStrategy(cpu_offload=True))").when("fsdp"),
        line(Target::HfTrainer, "deepspeed=\"zero2_offload.json\"").unless("fsdp"),
        line(Target::HfTrainer, "fsdp=\"full_shard auto_wrap offload\"").when("fsdp"),
        line(Target::Pytorch, "torchao.optim.CPUOffloadOptimizer(model.parameters(), torch.optim.AdamW, fused=True)")
            .unless("fsdp"),
        line(Target::Pytorch, "FSDP(model, cpu_offload=CPUOffload(offload_params=True))").when("first-fsdp"),
        said(
            Target::Program,
            "optimizer states in host memory, by the program's own option where it has one",
            "优化器状态放主机内存：使用程序自带的选项（若有）",
        )
        .when("installed"),
    ],
    fixtures: &["context/ranks", "context/hf-trainer"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.context.cpu_offload.value() == Some(true) {
        return Advice::Withheld(text!(en: "it offloads to the host already", zh: "已经卸载到主机"));
    }
    let large = case.large_model() || case.context.zero_stage.is_known() || case.context.fsdp.is_known();
    if !large {
        return Advice::Silent;
    }
    if let Some(why) = case.still_too_large(Change::OptimizerToHost).filter(|_| !case.composing()) {
        return Advice::Withheld(why);
    }
    if let Some(why) = case.no_states_yet() {
        return Advice::Withheld(why);
    }
    let fsdp = case.by_fsdp();
    Draft::new(case, &FIX)
        .when("fsdp", fsdp)
        .when("first-fsdp", case.of_the_first_fsdp() && !case.driven())
        .frees_if(case.of_parameters(6.0, 12.0), case.ask_for_parameters())
        .because(text!(
            en: "optimizer state is touched once per step and can wait in host memory",
            zh: "优化器状态每步只用一次，可以放在主机内存"
        ))
}
