//! `explain`, `replay` and `probe --reproduce` answer for one failure: what one of them says, none of the others denies.
//!
//! Held on every snapshot of the fixtures that recorded a failure, with the log of the same failure where there is one,
//! on every log of PyTorch's, and on failures of random programs that the simulated allocator ran into.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{logs, oomdoc, outcome, root};
use oomdoc::allocator::round_up;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

const MIB: u64 = 1 << 20;
/// Failures of random programs that are looked at.
const RANDOM: u64 = 32;
/// Bytes by which a request and the piece of memory asked of the driver for it differ at most.
const SEGMENT: u64 = 20 * MIB;

fn asked(arguments: &[&str]) -> Value {
    let (_, out, err) = outcome(oomdoc().args(arguments).args(["--json", "--lang", "en"]).env("PATH", "/nonexistent"));
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {err}"))
}

fn id(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether an offer of `explain` is a setting of the allocator that serves by arithmetic.
fn offers(judged: &Value, fix: &str) -> bool {
    let fixes = judged["fixes"].as_array().unwrap();
    fixes.iter().any(|offer| offer["id"] == fix && offer["certainty"] == "arithmetic")
}

fn dismisses(judged: &Value, fix: &str) -> bool {
    judged["wont_help"].as_array().unwrap().iter().any(|dismissed| dismissed["id"] == fix)
}

/// What the replay says of growing segments: served, failing, or nothing.
fn expandable(device: &Value) -> Option<bool> {
    let tried = device["what_if"].as_array()?;
    let entry = tried.iter().find(|w| w["change"] == "settings" && w["conf"] == "expandable_segments:True")?;
    entry["serves"].as_bool()
}

/// One failure that a snapshot recorded, asked of all commands. True where there is one.
fn of_one_mind(snapshot: &str) -> bool {
    let replay = asked(&["replay", snapshot]);
    let explain = asked(&["explain", "--snapshot", snapshot]);
    let devices = replay["devices"].as_array().unwrap();
    let Some(device) = devices.iter().find(|device| !device["oom"].as_array().unwrap().is_empty()) else {
        assert_eq!(explain["incidents"], json!([]), "{snapshot}: explain knows of a failure that replay does not");
        return false;
    };
    let incident = &explain["incidents"][0];
    let (failed, judged) = (&device["oom"][0], &device["diagnosis"]);
    // The same judgement, word for word.
    for part in ["conclusion", "family", "causes", "decide", "fixes", "wont_help", "withheld"] {
        assert_eq!(judged[part], incident[part], "{snapshot}: {part}");
    }
    // The same figures.
    for (here, there) in [("requested_bytes", "requested_bytes"), ("device_free_bytes", "free_bytes")] {
        assert_eq!(failed[here], incident["facts"][there], "{snapshot}: {here}");
    }
    assert_eq!(failed["event"], incident["snapshot"]["event"], "{snapshot}");
    let probe = asked(&["probe", "--root", "/nonexistent", "--reproduce", snapshot]);
    let worked_out = &probe["reproduction"];
    let case = &worked_out["cases"][0];
    assert_eq!(case["requested_bytes"], failed["requested_bytes"], "{snapshot}");
    assert_eq!(case["free_bytes"], failed["device_free_bytes"], "{snapshot}");
    let entry = failed["event"].as_u64().unwrap() + 1;
    assert!(id(&worked_out["origin"]).contains(&format!("entry {entry} ")), "{snapshot}: {worked_out}");
    // What a setting would do.
    let cause = id(&judged["causes"][0]["id"]);
    let proved = judged["conclusion"] == "proved";
    let verdict = id(&worked_out["verdict"]);
    let faithful = incident["snapshot"]["faithful"] != false;
    match expandable(device).filter(|_| faithful) {
        Some(true) => {
            assert!(!dismisses(judged, "expandable-segments"), "{snapshot}: replay serves what explain dismisses");
            assert!(matches!(verdict, "fragmentation" | "pieces-below-page" | "fits-plainly"), "{snapshot}: {verdict}");
            assert_eq!(failed["would_fit"]["recoverable_by_expandable"], true, "{snapshot}");
        }
        Some(false) => {
            assert!(!offers(judged, "expandable-segments"), "{snapshot}: explain offers what the replay refutes");
            assert!(matches!(verdict, "exhaustion" | "open" | "fits-plainly"), "{snapshot}: {verdict}");
            assert_eq!(failed["would_fit"]["recoverable_by_expandable"], false, "{snapshot}");
        }
        None => {}
    }
    if proved && cause == "fragmentation" {
        assert_eq!(failed["would_fit"]["free_and_cached"], true, "{snapshot}: fragmentation of too little memory");
        let tried = device["what_if"].as_array().unwrap();
        assert!(tried.iter().any(|entry| entry["change"] == "settings" && entry["serves"] == true), "{snapshot}");
    }
    if failed["would_fit"]["free_and_cached"] == false {
        assert_ne!(cause, "fragmentation", "{snapshot}: free and cached memory together are too little");
        assert_eq!(verdict, "exhaustion", "{snapshot}");
    }
    // The screen for people names the same cause as the document.
    let title = id(&judged["causes"][0]["title"]).to_string();
    let (_, screen, _) = outcome(oomdoc().args(["replay", "--lang", "en", snapshot]).env("COLUMNS", "200"));
    let undecided = judged["conclusion"] == "family" || judged["conclusion"] == "open";
    assert!(undecided || screen.contains(&title), "{snapshot}: {title} is not in\n{screen}");
    true
}

/// A failure's message and, where there is one, its snapshot: the figures agree, and so does what follows of them.
fn agree(log: &str, snapshot: Option<&str>) -> bool {
    let mut arguments = vec!["explain", log];
    arguments.extend(snapshot.into_iter().flat_map(|snapshot| ["--snapshot", snapshot]));
    let report = asked(&arguments);
    let incidents = report["incidents"].as_array().unwrap();
    let on_gpu = |incident: &&Value| incident["resource"] == "gpu" && incident["framework"] == "pytorch";
    let Some(incident) = incidents.iter().filter(on_gpu).find(|incident| incident["primary"] == true) else {
        return false;
    };
    let probe =
        oomdoc().args(["probe", "--root", "/nonexistent", "--json", "--lang", "en", "--reproduce", log]).output();
    let probe: Value = serde_json::from_slice(&probe.unwrap().stdout).unwrap_or_default();
    let worked_out = &probe["reproduction"];
    let Some(case) = worked_out["cases"].get(0) else { return false };
    for (here, there) in [("requested_bytes", "requested"), ("free_bytes", "free")] {
        let range = &incident["derived"][there];
        let (low, high) = (range["low"].as_i64().unwrap(), range["high"].as_i64().unwrap());
        let told = case[here].as_i64().unwrap();
        assert!((low..=high).contains(&told), "{log}: {here} {told} is not from {low} to {high}");
    }
    let cause = id(&incident["causes"][0]["id"]);
    if worked_out["verdict"] == "exhaustion" {
        assert_ne!(cause, "fragmentation", "{log}: {}", worked_out["text"]);
        assert!(!offers(incident, "expandable-segments"), "{log}: {}", worked_out["text"]);
    }
    if incident["conclusion"] == "proved" && cause == "fragmentation" {
        assert_ne!(worked_out["verdict"], "exhaustion", "{log}");
        assert_ne!(worked_out["verdict"], "fits-plainly", "{log}");
    }
    if let Some(snapshot) = snapshot {
        assert_eq!(incident["snapshot"]["match"], "same-failure", "{log} and {snapshot}");
        let alone = &asked(&["explain", "--snapshot", snapshot])["incidents"][0];
        let recorded = alone["facts"]["requested_bytes"].as_u64().unwrap();
        let told = incident["facts"]["requested_bytes"].as_u64().unwrap();
        assert!(told.abs_diff(recorded) <= SEGMENT, "{log} and {snapshot}: {told} and {recorded} asked for");
        // With the log or without, what is proved is the same.
        if alone["conclusion"] == "proved" && incident["conclusion"] == "proved" {
            assert_eq!(alone["causes"][0]["id"], incident["causes"][0]["id"], "{log} and {snapshot}");
        }
        let bare = asked(&["explain", log]);
        let bare = bare["incidents"].as_array().unwrap().iter().find(|incident| incident["primary"] == true).unwrap();
        if bare["conclusion"] == "proved" && incident["conclusion"] == "proved" {
            assert_eq!(
                bare["causes"][0]["id"], incident["causes"][0]["id"],
                "{log}: proved without {snapshot} as well"
            );
        }
    }
    true
}

#[test]
fn no_command_denies_what_another_says_of_a_snapshot() {
    let folder = root().join("fixtures/snapshots");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| format!("fixtures/snapshots/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    files.sort();
    let failures = files.iter().filter(|file| of_one_mind(file)).count();
    assert!(failures >= 3, "only {failures} of {} snapshots recorded a failure", files.len());
    for (log, snapshot) in [
        ("snapshot-fragmentation.log", "fragmentation-oom.pickle"),
        ("snapshot-capacity.log", "gpt2-oom-backward.pickle.gz"),
        ("snapshot-leak.log", "leak-oom.pickle"),
    ] {
        assert!(agree(&format!("fixtures/logs/pytorch/{log}"), Some(&format!("fixtures/snapshots/{snapshot}"))));
    }
}

#[test]
fn no_command_denies_what_another_says_of_a_message() {
    let of_pytorch = logs().into_iter().filter(|path| path.starts_with("fixtures/logs/pytorch"));
    let agreed = of_pytorch.filter(|path| agree(&path.to_string_lossy(), None)).count();
    assert!(agreed >= 20, "only {agreed} logs were answered by both");
}

/// A small generator; the same numbers every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}

/// A program that allocates and frees until a device of 1 GiB has no more: the requests of a trace, a line each. How
/// long tensors live and how large they are differs between programs, so that some fill the device and others leave it
/// in pieces.
fn program(dice: &mut Dice) -> Vec<String> {
    let (largest, lives) = ([4, 24, 96, 250][dice.below(4) as usize] * MIB, 3 + dice.below(40));
    let mut lines = Vec::new();
    let mut live: Vec<u64> = Vec::new();
    for number in 1..=400 {
        let bytes = if dice.below(5) == 0 { 1 + dice.below(MIB) } else { MIB + dice.below(largest) };
        lines.push(format!("a {number} {bytes}"));
        live.push(number);
        // Some stay for ever, so that the device fills up.
        while live.len() as u64 > lives && dice.below(8) != 0 {
            let gone = live.swap_remove(dice.below(live.len() as u64) as usize);
            lines.push(format!("f {gone}"));
        }
    }
    lines
}

fn simulated(trace: &Path, lines: &[String]) -> Vec<Value> {
    std::fs::write(trace, lines.join("\n") + "\n").unwrap();
    let file = trace.to_str().unwrap();
    let arguments = ["simulate", file, "--capacity", "1GiB", "--torch", "2.11", "--format", "jsonl"];
    let (_, out, err) = outcome(oomdoc().args(arguments));
    assert_eq!(err, "");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The snapshot and the log of the first failure that a program runs into, written to `folder`; `None` where it fits.
fn recorded(folder: &Path, dice: &mut Dice) -> Option<(String, String)> {
    let mut lines = program(dice);
    let trace = folder.join("program.trace");
    let failed = simulated(&trace, &lines).iter().position(|step| step["oom"].is_string())?;
    lines.truncate(failed + 1);
    lines.push("s".to_string());
    let steps = simulated(&trace, &lines);
    let frames = json!([{"filename": "/job/train.py", "line": 9, "name": "step"}]);
    let base = 1u64 << 40;
    let mut at = std::collections::HashMap::new();
    let mut entries = Vec::new();
    let mut entry = |action: &str, addr: u64, size: u64| {
        let mut made = json!({"action": action, "size": size, "stream": 0, "time_us": 1, "compile_context": "N/A",
            "user_metadata": "", "frames": frames});
        // The failed request has what the device had free in place of an address.
        let (key, value) = if action == "oom" { ("device_free", addr) } else { ("addr", base + addr) };
        made[key] = value.into();
        entries.push(made);
    };
    let mut held = 0;
    let mut message = String::new();
    for step in &steps[..=failed] {
        let number = step["id"].as_u64().unwrap();
        if step["op"] == "f" {
            let (addr, bytes) = at[&number];
            entry("free_requested", addr, bytes);
            entry("free_completed", addr, bytes);
        }
        for event in step["ev"].as_array().unwrap() {
            let (addr, size) = (event[1].as_i64().unwrap(), event[2].as_u64().unwrap());
            match (id(&event[0]), addr) {
                ("malloc", 0..) => {
                    held += round_up(size, 2 * MIB);
                    entry("segment_alloc", addr as u64, size);
                }
                ("free", _) => {
                    held -= round_up(size, 2 * MIB);
                    entry("segment_free", addr as u64, size);
                }
                _ => {}
            }
        }
        if let Some(text) = step["oom"].as_str() {
            let asked = round_up(step["bytes"].as_u64().unwrap(), 512);
            entry("oom", (1 << 30) - held, asked);
            message = text.to_string();
        } else if step["op"] == "a" {
            let (addr, bytes) = (step["addr"].as_u64().unwrap(), step["bytes"].as_u64().unwrap());
            at.insert(number, (addr, bytes));
            entry("alloc", addr, bytes);
        }
    }
    let segments = steps[failed + 1]["segments"].as_array().unwrap().iter().map(|segment| {
        let mut address = base + segment["addr"].as_u64().unwrap();
        let blocks: Vec<Value> = segment["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| {
                let state = if block[2] == "allocated" { "active_allocated" } else { "inactive" };
                let made = json!({"address": address, "size": block[0], "requested_size": block[1], "state": state,
                    "frames": frames});
                address += block[0].as_u64().unwrap();
                made
            })
            .collect();
        json!({"device": 0, "address": base + segment["addr"].as_u64().unwrap(), "total_size": segment["size"],
            "allocated_size": segment["allocated"], "active_size": segment["active"],
            "requested_size": segment["requested"], "stream": 0, "segment_pool_id": [0, 0], "is_expandable": false,
            "segment_type": if segment["large"] == 1 { "large" } else { "small" }, "frames": frames, "blocks": blocks})
    });
    let document = json!({"segments": segments.collect::<Vec<_>>(), "device_traces": [entries],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": false},
        "external_annotations": []});
    let (snapshot, log) = (folder.join("snapshot.json"), folder.join("job.log"));
    std::fs::write(&snapshot, document.to_string()).unwrap();
    let mut text = String::from("Traceback (most recent call last):\n  File \"/job/train.py\", line 9, in step\n");
    let _ = writeln!(text, "torch.OutOfMemoryError: {message}");
    std::fs::write(&log, text).unwrap();
    Some((snapshot.to_str().unwrap().to_string(), log.to_str().unwrap().to_string()))
}

#[test]
fn no_command_denies_what_another_says_of_a_random_program() {
    let mut dice = Dice(0x00D0_C70A);
    let (mut failures, mut joined) = (0, 0);
    for _ in 0..RANDOM {
        let folder = tempfile::tempdir().unwrap();
        let Some((snapshot, log)) = recorded(folder.path(), &mut dice) else { continue };
        assert!(of_one_mind(&snapshot), "the failure is not found in {snapshot}");
        assert!(agree(&log, Some(&snapshot)));
        failures += 1;
        let device = &asked(&["replay", &snapshot])["devices"][0];
        joined += usize::from(device["oom"][0]["would_fit"]["free_and_cached"] == true);
    }
    assert!(failures >= RANDOM / 2, "only {failures} of {RANDOM} programs failed");
    assert!(joined >= 3 && (joined as u64) < failures, "{joined} of {failures} had enough in pieces: no mixture");
}
