//! `oomdoc headroom`, driven through the binary.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use std::process::{Command, Output};

fn headroom(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oomdoc"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("OOMDOC_LANG")
        .env("LC_ALL", "C.UTF-8")
        .arg("headroom")
        .args(args)
        .output()
        .unwrap()
}

/// The exit code and the JSON printed.
fn json(args: &[&str]) -> (i32, Value) {
    let done = headroom(&[args, &["--json"]].concat());
    let code = done.status.code().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    (code, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{args:?}: {text}{error}")))
}

/// The exit code and standard error.
fn refused(args: &[&str]) -> (i32, String) {
    let done = headroom(args);
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

const GPT2: &[&str] = &["--measure", "2=3088.7MiB", "--measure", "4=4466.2MiB", "--measure", "8=7221.9MiB"];

#[test]
fn measured_peaks_answer_with_each_exit_code() {
    let ask = |batch: &str| json(&[GPT2, &["--gpu-memory", "24GiB", "--batch", batch]].concat());
    let (code, fits) = ask("16");
    assert_eq!((code, fits["verdict"].as_str()), (0, Some("fits")));
    assert_eq!(fits["basis"], "measurements");
    assert_eq!(fits["capacity_bytes"], 24u64 << 30);
    // Measured at 16: 12762.5 MiB allocated, 14326 MiB reserved.
    let high = fits["peak_bytes"]["high"].as_u64().unwrap() >> 20;
    assert!((14_326..16_500).contains(&high), "{high}");
    let safe = fits["max_batch_size"]["safe"].as_u64().unwrap();
    assert_eq!(ask(&safe.to_string()).0, 0);
    assert_eq!(ask(&(safe + 1).to_string()).0, 1);
    let (code, not) = ask("64");
    assert_eq!((code, not["verdict"].as_str()), (1, Some("does-not-fit")));
    assert!(not["headroom_bytes"].as_i64().unwrap() < 0);
    assert!(not["fixes"].as_array().unwrap().iter().any(|fix| fix["id"] == "gradient-accumulation"), "{not}");
}

#[test]
fn one_measurement_far_away_is_not_enough_to_tell() {
    let (code, unknown) = json(&["--measure", "8=8GiB", "--batch", "16", "--gpu-memory", "16GiB"]);
    assert_eq!((code, unknown["verdict"].as_str()), (3, Some("unknown")));
}

#[test]
fn bad_input_is_refused_with_its_place() {
    for (args, part) in [
        (vec!["--gpu-memory", "24GiB"], "nothing to go by"),
        (vec!["--measure", "0=1GiB"], "batch of 0"),
        (vec!["--measure", "8=NaN"], "BATCH=SIZE"),
        (vec!["--measure", "8=7.2GiB", "--batch", "0"], "at least 1"),
        (vec!["--measure", "8=7.2GiB", "--headroom", "150%"], "share"),
        (vec!["--model", "no/such/config.json"], "no/such/config.json"),
        (vec!["--model", "Cargo.toml"], "not JSON"),
    ] {
        let (code, error) = refused(&args);
        assert_eq!(code, 2, "{args:?}: {error}");
        assert!(error.contains(part), "{args:?}: {error}");
    }
}
