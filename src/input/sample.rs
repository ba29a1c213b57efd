//! What of an input is kept: all of a small one; of a large one its head, its tail, the surroundings of triggers and
//! evenly spread samples. Memory stays bounded by constants, whatever the input.

use super::encoding::{self, Charset, Transcoder};
use super::lines::{self, Draft, LONGEST_LINE};
use super::scan::Literals;
use super::source::Opened;
use super::{Document, Repair};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// An input of at most this size, unpacked and in UTF-8, is kept whole …
const SMALL_BYTES: usize = 4 << 20;
/// … if it has no more line ends than this: each line costs some 80 bytes beside its text.
const SMALL_LINES: u64 = 64 << 10;
/// The encoding is told from this much.
const SNIFF: usize = 256 << 10;
/// Size of a read of a large input. Measured on a 1 GB log: pieces that stay in the second-level cache between the
/// read, the search and the count of lines beat larger ones.
const READ: usize = 256 << 10;
/// What the buffer keeps of earlier reads: the tail of the document, and more than any window reaches back.
const CARRY: usize = TAIL;
/// How many bytes are scanned between two moves of the carried bytes.
const RUN: usize = 1 << 20;
const HEAD: usize = 128 << 10;
const TAIL: usize = 256 << 10;
/// Surroundings of the first hits: a traceback, or a memory table, stands before a message; a stack or a summary
/// behind.
const WIDE: (usize, usize) = (48 << 10, 16 << 10);
/// How many windows are wide.
const WIDE_WINDOWS: usize = 16;
/// Surroundings of further hits.
const NARROW: (usize, usize) = (8 << 10, 8 << 10);
/// Hits close to each other share a window up to this length.
const LONGEST_WINDOW: usize = 128 << 10;
/// Lines kept on each side of a window's first hit, and in the head and the tail: bounds the cost of very short lines.
const MOST_LINES: usize = 4096;
/// Memory for the windows of the first hits, for those of the first hits of each literal, and for those of the last
/// hits.
const EARLY_COST: usize = 2 << 20;
const RARE_COST: usize = 3 << 20;
const LATE_COST: usize = 512 << 10;
/// So many hits of each literal count as rare.
const RARE_HITS: u32 = 2;
/// The samples' first distance; it doubles when there are too many, so that their number is right for any length.
const FIRST_STRIDE: u64 = 64 << 10;
const MOST_SAMPLES: usize = 400;
/// A sample's bytes and lines.
const SAMPLE: usize = 2 << 10;
const SAMPLE_LINES: usize = 8;

/// Reads an input to its end and keeps what the document needs.
pub(super) fn gather(
    opened: &mut Opened,
    literals: &Literals,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> io::Result<Document> {
    let (mut stream, mut buffer) = Stream::begin(opened)?;
    let mut eof = false;
    while !eof && buffer.len() <= SMALL_BYTES {
        eof = stream.fill(&mut buffer, READ)? == 0;
        progress(stream.opened.taken(), stream.opened.total);
    }
    let charset = stream.charset;
    if eof && buffer.len() <= SMALL_BYTES && count_ends(&buffer, buffer.len()) <= SMALL_LINES {
        let mut draft = Draft::new(charset, literals);
        let line_count = draft.push_all(&buffer);
        drop(buffer);
        let mut document = draft.finish();
        document.line_count = line_count;
        return Ok(document);
    }
    let mut keeper = Keeper::new(literals);
    keeper.scan(&buffer, eof);
    while !eof {
        if buffer.len() > RUN + CARRY {
            let done = buffer.len() - CARRY;
            buffer.copy_within(done.., 0);
            buffer.truncate(CARRY);
            buffer.shrink_to(RUN + CARRY + READ);
            keeper.shift(done);
        }
        eof = stream.fill(&mut buffer, READ)? == 0;
        keeper.scan(&buffer, eof);
        progress(stream.opened.taken(), stream.opened.total);
    }
    let tail = keeper.tail(&buffer);
    drop(buffer);
    Ok(keeper.finish(tail, Draft::new(charset, literals)))
}

/// An input as UTF-8.
struct Stream<'o> {
    opened: &'o mut Opened,
    charset: Charset,
    /// For other encodings than UTF-8; taken at the end of the input.
    transcoder: Option<Transcoder>,
    raw: Vec<u8>,
}

