//! What `--watch` shows of one reading: a table, or a line.

use super::Findings;
use crate::report::Style;
use crate::report::layout::{Screen, Tone, run};
use crate::report::table::{Column, Table};
use crate::text::{Lang, Text};
use crate::units::Bytes;

/// A row for each GPU and one for the host.
pub fn table(findings: &Findings, style: Style) -> String {
    let mut screen = Screen::of(style);
    let heads = [
        Text::new("GPU", "GPU"),
        Text::new("used", "已用"),
        Text::new("free", "空闲"),
        Text::new("total", "总量"),
        Text::new("busy", "利用率"),
        Text::new("processes", "进程"),
        Text::new("unexplained", "无归属"),
    ];
    let mut table = Table::new(&[Column::Left; 7]);
    table.plain(Tone::Strong, heads.iter().map(|text| text.in_lang(style.lang)));
    for row in cells(findings) {
        table.plain(Tone::Plain, row);
    }
    screen.table(0, &table);
    if let Some(degraded) = findings.survey.degraded {
        screen.paragraph(&[], 0, &[run(Tone::Alarm, degraded.text().in_lang(style.lang))]);
    }
    if let Ok(memory) = &findings.survey.host.memory
        && let Ok(used) = memory.used()
    {
        let (used, total) = (Bytes(used), Bytes(memory.total));
        let text = crate::text!(en: "RAM {used} of {total} in use", zh: "内存 {total} 中已用 {used}");
        screen.line(&[run(Tone::Faint, text.in_lang(style.lang))]);
    }
    screen.render()
}

/// One line: the time in seconds since 1970, and used/total of each GPU.
pub fn line(findings: &Findings, at: u64, lang: Lang) -> String {
    let mut parts = vec![at.to_string()];
    for row in cells(findings) {
        if let [gpu, used, _, total, busy, processes, unexplained] = row.as_slice() {
            parts.push(format!("GPU {gpu}: {used} / {total}, {busy}, {processes} proc, ? {unexplained}"));
        }
    }
    if let Some(degraded) = findings.survey.degraded {
        parts.push(degraded.text().in_lang(lang).to_string());
    }
    if let Ok(memory) = &findings.survey.host.memory
        && let Ok(used) = memory.used()
    {
        parts.push(format!("RAM {} / {}", Bytes(used), Bytes(memory.total)));
    }
    parts.join("\t") + "\n"
}

/// A dash stands for a reading that is not available; the full report says why.
fn cells(findings: &Findings) -> Vec<Vec<String>> {
    let dash = || "-".to_string();
    let mut rows: Vec<Vec<String>> = findings
        .shown
        .iter()
        .map(|gpu| {
            let memory = gpu.memory.as_ref().ok();
            let bytes = |value: Option<u64>| value.map_or_else(dash, |bytes| Bytes(bytes).to_string());
            vec![
                gpu.index.to_string(),
                bytes(memory.map(|memory| memory.allocated())),
                bytes(memory.map(|memory| memory.free)),
                bytes(memory.map(|memory| memory.total)),
                gpu.utilization.as_ref().map_or_else(|_| dash(), |percent| format!("{percent} %")),
                gpu.processes.as_ref().map_or_else(|_| dash(), |processes| processes.len().to_string()),
                bytes(gpu.attribution.as_ref().ok().map(|attribution| attribution.unexplained)),
            ]
        })
        .collect();
    for other in &findings.survey.others {
        let bytes = |value: &crate::reading::Reading<u64>| {
            value.as_ref().map_or_else(|_| dash(), |bytes| Bytes(*bytes).to_string())
        };
        let free = match (&other.total, &other.used) {
            (Ok(total), Ok(used)) => Bytes(total.saturating_sub(*used)).to_string(),
            _ => dash(),
        };
        rows.push(vec![other.name.clone(), bytes(&other.used), free, bytes(&other.total), dash(), dash(), dash()]);
    }
    rows
}
