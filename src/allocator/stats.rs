//! The counters that `torch.cuda.memory_stats` shows.

/// A counter and the highest value it had since the last reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counter {
    pub current: i64,
    pub peak: i64,
}

impl Counter {
    #[inline]
    pub fn add(&mut self, amount: i64) {
        self.current += amount;
        self.peak = self.peak.max(self.current);
    }

    fn reset_peak(&mut self) {
        self.peak = self.current;
    }
}

/// A counter for one kind of pool at a time; the sum of both is computed when it is asked for, except for its peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolCounter {
    pub all: Counter,
    pub small: Counter,
    pub large: Counter,
}

impl PoolCounter {
    #[inline]
    pub fn add(&mut self, small: bool, amount: i64) {
        self.all.add(amount);
        if small { self.small.add(amount) } else { self.large.add(amount) }
    }

    fn reset_peak(&mut self) {
        self.all.reset_peak();
        self.small.reset_peak();
        self.large.reset_peak();
    }
}

/// Bytes and counts of everything. `active` includes blocks that were freed but wait for events; the figures of split
/// blocks and segments leave expandable memory out, as PyTorch's do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    pub allocated_bytes: PoolCounter,
    pub reserved_bytes: PoolCounter,
    pub active_bytes: PoolCounter,
    pub inactive_split_bytes: PoolCounter,
    pub requested_bytes: PoolCounter,
    pub allocation: PoolCounter,
    pub segment: PoolCounter,
    pub active: PoolCounter,
    pub inactive_split: PoolCounter,
    /// Requests for which the whole cache was released.
    pub num_alloc_retries: u64,
    pub num_ooms: u64,
}

impl Stats {
    /// The pooled counters under the names of `torch.cuda.memory_stats`, in the order in which they are reported.
    pub fn named(&self) -> [(&'static str, &PoolCounter); 9] {
        [
            ("allocated_bytes", &self.allocated_bytes),
            ("reserved_bytes", &self.reserved_bytes),
            ("active_bytes", &self.active_bytes),
            ("inactive_split_bytes", &self.inactive_split_bytes),
            ("requested_bytes", &self.requested_bytes),
            ("allocation", &self.allocation),
            ("segment", &self.segment),
            ("active", &self.active),
            ("inactive_split", &self.inactive_split),
        ]
    }

    /// `torch.cuda.reset_peak_memory_stats`.
    pub fn reset_peaks(&mut self) {
        for counter in [
            &mut self.allocated_bytes,
            &mut self.reserved_bytes,
            &mut self.active_bytes,
            &mut self.inactive_split_bytes,
            &mut self.requested_bytes,
            &mut self.allocation,
            &mut self.segment,
            &mut self.active,
            &mut self.inactive_split,
        ] {
            counter.reset_peak();
        }
    }
}
