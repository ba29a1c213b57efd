//! The memory map of a device, played forward over the trace exactly as it was recorded.
//!
//! Blocks split and join by the rules of PyTorch's caching allocator (`CUDACachingAllocator.cpp`: `split_block`,
//! `try_merge_blocks`), but where an allocation went is taken from the record. That gives the size of every block, so
//! the true `memory_allocated`, and the holes at any moment.

use super::history::{Allocation, History, Range};
use super::model::Device;
use super::store::{Action, Event, NONE, NumberMap};
use crate::allocator::{QUANTUM, SMALL_LIMIT, SMALL_SEGMENT, round_up};
use std::collections::BTreeMap;

/// How requests become blocks.
#[derive(Clone, Copy)]
pub struct Rules<'r> {
    /// Bytes of the block that a request needs.
    pub round: &'r dyn Fn(u64) -> u64,
    /// `max_split_size`, bytes; `u64::MAX` without.
    pub max_split: u64,
}

/// Rounding without any settings: up to 512 bytes.
pub fn plain_rounding(requested: u64) -> u64 {
    round_up(requested.max(1), QUANTUM)
}

/// A piece of a segment.
#[derive(Debug, Clone, Copy)]
struct Piece {
    address: u64,
    size: u64,
    /// The allocation in it; `NONE` when free.
    holder: u32,
    previous: u32,
    next: u32,
    /// Index of what its segment is like.
    kind: u32,
}

/// What all pieces of a segment share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    stream: u64,
    small: bool,
    pool: (u32, u32),
    expandable: bool,
}

/// One piece of a segment as it lay at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImagePiece {
    pub address: u64,
    pub size: u64,
    /// The allocation in it; `NONE` when free.
    pub holder: u32,
}

/// A segment as it lay at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSegment {
    pub range: Range,
    pub pieces: Vec<ImagePiece>,
}

/// The memory map after one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    pub segments: Vec<ImageSegment>,
}

impl Image {
    pub fn reserved(&self) -> u64 {
        self.segments.iter().map(|segment| segment.range.size).fold(0, u64::saturating_add)
    }

    /// Sizes of the free pieces, with their segment.
    pub fn free(&self) -> impl Iterator<Item = (u64, &ImageSegment)> {
        self.segments.iter().flat_map(|segment| {
            segment.pieces.iter().filter(|piece| piece.holder == NONE).map(move |piece| (piece.size, segment))
        })
    }
}

/// The map and its bookkeeping.
pub struct Space<'r> {
    rules: Rules<'r>,
    pieces: Vec<Piece>,
    vacant: Vec<u32>,
    at: NumberMap<u64, u32>,
    /// First and last piece of each segment, by its address, with its size.
    segments: BTreeMap<u64, (u32, u32, u64)>,
    kinds: Vec<Kind>,
    /// Bytes of blocks in use.
    pub active: u64,
    /// Bytes of segments and mapped ranges.
    pub reserved: u64,
    /// Entries that could not be applied.
    pub misfits: u64,
}

