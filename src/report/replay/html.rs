//! `oomdoc replay` as one HTML file: nothing is fetched from anywhere, and without scripts only the read-outs that
//! follow the pointer and the explorer are missing. What it draws is bounded, so a page of a million entries is as
//! quick as one of a hundred; the explorer's record is bounded in [`pack`].

use super::{Replayed, View, explorer, wording};
use crate::order::InOrder;
use crate::packed;
use crate::privacy;
use crate::report::{self, Diagnosis};
use crate::snapshot::analysis::{DeviceAnalysis, Growth, SnapshotAnalysis};
use crate::snapshot::holders::{Holder, Holding, Site};
use crate::snapshot::space::{Image, ImageSegment};
use crate::snapshot::{NONE, pack, what_if::VariationOutcome};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::Bytes;
use serde_json::json;
use std::collections::HashMap;
use std::fmt::Write;

/// Size of the drawings in their own units.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 300.0;
/// Rows of a memory map that are aimed at, and their height with the gap below, in pixels.
const ROWS: u64 = 16;
const ROW: f64 = 22.0;
const BAR: f64 = 18.0;
/// Rectangles that a map draws at most.
const RECTANGLES: usize = 4000;
/// Places listed below the fold, and places whose stack the read-outs know.
const FURTHER: usize = 100;
const STACKS: usize = 300;
/// Frames of a stack in a read-out, innermost first.
const FRAMES: usize = 24;
/// Colours of the style sheet.
const COLOURS: usize = 15;

/// Packed by `build.rs`, in the order of use; each script leaves what the next ones need in one object.
const STYLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.css.gz"));
const SCRIPTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.js.gz"));

/// What stands above the snapshots on a page that explains a failure.
pub struct Above {
    /// The report, as on a terminal.
    pub told: String,
    /// The drawn curves of watched jobs, as they may leave; empty where there are none.
    pub curves: String,
}

/// All snapshots on one page, below what was told of a log, as it may leave: what hides secrets reads the text, not the
/// packed records, which have been read for it before they were packed and would be spoilt.
pub fn render(above: Option<&Above>, replayed: &[Replayed], view: View) -> String {
    let mut out = privacy::leaving(&head(above, replayed, view), view.style.redact).into_owned();
    out.push_str(above.map_or("", |above| above.curves.as_str()));
    out.push_str(&privacy::leaving(&snapshots(replayed, view), view.style.redact));
    let packs = replayed.iter().flat_map(|replayed| replayed.packs.iter());
    for (number, pack) in packs.enumerate().filter(|(_, pack)| !pack.is_empty()) {
        let _ = writeln!(
            out,
            "<script type=\"application/octet-stream\" id=\"pack{number}\">{}</script>",
            pack::base64(pack)
        );
    }
    let _ = writeln!(out, "<script>\n{}</script>\n</body>\n</html>", packed::text(SCRIPTS));
    out
}

/// The page's beginning, with what was told.
fn head(above: Option<&Above>, replayed: &[Replayed], view: View) -> String {
    let lang = view.style.lang;
    let say = |text: &Text| escape(text.in_lang(lang));
    let mut out = String::new();
    let code = if lang == Lang::En { "en" } else { "zh-CN" };
    let names: Vec<&str> = replayed.iter().map(|replayed| file_name(&replayed.analysis.source)).collect();
    let names = names.join(", ");
    let title = match above {
        Some(_) => Text::new("Out of memory", "内存不足"),
        None => text!(en: "Memory snapshot {names}", zh: "显存快照 {names}"),
    };
    // The policy makes sure that nothing in a snapshot can fetch anything.
    let _ = writeln!(
        out,
        "<!DOCTYPE html>\n\
         <html lang=\"{code}\">\n\
         <head>\n\
         <meta charset=\"utf-8\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\" />\n\
         <title>{}</title>\n\
         <style>\n\
         {}</style>\n\
         </head>\n\
         <body>",
        say(&title),
        packed::text(STYLES)
    );
    if let Some(above) = above {
        let _ = writeln!(out, "<pre class=\"told\">{}</pre>", escape(&above.told));
    }
    out
}

