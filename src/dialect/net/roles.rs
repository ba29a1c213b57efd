//! Which quantity a figure is, by the words around it. One that the words do not tell is left out.

use crate::dialect::Fact;
use crate::dialect::joined::begins_with_stamp;
use crate::evidence::Span;
use crate::units::{self, Base, Figure, Locale};

/// A size in a line: where it stands, and its value.
#[derive(Debug, Clone, Copy)]
struct Place {
    from: usize,
    to: usize,
    figure: Figure,
    /// Printed without a unit: only a label that asks for bytes makes it a size.
    bare: bool,
    /// It can be read in two ways: what it is of is known, how much is not.
    doubtful: bool,
}

/// Addresses of a process lie here; no amount of memory does that a program prints without a unit.
const ADDRESSES: std::ops::Range<u64> = 0x5000_0000_0000..0x8000_0000_0000;
/// What is printed in hexadecimal and without a unit is an address from here on, where heaps of 64-bit processes begin,
/// and at any height as the first argument of a call, `find_free(0x809132000, …)`.
const HEXADECIMAL_ADDRESSES: u64 = 1 << 32;

/// Bare numbers below this are counts of something else, whatever their label.
const LEAST_BARE: u64 = 1 << 10;
/// Figures of a line that are looked at.
const MOST: usize = 24;

/// Labels and what they say, longer ones first where one holds another.
const LABELS: &[(&str, Fact)] = &[
    ("already allocated", Fact::Allocated),
    ("currently allocated", Fact::Allocated),
    ("total allocated", Fact::Allocated),
    ("allocated", Fact::Allocated),
    ("tried to allocate", Fact::Requested),
    ("alloc size", Fact::Requested),
    ("alloc buffer", Fact::Requested),
    ("alloc ", Fact::Requested),
    ("trying to allocate", Fact::Requested),
    ("allocation", Fact::Requested),
    ("allocating", Fact::Requested),
    ("allocate", Fact::Requested),
    ("requested", Fact::Requested),
    ("requesting", Fact::Requested),
    ("requests", Fact::Requested),
    ("request", Fact::Requested),
    ("requires", Fact::Requested),
    ("required", Fact::Requested),
    ("requiring", Fact::Requested),
    ("require", Fact::Requested),
    ("requirement", Fact::Requested),
    ("needed", Fact::Requested),
    ("needs", Fact::Requested),
    ("need", Fact::Requested),
    ("wanted", Fact::Requested),
    ("wants", Fact::Requested),
    ("want", Fact::Requested),
    ("demand", Fact::Requested),
    ("asked for", Fact::Requested),
    ("asked", Fact::Requested),
    ("malloc", Fact::Requested),
    ("realloc", Fact::Requested),
    ("mmap", Fact::Requested),
    ("reserve", Fact::Requested),
    ("reserving", Fact::Requested),
    ("memalign", Fact::Requested),
    ("unavailable", Fact::Requested),
    ("largest free", Fact::LargestFreeChunk),
    ("largest contiguous", Fact::LargestFreeChunk),
    ("largest block", Fact::LargestFreeChunk),
    ("largestcontinuousfree", Fact::LargestFreeChunk),
    ("largest continuous", Fact::LargestFreeChunk),
    ("available", Fact::Free),
    ("avail", Fact::Free),
    ("remaining", Fact::Free),
    ("remains", Fact::Free),
    ("free", Fact::Free),
    ("left", Fact::Free),
    ("unused", Fact::Free),
    ("capacity", Fact::Capacity),
    ("total", Fact::Capacity),
    ("installed", Fact::Capacity),
    ("memory size is", Fact::Capacity),
    ("physical", Fact::Capacity),
    ("allowed", Fact::Limit),
    ("limited to", Fact::Limit),
    ("limit", Fact::Limit),
    ("maximum", Fact::Limit),
    ("budget", Fact::Limit),
    ("quota", Fact::Limit),
    ("threshold", Fact::Limit),
    ("ceiling", Fact::Limit),
    ("target footprint", Fact::Used),
    ("footprint", Fact::Used),
    ("resident", Fact::Used),
    ("rss", Fact::Used),
    ("max", Fact::Limit),
    ("high-water", Fact::Peak),
    ("high water", Fact::Peak),
    ("peak", Fact::Peak),
    ("in use", Fact::Used),
    ("current use", Fact::Used),
    ("in-use", Fact::Used),
    ("inuse", Fact::Used),
    ("occupied", Fact::Used),
    ("consumed", Fact::Used),
    ("using", Fact::Used),
    ("usage", Fact::Used),
    ("used", Fact::Used),
    ("reserved", Fact::Reserved),
    ("cached", Fact::Reserved),
    ("尝试分配", Fact::Requested),
    ("需要", Fact::Requested),
    ("请求", Fact::Requested),
    ("申请", Fact::Requested),
    ("已分配", Fact::Allocated),
    ("可用", Fact::Free),
    ("剩余", Fact::Free),
    ("空闲", Fact::Free),
    ("总共", Fact::Capacity),
    ("总计", Fact::Capacity),
    ("总量", Fact::Capacity),
    ("总显存", Fact::Capacity),
    ("容量", Fact::Capacity),
    ("已用", Fact::Used),
    ("已使用", Fact::Used),
    ("占用", Fact::Used),
    ("上限", Fact::Limit),
    ("限制", Fact::Limit),
    ("峰值", Fact::Peak),
    ("预留", Fact::Reserved),
    ("必要", Fact::Requested),
    ("要求", Fact::Requested),
    ("空き", Fact::Free),
    ("利用可能", Fact::Free),
    ("合計", Fact::Capacity),
    ("使用中", Fact::Used),
    ("필요", Fact::Requested),
    ("요청", Fact::Requested),
    ("사용 가능", Fact::Free),
    ("여유", Fact::Free),
    ("전체", Fact::Capacity),
    ("사용 중", Fact::Used),
    ("benötigt", Fact::Requested),
    ("angefordert", Fact::Requested),
    ("verfügbar", Fact::Free),
    ("frei", Fact::Free),
    ("insgesamt", Fact::Capacity),
    ("gesamt", Fact::Capacity),
    ("belegt", Fact::Used),
    ("verwendet", Fact::Used),
    ("requis", Fact::Requested),
    ("demandé", Fact::Requested),
    ("nécessaire", Fact::Requested),
    ("disponib", Fact::Free),
    ("libre", Fact::Free),
    ("utilisé", Fact::Used),
    ("requerid", Fact::Requested),
    ("solicitad", Fact::Requested),
    ("necesari", Fact::Requested),
    ("usado", Fact::Used),
    ("necessári", Fact::Requested),
    ("disponíve", Fact::Free),
    ("livre", Fact::Free),
    ("требуется", Fact::Requested),
    ("запрошено", Fact::Requested),
    ("необходимо", Fact::Requested),
    ("нужно", Fact::Requested),
    ("выделить", Fact::Requested),
    ("доступно", Fact::Free),
    ("свободно", Fact::Free),
    ("всего", Fact::Capacity),
    ("занято", Fact::Used),
    ("используется", Fact::Used),
    ("лимит", Fact::Limit),
];

