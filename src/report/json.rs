//! The JSON of the contract (`docs/explain.schema.json`), for programs.
//!
//! Bytes are integers. What is not known is absent: never 0, never a guess.

use super::{Diagnosis, Explanation, InputSummary, surroundings, wording};
use crate::account::proof::Holds;
use crate::account::{Entry, Holder, LoaderAccount};
use crate::cause::conclusion::{Conclusion, Family};
use crate::cause::decide::Observation;
use crate::cause::{mechanism, nature};
use crate::dialect::{Event, Fact, Facts};
use crate::evidence::Evidence;
use crate::fix::{Fix, Frees, Ranked};
use crate::incident::context::Series;
use crate::incident::recording::{Trial, Verdict};
use crate::incident::{Context, Incident, Recording};
use crate::text::{Lang, Text};
use crate::units::Interval;
use serde_json::{Map, Value, json};

/// Readings of one series that are printed at most; longer ones are thinned evenly, first and last kept.
const READINGS: usize = 200;

/// The explanation as one JSON document, its prose in `lang`.
pub fn render(explanation: &Explanation, lang: Lang) -> Value {
    let mut out = Map::new();
    out.insert("schema".into(), "oomdoc.explain/1".into());
    out.insert("tool".into(), json!({"name": "oomdoc", "version": env!("CARGO_PKG_VERSION")}));
    if let Some(first) = explanation.inputs.first() {
        out.insert("input".into(), input(first));
    }
    if explanation.inputs.len() > 1 {
        out.insert("inputs".into(), explanation.inputs.iter().map(input).collect());
    }
    let incidents = explanation.diagnoses.iter().map(|diagnosis| incident(explanation, diagnosis, lang)).collect();
    out.insert("incidents".into(), incidents);
    if !explanation.snapshots.is_empty() {
        let snapshots = explanation.snapshots.iter().map(|snapshot| {
            json!({
                "source": snapshot.source,
                "bytes": snapshot.bytes,
                "devices": snapshot.devices,
                "proves": snapshot.proves,
            })
        });
        out.insert("snapshots".into(), snapshots.collect());
    }
    if !explanation.watched.is_empty() {
        out.insert("timeline".into(), super::timeline::json(&explanation.watched));
    }
    let harmless = explanation.harmless.iter().map(|event| message(event, lang)).collect();
    out.insert("harmless".into(), harmless);
    Value::Object(out)
}

fn input(summary: &InputSummary) -> Value {
    json!({
        "source": summary.source,
        "bytes": summary.bytes,
        "lines": summary.lines,
        "encoding": summary.encoding,
        "repairs": summary.repairs.iter().map(|repair| repair.id()).collect::<Vec<_>>(),
    })
}

