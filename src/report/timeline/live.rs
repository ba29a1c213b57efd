//! A job at this moment, drawn anew with every look: `oomdoc top`.

use super::name;
use crate::incident::Timeline;
use crate::incident::timeline::{Curve, Process, Quantity};
use crate::order::InOrder;
use crate::report::Style;
use crate::report::layout::{Run, Screen, Tone, run};
use crate::report::table::{Column, Table};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{Bytes, percent};

/// Columns of the small plot of each quantity, and the shares that its characters stand for.
const PLOT: usize = 32;
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN_STEPS: [char; 8] = ['_', '.', '-', '-', '=', '=', '#', '#'];

/// Processes listed.
const LISTED: usize = 12;

/// From here on something is nearly full.
const NEARLY_FULL: f64 = 0.9;

/// Everything on one screen.
pub fn frame(timeline: &Timeline, style: Style) -> String {
    let mut screen = Screen::of(style);
    let say = |text: &Text| text.in_lang(style.lang).to_string();
    let now: Vec<&Process> = alive(timeline);
    let (pid, count, lasted) = (timeline.header.pid, now.len(), time(timeline.lasted));
    let command = timeline.header.command.join(" ");
    let head = text!(
        en: "process {pid}, {count} with its children, watched for {lasted}",
        zh: "进程 {pid}，连同子进程共 {count} 个，已观察 {lasted}"
    );
    screen.line(&[run(Tone::Strong, say(&head)), run(Tone::Faint, format!("  {command}"))]);
    let mut table = Table::new(&[Column::Left, Column::Right, Column::Left, Column::Left]);
    for (quantity, curve) in shown(timeline) {
        table.row(row(timeline, quantity, curve, style));
    }
    screen.table(0, &table);
    if let Some((_, share)) = timeline.stalls.last() {
        let lately = percent(timeline.stalled_of_last(10.0));
        let share_now = percent(*share);
        let tone = if *share >= 0.1 { Tone::Alarm } else { Tone::Plain };
        let waiting = text!(
            en: "everything waits for memory {share_now} of the time, {lately} in the last 10 s",
            zh: "所有任务等待内存的时间占 {share_now}，最近 10 秒为 {lately}"
        );
        screen.line(&[run(tone, say(&waiting))]);
    }
    screen.blank();
    processes(&mut screen, timeline, &now, style.lang);
    for other in timeline.neighbours.iter().filter(|other| timeline.lasted - other.seen < 5.0) {
        let (pid, bytes, device) = (other.pid, Bytes(other.bytes), other.device);
        let line = text!(
            en: "GPU {device}: process {pid}, none of this job, holds {bytes}",
            zh: "GPU {device}：不属于本作业的进程 {pid} 占用 {bytes}"
        );
        screen.line(&[run(Tone::Foreign, say(&line))]);
    }
    screen.render()
}

/// The same in one line, for files and pipes.
pub fn line(timeline: &Timeline, lang: Lang) -> String {
    let mut parts = vec![format!("{:.1} s", timeline.lasted)];
    for (quantity, curve) in shown(timeline) {
        let Some(last) = curve.last() else { continue };
        let (name, used) = (name(quantity), Bytes(last.bytes));
        let of = timeline.limit(quantity).map_or_else(Text::default, |limit| {
            let share = percent(last.bytes as f64 / limit.max(1) as f64);
            Text::same(format!(" ({share})"))
        });
        parts.push(format!("{} {used}{}", name.in_lang(lang), of.in_lang(lang)));
    }
    if let Some((_, share)) = timeline.stalls.last().filter(|(_, share)| *share > 0.0) {
        let share = percent(*share);
        parts.push(text!(en: "waiting for memory {share}", zh: "等待内存 {share}").in_lang(lang).to_string());
    }
    parts.join(" · ")
}

/// All but the sum in which shared pages count several times.
fn shown(timeline: &Timeline) -> impl Iterator<Item = (Quantity, &Curve)> {
    let curves = timeline.curves.iter().map(|(quantity, curve)| (*quantity, curve));
    curves.filter(|(quantity, _)| *quantity != Quantity::Resident)
}

/// Name, use and share, and the course of the last readings.
fn row(timeline: &Timeline, quantity: Quantity, curve: &Curve, style: Style) -> Vec<Vec<Run>> {
    let used = curve.last().map_or(0, |last| last.bytes);
    let limit = timeline.limit(quantity).filter(|_| quantity != Quantity::Job);
    let peak = curve.peak().map_or(0, |peak| peak.bytes);
    let share = limit.map(|limit| used as f64 / limit.max(1) as f64);
    let tone = if share.is_some_and(|share| share >= NEARLY_FULL) { Tone::Alarm } else { Tone::Plain };
    let of = match (limit, share) {
        (Some(limit), Some(share)) => {
            let (all, share) = (Bytes(limit), percent(share));
            text!(en: "of {all} ({share})", zh: "共 {all}（{share}）")
        }
        _ => {
            let peak = Bytes(peak);
            text!(en: "{peak} at most", zh: "最多 {peak}")
        }
    };
    let plot = spark(curve, limit.unwrap_or(peak), style.unicode);
    vec![
        vec![run(Tone::Plain, name(quantity).in_lang(style.lang))],
        vec![run(tone, Bytes(used).to_string())],
        vec![run(tone, of.in_lang(style.lang))],
        vec![run(Tone::Used, plot)],
    ]
}

