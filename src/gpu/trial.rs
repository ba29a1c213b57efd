//! A first reading of the driver by a child process. A driver in trouble hangs its callers or makes them crash, and
//! that is when people look: so somebody else goes first.
//!
//! The child holds the driver open until its parent has read as well, so that a driver which loads itself for its first
//! user does so once.

use super::nvml::Library;
use super::platform::Degraded;
use crate::host::Root;
use crate::system;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The argument with which the program starts itself as the child.
pub const NAME: &str = "nvml-trial";

/// For each of its two steps. A driver without its persistence daemon takes one or two seconds for each GPU at first.
const PATIENCE: Duration = Duration::from_secs(20);

/// For a child that was killed, or has closed its pipe, to be gone.
const GRACE: Duration = Duration::from_millis(500);

/// What the child says after each step.
const STEPS: [&str; 2] = ["opened", "read"];

/// The child's side: reads everything once, and waits for its parent to be done.
///
/// # Errors
/// When nobody listens.
pub fn run() -> anyhow::Result<u8> {
    // The signal that a hung library can't keep off, should the parent die.
    system::die_with_parent();
    let root = Root::default();
    let say = |step: &str| {
        let mut stdout = std::io::stdout().lock();
        // A driver may leave a line of its own unfinished.
        write!(stdout, "\n{step}\n").and_then(|()| stdout.flush())
    };
    let library = Library::open(&root);
    say(STEPS[0])?;
    if let Ok(library) = &library {
        library.driver();
        let _ = library.gpus();
    }
    say(STEPS[1])?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(0)
}

/// The child of a trial that went well; it ends when this is dropped.
#[derive(Debug)]
pub struct Trial {
    child: Option<Child>,
}

impl Drop for Trial {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Its standard input is closed by that.
            drop(child.stdin.take());
            end(&mut child);
        }
    }
}

/// Lets a child read the driver.
///
/// # Errors
/// [`Degraded::Hangs`] or [`Degraded::Crashes`] where the child did. That it could not be started is none.
pub fn go_first() -> Result<Trial, Degraded> {
    let started = std::env::current_exe().and_then(|program| {
        Command::new(program).arg(NAME).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    });
    let Ok(mut child) = started else { return Ok(Trial { child: None }) };
    let Some(steps) = child.stdout.take().map(listen) else { return Ok(Trial { child: Some(child) }) };
    for step in STEPS {
        let until = Instant::now() + PATIENCE;
        loop {
            match steps.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(said) if said == step => break,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    end(&mut child);
                    return Err(Degraded::Hangs);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    end(&mut child);
                    return Err(Degraded::Crashes);
                }
            }
        }
    }
    Ok(Trial { child: Some(child) })
}

/// The lines of the child, until it closes its pipe.
fn listen(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout.take(1 << 20)).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Waits for a child that should be gone, but not for ever: one that is stuck in the kernel cannot even be killed.
fn end(child: &mut Child) {
    let until = Instant::now() + GRACE;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > until {
            let _ = child.kill();
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
