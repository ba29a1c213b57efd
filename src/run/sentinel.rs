//! A tiny process of the job's group. It answers which signals the whole group has got, so that they are not passed on
//! a second time; it wakes oomdoc where the job goes on by itself; and it keeps copying the output where oomdoc is
//! gone.
//!
//! The control socket is its standard input. From oomdoc: first the outlets (as file descriptors), then a byte for each
//! request; from the sentinel: the answers. The end of the socket is oomdoc's end.

use super::relay::{End, pump};
use super::signals;
use super::terminal::Outlet;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The argument with which the program starts itself as the sentinel.
pub const NAME: &str = "run-sentinel";

/// Which signals came? Answered by their numbers and [`ANSWERED`].
const ASK: u8 = b'?';
/// Oomdoc is about to stop: wake it when the process whose number follows (eight digits of hexadecimal) goes on.
const WATCH: u8 = b'w';
/// Oomdoc runs again.
const RUNNING: u8 = b'r';
/// Nobody reads the output any more: let go of it.
const LET_GO: u8 = b'c';
/// All is done.
const QUIT: u8 = b'q';
const ANSWERED: u8 = 0;

/// Outlets, two at most, each a source and a target.
const MOST_FDS: usize = 4;

/// No answer takes so long unless the machine stands still.
const PATIENCE: Duration = Duration::from_secs(1);

/// The kernel signals the members of a group one after the other, without a pause.
const ONE_AFTER_THE_OTHER: Duration = Duration::from_millis(1);

/// A signal that came a second time at once is merged in one process and not in the other.
const MERGED: Duration = Duration::from_millis(50);

/// Between two looks at a stopped job.
const LOOK: Duration = Duration::from_millis(50);

/// Oomdoc's end.
pub struct Sentinel {
    pub pid: Pid,
    line: Mutex<Line>,
}

struct Line {
    socket: UnixStream,
    /// When the group got each signal last.
    seen: Vec<(i32, Instant)>,
}

impl Sentinel {
    /// Starts it, with the outlets that it may have to take over.
    ///
    /// # Errors
    /// Where no process can be started.
    pub fn start(outlets: &[Outlet]) -> std::io::Result<Sentinel> {
        let (socket, other) = UnixStream::pair()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let child = Command::new(std::env::current_exe()?)
            .arg0("oomdoc-sentinel")
            .arg(NAME)
            .stdin(OwnedFd::from(other))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| std::io::Error::other("no process id"))?;
        let fds: Vec<BorrowedFd<'_>> =
            outlets.iter().flat_map(|outlet| [outlet.source.as_fd(), outlet.target.as_fd()]).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(&socket, &[IoSlice::new(b"o")], &mut ancillary, SendFlags::empty())?;
        // It is there once it answers: signals before that would end it.
        let sentinel = Sentinel { pid, line: Mutex::new(Line { socket, seen: Vec::new() }) };
        sentinel.group_got(0);
        Ok(sentinel)
    }

    /// True where the whole group got the signal that this process has just got.
    pub fn group_got(&self, signal: i32) -> bool {
        std::thread::sleep(ONE_AFTER_THE_OTHER);
        let Ok(mut line) = self.line.lock() else { return false };
        if line.socket.write_all(&[ASK]).is_err() {
            return false;
        }
        let mut byte = [0];
        while line.socket.read_exact(&mut byte).is_ok() {
            let got = i32::from(byte[0]);
            if byte[0] == ANSWERED {
                break;
            }
            line.seen.retain(|(other, _)| *other != got);
            line.seen.push((got, Instant::now()));
        }
        line.seen.iter().any(|(got, at)| *got == signal && at.elapsed() < MERGED)
    }

    /// To be called before this process stops itself because the job has stopped.
    pub fn watch(&self, job: Pid) {
        self.tell(format!("{}{:08x}", char::from(WATCH), job.as_raw_pid()).as_bytes());
    }

    /// To be called when this process runs again.
    pub fn running(&self) {
        self.tell(&[RUNNING]);
    }

    /// Nobody reads the output any more.
    pub fn let_go(&self) {
        self.tell(&[LET_GO]);
    }

    /// Ends it. Otherwise it copies on, as long as anybody holds the job's outputs.
    pub fn quit(&self) {
        self.tell(&[QUIT]);
    }

    fn tell(&self, bytes: &[u8]) {
        if let Ok(mut line) = self.line.lock() {
            let _ = line.socket.write_all(bytes);
        }
    }
}

/// The process itself. Exit code 0.
///
/// # Errors
/// Where the control socket is none, because a person started it.
pub fn run() -> anyhow::Result<u8> {
    let mut signals = SignalsInfo::<SignalOnly>::new(signals::wanted())?;
    let outlets = outlets()?;
    let mut outlets = Some(outlets);
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let parent = rustix::process::getppid();
    let mut watched: Option<Pid> = None;
    loop {
        socket.set_read_timeout(watched.map(|_| LOOK))?;
        let mut byte = [0];
        match socket.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if let (Some(job), Some(parent)) = (watched, parent)
                    && !stopped(job)
                {
                    watched = None;
                    let _ = kill_process(parent, Signal::CONT);
                }
                continue;
            }
            Err(_) => break,
        }
        match byte[0] {
            ASK => {
                let mut answer: Vec<u8> = signals.pending().filter_map(|signal| u8::try_from(signal).ok()).collect();
                answer.push(ANSWERED);
                socket.write_all(&answer)?;
            }
            WATCH => {
                let mut number = [0; 8];
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.read_exact(&mut number)?;
                let number = std::str::from_utf8(&number).ok().and_then(|text| i32::from_str_radix(text, 16).ok());
                watched = number.and_then(Pid::from_raw);
            }
            RUNNING => watched = None,
            LET_GO => outlets = None,
            QUIT => return Ok(0),
            _ => {}
        }
    }
    // Oomdoc is gone without a word, or left on purpose what others still write.
    drop(socket);
    take_over(outlets.unwrap_or_default());
    Ok(0)
}

fn take_over(outlets: Vec<Outlet>) {
    // Never readable: the job's end is not waited for here, only that of its output.
    let Ok((never, _open)) = std::io::pipe() else { return };
    let never = &OwnedFd::from(never);
    std::thread::scope(|scope| {
        for outlet in outlets {
            scope.spawn(move || pump(outlet, never, &mut |_| {}) == End::Finished);
        }
    });
}

/// What oomdoc sends first.
fn outlets() -> anyhow::Result<Vec<Outlet>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    loop {
        match recvmsg(std::io::stdin(), &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            received => {
                received?;
                break;
            }
        }
    }
    let mut fds: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    let mut outlets = Vec::new();
    let mut fds = fds.into_iter();
    while let (Some(source), Some(target)) = (fds.next(), fds.next()) {
        outlets.push(Outlet { source, target, mirror: None });
    }
    Ok(outlets)
}

/// True for a process that has been stopped and not continued.
fn stopped(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state == 'T')
}
