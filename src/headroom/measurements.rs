//! Measured peaks as users write them down: `8=7.2GiB`, a table with a line for each run, or the lines of a training
//! log.

use crate::estimate::fit::{Counted, Point};
use crate::text;
use crate::text::Text;
use crate::units::{self, Base, Bytes};
use std::collections::BTreeMap;

/// One peak and what it counts, where the source says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    pub point: Point,
    pub counted: Option<Counted>,
    /// Tokens of a sample, where the batch was written as `8x512`.
    pub sequence: Option<u64>,
    /// One of many readings of a run, of which the highest counts.
    pub running: bool,
}

/// Most by which two peaks of one batch may differ, of allocated bytes and of others.
const SAME: (f64, f64) = (0.05, 0.2);

/// Why peaks of one batch cannot all be true.
pub fn contradiction(found: &[Measurement], counted: Counted) -> Option<Text> {
    let most = if counted == Counted::Allocated { SAME.0 } else { SAME.1 };
    let mut ends: BTreeMap<(u64, Option<u64>), (f64, f64)> = BTreeMap::new();
    for Measurement { point, sequence, .. } in found.iter().filter(|measurement| !measurement.running) {
        let (low, high) = ends.entry((point.batch, *sequence)).or_insert((point.bytes, point.bytes));
        (*low, *high) = (low.min(point.bytes), high.max(point.bytes));
    }
    let ((batch, _), (low, high)) = ends.into_iter().find(|(_, (low, high))| *high > low * (1.0 + most))?;
    let (low, high) = (Bytes(low as u64), Bytes(high as u64));
    Some(text!(
        en: "batch {batch} is said to need {low} and {high}: the runs differ in more than the batch",
        zh: "批大小 {batch} 有 {low} 与 {high} 两个峰值：各次运行的差别不只是批大小"
    ))
}

/// More points than this are a log of every step, of which the highest of each batch counts anyway.
const MOST: usize = 100_000;
/// Nothing has more memory, bytes; larger figures are misread.
const LARGEST: u64 = 1 << 50;

/// `8=7.2GiB`, or `8x512=7.2GiB` for a batch of 8 with 512 tokens each.
///
/// # Errors
/// When it is no batch and size.
pub fn pair(text: &str) -> Result<Measurement, Text> {
    let usage = || {
        text!(
            en: "{text:?} is not BATCH=SIZE, such as 8=7.2GiB",
            zh: "{text:?} 不是“批大小=大小”的形式，例如 8=7.2GiB"
        )
    };
    let (batch, size) = text.split_once('=').ok_or_else(usage)?;
    let (batch, sequence) = match batch.split_once(['x', '×']) {
        Some((batch, tokens)) => (batch, Some(tokens.trim().parse::<u64>().map_err(|_| usage())?)),
        None => (batch, None),
    };
    let batch = batch.trim().parse::<u64>().map_err(|_| usage())?;
    if batch == 0 || sequence == Some(0) {
        return Err(Text::new("a batch of 0 has no peak", "批大小为 0 没有峰值"));
    }
    let size = size.trim();
    let bytes = bytes(size, None).ok_or_else(usage)?;
    if size.bytes().all(|b| b.is_ascii_digit() || b == b'.') && bytes < LEAST {
        return Err(text!(en: "{text:?} has no unit: write 8=7.2GiB", zh: "{text:?} 没有单位：请写成 8=7.2GiB"));
    }
    Ok(Measurement { point: point(batch, bytes), counted: None, sequence, running: false })
}

fn point(batch: u64, bytes: u64) -> Point {
    Point { batch, bytes: bytes as f64, reserved: None, on_floor: false }
}

/// No training peaks lower; smaller figures have lost their unit or their end.
const LEAST: u64 = 1 << 20;

/// A size with its own unit, else in `unit` (a word such as `MiB`).
fn bytes(text: &str, unit: Option<&str>) -> Option<u64> {
    let text = text.trim();
    let own = text.ends_with(|c: char| c.is_ascii_alphabetic());
    let size = match unit {
        Some(unit) if !own => units::size(text, unit, Base::Binary)?,
        _ => units::parse(text, Base::Binary)?,
    };
    (size.bytes > 0 && size.bytes < LARGEST).then_some(size.bytes)
}

