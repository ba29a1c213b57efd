//! Help, version, usage errors.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{oomdoc, outcome};
use unicode_width::UnicodeWidthStr;

#[test]
fn every_help_page_has_examples_and_fits_its_screen() {
    for page in [&["--help"][..], &["explain", "--help"], &["rules", "--help"]] {
        let (code, out, err) = outcome(oomdoc().args(page));
        assert_eq!((code, err.as_str()), (0, ""), "{page:?}");
        assert!(out.contains("Examples:\n  oomdoc"), "{page:?}");
        assert!(out.lines().all(|line| line.width() <= 100), "{page:?}:\n{out}");
        let lines = out.lines().count();
        assert!(lines <= 48, "{page:?} has {lines} lines");
    }
}

#[test]
fn the_version_is_the_packages() {
    let (code, out, _) = outcome(oomdoc().arg("--version"));
    assert_eq!((code, out.trim()), (0, concat!("oomdoc ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn bad_usage_exits_with_2_and_prints_nothing_on_standard_output() {
    for bad in [
        &["explain", "--no-such-option"][..],
        &["explain", "--format", "yaml"],
        &["explain", "--format", "terminal", "--json"],
        &["explain", "--batch-size", "0"],
        &["explain", "--params", "many"],
        &["explain", "--sample-bytes", "12 parsecs"],
        &["explain", "--width", "3"],
        &["explain", "--lang", "fr"],
        &["nonsense"],
        &[],
    ] {
        let (code, out, err) = outcome(oomdoc().args(bad));
        assert_eq!((code, out.as_str()), (2, ""), "{bad:?}");
        assert!(!err.is_empty(), "{bad:?}");
    }
}

#[test]
fn json_has_a_short_form() {
    let (_, long, _) = outcome(oomdoc().args(["explain", "--format", "json"]).write_stdin("x\n"));
    let (_, short, _) = outcome(oomdoc().args(["explain", "--json"]).write_stdin("x\n"));
    assert_eq!(long, short);
}

/// What a shell offers behind these words, by the script of `oomdoc completions`.
fn offered(words: &[&str]) -> Vec<String> {
    let mut command = oomdoc();
    command.env("OOMDOC_COMPLETE", "zsh").env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    let (code, out, err) = outcome(command.arg("--").args(words));
    assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
    out.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn shells_are_told_gpus_rules_and_settings() {
    assert!(offered(&["oomdoc", "rehearse", "--like", "RTX-309"]).contains(&"RTX-3090".to_owned()));
    assert!(offered(&["oomdoc", "headroom", "--gpu", "A10"]).contains(&"A10G".to_owned()));
    assert_eq!(offered(&["oomdoc", "rules", "fragm"]), ["fragmentation"]);
    assert_eq!(offered(&["oomdoc", "probe", "--fail-on", "hidden"]), ["hidden-limit"]);
    assert!(offered(&["oomdoc", "exp"]).contains(&"explain".to_owned()));
}

#[test]
fn every_shell_gets_a_script_that_asks_this_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (code, out, err) = outcome(oomdoc().args(["completions", shell]));
        assert_eq!((code, err.as_str()), (0, ""), "{shell}");
        assert!(out.contains("OOMDOC_COMPLETE") && out.contains("oomdoc"), "{shell}: {out}");
    }
    assert_eq!(outcome(oomdoc().args(["completions", "tcsh"])).0, 2);
}
