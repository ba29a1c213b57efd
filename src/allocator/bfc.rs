//! What a dump of the best-fit-with-coalescing allocator of TensorFlow and JAX says about a request
//! (`tsl/framework/bfc_allocator.cc`): would it have fitted, and could the region have grown.

use super::round_up;

/// Sizes are multiples of this, bytes (`kMinAllocationSize`).
pub const QUANTUM: u64 = 256;

/// A chunk of a region, in order of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    pub size: u64,
    pub in_use: bool,
}

/// An answer about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// The request as the allocator rounds it.
    pub rounded: u64,
    /// A free chunk holds it.
    pub fits_now: bool,
    pub largest_free: u64,
    pub free: u64,
    pub in_use: u64,
    /// The limit leaves room for a new region that holds it. Whether the device does is another question.
    pub could_grow: bool,
    /// All free bytes in one piece would hold it: the chunks are scattered.
    pub fragmented: bool,
}

/// Answers for a request of `bytes`, given all chunks of a dump and the allocator's limit (`Limit:` of its statistics;
/// `None` where the dump breaks off before).
pub fn fit(chunks: &[Chunk], limit: Option<u64>, bytes: u64) -> Fit {
    let rounded = round_up(bytes.max(1), QUANTUM);
    let sum = |in_use: bool| {
        chunks.iter().filter(|chunk| chunk.in_use == in_use).fold(0u64, |sum, chunk| sum.saturating_add(chunk.size))
    };
    let (free, in_use) = (sum(false), sum(true));
    let largest_free = chunks.iter().filter(|chunk| !chunk.in_use).map(|chunk| chunk.size).max().unwrap_or(0);
    let fits_now = largest_free >= rounded;
    let held = free.saturating_add(in_use);
    Fit {
        rounded,
        fits_now,
        largest_free,
        free,
        in_use,
        could_grow: limit.is_some_and(|limit| held.saturating_add(rounded) <= limit),
        fragmented: !fits_now && free >= rounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn chunk(size: u64, in_use: bool) -> Chunk {
        Chunk { size, in_use }
    }

    #[test]
    fn scattered_chunks_hold_less_than_their_sum() {
        let chunks = [chunk(1024, false), chunk(4096, true), chunk(2048, false)];
        let fit = fit(&chunks, Some(8192), 2500);
        assert_eq!((fit.rounded, fit.largest_free, fit.free, fit.in_use), (2560, 2048, 3072, 4096));
        assert!(!fit.fits_now && fit.fragmented && !fit.could_grow);
    }

    #[test]
    fn sizes_are_rounded_before_they_are_compared() {
        let chunks = [chunk(1024, false)];
        assert!(fit(&chunks, None, 1024).fits_now);
        assert!(!fit(&chunks, None, 1025).fits_now);
        assert!(fit(&chunks, None, 0).fits_now);
    }

    #[test]
    fn a_region_grows_only_below_the_limit() {
        let chunks = [chunk(1 << 20, true)];
        assert!(fit(&chunks, Some((1 << 20) + 512), 512).could_grow);
        assert!(!fit(&chunks, Some((1 << 20) + 512), 513).could_grow);
        assert!(!fit(&chunks, None, 256).could_grow, "an unknown limit promises nothing");
    }
}
