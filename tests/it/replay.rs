//! `oomdoc replay` and `oomdoc diff`, driving the binary.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::schema::Schema;
use binary::{oomdoc, outcome};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

const MIB: u64 = 1 << 20;

/// What real PyTorch programs did on a simulated device, known from the programs themselves.
struct Case {
    file: &'static str,
    events: u64,
    segments: u64,
    allocated: u64,
    reserved: u64,
    peak_requested: u64,
    peak_active_mib: f64,
    peak_reserved_mib: u64,
    /// Bytes asked for and free on the device.
    oom: Option<(u64, u64)>,
    allocations: u64,
}

const CASES: [Case; 6] = [
    Case {
        file: "fragmentation-oom.pickle",
        events: 289,
        segments: 36,
        allocated: 3600 * MIB,
        reserved: 7200 * MIB,
        peak_requested: 7200 * MIB,
        peak_active_mib: 7200.0,
        peak_reserved_mib: 7200,
        oom: Some((1000 * MIB, 542 * MIB)),
        allocations: 108,
    },
    Case {
        file: "fragmentation-expandable.pickle",
        events: 326,
        segments: 36,
        allocated: 4600 * MIB,
        reserved: 4600 * MIB,
        peak_requested: 7200 * MIB,
        peak_active_mib: 7200.0,
        peak_reserved_mib: 7200,
        oom: None,
        allocations: 109,
    },
    Case {
        file: "private-pool.pickle",
        events: 15,
        segments: 4,
        allocated: 364 * MIB,
        reserved: 1256 * MIB,
        peak_requested: 800 * MIB,
        peak_active_mib: 800.0,
        peak_reserved_mib: 1256,
        oom: None,
        allocations: 5,
    },
    Case {
        file: "leak-oom.pickle",
        events: 1555,
        segments: 503,
        allocated: 16_686_214_144,
        reserved: 15926 * MIB,
        peak_requested: 16_686_186_712,
        peak_active_mib: 15913.2,
        peak_reserved_mib: 15926,
        oom: Some((32 * MIB, 8 * MIB)),
        allocations: 727,
    },
    Case {
        file: "resnet18-b64.pickle",
        events: 1885,
        segments: 52,
        allocated: 18_087_936,
        reserved: 2068 * MIB,
        peak_requested: 1_548_971_400,
        peak_active_mib: 1487.1,
        peak_reserved_mib: 2068,
        oom: None,
        allocations: 613,
    },
    Case {
        file: "kv-growth-fits.pickle.gz",
        events: 7841,
        segments: 65,
        allocated: 0,
        reserved: 5122 * MIB,
        peak_requested: 5_336_203_264,
        peak_active_mib: 5121.0,
        peak_reserved_mib: 5146,
        oom: None,
        allocations: 1600,
    },
];

fn fixture(file: &str) -> String {
    format!("fixtures/snapshots/{file}")
}

fn replay(arguments: &[&str]) -> Value {
    let (code, out, err) = outcome(oomdoc().arg("replay").args(["--format", "json"]).args(arguments));
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
    serde_json::from_str(&out).unwrap()
}

fn device(report: &Value) -> &Value {
    &report["devices"][0]
}

#[test]
fn peaks_and_failures_are_those_of_the_program() {
    for case in CASES {
        let report = replay(&["--no-what-if", &fixture(case.file)]);
        let (device, name) = (device(&report), case.file);
        assert_eq!(device["events"], case.events, "{name}");
        assert_eq!(device["segments"], case.segments, "{name}");
        assert_eq!(device["allocated_bytes"], case.allocated, "{name}");
        assert_eq!(device["reserved_bytes"], case.reserved, "{name}");
        let peak = &device["peak"];
        assert_eq!(peak["requested_bytes"], case.peak_requested, "{name}");
        assert_eq!(peak["reserved_bytes"], case.peak_reserved_mib * MIB, "{name}");
        let active = peak["active_bytes"].as_u64().unwrap() as f64 / MIB as f64;
        assert!((active - case.peak_active_mib).abs() < 0.06, "{name}: {active}");
        let oom = device["oom"].as_array().unwrap();
        let told: Vec<_> = oom
            .iter()
            .map(|o| (o["requested_bytes"].as_u64().unwrap(), o["device_free_bytes"].as_u64().unwrap()))
            .collect();
        assert_eq!(told, case.oom.into_iter().collect::<Vec<_>>(), "{name}");
        // A request that failed comes on top of what lived then; where the device was full, that is more than it had.
        let bound = device["packing_bound_bytes"].as_u64().unwrap();
        assert!(bound >= case.peak_requested, "{name}: {bound}");
        assert!(case.oom.is_some() || bound == case.peak_requested, "{name}: {bound}");
        let full = oom.first().is_some_and(|oom| oom["would_fit"]["free_and_cached"] == false);
        if let Some(most) = device["available_to_allocator"]["at_most_bytes"].as_u64().filter(|_| full) {
            assert!(bound > most, "{name}: {bound} {most}");
        }
        // Holders, categories and sizes each add up to what was held.
        let held = peak["held_bytes"].as_u64().unwrap();
        for parts in ["categories", "sizes"] {
            let sum: u64 = peak[parts].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
            assert_eq!(sum, held, "{name} {parts}");
        }
        let holes = &peak["fragmentation"];
        let sum = holes["active_bytes"].as_u64().unwrap() + holes["free_bytes"].as_u64().unwrap();
        assert_eq!(holes["reserved_bytes"], sum, "{name}");
        assert_eq!(holes["active_bytes"], held, "{name}");
    }
}