/// Words between a label and its figure that say nothing of their own.
const FILLERS: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "of",
    "size",
    "memory",
    "mem",
    "bytes",
    "byte",
    "in",
    "about",
    "only",
    "for",
    "a",
    "an",
    "the",
    "gpu",
    "device",
    "vram",
    "ram",
    "video",
    "host",
    "system",
    "space",
    "amount",
    "at",
    "least",
    "another",
    "additional",
    "more",
    "buffer",
    "block",
    "chunk",
    "tensor",
    "array",
    "to",
    "by",
    "just",
    "approximately",
    "approx",
    "roughly",
    "around",
    "up",
    "with",
    "on",
    "from",
    "heap",
    "pool",
    "workspace",
    "process",
    "already",
    "has",
    "had",
    "have",
    "been",
    "currently",
    "so",
    "far",
    "single",
    "mb",
    "gb",
    "mib",
    "gib",
    "kb",
    "data",
    "cuda",
    "physical",
    "storage",
    "cache",
    "kv",
    "model",
    "weights",
    "graph",
    "compute",
    "du",
    "de",
    "von",
    "est",
    "es",
    "ist",
    "sind",
];

/// True where a line prints a size with a unit.
pub fn has_size(line: &str) -> bool {
    places(line, "", Span::line(1), false, Base::Binary).iter().any(|place| !place.bare)
}

/// True for a line that prints a request above what is there to give.
pub fn asks_too_much(line: &str) -> bool {
    let told = figures(line, "", Span::line(1), false, None, Base::Binary).figures;
    let least = |facts: &[Fact]| {
        told.iter()
            .filter(|(fact, _)| facts.contains(fact))
            .map(|(_, figure)| figure.interval())
            .reduce(|a, b| if b.low < a.low { b } else { a })
    };
    match (least(&[Fact::Requested, Fact::Needed]), least(&[Fact::Free, Fact::Limit, Fact::Capacity])) {
        (Some(asked), Some(there)) => asked.low > there.high,
        _ => false,
    }
}

