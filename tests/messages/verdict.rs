//! What `explain` made of a log, held against what is printed in it.

use super::mutate::Variant;
use super::shapes::{Outcome, Placed, Shape};
use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::dialect::{naming, net};
use oomdoc::domain::Fact;
use oomdoc::incident::context::Given;
use oomdoc::input::Document;
use oomdoc::report::json;
use oomdoc::text::Lang;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A key of the contract whose figure is another than the printed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub fact: String,
    pub got: u64,
    /// What was printed for it; empty where nothing was.
    pub printed: Vec<u64>,
}

/// What was right and what wrong about one log.
#[derive(Debug, Default)]
pub struct Verdict {
    /// A failure was reported, or, of a message that is none, was not.
    pub outcome: bool,
    /// The program is called by one of its names.
    pub named: bool,
    pub resource: bool,
    pub exact: usize,
    pub unknown: usize,
    pub wrong: Vec<Wrong>,
    /// All figures are printed, but by two different ranks.
    pub mixed: bool,
    pub framework: String,
    pub dialect: String,
    pub resource_got: String,
    pub unknown_facts: Vec<String>,
}

/// The whole report on a text, as `oomdoc explain --format json` prints it.
pub fn explain(text: &str) -> Value {
    let document = Document::from_text("-", text);
    let given = Given::default();
    serde_json::to_value(json::document(&diagnose(vec![FileEvents::of(&document, &given)], &given), Lang::En))
        .expect("a document is JSON")
}

/// The incident of a report that is asked about.
fn primary_of(report: &Value) -> Option<&Value> {
    report["incidents"].as_array()?.iter().find(|incident| incident["primary"] == true)
}

pub fn judge(shape: &Shape, variant: &Variant) -> Verdict {
    let report = explain(&variant.text);
    let primary = primary_of(&report).filter(|incident| incident["survived"] != true);
    let mut verdict =
        Verdict { outcome: primary.is_some() == (shape.outcome == Outcome::Failure), ..Verdict::default() };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    if let Some(incident) = primary {
        verdict.framework = text(&incident["framework"]);
        verdict.dialect = text(&incident["dialect"]);
        verdict.resource_got = text(&incident["resource"]);
        verdict.resource = verdict.resource_got == shape.resource;
        // A name has no blank in a report: `grid-engine` is the grid engine.
        let is = |told: &str| shape.names.iter().any(|name| name == told || name.replace(' ', "-") == told);
        verdict.named = is(&verdict.framework) || is(&text(&incident["program"]));
    }
    if shape.outcome == Outcome::Failure {
        let got = primary.map(|incident| facts(&incident["facts"])).unwrap_or_default();
        figures(&got, variant, &mut verdict);
        // Where the report leaves both meanings of a unit open, the printed one is not contradicted: it stays unknown.
        let derived = primary.map(|incident| &incident["derived"]);
        let open = |wrong: &Wrong| {
            // A limit's range stands under what it caps.
            let name = match wrong.fact.trim_end_matches("_bytes") {
                "limit" => "cap",
                name => name,
            };
            let range = derived.and_then(|derived| derived.get(name));
            let end = |name: &str| range.and_then(|range| range[name].as_u64());
            let (Some(low), Some(high)) = (end("low"), end("high")) else { return false };
            !wrong.printed.is_empty() && wrong.printed.iter().all(|printed| (low..=high).contains(printed))
        };
        let (left, wrong) = std::mem::take(&mut verdict.wrong).into_iter().partition(open);
        verdict.wrong = wrong;
        verdict.unknown += Vec::<Wrong>::len(&left);
        verdict.unknown_facts.extend(left.into_iter().map(|wrong| wrong.fact));
    }
    verdict
}

/// The names that show around a failure which the net reads.
pub fn names_shown(text: &str) -> Option<Vec<naming::Shown>> {
    let report = explain(text);
    let primary = primary_of(&report)?;
    let line = primary["line"].as_u64().filter(|_| primary["dialect"] == "net")?;
    let document = Document::from_text("-", text);
    let position = document.lines.iter().position(|at| at.number == line)?;
    Some(naming::shown(&document, position))
}

/// The terms around the message of a text: the first that a reader finds, else the first line that speaks of memory.
pub fn terms_around(text: &str) -> Option<BTreeSet<String>> {
    let document = Document::from_text("-", text);
    let read = oomdoc::dialect::events(&document).first().and_then(|event| document.position(event.at.first));
    Some(net::terms(&document, read.or_else(|| net::speaks_of_memory(&document))?))
}

/// True where the failure that the report is about is one that no reader knows, or where there is none.
pub fn is_unknown(text: &str) -> bool {
    primary_of(&explain(text)).is_none_or(|incident| incident["dialect"] == "net")
}

/// What the net tells of a text: the sizes by key, where its message is the one that ended the job.
pub fn told_by_the_net(text: &str) -> Option<BTreeMap<String, Vec<u64>>> {
    let report = explain(text);
    let primary = primary_of(&report)?;
    let mut told = facts(&primary["facts"]);
    told.retain(|key, _| key.ends_with("_bytes"));
    (primary["dialect"] == "net").then_some(told)
}

/// The figures of an incident by key; a key may have several (other processes).
fn facts(facts: &Value) -> BTreeMap<String, Vec<u64>> {
    let mut got: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (key, value) in facts.as_object().into_iter().flatten() {
        if let Some(number) = value.as_u64() {
            got.entry(key.clone()).or_default().push(number);
        }
    }
    // Sizes that the contract does not name stand among the extras, with counts that are none.
    for fact in Fact::ALL {
        if let Some(number) = facts["extra"][fact.id()].as_u64() {
            got.entry(fact.id().to_string()).or_default().push(number);
        }
    }
    for process in facts["other_processes"].as_array().into_iter().flatten() {
        for (key, name) in [("bytes", "other_processes.bytes"), ("pid", "other_processes.pid")] {
            got.entry(name.to_string()).or_default().extend(process[key].as_u64());
        }
    }
    got
}

