//! The host's side: what the data loaders keep against the memory of the machine or of its container.

use crate::domain::Verdict;
use crate::estimate::loader::{Loader, Need};
use crate::order::InOrder;
use crate::text::Text;
use crate::units::Interval;

/// Share of the host's memory that is left for the page cache, the kernel and what no formula names.
const LEFT_FREE: f64 = 0.1;

/// The loaders of one machine against its memory.
#[derive(Debug, Clone, PartialEq)]
pub struct HostAnswer {
    pub loader: Loader,
    pub need: Need,
    /// Bytes that are there.
    pub limit: u64,
    /// Where the limit is from.
    pub limit_from: Text,
    pub verdict: Verdict,
    /// The most workers of each process that fit, the largest private cache, and the largest shared one.
    pub workers: Option<u64>,
    pub cache: Option<u64>,
    pub shared_cache: Option<u64>,
}

impl HostAnswer {
    pub fn new(loader: Loader, limit: u64, limit_from: Text) -> HostAnswer {
        let need = loader.need();
        let total = need.in_the_end();
        let verdict = Verdict::of(total, limit, LEFT_FREE);
        let whole = Interval::exactly(limit);
        HostAnswer {
            loader,
            need,
            limit,
            limit_from,
            verdict,
            workers: loader.workers_that_fit(whole),
            cache: loader.cache_that_fits(whole),
            shared_cache: loader.shared_cache_that_fits(whole),
        }
    }

    /// The parts with what they are, the largest first.
    pub fn parts(&self) -> Vec<(Text, Interval)> {
        let need = &self.need;
        let mut parts = vec![
            (Text::new("training processes", "训练进程"), need.parents),
            (Text::new("workers", "worker 进程"), need.workers),
            (Text::new("prefetched batches in shared memory", "共享内存中预取的批次"), need.queue),
            (Text::new("pinned copies", "锁页内存副本"), need.pinned),
            (Text::new("caches of samples in the end", "样本缓存（最终）"), need.caches_in_the_end),
        ];
        parts.retain(|(_, bytes)| bytes.high > 0);
        parts.order_by_key(|(_, bytes)| std::cmp::Reverse(bytes.high));
        parts
    }
}
