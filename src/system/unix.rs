//! Linux, macOS and their kin.

use super::Signal;
use rustix::fs::OFlags;
use rustix::process::Pid;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

fn number(signal: Signal) -> rustix::process::Signal {
    match signal {
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::HangUp => rustix::process::Signal::HUP,
        Signal::Kill => rustix::process::Signal::KILL,
    }
}

/// Handlers that set a flag; dropped, they are gone, and a signal does again what it does by default.
#[derive(Debug)]
pub(crate) struct Handlers(Vec<(i32, signal_hook::SigId)>);

/// How many want a signal noted, and whether nobody does.
#[derive(Debug)]
struct Noting {
    by: usize,
    nobody: Arc<AtomicBool>,
}

/// Those of each signal that was ever noted. A handler that was taken away leaves the signal without effect, which let
/// a command that waited to write its report go on for ever.
static NOTING: Mutex<BTreeMap<i32, Noting>> = Mutex::new(BTreeMap::new());

impl Handlers {
    pub(super) fn set(signals: &[Signal], flag: &Arc<AtomicBool>) -> io::Result<Handlers> {
        let mut handlers = Handlers(Vec::new());
        let mut noting = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
        for signal in signals {
            let signal = number(*signal).as_raw();
            match noting.entry(signal) {
                Entry::Occupied(known) => {
                    let known = known.into_mut();
                    known.by += 1;
                    known.nobody.store(false, Ordering::SeqCst);
                }
                Entry::Vacant(new) => {
                    let nobody = Arc::new(AtomicBool::new(false));
                    // Who starts a command may have it ignore a signal (`nohup`), which stays so.
                    if !ignored(signal) {
                        signal_hook::flag::register_conditional_default(signal, Arc::clone(&nobody))?;
                    }
                    new.insert(Noting { by: 1, nobody });
                }
            }
            handlers.0.push((signal, signal_hook::flag::register(signal, Arc::clone(flag))?));
        }
        Ok(handlers)
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        let mut noting = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
        for (signal, handler) in self.0.drain(..) {
            signal_hook::low_level::unregister(handler);
            if let Some(known) = noting.get_mut(&signal) {
                known.by = known.by.saturating_sub(1);
                known.nobody.store(known.by == 0, Ordering::SeqCst);
            }
        }
    }
}

/// Whether this process ignores a signal, where the system tells.
fn ignored(signal: i32) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask.checked_shr(signal.saturating_sub(1).unsigned_abs()).is_some_and(|bits| bits & 1 == 1)
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// True where it reached somebody.
pub(crate) fn signal_process(process: u32, signal: Signal) -> bool {
    pid(process).is_some_and(|pid| rustix::process::kill_process(pid, number(signal)).is_ok())
}

/// To every process of a group, which may be gone already.
pub(crate) fn signal_group(leader: u32, signal: Signal) {
    if let Some(group) = pid(leader) {
        let _ = rustix::process::kill_process_group(group, number(signal));
    }
}

/// The process that is started leads a group of its own.
pub(crate) fn leads_group(command: &mut Command) {
    command.process_group(0);
}

/// The kernel kills this process when its parent dies, also where a library hangs. Only Linux can.
pub(crate) fn die_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

pub(crate) fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// The signal that ended a process.
pub(crate) fn ended_by(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// What `wait` told of a process that is no child of ours.
pub(crate) fn exit_status(raw: i32) -> ExitStatus {
    ExitStatus::from_raw(raw)
}

/// The end of a process that was killed.
pub(crate) fn killed() -> ExitStatus {
    ExitStatus::from_raw(rustix::process::Signal::KILL.as_raw())
}

/// A temporary folder that nobody else looks into.
pub(crate) fn for_owner_only(folder: &mut tempfile::Builder<'_, '_>) {
    folder.permissions(Permissions::from_mode(0o700));
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

pub(crate) fn mode(data: &Metadata) -> u32 {
    data.mode()
}

pub(crate) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0)
}

/// A terminal, a disk, `/dev/zero`: what may have no end.
pub(crate) fn is_device(data: &Metadata) -> bool {
    data.file_type().is_char_device() || data.file_type().is_block_device()
}

