//! The memory snapshots that `oomdoc explain` is given: each is held against the failures of the logs, and what it
//! proves is attached to them.

use super::progress::Progress;
use super::replay::{self, Unreadable};
use crate::incident::{Incident, Recording};
use crate::input::{self, Source};
use crate::report::SnapshotSummary;
use crate::snapshot::Snapshot;
use crate::snapshot::analysis::{self, DeviceAnalysis};
use crate::snapshot::holders::Sites;
use crate::snapshot::join::{self, File, Relation};
use crate::snapshot::model::Device;
use crate::snapshot::predict;
use crate::snapshot::space::Rules;
use crate::snapshot::what_if::Wishes;

/// Snapshots to read, and what came of it.
pub struct Proofs {
    sources: Vec<Source>,
    pub read: Vec<SnapshotSummary>,
    pub failures: Vec<(Source, Unreadable)>,
}

/// One snapshot being held against the incidents.
struct Opened<'s> {
    source: &'s Source,
    snapshot: &'s Snapshot,
    sites: Sites<'s>,
}

impl Proofs {
    pub fn new(sources: &[Source]) -> Proofs {
        Proofs { sources: input::expand_snapshots(sources), read: Vec::new(), failures: Vec::new() }
    }

    /// Attaches to each incident what the snapshots say about it: the one that recorded it, else one that recorded no
    /// failure, else the reason why none is of it.
    pub fn join(&mut self, incidents: &mut [(usize, Incident)]) {
        let mut best: Vec<Option<u8>> = vec![None; incidents.len()];
        self.each(|opened, summary| {
            for device in &opened.snapshot.devices {
                let mut analysis = opened.analyse(device);
                let mut simulated = false;
                for ((_, incident), best) in incidents.iter_mut().zip(&mut best) {
                    let relation = join::relation(incident, &opened.name(), &analysis);
                    if best.is_some_and(|best| best >= relation.rank()) {
                        continue;
                    }
                    *best = Some(relation.rank());
                    if matches!(relation, Relation::Same(_)) {
                        summary.proves = true;
                        if !std::mem::replace(&mut simulated, true) {
                            opened.simulate(&mut analysis, device);
                        }
                    }
                    incident.recording = Some(opened.recording(&analysis, &relation));
                }
            }
        });
    }

    /// The failures that the snapshots themselves recorded, the first of each device; the last of them is the one that
    /// the job died of as far as anyone knows. The number is that of the snapshot.
    pub fn incidents(&mut self) -> Vec<(usize, Incident)> {
        let mut found: Vec<(usize, Incident)> = Vec::new();
        let mut number = 0;
        self.each(|opened, summary| {
            for device in &opened.snapshot.devices {
                let mut analysis = opened.analyse(device);
                if analysis.ooms.is_empty() {
                    continue;
                }
                opened.simulate(&mut analysis, device);
                let source = opened.source.to_string();
                let failure = recorded_failure(opened.snapshot, &source, &analysis, &mut opened.sites);
                let Some(mut incident) = failure else { continue };
                incident.primary = found.is_empty();
                summary.proves = true;
                found.push((number, incident));
            }
            number += 1;
        });
        found
    }

    /// Reads one snapshot after the other, since each can fill gigabytes.
    fn each(&mut self, mut visit: impl FnMut(&mut Opened<'_>, &mut SnapshotSummary)) {
        let sources = std::mem::take(&mut self.sources);
        let progress = Progress::new(&sources);
        for source in sources {
            match replay::read(&source, &progress) {
                Ok((snapshot, bytes)) => {
                    let mut summary = SnapshotSummary {
                        source: source.to_string(),
                        bytes,
                        devices: snapshot.devices.iter().map(|device| device.ordinal).collect(),
                        proves: false,
                    };
                    let mut opened = Opened { source: &source, snapshot: &snapshot, sites: Sites::new(&snapshot) };
                    visit(&mut opened, &mut summary);
                    self.read.push(summary);
                }
                Err(error) => self.failures.push((source, error)),
            }
        }
    }
}

impl Opened<'_> {
    fn name(&self) -> String {
        match self.source {
            Source::File(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Source::Stdin => "-".to_string(),
        }
    }

    fn analyse(&mut self, device: &Device) -> DeviceAnalysis {
        let (config, version) = predict::recorded_settings(self.snapshot, None);
        let round = predict::rounding(&config, version);
        let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
        analysis::device(self.snapshot, device, &mut self.sites, rules)
    }

    fn simulate(&mut self, analysis: &mut DeviceAnalysis, device: &Device) {
        let (config, version) = predict::recorded_settings(self.snapshot, None);
        let conf = self.snapshot.settings.as_ref().map(|settings| settings.conf.clone()).unwrap_or_default();
        replay::simulate(analysis, device, &conf, (&config, version), &mut self.sites, &Wishes::default());
    }

    fn recording(&mut self, analysis: &DeviceAnalysis, relation: &Relation) -> Recording {
        recording(self.snapshot, &self.source.to_string(), analysis, &mut self.sites, relation)
    }
}

fn recording(
    snapshot: &Snapshot,
    source: &str,
    analysis: &DeviceAnalysis,
    sites: &mut Sites<'_>,
    relation: &Relation,
) -> Recording {
    let file = File { source, settings: snapshot.settings.as_ref() };
    sites.tell_apart();
    join::recording(&file, analysis, &sites.sites, relation)
}

/// The first failed request of a device that was replayed, as an incident with its proof: what `explain`, `replay` and
/// `probe --reproduce` judge of a snapshot. `None` where no request failed.
pub(crate) fn recorded_failure(
    snapshot: &Snapshot,
    source: &str,
    analysis: &DeviceAnalysis,
    sites: &mut Sites<'_>,
) -> Option<Incident> {
    let mut incident = join::incident(snapshot, analysis)?;
    incident.recording = Some(recording(snapshot, source, analysis, sites, &Relation::Same(0)));
    Some(incident)
}
