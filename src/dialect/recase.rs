//! Lines that a logger or a person put in lower case, with the capitals of known words restored.
//!
//! Readers know their messages by words as printed: `CUDA out of memory. Tried to allocate …`. Where the text around
//! a line has no capital at all, the words of all readers' literals, of the programs' markers and of units are written
//! as they are printed, and the line is read again.

use super::rewrap::Mended;
use crate::domain::Program;
use crate::input::{Document, Line};
use crate::order::InOrder;
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// Lines around that must have no capital, and that are restored with it.
const AROUND: usize = 12;
/// Letters of a line below which nothing tells that it was put in lower case.
const LETTERS: usize = 30;
const LONGEST: usize = 8 << 10;

/// Words of messages beside the readers' literals.
const WORDS: &[&str] = &[
    "GPU",
    "CPU",
    "CUDA",
    "HIP",
    "XPU",
    "NPU",
    "MPS",
    "ROCm",
    "PyTorch",
    "RuntimeError",
    "Error:",
    "MiB",
    "GiB",
    "KiB",
    "TiB",
    "Of the allocated",
    "Process",
    "Including",
    "If reserved",
    "Traceback",
    "File \"",
    "Killed",
    "Out of memory",
];

struct Words {
    search: Option<AhoCorasick>,
    printed: Vec<String>,
}

static KNOWN: LazyLock<Words> = LazyLock::new(|| {
    let markers = Program::LISTED.iter().flat_map(|program| program.markers()).copied();
    let mut printed: Vec<String> = super::literals()
        .into_iter()
        .map(|literal| literal.trim_start_matches("(?i)"))
        .chain(markers)
        .chain(WORDS.iter().copied())
        .filter(|word| word.bytes().any(|byte| byte.is_ascii_uppercase()))
        .map(str::to_string)
        .collect();
    printed.order_by(Ord::cmp);
    printed.dedup();
    let lower: Vec<String> = printed.iter().map(|word| word.to_ascii_lowercase()).collect();
    let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(lower).ok();
    Words { search, printed }
});

fn has_capitals(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// The document around `position` with the capitals of known words; nothing where capitals stand around, or where the
/// line has no such word.
pub(super) fn mended(document: &Document, position: usize) -> Option<Mended> {
    let line = document.lines.get(position)?;
    let letters = line.text.bytes().take(LONGEST).filter(u8::is_ascii_lowercase).count();
    if letters < LETTERS {
        return None;
    }
    let start = position.saturating_sub(AROUND);
    let end = (position + AROUND + 1).min(document.lines.len());
    let lines = document.lines.get(start..end)?;
    if lines.iter().any(|line| has_capitals(&line.text)) {
        return None;
    }
    let lines: Vec<Line> = lines.iter().map(|line| Line { text: restored(&line.text), ..line.clone() }).collect();
    let position = position - start;
    if !lines.get(position).is_some_and(|line| has_capitals(&line.text)) {
        return None;
    }
    let document = document.with_lines(lines, end == document.lines.len());
    Some(Mended { document, position, last: line.number, doubtful: false, joined: false })
}

/// A message as the line has it, where they differ in nothing but capitals.
pub(super) fn as_printed(message: &str, line: &str) -> String {
    let printed = line.to_ascii_lowercase().find(&message.to_ascii_lowercase());
    let printed = printed.and_then(|at| line.get(at..at + message.len()));
    printed.unwrap_or(message).to_owned()
}

fn restored(text: &str) -> String {
    let (Some(search), true) = (&KNOWN.search, text.len() <= LONGEST) else { return text.to_string() };
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for found in search.find_iter(text) {
        let Some(word) = KNOWN.printed.get(found.pattern().as_usize()) else { continue };
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        // `gib` of `gibt` is no unit; a literal may end within a word.
        let short = word.len() < 6;
        let before = text[..found.start()].chars().next_back();
        if short && (before.is_some_and(|c| c.is_ascii_alphabetic()) || inside(text[found.end()..].chars().next())) {
            continue;
        }
        out.push_str(&text[copied..found.start()]);
        out.push_str(word);
        copied = found.end();
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use crate::dialect::{self, Fact};
    use crate::input::Document;

    #[test]
    fn a_message_in_lower_case_is_read_by_its_own_reader() {
        let text = "cuda out of memory. tried to allocate 30.00 mib (gpu 0; 8.00 gib total capacity; 7.02 gib already \
                    allocated; 0 bytes free; 7.26 gib reserved in total by pytorch)\n";
        let events = dialect::events(&Document::from_text("-", text));
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!(event.program.id(), "pytorch");
        assert_eq!(event.facts.get(Fact::Requested).map(|figure| figure.bytes), Some(30 << 20));
        assert_eq!(event.facts.device.value(), Some(0));
    }

    #[test]
    fn what_stands_among_capitals_is_left_as_it_is() {
        let text = "INFO loading\nthe worker that was killed here belongs to somebody else altogether\nINFO done\n";
        assert!(dialect::events(&Document::from_text("-", text)).is_empty());
    }
}
