//! Reports of `oomdoc headroom`, one file per format.

pub mod budgets;
pub mod json;
pub mod markdown;
mod plot;
pub mod terminal;
mod wording;

use super::Style;
use super::gate::{Check, Checks, GROWN};
use crate::domain::Verdict;
use crate::headroom::Assessment;
use crate::headroom::budget::Baseline;
use crate::text::Text;
use crate::units::Bytes;

/// What of an answer is shown, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub style: Style,
    /// Formulas with their figures.
    pub explain: bool,
}

/// A budget with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub name: String,
    /// File and line of the budget.
    pub place: (String, u64),
    pub baseline: Option<Baseline>,
    pub assessment: Assessment,
    /// Against the baseline, where there is one of the same batch.
    pub growth: Option<Growth>,
}

/// The peak against the baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Bytes.
    pub before: u64,
    /// 0.05 for 5 % more.
    pub share: f64,
    pub tolerance: f64,
    /// What grew, where snapshots tell.
    pub places: Vec<Text>,
}

impl Growth {
    pub fn exceeded(&self) -> bool {
        self.share > self.tolerance
    }
}

impl Checked {
    /// Growth beyond the tolerance is tight at best.
    pub fn verdict(&self) -> Verdict {
        let grown = self.growth.as_ref().is_some_and(Growth::exceeded);
        self.assessment.verdict.max(if grown { Verdict::Tight } else { Verdict::Fits })
    }
}

impl Checked {
    /// True where it would fit, and fails for its growth alone.
    pub fn is_grown(&self) -> bool {
        self.assessment.verdict == Verdict::Fits && self.growth.as_ref().is_some_and(Growth::exceeded)
    }

    /// The verdict, or that it grew.
    pub fn outcome(&self) -> &'static str {
        if self.is_grown() { GROWN } else { self.verdict().id() }
    }
}

/// An answer as a check of a pipeline.
pub fn check(assessment: &Assessment, name: Text, place: Option<(String, u64)>) -> Check {
    let mut check = Check::new(name, assessment.verdict, wording::headline(assessment));
    check.place = place;
    if let Some(peak) = assessment.peak {
        check.figures.push((Text::new("peak", "峰值"), wording::range(peak)));
    }
    if let Some(device) = &assessment.question.device {
        check.figures.push((Text::new("GPU", "GPU"), Bytes(device.capacity).to_string()));
    }
    if let Some(largest) = wording::largest(assessment) {
        check.message =
            Text::new(format!("{}; {}", check.message.en, largest.en), format!("{}；{}", check.message.zh, largest.zh));
    }
    if let Some(host) = &assessment.host {
        check.figures.push((Text::new("host", "主机内存"), wording::host_range(host)));
    }
    for reason in &assessment.because {
        check.details.en += &format!("{}\n", reason.en);
        check.details.zh += &format!("{}\n", reason.zh);
    }
    check
}

/// Checks under the name of the command; the first that fails is the headline.
pub fn checks(checks: Vec<Check>) -> Checks {
    let worst = checks.iter().find(|check| check.verdict != Verdict::Fits).or(checks.first());
    let headline = worst.map(|check| check.message.clone()).unwrap_or_default();
    Checks { suite: "oomdoc headroom", headline, checks }
}
