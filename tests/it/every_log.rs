//! Every log of the repository that may be looked at, read and diagnosed once for all tests that go through them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::incident::context::Given;
use oomdoc::input::{Document, Source};
use oomdoc::report::Explanation;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A log, and what is made of it where nothing is given beside it.
pub struct Judged {
    pub path: PathBuf,
    pub document: Document,
    pub explanation: Explanation,
}

impl Judged {
    /// The text as it stands in the file.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.path).unwrap()).into_owned()
    }

    /// The lines of all changes that the first failure is answered with.
    pub fn lines(&self) -> Vec<&str> {
        let offers = self.explanation.diagnoses.first().map(|diagnosis| diagnosis.plan.offers.as_slice());
        let knobs = offers.unwrap_or_default().iter().flat_map(|ranked| &ranked.offer.knobs);
        knobs.map(|knob| knob.line.en.as_str()).collect()
    }

    /// The log's name, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Half a minute of two cores: shared by a dozen tests, each of which took it before.
static EVERY: LazyLock<Vec<Judged>> = LazyLock::new(|| {
    let given = Given::default();
    let judged = |path: PathBuf| {
        let document = oomdoc::dialect::reader().read(&Source::File(path.clone())).unwrap();
        let explanation = diagnose(vec![FileEvents::of(&document, &given)], &given);
        Judged { path, document, explanation }
    };
    open_logs().into_par_iter().map(judged).collect()
});

/// Fixtures, reports that are open, planted causes.
pub fn every_log() -> &'static [Judged] {
    &EVERY
}

/// True of a report that is kept for measuring.
fn held(path: &Path) -> bool {
    std::fs::read_to_string(path.with_extension("json")).is_ok_and(|label| label.contains("\"held\": true"))
}

fn open_logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let reports = root.join("tests/corpus/reports");
    let mut folders = vec![root.join("fixtures/logs"), root.join("tests/planted/logs"), reports.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "log") && !(held(&path) && path.starts_with(&reports)) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 700, "{} logs", found.len());
    found
}
