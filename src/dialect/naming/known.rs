//! The well-known programs, by the identifiers under which they show. A name that is known to be a program's needs less
//! to be believed than a word that merely stands where names stand, and where nothing else shows it may stand anywhere.

use super::Way;
use super::line::Found;
use crate::domain::program::Name;
use crate::domain::{Program, closed_set};
use crate::input::Needles;
use std::collections::HashMap;
use std::sync::LazyLock;

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs.txt.gz"));

closed_set! {
    /// How far an identifier tells by itself.
    pub enum Mark {
        /// Nothing else is called so.
        Program = "program",
        /// A word as well.
        Word = "word",
        /// What stands in the logs of other programs, which call it or run beside it.
        Block = "block",
        /// It is no well-known program's.
        Unknown = "unknown",
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub mark: Mark,
    /// The program whose identifier it is.
    pub program: Program,
}

/// Identifiers of so few letters are abbreviations of many things.
const SHORT: usize = 3;

static ALL: LazyLock<All> = LazyLock::new(|| parse(&crate::packed::text(PACKED)));

struct All {
    /// What is known of each identifier: how far it tells, and the first of its family.
    names: HashMap<Name, (Mark, Name)>,
    /// Words that only one program prints, and whose.
    signs: Needles,
    printed_by: Vec<Name>,
}

fn parse(text: &str) -> All {
    let mut names: HashMap<Name, (Mark, Name)> = HashMap::with_capacity(8 << 10);
    let (mut signs, mut printed_by) = (Vec::new(), Vec::new());
    let mut section = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            continue;
        }
        if section == "signs" {
            if let Some((name, words)) = line.split_once(": ")
                && let Some(name) = Name::new(name)
            {
                signs.extend(words.split(" | "));
                printed_by.resize(signs.len(), name);
            }
            continue;
        }
        for entry in line.split_ascii_whitespace() {
            let mark = match (section, entry.as_bytes().first()) {
                ("words", _) | (_, Some(b'~')) => Mark::Word,
                ("blocks", _) | (_, Some(b'.')) => Mark::Block,
                _ => Mark::Program,
            };
            let mut aliases = entry.trim_start_matches(['~', '.']).split('=').filter_map(Name::new).peekable();
            let Some(head) = aliases.peek().copied() else { continue };
            if matches!(section, "words" | "blocks") {
                names.entry(head).or_insert((mark, head)).0 = mark;
                continue;
            }
            for alias in aliases {
                let short = mark == Mark::Program && alias.as_str().len() <= SHORT;
                names.entry(alias).or_insert((if short { Mark::Word } else { mark }, head));
            }
        }
    }
    All { names, signs: Needles::of_any_case(signs), printed_by }
}

/// The name by which an identifier is called: its family's, where one holds the other.
fn canonical(family: Name, own: Name) -> Name {
    // `grid2` is what its users call it.
    let numbered = own.as_str().strip_prefix(family.as_str());
    if numbered.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return own;
    }
    let letters = |name: Name| name.as_str().bytes().filter(u8::is_ascii_alphanumeric).collect::<Vec<u8>>();
    let holds = |long: &[u8], short: &[u8]| short.len() > SHORT && long.windows(short.len()).any(|part| part == short);
    let (long, short) = (letters(family), letters(own));
    if holds(&long, &short) || holds(&short, &long) { family } else { own }
}

/// What is known of a name in no list.
pub(super) fn of(program: Program) -> Option<Known> {
    let Program::Unlisted(own) = program else { return None };
    let (mark, family) = *ALL.names.get(&own)?;
    let called = |name: Name| Program::named(name.as_str()).filter(|named| matches!(named, Program::Unlisted(_)));
    Some(Known { mark, program: called(canonical(family, own)).unwrap_or(program) })
}

/// The well-known program of which this is one of several that run, `gridd2`, where nothing is called so itself.
pub(super) fn without_number(numbered: Program) -> Option<Program> {
    let Program::Unlisted(own) = numbered else { return None };
    let stem = own.as_str().trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == own.as_str().len() || stem.len() <= SHORT || ALL.names.contains_key(&own) {
        return None;
    }
    program(stem)
}

/// True for the identifier of a well-known program that is no word as well.
pub(super) fn is_known(word: &str) -> bool {
    Name::new(word).and_then(|name| ALL.names.get(&name)).is_some_and(|(mark, _)| *mark != Mark::Word)
}

