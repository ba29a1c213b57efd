//! `oomdoc replay`: memory snapshots to peaks, holders, fragmentation and what other settings would have done.

use super::progress::{Progress, Sweep};
use super::{explain, proof};
use crate::allocator::config::Config;
use crate::allocator::version::Version;
use crate::cli::{Output, ReplayFormat, ReplayOptions, WhatIfOptions};
use crate::incident::context::Given;
use crate::input::{self, Source};
use crate::report::replay::Replayed;
use crate::report::view::to_json;
use crate::report::{Style, replay};
use crate::snapshot::analysis::{self, DeviceAnalysis, SnapshotAnalysis};
use crate::snapshot::holders::Sites;
use crate::snapshot::space::Rules;
use crate::snapshot::what_if::{self, Wishes};
use crate::snapshot::{self, Device, Snapshot, join, pools, predict};
use crate::text::{Lang, Text};
use anyhow::anyhow;
use std::io::Read;

/// Sites that the timeline of the HTML report tells apart.
const LAYERS: usize = 15;

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
            Ok((snapshot, bytes)) => analyses.push(analyse(&snapshot, source, bytes, options)?),
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
    match options.format {
        ReplayFormat::Json => super::print(&to_json(&replay::json::document(&analyses, view)), &options.output)?,
        ReplayFormat::Terminal => super::print(&replay::terminal::render(&analyses, view), &options.output)?,
        ReplayFormat::Markdown => super::print(&replay::markdown::render(&analyses, view), &options.output)?,
        ReplayFormat::Html => super::write(&replay::html::render(None, &analyses, view), &options.output)?,
    }
    Ok(if failures.is_empty() { 0 } else { super::UNUSABLE })
}

/// The first bytes of a pickle of protocol 2 and later, which no log begins with: the mark and the protocol.
const PICKLE: u8 = 0x80;
const PROTOCOLS: std::ops::RangeInclusive<u8> = 2..=5;

/// True for a file that begins as a pickle does, compressed or not, whatever it is called; not of a pipe, which would
/// lose what is read.
pub(super) fn is_pickle(source: &Source) -> bool {
    let mut first = [0; 2];
    source.lasting().is_some()
        && input::bytes(source, &mut |_, _| {}).is_ok_and(|mut bytes| bytes.read_exact(&mut first).is_ok())
        && first[0] == PICKLE
        && PROTOCOLS.contains(&first[1])
}

/// Why a snapshot could not be had.
pub(crate) enum Unreadable {
    Source(input::ReadError),
    Snapshot(snapshot::SnapshotError),
}

