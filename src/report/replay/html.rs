//! `oomdoc replay` as one HTML file: nothing is fetched from anywhere, and without scripts only the read-outs that follow
//! the pointer are missing.

use super::{View, wording};
use crate::snapshot::analysis::{DeviceAnalysis, SnapshotAnalysis};
use crate::snapshot::holders::{Holding, Site};
use crate::snapshot::space::{Image, ImageSegment};
use crate::snapshot::{NONE, what_if::Outcome};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::Bytes;
use serde_json::json;
use std::fmt::Write;

/// Size of the drawings in their own units.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 300.0;
/// Segments that a map shows, the largest.
const SEGMENTS: usize = 300;
/// Rectangles that a map draws.
const RECTANGLES: usize = 5000;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// All snapshots on one page.
pub fn render(analyses: &[SnapshotAnalysis], view: View) -> String {
    let lang = view.style.lang;
    let mut out = String::new();
    let (code, title) = match lang {
        Lang::En => ("en", "Memory snapshot"),
        Lang::Zh => ("zh-CN", "显存快照"),
    };
    let _ = writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\" />\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    );
    for analysis in analyses {
        let _ = writeln!(out, "<p class=\"file\">{}</p>", escape(wording::file(analysis).in_lang(lang)));
        for device in &analysis.devices {
            self::device(&mut out, device, &analysis.sites, view);
        }
    }
    let _ = writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>");
    out
}

fn device(out: &mut String, device: &DeviceAnalysis, sites: &[Site], view: View) {
    let lang = view.style.lang;
    let say = |text: &Text| escape(text.in_lang(lang));
    let class = if device.ooms.is_empty() { "fine" } else { "alarm" };
    let _ = writeln!(out, "<section>\n<h1 class=\"{class}\">{}</h1>", say(&wording::headline(device)));
    if let Some(oom) = device.ooms.first() {
        let _ = writeln!(out, "<p class=\"verdict\">{}</p>", say(&wording::verdict(oom)));
    }
    if let Some(peak) = wording::peak(device) {
        let _ = writeln!(out, "<p>{}</p>", say(&peak));
    }
    timeline(out, device, sites, lang);
    let heading = |out: &mut String, text: &Text| {
        let _ = writeln!(out, "<h2>{}</h2>", say(text));
    };
    match device.ooms.first() {
        Some(oom) => {
            heading(out, &Text::new("Held when it failed", "失败时的持有者"));
            holders(out, &oom.holding, sites, view);
        }
        None => {
            let label = match device.peak {
                Some(_) => Text::new("Held at the peak", "峰值时的持有者"),
                None => Text::new("Held at the end", "结束时的持有者"),
            };
            heading(out, &label);
            holders(out, &device.holding, sites, view);
        }
    }
    if let Some(growth) = &device.growth {
        heading(out, &Text::new("Growth", "增长"));
        let _ = writeln!(out, "<p>{}</p>", say(&wording::growth(growth)));
    }
    if let (Some(image), Some(oom)) = (&device.oom_image, device.ooms.first()) {
        heading(out, &Text::new("Memory map at the failed request", "请求失败时的内存图"));
        map(out, image, device, sites, lang, &wording::fragmentation(&oom.fragmentation));
    }
    if !device.peak_image.segments.is_empty() {
        let label = match device.peak {
            Some(_) => Text::new("Memory map at the peak", "峰值时的内存图"),
            None => Text::new("Memory map at the end", "结束时的内存图"),
        };
        heading(out, &label);
        map(out, &device.peak_image, device, sites, lang, &wording::fragmentation(&device.at_peak));
    }
    if let Some(fidelity) = &device.fidelity {
        heading(out, &Text::new("What if", "如果换一种做法"));
        let _ = writeln!(out, "<table>");
        for entry in &device.what_if {
            let class = match &entry.outcome {
                Outcome::Ran { served: Some(true), .. } if !device.ooms.is_empty() => "fine",
                Outcome::Ran { served: Some(false), .. } => "alarm",
                _ => "plain",
            };
            let _ = writeln!(
                out,
                "<tr><td><code>{}</code></td><td class=\"{class}\">{}</td></tr>",
                say(&wording::change(entry, sites)),
                say(&wording::outcome(entry, device))
            );
        }
        let _ = writeln!(out, "</table>");
        if let Some(bounds) = wording::bounds(device) {
            let _ = writeln!(out, "<p>{}</p>", say(&bounds));
        }
        let _ = writeln!(out, "<p>{}</p>", say(&wording::fidelity(fidelity)));
    }
    for note in &device.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", say(note));
    }
    let _ = writeln!(out, "</section>");
}