/// How an overlay says that a name of the layer below is gone.
pub(crate) fn is_whiteout(data: &Metadata) -> bool {
    data.file_type().is_char_device() && data.rdev() == 0
}

/// Whether an overlay says that nothing of the folder below shows through.
pub(crate) fn is_opaque(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return ["user.overlay.opaque", "trusted.overlay.opaque"].iter().any(|name| {
        let mut value = [0; 4];
        rustix::fs::lgetxattr(folder, *name, &mut value).is_ok_and(|length| value.get(..length) == Some(b"y"))
    });
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

pub(crate) fn symlink(target: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// A pipe with a name, for nobody but this user.
///
/// # Errors
/// Where the system refuses it or has none.
pub(crate) fn make_fifo(path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::Error::new(io::ErrorKind::Unsupported, path.display().to_string()))
}

/// Opened so, a pipe or a device with nothing to read says so instead of waiting.
pub(crate) fn without_waiting(options: &mut OpenOptions) {
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
}

/// The same, and a link in the file's place is not followed.
pub(crate) fn only_itself(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed());
}

/// Whether programs in a folder may be run.
pub(crate) fn runs_code(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{StatVfsMountFlags, statvfs};
        !statvfs(folder).is_ok_and(|figures| figures.f_flag.contains(StatVfsMountFlags::NOEXEC))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        true
    }
}

/// Bytes of a file system and how many of them are used.
pub(crate) fn filled(place: &Path) -> Option<(u64, u64)> {
    let figures = rustix::fs::statvfs(place).ok()?;
    let size = figures.f_blocks.saturating_mul(figures.f_frsize);
    Some((size, size.saturating_sub(figures.f_bfree.saturating_mul(figures.f_frsize))))
}

/// Text that is typed or pasted into a terminal, up to the first Ctrl-D wherever it comes. By itself a terminal hands
/// out whole lines, drops what of a line is beyond 4,095 bytes, and takes Ctrl-D for the end on a new line alone.
#[derive(Debug)]
pub(crate) struct Paste {
    before: Termios,
    noted: super::Noted,
    /// Whether what was read last ended a line, so that what follows begins one.
    at_line_start: bool,
    ended: bool,
}

/// What Ctrl-D sends.
const END_OF_TRANSMISSION: u8 = 4;
/// Tenths of a second after which a read returns without a byte, to look whether a signal came.
const PATIENCE: u8 = 2;

impl Paste {
    /// `None` where standard input is no terminal.
    pub(crate) fn begin() -> Option<Paste> {
        let terminal = io::stdin();
        let before = tcgetattr(&terminal).ok()?;
        // The terminal is given back as it was, also where the user gives up.
        let noted = super::Noted::from_now_on(&[Signal::Interrupt, Signal::Terminate, Signal::HangUp]).ok()?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON);
        modes.special_codes[SpecialCodeIndex::VMIN] = 0;
        modes.special_codes[SpecialCodeIndex::VTIME] = PATIENCE;
        // Not `Flush`: what was pasted before we were ready counts.
        tcsetattr(&terminal, OptionalActions::Now, &modes).ok()?;
        Some(Paste { before, noted, at_line_start: true, ended: false })
    }
}

impl io::Read for Paste {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended {
            let asked = Instant::now();
            let length = match rustix::io::read(io::stdin(), &mut *buffer) {
                Err(rustix::io::Errno::INTR) => 0,
                other => other?,
            };
            if self.noted.came() {
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
                std::process::exit(INTERRUPTED);
            }
            let read = buffer.get(..length).unwrap_or_default();
            let text = read.split(|byte| *byte == END_OF_TRANSMISSION).next().unwrap_or_default();
            // A terminal that is gone has no patience.
            let gone = length == 0 && asked.elapsed() < Duration::from_millis(u64::from(PATIENCE) * 50);
            self.ended = gone || text.len() < length;
            if let Some(last) = text.last() {
                self.at_line_start = *last == b'\n';
                return Ok(text.len());
            }
        }
        Ok(0)
    }
}

impl Drop for Paste {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        if !self.at_line_start {
            let _ = io::Write::write_all(&mut io::stderr(), b"\n");
        }
    }
}
