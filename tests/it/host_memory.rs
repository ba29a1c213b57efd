//! The diagnosis of host memory as users run it: the loaders' arithmetic, whose pages filled a limit, and what is
//! offered.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{oomdoc, outcome};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn explained(arguments: &[&str], input: &str) -> (i32, Value) {
    let mut command = oomdoc();
    command.args(["explain", "--json"]).args(arguments).write_stdin(input);
    let (code, out, _) = outcome(&mut command);
    (code, serde_json::from_str(&out).unwrap())
}

fn fixture(name: &str, arguments: &[&str]) -> Value {
    let path = format!("fixtures/logs/{name}.log");
    let (code, report) = explained(&[&[path.as_str()], arguments].concat(), "");
    assert_eq!(code, 0, "{name}");
    report["incidents"].as_array().unwrap().iter().find(|incident| incident["primary"] == true).unwrap().clone()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().filter_map(|entry| entry["id"].as_str()).collect()
}

/// A part of the account in MiB, by the middle of its bounds.
fn part(incident: &Value, holder: &str) -> Option<u64> {
    let entry = incident["derived"]["account"].as_array()?.iter().find(|entry| entry["holder"] == holder)?;
    Some((entry["low"].as_u64()? + entry["high"].as_u64()?) / 2 / MIB)
}

/// No message at all: 2 × 20 workers that keep what they read, of 1500 samples of 100 MiB, on a machine of 128 GiB.
const CACHING: &[&str] = &[
    "--workers",
    "20",
    "--processes",
    "2",
    "--sample-bytes",
    "100MiB",
    "--samples",
    "1500",
    "--batch-size",
    "2",
    "--host-memory",
    "128GiB",
];

#[test]
fn loaders_are_reckoned_up_without_any_message() {
    let (code, report) = explained(CACHING, "nothing of interest\n");
    assert_eq!(code, 0);
    let incident = &report["incidents"][0];
    assert_eq!((&incident["resource"], &incident["framework"]), (&"host".into(), &"python".into()));
    assert_eq!(ids(&incident["causes"])[0], "host_workers");
    // 2 × (20 × 2 + 1 … 2) batches of 200 MiB; 1500 samples once; 40 processes in the end.
    assert_eq!(part(incident, "prefetched-batches"), Some(2 * (41 + 42) * 200 / 2));
    assert_eq!(part(incident, "sample-caches"), Some(1500 * 100));
    let loader = &incident["derived"]["loader"];
    let end = loader["in_the_end"]["low"].as_u64().unwrap();
    assert!(end > 40 * 1500 * 100 * MIB && end < 41 * 1500 * 100 * MIB + 64 * GIB, "{end}");
    assert!(loader.get("workers_that_fit").is_none(), "caches without a bound fit with no number of workers");
}

#[test]
fn bounds_that_are_offered_fit_when_they_are_put_in() {
    let (_, report) = explained(CACHING, "");
    let loader = &report["incidents"][0]["derived"]["loader"];
    let each = loader["cache_per_process_that_fits"].as_u64().unwrap();
    let offers = ids(&report["incidents"][0]["fixes"]).join(" ");
    assert!(offers.contains("bound-the-cache") && offers.contains("shared-cache"), "{offers}");
    let bound = format!("{each}");
    let (code, report) = explained(&[CACHING, &["--cache", &bound]].concat(), "");
    assert_eq!((code, report["incidents"].as_array().map(Vec::len)), (1, Some(0)), "it fits: no failure to explain");
    let larger = format!("{}", each * 4);
    let (code, report) = explained(&[CACHING, &["--cache", &larger]].concat(), "");
    assert_eq!(code, 0);
    let least = report["incidents"][0]["derived"]["loader"]["in_the_end"]["high"].as_u64().unwrap();
    assert!(least > 128 * GIB);
}

#[test]
fn the_worker_count_that_is_offered_fits() {
    let settings = [
        "--workers",
        "24",
        "--processes",
        "4",
        "--sample-bytes",
        "64MiB",
        "--batch-size",
        "8",
        "--host-memory",
        "96GiB",
    ];
    let (code, report) = explained(&settings, "");
    assert_eq!(code, 0);
    let incident = &report["incidents"][0];
    let workers = incident["derived"]["loader"]["workers_that_fit"].as_u64().unwrap();
    assert!(workers < 24);
    let fix = incident["fixes"].as_array().unwrap().iter().find(|fix| fix["id"] == "fewer-workers").unwrap();
    let knob = fix["how"].to_string();
    assert!(knob.contains(&format!("num_workers={workers}")), "{knob}");
    let fewer = workers.to_string();
    let mut reckoned = settings;
    reckoned[1] = &fewer;
    assert_eq!(explained(&reckoned, "").0, 1, "{workers} workers fit");
}

