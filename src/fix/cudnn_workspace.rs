//! Convolution workspaces.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::{Sign, Target};
use crate::incident::context::Clue;
use crate::text;
use crate::units::Interval;

pub const FIX: Fix = Fix {
    id: "cudnn-workspace",
    class: Class::Libraries,
    title: || text!(en: "Smaller convolution workspaces", zh: "缩小卷积工作区"),
    doc: || {
        text!(
            en: "With `benchmark=True` cuDNN tries algorithms with large workspaces for every new shape. It acts on convolutions only.",
            zh: "`benchmark=True` 时 cuDNN 会为每种新形状尝试需要大工作区的算法。只影响卷积。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.learns() {
        return Advice::Silent;
    }
    if !case.clue(Clue::ConvWorkspace) && !case.sign(Sign::Cudnn) {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (CauseId::TransientPeak, 0.4),
            (CauseId::Capacity, 0.15),
            (CauseId::NonFramework, 0.35),
            (CauseId::SingleHugeAllocation, 0.3),
        ],
    )
    .frees_if(
        case.requested().map(|requested| {
            let shown = show(requested.middle());
            (
                Interval::between(0, requested.high),
                text!(en: "at most the {shown} asked for", zh: "最多为所申请的 {shown}"),
            )
        }),
        text!(en: "the workspace's size is not in the log", zh: "日志没有给出工作区大小"),
    )
    .slows(0.0, 0.2)
    .knob(Target::TensorFlow, "export TF_CUDNN_WORKSPACE_LIMIT_IN_MB=512")
    .knob(Target::Jax, "export XLA_FLAGS=--xla_gpu_autotune_level=0")
    .knob(Target::Pytorch, "torch.backends.cudnn.benchmark = False")
    .because(join(
        text!(en: "a convolution's workspace depends on the algorithm chosen", zh: "卷积工作区取决于所选算法"),
        case.situation(),
    ))
}
