//! Private pools: what `torch.cuda.graph` and `torch.cuda.use_mem_pool` allocate from.

use super::SMALL_LIMIT;
use super::caching::{AllocError, CachingAllocator, LARGE, Pool, SMALL};
use super::device::Device;
use super::flat_map::FlatMap;
use super::version::PoolChoice;
use std::collections::BTreeMap;

/// One private pool.
#[derive(Debug, Clone)]
struct Private {
    /// Index of its pool for large requests.
    large: u32,
    small: u32,
    /// Graphs and contexts that refer to it. At 0 its memory may be given back.
    users: u32,
    /// Segments (mappings, where expandable) taken and not yet returned.
    segments: i64,
}

/// A begin without its end yet.
#[derive(Debug, Clone, Copy)]
struct Begun {
    pool: u64,
    /// The stream that was current, for versions that route by stream.
    stream: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct PrivatePools {
    pools: BTreeMap<u64, Private>,
    begun: Vec<Begun>,
    /// Pools that nobody uses any more, in the order in which PyTorch walks them.
    freeable: FlatMap<()>,
}

impl PrivatePools {
    pub fn count_segments(&mut self, id: u64, change: i64) {
        if let Some(pool) = self.pools.get_mut(&id) {
            pool.segments += change;
        }
    }

    /// Pools that nobody uses any more.
    pub fn freeable(&self) -> Vec<u64> {
        self.freeable.iter().map(|(id, ())| id).collect()
    }

    /// Indices of its pools for large and small requests.
    pub fn pools_of(&self, id: u64) -> Option<(u32, u32)> {
        self.pools.get(&id).map(|pool| (pool.large, pool.small))
    }

    /// Drops the unused pools that hold nothing.
    pub fn forget_empty(&mut self) {
        let pools = &mut self.pools;
        self.freeable.retain(|id, ()| {
            let empty = pools.get(&id).is_none_or(|pool| pool.segments == 0);
            if empty {
                pools.remove(&id);
            }
            !empty
        });
    }
}

impl<D: Device> CachingAllocator<D> {
    /// True while event polling and releases are suspended.
    #[inline]
    pub(super) fn capturing(&self) -> bool {
        self.behaviour.pool_counts_as_capture && !self.private.begun.is_empty()
    }

    /// Index of the pool that serves a rounded size on a stream.
    #[inline]
    pub(super) fn get_pool(&self, size: u64, stream: u32) -> u32 {
        if !self.private.begun.is_empty()
            && let Some(pool) = self.get_private_pool(stream)
        {
            return if size <= SMALL_LIMIT { pool.small } else { pool.large };
        }
        if size <= SMALL_LIMIT { SMALL } else { LARGE }
    }

    fn get_private_pool(&self, stream: u32) -> Option<&Private> {
        let begun = &self.private.begun;
        let chosen = match self.behaviour.pool_choice {
            PoolChoice::ByStream => begun.iter().find(|begun| begun.stream == stream),
            PoolChoice::FirstBegun => begun.first(),
            PoolChoice::LastBegun => begun.last(),
        };
        self.private.pools.get(&chosen?.pool)
    }

    /// Requests go to a private pool from now on. `stream` is the current one.
    ///
    /// # Errors
    /// When the pool is already begun or was released.
    pub fn begin_allocate_to_pool(&mut self, id: u64, stream: u32) -> Result<(), AllocError> {
        let by_stream = self.behaviour.pool_choice == PoolChoice::ByStream;
        match self.private.pools.get_mut(&id) {
            Some(pool) if pool.users == 0 => {
                return Err(internal("it->second->use_count > 0"));
            }
            Some(pool) => pool.users += 1,
            None => {
                let large = self.pools.len() as u32;
                self.pools.push(Pool::new(false, Some(id)));
                self.pools.push(Pool::new(true, Some(id)));
                self.private.pools.insert(id, Private { large, small: large + 1, users: 1, segments: 0 });
            }
        }
        let begun = &self.private.begun;
        if by_stream && begun.iter().any(|begun| begun.stream == stream) {
            return Err(internal("inserted"));
        }
        if !by_stream && begun.iter().any(|begun| begun.pool == id) {
            return Err(AllocError::Error("beginAllocateToPool: already recording to mempool_id".into()));
        }
        self.private.begun.push(Begun { pool: id, stream });
        Ok(())
    }

