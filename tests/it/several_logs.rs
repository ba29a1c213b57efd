//! Several logs of one job, through the real binary.

use crate::binary;

use binary::oomdoc;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A rank's log that ends in a failure at second `second` of a minute.
fn rank_log(rank: usize, second: f64) -> String {
    let gpu = rank % 8;
    format!(
        "2026-03-01 10:00:00,000 INFO starting rank {rank}\n2026-03-01 10:41:{second:06.3} ERROR torch.OutOfMemoryError: CUDA out of memory. \
         Tried to allocate 1.25 GiB. GPU {gpu} has a total capacity of 39.38 GiB of which 612.44 MiB is free. Including non-PyTorch memory, \
         this process has 38.78 GiB memory in use. Of the allocated memory 37.60 GiB is allocated by PyTorch, and 402.11 MiB is reserved by \
         PyTorch but unallocated.\n"
    )
}

fn explain(folder: &Path) -> (Value, i32) {
    let done = oomdoc().args(["explain", "--format", "json"]).arg(folder).output().expect("the binary runs");
    (serde_json::from_slice(&done.stdout).expect("JSON"), done.status.code().expect("an exit code"))
}

#[test]
fn a_folder_of_ranks_is_one_incident_led_by_the_rank_that_fell_first() {
    let folder = tempfile::tempdir().expect("a folder");
    for rank in 0..24 {
        let second = if rank == 17 { 3.25 } else { 5.0 + rank as f64 / 100.0 };
        fs::write(folder.path().join(format!("rank_{rank}.log")), rank_log(rank, second)).expect("a log");
    }
    fs::write(folder.path().join("notes.md"), "CUDA out of memory. Tried to allocate 9.00 GiB")
        .expect("a file that is no log");
    let (report, code) = explain(folder.path());
    assert_eq!(code, 0);
    assert_eq!(report["inputs"].as_array().map(Vec::len), Some(24));
    let incidents = report["incidents"].as_array().expect("incidents");
    assert_eq!(incidents.len(), 1);
    assert_eq!(incidents[0]["rank"], 17);
    let ranks = incidents[0]["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), 24);
    assert!(ranks[0]["source"].as_str().expect("a source").ends_with("rank_17.log"));
}

#[test]
fn the_folders_of_torchrun_name_the_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    for rank in 0..4 {
        let place = folder.path().join(format!("none_a1/attempt_0/{rank}"));
        fs::create_dir_all(&place).expect("a folder");
        fs::write(place.join("stderr.log"), rank_log(rank, 9.0 - rank as f64)).expect("a log");
        fs::write(place.join("stdout.log"), "step 1 loss 2.0\n").expect("a log");
    }
    let (report, _) = explain(folder.path());
    assert_eq!(report["incidents"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["incidents"][0]["rank"], 3, "rank 3 has the earliest time");
}

#[test]
fn an_empty_folder_says_what_it_looked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = oomdoc().arg("explain").arg(folder.path()).output().expect("runs");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("without log files"));
}
