//! `PYTORCH_CUDA_ALLOC_CONF` as each version reads it.
//!
//! Up to 2.9 one parser checks every separator and knows only its own keys; from 2.10 on a tokenizer shared with other
//! accelerators skips separators unseen. Both keep what stood before the first mistake.

use super::version::Version;
use super::{LARGE_SEGMENT, QUANTUM};
use crate::text;
use crate::text::Text;
use crate::units::MIB;

/// Sizes from 2^20 on have a bucket each in the table of roundup divisions, up to 2^35.
const BUCKETS: usize = 16;
const FIRST_BUCKET: u32 = 20;

/// Which allocator serves requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    #[default]
    Native,
    /// `cudaMallocAsync`: the driver's own pools.
    MallocAsync,
}

/// Address space of an expandable segment, 2.15+.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reserve {
    /// Share of the device's memory.
    Fraction(f64),
    Bytes(u64),
}

impl Reserve {
    /// Bytes on a device of `total` bytes.
    pub fn bytes(self, total: u64) -> u64 {
        match self {
            Reserve::Fraction(fraction) => (fraction * total as f64) as u64,
            Reserve::Bytes(bytes) => bytes,
        }
    }
}

/// What can be set. Options without a field change nothing that a simulation shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub backend: Backend,
    pub expandable_segments: bool,
    /// Blocks of at least this many bytes are not split and serve only large requests. `None`: no limit.
    pub max_split_size: Option<u64>,
    /// How much larger than a request an unsplit block may be, bytes. `None`: one large segment.
    pub max_non_split_rounding: Option<u64>,
    /// Share of the memory limit above which cached segments are given back; `None` when off.
    pub garbage_collection_threshold: Option<f64>,
    /// Share of the device that may be reserved, 2.10+. Read when the allocator starts.
    pub per_process_memory_fraction: Option<f64>,
    /// Segment for requests of 1 to 10 MiB and granule of expandable segments, bytes; 2.11+.
    pub large_segment_size: u64,
    pub throw_on_cudamalloc_oom: bool,
    pub expandable_segments_reserve: Option<Reserve>,
    roundup_divisions: [u64; BUCKETS],
    rounds_up: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            backend: Backend::Native,
            expandable_segments: false,
            max_split_size: None,
            max_non_split_rounding: None,
            garbage_collection_threshold: None,
            per_process_memory_fraction: None,
            large_segment_size: LARGE_SEGMENT,
            throw_on_cudamalloc_oom: false,
            expandable_segments_reserve: None,
            roundup_divisions: [0; BUCKETS],
            rounds_up: false,
        }
    }
}

/// Where PyTorch runs, as far as options depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TorchPlatform {
    #[default]
    Linux,
    Windows,
    /// Linux inside Windows.
    Wsl,
    Rocm,
}

/// Something worth telling about a setting that PyTorch accepted, or the reason why it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The option it is about; empty for the text as a whole.
    pub option: String,
    pub text: Text,
    /// PyTorch refuses to start with this.
    pub fatal: bool,
}

/// A setting that PyTorch refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// PyTorch's words.
    pub message: String,
    pub remark: Remark,
}

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Backend,
    Bool,
    MaxSplitSize,
    NonSplitRounding,
    CollectionThreshold,
    MemoryFraction,
    LargeSegment,
    Divisions,
    RegisterThreads,
    ReserveSegment,
    /// Whole MiB.
    Mebibytes,
    Reserve,
    ReserveList,
}

/// An option as PyTorch documents or reads it.
#[derive(Debug)]
pub struct OptionRule {
    pub key: &'static str,
    /// First release that accepts it.
    pub since: (u16, u16),
    pub kind: ValueKind,
    pub values: &'static str,
    pub default: &'static str,
    pub effect: fn() -> Text,
}

