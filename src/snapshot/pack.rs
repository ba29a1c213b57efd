//! One device's record in compact binary form: what the HTML page carries so that any moment of it can be looked at.
//!
//! Columns rather than rows, numbers of variable length, and each entry told by the entry before it at the same address
//! where there is one: that leaves 5 bytes of an entry, and 2 once deflated. `page/model.js` reads it, and has the
//! order of the columns from here.

use super::history::History;
use super::model::{BlockState, Device, Snapshot};
use super::space::plain_rounding;
use super::store::{Action, Event, NONE, NumberMap};
use crate::allocator::QUANTUM;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::collections::HashMap;
use std::hash::Hash;
use std::io::Write;

/// Entries that a page carries of one device at most: the newest. The state before them is found by walking back, so
/// that the first of them stands as right as the first of a whole trace.
const ENTRIES: usize = 1 << 21;
/// Distinct stacks, frames of a stack (innermost first) and bytes of all names together.
const STACKS: usize = 1 << 16;
const FRAMES: usize = 64;
const NAMES: usize = 4 << 20;
/// Moments whose time is kept; between two of them the page interpolates.
const TIMES: usize = 1 << 16;

/// Marks of an entry besides its kind: it lies at the address of an earlier entry, and has the size, the stack, the
/// stream and pool of that one (or, without one, the stream and pool of the entry before it).
const KNOWN: u8 = 1 << 4;
const SAME_SIZE: u8 = 1 << 5;
const SAME_STACK: u8 = 1 << 6;
const SAME_PLACE: u8 = 1 << 7;

/// What of a snapshot the numbers in a pack stand for.
pub struct Names<'n> {
    /// The site of a stack and the label of a site.
    pub site: &'n mut dyn FnMut(u32) -> u32,
    pub label: &'n dyn Fn(u32) -> String,
    /// What of names may leave; gets and gives them one a line.
    pub leaving: &'n dyn Fn(&str) -> String,
}

/// The device's record, deflated.
pub fn pack(snapshot: &Snapshot, device: &Device, history: &History, names: &mut Names<'_>) -> Vec<u8> {
    let skipped = device.trace.len().saturating_sub(ENTRIES);
    let mut stacks = Table::default();
    let (mut streams, mut pools) = (Table::default(), Table::default());
    let mut out = Vec::new();
    number(&mut out, skipped as u64);
    let trace = device.trace.get(skipped..).unwrap_or_default();
    entries(&mut out, trace, &mut stacks, &mut streams, &mut pools);
    column(&mut out, &roundings(device, history, skipped));
    let mut finals = Vec::new();
    number(&mut finals, device.segments.len() as u64);
    let mut address = 0u64;
    for segment in &device.segments {
        signed(&mut finals, segment.address.wrapping_sub(address));
        number(&mut finals, segment.size);
        number(&mut finals, u64::from(segment.small) | u64::from(segment.expandable) << 1);
        number(&mut finals, streams.of(segment.stream));
        number(&mut finals, pools.of(segment.pool));
        number(&mut finals, stacks.bounded(segment.stack));
        number(&mut finals, segment.blocks.len() as u64);
        address = segment.address;
        for block in &segment.blocks {
            signed(&mut finals, block.address.wrapping_sub(address));
            number(&mut finals, block.size);
            number(&mut finals, block.requested);
            number(
                &mut finals,
                match block.state {
                    BlockState::Inactive => 0,
                    BlockState::Allocated => 1,
                    BlockState::PendingFree => 2,
                },
            );
            number(&mut finals, stacks.bounded(block.stack));
            address = block.address.wrapping_add(block.size);
        }
        address = segment.address;
    }
    column(&mut out, &finals);
    number(&mut out, streams.list.len() as u64);
    streams.list.iter().for_each(|stream| number(&mut out, *stream));
    number(&mut out, pools.list.len() as u64);
    for (first, second) in &pools.list {
        number(&mut out, u64::from(*first));
        number(&mut out, u64::from(*second));
    }
    places(&mut out, snapshot, &stacks.list, names);
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::new(6));
    // Writing into memory does not fail; were it to, an empty pack is told as a page without one.
    deflate.write_all(&out).and_then(|()| deflate.finish()).unwrap_or_default()
}

