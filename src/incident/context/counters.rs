//! Counters of whatever a program goes through: `| Generated 200/1000 words`, line after line with a higher number.

use super::progress::{Progress, ratio};
use std::collections::HashMap;

/// Shapes of lines that are remembered.
const SHAPES: usize = 256;
/// A longer line is no counter's.
const LONGEST: usize = 160;

/// Units of amounts and rates: what they stand behind is no count of work.
const UNITS: [&str; 12] = ["b", "kb", "mb", "gb", "kib", "mib", "gib", "%", "it/s", "w", "hz", "ms"];

/// The last number of each line that counts, by its words.
#[derive(Debug, Default)]
pub(super) struct Counters {
    last: HashMap<u64, (u64, u64)>,
}

impl Counters {
    /// The progress that a line tells by counting further than the last line of its words.
    pub fn read(&mut self, text: &str) -> Option<Progress> {
        if text.len() > LONGEST || !text.contains('/') {
            return None;
        }
        let (shape, (done, all)) = counted(text)?;
        let known = self.last.get(&shape).copied();
        if known.is_some() || self.last.len() < SHAPES {
            self.last.insert(shape, (done, all));
        }
        let further = known.is_some_and(|(before, of)| of == all && before < done);
        further.then(|| Progress { step: Some(done), steps: Some(all), wordless: true, ..Progress::default() })
    }
}

/// The words of a line as a number, and the one count in it.
fn counted(text: &str) -> Option<(u64, (u64, u64))> {
    let mut found = None;
    let mut words = text.split_whitespace().peekable();
    // FNV-1a
    let mut shape = 0xcbf2_9ce4_8422_2325_u64;
    while let Some(word) = words.next() {
        if let Some(count) = ratio(word).filter(|(done, all)| done <= all && *all > 1) {
            let unit = words.peek().map(|unit| unit.trim_matches(['|', ',', ')', ']', ':']).to_ascii_lowercase());
            if found.is_some() || unit.is_some_and(|unit| UNITS.contains(&unit.as_str())) {
                return None;
            }
            found = Some(count);
            continue;
        }
        let letters = word.bytes().filter(|byte| !byte.is_ascii_digit());
        shape = letters.fold(shape, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    }
    found.map(|count| (shape, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_step(lines: &[&str]) -> Option<u64> {
        let mut counters = Counters::default();
        lines.iter().fold(None, |last, line| counters.read(line).and_then(|progress| progress.step).or(last))
    }

    #[test]
    fn what_rises_line_after_line_counts() {
        assert_eq!(last_step(&["| Generated 0/1000 words", "| Generated 100/1000 words"]), Some(100));
        assert_eq!(last_step(&["chunk 3/40 done in 2.1s", "chunk 4/40 done in 1.9s"]), Some(4));
    }

    #[test]
    fn amounts_dates_and_single_lines_do_not() {
        assert_eq!(last_step(&["GPU 0: 1204 / 24576 MiB", "GPU 0: 2204/24576 MiB", "GPU 0: 3204/24576 MiB"]), None);
        assert_eq!(last_step(&["2024/09/11 start", "2024/09/12 start"]), None);
        assert_eq!(last_step(&["| Generated 100/1000 words", "| Read 200/1000 words"]), None);
        assert_eq!(last_step(&["loss 3/4 acc 1/4", "loss 4/4 acc 2/4"]), None, "two counts of one line");
        assert_eq!(last_step(&["| Generated 300/1000 words", "| Generated 0/1000 words"]), None);
    }
}
