//! Never make the whole intermediate.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Clue;
use crate::text;
use crate::units::Interval;

pub const FIX: Fix = Fix {
    id: "chunk-the-operation",
    class: Class::Shapes,
    title: || text!(en: "Compute the large intermediate in blocks", zh: "分块计算大的中间结果"),
    doc: || {
        text!(
            en: "Pairwise distances, masks, attention without fusion, interpolation of all masks and one-hot tensors grow with a product of sizes. Loop over blocks of rows, reduce each at once, cast before expanding, or use a sparse form.",
            zh: "成对距离、掩码、未融合的注意力、对全部掩码插值以及 one-hot 张量的大小都是若干维度的乘积。按行分块循环并立即归约，先转换类型再扩展，或使用稀疏形式。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || case.engine().is_some() || case.loading() {
        return Advice::Silent;
    }
    let requested = case.requested().filter(|requested| requested.low > 0);
    let huge = requested.zip(case.capacity()).is_some_and(|(r, c)| r.middle() * 4 > c.middle());
    let weight = if case.clue(Clue::Quadratic) { 1.2 } else { 1.0 };
    Draft::new(case, &[(CauseId::SingleHugeAllocation, 0.65), (CauseId::TransientPeak, 0.35), (CauseId::Capacity, if huge { 0.3 } else { 0.06 })])
        .weight(weight)
        .frees_if(
            requested.map(|requested| {
                let shown = show(requested.middle());
                (Interval::between(requested.low * 3 / 4, requested.high), text!(en: "3/4 or more of the {shown} asked for at once, with 4 blocks or more", zh: "分 4 块或更多时，省去一次申请的 {shown} 的 3/4 以上"))
            }),
            text!(en: "needs the size of the intermediate", zh: "需要中间结果的大小"),
        )
        .slows(0.0, 0.2)
        .certainty(if requested.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .knob(Target::Pytorch, frame(case))
        .knob(Target::Program, "process the input in blocks, e.g. 1024 rows at a time, and reduce each before the next")
        .knob(Target::Jax, "jax.lax.map(f, xs, batch_size=1024)   # instead of jax.vmap(f)(xs)")
        .knob(Target::TensorFlow, "tf.map_fn(f, xs)   # over blocks, instead of one broadcast")
        .because(join(text!(en: "one operation makes an intermediate that need not exist as a whole", zh: "某个操作产生了不必整体存在的中间结果"), case.situation()))
}

/// The loop, with the place of the user's line when the traceback names it.
fn frame(case: &Case) -> String {
    match case.context.user_frame().filter(|frame| frame.line > 0) {
        Some(frame) => {
            let file = frame.file.rsplit(['/', '\\']).next().unwrap_or_default();
            format!("for block in x.split(1024): ...   # at {file}:{}", frame.line)
        }
        None => "for block in x.split(1024): ...".to_string(),
    }
}
