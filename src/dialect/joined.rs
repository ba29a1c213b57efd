//! Several lines read as one text, so that tears, wraps and blanks do no harm.
//!
//! Terminals wrap messages, chat clients tear them, mail quotes them, and figures come as `3.23            GiB` or
//! `30.` / `81 MiB`. A [`Joined`] holds the same lines with all white space removed, and knows for each byte of that
//! text where it stood, so that a figure found in it has its line.

use crate::evidence::Span;
use crate::input::{Document, Line};
use crate::units::{self, Base, Figure, Numeral};

/// At most this many bytes of a message are looked at: the longest known one (PyTorch with a list of processes) has 4
/// KiB.
const LONGEST: usize = 16 << 10;

/// Lines without their white space, with the way back to where each byte stood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Joined {
    /// The text without any white space, and without the backslash of a shell-like line continuation.
    /// Case is as printed; control characters that are no white space are kept.
    pub squeezed: String,
    /// The text with white space collapsed to single blanks.
    readable: String,
    /// For each byte of `squeezed` the offset of the same byte in `readable`.
    places: Vec<u32>,
    /// Where each line starts in `squeezed`, with its number.
    starts: Vec<(usize, u64)>,
    /// For each line whether the end of the one before may fall inside a number.
    seams: Vec<Seam>,
    /// True where the last line has no end: it may have been cut.
    open: bool,
}

/// What the end of one line and the beginning of the next tell of a number that stands on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seam {
    /// The next line begins with a time, a date or a prefix: the number ends with its line.
    Whole,
    /// The line is as wide as another one and none is wider: a terminal broke it.
    Torn,
    /// Nothing shows it.
    Unproved,
}

impl Seam {
    fn between(before: &Line, next: &Line, widths: &[usize], width: usize) -> Seam {
        // A line without its rank's mark may be the rest of one that has it.
        let other = before.rank != next.rank && next.rank.is_some();
        if other || begins_with_stamp(&next.text) {
            return Seam::Whole;
        }
        let widest = widths.iter().max().is_some_and(|widest| *widest == width);
        let again = widths.iter().filter(|other| **other == width).count() > 1;
        if widest && again && width >= NARROWEST { Seam::Torn } else { Seam::Unproved }
    }
}

/// No unit has more bytes.
const LONGEST_UNIT: usize = 16;

/// No terminal is narrower.
const NARROWEST: usize = 20;

/// True for a line that begins with a time, a date, a count of milliseconds or seconds, a bracket, or a number that is
/// followed by what follows no part of a size.
pub(super) fn begins_with_stamp(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return !line.starts_with(['.', ',']);
    }
    let rest = line.as_bytes().get(digits..).unwrap_or_default();
    let digit_behind = rest.get(1).is_some_and(u8::is_ascii_digit);
    match rest.first() {
        Some(b':' | b'-' | b'/') => true,
        // `0.00.012.345 I …` and `12.345.678 …` count time; a number has one point.
        Some(b'.') if digit_behind => {
            let decimals = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
            rest.get(decimals + 1) == Some(&b'.') && rest.get(decimals + 2).is_some_and(u8::is_ascii_digit)
        }
        Some(b'm') => rest.starts_with(b"ms"),
        Some(b'|' | b']' | b'%' | b'=' | b'#') => true,
        // `10[MGR] …`: strongSwan's threads.
        Some(b'[') => rest.get(1).is_some_and(u8::is_ascii_uppercase),
        // `20915569   ERROR   memory.cpp:68 …`: a counter of milliseconds before the record's level.
        Some(b' ' | b'\t') => {
            let level = line.get(digits..).unwrap_or_default().trim_start();
            ["ERROR", "FATAL", "WARN", "INFO", "DEBUG", "TRACE"].iter().any(|word| level.starts_with(word))
        }
        _ => false,
    }
}

/// What stands at a place where a size was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Size(Figure),
    /// A number with a unit that can be no size: it lies within a GiB of 2^64 or above, an underflow or "not
    /// available".
    Unreadable(Span),
}

