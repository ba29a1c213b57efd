//! What a job's data loaders take by their settings, held against the memory that is to hold them.

use super::{Entry, Holder};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::estimate::loader::{Cache, DEFAULT_PREFETCH, Loader, Need};
use crate::text;
use crate::units::{Bytes, Interval};

/// The settings of a job's data loaders, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LoaderSettings {
    /// Bytes of one sample.
    pub sample: Option<Interval>,
    pub samples: Option<u64>,
    /// Workers of each process.
    pub workers: Option<u64>,
    /// Training processes on the machine.
    pub processes: Option<u64>,
    pub prefetch: Option<u64>,
    pub batch: Option<u64>,
    pub pinned: bool,
    /// Workers are started anew rather than forked.
    pub spawned: bool,
    /// Bytes that each process may cache; 0 for none.
    pub cache: Option<u64>,
    /// Every sample that was read stays in memory, or the user asks what that would take.
    pub keeps_samples: bool,
    /// The memory that the user gave.
    pub given_total: Option<Interval>,
    /// A limit of the job that the log shows.
    pub job_limit: Option<Interval>,
    /// The machine's memory, as the log shows it.
    pub machine_total: Option<Interval>,
}

/// The arithmetic of a job's data loaders against the memory that is to hold them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoaderAccount {
    pub loader: Loader,
    pub need: Need,
    pub limit: Interval,
    /// False where the batch size is not known and 1 stands for it, which makes the need a lower bound.
    pub batch_known: bool,
    /// The most workers per process for which all of it stays within the limit, caches in the end included.
    pub workers_that_fit: Option<u64>,
    /// The same for the batch size.
    pub batch_that_fits: Option<u64>,
    /// Bytes that each process which reads samples may cache.
    pub cache_that_fits: Option<u64>,
    /// Bytes of one cache that all processes share.
    pub shared_cache_that_fits: Option<u64>,
}

impl LoaderAccount {
    /// True when all that the settings take, caches in the end included, surely stays within the limit.
    pub fn fits(&self) -> bool {
        self.limit.surely_at_least(self.need.in_the_end())
    }

    pub fn new(loader: Loader, limit: Interval, batch_known: bool) -> LoaderAccount {
        LoaderAccount {
            need: loader.need(),
            limit,
            batch_known,
            workers_that_fit: loader.workers_that_fit(limit),
            batch_that_fits: loader.batch_that_fits(limit),
            cache_that_fits: loader.cache_that_fits(limit),
            shared_cache_that_fits: loader.shared_cache_that_fits(limit),
            loader,
        }
    }
}

/// The arithmetic of the data loaders, where the log or the user tells enough: workers, bytes of a sample, and the
/// memory that is to hold them.
pub fn account(event: &Event, settings: &LoaderSettings) -> Option<LoaderAccount> {
    if !matches!(event.resource, Resource::Host | Resource::Cgroup) {
        return None;
    }
    let sample = settings.sample?;
    let workers = settings.workers?;
    let limit = limit(event, settings)?;
    if sample.high <= 0 || limit.low <= 0 {
        return None;
    }
    let cache = match settings.cache {
        Some(0) => Cache::None,
        Some(bytes) => Cache::Bounded(bytes),
        None if settings.samples.is_some() && settings.keeps_samples => Cache::Unbounded,
        None => Cache::None,
    };
    let loader = Loader {
        processes: settings.processes.unwrap_or(1).max(1),
        workers,
        prefetch: settings.prefetch.unwrap_or(DEFAULT_PREFETCH),
        batch: settings.batch.unwrap_or(1).max(1),
        sample,
        samples: settings.samples,
        pinned: settings.pinned,
        spawned: settings.spawned || event.has(Sign::Windows),
        cache,
    };
    Some(LoaderAccount::new(loader, limit, settings.batch.is_some()))
}

/// What binds: what the user gave, else the limit that was hit, the job's limit, the machine's memory.
fn limit(event: &Event, settings: &LoaderSettings) -> Option<Interval> {
    let printed = |fact| event.facts.get(fact).map(|figure| figure.interval());
    settings
        .given_total
        .or_else(|| printed(Fact::Limit))
        .or(settings.job_limit)
        .or_else(|| printed(Fact::Capacity))
        .or(settings.machine_total)
}