fn incident(explanation: &Explanation, diagnosis: &Diagnosis, lang: Lang) -> Value {
    let event = &diagnosis.incident.event;
    let mut out = Map::new();
    out.insert("primary".into(), diagnosis.incident.primary.into());
    out.insert("framework".into(), event.program.id().into());
    if let Some(program) = nature::program(&diagnosis.incident) {
        out.insert("program".into(), program.into());
    }
    if let Some(kind) = nature::job_kind(&diagnosis.incident) {
        out.insert("kind".into(), kind.id().into());
    }
    out.insert("asker".into(), nature::asker(&diagnosis.incident).id().into());
    out.insert("dialect".into(), event.wording().into());
    out.insert("resource".into(), event.resource.id().into());
    if explanation.inputs.len() > 1
        && let Some(summary) = explanation.inputs.get(diagnosis.input)
    {
        out.insert("source".into(), summary.source.as_str().into());
    }
    if !event.at.is_given() {
        out.insert("line".into(), event.at.first.into());
        out.insert("last_line".into(), event.at.last.into());
    }
    if let Some(rank) = event.rank {
        out.insert("rank".into(), rank.into());
    }
    out.insert("message".into(), event.message.as_str().into());
    out.insert("facts".into(), facts(&event.facts));
    if !event.signs.is_empty() {
        let signs = event.signs.iter().map(|(sign, at)| json!({"id": sign, "line": at.first}));
        out.insert("signs".into(), signs.collect());
    }
    if let Some(versions) = event.versions {
        let mut range = Map::new();
        let version = |(major, minor): (u16, u16)| Value::from(format!("{major}.{minor}"));
        if let Some(from) = versions.from {
            range.insert("from".into(), version(from));
        }
        if let Some(to) = versions.to {
            range.insert("to".into(), version(to));
        }
        out.insert("versions".into(), Value::Object(range));
    }
    out.insert("derived".into(), derived(&diagnosis.incident, lang));
    out.insert("context".into(), context(&diagnosis.incident.context));
    if let Some(recording) = &diagnosis.incident.recording {
        out.insert("snapshot".into(), snapshot(recording, lang));
    }
    if !diagnosis.incident.ranks.is_empty() {
        let ranks = diagnosis.incident.ranks.iter().map(|fall| {
            let mut out = Map::new();
            if let Some(rank) = fall.rank {
                out.insert("rank".into(), rank.into());
            }
            if let Some(device) = fall.device {
                out.insert("device".into(), device.into());
            }
            if explanation.inputs.len() > 1
                && let Some(summary) = explanation.inputs.get(fall.file)
            {
                out.insert("source".into(), summary.source.as_str().into());
            }
            out.insert("line".into(), fall.line.into());
            Value::Object(out)
        });
        out.insert("ranks".into(), ranks.collect());
    }
    if !diagnosis.incident.followers.is_empty() {
        let followers = diagnosis.incident.followers.iter().map(|event| message(event, lang)).collect();
        out.insert("followers".into(), followers);
    }
    let causes = diagnosis.findings.iter().map(|finding| {
        json!({
            "id": finding.cause.id.id(),
            "title": (finding.cause.title)().in_lang(lang),
            // Cut, not rounded, so that the shares never add up to more than 1.
            "confidence": (finding.confidence * 1e4).floor() / 1e4,
            "proved": finding.proved,
            "evidence": finding.evidence.iter().map(|e| evidence(e, lang)).collect::<Vec<_>>(),
            "refute": finding.refute.in_lang(lang),
        })
    });
    out.insert("conclusion".into(), diagnosis.conclusion.id().into());
    if let Some(first) = diagnosis.findings.first() {
        let family = match diagnosis.conclusion {
            Conclusion::Family(family) => family,
            _ => Family::of(first.cause.id),
        };
        out.insert("family".into(), family.id().into());
    }
    out.insert("causes".into(), causes.collect());
    if !diagnosis.decide.is_empty() {
        out.insert("decide".into(), diagnosis.decide.iter().map(|observation| decide(observation, lang)).collect());
    }
    out.insert("mechanisms".into(), mechanisms(&diagnosis.incident, lang));
    out.insert("fixes".into(), diagnosis.plan.offers.iter().map(|ranked| offer(ranked, lang)).collect());
    out.insert("wont_help".into(), dismissed(&diagnosis.plan.wont_help, lang));
    if !diagnosis.plan.withheld.is_empty() {
        out.insert("withheld".into(), dismissed(&diagnosis.plan.withheld, lang));
    }
    Value::Object(out)
}

/// An observation that would decide, with what each outcome means.
fn decide(observation: &Observation, lang: Lang) -> Value {
    let outcomes = observation.outcomes.iter();
    let outcomes: Vec<Value> =
        outcomes.map(|outcome| json!({"see": outcome.see.in_lang(lang), "then": outcome.then.id()})).collect();
    json!({
        "id": observation.id,
        "do": observation.act.in_lang(lang),
        "for": observation.target,
        "if": outcomes,
    })
}

/// Everything that was read off the incident to tell causes apart, whether or not it speaks for one.
fn mechanisms(incident: &Incident, lang: Lang) -> Value {
    mechanism::readings(incident)
        .into_iter()
        .map(|(mechanism, reading)| {
            json!({
                "id": mechanism.id,
                "level": reading.level,
                "text": reading.text.in_lang(lang),
                "lines": reading.lines,
            })
        })
        .collect()
}

