//! The peak as a function of the batch from measured points.
//!
//! Allocated bytes follow `peak(b) = max(f, c + k·b)`: the optimizer's step is constant, backward grows. Where the knee
//! lies is unknown, so every answer is a range that holds for all such functions through the points, widened by what
//! measurements scatter. One point alone still bounds: with `c ≥ 0` the peak per sample only falls with the batch.

use super::peak::{HELD_BEYOND, HELD_FLOOR, Peak};
use crate::order::InOrder;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, MIB};

/// What a measured figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// `torch.cuda.max_memory_allocated`.
    Allocated,
    /// `torch.cuda.max_memory_reserved`: held by the allocator.
    Reserved,
    /// The whole process as the driver or nvidia-smi tells, context included.
    Process,
}

/// One measured peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub batch: u64,
    /// Bytes, in the measure of the fit.
    pub bytes: f64,
    /// Bytes reserved in the same run, where they were counted beside allocated ones.
    pub reserved: Option<f64>,
    /// True where the peak is known to be that of the optimizer's step, which does not grow with the batch.
    pub on_floor: bool,
}

/// Least share of the optimizer phase's peak that backward starts from: weights and states against weights, states,
/// gradients and temporaries. Adafactor in 32 bit has the least, 4 of 12 bytes.
const LEAST_CONSTANT: f64 = 0.33;
/// Scatter of allocated bytes: share and floor (residuals over 12 layers, batches 3 to 32).
const SCATTER: (f64, f64) = (0.005, 16.0 * MIB as f64);
/// Scatter of reserved bytes: from batch to batch the allocator held 1.0 to 1.37 times what was in use.
const SCATTER_RESERVED: (f64, f64) = (0.10, 0.25 * GIB as f64);
/// Most that the allocator held beyond what was allocated, with fixed shapes, where that was not measured along:
/// share and floor.
const HELD_MOST: (f64, f64) = (0.3, 0.6 * GIB as f64);
/// The same beyond the most that was measured along, at other batches.
const HELD_BEYOND_MEASURED: f64 = 0.1;
/// How far a point may lie off a line, as a share of what the line grows by: where peaks of the optimizer's step differ
/// as much as the largest grows beyond them, the line has not begun.
const LINE: f64 = 0.15;
/// How much a larger batch may seem to need less, and how far a point may lie above the line through its neighbours,
/// before the points contradict each other: of allocated bytes, and of others.
const MAY_FALL: (f64, f64) = (0.03, 0.2);
const MAY_BULGE: (f64, f64) = (0.05, 0.25);

/// Measured points, ready to answer for any batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// By batch, one for each.
    points: Vec<Point>,
    counted: Counted,
}

/// The line that the largest points lie on, and what is known of its slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Bytes per sample: least, expected, most.
    pub low: f64,
    pub expected: f64,
    pub high: f64,
    /// Bytes at batch 0 of the expected line.
    pub constant: f64,
    /// True where at least three points lie on one line.
    pub confirmed: bool,
}

