//! The outputs that the job gets: a terminal of its own where there was one, else a pipe.
//!
//! The terminal is one without any processing of its own (what the job writes comes out unchanged), since the real one
//! does that. It is nobody's controlling terminal: Ctrl-C, Ctrl-Z and standard input stay with the real one.

use super::relay::write_all;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fstat};
use rustix::io;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, OptionalActions, OutputModes, Termios, isatty, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
    tcsetwinsize,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One way out of the job: what it writes is read from `source` and belongs on `target`.
pub struct Outlet {
    pub source: OwnedFd,
    pub target: OwnedFd,
    /// Where both ends are terminals.
    pub mirror: Option<Mirror>,
}

/// What the job gets as its outputs, and the other ends.
pub struct Outputs {
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// One where both go to the same place, which keeps their order.
    pub outlets: Vec<Outlet>,
}

/// Opens as many terminals and pipes as the outputs need.
///
/// # Errors
/// Where the system has no more of them.
pub fn open() -> io::Result<Outputs> {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let (first, job_out) = outlet(out.as_fd())?;
    if same(out.as_fd(), err.as_fd()) {
        let job_err = job_out.try_clone().map_err(os)?;
        return Ok(Outputs { stdout: job_out, stderr: job_err, outlets: vec![first] });
    }
    let (second, job_err) = outlet(err.as_fd())?;
    Ok(Outputs { stdout: job_out, stderr: job_err, outlets: vec![first, second] })
}

/// The error code of an error of the standard library.
fn os(error: std::io::Error) -> io::Errno {
    error.raw_os_error().map_or(io::Errno::IO, io::Errno::from_raw_os_error)
}

fn outlet(real: BorrowedFd<'_>) -> io::Result<(Outlet, OwnedFd)> {
    let target = real.try_clone_to_owned().map_err(os)?;
    if !isatty(real) {
        let (source, job) = std::io::pipe().map_err(os)?;
        return Ok((Outlet { source: source.into(), target, mirror: None }, job.into()));
    }
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let source = openpt(flags)?;
    grantpt(&source)?;
    unlockpt(&source)?;
    let job = ioctl_tiocgptpeer(&source, flags)?;
    let initial = tcgetattr(real)?;
    let mut modes = initial.clone();
    // On, so that a job that turns it off can be seen, but with nothing to do.
    modes.output_modes = OutputModes::OPOST;
    tcsetattr(&job, OptionalActions::Now, &modes)?;
    let mirror = Mirror {
        real: Arc::new(real.try_clone_to_owned().map_err(os)?),
        own: Arc::new(source.try_clone().map_err(os)?),
        with_input: same(std::io::stdin().as_fd(), real) && isatty(std::io::stdin()),
        seen: Arc::new(Mutex::new(Seen { initial, shown: modes, changed: false })),
        feeding: Arc::default(),
    };
    mirror.resize();
    Ok((Outlet { source, target, mirror: Some(mirror) }, job))
}

/// True where both are the same terminal, file or pipe.
fn same(a: BorrowedFd<'_>, b: BorrowedFd<'_>) -> bool {
    match (fstat(a), fstat(b)) {
        (Ok(a_stat), Ok(b_stat)) if isatty(a) && isatty(b) => a_stat.st_rdev == b_stat.st_rdev,
        (Ok(a), Ok(b)) => (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino),
        _ => false,
    }
}

/// Keeps the job's terminal and the real one alike.
#[derive(Clone)]
pub struct Mirror {
    real: Arc<OwnedFd>,
    own: Arc<OwnedFd>,
    /// True where what is typed comes from that terminal.
    with_input: bool,
    seen: Arc<Mutex<Seen>>,
    /// True while what is typed is passed on.
    feeding: Arc<AtomicBool>,
}

/// How long what is typed is waited for before the modes are looked at again.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long, while the job is stopped or in the background.
const STOPPED: Duration = Duration::from_millis(50);

struct Seen {
    /// The real terminal's modes before the job.
    initial: Termios,
    /// The job's terminal's modes when they were looked at last.
    shown: Termios,
    /// True while the real one differs from `initial` because of the job.
    changed: bool,
}

impl Mirror {
    /// Gives the job's terminal the size of the real one; true where it had another.
    pub fn resize(&self) -> bool {
        let (Ok(real), Ok(own)) = (tcgetwinsize(&self.real), tcgetwinsize(&self.own)) else { return false };
        let same = (real.ws_row, real.ws_col, real.ws_xpixel, real.ws_ypixel)
            == (own.ws_row, own.ws_col, own.ws_xpixel, own.ws_ypixel);
        !same && tcsetwinsize(&self.own, real).is_ok()
    }

