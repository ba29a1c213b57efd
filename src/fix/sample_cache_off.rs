//! No data set in RAM.

use super::prelude::*;

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
    helps: &[Work::Training],
    needs: &[],
    applies: |case| case.on_host() && (case.clue(Clue::SampleCache) || case.context.cache_size.is_known()),
    costs: Costs { slows: (0.0, 0.5), numerics: Numerics::Same },
    knobs: &[
        line(Target::Ultralytics, "cache=False").note("or cache=\"disk\"", "或 cache=\"disk\""),
        said(
            Target::Pytorch,
            "read each sample when it is asked for, or decode all into one memory-mapped file",
            "样本用到时再读取，或全部解码到一个内存映射文件中",
        ),
    ],
    fixtures: &["fix/images-in-ram"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // Where the settings tell all, bound-the-cache and shared-cache give figures.
    if case.ledger.loader.is_some_and(|account| !account.fits()) {
        return Advice::Silent;
    }
    let amount = case.context.cache_size.get().map(|size| {
        let shown = bytes(size.bytes);
        (size.interval(), text!(en: "the {shown} cache", zh: "{shown} 的缓存"))
    });
    Draft::new(case, &FIX)
        .frees_if(
            amount,
            text!(en: "samples × bytes of one; the log does not give both", zh: "样本数 × 单样本字节；日志没有给全"),
        )
        .certainty(Certainty::Likely)
        .because(text!(en: "samples are kept in RAM", zh: "样本保存在内存中"))
}
