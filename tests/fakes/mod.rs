//! Builds the stand-ins for driver libraries, and the program that asks them: each a single file without dependencies,
//! compiled once per test run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `tests/fakes/<source>` to `<library>` in a folder of its own under the target folder, and returns the
/// folder, for LD_LIBRARY_PATH. `flags` are handed to rustc.
pub fn build(source: &str, library: &str, variant: &str, flags: &[&str]) -> PathBuf {
    let mut all = vec!["--crate-type", "cdylib", "--crate-name", "fake", "-O", "-A", "warnings"];
    all.extend(flags);
    let file = compile(source, &Path::new(variant).join(library), &all);
    file.parent().unwrap().to_owned()
}

/// Compiles `tests/fakes/<source>` to a file under the target folder and returns where it lies.
///
/// Several test processes may build at a time, while others have the file loaded: each builds in a folder of its own
/// and moves the file into place, so that nobody sees half a file and the one in use stays as it was.
pub fn compile(source: &str, to: &Path, flags: &[impl AsRef<OsStr>]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes").join(to);
    let folder = to.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let own = tempfile::tempdir_in(folder).unwrap();
    let fresh = own.path().join(to.file_name().unwrap());
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2024"])
        .args(flags)
        .arg(root.join("tests/fakes").join(source))
        .arg("-o")
        .arg(&fresh)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&fresh, &to).unwrap();
    to
}
