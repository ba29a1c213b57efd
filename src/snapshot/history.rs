//! Every allocation of a trace with its beginning and end, the state before the trace, and the peaks.
//!
//! A trace starts wherever the ring buffer begins, so the state before it is found from the end: the final blocks are
//! known, and each entry is undone from the last to the first.

use super::model::{BlockState, Device};
use super::store::{Action, NONE, NumberMap};
use crate::allocator::{SMALL_LIMIT, SMALL_SEGMENT};

/// An address range from its allocation to its free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    pub address: u64,
    /// Bytes that the program asked for.
    pub requested: u64,
    /// Bytes of its block, where the snapshot holds it; else 0 until [`super::space`] finds it out.
    pub size: u64,
    /// Where it was allocated; `NONE` without.
    pub stack: u32,
    /// Where it was freed, if the program recorded that (context="all"); `NONE` without.
    pub free_stack: u32,
    pub stream: u64,
    /// The entry that made it; `NONE` when it was there before the trace.
    pub born: u32,
    /// The entry after which its memory is free; `NONE` when it is there at the end.
    pub freed: u32,
}

impl Allocation {
    /// True when its memory is in use after entry `event`; `NONE` stands for the state before the trace.
    pub fn is_live(&self, event: u32) -> bool {
        if event == NONE {
            return self.born == NONE;
        }
        (self.born == NONE || self.born <= event) && (self.freed == NONE || self.freed > event)
    }

    /// Entries that it lives, if the trace holds both ends.
    pub fn lifetime(&self) -> Option<u32> {
        if self.born == NONE || self.freed == NONE { None } else { Some(self.freed.saturating_sub(self.born)) }
    }
}

/// The most memory in use, and after which entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// The entry; `NONE` when it was before the trace.
    pub event: u32,
    /// Sum of the bytes asked for by what was live.
    pub requested: u64,
    /// The same with what rounding adds to the blocks that the snapshot shows: sizes of blocks that were freed before
    /// its end are not recorded.
    pub blocks: u64,
}

/// A range of memory that the allocator held before the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub address: u64,
    pub size: u64,
    pub stream: u64,
    pub small: bool,
    pub pool: (u32, u32),
    pub expandable: bool,
}

/// What a trace says when it is walked back.
pub struct History {
    pub allocations: Vec<Allocation>,
    /// For each entry that makes an allocation or ends it the allocation's index, else `NONE`.
    pub of_event: Vec<u32>,
    pub peak: Peak,
    /// The most bytes held of the driver, and after which entry (`NONE`: before the trace).
    pub peak_reserved: (u64, u32),
    /// Segments and mapped ranges before the trace, by address.
    pub initial: Vec<Range>,
    /// For entries that get memory from the driver: what became of it, which tells its pool.
    pub gained: NumberMap<u32, Range>,
    /// Bytes in use before the trace.
    pub initial_requested: u64,
    /// Entries that do not fit the state: the trace was filtered, or memory changed while it was copied.
    pub misfits: u64,
}

impl History {
    /// True where the allocator held something before the first entry: how it came to that is not recorded.
    pub fn begins_late(&self) -> bool {
        self.initial_requested > 0 || !self.initial.is_empty()
    }

    /// Bytes that the allocator held before the first entry.
    pub fn initial_reserved(&self) -> u64 {
        self.initial.iter().map(|range| range.size).fold(0, u64::saturating_add)
    }
}

/// Walks a device's trace back from its final blocks.
pub fn walk_back(device: &Device) -> History {
    let trace = &device.trace;
    // Traces recorded without `free_completed` know only when the program gave a block up.
    let has_completed = trace.iter().any(|event| matches!(event.action, Action::FreeCompleted | Action::Free));
    let mut allocations = Vec::with_capacity(trace.len() / 3 + 16);
    let mut live: NumberMap<u64, u32> = NumberMap::default();
    let (mut requested, mut blocks) = (0i128, 0i128);
    for segment in &device.segments {
        for block in segment.blocks.iter().filter(|block| block.state != BlockState::Inactive) {
            live.insert(block.address, index(allocations.len()));
            requested += i128::from(block.requested);
            blocks += i128::from(block.size);
            allocations.push(Allocation {
                address: block.address,
                requested: block.requested,
                size: block.size,
                stack: block.stack,
                stream: segment.stream,
                born: NONE,
                freed: NONE,
                free_stack: NONE,
            });
        }
    }
    let rounding = blocks - requested;
    let mut reserved = i128::from(device.reserved());
    let mut ranges = Ranges::of(device);
    let last = if trace.is_empty() { NONE } else { index(trace.len() - 1) };
    let mut peak = (requested, last);
    let mut peak_reserved = (reserved, last);
    let mut of_event = vec![NONE; trace.len()];
    let mut misfits = 0u64;
    let mut gained = NumberMap::default();
    let mut frees_have_stacks = false;
    for (i, event) in trace.iter().enumerate().rev() {
        let before = if i == 0 { NONE } else { index(i - 1) };
        let ends = match event.action {
            Action::FreeCompleted | Action::Free => true,
            Action::FreeRequested => !has_completed,
            _ => false,
        };
        match event.action {
            Action::Alloc => match live.remove(&event.addr) {
                Some(id) => {
                    of_event[i] = id;
                    if let Some(allocation) = allocations.get_mut(id as usize) {
                        allocation.born = index(i);
                        requested -= i128::from(allocation.requested);
                        frees_have_stacks |= allocation.free_stack != NONE && allocation.free_stack != event.stack;
                        if event.stack != NONE || allocation.freed != NONE {
                            allocation.stack = event.stack;
                        }
                    }
                }
                None => misfits += 1,
            },
            Action::FreeCompleted | Action::Free | Action::FreeRequested if ends => {
                let id = index(allocations.len());
                if live.insert(event.addr, id).is_some() {
                    misfits += 1;
                }
                of_event[i] = id;
                requested += i128::from(event.size);
                allocations.push(Allocation {
                    address: event.addr,
                    requested: event.size,
                    size: 0,
                    stack: NONE,
                    free_stack: event.stack,
                    stream: event.stream,
                    born: NONE,
                    freed: index(i),
                });
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                reserved -= i128::from(event.size);
                match ranges.remove(event.addr, event.size, event.action == Action::SegmentMap) {
                    Some(range) => {
                        gained.insert(index(i), range);
                    }
                    None => misfits += 1,
                }
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                reserved += i128::from(event.size);
                ranges.add(event.addr, event.size, event.stream, event.pool, event.action == Action::SegmentUnmap);
            }
            _ => {}
        }
        // The first of equal peaks.
        if requested >= peak.0 {
            peak = (requested, before);
        }
        if reserved >= peak_reserved.0 {
            peak_reserved = (reserved, before);
        }
    }
    // Entries of frees carry the stack of the allocation unless the program asked for their own.
    if !frees_have_stacks {
        for allocation in &mut allocations {
            if allocation.born == NONE && allocation.freed != NONE {
                allocation.stack = allocation.free_stack;
            }
            allocation.free_stack = NONE;
        }
    }
    ranges.settle_kinds(&allocations);
    History {
        of_event,
        peak: Peak { event: peak.1, requested: bytes(peak.0), blocks: bytes(peak.0 + rounding) },
        peak_reserved: (bytes(peak_reserved.0), peak_reserved.1),
        initial: ranges.into_list(),
        gained,
        initial_requested: bytes(requested),
        misfits,
        allocations,
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE - 1)
}

