//! The mark with which a program begins its lines, told by how often it stands there: `grid: …` on the message's own
//! line and on others before and behind it, `mesh.c:12  GRID  ERROR …`, `GridVerbose PHYSICS | …`.

use super::head;
use super::line::{Found, is_level};
use super::word::{is_common, is_file, is_proper, is_prose, named};
use super::{AFTER, BEFORE, Way};
use crate::input::Document;

/// Lines that bear a mark before it is one.
const LEAST: usize = 3;
/// Words of a line's front.
const FRONT: usize = 8;

pub(super) fn all(document: &Document, position: usize, found: Found<'_>) {
    let from = position.saturating_sub(BEFORE);
    let end = position.saturating_add(AFTER + 1).min(document.lines.len());
    let mut marks: Vec<(&str, usize, bool)> = Vec::new();
    let mut lines = 0;
    for at in from..end {
        let Some(line) = document.lines.get(at).map(|line| head(&line.text)) else { continue };
        lines += usize::from(!line.trim().is_empty());
        let Some(mark) = mark(line) else { continue };
        match marks.iter_mut().find(|(known, ..)| *known == mark) {
            Some((_, times, own)) => {
                *times += 1;
                *own |= at == position;
            }
            None => marks.push((mark, 1, at == position)),
        }
    }
    // The message's own, or the one that most lines around it bear.
    let most = marks.iter().max_by_key(|(_, times, _)| *times).map(|(mark, ..)| *mark);
    for (mark, times, own) in marks {
        let sure = times * 2 >= lines || times > LEAST && is_proper(mark);
        if times >= LEAST && (own || most == Some(mark) && sure) {
            named(stem(mark)).into_iter().for_each(|program| found(Way::Repeated, program));
        }
    }
}

/// The mark of a line: the word before its level, before the first colon, or before a bar.
fn mark(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().take(FRONT).collect();
    let plain = |word: &str| {
        word.len() >= 3
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+'))
            && !is_file(word)
            && !is_common(word)
            && !is_prose(word)
            && !is_level(word)
    };
    // `mesh.c:12  GRID  ERROR …`
    let graded = words.windows(3).find_map(|three| match three {
        [place, mark, level] => {
            let placed = place.split_once(':').is_some_and(|(file, _)| is_file(file)) || place.ends_with(']');
            let capital = level.len() >= 4 && level.bytes().all(|byte| byte.is_ascii_uppercase());
            (placed && capital && is_level(level) && plain(mark)).then_some(*mark)
        }
        _ => None,
    });
    if graded.is_some() {
        return graded;
    }
    // `grid: …`, with nothing but a stamp before it.
    let first = words.first()?;
    if let Some(name) = first.strip_suffix(':').filter(|name| plain(name)) {
        return words.get(1).is_some().then_some(name);
    }
    // `GridVerbose PHYSICS(1) | …`
    let barred = words.iter().take(4).skip(1).any(|word| *word == "|");
    (barred && is_proper(first) && plain(first)).then_some(*first)
}

/// Without what says that it is a log.
fn stem(mark: &str) -> &str {
    ["Verbose", "Log", "Info", "Debug", "Error"].iter().find_map(|end| mark.strip_suffix(end)).unwrap_or(mark)
}
