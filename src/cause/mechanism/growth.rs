//! Usage that rises over time, and what makes it rise.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker, on_gpu};
use crate::cause::reading::{size, trend};
use crate::domain::Number;
use crate::domain::program::PytorchAllocator;
use crate::evidence::Span;
use crate::incident::Incident;
use crate::incident::context::{Clue, Growth, Measure, Phase, Series, Trend, Unit};
use crate::text;
use crate::units::Bytes;

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
    levels: &["rise", "rise-far-below", "rise-evenly", "rise-weakly", "flat", "cache-rises-alone"],
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
                Reading::new(
                    "cache-rises-alone",
                    text!(
                        en: "reserved memory rose from {from} to {to} while allocated memory stayed the same: the \
                             cache splits into pieces that fit nothing",
                        zh: "保留量从 {from} 升到 {to}，而已分配量不变：缓存被切成无法使用的碎片"
                    ),
                )
                .at(Span::lines(first.line, last.line)),
            );
        }
        let Some((series, growth)) = steepest(incident).filter(|(_, growth)| growth.confidence >= WEAKLY) else {
            return under_other_names(incident).or_else(|| flat(incident));
        };
        let (from, to) = (series.readings.first()?, series.readings.last()?);
        let (start, end) = (Bytes(from.bytes), Bytes(to.bytes));
        let level = match growth.confidence {
            SURELY.. => "rise",
            _ if evenly(incident, series) => "rise-evenly",
            _ => "rise-weakly",
        };
        let text = text!(
            en: "readings rise from {start} to {end}, and go on rising after the first steps",
            zh: "读数从 {start} 升到 {end}，最初几步之后仍在上升"
        );
        Some(Reading::new(level, text).at(Span::lines(from.line, to.line)))
    },
};

/// Percent of the memory there is below which a rise did not meet its end.
const MOSTLY_FREE: f64 = 50.0;

/// How sure a rise must be to be told, and to be told without reserve.
const WEAKLY: f64 = 0.25;
const SURELY: f64 = 0.5;

/// True where each of four readings and more stands above the last by about the same: what is set up in the first steps
/// comes in unlike pieces and ends, and what each step leaves behind does not. Parts of a file or a model that are read
/// one after the other are alike as well.
fn evenly(incident: &Incident, series: &Series) -> bool {
    let context = &incident.context;
    let steps = context.step.is_known() || context.epoch.is_known();
    let reads =
        matches!(context.phase.value(), Some(Phase::Load | Phase::Resume | Phase::DataLoading | Phase::OptimizerSetup));
    let rises: Vec<f64> = series.readings.windows(2).map(|pair| pair[1].bytes as f64 - pair[0].bytes as f64).collect();
    let mean = rises.iter().sum::<f64>() / rises.len().max(1) as f64;
    let last = series.readings.last().map_or(0.0, |reading| reading.bytes as f64);
    steps
        && !reads
        && rises.len() >= 3
        && mean >= last * WORTH_A_STEP
        && rises.iter().all(|rise| (rise - mean).abs() <= mean * ALIKE)
}

/// What a step leaves behind, as a share of what is held at the end, from which on a few readings tell.
const WORTH_A_STEP: f64 = 0.03;
/// So far, as a share of their mean, like rises may differ: what is printed is rounded.
const ALIKE: f64 = 0.15;

/// Steps after which what a job sets up by and by is in place.
const SETTLED: u64 = 5;

