//! The account of device memory: what `cudaMalloc`, the virtual memory functions and the pools hold.
//!
//! Device `d` owns the addresses `[BASE + d * SPAN, BASE + (d + 1) * SPAN)`. The whole range lies below every usual
//! mapping of a Linux process on x86-64, so an address tells device from host. Addresses are handed out in one
//! direction, in units of 2 MiB, and used again only when all have been used once.

use crate::abi::{INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status};
use crate::contents::Contents;
use crate::counters::{DEVICES, MANAGED, PEAK, PINNED, PINNED_PEAK, REFUSED, SERVED, USED};
use crate::pool::{self, Pool};
use crate::report;
use crate::settings::settings;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, Once, PoisonError};

pub const BASE: u64 = 0x1000_0000_0000;
pub const SPAN: u64 = 0x0400_0000_0000;
/// Physical memory is given in pages of this size.
pub const PAGE: u64 = 2 << 20;

/// The device that an address belongs to, `None` for host memory.
pub fn device_of(address: u64) -> Option<usize> {
    let device = address.checked_sub(BASE)? / SPAN;
    (device < DEVICES as u64).then_some(device as usize)
}

fn pages(size: u64) -> u64 {
    size.div_ceil(PAGE).saturating_mul(PAGE)
}

/// Where a block of memory was taken from.
enum Source {
    /// `cudaMalloc`.
    Device,
    /// `cudaMallocAsync`, by the key of its pool.
    Pool(u64),
}

struct Allocation {
    size: u64,
    /// Bytes it takes of its source.
    taken: u64,
    device: usize,
    source: Source,
}

/// Physical memory by `cuMemCreate`; it goes when neither the program nor a mapping holds it.
struct Physical {
    size: u64,
    device: usize,
    references: u32,
    mappings: u32,
}

struct Mapping {
    size: u64,
    handle: u64,
}

/// Page-locked or managed host memory.
#[derive(Clone, Copy)]
pub struct HostBlock {
    pub size: u64,
    pub managed: bool,
    /// Allocated by us, not only registered.
    pub ours: bool,
    pub device: usize,
}

#[derive(Default)]
struct Device {
    used: u64,
    /// Bytes of addresses given out so far.
    spent: u64,
}

/// Everything about memory, behind one lock.
pub struct Memory {
    devices: [Device; DEVICES],
    allocations: BTreeMap<u64, Allocation>,
    reserved: BTreeMap<u64, u64>,
    physical: BTreeMap<u64, Physical>,
    mappings: BTreeMap<u64, Mapping>,
    pools: BTreeMap<u64, Pool>,
    host: BTreeMap<u64, HostBlock>,
    next_key: u64,
    pub contents: Contents,
}

static MEMORY: Mutex<Option<Memory>> = Mutex::new(None);

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The current device of this thread.
pub fn current() -> usize {
    CURRENT.get()
}

pub fn set_current(device: usize) {
    CURRENT.set(device.min(DEVICES - 1));
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

thread_local! {
    /// All locks while this thread forks: the child must not find one held by a thread that it does not have.
    static FORKING: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}
extern "C" fn before_fork() {
    let account: Box<dyn Any> = Box::new(MEMORY.lock().unwrap_or_else(PoisonError::into_inner));
    let locks = [account, crate::streams::held(), crate::nccl::held(), crate::cudnn::held()];
    // Nobody borrows it for longer than these two functions run.
    let _ = FORKING.try_with(|held| held.try_borrow_mut().map(|mut held| held.extend(locks)));
}
extern "C" fn after_fork() {
    let _ = FORKING.try_with(|held| held.try_borrow_mut().map(|mut held| held.clear()));
}
extern "C" fn after_fork_in_child() {
    report::leave_parent();
    after_fork();
}

/// The account, created when it is first needed.
pub fn with<R>(action: impl FnOnce(&mut Memory) -> R) -> R {
    static HANDLERS: Once = Once::new();
    // SAFETY: registers three functions that live as long as this object: a process never unloads the runtime.
    HANDLERS.call_once(|| unsafe {
        pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child));
    });
    let mut guard = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    action(guard.get_or_insert_with(Memory::new))
}

