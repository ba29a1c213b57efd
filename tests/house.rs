//! Rules of the house that the compiler does not see.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod binary;

use binary::{logs, root};
use oomdoc::dialect;
use oomdoc::domain::{Number, Sign};
use oomdoc::input::{Document, Source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The source files below `src`, relative to the root, with their texts.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_path_buf(), text));
            }
        }
    }
    assert!(found.len() > 100, "the sources are elsewhere");
    found
}

/// `file:line` of every line of the files that `of` accepts which holds one of `words`.
fn lines(of: impl Fn(&Path) -> bool, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| of(path)) {
        for (i, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}", path.display(), i + 1));
            }
        }
    }
    found
}

/// What a wording means is said by signs and facts, so that renaming a wording changes no diagnosis.
#[test]
fn only_dialects_and_reports_know_the_slug_of_a_wording() {
    let reads = [".wording()"];
    let elsewhere = |path: &Path| !path.starts_with("src/dialect") && !path.starts_with("src/report");
    assert_eq!(lines(elsewhere, &reads), [""; 0]);
    assert!(!lines(|path| path.starts_with("src/report"), &reads).is_empty(), "the method has another name now");
}

/// Causes and fixes weigh signs, facts and the context; the text of a message is the dialects' to read.
#[test]
fn causes_and_fixes_read_no_message() {
    let judges = |path: &Path| path.starts_with("src/cause") || path.starts_with("src/fix");
    assert_eq!(lines(judges, &[".message"]), [""; 0]);
    assert!(!lines(|path| path.starts_with("src/report"), &[".message"]).is_empty(), "the field has another name now");
}

/// A sign that no fixture shows is one that no program is known to give.
#[test]
fn every_sign_stands_in_a_fixture() {
    // The options of the command line ask without any log.
    let asked = dialect::stated::asked(&Document::from_text("-", ""));
    let mut signs: BTreeSet<Sign> = asked.signs.into_keys().collect();
    for log in logs() {
        let document = dialect::reader().read(&Source::File(root().join(log))).unwrap();
        let stated = dialect::stated::read(&document);
        for event in dialect::events(&document).iter().chain(&stated) {
            signs.extend(event.signs.keys().copied());
        }
    }
    let unseen: Vec<_> = Sign::ALL.iter().filter(|sign| !signs.contains(sign)).collect();
    assert_eq!(unseen, [] as [&Sign; 0]);
}

/// A number that no dialect writes could be weighed for ever without effect.
#[test]
fn every_number_is_written_by_a_dialect() {
    let dialects: String =
        sources().into_iter().filter(|(path, _)| path.starts_with("src/dialect")).map(|(_, text)| text).collect();
    let written: BTreeSet<&str> = dialects
        .split("Number::")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap())
        .collect();
    let unwritten: Vec<_> = Number::ALL.iter().filter(|number| !written.contains(&*format!("{number:?}"))).collect();
    assert_eq!(unwritten, [] as [&Number; 0]);
}
