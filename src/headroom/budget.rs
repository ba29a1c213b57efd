//! The limits that a repository keeps in `oomdoc.toml`.
//!
//! ```toml
//! [[budget]]
//! name = "train-base"
//! gpu = "RTX 3090"
//! batch = 16
//! headroom = "5%"
//! measurements = "ci/peaks.csv"
//! tolerance = "2%"
//!
//! [budget.baseline]        # written by `oomdoc headroom --update`
//! batch_size = 16
//! peak_bytes = 13383426867
//! ```
//!
//! Every other key is an option of `oomdoc headroom` without its hyphens. Files are sought from the folder of the
//! budget file.

use crate::text;
use crate::text::Text;
use toml_edit::{DocumentMut, Item, Table, Value};

/// One `[[budget]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    pub name: String,
    /// Options as they would stand on the command line.
    pub words: Vec<String>,
    /// Growth of the peak that is let pass, as a share.
    pub tolerance: f64,
    /// Where the snapshot of the baseline lies, as given.
    pub baseline_snapshot: Option<String>,
    pub baseline: Option<Baseline>,
    /// Line of its header in the file.
    pub line: u64,
}

/// What `--update` wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Baseline {
    pub batch: u64,
    /// Expected peak.
    pub peak: u64,
}

/// Keys that are not options.
const OWN: [&str; 4] = ["name", "tolerance", "baseline", "baseline_snapshot"];
/// Options that make no sense in a budget.
const REFUSED: [&str; 9] = ["check", "update", "budget", "format", "json", "lang", "color", "width", "explain"];
/// A file with more budgets is no one's; a list or table of values has no more either.
const MOST: usize = 100_000;

/// Reads the budgets of a file.
///
/// # Errors
/// When it is not TOML or a budget is malformed; with the line.
pub fn read(file: &str, text: &str) -> Result<Vec<Budget>, Text> {
    let document = toml_edit::Document::parse(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        let place = line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}"));
        let why = error.message().to_string();
        text!(en: "{place}: {why}", zh: "{place}：{why}")
    })?;
    let at =
        |line: u64, en: String, zh: String| Text::new(format!("{file}:{line}: {en}"), format!("{file}:{line}：{zh}"));
    let Some(list) = document.get("budget").and_then(Item::as_array_of_tables) else {
        return Err(text!(en: "{file}: no [[budget]] in it", zh: "{file}：其中没有 [[budget]]"));
    };
    if list.len() > MOST {
        let count = list.len();
        return Err(text!(en: "{file}: {count} budgets, {MOST} at most", zh: "{file}：{count} 个预算，最多 {MOST} 个"));
    }
    let mut budgets: Vec<Budget> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for table in list.iter() {
        let line = table.span().map_or(1, |span| line_of(text, span.start));
        let line_of_key = |key: &str| {
            let span = table.key(key).and_then(|key| key.span());
            span.map_or(line, |span| line_of(text, span.start))
        };
        let name = match table.get("name").map(Item::as_str) {
            Some(Some(name)) if !name.trim().is_empty() => name.to_string(),
            None => format!("budget {}", budgets.len() + 1),
            _ => return Err(at(line_of_key("name"), "name must be a text".into(), "name 必须是文本".into())),
        };
        if !names.insert(name.clone()) {
            return Err(at(line, format!("a second budget named {name:?}"), format!("名为 {name:?} 的预算重复")));
        }
        let tolerance = match table.get("tolerance") {
            None => DEFAULT_TOLERANCE,
            Some(item) => share(item).ok_or_else(|| {
                at(
                    line_of_key("tolerance"),
                    "tolerance must be a share such as \"2%\"".into(),
                    "tolerance 必须是比例，例如 \"2%\"".into(),
                )
            })?,
        };
        let mut words = Vec::new();
        for (key, item) in table.iter().filter(|(key, _)| !OWN.contains(key)) {
            if REFUSED.contains(&key) {
                return Err(at(
                    line_of_key(key),
                    format!("{key} cannot be set in a budget"),
                    format!("预算中不能设置 {key}"),
                ));
            }
            option(key, item, &mut words).ok_or_else(|| {
                at(
                    line_of_key(key),
                    format!("{key} must be a text, number, true or a list of texts"),
                    format!("{key} 必须是文本、数字、true 或文本列表"),
                )
            })?;
        }
        let baseline = table.get("baseline").and_then(Item::as_table_like).and_then(|baseline| {
            let figure = |key: &str| baseline.get(key).and_then(Item::as_integer).and_then(|n| u64::try_from(n).ok());
            Some(Baseline { batch: figure("batch_size")?, peak: figure("peak_bytes")? })
        });
        if table.contains_key("baseline") && baseline.is_none() {
            return Err(at(
                line_of_key("baseline"),
                "baseline needs batch_size and peak_bytes; --update writes them".into(),
                "baseline 需要 batch_size 与 peak_bytes；由 --update 写入".into(),
            ));
        }
        let baseline_snapshot = table.get("baseline_snapshot").and_then(Item::as_str).map(str::to_string);
        budgets.push(Budget { name, words, tolerance, baseline_snapshot, baseline, line });
    }
    Ok(budgets)
}

