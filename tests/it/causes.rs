//! Every cause's fixtures lead to that cause, and no conclusion claims more than it may.

use oomdoc::cause::conclusion::{Conclusion, conclude};
use oomdoc::cause::mechanism::readings;
use oomdoc::cause::{CAUSES, MOST_WITHOUT_PROOF, decide, rank};
use oomdoc::dialect::events;
use oomdoc::fix;
use oomdoc::incident::{Incident, assemble};
use oomdoc::input::{Document, Source};
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

/// Every log below `fixtures/logs`.
fn logs(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of fixtures") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            logs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
}

#[test]
fn no_conclusion_claims_more_than_it_may() {
    let mut paths = Vec::new();
    logs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs"), &mut paths);
    let (mut undecided, mut incidents_seen) = (0, 0);
    for path in paths {
        let name = path.display().to_string();
        let document = oomdoc::dialect::reader().read(&Source::File(path)).expect("the fixture can be read");
        let (incidents, _) = assemble(&document, events(&document));
        for incident in incidents {
            incidents_seen += 1;
            for (mechanism, reading) in readings(&incident) {
                assert!(mechanism.levels.contains(&reading.level), "{name}: {} {}", mechanism.id, reading.level);
            }
            let findings = rank(&incident);
            for finding in &findings {
                assert!(
                    finding.proved || finding.confidence <= MOST_WITHOUT_PROOF,
                    "{name}: {}",
                    finding.cause.id.id()
                );
            }
            let conclusion = conclude(&incident, &findings);
            assert_eq!(conclusion == Conclusion::Proved, findings.first().is_some_and(|first| first.proved), "{name}");
            if conclusion.is_undecided() {
                undecided += 1;
                let observations = decide::observations(&incident, &findings, conclusion);
                assert!(!observations.is_empty(), "{name}: nothing would decide");
            }
        }
    }
    assert!(undecided > 10 && undecided < incidents_seen, "{undecided} of {incidents_seen}");
}

fn primary(document: &Document) -> Incident {
    let (incidents, _) = assemble(document, events(document));
    incidents.into_iter().find(|incident| incident.primary).expect("a failure")
}

/// An assertion of the allocator's own code has nothing to do with ids that are out of range.
#[test]
fn internal_assertion_is_no_index_out_of_range() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/pytorch");
    let offers = |log: &str| {
        let document =
            oomdoc::dialect::reader().read(&Source::File(folder.join(log))).expect("the fixture can be read");
        let incident = primary(&document);
        let plan = fix::plan(&incident, &rank(&incident));
        plan.offers.iter().any(|ranked| ranked.fix.id == "check-ids")
    };
    assert!(offers("cublas.log"), "a library's error can be the echo of an index");
    assert!(!offers("nvml-assert.log"));
    assert!(!offers("expandable-assert.log"));
}

/// What a pool or a limit above CUDA refused was not refused by CUDA.
#[test]
fn a_limit_of_rmm_is_not_cuda_beneath_a_pool() {
    let beneath = |message: &str| {
        let document =
            Document::from_text("-", &format!("cluster = LocalCUDACluster(rmm_pool_size='30GB')\n{message}"));
        let findings = rank(&primary(&document));
        let evidence = findings.iter().flat_map(|finding| &finding.evidence);
        evidence.into_iter().any(|evidence| evidence.text.en.contains("CUDA beneath it that refused"))
    };
    let cuda = "MemoryError: std::bad_alloc: CUDA error at: rmm/mr/device/cuda_memory_resource.hpp:62";
    assert!(beneath(cuda));
    assert!(!beneath("rmm/mr/device/limiting.hpp:152: Exceeded memory limit (failed to allocate 2.5 GiB)"));
}

#[test]
fn what_a_jax_program_on_cudas_own_pool_holds_is_not_told_and_not_taken_for_anothers() {
    let log = "gpu_async_0 cuMemAllocAsync failed to allocate 5368709120 bytes: RESOURCE_EXHAUSTED: : \
        CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total memory: 1200000000/25390809088\n\
        jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5368709120 bytes.\n";
    let document = Document::from_text("-", log);
    let (incidents, _) = assemble(&document, events(&document));
    let primary = incidents.iter().find(|incident| incident.primary).expect("a failure");
    let findings = rank(primary);
    assert!(findings.iter().all(|finding| finding.confidence < 0.5), "{:?}", findings.first().map(|f| f.confidence));
    assert!(readings(primary).iter().all(|(mechanism, _)| mechanism.id != "strangers"));
}
