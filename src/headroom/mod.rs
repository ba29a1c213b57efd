//! Does a batch fit a device with room to spare, and what is the largest that does?
//!
//! * [`measurements`] reads measured peaks from options, tables and logs, [`model_file`] reads what model files tell of
//!   their shape; neither touches files.
//! * [`Curve`] answers for any batch, whatever it rests on; [`assess`] holds it against the device.
//! * [`budget`] keeps a repository's limits, [`remedies`] tries what would make room.

pub mod measurements;
pub mod remedies;

use crate::estimate::fit::{Counted, Fit};
use crate::estimate::peak::Peak;
use crate::estimate::training::{Phase, Training};
use crate::estimate::verdict::Verdict;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval};
use remedies::Remedy;

/// What an answer rests on, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    Rehearsal,
    Snapshot,
    Measurements,
    Model,
}

impl Basis {
    /// As JSON names it.
    pub fn id(self) -> &'static str {
        match self {
            Basis::Rehearsal => "rehearsal",
            Basis::Snapshot => "snapshot",
            Basis::Measurements => "measurements",
            Basis::Model => "model",
        }
    }

    pub fn text(self) -> Text {
        match self {
            Basis::Rehearsal => Text::new("a rehearsal", "预演"),
            Basis::Snapshot => Text::new("memory snapshots", "显存快照"),
            Basis::Measurements => Text::new("measured peaks", "实测峰值"),
            Basis::Model => Text::new("a description of the model", "对模型的描述"),
        }
    }
}

/// The device that is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// As the user named it; empty where only a size was given.
    pub name: String,
    /// Bytes as CUDA counts them.
    pub capacity: u64,
    /// Bytes that the CUDA context and its libraries take.
    pub context: Interval,
    /// Bytes of other processes.
    pub others: u64,
}

/// Context and loaded kernels where nothing more is known: 0.3 to 0.7 GiB.
pub const CONTEXT: Interval = Interval { low: 300 << 20, high: 720 << 20 };

impl Device {
    /// Bytes that the process itself cannot use for tensors.
    pub fn outside(&self) -> Interval {
        self.context + Interval::exactly(self.others)
    }

    /// What is left for tensors, in the middle of what is known.
    pub fn usable(&self) -> u64 {
        u64::try_from((Interval::exactly(self.capacity) - self.outside()).middle()).unwrap_or(0)
    }
}

/// Room that is to stay free.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Headroom {
    /// Of the device, 0 to 1.
    Share(f64),
    Bytes(u64),
}

impl Headroom {
    /// As a share of a device.
    pub fn share(self, capacity: u64) -> f64 {
        match self {
            Headroom::Share(share) => share,
            Headroom::Bytes(bytes) => bytes as f64 / capacity.max(1) as f64,
        }
    }

    pub fn text(self) -> String {
        match self {
            Headroom::Share(share) => format!("{} %", (share * 1000.0).round() / 10.0),
            Headroom::Bytes(bytes) => Bytes(bytes).to_string(),
        }
    }
}

/// The peak for any batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    Measured(Fit),
    Described(Box<Training>),
}

impl Curve {
    pub fn peak(&self, batch: u64) -> Peak {
        match self {
            Curve::Measured(fit) => fit.peak(batch),
            Curve::Described(training) => training.peak(batch),
        }
    }

    /// True where peaks count the whole process, its context included.
    fn counts_context(&self) -> bool {
        matches!(self, Curve::Measured(fit) if fit.counted() == Counted::Process)
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Samples per step and process; without it only the largest batch is sought.
    pub batch: Option<u64>,
    /// Without it only the peak is told.
    pub device: Option<Device>,
    pub headroom: Headroom,
}

/// The largest batches that keep the headroom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// By the high end of the peak.
    pub safe: u64,
    /// By the expected peak.
    pub expected: u64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    pub question: Question,
    pub basis: Basis,
    pub verdict: Verdict,
    /// At the batch asked about, or at the largest safe one where none was.
    pub batch: Option<u64>,
    pub peak: Option<Peak>,
    /// Device bytes, context included, that stay free at the expected peak; negative where they lack.
    pub headroom: Option<i128>,
    pub largest: Option<Largest>,
    pub because: Vec<Text>,
    pub remedies: Vec<Remedy>,
    /// Batch and peak along the curve, for drawing.
    pub line: Vec<(u64, Peak)>,
    /// Batches and bytes that were measured.
    pub measured: Vec<(u64, f64)>,
    /// The moments of a step with their formulas, where the peak is computed.
    pub phases: Vec<Phase>,
}

impl Assessment {
    /// Free share of the device at the expected peak.
    pub fn headroom_share(&self) -> Option<f64> {
        let device = self.question.device.as_ref()?;
        Some(self.headroom? as f64 / device.capacity.max(1) as f64)
    }
}

/// No training runs more samples per process and step.
const LARGEST_BATCH: u64 = 1 << 20;

/// Whether a peak leaves the headroom on a device; unknown where the range reaches from "with room to spare" to "too much".
pub fn judge(peak: Peak, outside: Interval, device: &Device, headroom: f64) -> Verdict {
    let needed = peak.interval() + outside;
    let verdict = Verdict::of(needed, device.capacity, headroom);
    let limit = Interval::exactly(device.capacity).scale((1.0 - headroom).clamp(0.0, 1.0)).low;
    if verdict == Verdict::Tight && needed.low <= limit && needed.high > i128::from(device.capacity) {
        return Verdict::Unknown;
    }
    verdict
}

