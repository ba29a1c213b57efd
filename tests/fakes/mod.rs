//! Builds the stand-ins for driver libraries: each a single file without dependencies, compiled once per test run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `tests/fakes/<source>` to `<library>` in a folder of its own under the target folder, and returns the
/// folder, for LD_LIBRARY_PATH. `flags` are handed to rustc.
pub fn build(source: &str, library: &str, variant: &str, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes").join(variant);
    std::fs::create_dir_all(&folder).unwrap();
    // Several test processes may build at a time: each to its own name, then moved into place.
    let fresh = folder.join(format!("{library}.{}", std::process::id()));
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "fake", "-O", "-A", "warnings"])
        .args(flags)
        .arg(root.join("tests/fakes").join(source))
        .arg("-o")
        .arg(&fresh)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&fresh, folder.join(library)).unwrap();
    folder
}
