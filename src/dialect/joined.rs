//! Several lines read as one text, so that tears, wraps and blanks do no harm.
//!
//! Terminals wrap messages, chat clients tear them, mail quotes them, and figures come as `3.23            GiB` or
//! `30.` / `81 MiB`. A [`Joined`] holds the same lines with all white space removed, and knows for each byte of that text
//! where it stood, so that a figure found in it has its line.

use crate::evidence::Span;
use crate::input::Line;
use crate::units::{self, Base, Figure};

/// At most this many bytes of a message are looked at: the longest known one (PyTorch with a list of processes) has 4 KiB.
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
}

/// What stands at a place where a size was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Size(Figure),
    /// A number with a unit that can be no size: it lies within a GiB of 2^64 or above, an underflow or "not available".
    Unreadable(Span),
}

impl Joined {
    /// Joins lines, leaving out the first `skip` bytes of the first one; what lies beyond 16 KiB is left out as well.
    /// A `skip` that is no character boundary is moved forward to the next one.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>, skip: usize) -> Joined {
        let mut joined = Joined::default();
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
        let rest = self.squeezed.get(offset..)?;
        let (number, digits) = units::number_in_front(rest, units::GROUPED);
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let unit = unit_in_front(&rest[digits..])?;
        let end = offset + digits + unit.len();
        let at = self.span(offset, end);
        // A word follows its unit without a blank here, so a unit is the longest known one.
        let printed = match units::size(number, unit, base) {
            Some(size) if size.bytes < ALMOST_ALL_ONES => Printed::Size(size.at(at)),
            _ => Printed::Unreadable(at),
        };
        Some((printed, end))
    }

    /// The decimal number that starts at `offset`, such as a share of the device, with the offset after it.
    pub fn decimal_at(&self, offset: usize) -> Option<(f64, usize)> {
        let (number, _) = units::number_in_front(self.squeezed.get(offset..)?, units::POINT);
        number.parse().ok().map(|value| (value, offset + number.len()))
    }

    /// The size that ends at `end` (the offset after its unit), with the offset of its first digit.
    pub fn size_before(&self, end: usize, base: Base) -> Option<(Printed, usize)> {
        let text = self.squeezed.get(..end)?;
        let unit = UNITS.iter().find(|unit| text.ends_with(*unit))?;
        let number = &text[..end - unit.len()];
        let start =
            number.len() - number.bytes().rev().take_while(|b| b.is_ascii_digit() || *b == b'.' || *b == b',').count();
        let start = start + number[start..].find(|c: char| c.is_ascii_digit())?;
        self.size_at(start, base).filter(|(_, after)| *after == end).map(|(printed, _)| (printed, start))
    }

    /// The whole number that starts at `offset`, with the offset after it. Commas that an editor or spreadsheet put between
    /// the digits of a figure in kB are passed over; elsewhere a comma ends the number.
    pub fn count_at(&self, offset: usize) -> Option<(u64, usize)> {
        let rest = self.squeezed.get(offset..)?;
        let grouped = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
        if rest[grouped..].starts_with("kB") && !rest[..grouped].ends_with(',') {
            let count = rest[..grouped].replace(',', "").parse().ok()?;
            return Some((count, offset + grouped));
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok().map(|count| (count, offset + digits))
    }
}

/// From 17179869183 GiB on a figure is 2^64 minus something.
const ALMOST_ALL_ONES: u64 = 17_179_869_183 << 30;

/// Unit words, longer ones first.
const UNITS: [&str; 15] =
    ["bytes", "Bytes", "byte", "KiB", "MiB", "GiB", "TiB", "kiB", "KB", "kB", "MB", "GB", "TB", "Mb", "B"];

/// The unit word that `text` starts with.
fn unit_in_front(text: &str) -> Option<&'static str> {
    UNITS.into_iter().find(|unit| text.starts_with(unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Document;

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