impl<'o> Stream<'o> {
    /// Tells the encoding, and returns what it read for that as UTF-8.
    fn begin(opened: &'o mut Opened) -> io::Result<(Stream<'o>, Vec<u8>)> {
        let mut sniffed = Vec::new();
        while sniffed.len() < SNIFF && read_more(&mut opened.reader, &mut sniffed, READ)? > 0 {}
        let (charset, mark) = encoding::detect(&sniffed, sniffed.len() < SNIFF);
        sniffed.drain(..mark);
        let mut stream = Stream { opened, charset, transcoder: None, raw: Vec::new() };
        if let Charset::Other(encoding) = charset {
            let mut transcoder = Transcoder::new(encoding);
            let mut text = Vec::new();
            transcoder.push(&sniffed, false, &mut text);
            stream.transcoder = Some(transcoder);
            return Ok((stream, text));
        }
        Ok((stream, sniffed))
    }

    /// Appends the text of up to `most` more bytes; 0 at the end.
    fn fill(&mut self, buffer: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        if self.charset == Charset::Utf8 {
            return read_more(&mut self.opened.reader, buffer, most);
        }
        let before = buffer.len();
        // A piece may end inside a character and yield no text yet.
        while buffer.len() == before
            && let Some(transcoder) = self.transcoder.as_mut()
        {
            self.raw.clear();
            let last = read_more(&mut self.opened.reader, &mut self.raw, most)? == 0;
            transcoder.push(&self.raw, last, buffer);
            if last {
                self.transcoder = None;
            }
        }
        Ok(buffer.len() - before)
    }
}

/// One read, appended; 0 at the end.
fn read_more(reader: &mut dyn Read, buffer: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let before = buffer.len();
    buffer.resize(before + most, 0);
    let result = loop {
        match reader.read(buffer.get_mut(before..).unwrap_or_default()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result,
        }
    };
    buffer.truncate(before + result.as_ref().copied().unwrap_or(0));
    result
}

/// Number of line feeds before `to`: what editors and `grep -n` number lines by.
fn count_ends(bytes: &[u8], to: usize) -> u64 {
    memchr::memchr_iter(b'\n', bytes.get(..to).unwrap_or_default()).count() as u64
}

/// Whole lines of the input, or the middle of a very long one.
struct Part {
    /// Offset in the text of the input.
    start: u64,
    /// Number of the line at the start.
    number: u64,
    bytes: Vec<u8>,
}

impl Part {
    /// What it will cost in memory as lines.
    fn cost(&self) -> usize {
        self.bytes.len() + 80 * usize::try_from(count_ends(&self.bytes, self.bytes.len())).unwrap_or(usize::MAX)
    }
}

/// A window around hits that is not complete yet, in offsets of the input.
#[derive(Clone, Copy)]
struct Window {
    start: u64,
    end: u64,
    first_hit: u64,
    last_hit: u64,
    /// Holds one of the first hits of a literal.
    rare: bool,
}

struct Keeper<'l> {
    literals: &'l Literals,
    /// Offset of the buffer's first byte.
    base: u64,
    /// The buffer's bytes that have been searched for triggers.
    searched: usize,
    /// The buffer's bytes whose line ends are counted in `ends`.
    counted: usize,
    ends: u64,
    /// Up to where windows have been closed.
    closed: u64,
    head: Option<Part>,
    open: Option<Window>,
    windows: usize,
    early: Vec<Part>,
    early_cost: usize,
    late: VecDeque<(Part, usize)>,
    late_cost: usize,
    hits_of: Vec<u32>,
    samples: Vec<Part>,
    sampled: u64,
    stride: u64,
    ends_with_line_feed: bool,
}

