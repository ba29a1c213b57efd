//! Sentences that several formats share.

use crate::domain::Verdict;
use crate::estimate::inference::Serving;
use crate::estimate::peak::{Peak, whole};
use crate::headroom::host::HostAnswer;
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
    if peak.high.is_finite() {
        format!("{} ({} … {})", bytes(peak.expected), bytes(peak.low), bytes(peak.high))
    } else {
        format!("≥ {}", bytes(peak.low))
    }
}

/// What the loaders take at first and in the end.
pub fn host_range(host: &HostAnswer) -> String {
    host.need.in_the_end().to_string()
}

/// The host's answer in one line.
pub fn host_headline(host: &HostAnswer) -> Text {
    let loader = &host.loader;
    let (p, w, limit, need) = (loader.processes, loader.workers, Bytes(host.limit), host_range(host));
    let from = &host.limit_from;
    let (en, zh) = match host.verdict {
        Verdict::Fits => ("fit", "放得下"),
        Verdict::DoesNotFit => ("do not fit", "放不下"),
        Verdict::Tight | Verdict::Unknown => ("are tight", "很紧张"),
    };
    Text::new(
        format!("The data loaders of {p} × {w} workers {en} {limit} of host memory ({}): they take {need}", from.en),
        format!("{p} × {w} 个 worker 的数据加载在 {limit} 主机内存（{}）中{zh}：需要 {need}", from.zh),
    )
}

/// What would fit the host.
pub fn host_remedies(host: &HostAnswer) -> Vec<Text> {
    let mut out = Vec::new();
    if host.verdict == Verdict::Fits {
        return out;
    }
    out.push(match host.workers {
        Some(0) => text!(en: "only loading in the training process itself fits as it is", zh: "按现在的设置，只有在训练进程内加载才放得下"),
        Some(workers) => text!(en: "{workers} workers per process fit", zh: "每个进程 {workers} 个 worker 放得下"),
        None => text!(en: "no number of workers fits", zh: "任何 worker 数都放不下"),
    });
    if host.need.caches_in_the_end.high > 0 {
        if let Some(bytes) = host.cache {
            let bytes = Bytes(bytes);
            out.push(text!(en: "with caches of at most {bytes} for each process that reads", zh: "把每个读取进程的缓存限制在 {bytes} 以内"));
        }
        if let Some(bytes) = host.shared_cache {
            let bytes = Bytes(bytes);
            out.push(text!(en: "with one cache of at most {bytes} that all share", zh: "改用所有进程共享、不超过 {bytes} 的一份缓存"));
        }
    }
    out
}

/// Requests at once and tokens of one.
pub fn served(assessment: &Assessment, serving: &Serving) -> Text {
    let context = serving.context;
    match assessment.longest_context {
        Some(tokens) => {
            text!(en: "requests of {context} tokens; one alone may have {tokens}", zh: "每个请求 {context} 个 token；只有一个请求时可达 {tokens} 个")
        }
        None => text!(en: "requests of {context} tokens", zh: "每个请求 {context} 个 token"),
    }
}

/// The answer in one line.
pub fn headline(assessment: &Assessment) -> Text {
    let text = of_batch(assessment);
    if assessment.serving.is_some() { as_requests(text) } else { text }
}

