//! SARIF 2.1.0, the form in which code scanning takes findings in. What fits is a result of kind `pass`.

use super::{Check, Checks, GROWN};
use crate::domain::Verdict;
use crate::text::Lang;
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Outcomes as rules, in the order of `ruleIndex`.
const RULES: [&str; 5] = ["fits", "tight", "does-not-fit", "unknown", GROWN];

pub fn render(checks: &Checks, lang: Lang) -> Value {
    let rules = RULES.map(|outcome| {
        json!({
            "id": format!("memory/{outcome}"),
            "shortDescription": { "text": format!("{}: {}", checks.suite, outcome.replace('-', " ")) },
        })
    });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "oomdoc",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": checks.checks.iter().map(|check| result(check, lang)).collect::<Vec<_>>(),
        }],
    })
}

fn result(check: &Check, lang: Lang) -> Value {
    let (kind, level) = match check.verdict {
        _ if check.grown => ("fail", "error"),
        Verdict::Fits => ("pass", "none"),
        Verdict::Tight => ("fail", "warning"),
        Verdict::DoesNotFit => ("fail", "error"),
        // Of kinds other than "fail" the level is "none" (SARIF 2.1.0, 3.27.10).
        Verdict::Unknown => ("open", "none"),
    };
    let mut message = format!("{}: {}", check.name.in_lang(lang), check.message.in_lang(lang));
    for (label, value) in &check.figures {
        message.push_str(&format!("\n{}: {value}", label.in_lang(lang)));
    }
    let details = check.details.in_lang(lang);
    if !details.is_empty() {
        message.push_str(&format!("\n\n{details}"));
    }
    let mut out = json!({
        "ruleId": format!("memory/{}", check.outcome()),
        "ruleIndex": RULES.iter().position(|outcome| *outcome == check.outcome()),
        "kind": kind,
        "level": level,
        "message": { "text": message },
    });
    if let (Some((file, line)), Some(out)) = (&check.place, out.as_object_mut()) {
        out.insert(
            "locations".into(),
            json!([{ "physicalLocation": {
                "artifactLocation": { "uri": uri(file) },
                "region": { "startLine": (*line).max(1) },
            }}]),
        );
    }
    out
}

/// A relative reference: bytes that may not stand in a URI are escaped.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    #[test]
    fn levels_and_places() {
        let mut failed = Check::new(Text::same("train"), Verdict::DoesNotFit, Text::same("26 GiB of 24 GiB"));
        failed.place = Some(("a b/oomdoc.toml".into(), 3));
        let passed = Check::new(Text::same("small"), Verdict::Fits, Text::same("fits"));
        let checks = Checks { suite: "oomdoc headroom", headline: Text::default(), checks: vec![failed, passed] };
        let sarif = render(&checks, Lang::En);
        let results = &sarif["runs"][0]["results"];
        assert_eq!(results[0]["level"], "error");
        assert_eq!(results[0]["ruleIndex"], 2);
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b/oomdoc.toml");
        assert_eq!(place["region"]["startLine"], 3);
        assert_eq!((results[1]["kind"].as_str(), results[1]["level"].as_str()), (Some("pass"), Some("none")));
    }
}
