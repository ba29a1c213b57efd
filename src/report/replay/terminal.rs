//! `oomdoc replay` for people.

use super::{Replayed, View, wording};
use crate::report::layout::{NO_BREAK, Run, Screen, Tone, pad, run};
use crate::report::table::{Column, Table};
use crate::report::{self, Diagnosis};
use crate::snapshot::analysis::DeviceAnalysis;
use crate::snapshot::holders::{Holder, Holding, Site};
use crate::snapshot::space::Window;
use crate::snapshot::what_if::VariationOutcome;
use crate::text;
use crate::text::Text;
use crate::units::{self, Bytes};

/// Lines of the timeline.
const PLOT_HEIGHT: usize = 8;
/// Holders listed without `--verbose` at an OOM or a peak.
const PIECES: usize = 6;

/// All snapshots, device by device.
pub fn render(replayed: &[Replayed], view: View) -> String {
    let mut page = Page { screen: Screen::of(view.style), view };
    for replayed in replayed {
        let analysis = &replayed.analysis;
        page.screen.blank();
        let file = wording::file(analysis);
        page.faint(&file);
        if analysis.devices.is_empty() {
            page.plain(&Text::new("No device in it holds memory.", "其中没有任何设备占用显存。"));
        }
        for (device, diagnosis) in replayed.devices() {
            page.device(device, diagnosis, &analysis.sites);
        }
    }
    page.screen.render()
}

struct Page {
    screen: Screen,
    view: View,
}

