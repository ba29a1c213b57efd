//! What libraries beside the framework take of the device in this very process.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "other-libraries",
    class: Class::Libraries,
    title: || {
        text!(
            en: "Bound what other libraries of this process take, or move them out",
            zh: "限制本进程中其他库的占用，或将其移出"
        )
    },
    doc: || {
        text!(
            en: "A decoder, renderer, simulator or second framework in the same process allocates from the driver, \
                 beside the framework's pool, whose own figures do not count it. Most have a setting for the size of \
                 their pools, streams or buffers; a process or device of their own keeps the rest apart. A context \
                 with its libraries takes 0.2 to 1 GiB and stays.",
            zh: "同一进程中的解码器、渲染器、模拟器或第二个框架直接向驱动申请显存，不在框架的内存池内，框架自己的数字也\
                 不计入。多数库可以设置其内存池、流或缓冲的大小；单独的进程或设备可把它们隔开。上下文及其库占 0.2 到 1 \
                 GiB，无法避免。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Compute],
    needs: &[Need::Gpu, Need::NoEngine, Need::OwnCode],
    // What Metal counts beside the tensors are the framework's own graphs and caches.
    applies: |case| case.confidence(CauseId::NonFramework) >= 0.3 && !case.sign(Sign::Nccl) && !case.sign(Sign::Mps),
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[said(
        Target::Program,
        "fewer or smaller buffers, streams or pools of the library beside the framework; or a process of its own",
        "减少或缩小框架之外那个库的缓冲、流或内存池；或让它运行在单独的进程中",
    )],
    fixtures: &["cause/simulator-beside"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let amount = case.ledger.non_framework.map(|held| held.at_least_zero()).filter(|held| held.high > 0).map(|held| {
        let shown = show(held.middle());
        (
            Interval::between(0, held.high),
            text!(en: "a part of the {shown} outside the framework", zh: "框架之外 {shown} 的一部分"),
        )
    });
    Draft::new(case, &FIX)
        .of_the_whole()
        .frees_if(amount, text!(en: "the log does not say what lies outside", zh: "日志没有给出框架之外的占用"))
        .because(text!(
            en: "this process holds more beside the framework's pool than a context takes",
            zh: "本进程在框架内存池之外的占用超过一个上下文"
        ))
}
