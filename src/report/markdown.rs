//! Markdown to paste into an issue.

use super::terminal::verdict;
use super::{Diagnosis, Explanation, wording};
use crate::cause::conclusion::{Conclusion, SURE_ENOUGH};
use crate::fix::Frees;
use crate::incident::Recording;
use crate::incident::recording::Standing;
use crate::text::{Lang, Text, inert};
use crate::units::{self, Bytes};
use std::fmt::Write;

/// The explanation as Markdown: the primary incident in full, the others in a line each.
pub fn render(explanation: &Explanation, lang: Lang) -> String {
    let mut out = String::new();
    let Some(primary) = explanation.primary().or(explanation.diagnoses.first()) else {
        let text = Text::new("No out-of-memory failure found.", "未发现内存不足故障。");
        return format!("{}\n", text.in_lang(lang));
    };
    incident(&mut out, explanation, primary, lang);
    let others: Vec<&Diagnosis> =
        explanation.diagnoses.iter().filter(|diagnosis| !std::ptr::eq(*diagnosis, primary)).collect();
    if !others.is_empty() {
        section(&mut out, &Text::new("Other failures in the log", "日志中的其他故障"), lang);
        for diagnosis in others {
            let line = diagnosis.incident.event.line();
            let _ = writeln!(out, "- {line}: {}", escape(verdict(diagnosis, &explanation.diagnoses).in_lang(lang)));
        }
    }
    out
}

fn section(out: &mut String, title: &Text, lang: Lang) {
    let _ = writeln!(out, "\n#### {}\n", title.in_lang(lang));
}

/// What would decide, where the log does not.
fn decide(out: &mut String, diagnosis: &Diagnosis, lang: Lang) {
    if diagnosis.decide.is_empty() || !diagnosis.conclusion.is_undecided() {
        return;
    }
    section(out, &Text::new("To find out, cheapest first", "如何判定（从最省事的开始）"), lang);
    for (i, observation) in diagnosis.decide.iter().enumerate() {
        let _ = writeln!(out, "{}. {}", i + 1, escape(observation.act.in_lang(lang)));
        let _ = writeln!(out, "   - {}", escape(wording::outcomes(observation, usize::MAX).in_lang(lang)));
    }
}

