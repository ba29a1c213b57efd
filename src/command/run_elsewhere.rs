//! `oomdoc run` where it cannot be: on systems without `/proc` and control groups.

use crate::cli::{AttachOptions, RunOptions};
use std::ffi::OsString;

fn refuse() -> anyhow::Result<u8> {
    anyhow::bail!("oomdoc run needs Linux: it reads /proc and control groups")
}

pub fn run(_options: &RunOptions) -> anyhow::Result<u8> {
    refuse()
}

pub fn attach(_options: &AttachOptions) -> anyhow::Result<u8> {
    refuse()
}

pub fn sentinel() -> anyhow::Result<u8> {
    refuse()
}

pub fn become_job(_arguments: &[OsString]) -> anyhow::Result<u8> {
    refuse()
}
