//! Parse, dispatch, exit code: nothing else.

fn main() -> std::process::ExitCode {
    oomdoc::command::run(oomdoc::cli::parse())
}
