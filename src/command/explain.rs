//! `oomdoc explain`: from a pasted log to a diagnosis and ranked fixes.

use crate::report::{Diagnosis, Explanation, InputSummary};
use crate::{cause, dialect, fix, incident, input::Document};

/// Diagnoses every failure in one document.
pub fn diagnose(document: &Document) -> Explanation {
    let (incidents, harmless) = incident::assemble(document, dialect::events(document));
    let diagnoses = incidents
        .into_iter()
        .map(|incident| {
            let findings = cause::rank(&incident);
            let plan = fix::plan(&incident, &findings);
            Diagnosis { incident, findings, plan }
        })
        .collect();
    Explanation { inputs: vec![InputSummary::from(document)], diagnoses, harmless }
}
