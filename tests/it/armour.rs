//! What is fed to it or done to it: the fuzzer's seeds, traces made to be slow, the dependencies, and documents that
//! build servers read when there is no answer.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../fuzz/src/targets.rs"]
mod targets;

use crate::binary::{grows_linearly, oomdoc, outcome, process, root};
use oomdoc::allocator::config::{Config, TorchPlatform};
use oomdoc::allocator::device::{SimulatedDevice, Surroundings};
use oomdoc::allocator::replay::{self, Setup};
use oomdoc::allocator::trace::Trace;
use oomdoc::allocator::version::Version;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use targets::{Program, TARGETS};

/// The program itself, with the input in a file.
struct Child(PathBuf);

impl Program for Child {
    fn run(&self, arguments: &[&str], data: &[u8]) -> Option<String> {
        std::fs::write(&self.0, data).unwrap();
        let input = self.0.to_str().unwrap();
        let line = arguments.iter().map(|word| word.replace("INPUT", input));
        let done = process().args(line).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code().is_some_and(|code| code < 4), "{arguments:?}: {} {told}", done.status);
        assert!(!told.contains("panicked"), "{arguments:?}: {told}");
        Some(String::from_utf8(done.stdout).unwrap())
    }

    fn json(&self, arguments: &[&str], schema: &str, data: &[u8]) -> Option<Value> {
        let printed = self.run(arguments, data)?;
        if printed.is_empty() {
            return None;
        }
        let value: Value = serde_json::from_str(&printed).unwrap();
        let schema: Value = serde_json::from_str(schema).unwrap();
        if let Err(error) = jsonschema::validate(&schema, &value) {
            panic!("{error} at {}: {printed}", error.instance_path());
        }
        Some(value)
    }
}

/// What the fuzzer begins with and what it once found, without the fuzzer: each target on each of its seeds.
#[test]
fn every_target_holds_on_its_seeds() {
    let folder = tempfile::tempdir().unwrap();
    for (name, target) in TARGETS {
        let seeds: Vec<PathBuf> = std::fs::read_dir(root().join("fuzz/seeds").join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(!seeds.is_empty(), "{name}");
        seeds.par_iter().for_each(|seed| {
            let data = std::fs::read(seed).unwrap();
            assert!(data.len() <= 16 << 10, "{} is no small seed", seed.display());
            let input = folder.path().join(format!("{name}-{}", seed.file_name().unwrap().to_str().unwrap()));
            target(&Child(input), &data);
        });
    }
}

/// A name in the file of budgets reached terminals as it was: overrides of the direction in every form, controls in
/// annotations.
#[test]
fn what_build_servers_read_is_valid_whatever_a_job_is_called() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("peaks.csv"), "batch,peak_bytes\n4,2000000000\n8,3000000000\n").unwrap();
    let controls: String = (1..0xa0).filter_map(char::from_u32).collect();
    let names = [
        controls.as_str(),
        "]]> <![CDATA[ --> <!-- <b a=\"'\"> &amp; &#0; & \u{fffe}\u{ffff}",
        "\n::error::x\n::set-env name=x::y%0A::z, a:b",
        "\u{202e}\u{2066}\u{200b}\u{feff}\u{61c}",
        "\u{1b}]52;c;YQ==\u{7}\u{9b}31m",
        "\u{1f600} 显存 \u{10ffff}",
    ];
    let escaped = |name: &str| name.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect::<String>();
    let budgets: String = names
        .iter()
        .flat_map(|name| [(name, 8), (name, 4096)])
        .map(|(name, batch)| {
            format!(
                "[[budget]]\nname = \"{} {batch}\"\ngpu = \"T4\"\nbatch = {batch}\nmeasurements = [\"peaks.csv\"]\n",
                escaped(name)
            )
        })
        .collect();
    let child = Child(folder.path().join("oomdoc.toml"));
    let printed = child.run(&["headroom", "--check", "--budget", "INPUT", "--json"], budgets.as_bytes()).unwrap();
    let told: Value = serde_json::from_str(&printed).unwrap();
    assert!(told.to_string().contains("\u{202e}"), "JSON says the name as it is: {told}");
    targets::budget(&child, budgets.as_bytes());
}

fn setup() -> Setup {
    Setup {
        device: SimulatedDevice::new(1 << 50, 0),
        surroundings: Surroundings::default(),
        config: Config::parse("", Version::NEWEST, TorchPlatform::Linux).unwrap().0,
        version: Version::NEWEST,
        fraction: None,
        no_caching: false,
    }
}

/// Each snapshot is as large as all that is alive, and was taken where nobody looked at it.
#[test]
fn a_snapshot_after_each_request_costs_nothing_unseen() {
    let setup = setup();
    grows_linearly("snapshots", |n| {
        let text: String = (0..n).map(|i| format!("a {i} 3000000\ns\n")).collect();
        let trace = Trace::parse(&text, 4).unwrap();
        assert_eq!(replay::run(&trace, &setup, false, |_| true).unwrap().requests, 2 * n);
    });
}

