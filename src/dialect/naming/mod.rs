//! Which program a message is of, from how programs show themselves: the class of an exception, a namespace, the prefix
//! of a log line, the innermost frame of a traceback, an executable, a command, a banner.
//!
//! Each of these is a way in which a name shows, and each is weighed by how often it was right where names are known:
//! `names.json`, which `tests/messages/names.py` writes. Of the names that show the most probable is told, or nobody
//! where none is. A program that is listed and shows by words that only it prints is taken at once.

mod banner;
mod commands;
mod frames;
mod introductions;
mod known;
mod line;
mod odds;
mod repeated;
mod word;

use super::syslog;
use crate::domain::program::Language;
use crate::domain::{Program, closed_set};
use crate::input::{Document, Needles};
use std::sync::{Arc, LazyLock};

pub use commands::is_wrapper;
pub use introductions::Introductions;
pub use known::Mark;
pub(super) use line::exception;

/// Lines around the message in which a program may show itself.
const BEFORE: usize = 40;
const AFTER: usize = 15;
/// Of a longer line only this much is looked at.
const LONGEST: usize = 4 << 10;

closed_set! {
    /// How a name shows.
    pub enum Way {
        /// The package of an exception's class.
        Class = "class",
        /// The first part of a C++ or Rust path.
        Namespace = "namespace",
        /// The same, written as a type is.
        Type = "type",
        /// Before a colon at the beginning of a line.
        Prefix = "prefix",
        /// The first of two or three words before a colon.
        TwoWords = "two-words",
        /// The first word of a function's name.
        Function = "function",
        /// In brackets at the beginning of a line.
        Bracket = "bracket",
        /// A logger's name.
        Logger = "logger",
        /// Who ran out, in a sentence, written as names are.
        Subject = "subject",
        /// A capitalised word in such a place.
        Capital = "capital",
        /// An error code's first word.
        Code = "code",
        /// In parentheses at a line's end.
        Tag = "tag",
        /// A folder in a path of the message's line.
        Source = "source",
        /// A folder in another line's path.
        Folder = "folder",
        /// The innermost package of a traceback.
        Frame = "frame",
        /// Another package of it.
        OuterFrame = "outer-frame",
        /// The last command before the message.
        Command = "command",
        /// The same, and the message begins with its name.
        Echo = "echo",
        /// The mark with which most lines around begin.
        Repeated = "repeated",
        /// The project of a script that it runs.
        Script = "script",
        /// The file of a program, in a path or alone.
        Executable = "executable",
        /// An executable called by common words.
        Commonplace = "commonplace",
        /// With a version.
        Banner = "banner",
        /// Who says that it began.
        Began = "began",
        /// Who is said to have ended.
        Ended = "ended",
        /// A shared library.
        Library = "library",
        /// The owner of a project at a public address.
        Address = "address",
        /// The words that only a listed program prints.
        Marker = "marker",
        /// Another command, one of two words.
        Mention = "mention",
        /// A well-known program's identifier, anywhere on a line, and one that is a part of a longer word.
        Known = "known",
        /// Of the same kind.
        Part = "part",
        /// Words that only one program prints.
        Sign = "sign",
        /// The form in which a language's runtime prints its errors, where nothing else shows.
        Language = "language",
    }
}

closed_set! {
    /// Where a name shows, as seen from the message.
    pub enum Place {
        /// On the message's own line, or by what belongs to the whole log: its command, its traceback, its banner.
        Own = "own",
        /// Within three lines of it.
        Beside = "beside",
        Far = "far",
    }
}

impl Way {
    /// True where the word stands among others of a sentence or a heading, in which any word may stand.
    const fn is_prose(self) -> bool {
        matches!(
            self,
            Way::Prefix
                | Way::Repeated
                | Way::TwoWords
                | Way::Function
                | Way::Bracket
                | Way::Subject
                | Way::Capital
                | Way::Type
                | Way::Tag
                | Way::Banner
                | Way::Began
                | Way::Ended
                | Way::Mention
                | Way::Folder
        )
    }
}

/// So far below the best odds another name of its family shows about as well.
const NEARLY: f64 = 1.0;

/// A name is told from this probability on; below it nobody is named.
const LEAST: f64 = 0.3;

