//! The algorithm: where a request goes, when the driver is asked, what is given back.
//!
//! Follows `DeviceCachingAllocator` of `c10/cuda/CUDACachingAllocator.cpp` step by step, under its names (the table in
//! [the module above](super) maps each function); the order of every search and
//! of every release is part of the contract, because it decides addresses.

use super::block::{Arena, Block, BlockId, NONE, NOT_EXPANDABLE};
use super::config::Config;
use super::device::{Device, Listing, Surroundings};
use super::expandable::Segment;
use super::flat_map::FlatMap;
use super::oom::{self, Cause, Tail};
use super::ordered::{Key, Ordered, Place};
use super::private_pool::PrivatePools;
use super::stats::Stats;
use super::version::{Behaviour, EmptyCacheInPool, Version};
use super::{LARGE_ROUNDING, MIDDLE_LIMIT, ONE_EXABYTE, QUANTUM, SMALL_LIMIT, SMALL_SEGMENT, round_up};
use std::collections::{HashMap, VecDeque};

/// Index of the default pool for large requests.
pub(super) const LARGE: u32 = 0;
/// Index of the default pool for small requests.
pub(super) const SMALL: u32 = 1;

/// Why a call did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllocError {
    /// `torch.OutOfMemoryError` with its exact text.
    OutOfMemory(String),
    /// Any other error of the library.
    Error(String),
}

/// Free memory of one kind: of the default pool or of one private pool, for small or for large requests.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub small: bool,
    /// Id of the private pool it belongs to.
    pub owner: Option<u64>,
    /// Mapped free blocks of each stream by size.
    pub free: Vec<Ordered>,
    /// Unmapped parts of expandable segments of each stream by address.
    pub unmapped: Vec<Ordered>,
    /// Searches while garbage collection was armed: the clock of ages.
    pub searches: u64,
    /// A free block may be one that can be given back: parts of a segment that is in use are not walked through again
    /// at each `empty_cache`, which made a trace of them quadratic.
    releasable: bool,
}

impl Pool {
    pub fn new(small: bool, owner: Option<u64>) -> Pool {
        Pool { small, owner, free: Vec::new(), unmapped: Vec::new(), searches: 0, releasable: false }
    }

    fn of_stream(lists: &mut Vec<Ordered>, stream: u32) -> &mut Ordered {
        let index = stream as usize;
        if lists.len() <= index {
            lists.resize_with(index + 1, Ordered::default);
        }
        &mut lists[index]
    }
}

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Bytes as asked for.
    pub bytes: u64,
    /// Rounded bytes.
    pub size: u64,
    /// Bytes of the segment that would be asked for.
    pub segment_size: u64,
    pub pool: u32,
    pub stream: u32,
}

/// An event recorded when a block was freed.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    block: BlockId,
    /// Recorded while events were held back.
    held: bool,
}

/// PyTorch's caching allocator of one device.
#[derive(Debug, Clone)]
pub struct CachingAllocator<D: Device> {
    pub device: D,
    pub surroundings: Surroundings,
    pub stats: Stats,
    version: Version,
    pub(super) behaviour: Behaviour,
    pub(super) config: Config,
    pub(super) arena: Arena,
    pub(super) pools: Vec<Pool>,
    pub(super) segments: Vec<Option<Segment>>,
    pub(super) private: PrivatePools,
    /// Bytes held from the driver.
    pub(super) reserved: u64,
    /// Most bytes that it may hold.
    limit: Option<u64>,
    /// Events that have not been seen to complete, by stream.
    events: FlatMap<VecDeque<Waiting>>,
    /// Blocks freed during a capture whose events are recorded after it.
    pub(super) deferred: Vec<BlockId>,
    /// Streams that a block was used on besides its own, until its events are recorded.
    uses: HashMap<BlockId, FlatMap<()>>,
    /// Those of [`CachingAllocator::uses`] that were recorded during a capture.
    captured_uses: HashMap<BlockId, FlatMap<()>>,
    /// Recorded events stay pending until this is cleared.
    events_held: bool,
}