/// Keys that say the same of a figure in other words: a need may be told as a request, what is free as what is
/// available.
const ALIKE: &[&[&str]] = &[
    &["requested_bytes", "needed_bytes", "desired_bytes"],
    &["free_bytes", "available_bytes"],
    &["allocated_bytes", "used_bytes", "process_bytes", "other_processes.bytes", "reserved_bytes", "anon_rss_bytes"],
    &["capacity_bytes", "limit_bytes", "fraction_limit_bytes"],
    &["used_bytes", "peak_bytes", "anon_rss_bytes"],
    &["pid", "other_processes.pid"],
    &["needed_bytes", "weights_bytes", "desired_bytes"],
    &["limit_bytes", "desired_bytes", "capacity_bytes"],
];

fn alike(fact: &str) -> impl Iterator<Item = &'static str> + '_ {
    ALIKE.iter().filter(move |group| group.contains(&fact)).flat_map(|group| group.iter().copied())
}

fn close(a: u64, b: u64) -> bool {
    a.abs_diff(b) <= 1
}

fn figures(got: &BTreeMap<String, Vec<u64>>, variant: &Variant, verdict: &mut Verdict) {
    let mut printed: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for figure in variant.figures.iter().flatten().filter(|figure| !figure.fact.is_empty()) {
        printed.entry(&figure.fact).or_default().insert(figure.value);
    }
    printed.retain(|fact, _| !fact.starts_with("table."));
    for (fact, values) in &printed {
        let right = |key: &str| {
            got.get(key).is_some_and(|got| got.iter().any(|got| values.iter().any(|value| close(*got, *value))))
        };
        if right(fact) || alike(fact).any(right) {
            verdict.exact += 1;
        } else {
            verdict.unknown += 1;
            verdict.unknown_facts.push((*fact).to_string());
        }
    }
    let mut any = None;
    let of_shapes = tensors(&variant.printed);
    for (fact, values) in got {
        for value in values {
            // A figure under a key that the shape does not ask for may still be one that stands in the message.
            let right = match printed.get(fact.as_str()) {
                Some(printed) => printed.iter().chain(&of_shapes).any(|printed| close(*printed, *value)),
                None => any.get_or_insert_with(|| numbers(variant)).iter().any(|printed| close(*printed, *value)),
            };
            // The same quantity twice in one message under one key: said of a peak and of a sum, of each of two pools.
            if !right {
                let printed = printed.get(fact.as_str()).into_iter().flatten().copied().collect();
                verdict.wrong.push(Wrong { fact: fact.clone(), got: *value, printed });
            }
        }
    }
    verdict.unknown -=
        verdict.unknown_facts.iter().filter(|fact| verdict.wrong.iter().any(|w| w.fact == **fact)).count();
    if variant.figures.len() > 1 && verdict.wrong.is_empty() {
        let of_one = |figures: &Vec<Placed>| {
            printed.keys().all(|fact| {
                let mut values = figures.iter().filter(|figure| figure.fact == **fact).map(|figure| figure.value);
                got.get(*fact).is_none_or(|got| values.any(|value| got.iter().any(|got| close(*got, value))))
            })
        };
        verdict.mixed = !variant.figures.iter().any(of_one);
    }
}

/// Every amount that a number of the printed text can mean.
fn numbers(variant: &Variant) -> Vec<u64> {
    const UNITS: [f64; 12] = [
        1.0,
        1024.0,
        1_048_576.0,
        1_073_741_824.0,
        1_099_511_627_776.0,
        1e3,
        1e6,
        1e9,
        1e12,
        4096.0,
        16_384.0,
        65_536.0,
    ];
    let mut out = Vec::new();
    let text = variant.printed.as_str();
    let mut start = None;
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let part = c.is_ascii_digit() || (start.is_some() && (c == '.' || c == ','));
        match (part, start) {
            (true, None) => start = Some(i),
            (false, Some(from)) => {
                let token = text[from..i].trim_end_matches(['.', ',']);
                for token in [token.replace(',', ""), token.replace(',', ".")] {
                    if let Ok(number) = token.parse::<f64>() {
                        out.extend(UNITS.iter().map(|unit| (number * unit).round() as u64));
                    }
                }
                start = None;
            }
            _ => {}
        }
    }
    let hexadecimal = text.split("0x").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        u64::from_str_radix(&rest[..end], 16).ok()
    });
    out.extend(hexadecimal);
    out.extend(tensors(text));
    out.extend(variant.figures.iter().flatten().map(|figure| figure.value));
    out
}

/// What the shapes of tensors in a text tell of their sizes, for elements of 1 to 8 bytes.
fn tensors(text: &str) -> Vec<u64> {
    let mut out = Vec::new();
    for list in text.split(['[', '(']).skip(1).filter_map(|rest| rest.split([']', ')']).next()) {
        let sides: Option<Vec<u64>> = list.split(',').map(|side| side.trim().parse().ok()).collect();
        let elements = sides.and_then(|sides| sides.iter().try_fold(1_u64, |a, b| a.checked_mul(*b)));
        out.extend(elements.into_iter().flat_map(|elements| [1, 2, 4, 8].map(|size| elements.saturating_mul(size))));
    }
    out
}
