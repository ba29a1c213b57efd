//! How likely the lines around a message are those of a failure: a sum of natural-log odds over their words.
//!
//! Whether a program that went on says so cannot be listed for programs that nobody has looked at: a shell's next
//! prompt, a help page's options, a test's name, a service's next request are words of no message. What each word and
//! each pair of neighbours is worth, in front of the message, on it and behind it, is counted in messages whose end is
//! known (`likely.json`, which `tests/messages/likely.py` writes). It decides against a message, never for one, and
//! only against one that no reader knows.

use crate::dialect::field;
use crate::dialect::rewrap::begins_with_an_exception;
use crate::input::Document;
use crate::packed;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// `likely.json`, packed.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/likely.json.gz"));

/// Lines looked at before and behind the message, and bytes of each.
const BEFORE: usize = 30;
const BEHIND: usize = 20;
const LONGEST: usize = 200;

/// Lines that have to stand around a message before they tell anything of it: who pastes one line tells of a failure.
const FEWEST: usize = 3;

/// An exception that was raised tells by itself that something failed: more must speak against it.
const RAISED: f64 = 1.0;
/// Words of a program's end behind the message, which no other words outweigh: in sets that nothing was learnt from 92
/// of 96 messages before them were failures.
const ENDS: &[&str] =
    &["crash", "core dumped", "abort", "fatal", "segmentation", "exit code", "exit status", "exited "];

/// Words of a line that speaks of memory or of an end, as the message itself does.
const OF_MEMORY: &[&str] = &[
    "memory", "oom", "alloc", "heap", " ram", "killed", "137", "exceed", "space", "limit", "capacity", "buffer",
    "stack", "swap", "mmap", "resource",
];

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
struct File {
    /// Log odds of a failure before any word.
    base: f64,
    /// Less is no failure.
    least: f64,
    /// What a term adds where it stands at least once.
    terms: HashMap<String, f64>,
}

static FILE: LazyLock<File> = LazyLock::new(|| serde_json::from_str(&packed::text(PACKED)).unwrap_or_default());

/// Log odds that the message at a line is of a failure.
fn log_odds(document: &Document, position: usize) -> f64 {
    let mut seen = HashSet::new();
    let mut sum = FILE.base;
    each(document, position, &mut |term| {
        if let Some((known, weight)) = FILE.terms.get_key_value(term)
            && seen.insert(known.as_str())
        {
            sum += weight;
        }
    });
    sum
}

/// True where the lines around the message at a line are those of messages behind which nothing failed. Where no line
/// follows, none shows that anything went on: in sets that nothing was learnt from 21 of 22 such messages were of
/// failures.
pub(super) fn came_to_nothing(document: &Document, position: usize) -> bool {
    let (from, to) = around(document, position);
    let written = |at: &usize| !field::text(document, *at).trim().is_empty();
    if !(position + 1..to).any(|at| written(&at)) {
        return false;
    }
    let line = field::text(document, position).trim_start();
    let raised = begins_with_an_exception(line) || line.contains("OutOfMemoryE");
    let least = if raised { FILE.least - RAISED } else { FILE.least };
    (from..to).filter(|at| *at != position).filter(written).take(FEWEST).count() == FEWEST
        && !ends_behind(document, position)
        && log_odds(document, position) < least
}

/// True where a line behind the message tells of an end, is an exception that was raised, or counts errors: `0 failed,
/// 3 errors`.
fn ends_behind(document: &Document, position: usize) -> bool {
    let counts_errors = |line: &str| {
        let before = |at: usize| line[..at].trim_end().rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
        line.match_indices("error").any(|(at, _)| before(at).is_some_and(|count| count > 0))
    };
    field::behind(document, position, BEHIND).any(|at| {
        let text = field::text(document, at);
        let line = lowered(text);
        begins_with_an_exception(text.trim_start())
            || ENDS.iter().any(|word| line.contains(word))
            || counts_errors(&line)
    })
}

