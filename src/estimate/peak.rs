//! A peak of device memory, known up to a range.

use crate::units::{Interval, MIB};

/// Bytes of the highest point of a run, as the framework's allocator needs them from the device.
///
/// `low` is what must be allocated at least, `expected` what the allocator will probably have reserved, `high` a bound
/// that is safe to plan with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    pub low: f64,
    pub expected: f64,
    pub high: f64,
}

/// What PyTorch's caching allocator has reserved, as a multiple of what it has allocated at the peak: the middle of
/// what was measured with fixed shapes (1.01 to 1.3, the large values where little is in use).
pub const HELD_BEYOND: f64 = 1.05;
/// Bytes that come on top of that share: segments of 2 and 20 MiB that are partly used.
pub const HELD_FLOOR: f64 = 90.0 * MIB as f64;

/// Whole bytes, bounded so that sums of a few of them cannot overflow; nothing real comes near the bound.
pub fn whole(bytes: f64) -> i128 {
    bytes.clamp(0.0, 1e30) as i128
}

impl Peak {
    /// In order and not negative, whatever the arithmetic that led here did.
    pub fn ordered(low: f64, expected: f64, high: f64) -> Peak {
        let clean = |x: f64| if x.is_finite() { x.max(0.0) } else { f64::MAX };
        let expected = clean(expected);
        Peak { low: clean(low).min(expected), expected, high: clean(high).max(expected) }
    }

    /// The range in whole bytes.
    pub fn interval(&self) -> Interval {
        Interval::between(whole(self.low), whole(self.high))
    }
}