impl Joined {
    /// Joins lines, leaving out the first `skip` bytes of the first one; what lies beyond 16 KiB is left out as well.
    /// A `skip` that is no character boundary is moved forward to the next one.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>, skip: usize) -> Joined {
        let mut joined = Joined::default();
        let lines: Vec<&Line> = lines.into_iter().collect();
        let width = |line: &&Line| line.text.trim_end().chars().take(LONGEST).count();
        let widths: Vec<usize> = if lines.len() > 1 { lines.iter().map(width).collect() } else { Vec::new() };
        let before = std::iter::once(Seam::Whole);
        let between =
            lines.windows(2).zip(&widths).map(|(pair, width)| Seam::between(pair[0], pair[1], &widths, *width));
        joined.seams = before.chain(between).collect();
        for (i, line) in lines.into_iter().enumerate() {
            let mut text = line.text.as_str();
            if i == 0 {
                let from = (skip..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
                text = &text[from..];
            }
            let text = text.trim_end().trim_end_matches('\\');
            joined.starts.push((joined.squeezed.len(), line.number));
            let mut gap = !joined.readable.is_empty();
            for c in text.chars() {
                if c.is_whitespace() {
                    gap = true;
                    continue;
                }
                if gap && !joined.readable.is_empty() && !joined.readable.ends_with(' ') {
                    joined.readable.push(' ');
                }
                gap = false;
                for byte in 0..c.len_utf8() {
                    joined.places.push((joined.readable.len() + byte) as u32);
                }
                joined.readable.push(c);
                joined.squeezed.push(c);
                if joined.squeezed.len() >= LONGEST {
                    return joined;
                }
            }
        }
        joined
    }

    /// The number of the line that the byte at `offset` of the squeezed text stood on.
    pub fn line_at(&self, offset: usize) -> u64 {
        let after = self.starts.partition_point(|(start, _)| *start <= offset);
        self.starts.get(after.saturating_sub(1)).map_or(0, |(_, number)| *number)
    }

    /// The lines that the bytes `from .. to` of the squeezed text stood on.
    pub fn span(&self, from: usize, to: usize) -> Span {
        Span::lines(self.line_at(from), self.line_at(to.saturating_sub(1).max(from)))
    }

