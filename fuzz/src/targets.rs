//! What each target does with an input, and what has to hold of what is printed. The fuzzer runs the commands inside
//! its own process; the tests of the project run these functions over the seeds with the program itself.

use oomdoc::allocator::config::{Config, TorchPlatform, remarks};
use oomdoc::allocator::version::Version;
use oomdoc::rehearse::elf::{Symbols, parse_bytes};
use oomdoc::text::is_obeyed;
use serde_json::Value;

/// Whatever runs `oomdoc` with arguments, among which INPUT stands for a file that holds the data.
pub trait Program {
    /// What it prints; `None` where the input could not be laid down.
    fn run(&self, arguments: &[&str], data: &[u8]) -> Option<String>;

    /// JSON in the form of its schema; `None` where nothing is printed.
    fn json(&self, arguments: &[&str], schema: &str, data: &[u8]) -> Option<Value>;
}

/// One target: the program and the bytes.
pub type Target = fn(&dyn Program, &[u8]);

/// Every target by the name of its folder of seeds.
pub const TARGETS: [(&str, Target); 13] = [
    ("explain", explain),
    ("record", record),
    ("replay", replay),
    ("diff", diff),
    ("simulate", simulate),
    ("headroom_measurements", headroom_measurements),
    ("headroom_model", headroom_model),
    ("headroom_rehearsal", headroom_rehearsal),
    ("headroom_log", headroom_log),
    ("budget", budget),
    ("probe", probe),
    ("alloc_conf", alloc_conf),
    ("elf", elf),
];

/// A page for people, at a width and in a language that the input chooses, so that many inputs are tried rather than
/// each three times: nothing that a terminal obeys.
fn page(program: &dyn Program, arguments: &[&str], data: &[u8]) {
    let sum = data.iter().fold(data.len(), |sum, byte| sum.wrapping_add(usize::from(*byte)));
    let (width, lang) = [("40", "en"), ("80", "zh"), ("120", "en")][sum % 3];
    let mut line = arguments.to_vec();
    line.extend(["--width", width, "--lang", lang, "--color", "never"]);
    let Some(page) = program.run(&line, data) else { return };
    let obeyed = page.chars().find(|c| *c != '\n' && is_obeyed(*c));
    assert_eq!(obeyed, None, "{line:?}: {page}");
}

/// Markdown outside of its code: no tags, links and images of the input's, and every code span ends.
fn markdown(program: &dyn Program, arguments: &[&str], data: &[u8]) {
    let Some(text) = program.run(arguments, data) else { return };
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let bare = line.trim_start();
        let ticks = &bare[..bare.len() - bare.trim_start_matches('`').len()];
        match fence {
            Some(open) if bare == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 && ticks.len() == bare.len() => fence = Some(ticks),
            None => assert!(is_prose(line), "{line}\nof\n{text}"),
        }
    }
    assert_eq!(fence, None, "{text}");
}

fn is_prose(line: &str) -> bool {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        rest = match c {
            '`' => {
                let behind = &rest[ticks..];
                let Some(end) = behind.find(&rest[..ticks]) else { return false };
                &behind[end + ticks..]
            }
            '\\' => rest.get(2..).unwrap_or_default(),
            '<' => match rest.strip_prefix("<!-- -->") {
                Some(behind) => behind,
                None => return false,
            },
            '[' => return false,
            c => &rest[c.len_utf8()..],
        };
    }
    true
}

/// Logs: the report in every form, and what holds of every diagnosis.
pub fn explain(program: &dyn Program, data: &[u8]) {
    diagnosed(program, data);
    page(program, &["explain", "INPUT"], data);
    page(program, &["explain", "-v", "INPUT"], data);
    markdown(program, &["explain", "-v", "INPUT", "-f", "markdown"], data);
}

/// Records of `oomdoc run`, which `explain` knows by their first bytes.
pub fn record(program: &dyn Program, data: &[u8]) {
    diagnosed(program, data);
    page(program, &["explain", "-v", "INPUT"], data);
}