/// The account's lines for the arithmetic, caches as they are after the first epoch.
pub(super) fn entries(account: &LoaderAccount) -> Vec<Entry> {
    let LoaderAccount { loader, need, batch_known, .. } = account;
    let (processes, workers, prefetch, batch) = (loader.processes, loader.workers, loader.prefetch, loader.batch);
    let sample = Bytes(loader.sample.middle_bytes());
    let (least_en, least_zh) = if *batch_known { ("", "") } else { (" (at least)", "（至少）") };
    let mut entries = vec![
        Entry {
            holder: Holder::TrainingProcesses,
            amount: need.parents,
            basis: text!(
                en: "{processes} × 268–481 MiB for a process with torch imported; model and data of its own come on \
                     top",
                zh: "{processes} × 268–481 MiB（导入 torch 的进程）；其自身的模型与数据另计"
            ),
        },
        Entry {
            holder: Holder::Workers,
            amount: need.workers,
            basis: text!(
                en: "{processes} × {workers} workers × (start + between one sample of {sample} and a batch of {batch}\
                     {least_en}); pages of Python objects that reading makes private come on top",
                zh: "{processes} × {workers} 个 worker ×（启动开销 + 一个样本 {sample} 到一批 {batch} 个{least_zh}）；\
                     读取 Python 对象而变为私有的页另计"
            ),
        },
        Entry {
            holder: Holder::PrefetchedBatches,
            amount: need.queue,
            basis: text!(
                en: "{processes} × ({workers} workers × {prefetch} prefetched + 1–2 held) × batch of {batch}{least_en} \
                     × {sample}, in shared memory",
                zh: "{processes} ×（{workers} 个 worker × 预取 {prefetch} + 持有 1–2）× 每批 {batch}{least_zh} × \
                     {sample}，位于共享内存"
            ),
        },
        Entry {
            holder: Holder::PinnedBatches,
            amount: need.pinned,
            basis: text!(
                en: "{processes} × 1 … ({workers} × {prefetch} + 1) batches, rounded up to powers of two",
                zh: "{processes} × 1 … ({workers} × {prefetch} + 1) 批，按 2 的幂向上取整"
            ),
        },
    ];
    let samples = loader.samples.unwrap_or_default();
    let readers = loader.readers();
    let end = Bytes(need.caches_in_the_end.middle_bytes());
    let basis = match loader.cache {
        Cache::Bounded(each) => {
            let each = Bytes(each);
            text!(
                en: "{readers} reading processes × {each} of cache, no more than the data set after one epoch; {end} \
                     in the end",
                zh: "{readers} 个读数据进程 × 缓存 {each}，一个 epoch 后不超过整个数据集；最终 {end}"
            )
        }
        _ => text!(
            en: "{samples} samples × {sample}, each kept by one process after one epoch; every process of {readers} \
                 gets to see all of them later: {end} in the end",
            zh: "{samples} 个样本 × {sample}，一个 epoch 后各由一个进程保留；之后 {readers} 个进程都会读到全部样本：最\
                 终 {end}"
        ),
    };
    entries.push(Entry { holder: Holder::SampleCaches, amount: need.caches_at_first, basis });
    entries.retain(|entry| entry.amount.high > 0);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Span;
    use crate::units::{GIB, MIB};

    #[test]
    fn the_loaders_are_accounted_for_when_sample_workers_and_memory_are_known() {
        let event = Event::new("test", crate::domain::Program::Pytorch, Resource::Host, Span::line(1));
        assert_eq!(account(&event, &LoaderSettings::default()), None);
        let settings = LoaderSettings {
            workers: Some(20),
            processes: Some(4),
            sample: Some(Interval::exactly(50 * MIB)),
            samples: Some(4000),
            keeps_samples: true,
            given_total: Some(Interval::exactly(128 * GIB)),
            ..LoaderSettings::default()
        };
        let account = account(&event, &settings).unwrap();
        assert_eq!(account.loader.cache, Cache::Unbounded);
        let entries = entries(&account);
        let amount = |holder| entries.iter().find(|entry| entry.holder == holder).map(|entry| entry.amount.middle());
        assert_eq!(amount(Holder::SampleCaches), Some(4000 * 50 * MIB as i128));
        assert_eq!(amount(Holder::PinnedBatches), None);
    }
}
