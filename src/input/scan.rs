//! Where any of many literals stand in a text: the one search that sees every byte of a log.
//!
//! The search looks at every fourth place only. Whichever way a literal lies, one of four neighbouring places in it is
//! looked at, so the four bytes that stand at each of those four are entered in a table of bits, and a place whose
//! bytes are in the table is compared with the literals that entered them. What it costs is how often the entered bytes
//! stand in logs: of the places in a literal those are taken that are rare there or were entered for another literal,
//! and a candidate is told by sixteen bytes around its place before the literal itself is looked at.
//!
//! Measured on a synthetic training log in pieces of 256 KiB, built for size (seconds for each GB, the best of twelve;
//! with every line saying "allocated", as many literals do):
//!
//! | literals | 0 | 64 | 261 | 522 | 1,045 |
//! | --- | --- | --- | --- | --- | --- |
//! | seconds | 0.39 | 0.53 | 0.66 | 0.72 | 0.83 |
//! | blocks that look like holding a literal | 0 % | 21 % | 29 % | 30 % | 33 % |
//!
//! An entry for each case of a letter, places taken by themselves and candidates told by four bytes took three times as
//! long with 1,045 literals, of which 61 % of the blocks looked like holding one; `ripgrep` takes 2.5 s. `AhoCorasick`
//! takes the vectorised Teddy for up to 64 literals only, where it took as long as this one, and ten times as long for
//! 194. Teddy in groups of at most 64, one after the other, took twice as long as this one with 194: it tells bytes
//! apart by their nibbles in eight buckets, and lower-case words share theirs, so that most of its time goes into
//! false alarms.

use super::needles::{Needle, Needles};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes between two places that are looked at.
const STRIDE: usize = 4;
/// Bytes looked at in each place.
const GRAM: usize = 4;
/// Literals of fewer bytes cannot be found: of four neighbouring places one would show less than three bytes of theirs.
pub const SHORTEST: usize = STRIDE + 1;
/// Places looked at between two branches.
const BLOCK: usize = 8 * STRIDE;
/// Bits of the table: 32 KiB, which stay in the first-level cache.
const BITS: u32 = 18;
/// Lists of candidates.
const BUCKETS: u32 = 14;
/// Bytes by which a candidate is told, some of them before its place.
const AROUND: usize = 16;
const BEFORE: usize = 4;
/// Bits by which the first and the last byte of a place count.
const EDGE: u32 = 5;
/// What tells a small letter from a capital one.
const CASE: u8 = 0x20;
/// The bits of a place that count.
const COUNTED: u32 = 0x1f5f_5f1f;

/// What lines of training logs are full of: four bytes of it are no sign of a literal if others can be had.
const CHATTER: &str = "2026-01-02 03:04:05,678 [rank0]: INFO WARNING train.py:123 Epoch 1/10 global step 100 iter loss: \
    1.234 lr 1e-4 learning_rate grad_norm 0.5 mem_alloc 12.34GiB mem_reserved allocated memory: 12345 \
    max memory data_time eta: tokens/s samples/sec it/s throughput accuracy validation training batch \
    size File \"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 10, in \
    _call_impl return forward_call(*args, **kwargs) NCCL INFO Channel 00/0 : via P2P/CUMEM/read GPU KV \
    cache usage: running requests worker device cuda:0 POST /v1/chat/completions HTTP/1.1 200 OK \
    checkpoint saved model loaded";

/// A literal to search for.
struct Literal {
    bytes: Vec<u8>,
    any_case: bool,
}

impl Literal {
    fn stands_at(&self, bytes: &[u8], at: usize) -> bool {
        bytes.get(at..at + self.bytes.len()).is_some_and(|there| {
            if self.any_case {
                // Most candidates differ early; a comparison of slices looks at sixteen bytes before it says so.
                there.iter().zip(&self.bytes).all(|(a, b)| a.eq_ignore_ascii_case(b))
            } else {
                there == self.bytes
            }
        })
    }

