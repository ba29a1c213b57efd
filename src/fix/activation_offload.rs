//! Activations in host memory between forward and backward.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "activation-offload",
    class: Class::Offload,
    title: || text!(en: "Offload activations to host memory", zh: "把激活卸载到主机内存"),
    doc: || {
        text!(
            en: "Saved tensors move to pinned host memory and come back in backward. Hidden only while the copy is \
                 faster than the compute; needs that much host RAM.",
            zh: "保存的张量移到锁页主机内存，反向时取回。只有拷贝快于计算时才能被掩盖；需要相应的主机内存。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training, Need::NoEngine, Need::Loaded, Need::Pass, Need::Discrete],
    applies: |case| case.training_step() && case.pytorch(),
    costs: Costs { slows: (0.05, 0.5), numerics: Numerics::Same },
    knobs: &[
        line(Target::Trl, "SFTConfig(activation_offloading=True)"),
        line(Target::DeepSpeed, "\"activation_checkpointing\": {\"cpu_checkpointing\": true}").when("deepspeed"),
        line(Target::Pytorch, "with torch.autograd.graph.save_on_cpu(pin_memory=True):")
            .note("around the forward pass", "包住前向")
            .when("own-pass"),
        said(
            Target::Pytorch,
            "activations that wait in host memory, by the program's own option where it has one",
            "让激活在主机内存中等待：使用程序自带的选项（若有）",
        )
        .when("unshown"),
    ],
    fixtures: &["context/retried", "context/write-up"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if let Some(why) = case.never_fits() {
        return Advice::Withheld(why);
    }
    // These trainers have no such setting, and their users no forward pass to put it around.
    let sets_nothing_of_the_kind =
        matches!(case.trainer(), Some(Trainer::Ultralytics | Trainer::MmEngine | Trainer::Fastai));
    Draft::new(case, &FIX)
        .when("own-pass", case.writes_the_pass())
        .when(
            "unshown",
            !case.writes_the_pass()
                && !sets_nothing_of_the_kind
                && crate::incident::release::knows(case.incident, "save_on_cpu"),
        )
        // That section sets DeepSpeed's own checkpointing, which the model must call.
        .when("deepspeed", case.frames_of("/deepspeed/runtime/activation_checkpointing/"))
        .weight(if case.training() { 1.0 } else { 0.3 })
        .frees_if(
            case.share_of_activations(0.1, 0.6, text!(en: "70–90 % of the activations", zh: "激活的 70–90 %")),
            case.ask_for_peak(),
        )
        .because(text!(
            en: "activations wait in host memory instead of on the GPU",
            zh: "激活在主机内存而不是显存中等待反向"
        ))
}