impl<'l> Keeper<'l> {
    fn new(literals: &'l Literals) -> Keeper<'l> {
        Keeper {
            literals,
            base: 0,
            searched: 0,
            counted: 0,
            ends: 0,
            closed: 0,
            head: None,
            open: None,
            windows: 0,
            early: Vec::new(),
            early_cost: 0,
            late: VecDeque::new(),
            late_cost: 0,
            hits_of: Vec::new(),
            samples: Vec::new(),
            sampled: 0,
            stride: FIRST_STRIDE,
            ends_with_line_feed: false,
        }
    }

    /// The buffer lost its first bytes.
    fn shift(&mut self, bytes: usize) {
        self.base += bytes as u64;
        self.searched = self.searched.saturating_sub(bytes);
        self.counted = self.counted.saturating_sub(bytes);
    }

    /// Looks at what is new in the buffer.
    fn scan(&mut self, buffer: &[u8], eof: bool) {
        if self.head.is_none() {
            let end = align_end(buffer, 0, buffer.len().min(HEAD));
            let end = end_of_lines(buffer, 0, end, MOST_LINES);
            self.head = Some(self.part(buffer, 0, end));
        }
        let from = self.searched;
        // A literal that begins behind this may go on in the next piece, and is found there.
        let whole = buffer.len().saturating_sub(self.literals.longest().saturating_sub(1)).max(from);
        let searched = if eof { buffer.len() } else { whole };
        let literals = self.literals;
        let _ = literals.search(buffer.get(from..).unwrap_or_default(), |hit| {
            let at = from + hit.at;
            if at < searched {
                self.take_samples(buffer, at, false);
                self.hit(buffer, at, hit.literal);
            }
            ControlFlow::Continue(())
        });
        self.searched = searched;
        let complete = self.open.is_some_and(|window| eof || self.base + buffer.len() as u64 >= window.end);
        if complete {
            self.close(buffer);
        }
        self.take_samples(buffer, buffer.len(), eof);
        // Whether a `\r` ends a line shows only in the byte behind it.
        let countable = if eof { buffer.len() } else { buffer.len().saturating_sub(1) };
        self.count_to(buffer, countable);
        self.ends_with_line_feed = buffer.last().is_none_or(|byte| *byte == b'\n');
    }

    fn count_to(&mut self, buffer: &[u8], to: usize) {
        if to > self.counted {
            self.ends += count_ends(buffer.get(self.counted..).unwrap_or_default(), to - self.counted);
            self.counted = to;
        }
    }

    /// The number of the line that a place of the buffer lies on.
    fn number_at(&mut self, buffer: &[u8], at: usize) -> u64 {
        self.count_to(buffer, at);
        let behind = count_ends(buffer.get(at..).unwrap_or_default(), self.counted - at);
        self.ends.saturating_sub(behind) + 1
    }

    fn part(&mut self, buffer: &[u8], start: usize, end: usize) -> Part {
        let number = self.number_at(buffer, start);
        let bytes = buffer.get(start..end).unwrap_or_default().to_vec();
        Part { start: self.base + start as u64, number, bytes }
    }

    fn hit(&mut self, buffer: &[u8], at: usize, literal: usize) {
        if self.hits_of.len() <= literal {
            self.hits_of.resize(literal + 1, 0);
        }
        let rare = self.hits_of.get_mut(literal).is_some_and(|hits| {
            *hits = hits.saturating_add(1);
            *hits <= RARE_HITS
        });
        let at = self.base + at as u64;
        let (before, after) = if self.windows < WIDE_WINDOWS { WIDE } else { NARROW };
        let (start, end) = (at.saturating_sub(before as u64), at + after as u64);
        if let Some(window) = self.open.as_mut() {
            if start <= window.end && at < window.start + LONGEST_WINDOW as u64 {
                // Hits that overlap may come out of their order.
                window.end = window.end.max(end);
                window.first_hit = window.first_hit.min(at);
                window.last_hit = window.last_hit.max(at);
                window.rare |= rare;
                return;
            }
            self.close(buffer);
        }
        self.windows += 1;
        let start = start.max(self.closed.min(at)).max(self.base);
        self.open = Some(Window { start, end, first_hit: at, last_hit: at, rare });
    }

    /// Stores the open window, cut to whole lines.
    fn close(&mut self, buffer: &[u8]) {
        let Some(window) = self.open.take() else { return };
        let place =
            |offset: u64| usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX).min(buffer.len());
        let (first_hit, last_hit) = (place(window.first_hit), place(window.last_hit));
        let start = if window.start == self.closed {
            place(window.start)
        } else {
            align_start(buffer, place(window.start), first_hit)
        };
        let start = start_of_lines(buffer, start, first_hit, MOST_LINES);
        let end = align_end(buffer, last_hit, place(window.end));
        let end = end_of_lines(buffer, first_hit, end, MOST_LINES);
        let part = self.part(buffer, start, end);
        self.closed = self.base + end as u64;
        let cost = part.cost();
        let room = self.early_cost + cost <= EARLY_COST;
        let room_for_rare = window.rare && self.early_cost + cost <= EARLY_COST + RARE_COST;
        if room || room_for_rare {
            self.early_cost += cost;
            self.early.push(part);
            return;
        }
        self.late_cost += cost;
        self.late.push_back((part, cost));
        while self.late_cost > LATE_COST
            && self.late.len() > 1
            && let Some((_, cost)) = self.late.pop_front()
        {
            self.late_cost -= cost;
        }
    }