impl Memory {
    fn new() -> Memory {
        let mut pools = BTreeMap::new();
        for device in 0..DEVICES {
            pools.insert(DEFAULT_POOL + device as u64, Pool { device, ..Pool::default() });
        }
        Memory {
            devices: Default::default(),
            allocations: BTreeMap::new(),
            reserved: BTreeMap::new(),
            physical: BTreeMap::new(),
            mappings: BTreeMap::new(),
            pools,
            host: BTreeMap::new(),
            next_key: 1,
            contents: Contents::default(),
        }
    }

    fn new_key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    /// Bytes that this process could still take.
    pub fn free(&self, device: usize) -> u64 {
        let settings = settings();
        let used = self.devices.get(device).map_or(0, |device| device.used);
        let neighbours = crate::neighbours::on(device).iter().map(|(_, bytes)| bytes).sum();
        let taken = [used, settings.context, settings.others, neighbours];
        settings.total.saturating_sub(taken.into_iter().fold(0, u64::saturating_add))
    }

    /// Bytes in use by this process, its context not counted.
    pub fn used(&self, device: usize) -> u64 {
        self.devices.get(device).map_or(0, |device| device.used)
    }

    /// Takes physical memory, or counts a refusal.
    fn take(&mut self, device: usize, bytes: u64) -> Result<(), Status> {
        report::open();
        if bytes > self.free(device) {
            report::add(report::cell(device, REFUSED), 1);
            return Err(OUT_OF_MEMORY);
        }
        let row = self.devices.get_mut(device).ok_or(INVALID_VALUE)?;
        row.used += bytes;
        report::set(report::cell(device, USED), row.used);
        if row.used > report::get(report::cell(device, PEAK)) {
            report::set(report::cell(device, PEAK), row.used);
        }
        report::add(report::cell(device, SERVED), 1);
        Ok(())
    }

    fn give_back(&mut self, device: usize, bytes: u64) {
        if let Some(row) = self.devices.get_mut(device) {
            row.used = row.used.saturating_sub(bytes);
            report::set(report::cell(device, USED), row.used);
        }
    }

    /// Whether any of the range is allocated or reserved.
    fn occupied(&self, address: u64, length: u64) -> Option<u64> {
        let end = address.saturating_add(length);
        let allocation = self.allocations.range(..end).next_back().map(|(start, a)| start + pages(a.size.max(1)));
        let reserved = self.reserved.range(..end).next_back().map(|(start, size)| start + pages(*size));
        allocation.into_iter().chain(reserved).filter(|stop| *stop > address).max()
    }

