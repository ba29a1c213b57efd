//! What every account holds to, in every fixture and every format.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{logs, oomdoc, outcome};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn output(log: &Path, arguments: &[&str]) -> String {
    outcome(oomdoc().args(["explain"]).args(arguments).arg(log)).1
}

/// The pids behind each `kill` of a text.
fn killed(text: &str) -> BTreeSet<u64> {
    let mut pids = BTreeSet::new();
    for (at, _) in text.match_indices("kill") {
        let rest = &text[at + "kill".len()..];
        let words = rest.split_whitespace().skip_while(|word| word.starts_with('-'));
        pids.extend(words.map_while(|word| word.trim_matches([',', ';', '`', ')', '.']).parse::<u64>().ok()));
    }
    pids
}

fn size(value: &Value, end: &str) -> Option<i64> {
    value.get(end)?.as_i64()
}

#[test]
fn no_output_advises_to_kill_what_may_be_the_failing_process() {
    let formats: [&[&str]; 4] =
        [&["--lang", "en"], &["--lang", "zh"], &["-v", "--lang", "en"], &["--format", "json", "--lang", "zh"]];
    let named: usize = logs()
        .par_iter()
        .map(|log| {
            let Ok(report) = serde_json::from_str::<Value>(&binary::json_of(log, "en")) else { return 0 };
            let listed = |incident: &Value| {
                let (facts, derived) = (&incident["facts"], &incident["derived"]);
                [&facts["pid"], &facts["other_processes"], &derived["self_listed_as_pid"]].iter().any(|v| !v.is_null())
            };
            // Where the log names no process there is none to end.
            if !report["incidents"].as_array().is_some_and(|incidents| incidents.iter().any(listed)) {
                return 0;
            }
            let advised: BTreeSet<u64> = formats.iter().flat_map(|format| killed(&output(log, format))).collect();
            for incident in report["incidents"].as_array().into_iter().flatten() {
                let (facts, derived) = (&incident["facts"], &incident["derived"]);
                for own in [facts["pid"].as_u64(), derived["self_listed_as_pid"].as_u64()].into_iter().flatten() {
                    assert!(!advised.contains(&own), "{}: the failing process's own pid {own}", log.display());
                }
                let held = size(&derived["reserved"], "low").or_else(|| size(&derived["allocated"], "low"));
                let own = facts["process_bytes"].as_i64().or(held).unwrap_or(0);
                for other in facts["other_processes"].as_array().into_iter().flatten() {
                    let (pid, bytes) = (other["pid"].as_u64().unwrap(), other["bytes"].as_i64().unwrap());
                    if !advised.contains(&pid) {
                        continue;
                    }
                    let all =
                        size(&derived["capacity"], "high").expect("a pid is named only where the device is known");
                    let rounding = (bytes + own) / 1000;
                    assert!(own + bytes <= all + rounding, "{}: {own} and {pid}'s {bytes} of {all}", log.display());
                    assert!(facts.get("process_bytes").is_some(), "{}: {pid} may be this process", log.display());
                }
            }
            advised.len()
        })
        .sum();
    assert!(named > 0, "no fixture names a process to kill, so nothing was tested");
}

#[test]
fn no_account_has_parts_larger_than_the_whole() {
    let accounts: usize = logs()
        .par_iter()
        .map(|log| {
            let Ok(report) = serde_json::from_str::<Value>(&binary::json_of(log, "en")) else { return 0 };
            let mut accounts = 0;
            for incident in report["incidents"].as_array().into_iter().flatten() {
                let derived = &incident["derived"];
                let whole = size(&derived["bound"], "high").or_else(|| size(&derived["capacity"], "high"));
                let (Some(whole), Some(parts)) = (whole, derived["account"].as_array()) else { continue };
                // What loaders take by their settings is computed, and is more than there is where it does not fit.
                if derived.get("loader").is_some() {
                    continue;
                }
                let sum: i64 = parts.iter().map(|part| size(part, "low").unwrap()).sum();
                assert!(sum <= whole, "{}: {sum} of {whole}", log.display());
                accounts += 1;
            }
            accounts
        })
        .sum();
    assert!(accounts > 50, "{accounts}");
}

