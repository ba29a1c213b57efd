//! What `oomdoc run` saw, drawn on the page of `oomdoc explain --format html`. Nothing is fetched; without scripts only
//! the read-out under the pointer is missing.

use super::{fallen_first, name, who};
use crate::incident::Timeline;
use crate::incident::timeline::{Curve, Point, Quantity, extremes};
use crate::order::InOrder;
use crate::report::replay::html::escape;
use crate::report::{Explanation, Style};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::Bytes;
use serde_json::{Value, json};
use std::fmt::Write;

/// A drawing's size in its own units, and what its labels take.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 90.0;
const BELOW: f64 = 24.0;
/// Columns of a curve; of each the lowest and the highest reading are drawn.
const COLUMNS: usize = 400;
/// Records drawn, and processes of each.
const RECORDS: usize = 8;
const PROCESSES: usize = 8;

const SCRIPT: &str = include_str!("timeline.js");

/// The curves with their program, as a piece of a page; empty where no job was watched.
pub fn curves(explanation: &Explanation, style: Style) -> String {
    let lang = style.lang;
    let order = fallen_first(&explanation.watched);
    if order.is_empty() {
        return String::new();
    }
    let mut out = String::from("<div class=\"curves\">\n");
    let mut data: Vec<Value> = Vec::new();
    for (source, timeline) in order.iter().take(RECORDS) {
        let head = shown(who(source, timeline).in_lang(lang), style);
        let _ = writeln!(out, "<section class=\"record\">\n<h2>{head}</h2>");
        for chart in charts(timeline, lang) {
            draw(&mut out, &mut data, &chart, timeline, style);
        }
        let _ = writeln!(out, "</section>");
    }
    if order.len() > RECORDS {
        let more = order.len() - RECORDS;
        let line = text!(en: "{more} more records are not drawn.", zh: "另有 {more} 份记录未绘出。");
        let _ = writeln!(out, "<p>{}</p>", escape(line.in_lang(lang)));
    }
    // Nothing in a value can end the element.
    let data = Value::Array(data).to_string().replace('<', "\\u003c");
    let _ = writeln!(
        out,
        "<script type=\"application/json\" id=\"curves\">{data}</script>\n<script>\n{SCRIPT}</script>\n</div>"
    );
    out
}

/// Curves that share one axis, with what bounds them.
struct Chart {
    title: Text,
    lines: Vec<Line>,
    limit: Option<u64>,
}

struct Line {
    name: String,
    points: Vec<Point>,
}

/// One for the memory of the machine, one for its processes, one for each GPU; those with anything in them.
fn charts(timeline: &Timeline, lang: Lang) -> Vec<Chart> {
    let line = |quantity: Quantity| {
        let points = thinned(timeline.curve(quantity)?);
        Some(Line { name: name(quantity).in_lang(lang).to_string(), points })
    };
    // The machine's own figure is of interest where nothing tighter binds.
    let whole = if timeline.header.cgroup_limit.is_some() { Quantity::Cgroup } else { Quantity::Host };
    let of_host = [whole, Quantity::Job, Quantity::Shared, Quantity::Shm, Quantity::Swapped, Quantity::Locked];
    let mut processes: Vec<_> = timeline.processes.values().collect();
    processes.order_by_key(|process| std::cmp::Reverse(process.curve.peak().map_or(0, |peak| peak.bytes)));
    let processes = processes
        .into_iter()
        .take(PROCESSES)
        .map(|process| Line { name: format!("{} {}", process.pid, process.name), points: thinned(&process.curve) });
    let mut charts = vec![
        Chart {
            title: text!(en: "Memory of the machine", zh: "主机内存"),
            lines: of_host.into_iter().filter_map(line).collect(),
            limit: timeline.limit(whole),
        },
        Chart {
            title: text!(en: "Processes, what each holds alone", zh: "各进程的独占内存"),
            lines: processes.collect(),
            limit: None,
        },
    ];
    charts.extend(timeline.header.devices.iter().map(|(device, total)| Chart {
        title: Text::same(format!("GPU {device}")),
        lines: [Quantity::Device(*device), Quantity::Own(*device)].into_iter().filter_map(line).collect(),
        limit: Some(*total),
    }));
    charts.retain(|chart| chart.lines.iter().any(|line| line.points.len() > 1));
    charts
}

/// Of each of a few hundred stretches the lowest and the highest reading, so that no peak is lost.
fn thinned(curve: &Curve) -> Vec<Point> {
    let each = curve.points.len().div_ceil(COLUMNS).max(1);
    let mut points: Vec<Point> = curve.points.chunks(each).flat_map(extremes).collect();
    points.extend(curve.last().filter(|last| points.last() != Some(last)));
    points
}