    /// The bytes `from .. to` of the squeezed text as they read in print, white space collapsed, cut with an ellipsis
    /// after `longest` characters.
    pub fn readable(&self, from: usize, to: usize, longest: usize) -> String {
        let place = |offset: usize| self.places.get(offset).map_or(self.readable.len(), |p| *p as usize);
        let (from, to) = (place(from), place(to));
        let text = self.readable.get(from..to.max(from)).unwrap_or_default().trim();
        match text.char_indices().nth(longest) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text.to_string(),
        }
    }

    /// Where `needle` (written without blanks) starts at or after `from`.
    pub fn find(&self, needle: &str, from: usize) -> Option<usize> {
        self.squeezed.get(from..)?.find(needle).map(|at| from + at)
    }

    /// Where `needle` starts, if that is before `limit`; it may reach beyond.
    pub fn find_starting_before(&self, needle: &str, limit: usize) -> Option<usize> {
        let end = limit.saturating_add(needle.len()).min(self.squeezed.len());
        let end = (end..=self.squeezed.len()).find(|at| self.squeezed.is_char_boundary(*at))?;
        self.squeezed[..end].find(needle).filter(|at| *at < limit)
    }

    /// Where the second of the joined lines starts; the end of the text if there is none.
    pub fn end_of_first_line(&self) -> usize {
        self.starts.get(1).map_or(self.squeezed.len(), |(start, _)| *start)
    }

    /// Where the line after the first `count` ones starts; the end of the text if there are no more.
    pub fn end_of_lines(&self, count: usize) -> usize {
        self.starts.get(count).map_or(self.squeezed.len(), |(start, _)| *start)
    }

    /// Where `needle` ends, for reading what follows it.
    pub fn after(&self, needle: &str, from: usize) -> Option<usize> {
        self.find(needle, from).map(|at| at + needle.len())
    }

    pub fn contains(&self, needle: &str) -> bool {
        self.squeezed.contains(needle)
    }

    /// The size that starts at `offset`, such as `64.12MiB` or `0bytes`, with the offset after it.
    /// A unit is needed: a bare number is no size.
    pub fn size_at(&self, offset: usize, base: Base) -> Option<(Printed, usize)> {
        let (printed, after) = self.any_size_at(offset, base)?;
        Some(match printed {
            Printed::Size(figure) if figure.bytes >= ALMOST_ALL_ONES => (Printed::Unreadable(figure.at), after),
            printed => (printed, after),
        })
    }

    /// As [`Joined::size_at`], however large.
    fn any_size_at(&self, offset: usize, base: Base) -> Option<(Printed, usize)> {
        let (numeral, end) = self.numeral_at(offset)?;
        let (unit, after) = self.unit_at(end)?;
        let at = self.span(offset, after);
        let size = numeral.and_then(|_| self.product(offset, end, unit, base));
        Some((size.map_or(Printed::Unreadable(at), |size| Printed::Size(size.at(at))), after))
    }

    /// The size that starts at `offset`, however large, where a bare number counts bytes.
    pub fn size_or_bytes_at(&self, offset: usize, base: Base) -> Option<(Printed, usize)> {
        if let Some(found) = self.any_size_at(offset, base) {
            return Some(found);
        }
        let (numeral, end) = self.numeral_at(offset)?;
        let at = self.span(offset, end);
        // Blanks between groups of digits, a fraction of a byte, a number cut off: no count of bytes.
        let blank_group = self.squeezed[end..].starts_with(|c: char| c.is_ascii_digit())
            && self.starts.iter().all(|(start, _)| *start != end);
        let bytes = numeral.and_then(|numeral| numeral.whole());
        let bytes = bytes.filter(|_| !blank_group && !self.cut_at(end) && !self.torn_at(end));
        Some(match bytes {
            Some(bytes) => (Printed::Size(Figure { bytes, half_width: 0, at }), end),
            None => (Printed::Unreadable(at), end),
        })
    }

    /// The number that starts at `offset`, counted in a unit that its label tells, with the offset after it.
    pub fn number_of(&self, offset: usize, unit: &str, base: Base) -> Option<(Figure, usize)> {
        let (numeral, end) = self.numeral_at(offset)?;
        numeral.filter(|_| !self.cut_at(end))?;
        let size = self.product(offset, end, unit, base)?;
        Some((size.at(self.span(offset, end)), end))
    }

    /// The same text, told whether its input breaks off within the last line.
    pub fn within(mut self, document: &Document) -> Joined {
        let last = document.lines.last().map(|line| line.number);
        self.open = document.open_ended && self.starts.last().map(|(_, number)| *number) == last;
        self
    }

    /// The number that starts at `offset` and where it ends; no number where it may go on behind the end of a line.
    fn numeral_at(&self, offset: usize) -> Option<(Option<Numeral>, usize)> {
        let rest = self.squeezed.get(offset..)?;
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let in_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_' | '\'');
        let mut end = offset;
        let mut doubtful = false;
        let mut broken_off = false;
        let mut groups = 0;
        let hex = rest.starts_with("0x");
        for (i, c) in rest.char_indices() {
            let at = offset + i;
            if i > 0 && !self.adjoins(at) {
                let before = self.squeezed[..at].chars().next_back().unwrap_or(' ');
                if !in_number(c) || !(in_number(before)) {
                    break;
                }
                match self.starts.iter().position(|(start, _)| *start == at) {
                    // `30.` and `81 MiB` are one number: no sentence ends in a number without its unit.
                    Some(line) => match self.seams.get(line) {
                        Some(Seam::Torn) => {}
                        Some(Seam::Unproved) if matches!(before, '.' | ',') || matches!(c, '.' | ',') => {
                            let unit = rest[i..].find(|c: char| !in_number(c)).map(|to| &rest[i + to..]);
                            if c.is_ascii_digit() == before.is_ascii_digit()
                                || unit.is_none_or(|unit| units::unit_in_front(unit).is_none())
                            {
                                // `41.` and `5,`: decimals that stand on the next line.
                                broken_off = before == '.' && c.is_ascii_digit();
                                break;
                            }
                        }
                        // No number begins with two digits of which the first is 0.
                        Some(Seam::Unproved)
                            if c == '0'
                                && rest[i + 1..].starts_with(|c: char| c.is_ascii_digit())
                                && self.adjoins(at + 1) => {}
                        Some(Seam::Unproved) => {
                            doubtful = c.is_ascii_digit() && before.is_ascii_digit();
                            break;
                        }
                        _ => break,
                    },
                    // `1 234 567`: groups of three digits, two of them at least.
                    None => {
                        let digits = rest[i..].bytes().enumerate();
                        let group =
                            digits.take_while(|(k, b)| b.is_ascii_digit() && (*k == 0 || self.adjoins(at + k))).count();
                        if group != 3 || groups == 0 && (!self.another_group(at + 3) || i > 3) {
                            break;
                        }
                        groups += 1;
                    }
                }
            } else if i > 0 && !in_number(c) && !(hex && (c.is_ascii_hexdigit() || i == 1)) {
                // An exponent belongs to the number; `numeral` reads as far as it goes.
                let exponent = matches!(c, 'e' | 'E') || matches!(c, '+' | '-') && rest[..i].ends_with(['e', 'E']);
                if !exponent {
                    break;
                }
            }
            end = at + c.len_utf8();
        }
        if groups > 0 {
            let digits = self.squeezed[offset..end].parse().ok()?;
            let numeral = Numeral { length: end - offset, digits, decimals: 0, ambiguous: false };
            return Some((Some(numeral), end));
        }
        let text = &self.squeezed[offset..end];
        match units::numeral(text, units::Locale::Unknown) {
            Some(mut numeral) => {
                // NumPy's `512. GiB`.
                let point = text.len() == numeral.length + 1 && text.ends_with('.') && !self.adjoins(end);
                if point && units::unit_in_front(&self.squeezed[end..]).is_some() {
                    numeral.length += 1;
                }
                let length = numeral.length;
                let sure = !broken_off && (!doubtful || length < text.len());
                Some((sure.then_some(numeral), offset + length))
            }
            None => {
                let digits = text.bytes().take_while(|b| in_number(char::from(*b))).count();
                Some((None, offset + digits))
            }
        }
    }

    /// True where a group of three digits set off by a blank starts at `at`.
    fn another_group(&self, at: usize) -> bool {
        let Some(rest) = self.squeezed.get(at..) else { return false };
        !self.adjoins(at)
            && self.starts.iter().all(|(start, _)| *start != at)
            && rest.len() >= 3
            && rest.bytes().take(3).all(|b| b.is_ascii_digit())
            && (1..3).all(|k| self.adjoins(at + k))
    }

    /// True where no white space stood in front of the byte at `offset`.
    fn adjoins(&self, offset: usize) -> bool {
        let place = |offset: usize| self.places.get(offset).copied();
        match (offset.checked_sub(1).and_then(place), place(offset)) {
            (Some(before), Some(here)) => here == before + 1,
            _ => true,
        }
    }

    /// True where another writer's line begins within a number: `46[StatusCode …`, without a blank.
    pub fn torn_at(&self, offset: usize) -> bool {
        let rest = self.squeezed.get(offset..).unwrap_or_default();
        let behind = rest.strip_prefix('[').unwrap_or(rest);
        self.adjoins(offset) && behind.starts_with(|c: char| c.is_alphabetic())
    }

    /// True where the text breaks off: nothing follows `offset`, and the input has no end of line there.
    fn cut_at(&self, offset: usize) -> bool {
        self.open && offset >= self.squeezed.len()
    }

    /// The unit that starts at `offset` and where it ends.
    fn unit_at(&self, offset: usize) -> Option<(&str, usize)> {
        let rest = self.squeezed.get(offset..)?;
        // A unit of one letter may be followed by a word that was set off by a blank; the end of a line may tear a
        // unit.
        let gap = |at: &usize| !self.adjoins(*at);
        let blank = |at: &usize| gap(at) && self.starts.iter().all(|(start, _)| start != at);
        let until = |ends: &dyn Fn(&usize) -> bool| {
            let end = (offset + 1..offset + rest.len().min(LONGEST_UNIT))
                .find(|at| ends(at))
                .unwrap_or(offset + LONGEST_UNIT);
            rest.get(..end - offset).or_else(|| rest.get(..).filter(|_| end - offset >= rest.len()))
        };
        let (_, unit) = until(&blank)
            .and_then(units::unit_in_front)
            .or_else(|| units::unit_in_front(until(&gap)?))
            .or_else(|| units::unit_in_front(rest))?;
        let end = offset + unit.len();
        // The first letters of a unit at the end of a text that breaks off.
        (!self.cut_at(end) || unit.ends_with(['B', 'b', 's', 'e'])).then_some((unit, end))
    }

    /// The number that stands between two offsets times a unit. What can be read in two ways is told by the other
    /// figures of the text.
    fn product(&self, from: usize, to: usize, unit: &str, base: Base) -> Option<units::Size> {
        let number = self.squeezed.get(from..to)?;
        // `9.102 MB` is nine of them, unless the other figures have a comma before their decimals.
        let grouped = number.split_once('.').is_some_and(|(whole, rest)| whole.len() <= 3 && rest.len() == 3);
        let of_text = || units::size_in(number, unit, base, units::Locale::of(&self.squeezed));
        if grouped { of_text() } else { units::size(number, unit, base).or_else(of_text) }
    }

    /// The decimal number that starts at `offset`, such as a share of the device, with the offset after it.
    pub fn decimal_at(&self, offset: usize) -> Option<(f64, usize)> {
        let (numeral, end) = self.numeral_at(offset)?;
        let numeral = numeral?;
        Some((numeral.digits as f64 / 10f64.powi(numeral.decimals as i32), end))
    }

    /// The size that ends at `end` (the offset after its unit), with the offset of its first digit.
    pub fn size_before(&self, end: usize, base: Base) -> Option<(Printed, usize)> {
        let text = self.squeezed.get(..end)?;
        let unit = (1..=text.len().min(9)).rev().find_map(|length| {
            let word = text.get(text.len() - length..)?;
            word.starts_with(char::is_alphabetic).then(|| units::unit_in_front(word)).flatten().filter(|(_, unit)| {
                unit.len() == length && text[..text.len() - length].ends_with(|c: char| c.is_ascii_digit())
            })
        });
        let number = &text[..end - unit?.1.len()];
        let length = number.bytes().rev().take_while(|b| b.is_ascii_digit() || *b == b'.' || *b == b',').count();
        let mut start = number.len() - length;
        // White space in front of it, or a line that was not torn, ends the number; where that is not sure, so is
        // nothing.
        for at in (start + 1..number.len()).rev() {
            if self.adjoins(at) || self.numeral_at(start).is_some_and(|(_, end)| end == number.len()) {
                continue;
            }
            let line = self.starts.iter().position(|(start, _)| *start == at);
            if line.is_some_and(|line| self.seams.get(line) != Some(&Seam::Whole)) {
                let whole = self.numeral_at(at).is_some_and(|(_, end)| end == number.len());
                if !whole || self.numeral_at(start).is_some_and(|(numeral, _)| numeral.is_none()) {
                    return None;
                }
            }
            start = at;
            break;
        }
        start += number[start..].find(|c: char| c.is_ascii_digit())?;
        // `5.  File "…/fu06 MiB free`: another process's words stand where the number began.
        if number[..start].ends_with(|c: char| c.is_ascii_alphabetic()) && self.adjoins(start) {
            return None;
        }
        // `; 7.7(EngineCore pid=883) ERROR …` and `5 MiB free` on the next line: the list's own number was torn.
        let item = number[..start].rsplit_once(';').map(|(_, item)| item);
        if item.is_some_and(|item| item.starts_with(|c: char| c.is_ascii_digit())) {
            return None;
        }
        self.size_at(start, base).filter(|(_, after)| *after == end).map(|(printed, _)| (printed, start))
    }

    /// The whole number that starts at `offset`, with the offset after it. Marks between groups of digits are passed
    /// over where there are several, and in a figure in kB; elsewhere a comma ends the number.
    pub fn count_at(&self, offset: usize) -> Option<(u64, usize)> {
        let (numeral, end) = self.numeral_at(offset)?;
        let kilobytes = self.squeezed.get(end..).is_some_and(|rest| rest.starts_with("kB"));
        let sure = |numeral: &Numeral| kilobytes || !numeral.ambiguous && numeral.decimals == 0;
        if let Some(count) = numeral.filter(sure).and_then(|numeral| numeral.whole()) {
            return Some((count, end));
        }
        let rest = self.squeezed.get(offset..end)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if numeral.is_none() && digits == rest.len() || self.cut_at(offset + digits) {
            return None;
        }
        rest[..digits].parse().ok().map(|count| (count, offset + digits))
    }
}

