//! GitHub Actions: annotations on standard output, and the summary page of a step.
//!
//! The grammar of annotations (`::error file=…,line=…,title=…::message`) and its escapes are those of the workflow
//! commands: `%`, line ends, and in properties also `:` and `,`.

use super::{Check, Checks};
use crate::domain::Verdict;
use crate::report::markdown::{APART, block, escape};
use crate::text::{Lang, Text, inert};
use std::fmt::Write;

/// One annotation a line.
pub fn annotations(checks: &Checks, lang: Lang) -> String {
    let mut out = String::new();
    for check in &checks.checks {
        annotation(&mut out, checks.suite, check, lang);
    }
    out
}

fn annotation(out: &mut String, suite: &str, check: &Check, lang: Lang) {
    let level = match check.verdict {
        // It fails the build as what does not fit.
        _ if check.grown => "error",
        Verdict::Fits => "notice",
        Verdict::Tight | Verdict::Unknown => "warning",
        Verdict::DoesNotFit => "error",
    };
    let place = match &check.place {
        Some((file, line)) => format!("file={},line={line},", property(file)),
        None => String::new(),
    };
    let title = property(&format!("{suite}: {}", check.name.in_lang(lang)));
    let mut message = check.message.in_lang(lang).to_string();
    for (label, value) in &check.figures {
        let _ = write!(message, "\n{}: {value}", label.in_lang(lang));
    }
    let _ = writeln!(out, "::{level} {place}title={title}::{}", data(&message));
}

fn data(text: &str) -> String {
    inert(text).replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Markdown for the file that `GITHUB_STEP_SUMMARY` names.
pub fn summary(checks: &Checks, lang: Lang) -> String {
    let mut out = format!("### {}\n\n{}\n\n", checks.suite, escape(checks.headline.in_lang(lang)));
    let labels: Vec<&str> = checks
        .checks
        .first()
        .into_iter()
        .flat_map(|check| &check.figures)
        .map(|(label, _)| label.in_lang(lang))
        .collect();
    let header = match lang {
        Lang::En => ["check", "verdict"],
        Lang::Zh => ["检查项", "结论"],
    };
    let cells = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
        out.push('|');
        cells.for_each(|text| {
            let _ = write!(out, " {text} |");
        });
        out.push('\n');
    };
    cells(&mut out, &mut header.iter().chain(&labels).map(|text| escape(text)));
    cells(&mut out, &mut header.iter().chain(&labels).map(|_| "---".to_string()));
    for check in &checks.checks {
        let value = |label: &&str| {
            let found = check.figures.iter().find(|(own, _)| own.in_lang(lang) == *label);
            found.map(|(_, value)| escape(value)).unwrap_or_default()
        };
        let head = [escape(check.name.in_lang(lang)), escape(verdict(check).in_lang(lang))];
        cells(&mut out, &mut head.into_iter().chain(labels.iter().map(value)));
    }
    for check in &checks.checks {
        let details = check.details.in_lang(lang).trim_end();
        if !details.is_empty() {
            let title = html(check.name.in_lang(lang));
            let _ = write!(out, "\n<details><summary>{title}</summary>\n\n");
            block(&mut out, "text", details);
            out.push_str("\n</details>\n");
        }
    }
    out
}

fn verdict(check: &Check) -> Text {
    if check.grown { Text::new("grown", "增长超限") } else { check.verdict.text() }
}

/// The title of what folds out, which is HTML: Markdown is not read in it.
fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in inert(&text.split_whitespace().collect::<Vec<_>>().join(" ")).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' | '#' => out.extend([c.to_string().as_str(), APART]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Checks {
        let mut check =
            Check::new(Text::same("batch 16, 24 GiB"), Verdict::DoesNotFit, Text::same("100 % full\nby far"));
        check.place = Some(("src/a,b.py".into(), 12));
        check.figures = vec![(Text::same("needed"), "25 GiB".into())];
        check.details = Text::same("before ``` after | x");
        Checks { suite: "oomdoc rehearse", headline: Text::same("Does <not> fit."), checks: vec![check] }
    }

    #[test]
    fn annotations_escape_what_the_runner_would_read() {
        assert_eq!(
            annotations(&checks(), Lang::En),
            "::error file=src/a%2Cb.py,line=12,title=oomdoc rehearse%3A batch 16%2C 24 GiB::\
             100 %25 full%0Aby far%0Aneeded: 25 GiB\n"
        );
    }

    #[test]
    fn the_summary_is_one_table_and_the_details_cannot_break_out() {
        let text = summary(&checks(), Lang::En);
        assert!(text.contains("| batch 16, 24 GiB | does not fit | 25 GiB |"), "{text}");
        assert!(text.contains("Does \\<not\\> fit."), "{text}");
        assert!(text.contains("````text\nbefore ``` after | x\n````"), "{text}");
    }
}
