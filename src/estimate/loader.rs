//! What PyTorch's data loaders keep in host and shared memory, and how many workers, how large a cache fit a limit.
//!
//! ```text
//! host = R·parent + R·workers·(start + samples of a batch) + R·(workers·prefetch + held)·batch + pinned + caches
//! ```
//!
//! with R training processes on the machine and 1–2 batches held by each loop. Pages that a fork shares and reading
//! turns private (reference counts of Python objects) come on top: up to half of a list of dictionaries for each
//! worker, next to nothing for arrays (measured); the log does not tell their size.

use crate::units::{Interval, MIB};

/// Batches alive at once: every worker's prefetched ones and those the loop still holds (1–2).
/// Exact in four measured settings.
pub fn batches_alive(workers: u64, prefetch: u64, held: u64) -> u64 {
    workers.saturating_mul(prefetch).saturating_add(held)
}

/// Bytes of shared memory that the queues of one process take.
pub fn shared_memory(workers: u64, prefetch: u64, held: u64, batch_bytes: u64) -> u64 {
    batches_alive(workers, prefetch, held).saturating_mul(batch_bytes)
}

/// The size to give /dev/shm: one and a half times what the queues of all processes on the node take.
pub fn shm_size(processes: u64, workers: u64, prefetch: u64, batch_bytes: u64) -> u64 {
    let need = shared_memory(workers, prefetch, 2, batch_bytes).saturating_mul(processes.max(1));
    need.saturating_add(need / 2)
}

/// Prefetched batches per worker when nothing is set (torch ≥ 1.7 with workers > 0).
pub const DEFAULT_PREFETCH: u64 = 2;

/// Private memory of a process that has imported torch, parent of the workers: anonymous at least, all private pages at
/// most (measured with a CUDA 13 build). What the program itself keeps comes on top.
const PARENT: Interval = Interval { low: 268 * MIB as i128, high: 481 * MIB as i128 };
/// Private memory of a forked worker before it reads anything (measured).
const FORKED: Interval = Interval { low: 10 * MIB as i128, high: 16 * MIB as i128 };
/// The same of a spawned one, which imports everything again (measured; the pickled data set comes on top).
const SPAWNED: Interval = Interval { low: 400 * MIB as i128, high: 450 * MIB as i128 };
/// Nothing on one machine is larger; keeps products of absurd settings from overflowing.
const CEILING: i128 = 1 << 100;
/// The most workers, batches and processes that a search tries.
const SEARCHED: u64 = 1 << 16;

/// Samples that the data set keeps in RAM once read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    None,
    /// At most this many bytes in each process that reads.
    Bounded(u64),
    /// Everything that was read.
    Unbounded,
}

/// The settings that decide what the data loaders of one machine take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loader {
    /// Training processes on the machine, at least 1.
    pub processes: u64,
    /// Workers of each.
    pub workers: u64,
    pub prefetch: u64,
    /// Samples in a batch, at least 1.
    pub batch: u64,
    /// Bytes of one sample as loaded.
    pub sample: Interval,
    /// Samples of the data set.
    pub samples: Option<u64>,
    pub pinned: bool,
    /// Workers are spawned (Windows, macOS, an explicit start method) rather than forked.
    pub spawned: bool,
    pub cache: Cache,
}

/// What [`Loader`] takes, by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The training processes themselves, as far as importing torch goes.
    pub parents: Interval,
    /// Private pages of the workers: their own start and the samples of the batch that each is putting together.
    pub workers: Interval,
    /// Prefetched batches in shared memory.
    pub queue: Interval,
    /// Pinned copies of batches.
    pub pinned: Interval,
    /// Caches after the first epoch, when every sample has been read by one process.
    pub caches_at_first: Interval,
    /// Caches in the end: shuffling gives every process every sample.
    pub caches_in_the_end: Interval,
}

impl Need {
    /// Everything but the caches.
    pub fn without_caches(&self) -> Interval {
        self.parents + self.workers + self.queue + self.pinned
    }

    pub fn after_one_epoch(&self) -> Interval {
        self.without_caches() + self.caches_at_first
    }

    pub fn in_the_end(&self) -> Interval {
        self.without_caches() + self.caches_in_the_end
    }
}

