//! What a program prints again and again, under whatever name: sizes, shares of memory, and counts of things that it
//! keeps. [`super::readings`] knows the names of common trainers; here a quantity is known by the words beside it.

use super::series::{Measure, Reading, Series, StepUnit};
use crate::thin;
use crate::units::Base;
use std::collections::BTreeMap;

/// Different quantities followed at most.
const TRACKS_AT_MOST: usize = 256;
/// A track with more samples is thinned to half, again and again.
const SAMPLES_AT_MOST: usize = 2048;
/// Longer lines are dumps.
const LONGEST_LINE: usize = 1024;
/// Lines that name several devices which are kept; the last ones count.
const CARDS_AT_MOST: usize = 64;
/// Announced pools kept.
const POOLS_AT_MOST: usize = 64;
/// A pool worth the name.
const SMALLEST_POOL: f64 = 67_108_864.0;

/// What the figures of a trend count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    Bytes,
    /// Of the device or the machine, 0 … 100.
    Percent,
    /// Things that are kept: entries of a cache, results, sessions.
    Things,
}

/// Figures under one name, in the order of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// The words before the figure.
    pub label: String,
    pub unit: Unit,
    /// The figures are those of free memory: they fall as more is used.
    pub free: bool,
    pub samples: Vec<(u64, f64)>,
}

/// A pool or cache whose size a line announces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnnouncedPool {
    pub line: u64,
    pub bytes: f64,
    /// A cache of keys and values.
    pub of_keys_and_values: bool,
    /// TensorFlow's, which takes most of what is free when it makes its device.
    pub of_tensorflow: bool,
}

/// A device and what is in use on it.
pub type Card = (u32, f64);

/// Free memory of a device that a line tells of, under the device's number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeReading {
    pub line: u64,
    pub device: u32,
    pub bytes: f64,
}

impl Trend {
    /// As readings of what is in use, so that the same fit applies. Free memory is turned over.
    pub fn series(&self) -> Series {
        let most = self.samples.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let scale = if self.unit == Unit::Bytes { 1.0 } else { 1e6 };
        let readings = self
            .samples
            .iter()
            .map(|(line, value)| {
                // The total is not known here; half as much again as was ever free is on the careful side.
                let used = if self.free { 1.5 * most - value } else { *value };
                Reading { line: *line, step: None, bytes: (used * scale) as u64 }
            })
            .collect();
        let running_maximum = ["max", "peak"].iter().any(|word| self.label.contains(word));
        Series { measure: Measure::GpuUsed, rank: None, per: StepUnit::Line, running_maximum, readings }
    }

    /// True where the words say that it is memory of a device.
    pub fn of_device(&self) -> bool {
        has(&self.label, &["gpu", "cuda", "vram", "hbm", "device"])
    }

    /// True where the words say that it is RAM.
    pub fn of_host(&self) -> bool {
        !self.of_device() && has(&self.label, &["rss", "ram", "cpu", "host", "swap", "resident"])
    }
}

/// What tells one series from another: its label, its unit, whether it counts what is free, its rank.
type Track = (String, Unit, bool, Option<u32>);

#[derive(Debug, Default)]
pub(super) struct Trends {
    tracks: BTreeMap<Track, Vec<(u64, f64)>>,
    /// Readings of a service that somebody took beside its log, by its name; they may stand behind the message.
    watched: BTreeMap<String, Vec<(u64, f64)>>,
    /// The line up to which bare numbers behind times are resident memory in KiB.
    resident_until: u64,
    cards: Vec<(u64, Vec<Card>)>,
    pools: Vec<AnnouncedPool>,
    free: Vec<FreeReading>,
}

/// A figure with what stands around it.
struct Figure<'a> {
    label: String,
    device: Option<u32>,
    unit: Unit,
    free: bool,
    value: f64,
    /// The rest of the line.
    after: &'a str,
}