fn bytes(n: i128) -> u64 {
    u64::try_from(n.max(0)).unwrap_or(u64::MAX)
}

/// The mapped memory of a device, by address.
struct Ranges(std::collections::BTreeMap<u64, Range>);

impl Ranges {
    fn of(device: &Device) -> Ranges {
        let ranges = device.segments.iter().map(|segment| {
            let range = Range {
                address: segment.address,
                size: segment.size,
                stream: segment.stream,
                small: segment.small,
                pool: segment.pool,
                expandable: segment.expandable,
            };
            (segment.address, range)
        });
        Ranges(ranges.collect())
    }

    /// Takes memory away: a whole segment, or a part of a mapped range. Gives what it was, `None` when it is not there.
    fn remove(&mut self, address: u64, size: u64, part: bool) -> Option<Range> {
        let (&start, &range) = self.0.range(..=address).next_back()?;
        let (end, range_end) = (address.saturating_add(size), start.saturating_add(range.size));
        if !part {
            return (start == address).then(|| self.0.remove(&start)).flatten();
        }
        if end > range_end {
            return None;
        }
        self.0.remove(&start);
        if start < address {
            self.0.insert(start, Range { size: address - start, ..range });
        }
        if end < range_end {
            self.0.insert(end, Range { address: end, size: range_end - end, ..range });
        }
        Some(Range { address, size, ..range })
    }

    /// Puts memory back that was given to the driver.
    fn add(&mut self, address: u64, size: u64, stream: u64, pool: (u32, u32), expandable: bool) {
        // Segments of 2 MiB hold only small blocks, no large one is that small.
        let mut range = Range { address, size, stream, small: !expandable && size <= SMALL_SEGMENT, pool, expandable };
        if expandable {
            // Ranges of one reservation that touch are one.
            let (before, after) = {
                let joins = |other: &Range| other.expandable && other.stream == stream;
                let before = self.0.range(..address).next_back().map(|(_, r)| *r);
                let after = self.0.get(&address.saturating_add(size)).copied();
                (before.filter(|r| joins(r) && r.address.saturating_add(r.size) == address), after.filter(joins))
            };
            if let Some(before) = before {
                range = Range { size: before.size.saturating_add(range.size), ..before };
            } else if let Some(after) = after {
                range = Range { address, size, ..after };
            } else if let Some(near) = self.nearest(address, stream) {
                range = Range { address, size, ..near };
            }
            if let Some(after) = after
                && after.small == range.small
            {
                self.0.remove(&after.address);
                range.size = range.size.saturating_add(after.size);
            }
        }
        self.0.insert(range.address, range);
    }

    /// The expandable range of a stream that is nearest below or above an address: most likely of the same reservation.
    fn nearest(&self, address: u64, stream: u64) -> Option<Range> {
        const LOOK: usize = 64;
        let fits = |range: &&Range| range.expandable && range.stream == stream;
        let below = self.0.range(..address).rev().take(LOOK).map(|(_, r)| r).find(fits);
        let above = self.0.range(address..).take(LOOK).map(|(_, r)| r).find(fits);
        match (below, above) {
            (Some(b), Some(a)) if a.address - address < address - b.address => Some(*a),
            (Some(b), _) => Some(*b),
            (None, a) => a.copied(),
        }
    }

    /// Expandable ranges that vanished say nothing about their pool, but what lay in them does.
    fn settle_kinds(&mut self, allocations: &[Allocation]) {
        for allocation in allocations.iter().filter(|allocation| allocation.born == NONE) {
            if let Some((_, range)) = self.0.range_mut(..=allocation.address).next_back()
                && range.expandable
                && allocation.address < range.address.saturating_add(range.size)
            {
                range.small = allocation.requested <= SMALL_LIMIT;
            }
        }
    }

    fn into_list(self) -> Vec<Range> {
        self.0.into_values().collect()
    }
}
