//! `oomdoc rehearse`, one file per format; [`checks`] is what build servers are told.

pub mod json;
pub mod terminal;
mod wording;

use super::gate::{Check, Checks};
use super::{Explanation, Style};
use crate::rehearse::outcome::{Answer, Run};
use crate::snapshot::analysis::SnapshotAnalysis;
use crate::text;
use crate::text::Text;

/// What the formats lay out.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub answer: &'a Answer,
    /// The snapshot of the run that is shown.
    pub peak: Option<&'a SnapshotAnalysis>,
    /// The first out-of-memory error, explained.
    pub explanation: Option<&'a Explanation>,
    pub style: Style,
}

/// A check for each batch that was asked for; a search is one check.
pub fn checks(view: &View<'_>) -> Checks {
    let answer = view.answer;
    let headline = wording::headline(answer);
    let gpu = &answer.question.gpu.name;
    let checks = match answer.question.range {
        Some((from, to)) => {
            let name = text!(
                en: "largest batch from {from} to {to} on {gpu}",
                zh: "{gpu} 上从 {from} 到 {to} 的最大批大小"
            );
            let mut check = Check::new(name, answer.verdict, headline.clone());
            if let Some(run) = answer.shown() {
                fill(&mut check, view, run);
            }
            check.seconds = Some(answer.seconds);
            vec![check]
        }
        None => answer
            .runs
            .iter()
            .map(|run| {
                let name = match run.batch {
                    Some(batch) => text!(en: "batch {batch} on {gpu}", zh: "{gpu} 上批大小 {batch}"),
                    None => text!(en: "training on {gpu}", zh: "在 {gpu} 上训练"),
                };
                let mut check = Check::new(name, run.verdict, wording::verdict(answer, run));
                fill(&mut check, view, run);
                check.seconds = Some(run.seconds);
                check
            })
            .collect(),
    };
    if checks.is_empty() {
        return unanswered(&headline);
    }
    Checks { suite: SUITE, headline, checks }
}

const SUITE: &str = "oomdoc rehearse";

/// What is told where nothing was rehearsed.
pub fn unanswered(why: &Text) -> Checks {
    Checks::unanswered(SUITE, Text::new("rehearsal", "预演"), why)
}

fn fill(check: &mut Check, view: &View<'_>, run: &Run) {
    let answer = view.answer;
    let figure = |label: (&str, &str), value: String| (Text::new(label.0, label.1), value);
    let at_least = if run.is_whole() && run.oom().is_none() { "" } else { "≥ " };
    check.figures = vec![
        figure(("in use at the peak", "峰值占用"), format!("{at_least}{}", crate::units::Bytes(run.allocated()))),
        figure(("reserved", "已保留"), format!("{at_least}{}", wording::span(run.reserved()))),
        figure(
            ("needed with context and libraries", "连同上下文与库共需"),
            format!("{at_least}{}", wording::span(run.needed())),
        ),
        figure(("capacity", "显存容量"), crate::units::Bytes(answer.capacity()).to_string()),
    ];
    let stack = run.oom().map(|oom| &oom.stack).or(run.deciding().and_then(|take| Some(&take.peak.as_ref()?.stack)));
    check.place =
        stack.and_then(|stack| wording::own_frames(stack).into_iter().find_map(|frame| wording::file_and_line(frame)));
    if let Some(oom) = run.oom() {
        let explained = view.explanation.filter(|_| answer.first_oom().is_some_and(|(first, _)| first == run));
        check.details = wording::oom_details(oom, explained);
    } else if !run.is_whole() {
        let words = run.takes.iter().flat_map(|take| &take.last_words).map(|line| Text::same(line.as_str()));
        let reasons: Vec<Text> = run.shortfalls().into_iter().chain(words).collect();
        check.details = Text::new(
            reasons.iter().map(|text| text.en.as_str()).collect::<Vec<_>>().join("\n"),
            reasons.iter().map(|text| text.zh.as_str()).collect::<Vec<_>>().join("\n"),
        );
    }
}
