//! Blocks and the arena that holds them.

/// Index of a block in its [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockId(pub u32);

/// "No block": the end of a segment's chain.
pub const NONE: BlockId = BlockId(u32::MAX);

/// "No expandable segment".
pub const NOT_EXPANDABLE: u32 = u32::MAX;

/// A piece of a segment. The blocks of one segment form a chain in order of address.
#[derive(Debug, Clone)]
pub struct Block {
    /// Bytes from the device's first address.
    pub address: u64,
    pub size: u64,
    /// Bytes as requested at the last allocation of this block; stale while it is free.
    pub requested: u64,
    /// Order of creation.
    pub serial: u64,
    /// The pool's search count when it became free.
    pub age_base: u64,
    pub previous: BlockId,
    pub next: BlockId,
    /// Number of the stream, 0 being the default one. Numbers order as the stream's handles do.
    pub stream: u32,
    /// Index of its pool.
    pub pool: u32,
    /// Index of its expandable segment or [`NOT_EXPANDABLE`].
    pub segment: u32,
    /// Recorded events that have not completed.
    pub events: u32,
    pub allocated: bool,
    pub mapped: bool,
    /// Used on other streams that no event was recorded for yet.
    pub used_elsewhere: bool,
}

impl Block {
    #[inline]
    pub fn is_expandable(&self) -> bool {
        self.segment != NOT_EXPANDABLE
    }

    /// Part of a larger segment.
    #[inline]
    pub fn is_split(&self) -> bool {
        self.previous != NONE || self.next != NONE
    }

    /// Neither allocated nor waiting for another stream.
    #[inline]
    pub fn is_available(&self) -> bool {
        !self.allocated && self.events == 0 && !self.used_elsewhere
    }

    /// Freed, but waiting for other streams.
    pub fn is_pending(&self) -> bool {
        !self.allocated && !self.is_available()
    }
}

/// All blocks of a device. Freed places are used again.
#[derive(Debug, Clone, Default)]
pub struct Arena {
    blocks: Vec<Block>,
    vacant: Vec<BlockId>,
    created: u64,
}

impl Arena {
    /// A mapped, free block with no neighbours.
    #[inline]
    pub fn create(&mut self, pool: u32, stream: u32, address: u64, size: u64, segment: u32) -> BlockId {
        self.created += 1;
        let block = Block {
            address,
            size,
            requested: 0,
            serial: self.created,
            age_base: 0,
            previous: NONE,
            next: NONE,
            stream,
            pool,
            segment,
            events: 0,
            allocated: false,
            mapped: true,
            used_elsewhere: false,
        };
        if let Some(id) = self.vacant.pop() {
            self.blocks[id.0 as usize] = block;
            return id;
        }
        self.blocks.push(block);
        BlockId(self.blocks.len() as u32 - 1)
    }

    #[inline]
    pub fn remove(&mut self, id: BlockId) {
        self.vacant.push(id);
    }

    /// Puts `id` between two neighbours, either of which may be [`NONE`].
    #[inline]
    pub fn link(&mut self, previous: BlockId, id: BlockId, next: BlockId) {
        self[id].previous = previous;
        self[id].next = next;
        if previous != NONE {
            self[previous].next = id;
        }
        if next != NONE {
            self[next].previous = id;
        }
    }

    /// The block, unless `id` is [`NONE`].
    #[inline]
    pub fn get(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id.0 as usize)
    }
}

impl std::ops::Index<BlockId> for Arena {
    type Output = Block;
    #[inline]
    fn index(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }
}

impl std::ops::IndexMut<BlockId> for Arena {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }
}
