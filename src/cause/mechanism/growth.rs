//! Usage that rises over time, and what makes it rise.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker};
use crate::cause::reading::{size, trend};
use crate::evidence::Span;
use crate::incident::Incident;
use crate::incident::context::{Clue, Growth, Measure, Series};
use crate::text;
use crate::units::{Bytes, percent};

/// The readings of the resource that ran out, of which the steepest trend counts.
fn steepest(incident: &Incident) -> Option<(&Series, Growth)> {
    let on_host = incident.event.resource.on_host();
    let has_allocated = incident.context.series.iter().any(|series| series.measure == Measure::GpuAllocated);
    incident
        .context
        .series
        .iter()
        .filter(|series| series.measure.on_device() != on_host)
        // Reserved memory that grows while allocated memory does not is a cache in pieces, no growth of the job.
        .filter(|series| series.measure != Measure::GpuReserved || !has_allocated)
        .filter_map(|series| Some((series, series.growth()?)))
        .max_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence))
}

/// What the memory readings of the log show.
pub const READINGS: Mechanism = Mechanism {
    id: "readings",
    levels: &["rise", "rise-weakly", "flat", "cache-rises-alone"],
    read: |incident| {
        if let (Some((series, reserved)), Some((_, allocated))) =
            (trend(incident, Measure::GpuReserved), trend(incident, Measure::GpuAllocated))
            && incident.event.resource.on_device()
            && reserved.rise > 0.0
            && reserved.relative_rise >= 0.02
            && allocated.rise < 0.3 * reserved.rise
            && let (Some(first), Some(last)) = (series.readings.first(), series.readings.last())
        {
            let (from, to) = (Bytes(first.bytes), Bytes(last.bytes));
            return Some(
                Reading::new("cache-rises-alone", text!(en: "reserved memory rose from {from} to {to} while allocated memory stayed the same: the cache splits into pieces that fit nothing", zh: "保留量从 {from} 升到 {to}，而已分配量不变：缓存被切成无法使用的碎片"))
                    .at(Span::lines(first.line, last.line)),
            );
        }
        let (series, growth) = steepest(incident)?;
        let (from, to) = (series.readings.first()?, series.readings.last()?);
        let (start, end, count) = (Bytes(from.bytes), Bytes(to.bytes), growth.readings);
        let relative = percent(growth.relative_rise);
        let (level, text) = if growth.confidence >= 0.25 {
            let level = if growth.confidence >= 0.5 { "rise" } else { "rise-weakly" };
            (
                level,
                text!(en: "{count} readings rise from {start} to {end} and go on rising after warm-up (by {relative})", zh: "{count} 个读数从 {start} 升到 {end}，预热之后仍在上升（{relative}）"),
            )
        } else if growth.confidence < 0.05 && count >= 6 {
            (
                "flat",
                text!(en: "{count} readings between {start} and {end} show no lasting rise", zh: "{count} 个读数（{start} 到 {end}）没有持续上升"),
            )
        } else {
            return None;
        };
        Some(Reading::new(level, text).at(Span::lines(from.line, to.line)))
    },
};

/// Where the first reading of the log stands.
pub const FIRST_READING: Mechanism = Mechanism {
    id: "first-reading",
    levels: &["nearly-full"],
    read: |incident| {
        let capacity = incident.ledger.capacity.filter(|_| incident.event.resource.on_device())?;
        let first = incident
            .context
            .series
            .iter()
            .filter(|series| matches!(series.measure, Measure::GpuAllocated | Measure::GpuUsed))
            .filter_map(|series| series.readings.first())
            .find(|first| first.bytes as i128 >= capacity.middle() / 10 * 8)?;
        let (level, all) = (Bytes(first.bytes), size(capacity));
        Some(
            Reading::new("nearly-full", text!(en: "the first reading of the log already stands at {level} of {all}", zh: "日志中的第一个读数就已达 {all} 中的 {level}"))
                .at(Span::line(first.line)),
        )
    },
};