/// Readings that stay where they are.
fn flat(incident: &Incident) -> Option<Reading> {
    let level = |growth: &Growth| growth.confidence < 0.05 && growth.readings >= 6;
    if let Some(series) = incident.context.series.iter().find(|series| series.stands_still())
        && incident.event.resource.on_device() == series.measure.on_device()
        && let (Some(first), Some(last)) = (series.readings.first(), series.readings.last())
    {
        let (stood, count) = (Bytes(last.bytes), series.readings.len());
        let text = text!(
            en: "{count} readings of the most that was in use stand at {stood}: nothing grew",
            zh: "{count} 个峰值读数都是 {stood}：没有增长"
        );
        return Some(Reading::new("flat", text).at(Span::lines(first.line, last.line)));
    }
    if let Some((series, growth)) = steepest(incident).filter(|(_, growth)| level(growth)) {
        let (from, to) = (series.readings.first()?, series.readings.last()?);
        let (start, end, count) = (Bytes(from.bytes), Bytes(to.bytes), growth.readings);
        let text = text!(
            en: "{count} readings between {start} and {end} show no lasting rise",
            zh: "{count} 个读数（{start} 到 {end}）没有持续上升"
        );
        return Some(Reading::new("flat", text).at(Span::lines(from.line, to.line)));
    }
    let (trend, growth) = trends(incident)
        .filter_map(|trend| Some((trend, trend.series().growth()?)))
        .max_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence))
        .filter(|(_, growth)| level(growth))?;
    let (from, to, count) = (trend.samples.first()?, trend.samples.last()?, growth.readings);
    let (start, end) = (figure(trend, from.1), figure(trend, to.1));
    let text = text!(
        en: "{count} readings between {start} and {end} show no lasting rise",
        zh: "{count} 个读数（{start} 到 {end}）没有持续上升"
    );
    Some(Reading::new("flat", text).at(Span::lines(from.0, to.0)))
}

/// What was printed again and again of the memory that ran out, under names of the program's own.
fn trends(incident: &Incident) -> impl Iterator<Item = &Trend> {
    let on_host = incident.event.resource.on_host();
    // What passes all that there is was never held: an address space, or what other machines have.
    let most = incident.ledger.whole().map_or(f64::MAX, |whole| whole.high as f64 * 1.05);
    let held = move |trend: &Trend| {
        trend.unit != Unit::Bytes || trend.free || trend.samples.iter().all(|(_, value)| *value <= most)
    };
    incident
        .context
        .trends
        .iter()
        .filter(|trend| trend.unit != Unit::Things)
        .filter(move |trend| held(trend))
        .filter(move |trend| if on_host { !trend.of_device() } else { !trend.of_host() })
}

/// A figure of a trend, as it was printed.
fn figure(trend: &Trend, value: f64) -> String {
    match trend.unit {
        Unit::Bytes => Bytes(value as u64).to_string(),
        Unit::Percent if value < 10.0 => format!("{value:.2} %"),
        Unit::Percent => format!("{value:.0} %"),
        Unit::Things => format!("{value:.0}"),
    }
}

/// True for three figures and more of which each is used up further than the last, by a twentieth in all: too few for a
/// trend, and yet a direction.
fn climbs(series: &Series) -> bool {
    let rises = series.readings.windows(2).all(|pair| pair[0].bytes < pair[1].bytes);
    let (first, last) = (series.readings.first(), series.readings.last());
    series.readings.len() == 3
        && rises
        && matches!((first, last), (Some(first), Some(last)) if last.bytes - first.bytes >= last.bytes / 20)
}

/// Memory that rises, or free memory that falls, under names that no series has.
fn under_other_names(incident: &Incident) -> Option<Reading> {
    let (trend, confidence, evenly) = trends(incident)
        .map(|trend| {
            let series = trend.series();
            let few = if climbs(&series) { WEAKLY } else { 0.0 };
            let confidence = series.growth().map_or(few, |growth| growth.confidence);
            (trend, confidence, evenly(incident, &series))
        })
        .filter(|(_, confidence, _)| *confidence >= WEAKLY)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (from, to, count) = (trend.samples.first()?, trend.samples.last()?, trend.samples.len());
    let (start, end) = (figure(trend, from.1), figure(trend, to.1));
    // In its first steps a job makes its optimizer's states and fills its caches: that rises, and ends.
    let settling = incident.context.step.value().is_some_and(|step| step <= SETTLED)
        && incident.context.epoch.value().is_none_or(|epoch| epoch <= 1);
    let most_was_free = trend.unit == Unit::Percent && !trend.free && to.1 < MOSTLY_FREE;
    let level = match confidence {
        _ if most_was_free => "rise-far-below",
        SURELY.. if !settling => "rise",
        _ if evenly => "rise-evenly",
        _ => "rise-weakly",
    };
    let text = if most_was_free {
        text!(
            en: "what is in use rises from {start} to {end} over {count} readings: most was free when it failed",
            zh: "占用在 {count} 个读数中从 {start} 升到 {end}：失败时大部分仍空闲"
        )
    } else if trend.free {
        text!(
            en: "what is free falls from {start} to {end} over {count} readings",
            zh: "空闲量在 {count} 个读数中从 {start} 降到 {end}"
        )
    } else {
        text!(
            en: "what is in use rises from {start} to {end} over {count} readings",
            zh: "占用在 {count} 个读数中从 {start} 升到 {end}"
        )
    };
    Some(Reading::new(level, text).at(Span::lines(from.0, to.0)))
}

