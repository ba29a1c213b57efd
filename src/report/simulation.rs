//! What a simulated run of the allocator did: a JSON object for each request, or a summary.

use super::Style;
use super::layout::{Screen, Tone, run};
use super::table::{Column, Table};
use crate::allocator::caching::AllocError;
use crate::allocator::config::Remark;
use crate::allocator::replay::{Done, ReplayOutcome, Step};
use crate::allocator::snapshot::SegmentView;
use crate::allocator::trace::{Op, Trace};
use crate::text::{Lang, Text};
use crate::units::{Bytes, percent};
use std::fmt::Write;

/// Appends the line of one request: `i op id bytes stream addr oom error ev st`, or its segments for a snapshot.
pub fn line(out: &mut String, trace: &Trace, step: &Step<'_>) {
    // Writing to a String cannot fail.
    let _ = try_line(out, trace, step);
}

fn try_line(out: &mut String, trace: &Trace, step: &Step<'_>) -> std::fmt::Result {
    write!(out, "{{\"i\":{},\"op\":\"{}\"", step.index, step.op.letter())?;
    if let Ok(Done::Segments(segments)) = step.outcome {
        out.push(',');
        self::segments(out, Some(segments))?;
        out.push_str("}\n");
        return Ok(());
    }
    if let Some(id) = step.op.slot().and_then(|slot| trace.ids.get(slot as usize)).filter(|id| **id >= 0) {
        write!(out, ",\"id\":{id}")?;
    }
    if let Op::Allocate { bytes, stream, .. } = step.op
        && *bytes >= 0
    {
        write!(out, ",\"bytes\":{bytes},\"stream\":{stream}")?;
    }
    match step.outcome {
        Ok(Done::Address(address)) => write!(out, ",\"addr\":{}", relative(*address))?,
        Ok(_) => {}
        Err(AllocError::OutOfMemory(text)) => write!(out, ",\"oom\":{}", quoted(text))?,
        Err(AllocError::Error(text)) => write!(out, ",\"error\":{}", quoted(text))?,
    }
    out.push_str(",\"ev\":[");
    for (n, event) in step.events.iter().enumerate() {
        let (comma, result) = (if n > 0 { "," } else { "" }, event.result as u8);
        write!(out, "{comma}[\"{}\",{},{},{result}]", event.call.name(), relative(event.address), event.size)?;
    }
    let stats = step.stats;
    writeln!(
        out,
        "],\"st\":[{},{},{},{},{}]}}",
        stats.allocated_bytes.all.current,
        stats.reserved_bytes.all.current,
        stats.active_bytes.all.current,
        stats.inactive_split_bytes.all.current,
        stats.requested_bytes.all.current
    )
}

/// Appends the last line: all counters as `[current, peak]`, then the segments.
pub fn last_line(out: &mut String, outcome: &ReplayOutcome) {
    // Writing to a String cannot fail.
    let _ = try_last_line(out, outcome);
}

fn try_last_line(out: &mut String, outcome: &ReplayOutcome) -> std::fmt::Result {
    write!(out, "{{\"final\":true,\"ops\":{},\"stats\":{{", outcome.requests)?;
    for (name, counter) in outcome.stats.named() {
        let (all, small, large) = (counter.all, counter.small, counter.large);
        write!(
            out,
            "\"{name}\":{{\"all\":[{},{}],\"small\":[{},{}],\"large\":[{},{}]}},",
            all.current, all.peak, small.current, small.peak, large.current, large.peak
        )?;
    }
    write!(
        out,
        "\"num_alloc_retries\":{},\"num_ooms\":{}}},",
        outcome.stats.num_alloc_retries, outcome.stats.num_ooms
    )?;
    segments(out, outcome.segments.as_deref())?;
    out.push_str("}\n");
    Ok(())
}

