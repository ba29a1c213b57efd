//! Memory readings over time, and whether they grow.

use crate::domain::closed_set;

closed_set! {
    /// What a series of readings measures.
    pub enum Measure {
        GpuAllocated = "gpu-allocated",
        GpuReserved = "gpu-reserved",
        /// GPU memory, kind not told (`GPU_mem` of Ultralytics, `memory(GiB)` of swift).
        GpuUsed = "gpu-used",
        HostProcess = "host-process",
        HostUsed = "host-used",
    }
}

impl Measure {
    /// True for the memory of an accelerator.
    pub fn on_device(self) -> bool {
        matches!(self, Measure::GpuAllocated | Measure::GpuReserved | Measure::GpuUsed)
    }
}

/// One reading of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    pub line: u64,
    /// The step or epoch it belongs to, where told: the abscissa of the growth fit.
    pub step: Option<f64>,
    pub bytes: u64,
}

closed_set! {
    pub enum StepUnit {
        Step = "step",
        Epoch = "epoch",
        Line = "line",
    }
}

/// Readings of one quantity in the order of the log, for one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub measure: Measure,
    pub rank: Option<u32>,
    /// What the steps count.
    pub per: StepUnit,
    /// The program prints a running maximum, which cannot fall.
    pub running_maximum: bool,
    pub readings: Vec<Reading>,
}

/// A fitted trend of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Bytes per step, epoch or reading; negative where it falls.
    pub bytes_per_step: f64,
    /// Rise of the fitted line over the part that was fitted, in bytes.
    pub rise: f64,
    /// That rise as a share of the level at the end, 0 … 1.
    pub relative_rise: f64,
    /// Share of all pairs of readings of which the later one is higher (Kendall), 0 … 1.
    pub monotonic: f64,
    /// Readings that were fitted.
    pub readings: usize,
    /// How sure it is that usage grows and goes on growing, 0 … 1.
    pub confidence: f64,
}

/// More readings than this are thinned evenly before fitting: the fit compares all pairs.
const FITTED_AT_MOST: usize = 200;

impl Series {
    /// True for three and more readings of a running maximum that are all equal: what is in use did not grow.
    pub fn stands_still(&self) -> bool {
        self.running_maximum
            && self.readings.len() >= 3
            && self.readings.windows(2).all(|pair| matches!(pair, [one, next] if one.bytes == next.bytes))
    }

    /// The readings after the first that show less than a tenth of the last: where no step is counted, they were
    /// printed between the parts of one start (nothing loaded, model loaded), which is no growth from step to step.
    fn since_it_was_set_up(&self) -> &[Reading] {
        let least = self.readings.last().map_or(0, |last| last.bytes / 10);
        let from = match self.per {
            StepUnit::Line => self.readings.iter().position(|reading| reading.bytes >= least).unwrap_or(0),
            StepUnit::Step | StepUnit::Epoch => 0,
        };
        &self.readings[from..]
    }

    /// The trend after warm-up, by the Theil–Sen estimator (the median of all pairs' slopes), which a few peaks do not
    /// move.
    ///
    /// The first quarter of the readings is warm-up and left out. Growth must show in both halves of the rest: a level
    /// that was reached and then kept is none, however much lower it started. Fewer than four readings tell nothing.
    pub fn growth(&self) -> Option<Growth> {
        let readings = self.since_it_was_set_up();
        if readings.len() < 4 {
            return None;
        }
        let warm_up = readings.len() / 4;
        let steady = &readings[warm_up.min(readings.len() - 4)..];
        let stride = steady.len().div_ceil(FITTED_AT_MOST).max(1);
        let points: Vec<(f64, f64)> = steady
            .iter()
            .enumerate()
            .step_by(stride)
            .map(|(i, reading)| (abscissa(self.per, reading, i), reading.bytes as f64))
            .collect();
        let slope = median_slope(&points)?;
        let length = points.last()?.0 - points.first()?.0;
        let level = median(points.iter().rev().take(points.len().div_ceil(4)).map(|p| p.1).collect())?;
        let rise = slope * length;
        let monotonic = rising_share(&points);
        let relative_rise = if level > 0.0 { (rise / level).clamp(-1.0, 1.0) } else { 0.0 };
        let middle = points.len() / 2;
        let halves = [median_slope(&points[..middle + 1]), median_slope(&points[middle..])];
        let later = halves[1].unwrap_or(0.0);
        let confidence = if slope <= 0.0 || relative_rise < 0.01 || later <= 0.1 * slope {
            0.0
        } else {
            // Each factor reaches one half where a careful reader would still hesitate: six readings, a rise of 5 %,
            // three of four pairs rising.
            let by_count = points.len() as f64 / (points.len() as f64 + 3.0);
            let by_rise = relative_rise / (relative_rise + 0.05);
            let by_order = ((monotonic - 0.5) * 2.0).clamp(0.0, 1.0);
            let by_halves = if halves[0].unwrap_or(0.0) > 0.0 { 1.0 } else { 0.5 };
            // A running maximum rises now and then without any leak.
            let by_kind = if self.running_maximum { 0.6 } else { 1.0 };
            (by_count * by_rise * (0.4 + 0.6 * by_order) * by_halves * by_kind * 1.25).min(0.99)
        };
        Some(Growth { bytes_per_step: slope, rise, relative_rise, monotonic, readings: points.len(), confidence })
    }
}

