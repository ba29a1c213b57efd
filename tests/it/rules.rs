//! `oomdoc rules`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{oomdoc, outcome};
use unicode_width::UnicodeWidthStr;

fn rules() -> Vec<oomdoc::report::rules::Rule> {
    oomdoc::report::rules::all()
}

#[test]
fn the_list_has_a_line_for_every_rule() {
    for lang in ["en", "zh"] {
        let (code, out, err) = outcome(oomdoc().args(["rules", "--lang", lang]));
        assert_eq!((code, err.as_str()), (0, ""));
        for rule in rules() {
            assert!(out.lines().any(|line| line.trim_start().starts_with(rule.id)), "{} in {lang}", rule.id);
        }
        assert!(out.lines().all(|line| line.width() <= 80));
    }
}

#[test]
fn every_rule_can_be_shown_in_both_languages_and_formats() {
    for rule in rules() {
        for lang in ["en", "zh"] {
            let (code, out, _) = outcome(oomdoc().args(["rules", rule.id, "--lang", lang]));
            assert_eq!(code, 0, "{}", rule.id);
            assert!(out.lines().all(|line| line.width() <= 80), "{} {lang}:\n{out}", rule.id);
            assert!(out.lines().count() > 2, "{} {lang} says nothing", rule.id);
        }
        let (code, out, _) = outcome(oomdoc().args(["rules", rule.id, "--format", "markdown"]));
        assert!(code == 0 && out.starts_with("## ") && out.contains(rule.id), "{}", rule.id);
    }
}

#[test]
fn a_misspelt_id_is_answered_with_the_nearest() {
    let Some(rule) = rules().into_iter().next() else { return };
    let misspelt = format!("{}x", rule.id);
    let (code, out, err) = outcome(oomdoc().args(["rules", &misspelt]));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains(&format!("did you mean '{}'", rule.id)), "{err}");
    let (code, _, err) = outcome(oomdoc().args(["rules", "qqqqqqqqqqqqqq", "--lang", "zh"]));
    assert_eq!(code, 2);
    assert!(err.contains("oomdoc rules") && !err.contains("是否想找"), "{err}");
}

#[test]
fn underscores_hyphens_and_case_do_not_matter() {
    for rule in rules() {
        let other = rule.id.replace('_', "-").to_uppercase();
        assert_eq!(outcome(oomdoc().args(["rules", &other])).0, 0, "{other}");
    }
}

#[test]
fn ids_are_unique_slugs_and_both_languages_are_written() {
    let mut seen = std::collections::BTreeSet::new();
    for rule in rules() {
        assert!(seen.insert(rule.id), "{} twice", rule.id);
        assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_'));
        for text in [&rule.title, &rule.doc] {
            assert!(!text.en.trim().is_empty() && !text.zh.trim().is_empty(), "{}", rule.id);
            // A title may be a name that is the same everywhere.
            let name = text == &rule.title && text.en == text.zh;
            assert!(
                name || text.zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)),
                "{}: {}",
                rule.id,
                text.zh
            );
            assert!(!text.en.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{}: {}", rule.id, text.en);
        }
    }
}