    /// Takes the samples that lie before a place of the buffer.
    fn take_samples(&mut self, buffer: &[u8], before: usize, eof: bool) {
        loop {
            let Some(at) = self.sampled.checked_sub(self.base).and_then(|at| usize::try_from(at).ok()) else {
                self.sampled += self.stride;
                continue;
            };
            // A sample's lines must lie in the buffer, and `count_to` must not pass the window that is open.
            if at + 2 * SAMPLE > before && !(eof && at < before) {
                return;
            }
            self.sampled += self.stride;
            let area_end = buffer.len().min(at + 2 * SAMPLE);
            let start = align_start(buffer, at, area_end);
            let end = align_end(buffer, start, area_end.min(start + SAMPLE));
            let end = end_of_lines(buffer, start, end, SAMPLE_LINES);
            let starts_line = start == 0 || matches!(buffer.get(start - 1), Some(b'\n' | b'\r'));
            let ends_line = end > start && matches!(buffer.get(end - 1), Some(b'\n' | b'\r'));
            if starts_line && ends_line {
                let part = self.part(buffer, start, end);
                self.samples.push(part);
            } else {
                // Keeps the parity by which every second sample is given up.
                self.samples.push(Part { start: self.base + at as u64, number: 0, bytes: Vec::new() });
            }
            if self.samples.len() > MOST_SAMPLES {
                let mut odd = false;
                self.samples.retain(|_| {
                    odd = !odd;
                    odd
                });
                self.stride *= 2;
                self.sampled = self.stride * self.samples.len() as u64;
            }
        }
    }

    fn tail(&mut self, buffer: &[u8]) -> Part {
        let start = align_start(buffer, buffer.len().saturating_sub(TAIL), buffer.len());
        let start = start_of_lines(buffer, start, buffer.len(), MOST_LINES);
        self.part(buffer, start, buffer.len())
    }

