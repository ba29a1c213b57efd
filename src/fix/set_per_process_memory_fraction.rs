//! A cap is no source of memory.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "set-per-process-memory-fraction",
    class: Class::Limits,
    title: || text!(en: "torch.cuda.set_per_process_memory_fraction", zh: "torch.cuda.set_per_process_memory_fraction"),
    doc: || {
        text!(
            en: "It caps what PyTorch may reserve, as a share of the whole device. It protects neighbours; the job \
                 itself runs out earlier.",
            zh: "它限制 PyTorch 可保留的显存（按整卡比例）。受保护的是同一 GPU 上的其他进程；任务自己只会更早耗尽显存。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::PytorchCache, Need::NoEngine],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[],
    fixtures: &["context/ranks", "context/retried"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.confidence(CauseId::Capacity) + case.confidence(CauseId::Fragmentation) < 0.5
        || case.confidence(CauseId::FrameworkLimit) > 0.2
        // It came with PyTorch 1.8.
        || case.torch_version().is_some_and(|version| version < (1, 8))
        // A library beside the pool finds room where the pool is capped.
        || case.sign(Sign::ForeignLibrary)
        || case.confidence(CauseId::Preallocation) + case.confidence(CauseId::NonFramework) > 0.1
    {
        return Advice::Silent;
    }
    Advice::WontHelp(text!(
        en: "it is a cap: with it this job would have failed earlier",
        zh: "它是上限：设置后本任务只会更早失败"
    ))
}
