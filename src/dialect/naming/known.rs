//! The well-known programs, by the identifiers under which they show. A name that is known to be a program's needs less
//! to be believed than a word that merely stands where names stand, and where nothing else shows it may stand anywhere.

use super::Way;
use super::line::Found;
use crate::domain::program::{Name, SHORT};
use crate::domain::{Program, closed_set};
use crate::input::Needles;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Each identifier of `programs.txt` in the order of bytes, as `build.rs` writes it: its name, the first letter of its
/// [`Mark`], and the first of its family where that is another.
const TABLE: &str = include_str!(concat!(env!("OUT_DIR"), "/programs.txt"));
/// The last section of `programs.txt`.
const SIGNS_OF: &str = include_str!(concat!(env!("OUT_DIR"), "/signs.txt"));

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

/// Words that only one program prints, and whose.
static SIGNS: LazyLock<Signs> = LazyLock::new(|| {
    let signs =
        SIGNS_OF.lines().filter_map(|line| Some((Name::new(line.split_once(": ")?.0)?, line.split_once(": ")?.1)));
    let (printed_by, words): (Vec<Name>, Vec<&str>) =
        signs.flat_map(|(name, words)| words.split(" | ").map(move |word| (name, word))).unzip();
    Signs { words: Needles::of_any_case(words), printed_by }
});

struct Signs {
    words: Needles,
    printed_by: Vec<Name>,
}

/// How far an identifier tells, and the first of its family. Most logs need one or two of the 5,000, so that the text
/// is searched by halves and nothing is built.
fn entry(of: Name) -> Option<(Mark, Name)> {
    let (mut from, mut to) = (0, TABLE.len());
    while from < to {
        let middle = (from + to) / 2;
        let start = TABLE.get(..middle)?.rfind('\n').map_or(0, |end| end + 1);
        let (line, _) = TABLE.get(start..)?.split_once('\n')?;
        let (name, rest) = line.split_once(' ')?;
        match of.as_str().cmp(name) {
            Ordering::Less => to = start,
            Ordering::Greater => from = start + line.len() + 1,
            Ordering::Equal => {
                let (mark, family) = rest.split_at_checked(1)?;
                let mark =
                    *[Mark::Program, Mark::Word, Mark::Block].iter().find(|known| known.id().starts_with(mark))?;
                return Some((mark, if family.is_empty() { of } else { Name::new(family)? }));
            }
        }
    }
    None
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
    let (mark, family) = entry(own)?;
    let called = |name: Name| Program::named(name.as_str()).filter(|named| matches!(named, Program::Unlisted(_)));
    Some(Known { mark, program: called(canonical(family, own)).unwrap_or(program) })
}

/// The first of a well-known program's family.
pub(super) fn family(program: Program) -> Option<Program> {
    let Program::Unlisted(own) = program else { return None };
    let (_, family) = entry(own)?;
    Program::named(family.as_str())
}

/// The well-known program of which this is one of several that run, `gridd2`, where nothing is called so itself.
pub(super) fn without_number(numbered: Program) -> Option<Program> {
    let Program::Unlisted(own) = numbered else { return None };
    let stem = own.as_str().trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == own.as_str().len() || stem.len() <= SHORT || entry(own).is_some() {
        return None;
    }
    program(stem)
}

/// True for the identifier of a well-known program that is no word as well.
pub(super) fn is_known(word: &str) -> bool {
    Name::new(word).and_then(entry).is_some_and(|(mark, _)| mark != Mark::Word)
}

/// The well-known program of this identifier, where nothing else is called so and no row is its own.
fn program(word: &str) -> Option<Program> {
    let name = Name::new(word)?;
    entry(name).filter(|(mark, _)| *mark == Mark::Program)?;
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
    let hits = SIGNS.words.longest(line).filter(|hit| whole(hit.start, hit.end));
    let longest = hits.max_by_key(|hit| hit.length()).and_then(|hit| SIGNS.printed_by.get(hit.number));
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
    let line = behind_a_host(line);
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

/// The line without whose machine a prompt shows: `root@openwrt:/tmp# free`.
fn behind_a_host(line: &str) -> &str {
    let text = line.trim_start();
    let Some((user, rest)) = text.split_once('@') else { return line };
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // `(env) ada@box:~$`, `[ada@box work]$`
    let user = user.strip_prefix('[').unwrap_or(user);
    let user = user.strip_prefix('(').and_then(|user| user.split_once(") ")).map_or(user, |(_, user)| user);
    let host = rest.len() - rest.trim_start_matches(name).len();
    match !user.is_empty() && user.chars().all(name) && host > 0 && rest[host..].starts_with([':', ' ', '~', ']']) {
        true => &rest[host..],
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identifier_of_the_list_is_found_and_the_marks_are_taken() {
        let names = || TABLE.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name);
        assert!(names().count() > 4000 && names().is_sorted(), "{}", names().count());
        assert_eq!(names().find(|name| Name::new(name).and_then(entry).is_none()), None);
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
        assert_eq!(told("(env) ada@gpumd:~/w$ free -m"), Vec::<String>::new(), "a machine's name");
        assert_eq!(told("the salmon swims around the star"), Vec::<String>::new());
        assert_eq!(told("ffmpegs are none"), Vec::<String>::new());
        assert_eq!(told("qemu ffmpeg gromacs nwchem openfoam clamav x264 gdal"), Vec::<String>::new(), "a list");
    }
}
