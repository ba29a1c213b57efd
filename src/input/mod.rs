//! Bytes to lines: files, pipes, `.gz`, encodings, terminal escapes, progress bars, quoting, rank prefixes.
//!
//! A small input becomes a [`Document`] with all of its lines. Of a large one the document keeps its head, its tail,
//! the surroundings of every line that a trigger literal hits, and evenly spread samples, so that memory stays bounded
//! however long the log is. Lines keep their true numbers either way.

mod encoding;
mod escapes;
pub mod gpu_tables;
mod lines;
mod memo;
mod mojibake;
mod needles;
mod prefix;
mod quoting;
mod sample;
pub(crate) mod scan;
pub(crate) mod smi;
mod source;
mod terminal;

use crate::domain::closed_set;
use crate::text;
use crate::text::Text;
pub use needles::Needles;
pub use scan::Literals;
use source::MOST_OF_A_DEVICE_MIB;
pub use source::{ReadError, TextKind, expand, expand_snapshots, read_text};
use std::borrow::Cow;
use std::io::Read;

/// One line of the input, made readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// 1-based number; `\n`, `\r\n` and `\r` each end a line. Lines that were unpacked from the `\n` escapes of one
    /// line share its number, so numbers ascend but may repeat.
    pub number: u64,
    /// The text without terminal escapes, line end, quoting and rank prefix.
    pub text: String,
    /// The rank, replica or node that a prefix such as `[rank3]:` names.
    pub rank: Option<u32>,
}

closed_set! {
    /// Something about the input that was mended before it was read.
    pub enum Repair {
        /// Decompressed from gzip.
        Gzip = "gzip",
        /// A gzip stream that ends early: read as far as it goes.
        GzipTruncated = "gzip-truncated",
        /// A device, which may have no end: only its beginning is read.
        DeviceCut = "device-cut",
        /// Terminal escape sequences removed.
        Ansi = "ansi",
        /// Progress bars that rewrite their line with carriage returns, split into lines.
        CarriageReturns = "carriage-returns",
        /// UTF-8 that was read as a one-byte code page once or twice, put right.
        Mojibake = "mojibake",
        /// Quote or comment marks in front of the lines removed.
        Quoting = "quoting",
        /// `\n` and `\"` escapes of a JSON string or a Python literal, or entities of HTML, undone.
        Escapes = "escapes",
        /// Rank prefixes taken off the lines.
        RankPrefixes = "rank-prefixes",
        /// NUL or other control bytes removed.
        ControlBytes = "control-bytes",
        /// Lines longer than the limit cut.
        LongLines = "long-lines",
        /// Part of a large log was passed over unread but for trigger literals.
        Sampled = "sampled",
    }
}

