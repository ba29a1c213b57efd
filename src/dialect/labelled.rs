//! Figures behind labels, without regard to blanks, case and wraps: what was cut, may be torn, or can be read in two
//! ways is no figure.

use super::joined::{Joined, Printed};
use crate::evidence::Span;
use crate::input::{Document, Line};
use crate::units::{Base, Figure};

/// How a figure is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// With its unit, `KB` and the like being powers of 1024 or of 1000; decimals are rounded.
    Printed(Base),
    /// The same with the decimals cut off: the true value is up to one more of the last digit.
    CutOff(Base),
    /// Whole numbers of this many bytes.
    Of(u64),
    /// The same, with this word behind them.
    Counted(u64, &'static str),
    /// Numbers with decimals of this unit, which stands elsewhere in the sentence.
    In(&'static str),
}

/// Some lines without blanks, in which labels are looked for.
pub(crate) struct Labelled {
    pub text: Joined,
    /// The squeezed text in lower case; the offsets are the same.
    pub lower: String,
}

impl Labelled {
    pub fn of<'a>(document: &Document, lines: impl IntoIterator<Item = &'a Line>) -> Labelled {
        let text = Joined::of(lines, 0).within(document);
        let lower = text.squeezed.to_ascii_lowercase();
        Labelled { text, lower }
    }

    /// `count` lines from `position` on.
    pub fn at(document: &Document, position: usize, count: usize) -> Labelled {
        Labelled::of(document, document.lines.iter().skip(position).take(count))
    }

    /// The figure behind the first `label` that has one, with where it ends. Labels are written without blanks and in
    /// lower case.
    pub fn figure(&self, label: &str, unit: Unit) -> Option<Figure> {
        self.figure_within(0..self.lower.len(), label, unit).map(|(figure, _)| figure)
    }

    /// The same between two offsets of the squeezed text, with where the figure ends.
    pub fn figure_within(&self, range: std::ops::Range<usize>, label: &str, unit: Unit) -> Option<(Figure, usize)> {
        let places = self.lower.get(range.clone())?.match_indices(label);
        places.map(|(at, _)| range.start + at + label.len()).find_map(|at| self.figure_at(at, unit))
    }

    /// The whole number behind the first `label` that has one, such as a process's, with its place.
    pub fn count(&self, label: &str) -> Option<(u64, Span)> {
        self.count_within(0..self.lower.len(), label).map(|(count, from, to)| (count, self.text.span(from, to)))
    }

    /// The same between two offsets, with where the number stands.
    pub fn count_within(&self, range: std::ops::Range<usize>, label: &str) -> Option<(u64, usize, usize)> {
        let places = self.lower.get(range.clone())?.match_indices(label);
        places.map(|(at, _)| self.behind_marks(range.start + at + label.len())).find_map(|at| {
            let at = at?;
            let (count, after) = self.text.count_at(at)?;
            self.is_whole(at, after).then_some((count, at, after))
        })
    }

    /// The figure at an offset; marks between a label and its figure are passed over.
    fn figure_at(&self, at: usize, unit: Unit) -> Option<(Figure, usize)> {
        let at = self.behind_marks(at)?;
        let printed = |base| match self.text.size_at(at, base)? {
            (Printed::Size(figure), after) => Some((figure, after)),
            (Printed::Unreadable(_), _) => None,
        };
        let counted =
            |word: &str, base| self.text.number_of(at, word, base).filter(|(_, after)| self.is_whole(at, *after));
        match unit {
            Unit::Of(bytes) | Unit::Counted(bytes, _) => {
                let (count, after) = counted("KiB", Base::Binary)?;
                let whole = whole_number(self.text.squeezed.get(at..after)?)?;
                if let Unit::Counted(_, word) = unit
                    && !self.lower[after..].starts_with(word)
                {
                    return None;
                }
                Some((Figure { bytes: whole.checked_mul(bytes)?, half_width: 0, ..count }, after))
            }
            Unit::In(word) => counted(word, Base::Binary),
            Unit::Printed(base) => printed(base),
            Unit::CutOff(base) => printed(base)
                .map(|(figure, after)| (Figure { half_width: figure.half_width.saturating_mul(2), ..figure }, after)),
        }
    }

    fn behind_marks(&self, at: usize) -> Option<usize> {
        let rest = self.text.squeezed.get(at..)?;
        let marks = rest.find(|c: char| !":=\"'([~<>".contains(c)).filter(|marks| *marks <= 3)?;
        Some(at + marks)
    }

    /// False for a number without a unit that stands on two lines, or that a blank and three digits follow on its own:
    /// the first may be two numbers, the second one.
    fn is_whole(&self, from: usize, to: usize) -> bool {
        let rest = self.text.squeezed.get(to..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let ends = || (1..).map(|line| self.text.end_of_lines(line));
        let torn = ends().take_while(|end| *end < to).any(|end| end > from);
        let group = digits >= 3 && !ends().take_while(|end| *end <= to).any(|end| end == to);
        !torn && !group
    }
}

/// The number that digits with marks between groups of three make; a fraction of nothing but zeros is none.
fn whole_number(text: &str) -> Option<u64> {
    if let Some((whole, zeros)) = text.split_once('.')
        && zeros.len() != 3
        && zeros.bytes().all(|b| b == b'0')
    {
        return whole.parse().ok();
    }
    let mut groups = text.split(|c: char| !c.is_ascii_digit());
    let first = groups.next()?;
    let mut digits = first.to_string();
    for group in groups {
        (group.len() == 3 && first.len() <= 3).then_some(())?;
        digits.push_str(group);
    }
    digits.parse().ok()
}

/// Where one of some phrases, written without blanks and in lower case, stands at a line: begun there or on the line
/// before, when a wrap tore it. Lines of other ranks are passed over.
pub(crate) fn spoken(document: &Document, position: usize, phrases: &[&str]) -> Option<Span> {
    let hit = document.lines.get(position)?;
    let same = |line: &&Line| line.rank == hit.rank;
    let before = document.lines[..position].iter().rev().take(4).find(same);
    let behind = document.lines[position + 1..].iter().take(8).filter(same).take(2);
    let labelled = Labelled::of(document, before.into_iter().chain([hit]).chain(behind));
    let lines_before = usize::from(before.is_some());
    let own = labelled.text.end_of_lines(lines_before)..labelled.text.end_of_lines(lines_before + 1);
    phrases.iter().find_map(|phrase| {
        let mut places = labelled.lower.match_indices(phrase).map(|(at, _)| (at, at + phrase.len()));
        let (from, to) = places.find(|(from, to)| *from < own.end && *to > own.start)?;
        Some(labelled.text.span(from, to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str, label: &str, unit: Unit) -> Option<u64> {
        let document = Document::from_text("-", text);
        Labelled::at(&document, 0, 3).figure(label, unit).map(|figure| figure.bytes)
    }

    #[test]
    fn figures_in_their_units() {
        let log = "Used: 1.5 GB of 2,048 MiB, limit = 4096 kB (peak 7.9GiB), 12 GiB free\n";
        assert_eq!(bytes(log, "used", Unit::Printed(Base::Decimal)), Some(1_500_000_000));
        assert_eq!(bytes(log, "of", Unit::Of(1 << 20)), Some(2 << 30));
        assert_eq!(bytes(log, "limit", Unit::Counted(1024, "kb")), Some(4 << 20));
        assert_eq!(bytes(log, "limit", Unit::Counted(1024, "mb")), None);
        assert_eq!(bytes(log, "used", Unit::In("MiB")), Some(3 << 19));
    }

    #[test]
    fn what_is_cut_torn_or_grouped_is_none() {
        assert_eq!(bytes("limit 4096", "limit", Unit::Of(1)), None);
        assert_eq!(bytes("limit 4096\n", "limit", Unit::Of(1)), Some(4096));
        assert_eq!(bytes("limit 4 096 00 bytes\n", "limit", Unit::Of(1)), None);
        assert_eq!(bytes("limit 4096 48\n", "limit", Unit::Of(1)), Some(4096));
        // Nothing tells whether the digits of two lines are one number.
        assert_eq!(bytes("limit 4096\n007 (12) x\n", "limit", Unit::Of(1)), None);
        assert_eq!(bytes("limit 60.903 MiB of 1.5 %\n", "limit", Unit::Of(1)), Some(60_903));
        assert_eq!(bytes("limit 12.50 MiB\n", "limit", Unit::Of(1)), None);
        assert_eq!(bytes("limit 4096.00000)\n", "limit", Unit::Of(1)), Some(4096));
    }
}
