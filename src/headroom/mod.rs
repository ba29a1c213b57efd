//! Does a batch fit a device with room to spare, and what is the largest that does?
//!
//! * [`measurements`] reads measured peaks from options, tables and logs, [`model_file`] the headers of files with
//!   weights; none of them opens a file.
//! * [`Curve`] answers for any batch, whatever it rests on; [`assess`] holds it against the device. [`host`] does the
//!   same for the data loaders.
//! * [`budget`] keeps a repository's limits, [`remedies`] tries what would make room.

pub mod budget;
pub mod host;
pub mod measurements;
pub mod model_file;
pub mod remedies;

use crate::domain::{Headroom, Verdict, closed_set};
use crate::estimate::batch::{BEYOND_A_FAILURE, first_try};
use crate::estimate::fit::{Counted, Fit};
use crate::estimate::inference::Serving;
use crate::estimate::peak::{Peak, whole};
use crate::estimate::surface::Surface;
use crate::estimate::training::{Phase, Training};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval};
use host::HostAnswer;
use remedies::Remedy;

closed_set! {
    /// What an answer rests on, the strongest first.
    pub enum Basis {
        Rehearsal = "rehearsal",
        Snapshot = "snapshot",
        Measurements = "measurements",
        Model = "model",
    }
}

impl Basis {
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
pub struct TargetDevice {
    /// As the user named it; empty where only a size was given.
    pub name: String,
    /// Bytes as CUDA counts them.
    pub capacity: u64,
    /// Bytes that the CUDA context and its libraries take.
    pub context: Interval,
    /// Bytes of other processes.
    pub others: u64,
}

impl TargetDevice {
    /// Bytes that the process itself cannot use for tensors.
    pub fn outside(&self) -> Interval {
        self.context + Interval::exactly(self.others)
    }

    /// What is left for tensors, in the middle of what is known.
    pub fn usable(&self) -> u64 {
        u64::try_from((Interval::exactly(self.capacity) - self.outside()).middle()).unwrap_or(0)
    }
}

/// A batch that ran out of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailedBatch {
    pub batch: u64,
    /// Bytes in use and asked for when it failed: its peak is at least this.
    pub needed: f64,
    /// The device that it failed on, bytes.
    pub capacity: Option<u64>,
}

impl FailedBatch {
    /// The peak per sample only falls with the batch, so smaller batches have at least their part of it; nothing bounds
    /// it from above.
    fn peak(&self, batch: u64) -> Peak {
        let part = batch as f64 / self.batch.max(1) as f64;
        let low = self.needed * part.min(1.0);
        Peak { low, expected: self.needed * part * BEYOND_A_FAILURE, high: f64::INFINITY }
    }

    /// What to try on a device of which so much is usable.
    pub fn first_try(&self, usable: u64) -> Option<u64> {
        first_try(self.batch, self.needed * 0.999, self.needed * 0.001, usable as f64, 0.0)
    }
}

/// The peak for any batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    Measured(Fit),
    /// Measured, but the points cannot all be true, and why not.
    Contradicted(Fit, Text),
    /// Measured at several lengths of the sequence.
    Surface(Surface),
    Described(Box<Training>),
    /// Concurrent requests in place of samples.
    Served(Box<Serving>),
    Failed(FailedBatch),
}