impl<D: Device> CachingAllocator<D> {
    pub fn new(device: D, surroundings: Surroundings, config: Config, version: Version) -> CachingAllocator<D> {
        let mut allocator = CachingAllocator {
            device,
            surroundings,
            stats: Stats::default(),
            version,
            behaviour: Behaviour::of(version),
            config,
            arena: Arena::default(),
            pools: vec![Pool::new(false, None), Pool::new(true, None)],
            segments: Vec::new(),
            private: PrivatePools::default(),
            reserved: 0,
            limit: None,
            events: FlatMap::default(),
            deferred: Vec::new(),
            uses: HashMap::new(),
            captured_uses: HashMap::new(),
            events_held: false,
        };
        if let Some(fraction) = allocator.config.per_process_memory_fraction.filter(|fraction| *fraction < 1.0) {
            allocator.set_limit(fraction);
        }
        allocator
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// `torch.cuda.set_per_process_memory_fraction`.
    ///
    /// # Errors
    /// When the fraction lies outside 0 to 1.
    pub fn set_memory_fraction(&mut self, fraction: f64) -> Result<(), AllocError> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(AllocError::Error(format!("invalid fraction:{fraction}. Please set within [0, 1].")));
        }
        self.set_limit(fraction);
        Ok(())
    }

    fn set_limit(&mut self, fraction: f64) {
        let unlimited = fraction >= 1.0 && self.behaviour.full_fraction_is_no_limit;
        self.limit = (!unlimited).then(|| (fraction * self.device.total_bytes() as f64) as u64);
    }

    /// `torch.cuda.memory._set_allocator_settings`.
    ///
    /// # Errors
    /// When the text cannot be parsed; the options before the faulty one are then set already.
    pub fn set_config(&mut self, text: &str) -> Result<(), AllocError> {
        self.config.apply(text, self.version).map(|_| ()).map_err(|error| AllocError::Error(error.message))
    }

    /// Keeps the events recorded from now on pending, or lets all complete.
    pub fn hold_events(&mut self, hold: bool) {
        self.events_held = hold;
    }

    /// The block of an id that [`CachingAllocator::allocate`] gave and that was not freed since.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.arena[id]
    }

    /// Serves `bytes` on a stream. `None` for zero bytes, which take nothing.
    ///
    /// # Errors
    /// With the exact text of PyTorch when the memory cannot be had.
    pub fn allocate(&mut self, bytes: u64, stream: u32) -> Result<Option<BlockId>, AllocError> {
        if bytes >= ONE_EXABYTE {
            return Err(AllocError::OutOfMemory(oom::MORE_THAN_AN_EXABYTE.to_string()));
        }
        if bytes == 0 {
            return Ok(None);
        }
        let capturing = self.capturing();
        if !capturing {
            self.process_events();
        }
        let size = self.round_size(bytes);
        let pool = self.get_pool(size, stream);
        let request = Request { bytes, size, segment_size: self.segment_size(size), pool, stream };
        let found = match self.get_free_block(&request) {
            Some(block) => Some(block),
            None => self.alloc_after_release(&request, capturing)?,
        };
        match found {
            Some(block) => Ok(Some(self.alloc_found_block(block, bytes, &request))),
            None => {
                if self.version.is(2, 1) && self.surroundings.listing == Listing::NoLibrary {
                    return Err(AllocError::Error(oom::NO_NVML.to_string()));
                }
                self.stats.num_ooms += 1;
                Err(AllocError::OutOfMemory(self.out_of_memory_text(&request)))
            }
        }
    }

    /// What remains once the cache has nothing: collect, ask, release some, ask, release all, ask.
    #[cold]
    fn alloc_after_release(&mut self, request: &Request, capturing: bool) -> Result<Option<BlockId>, AllocError> {
        if let (Some(limit), Some(threshold)) = (self.limit, self.config.garbage_collection_threshold) {
            self.garbage_collect_cached_blocks(limit, threshold)?;
        }
        if let Some(block) = self.alloc_block(request)? {
            return Ok(Some(block));
        }
        if self.release_available_cached_blocks(request)?
            && let Some(block) = self.alloc_block(request)?
        {
            return Ok(Some(block));
        }
        if capturing {
            return Ok(None);
        }
        self.release_cached_blocks()?;
        self.stats.num_alloc_retries += 1;
        self.alloc_block(request)
    }

    /// Requested bytes as the block sizes count them.
    #[inline]
    pub fn round_size(&self, bytes: u64) -> u64 {
        if bytes < QUANTUM {
            return QUANTUM;
        }
        let divisions = self.config.divisions(bytes);
        let least = if self.behaviour.division_of_one_keeps_size { 0 } else { 1 };
        if divisions > least && bytes > QUANTUM.saturating_mul(divisions) {
            roundup_power2_next_division(bytes, divisions)
        } else {
            round_up(bytes, QUANTUM)
        }
    }

    #[inline]
    fn segment_size(&self, size: u64) -> u64 {
        if size <= SMALL_LIMIT {
            SMALL_SEGMENT
        } else if size < MIDDLE_LIMIT {
            self.config.large_segment_size
        } else {
            round_up(size, LARGE_ROUNDING)
        }
    }

    #[inline]
    fn key(&self, block: &Block) -> Key {
        Key::new(block.size, if self.behaviour.ties_by_age { block.serial } else { block.address })
    }

    #[inline]
    pub(super) fn insert_free(&mut self, id: BlockId) {
        let key = self.key(&self.arena[id]);
        let block = &mut self.arena[id];
        let pool = &mut self.pools[block.pool as usize];
        block.age_base = pool.searches;
        pool.releasable |= block.is_expandable() || !block.is_split();
        Pool::of_stream(&mut pool.free, block.stream).insert(key, id);
    }

    #[inline]
    pub(super) fn remove_free(&mut self, id: BlockId) {
        let block = &self.arena[id];
        let key = self.key(block);
        let removed = Pool::of_stream(&mut self.pools[block.pool as usize].free, block.stream).remove(key);
        debug_assert_eq!(removed, Some(id));
    }

    pub(super) fn insert_unmapped(&mut self, id: BlockId) {
        let block = &self.arena[id];
        let key = Key::new(block.address, 0);
        Pool::of_stream(&mut self.pools[block.pool as usize].unmapped, block.stream).insert(key, id);
    }

    pub(super) fn remove_unmapped(&mut self, id: BlockId) {
        let block = &self.arena[id];
        let key = Key::new(block.address, 0);
        let removed = Pool::of_stream(&mut self.pools[block.pool as usize].unmapped, block.stream).remove(key);
        debug_assert_eq!(removed, Some(id));
    }

    /// True when garbage collection could happen, which is when ages are counted.
    #[inline]
    fn counts_ages(&self) -> bool {
        self.limit.is_some() && self.config.garbage_collection_threshold.is_some()
    }

    /// The best free block, taken out of its pool. Only one candidate is looked at.
    #[inline]
    fn get_free_block(&mut self, request: &Request) -> Option<BlockId> {
        let counts = self.counts_ages();
        let pool = &mut self.pools[request.pool as usize];
        if counts {
            pool.searches += 1;
        }
        let list = pool.free.get_mut(request.stream as usize)?;
        let mut place = list.at_or_after(Key::new(request.size, 0))?;
        let mut block = &self.arena[list.block(place)];
        if block.is_expandable() {
            place = if self.config.expandable_segments {
                best_expandable(&self.arena, list, place)
            } else {
                first_ordinary(&self.arena, list, place)?
            };
            block = &self.arena[list.block(place)];
        }
        if let Some(most) = self.config.max_split_size {
            let oversize_request = request.size >= most;
            if !oversize_request && block.size >= most
                || oversize_request && block.size >= request.size.saturating_add(self.config.rounding_limit())
            {
                return None;
            }
        }
        Some(list.remove_at(place))
    }

    /// Cuts the block where the rules say so, and marks it.
    #[inline]
    fn alloc_found_block(&mut self, found: BlockId, bytes: u64, request: &Request) -> BlockId {
        let small = self.pools[request.pool as usize].small;
        let whole = &self.arena[found];
        let was_split = whole.is_split();
        let expandable = whole.is_expandable();
        let remaining = whole.size.saturating_sub(request.size);
        let cut = if small || self.config.expandable_segments {
            remaining >= QUANTUM
        } else {
            self.config.max_split_size.is_none_or(|most| request.size < most) && remaining > SMALL_LIMIT
        };
        let id = if cut {
            let (previous, address, segment) = (whole.previous, whole.address, whole.segment);
            let front = self.arena.create(request.pool, request.stream, address, request.size, segment);
            self.arena.link(previous, front, found);
            let rest = &mut self.arena[found];
            rest.address += request.size;
            rest.size -= request.size;
            let rest_size = rest.size;
            self.insert_free(found);
            if !expandable && was_split {
                self.stats.inactive_split_bytes.add(small, -(request.size as i64));
            } else if !expandable {
                self.stats.inactive_split_bytes.add(small, rest_size as i64);
                self.stats.inactive_split.add(small, 1);
            }
            front
        } else {
            if was_split && !expandable {
                let size = whole.size as i64;
                self.stats.inactive_split_bytes.add(small, -size);
                self.stats.inactive_split.add(small, -1);
            }
            found
        };
        let block = &mut self.arena[id];
        block.allocated = true;
        block.requested = bytes;
        let size = block.size as i64;
        self.stats.allocation.add(small, 1);
        self.stats.allocated_bytes.add(small, size);
        self.stats.active.add(small, 1);
        self.stats.active_bytes.add(small, size);
        self.stats.requested_bytes.add(small, bytes as i64);
        id
    }

    /// One attempt at new memory.
    ///
    /// # Errors
    /// When the version refuses in advance what would not fit.
    fn alloc_block(&mut self, request: &Request) -> Result<Option<BlockId>, AllocError> {
        let wanted = self.reserved.saturating_add(request.segment_size);
        if self.limit.is_some_and(|limit| wanted > limit) {
            return Ok(None);
        }
        if self.config.throw_on_cudamalloc_oom {
            let share = self.config.per_process_memory_fraction.unwrap_or(1.0);
            if wanted > (share * self.device.total_bytes() as f64) as u64 {
                return Err(AllocError::OutOfMemory(oom::rejected(request.bytes)));
            }
        }
        if self.expandable_for(request.pool) {
            return Ok(self.try_allocate_expandable_block(request));
        }
        let Some(address) = self.device.malloc(request.segment_size) else { return Ok(None) };
        let pool = &self.pools[request.pool as usize];
        let (small, owner) = (pool.small, pool.owner);
        if let Some(owner) = owner {
            self.private.count_segments(owner, 1);
        }
        self.reserved += request.segment_size;
        self.stats.segment.add(small, 1);
        self.stats.reserved_bytes.add(small, request.segment_size as i64);
        Ok(Some(self.arena.create(request.pool, request.stream, address, request.segment_size, NOT_EXPANDABLE)))
    }

    /// True when requests of this pool get expandable segments.
    fn expandable_for(&self, pool: u32) -> bool {
        self.config.expandable_segments
            && (self.behaviour.expandable_private_pools || self.pools[pool as usize].owner.is_none())
    }

    /// Gives back large cached segments by age until the threshold is reached. Counts what it frees against the target
    /// only after each round over all candidates.
    fn garbage_collect_cached_blocks(&mut self, limit: u64, threshold: f64) -> Result<(), AllocError> {
        let threshold = (threshold * limit as f64) as u64;
        if self.reserved <= threshold {
            return Ok(());
        }
        let target = self.reserved - threshold;
        let searches = self.pools[LARGE as usize].searches;
        let whole = |arena: &Arena, id: &BlockId| !arena[*id].is_split();
        let mut candidates: Vec<BlockId> = self.pools[LARGE as usize]
            .free
            .iter()
            .flat_map(Ordered::iter)
            .filter(|id| whole(&self.arena, id))
            .collect();
        let age = |arena: &Arena, id: BlockId| (searches - arena[id].age_base) as f64;
        let mut total_age: f64 = candidates.iter().map(|id| age(&self.arena, *id)).sum();
        let mut reclaimed = 0;
        let mut freed_one = true;
        while reclaimed < target && freed_one && !candidates.is_empty() {
            let average = total_age / candidates.len() as f64;
            freed_one = false;
            let mut kept = Vec::with_capacity(candidates.len());
            for id in candidates {
                let block = &self.arena[id];
                if block.is_expandable() || age(&self.arena, id) < average {
                    kept.push(id);
                    continue;
                }
                freed_one = true;
                reclaimed += block.size;
                total_age -= age(&self.arena, id);
                self.release_block(id)?;
            }
            candidates = kept;
        }
        Ok(())
    }

    /// Gives a cached segment back to the driver.
    ///
    /// # Errors
    /// When the driver does not know the address: PyTorch can try to free a part of a segment where a split limit met
    /// blocks that were split without one.
    pub(super) fn release_block(&mut self, id: BlockId) -> Result<(), AllocError> {
        let block = &self.arena[id];
        let (size, pool, previous, next) = (block.size, block.pool, block.previous, block.next);
        if !self.device.free(block.address) {
            return Err(AllocError::Error(oom::driver_error(Cause::InvalidArgument, self.version)));
        }
        self.remove_free(id);
        self.reserved = self.reserved.saturating_sub(size);
        let pool = &self.pools[pool as usize];
        let (small, owner) = (pool.small, pool.owner);
        if let Some(owner) = owner {
            self.private.count_segments(owner, -1);
        }
        self.stats.segment.add(small, -1);
        self.stats.reserved_bytes.add(small, -(size as i64));
        if previous != NONE {
            self.arena[previous].next = next;
        }
        if next != NONE {
            self.arena[next].previous = previous;
        }
        self.remove_block(id);
        Ok(())
    }

    /// Drops a block object.
    pub(super) fn remove_block(&mut self, id: BlockId) {
        if !self.captured_uses.is_empty() {
            self.captured_uses.remove(&id);
        }
        self.arena.remove(id);
    }

    /// With a split limit: gives back one oversize block that is large enough, or several from the largest down. True
    /// when that gave enough bytes.
    ///
    /// # Errors
    /// Up to 2.4 an expandable block on the way is an internal error.
    fn release_available_cached_blocks(&mut self, request: &Request) -> Result<bool, AllocError> {
        let Some(most) = self.config.max_split_size else { return Ok(false) };
        let wanted = request.size.max(most);
        let asserts = self.behaviour.release_asserts_on_expandable;
        let pool = &self.pools[request.pool as usize];
        let Some(list) = pool.free.get(request.stream as usize) else { return Ok(false) };
        let (mut from, single) = match list.at_or_after(Key::new(wanted, 0)) {
            Some(place) if asserts || !self.arena[list.block(place)].is_expandable() => (None, Some(list.block(place))),
            Some(place) => (list.previous(place), None),
            None => (list.last(), None),
        };
        if let Some(id) = single {
            if self.arena[id].is_expandable() {
                return Err(expandable_assertion());
            }
            self.release_block(id)?;
            return Ok(true);
        }
        let mut chosen = Vec::new();
        let mut sum = 0u64;
        while let Some(place) = from.filter(|_| sum < wanted) {
            let id = list.block(place);
            let block = &self.arena[id];
            if block.size < most {
                break;
            }
            if !block.is_expandable() || asserts {
                sum = sum.saturating_add(block.size);
                chosen.push(id);
            }
            from = list.previous(place);
        }
        for id in chosen {
            if self.arena[id].is_expandable() {
                return Err(expandable_assertion());
            }
            self.release_block(id)?;
        }
        Ok(sum >= wanted)
    }

    /// Waits for all events, then gives every whole cached segment and granule back.
    ///
    /// # Errors
    /// While a private pool is in use, in versions that assert then.
    pub(super) fn release_cached_blocks(&mut self) -> Result<(), AllocError> {
        if self.capturing() {
            match self.behaviour.empty_cache_in_pool {
                EmptyCacheInPool::Asserts => {
                    return Err(AllocError::Error(
                        "captures_underway.empty() INTERNAL ASSERT FAILED at \"CUDACachingAllocator.cpp\"".into(),
                    ));
                }
                EmptyCacheInPool::SkipsDefaultPools => {}
                EmptyCacheInPool::Works => self.release_default_pools()?,
            }
        } else {
            self.release_default_pools()?;
        }
        for id in self.private.freeable() {
            let Some((large, small)) = self.private.pools_of(id) else { continue };
            self.release_blocks(small)?;
            self.release_blocks(large)?;
        }
        self.private.forget_empty();
        Ok(())
    }

    fn release_default_pools(&mut self) -> Result<(), AllocError> {
        self.synchronize_and_free_events();
        self.release_blocks(LARGE)?;
        self.release_blocks(SMALL)
    }

    pub(super) fn release_blocks(&mut self, pool: u32) -> Result<(), AllocError> {
        if !self.pools[pool as usize].releasable {
            return Ok(());
        }
        let cached: Vec<BlockId> = self.pools[pool as usize].free.iter().flat_map(Ordered::iter).collect();
        let mut expandable = Vec::new();
        for id in cached {
            if self.arena[id].is_expandable() {
                expandable.push(id);
            } else if !self.arena[id].is_split() {
                self.release_block(id)?;
            }
        }
        for id in expandable {
            self.unmap_block(id);
        }
        // What cannot be given back now is put among the free ones again before it can.
        self.pools[pool as usize].releasable = false;
        Ok(())
    }

    /// `torch.cuda.empty_cache`.
    ///
    /// # Errors
    /// While a private pool is in use, in versions that assert then.
    pub fn empty_cache(&mut self) -> Result<(), AllocError> {
        self.release_cached_blocks()
    }

    /// `Tensor.record_stream`: the block must outlive what runs on that stream now.
    pub fn record_stream(&mut self, id: BlockId, stream: u32) {
        let block = &mut self.arena[id];
        if block.stream == stream {
            return;
        }
        block.used_elsewhere = true;
        let key = self.stream_key(stream);
        self.uses.entry(id).or_default().insert(key, ());
        if self.capturing() {
            self.captured_uses.entry(id).or_default().insert(key, ());
        }
    }

    /// The hash of a stream: kind and index of its device and its id.
    fn stream_key(&self, stream: u32) -> u64 {
        const CUDA: u64 = 1;
        // Index in its pool, kind "normal priority", and the bit that tells PyTorch's own streams (CUDAStream.cpp).
        let id = stream.checked_sub(1).map_or(0, |index| u64::from(index) << 5 | 1 << 1 | 1);
        CUDA << 56 | u64::from(self.surroundings.device) << 48 | id
    }

    /// Takes a block back. It is reusable at once unless other streams use it.
    #[inline]
    pub fn free(&mut self, id: BlockId) {
        let block = &mut self.arena[id];
        block.allocated = false;
        let (size, waits) = (block.size as i64, block.used_elsewhere);
        let small = self.pools[block.pool as usize].small;
        self.stats.allocation.add(small, -1);
        self.stats.allocated_bytes.add(small, -size);
        if !waits {
            self.free_block(id);
        } else if self.capturing() {
            self.deferred.push(id);
        } else {
            self.insert_events(id);
        }
    }

    fn insert_events(&mut self, id: BlockId) {
        self.arena[id].used_elsewhere = false;
        for (stream, ()) in self.uses.remove(&id).unwrap_or_default().iter() {
            self.arena[id].events += 1;
            self.events.insert(stream, VecDeque::new());
            if let Some(queue) = self.events.get_mut(stream) {
                queue.push_back(Waiting { block: id, held: self.events_held });
            }
        }
    }

    fn insert_events_deferred_until_no_capture(&mut self) {
        for id in std::mem::take(&mut self.deferred) {
            if self.behaviour.forgets_captured_streams
                && let Some(captured) = self.captured_uses.remove(&id)
                && let Some(uses) = self.uses.get_mut(&id)
            {
                let mut kept = FlatMap::default();
                uses.iter()
                    .filter(|(stream, ())| !captured.contains(*stream))
                    .for_each(|(stream, ())| kept.insert(stream, ()));
                *uses = kept;
            }
            self.insert_events(id);
            if self.arena[id].events == 0 {
                self.free_block(id);
            }
        }
    }

    /// Frees the blocks whose events have all completed.
    #[inline]
    fn process_events(&mut self) {
        if !self.deferred.is_empty() {
            self.insert_events_deferred_until_no_capture();
        }
        if !self.events.is_empty() {
            self.free_completed(self.events_held);
        }
    }

    /// Blocks that were freed and wait for other streams.
    pub(super) fn waiting(&self) -> impl Iterator<Item = BlockId> + '_ {
        let recorded = self.events.iter().flat_map(|(_, queue)| queue.iter().map(|waiting| waiting.block));
        recorded.chain(self.deferred.iter().copied())
    }

    /// Waits for all events.
    fn synchronize_and_free_events(&mut self) {
        self.insert_events_deferred_until_no_capture();
        self.free_completed(false);
    }

    /// Takes completed events, stream by stream, up to the first of each that is still held.
    fn free_completed(&mut self, held_wait: bool) {
        let mut done = Vec::new();
        self.events.retain(|_, queue| {
            while let Some(waiting) = queue.front().filter(|waiting| !(waiting.held && held_wait)) {
                done.push(waiting.block);
                queue.pop_front();
            }
            !queue.is_empty()
        });
        for id in done {
            let block = &mut self.arena[id];
            block.events -= 1;
            if block.events == 0 {
                self.free_block(id);
            }
        }
    }

    /// Joins a block with its free neighbours and puts it among the free ones.
    #[inline]
    fn free_block(&mut self, id: BlockId) {
        let block = &self.arena[id];
        let (size, requested, previous, next) = (block.size as i64, block.requested as i64, block.previous, block.next);
        let small = self.pools[block.pool as usize].small;
        let (mut blocks, mut bytes) = (0i64, 0i64);
        for neighbour in [previous, next] {
            let joined = self.try_merge_blocks(id, neighbour);
            if joined > 0 {
                blocks -= 1;
                bytes -= joined as i64;
            }
        }
        self.insert_free(id);
        let block = &self.arena[id];
        if block.is_split() {
            blocks += 1;
            bytes += block.size as i64;
        }
        if !block.is_expandable() {
            self.stats.inactive_split.add(small, blocks);
            self.stats.inactive_split_bytes.add(small, bytes);
        }
        self.stats.active.add(small, -1);
        self.stats.active_bytes.add(small, -size);
        self.stats.requested_bytes.add(small, -requested);
    }

    /// Makes `neighbour` a part of `id` where both are free and alike; gives the bytes gained. The neighbour's object
    /// disappears.
    #[inline]
    pub(super) fn try_merge_blocks(&mut self, id: BlockId, neighbour: BlockId) -> u64 {
        if neighbour == NONE {
            return 0;
        }
        let other = &self.arena[neighbour];
        if !other.is_available() || other.mapped != self.arena[id].mapped {
            return 0;
        }
        let (size, address, previous, next, mapped) =
            (other.size, other.address, other.previous, other.next, other.mapped);
        if mapped {
            self.remove_free(neighbour)
        } else {
            self.remove_unmapped(neighbour)
        }
        if next == id {
            let after = self.arena[id].next;
            self.arena[id].address = address;
            self.arena.link(previous, id, after);
        } else {
            let before = self.arena[id].previous;
            self.arena.link(before, id, next);
        }
        self.arena[id].size += size;
        self.remove_block(neighbour);
        size
    }

    fn out_of_memory_text(&self, request: &Request) -> String {
        let allocated = self.stats.allocated_bytes.all.current.max(0) as u64;
        let in_private_pools = self
            .pools
            .iter()
            .filter(|pool| pool.owner.is_some_and(|owner| self.private.pools_of(owner).is_some()))
            .flat_map(|pool| pool.free.iter().flat_map(Ordered::iter))
            .fold(0u64, |sum, id| sum.saturating_add(self.arena[id].size));
        let expandable = self.expandable_for(request.pool);
        let reserve = self.wanted_reserve();
        let tail = if !expandable {
            Tail::Usual
        } else if request.segment_size > reserve && request.segment_size <= self.device.total_bytes() {
            Tail::ReserveTooSmall { reserve }
        } else {
            Tail::Expandable
        };
        oom::text(
            &oom::Figures {
                requested: request.segment_size,
                total: self.device.total_bytes(),
                free: self.device.free_bytes(),
                own: self.device.own_bytes(),
                allowed: self.limit,
                allocated,
                reserved: self.stats.reserved_bytes.all.current.max(0) as u64,
                in_private_pools,
            },
            &self.surroundings,
            tail,
            self.version,
        )
    }
}

