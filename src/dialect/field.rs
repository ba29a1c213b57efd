//! Reading labelled values out of one message, without regular expressions.

use crate::dialect::Event;
use crate::dialect::joined::Joined;
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{self, Base, Figure, Locale, Size};
use std::borrow::Cow;

/// What stands behind the first `label`, leading blanks removed.
pub fn after<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.find(label).map(|start| text[start + label.len()..].trim_start())
}

/// The digits that `text` begins with, as a number; `None` when it begins with something else or does not fit.
pub fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let numeral = units::numeral(text, Locale::Unknown);
    // `9,682` is nine thousand or the first two of a list.
    if numeral.is_some_and(|numeral| numeral.ambiguous) {
        return None;
    }
    // `6 079 635 171`, `6,079,635,171`
    let grouped = numeral.filter(|numeral| numeral.decimals == 0 && numeral.length > end && end > 0);
    match grouped.filter(|numeral| text[..numeral.length].bytes().all(|byte| !byte.is_ascii_alphabetic())) {
        Some(numeral) => numeral.whole(),
        None => text[..end].parse().ok(),
    }
}

/// The number behind the first `label` that has one.
pub fn number_after(text: &str, label: &str) -> Option<u64> {
    let mut rest = text;
    while let Some(tail) = after(rest, label) {
        if let Some(number) = leading_number(tail) {
            return Some(number);
        }
        rest = tail;
    }
    None
}

/// As [`number_after`], with a sign.
pub fn signed_after(text: &str, label: &str) -> Option<i64> {
    let tail = after(text, label)?;
    match tail.strip_prefix('-') {
        Some(digits) => leading_number(digits).and_then(|n| i64::try_from(n).ok()).map(|n| -n),
        None => leading_number(tail).and_then(|n| i64::try_from(n).ok()),
    }
}

/// The size behind `label`: a number, then a unit word that may be set off by a blank.
pub fn size_after(text: &str, label: &str, base: Base) -> Option<Size> {
    leading_size(after(text, label)?, base)
}

/// The size that `text` begins with, such as `9.1 GB of …` or `512Mi`; a number without a unit counts bytes.
pub fn leading_size(text: &str, base: Base) -> Option<Size> {
    let numeral = units::numeral(text, Locale::Unknown)?;
    let (number, rest) = text.split_at(numeral.length);
    // `512. GiB`
    let rest = rest.strip_prefix('.').filter(|rest| rest.starts_with(' ')).unwrap_or(rest).trim_start();
    match units::unit_in_front(rest) {
        Some((_, unit)) => {
            units::size(number, unit, base).or_else(|| units::size_in(number, unit, base, Locale::of(text)))
        }
        None => units::size(number, "", base),
    }
}

/// An exact figure of whole units, such as the kernel's `kB`, which it computes from pages without rounding.
pub fn exactly(number: u64, unit: u64, at: Span) -> Option<Figure> {
    Some(Figure { bytes: number.checked_mul(unit)?, half_width: 0, at })
}

/// `torch.OutOfMemoryError: …` at the start of a line.
pub fn is_exception(text: &str) -> bool {
    let Some((class, _)) = text.split_once(':') else { return false };
    let name = class.rsplit('.').next().unwrap_or(class);
    ["Error", "Exception", "Interrupt", "Exit"].iter().any(|end| name.ends_with(end) && name.len() > end.len())
        && class.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
}

/// Longest message kept with an event, in characters.
const LONGEST_MESSAGE: usize = 600;

/// A line as a reader would quote it: blanks squeezed, nothing longer than a screen.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > LONGEST_MESSAGE * 4 {
            break;
        }
    }
    match out.char_indices().nth(LONGEST_MESSAGE) {
        Some((cut, _)) => {
            out.truncate(cut);
            out + "…"
        }
        None => out,
    }
}

/// The text of a kept line, or nothing past the end.
pub fn text(document: &Document, position: usize) -> &str {
    document.lines.get(position).map_or("", |line| line.text.as_str())
}

/// The number of a kept line; of the last one for a position past the end.
pub fn number(document: &Document, position: usize) -> u64 {
    document.lines.get(position).or(document.lines.last()).map_or(1, |line| line.number)
}