impl Curve {
    pub fn peak(&self, batch: u64) -> Peak {
        match self {
            Curve::Measured(fit) => fit.peak(batch),
            // Whatever is true, no figure follows from it.
            Curve::Contradicted(..) => Peak { low: 0.0, expected: 0.0, high: f64::INFINITY },
            Curve::Surface(surface) => surface.peak(batch),
            Curve::Described(training) => training.peak(batch),
            Curve::Served(serving) => serving.peak(batch),
            Curve::Failed(failure) => failure.peak(batch),
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
    pub device: Option<TargetDevice>,
    pub headroom: Headroom,
    /// Batches that are known to have failed.
    pub failures: Vec<FailedBatch>,
    /// Share of the device that an engine may take; 1 for programs that take what they need.
    pub share: f64,
    /// What a description takes for granted, in one line.
    pub taken: Option<Text>,
    /// Whether a description was rehearsed, or why not.
    pub source: Option<Text>,
    /// The formulas beside a rehearsal: they tell what would change its answer.
    pub described: Option<Box<Training>>,
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
    /// What is served, where that is the question.
    pub serving: Option<Serving>,
    /// The longest request that is sure to fit, tokens, where something is served.
    pub longest_context: Option<u64>,
    pub host: Option<HostAnswer>,
}

impl Assessment {
    /// An answer about the host alone.
    pub fn of_host(question: Question, host: HostAnswer) -> Assessment {
        Assessment {
            question,
            basis: Basis::Model,
            verdict: host.verdict,
            batch: None,
            peak: None,
            headroom: None,
            largest: None,
            because: Vec::new(),
            remedies: Vec::new(),
            line: Vec::new(),
            measured: Vec::new(),
            phases: Vec::new(),
            serving: None,
            longest_context: None,
            host: Some(host),
        }
    }

    /// The same with the host's answer: both must fit.
    pub fn with_host(mut self, host: HostAnswer) -> Assessment {
        self.verdict = self.verdict.max(host.verdict);
        self.host = Some(host);
        self
    }

    /// Free share of the device at the expected peak.
    pub fn headroom_share(&self) -> Option<f64> {
        let device = self.question.device.as_ref()?;
        Some(self.headroom? as f64 / device.capacity.max(1) as f64)
    }
}

/// No training runs more samples per process and step.
const LARGEST_BATCH: u64 = 1 << 20;

/// Whether a peak leaves the headroom on a device; unknown where the range reaches from "with room to spare" to "too
/// much".
pub fn judge(peak: Peak, outside: Interval, device: &TargetDevice, headroom: f64) -> Verdict {
    let needed = peak.interval() + outside;
    if peak.low + outside.low as f64 > device.capacity as f64 {
        return Verdict::DoesNotFit;
    }
    let verdict = Verdict::of(needed, device.capacity, headroom);
    let limit = Interval::exactly(device.capacity).scale((1.0 - headroom).clamp(0.0, 1.0)).low;
    if verdict == Verdict::Tight && needed.low <= limit && needed.high > i128::from(device.capacity) {
        return Verdict::Unknown;
    }
    verdict
}

/// Holds a curve against the device.
pub fn assess(question: Question, basis: Basis, curve: &Curve) -> Assessment {
    if let Curve::Contradicted(fit, why) = curve {
        return contradicted(question, basis, fit, why);
    }
    let outside = |device: &TargetDevice| {
        if curve.counts_context() { Interval::exactly(device.others) } else { device.outside() }
    };
    // What must stay free: the headroom, and what an engine may not touch.
    let kept_free = |device: &TargetDevice| question.headroom.share(device.capacity).max(1.0 - question.share);
    let failed = |device: &TargetDevice, batch: u64| {
        let on_no_more = |failure: &FailedBatch| failure.capacity.is_some_and(|capacity| capacity >= device.capacity);
        question.failures.iter().find(|failure| failure.batch <= batch && on_no_more(failure))
    };
    let largest = question.device.as_ref().map(|device| {
        let limit = Interval::exactly(device.capacity).scale((1.0 - kept_free(device)).clamp(0.0, 1.0)).low;
        let outside = outside(device);
        let most = |needed: &dyn Fn(Peak) -> f64, outside: i128| {
            let fits = |batch| needed(curve.peak(batch)) + outside as f64 <= limit as f64;
            let fits = |batch| fits(batch) && failed(device, batch).is_none();
            // Below the smallest batch that was measured less is sure than at that batch itself.
            let measured = match curve {
                Curve::Measured(fit) => fit.points().iter().map(|point| point.batch).filter(|b| fits(*b)).max(),
                _ => None,
            };
            largest_batch(fits).max(measured.unwrap_or(0))
        };
        let expected = match curve {
            Curve::Failed(failure) => failure.first_try(device.usable()).unwrap_or(0),
            _ => most(&|peak| peak.expected, outside.middle()),
        };
        Largest { safe: most(&|peak| peak.high, outside.high), expected }
    });
    let batch = question.batch.or(largest.map(|largest| largest.safe.max(1)));
    let peak = batch.map(|batch| curve.peak(batch));
    let (verdict, headroom) = match (&question.device, peak) {
        (Some(device), Some(peak)) => {
            let verdict = match batch.and_then(|batch| failed(device, batch)) {
                Some(_) => Verdict::DoesNotFit,
                None => judge(peak, outside(device), device, kept_free(device)),
            };
            let used = whole(peak.expected) + outside(device).middle();
            (verdict, Some(i128::from(device.capacity) - used))
        }
        _ => (Verdict::Unknown, None),
    };
    let because = reasons(&question, curve, batch);
    let remedies = match &question.device {
        Some(device) if verdict != Verdict::Fits => remedies::of(curve, &question, device, batch, largest),
        _ => Vec::new(),
    };
    let phases = match (curve, &question.described) {
        (Curve::Described(training), _) | (_, Some(training)) => {
            batch.map(|batch| training.phases(batch)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let measured = match curve {
        Curve::Measured(fit) => fit.points().iter().map(|point| (point.batch, point.bytes)).collect(),
        Curve::Surface(surface) => {
            let of_length = surface.samples.iter().filter(|sample| sample.sequence == surface.sequence);
            of_length.map(|sample| (sample.batch, sample.bytes)).collect()
        }
        _ => Vec::new(),
    };
    let line = if matches!(curve, Curve::Failed(_)) { Vec::new() } else { line(curve, batch, largest, &measured) };
    let serving = match curve {
        Curve::Served(serving) => Some((**serving).clone()),
        _ => None,
    };
    let longest_context = question.device.as_ref().zip(serving.as_ref()).and_then(|(device, serving)| {
        let limit = device.capacity as f64 * (1.0 - kept_free(device)) - outside(device).high as f64;
        serving.longest_context(limit)
    });
    Assessment {
        question,
        basis,
        verdict,
        batch,
        peak,
        headroom,
        largest,
        because,
        remedies,
        line,
        measured,
        phases,
        serving,
        longest_context,
        host: None,
    }
}

/// The answer where measurements contradict each other: there is none, but a batch that failed here fails again.
fn contradicted(question: Question, basis: Basis, fit: &Fit, why: &Text) -> Assessment {
    let failed = question.device.as_ref().zip(question.batch).is_some_and(|(device, batch)| {
        let here = |failure: &FailedBatch| failure.capacity.is_some_and(|capacity| capacity >= device.capacity);
        question.failures.iter().any(|failure| failure.batch <= batch && here(failure))
    });
    Assessment {
        basis,
        verdict: if failed { Verdict::DoesNotFit } else { Verdict::Unknown },
        batch: question.batch,
        peak: None,
        headroom: None,
        largest: None,
        because: vec![why.clone()],
        remedies: Vec::new(),
        line: Vec::new(),
        measured: fit.points().iter().map(|point| (point.batch, point.bytes)).collect(),
        phases: Vec::new(),
        serving: None,
        longest_context: None,
        host: None,
        question,
    }
}

/// The largest batch for which `fits` holds, given that it holds for all smaller ones; 0 where not even one sample
/// does.
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
    let end = interest.min(asked.saturating_mul(8)).saturating_add(1).saturating_mul(5) / 4;
    let mut batches: Vec<u64> =
        (0..=POINTS).map(|i| 1 + ((u128::from(end) - 1) * u128::from(i) / u128::from(POINTS)) as u64).collect();
    batches.dedup();
    batches.into_iter().map(|batch| (batch, curve.peak(batch))).collect()
}

fn reasons(question: &Question, curve: &Curve, batch: Option<u64>) -> Vec<Text> {
    let mut because = Vec::new();
    match curve {
        Curve::Measured(fit) => {
            let n = fit.points().len();
            let batches: Vec<String> = fit.points().iter().map(|point| point.batch.to_string()).collect();
            let list = batches.join(", ");
            because.push(match n {
                1 => text!(
                    en: "measured at batch {list} only: other batches are bounded, not known",
                    zh: "只在批大小 {list} 处实测过：其他批大小只有上下界"
                ),
                _ => text!(en: "measured at batches {list}", zh: "在批大小 {list} 处实测"),
            });
            if let Some(slope) = fit.slope() {
                let (k, c) = (Bytes(slope.expected as u64), Bytes(slope.constant.max(0.0) as u64));
                because.push(text!(en: "{k} per sample above {c}", zh: "每个样本 {k}，固定部分 {c}"));
                if let Some((batch, bytes)) = batch.and_then(|batch| Some((batch, fit.in_use(batch)?))) {
                    let bytes = Bytes(bytes as u64);
                    because.push(text!(
                        en: "on that line {bytes} are in use at batch {batch}, to which comes what the allocator holds \
                             beyond",
                        zh: "沿该直线，批大小 {batch} 时占用 {bytes}，另加分配器额外持有的部分"
                    ));
                }
                if !slope.confirmed && batch.is_some_and(|b| fit.points().iter().all(|point| point.batch < b)) {
                    because.push(Text::new(
                        "at the smaller of the two batches the peak may be that of the optimizer's step, which does \
                         not grow with the batch: memory per sample may then be higher; measure a third batch",
                        "两点中较小的一点可能落在不随批大小增长的优化器 step 上：实际斜率可能更大；再测一点即可确定",
                    ));
                }
            } else if n > 1 {
                because.push(Text::new("the peak does not grow between the points", "各点之间峰值没有增长"));
            }
        }
        Curve::Surface(surface) => {
            let (n, s) = (surface.samples.len(), surface.sequence);
            let (token, base) = (Bytes(surface.linear as u64), Bytes(surface.constant as u64));
            because.push(text!(
                en: "measured at {n} pairs of batch and sequence; {token} a token above {base}, at {s} tokens a sample",
                zh: "在 {n} 组批大小与序列长度处实测；每个 token {token}，固定部分 {base}，每个样本 {s} 个 token"
            ));
            because.push(if surface.is_quadratic() {
                Text::new(
                    "part of it grows with the square of the sequence: attention writes its scores out",
                    "其中一部分随序列长度平方增长：注意力得分被完整写出",
                )
            } else {
                Text::new("no part grows with the square of the sequence", "没有随序列长度平方增长的部分")
            });
        }
        Curve::Described(training) => {
            let params = training.model.parameters;
            because.push(if training.model.guessed {
                text!(
                    en: "{:.1} M parameters of unknown shape: weights and states are known, activations guessed within \
                         a factor",
                    zh: "{:.1} M 参数，结构未知：权重与优化器状态可算，激活只能按倍数估计",
                    params / 1e6
                )
            } else {
                text!(
                    en: "{} with {:.1} M parameters, counted from its configuration; nothing was measured",
                    zh: "{}，按配置计算有 {:.1} M 参数；没有实测",
                    training.model.family, params / 1e6
                )
            });
            if let Some(highest) = batch.and_then(|batch| training.highest(batch)) {
                let moment = highest.moment.text();
                because
                    .push(Text::new(format!("the highest moment is {}", moment.en), format!("最高点在{}", moment.zh)));
            }
        }
        Curve::Served(serving) => {
            let (weights, token) = (Bytes(serving.weights() as u64), Bytes(serving.token() as u64));
            let (request, context) = (Bytes(serving.request() as u64), serving.context);
            because.push(text!(
                en: "weights {weights}; cache {token} a token, {request} for {context} tokens",
                zh: "权重 {weights}；缓存每个 token {token}，{context} 个 token 共 {request}"
            ));
        }
        Curve::Contradicted(_, why) => because.push(why.clone()),
        Curve::Failed(failure) => {
            let tried = question.device.as_ref().and_then(|device| failure.first_try(device.usable()));
            because.push(match tried {
                Some(batch) => text!(
                    en: "a failure bounds the peak from below only; try batch {batch} and measure its peak",
                    zh: "失败只给出峰值的下界；先试批大小 {batch} 并测量其峰值"
                ),
                None => Text::new(
                    "a failure bounds the peak from below only; measure the peak of a smaller batch",
                    "失败只给出峰值的下界；请测量较小批大小的峰值",
                ),
            });
        }
    }
    for failure in &question.failures {
        let (b, needed) = (failure.batch, Bytes(failure.needed as u64));
        because.push(match failure.capacity {
            Some(capacity) => {
                let capacity = Bytes(capacity);
                text!(
                    en: "batch {b} failed on {capacity} with {needed} in use and asked for",
                    zh: "批大小 {b} 在 {capacity} 上失败，当时已用与请求共 {needed}"
                )
            }
            None => text!(
                en: "batch {b} failed with {needed} in use and asked for",
                zh: "批大小 {b} 失败，当时已用与请求共 {needed}"
            ),
        });
    }
    if let Some(device) = &question.device
        && !curve.counts_context()
    {
        let (low, high) = (Bytes(device.context.low.max(0) as u64), Bytes(device.context.high.max(0) as u64));
        because.push(if low == high {
            text!(en: "{low} for the CUDA context", zh: "CUDA 上下文占 {low}")
        } else {
            text!(
                en: "{low} to {high} for the CUDA context and its kernels",
                zh: "CUDA 上下文及其内核占 {low} 到 {high}"
            )
        });
    }
    because
}

#[cfg(test)]
mod tests;
