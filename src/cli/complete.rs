//! Completion while somebody types: the shell's script asks this program, which knows its own tables.
//!
//! The scripts of `completions/` know the grammar alone and need no program to run; these know GPUs, rules and settings
//! too, and are always those of the program that is installed.

use crate::allocator::config::OPTIONS;
use crate::cause::CAUSES;
use crate::fix::FIXES;
use crate::gpu::products::PRODUCTS;
use crate::gpu::verdict::RULES;
use crate::text::Lang;
use clap::ValueEnum;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Set by the script: this call completes.
const VARIABLE: &str = "OOMDOC_COMPLETE";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

/// Answers the shell and leaves the process, where it is the shell that asks.
pub(super) fn answer() {
    CompleteEnv::with_factory(|| super::command(Lang::En)).var(VARIABLE).complete();
}

/// The script that makes a shell ask.
///
/// # Errors
/// Where the folder to start in is gone.
pub fn script(shell: CompletionShell) -> std::io::Result<String> {
    let name = shell.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let called = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    // A name is looked up whenever it is needed; a path must hold in every folder.
    let called = if called.components().count() > 1 { std::env::current_dir()?.join(called) } else { called };
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(&name) {
        completer.write_registration(VARIABLE, "oomdoc", "oomdoc", &called.to_string_lossy(), &mut script)?;
    }
    Ok(String::from_utf8_lossy(&script).into_owned())
}

fn candidate(value: impl Into<String>, help: impl Into<StyledStr>) -> CompletionCandidate {
    CompletionCandidate::new(value.into()).help(Some(help.into()))
}

/// GPUs by name, in one word, as a shell needs it.
pub(super) fn gpus() -> Vec<CompletionCandidate> {
    let sold = |sold: u64| format!("{sold} GB");
    PRODUCTS.iter().map(|product| candidate(product.name.replace(' ', "-"), sold(product.sold))).collect()
}

pub(super) fn played_gpus() -> Vec<CompletionCandidate> {
    let mut all = gpus();
    all.push(candidate("list", "print the table"));
    all
}

pub(super) fn rules() -> Vec<CompletionCandidate> {
    let causes = CAUSES.iter().map(|cause| candidate(cause.id.id(), (cause.title)().en));
    let fixes = FIXES.iter().map(|fix| candidate(fix.id, (fix.title)().en));
    causes.chain(fixes).chain([candidate("alloc-conf", "every option of PYTORCH_CUDA_ALLOC_CONF")]).collect()
}

pub(super) fn verdicts() -> Vec<CompletionCandidate> {
    RULES.iter().map(|rule| CompletionCandidate::new(rule.id)).chain([CompletionCandidate::new("any")]).collect()
}

/// Options of the allocator, behind those that are written already.
pub(super) fn settings(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    let (written, begun) = current.rfind(',').map_or(("", current), |comma| current.split_at(comma + 1));
    let fitting = OPTIONS.iter().filter(|option| option.key.starts_with(begun));
    fitting.map(|option| candidate(format!("{written}{}:", option.key), option.values)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn values(candidates: &[CompletionCandidate]) -> Vec<&str> {
        candidates.iter().map(|candidate| candidate.get_value().to_str().unwrap()).collect()
    }

    /// A name that is offered and then refused would be worse than none.
    #[test]
    fn every_gpu_that_is_offered_is_found_by_that_word() {
        let offered = gpus();
        assert!(offered.len() > 50);
        for (word, product) in values(&offered).into_iter().zip(PRODUCTS) {
            assert!(!word.contains(' '));
            assert_eq!(crate::rehearse::gpus::find(word).unwrap().name, product.name);
        }
    }

    #[test]
    fn a_second_setting_is_completed_behind_the_first() {
        assert!(values(&settings(OsStr::new(""))).contains(&"max_split_size_mb:"));
        let second = settings(OsStr::new("expandable_segments:True,max_sp"));
        assert_eq!(values(&second), ["expandable_segments:True,max_split_size_mb:"]);
    }
}