/// The failing line collects results.
pub const ACCUMULATES: Mechanism = Mechanism {
    id: "accumulates",
    levels: &["results", "growing-blocks"],
    read: |incident| {
        if let Some(span) = incident.context.clues.get(&Clue::Accumulates) {
            return Some(
                Reading::new("results", text!(en: "the failing line collects results over steps, so each step holds more than the last", zh: "失败处在逐步累积结果，每一步都比上一步占用更多"))
                    .at(*span),
            );
        }
        let span = incident.context.clues.get(&Clue::GrowingList)?;
        Some(
            Reading::new("growing-blocks", text!(en: "single blocks of a GiB and more are reported on the way: one list or buffer that is enlarged again and again", zh: "途中多次报告 1 GiB 以上的单块分配：某个列表或缓冲区在反复扩容"))
                .at(*span),
        )
    },
};

/// Samples are kept in RAM as they are read.
pub const SAMPLE_CACHE: Mechanism = Mechanism {
    id: "sample-cache",
    levels: &["in-ram"],
    read: |incident| {
        let span = incident.context.clues.get(&Clue::SampleCache)?;
        matches!(asker(incident), Asker::Host | Asker::Shm).then(|| {
            Reading::new(
                "in-ram",
                text!(en: "samples are cached in RAM as they are read", zh: "样本在读取时被缓存到内存"),
            )
            .at(*span)
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{FULL_CARD, host, torch};
    use crate::incident::context::{Reading as Sample, StepUnit};
    use crate::units::MIB;

    fn series(measure: Measure, mib: &[u64]) -> Series {
        let readings = mib
            .iter()
            .enumerate()
            .map(|(i, mib)| Sample { line: i as u64 + 1, step: Some(i as f64), bytes: mib * MIB })
            .collect();
        Series { measure, rank: None, per: StepUnit::Step, running_maximum: false, readings }
    }

    #[test]
    fn readings_that_rise_stay_or_rise_alone() {
        let shown = |all: Vec<Series>| {
            let mut incident = torch(&FULL_CARD);
            incident.context.series = all;
            level(&READINGS, &incident)
        };
        let rising = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000];
        assert_eq!(shown(vec![series(Measure::GpuAllocated, &rising)]), Some("rise"));
        let weak = [1000, 1010, 1005, 1030, 1020, 1050];
        assert_eq!(shown(vec![series(Measure::GpuAllocated, &weak)]), Some("rise-weakly"));
        let flat = [900, 1000, 1000, 1001, 1000, 1000, 1001, 1000, 1000, 1000, 1000];
        assert_eq!(shown(vec![series(Measure::GpuAllocated, &flat)]), Some("flat"));
        assert_eq!(
            shown(vec![series(Measure::GpuAllocated, &flat), series(Measure::GpuReserved, &rising)]),
            Some("cache-rises-alone")
        );
        assert_eq!(shown(vec![series(Measure::HostProcess, &rising)]), None, "not of the device");
        assert_eq!(shown(Vec::new()), None);
    }

    #[test]
    fn a_first_reading_that_is_nearly_full() {
        let mut incident = torch(&FULL_CARD);
        incident.context.series = vec![series(Measure::GpuUsed, &[15_000, 15_100])];
        assert_eq!(level(&FIRST_READING, &incident), Some("nearly-full"));
        incident.context.series = vec![series(Measure::GpuUsed, &[5000, 15_100])];
        assert_eq!(level(&FIRST_READING, &incident), None);
    }

    #[test]
    fn what_collects() {
        let with = |clue, mut incident: Incident| {
            incident.context.clues.insert(clue, Span::line(3));
            incident
        };
        assert_eq!(level(&ACCUMULATES, &with(Clue::Accumulates, torch(&[]))), Some("results"));
        assert_eq!(level(&ACCUMULATES, &with(Clue::GrowingList, host(&[]))), Some("growing-blocks"));
        assert_eq!(level(&SAMPLE_CACHE, &with(Clue::SampleCache, host(&[]))), Some("in-ram"));
        assert_eq!(level(&SAMPLE_CACHE, &with(Clue::SampleCache, torch(&[]))), None, "RAM is no matter of a device");
    }
}
