//! One cache for all processes instead of one in each.

use super::prelude::*;
use crate::estimate::loader::Cache;

pub const FIX: Fix = Fix {
    id: "shared-cache",
    class: Class::Host,
    title: || text!(en: "Share one cache between all workers and ranks", zh: "所有 worker 和 rank 共享一个缓存"),
    doc: || {
        text!(
            en: "One memory-mapped file, LMDB or tensor in shared memory holds each sample once for the machine, \
                 however many processes read it. Decoded samples in a file on a local disk are cached by the \
                 kernel, which gives that memory back under pressure; a tensor in /dev/shm counts against the \
                 container's limit.",
            zh: "一个内存映射文件、LMDB 或共享内存中的张量，使每个样本在整机只存一份，与读进程数无关。把解码后的样本\
                 写到本地磁盘文件，由内核缓存，内存紧张时自动回收；放在 /dev/shm 的张量计入容器上限。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Loader],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.15), numerics: Numerics::Same },
    knobs: &[line(
        Target::Pytorch,
        "samples = np.memmap(\"decoded.bin\", dtype=np.float16, mode=\"r\", shape=(n, ...))",
    )
    .note("page cache: shared, given back under pressure", "页缓存：共享，内存紧张时自动回收")],
    fixtures: &["fix/caches-in-every-worker"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let Some(account) = case.ledger.loader.filter(|account| account.loader.cache != Cache::None && !account.fits())
    else {
        return Advice::Silent;
    };
    let loader = account.loader;
    let (Some(shared), true) = (account.shared_cache_that_fits, loader.readers() > 1) else { return Advice::Silent };
    let all = loader.dataset().map(|all| all.middle_bytes());
    let held = all.map_or(shared, |all| all.min(shared));
    let ends = account.need.caches_in_the_end;
    let readers = loader.readers();
    let (end, held_shown) = (show(ends.middle()), bytes(held));
    let range = Interval::between(account.need.caches_at_first.low - i128::from(held), ends.high - i128::from(held));
    let part = all.filter(|all| *all > 0).map(|all| held as f64 / all as f64 * 100.0);
    Draft::new(case, &FIX)
        .frees(
            range,
            text!(
                en: "caches of {end} in the end become one of {held_shown}",
                zh: "最终 {end} 的缓存变为一份 {held_shown}"
            ),
        )
        .certainty(Certainty::Likely)
        .because(match part {
            Some(part) if part < 99.5 => text!(
                en: "{readers} processes cache the same samples; one cache of {held_shown} holds {part:.0} % of the \
                     data set",
                zh: "{readers} 个进程缓存同样的样本；一份 {held_shown} 的缓存可容纳数据集的 {part:.0} %"
            ),
            Some(_) => text!(
                en: "{readers} processes cache the same samples; kept once, the whole data set of {held_shown} fits",
                zh: "{readers} 个进程缓存同样的样本；只存一份时整个数据集（{held_shown}）放得下"
            ),
            None => text!(
                en: "{readers} processes cache the same samples; one cache may take {held_shown}",
                zh: "{readers} 个进程缓存同样的样本；一份缓存可用 {held_shown}"
            ),
        })
}