/// From 17179869183 GiB on a figure is 2^64 minus something.
const ALMOST_ALL_ONES: u64 = 17_179_869_183 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Joined {
        Joined::of(&Document::from_text("-", text).lines, 0)
    }

    #[test]
    fn digits_grouped_by_commas_are_one_number_in_kb_only() {
        let joined = |text: &str| Joined::of(&[Line { number: 1, text: text.to_string(), rank: None }], 0);
        assert_eq!(joined("9,184,840kB, anon").count_at(0), Some((9_184_840, 9)));
        assert_eq!(joined("7899,uid=0").count_at(0), Some((7899, 4)));
        assert_eq!(joined("12kB,13kB").count_at(0), Some((12, 2)));
    }

    #[test]
    fn a_torn_figure_is_whole_and_knows_its_lines() {
        let text = joined("Tried to allocate 30.\n81 MiB; 3.23            GiB\tfree \\\n; 0 bytes");
        let from = text.after("allocate", 0).unwrap();
        let (Printed::Size(figure), end) = text.size_at(from, Base::Binary).unwrap() else { panic!() };
        assert_eq!((figure.bytes, figure.at), (32_306_627, Span::lines(1, 2)));
        assert_eq!(&text.squeezed[end..], ";3.23GiBfree;0bytes");
        assert_eq!(text.readable(0, end, 100), "Tried to allocate 30. 81 MiB");
        let (Printed::Size(free), _) = text.size_before(text.find("free", 0).unwrap(), Base::Binary).unwrap() else {
            panic!()
        };
        assert_eq!((free.bytes, free.at), (3_468_186_092, Span::line(2)));
        let (Printed::Size(none), _) = text.size_at(text.after("free;", 0).unwrap(), Base::Binary).unwrap() else {
            panic!()
        };
        assert_eq!((none.bytes, none.at), (0, Span::line(3)));
    }

    fn bytes_behind(text: &str, words: &str) -> Option<u64> {
        let document = Document::from_text("-", text);
        let joined = Joined::of(&document.lines, 0).within(&document);
        match joined.size_or_bytes_at(joined.after(words, 0)?, Base::Binary)? {
            (Printed::Size(figure), _) => Some(figure.bytes),
            (Printed::Unreadable(_), _) => None,
        }
    }

    #[test]
    fn a_figure_at_the_end_of_a_line_is_not_glued_to_the_next_lines_time() {
        for next in ["2025-03-01 10:00:00 x", "10:00:00.123 x", "0.00.825.031 I x", "[10] x", "llama: 7"] {
            assert_eq!(
                bytes_behind(&format!("buffer of size 40383193088\n{next}\n"), "size"),
                Some(40_383_193_088),
                "{next}"
            );
        }
        // Nothing tells whether these lines are one number.
        assert_eq!(bytes_behind("buffer of size 40383\n193088\n", "size"), None);
        // A terminal that broke every line at the same width did.
        let torn = "a buffer of size 40383\n193088 that no devices\n could give to it\n";
        assert_eq!(bytes_behind(torn, "size"), Some(40_383_193_088));
    }

    #[test]
    fn decimal_commas_are_no_thousands() {
        assert_eq!(bytes_behind("needs 47,50 GiB\n", "needs"), Some(51_002_736_640));
        assert_eq!(bytes_behind("needs 12,345 MiB\n", "needs"), None);
        assert_eq!(bytes_behind("needs 12,345 MiB of 79,25 GiB\n", "needs"), Some(12_944_671));
        assert_eq!(bytes_behind("needs 12,345 MiB of 79.25 GiB\n", "needs"), Some(12_345 << 20));
        assert_eq!(bytes_behind("needs 1 048 576 bytes\n", "needs"), Some(1 << 20));
    }

    #[test]
    fn a_figure_cut_off_at_the_end_of_the_input_is_unknown() {
        assert_eq!(bytes_behind("needs 40383193088", "needs"), None);
        assert_eq!(bytes_behind("needs 40383193088\n", "needs"), Some(40_383_193_088));
        assert_eq!(bytes_behind("needs 15.2 Gi", "needs"), None);
        assert_eq!(bytes_behind("needs 15.5 GiB", "needs"), Some(31 << 29));
    }

    /// Two processes that write to one pipe: each of these was read as the rest of a number.
    #[test]
    fn a_figure_into_which_another_process_wrote_is_unknown() {
        assert_eq!(bytes_behind("buffer of size 46[rank1]: buffer of size 4619481926\n", "size"), None);
        assert_eq!(bytes_behind("buffer of size 46torch.OutOfMemoryError: CUDA\n", "size"), None);
        assert_eq!(bytes_behind("buffer of size 46; the next\n", "size"), Some(46));
        let free = |text: &str| {
            let text = joined(text);
            text.size_before(text.find("free", 0).unwrap(), Base::Binary).map(|(_, start)| start)
        };
        assert_eq!(free("5.06 GiB already allocated; 5.  File \"/a/fu06 MiB free;"), None);
        assert_eq!(free("allocated; 5.06 MiB free;"), Some("allocated;".len()));
    }

    #[test]
    fn what_wraps_around_is_no_size() {
        let text = joined("limit: 17179869184.00 GiB, 17179869183.61 GiB, 9.00 GiB");
        let at = text.after("limit:", 0).unwrap();
        let (first, next) = text.size_at(at, Base::Binary).unwrap();
        assert_eq!(first, Printed::Unreadable(Span::line(1)));
        assert_eq!(text.size_at(next + 1, Base::Binary).unwrap().0, Printed::Unreadable(Span::line(1)));
        assert_eq!(text.size_at(0, Base::Binary), None);
    }

    #[test]
    fn a_message_may_start_inside_its_line_and_a_cut_shows() {
        let lines = Document::from_text("-", "日志 CUDA out of memory").lines;
        assert_eq!(Joined::of(&lines, 1).squeezed, "志CUDAoutofmemory");
        assert_eq!(Joined::of(&lines, 99).squeezed, "");
        assert_eq!(Joined::of(&lines, 0).readable(0, 99, 6), "日志 CUD…");
    }
}
