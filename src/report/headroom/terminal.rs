//! The answer for people.

use super::{View, plot, wording};
use crate::domain::Verdict;
use crate::headroom::Assessment;
use crate::headroom::host::HostAnswer;
use crate::report::layout::{Screen, Tone, run};
use crate::report::table::{Column, Table};
use crate::text::Text;

pub fn render(assessment: &Assessment, view: View) -> String {
    let style = view.style;
    let lang = style.lang;
    let mut screen = Screen::of(style);
    let tone = match assessment.verdict {
        Verdict::Fits => Tone::Free,
        Verdict::DoesNotFit => Tone::Alarm,
        Verdict::Tight | Verdict::Unknown => Tone::Idle,
    };
    screen.paragraph(&[], 0, &[run(tone, wording::headline(assessment).in_lang(lang))]);
    for line in [wording::taken(assessment), wording::source(assessment)].into_iter().flatten() {
        screen.paragraph(&[], 2, &[run(Tone::Plain, line.in_lang(lang))]);
    }
    screen.blank();
    for line in [wording::peak_line(assessment), wording::largest(assessment)].into_iter().flatten() {
        screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(Tone::Plain, line.in_lang(lang))]);
    }
    if let Some(serving) = &assessment.serving {
        let line = wording::served(assessment, serving);
        screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(Tone::Plain, line.in_lang(lang))]);
    }
    if let Some(host) = &assessment.host {
        show_host(host, assessment.batch.is_some(), view, &mut screen);
    }
    if assessment.because.is_empty() {
        return screen.render();
    }
    let basis = assessment.basis.text();
    let from = Text::new(format!("from {}: ", basis.en), format!("依据{}：", basis.zh));
    let reasons: Vec<&str> = assessment.because.iter().map(|reason| reason.in_lang(lang)).collect();
    let joined = reasons.join(if lang == crate::text::Lang::Zh { "；" } else { "; " });
    screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(Tone::Faint, from.in_lang(lang)), run(Tone::Faint, joined)]);
    let rows = plot::rows(assessment, style.width, style.unicode);
    if !rows.is_empty() {
        screen.blank();
        rows.iter().for_each(|row| screen.line(row));
    }
    if !assessment.remedies.is_empty() {
        screen.blank();
        screen.paragraph(&[], 0, &[run(Tone::Strong, wording::changes(assessment).in_lang(lang))]);
        // Several changes together are too long for a column.
        for remedy in &assessment.remedies {
            let tone = if remedy.verdict == Verdict::Fits { Tone::Free } else { Tone::Plain };
            let (peak, verdict) = (wording::bytes(remedy.peak.expected), remedy.verdict.text());
            let what = &remedy.what;
            let line = Text::new(
                format!("{}: {peak}, {}", what.en, verdict.en),
                format!("{}：{peak}，{}", what.zh, verdict.zh),
            );
            let tail = format!("  ({})", remedy.id());
            screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(tone, line.in_lang(lang)), run(Tone::Faint, tail)]);
        }
    }
    if view.explain {
        explain(assessment, view, &mut screen);
    }
    screen.render()
}

fn show_host(host: &HostAnswer, headline: bool, view: View, screen: &mut Screen) {
    let lang = view.style.lang;
    if headline {
        let line = wording::host_headline(host);
        screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(Tone::Strong, line.in_lang(lang))]);
    }
    let mut table = Table::new(&[Column::Right, Column::Text]);
    for (what, bytes) in host.parts() {
        table.row(vec![vec![run(Tone::Used, bytes.to_string())], vec![run(Tone::Plain, what.in_lang(lang))]]);
    }
    screen.table(4, &table);
    for remedy in wording::host_remedies(host) {
        screen.paragraph(&[run(Tone::Plain, "    ")], 6, &[run(Tone::Free, remedy.in_lang(lang))]);
    }
}

fn explain(assessment: &Assessment, view: View, screen: &mut Screen) {
    let lang = view.style.lang;
    let highest = assessment.phases.iter().map(|phase| phase.bytes()).fold(0.0, f64::max);
    for phase in &assessment.phases {
        screen.blank();
        let (moment, sum) = (phase.moment.text(), wording::bytes(phase.bytes()));
        let mark = if phase.bytes() >= highest { Text::new(" (the highest)", "（最高）") } else { Text::default() };
        let head = Text::new(format!("At {}: {sum}{}", moment.en, mark.en), format!("{}：{sum}{}", moment.zh, mark.zh));
        screen.paragraph(&[], 0, &[run(Tone::Strong, head.in_lang(lang))]);
        let mut table = Table::new(&[Column::Right, Column::Text]);
        for term in &phase.terms {
            table.row(vec![
                vec![run(Tone::Used, wording::bytes(term.bytes).to_string())],
                vec![run(Tone::Plain, term.what.in_lang(lang)), run(Tone::Faint, format!("  = {}", term.formula))],
            ]);
        }
        screen.table(2, &table);
    }
}
