//! A line without what logs put in front: times, levels, hosts and programs of a system log, containers, workers,
//! quotes.
//!
//! Rank prefixes are the input's to take off. These stay in the text, because they name the process; whoever compares a
//! whole line with a word looks behind them.

/// Prefixes that may stand behind one another.
const MOST: usize = 5;

/// What a program printed on this line.
pub(super) fn bare(line: &str) -> &str {
    let mut rest = line.trim_start_matches(['>', '|', ' ', '\t', '"']);
    for _ in 0..MOST {
        let Some(behind) = clock(rest)
            .or_else(|| bracketed(rest))
            .or_else(|| worker(rest))
            .or_else(|| container(rest))
            .or_else(|| numbered(rest))
        else {
            return rest;
        };
        rest = behind.trim_start();
    }
    rest
}

/// A date, a time of day, seconds since 1970 or since the start, and what loggers and system logs put behind.
fn clock(text: &str) -> Option<&str> {
    let first = text.split([' ', '\t']).next()?;
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    let marks = first.bytes().filter(|b| matches!(b, b':' | b'-' | b'.' | b'/' | b',' | b'T' | b'Z' | b'+')).count();
    let starts = first.starts_with(|c: char| c.is_ascii_digit());
    if starts && digits + marks == first.len() && (first.matches(':').count() == 2 || first.matches('-').count() >= 2) {
        return Some(behind_clock(text[first.len()..].trim_start()));
    }
    let seconds = first.split_once('.').filter(|(whole, part)| whole.len() >= 9 && part.len() >= 3);
    if seconds.is_some() && digits + 1 == first.len() {
        return Some(behind_clock(text[first.len()..].trim_start()));
    }
    // `Nov 22 17:04:05 host program[123]: `
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_whitespace();
    let month = words.next().is_some_and(|word| MONTHS.contains(&word));
    let day = words.next().is_some_and(|word| word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit()));
    let time = words.next().filter(|word| word.matches(':').count() == 2)?;
    (month && day).then_some(())?;
    let (_, behind) = text.split_once(time)?;
    let (header, message) = behind.split_once(": ")?;
    (header.split_whitespace().count() <= 2).then_some(message)
}

/// Levels and streams that follow a time.
fn behind_clock(text: &str) -> &str {
    const WORDS: [&str; 10] = [
        "ERROR ",
        "WARNING ",
        "WARN ",
        "INFO ",
        "DEBUG ",
        "CRITICAL ",
        "stdout F ",
        "stderr F ",
        "stdout P ",
        "stderr P ",
    ];
    WORDS.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

/// A time in brackets, such as the kernel's seconds since the start.
fn bracketed(text: &str) -> Option<&str> {
    let (inner, behind) = text.strip_prefix('[')?.split_once(']')?;
    let clock = inner.len() <= 40
        && inner.contains(|c: char| c.is_ascii_digit())
        && (inner.contains(':') || inner.contains('.') && !inner.contains(char::is_alphabetic));
    clock.then_some(behind)
}

/// `(Worker pid=123) `, `(RayTrainWorker pid=123, ip=10.0.0.7) `.
fn worker(text: &str) -> Option<&str> {
    let (inner, behind) = text.strip_prefix('(')?.split_once(") ")?;
    (inner.len() <= 96 && inner.contains("pid=")).then_some(behind)
}

/// True for a line that compose printed for one of its containers.
pub(super) fn is_composed(line: &str) -> bool {
    container(line).is_some()
}

/// `trainer-1  | ` of compose.
fn container(text: &str) -> Option<&str> {
    let (name, behind) = text.split_once(" | ")?;
    let name = name.trim_end();
    let plain = !name.is_empty() && name.len() <= 40;
    (plain && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))).then_some(behind)
}

/// `3: ` of `srun --label`.
fn numbered(text: &str) -> Option<&str> {
    let (number, behind) = text.split_once(": ")?;
    (!number.is_empty() && number.len() <= 4 && number.bytes().all(|b| b.is_ascii_digit())).then_some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_passed_over() {
        for line in [
            "Killed",
            "  > Killed",
            "2026-11-22 17:04:05 Killed",
            "2026-11-22 17:04:05,123 ERROR Killed",
            "2026-11-22T17:04:05.123456789Z stdout F Killed",
            "[2026-11-22 17:04:05] Killed",
            "17:04:05 Killed",
            "[17:04:05] Killed",
            "[ 1234.567890] Killed",
            "(RayTrainWorker pid=5121, ip=10.0.0.7) Killed",
            "trainer-1  | Killed",
            "Nov 22 17:04:05 node07 python[4123]: Killed",
            "1763830000.123456 Killed",
            "3: Killed",
        ] {
            assert_eq!(bare(line), "Killed", "{line}");
        }
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for line in [
            "[1]+  Killed  x",
            "[  4123]  0 4123 1 1 1 1 1 0 python",
            "run.sh: line 3: 77 Killed x",
            "1.5 GiB x",
            "(x) y",
        ] {
            assert_eq!(bare(line), line);
        }
    }
}
