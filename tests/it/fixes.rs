//! Every fix speaks up in its fixtures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::fix::{FIXES, Plan};
use oomdoc::incident::context::Given;
use oomdoc::input::Source;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs")
}

fn plan_of(path: &Path) -> Option<Plan> {
    let document = oomdoc::dialect::reader().read(&Source::File(path.to_path_buf())).ok()?;
    let given = Given::default();
    let explanation = diagnose(vec![FileEvents::of(&document, &given)], &given);
    explanation.diagnoses.into_iter().next().map(|diagnosis| diagnosis.plan)
}

/// Ids that a plan offers, and those that it refuses with a reason.
fn spoken(plan: &Plan) -> Vec<&'static str> {
    let refused = plan.wont_help.iter().chain(&plan.withheld).map(|(fix, _)| fix.id);
    plan.offers.iter().map(|ranked| ranked.fix.id).chain(refused).collect()
}

#[test]
fn every_fix_speaks_up_in_its_fixtures() {
    let mut read: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    let mut silent = Vec::new();
    for fix in FIXES {
        if fix.fixtures.is_empty() {
            silent.push(format!("{}: no fixture", fix.id));
        }
        for name in fix.fixtures {
            let spoken = read.entry((*name).to_string()).or_insert_with(|| {
                plan_of(&logs().join(format!("{name}.log"))).map(|plan| spoken(&plan)).unwrap_or_default()
            });
            if !spoken.contains(&fix.id) {
                silent.push(format!("{}: says nothing to {name}", fix.id));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}
