//! Figures that any program prints of its own memory under a name that says what they are: the most that it came to
//! hold, a limit that it was given, what the machine has. Which program it is does not matter; the name's words do.

use super::pairs::{Pair, pairs};
use super::settings::{exact, sized};
use crate::dialect::Fact;
use crate::evidence::Span;
use crate::units::{self, Base, Figure, MIB};
use regex::Regex;
use std::sync::LazyLock;

/// Amounts kept at most, and bytes of a line that are read: a counter may be printed on every line.
const AMOUNTS_AT_MOST: usize = 512;
const READ: usize = 1024;
/// Lines before a failure and behind it in which what is free or in use is that of its moment.
const NEAR_BEFORE: u64 = 3;
const NEAR_BEHIND: u64 = 8;
/// Pairs of a line that are looked at.
const PAIRS_AT_MOST: usize = 16;

/// `peak memory usage (MB):   812.4`, `maximum resident set size of process: 3100 MB`, `max_rss 1204.5 MiB`. What is
/// "maximum memory" without a word of use is a limit.
static PEAK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?-u:\b)(?:
            (?:peak|high.water)[\ _-](?:[a-z]+[\ _-]){0,2}?(?:memory|mem|rss|resident|heap)
            | max(?:imum)?[\ _-](?:[a-z]+[\ _-])?
              (?:rss|resident|used[\ _-]mem(?:ory)?|allocated[\ _-]memory|memory[\ _-](?:used|usage))
        )
        (?:[\ _-](?:set|size|usage|used|use|allocated|consumption|of|process|mark|is|was))*
        [\ \t]*(?:\((?P<within>kb|mb|gb|kib|mib|gib|bytes|kbytes)\))?[\ \t]*[:=]?[\ \t]*
        (?P<number>[0-9][0-9.,]*)[\ \t]*(?P<unit>[kmgt]i?b(?-u:\b)|[kmgt](?-u:\b)|bytes(?-u:\b)|b(?-u:\b))?",
    )
    .ok()
});

/// `Total DRAM available = 15934 MB`, `-- total memory      65801234 kB`.
static TOTAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?-u:\b)total\ (?:system\ |physical\ |installed\ )?(?:memory|ram|dram)(?:\ available)?[\ \t]*[:=]?[\ \t]*
        (?P<number>[0-9][0-9.,]*)[\ \t]*(?P<unit>[kmgt]i?b)(?-u:\b)",
    )
    .ok()
});

/// `Detected 2058600448 bytes ram`
static DETECTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?-u:\b)detected\ (?P<number>[0-9][0-9.,]*)[\ \t]*(?P<unit>[kmgt]i?b|bytes)\ (?:of\ )?
        (?:system\ |physical\ )?(?:ram|memory)(?-u:\b)",
    )
    .ok()
});

/// `Free Heap Size: 7904 bytes`, `free heap: 58000`: a heap in bytes has no unit where it is a board's.
static FREE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?-u:\b)free\ (?:heap|ram|memory)(?:\ size)?[\ \t]*[:=][\ \t]*
        (?P<number>[0-9][0-9.,]*)[\ \t]*(?P<unit>[kmgt]i?b(?-u:\b)|bytes(?-u:\b)|b(?-u:\b))?[\ \t]*(?:[,;)]|$)",
    )
    .ok()
});

/// `memory limit set to 17179869184`, `hard memory limit of 19327352832`: a number without a unit is one of bytes.
/// `exceeded the memory limit of 4G`; LSF's `Total Requested Memory :    8192.00 MB`.
static LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?-u:\b)(?:
            memory\ (?:limit|request)\ (?:is\ |was\ )?(?:set\ )?(?:to|of|at)
            | total\ requested\ memory\ :
        )[\ \t]+(?P<number>[0-9][0-9.,]*)
        (?:[\ \t]*(?P<unit>[kmgt](?:i?b)?(?-u:\b)|bytes(?-u:\b)))?(?:[^0-9a-z_.,%]|$)",
    )
    .ok()
});

