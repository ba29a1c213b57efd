//! The report of `oomdoc probe`, one file per format.

pub mod cuda;
pub mod json;
pub mod markdown;
pub mod terminal;
pub mod watch;

use crate::gpu::twin::Reproduction;
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
    /// What CUDA told of each of them, where that was asked for.
    pub cuda: Vec<Option<cuda::Part>>,
    /// What CUDA told of its first device, where nobody else could name a GPU.
    pub cuda_alone: Option<cuda::Part>,
    /// The failure that was to be worked out.
    pub reproduction: Option<Reproduction>,
    pub warnings: Vec<Warning>,
    pub mapping: Mapping,
    pub survey: Survey,
}

impl Findings {
    /// True where the failure was tried on a device, whatever came of it.
    pub fn on_device(&self) -> bool {
        let parts = self.cuda.iter().flatten().chain(&self.cuda_alone);
        parts.into_iter().any(|part| matches!(part, cuda::Part::Read(read) if read.experiment().is_ok()))
    }
}