impl Page {
    fn say<'t>(&self, text: &'t Text) -> &'t str {
        text.in_lang(self.view.style.lang)
    }

    fn paragraph(&mut self, tone: Tone, text: &Text) {
        let runs = [run(tone, self.say(text))];
        self.screen.paragraph(&[], 0, &runs);
    }

    fn plain(&mut self, text: &Text) {
        self.paragraph(Tone::Plain, text);
    }

    fn faint(&mut self, text: &Text) {
        self.paragraph(Tone::Faint, text);
    }

    fn heading(&mut self, text: &Text) {
        self.screen.blank();
        self.paragraph(Tone::Strong, text);
    }

    fn device(&mut self, device: &DeviceAnalysis, diagnosis: Option<&Diagnosis>, sites: &[Site]) {
        self.screen.blank();
        let tone = if device.ooms.is_empty() { Tone::Strong } else { Tone::Alarm };
        self.paragraph(tone, &wording::headline(device));
        match (diagnosis, device.ooms.first()) {
            (Some(diagnosis), _) => report::terminal::judgement(&mut self.screen, diagnosis, self.view.style),
            (None, Some(oom)) => self.plain(&wording::verdict(oom)),
            (None, None) => {}
        }
        if let Some(peak) = wording::peak(device) {
            if diagnosis.is_some() {
                self.screen.blank();
            }
            self.plain(&peak);
        }
        self.plot(device);
        let (label, holding) = (wording::held(device), wording::holding(device));
        if !holding.holders.is_empty() {
            self.heading(&label);
            self.holders(holding, sites);
            let rest = holding.holders.iter().skip(self.view.top);
            let (count, bytes) = rest.fold((0u64, 0u64), |(n, sum), h| (n + 1, sum.saturating_add(h.bytes)));
            if count > 0 {
                let bytes = Bytes(bytes);
                let (all, s) = (holding.holders.len(), if count == 1 { "" } else { "s" });
                self.faint(&text!(
                    en: "  and {count} more place{s} with {bytes} (--top {all} lists all)",
                    zh: "  另有 {count} 处，共 {bytes}（--top {all} 可列出）"
                ));
            }
            self.categories(holding);
        }
        self.holes(device);
        if let Some(growth) = &device.growth {
            self.heading(&Text::new("Growth", "增长"));
            self.plain(&wording::growth(growth));
            let mut table = Table::new(&[Column::Right, Column::Text]);
            for (site, bytes) in growth.sites.iter().take(3) {
                let place = wording::place(sites.get(*site as usize));
                table.plain(Tone::Used, [format!("+{}", Bytes(*bytes)), self.say(&place).to_string()]);
            }
            self.screen.table(2, &table);
        }
        self.what_if(device, sites);
        let notes = device.notes.clone();
        if !notes.is_empty() {
            self.screen.blank();
            let bullet = if self.view.style.unicode { "  • " } else { "  - " };
            for note in &notes {
                let body = [run(Tone::Faint, self.say(note))];
                self.screen.paragraph(&[run(Tone::Faint, bullet)], 4, &body);
            }
        }
    }

    /// Memory over the trace: in use as bars, reserved as a shade above them.
    fn plot(&mut self, device: &DeviceAnalysis) {
        let top = device.timeline.iter().map(|w| w.high.0.max(w.reserved)).max().unwrap_or(0);
        if top == 0 || device.timeline.len() < 8 {
            return;
        }
        let label_width = 11;
        let width = self.screen.width().saturating_sub(label_width + 2).min(120).min(device.timeline.len());
        let columns = squeeze(&device.timeline, width);
        let unicode = self.view.style.unicode;
        let steps: &[char] = if unicode {
            &[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
        } else {
            &[' ', '.', ':', '#']
        };
        let shade = if unicode { '░' } else { '-' };
        let full = steps.len() - 1;
        let level =
            |bytes: u64| ((u128::from(bytes) * (PLOT_HEIGHT * full) as u128).div_ceil(u128::from(top))) as usize;
        self.screen.blank();
        for row in (0..PLOT_HEIGHT).rev() {
            let label = match row {
                r if r == PLOT_HEIGHT - 1 => Bytes(top).to_string(),
                0 => "0".to_string(),
                r if r == PLOT_HEIGHT / 2 => Bytes(top / 2).to_string(),
                _ => String::new(),
            };
            let mut runs: Vec<Run> =
                vec![run(Tone::Faint, format!("{label:>label_width$} {}", if unicode { '┤' } else { '|' }))];
            for (active, reserved) in &columns {
                let filled = level(*active).saturating_sub(row * full).min(full);
                let held = level(*reserved).saturating_sub(row * full).min(full);
                let (tone, c) = match filled {
                    0 if held > 0 => (Tone::Idle, shade),
                    n => (Tone::Used, steps.get(n).copied().unwrap_or(' ')),
                };
                match runs.last_mut() {
                    Some(last) if last.tone == tone => last.text.push(c),
                    _ => runs.push(run(tone, c.to_string())),
                }
            }
            self.screen.line(&runs);
        }
        let last = device.events;
        let legend = Text::new(
            format!("entries 1 to {last}; {} in use, {shade} reserved and idle", steps[full]),
            format!("第 1 至 {last} 条记录；{} 占用，{shade} 已保留但空闲", steps[full]),
        );
        let legend = format!("{} {}", " ".repeat(label_width), self.say(&legend));
        self.screen.line(&[run(Tone::Faint, legend)]);
    }

    /// A row for each of the places that hold most, with `-v` the frames below it.
    fn holders(&mut self, holding: &Holding, sites: &[Site]) {
        let mut table = held_table();
        for holder in holding.holders.iter().take(self.view.top) {
            let site = sites.get(holder.site as usize);
            let (place, count) = (wording::place(site), wording::count(holder));
            table.row(held_row(holder, holding.bytes, self.say(&place), self.say(&count)));
            let frames =
                site.filter(|_| self.view.style.verbose).map(|site| site.frames.as_slice()).unwrap_or_default();
            for frame in frames {
                table.plain(Tone::Faint, [String::new(), String::new(), format!("  {frame}")]);
            }
        }
        self.screen.table(2, &table);
    }

    fn categories(&mut self, holding: &Holding) {
        self.screen.blank();
        let cells: Vec<Vec<Run>> = holding
            .categories
            .iter()
            .map(|(category, bytes, certainty)| {
                let label = wording::category(*category, *certainty);
                let label = self.say(&label);
                vec![run(Tone::Used, format!("{:>10} ", Bytes(*bytes).to_string())), run(Tone::Plain, pad(label, 1))]
            })
            .collect();
        self.screen.grid(2, &cells);
        if self.view.style.verbose {
            let cells: Vec<Vec<Run>> = holding
                .sizes
                .iter()
                .map(|(bound, count, bytes)| {
                    let bytes = Bytes(*bytes);
                    let text = if *bound == u64::MAX {
                        text!(en: "{count} larger blocks: {bytes}", zh: "更大的 block {count} 个：{bytes}")
                    } else {
                        let bound = Bytes(*bound);
                        text!(
                            en: "{count} blocks up to {bound}: {bytes}",
                            zh: "不超过 {bound} 的 block {count} 个：{bytes}"
                        )
                    };
                    vec![run(Tone::Faint, self.say(&text))]
                })
                .collect();
            self.screen.grid(2, &cells);
        }
    }

    fn holes(&mut self, device: &DeviceAnalysis) {
        let (label, holes) = match device.ooms.first() {
            Some(oom) => (Text::new("Free when it failed", "失败时的空闲显存"), &oom.fragmentation),
            None if device.peak.is_some() => (Text::new("Free at the peak", "峰值时的空闲显存"), &device.at_peak),
            None => (Text::new("Free at the end", "结束时的空闲显存"), &device.at_peak),
        };
        if holes.reserved == 0 {
            return;
        }
        self.heading(&label);
        let share = crate::units::percent(holes.free as f64 / holes.reserved.max(1) as f64);
        let sentence = wording::fragmentation(holes);
        let reserved = Bytes(holes.reserved);
        self.plain(&match holes.free {
            0 => Text::new(
                format!("{}, of {reserved} reserved.", sentence.en),
                format!("{}（已保留 {reserved}）。", sentence.zh),
            ),
            _ => Text::new(
                format!("{} ({share} of {reserved} reserved).", sentence.en),
                format!("{}（占已保留 {reserved} 的 {share}）。", sentence.zh),
            ),
        });
        let pieces: u64 = holes.pieces.iter().map(|(_, count)| count).sum();
        if pieces > 1 {
            let most = if self.view.style.verbose { 64 } else { PIECES };
            let line = format!("  {}", wording::pieces(holes, most));
            self.screen.paragraph(&[], 2, &[run(Tone::Idle, line)]);
        }
    }
}