fn abscissa(per: StepUnit, reading: &Reading, index: usize) -> f64 {
    match per {
        StepUnit::Line => index as f64,
        StepUnit::Step | StepUnit::Epoch => reading.step.unwrap_or(index as f64),
    }
}

fn rising_share(points: &[(f64, f64)]) -> f64 {
    let (mut rising, mut all) = (0u32, 0u32);
    for (i, a) in points.iter().enumerate() {
        for b in &points[i + 1..] {
            all += 1;
            rising += u32::from(b.1 > a.1);
        }
    }
    f64::from(rising) / f64::from(all.max(1))
}

fn median_slope(points: &[(f64, f64)]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (i, a) in points.iter().enumerate() {
        for b in &points[i + 1..] {
            if b.0 > a.0 {
                slopes.push((b.1 - a.1) / (b.0 - a.0));
            }
        }
    }
    median(slopes)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let (_, value, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::MIB;

    fn series(running_maximum: bool, mib: &[u64]) -> Series {
        let readings = mib.iter().enumerate().map(|(i, m)| Reading {
            line: i as u64 + 1,
            step: Some(i as f64 * 10.0),
            bytes: m * MIB,
        });
        Series {
            measure: Measure::GpuAllocated,
            rank: None,
            per: StepUnit::Step,
            running_maximum,
            readings: readings.collect(),
        }
    }

    #[test]
    fn a_steady_rise_is_growth_with_its_slope() {
        let growth = series(false, &[1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700]).growth().unwrap();
        assert_eq!(growth.bytes_per_step, 10.0 * MIB as f64);
        assert!(growth.confidence > 0.7, "{growth:?}");
    }

    #[test]
    fn equal_maxima_stand_still() {
        assert!(series(true, &[4121, 4121, 4121]).stands_still());
        assert!(!series(true, &[4121, 4121]).stands_still());
        assert!(!series(true, &[4121, 4121, 4122]).stands_still());
        assert!(!series(false, &[4121, 4121, 4121]).stands_still());
    }

    #[test]
    fn a_plateau_after_warm_up_is_no_growth() {
        let growth = series(false, &[200, 900, 3000, 3000, 3001, 3000, 3000, 3001, 3000, 3000]).growth().unwrap();
        assert_eq!(growth.confidence, 0.0, "{growth:?}");
    }

    #[test]
    fn a_maximum_that_rises_in_the_first_steps_only_is_no_growth() {
        let growth = series(true, &[100, 500, 2000, 2800, 3344, 3344, 3344, 3344, 3344, 3344, 3344, 3344]).growth();
        assert_eq!(growth.unwrap().confidence, 0.0);
    }

    #[test]
    fn noise_around_a_level_is_no_growth_but_noise_on_a_rise_is() {
        let level = series(false, &[3000, 2800, 3100, 2900, 3000, 3050, 2850, 3000, 2950, 3010]).growth().unwrap();
        assert!(level.confidence < 0.2, "{level:?}");
        let rise = series(false, &[1000, 1300, 1200, 1600, 1500, 1900, 1800, 2200, 2100, 2500]).growth().unwrap();
        assert!(rise.confidence > 0.4, "{rise:?}");
    }

    #[test]
    fn few_readings_tell_nothing() {
        assert_eq!(series(false, &[1, 2, 3]).growth(), None);
    }

    /// 0, 3.7 and 10.8 GB between the parts of a start were called a leak.
    #[test]
    fn what_was_read_while_a_job_starts_is_no_growth() {
        let start = Series { per: StepUnit::Line, ..series(false, &[0, 0, 0, 3700, 3700, 10800]) };
        assert!(start.growth().is_none());
        let climbs = Series { per: StepUnit::Line, ..series(false, &[3000, 3500, 4000, 4500, 5000, 5500, 6000]) };
        assert!(climbs.growth().is_some_and(|growth| growth.confidence > 0.5));
    }
}