/// The expandable block that would grow least: forward from the first that fits while the next is expandable on the
/// same stream and smaller with the unmapped space behind it.
fn best_expandable(arena: &Arena, list: &Ordered, first: Place) -> Place {
    let reach = |id: BlockId| {
        let block = &arena[id];
        block.size + arena.get(block.next).filter(|next| !next.mapped).map_or(0, |next| next.size)
    };
    let mut place = first;
    loop {
        let here = list.block(place);
        let block = &arena[here];
        // A block that cannot grow is smaller than all that follow.
        let grows = block.is_expandable() && arena.get(block.next).is_some_and(|next| !next.mapped);
        match list.next(place).filter(|_| grows) {
            Some(next) if reach(list.block(next)) < reach(here) => place = next,
            _ => return place,
        }
    }
}

/// The first block at or after a place that is not part of an expandable segment.
fn first_ordinary(arena: &Arena, list: &Ordered, first: Place) -> Option<Place> {
    let mut place = Some(first);
    while let Some(here) = place {
        if !arena[list.block(here)].is_expandable() {
            return place;
        }
        place = list.next(here);
    }
    None
}

/// Rounds up to the next of `divisions` equal steps between two powers of two.
fn roundup_power2_next_division(bytes: u64, divisions: u64) -> u64 {
    if divisions <= 1 || bytes.is_power_of_two() {
        return bytes;
    }
    let floor = 1u64 << bytes.ilog2();
    let step = floor >> divisions.ilog2();
    if step == 0 { floor.saturating_mul(2) } else { round_up(bytes, step) }
}