/// What holds of every diagnosis: confidences share one whole, an account without contradictions is no larger than the
/// device, and nobody is told to end the process that ran out.
fn diagnosed(program: &dyn Program, data: &[u8]) {
    let schema = include_str!("../../docs/explain.schema.json");
    let Some(report) = program.json(&["explain", "INPUT", "--json"], schema, data) else { return };
    for incident in report["incidents"].as_array().into_iter().flatten() {
        let causes = incident["causes"].as_array().cloned().unwrap_or_default();
        let sum: f64 = causes.iter().filter_map(|cause| cause["confidence"].as_f64()).sum();
        assert!(sum <= 1.001, "confidences add up to {sum}: {report}");
        let derived = &incident["derived"];
        if derived["consistent"] == true
            && let Some(capacity) = derived["capacity"]["high"].as_i64()
        {
            let entries = derived["account"].as_array().into_iter().flatten();
            let sum: i64 = entries.filter_map(|entry| entry["low"].as_i64()).sum();
            assert!(sum <= capacity, "{sum} of {capacity}: {report}");
        }
        let own = incident["facts"]["own_pid"].as_u64();
        for fix in incident["fixes"].as_array().into_iter().flatten().filter(|_| own.is_some()) {
            let text = fix.to_string();
            let end = format!("kill {}", own.unwrap_or_default());
            assert!(!text.contains(&format!("{end}\"")) && !text.contains(&format!("{end} ")), "{report}");
        }
    }
}

/// Memory snapshots, pickled and as JSON.
pub fn replay(program: &dyn Program, data: &[u8]) {
    program.json(&["replay", "INPUT", "--json"], include_str!("../../docs/replay.schema.json"), data);
    page(program, &["replay", "-v", "INPUT"], data);
    let html = ["replay", "-f", "html", "--conf", "expandable_segments:True", "--capacity", "1GiB", "INPUT"];
    program.run(&html, data);
}

/// Two snapshots, of which one is the fuzzer's.
pub fn diff(program: &dyn Program, data: &[u8]) {
    let other = "fixtures/snapshots/private-pool.pickle";
    program.json(&["diff", "INPUT", other, "--json"], include_str!("../../docs/diff.schema.json"), data);
    page(program, &["diff", other, "INPUT"], data);
}

/// Lists of requests to the allocator.
pub fn simulate(program: &dyn Program, data: &[u8]) {
    for conf in ["", "expandable_segments:True", "max_split_size_mb:64,garbage_collection_threshold:0.8"] {
        program.run(&["simulate", "--capacity", "2GiB", "--conf", conf, "INPUT"], data);
    }
}

/// Measured peaks, as CSV or the log of a training.
pub fn headroom_measurements(program: &dyn Program, data: &[u8]) {
    headroom(program, &["headroom", "--measurements", "INPUT", "--gpu-memory", "24GiB"], data);
}

/// Configurations of models. What the end of the name says is a configuration, GGUF or safetensors; here the readers are
/// asked one by one.
pub fn headroom_model(program: &dyn Program, data: &[u8]) {
    headroom(
        program,
        &["headroom", "--model", "INPUT", "--gpu-memory", "24GiB", "--seq", "512", "--no-rehearsal"],
        data,
    );
    let _ = oomdoc::headroom::model_file::safetensors(data);
    let _ = oomdoc::headroom::model_file::gguf(data);
}

/// Answers of `oomdoc rehearse`.
pub fn headroom_rehearsal(program: &dyn Program, data: &[u8]) {
    page(program, &["headroom", "--rehearsal", "INPUT"], data);
}

/// The log of a run that ran out of memory, as the evidence of headroom.
pub fn headroom_log(program: &dyn Program, data: &[u8]) {
    page(program, &["headroom", "--log", "INPUT", "--batch", "4"], data);
}

fn headroom(program: &dyn Program, line: &[&str], data: &[u8]) {
    let mut json = line.to_vec();
    json.push("--json");
    program.json(&json, include_str!("../../docs/headroom.schema.json"), data);
    page(program, line, data);
}