    /// Addresses for `size` bytes.
    fn addresses(&mut self, device: usize, size: u64) -> Result<u64, Status> {
        let size = pages(size.max(1));
        let first = BASE + device as u64 * SPAN;
        // The last pages belong to the program's modules (see `module_address`).
        let room = SPAN - PAGE * 8;
        if size > room {
            return Err(OUT_OF_MEMORY);
        }
        let mut rounds = 0;
        loop {
            let row = self.devices.get_mut(device).ok_or(INVALID_VALUE)?;
            if row.spent + size > room {
                row.spent = 0;
                rounds += 1;
                if rounds > 1 {
                    return Err(OUT_OF_MEMORY);
                }
            }
            let address = if settings().down { first + room - row.spent - size } else { first + row.spent };
            row.spent += size;
            // Only a process that has used up all addresses once can meet one that is taken.
            match self.occupied(address, size) {
                None => return Ok(address),
                Some(stop) if !settings().down => {
                    if let Some(row) = self.devices.get_mut(device) {
                        row.spent = stop - first;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// `cudaMalloc`: whole pages of physical memory.
    pub fn allocate(&mut self, device: usize, size: u64) -> Result<u64, Status> {
        let taken = pages(size);
        self.take(device, taken)?;
        let address = self.addresses(device, size).inspect_err(|_| self.give_back(device, taken))?;
        self.allocations.insert(address, Allocation { size, taken, device, source: Source::Device });
        Ok(address)
    }

    /// `cudaFree` and `cudaFreeAsync`, whichever made the block.
    pub fn release(&mut self, address: u64) -> Status {
        let Some(block) = self.allocations.remove(&address) else { return INVALID_VALUE };
        self.contents.forget(address, block.size);
        match block.source {
            Source::Device => self.give_back(block.device, block.taken),
            Source::Pool(key) => {
                if let Some(pool) = self.pools.get_mut(&key) {
                    pool.used = pool.used.saturating_sub(block.taken);
                }
            }
        }
        SUCCESS
    }

    /// The block that an address lies in: its start and size.
    pub fn block(&self, address: u64) -> Option<(u64, u64)> {
        let (start, block) = self.allocations.range(..=address).next_back()?;
        (address < start + block.size.max(1)).then_some((*start, block.size))
    }

    /// `cudaMallocFromPoolAsync`.
    pub fn allocate_from(&mut self, key: u64, size: u64) -> Result<u64, Status> {
        let rounded = size.max(1).div_ceil(pool::GRAIN).saturating_mul(pool::GRAIN);
        let device = self.pools.get(&key).ok_or(INVALID_VALUE)?.device;
        let free = self.free(device);
        let growth = self.pools.get(&key).and_then(|pool| pool.growth(rounded, free)).unwrap_or(u64::MAX);
        self.take(device, growth)?;
        let address = self.addresses(device, size).inspect_err(|_| self.give_back(device, growth))?;
        if let Some(pool) = self.pools.get_mut(&key) {
            pool.take(rounded, growth);
        }
        self.allocations.insert(address, Allocation { size, taken: rounded, device, source: Source::Pool(key) });
        Ok(address)
    }

    pub fn create_pool(&mut self, device: usize) -> u64 {
        let key = DEFAULT_POOL + 0x1000 + self.new_key();
        self.pools.insert(key, Pool { device, ..Pool::default() });
        key
    }

    pub fn pool(&mut self, key: u64) -> Option<&mut Pool> {
        self.pools.get_mut(&key)
    }

    pub fn trim_pool(&mut self, key: u64, keep: u64) {
        if let Some(pool) = self.pools.get_mut(&key) {
            let (device, released) = (pool.device, pool.trim(keep));
            self.give_back(device, released);
        }
    }

    pub fn destroy_pool(&mut self, key: u64) {
        self.trim_pool(key, 0);
        if self.pools.get(&key).is_some_and(|pool| pool.used == 0) {
            self.pools.remove(&key);
        }
    }

    /// At a synchronisation pools give back what exceeds their threshold.
    pub fn synchronised(&mut self, device: usize) {
        let keys: Vec<(u64, u64)> =
            self.pools.iter().filter(|(_, pool)| pool.device == device).map(|(k, p)| (*k, p.threshold)).collect();
        for (key, keep) in keys {
            self.trim_pool(key, keep);
        }
    }

    /// `cuMemAddressReserve`.
    pub fn reserve(&mut self, device: usize, size: u64) -> Result<u64, Status> {
        let address = self.addresses(device, size)?;
        self.reserved.insert(address, size);
        Ok(address)
    }

    pub fn unreserve(&mut self, address: u64) -> Status {
        if self.reserved.remove(&address).is_some() { SUCCESS } else { INVALID_VALUE }
    }

    /// `cuMemCreate`.
    pub fn create(&mut self, device: usize, size: u64) -> Result<u64, Status> {
        if size == 0 || !size.is_multiple_of(PAGE) {
            return Err(INVALID_VALUE);
        }
        self.take(device, size)?;
        let key = self.new_key();
        self.physical.insert(key, Physical { size, device, references: 1, mappings: 0 });
        Ok(key)
    }

    fn drop_if_unused(&mut self, key: u64) {
        let unused = |physical: &Physical| physical.references == 0 && physical.mappings == 0;
        if self.physical.get(&key).is_some_and(unused)
            && let Some(physical) = self.physical.remove(&key)
        {
            self.give_back(physical.device, physical.size);
        }
    }

    pub fn release_handle(&mut self, key: u64) -> Status {
        let Some(physical) = self.physical.get_mut(&key) else { return INVALID_VALUE };
        physical.references = physical.references.saturating_sub(1);
        self.drop_if_unused(key);
        SUCCESS
    }

    pub fn map(&mut self, address: u64, size: u64, key: u64) -> Status {
        let end = address.saturating_add(size);
        let taken = self.mappings.range(..end).next_back().is_some_and(|(start, map)| start + map.size > address);
        match self.physical.get_mut(&key) {
            Some(physical) if !taken && size <= physical.size => {
                physical.mappings += 1;
                self.mappings.insert(address, Mapping { size, handle: key });
                SUCCESS
            }
            _ => INVALID_VALUE,
        }
    }

    /// Undoes whole mappings: the range must begin and end where mappings do.
    pub fn unmap(&mut self, address: u64, size: u64) -> Status {
        let end = address.saturating_add(size);
        let inside: Vec<(u64, u64)> =
            self.mappings.range(address..end).map(|(start, map)| (*start, map.size)).collect();
        let covered: u64 = inside.iter().map(|(_, size)| size).sum();
        if inside.is_empty() || covered != size {
            return INVALID_VALUE;
        }
        for (start, size) in inside {
            self.contents.forget(start, size);
            if let Some(map) = self.mappings.remove(&start) {
                if let Some(physical) = self.physical.get_mut(&map.handle) {
                    physical.mappings = physical.mappings.saturating_sub(1);
                }
                self.drop_if_unused(map.handle);
            }
        }
        SUCCESS
    }

    /// `cuMemRetainAllocationHandle`: one more reference to what is mapped at an address.
    pub fn retain(&mut self, address: u64) -> Result<u64, Status> {
        let (start, map) = self.mappings.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        if address >= start + map.size {
            return Err(INVALID_VALUE);
        }
        let key = map.handle;
        if let Some(physical) = self.physical.get_mut(&key) {
            physical.references += 1;
        }
        Ok(key)
    }

    pub fn add_host(&mut self, address: u64, block: HostBlock) {
        report::open();
        if let Some(old) = self.host.insert(address, block) {
            self.count_host(old, false);
        }
        self.count_host(block, true);
    }

    pub fn remove_host(&mut self, address: u64) -> Option<HostBlock> {
        let block = self.host.remove(&address)?;
        self.count_host(block, false);
        Some(block)
    }

    fn count_host(&self, block: HostBlock, more: bool) {
        let word = if block.managed { MANAGED } else { PINNED };
        let now = report::get(word);
        let now = if more { now + block.size } else { now.saturating_sub(block.size) };
        report::set(word, now);
        if !block.managed && now > report::get(PINNED_PEAK) {
            report::set(PINNED_PEAK, now);
        }
    }

    /// The page-locked or managed block that a host address lies in.
    pub fn host_block(&self, address: u64) -> Option<(u64, HostBlock)> {
        let (start, block) = self.host.range(..=address).next_back()?;
        (address < start + block.size.max(1)).then_some((*start, *block))
    }
}

/// The key of device 0's default pool; the others follow.
pub const DEFAULT_POOL: u64 = 0xb000_0000;

/// Where `__device__` variables of the program's modules are: part of the context, in nobody's account.
pub fn module_address() -> u64 {
    BASE + (current() as u64 + 1) * SPAN - PAGE * 4
}