/// LSF's `    Max Memory :             3812 MB`, in the account of resources that it sends when a job has ended.
static LSF_PEAK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[\ \t]+max\ memory\ :[\ \t]+(?P<number>[0-9]+(?:\.[0-9]{2})?)[\ \t]*(?P<unit>[kmgt]b)[\ \t]*$").ok()
});

/// `heap: free 2048 of 65536 bytes`: what a heap has left, and its size.
static FREE_OF: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?-u:\b)free[\ \t]+(?P<free>[0-9]+)(?:[\ \t]*(?P<own>[kmgt]i?b|bytes))?[\ \t]+of[\ \t]+(?P<all>[0-9]+)[\ \t]*
        (?P<unit>[kmgt]i?b|bytes)(?-u:\b)",
    )
    .ok()
});

/// `RSS: 35.21GB | Peak: 35.40GB`, which Bun prints of itself, and other programs of theirs.
static RSS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        ^[\ \t]*rss:[\ \t]+(?P<rss>[0-9.]+)[\ \t]*(?P<of_rss>[kmgt]i?b)[\ \t]*[|,][\ \t]*
        peak:[\ \t]+(?P<peak>[0-9.]+)[\ \t]*(?P<of_peak>[kmgt]i?b)(?-u:\b)",
    )
    .ok()
});

/// Names that say what a number of bytes is, in front of `:` or `=` at the start of a line, with the unit of a number
/// that has none: what Redis and its kin tell of themselves, the kernel of what it has promised, and the JVM of the
/// heap that it has taken.
const NAMES: &[(&str, Fact, &str)] = &[
    ("used_memory", Fact::Used, "b"),
    ("committed_as", Fact::Used, "kib"),
    ("runtime.totalmemory()", Fact::Reserved, "b"),
    ("memsize", Fact::Limit, "b"),
];

/// Words that make a line one of a device's memory.
const OF_DEVICES: &[&str] = &["gpu", "cuda", "device", "vram", "video", "hbm", "npu"];

/// The amounts that lines told, in their order.
#[derive(Debug, Default)]
pub(super) struct Amounts {
    told: Vec<(Fact, Figure)>,
}

impl Amounts {
    /// Takes a line of the document.
    pub(super) fn take(&mut self, text: &str, line: u64, command: bool) {
        if self.told.len() < AMOUNTS_AT_MOST {
            self.told.extend(read(text.get(..READ).unwrap_or(text), line, command));
        }
    }

    /// What is told from one line on, up to another: of a peak the highest; of the rest what every line that tells it
    /// agrees on.
    pub(super) fn within(&self, first: u64, last: u64, failure: Span) -> Vec<(Fact, Figure)> {
        // What is free or in use changes from line to line: it counts where it is printed beside the failure.
        let changes = |fact: Fact| matches!(fact, Fact::Free | Fact::Used | Fact::Reserved | Fact::Process);
        let near = failure.first.saturating_sub(NEAR_BEFORE)..=failure.last.saturating_add(NEAR_BEHIND);
        let told = || {
            self.told.iter().filter(|(fact, figure)| {
                let at = figure.at.first;
                (first..=last).contains(&at) && (!changes(*fact) || near.contains(&at))
            })
        };
        let of = |fact: Fact| told().filter(move |(of, _)| *of == fact).map(|(_, figure)| *figure);
        let peak = of(Fact::Peak).max_by_key(|figure| figure.bytes);
        let agreed = |fact: Fact| {
            let first = of(fact).next()?;
            of(fact).all(|other| other.bytes == first.bytes).then_some((fact, first))
        };
        let rest = [Fact::Limit, Fact::Capacity, Fact::Free, Fact::Used, Fact::Reserved, Fact::Process];
        let rest = rest.into_iter().filter_map(agreed);
        peak.map(|peak| (Fact::Peak, peak)).into_iter().chain(rest).collect()
    }
}

