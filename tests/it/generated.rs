//! Files that are generated from the code and committed: docs, completions, man pages.
//! `UPDATE=1 cargo test --test it generated::` writes them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../messages/page.rs"]
mod page;
#[path = "../messages/shapes.rs"]
mod shapes;

use clap_complete::Shell;
use oomdoc::domain::{Fact, Number, Sign};
use oomdoc::report::rules::{Subject, page};
use oomdoc::text::Lang;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Holds what the code generates against what is committed below `folder`, for the file names that `ours` accepts.
fn compare(folder: &str, generated: BTreeMap<PathBuf, String>, ours: impl Fn(&Path) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut committed = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_file() && ours(&name) {
            committed.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for name in committed.keys().filter(|name| !generated.contains_key(*name)) {
            std::fs::remove_file(folder.join(name)).unwrap();
        }
        for (name, text) in &generated {
            std::fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let stale: Vec<_> = generated
        .iter()
        .filter(|(name, text)| committed.get(*name) != Some(text))
        .map(|(name, _)| name)
        .chain(committed.keys().filter(|name| !generated.contains_key(*name)))
        .collect();
    assert!(
        stale.is_empty(),
        "stale in {}: {stale:?}; run UPDATE=1 cargo test --test it generated::",
        folder.display()
    );
}

/// The files that a generator writes into a folder.
fn written(generate: impl FnOnce(&Path)) -> BTreeMap<PathBuf, String> {
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path());
    std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (PathBuf::from(path.file_name().unwrap()), std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

#[test]
fn docs_of_the_rules() {
    let pages = [
        ("causes.md", Subject::Causes, Lang::En),
        ("causes.zh.md", Subject::Causes, Lang::Zh),
        ("fixes.md", Subject::Fixes, Lang::En),
        ("fixes.zh.md", Subject::Fixes, Lang::Zh),
    ];
    let generated = pages.map(|(name, subject, lang)| (PathBuf::from(name), page(subject, lang))).into();
    compare("docs", generated, |name| pages.iter().any(|(page, _, _)| name == Path::new(page)));
}

/// The parts of the schema of `explain` that list words of the domain.
#[test]
fn words_in_the_schema_of_explain() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/explain.schema.json");
    let committed = std::fs::read_to_string(path).unwrap();
    let mut schema: Value = serde_json::from_str(&committed).unwrap();
    let ids = Sign::ALL.iter().map(|sign| sign.id());
    schema["$defs"]["sign"]["properties"]["id"] = json!({"type": "string", "enum": ids.collect::<Vec<_>>()});
    let facts = &mut schema["$defs"]["facts"]["properties"];
    let fixed: BTreeSet<String> = facts.as_object().unwrap().keys().cloned().collect();
    let mut extra = Map::new();
    for fact in Fact::ALL.iter().filter(|fact| !fixed.contains(fact.id())) {
        extra.insert(fact.id().into(), json!({"$ref": "#/$defs/bytes"}));
    }
    for number in Number::ALL {
        let unit = number.unit();
        extra.insert(
            number.id().into(),
            json!({"description": format!("{} Unit: {unit}.", number.doc()), "type": "number"}),
        );
    }
    extra.insert("unreadable".into(), facts["extra"]["properties"]["unreadable"].clone());
    facts["extra"] = json!({"description": "Figures outside the fixed keys.", "type": "object", "properties": extra});
    let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let name = PathBuf::from("explain.schema.json");
    compare("docs", BTreeMap::from([(name.clone(), generated)]), |path| path == name);
}

#[test]
fn docs_of_the_messages() {
    let generated = [(PathBuf::from("messages.md"), page::page(&shapes::programs()))].into();
    compare("docs", generated, |name| name == Path::new("messages.md"));
}

#[test]
fn completions() {
    let generated = written(|folder| {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            clap_complete::generate_to(shell, &mut oomdoc::cli::command(), "oomdoc", folder).unwrap();
        }
    });
    assert_eq!(generated.len(), 5);
    compare("completions", generated, |_| true);
}

#[test]
fn man_pages() {
    let generated = written(|folder| clap_mangen::generate_to(oomdoc::cli::command(), folder).unwrap());
    assert!(generated.contains_key(Path::new("oomdoc-explain.1")));
    compare("completions/man", generated, |_| true);
}