    fn finish(self, tail: Part, mut draft: Draft<'_>) -> Document {
        let line_count = self.ends + u64::from(!self.ends_with_line_feed);
        let input_end = tail.start + tail.bytes.len() as u64;
        draft.repairs.insert(Repair::Sampled);
        let mut parts: Vec<Part> = self.head.into_iter().chain(self.early).chain(self.samples).collect();
        parts.extend(self.late.into_iter().map(|(part, _)| part));
        parts.push(tail);
        parts.retain(|part| !part.bytes.is_empty());
        parts.sort_by_key(|part| part.start);
        // A part that ends neither with a line nor with the input was cut out of a line that is too long.
        let cut = |part: &Part| {
            !matches!(part.bytes.last(), Some(b'\n' | b'\r')) && part.start + (part.bytes.len() as u64) < input_end
        };
        if parts.iter().any(cut) {
            draft.repairs.insert(Repair::LongLines);
        }
        let mut covered = 0;
        for part in parts {
            draft.push_part(part.start, part.number, &part.bytes, &mut covered);
        }
        let mut document = draft.finish();
        document.line_count = line_count;
        document
    }
}

/// The first beginning of a line in a range, or, in the middle of a very long line, the range's own start.
fn align_start(buffer: &[u8], start: usize, limit: usize) -> usize {
    if start == 0 || matches!(buffer.get(start - 1), Some(b'\n')) {
        return start;
    }
    let range = buffer.get(start..limit).unwrap_or_default();
    match memchr::memchr2(b'\n', b'\r', range) {
        Some(at) => {
            let next = start + at + 1;
            let crlf = buffer.get(start + at) == Some(&b'\r') && buffer.get(next) == Some(&b'\n');
            (next + usize::from(crlf)).min(limit)
        }
        None => limit.saturating_sub(LONGEST_LINE).max(start),
    }
}

/// The last end of a line in a range, or, in the middle of a very long line, the range's own end.
fn align_end(buffer: &[u8], start: usize, end: usize) -> usize {
    if end >= buffer.len() {
        return buffer.len();
    }
    let range = buffer.get(start..end).unwrap_or_default();
    match memchr::memrchr2(b'\n', b'\r', range) {
        Some(at) => {
            let next = start + at + 1;
            let crlf = buffer.get(start + at) == Some(&b'\r') && buffer.get(next) == Some(&b'\n');
            next + usize::from(crlf)
        }
        None => end.min(start + LONGEST_LINE),
    }
}

/// The end of the first `most` lines of a range.
fn end_of_lines(buffer: &[u8], start: usize, end: usize, most: usize) -> usize {
    let range = buffer.get(start..end).unwrap_or_default();
    lines::split(range).nth(most).map_or(end, |line| start + line.offset)
}

/// The start of the last `most` lines of a range.
fn start_of_lines(buffer: &[u8], start: usize, end: usize, most: usize) -> usize {
    let range = buffer.get(start..end).unwrap_or_default();
    memchr::memrchr2_iter(b'\n', b'\r', range).nth(most).map_or(start, |at| align_start(buffer, start + at, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_found_once_wherever_a_read_ends() {
        let words = ["illed", "out of memory", "GPU memory", "memory limit", "CUDACachingAllocator.cpp", "已杀死"];
        let literals = Literals::new(words);
        for before in 0..5 {
            for (number, word) in words.iter().enumerate() {
                for split in 0..=word.len() {
                    let mut keeper = Keeper::new(&literals);
                    let mut buffer = "ordinary words\n".repeat(3).into_bytes();
                    buffer.extend(std::iter::repeat_n(b'.', before));
                    buffer.extend(&word.as_bytes()[..split]);
                    keeper.scan(&buffer, false);
                    buffer.extend(&word.as_bytes()[split..]);
                    keeper.scan(&buffer, false);
                    buffer.extend(b"\nordinary words\n");
                    keeper.scan(&buffer, true);
                    let mut once = vec![0; number + 1];
                    once[number] = 1;
                    assert_eq!(keeper.hits_of, once, "{word} split after {split} bytes");
                }
            }
        }
    }
}
