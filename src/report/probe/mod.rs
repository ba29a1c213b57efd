//! The report of `oomdoc probe`, one file per format.

pub mod cuda;
pub mod json;
pub mod markdown;
pub mod prometheus;
pub mod terminal;
pub mod watch;

use crate::gpu::twin::Reproduction;
use crate::gpu::verdict::Judgement;
use crate::gpu::visibility::Mapping;
use crate::gpu::{Gpu, Survey};
use crate::host::warnings::Warning;

/// Readings and what they mean.
pub struct Findings {
    /// The GPUs that were asked for.
    pub shown: Vec<Gpu>,
    /// For each of them.
    pub verdicts: Vec<Vec<Judgement>>,
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

/// `40s`, `12m`, `3h05m`, `2d4h`.
fn age(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m"),
        3600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{}h", hours % 24),
    }
}

impl Findings {
    /// What trying the failure on devices said of the arithmetic; `None` where it was not tried on any.
    pub fn measured(&self) -> Option<cuda::Measured> {
        let parts = self.cuda.iter().flatten().chain(&self.cuda_alone);
        let outcomes = parts.filter_map(|part| match part {
            cuda::Part::Read(read) => read.experiment().ok(),
            cuda::Part::Refused(_) | cuda::Part::Unsuited(_) => None,
        });
        cuda::Measured::of(outcomes.flatten().flatten())
    }
}