fn read(text: &str, line: u64, command: bool) -> Vec<(Fact, Figure)> {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(OF_DEVICES) {
        return Vec::new();
    }
    let at = Span::line(line);
    let figure = |search: &LazyLock<Option<Regex>>, unit_of_bare: Option<&str>, least: u64| {
        let found = search.as_ref()?.captures(&lower)?;
        // `Free / total memory : 1.4GB / 3.7GB`: the first figure is the first word's.
        if found.get(0).is_some_and(|all| lower[..all.start()].trim_end().ends_with('/')) {
            return None;
        }
        // `(MB): 20 519,1`: a blank between thousands, or another number.
        let behind = &lower[found.name("number")?.end()..];
        if behind.strip_prefix(' ').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            return None;
        }
        let unit = found.name("unit").or(found.name("within")).map(|unit| unit.as_str()).or(unit_of_bare)?;
        counted(&found["number"], unit, at).filter(|figure| figure.bytes >= least)
    };
    let mut found = Vec::new();
    // By words of the line: the fact, the unit of a number that has none, and from how many bytes on it is one.
    for (words, search, fact, unit_of_bare, least) in [
        (&["peak", "max", "high"][..], &PEAK, Fact::Peak, None, 1),
        (&["total "], &TOTAL, Fact::Capacity, None, 1),
        (&["detected "], &DETECTED, Fact::Capacity, None, 1),
        (&["free "], &FREE, Fact::Free, Some("b"), 1000),
        (&["memory limit ", "memory request ", "requested memory :"], &LIMIT, Fact::Limit, Some("b"), 16 * MIB),
    ] {
        if says(words) {
            found.extend(figure(search, unit_of_bare, least).map(|told| (fact, told)));
        }
    }
    if says(&["free "]) && says(&[" of "]) {
        found.extend(free_of(&lower, at));
    }
    if says(&["max memory :"]) {
        found.extend(figure(&LSF_PEAK, None, 1).map(|peak| (Fact::Peak, peak)));
    }
    if says(&["rss:"]) {
        found.extend(of_the_process(&lower, at));
    }
    found.extend(named(&lower, at));
    // Of a command, its memory by an option alone.
    if says(&["limit", "max", "threshold", "budget", "heap"]) || command && says(&["mem", "ram"]) {
        let limits = pairs(text).take(PAIRS_AT_MOST).filter_map(|pair| limit(&pair, at, command));
        found.extend(limits.map(|limit| (Fact::Limit, limit)));
    }
    found
}

/// A number with its unit, in small letters.
fn counted(number: &str, unit: &str, at: Span) -> Option<Figure> {
    let unit = match unit {
        "kbytes" => "kb",
        "bytes" => "b",
        unit => unit,
    };
    sized(&format!("{number} {unit}"), None, at)
}

/// What a heap has left, and its size.
fn free_of(lower: &str, at: Span) -> Vec<(Fact, Figure)> {
    let Some(found) = FREE_OF.as_ref().and_then(|search| search.captures(lower)) else { return Vec::new() };
    let unit = &found["unit"];
    let own = found.name("own").map_or(unit, |own| own.as_str());
    let Some((free, all)) = counted(&found["free"], own, at).zip(counted(&found["all"], unit, at)) else {
        return Vec::new();
    };
    // A heap, not a disk's blocks or a list's places.
    let heap = all.bytes >= 1024 && free.bytes <= all.bytes && !lower.contains("disk") && !lower.contains("space on");
    if heap { vec![(Fact::Free, free), (Fact::Capacity, all)] } else { Vec::new() }
}

/// What a process holds, and held at most.
fn of_the_process(lower: &str, at: Span) -> Vec<(Fact, Figure)> {
    let Some(found) = RSS.as_ref().and_then(|search| search.captures(lower)) else { return Vec::new() };
    // Such programs count in powers of a thousand, and of 1024 under the names for it.
    let told = |number: &str, unit: &str| {
        let printed = units::size(number, &unit.to_ascii_uppercase().replace('I', "i"), Base::Decimal)?;
        Some(printed.at(at))
    };
    let process = told(&found["rss"], &found["of_rss"]).map(|figure| (Fact::Process, figure));
    let peak = told(&found["peak"], &found["of_peak"]).map(|figure| (Fact::Peak, figure));
    process.into_iter().chain(peak).collect()
}