impl Trends {
    /// Takes what a line tells.
    pub(super) fn take(&mut self, text: &str, line: u64, rank: Option<u32>) {
        if text.len() > LONGEST_LINE || is_row_of_files(text) {
            return;
        }
        if let Some((name, bytes)) = self.resident(text, line).or_else(|| row_of_a_service(text)) {
            if self.watched.len() < TRACKS_AT_MOST || self.watched.contains_key(&name) {
                push(self.watched.entry(name).or_default(), (line, bytes));
            }
            return;
        }
        if !worth_reading(text) {
            return;
        }
        let figures = figures(text);
        let told_free = figures.iter().filter(|figure| figure.unit == Unit::Bytes && figure.free);
        for (device, bytes) in told_free.filter_map(|figure| Some((figure.device?, figure.value))) {
            if self.free.len() < POOLS_AT_MOST {
                self.free.push(FreeReading { line, device, bytes });
            }
        }
        // SGLang's stages of its start, each of which takes what it was given: `Load weight end. … avail mem=6.66 GB`.
        if text.contains("avail mem=") && [" begin.", " end."].iter().any(|stage| text.contains(stage)) {
            return;
        }
        let cards: Vec<Card> = figures
            .iter()
            .filter(|figure| figure.unit == Unit::Bytes && !figure.free)
            .filter_map(|figure| Some((figure.device?, figure.value)))
            .collect();
        if cards.len() >= 2 {
            if self.cards.len() >= CARDS_AT_MOST {
                self.cards.remove(0);
            }
            self.cards.push((line, cards));
            return;
        }
        // `model weights take 7.36GiB; … the rest of the memory reserved for KV Cache is 4.76GiB`
        let bytes = |of_cache: bool| {
            let sized = figures.iter().filter(|figure| figure.unit == Unit::Bytes);
            sized.filter(|figure| !of_cache || figure.label.contains("cache")).map(|f| f.value).reduce(f64::max)
        };
        if let Some(most) = bytes(true).or_else(|| bytes(false))
            && most >= SMALLEST_POOL
            && self.pools.len() < POOLS_AT_MOST
            && let Some(of_keys_and_values) = announces_pool(text)
        {
            let of_tensorflow = makes_a_device_of_tensorflow(text);
            self.pools.push(AnnouncedPool { line, bytes: most, of_keys_and_values, of_tensorflow });
        }
        for Figure { label, unit, free, value, .. } in figures {
            let key = (label, unit, free, rank);
            if self.tracks.len() >= TRACKS_AT_MOST && !self.tracks.contains_key(&key) {
                continue;
            }
            push(self.tracks.entry(key).or_default(), (line, value));
        }
    }

    /// A reading of `ps -o rss=`, a time and a number of KiB, below a line that says that these are resident memory.
    fn resident(&mut self, text: &str, line: u64) -> Option<(String, f64)> {
        if text.len() < 256 && mentions_resident(text) {
            self.resident_until = line + RESIDENT_FOR;
        }
        if line > self.resident_until {
            return None;
        }
        let (time, number) = text.trim().rsplit_once([' ', '\t'])?;
        let of_a_clock =
            |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | '/' | '.' | 'T' | 'Z' | ' ' | '\t' | ',');
        let kib: u64 = number.parse().ok().filter(|kib| (1024..1 << 40).contains(kib))?;
        let timed = time.contains(':') && time.chars().all(of_a_clock);
        if timed {
            self.resident_until = line + RESIDENT_FOR;
        }
        timed.then_some(("rss".into(), kib as f64 * 1024.0))
    }

    /// The trends between two lines, for one rank or for lines that name none.
    pub(super) fn between(&self, first: u64, last: u64, rank: Option<u32>) -> Vec<Trend> {
        self.tracks
            .iter()
            .filter(|((.., of), _)| rank.is_none() || of.is_none() || *of == rank)
            .filter_map(|((label, unit, free, _), samples)| {
                let from = samples.partition_point(|(line, _)| *line < first);
                let to = samples.partition_point(|(line, _)| *line < last);
                let samples = samples.get(from..to).filter(|samples| samples.len() >= 3)?;
                Some(Trend { label: label.clone(), unit: *unit, free: *free, samples: samples.to_vec() })
            })
            .chain(self.watched.iter().filter(|(_, samples)| samples.len() >= 3).map(|(name, samples)| Trend {
                label: format!("{name} rss"),
                unit: Unit::Bytes,
                free: false,
                samples: samples.clone(),
            }))
            .collect()
    }

    /// The last line above a place that names several devices.
    pub(super) fn cards(&self, first: u64, last: u64) -> Option<(u64, Vec<Card>)> {
        self.cards.iter().rev().find(|(line, _)| (first..last).contains(line)).cloned()
    }

    /// Readings of free memory with their devices, wherever they stand.
    pub(super) fn free(&self) -> Vec<FreeReading> {
        self.free.clone()
    }

    /// Announced pools above a place.
    pub(super) fn pools(&self, first: u64, last: u64) -> Vec<AnnouncedPool> {
        self.pools.iter().filter(|pool| (first..last).contains(&pool.line)).copied().collect()
    }
}