fn of_batch(assessment: &Assessment) -> Text {
    if let (Some(host), None) = (&assessment.host, assessment.batch) {
        return host_headline(host);
    }
    let question = &assessment.question;
    let Some(device) = &question.device else {
        return match assessment.batch.zip(assessment.peak) {
            Some((batch, peak)) => {
                let range = range(peak);
                text!(en: "Batch {batch} peaks at {range}", zh: "批大小 {batch} 的峰值为 {range}")
            }
            None if !assessment.because.is_empty() => Text::new("Cannot tell the peak", "无法判断峰值"),
            None => Text::new("Neither a batch nor a GPU was given", "既没有给出批大小，也没有给出 GPU"),
        };
    };
    let room = question.headroom.text();
    let size = Bytes(device.capacity);
    let gpu = if device.name.is_empty() { size.to_string() } else { format!("{} ({size})", device.name) };
    let Some(batch) = question.batch else {
        if assessment.largest.is_none() {
            return text!(en: "Cannot tell which batch fits {gpu}", zh: "无法判断多大的批能放进 {gpu}");
        }
        let safe = assessment.largest.map_or(0, |largest| largest.safe);
        return match safe {
            0 => {
                text!(en: "No batch is sure to fit {gpu} with {room} to spare", zh: "没有哪个批大小能确保放进 {gpu} 并留出 {room} 余量")
            }
            _ => {
                text!(en: "Batches up to {safe} fit {gpu} with {room} to spare", zh: "批大小不超过 {safe} 时放得进 {gpu}，并留出 {room} 余量")
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

/// Whether a description was rehearsed, or why not.
pub fn source(assessment: &Assessment) -> Option<Text> {
    assessment.question.source.clone()
}

/// The head of what would change the answer.
pub fn changes(assessment: &Assessment) -> Text {
    match assessment.question.described {
        Some(_) => Text::new("What would change it, by formulas", "可以改变结果的办法（按公式计算）"),
        None => Text::new("What would change it", "可以改变结果的办法"),
    }
}

/// What a description takes for granted.
pub fn taken(assessment: &Assessment) -> Option<Text> {
    let taken = assessment.question.taken.as_ref()?;
    Some(Text::new(format!("for {}", taken.en), format!("条件：{}", taken.zh)))
}

/// `Peak 12.76 GiB (…), 9.1 % of the GPU stays free`.
pub fn peak_line(assessment: &Assessment) -> Option<Text> {
    let (batch, peak) = assessment.batch.zip(assessment.peak)?;
    let range = range(peak);
    let text = match (assessment.headroom, assessment.headroom_share()) {
        (Some(left), Some(share)) if left >= 0 => {
            let percent = share * 100.0;
            let (en, zh) = outside(assessment);
            text!(
                en: "peak at batch {batch}: {range}; {en}{} stays free, {percent:.1} %",
                zh: "批大小 {batch} 的峰值：{range}；{zh}剩余 {}，占 {percent:.1} %",
                signed(left)
            )
        }
        (Some(left), _) => {
            let (en, zh) = outside(assessment);
            text!(
                en: "peak at batch {batch}: {range}; {en}{} are missing",
                zh: "批大小 {batch} 的峰值：{range}；{zh}缺少 {}",
                signed(-left)
            )
        }
        _ => text!(en: "peak at batch {batch}: {range}", zh: "批大小 {batch} 的峰值：{range}"),
    };
    Some(if assessment.serving.is_some() { as_requests(text) } else { text })
}

/// What is neither the peak nor free, so that all parts sum to the device: the context where the peak leaves it out,
/// and other processes.
fn outside(assessment: &Assessment) -> (String, String) {
    let parts = assessment.question.device.as_ref().zip(assessment.peak).zip(assessment.headroom);
    let Some(((device, peak), left)) = parts else { return Default::default() };
    let others = i128::from(device.others);
    let context = i128::from(device.capacity) - whole(peak.expected) - left - others;
    let (mut en, mut zh) = (String::new(), String::new());
    if context > 0 {
        en += &format!("{} for the context, ", signed(context));
        zh += &format!("上下文 {}，", signed(context));
    }
    if others > 0 {
        en += &format!("{} of other processes, ", signed(others));
        zh += &format!("其他进程 {}，", signed(others));
    }
    (en, zh)
}

/// The largest batches.
pub fn largest(assessment: &Assessment) -> Option<Text> {
    let Largest { safe, expected } = assessment.largest?;
    let room = assessment.question.headroom.text();
    let text = match (safe, expected) {
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
    };
    Some(if assessment.serving.is_some() { as_requests(text) } else { text })
}

/// Of what is served, requests take the place of samples.
fn as_requests(text: Text) -> Text {
    let en = text.en.replace("largest batch", "most requests at once").replace("sample", "request");
    Text::new(
        en.replace("Batch", "Concurrency").replace("batch", "concurrency"),
        text.zh.replace("最大批大小", "最大并发数").replace("批大小", "并发数").replace("样本", "请求"),
    )
}
