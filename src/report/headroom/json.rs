//! The answer for programs: `docs/headroom.schema.json`.

use super::View;
use crate::estimate::peak::Peak;
use crate::headroom::Assessment;
use serde_json::{Map, Value, json};

fn whole(value: f64) -> Value {
    // A conversion of a float saturates.
    (value.max(0.0) as u64).into()
}

fn peak(peak: Peak) -> Value {
    json!({ "low": whole(peak.low), "expected": whole(peak.expected), "high": whole(peak.high) })
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
    put("basis", assessment.basis.id().into());
    put("because", assessment.because.iter().map(|reason| Value::from(reason.in_lang(lang))).collect());
    let fixes = assessment.remedies.iter().map(|remedy| {
        json!({
            "id": remedy.id,
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

fn rounded(share: f64) -> Value {
    ((share * 1e4).round() / 1e4).into()
}
