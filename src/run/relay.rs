//! Copies what the job writes to where it belongs.

use super::terminal::{Mirror, Outlet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, ioctl_fionread, read, write};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice, tee};

/// What is copied at once, and what the job's pipe is asked to hold: as much as anybody may ask for. A job that writes
/// much waits less often.
const CHUNK: usize = 1 << 20;

/// After the job has ended, others may still hold its outputs; so long nothing may come until nobody waits any more.
const IDLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };

/// How a relay came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nobody can write any more.
    Finished,
    /// The job has ended and others still hold the output.
    HeldByOthers,
    /// Nobody reads any more.
    Unread,
    /// It could not be written where it belongs, as on a full disk.
    Refused(Errno),
}

/// Copies until the output ends. `ending` becomes readable (or is closed) when the job has ended: then what is there is
/// copied, and no more than that is waited for.
pub fn pump(outlet: Outlet, ending: &OwnedFd, tape: &mut dyn FnMut(&[u8])) -> End {
    let Outlet { source, target, mirror } = outlet;
    let mut buffer = vec![0; CHUNK];
    let aside = is_pipe(&source).then(|| Aside::open(&source, &target)).flatten();
    let mut left = None;
    let end = loop {
        match wait(source.as_fd(), (left.is_none()).then(|| ending.as_fd()), left.map(|_| &IDLE)) {
            Waited::Input => {}
            Waited::Ending => {
                // What the job itself wrote is there now; what comes later is by others.
                left = Some(ioctl_fionread(&source).unwrap_or(0));
                continue;
            }
            Waited::Nothing => break End::HeldByOthers,
        }
        let seen = match &aside {
            Some(aside) => aside.look(&source, &mut buffer),
            None => read(&source, &mut buffer),
        };
        let length = match seen {
            Ok(0) | Err(Errno::IO) => break End::Finished,
            Ok(length) => length,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(_) => break End::Finished,
        };
        let bytes = buffer.get(..length).unwrap_or_default();
        tape(bytes);
        if let Some(mirror) = &mirror {
            mirror.follow();
        }
        let passed_on = match &aside {
            Some(_) => move_on(&source, &target, length),
            None => write_all(target.as_fd(), bytes),
        };
        match passed_on {
            Ok(()) => {}
            Err(Errno::PIPE) => break End::Unread,
            Err(error) => break End::Refused(error),
        }
        if let Some(left) = &mut left {
            // A process that writes without end must not keep the job's end from being told.
            if *left == 0 {
                break End::HeldByOthers;
            }
            *left = left.saturating_sub(length as u64);
        }
    };
    mirror.as_ref().inspect(|mirror| mirror.follow());
    mirror.as_ref().inspect(|mirror| Mirror::restore(mirror));
    end
}

/// Between two pipes the pages themselves go from one to the other; what is kept of them is read from a third pipe,
/// which gets a reference to each. Of the two copies of every byte one remains.
struct Aside {
    filled: OwnedFd,
    read: OwnedFd,
}

impl Aside {
    /// `None` where the target is no pipe, or the system has no more of them.
    fn open(source: &OwnedFd, target: &OwnedFd) -> Option<Aside> {
        // Refused to somebody who has too many large ones already; then it stays as it is.
        let _ = fcntl_setpipe_size(source, CHUNK);
        if !is_pipe(target) {
            return None;
        }
        let (read, filled) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        let _ = fcntl_setpipe_size(&filled, CHUNK);
        Some(Aside { filled, read })
    }

    /// Reads what is next in the source and leaves it there.
    fn look(&self, source: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        let shared = tee(source, &self.filled, buffer.len(), SpliceFlags::NONBLOCK)?;
        let mut done = 0;
        while done < shared {
            match read(&self.read, buffer.get_mut(done..shared).unwrap_or_default()) {
                Ok(0) => break,
                Ok(length) => done += length,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

/// Moves `length` bytes from pipe to pipe.
fn move_on(source: &OwnedFd, target: &OwnedFd, mut length: usize) -> Result<(), Errno> {
    while length > 0 {
        match splice(source, None, target, None, length, SpliceFlags::empty()) {
            Ok(0) => return Err(Errno::IO),
            Ok(moved) => length -= moved.min(length),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => until_writable(target.as_fd()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_pipe(fd: &OwnedFd) -> bool {
    fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Waits until a target that another process made non-blocking takes more, or nobody reads it any more.
fn until_writable(target: BorrowedFd<'_>) {
    let _ = poll(&mut [PollFd::from_borrowed_fd(target, PollFlags::OUT)], None);
}

enum Waited {
    Input,
    Ending,
    Nothing,
}

fn wait(source: BorrowedFd<'_>, ending: Option<BorrowedFd<'_>>, patience: Option<&Timespec>) -> Waited {
    loop {
        let mut fds = vec![PollFd::from_borrowed_fd(source, PollFlags::IN)];
        fds.extend(ending.map(|ending| PollFd::from_borrowed_fd(ending, PollFlags::IN)));
        match poll(&mut fds, patience) {
            Ok(0) => return Waited::Nothing,
            Ok(_) if fds.get(1).is_some_and(|ending| !ending.revents().is_empty()) => return Waited::Ending,
            Ok(_) => return Waited::Input,
            Err(Errno::INTR) => {}
            Err(_) => return Waited::Input,
        }
    }
}

/// Writes everything, also where another process made the target non-blocking.
pub fn write_all(target: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match write(target, bytes) {
            Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => until_writable(target),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