/// The internal error of versions up to 2.4 under expandable segments with a split limit.
fn expandable_assertion() -> AllocError {
    AllocError::Error("!block->expandable_segment_ INTERNAL ASSERT FAILED at \"CUDACachingAllocator.cpp\"".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::config::TorchPlatform;
    use crate::allocator::device::{Call, SimulatedDevice};

    #[test]
    fn sizes_between_powers_of_two_round_to_a_division() {
        assert_eq!(roundup_power2_next_division(1200, 4), 1280);
        assert_eq!(roundup_power2_next_division(1024, 4), 1024);
        assert_eq!(roundup_power2_next_division(3, 8), 4);
    }

    const DEVICE: u64 = 100 << 20;

    fn expandable(more: &str, minor: u16) -> CachingAllocator<SimulatedDevice> {
        let version = Version::new(2, minor);
        let text = format!("expandable_segments:True{more}");
        let (config, _) = Config::parse(&text, version, TorchPlatform::Linux).expect("a good setting");
        let mut device = SimulatedDevice::new(DEVICE, 0);
        device.record_events();
        CachingAllocator::new(device, Surroundings::default(), config, version)
    }

    #[test]
    fn a_segment_too_short_for_its_request_takes_no_memory_from_2_15_on() {
        for (minor, mapped) in [(14, true), (15, false)] {
            let mut allocator = expandable("", minor);
            assert!(allocator.allocate(2 * DEVICE, 0).is_err());
            let takes_memory = allocator.device.events().iter().any(|event| event.call == Call::Create);
            assert_eq!(takes_memory, mapped, "2.{minor}");
        }
    }

    #[test]
    fn the_reserve_is_blamed_for_a_request_that_the_device_could_hold() {
        for (requested, blamed) in [(60 << 20, true), (DEVICE, true), (DEVICE + (20 << 20), false)] {
            let mut allocator = expandable(",expandable_segments_reserve:0.4", 15);
            match allocator.allocate(requested, 0) {
                Err(AllocError::OutOfMemory(text)) => {
                    assert_eq!(text.contains("exceeds the expandable-segment reserve"), blamed, "{requested}: {text}");
                }
                other => panic!("{requested}: {other:?}"),
            }
        }
    }
}