fn draw(out: &mut String, data: &mut Vec<Value>, chart: &Chart, timeline: &Timeline, style: Style) {
    let lang = style.lang;
    let peak = chart.lines.iter().flat_map(|line| &line.points).map(|point| point.bytes).max().unwrap_or(0);
    // A bound that nothing came near would press the curves to the floor.
    let limit = chart.limit.filter(|limit| peak as f64 >= 0.3 * *limit as f64);
    let top = peak.max(limit.unwrap_or(0)).max(1) as f64 * 1.04;
    let end = timeline.lasted.max(1e-3);
    let x = |at: f64| LEFT + (at / end).clamp(0.0, 1.0) * (WIDTH - LEFT);
    let y = |bytes: f64| (HEIGHT - BELOW) * (1.0 - bytes / top);
    let title = escape(chart.title.in_lang(lang));
    let _ = writeln!(
        out,
        "<figure>\n<figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{title}\" data-chart=\"{}\" data-left=\"{LEFT}\" data-end=\"{end:.3}\">",
        data.len()
    );
    stalls(out, timeline, &x);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let bytes = top / 1.04 * share;
        let at = y(bytes);
        let label = Bytes(bytes as u64);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\" /><text class=\"y\" \
             x=\"{:.0}\" y=\"{:.1}\">{label}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (at, below) = (LEFT + share * (WIDTH - LEFT), HEIGHT - 6.0);
        let anchor = if share == 0.0 {
            "start"
        } else if share == 1.0 {
            "end"
        } else {
            "middle"
        };
        let _ = writeln!(out, "<text x=\"{at:.0}\" y=\"{below}\" text-anchor=\"{anchor}\">{:.1} s</text>", share * end);
    }
    if let Some(limit) = limit {
        let at = y(limit as f64);
        let _ = writeln!(out, "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\" />");
    }
    for (i, line) in chart.lines.iter().enumerate() {
        let path: Vec<String> =
            line.points.iter().map(|point| format!("{:.1},{:.1}", x(point.at), y(point.bytes as f64))).collect();
        let _ = writeln!(out, "<polyline class=\"k{i}\" points=\"{}\" />", path.join(" "));
    }
    let _ = writeln!(
        out,
        "<line class=\"pointer\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"{:.0}\" />\n</svg>\n<p class=\"names\">",
        HEIGHT - BELOW
    );
    for (i, line) in chart.lines.iter().enumerate() {
        let most = Bytes(line.points.iter().map(|point| point.bytes).max().unwrap_or(0));
        let most = text!(en: "{most} at most", zh: "最多 {most}");
        let (name, most) = (shown(&line.name, style), escape(most.in_lang(lang)));
        let _ = writeln!(out, "<span class=\"k{i}\">{name}</span> <small>{most}</small>");
    }
    let _ = writeln!(out, "<output></output></p>\n</figure>");
    let lines = chart.lines.iter().map(|line| {
        let points: Vec<(f64, u64)> = line.points.iter().map(|point| (point.at, point.bytes)).collect();
        json!({ "name": crate::privacy::leaving(&line.name, style.redact), "points": points })
    });
    data.push(json!({ "lines": lines.collect::<Vec<_>>(), "steps": steps(timeline) }));
}

/// Behind the curves: when everything waited for memory.
fn stalls(out: &mut String, timeline: &Timeline, x: &impl Fn(f64) -> f64) {
    let mut before = 0.0;
    for (at, share) in &timeline.stalls {
        if *share >= 0.1 {
            let (from, to) = (x(before), x(*at));
            let _ = writeln!(
                out,
                "<rect class=\"stall\" x=\"{from:.1}\" width=\"{:.1}\" y=\"0\" height=\"{:.0}\" \
                 opacity=\"{share:.2}\" />",
                (to - from).max(1.0),
                HEIGHT - BELOW
            );
        }
        before = *at;
    }
}

/// Moments of the steps that the output told, thinned.
fn steps(timeline: &Timeline) -> Vec<(f64, f64)> {
    let each = timeline.steps.len().div_ceil(COLUMNS).max(1);
    timeline.steps.iter().step_by(each).copied().collect()
}

fn shown(text: &str, style: Style) -> String {
    escape(&crate::privacy::leaving(text, style.redact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::timeline::{End, Header, ProcessSample, Sample};
    use std::sync::Arc;

    fn watched(name: &str) -> Explanation {
        let header = Header { pid: 7, cgroup_limit: Some(1 << 30), host: Some(name.into()), ..Header::default() };
        let mut timeline = Timeline::new(header);
        for i in 0..3000u64 {
            let peak = if i == 1501 { 900 << 20 } else { 0 };
            timeline.add(&Sample {
                at: i as f64 / 10.0,
                job: Some((100 << 20) + peak),
                cgroup: Some((200 << 20) + peak),
                stalled: Some(if i > 2900 { 0.5 } else { 0.0 }),
                step: Some(i as f64),
                processes: vec![ProcessSample { pid: 7, name: name.into(), own: i << 10, ..ProcessSample::default() }],
                ..Sample::default()
            });
        }
        timeline.end = Some(End { signal: Some(9), ..End::default() });
        Explanation { watched: vec![(name.to_string(), Arc::new(timeline))], ..Explanation::default() }
    }

    #[test]
    fn a_page_is_bounded_keeps_every_peak_and_fetches_nothing() {
        let page = curves(&watched("node"), Style::PLAIN);
        assert!(page.len() < 300_000, "{}", page.len());
        assert!(
            page.contains("1000.00 MiB at most") && page.contains(&(1000u64 << 20).to_string()),
            "the peak is gone"
        );
        assert!(page.contains("class=\"limit\"") && page.contains("class=\"stall\""));
        for fetched in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!page.contains(fetched), "{fetched}");
        }
    }

    #[test]
    fn names_cannot_become_part_of_the_page() {
        let page = curves(&watched("</script><img onerror=x>\"'&"), Style::PLAIN);
        assert!(!page.contains("<img") && page.matches("</script>").count() == 2, "{page}");
    }
}
