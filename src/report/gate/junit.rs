//! JUnit XML, as Jenkins, GitLab and most other build servers read it.
//!
//! `fits` is a passed test case, `tight` and `does not fit` a failed one, `cannot tell` one that ended in an error.

use super::{Check, Checks};
use crate::domain::Verdict;
use crate::text::{Lang, is_obeyed};
use std::fmt::Write;

/// One test suite with a test case for each check.
pub fn render(checks: &Checks, lang: Lang) -> String {
    let count = |wanted: fn(Verdict) -> bool| checks.checks.iter().filter(|check| wanted(check.verdict)).count();
    let failures = count(|verdict| matches!(verdict, Verdict::Tight | Verdict::DoesNotFit));
    let errors = count(|verdict| verdict == Verdict::Unknown);
    let seconds: f64 = checks.checks.iter().filter_map(|check| check.seconds).fold(0.0, |sum, seconds| sum + seconds);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let suite = attribute(checks.suite);
    let totals =
        format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"", checks.checks.len());
    let _ = writeln!(out, "<testsuites name=\"{suite}\" {totals}>\n  <testsuite name=\"{suite}\" {totals}>");
    for check in &checks.checks {
        case(&mut out, &suite, check, lang);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(out: &mut String, suite: &str, check: &Check, lang: Lang) {
    let name = attribute(check.name.in_lang(lang));
    let _ = write!(out, "    <testcase classname=\"{suite}\" name=\"{name}\"");
    if let Some((file, line)) = &check.place {
        let _ = write!(out, " file=\"{}\" line=\"{line}\"", attribute(file));
    }
    let _ = writeln!(out, " time=\"{:.3}\">", check.seconds.unwrap_or(0.0));
    let message = check.message.in_lang(lang);
    let element = match check.verdict {
        Verdict::Fits => None,
        Verdict::Tight | Verdict::DoesNotFit => Some("failure"),
        Verdict::Unknown => Some("error"),
    };
    let mut body = message.to_string();
    for (label, value) in &check.figures {
        let _ = write!(body, "\n{}: {value}", label.in_lang(lang));
    }
    let details = check.details.in_lang(lang);
    if !details.is_empty() {
        let _ = write!(body, "\n\n{details}");
    }
    match element {
        Some(element) => {
            let _ = writeln!(
                out,
                "      <{element} type=\"{}\" message=\"{}\">{}</{element}>",
                check.outcome(),
                attribute(message),
                content(&body)
            );
        }
        None => {
            let _ = writeln!(out, "      <system-out>{}</system-out>", content(&body));
        }
    }
    out.push_str("    </testcase>\n");
}

/// XML 1.0 has no way to write most control characters, escaped or not.
fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("&#13;"),
            c if allowed(c) && !is_obeyed(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

/// In attributes line ends would be read as spaces.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    #[test]
    fn verdicts_become_passes_failures_and_errors() {
        let check = |name, verdict| Check::new(Text::same(name), verdict, Text::same("a < b & \"c\"\u{1b}[31m"));
        let checks = Checks {
            suite: "oomdoc rehearse",
            headline: Text::default(),
            checks: vec![
                check("batch 8", Verdict::Fits),
                check("batch \"16\"", Verdict::DoesNotFit),
                check("batch 32", Verdict::Unknown),
            ],
        };
        let xml = render(&checks, Lang::En);
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{xml}");
        assert!(xml.contains("name=\"batch &quot;16&quot;\""), "{xml}");
        assert!(xml.contains("message=\"a &lt; b &amp; &quot;c&quot;\u{fffd}[31m\""), "{xml}");
        assert!(!xml.contains('\u{1b}'));
        // The sum of no figures is not less than nothing.
        assert!(!xml.contains("-0.000") && xml.contains("time=\"0.000\""), "{xml}");
    }
}
