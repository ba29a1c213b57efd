//! Snapshots that are broken, hostile or odd: read, refused or analysed, never worse.

use super::analysis::{self, SnapshotAnalysis};
use super::holders::Sites;
use super::space::Rules;
use super::what_if::{self, Wishes};
use super::{Snapshot, SnapshotError, pools, predict, read};
use crate::command::explain::judge;
use crate::command::proof::recorded_failure;
use crate::incident::context::Given;
use crate::report::Style;
use crate::report::replay::{Replayed, View, html, json, markdown, packed, terminal};
use crate::text::Lang;

const SMALL: &[u8] = include_bytes!("../../fixtures/snapshots/private-pool.pickle");
const FAILED: &[u8] = include_bytes!("../../fixtures/snapshots/fragmentation-oom.pickle");
const EXPANDABLE: &[u8] = include_bytes!("../../fixtures/snapshots/fragmentation-expandable.pickle");

fn refused(bytes: &[u8]) -> SnapshotError {
    match read(bytes) {
        Err(error) => error,
        Ok(_) => panic!("was accepted"),
    }
}

/// Everything that `replay` does with a snapshot.
fn put_through(snapshot: &Snapshot) -> String {
    let (config, version) = predict::recorded_settings(snapshot, None);
    let round = predict::rounding(&config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    let mut sites = Sites::new(snapshot);
    let (mut devices, mut diagnoses) = (Vec::new(), Vec::new());
    for device in &snapshot.devices {
        let mut found = analysis::device(snapshot, device, &mut sites, rules);
        let settled = pools::settled(device, &mut found.history, rules, (&config, version), found.misfits);
        if let Ok((program, fidelity)) = settled {
            found.fidelity = Some(fidelity);
            found.budget = Some(program.budget);
            let confs = vec!["expandable_segments:True".into(), String::new()];
            let wishes = Wishes { confs, capacity: Some(1 << 33), fraction: Some(0.5), batch: None };
            let swept = what_if::sweep(&found, &program, "", &mut sites, &wishes, &|_| {});
            (found.what_if, found.what_if_base) = (swept.tried, swept.base);
            let scale = what_if::batch_scale(&found, &program, &mut sites, &wishes, Some(3));
            found.batch_scale = Some(scale);
        }
        found.layers = analysis::layers(&found, &mut sites, 5);
        let failure = recorded_failure(snapshot, "x", &found, &mut sites);
        diagnoses.push(failure.map(|failure| judge(0, failure, &Given::default())));
        devices.push(found);
    }
    let style = Style { lang: Lang::Zh, width: 60, verbose: true, unicode: false, ..Style::PLAIN };
    let packs =
        snapshot.devices.iter().zip(&devices).map(|(device, found)| packed(snapshot, device, found, &mut sites, style));
    let packs = packs.collect();
    let analysis = SnapshotAnalysis {
        source: "x".into(),
        bytes: 0,
        encoding: snapshot.encoding,
        generation: snapshot.generation,
        settings: snapshot.settings.clone(),
        devices,
        sites: sites.sites,
    };
    let replayed = [Replayed { analysis, diagnoses, packs }];
    let view = View { top: 3, style };
    let mut out = crate::report::view::to_json(&json::document(&replayed, view));
    out += &terminal::render(&replayed, view);
    out += &markdown::render(&replayed, view);
    out + &html::render(None, &replayed, view)
}

#[test]
fn a_snapshot_cut_at_any_byte_is_refused_with_the_place() {
    for length in 1..SMALL.len() {
        let error = refused(&SMALL[..length]);
        let offset = error.offset.expect("a place");
        assert!(offset <= length as u64, "{length}: {error}");
    }
    assert!(refused(b"").text.en.contains("empty"));
}

#[test]
fn whatever_could_run_code_is_refused_where_it_stands() {
    let attempts: [(&[u8], u64); 8] = [
        (b"\x80\x02cos\nsystem\n.", 2),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", 14),
        (b"\x80\x02}R.", 3),
        (b"\x80\x02}b.", 3),
        (b"\x80\x02}\x81.", 3),
        (b"\x80\x02(ios\nsystem\n.", 3),
        (b"\x80\x02\x82\x01.", 2),
        (b"\x80\x02Q.", 2),
    ];
    for (bytes, at) in attempts {
        let error = refused(bytes);
        assert_eq!(error.offset, Some(at), "{bytes:?}: {error}");
        assert!(error.text.en.contains("run code"), "{error}");
    }
}

#[test]
fn claims_of_sizes_and_places_cost_nothing() {
    let attempts: [&[u8]; 12] = [
        // A string of 2^63 bytes, of 4 GiB, a long of 2 GiB.
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fab",
        b"\x80\x04X\xff\xff\xff\xffab",
        b"\x80\x04\x8b\xff\xff\xff\x7fab",
        // The memo at an index of 2^32 - 1, and one that was never filled.
        b"\x80\x02}r\xff\xff\xff\xff.",
        b"\x80\x02h\x07.",
        // Items without a container, an odd number of them, marks that were never set.
        b"\x80\x02K\x01a.",
        b"\x80\x02}(K\x01u.",
        b"\x80\x02e.",
        b"\x80\x02(K\x01K\x02s.",
        b"\x80\x02}(00e.",
        b"\x80\x02.",
        b"\x80\x06}.",
    ];
    for bytes in attempts {
        refused(bytes);
    }
}

#[test]
fn deep_nesting_and_self_reference_need_no_stack_of_ours() {
    let mut deep = b"\x80\x02".to_vec();
    deep.extend(std::iter::repeat_n(b']', 200_000));
    deep.extend(std::iter::repeat_n(b'a', 199_999));
    deep.push(b'.');
    // A list of segments that are no segments.
    refused(&deep);
    // A list that holds itself.
    refused(b"\x80\x02]q\x00h\x00a.");
    // Lists of lists of the same list, 2^60 elements if they were followed.
    let mut bomb = b"\x80\x04]\x94".to_vec();
    for i in 0..60u8 {
        bomb.extend([b']', 0x94, b'(', b'h', i, b'h', i, b'e']);
    }
    bomb.push(b'.');
    refused(&bomb);
}

#[test]
fn one_list_of_blocks_behind_many_segments_is_refused() {
    let snapshot = r#"[{"device":0,"address":1,"total_size":512,"blocks":[{"state":"inactive","size":512}]}]"#;
    assert_eq!(read(snapshot.as_bytes()).map(|s| s.devices.len()).unwrap_or(0), 1);
    // The same by reference: the segment's dictionary is shared, its blocks with it.
    let mut shared = b"\x80\x02](}q\x01(X\x0a\x00\x00\x00total_sizeM\x00\x02\
        X\x06\x00\x00\x00blocks](}\
        (X\x05\x00\x00\x00stateX\x08\x00\x00\x00inactiveX\x04\x00\x00\x00sizeM\x00\x02ueu"
        .to_vec();
    let alone = [&shared[..], b"e."].concat();
    assert!(read(&alone[..]).is_ok());
    shared.extend(b"h\x01e.");
    assert!(refused(&shared).text.en.contains("share"));
}

#[test]
fn negative_and_impossible_sizes_are_refused() {
    for size in ["-1", "1e30", "\"x\"", "9223372036854775807"] {
        let text = format!(r#"[{{"device":0,"address":1,"total_size":{size},"blocks":[]}}]"#);
        refused(text.as_bytes());
    }
}

#[test]
fn json_and_pickle_of_old_and_new_keys_say_the_same() {
    let old = r#"[{"device":1,"address":4096,"total_size":2097152,"stream":0,"segment_type":"small","blocks":[
        {"size":512,"state":"active_allocated","history":[{"addr":4096,"real_size":100,
          "frames":[{"name":"f","filename":"train.py","line":3}]}]},
        {"size":2096640,"state":"inactive"}]}]"#;
    let snapshot = read(old.as_bytes()).expect("1.13");
    assert_eq!((snapshot.generation.from, snapshot.generation.to), ((1, 13), Some((1, 13))));
    let device = snapshot.devices.first().expect("a device");
    let block = device.segments[0].blocks[0];
    assert_eq!((block.address, block.requested, device.allocated(), device.reserved()), (4096, 100, 512, 2097152));
    assert_eq!(snapshot.frames_of(block.stack).collect::<Vec<_>>(), [("train.py", 3, "f")]);
    put_through(&snapshot);
}

