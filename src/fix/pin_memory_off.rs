//! Page-locked memory.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Sign;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "pin-memory",
    class: Class::Host,
    title: || text!(en: "pin_memory=False", zh: "pin_memory=False"),
    doc: || {
        text!(
            en: "Pinned buffers are host memory, rounded up to powers of 2 and kept. Turning them off helps the host, or where the page-locked limit is low (WSL); never the GPU.",
            zh: "锁页缓冲是主机内存，按 2 的幂取整并保留。关闭它有助于主机内存，或锁页上限很低的环境（WSL）；对显存无效。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.sign(Sign::PinnedHost) {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (CauseId::HostMemory, 0.6),
            (CauseId::FrameworkLimit, 0.6),
            (CauseId::Capacity, 0.4),
            (CauseId::DriverOrUnrelated, 0.3),
            (CauseId::HostWorkers, 0.4),
        ],
    )
    .frees_unknown(text!(en: "the pinned buffers; their size is not in the log", zh: "锁页缓冲；日志没有给出大小"))
    .slows(0.0, 0.1)
    .certainty(Certainty::Likely)
    .knob(Target::HfTrainer, "dataloader_pin_memory=False")
    .knob(Target::Pytorch, "DataLoader(..., pin_memory=False)")
    .because(text!(en: "page-locked host memory is what ran out", zh: "耗尽的是锁页主机内存"))
}