fn push(samples: &mut Vec<(u64, f64)>, sample: (u64, f64)) {
    if samples.len() >= SAMPLES_AT_MOST {
        thin::halve(samples);
    }
    samples.push(sample);
}

/// Lines between readings of resident memory at most, and between them and what names them.
const RESIDENT_FOR: u64 = 4;

/// A command or its comment that prints resident memory: `# ps -o rss= -p PID, every 6 h`.
fn mentions_resident(text: &str) -> bool {
    let typed = text.trim_start().starts_with(['$', '#', '>', '%']) || text.contains("ps -");
    typed && text.as_bytes().windows(3).any(|three| three.eq_ignore_ascii_case(b"rss"))
}

/// A row of `kubectl top pod` (`NAME 21m 173Mi`) or of `docker stats` (`NAME 1.71GiB / 8GiB …`): whose it is, and what
/// it uses.
fn row_of_a_service(text: &str) -> Option<(String, f64)> {
    const COLUMNS: usize = 16;
    if !text.contains("Mi") && !text.contains("Gi") {
        return None;
    }
    let columns: Vec<&str> = text.split_whitespace().take(COLUMNS).collect();
    let size = |word: &str| {
        let (value, end) = number_at(word, 0)?;
        let (unit, end) = unit_at(word, end)?;
        (end == word.len()).then_some(value * unit)
    };
    let name = |columns: &[&str]| {
        let plain = |word: &&&str| !word.ends_with('%') && !word.contains(['=', ':', '|', '(', '[', '/']);
        let words: Vec<&str> = columns.iter().filter(plain).copied().collect();
        (!words.is_empty() && words.len() <= 3 && columns.len() <= 4).then(|| words.join(" "))
    };
    if let [names @ .., cpu, memory] = columns.as_slice()
        && cpu.strip_suffix('m').is_some_and(|cpu| !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit()))
        && memory.ends_with('i')
    {
        return Some((name(names)?, size(memory)?));
    }
    let slash = columns.iter().position(|word| *word == "/").filter(|at| *at >= 2)?;
    let (used, whole) = (size(columns[slash - 1])?, size(columns.get(slash + 1)?)?);
    let in_percent = columns.iter().skip(slash + 2).take(1).any(|word| word.ends_with('%'));
    (in_percent && used <= whole).then(|| name(&columns[..slash - 1])).flatten().map(|name| (name, used))
}

/// Words that name things which are kept, as opposed to work that was done.
const KEPT: &[&str] = &[
    "cache",
    "kept",
    "history",
    "histories",
    "buffer",
    "replay",
    "store",
    "held",
    "queue",
    "backlog",
    "pending",
    "session",
    "activation",
    "retained",
    "collected",
    "memo",
    "results",
    "outputs",
    "objects",
    "tensors",
    "entries",
    "inflight",
    "gaussians",
    "particles",
    "atoms",
    "splats",
    "prompt",
    "context",
];

/// Words that name memory.
const MEMORY: &[&str] = &[
    "mem",
    "gpu",
    "cuda",
    "vram",
    "ram",
    "rss",
    "used",
    "usage",
    "use",
    "footprint",
    "occupied",
    "alloc",
    "reserved",
    "resident",
    "heap",
];

/// Words of what has a size and is no memory.
const NO_MEMORY: &[&str] = &[
    "swap",
    "download",
    "upload",
    "read",
    "written",
    "wrote",
    "sent",
    "received",
    "recv",
    "file",
    "disk",
    "speed",
    "rate",
    "param",
    "limit",
    "request",
    "throughput",
    "bandwidth",
    "checkpoint",
    "time",
    "eta",
];

fn has(label: &str, words: &[&str]) -> bool {
    words.iter().any(|word| label.contains(word))
}

/// Lines with a size, a percentage or a word for what is kept; a glance, since every line of a log comes by.
/// True for a file as `ls -l` lists it, cut at its front or not: `2.2G Dec 12 19:10 train.bin`.
fn is_row_of_files(text: &str) -> bool {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().take(9).collect();
    let size = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    words.windows(4).any(|row| {
        let time = row[3].contains(':') || row[3].len() == 4 && row[3].bytes().all(|byte| byte.is_ascii_digit());
        size(row[0]) && MONTHS.contains(&row[1]) && row[2].parse::<u8>().is_ok() && time
    })
}