impl Repair {
    pub fn text(self) -> Text {
        match self {
            Repair::Gzip => Text::new("gzip unpacked", "已解压 gzip"),
            Repair::GzipTruncated => {
                Text::new("the gzip stream ends early; read as far as it goes", "gzip 流提前结束，只读到断处")
            }
            Repair::DeviceCut => text!(
                en: "a device without an end: only the first {MOST_OF_A_DEVICE_MIB} MiB were read",
                zh: "没有尽头的设备：只读取了开头 {MOST_OF_A_DEVICE_MIB} MiB"
            ),
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
    /// True where the last line has no end: it may have been cut in the middle of a number.
    pub open_ended: bool,
    /// What was worked out of the lines.
    pub(crate) memo: memo::Memo,
}

impl Document {
    /// The position in [`Document::lines`] of a line number, if that line was kept: of the first one when an unpacked
    /// line left several.
    pub fn position(&self, number: u64) -> Option<usize> {
        let position = self.lines.partition_point(|line| line.number < number);
        self.lines.get(position).filter(|line| line.number == number).map(|_| position)
    }

    /// The same document with other lines for those it keeps: an excerpt, or a mended text. `to_the_end` tells that the
    /// last of them is the document's last.
    pub(crate) fn with_lines(&self, lines: Vec<Line>, to_the_end: bool) -> Document {
        Document {
            source: self.source.clone(),
            bytes: self.bytes,
            line_count: self.line_count,
            encoding: self.encoding.clone(),
            repairs: self.repairs.clone(),
            lines,
            open_ended: self.open_ended && to_the_end,
            memo: self.memo.clone(),
        }
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

impl Source {
    /// The file, where one can look into it first and read it afterwards. What comes through a pipe, as of
    /// `explain <(kubectl logs …)`, can be read once.
    pub fn lasting(&self) -> Option<&std::path::Path> {
        match self {
            Source::File(path) if path.is_file() => Some(path),
            Source::File(_) | Source::Stdin => None,
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Stdin => write!(f, "-"),
        }
    }
}

/// Reads inputs into documents. It knows by the literals of the dialects what of a large input is worth keeping.
pub struct Reader {
    literals: Literals,
}

impl Reader {
    pub fn new(literals: Literals) -> Reader {
        Reader { literals }
    }

    /// The literals by which it reads.
    pub fn literals(&self) -> &Literals {
        &self.literals
    }

    /// Reads an input.
    ///
    /// # Errors
    /// A [`ReadError`] when the source cannot be opened or read; it names the source and says what to do.
    pub fn read(&self, source: &Source) -> anyhow::Result<Document> {
        self.read_with_progress(source, &mut |_, _| {})
    }

    /// Reads an input, and reports after every piece how many bytes of how many (if known) were read.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_with_progress(
        &self,
        source: &Source,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> anyhow::Result<Document> {
        let opened = source::open(source)?;
        let mut document = self.gather(opened, progress).map_err(|error| source::cannot_read(source, error))?;
        document.source = source.to_string();
        Ok(document)
    }

    /// Reads a stream that is no file: the output of a child, a test's bytes. gzip is unpacked here too.
    ///
    /// # Errors
    /// When reading fails, or when a gzip stream yields nothing.
    pub fn read_stream(&self, name: &str, stream: Box<dyn Read>) -> std::io::Result<Document> {
        let mut document = self.gather(source::from_reader(stream, None)?, &mut |_, _| {})?;
        document.source = name.to_string();
        Ok(document)
    }

    /// Reads a text that is already in memory. All of its lines are kept.
    pub fn text(&self, source: &str, text: &str) -> Document {
        let mut draft = lines::Draft::new(encoding::Charset::Utf8, &self.literals);
        let line_count = draft.push_all(text.as_bytes());
        let mut document = draft.finish();
        document.source = source.to_string();
        document.bytes = text.len() as u64;
        document.line_count = line_count;
        document
    }

    fn gather(
        &self,
        mut opened: source::Opened,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> std::io::Result<Document> {
        let mut document = sample::gather(&mut opened, &self.literals, progress)?;
        document.bytes = opened.taken();
        if opened.gzip {
            document.repairs.push(Repair::Gzip);
        }
        if opened.truncated() {
            document.repairs.push(Repair::GzipTruncated);
        }
        if opened.cut() {
            document.repairs.push(Repair::DeviceCut);
        }
        document.repairs.sort_unstable();
        document.repairs.dedup();
        Ok(document)
    }
}

/// A source as plain bytes, gzip unpacked, that reports after every piece how many bytes of how many (if known) were
/// read. For inputs that are no text.
pub struct Bytes<'p> {
    opened: source::Opened,
    progress: &'p mut dyn FnMut(u64, Option<u64>),
}

impl Bytes<'_> {
    /// Bytes taken from the source so far, before decompression.
    pub fn taken(&self) -> u64 {
        self.opened.taken()
    }
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.opened.read(buffer)?;
        (self.progress)(self.opened.taken(), self.opened.total);
        Ok(read)
    }
}

/// Opens a source for its bytes.
///
/// # Errors
/// A [`ReadError`] when it cannot be opened.
pub fn bytes<'p>(source: &Source, progress: &'p mut dyn FnMut(u64, Option<u64>)) -> Result<Bytes<'p>, ReadError> {
    Ok(Bytes { opened: source::open(source)?, progress })
}
