//! Lines that a terminal or a mail program broke, put together again for readers that look at one line.
//!
//! Most readers join lines themselves where their message may be wrapped ([`super::joined`]). For the others a line
//! that seems broken is read once more as a part of the paragraph that it belongs to: where nothing was found in the
//! line alone, or only by the net.

use super::bare::bare;
use super::field;
use super::joined::begins_with_stamp;
use crate::input::{Document, Line};

/// No terminal is narrower, and nobody wraps at more.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=240;
/// Lines of a paragraph before and behind the one that was hit.
const BACK: usize = 4;
const AHEAD: usize = 7;
/// Lines around a paragraph that tell its width.
const AROUND: usize = 6;
/// Lines around it that are kept for what stands there.
const KEPT_BEFORE: usize = 400;
const KEPT_BEHIND: usize = 200;

/// How a text was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    /// At a column, inside of words.
    AtColumn(usize),
    /// Between words, at a column or before it.
    BetweenWords(usize),
}

/// A document in which the paragraph around a line is one line.
pub(super) struct Mended {
    pub document: Document,
    /// Where that line stands.
    pub position: usize,
    /// The number of the paragraph's last line.
    pub last: u64,
    /// Nothing but its width tells that the line was broken.
    pub doubtful: bool,
    /// Lines were joined as they plausibly were one.
    pub joined: bool,
}

fn width(line: &Line) -> usize {
    line.text.trim_end().chars().count()
}

/// Quote marks and blanks in front of a line are no prefix.
const NO_PREFIX: usize = 4;

/// True for a line of a browser's console, which begins with where in a script it was said: `main.mjs:2603 Uncaught …`.
fn of_a_console(line: &str) -> bool {
    let place = line.split(' ').next().and_then(|word| word.rsplit_once(':'));
    place.is_some_and(|(file, number)| {
        let script = [".js", ".mjs", ".ts", ".json"].iter().any(|end| file.ends_with(end)) || file.contains(".js?");
        script && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// True for a line that is the beginning of a message, whatever stands before it.
fn begins(line: &str) -> bool {
    if of_a_console(line) {
        return true;
    }
    let starts_anew = ["[", "Traceback", "File \"", "Error:", "ERROR", "WARN", "INFO", "***", "---", "==="];
    // A structured record: `{"level": …`, `ts=… level=…`.
    let key = line.split_once('=').map(|(key, _)| key);
    let record = line.starts_with("{\"")
        || key.is_some_and(|key| matches!(key, "ts" | "t" | "time" | "level" | "lvl" | "timestamp" | "severity"));
    // ESP-IDF's level and milliseconds, `E (48351) mem: …`, and Android's level with its tag, `E/mem (`.
    let levelled = line.strip_prefix(['E', 'W', 'I', 'D', 'V', 'F']).is_some_and(|rest| {
        let counted = |rest: &str| rest.split_once(')').is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
        rest.strip_prefix(" (").is_some_and(counted) || rest.starts_with('/') && rest.contains('(')
    });
    // A stamp, a worker's or a container's prefix.
    let prefixed = bare(line).len() + NO_PREFIX < line.trim_start().len();
    line.trim().bytes().all(|byte| byte.is_ascii_digit())
        || record
        || levelled
        || prefixed
        || line.starts_with(char::is_whitespace)
        || starts_anew.iter().any(|start| line.starts_with(start))
}

/// True for a line that begins with its program's name and its level, `nginx: [alert] mmap(…) failed`.
fn tells_its_level(line: &str) -> bool {
    let word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let named = line.split_once(": [").filter(|(name, _)| word(name));
    named.and_then(|(_, rest)| rest.split_once("] ")).is_some_and(|(level, _)| word(level))
}

/// True for a line that a time of day stands in front of: `Mar 02 10:51:42 …`
fn has_clock(line: &str) -> bool {
    const HEAD: usize = 4;
    line.split_whitespace().take(HEAD).any(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit());
        let parts = word.split(':').take_while(|part| part.bytes().take(2).all(|byte| byte.is_ascii_digit()));
        parts.filter(|part| part.len() >= 2).count() >= 3
    })
}

/// Words from which on two lines that begin and end alike are rows of a table.
const OF_A_ROW: usize = 4;

/// True for two rows of a table: as many words, the first and the last the same.
fn rows_of_a_table(line: &str, next: &str) -> bool {
    let ends = |text: &str| {
        let mut words = text.split_whitespace();
        (words.clone().count(), words.next().map(str::to_owned), words.last().map(str::to_owned))
    };
    let row = ends(line);
    row.0 >= OF_A_ROW && row == ends(next)
}

/// True for a line that an exception's class stands at the beginning of.
pub(super) fn begins_with_an_exception(line: &str) -> bool {
    let class = line.split_once(": ").map_or("", |(class, _)| class);
    class.starts_with(|c: char| c.is_ascii_uppercase())
        && class.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && (class.ends_with("Error") || class.ends_with("Exception"))
}

/// True for two lines that begin with the same mark, `err: …`: a broken line has it once.
fn begin_alike(line: &str, next: &str) -> bool {
    let mark = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or_default().to_owned();
        Some(word).filter(|word| word.ends_with([':', ']', '|', '>', ')', '=']) && word.len() > 2)
    };
    // `130604 11:27:18 InnoDB: …` and then `InnoDB: …`: the stamp stands on some of a program's lines.
    const HEAD: usize = 4;
    mark(next).is_some_and(|word| {
        mark(line).as_ref() == Some(&word) || line.split_whitespace().take(HEAD).any(|of| of == word)
    })
}