#[test]
fn the_simulator_foresees_every_address_and_segment() {
    for case in CASES {
        let report = replay(&[&fixture(case.file)]);
        let fidelity = &device(&report)["fidelity"];
        assert_eq!(fidelity["allocations"], case.allocations, "{}", case.file);
        assert_eq!(fidelity["same_address"], case.allocations, "{}: {fidelity}", case.file);
        assert_eq!(fidelity["same_size"], fidelity["segments"], "{}", case.file);
        assert_eq!(fidelity["failed_too"], fidelity["failed_requests"], "{}", case.file);
        assert_eq!(fidelity["first_divergence"], Value::Null, "{}", case.file);
    }
}

fn what_if<'r>(report: &'r Value, conf: &str) -> &'r Value {
    let all = device(report)["what_if"].as_array().unwrap();
    all.iter().find(|entry| entry["change"] == "settings" && entry["conf"] == conf).unwrap()
}

#[test]
fn other_settings_do_what_they_did_when_the_program_ran_with_them() {
    // The same programs were run under both settings.
    let report = replay(&[&fixture("fragmentation-oom.pickle")]);
    assert_eq!(what_if(&report, "expandable_segments:True")["oom"], false);
    let fit = &device(&report)["oom"][0]["would_fit"];
    assert_eq!((&fit["free_and_cached"], &fit["recoverable_by_expandable"]), (&Value::Bool(true), &Value::Bool(true)));

    let report = replay(&[&fixture("fragmentation-expandable.pickle")]);
    assert_eq!(what_if(&report, "expandable_segments:False")["oom"], true);

    let report = replay(&[&fixture("kv-growth-fits.pickle.gz")]);
    let expandable = what_if(&report, "expandable_segments:True");
    assert_eq!(expandable["oom"], true);
    assert_eq!(expandable["peak_reserved_bytes"], 5122 * MIB);
    assert_eq!(expandable.get("saves_bytes"), None, "what stopped early saves nothing");

    // A leak is no matter of settings, but of what leaks.
    let report = replay(&[&fixture("leak-oom.pickle")]);
    let fit = &device(&report)["oom"][0]["would_fit"];
    assert_eq!(
        (&fit["free_and_cached"], &fit["recoverable_by_expandable"]),
        (&Value::Bool(false), &Value::Bool(false))
    );
    for entry in device(&report)["what_if"].as_array().unwrap() {
        let smaller = matches!(entry["change"].as_str(), Some("half-batch" | "without-holder"));
        assert_eq!(entry["oom"], !smaller, "{entry}");
    }
    let growth = &device(&report)["growth"];
    assert_eq!(growth["holders"][0]["frame"], "make_snapshots.py:42 leak");
    assert!(growth["per_step_bytes"].as_u64().unwrap() > 900 * MIB);
}

#[test]
fn settings_devices_and_versions_can_be_named() {
    let file = fixture("resnet18-b64.pickle");
    let report =
        replay(&["--conf", "max_split_size_mb:64", "--conf", "no_such_option:1", "--capacity", "1536MiB", &file]);
    let all = device(&report)["what_if"].as_array().unwrap();
    assert_eq!(all.len(), 4);
    // The settings on the device that is asked about.
    assert_eq!((&all[3]["change"], &all[3]["conf"]), (&"capacity".into(), &"max_split_size_mb:64".into()));
    assert_eq!(all[0]["conf"], "max_split_size_mb:64");
    assert!(all[1]["refused"].as_str().unwrap().contains("no_such_option"), "{}", all[1]);
    assert_eq!((&all[2]["change"], &all[2]["oom"]), (&Value::from("capacity"), &Value::Bool(true)));
    let report = replay(&["--torch", "2.6", &file]);
    assert_eq!(what_if(&report, "expandable_segments:True")["torch"], "2.6");
    let (code, _, err) = outcome(oomdoc().args(["replay", "--torch", "1.9", &file]));
    assert_eq!(code, 2);
    assert!(err.contains("--torch 1.9"), "{err}");
    let (code, _, err) = outcome(oomdoc().args(["replay", "--device", "7", &file]));
    assert!(code == 2 && err.contains("no device 7"), "{err}");
}

