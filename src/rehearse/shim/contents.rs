//! What is known of the contents of device memory.
//!
//! Kernels do nothing, so only what the host wrote is known: small copies are kept, fills are kept as a pattern, copies
//! between devices carry the knowledge along. A kernel launched afterwards may have overwritten any of it, and the
//! caching allocator of the program hands the same addresses to other tensors. Therefore knowledge older than the last
//! launch answers only a read of exactly the range that was written: the tensor that went in comes out again, but bytes
//! of old labels are not taken for a loss.

use crate::counters::{LAUNCHES, UNKNOWN_READS};
use crate::report;
use crate::settings::settings;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

/// A copy larger than this is not kept.
const LARGEST: u64 = 1 << 20;
/// What all kept copies may take together.
const BUDGET: u64 = 64 << 20;

enum Data {
    Bytes(Box<[u8]>),
    /// The byte at `offset` of the fill is `pattern[offset % width]`.
    Fill {
        pattern: [u8; 4],
        width: u64,
    },
}

struct Known {
    length: u64,
    data: Data,
    /// Launches before it was written.
    launches: u64,
}

impl Known {
    fn byte(&self, offset: u64) -> u8 {
        match &self.data {
            Data::Bytes(bytes) => bytes.get(offset as usize).copied().unwrap_or(0),
            Data::Fill { pattern, width } => pattern[(offset % (*width).max(1)) as usize & 3],
        }
    }

    /// The part from `start` on, `length` bytes long.
    fn part(&self, start: u64, length: u64) -> Known {
        let data = match &self.data {
            Data::Bytes(bytes) => {
                Data::Bytes(bytes.get(start as usize..(start + length) as usize).unwrap_or_default().into())
            }
            Data::Fill { width, .. } => {
                let mut pattern = [0; 4];
                for (place, byte) in pattern.iter_mut().enumerate() {
                    *byte = self.byte(start + place as u64);
                }
                Data::Fill { pattern, width: *width }
            }
        };
        Known { length, data, launches: self.launches }
    }

    fn kept(&self) -> u64 {
        if matches!(self.data, Data::Bytes(_)) { self.length } else { 0 }
    }
}

/// By address; ranges do not overlap.
#[derive(Default)]
pub struct Contents {
    ranges: BTreeMap<u64, Known>,
    kept: u64,
}

impl Contents {
    fn insert(&mut self, address: u64, known: Known) {
        self.kept += known.kept();
        self.ranges.insert(address, known);
    }

    /// Addresses of the ranges that touch `[address, address + length)`.
    fn touching(&self, address: u64, length: u64) -> Vec<u64> {
        let end = address.saturating_add(length);
        let before = self.ranges.range(..address).next_back().filter(|(start, known)| *start + known.length > address);
        before.into_iter().chain(self.ranges.range(address..end)).map(|(start, _)| *start).collect()
    }

    /// The range was written by something unknown, or given back.
    pub fn forget(&mut self, address: u64, length: u64) {
        if length == 0 || self.ranges.is_empty() {
            return;
        }
        let end = address.saturating_add(length);
        for start in self.touching(address, length) {
            let Some(known) = self.ranges.remove(&start) else { continue };
            self.kept = self.kept.saturating_sub(known.kept());
            let stop = start + known.length;
            if start < address {
                self.insert(start, known.part(0, address - start));
            }
            if stop > end {
                self.insert(end, known.part(end - start, stop - end));
            }
        }
    }

