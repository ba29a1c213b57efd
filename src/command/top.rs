//! `oomdoc top`: a running job at every moment.

use crate::cli::TopOptions;
use crate::report::timeline::live;
use crate::run::sampler::{Watch, header};
use crate::system::{Noted, Signal};
use anyhow::bail;
use rustix::process::Pid;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Looks for the end of the job and for Ctrl-C this often between two frames.
const LOOK: Duration = Duration::from_millis(50);

/// Draws over what stands there, from the top left corner.
const HOME: &str = "\x1b[H";
const CLEAR: &str = "\x1b[2J";
const REST_OF_LINE: &str = "\x1b[K\r\n";
const REST_OF_SCREEN: &str = "\x1b[J";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// Shows a job until it ends, until Ctrl-C, or for as many looks as were asked for.
///
/// # Errors
/// Where there is no such process, or nobody reads.
pub fn run(options: &TopOptions) -> anyhow::Result<u8> {
    let pid = i32::try_from(options.pid).ok().and_then(Pid::from_raw);
    let Some((pid, started)) = pid.zip(super::run::start_time(options.pid)) else {
        bail!("there is no process {}", options.pid)
    };
    let line = std::fs::read_to_string(format!("/proc/{}/cmdline", options.pid)).unwrap_or_default();
    let command: Vec<OsString> = line.split('\0').filter(|word| !word.is_empty()).map(OsString::from).collect();
    let noted = Noted::from_now_on(&[Signal::Interrupt, Signal::Terminate])?;
    let mut watch = Watch::new(pid, header(pid, &command));
    let screen = std::io::stdout().is_terminal();
    let mut out = anstream::AutoStream::new(std::io::stdout().lock(), options.output.color);
    if screen {
        write!(out, "{HIDE_CURSOR}{CLEAR}")?;
    }
    let mut shown = 0;
    let outcome = loop {
        let next = Instant::now() + options.interval;
        let timeline = watch.look();
        let drawn = if screen {
            let frame = live::frame(timeline, options.output.style);
            let rows = options.output.style.height.unwrap_or(usize::MAX).saturating_sub(1);
            let frame: Vec<&str> = frame.lines().take(rows).collect();
            write!(out, "{HOME}{}{REST_OF_LINE}{REST_OF_SCREEN}", frame.join(REST_OF_LINE))
        } else {
            let line = live::line(timeline, options.output.style.lang);
            writeln!(out, "{}", crate::privacy::leaving(&line, options.output.style.redact))
        };
        if let Err(error) = drawn.and_then(|()| out.flush()) {
            break if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(0) } else { Err(error.into()) };
        }
        shown += 1;
        let ended = || noted.came() || super::run::start_time(options.pid).as_ref() != Some(&started);
        if options.count.is_some_and(|count| shown >= count) {
            break Ok(0);
        }
        while Instant::now() < next && !ended() {
            std::thread::sleep(LOOK.min(options.interval));
        }
        if ended() {
            break Ok(0);
        }
    };
    if screen {
        write!(out, "{SHOW_CURSOR}")?;
        out.flush()?;
    }
    outcome
}
