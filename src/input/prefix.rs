//! Rank prefixes that launchers put in front of every line.

use super::{Line, gpu_tables};
use std::collections::HashMap;

/// A prefix of a line: the bytes to take out, and the rank it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Prefix {
    from: usize,
    to: usize,
    rank: Option<u32>,
}

/// A shape that is a prefix only when nearly all lines have it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Regular {
    /// `3: text` of `srun --label`.
    Number,
    /// `[3] text` of Hydra's `-prepend-rank`.
    Bracket,
    /// `worker-3: text` of pdsh and DeepSpeed, by the part before the number.
    Named(String),
    /// `worker-3  | text` of compose, likewise.
    Composed(String),
}

/// Takes rank prefixes off the lines and notes the rank. Returns whether any was taken off.
pub(super) fn strip(lines: &mut [Line]) -> bool {
    let mut any = strip_regular(lines);
    for line in lines.iter_mut() {
        any |= strip_line(line);
    }
    any
}

/// Takes off the prefixes of one line that need no look at the others.
pub(super) fn strip_line(line: &mut Line) -> bool {
    let mut any = false;
    // A node's prefix before a rank's: the inner one is the rank.
    for _ in 0..2 {
        let Some(prefix) = certain(&line.text) else { break };
        line.rank = prefix.rank.or(line.rank);
        line.text.drain(prefix.from..prefix.to);
        any = true;
    }
    if let Some(rank) = named_in_parentheses(&line.text).or_else(|| named_in_brackets(&line.text)) {
        line.rank = Some(rank);
    }
    any
}

/// `[rank3]: ` (torchrun, PyTorch ≥ 2.3), `[default3]:` (torchrun --tee), `[rank: 3]` (Lightning),
/// `[1,3]<stderr>:` (mpirun --tag-output), `[pod/name-3/container]` (kubectl logs --prefix), behind a timestamp or not.
fn certain(text: &str) -> Option<Prefix> {
    let start = timestamp_length(text);
    let body = text.get(start..)?;
    let blanks = body.len() - body.trim_start_matches(' ').len();
    let body = body.get(blanks..)?;
    let from = if start == 0 { 0 } else { start + blanks };
    let inner_end = body.strip_prefix('[')?.bytes().take(96).position(|b| b == b']')? + 1;
    let inner = body.get(1..inner_end)?;
    let behind = body.get(inner_end + 1..)?;
    let mut to = start + blanks + inner_end + 1;
    if let Some((job, rank)) = inner.split_once(',') {
        let rank = number(rank)?;
        number(job)?;
        let stream = ["<stderr>", "<stdout>", "<stddiag>"].into_iter().find(|stream| behind.starts_with(stream))?;
        to += stream.len();
        to += usize::from(behind[stream.len()..].starts_with(':'));
        return Some(Prefix { from, to, rank: Some(rank) });
    }
    if let Some(pod) = inner.strip_prefix("pod/") {
        let name = pod.split('/').next()?;
        to += usize::from(behind.starts_with(' '));
        return Some(Prefix { from, to, rank: index_of(name) });
    }
    let digits = inner.find(|c: char| c.is_ascii_digit())?;
    let word = inner[..digits].trim_end_matches([' ', ':', '-', '_']).to_ascii_lowercase();
    let rank = number(&inner[digits..])?;
    let colon = behind.starts_with(':');
    let known = match word.as_str() {
        "rank" | "local_rank" | "local rank" | "global_rank" | "global rank" => true,
        "default" | "trainer" | "worker" | "node" | "replica" | "process" | "proc" | "master" | "chief" => colon,
        _ => false,
    };
    if !known {
        return None;
    }
    to += usize::from(colon);
    to += usize::from(behind.get(usize::from(colon)..).is_some_and(|rest| rest.starts_with(' ')));
    Some(Prefix { from, to, rank: Some(rank) })
}

/// `(VllmWorker rank=3 pid=41)`, `(Worker_TP3 pid=41)`, `(EngineCore_DP0 pid=883)`: the rank; the text stays, because
/// it names the process.
fn named_in_parentheses(text: &str) -> Option<u32> {
    let inner = text.trim_start().strip_prefix('(')?;
    let end = inner.bytes().take(96).position(|b| b == b')')?;
    let inner = inner.get(..end).filter(|inner| inner.contains("pid="))?;
    if let Some((_, rest)) = inner.split_once("rank=") {
        return number(leading_digits(rest));
    }
    let name = inner.split([' ', ',']).next()?;
    ["_TP", "_PP", "_EP", "_DP"].iter().find_map(|mark| number(leading_digits(name.split_once(mark)?.1)))
}