/// Peaks scatter by less than this from run to run of the same program.
const DEFAULT_TOLERANCE: f64 = 0.02;

fn line_of(text: &str, byte: usize) -> u64 {
    text.bytes().take(byte).filter(|b| *b == b'\n').count() as u64 + 1
}

fn share(item: &Item) -> Option<f64> {
    let value = match item.as_str() {
        Some(text) => text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0,
        None => item.as_float().or(item.as_integer().map(|n| n as f64))?,
    };
    (0.0..10.0).contains(&value).then_some(value)
}

/// `key = value` as words of the command line.
fn option(key: &str, item: &Item, words: &mut Vec<String>) -> Option<()> {
    let flag = format!("--{}", key.replace('_', "-"));
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(n) => Some(n.value().to_string()),
        Value::Float(x) => Some(x.value().to_string()),
        _ => None,
    };
    match item.as_value()? {
        Value::Boolean(on) => {
            if *on.value() {
                words.push(flag);
            }
        }
        Value::Array(list) => {
            for value in list.iter().take(MOST) {
                words.push(format!("{flag}={}", scalar(value)?));
            }
        }
        // `measure = { 8 = "7.2GiB" }`.
        Value::InlineTable(table) => {
            for (name, value) in table.iter().take(MOST) {
                words.push(format!("{flag}={name}={}", scalar(value)?));
            }
        }
        value => words.push(format!("{flag}={}", scalar(value)?)),
    }
    Some(())
}

/// The file with new baselines, everything else as it was. Budgets are found by name or place.
///
/// # Errors
/// When it is not TOML any more.
pub fn with_baselines(text: &str, baselines: &[(usize, Baseline)]) -> Result<String, Text> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let why = error.message().to_string();
        Text::same(why)
    })?;
    let list = document.get_mut("budget").and_then(Item::as_array_of_tables_mut);
    if let Some(list) = list {
        for (place, baseline) in baselines {
            let Some(table) = list.get_mut(*place) else { continue };
            let mut fresh = Table::new();
            let figure = |n: u64| toml_edit::value(i64::try_from(n).unwrap_or(i64::MAX));
            fresh.insert("batch_size", figure(baseline.batch));
            fresh.insert("peak_bytes", figure(baseline.peak));
            match table.get_mut("baseline").and_then(Item::as_table_like_mut) {
                Some(old) => {
                    for (key, item) in fresh {
                        old.insert(&key, item);
                    }
                }
                None => {
                    table.insert("baseline", Item::Table(fresh));
                }
            }
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# limits\n[[budget]]\nname = \"base\"\ngpu_memory = \"24GiB\"\nbatch = 16 # as in train.sh\n\
                        checkpointing = true\nmeasure = { 8 = \"7.2GiB\", 16 = \"12.8GiB\" }\n\n[[budget]]\n\
                        measurements = [\"a.csv\"]\n";

    #[test]
    fn keys_are_options() {
        let budgets = read("oomdoc.toml", FILE).expect("budgets");
        assert_eq!(
            budgets[0].words,
            ["--gpu-memory=24GiB", "--batch=16", "--checkpointing", "--measure=8=7.2GiB", "--measure=16=12.8GiB"]
        );
        assert_eq!((budgets[0].line, budgets[1].line), (2, 9));
        assert_eq!(budgets[1].name, "budget 2");
        assert_eq!(budgets[1].words, ["--measurements=a.csv"]);
    }

    #[test]
    fn updating_keeps_comments_and_the_rest() {
        let new = with_baselines(FILE, &[(0, Baseline { batch: 16, peak: 123 })]).expect("TOML");
        assert!(new.contains("# as in train.sh") && new.starts_with("# limits"), "{new}");
        assert_eq!(read("f", &new).expect("budgets")[0].baseline, Some(Baseline { batch: 16, peak: 123 }));
        let again = with_baselines(&new, &[(0, Baseline { batch: 8, peak: 99 })]).expect("TOML");
        assert_eq!(read("f", &again).expect("budgets")[0].baseline, Some(Baseline { batch: 8, peak: 99 }));
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, part) in [
            ("x = [", "oomdoc.toml:1"),
            ("a = 1\n", "no [[budget]]"),
            ("[[budget]]\nname = 3\n", "oomdoc.toml:2: name"),
            ("[[budget]]\n\ncheck = true\n", "oomdoc.toml:3: check"),
            ("[[budget]]\nmeasure = 1979-05-27\n", "oomdoc.toml:2: measure"),
            ("[[budget]]\ntolerance = \"x\"\n", "oomdoc.toml:2: tolerance"),
            ("[[budget]]\nbaseline = 3\n", "oomdoc.toml:2: baseline"),
        ] {
            let error = read("oomdoc.toml", text).expect_err(text);
            assert!(error.en.contains(part), "{text:?}: {}", error.en);
        }
    }
}
