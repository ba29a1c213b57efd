//! What the tests of the binary share: how it is started, and the fixtures.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod schema;

use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// The binary with nothing of the caller's surroundings that changes its output.
pub fn oomdoc() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oomdoc"));
    for name in
        ["LC_ALL", "LC_MESSAGES", "LANGUAGE", "OOMDOC_LANG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"]
    {
        command.env_remove(name);
    }
    command.env("LANG", "en_US.UTF-8").current_dir(root());
    command
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every log fixture, relative to the root, sorted.
pub fn logs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("fixtures/logs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "log") {
                found.push(path.strip_prefix(root()).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no fixtures");
    found
}

/// Runs the binary and returns its exit code, standard output and standard error.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    (
        output.status.code().expect("no signal"),
        String::from_utf8(output.stdout).expect("UTF-8"),
        String::from_utf8(output.stderr).expect("UTF-8"),
    )
}

/// A message of PyTorch 2.x in which the cache would have held the request.
pub const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total \
capacity of 31.36 GiB of which 1.91 GiB is free. Including non-PyTorch memory, this process has 29.44 GiB memory in use. \
Of the allocated memory 24.18 GiB is allocated by PyTorch, and 4.73 GiB is reserved by PyTorch but unallocated. If \
reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid \
fragmentation.";