    /// Requests no longer go to a private pool.
    ///
    /// # Errors
    /// When it is not begun.
    pub fn end_allocate_to_pool(&mut self, id: u64) -> Result<(), AllocError> {
        let begun = &mut self.private.begun;
        let at = match self.behaviour.pool_choice {
            PoolChoice::ByStream => begun.len().checked_sub(1),
            PoolChoice::FirstBegun | PoolChoice::LastBegun => begun.iter().position(|begun| begun.pool == id),
        };
        match at {
            Some(at) => {
                begun.remove(at);
                Ok(())
            }
            None => Err(AllocError::Error("endAllocatePool: not currently recording to mempool_id".into())),
        }
    }

    /// Gives back the free segments of one private pool, as the end of a `torch.cuda.MemPool` does. What is in use
    /// stays, and the pool can be used on.
    ///
    /// # Errors
    /// As [`CachingAllocator::empty_cache`].
    pub fn release_private_blocks(&mut self, id: u64) -> Result<(), AllocError> {
        let Some((large, small)) = self.private.pools_of(id) else { return Ok(()) };
        self.release_blocks(small)?;
        self.release_blocks(large)
    }

    /// Drops one reference to a private pool.
    ///
    /// # Errors
    /// When there is no such pool or it has no references left.
    pub fn release_pool(&mut self, id: u64) -> Result<(), AllocError> {
        match self.private.pools.get_mut(&id) {
            None => Err(internal("it != graph_pools.end()")),
            Some(pool) if pool.users == 0 => Err(internal("uc >= 0")),
            Some(pool) => {
                pool.users -= 1;
                if pool.users == 0 {
                    self.private.freeable.insert(id, ());
                }
                Ok(())
            }
        }
    }
}

fn internal(condition: &str) -> AllocError {
    AllocError::Error(format!("{condition} INTERNAL ASSERT FAILED at \"CUDACachingAllocator.cpp\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::config::Config;
    use crate::allocator::device::{SimulatedDevice, Surroundings};
    use crate::allocator::version::Version;

    fn allocator(minor: u16) -> CachingAllocator<SimulatedDevice> {
        let device = SimulatedDevice::new(1 << 30, 0);
        CachingAllocator::new(device, Surroundings::default(), Config::default(), Version::new(2, minor))
    }

    /// A graph that is gone leaves its pool behind only as long as a tensor of it lives.
    #[test]
    fn a_released_pool_is_forgotten_with_its_last_segment() {
        for kept in [false, true] {
            let mut allocator = allocator(13);
            allocator.begin_allocate_to_pool(7, 0).expect("a new pool");
            let block = allocator.allocate(4 << 20, 0).expect("room").expect("a block");
            allocator.end_allocate_to_pool(7).expect("begun before");
            allocator.release_pool(7).expect("one user");
            if !kept {
                allocator.free(block);
            }
            allocator.empty_cache().expect("no capture");
            let again = allocator.begin_allocate_to_pool(7, 0);
            match kept {
                true => assert_eq!(again, Err(internal("it->second->use_count > 0"))),
                false => assert_eq!(again, Ok(()), "it begins anew"),
            }
        }
    }

    /// Up to 2.2 a capture belongs to its stream, from 2.3 on to its pool.
    #[test]
    fn a_second_capture_is_refused_where_it_meets_the_first() {
        let second = |minor: u16, pool: u64, stream: u32| {
            let mut allocator = allocator(minor);
            allocator.begin_allocate_to_pool(1, 3).expect("the first");
            allocator.begin_allocate_to_pool(pool, stream).is_ok()
        };
        assert_eq!([second(2, 2, 3), second(2, 2, 4), second(2, 1, 4)], [false, true, true]);
        assert_eq!([second(3, 2, 3), second(3, 2, 4), second(3, 1, 4)], [true, true, false]);
    }
}
