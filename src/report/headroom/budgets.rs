//! Reports of `oomdoc headroom --check`.

use super::{Checked, View, check, wording};
use crate::domain::Verdict;
use crate::report::gate::Checks;
use crate::report::layout::{Screen, Tone, run};
use crate::report::markdown::escape;
use crate::text;
use crate::text::Text;
use crate::units::Bytes;
use std::fmt::Write;

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Fits => Tone::Free,
        Verdict::DoesNotFit => Tone::Alarm,
        Verdict::Tight | Verdict::Unknown => Tone::Idle,
    }
}

/// To one decimal, without a minus in front of zero.
fn tenths(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0 + 0.0
}

/// The answer in a line; growth that fails the build comes first.
fn headline(checked: &Checked) -> Text {
    let line = wording::headline(&checked.assessment);
    if !checked.is_grown() {
        return line;
    }
    Text::new(format!("grown beyond its baseline: {}", line.en), format!("超出基线的增长：{}", line.zh))
}

/// How the peak stands to the baseline.
fn against_baseline(checked: &Checked) -> Text {
    match (&checked.growth, &checked.baseline) {
        (Some(growth), _) => {
            let (before, percent, most) =
                (Bytes(growth.before), tenths(growth.share * 100.0), growth.tolerance * 100.0);
            if growth.exceeded() {
                text!(en: "grew by {percent:+.1} % from the baseline of {before}, {most} % are allowed", zh: "比基线 {before} 增长 {percent:+.1} %，允许 {most} %")
            } else {
                text!(en: "{percent:+.1} % against the baseline of {before}", zh: "相对基线 {before} 变化 {percent:+.1} %")
            }
        }
        (None, Some(baseline)) => {
            let batch = baseline.batch;
            text!(en: "the baseline is of batch {batch}: not compared; oomdoc headroom --update renews it", zh: "基线是批大小 {batch} 的：未比较；可用 oomdoc headroom --update 更新")
        }
        (None, None) => Text::new(
            "no baseline yet: oomdoc headroom --update writes it",
            "还没有基线：可用 oomdoc headroom --update 写入",
        ),
    }
}

pub fn terminal(all: &[Checked], view: View) -> String {
    let style = view.style;
    let lang = style.lang;
    let mut screen = Screen::of(style);
    for checked in all {
        screen.blank();
        let head = format!("{}: ", checked.name);
        let line = headline(checked);
        screen.paragraph(&[run(Tone::Strong, head)], 2, &[run(tone(checked.verdict()), line.in_lang(lang))]);
        let lines = [wording::peak_line(&checked.assessment), wording::largest(&checked.assessment)];
        for line in lines.into_iter().flatten() {
            screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(Tone::Plain, line.in_lang(lang))]);
        }
        let grown = checked.growth.as_ref().is_some_and(super::Growth::exceeded);
        let tone = if grown { Tone::Alarm } else { Tone::Faint };
        screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(tone, against_baseline(checked).in_lang(lang))]);
        for place in checked.growth.iter().flat_map(|growth| &growth.places) {
            screen.paragraph(&[run(Tone::Plain, "    ")], 6, &[run(Tone::Idle, place.in_lang(lang))]);
        }
    }
    screen.render()
}

pub fn markdown(all: &[Checked], view: View) -> String {
    let lang = view.style.lang;
    let heads = Text::new(
        "| budget | answer | peak | largest batch | against the baseline |",
        "| 预算 | 结果 | 峰值 | 最大批大小 | 与基线相比 |",
    );
    let mut out = format!("### oomdoc headroom\n\n{}\n| --- | --- | ---: | ---: | --- |\n", heads.in_lang(lang));
    for checked in all {
        let answer = headline(checked);
        let peak = checked.assessment.peak.map(|peak| wording::bytes(peak.expected).to_string()).unwrap_or_default();
        let largest = checked.assessment.largest.map(|largest| largest.safe.to_string()).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {} | {} | {peak} | {largest} | {} |",
            escape(&checked.name),
            escape(answer.in_lang(lang)),
            escape(against_baseline(checked).in_lang(lang))
        );
    }
    for checked in all.iter().filter(|checked| checked.growth.as_ref().is_some_and(|growth| !growth.places.is_empty()))
    {
        let _ = writeln!(out, "\n**{}**\n", escape(&checked.name));
        for place in checked.growth.iter().flat_map(|growth| &growth.places) {
            let _ = writeln!(out, "- {}", escape(place.in_lang(lang)));
        }
    }
    out
}

pub fn checks(all: &[Checked]) -> Checks {
    let list = all.iter().map(|checked| {
        let mut check = check(&checked.assessment, Text::same(checked.name.clone()), Some(checked.place.clone()));
        check.verdict = checked.verdict();
        check.grown = checked.is_grown();
        let against = against_baseline(checked);
        // What fails the build is said first.
        let (first, then) = if checked.is_grown() { (against, check.message) } else { (check.message, against) };
        check.message = Text::new(format!("{}; {}", first.en, then.en), format!("{}；{}", first.zh, then.zh));
        for place in checked.growth.iter().flat_map(|growth| &growth.places) {
            check.details.en += &format!("{}\n", place.en);
            check.details.zh += &format!("{}\n", place.zh);
        }
        check
    });
    super::checks(list.collect())
}

/// What `--update` wrote.
pub fn updated(checked: &Checked) -> Text {
    let name = &checked.name;
    match checked.assessment.batch.zip(checked.assessment.peak) {
        Some((batch, peak)) => {
            let peak = wording::bytes(peak.expected);
            text!(en: "{name}: the baseline is {peak} at batch {batch}", zh: "{name}：基线为批大小 {batch} 时 {peak}")
        }
        None => text!(en: "{name}: no peak, so no baseline", zh: "{name}：没有峰值，未写入基线"),
    }
}
