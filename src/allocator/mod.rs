//! PyTorch's caching allocator of CUDA memory, simulated call by call.
//!
//! The same requests give the same addresses, the same driver calls in the same order and the same error texts as
//! `c10/cuda/CUDACachingAllocator.cpp` of PyTorch 2.0 to 2.15. What differs between versions is in [`version`], what
//! users can set in [`config`].
//!
//! * [`caching`] holds the algorithm, [`expandable`] its expandable segments, [`private_pool`] the pools of CUDA
//!   graphs.
//! * [`device`] is the driver below: a counter of bytes with a bump pointer for addresses.
//! * [`trace`] is a list of requests, [`replay`] runs it and tells what happened.
//!
#![doc = include_str!("upstream.md")]

pub mod block;
pub mod caching;
pub mod config;
pub mod device;
mod expandable;
mod flat_map;
pub mod oom;
pub mod ordered;
mod private_pool;
pub mod replay;
pub mod restore;
pub mod snapshot;
pub mod stats;
pub mod trace;
pub mod uncached;
pub mod version;

/// Smallest block and the quantum of sizes, bytes.
pub const QUANTUM: u64 = 512;
/// Largest rounded request that the small pool serves, bytes.
pub const SMALL_LIMIT: u64 = 1 << 20;
/// Segment of the small pool, bytes.
pub const SMALL_SEGMENT: u64 = 2 << 20;
/// Rounded requests below this get a segment of the configured large size, bytes.
pub const MIDDLE_LIMIT: u64 = 10 << 20;
/// Default segment for requests between the two limits, and default granule of expandable segments, bytes.
pub const LARGE_SEGMENT: u64 = 20 << 20;
/// Segments of larger requests are multiples of this, bytes.
pub const LARGE_ROUNDING: u64 = 2 << 20;
/// Requests of at least this many bytes are refused unseen.
pub const ONE_EXABYTE: u64 = 1 << 60;
/// Streams in PyTorch's pool of side streams; the 33rd that a program asks for is the first again.
pub const POOL_STREAMS: u32 = 32;

/// `n` up to a multiple of `unit`; saturates.
pub fn round_up(n: u64, unit: u64) -> u64 {
    if unit == 0 { n } else { n.div_ceil(unit).saturating_mul(unit) }
}