/// What lies between the page's beginning and the packed records.
fn snapshots(replayed: &[Replayed], view: View) -> String {
    let lang = view.style.lang;
    let say = |text: &Text| escape(text.in_lang(lang));
    let mut out = String::new();
    let analyses = replayed.iter().map(|replayed| &replayed.analysis);
    let devices =
        || analyses.clone().flat_map(|analysis| analysis.devices.iter().map(move |device| (analysis, device)));
    if devices().count() > 1 {
        let _ = writeln!(out, "<nav><ol>");
        for (i, (analysis, device)) in devices().enumerate() {
            let (class, headline) = (alarm(device), say(&wording::headline(device)));
            let name = escape(file_name(&analysis.source));
            let _ = writeln!(out, "<li><a class=\"{class}\" href=\"#d{i}\">{name}: {headline}</a></li>");
        }
        let _ = writeln!(out, "</ol></nav>");
    }
    let mut number = 0;
    for replayed in replayed {
        let analysis = &replayed.analysis;
        if analysis.devices.is_empty() {
            let none = Text::new("No device in it holds memory.", "其中没有任何设备占用显存。");
            let _ = writeln!(out, "<p class=\"file\">{}</p><p>{}</p>", say(&wording::file(analysis)), say(&none));
        }
        let packs = replayed.packs.iter().map(|pack| !pack.is_empty()).chain(std::iter::repeat(false));
        for ((device, diagnosis), packed) in replayed.devices().zip(packs) {
            let mut section =
                Section { out: &mut out, device, sites: &analysis.sites, view, packed, known: HashMap::new() };
            section.render(number, analysis, diagnosis);
            number += 1;
        }
    }
    if replayed.iter().any(|replayed| replayed.packs.iter().any(|pack| !pack.is_empty())) {
        let (title, hint) = (explorer::drop_title(), explorer::drop_hint());
        let _ = writeln!(
            out,
            "<div class=\"drop\"><p><label>{} <input type=\"file\" multiple=\"multiple\" /></label></p>\
             <p class=\"soft\">{}</p><p class=\"note\"></p></div>",
            say(&title),
            say(&hint)
        );
        // `<` must not end the script element.
        let words = explorer::words(lang).to_string().replace('<', "\\u003c");
        let _ = writeln!(out, "<script type=\"application/json\" class=\"words\">{words}</script>");
    }
    let _ = writeln!(out, "<footer>oomdoc {}</footer>", env!("CARGO_PKG_VERSION"));
    out
}

fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or(source)
}

fn alarm(device: &DeviceAnalysis) -> &'static str {
    if device.ooms.is_empty() { "plain" } else { "alarm" }
}

/// One device on the page.
struct Section<'r> {
    out: &'r mut String,
    device: &'r DeviceAnalysis,
    sites: &'r [Site],
    view: View,
    /// Whether the page carries the device's record.
    packed: bool,
    /// Number of each site in the data for the read-outs; the layers come first.
    known: HashMap<u32, usize>,
}

