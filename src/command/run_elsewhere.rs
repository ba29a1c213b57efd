//! `oomdoc run` where it cannot be: on systems without `/proc` and control groups.

use crate::cli::{AttachOptions, RunOptions, TopOptions};
use crate::text::{Lang, Text};
use std::ffi::OsString;

fn refuse(lang: Lang) -> anyhow::Result<u8> {
    let text = Text::new(
        "run, attach and top need Linux: what they watch are /proc and control groups. oomdoc explain reads the log of \
         any job, here too",
        "run、attach 和 top 需要 Linux：它们依赖 /proc 和控制组。oomdoc explain 在本系统上同样可以解读任何作业的日志",
    );
    anyhow::bail!("{}", text.in_lang(lang))
}

pub fn run(options: &RunOptions) -> anyhow::Result<u8> {
    refuse(options.output.style.lang)
}

pub fn attach(options: &AttachOptions) -> anyhow::Result<u8> {
    refuse(options.output.style.lang)
}

pub fn top(options: &TopOptions) -> anyhow::Result<u8> {
    refuse(options.output.style.lang)
}

pub fn sentinel() -> anyhow::Result<u8> {
    refuse(Lang::En)
}

pub fn become_job(_arguments: &[OsString]) -> anyhow::Result<u8> {
    refuse(Lang::En)
}