impl<'r> Space<'r> {
    /// The state before the trace.
    pub fn before(history: &mut History, rules: Rules<'r>) -> Space<'r> {
        let mut space = Space {
            rules,
            pieces: Vec::new(),
            vacant: Vec::new(),
            at: NumberMap::default(),
            segments: BTreeMap::new(),
            kinds: Vec::new(),
            active: 0,
            reserved: 0,
            misfits: 0,
        };
        let mut initial: Vec<u32> = (0..history.allocations.len() as u32)
            .filter(|id| history.allocations.get(*id as usize).is_some_and(|a| a.born == NONE))
            .collect();
        initial.sort_unstable_by_key(|id| (history.allocations.get(*id as usize).map(|a| a.address), *id));
        let mut next = 0;
        let address_of = |history: &History, n: usize| {
            initial.get(n).and_then(|id| history.allocations.get(*id as usize)).map(|a| a.address)
        };
        for range in history.initial.clone() {
            let end = range.address.saturating_add(range.size);
            space.add_range(range);
            while address_of(history, next).is_some_and(|address| address < range.address) {
                space.misfits += 1;
                next += 1;
            }
            while let Some(address) = address_of(history, next).filter(|address| *address < end) {
                let limit = address_of(history, next + 1).map_or(end, |following| following.min(end));
                if let Some(allocation) = initial.get(next).and_then(|id| history.allocations.get_mut(*id as usize)) {
                    space.place(allocation, initial[next], address, limit - address);
                }
                next += 1;
            }
        }
        space.misfits += (initial.len() - next) as u64;
        space
    }

    fn kind(&mut self, range: Range) -> u32 {
        let kind = Kind { stream: range.stream, small: range.small, pool: range.pool, expandable: range.expandable };
        // A handful of kinds; a linear look is enough, and bounded for files that claim a stream for each segment.
        let near = self.kinds.iter().rev().take(64).position(|other| *other == kind);
        match near {
            Some(back) => (self.kinds.len() - 1 - back) as u32,
            None => {
                self.kinds.push(kind);
                (self.kinds.len() - 1) as u32
            }
        }
    }

    fn create(&mut self, piece: Piece) -> u32 {
        let id = match self.vacant.pop() {
            Some(id) => {
                self.pieces[id as usize] = piece;
                id
            }
            None => {
                self.pieces.push(piece);
                (self.pieces.len() - 1) as u32
            }
        };
        self.at.insert(piece.address, id);
        id
    }

    /// Adds a wholly free segment. False when something lies there already.
    fn add_range(&mut self, range: Range) -> bool {
        let end = range.address.saturating_add(range.size);
        let below = self.segments.range(..end).next_back();
        if range.size == 0 || below.is_some_and(|(start, segment)| start.saturating_add(segment.2) > range.address) {
            self.misfits += 1;
            return false;
        }
        let kind = self.kind(range);
        let piece = Piece { address: range.address, size: range.size, holder: NONE, previous: NONE, next: NONE, kind };
        let id = self.create(piece);
        self.segments.insert(range.address, (id, id, range.size));
        self.reserved = self.reserved.saturating_add(range.size);
        true
    }

    /// Puts an allocation of the initial state where it lies; `room` is what lies before the next one or the end.
    fn place(&mut self, allocation: &mut Allocation, id: u32, address: u64, room: u64) {
        // Pieces are placed in the order of addresses, so the last piece of the segment is the free rest.
        let Some((_, &(_, tail, _))) = self.segments.range(..=address).next_back() else {
            self.misfits += 1;
            return;
        };
        let rest = self.pieces[tail as usize];
        if rest.holder != NONE || address < rest.address || address >= rest.address.saturating_add(rest.size) {
            self.misfits += 1;
            return;
        }
        let Some(size) = self.block_size(allocation, room, rest.kind) else {
            self.misfits += 1;
            return;
        };
        let mut at = tail;
        if address > rest.address {
            at = self.split(tail, address - rest.address);
        }
        if size < self.pieces[at as usize].size {
            self.split(at, size);
        }
        self.hold(at, id, allocation);
    }

    /// Bytes of the block that an allocation takes of a free piece; `None` when it does not fit.
    fn block_size(&self, allocation: &Allocation, room: u64, kind: u32) -> Option<u64> {
        if allocation.size > 0 && allocation.size <= room {
            return Some(allocation.size);
        }
        let rounded = (self.rules.round)(allocation.requested);
        let rest = room.checked_sub(rounded)?;
        let kind = self.kinds[kind as usize];
        let splits = if kind.small || kind.expandable {
            rest >= QUANTUM
        } else {
            rounded < self.rules.max_split && rest > SMALL_LIMIT
        };
        Some(if splits { rounded } else { room })
    }

    /// Cuts a free piece after `size` bytes; the index of the second part.
    fn split(&mut self, id: u32, size: u64) -> u32 {
        let whole = self.pieces[id as usize];
        let rest = Piece {
            address: whole.address + size,
            size: whole.size - size,
            holder: NONE,
            previous: id,
            next: whole.next,
            kind: whole.kind,
        };
        let second = self.create(rest);
        self.pieces[id as usize].size = size;
        self.pieces[id as usize].next = second;
        if whole.next == NONE {
            self.move_tail(whole.address, second);
        } else {
            self.pieces[whole.next as usize].previous = second;
        }
        second
    }

    /// The segment that covers an address now ends with this piece.
    fn move_tail(&mut self, address: u64, tail: u32) {
        if let Some((_, segment)) = self.segments.range_mut(..=address).next_back() {
            segment.1 = tail;
        }
    }

    fn hold(&mut self, piece: u32, id: u32, allocation: &mut Allocation) {
        let piece = &mut self.pieces[piece as usize];
        piece.holder = id;
        allocation.size = piece.size;
        self.active = self.active.saturating_add(piece.size);
    }

    /// Applies an `alloc` entry, unless the record does not fit the map.
    fn alloc(&mut self, id: u32, allocation: &mut Allocation) {
        let free = |piece: &u32| self.pieces[*piece as usize].holder == NONE;
        let piece = self.at.get(&allocation.address).copied().filter(free);
        let fitting = piece.and_then(|piece| {
            let Piece { size: room, kind, .. } = self.pieces[piece as usize];
            self.block_size(allocation, room, kind).map(|size| (piece, size, room))
        });
        let Some((piece, size, room)) = fitting else {
            self.misfits += 1;
            if allocation.size == 0 {
                allocation.size = (self.rules.round)(allocation.requested);
            }
            return;
        };
        if size < room {
            self.split(piece, size);
        }
        self.hold(piece, id, allocation);
    }

    /// Applies the entry after which an allocation's memory is free.
    fn free(&mut self, id: u32, allocation: &Allocation) {
        let piece = self.at.get(&allocation.address).copied().filter(|piece| self.pieces[*piece as usize].holder == id);
        let Some(piece) = piece else {
            self.misfits += 1;
            return;
        };
        self.active = self.active.saturating_sub(self.pieces[piece as usize].size);
        self.pieces[piece as usize].holder = NONE;
        let next = self.pieces[piece as usize].next;
        if next != NONE && self.pieces[next as usize].holder == NONE {
            self.join(piece, next);
        }
        let previous = self.pieces[piece as usize].previous;
        if previous != NONE && self.pieces[previous as usize].holder == NONE {
            self.join(previous, piece);
        }
    }

    /// Joins two neighbours that are free.
    fn join(&mut self, first: u32, second: u32) {
        let gone = self.pieces[second as usize];
        self.at.remove(&gone.address);
        self.vacant.push(second);
        let piece = &mut self.pieces[first as usize];
        piece.size += gone.size;
        piece.next = gone.next;
        let address = piece.address;
        if gone.next == NONE {
            self.move_tail(address, first);
        } else {
            self.pieces[gone.next as usize].previous = first;
        }
    }

    /// Applies `segment_map`: new memory joins the ranges of its reservation that it touches.
    fn map(&mut self, range: Range) {
        let end = range.address.saturating_add(range.size);
        let touches = |space: &Space, head: u32| {
            let kind = space.kinds[space.pieces[head as usize].kind as usize];
            kind.expandable && kind.stream == range.stream
        };
        let before = self.segments.range(..range.address).next_back().map(|(start, segment)| (*start, *segment));
        let before = before.filter(|(start, (head, _, size))| *start + *size == range.address && touches(self, *head));
        let after = self.segments.get(&end).copied().filter(|(head, _, _)| touches(self, *head));
        let kind_of = |space: &Space, head: u32| space.kinds[space.pieces[head as usize].kind as usize].small;
        let small =
            before.map(|(_, segment)| segment.0).or(after.map(|segment| segment.0)).map(|head| kind_of(self, head));
        let range = Range { small: small.unwrap_or(range.small), ..range };
        if !self.add_range(range) {
            return;
        }
        let Some(&new) = self.at.get(&range.address) else { return };
        if let Some(segment) = after
            && kind_of(self, segment.0) == range.small
        {
            self.link_segments(range.address, end, new, segment);
        }
        if let Some((start, (_, tail, size))) = before
            && let Some(segment) = self.segments.get(&range.address).copied()
        {
            self.segments.remove(&range.address);
            if let Some(first) = self.segments.get_mut(&start) {
                first.1 = segment.1;
                first.2 = size + segment.2;
            }
            self.pieces[tail as usize].next = new;
            self.pieces[new as usize].previous = tail;
            if self.pieces[tail as usize].holder == NONE {
                self.join(tail, new);
            }
        }
    }

    fn link_segments(&mut self, start: u64, second_start: u64, last_of_first: u32, second: (u32, u32, u64)) {
        self.segments.remove(&second_start);
        if let Some(first) = self.segments.get_mut(&start) {
            first.1 = second.1;
            first.2 += second.2;
        }
        self.pieces[last_of_first as usize].next = second.0;
        self.pieces[second.0 as usize].previous = last_of_first;
        if self.pieces[second.0 as usize].holder == NONE {
            self.join(last_of_first, second.0);
        }
    }

    /// Applies `segment_free` and `segment_unmap`: takes free memory away.
    fn remove(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        let Some((&start, &(_, tail, _))) = self.segments.range(..=address).next_back() else {
            self.misfits += 1;
            return;
        };
        // The free piece that covers the range: it starts there, or it is one of a partly unmapped segment.
        let piece = match self.at.get(&address) {
            Some(piece) => *piece,
            None => {
                // Unmapped granules begin inside a free piece, which begins less than a granule before: rare, so a
                // walk.
                const LOOK: usize = 4096;
                let mut candidate = tail;
                let mut looked = 0;
                while candidate != NONE && self.pieces[candidate as usize].address > address && looked < LOOK {
                    candidate = self.pieces[candidate as usize].previous;
                    looked += 1;
                }
                candidate
            }
        };
        let Some(found) = self.pieces.get(piece as usize).copied() else {
            self.misfits += 1;
            return;
        };
        if found.holder != NONE || found.address > address || end > found.address.saturating_add(found.size) {
            self.misfits += 1;
            return;
        }
        let mut piece = piece;
        if found.address < address {
            piece = self.split(piece, address - found.address);
        }
        if self.pieces[piece as usize].size > size {
            self.split(piece, size);
        }
        let Piece { previous, next, .. } = self.pieces[piece as usize];
        self.at.remove(&address);
        self.vacant.push(piece);
        self.reserved = self.reserved.saturating_sub(size);
        // What lies before and after are segments of their own now.
        let Some((head, tail, total)) = self.segments.remove(&start) else { return };
        if previous != NONE {
            self.pieces[previous as usize].next = NONE;
            self.segments.insert(start, (head, previous, address - start));
        }
        if next != NONE {
            self.pieces[next as usize].previous = NONE;
            self.segments.insert(end, (next, tail, start.saturating_add(total).saturating_sub(end)));
        }
    }

    /// Applies one entry. False when it did not fit.
    pub fn apply(&mut self, device: &Device, history: &mut History, event: usize) -> bool {
        let before = self.misfits;
        let Some(entry) = device.trace.get(event) else { return true };
        let id = history.of_event.get(event).copied().unwrap_or(NONE);
        match entry.action {
            Action::Alloc => {
                if let Some(allocation) = history.allocations.get_mut(id as usize) {
                    self.alloc(id, allocation);
                }
            }
            Action::FreeCompleted | Action::Free | Action::FreeRequested => {
                if let Some(allocation) = history.allocations.get(id as usize)
                    && allocation.freed == event as u32
                {
                    let allocation = *allocation;
                    self.free(id, &allocation);
                }
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                let range = gained(device, history, event, entry);
                if range.expandable {
                    self.map(range);
                } else {
                    self.add_range(range);
                }
            }
            Action::SegmentFree | Action::SegmentUnmap => self.remove(entry.addr, entry.size),
            _ => {}
        }
        self.misfits == before
    }

    /// The map as it is.
    pub fn image(&self) -> Image {
        let mut segments = Vec::with_capacity(self.segments.len());
        for (&address, &(head, _, size)) in &self.segments {
            let kind = self.kinds[self.pieces[head as usize].kind as usize];
            let mut pieces = Vec::new();
            let mut id = head;
            while let Some(piece) = self.pieces.get(id as usize) {
                pieces.push(ImagePiece { address: piece.address, size: piece.size, holder: piece.holder });
                id = piece.next;
            }
            segments.push(ImageSegment {
                range: Range {
                    address,
                    size,
                    stream: kind.stream,
                    small: kind.small,
                    pool: kind.pool,
                    expandable: kind.expandable,
                },
                pieces,
            });
        }
        Image { segments }
    }
}

/// What an entry got from the driver.
fn gained(device: &Device, history: &History, event: usize, entry: &Event) -> Range {
    let expandable = entry.action == Action::SegmentMap;
    let known = history.gained.get(&(event as u32));
    let small = known.map(|range| range.small).unwrap_or_else(|| {
        // The pool shows in the allocation that the memory was for.
        let next = device.trace.iter().skip(event + 1).take(64).find(|e| e.action == Action::Alloc);
        if expandable { next.is_some_and(|e| e.size <= SMALL_LIMIT) } else { entry.size <= SMALL_SEGMENT }
    });
    Range {
        address: entry.addr,
        size: entry.size,
        stream: entry.stream,
        small,
        pool: if entry.pool == (0, 0) { known.map_or((0, 0), |range| range.pool) } else { entry.pool },
        expandable,
    }
}

/// Blocks from before the trace that are freed in it show their size only through what comes to lie behind them: an
/// allocation takes the low end of a free block, so while a block is in use the next one begins where it ends. Without
/// this, the part of a block that was too small to split off would be taken for free memory.
fn sizes_from_neighbours(device: &Device, history: &mut History, rules: Rules<'_>) {
    let mut unknown: Vec<(u64, u64, u32)> = Vec::new();
    for (id, allocation) in history.allocations.iter().enumerate() {
        if allocation.born == NONE && allocation.size == 0 {
            let end = allocation.address.saturating_add((rules.round)(allocation.requested));
            unknown.push((allocation.address, end, id as u32));
        }
    }
    unknown.sort_unstable();
    if unknown.is_empty() {
        return;
    }
    for (i, event) in device.trace.iter().enumerate().filter(|(_, event)| event.action == Action::Alloc) {
        let below = unknown.partition_point(|(address, _, _)| *address < event.addr);
        let Some(&(address, end, id)) = below.checked_sub(1).and_then(|at| unknown.get(at)) else { continue };
        let Some(allocation) = history.allocations.get_mut(id as usize) else { continue };
        // No other block fits into a gap this small: those of the large pool are larger, the small pool has no gaps.
        let gap = event.addr.checked_sub(end).filter(|gap| *gap > 0 && *gap <= SMALL_LIMIT);
        if gap.is_some() && allocation.size == 0 && allocation.requested > SMALL_LIMIT && allocation.freed > i as u32 {
            allocation.size = event.addr - address;
        }
    }
}

/// A stretch of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its first and last entry.
    pub first: u32,
    pub last: u32,
    /// Least and most bytes of blocks in use, and after which entry.
    pub low: (u64, u32),
    pub high: (u64, u32),
    /// Most bytes held of the driver in it.
    pub reserved: u64,
}