/// Memory over the trace: sites as layers, the rest in use above them, reserved as an outline.
fn timeline(out: &mut String, device: &DeviceAnalysis, sites: &[Site], lang: Lang) {
    let windows = &device.timeline;
    let top = windows.iter().map(|w| w.high.0.max(w.reserved)).max().unwrap_or(0);
    if top == 0 || windows.len() < 2 {
        return;
    }
    let x = |i: usize| i as f64 * WIDTH / (windows.len() - 1) as f64;
    let y = |bytes: u64| HEIGHT - bytes as f64 * HEIGHT / top as f64;
    let _ = writeln!(
        out,
        "<div class=\"timeline\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\">"
    );
    let area = |out: &mut String, class: &str, low: &[u64], high: &[u64]| {
        let mut path = String::new();
        for (i, bytes) in high.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, x(i), y(*bytes));
        }
        for (i, bytes) in low.iter().enumerate().rev() {
            let _ = write!(path, "L{:.1} {:.1}", x(i), y(*bytes));
        }
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}Z\" />");
    };
    let zero = vec![0u64; windows.len()];
    let reserved: Vec<u64> = windows.iter().map(|w| w.reserved).collect();
    area(out, "reserved", &zero, &reserved);
    let mut low = zero;
    for (i, layer) in device.layers.iter().enumerate() {
        let high: Vec<u64> = low
            .iter()
            .enumerate()
            .map(|(at, base)| base.saturating_add(layer.bytes.get(at).copied().unwrap_or(0)))
            .collect();
        area(out, &format!("layer c{}", i % 16), &low, &high);
        low = high;
    }
    let high: Vec<u64> = windows.iter().zip(&low).map(|(w, base)| w.high.0.max(*base)).collect();
    area(out, "layer rest", &low, &high);
    let (entries, in_use, reserved_word, rest) = match lang {
        Lang::En => ("entry", "in use", "reserved", "everything else"),
        Lang::Zh => ("记录", "占用", "保留", "其余"),
    };
    let names: Vec<String> = device
        .layers
        .iter()
        .map(|layer| wording::place(sites.get(layer.site as usize)).in_lang(lang).to_string())
        .collect();
    let data = json!({
        "events": windows.iter().map(|w| w.high.1 as u64 + 1).collect::<Vec<_>>(),
        "active": windows.iter().map(|w| w.high.0).collect::<Vec<_>>(),
        "reserved": reserved,
        "layers": device.layers.iter().map(|layer| &layer.bytes).collect::<Vec<_>>(),
        "names": names,
        "words": {"entry": entries, "active": in_use, "reserved": reserved_word, "rest": rest},
    });
    // `<` must not end the script element.
    let data = data.to_string().replace('<', "\\u003c");
    let top = Bytes(top);
    let _ = writeln!(
        out,
        "</svg><span class=\"top\">{top}</span><div class=\"readout\"></div><script type=\"application/json\">{data}</script></div>"
    );
    let _ = writeln!(out, "<ul class=\"legend\">");
    for (i, name) in names.iter().enumerate() {
        let _ = writeln!(out, "<li><i class=\"c{}\"></i>{}</li>", i % 16, escape(name));
    }
    let _ =
        writeln!(out, "<li><i class=\"rest\"></i>{rest}</li><li><i class=\"reserved\"></i>{reserved_word}</li></ul>");
}

fn holders(out: &mut String, holding: &Holding, sites: &[Site], view: View) {
    let lang = view.style.lang;
    let _ = writeln!(out, "<table>");
    for holder in holding.holders.iter().take(view.top) {
        let site = sites.get(holder.site as usize);
        let share = holder.bytes as f64 * 100.0 / holding.bytes.max(1) as f64;
        let frames = site.map(|site| site.frames.join("\n")).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><td class=\"number\">{}</td><td class=\"bar\"><span style=\"width:{share:.1}%\"></span></td><td><details><summary>{}</summary><pre>{}</pre></details></td><td>{}</td></tr>",
            Bytes(holder.bytes),
            escape(wording::place(site).in_lang(lang)),
            escape(&frames),
            escape(wording::count(holder).in_lang(lang)),
        );
    }
    let _ = writeln!(out, "</table>\n<p class=\"categories\">");
    for (category, bytes, certainty) in &holding.categories {
        let (name, sure) = (category.text(), certainty.text());
        let _ = writeln!(
            out,
            "<span>{} {} ({})</span>",
            escape(name.in_lang(lang)),
            Bytes(*bytes),
            escape(sure.in_lang(lang))
        );
    }
    let _ = writeln!(out, "</p>");
}