/// The trace, a column each of what its entries have.
fn entries(
    out: &mut Vec<u8>,
    trace: &[Event],
    stacks: &mut Table<u32>,
    streams: &mut Table<u64>,
    pools: &mut Table<(u32, u32)>,
) {
    let mut at: NumberMap<u64, usize> = NumberMap::default();
    let [mut kinds, mut back, mut addresses, mut sizes, mut origins, mut lanes] = [const { Vec::new() }; 6];
    let mut last = 0u64;
    for (i, event) in trace.iter().enumerate() {
        let lies = !matches!(event.action, Action::Oom | Action::Snapshot | Action::Annotate | Action::Other);
        let earlier = at.get(&event.addr).copied().filter(|_| lies);
        let mut kind = event.action as u8;
        if let Some(earlier) = earlier {
            kind |= KNOWN;
            number(&mut back, (i - earlier) as u64);
        } else {
            signed(&mut addresses, event.addr.wrapping_sub(last));
            last = event.addr;
        }
        let model = earlier.or(i.checked_sub(1)).and_then(|model| trace.get(model));
        if earlier.and_then(|earlier| trace.get(earlier)).is_some_and(|model| model.size == event.size) {
            kind |= SAME_SIZE;
        } else if event.size % QUANTUM == 0 {
            number(&mut sizes, (event.size / QUANTUM) << 1);
        } else {
            number(&mut sizes, event.size.min(u64::MAX >> 1) << 1 | 1);
        }
        if model.is_some_and(|model| model.stack == event.stack) {
            kind |= SAME_STACK;
        } else {
            number(&mut origins, stacks.bounded(event.stack));
        }
        if model.is_some_and(|model| (model.stream, model.pool) == (event.stream, event.pool)) {
            kind |= SAME_PLACE;
        } else {
            number(&mut lanes, streams.of(event.stream));
            number(&mut lanes, pools.of(event.pool));
        }
        kinds.push(kind);
        if lies {
            at.insert(event.addr, i);
        }
    }
    let step = trace.len().div_ceil(TIMES).max(1);
    let (mut times, mut before) = (Vec::new(), 0u64);
    number(&mut times, step as u64);
    for event in trace.iter().step_by(step) {
        signed(&mut times, event.time_us.wrapping_sub(before));
        before = event.time_us;
    }
    for bytes in [&kinds, &back, &addresses, &sizes, &origins, &lanes, &times] {
        column(out, bytes);
    }
}

/// Where the block of an allocation is larger than what was asked for, rounded up: how many entries after the last such
/// one it begins (or ends, where it was there before the first entry), and by how many quanta.
fn roundings(device: &Device, history: &History, skipped: usize) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), skipped);
    for (i, id) in history.of_event.iter().enumerate().skip(skipped) {
        let Some(allocation) = history.allocations.get(*id as usize) else { continue };
        let begins = device.trace.get(i).is_some_and(|event| event.action == Action::Alloc);
        let was_there = allocation.born == NONE || (allocation.born as usize) < skipped;
        let more = allocation.size.saturating_sub(plain_rounding(allocation.requested)) / QUANTUM;
        if (begins || was_there) && more > 0 {
            number(&mut out, (i - last) as u64);
            number(&mut out, more);
            last = i;
        }
    }
    out
}

/// Names, frames, stacks and their sites.
fn places(out: &mut Vec<u8>, snapshot: &Snapshot, stacks: &[u32], names: &mut Names<'_>) {
    let (mut texts, mut frames, mut sites) = (Table::default(), Table::default(), Table::default());
    let mut room = NAMES;
    let mut text = |texts: &mut Table<String>, name: &str| {
        let clean: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if room < clean.len() && !texts.index.contains_key(&clean) {
            return texts.of("…".to_string());
        }
        let known = texts.list.len();
        let id = texts.of(clean);
        room -= texts.list.get(known).map_or(0, String::len);
        id
    };
    let mut list = Vec::new();
    number(&mut list, stacks.len() as u64);
    for stack in stacks {
        let site = (names.site)(*stack);
        number(&mut list, sites.of(site));
        let all = snapshot.frames_of(*stack);
        let shown: Vec<u64> = all
            .take(FRAMES)
            .map(|(file, line, name)| {
                let (file, name) = (text(&mut texts, file), text(&mut texts, name));
                frames.of((file, line, name))
            })
            .collect();
        number(&mut list, shown.len() as u64);
        shown.iter().for_each(|frame| number(&mut list, *frame));
    }
    let labels: Vec<u64> = sites.list.iter().map(|site| text(&mut texts, &(names.label)(*site))).collect();
    let joined = texts.list.join("\n");
    let kept = (names.leaving)(&joined);
    // What hides a name never takes a line away; if it did, the lines would belong to other names.
    let lines: Vec<&str> = kept.split('\n').collect();
    let whole = lines.len() == texts.list.len();
    number(out, texts.list.len() as u64);
    for i in 0..texts.list.len() {
        let line = lines.get(i).filter(|_| whole).map_or("…", |line| line);
        column(out, line.as_bytes());
    }
    number(out, frames.list.len() as u64);
    for (file, line, name) in &frames.list {
        number(out, *file);
        number(out, u64::from(*line));
        number(out, *name);
    }
    number(out, labels.len() as u64);
    labels.iter().for_each(|label| number(out, *label));
    out.extend_from_slice(&list);
}

/// Distinct values by the order in which they came.
struct Table<T> {
    list: Vec<T>,
    index: HashMap<T, u64>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { list: Vec::new(), index: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn of(&mut self, value: T) -> u64 {
        if let Some(id) = self.index.get(&value) {
            return *id;
        }
        let id = self.list.len() as u64;
        self.list.push(value.clone());
        self.index.insert(value, id);
        id
    }
}

impl Table<u32> {
    /// 0 for no stack, and for one too many.
    fn bounded(&mut self, stack: u32) -> u64 {
        let full = self.list.len() >= STACKS && !self.index.contains_key(&stack);
        if stack == NONE || full { 0 } else { self.of(stack) + 1 }
    }
}

/// Seven bits a byte, the lowest first, the highest bit set on all but the last.
fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A difference, positive or not: small ones of both signs stay short.
fn signed(out: &mut Vec<u8>, difference: u64) {
    let value = difference as i64;
    number(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Bytes behind their length.
fn column(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The text that stands for bytes in a page (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4u32 {
            let sign = SIGNS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i as usize > chunk.len() { '=' } else { char::from(sign) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // The examples of RFC 4648.
        let examples =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (bytes, text) in examples {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