impl Section<'_> {
    fn say(&self, text: &Text) -> String {
        escape(text.in_lang(self.view.style.lang))
    }

    fn place(&self, site: u32) -> String {
        wording::place(self.sites.get(site as usize)).in_lang(self.view.style.lang).to_string()
    }

    fn element(&mut self, tag: &str, class: &str, text: &Text) {
        let text = self.say(text);
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.out, "<{tag}{class}>{text}</{tag}>");
    }

    /// What the failure comes of, why that is so, and what would change it.
    fn judgement(&mut self, diagnosis: &Diagnosis) {
        if let Some(open) = report::wording::undecided(diagnosis) {
            self.element("p", "verdict", &open);
        }
        if let Some(first) = diagnosis.findings.first() {
            let (title, sure) = ((first.cause.title)(), report::wording::sure(first));
            let cause = Text::new(format!("{} ({})", title.en, sure.en), format!("{}（{}）", title.zh, sure.zh));
            self.element("p", "verdict", &cause);
            let _ = writeln!(self.out, "<ul class=\"verdict\">");
            for evidence in first.evidence.iter().filter(|evidence| evidence.weight > 0.0).take(3) {
                self.element("li", "", &evidence.text);
            }
            let _ = writeln!(self.out, "</ul>");
        }
        if !diagnosis.plan.offers.is_empty() {
            self.element("p", "verdict", &Text::new("What to change, best first:", "修复建议（按价值排序）："));
            let _ = writeln!(self.out, "<ol class=\"verdict\">");
            for ranked in diagnosis.plan.offers.iter().take(3) {
                let (title, frees) = (ranked.title(), report::wording::frees(&ranked.offer.frees));
                let fix = Text::new(format!("{} ({})", title.en, frees.en), format!("{}（{}）", title.zh, frees.zh));
                self.element("li", "", &fix);
            }
            let _ = writeln!(self.out, "</ol>");
        }
    }

    fn render(&mut self, number: usize, analysis: &SnapshotAnalysis, diagnosis: Option<&Diagnosis>) {
        let device = self.device;
        for (i, layer) in device.layers.iter().enumerate() {
            self.known.insert(layer.site, i);
        }
        let _ = writeln!(self.out, "<section id=\"d{number}\">\n<header class=\"{}\">", alarm(device));
        self.element("h1", "", &wording::headline(device));
        match (diagnosis, device.ooms.first()) {
            (Some(diagnosis), _) => self.judgement(diagnosis),
            (None, Some(oom)) => self.element("p", "verdict", &wording::verdict(oom)),
            (None, None) => {}
        }
        let _ = writeln!(self.out, "</header>");
        self.element("p", "file", &wording::file(analysis));
        self.tiles();
        self.timeline();
        if let Some(peak) = wording::peak(device) {
            self.element("p", "note", &peak);
        }
        self.explorer(number, file_name(&analysis.source));
        let holding = wording::holding(device);
        if !holding.holders.is_empty() {
            self.element("h2", "", &wording::held(device));
            self.holders(holding);
        }
        self.what_if();
        if let Some(growth) = &device.growth {
            self.element("h2", "", &Text::new("Growth", "增长"));
            self.growth(growth);
        }
        let at_oom = device.ooms.first().zip(device.oom_image.as_ref());
        if let Some((oom, image)) = at_oom {
            self.element("h2", "", &Text::new("Memory map at the failed request", "请求失败时的内存图"));
            self.map(image, &wording::fragmentation(&oom.fragmentation), Some(oom.requested));
        }
        // A leak fails at its peak: the same map twice would only be longer.
        if device.peak_image.segments.is_empty() || at_oom.is_some_and(|(_, image)| *image == device.peak_image) {
        } else {
            let label = match device.peak {
                Some(_) => Text::new("Memory map at the peak", "峰值时的内存图"),
                None => Text::new("Memory map at the end", "结束时的内存图"),
            };
            self.element("h2", "", &label);
            self.map(&device.peak_image, &wording::fragmentation(&device.at_peak), None);
        }
        if !device.notes.is_empty() {
            let _ = writeln!(self.out, "<ul class=\"note\">");
            for note in &device.notes {
                self.element("li", "", note);
            }
            let _ = writeln!(self.out, "</ul>");
        }
        self.data();
        let _ = writeln!(self.out, "</section>");
    }

    /// Where the program puts the record in all its detail.
    fn explorer(&mut self, number: usize, file: &str) {
        if !self.packed {
            return;
        }
        self.element("h2", "", &explorer::title());
        let first: Vec<String> = self.device.layers.iter().map(|layer| self.place(layer.site)).collect();
        let _ = writeln!(
            self.out,
            "<div class=\"explorer\" data-pack=\"pack{number}\" data-device=\"{}\" data-name=\"{}\" data-title=\"{}\" \
             data-first=\"{}\"><p class=\"soft\">{}</p></div>",
            self.device.ordinal,
            escape(file),
            self.say(&explorer::title()),
            escape(&json!(first).to_string()),
            self.say(&explorer::waiting()),
        );
    }

    /// The figures that one looks for first.
    fn tiles(&mut self) {
        let device = self.device;
        let mut tiles: Vec<(Text, u64)> = Vec::new();
        let holes = match device.ooms.first() {
            Some(oom) => {
                tiles.push((Text::new("asked for", "请求"), oom.requested));
                tiles.push((Text::new("free on the device", "设备空闲"), oom.device_free));
                tiles.push((Text::new("in use", "占用"), oom.holding.bytes));
                &oom.fragmentation
            }
            None => {
                match device.peak_active {
                    Some((active, _)) => tiles.push((Text::new("in use at the peak", "峰值占用"), active)),
                    None => tiles.push((Text::new("allocated at the end", "结束时已分配"), device.allocated)),
                }
                match device.peak_reserved {
                    Some((reserved, _)) => tiles.push((Text::new("reserved at most", "最大保留"), reserved)),
                    None => tiles.push((Text::new("reserved at the end", "结束时保留"), device.reserved)),
                }
                &device.at_peak
            }
        };
        tiles.push((Text::new("cached and free then", "此时缓存中空闲"), holes.free));
        tiles.push((Text::new("largest free piece", "最大空闲块"), holes.largest()));
        let _ = writeln!(self.out, "<dl class=\"tiles\">");
        for (name, bytes) in tiles {
            let name = self.say(&name);
            let _ = writeln!(self.out, "<div><dt>{name}</dt><dd>{}</dd></div>", Bytes(bytes));
        }
        let _ = writeln!(self.out, "</dl>");
    }

    /// Memory over the trace: sites as layers, the rest in use above them, reserved as an outline.
    fn timeline(&mut self) {
        let (device, windows) = (self.device, &self.device.timeline);
        let highest = windows.iter().zip(self.in_use()).map(|(w, bytes)| w.reserved.max(bytes)).max().unwrap_or(0);
        if highest == 0 || windows.len() < 2 {
            return;
        }
        // The limit, where it is known and would not squeeze the rest.
        let limit = device.budget.and_then(|budget| budget.high.filter(|high| *high == budget.low));
        let limit = limit.filter(|limit| *limit >= highest && *limit / 2 <= highest);
        let top = highest.max(limit.unwrap_or(0));
        let top = top.saturating_add(top / 25);
        let last = (windows.len() - 1) as f64;
        let x = |i: usize| i as f64 * WIDTH / last;
        let share = |bytes: u64| bytes as f64 / top as f64;
        let y = |bytes: u64| HEIGHT - share(bytes) * HEIGHT;
        let label = self.say(&Text::new("Memory over the recording", "记录期间的显存占用"));
        let _ = writeln!(self.out, "<figure class=\"timeline\">\n<div class=\"marks\">");
        let marks = self.marks();
        for (i, name) in &marks {
            let left = *i as f64 * 100.0 / last;
            // A label must not leave the drawing: it hangs to the side where there is room.
            let side = if left < 50.0 { "start" } else { "end" };
            let _ = writeln!(self.out, "<span class=\"{side}\" style=\"left:{left:.2}%\">{}</span>", self.say(name));
        }
        let _ = writeln!(
            self.out,
            "</div>\n<div class=\"plot\" tabindex=\"0\" data-top=\"{top}\" role=\"img\" aria-label=\"{label}\">"
        );
        for (bytes, name) in ticks(top) {
            let _ =
                writeln!(self.out, "<span class=\"tick\" style=\"bottom:{:.2}%\">{name}</span>", share(bytes) * 100.0);
        }
        let _ = writeln!(self.out, "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\">");
        let area = |out: &mut String, attributes: &str, low: &[u64], high: &[u64]| {
            let mut path = String::new();
            for (i, bytes) in high.iter().enumerate() {
                let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, x(i), y(*bytes));
            }
            for (i, bytes) in low.iter().enumerate().rev() {
                let _ = write!(path, "L{:.1} {:.1}", x(i), y(*bytes));
            }
            let _ = writeln!(out, "<path {attributes} d=\"{path}Z\" />");
        };
        let zero = vec![0u64; windows.len()];
        let reserved: Vec<u64> = windows.iter().map(|w| w.reserved).collect();
        area(self.out, "class=\"reserved\"", &zero, &reserved);
        let mut low = zero;
        for (i, layer) in device.layers.iter().enumerate() {
            let high: Vec<u64> = low
                .iter()
                .enumerate()
                .map(|(at, base)| base.saturating_add(layer.bytes.get(at).copied().unwrap_or(0)))
                .collect();
            area(self.out, &format!("class=\"layer c{}\" data-i=\"{i}\"", i % COLOURS), &low, &high);
            low = high;
        }
        let high = self.in_use();
        area(self.out, &format!("class=\"layer rest\" data-i=\"{}\"", device.layers.len()), &low, &high);
        for (bytes, _) in ticks(top) {
            let _ = writeln!(self.out, "<path class=\"grid\" d=\"M0 {0:.1}H{WIDTH}\" />", y(bytes));
        }
        for (i, _) in &marks {
            let _ = writeln!(self.out, "<path class=\"mark\" d=\"M{:.1} 0V{HEIGHT}\" />", x(*i));
        }
        if let Some(limit) = limit {
            let _ = writeln!(self.out, "<path class=\"limit\" d=\"M0 {:.1}H{WIDTH}\" />", y(limit));
        }
        let _ = writeln!(self.out, "</svg><i class=\"cross\"></i></div>");
        let (first, end) = (Text::new("entry 1", "第 1 条记录"), device.events);
        let end = text!(en: "entry {end}", zh: "第 {end} 条记录");
        let _ = writeln!(
            self.out,
            "<div class=\"ends\"><span>{}</span><span>{}</span></div>",
            self.say(&first),
            self.say(&end)
        );
        let _ = writeln!(self.out, "<ul class=\"legend\">");
        for (i, layer) in device.layers.iter().enumerate() {
            let name = escape(&self.place(layer.site));
            let _ = writeln!(self.out, "<li data-i=\"{i}\"><i class=\"c{}\"></i>{name}</li>", i % COLOURS);
        }
        let (rest, idle) = (self.say(&rest()), self.say(&idle()));
        let _ = writeln!(
            self.out,
            "<li data-i=\"{}\"><i class=\"rest\"></i>{rest}</li><li><i class=\"reserved\"></i>{idle}</li>",
            device.layers.len()
        );
        if let Some(limit) = limit {
            let limit = Bytes(limit);
            let text = text!(en: "limit of the allocator, {limit}", zh: "分配器上限 {limit}");
            let _ = writeln!(self.out, "<li><i class=\"limit\"></i>{}</li>", self.say(&text));
        }
        let _ = writeln!(self.out, "</ul>\n</figure>");
    }

    /// Most bytes in use in each window. Where the memory map lost track of the trace, the layers can hold more than
    /// it.
    fn in_use(&self) -> Vec<u64> {
        let held = |at: usize| {
            let layers = self.device.layers.iter().filter_map(|layer| layer.bytes.get(at).copied());
            layers.fold(0, u64::saturating_add)
        };
        self.device.timeline.iter().enumerate().map(|(at, window)| window.high.0.max(held(at))).collect()
    }

    /// The windows of the timeline that deserve a name.
    fn marks(&self) -> Vec<(usize, Text)> {
        let windows = &self.device.timeline;
        let window = |event: u32| match event {
            NONE => 0,
            _ => windows.partition_point(|w| w.last < event).min(windows.len().saturating_sub(1)),
        };
        let peak = self.device.peak_active.map(|(_, event)| window(event));
        let oom = self.device.ooms.first().map(|oom| window(oom.event));
        let (named, failed) = (Text::new("peak", "峰值"), Text::new("out of memory", "显存不足"));
        match (peak, oom) {
            (Some(peak), Some(oom)) if peak.abs_diff(oom) * 5 > windows.len() => vec![(peak, named), (oom, failed)],
            (_, Some(oom)) => vec![(oom, failed)],
            (Some(peak), None) => vec![(peak, named)],
            (None, None) => Vec::new(),
        }
    }

    /// The class that colours a site as in the timeline.
    fn colour(&self, site: u32) -> String {
        match self.known.get(&site) {
            Some(i) if *i < self.device.layers.len() => format!("c{}", i % COLOURS),
            _ => "rest".to_string(),
        }
    }

    fn holders(&mut self, holding: &Holding) {
        let top = self.view.top;
        self.holder_table(holding.holders.iter().take(top), holding.bytes);
        let rest: Vec<&Holder> = holding.holders.iter().skip(top).collect();
        if !rest.is_empty() {
            let bytes = rest.iter().map(|holder| holder.bytes).fold(0, u64::saturating_add);
            let (count, bytes) = (rest.len(), Bytes(bytes));
            let text = match count {
                1 => text!(en: "1 more place with {bytes}", zh: "另有 1 处，共 {bytes}"),
                _ => text!(en: "{count} more places with {bytes}", zh: "另有 {count} 处，共 {bytes}"),
            };
            let _ = writeln!(self.out, "<details><summary>{}</summary>", self.say(&text));
            self.holder_table(rest.into_iter().take(FURTHER), holding.bytes);
            let _ = writeln!(self.out, "</details>");
        }
        let _ = writeln!(self.out, "<ul class=\"categories\">");
        for (category, bytes, certainty) in &holding.categories {
            let name = self.say(&wording::category(*category, *certainty));
            let _ = writeln!(self.out, "<li><b>{}</b> {name}</li>", Bytes(*bytes));
        }
        let _ = writeln!(self.out, "</ul>");
    }

    fn holder_table<'h>(&mut self, holders: impl Iterator<Item = &'h Holder>, total: u64) {
        let _ = writeln!(self.out, "<table class=\"holders\">");
        for holder in holders {
            let share = holder.bytes as f64 / total.max(1) as f64;
            let (place, colour) = (escape(&self.place(holder.site)), self.colour(holder.site));
            let frames = self.sites.get(holder.site as usize).map(|site| site.frames.join("\n")).unwrap_or_default();
            let place = match frames.is_empty() {
                true => place,
                false => format!("<details><summary>{place}</summary><pre>{}</pre></details>", escape(&frames)),
            };
            let count = self.say(&wording::count(holder));
            let _ = writeln!(
                self.out,
                "<tr><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"bar\"><span class=\"{colour}\
                 \" style=\"width:{:.1}%\"></span></td><td class=\"place\">{place}</td><td class=\"count\">{count}\
                 </td></tr>",
                Bytes(holder.bytes),
                escape(&crate::units::percent(share)),
                share * 100.0,
            );
        }
        let _ = writeln!(self.out, "</table>");
    }

    fn what_if(&mut self) {
        let device = self.device;
        let Some(fidelity) = &device.fidelity else { return };
        self.element("h2", "", &Text::new("What if", "如果换一种做法"));
        let recorded = device.peak_reserved.map_or(0, |(bytes, _)| bytes);
        let peak = |outcome: &VariationOutcome| match outcome {
            VariationOutcome::Ran { served, peak_reserved, .. } if *served != Some(false) => Some(*peak_reserved),
            _ => None,
        };
        let most = device.what_if.iter().filter_map(|entry| peak(&entry.outcome)).fold(recorded.max(1), u64::max);
        let percent = |bytes: u64| bytes as f64 * 100.0 / most as f64;
        let _ = writeln!(self.out, "<table class=\"whatif\">");
        for entry in &device.what_if {
            let class = match &entry.outcome {
                _ if entry.is_without_effect(!device.ooms.is_empty(), recorded) => "plain",
                VariationOutcome::Ran { served: Some(true), .. } if !device.ooms.is_empty() => "fine",
                VariationOutcome::Ran { served: Some(true), .. } if entry.saves.is_some_and(|saves| saves > 0) => {
                    "fine"
                }
                VariationOutcome::Ran { served: Some(false), .. } => "alarm",
                _ => "plain",
            };
            let bar = match peak(&entry.outcome) {
                Some(bytes) => {
                    // What the simulator made of the recorded settings, which is what the text compares with.
                    let now = entry.saves.and_then(|saves| u64::try_from(i128::from(bytes) + saves).ok());
                    let (width, now) = (percent(bytes), percent(now.unwrap_or(recorded)).min(100.0));
                    format!("<span style=\"width:{width:.1}%\"></span><i style=\"left:{now:.1}%\"></i>")
                }
                None => String::new(),
            };
            let (change, outcome) =
                (self.say(&wording::change(entry, self.sites)), self.say(&wording::outcome(entry, device)));
            let _ = writeln!(
                self.out,
                "<tr><td><code>{change}</code></td><td class=\"{class}\">{outcome}</td><td class=\"bar\">{bar}\
                 </td></tr>"
            );
        }
        let _ = writeln!(self.out, "</table>");
        self.element(
            "p",
            "note",
            &Text::new(
                "Bars: reserved at most; the mark stands where the recorded settings end.",
                "条形为最大保留量，竖线为原设置下的值。",
            ),
        );
        wording::doubts(device).iter().for_each(|why| self.element("p", "note", why));
        if let Some(bounds) = wording::bounds(device) {
            self.element("p", "note", &bounds);
        }
        self.element("p", "note", &wording::fidelity(fidelity));
        if let Some(scale) = &device.batch_scale {
            self.element("h2", "", &Text::new("Which batch fits", "能放下的批大小"));
            self.element("p", "", &wording::batch_scale(scale));
        }
    }

    fn growth(&mut self, growth: &Growth) {
        self.element("p", "", &wording::growth(growth));
        let most = growth.floors.iter().copied().fold(1, u64::max);
        let _ = writeln!(self.out, "<div class=\"floors\">");
        for floor in &growth.floors {
            let height = *floor as f64 * 100.0 / most as f64;
            let _ = writeln!(self.out, "<i style=\"height:{height:.1}%\" title=\"{}\"></i>", Bytes(*floor));
        }
        let _ = writeln!(self.out, "</div>\n<table class=\"growing\">");
        for (site, bytes) in growth.sites.iter().take(self.view.top) {
            let (place, colour) = (escape(&self.place(*site)), self.colour(*site));
            let _ = writeln!(
                self.out,
                "<tr><td class=\"number\">+{}</td><td><i class=\"{colour}\"></i>{place}</td></tr>",
                Bytes(*bytes)
            );
        }
        let _ = writeln!(self.out, "</table>");
    }

    /// All segments to scale, in rows like the lines of a text, and above them what was asked for.
    fn map(&mut self, image: &Image, caption: &Text, request: Option<u64>) {
        let (device, total) = (self.device, image.reserved());
        let layout = Layout::of(image, total);
        let mut narrow = layout.row_bytes / WIDTH as u64;
        let mut rectangles = layout.rectangles(device, narrow);
        while rectangles.len() > RECTANGLES {
            narrow = narrow.saturating_mul(2).max(1);
            let before = rectangles.len();
            rectangles = layout.rectangles(device, narrow);
            if rectangles.len() >= before && narrow > total {
                rectangles.truncate(RECTANGLES);
            }
        }
        let (segments, row) = (image.segments.len(), Bytes(layout.row_bytes));
        let (caption, reserved) = (caption.clone(), Bytes(total));
        let caption = match segments {
            1 => Text::new(
                format!("{}. {reserved} in 1 segment; a row is {row}.", caption.en),
                format!("{}。共 1 个段，{reserved}；每行 {row}。", caption.zh),
            ),
            _ => Text::new(
                format!("{}. {reserved} in {segments} segments; a row is {row}.", caption.en),
                format!("{}。共 {segments} 个段，{reserved}；每行 {row}。", caption.zh),
            ),
        };
        self.element("p", "", &caption);
        let scale = WIDTH / layout.row_bytes as f64;
        let request = request.filter(|bytes| bytes.div_ceil(layout.row_bytes) <= ROWS);
        let above = request.map_or(0, |bytes| bytes.div_ceil(layout.row_bytes)) as f64 * ROW;
        let above = if above > 0.0 { above + ROW / 2.0 } else { 0.0 };
        let height = above + layout.rows as f64 * ROW;
        let _ = writeln!(
            self.out,
            "<svg class=\"map\" style=\"height:{height}px\" viewBox=\"0 0 {WIDTH} {height}\" preserveAspectRatio=\"none\
             \">"
        );
        let mut left = request.unwrap_or(0);
        for row in 0..ROWS {
            let bytes = left.min(layout.row_bytes);
            if bytes > 0 {
                let (y, width) = (row as f64 * ROW + 1.0, bytes as f64 * scale);
                let _ =
                    writeln!(self.out, "<path class=\"request\" d=\"M0 {y}H{width:.1}V{:.0}H0Z\" />", y + BAR - 2.0);
            }
            left -= bytes;
        }
        for rectangle in &rectangles {
            let class = match rectangle.site {
                None => "free".to_string(),
                Some(NONE) => "rest".to_string(),
                Some(site) => self.colour(site),
            };
            let site = match rectangle.site {
                None => String::new(),
                Some(NONE) => " data-s=\"-1\"".to_string(),
                Some(site) => {
                    let next = self.known.len();
                    format!(" data-s=\"{}\"", self.known.entry(site).or_insert(next))
                }
            };
            // A hair between two blocks and a wider one between two segments, where there is room.
            let mut width = rectangle.size as f64 * scale;
            if width > 3.0 {
                width -= if rectangle.ends { 2.0 } else { 0.6 * f64::from(u8::from(rectangle.whole)) };
            }
            let width = width.max(0.3);
            let _ = writeln!(
                self.out,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.0}\" width=\"{width:.1}\" height=\"{BAR}\" data-b=\"{}\" \
                 data-u=\"{}\" data-t=\"{}\"{site} />",
                rectangle.offset as f64 * scale,
                above + rectangle.row as f64 * ROW,
                rectangle.block,
                rectangle.used,
                rectangle.segment,
            );
        }
        let _ = writeln!(self.out, "</svg>");
        let mut others = Vec::new();
        if rectangles.iter().any(|rectangle| rectangle.site.is_none()) {
            others.push(("free", idle()));
        }
        if rectangles.iter().any(|r| r.site.is_some_and(|site| self.colour(site) == "rest")) {
            others.push(("rest", Text::new("everything else, or several small blocks", "其余，或多个小 block")));
        }
        if let Some(bytes) = request {
            let bytes = Bytes(bytes);
            others.push(("request", text!(en: "what was asked for, {bytes}", zh: "失败的请求，{bytes}")));
        }
        let _ = writeln!(self.out, "<ul class=\"legend\">");
        for (class, text) in others {
            let _ = writeln!(self.out, "<li><i class=\"{class}\"></i>{}</li>", self.say(&text));
        }
        let _ = writeln!(self.out, "</ul>");
    }

    /// What the read-outs show, for the script.
    fn data(&mut self) {
        let (device, lang) = (self.device, self.view.style.lang);
        let mut sites: Vec<(usize, u32)> = self.known.iter().map(|(site, i)| (*i, *site)).collect();
        sites.sort_unstable();
        let known: Vec<_> = sites
            .iter()
            .map(|(i, site)| {
                let frames = self.sites.get(*site as usize).filter(|_| *i < STACKS).map(|site| {
                    let left_out = site.frames.len().saturating_sub(FRAMES);
                    let mut frames: Vec<&str> = site.frames.iter().take(FRAMES).map(String::as_str).collect();
                    frames.extend((left_out > 0).then_some("…"));
                    frames.join("\n")
                });
                json!([self.place(*site), frames.unwrap_or_default()])
            })
            .collect();
        let word = |text: Text| text.in_lang(lang).to_string();
        let windows = &device.timeline;
        let last = device.events;
        let data = json!({
            "events": windows.iter().map(|w| u64::from(w.high.1).saturating_add(1)).collect::<Vec<_>>(),
            "active": self.in_use(),
            "reserved": windows.iter().map(|w| w.reserved).collect::<Vec<_>>(),
            "layers": device.layers.iter().map(|layer| &layer.bytes).collect::<Vec<_>>(),
            "sites": known,
            "words": {
                "entry": word(text!(en: "entry # of {last}", zh: "第 #/{last} 条记录")),
                "active": word(Text::new("in use", "占用")),
                "reserved": word(Text::new("reserved", "保留")),
                "rest": word(rest()),
                "further": word(Text::new("further places", "另外几处")),
                "idle": word(idle()),
                "several": word(Text::new("several small blocks, in use together", "多个小 block，共占用")),
                "segment": word(Text::new("in a segment of", "所在段")),
                "silent": word(Text::new("no stack recorded", "未记录调用栈")),
            },
        });
        // `<` must not end the script element.
        let data = data.to_string().replace('<', "\\u003c");
        let _ = writeln!(self.out, "<script type=\"application/json\" class=\"data\">{data}</script>");
    }
}

