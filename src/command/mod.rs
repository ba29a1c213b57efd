//! One file per command: it collects evidence, calls the core and picks the exit code.

pub mod diff;
pub mod explain;
pub mod headroom;
pub mod probe;
mod probe_cuda;
mod progress;
pub(crate) mod proof;
pub mod rehearse;
pub mod replay;
mod reproduce;
pub mod rules;
#[cfg_attr(not(target_os = "linux"), path = "run_elsewhere.rs")]
pub mod run;
pub mod simulate;
#[cfg(target_os = "linux")]
mod top;

use crate::cli::{CompletionShell, Invocation, Output};
use crate::privacy;
use crate::report::gate::{Checks, github};
use crate::text::{Lang, Text, inert};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Exit code for bad usage and unreadable input; 0 and 1 belong to the commands (`docs/exit-codes.md`).
pub const UNUSABLE: u8 = 2;

/// Runs a command to its exit code. Errors are told on standard error.
pub fn run(invocation: Invocation) -> ExitCode {
    let lang = match &invocation {
        Invocation::Explain(options) => options.output.style.lang,
        Invocation::Rules(options) => options.output.style.lang,
        Invocation::Completions(_)
        | Invocation::CudaChild
        | Invocation::NvmlTrial
        | Invocation::RehearseView
        | Invocation::RehearseSmi
        | Invocation::RunSentinel
        | Invocation::RunChild(_) => Lang::En,
        Invocation::Probe(options) => options.output.style.lang,
        Invocation::Replay(options) => options.output.style.lang,
        Invocation::Diff(options) => options.output.style.lang,
        Invocation::Simulate(options) => options.output.style.lang,
        Invocation::Headroom(options) => options.output.style.lang,
        Invocation::Rehearse(options) => options.output.style.lang,
        Invocation::Run(options) => options.output.style.lang,
        Invocation::Attach(options) => options.output.style.lang,
        Invocation::Top(options) => options.output.style.lang,
    };
    let outcome = match invocation {
        Invocation::Explain(options) => explain::run(&options),
        Invocation::Rules(options) => rules::run(&options),
        Invocation::Completions(shell) => completions(shell),
        Invocation::CudaChild => crate::gpu::cuda::child::run(),
        Invocation::NvmlTrial => crate::gpu::trial::run(),
        #[cfg(target_os = "linux")]
        Invocation::RehearseView => match crate::rehearse::view::stage::run(std::env::args_os().skip(2)) {
            Err(error) => {
                complain(&error, lang);
                Ok(crate::rehearse::launch::VIEW_FAILED)
            }
            code => code,
        },
        Invocation::RehearseSmi => {
            let (answer, code) = crate::rehearse::smi::run(std::env::args_os().skip(2));
            std::io::stdout().write_all(answer.as_bytes()).map(|()| code).map_err(anyhow::Error::from)
        }
        #[cfg(not(target_os = "linux"))]
        Invocation::RehearseView => Err(anyhow::anyhow!("for Linux only")),
        Invocation::Probe(options) => probe::run(&options),
        Invocation::Replay(options) => replay::run(&options),
        Invocation::Diff(options) => diff::run(&options),
        Invocation::Simulate(options) => simulate::run(&options),
        Invocation::Headroom(options) => headroom::run(&options),
        Invocation::Rehearse(options) => rehearse::run(&options),
        Invocation::Run(options) => run::run(&options),
        Invocation::Attach(options) => run::attach(&options),
        Invocation::Top(options) => run::top(&options),
        Invocation::RunSentinel => run::sentinel(),
        Invocation::RunChild(arguments) => run::become_job(&arguments),
    };
    ExitCode::from(outcome.unwrap_or_else(|error| {
        complain(&error, lang);
        UNUSABLE
    }))
}

fn completions(shell: CompletionShell) -> anyhow::Result<u8> {
    let script = crate::cli::script(shell)?;
    std::io::stdout().write_all(script.as_bytes())?;
    Ok(0)
}

/// The one place that writes reports to standard output. A reader that has gone away wanted no more: the exit code
/// stays what the analysis earned.
fn print(text: &str, output: &Output) -> anyhow::Result<()> {
    write(&privacy::leaving(text, output.style.redact), output)
}

/// Writes what may leave as it is.
fn write(text: &str, output: &Output) -> anyhow::Result<()> {
    let mut stdout = anstream::AutoStream::new(std::io::stdout().lock(), output.color);
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The form of GitHub Actions: annotations to print, and the summary appended to the file that the runner names.
fn github_step(checks: &Checks, lang: Lang) -> String {
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        let path = std::path::PathBuf::from(path);
        let file = std::fs::File::options().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(github::summary(checks, lang).as_bytes()));
        if let Err(error) = written {
            complain(&anyhow::anyhow!("{}: {error}", path.display()), lang);
        }
    }
    github::annotations(checks, lang)
}

/// `error: what, because why` on standard error. A closed standard error leaves nothing to be done.
fn complain(error: &anyhow::Error, lang: Lang) {
    let label = Text::new("error: ", "错误：");
    let message = match error.downcast_ref::<crate::input::ReadError>() {
        Some(unreadable) => unreadable.text.in_lang(lang).to_string(),
        None => format!("{error:#}"),
    };
    let _ = writeln!(std::io::stderr(), "{}{}", label.in_lang(lang), inert(&privacy::masked(&message)));
}
