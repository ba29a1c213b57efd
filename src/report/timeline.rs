//! What `oomdoc run` saw: curves with what bounds them, and of many records who fell first.

pub mod html;
pub mod json;
#[cfg(target_os = "linux")]
pub mod live;

use super::Style;
use super::layout::{Run, Screen, Tone, columns, run};
use crate::incident::Timeline;
use crate::incident::timeline::{Curve, Quantity};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{Bytes, percent};
use std::sync::Arc;

const ROWS: usize = 8;
/// Records listed for people.
const LISTED: usize = 8;

type Watched = (String, Arc<Timeline>);

/// Records of jobs that failed, the one that fell first in front.
fn fallen(watched: &[Watched]) -> Vec<&Watched> {
    let failed = |timeline: &Timeline| timeline.end.is_none_or(|end| end.failed());
    let mut fallen: Vec<&Watched> = watched.iter().filter(|(_, timeline)| failed(timeline)).collect();
    fallen.sort_by(|(_, a), (_, b)| moment(a).total_cmp(&moment(b)));
    fallen
}

/// Seconds since 1970 of its end.
fn moment(timeline: &Timeline) -> f64 {
    timeline.header.began + timeline.lasted
}

/// The curve that came nearest to its bound, or, where nothing is bounded, the job's own.
fn main_quantity(timeline: &Timeline) -> Option<Quantity> {
    let bounded =
        timeline.curves.keys().copied().filter(|quantity| {
            matches!(quantity, Quantity::Cgroup | Quantity::Host | Quantity::Shm | Quantity::Device(_))
        });
    let fullest = bounded.max_by(|a, b| {
        let of = |quantity: &Quantity| timeline.fullest(*quantity).unwrap_or(0.0);
        of(a).total_cmp(&of(b))
    });
    // Far from every bound it is the job itself that tells something.
    fullest
        .filter(|quantity| timeline.fullest(*quantity).is_some_and(|share| share >= 0.5))
        .or_else(|| timeline.curve(Quantity::Job).map(|_| Quantity::Job))
}

fn name(quantity: Quantity) -> Text {
    match quantity {
        Quantity::Job => text!(en: "memory of the job", zh: "作业内存"),
        Quantity::Cgroup => text!(en: "memory of the control group", zh: "控制组内存"),
        Quantity::Host => text!(en: "memory of the machine", zh: "整机内存"),
        Quantity::Shm => text!(en: "/dev/shm", zh: "/dev/shm"),
        Quantity::Locked => text!(en: "page-locked memory", zh: "锁页内存"),
        Quantity::Shared => text!(en: "shared memory and files in memory", zh: "共享内存与内存中的文件"),
        Quantity::Swap => text!(en: "swap", zh: "交换空间"),
        Quantity::Device(index) => text!(en: "memory of GPU {index}", zh: "GPU {index} 显存"),
        Quantity::Own(index) => text!(en: "the job's memory on GPU {index}", zh: "作业在 GPU {index} 上的显存"),
    }
}

/// The plot of the record that fell first, and of several who fell when; empty where nothing was watched.
pub fn terminal(watched: &[Watched], style: Style) -> String {
    let fallen = fallen(watched);
    let Some((_, timeline)) = fallen.first() else { return String::new() };
    let mut screen = Screen::of(style);
    if watched.len() > 1 {
        ranks(&mut screen, watched, &fallen, style.lang);
    }
    if let Some(quantity) = main_quantity(timeline)
        && let Some(curve) = timeline.curve(quantity)
    {
        let rows = plot(curve, timeline, quantity, style);
        if !rows.is_empty() {
            let name = name(quantity);
            screen.line(&[run(Tone::Strong, name.in_lang(style.lang))]);
            rows.iter().for_each(|row| screen.line(row));
        }
    }
    format!("\n{}", screen.render())
}

/// `rank 17 on node03`.
fn who(source: &str, timeline: &Timeline) -> Text {
    let host = timeline.header.host.clone().unwrap_or_default();
    match timeline.header.rank {
        Some(rank) => text!(en: "rank {rank} on {host}", zh: "{host} 上的 rank {rank}"),
        None => Text::same(source),
    }
}

