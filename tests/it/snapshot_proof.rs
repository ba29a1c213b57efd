//! `oomdoc explain --snapshot`: the diagnosis of a log proved or refuted by a memory snapshot of the same run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::schema::Schema;
use binary::{oomdoc, outcome, root};
use serde_json::Value;

const FRAGMENTATION: [&str; 2] = ["pytorch/snapshot-fragmentation.log", "fragmentation-oom.pickle"];
const CAPACITY: [&str; 2] = ["pytorch/snapshot-capacity.log", "gpt2-oom-backward.pickle.gz"];
const LEAK: [&str; 2] = ["pytorch/snapshot-leak.log", "leak-oom.pickle"];

fn log(name: &str) -> String {
    format!("fixtures/logs/{name}")
}

fn snapshot(name: &str) -> String {
    format!("fixtures/snapshots/{name}")
}

fn explain(arguments: &[&str]) -> (i32, Value) {
    let (code, out, err) = outcome(oomdoc().args(["explain", "--format", "json"]).args(arguments));
    assert_eq!(err, "");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    Schema::of("explain").check(&report, &arguments.join(" "));
    (code, report)
}

/// The primary incident of a log explained with a snapshot.
fn joined([of_log, of_snapshot]: [&str; 2]) -> Value {
    let (code, report) = explain(&[&log(of_log), "--snapshot", &snapshot(of_snapshot)]);
    assert_eq!(code, 0);
    report["incidents"][0].clone()
}

fn terminal(arguments: &[&str]) -> String {
    outcome(oomdoc().arg("explain").args(arguments)).1
}

fn confidence(incident: &Value, cause: &str) -> f64 {
    let causes = incident["causes"].as_array().unwrap();
    causes.iter().find(|found| found["id"] == cause).map_or(0.0, |found| found["confidence"].as_f64().unwrap())
}

fn listed<'v>(incident: &'v Value, list: &str, id: &str) -> Option<&'v Value> {
    incident[list].as_array()?.iter().find(|entry| entry["id"] == id)
}

#[test]
fn pieces_in_the_way_are_proved_and_the_setting_that_helps_is_arithmetic() {
    let incident = joined(FRAGMENTATION);
    assert_eq!(incident["causes"][0]["id"], "fragmentation");
    assert!(confidence(&incident, "fragmentation") > 0.95 && confidence(&incident, "capacity") < 0.02);
    let proof = &incident["causes"][0]["evidence"][0];
    assert_eq!(proof["snapshot"]["event"], 288);
    assert!(proof["text"].as_str().unwrap().contains("expandable_segments:True"), "{proof}");
    let fix = listed(&incident, "fixes", "expandable-segments").expect("offered");
    assert_eq!(fix["certainty"], "arithmetic");
    // 7200 MiB reserved and 1000 MiB asked for, against 7200 MiB with growing segments.
    assert_eq!(fix["frees_bytes"]["low"], 1000_u64 << 20);
    assert_eq!(fix["frees_bytes"]["high"], 1000_u64 << 20);
    assert!(fix["why"].as_str().unwrap().contains("entry 289"), "{fix}");
    let said = &incident["snapshot"];
    assert_eq!(said["match"], "same-failure");
    assert_eq!((&said["pieces"], &said["largest_piece_bytes"]), (&36.into(), &(100_u64 << 20).into()));
    assert_eq!(
        (&said["requested_bytes"], &said["device_free_bytes"]),
        (&(1000_u64 << 20).into(), &(542_u64 << 20).into())
    );
    // What the replay shows to fail is not recommended.
    assert!(listed(&incident, "withheld", "shape-bucketing").is_some());
    assert!(incident["causes"][0]["refute"].as_str().unwrap().contains("7.03 GiB"));
}

#[test]
fn a_full_device_is_proved_and_allocator_settings_will_not_help() {
    let incident = joined(CAPACITY);
    assert_eq!(incident["causes"][0]["id"], "capacity");
    assert!(confidence(&incident, "fragmentation") < 0.01);
    for fix in ["expandable-segments", "max-split-size"] {
        let why = &listed(&incident, "wont_help", fix).expect("said")["why"];
        assert!(why.as_str().unwrap().contains("785.27 MiB") && why.as_str().unwrap().contains("entry 1338"), "{why}");
    }
    let said = &incident["snapshot"];
    assert!(said["least_bytes"].as_u64() > said["budget"]["high"].as_u64(), "{said}");
    assert_eq!(said["faithful"], true);
    let checkpointing = listed(&incident, "fixes", "gradient-checkpointing").expect("offered");
    assert!(checkpointing["why"].as_str().unwrap().contains("activations.py:66"), "{checkpointing}");
    assert!(incident["causes"][0]["refute"].as_str().unwrap().contains("3.93 GiB"));
}