/// The well-known program of this identifier, where nothing else is called so and no row is its own.
fn program(word: &str) -> Option<Program> {
    let name = Name::new(word)?;
    ALL.names.get(&name).filter(|(mark, _)| *mark == Mark::Program)?;
    of(Program::named(name.as_str())?).map(|known| known.program)
}

/// The program whose own words stand on a line; of several the longest.
fn signs(line: &str, found: Found<'_>) {
    let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    // Whole words, but what ends in a mark goes on as it likes: `glp_`, `DB::`.
    let whole = |start: usize, end: usize| {
        let bytes = line.as_bytes();
        let starts = start.checked_sub(1).is_none_or(|at| !letter(bytes.get(at)) || !letter(bytes.get(start)));
        starts && (!letter(bytes.get(end)) || !letter(bytes.get(end.saturating_sub(1))))
    };
    let hits = ALL.signs.longest(line).filter(|hit| whole(hit.start, hit.end));
    let longest = hits.max_by_key(|hit| hit.length()).and_then(|hit| ALL.printed_by.get(hit.number));
    longest.and_then(|name| Program::named(name.as_str())).into_iter().for_each(|program| found(Way::Sign, program));
}

/// Identifiers of a line that are looked up.
const MOST: usize = 96;
/// A line that names more programs than this lists them.
const LISTED: usize = 4;

/// The known programs that a line mentions anywhere, by words that only they print, as whole identifiers or as the
/// part of one.
pub(super) fn mentions(line: &str, found: Found<'_>) {
    // What was typed is no program's own word.
    if !super::commands::is_typed(line) {
        signs(line, found);
    }
    let mut told: Vec<(Way, Program)> = Vec::new();
    let mut tell = |way: Way, word: &str| {
        let known = program(word);
        told.extend(known.filter(|known| !told.iter().any(|(_, told)| told == known)).map(|known| (way, known)));
        known.is_some()
    };
    let within = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '.' | '-');
    for word in line.split(|c: char| !within(c)).filter(|word| (SHORT + 1..=40).contains(&word.len())).take(MOST) {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '+');
        let numbered = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if tell(Way::Known, word) || numbered.len() < word.len() && tell(Way::Part, numbered) {
            continue;
        }
        let parts = word.split(['_', '.', '-', '+']).filter(|part| part.len() > SHORT && part.len() < word.len());
        for part in parts.take(6) {
            tell(Way::Part, part);
        }
    }
    if told.len() <= LISTED {
        told.into_iter().for_each(|(way, program)| found(way, program));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identifier_of_the_list_is_found_and_the_marks_are_taken() {
        assert!(ALL.names.len() > 4000, "{}", ALL.names.len());
        let mark = |name: &str| Program::named(name).and_then(of).map(|known| known.mark);
        assert_eq!(mark("clamscan"), Some(Mark::Program));
        assert_eq!(mark("ccx"), Some(Mark::Word));
        assert_eq!(mark("salmon"), Some(Mark::Word));
        assert_eq!(mark("pytorch"), None, "it has a row");
        assert_eq!(mark("wandb"), Some(Mark::Block));
        assert_eq!(mark("gridtool"), None);
    }

    #[test]
    fn an_alias_that_holds_its_familys_name_is_called_by_that() {
        let called = |name: &str| Program::named(name).and_then(of).map(|known| known.program.id().to_string());
        assert_eq!(called("libclamav").as_deref(), Some("clamav"));
        assert_eq!(called("clamscan").as_deref(), Some("clamscan"));
        assert_eq!(called("xmrstak").as_deref(), Some("xmr-stak"));
        assert_eq!(called("kraken2").as_deref(), Some("kraken2"));
    }

    #[test]
    fn a_mention_is_a_whole_identifier_or_a_part_of_one() {
        let told = |line: &str| {
            let mut names = Vec::new();
            mentions(line, &mut |_, program| names.push(program.id().to_string()));
            names
        };
        assert_eq!(told("Code: 241. DB::Exception: Memory limit"), ["clickhouse"]);
        assert_eq!(told("GDB::Exceptional"), Vec::<String>::new());
        assert_eq!(told("in file /tmp/build/dlib_4f93/cuda/gpu_data.cpp:12"), ["dlib"]);
        assert_eq!(told("Welcome to use GPUMD"), ["gpumd"]);
        assert_eq!(told("the salmon swims around the star"), Vec::<String>::new());
        assert_eq!(told("ffmpegs are none"), Vec::<String>::new());
        assert_eq!(told("qemu ffmpeg gromacs nwchem openfoam clamav x264 gdal"), Vec::<String>::new(), "a list");
    }
}
