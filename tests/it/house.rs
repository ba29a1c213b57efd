//! Rules of the house that the compiler does not see.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{logs, root};
use oomdoc::dialect;
use oomdoc::domain::{Number, Sign};
use oomdoc::input::{Document, Source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

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

/// The names of the functions in a source file, those of its tests left out.
fn functions(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    let names = code.lines().filter_map(|line| {
        let (before, rest) = line.split_once("fn ")?;
        let declares = ["", "pub", "pub(super)", "pub(crate)"].contains(&before.trim());
        declares.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_string())
    });
    names.collect()
}

/// Whoever compares the allocator with PyTorch's finds each function's counterpart, and no row of a function that is
/// gone.
#[test]
fn the_table_of_the_allocator_names_every_function() {
    let table = std::fs::read_to_string(root().join("src/allocator/upstream.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let named: BTreeSet<String> =
        rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).map(str::to_string).collect();
    assert!(named.len() > 40, "the table has another form now");
    // A text, keys and lists, without a decision of their own.
    let plumbing = [
        "expandable_assertion",
        "of_stream",
        "key",
        "insert_free",
        "remove_free",
        "insert_unmapped",
        "remove_unmapped",
        "remove_block",
    ];
    let caching = functions("src/allocator/caching.rs");
    let missing: Vec<_> =
        caching.iter().filter(|name| !plumbing.contains(&name.as_str()) && !named.contains(*name)).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    let all: BTreeSet<String> = ["caching", "expandable", "private_pool", "restore", "snapshot"]
        .iter()
        .flat_map(|file| functions(&format!("src/allocator/{file}.rs")))
        .collect();
    let gone: Vec<_> = named.difference(&all).collect();
    assert!(gone.is_empty(), "in the table only: {gone:?}");
}

/// rustfmt leaves a whole expression as it is where a literal in it is too long, so that nobody formats it; it counts a
/// character of Chinese as two columns. What is still too long stands here by room, and may only become less.
#[test]
fn lines_keep_within_the_width() {
    const WIDTH: usize = 120;
    const STILL: &[(&str, usize)] =
        &[("account", 8), ("command", 7), ("dialect", 36), ("incident", 5), ("input", 5), ("report", 40)];
    let mut long: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    for (path, text) in sources() {
        let room = path.iter().nth(1).unwrap().to_string_lossy().into_owned();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| line.width() > WIDTH) {
            long.entry(room.clone()).or_default().push(format!("{}:{}: {line}", path.display(), i + 1));
        }
    }
    for (room, lines) in &long {
        let most = STILL.iter().find(|(of, _)| of == room).map_or(0, |(_, most)| *most);
        assert!(
            lines.len() <= most,
            "{} lines of {room} are too long, {most} at most:\n{}",
            lines.len(),
            lines.join("\n")
        );
    }
    let done: Vec<_> = STILL.iter().filter(|(room, _)| !long.contains_key(*room)).collect();
    assert!(done.is_empty(), "take these rooms off the list: {done:?}");
}

/// A pattern that does not compile finds nothing, without a word: one with a class of letters, say, since the tables of
/// Unicode are left out.
#[test]
fn every_pattern_compiles() {
    let mut count = 0;
    for (path, text) in sources() {
        for (at, call) in text.match_indices("Regex::new(") {
            let part = text[at + call.len()..].trim_start();
            let pattern = part
                .strip_prefix("r#\"")
                .and_then(|rest| rest.split("\"#").next())
                .or_else(|| part.strip_prefix("r\"").and_then(|rest| rest.split('"').next()));
            let pattern = pattern.unwrap_or_else(|| panic!("{}: a pattern that is no raw literal", path.display()));
            let compiles = match text[..at].ends_with("bytes::") {
                true => regex::bytes::Regex::new(pattern).is_ok(),
                false => regex::Regex::new(pattern).is_ok(),
            };
            assert!(compiles, "{}: {pattern}", path.display());
            // Tests are built with all of the library, the program without its tables of Unicode: there a pattern that
            // needs them does not compile, and what it reads is not read.
            let head = pattern.split(')').next().unwrap_or_default();
            let plain = head.starts_with("(?") && head.contains("-u") && !head.contains(':');
            let rest = pattern.replace(r"(?-u:\b)", "");
            let tables = [r"\d", r"\w", r"\s", r"\b", r"\D", r"\W", r"\S", r"\B", r"\p", "(?i)", "(?i:", "(?ix"];
            let needs = tables.iter().any(|class| rest.contains(class));
            assert!(plain || !needs, "{}: needs tables of Unicode: {pattern}", path.display());
            count += 1;
        }
    }
    assert!(count > 5, "patterns are made elsewhere now");
}

/// What `main.rs` does not name is compiled by nobody, and its tests never run.
#[test]
fn every_file_of_tests_is_a_module_of_the_one_binary() {
    let names = |folder: &str| -> BTreeSet<String> {
        let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        files.filter_map(|file| Some(file.to_str()?.strip_suffix(".rs")?.to_string())).collect()
    };
    assert_eq!(names("tests"), BTreeSet::new(), "tests lie in tests/it");
    let main = std::fs::read_to_string(root().join("tests/it/main.rs")).unwrap();
    let modules = main.lines().filter_map(|line| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_string()));
    let mut there: BTreeSet<String> = modules.collect();
    assert!(there.remove("binary") && there.remove("fakes") && there.insert("main".into()));
    assert_eq!(there, names("tests/it"));
}
