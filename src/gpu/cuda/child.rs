//! The child's side of the pipe: one request in, findings out, a line each.

use super::probe;
use super::protocol::{Line, ProbeRequest};
use crate::system;
use anyhow::Context as _;
use std::io::{Read, Write};

/// The argument with which the program starts itself as the child.
pub const NAME: &str = "cuda-child";

/// Serves the one request on standard input. Exit code 0 once all was tried, whatever came of it.
///
/// # Errors
/// When the request cannot be read or the parent has gone away.
pub fn run() -> anyhow::Result<u8> {
    // A parent that was killed must not leave a probe behind. Dying by the signal frees the memory as any end does.
    system::die_with_parent();
    let mut request = String::new();
    std::io::stdin().read_to_string(&mut request).context("no request")?;
    let request: ProbeRequest = serde_json::from_str(&request).context("not a request")?;
    // It may have died before the signal was asked for.
    let gone = request.parent.zip(system::parent()).is_some_and(|(asked, now)| asked != now);
    anyhow::ensure!(!gone, "the parent has gone away");
    let mut stdout = std::io::stdout().lock();
    probe::run(&request, &mut |line: Line| {
        let written = serde_json::to_string(&line)
            .map_err(anyhow::Error::from)
            // A driver may leave a line of its own unfinished.
            .and_then(|line| Ok(write!(stdout, "\n{line}\n").and_then(|()| stdout.flush())?));
        if written.is_err() {
            // Nobody listens any more: to go on would hold memory for nothing.
            std::process::exit(1);
        }
    });
    Ok(0)
}