impl Fit {
    /// Sorts the points; of several of one batch the highest counts. `None` without any usable point.
    pub fn new(mut points: Vec<Point>, counted: Counted) -> Option<Fit> {
        points.retain(|point| point.batch > 0 && point.bytes.is_finite() && point.bytes > 0.0);
        points.order_by(|a, b| a.batch.cmp(&b.batch).then(b.bytes.total_cmp(&a.bytes)));
        points.dedup_by_key(|point| point.batch);
        (!points.is_empty()).then_some(Fit { points, counted })
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    pub fn counted(&self) -> Counted {
        self.counted
    }

    fn scatter(&self, bytes: f64) -> f64 {
        let (share, floor) = if self.counted == Counted::Allocated { SCATTER } else { SCATTER_RESERVED };
        // A small peak does not scatter by more than a share of itself.
        share * bytes + floor.min(0.05 * bytes)
    }

    /// Why no line can be drawn through the points: peaks never fall with the batch, grow in proportion to it at most
    /// from the optimizer's step on, and therefore bend upwards at one place only.
    pub fn contradiction(&self) -> Option<Text> {
        let of = |(allocated, other): (f64, f64)| if self.counted == Counted::Allocated { allocated } else { other };
        let size = |point: &Point| Bytes(point.bytes as u64);
        for pair in self.points.windows(2) {
            let [before, after] = pair else { continue };
            if after.bytes < before.bytes * (1.0 - of(MAY_FALL)) {
                let (small, large, less, more) = (before.batch, after.batch, size(after), size(before));
                return Some(text!(
                    en: "batch {large} is said to need {less}, less than the {more} of batch {small}: swapped figures, \
                         another sequence length, or a file that was cut",
                    zh: "据称批大小 {large} 需要 {less}，少于批大小 {small} 的 {more}：\
                         数字颠倒、序列长度不同，或文件被截断"
                ));
            }
        }
        let line = |from: &Point, to: &Point, batch: u64| {
            let part = (batch - from.batch) as f64 / (to.batch - from.batch).max(1) as f64;
            from.bytes + part * (to.bytes - from.bytes)
        };
        for (i, point) in self.points.iter().enumerate() {
            let (before, after) = (self.points.get(..i)?, self.points.get(i + 1..)?);
            let bulges =
                |from: &Point| after.iter().any(|to| point.bytes > line(from, to, point.batch) * (1.0 + of(MAY_BULGE)));
            if before.iter().any(bulges) {
                let (batch, bytes) = (point.batch, size(point));
                return Some(text!(
                    en: "the {bytes} of batch {batch} do not lie on a line with the other points: one of them is wrong \
                         or was measured otherwise",
                    zh: "批大小 {batch} 的 {bytes} 与其他点不在一条线上：其中有一点有误，或测量方式不同"
                ));
            }
        }
        if self.counted == Counted::Allocated && self.points.windows(4).any(Fit::accelerates) {
            return Some(Text::new(
                "the peak grows faster than the batch: something else grew along with it, such as the sequence",
                "峰值的增长快于批大小：同时还有别的东西在增长，例如序列长度",
            ));
        }
        None
    }

    /// True where each stretch is steeper than the one before and none is the floor of the optimizer's step.
    fn accelerates(points: &[Point]) -> bool {
        let slope = |pair: &[Point]| match pair {
            [a, b] => (b.bytes - a.bytes) / (b.batch - a.batch).max(1) as f64,
            _ => 0.0,
        };
        let slopes: Vec<f64> = points.windows(2).map(slope).collect();
        matches!(slopes.as_slice(), [a, b, c] if *a > 0.3 * c && *b > 1.1 * a && *c > 1.1 * b)
    }

    /// The first of the points that lie on one line with the last two: the knee is below them. `None` where the last
    /// two stand alone.
    fn start_of_line(&self) -> Option<&Point> {
        let [.., before, last] = self.points.as_slice() else { return None };
        let mut start = None;
        for from in self.points.iter().rev().skip(2) {
            let slope = (last.bytes - from.bytes) / (last.batch - from.batch) as f64;
            let on_line = |point: &&Point| {
                let expected = from.bytes + slope * (point.batch - from.batch) as f64;
                let off = (point.bytes - expected).abs();
                off <= self.scatter(point.bytes).max(0.01 * point.bytes) && off <= LINE * (last.bytes - from.bytes)
            };
            let grows = last.bytes - from.bytes > (self.scatter(last.bytes) + self.scatter(before.bytes)) * 0.5;
            if !grows || !self.points.iter().filter(|point| point.batch > from.batch).all(|point| on_line(&point)) {
                break;
            }
            start = Some(from);
        }
        start
    }

    /// The slope of the largest batches, with the range that a hidden knee and the scatter leave. `None` with one point
    /// only or where the peak does not grow.
    pub fn slope(&self) -> Option<Slope> {
        let [.., before, last] = self.points.as_slice() else { return None };
        let start = self.start_of_line();
        let confirmed = start.is_some();
        let from = start.unwrap_or(before);
        let run = (last.batch - from.batch) as f64;
        let expected = ((last.bytes - from.bytes) / run).max(0.0);
        // Reserved bytes scatter by themselves at either end, not about a common line.
        let together = if self.counted == Counted::Allocated { 0.5 } else { 1.0 };
        let tolerance = (self.scatter(last.bytes) + self.scatter(from.bytes)) * together / run;
        // Where the smaller point may lie on the floor, the line may be steeper: it starts no lower than this.
        let high = if before.on_floor || !confirmed {
            let above = if self.counted == Counted::Allocated { 0.0 } else { self.scatter(last.bytes) };
            let steepest = (last.bytes + above - LEAST_CONSTANT * before.bytes.min(last.bytes)) / last.batch as f64;
            steepest.max(expected)
        } else {
            expected + tolerance
        };
        Some(Slope {
            low: (expected - tolerance).max(0.0),
            expected,
            high,
            constant: last.bytes - expected * last.batch as f64,
            confirmed,
        })
    }

    /// What is in use at a batch by the line through the points; `None` where they count something else or do not tell.
    pub fn in_use(&self, batch: u64) -> Option<f64> {
        let extrapolated = self.counted == Counted::Allocated && self.slope().is_some();
        extrapolated.then(|| self.counted_at(batch).expected)
    }

    /// Bytes in the measure of the points, at a batch.
    fn counted_at(&self, batch: u64) -> Peak {
        let b = batch as f64;
        let at = |point: &Point| {
            let scatter = self.scatter(point.bytes);
            Peak { low: point.bytes - scatter, expected: point.bytes, high: point.bytes + scatter }
        };
        if let Some(point) = self.points.iter().find(|point| point.batch == batch) {
            return at(point);
        }
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return Peak { low: 0.0, expected: 0.0, high: f64::MAX };
        };
        let slope = self.slope();
        if batch > last.batch {
            let more = b - last.batch as f64;
            let base = at(last);
            return match slope {
                // The scatter of both points grows with the distance.
                Some(slope) => {
                    // In proportion to the batch at most.
                    let ceiling = base.high * b / last.batch as f64
                        * if self.counted == Counted::Allocated { 1.0 } else { 1.0 + SCATTER_RESERVED.0 };
                    Peak {
                        low: base.low + slope.low * more,
                        expected: base.expected + slope.expected * more,
                        high: (base.high + slope.high * more).min(ceiling),
                    }
                }
                // Proportional at most, constant at least.
                None => Peak {
                    low: base.low,
                    expected: base.expected * (1.0 + 0.75 * more / last.batch as f64),
                    high: base.high * b / last.batch as f64,
                },
            };
        }
        if batch < first.batch {
            let base = at(first);
            return match slope {
                Some(slope) => {
                    let less = (first.batch - batch) as f64;
                    let line = first.bytes - slope.expected * less;
                    let steep = first.bytes - slope.high * less;
                    let floor =
                        self.points.iter().filter(|point| point.on_floor).map(|point| point.bytes).fold(0.0, f64::max);
                    let low = steep.min(line).max(base.low * b / first.batch as f64).max(floor.min(base.low));
                    // A floor that no point shows may hold it up to the smallest measured peak.
                    Peak { low, expected: line.max(low), high: base.high }
                }
                None => Peak {
                    low: base.low * b / first.batch as f64,
                    expected: base.expected * (0.25 + 0.75 * b / first.batch as f64),
                    high: base.high,
                },
            };
        }
        // Between two points a convex function lies below their chord and above the extension of the line after them.
        let after = self.points.iter().position(|point| point.batch > batch).unwrap_or(self.points.len() - 1);
        let (Some(left), Some(right)) = (self.points.get(after.saturating_sub(1)), self.points.get(after)) else {
            return at(last);
        };
        let part = (b - left.batch as f64) / (right.batch - left.batch).max(1) as f64;
        let chord = left.bytes + part * (right.bytes - left.bytes);
        let steep = slope.map_or(0.0, |slope| right.bytes - slope.high * (right.batch as f64 - b));
        let scatter = self.scatter(chord);
        Peak { low: steep.max(left.bytes).min(chord) - scatter, expected: chord, high: chord.max(left.bytes) + scatter }
    }