#[test]
fn unknown_keys_and_actions_are_passed_over() {
    let text = r#"{"segments":[],"shiny":{"a":[1,2]},"device_traces":[[],[
        {"action":"teleport","addr":1,"size":1,"stream":0,"new_key":[[]]},
        {"action":"alloc","addr":512,"size":9,"stream":0,"frames":[]}]]}"#;
    let snapshot = read(text.as_bytes()).expect("readable");
    assert_eq!(snapshot.devices.len(), 1);
    assert_eq!((snapshot.devices[0].ordinal, snapshot.devices[0].trace.len()), (1, 2));
    assert!(snapshot.devices[0].notes.iter().any(|note| note.en.contains("does not know")));
    put_through(&snapshot);
}

#[test]
fn a_restarted_recording_is_put_back_in_order() {
    let entry =
        |action: &str, time: u64| format!(r#"{{"action":"{action}","addr":512,"size":9,"stream":0,"time_us":{time}}}"#);
    let trace = [entry("free_requested", 9_000_000), entry("free_completed", 9_000_001), entry("alloc", 1_000_000)];
    let text = format!(r#"{{"segments":[],"device_traces":[[{}]]}}"#, trace.join(","));
    let snapshot = read(text.as_bytes()).expect("readable");
    let times: Vec<u64> = snapshot.devices[0].trace.iter().map(|event| event.time_us).collect();
    assert_eq!(times, [1_000_000, 9_000_000, 9_000_001]);
}

/// Bytes changed at random: most are refused, the rest must be analysed without a panic.
#[test]
fn damaged_snapshots_are_refused_or_analysed() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let rounds = std::env::var("OOMDOC_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let (mut read_ones, mut refused_ones) = (0, 0);
    for round in 0..rounds {
        let original = [SMALL, FAILED, EXPANDABLE][round % 3];
        let mut bytes = original.to_vec();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            bytes[at] = match random(3) {
                0 => random(256) as u8,
                1 => bytes[at] ^ (1 << random(8)),
                _ => original[random(original.len())],
            };
        }
        match read(&bytes[..]) {
            Ok(snapshot) => {
                put_through(&snapshot);
                read_ones += 1;
            }
            Err(_) => refused_ones += 1,
        }
    }
    assert!(read_ones > 0 && refused_ones > 0, "{read_ones} {refused_ones}");
}

/// What is said of all limits between two is what a run with each of them comes to.
#[test]
fn between_two_courses_every_limit_goes_the_same_way() {
    let bytes = include_bytes!("../../fixtures/snapshots/resnet18-b64.pickle");
    let snapshot = read(&bytes[..]).expect("a snapshot");
    let (config, version) = predict::recorded_settings(&snapshot, None);
    let round = predict::rounding(&config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    let mut sites = Sites::new(&snapshot);
    let device = &snapshot.devices[0];
    let mut found = analysis::device(&snapshot, device, &mut sites, rules);
    let (program, fidelity) =
        pools::settled(device, &mut found.history, rules, (&config, version), found.misfits).expect("a program");
    assert!(fidelity.is_exact());
    for conf in ["", "max_split_size_mb:64", "expandable_segments:True"] {
        let (low, high) = (1440 << 20, 1840 << 20);
        let (told, tried) = what_if::every_limit(&found.history, &program, conf, low, high, 2 << 20);
        assert!(told.len() > 3 || conf.starts_with("exp"), "{conf}: {told:?}");
        for (limit, ran) in tried {
            let course = told.iter().rev().find(|(from, _)| *from <= limit).map(|(_, ran)| *ran);
            assert_eq!(course, Some(ran), "{conf} with {limit}");
        }
    }
}