#[test]
fn growth_is_proved_with_the_line_that_grows() {
    let alone = explain(&[&log(LEAK[0])]).1["incidents"][0].clone();
    assert_ne!(alone["conclusion"], "proved", "the log alone cannot tell");
    let incident = joined(LEAK);
    assert_eq!(incident["causes"][0]["id"], "leak_growth");
    assert!(confidence(&incident, "leak_growth") > 0.95);
    let detach = listed(&incident, "fixes", "detach-logged-tensors").expect("offered");
    assert!(detach["why"].as_str().unwrap().contains("make_snapshots.py:42 leak → linear.py:134 forward"), "{detach}");
    assert_eq!(incident["fixes"][0]["id"], "detach-logged-tensors");
    let (low, high) = (&detach["frees_bytes"]["low"], &detach["frees_bytes"]["high"]);
    assert!(low.as_u64().unwrap() > 11 << 30 && high.as_u64().unwrap() < 14 << 30, "{detach}");
}

#[test]
fn a_snapshot_of_another_failure_is_told_with_both_figures_and_proves_nothing() {
    let mixed = joined([LEAK[0], FRAGMENTATION[1]]);
    assert_eq!(mixed["snapshot"]["match"], "other");
    let about = mixed["snapshot"]["about"].as_str().unwrap();
    assert!(about.contains("1000.00 MiB") && about.contains("32.00 MiB") && about.contains("15.54 GiB"), "{about}");
    let alone = explain(&[&log(LEAK[0])]).1["incidents"][0].clone();
    assert_eq!(mixed["causes"], alone["causes"]);
    assert_eq!(mixed["fixes"], alone["fixes"]);
    let shown = terminal(&[&log(LEAK[0]), "--snapshot", &snapshot(FRAGMENTATION[1])]);
    assert!(shown.contains("is not of this failure") && shown.contains("not used as"), "{shown}");
}

#[test]
fn a_snapshot_of_another_device_proves_nothing() {
    let text = std::fs::read_to_string(root().join(log(LEAK[0]))).unwrap().replace("GPU 0 has", "GPU 3 has");
    let mut command = oomdoc();
    command.args(["explain", "-", "--json", "--snapshot", &snapshot(LEAK[1])]).write_stdin(text);
    let report: Value = serde_json::from_str(&outcome(&mut command).1).unwrap();
    let said = &report["incidents"][0]["snapshot"];
    assert_eq!(said["match"], "other");
    assert!(said["about"].as_str().unwrap().contains("GPU 3"), "{said}");
    assert_eq!(report["snapshots"][0]["proves"], false);
}

#[test]
fn a_snapshot_without_a_failed_request_shows_its_peak_and_proves_nothing() {
    let incident = joined([LEAK[0], "kv-growth-fits.pickle.gz"]);
    assert_eq!(incident["snapshot"]["match"], "no-failure");
    assert!(incident["snapshot"]["about"].as_str().unwrap().contains("5.00 GiB"));
    assert!(!incident["snapshot"]["holders"].as_array().unwrap().is_empty());
    assert_eq!(incident["causes"], explain(&[&log(LEAK[0])]).1["incidents"][0]["causes"]);
}

#[test]
fn of_several_snapshots_the_one_of_this_failure_counts() {
    let folder = tempfile::tempdir().unwrap();
    for name in [FRAGMENTATION[1], LEAK[1], "private-pool.pickle"] {
        std::fs::copy(root().join(snapshot(name)), folder.path().join(name)).unwrap();
    }
    let (_, report) = explain(&[&log(LEAK[0]), "--snapshot", folder.path().to_str().unwrap()]);
    let proves: Vec<bool> = report["snapshots"].as_array().unwrap().iter().map(|s| s["proves"] == true).collect();
    assert_eq!(proves, [false, true, false]);
    assert!(report["incidents"][0]["snapshot"]["source"].as_str().unwrap().ends_with(LEAK[1]));
}

