//! Runs the program once.

use super::process::{self, ProcessReport};
use crate::text;
use crate::text::Text;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The order in which the driver hands out addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    Up,
    Down,
}

/// What unknown device memory reads as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    Zeros,
    Ones,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    pub name: String,
    pub total: u64,
    pub context: u64,
    pub others: u64,
    pub compute: (u8, u8),
    pub multiprocessors: u32,
    pub cudnn_workspace: u64,
}

#[derive(Debug, Clone)]
pub struct Request {
    pub command: Vec<OsString>,
    pub device: Device,
    pub devices: u32,
    pub steps: u32,
    pub world_size: Option<u32>,
    pub rank: u32,
    pub addresses: Addresses,
    pub time_limit: Duration,
    pub snapshot: bool,
    pub values: Values,
    pub quiet: bool,
    pub env: Vec<(OsString, OsString)>,
    pub torch: Option<PathBuf>,
    pub torch_python: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    Stopped,
    Interrupted,
}

pub struct RawOutcome {
    pub processes: Vec<ProcessReport>,
    pub exit: Exit,
    pub stderr_tail: String,
    pub seconds: f64,
    pub snapshots: Vec<PathBuf>,
    folder: PathBuf,
}

impl Drop for RawOutcome {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[derive(Debug)]
pub struct LaunchError(std::io::Error);

impl LaunchError {
    pub fn text(&self) -> Text {
        let why = &self.0;
        text!(en: "{why}", zh: "{why}")
    }
}

pub fn run(request: &Request) -> Result<RawOutcome, LaunchError> {
    let started = Instant::now();
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("oomdoc-placeholder-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(LaunchError)?;
    let mut command = Command::new(request.command.first().cloned().unwrap_or_default());
    command.args(request.command.iter().skip(1)).envs(request.env.iter().cloned());
    command.env("OOMDOC_REHEARSE_DIR", &folder).env("OOMDOC_REHEARSE_STEPS", request.steps.to_string());
    command.env("OOMDOC_SIM_TOTAL", request.device.total.to_string());
    command.env("OOMDOC_SIM_CONTEXT", request.device.context.to_string());
    command.env("OOMDOC_SIM_OTHERS", request.device.others.to_string());
    command.env("OOMDOC_SIM_ADDRESSES", if request.addresses == Addresses::Up { "up" } else { "down" });
    let output = command.stdin(Stdio::null()).output().map_err(LaunchError)?;
    let processes = process::read_all(&folder);
    let snapshots = processes.iter().filter_map(|p| p.snapshot.as_ref()).map(|name| folder.join(name)).collect();
    Ok(RawOutcome {
        processes,
        exit: output.status.code().map_or(Exit::Signal(9), Exit::Code),
        stderr_tail: String::from_utf8_lossy(&output.stderr).into_owned(),
        seconds: started.elapsed().as_secs_f64(),
        snapshots,
        folder,
    })
}
