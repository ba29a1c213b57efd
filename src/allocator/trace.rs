//! The trace language: one request a line.
//!
//! ```text
//! a ID SIZE [STREAM]    allocate (bytes, or 512MiB)   f ID         free
//! r ID STREAM           record_stream                 e            empty_cache
//! m FRACTION            set_per_process_memory_fraction
//! c SETTINGS            _set_allocator_settings       s            snapshot
//! p 0|1                 events complete at once (0) or stay pending (1)
//! pb POOL, pe POOL, pr POOL   begin and end allocating to a private pool, release it
//! z                     reset the peaks               # a comment
//! ```

use crate::text;
use crate::text::Text;
use crate::units::{self, Base};
use std::collections::HashMap;

/// A request. `slot` numbers the ids of a trace from 0, so that a replay needs no map.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Allocate { slot: u32, bytes: i64, stream: u32 },
    Free { slot: u32 },
    RecordStream { slot: u32, stream: u32 },
    EmptyCache,
    MemoryFraction(f64),
    Settings(String),
    Snapshot,
    HoldEvents(bool),
    BeginPool(u64),
    EndPool(u64),
    ReleasePool(u64),
    ResetPeaks,
}

impl Op {
    /// The letter that stands for it in a trace.
    pub fn letter(&self) -> char {
        match self {
            Op::Allocate { .. } => 'a',
            Op::Free { .. } => 'f',
            Op::RecordStream { .. } => 'r',
            Op::EmptyCache => 'e',
            Op::MemoryFraction(_) => 'm',
            Op::Settings(_) => 'c',
            Op::Snapshot => 's',
            Op::HoldEvents(_) | Op::BeginPool(_) | Op::EndPool(_) | Op::ReleasePool(_) => 'p',
            Op::ResetPeaks => 'z',
        }
    }

    /// The slot that it is about.
    pub fn slot(&self) -> Option<u32> {
        match self {
            Op::Allocate { slot, .. } | Op::Free { slot } | Op::RecordStream { slot, .. } => Some(*slot),
            _ => None,
        }
    }
}

/// A list of requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub ops: Vec<Op>,
    /// The id of each slot as the trace wrote it.
    pub ids: Vec<i64>,
}

impl std::fmt::Display for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = |slot: &u32| self.ids.get(*slot as usize).copied().unwrap_or(i64::from(*slot));
        for op in &self.ops {
            match op {
                Op::Allocate { slot, bytes, stream: 0 } => writeln!(f, "a {} {bytes}", id(slot))?,
                Op::Allocate { slot, bytes, stream } => writeln!(f, "a {} {bytes} {stream}", id(slot))?,
                Op::Free { slot } => writeln!(f, "f {}", id(slot))?,
                Op::RecordStream { slot, stream } => writeln!(f, "r {} {stream}", id(slot))?,
                Op::MemoryFraction(fraction) => writeln!(f, "m {fraction}")?,
                Op::Settings(settings) => writeln!(f, "c {settings}")?,
                Op::HoldEvents(hold) => writeln!(f, "p {}", u8::from(*hold))?,
                Op::BeginPool(pool) => writeln!(f, "pb {pool}")?,
                Op::EndPool(pool) => writeln!(f, "pe {pool}")?,
                Op::ReleasePool(pool) => writeln!(f, "pr {pool}")?,
                Op::EmptyCache | Op::Snapshot | Op::ResetPeaks => writeln!(f, "{}", op.letter())?,
            }
        }
        Ok(())
    }
}

/// A line that is no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// 1-based.
    pub line: usize,
    pub text: Text,
}