    /// Gives the real terminal the modes that the job set on its own: full-screen programs do so by way of their
    /// standard output.
    pub fn follow(&self) {
        if !self.with_input {
            return;
        }
        let Ok(now) = tcgetattr(&self.own) else { return };
        let Ok(mut seen) = self.seen.lock() else { return };
        // The real one turns line feeds into lines: once is enough (less asks for it by way of this one).
        if now.output_modes.contains(OutputModes::OPOST) && now.output_modes != OutputModes::OPOST {
            let mut bare = now.clone();
            bare.output_modes = OutputModes::OPOST;
            let _ = tcsetattr(&self.own, OptionalActions::Now, &bare);
        }
        if alike(&now, &seen.shown) || !in_foreground(&self.real) {
            return;
        }
        let back = now.local_modes == seen.initial.local_modes && now.input_modes == seen.initial.input_modes;
        let Ok(mut wanted) = tcgetattr(&self.real) else { return };
        wanted.local_modes = now.local_modes;
        wanted.input_modes = now.input_modes;
        wanted.special_codes = now.special_codes.clone();
        wanted.output_modes = seen.initial.output_modes;
        // Programs that take line feeds into their own hands also want carriage returns as they are typed.
        let line_feeds_too = seen.initial.input_modes.contains(InputModes::ICRNL);
        if !now.output_modes.contains(OutputModes::OPOST)
            || line_feeds_too && !now.input_modes.contains(InputModes::ICRNL)
        {
            wanted.output_modes -= OutputModes::OPOST;
        }
        if tcsetattr(&self.real, OptionalActions::Now, &wanted).is_ok() {
            seen.changed = !back;
            seen.shown = now;
            if seen.changed {
                self.feed();
            }
        }
    }

    /// Passes on what is typed, as long as the job's terminal is in modes of a program that has opened it by its name:
    /// less reads there, and not from standard input.
    fn feed(&self) {
        if !self.opened_by_name() || self.feeding.swap(true, Ordering::Relaxed) {
            return;
        }
        let mirror = self.clone();
        std::thread::spawn(move || {
            let mut typed = [0; 1024];
            while mirror.is_in_modes_of_the_job() {
                if !in_foreground(&mirror.real) {
                    std::thread::sleep(STOPPED);
                    continue;
                }
                if !matches!(poll(&mut [PollFd::new(&mirror.real, PollFlags::IN)], Some(&LOOK)), Ok(1..)) {
                    continue;
                }
                let Ok(length @ 1..) = io::read(&mirror.real, &mut typed) else { break };
                if write_all(mirror.own.as_fd(), typed.get(..length).unwrap_or_default()).is_err() {
                    break;
                }
            }
            mirror.feeding.store(false, Ordering::Relaxed);
        });
    }

    fn is_in_modes_of_the_job(&self) -> bool {
        let now = tcgetattr(&self.own).map(|now| now.local_modes);
        now.is_ok_and(|now| self.seen.lock().is_ok_and(|seen| now != seen.initial.local_modes))
    }

    /// True where a process has opened it to read from it. What comes from here can be written to as well, as can
    /// copies of it such as a shell keeps.
    fn opened_by_name(&self) -> bool {
        let Ok(name) = ptsname(&self.own, Vec::new()) else { return false };
        let name = Path::new(OsStr::from_bytes(name.to_bytes()));
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let files = processes.flat_map(|process| std::fs::read_dir(process.path().join("fd")).into_iter().flatten());
        files.flatten().any(|file| {
            std::fs::read_link(file.path()).is_ok_and(|target| target == name) && is_for_reading(&file.path())
        })
    }

    /// Undoes what [`follow`](Self::follow) did, where the job left it so.
    pub fn restore(&self) {
        let Ok(mut seen) = self.seen.lock() else { return };
        if seen.changed && in_foreground(&self.real) {
            seen.changed = tcsetattr(&self.real, OptionalActions::Drain, &seen.initial).is_err();
        }
    }
}

/// True for an open file of a process (`/proc/PID/fd/N`) that can be read and not written.
fn is_for_reading(file: &Path) -> bool {
    let (Some(process), Some(number)) = (file.parent().and_then(Path::parent), file.file_name()) else { return false };
    let info = std::fs::read_to_string(process.join("fdinfo").join(number)).unwrap_or_default();
    let flags = info.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & OFlags::ACCMODE.bits() == OFlags::RDONLY.bits())
}

fn alike(a: &Termios, b: &Termios) -> bool {
    a.local_modes == b.local_modes
        && a.input_modes == b.input_modes
        && a.output_modes.contains(OutputModes::OPOST) == b.output_modes.contains(OutputModes::OPOST)
}

/// Only a process group in the foreground may set modes without being stopped.
fn in_foreground(terminal: &OwnedFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}