    /// What stands around a place of the literal, and a mask over the bits that the literal decides.
    fn around(&self, offset: i16) -> (u128, u128) {
        let (mut bytes, mut known) = ([0; AROUND], [0; AROUND]);
        for (k, (there, known)) in bytes.iter_mut().zip(&mut known).enumerate() {
            let at = isize::from(offset)
                .checked_add_unsigned(k)
                .and_then(|at| usize::try_from(at).ok()?.checked_sub(BEFORE));
            if let Some(byte) = at.and_then(|at| self.bytes.get(at)) {
                *known = if self.any_case && byte.is_ascii_alphabetic() { !CASE } else { 0xff };
                *there = byte & *known;
            }
        }
        (u128::from_le_bytes(bytes), u128::from_le_bytes(known))
    }

    /// The places of the table that the bytes at a place of the literal lead to: one, or one for each byte that can
    /// stand beyond the literal.
    fn entries(&self, offset: i16) -> impl Iterator<Item = u32> {
        let (gram, known) = self.around(offset);
        let [gram, known] = [gram, known].map(|around| (around >> (8 * BEFORE)) as u32);
        let any = |shift: u32| if known >> shift & 0xff == 0 { 1 << EDGE } else { 1u32 };
        let (first, last) = (any(0), any(u32::BITS - 8));
        (0..first).flat_map(move |first| (0..last).map(move |last| hash(gram | first | last << (u32::BITS - 8))))
    }
}

/// A literal that may stand at a place, told by the bytes around the place.
#[derive(Clone, Copy, Default)]
struct Candidate {
    around: u128,
    /// Which bits of them the literal decides.
    known: u128,
    literal: u16,
    /// Where the place lies in the literal; -1 when just before.
    offset: i16,
}

/// An occurrence of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Offset of its first byte.
    pub at: usize,
    pub length: usize,
    /// The literal's number, in the order in which they were given.
    pub literal: usize,
}

/// So many bytes are searched before the table is worth its making: 15 million instructions for 1,600 literals, which
/// was a third of what a pasted message took. The other search takes about 15 for each byte.
const LITTLE: usize = 1 << 19;

/// Literals, ready to be searched for all at once.
pub struct Literals {
    literals: Vec<Literal>,
    /// What little text is searched with, by the same numbers.
    few: Needles,
    /// Bytes that were searched with it.
    searched: AtomicUsize,
    table: OnceLock<Table>,
    longest: usize,
}

type Bits = [u8; 1 << (BITS - 3)];

/// What tells where literals may stand.
struct Table {
    bits: Box<Bits>,
    /// Where each bucket begins in `candidates`; one more for the end.
    buckets: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl Literals {
    /// Takes literals of at least [`SHORTEST`] bytes; shorter ones are never found. One that begins with `(?i)` is
    /// found in upper and lower case (of ASCII).
    pub fn new<'l>(literals: impl IntoIterator<Item = &'l str>) -> Literals {
        let literals: Vec<Literal> = literals
            .into_iter()
            .map(|literal| match literal.strip_prefix("(?i)") {
                Some(rest) => Literal { bytes: rest.as_bytes().to_vec(), any_case: true },
                None => Literal { bytes: literal.as_bytes().to_vec(), any_case: false },
            })
            .collect();
        let longest = literals.iter().map(|literal| literal.bytes.len()).max().unwrap_or(0);
        // Both searches leave out what is too short for one of them.
        let long = |literal: &Literal| literal.bytes.len() >= SHORTEST;
        let few = literals.iter().map(|literal| if long(literal) { literal.bytes.as_slice() } else { &[] });
        let few = Needles::of_any_case(few);
        Literals { literals, few, searched: AtomicUsize::new(0), table: OnceLock::new(), longest }
    }