fn rest() -> Text {
    Text::new("everything else", "其余")
}

fn idle() -> Text {
    Text::new("reserved, not in use", "已保留但空闲")
}

/// Round values of the scale up to `top` bytes, in one unit.
fn ticks(top: u64) -> Vec<(u64, String)> {
    let units = [("B", 1u64), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
    let Some((name, unit)) = units.iter().rev().find(|(_, unit)| top >= *unit) else { return Vec::new() };
    let rough = top as f64 / *unit as f64 / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 3.0, 5.0, 10.0].iter().map(|n| n * power).find(|step| *step >= rough).unwrap_or(power);
    let decimals = if step >= 1.0 { 0 } else { 1 + usize::from(step < 0.1) };
    (0..=5)
        .map(|i| f64::from(i) * step)
        .map(|value| ((value * *unit as f64) as u64, value))
        .filter(|(bytes, _)| *bytes <= top)
        .map(|(bytes, value)| (bytes, if bytes == 0 { "0".to_string() } else { format!("{value:.decimals$} {name}") }))
        .collect()
}

/// One rectangle of a map.
struct Rectangle {
    row: usize,
    /// Bytes from the left.
    offset: u64,
    size: u64,
    /// Size of the block or hole, of which a row may show a part; of all that share the rectangle, where several do.
    block: u64,
    /// Bytes of it in use.
    used: u64,
    /// Size of its segment.
    segment: u64,
    /// `None` is free; `Some(NONE)` several sites.
    site: Option<u32>,
    /// Whether its segment ends with it, and whether its block does, which can go on in the next row.
    ends: bool,
    whole: bool,
}

