//! Give unused cached segments back before the device is full.

use super::alloc_conf::AllocConf;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "garbage-collection-threshold",
    class: Class::AllocConfig,
    title: || text!(en: "Give unused cache back early", zh: "提前回收未使用的缓存"),
    doc: || {
        text!(
            en: "`garbage_collection_threshold` releases old free segments once the cache passes a share of the \
                 memory fraction. Without a fraction below 1 it does nothing. It helps libraries that allocate \
                 beside PyTorch (NCCL, cuDNN, a second framework) rather than PyTorch itself, which releases its \
                 cache anyway before it raises an error.",
            zh: "`garbage_collection_threshold` 在缓存超过显存比例的一定份额时释放较旧的空闲段。没有设置小于 1 的显\
                 存比例时不起作用。它帮助的是在 PyTorch 之外分配显存的库（NCCL、cuDNN、第二个框架），而不是 \
                 PyTorch 自己——后者在报错前本来就会释放缓存。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::PytorchCache],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[line(
        Target::Pytorch,
        "export {variable}={kept}garbage_collection_threshold:0.8,per_process_memory_fraction:0.9",
    )],
    fixtures: &["cause/dense-adjacency", "cause/ranks-on-card-0"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let conf = AllocConf::of(case);
    if conf.get("garbage_collection_threshold").is_some() {
        return Advice::Withheld(text!(
            en: "garbage_collection_threshold is already set",
            zh: "已设置 garbage_collection_threshold"
        ));
    }
    if case.confidence(CauseId::NonFramework) < 0.3 && !case.sign(Sign::ForeignLibrary) {
        return Advice::Withheld(text!(
            en: "PyTorch gives its unused cache back by itself before it raises this error; the threshold is for \
                 libraries that allocate beside it",
            zh: "PyTorch 在报错前会自行归还未用的缓存；该阈值是为在其之外分配显存的库准备的"
        ));
    }
    if case.torch_version().is_none_or(|version| version < (2, 10)) {
        return Advice::Withheld(text!(
            en: "it acts only under a memory fraction below 1, which the allocator's options can set from PyTorch \
                 2.10 on",
            zh: "它只在显存比例小于 1 时起作用，而分配器选项从 PyTorch 2.10 起才能设置该比例"
        ));
    }
    Draft::new(case, &FIX)
        .fill("variable", conf.variable())
        .fill("kept", conf.without("per_process_memory_fraction").kept())
        .frees_if(case.of_the_cache(), text!(en: "the log does not show the cache's size", zh: "日志没有给出缓存大小"))
        .because(text!(
            en: "libraries beside PyTorch ask the driver for memory, and PyTorch's cache leaves it none",
            zh: "PyTorch 之外的库要向驱动申请显存，而 PyTorch 的缓存没有给驱动留下余量"
        ))
}
