//! Figures that may be a part of a number, dropped whichever reader took them.
//!
//! A paste breaks off in the middle of a number, a terminal breaks a line there, a locale puts blanks between groups of
//! digits. A reader that looks at one line, or stops at the first character that is no digit, then takes the part for
//! the whole. Here each figure of an event is held against the numbers that stand on its lines: one that only a part
//! of a number can have given is unknown.

use super::Event;
use crate::evidence::Known;
use crate::input::Document;
use crate::units::{self, Base, Figure, Locale};

/// Lines of a figure that are looked at.
const LINES: usize = 24;
/// Less than this is the size of nothing that a program runs out of.
const FEW: u64 = 1000;
/// Lines around a figure's own that are looked at where it does not stand on those.
const NEAR: usize = 8;
/// Of a longer line only the beginning and the end are looked at.
const LONGEST: usize = 8 << 10;
/// Numbers of a line that are looked at.
const MOST: usize = 256;
/// No terminal is narrower.
const NARROWEST: usize = 40;

/// A number as it may be read: its value, and the unit behind it.
#[derive(Debug, Clone, PartialEq)]
struct Reading {
    number: String,
    unit: Option<String>,
}

/// What a line's numbers can be read as.
#[derive(Debug, Default)]
struct Readings {
    whole: Vec<Reading>,
    /// Parts of numbers, and numbers that may be parts.
    parts: Vec<Reading>,
}

/// Drops the figures of an event that may be parts of numbers.
pub(super) fn settle(document: &Document, event: &mut Event) {
    let mut doubtful = Vec::new();
    for (fact, figure) in &event.facts.sizes {
        if is_part(document, figure) {
            doubtful.push(*fact);
        }
    }
    for fact in doubtful {
        if let Some(figure) = event.facts.sizes.remove(&fact) {
            event.facts.unreadable.insert(fact, figure.at);
        }
    }
    if let Known::Seen(pid, at) = event.facts.pid
        && is_part(document, &Figure { bytes: pid, half_width: 0, at })
    {
        event.facts.pid = Known::Unknown;
    }
}

fn is_part(document: &Document, figure: &Figure) -> bool {
    let from = document.lines.partition_point(|line| line.number < figure.at.first);
    let to = document.lines.partition_point(|line| line.number <= figure.at.last).min(from + LINES);
    let spans = to > from + 1 && figure.at.last > figure.at.first;
    let told = |lines: std::ops::Range<usize>, few: bool| {
        let mut part = false;
        for position in lines {
            let readings = of_line(document, position, spans);
            if !few && readings.whole.iter().any(|reading| reading.gives(figure)) {
                return Some(false);
            }
            part |= readings.parts.iter().any(|reading| reading.gives(figure));
        }
        part.then_some(true)
    };
    // Some readers give a message's first line as the place of all its figures.
    let around = || {
        let near = from.saturating_sub(NEAR)..(to + NEAR).min(document.lines.len());
        // So few bytes stand on many a line as something else.
        let few = (1..FEW).contains(&figure.bytes);
        if figure.half_width == 0 { told(near, few) } else { None }
    };
    told(from..to, false).or_else(around).unwrap_or(false)
}

impl Reading {
    /// True where the number, times its unit or any, is the figure.
    fn gives(&self, figure: &Figure) -> bool {
        const ANY: [&str; 10] = ["B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB", "PB"];
        let close = |size: Option<units::Size>| {
            size.is_some_and(|size| size.bytes.abs_diff(figure.bytes) <= figure.half_width.min(1))
        };
        let with = |unit: &str| {
            [Base::Binary, Base::Decimal].iter().any(|base| {
                [Locale::Point, Locale::Comma]
                    .iter()
                    .any(|locale| close(units::size_in(&self.number, unit, *base, *locale)))
            })
        };
        match &self.unit {
            Some(unit) => with(unit),
            None => {
                let whole = self.number.split(['.', ',']).next().unwrap_or_default();
                ANY.iter().any(|unit| with(unit)) || close(units::size(whole, "B", Base::Binary))
            }
        }
    }
}

/// A group of digits and the mark behind it.
fn groups(text: &str) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if end > at {
            groups.push((at, end));
        }
        at = end.max(at + 1);
    }
    groups
}

/// Where the number that begins with the group of digits at `first` ends, counted in groups: marks and single blanks
/// may stand between groups of three digits, a mark before decimals.
fn run(text: &str, groups: &[(usize, usize)], first: usize) -> usize {
    let mut last = first;
    let length = |i: usize| groups[i].1 - groups[i].0;
    let short = length(first) <= 3 && !text[groups[first].0..].starts_with('0');
    while last + 1 < groups.len() {
        let between = &text[groups[last].1..groups[last + 1].0];
        let mut marks = between.chars();
        let (Some(mark), None) = (marks.next(), marks.next()) else { break };
        let joins = match mark {
            '.' | ',' | '_' | '\'' | '’' | '\u{a0}' | '\u{202f}' | '\u{2009}' => true,
            // Blanks stand between groups of three only.
            ' ' => short && length(last + 1) == 3 && (last == first || length(last) == 3),
            _ => false,
        };
        if !joins {
            break;
        }
        last += 1;
    }
    last
}

