//! The command line of `oomdoc run`.

use super::{Output, Refused, ScreenArgs};
use crate::text;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// First arguments with which the program starts itself.
pub(super) const SENTINEL: &str = "run-sentinel";
pub(super) const CHILD: &str = "run-child";

/// Folder of memory snapshots where none is named.
const SNAPSHOTS: &str = "oomdoc-snapshots";

/// `oomdoc run`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    pub command: Vec<OsString>,
    pub watch: WatchOptions,
    /// Killing oomdoc kills the job.
    pub die_with_me: bool,
    /// Folder for memory snapshots; PyTorch is asked from inside.
    pub snapshot: Option<PathBuf>,
    /// Nothing is said but a diagnosis.
    pub quiet: bool,
    pub output: Output,
}

/// `oomdoc attach`.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachOptions {
    pub pid: u32,
    pub watch: WatchOptions,
    pub quiet: bool,
    pub output: Output,
}

/// `oomdoc top`.
#[derive(Debug, Clone, PartialEq)]
pub struct TopOptions {
    pub pid: u32,
    /// Between two looks.
    pub interval: Duration,
    /// Looks after which it ends.
    pub count: Option<u64>,
    pub output: Output,
}

/// What is done while a job is watched.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WatchOptions {
    /// File or folder of the record.
    pub record: Option<PathBuf>,
    /// Share of a limit, 0 to 1.
    pub warn: Option<f64>,
    pub stop_at: Option<f64>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc run -- python train.py
  oomdoc run --record run.record --warn 90% -- torchrun --nproc-per-node 4 train.py
  oomdoc run --snapshot -- python train.py        PyTorch's allocator tells, without a change of code
  srun oomdoc run --record 'records/{host}-{rank}' -- python train.py
  docker run … oomdoc run -- python train.py      as the container's first process, too
  oomdoc explain records/                         afterwards: who fell first, and why

--snapshot (or OOMDOC_SNAPSHOT=1) has every Python of the job import a small module through PYTHONPATH. It changes no \
function and resets no counter; keeping the history costs a few microseconds for each allocation.

The job keeps its terminal, colours, input, signals, working directory and exit code. Nothing is said when all goes \
well but one line with the peak; when it dies for want of memory, the diagnosis goes to standard error.
Exit codes: the job's own, 128 + n when signal n ended it, 127 or 126 when it cannot be started.")]
pub(super) struct RunArgs {
    #[command(flatten)]
    watch: WatchArgs,
    /// Kill the job when oomdoc itself is killed
    #[arg(long)]
    die_with_me: bool,
    /// Have PyTorch keep its allocator's history, write a memory snapshot into FOLDER when a process runs out of GPU
    /// memory, and tell what was allocated after each step
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true, default_missing_value = SNAPSHOTS)]
    snapshot: Option<PathBuf>,
    #[command(flatten)]
    output: ScreenArgs,
    /// The job and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc attach 4242
  oomdoc attach --record run.record --warn 90% $(pgrep -o -f train.py)

Ends with the process; Ctrl-C ends it before, and the process goes on. What the process prints is not seen.
Exit codes: 0 it was watched to its end or until Ctrl-C, 2 bad usage or no such process.")]
pub(super) struct AttachArgs {
    /// Process to watch, with all that it starts
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pid: u32,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    output: ScreenArgs,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc top $(pgrep -o -f train.py)
  oomdoc top --interval 5s --count 12 4242 > memory.txt      a line for each look, where it is no terminal

Each look shows the job's memory, its control group, swap, /dev/shm, page-locked memory, the GPUs, how long everything \
waited for memory, and the processes with what each holds alone. Nothing is written down: oomdoc attach --record does \
that. Ctrl-C ends it, and the process goes on.
Exit codes: 0 the process ended, the looks were made, or Ctrl-C; 2 bad usage or no such process.")]
pub(super) struct TopArgs {
    /// Process to show, with all that it starts
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pid: u32,
    /// Time between two looks
    #[arg(long, value_name = "TIME", value_parser = super::duration, default_value = "1s")]
    interval: Duration,
    /// End after so many looks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    output: ScreenArgs,
}

#[derive(Args)]
struct WatchArgs {
    /// Write down what is seen, for oomdoc explain; {rank}, {host} and {pid} stand for those, and a folder gets a file
    /// for each
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Say so when RAM, the control group, /dev/shm or a GPU is filled to this share
    #[arg(long, value_name = "SHARE", value_parser = percentage)]
    warn: Option<f64>,
    /// Ask the job to end (SIGTERM, once) when one of them is filled to this share
    #[arg(long, value_name = "SHARE", value_parser = percentage)]
    stop_at: Option<f64>,
    /// Say nothing when all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// `OOMDOC_SNAPSHOT`: 1 for the folder named by default, or a folder.
fn snapshots_by_environment() -> Option<PathBuf> {
    let value = std::env::var_os("OOMDOC_SNAPSHOT")?;
    match value.to_str() {
        Some("" | "0") => None,
        Some("1") => Some(SNAPSHOTS.into()),
        _ => Some(value.into()),
    }
}

impl From<WatchArgs> for WatchOptions {
    fn from(args: WatchArgs) -> WatchOptions {
        WatchOptions { record: args.record, warn: args.warn, stop_at: args.stop_at }
    }
}

impl From<RunArgs> for RunOptions {
    fn from(args: RunArgs) -> RunOptions {
        RunOptions {
            command: args.command,
            quiet: args.watch.quiet,
            watch: args.watch.into(),
            die_with_me: args.die_with_me,
            snapshot: args.snapshot.or_else(snapshots_by_environment),
            output: args.output.plain(false),
        }
    }
}

impl From<AttachArgs> for AttachOptions {
    fn from(args: AttachArgs) -> AttachOptions {
        AttachOptions {
            pid: args.pid,
            quiet: args.watch.quiet,
            watch: args.watch.into(),
            output: args.output.plain(false),
        }
    }
}

impl From<TopArgs> for TopOptions {
    fn from(args: TopArgs) -> TopOptions {
        TopOptions { pid: args.pid, interval: args.interval, count: args.count, output: args.output.plain(false) }
    }
}

/// `90%`, `0.9`.
fn percentage(text: &str) -> Result<f64, Refused> {
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    };
    share
        .ok()
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| text!(en: "write a share such as 90%", zh: "请写 90% 这样的比例").into())
}