/// True for a line that lists nothing but a size: `err:   Size:  268435456`.
pub fn is_sized(line: &str) -> bool {
    let words: Vec<String> = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !matches!(*word, "err" | "error" | "ERROR" | "E"))
        .map(str::to_ascii_lowercase)
        .take(5)
        .collect();
    let number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    match words.as_slice() {
        [label, size] | [label, size, _] => matches!(label.as_str(), "size" | "bytes" | "length") && number(size),
        _ => false,
    }
}

/// The sizes of a line. `next` is the line behind it: a unit may stand there, or the rest of a number.
fn places(line: &str, next: &str, at: Span, cut: bool, base: Base) -> Vec<Place> {
    let bytes = line.as_bytes();
    let locale = Locale::of(line);
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < MOST {
        let Some(start) = bytes.get(from..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) else { break };
        let start = from + start;
        let before = line[..start].chars().next_back();
        let Some(numeral) = units::numeral(&line[start..], locale) else {
            from = start + bytes[start..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count().max(1);
            continue;
        };
        let end = start + numeral.length;
        from = end;
        // A part of a name, a version, an address or a negative number is no size.
        let inside = before
            .is_some_and(|c| c.is_alphanumeric() && c.is_ascii() || matches!(c, '_' | '.' | ',' | '#' | '@'))
            || before == Some('-') && !line[..start - 1].ends_with(|c: char| c.is_ascii_digit());
        let number = &line[start..end];
        let rest = &line[end..];
        let rest = rest.strip_prefix('.').filter(|rest| rest.starts_with(' ')).unwrap_or(rest);
        let gap = rest.len() - rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
        let unit = match units::unit_in_front(&rest[gap..]) {
            // `12 k` and `3 m` set off by a blank are words.
            Some((_, word)) if gap == 0 || word.chars().count() > 1 || word == "B" => {
                Some((word, end + gap + word.len()))
            }
            _ => None,
        };
        let labelled = unit_of_label(&line[..start]).filter(|_| unit.is_none() && !(cut && rest.trim().is_empty()));
        let unit = unit.or(labelled.map(|word| (word, end)));
        let unit = match unit {
            Some((word, to)) if labelled.is_some() => Some((word, to)),
            Some((word, to)) if !(cut && to >= line.len() && !word.ends_with(['B', 'b', 's', 'e'])) => Some((word, to)),
            Some(_) => continue,
            None if rest.trim().is_empty() => {
                units::unit_in_front(next.trim_start()).map(|(_, word)| (word, line.len()))
            }
            None => None,
        };
        // `2.349 MB` is two thousand of them as often as two and a third.
        let point = number.split_once('.').filter(|(whole, _)| whole.len() <= 3 && numeral.decimals == 3);
        let mega = unit.is_some_and(|(word, _)| word.starts_with(['m', 'M', 'k', 'K']));
        let doubtful = point.is_some() && mega
            || numeral.ambiguous
                && unit.is_some_and(|(word, _)| units::unit(word, base).is_some_and(|unit| unit > 1024));
        if doubtful && !inside {
            let figure = units::Size { bytes: 0, half_width: 0 }.at(at);
            let to = unit.map_or(end, |(_, to)| to);
            from = from.max(to);
            found.push(Place { from: start, to, figure, bare: false, doubtful });
            continue;
        }
        let argument = line.get(..start).is_some_and(|ahead| ahead.ends_with('('));
        let address = |value: u64| {
            ADDRESSES.contains(&value) || number.starts_with("0x") && (value >= HEXADECIMAL_ADDRESSES || argument)
        };
        let size = match unit {
            Some((word, _)) => units::size_in(number, word, base, locale),
            None if numeral.whole().is_some_and(address) => None,
            None => {
                let continues = rest.trim().is_empty()
                    && (cut || next.starts_with(|c: char| c.is_ascii_digit()) && !begins_with_stamp(next));
                let whole = numeral.whole().filter(|whole| *whole >= LEAST_BARE && !continues && numeral.decimals == 0);
                whole.map(|bytes| units::Size { bytes, half_width: 0 })
            }
        };
        let Some(size) = size.filter(|_| !inside && (unit.is_some() || !counts(rest))) else { continue };
        if size.bytes == 0 && unit.is_none() {
            continue;
        }
        let to = unit.map_or(end, |(_, to)| to);
        from = from.max(to);
        found.push(Place { from: start, to, figure: size.at(at), bare: unit.is_none(), doubtful: false });
    }
    found
}

/// True for what follows a bare number that counts something: `9120 tokens`, `12 layers`, `40000 character matrix`.
/// Only what goes on with the sentence lets a number be one of bytes.
fn counts(rest: &str) -> bool {
    const GOES_ON: &[&str] = &[
        "",
        "b",
        "byte",
        "bytes",
        "of",
        "for",
        "on",
        "in",
        "at",
        "to",
        "from",
        "with",
        "by",
        "is",
        "was",
        "were",
        "are",
        "failed",
        "fail",
        "fails",
        "free",
        "available",
        "avail",
        "total",
        "used",
        "left",
        "requested",
        "needed",
        "required",
        "wanted",
        "allocated",
        "limit",
        "limited",
        "max",
        "maximum",
        "exceeds",
        "exceeded",
        "exceed",
        "more",
        "out",
        "remaining",
        "reserved",
        "and",
        "or",
        "but",
        "while",
        "when",
        "via",
        "using",
        "through",
        "into",
        "as",
        "than",
        "memory",
        "error",
        "could",
        "cannot",
        "can",
        "not",
        "device",
        "host",
        "gpu",
        "per",
        "size",
        "returned",
        "over",
        "because",
        "only",
        "which",
        "contiguous",
        "may",
        "might",
        "will",
        "would",
        "should",
        "must",
        "please",
        "check",
        "see",
        "reduce",
        "octets",
        "peak",
        "cap",
        "requests",
        "request",
        "has",
    ];
    let text = rest.trim_start_matches([' ', '-']);
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    // `bytes_free` begins the next label; the plural of `20000000 particles:` has counted before it goes on.
    let label = text[end..].starts_with(['_', '=', '"']) || text[end..].starts_with(':') && !text[..end].ends_with('s');
    !label && !GOES_ON.contains(&text[..end].to_ascii_lowercase().as_str())
}

/// The unit that a figure's label carries: `needMiB=6144`, `free_mb: 512`, `Required memory (MB): 8192`, `memory [GB]`.
fn unit_of_label(before: &str) -> Option<&str> {
    const UNITS: &[&str] =
        &["KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB", "kB", "Mb", "Gb", "bytes", "kb", "mb", "gb"];
    let label = before.trim_end_matches([' ', '"', '\'']);
    let label = label.strip_suffix(['=', ':', '|'])?.trim_end_matches(['"', '\'', ' ']);
    let inner = label.strip_suffix([')', ']']).unwrap_or(label);
    let enclosed = inner.len() < label.len();
    let unit = UNITS
        .iter()
        .chain(&["mib", "gib", "kib"])
        .filter(|unit| inner.ends_with(**unit))
        .max_by_key(|unit| unit.len())
        .and_then(|unit| inner.get(inner.len() - unit.len()..))?;
    let head = &inner[..inner.len() - unit.len()];
    let lead = head.chars().next_back();
    // `need_mb`, `needMB`, `(MB)`; not the end of a word such as `thumb`.
    let camel = lead.is_some_and(|c| c.is_ascii_lowercase()) && unit.starts_with(|c: char| c.is_ascii_uppercase());
    let apart = if enclosed { matches!(lead, Some('(' | '[')) } else { lead == Some('_') || camel };
    apart.then_some(unit)
}

/// The label that stands nearest before a figure, the words between them being fillers only. Also whether a colon or an
/// equals sign ties them.
fn label_before(before: &str) -> Option<(Fact, bool, usize)> {
    let lower = before.to_lowercase();
    let (at, length, fact) = LABELS
        .iter()
        .filter_map(|(word, fact)| lower.rfind(word).map(|at| (at, word.len(), *fact)))
        // `pool_find_free(0x80, 34688)`: a function that is called, not what is free.
        .filter(|(at, length, _)| {
            let arguments = lower[at + length..].strip_prefix('(');
            !(lower[..*at].ends_with('_') && arguments.is_some_and(|of| of.starts_with(|c: char| c.is_ascii_digit())))
        })
        .filter(|(at, _, fact)| {
            !lower[..*at].ends_with("un") && (*fact == Fact::Requested || !lower[..*at].ends_with("not "))
        })
        .max_by_key(|(at, length, _)| (at + length, *length))?;
    let between = lower.get(at + length..)?;
    // `left in the process's limit = 2 GiB`: what is left, not the limit.
    let lead = last_chars(&lower[..at], 30);
    // `would use a total of 9 GiB`: a sum, no device's total.
    if fact == Fact::Capacity && lead.ends_with(" a ") && between.starts_with(" of") {
        return None;
    }
    let left = fact == Fact::Limit
        && ["left in ", "remaining in ", "available in ", "free in ", "left of ", "left under "]
            .iter()
            .any(|words| lead.contains(words));
    let fact = if left { Fact::Free } else { fact };
    // `predictMemUsage`, `estimated usage`: a need; `max alloc size`, `maximum allocation`: a limit.
    let last = lead.trim_end_matches([' ', '_', '-']);
    let foreseen = ["predict", "estimat", "project", "expect", "would be "].iter().any(|word| lead.contains(word));
    let fact = match fact {
        Fact::Used if foreseen => Fact::Needed,
        Fact::Requested
            if ["max", "maximum", "largest", "max memory", "max size of memory"].iter().any(|w| last.ends_with(w))
                || bounds_requests(last) =>
        {
            Fact::Limit
        }
        // `would put the current use to 9 GiB`: a use that never came about.
        Fact::Used if [" would ", " will "].iter().any(|word| lead.contains(word)) => return None,
        fact => fact,
    };
    // `the pool is reserving 5 GiB`: what somebody holds is no request.
    if fact == Fact::Requested
        && lower[at..].starts_with("reserving")
        && (lead.ends_with(" is ") || lead.ends_with(" are "))
    {
        return None;
    }
    let clause = between.find([';', '!', '?', '；', '。']).is_none() && !between.contains(". ");
    let tied = between.contains([':', '=', '：']);
    // `limit: the process would use 9 GiB`: another clause.
    if let Some((_, clause)) = between.split_once([':', '：'])
        && clause
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word.contains(|c: char| c.is_alphabetic()) && !FILLERS.contains(&word))
    {
        return None;
    }
    // `limit: soft = 9 GiB, hard = 10 GiB`: what is passed in the end is the second.
    if fact == Fact::Limit && between.contains("soft") {
        return None;
    }
    let words = between
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !FILLERS.contains(word))
        // The end of the label's own word: `request` of `requestedSize`, `allocat` of a longer form.
        .count();
    let named = words.saturating_sub(usize::from(between.starts_with(|c: char| c.is_alphabetic())));
    (clause && named <= 4).then_some((fact, tied && named == 0, named))
}

