//! Reports of `oomdoc diff`.

use super::Style;
use super::layout::{Screen, Tone, run};
use super::markdown::escape;
use crate::snapshot::diff::{DeviceDiff, Entry, Moment, Sides};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{Bytes, signed};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// What was compared and what came of it.
pub struct Report {
    pub before: String,
    pub after: String,
    pub moment: Moment,
    pub devices: Vec<DeviceDiff>,
    /// Places to list.
    pub top: usize,
}

/// `+1.50 GiB`.
fn change(sides: Sides) -> String {
    let growth = sides.growth();
    if growth > 0 { format!("+{}", signed(growth)) } else { signed(growth) }
}

/// `+1.50 GiB at train.py:40 step, activations`: one place that grew, for reports that name the cause of a growth.
pub fn growth_line(entry: &Entry) -> Text {
    let (by, place, kind) = (change(entry.sides), place(entry), entry.category.text());
    Text::new(format!("{by} at {}, {}", place.en, kind.en), format!("{by}，{}，{}", place.zh, kind.zh))
}

fn headline(device: &DeviceDiff) -> Text {
    let n = device.ordinal;
    let (before, after) = (Bytes(device.total.before), Bytes(device.total.after));
    let (old, new) = (Bytes(device.reserved.0), Bytes(device.reserved.1));
    let by = change(device.total);
    let share = device.share().map(|share| format!(", {:+.1} %", share * 100.0)).unwrap_or_default();
    match device.total.growth() {
        0 => {
            text!(en: "GPU {n}: {after} in use on both sides; reserved {old} → {new}", zh: "GPU {n}：两边均占用 {after}；保留 {old} → {new}")
        }
        _ => text!(
            en: "GPU {n}: {before} → {after} in use ({by}{share}); reserved {old} → {new}",
            zh: "GPU {n}：占用 {before} → {after}（{by}{share}）；保留 {old} → {new}"
        ),
    }
}

fn place(entry: &Entry) -> Text {
    let mut out = match (&entry.inner, entry.label.is_empty()) {
        (_, true) => Text::new("no stack recorded", "未记录调用栈"),
        (Some(inner), _) => Text::same(format!("{} → {inner}", entry.label)),
        (None, _) => Text::same(entry.label.clone()),
    };
    if let Some(old) = &entry.moved_from {
        out.en += &format!(" (was {old})");
        out.zh += &format!("（原为 {old}）");
    }
    out
}

fn counts(entry: &Entry) -> Text {
    let Sides { before_count, after_count, .. } = entry.sides;
    let kind = entry.category.text();
    Text::new(
        format!("{before_count} → {after_count} blocks, {}", kind.en),
        format!("{before_count} → {after_count} 个 block，{}", kind.zh),
    )
}

fn moment(moment: Moment) -> Text {
    match moment {
        Moment::End => Text::new("at the end of each", "各自结束时"),
        Moment::Peak => Text::new("at the peak of each", "各自峰值时"),
    }
}

/// For people.
pub fn terminal(report: &Report, style: Style) -> String {
    let mut screen = Screen::new(style.width, style.unicode);
    let when = moment(report.moment);
    let files = format!("{} → {}, {}", report.before, report.after, when.in_lang(style.lang));
    screen.paragraph(&[], 0, &[run(Tone::Faint, files)]);
    if report.devices.is_empty() {
        let text = Text::new("Neither holds memory of any device.", "两者都不含任何设备的显存。");
        screen.paragraph(&[], 0, &[run(Tone::Plain, text.in_lang(style.lang))]);
    }
    for device in &report.devices {
        screen.blank();
        let tone = if device.total.growth() > 0 { Tone::Alarm } else { Tone::Strong };
        screen.paragraph(&[], 0, &[run(tone, headline(device).in_lang(style.lang))]);
        for entry in device.entries.iter().take(report.top) {
            let tone = if entry.sides.growth() > 0 { Tone::Idle } else { Tone::Free };
            let head = format!("  {:>12}  ", change(entry.sides));
            let (place, counts) = (place(entry), counts(entry));
            screen.line(&[run(tone, head), run(Tone::Plain, place.in_lang(style.lang))]);
            screen.line(&[run(Tone::Faint, format!("{}{}", " ".repeat(16), counts.in_lang(style.lang)))]);
        }
        let more = device.entries.len().saturating_sub(report.top);
        let same = device.unchanged;
        let rest = match more {
            0 => text!(en: "  {same} places are unchanged", zh: "  {same} 处没有变化"),
            _ => {
                text!(en: "  {more} more places differ (--top), {same} are unchanged", zh: "  另有 {more} 处不同（--top），{same} 处没有变化")
            }
        };
        screen.line(&[run(Tone::Faint, rest.in_lang(style.lang))]);
    }
    screen.render()
}

