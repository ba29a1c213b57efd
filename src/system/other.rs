//! Windows, and whatever else is no Unix.

use super::Signal;
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn nothing_of_the_kind() -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}

/// Nothing is noted: Ctrl-C ends the process at once.
#[derive(Debug)]
pub(crate) struct Handlers;

impl Handlers {
    pub(super) fn set(_signals: &[Signal], _flag: &Arc<AtomicBool>) -> io::Result<Handlers> {
        Ok(Handlers)
    }
}

pub(crate) fn signal_process(_process: u32, _signal: Signal) -> bool {
    false
}

pub(crate) fn signal_group(_leader: u32, _signal: Signal) {}

pub(crate) fn leads_group(_command: &mut Command) {}

pub(crate) fn die_with_parent() {}

pub(crate) fn parent() -> Option<u32> {
    None
}

pub(crate) fn ended_by(_status: ExitStatus) -> Option<i32> {
    None
}

pub(crate) fn exit_status(raw: i32) -> ExitStatus {
    #[cfg(windows)]
    return std::os::windows::process::ExitStatusExt::from_raw(raw.cast_unsigned());
    #[cfg(not(windows))]
    {
        let _ = raw;
        ExitStatus::default()
    }
}

pub(crate) fn killed() -> ExitStatus {
    exit_status(1)
}

/// A user's folder for temporary files is his own here.
pub(crate) fn for_owner_only(_folder: &mut tempfile::Builder<'_, '_>) {}

/// What may be run is told by its name here.
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

pub(crate) fn mode(_data: &Metadata) -> u32 {
    0
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

pub(crate) fn is_device(_data: &Metadata) -> bool {
    false
}

pub(crate) fn is_whiteout(_data: &Metadata) -> bool {
    false
}

pub(crate) fn is_opaque(_folder: &Path) -> bool {
    false
}

pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn symlink(_target: &str, _link: &Path) -> io::Result<()> {
    Err(nothing_of_the_kind())
}

pub(crate) fn make_fifo(_path: &Path) -> io::Result<()> {
    Err(nothing_of_the_kind())
}

pub(crate) fn without_waiting(_options: &mut OpenOptions) {}

pub(crate) fn only_itself(_options: &mut OpenOptions) {}

pub(crate) fn runs_code(_folder: &Path) -> bool {
    true
}

pub(crate) fn filled(_place: &Path) -> Option<(u64, u64)> {
    None
}

/// Terminals here hand out what is pasted as it is.
#[derive(Debug)]
pub(crate) enum Paste {}

impl Paste {
    pub(crate) fn begin() -> Option<Paste> {
        None
    }
}

impl io::Read for Paste {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}
