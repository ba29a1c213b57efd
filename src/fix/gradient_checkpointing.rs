//! Recompute instead of keeping.

use super::prelude::*;
use super::replayed;

pub const FIX: Fix = Fix {
    id: "gradient-checkpointing",
    class: Class::Activations,
    title: || text!(en: "Gradient checkpointing", zh: "激活重计算（gradient checkpointing）"),
    doc: || {
        text!(
            en: "Only the inputs of the layers are kept; the rest is computed again in backward. Saves 60–90 % of \
                 the activations (80 % measured on a small language model) for 20–35 % of the step time, with \
                 equal results. It does nothing about weights, gradients, optimizer state or logits.",
            zh: "只保留各层输入，其余在反向时重新计算。可省 60–90 % 的激活（小型语言模型实测 80 %），代价是步时增加 \
                 20–35 %，结果相同。对权重、梯度、优化器状态和 logits 无效。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training, Need::NoEngine, Need::Loaded],
    // A field of rays is one small network without blocks, and a scene of Gaussians has none.
    applies: |case| {
        case.training_step()
            && !case.before_a_pass()
            && !case.penalises_gradients()
            && !matches!(case.subject(), Some(Subject::Rays | Subject::Gaussians))
    },
    costs: Costs { slows: (0.2, 0.35), numerics: Numerics::Same },
    knobs: &[
        line(
            Target::HfTrainer,
            "gradient_checkpointing=True, gradient_checkpointing_kwargs={\"use_reentrant\": False}",
        ),
        line(Target::HfTrainer, "gradient_checkpointing=True").older(),
        line(Target::LlamaFactory, "disable_gradient_checkpointing: false"),
        line(Target::Axolotl, "gradient_checkpointing: true"),
        line(Target::Swift, "--gradient_checkpointing true"),
        line(Target::Megatron, "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1")
            .unless("megatron-1"),
        line(Target::Megatron, "--checkpoint-activations").when("megatron-1"),
        line(Target::Diffusers, "--gradient_checkpointing").when("example-script"),
        line(Target::MmEngine, "model.backbone.with_cp=True"),
        line(Target::Jax, "loss = jax.checkpoint(block)(params, x)").note("per layer", "逐层"),
        line(Target::TensorFlow, "block = tf.recompute_grad(block)"),
        line(Target::Pytorch, "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)")
            .note("per block", "逐块")
            .when("own-pass"),
        line(Target::Pytorch, "x = torch.utils.checkpoint.checkpoint(block, x)")
            .note("per block", "逐块")
            .when("own-pass")
            .older(),
        said(
            Target::Pytorch,
            "the program's own option for gradient checkpointing, or torch.utils.checkpoint around each block",
            "程序自带的 gradient checkpointing 选项，或对每组层使用 torch.utils.checkpoint",
        )
        .when("unshown"),
        said(
            Target::Program,
            "the program's own option for gradient checkpointing or for less memory",
            "使用程序自带的 gradient checkpointing 或省显存选项",
        )
        .when("installed"),
    ],
    fixtures: &["context/retried", "pytorch/reserved"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // ms-swift and LLaMA-Factory switch it on unless they are told not to (the latter in hparams/model_args.py).
    let switches_on = matches!(case.trainer(), Some(Trainer::Swift | Trainer::LlamaFactory));
    let by_default = switches_on && !case.context.gradient_checkpointing.is_known();
    if case.context.gradient_checkpointing.value() == Some(true) || case.clue(Clue::Recomputes) || by_default {
        return Advice::Withheld(text!(en: "gradient checkpointing is on already", zh: "已开启激活重计算"));
    }
    if let Some(why) = case.activations_gone() {
        return Advice::WontHelp(why);
    }
    let logits = if case.clue(Clue::VocabularyLogits) { 0.6 } else { 1.0 };
    Draft::new(case, &FIX)
        .when("megatron-1", case.first_megatron())
        .when("example-script", case.runs_an_example_of_diffusers())
        .when("own-pass", case.writes_the_pass())
        .when("unshown", !case.writes_the_pass() && !case.driven())
        .weight(case.if_training() * logits)
        .frees_if(
            replayed::recomputed(case).or_else(|| {
                case.share_of_activations(
                    0.1,
                    0.7,
                    text!(
                        en: "60–90 % of the activations",
                        zh: "激活的 60–90 %"
                    ),
                )
            }),
            case.ask_for_peak(),
        )
        .because(join(
            text!(
                en: "trades a second forward pass for most of the kept activations",
                zh: "用多一次前向换掉大部分保留的激活"
            ),
            replayed::activations(case).unwrap_or_else(|| case.situation()),
        ))
}
