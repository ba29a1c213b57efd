//! `oomdoc simulate` through the real binary.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use assert_cmd::Command;
use binary::{oomdoc, outcome};
use serde_json::Value;

const TRACE: &str = "# two requests and an error\na 1 100\na 2 30000000 1\nf 1\na 3 9000000000\n";

fn simulate(arguments: &[&str]) -> Command {
    let mut command = oomdoc();
    command.args(["simulate", "-", "--capacity", "8GiB", "--lang", "en"]).args(arguments).write_stdin(TRACE);
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().get_output().stdout.clone()).unwrap()
}

/// Where requests failed, the peaks of those that were served say nothing of fragmentation: expandable segments do.
#[test]
fn failed_requests_are_judged_by_what_expandable_segments_serve() {
    let ask = |trace: &str, capacity: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.txt");
        std::fs::write(&path, trace).unwrap();
        outcome(oomdoc().args(["simulate", "--lang", "en", "--capacity", capacity]).arg(&path)).1.replace('\n', " ")
    };
    let pieces = "a 1 100MiB 0\na 2 100MiB 0\na 3 100MiB 0\na 4 100MiB 0\nf 1\nf 3\na 5 200MiB 0\n";
    // Two pieces of 100 MiB are given back for it, which is no failure on a device of 420 MiB.
    assert!(!ask(pieces, "420MiB").contains("failed requests"), "{}", ask(pieces, "420MiB"));
    let split = "a 1 300MiB 0\nf 1\na 2 100MiB 0\na 3 50MiB 0\na 4 100MiB 0\nf 3\na 5 80MiB 0\n";
    assert!(ask(split, "360MiB").contains("of 1 failed requests 0 fail with"), "{}", ask(split, "360MiB"));
    let full = ask("a 1 300MiB 0\na 2 300MiB 0\n", "320MiB");
    assert!(full.contains("as many fail (1)") && !full.contains("does not fragment"), "{full}");
}

#[test]
fn lines_for_programs() {
    let out = stdout(simulate(&["--format", "jsonl", "--torch", "2.8.0"]).args(["--context", "412MiB"]));
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(
        lines[1].to_string(),
        r#"{"i":1,"op":"a","id":2,"bytes":30000000,"stream":1,"addr":2097152,"ev":[["malloc",2097152,31457280,0]],"st":[30000640,33554432,30000640,3553792,30000100]}"#
    );
    assert!(lines[3]["oom"].as_str().unwrap().starts_with("CUDA out of memory. Tried to allocate 8.38 GiB. GPU 0"));
    assert_eq!(lines[4]["stats"]["num_ooms"], 1);
    assert_eq!(lines[4]["segments"][0]["blocks"][0], serde_json::json!([30000128, 30000000, "allocated"]));
}

#[test]
fn exit_codes() {
    simulate(&[]).assert().code(0);
    simulate(&["--fail-on", "oom"]).assert().code(1);
    simulate(&["--streams", "0"]).assert().code(2);
    simulate(&["--torch", "1.13"]).assert().code(2);
    simulate(&["--conf", "expandable_segment:True"]).assert().code(2);
}

#[test]
fn a_bad_line_is_named() {
    let mut command = simulate(&[]);
    let done = command.write_stdin("a 1 100\nallocate everything\n").assert().code(2);
    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(message.contains("line 2") && message.contains("`allocate`"), "{message}");
}

#[test]
fn a_refused_setting_is_explained_in_both_languages() {
    for (lang, word) in [("en", "did you mean `expandable_segments`"), ("zh", "是否想写 `expandable_segments`")] {
        let mut command = oomdoc();
        command.args(["simulate", "-", "--capacity", "1GiB", "--conf", "expandable_segment:True", "--lang", lang]);
        let done = command.write_stdin(TRACE).assert().code(2);
        let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
        assert!(message.contains("Unrecognized key 'expandable_segment'") && message.contains(word), "{message}");
    }
}

#[test]
fn the_summary_says_what_ran_out() {
    let out = stdout(&mut simulate(&["--conf", "max_split_size_mb:64,expandable_segments:True"]));
    for wanted in ["peak allocated", "28.61 MiB", "Request 3 of 9000000000 bytes failed:", "better leave it out"] {
        assert!(out.contains(wanted), "no '{wanted}' in\n{out}");
    }
}

#[test]
fn the_options_are_documented() {
    let mut command = oomdoc();
    let out = stdout(command.args(["rules", "alloc_conf", "--format", "markdown", "--lang", "en"]));
    for rule in oomdoc::allocator::config::OPTIONS {
        assert!(out.contains(&format!("## {}\n", rule.key)), "{}", rule.key);
    }
}

/// What a snapshot recorded runs as it ran then, and the trace that is printed of it is the same.
#[test]
fn a_snapshot_is_a_trace() {
    let file = "fixtures/snapshots/resnet18-b64.pickle";
    let simulate = |arguments: &[&str], input: &str| {
        let mut command = binary::oomdoc();
        let output = command.arg("simulate").args(arguments).write_stdin(input).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let recorded = simulate(&[file, "--capacity", "16GiB"], "");
    let replayed = binary::oomdoc().args(["replay", file]).output().unwrap().stdout;
    let replayed = String::from_utf8(replayed).unwrap();
    let row = recorded.lines().find_map(|line| line.strip_prefix("peak reserved")).unwrap();
    assert!(replayed.contains("Reserved at most 2.02 GiB") && row.trim() == "2.02 GiB", "{recorded}{replayed}");
    assert!(recorded.contains("It fragments: 2.02 GiB are reserved at most for 1.45 GiB"), "{recorded}");
    let written = simulate(&[file, "--capacity", "16GiB", "--format", "trace"], "");
    assert_eq!(simulate(&["-", "--capacity", "16GiB"], &written), recorded);

    let output = binary::oomdoc().args(["simulate", file, "--capacity", "16GiB", "--device", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("holds no GPU 3"));
}
