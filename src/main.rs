//! Parse, dispatch, exit code: nothing else.

use oomdoc::input::Source;
use std::io::Write;

fn main() -> anyhow::Result<()> {
    // Stand-in until the command line is written: `oomdoc explain --format json FILE`.
    let path = std::env::args().last().unwrap_or_default();
    let document = oomdoc::input::read(&Source::File(path.into()))?;
    let explanation = oomdoc::command::explain::diagnose(&document);
    writeln!(std::io::stdout(), "{:#}", oomdoc::report::json::render(&explanation))?;
    Ok(())
}