fn segments(out: &mut String, segments: Option<&[SegmentView]>) -> std::fmt::Result {
    let Some(segments) = segments else {
        out.push_str("\"segments\":null");
        return Ok(());
    };
    out.push_str("\"segments\":[");
    for (n, segment) in segments.iter().enumerate() {
        let comma = if n > 0 { "," } else { "" };
        write!(
            out,
            "{comma}{{\"addr\":{},\"size\":{},\"stream\":{},\"large\":{},\"expandable\":{},\"allocated\":{},\
             \"active\":{},\"requested\":{},\"blocks\":[",
            segment.address,
            segment.size,
            segment.stream,
            u8::from(segment.large),
            u8::from(segment.expandable),
            segment.allocated,
            segment.active,
            segment.requested
        )?;
        for (n, block) in segment.blocks.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(out, "{comma}[{},{},\"{}\"]", block.size, block.requested, block.state.name())?;
        }
        out.push_str("]}");
    }
    out.push(']');
    Ok(())
}

/// An address as the lines print it: -1 for none.
fn relative(address: Option<u64>) -> i64 {
    address.map_or(-1, |address| address.min(i64::MAX as u64) as i64)
}

fn quoted(text: &str) -> serde_json::Value {
    serde_json::Value::String(text.to_string())
}

/// An out-of-memory error of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// 0-based request.
    pub index: usize,
    pub bytes: i64,
    pub text: String,
}

/// What the summary shows.
#[derive(Debug)]
pub struct Summary<'a> {
    pub outcome: &'a ReplayOutcome,
    /// The first out-of-memory errors.
    pub refusals: &'a [Refusal],
    /// All of them, also those of other kinds of refusal.
    pub refused: u64,
    /// Requests that failed otherwise.
    pub errors: u64,
    pub first_error: Option<&'a str>,
    /// Settings that deserve a word.
    pub remarks: &'a [Remark],
    pub capacity: u64,
    /// What came of it with expandable segments, where that was tried.
    pub expandable: Option<Expandable>,
}

/// The same requests with expandable segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expandable {
    /// Peak of reserved memory.
    pub reserved: u64,
    /// Requests that failed.
    pub refused: u64,
}

/// Reserved memory beyond this share of the allocated peak is told as fragmentation.
const SPARE: f64 = 0.05;

/// Does this sequence fragment? `None` where nothing is known of segments.
fn fragments(summary: &Summary<'_>) -> Option<Text> {
    summary.outcome.segments.as_ref()?;
    let peak = |bytes: i64| Bytes(bytes.max(0) as u64);
    let stats = &summary.outcome.stats;
    let (allocated, reserved) = (peak(stats.allocated_bytes.all.peak), peak(stats.reserved_bytes.all.peak));
    if allocated.0 == 0 {
        return None;
    }
    let refused = stats.num_ooms;
    if refused > 0 {
        // What was allocated at most counts the served requests alone, so that peaks tell nothing.
        return summary.expandable.map(|expandable| {
            let still = expandable.refused;
            if still < refused {
                crate::text!(
                    en: "It fragments: of {refused} failed requests {still} fail with expandable_segments:True.",
                    zh: "有碎片化：失败的 {refused} 个请求中，使用 expandable_segments:True 后仍有 {still} 个失败。"
                )
            } else {
                crate::text!(
                    en: "No fragmentation that expandable segments cure: with expandable_segments:True as many fail \
                         ({still}).",
                    zh: "不是可扩展段能消除的碎片化：使用 expandable_segments:True 时同样有 {still} 个请求失败。"
                )
            }
        });
    }
    let spare = reserved.0.saturating_sub(allocated.0) as f64 / allocated.0 as f64;
    if spare <= SPARE {
        return Some(crate::text!(
            en: "It does not fragment: {reserved} are reserved at most for {allocated} allocated at most.",
            zh: "没有碎片化：已分配峰值 {allocated}，保留峰值 {reserved}。"
        ));
    }
    let spare = percent(spare);
    Some(match summary.expandable.map(|expandable| Bytes(expandable.reserved)) {
        Some(less) if less.0 < reserved.0 => crate::text!(
            en: "It fragments: {reserved} are reserved at most for {allocated} allocated at most, {spare} more; \
                 expandable_segments:True reserves {less}.",
            zh: "有碎片化：已分配峰值 {allocated}，保留峰值 {reserved}，多 {spare}；\
                 expandable_segments:True 只保留 {less}。"
        ),
        _ => crate::text!(
            en: "{reserved} are reserved at most for {allocated} allocated at most, {spare} more; expandable segments \
                 reserve no less.",
            zh: "已分配峰值 {allocated}，保留峰值 {reserved}，多 {spare}；expandable_segments 也不会更少。"
        ),
    })
}