/// The number that one of [`NAMES`] stands in front of.
fn named(lower: &str, at: Span) -> Option<(Fact, Figure)> {
    let (name, value) = lower.trim_start().split_once([':', '='])?;
    let (_, fact, unit) = NAMES.iter().find(|(of, ..)| *of == name.trim_end())?;
    let mut words = value.split_whitespace();
    let number = words.next()?;
    let unit = words.next().unwrap_or(unit);
    let whole = number.bytes().all(|byte| byte.is_ascii_digit());
    whole.then(|| counted(number, unit, at)).flatten().map(exact).map(|figure| (*fact, figure))
}

/// The limit of a program's memory that a setting is by the words of its name: `limit_memory_hard = 2684354560`,
/// `limit_mib: 800`, `-limit_memory_usage 4096M`. A number without a unit is one of bytes where it is large and even.
fn limit(pair: &Pair, at: Span, command: bool) -> Option<Figure> {
    const MEMORY: &[&str] = &["mem", "memory", "heap", "rss", "ram", "maxmemory", "gc"];
    const OTHERS: &[&str] = &[
        "soft", "spike", "low", "min", "swap", "per", "log", "cache", "map", "new", "young", "meta", "direct", "wat",
        "init", "initial", "region", "free", "global",
    ];
    // `maxOldSpaceSize` is four words.
    let mut key = String::new();
    let mut before = ' ';
    for c in pair.key.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            key.push('_');
        }
        key.extend(c.to_lowercase());
        before = c;
    }
    let words: Vec<&str> = key.split(['_', '-', '.', '/']).collect();
    let has = |of: &[&str]| words.iter().any(|word| of.contains(word));
    let unit = match words.last().copied().unwrap_or_default() {
        "kb" | "kib" => Some("KiB"),
        "mb" | "mib" => Some("MiB"),
        // An option's gigabytes are of either kind.
        "gb" if pair.hyphens > 0 => return None,
        "gb" | "gib" => Some("GiB"),
        "bytes" => Some("B"),
        _ => None,
    };
    // A managed heap's old space is all but a part of it.
    let old_space = has(&["old"]) && has(&["space"]);
    let of_memory = has(MEMORY) || old_space || unit.is_some_and(|unit| unit != "B");
    // `-mem 512M`, `--memory=4GiB` of a command, not of advice, and `main-heap-size 2G`: with a unit of their own.
    let given = command && pair.hyphens > 0 && matches!(words.as_slice(), ["mem" | "memory" | "ram" | "maxmem"]);
    let sized_heap = has(&["heap"]) && has(&["size"]);
    let by_unit = (given || sized_heap) && with_unit(pair.value);
    // `max_mem: 3344M` and `max_memory_allocated` are what was used at most, mostly of a device.
    let used = has(&["mem", "allocated", "reserved", "used", "usage"]);
    let named = has(&["max", "threshold", "budget"]) && (has(MEMORY) || old_space) && !used;
    let bounds = has(&["limit", "maxmemory"]) || named || by_unit;
    if !bounds || !of_memory || has(OTHERS) {
        return None;
    }
    let told = sized(pair.rest, unit, at).or_else(|| sized(pair.value, unit, at)).or_else(|| {
        let bare = sized(pair.rest, Some("B"), at)?;
        (bare.bytes >= 16 * MIB && bare.bytes % 1024 == 0).then_some(bare)
    })?;
    Some(exact(told)).filter(|figure| figure.bytes >= MIB)
}