#[test]
fn a_snapshot_alone_is_explained_where_it_recorded_the_failure() {
    let (code, report) = explain(&["--snapshot", &snapshot(FRAGMENTATION[1])]);
    assert_eq!(code, 0);
    let incident = &report["incidents"][0];
    assert_eq!(
        (&incident["dialect"], &incident["causes"][0]["id"]),
        (&"pytorch-snapshot".into(), &"fragmentation".into())
    );
    assert_eq!(incident["facts"]["free_bytes"], 542_u64 << 20);
    assert!(incident["facts"].get("capacity_bytes").is_none(), "a snapshot does not hold it");
    assert!(incident.get("line").is_none(), "there is no log to have lines");
    let shown = terminal(&["--snapshot", &snapshot(FRAGMENTATION[1])]);
    assert!(shown.contains("does not tell how large the device is"), "{shown}");

    let (code, report) = explain(&["--snapshot", &snapshot("private-pool.pickle")]);
    assert_eq!((code, report["incidents"].as_array().unwrap().len()), (1, 0));
    let shown = terminal(&["--snapshot", &snapshot("private-pool.pickle")]);
    assert!(shown.contains("No failed request recorded") && shown.contains("Give the log"), "{shown}");
}

#[test]
fn a_snapshot_that_cannot_be_read_is_named_and_the_log_explained_all_the_same() {
    let (code, out, err) = outcome(oomdoc().args(["explain", &log(LEAK[0]), "--snapshot", "README.md"]));
    assert_eq!(code, 2);
    assert!(out.contains("ran out of memory") && err.contains("README.md"), "{err}");
    let (code, out, err) = outcome(oomdoc().args(["explain", "--snapshot", "no-such.pickle"]));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("no-such.pickle"), "{err}");
}

#[test]
fn the_first_screen_and_everything_behind_it_fit_in_both_languages() {
    use unicode_width::UnicodeWidthStr;
    let han = |text: &str| text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    for [of_log, of_snapshot] in [FRAGMENTATION, CAPACITY, LEAK, [LEAK[0], FRAGMENTATION[1]]] {
        let (of_log, of_snapshot) = (log(of_log), snapshot(of_snapshot));
        for lang in ["en", "zh"] {
            for (width, more) in [("80", None), ("60", Some("-v"))] {
                let mut arguments = vec![of_log.as_str(), "--snapshot", &of_snapshot, "--lang", lang];
                arguments.extend(["--width", width, "--height", "30"]);
                arguments.extend(more);
                let shown = terminal(&arguments);
                assert!(
                    // What rests on the recording names its entry.
                    shown.contains(if lang == "zh" { "重放" } else { "replay" })
                        || shown.contains(if lang == "zh" { "快照第" } else { "[entry" })
                        || of_log.contains("leak"),
                    "{shown}"
                );
                assert_eq!(han(&shown) > 0, lang == "zh", "{shown}");
                let most: usize = width.parse().unwrap();
                assert!(shown.lines().all(|line| line.width() <= most), "{shown}");
                assert!(more.is_some() || shown.lines().count() <= 30, "{shown}");
            }
        }
    }
    let capacity = terminal(&[&log(CAPACITY[0]), "--snapshot", &snapshot(CAPACITY[1])]);
    assert!(capacity.contains("Will not help: Turn on expandable segments: replayed"), "{capacity}");
    assert!(capacity.contains("activations.py:66 forward"), "{capacity}");
    let markdown = terminal(&[&log(CAPACITY[0]), "--snapshot", &snapshot(CAPACITY[1]), "-f", "markdown"]);
    assert!(
        markdown.contains("#### Memory snapshot") && markdown.contains("expandable\\_segments:True: fails"),
        "{markdown}"
    );
}

/// Of many steps only some are looked at: what one adds was told for three of them. The job kept 72 MiB a step, made at a
/// line that no graph holds.
#[test]
fn what_a_step_adds_is_told_for_each_step_where_only_some_are_looked_at() {
    let output = oomdoc().args(["replay", "fixtures/snapshots/leak-of-45-steps.pickle.gz"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("from 304.50 MiB to 3.39 GiB over 44 steps of the optimizer, 72.00 MiB from one to the next"),
        "{text}"
    );
    assert!(text.contains("drop what train.py:11 <module> makes when its step is over"), "{text}");
    assert!(!text.contains("no tensor that came from"), "{text}");
}