    /// The host wrote these bytes.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let length = bytes.len() as u64;
        self.forget(address, length);
        if length == 0 || length > LARGEST || self.kept + length > BUDGET {
            return;
        }
        self.insert(address, Known { length, data: Data::Bytes(bytes.into()), launches: report::get(LAUNCHES) });
    }

    /// Whether a copy of this length would be kept at all.
    pub fn keeps(&self, length: u64) -> bool {
        length <= LARGEST && self.kept + length <= BUDGET
    }

    /// A fill with a pattern of 1, 2 or 4 bytes.
    pub fn fill(&mut self, address: u64, length: u64, value: u32, width: u64) {
        self.forget(address, length);
        if length > 0 {
            let data = Data::Fill { pattern: value.to_le_bytes(), width };
            self.insert(address, Known { length, data, launches: report::get(LAUNCHES) });
        }
    }

    /// A copy on the device.
    pub fn copy(&mut self, to: u64, from: u64, length: u64) {
        if to == from || length == 0 {
            return;
        }
        let end = from.saturating_add(length);
        let mut moved = Vec::new();
        for start in self.touching(from, length) {
            let Some(known) = self.ranges.get(&start) else { continue };
            let (first, last) = (start.max(from), (start + known.length).min(end));
            let part = known.part(first - start, last - first);
            if self.kept + part.kept() <= BUDGET {
                moved.push((to + (first - from), part));
            }
        }
        self.forget(to, length);
        for (address, part) in moved {
            self.insert(address, part);
        }
    }

    /// A copy to the host: what is known, else what the settings say. `own` is memory that this object allocated.
    pub fn read(&self, address: u64, out: &mut [u8], own: bool) {
        let length = out.len() as u64;
        if length == 0 {
            return;
        }
        let launches = report::get(LAUNCHES);
        let end = address.saturating_add(length);
        let touching = self.touching(address, length);
        let answers =
            |start: u64, known: &Known| known.launches == launches || (start == address && known.length == length);
        let usable: Vec<(u64, &Known)> = touching
            .iter()
            .filter_map(|start| self.ranges.get(start).map(|known| (*start, known)))
            .filter(|(start, known)| answers(*start, known))
            .collect();
        let covered: u64 = usable.iter().map(|(start, k)| (start + k.length).min(end) - (*start).max(address)).sum();
        if covered < length {
            unknown(out, own);
            report::add(UNKNOWN_READS, 1);
        }
        for (start, known) in usable {
            let (first, last) = (start.max(address), (start + known.length).min(end));
            let Some(target) = out.get_mut((first - address) as usize..(last - address) as usize) else { continue };
            for (place, byte) in (first - start..).zip(target) {
                *byte = known.byte(place);
            }
        }
    }
}

/// Numbers whose highest byte is `first`, as a flag true, and whose magnitude is smaller with each read: a program that
/// goes on as long as a loss falls, or an accuracy rises, finds that it does. In steps of 0.004 or 0.008 as a float of
/// 32 bits, which last for 16384 reads.
fn extreme(out: &mut [u8], first: u8) {
    let rest = (1 << 24) - 1 - (report::get(UNKNOWN_READS) << 10).min((1 << 24) - 1);
    let [low, middle, high, ..] = rest.to_le_bytes();
    match out.len() {
        1 => out.fill(first),
        4 | 8 => out.chunks_mut(4).for_each(|word| word.copy_from_slice(&[low, middle, high, first])),
        // Of several numbers, or one of 16 bits: the same at each place where one of any width may end.
        _ => {
            let high = u8::MAX - report::get(UNKNOWN_READS).min(254) as u8;
            out.chunks_mut(2).for_each(|word| word.copy_from_slice(&[high, first][..word.len()]));
        }
    }
}

/// For half of all reads, without a rule that a program's own could meet.
fn is_zero(read: u64) -> bool {
    let mixed = (read + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 63 == 0
}

/// Ones are the integer 1 for what can be a scalar, and for more a row of 64-bit ones or of bytes that are 1. As a
/// floating-point number that is tiny, but neither zero nor a NaN; as a flag it is true. Whatever is assumed, what is
/// offloaded reads as zeros: written numbers would take as much memory of this machine.
fn unknown(out: &mut [u8], own: bool) {
    if own && !settings().ones && out.len() as u64 > LARGEST {
        return forget_pages(out);
    }
    match settings().highest {
        Some(_) if settings().mixed && is_zero(report::get(UNKNOWN_READS)) => {}
        Some(first) => return extreme(out, first),
        None => {}
    }
    out.fill(0);
    if settings().ones {
        let step = match out.len() {
            length if length <= 8 => length.max(1),
            length if length % 8 == 0 => 8,
            _ => 1,
        };
        out.iter_mut().step_by(step).for_each(|byte| *byte = 1);
    }
}

unsafe extern "C" {
    fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
}

/// Zeros without taking memory for them: whole pages are given back, and read as zeros from then. What a program
/// offloads to page-locked host memory can be more than the machine has that it is rehearsed on.
fn forget_pages(out: &mut [u8]) {
    const PAGE: usize = 4096;
    const DONT_NEED: c_int = 4;
    let before = out.as_ptr().align_offset(PAGE).min(out.len());
    let (first, rest) = out.split_at_mut(before);
    let (pages, last) = rest.split_at_mut(rest.len() / PAGE * PAGE);
    first.fill(0);
    last.fill(0);
    // SAFETY: whole pages of private memory that we allocated and that the caller wants overwritten.
    if unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), DONT_NEED) } != 0 {
        pages.fill(0);
    }
}
