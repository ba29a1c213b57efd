//! The JSON of `oomdoc rehearse` (`docs/rehearse.schema.json`), for programs. Bytes are integers; what is not known is
//! absent.

use super::{View, wording};
use crate::domain::Verdict;
use crate::gpu::products::{PRODUCTS, Provenance};
use crate::rehearse::gpus::Gpu;
use crate::rehearse::launch::Addresses;
use crate::rehearse::outcome::{End, Outside, Run, Take};
use crate::rehearse::process::Trap;
use crate::rehearse::view::changes::Change;
use crate::report::{json as explain, replay};
use crate::text::{Lang, Text};
use crate::units::Interval;
use serde_json::{Map, Value, json};

/// Holders of the peak that are listed.
const HOLDERS: usize = 32;

/// The answer as one JSON document, its prose in the language of the style.
pub fn render(view: &View<'_>) -> Value {
    let answer = view.answer;
    let lang = view.style.lang;
    let question = &answer.question;
    let mut out = Map::new();
    out.insert("schema".into(), "oomdoc.rehearse/1".into());
    out.insert("tool".into(), json!({"name": "oomdoc", "version": env!("CARGO_PKG_VERSION")}));
    out.insert("verdict".into(), answer.verdict.id().into());
    out.insert("message".into(), wording::headline(answer).in_lang(lang).into());
    out.insert("command".into(), question.command.clone().into());
    out.insert("gpu".into(), gpu(&question.gpu));
    out.insert("gpus".into(), question.gpus.into());
    if let Some(world) = question.world {
        out.insert("world_size".into(), world.into());
    }
    out.insert("capacity_bytes".into(), answer.capacity().into());
    out.insert("usable_bytes".into(), answer.usable().into());
    out.insert("headroom_fraction".into(), question.headroom.into());
    out.insert("steps".into(), question.steps.into());
    if let Some((from, to)) = question.range {
        out.insert("searched".into(), json!({"from": from, "to": to}));
    }
    if let Some(largest) = answer.largest {
        out.insert("largest_batch".into(), largest.into());
    }
    if let Some(batch) = answer.first_too_large {
        out.insert("first_batch_too_large".into(), batch.into());
    }
    if let Some(why) = &answer.cut_short {
        out.insert("cut_short".into(), why.in_lang(lang).into());
    }
    if let Some(shown) = answer.shown() {
        if let Some(batch) = shown.batch {
            out.insert("batch_size".into(), batch.into());
        }
        out.insert("peak".into(), peak(view, shown));
        if shown.oom().is_none() {
            let left = i128::from(answer.capacity()) - shown.needed().high;
            out.insert("headroom_bytes".into(), (left.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64).into());
        }
    }
    out.insert("runs".into(), answer.runs.iter().map(|one| run(one, lang)).collect());
    if let Some((failed, oom)) = answer.first_oom() {
        let mut failure = Map::new();
        if let Some(batch) = failed.batch {
            failure.insert("batch_size".into(), batch.into());
        }
        failure.insert("message".into(), oom.message.as_str().into());
        if let Some(step) = oom.step {
            failure.insert("step".into(), step.into());
        }
        if let Some(phase) = &oom.phase {
            failure.insert("phase".into(), phase.as_str().into());
        }
        failure.insert("stack".into(), oom.stack.clone().into());
        if let Some(explanation) = view.explanation {
            failure.insert("explanation".into(), explain::render(explanation, lang));
        }
        out.insert("oom".into(), Value::Object(failure));
    }
    let because = answer.shown().map(Run::shortfalls).unwrap_or_default();
    out.insert("because".into(), texts(&because, lang));
    if let Some(take) = answer.shown().and_then(|run| run.takes.iter().find(|take| !take.last_words.is_empty())) {
        out.insert("last_words".into(), take.last_words.clone().into());
    }
    out.insert("files".into(), files(view));
    out.insert("assumed".into(), texts(&wording::assumptions(answer), lang));
    out.insert("seconds".into(), rounded(answer.seconds));
    Value::Object(out)
}

/// How the user's files were kept from the program, and what it would have done to them.
fn files(view: &View<'_>) -> Value {
    let answer = view.answer;
    let mut out = Map::new();
    out.insert("view".into(), answer.view.level.id().into());
    out.insert("offline".into(), answer.view.offline.into());
    if let Some(take) = answer.shown().and_then(Run::deciding) {
        let list = |changes: &[Change]| -> Value {
            let one = |change: &Change| {
                json!({
                    "path": change.path.to_string_lossy(),
                    "folder": change.folder,
                    "files": change.files,
                    "bytes": change.bytes,
                })
            };
            changes.iter().map(one).collect()
        };
        out.insert("removed".into(), list(&take.changes.removed));
        out.insert("overwritten".into(), list(&take.changes.replaced));
        out.insert("written".into(), list(&take.changes.created));
        out.insert("unlisted".into(), take.changes.unlisted.into());
        out.insert("environment_kept_back".into(), take.kept_back.clone().into());
    }
    Value::Object(out)
}

/// The table of `--like list`.
pub fn gpus() -> Value {
    json!({
        "schema": "oomdoc.rehearse-gpus/1",
        "gpus": PRODUCTS.iter().map(|product| gpu(&Gpu::of(product, None))).collect::<Vec<_>>(),
    })
}

