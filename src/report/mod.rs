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
use crate::text;
use crate::text::{Lang, Text};
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
    pub asked: Asked,
}

impl Style {
    /// English in 80 columns, whole, as a pipe gets it.
    pub const PLAIN: Style = Style {
        lang: Lang::En,
        width: 80,
        height: None,
        verbose: false,
        unicode: true,
        redact: false,
        asked: Asked::Shell,
    };
}

/// Where a report is asked for, and with it how everything behind it is had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Shell,
    /// Under the output of a job that was watched, and is over.
    Watched,
    /// On a page, where nothing can be asked for.
    Page,
    /// By the module for Python: of a text, in a notebook, under a traceback.
    Module,
    Notebook,
    Traceback,
}

impl Asked {
    /// By what the module for Python says of itself in `OOMDOC_ASKED`.
    pub fn by_environment() -> Asked {
        match std::env::var("OOMDOC_ASKED").as_deref() {
            Ok("page") => Asked::Page,
            Ok("module") => Asked::Module,
            Ok("notebook") => Asked::Notebook,
            Ok("traceback") => Asked::Traceback,
            _ => Asked::Shell,
        }
    }

    /// What is to be typed for all of a report; `None` where nothing can be.
    fn for_all(self) -> Option<&'static str> {
        match self {
            Asked::Shell => Some("-v"),
            Asked::Watched => Some("oomdoc explain -v RECORD"),
            Asked::Page => None,
            Asked::Module => Some(".text(verbose=True)"),
            Asked::Notebook => Some("%oomdoc -v"),
            Asked::Traceback => Some("oomdoc.install(verbose=True)"),
        }
    }

    /// Behind a count of what is left out; nothing where it cannot be had.
    fn for_the_rest(self) -> String {
        self.for_all().map(|words| format!(" ({words})")).unwrap_or_default()
    }

    /// How everything behind a report is had.
    fn for_everything(self) -> Option<Text> {
        let words = self.for_all()?;
        Some(match self {
            Asked::Watched => text!(
                en: "{words} shows everything behind this, where --record kept one",
                zh: "若用 --record 保存了记录，{words} 可查看全部依据"
            ),
            _ => text!(en: "{words} shows everything behind this", zh: "加 {words} 查看全部依据"),
        })
    }
}
