//! Reports of `oomdoc diff`.

use super::Style;
use super::layout::{Screen, Tone, run};
use super::markdown::escape;
use super::table::{Column, Table};
use crate::snapshot::diff::{DeviceDiff, Entry, Moment, Sides};
use crate::snapshot::holders::Category;
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{Bytes, signed};
use schemars::JsonSchema;
use serde::Serialize;
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
            text!(
                en: "GPU {n}: {after} in use on both sides; reserved {old} → {new}",
                zh: "GPU {n}：两边均占用 {after}；保留 {old} → {new}"
            )
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
        out += text!(en: " (was {old})", zh: "（原为 {old}）");
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
    let mut screen = Screen::of(style);
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
        let mut table = Table::new(&[Column::Right, Column::Text]);
        for entry in device.entries.iter().take(report.top) {
            let tone = if entry.sides.growth() > 0 { Tone::Idle } else { Tone::Free };
            let (place, counts) = (place(entry), counts(entry));
            let place = run(Tone::Plain, place.in_lang(style.lang));
            table.row(vec![vec![run(tone, change(entry.sides))], vec![place]]);
            table.plain(Tone::Faint, ["", counts.in_lang(style.lang)]);
        }
        screen.table(2, &table);
        let more = device.entries.len().saturating_sub(report.top);
        let same = device.unchanged;
        let rest = match more {
            0 if same == 1 => Text::new("  1 place is unchanged", "  1 处没有变化"),
            0 => text!(en: "  {same} places are unchanged", zh: "  {same} 处没有变化"),
            _ => {
                text!(
                    en: "  {more} more places differ (--top), unchanged: {same}",
                    zh: "  另有 {more} 处不同（--top），{same} 处没有变化"
                )
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

/// Bytes are integers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc diff --format json")]
pub struct Document<'a> {
    #[schemars(extend("const" = "oomdoc.diff/1"))]
    schema: &'static str,
    /// Path of the first snapshot as given.
    before: &'a str,
    after: &'a str,
    at: Moment,
    /// Devices that either snapshot records.
    devices: Vec<Device<'a>>,
}

/// What one device holds on both sides.
#[derive(Debug, Serialize, JsonSchema)]
struct Device<'a> {
    device: u32,
    before_bytes: u64,
    after_bytes: u64,
    /// Negative where it shrank.
    growth_bytes: i64,
    /// Growth as a share of what was held before; absent where that was nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    growth_fraction: Option<f64>,
    before_reserved_bytes: u64,
    after_reserved_bytes: u64,
    /// Places that differ, the largest change first.
    places: Vec<Place<'a>>,
    /// Places that differ and are not listed.
    further_places: usize,
    unchanged_places: usize,
}

/// A place in the program and what it holds on both sides.
#[derive(Debug, Serialize, JsonSchema)]
struct Place<'a> {
    /// Innermost frame of the program's own code; absent without a stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a str>,
    /// What that line ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_frame: Option<&'a str>,
    /// Its frame before, where its line moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a str>,
    category: Category,
    before_bytes: u64,
    after_bytes: u64,
    /// Negative where it shrank.
    growth_bytes: i64,
    before_count: u64,
    after_count: u64,
}

fn growth(sides: Sides) -> i64 {
    i64::try_from(sides.growth()).unwrap_or(0)
}

/// For programs.
pub fn document(report: &Report) -> Document<'_> {
    Document {
        schema: "oomdoc.diff/1",
        before: &report.before,
        after: &report.after,
        at: report.moment,
        devices: report.devices.iter().map(|device| Device::of(device, report.top)).collect(),
    }
}

impl Device<'_> {
    fn of(device: &DeviceDiff, top: usize) -> Device<'_> {
        Device {
            device: device.ordinal,
            before_bytes: device.total.before,
            after_bytes: device.total.after,
            growth_bytes: growth(device.total),
            growth_fraction: device.share().map(|share| (share * 1e6).round() / 1e6),
            before_reserved_bytes: device.reserved.0,
            after_reserved_bytes: device.reserved.1,
            places: device.entries.iter().take(top).map(Place::of).collect(),
            further_places: device.entries.len().saturating_sub(top),
            unchanged_places: device.unchanged,
        }
    }
}

impl Place<'_> {
    fn of(entry: &Entry) -> Place<'_> {
        Place {
            frame: Some(entry.label.as_str()).filter(|label| !label.is_empty()),
            inner_frame: entry.inner.as_deref(),
            moved_from: entry.moved_from.as_deref(),
            category: entry.category,
            before_bytes: entry.sides.before,
            after_bytes: entry.sides.after,
            growth_bytes: growth(entry.sides),
            before_count: entry.sides.before_count,
            after_count: entry.sides.after_count,
        }
    }
}