#[test]
fn a_folder_of_ranks_is_one_report() {
    let folder = tempfile::tempdir().unwrap();
    for (rank, file) in ["private-pool.pickle", "resnet18-b64.pickle"].iter().enumerate() {
        std::fs::copy(binary::root().join(fixture(file)), folder.path().join(format!("rank{rank}.pickle"))).unwrap();
    }
    std::fs::write(folder.path().join("notes.txt"), "no snapshot").unwrap();
    let report = replay(&["--no-what-if", folder.path().to_str().unwrap()]);
    let sources: Vec<&str> =
        report["devices"].as_array().unwrap().iter().map(|d| d["source"].as_str().unwrap()).collect();
    assert_eq!(sources.len(), 2);
    assert!(sources[0].ends_with("rank0.pickle") && sources[1].ends_with("rank1.pickle"), "{sources:?}");
    // One that cannot be read makes the code 2, the others are told all the same.
    std::fs::write(folder.path().join("rank2.pickle"), b"\x80\x04}").unwrap();
    let (code, out, err) = outcome(oomdoc().args(["replay", "--no-what-if"]).arg(folder.path()));
    assert_eq!(code, 2);
    assert!(out.contains("rank1.pickle"), "{out}");
    assert!(err.contains("rank2.pickle: at byte 3: "), "{err}");
}

#[test]
fn the_json_conforms_to_the_schema() {
    let mut schema = Schema::of("replay");
    let files: Vec<String> = CASES.iter().map(|case| fixture(case.file)).collect();
    for arguments in [&["--capacity", "2GiB"][..], &["--conf", "x:1"], &["--no-what-if"], &[]] {
        let mut all = arguments.to_vec();
        all.extend(files.iter().map(String::as_str));
        schema.check(&replay(&all), &arguments.join(" "));
    }
    let trained = fixture("resnet18-b64.pickle");
    for arguments in [&["--batch-scale=64", "--capacity", "2GiB"][..], &["--batch-scale"]] {
        let all = [arguments, &[&trained]].concat();
        schema.check(&replay(&all), &arguments.join(" "));
    }
    // What `torch.cuda.memory_snapshot()` returns has no history.
    let segments = r#"[{"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 512, "active_size": 512,
        "stream": 0, "segment_type": "small", "blocks": [{"address": 4096, "size": 512, "state": "active_allocated"},
        {"address": 4608, "size": 2096640, "state": "inactive"}]}]"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.json");
    std::fs::write(&path, segments).unwrap();
    schema.check(&replay(&[path.to_str().unwrap()]), "without a history");
    schema.complete(&[
        ("Decide.*", "no snapshot at hand leaves its cause open; the documents of explain have it"),
        ("Outcome.*", "a part of Decide"),
        ("Judgement.decide", "the same"),
        ("Device.further_oom", "more failed requests than are listed: no record at hand has so many"),
        ("Divergence.event", "the simulator does what every record at hand shows"),
        ("Divergence.how", "the simulator does what every record at hand shows"),
        ("Fidelity.given_up", "a simulation that takes longer than its limit"),
        ("WhatIf.given_up", "a simulation that takes longer than its limit"),
    ]);
}

#[test]
fn unreadable_input_is_code_2_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let cases: [(&[u8], &str); 5] = [
        (b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00idtR.", "at byte 2: the pickle wants to run code (GLOBAL)"),
        (b"\x80\x02}.", "neither segments nor device_traces"),
        (b"PK\x03\x04", "neither a pickle nor JSON"),
        (b"{\"segments\": [", "no JSON snapshot"),
        (b"", "empty"),
    ];
    for (bytes, reason) in cases {
        let path = write("x.pickle", bytes);
        let (code, out, err) = outcome(oomdoc().arg("replay").arg(&path));
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains(reason), "{err}");
    }
    let (code, _, err) = outcome(oomdoc().args(["replay", "no/such/file.pickle"]));
    assert_eq!(code, 2);
    assert!(err.contains("no such file"), "{err}");
}

#[test]
fn reports_for_people_keep_to_the_width_in_both_languages() {
    for lang in ["en", "zh"] {
        for width in ["60", "100"] {
            for case in &CASES {
                let file = fixture(case.file);
                let arguments = ["replay", "--lang", lang, "--width", width, "-v", &file];
                let (code, out, err) = outcome(oomdoc().args(arguments));
                assert_eq!((code, err.as_str()), (0, ""));
                let width: usize = width.parse().unwrap();
                for line in out.lines() {
                    assert!(line.width() <= width, "{}: {line}", case.file);
                }
                let chinese = out.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
                assert_eq!(chinese, lang == "zh", "{}", case.file);
            }
        }
    }
}

