//! Every fix speaks up in its fixtures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::fix::{FIXES, Plan};
use oomdoc::incident::context::Given;
use oomdoc::input::{Document, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs")
}

fn plan_of(path: &Path) -> Option<Plan> {
    plan(&oomdoc::dialect::reader().read(&Source::File(path.to_path_buf())).ok()?)
}

fn plan(document: &Document) -> Option<Plan> {
    let given = Given::default();
    let explanation = diagnose(vec![FileEvents::of(document, &given)], &given);
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

const REFUSED: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.20 GiB. GPU 2 has a total capacity of \
                       39.39 GiB of which 512.00 MiB is free. Including non-PyTorch memory, this process has 38.80 GiB \
                       memory in use. Of the allocated memory 37.60 GiB is allocated by PyTorch, and 600.00 MiB is \
                       reserved by PyTorch but unallocated.";

/// Ultralytics' `batch` counts all GPUs: of 64 on four, half are 32 and not 8.
#[test]
fn a_total_batch_over_several_devices_is_halved_as_a_total() {
    let log = format!(
        "yolo detect train data=a.yaml batch=64 device=0,1,2,3\n\
         engine/trainer: task=detect, mode=train, batch=64, device=0,1,2,3\n{REFUSED}\n"
    );
    let plan = plan(&Document::from_text("-", &log)).expect("a failure");
    let batch = plan.offers.iter().find(|ranked| ranked.fix.id == "smaller-batch").expect("a smaller batch");
    let line = &batch.offer.knobs.first().expect("a line").line.en;
    assert!(line.starts_with("batch=32 "), "{line}");
}

#[test]
fn techniques_told_in_words_are_in_force() {
    for (told, fix) in [
        ("LoRA fine-tuning with peft, LoraConfig(r=16)", "lora"),
        ("Using LoRA lora_r=8", "lora"),
        ("使用 LoRA 微调", "lora"),
        ("Gradient checkpointing enabled", "gradient-checkpointing"),
        ("loading the base model in 4-bit", "qlora"),
        ("Using flash attention", "fused-attention"),
        ("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "expandable-segments"),
    ] {
        let log = format!("***** Running training *****\n{told}\n{{'loss': 1.2, 'epoch': 0.1}}\n{REFUSED}\n");
        let plan = plan(&Document::from_text("-", &log)).expect("a failure");
        assert!(plan.offers.iter().all(|ranked| ranked.fix.id != fix), "{told}");
    }
}
