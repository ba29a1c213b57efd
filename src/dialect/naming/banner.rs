//! What a program says of itself when it starts and when it ends.

use super::head;
use super::line::{Found, is_level};
use super::word::{is_capitalised, is_common, is_proper, named, unversioned};
use super::{Way, Ways};
use crate::dialect::record::Record;
use crate::domain::Program;
use crate::input::Document;

/// Lines from the beginning of a log in which a program says who it is.
const BEGINNING: usize = 40;
/// Lines behind a message in which it, or its shell, says which program ended.
const ENDING: usize = 25;
/// Lines before a message in which it may have said that it started.
const NEAR: usize = 60;

pub(super) fn all(document: &Document, position: usize, found: Found<'_>) {
    let near = position.saturating_sub(NEAR);
    let beginning = 0..BEGINNING.min(near);
    for at in beginning.chain(near..position) {
        let Some(line) = document.lines.get(at) else { continue };
        let text = head(&line.text);
        // A title, and the version below it.
        if text.starts_with("Version: ")
            && let Some(title) = at.checked_sub(1).and_then(|at| document.lines.get(at)).map(|line| line.text.trim())
            && is_proper(title)
        {
            named(title).into_iter().for_each(|program| found(Way::Banner, program));
        }
        if let Some(program) = titled(document, at) {
            found(Way::Banner, program);
        }
        if at < BEGINNING {
            site(text).into_iter().for_each(|program| found(Way::Address, program));
        }
        let ways = document.memo.of(text, || Starting(super::found(|found| starting(text, found)))).0;
        ways.iter().for_each(|(way, program)| found(*way, *program));
    }
    let end = position.saturating_add(ENDING).min(document.lines.len());
    for line in document.lines.get(position + 1..end).unwrap_or_default() {
        let text = head(&line.text);
        let ways = document.memo.of(text, || Ending(super::found(|found| ending(text, found)))).0;
        ways.iter().for_each(|(way, program)| found(*way, *program));
    }
}

/// What a line says of a program that starts.
#[derive(Clone)]
struct Starting(Ways);

/// What a line behind a message says of a program.
#[derive(Clone)]
struct Ending(Ways);

fn starting(text: &str, found: Found<'_>) {
    let mut said = |text: &str| {
        version(text).into_iter().for_each(|program| found(Way::Banner, program));
        began(text).into_iter().for_each(|program| found(Way::Began, program));
    };
    match Record::of(text).filter(|record| record.texts().next().is_some()) {
        Some(record) => record.texts().take(2).for_each(said),
        None => said(text),
    }
}

fn ending(text: &str, found: Found<'_>) {
    version(text).into_iter().for_each(|program| found(Way::Banner, program));
    ended(text).into_iter().for_each(|program| found(Way::Ended, program));
}

/// The title between two rules, a name and its number: `*****`, `Grid 16:  ES64L`, `*****`.
fn titled(document: &Document, at: usize) -> Option<Program> {
    /// Lines of such a title.
    const LINES: usize = 4;
    let ruled = |at: usize| {
        let text = document.lines.get(at)?.text.trim();
        let mark = text.chars().next().filter(|mark| matches!(mark, '*' | '=' | '#' | '~' | '-'))?;
        (text.len() >= 12 && text.chars().all(|c| c == mark)).then_some(text.len())
    };
    let above = at.checked_sub(1).and_then(ruled)?;
    (at + 1..=at + LINES).find_map(ruled).filter(|below| *below == above)?;
    let mut words = head(&document.lines.get(at)?.text).split_whitespace();
    let (name, number) = (words.next()?, words.next()?);
    let numbered = number.trim_end_matches([':', ',']).trim_start_matches(['v', 'V']);
    let plain = name.len() >= 3 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let counts =
        (1..=6).contains(&numbered.len()) && numbered.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    named(name).filter(|_| plain && counts && is_capitalised(name) && !super::word::is_prose(name))
}

/// Whose site ends a line of a banner: `|____| grid.com`.
fn site(text: &str) -> Option<Program> {
    const OTHERS: &[&str] =
        &["github", "gitlab", "google", "nvidia", "example", "anaconda", "python", "docker", "localhost"];
    const LONGEST: usize = 80;
    let host = text.split_whitespace().next_back().filter(|_| text.len() <= LONGEST)?;
    let (name, domain) = host.trim_start_matches("http://").trim_start_matches("https://").split_once('.')?;
    let plain =
        name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let known = matches!(domain, "com" | "org" | "net" | "io" | "dev");
    (plain && known && !OTHERS.contains(&name)).then(|| named(name)).flatten()
}

fn word(text: &str) -> &str {
    text.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+')))
}