    /// The table, where it is worth its making for so many more bytes.
    fn table(&self, bytes: usize) -> Option<&Table> {
        if self.table.get().is_none() && self.searched.fetch_add(bytes, Ordering::Relaxed) + bytes < LITTLE {
            return None;
        }
        Some(self.table.get_or_init(|| Table::of(&self.literals)))
    }

    /// Length of the longest literal in bytes: what a search must look back at the border of two pieces.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// True when some bytes hold any of the literals.
    pub fn any(&self, bytes: &[u8]) -> bool {
        self.search(bytes, |_| ControlFlow::Break(())).is_break()
    }

    /// Calls a function with every occurrence of every literal once: those that overlap too, roughly in their order,
    /// until it says to stop.
    pub fn search(&self, bytes: &[u8], found: impl FnMut(Hit) -> ControlFlow<()>) -> ControlFlow<()> {
        match self.table(bytes.len()) {
            Some(table) => table.search(&self.literals, bytes, found),
            None => self.search_little(bytes, found),
        }
    }

    fn search_little(&self, bytes: &[u8], found: impl FnMut(Hit) -> ControlFlow<()>) -> ControlFlow<()> {
        let as_written = |hit: &Needle| {
            self.literals.get(hit.number).is_some_and(|literal| literal.any_case || literal.stands_at(bytes, hit.start))
        };
        let hits = self.few.all(bytes).filter(as_written);
        hits.map(|hit| Hit { at: hit.start, length: hit.length(), literal: hit.number }).try_for_each(found)
    }
}

