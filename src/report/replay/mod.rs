//! Reports of `oomdoc replay`, one file per format.

mod explorer;
pub mod html;
pub mod json;
pub mod markdown;
pub mod terminal;
pub(super) mod wording;

pub(crate) use explorer::packed;

use super::{Diagnosis, Style};
use crate::snapshot::analysis::{DeviceAnalysis, SnapshotAnalysis};

/// How much is shown, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Holders to list.
    pub top: usize,
    pub style: Style,
}

/// One snapshot, replayed.
pub struct Replayed {
    pub analysis: SnapshotAnalysis,
    /// What the first failed request of each device comes of, in the devices' order; `None` where none failed or
    /// nothing was simulated.
    pub diagnoses: Vec<Option<Diagnosis>>,
    /// The record of each device for the page's explorer; none for the other formats.
    pub packs: Vec<Vec<u8>>,
}

impl Replayed {
    /// Each device with its diagnosis.
    fn devices(&self) -> impl Iterator<Item = (&DeviceAnalysis, Option<&Diagnosis>)> {
        let diagnoses = self.diagnoses.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        self.analysis.devices.iter().zip(diagnoses)
    }
}