/// True for `1.2`, `v1.2.3`, `(2.0)`, `2023.2`.
fn is_version(word: &str) -> bool {
    let word = word.trim_start_matches(['v', 'V', '(', '[', '"']).trim_end_matches([')', ']', ',', ':', ';', '"']);
    // `g4.11.3`: three numbers behind another letter.
    let three = word.bytes().filter(|byte| *byte == b'.').count() == 2;
    let word = word.strip_prefix(|c: char| c.is_ascii_lowercase()).filter(|_| three).unwrap_or(word);
    // `0.310E+00` is a measurement.
    if ["E+", "E-", "e+", "e-"].iter().any(|exponent| word.contains(exponent)) {
        return false;
    }
    let number = word.split(['-', '+', 'r']).next().unwrap_or_default();
    let parts: Vec<&str> = number.split('.').collect();
    (2..=5).contains(&parts.len())
        && parts.first().is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty())
        && parts.get(1).is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// `foo version 2.1`, `Foo v1.0.3`, `Foo Engine 5.3`, `=== Foo 2.0 ===`.
fn version(text: &str) -> Option<Program> {
    const OTHERS: &[&str] = &[
        "cuda",
        "driver",
        "nvidia-smi",
        "python",
        "gcc",
        "kernel",
        "linux",
        "torch",
        "compiler",
        "nccl",
        "cudnn",
        "clang",
        "runtime",
        "api",
        "opencl",
        "vulkan",
        "opengl",
        "openmpi",
        "mpi",
        "java",
        "jdk",
        "jvm",
        "openjdk",
        "hotspot",
        "glibc",
        "node",
        "node.js",
        "go",
        "rustc",
        "cargo",
        "numpy",
        "transformers",
        "tensorflow",
        "cmake",
        "ubuntu",
        "debian",
        "centos",
        "windows",
        "macos",
        "bash",
        "conda",
        "docker",
        "qt",
        "boost",
        "openssl",
        "ptx",
        "sm",
        "capability",
        "gnu",
        "toolkit",
        "rocm",
        "hip",
        "protocol",
        "http/1.1",
        "schema",
        "format",
        "fftw",
        "mkl",
        "openblas",
        "hdf5",
        "gtk",
        "microsoft",
    ];
    const KINDS: &[&str] = &[
        "engine",
        "editor",
        "server",
        "package",
        "suite",
        "toolkit",
        "software",
        "studio",
        "database",
        "solver",
        "cli",
        "simulator",
        "code",
        "pro",
        "desktop",
        "professional",
        "enterprise",
        "community",
        "version",
        "release",
        "build",
        "ver",
        "rev",
        "basecaller",
        "renderer",
        "client",
        "tool",
        "tools",
        "program",
        "edition",
        "open-source",
        "standalone",
    ];
    // `*** Foo 2.0 for GPUs ***`: framed.
    let rule = |c: char| matches!(c, '*' | '=' | '#' | '|' | '~' | '-');
    let framed = text.trim_start().starts_with(rule) && text.trim_end().ends_with(rule);
    // `//grid 3.11 [linux]`: as a comment in the output that is a script again.
    let commented = text.starts_with("//");
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '/' && commented || rule(c));
    let words: Vec<&str> = text.split_whitespace().take(14).collect();
    // `Foo/1.2.3`, as agents call themselves.
    let agent = words.iter().filter_map(|word| word.split_once('/')).find(|(name, number)| {
        let digit = number.starts_with(|c: char| c.is_ascii_digit());
        (is_version(number) || digit && is_proper(name)) && named(word(name)).is_some() && is_capitalised(name)
    });
    if let Some((name, _)) = agent.filter(|(name, _)| !OTHERS.contains(&name.to_ascii_lowercase().as_str())) {
        return named(name);
    }
    // `https://github.com/ann/grid v0.5.0`
    let linked = words.windows(2).find_map(|pair| match pair {
        [address, number] if address.contains("://") && is_version(number) => {
            address.trim_end_matches('/').rsplit('/').next()
        }
        _ => None,
    });
    if let Some(program) = linked.and_then(named) {
        return Some(program);
    }
    // `# grid 2.7.5 processing …`: three numbers are no measurement.
    if let [name, number, _, ..] = words.as_slice()
        && number.bytes().filter(|byte| *byte == b'.').count() == 2
        && is_version(number)
        && !number.ends_with([':', ','])
        && !OTHERS.contains(&name.to_ascii_lowercase().as_str())
        && let Some(program) =
            named(name).filter(|_| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')))
    {
        return Some(program);
    }
    // `grid.6.3.2 built …`, `grid-1.2.3`: the version glued to the name that begins the line.
    let glued = words.first().and_then(|first| {
        let at = first.find(|c: char| c.is_ascii_digit())?;
        let name = first[..at].trim_end_matches(['v', 'V']).strip_suffix(['.', '-', '_'])?;
        (is_version(&first[at..]) && !is_common(name) && !name.contains(['/', '.', ':', '='])).then_some(name)
    });
    if let Some(name) = glued.filter(|name| !OTHERS.contains(&name.to_ascii_lowercase().as_str())) {
        return named(name);
    }
    let number = words.iter().position(|word| is_version(word))?;
    // `Z3 version 4.12`, `c z3 version 4.8` of a solver's comments: a letter and a digit, and nothing else is meant.
    if let Some([name, "version"]) = number.checked_sub(2).and_then(|at| words.get(at..number))
        && let Some(program) = super::word::tiny(name)
    {
        return Some(program);
    }
    let spoken = words[..number].iter().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
        matches!(word.as_str(), "version" | "release" | "ver" | "welcome" | "starting" | "is")
    });
    // `Maker GridPython 2.1.0 on 2017-09-20`: three numbers directly behind a name.
    let released = words[number].bytes().filter(|byte| *byte == b'.').count() >= 2
        && (1..=2).contains(&number)
        && words.get(number - 1).is_some_and(|before| is_proper(before) && !before.ends_with([':', ',', '=']));
    let marked = words[number].starts_with(['v', 'V']) || released;
    let name = words[..number]
        .iter()
        .rev()
        .take(5)
        .map(|name| word(name))
        .find(|name| named(name).is_some() && !KINDS.contains(&name.to_ascii_lowercase().as_str()))?;
    let lower = name.to_ascii_lowercase();
    let first = words.first().map(|first| word(first)) == Some(name);
    // Without a word or a mark for it, only what begins the line and is written as a name.
    let alone = words.len() <= 2 && first;
    // `step 3 starting at 112.4`: a time or a share, not a version.
    let measured = number.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|before| {
        matches!(*before, "at" | "in" | "to" | "of" | "by" | "after" | "from" | "than" | "about" | "=" | "took" | "is")
    });
    if measured {
        return None;
    }
    let sure = spoken
        || marked
        || alone
        || (framed || commented && number == 1) && first
        || first && (is_proper(name) || is_capitalised(name)) && words.len() <= 8;
    if OTHERS.contains(&lower.as_str()) || !sure || text.contains("GiB") || text.contains(" MB") || text.contains(" GB")
    {
        return None;
    }
    named(unversioned(name))
}

