//! Files that are generated from the code and committed: docs, completions, man pages.
//! `UPDATE=1 cargo test --test it generated::` writes them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../messages/page.rs"]
mod page;
#[path = "../messages/shapes.rs"]
mod shapes;

use clap_complete::Shell;
use oomdoc::report::rules::{Subject, page};
use oomdoc::report::{diff, headroom, json, probe, rehearse, replay, rules};
use oomdoc::text::Lang;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Holds what the code generates against what is committed below `folder`, for the file names that `ours` accepts.
pub fn compare(folder: &str, generated: BTreeMap<PathBuf, String>, ours: impl Fn(&Path) -> bool) {
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
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("generated::");
    assert!(stale.is_empty(), "stale in {}: {stale:?}; run UPDATE=1 cargo test --test it {test}", folder.display());
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

/// The schema of a document, as it is committed.
fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(tidy));
    serde_json::to_string_pretty(&settings.into_generator().into_root_schema_for::<T>()).unwrap() + "\n"
}

/// What the types say and the derive does not see: an optional property is left out rather than null, what is missing of
/// a document that is read is no matter of one that is written, and a comment's lines are one sentence after another.
fn tidy(schema: &mut Schema) {
    for word in ["default", "readOnly"] {
        schema.remove(word);
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("\n\n", "\u{0}").replace('\n', " ").replace('\u{0}', "\n\n").replace('`', "");
    }
    let required: BTreeSet<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_string))
        .collect();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten().filter(|(name, _)| !required.contains(*name)) {
        let Some(property) = property.as_object_mut() else { continue };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                property.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
            choices.retain(|choice| choice["type"] != "null");
            if let [Value::Object(only)] = choices.as_slice() {
                let only = only.clone();
                property.remove("anyOf");
                property.extend(only);
            }
        }
    }
}

#[test]
fn schemas_of_the_documents() {
    let schemas = [
        ("diff", schema_of::<diff::Document<'static>>()),
        ("explain", schema_of::<json::Document<'static>>()),
        ("headroom", schema_of::<headroom::json::Document<'static>>()),
        ("probe", schema_of::<probe::json::Document<'static>>()),
        ("rehearse", schema_of::<rehearse::json::Document<'static>>()),
        ("rehearse-gpus", schema_of::<rehearse::json::GpuList<'static>>()),
        ("replay", schema_of::<replay::json::Document<'static>>()),
        ("rules", schema_of::<rules::Document>()),
    ];
    let generated = schemas.map(|(name, schema)| (PathBuf::from(format!("{name}.schema.json")), schema)).into();
    compare("docs", generated, |name| name.to_string_lossy().ends_with(".schema.json"));
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
            clap_complete::generate_to(shell, &mut oomdoc::cli::command(Lang::En), "oomdoc", folder).unwrap();
        }
    });
    assert_eq!(generated.len(), 5);
    compare("completions", generated, |_| true);
}

#[test]
fn man_pages() {
    for (lang, folder) in MAN_PAGES {
        let mut generated = written(|folder| clap_mangen::generate_to(oomdoc::cli::command(lang), folder).unwrap());
        assert!(generated.contains_key(Path::new("oomdoc-explain.1")));
        generated.values_mut().for_each(|text| *text = with_examples(text));
        if lang == Lang::Zh {
            generated.values_mut().for_each(|text| *text = in_chinese(text));
        }
        compare(folder, generated, |_| true);
    }
}

/// Where `man` looks for a language's pages below a folder of English ones.
const MAN_PAGES: [(Lang, &str); 2] = [(Lang::En, "man"), (Lang::Zh, "man/zh_CN")];

/// The names that the sections of a page have by convention, and what the generator says by itself.
fn in_chinese(page: &str) -> String {
    const SECTIONS: [(&str, &str); 8] = [
        ("NAME", "名称"),
        ("SYNOPSIS", "概要"),
        ("DESCRIPTION", "描述"),
        ("OPTIONS", "选项"),
        ("SUBCOMMANDS", "子命令"),
        ("VERSION", "版本"),
        ("EXAMPLES", "示例"),
        ("EXIT STATUS", "退出状态"),
    ];
    let line = |line: &str| match line.strip_prefix(".SH ") {
        Some(name) => SECTIONS
            .iter()
            .find(|(english, _)| *english == name.trim_matches('"'))
            .map_or(line.to_string(), |(_, chinese)| format!(".SH {chinese}")),
        // Sentences without spaces fill no line to both edges.
        None if line.starts_with(".TH") => format!("{line}\n.ad l"),
        None => breakable(&line.replace("[default: ", "[默认：").replace("Possible values:", "可选值：")),
    };
    page.lines().map(|text| line(text) + "\n").collect()
}

/// A formatter breaks lines at spaces only: between two Chinese characters it is told that it may.
fn breakable(line: &str) -> String {
    let is_wide = |c: char| ('\u{3000}'..='\u{9fff}').contains(&c) || ('\u{ff00}'..='\u{ffef}').contains(&c);
    let mut out = String::new();
    let mut before = ' ';
    for c in line.chars() {
        // No line begins with a mark that ends something.
        if is_wide(before) && is_wide(c) && !"，。；、：）".contains(c) {
            out += "\\:";
        }
        out.push(c);
        before = c;
    }
    out
}

/// What stands below the help of a command comes as one section "EXTRA", whose lines of examples a formatter fills like
/// prose: here each keeps its line, and every paragraph of prose is one.
fn with_examples(page: &str) -> String {
    let mut out = String::new();
    let (mut below, mut as_it_is) = (false, false);
    for line in page.lines() {
        below = if line.starts_with(".SH") { line == ".SH EXTRA" } else { below };
        let example = below && line.starts_with("  ");
        if example != as_it_is {
            out += if example { ".nf\n" } else { ".fi\n" };
            as_it_is = example;
        }
        match line {
            ".SH EXTRA" => {}
            "Examples:" | "示例：" if below => out += ".SH EXAMPLES\n",
            "" if below => out += ".PP\n",
            _ if below && ["Exit codes", "退出码"].iter().any(|word| line.starts_with(word)) => {
                out += &format!(".SH EXIT STATUS\n{line}\n")
            }
            line => out += &format!("{line}\n"),
        }
    }
    out + if as_it_is { ".fi\n" } else { "" }
}

/// A formatter says nothing against any page, and shows an example on a line of its own.
#[test]
fn man_pages_render() {
    let folders = MAN_PAGES.map(|(_, folder)| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    for page in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let done = std::process::Command::new("groff")
            .args(["-K", "utf8", "-man", "-ww", "-T", "utf8", "-P", "-cbou"])
            .arg(&page)
            .output();
        let Ok(done) = done else { return crate::binary::skipped("there is no groff") };
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{}", page.display());
        let shown = String::from_utf8(done.stdout).unwrap();
        assert!(!shown.contains("EXTRA"), "{}", page.display());
        if page.ends_with("oomdoc-explain.1") {
            let example = |line: &str| line.trim_start().starts_with("oomdoc explain slurm-*.out logs/  ");
            assert!(shown.lines().any(example), "{shown}");
        }
    }
}