fn worth_reading(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number_before = |at: usize| {
        let before = |n: usize| at.checked_sub(n).and_then(|at| bytes.get(at)).copied().unwrap_or(0);
        before(1).is_ascii_digit() || before(1) == b' ' && before(2).is_ascii_digit()
    };
    memchr::memchr3_iter(b'G', b'M', b'%', bytes).any(number_before)
        || text.len() < 256 && bytes.iter().any(u8::is_ascii_digit) && {
            let lower = text.to_ascii_lowercase();
            has(&lower, KEPT)
        }
}

/// Bytes of one unit, for the ways in which sizes of memory are written; `M` alone counts millions of other things.
fn unit_of(word: &str) -> Option<f64> {
    match word {
        "G" | "g" => crate::units::unit("GiB", Base::Binary),
        "M" | "m" | "K" | "k" | "B" | "b" | "T" | "t" | "" => None,
        "GB" | "GiB" | "Gi" | "MB" | "MiB" | "Mi" | "KB" | "KiB" | "kB" | "TB" | "TiB" => {
            crate::units::unit(word, Base::Binary)
        }
        _ => None,
    }
    .map(|bytes| bytes as f64)
}

/// A number at a position and where it ends.
fn number_at(text: &str, at: usize) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count());
    let whole = digits(at);
    if whole == 0 || whole > 12 {
        return None;
    }
    let mut end = at + whole;
    while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    Some((text.get(at..end)?.replace(',', "").parse().ok()?, end))
}

/// The unit behind a number, one space between at most, and where it ends.
fn unit_at(text: &str, at: usize) -> Option<(f64, usize)> {
    let rest = text.get(at..)?;
    let spaced = rest.strip_prefix(' ').unwrap_or(rest);
    let gap = rest.len() - spaced.len();
    let letters = spaced.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = spaced.get(..letters)?;
    if gap > 0 && letters < 2 || spaced.get(letters..).is_some_and(|rest| rest.starts_with("/s")) {
        return None;
    }
    Some((unit_of(word)?, at + gap + letters))
}

/// `/ 14981 MB`, `of 11.6 GiB` behind a number: the unit, and where it ends.
fn total_at(text: &str, at: usize) -> Option<(f64, usize)> {
    let rest = text.get(at..)?.trim_start();
    let rest = rest.strip_prefix('/').or_else(|| rest.strip_prefix("of "))?.trim_start();
    let (_, end) = number_at(text, text.len() - rest.len())?;
    unit_at(text, end)
}

/// `of memory`, `of the GPU`, `RAM used` behind a percentage.
fn of_memory(after: &str) -> bool {
    let words = after.split_whitespace().take(3).map(str::to_ascii_lowercase);
    words.take_while(|word| word.len() < 12).any(|word| has(&word, &["memory", "ram", "gpu", "vram", "used"]))
}

fn figures(text: &str) -> Vec<Figure<'_>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Figure<'_>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() && found.len() < 64 {
        let starts = bytes[at].is_ascii_digit()
            && !at.checked_sub(1).is_some_and(|b| bytes[b].is_ascii_alphanumeric() || matches!(bytes[b], b'_' | b'.'));
        let Some((value, end)) = starts.then(|| number_at(text, at)).flatten() else {
            at += 1;
            continue;
        };
        let (label, device) = label_before(text.get(..at).unwrap_or(""));
        let start = at;
        at = end.max(at + 1);
        let percent = text.get(end..).is_some_and(|rest| rest.starts_with('%') && !rest.starts_with("%|"));
        let (unit, value, end) = if percent {
            (Unit::Percent, value, end + 1)
        } else if let Some((unit, end)) = unit_at(text, end) {
            let end = total_at(text, end).map_or(end, |(_, end)| end);
            (Unit::Bytes, value * unit, end)
        } else if let Some((unit, end)) = total_at(text, end) {
            (Unit::Bytes, value * unit, end)
        } else {
            (Unit::Things, value, end)
        };
        let after = text.get(end..).unwrap_or("");
        at = end.max(at);
        let word: String =
            after.trim_start().chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        // `request: 4245MB Available: 3788MB`: a word with a colon belongs to the figure behind it.
        let heads = after.trim_start().get(word.len()..).is_some_and(|rest| rest.starts_with([':', '=']));
        let word = if heads { String::new() } else { word };
        let free = [label.as_str(), word.as_str()].iter().any(|said| {
            ["free", "avail", "available", "left", "remaining"].iter().any(|f| said.split([' ', '_']).any(|w| w == *f))
        });
        let wanted = match unit {
            Unit::Bytes => !has(&label, NO_MEMORY) && !has(&word, NO_MEMORY),
            Unit::Percent => value <= 100.0 && (has(&label, MEMORY) || of_memory(after)),
            Unit::Things => has(&label, KEPT) && !after.starts_with(['/', ':']) && start > 0,
        };
        if wanted
            && value.is_finite()
            && !found.iter().any(|f| f.label == label && f.unit == unit && f.device == device)
        {
            found.push(Figure { label, device, unit, free, value, after });
        }
    }
    found.retain(|figure| figure.unit != Unit::Things || !figure.after.starts_with("ms"));
    found
}

