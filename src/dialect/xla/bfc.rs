//! The BFC allocator's dump: bins, chunks, statistics and the map of 100 characters.
//!
//! TensorFlow 1.x to 2.x, tsl and XLA print the same lines with other prefixes (`bfc_allocator.cc`).

use super::Voice;
use crate::dialect::field::{after, leading_number, leading_size, number_after};
use crate::dialect::{Fact, Facts};
use crate::domain::Number;
use crate::evidence::Span;
use crate::units::{Base, Figure};

/// The bytes that a line's refusal asks for, rounded as printed.
pub fn refusal(text: &str) -> Option<u64> {
    let rest = after(text, "an out of memory trying to allocate ")?;
    number_after(rest, "(rounded to ").or_else(|| leading_size(rest, Base::Binary).map(|size| size.bytes))
}

/// What a dump adds up to.
#[derive(Debug, Default)]
pub struct Dump {
    pub seen: bool,
    pub pinned_host: bool,
    pub device: Option<u32>,
    /// From `Bin for 781.25MiB was …`.
    pub requested: Option<Figure>,
    limit: Option<Figure>,
    in_use: Option<Figure>,
    in_use_sum: Option<Figure>,
    peak: Option<Figure>,
    held: Option<Figure>,
    largest_in_use: Option<Figure>,
    largest_free: Option<Figure>,
    free_chunks: Option<Figure>,
    growth: Option<(f64, Span)>,
    available: Option<(f64, Span)>,
    /// The map's longest free run and its wasted characters, of 100.
    map: Option<(usize, usize, Span)>,
    in_statistics: bool,
}

fn exact(bytes: Option<u64>, at: Span) -> Option<Figure> {
    bytes.map(|bytes| Figure { bytes, half_width: 0, at })
}

impl Dump {
    /// Reads a line of the dump.
    pub fn read(&mut self, text: &str, at: Span) -> Option<Voice> {
        let voice = self.line(text, at);
        self.seen |= voice.is_some();
        voice
    }

    fn line(&mut self, text: &str, at: Span) -> Option<Voice> {
        // The statistics carry no prefix; they follow `Stats:`.
        if self.in_statistics
            && let Some(voice) = self.statistic(text.trim(), at)
        {
            return Some(voice);
        }
        // `bfc_allocator.cc:`, and `gpu_cudamallocasync_allocator.cc:` of XLA's pools of the driver.
        let body = match text.find("_allocator.cc:") {
            Some(found) => text[found..].split_once(']').map_or("", |(_, body)| body).trim(),
            None => text.trim(),
        };
        let prefixed = body.len() < text.trim().len();
        // The pool's own begins on that line with a limit of 0, which stands for none.
        if body.ends_with("Stats:") || body.starts_with("Stats: Limit:") {
            self.in_statistics = true;
            return Some(Voice::Account);
        }
        if let Some(name) = after(body, "BFCAllocator dump for ") {
            self.pinned_host |= name.contains("host_bfc");
            self.device = name.strip_prefix("GPU_").and_then(leading_number).and_then(|n| u32::try_from(n).ok());
            return Some(Voice::Account);
        }
        if let Some(rest) = after(body, "Sum Total of in-use chunks:") {
            self.in_use_sum = leading_size(rest, Base::Binary).map(|size| size.at(at));
            return Some(Voice::Account);
        }
        let held = ["total_region_allocated_bytes_:", "Total bytes in pool:", "otal bytes in pool:"];
        if let Some(held) = held.iter().find_map(|label| number_after(body, label)) {
            self.held = exact(Some(held), at);
            self.limit = self.limit.or(exact(number_after(body, "memory_limit_:"), at));
            let noted = |label: &str| number_after(body, label).map(|n| (n as f64, at));
            self.available = noted("available bytes:");
            self.growth = noted("curr_region_allocation_bytes_:");
            return Some(Voice::Account);
        }
        if let Some(rest) = after(body, "Bin for ") {
            if rest.contains(" was ") {
                self.requested = leading_size(rest, Base::Binary).map(|size| size.at(at));
                return Some(Voice::Account);
            }
            return None;
        }
        if body.contains("in_use: 0") && body.contains("Size:") {
            // Only the free chunk's own size: its neighbours follow behind `prev:` and `next:`. The list of all chunks
            // has it again, exactly.
            let size = after(body, "Size:").and_then(|rest| leading_size(rest, Base::Binary));
            self.free(size.map(|size| size.at(at)), false);
            return Some(Voice::Account);
        }
        let chunk = body.starts_with("InUse at") || body.starts_with("Chunk at");
        if chunk || body.starts_with("Free at") || body.starts_with("Free  at") {
            let size = exact(number_after(body, "of size "), at);
            if !chunk {
                self.free(size, true);
            }
            return Some(Voice::Account);
        }
        if prefixed && is_map(body) {
            self.map = Some((longest_run(body), body.matches('x').count(), at));
            return Some(Voice::Account);
        }
        if body.contains("Chunks of size ") && body.contains("totalling")
            || body.starts_with("Bin (")
            || body.contains("Summary of in-use Chunks by size")
            || body.starts_with("Next region of size")
            || body.starts_with("Stats")
            || body.starts_with("Current allocation summary follows")
            || body.starts_with("If the cause is memory fragmentation")
        {
            return Some(Voice::Account);
        }
        prefixed.then_some(Voice::Account)
    }

