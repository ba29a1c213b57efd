//! The answer for programs: `docs/headroom.schema.json`.

use super::View;
use crate::estimate::peak::Peak;
use crate::headroom::Assessment;
use crate::headroom::host::HostAnswer;
use crate::units::Interval;
use serde_json::{Map, Value, json};

fn whole(value: f64) -> Value {
    // A conversion of a float saturates.
    (value.max(0.0) as u64).into()
}

fn peak(peak: Peak) -> Value {
    let mut out = json!({ "low": whole(peak.low), "expected": whole(peak.expected) });
    // Without an upper bound there is none to tell.
    if let Some(out) = out.as_object_mut().filter(|_| peak.high.is_finite()) {
        out.insert("high".into(), whole(peak.high));
    }
    out
}

pub fn render(assessment: &Assessment, view: View) -> Value {
    let lang = view.style.lang;
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_string(), value);
    put("schema", "oomdoc.headroom/1".into());
    put("verdict", assessment.verdict.id().into());
    if let Some(device) = &assessment.question.device {
        if !device.name.is_empty() {
            put("gpu", device.name.as_str().into());
        }
        put("capacity_bytes", device.capacity.into());
        put("usable_bytes", device.usable().into());
        put("asked_headroom_fraction", rounded(assessment.question.headroom.share(device.capacity)));
    }
    if let Some(batch) = assessment.batch {
        put("batch_size", batch.into());
    }
    if let Some(value) = assessment.peak {
        put("peak_bytes", peak(value));
    }
    if let Some(left) = assessment.headroom {
        put("headroom_bytes", i64::try_from(left).unwrap_or(i64::MIN).into());
    }
    if let Some(share) = assessment.headroom_share() {
        put("headroom_fraction", rounded(share));
    }
    if let Some(largest) = assessment.largest {
        put("max_batch_size", json!({ "safe": largest.safe, "expected": largest.expected }));
    }
    if let Some(serving) = &assessment.serving {
        let mut served = json!({
            "context_length": serving.context,
            "weights_bytes": whole(serving.weights()),
            "kv_cache_bytes_per_token": whole(serving.token()),
        });
        if let (Some(tokens), Some(served)) = (assessment.longest_context, served.as_object_mut()) {
            served.insert("max_context_length".into(), tokens.into());
        }
        put("serving", served);
    }
    if let Some(host) = &assessment.host {
        put("host", host_answer(host, view));
    }
    if let Some(taken) = &assessment.question.taken {
        put("taken", taken.in_lang(lang).into());
    }
    put("basis", assessment.basis.id().into());
    put("because", assessment.because.iter().map(|reason| Value::from(reason.in_lang(lang))).collect());
    let fixes = assessment.remedies.iter().map(|remedy| {
        json!({
            "id": remedy.id(),
            "title": remedy.what.in_lang(lang),
            "peak_bytes": peak(remedy.peak),
            "verdict": remedy.verdict.id(),
        })
    });
    put("fixes", fixes.collect());
    let measured =
        assessment.measured.iter().map(|(batch, bytes)| json!({ "batch_size": batch, "bytes": whole(*bytes) }));
    put("measured", measured.collect());
    if view.explain {
        let phases = assessment.phases.iter().map(|phase| {
            let terms = phase.terms.iter().map(
                |term| json!({ "what": term.what.in_lang(lang), "formula": term.formula, "bytes": whole(term.bytes) }),
            );
            json!({
                "moment": phase.moment.text().in_lang(lang),
                "bytes": whole(phase.bytes()),
                "terms": terms.collect::<Vec<_>>(),
            })
        });
        put("phases", phases.collect());
    }
    Value::Object(out)
}

fn host_answer(host: &HostAnswer, view: View) -> Value {
    let lang = view.style.lang;
    let range = |bytes: Interval| {
        let clamped = |bytes: i128| bytes.clamp(0, i128::from(u64::MAX)) as u64;
        json!({ "low": clamped(bytes.low), "high": clamped(bytes.high) })
    };
    let mut out = Map::new();
    out.insert("verdict".into(), host.verdict.id().into());
    out.insert("limit_bytes".into(), host.limit.into());
    out.insert("needed_bytes".into(), range(host.need.in_the_end()));
    let parts =
        host.parts().into_iter().map(|(what, bytes)| json!({ "what": what.in_lang(lang), "bytes": range(bytes) }));
    out.insert("parts".into(), parts.collect());
    for (key, value) in
        [("max_workers", host.workers), ("max_cache_bytes", host.cache), ("max_shared_cache_bytes", host.shared_cache)]
    {
        if let Some(value) = value {
            out.insert(key.into(), value.into());
        }
    }
    Value::Object(out)
}

fn rounded(share: f64) -> Value {
    ((share * 1e4).round() / 1e4).into()
}
