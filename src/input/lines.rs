//! Bytes to clean lines, for the parts of an input that are kept.

use super::encoding::{self, Charset};
use super::scan::Literals;
use super::{Document, Line, Repair, escapes, mojibake, prefix, quoting, terminal};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Longer lines are cut down to their beginning, their end and the surroundings of triggers.
pub(super) const LONGEST_LINE: usize = 64 << 10;
/// What is kept of a longer line on each side of a trigger, and of its two ends.
const AROUND: usize = 16 << 10;
/// Most pieces kept of one long line.
const MOST_PIECES: usize = 24;
/// Most lines that unpacking strings may add to a document.
const MOST_UNPACKED: usize = 128 << 10;

/// The lines of a document while it is read.
pub(super) struct Draft<'l> {
    literals: &'l Literals,
    lines: Vec<Line>,
    pub repairs: BTreeSet<Repair>,
    /// The encoding that the input was recognised as.
    charset: Charset,
    /// The encoding of single lines that were not in it.
    stray: Option<Charset>,
    /// True when some line is UTF-8 beyond ASCII.
    has_utf8: bool,
    /// True while the last line added has no end.
    open_ended: bool,
}

/// One raw line: where it begins, its bytes without the end, and the number of line ends that it takes.
pub(super) struct Raw<'b> {
    pub offset: usize,
    pub bytes: &'b [u8],
    /// Line feeds inside (the raw device index of PyTorch 2.3) and behind it; 0 for a last line without end.
    pub ends: u64,
    pub ended: bool,
}

/// Splits bytes at `\n`, `\r\n` and `\r`. Bytes behind the last end are a line of their own. What a bare `\r` ends, as
/// progress bars print it, has the number of the line that it stands in: editors and `grep -n` count `\n` alone.
pub(super) fn split(bytes: &[u8]) -> impl Iterator<Item = Raw<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let start = at;
        let mut ends = 0;
        let mut from = at;
        while let Some(end) = memchr::memchr2(b'\n', b'\r', &bytes[from..]).map(|i| from + i) {
            ends += u64::from(bytes.get(end) == Some(&b'\n') || bytes.get(end + 1) == Some(&b'\n'));
            if terminal::is_device_index(&bytes[start..end], &bytes[end + 1..]) {
                from = end + 1;
                continue;
            }
            at = end + 1 + usize::from(bytes[end..].starts_with(b"\r\n"));
            return Some(Raw { offset: start, bytes: &bytes[start..end], ends, ended: true });
        }
        at = bytes.len();
        Some(Raw { offset: start, bytes: &bytes[start..], ends, ended: false })
    })
}

impl<'l> Draft<'l> {
    pub fn new(charset: Charset, literals: &'l Literals) -> Draft<'l> {
        Draft {
            literals,
            lines: Vec::new(),
            repairs: BTreeSet::new(),
            charset,
            stray: None,
            has_utf8: false,
            open_ended: false,
        }
    }

    /// Adds all lines of a text in memory; returns their number.
    pub fn push_all(&mut self, bytes: &[u8]) -> u64 {
        let mut number = 1;
        let mut count = 0;
        for raw in split(bytes) {
            self.note_carriage_return(bytes, &raw);
            self.push(number, raw.bytes);
            self.open_ended = !raw.ended;
            count = number + raw.ends - u64::from(raw.ended && raw.ends > 0);
            number += raw.ends;
        }
        count
    }

    /// Adds the lines of a part of a large input that begins at an offset, but for those before `covered`, which
    /// earlier parts brought.
    pub fn push_part(&mut self, start: u64, mut number: u64, bytes: &[u8], covered: &mut u64) {
        for raw in split(bytes) {
            if start + raw.offset as u64 >= *covered {
                self.note_carriage_return(bytes, &raw);
                self.push(number, raw.bytes);
                self.open_ended = !raw.ended;
            }
            number += raw.ends;
        }
        *covered = (*covered).max(start + bytes.len() as u64);
    }

    /// A `\r` that ends a line by itself comes from a progress bar.
    fn note_carriage_return(&mut self, all: &[u8], raw: &Raw<'_>) {
        let end = raw.offset + raw.bytes.len();
        if all.get(end) == Some(&b'\r') && all.get(end + 1).is_some_and(|next| *next != b'\n') {
            self.repairs.insert(Repair::CarriageReturns);
        }
    }

    /// Adds one line as it was read.
    pub fn push(&mut self, number: u64, bytes: &[u8]) {
        let (text, stray) = encoding::line_text(bytes);
        if stray.is_some() {
            self.stray = stray;
        } else if !text.is_ascii() {
            self.has_utf8 = true;
        }
        self.lines.push(Line { number, text: text.into_owned(), rank: None });
    }

    /// Cleans the lines and makes them a document; the source, its size and the line count are left to the caller.
    pub fn finish(mut self) -> Document {
        // Control characters of the upper half can be bytes of mis-read text, so this goes first.
        if mojibake::repair(&mut self.lines) {
            self.repairs.insert(Repair::Mojibake);
        }
        for line in &mut self.lines {
            clean(line, &mut self.repairs);
        }
        if quoting::strip(&mut self.lines, self.literals) {
            self.repairs.insert(Repair::Quoting);
        }
        if prefix::strip(&mut self.lines) {
            self.repairs.insert(Repair::RankPrefixes);
        }
        self.unpack();
        self.cut();
        let encoding = match (self.charset, self.stray) {
            (Charset::Utf8, Some(stray)) if !self.has_utf8 => stray,
            (charset, _) => charset,
        };
        Document {
            encoding: encoding.name(),
            repairs: self.repairs.into_iter().collect(),
            lines: self.lines,
            open_ended: self.open_ended,
            ..Document::default()
        }
    }

    fn unpack(&mut self) {
        let mut unpacked: Vec<Line> = Vec::new();
        let mut from = 0;
        let mut added = 0usize;
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            if memchr::memchr2(b'\\', b'&', line.text.as_bytes()).is_none() || added > MOST_UNPACKED {
                continue;
            }
            let Some(pieces) = escapes::undo(&line.text, self.literals) else { continue };
            self.repairs.insert(Repair::Escapes);
            added += pieces.len();
            let (number, rank) = (line.number, line.rank);
            unpacked.extend(self.lines[from..at].iter_mut().map(take));
            from = at + 1;
            for text in pieces {
                let mut line = Line { number, text, rank };
                clean(&mut line, &mut self.repairs);
                if prefix::strip_line(&mut line) {
                    self.repairs.insert(Repair::RankPrefixes);
                }
                unpacked.push(line);
            }
        }
        if from > 0 {
            unpacked.extend(self.lines[from..].iter_mut().map(take));
            self.lines = unpacked;
        }
    }