/// The newest readings as shares of a bound.
fn spark(curve: &Curve, bound: u64, unicode: bool) -> String {
    let steps = if unicode { STEPS } else { PLAIN_STEPS };
    let newest = curve.points.get(curve.points.len().saturating_sub(PLOT)..).unwrap_or_default();
    let step = |bytes: u64| {
        let share = (bytes as f64 / bound.max(1) as f64).clamp(0.0, 1.0);
        steps.get((share * (steps.len() - 1) as f64).round() as usize).copied().unwrap_or(' ')
    };
    newest.iter().map(|point| step(point.bytes)).collect()
}

/// Those of the last look, the largest first.
fn alive(timeline: &Timeline) -> Vec<&Process> {
    let last = timeline.processes.values().filter_map(|process| Some(process.curve.last()?.at)).fold(0.0, f64::max);
    let of_last = |process: &&Process| process.curve.last().is_some_and(|point| point.at >= last);
    let mut alive: Vec<&Process> = timeline.processes.values().filter(of_last).collect();
    alive.order_by_key(|process| std::cmp::Reverse(process.curve.last().map_or(0, |point| point.bytes)));
    alive
}

fn processes(screen: &mut Screen, timeline: &Timeline, alive: &[&Process], lang: Lang) {
    let say = |text: Text| text.in_lang(lang).to_string();
    let mut table = Table::new(&[Column::Right, Column::Right, Column::Right, Column::Left]);
    table.plain(
        Tone::Faint,
        [
            say(text!(en: "process", zh: "进程")),
            say(text!(en: "holds alone", zh: "独占")),
            say(text!(en: "grown by", zh: "增长")),
            String::new(),
        ],
    );
    for process in alive.iter().take(LISTED) {
        let (first, now) = (process.curve.points.first(), process.curve.last());
        let (first, now) = (first.map_or(0, |point| point.bytes), now.map_or(0, |point| point.bytes));
        let grown = now.checked_sub(first).filter(|grown| *grown > 0);
        let worker = if process.worker { say(text!(en: " (worker)", zh: "（worker）")) } else { String::new() };
        table.row(vec![
            vec![run(Tone::Plain, process.pid.to_string())],
            vec![run(Tone::Plain, Bytes(now).to_string())],
            vec![run(Tone::Plain, grown.map_or_else(|| "–".to_string(), |grown| Bytes(grown).to_string()))],
            vec![run(Tone::Plain, format!("{}{worker}", process.name))],
        ]);
    }
    screen.table(0, &table);
    if alive.len() > LISTED {
        let (more, all) = (alive.len() - LISTED, timeline.processes.len());
        let line = text!(en: "{more} more now, {all} seen in all", zh: "此外还有 {more} 个，共见到 {all} 个");
        screen.line(&[run(Tone::Faint, say(line))]);
    }
}

fn time(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::timeline::{DeviceSample, Header, ProcessSample, Sample};

    fn style(unicode: bool) -> Style {
        Style { width: 100, unicode, ..Style::PLAIN }
    }

    fn watched() -> Timeline {
        let header = Header {
            pid: 7,
            command: vec!["python".into(), "train.py".into()],
            cgroup_limit: Some(1 << 30),
            devices: vec![(0, 24 << 30)],
            ..Header::default()
        };
        let mut timeline = Timeline::new(header);
        for i in 0..80u64 {
            let process = |pid, own| ProcessSample {
                pid,
                parent: 1,
                name: "python".into(),
                worker: pid > 7,
                own,
                ..ProcessSample::default()
            };
            timeline.add(&Sample {
                at: i as f64,
                job: Some(i << 20),
                cgroup: Some((i * 12) << 20),
                stalled: Some(0.25),
                devices: vec![DeviceSample {
                    index: 0,
                    used: 20 << 30,
                    own: Some(1 << 30),
                    others: vec![(99, 19 << 30)],
                }],
                processes: vec![process(7, i << 20), process(8, 5 << 20)],
                ..Sample::default()
            });
        }
        timeline
    }

    #[test]
    fn a_screen_shows_what_is_held_of_what_by_whom_and_what_waits() {
        let text = anstream::adapter::strip_str(&frame(&watched(), style(true))).to_string();
        for want in [
            "process 7, 2 with its children, watched for 1 min 19 s",
            "of 1.00 GiB (93 %)",
            "memory of GPU 0",
            "waits for memory 25 % of the time",
            "process 99, none of this job, holds 19.00 GiB",
            "(worker)",
        ] {
            assert!(text.contains(want), "{want}\n{text}");
        }
        assert!(text.contains('█') && text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let plain = anstream::adapter::strip_str(&frame(&watched(), style(false))).to_string();
        assert!(!plain.contains('█'), "{plain}");
    }

    #[test]
    fn a_line_has_each_figure_once() {
        let text = line(&watched(), Lang::En);
        assert!(text.starts_with("79.0 s · memory of the job 79.00 MiB"), "{text}");
        assert!(
            text.contains("memory of GPU 0 20.00 GiB (83 %)") && text.ends_with("waiting for memory 25 %"),
            "{text}"
        );
    }

    #[test]
    fn nothing_seen_yet_is_no_error() {
        assert!(frame(&Timeline::default(), style(true)).contains("process 0"));
        assert_eq!(line(&Timeline::default(), Lang::En), "0.0 s");
    }
}
