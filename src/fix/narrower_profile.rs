//! TensorRT's memory follows the largest shapes of its profile.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "narrower-profile",
    class: Class::Shapes,
    title: || text!(en: "Build the engine for smaller maximum shapes", zh: "以更小的最大形状构建引擎"),
    doc: || {
        text!(
            en: "An execution context takes its activation memory when it is made, for the maximum shapes of the \
                 profile and not for the batch at hand. Linear in batch, quadratic in the side of an image.",
            zh: "执行上下文在创建时就按 profile 的最大形状（而不是实际批大小）占用激活内存。与批大小成正比，与图像边\
                 长的平方成正比。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::TensorRt, "trtexec --maxShapes=input:1x3x512x512 --memPoolSize=workspace:1024 …")
            .note("rebuild the engine; before 8.4: --workspace=1024", "需要重新构建引擎；8.4 之前：--workspace=1024")
            .when("picture"),
        line(Target::TensorRt, "trtexec --maxShapes=input:1x3x512x512 --workspace=1024 …")
            .note("rebuild the engine", "需要重新构建引擎")
            .when("picture")
            .older(),
        line(Target::TensorRt, "trtexec --maxShapes=input_ids:1x256 --memPoolSize=workspace:1024 …")
            .note("rebuild the engine, with all inputs named", "需要重新构建引擎，并列出所有输入")
            .when("text"),
        line(Target::TensorRt, "profile.set_shape(name, smallest, usual, largest)")
            .note("a smaller last shape, then rebuild the engine", "减小最后一个形状，然后重新构建引擎")
            .when("python"),
        line(Target::TensorRt, "config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)"),
        line(Target::TensorRt, "config.max_workspace_size = 1 << 30").older(),
    ],
    fixtures: &["tensorrt/engine", "tensorrt/nvmap"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // It is the builder's workspace that is short, and smaller shapes are not what was asked for.
    if case.clue(Clue::ShortWorkspace) {
        return Advice::Silent;
    }
    let (python, text) = (super::work::runs_python(case) || case.context.origin.traceback, case.language_model());
    Draft::new(case, &FIX)
    .when("python", python)
    .when("text", text && !python)
    .when("picture", !text && !python)
    .frees_if(
        case.requested().map(|requested| {
            let (all, half) = (show(requested.middle()), show(requested.middle() / 2));
            (
                Interval::between(requested.low / 2, requested.high / 4 * 3),
                text!(
                    en: "half the maximum batch: {all} → {half}; half the image side: a quarter",
                    zh: "最大批大小减半：{all} → {half}；图像边长减半：降为四分之一"
                ),
            )
        }),
        text!(en: "in proportion to the maximum shapes", zh: "与最大形状成正比"),
    )
    .certainty(Certainty::Likely)
    .because(join(
        text!(en: "the context is sized for the profile's maximum shapes", zh: "执行上下文按 profile 的最大形状分配"),
        case.situation(),
    ))
}