/// What playing the whole trace found.
pub struct Played {
    /// Most bytes of blocks in use, the entry (`NONE`: before the trace).
    pub peak_active: (u64, u32),
    /// The map after the entries asked for.
    pub images: Vec<(u32, Image)>,
    pub windows: Vec<Window>,
    /// Entries that did not fit.
    pub misfits: u64,
}

/// What to keep while the trace is played.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'w> {
    /// Entries after which the map is kept, in order; `NONE` stands for the state before the trace.
    pub images: &'w [u32],
    /// First entries of the windows, in order, from 0.
    pub windows: &'w [u32],
}

/// Plays the trace and fills in the size of every block.
pub fn play(device: &Device, history: &mut History, rules: Rules<'_>, wanted: Wanted<'_>) -> Played {
    sizes_from_neighbours(device, history, rules);
    let mut space = Space::before(history, rules);
    let mut played = Played { peak_active: (space.active, NONE), images: Vec::new(), windows: Vec::new(), misfits: 0 };
    if wanted.images.contains(&NONE) {
        played.images.push((NONE, space.image()));
    }
    let mut images = wanted.images.iter().copied().filter(|event| *event != NONE).peekable();
    let mut starts = wanted.windows.iter().copied().peekable();
    for event in 0..device.trace.len() {
        let number = event as u32;
        space.apply(device, history, event);
        let active = space.active;
        if active > played.peak_active.0 {
            played.peak_active = (active, number);
        }
        if starts.next_if(|start| *start <= number).is_some() {
            played.windows.push(Window {
                first: number,
                last: number,
                low: (active, number),
                high: (active, number),
                reserved: space.reserved,
            });
        } else if let Some(window) = played.windows.last_mut() {
            window.last = number;
            if active < window.low.0 {
                window.low = (active, number);
            }
            if active > window.high.0 {
                window.high = (active, number);
            }
            window.reserved = window.reserved.max(space.reserved);
        }
        while images.next_if_eq(&number).is_some() {
            played.images.push((number, space.image()));
        }
    }
    played.misfits = space.misfits;
    played
}
