//! The answer for the comment on a pull request.

use super::{View, wording};
use crate::headroom::Assessment;
use crate::report::markdown::escape;
use crate::text::Text;
use std::fmt::Write;

pub fn render(assessment: &Assessment, view: View) -> String {
    let lang = view.style.lang;
    let mut out = String::new();
    let _ = writeln!(out, "### {}\n", escape(wording::headline(assessment).in_lang(lang)));
    let lines = [
        wording::taken(assessment),
        wording::source(assessment),
        wording::peak_line(assessment),
        wording::largest(assessment),
    ];
    for line in lines.into_iter().flatten() {
        let _ = writeln!(out, "- {}", escape(line.in_lang(lang)));
    }
    let basis = assessment.basis.text();
    let from = Text::new(format!("from {}", basis.en), format!("依据{}", basis.zh));
    let _ = writeln!(out, "- {}", escape(from.in_lang(lang)));
    for reason in &assessment.because {
        let _ = writeln!(out, "  - {}", escape(reason.in_lang(lang)));
    }
    if !assessment.remedies.is_empty() {
        let heads = Text::new("| what would change it | peak | answer |", "| 可以改变结果的办法 | 峰值 | 结果 |");
        let _ = writeln!(out, "\n{}\n| --- | ---: | --- |", heads.in_lang(lang));
        for remedy in &assessment.remedies {
            let what = escape(remedy.what.in_lang(lang));
            let peak = wording::bytes(remedy.peak.expected);
            let _ = writeln!(out, "| {what} (`{}`) | {peak} | {} |", remedy.id(), remedy.verdict.text().in_lang(lang));
        }
    }
    if view.explain && !assessment.phases.is_empty() {
        for phase in &assessment.phases {
            let moment = phase.moment.text();
            let _ = writeln!(
                out,
                "\n<details><summary>{}: {}</summary>\n",
                moment.in_lang(lang),
                wording::bytes(phase.bytes())
            );
            for term in &phase.terms {
                let what = escape(term.what.in_lang(lang));
                let _ = writeln!(out, "- {what}: {} = {}", wording::bytes(term.bytes), escape(&term.formula));
            }
            let _ = writeln!(out, "\n</details>");
        }
    }
    out
}
