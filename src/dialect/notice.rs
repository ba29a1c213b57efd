//! A short message of one program, read by its words without regard to blanks, wraps and tears.

use crate::dialect::joined::{Joined, Printed};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{Base, Figure};

/// No accelerator has this much memory: a request beyond it is a size computed wrong.
const ABSURD: u64 = 1 << 50;

/// The most characters that are kept of a message.
const LONGEST: usize = 1000;

/// The lines from a hit on, joined, with the event that they become.
pub struct Notice {
    pub text: Joined,
    first_line_ends: usize,
    rank: Option<u32>,
}

impl Notice {
    /// Joins up to `lines` lines from `position` on, those of other ranks left out.
    pub fn at(document: &Document, position: usize, lines: usize) -> Option<Notice> {
        let first = document.lines.get(position)?;
        let same_rank = |rank: Option<u32>| rank == first.rank || rank.is_none() || first.rank.is_none();
        let message = document
            .lines
            .get(position..)?
            .iter()
            .take(lines.saturating_mul(4))
            .filter(|line| same_rank(line.rank))
            .take(lines);
        let text = Joined::of(message, 0).within(document);
        let first_line_ends = text.end_of_first_line();
        Some(Notice { text, first_line_ends, rank: first.rank })
    }

    /// Where `words` (written without blanks) start, if they start on the first line.
    pub fn starts(&self, words: &str) -> Option<usize> {
        self.text.find_starting_before(words, self.first_line_ends)
    }

    /// Where the first of several words starts on the first line.
    pub fn starts_any(&self, words: &[&str]) -> Option<usize> {
        words.iter().filter_map(|w| self.starts(w)).min()
    }

    /// The size behind `words`, at or after `from`: with any unit, or in bare bytes. Also where it ends.
    pub fn size(&self, words: &str, from: usize) -> Option<(Figure, usize)> {
        let at = self.text.after(words, from)?;
        self.size_at(at)
    }

    /// The size that starts at an offset of the squeezed text.
    pub fn size_at(&self, at: usize) -> Option<(Figure, usize)> {
        match self.text.size_or_bytes_at(at, Base::Binary)? {
            (Printed::Size(figure), end) => Some((figure, end)),
            _ => None,
        }
    }

    /// The whole number behind `words`.
    pub fn count(&self, words: &str, from: usize) -> Option<(u64, usize)> {
        self.text.count_at(self.text.after(words, from)?)
    }

    /// An event that spans `from .. to` of the squeezed text and quotes it.
    pub fn event(&self, dialect: &'static str, program: Program, resource: Resource, from: usize, to: usize) -> Event {
        let mut event = Event::new(dialect, program, resource, self.text.span(from, to));
        event.message = self.text.readable(from, to, LONGEST);
        event.rank = self.rank;
        event
    }
}

/// The last signs that follow from the figures alone.
pub fn settle(event: &mut Event) {
    if event.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    }
    if event.facts.get(Fact::Requested).is_some_and(|requested| requested.bytes > ABSURD) {
        event.sign(Sign::AbsurdRequest);
    }
}

/// One wording of a program: the words it is known by and the figures that stand behind labels.
pub struct Phrase {
    /// One of these starts on the line that was hit. Written without blanks, as all words here.
    pub words: &'static [&'static str],
    /// All of these stand somewhere in the message.
    pub and: &'static [&'static str],
    pub dialect: &'static str,
    pub program: Program,
    pub resource: Resource,
    pub signs: &'static [Sign],
    /// Figures and the words in front of them.
    pub sizes: &'static [(Fact, &'static str)],
    /// Most lines that the message takes, wraps included.
    pub lines: usize,
}

/// A phrase without conditions, signs or figures, to be completed by the family's table.
pub const PHRASE: Phrase = Phrase {
    words: &[],
    and: &[],
    dialect: "",
    program: Program::Generic,
    resource: Resource::Gpu,
    signs: &[],
    sizes: &[],
    lines: 4,
};

