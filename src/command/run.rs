//! `oomdoc run` and `oomdoc attach`: somebody beside a job, who tells what its memory died of.

use super::explain::{FileEvents, diagnose_with, recorded};
use super::proof::Proofs;
pub use super::top::run as top;
use crate::cli::{AttachOptions, Output, RunOptions, WatchOptions};
use crate::incident::context::Given;
use crate::incident::timeline::{End, Header};
use crate::report::{self, Asked, Style};
use crate::run::child::{self, Ending, Job};
use crate::run::inside::Inside;
use crate::run::record::Writer;
use crate::run::sampler::{Orders, Sampler, Seen, header};
use crate::run::tape::Tape;
use crate::system::{Noted, Signal};
use crate::text;
use rustix::process::Pid;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Between two looks whether a process that is no child still runs.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the job. The exit code is the job's own, 128 + n for signal n, 127 or 126 where it cannot be started.
///
/// # Errors
/// Never: whatever fails beside the job is told and does not count.
pub fn run(options: &RunOptions) -> anyhow::Result<u8> {
    let inside = options.snapshot.as_deref().and_then(|folder| prepare(folder, options));
    let environment = inside.iter().map(|inside| ("PYTHONPATH", inside.python_path())).collect();
    let job = Job { command: options.command.clone(), environment, dies_with_oomdoc: options.die_with_me };
    let tape = Arc::new(Mutex::new(Tape::default()));
    let mut sampler = None;
    let started = |pid: Pid| {
        let header = header(pid, &options.command);
        inside.as_ref().inspect(|inside| inside.belongs_to(header.pid));
        sampler = Some(watch(pid, header, &tape, &options.watch, inside.clone(), &options.output));
    };
    let ended = match child::supervise(&job, &tape, started) {
        Ok(ended) => ended,
        Err(refused) => {
            let program = options.command.first().map(OsString::as_os_str).unwrap_or_default();
            child::tell_not_started(program, &refused);
            return Ok(refused.code);
        }
    };
    if let Some(error) = &ended.refused {
        let line = text!(
            en: "oomdoc: what the job wrote could not all be passed on: {error}",
            zh: "oomdoc：作业的输出未能全部传出：{error}"
        );
        let _ = writeln!(std::io::stderr(), "{}", line.in_lang(options.output.style.lang));
    }
    let end = match ended.how {
        Ending::Exited(code) => End { code: Some(code.into()), ..End::default() },
        Ending::Killed(signal) => End { signal: Some(signal), ..End::default() },
    };
    if let Some(sampler) = sampler {
        tell(sampler.finish(end), &tape, options.quiet, &options.output);
    }
    if inside.is_some_and(|inside| !inside.came()) {
        let line = text!(
            en: "oomdoc: --snapshot had nothing to look at: no Python of the job took its module in (python -I or -E, \
                 another user or container, or no Python at all)",
            zh: "oomdoc：--snapshot 没有可看的内容：作业中没有 Python 载入其模块（python -I 或 -E、其他用户或容器，\
                 或根本没有 Python）"
        );
        let _ = writeln!(std::io::stderr(), "{}", line.in_lang(options.output.style.lang));
    }
    Ok(ended.how.code())
}

/// What lets PyTorch tell from inside; `None` where it cannot be prepared, which is told.
fn prepare(snapshots: &Path, options: &RunOptions) -> Option<Arc<Inside>> {
    match Inside::prepare(snapshots, &header(rustix::process::getpid(), &options.command)) {
        Ok(inside) => Some(Arc::new(inside)),
        Err(error) => {
            let line = text!(
                en: "oomdoc: --snapshot is left out: {error}",
                zh: "oomdoc：--snapshot 未启用：{error}"
            );
            let _ = writeln!(std::io::stderr(), "{}", crate::text::inert(line.in_lang(options.output.style.lang)));
            None
        }
    }
}

/// Watches a process that runs already.
///
/// # Errors
/// Where there is no such process.
pub fn attach(options: &AttachOptions) -> anyhow::Result<u8> {
    let running = Running::find(options.pid)?;
    let noted = Noted::from_now_on(&[Signal::Interrupt, Signal::Terminate])?;
    let tape = Arc::new(Mutex::new(Tape::default()));
    let header = header(running.pid, &running.command);
    let sampler = watch(running.pid, header, &tape, &options.watch, None, &options.output);
    while running.goes_on() && !noted.came() {
        std::thread::sleep(LOOK);
    }
    // How a process ended is told to its parent alone; only the kernel's counters tell more.
    let mut seen = sampler.finish(End::default());
    if let Some(end) = &mut seen.timeline.end
        && end.group_kills.unwrap_or(0) == 0
    {
        end.code = Some(0);
    }
    tell(seen, &tape, options.quiet, &options.output);
    Ok(0)
}