/// The one or two words that stand before a figure, in lower case, and the device that they number: `cache size`,
/// `gpu0` (device 0), `GPU 1:`.
fn label_before(before: &str) -> (String, Option<u32>) {
    let separators =
        |c: char| matches!(c, ' ' | '\t' | '=' | ':' | '(' | '[' | '{' | '|' | '"' | '\'' | '-' | '<' | '~');
    let mut words: Vec<String> = Vec::new();
    let mut device = None;
    let mut rest = before.trim_end_matches(separators);
    while words.len() < 2 {
        let start = rest.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '/')).map_or(0, |at| at + 1);
        // A character of several bytes ends a word as well.
        let Some(word) = rest.get(start..).or_else(|| rest.split(|c: char| !c.is_ascii()).next_back()) else { break };
        if word.is_empty() {
            break;
        }
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let number: Option<u32> = word.get(name.len()..).and_then(|digits| digits.parse().ok());
        // `162.4ms`, `0x7f`: a figure of its own, which is another one on each line.
        if name.bytes().any(|byte| byte.is_ascii_digit()) {
            break;
        }
        let lower = name.to_ascii_lowercase();
        if words.is_empty() && device.is_none() && number.is_some() {
            let own = matches!(lower.as_str(), "gpu" | "cuda" | "card" | "device" | "dev" | "npu" | "xpu");
            let above = rest.get(..start).unwrap_or("").trim_end_matches(separators).to_ascii_lowercase();
            let named = lower.is_empty() && ["gpu", "cuda", "device", "card", "npu"].iter().any(|n| above.ends_with(n));
            if own || named {
                device = number;
            }
        }
        if !lower.is_empty() {
            words.push(lower);
        }
        let cut = rest.get(..start).unwrap_or("");
        rest = cut.trim_end_matches(separators);
        // Another sentence or column.
        if cut.trim_end().ends_with([',', ';', '|', ')', ']']) || cut.ends_with(|c: char| !c.is_ascii()) {
            break;
        }
    }
    words.reverse();
    (words.join(" "), device)
}

/// Whether a line announces a pool that is taken whole, and whether that is a cache of keys and values.
fn announces_pool(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["kv cache", "kv-cache", "kv_cache", "key/value cache", "kvcache"]) {
        return Some(true);
    }
    if makes_a_device_of_tensorflow(text) {
        return Some(false);
    }
    (says(&["reserving", "pre-allocat", "preallocat", "workspace", "memory pool", "arena of", "memory arena"])
        && !says(&["by pytorch"]))
    .then_some(false)
}

