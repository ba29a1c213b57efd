//! `--snapshot`: what PyTorch itself tells from inside the job's Python processes.
//!
//! A small Python module stands first on `PYTHONPATH`, so that every Python of the job imports it; what it does is said
//! at the head of `inside/oomdoc_inside.py`. It finds its settings beside itself and leaves one file for each process
//! that uses CUDA, and a memory snapshot where one runs out of memory.

use crate::incident::timeline::{Header, InsideProcess};
use crate::rehearse::agent;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Result};
use std::path::{Path, PathBuf};

/// The module, which [`agent::starting`] has Python import.
const MODULE: &str = include_str!("inside/oomdoc_inside.py");

/// Processes of one job that are read at most, and bytes of what one leaves.
const PROCESSES: usize = 1024;
const LONGEST: u64 = 1 << 20;

/// The folder from which the job's Pythons take the module, and into which they write. Gone with this value.
pub struct Inside {
    folder: tempfile::TempDir,
}

impl Inside {
    /// Prepares it; snapshots will be written to `snapshots`, which is made when there is one.
    ///
    /// # Errors
    /// Where no temporary folder can be written.
    pub fn prepare(snapshots: &Path, header: &Header) -> Result<Inside> {
        let folder = tempfile::Builder::new().prefix("oomdoc-run-").tempdir()?;
        let processes = folder.path().join("processes");
        fs::create_dir(&processes)?;
        let prefix = header.rank.map_or_else(String::new, |rank| format!("rank{rank}-"));
        let settings = serde_json::json!({
            "snapshots": std::path::absolute(snapshots)?,
            "prefix": prefix,
            "processes": processes,
        });
        let inside = Inside { folder };
        fs::create_dir(inside.modules())?;
        fs::write(inside.modules().join("oomdoc_inside.py"), MODULE)?;
        fs::write(inside.modules().join("sitecustomize.py"), agent::starting("oomdoc_inside", "oomdoc run"))?;
        fs::write(inside.modules().join("settings.json"), settings.to_string())?;
        Ok(inside)
    }

    fn modules(&self) -> PathBuf {
        self.folder.path().join("python")
    }

    /// `PYTHONPATH` of the job.
    pub fn python_path(&self) -> OsString {
        crate::rehearse::launch::before(&self.modules(), std::env::var_os("PYTHONPATH"))
    }

    /// What the job's processes have told until now, by process id. What cannot be read is left out: a process may be
    /// writing it.
    pub fn processes(&self) -> Vec<InsideProcess> {
        let Ok(entries) = fs::read_dir(self.folder.path().join("processes")) else { return Vec::new() };
        let files = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|kind| kind == "json"));
        let mut processes: Vec<InsideProcess> = files.take(PROCESSES).filter_map(|entry| read(&entry.path())).collect();
        processes.sort_by_key(|process| process.pid);
        processes
    }
}

fn read(path: &Path) -> Option<InsideProcess> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
