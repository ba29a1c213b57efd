//! One import for many runs: a process of the command's Python that has imported what the first run imported, and forks
//! a child for each further run. What the child does is said in the agent's `warm.py`.
//!
//! Only where the command is a Python itself, and its view is one that a child can enter: a process of ours enters the
//! namespaces as it does before a command, and holds them open.

use crate::system;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The list that the first run leaves among its results: modules, and the environment in which it imported them.
pub const LIST: &str = "modules.json";
/// The exit code of a child that could not begin; no program of the usual kind ends with it.
pub const BROKEN: u8 = 214;
/// How long a process that is ready takes to fork, at most.
const ANSWERS: Duration = Duration::from_secs(20);

/// What the process said.
#[derive(Debug, Default)]
struct Said {
    /// Whether it has imported everything and may be forked.
    fit: Option<bool>,
    gone: bool,
    /// The child for each private folder.
    started: BTreeMap<PathBuf, u32>,
    ended: BTreeMap<u32, ExitStatus>,
}

type Shared = Arc<(Mutex<Said>, Condvar)>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process. It is killed, and its children with it, when this is dropped.
#[derive(Debug)]
pub struct Warm {
    child: Child,
    requests: Mutex<ChildStdin>,
    said: Shared,
    /// Until when it has to be ready.
    deadline: Instant,
}

impl Warm {
    /// Starts it from a command that has everything but its standard streams.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn start(mut command: Command, patience: Duration) -> io::Result<Warm> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        };
        let said = Shared::default();
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(replies).lines().map_while(Result::ok) {
                note(&mut lock(&heard.0), &line);
                heard.1.notify_all();
            }
            lock(&heard.0).gone = true;
            heard.1.notify_all();
        });
        Ok(Warm { child, requests: Mutex::new(requests), said, deadline: Instant::now() + patience })
    }

    /// Waits until what it said answers, or the time is over, or it has gone.
    fn wait<T>(&self, until: Instant, answer: impl Fn(&Said) -> Option<T>) -> Option<T> {
        let mut said = lock(&self.said.0);
        loop {
            if let Some(found) = answer(&said) {
                return Some(found);
            }
            let left = until.saturating_duration_since(Instant::now());
            if said.gone || left.is_zero() {
                return None;
            }
            said = self.said.1.wait_timeout(said, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether it can be forked; waits until it is known.
    pub fn is_fit(&self) -> bool {
        self.wait(self.deadline, |said| said.fit) == Some(true)
    }

    /// Forks a child for a private folder; its pid.
    pub fn fork(&self, folder: &Path, request: &serde_json::Value) -> Option<u32> {
        lock(&self.requests).write_all(format!("{request}\n").as_bytes()).ok()?;
        self.wait(Instant::now() + ANSWERS, |said| said.started.get(folder).copied())
    }

    /// How a child ended; `None` while it runs.
    pub fn ended(&self, pid: u32) -> Option<ExitStatus> {
        let said = lock(&self.said.0);
        let killed = || said.gone.then(system::killed);
        said.ended.get(&pid).copied().or_else(killed)
    }
}

fn note(said: &mut Said, line: &str) {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["ready"] => said.fit = Some(true),
        ["unfit"] => said.fit = Some(false),
        ["started", folder @ .., pid] => {
            if let Ok(pid) = pid.parse() {
                said.started.insert(PathBuf::from(folder.join(" ")), pid);
            }
        }
        ["ended", pid, status] => {
            if let (Ok(pid), Ok(status)) = (pid.parse(), status.parse()) {
                said.ended.insert(pid, system::exit_status(status));
            }
        }
        _ => {}
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        // Its children end with it: the kernel sends them the signal that they asked for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