/// True where words for a bound qualify the request that follows: `the maximum allowed size for an` allocation.
fn bounds_requests(lead: &str) -> bool {
    const BETWEEN: &[&str] =
        &["size", "for", "of", "allowed", "memory", "single", "an", "a", "per", "device", "gpu", "buffer"];
    lead.rsplit(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .find(|word| !BETWEEN.contains(word))
        .is_some_and(|word| matches!(word, "max" | "maximum" | "largest"))
}

/// True for what a program says would do: `with at least 8 GB`, `at least --sort-ram 9000000000`, `if you have enough
/// RAM 9000000000 bytes`. A bare figure counts only behind words that name memory.
fn suffices(before: &str, after: &str, bare: bool) -> bool {
    let lower = last_chars(before, 60).to_lowercase();
    let lead = lower.trim_end().trim_end_matches([':', '=']).trim_end();
    let memory = |word: &str| ["ram", "mem", "bytes", "heap"].iter().any(|part| word.contains(part));
    let (rest, named) = match lead.rsplit_once(' ') {
        Some((rest, word)) if word.starts_with('-') && memory(word) || memory(word) && word.len() <= 6 => (rest, true),
        _ => (lead, false),
    };
    let least = rest.strip_suffix("at least");
    let before_it = least.unwrap_or(rest).trim_end().trim_end_matches(" of");
    let enough =
        |text: &str| text.strip_suffix("enough").is_some_and(|lead| !lead.ends_with("not ") && !lead.ends_with("n't "));
    let enough =
        named && enough(rest) || before_it.rsplit_once(' ').is_some_and(|(lead, word)| memory(word) && enough(lead));
    let left = first_chars(after, 40).to_lowercase();
    let kept = ["free", "remain", "left", "available", "used", "in use"].iter().any(|word| left.contains(word));
    let bytes = left.trim_start().starts_with("bytes");
    (least.is_some() || enough) && (!bare || named || enough && bytes) && !kept
}

/// True for the sole argument of a call that takes memory in bytes: `malloc(4096)`, `cuMemAllocManaged(4096)`.
fn argument(before: &str, after: &str) -> bool {
    let Some(lead) = before.strip_suffix('(') else { return false };
    let name = lead.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    after.starts_with(')') && (name.contains("malloc") || name.contains("memalloc") || name.ends_with("mem_alloc"))
}

/// The label that follows a figure in its clause, with fillers only between.
fn label_after(after: &str) -> Option<(Fact, usize)> {
    let end = after.find([',', ';', '(', '[', ':', '/', '，', '、', '；', '。', '：', '（']).unwrap_or(after.len());
    let clause = after[..end].split(". ").next()?.to_lowercase();
    let excess =
        ["exceeds", "exceeding", "is larger than", "is more than", "is greater than", "does not fit", "doesn't fit"];
    let label = LABELS.iter().filter_map(|(word, fact)| clause.find(word).map(|at| (at, word.len(), *fact)));
    let excess = excess.iter().filter_map(|word| clause.find(word).map(|at| (at, word.len(), Fact::Requested)));
    let (at, length, fact) = label.chain(excess).min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)))?;
    // `5 GiB free: 3 GiB`: the label of what follows.
    let ahead = after.get(end..).is_some_and(|rest| rest.starts_with([':', '：']) || rest.starts_with('='));
    if ahead && clause[at + length..].trim().is_empty() {
        return None;
    }
    let words = clause[..at].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (fillers, others): (Vec<&str>, Vec<&str>) = words.partition(|word| FILLERS.contains(word));
    (others.is_empty() && fillers.len() <= 3).then_some((fact, fillers.len()))
}

