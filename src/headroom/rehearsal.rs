//! What a rehearsal found, as `oomdoc rehearse --format json` prints it: a peak for each batch, what is outside of
//! PyTorch's count, and batches that failed.

use super::FailedBatch;
use crate::estimate::fit::Point;
use crate::text;
use crate::text::Text;
use crate::units::Interval;
use serde_json::Value;

/// The parts of a rehearsal that say something about other batches and devices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rehearsal {
    pub points: Vec<Point>,
    pub failures: Vec<FailedBatch>,
    /// Context, kernels and other memory that PyTorch does not count.
    pub outside: Option<Interval>,
    /// The GPU that was played and its bytes.
    pub gpu: Option<(String, u64)>,
}

/// Reads the JSON of a rehearsal; `batch` is that of a run whose batch is not told.
///
/// # Errors
/// When it is not the JSON of a rehearsal, or holds no run that ended well.
pub fn read(json: &str, batch: Option<u64>) -> Result<Rehearsal, Text> {
    let value: Value =
        serde_json::from_str(json).map_err(|error| text!(en: "not JSON: {error}", zh: "不是 JSON：{error}"))?;
    let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
    if !schema.starts_with("oomdoc.rehearse/") {
        return Err(Text::new(
            "no JSON of a rehearsal (oomdoc rehearse --format json)",
            "不是预演输出的 JSON（oomdoc rehearse --format json）",
        ));
    }
    let capacity = value.get("capacity_bytes").and_then(Value::as_u64);
    let shown_batch = value.get("batch_size").and_then(Value::as_u64);
    let peak = value.get("peak");
    let on_floor = peak.and_then(|peak| peak.get("phase")).and_then(Value::as_str) == Some("optimizer");
    let observed = peak.and_then(|peak| peak.get("observed_batch_size")).and_then(Value::as_u64);
    let mut out = Rehearsal {
        outside: peak.and_then(|peak| peak.get("outside_pytorch")).and_then(outside),
        gpu: capacity.map(|bytes| {
            let name = value.get("gpu").and_then(|gpu| gpu.get("name")).and_then(Value::as_str).unwrap_or_default();
            (name.to_string(), bytes)
        }),
        ..Rehearsal::default()
    };
    let mut unplaced = false;
    for run in value.get("runs").and_then(Value::as_array).into_iter().flatten().take(4096) {
        let own = run.get("batch_size").and_then(Value::as_u64);
        let Some(batch) = own.or(batch).or(observed).filter(|batch| *batch > 0) else {
            unplaced = true;
            continue;
        };
        let Some(allocated) = run.get("allocated_bytes").and_then(Value::as_u64).filter(|bytes| *bytes > 0) else {
            continue;
        };
        if run.get("lower_bound").and_then(Value::as_bool) == Some(true) {
            if run.get("verdict").and_then(Value::as_str) == Some("does-not-fit") {
                out.failures.push(FailedBatch { batch, needed: allocated as f64, capacity });
            }
            continue;
        }
        let reserved = run.get("reserved_bytes").and_then(|range| range.get("high")).and_then(Value::as_u64);
        out.points.push(Point {
            batch,
            bytes: allocated as f64,
            reserved: reserved.map(|bytes| bytes as f64),
            on_floor: on_floor && (own.is_none() || own == shown_batch),
        });
    }
    if out.points.is_empty() && out.failures.is_empty() {
        return Err(if unplaced {
            Text::new("the rehearsal does not tell its batch: give --batch", "预演中没有批大小：请给出 --batch")
        } else {
            Text::new("no run of the rehearsal reached its peak", "预演中没有一次运行到达峰值")
        });
    }
    Ok(out)
}

/// The sum of the ranges, each `{"low": …, "high": …}`.
fn outside(parts: &Value) -> Option<Interval> {
    let parts = parts.as_object()?;
    let range = |part: &Value| {
        let end = |name: &str| part.get(name).and_then(Value::as_u64).map(i128::from);
        Some(Interval::between(end("low")?, end("high")?))
    };
    Some(parts.values().filter_map(range).sum()).filter(|sum: &Interval| sum.high > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_points_and_failures() {
        let text = r#"{"schema": "oomdoc.rehearse/1", "capacity_bytes": 1000, "gpu": {"name": "T4"},
          "peak": {"outside_pytorch": {"context_bytes": {"low": 10, "high": 20},
                                       "libraries_bytes": {"low": 1, "high": 2}}},
          "runs": [{"batch_size": 8, "verdict": "fits", "lower_bound": false, "allocated_bytes": 500,
                    "reserved_bytes": {"low": 510, "high": 520}},
                   {"batch_size": 16, "verdict": "does-not-fit", "lower_bound": true, "allocated_bytes": 900,
                    "reserved_bytes": {"low": 900, "high": 900}}]}"#;
        let read = read(text, None).expect("a rehearsal");
        assert_eq!(read.points.len(), 1);
        assert_eq!((read.points[0].batch, read.points[0].reserved), (8, Some(520.0)));
        assert_eq!(read.failures, [FailedBatch { batch: 16, needed: 900.0, capacity: Some(1000) }]);
        assert_eq!(read.outside, Some(Interval::between(11, 22)));
        assert_eq!(read.gpu, Some(("T4".into(), 1000)));
    }

    #[test]
    fn other_json_is_refused() {
        for text in
            ["", "[]", "{}", r#"{"schema": "oomdoc.replay/1"}"#, r#"{"schema": "oomdoc.rehearse/1", "runs": [{}]}"#]
        {
            assert!(super::read(text, Some(1)).is_err(), "{text}");
        }
    }
}