/// All markers of the listed programs, searched in one pass.
static MARKERS: LazyLock<Markers> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut programs = Vec::new();
    for program in Program::LISTED {
        for marker in program.markers() {
            words.push(*marker);
            programs.push(*program);
        }
    }
    Markers { as_printed: Needles::new(&words), lowered: Needles::of_any_case(&words), programs }
});

struct Markers {
    as_printed: Needles,
    /// For lines that were put in lower case.
    lowered: Needles,
    programs: Vec<Program>,
}

/// A name that shows around a message, and how.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Shown {
    /// The program's id.
    #[serde(serialize_with = "by_id")]
    pub program: Program,
    /// What is known of the name.
    pub mark: Mark,
    /// The ways in which it showed, where, and how often.
    pub ways: Vec<(Way, Place, u32)>,
}

fn by_id<S: serde::Serializer>(program: &Program, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(program.id())
}

/// The names that show around a message.
#[derive(Debug, Default)]
struct Tally {
    names: Vec<Shown>,
    /// What the programs that are counted run on, where only those are.
    on: Option<Program>,
}

/// Names that are weighed; a log holds a few.
const MOST: usize = 64;
/// So often the same way counts for a name, each time after the first for a quarter.
const AGAIN: u32 = 4;

impl Tally {
    /// Counts a way in which a program shows.
    fn add(&mut self, way: Way, program: Program, place: Place) {
        let program = known::without_number(program).unwrap_or(program);
        let known = known::of(program);
        let sure = known.is_some_and(|known| known.mark == Mark::Program);
        let id = program.id();
        let other = || word::is_prose(id) || word::is_numbered(id);
        if way.is_prose() && !sure && matches!(program, Program::Unlisted(_)) && other() {
            return;
        }
        // `xargs: cat: terminated` beside the message: what only runs or looks at others.
        let runs = matches!(way, Way::Command | Way::Echo);
        if (place != Place::Own || way == Way::Ended) && !runs && commands::is_wrapper(id) {
            return;
        }
        let program = known.map_or(program, |known| known.program);
        if !word::tells(program) || self.on.is_some_and(|on| !may_run_on(program, on)) {
            return;
        }
        let at = self.names.iter().position(|name| name.program == program);
        let at = match at {
            Some(at) => at,
            None if self.names.len() < MOST => {
                let mark = known.map_or(Mark::Unknown, |known| known.mark);
                self.names.push(Shown { program, mark, ways: Vec::new() });
                self.names.len() - 1
            }
            None => return,
        };
        if let Some(name) = self.names.get_mut(at) {
            name.count(way, place, 1);
        }
    }

    /// The names with all that speaks for them. What speaks for `grid-index` speaks for `grid`, where that shows by
    /// itself.
    fn shown(&self) -> Vec<Shown> {
        let extends = |long: &str, short: &str| {
            long.len() > short.len()
                && short.len() >= 3
                && long.starts_with(short)
                && long[short.len()..].starts_with(['-', '_', '.', ' '])
        };
        let whole = |name: &Shown| {
            let mut whole = name.clone();
            for other in self.names.iter().filter(|other| extends(other.program.id(), name.program.id())) {
                other.ways.iter().for_each(|(way, place, times)| whole.count(*way, *place, *times));
            }
            whole
        };
        self.names.iter().map(whole).collect()
    }

    /// The name that most speaks for, and how probable it is that it, and not another or none of these, is right.
    fn best(&self) -> Option<(Program, f64)> {
        let shown = self.shown();
        // What the package of a traceback calls is not the program.
        let calls = shown.iter().any(|name| name.shows(Way::Frame) && !frames::is_interface(name.program));
        let called = |name: &Shown| calls && frames::is_interface(name.program);
        let shown: Vec<&Shown> = shown.iter().filter(|name| !called(name)).collect();
        let odds: Vec<f64> = shown.iter().map(|name| odds::of(name)).collect();
        let highest = odds.iter().copied().fold(0.0, f64::max);
        let all: f64 = odds.iter().map(|odds| (odds - highest).exp()).sum::<f64>() + (-highest).exp();
        let mut best: Option<(Program, f64)> = None;
        for (name, odds) in shown.iter().zip(&odds) {
            if best.is_none_or(|(_, known)| *odds > known) {
                best = Some((name.program, *odds));
            }
        }
        let (program, most) = best?;
        // What shows of its family speaks for it as well: `regionserver.HRegion` beside `org.apache.hadoop.hbase`.
        let family = known::family(program);
        let of_it = |name: &Shown| name.program == program || family.is_some() && known::family(name.program) == family;
        let its = shown.iter().zip(&odds).filter(|(name, _)| of_it(name));
        let probability = its.map(|(_, odds)| (odds - highest).exp()).sum::<f64>() / all;
        // The family's own name where that shows about as well: `zkServer.sh` of `/opt/zookeeper`.
        let head = family.filter(|family| {
            shown.iter().zip(&odds).any(|(name, odds)| name.program == *family && most - odds <= NEARLY)
        });
        let called = head.unwrap_or(program);
        Some((called, probability))
    }
}

