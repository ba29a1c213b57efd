//! Convolution workspaces.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "cudnn-workspace",
    class: Class::Libraries,
    title: || text!(en: "Smaller convolution workspaces", zh: "缩小卷积工作区"),
    doc: || {
        text!(
            en: "With `benchmark=True` cuDNN tries algorithms with large workspaces for every new shape. It acts on \
                 convolutions only.",
            zh: "`benchmark=True` 时 cuDNN 会为每种新形状尝试需要大工作区的算法。只影响卷积。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded],
    // A handle that could not be made has no workspace yet.
    applies: |case| case.learns() && !case.sign(Sign::ContextCreation),
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[
        line(Target::TensorFlow, "export TF_CUDNN_WORKSPACE_LIMIT_IN_MB=512"),
        line(Target::Jax, "export XLA_FLAGS=--xla_gpu_autotune_level=0"),
        line(Target::Pytorch, "torch.backends.cudnn.benchmark = False"),
    ],
    fixtures: &["pytorch/cudnn", "context/notebook"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if !case.clue(Clue::ConvWorkspace) && !case.sign(Sign::Cudnn) {
        return Advice::Silent;
    }
    Draft::new(case, &FIX)
        .frees_if(
            case.requested().map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(0, requested.high),
                    text!(en: "at most the {shown} requested", zh: "最多为所申请的 {shown}"),
                )
            }),
            text!(en: "the workspace's size is not in the log", zh: "日志没有给出工作区大小"),
        )
        .because(join(
            text!(en: "a convolution's workspace depends on the algorithm chosen", zh: "卷积工作区取决于所选算法"),
            case.situation(),
        ))
}