/// A table or a log, line by line: `name` is the file, for errors.
///
/// # Errors
/// When a line of a table is no batch and peak, with its place; when nothing at all was found.
pub fn file(name: &str, text: &str) -> Result<Vec<Measurement>, Text> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let found = match first {
        Some(first) if is_table(first) => table(name, text)?,
        _ => log(text),
    };
    if found.is_empty() {
        return Err(text!(
            en: "{name}: no peaks found; a table needs the columns batch and peak_bytes (or peak_mib, \
                 max_memory_allocated …), a log lines such as batch_size=8 max_memory_allocated=7.2 GiB",
            zh: "{name}：没有找到峰值；表格需要 batch 与 peak_bytes（或 peak_mib、max_memory_allocated \
                 等）两列，日志需要形如 batch_size=8 \
                 max_memory_allocated=7.2 GiB 的行"
        ));
    }
    Ok(found)
}

fn separator(line: &str) -> Option<char> {
    [',', ';', '\t'].into_iter().find(|c| line.contains(*c))
}

/// The first line names columns, or is two figures.
fn is_table(line: &str) -> bool {
    let Some(separator) = separator(line) else { return false };
    let mut cells = line.split(separator).map(|cell| cell.trim().trim_matches('"'));
    let first = cells.next().unwrap_or_default();
    first.parse::<u64>().is_ok() && line.split(separator).count() <= 3 && !line.contains('=')
        || cells.clone().count() >= 1
            && !line.contains(['=', ':'])
            && line.split(separator).any(|cell| column(cell.trim()).is_some_and(|(kind, _)| kind == Column::Batch))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Batch,
    Peak(Option<Counted>),
}

