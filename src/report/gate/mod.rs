//! Answers for pipelines: whether something fits, in the forms that build servers read.
//!
//! `rehearse` and `headroom` turn what they found into [`Check`]s; the formats know nothing of either command.

pub mod github;
pub mod junit;
pub mod sarif;

use crate::domain::Verdict;
use crate::text::Text;

/// One question with its answer, such as "batch 16 on 24 GiB".
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What was asked, stable from run to run, so that a build server can follow it.
    pub name: Text,
    pub verdict: Verdict,
    /// It fits, but grew beyond what its baseline allows, which fails the build all the same.
    pub grown: bool,
    /// The answer in a sentence or two.
    pub message: Text,
    /// Figures behind it, in the order to show: label and value.
    pub figures: Vec<(Text, String)>,
    /// Longer text for whoever opens the failure: the error message, its explanation. Empty where there is none.
    pub details: Text,
    /// Source file and line that it is about, where one is known.
    pub place: Option<(String, u64)>,
    /// How long the answer took.
    pub seconds: Option<f64>,
}

impl Check {
    pub fn new(name: Text, verdict: Verdict, message: Text) -> Check {
        Check {
            name,
            verdict,
            grown: false,
            message,
            figures: Vec::new(),
            details: Text::default(),
            place: None,
            seconds: None,
        }
    }
}

impl Check {
    /// The verdict, or that it grew: what a build server is to follow.
    pub fn outcome(&self) -> &'static str {
        if self.grown { GROWN } else { self.verdict.id() }
    }
}

/// Of what fits and grew.
pub const GROWN: &str = "grown";

/// The checks of one call, in the order to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Checks {
    /// Name of the suite: `oomdoc rehearse`.
    pub suite: &'static str,
    /// The answer to the whole call.
    pub headline: Text,
    pub checks: Vec<Check>,
}

impl Checks {
    /// What is told of a question that could not be answered: no document is left empty for whoever reads it next.
    pub fn unanswered(suite: &'static str, name: Text, why: &Text) -> Checks {
        Checks { suite, headline: why.clone(), checks: vec![Check::new(name, Verdict::Unknown, why.clone())] }
    }
}
