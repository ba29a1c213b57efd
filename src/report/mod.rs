//! One file per format. Reports never compute: they lay out what the core found.

pub mod diff;
pub mod gate;
pub mod headroom;
pub mod json;
pub mod layout;
pub mod markdown;
pub mod probe;
pub mod rehearse;
pub mod replay;
pub mod rules;
#[cfg(test)]
mod sample;
pub mod simulation;
pub mod surroundings;
pub mod table;
pub mod terminal;
pub mod timeline;
pub mod view;
pub mod wording;

use crate::cause::Finding;
use crate::cause::conclusion::Conclusion;
use crate::cause::decide::Observation;
use crate::dialect::Event;
use crate::fix::Plan;
use crate::incident::{Incident, Timeline};
use crate::input::{Document, Repair};
use crate::text::Lang;
use std::sync::Arc;

/// One incident, diagnosed.
pub struct Diagnosis {
    /// Which of the explanation's inputs it stands in.
    pub input: usize,
    pub incident: Incident,
    pub findings: Vec<Finding>,
    /// What the findings amount to.
    pub conclusion: Conclusion,
    /// What would decide between them, the cheapest observation first; empty where arithmetic has decided.
    pub decide: Vec<Observation>,
    pub plan: Plan,
}

/// Where the text came from, without the text itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputSummary {
    pub source: String,
    pub bytes: u64,
    pub lines: u64,
    pub encoding: String,
    pub repairs: Vec<Repair>,
}

impl From<&Document> for InputSummary {
    fn from(document: &Document) -> InputSummary {
        InputSummary {
            source: document.source.clone(),
            bytes: document.bytes,
            lines: document.line_count,
            encoding: document.encoding.clone(),
            repairs: document.repairs.clone(),
        }
    }
}

/// A memory snapshot that was read beside the logs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SnapshotSummary {
    pub source: String,
    pub bytes: u64,
    pub devices: Vec<u32>,
    /// True when it recorded one of the failures.
    pub proves: bool,
}

/// A snapshot that stands in the place of a log.
impl From<&SnapshotSummary> for InputSummary {
    fn from(snapshot: &SnapshotSummary) -> InputSummary {
        InputSummary {
            source: snapshot.source.clone(),
            bytes: snapshot.bytes,
            encoding: "snapshot".to_string(),
            ..InputSummary::default()
        }
    }
}

/// Everything `explain` found in its input.
#[derive(Default)]
pub struct Explanation {
    pub inputs: Vec<InputSummary>,
    /// In the order of the log; exactly one is primary when there is any.
    pub diagnoses: Vec<Diagnosis>,
    /// Messages about memory that are no failure, with the reason.
    pub harmless: Vec<Event>,
    pub snapshots: Vec<SnapshotSummary>,
    /// What `oomdoc run` saw, with the name of each record.
    pub watched: Vec<(String, Arc<Timeline>)>,
}

impl Explanation {
    pub fn primary(&self) -> Option<&Diagnosis> {
        self.diagnoses.iter().find(|diagnosis| diagnosis.incident.primary)
    }
}

/// How a report for people is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub lang: Lang,
    /// Columns of the terminal, 80 where it cannot be told.
    pub width: usize,
    /// Lines of the terminal; `None` for a pipe or a file, which take all.
    pub height: Option<usize>,
    /// Also what stands behind the answer: formulas, the account, what was ruled out.
    pub verbose: bool,
    /// False where the locale cannot show block and line characters: ASCII is drawn instead.
    pub unicode: bool,
    /// Without users, machines and folders; secrets are left out always.
    pub redact: bool,
}