/// What a column or key stands for, and the unit that its name carries.
type Meaning = Option<(Column, Option<&'static str>)>;

fn column(name: &str) -> Meaning {
    let name = name.trim_matches(['"', '\'']).to_ascii_lowercase();
    let unit = [("gib", "GiB"), ("gb", "GiB"), ("mib", "MiB"), ("mb", "MiB"), ("bytes", "B")]
        .into_iter()
        .find(|(end, _)| name.ends_with(end) || name.contains(&format!("({end})")))
        .map(|(_, unit)| unit);
    if matches!(
        name.as_str(),
        "b" | "bs"
            | "batch"
            | "batch_size"
            | "batch-size"
            | "batchsize"
            | "per_device_train_batch_size"
            | "train_batch_size"
    ) {
        return Some((Column::Batch, None));
    }
    let counted = if name.contains("reserved") || name.contains("cached") {
        Some(Counted::Reserved)
    } else if name.contains("alloc") {
        Some(Counted::Allocated)
    } else if name.contains("nvidia") || name.contains("process") {
        Some(Counted::Process)
    } else if name.contains("peak") || name.contains("max_mem") || name == "memory" || name == "gpu_mem" {
        None
    } else {
        return None;
    };
    // Readings of the moment are no peaks.
    let is_peak = name.contains("max")
        || name.contains("peak")
        || counted.is_none()
        || name.starts_with("reserved")
        || name.starts_with("allocated");
    is_peak.then_some((Column::Peak(counted), unit))
}

fn table(name: &str, text: &str) -> Result<Vec<Measurement>, Text> {
    let mut columns: Option<Vec<Meaning>> = None;
    let mut found = Vec::new();
    for (number, line) in (1u64..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(separator) = separator(line) else {
            return Err(text!(
                en: "{name}:{number}: no separator (comma, semicolon or tab)",
                zh: "{name}:{number}：没有分隔符（逗号、分号或制表符）"
            ));
        };
        let cells: Vec<&str> = line.split(separator).take(256).map(|cell| cell.trim().trim_matches('"')).collect();
        let Some(columns) = &columns else {
            let named: Vec<_> = cells.iter().map(|cell| column(cell)).collect();
            if named.iter().flatten().any(|(kind, _)| *kind == Column::Batch) {
                if !named.iter().flatten().any(|(kind, _)| matches!(kind, Column::Peak(_))) {
                    return Err(text!(
                        en: "{name}:{number}: no column with peaks, such as peak_bytes",
                        zh: "{name}:{number}：没有峰值列，例如 peak_bytes"
                    ));
                }
                columns = Some(named);
                continue;
            }
            // No header: batch, peak.
            columns = Some(vec![Some((Column::Batch, None)), Some((Column::Peak(None), None))]);
            found.push(row(name, number, &cells, columns.as_deref().unwrap_or_default())?);
            continue;
        };
        found.push(row(name, number, &cells, columns)?);
        if found.len() >= MOST {
            break;
        }
    }
    Ok(found)
}

fn row(name: &str, number: u64, cells: &[&str], columns: &[Meaning]) -> Result<Measurement, Text> {
    let mut batch = None;
    let mut peak: Option<(u64, Option<Counted>)> = None;
    let mut reserved = None;
    for (cell, column) in cells.iter().zip(columns) {
        match column {
            Some((Column::Batch, _)) => {
                batch = Some(cell.parse::<u64>().ok().filter(|batch| *batch > 0).ok_or_else(|| {
                    text!(
                        en: "{name}:{number}: {cell:?} is not a batch of at least 1",
                        zh: "{name}:{number}：{cell:?} 不是不小于 1 的批大小"
                    )
                })?);
            }
            Some((Column::Peak(counted), unit)) => {
                let bytes = bytes(cell, *unit).ok_or_else(
                    || text!(en: "{name}:{number}: {cell:?} is not a size", zh: "{name}:{number}：{cell:?} 不是大小"),
                )?;
                if bytes < LEAST {
                    return Err(text!(
                        en: "{name}:{number}: {cell:?} is less than a MiB: is the unit missing, or the line cut?",
                        zh: "{name}:{number}：{cell:?} 不足 1 MiB：是否缺少单位，或该行被截断？"
                    ));
                }
                if *counted == Some(Counted::Reserved) {
                    reserved = Some(bytes);
                } else {
                    peak = Some((bytes, *counted));
                }
            }
            None => {}
        }
    }
    let Some(batch) = batch else {
        return Err(text!(en: "{name}:{number}: no batch", zh: "{name}:{number}：没有批大小"));
    };
    combine(batch, peak, reserved).ok_or_else(|| text!(en: "{name}:{number}: no peak", zh: "{name}:{number}：没有峰值"))
}

/// Allocated bytes with the reserved ones beside them, or whichever there is.
fn combine(batch: u64, peak: Option<(u64, Option<Counted>)>, reserved: Option<u64>) -> Option<Measurement> {
    match (peak, reserved) {
        (Some((bytes, counted)), reserved) => Some(Measurement {
            point: Point { reserved: reserved.map(|held| held as f64), ..point(batch, bytes) },
            counted,
            sequence: None,
            running: false,
        }),
        (None, Some(held)) => {
            let counted = Some(Counted::Reserved);
            Some(Measurement { point: point(batch, held), counted, sequence: None, running: false })
        }
        (None, None) => None,
    }
}

/// Lines with `key=value` or `key: value`; the batch stands in the same line or in an earlier one.
fn log(text: &str) -> Vec<Measurement> {
    let mut batch = None;
    let mut found: Vec<Measurement> = Vec::new();
    for line in text.lines().take(5_000_000) {
        if line.len() > 1 << 16 {
            continue;
        }
        let mut peak = None;
        let mut reserved = None;
        for (key, value) in settings(line) {
            match column(key) {
                Some((Column::Batch, _)) => {
                    if let Some(seen) = value.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok())
                        && seen > 0
                    {
                        batch = Some(seen);
                    }
                }
                Some((Column::Peak(counted), unit)) => {
                    let Some(bytes) = with_unit(value, unit) else { continue };
                    if counted == Some(Counted::Reserved) {
                        reserved = Some(bytes)
                    } else {
                        peak = Some((bytes, counted))
                    }
                }
                None => {}
            }
        }
        if let Some(batch) = batch
            && let Some(measurement) = combine(batch, peak, reserved)
            && found.len() < MOST
        {
            found.push(Measurement { running: true, ..measurement });
        }
    }
    found
}

