//! The driver below the allocator: what hands out memory and addresses.

use super::round_up;
use std::collections::HashMap;

/// Physical memory comes in pieces of this size, bytes.
pub const GRANULE: u64 = 2 << 20;

/// A call that the allocator made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Malloc,
    Free,
    /// Virtual addresses reserved for an expandable segment.
    Reserve,
    Unreserve,
    /// One physical granule of an expandable segment.
    Create,
    Release,
    Map,
    Unmap,
}

impl Call {
    pub fn name(self) -> &'static str {
        match self {
            Call::Malloc => "malloc",
            Call::Free => "free",
            Call::Reserve => "reserve",
            Call::Unreserve => "unreserve",
            Call::Create => "create",
            Call::Release => "release",
            Call::Map => "map",
            Call::Unmap => "unmap",
        }
    }
}

/// A call with its outcome, for comparing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverCall {
    pub call: Call,
    /// `None` where a call has no address: create, release, a failed malloc.
    pub address: Option<u64>,
    /// Bytes asked for.
    pub size: u64,
    pub result: CallResult,
}

/// How a call ended; the numbers are those of `cudaError_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    Served = 0,
    /// The driver knows no such allocation.
    Invalid = 1,
    OutOfMemory = 2,
}

/// Another process that holds memory of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub bytes: u64,
}

/// What the allocator needs of a device. Sizes are bytes; addresses are relative to the device's first.
pub trait Device {
    /// `cudaMalloc`: an address, or `None` when out of memory.
    fn malloc(&mut self, size: u64) -> Option<u64>;
    /// `cudaFree`: false for an address that [`Device::malloc`] did not give or that was freed since.
    fn free(&mut self, address: u64) -> bool;
    /// `cuMemAddressReserve`.
    fn reserve(&mut self, size: u64) -> u64;
    /// `cuMemAddressFree`.
    fn unreserve(&mut self, address: u64, size: u64);
    /// `cuMemCreate`: false when out of memory.
    fn create(&mut self, size: u64) -> bool;
    /// `cuMemRelease` of one creation; its mapping, if any, is gone before.
    fn release(&mut self, size: u64);
    /// `cuMemMap` and `cuMemSetAccess`.
    fn map(&mut self, address: u64, size: u64);
    /// `cuMemUnmap`.
    fn unmap(&mut self, address: u64, size: u64);
    /// `cudaMemGetInfo`: free bytes.
    fn free_bytes(&self) -> u64;
    /// `cudaMemGetInfo`: all bytes.
    fn total_bytes(&self) -> u64;
    /// Bytes of this process on the device, its CUDA context included.
    fn own_bytes(&self) -> u64;
}

/// How this process shows in NVML's list of processes, which the error text prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listing {
    /// Under its own process id.
    #[default]
    Itself,
    /// Under another one, as in a container with its own process ids.
    As(u32),
    /// Not at all.
    Absent,
    /// NVML's library is not there.
    NoLibrary,
}

/// What the allocator knows about its surroundings besides the device: only error texts show it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// Index of the device as the process counts.
    pub device: u8,
    /// How this process shows in NVML's list.
    pub listing: Listing,
    /// The other processes of NVML's list.
    pub others: Vec<Process>,
}

/// A device that is nothing but counters. Addresses grow and are never reused; memory comes in pieces of [`GRANULE`].
#[derive(Debug, Clone, Default)]
pub struct SimulatedDevice {
    /// All bytes.
    pub total: u64,
    /// Bytes of this process's CUDA context.
    pub context: u64,
    pub others: Vec<Process>,
    /// Bytes in use that no list shows.
    pub hidden: u64,
    used: u64,
    next_address: u64,
    /// What [`Device::malloc`] gave and was not freed.
    allocations: HashMap<u64, u64>,
    /// The calls since the last [`SimulatedDevice::take_events`], kept only on request.
    events: Vec<DriverCall>,
    recording: bool,
}

impl SimulatedDevice {
    pub fn new(total: u64, context: u64) -> SimulatedDevice {
        SimulatedDevice { total, context, ..SimulatedDevice::default() }
    }

    /// Keeps every call from now on, until it is taken.
    pub fn record_events(&mut self) {
        self.recording = true;
    }

    pub fn events(&self) -> &[DriverCall] {
        &self.events
    }

    pub fn clear_events(&mut self) {
        self.events.clear();
    }

    fn note(&mut self, call: Call, address: Option<u64>, size: u64, result: CallResult) {
        if self.recording {
            self.events.push(DriverCall { call, address, size, result });
        }
    }

    fn take_address(&mut self, size: u64) -> u64 {
        let address = self.next_address;
        self.next_address = address.saturating_add(round_up(size, GRANULE));
        address
    }
}

fn served(served: bool) -> CallResult {
    if served { CallResult::Served } else { CallResult::OutOfMemory }
}

impl Device for SimulatedDevice {
    fn malloc(&mut self, size: u64) -> Option<u64> {
        let physical = round_up(size, GRANULE);
        let address = (physical <= self.free_bytes()).then(|| {
            self.used += physical;
            self.take_address(size)
        });
        if let Some(address) = address {
            self.allocations.insert(address, size);
        }
        self.note(Call::Malloc, address, size, served(address.is_some()));
        address
    }

    fn free(&mut self, address: u64) -> bool {
        let size = self.allocations.remove(&address);
        let result = if size.is_some() { CallResult::Served } else { CallResult::Invalid };
        self.note(Call::Free, Some(address), size.unwrap_or(0), result);
        self.used = self.used.saturating_sub(round_up(size.unwrap_or(0), GRANULE));
        size.is_some()
    }

    fn reserve(&mut self, size: u64) -> u64 {
        let address = self.take_address(size);
        self.note(Call::Reserve, Some(address), size, CallResult::Served);
        address
    }

    fn unreserve(&mut self, address: u64, size: u64) {
        self.note(Call::Unreserve, Some(address), size, CallResult::Served);
    }

    fn create(&mut self, size: u64) -> bool {
        let served = size <= self.free_bytes();
        if served {
            self.used += round_up(size, GRANULE);
        }
        self.note(Call::Create, None, size, self::served(served));
        served
    }

    fn release(&mut self, size: u64) {
        self.note(Call::Release, None, size, CallResult::Served);
        self.used = self.used.saturating_sub(round_up(size, GRANULE));
    }

    fn map(&mut self, address: u64, size: u64) {
        self.note(Call::Map, Some(address), size, CallResult::Served);
    }

    fn unmap(&mut self, address: u64, size: u64) {
        self.note(Call::Unmap, Some(address), size, CallResult::Served);
    }

    fn free_bytes(&self) -> u64 {
        let others = self.others.iter().fold(0u64, |sum, process| sum.saturating_add(process.bytes));
        let taken = self.context.saturating_add(others).saturating_add(self.hidden).saturating_add(self.used);
        self.total.saturating_sub(taken)
    }

    fn total_bytes(&self) -> u64 {
        self.total
    }

    fn own_bytes(&self) -> u64 {
        self.context.saturating_add(self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_in_granules_and_addresses_are_never_reused() {
        let mut device = SimulatedDevice::new(8 << 20, 1 << 20);
        assert_eq!(device.malloc(3 << 20), Some(0));
        assert_eq!(device.free_bytes(), 3 << 20);
        assert_eq!(device.malloc(4 << 20), None);
        assert!(device.free(0) && !device.free(0), "memory is freed once");
        assert_eq!(device.free_bytes(), 7 << 20);
        assert_eq!(device.malloc(1), Some(4 << 20));
    }
}