impl Trace {
    /// Reads a trace that uses the streams 0 to `streams`.
    ///
    /// # Errors
    /// At the first line that is no request.
    pub fn parse(text: &str, streams: u32) -> Result<Trace, TraceError> {
        let mut trace = Trace::default();
        let mut slots: HashMap<i64, u32> = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let op = trace.op(line, &mut slots, streams).map_err(|text| TraceError { line: index + 1, text })?;
            trace.ops.push(op);
        }
        Ok(trace)
    }

    fn op(&mut self, line: &str, slots: &mut HashMap<i64, u32>, streams: u32) -> Result<Op, Text> {
        let (head, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let mut words = rest.split_ascii_whitespace();
        let mut slot = |words: &mut std::str::SplitAsciiWhitespace| -> Result<u32, Text> {
            let id = number(words.next(), "id")?;
            let next = self.ids.len() as u32;
            Ok(*slots.entry(id).or_insert_with(|| {
                self.ids.push(id);
                next
            }))
        };
        let op = match head {
            "a" => {
                let slot = slot(&mut words)?;
                let bytes = bytes(words.next())?;
                Op::Allocate { slot, bytes, stream: stream(words.next().or(Some("0")), streams)? }
            }
            "f" => Op::Free { slot: slot(&mut words)? },
            "r" => Op::RecordStream { slot: slot(&mut words)?, stream: stream(words.next(), streams)? },
            "e" => Op::EmptyCache,
            "m" => Op::MemoryFraction(number(words.next(), "fraction")?),
            "c" => return Ok(Op::Settings(rest.trim_end().to_string())),
            "s" => Op::Snapshot,
            "z" => Op::ResetPeaks,
            "p" => Op::HoldEvents(number::<i64>(words.next(), "0 or 1")? != 0),
            "pb" => Op::BeginPool(number(words.next(), "pool")?),
            "pe" => Op::EndPool(number(words.next(), "pool")?),
            "pr" => Op::ReleasePool(number(words.next(), "pool")?),
            _ => {
                let head: String = head.chars().take(20).collect();
                return Err(text!(
                    en: "`{head}` is no request; a trace knows a, f, r, e, m, c, s, p, pb, pe, pr and z",
                    zh: "`{head}` 不是请求；trace 只认识 a、f、r、e、m、c、s、p、pb、pe、pr、z"
                ));
            }
        };
        match words.next() {
            None => Ok(op),
            Some(extra) => {
                let extra: String = extra.chars().take(20).collect();
                Err(text!(
                    en: "nothing may follow here, but `{extra}` does",
                    zh: "此处之后不应再有内容，却有 `{extra}`"
                ))
            }
        }
    }
}

fn number<T: std::str::FromStr>(word: Option<&str>, what: &str) -> Result<T, Text> {
    let Some(word) = word else { return Err(text!(en: "no {what} given", zh: "缺少 {what}")) };
    word.parse().map_err(|_| {
        let word: String = word.chars().take(20).collect();
        text!(en: "`{word}` is not a number for the {what}", zh: "`{word}` 不是有效的 {what} 数值")
    })
}

/// A size: bytes as a number, or with a unit (`512MiB`, `1.5GiB`).
fn bytes(word: Option<&str>) -> Result<i64, Text> {
    let plain = number::<i64>(word, "size");
    let sized = word.and_then(|word| units::parse(word, Base::Binary));
    match (&plain, sized) {
        (Err(_), Some(figure)) => i64::try_from(figure.bytes).or(plain),
        _ => plain,
    }
}

fn stream(word: Option<&str>, streams: u32) -> Result<u32, Text> {
    let stream: u32 = number(word, "stream")?;
    if stream <= streams {
        return Ok(stream);
    }
    Err(text!(
        en: "stream {stream} does not exist; --streams {stream} makes so many",
        zh: "流 {stream} 不存在；可用 --streams {stream} 创建"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_reads_as_written() {
        let trace = Trace::parse("# two\na 7 100\na 9 2000 3\nf 7\nc max_split_size_mb:64, backend:native\npb 2\n", 4);
        let trace = trace.expect("a good trace");
        assert_eq!(trace.ids, [7, 9]);
        assert_eq!(trace.ops[1], Op::Allocate { slot: 1, bytes: 2000, stream: 3 });
        assert_eq!(trace.ops[3], Op::Settings("max_split_size_mb:64, backend:native".into()));
        assert_eq!(trace.ops[4], Op::BeginPool(2));
        let sizes = Trace::parse("a 1 1GiB\na 2 512MiB 1\na 3 1.5KiB\n", 4).expect("readable sizes").ops;
        assert_eq!(sizes[0], Op::Allocate { slot: 0, bytes: 1 << 30, stream: 0 });
        assert_eq!(sizes[1], Op::Allocate { slot: 1, bytes: 512 << 20, stream: 1 });
        assert_eq!(sizes[2], Op::Allocate { slot: 2, bytes: 1536, stream: 0 });
    }

    #[test]
    fn a_trace_is_written_as_it_reads() {
        let text = "a 7 100\na 9 2000 3\nr 9 1\nf 7\nc max_split_size_mb:64, backend:native\npb 2\npe 2\npr 2\ne\n\
                    m 0.5\ns\nz\np 1\np 0\n";
        let trace = Trace::parse(text, 4).expect("a good trace");
        assert_eq!(trace.to_string(), text);
    }

    #[test]
    fn mistakes_have_a_line() {
        for (bad, line) in [
            ("a 1 1\nx", 2),
            ("a 1 oneGiB", 1),
            ("a 1 5bananas", 1),
            ("a 1", 1),
            ("\n\na 1 1 9", 3),
            ("f one", 1),
            ("e 5", 1),
        ] {
            assert_eq!(Trace::parse(bad, 4).map_err(|error| error.line), Err(line), "{bad}");
        }
    }
}