impl Page {
    fn what_if(&mut self, device: &DeviceAnalysis, sites: &[Site]) {
        let Some(fidelity) = &device.fidelity else { return };
        self.heading(&Text::new("What if", "如果换一种做法"));
        let mut table = Table::new(&[Column::Name(40), Column::Text]);
        let recorded_peak = device.peak_reserved.map_or(0, |(bytes, _)| bytes);
        for entry in &device.what_if {
            let label = self.say(&wording::change(entry, sites)).to_string();
            let outcome = wording::outcome(entry, device);
            let outcome = self.say(&outcome).to_string();
            let good = match &entry.outcome {
                VariationOutcome::Ran { served: Some(true), .. } => {
                    !device.ooms.is_empty() || entry.saves.is_some_and(|saves| saves > 0)
                }
                _ => false,
            };
            let tone = match good && !entry.is_without_effect(!device.ooms.is_empty(), recorded_peak) {
                true => Tone::Free,
                false => Tone::Plain,
            };
            table.row(vec![vec![run(Tone::Command, label)], vec![run(tone, outcome)]]);
        }
        self.screen.table(2, &table);
        self.screen.blank();
        if let Some(base) = wording::base(device) {
            self.faint(&base);
        }
        wording::doubts(device).iter().for_each(|why| self.faint(why));
        if let Some(bounds) = wording::bounds(device) {
            self.faint(&bounds);
        }
        self.faint(&wording::fidelity(fidelity));
        if let Some(scale) = &device.batch_scale {
            self.heading(&Text::new("Which batch fits", "能放下的批大小"));
            self.plain(&wording::batch_scale(scale));
        }
    }
}

/// A table of what holds memory: bytes, share, place.
pub(in crate::report) fn held_table() -> Table {
    Table::new(&[Column::Right, Column::Right, Column::Text])
}

/// One of its rows; behind the place stands what is there, in one piece where the line has no room for both.
pub(in crate::report) fn held_row(holder: &Holder, total: u64, place: impl Into<String>, count: &str) -> Vec<Vec<Run>> {
    let share = units::percent(holder.bytes as f64 / total.max(1) as f64);
    let count = count.replace(' ', &NO_BREAK.to_string());
    let place = vec![run(Tone::Plain, place), run(Tone::Faint, format!("  {count}"))];
    vec![vec![run(Tone::Used, Bytes(holder.bytes).to_string())], vec![run(Tone::Used, share)], place]
}

/// Columns of the plot: the highest use and reservation of the windows that fall into each.
fn squeeze(windows: &[Window], width: usize) -> Vec<(u64, u64)> {
    let width = width.clamp(1, windows.len().max(1));
    (0..width)
        .map(|i| {
            let (from, to) =
                (i * windows.len() / width, ((i + 1) * windows.len() / width).max(i * windows.len() / width + 1));
            let slice = windows.get(from..to.min(windows.len())).unwrap_or_default();
            (slice.iter().map(|w| w.high.0).max().unwrap_or(0), slice.iter().map(|w| w.reserved).max().unwrap_or(0))
        })
        .collect()
}