#[test]
fn the_verdict_names_what_was_wrong() {
    let screen = |file: &str| outcome(oomdoc().args(["replay", &fixture(file)])).1;
    let fragmented = screen("fragmentation-oom.pickle");
    assert!(fragmented.contains("Why: the cached memory is fragmented (proved)"), "{fragmented}");
    assert!(fragmented.contains("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"), "{fragmented}");
    assert!(fragmented.contains("36 × 100.00 MiB"), "{fragmented}");
    let leak = screen("leak-oom.pickle");
    assert!(leak.contains("Why: usage grows over time") && leak.contains("Will not help: Turn on"), "{leak}");
    // Without a simulation there is only what the moment shows.
    let bare = outcome(oomdoc().args(["replay", "--no-what-if", &fixture("leak-oom.pickle")])).1;
    assert!(bare.contains("Truly full") && !bare.contains("Why:"), "{bare}");
    // A snapshot among the logs of `explain` is read as what it is.
    let (code, explained, _) = outcome(oomdoc().args(["explain", &fixture("leak-oom.pickle")]));
    assert!(code == 0 && explained.contains("Why: usage grows over time"), "{explained}");
}

/// Checks that every tag is closed in order and gives the text between them.
fn well_formed(page: &str) -> String {
    let mut open: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find('>').expect("a tag that ends");
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed out of order");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap().to_string();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name:?}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if tag.ends_with('/') {
            continue;
        }
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("an end of the script");
            rest = &rest[end + close.len()..];
            continue;
        }
        open.push(name);
    }
    assert!(open.is_empty(), "{open:?} left open");
    text + rest
}

#[test]
fn the_page_is_well_formed_small_and_refers_to_nothing_outside() {
    for lang in ["en", "zh"] {
        for case in &CASES {
            let file = fixture(case.file);
            let (code, page, _) = outcome(oomdoc().args(["replay", "--format", "html", "--lang", lang, &file]));
            assert_eq!(code, 0);
            let text = well_formed(&page);
            assert!(text.contains("GPU 0"), "{}", case.file);
            for outside in ["http:", "https:", "src=", "@import", "url(", "<link", "//cdn"] {
                assert!(!page.contains(outside), "{}: {outside}", case.file);
            }
            assert!(page.len() < 1 << 20, "{}: {} bytes", case.file, page.len());
            assert!(page.contains("<path class=\"layer") && page.contains("class=\"map\""), "{}", case.file);
        }
    }
}

/// The page of an explanation: what is told of the log above what the snapshot shows; without one, the former alone.
#[test]
fn an_explanation_is_a_page_with_its_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("train.log");
    let error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1000.00 MiB. GPU 0 has a total capacity \
                 of 8.00 GiB of which 542.00 MiB is free. Of the allocated memory 3.52 GiB is allocated by PyTorch, and \
                 3.52 GiB is reserved by PyTorch but unallocated. <script>alert(1)</script>\n";
    std::fs::write(&log, error).unwrap();
    let ask = |more: &[&str]| outcome(oomdoc().args(["explain", "--format", "html"]).arg(&log).args(more));
    let (code, page, _) = ask(&[]);
    assert_eq!(code, 0);
    let text = well_formed(&page);
    assert!(text.contains("GPU 0 ran out of memory") && !page.contains("<script>alert"), "{text}");
    assert!(!page.contains("class=\"explorer\""), "there is no snapshot");
    let (code, page, err) = ask(&["-s", &fixture("fragmentation-oom.pickle")]);
    assert_eq!((code, err.as_str()), (0, ""));
    well_formed(&page);
    assert!(page.contains("class=\"told\"") && page.contains("data-pack=\"pack0\"") && page.contains("id=\"pack0\""));
}

#[test]
fn names_from_a_snapshot_cannot_become_markup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    let evil = r#"</script><script>alert(1)</script>|*_`"#;
    let frames = serde_json::json!([{"filename": "a.py", "line": 1, "name": evil}]);
    let event = |action: &str| serde_json::json!({"action": action, "addr": 4096, "size": 2097152, "stream": 0, "frames": frames});
    let snapshot = serde_json::json!({
        "segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "large", "blocks": [
            {"address": 4096, "size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": frames}]}],
        "device_traces": [[event("segment_alloc"), event("alloc"), event("free_requested"), event("free_completed"), event("alloc")]],
    });
    std::fs::write(&path, snapshot.to_string()).unwrap();
    let (code, page, _) = outcome(oomdoc().args(["replay", "--format", "html"]).arg(&path));
    assert_eq!(code, 0);
    well_formed(&page);
    assert!(!page.contains("<script>alert"), "{page}");
    assert_eq!(page.matches("</script>").count(), 4, "the data, the words, the record and the program");
}