/// True where the readings of the log rise, or the things that it keeps become more.
pub(in crate::cause) fn rising(incident: &Incident) -> bool {
    let rise =
        |mechanism: &Mechanism| (mechanism.read)(incident).is_some_and(|reading| reading.level.starts_with("rise"));
    rise(&READINGS) || rise(&KEPT_THINGS)
}

/// A count of things that are kept, which grows from line to line.
pub const KEPT_THINGS: Mechanism =
    Mechanism {
        id: "kept-things",
        levels: &["rise"],
        read: |incident| {
            if let Some((count, at)) = incident.event.facts.numbers.get(&Number::GraphVariables) {
                let text = text!(
                    en: "{count:.0} variables are in TensorFlow's graph by their numbers: models that were built \
                         before in this process stay in it",
                    zh: "按编号看，TensorFlow 的图中已有 {count:.0} 个变量：该进程中先前构建的模型仍留在图里"
                );
                return Some(Reading::new("rise", text).at(*at));
            }
            let things = incident.context.trends.iter().filter(|trend| trend.unit == Unit::Things);
            let grows = |trend: &&Trend| {
                let values: Vec<f64> = trend.samples.iter().map(|(_, value)| *value).collect();
                let (first, last) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
                values.len() >= 3 && values.windows(2).all(|pair| pair[0] < pair[1]) && last >= 1.5 * first.max(1.0)
            };
            let trend = things.filter(grows).max_by_key(|trend| trend.samples.len())?;
            let (from, to, label) = (trend.samples.first()?, trend.samples.last()?, trend.label.as_str());
            let (start, end) = (from.1, to.1);
            Some(
            Reading::new("rise", text!(
                en: "the log counts what it keeps, and the count rises with every line: {label} {start} … {end}",
                zh: "日志中保留项的计数逐行上升：{label} {start} … {end}"
            ))
                .at(Span::lines(from.0, to.0)),
        )
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
            Reading::new(
                "nearly-full",
                text!(
                    en: "the first reading of the log already stands at {level} of {all}",
                    zh: "日志中的第一个读数就已达 {all} 中的 {level}"
                ),
            )
            .at(Span::line(first.line)),
        )
    },
};

