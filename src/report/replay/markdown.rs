//! `oomdoc replay` as Markdown, to paste into an issue.

use super::{Replayed, View, wording};
use crate::report::Diagnosis;
use crate::report::markdown::{escape, judgement};
use crate::snapshot::analysis::DeviceAnalysis;
use crate::snapshot::holders::{Holding, Site};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::Bytes;
use std::fmt::Write;

/// All snapshots, device by device.
pub fn render(replayed: &[Replayed], view: View) -> String {
    let lang = view.style.lang;
    let mut out = String::new();
    for replayed in replayed {
        let analysis = &replayed.analysis;
        let _ = writeln!(out, "{}\n", escape(wording::file(analysis).in_lang(lang)));
        for (device, diagnosis) in replayed.devices() {
            self::device(&mut out, device, diagnosis, &analysis.sites, view);
        }
    }
    out
}

fn device(out: &mut String, device: &DeviceAnalysis, diagnosis: Option<&Diagnosis>, sites: &[Site], view: View) {
    let lang = view.style.lang;
    let say = |text: &Text| escape(text.in_lang(lang));
    let _ = writeln!(out, "### {}\n", say(&wording::headline(device)));
    match (diagnosis, device.ooms.first()) {
        (Some(diagnosis), _) => {
            judgement(out, diagnosis, lang);
            out.push('\n');
        }
        (None, Some(oom)) => {
            let _ = writeln!(out, "{}\n", say(&wording::verdict(oom)));
        }
        (None, None) => {}
    }
    if let Some(peak) = wording::peak(device) {
        let _ = writeln!(out, "{}\n", say(&peak));
    }
    holders(out, &wording::held(device), wording::holding(device), sites, view);
    let holes = device.ooms.first().map_or(&device.at_peak, |oom| &oom.fragmentation);
    let sentence = wording::fragmentation(holes);
    let _ = writeln!(out, "\n{}", say(&Text::new(format!("{}.", sentence.en), format!("{}。", sentence.zh))));
    if let Some(growth) = &device.growth {
        let _ = writeln!(out, "\n{}", say(&wording::growth(growth)));
    }
    if let Some(fidelity) = &device.fidelity {
        let (change, outcome) = match lang {
            Lang::En => ("what if", "then"),
            Lang::Zh => ("如果", "结果"),
        };
        let _ = writeln!(out, "\n| {change} | {outcome} |\n| --- | --- |");
        for entry in &device.what_if {
            let _ = writeln!(
                out,
                "| {} | {} |",
                say(&wording::change(entry, sites)),
                say(&wording::outcome(entry, device))
            );
        }
        for why in wording::doubts(device) {
            let _ = writeln!(out, "\n{}", say(&why));
        }
        if let Some(bounds) = wording::bounds(device) {
            let _ = writeln!(out, "\n{}", say(&bounds));
        }
        let _ = writeln!(out, "\n{}", say(&wording::fidelity(fidelity)));
    }
    if let Some(scale) = &device.batch_scale {
        let _ = writeln!(out, "\n{}", say(&wording::batch_scale(scale)));
    }
    for note in &device.notes {
        let _ = writeln!(out, "\n> {}", say(note));
    }
    out.push('\n');
}

fn holders(out: &mut String, label: &Text, holding: &Holding, sites: &[Site], view: View) {
    let lang = view.style.lang;
    if holding.holders.is_empty() {
        return;
    }
    let (bytes, place, what) = match lang {
        Lang::En => ("bytes", "place", "what"),
        Lang::Zh => ("字节", "位置", "内容"),
    };
    let _ = writeln!(out, "**{}**\n\n| {bytes} | {place} | {what} |\n| ---: | --- | --- |", label.in_lang(lang));
    for holder in holding.holders.iter().take(view.top) {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            Bytes(holder.bytes),
            escape(wording::place(sites.get(holder.site as usize)).in_lang(lang)),
            escape(wording::count(holder).in_lang(lang)),
        );
    }
    let more = holding.holders.len().saturating_sub(view.top);
    if more > 0 {
        let text = text!(en: "\n{more} more places.", zh: "\n另有 {more} 处。");
        let _ = writeln!(out, "{}", text.in_lang(lang));
    }
}