/// `[07/24/2025-02:51:40] [TRT-LLM] [RANK 1] [E] text`: a rank among the brackets of a logger, behind a bar that had no
/// line end, too; the text stays, because the other brackets tell as much.
fn named_in_brackets(text: &str) -> Option<u32> {
    const WITHIN: usize = 400;
    let (_, inner) = text.split_once("[RANK ").filter(|(before, _)| before.len() <= WITHIN)?;
    number(inner.split_once(']')?.0)
}

fn strip_regular(lines: &mut [Line]) -> bool {
    const LEAST_LINES: usize = 3;
    let mut counts: HashMap<Regular, usize> = HashMap::new();
    let mut filled = 0usize;
    for line in lines.iter().filter(|line| !line.text.trim().is_empty()) {
        filled += 1;
        if let Some((shape, _)) = regular(&line.text)
            && (counts.len() < 64 || counts.contains_key(&shape))
        {
            *counts.entry(shape).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    let Some((shape, _)) = most.filter(|(_, count)| *count >= LEAST_LINES && *count * 5 >= filled * 4) else {
        return false;
    };
    if shape == Regular::Number && numbers_a_listing(lines) {
        return false;
    }
    if shape == Regular::Bracket && numbers_a_process(lines) {
        return false;
    }
    let several = several_of(lines, &shape);
    for line in lines.iter_mut() {
        if let Some((_, prefix)) = regular(&line.text).filter(|(other, _)| *other == shape) {
            line.text.drain(prefix.from..prefix.to);
            line.rank = prefix.rank.filter(|_| several);
        }
    }
    true
}

/// False for the only container of a service, which compose numbers from 1 on, whether there are others or not, and for
/// the only machine, `gpu-n-07: text`, whose number is none of a rank.
fn several_of(lines: &[Line], shape: &Regular) -> bool {
    let (Regular::Composed(_) | Regular::Named(_)) = shape else { return true };
    let of_shape = |line: &Line| regular(&line.text).filter(|(other, _)| other == shape)?.1.rank;
    let mut numbers = lines.iter().filter_map(of_shape);
    let first = numbers.next();
    numbers.any(|number| Some(number) != first)
}

/// `0: `, `1: `, `2: ` … number the frames of a backtrace or the lines of a listing: they are no ranks.
fn numbers_a_listing(lines: &[Line]) -> bool {
    let mut last = 0;
    lines
        .iter()
        .filter_map(|line| regular(&line.text)?.1.rank)
        .all(|number| number > std::mem::replace(&mut last, number))
}

/// `[5204] 28 Jan 02:10:31.107 * …`: one number before all lines, larger than jobs have ranks, is the process's.
fn numbers_a_process(lines: &[Line]) -> bool {
    const RANKS: u32 = 1024;
    let mut numbers = lines.iter().filter_map(|line| regular(&line.text)?.1.rank);
    let first = numbers.next();
    first.is_some_and(|first| first >= RANKS) && numbers.all(|number| Some(number) == first)
}

fn regular(text: &str) -> Option<(Regular, Prefix)> {
    let trimmed = text.trim_start_matches(' ');
    let indent = text.len() - trimmed.len();
    if let Some(inner) = trimmed.strip_prefix('[') {
        let digits = leading_digits(inner);
        let rank = number(digits)?;
        let behind = inner.get(digits.len()..)?.strip_prefix(']')?;
        // `[0] Tesla V100 | 44'C,   0 % | 15836 / 16130 MB |`: a device of gpustat's table. In a log of one line of
        // message and the table of eight devices these are nearly all lines.
        if gpu_tables::is_gpustat_row(text) {
            return None;
        }
        let tail = [": ", ":", " "].into_iter().find(|tail| behind.starts_with(tail))?;
        return Some((
            Regular::Bracket,
            Prefix { from: 0, to: indent + digits.len() + 2 + tail.len(), rank: Some(rank) },
        ));
    }
    let digits = leading_digits(trimmed);
    if !digits.is_empty() {
        let behind = trimmed.get(digits.len()..)?;
        if !behind.starts_with(": ") && behind != ":" {
            return None;
        }
        let to = (indent + digits.len() + 2).min(text.len());
        return Some((Regular::Number, Prefix { from: 0, to, rank: Some(number(digits)?) }));
    }
    let name_end = trimmed.bytes().take(64).position(|b| !(b.is_ascii_alphanumeric() || b"-_.".contains(&b)))?;
    let name = trimmed.get(..name_end)?;
    let rank = index_of(name)?;
    let behind = trimmed.get(name_end..)?;
    let stem = || name.trim_end_matches(|c: char| c.is_ascii_digit()).to_string();
    let (shape, tail) = if behind.starts_with(": ") || behind == ":" {
        (Regular::Named(stem()), behind.len().min(2))
    } else {
        let bar = behind.trim_start_matches(' ');
        let blanks = behind.len() - bar.len();
        if blanks == 0 || !bar.starts_with('|') {
            return None;
        }
        (Regular::Composed(stem()), blanks + 1 + usize::from(bar.starts_with("| ")))
    };
    Some((shape, Prefix { from: 0, to: indent + name_end + tail, rank: Some(rank) }))
}

/// The number that a host's or a pod's name ends with.
fn index_of(name: &str) -> Option<u32> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.is_empty() { None } else { number(&name[stem.len()..]) }
}

fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// A rank: at most six digits, which no job exceeds.
fn number(digits: &str) -> Option<u32> {
    if digits.len() > 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// Length of an ISO timestamp at the start, without the blanks behind it.
fn timestamp_length(text: &str) -> usize {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let fits = bytes.len() > SHAPE.len()
        && SHAPE.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'd' => byte.is_ascii_digit(),
            b'T' => *byte == b'T' || *byte == b' ',
            _ => byte == shape,
        });
    if !fits {
        return 0;
    }
    let tail = bytes[SHAPE.len()..].iter().take_while(|b| b.is_ascii_digit() || b".,:+-Z".contains(b)).count();
    SHAPE.len() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> Vec<(String, Option<u32>)> {
        let mut lines: Vec<Line> =
            text.split('\n').map(|text| Line { number: 1, text: text.to_string(), rank: None }).collect();
        strip(&mut lines);
        lines.into_iter().map(|line| (line.text, line.rank)).collect()
    }

    #[test]
    fn each_launchers_prefix_names_its_rank() {
        for (line, text, rank) in [
            ("[rank3]:   File \"a.py\"", "  File \"a.py\"", 3),
            ("[rank3]:[W1121 10:00:00] x", "[W1121 10:00:00] x", 3),
            ("[rank: 2] Seed set", "Seed set", 2),
            ("[default7]:loss", "loss", 7),
            ("[1,5]<stderr>:  at x", "  at x", 5),
            ("2026-11-21T10:00:00.123Z [rank4]: RuntimeError", "2026-11-21T10:00:00.123Z RuntimeError", 4),
            ("[pod/trainer-worker-2/pytorch] [rank9]: x", "x", 9),
            ("(VllmWorker rank=1 pid=88) x", "(VllmWorker rank=1 pid=88) x", 1),
            ("(EngineCore_DP0 pid=883) x", "(EngineCore_DP0 pid=883) x", 0),
            ("(Worker_DP1_TP3 pid=883) x", "(Worker_DP1_TP3 pid=883) x", 3),
        ] {
            assert_eq!(stripped(line), [(text.to_string(), Some(rank))]);
        }
    }

    #[test]
    fn what_only_looks_like_a_prefix_stays() {
        for line in [
            "[1, 3] shape",
            "[step100]: loss 3",
            "[12.5] Out of memory: Killed process 12",
            "[worker1] no colon",
            "3: one line",
            "node2: one line",
            "(pid=3) x",
            "[rankless] x",
            "[5204] 28 Jan 02:10:31.1 # a\n[5204] 28 Jan 02:10:37.0 * b\n[5204] 28 Jan 02:10:43.0 # c",
            "[0] Tesla V100 | 44'C,   0 % | 15836 / 16130 MB |\n[1] Tesla V100 | 37'C,   0 % |     0 / 16130 MB |\n\
             [2] Tesla V100 | 37'C,   0 % |     0 / 16130 MB |",
        ] {
            let as_it_was: Vec<_> = line.split('\n').map(|line| (line.to_string(), None)).collect();
            assert_eq!(stripped(line), as_it_was);
        }
    }

    #[test]
    fn regular_prefixes_need_nearly_all_lines() {
        assert_eq!(
            stripped("10:   c\n 0: a\n 1: b"),
            [("  c".to_string(), Some(10)), ("a".to_string(), Some(0)), ("b".to_string(), Some(1))]
        );
        assert_eq!(stripped("1: a\n2: b\n3: c")[2], ("3: c".to_string(), None));
        assert_eq!(stripped("worker-3: a\nworker-1: b\nworker-3:   c")[2], ("  c".to_string(), Some(3)));
        assert_eq!(stripped("web-1  | a\nweb-0  | b\nweb-1  |   c")[2], ("  c".to_string(), Some(1)));
        assert_eq!(stripped("web-1  | a\nweb-1  | b\nweb-1  |   c")[2], ("  c".to_string(), None));
        assert_eq!(stripped("0: a\n1: b\nplain\n2: c\nother")[0], ("0: a".to_string(), None));
    }
}