#[test]
fn a_difference_is_told_by_place_and_can_fail_a_build() {
    let (old, new) = (fixture("fragmentation-oom.pickle"), fixture("fragmentation-expandable.pickle"));
    let (code, out, _) = outcome(oomdoc().args(["diff", "--format", "json", &old, &new]));
    assert_eq!(code, 0);
    let report: Value = serde_json::from_str(&out).unwrap();
    let device = &report["devices"][0];
    assert_eq!(device["growth_bytes"], 1000 * MIB);
    assert_eq!(device["places"][0]["growth_bytes"], 1000 * MIB);
    assert_eq!(device["unchanged_places"], 1);
    for (limit, expected) in [
        ("growth>27%", 1),
        ("growth>28%", 0),
        ("growth>999MiB", 1),
        ("growth>1000MiB", 0),
        ("reserved>1%", 0),
        ("growth", 2),
        ("peak>1%", 2),
        ("growth>-1%", 2),
    ] {
        let (code, _, _) = outcome(oomdoc().args(["diff", "--fail-on", limit, &old, &new]));
        assert_eq!(code, expected, "{limit}");
    }
    let (code, out, _) = outcome(oomdoc().args(["diff", "--fail-on", "growth>0%", &old, &old]));
    assert_eq!(code, 0, "nothing differs from itself: {out}");
    let (_, out, _) =
        outcome(oomdoc().args(["diff", "--at", "peak", "--format", "markdown", "--lang", "zh", &old, &new]));
    assert!(out.contains("### GPU 0") && out.contains("峰值"), "{out}");
}

/// A trace of a program that held 100 MiB, gave it back (`empty_cache` tells from where), and got 200 MiB.
fn given_back(empty_cache: Option<&str>) -> Value {
    let frames = |name: &str| serde_json::json!([{"filename": "/job/train.py", "line": 9, "name": name}]);
    let entry = |action: &str, address: u64, mib: u64, by: Option<&str>| {
        let frames = by.map_or(serde_json::json!([]), frames);
        serde_json::json!({"action": action, "addr": address << 28, "size": mib << 20, "stream": 0, "frames": frames})
    };
    let by = |name: &'static str| empty_cache.map(|_| name);
    serde_json::json!({
        "segments": [{"device": 0, "address": 2u64 << 28, "total_size": 200u64 << 20, "stream": 0,
            "segment_type": "large", "allocated_size": 200u64 << 20, "active_size": 200u64 << 20,
            "blocks": [{"address": 2u64 << 28, "size": 200u64 << 20, "state": "active_allocated", "frames": []}]}],
        "device_traces": [[
            entry("segment_alloc", 1, 100, by("forward")), entry("alloc", 1, 100, by("forward")),
            entry("free_requested", 1, 100, by("forward")), entry("free_completed", 1, 100, by("forward")),
            entry("segment_free", 1, 100, empty_cache),
            entry("segment_alloc", 2, 200, by("validate")), entry("alloc", 2, 200, by("validate")),
        ]],
    })
}

/// The capture of a CUDA graph and `empty_cache()` give memory back that nobody needed: no sign of a full device.
#[test]
fn a_cache_that_the_program_empties_is_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |name: &str, by: Option<&str>| {
        let path = folder.path().join(name);
        std::fs::write(&path, given_back(by).to_string()).unwrap();
        let path = path.to_str().unwrap().to_string();
        let (_, screen, _) = outcome(oomdoc().args(["replay", &path]));
        (device(&replay(&[&path])).clone(), screen)
    };
    let (own, _) = ask("own.json", Some("empty_cache"));
    assert_eq!(own["available_to_allocator"], serde_json::json!({"at_least_bytes": 200 * MIB}), "{own}");
    let served = own["what_if"].as_array().unwrap().iter().filter(|entry| entry["oom"] == false).count();
    assert_eq!(served, own["what_if"].as_array().unwrap().len(), "{own}");
    // Within one request it is the allocator that makes room.
    let (full, _) = ask("full.json", Some("validate"));
    assert_eq!(full["available_to_allocator"]["at_most_bytes"], 300 * MIB - 1, "{full}");
    // Nothing tells which.
    let (silent, screen) = ask("silent.json", None);
    assert!(silent["available_to_allocator"].get("at_most_bytes").is_none(), "{silent}");
    assert!(screen.replace('\n', " ").contains("without stacks it is not known"), "{screen}");
}

#[test]
fn what_the_variations_are_compared_with_is_shown() {
    let file = fixture("resnet18-b64.pickle");
    let report = replay(&[&file]);
    let base = &device(&report)["what_if_base"];
    for entry in device(&report)["what_if"].as_array().unwrap().iter().filter(|entry| entry["oom"] == false) {
        let saves = entry["saves_bytes"].as_i64().unwrap();
        let reserved = entry["peak_reserved_bytes"].as_i64().unwrap();
        assert_eq!(base["peak_reserved_bytes"].as_i64().unwrap() - reserved, saves, "{entry}");
    }
    let (_, screen, _) = outcome(oomdoc().args(["replay", &file]));
    assert!(screen.contains("Compared with") && screen.contains(" in use"), "{screen}");
}

