//! Expandable segments: address space reserved once, physical granules mapped and unmapped below it (PyTorch 2.1+).

use super::block::{BlockId, NONE};
use super::caching::{CachingAllocator, Request};
use super::device::Device;
use super::{SMALL_SEGMENT, round_up};

/// Reserved address space with physical memory below parts of it.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub address: u64,
    pub size: u64,
    /// Physical memory comes and goes in pieces of this size.
    pub granule: u64,
}

impl<D: Device> CachingAllocator<D> {
    /// Bytes of address space that a new segment of this pool reserves.
    pub(super) fn reserve_of_segment(&self, pool: u32) -> u64 {
        let granule = self.granule_of(pool);
        round_up(self.wanted_reserve(), granule).max(granule)
    }

    /// The reserve before it is rounded to granules: 9/8 of the device unless less was configured.
    pub(super) fn wanted_reserve(&self) -> u64 {
        let total = self.device.total_bytes();
        let most = total.saturating_add(total / 8);
        self.config.expandable_segments_reserve.map_or(most, |reserve| reserve.bytes(total).min(most))
    }

    fn granule_of(&self, pool: u32) -> u64 {
        if self.pools[pool as usize].small { SMALL_SEGMENT } else { self.config.large_segment_size }
    }

    /// Serves a request from an expandable segment, mapping what is missing. What was mapped before a failure stays
    /// as free memory.
    pub(super) fn try_allocate_expandable_block(&mut self, request: &Request) -> Option<BlockId> {
        let mut candidate = self.find_expandable_block(request)?;
        if !self.arena[candidate].mapped {
            let first = self.arena[candidate].size.min(request.size);
            if !self.map_block(candidate, first) {
                return None;
            }
        }
        while self.arena[candidate].size < request.size {
            let missing = request.size - self.arena[candidate].size;
            let next = self.arena[candidate].next;
            // Nothing follows where a single segment cannot hold the request.
            let room = self.arena.get(next).filter(|block| !block.mapped)?.size;
            if !self.map_block(next, missing.min(room)) {
                return None;
            }
            candidate = next;
        }
        self.remove_free(candidate);
        Some(candidate)
    }

    /// The lowest run of free and unmapped blocks that is long enough, else a new segment.
    fn find_expandable_block(&mut self, request: &Request) -> Option<BlockId> {
        let pool = &self.pools[request.pool as usize];
        if let Some(list) = pool.unmapped.get(request.stream as usize) {
            for unmapped in list.iter() {
                let before = self.arena[unmapped].previous;
                let usable_before = self.arena.get(before).is_some_and(|block| block.is_available());
                let start = if usable_before { before } else { unmapped };
                if self.run_reaches(start, request.size) {
                    return Some(start);
                }
            }
        }
        let size = self.reserve_of_segment(request.pool);
        let segment = Segment { address: self.device.reserve(size), size, granule: self.granule_of(request.pool) };
        if self.behaviour.drops_short_segments && size < request.size {
            self.device.unreserve(segment.address, size);
            return None;
        }
        let address = segment.address;
        let index = match self.segments.iter().position(Option::is_none) {
            Some(vacant) => {
                self.segments[vacant] = Some(segment);
                vacant
            }
            None => {
                self.segments.push(Some(segment));
                self.segments.len() - 1
            }
        };
        let id = self.arena.create(request.pool, request.stream, address, size, index as u32);
        self.arena[id].mapped = false;
        self.insert_unmapped(id);
        Some(id)
    }

    /// True when available blocks from `start` on hold `size` bytes without a gap.
    fn run_reaches(&self, start: BlockId, size: u64) -> bool {
        let mut bytes = 0u64;
        let mut at = start;
        while bytes < size {
            match self.arena.get(at).filter(|block| block.is_available()) {
                Some(block) => {
                    bytes = bytes.saturating_add(block.size);
                    at = block.next;
                }
                None => return false,
            }
        }
        true
    }

    /// Maps the first `size` bytes of an unmapped block, up to the end of a granule. False when the device has no more;
    /// what this call created is then given back.
    fn map_block(&mut self, id: BlockId, size: u64) -> bool {
        let block = &self.arena[id];
        let (address, room, pool, stream, index, next) =
            (block.address, block.size, block.pool, block.stream, block.segment, block.next);
        let Some(Some(segment)) = self.segments.get(index as usize) else { return false };
        let granule = segment.granule;
        let mapped = round_up(size, granule).min(room);
        let granules = mapped.div_ceil(granule);
        for created in 0..granules {
            if !self.device.create(granule) {
                for _ in 0..created {
                    self.device.release(granule);
                }
                return false;
            }
        }
        for n in 0..granules {
            self.device.map(address + n * granule, granule);
        }
        self.remove_unmapped(id);
        self.arena[id].mapped = true;
        if mapped < room {
            let rest = self.arena.create(pool, stream, address + mapped, room - mapped, index);
            self.arena[rest].mapped = false;
            self.arena.link(id, rest, next);
            self.insert_unmapped(rest);
            self.arena[id].size = mapped;
        }
        let previous = self.arena[id].previous;
        self.try_merge_blocks(id, previous);
        let next = self.arena[id].next;
        self.try_merge_blocks(id, next);
        self.insert_free(id);
        self.account(pool, mapped as i64);
        true
    }

    /// Unmaps the whole granules inside a free block; what is left on either side stays free. Gives the reservation
    /// back where nothing of the segment remains.
    pub(super) fn unmap_block(&mut self, id: BlockId) {
        let block = &self.arena[id];
        let (address, size, pool, stream, index) = (block.address, block.size, block.pool, block.stream, block.segment);
        let (previous, next) = (block.previous, block.next);
        let Some(Some(segment)) = self.segments.get(index as usize) else { return };
        let (base, granule) = (segment.address, segment.granule);
        let begin = base + round_up(address - base, granule);
        let end = base + (address + size - base) / granule * granule;
        if begin >= end {
            return;
        }
        for at in (begin..end).step_by(granule as usize) {
            self.device.unmap(at, granule);
            self.device.release(granule);
        }
        self.remove_free(id);
        if begin > address {
            let head = self.arena.create(pool, stream, address, begin - address, index);
            self.arena.link(previous, head, id);
            self.insert_free(head);
        }
        if address + size > end {
            let tail = self.arena.create(pool, stream, end, address + size - end, index);
            self.arena.link(id, tail, next);
            self.insert_free(tail);
        }
        let block = &mut self.arena[id];
        block.address = begin;
        block.size = end - begin;
        block.mapped = false;
        let previous = self.arena[id].previous;
        self.try_merge_blocks(id, previous);
        let next = self.arena[id].next;
        self.try_merge_blocks(id, next);
        self.insert_unmapped(id);
        self.account(pool, -((end - begin) as i64));
        let block = &self.arena[id];
        if block.previous == NONE && block.next == NONE {
            self.remove_unmapped(id);
            self.remove_block(id);
            if let Some(segment) = self.segments.get_mut(index as usize).and_then(Option::take) {
                self.device.unreserve(segment.address, segment.size);
            }
        }
    }

    /// Books mapped or unmapped bytes.
    fn account(&mut self, pool: u32, bytes: i64) {
        self.reserved = self.reserved.saturating_add_signed(bytes);
        let pool = &self.pools[pool as usize];
        self.stats.reserved_bytes.add(pool.small, bytes);
        if let Some(owner) = pool.owner {
            self.private.count_segments(owner, bytes.signum());
        }
    }
}
