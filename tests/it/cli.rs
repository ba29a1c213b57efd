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

/// Nobody who pastes the name of a log knows of commands yet.
#[test]
fn a_file_in_the_place_of_a_command_is_explained() {
    let log = "fixtures/logs/pytorch/epoch-five.log";
    let said = outcome(oomdoc().args([log, "--format", "json"]));
    assert_eq!(said, outcome(oomdoc().args(["explain", log, "--format", "json"])));
    assert_eq!(said.0, 0);
    let (code, _, err) = outcome(oomdoc().arg("explian"));
    assert!(code == 2 && err.contains("explain"), "a misspelt command is told as one: {err}");
}

/// Who asks for budgets and has none is shown the smallest file that would do, and it does.
#[test]
fn the_smallest_file_of_budgets_is_shown_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = outcome(oomdoc().args(["headroom", "--check"]).current_dir(folder.path()));
    assert_eq!(code, 2);
    let (_, example) = err.split_once("[[budget]]").unwrap();
    std::fs::write(folder.path().join("oomdoc.toml"), format!("[[budget]]{example}")).unwrap();
    std::fs::write(folder.path().join("peaks.csv"), "batch,peak_bytes\n4,2000000000\n8,3000000000\n").unwrap();
    let (code, out, err) = outcome(oomdoc().args(["headroom", "--check", "--lang", "en"]).current_dir(folder.path()));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("train"), "{out}");
}

#[test]
fn help_is_in_the_language_that_is_asked_for() {
    let pages = [&["--help"][..], &["explain", "--help"], &["headroom", "-h"], &["rehearse", "--help"], &["run", "-h"]];
    for page in pages {
        let english = outcome(oomdoc().args(page));
        let locale = outcome(oomdoc().args(page).env("LANG", "zh_CN.UTF-8"));
        let asked = outcome(oomdoc().args(page).env("OOMDOC_LANG", "zh"));
        assert_eq!(locale, asked, "{page:?}");
        assert_eq!((asked.0, asked.2.as_str()), (0, ""), "{page:?}");
        // The same options and commands, whatever is said of them.
        let flags = |text: &str| -> std::collections::BTreeSet<String> {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_string).collect()
        };
        assert_eq!(flags(&english.1), flags(&asked.1), "{page:?}");
        assert!(asked.1.contains("用法：") && !asked.1.contains("Usage:") && !asked.1.contains("Options:"), "{page:?}");
        assert!(asked.1.lines().all(|line| line.width() <= 100), "{page:?}: {}", asked.1);
        // The option wins over the surroundings, before and behind the command.
        let back = outcome(oomdoc().args(["explain", "--lang=en", "--help"]).env("LANG", "zh_CN.UTF-8"));
        assert!(back.1.contains("Usage:"), "{}", back.1);
    }
    let said = outcome(oomdoc().args(["explain", "--lang", "zh", "fixtures/logs/pytorch/epoch-five.log"]));
    assert_eq!(said.0, 0, "the grammar in Chinese takes the same line: {}", said.2);
}

#[test]
fn a_wrong_command_line_is_told_in_the_language_that_is_asked_for() {
    let cases: [(&[&str], &str); 4] = [
        (&["explain", "--no-such-option"], "错误：没有 '--no-such-option' 这个参数"),
        (&["explain", "--params", "many"], "不是参数量；请写 350M 或 7B"),
        (&["explian"], "没有 'explian' 这个命令"),
        (&[], "用法：oomdoc <命令>\n\n命令："),
    ];
    for (words, said) in cases {
        let (code, out, err) = outcome(oomdoc().args(words).env("LANG", "zh_CN.UTF-8"));
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert!(err.contains(said) && !err.contains("Usage") && !err.contains("error"), "{words:?}: {err}");
        let (code, _, english) = outcome(oomdoc().args(words));
        assert!(code == 2 && english.contains("Usage:") | english.contains("error:"), "{words:?}: {english}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("oomdoc.toml"), "[[budget]]\nname = \"a\"\nheadroom = \"much\"\ngpu = \"T4\"\n")
        .unwrap();
    let mut check = oomdoc();
    let (code, _, err) = outcome(check.args(["headroom", "--check", "--lang", "zh"]).current_dir(folder.path()));
    assert!(code == 2 && err.contains("请写 5% 这样的比例"), "{err}");
}