/// True for what may be the program that a runtime or a library carries out: one in no list, or a listed one of Java's.
fn may_run_on(program: Program, on: Program) -> bool {
    let of_java = || on == Program::Java && program != on && program.languages().contains(&Language::Java);
    matches!(program, Program::Unlisted(_)) || of_java()
}

impl Shown {
    fn shows(&self, way: Way) -> bool {
        self.ways.iter().any(|(known, ..)| *known == way)
    }

    fn count(&mut self, way: Way, place: Place, times: u32) {
        match self.ways.iter_mut().find(|(known, at, _)| (*known, *at) == (way, place)) {
            Some((.., known)) => *known = (*known + times).min(AGAIN),
            None => self.ways.push((way, place, times.min(AGAIN))),
        }
    }
}

/// The names that show around a message, for those who learn what each way of showing is worth.
pub fn shown(document: &Document, position: usize) -> Vec<Shown> {
    tally(document, position, None).shown()
}

/// The program whose message stands at `position`, as far as anything names it.
pub fn program(document: &Document, position: usize) -> Option<Program> {
    let line = head(&document.lines.get(position)?.text);
    let likely = |(_, probability): &(Program, f64)| *probability >= LEAST;
    sure(line).or_else(|| tally(document, position, None).best().filter(likely).map(|(program, _)| program))
}

/// The program that called the interface whose error stands at `position`, where enough names it.
pub fn caller(document: &Document, position: usize) -> Option<Program> {
    let line = head(&document.lines.get(position)?.text);
    let weighed = || tally(document, position, None).best().filter(calls).map(|(program, _)| program);
    sure(line).or_else(weighed)
}

/// Programs that began as a copy of a listed one and still print its messages, by the word that shows them.
const FORKS: &[(Program, &[&str])] = &[
    (Program::Redis, &["valkey", "keydb", "dragonfly"]),
    (Program::LlamaCpp, &["powerinfer", "ik_llama", "llamafile"]),
    (Program::Postgres, &["risingwave", "greenplum", "yugabyte", "cockroach", "timescaledb"]),
];

/// The program that a listed one's message is of, where the lines around name one of its copies.
pub fn fork(document: &Document, position: usize, program: Program) -> Option<Program> {
    let (_, copies) = FORKS.iter().find(|(of, _)| *of == program)?;
    let last = position.saturating_add(AFTER + 1).min(document.lines.len());
    let lines = document.lines.get(position.saturating_sub(BEFORE)..last)?;
    let lines: Vec<String> = lines.iter().map(|line| head(&line.text).to_ascii_lowercase()).collect();
    let shown = |copy: &&&str| lines.iter().any(|line| line.contains(**copy));
    copies.iter().find(shown).and_then(|copy| Program::named(copy))
}

/// The program that runs on a known one, whose message stands at `position`.
pub fn runs_on(document: &Document, position: usize, on: Program) -> Option<Program> {
    tally(document, position, Some(on)).best().filter(calls).map(|(program, _)| program)
}

/// The unlisted program that is built on a framework whose message stands at `position`, by the packages of its
/// traceback and by its command alone: of the words around such a message three in ten name nothing.
pub fn built_on(document: &Document, position: usize, on: Program) -> Option<Program> {
    let mut tally = Tally { on: Some(on), ..Tally::default() };
    let mut add = |way: Way, program: Program| tally.add(way, program, Place::Own);
    frames::all(document, position, &mut add);
    commands::all(document, position, &mut add);
    tally.best().filter(calls).map(|(program, _)| program).or_else(|| presented(document, position))
}

