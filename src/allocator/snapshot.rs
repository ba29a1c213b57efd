//! What `torch.cuda.memory_snapshot` shows: segments with their blocks.

use super::block::{Block, BlockId};
use super::caching::CachingAllocator;
use super::device::Device;

/// What a block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Allocated,
    /// Freed, but waiting for other streams.
    PendingFree,
    Free,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Allocated => "allocated",
            State::PendingFree => "pending_free",
            State::Free => "free",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockView {
    pub size: u64,
    /// As requested; stale for free blocks.
    pub requested: u64,
    pub state: State,
}

/// A segment, or one mapped range of an expandable segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentView {
    pub address: u64,
    pub size: u64,
    pub stream: u32,
    pub large: bool,
    pub expandable: bool,
    pub allocated: u64,
    /// Allocated or waiting for other streams.
    pub active: u64,
    /// Requested bytes of what is active.
    pub requested: u64,
    pub blocks: Vec<BlockView>,
}

impl<D: Device> CachingAllocator<D> {
    /// All segments in order of address. `live` are the blocks in use; the free ones the allocator knows itself.
    pub fn snapshot(&self, live: impl Iterator<Item = BlockId>) -> Vec<SegmentView> {
        let free = self.pools.iter().flat_map(|pool| pool.free.iter().flat_map(|list| list.iter()));
        let starts = |id: &BlockId| self.arena.get(self.arena[*id].previous).is_none_or(|block| !block.mapped);
        let mut heads: Vec<BlockId> = live.chain(free).chain(self.waiting()).filter(starts).collect();
        heads.sort_unstable_by_key(|id| self.arena[*id].address);
        heads.dedup();
        heads.into_iter().map(|id| self.view(id)).collect()
    }

    fn view(&self, head: BlockId) -> SegmentView {
        let first = &self.arena[head];
        let mut view = SegmentView {
            address: first.address,
            size: 0,
            stream: first.stream,
            large: !self.pools[first.pool as usize].small,
            expandable: first.is_expandable(),
            allocated: 0,
            active: 0,
            requested: 0,
            blocks: Vec::new(),
        };
        let mut at = head;
        while let Some(block) = self.arena.get(at).filter(|block| block.mapped) {
            let state = state_of(block);
            view.size += block.size;
            if state == State::Allocated {
                view.allocated += block.size;
            }
            if state != State::Free {
                view.active += block.size;
                view.requested += block.requested;
            }
            view.blocks.push(BlockView { size: block.size, requested: block.requested, state });
            at = block.next;
        }
        view
    }
}

fn state_of(block: &Block) -> State {
    if block.allocated {
        State::Allocated
    } else if block.is_pending() {
        State::PendingFree
    } else {
        State::Free
    }
}