/// What the numbers of a line can be read as. `spans` tells that the figure stands on more lines than one: then a
/// number that a line's end tears was joined by whoever read it.
fn of_line(document: &Document, position: usize, spans: bool) -> Readings {
    let mut out = Readings::default();
    let Some(line) = document.lines.get(position) else { return out };
    let text = line.text.trim();
    let text = if text.len() <= LONGEST {
        text
    } else {
        let start = (text.len() - LONGEST..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        &text[start..]
    };
    let beside = |at: Option<usize>| {
        at.and_then(|at| document.lines.get(at)).filter(|other| other.rank == line.rank).map(|other| other.text.trim())
    };
    let before = beside(position.checked_sub(1)).unwrap_or_default();
    let next = beside(Some(position + 1)).unwrap_or_default();
    let digit_ends = |text: &str| text.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let wide = |text: &str| text.chars().count() >= NARROWEST;
    let goes_on = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','))
            && !super::joined::begins_with_stamp(text)
    };
    let last_line = position + 1 == document.lines.len();
    let cut_behind = last_line && document.open_ended || wide(text) && goes_on(next) && !spans;
    let first_line = position == 0 && line.number == 1 && line.rank.is_none();
    let cut_before = first_line || wide(before) && digit_ends(before) && goes_on(text) && !spans;
    let groups = groups(text);
    let mut first = 0;
    while first < groups.len().min(MOST) {
        let last = run(text, &groups, first);
        let (from, to) = (groups[first].0, groups[last].1);
        let number: String = text[from..to].chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        let rest = text[to..].trim_start_matches(['.', ',']);
        let gap = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        let unit = units::unit_in_front(gap).map(|(_, unit)| unit.to_string());
        let at_end = rest.trim_end().is_empty();
        // A unit of one letter at the end of what breaks off may be the first of two.
        let torn_unit = unit.as_ref().is_some_and(|unit| gap.len() == unit.len() && unit.len() == 1);
        let whole = Reading { number: number.clone(), unit: unit.clone().filter(|_| !torn_unit) };
        let in_word = text[..from].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if in_word {
            first = last + 1;
            continue;
        }
        if from == 0 && cut_before || at_end && cut_behind {
            out.parts.push(Reading { number, unit: whole.unit });
        } else {
            let blanks = text[from..to].contains(' ');
            // One blank between two groups may stand between two numbers.
            if blanks && last == first + 1 {
                let own = |group: (usize, usize)| text[group.0..group.1].to_string();
                let two = Reading { number: own(groups[last]), unit: unit.clone() };
                out.parts.push(two);
                out.parts.push(Reading { number: own(groups[first]), unit: None });
            }
            let grouped: String = text[from..to].chars().filter(char::is_ascii_digit).collect();
            if last > first {
                out.whole.push(Reading { number: grouped, unit: unit.clone() });
            }
            out.whole.push(whole);
        }
        if last > first {
            for group in first..=last {
                let tail = if group + 1 == last { groups[last].1 } else { groups[group].1 };
                let unit = unit.clone().filter(|_| tail == to);
                for end in [groups[group].1, tail] {
                    let part: String = text[groups[group].0..end].chars().filter(|c| *c != ' ').collect();
                    if group > first || end < to {
                        out.parts.push(Reading { number: part, unit: unit.clone() });
                    }
                }
            }
        }
        first = last + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Fact;
    use crate::evidence::Span;

    fn doubted(log: &str, line: u64, bytes: u64) -> bool {
        let document = Document::from_text("-", log);
        is_part(&document, &Figure { bytes, half_width: 0, at: Span::line(line) })
    }

    #[test]
    fn a_number_at_the_end_of_what_breaks_off_is_no_figure() {
        assert!(doubted("trying to allocate 4850", 1, 4850));
        assert!(doubted("trying to allocate 19.34", 1, 19));
        assert!(!doubted("trying to allocate 4850\n", 1, 4850));
        assert!(!doubted("trying to allocate 4850 bytes", 1, 4850));
        assert!(doubted("2.55 GiB is needed\n", 1, 2_738_041_651));
    }

    #[test]
    fn one_group_of_a_number_is_no_figure() {
        assert!(doubted("x allocate 724 383 005 bytes\n", 1, 5));
        assert!(doubted("x allocate 724 383 005 bytes\n", 1, 724));
        assert!(!doubted("x allocate 724 383 005 bytes\n", 1, 724_383_005));
        assert!(doubted("x 36,082227GB memory has been allocated\n", 1, 82_227 << 30));
        assert!(doubted("x (34.809.025.557B)\n", 1, 34));
        assert!(!doubted("x 79.15 GiB, 15 GiB free\n", 1, 15 << 30));
        assert!(doubted("x 5 082,6567 MB; free\n", 1, 5 << 20));
    }

    #[test]
    fn a_number_that_a_lines_end_tears_is_no_figure() {
        let log = "RuntimeError: Resource exhausted: Out of memory while trying to allocate 5018970\n5795 bytes.\n";
        assert!(doubted(log, 1, 5_018_970) && doubted(log, 2, 5795));
        let stamped =
            "RuntimeError: Resource exhausted: Out of memory while trying to allocate 5018970\n2026-01-01 x\n";
        assert!(!doubted(stamped, 1, 5_018_970));
    }

    #[test]
    fn an_event_loses_a_doubtful_figure_only() {
        let document = Document::from_text(
            "-",
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4850",
        );
        let events = crate::dialect::events(&document);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].facts.get(Fact::Requested), None);
    }
}
