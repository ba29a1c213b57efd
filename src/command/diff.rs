//! `oomdoc diff`: what grew between two memory snapshots.

use super::progress::Progress;
use super::replay::read;
use crate::cli::{DiffFormat, DiffOptions};
use crate::input::Source;
use crate::report::diff;
use crate::report::view::to_json;
use crate::snapshot::diff::{Side, compare, side};

/// Reads both, compares and prints. The exit code: 0 compared, 1 it grew more than allowed.
///
/// # Errors
/// When either cannot be read, or standard output cannot be written.
pub fn run(options: &DiffOptions) -> anyhow::Result<u8> {
    let progress = Progress::new(&[options.before.clone(), options.after.clone()]);
    // One after the other, and only what is compared is kept.
    let take = |source: &Source| -> anyhow::Result<Side> {
        let lang = options.output.style.lang;
        let (snapshot, _) = read(source, &progress).map_err(|error| error.context_of(source, lang))?;
        Ok(side(&snapshot, options.moment))
    };
    let before = take(&options.before)?;
    let after = take(&options.after)?;
    drop(progress);
    let report = diff::Report {
        before: options.before.to_string(),
        after: options.after.to_string(),
        moment: options.moment,
        devices: compare(before, after),
        top: options.top,
    };
    let failed = options.fail_on.is_some_and(|limit| {
        report.devices.iter().any(|device| {
            let (before, after) =
                if limit.reserved { device.reserved } else { (device.total.before, device.total.after) };
            limit.exceeded(before, after)
        })
    });
    let style = options.output.style;
    let text = match options.format {
        DiffFormat::Terminal => diff::terminal(&report, style),
        DiffFormat::Json => to_json(&diff::document(&report)),
        DiffFormat::Markdown => diff::markdown(&report, style.lang),
    };
    super::print(&text, &options.output)?;
    Ok(failed.into())
}
