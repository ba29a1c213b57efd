//! Workers that start afresh each epoch.

use super::need::torch_loader;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "persistent-workers-off",
    class: Class::Host,
    title: || text!(en: "Let workers end with the epoch", zh: "让 worker 随 epoch 结束"),
    doc: || {
        text!(
            en: "`persistent_workers=True` keeps workers, and whatever they have cached or leaked, over epochs; a \
                 second loader for validation keeps its own set alive beside the first. Without it their memory \
                 returns at every epoch's end, for the price of starting them again.",
            zh: "`persistent_workers=True` 会让 worker 及其缓存或泄漏跨 epoch 保留；验证集的第二个 DataLoader 还会同\
                 时保留另一组。关闭后每个 epoch 结束时归还内存，代价是重新启动 worker。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Ram, Need::Loader],
    applies: |case| case.context.workers.value() != Some(0) && torch_loader(case),
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "dataloader_persistent_workers=False"),
        line(Target::Pytorch, "DataLoader(..., persistent_workers=False)"),
    ],
    fixtures: &["fix/persistent-workers"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // Workers end with each epoch unless they are told to stay.
    if case.context.persistent_workers.value() != Some(true) {
        return Advice::Silent;
    }
    Draft::new(case, &FIX)
        .frees_unknown(text!(
            en: "what workers gather over epochs; PSS of a worker before and after an epoch tells",
            zh: "worker 跨 epoch 累积的内存；比较一个 epoch 前后 worker 的 PSS 即可得到"
        ))
        .because(text!(
            en: "workers live on over epochs here and keep what they cached",
            zh: "此处 worker 跨 epoch 存活，缓存的内容一直保留"
        ))
}
