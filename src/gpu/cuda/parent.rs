//! The parent's side: starts the child, collects its findings, stops it when its time is up or a guard objects.

use super::failure::{Ending, Failure, Objection, Step};
use super::protocol::{
    Bandwidth, DeviceFacts, DriverFacts, ExperimentOutcome, Finding, Largest, Latency, Line, MemoryCheck, MemoryFacts,
    ProbeRequest, Taken,
};
use crate::system;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
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
    /// The flags of the levels that were not asked for.
    not_asked: Vec<&'static str>,
}

impl Findings {
    fn none(request: &ProbeRequest) -> Findings {
        let levels =
            [(request.bench, BENCH), (request.fill, FILL), (request.fill && !request.experiment.is_empty(), REPRODUCE)];
        let not_asked = levels.into_iter().filter_map(|(asked, flag)| (!asked).then_some(flag)).collect();
        Findings { not_asked, ..Findings::default() }
    }

    /// Why a step told nothing.
    fn missing(&self, step: Step, flag: &'static str) -> Failure {
        match &self.cut {
            _ if self.not_asked.contains(&flag) => Failure::NotAsked { flag: flag.into() },
            // Only the step at which it ended is to blame, or the first one where it did not even start.
            Some(cut @ Failure::Died { during, .. }) if *during == step => cut.clone(),
            Some(cut @ Failure::Died { during: Step::Start, .. }) => cut.clone(),
            Some(cut) if !matches!(cut, Failure::Died { .. }) => cut.clone(),
            _ => Failure::NotReached,
        }
    }
}

macro_rules! readings {
    ($($(#[$doc:meta])* $name:ident -> $variant:ident($type:ty) of $step:ident, $flag:expr;)*) => {
        impl Findings {
            $($(#[$doc])*
            pub fn $name(&self) -> Taken<$type> {
                let told = self.found.iter().find_map(|finding| match finding {
                    Finding::$variant(taken) => Some(taken.clone()),
                    _ => None,
                });
                told.unwrap_or_else(|| Err(self.missing(Step::$step, $flag)))
            })*
        }
    };
}

const BENCH: &str = "--bench";
const FILL: &str = "--allow-fill";
const REPRODUCE: &str = "--reproduce";

readings! {
    driver -> Driver(DriverFacts) of Driver, "";
    device -> Device(DeviceFacts) of Device, "";
    memory -> Memory(MemoryFacts) of Context, "";
    granularity -> Granularity(u64) of Granularity, "";
    bandwidth -> Bandwidth(Bandwidth) of Bandwidth, BENCH;
    check -> Check(MemoryCheck) of MemoryCheck, BENCH;
    latencies -> Latencies(Vec<Latency>) of Latencies, BENCH;
    largest -> Largest(Largest) of Largest, FILL;
    experiment -> Experiment(Vec<Taken<ExperimentOutcome>>) of Experiment, REPRODUCE;
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

/// What watches over a child while it runs: it is told the child's process id, and objects with a reason.
pub type Guard = Box<dyn FnMut(u32) -> Option<Objection> + Send>;

enum Event {
    Line(Line),
    Objection(Objection),
    /// The child has closed its pipe.
    Closed,
}

/// Runs the child to its end. `guard` is asked every 50 ms, and the child is stopped when it objects.
///
/// Neither the child nor the guard can hold up the time limit: a driver that hangs may hang both.
pub fn probe(request: &ProbeRequest, guard: Option<Guard>) -> Findings {
    let not_started = |error: String| Findings { cut: Some(Failure::NotStarted { error }), ..Findings::none(request) };
    let mut child = match start(request) {
        Ok(child) => child,
        Err(error) => return not_started(error.to_string()),
    };
    let Some(stdout) = child.stdout.take() else { return not_started("no pipe".into()) };
    let (sender, events) = channel();
    let over = Arc::new(AtomicBool::new(false));
    if let Some(mut guard) = guard {
        let (sender, over, pid) = (sender.clone(), Arc::clone(&over), child.id());
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if let Some(objection) = guard(pid) {
                    let _ = sender.send(Event::Objection(objection));
                    return;
                }
                std::thread::sleep(POLL);
            }
        });
    }
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        let mut next =
            |line: &mut Vec<u8>| stdout.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', line).unwrap_or_default();
        while next(&mut line) > 0 {
            // What a driver prints to standard output is no finding.
            if let Ok(line) = serde_json::from_slice::<Line>(&line)
                && sender.send(Event::Line(line)).is_err()
            {
                return;
            }
            line.clear();
        }
        let _ = sender.send(Event::Closed);
    });
    let end = Instant::now() + Duration::from_secs(request.seconds) + GRACE;
    let mut findings = Findings::none(request);
    let mut during = Step::Start;
    let mut done = false;
    let ending = loop {
        match events.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Event::Line(Line::Begin(step))) => during = step,
            Ok(Event::Line(Line::Found(finding))) => findings.found.push(finding),
            Ok(Event::Line(Line::Done)) => done = true,
            Ok(Event::Objection(why)) => break Some(Ending::Stopped { why }),
            Ok(Event::Closed) => break None,
            Err(_) => break Some(Ending::Killed { seconds: request.seconds }),
        }
    };
    over.store(true, Ordering::Relaxed);
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

/// Waits for a child that has closed its pipe or was killed, but not for ever: one stuck in the kernel must not keep
/// its parent.
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

fn start(request: &ProbeRequest) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(path) = std::env::var_os(LIBRARY_PATH) {
        command.env(LIBRARY_PATH, without_stubs(&path));
    }
    let mut child =
        command.arg(super::child::NAME).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let request = serde_json::to_vec(&ProbeRequest { parent: Some(std::process::id()), ..request.clone() })?;
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

/// Where the loader looks first.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// A list of folders less the toolkit's own for linking. The library is looked up as `libcuda.so` before
/// `libcuda.so.1`, and what stands there would win over the driver, which programs that were linked find all the same.
fn without_stubs(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.file_name() != Some(OsStr::new("stubs")));
    std::env::join_paths(folders).unwrap_or_else(|_| path.to_os_string())
}

fn ended(status: ExitStatus) -> Ending {
    match system::ended_by(status) {
        Some(signal) => Ending::Signal { signal },
        None => Ending::Exit { code: status.code().unwrap_or(-1) },
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_toolkits_folder_for_linking_is_left_out() {
        let path = OsStr::new("/opt/lib:/usr/local/cuda/lib64/stubs:/usr/local/cuda/lib64:/x/stubs/");
        assert_eq!(without_stubs(path), "/opt/lib:/usr/local/cuda/lib64");
    }
}