/// The summary for people.
pub fn summary(summary: &Summary<'_>, style: Style) -> String {
    let mut screen = Screen::of(style);
    let lang = style.lang;
    let stats = &summary.outcome.stats;
    let label = |en: &'static str, zh: &'static str| Text::new(en, zh);
    let amount = |bytes: i64| Bytes(bytes.max(0) as u64).to_string();
    let mut rows: Vec<(Text, String)> = vec![
        (label("requests", "请求数"), summary.outcome.requests.to_string()),
        (label("device memory", "显存容量"), Bytes(summary.capacity).to_string()),
    ];
    if summary.outcome.segments.is_some() {
        rows.extend([
            (label("peak allocated", "已分配峰值"), amount(stats.allocated_bytes.all.peak)),
            (label("peak requested", "请求字节峰值"), amount(stats.requested_bytes.all.peak)),
            (label("peak reserved", "已预留峰值"), amount(stats.reserved_bytes.all.peak)),
            (
                label("reserved, unallocated at the end", "结束时已预留未分配"),
                amount(stats.reserved_bytes.all.current - stats.allocated_bytes.all.current),
            ),
            (
                label("in split segments at the end", "结束时位于已拆分段中的空闲"),
                amount(stats.inactive_split_bytes.all.current),
            ),
            (label("cache released for a request", "为请求而清空缓存"), stats.num_alloc_retries.to_string()),
        ]);
    }
    rows.push((label("out-of-memory errors", "显存不足错误"), summary.refused.to_string()));
    if summary.errors > 0 {
        rows.push((label("other errors", "其他错误"), summary.errors.to_string()));
    }
    let mut table = Table::new(&[Column::Left, Column::Left]);
    for (label, value) in rows {
        table.row(vec![vec![run(Tone::Faint, label.in_lang(lang))], vec![run(Tone::Plain, value)]]);
    }
    screen.table(0, &table);
    if let Some(text) = fragments(summary) {
        screen.blank();
        screen.paragraph(&[], 0, &[run(Tone::Plain, text.in_lang(lang))]);
    }
    for refusal in summary.refusals {
        screen.blank();
        let title = crate::text!(
            en: "Request {} of {} bytes failed:", zh: "第 {} 个请求（{} 字节）失败：", refusal.index, refusal.bytes
        );
        screen.paragraph(&[], 2, &[run(Tone::Strong, title.in_lang(lang))]);
        for line in refusal.text.lines() {
            screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Plain, line.replace(char::is_control, " "))]);
        }
    }
    let more = summary.refused.saturating_sub(summary.refusals.len() as u64);
    if more > 0 {
        let text = crate::text!(
            en: "… and {more} more; --format jsonl shows all", zh: "……另有 {more} 个；--format jsonl 可查看全部"
        );
        screen.paragraph(&[], 2, &[run(Tone::Faint, text.in_lang(lang))]);
    }
    if let Some(error) = summary.first_error {
        screen.blank();
        let title = Text::new("First other error:", "首个其他错误：");
        screen.paragraph(
            &[run(Tone::Strong, title.in_lang(lang)), run(Tone::Plain, " ")],
            2,
            &[run(Tone::Plain, error)],
        );
    }
    remarks(&mut screen, summary.remarks, lang);
    screen.render()
}

fn remarks(screen: &mut Screen, remarks: &[Remark], lang: Lang) {
    if remarks.is_empty() {
        return;
    }
    screen.blank();
    let title = Text::new("About the settings", "关于配置");
    screen.paragraph(&[], 2, &[run(Tone::Strong, title.in_lang(lang))]);
    for remark in remarks {
        screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Plain, remark.text.in_lang(lang))]);
    }
}