/// True for a number with a unit of memory and nothing else: `512M`, `4GiB`.
fn with_unit(value: &str) -> bool {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < value.len() && units::unit(unit, Base::Binary).is_some_and(|bytes| bytes > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Vec<(Fact, u64)> {
        read(text, 1, text.starts_with("$ ")).into_iter().map(|(fact, figure)| (fact, figure.bytes)).collect()
    }

    #[test]
    fn names_say_what_an_amount_is() {
        let cases = [
            ("c maximum resident set size of process:     3100.5    MB", Fact::Peak, 3_251_109_888),
            ("  peak memory usage (MB):   812.5", Fact::Peak, 851_968_000),
            ("## Placement took 0.92 seconds (max_rss 1204.0 MiB, delta_rss +0.0 MiB)", Fact::Peak, 1_262_485_504),
            ("\tMaximum resident set size (kbytes): 2048", Fact::Peak, 2 << 20),
            ("-- total memory      65801216 kB", Fact::Capacity, 65_801_216 << 10),
            ("Total DRAM available = 15934 MB.", Fact::Capacity, 15_934 << 20),
            ("limit_memory_hard = 2684354560", Fact::Limit, 2_684_354_560),
            ("    limit_mib: 800", Fact::Limit, 800 << 20),
            ("run.py net.v -limit_memory_usage 4096M", Fact::Limit, 4 << 30),
            ("./pharo --maxOldSpaceSize=2684354560 --headless a.image", Fact::Limit, 2_684_354_560),
            ("maxmemory:4294967296", Fact::Limit, 4 << 30),
            ("$ PYPY_GC_MAX=5GB pypy3 -m simulate --agents 4000000", Fact::Limit, 5 << 30),
            ("$ SURREAL_MEMORY_THRESHOLD=2684354560 surreal start", Fact::Limit, 2_684_354_560),
            ("$ mksquashfs /srv/tree tree.sqsh -b 1M -mem 512M", Fact::Limit, 512 << 20),
            ("upcxx-run -n 128 -shared-heap-size 256M ./a.out", Fact::Limit, 256 << 20),
            ("Detected 2058600448 bytes ram", Fact::Capacity, 2_058_600_448),
            ("[debug:060]: Free Heap Size: 7904 bytes", Fact::Free, 7904),
            ("Free heap: 58000", Fact::Free, 58_000),
            ("[INFO] [server.rs:1617] [\"memory limit set to 17179869184\"]", Fact::Limit, 16 << 30),
            ("Your build has exceeded the memory limit of 4G on 1 container.", Fact::Limit, 4 << 30),
            ("    Max Memory :                                 3812 MB", Fact::Peak, 3812 << 20),
            ("    Total Requested Memory :                     4096.00 MB", Fact::Limit, 4 << 30),
            ("used_memory:1073741824", Fact::Used, 1 << 30),
            ("Committed_AS:    8388608 kB", Fact::Used, 8 << 30),
            (" MEMSIZE=2147483648", Fact::Limit, 2 << 30),
            ("Runtime.totalMemory()=2147483648", Fact::Reserved, 2 << 30),
        ];
        for (text, fact, bytes) in cases {
            assert_eq!(one(text), [(fact, bytes)], "{text}");
        }
    }

    #[test]
    fn two_amounts_of_one_line() {
        assert_eq!(one("heap: free 2048 of 65536 bytes"), [(Fact::Free, 2048), (Fact::Capacity, 65_536)]);
        assert_eq!(one("free 3 of 8 bytes"), [], "no heap is as small");
        assert_eq!(
            one("RSS: 2.00GiB | Peak: 3.00GiB | Commit: 35.70GB | Faults: 8"),
            [(Fact::Process, 2 << 30), (Fact::Peak, 3 << 30)]
        );
    }

    #[test]
    fn what_is_no_amount_of_a_programs_memory_is_left_out() {
        for text in [
            "    spike_limit_mib: 200",
            "limit_memory_soft = 2147483648",
            "max_memory: {0: '20GiB'}",
            "memory limit = 31",
            "node --max-old-space-size=4096 build.js",
            "memory limit of 80% reached",
            "GPU peak memory usage: 812 MB",
            "total memory: 24.00 GiB on device 0",
            "peak of 12 MB/s",
            "max_rss",
            "eta: 1:02:03  max_mem: 3344M",
            "max_memory_allocated: 3344 MB",
            "autoscale memory_threshold: 0.8",
            "free memory: 12",
            "G1 heap region size: 4M",
            "Free / total memory : 1.4GB / 3.7GB",
            "sort --mem 80%",
            "Use --long=31 or --memory=2048MB",
            "gc max pause 200 ms",
        ] {
            assert_eq!(one(text), [], "{text}");
        }
    }
}