/// Reads the first of a family's phrases that stands on a line.
pub fn first_of(document: &Document, position: usize, phrases: &[Phrase]) -> Option<(Event, Notice)> {
    let line = document.lines.get(position)?;
    let longest = phrases.iter().map(|phrase| phrase.lines).max()?;
    // A very long line is a dump of something; the words of these programs stand near its start or its end.
    if line.text.len() > 64 << 10 {
        return None;
    }
    let notice = Notice::at(document, position, longest)?;
    let (phrase, from) = phrases.iter().find_map(|phrase| {
        let from = notice.starts_any(phrase.words)?;
        let own = notice.text.squeezed.get(..notice.text.end_of_lines(phrase.lines))?;
        phrase.and.iter().all(|and| own.contains(and)).then_some((phrase, from))
    })?;
    let own_end = notice.text.end_of_lines(phrase.lines);
    let mut event = notice.event(phrase.dialect, phrase.program, phrase.resource, from, notice.first_line_ends);
    let mut end = notice.first_line_ends;
    for (fact, words) in phrase.sizes {
        if let Some((figure, at)) = notice.size(words, from).filter(|(_, at)| *at <= own_end) {
            event.facts.note(*fact, figure);
            end = end.max(at);
        }
    }
    event.at.last = event.at.last.max(notice.text.span(from, end).last);
    event.message = notice.text.readable(0, end, LONGEST);
    for sign in phrase.signs {
        event.sign(*sign);
    }
    if let Some((rounds, at)) = rounds_before(document, position).filter(|(rounds, _)| *rounds >= 1.0) {
        event.facts.numbers.insert(Number::RoundsBefore, (rounds, at));
    }
    // A library's error quoted by its caller is no advice, whatever stands in front of it.
    if event.facts.sizes.is_empty()
        && !event.has(Sign::ForeignLibrary)
        && super::mention::is_code_or_advice(&line.text, spoken(&line.text, phrase))
    {
        return None;
    }
    settle(&mut event);
    Some((event, notice))
}

/// Where a line begins to speak of memory: at the word itself, else at the phrase's own.
fn spoken(text: &str, phrase: &Phrase) -> usize {
    text.find("emory").or_else(|| phrase.words.iter().find_map(|word| text.find(word))).unwrap_or(0)
}

/// How often a search or service had done the same work before, as the lines in front show: the number of the last
/// finished trial, or how many times a training was started.
fn rounds_before(document: &Document, position: usize) -> Option<(f64, Span)> {
    const LOOKED_AT: usize = 100;
    let lines = document.lines.get(position.saturating_sub(LOOKED_AT)..=position)?;
    let trial = lines.iter().rev().find_map(|line| {
        let text = line.text.as_str();
        if !text.contains("rial ") {
            return None;
        }
        let rest = ["Trial ", "trial "].iter().find_map(|word| super::field::after(text, word))?;
        let number = super::field::leading_number(rest)?;
        // Trials are counted from 0: those before this one are one more than its number.
        let ended = rest.contains("finished") || rest.contains("failed");
        ended.then_some((number as f64 + 1.0, Span::line(line.number)))
    });
    trial.or_else(|| {
        if !lines.iter().any(|line| line.text.contains("raining")) {
            return None;
        }
        // What a program says of one start in two sentences is one start: only the same sentence tells of another.
        let sentence = |text: &str| {
            let from = ["Starting training", "Start training"].iter().find_map(|word| text.find(word))?;
            Some(text.get(from..)?.replace(|c: char| c.is_ascii_digit(), ""))
        };
        let begun = || lines.iter().filter_map(|line| Some((line.number, sentence(&line.text)?)));
        let (number, last) = begun().next_back()?;
        Some((begun().filter(|(_, said)| *said == last).count().saturating_sub(1) as f64, Span::line(number)))
    })
}

/// Words that are looked for around many messages, searched in one pass: a log may hold a hundred thousand of them.
pub struct Words(std::sync::LazyLock<Option<aho_corasick::AhoCorasick>>);

impl Words {
    pub const fn new(build: fn() -> Option<aho_corasick::AhoCorasick>) -> Words {
        Words(std::sync::LazyLock::new(build))
    }

    /// True when one of the words stands within `before` lines before or `after` lines behind.
    pub fn nearby(&self, document: &Document, position: usize, before: usize, after: usize) -> bool {
        let Some(search) = self.0.as_ref() else { return false };
        let from = position.saturating_sub(before);
        let to = position.saturating_add(after + 1).min(document.lines.len());
        document.lines.get(from..to).unwrap_or_default().iter().any(|line| search.is_match(&line.text))
    }
}

/// True when one of some words stands within `before` lines before or `after` lines behind.
pub fn nearby(document: &Document, position: usize, before: usize, after: usize, words: &[&str]) -> bool {
    let from = position.saturating_sub(before);
    let to = position.saturating_add(after + 1).min(document.lines.len());
    document
        .lines
        .get(from..to)
        .unwrap_or_default()
        .iter()
        .any(|line| words.iter().any(|word| line.text.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_is_told_in_two_sentences_is_one_start() {
        let rounds = |log: &str| {
            let document = Document::from_text("test", log);
            rounds_before(&document, document.lines.len() - 1).map(|(rounds, _)| rounds)
        };
        let once = "INFO: Start training on GPU0\nINFO: Creating KVStore...\nINFO: Start training...\nout of memory\n";
        assert_eq!(rounds(once), Some(0.0));
        let again = "Start training, fold 1\nval 0.2\nStart training, fold 2\nout of memory\n";
        assert_eq!(rounds(again), Some(1.0));
    }
}
