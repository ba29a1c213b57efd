//! Fewer Gaussians in a scene.

use super::prelude::*;
use crate::incident::context::Frame;

pub const FIX: Fix = Fix {
    id: "fewer-gaussians",
    class: Class::Shapes,
    title: || text!(en: "Fewer Gaussians, or pictures of a lower resolution", zh: "减少高斯数量，或降低图像分辨率"),
    doc: || {
        text!(
            en: "A scene of Gaussians is fitted to one picture a step: it has no batch, and no layers to compute \
                 again. What fills the device are the Gaussians, with their gradients and optimizer states, and their \
                 number grows while the scene is densified. Stop that earlier, raise the gradient from which a \
                 Gaussian is split, or use smaller pictures.",
            zh: "高斯场景每步只拟合一张图像：没有批，也没有可重算的层。占满显存的是高斯本身及其梯度和优化器状态，\
                 其数量在致密化期间不断增长。可更早停止致密化、提高分裂的梯度阈值，或使用更小的图像。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::Loaded],
    // A viewer, or a script that renders, has Gaussians that are made.
    applies: |case| case.of_gaussians() && !case.context.runs_to_predict(),
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Model },
    knobs: &[
        line(Target::Shell, "--pipeline.model.densify-grad-thresh 0.0016").when("nerfstudio"),
        line(Target::Shell, "--pipeline.model.stop-split-at 10000").when("nerfstudio"),
        line(Target::Shell, "--pipeline.datamanager.camera-res-scale-factor 0.5").when("nerfstudio"),
        line(Target::Shell, "--densify_until_iter 10000 --densify_grad_threshold <twice>")
            .note(FROM.0, FROM.1)
            .when("growing"),
        line(Target::Shell, "--densify_grad_threshold <twice>").note(FROM.0, FROM.1).when("growing-to-the-end"),
        line(Target::Shell, "-r 2")
            .note("half the resolution; 4 for a quarter", "分辨率减半；4 为四分之一")
            .when("original"),
        said(
            Target::Program,
            "a higher gradient before a Gaussian is split, an earlier end of splitting, or pictures of half the size",
            "提高分裂的梯度阈值、更早停止分裂，或把图像缩小一半",
        )
        .when("another"),
    ],
    fixtures: &["fix/gaussians"],
    advise,
};

/// What the gradient is set to where nothing is said, in English and Chinese.
const FROM: (&str, &str) =
    ("0.0002 in the first program, others start from another value", "原程序默认 0.0002，其他程序的初值不同");

/// The step that `--densify_until_iter` is set to here, of 15,000 by default.
const EARLIER_END: u64 = 10_000;

/// True where the run has so many steps at most, or has done as many.
fn done_by(case: &Case, step: u64) -> bool {
    case.context.steps.value().is_some_and(|all| all <= step) || case.context.step.value().is_some_and(|at| at >= step)
}

fn advise(case: &Case) -> Advice {
    let nerfstudio = case.context.frames.iter().any(|frame| frame.path().contains("/nerfstudio/"));
    // The options are those of the first implementation (graphdeco-inria/gaussian-splatting) and of its forks.
    let of_the_original = |frame: &Frame| {
        ["gaussian_renderer", "scene/gaussian_model", "gaussian-splatting", "utils/camera_utils"]
            .iter()
            .any(|part| frame.path().contains(part))
    };
    let told = [case.context.program.get(), case.context.command.get()];
    let original = !nerfstudio
        && (case.context.frames.iter().any(of_the_original)
            || told.into_iter().flatten().any(|text| text.contains("train.py")));
    // While pictures are read no Gaussian has been made yet, and before the first step is done none was split.
    let growing = original && case.in_a_pass() && case.context.step.value().is_none_or(|step| step > 0);
    Draft::new(case, &FIX)
        .when("nerfstudio", nerfstudio)
        .when("growing", growing && !done_by(case, EARLIER_END))
        // Of a run that is over by then, or a step after it, an earlier end of splitting changes nothing.
        .when("growing-to-the-end", growing && done_by(case, EARLIER_END))
        .when("original", original)
        .when("another", !nerfstudio && !original)
        .frees_unknown(text!(
            en: "in proportion to the number of Gaussians, which the log does not give",
            zh: "与高斯数量成正比；日志没有给出数量"
        ))
        .because(text!(
            en: "a scene of Gaussians grows by their number, one picture a step",
            zh: "高斯场景的占用随高斯数量增长，每步只用一张图像"
        ))
}
