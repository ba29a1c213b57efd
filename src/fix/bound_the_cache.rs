//! A cache of samples that fits as often as there are processes.

use super::prelude::*;
use crate::estimate::loader::{Cache, Loader};

pub const FIX: Fix = Fix {
    id: "bound-the-cache",
    class: Class::Host,
    title: || text!(en: "Bound the sample cache in bytes, per process", zh: "按字节限制每个进程的样本缓存"),
    doc: || {
        text!(
            en: "A cache inside the data set object exists once in every worker of every rank, because each worker \
                 is a process of its own: a bound of 20 GiB with 3 × 12 workers is 720 GiB. The bound that fits is \
                 half of what the rest leaves, divided by the processes that read: `(0.9·limit − parents − workers \
                 − prefetched batches) / (2 · ranks · workers)`. Count bytes, not samples, and evict before \
                 inserting.",
            zh: "放在数据集对象里的缓存在每个 rank 的每个 worker 中各有一份，因为每个 worker 是独立进程：上限 20 \
                 GiB、3 × 12 个 worker 就是 720 GiB。合适的上限是其余部分留下的一半再除以读数据的进程数：`(0.9·上\
                 限 − 主进程 − worker − 预取批次) / (2 · rank 数 · worker 数)`。按字节而不是按样本数计，先淘汰再插\
                 入。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Loader],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Same },
    knobs: &[line(Target::Pytorch, "{workers}cache = LRUCache(max_bytes=int({gib} * 2**30))").note(
        "in each of {readers} processes, {samples} samples; evict before inserting",
        "在 {readers} 个进程中各一份，共 {samples} 个样本；先淘汰再插入",
    )],
    fixtures: &["fix/caches-in-every-worker"],
    advise,
};

/// Workers of each training process that keep most steps fed.
const FEWER: u64 = 4;
/// A cache of fewer samples than this is not worth having.
const USEFUL: i128 = 32;

fn advise(case: &Case) -> Advice {
    let Some(account) = case.ledger.loader.filter(|account| account.loader.cache != Cache::None && !account.fits())
    else {
        return Advice::Silent;
    };
    // A cache of a few samples is hit by none: then fewer workers with a larger cache each.
    let now = account.loader;
    let few = |each: u64| i128::from(each) < now.sample.high.saturating_mul(USEFUL);
    let fewer = Loader { workers: FEWER, ..now };
    let loader = if now.workers > FEWER && account.cache_that_fits.is_none_or(few) { fewer } else { now };
    let crowd = now.readers();
    let Some(each) = loader.cache_that_fits(account.limit).filter(|each| i128::from(*each) >= now.sample.high) else {
        return Advice::WontHelp(text!(
            en: "{crowd} processes leave less than one sample of cache for each: share one cache",
            zh: "{crowd} 个进程平均每个连一个样本的缓存都放不下：改用一个共享缓存"
        ));
    };
    let readers = loader.readers();
    let samples = i128::from(each) / now.sample.high.max(1);
    let bounded = Loader { cache: Cache::Bounded(each), ..loader }.need();
    let (all, held) = (account.need.caches_in_the_end, bounded.caches_in_the_end);
    let range = Interval::between((account.need.caches_at_first - bounded.caches_at_first).low, (all - held).high);
    let (each_shown, end, after) = (bytes(each), show(all.middle()), show(held.middle()));
    let gib = (each as f64 / GIB as f64 * 100.0).floor() / 100.0;
    let workers = if loader.workers < now.workers { format!("num_workers={FEWER}; ") } else { String::new() };
    Draft::new(case, &FIX)
        .frees(
            range,
            text!(
                en: "caches of {end} in the end become {readers} × {each_shown} = {after}",
                zh: "最终 {end} 的缓存变为 {readers} × {each_shown} = {after}"
            ),
        )
        .certainty(if account.batch_known { Certainty::Arithmetic } else { Certainty::Likely })
        .fill("workers", workers)
        .fill("gib", gib)
        .fill("readers", readers)
        .fill("samples", samples)
        .because(match now.cache {
            Cache::Bounded(given) => {
                let given = bytes(given);
                text!(
                    en: "a bound of {given} counts once in each of {crowd} reading processes; {each_shown} in each \
                         of {readers} fits",
                    zh: "{given} 的上限在 {crowd} 个读数据进程中各算一次；{readers} 个进程各 {each_shown} 才放得下"
                )
            }
            _ => text!(
                en: "every one of {crowd} reading processes keeps what it reads; {each_shown} in each of {readers} \
                     fits",
                zh: "{crowd} 个读数据进程都保留读到的样本；{readers} 个进程各 {each_shown} 才放得下"
            ),
        })
}
