//! What shows that a program reads or holds data: only then can it do so in pieces. Builds, installations, weights that
//! are loaded, simulations and services hold none of it.

use super::case::Case;
use super::need::Need;
use crate::dialect::Sign;
use crate::domain::Program;
use crate::domain::program::Kind;
use crate::incident::context::{Clue, Frame, Phase};
use crate::units::MIB;

/// Libraries of tables, arrays and data sets, by the folders of their files.
const OF_DATA: &[&str] = &[
    "/anndata/",
    "/dask/",
    "/datasets/",
    "/h5py/",
    "/netcdf4/",
    "/numpy/",
    "/pandas/",
    "/polars/",
    "/pyarrow/",
    "/scanpy/",
    "/scipy/",
    "/sklearn/",
    "/tensorflow_datasets/",
    "/torch/utils/data/",
    "/xarray/",
    "/zarr/",
];

/// A tensor of less is none of the data: it only found memory full.
const A_TENSOR: i128 = MIB as i128;

impl Case<'_> {
    /// True where data are read or held, by frames of what reads or holds them, an array that was refused with its
    /// shape, or a line that says so.
    pub(super) fn holds_data(&self) -> bool {
        if self.installs() || self.context.imports() {
            return false;
        }
        let of_data = |frame: &Frame| {
            let file = frame.path().to_ascii_lowercase();
            let name = file.rsplit('/').next().unwrap_or_default();
            OF_DATA.iter().any(|folder| file.contains(folder))
                || frame.is_user_code() && (name.contains("dataset") || frame.function == "__getitem__")
        };
        self.program() == Program::Numpy
            || self.program() == Program::R && self.requested().is_some()
            || self.incident.event.wide_type().is_some()
            || self.context.reads_a_file()
            || self.context.frames.iter().any(of_data)
            || self.phase() == Some(Phase::DataLoading)
            || self.clue(Clue::ReadsData)
            || self.training() && Need::Loader.met(self)
    }

    /// True where packages are installed or a library is loaded: no program runs yet that could have data.
    pub(super) fn installs(&self) -> bool {
        self.clue(Clue::Installs) && self.context.frames.is_empty() || self.clue(Clue::LoadsLibrary)
    }

    /// True where a tensor of a pass was refused in the machine's memory: a smaller input asks for less.
    pub(super) fn refuses_an_input(&self) -> bool {
        let computes = matches!(self.program().kind(), Kind::TrainingFramework | Kind::ServingEngine | Kind::Library);
        computes && !self.sign(Sign::PinnedHost) && self.requested().is_some_and(|asked| asked.high >= A_TENSOR)
    }

    /// True while the data set is being read, before the first step: that is the main process's work, no worker runs.
    pub(super) fn reads_the_data_set(&self) -> bool {
        self.clue(Clue::ReadsData)
            && self.context.frames.is_empty()
            && !self.context.step.is_known()
            && !self.context.epoch.is_known()
            && !self.sign(Sign::DataLoaderWorker)
            && !self.sign(Sign::PoolWorkerKilled)
    }
}