#[test]
fn a_real_message_counts_more_than_the_options() {
    let log = "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.\n";
    let (code, report) = explained(CACHING, log);
    let incident = &report["incidents"][0];
    assert_eq!((code, &incident["facts"]["pid"], &incident["line"]), (0, &4711.into(), &1.into()));
    assert_eq!(part(incident, "sample-caches"), Some(150_000), "the account comes from the settings");
    assert!(ids(&incident["wont_help"]).contains(&"shm-size"));
    let (code, report) = explained(&["--workers", "20", "--processes", "2"], "all went well\n");
    assert_eq!((code, report["incidents"].as_array().map(Vec::len)), (1, Some(0)), "too little to reckon with");
}

#[test]
fn a_failure_stated_in_prose_is_read_with_its_figure() {
    let incident = fixture("host/loaders-of-a-writeup", &[]);
    assert_eq!((&incident["dialect"], &incident["facts"]["capacity_bytes"]), (&"stated".into(), &(128 * GIB).into()));
    assert_eq!(incident["framework"], "pytorch");
    let given =
        fixture("host/loaders-of-a-writeup", &["--sample-bytes", "96MiB", "--samples", "1500", "--processes", "3"]);
    assert_eq!(part(&given, "sample-caches"), Some(144_000));
    assert_eq!(ids(&given["causes"])[0], "host_workers");
}

/// A log: the parts of the limit that it tells, in MiB, the first cause, fixes that must and that must not be offered.
type Division =
    (&'static str, &'static [(&'static str, u64)], &'static str, &'static [&'static str], &'static [&'static str]);

#[test]
fn limits_are_divided_among_those_who_fill_them() {
    let cases: &[Division] = &[
        (
            "host/group-of-shared-files",
            &[("victim", 28), ("other-tasks", 12), ("shared-files", 456), ("kernel", 10), ("file-cache", 2)],
            "shared_memory",
            &["clear-shared-files", "raise-host-limit"],
            &["shm-size"],
        ),
        (
            "host/group-of-page-tables",
            &[("victim", 96), ("kernel", 154), ("file-cache", 2)],
            "framework_limit",
            &["raise-host-limit"],
            &["shm-size", "shared-cache"],
        ),
        (
            "kernel/memcg-workers",
            &[("victim", 546), ("other-tasks", 1383), ("shared-files", 1), ("kernel", 23)],
            "host_workers",
            &["fewer-workers"],
            &["expandable-segments", "bound-the-cache"],
        ),
        ("host/bystander", &[("victim", 44), ("free", 1245)], "other_process", &["choose-the-victim"], &["shm-size"]),
        (
            "ray/monitor",
            &[("victim", 6400), ("other-tasks", 6400), ("unlisted", 49152)],
            "other_process",
            &[],
            &["shm-size"],
        ),
        ("host/crash-loop", &[], "host_memory", &["raise-host-limit"], &["choose-the-victim"]),
        ("host/after-two-days", &[], "leak_growth", &["find-the-leak"], &["shm-size"]),
    ];
    for (name, parts, cause, offered, not_offered) in cases {
        let incident = fixture(name, &[]);
        for (holder, mib) in *parts {
            let got = part(&incident, holder);
            assert!(got.is_some_and(|got| got.abs_diff(*mib) <= 1), "{name}: {holder} {got:?}, not {mib}");
        }
        assert_eq!(&ids(&incident["causes"])[0], cause, "{name}");
        let fixes = ids(&incident["fixes"]);
        for id in *offered {
            assert!(fixes.contains(id), "{name}: {id} is not among {fixes:?}");
        }
        for id in *not_offered {
            assert!(!fixes.contains(id), "{name}: {id}");
        }
    }
}

#[test]
fn parts_stay_within_the_limit_in_every_report_of_the_kernel() {
    for log in binary::logs()
        .iter()
        .filter(|path| path.starts_with("fixtures/logs/kernel") || path.starts_with("fixtures/logs/host"))
    {
        let (_, report) = explained(&[log.to_str().unwrap()], "");
        for incident in report["incidents"].as_array().unwrap() {
            let derived = &incident["derived"];
            let (Some(bound), Some(account)) = (derived["bound"]["high"].as_u64(), derived["account"].as_array())
            else {
                continue;
            };
            let sum: u64 = account.iter().filter_map(|entry| entry["low"].as_u64()).sum();
            assert!(sum <= bound + bound / 50, "{}: {sum} of {bound}", log.display());
        }
    }
}

#[test]
fn a_need_beyond_the_memory_is_drawn_against_it_in_both_languages() {
    for (lang, label) in [("en", "there is 128.00 GiB"), ("zh", "共有 128.00 GiB")] {
        for width in ["50", "80", "120"] {
            let mut command = oomdoc();
            command.args(["explain", "--lang", lang, "--width", width]).args(CACHING).write_stdin("");
            let (code, out, _) = outcome(&mut command);
            assert!(code == 0 && out.contains(label), "{out}");
        }
    }
}
