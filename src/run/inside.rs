//! `--snapshot`: what PyTorch itself tells from inside the job's Python processes.
//!
//! A small Python module stands first on `PYTHONPATH`, so that every Python of the job imports it; what it does is said
//! at the head of `inside/oomdoc_inside.py`. It finds its settings beside itself and leaves one file for each process
//! that uses CUDA, and a memory snapshot where one runs out of memory.

use crate::incident::timeline::{Header, InsideProcess};
use crate::order::InOrder;
use crate::rehearse::agent;
use rustix::fs::{FlockOperation, flock};
use rustix::process::Pid;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Result, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The module, which [`agent::starting`] has Python import.
const MODULE: &str = include_str!("inside/oomdoc_inside.py");

/// Processes of one job that are read at most, and bytes of what one leaves.
const PROCESSES: usize = 1024;
const LONGEST: u64 = 1 << 20;

/// What temporary folders begin with.
const PREFIX: &str = "oomdoc-run-";

/// Held locked while the folder's owner lives; the job's process id stands in it.
const OWNER: &str = "owner";

/// The file that the module leaves where it came into a Python at all.
const CAME: &str = "came";

/// The folder from which the job's Pythons take the module, and into which they write. Gone with this value.
pub struct Inside {
    folder: tempfile::TempDir,
    owner: fs::File,
}

impl Inside {
    /// Prepares it; snapshots will be written to `snapshots`, which is made when there is one.
    ///
    /// # Errors
    /// Where no temporary folder can be written.
    pub fn prepare(snapshots: &Path, header: &Header) -> Result<Inside> {
        sweep(&std::env::temp_dir());
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let owner = fs::File::create(folder.path().join(OWNER))?;
        let _ = flock(&owner, FlockOperation::NonBlockingLockExclusive);
        let processes = folder.path().join("processes");
        fs::create_dir(&processes)?;
        let prefix = header.rank.map_or_else(String::new, |rank| format!("rank{rank}-"));
        let settings = serde_json::json!({
            "snapshots": std::path::absolute(snapshots)?,
            "prefix": prefix,
            "processes": processes,
        });
        let inside = Inside { folder, owner };
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

    /// Notes whose folder it is: as long as that process runs, its Pythons may still come for the module.
    pub fn belongs_to(&self, job: u32) {
        let _ = (&self.owner).write_all(format!("{job}\n").as_bytes());
    }

    /// True where a Python of the job took the module in.
    pub fn came(&self) -> bool {
        self.folder.path().join("processes").join(CAME).exists()
    }

    /// What the job's processes have told until now, by process id. What cannot be read is left out: a process may be
    /// writing it.
    pub fn processes(&self) -> Vec<InsideProcess> {
        let Ok(entries) = fs::read_dir(self.folder.path().join("processes")) else { return Vec::new() };
        let files = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|kind| kind == "json"));
        let mut processes: Vec<InsideProcess> = files.take(PROCESSES).filter_map(|entry| read(&entry.path())).collect();
        processes.order_by_key(|process| process.pid);
        processes
    }
}

/// Removes the folders of runs that were killed, once their jobs have ended too.
fn sweep(temporary: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let folder = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
        // One without the file is being made at this moment.
        let Some(owner) = ours.then(|| fs::File::open(folder.join(OWNER)).ok()).flatten() else { continue };
        if flock(&owner, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut job = String::new();
        let _ = (&owner).take(20).read_to_string(&mut job);
        // Without a number it is between the two lines that make and lock it, or was killed there.
        let runs = job
            .trim()
            .parse::<i32>()
            .ok()
            .and_then(Pid::from_raw)
            .is_none_or(|job| rustix::process::test_kill_process(job) != Err(rustix::io::Errno::SRCH));
        if !runs {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

fn read(path: &Path) -> Option<InsideProcess> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_killed_runs_folder_is_swept_and_that_of_a_living_run_or_job_is_not() {
        let temporary = tempfile::tempdir().unwrap();
        let make = |name: &str, job: Option<u32>| {
            let folder = temporary.path().join(name);
            fs::create_dir_all(folder.join("processes")).unwrap();
            if let Some(job) = job {
                fs::write(folder.join(OWNER), format!("{job}\n")).unwrap();
            }
            folder
        };
        let ended = {
            let mut child = std::process::Command::new("true").spawn().unwrap();
            child.wait().unwrap();
            child.id()
        };
        let killed = make("oomdoc-run-killed", Some(ended));
        let job_lives = make("oomdoc-run-job", Some(std::process::id()));
        let run_lives = make("oomdoc-run-run", Some(ended));
        let begins = make("oomdoc-run-new", None);
        let others = make("oomdoc-other", Some(ended));
        let lock = fs::File::open(run_lives.join(OWNER)).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        std::os::unix::fs::symlink(&others, temporary.path().join("oomdoc-run-link")).unwrap();
        sweep(temporary.path());
        let there = [&killed, &job_lives, &run_lives, &begins, &others].map(|folder| folder.exists());
        assert_eq!(there, [false, true, true, true, true]);
    }
}
