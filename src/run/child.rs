//! Starts the job, waits for it, and stops and goes on with it.

use super::relay::{End, pump};
use super::sentinel::Sentinel;
use super::signals::{self, Forwarder, Standing};
use super::tape::Tape;
use super::terminal;
use crate::text::inert;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The argument with which the program starts itself to become a job that ends with oomdoc.
pub const NAME: &str = "run-child";

/// The kernel's number for a file that it cannot execute; shells then run it as a script.
const NO_EXECUTABLE: i32 = 8;

/// As far as one can stand back without being exempt, which would leave nobody where only oomdoc is left.
const LAST_TO_BE_SHOT: &str = "-999";

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub command: Vec<OsString>,
    /// Variables that the job gets besides those of oomdoc itself.
    pub environment: Vec<(&'static str, OsString)>,
    /// The kernel kills it when oomdoc ends.
    pub dies_with_oomdoc: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exited(u8),
    Killed(i32),
}

impl Ending {
    /// The exit code as shells tell it.
    pub fn code(self) -> u8 {
        match self {
            Ending::Exited(code) => code,
            Ending::Killed(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
}

/// Why it did not start: the code that shells give, and the reason.
pub struct NotStarted {
    pub code: u8,
    pub error: std::io::Error,
}

impl NotStarted {
    fn of(error: std::io::Error) -> NotStarted {
        NotStarted { code: if error.kind() == ErrorKind::NotFound { 127 } else { 126 }, error }
    }
}

/// A job that is over.
#[derive(Debug)]
pub struct Ended {
    pub how: Ending,
    /// Why some of its output is nowhere: the job itself was told at its next write, if there was one.
    pub refused: Option<std::io::Error>,
}

/// Runs the job to its end and copies its output, also to the tape. `started` gets its process id.
///
/// # Errors
/// Where it cannot be started.
pub fn supervise(job: &Job, tape: &Arc<Mutex<Tape>>, started: impl FnOnce(Pid)) -> Result<Ended, NotStarted> {
    let caught = signals::catch().map_err(NotStarted::of)?;
    let outputs = terminal::open().map_err(|error| NotStarted::of(error.into()))?;
    let mirrors = outputs.outlets.iter().filter_map(|outlet| outlet.mirror.clone()).collect();
    // Without it signals to the group are passed on once too often, which is better than not to run.
    let sentinel = Sentinel::start(&outputs.outlets).ok().map(Arc::new);
    let pid = match spawn(job, outputs.stdout, outputs.stderr) {
        Ok(pid) => pid,
        Err(error) => {
            sentinel.as_ref().inspect(|sentinel| sentinel.quit());
            return Err(NotStarted::of(error));
        }
    };
    stand_back();
    started(pid);
    let standing = Arc::new(Mutex::new(Standing::Runs(pid)));
    let forwarder = Forwarder { job: Arc::clone(&standing), sentinel: sentinel.clone(), mirrors };
    std::thread::spawn(move || forwarder.serve(caught));
    let (ending, ended) = std::io::pipe().map_err(NotStarted::of)?;
    let ending = Arc::new(OwnedFd::from(ending));
    let relays: Vec<_> = outputs
        .outlets
        .into_iter()
        .map(|outlet| {
            let (ending, sentinel, tape) = (Arc::clone(&ending), sentinel.clone(), Arc::clone(tape));
            std::thread::spawn(move || {
                let mut keep = |bytes: &[u8]| tape.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
                let end = pump(outlet, &ending, &mut keep);
                if let (End::Unread | End::Refused(_), Some(sentinel)) = (end, &sentinel) {
                    sentinel.let_go();
                }
                end
            })
        })
        .collect();
    let how = wait(pid, sentinel.as_deref());
    if let Ok(mut standing) = standing.lock() {
        *standing = Standing::EndedAt(Instant::now());
    }
    drop(ended);
    let ends: Vec<End> = relays.into_iter().filter_map(|relay| relay.join().ok()).collect();
    if let Some(sentinel) = &sentinel
        && !ends.contains(&End::HeldByOthers)
    {
        sentinel.quit();
    }
    let refused = ends.iter().find_map(|end| if let End::Refused(error) = end { Some(*error) } else { None });
    Ok(Ended { how, refused: refused.map(Into::into) })
}

/// Where the kernel must shoot something of the job's group, it takes the largest; of a job whose memory is all in
/// files that is oomdoc, whose place is to tell about it. The job, started before, keeps its own standing. Without
/// the right to do so nothing changes.
fn stand_back() {
    let _ = std::fs::write("/proc/self/oom_score_adj", LAST_TO_BE_SHOT);
}

fn spawn(job: &Job, stdout: OwnedFd, stderr: OwnedFd) -> std::io::Result<Pid> {
    let start = |mut command: Command| {
        command.envs(job.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::inherit()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).spawn()
    };
    let Some((program, arguments)) = job.command.split_first() else { return Err(ErrorKind::InvalidInput.into()) };
    let child = if job.dies_with_oomdoc {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(NAME).arg(std::process::id().to_string()).args(&job.command);
        start(command)
    } else {
        match start(with(program, arguments)) {
            Err(error) if error.raw_os_error() == Some(NO_EXECUTABLE) => {
                start(with(OsStr::new("/bin/sh"), &job.command))
            }
            started => started,
        }
    }?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| std::io::Error::other("no process id"))
}

fn with(program: &OsStr, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Until the job has ended. Orphans that were given to this process (as process 1 of a container) are reaped.
fn wait(job: Pid, sentinel: Option<&Sentinel>) -> Ending {
    loop {
        let (pid, status) = match waitpid(None, WaitOptions::UNTRACED) {
            Ok(Some(changed)) => changed,
            Err(rustix::io::Errno::INTR) | Ok(None) => continue,
            // No child is left, though the job was one: somebody else has reaped it.
            Err(_) => return Ending::Exited(1),
        };
        if pid != job {
            continue;
        }
        if let Some(code) = status.exit_status() {
            return Ending::Exited(u8::try_from(code & 0xff).unwrap_or(u8::MAX));
        }
        if let Some(signal) = status.terminating_signal() {
            return Ending::Killed(signal);
        }
        if status.stopped() {
            stop_too(job, sentinel);
        }
    }
}

/// Stops this process, so that its shell sees that the job has stopped.
fn stop_too(job: Pid, sentinel: Option<&Sentinel>) {
    sentinel.inspect(|sentinel| sentinel.watch(job));
    let _ = kill_process(rustix::process::getpid(), Signal::STOP);
    sentinel.inspect(|sentinel| sentinel.running());
}

/// Becomes the job, after the kernel was asked to kill it with oomdoc. Exit code as of a shell where it cannot be
/// started.
///
/// # Errors
/// Where a person started it.
pub fn become_job(arguments: &[OsString]) -> anyhow::Result<u8> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let Some((parent, command)) = arguments.split_first() else { anyhow::bail!("no parent") };
    // It may have died before the signal was asked for.
    let alive = parent.to_str().is_some_and(|parent| parent == std::os::unix::process::parent_id().to_string());
    anyhow::ensure!(alive, "the parent has gone away");
    let Some((program, arguments)) = command.split_first() else { anyhow::bail!("no command") };
    let mut error = with(program, arguments).exec();
    if error.raw_os_error() == Some(NO_EXECUTABLE) {
        error = with(OsStr::new("/bin/sh"), command).exec();
    }
    let refused = NotStarted::of(error);
    tell_not_started(program, &refused);
    Ok(refused.code)
}

/// `oomdoc: train.sh: Permission denied`, as shells say it.
pub fn tell_not_started(program: &OsStr, refused: &NotStarted) {
    use std::io::Write as _;
    let text = refused.error.to_string();
    let reason = text.split(" (os error").next().unwrap_or(&text);
    let _ = writeln!(std::io::stderr(), "oomdoc: {}: {reason}", inert(&program.to_string_lossy()));
}