/// What a line tells of its quantities.
#[derive(Debug, Default)]
pub struct Told {
    pub figures: Vec<(Fact, Figure)>,
    /// Printed, but in two ways that differ, or so that it can be read in two: no other line's figure is this one.
    pub unreadable: Vec<Fact>,
}

/// The figures of a line with what their words say they are. `refused` tells that the line speaks of an allocation that
/// was refused: there a lone figure is what was asked for.
pub fn figures(line: &str, next: &str, at: Span, cut: bool, refused: Option<usize>, base: Base) -> Told {
    let places = places(line, next, at, cut, base);
    let mut at_odds: Vec<Fact> = Vec::new();
    let mut told: Vec<(Fact, Figure)> = Vec::new();
    let mut labels_first = false;
    let mut unlabelled: Option<Figure> = None;
    let mut told_behind: Option<Fact> = None;
    for (i, place) in places.iter().enumerate() {
        let start = i.checked_sub(1).and_then(|i| places.get(i)).map_or(0, |place| place.to);
        let end = places.get(i + 1).map_or(line.len(), |place| place.from);
        let (Some(before), Some(after)) = (line.get(start..place.from), line.get(place.to..end)) else { continue };
        let first = i == 0 || start == 0;
        // `free memory/total memory: 3/8`: the first label is the first figure's.
        let pair = last_chars(before, 80).split_once('/').filter(|_| after.trim() == "/" || after.starts_with('/'));
        let pair = pair.and_then(|(first, second)| label_before(second).and(label_before(first)));
        let ahead = pair.map(|(fact, ..)| (fact, true, 0)).or_else(|| label_before(last_chars(before, 80)));
        let behind = label_after(first_chars(after, 48));
        let joint = before.trim().trim_end_matches(['(', '[']).trim();
        // `3 of 8 GiB`, `3 GiB / 8 GiB`: the second is the whole.
        let shared = ahead.is_none_or(|(fact, ..)| Some(fact) == told_behind);
        // `would use a total of 9 GiB` ends in the word, and names no whole.
        let sum = joint.ends_with("total of") || joint.ends_with("sum of");
        let of = !first
            && shared
            && !sum
            && (joint.ends_with(" of") || joint == "of" || joint == "/" || joint.ends_with("out of"));
        let close = |label: &Option<(Fact, bool, usize)>| label.is_some_and(|(_, _, words)| words == 0);
        if i == 0 {
            labels_first = close(&ahead) && behind.is_none_or(|(_, fillers)| fillers > 0)
                || ahead.is_some_and(|(_, tied, _)| tied);
        }
        told_behind = None;
        // `Failed during allocation: 16 bytes available, 64 requested`: the noun is no label where each figure has one.
        let own = |label: Option<(Fact, usize)>| label.is_some_and(|(fact, _)| fact != Fact::Requested);
        let during = before.trim_end().to_ascii_lowercase().ends_with("allocation:");
        let noun = during && ahead.is_some_and(|(_, tied, _)| tied) && i == 0 && own(behind);
        if noun {
            labels_first = false;
        }
        let fact = match (ahead, behind) {
            (Some((fact, true, _)), _) if !of && !noun => Some(fact),
            (_, Some((fact, _))) if of && (unlabelled.is_none() || matches!(fact, Fact::Capacity | Fact::Limit)) => {
                Some(fact)
            }
            (_, Some((fact, _))) if of => {
                // `7 GiB of 8 GiB in use`
                told.extend(
                    unlabelled.filter(|_| !told.iter().any(|(known, _)| *known == fact)).map(|part| (fact, part)),
                );
                Some(Fact::Capacity)
            }
            _ if of => Some(Fact::Capacity),
            (Some((fact, _, 0)), Some(_)) if labels_first => Some(fact),
            (_, Some((fact, _))) => {
                told_behind = Some(fact);
                Some(fact)
            }
            (Some((fact, _, words)), None) if words == 0 || first => Some(fact),
            (Some((Fact::Requested | Fact::Limit, _, _)), None) => ahead.map(|(fact, ..)| fact),
            _ => None,
        };
        let alone = || {
            refused
                .filter(|refused| places.len() == 1 && place.from >= *refused && !place.bare)
                .map(|_| Fact::Requested)
        };
        // What has elements is as large as they are many: `array of size 1688`.
        let elements = ["array of", "vector of", "matrix of", "list of", "table of", "tensor of", "map of", "queue of"];
        let noun = before.trim_end().to_ascii_lowercase();
        let noun = noun.strip_suffix("size").map(str::trim_end).unwrap_or_default();
        if place.bare && elements.iter().any(|words| noun.ends_with(words)) {
            continue;
        }
        // `… of size 442351616`, `alloc 570791576 size` in a line that speaks of a refusal.
        let sized = || {
            let ahead = before.trim_end().trim_end_matches([':', '=', '(', '[', ' ']).to_ascii_lowercase();
            let named = ["size", "bytes"].iter().any(|word| ahead.ends_with(word));
            let asks = refused.is_some() && (named || after.trim_start().starts_with("size"));
            asks.then_some(Fact::Requested)
        };
        // `out of memory -- size == 12MB`, `(size: 12 MB)`: the size of nothing else that is named.
        let told_size = || {
            let lead = before.trim_end().trim_end_matches([':', '=', ' ']).to_ascii_lowercase();
            let lead = lead.strip_suffix("size").map(str::trim_end)?;
            let spoken = lead.contains("out of memory") || lead.contains("not enough memory");
            (spoken && lead.ends_with(['-', '(', '[', ',', ':', ';']) && !place.bare).then_some(Fact::Requested)
        };
        let by_call = argument(before, after).then_some(Fact::Requested);
        let by_size = sized().or(by_call);
        // `want 6 GiB, have 2 GiB`
        let has = || {
            let needed = told.iter().any(|(fact, _)| *fact == Fact::Requested) && !place.bare;
            let lead = before.trim_end().trim_end_matches([':', '=']).trim_end_matches(" only").to_ascii_lowercase();
            let word = lead.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            (needed && matches!(word, "have" | "has" | "got")).then_some(Fact::Free)
        };
        let enough = suffices(before, after, place.bare);
        // An option's name holds labels of its own: `at least --limitSortRAM`.
        let option = before.trim_end().rsplit(' ').next().is_some_and(|word| word.starts_with("--"));
        let by_option = (enough && option).then_some(Fact::Needed);
        let fact = by_call.or(by_option).or(fact).or_else(has).or_else(alone).or(by_size).or_else(told_size);
        let fact = fact.or(enough.then_some(Fact::Needed));
        unlabelled = fact.is_none().then_some(place.figure);
        let Some(fact) = fact else { continue };
        // A count without a unit is a size only where its label asks for bytes.
        // `3145728000 (out of 4225761280) available`: the whole is in the unit of its part.
        let part =
            i.checked_sub(1).and_then(|i| places.get(i)).is_some_and(|part| part.figure.bytes <= place.figure.bytes);
        let whole = of && part && fact == Fact::Capacity;
        if place.bare && by_size.is_none() && !enough && !whole && ahead.is_none_or(|(_, _, words)| words > 1) {
            continue;
        }
        if place.doubtful {
            at_odds.push(fact);
            continue;
        }
        match told.iter().find(|(known, _)| *known == fact) {
            None => told.push((fact, place.figure)),
            // The same said twice, in bytes and in GiB, is one figure; two that differ tell nothing.
            Some((_, known)) if apart(known, &place.figure) => at_odds.push(fact),
            Some(_) => {}
        }
    }
    told.retain(|(fact, _)| !at_odds.contains(fact));
    Told { figures: told, unreadable: at_odds }
}