/// Every option, in the order in which it is documented.
pub const OPTIONS: &[OptionRule] = &[
    OptionRule {
        key: "backend",
        since: (2, 0),
        kind: ValueKind::Backend,
        values: "native, cudaMallocAsync",
        default: "native",
        effect: || {
            Text::new(
                "Which allocator serves requests. `cudaMallocAsync` leaves pooling to the driver; the options that \
                 only the native allocator knows are then ignored.",
                "由哪个分配器处理请求。`cudaMallocAsync` 把内存池交给驱动管理，此时仅 native 分配器支持的选项都会被忽\
                 略。",
            )
        },
    },
    OptionRule {
        key: "expandable_segments",
        since: (2, 1),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new(
                "Reserves one range of addresses per stream and pool and maps physical memory below it, 20 MiB at a \
                 time. Ends most fragmentation: holes are given back and used elsewhere. Without effect on Windows and \
                 ROCm builds.",
                "为每个流和内存池保留一段连续地址，并按 20 MiB 映射物理内存。能消除大部分碎片化：空洞会归还并用于别处。\
                 在 Windows 与 ROCm 构建上无效。",
            )
        },
    },
    OptionRule {
        key: "max_split_size_mb",
        since: (1, 10),
        kind: ValueKind::MaxSplitSize,
        values: "MiB, more than 20 (2.10+: at least large_segment_size_mb)",
        default: "unlimited",
        effect: || {
            Text::new(
                "Blocks of at least this size are not split and serve only requests that nearly fill them. Large \
                 blocks stay whole, but smaller requests can no longer use them, so that \
                 reserved memory can also grow.",
                "不小于该值的块不再拆分，只服务于几乎能填满它的请求。大块得以保持完整，但较小的请求无法再使用它们，\
                 保留的显存也可能因此增加。",
            )
        },
    },
    OptionRule {
        key: "max_non_split_rounding_mb",
        since: (2, 6),
        kind: ValueKind::NonSplitRounding,
        values: "MiB, more than 20 (2.10+: at least large_segment_size_mb)",
        default: "20",
        effect: || {
            Text::new(
                "How much larger than the request an unsplit block may be. Matters only with `max_split_size_mb`.",
                "未拆分的块最多可比请求大多少。仅在设置 `max_split_size_mb` 时有意义。",
            )
        },
    },
    OptionRule {
        key: "roundup_power2_divisions",
        since: (1, 12),
        kind: ValueKind::Divisions,
        values: "a power of two, or a list such as [256:1,512:2,>:8] in MiB (2.0+)",
        default: "off",
        effect: || {
            Text::new(
                "Rounds requests up to one of so many steps between two powers of two: fewer distinct sizes, more \
                 reuse, \
                 some waste inside blocks.",
                "把请求向上取整到两个 2 的幂之间的若干等分之一：不同大小更少、复用更多，但块内会有浪费。",
            )
        },
    },
    OptionRule {
        key: "garbage_collection_threshold",
        since: (1, 12),
        kind: ValueKind::CollectionThreshold,
        values: "above 0 and below 1",
        default: "off",
        effect: || {
            Text::new(
                "Gives cached segments back by age once reserved memory exceeds this share of the limit. Works only \
                 with a memory fraction (2.10+: below 1).",
                "当保留的显存超过上限的这一比例时，按闲置时间归还缓存段。只有设置了显存占比上限才生效（2.10 起须小于 \
                 1）。",
            )
        },
    },
    OptionRule {
        key: "per_process_memory_fraction",
        since: (2, 10),
        kind: ValueKind::MemoryFraction,
        values: "0 to 1",
        default: "1",
        effect: || {
            Text::new(
                "Most of the device's memory that the allocator may reserve. The CUDA context and libraries come on \
                 top.",
                "分配器最多可保留的显存占比。CUDA 上下文与各库的占用另计。",
            )
        },
    },
    OptionRule {
        key: "large_segment_size_mb",
        since: (2, 11),
        kind: ValueKind::LargeSegment,
        values: "MiB, more than 10",
        default: "20",
        effect: || {
            Text::new(
                "Segment for requests of 1 to 10 MiB and granule of expandable segments.",
                "1 到 10 MiB 请求所用段的大小，也是可扩展段的映射粒度。",
            )
        },
    },
    OptionRule {
        key: "throw_on_cudamalloc_oom",
        since: (2, 12),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new(
                "Refuses at once a request that would exceed the limit, without giving cached memory back first.",
                "请求会超过上限时立即拒绝，而不先归还缓存的显存。",
            )
        },
    },
    OptionRule {
        key: "expandable_segments_reserve",
        since: (2, 15),
        kind: ValueKind::Reserve,
        values: "a fraction such as 0.5 or a size such as 40G",
        default: "9/8 of the device",
        effect: || {
            Text::new(
                "Addresses that one expandable segment reserves. A request larger than this can never be served.",
                "每个可扩展段保留的地址空间。大于它的请求永远无法满足。",
            )
        },
    },
    OptionRule {
        key: "expandable_segments_reserve_by_class",
        since: (2, 15),
        kind: ValueKind::ReserveList,
        values: "[name:value,…]",
        default: "empty",
        effect: || Text::new("The same for classes of streams.", "同上，但按流的类别分别设置。"),
    },
    OptionRule {
        key: "graph_capture_record_stream_reuse",
        since: (2, 9),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new(
                "Reuses memory that several streams used while a CUDA graph is still being captured.",
                "在 CUDA Graph 捕获期间就复用被多个流使用过的显存。",
            )
        },
    },
    OptionRule {
        key: "release_lock_on_cudamalloc",
        since: (2, 2),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new(
                "Lets other threads allocate while one waits for the driver.",
                "一个线程等待驱动时允许其他线程分配。",
            )
        },
    },
    OptionRule {
        key: "pinned_use_cuda_host_register",
        since: (2, 2),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new(
                "Pins ordinary host memory instead of asking for pinned memory.",
                "改为锁定普通主机内存，而不是直接申请锁页内存。",
            )
        },
    },
    OptionRule {
        key: "pinned_num_register_threads",
        since: (2, 2),
        kind: ValueKind::RegisterThreads,
        values: "a power of two, at most 128",
        default: "1",
        effect: || Text::new("Threads that pin host memory.", "锁定主机内存所用的线程数。"),
    },
    OptionRule {
        key: "pinned_use_background_threads",
        since: (2, 6),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new("Polls the events of pinned memory in the background.", "在后台线程中轮询锁页内存的事件。")
        },
    },
    OptionRule {
        key: "pinned_reserve_segment_size_mb",
        since: (2, 10),
        kind: ValueKind::ReserveSegment,
        values: "MiB, more than 0",
        default: "0",
        effect: || {
            Text::new("Pinned host memory taken at once and never given back.", "一次性申请且不再归还的锁页内存。")
        },
    },
    OptionRule {
        key: "pinned_free_catch_all",
        since: (2, 12),
        kind: ValueKind::Bool,
        values: "True, False",
        default: "False",
        effect: || {
            Text::new(
                "Keeps errors while freeing pinned memory from ending the program.",
                "释放锁页内存出错时不终止程序。",
            )
        },
    },
    OptionRule {
        key: "pinned_max_round_threshold_mb",
        since: (2, 13),
        kind: ValueKind::Mebibytes,
        values: "MiB",
        default: "unlimited",
        effect: || {
            Text::new(
                "Above this, pinned memory is not rounded to a power of two.",
                "大于此值的锁页内存不再向上取整到 2 的幂。",
            )
        },
    },
    OptionRule {
        key: "pinned_max_cached_size_mb",
        since: (2, 13),
        kind: ValueKind::Mebibytes,
        values: "MiB",
        default: "unlimited",
        effect: || Text::new("Above this, pinned memory is not cached.", "大于此值的锁页内存不进入缓存。"),
    },
];

