//! Lift an address-space limit.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Sign;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "raise-ulimit",
    class: Class::Limits,
    title: || text!(en: "Lift ulimit -v or the commit limit", zh: "放开 ulimit -v 或提交上限"),
    doc: || {
        text!(
            en: "`ulimit -v` bounds addresses, not memory: CUDA alone reserves more than the machine's RAM. Strict overcommit refuses sparse mappings that would never be filled.",
            zh: "`ulimit -v` 限制的是地址空间而非内存：仅 CUDA 就会预留超过机器内存的地址。严格的 overcommit 会拒绝永远不会填满的稀疏映射。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let limited = case.sign(Sign::AddressSpaceLimit);
    let suspected = case.on_host() && case.confidence(CauseId::FrameworkLimit) > 0.3;
    if case.on_gpu() || !(limited || suspected) {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::FrameworkLimit, 0.65), (CauseId::HostMemory, if limited { 0.35 } else { 0.05 }), (CauseId::SharedMemory, 0.1)])
        .weight(if limited { 1.0 } else { 0.3 })
        .frees_unknown(text!(en: "frees nothing: it raises the limit", zh: "不释放内存：它提高上限"))
        .knob(Target::Shell, "ulimit -v unlimited   # and: sysctl vm.overcommit_memory=1")
        .because(text!(en: "the limit is on addresses or commitments, not on RAM", zh: "受限的是地址空间或提交量，而不是物理内存"))
}