/// What a memory snapshot says about an incident.
fn snapshot(recording: &Recording, lang: Lang) -> Value {
    let mut out = Map::new();
    out.insert("source".into(), recording.source.as_str().into());
    out.insert("device".into(), recording.device.into());
    out.insert("match".into(), recording.standing.id().into());
    out.insert("about".into(), recording.about().in_lang(lang).into());
    out.insert("events".into(), recording.events.into());
    for (name, value) in [
        ("requested_bytes", recording.requested),
        ("device_free_bytes", recording.device_free),
        ("active_bytes", Some(recording.active)),
        ("reserved_bytes", Some(recording.reserved)),
        ("cached_bytes", Some(recording.cached)),
        ("cached_in_private_pools_bytes", Some(recording.cached_in_private_pools)),
        ("pieces", Some(recording.pieces)),
        ("largest_piece_bytes", Some(recording.largest_piece)),
        ("least_bytes", Some(recording.least)),
        ("taken_meanwhile_bytes", recording.taken_meanwhile()),
        ("event", recording.event.map(u64::from)),
    ] {
        if let Some(value) = value {
            out.insert(name.into(), value.into());
        }
    }
    if let Some((low, high)) = recording.budget {
        let mut budget = Map::new();
        budget.insert("low".into(), low.into());
        if let Some(high) = high {
            budget.insert("high".into(), high.into());
        }
        out.insert("budget".into(), Value::Object(budget));
    }
    if let Some(conf) = &recording.conf {
        out.insert("conf".into(), conf.as_str().into());
    }
    out.insert("faithful".into(), recording.faithful.into());
    out.insert("trials".into(), recording.trials.iter().map(|entry| trial(entry, lang)).collect());
    if let Some(rise) = &recording.growth {
        let places = rise.places.iter().map(|(place, bytes)| json!({"place": place.in_lang(lang), "bytes": bytes}));
        let growth = json!({
            "by_steps": rise.by_steps,
            "first_bytes": rise.first,
            "last_bytes": rise.last,
            "windows": rise.windows,
            "per_window_bytes": rise.per_window,
            "places": places.collect::<Vec<_>>(),
        });
        out.insert("growth".into(), growth);
    }
    let holders = recording.holders.iter().map(|held| {
        json!({
            "place": held.place.in_lang(lang),
            "own_code": held.own_code,
            "bytes": held.bytes,
            "blocks": held.blocks,
            "category": held.category.id(),
            "certainty": held.certainty.id(),
        })
    });
    out.insert("holders".into(), holders.collect());
    out.insert("notes".into(), recording.notes.iter().map(|note| note.in_lang(lang)).collect());
    Value::Object(out)
}

fn trial(trial: &Trial, lang: Lang) -> Value {
    let mut out = Map::new();
    out.insert("change".into(), trial.change.id().into());
    out.insert("name".into(), trial.name.in_lang(lang).into());
    out.insert("conf".into(), trial.conf.as_str().into());
    let outcome = match &trial.verdict {
        Verdict::Serves { peak_reserved, to_the_end } => {
            out.insert("peak_reserved_bytes".into(), (*peak_reserved).into());
            out.insert("to_the_end".into(), (*to_the_end).into());
            "serves"
        }
        Verdict::Fails { bytes } => {
            out.insert("fails_on_bytes".into(), (*bytes).into());
            "fails"
        }
        Verdict::Unclear => "unclear",
        Verdict::Refused(why) => {
            out.insert("why".into(), why.in_lang(lang).into());
            "refused"
        }
    };
    out.insert("outcome".into(), outcome.into());
    if let Some(saves) = trial.saves {
        out.insert("saves_bytes".into(), signed_number(saves));
    }
    Value::Object(out)
}

fn signed_number(bytes: i128) -> Value {
    i64::try_from(bytes).unwrap_or(if bytes < 0 { i64::MIN } else { i64::MAX }).into()
}

