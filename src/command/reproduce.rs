//! `oomdoc probe --reproduce LOG|SNAPSHOT`: the state of the allocator behind a failure, for the fragmentation
//! experiment.

use super::explain::{self, FileEvents};
use super::progress::Progress;
use super::{proof, replay};
use crate::account::Holder;
use crate::allocator::config::Config;
use crate::allocator::version::Version;
use crate::dialect;
use crate::gpu::twin::{Block, Layout, Reproduction, SMALL_PAGE, Segment, State, Sums, TORCH_PAGE};
use crate::incident::context::Given;
use crate::incident::recording::Verdict;
use crate::input::Source;
use crate::snapshot::analysis::DeviceAnalysis;
use crate::snapshot::holders::Sites;
use crate::snapshot::space::{Image, Rules};
use crate::snapshot::what_if::{EXPANDABLE, Wishes};
use crate::snapshot::{Device, NONE, Snapshot, analysis, predict};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::Interval;
use anyhow::bail;

/// Makes the states that a failure's figures stand for: several of a message, one of a snapshot.
///
/// # Errors
/// When the file cannot be read, holds no failure of GPU memory, or tells too little of it.
pub fn read(source: &Source, lang: Lang) -> anyhow::Result<Reproduction> {
    if is_snapshot(source) { of_snapshot(source, lang) } else { of_message(source, lang) }
}

fn is_snapshot(source: &Source) -> bool {
    let Source::File(path) = source else { return false };
    let named = path.to_string_lossy().to_ascii_lowercase();
    let named = named.strip_suffix(".gz").unwrap_or(&named);
    if [".pickle", ".pkl", ".json"].iter().any(|ending| named.ends_with(ending)) {
        return true;
    }
    replay::is_pickle(source)
}

/// The first failure that a snapshot's trace records, and the memory map at that moment.
fn of_snapshot(source: &Source, lang: Lang) -> anyhow::Result<Reproduction> {
    let progress = Progress::new(std::slice::from_ref(source));
    let (snapshot, _) = replay::read(source, &progress).map_err(|error| error.context_of(source, lang))?;
    let (config, version) = predict::recorded_settings(&snapshot, None);
    let round = predict::rounding(&config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    let mut sites = Sites::new(&snapshot);
    for device in &snapshot.devices {
        let mut analysis = analysis::device(&snapshot, device, &mut sites, rules);
        let replayed = served_with_expandable(&snapshot, device, &mut analysis, &mut sites, (&config, version));
        if let (Some(oom), Some(image)) = (analysis.ooms.first(), &analysis.oom_image) {
            let state = State {
                segments: segments(image),
                requested: oom.requested,
                free: oom.device_free,
                layout: Layout::Known,
            };
            let expandable = image.segments.iter().filter(|segment| segment.range.expandable);
            let left = expandable.filter(|segment| segment.range.pool == (0, 0)).map(|segment| {
                let free = segment.pieces.iter().filter(|piece| piece.holder == NONE);
                free.fold(0u64, |sum, piece| sum.saturating_add(piece.size))
            });
            let expandable = left.reduce(u64::saturating_add);
            let of_the_moment = Reproduction::of_snapshot(state, device.ordinal, oom.event, expandable);
            return Ok(Reproduction { replayed, ..of_the_moment });
        }
    }
    bail!(
        "{}",
        text!(en: "{source} records no out-of-memory failure", zh: "{source} 中没有记录显存不足的失败").in_lang(lang)
    );
}

/// Whether the failed request is served where all is replayed with expandable segments, where the replay says so: what
/// `explain` and `replay` say of it.
fn served_with_expandable(
    snapshot: &Snapshot,
    device: &Device,
    analysis: &mut DeviceAnalysis,
    sites: &mut Sites<'_>,
    settings: (&Config, Version),
) -> Option<bool> {
    if analysis.ooms.is_empty() {
        return None;
    }
    let conf = snapshot.settings.as_ref().map(|settings| settings.conf.clone()).unwrap_or_default();
    replay::simulate(analysis, device, &conf, settings, sites, &Wishes::default());
    let failure = proof::recorded_failure(snapshot, "", analysis, sites)?;
    let recording = failure.recording.as_ref()?;
    let trial = recording.settings().find(|trial| trial.conf == EXPANDABLE)?;
    match trial.verdict {
        Verdict::Serves { .. } => Some(true),
        Verdict::Fails { .. } => Some(false),
        Verdict::Unclear | Verdict::Refused(_) => None,
    }
}

fn segments(image: &Image) -> Vec<Segment> {
    let of = |segment: &crate::snapshot::space::ImageSegment| Segment {
        blocks: segment.pieces.iter().map(|piece| Block { bytes: piece.size, live: piece.holder != NONE }).collect(),
        page: if segment.range.small { SMALL_PAGE } else { TORCH_PAGE },
        // Private pools in use give nothing back; expandable segments have given back what they can before the failure.
        pinned: segment.range.pool != (0, 0) || segment.range.expandable,
    };
    image.segments.iter().map(of).collect()
}

/// The primary failure of a log.
fn of_message(source: &Source, lang: Lang) -> anyhow::Result<Reproduction> {
    let document = dialect::reader().read_with_progress(source, &mut |_, _| {})?;
    let given = Given::default();
    let explanation = explain::diagnose(vec![FileEvents::of(&document, &given)], &given);
    let incidents = explanation.diagnoses.iter().map(|diagnosis| &diagnosis.incident);
    let on_device = incidents.filter(|incident| incident.event.resource.on_device());
    let Some(incident) = on_device.max_by_key(|incident| incident.primary) else {
        let text = text!(en: "no failure of GPU memory in {source}", zh: "{source} 中没有显存不足的失败");
        bail!("{}", text.in_lang(lang));
    };
    let ledger = &incident.ledger;
    let need = |value: Option<Interval>, en: &str, zh: &str| {
        value.ok_or_else(|| {
            let text = Text::new(
                format!("the message does not print {en}, without which nothing can be worked out"),
                format!("报错信息没有打印{zh}，无法推算"),
            );
            anyhow::anyhow!("{}", text.in_lang(lang))
        })
    };
    let sums = Sums {
        requested: need(ledger.requested, "the request", "请求量")?,
        free: need(ledger.free, "free memory", "空闲显存")?,
        allocated: need(ledger.allocated, "allocated memory", "已分配量")?,
        // Free blocks of private pools serve only their own graphs.
        cached: need(ledger.amount(Holder::Cached).or(ledger.cached), "cached memory", "缓存量")?,
    };
    Ok(Reproduction::of_message(sums, incident.event.at.first))
}