/// For the comment on a pull request.
pub fn markdown(report: &Report, lang: Lang) -> String {
    let mut out = String::new();
    let when = moment(report.moment);
    let _ = writeln!(
        out,
        "`{}` → `{}`, {}",
        report.before.replace('`', "'"),
        report.after.replace('`', "'"),
        when.in_lang(lang)
    );
    for device in &report.devices {
        let _ = writeln!(out, "\n### {}\n", escape(headline(device).in_lang(lang)));
        if device.entries.is_empty() {
            continue;
        }
        let (where_, change_, before, after, kind) = match lang {
            Lang::En => ("place", "change", "before", "after", "blocks"),
            Lang::Zh => ("位置", "变化", "之前", "之后", "block"),
        };
        let _ =
            writeln!(out, "| {change_} | {before} | {after} | {where_} | {kind} |\n| ---: | ---: | ---: | --- | --- |");
        for entry in device.entries.iter().take(report.top) {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                change(entry.sides),
                Bytes(entry.sides.before),
                Bytes(entry.sides.after),
                escape(place(entry).in_lang(lang)),
                escape(counts(entry).in_lang(lang)),
            );
        }
        let more = device.entries.len().saturating_sub(report.top);
        if more > 0 {
            let text = text!(en: "\n{more} more places differ.", zh: "\n另有 {more} 处不同。");
            let _ = writeln!(out, "{}", text.in_lang(lang));
        }
    }
    out
}

/// For programs.
pub fn json(report: &Report) -> Value {
    let devices = report.devices.iter().map(|device| {
        let entries = device.entries.iter().take(report.top).map(|entry| {
            let mut out = Map::new();
            if !entry.label.is_empty() {
                out.insert("frame".into(), entry.label.as_str().into());
            }
            if let Some(inner) = &entry.inner {
                out.insert("inner_frame".into(), inner.as_str().into());
            }
            if let Some(old) = &entry.moved_from {
                out.insert("moved_from".into(), old.as_str().into());
            }
            out.insert("category".into(), entry.category.id().into());
            out.insert("before_bytes".into(), entry.sides.before.into());
            out.insert("after_bytes".into(), entry.sides.after.into());
            out.insert("growth_bytes".into(), i64::try_from(entry.sides.growth()).unwrap_or(0).into());
            out.insert("before_count".into(), entry.sides.before_count.into());
            out.insert("after_count".into(), entry.sides.after_count.into());
            Value::Object(out)
        });
        let mut out = Map::new();
        out.insert("device".into(), device.ordinal.into());
        out.insert("before_bytes".into(), device.total.before.into());
        out.insert("after_bytes".into(), device.total.after.into());
        out.insert("growth_bytes".into(), i64::try_from(device.total.growth()).unwrap_or(0).into());
        if let Some(share) = device.share() {
            out.insert("growth_fraction".into(), ((share * 1e6).round() / 1e6).into());
        }
        out.insert("before_reserved_bytes".into(), device.reserved.0.into());
        out.insert("after_reserved_bytes".into(), device.reserved.1.into());
        out.insert("places".into(), entries.collect());
        out.insert("further_places".into(), device.entries.len().saturating_sub(report.top).into());
        out.insert("unchanged_places".into(), device.unchanged.into());
        Value::Object(out)
    });
    json!({
        "schema": "oomdoc.diff/1",
        "before": report.before,
        "after": report.after,
        "at": match report.moment { Moment::End => "end", Moment::Peak => "peak" },
        "devices": devices.collect::<Vec<_>>(),
    })
}