/// The rule of a key.
pub fn option(key: &str) -> Option<&'static OptionRule> {
    OPTIONS.iter().find(|rule| rule.key == key)
}

impl Config {
    /// The same, sizes rounded as by the other.
    pub(crate) fn with_rounding_of(&self, other: &Config) -> Config {
        Config { roundup_divisions: other.roundup_divisions, rounds_up: other.rounds_up, ..self.clone() }
    }

    /// Reads a whole setting.
    ///
    /// # Errors
    /// When this version refuses it, with its own words and ours.
    pub fn parse(text: &str, version: Version, platform: TorchPlatform) -> Result<(Config, Vec<Remark>), ParseError> {
        let mut config = Config::default();
        let keys = config.apply(text, version)?;
        if matches!(platform, TorchPlatform::Windows | TorchPlatform::Rocm) {
            config.expandable_segments = false;
        }
        let remarks = remarks_on(&config, &keys, version, platform);
        Ok((config, remarks))
    }

    /// Sets what `text` says. Every call first resets the split limit, the rounding and the collection threshold, from
    /// 2.11 on also the rounding of unsplit blocks, as PyTorch does. Gives the keys that it set.
    ///
    /// # Errors
    /// At the first mistake; what stood before it is set.
    pub fn apply(&mut self, text: &str, version: Version) -> Result<Vec<&'static str>, ParseError> {
        self.max_split_size = None;
        self.roundup_divisions = [0; BUCKETS];
        self.rounds_up = false;
        self.garbage_collection_threshold = None;
        if version.from(2, 11) {
            self.max_non_split_rounding = None;
        }
        Reader { tokens: tokens(text, version), at: 0, strict: !version.from(2, 10), version }.read(self)
    }

    /// Divisions for a request of `bytes`, 0 where it is not rounded.
    #[inline]
    pub fn divisions(&self, bytes: u64) -> u64 {
        if !self.rounds_up || bytes < QUANTUM {
            return 0;
        }
        let bucket = bytes.ilog2().saturating_sub(FIRST_BUCKET) as usize;
        self.roundup_divisions[bucket.min(BUCKETS - 1)]
    }

    /// How much larger than the request an unsplit block may be, bytes.
    #[inline]
    pub fn rounding_limit(&self) -> u64 {
        self.max_non_split_rounding.unwrap_or(self.large_segment_size)
    }
}