/// Budgets, and every form that continuous integration takes.
pub fn budget(program: &dyn Program, data: &[u8]) {
    let checked = |format| program.run(&["headroom", "--check", "--budget", "INPUT", "-f", format], data);
    for format in ["terminal", "markdown"] {
        checked(format);
    }
    for (format, holds) in FORMS {
        if let Some(text) = checked(format).filter(|text| !text.is_empty()) {
            let obeyed = text.chars().find(|c| !matches!(c, '\n' | '\t') && is_obeyed(*c));
            assert_eq!(obeyed, None, "{format}: {text}");
            holds(&text);
        }
    }
}

/// Holds a text of a form against what must be of it.
type Holds = fn(&str);

/// What build servers read, and what has to hold of it.
const FORMS: [(&str, Holds); 4] = [("github", annotations), ("junit", xml), ("sarif", sarif), ("json", json)];

/// Nothing but annotations, one a line.
fn annotations(text: &str) {
    let begins = |line: &str| ["::notice ", "::warning ", "::error "].iter().any(|level| line.starts_with(level));
    assert!(text.lines().all(begins), "{text}");
}

/// XML whose tags are closed in their order, and in which every other character may stand.
fn xml(text: &str) {
    let plain = |part: &str| {
        let allowed = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..);
        let entity = |rest: &str| {
            ["amp;", "lt;", "gt;", "quot;", "#9;", "#10;", "#13;"].iter().any(|name| rest.starts_with(name))
        };
        assert!(part.chars().all(allowed) && part.split('&').skip(1).all(entity), "{part:?} of {text}");
    };
    let mut open = Vec::new();
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    while let Some((before, behind)) = rest.split_once('<') {
        plain(before);
        let (tag, after) = behind.split_once('>').expect("a tag that ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{text}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name:?} of {text}");
        assert_eq!(attributes.matches('"').count() % 2, 0, "{attributes:?} of {text}");
        plain(attributes);
        open.push(name);
    }
    plain(rest);
    assert!(open.is_empty(), "{open:?} of {text}");
}

/// What code scanning takes in: SARIF 2.1.0 asks for these members.
fn sarif(text: &str) {
    let value: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(value["version"], "2.1.0", "{text}");
    for run in value["runs"].as_array().expect("runs") {
        let rules = run["tool"]["driver"]["rules"].as_array().map_or(0, Vec::len) as u64;
        for result in run["results"].as_array().expect("results") {
            assert!(result["message"]["text"].is_string(), "{result}");
            assert!(result["ruleIndex"].as_u64().is_some_and(|index| index < rules), "{result}");
            let level = result["level"].as_str();
            assert!(level.is_some_and(|level| ["none", "warning", "error"].contains(&level)), "{result}");
        }
    }
}

fn json(text: &str) {
    let value: Result<Value, _> = serde_json::from_str(text);
    assert!(value.is_ok(), "{text}");
}

/// Saved outputs of the drivers' tools.
pub fn probe(program: &dyn Program, data: &[u8]) {
    // A machine of a few files: to read this one takes longer than all else.
    let line = ["probe", "--root", "fixtures/host/bare-metal", "--from", "INPUT"];
    page(program, &line, data);
    let json = [&line[..], &["--json"]].concat();
    program.json(&json, include_str!("../../docs/probe.schema.json"), data);
}

/// The allocator's configuration, in every release.
pub fn alloc_conf(_: &dyn Program, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for minor in 0..=15 {
        let version = Version::new(2, minor);
        for platform in [TorchPlatform::Linux, TorchPlatform::Windows, TorchPlatform::Rocm] {
            let _ = Config::parse(text, version, platform);
            let _ = remarks(text, Some(version), platform);
        }
    }
}

/// Shared libraries, of which a rehearsal asks what they need.
pub fn elf(_: &dyn Program, data: &[u8]) {
    for symbols in [Symbols::None, Symbols::Imports, Symbols::Exports] {
        let _ = parse_bytes(data, symbols);
    }
}