fn evidence(evidence: &Evidence, lang: Lang) -> Value {
    let lines: Vec<u64> = evidence.lines.iter().copied().filter(|line| *line > 0).collect();
    let mut out = json!({
        "id": evidence.id,
        "text": evidence.text.in_lang(lang),
        "lines": lines,
        "log_odds": round(evidence.weight, 3),
    });
    if let (Some(entry), Some(out)) = (&evidence.entry, out.as_object_mut()) {
        let mut place = Map::new();
        place.insert("source".into(), entry.source.as_str().into());
        if let Some(event) = entry.event {
            place.insert("event".into(), event.into());
        }
        out.insert("snapshot".into(), Value::Object(place));
    }
    out
}

/// A message other than the failure itself, in short.
fn message(event: &Event, lang: Lang) -> Value {
    let mut out = Map::new();
    out.insert("line".into(), event.at.first.into());
    out.insert("framework".into(), event.program.id().into());
    out.insert("dialect".into(), event.wording().into());
    out.insert("resource".into(), event.resource.id().into());
    if let Some(rank) = event.rank {
        out.insert("rank".into(), rank.into());
    }
    out.insert("message".into(), event.message.as_str().into());
    if let Some(why) = &event.harmless_because {
        out.insert("why".into(), why.in_lang(lang).into());
    }
    let facts = facts(&event.facts);
    if facts.as_object().is_some_and(|facts| !facts.is_empty()) {
        out.insert("facts".into(), facts);
    }
    Value::Object(out)
}

/// Facts whose keys the contract fixes; the others go under `extra`.
fn in_contract(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::Requested
            | Fact::Capacity
            | Fact::Limit
            | Fact::Free
            | Fact::Allocated
            | Fact::Reserved
            | Fact::ReservedUnallocated
            | Fact::Process
            | Fact::FractionLimit
            | Fact::Peak
            | Fact::LargestFreeChunk
            | Fact::TotalVm
            | Fact::AnonRss
            | Fact::FileRss
            | Fact::ShmemRss
    )
}

fn facts(facts: &Facts) -> Value {
    let mut out = Map::new();
    let mut extra = Map::new();
    for (fact, figure) in &facts.sizes {
        let place = if in_contract(*fact) { &mut out } else { &mut extra };
        place.insert(fact.id().into(), figure.bytes.into());
    }
    if let Some(device) = facts.device.value() {
        out.insert("device".into(), device.into());
    }
    if !facts.other_processes.is_empty() {
        let list = facts.other_processes.iter().map(|p| json!({"pid": p.pid, "bytes": p.figure.bytes})).collect();
        out.insert("other_processes".into(), Value::Array(list));
    }
    if let Some(pid) = facts.pid.value() {
        out.insert("pid".into(), pid.into());
    }
    if let Some(name) = facts.process_name.get() {
        out.insert("process_name".into(), name.as_str().into());
    }
    if let Some(cgroup) = facts.cgroup.get() {
        out.insert("cgroup".into(), cgroup.as_str().into());
    }
    for (name, (value, _)) in &facts.numbers {
        extra.insert(name.id().into(), number(*value));
    }
    if !facts.unreadable.is_empty() {
        let names = facts.unreadable.keys().map(|fact| fact.id()).collect::<Vec<_>>();
        extra.insert("unreadable".into(), json!(names));
    }
    if !extra.is_empty() {
        out.insert("extra".into(), Value::Object(extra));
    }
    Value::Object(out)
}

/// A count as an integer, a ratio as a fraction.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

fn bytes(amount: i128) -> Value {
    match u64::try_from(amount) {
        Ok(n) => n.into(),
        Err(_) => i64::try_from(amount).unwrap_or(if amount < 0 { i64::MIN } else { i64::MAX }).into(),
    }
}

fn range(interval: Interval) -> Value {
    json!({"low": bytes(interval.low), "high": bytes(interval.high)})
}

