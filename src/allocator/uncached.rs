//! The two ways around the cache: the driver's own pools and no pools at all. Both ask the driver for every request, so
//! that only their error texts are of interest; how the driver pools memory is not modelled.

use super::caching::AllocError;
use super::device::{Device, Surroundings};
use super::oom;
use super::version::Version;
use super::{LARGE_ROUNDING, ONE_EXABYTE, round_up};

/// What asks the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bypass {
    /// `backend:cudaMallocAsync`.
    MallocAsync,
    /// `PYTORCH_NO_CUDA_MEMORY_CACHING`.
    NoCaching,
}

/// An allocator that keeps nothing.
#[derive(Debug, Clone)]
pub struct UncachedAllocator<D: Device> {
    pub device: D,
    pub surroundings: Surroundings,
    pub bypass: Bypass,
    /// Bytes asked for and not freed.
    pub requested: u64,
    limit: Option<u64>,
    version: Version,
}

impl<D: Device> UncachedAllocator<D> {
    pub fn new(device: D, surroundings: Surroundings, bypass: Bypass, version: Version) -> UncachedAllocator<D> {
        UncachedAllocator { device, surroundings, bypass, requested: 0, limit: None, version }
    }

    pub fn set_memory_fraction(&mut self, fraction: f64) {
        if self.bypass == Bypass::MallocAsync {
            self.limit = Some((fraction * self.device.total_bytes() as f64) as u64);
        }
    }

    /// An address, or `None` for zero bytes.
    ///
    /// # Errors
    /// When the device is out of memory or the limit is reached, in the words of the backend.
    pub fn allocate(&mut self, bytes: u64) -> Result<Option<u64>, AllocError> {
        if bytes >= ONE_EXABYTE {
            return Err(AllocError::OutOfMemory(oom::MORE_THAN_AN_EXABYTE.into()));
        }
        if bytes == 0 {
            return Ok(None);
        }
        let allowed = self.limit.is_none_or(|limit| self.requested.saturating_add(bytes) <= limit);
        let address = if allowed { self.device.malloc(bytes) } else { None };
        match address {
            Some(_) => {
                self.requested += bytes;
                Ok(address)
            }
            None if self.bypass == Bypass::NoCaching => {
                Err(AllocError::Error(oom::driver_error(oom::Cause::OutOfMemory, self.version)))
            }
            None => Err(AllocError::OutOfMemory(self.text(bytes))),
        }
    }

    /// Gives back what [`UncachedAllocator::allocate`] gave for `bytes`.
    pub fn free(&mut self, address: u64, bytes: u64) {
        self.requested = self.requested.saturating_sub(bytes);
        self.device.free(address);
    }

    fn text(&self, bytes: u64) -> String {
        let figures = oom::Figures {
            requested: bytes,
            total: self.device.total_bytes(),
            free: self.device.free_bytes(),
            own: self.device.own_bytes(),
            allowed: self.limit,
            allocated: self.requested,
            reserved: round_up(self.requested, LARGE_ROUNDING),
            in_private_pools: 0,
        };
        oom::malloc_async(&figures, &self.surroundings, self.version)
    }
}
