//! Messages of host programs as a table: the words they are known by, and the labels in front of their figures.
//!
//! Most programs around a job have one sentence for memory that ran out. A [`Wording`] is such a sentence; the reader
//! finds it without regard to blanks, case, wraps and tears, so a row of a table is all that a program needs.

use super::labelled::Labelled;
pub(crate) use super::labelled::Unit;
use super::{Event, Fact, Resource, Sign, Standing, mention};
use crate::domain::Program;
use crate::evidence::{Known, Span};
use crate::input::{Document, Line};
use crate::text::Text;

/// Lines before the hit on which a message may have begun: a wrap may have torn the words that were searched for.
const BACK: usize = 2;

/// What a wording says of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    Failure,
    /// Told of a failure whose message stands elsewhere.
    Follower,
    /// No failure: why, in English and Chinese.
    Harmless(&'static str, &'static str),
}

/// One sentence of one program. All words are written without blanks and in lower case.
#[derive(Debug)]
pub(crate) struct Wording {
    /// One of these begins on the line that was hit, or on one of the two before when a wrap tore it.
    pub says: &'static [&'static str],
    /// All of these stand in the message.
    pub and: &'static [&'static str],
    /// None of these stands in the message.
    pub not: &'static [&'static str],
    /// One of these stands within a dozen lines, where there are any.
    pub near: &'static [&'static str],
    pub slug: &'static str,
    pub program: Program,
    pub resource: Resource,
    pub signs: &'static [Sign],
    pub means: Means,
    /// Figures, the labels in front of them, and their units.
    pub figures: &'static [(Fact, &'static str, Unit)],
    /// Labels in front of the process that died.
    pub pid: &'static [&'static str],
    /// Labels in front of its name, and what ends the name.
    pub name: &'static [(&'static str, char)],
    /// Lines that the message takes where nothing wrapped it.
    pub lines: usize,
}

/// A sentence without conditions, signs or figures, to be completed by a table.
pub(crate) const WORDING: Wording = Wording {
    says: &[],
    and: &[],
    not: &[],
    near: &[],
    slug: "",
    program: Program::Generic,
    resource: Resource::Host,
    signs: &[],
    means: Means::Failure,
    figures: &[],
    pid: &[],
    name: &[],
    lines: 1,
};

/// Lines that may follow from wraps, beside those that the message has of its own.
const WRAPS: usize = 4;
/// Lines around a message in which [`Wording::near`] is looked for.
const NEAR: usize = 12;
/// A longer line is a dump of something.
const LONGEST_LINE: usize = 16 << 10;
/// The most characters that are kept of a message.
const LONGEST_MESSAGE: usize = 600;

/// Reads the first wording of a table that stands at a line.
pub(crate) fn read(document: &Document, position: usize, table: &[Wording]) -> Option<Event> {
    let message = Message::around(document, position, table.iter().map(|wording| wording.lines).max()?)?;
    table.iter().find_map(|wording| message.read(document, position, wording))
}

/// The lines of one rank around a hit.
struct Message {
    labelled: Labelled,
    /// Where the hit's line begins and ends.
    hit: std::ops::Range<usize>,
    rank: Option<u32>,
    lines_before: usize,
}

impl Message {
    fn around(document: &Document, position: usize, lines: usize) -> Option<Message> {
        let first = document.lines.get(position).filter(|line| line.text.len() <= LONGEST_LINE)?;
        let same = |line: &&Line| {
            (line.rank == first.rank || line.rank.is_none() || first.rank.is_none()) && line.text.len() <= LONGEST_LINE
        };
        let mut chosen: Vec<&Line> =
            document.lines[..position].iter().rev().take(4 * BACK).filter(same).take(BACK).collect();
        chosen.reverse();
        let lines_before = chosen.len();
        let count = lines + WRAPS;
        chosen.extend(document.lines[position..].iter().take(4 * count).filter(same).take(count));
        let labelled = Labelled::of(document, chosen);
        let hit = labelled.text.end_of_lines(lines_before)..labelled.text.end_of_lines(lines_before + 1);
        Some(Message { labelled, hit, rank: first.rank, lines_before })
    }