/// The well-known program that presents itself with its release around a framework's message: `Unsloth 2025.3.19: …`.
fn presented(document: &Document, position: usize) -> Option<Program> {
    let mut first = None;
    banner::all(document, position, &mut |way, program| {
        let known = known::of(program).filter(|known| known.mark == Mark::Program).map(|known| known.program);
        let listed = Some(program).filter(|program| program.is_application_of_pytorch());
        if way == Way::Banner {
            first = first.or(listed).or(known);
        }
    });
    first
}

/// Who called a framework is named where it is as probable as this: mostly nobody's name is shown at all.
const CALLER: f64 = 0.5;

fn calls((_, probability): &(Program, f64)) -> bool {
    *probability >= CALLER
}

/// The listed program that only can have printed the line.
fn sure(line: &str) -> Option<Program> {
    let listed = |program: &Program| !matches!(program, Program::Unlisted(_));
    exception(line).filter(listed).or_else(|| marker(line))
}

/// Names with the ways in which they show.
type Ways = Arc<[(Way, Program)]>;

/// The ways that something finds.
fn found(find: impl FnOnce(line::Found<'_>)) -> Ways {
    let mut ways = Vec::new();
    find(&mut |way, program| ways.push((way, program)));
    ways.into()
}

/// What a line shows that is the message's or stands beside it.
#[derive(Clone)]
struct Beside(Ways);

/// What any other line shows.
#[derive(Clone)]
struct Far(Ways);

/// Whose marker stands on a line.
#[derive(Clone)]
struct Marked(Option<Program>);

impl Beside {
    fn of(document: &Document, line: &str) -> Beside {
        document.memo.of(line, || Beside(in_line(line, true)))
    }
}

impl Far {
    fn of(document: &Document, line: &str) -> Far {
        document.memo.of(line, || Far(in_line(line, false)))
    }
}

impl Marked {
    fn of(document: &Document, line: &str) -> Marked {
        document.memo.of(line, || Marked(marker(line)))
    }
}

fn in_line(line: &str, own: bool) -> Ways {
    found(|found| {
        line::all(line, own, found);
        known::mentions(line, found);
    })
}

/// All ways in which names show around a message, of what may run on a program alone where that is asked for.
fn tally(document: &Document, position: usize, on: Option<Program>) -> Tally {
    /// Lines that the message may be spread over.
    const OWN: usize = 3;
    let mut tally = Tally { on, ..Tally::default() };
    let text = |at: usize| document.lines.get(at).map(|line| head(&line.text));
    // Of a system's log, what another service writes speaks for itself.
    let writer = |line: &str| syslog::writer(line).or_else(|| ringed(line)).map(str::to_ascii_lowercase);
    let own = text(position).and_then(writer);
    let other = |line: &str| own.is_some() && writer(line).is_some_and(|writer| own.as_ref() != Some(&writer));
    if let Some(line) = text(position) {
        let shows = Beside::of(document, line).0;
        shows.iter().for_each(|(way, program)| tally.add(*way, *program, Place::Own));
    }
    let before = (position.saturating_sub(BEFORE)..position).rev();
    let last = position.saturating_add(AFTER).min(document.lines.len().saturating_sub(1));
    let mut marked = false;
    for at in before.chain(position + 1..last + 1) {
        let Some(line) = text(at).filter(|line| !other(line)) else { continue };
        let place = if at.abs_diff(position) <= OWN { Place::Beside } else { Place::Far };
        let shows = if place == Place::Beside { Beside::of(document, line).0 } else { Far::of(document, line).0 };
        shows.iter().for_each(|(way, program)| tally.add(*way, *program, place));
        if !marked && let Some(program) = Marked::of(document, line).0 {
            marked = true;
            tally.add(Way::Marker, program, Place::Beside);
        }
    }
    let mut add = |way: Way, program: Program| tally.add(way, program, Place::Own);
    frames::all(document, position, &mut add);
    commands::all(document, position, &mut add);
    banner::all(document, position, &mut add);
    repeated::all(document, position, &mut add);
    tally
}

/// Who wrote a line of the kernel's ring buffer, `[12.345678] grid[4711]: …`: the kernel itself where nobody is named.
fn ringed(line: &str) -> Option<&str> {
    let (stamp, text) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let (seconds, rest) = stamp.trim_start().split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(rest) || rest.len() != 6 {
        return None;
    }
    let writer = text.split(' ').next().and_then(|word| word.strip_suffix("]:")?.split_once('['));
    // `grid[4711]: segfault at …` is the kernel's word on it.
    let faults = text.contains("]: segfault at ") || text.contains("]: trap ");
    Some(writer.filter(|(_, pid)| digits(pid) && !faults).map_or("kernel", |(name, _)| name))
}

/// The listed program whose marker stands on a line; of several the longest.
pub fn marker(line: &str) -> Option<Program> {
    let line = head(line);
    let lowered = !line.bytes().any(|byte| byte.is_ascii_uppercase());
    let search = if lowered { &MARKERS.lowered } else { &MARKERS.as_printed };
    let hits = search.longest(line).filter(|hit| !in_file_name(line, hit.start, hit.end) && !in_word(line, hit.start));
    let found = hits.max_by_key(|found| found.length())?;
    MARKERS.programs.get(found.number).copied()
}

/// True for a marker that begins within a word: `rmm/` of `charmm/source`, `raft/` of `aircraft/mesh`. A library's file
/// has its name behind `lib`.
fn in_word(line: &str, start: usize) -> bool {
    let letter = |c: char| c.is_ascii_lowercase();
    let (ahead, marker) = line.split_at(start);
    ahead.ends_with(letter) && marker.starts_with(letter) && !ahead.ends_with("lib")
}

/// True for a bare word in the name of a C++ source: `src/optix_core.cpp` is of the program that calls the library, and
/// named for what it calls.
fn in_file_name(line: &str, start: usize, end: usize) -> bool {
    let bare = line[start..end].bytes().all(|byte| byte.is_ascii_alphabetic());
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = line[..start].trim_end_matches(name);
    let ending = line[end..].trim_start_matches(name);
    let source = [".cpp", ".cc", ".cu", ".c:", ".cxx"].iter().any(|kind| ending.starts_with(kind));
    bare && source && before.ends_with('/')
}

fn head(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        let document = Document::from_text("-", text);
        program(&document, document.lines.len().saturating_sub(1)).map(|program| program.id().to_string())
    }

    #[test]
    fn an_exceptions_package_names_its_program() {
        assert_eq!(of("cupy.cuda.memory.OutOfMemoryError: x").as_deref(), Some("cupy"));
        assert_eq!(of("fieldsolver.errors.DeviceOOM: x").as_deref(), Some("fieldsolver"));
        assert_eq!(of("org.gridhouse.memory.MemoryLimitException: x").as_deref(), Some("gridhouse"));
        assert_eq!(of("org.apache.gridhouse.MemoryLimitException: x").as_deref(), Some("gridhouse"));
        assert_eq!(of("uk.ac.ravenham.gridhouse.MemoryLimitException: x").as_deref(), Some("gridhouse"));
        assert_eq!(of("org.apache.hadoop.hbase.MemoryLimitException: x").as_deref(), Some("hbase"));
        assert_eq!(of("concurrent.futures.BrokenError: x"), None);
        assert_eq!(of("MemoryError: x"), None);
    }

    #[test]
    fn prefixes_of_log_lines_name_their_program() {
        assert_eq!(of("2025-03-01 10:00:00,123 [GridServer] ERROR cannot allocate").as_deref(), Some("gridserver"));
        assert_eq!(of("gridtool: error: out of memory").as_deref(), Some("gridtool"));
        assert_eq!(of("ERROR:gridlib.mesh:out of memory").as_deref(), Some("gridlib"));
        assert_eq!(of("2025-03-01 10:00:00,123 - gridlib.mesh - ERROR - out of memory").as_deref(), Some("gridlib"));
        assert_eq!(of("./build/gridtool: out of memory").as_deref(), Some("gridtool"));
        assert_eq!(of("lattix_mesh_alloc: out of memory").as_deref(), Some("lattix"));
        assert_eq!(of("28 11:17:02[gridlib] ERR allocation failed").as_deref(), Some("gridlib"));
        assert_eq!(of("gridtool (io.h:318): realloc of 5 failed").as_deref(), Some("gridtool"));
        assert_eq!(of("gridscript5.4: not enough memory").as_deref(), Some("gridscript"));
        assert_eq!(of("/usr/bin/sort: memory exhausted").as_deref(), Some("sort"));
        assert_eq!(of("$ sort -S 9G a\nsort: memory exhausted").as_deref(), Some("sort"));
        assert_eq!(of("$ ffmpeg -i a | gridbuf -m 9G\ngridbuf: fatal: no memory").as_deref(), Some("gridbuf"));
        assert_eq!(of("loading '/etc/gridserver/main.conf'\nout of memory").as_deref(), Some("gridserver"));
        for nobody in [
            "ERROR: out of memory",
            "cudaMalloc: out of memory",
            "[rank 3] boom",
            "[2025-01-01] main: boom",
            "sort: boom",
            "panic: MemoryFile.Allocate failed",
        ] {
            assert_eq!(of(nobody), None, "{nobody}");
        }
    }

    #[test]
    fn the_innermost_package_of_a_traceback_is_named() {
        let log = "Traceback (most recent call last):\n  File \"/v/site-packages/click/core.py\", line 1, in main\n  \
                   File \"/v/site-packages/gridlib/mesh.py\", line 5, in grow\nRuntimeError: out of memory";
        assert_eq!(of(log).as_deref(), Some("gridlib"));
        let rust = "thread 'main' panicked at /r/.cargo/registry/src/index.io-1/gridcrate-0.4.2/src/lib.rs:9:1: oom";
        assert_eq!(of(rust).as_deref(), Some("gridcrate"));
    }

    #[test]
    fn commands_and_banners_name_their_program() {
        assert_eq!(
            of("$ CUDA_VISIBLE_DEVICES=0 mpirun -np 4 gridtool -i a\nout of memory").as_deref(),
            Some("gridtool")
        );
        assert_eq!(of("$ python -m gridlib.train\nout of memory").as_deref(), Some("gridlib"));
        assert_eq!(of("Gridtool version 3.1\nout of memory").as_deref(), Some("gridtool"));
        assert_eq!(of("$ python train.py\nout of memory"), None);
    }

    #[test]
    fn each_way_in_which_a_name_shows_is_read() {
        for (log, name) in [
            (r#"{"s":"F","msg":"gridd fatal: out of memory"}"#, "gridd"),
            ("ts=1 level=error app=gridtool msg=\"out of memory\"", "gridtool"),
            ("gridtool [error]: malloc of size 99 failed", "gridtool"),
            (" * ABOUT  GridMiner/6.21.0 gcc/9.3.0\nout of memory", "gridminer"),
            ("Gridtool's memory management: out of memory", "gridtool"),
            ("E 00:00:00.12 gridtool:mesh.h:12] out of memory", "gridtool"),
            ("Gridtool++> Running on 4 nodes\nout of memory", "gridtool"),
            ("*** gridtool 2.3.1 for all GPUs ***\nout of memory", "gridtool"),
            ("Error: out of memory. Restart Gridtool and try a smaller scene", "gridtool"),
            ("SOLUTION: re-run Gridtool with more memory\nout of memory", "gridtool"),
            ("Jan  1 10:00:00 n1 gridtool-server[1669]: out of memory", "gridtool"),
            ("facebook::gridtool::Pool::grow: out of memory", "gridtool"),
            ("[grid_sort_core] merging 4 blocks... gridtool sort: error, out of memory", "gridtool"),
            ("sales=# select * from orders;\nout of memory", "postgresql"),
            ("$ perl dedupe.pl a.log\nOut of memory!", "perl"),
            ("  File \"/home/ann/gridtool/mesh/grow.py\", line 5, in grow\nout of memory", "gridtool"),
            ("  File \"C:\\Users\\ann\\code\\gridtool\\grow.py\", line 5, in grow\nout of memory", "gridtool"),
            ("gridtool:15> a = zeros (9)\nerror: out of memory", "gridtool"),
            ("2025-01-01 10:00:00 n1 !ERR | gridtool[1669] [shard 0] pool - out of memory", "gridtool"),
            ("Jan  1 10:00:00 host gridtool[1669]: out of memory", "gridtool"),
            ("(gridtool:812): GLib-ERROR **: 10:00:00.1: failed to allocate 99 bytes", "gridtool"),
            ("Welcome to GridTool 2024\nout of memory", "gridtool"),
            ("GRIDX_ERR_NOMEM: out of memory", "gridx"),
            ("GridTool ran out of memory", "gridtool"),
            ("gridtool index: couldn't allocate memory", "gridtool"),
            ("Reading the index...gridtool: unable to allocate", "gridtool"),
            ("/opt/lattix-2.1/bin/lattix-core: out of memory", "lattix"),
            ("#3 0x00007f in gridlib::Mesh::grow ()\nout of memory", "gridlib"),
            ("2025-01-01 ERROR [ReplicaManager] error (gridq.server.ReplicaManager)\nout of memory", "gridq"),
            ("  File \"_gridtool.pyx\", line 5, in _gridtool.Mesh.grow\nout of memory", "gridtool"),
            ("0x00007ffd2a1c3b21 Gridtool-Core.dll!Mesh::grow() []\nout of memory", "gridtool"),
            ("gridtool/core/mesh/grow.cc:12: out of memory", "gridtool"),
            ("gridtool-mc( 0/ 8), ** error **: mmap failed for size 9 MB", "gridtool-mc"),
            ("Error using gridtool_mex\nout of memory", "gridtool"),
            ("Error in gridtool (line 61)\nout of memory", "gridtool"),
            ("https://github.com/ann/gridtool v0.5.0 by Ann\nout of memory", "gridtool"),
            ("# gridtool 2.7.5 processing \"gridtool open a\"\nout of memory", "gridtool"),
            ("(initramfs) gridtool -v open a\nout of memory", "gridtool"),
            ("Command executed:\n\n  gridtool -long a.fa b.bit\n\nCommand error:\n  out of memory", "gridtool"),
            ("    shell: gridtool -e 'a' b.gp\nout of memory", "gridtool"),
            ("  File \"C:\\Users\\ann\\AppData\\Local\\gridTool\\src\\onnx\\a.py\", line 1, in b\nMemoryError", {
                "gridtool"
            }),
            ("org.g2.jdbc.JdbcSQLException: Out of memory", "g2"),
            ("../Common/CUDA/GRIDX_common.cpp (7): cudaMalloc fail", "gridx"),
            ("|____| gridtool.com\nout of memory", "gridtool"),
            ("[4711:gridtool]: [ERROR] out of memory", "gridtool"),
            ("Jan  1 10:00:00 host kernel: GRIDK: out of memory", "gridk"),
            ("r.gridtool: mesh.c:12: void grow(int): Assertion `n > 0' failed: out of memory", "r.gridtool"),
            ("$ ./tut4\nterminate called after throwing an instance of 'gridlib::MeshError'\nout of memory", {
                "gridlib"
            }),
            ("C:\\w>\"C:\\Program Files\\x\\gridtool.exe\" -n 4\nout of memory", "gridtool"),
            ("**************\nGridtool 16:  ES64L\n**************\nout of memory", "gridtool"),
            ("Maker GridPython 2.1.0 on 2017-09-20\nout of memory", "gridpython"),
            ("gridtool/src/grid_misc/grid_mem.c:3: out of memory", "gridtool"),
            ("E  failed @ /home/ann/gridtool/impl/bank.cpp:433: false\nout of memory", "gridtool"),
            ("  File \"/data/job/Gridtool-master/gridtool/grow.py\", line 5, in grow\nMemoryError", "gridtool"),
            ("Caused by: java.lang.RuntimeException: out of memory\n\tat org.gridlib.Mesh.grow(Mesh.java:12)", {
                "gridlib"
            }),
            ("$ ls -l other.log | head\n$ gridtool -n 4\nout of memory", "gridtool"),
            ("$ perf record -e cycles:P -- sleep 5\nfailed to mmap: out of memory", "perf"),
            ("  File \"/home/ann/gridtool/gridtool/grow.py\", line 5, in grow\nMemoryError", "gridtool"),
            ("sort: mémoire épuisée", "sort"),
            ("+ set -euo pipefail\n+ LC_ALL=C\n+ gridtool -k1\nout of memory", "gridtool"),
            ("$ time q3 -st a.smt2\n(error \"out of memory\")", "q3"),
            ("c q3 version 4.8.17 - 64 bit\nERROR: out of memory", "q3"),
            ("[ 12.345678] gridgpu 0000:01:00.0: solver[4711]: out of memory", "gridgpu"),
            ("GridMCVerbose A(1) | a\nGridMCVerbose A(1) | b\nGridMCVerbose B(2) | c\nCannot reserve memory", "gridmc"),
            ("mesh.c:1  GRIDX  ERROR a\nmesh.c:2  GRIDX  ERROR b\nmesh.c:3  GRIDX  ERROR out of memory", "gridx"),
        ] {
            assert_eq!(of(log).as_deref(), Some(name), "{log}");
        }
    }

    #[test]
    fn what_stands_where_a_name_may_stand_is_not_always_one() {
        for log in [
            "spid121 error: out of memory",
            "ORX-04030: out of memory",
            "LogRender: Error: out of memory",
            "src/mesh/lib/alloc.c:12: out of memory",
            "$ nvidia-smi\nout of memory",
            "[conn41] out of memory",
            "SOLUTION: out of memory",
            "Load balancing step 4 starting at 112.4\nout of memory",
            "    rate_control:   CQP\nout of memory",
            "  File \"/home/ann/train.py\", line 5, in <module>\nout of memory",
            "  File \"/usr/lib/python3.11/json/decoder.py\", line 5, in decode\nout of memory",
            "> out of memory",
            "thread 'main' panicked: out of memory",
            "FATAL: PQgridExec() failed: out of memory",
            "0x00007ffd2a1c3b21 ntdll.dll!RtlAlloc []\nout of memory",
            "[2026-05-21T07:31:12,209][ERROR] [data-hot-1] out of memory",
            "[09:22:13][gpu-b17][0]: out of memory",
            "util3d.cu(53): ERROR: out of memory",
            "New error: LOW_MEMORY,MEMORY\nout of memory",
            "Caught exception in thread: out of memory",
            "alpha 0.5 1.25\nout of memory",
            "Jan  1 10:00:00 host othertool[12]: ready\nJan  1 10:00:01 host kernel: out of memory",
            "[12.345678] othertool[4711]: ready\n[12.345679] out of memory",
            "Étape 1/5 : a\nÉtape 2/5 : b\nÉtape 3/5 : c\nout of memory",
            "affinity: SYS\nreading\nreading\nreading\nout of memory",
            "$ grep -n \"A\\|GRID_COUNT\" a.h\nout of memory",
            "==============\nINSTANT 0.310E+00\n==============\nout of memory",
        ] {
            assert_eq!(of(log), None, "{log}");
        }
    }

    #[test]
    fn letters_of_any_script_stand_anywhere() {
        let lines = [
            "(gridtool:812): GLib-ERROR **: out of memory",
            "host gridtool-1.2_v3[1669]: [M::load_index] /opt/grid-2.1/bin/x: libgrid.so.1(_ZN4grid4growEv+0x1) [0x7f]",
            "user@host:~/w$ docker run q.io/b/g:1.2--h3 python -m gridlib.train a_b.py 'x' > y",
            "XMRig/6.21.0 Foo's memory: GRIDX_ERR_NOMEM GridTool ran out of memory (Grid) https://github.com/a/b/c",
            r#"{"msg":"gridd fatal: x","logger":"a.b.C"} #3 0x1 in gridlib::Mesh::grow () Welcome to Grid v1.2"#,
        ];
        for line in lines {
            for at in 0..=line.len() {
                for letter in ["ö", "→", "中", "\u{301}"] {
                    let text = format!("{}{letter}{}", &line[..at], &line[at..]);
                    let _ = of(&format!("{text}\nout of memory"));
                    let _ = of(&text);
                }
            }
        }
    }

    #[test]
    fn a_program_is_named_rather_than_the_interface_that_it_calls() {
        let log = "Traceback (most recent call last):\n  File \"/v/site-packages/gridlib/mesh.py\", line 5, in grow\n  \
                   File \"/v/site-packages/pyopencl/__init__.py\", line 9, in buffer\nboom";
        assert_eq!(of(log).as_deref(), Some("gridlib"));
        let alone = "  File \"/v/site-packages/pyopencl/__init__.py\", line 9, in buffer\nboom";
        assert_eq!(of(alone).as_deref(), Some("pyopencl"));
    }
}
