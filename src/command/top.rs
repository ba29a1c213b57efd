//! `oomdoc top`: a running job at every moment.

use super::run::Running;
use crate::cli::TopOptions;
use crate::report::timeline::live;
use crate::run::sampler::{Watch, header};
use crate::system::{Noted, Signal};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Looks for the end of the job and for Ctrl-C this often between two frames.
const LOOK: Duration = Duration::from_millis(50);

/// Draws over what stands there, from the top left corner.
const HOME: &str = "\x1b[H";
const CLEAR: &str = "\x1b[2J";
const REST_OF_LINE: &str = "\x1b[K\r\n";
const REST_OF_SCREEN: &str = "\x1b[J";
/// Without a cursor, and with lines cut at the edge: wrapped ones would push the others out.
const BEGIN: &str = "\x1b[?25l\x1b[?7l";
const END: &str = "\x1b[?7h\x1b[?25h";

/// Shows a job until it ends, until Ctrl-C, or for as many looks as were asked for.
///
/// # Errors
/// Where there is no such process, or nobody reads.
pub fn run(options: &TopOptions) -> anyhow::Result<u8> {
    let running = Running::find(options.pid)?;
    let noted = Noted::from_now_on(&[Signal::Interrupt, Signal::Terminate])?;
    let mut watch = Watch::new(running.pid, header(running.pid, &running.command));
    let screen = std::io::stdout().is_terminal();
    let mut out = anstream::AutoStream::new(std::io::stdout().lock(), options.output.color);
    if screen {
        write!(out, "{BEGIN}{CLEAR}")?;
    }
    let mut shown = 0;
    let outcome = loop {
        let next = Instant::now() + options.interval;
        let timeline = watch.look();
        let drawn = if screen {
            let frame = live::frame(timeline, options.output.style);
            // The window may have another size by now.
            let rows = rustix::termios::tcgetwinsize(std::io::stdout()).map_or(0, |size| usize::from(size.ws_row));
            let most = rows.checked_sub(1).unwrap_or(usize::MAX);
            let frame: Vec<&str> = frame.lines().take(most).collect();
            write!(out, "{HOME}{}{REST_OF_LINE}{REST_OF_SCREEN}", frame.join(REST_OF_LINE))
        } else {
            let line = live::line(timeline, options.output.style.lang);
            writeln!(out, "{}", crate::privacy::leaving(&line, options.output.style.redact))
        };
        if let Err(error) = drawn.and_then(|()| out.flush()) {
            break if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(0) } else { Err(error.into()) };
        }
        shown += 1;
        let ended = || noted.came() || !running.goes_on();
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
        write!(out, "{END}")?;
        out.flush()?;
    }
    outcome
}
