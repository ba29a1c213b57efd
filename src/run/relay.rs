//! Copies what the job writes to where it belongs.

use super::terminal::{Mirror, Outlet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, ioctl_fionread, read, write};

/// As much as a pipe holds.
const CHUNK: usize = 64 << 10;

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
}

/// Copies until the output ends. `ending` becomes readable (or is closed) when the job has ended: then what is there is
/// copied, and no more than that is waited for.
pub fn pump(outlet: Outlet, ending: &OwnedFd, tape: &mut dyn FnMut(&[u8])) -> End {
    let Outlet { source, target, mirror } = outlet;
    let mut buffer = vec![0; CHUNK];
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
        let length = match read(&source, &mut buffer) {
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
        if write_all(target.as_fd(), bytes).is_err() {
            break End::Unread;
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
            Err(Errno::AGAIN) => {
                let mut fds = [PollFd::from_borrowed_fd(target, PollFlags::OUT)];
                let _ = poll(&mut fds, None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
