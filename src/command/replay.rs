//! `oomdoc replay`: memory snapshots to peaks, holders, fragmentation and what other settings would have done.

use super::progress::Progress;
use crate::cli::{ReplayFormat, ReplayOptions};
use crate::input::{self, Source};
use crate::report::replay;
use crate::snapshot::analysis::{self, SnapshotAnalysis};
use crate::snapshot::holders::Sites;
use crate::snapshot::space::{Rules, plain_rounding};
use crate::snapshot::{self, Snapshot};
use crate::text::Text;
use anyhow::anyhow;

/// Reads, replays and prints. The exit code: 0 replayed, 2 a file could not be read.
///
/// # Errors
/// When no input could be read at all, or standard output cannot be written.
pub fn run(options: &ReplayOptions) -> anyhow::Result<u8> {
    let style = options.output.style;
    let sources = input::expand_snapshots(&options.sources);
    let progress = Progress::new(&sources);
    let mut analyses = Vec::new();
    let mut failures = Vec::new();
    // One after the other: a snapshot can fill gigabytes.
    for source in &sources {
        match read(source, &progress) {
            Ok((snapshot, bytes)) => analyses.push(analyse(&snapshot, source, bytes, options)),
            Err(error) => failures.push(error.context_of(source, style.lang)),
        }
    }
    drop(progress);
    if analyses.is_empty()
        && let Some(last) = failures.pop()
    {
        failures.iter().for_each(|error| super::complain(error, style.lang));
        return Err(last);
    }
    failures.iter().for_each(|error| super::complain(error, style.lang));
    let view = replay::View { top: options.top, style };
    let text = match options.format {
        ReplayFormat::Json => format!("{:#}\n", replay::json::render(&analyses, view)),
        ReplayFormat::Terminal => replay::terminal::render(&analyses, view),
        ReplayFormat::Markdown => replay::markdown::render(&analyses, view),
        ReplayFormat::Html => replay::html::render(&analyses, view),
    };
    super::print(&text, &options.output)?;
    Ok(if failures.is_empty() { 0 } else { super::UNUSABLE })
}

/// Why a snapshot could not be had.
pub(super) enum Unreadable {
    Source(input::ReadError),
    Snapshot(snapshot::SnapshotError),
}

impl Unreadable {
    /// The error with the file's name in front.
    pub(super) fn context_of(self, source: &Source, lang: crate::text::Lang) -> anyhow::Error {
        match self {
            Unreadable::Source(error) => error.into(),
            Unreadable::Snapshot(error) => {
                let why = error.located();
                let text = Text::new(format!("{source}: {}", why.en), format!("{source}：{}", why.zh));
                anyhow!("{}", text.in_lang(lang))
            }
        }
    }
}

/// Reads one snapshot and the size of its file.
pub(super) fn read(source: &Source, progress: &Progress) -> Result<(Snapshot, u64), Unreadable> {
    let mut meter = progress.meter();
    let mut bytes = input::bytes(source, &mut meter).map_err(Unreadable::Source)?;
    let snapshot = snapshot::read(&mut bytes).map_err(Unreadable::Snapshot)?;
    Ok((snapshot, bytes.taken()))
}

fn analyse(snapshot: &Snapshot, source: &Source, bytes: u64, options: &ReplayOptions) -> SnapshotAnalysis {
    let mut sites = Sites::new(snapshot);
    let rules = Rules { round: &plain_rounding, max_split: u64::MAX };
    let wanted = |ordinal: u32| options.device.is_none_or(|only| only == ordinal);
    let devices = snapshot
        .devices
        .iter()
        .filter(|device| wanted(device.ordinal))
        .map(|device| analysis::device(snapshot, device, &mut sites, rules))
        .collect();
    SnapshotAnalysis {
        source: source.to_string(),
        bytes,
        encoding: snapshot.encoding,
        generation: snapshot.generation,
        settings: snapshot.settings.clone(),
        devices,
        sites: sites.sites,
    }
}
