//! Python's collector.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "gc-collect",
    class: Class::Leak,
    title: || text!(en: "gc.collect()", zh: "gc.collect()"),
    doc: || {
        text!(
            en: "Frees only objects that are held by reference cycles. Most tensors go when their last reference \
                 goes. It helps in notebooks after an exception and with trainer objects that refer to each other.",
            zh: "只能释放循环引用的对象；多数张量在最后一个引用消失时就释放了。在 notebook 出现异常之后，或 Trainer \
                 对象相互引用时才有用。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::PytorchCache, Need::NoEngine],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[line(Target::Pytorch, "del outputs; gc.collect(); torch.cuda.empty_cache()").note(
        "in this order; between trials the model and its optimizer too",
        "按此顺序；各次试验之间也删除模型和优化器",
    )],
    fixtures: &["context/leak", "context/notebook"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // What is kept in a list or a store is referenced: nothing is there to collect.
    let kept = case.clue(Clue::Accumulates) || case.training() && case.confidence(CauseId::LeakGrowth) > 0.3;
    if case.clue(Clue::LongLived) && !kept {
        return Draft::new(case, &FIX)
            .frees_unknown(text!(
                en: "what cycles hold is not in the log; len(gc.garbage) and memory_allocated() before and after tell",
                zh: "循环引用占用多少日志中没有；比较调用前后的 memory_allocated() 可知"
            ))
            .because(text!(
                en: "a long-lived session can hold earlier models in reference cycles or tracebacks",
                zh: "长时间运行的会话可能通过循环引用或 traceback 持有旧模型"
            ));
    }
    if kept {
        return Advice::WontHelp(text!(
            en: "collects only reference cycles; what grows from step to step is kept by a name or a list",
            zh: "只回收循环引用；逐步增长的内容仍被某个变量或列表引用"
        ));
    }
    if case.confidence(CauseId::Capacity)
        + case.confidence(CauseId::TransientPeak)
        + case.confidence(CauseId::SingleHugeAllocation)
        < 0.5
    {
        return Advice::Silent;
    }
    Advice::WontHelp(text!(
        en: "collects only reference cycles; what this step needs is referenced and stays",
        zh: "只回收循环引用；这一步需要的张量都有引用，不会被回收"
    ))
}