fn explained(text: &str) -> (Value, String, String) {
    let run = |arguments: &[&str]| outcome(oomdoc().args(["explain"]).args(arguments).write_stdin(text)).1;
    (serde_json::from_str(&run(&["--format", "json"])).unwrap(), run(&[]), run(&["--lang", "zh"]))
}

#[test]
fn the_jobs_own_memory_under_a_host_pid_is_no_strangers() {
    // 9.4 GiB beside what PyTorch reserved: NCCL, graphs, a second library. Both would be 150 GiB of 79.
    let (report, en, zh) = explained(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 2 has a total capacity of 79.25 GiB \
         of which 61.00 MiB is free. Process 912345 has 79.14 GiB memory in use. Of the allocated memory 68.90 GiB is \
         allocated by PyTorch, and 820.10 MiB is reserved by PyTorch but unallocated.\n",
    );
    let incident = &report["incidents"][0];
    assert_eq!(incident["derived"]["self_listed_as_pid"], 912_345);
    assert_eq!(incident["derived"]["consistent"], true);
    assert!(incident["derived"].get("others").is_none());
    assert_ne!(incident["causes"][0]["id"], "other_process");
    for text in [en, zh, report.to_string()] {
        assert!(killed(&text).is_empty(), "{text}");
    }
}

#[test]
fn a_bar_shows_nothing_of_what_cannot_be_on_the_device() {
    // Windows lends system memory: four times what the card has.
    let (report, en, _) = explained(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 48.00 MiB. GPU 0 has a total capacty of 6.00 GiB \
         of which 0 bytes is free. Of the allocated memory 23.10 GiB is allocated by PyTorch, and 310.00 MiB is reserved by \
         PyTorch but unallocated.\n",
    );
    let derived = &report["incidents"][0]["derived"];
    let parts: Vec<&str> =
        derived["account"].as_array().unwrap().iter().map(|part| part["holder"].as_str().unwrap()).collect();
    assert_eq!(parts, ["free"]);
    assert!(en.contains("lent system memory") && !en.contains("allocated 23"), "{en}");
}

#[test]
fn a_process_that_holds_less_than_it_reserved_makes_nobody_else_a_stranger() {
    let (report, en, _) = explained(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.53 GiB of \
         which 120.00 MiB is free. Process 4242 has 1.20 GiB memory in use. Including non-PyTorch memory, this process has \
         2.10 GiB memory in use. Of the allocated memory 20.00 GiB is allocated by PyTorch, and 1.50 GiB is reserved by \
         PyTorch but unallocated.\n",
    );
    let derived = &report["incidents"][0]["derived"];
    assert_eq!((&derived["consistent"], &derived["in_doubt"][0]), (&Value::from(false), &Value::from("process")));
    assert!(derived.get("unexplained").is_none() && derived.get("non_framework").is_none(), "{derived}");
    assert!(killed(&en).is_empty(), "{en}");
    assert_ne!(report["incidents"][0]["causes"][0]["id"], "other_process");
}

#[test]
fn a_model_whose_states_are_larger_than_the_device_never_fits() {
    let (report, ..) = explained(
        "model: acme/story-7b  optimizer: adamw_torch  bf16: True\nTraceback (most recent call last):\n  File \"train.py\", \
         line 9, in <module>\n    loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 172.00 MiB. \
         GPU 0 has a total capacity of 23.53 GiB of which 120.00 MiB is free. Including non-PyTorch memory, this process has \
         23.40 GiB memory in use. Of the allocated memory 22.50 GiB is allocated by PyTorch, and 400.00 MiB is reserved by \
         PyTorch but unallocated.\n",
    );
    let proofs = report["incidents"][0]["derived"]["proofs"].as_array().unwrap();
    let states = proofs.iter().find(|proof| proof["id"] == "states-exceed-device").expect("held against the device");
    assert_eq!(states["holds"], "certain");
    assert!(states["text"].as_str().unwrap().contains("never fit"), "{states}");
}
