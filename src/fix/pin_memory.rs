//! Page-locked memory.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "pin-memory",
    class: Class::Host,
    title: || text!(en: "Less page-locked memory", zh: "减少锁页内存"),
    doc: || {
        text!(
            en: "Pinned buffers are host memory, rounded up to powers of 2 and kept. Turning them off helps the \
                 host, or where the page-locked limit is low (WSL); never the GPU.",
            zh: "锁页缓冲是主机内存，按 2 的幂取整并保留。关闭它有助于主机内存，或锁页上限很低的环境（WSL）；对显存\
                 无效。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |case| case.sign(Sign::PinnedHost),
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "dataloader_pin_memory=False"),
        line(Target::Pytorch, "DataLoader(..., pin_memory=False)").when("loader"),
        said(
            Target::Pytorch,
            "no .pin_memory() at {place}, or of less at once",
            "去掉 {place} 的 .pin_memory()，或减少一次锁页的量",
        ),
        line(Target::Pytorch, "pin_memory=False").note("wherever it is set", "在设置它的地方").unless("loader"),
        said(
            Target::Program,
            "fewer or smaller page-locked (pinned) buffers at once",
            "减少同时使用的锁页（pinned）缓冲，或缩小它们",
        ),
    ],
    fixtures: &["fix/pinned-batches"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // The method pins a tensor that is there; the argument is a loader's.
    let called = case.shows_call(&[".pin_memory("]) && !case.sign(Sign::DataLoaderWorker);
    let place = case.failing_line().filter(|_| called);
    let draft = Draft::new(case, &FIX);
    place
        .into_iter()
        .fold(draft, |draft, place| draft.fill("place", place))
        .frees_unknown(text!(en: "the pinned buffers; their size is not in the log", zh: "锁页缓冲；日志没有给出大小"))
        .certainty(Certainty::Likely)
        .because(text!(en: "page-locked host memory is what ran out", zh: "耗尽的是锁页主机内存"))
}