/// `Created device /job:localhost/replica:0/task:0/device:GPU:0 with 14113 MB memory` (gpu_device.cc, 2.x), `Created
/// TensorFlow device (…` (1.x).
fn makes_a_device_of_tensorflow(text: &str) -> bool {
    let made = ["Created device /job:", "Created TensorFlow device ("].iter().any(|words| text.contains(words));
    made && text.contains("GPU:") && text.contains(" MB memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    fn one(text: &str) -> Vec<(String, Unit, bool, f64)> {
        figures(text).into_iter().map(|f| (f.label, f.unit, f.free, f.value)).collect()
    }

    #[test]
    fn figures_are_known_by_the_words_beside_them() {
        let gib = GIB as f64;
        assert_eq!(
            one("iter 3: loss 0.2, time 74.6ms, footprint 6.5G"),
            [("footprint".into(), Unit::Bytes, false, 6.5 * gib)]
        );
        assert_eq!(
            one("iter 2: time 161.82ms, 2.5 of 12.0 GiB free"),
            [("ms".into(), Unit::Bytes, true, 2.5 * gib)].map(|(_, u, f, v): (String, _, _, _)| ("".into(), u, f, v))
        );
        assert_eq!(one("gpu 63.5%"), [("gpu".into(), Unit::Percent, false, 63.5)]);
        assert_eq!(one("processed 80, cache size 81"), [("cache size".into(), Unit::Things, false, 81.0)]);
        assert_eq!(one("block 17: 512 MiB of vectors"), [("block".into(), Unit::Bytes, false, 0.5 * gib)]);
        assert_eq!(one("[0] 40C,   0 % | 2048 / 8192 MB |").last().map(|f| f.3), Some(2.0 * gib));
        assert_eq!(
            one("Downloading model: 3.2 GB at 80 MB/s"),
            [("downloading model".into(), Unit::Bytes, false, 3.2 * gib)][1..]
        );
        assert_eq!(one("step 7/40 [00:01<00:02] 12% done"), []);
        // A word with a colon belongs to the figure behind it, and a request is nothing in use.
        assert_eq!(
            one("Tactic Device request: 4096MB Available: 2048MB. Not enough"),
            [("available".into(), Unit::Bytes, true, 2.0 * gib)]
        );
    }

    #[test]
    fn devices_on_one_line_are_told_apart() {
        let mut trends = Trends::default();
        trends.take("step 3 gpu0=12.5G gpu1=0.0G", 7, None);
        trends.take("GPU 0: 20.0GiB GPU 1: 0.1GiB", 9, None);
        let (line, cards) = trends.cards(1, 20).unwrap();
        assert_eq!((line, cards.iter().map(|card| card.0).collect::<Vec<_>>()), (9, vec![0, 1]));
        assert_eq!(trends.cards(1, 9).unwrap().1[0].1, 12.5 * GIB as f64);
    }

    #[test]
    fn announced_pools_are_kept() {
        let mut trends = Trends::default();
        trends.take("Allocating KV cache for 500000 tokens: 30.5 GiB", 3, None);
        trends.take("reserving a workspace of 9.5 GiB", 4, None);
        trends.take("Of this, 9.5 GiB is allocated", 5, None);
        let pools = trends.pools(1, 9);
        assert_eq!(pools.iter().map(|pool| pool.of_keys_and_values).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_was_watched_beside_a_log_is_told_by_its_name() {
        let gib = GIB as f64;
        let row = |text| row_of_a_service(text).map(|(name, bytes)| (name, bytes / gib));
        assert_eq!(row("ingest-6f5c7d98bb-x2m4k   24m   1536Mi"), Some(("ingest-6f5c7d98bb-x2m4k".into(), 1.5)));
        assert_eq!(row("ocr 1.50GiB / 8GiB 18.75%"), Some(("ocr".into(), 1.5)));
        assert_eq!(
            row("8ad3c0f61b7e   web   2.91%   1.5GiB / 31.2GiB   4.81%   3GB / 4MB"),
            Some(("8ad3c0f61b7e web".into(), 1.5))
        );
        assert_eq!(row("step 24m 1536Mi: done"), None);
        assert_eq!(row("|  0%   48C    P8   14W / 170W |    131MiB / 12288MiB |      0%      Default |"), None);
        assert_eq!(row("copied 1.5GiB / 8GiB 18 %"), None);
        let mut trends = Trends::default();
        let lines = ["$ while sleep 60; do date +%T; ps -o rss= -p 7; done | paste - -", "10:00:07 1204416"];
        let read = ["10:01:07 1719120", "10:02:07 2217368", "10:03:07 2750204", "x", "10:04:07 done"];
        lines.iter().chain(&read).zip(1..).for_each(|(text, line)| trends.take(text, line, None));
        let found = trends.between(40, 50, None);
        assert_eq!(found.iter().map(|trend| trend.samples.len()).collect::<Vec<_>>(), [4], "wherever the message is");
        assert!(found[0].of_host() && found[0].series().growth().unwrap().confidence > 0.5);
        let mut other = Trends::default();
        ["10:00:07 1204416", "10:01:07 1719120", "10:02:07 2217368"]
            .iter()
            .zip(1..)
            .for_each(|(t, l)| other.take(t, l, None));
        assert_eq!(other.between(1, 9, None), [], "numbers that nobody names");
    }

    #[test]
    fn what_rises_under_any_name_grows() {
        let mut trends = Trends::default();
        for i in 0..8u64 {
            trends.take(&format!("batch {i} ok, {}.5 of 16.0 GiB free, {} kept", 14 - i, 3 * i), i + 1, None);
        }
        let found = trends.between(1, 20, None);
        let free = found.iter().find(|trend| trend.free).unwrap();
        assert!(free.series().growth().unwrap().confidence > 0.5);
    }
}