fn ranks(screen: &mut Screen, watched: &[Watched], fallen: &[&Watched], lang: Lang) {
    let (all, count) = (watched.len(), fallen.len());
    let peaks: Vec<f64> = watched.iter().filter_map(|(_, timeline)| fullest(timeline)).collect();
    let low = percent(peaks.iter().copied().fold(f64::INFINITY, f64::min).min(1.0));
    let high = percent(peaks.iter().copied().fold(0.0, f64::max));
    let head = text!(
        en: "{all} records, {count} of jobs that failed; peaks of {low} to {high} of what bounds them",
        zh: "{all} 份记录，其中 {count} 份的作业失败；峰值为各自上限的 {low} 至 {high}"
    );
    screen.line(&[run(Tone::Strong, head.in_lang(lang))]);
    let first = fallen.first().map_or(0.0, |(_, timeline)| moment(timeline));
    for (i, (source, timeline)) in fallen.iter().take(LISTED).enumerate() {
        let who = who(source, timeline);
        let later = moment(timeline) - first;
        let after = timeline.lasted;
        let peak = fullest(timeline).map(percent).unwrap_or_default();
        let (en, zh) = (&who.en, &who.zh);
        let line = if i == 0 {
            text!(
                en: "{en} fell first, after {after:.1} s; peak {peak}",
                zh: "{zh} 最先失败（运行 {after:.1} s 后）；峰值 {peak}"
            )
        } else {
            text!(en: "{en} {later:.1} s later; peak {peak}", zh: "{zh} 晚 {later:.1} s；峰值 {peak}")
        };
        screen.line(&[run(Tone::Plain, format!("  {}", line.in_lang(lang)))]);
    }
    if fallen.len() > LISTED {
        let more = fallen.len() - LISTED;
        let last = fallen.last().map_or(0.0, |(_, timeline)| moment(timeline) - first);
        let line = text!(en: "{more} more within {last:.1} s", zh: "另有 {more} 个在 {last:.1} s 内失败");
        screen.line(&[run(Tone::Faint, format!("  {}", line.in_lang(lang)))]);
    }
    screen.blank();
}

/// The largest share of a bound.
fn fullest(timeline: &Timeline) -> Option<f64> {
    timeline.curves.keys().filter_map(|quantity| timeline.fullest(*quantity)).max_by(f64::total_cmp)
}

/// Rows from the top; the bound is a line where the curve came near it.
fn plot(curve: &Curve, timeline: &Timeline, quantity: Quantity, style: Style) -> Vec<Vec<Run>> {
    let (Some(first), Some(last), Some(peak)) = (curve.points.first(), curve.last(), curve.peak()) else {
        return Vec::new();
    };
    let span = last.at - first.at;
    if span <= 0.0 || curve.points.len() < 4 {
        return Vec::new();
    }
    let limit = timeline.limit(quantity).filter(|limit| peak.bytes as f64 >= 0.5 * *limit as f64);
    let top = limit.unwrap_or(0).max(peak.bytes).max(1) as f64;
    let label = Bytes(top as u64).to_string().len() + 1;
    let chart = style.width.saturating_sub(label + 3).clamp(16, 72);
    let bar = if style.unicode { '│' } else { '|' };
    let (full, edge) = if style.unicode { ('█', '─') } else { ('#', '-') };
    // The highest of each column, so that no peak is lost.
    let mut heights = vec![None::<f64>; chart];
    for point in &curve.points {
        let column = (((point.at - first.at) / span) * (chart - 1) as f64).round() as usize;
        if let Some(height) = heights.get_mut(column) {
            *height = Some(height.unwrap_or(0.0).max(point.bytes as f64 / top));
        }
    }
    let mut before = 0.0;
    let heights: Vec<f64> = heights
        .into_iter()
        .map(|height| {
            before = height.unwrap_or(before);
            before
        })
        .collect();
    let mut rows = Vec::new();
    for row in (0..ROWS).rev() {
        let floor = row as f64 / ROWS as f64;
        let text = match row {
            _ if row == ROWS - 1 => Bytes(top as u64).to_string(),
            0 => "0".to_string(),
            _ => String::new(),
        };
        let mut cells: Vec<Run> = vec![run(Tone::Faint, format!("{text:>label$} {bar}"))];
        for height in &heights {
            let (tone, cell) = if *height > floor {
                (Tone::Used, full)
            } else if row == ROWS - 1 && limit.is_some() {
                (Tone::Alarm, edge)
            } else {
                (Tone::Plain, ' ')
            };
            match cells.last_mut() {
                Some(before) if before.tone == tone => before.text.push(cell),
                _ => cells.push(run(tone, cell.to_string())),
            }
        }
        if let Some(last) = cells.last_mut().filter(|last| last.tone == Tone::Plain) {
            last.text.truncate(last.text.trim_end().len());
        }
        rows.push(cells);
    }
    let end = format!("{span:.1} s");
    let blank = " ".repeat((label + 2 + chart).saturating_sub(label + 3 + columns(&end)));
    rows.push(vec![run(Tone::Faint, format!("{}0{blank}{end}", " ".repeat(label + 2)))]);
    rows
}
