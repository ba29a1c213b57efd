//! The parent's side: starts the child, collects its findings, stops it when its time is up or a guard objects.

use super::experiment::Outcome;
use super::failure::{Ending, Failure};
use super::probe::{
    Bandwidth, DeviceFacts, DriverFacts, Finding, Largest, Latency, Line, MemoryCheck, MemoryFacts, Request, Taken,
};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the guard is asked.
const POLL: Duration = Duration::from_millis(50);
/// What a child may take beyond the time that it was told to keep, before it is stopped.
const GRACE: Duration = Duration::from_secs(2);
/// Lines longer than this are no findings.
const LONGEST_LINE: usize = 1 << 20;

/// All that a child found before it ended.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    pub found: Vec<Finding>,
    /// Why the rest is missing; `None` where the child said that it was through.
    pub cut: Option<Failure>,
}

macro_rules! readings {
    ($($(#[$doc:meta])* $name:ident -> $variant:ident($type:ty);)*) => {
        impl Findings {
            $($(#[$doc])*
            pub fn $name(&self) -> Taken<$type> {
                let told = self.found.iter().find_map(|finding| match finding {
                    Finding::$variant(taken) => Some(taken.clone()),
                    _ => None,
                });
                told.unwrap_or_else(|| Err(self.cut.clone().unwrap_or(Failure::NotReached)))
            })*
        }
    };
}

readings! {
    driver -> Driver(DriverFacts);
    device -> Device(DeviceFacts);
    memory -> Memory(MemoryFacts);
    granularity -> Granularity(u64);
    bandwidth -> Bandwidth(Bandwidth);
    check -> Check(MemoryCheck);
    latencies -> Latencies(Vec<Latency>);
    largest -> Largest(Largest);
    experiment -> Experiment(Vec<Outcome>);
}

impl Findings {
    /// Bytes in use that the probe's own context cannot account for, where that made it stop.
    pub fn busy(&self) -> Option<u64> {
        self.found.iter().find_map(|finding| match finding {
            Finding::Busy(bytes) => Some(*bytes),
            _ => None,
        })
    }
}

/// Runs the child to its end. `guard` is asked every 50 ms and stops the child with the reason that it returns.
pub fn probe(request: &Request, guard: &mut dyn FnMut() -> Option<String>) -> Findings {
    let not_started = |error: String| Findings { found: Vec::new(), cut: Some(Failure::NotStarted { error }) };
    let mut child = match start(request) {
        Ok(child) => child,
        Err(error) => return not_started(error.to_string()),
    };
    let Some(stdout) = child.stdout.take() else { return not_started("no pipe".into()) };
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        while matches!(std::io::Read::take(&mut stdout, LONGEST_LINE as u64).read_until(b'\n', &mut line), Ok(read) if read > 0)
        {
            // What a driver prints to standard output is no finding.
            if let Ok(line) = serde_json::from_slice::<Line>(&line)
                && sender.send(line).is_err()
            {
                return;
            }
            line.clear();
        }
    });
    let end = Instant::now() + Duration::from_secs(request.seconds) + GRACE;
    let mut findings = Findings::default();
    let mut during = String::from("the start");
    let mut done = false;
    let mut ending = None;
    while ending.is_none() {
        match lines.recv_timeout(POLL) {
            Ok(Line::Begin(step)) => during = step,
            Ok(Line::Found(finding)) => findings.found.push(finding),
            Ok(Line::Done) => done = true,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() >= end {
            ending = Some(Ending::Killed { seconds: request.seconds });
        } else if let Some(why) = guard() {
            ending = Some(Ending::Stopped { why });
        }
    }
    if ending.is_some() {
        // By its handle, so no other process can be hit.
        let _ = child.kill();
    }
    let status = reap(&mut child);
    if !done {
        let how = ending.unwrap_or_else(|| status.map_or(Ending::Killed { seconds: request.seconds }, ended));
        findings.cut = Some(Failure::Died { during, how });
    }
    findings
}

/// Waits for a child that has closed its pipe or was killed, but not for ever: one stuck in the kernel must not keep its
/// parent.
fn reap(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + GRACE;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return None,
        }
    }
    let _ = child.kill();
    None
}

fn start(request: &Request) -> std::io::Result<Child> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(super::child::NAME)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let request = serde_json::to_vec(request)?;
    if let Some(mut stdin) = child.stdin.take()
        && let Err(error) = stdin.write_all(&request)
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    Ok(child)
}

fn ended(status: ExitStatus) -> Ending {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ending::Signal { signal };
    }
    Ending::Exit { code: status.code().unwrap_or(-1) }
}
