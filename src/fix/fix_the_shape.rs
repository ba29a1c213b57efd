//! A size that nobody meant.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::{Resource, Sign};
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "fix-the-shape",
    class: Class::Shapes,
    title: || text!(en: "Check the shape of the failing tensor", zh: "检查出错张量的形状"),
    doc: || {
        text!(
            en: "A request larger than the device, or beyond any machine, comes from a wrong dimension: broadcasting (n,1) against (n,), a missing reduction, a swapped axis, garbage in a size, labels or ids used as sizes.",
            zh: "超过设备甚至任何机器的申请通常来自错误的维度：(n,1) 与 (n,) 广播、缺少归约、轴写反、尺寸变量是垃圾值、把标签或 id 当作尺寸。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if case.resource() == Resource::CudaSharedMemory || case.resource() == Resource::Shm || case.engine().is_some() {
        return Advice::Silent;
    }
    let absurd = case.sign(Sign::AbsurdRequest)
        || case.requested().zip(case.capacity()).is_some_and(|(requested, capacity)| requested.low > capacity.high);
    Draft::new(case, &[(CauseId::SingleHugeAllocation, if absurd { 0.8 } else { 0.4 }), (CauseId::DriverOrUnrelated, 0.1)])
        .frees_if(
            case.requested().filter(|requested| requested.low > 0).map(|requested| {
                let shown = show(requested.middle());
                (requested.scale(0.9), text!(en: "nearly all of the {shown} asked for, if a dimension is wrong", zh: "若维度有误，几乎全部 {shown}"))
            }),
            text!(en: "all of the request, if a dimension is wrong", zh: "若维度有误，即全部申请量"),
        )
        .certainty(if absurd { Certainty::Likely } else { Certainty::RuleOfThumb })
        .knob(Target::Pytorch, match case.context.user_frame().filter(|frame| frame.line > 0) {
            Some(frame) => format!("print(x.shape, x.dtype)   # before {}:{}", frame.file.rsplit(['/', '\\']).next().unwrap_or_default(), frame.line),
            None => "print(x.shape, x.dtype)   # before the failing line".to_string(),
        })
        .knob(Target::Program, "print the sizes that go into the failing allocation")
        .knob(Target::Python, "print(x.shape, x.dtype)   # before the failing line")
        .because(join(text!(en: "one request asks for far more than the rest of the job", zh: "单次申请远超任务的其余部分"), case.situation()))
}