/// One rectangle of a map.
struct Rectangle {
    offset: u64,
    size: u64,
    /// `None` is free; `Some(NONE)` several sites.
    site: Option<u32>,
}

/// Segments as rows, what lies in them to scale.
fn map(out: &mut String, image: &Image, device: &DeviceAnalysis, sites: &[Site], lang: Lang, caption: &Text) {
    let _ = writeln!(out, "<p>{}</p>", escape(caption.in_lang(lang)));
    let mut segments: Vec<&ImageSegment> = image.segments.iter().collect();
    segments.sort_by_key(|segment| (std::cmp::Reverse(segment.range.size), segment.range.address));
    let left_out = segments.len().saturating_sub(SEGMENTS);
    segments.truncate(SEGMENTS);
    let (largest, mut budget) = (segments.first().map_or(1, |s| s.range.size.max(1)), RECTANGLES);
    let (row, gap) = (12.0, 3.0);
    // Small segments would be slivers: a logarithmic width keeps them visible, what lies in each is to scale.
    let width = |size: u64| ((size as f64).ln_1p() / (largest as f64).ln_1p() * WIDTH).max(4.0);
    let height = segments.len() as f64 * (row + gap);
    let _ = writeln!(out, "<svg class=\"map\" viewBox=\"0 0 {WIDTH} {height:.0}\">");
    let free_word = if lang == Lang::En { "free" } else { "空闲" };
    let mixed_word = if lang == Lang::En { "several places" } else { "多处" };
    for (i, segment) in segments.iter().enumerate() {
        let (total, span, y) = (segment.range.size.max(1), width(segment.range.size), i as f64 * (row + gap));
        for rectangle in rectangles(segment, device, &mut budget) {
            let x = rectangle.offset as f64 / total as f64 * span;
            let w = rectangle.size as f64 / total as f64 * span;
            let place = match rectangle.site {
                None => free_word.to_string(),
                Some(NONE) => mixed_word.to_string(),
                Some(site) => wording::place(sites.get(site as usize)).in_lang(lang).to_string(),
            };
            let class = match rectangle.site {
                None => "free".to_string(),
                Some(NONE) => "rest".to_string(),
                Some(site) => match device.layers.iter().position(|layer| layer.site == site) {
                    Some(layer) => format!("c{}", layer % 16),
                    None => "rest".to_string(),
                },
            };
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{w:.2}\" height=\"{row}\"><title>{} {} / {}</title></rect>",
                escape(&place),
                Bytes(rectangle.size),
                Bytes(segment.range.size),
            );
        }
    }
    let _ = writeln!(out, "</svg>");
    if left_out > 0 {
        let text = text!(en: "{left_out} smaller segments are not drawn.", zh: "另有 {left_out} 个较小的段未画出。");
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(text.in_lang(lang)));
    }
}

/// Neighbours of one site are one rectangle, and so is what would be too narrow to see.
fn rectangles(segment: &ImageSegment, device: &DeviceAnalysis, budget: &mut usize) -> Vec<Rectangle> {
    let narrow = segment.range.size / 400;
    let mut out: Vec<Rectangle> = Vec::new();
    for piece in &segment.pieces {
        let site = (piece.holder != NONE).then(|| device.map_sites.get(&piece.holder).copied().unwrap_or(NONE));
        let full = *budget == 0;
        match out.last_mut() {
            Some(last) if last.site == site || full => last.size += piece.size,
            Some(last) if last.size < narrow && piece.size < narrow => {
                last.size += piece.size;
                last.site = Some(NONE);
            }
            _ => {
                *budget = budget.saturating_sub(1);
                out.push(Rectangle { offset: piece.address - segment.range.address, size: piece.size, site });
            }
        }
    }
    out
}

fn escape(text: &str) -> String {
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