/// Which segment lies where in a map.
struct Layout<'i> {
    row_bytes: u64,
    rows: usize,
    /// Row, offset in it and the segment, in the order of drawing.
    placed: Vec<(usize, u64, &'i ImageSegment)>,
}

impl<'i> Layout<'i> {
    fn of(image: &'i Image, total: u64) -> Layout<'i> {
        let mut segments: Vec<&ImageSegment> = image.segments.iter().collect();
        segments.order_by_key(|segment| (std::cmp::Reverse(segment.range.size), segment.range.address));
        let largest = segments.first().map_or(1, |segment| segment.range.size.max(1));
        let aim = total.div_ceil(ROWS).max(1);
        // Rows of whole segments are easiest to read; a segment much larger than a row runs on in the next.
        let row_bytes = if largest <= total / 8 { aim.div_ceil(largest).saturating_mul(largest) } else { aim };
        let mut rows: Vec<u64> = Vec::new();
        let mut placed = Vec::new();
        for segment in segments {
            let size = segment.range.size;
            if size > row_bytes {
                placed.push((rows.len(), 0, segment));
                let whole = (size / row_bytes) as usize;
                rows.extend(std::iter::repeat_n(row_bytes, whole));
                rows.extend(Some(size % row_bytes).filter(|rest| *rest > 0));
                continue;
            }
            match rows.iter_mut().enumerate().find(|(_, used)| row_bytes - **used >= size) {
                Some((row, used)) => {
                    placed.push((row, *used, segment));
                    *used += size;
                }
                None => {
                    placed.push((rows.len(), 0, segment));
                    rows.push(size);
                }
            }
        }
        placed.order_by_key(|(row, offset, _)| (*row, *offset));
        Layout { row_bytes, rows: rows.len(), placed }
    }

    /// Each block and each hole is a rectangle; neighbours that would be too narrow to see share one.
    fn rectangles(&self, device: &DeviceAnalysis, narrow: u64) -> Vec<Rectangle> {
        let mut out: Vec<Rectangle> = Vec::new();
        for (first_row, start, segment) in &self.placed {
            let total = segment.range.size;
            let mut open = false;
            for piece in &segment.pieces {
                let site = (piece.holder != NONE).then(|| device.map_sites.get(&piece.holder).copied().unwrap_or(NONE));
                let mut from = start.saturating_add(piece.address.saturating_sub(segment.range.address));
                let mut left = piece.size;
                while left > 0 {
                    let (row, offset) = (*first_row + (from / self.row_bytes) as usize, from % self.row_bytes);
                    let size = left.min(self.row_bytes - offset);
                    (from, left) = (from.saturating_add(size), left - size);
                    let used = if site.is_some() { size } else { 0 };
                    match out.last_mut().filter(|last| last.row == row && last.offset + last.size == offset) {
                        Some(last) if last.size < narrow && size < narrow => {
                            last.size += size;
                            last.used += used;
                            last.block = last.size;
                            last.segment = if open { total } else { 0 };
                            if last.site != site {
                                last.site = Some(NONE);
                            }
                        }
                        _ => out.push(Rectangle {
                            row,
                            offset,
                            size,
                            block: piece.size,
                            used,
                            segment: total,
                            site,
                            ends: false,
                            whole: left == 0,
                        }),
                    }
                    open = true;
                }
            }
            if let Some(last) = out.last_mut() {
                last.ends = true;
            }
        }
        out
    }
}

pub(in crate::report) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
