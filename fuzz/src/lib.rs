//! Runs the commands inside the fuzzer's process: from the command line to what is printed, which is held against what
//! holds of every output (`targets`).

pub mod targets;

use jsonschema::Validator;
use oomdoc::cli;
use rustix::fs::{MemfdFlags, SeekFrom, ftruncate, memfd_create, seek};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::OnceLock;
use targets::Program;

/// Files in memory: the input as a command names it, and what it prints.
struct Files {
    input: OwnedFd,
    printed: File,
}

static FILES: OnceLock<Option<Files>> = OnceLock::new();
/// A target knows one schema, which takes longer to prepare than most runs.
static SCHEMA: OnceLock<Validator> = OnceLock::new();

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

/// The commands as functions of this process.
#[derive(Debug, Clone, Copy)]
pub struct Here;

impl Program for Here {
    fn run(&self, arguments: &[&str], data: &[u8]) -> Option<String> {
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

    fn json(&self, arguments: &[&str], schema: &str, data: &[u8]) -> Option<Value> {
        let printed = self.run(arguments, data)?;
        if printed.is_empty() {
            return None;
        }
        let value: Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
        let validator = SCHEMA.get_or_init(|| {
            let schema = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{error}"));
            jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{error}"))
        });
        if let Err(error) = validator.validate(&value) {
            panic!("{error} at {}: {printed}", error.instance_path());
        }
        Some(value)
    }
}