/// A process that runs already.
pub(super) struct Running {
    pub pid: Pid,
    pub command: Vec<OsString>,
    number: u32,
    started: String,
}

impl Running {
    /// # Errors
    /// Where there is no such process.
    pub fn find(number: u32) -> anyhow::Result<Running> {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
        let Some((pid, started)) = pid.zip(start_time(number)) else { anyhow::bail!("there is no process {number}") };
        let line = std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let command = line.split('\0').filter(|word| !word.is_empty()).map(OsString::from).collect();
        Ok(Running { pid, command, number, started })
    }

    pub fn goes_on(&self) -> bool {
        start_time(self.number).as_ref() == Some(&self.started)
    }
}

/// Field 22 of `stat`, by which a process is told from a later one of its number; `None` for one that has ended.
fn start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    fields.next().filter(|state| *state != "Z")?;
    fields.nth(18).map(str::to_string)
}

fn watch(
    pid: Pid,
    header: Header,
    tape: &Arc<Mutex<Tape>>,
    options: &WatchOptions,
    inside: Option<Arc<Inside>>,
    output: &Output,
) -> Sampler {
    let record = options.record.as_ref().map(|path| Writer::create(path, &header));
    let orders = Orders { warn: options.warn, stop_at: options.stop_at, lang: output.style.lang, inside };
    Sampler::start(pid, header, Arc::clone(tape), record, orders)
}

/// What there is to say at the end, on standard error: the job's own output is not ours.
fn tell(seen: Seen, tape: &Mutex<Tape>, quiet: bool, output: &Output) {
    let lang = output.style.lang;
    let mut stderr = anstream::AutoStream::new(std::io::stderr().lock(), output.color);
    let mut say = |text: &str| {
        let _ = stderr
            .write_all(crate::privacy::leaving(text, output.style.redact).as_bytes())
            .and_then(|()| stderr.flush());
    };
    let timeline = Arc::new(seen.timeline);
    let end = timeline.end.unwrap_or_default();
    if end.failed() && !end.stopped_by_us {
        let printed = tape.lock().unwrap_or_else(PoisonError::into_inner).text();
        let watched = FileEvents::watched(&printed, Arc::clone(&timeline));
        let mut proofs = Proofs::new(&recorded(std::slice::from_ref(&watched)));
        let explanation = diagnose_with(vec![watched], &Given::default(), &mut proofs);
        if !explanation.diagnoses.is_empty() {
            let style = Style { asked: Asked::Watched, ..output.style };
            say(&format!("\n{}", report::terminal::render(&explanation, style)));
        } else if end.signal == Some(9) && timeline.shot_for_another_reason() {
            let line = text!(
                en: "oomdoc: killed by SIGKILL, but not for want of memory as far as can be seen: the kernel counted \
                     no such kill of the job, no limit was near, and it was not growing\n",
                zh: "oomdoc：被 SIGKILL 杀死，但就所见并非内存不足：内核没有记录到对本作业的此类杀进程，没有接近任何上\
                     限，作业也没有增长\n"
            );
            say(line.in_lang(lang));
        }
    } else if !quiet {
        let line = report::timeline::peaks(&timeline);
        if !line.is_empty() {
            say(&format!("oomdoc: {}\n", line.in_lang(lang)));
        }
    }
    if let Some(error) = seen.record_failed {
        let line = text!(
            en: "oomdoc: the record is not whole ({error}); the job was not affected\n",
            zh: "oomdoc：记录不完整（{error}）；作业未受影响\n"
        );
        say(line.in_lang(lang));
    }
}

/// The process beside a job.
///
/// # Errors
/// Where a person started it.
pub fn sentinel() -> anyhow::Result<u8> {
    crate::run::sentinel::run()
}

/// The process that becomes a job.
///
/// # Errors
/// Where a person started it.
pub fn become_job(arguments: &[OsString]) -> anyhow::Result<u8> {
    child::become_job(arguments)
}