fn derived(incident: &Incident, lang: Lang) -> Value {
    let ledger = &incident.ledger;
    let mut out = Map::new();
    let amounts = [
        ("capacity", ledger.capacity),
        ("requested", ledger.requested),
        ("free", ledger.free),
        ("allocated", ledger.allocated),
        ("reserved", ledger.reserved),
        ("cached", ledger.cached),
        ("non_framework", ledger.non_framework),
        ("outside", ledger.outside),
        ("others", ledger.others),
        ("unexplained", ledger.unexplained),
        ("short_of_free", ledger.short_of_free),
        ("short_of_free_and_cached", ledger.short_of_free_and_cached),
        ("cap", ledger.cap),
        ("bound", ledger.bound),
    ];
    for (name, amount) in amounts {
        if let Some(amount) = amount {
            out.insert(name.into(), range(amount));
        }
    }
    if let Some(pid) = ledger.self_listed_as {
        out.insert("self_listed_as_pid".into(), pid.into());
    }
    if let Some(account) = &ledger.loader {
        out.insert("loader".into(), loader(account));
    }
    if !ledger.entries.is_empty() {
        out.insert("account".into(), ledger.entries.iter().map(|e| entry(e, lang)).collect());
    }
    if !ledger.contradictions.is_empty() {
        let list = ledger
            .contradictions
            .iter()
            .map(|c| json!({"id": c.id.id(), "text": c.text.in_lang(lang), "lines": c.lines, "resolved": c.resolved}));
        out.insert("contradictions".into(), list.collect());
    }
    out.insert("consistent".into(), ledger.consistent().into());
    let in_doubt = ledger.in_doubt();
    if !in_doubt.is_empty() {
        out.insert("in_doubt".into(), in_doubt.iter().map(|part| part.id()).collect());
    }
    let proofs = incident.proofs().into_iter().filter(|proof| proof.holds != Holds::Open);
    let proofs: Vec<Value> = proofs
        .map(|proof| {
            json!({
                "id": proof.kind.id(),
                "holds": proof.holds.id(),
                "amount": range(proof.amount),
                "against": range(proof.against),
                "text": proof.statement.in_lang(lang),
                "lines": proof.lines,
            })
        })
        .collect();
    if !proofs.is_empty() {
        out.insert("proofs".into(), proofs.into());
    }
    Value::Object(out)
}

/// What the data loaders need by their settings, and what would fit.
fn loader(account: &LoaderAccount) -> Value {
    let LoaderAccount { loader, need, .. } = account;
    let mut out = Map::new();
    out.insert("processes".into(), loader.processes.into());
    out.insert("workers".into(), loader.workers.into());
    out.insert("batch_known".into(), account.batch_known.into());
    out.insert("limit".into(), range(account.limit));
    out.insert("without_caches".into(), range(need.without_caches()));
    out.insert("after_one_epoch".into(), range(need.after_one_epoch()));
    out.insert("in_the_end".into(), range(need.in_the_end()));
    let fitting = [
        ("workers_that_fit", account.workers_that_fit),
        ("batch_that_fits", account.batch_that_fits),
        ("cache_per_process_that_fits", account.cache_that_fits),
        ("shared_cache_that_fits", account.shared_cache_that_fits),
    ];
    for (name, value) in fitting {
        if let Some(value) = value {
            out.insert(name.into(), value.into());
        }
    }
    Value::Object(out)
}

fn entry(entry: &Entry, lang: Lang) -> Value {
    let mut out = Map::new();
    out.insert("holder".into(), wording::holder_id(entry.holder).into());
    if let Holder::OtherProcess(pid) = entry.holder {
        out.insert("pid".into(), pid.into());
    }
    out.insert("low".into(), bytes(entry.amount.low));
    out.insert("high".into(), bytes(entry.amount.high));
    out.insert("basis".into(), entry.basis.in_lang(lang).into());
    Value::Object(out)
}