/// The terms around a line, for `likely.py` to learn from.
pub fn terms(document: &Document, position: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each(document, position, &mut |term| {
        found.insert(term.to_owned());
    });
    found
}

/// The first line that speaks of memory: where no reader finds a message, the terms are those around it.
pub fn speaks_of_memory(document: &Document) -> Option<usize> {
    (0..document.lines.len()).find(|at| of_memory(&lowered(field::text(document, *at))))
}

/// The lines that are looked at, from one to before another.
fn around(document: &Document, position: usize) -> (usize, usize) {
    (position.saturating_sub(BEFORE), document.lines.len().min(position + BEHIND + 1))
}

fn lowered(line: &str) -> String {
    super::beginning(line, LONGEST).to_lowercase()
}

fn of_memory(lower: &str) -> bool {
    OF_MEMORY.iter().any(|word| lower.contains(word))
}

/// Calls for each term: `M out of`, a pair of neighbours on a line that speaks of memory; `B`, `A` before and behind
/// the first such line; `F`, `L` on the first and last line of the log; `P`, a prompt there; `N`, `T` how many lines
/// there are, and how many from the last one that speaks of memory.
fn each(document: &Document, position: usize, found: &mut dyn FnMut(&str)) {
    let (from, to) = around(document, position);
    let lines: Vec<String> =
        (from..to).map(|at| lowered(field::text(document, at))).filter(|line| !line.trim().is_empty()).collect();
    let spoken: Vec<bool> = lines.iter().map(|line| of_memory(line)).collect();
    let first = spoken.iter().position(|speaks| *speaks).unwrap_or(0);
    let last = spoken.iter().rposition(|speaks| *speaks).unwrap_or(0);
    let mut term = String::new();
    let mut tell = |parts: &[&str]| {
        term.clear();
        for part in parts {
            if !term.is_empty() {
                term.push(' ');
            }
            term.push_str(part);
        }
        found(&term);
    };
    for (at, line) in lines.iter().enumerate() {
        let place = match () {
            () if spoken[at] => "M",
            () if at > first => "A",
            () => "B",
        };
        let words = words(line);
        words.iter().for_each(|word| tell(&[place, word]));
        words.windows(2).for_each(|pair| tell(&[place, pair[0], pair[1]]));
        if at == 0 && from == 0 {
            words.iter().for_each(|word| tell(&["F", word]));
        }
        if at + 1 == lines.len() && to == document.lines.len() {
            words.iter().for_each(|word| tell(&["L", word]));
        }
        if is_marked(line) {
            tell(&["P", place]);
        }
    }
    tell(&["N", &(lines.len() / 4).min(6).to_string()]);
    tell(&["T", &(lines.len().saturating_sub(last)).min(8).to_string()]);
}

/// A line in lower case as words: runs of letters, numbers as `0`, marks of prompts and colons.
fn words(line: &str) -> Vec<&str> {
    #[derive(PartialEq)]
    enum Kind {
        Letters,
        Digits,
        Foreign,
        Mark,
        Other,
    }
    let kind = |c: char| match c {
        'a'..='z' | '_' | '\'' => Kind::Letters,
        '0'..='9' => Kind::Digits,
        '$' | '#' | '%' | '>' | ':' => Kind::Mark,
        c if !c.is_ascii() => Kind::Foreign,
        _ => Kind::Other,
    };
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let of = kind(c);
        let end = match of {
            Kind::Mark | Kind::Other => c.len_utf8(),
            _ => rest.find(|c| kind(c) != of).unwrap_or(rest.len()),
        };
        match of {
            Kind::Other => {}
            Kind::Digits => words.push("0"),
            _ => words.push(&rest[..end]),
        }
        rest = &rest[end..];
    }
    words
}

/// True for a line whose first word ends as a prompt does. What it tells is weighed: it need not be one, as `is_prompt`
/// of what typed commands show has to.
fn is_marked(line: &str) -> bool {
    let start = line.trim_start();
    start.starts_with("in [") || start.split_once(' ').is_some_and(|(word, _)| word.ends_with(['$', '#', '%', '>']))
}