fn incident(out: &mut String, explanation: &Explanation, diagnosis: &Diagnosis, lang: Lang) {
    let event = &diagnosis.incident.event;
    let _ = writeln!(out, "### {}\n", escape(verdict(diagnosis, &explanation.diagnoses).in_lang(lang)));
    fenced(out, &event.message);
    if let Some(survival) = diagnosis.incident.survived {
        let _ = writeln!(out, "\n{}", escape(survival.text().in_lang(lang)));
    }
    let proved = diagnosis.conclusion == Conclusion::Proved;
    for text in wording::beforehand(&diagnosis.incident).into_iter().filter(|_| !proved) {
        let _ = writeln!(out, "\n{}", escape(text.in_lang(lang)));
    }
    if let Some(text) = wording::undecided(diagnosis) {
        let _ = writeln!(out, "\n**{}**", escape(text.in_lang(lang)));
        let first = diagnosis.findings.first().map_or(0.0, |first| first.confidence);
        let told = diagnosis.findings.iter().any(|finding| !finding.supporting().is_empty());
        if first < SURE_ENOUGH && !told {
            let _ = writeln!(out, "\n{}", escape(wording::rests_on_frequency().in_lang(lang)));
        }
    }

    let ledger = &diagnosis.incident.ledger;
    if !ledger.entries.is_empty() {
        section(out, &Text::new("Where the memory is", "内存去向"), lang);
        let (who, amount, share) = match lang {
            Lang::En => ("held by", "amount", "share"),
            Lang::Zh => ("持有者", "数量", "占比"),
        };
        let _ = writeln!(out, "| {who} | {amount} | {share} |\n| --- | ---: | ---: |");
        for entry in &ledger.entries {
            let share = ledger.share(Some(entry.amount)).map(units::percent).unwrap_or_default();
            let name = wording::holder_meaning(entry.holder);
            let amount = units::about(entry.amount);
            let cells = [name.in_lang(lang), &amount, &share].map(escape);
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    for contradiction in &ledger.contradictions {
        let _ = writeln!(out, "\n> {}", escape(contradiction.text.in_lang(lang)));
    }

    if let Some(recording) = &diagnosis.incident.recording {
        section(out, &Text::new("Memory snapshot", "显存快照"), lang);
        let _ = writeln!(out, "{}", escape(recording.about().in_lang(lang)));
        if !matches!(recording.standing, Standing::Other(_)) {
            snapshot(out, recording, lang);
        }
    }

    judgement(out, diagnosis, lang);
}

/// Why it failed, what would decide that and what to change.
pub(super) fn judgement(out: &mut String, diagnosis: &Diagnosis, lang: Lang) {
    decide(out, diagnosis, lang);
    if !diagnosis.findings.is_empty() {
        section(out, &Text::new("Why", "原因"), lang);
        for finding in &diagnosis.findings {
            let title = (finding.cause.title)();
            let _ = writeln!(
                out,
                "- **{}** (`{}`, {})",
                escape(title.in_lang(lang)),
                finding.cause.id.id(),
                escape(wording::sure(finding).in_lang(lang))
            );
            for item in finding.evidence.iter().filter(|item| item.weight > 0.0) {
                let lines: Vec<String> = item.lines.iter().map(u64::to_string).collect();
                let at = match (lines.is_empty(), lang) {
                    (true, lang) => item.entry.as_ref().map_or_else(String::new, |entry| {
                        let place = escape(wording::entry(entry).in_lang(lang));
                        if lang == Lang::Zh { format!("（{place}）") } else { format!(" ({place})") }
                    }),
                    (false, Lang::En) => format!(" (line {})", lines.join(", ")),
                    (false, Lang::Zh) => format!("（第 {} 行）", lines.join("、")),
                };
                let _ = writeln!(out, "  - {}{at}", escape(item.text.in_lang(lang)));
            }
        }
    }

    if !diagnosis.plan.offers.is_empty() {
        section(out, &Text::new("What to change", "修复建议"), lang);
        for (i, ranked) in diagnosis.plan.offers.iter().enumerate() {
            let title = ranked.title();
            let frees = wording::frees(&ranked.offer.frees);
            let cost = wording::slowdown(ranked.offer.costs.slows);
            let _ = writeln!(
                out,
                "{}. **{}** ({}; {}). {}",
                i + 1,
                escape(title.in_lang(lang)),
                escape(frees.in_lang(lang)),
                escape(cost.in_lang(lang)),
                escape(ranked.offer.why.in_lang(lang))
            );
            if let Frees::Bytes { formula, .. } = &ranked.offer.frees {
                let _ = writeln!(out, "   {}", escape(formula.in_lang(lang)));
            }
            if let Some(knob) = ranked.offer.knobs.first() {
                let _ = writeln!(out);
                let mut block = String::new();
                fenced(&mut block, knob.line.in_lang(lang));
                for line in block.lines() {
                    let _ = writeln!(out, "   {line}");
                }
                let _ = writeln!(out);
            }
        }
    }
    if !diagnosis.plan.wont_help.is_empty() {
        section(out, &Text::new("What will not help", "无效做法"), lang);
        for (fix, why) in &diagnosis.plan.wont_help {
            let title = (fix.title)();
            let _ = writeln!(out, "- **{}**: {}", escape(title.in_lang(lang)), escape(why.in_lang(lang)));
        }
    }
}

/// Rows of a table of the places that hold memory.
const HOLDERS: usize = 8;

fn snapshot(out: &mut String, recording: &Recording, lang: Lang) {
    if !recording.holders.is_empty() {
        let (who, amount) = match lang {
            Lang::En => ("held by", "amount"),
            Lang::Zh => ("持有者", "数量"),
        };
        let _ = writeln!(out, "\n| {amount} | {who} |\n| ---: | --- |");
        for held in recording.holders.iter().take(HOLDERS) {
            let (share, what) = (units::percent(recording.share(held.bytes)), wording::held(held));
            let _ = writeln!(out, "| {} | {}  {} |", Bytes(held.bytes), escape(&share), escape(what.in_lang(lang)));
        }
    }
    if !recording.trials.is_empty() && recording.faithful {
        let replayed = Text::new("The same requests replayed:", "重放同样的申请：");
        let _ = writeln!(out, "\n{}\n", replayed.in_lang(lang));
        for trial in &recording.trials {
            let outcome = wording::trial(trial);
            let _ = writeln!(out, "- {}: {}", escape(trial.name.in_lang(lang)), escape(outcome.in_lang(lang)));
        }
    }
    if let Some(rise) = &recording.growth {
        let _ = writeln!(out, "\n{}", escape(wording::rise(rise).in_lang(lang)));
    }
}

/// A code block whose fence is longer than any run of backticks inside.
fn fenced(out: &mut String, text: &str) {
    block(out, "", text);
}

/// The same with a language.
pub(super) fn block(out: &mut String, language: &str, text: &str) {
    let text = inert(&text.replace('\t', "    "));
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}{language}\n{}\n{fence}", text.trim_end());
}

/// Prose from a log or a rule as one line of Markdown that renders as written and does nothing: code spans stay code
/// where they are closed, and nothing becomes markup, an image, a mention of somebody or a reference to an issue.
pub(super) fn escape(text: &str) -> String {
    let text = inert(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    // What begins a block at the start of a line: a list, a heading's underline.
    if rest.starts_with(['-', '+', '=']) {
        out.push('\\');
    }
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 && rest[digits..].starts_with([')', '.']) && !rest[digits + 1..].starts_with(|c: char| c != ' ') {
        out.push_str(&rest[..digits]);
        out.push('\\');
        rest = &rest[digits..];
    }
    while let Some(at) = rest.find('`') {
        let (prose, ticks) = rest.split_at(at);
        plain(&mut out, prose);
        let fence = &ticks[..ticks.len() - ticks.trim_start_matches('`').len()];
        rest = &ticks[fence.len()..];
        match closed(rest, fence.len()) {
            Some(end) => {
                // Even in a code span a bar ends a table's cell.
                let _ = write!(out, "{fence}{}{fence}", rest[..end].replace('|', "\\|"));
                rest = &rest[end + fence.len()..];
            }
            None => fence.chars().for_each(|tick| out.extend(['\\', tick])),
        }
    }
    plain(&mut out, rest);
    out
}

/// Where the code span that begins here with so many backticks ends: before a run of exactly as many.
fn closed(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|start| at + start) {
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == ticks {
            return Some(start);
        }
        at = start + run;
    }
    None
}

/// Whoever is mentioned gets a mail, and an issue that is named an entry. Both are looked for in the rendered text,
/// past any backslash; an empty comment parts the sign from the name and shows nothing.
pub(super) const APART: &str = "<!-- -->";

fn plain(out: &mut String, prose: &str) {
    let mut before = ' ';
    let mut rest = prose.chars().peekable();
    while let Some(c) = rest.next() {
        if "|<>*_#[]\\~&$".contains(c) {
            out.push('\\');
        }
        out.push(c);
        let next = rest.peek().copied().unwrap_or(' ');
        let reference = match c {
            '@' => next.is_alphanumeric(),
            '#' => next.is_ascii_digit(),
            // `GH-12`
            '-' => before.eq_ignore_ascii_case(&'h') && next.is_ascii_digit(),
            _ => false,
        };
        if reference {
            out.push_str(APART);
        }
        before = c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_markdown_would_swallow_is_escaped() {
        assert_eq!(escape("a|b <x> `max_split|y`"), "a\\|b \\<x\\> `max_split\\|y`");
        assert_eq!(escape("1. a\n2"), "1\\. a 2");
        assert_eq!(escape("1.25 GiB"), "1.25 GiB");
        assert_eq!(escape("- x"), "\\- x");
        let mut block = String::new();
        fenced(&mut block, "a ``` b");
        assert!(block.starts_with("````\n"));
    }

    /// An odd backtick turned the escaping off for the rest of the line.
    #[test]
    fn an_odd_backtick_opens_no_code() {
        assert_eq!(escape("a ` <img src=x> ![](u)"), "a \\` \\<img src=x\\> !\\[\\](u)");
        assert_eq!(escape("``a ` <b>`` <c>"), "``a ` <b>`` \\<c\\>");
        assert_eq!(escape("``` <b> `"), "\\`\\`\\` \\<b\\> \\`");
    }

    /// `@somebody` in a log's line sent somebody a mail.
    #[test]
    fn nobody_is_mentioned_and_no_issue_is_referred_to() {
        assert_eq!(escape("cc @jane see a/b#12 or GH-7"), "cc @<!-- -->jane see a/b\\#<!-- -->12 or GH-<!-- -->7");
        assert_eq!(escape("`@jane #12` x @ y # z"), "`@jane #12` x @ y \\# z");
        assert_eq!(escape("a *b* ~~c~~ &lt;d $e$"), "a \\*b\\* \\~\\~c\\~\\~ \\&lt;d \\$e\\$");
    }
}