/// Each walked through what is left of the segments that are in use.
#[test]
fn emptying_an_empty_cache_again_costs_nothing() {
    let setup = setup();
    grows_linearly("empty_cache", |n| {
        let mut text: String = (0..n).map(|i| format!("a {i} 30000000\n")).collect();
        text += &"e\n".repeat(n);
        let trace = Trace::parse(&text, 4).unwrap();
        assert_eq!(replay::run_silently(&trace, &setup).unwrap().stats.num_ooms, 0);
    });
}

/// What may be emptied again is: a block that came back after the cache was emptied.
#[test]
fn emptying_the_cache_again_gives_back_what_came_since() {
    let trace = "a 1 30000000\na 2 30000000\nf 1\ne\ne\nf 2\ne\n";
    let outcome = replay::run_silently(&Trace::parse(trace, 4).unwrap(), &setup()).unwrap();
    assert_eq!(outcome.stats.reserved_bytes.all.current, 0);
}

/// A licence by its expression: `OR` (also written `/`) of `AND` of names and parentheses.
fn allowed(expression: &str, allow: &BTreeSet<String>) -> bool {
    fn either(words: &mut std::iter::Peekable<std::vec::IntoIter<String>>, allow: &BTreeSet<String>) -> bool {
        let mut any = both(words, allow);
        while words.next_if(|word| word == "OR").is_some() {
            any |= both(words, allow);
        }
        any
    }
    fn both(words: &mut std::iter::Peekable<std::vec::IntoIter<String>>, allow: &BTreeSet<String>) -> bool {
        let mut all = true;
        loop {
            let one = match words.next().as_deref() {
                Some("(") => {
                    let inner = either(words, allow);
                    assert_eq!(words.next().as_deref(), Some(")"));
                    inner
                }
                Some(name) => match words.next_if(|word| word == "WITH") {
                    Some(_) => allow.contains(&format!("{name} WITH {}", words.next().unwrap())),
                    None => allow.contains(name),
                },
                None => false,
            };
            all &= one;
            if words.next_if(|word| word == "AND").is_none() {
                return all;
            }
        }
    }
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<String> = spaced.split_whitespace().map(String::from).collect();
    let mut words = words.into_iter().peekable();
    let allowed = either(&mut words, allow);
    assert_eq!(words.next(), None, "{expression}");
    allowed
}

#[test]
fn licences_are_read_as_expressions() {
    let allow = BTreeSet::from(["MIT".to_string(), "Apache-2.0".to_string()]);
    for (expression, wanted) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT/GPL-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Apache-2.0", true),
        ("(GPL-2.0 OR GPL-3.0) AND MIT", false),
        ("Apache-2.0 WITH LLVM-exception", false),
    ] {
        assert_eq!(allowed(expression, &allow), wanted, "{expression}");
    }
}