/// `Welcome to Foo`, `Entering Gaussian System`, `This is Foo`, `..... started STAR run`, `Foo: An Open-Source …`
fn began(text: &str) -> Option<Program> {
    const STARTS: &[&str] = &[
        "welcome to ",
        "this is ",
        "entering ",
        "started ",
        "starting ",
        "launching ",
        "running ",
        "initializing ",
        "initialising ",
        "powered by ",
        "thank you for using ",
        "executing ",
        "loading ",
        "using ",
        "invoking ",
    ];
    let lower = text.to_ascii_lowercase();
    if let Some((start, at)) =
        STARTS.iter().filter_map(|start| lower.find(start).map(|at| (start, at))).min_by_key(|p| p.1)
    {
        let before = text.get(..at)?.trim_end();
        // Only after a stamp, a level or dots, not inside a sentence.
        let opens = before
            .split_whitespace()
            .all(|word| !word.bytes().all(|byte| byte.is_ascii_lowercase()) || is_common(word));
        let rest = text.get(at + start.len()..)?;
        let rest = rest.strip_prefix("the ").unwrap_or(rest);
        let next = word(rest.split_whitespace().next()?);
        let loads = matches!(*start, "loading " | "using " | "running " | "executing ");
        let greets = start.starts_with("welcome")
            || start.starts_with("entering")
            || start.starts_with("thank")
            || start.starts_with("this is");
        // `starting grid 2.1`, `Starting Grid`: a name alone, or with its version.
        let starts = matches!(*start, "starting " | "started " | "launching " | "initializing " | "initialising ");
        let behind: Vec<&str> = rest.split_whitespace().skip(1).take(2).collect();
        let alone = match behind.as_slice() {
            [] => is_capitalised(next),
            // `gr-v2.1.0`: a version's tag.
            [number, ..] => {
                is_version(number.split_once("-v").map_or(*number, |(_, number)| number))
                    || number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit())
            }
        };
        if opens && (is_proper(next) && !loads || greets && is_capitalised(next) || starts && alone) {
            return named(unversioned(next));
        }
    }
    // `Puma starting in …`, `Gridlib (25.09-4) initialized`, `gridd v1.2.0 ready`, `Grid DNS 3.3.5 starting`
    const READY: &[&str] =
        &["starting", "started", "initialized", "initialised", "booting", "booted", "ready", "launched"];
    let stamp = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit()) || is_level(word);
    let mut heads = text.split_whitespace().skip_while(stamp).take(4);
    if let (Some(name), Some(second)) = (heads.next(), heads.next()) {
        let plain = |word: &str| word.trim_end_matches(['.', ':', ',', '!']).to_ascii_lowercase();
        // `nvBowtie... started`
        if let Some(name) = name.strip_suffix("...").filter(|_| READY.contains(&second)) {
            return named(unversioned(name));
        }
        let (third, fourth) = (heads.next().unwrap_or_default(), heads.next().unwrap_or_default());
        let is_ready = |word: &str| READY.contains(&plain(word).as_str());
        let version = second.bytes().any(|byte| byte.is_ascii_digit());
        let ready = is_ready(second) || version && is_ready(third) || is_version(third) && is_ready(fourth);
        // `Open5GS daemon v2.7.2`
        let daemon = second == "daemon" && is_version(third);
        if (ready || daemon) && is_capitalised(name) && !name.ends_with([':', ']', ')']) {
            return named(name);
        }
    }
    // `Foo: An Open-Source Package`, `Foo - a fast solver`, `foo 2.1 (C) 2024`
    let first = text.split_whitespace().next()?;
    let name = word(first);
    let rest = text.trim_start().get(first.len()..)?.trim_start();
    let stands = first.ends_with(':') || rest.starts_with("- ") || rest.starts_with("– ");
    let article = [": a ", "- a ", "– a ", ": an ", "- an ", ": the ", "- the "];
    let joined = format!("{}{}", if first.ends_with(':') { ": " } else { "" }, rest.to_ascii_lowercase());
    if stands && article.iter().any(|article| joined.starts_with(article)) && is_capitalised(name) {
        return named(name);
    }
    let copyright = lower.contains("(c)") || lower.contains("copyright") || lower.contains("licensed under");
    (copyright && is_proper(name)).then(|| named(name)).flatten()
}

