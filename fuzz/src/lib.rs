//! What the targets share: a command is run whole, from its command line to what it prints, on bytes of the fuzzer's, and
//! what it printed is held against what holds of every output.

use oomdoc::cli;
use rustix::fs::{MemfdFlags, SeekFrom, ftruncate, memfd_create, seek};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::OnceLock;

/// Files in memory: the input as a command names it, and what it prints.
struct Files {
    input: OwnedFd,
    printed: File,
}

static FILES: OnceLock<Option<Files>> = OnceLock::new();

fn files() -> Option<&'static Files> {
    FILES
        .get_or_init(|| {
            let input = memfd_create("input", MemfdFlags::empty()).ok()?;
            let printed = memfd_create("printed", MemfdFlags::empty()).ok()?;
            rustix::stdio::dup2_stdout(&printed).ok()?;
            Some(Files { input, printed: printed.into() })
        })
        .as_ref()
}

/// Runs `oomdoc` with these arguments, INPUT standing for a file that holds `data`, and returns what it printed.
pub fn run(arguments: &[&str], data: &[u8]) -> Option<String> {
    let files = files()?;
    let mut input = File::from(files.input.try_clone().ok()?);
    ftruncate(&input, 0).ok()?;
    seek(&input, SeekFrom::Start(0)).ok()?;
    input.write_all(data).ok()?;
    let path = format!("/proc/self/fd/{}", files.input.as_fd().as_raw_fd());
    ftruncate(&files.printed, 0).ok()?;
    seek(&files.printed, SeekFrom::Start(0)).ok()?;
    let line = ["oomdoc"].into_iter().chain(arguments.iter().copied());
    let line: Vec<String> = line.map(|word| word.replace("INPUT", &path)).collect();
    let invocation = cli::parse_from(line).unwrap_or_else(|error| panic!("{error}"));
    let _ = oomdoc::command::run(invocation);
    seek(&files.printed, SeekFrom::Start(0)).ok()?;
    let mut printed = Vec::new();
    (&files.printed).take(1 << 26).read_to_end(&mut printed).ok()?;
    Some(String::from_utf8(printed).unwrap_or_else(|error| panic!("not UTF-8: {error}")))
}

/// A page for people at each of these widths and in both languages: nothing that a terminal obeys, and no line too wide.
pub fn pages(arguments: &[&str], data: &[u8]) {
    for (width, lang) in [("40", "en"), ("80", "zh"), ("120", "en")] {
        let mut line = arguments.to_vec();
        line.extend(["--width", width, "--lang", lang, "--color", "never"]);
        let Some(page) = run(&line, data) else { return };
        let obeyed = page.chars().find(|c| *c != '\n' && oomdoc::text::is_obeyed(*c));
        assert_eq!(obeyed, None, "{line:?}: {page}");
    }
}

/// JSON in the form of its schema.
pub fn json(arguments: &[&str], schema: &str, data: &[u8]) -> Option<serde_json::Value> {
    let mut line = arguments.to_vec();
    line.push("--json");
    let printed = run(&line, data)?;
    if printed.is_empty() {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{error}"));
    if let Err(error) = jsonschema::validate(&schema, &value) {
        panic!("{error} at {}: {printed}", error.instance_path());
    }
    Some(value)
}