/// Holds a curve against the device.
pub fn assess(question: Question, basis: Basis, curve: &Curve) -> Assessment {
    let mut because = Vec::new();
    let outside = |device: &Device| {
        if curve.counts_context() { Interval::exactly(device.others) } else { device.outside() }
    };
    let largest = question.device.as_ref().map(|device| {
        let headroom = question.headroom.share(device.capacity);
        let limit = Interval::exactly(device.capacity).scale((1.0 - headroom).clamp(0.0, 1.0)).low;
        let outside = outside(device);
        let most = |needed: &dyn Fn(Peak) -> f64, outside: i128| {
            largest_batch(|batch| needed(curve.peak(batch)) + outside as f64 <= limit as f64)
        };
        Largest { safe: most(&|peak| peak.high, outside.high), expected: most(&|peak| peak.expected, outside.middle()) }
    });
    let batch = question.batch.or(largest.map(|largest| largest.safe.max(1)));
    let peak = batch.map(|batch| curve.peak(batch));
    let (verdict, headroom) = match (&question.device, peak) {
        (Some(device), Some(peak)) => {
            let share = question.headroom.share(device.capacity);
            let verdict = judge(peak, outside(device), device, share);
            let used = peak.expected as i128 + outside(device).middle();
            (verdict, Some(i128::from(device.capacity) - used))
        }
        _ => (Verdict::Unknown, None),
    };
    reasons(&question, curve, batch, &mut because);
    let remedies = match &question.device {
        Some(device) if verdict != Verdict::Fits => remedies::of(curve, &question, device, batch, largest),
        _ => Vec::new(),
    };
    let phases = match curve {
        Curve::Described(training) => batch.map(|batch| training.phases(batch)).unwrap_or_default(),
        Curve::Measured(_) => Vec::new(),
    };
    let measured = match curve {
        Curve::Measured(fit) => fit.points().iter().map(|point| (point.batch, point.bytes)).collect(),
        Curve::Described(_) => Vec::new(),
    };
    let line = line(curve, batch, largest, &measured);
    Assessment { question, basis, verdict, batch, peak, headroom, largest, because, remedies, line, measured, phases }
}

/// The largest batch for which `fits` holds, given that it holds for all smaller ones; 0 where not even one sample does.
fn largest_batch(fits: impl Fn(u64) -> bool) -> u64 {
    if !fits(1) {
        return 0;
    }
    let mut low = 1;
    while low < LARGEST_BATCH && fits(low * 2) {
        low *= 2;
    }
    let mut high = (low * 2).min(LARGEST_BATCH);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Points of the curve from 1 to beyond everything of interest.
fn line(curve: &Curve, batch: Option<u64>, largest: Option<Largest>, measured: &[(u64, f64)]) -> Vec<(u64, Peak)> {
    const POINTS: u64 = 64;
    let seen = measured.iter().map(|(batch, _)| *batch).max().unwrap_or(0);
    let largest = largest.map_or(0, |largest| largest.expected.max(largest.safe));
    let interest = batch.unwrap_or(1).max(seen).max(if largest < LARGEST_BATCH { largest } else { 0 });
    // Far beyond the batch asked about the rest would be squeezed into a corner.
    let asked = batch.unwrap_or(1).max(seen).max(1);
    let end = interest.min(asked.saturating_mul(8)).saturating_mul(5) / 4 + 1;
    let mut batches: Vec<u64> = (0..=POINTS).map(|i| 1 + (end - 1) * i / POINTS).collect();
    batches.dedup();
    batches.into_iter().map(|batch| (batch, curve.peak(batch))).collect()
}

fn reasons(question: &Question, curve: &Curve, batch: Option<u64>, because: &mut Vec<Text>) {
    match curve {
        Curve::Measured(fit) => {
            let n = fit.points().len();
            let batches: Vec<String> = fit.points().iter().map(|point| point.batch.to_string()).collect();
            let list = batches.join(", ");
            because.push(match n {
                1 => text!(en: "measured at batch {list} only: other batches are bounded, not known", zh: "只在批大小 {list} 处实测过：其他批大小只有上下界"),
                _ => text!(en: "measured at batches {list}", zh: "在批大小 {list} 处实测"),
            });
            if let Some(slope) = fit.slope() {
                let (k, c) = (Bytes(slope.expected as u64), Bytes(slope.constant.max(0.0) as u64));
                because.push(text!(en: "{k} per sample above {c}", zh: "每个样本 {k}，固定部分 {c}"));
                if !slope.confirmed && batch.is_some_and(|b| fit.points().iter().all(|point| point.batch < b)) {
                    because.push(Text::new(
                        "the smaller of two points may show the optimizer's step, which does not grow with the batch: the line can be steeper; a third point would tell",
                        "两点中较小的一点可能落在不随批大小增长的优化器 step 上：实际斜率可能更大；再测一点即可确定",
                    ));
                }
            } else if n > 1 {
                because.push(Text::new("the peak does not grow between the points", "各点之间峰值没有增长"));
            }
        }
        Curve::Described(training) => {
            let params = training.model.parameters;
            because.push(text!(
                en: "{} with {:.1} M parameters, counted from its configuration; nothing was measured",
                zh: "{}，按配置计算有 {:.1} M 参数；没有实测",
                training.model.family, params / 1e6
            ));
            if let Some(highest) = batch.and_then(|batch| training.highest(batch)) {
                let moment = highest.moment.text();
                because
                    .push(Text::new(format!("the highest moment is {}", moment.en), format!("最高点在{}", moment.zh)));
            }
        }
    }
    if let Some(device) = &question.device
        && !curve.counts_context()
    {
        let (low, high) = (Bytes(device.context.low.max(0) as u64), Bytes(device.context.high.max(0) as u64));
        because.push(if low == high {
            text!(en: "{low} for the CUDA context", zh: "CUDA 上下文占 {low}")
        } else {
            text!(en: "{low} to {high} for the CUDA context and its kernels", zh: "CUDA 上下文及其内核占 {low} 到 {high}")
        });
    }
}