/// `Foo crashed`, `nwchem terminated`, `Error termination in foo`, `foo exited with code 1`, `FOO: normal termination`
fn ended(text: &str) -> Option<Program> {
    const ENDS: &[&str] = &[
        " crashed",
        " aborted",
        " terminated",
        " exited",
        " has stopped",
        " has exited",
        " died",
        " failed with",
        " finished with",
        " quit unexpectedly",
        " shut down",
        " has crashed",
        " is shutting down",
        " stopped unexpectedly",
        " returned non-zero",
        " returned exit",
        " encountered",
    ];
    let lower = text.to_ascii_lowercase();
    if let Some(at) = ENDS.iter().filter_map(|end| lower.find(end)).min() {
        let before = &text[..at];
        let words: Vec<&str> = before.split_whitespace().collect();
        let last = words.last()?.trim_matches(['\'', '"', '`', '(', ')', ':', ',']);
        let own = words.iter().rev().take(3).map(|name| word(name)).find(|name| named(name).is_some());
        let name = own.unwrap_or(last);
        if words.len() <= 4 || is_proper(name) {
            return super::word::executable(name);
        }
    }
    // `Aborting foo`, `Error in foo execution`
    for start in ["Aborting ", "Exiting ", "Terminating ", "Error termination of ", "Fatal error in "] {
        if let Some(rest) = text.trim_start().strip_prefix(start) {
            let next = word(rest.split_whitespace().next()?);
            return named(next).filter(|_| is_proper(next) || is_capitalised(next));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_by(text: &str) -> Option<String> {
        version(text).or_else(|| began(text)).map(|program| program.id().to_string())
    }

    #[test]
    fn a_start_names_what_starts() {
        for (line, name) in [
            ("Starting Gridbase", Some("gridbase")),
            ("config: starting gridbase 230719", Some("gridbase")),
            ("gridtool.6.3.2 27Jun22 (build Jan 10 2023)", Some("gridtool")),
            ("gridtool-1.2.3", Some("gridtool")),
            ("//gridtool 3.11 [linux_amd64 CUDA-12.6]", Some("gridtool")),
            ("Starting epoch 3", None),
            ("starting the server", None),
            ("libgrid.so.1.2", None),
            ("Gridlib (25.09-4-g7e0d4c1) initialized", Some("gridlib")),
            ("Puma starting in cluster mode...", Some("puma")),
            ("Worker 1 (PID: 9) booted in 9.1s", None),
            ("2024-06-11T03:00:02 info: Gridbase DNS 3.3.5 starting", Some("gridbase")),
            ("Starting gridbase gr-v1.21.2-4d1c1d6", Some("gridbase")),
            ("GridDOOM g4.11.3 - 2023-10-26", Some("griddoom")),
        ] {
            assert_eq!(named_by(line).as_deref(), name, "{line}");
        }
    }
}
