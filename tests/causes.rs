//! Every cause's fixtures lead to that cause.

use oomdoc::cause::{CAUSES, rank};
use oomdoc::dialect::events;
use oomdoc::incident::assemble;
use oomdoc::input::Source;
use std::path::Path;

#[test]
fn every_fixture_leads_to_its_cause() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs");
    let mut wrong = Vec::new();
    for cause in CAUSES {
        for name in cause.fixtures {
            let path = folder.join(format!("{name}.log"));
            let document = oomdoc::dialect::reader().read(&Source::File(path)).expect("the fixture can be read");
            let (incidents, _) = assemble(&document, events(&document));
            let primary = incidents.iter().find(|incident| incident.primary);
            let findings = primary.map(rank).unwrap_or_default();
            let got = findings.first().map_or("nothing", |finding| finding.cause.id.id());
            if got != cause.id.id() {
                wrong.push(format!("{name}: {got}, not {}", cause.id.id()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