    fn read(&self, document: &Document, position: usize, wording: &Wording) -> Option<Event> {
        let Labelled { text, lower } = &self.labelled;
        let (start, words_end) = wording.says.iter().find_map(|words| {
            let start = lower.match_indices(words).map(|(at, _)| at).take_while(|at| *at < self.hit.end).last()?;
            Some((start, start + words.len()))
        })?;
        // The line on which the message begins, and how far it may reach.
        let line = (0..=self.lines_before).rev().find(|line| text.end_of_lines(*line) <= start)?;
        let end = text.end_of_lines(line + wording.lines + WRAPS);
        let from = text.end_of_lines(line);
        let own = lower.get(from..end)?;
        let mut reach = words_end;
        for words in wording.and {
            reach = reach.max(from + own.find(words)? + words.len());
        }
        if reach <= self.hit.start || wording.not.iter().any(|words| own.contains(words)) {
            return None;
        }
        if !wording.near.is_empty() && !nearby(document, position, wording.near) {
            return None;
        }
        let mut event = Event::new(wording.slug, wording.program, wording.resource, Span::line(0));
        for (fact, label, unit) in wording.figures {
            if let Some((figure, after)) = self.labelled.figure_within(from..end, label, *unit) {
                event.facts.note(*fact, figure);
                reach = reach.max(after);
            }
        }
        // A prefix may hold a label's words: what stands behind the sentence's beginning comes first.
        let pid = wording.pid.iter().find_map(|label| {
            let behind = self.labelled.count_within(start..end, label);
            behind.or_else(|| self.labelled.count_within(from..end, label))
        });
        if let Some((pid, at, after)) = pid {
            event.facts.pid = Known::Seen(pid, text.span(at, after));
            reach = reach.max(after);
        }
        for (label, stop) in wording.name {
            let Some(at) = own.find(label).map(|at| from + at + label.len()) else { continue };
            let Some(long) = text.squeezed.get(at..end).and_then(|rest| rest.find(*stop)) else { continue };
            event.facts.process_name.note(text.readable(at, at + long, 200), text.span(at, at + long));
        }
        event.at = text.span(start, reach);
        event.rank = self.rank;
        event.message = text.readable(from, reach.max(self.end_of_line_at(reach)), LONGEST_MESSAGE);
        if event.facts.sizes.is_empty() {
            // Words without a figure may be advice, or a program's text.
            let before = text.readable(from, start, LONGEST_MESSAGE);
            if mention::is_code_or_advice(&before, before.len()) {
                return None;
            }
            event.sign(Sign::NoFigures);
        }
        for sign in wording.signs {
            event.sign(*sign);
        }
        match wording.means {
            Means::Failure => {}
            Means::Follower => event.standing = Standing::Follower,
            Means::Harmless(en, zh) => {
                event.make_harmless(Text::new(en, zh));
            }
        }
        Some(event)
    }

    /// The end of the line that holds the byte before `offset`.
    fn end_of_line_at(&self, offset: usize) -> usize {
        (0..).map(|line| self.labelled.text.end_of_lines(line)).find(|end| *end >= offset).unwrap_or(offset)
    }
}

fn nearby(document: &Document, position: usize, words: &[&str]) -> bool {
    let from = position.saturating_sub(NEAR);
    let to = (position + NEAR + 1).min(document.lines.len());
    document.lines[from..to].iter().filter(|line| line.text.len() <= LONGEST_LINE).any(|line| {
        let squeezed: String = line.text.chars().filter(|c| !c.is_whitespace()).collect();
        let squeezed = squeezed.to_ascii_lowercase();
        words.iter().any(|word| squeezed.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Base;

    const TABLE: &[Wording] = &[Wording {
        says: &["poolofcakesexhausted"],
        not: &["noproblem"],
        slug: "cakes",
        figures: &[
            (Fact::Requested, "wanted", Unit::Printed(Base::Decimal)),
            (Fact::Limit, "limit", Unit::Of(1024)),
            (Fact::Used, "used", Unit::CutOff(Base::Binary)),
        ],
        pid: &["baker"],
        ..WORDING
    }];

    fn all(log: &str) -> Vec<Event> {
        let document = Document::from_text("-", log);
        (0..document.lines.len()).filter_map(|position| read(&document, position, TABLE)).collect()
    }

    #[test]
    fn a_message_is_read_through_wraps_and_case() {
        for log in [
            "Pool of cakes exhausted: wanted 1.5 GB, limit 2048, used 1.2GiB by baker 77.",
            "POOL OF CAKES EXHAUSTED: wanted 1.5 GB, limit 2048,\nused 1.2GiB by baker 77.",
            "x Pool of ca\nkes exhausted: wan\nted 1.5 GB, limit: 2048, used 1.2GiB by baker 77.",
        ] {
            let event = all(log).into_iter().next().unwrap_or_else(|| panic!("{log}"));
            let bytes = |fact| event.facts.get(fact).map(|figure| figure.bytes);
            assert_eq!(bytes(Fact::Requested), Some(1_500_000_000), "{log}");
            assert_eq!(bytes(Fact::Limit), Some(2 << 20), "{log}");
            assert_eq!(event.facts.get(Fact::Used).map(|used| used.half_width >> 20), Some(102), "{log}");
            assert_eq!(event.facts.pid.value(), Some(77), "{log}");
        }
    }

    #[test]
    fn advice_and_what_is_excluded_are_none() {
        assert!(all("To avoid a pool of cakes exhausted, bake").is_empty());
        assert!(all("pool of cakes exhausted; no problem").is_empty());
        assert!(all("pool of cakes").is_empty());
    }
}