fn times(amount: Interval, count: u128) -> Interval {
    let count = i128::try_from(count).unwrap_or(CEILING);
    let product = |bytes: i128| bytes.saturating_mul(count).clamp(-CEILING, CEILING);
    Interval::between(product(amount.low), product(amount.high))
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

impl Loader {
    /// Bytes of one batch.
    pub fn batch_bytes(&self) -> Interval {
        times(self.sample, u128::from(self.batch.max(1)))
    }

    /// Bytes of the whole data set as loaded.
    pub fn dataset(&self) -> Option<Interval> {
        Some(times(self.sample, u128::from(self.samples?)))
    }

    /// Processes that read samples: the workers, or the training processes themselves where there are none.
    pub fn readers(&self) -> u64 {
        self.processes.max(1).saturating_mul(self.workers.max(1))
    }

    pub fn need(&self) -> Need {
        let processes = u128::from(self.processes.max(1));
        let batch = self.batch_bytes();
        let start = if self.spawned { SPAWNED } else { FORKED };
        // The samples of a batch wait in the worker until it is complete and is copied into shared memory.
        let collating = Interval::between(self.sample.low, batch.high);
        let ahead = product(self.workers, self.prefetch);
        let held =
            Interval::between(times(batch, ahead.saturating_add(1)).low, times(batch, ahead.saturating_add(2)).high);
        let pinned = if self.pinned {
            let rounded = u64::try_from(batch.high).ok().and_then(u64::checked_next_power_of_two);
            let rounded = Interval::exactly(rounded.unwrap_or(u64::MAX));
            Interval::between(times(batch, processes).low, times(rounded, processes.saturating_mul(ahead + 1)).high)
        } else {
            Interval::exactly(0)
        };
        let (caches_at_first, caches_in_the_end) = self.caches();
        Need {
            parents: times(PARENT, processes),
            workers: times(start + collating, processes.saturating_mul(u128::from(self.workers))),
            queue: times(held, processes),
            pinned,
            caches_at_first,
            caches_in_the_end,
        }
    }

    /// All caches together after one epoch and in the end.
    fn caches(&self) -> (Interval, Interval) {
        let readers = u128::from(self.readers());
        let smaller = |a: Interval, b: Interval| Interval::between(a.low.min(b.low), a.high.min(b.high));
        match (self.cache, self.dataset()) {
            (Cache::None, _) | (Cache::Unbounded, None) => (Interval::exactly(0), Interval::exactly(0)),
            (Cache::Unbounded, Some(all)) => (all, times(all, readers)),
            (Cache::Bounded(each), None) => {
                let full = times(Interval::exactly(each), readers);
                (full, full)
            }
            (Cache::Bounded(each), Some(all)) => {
                let each = Interval::exactly(each);
                (smaller(times(each, readers), all), times(smaller(each, all), readers))
            }
        }
    }

    /// The most workers per process, up to the present number, whose need stays within nine tenths of `limit` for good.
    /// `None` where not even loading in the training process does.
    pub fn workers_that_fit(&self, limit: Interval) -> Option<u64> {
        largest(self.workers.min(SEARCHED), 0, |workers| {
            Loader { workers, ..*self }.need().in_the_end().high <= room(limit)
        })
    }

    /// The largest batch that fits beside caches as they are; `None` where not even one sample does.
    pub fn batch_that_fits(&self, limit: Interval) -> Option<u64> {
        largest(SEARCHED, 1, |batch| Loader { batch, ..*self }.need().in_the_end().high <= room(limit))
    }

    /// Bytes that each reading process may cache: half of what the rest leaves, since a cache that fills memory to the
    /// last byte leaves none for the peaks. `None` where the rest alone does not fit.
    pub fn cache_that_fits(&self, limit: Interval) -> Option<u64> {
        let all = self.shared_cache_that_fits(limit)?;
        Some(all / self.readers().max(1))
    }

    /// Bytes that one cache shared by all processes may take.
    pub fn shared_cache_that_fits(&self, limit: Interval) -> Option<u64> {
        let left = room(limit) - self.need().without_caches().high;
        u64::try_from(left / 2).ok().filter(|bytes| *bytes > 0)
    }
}

/// Nine tenths of a limit: the rest is for the page cache, the kernel and what no formula names.
fn room(limit: Interval) -> i128 {
    limit.low / 10 * 9
}

/// The largest number in `least ..= most` for which `fits` holds, given that it holds for all smaller ones.
fn largest(most: u64, least: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    if !fits(least) {
        return None;
    }
    let (mut low, mut high) = (least, most.max(least));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::MIB;

    #[test]
    fn eight_workers_overflow_dockers_default() {
        assert_eq!(shared_memory(8, 2, 2, 96 * MIB), 1728 * MIB);
        assert!(shared_memory(8, 2, 2, 96 * MIB) > 64 * MIB);
        assert_eq!(shm_size(2, 8, 2, 96 * MIB), 5184 * MIB);
        assert_eq!(shared_memory(u64::MAX, 2, 2, 2), u64::MAX);
    }

    fn loader() -> Loader {
        Loader {
            processes: 2,
            workers: 24,
            prefetch: 2,
            batch: 4,
            sample: Interval::exactly(80 * MIB),
            samples: Some(3000),
            pinned: false,
            spawned: false,
            cache: Cache::Unbounded,
        }
    }

    #[test]
    fn parts_follow_the_formula() {
        let need = loader().need();
        let batch = 4 * 80 * MIB as i128;
        assert_eq!(need.queue, Interval::between(2 * 49 * batch, 2 * 50 * batch));
        assert_eq!(need.workers.high, 48 * (16 * MIB as i128 + batch));
        assert_eq!(need.caches_at_first, Interval::exactly(3000 * 80 * MIB));
        assert_eq!(need.caches_in_the_end, Interval::exactly(48 * 3000 * 80 * MIB));
        assert_eq!(need.pinned, Interval::exactly(0));
        let pinned = Loader { pinned: true, ..loader() }.need().pinned;
        assert_eq!(pinned, Interval::between(2 * batch, 2 * 49 * 512 * MIB as i128), "320 MiB are rounded up to 512");
    }

    #[test]
    fn what_is_said_to_fit_fits_and_one_more_does_not() {
        for gib in [16u64, 40, 64, 100, 250, 1000] {
            let limit = Interval::exactly(gib * crate::units::GIB);
            for cache in [Cache::None, Cache::Bounded(512 * MIB), Cache::Unbounded] {
                let loader = Loader { cache, ..loader() };
                let fits = |loader: Loader| loader.need().in_the_end().high <= limit.low / 10 * 9;
                if let Some(workers) = loader.workers_that_fit(limit) {
                    assert!(fits(Loader { workers, ..loader }), "{gib} {cache:?} {workers}");
                    assert!(workers == 24 || !fits(Loader { workers: workers + 1, ..loader }), "{gib} {cache:?}");
                } else {
                    assert!(!fits(Loader { workers: 0, ..loader }));
                }
                if let Some(batch) = loader.batch_that_fits(limit) {
                    assert!(fits(Loader { batch, ..loader }) && !fits(Loader { batch: batch + 1, ..loader }));
                }
                if let Some(each) = loader.cache_that_fits(limit) {
                    assert!(fits(Loader { cache: Cache::Bounded(each), ..loader }), "{gib} {each}");
                }
            }
        }
    }

    #[test]
    fn absurd_settings_neither_panic_nor_fit() {
        let absurd = Loader {
            processes: u64::MAX,
            workers: u64::MAX,
            prefetch: u64::MAX,
            batch: u64::MAX,
            sample: Interval::exactly(u64::MAX),
            samples: Some(u64::MAX),
            pinned: true,
            spawned: true,
            cache: Cache::Bounded(u64::MAX),
        };
        let limit = Interval::exactly(1 << 40);
        assert!(absurd.need().in_the_end().high > limit.high);
        assert_eq!(absurd.workers_that_fit(limit), None);
        assert_eq!(absurd.cache_that_fits(limit), None);
    }

    #[test]
    fn the_whole_is_the_sum_of_its_parts() {
        let need = Loader { pinned: true, ..loader() }.need();
        let parts = [need.parents, need.workers, need.queue, need.pinned];
        assert!(parts.iter().all(|part| part.high > 0));
        let sum = |caches: Interval| {
            let of = |end: fn(&Interval) -> i128| parts.iter().chain([&caches]).map(end).sum::<i128>();
            Interval::between(of(|part| part.low), of(|part| part.high))
        };
        assert_eq!(need.without_caches(), sum(Interval::exactly(0)));
        assert_eq!(need.after_one_epoch(), sum(need.caches_at_first));
        assert_eq!(need.in_the_end(), sum(need.caches_in_the_end));
    }
}
