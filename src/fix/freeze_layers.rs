//! Train the upper layers only.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "freeze-layers",
    class: Class::Model,
    title: || text!(en: "Freeze the lower layers, or take a smaller model", zh: "冻结底层，或换更小的模型"),
    doc: || {
        text!(
            en: "Frozen layers need no gradient and no optimizer state; below the lowest trainable layer no \
                 activations are kept either.",
            zh: "冻结的层不需要梯度和优化器状态；最低可训练层以下也不保留激活。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::Loaded],
    applies: |case| !case.arguments_alone() && fine_tunes(case) && !case.diffusion() && !case.evaluating(),
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Model },
    knobs: &[
        line(Target::Ultralytics, "freeze=10").note("or a smaller model of the family", "或换同系列更小的模型"),
        line(Target::Fastai, "learn.freeze_to(-2)"),
        line(Target::Pytorch, "for p in model.encoder.parameters(): p.requires_grad_(False)")
            .note("or a smaller model of the family", "或换同系列更小的模型")
            .unless("decoder"),
        // Of a model of language alone there is no encoder: its lower half.
        line(Target::Pytorch, "for l in model.model.layers[: len(model.model.layers) // 2]: l.requires_grad_(False)")
            .note("or a smaller model of the family", "或换同系列更小的模型")
            .when("decoder"),
    ],
    fixtures: &["context/hf-trainer"],
    advise,
};

/// True where the model was trained before, as far as the log shows: from scratch there is nothing to freeze.
fn fine_tunes(case: &Case) -> bool {
    let pretrained = case.pretrained() && !case.builds_a_model();
    !case.pretrains()
        && !case.adapters()
        && (pretrained || matches!(case.trainer(), Some(Trainer::Ultralytics | Trainer::Fastai)))
}

fn advise(case: &Case) -> Advice {
    let draft = Draft::new(case, &FIX).when("decoder", case.decoder_only());
    draft.weight(case.if_training()).frees_unknown(case.ask_for_parameters()).because(join(
        text!(
            en: "what is not trained keeps no gradients, state or activations",
            zh: "不训练的部分不保留梯度、状态和激活"
        ),
        case.situation(),
    ))
}
