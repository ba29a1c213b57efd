//! The command line of `oomdoc run`.

use super::{Output, OutputArgs};
use clap::Args;
use std::ffi::OsString;

/// First arguments with which the program starts itself.
pub(super) const SENTINEL: &str = "run-sentinel";
pub(super) const CHILD: &str = "run-child";

/// `oomdoc run`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    pub command: Vec<OsString>,
    /// Killing oomdoc kills the job.
    pub die_with_me: bool,
    pub output: Output,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc run -- python train.py
  oomdoc run -- torchrun --nproc-per-node 4 train.py
  srun oomdoc run -- python train.py
  docker run … oomdoc run -- python train.py      as the container's first process, too

The job keeps its terminal, colours, input, signals, working directory and exit code.
Exit codes: the job's own, 128 + n when signal n ended it, 127 or 126 when it cannot be started.")]
pub(super) struct RunArgs {
    /// Kill the job when oomdoc itself is killed
    #[arg(long)]
    die_with_me: bool,
    #[command(flatten)]
    output: OutputArgs,
    /// The job and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl From<RunArgs> for RunOptions {
    fn from(args: RunArgs) -> RunOptions {
        RunOptions { command: args.command, die_with_me: args.die_with_me, output: args.output.plain(false) }
    }
}
