//! Give unused cached segments back before the device is full.

use super::alloc_conf::AllocConf;
use super::case::{Case, show};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;
use crate::units::Interval;

pub const FIX: Fix = Fix {
    id: "garbage-collection-threshold",
    class: Class::AllocConfig,
    title: || text!(en: "Give unused cache back early", zh: "提前回收未使用的缓存"),
    doc: || {
        text!(
            en: "`garbage_collection_threshold` releases old free segments once the cache passes a share of the memory fraction. Without a fraction below 1 it does nothing. It helps libraries that allocate beside PyTorch (NCCL, cuDNN, a second framework) rather than PyTorch itself, which releases its cache anyway before it raises an error.",
            zh: "`garbage_collection_threshold` 在缓存超过显存比例的一定份额时释放较旧的空闲段。没有设置小于 1 的显存比例时不起作用。它帮助的是在 PyTorch 之外分配显存的库（NCCL、cuDNN、第二个框架），而不是 PyTorch 自己——后者在报错前本来就会释放缓存。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.caching_allocator() {
        return Advice::Silent;
    }
    let conf = AllocConf::of(case);
    if conf.get("garbage_collection_threshold").is_some() {
        return Advice::Withheld(text!(
            en: "garbage_collection_threshold is already set",
            zh: "已设置 garbage_collection_threshold"
        ));
    }
    let conf = conf.with("garbage_collection_threshold", "0.8");
    let (line, extra) = if case.torch_version().is_some_and(|version| version >= (2, 10)) {
        (conf.with("per_process_memory_fraction", "0.9").export(), None)
    } else {
        (conf.export(), Some("torch.cuda.set_per_process_memory_fraction(0.9)  # the threshold counts from this"))
    };
    let cached = case.cached().map(|cached| {
        let shown = show(cached.middle());
        (Interval::between(0, cached.high), text!(en: "at most the {shown} cached", zh: "最多为缓存的 {shown}"))
    });
    let mut draft = Draft::new(case, &[(CauseId::NonFramework, 0.35), (CauseId::Fragmentation, 0.15)])
        .frees_if(cached, text!(en: "the log does not show the cache's size", zh: "日志没有给出缓存大小"))
        .slows(0.0, 0.1)
        .knob(Target::Pytorch, line);
    if let Some(extra) = extra {
        draft = draft.knob(Target::Pytorch, extra);
    }
    draft.because(text!(
        en: "memory outside PyTorch's pool is asked of the driver, which PyTorch's cache leaves nothing for",
        zh: "PyTorch 池外的显存要向驱动申请，而 PyTorch 的缓存没有给它留下余量"
    ))
}