/// Positions before `position`, nearest first, at most `count`.
pub fn before(position: usize, count: usize) -> impl Iterator<Item = usize> {
    (position.saturating_sub(count)..position).rev()
}

/// Positions behind `position`, at most `count`.
pub fn behind(document: &Document, position: usize, count: usize) -> std::ops::Range<usize> {
    let end = position.saturating_add(1).saturating_add(count).min(document.lines.len());
    (position + 1).min(end)..end
}

/// `count` lines from `position` on as one, a blank between them: mends a message that an editor wrapped between words.
pub fn unwrapped(document: &Document, position: usize, count: usize) -> String {
    let mut out = String::new();
    for line in document.lines.iter().skip(position).take(count) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(line.text.trim());
    }
    out
}

/// Up to `count` lines from `position` on, joined without white space.
pub fn joined(document: &Document, position: usize, count: usize) -> Joined {
    let end = position.saturating_add(count).min(document.lines.len());
    Joined::of(document.lines.get(position..end).unwrap_or_default(), 0).within(document)
}

/// Starts an event on one line, quoting it.
pub fn event(
    document: &Document,
    position: usize,
    dialect: &'static str,
    program: Program,
    resource: crate::dialect::Resource,
) -> Event {
    let mut event = Event::new(dialect, program, resource, Span::line(number(document, position)));
    event.message = quoted(text(document, position));
    event.rank = document.lines.get(position).and_then(|line| line.rank);
    event
}

/// Notes the process that died.
pub fn note_pid(event: &mut Event, pid: Option<u64>) {
    if let Some(pid) = pid {
        let at = event.at;
        event.facts.pid.note(pid, at);
    }
}

/// Notes a count or ratio.
pub fn note_number(event: &mut Event, number: Number, value: Option<f64>) {
    if let Some(value) = value {
        let at = event.at;
        event.facts.numbers.entry(number).or_insert((value, at));
    }
}

/// What is typed behind the prompt of Windows, which is the folder: `(env) C:\work>python train.py`.
pub fn behind_a_folder(text: &str) -> Option<&str> {
    let prompt = text.split_once(") ").filter(|_| text.starts_with('(')).map_or(text, |(_, prompt)| prompt);
    let (folder, command) = prompt.split_once('>')?;
    let (drive, rest) = folder.trim_start_matches("PS ").split_once(":\\")?;
    let drive = drive.len() == 1 && drive.bytes().all(|b| b.is_ascii_alphabetic());
    (drive && rest.len() < 160).then(|| command.trim_start())
}

/// A line in lower case in which the month of `May  3 21:02:11`, `3 May 2024` is no longer the word that supposes.
pub fn without_month(lower: &str) -> Cow<'_, str> {
    const MAY: &str = "may ";
    let month = |at: usize| {
        let starts = !lower[..at].ends_with(char::is_alphanumeric);
        starts && lower[at + MAY.len()..].trim_start().starts_with(|c: char| c.is_ascii_digit())
    };
    let mut months = lower.match_indices(MAY).map(|(at, _)| at).filter(|at| month(*at)).peekable();
    if months.peek().is_none() {
        return Cow::Borrowed(lower);
    }
    let mut dated = lower.to_owned();
    months.for_each(|at| dated.replace_range(at..at + MAY.len(), "mai "));
    Cow::Owned(dated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labelled_values() {
        assert_eq!(number_after("worker (pid 4711) is", "(pid"), Some(4711));
        assert_eq!(number_after("pid x pid: 7", "pid"), None);
        assert_eq!(number_after("pid x pid 7", "pid"), Some(7));
        assert_eq!(signed_after("exitcode  : -9 (pid: 3)", "exitcode  :"), Some(-9));
        assert_eq!(size_after("memory:  25Mi", "memory:", Base::Decimal).map(|s| s.bytes), Some(25 << 20));
        assert_eq!(leading_size("9.5 GB of 10 GB", Base::Binary).map(|s| s.bytes), Some(10_200_547_328));
        assert_eq!(leading_number("99999999999999999999999"), None);
        assert_eq!(leading_number("6 079 635 171)"), Some(6_079_635_171));
        assert_eq!(quoted("  a \t b  "), "a b");
        assert_eq!(quoted(&"é".repeat(700)).chars().count(), 601);
    }
}
