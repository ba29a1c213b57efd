//! Bytes to lines: files, pipes, `.gz`, encodings, terminal escapes, progress bars, quoting, rank prefixes.
//!
//! A small input becomes a [`Document`] with all of its lines. Of a large one the document keeps its head, its tail,
//! the surroundings of every line that a trigger literal hits, and evenly spread samples, so that memory stays bounded
//! however long the log is. Lines keep their true numbers either way.

use crate::text::Text;
use std::borrow::Cow;

/// One line of the input, made readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// 1-based number; `\n`, `\r\n` and `\r` each end a line.
    pub number: u64,
    /// The text without terminal escapes, line end, quoting and rank prefix.
    pub text: String,
    /// The rank, replica or node that a prefix such as `[rank3]:` names.
    pub rank: Option<u32>,
}

/// Something about the input that was mended before it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// Decompressed from gzip.
    Gzip,
    /// A gzip stream that ends early: read as far as it goes.
    GzipTruncated,
    /// Terminal escape sequences removed.
    Ansi,
    /// Progress bars that rewrite their line with carriage returns, split into lines.
    CarriageReturns,
    /// UTF-8 that was read as a one-byte code page once or twice, put right.
    Mojibake,
    /// Quote or comment marks in front of the lines removed.
    Quoting,
    /// `\n` and `\"` escapes of a JSON string or a Python literal undone.
    Escapes,
    /// Rank prefixes taken off the lines.
    RankPrefixes,
    /// NUL or other control bytes removed.
    ControlBytes,
    /// Lines longer than the limit cut.
    LongLines,
    /// Part of a large log was passed over unread but for trigger literals.
    Sampled,
}

impl Repair {
    /// The name used in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Repair::Gzip => "gzip",
            Repair::GzipTruncated => "gzip-truncated",
            Repair::Ansi => "ansi",
            Repair::CarriageReturns => "carriage-returns",
            Repair::Mojibake => "mojibake",
            Repair::Quoting => "quoting",
            Repair::Escapes => "escapes",
            Repair::RankPrefixes => "rank-prefixes",
            Repair::ControlBytes => "control-bytes",
            Repair::LongLines => "long-lines",
            Repair::Sampled => "sampled",
        }
    }

    pub fn text(self) -> Text {
        match self {
            Repair::Gzip => Text::new("gzip unpacked", "已解压 gzip"),
            Repair::GzipTruncated => {
                Text::new("the gzip stream ends early; read as far as it goes", "gzip 流提前结束，只读到断处")
            }
            Repair::Ansi => Text::new("terminal colours removed", "已去除终端颜色控制符"),
            Repair::CarriageReturns => Text::new("progress bars split into lines", "进度条已拆成行"),
            Repair::Mojibake => Text::new(
                "UTF-8 that had been read in a wrong code page was repaired",
                "已修复被错误编码读取的 UTF-8（乱码）",
            ),
            Repair::Quoting => Text::new("quote or comment marks removed", "已去除引用或注释符号"),
            Repair::Escapes => Text::new("string escapes undone", "已还原字符串转义"),
            Repair::RankPrefixes => Text::new("rank prefixes taken off", "已去除 rank 前缀"),
            Repair::ControlBytes => Text::new("control bytes removed", "已去除控制字符"),
            Repair::LongLines => Text::new("very long lines cut", "超长行已截断"),
            Repair::Sampled => {
                Text::new("a large log: read in full only around its failures", "日志很大：只完整读取故障附近的内容")
            }
        }
    }
}

/// The input, ready to be read by dialects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// The path as given, or `-` for standard input.
    pub source: String,
    /// Size of the input in bytes, as read (before decompression).
    pub bytes: u64,
    /// Number of lines of the whole input, also of those not kept.
    pub line_count: u64,
    /// The encoding it was read in, as an IANA name in lower case.
    pub encoding: String,
    /// What was mended, each once, sorted.
    pub repairs: Vec<Repair>,
    /// The lines kept, in order. Numbers may have gaps in a large input.
    pub lines: Vec<Line>,
}

impl Document {
    /// Reads a text that is already in memory, as a test or another program does.
    pub fn from_text(source: &str, text: &str) -> Document {
        let lines: Vec<Line> = text
            .split('\n')
            .enumerate()
            .map(|(i, line)| Line { number: i as u64 + 1, text: line.trim_end_matches('\r').to_string(), rank: None })
            .collect();
        Document {
            source: source.to_string(),
            bytes: text.len() as u64,
            line_count: lines.len() as u64,
            encoding: "utf-8".to_string(),
            repairs: Vec::new(),
            lines,
        }
    }

    /// The position in [`Document::lines`] of a line number, if that line was kept.
    pub fn position(&self, number: u64) -> Option<usize> {
        self.lines.binary_search_by_key(&number, |line| line.number).ok()
    }

    /// The text of a line by its number.
    pub fn line(&self, number: u64) -> Option<Cow<'_, str>> {
        self.position(number).map(|i| Cow::Borrowed(self.lines[i].text.as_str()))
    }
}

/// Where to read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(std::path::PathBuf),
    Stdin,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Stdin => write!(f, "-"),
        }
    }
}

/// Reads an input into a document.
///
/// # Errors
/// When the source cannot be opened or read; the error names it and says what to do.
pub fn read(source: &Source) -> anyhow::Result<Document> {
    use anyhow::Context;
    let bytes = match source {
        Source::File(path) => std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
        Source::Stdin => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)
                .context("cannot read standard input")?;
            bytes
        }
    };
    Ok(Document::from_text(&source.to_string(), &String::from_utf8_lossy(&bytes)))
}