fn tokens(text: &str, version: Version) -> Vec<String> {
    let skipped = |c: char| if version.from(2, 10) { c.is_ascii_whitespace() } else { c == ' ' };
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if matches!(c, ',' | ':' | '[' | ']') {
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            tokens.push(c.to_string());
        } else if !skipped(c) {
            word.push(c);
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
    /// Separators are checked.
    strict: bool,
    version: Version,
}

impl Reader {
    fn read(&mut self, config: &mut Config) -> Result<Vec<&'static str>, ParseError> {
        self.large_segment_first(config)?;
        let mut keys = Vec::new();
        while let Some(key) = self.tokens.get(self.at).cloned() {
            let rule = option(&key).filter(|rule| self.version.from(rule.since.0, rule.since.1));
            let Some(rule) = rule else { return Err(self.unknown(&key)) };
            self.separator(rule, ":")?;
            self.value(rule, config)?;
            keys.push(rule.key);
            self.at += 1;
            if self.at < self.tokens.len() {
                if self.strict && self.tokens[self.at] != "," {
                    return Err(self.expected(rule, ","));
                }
                self.at += 1;
            }
        }
        Ok(keys)
    }

    /// Limits of other options depend on the segment size, which PyTorch therefore reads before them.
    fn large_segment_first(&mut self, config: &mut Config) -> Result<(), ParseError> {
        let known =
            |rule: &&OptionRule| rule.kind == ValueKind::LargeSegment && self.version.from(rule.since.0, rule.since.1);
        let Some(rule) = OPTIONS.iter().find(known) else { return Ok(()) };
        for at in 0..self.tokens.len() {
            if self.tokens[at] == rule.key {
                self.at = at;
                self.separator(rule, ":")?;
                self.value(rule, config)?;
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Steps over a separator that stands at the next place.
    fn separator(&mut self, rule: &OptionRule, separator: &str) -> Result<(), ParseError> {
        self.at += 1;
        match self.tokens.get(self.at) {
            Some(token) if token == separator => Ok(()),
            _ if self.strict => Err(self.expected(rule, separator)),
            Some(_) => Ok(()),
            None => Err(self.out_of_bounds(rule)),
        }
    }

    /// The next token.
    fn next(&mut self, rule: &OptionRule) -> Result<String, ParseError> {
        self.at += 1;
        match self.tokens.get(self.at) {
            Some(token) => Ok(token.clone()),
            None if self.strict => Err(self.fails(rule, format!("Error, expecting {} value", rule.key), missing(rule))),
            None => Err(self.out_of_bounds(rule)),
        }
    }

    fn value(&mut self, rule: &'static OptionRule, config: &mut Config) -> Result<(), ParseError> {
        match rule.kind {
            ValueKind::Backend => {
                let name = self.next(rule)?;
                config.backend = match name.as_str() {
                    "native" => Backend::Native,
                    "cudaMallocAsync" => Backend::MallocAsync,
                    _ => {
                        let message = "Unknown allocator backend, options are native and cudaMallocAsync".into();
                        return Err(self.fails(rule, message, bad_value(rule, &name)));
                    }
                };
            }
            ValueKind::Bool => {
                let value = self.boolean(rule)?;
                match rule.key {
                    "expandable_segments" => config.expandable_segments = value,
                    "throw_on_cudamalloc_oom" => config.throw_on_cudamalloc_oom = value,
                    _ => {}
                }
            }
            ValueKind::MaxSplitSize => {
                let mebibytes = self.mebibytes(rule)?;
                self.at_least_a_segment(rule, mebibytes, config)?;
                config.max_split_size = Some(mebibytes.min(u64::MAX / MIB) * MIB);
            }
            ValueKind::NonSplitRounding => {
                let mebibytes = self.mebibytes(rule)?;
                self.at_least_a_segment(rule, mebibytes, config)?;
                config.max_non_split_rounding = Some(mebibytes.min(u64::MAX / MIB) * MIB);
            }
            ValueKind::CollectionThreshold => {
                let value = self.number(rule)?;
                if !(value > 0.0 && value < 1.0) {
                    let message = if !self.strict {
                        "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"
                    } else if value > 0.0 {
                        "garbage_collect_threshold too big, set it 0.0~1.0"
                    } else {
                        "garbage_collect_threshold too small, set it 0.0~1.0"
                    };
                    return Err(self.fails(rule, message.into(), bad_value(rule, &self.tokens[self.at].clone())));
                }
                config.garbage_collection_threshold = Some(value);
            }
            ValueKind::MemoryFraction => {
                let value = self.number(rule)?;
                if !(0.0..=1.0).contains(&value) {
                    let message = "per_process_memory_fraction is invalid, set it in [0.0, 1.0]".into();
                    return Err(self.fails(rule, message, bad_value(rule, &self.tokens[self.at].clone())));
                }
                config.per_process_memory_fraction = Some(value);
            }
            ValueKind::LargeSegment => {
                let mebibytes = self.mebibytes(rule)?;
                if mebibytes <= 10 {
                    let message = "CachingAllocator option large_segment_size_mb must be > 10 MB".into();
                    return Err(self.fails(rule, message, bad_value(rule, &mebibytes.to_string())));
                }
                config.large_segment_size = mebibytes.min(u64::MAX / MIB) * MIB;
            }
            ValueKind::Divisions => self.divisions(rule, config)?,
            ValueKind::RegisterThreads => {
                let threads = self.integer(rule)?;
                if !threads.is_power_of_two() {
                    let message = if self.strict {
                        "Number of register threads has to be power of 2 ".into()
                    } else {
                        format!("Number of register threads has to be power of 2, got {threads}")
                    };
                    return Err(self.fails(rule, message, bad_value(rule, &threads.to_string())));
                }
                if threads > 128 {
                    let message = if self.strict {
                        "Number of register threads should be less than or equal to 128".into()
                    } else {
                        format!("Number of register threads should be less than or equal to 128, got {threads}")
                    };
                    return Err(self.fails(rule, message, bad_value(rule, &threads.to_string())));
                }
            }
            ValueKind::ReserveSegment => {
                if self.integer(rule)? == 0 {
                    let message = "Pinned reserve segment size has to be greater than 0".into();
                    return Err(self.fails(rule, message, bad_value(rule, "0")));
                }
            }
            ValueKind::Mebibytes => {
                self.integer(rule)?;
            }
            ValueKind::Reserve => {
                let value = self.next(rule)?;
                // PyTorch warns about a value that it cannot read, and keeps what it had.
                config.expandable_segments_reserve = reserve(&value).or(config.expandable_segments_reserve);
            }
            ValueKind::ReserveList => self.skip_list(rule)?,
        }
        Ok(())
    }

    fn boolean(&mut self, rule: &'static OptionRule) -> Result<bool, ParseError> {
        self.at += 1;
        let found = self.tokens.get(self.at).cloned();
        match found.as_deref() {
            Some("True") => Ok(true),
            Some("False") => Ok(false),
            _ if self.strict => {
                let message = format!("Expected a single True/False argument for {}", rule.key);
                Err(self.fails(rule, message, bad_value(rule, found.as_deref().unwrap_or_default())))
            }
            Some(other) => {
                let message =
                    format!("Expected 'True' or 'False' at index {} in ConfigTokenizer but got '{other}'", self.at);
                Err(self.fails(rule, message, bad_value(rule, other)))
            }
            None => Err(self.out_of_bounds(rule)),
        }
    }

    /// A whole number as `std::stoi` or `std::stoull` reads it: digits up to the first other character, a minus sign
    /// wraps.
    fn integer(&mut self, rule: &'static OptionRule) -> Result<u64, ParseError> {
        let token = self.next(rule)?;
        let (negative, digits) = match token.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, token.strip_prefix('+').unwrap_or(&token)),
        };
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let most = if self.strict { i32::MAX as u64 } else { u64::MAX };
        match digits[..end].parse::<u64>() {
            Ok(n) if n <= most => Ok(if negative { n.wrapping_neg() } else { n }),
            _ => {
                let message = if self.strict { "stoi" } else { "stoull" }.into();
                Err(self.fails(rule, message, bad_value(rule, &token)))
            }
        }
    }

    fn mebibytes(&mut self, rule: &'static OptionRule) -> Result<u64, ParseError> {
        self.integer(rule)
    }

    fn number(&mut self, rule: &'static OptionRule) -> Result<f64, ParseError> {
        let token = self.next(rule)?;
        let end = token
            .char_indices()
            .find(|(_, c)| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E')))
            .map_or(token.len(), |(i, _)| i);
        match token[..end].parse::<f64>() {
            Ok(n) => Ok(n),
            Err(_) => Err(self.fails(rule, "stod".into(), bad_value(rule, &token))),
        }
    }

    fn at_least_a_segment(&self, rule: &'static OptionRule, mebibytes: u64, config: &Config) -> Result<(), ParseError> {
        let (enough, least, sign) = if self.version.from(2, 10) {
            let least = config.large_segment_size / MIB;
            (mebibytes >= least, least, ">=")
        } else {
            (mebibytes > 20, 20, ">")
        };
        if enough {
            return Ok(());
        }
        let message = format!("CachingAllocator option {} too small, must be {sign} {least}", rule.key);
        Err(self.fails(rule, message, bad_value(rule, &mebibytes.to_string())))
    }

    fn divisions(&mut self, rule: &'static OptionRule, config: &mut Config) -> Result<(), ParseError> {
        let first = self.next(rule)?;
        if first != "[" {
            self.at -= 1;
            let divisions = self.integer(rule)?;
            if !divisions.is_power_of_two() {
                let message = "For roundups, the divisions has to be power of 2 ".into();
                return Err(self.fails(rule, message, bad_value(rule, &first)));
            }
            config.roundup_divisions = [divisions; BUCKETS];
            config.rounds_up = true;
            return Ok(());
        }
        let mut last = None;
        loop {
            self.at += 1;
            let Some(key) = self.tokens.get(self.at).cloned() else {
                let message = if self.strict {
                    "Error parsing roundup_power2_divisions value".into()
                } else {
                    "Expected closing bracket ']' in ConfigTokenizer but reached end of config".into()
                };
                return Err(self.fails(rule, message, missing(rule)));
            };
            if key == "]" {
                return Ok(());
            }
            self.separator(rule, ":")?;
            let divisions = self.integer(rule)?;
            if divisions != 0 && !divisions.is_power_of_two() {
                let message = "For roundups, the divisions has to be power of 2 or 0 to disable roundup ".into();
                return Err(self.fails(rule, message, bad_value(rule, &divisions.to_string())));
            }
            config.rounds_up |= divisions > 0;
            if key == ">" {
                let above = usize::from(self.version.from(2, 10) && last.is_some());
                for bucket in config.roundup_divisions.iter_mut().skip(last.unwrap_or(0) + above) {
                    *bucket = divisions;
                }
            } else {
                let size: Option<u64> = key.parse().ok();
                let Some(size) = size.filter(|size| size.is_power_of_two()) else {
                    let message = "For roundups, the intervals have to be power of 2 ".into();
                    return Err(self.fails(rule, message, bad_value(rule, &key)));
                };
                let bucket = (size.ilog2() as usize).min(BUCKETS - 1);
                if last.is_none() {
                    config.roundup_divisions[..bucket].fill(divisions);
                }
                config.roundup_divisions[bucket] = divisions;
                last = Some(bucket);
            }
            if self.tokens.get(self.at + 1).is_some_and(|token| token != "]") {
                self.separator(rule, ",")?;
            }
        }
    }

    /// Steps to the closing bracket of a list that nothing here reads.
    fn skip_list(&mut self, rule: &'static OptionRule) -> Result<(), ParseError> {
        while self.next(rule)? != "]" {}
        Ok(())
    }

    fn unknown(&self, key: &str) -> ParseError {
        let message = if self.strict {
            format!("Unrecognized CachingAllocator option: {key}")
        } else {
            format!("Unrecognized key '{key}' in CUDA allocator config.")
        };
        let text = match option(key) {
            Some(rule) => text!(
                en: "`{key}` exists from PyTorch {}.{} on; {} refuses it and does not start",
                zh: "`{key}` 从 PyTorch {}.{} 起才有；{} 会拒绝该选项并无法启动",
                rule.since.0, rule.since.1, self.version
            ),
            None => match nearest(key) {
                Some(near) => text!(
                    en: "PyTorch knows no option `{key}` and does not start with it; did you mean `{near}`?",
                    zh: "PyTorch 没有选项 `{key}`，带着它无法启动；是否想写 `{near}`？"
                ),
                None => text!(
                    en: "PyTorch knows no option `{key}` and does not start with it",
                    zh: "PyTorch 没有选项 `{key}`，带着它无法启动"
                ),
            },
        };
        ParseError { message, remark: Remark { option: key.to_string(), text, fatal: true } }
    }

    fn expected(&self, rule: &OptionRule, separator: &str) -> ParseError {
        let key = rule.key;
        let text = text!(
            en: "a `{separator}` is missing at `{key}`; the form is option:value,option:value",
            zh: "`{key}` 处缺少 `{separator}`；格式为 选项:值,选项:值"
        );
        self.fails(rule, format!("Error parsing CachingAllocator settings, expected {separator}"), text)
    }

    fn out_of_bounds(&self, rule: &OptionRule) -> ParseError {
        let message = "i < config_.size() INTERNAL ASSERT FAILED at \"AllocatorConfig.h\". Index out of bounds in \
                       ConfigTokenizer";
        self.fails(rule, message.into(), missing(rule))
    }

    fn fails(&self, rule: &OptionRule, message: String, text: Text) -> ParseError {
        ParseError { message, remark: Remark { option: rule.key.to_string(), text, fatal: true } }
    }
}

fn missing(rule: &OptionRule) -> Text {
    text!(
        en: "`{}` lacks its value ({}); PyTorch does not start with it",
        zh: "`{}` 缺少取值（{}）；PyTorch 带着它无法启动",
        rule.key, rule.values
    )
}

fn bad_value(rule: &OptionRule, value: &str) -> Text {
    text!(
        en: "`{}` does not take `{value}` but {}; PyTorch does not start with it",
        zh: "`{}` 不接受 `{value}`，应为：{}；PyTorch 带着它无法启动",
        rule.key, rule.values
    )
}

/// `0.5` or `40G`; `None` for what PyTorch ignores with a warning.
fn reserve(text: &str) -> Option<Reserve> {
    let (number, gibibytes) = match text.strip_suffix(['g', 'G']) {
        Some(number) => (number, true),
        None => (text, false),
    };
    let number: f64 = number.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)?;
    Some(if gibibytes { Reserve::Bytes((number * (1u64 << 30) as f64) as u64) } else { Reserve::Fraction(number) })
}

/// The key that a misspelt one most likely means.
fn nearest(key: &str) -> Option<&'static str> {
    let normal = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
    let wanted = normal(key);
    if wanted.len() < 4 {
        return None;
    }
    OPTIONS.iter().map(|rule| rule.key).find(|candidate| {
        let candidate = normal(candidate);
        candidate.starts_with(&wanted) || wanted.starts_with(&candidate)
    })
}

