//! The report of `oomdoc probe`, one file per format.

pub mod json;
pub mod markdown;
pub mod terminal;
pub mod watch;

use crate::gpu::verdict::Verdict;
use crate::gpu::visibility::Mapping;
use crate::gpu::{Gpu, Survey};
use crate::host::warnings::Warning;

/// Readings and what they mean.
pub struct Findings {
    /// The GPUs that were asked for.
    pub shown: Vec<Gpu>,
    /// For each of them.
    pub verdicts: Vec<Vec<Verdict>>,
    pub warnings: Vec<Warning>,
    pub mapping: Mapping,
    pub survey: Survey,
}