/// True for a line of a box, `! … !`: whoever drew that has broken the text.
fn is_framed(line: &Line) -> bool {
    let text = line.text.trim();
    ['|', '!'].iter().any(|mark| text.len() > 2 && text.starts_with(*mark) && text.ends_with(*mark))
}

impl Broken {
    /// True where the end of one line was made by the break.
    fn between(self, line: &Line, next: &Line) -> bool {
        // Of a broken line the first part alone bears its rank's mark.
        if next.rank.is_some() && line.rank != next.rank || line.text.trim().is_empty() {
            return false;
        }
        let anew = [begin_alike, rows_of_a_table].iter().any(|alike| alike(&line.text, &next.text))
            || begins_with_an_exception(&next.text)
            || tells_its_level(&next.text)
            // Rust's runtime begins a line with its message.
            || next.text.starts_with("memory allocation of ")
            // What is typed ends where its program speaks.
            || line.text.starts_with("$ ") && ["ERROR", "Error", "FATAL"].iter().any(|word| next.text.starts_with(word))
            || is_framed(line) && is_framed(next);
        if anew || has_clock(&next.text) {
            return false;
        }
        if next.text.starts_with(|c: char| c.is_ascii_digit()) && begins_with_stamp(&next.text) {
            return false;
        }
        // What was broken at a column is nowhere wider.
        let (Broken::AtColumn(column) | Broken::BetweenWords(column)) = self;
        if width(next) > column {
            return false;
        }
        let long = width(line);
        match self {
            // A blank that stood at the break is gone with the end of the line.
            Broken::AtColumn(column) => long == column || long + 1 == column && !next.text.starts_with(' '),
            Broken::BetweenWords(column) => {
                // A number that goes on was not broken between words.
                let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
                if line.text.trim_end().ends_with(number) && next.text.starts_with(number) {
                    return false;
                }
                // A shell breaks what is typed at its last column.
                if line.text.starts_with("$ ") || field::behind_a_folder(&line.text).is_some() {
                    return false;
                }
                let word = next.text.split_whitespace().next().map_or(0, |word| word.chars().count());
                long <= column && long + 1 + word > column && !begins(&next.text)
            }
        }
    }

    fn glue(self, line: &Line) -> &'static str {
        match self {
            Broken::AtColumn(column) if width(line) == column => "",
            _ => " ",
        }
    }
}

/// A paragraph as one line.
pub(super) struct Paragraph {
    pub text: String,
    first: usize,
    last: usize,
    doubtful: bool,
    /// It was broken at a column that others were broken at, or between words, or goes on as no line begins.
    pub plausible: bool,
}