/// True where two printed figures cannot be one quantity.
fn apart(a: &Figure, b: &Figure) -> bool {
    let (a, b) = (a.interval(), b.interval());
    a.high < b.low || b.high < a.low
}

fn last_chars(text: &str, count: usize) -> &str {
    let start = (text.len().saturating_sub(count)..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[start..]
}

fn first_chars(text: &str, count: usize) -> &str {
    let end = (0..=text.len().min(count)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<(Fact, u64)> {
        let refused = Some(0).filter(|_| line.contains("alloc"));
        let mut told: Vec<_> = figures(line, "", Span::line(1), false, refused, Base::Binary)
            .figures
            .into_iter()
            .map(|(fact, figure)| (fact, figure.bytes))
            .collect();
        told.sort();
        told
    }

    const G: u64 = 1 << 30;

    #[test]
    fn labels_before_and_after_a_figure_tell_what_it_is() {
        use Fact::{Allocated, Capacity, Free, Limit, Requested, Used};
        for (line, facts) in [
            ("requested 5 GiB, free 1 GiB, total 8 GiB", vec![(Requested, 5 * G), (Capacity, 8 * G), (Free, G)]),
            (
                "tried to allocate 5 GiB with 1 GiB free and 8 GiB total",
                vec![(Requested, 5 * G), (Capacity, 8 * G), (Free, G)],
            ),
            ("needs 5 GiB but only 1 GiB is available", vec![(Requested, 5 * G), (Free, G)]),
            (
                "7 GiB of 8 GiB in use, failed to allocate 2 GiB",
                vec![(Requested, 2 * G), (Capacity, 8 * G), (Used, 7 * G)],
            ),
            ("failed to allocate GPU buffer (5 GiB)", vec![(Requested, 5 * G)]),
            ("5 GiB exceeds the limit of 4 GiB", vec![(Requested, 5 * G), (Limit, 4 * G)]),
            ("failed to allocate 5368709120 bytes (allocated 1073741824)", vec![(Requested, 5 * G), (Allocated, G)]),
            ("显存不足：需要 5 GiB，可用 1 GiB，总显存 8 GiB", vec![(Requested, 5 * G), (Capacity, 8 * G), (Free, G)]),
            ("не удалось выделить 5 ГиБ (свободно 1 ГиБ)", vec![(Requested, 5 * G), (Free, G)]),
            ("benötigt 5,00 GiB, verfügbar 1,00 GiB", vec![(Requested, 5 * G), (Free, G)]),
            ("want 5 GiB, have only 1 GiB", vec![(Requested, 5 * G), (Free, G)]),
        ] {
            assert_eq!(read(line), facts, "{line}");
        }
    }

    #[test]
    fn a_label_may_carry_the_unit_of_its_figure() {
        use Fact::{Free, Limit, Requested};
        for line in [
            "not enough memory (requested_mb=8192 free_mb=512 limit_gib=16)",
            "{\"needMiB\":8192,\"freeMiB\":512,\"limitGiB\":16}",
            "required memory (MB): 8192, free memory [MB]: 512, limit (GB) = 16",
        ] {
            let told = vec![(Requested, 8 * G), (Limit, 16 * G), (Free, G / 2)];
            assert_eq!(read(line), told, "{line}");
        }
        assert_eq!(read("needs thumb: 8192"), vec![(Requested, 8192)]);
    }

    #[test]
    fn needs_that_are_foreseen_and_largest_requests_are_told_apart() {
        use Fact::{Capacity, Limit, Needed, Requested, Used};
        assert_eq!(
            read("memUsage = 2 GiB, predictMemUsage = 5 GiB, totalMem = 4 GiB"),
            vec![(Capacity, 4 * G), (Used, 2 * G), (Needed, 5 * G)]
        );
        assert_eq!(
            read("requested 5368709120 bytes, but max alloc size supported by device is 4294967296 bytes"),
            vec![(Requested, 5 * G), (Limit, 4 * G)]
        );
    }

    #[test]
    fn what_the_words_do_not_tell_stays_unknown() {
        for line in [
            "error 12345678 at 0x7f00",
            "wrote 5 GiB at 3 GB/s",
            "pid 4194304 failed",
            "v1.2.3 and -5 GiB",
            "needs 12,345 MiB",
            "Allocated memory at 0x7fa4c6800000 to 0x7fa4c6900000",
            "allocated 140345681641472",
            "ERROR: pool_find_free(0x809132000, 34688): no free fragment",
            "cannot allocate 40000 character matrix",
        ] {
            assert_eq!(read(line), vec![], "{line}");
        }
    }
}