/// What-ifs of a program whose cache lay in pieces before the recording began: how it would have lain otherwise is not
/// known, so that no figure is exact but the record's own.
#[test]
fn what_lay_idle_before_the_recording_makes_a_figure_a_range() {
    let folder = tempfile::tempdir().unwrap();
    let frames = serde_json::json!([{"filename": "/job/train.py", "line": 9, "name": "forward"}]);
    let entry = |action: &str, at: u64, mib: u64| serde_json::json!({"action": action, "addr": at << 28, "size": mib << 20, "stream": 0, "frames": frames});
    let block = |at: u64, mib: u64, state: &str| serde_json::json!({"address": at, "size": mib << 20, "requested_size": mib << 20, "state": state, "frames": []});
    // 40 of 100 MiB in use all the time; 30 MiB are made and given back beside them.
    let blocks = [block(1 << 28, 40, "active_allocated"), block((1 << 28) + (40 << 20), 60, "inactive")];
    let snapshot = serde_json::json!({
        "segments": [{"device": 0, "address": 1u64 << 28, "total_size": 100u64 << 20, "stream": 0,
            "segment_type": "large", "allocated_size": 40u64 << 20, "active_size": 40u64 << 20, "blocks": blocks},
            {"device": 0, "address": 2u64 << 28, "total_size": 200u64 << 20, "stream": 0, "segment_type": "large",
            "allocated_size": 0, "active_size": 0, "blocks": [block(2 << 28, 200, "inactive")]}],
        "device_traces": [[
            entry("segment_alloc", 2, 200), entry("alloc", 2, 200),
            entry("free_requested", 2, 200), entry("free_completed", 2, 200),
        ]],
    });
    let path = folder.path().join("late.json");
    std::fs::write(&path, snapshot.to_string()).unwrap();
    let path = path.to_str().unwrap();
    let report = replay(&[path]);
    let expandable = what_if(&report, "expandable_segments:True");
    let at = |name: &str| expandable[name].as_u64().map(|bytes| bytes / MIB);
    let range = (at("peak_reserved_at_least_bytes"), at("peak_reserved_bytes"), at("peak_reserved_at_most_bytes"));
    // 60 MiB were idle, and before that it may have been more.
    assert_eq!(range, (Some(240), Some(240), None), "{expandable}");
    let all = replay(&["--capacity", "4GiB", path]);
    let other = device(&all)["what_if"].as_array().unwrap().iter().find(|entry| entry["change"] == "capacity").unwrap();
    assert!(other.get("oom").is_none() && other["peak_reserved_bytes"].is_u64(), "{other}");
    // A rounding that rounds nothing in the record otherwise may have done so before it.
    let rounding = "roundup_power2_divisions:[256:1,>:1]";
    let same = what_if(&replay(&["--conf", rounding, path]), rounding).clone();
    assert_eq!((&same["peak_reserved_bytes"], same.get("peak_reserved_at_most_bytes")), (&(300 * MIB).into(), None));
    assert_eq!(same["peak_reserved_at_least_bytes"], 240 * MIB, "{same}");
    for entry in [expandable, other, &same] {
        assert!(entry["because"][0].as_str().unwrap().contains("40.00 MiB in use and 100.00 MiB reserved"), "{entry}");
    }
    let (_, screen, _) = outcome(oomdoc().args(["replay", path]));
    assert!(screen.replace('\n', " ").contains("Ranges, because the recording begins with 40.00 MiB"), "{screen}");
}

/// Up to 2.11 a trace has no pools: that of a `MemPool` which ended is known from what the allocator did not reuse.
#[test]
fn what_a_pool_gave_back_when_it_ended_is_not_the_default_pools() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |action: &str, at: u64, by: &str| {
        let frames = serde_json::json!([{"filename": "/job/train.py", "line": 9, "name": by}]);
        serde_json::json!({"action": action, "addr": at << 28, "size": 20 << 20, "stream": 0, "frames": frames})
    };
    let made = |at: u64| [entry("segment_alloc", at, "forward"), entry("alloc", at, "forward")];
    let freed = |at: u64| [entry("free_requested", at, "forward"), entry("free_completed", at, "forward")];
    // The second segment is got although the first is free, and only the second is given back.
    let mut trace = [made(1), freed(1), made(2), freed(2)].concat();
    trace.push(entry("segment_free", 2, "close"));
    trace.push(entry("alloc", 1, "forward"));
    let block = serde_json::json!({"address": 1u64 << 28, "size": 20 << 20, "requested_size": 20 << 20,
        "state": "active_allocated", "frames": []});
    let snapshot = serde_json::json!({
        "segments": [{"device": 0, "address": 1u64 << 28, "total_size": 20 << 20, "stream": 0, "segment_type": "large",
            "allocated_size": 20 << 20, "active_size": 20 << 20, "blocks": [block]}],
        "device_traces": [trace],
    });
    let path = folder.path().join("pool.json");
    std::fs::write(&path, snapshot.to_string()).unwrap();
    let path = path.to_str().unwrap();
    let (_, screen, _) = outcome(oomdoc().args(["replay", path]));
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("address of all 3 allocations and the size of all 2 segments"), "{screen}");
    for entry in device(&replay(&["--capacity", "24GiB", path]))["what_if"].as_array().unwrap() {
        assert!(entry.get("because").is_none() && entry["oom"] == false, "{entry}");
    }
}