/// The documents in which the paragraph around `position` is one line, as far as it seems broken: at a column first.
pub(super) fn mended(document: &Document, position: usize) -> impl Iterator<Item = Mended> {
    paragraphs(document, position).filter_map(move |paragraph| whole(document, paragraph))
}

/// The paragraphs that the line at `position` may be a part of: one broken at a column first.
pub(super) fn paragraphs(document: &Document, position: usize) -> impl Iterator<Item = Paragraph> {
    let from = position.saturating_sub(AROUND);
    let to = (position + AROUND + 1).min(document.lines.len());
    let lines = document.lines.get(from..to).unwrap_or_default();
    let widest = lines.iter().map(width).max().unwrap_or(0);
    let near = |at: usize| document.lines.get(at).map_or(0, width);
    // The paragraph's own width may be less than that of a longer line somewhere around.
    let own = [near(position), position.checked_sub(1).map_or(0, near)].into_iter().max().unwrap_or(0);
    let again = |column: usize| lines.iter().filter(|line| width(line) == column).count() > 1;
    let ways = [
        Some((Broken::AtColumn(own), true)).filter(|_| again(own)),
        Some((Broken::BetweenWords(widest), true)),
        Some((Broken::AtColumn(own), false)).filter(|_| own == widest && !again(own)),
    ];
    ways.into_iter().flatten().filter_map(move |(way, proved)| {
        let paragraph = put_together(document, position, way)?;
        let plausible = proved || paragraph.plausible;
        Some(Paragraph { doubtful: paragraph.doubtful || !proved, plausible, ..paragraph })
    })
}

/// One way of putting the paragraph together.
fn put_together(document: &Document, position: usize, way: Broken) -> Option<Paragraph> {
    let (Broken::AtColumn(column) | Broken::BetweenWords(column)) = way;
    if !WIDTHS.contains(&column) {
        return None;
    }
    let line = |at: usize| document.lines.get(at);
    let seam = |at: usize| line(at).zip(line(at + 1)).is_some_and(|(one, next)| way.between(one, next));
    let mut first = position;
    while first > 0 && position - first < BACK && seam(first - 1) {
        first -= 1;
    }
    let mut last = position;
    while last < position + AHEAD && seam(last) {
        last += 1;
    }
    if first == last {
        return None;
    }
    let mut text = line(first)?.text.clone();
    for at in first + 1..=last {
        let glue = way.glue(line(at - 1)?);
        let kept = text.trim_end().len();
        text.truncate(kept);
        text.push_str(glue);
        text.push_str(line(at)?.text.trim_start_matches(if glue.is_empty() { '\0' } else { ' ' }));
    }
    // What goes on in lower case, with a number or behind a bracket is no beginning.
    let goes_on = |at: usize| {
        let start = line(at).and_then(|line| line.text.chars().next());
        start.is_some_and(|c| !c.is_uppercase() && (c.is_alphanumeric() || matches!(c, '(' | ',' | '.' | ')' | '/')))
    };
    let plausible = (first + 1..=last).all(goes_on);
    let doubtful = matches!(way, Broken::BetweenWords(_)) && !plausible;
    Some(Paragraph { text, first, last, doubtful, plausible })
}

/// The document in which a paragraph is one line.
fn whole(document: &Document, paragraph: Paragraph) -> Option<Mended> {
    let Paragraph { text, first, last, doubtful, plausible } = paragraph;
    let line = |at: usize| document.lines.get(at);
    let whole = Line { text, ..line(first)?.clone() };
    let start = first.saturating_sub(KEPT_BEFORE);
    let end = (last + 1 + KEPT_BEHIND).min(document.lines.len());
    let mut lines = document.lines.get(start..first)?.to_vec();
    lines.push(whole);
    lines.extend_from_slice(document.lines.get(last + 1..end)?);
    let mended = document.with_lines(lines, end == document.lines.len());
    Some(Mended { document: mended, position: first - start, last: line(last)?.number, doubtful, joined: plausible })
}