    fn cut(&mut self) {
        if self.lines.iter().all(|line| line.text.len() <= LONGEST_LINE) {
            return;
        }
        self.repairs.insert(Repair::LongLines);
        let lines = std::mem::take(&mut self.lines);
        for line in lines {
            if line.text.len() <= LONGEST_LINE {
                self.lines.push(line);
                continue;
            }
            for (start, end) in kept_of_long(line.text.as_bytes(), self.literals) {
                let (start, end) = (floor(&line.text, start), floor(&line.text, end));
                let text = line.text.get(start..end).unwrap_or_default().to_string();
                self.lines.push(Line { number: line.number, text, rank: line.rank });
            }
        }
    }
}

fn take(line: &mut Line) -> Line {
    Line { number: line.number, text: std::mem::take(&mut line.text), rank: line.rank }
}

fn clean(line: &mut Line, repairs: &mut BTreeSet<Repair>) {
    let (text, found) = terminal::clean(&line.text);
    if let std::borrow::Cow::Owned(text) = text {
        line.text = text;
    }
    if found.escapes {
        repairs.insert(Repair::Ansi);
    }
    if found.control {
        repairs.insert(Repair::ControlBytes);
    }
}

/// The parts of a long line that are kept: both ends and the surroundings of triggers.
fn kept_of_long(bytes: &[u8], literals: &Literals) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = vec![(0, AROUND.min(bytes.len()))];
    let ends = bytes.len().saturating_sub(AROUND);
    let mut hits = Vec::new();
    let _ = literals.search(bytes, |hit| {
        hits.push(hit.at);
        ControlFlow::Continue(())
    });
    hits.sort_unstable();
    for at in hits.into_iter().chain([ends]) {
        let (start, end) = (at.saturating_sub(AROUND), (at + AROUND).min(bytes.len()));
        let start = if at == ends { ends } else { start };
        let more = parts.len() < MOST_PIECES || at == ends;
        match parts.last_mut() {
            Some(last) if start <= last.1 && last.1 - last.0 < LONGEST_LINE => last.1 = last.1.max(end),
            Some(last) if more => {
                let start = start.max(last.1);
                if start < end {
                    parts.push((start, end));
                }
            }
            _ => {}
        }
    }
    parts
}

/// The character boundary at or before an offset.
fn floor(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `grep -n`, sed and editors count `\n` alone: behind a progress bar every cited line was too high.
    #[test]
    fn a_bare_carriage_return_ends_no_line_for_its_number() {
        let mut number = 1;
        let lines: Vec<(u64, String)> = split(b"a\r 50%\r100%\nb\r\nc\n")
            .map(|raw| {
                let own = number;
                number += raw.ends;
                (own, String::from_utf8_lossy(raw.bytes).into_owned())
            })
            .collect();
        let want = [(1, "a"), (1, " 50%"), (1, "100%"), (2, "b"), (3, "c")];
        assert_eq!(lines, want.map(|(number, text)| (number, text.to_string())));
    }
}
