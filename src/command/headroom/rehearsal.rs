//! What a rehearsal found, as `oomdoc rehearse --format json` prints it: a peak for each batch, what is outside of
//! PyTorch's count, and batches that failed.

use crate::domain::Verdict;
use crate::estimate::fit::Point;
use crate::headroom::FailedBatch;
use crate::report::rehearse::json::{Document, Outside};
use crate::text;
use crate::text::Text;
use crate::units::Interval;
use serde::Deserialize;

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

/// Runs of one document that are looked at.
const RUNS: usize = 4096;

/// What every document of the program begins with.
#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

/// Reads the JSON of a rehearsal; `batch` is that of a run whose batch is not told.
///
/// # Errors
/// When it is not the JSON of a rehearsal, or holds no run that ended well. What is malformed is told with its place.
pub fn read(json: &str, batch: Option<u64>) -> Result<Rehearsal, Text> {
    let header: Header =
        serde_json::from_str(json).map_err(|error| text!(en: "not JSON: {error}", zh: "不是 JSON：{error}"))?;
    if !header.schema.is_some_and(|schema| schema.starts_with("oomdoc.rehearse/")) {
        return Err(Text::new(
            "no JSON of a rehearsal (oomdoc rehearse --format json)",
            "不是预演输出的 JSON（oomdoc rehearse --format json）",
        ));
    }
    let document: Document<'_> = serde_json::from_str(json)
        .map_err(|error| text!(en: "a malformed rehearsal: {error}", zh: "预演的 JSON 有误：{error}"))?;
    let capacity = Some(document.capacity_bytes).filter(|bytes| *bytes > 0);
    let peak = document.peak.as_ref();
    let on_floor = peak.and_then(|peak| peak.phase.as_deref()) == Some("optimizer");
    let observed = peak.and_then(|peak| peak.observed_batch_size);
    let mut out = Rehearsal {
        outside: peak.and_then(|peak| peak.outside_pytorch.as_ref()).and_then(Outside::sum),
        gpu: capacity.map(|bytes| (document.gpu.name.to_string(), bytes)),
        ..Rehearsal::default()
    };
    let mut unplaced = false;
    for run in document.runs.iter().take(RUNS) {
        let Some(batch) = run.batch_size.or(batch).or(observed).filter(|batch| *batch > 0) else {
            unplaced = true;
            continue;
        };
        if run.allocated_bytes == 0 {
            continue;
        }
        let bytes = run.allocated_bytes as f64;
        if run.lower_bound {
            if run.verdict == Verdict::DoesNotFit {
                out.failures.push(FailedBatch { batch, needed: bytes, capacity });
            }
            continue;
        }
        out.points.push(Point {
            batch,
            bytes,
            reserved: Some(run.reserved_bytes.high as f64).filter(|bytes| *bytes > 0.0),
            on_floor: on_floor && (run.batch_size.is_none() || run.batch_size == document.batch_size),
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

    #[test]
    fn what_is_malformed_is_told_with_its_place() {
        let text = "{\"schema\": \"oomdoc.rehearse/1\",\n \"runs\": [{\"allocated_bytes\": \"much\"}]}";
        let why = super::read(text, Some(1)).expect_err("a text is no size");
        assert!(why.en.contains("line 2 column 36") && why.en.contains("expected u64"), "{}", why.en);
        let text = "{\"schema\": \"oomdoc.rehearse/1\", \"runs\": [{}]";
        let why = super::read(text, Some(1)).expect_err("it breaks off");
        assert!(why.en.contains("line 1 column 44"), "{}", why.en);
    }

    #[test]
    fn fields_of_later_versions_are_passed_over() {
        let text = r#"{"schema": "oomdoc.rehearse/1", "news": {"of": "later"}, "capacity_bytes": 1000,
          "runs": [{"batch_size": 8, "allocated_bytes": 500, "takes": [{"ended": "abducted"}], "more": 1}]}"#;
        let read = super::read(text, None).expect("a rehearsal");
        assert_eq!(read.points.len(), 1);
    }
}