/// A figure at the start of the text with its unit word; without any unit only what must be bytes.
fn with_unit(text: &str, unit: Option<&str>) -> Option<u64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let word: String = rest.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    let own = units::unit(&word, Base::Binary).filter(|_| !word.is_empty());
    let word = match (own, unit) {
        (Some(_), _) => word,
        (None, Some(unit)) => unit.to_string(),
        (None, None) => "B".to_string(),
    };
    let bytes = units::size(number, &word, Base::Binary)?.bytes;
    ((1 << 20)..LARGEST).contains(&bytes).then_some(bytes)
}

/// Keys with the text after them.
fn settings(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices(['=', ':']).filter_map(|(at, _)| {
        let before = line.get(..at)?.trim_end().trim_end_matches(['"', '\'']);
        let from = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .map_or(0, |i| i + before.get(i..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
        let key = before.get(from..)?;
        let value = line.get(at + 1..)?.trim_start().trim_start_matches(['"', '\'']);
        (!key.is_empty()).then_some((key, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(found: &[Measurement]) -> Vec<(u64, u64)> {
        found.iter().map(|m| (m.point.batch, m.point.bytes as u64 >> 20)).collect()
    }

    #[test]
    fn pairs_need_a_batch_and_a_unit() {
        assert_eq!(batches(&[pair("8=7.5GiB").expect("a pair")]), [(8, 7680)]);
        for wrong in ["8", "0=1GiB", "8=", "8=lots", "8=-3GiB", "8=NaN", "8=0GiB", "=3GiB", "8=7.2", "-8=1GiB"] {
            assert!(pair(wrong).is_err(), "{wrong}");
        }
        // Bytes need no unit; what is too little for bytes has lost one, and that is what is said.
        assert_eq!(batches(&[pair("8=1048576").expect("a mebibyte")]), [(8, 1)]);
        for lost in ["8=7222", "8=1048575"] {
            let why = pair(lost).expect_err("no training peaks so low");
            assert!(why.en.contains("has no unit"), "{}", why.en);
        }
    }

    #[test]
    fn no_more_is_kept_of_a_file_than_the_most() {
        let log = "batch_size=8 peak_mem=7400 MiB\n".repeat(MOST + 1);
        assert_eq!(file("train.log", &log).map(|found| found.len()), Ok(MOST));
        let table = "8;2GiB\n".repeat(MOST + 1);
        assert_eq!(file("peaks.csv", &table).map(|found| found.len()), Ok(MOST));
    }

    #[test]
    fn tables_with_and_without_names() {
        let named =
            "run,batch_size,max_memory_allocated_mib,max_memory_reserved_mib\na,8,7222,7594\nb,16,12762,14326\n";
        let found = file("peaks.csv", named).expect("a table");
        assert_eq!(batches(&found), [(8, 7222), (16, 12762)]);
        assert_eq!(found[0].point.reserved, Some(7594.0 * (1u64 << 20) as f64));
        assert_eq!(found[0].counted, Some(Counted::Allocated));
        assert_eq!(batches(&file("x", "4;2GiB\n8;3GiB\n").expect("a table")), [(4, 2048), (8, 3072)]);
        let wrong = file("peaks.csv", "batch,peak_gib\n8,7.2\nx,9\n").expect_err("a bad row");
        assert!(wrong.en.starts_with("peaks.csv:3:"), "{}", wrong.en);
        assert!(file("e.csv", "batch,peak_gib\n8,nan\n").is_err());
    }

    #[test]
    fn logs_with_the_batch_in_an_earlier_line() {
        let log = "config: {'batch_size': 8, 'lr': 0.1}\nstep 10 loss 3.1 max_memory_allocated: 7.25 GiB\nstep 20 \
                   peak_mem=7400 MiB\n";
        assert_eq!(batches(&file("train.log", log).expect("a log")), [(8, 7424), (8, 7400)]);
        assert!(file("train.log", "nothing here\n").is_err());
    }
}
