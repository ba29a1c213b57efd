//! Stream-ordered allocation (`cudaMallocAsync`): one pool per device, and those that a program creates.
//!
//! A model, because the driver's pools are closed: the pool takes physical memory in steps of 32 MiB, keeps what is
//! freed up to its release threshold, and is never fragmented (the driver remaps pages). When a whole step does not
//! fit any more, it takes what is needed in pages of 2 MiB.

/// What a pool takes from the device at once.
const STEP: u64 = 32 << 20;
const PAGE: u64 = 2 << 20;
/// Requests are rounded to this.
pub const GRAIN: u64 = 512;

#[derive(Default, Clone)]
pub struct Pool {
    pub device: usize,
    pub used: u64,
    pub used_high: u64,
    pub reserved: u64,
    pub reserved_high: u64,
    /// Memory that is kept when the device is synchronised.
    pub threshold: u64,
}

impl Pool {
    /// What has to be taken from the device, of which `free` bytes are left, so that `size` more can be in use; `None`
    /// if it does not fit.
    pub fn growth(&self, size: u64, free: u64) -> Option<u64> {
        let missing = self.used.saturating_add(size).saturating_sub(self.reserved);
        let steps = missing.div_ceil(STEP).saturating_mul(STEP);
        let pages = missing.div_ceil(PAGE).saturating_mul(PAGE);
        [steps, pages].into_iter().find(|growth| *growth <= free)
    }

    pub fn take(&mut self, size: u64, growth: u64) {
        self.used += size;
        self.reserved += growth;
        self.used_high = self.used_high.max(self.used);
        self.reserved_high = self.reserved_high.max(self.reserved);
    }

    /// Gives memory back down to `keep` bytes and returns how much that was.
    pub fn trim(&mut self, keep: u64) -> u64 {
        let needed = self.used.div_ceil(PAGE) * PAGE;
        let released = self.reserved.saturating_sub(needed.max(keep));
        self.reserved -= released;
        released
    }

    /// `cudaMemPoolAttr`: 4 release threshold, 5 and 6 reserved now and at most, 7 and 8 used.
    pub fn attribute(&self, which: i32) -> u64 {
        match which {
            4 => self.threshold,
            5 => self.reserved,
            6 => self.reserved_high,
            7 => self.used,
            8 => self.used_high,
            _ => 0,
        }
    }

    /// Sets the threshold, or starts one of the two maxima anew.
    pub fn set_attribute(&mut self, which: i32, value: u64) {
        match which {
            4 => self.threshold = value,
            6 => self.reserved_high = self.reserved,
            8 => self.used_high = self.used,
            _ => {}
        }
    }
}