/// The failing line collects results.
pub const ACCUMULATES: Mechanism = Mechanism {
    id: "accumulates",
    levels: &["results", "in-the-code", "growing-blocks"],
    read: |incident| {
        if let Some(span) = incident.context.clues.get(&Clue::Accumulates) {
            return Some(
                Reading::new(
                    "results",
                    text!(
                        en: "the failing line collects results over steps, so each step holds more than the last",
                        zh: "失败处在逐步累积结果，每一步都比上一步占用更多"
                    ),
                )
                .at(*span),
            );
        }
        if let Some(span) = incident.context.clues.get(&Clue::KeepsTensors)
            && on_gpu(incident)
            && incident.event.program.pytorch_allocator() != PytorchAllocator::No
        {
            return Some(
                Reading::new(
                    "in-the-code",
                    text!(
                        en: "the code shown collects losses or outputs of each step without `.item()` or `.detach()`: \
                             where they are tensors, all that was computed on the way stays",
                        zh: "所示代码在每一步收集损失或输出，没有 `.item()` 或 `.detach()`：若它们是张量，\
                             其计算图会一直留在显存中"
                    ),
                )
                .at(*span),
            );
        }
        let span = incident.context.clues.get(&Clue::GrowingList)?;
        Some(
            Reading::new(
                "growing-blocks",
                text!(
                    en: "single blocks of a GiB and more are reported on the way: one list or buffer that is enlarged \
                         again and again",
                    zh: "途中多次报告 1 GiB 以上的单块分配：某个列表或缓冲区在反复扩容"
                ),
            )
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
    use crate::evidence::Known;
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
    fn like_rises_of_few_steps_are_what_each_leaves_behind() {
        let shown = |mib: &[u64], step, phase| {
            let mut incident = torch(&FULL_CARD);
            let values = mib.iter().enumerate().map(|(i, mib)| (i as u64 + 1, (mib * MIB) as f64)).collect();
            incident.context.trends =
                vec![Trend { label: "held".into(), unit: Unit::Bytes, free: false, samples: values }];
            incident.context.step = step;
            incident.context.phase = phase;
            level(&READINGS, &incident)
        };
        let step = Known::Seen(3, Span::line(4));
        let even = [1034, 1717, 2401, 3085];
        assert_eq!(shown(&even, step.clone(), Known::Unknown), Some("rise-evenly"));
        assert_eq!(shown(&[1034, 2700, 2900, 3085], step.clone(), Known::Unknown), Some("rise-weakly"));
        let loading = Known::Seen(Phase::Load, Span::line(4));
        assert_eq!(shown(&even, step, loading), Some("rise-weakly"), "parts of a model are alike too");
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

    #[test]
    fn memory_that_grows_under_a_name_of_the_programs_own_is_growth() {
        let trend = |label: &str, unit, free, values: &[f64]| Trend {
            label: label.into(),
            unit,
            free,
            samples: values.iter().enumerate().map(|(i, value)| (i as u64 + 1, *value)).collect(),
        };
        let shown = |mechanism: &Mechanism, trend: Trend| {
            let mut incident = torch(&FULL_CARD);
            incident.context.trends = vec![trend];
            level(mechanism, &incident)
        };
        let gib = |all: &[f64]| all.iter().map(|gib| gib * 1024.0 * MIB as f64).collect::<Vec<_>>();
        let rising = gib(&[4.0, 6.0, 8.0, 10.0, 12.0, 14.0]);
        assert_eq!(shown(&READINGS, trend("footprint", Unit::Bytes, false, &rising)), Some("rise"));
        let falling = gib(&[11.0, 9.0, 7.0, 5.0, 3.0, 1.0]);
        assert_eq!(shown(&READINGS, trend("", Unit::Bytes, true, &falling)), Some("rise"));
        assert_eq!(shown(&READINGS, trend("gpu", Unit::Percent, false, &[60.0, 70.0, 80.0, 90.0, 97.0])), Some("rise"));
        assert_eq!(shown(&READINGS, trend("footprint", Unit::Bytes, false, &rising[..3])), Some("rise-weakly"));
        let beyond = gib(&[64.0, 128.0, 256.0, 512.0, 1024.0]);
        assert_eq!(shown(&READINGS, trend("mapped", Unit::Bytes, false, &beyond)), None, "no device holds that");
        assert_eq!(shown(&READINGS, trend("cpu ram", Unit::Bytes, false, &rising)), None, "RAM is no matter of it");
        let little = [0.04, 0.3, 0.6, 0.9, 1.1, 1.23];
        assert_eq!(shown(&READINGS, trend("", Unit::Percent, false, &little)), Some("rise-far-below"));
        let counts = [3.0, 6.0, 9.0, 12.0];
        assert_eq!(shown(&KEPT_THINGS, trend("history", Unit::Things, false, &counts)), Some("rise"));
        assert_eq!(shown(&KEPT_THINGS, trend("history", Unit::Things, false, &[3.0, 6.0, 6.0, 12.0])), None);
    }
}