    fn free(&mut self, figure: Option<Figure>, of_all: bool) {
        let Some(figure) = figure else { return };
        if self.largest_free.is_none_or(|known| figure.bytes > known.bytes) {
            self.largest_free = Some(figure);
        }
        if of_all {
            let sum = self.free_chunks.map_or(0, |known| known.bytes).saturating_add(figure.bytes);
            self.free_chunks = Some(Figure { bytes: sum, ..figure });
        }
    }

    fn statistic(&mut self, text: &str, at: Span) -> Option<Voice> {
        let (label, value) = text.split_once(':')?;
        // Nothing stands behind the number: what does is another writer's, and may have cut it.
        let whole = value.trim().bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.' | b'\''));
        let figure = exact(leading_number(value.trim()).filter(|_| whole), at);
        match label {
            "Limit" => self.limit = figure.or(self.limit),
            "InUse" => self.in_use = figure,
            "MaxInUse" => self.peak = figure,
            "MaxAllocSize" => self.largest_in_use = figure,
            // 0 is not filled in by this allocator.
            "LargestFreeBlock" => self.largest_free = figure.filter(|f| f.bytes > 0).or(self.largest_free),
            "NumAllocs" | "Reserved" | "PeakReserved" => {}
            _ => return None,
        }
        Some(Voice::Account)
    }

    /// Puts the dump's figures into the facts.
    pub fn finish(&self, facts: &mut Facts) {
        let sizes = [
            (Fact::Limit, self.limit),
            (Fact::Allocated, self.in_use.or(self.in_use_sum)),
            (Fact::Peak, self.peak),
            (Fact::Reserved, self.held),
            (Fact::LargestFreeChunk, self.largest_free),
        ];
        for (fact, figure) in sizes {
            if let Some(figure) = figure {
                facts.note(fact, figure);
            }
        }
        let numbers = [
            (Number::LargestAllocation, self.largest_in_use.map(|f| (f.bytes as f64, f.at))),
            (Number::FreeChunks, self.free_chunks.map(|f| (f.bytes as f64, f.at))),
            (Number::GrowthStep, self.growth),
            (Number::AvailableByLimit, self.available),
            (Number::LongestFreeRunPercent, self.map.map(|(run, _, at)| (run as f64, at))),
            (Number::WastedPercent, self.map.map(|(_, wasted, at)| (wasted as f64, at))),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                facts.numbers.entry(name).or_insert(number);
            }
        }
    }
}

/// The map of a pool: 100 characters, each a hundredth of it.
fn is_map(body: &str) -> bool {
    (60..=100).contains(&body.len()) && body.bytes().all(|b| matches!(b, b'*' | b'_' | b'x'))
}

fn longest_run(map: &str) -> usize {
    map.split(|c| c != '_').map(str::len).max().unwrap_or(0)
}