    /// The peak at a batch as the allocator needs it.
    pub fn peak(&self, batch: u64) -> Peak {
        let counted = self.counted_at(batch);
        let peak = match self.counted {
            Counted::Allocated => {
                let measured = self.points.iter().find(|point| point.batch == batch).and_then(|point| point.reserved);
                let beyond: Vec<f64> =
                    self.points.iter().filter_map(|p| p.reserved.map(|held| held / p.bytes)).collect();
                let (share, floor, most_share, most_floor) = if beyond.is_empty() {
                    (HELD_BEYOND, HELD_FLOOR, 1.0 + HELD_MOST.0, HELD_MOST.1)
                } else {
                    let mean = beyond.iter().sum::<f64>() / beyond.len() as f64;
                    let most = beyond.iter().copied().fold(1.0, f64::max);
                    (mean.max(1.0), 0.0, most + HELD_BEYOND_MEASURED, 0.1 * GIB as f64)
                };
                match measured {
                    // Seen at this very batch: what was reserved was enough.
                    Some(held) => Peak { low: counted.low, expected: held, high: held + self.scatter(held) },
                    None => Peak {
                        low: counted.low,
                        expected: counted.expected * share + floor,
                        high: counted.high * most_share + most_floor,
                    },
                }
            }
            // Reserved memory can be given back before an error is raised, so less may do.
            Counted::Reserved | Counted::Process => Peak { low: counted.low * 0.88, ..counted },
        };
        Peak::ordered(peak.low, peak.expected, peak.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: f64 = MIB as f64;

    fn fit(points: &[(u64, f64)]) -> Fit {
        let points = points
            .iter()
            .map(|(batch, mib)| Point { batch: *batch, bytes: mib * M, reserved: None, on_floor: false })
            .collect();
        Fit::new(points, Counted::Allocated).expect("points")
    }

    #[test]
    fn a_point_on_the_optimizers_floor_does_not_make_the_extrapolation_unsafe() {
        // 12 layers, measured: 1 lies on the floor.
        let fit = fit(&[(1, 6787.0), (4, 7437.7)]);
        let peak = fit.peak(8);
        assert!(peak.high > 11034.0 * M && peak.low < 10797.0 * M, "{peak:?}");
    }

    /// Recomputed layers, 1.3 billion parameters, measured: the first three are those of the optimizer's step, and the
    /// fourth is a little above it. 16 needs 35,071.
    #[test]
    fn a_floor_with_one_point_above_it_is_no_line() {
        let points = [(1, 26046.2), (2, 26033.2), (4, 25957.2), (8, 26558.9)];
        let fit = fit(&points);
        assert!(!fit.slope().expect("grows").confirmed);
        let peak = fit.peak(16);
        assert!(peak.high > 38550.0 * M, "reserved: {peak:?}");
    }

    #[test]
    fn three_points_on_a_line_are_trusted() {
        let fit = fit(&[(4, 4466.2), (8, 7221.9), (16, 12762.5)]);
        assert!(fit.slope().expect("grows").confirmed);
        let peak = fit.peak(32);
        assert!((peak.expected / (1.05 * 23792.0 * M) - 1.0).abs() < 0.02, "{peak:?}");
        assert!(peak.high < 33000.0 * M && peak.high > 24630.0 * M, "{peak:?}");
    }

    #[test]
    fn three_points_on_a_line_foresee_the_fourth() {
        let fit = fit(&[(2, 3088.7), (4, 4466.2), (8, 7221.9)]);
        let in_use = fit.in_use(16).expect("a line") / M;
        // 12762.5 in truth.
        assert!((in_use - 12_733.0).abs() < 5.0, "{in_use}");
    }

    #[test]
    fn points_that_contradict_each_other_are_no_line() {
        let why = |points: &[(u64, f64)]| fit(points).contradiction().map(|why| why.en);
        assert!(why(&[(8, 12_800.0), (16, 7_200.0)]).expect("a fall").contains("less than"));
        assert!(why(&[(8, 7_200.0), (16, 30_000.0), (32, 10_000.0)]).is_some());
        assert!(why(&[(2, 3_000.0), (4, 9_000.0), (8, 9_100.0)]).expect("a bulge").contains("batch 4"));
        assert!(why(&[(1, 1_000.0), (2, 1_600.0), (4, 3_500.0), (8, 11_000.0)]).expect("a square").contains("faster"));
        // The optimizer's floor, a line from it on, and noise.
        assert_eq!(why(&[(1, 6_787.0), (2, 6_787.0), (4, 7_437.7), (8, 10_800.0)]), None);
        assert_eq!(why(&[(2, 3_088.7), (4, 4_466.2), (8, 7_221.9)]), None);
        assert_eq!(why(&[(2, 3_088.7), (4, 3_050.0)]), None);
    }

    #[test]
    fn one_point_bounds_by_proportion() {
        let fit = fit(&[(8, 8000.0)]);
        assert!(fit.slope().is_none());
        let twice = fit.peak(16);
        assert!(twice.low < 8000.0 * M && twice.high > 16000.0 * M);
        let half = fit.peak(4);
        assert!(half.low < 4000.0 * M && half.high > 8000.0 * M);
    }

    #[test]
    fn nothing_grows_faster_than_the_batch() {
        // The smaller one lies on the floor, so that the line may be as steep as there is room for.
        let points = [(8, 1000.0, true), (16, 1500.0, false)];
        let point = |(batch, mib, on_floor)| Point { batch, bytes: mib * M, reserved: None, on_floor };
        let fit = Fit::new(points.map(point).to_vec(), Counted::Allocated).expect("points");
        let (last, far) = (fit.counted_at(16), fit.counted_at(160));
        assert!(far.high <= 10.0 * last.high, "{far:?} of {last:?}");
    }

    /// A peak that grows ever faster stays below the line between two of its points.
    #[test]
    fn between_two_points_less_may_be_needed_than_on_the_line() {
        let fit = fit(&[(8, 1000.0), (16, 1100.0)]);
        let between = fit.counted_at(12);
        assert!((between.expected / M - 1050.0).abs() < 1e-6);
        // But no less than at the smaller batch.
        let low = between.low + fit.scatter(between.expected);
        assert!((low / M - 1000.0).abs() < 1e-6, "{between:?}");
    }

    #[test]
    fn what_is_held_beyond_what_is_handed_out_is_expected_as_it_was_seen() {
        let held = |share: f64| {
            let point = |batch: u64| {
                let bytes = batch as f64 * 125.0 * M;
                Point { batch, bytes, reserved: Some(share * bytes), on_floor: false }
            };
            let fit = Fit::new([8, 16, 24].map(point).to_vec(), Counted::Allocated).expect("points");
            fit.peak(32).expected / fit.counted_at(32).expected
        };
        assert!((held(1.2) - 1.2).abs() < 1e-9, "{}", held(1.2));
        // No less is reserved than is allocated, whatever a program printed.
        assert!((held(0.9) - 1.0).abs() < 1e-9, "{}", held(0.9));
    }
}