fn texts(list: &[Text], lang: Lang) -> Value {
    list.iter().map(|text| Value::from(text.in_lang(lang))).collect()
}

fn rounded(seconds: f64) -> Value {
    ((seconds * 1000.0).round() / 1000.0).into()
}

fn interval(amount: Interval) -> Value {
    let clamped = |bytes: i128| bytes.clamp(0, i128::from(u64::MAX)) as u64;
    json!({"low": clamped(amount.low), "high": clamped(amount.high)})
}

fn gpu(gpu: &Gpu) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), gpu.name.as_str().into());
    out.insert("total_bytes".into(), interval(gpu.total));
    let source = match gpu.known {
        Some(Provenance::Reported) => "reported",
        Some(Provenance::Derived) => "derived",
        None => "given",
    };
    out.insert("total_from".into(), source.into());
    out.insert("compute_capability".into(), format!("{}.{}", gpu.compute.0, gpu.compute.1).into());
    out.insert("multiprocessors".into(), gpu.multiprocessors.into());
    out.insert("context_bytes".into(), interval(gpu.context));
    out.insert("unified_memory".into(), gpu.unified.into());
    Value::Object(out)
}

/// The peak of the shown run: what it needs, when and where it was, who held it.
fn peak(view: &View<'_>, shown: &Run) -> Value {
    let mut out = figures(shown);
    if let Some(take) = shown.deciding() {
        out.insert("outside_pytorch".into(), outside(&take.outside));
        if let Some(place) = &take.peak {
            if let Some(step) = place.step {
                out.insert("step".into(), step.into());
            }
            if let Some(phase) = &place.phase {
                out.insert("phase".into(), phase.as_str().into());
            }
            out.insert("stack".into(), place.stack.clone().into());
        }
        if let Some(torch) = &take.torch {
            out.insert("torch".into(), torch.as_str().into());
        }
        if let Some(batch) = take.batch {
            out.insert("observed_batch_size".into(), batch.into());
        }
    }
    if let Some((device, sites)) = view.peak.and_then(|analysis| {
        let device = analysis.devices.iter().max_by_key(|device| device.holding.bytes)?;
        Some((device, &analysis.sites))
    }) {
        let holders = device.holding.holders.iter().take(HOLDERS).map(|holder| replay::json::holder(holder, sites));
        out.insert("holders".into(), holders.collect());
    }
    Value::Object(out)
}

fn figures(run: &Run) -> Map<String, Value> {
    let mut out = Map::new();
    let whole = run.is_whole() && run.oom().is_none();
    out.insert("lower_bound".into(), (!whole).into());
    out.insert("allocated_bytes".into(), run.allocated().into());
    out.insert("reserved_bytes".into(), interval(run.reserved()));
    out.insert("needed_bytes".into(), interval(run.needed()));
    out
}

fn outside(outside: &Outside) -> Value {
    let mut out = Map::new();
    out.insert("context_bytes".into(), interval(outside.context));
    out.insert("libraries_bytes".into(), interval(outside.libraries));
    if let Some(nccl) = outside.nccl {
        out.insert("nccl_bytes".into(), interval(nccl));
    }
    if let Some(cudnn) = outside.cudnn {
        out.insert("cudnn_workspace_bytes".into(), interval(cudnn));
    }
    Value::Object(out)
}

fn run(one: &Run, lang: Lang) -> Value {
    let mut out = Map::new();
    if let Some(batch) = one.batch {
        out.insert("batch_size".into(), batch.into());
    }
    out.insert("verdict".into(), one.verdict.id().into());
    out.extend(figures(one));
    if let Some(pressed) = one.pressed {
        let name = if one.oom().is_some() { "ran_with_kind_estimates" } else { "ran_without_headroom" };
        out.insert(name.into(), pressed.into());
    }
    if one.verdict == Verdict::Unknown {
        out.insert("because".into(), texts(&one.shortfalls(), lang));
    }
    out.insert("notes".into(), texts(&one.notes(), lang));
    out.insert("takes".into(), one.takes.iter().map(take).collect());
    out.insert("seconds".into(), rounded(one.seconds));
    Value::Object(out)
}

fn take(take: &Take) -> Value {
    json!({
        "addresses": if take.addresses == Addresses::Up { "up" } else { "down" },
        "ended": match take.end {
            End::Done => "done",
            End::OutOfMemory(_) => "out-of-memory",
            End::Failed(_) => "failed",
            End::TimeUp => "time-up",
        },
        "steps": take.steps,
        "allocated_bytes": take.allocated,
        "reserved_bytes": take.reserved,
        "retries": take.retries,
        "traps": take.traps.iter().map(trap).collect::<Vec<_>>(),
        "seconds": rounded(take.seconds),
    })
}

fn trap(trap: &Trap) -> Value {
    let mut out = Map::new();
    out.insert("kind".into(), trap.kind.as_str().into());
    if let Some(place) = &trap.place {
        out.insert("where".into(), place.as_str().into());
    }
    if let Some(count) = trap.count {
        out.insert("count".into(), count.into());
    }
    if let Some(detail) = &trap.detail {
        out.insert("detail".into(), detail.as_str().into());
    }
    out.insert("lowers_memory".into(), (!trap.keeps_memory()).into());
    Value::Object(out)
}
