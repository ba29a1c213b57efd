//! What `oomdoc run` saw: curves with what bounds them, and of many records who fell first.

pub mod html;
pub mod json;
#[cfg(target_os = "linux")]
pub mod live;

use super::Style;
use super::layout::{Run, Screen, Tone, columns, run};
use crate::incident::Timeline;
use crate::incident::timeline::{Curve, Quantity};
use crate::order::InOrder;
use crate::text;
use crate::text::{Lang, Text, counted};
use crate::units::{Bytes, percent};
use std::sync::Arc;

const ROWS: usize = 8;
/// Records listed for people.
const LISTED: usize = 8;

type Watched = (String, Arc<Timeline>);

/// Records of jobs that failed, the one that fell first in front.
fn fallen(watched: &[Watched]) -> Vec<&Watched> {
    let mut fallen: Vec<&Watched> = watched.iter().filter(|(_, timeline)| timeline.failed()).collect();
    fallen.order_by(|(_, a), (_, b)| a.ended_at().total_cmp(&b.ended_at()));
    fallen
}

/// All records: behind those that failed the others.
fn fallen_first(watched: &[Watched]) -> Vec<&Watched> {
    let mut all = fallen(watched);
    all.extend(watched.iter().filter(|(_, timeline)| !timeline.failed()));
    all
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
        Quantity::Swap => text!(en: "swap of the machine", zh: "整机交换空间"),
        Quantity::Swapped => text!(en: "the job's memory in swap", zh: "作业在交换空间中的内存"),
        Quantity::Resident => text!(en: "resident, each process for itself", zh: "各进程常驻内存之和"),
        Quantity::Device(index) => text!(en: "memory of GPU {index}", zh: "GPU {index} 显存"),
        Quantity::Own(index) => text!(en: "the job's memory on GPU {index}", zh: "作业在 GPU {index} 上的显存"),
    }
}

/// The plot of the record that fell first, and of several who fell when; where none did, what each came to. Empty where
/// nothing was watched.
pub fn terminal(watched: &[Watched], style: Style) -> String {
    let fallen = fallen(watched);
    let Some((_, timeline)) = fallen.first() else { return well(watched, style) };
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
    for (at, victim) in timeline.victims.iter().take(LISTED) {
        let (pid, name, own) = (victim.pid, &victim.name, Bytes(victim.own));
        let rank = victim.rank.map(|rank| format!(", rank {rank}")).unwrap_or_default();
        let line = text!(
            en: "shot after {at:.1} s: process {pid} ({name}{rank}), which held {own} alone",
            zh: "{at:.1} s 后被杀：进程 {pid}（{name}{rank}），独占 {own}"
        );
        screen.paragraph(&[], 2, &[run(Tone::Plain, line.in_lang(style.lang))]);
    }
    format!("\n{}", screen.render())
}

/// Records of jobs that ended well: the fullest first, each with its peak and what was left.
fn well(watched: &[Watched], style: Style) -> String {
    let mut order: Vec<&Watched> = watched.iter().collect();
    order.order_by(|(_, a), (_, b)| fullest(b).unwrap_or(0.0).total_cmp(&fullest(a).unwrap_or(0.0)));
    let mut screen = Screen::of(style);
    for (source, timeline) in order.iter().take(LISTED) {
        let (who, told) = (who(source, timeline), peaks(timeline));
        if !told.is_empty() {
            let who = format!("{}: ", who.in_lang(style.lang));
            screen.paragraph(&[], 2, &[run(Tone::Strong, who), run(Tone::Plain, told.in_lang(style.lang))]);
        }
    }
    if order.len() > LISTED {
        let (more, all) = (order.len() - LISTED, order.len());
        let line = text!(
            en: "{more} more of {all} records stayed further from what bounds them",
            zh: "共 {all} 份记录，其余 {more} 份离上限更远"
        );
        screen.line(&[run(Tone::Faint, line.in_lang(style.lang))]);
    }
    let told = screen.render();
    if told.is_empty() { told } else { format!("\n{told}") }
}

/// `the job's peak 3.1 GiB · machine 5 GiB of 23.5 GiB (21 %), 18.5 GiB of headroom · GPU 0 …`; empty where nothing was
/// seen.
pub fn peaks(timeline: &Timeline) -> Text {
    let mut parts: Vec<Text> = Vec::new();
    if let Some(peak) = timeline.curve(Quantity::Job).and_then(|curve| curve.peak()) {
        let used = Bytes(peak.bytes);
        parts.push(text!(en: "the job's peak {used}", zh: "作业峰值 {used}"));
    }
    let bounded = [Quantity::Cgroup, Quantity::Host].into_iter().filter(|quantity| timeline.limit(*quantity).is_some());
    let devices = timeline.header.devices.iter().map(|(index, _)| Quantity::Device(*index));
    for quantity in bounded.take(1).chain(devices) {
        let (Some(limit), Some(peak)) = (timeline.limit(quantity), timeline.curve(quantity).and_then(|c| c.peak()))
        else {
            continue;
        };
        let (used, all, left) = (Bytes(peak.bytes), Bytes(limit), Bytes(limit.saturating_sub(peak.bytes)));
        let share = percent(peak.bytes as f64 / limit.max(1) as f64);
        parts.push(match quantity {
            Quantity::Device(index) => text!(
                en: "GPU {index} {used} of {all} ({share}), {left} of headroom",
                zh: "GPU {index} {all} 中 {used}（{share}），余量 {left}"
            ),
            Quantity::Cgroup => text!(
                en: "control group {used} of {all} ({share}), {left} of headroom",
                zh: "控制组 {all} 中 {used}（{share}），余量 {left}"
            ),
            _ => text!(
                en: "machine {used} of {all} ({share}), {left} of headroom",
                zh: "整机 {all} 中 {used}（{share}），余量 {left}"
            ),
        });
    }
    if let Some(process) = timeline.inside.iter().max_by_key(|process| process.peak).filter(|process| process.peak > 0)
    {
        let (peak, step, steps) = (Bytes(process.peak), process.peak_step, process.steps);
        parts.push(text!(
            en: "allocated by PyTorch {peak} at most (step {step} of {steps})",
            zh: "PyTorch 最多分配 {peak}（{steps} 步中的第 {step} 步）"
        ));
    }
    let survived = timeline.snapshots().count();
    if let Some(first) = timeline.snapshots().next() {
        let snapshots = counted(survived as u64, "memory snapshot", "memory snapshots");
        parts.push(text!(
            en: "{snapshots} of errors that it survived, such as {first}",
            zh: "{survived} 个显存快照（作业挺过去的报错），例如 {first}"
        ));
    }
    let joined = |lang| parts.iter().map(|part: &Text| part.in_lang(lang)).collect::<Vec<_>>().join(" · ");
    Text::new(joined(Lang::En), joined(Lang::Zh))
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
    let first = fallen.first().map_or(0.0, |(_, timeline)| timeline.ended_at());
    for (i, (source, timeline)) in fallen.iter().take(LISTED).enumerate() {
        let who = who(source, timeline);
        let later = timeline.ended_at() - first;
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
        let last = fallen.last().map_or(0.0, |(_, timeline)| timeline.ended_at() - first);
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
