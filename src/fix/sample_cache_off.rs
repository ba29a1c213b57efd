//! No data set in RAM.

use super::case::{Case, bytes};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Clue;
use crate::text;

pub const FIX: Fix = Fix {
    id: "sample-cache-off",
    class: Class::Host,
    title: || text!(en: "Turn the sample cache off, or put it on disk", zh: "关闭样本缓存或改放磁盘"),
    doc: || {
        text!(
            en: "A cache of decoded samples takes samples × bytes each, and again in every worker unless it is shared.",
            zh: "缓存解码后的样本需要 样本数 × 单样本字节；若不共享，每个 worker 还要再来一份。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_host() || !case.clue(Clue::SampleCache) && !case.context.cache_size.is_known() {
        return Advice::Silent;
    }
    // Where the settings tell all, bound-the-cache and shared-cache give figures.
    if case.ledger.loader.is_some_and(|account| !account.fits()) {
        return Advice::Silent;
    }
    let amount = case.context.cache_size.get().map(|size| {
        let shown = bytes(size.bytes);
        (size.interval(), text!(en: "the {shown} cache", zh: "{shown} 的缓存"))
    });
    Draft::new(
        case,
        &[
            (CauseId::HostMemory, 0.6),
            (CauseId::HostWorkers, 0.6),
            (CauseId::LeakGrowth, 0.4),
            (CauseId::SharedMemory, 0.2),
        ],
    )
    .frees_if(
        amount,
        text!(en: "samples × bytes of one; the log does not tell both", zh: "样本数 × 单样本字节；日志没有给全"),
    )
    .slows(0.0, 0.5)
    .certainty(Certainty::Likely)
    .knob(Target::Ultralytics, "cache=False   # or cache=\"disk\"")
    .knob(Target::Pytorch, "functools.lru_cache(maxsize=256)   # a bounded cache, or a memory-mapped file")
    .because(text!(en: "samples are kept in RAM", zh: "样本保存在内存中"))
}
