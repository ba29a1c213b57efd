//! Files, standard input and gzip: where bytes come from, before anything is known of what they mean.

use super::Source;
use crate::order::InOrder;
use crate::system::{self, is_device};
use crate::text::Text;
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Why an input could not be read, and what to do about it, in both languages.
#[derive(Debug)]
pub struct ReadError {
    pub text: Text,
    cause: Option<io::Error>,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text.en)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

impl ReadError {
    pub(super) fn new(cause: io::Error, text: Text) -> ReadError {
        ReadError { text, cause: Some(cause) }
    }
}

/// An opened input. Reading yields unpacked bytes; the counters tell about the packed ones.
pub(super) struct Opened {
    pub reader: Box<dyn Read>,
    /// Size of a regular file in bytes; a pipe has none.
    pub total: Option<u64>,
    pub gzip: bool,
    produced: u64,
    taken: Rc<Cell<u64>>,
    truncated: Rc<Cell<bool>>,
    /// Where reading stops, end or not.
    most: Option<u64>,
}

impl Opened {
    /// Bytes taken from the source so far, before decompression.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// True once a gzip stream turned out to end early or to be damaged.
    pub fn truncated(&self) -> bool {
        self.truncated.get()
    }

    /// True once reading stopped where the source may have gone on.
    pub fn cut(&self) -> bool {
        self.most.is_some_and(|most| self.taken() >= most)
    }
}

/// Packed text unpacks to some ten or thirty times its size, a table that repeats itself to a hundred times. What
/// unpacks to more is made to fill memory.
const MOST_UNPACKED: u64 = 150;
/// That much may be unpacked from however little.
const UNPACKED_UNASKED: u64 = 8 << 20;

/// An input of which nothing can be used unless it is there whole: a gzip stream that ends early is an error here, and
/// so is one that unpacks beyond all measure.
impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.produced = self.produced.saturating_add(n as u64);
        if self.gzip && self.produced > UNPACKED_UNASKED.max(self.taken().saturating_mul(MOST_UNPACKED)) {
            let text = format!("its {} bytes unpack to more than {MOST_UNPACKED} times as much", self.taken());
            return Err(io::Error::new(ErrorKind::InvalidData, text));
        }
        if n == 0 && self.truncated() {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "it ends early"));
        }
        Ok(n)
    }
}

/// Folders below a folder that are looked into: `torchrun --log-dir` nests its logs four deep.
const FOLDER_DEPTH: usize = 6;
/// Files of one folder that are read at most; more are a mistake, or a job larger than any.
const FOLDER_FILES: usize = 100_000;

/// Puts the log files inside in the place of each folder, sorted by path; links to folders are not followed. A folder
/// without log files stays, so that opening it says what is wrong.
pub fn expand(sources: &[Source]) -> Vec<Source> {
    expand_to(sources, looks_like_log)
}

/// The same for memory snapshots: a folder with one for each rank.
pub fn expand_snapshots(sources: &[Source]) -> Vec<Source> {
    expand_to(sources, looks_like_snapshot)
}

fn expand_to(sources: &[Source], wanted: fn(&Path) -> bool) -> Vec<Source> {
    let mut expanded = Vec::with_capacity(sources.len());
    for source in sources {
        match source {
            Source::File(path) if path.is_dir() => {
                let mut files = Vec::new();
                collect(path, FOLDER_DEPTH, wanted, &mut files);
                if files.is_empty() {
                    expanded.push(source.clone());
                }
                files.order_by(Ord::cmp);
                expanded.extend(files.into_iter().map(Source::File));
            }
            _ => expanded.push(source.clone()),
        }
    }
    expanded
}

fn collect(folder: &Path, depth: usize, wanted: fn(&Path) -> bool, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if files.len() >= FOLDER_FILES {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            collect(&path, depth - 1, wanted, files);
        } else if !kind.is_dir() && path.is_file() && wanted(&path) {
            files.push(path);
        }
    }
}

fn looks_like_log(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    matches!(name, "stdout" | "stderr")
        || [".log", ".txt", ".out", ".err", ".record"]
            .iter()
            .any(|ending| name.ends_with(ending) && name.len() > ending.len())
}

fn looks_like_snapshot(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".pickle", ".pkl", ".json"].iter().any(|ending| name.ends_with(ending) && name.len() > ending.len())
}

/// What is read of a device that is no terminal: `/dev/zero` never ends.
pub(super) const MOST_OF_A_DEVICE_MIB: u64 = 64;

/// Opens a source and looks at its first two bytes to tell gzip from text, so that a pipe and a misnamed file work too.
pub(super) fn open(source: &Source) -> Result<Opened, ReadError> {
    match source {
        Source::File(path) => {
            let file = File::open(path).map_err(|error| cannot_open(path, error))?;
            let metadata = file.metadata().map_err(|error| cannot_open(path, error))?;
            if metadata.is_dir() {
                return Err(ReadError {
                    cause: None,
                    text: crate::text!(
                        en: "{p} is a directory without log files (*.log, *.txt, *.out, *.err, *.record, stdout, stderr, also .gz): name the file to read",
                        zh: "目录 {p} 中没有日志文件（*.log、*.txt、*.out、*.err、*.record、stdout、stderr，可为 .gz）：请指定要读取的文件",
                        p = path.display()
                    ),
                });
            }
            let total = metadata.is_file().then_some(metadata.len());
            let endless = !metadata.is_file() && is_device(&metadata) && !file.is_terminal();
            let most = endless.then_some(MOST_OF_A_DEVICE_MIB << 20);
            let reader: Box<dyn Read> = match most {
                Some(most) => Box::new(file.take(most)),
                None => Box::new(file),
            };
            let opened = from_reader(reader, total).map_err(|error| cannot_read(source, error))?;
            Ok(Opened { most, ..opened })
        }
        Source::Stdin => {
            let reader: Box<dyn Read> = match system::pasted() {
                Some(paste) => Box::new(paste),
                None => Box::new(io::stdin()),
            };
            from_reader(reader, None).map_err(|error| cannot_read(source, error))
        }
    }
}