impl Table {
    fn of(literals: &[Literal]) -> Table {
        let mut bits = Box::new([0u8; 1 << (BITS - 3)]);
        let mut unordered: Vec<(u32, Candidate)> = Vec::with_capacity(literals.len() * 16);
        let chatter = Chatter::new();
        // The short ones first: the long ones can be told by what the short ones have entered.
        let mut numbered: Vec<(u16, &Literal)> = (0u16..).zip(literals).collect();
        numbered.sort_by_key(|(_, literal)| literal.bytes.len());
        for (number, literal) in numbered {
            let Some(first) = chatter.rarest_places(literal, &bits) else { continue };
            for offset in (first..).take(STRIDE) {
                let (around, known) = literal.around(offset);
                for hash in literal.entries(offset) {
                    bits[(hash >> 3) as usize] |= 1 << (hash & 7);
                    unordered.push((hash, Candidate { around, known, literal: number, offset }));
                }
            }
        }
        // Sorted by counting, which takes a tenth of the time of comparing.
        let mut buckets = vec![0u32; (1 << BUCKETS) + 1];
        for (hash, _) in &unordered {
            if let Some(count) = buckets.get_mut(bucket(*hash) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut buckets {
            sum += *start;
            *start = sum;
        }
        let mut next = buckets.clone();
        let mut candidates = vec![Candidate::default(); unordered.len()];
        for (hash, candidate) in unordered {
            if let Some(next) = next.get_mut(bucket(hash))
                && let Some(place) = candidates.get_mut(*next as usize)
            {
                *place = candidate;
                *next += 1;
            }
        }
        Table { bits, buckets, candidates }
    }

    fn search(
        &self,
        literals: &[Literal],
        bytes: &[u8],
        mut found: impl FnMut(Hit) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for (i, block) in blocks.iter().enumerate() {
            if self.may_hold(block) {
                self.compare(literals, bytes, (i * BLOCK, block), &mut found)?;
            }
        }
        let mut last = [0; BLOCK];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        self.compare(literals, bytes, (blocks.len() * BLOCK, &last), &mut found)
    }

    /// True when one of a block's places shows bytes of a literal.
    #[inline]
    fn may_hold(&self, block: &[u8; BLOCK]) -> bool {
        let (grams, _) = block.as_chunks::<GRAM>();
        grams.iter().fold(0, |any, gram| any | self.bit(hash(u32::from_le_bytes(*gram)))) & 1 == 1
    }

    /// The hash's bit in the lowest place; above it others.
    #[inline]
    fn bit(&self, hash: u32) -> u8 {
        self.bits[(hash >> 3) as usize] >> (hash & 7)
    }

    #[cold]
    fn compare(
        &self,
        literals: &[Literal],
        bytes: &[u8],
        (start, block): (usize, &[u8; BLOCK]),
        found: &mut impl FnMut(Hit) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (grams, _) = block.as_chunks::<GRAM>();
        let mut places = 0u32;
        for (i, gram) in grams.iter().enumerate() {
            places |= u32::from(self.bit(hash(u32::from_le_bytes(*gram))) & 1) << i;
        }
        while places != 0 {
            let i = places.trailing_zeros() as usize;
            places &= places - 1;
            let Some(gram) = grams.get(i) else { break };
            let bucket = bucket(hash(u32::from_le_bytes(*gram)));
            let (Some(from), Some(to)) = (self.buckets.get(bucket), self.buckets.get(bucket + 1)) else { continue };
            let candidates = self.candidates.get(*from as usize..*to as usize).unwrap_or_default();
            let around = around(bytes, start + i * STRIDE);
            for candidate in candidates.iter().filter(|candidate| candidate.around == around & candidate.known) {
                let number = usize::from(candidate.literal);
                if let Some(at) = (start + i * STRIDE).checked_add_signed(-isize::from(candidate.offset))
                    && let Some(literal) = literals.get(number)
                    && literal.stands_at(bytes, at)
                {
                    found(Hit { at, length: literal.bytes.len(), literal: number })?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// The bytes around a place of a text; none beyond its ends.
fn around(bytes: &[u8], place: usize) -> u128 {
    let whole = |from: usize| bytes.get(from..)?.first_chunk().copied();
    let byte = |k: usize| (place + k).checked_sub(BEFORE).and_then(|at| bytes.get(at)).copied().unwrap_or(0);
    let around = place.checked_sub(BEFORE).and_then(whole).unwrap_or_else(|| std::array::from_fn(byte));
    u128::from_le_bytes(around)
}

/// Multiplication by the golden ratio mixes upwards; the highest bits are the best mixed. Small and capital letters
/// count alike, so that a literal of any case makes one entry, and the first and the last byte count by five of their
/// bits, so that any byte beyond a literal makes 32 entries and not 256.
#[inline]
fn hash(gram: u32) -> u32 {
    (gram & COUNTED).wrapping_mul(0x9e37_79b9) >> (u32::BITS - BITS)
}

#[inline]
fn bucket(hash: u32) -> usize {
    (hash >> (BITS - BUCKETS)) as usize
}

/// Which places of the table the bytes of logs lead to.
struct Chatter {
    /// How often each is met in [`CHATTER`].
    seen: HashMap<u32, u32>,
}

impl Chatter {
    fn new() -> Chatter {
        let mut seen = HashMap::new();
        for gram in CHATTER.as_bytes().windows(GRAM) {
            let gram = gram.iter().rev().fold(0, |gram, byte| gram << 8 | u32::from(*byte));
            *seen.entry(hash(gram)).or_default() += 1;
        }
        Chatter { seen }
    }

    /// The first of the four neighbouring places in a literal that cost the least, from just before the literal to just
    /// behind it: whose bytes are entered already, or are rare in logs.
    fn rarest_places(&self, literal: &Literal, bits: &Bits) -> Option<i16> {
        let last = literal.bytes.len().checked_sub(SHORTEST)?;
        let costs: Vec<u32> = (-1..).take(last + STRIDE).map(|offset| self.cost(literal, offset, bits)).collect();
        let sums = costs.windows(STRIDE).map(|costs| costs.iter().sum::<u32>());
        (-1..).zip(sums).min_by_key(|(_, sum)| *sum).map(|(first, _)| first)
    }

    /// What entering a gram costs: the more, the oftener it will be met for nothing.
    fn cost(&self, literal: &Literal, offset: i16, bits: &Bits) -> u32 {
        let bytes = (offset..).take(GRAM).filter_map(|at| literal.bytes.get(usize::try_from(at).ok()?));
        let rare = 1 + bytes.map(|byte| commonness(*byte)).sum::<u32>();
        let cost = |hash: u32| {
            let seen = self.seen.get(&hash).copied().unwrap_or(0);
            let new = bits[(hash >> 3) as usize] >> (hash & 7) & 1 == 0;
            20 * seen + if new { 200 * seen + rare } else { 0 }
        };
        literal.entries(offset).map(cost).sum()
    }
}

fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' | b'0'..=b'9' => 3,
        b'a' | b'e' | b'i' | b'l' | b'n' | b'o' | b'r' | b's' | b't' => 2,
        b'.' | b':' | b'/' | b'_' | b'-' | b'[' | b']' | b',' | b'=' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What both searches find.
    fn hits(literals: &Literals, text: &[u8]) -> Vec<Hit> {
        let (mut few, mut hits) = (Vec::new(), Vec::new());
        let _ = literals.search_little(text, |hit| {
            few.push(hit);
            ControlFlow::Continue(())
        });
        let _ = literals.table(LITTLE).expect("a table").search(&literals.literals, text, |hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        });
        few.sort_unstable();
        hits.sort_unstable();
        assert_eq!(few, hits);
        hits
    }

    /// The same search at every place, literal by literal.
    fn expected(literals: &Literals, text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for at in 0..text.len() {
            for (number, literal) in literals.literals.iter().enumerate() {
                if literal.stands_at(text, at) {
                    hits.push(Hit { at, length: literal.bytes.len(), literal: number });
                }
            }
        }
        hits
    }

    #[test]
    fn every_occurrence_is_found_once_wherever_it_stands() {
        let literals = Literals::new(["illed", "out of memory", "(?i)memory limit", "GPU memory", "已杀死", "aaaaa"]);
        let mut text = "x".repeat(67);
        for number in 0..50 {
            for word in
                ["Killed", "out of memory", "Memory Limit", "MEMORY LIMITS", "GPU memory limit", "已杀死", "aaaaaaa"]
            {
                text.push_str(word);
                text.push_str("filler that shifts what follows"[..(number * 7 + word.len()) % 31].trim_end());
            }
        }
        for from in 0..40 {
            let part = &text.as_bytes()[from..];
            let (found, expected) = (hits(&literals, part), expected(&literals, part));
            let wrong = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            assert_eq!((wrong, found.len()), (None, expected.len()), "from {from}");
        }
        // Short texts, whose end is looked at in a copy.
        for literal in ["killed", "GPU memory", "已杀死", "aaaaa"] {
            for before in 0..9 {
                let text = format!("{}{literal}", "y".repeat(before));
                assert_eq!(hits(&literals, text.as_bytes()).len(), 1, "{text}");
            }
        }
        assert_eq!(hits(&literals, b""), []);
    }

    #[test]
    fn hundreds_of_literals_are_told_apart() {
        let words: Vec<String> = (0..400).map(|n| format!("cuda{}Error{n:03}", n * 7919 % 1000)).collect();
        let literals = Literals::new(words.iter().map(String::as_str));
        for (number, word) in words.iter().enumerate() {
            let text = format!("something went wrong: {word}, and so on");
            assert_eq!(hits(&literals, text.as_bytes()), [Hit { at: 22, length: word.len(), literal: number }]);
        }
        assert_eq!(hits(&literals, CHATTER.as_bytes()), []);
    }

    #[test]
    fn case_counts_unless_told_otherwise() {
        let literals = Literals::new(["(?i)out of memory", "SIGKILL"]);
        assert!(literals.any(b"Out Of Memory") && literals.any(b"OUT OF MEMORY") && literals.any(b"SIGKILL"));
        assert!(!literals.any(b"sigkill") && !literals.any(b"out of memor"));
    }
}