/// What users should know about accepted settings.
fn remarks_on(config: &Config, keys: &[&'static str], version: Version, platform: TorchPlatform) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut say = |option: &str, text: Text| remarks.push(Remark { option: option.into(), text, fatal: false });
    let has = |key: &str| keys.contains(&key);
    for key in OPTIONS.iter().map(|rule| rule.key) {
        if keys.iter().filter(|set| **set == key).nth(1).is_some() {
            say(key, text!(en: "`{key}` is set twice; the last one counts", zh: "`{key}` 设置了两次，以最后一次为准"));
        }
    }
    if has("expandable_segments") && platform == TorchPlatform::Windows {
        say(
            "expandable_segments",
            Text::new("expandable segments have no effect on Windows", "可扩展段在 Windows 上不起作用"),
        );
    }
    if has("expandable_segments") && platform == TorchPlatform::Rocm {
        say(
            "expandable_segments",
            Text::new("expandable segments are not built into ROCm releases", "ROCm 版本未编译可扩展段功能"),
        );
    }
    if config.expandable_segments && config.max_split_size.is_some() {
        say(
            "max_split_size_mb",
            if version.from(2, 5) {
                Text::new(
                    "with expandable segments `max_split_size_mb` no longer limits splitting, but still keeps smaller \
                     requests out of large free blocks: reserved memory can grow; better leave it out",
                    "启用可扩展段后，`max_split_size_mb` 不再限制拆分，却仍会阻止较小请求使用大的空闲块，\
                     保留的显存可能增加；建议去掉它",
                )
            } else {
                Text::new(
                    "expandable segments with `max_split_size_mb` end in an internal assertion instead of an \
                     out-of-memory error up to PyTorch 2.4",
                    "在 PyTorch 2.4 及更早版本中，可扩展段与 `max_split_size_mb` 同用会触发内部断言，而不是报显存不足",
                )
            },
        );
    }
    if config.garbage_collection_threshold.is_some()
        && config.per_process_memory_fraction.is_none_or(|fraction| fraction >= 1.0)
    {
        say(
            "garbage_collection_threshold",
            Text::new(
                "`garbage_collection_threshold` does nothing unless a memory fraction (from 2.10 on below 1) is set \
                 too",
                "除非同时设置显存占比上限（2.10 起须小于 1），`garbage_collection_threshold` 不起作用",
            ),
        );
    }
    if config.max_non_split_rounding.is_some() && config.max_split_size.is_none() {
        say(
            "max_non_split_rounding_mb",
            Text::new(
                "`max_non_split_rounding_mb` does nothing without `max_split_size_mb`",
                "没有 `max_split_size_mb` 时，`max_non_split_rounding_mb` 不起作用",
            ),
        );
    }
    if has("expandable_segments_reserve") && config.expandable_segments_reserve.is_none() {
        say(
            "expandable_segments_reserve",
            Text::new(
                "`expandable_segments_reserve` takes a fraction such as 0.5 or a size such as 40G; the default is used",
                "`expandable_segments_reserve` 应为 0.5 这样的比例或 40G 这样的大小；现使用默认值",
            ),
        );
    }
    if config.backend == Backend::MallocAsync {
        for key in keys.iter().filter(|key| native_only(key)) {
            say(
                key,
                text!(
                    en: "the backend cudaMallocAsync ignores `{key}`",
                    zh: "cudaMallocAsync 后端会忽略 `{key}`"
                ),
            );
        }
    }
    remarks
}

fn native_only(key: &str) -> bool {
    !key.starts_with("pinned_") && !matches!(key, "backend" | "per_process_memory_fraction")
}

/// What users should know about a setting found in a log: PyTorch's refusal, or remarks on what it accepted. An unknown
/// version is taken for the newest.
pub fn remarks(text: &str, version: Option<Version>, platform: TorchPlatform) -> Vec<Remark> {
    match Config::parse(text, version.unwrap_or(Version::NEWEST), platform) {
        Ok((_, remarks)) => remarks,
        Err(error) => vec![error.remark],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, minor: u16) -> Result<Config, String> {
        Config::parse(text, Version::new(2, minor), TorchPlatform::Linux)
            .map(|(config, _)| config)
            .map_err(|e| e.message)
    }

    #[test]
    fn options_appear_with_their_versions() {
        for rule in OPTIONS.iter().filter(|rule| rule.since.0 == 2 && rule.since.1 > 0) {
            let text = format!("{}:0", rule.key);
            let before = parse(&text, rule.since.1 - 1);
            assert!(before.is_err_and(|error| error.starts_with("Unrecognized")), "{}", rule.key);
            let since = parse(&text, rule.since.1);
            assert!(!since.is_err_and(|error| error.starts_with("Unrecognized")), "{}", rule.key);
        }
    }

    #[test]
    fn the_lists_of_divisions_changed_twice() {
        let list = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]";
        let at = |minor, mebibytes: u64| parse(list, minor).map(|config| config.divisions(mebibytes << 20));
        assert_eq!(at(9, 33), Ok(1));
        assert_eq!(at(9, 600), Ok(2));
        assert_eq!(at(9, 1100), Ok(8));
        assert_eq!(at(10, 1100), Ok(4));
        assert_eq!(at(10, 2100), Ok(8));
    }

    #[test]
    fn refusals_in_the_words_of_the_version() {
        let refused = |text, minor| parse(text, minor).expect_err("a refusal");
        assert_eq!(refused("expandable_segment:True", 9), "Unrecognized CachingAllocator option: expandable_segment");
        assert_eq!(
            refused("expandable_segment:True", 10),
            "Unrecognized key 'expandable_segment' in CUDA allocator config."
        );
        assert_eq!(
            refused("max_split_size_mb:20", 9),
            "CachingAllocator option max_split_size_mb too small, must be > 20"
        );
        assert!(parse("max_split_size_mb:20", 10).is_ok());
        assert_eq!(
            refused("large_segment_size_mb:10", 11),
            "CachingAllocator option large_segment_size_mb must be > 10 MB"
        );
        assert_eq!(parse("large_segment_size_mb:11", 11).map(|config| config.large_segment_size), Ok(11 << 20));
        assert_eq!(
            refused("expandable_segments:true", 15),
            "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'true'"
        );
        assert_eq!(refused("max_split_size_mb=128", 9), "Unrecognized CachingAllocator option: max_split_size_mb=128");
    }

    #[test]
    fn numbers_as_the_c_library_reads_them() {
        assert_eq!(parse("max_split_size_mb:20.5", 10).map(|config| config.max_split_size), Ok(Some(20 << 20)));
        assert_eq!(parse("max_split_size_mb: 128 , ", 10).map(|config| config.max_split_size), Ok(Some(128 << 20)));
        assert!(parse("max_split_size_mb:-1", 10).is_ok_and(|config| config.max_split_size > Some(1 << 60)));
        assert_eq!(parse("max_split_size_mb:many", 10), Err("stoull".to_string()));
        let threshold = |text: &str| parse(&format!("garbage_collection_threshold:{text}"), 9);
        assert_eq!(threshold("0.999").map(|config| config.garbage_collection_threshold), Ok(Some(0.999)));
        assert_eq!(threshold("1.0"), Err("garbage_collect_threshold too big, set it 0.0~1.0".to_string()));
        assert_eq!(threshold("0.0"), Err("garbage_collect_threshold too small, set it 0.0~1.0".to_string()));
    }

    #[test]
    fn every_setting_resets_three_options() {
        let mut config = parse("max_split_size_mb:64,expandable_segments:True", 11).unwrap_or_default();
        config.apply("max_non_split_rounding_mb:32", Version::new(2, 11)).expect("a good setting");
        assert_eq!((config.max_split_size, config.expandable_segments), (None, true));
    }

    #[test]
    fn remarks_tell_of_conflicts() {
        let about = |text, version, platform| -> Vec<String> {
            remarks(text, version, platform).into_iter().map(|remark| remark.option).collect()
        };
        assert_eq!(about("expandable_segments:True", None, TorchPlatform::Linux), Vec::<String>::new());
        assert_eq!(about("expandable_segments:True", None, TorchPlatform::Windows), ["expandable_segments"]);
        assert_eq!(
            about("garbage_collection_threshold:0.8", None, TorchPlatform::Linux),
            ["garbage_collection_threshold"]
        );
        let both = "expandable_segments:True,max_split_size_mb:64";
        assert_eq!(about(both, Some(Version::new(2, 4)), TorchPlatform::Linux), ["max_split_size_mb"]);
        assert!(
            remarks("expandable_segment:True", None, TorchPlatform::Linux)[0].text.en.contains("`expandable_segments`")
        );
    }
}