/// What a file is, as far as it decides how large it may be. A model's configuration, a budget or the document of a
/// rehearsal takes some kilobytes; parsed it takes up to thirty times its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// Settings, and documents that programs write.
    Document,
    /// Measurements by the line, or a log of them.
    Table,
    /// A trace of an allocator's calls.
    Trace,
}

impl TextKind {
    /// The most that is read, in MiB.
    fn most(self) -> u64 {
        match self {
            TextKind::Document => 8,
            TextKind::Table => 256,
            TextKind::Trace => 1024,
        }
    }
}

/// The whole text of a source that is no log, unpacked when it is gzip. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// When it cannot be opened or read, is not whole, or is larger than such a file may be.
pub fn read_text(source: &Source, kind: TextKind) -> Result<String, ReadError> {
    let most = kind.most();
    let mut bytes = Vec::new();
    let mut reader = open(source)?.take((most << 20) + 1);
    reader.read_to_end(&mut bytes).map_err(|error| cannot_read(source, error))?;
    if bytes.len() as u64 > most << 20 {
        return Err(ReadError {
            cause: None,
            text: crate::text!(
                en: "{source} is larger than {most} MiB, the most that is read of such a file: is it the right one?",
                zh: "{source} 超过 {most} MiB（此类文件的上限）：文件是否给对了？"
            ),
        });
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Counts, and unpacks when the stream is gzip.
pub(super) fn from_reader(reader: Box<dyn Read>, total: Option<u64>) -> io::Result<Opened> {
    const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
    let taken = Rc::new(Cell::new(0));
    let truncated = Rc::new(Cell::new(false));
    let mut counted = Counted { reader, taken: Rc::clone(&taken), ended: false };
    let mut magic = Vec::with_capacity(GZIP_MAGIC.len());
    counted.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut magic)?;
    let gzip = magic == GZIP_MAGIC;
    let whole = io::Cursor::new(magic).chain(counted);
    let reader: Box<dyn Read> = if gzip {
        Box::new(Gunzip {
            decoder: MultiGzDecoder::new(io::BufReader::with_capacity(64 << 10, whole)),
            produced: 0,
            truncated: Rc::clone(&truncated),
        })
    } else {
        Box::new(whole)
    };
    Ok(Opened { reader, total, gzip, produced: 0, taken, truncated, most: None })
}

fn cannot_open(path: &Path, error: io::Error) -> ReadError {
    let p = path.display();
    let text = match error.kind() {
        ErrorKind::NotFound => crate::text!(
            en: "no such file: {p} (check the path, or use - to read standard input)",
            zh: "文件不存在：{p}（请检查路径，或用 - 读取标准输入）"
        ),
        ErrorKind::PermissionDenied => crate::text!(
            en: "no permission to read {p} (ask its owner for read access, or pipe it: sudo cat {p} | oomdoc explain -)",
            zh: "没有权限读取 {p}（请向文件所有者申请读权限，或用管道：sudo cat {p} | oomdoc explain -）"
        ),
        _ => crate::text!(
            en: "cannot open {p}: {error} (copy the file to a local disk and try again)",
            zh: "无法打开 {p}：{error}（可将文件复制到本地磁盘后重试）"
        ),
    };
    ReadError::new(error, text)
}

/// An input that was opened, but breaks while it is read.
pub(super) fn cannot_read(source: &Source, error: io::Error) -> ReadError {
    let name = match source {
        Source::File(path) => Text::same(path.display().to_string()),
        Source::Stdin => Text::new("standard input", "标准输入"),
    };
    let text = match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => Text::new(
            format!("{} is gzip, but cannot be unpacked: {error} (fetch or copy the file again)", name.en),
            format!("{} 是 gzip 文件，但无法解压：{error}（请重新下载或复制该文件）", name.zh),
        ),
        _ => Text::new(
            format!("cannot read {}: {error} (copy it to a local disk and try again)", name.en),
            format!("无法读取 {}：{error}（可复制到本地磁盘后重试）", name.zh),
        ),
    };
    ReadError::new(error, text)
}

struct Counted {
    reader: Box<dyn Read>,
    taken: Rc<Cell<u64>>,
    /// A terminal that was ended with Ctrl-D could be read on; one Ctrl-D has to be enough.
    ended: bool,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        let n = self.reader.read(buffer)?;
        self.ended = n == 0 && !buffer.is_empty();
        self.taken.set(self.taken.get().saturating_add(n as u64));
        Ok(n)
    }
}

/// A gzip stream that ends where its damage begins: a log is worth reading up to there.
struct Gunzip<R: Read> {
    decoder: MultiGzDecoder<io::BufReader<R>>,
    produced: u64,
    truncated: Rc<Cell<bool>>,
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.truncated.get() {
            return Ok(0);
        }
        match self.decoder.read(buffer) {
            Ok(n) => {
                self.produced = self.produced.saturating_add(n as u64);
                Ok(n)
            }
            Err(error)
                if self.produced > 0
                    && matches!(
                        error.kind(),
                        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput
                    ) =>
            {
                self.truncated.set(true);
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}