impl Unreadable {
    /// The error with the file's name in front.
    pub(super) fn context_of(self, source: &Source, lang: Lang) -> anyhow::Error {
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

/// The peaks and holders of one snapshot, nothing simulated; `None` where it cannot be read.
pub(super) fn peaks(source: &Source) -> Option<SnapshotAnalysis> {
    let output = Output { style: Style::PLAIN, color: anstream::ColorChoice::Auto };
    Some(alone(source, ReplayFormat::Json, WhatIfOptions::default(), output)?.analysis)
}

/// One snapshot as a page shows it; `None` where it cannot be read.
pub(super) fn for_page(source: &Source, output: &Output) -> Option<Replayed> {
    alone(source, ReplayFormat::Html, WhatIfOptions { wanted: true, ..WhatIfOptions::default() }, output.clone())
}

fn alone(source: &Source, format: ReplayFormat, what_if: WhatIfOptions, output: Output) -> Option<Replayed> {
    let (snapshot, bytes) = read(source, &Progress::new(std::slice::from_ref(source))).ok()?;
    let options = ReplayOptions { sources: Vec::new(), format, device: None, top: 8, what_if, output };
    analyse(&snapshot, source, bytes, &options).ok()
}

fn analyse(snapshot: &Snapshot, source: &Source, bytes: u64, options: &ReplayOptions) -> anyhow::Result<Replayed> {
    let torch = match &options.what_if.torch {
        Some(text) => Some(Version::parse(text).filter(|v| *v >= Version::OLDEST).ok_or_else(|| {
            let (oldest, newest) = (Version::OLDEST, Version::NEWEST);
            let why = crate::text!(
                en: "--torch {text}: not a version from {oldest} to {newest}",
                zh: "--torch {text}：不是 {oldest} 到 {newest} 之间的版本"
            );
            anyhow!("{}", why.in_lang(options.output.style.lang))
        })?),
        None => None,
    };
    let (config, version) = predict::recorded_settings(snapshot, torch);
    let round = predict::rounding(&config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    let mut sites = Sites::new(snapshot);
    let conf = snapshot.settings.as_ref().map(|settings| settings.conf.clone()).unwrap_or_default();
    if let Some(only) = options.device
        && !snapshot.devices.iter().any(|device| device.ordinal == only)
    {
        let all: Vec<String> = snapshot.devices.iter().map(|device| device.ordinal.to_string()).collect();
        let all = all.join(", ");
        let why = crate::text!(
            en: "{source}: no device {only} in it; it has {all}",
            zh: "{source}：其中没有设备 {only}；有 {all}"
        );
        return Err(anyhow!("{}", why.in_lang(options.output.style.lang)));
    }
    let wanted = |ordinal: u32| options.device.is_none_or(|only| only == ordinal);
    let asked = &options.what_if;
    let wishes = Wishes { confs: asked.confs.clone(), capacity: asked.capacity, fraction: asked.fraction, batch: None };
    let (mut devices, mut diagnoses) = (Vec::new(), Vec::new());
    for device in snapshot.devices.iter().filter(|device| wanted(device.ordinal)) {
        let mut analysis = analysis::device(snapshot, device, &mut sites, rules);
        let mut diagnosis = None;
        if options.what_if.wanted {
            // A diagnosis rests on the usual variations, whatever else was asked for.
            let failed = !analysis.ooms.is_empty();
            if failed || wishes.are_usual() && asked.batch.is_none() {
                simulate(&mut analysis, device, &conf, (&config, version), &mut sites, &Wishes::default());
            }
            if failed {
                let failure = proof::recorded_failure(snapshot, &source.to_string(), &analysis, &mut sites);
                diagnosis = failure.map(|failure| explain::judge(0, failure, &Given::default()));
            }
            if !wishes.are_usual() || asked.batch.is_some() {
                let wishes = Wishes { batch: asked.batch, ..wishes.clone() };
                simulate(&mut analysis, device, &conf, (&config, version), &mut sites, &wishes);
            }
        }
        diagnoses.push(diagnosis);
        if options.format == ReplayFormat::Html {
            analysis.layers = analysis::layers(&analysis, &mut sites, LAYERS);
            // Places are told apart from each other: all have to be known before.
            device.trace.iter().for_each(|event| {
                sites.of(event.stack);
            });
        }
        devices.push(analysis);
    }
    sites.tell_apart();
    let packs = match options.format {
        ReplayFormat::Html => {
            let of_ordinal = |ordinal: u32| snapshot.devices.iter().find(|device| device.ordinal == ordinal);
            devices
                .iter()
                .map(|analysis| {
                    let device = of_ordinal(analysis.ordinal);
                    device.map_or_else(Vec::new, |device| {
                        replay::packed(snapshot, device, analysis, &mut sites, options.output.style)
                    })
                })
                .collect()
        }
        _ => Vec::new(),
    };
    let analysis = SnapshotAnalysis {
        source: source.to_string(),
        bytes,
        encoding: snapshot.encoding,
        generation: snapshot.generation,
        settings: snapshot.settings.clone(),
        devices,
        sites: sites.sites,
    };
    Ok(Replayed { analysis, diagnoses, packs })
}

/// Runs the recorded program through the simulated allocator: as it was recorded, and with `wishes`. Why that cannot be
/// done stands in the notes.
pub(super) fn simulate(
    analysis: &mut DeviceAnalysis,
    device: &Device,
    conf: &str,
    (config, version): (&Config, Version),
    sites: &mut Sites<'_>,
    wishes: &Wishes,
) {
    if analysis.peak.is_none() {
        return;
    }
    let round = predict::rounding(config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    match pools::settled(device, &mut analysis.history, rules, (config, version), analysis.misfits) {
        Ok((program, fidelity)) => {
            analysis.fidelity = Some(fidelity);
            analysis.budget = Some(program.budget);
            let bar = Sweep::new();
            let swept = what_if::sweep(analysis, &program, conf, sites, wishes, &|_| bar.step());
            (analysis.what_if, analysis.what_if_base) = (swept.tried, swept.base);
            join::settle_would_fit(analysis);
            if let Some(batch) = wishes.batch {
                analysis.batch_scale = Some(what_if::batch_scale(analysis, &program, sites, wishes, batch));
            }
        }
        Err(why) => {
            let note = Text::new(format!("not simulated: {}", why.en), format!("未模拟：{}", why.zh));
            if !analysis.notes.contains(&note) {
                analysis.notes.push(note);
            }
        }
    }
}
