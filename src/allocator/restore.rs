//! An allocator that starts in the middle of a program: with the segments and blocks that a memory snapshot shows.

use super::block::{BlockId, NONE, NOT_EXPANDABLE};
use super::caching::{AllocError, CachingAllocator, LARGE, SMALL};
use super::device::Device;
use super::expandable::Segment;

/// A piece of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub address: u64,
    pub size: u64,
    /// Bytes asked for where it is in use; `None` when it is free.
    pub requested: Option<u64>,
}

/// Where pieces belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    pub stream: u32,
    pub small: bool,
    /// Id of the private pool; `None` for the default one.
    pub owner: Option<u64>,
}

impl<D: Device> CachingAllocator<D> {
    /// Takes over a segment. `pieces` lie one behind the other; `tell` gets the id of each. The device must know the
    /// memory as used already.
    pub fn restore_segment(&mut self, home: Home, pieces: &[Piece], mut tell: impl FnMut(usize, BlockId)) {
        let pool = self.pool_of(home);
        let mut previous = NONE;
        for (i, piece) in pieces.iter().enumerate() {
            previous = self.restore_piece(pool, home, piece, previous, NOT_EXPANDABLE);
            tell(i, previous);
        }
        let size = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.size));
        self.reserved = self.reserved.saturating_add(size);
        self.stats.segment.add(home.small, 1);
        self.stats.reserved_bytes.add(home.small, size as i64);
        if let Some(owner) = home.owner {
            self.private.count_segments(owner, 1);
        }
    }

    /// Takes over an expandable segment that reserves `size` bytes from `address` on: its mapped pieces in order, what
    /// lies between them unmapped. `tell` gets the id of each piece.
    pub fn restore_expandable(
        &mut self,
        home: Home,
        address: u64,
        size: u64,
        pieces: &[Piece],
        mut tell: impl FnMut(usize, BlockId),
    ) {
        let pool = self.pool_of(home);
        let granule = if home.small { super::SMALL_SEGMENT } else { self.config.large_segment_size };
        let index = self.segments.len() as u32;
        self.segments.push(Some(Segment { address, size, granule }));
        let (mut previous, mut at, mut mapped) = (NONE, address, 0u64);
        for (i, piece) in pieces.iter().enumerate() {
            if piece.address > at {
                previous = self.restore_gap(pool, home, at, piece.address - at, previous, index);
            }
            previous = self.restore_piece(pool, home, piece, previous, index);
            tell(i, previous);
            at = piece.address.saturating_add(piece.size);
            mapped = mapped.saturating_add(piece.size);
        }
        let end = address.saturating_add(size);
        if end > at {
            self.restore_gap(pool, home, at, end - at, previous, index);
        }
        self.reserved = self.reserved.saturating_add(mapped);
        self.stats.reserved_bytes.add(home.small, mapped as i64);
        if let Some(owner) = home.owner {
            self.private.count_segments(owner, 1);
        }
    }

    fn restore_piece(&mut self, pool: u32, home: Home, piece: &Piece, previous: BlockId, segment: u32) -> BlockId {
        let id = self.arena.create(pool, home.stream, piece.address, piece.size, segment);
        self.arena.link(previous, id, NONE);
        match piece.requested {
            None => self.insert_free(id),
            Some(requested) => {
                let block = &mut self.arena[id];
                block.allocated = true;
                block.requested = requested;
                self.stats.allocation.add(home.small, 1);
                self.stats.allocated_bytes.add(home.small, piece.size as i64);
                self.stats.active.add(home.small, 1);
                self.stats.active_bytes.add(home.small, piece.size as i64);
                self.stats.requested_bytes.add(home.small, requested as i64);
            }
        }
        id
    }

    fn restore_gap(
        &mut self,
        pool: u32,
        home: Home,
        address: u64,
        size: u64,
        previous: BlockId,
        segment: u32,
    ) -> BlockId {
        let id = self.arena.create(pool, home.stream, address, size, segment);
        self.arena[id].mapped = false;
        self.arena.link(previous, id, NONE);
        self.insert_unmapped(id);
        id
    }

    /// Serves a request from a private pool, which other requests do not use meanwhile.
    ///
    /// # Errors
    /// As [`CachingAllocator::allocate`].
    pub fn allocate_in_pool(&mut self, bytes: u64, stream: u32, pool: u64) -> Result<Option<BlockId>, AllocError> {
        self.begin_allocate_to_pool(pool, stream)?;
        let served = self.allocate(bytes, stream);
        self.end_allocate_to_pool(pool)?;
        served
    }

    /// Bytes held from the driver.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Index of the pool of a home, made where it does not exist yet.
    fn pool_of(&mut self, home: Home) -> u32 {
        if let Some(owner) = home.owner {
            if self.private.pools_of(owner).is_none()
                && self
                    .begin_allocate_to_pool(owner, home.stream)
                    .and_then(|()| self.end_allocate_to_pool(owner))
                    .is_err()
            {
                // Cannot happen for a pool that is not known: the default pool then serves as well as any.
                return if home.small { SMALL } else { LARGE };
            }
            if let Some((large, small)) = self.private.pools_of(owner) {
                return if home.small { small } else { large };
            }
        }
        if home.small { SMALL } else { LARGE }
    }
}