fn context(context: &Context) -> Value {
    let mut out = Map::new();
    for row in surroundings::rows(context) {
        let place = match row.line {
            Some(line) => json!({"value": row.value, "line": line}),
            None => json!({"value": row.value, "given": true}),
        };
        out.insert(row.key.into(), place);
    }
    if !context.frames.is_empty() {
        let frames = context.frames.iter().map(|frame| {
            let mut out = Map::new();
            out.insert("file".into(), frame.file.as_str().into());
            out.insert("file_line".into(), frame.line.into());
            out.insert("function".into(), frame.function.as_str().into());
            if let Some(code) = &frame.code {
                out.insert("code".into(), code.as_str().into());
            }
            if !frame.at.is_given() {
                out.insert("line".into(), frame.at.first.into());
            }
            Value::Object(out)
        });
        out.insert("frames".into(), frames.collect());
    }
    if !context.gpus.is_empty() {
        let gpus = context.gpus.iter().map(|gpu| {
            let mut out = Map::new();
            out.insert("index".into(), gpu.index.into());
            if let Some(name) = &gpu.name {
                out.insert("name".into(), name.as_str().into());
            }
            out.insert("used_bytes".into(), gpu.used.bytes.into());
            out.insert("total_bytes".into(), gpu.total.bytes.into());
            if let Some(utilization) = gpu.utilization {
                out.insert("utilization_percent".into(), utilization.into());
            }
            out.insert("line".into(), gpu.used.at.first.into());
            Value::Object(out)
        });
        out.insert("gpus".into(), gpus.collect());
    }
    if !context.series.is_empty() {
        out.insert("series".into(), context.series.iter().map(series).collect());
    }
    if !context.clues.is_empty() {
        let clues = context.clues.iter().map(|(clue, at)| json!({"id": clue, "line": at.first}));
        out.insert("clues".into(), clues.collect());
    }
    Value::Object(out)
}

fn series(series: &Series) -> Value {
    let mut out = Map::new();
    out.insert("measure".into(), series.measure.id().into());
    out.insert("per".into(), series.per.id().into());
    if let Some(rank) = series.rank {
        out.insert("rank".into(), rank.into());
    }
    let count = series.readings.len();
    out.insert("count".into(), count.into());
    let picked = (0..count.min(READINGS)).filter_map(|i| {
        let position = if count <= READINGS { i } else { i * (count - 1) / (READINGS - 1) };
        series.readings.get(position)
    });
    let readings = picked.map(|reading| {
        let mut out = Map::new();
        out.insert("line".into(), reading.line.into());
        if let Some(step) = reading.step {
            out.insert("step".into(), number(step));
        }
        out.insert("bytes".into(), reading.bytes.into());
        Value::Object(out)
    });
    out.insert("readings".into(), readings.collect());
    Value::Object(out)
}

fn offer(ranked: &Ranked, lang: Lang) -> Value {
    let offer = &ranked.offer;
    let mut out = Map::new();
    out.insert("id".into(), ranked.fix.id.into());
    out.insert("title".into(), (ranked.fix.title)().in_lang(lang).into());
    out.insert("class".into(), ranked.fix.class.id().into());
    match &offer.frees {
        Frees::Bytes { range: amount, formula } => {
            out.insert("frees_bytes".into(), range(*amount));
            out.insert("frees_formula".into(), formula.in_lang(lang).into());
        }
        Frees::Unknown(why) => {
            out.insert("frees_unknown_because".into(), why.in_lang(lang).into());
        }
    }
    let (low, high) = offer.costs.slows;
    out.insert("throughput_cost".into(), json!({"low": round(low, 4), "high": round(high, 4)}));
    out.insert("numerics".into(), offer.costs.numerics.id().into());
    out.insert("certainty".into(), offer.certainty.id().into());
    out.insert("cures".into(), round(offer.cures, 4).into());
    let how = offer.knobs.iter().map(|knob| json!({"for": knob.target, "do": knob.line.in_lang(lang)}));
    out.insert("how".into(), how.collect());
    out.insert("why".into(), offer.why.in_lang(lang).into());
    Value::Object(out)
}

fn dismissed(list: &[(&'static Fix, Text)], lang: Lang) -> Value {
    list.iter()
        .map(|(fix, why)| json!({"id": fix.id, "title": (fix.title)().in_lang(lang), "why": why.in_lang(lang)}))
        .collect()
}