/// The dependencies as `deny.toml` has them: licences, sources, and each in one version but for those named there.
#[test]
fn dependencies_are_as_deny_toml_allows() {
    let deny: toml_edit::DocumentMut = std::fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let line = ["metadata", "--locked", "--format-version", "1", "--all-features"];
    let done = Command::new(cargo).args(line).current_dir(root()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let metadata: Value = serde_json::from_slice(&done.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);

    let strings = |item: &toml_edit::Item| -> BTreeSet<String> {
        item.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_string()).collect()
    };
    let allow = strings(&deny["licenses"]["allow"]);
    let skipped: BTreeSet<String> = deny["bans"]["skip"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skip| skip.as_inline_table().unwrap()["crate"].as_str().unwrap().to_string())
        .collect();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for package in packages {
        let (name, version) = (package["name"].as_str().unwrap(), package["version"].as_str().unwrap());
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(allowed(licence, &allow), "{name} {version}: {licence}");
        match package["source"].as_str() {
            None => assert_eq!(name, "oomdoc"),
            Some(source) => assert_eq!(source, "registry+https://github.com/rust-lang/crates.io-index", "{name}"),
        }
        let named = |skip: &&String| {
            skip.strip_prefix(name).and_then(|rest| rest.strip_prefix('@')).is_some_and(|own| {
                version.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        match skipped.iter().find(named) {
            Some(skip) => {
                used.insert(skip.clone());
            }
            None => versions.entry(name).or_default().push(version),
        }
    }
    let twice: Vec<_> = versions.iter().filter(|(_, versions)| versions.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(used, skipped, "deny.toml excuses what is not there");
}

/// The fuzz targets are a crate of its own, which no build of the project looks at: its lock file lacked a dependency
/// for weeks, and `fuzz/build.sh` refused to build.
#[test]
fn the_fuzzers_lock_file_has_the_same_dependencies() {
    let packages = |path: &str| -> BTreeMap<String, BTreeSet<String>> {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let lock: toml_edit::DocumentMut = text.parse().unwrap();
        let tables = lock["package"].as_array_of_tables().unwrap();
        let named = |item: Option<&toml_edit::Item>| -> BTreeSet<String> {
            let values = item.and_then(toml_edit::Item::as_array).into_iter().flatten();
            // Where there are two of them, their versions stand behind the names.
            values.map(|value| value.as_str().unwrap().split(' ').next().unwrap().to_string()).collect()
        };
        tables.iter().map(|one| (one["name"].as_str().unwrap().to_string(), named(one.get("dependencies")))).collect()
    };
    let (own, fuzzed) = (packages("Cargo.lock"), packages("fuzz/Cargo.lock"));
    let manifest: toml_edit::DocumentMut = std::fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let of_tests: BTreeSet<&str> =
        manifest["dev-dependencies"].as_table().unwrap().iter().map(|(name, _)| name).collect();
    let kept = |name: &&String| !of_tests.contains(name.as_str()) || manifest["dependencies"].get(name).is_some();
    let wanted: BTreeSet<&String> = own["oomdoc"].iter().filter(kept).collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    assert_eq!(fuzzed["oomdoc"].iter().collect::<BTreeSet<_>>(), wanted, "run cargo update --workspace in fuzz/");
}

/// The list of what is unsafe, and why, is in SECURITY.md.
#[test]
fn files_with_unsafe_code_are_listed() {
    let listed = std::fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let mut folders = vec![root().join("src")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            // A crate of its own, in C's terms throughout.
            if path.is_dir() && !path.ends_with("rehearse/shim") {
                folders.push(path);
            } else if path.is_file() && std::fs::read_to_string(&path).is_ok_and(|text| text.contains("(unsafe_code")) {
                let path = path.strip_prefix(root()).unwrap().display().to_string();
                assert!(listed.contains(&format!("`{path}`")), "{path}");
                found += 1;
            }
        }
    }
    let named = listed.split('`').filter(|word| word.starts_with("src/") && word.ends_with(".rs")).count();
    assert_eq!(found, named, "SECURITY.md lists files that have none");
}

/// Tags that are closed in order, attributes in quotes, no bare `&` or `<`, and one element at the top.
fn assert_well_formed(xml: &str) {
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap_or_else(|| panic!("{xml}"));
    let (mut open, mut rest, mut elements) = (Vec::new(), body.trim_end(), 0);
    while let Some((text, behind)) = rest.split_once('<') {
        assert!(!text.contains('>') && (text.trim().is_empty() || !open.is_empty()), "{text} in {xml}");
        let (tag, behind) = behind.split_once('>').unwrap();
        assert!(!tag.contains('<'), "{tag} in {xml}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{xml}"),
            None => {
                let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
                assert!(!open.is_empty() || elements == 0, "{xml}");
                elements += 1;
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
        rest = behind;
    }
    assert!(open.is_empty() && rest.is_empty() && elements > 0, "{xml}");
    for part in xml.split('&').skip(1) {
        assert!(
            ["amp;", "lt;", "gt;", "quot;", "#10;", "#13;", "#9;"].iter().any(|end| part.starts_with(end)),
            "{part}"
        );
    }
}

/// Where a rehearsal could not begin the report was an empty file, which a build server takes for a broken build.
#[test]
fn no_document_for_a_build_server_is_empty() {
    let evil = tempfile::Builder::new().prefix("a&b<c>\"d").tempdir().unwrap();
    let missing = evil.path().join("none");
    let missing = missing.to_str().unwrap();
    let lines: [&[&str]; 6] = [
        &["rehearse", "--like", "no such GPU", "--", "python", "train.py"],
        &["rehearse", "--gpu-memory", "1GiB", "--batch", "8", "--", "python", missing],
        &["headroom", "--measurements", missing, "--gpu-memory", "24GiB"],
        &["headroom", "--check", "--budget", missing],
        &["headroom", "--gpu-memory", "24GiB"],
        &["headroom", "--measure", "8=6GiB", "--measure", "16=10GiB", "--gpu-memory", "24GiB", "--batch", "64"],
    ];
    for line in lines {
        let mut arguments = line.to_vec();
        arguments.splice(1..1, ["--format", "junit"]);
        let (code, xml, told) = outcome(oomdoc().args(&arguments));
        assert_well_formed(&xml);
        assert!(!xml.contains("-0.000") && xml.contains("<testcase "), "{arguments:?}: {xml}");
        assert_eq!(code == 0, xml.contains("failures=\"0\" errors=\"0\""), "{arguments:?}: {xml}");
        assert_eq!(code == 2, told.starts_with("error: "), "{arguments:?}: {told}");
    }
}

/// A folder below the root that the tests of the project read.
#[test]
fn seeds_and_targets_agree() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let below = |folder: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| Path::new(path.file_name().unwrap()).with_extension("").display().to_string()).collect()
    };
    for folder in ["fuzz/seeds", "fuzz/fuzz_targets"] {
        assert!(below(folder).iter().map(String::as_str).eq(names.iter().copied()), "{folder}");
    }
}