/// PyTorch collects garbage only under a limit that the program sets itself, which no recording tells.
#[test]
fn a_threshold_of_garbage_collection_is_told_as_a_range_unless_the_limit_is_given() {
    let file = fixture("resnet18-b64.pickle");
    let conf = "garbage_collection_threshold:0.5";
    let open = what_if(&replay(&["--conf", conf, &file]), conf).clone();
    let (least, most) = (&open["peak_reserved_at_least_bytes"], &open["peak_reserved_at_most_bytes"]);
    assert!(least.as_u64() < most.as_u64() && least.is_u64(), "{open}");
    let told = replay(&["--conf", conf, "--capacity", "400GiB", "--fraction", "0.5", &file]);
    let told = device(&told)["what_if"].as_array().unwrap().iter().find(|entry| entry["change"] == "capacity").unwrap();
    assert!(told.get("peak_reserved_at_most_bytes").is_none() && told["oom"] == false, "{told}");
}

/// The context takes 200 to 600 MiB of a device: where that decides, the answer is that it isn't known.
#[test]
fn another_device_is_asked_about_with_what_its_context_may_take() {
    let file = fixture("resnet18-b64.pickle");
    let of = |capacity: &str| {
        let report = replay(&["--capacity", capacity, &file]);
        let all = device(&report)["what_if"].as_array().unwrap().clone();
        all.into_iter().find(|entry| entry["change"] == "capacity").unwrap()
    };
    assert_eq!(of("1536MiB")["oom"], true);
    let open = of("2GiB");
    assert!(open.get("oom").is_none() && open["peak_reserved_at_most_bytes"].as_u64() <= Some(1848 * MIB), "{open}");
    // It hangs on what the context takes, and from where on is told.
    let at = |name: &str, context: u64, less: u64| {
        let bytes = open[name].as_u64().unwrap() + context * MIB - less;
        of(&format!("{bytes}B"))["oom"].clone()
    };
    assert_eq!(at("served_from_bytes", 600, 0), false, "{open}");
    assert_eq!(at("fails_below_bytes", 200, 2 * MIB), true, "{open}");
    assert!(open["because"][0].as_str().unwrap().contains("1.41 GiB to 1.80 GiB"), "{open}");
    assert_eq!(of("4GiB")["oom"], false);
    let (_, screen, _) =
        outcome(oomdoc().args(["replay", "--lang", "en", "--format", "markdown", "--capacity", "2GiB", &file]));
    assert!(screen.contains("less 200 to 600 MiB for CUDA's context"), "{screen}");
}

/// What was there before the recording is not known to be gradients, whatever follows.
#[test]
fn memory_from_before_the_recording_is_of_no_known_kind() {
    let folder = tempfile::tempdir().unwrap();
    let mut late = given_back(Some("empty_cache"));
    let trace = late["device_traces"][0].as_array_mut().unwrap();
    trace.drain(0..5);
    late["segments"].as_array_mut().unwrap().push(serde_json::json!({"device": 0, "address": 3u64 << 28,
        "total_size": 400u64 << 20, "stream": 0, "segment_type": "large", "allocated_size": 400u64 << 20,
        "active_size": 400u64 << 20,
        "blocks": [{"address": 3u64 << 28, "size": 400u64 << 20, "state": "active_allocated", "frames": []}]}));
    let path = folder.path().join("late.json");
    std::fs::write(&path, late.to_string()).unwrap();
    let report = replay(&[path.to_str().unwrap()]);
    let categories = device(&report)["peak"]["categories"].to_string();
    assert!(categories.contains("unknown") && !categories.contains("gradients"), "{categories}");
    let (_, screen, _) = outcome(oomdoc().args(["replay", path.to_str().unwrap()]));
    assert!(screen.contains("from before the recording"), "{screen}");
}

