//! `oomdoc run`: the job as it is, with somebody beside it.

use crate::cli::RunOptions;
use std::ffi::OsString;

/// Runs the job. The exit code is the job's own, 128 + n for signal n, 127 or 126 where it cannot be started.
///
/// # Errors
/// Where this system is not Linux.
#[cfg(target_os = "linux")]
pub fn run(options: &RunOptions) -> anyhow::Result<u8> {
    use crate::run::child::{self, Job};
    let job = Job { command: options.command.clone(), dies_with_oomdoc: options.die_with_me };
    match child::supervise(&job, &mut |_| {}) {
        Ok(ending) => Ok(ending.code()),
        Err(refused) => {
            let program = options.command.first().map(OsString::as_os_str).unwrap_or_default();
            child::tell_not_started(program, &refused);
            Ok(refused.code)
        }
    }
}

/// The process beside a job.
///
/// # Errors
/// Where a person started it.
#[cfg(target_os = "linux")]
pub fn sentinel() -> anyhow::Result<u8> {
    crate::run::sentinel::run()
}

/// The process that becomes a job.
///
/// # Errors
/// Where a person started it.
#[cfg(target_os = "linux")]
pub fn become_job(arguments: &[OsString]) -> anyhow::Result<u8> {
    crate::run::child::become_job(arguments)
}

#[cfg(not(target_os = "linux"))]
pub fn run(_options: &RunOptions) -> anyhow::Result<u8> {
    anyhow::bail!("oomdoc run needs Linux: it reads /proc and control groups")
}

#[cfg(not(target_os = "linux"))]
pub fn sentinel() -> anyhow::Result<u8> {
    anyhow::bail!("oomdoc run needs Linux")
}

#[cfg(not(target_os = "linux"))]
pub fn become_job(_arguments: &[OsString]) -> anyhow::Result<u8> {
    anyhow::bail!("oomdoc run needs Linux")
}
