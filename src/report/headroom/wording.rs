//! Sentences that several formats share.

use crate::estimate::peak::Peak;
use crate::estimate::verdict::Verdict;
use crate::headroom::{Assessment, Largest};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, signed};

/// Whole bytes of a part of a peak.
pub fn bytes(value: f64) -> Bytes {
    // A conversion of a float saturates.
    Bytes(value.max(0.0) as u64)
}

/// `12.76 GiB (12.10 GiB … 14.30 GiB)`.
pub fn range(peak: Peak) -> String {
    format!("{} ({} … {})", bytes(peak.expected), bytes(peak.low), bytes(peak.high))
}

/// The answer in one line.
pub fn headline(assessment: &Assessment) -> Text {
    let question = &assessment.question;
    let Some(device) = &question.device else {
        return match assessment.batch.zip(assessment.peak) {
            Some((batch, peak)) => {
                let range = range(peak);
                text!(en: "Batch {batch} peaks at {range}", zh: "批大小 {batch} 的峰值为 {range}")
            }
            None => Text::new("Neither a batch nor a GPU was given", "既没有给出批大小，也没有给出 GPU"),
        };
    };
    let room = question.headroom.text();
    let size = Bytes(device.capacity);
    let gpu = if device.name.is_empty() { size.to_string() } else { format!("{} ({size})", device.name) };
    let Some(batch) = question.batch else {
        let safe = assessment.largest.map_or(0, |largest| largest.safe);
        return match safe {
            0 => {
                text!(en: "No batch is sure to fit {gpu} with {room} to spare", zh: "没有哪个批大小能确保放进 {gpu} 并留出 {room} 余量")
            }
            _ => {
                text!(en: "Up to batch {safe} fits {gpu} with {room} to spare", zh: "批大小不超过 {safe} 时放得进 {gpu}，并留出 {room} 余量")
            }
        };
    };
    match assessment.verdict {
        Verdict::Fits => {
            text!(en: "Batch {batch} fits {gpu} with {room} to spare", zh: "批大小 {batch} 放得进 {gpu}，并留出 {room} 余量")
        }
        Verdict::Tight => {
            text!(en: "Batch {batch} is tight on {gpu}: {room} to spare is not assured", zh: "批大小 {batch} 在 {gpu} 上很紧张：不能保证 {room} 的余量")
        }
        Verdict::DoesNotFit => text!(en: "Batch {batch} does not fit {gpu}", zh: "批大小 {batch} 放不进 {gpu}"),
        Verdict::Unknown => {
            text!(en: "Cannot tell whether batch {batch} fits {gpu}", zh: "无法判断批大小 {batch} 能否放进 {gpu}")
        }
    }
}

/// `Peak 12.76 GiB (…), 9.1 % of the GPU stays free`.
pub fn peak_line(assessment: &Assessment) -> Option<Text> {
    let (batch, peak) = assessment.batch.zip(assessment.peak)?;
    let range = range(peak);
    Some(match (assessment.headroom, assessment.headroom_share()) {
        (Some(left), Some(share)) if left >= 0 => {
            let percent = share * 100.0;
            text!(
                en: "peak at batch {batch}: {range}; {} stays free, {percent:.1} %",
                zh: "批大小 {batch} 的峰值：{range}；剩余 {}，占 {percent:.1} %",
                signed(left)
            )
        }
        (Some(left), _) => {
            text!(en: "peak at batch {batch}: {range}; {} are missing", zh: "批大小 {batch} 的峰值：{range}；缺少 {}", signed(-left))
        }
        _ => text!(en: "peak at batch {batch}: {range}", zh: "批大小 {batch} 的峰值：{range}"),
    })
}

/// The largest batches.
pub fn largest(assessment: &Assessment) -> Option<Text> {
    let Largest { safe, expected } = assessment.largest?;
    let room = assessment.question.headroom.text();
    Some(match (safe, expected) {
        (0, 0) => {
            text!(en: "not even one sample fits with {room} to spare", zh: "即使一个样本也无法在留出 {room} 余量的情况下放下")
        }
        (0, expected) => {
            text!(en: "largest batch with {room} to spare: {expected} expected, none for sure", zh: "留出 {room} 余量的最大批大小：预计 {expected}，没有确定可行的")
        }
        (safe, expected) if safe == expected => {
            text!(en: "largest batch with {room} to spare: {safe}", zh: "留出 {room} 余量的最大批大小：{safe}")
        }
        (safe, expected) => {
            text!(en: "largest batch with {room} to spare: {safe} for sure, {expected} expected", zh: "留出 {room} 余量的最大批大小：确定 {safe}，预计 {expected}")
        }
    })
}