/// A step with 300 MiB of weights from before, activations of 40 MiB a sample at a batch of 8, and, where asked for, a
/// block of which nobody can tell whether it grows.
fn step_of_eight(undecided: bool) -> Value {
    let frames = |file: &str, name: &str| {
        serde_json::json!([{"filename": file, "line": 9, "name": name},
            {"filename": "/job/train.py", "line": 4, "name": "step"}])
    };
    let forward = || frames("/usr/lib/python3/site-packages/torch/nn/modules/linear.py", "forward");
    let mut trace = Vec::new();
    let mut entry = |action: &str, address: u64, bytes: u64, frames: &Value| {
        trace.push(serde_json::json!({"action": action, "addr": address << 30, "size": bytes, "stream": 0,
            "time_us": 1, "frames": frames}));
    };
    let blocks: Vec<(u64, u64, Value)> = (2..12)
        .map(|at| (at, 32 * MIB, forward()))
        .chain(undecided.then(|| (12, 64 * MIB, frames("/job/train.py", "prepare"))))
        .collect();
    for (at, bytes, by) in &blocks {
        entry("segment_alloc", *at, *bytes, by);
        entry("alloc", *at, *bytes, by);
    }
    // So much goes on meanwhile that nobody takes them for temporaries.
    let small = frames("/job/train.py", "log");
    entry("segment_alloc", 13, 2 * MIB, &small);
    for _ in 0..100 {
        ["alloc", "free_requested", "free_completed"].iter().for_each(|action| entry(action, 13, 512, &small));
    }
    for (at, bytes, by) in blocks.iter().rev() {
        entry("free_requested", *at, *bytes, by);
        entry("free_completed", *at, *bytes, by);
    }
    let segment = |at: u64, bytes: u64, state: &str| {
        let used = if state == "inactive" { 0 } else { bytes };
        serde_json::json!({"device": 0, "address": at << 30, "total_size": bytes, "stream": 0, "segment_type": "large",
            "allocated_size": used, "active_size": used, "requested_size": used,
            "blocks": [{"address": at << 30, "size": bytes, "requested_size": bytes, "state": state, "frames": []}]})
    };
    let mut segments = vec![segment(1, 300 * MIB, "active_allocated")];
    segments.extend(blocks.iter().map(|(at, bytes, _)| segment(*at, *bytes, "inactive")));
    segments.push(segment(13, 2 * MIB, "inactive"));
    serde_json::json!({"segments": segments, "device_traces": [trace]})
}

#[test]
fn the_batch_that_fits_is_found_from_what_grows_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |undecided: bool, more: &[&str]| {
        let path = folder.path().join("step.json");
        std::fs::write(&path, step_of_eight(undecided).to_string()).unwrap();
        let arguments = [&["--batch-scale=8"], more, &[path.to_str().unwrap()]].concat();
        device(&replay(&arguments))["batch_scale"].clone()
    };
    // 200 to 600 MiB of the device are the context's and 2 MiB a log's; 300 MiB of weights leave 634 to 1034, of which a
    // sample takes 40.
    let found = ask(false, &["--capacity", "1536MiB"]);
    assert_eq!(found["batch"], serde_json::json!({"low": 15, "high": 25}), "{found}");
    assert_eq!((&found["grows_bytes"], &found["may_grow_bytes"]), (&(320 * MIB).into(), &512.into()), "{found}");
    assert_eq!(found["at_most"], false);
    // What the program lets itself have is known exactly: 768 MiB, of which 466 are left.
    let own = ask(false, &["--capacity", "1536MiB", "--fraction", "0.5"]);
    assert_eq!(own["batch"], serde_json::json!({"low": 11, "high": 11}), "{own}");
    // With 64 MiB that may grow or not: 570 to 970 for 40 a sample, or 634 to 1034 for 48.
    let found = ask(true, &["--capacity", "1536MiB"]);
    assert_eq!(found["batch"], serde_json::json!({"low": 13, "high": 24}), "{found}");
    let none = ask(false, &["--capacity", "480MiB"]);
    assert_eq!(none["batch"], serde_json::json!({"low": 0, "high": 0}), "{none}");
    let unknown = ask(false, &[]);
    assert!(unknown["unknown_because"].as_str().unwrap().contains("--capacity"), "{unknown}");
    // One that begins with memory that others had used before tells nothing of what these needed.
    let mut late = step_of_eight(false);
    late["device_traces"][0].as_array_mut().unwrap().remove(0);
    std::fs::write(folder.path().join("late.json"), late.to_string()).unwrap();
    let late = folder.path().join("late.json").display().to_string();
    let report = replay(&["--batch-scale=8", "--capacity", "1536MiB", &late]);
    assert_eq!(device(&report)["batch_scale"]["at_most"], true, "{report}");
    let (_, screen, _) = outcome(oomdoc().args(["replay", "--batch-scale=8", "--capacity", "1536MiB", &late]));
    assert!(screen.replace('\n', " ").contains("what came before may need more"), "{screen}");
    // A recording that ends with the failure tells nothing of what would follow.
    let failed = fixture("gpt2-oom-backward.pickle.gz");
    let found = device(&replay(&["--batch-scale", &failed]))["batch_scale"].clone();
    assert_eq!(found["at_most"], true, "{found}");
    let (low, high) = (found["times"]["low"].as_f64().unwrap(), found["times"]["high"].as_f64().unwrap());
    assert!(0.0 < low && low <= high && high < 1.0, "{found}");
    let (_, screen, _) = outcome(oomdoc().args(["replay", "--batch-scale=4", &failed]));
    assert!(screen.contains("A batch of at most") && screen.contains("(4 was recorded)"), "{screen}");
}
