//! Keep no graph where no gradient is wanted.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "no-grad-in-eval",
    class: Class::Evaluation,
    title: || text!(en: "Validate and predict without gradients", zh: "验证和推理时关闭梯度"),
    doc: || {
        text!(
            en: "Without `inference_mode` or `no_grad`, a forward pass keeps every activation for a backward pass \
                 that never comes: measured three and a half times the memory for the same model. Around training \
                 it would stop learning.",
            zh: "不加 `inference_mode` 或 `no_grad` 时，前向会为永远不会发生的反向保留全部激活：同一模型实测约为三倍\
                 半的显存。不能加在训练代码外面，否则无法学习。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::OwnCode, Need::Pass, Need::Evaluation],
    applies: |case| case.pytorch() && !case.evaluates_within_a_package(),
    costs: Costs { slows: (-0.2, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Lightning, "Trainer(inference_mode=True)").note(
            "the default; check for torch.enable_grad() in validation_step",
            "默认即开启；检查 validation_step 中是否有 torch.enable_grad()",
        ),
        line(Target::Pytorch, "with torch.inference_mode():")
            .note("around the evaluation or prediction loop, if it is not there yet", "若尚未使用：包住验证或预测循环")
            .unless("of-any-age"),
        line(Target::Pytorch, "with torch.no_grad():")
            .note("around the evaluation or prediction loop, if it is not there yet", "若尚未使用：包住验证或预测循环"),
    ],
    fixtures: &["fix/validation-loop"],
    advise,
};

/// Since which release there is `inference_mode`.
const SINCE: (u16, u16) = (1, 9);

/// True where the wording is older than that too, and nothing tells that the release is not: what every release has is
/// written then.
fn of_any_age(case: &Case) -> bool {
    let of_the_wording =
        case.incident.event.versions.is_some_and(|versions| versions.from.is_none_or(|from| from < SINCE));
    // Python 3.10 and later came after it.
    let recent = case.context.frames.iter().any(|frame| frame.file.contains("python3.1"));
    let dated = case.context.dated.value().is_some_and(|dated| dated >= (2022, 1));
    of_the_wording && !recent && !dated && !case.context.torch_version.is_known()
}

fn advise(case: &Case) -> Advice {
    if case.training() && !case.evaluating() && !case.clue(Clue::VolatileIgnored) {
        return Advice::Silent;
    }
    if case.clue(Clue::NoGradVisible) {
        return Advice::Withheld(text!(en: "it runs without gradients already", zh: "已经在无梯度模式下运行"));
    }
    if case.context.origin.validates_without_gradients {
        return Advice::Withheld(text!(
            en: "the runner that validates switches gradients off by itself",
            zh: "执行验证的框架自身会关闭梯度"
        ));
    }
    if case.decorated() {
        return Advice::Withheld(text!(
            en: "the call that failed switches gradients off by itself",
            zh: "出错的调用自身已经关闭梯度"
        ));
    }
    // The program meant to have none, and has them.
    let meant = case.clue(Clue::VolatileIgnored);
    let weight = if meant {
        2.0
    } else if case.evaluating() || case.phase() == Some(Phase::Inference) {
        1.0
    } else {
        0.8
    };
    Draft::new(case, &FIX)
        .when("of-any-age", of_any_age(case))
        .weight(weight)
        .frees_if(
            // Nothing where they are off already.
            case.share_of_activations(
                0.0,
                0.7,
                text!(
                    en: "activations kept for a backward pass",
                    zh: "为反向保留的激活"
                ),
            ),
            case.ask_for_peak(),
        )
        .because(if meant {
            text!(
                en: "the inputs are marked volatile, which has no effect any more: every activation is kept",
                zh: "输入以 volatile 标记，而它已不再生效：所有激活都会被保留"
            )
        } else {
            text!(
                en: "nothing in the log shows that gradients are off where none are needed; if they are on, every \
                     activation is kept",
                zh: "日志中看不出在不需要梯度处关闭了梯度；若没有关闭，所有激活都会被保留"
            )
        })
}
