//! Which quantity a figure is, by the words around it. One that the words do not tell is left out.

use crate::dialect::Fact;
use crate::dialect::joined::begins_with_stamp;
use crate::evidence::Span;
use crate::units::{self, Base, Figure, Interval, Locale, Numeral};

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
    /// By how much it is less where its unit means a power of a thousand; nought where the unit tells.
    slack: u64,
}

/// Addresses of a process lie here; no amount of memory does that a program prints without a unit.
const ADDRESSES: std::ops::Range<u64> = 0x5000_0000_0000..0x8000_0000_0000;
/// Words for an amount, before a hexadecimal number or behind it.
const AMOUNTS: &[&str] = &[
    "size",
    "sizes",
    "bytes",
    "byte",
    "length",
    "len",
    "need",
    "needs",
    "needed",
    "requested",
    "request",
    "allocate",
    "alloc",
    "allocated",
    "allocating",
    "limit",
    "max",
    "maximum",
    "free",
    "used",
    "total",
    "available",
    "avail",
    "left",
];
/// What is printed in hexadecimal and without a unit is an address from here on, where heaps of 64-bit processes begin,
/// and at any height as the first argument of a call, `find_free(0x809132000, …)`.
const HEXADECIMAL_ADDRESSES: u64 = 1 << 32;

/// Bare numbers below this are counts of something else, whatever their label.
const LEAST_BARE: u64 = 1 << 10;
/// What holds memory: what it is said to have is its whole.
const HOLDERS: &[&str] = &[
    "card",
    "device",
    "gpu",
    "node",
    "host",
    "machine",
    "heap",
    "pool",
    "arena",
    "system",
    "board",
    "adapter",
    "server",
    "instance",
    "container",
    "computer",
    "tile",
    "bank",
    "chip",
    "core",
];

/// A bare number below this counts something else where no label of its own stands beside it.
const LEAST_LARGE: u64 = 1 << 20;
/// What a setting of memory is at least, where it is called too small.
const LEAST_SET: u64 = 1 << 16;
/// Letters between a figure and what is said of it: `) is `.
const LEAD: usize = 8;
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
    ("try consume", Fact::Requested),
    ("tried to consume", Fact::Requested),
    ("trying to consume", Fact::Requested),
    ("attempted to use", Fact::Requested),
    ("allocation", Fact::Requested),
    ("allocating", Fact::Requested),
    ("allocate", Fact::Requested),
    ("estimated", Fact::Needed),
    ("estimate", Fact::Needed),
    ("insufficient memory for", Fact::Requested),
    ("no memory for", Fact::Requested),
    // `no memory available for size (526398)`
    ("memory available for size", Fact::Requested),
    ("memory available for", Fact::Requested),
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
    ("mmap-ed", Fact::Allocated),
    ("mmapped", Fact::Allocated),
    ("mmap", Fact::Requested),
    ("reserve", Fact::Requested),
    ("reserving", Fact::Requested),
    ("memalign", Fact::Requested),
    ("room for another", Fact::Requested),
    ("extend room to", Fact::Requested),
    ("unavailable", Fact::Requested),
    ("largest free", Fact::LargestFreeChunk),
    ("largest contiguous", Fact::LargestFreeChunk),
    ("largest block", Fact::LargestFreeChunk),
    ("biggest block", Fact::LargestFreeChunk),
    ("largestcontinuousfree", Fact::LargestFreeChunk),
    ("largest continuous", Fact::LargestFreeChunk),
    ("largest available", Fact::LargestFreeChunk),
    ("largest avail", Fact::LargestFreeChunk),
    ("largest hole", Fact::LargestFreeChunk),
    ("biggest free", Fact::LargestFreeChunk),
    ("max free block", Fact::LargestFreeChunk),
    ("maximum free block", Fact::LargestFreeChunk),
    ("maxfreeblock", Fact::LargestFreeChunk),
    ("max free chunk", Fact::LargestFreeChunk),
    // `All available memory (3354MB) has been used`: what it may use, and none of it is free.
    ("all available memory", Fact::Limit),
    ("available", Fact::Free),
    ("avail", Fact::Free),
    ("remain", Fact::Free),
    ("free", Fact::Free),
    ("left", Fact::Free),
    ("unused", Fact::Free),
    ("usable", Fact::Free),
    ("capacity", Fact::Capacity),
    // `Can't calloc 570 nodes totalling 6853338000 bytes`
    ("totalling", Fact::Requested),
    ("totaling", Fact::Requested),
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
    ("panic level", Fact::Limit),
    ("ceiling", Fact::Limit),
    ("target footprint", Fact::Used),
    ("footprint", Fact::Used),
    ("memory cost", Fact::Needed),
    ("working set", Fact::Used),
    ("resident", Fact::Used),
    ("rss", Fact::Used),
    ("max", Fact::Limit),
    ("high-water", Fact::Peak),
    ("high water", Fact::Peak),
    ("peak", Fact::Peak),
    ("in use", Fact::Used),
    ("current", Fact::Used),
    ("taken", Fact::Used),
    ("uses", Fact::Used),
    ("beyond", Fact::Limit),
    ("heap size", Fact::Capacity),
    ("pool size", Fact::Capacity),
    ("arena size", Fact::Capacity),
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
    ("occupe", Fact::Used),
    ("occupé", Fact::Used),
    ("longueur", Fact::Requested),
    ("límite", Fact::Limit),
    ("limite", Fact::Limit),
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
    "segment",
    "region",
    "shared",
    "jvm",
    "kilobytes",
    "megabytes",
    "gigabytes",
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
    "which",
    "déjà",
    "fixée",
    "fixé",
    "à",
    "bereits",
    "già",
    "ya",
];

/// True where a line prints a size with a unit.
pub fn has_size(line: &str) -> bool {
    places(line, "", Span::line(1), false, Base::Binary).iter().any(|place| !place.bare)
}

/// True where a size stands right before a place of a line, as what the words there are said of: `heap_size=262144 is
/// too small`. A number without a unit is one where it is large.
pub fn sizes_before(line: &str, at: usize) -> bool {
    let places = places(line, "", Span::line(1), false, Base::Binary);
    let large = |place: &&Place| !place.bare || place.figure.bytes >= LEAST_SET;
    places
        .iter()
        .filter(large)
        .any(|place| (place.to..=place.to + LEAD).contains(&at) && line.get(place.to..).is_some_and(too_small))
}

/// True where a text begins with a size that has a unit, or with a word or two before it.
pub fn begins_with_size(text: &str) -> bool {
    let head = first_chars(text, 24);
    let places = places(head, "", Span::line(1), false, Base::Binary);
    places.iter().any(|place| !place.bare && place.from <= 12)
}

/// A size of a line, and what stands before it, up to the size in front of it, and behind it.
pub struct Set<'a> {
    pub before: &'a str,
    pub after: &'a str,
    /// Nothing where the number can be read in two ways.
    pub figure: Option<Figure>,
}

/// The sizes of a line: `Total global memory: 23.99 GiB`. Stamps and counts beside them are none.
pub fn sizes(line: &str, at: Span) -> Vec<Set<'_>> {
    let places = places(line, "", at, false, Base::Binary);
    let ends = |place: &Place| line.get(place.to..).is_some_and(|rest| rest.trim().is_empty() || rest.starts_with(','));
    let sized = |place: &&Place| !place.bare || place.figure.bytes >= LEAST_LARGE && ends(place);
    let mut from = 0;
    let mut sets = Vec::new();
    for place in places.iter().filter(sized) {
        let half_width = place.figure.half_width.saturating_add(place.slack);
        let figure = Some(Figure { half_width, ..place.figure }).filter(|_| !place.doubtful);
        if let (Some(before), Some(after)) = (line.get(from..place.from), line.get(place.to..)) {
            sets.push(Set { before, after, figure });
        }
        from = place.to;
    }
    sets
}

/// True where the words say that an allocation was refused, so that a lone figure behind them is what was asked for.
pub fn refuses(lower: &str) -> bool {
    ["alloc", "reserve", "create buffer", "not enough memory for", "выделить", "分配"]
        .iter()
        .any(|words| lower.contains(words))
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
    let asked = least(&[Fact::Requested, Fact::Needed]);
    let held = least(&[Fact::Used, Fact::Allocated]);
    let whole = least(&[Fact::Limit, Fact::Capacity]);
    let above = |low: Option<Interval>, there: Option<Interval>| {
        low.zip(there).is_some_and(|(low, there)| low.low > there.high)
    };
    // What is asked for comes on top of what is held.
    let both =
        asked.zip(held).map(|(asked, held)| Interval { low: asked.low + held.low, high: asked.high + held.high });
    let there = least(&[Fact::Free, Fact::Limit, Fact::Capacity]);
    above(asked, there) || above(both, whole) || above(held, least(&[Fact::Limit]))
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
    let headed = heads_unit(&line.to_lowercase());
    let of_row = unit_of_row(line);
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
            .is_some_and(|c| c.is_alphanumeric() && c.is_ascii() || matches!(c, '_' | '.' | ',' | '#' | '@' | '$'))
            || before == Some('-') && !line[..start - 1].ends_with(|c: char| c.is_ascii_digit());
        // STAR's `not less than169936370912`.
        let inside = inside && !line[..start].ends_with(" than");
        let number = &line[start..end];
        let rest = &line[end..];
        // `20250312_081120_00017`, `2210-2244-22`: names.
        let joined = before == Some('-')
            && rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let inside = inside || joined || rest.starts_with('_');
        let sentence_ends = rest.strip_prefix('.').filter(|rest| rest.starts_with(' '));
        let rest = sentence_ends.unwrap_or(rest);
        let gap = rest.len() - rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
        let unit = match units::unit_in_front(&rest[gap..]) {
            // `12 k` and `3 m` set off by a blank are words.
            // `2 MIOpen` is none either.
            Some((_, word)) if gap == 0 || (word.chars().count() > 1 || word == "B") && parts(rest, gap, word) => {
                Some((word, end + gap + word.len()))
            }
            _ => None,
        };
        // `rate(requests_total[5m])`: minutes.
        let minutes = before == Some('[') && unit.is_some_and(|(word, _)| word == "m");
        // `shape[1532,128,2049,2]`
        let of_list = before == Some('[') && unit.is_none() && rest.starts_with(',');
        // `Tried to allocate more than 1EB memory.`: all that PyTorch says of a wrong size.
        let beyond = unit.is_some_and(|(word, _)| word == "EB") && line[..start].ends_with("more than ");
        if minutes || of_list || beyond {
            continue;
        }
        // A product: `Unable to allocate 697707 elements of size 8 bytes`, `failed to allocate 4 x 544477 bytes`.
        if let Some((each, length)) = each_of_several(rest, locale).filter(|_| !inside && numeral.decimals == 0)
            && let Some(bytes) = numeral.whole().and_then(|count| count.checked_mul(each))
        {
            let to = line.len() - rest.len() + length;
            from = to;
            let figure = units::Size { bytes, half_width: 0 }.at(at);
            found.push(Place { from: start, to, figure, bare: false, doubtful: false, slack: 0 });
            continue;
        }
        let labelled = unit_of_label(&line[..start])
            .or(unit_of_heading(&line[..start]))
            .filter(|_| unit.is_none() && !(cut && rest.trim().is_empty()));
        let unit = unit.or(labelled.map(|word| (word, end)));
        let unit = match unit {
            Some((word, to)) if labelled.is_some() => Some((word, to)),
            Some((word, to)) if !(cut && to >= line.len() && !word.ends_with(['B', 'b', 's', 'e'])) => Some((word, to)),
            Some(_) => continue,
            // `status: 2` and `MIOpen Error` on the next line: a name.
            None if rest.trim().is_empty() => units::unit_in_front(next.trim_start())
                .filter(|(_, word)| parts(next.trim_start(), 0, word))
                .map(|(_, word)| (word, line.len())),
            None => unit_of_whole(rest, numeral, locale).or(of_row).map(|word| (word, end)),
        };
        if unit.is_none() && numbers_a_thing(line.get(..start).unwrap_or_default()) {
            continue;
        }
        // `2.349 MB` is two thousand of them as often as two and a third.
        let point = number.split_once('.').filter(|(whole, _)| whole.len() <= 3 && numeral.decimals == 3);
        let point = point.filter(|_| !shows_a_decimal_point(line, locale));
        let mega = unit.is_some_and(|(word, _)| word.starts_with(['m', 'M', 'k', 'K']));
        // `6.87195e+10 bytes`: rounded to the digits that are printed.
        let rounded = !number.starts_with("0x") && number.contains(['e', 'E']);
        let doubtful = point.is_some() && mega
            || rounded
            || headed && unit.is_none()
            || numeral.ambiguous
                && unit.is_some_and(|(word, _)| units::unit(word, base).is_some_and(|unit| unit > 1024));
        if doubtful && !inside {
            // Of three decimals one reading is kept, for an exact figure beside it to meet.
            let as_printed = unit.filter(|_| point.is_some() && !rounded);
            let read = as_printed.and_then(|(word, _)| units::size_in(number, word, base, locale));
            let figure = read.unwrap_or(units::Size { bytes: 0, half_width: 0 }).at(at);
            let to = unit.map_or(end, |(_, to)| to);
            from = from.max(to);
            found.push(Place { from: start, to, figure, bare: false, doubtful, slack: 0 });
            continue;
        }
        let argument = line.get(..start).is_some_and(|ahead| ahead.ends_with('('));
        // `0x10000-0x7fff0000`: a range of addresses.
        let ranges = number.starts_with("0x") && (rest.starts_with("-0x") || line[..start].ends_with('-'));
        let address = |value: u64| {
            ADDRESSES.contains(&value) || number.starts_with("0x") && (value >= HEXADECIMAL_ADDRESSES || argument)
        };
        let size = match unit {
            Some((word, _)) => units::size_in(number, word, base, locale),
            None if ranges || numeral.whole().is_some_and(address) => None,
            // `stream 0x55d0`, `prot 0x0`: of anything, unless a word says that it is a size.
            None if number.starts_with("0x") && !sized(&line[..start], rest) => None,
            None => {
                let continues = rest.trim().is_empty()
                    && (cut
                        || next.starts_with(|c: char| c.is_ascii_digit())
                            && (!begins_with_stamp(next) || closes(next)));
                let sized = |whole: &u64| *whole >= LEAST_BARE && *whole != u64::from(u32::MAX) && *whole != u64::MAX;
                // `alloc of size 402653256.000000`: printed as a fraction, and a whole number.
                let as_fraction = |whole: &u64| numeral.decimals >= 6 && *whole >= LEAST_LARGE;
                let whole = numeral
                    .whole()
                    .filter(|whole| sized(whole) && !continues && (numeral.decimals == 0 || as_fraction(whole)));
                whole.map(|bytes| units::Size { bytes, half_width: 0 })
            }
        };
        let Some(size) = size.filter(|_| !inside && (unit.is_some() || sentence_ends.is_some() || !counts(rest)))
        else {
            continue;
        };
        if size.bytes == 0 && unit.is_none() {
            continue;
        }
        let to = unit.map_or(end, |(_, to)| to);
        from = from.max(to);
        // `GB`, `kB` and `G` mean powers of 1024 in most programs' messages, and of 1000 in some.
        let either = |word: &str| base == Base::Binary && word.len() <= 2 && !word.ends_with(['i', 'I']);
        let decimal = unit
            .filter(|(word, _)| either(word))
            .and_then(|(word, _)| units::size_in(number, word, Base::Decimal, locale));
        let slack = decimal.map_or(0, |decimal| size.bytes.saturating_sub(decimal.bytes));
        found.push(Place { from: start, to, figure: size.at(at), bare: unit.is_none(), doubtful: false, slack });
    }
    found
}

/// What stands behind a count of things of one size: the bytes of each, and the length of those words.
fn each_of_several(rest: &str, locale: Locale) -> Option<(u64, usize)> {
    const COUNTED: &[&str] = &[
        " elements of size ",
        " elements and elements of size ",
        " elements of ",
        " items of size ",
        " items of ",
        " objects of size ",
        " x ",
        " * ",
        " × ",
    ];
    let words = COUNTED.iter().find(|words| rest.starts_with(**words))?;
    let number = &rest[words.len()..];
    let numeral = units::numeral(number, locale)?;
    let each = numeral.whole().filter(|each| *each > 0)?;
    let behind = &number[numeral.length..];
    let unit = behind.strip_prefix(" bytes").or_else(|| behind.strip_prefix(" byte"))?;
    (!unit.starts_with(char::is_alphanumeric)).then(|| (each, rest.len() - unit.len()))
}

/// True where a size of the line, printed with three decimals, has a point that cannot stand between thousands:
/// `free=512.000MiB total=11020.125MiB`.
fn shows_a_decimal_point(line: &str, locale: Locale) -> bool {
    line.match_indices('.').take(MOST).any(|(at, _)| {
        let lead = line[..at].len() - line[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let start = at - lead;
        let alone = !line[..start].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '_'));
        let Some(numeral) = units::numeral(&line[start..], locale).filter(|_| lead > 0 && alone) else { return false };
        let rest = line.get(start + numeral.length..).unwrap_or_default().trim_start_matches(' ');
        let size = units::unit_in_front(rest).is_some_and(|(_, word)| word.len() > 1 && parts(rest, 0, word));
        size && lead > 3 && numeral.decimals == 3
    })
}

/// True where a unit that stands at `at` is a word of its own.
fn parts(text: &str, at: usize, unit: &str) -> bool {
    let behind = text.get(at + unit.len()..).unwrap_or_default();
    !behind.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// True for digits that something closes, `70]`: a stamp that has none before it, or the end of a number.
fn closes(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with([']', '%', '|', '=', '#'])
}

/// True for a number that is the name of a process or of another thing: `pid=4124`, `rank: 1024`.
fn numbers_a_thing(before: &str) -> bool {
    const THINGS: &[&str] =
        &["pid", "ppid", "tid", "rank", "uid", "gid", "port", "line", "seed", "step", "epoch", "count"];
    let lead = before.trim_end();
    // `requestId 71120002`, `block_id=1048576`.
    if ["Id", "ID", "_id", "-id"].iter().any(|end| lead.trim_end_matches(['=', ':', ' ']).ends_with(end)) {
        return true;
    }
    // `free/total blocks 65571/524288`: both count them.
    const COUNTED: [&str; 6] = ["blocks", "pages", "chunks", "slots", "buckets", "entries"];
    let pair = lead.strip_suffix('/').map_or(lead, |lead| lead.trim_end_matches(|c: char| c.is_ascii_digit()));
    if COUNTED.iter().any(|word| pair.trim_end().ends_with(word)) {
        return true;
    }
    // `a total cell count of 73591904488`
    if ["count of", "number of"].iter().any(|words| lead.to_ascii_lowercase().ends_with(words)) {
        return true;
    }
    let Some(key) = lead.strip_suffix(['=', ':']) else { return false };
    // `<gsl_memory_alloc_pure:2354>`: a function and its line.
    let name = key.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if name.len() < key.len() && name.ends_with('<') {
        return true;
    }
    let key = key.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    THINGS.contains(&key.to_ascii_lowercase().as_str())
}

/// True for what follows a bare number that counts something: `9120 tokens`, `12 layers`, `40000 character matrix`.
/// Only what goes on with the sentence lets a number be one of bytes.
fn counts(rest: &str) -> bool {
    const GOES_ON: &[&str] = &[
        "",
        "currently",
        "already",
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
        "so",
        "after",
        "before",
        "during",
    ];
    let text = rest.trim_start_matches([' ', '-']);
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    // `bytes_free` begins the next label; the plural of `20000000 particles:` has counted before it goes on.
    let label = text[end..].starts_with(['_', '=', '"']) || text[end..].starts_with(':') && !text[..end].ends_with('s');
    !label && !GOES_ON.contains(&text[..end].to_ascii_lowercase().as_str())
}

/// The unit that a part shares with its whole, and a need with what it passes: `7.10/8.00 GiB`, `3 of 8 GiB`, `9.5>8.0
/// GiB`.
fn unit_of_whole(rest: &str, part: Numeral, locale: Locale) -> Option<&str> {
    let passed = rest.strip_prefix('>');
    let whole = passed.or_else(|| rest.trim_start().strip_prefix('/')).or_else(|| rest.strip_prefix(" of "))?;
    let whole = whole.trim_start();
    let numeral = units::numeral(whole, locale)?;
    let behind = whole.get(numeral.length..)?.trim_start_matches(' ');
    // `used/total/max = 10317/11025/11025 MB`
    let last = || {
        let rest = behind.strip_prefix('/')?;
        units::unit_in_front(rest.get(units::numeral(rest, locale)?.length..)?.trim_start())
    };
    let (_, word) = units::unit_in_front(behind).or_else(last)?;
    // `16355096754/15.2gb` is one figure in two units.
    let value = |numeral: Numeral| numeral.digits as f64 / 10_f64.powi(numeral.decimals as i32);
    let fits = passed.is_some() || value(part) <= value(numeral) * 1.25;
    (word.chars().count() > 1 && fits).then_some(word)
}

/// True where a unit stands by itself in a line, `Memory(KB) exceeded: requested = 512`: it may be that of any number.
fn heads_unit(lower: &str) -> bool {
    const UNITS: &[&str] = &["kb", "mb", "gb", "kib", "mib", "gib", "kbytes", "mbytes", "gbytes"];
    UNITS.iter().any(|unit| {
        [('(', ')'), ('[', ']')].iter().any(|(open, close)| {
            lower
                .match_indices(unit)
                .any(|(at, unit)| lower[..at].ends_with(*open) && lower[at + unit.len()..].starts_with(*close))
        })
    })
}

/// The unit of what a line says was exceeded, for the pairs behind it: `Memory(KB) Exceeded: Requested = 512`.
fn unit_of_heading(before: &str) -> Option<&'static str> {
    const UNITS: &[(&str, &str)] = &[("(kb) exceeded: ", "KB"), ("(mb) exceeded: ", "MB"), ("(gb) exceeded: ", "GB")];
    if !before.ends_with("= ") {
        return None;
    }
    let lower = before.to_ascii_lowercase();
    let of_memory = |(heading, _): &&(&str, &str)| {
        lower.find(heading).is_some_and(|at| ["memory", "ram", "heap"].iter().any(|word| lower[..at].ends_with(word)))
    };
    UNITS.iter().find(of_memory).map(|(_, unit)| *unit)
}

/// The unit in which `top` prints a row of its head: `KiB Mem : 33554432 total, 40 free, …`.
fn unit_of_row(line: &str) -> Option<&'static str> {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let line = line.trim_start();
    UNITS.into_iter().find(|unit| {
        let rest = line.strip_prefix(unit).unwrap_or_default();
        rest.starts_with(" Mem") || rest.starts_with(" Swap")
    })
}

/// The unit that a figure's label carries: `needMiB=6144`, `free_mb: 512`, `Required memory (MB): 8192`, `memory [GB]`.
fn unit_of_label(before: &str) -> Option<&str> {
    const UNITS: &[&str] =
        &["KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB", "kB", "Mb", "Gb", "bytes", "kb", "mb", "gb"];
    // `memory usage in kilobytes 24902344`, `size in bytes (4096`
    const SPELLED: &[(&str, &str)] = &[
        (" in kilobytes", "KB"),
        (" in kbytes", "KB"),
        (" in kb", "KB"),
        (" in megabytes", "MB"),
        (" in mbytes", "MB"),
        (" in mb", "MB"),
        (" in gigabytes", "GB"),
        (" in gb", "GB"),
    ];
    let tail = last_chars(before, 24).to_ascii_lowercase();
    let spelled = tail.trim_end_matches([' ', ':', '=', '(']);
    if let Some((_, unit)) = SPELLED.iter().find(|(words, _)| spelled.ends_with(words)) {
        return Some(unit);
    }
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
    let printed = before.to_lowercase();
    let lower = printed.replace('_', " ");
    if let Some(fact) = abbreviated(&lower) {
        return Some((fact, true, 0));
    }
    let (at, length, fact) = LABELS
        .iter()
        .filter_map(|(word, fact)| lower.rfind(word).map(|at| (at, word.len(), *fact)))
        // `pool_find_free(0x80, 34688)`: a function that is called, not what is free.
        .filter(|(at, length, _)| {
            // `NOT_ENOUGH_FREE_MEMORY(34688, 4096)`: a code with what belongs to it.
            let rest = &lower[at + length..];
            let arguments = rest.strip_prefix(" memory").unwrap_or(rest).strip_prefix('(');
            !(printed[..*at].ends_with('_')
                && arguments.is_some_and(|of| of.is_empty() || of.starts_with(|c: char| c.is_ascii_digit())))
        })
        // `MaxTime: 1683023497853`
        .filter(|(at, length, _)| !lower[at + length..].starts_with("time"))
        // `ReservationLimit=1 GiB` bounds what is set aside.
        // `(ulimit -v 4872192; …)` is a command, and counts KiB.
        .filter(|(at, _, fact)| *fact != Fact::Limit || !lower[..*at].ends_with("reservation"))
        // `GLOBAL_ALLOCATION_LIMIT`: of all processes together.
        .filter(|(at, _, fact)| *fact != Fact::Limit || !lower[..*at].ends_with("global allocation "))
        .filter(|(at, _, fact)| *fact != Fact::Limit || !lower[*at..].starts_with("limit -"))
        .filter(|(at, _, fact)| {
            !within_word(&lower, *at) && (*fact == Fact::Requested || !lower[..*at].ends_with("not "))
        })
        .max_by_key(|(at, length, _)| (at + length, *length))?;
    let between = lower.get(at + length..)?;
    // `current 9 GiB`; of `current value 9` nobody knows.
    let alone = || between.trim_matches([' ', ':', '=', '(']).is_empty();
    if lower[at..].starts_with("current")
        && !lower[at..].starts_with("currently")
        && length == 7
        && (!alone() || lower[..at].ends_with(|c: char| c.is_alphanumeric()))
    {
        return None;
    }
    // `left in the process's limit = 2 GiB`: what is left, not the limit.
    let lead = last_chars(&lower[..at], 30);
    // `max locked memory (ulimit -l) … (current: 64 kbytes)`: of a limit, what is set.
    if fact == Fact::Used
        && lower[at..].starts_with("current")
        && (lower.contains("ulimit") || lower.contains("rlimit"))
    {
        return Some((Fact::Limit, true, 0));
    }
    // `not enough memory to write total of 12 bytes`: what was to be written.
    if fact == Fact::Capacity && length == "total".len() && between.starts_with(" of") {
        let written = lower[..at].trim_end().trim_end_matches(" a");
        let (lead, _) = written.rsplit_once(' ')?;
        if lead.ends_with(" to") {
            let lacks =
                ["memory to", "room to", "failed to", "unable to", "not able to"].iter().any(|w| lead.ends_with(w));
            return lacks.then_some((Fact::Requested, false, 0));
        }
    }
    // `would use a total of 9 GiB`: a sum, no device's total.
    if fact == Fact::Capacity && (lead.ends_with(" a ") || lead.ends_with("(a ")) && between.starts_with(" of") {
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
    let largest = || {
        lead.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "largest" | "biggest"))
            && !lead.contains(',')
    };
    let fact = match fact {
        // `This will exceed its memory pool capacity 8 GiB, current capacity 7.9 GiB`
        Fact::Capacity if last.ends_with("current") => return None,
        // `Can't grow query_4 capacity with 32 MiB`: by how much it would have grown.
        Fact::Capacity if between.starts_with(" with") => match last_chars(&lower[..at], 80).contains("grow ") {
            true => Fact::Requested,
            false => return None,
        },
        Fact::Capacity if lower[at..].starts_with("capacity") && lead.contains("exceed") => Fact::Limit,
        // bdwgc's: `Out of Memory! Heap size: 613 MiB. Returning NULL!`, to which it has grown.
        Fact::Capacity if lower[at..].starts_with("heap size") && lead.trim_end().ends_with("out of memory!") => {
            Fact::Used
        }
        // `the maximum heap size`
        Fact::Capacity if ["max", "maximum"].iter().any(|word| last.ends_with(word)) => Fact::Limit,
        // `required free GPU memory amount of 200 MB`: what should be free.
        Fact::Free if ["required", "requires", "minimum"].iter().any(|word| last.ends_with(word)) => return None,
        // `the largest block available`
        Fact::Free if largest() => Fact::LargestFreeChunk,
        Fact::Used if foreseen => Fact::Needed,
        // `current allocation 2 GiB`
        Fact::Requested
            if lower[at..].starts_with("allocation") && ["current", "existing"].iter().any(|w| last.ends_with(w)) =>
        {
            Fact::Allocated
        }
        // `memory pool usage`, `allocator usage`: a part, which may be held or given away.
        Fact::Used if ["pool", "allocator"].iter().any(|word| last.ends_with(word)) => return None,
        // `peak usage`
        Fact::Used | Fact::Allocated if ["peak", "highest"].iter().any(|word| last.ends_with(word)) => Fact::Peak,
        // `3 GiB of the available 8 GiB`: all that could be had, and not what is left.
        Fact::Free if lead.ends_with("of the ") => return None,
        Fact::Requested
            if ["max", "maximum", "largest", "max memory", "max size of memory"].iter().any(|w| last.ends_with(w))
                || bounds_requests(last) =>
        {
            Fact::Limit
        }
        // `maxSegmentSize(MB)=2010`: the largest of the pieces.
        Fact::Limit if of_a_piece(&lower[at..]) => return None,
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
    // `need approx. 9 GiB` is one clause.
    let stops = between.contains(". ") && !between.contains("approx. ");
    let clause = between.find([';', '!', '?', '；', '。']).is_none() && !stops;
    let tied = between.contains([':', '=', '：']);
    // `exceeds what is available -- pages: 5 GiB`: another word is tied to the figure.
    let other_tied = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase()) && !FILLERS.contains(&word);
    if let Some((lead, _)) = between.split_once([':', '='])
        && lead.starts_with(|c: char| !c.is_alphanumeric())
        && lead.rsplit(|c: char| !c.is_alphanumeric()).next().is_some_and(|word| !word.is_empty() && other_tied(word))
        && ["- ", ", ", "(", "[", ". "].iter().any(|mark| lead.contains(mark))
    {
        return None;
    }
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

/// True for the end of a word that says something else: `unused`, `refused`, `caused`. `memused` is a label.
fn within_word(lower: &str, at: usize) -> bool {
    const OTHERS: &[&str] = &["un", "ref", "re", "ca", "pa", "foc", "conf", "acc", "ab", "am", "inf", "def"];
    let lead = lower[..at].rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    lead == "un" || lower[at..].starts_with("used") && OTHERS.contains(&lead)
}

/// What the word directly before a figure is short for: `req: 5 GiB`, `cap 8 GiB`. The beginning of a label counts
/// where all labels that begin so say the same.
fn abbreviated(lower: &str) -> Option<Fact> {
    const NO_LABELS: &[&str] =
        &["the", "for", "all", "res", "con", "foo", "use", "its", "cache", "heap", "pool", "arena"];
    let lead = lower.trim_end().trim_end_matches([':', '=']).trim_end();
    let word = lead.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    if !(3..=5).contains(&word.len())
        || !word.bytes().all(|byte| byte.is_ascii_lowercase())
        || NO_LABELS.contains(&word)
    {
        return None;
    }
    if word == "tot" {
        return Some(Fact::Capacity);
    }
    let mut facts = LABELS.iter().filter(|(label, _)| label.len() > word.len() && label.starts_with(word));
    let (_, fact) = facts.next()?;
    let known = LABELS.iter().any(|(label, _)| word.contains(label));
    (!known && facts.all(|(_, other)| other == fact)).then_some(*fact)
}

/// True for the largest of several pieces, which bounds none of the memory: `maxSegmentSize`, `max row size`.
fn of_a_piece(words: &str) -> bool {
    let behind = words.strip_prefix("maximum").or_else(|| words.strip_prefix("max"));
    let behind = behind.map(|rest| rest.trim_start_matches([' ', '_', '-', '.']));
    let pieces = ["segment", "row", "record", "message", "file", "line", "chunk", "part"];
    behind.is_some_and(|rest| pieces.iter().any(|piece| rest.starts_with(piece)))
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

/// True where a figure is called less than what is needed: ` is less than runtime required memory 4 GiB`.
fn less_than_required(after: &str) -> bool {
    let after = after.trim_start_matches([')', ' ']);
    let rest = ["is less than ", "is lower than ", "is smaller than ", "was less than "]
        .iter()
        .find_map(|words| after.strip_prefix(words));
    rest.is_some_and(|rest| ["requir", "needed"].iter().any(|word| first_chars(rest, 40).contains(word)))
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
    const LEAST: &[&str] = &[
        "at least",
        "not less than",
        "no less than",
        "au moins",
        "mindestens",
        "al menos",
        "almeno",
        "pelo menos",
        "至少",
    ];
    let least = LEAST.iter().find_map(|words| rest.strip_suffix(words));
    // `specify --limitGenomeGenerateRAM not less than 9000000000`
    let option = least.and_then(|lead| lead.trim_end().rsplit(' ').next());
    let named = named || option.is_some_and(|word| word.starts_with('-') && memory(word));
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
    // `calloc(1, 4096)`: one of so many bytes.
    // `realloc(0x7f9d76747000, 4096)`: of so many, from then on.
    let pointed = || {
        let (lead, pointer) = before.strip_suffix(", ")?.rsplit_once('(')?;
        pointer.strip_prefix("0x").filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())).map(|_| lead)
    };
    let Some(lead) = before.strip_suffix("(1, ").or_else(|| before.strip_suffix('(')).or_else(pointed) else {
        return false;
    };
    let name = lead.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    after.starts_with(')') && (name.contains("malloc") || name.ends_with("alloc"))
}

/// True for the length that a call was given by its name, where that call failed for memory:
/// `reg_mr(address=0x7f, length=4096, access=0xf) failed: Cannot allocate memory`.
fn argument_by_name(line: &str, place: &Place) -> bool {
    let (Some(ahead), Some(behind)) = (line.get(..place.from), line.get(place.to..)) else { return false };
    let Some((lead, arguments)) = ahead.rsplit_once('(') else { return false };
    let key = arguments.rsplit([',', ' ', '(']).next().unwrap_or_default().to_ascii_lowercase();
    let named = matches!(key.as_str(), "length=" | "len=" | "size=" | "bytes=" | "nbytes=" | "length:" | "size:");
    let Some((rest, tail)) = behind.split_once(')') else { return false };
    let tail = tail.trim_start_matches([':', ' ']).to_ascii_lowercase();
    let failed = ["failed", "returned null", "cannot allocate", "error", "= -1 enomem", "-1 enomem"];
    named
        && !arguments.contains(')')
        && !rest.contains('(')
        && lead.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && failed.iter().any(|words| tail.starts_with(words))
        && ["memory", "enomem", "alloc", "mmap", "map("].iter().any(|word| line.to_ascii_lowercase().contains(word))
}

/// A label behind a figure.
#[derive(Debug, Clone, Copy)]
struct Behind {
    fact: Fact,
    /// Fillers between the two.
    fillers: usize,
    /// Where the label ends, in bytes behind the figure.
    end: usize,
}

/// The label that follows a figure in its clause, with fillers only between.
fn label_after(after: &str) -> Option<Behind> {
    // `12 MiB > available 8 MiB`: the label of what it is held against.
    if after.trim_start().starts_with(['>', '<']) {
        return None;
    }
    // The next column of a table is another figure's.
    let ends = [',', ';', '(', '[', ':', '/', '|', '，', '、', '；', '。', '：', '（'];
    let end = after.find(ends).unwrap_or(after.len());
    let clause = after[..end].split(". ").next()?.to_lowercase().replace('_', " ");
    let excess = [
        "exceeds",
        "exceeding",
        "which is beyond",
        "is beyond",
        "is larger than",
        "is more than",
        "is greater than",
        "does not fit",
        "doesn't fit",
    ];
    // `failed to allocate 12 bytes using huge pages`: how.
    let how = |at: usize, word: &str| word == "using" && !clause[at + word.len()..].trim().is_empty();
    let label = LABELS
        .iter()
        .filter_map(|(word, fact)| clause.find(word).filter(|at| !how(*at, word)).map(|at| (at, word.len(), *fact)))
        .filter(|(at, ..)| !within_word(&clause, *at));
    let excess = excess.iter().filter_map(|word| clause.find(word).map(|at| (at, word.len(), Fact::Requested)));
    let (at, length, fact) = label.chain(excess).min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)))?;
    // `5 GiB free: 3 GiB`: the label of what follows.
    // The text ends where the next figure begins.
    let number = |rest: &str| {
        let rest = rest.trim_start_matches([':', '：', ' ', '"', '~']);
        rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit())
    };
    let sentence_ends = after[..end].contains(". ");
    let ahead = !sentence_ends && after.get(end..).is_some_and(|rest| rest.starts_with([':', '：']) && number(rest))
        || clause.trim_end().ends_with('=');
    // `MinTime: 1680000000000 MaxTime: 1683023497853`: the whole word is the label, whatever it begins with.
    let rest_of_it = clause[at + length..].trim_start_matches(char::is_alphabetic);
    let to_it = || rest_of_it.trim_end_matches(['=', ' ']).split_whitespace().all(|word| FILLERS.contains(&word));
    if ahead && to_it() {
        return None;
    }
    // `bitmap of size 12 from pool of total size 34`: the label of what another thing has.
    if end == after.len() && clause.trim_start().starts_with("from ") && !rest_of_it.trim().is_empty() && to_it() {
        return None;
    }
    let words = clause[..at].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // `12 bytes are in 3 free chunks`
    let counted = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let (fillers, others): (Vec<&str>, Vec<&str>) = words.partition(|word| FILLERS.contains(word) || counted(word));
    // Lower case may be longer or shorter in other scripts.
    let label_end = if after.is_char_boundary(at + length) { at + length } else { 0 };
    let found = Behind { fact, fillers: fillers.len(), end: label_end };
    (others.is_empty() && fillers.len() <= 3).then_some(found)
}

/// What a line tells of its quantities.
#[derive(Debug, Default)]
pub struct Told {
    pub figures: Vec<(Fact, Figure)>,
    /// Printed, but in two ways that differ, or so that it can be read in two: no other line's figure is this one.
    pub unreadable: Vec<Fact>,
    /// By how much a figure is less where its unit means a power of a thousand, which nothing in the line tells.
    pub slack: Vec<(Fact, u64)>,
}

impl Told {
    /// The figures, each as wide as both meanings of its unit leave it.
    pub fn widened(&self) -> impl Iterator<Item = (Fact, Figure)> {
        self.figures.iter().map(|(fact, figure)| {
            let slack = self.slack.iter().find(|(known, _)| known == fact).map_or(0, |(_, slack)| *slack);
            (*fact, Figure { half_width: figure.half_width.saturating_add(slack), ..*figure })
        })
    }
}

/// The figures of a line with what the words around them say they are. `refused` tells that the line speaks of an
/// allocation that was refused: there a lone figure is what was asked for.
pub fn figures(line: &str, next: &str, at: Span, cut: bool, refused: Option<usize>, base: Base) -> Told {
    let places = places(line, next, at, cut, base);
    let said = by_words(line, next, &places, refused);
    let mut told = Told::default();
    let mut meaning: Option<Base> = None;
    let mut asked: Vec<Figure> = Vec::new();
    let lower = line.to_lowercase();
    let counts_words = ["lfree", "lwork", "memget"].iter().any(|word| lower.contains(word))
        || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "words");
    let parts = lower.contains("allocated,") && lower.contains(" cached") && !lower.contains("reserved");
    for (place, fact) in places.iter().zip(said) {
        let Said::Is(mut fact) = fact else { continue };
        // `15 GiB (10 GiB allocated, 5 GiB cached)`: beside what is allocated, what is not.
        if fact == Fact::Reserved && parts {
            fact = Fact::ReservedUnallocated;
        }
        // Fortran programs count their work space in words of eight bytes, and do not say so.
        if place.bare && counts_words {
            told.unreadable.push(fact);
            continue;
        }
        if place.doubtful {
            // `402653256 (384.000MB)`: the bytes decide how the other is read.
            let exact = |(known, figure): &(Fact, Figure)| {
                *known == fact && figure.half_width == 0 && !apart(figure, &place.figure)
            };
            if place.figure.bytes == 0 || !told.figures.iter().any(exact) {
                told.unreadable.push(fact);
            }
            continue;
        }
        asked.extend((fact == Fact::Requested).then_some(place.figure));
        let known = told.figures.iter().position(|(known, _)| *known == fact);
        let Some(at) = known else {
            told.figures.push((fact, place.figure));
            told.slack.extend(Some((fact, place.slack)).filter(|(_, slack)| *slack > 0));
            continue;
        };
        let Some((_, first)) = told.figures.get_mut(at) else { continue };
        let slack = told.slack.iter().find(|(known, _)| *known == fact).map_or(place.slack, |(_, slack)| *slack);
        match decided(*first, place.figure, slack) {
            // `5.40 GB (5400000000 bytes)`: what a unit means in one figure it means in all of its line.
            Some((exact, unit)) => {
                *first = exact;
                meaning = meaning.or(Some(unit));
            }
            // The same said twice, in bytes and in GiB, is one figure; two that differ tell nothing.
            None if apart(first, &place.figure) => told.unreadable.push(fact),
            None => {}
        }
    }
    if let Some(base) = meaning {
        let slack = std::mem::take(&mut told.slack);
        for (fact, figure) in told.figures.iter_mut().filter(|(_, figure)| figure.half_width > 0) {
            let less = slack.iter().find(|(known, _)| known == fact).map_or(0, |(_, slack)| *slack);
            figure.bytes -= if base == Base::Decimal { less.min(figure.bytes) } else { 0 };
        }
    }
    // `Limit=8 GiB Total=9 GiB Peak=9 GiB`: what has a peak has no total but what it holds.
    let has = |told: &Told, wanted: Fact| told.figures.iter().any(|(fact, _)| *fact == wanted);
    if has(&told, Fact::Limit) && has(&told, Fact::Peak) && !has(&told, Fact::Used) && lower.contains("total=") {
        let sum = told.figures.iter_mut().find(|(fact, _)| *fact == Fact::Capacity);
        sum.into_iter().for_each(|(fact, _)| *fact = Fact::Used);
        told.slack.iter_mut().filter(|(fact, _)| *fact == Fact::Capacity).for_each(|(fact, _)| *fact = Fact::Used);
    }
    granted(&mut told, &lower);
    sum_refused(&mut told, &lower);
    one_that_passes(&mut told, &asked);
    // `9 GiB used but the device only has 8 GiB`: what is more than the whole would have been used.
    let get = |wanted: Fact| told.figures.iter().find(|(fact, _)| *fact == wanted).map(|(_, figure)| figure.interval());
    let above = get(Fact::Used).zip(get(Fact::Capacity)).is_some_and(|(used, whole)| used.low > whole.high);
    if above && get(Fact::Requested).or(get(Fact::Needed)).is_none() {
        told.figures.iter_mut().filter(|(fact, _)| *fact == Fact::Used).for_each(|(fact, _)| *fact = Fact::Needed);
        told.slack.iter_mut().filter(|(fact, _)| *fact == Fact::Used).for_each(|(fact, _)| *fact = Fact::Needed);
    }
    impossible(&told.figures).into_iter().for_each(|fact| told.unreadable.push(fact));
    told.figures.retain(|(fact, _)| !told.unreadable.contains(fact));
    told
}

/// `cudaMalloc block pool failed, total_size=4096 bytes`: where nothing else is printed, the size of what was refused.
fn sum_refused(told: &mut Told, lower: &str) {
    // `GPU total size: 8 GiB, allocation failed`: what a holder of memory has.
    let held = HOLDERS.iter().any(|holder| lower.contains(&format!("{holder} total")));
    let sum = lower.contains("total_size=") && !held;
    let refused = ["alloc", "reserve"].iter().any(|word| lower.contains(word))
        && ["failed", "cannot", "unable", "could not"].iter().any(|word| lower.contains(word));
    if let ([(fact @ Fact::Capacity, _)], true) = (told.figures.as_mut_slice(), sum && refused) {
        *fact = Fact::Requested;
        told.slack.iter_mut().for_each(|(of, _)| *of = Fact::Requested);
    }
}

/// `job killed: exceeded requested memory (used 65 GiB, requested 64 GiB)`: what a job asked for at its start, and then
/// passed by little, is its limit where no other is printed.
fn granted(told: &mut Told, lower: &str) {
    let get = |wanted: Fact| told.figures.iter().find(|(fact, _)| *fact == wanted).map(|(_, figure)| *figure);
    let there = [Fact::Limit, Fact::Capacity, Fact::Free].into_iter().any(|fact| get(fact).is_some());
    let killed = lower.contains("exceed") && (lower.contains("limit exceeded: requested") || lower.contains("killed"));
    let (Some(asked), Some(used)) = (get(Fact::Requested), get(Fact::Used).or(get(Fact::Peak))) else { return };
    let passed = asked.interval().low <= used.interval().high && used.bytes / 5 * 4 <= asked.bytes;
    if killed && passed && !there {
        told.figures.iter_mut().filter(|(fact, _)| *fact == Fact::Requested).for_each(|(fact, _)| *fact = Fact::Limit);
        told.slack.iter_mut().filter(|(fact, _)| *fact == Fact::Requested).for_each(|(fact, _)| *fact = Fact::Limit);
    }
}

/// Of several requests in a line the one that passes the limit on top of what is held, where it alone does.
fn one_that_passes(told: &mut Told, asked: &[Figure]) {
    let get = |wanted: Fact| told.figures.iter().find(|(fact, _)| *fact == wanted).map(|(_, figure)| figure.interval());
    let held = get(Fact::Used).or(get(Fact::Allocated));
    let Some((held, limit)) = held.zip(get(Fact::Limit)).filter(|_| told.unreadable.contains(&Fact::Requested)) else {
        return;
    };
    let passes = |figure: &&Figure| held.low + figure.interval().low > limit.high;
    let fits = |figure: &Figure| held.high + figure.interval().high <= limit.low;
    let mut passing = asked.iter().filter(passes);
    let Some(first) = passing.next().filter(|first| !passing.any(|other| apart(first, other))) else { return };
    if asked.iter().all(|figure| fits(figure) || !apart(figure, first)) {
        told.unreadable.retain(|fact| *fact != Fact::Requested);
        told.figures.iter_mut().filter(|(fact, _)| *fact == Fact::Requested).for_each(|(_, known)| *known = *first);
    }
}

/// What a figure in bytes tells of the same one in a unit that has two meanings: the exact figure, and the meaning.
fn decided(first: Figure, second: Figure, slack: u64) -> Option<(Figure, Base)> {
    let (exact, rounded) = match (first.half_width, second.half_width) {
        (0, width) if width > 0 => (first, second),
        (width, 0) if width > 0 => (second, first),
        _ => return None,
    };
    let meets = |bytes: u64| exact.bytes.abs_diff(bytes) <= rounded.half_width.max(1);
    if slack == 0 {
        return None;
    }
    if meets(rounded.bytes) {
        return Some((exact, Base::Binary));
    }
    meets(rounded.bytes.checked_sub(slack)?).then_some((exact, Base::Decimal))
}

/// What cannot be true together: more that is free than there is. One of the two is another quantity.
fn impossible(figures: &[(Fact, Figure)]) -> Vec<Fact> {
    let get = |wanted: Fact| figures.iter().find(|(fact, _)| *fact == wanted).map(|(_, figure)| figure.interval());
    match (get(Fact::Free), get(Fact::Capacity)) {
        (Some(free), Some(whole)) if free.low > whole.high => vec![Fact::Free, Fact::Capacity],
        _ => Vec::new(),
    }
}

/// What is said of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// Nothing: it may be any quantity.
    Nothing,
    Is(Fact),
    /// It counts something else, or nobody knows in what.
    NoSize,
}

/// What the words around each figure say of it.
fn by_words(line: &str, next: &str, places: &[Place], refused: Option<usize>) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::with_capacity(places.len());
    let mut order: Option<bool> = None;
    // `total/free memory: 8/3`: what the second of two figures is.
    let mut pairs_second: Option<Fact> = None;
    // Where the label ends that the figure before has taken: it is no other figure's.
    let mut taken = 0;
    let last_has_label = places.last().and_then(|last| line.get(last.to..)).and_then(label_after).is_some();
    for (i, place) in places.iter().enumerate() {
        let start = i.checked_sub(1).and_then(|i| places.get(i)).map_or(0, |place| place.to).max(taken);
        let end = places.get(i + 1).map_or(line.len(), |place| place.from);
        let (Some(before), Some(after)) = (line.get(start..place.from), line.get(place.to..end)) else {
            said.push(Said::NoSize);
            continue;
        };
        let first = i == 0 || start == 0;
        // `free memory/total memory: 3/8`, `resident size > limit: 9 > 8`: the first label is the first figure's.
        let mark = after.trim_start().chars().next().filter(|mark| matches!(mark, '/' | '>'));
        let pair = mark
            .filter(|mark| after.trim().len() == 1 || *mark == '/' && after.starts_with('/'))
            .and_then(|mark| last_chars(before, 80).split_once(mark))
            .and_then(|(first, second)| label_before(first).zip(label_before(second)))
            .map(|((first, ..), (second, ..))| (first, second));
        let second = pairs_second.take().filter(|_| matches!(before.trim(), "/" | ">")).map(|fact| (fact, true, 0));
        let ahead = pair.map(|(first, _)| (first, true, 0));
        let ahead = ahead.or(second).or_else(|| label_before(last_chars(before, 80)));
        pairs_second = pair.filter(|(first, second)| first != second).map(|(_, second)| second);
        // `allocation: 12 bytes` and `available, 64 requested` on the next line: its label.
        let wrapped = after.trim().is_empty() && i + 1 == places.len() && next.starts_with(|c: char| c.is_lowercase());
        let behind = label_after(first_chars(if wrapped { next } else { after }, 48));
        // `a label, 4.8 GiB` behind another figure: the label is that one's, or nobody's.
        let before_comma = i > 0 && start > 0 && label_stands_apart(before);
        let ahead = ahead.filter(|_| !before_comma);
        let of = i > 0 && ahead.is_none() && joins_whole(before) && {
            // What passed a limit is somewhat more than the whole; `8192 MB/8 GiB` is one figure.
            let twin = line.get(places[i - 1].from..places[i - 1].to) != line.get(place.from..place.to)
                && before.trim() == "/"
                && !apart(&places[i - 1].figure, &place.figure);
            places[i - 1].figure.bytes / 2 <= place.figure.bytes && !twin
        };
        let close = |label: &Option<(Fact, bool, usize)>| label.is_some_and(|(_, _, words)| words == 0);
        // Labels stand ahead of their figures where the last figure has none behind it. The first that has one tells: a
        // stamp's numbers have none.
        if order.is_none() && (ahead.is_some() || behind.is_some()) {
            order = Some(
                close(&ahead) && (behind.is_none_or(|label| label.fillers > 0) || !last_has_label)
                    || ahead.is_some_and(|(_, tied, _)| tied),
            );
        }
        let mut labels_first = order.unwrap_or(false);
        // `Failed during allocation: 16 bytes available, 64 requested`: the noun is no label where each figure has one.
        let own = behind.is_some_and(|label| label.fact != Fact::Requested);
        let during = before.trim_end().to_ascii_lowercase().ends_with("allocation:");
        let noun = during && ahead.is_some_and(|(_, tied, _)| tied) && i == 0 && own;
        if noun {
            labels_first = false;
            order = Some(false);
        }
        let before_it = said.last().copied();
        // `reserved memory 1 GiB is less than the required memory 4 GiB`: what there is of it, unless it is a limit.
        if less_than_required(after) {
            let bound = ahead.map(|(fact, ..)| fact).filter(|fact| matches!(fact, Fact::Limit | Fact::Capacity));
            said.push(Said::Is(bound.unwrap_or(Fact::Free)));
            continue;
        }
        // `work_mem (4096 kB) too small`: what is set, whatever it is called.
        if too_small(after) {
            said.push(Said::Is(Fact::Limit));
            continue;
        }
        // `limit: 9 GiB > 1`, cut off: what is above the limit is not the limit.
        let higher = after.trim_start_matches([')', ' ']).starts_with('>');
        // `physicalBytes (9 GiB) > maxPhysicalBytes (8 GiB)`: what is above a bound is no bound of its own.
        if higher && after.trim_start().starts_with(')') && matches!(ahead, Some((Fact::Capacity, ..))) {
            said.push(Said::Is(Fact::Used));
            continue;
        }
        let above = after.trim_start().starts_with('>') && matches!(ahead, Some((Fact::Limit | Fact::Capacity, ..)));
        if above && pair.is_none() && places.get(i + 1).is_none() {
            said.push(Said::Nothing);
            continue;
        }
        let paired = pair.is_some() || second.is_some();
        if let Some(compared) = compared(line, places, i, ahead.map(|(fact, ..)| fact)).filter(|_| !paired) {
            said.push(compared);
            continue;
        }
        // `max-memory-size exceeded: (9/8)`: what passed the limit, and the limit. A lone figure may be either.
        let bound = ahead.is_some_and(|(fact, ..)| matches!(fact, Fact::Limit | Fact::Capacity));
        let pair = places.get(i + 1).and_then(|next| line.get(place.to..next.from)).map(str::trim);
        let exceeds = |lead: &str| passed(lead) || last_chars(lead, 48).to_ascii_lowercase().contains("exceed");
        // `exceeded limit: 9 / 8` as well: a limit is no part of what it bounds.
        // `exceeded memory limit: 9 bytes (stack=1, heap=8)`: what is made up of parts is what was used.
        let made_up = after.trim_start().starts_with('(') && after.trim_end().ends_with('=') && exceeds(before);
        if bound && behind.is_none() && (passed(before) || made_up || pair == Some("/") && exceeds(before)) {
            said.push(if matches!(pair, Some("/" | "of")) { Said::Is(Fact::Used) } else { Said::Nothing });
            continue;
        }
        let whole_of_passed = matches!(before.trim(), "/" | "of")
            && i.checked_sub(1).and_then(|i| places.get(i)).is_some_and(|part| {
                line.get(..part.from).is_some_and(exceeds) && place.figure.bytes < part.figure.bytes
            });
        if whole_of_passed {
            said.push(Said::Is(Fact::Limit));
            continue;
        }
        let mut by_label = |label: Behind| {
            taken = if wrapped { line.len() } else { place.to + label.end };
            Some(label.fact)
        };
        let fact = match (ahead, behind) {
            (Some((fact, true, _)), _) if !of && !noun => Some(fact),
            (_, Some(label))
                if of && (before_it != Some(Said::Nothing) || matches!(label.fact, Fact::Capacity | Fact::Limit)) =>
            {
                by_label(label)
            }
            (_, Some(label)) if of => {
                // `7 GiB of 8 GiB in use`
                if !said.contains(&Said::Is(label.fact))
                    && let Some(part) = said.last_mut()
                {
                    *part = Said::Is(label.fact);
                }
                by_label(label);
                Some(Fact::Capacity)
            }
            // `0:03:41  63G / 63G  ERROR`: of whatever it is that somebody prints in front of each line.
            _ if of && before.trim() == "/" && !speaks_of_memory(line, places, i) => None,
            _ if of => Some(Fact::Capacity),
            (Some((fact, _, 0)), Some(_)) if labels_first => Some(fact),
            // `memory use 4.3 GiB exceeds …`: what exceeds is what is used.
            (_, Some(label)) if label.fact == Fact::Requested && uses(before) => {
                by_label(label);
                Some(Fact::Used)
            }
            (_, Some(label)) => by_label(label),
            (Some((fact, _, words)), None) if words == 0 || first => Some(fact),
            (Some((Fact::Requested | Fact::Limit, _, _)), None) => ahead.map(|(fact, ..)| fact),
            _ => None,
        };
        // `new used memory 9 GiB … would be larger than`: what would be used is what is needed.
        let would = || {
            let rest = line.get(place.to..).unwrap_or_default();
            let clause = first_chars(rest, 100).split(". ").next().unwrap_or_default();
            [" would be ", " would exceed ", " would go "].iter().any(|words| clause.contains(words))
        };
        let fact = if fact == Some(Fact::Used) && would() { Some(Fact::Needed) } else { fact };
        let beside = behind.is_some_and(|label| label.fillers == 0 && Some(label.fact) == fact);
        // `failed to allocate: 5 GiB requested > 1 GiB free`: said twice of the first, and of no other.
        if let Some(label) = behind.filter(|_| beside) {
            taken = taken.max(if wrapped { line.len() } else { place.to + label.end });
        }
        said.push(classed(line, places, i, Around { before, after, refused, of, beside }, (ahead, fact), &said));
    }
    said
}

/// True where a figure is said to be too small: `= 4096 kB is not enough`, `(64 MB) too small`.
pub fn too_small(after: &str) -> bool {
    const SMALL: &[&str] =
        &["too small", "too low", "too little", "not enough", "not large enough", "insufficient", "not sufficient"];
    let said = after.trim_start_matches([' ', ')', '"', '\'', ',']);
    let (said, stated) = match ["is ", "was ", "are "].iter().find_map(|verb| said.strip_prefix(verb)) {
        Some(said) => (said, true),
        None => (said, false),
    };
    // `[4711] not enough memory`: of something else, which is named behind it.
    let ends = |rest: &str| {
        let rest = rest.trim_start();
        rest.is_empty()
            || rest.starts_with(['.', ',', ';', '!', '(', ':'])
            || rest.starts_with("to ")
            || rest.starts_with("for ")
    };
    SMALL.iter().any(|words| said.strip_prefix(words).is_some_and(|rest| stated || ends(rest)))
}

/// True where memory is named beside a pair of figures of which the second is at `i`: `GPU memory 7/8 GiB`.
fn speaks_of_memory(line: &str, places: &[Place], i: usize) -> bool {
    let first = i.checked_sub(1).and_then(|i| places.get(i)).map_or(0, |place| place.from);
    let ahead = line.get(..first).map(|ahead| last_chars(ahead, 48));
    let behind = places.get(i).and_then(|place| line.get(place.to..)).map(|behind| first_chars(behind, 24));
    ahead.into_iter().chain(behind).any(|text| {
        let lower = text.to_lowercase();
        ["mem", "ram", "heap", "gpu", "pool", "arena", "使用", "内存", "显存"].iter().any(|word| lower.contains(word))
    })
}

/// True for what ends in words for a lack and a colon: `not enough memory: `.
fn lacks(before: &str) -> bool {
    let lead = before.trim_end().strip_suffix(':').map(|lead| last_chars(lead, 32).to_ascii_lowercase());
    let words = ["not enough memory", "insufficient memory", "does not fit in memory", "doesn't fit in memory"];
    lead.is_some_and(|lead| words.iter().any(|words| lead.ends_with(words)))
}

/// True where what stands before a figure says that a limit was passed, and the figure follows a colon: `limit
/// exceeded: (`.
fn passed(before: &str) -> bool {
    let lead = before.trim_end().trim_end_matches(['(', '[']).trim_end();
    let lead = lead.strip_suffix(':').map(|lead| last_chars(lead, 24).to_ascii_lowercase());
    lead.is_some_and(|lead| lead.trim_end().ends_with("exceeded") || lead.trim_end().ends_with("exceeds"))
}

/// What a figure is by the comparison that it stands in, `used + asked > limit` or `what there is > limit`, where no
/// label of its own says more.
fn compared(line: &str, places: &[Place], i: usize, label: Option<Fact>) -> Option<Said> {
    let joint = |at: usize| {
        let text = line.get(places.get(at)?.to..places.get(at + 1)?.from)?;
        Some(text.trim().trim_matches(['(', ')']).trim())
    };
    let over = |at: usize| matches!(joint(at), Some(">" | ">=" | "exceeds"));
    let plus = |at: usize| joint(at) == Some("+");
    let bound = matches!(label, None | Some(Fact::Limit | Fact::Capacity));
    let before = i.checked_sub(1);
    if plus(i) && over(i + 1) {
        return bound.then_some(Said::Is(Fact::Used));
    }
    if before.is_some_and(plus) && over(i) {
        return Some(Said::Is(Fact::Requested));
    }
    if before.is_some_and(over) {
        let own =
            places.get(i).and_then(|place| line.get(place.to..)).and_then(|after| label_after(first_chars(after, 48)));
        // What there is where memory is lacking may be free, or all.
        let first = places.first().and_then(|first| line.get(..first.from));
        // `exceeds available memory (9 GiB > 8 GiB)`
        let free = || first.and_then(|first| label_before(last_chars(first, 80)));
        let bound = match () {
            () if first.is_some_and(lacks) => Said::Nothing,
            () if free().is_some_and(|(fact, ..)| fact == Fact::Free) => Said::Is(Fact::Free),
            () => Said::Is(Fact::Limit),
        };
        return (label.is_none() && own.is_none()).then_some(bound);
    }
    if over(i) && label == Some(Fact::Free) {
        return Some(Said::Is(Fact::Requested));
    }
    // `memory limit exceeded: 9 GiB > 8 GiB`: what passed the limit is not the limit.
    (over(i) && bound && label.is_some()).then_some(Said::Nothing)
}

/// True for the object of a verb that failed, or of an attempt: `could not get 5 GiB`, `tried to map a block of 5 GiB`.
fn wanted(before: &str) -> bool {
    const VERBS: &[&str] = &[
        "get", "obtain", "acquire", "find", "map", "mmap", "commit", "secure", "provide", "grow", "extend", "expand",
        "claim", "hold", "store", "create", "reserve", "allocate", "alloc", "malloc", "take", "enlarge", "increase",
        "resize", "realloc", "satisfy", "pin",
    ];
    const FAILS: &[&str] = &[
        "cannot",
        "can't",
        "couldn't",
        "unable",
        "failed",
        "fails",
        "tried",
        "trying",
        "attempted",
        "attempting",
        "not",
    ];
    let lower = last_chars(before, 60).to_lowercase();
    // The object stands in the same clause.
    let clause = lower.rsplit([',', ';', ':', '(', '.']).next().unwrap_or_default();
    let says = |word: &&str| word.contains(char::is_alphanumeric) && !FILLERS.contains(word);
    let mut words = clause.split_whitespace().rev().skip_while(|word| !says(word));
    words.next().is_some_and(|word| VERBS.contains(&word)) && words.take(4).any(|word| FAILS.contains(&word))
}

/// True where a figure is said to be used: `memory use`, `consumption of`.
fn uses(before: &str) -> bool {
    let lower = before.to_lowercase();
    let lead = lower.trim_end().trim_end_matches([':', '=', '(']).trim_end().trim_end_matches(" of");
    let word = lead.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ["use", "usage", "used", "consumption", "using"].contains(&word)
}

/// True where the last label before a figure ends its clause: `wanted, 4.8 GiB`.
fn label_stands_apart(before: &str) -> bool {
    let clause = before.trim_end();
    clause.ends_with([',', ';']) || clause.ends_with(')') && !clause.contains('(')
}

/// What stands around a figure, up to those beside it.
struct Around<'a> {
    before: &'a str,
    after: &'a str,
    refused: Option<usize>,
    /// It is the whole of which the figure before it is a part.
    of: bool,
    /// Its label stands directly behind it.
    beside: bool,
}

/// What a figure is, by its label or by the form in which it stands.
fn classed(
    line: &str,
    places: &[Place],
    i: usize,
    around: Around<'_>,
    (ahead, fact): (Option<(Fact, bool, usize)>, Option<Fact>),
    said: &[Said],
) -> Said {
    let Around { before, after, refused, of, beside } = around;
    let Some(place) = places.get(i) else { return Said::NoSize };
    let alone = || {
        // `dimensions 1024 x 768 (3145728 bytes)`: the only one of them that is a size.
        let sole = !place.bare && places.iter().filter(|place| !place.bare).count() == 1;
        refused.filter(|refused| sole && place.from >= *refused).map(|_| Fact::Requested)
    };
    // What has elements is as large as they are many: `array of size 1688`.
    let elements = ["array of", "vector of", "matrix of", "list of", "table of", "tensor of", "map of", "queue of"];
    let noun = before.trim_end().to_ascii_lowercase();
    let noun = noun.strip_suffix("size").map(str::trim_end).unwrap_or_default();
    // A bitmap's size is in bytes.
    let whole = |words: &&str| noun.strip_suffix(words).is_some_and(|lead| !lead.ends_with(char::is_alphanumeric));
    if place.bare && elements.iter().any(whole) {
        return Said::NoSize;
    }
    // `120000 rows of 4096 bytes`: each of them.
    let each = || {
        let mut words = before.trim_end().strip_suffix(" of")?.split_whitespace().rev();
        let noun = words.next()?;
        let number = words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        (number && noun.bytes().all(|byte| byte.is_ascii_alphabetic()) && !FILLERS.contains(&noun)).then_some(())
    };
    if each().is_some() {
        return Said::NoSize;
    }
    // `Cannot reallocate memory (old_size=4096 new_size=8192)`
    let lead = before.trim_end().to_ascii_lowercase();
    if lead.ends_with("old_size=") {
        return Said::NoSize;
    }
    if refused.is_some() && lead.ends_with("new_size=") {
        return Said::Is(Fact::Requested);
    }
    // `(Xms 4096 kb, Xmx 8192 kb)`: what a heap begins with.
    if lead.ends_with("xms") {
        return Said::NoSize;
    }
    // `exceeds total capacity by 5 GiB`: an excess, and `where each bank needs 5 GiB`: a share.
    let clause = last_chars(before, 60).to_lowercase();
    let clause = clause.rsplit([',', ';', '(']).next().unwrap_or_default();
    let excess = clause.trim_end().ends_with(" by")
        && ["exceed", "short", "over ", "above", "beyond", "lack", "increas", "grow", "reduc"]
            .iter()
            .any(|word| clause.contains(word));
    let share = clause.split_once("each ").is_some_and(|(lead, rest)| {
        let verbs = ["need", "requir", "store", "use", "take", "hold", "want", "alloc"];
        let mut verb = rest.split(' ').take(3);
        !lead.ends_with(char::is_alphanumeric) && verb.any(|word| verbs.iter().any(|verb| word.starts_with(verb)))
    });
    let each_of = after.trim_start().starts_with("each");
    if excess || share || each_of {
        return Said::NoSize;
    }
    // `from 2 GiB to 4 GiB`, `resize 2048 to 4096 bytes`: what it was, and what it was to become.
    if grows(before) && matches!(after.trim(), "to" | "->") {
        return Said::NoSize;
    }
    // `… of size 442351616`, `alloc 570791576 size` in a line that speaks of a refusal.
    let sized = || {
        let lead = before.trim_end().trim_end_matches([':', '=', '(', '[', ' ']).to_ascii_lowercase();
        let named = ["size", "bytes"].iter().any(|word| lead.ends_with(word));
        // `usage=…, limit=…, size=4096`: in a list of a refusal's figures, what was asked for.
        let whole = line.to_ascii_lowercase();
        let keyed = before.trim_end().ends_with(['=', ':'])
            && (["limit", "max"].iter().any(|word| whole.contains(word))
                && ["usage", "used", "use="].iter().any(|word| whole.contains(word))
                || whole.contains("no memory") && ["avail", "free"].iter().any(|word| whole.contains(word))
                // `Failed to allocate memory, size: 16717 bytes, … Largest available block: 16045 bytes`
                || refused.is_some() && ["largest", "biggest"].iter().any(|word| whole.contains(word)));
        // `stream 0x55d0 size 4096`: the label of what follows.
        let sizes = after.trim_start().strip_prefix("size").is_some_and(|rest| {
            let rest = rest.trim_start_matches([' ', ':', '=']);
            !rest.starts_with(|c: char| c.is_ascii_digit()) && (places.get(i + 1).is_none() || !rest.is_empty())
        });
        let asks = (refused.is_some() || keyed) && (named || sizes);
        // `would exceed memory (size=17179869184)`: the size of what is exceeded.
        let exceeded = last_chars(&lead, 40).contains("exceed");
        // `available HBM size: …`: the size of something else.
        let other = ahead.is_some_and(|(fact, ..)| fact != Fact::Requested);
        // `… 5 GiB from the pool (size 8 GiB)`: the pool's.
        (asks && !exceeded && !other && !said.contains(&Said::Is(Fact::Requested))).then_some(Fact::Requested)
    };
    // `out of memory -- size == 12MB`, `(size: 12 MB)`: the size of nothing else that is named.
    let told_size = || {
        let lead = before.trim_end().trim_end_matches([':', '=', ' ']).to_ascii_lowercase();
        // `fatal out of memory (4096 bytes)`
        if lead.ends_with("out of memory (") && after.starts_with(')') && !place.bare {
            return Some(Fact::Requested);
        }
        let lead = lead.strip_suffix("size").map(str::trim_end)?;
        let spoken = lead.contains("out of memory") || lead.contains("not enough memory");
        let sized = !place.bare || place.figure.bytes >= LEAST_LARGE;
        (spoken && lead.ends_with(['-', '(', '[', ',', ':', ';', '.']) && sized).then_some(Fact::Requested)
    };
    // `memory exhausted by input buffer of size 4096 bytes`: the thing that was too large.
    let exhausting = || {
        let lead = line.get(..place.from)?.to_lowercase();
        let spoken = ["exhausted", "out of memory", "not enough memory", "agotada", "épuisée", "erschöpft", "esaurita"]
            .iter()
            .any(|words| lead.contains(words));
        let lead = lead.trim_end();
        let of = ["of size", " of", " de", " von", " di"].iter().find_map(|of| lead.strip_suffix(of))?;
        let mut words = of.rsplit(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(3);
        let made =
            words.any(|word| matches!(word, "buffer" | "block" | "array" | "tensor" | "chunk" | "image" | "puffer"));
        (spoken && made && !place.bare).then_some(Fact::Requested)
    };
    // `Ran out of memory while applying 4096 bytes`: what was being done when there was no room.
    let doing = || {
        let lead = last_chars(line.get(..place.from)?, 48).to_lowercase();
        let (_, did) = lead.rsplit_once("out of memory ")?;
        let did = did.strip_prefix("while ").or_else(|| did.strip_prefix("when "))?;
        let mut words = did.split_whitespace();
        let verb = words.next().is_some_and(|word| word.ends_with("ing"));
        (verb && words.all(|word| FILLERS.contains(&word)) && !place.bare).then_some(Fact::Requested)
    };
    // `failed to grow from 2 GiB to 4 GiB`
    let grown = || {
        let earlier = i.checked_sub(1).and_then(|i| places.get(i)).and_then(|earlier| line.get(..earlier.from));
        let from = before.trim() == "to" && earlier.is_some_and(grows);
        let lower = line.to_ascii_lowercase();
        let fails = ["fail", "cannot", "unable", "could not", "out of memory", "out-of-memory"];
        let fails = fails.iter().any(|word| lower.contains(word));
        (from && fails).then_some(Fact::Requested)
    };
    let object = || (wanted(before) && (!place.bare || place.figure.bytes >= LEAST_LARGE)).then_some(Fact::Requested);
    // `5 GiB could not be reserved`
    let denied = || {
        let lower = first_chars(after, 48).to_ascii_lowercase();
        // `5 GiB of memory could not be reserved`
        let of = ["of gpu memory", "of device memory", "of host memory", "of memory", "of ram", "of vram"];
        let told = lower.trim_start();
        let lower = of.iter().find_map(|words| told.strip_prefix(words)).unwrap_or(told);
        let verb = ["cannot be ", "could not be ", "can not be ", "can't be ", "couldn't be "]
            .iter()
            .find_map(|words| lower.trim_start().strip_prefix(words))?;
        let takes = ["alloc", "reserv", "creat", "mapp", "obtain", "provid", "commit", "grant", "satisf"];
        takes.iter().any(|stem| verb.starts_with(stem)).then_some(Fact::Requested)
    };
    // `5 GiB is larger than the card's 4 GiB`: what a need is above is a bound.
    let bound = || {
        let needs = said.iter().any(|said| matches!(said, Said::Is(Fact::Requested | Fact::Needed | Fact::Used)));
        let lower = last_chars(before, 60).to_ascii_lowercase();
        let above = ["larger than", "greater than", "more than", "bigger than", "exceeds", "exceed "];
        (needs && !place.bare && above.iter().any(|words| lower.contains(words))).then_some(Fact::Limit)
    };
    // `cannot fit the databases into 16 GiB`
    let fits = || {
        let lead = last_chars(before, 48).to_ascii_lowercase();
        let lead = lead.trim_end();
        let within = [" in", " into", " within"].iter().any(|word| lead.ends_with(word));
        let fails = ["cannot fit", "can't fit", "not fit", "n't fit", "unable to fit"].iter().any(|w| lead.contains(w));
        (within && fails && !place.bare).then_some(Fact::Limit)
    };
    let by_call = (argument(before, after) || argument_by_name(line, place)).then_some(Fact::Requested);
    // OpenCL's largest single buffer: `CL_DEVICE_MAX_MEM_ALLOC_SIZE=402653184`.
    if place.figure.bytes >= LEAST_LARGE && last_chars(before, 24).to_ascii_lowercase().ends_with("max_mem_alloc_size=")
    {
        return Said::Is(Fact::Limit);
    }
    // `out of memory (27957329392).  aborting...`: what was asked for, in bytes (Gauche, src/core.c).
    let bracketed = || {
        let lead = last_chars(before, 24).to_ascii_lowercase();
        let alone = place.bare && lead.ends_with("out of memory (") && after.starts_with(')');
        (alone && place.figure.bytes >= LEAST_LARGE).then_some(Fact::Requested)
    };
    let by_size =
        sized().or(by_call).or_else(grown).or_else(object).or_else(denied).or_else(told_size).or_else(bracketed);
    // `want 6 GiB, have 2 GiB`; what a card or a pool has is its whole.
    let has = || {
        let in_bytes = || places.iter().any(|other| !other.bare && !other.doubtful && other.figure.half_width == 0);
        let bytes = !place.bare || place.figure.bytes >= LEAST_LARGE || in_bytes();
        let needed = said.contains(&Said::Is(Fact::Requested)) && bytes;
        let lead = before.trim_end().trim_end_matches([':', '=']).trim_end_matches(" only").to_ascii_lowercase();
        let mut words = lead.rsplit(|c: char| !c.is_ascii_alphabetic()).filter(|word| *word != "only");
        let has = matches!(words.next().unwrap_or_default(), "have" | "has" | "got");
        let holder = words.next().is_some_and(|word| HOLDERS.contains(&word));
        (needed && has && !holder).then_some(Fact::Free)
    };
    // `the device has 8 GiB`, `on a card with 8 GiB of memory`: what a holder of memory has is its whole.
    let holds = || {
        let lead = before.trim_end().trim_end_matches(" only").to_ascii_lowercase();
        let mut words =
            lead.rsplit(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !matches!(*word, "" | "only" | "just"));
        let has = matches!(words.next().unwrap_or_default(), "has" | "with" | "have");
        let holder = words.find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        let holder = holder.map(|word| word.strip_suffix('s').filter(|one| HOLDERS.contains(one)).unwrap_or(word));
        // Where it goes on in the same clause, it may be of what is free of it.
        let behind = first_chars(after, 24).to_ascii_lowercase();
        let told = behind.trim_start();
        let named = ["of memory", "of ram", "of vram", "ram ", "vram ", "memory "]
            .iter()
            .find_map(|words| told.strip_prefix(words));
        let behind = named.unwrap_or(told).trim_start();
        let part = ["free", "avail", "used", "in use", "left", "remain"].iter().any(|word| behind.starts_with(word));
        let ends = behind.is_empty()
            || behind.starts_with([',', ';', ':', '.', '(', ')', '@'])
            || named.is_some() && !part && !behind.starts_with(|c: char| c.is_ascii_digit());
        let holder = holder.is_some_and(|word| HOLDERS.contains(&word) && !matches!(word, "heap" | "pool" | "arena"))
            || line.get(..place.from).is_some_and(|ahead| {
                let ahead = last_chars(ahead, 60).to_ascii_lowercase();
                ["geforce", "radeon", "tesla", "quadro", "nvidia "].iter().any(|product| ahead.contains(product))
            });
        (has && holder && ends && !place.bare).then_some(Fact::Capacity)
    };
    // `buffer 9 GiB > available 2 GiB`: what would not go into it.
    let held_against = || {
        let next = places.get(i + 1)?;
        let joint = line.get(place.to..next.from)?.trim_start().strip_prefix('>')?;
        let there = label_before(joint).is_some_and(|(fact, tied, words)| {
            matches!(fact, Fact::Free | Fact::Capacity | Fact::Limit) && (tied || words == 0)
        });
        (there && !place.bare && place.figure.interval().low > next.figure.interval().high).then_some(Fact::Needed)
    };
    // `not enough memory: 9 GiB > 2 GiB`: what is lacking is more than what there is.
    let lacking = || {
        let compared = after.trim() == ">" && i == 0;
        (compared && !place.bare && lacks(line.get(..place.from)?)).then_some(Fact::Requested)
    };
    // `pod a has used 5 GiB of 4 GiB of memory`, `exceeded the limit of 4 GiB with 5 GiB`: who was ended for it.
    let by_whom = || {
        let lead = |place: &Place| line.get(..place.from).map(|lead| last_chars(lead, 48).to_ascii_lowercase());
        let uses = |place: &Place| {
            lead(place).is_some_and(|lead| ["has used ", "is using ", "was using "].iter().any(|w| lead.ends_with(w)))
        };
        let earlier = i.checked_sub(1).and_then(|i| places.get(i));
        let next = places.get(i + 1).and_then(|next| line.get(place.to..next.from));
        if uses(place) && next.is_some_and(|joint| joint.trim() == "of") {
            return Some(Fact::Process);
        }
        match (before.trim(), earlier?) {
            ("of", whole) if uses(whole) => Some(Fact::Limit),
            ("with", limit) if lead(limit)?.ends_with("limit of ") && lead(limit)?.contains("exceeded ") => {
                Some(Fact::Process)
            }
            _ => None,
        }
    };
    let enough = suffices(before, after, place.bare);
    // An option's name holds labels of its own: `at least --limitSortRAM`.
    let option = before.trim_end().rsplit(' ').next().is_some_and(|word| word.starts_with("--"));
    if option && !enough {
        return Said::NoSize;
    }
    let by_option = (enough && option).then_some(Fact::Needed);
    let fact = by_whom()
        .or(by_call)
        .or(by_option)
        .or_else(denied)
        .or(fact)
        .or_else(bound)
        .or_else(fits)
        .or_else(holds)
        .or_else(has)
        .or_else(lacking)
        .or_else(held_against)
        .or_else(grown)
        .or_else(object)
        .or_else(alone)
        .or_else(exhausting)
        .or_else(doing)
        .or(by_size);
    let Some(fact) = fact.or(enough.then_some(Fact::Needed)) else {
        return if foretold(line, place) { Said::NoSize } else { Said::Nothing };
    };
    // `malloc returns null: len=123456789 in mesh, total 4567891`: a sum of whatever, where no holder is named.
    if place.bare && fact == Fact::Capacity && !of {
        let lower = line.to_ascii_lowercase();
        let held =
            ["mem", "gpu", "device", "ram", "heap", "pool", "arena", "avail", "free", "capacity", "cache", "host"];
        if !held.iter().any(|word| lower.contains(word)) {
            return Said::NoSize;
        }
    }
    // A count without a unit is a size only where its label asks for bytes.
    // `3145728000 (out of 4225761280) available`: the whole is in the unit of its part.
    let part = i.checked_sub(1).and_then(|i| places.get(i)).is_some_and(|part| part.figure.bytes <= place.figure.bytes);
    let whole = of && part && fact == Fact::Capacity && place.figure.bytes >= LEAST_LARGE;
    // `67108864 bytes refused (4160421888 in use)`: another figure of the line counts bytes.
    let large = place.figure.bytes >= LEAST_LARGE;
    let bytes = places
        .iter()
        .enumerate()
        .any(|(at, other)| at != i && other.figure.half_width == 0 && !other.doubtful && (large || !other.bare));
    let by_word = beside && bytes || ahead.is_some_and(|(_, _, words)| words <= 1);
    let had = fact == Fact::Free && bytes && said.contains(&Said::Is(Fact::Requested));
    // `out of memory: 67108864 requested`, `allocating too much memory, 9000000000 > 8000000000`
    let asked = (beside && large || after.trim() == ">" && place.figure.bytes >= 1 << 30) && fact == Fact::Requested;
    if place.bare && by_size.is_none() && !enough && !whole && !by_word && !had && !asked {
        return Said::NoSize;
    }
    Said::Is(fact)
}

/// True for what stands before the former of two sizes: `from`, `memory resize`.
fn grows(before: &str) -> bool {
    let lead = before.trim_end().to_ascii_lowercase();
    [" from", " resize", " realloc", " grow"].iter().any(|word| lead.ends_with(word))
}

/// True for what stands between a part and its whole: `of`, `/`, `out of a`, two words more at most.
fn joins_whole(joint: &str) -> bool {
    let joint = joint.trim().trim_end_matches(['(', '[']).trim().to_lowercase();
    let joint = joint.trim_start_matches([')', ']', '(', ',']).trim_start();
    if joint == "/" {
        return true;
    }
    let words: Vec<&str> =
        joint.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty()).collect();
    // `a total of 9 GiB` is a sum, and names no whole.
    let sum = words.iter().any(|word| matches!(*word, "total" | "sum"));
    let clause = !joint.contains([',', ';', ':', ')']);
    clause && !sum && words.last() == Some(&"of") && words.len() <= 4
}

/// True for what would have been: `would put the use at 9 GiB`, `data would be 9 GiB`.
fn foretold(line: &str, place: &Place) -> bool {
    let lead = line.get(..place.from).unwrap_or_default();
    let clause = last_chars(lead, 48).rsplit([',', ';', '(', ':']).next().unwrap_or_default().to_lowercase();
    [" would ", " will ", " to become ", " up to "].iter().any(|words| clause.contains(words))
}

/// True where two printed figures cannot be one quantity.
pub fn apart(a: &Figure, b: &Figure) -> bool {
    let (a, b) = (a.interval(), b.interval());
    a.high < b.low || b.high < a.low
}

/// True where a word for an amount stands directly before a number or behind it.
fn sized(before: &str, after: &str) -> bool {
    let word = |text: &str| AMOUNTS.contains(&text.to_ascii_lowercase().as_str());
    let not_letter = |c: char| !c.is_ascii_alphabetic();
    let lead = before.trim_end_matches([' ', ':', '=', '(', '[']).rsplit(not_letter).next().unwrap_or_default();
    let behind = after.trim_start().split(not_letter).next().unwrap_or_default();
    word(lead) || word(behind) && !matches!(behind.to_ascii_lowercase().as_str(), "size" | "sizes")
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
                "reg_mr(address=0x7f56f22dc000, length=4718592, access=0xf) failed: Cannot allocate memory : Please \
                 set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)",
                vec![(Requested, 4718592), (Limit, 64 << 10)],
            ),
            ("Not enough memory to write total of 4292720 bytes.", vec![(Requested, 4292720)]),
            ("failed to allocate 4292720 bytes using md posix: Out of memory", vec![(Requested, 4292720)]),
            ("out of memory: 6.87195e+10 bytes limit", vec![]),
            ("malloc returns null: len=123456789 in mesh, total 4567891", vec![]),
            (
                "job killed: exceeded requested memory (used 9 GiB, requested 8 GiB)",
                vec![(Limit, 8 * G), (Used, 9 * G)],
            ),
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
            ("memory limit exceeded: 1073741824 + 5368709120 > 4294967296", {
                vec![(Requested, 5 * G), (Limit, 4 * G), (Used, G)]
            }),
            ("memory limit exceeded: 5 GiB > 4 GiB", vec![(Limit, 4 * G)]),
            ("size exceeds available memory (5 GiB > 4 GiB). weights: 3 GiB", vec![(Requested, 5 * G), (Free, 4 * G)]),
            ("exceeded heap+stack memory limit: 5368709120 bytes (stack=1073741824, heap=4294967296)", vec![]),
            ("failed to grow the heap from 1 GiB to 5 GiB", vec![(Requested, 5 * G)]),
            ("could not get 5368709120 bytes from the arena (1073741824 bytes remaining)", {
                vec![(Requested, 5 * G), (Free, G)]
            }),
            ("failed, current usage: 1 GiB, peak usage: 5 GiB", vec![(Fact::Peak, 5 * G), (Used, G)]),
            ("pool usage: 8 GiB (5 GiB allocated, 1 GiB cached)", {
                vec![(Allocated, 5 * G), (Fact::ReservedUnallocated, G)]
            }),
            ("estimate 5 GiB, free 1 GiB", vec![(Free, G), (Fact::Needed, 5 * G)]),
            ("(worker pid=4124) total/free memory: 8589934592/1073741824", vec![(Capacity, 8 * G), (Free, G)]),
            ("2026-11-22T17:56:26.4957761Z allocated 5368709120 Memory used 1073741824", {
                vec![(Allocated, 5 * G), (Used, G)]
            }),
            ("total/free memory: 8589934592/1073741824", vec![(Capacity, 8 * G), (Free, G)]),
            // Milvus' of a segment that it could not load.
            ("load segment failed, OOM if load [maxSegmentSize(MB)=2010.5] [memUsage(MB)=8192]", vec![(Used, 8 * G)]),
            ("cache-max-memory-size exceeded: (5368709120/4294967296)", vec![(Limit, 4 * G), (Used, 5 * G)]),
            ("exceeded memory limit: 5 GiB / 4 GiB", vec![(Limit, 4 * G), (Used, 5 * G)]),
            ("resident set size > client RAM limit: 5 GiB > 4 GiB", vec![(Limit, 4 * G), (Used, 5 * G)]),
            ("Process: memory limit exceeded. Limit=4 GiB Total=5 GiB Peak=8 GiB", {
                vec![(Limit, 4 * G), (Fact::Peak, 8 * G), (Used, 5 * G)]
            }),
            ("Limit=4 GiB Reservation=1 GiB ReservationLimit=3 GiB Total=5 GiB Peak=8 GiB", {
                vec![(Limit, 4 * G), (Fact::Peak, 8 * G), (Used, 5 * G)]
            }),
            ("Initialized device 1 with 8 GiB of memory (1 GiB available)", vec![(Capacity, 8 * G), (Free, G)]),
            ("New used memory 5368709120 [5gb] for data would be larger than the limit: 4294967296", {
                vec![(Limit, 4 * G), (Fact::Needed, 5 * G)]
            }),
            ("GeForce GTX 1060 3GB with 4096MB @ 192 bits", vec![(Capacity, 4 * G)]),
            ("current maximum heap size is 4294967296 bytes", vec![(Limit, 4 * G)]),
            ("of those, 5368709120 bytes are in       14 free chunks", vec![(Free, 5 * G)]),
            ("memory limit exceeded: 5 GiB", vec![]),
            ("memory limit exceeded: 5 GiB of 4 GiB", vec![(Limit, 4 * G), (Used, 5 * G)]),
            ("memory limit exceeded: current 5 GiB, max 4 GiB", vec![(Limit, 4 * G), (Used, 5 * G)]),
            ("cannot allocate 5 GiB on a device with 4 GiB of memory", vec![(Requested, 5 * G), (Capacity, 4 * G)]),
            ("cannot allocate 5 GiB, device 0 has 4 GiB", vec![(Requested, 5 * G), (Capacity, 4 * G)]),
            ("not enough memory: 5 GiB > 4 GiB", vec![(Requested, 5 * G)]),
            ("failed to resize buffer to 5 GiB", vec![(Requested, 5 * G)]),
            ("calloc(1, 5368709120) failed", vec![(Requested, 5 * G)]),
            ("5 GiB of memory could not be allocated", vec![(Requested, 5 * G)]),
            ("out of memory: 5368709120 requested", vec![(Requested, 5 * G)]),
            ("out of memory (5368709120).  aborting...", vec![(Requested, 5 * G)]),
            ("buffer is too big for a device (CL_DEVICE_MAX_MEM_ALLOC_SIZE=4294967296)", vec![(Limit, 4 * G)]),
            ("failed memory resize 1073741824 to 5368709120 bytes", vec![(Requested, 5 * G)]),
            ("Out of memory. size=5368709120", vec![(Requested, 5 * G)]),
            ("grid_malloc(0x7f9d76747000, 5368709120) called from core", vec![(Requested, 5 * G)]),
            ("memory exhausted by input buffer of size 5368709120 bytes (5.0 GiB)", vec![(Requested, 5 * G)]),
            ("memoria agotada por buffer de entrada de 5368709120 bytes", vec![(Requested, 5 * G)]),
            ("cannot fit the databases into 4G", vec![(Limit, 4 * G)]),
            ("Required at least 5368709120 bytes. (total = 4294967296 bytes; usable = 1073741824 bytes)", {
                vec![(Requested, 5 * G), (Capacity, 4 * G), (Free, G)]
            }),
            ("not enough space to allocate 5 GiB across 2 banks, where each bank needs to store 1 GiB", {
                vec![(Requested, 5 * G)]
            }),
            ("the model exceeds total capacity by 4 GiB, cannot allocate", vec![]),
            ("5368709120 bytes used but tiles only have 4294967296 bytes of memory Aborted", {
                vec![(Capacity, 4 * G), (Fact::Needed, 5 * G)]
            }),
            ("buffers grow to 5 GiB which is beyond max L1 size of 4 GiB", vec![(Requested, 5 * G), (Limit, 4 * G)]),
            ("cannot pre-allocate 21504 bytes: 2147483648 bytes requested, 3221225472 allocated, limit 4294967296", {
                vec![(Requested, 2 * G), (Limit, 4 * G), (Allocated, 3 * G)]
            }),
            ("usage too high: physicalBytes (5G) > maxPhysicalBytes (4G)", vec![(Limit, 4 * G), (Used, 5 * G)]),
            ("d'allouer une zone de longueur 5 Go, limite maximum fixée à 4 Go et on occupe déjà 1 Go", {
                vec![(Requested, 5 * G), (Limit, 4 * G), (Used, G)]
            }),
            ("arena too small: needs 5368709120 bytes, has 1073741824", vec![(Requested, 5 * G), (Free, G)]),
            ("tile buffer 5368709120 B > available 1073741824 B", vec![(Free, G), (Fact::Needed, 5 * G)]),
            ("not enough memory to hold 5 GiB of rows (limit is 4 GiB)", vec![(Requested, 5 * G), (Limit, 4 * G)]),
            ("your system has 4 GiB RAM but 5 GiB are required", vec![(Requested, 5 * G), (Capacity, 4 * G)]),
            ("out of memory (alloc of size 5368709120.000000 (5120.000MB) at shared.c:2121)", vec![(Requested, 5 * G)]),
            ("fatal error: out-of-memory reallocating from 4294967296 to 5368709120 bytes", vec![(Requested, 5 * G)]),
            ("Ran out of memory while applying 5368709120bytes", vec![(Requested, 5 * G)]),
            ("allocating too much memory, 5368709120 > 4294967296", vec![(Requested, 5 * G), (Limit, 4 * G)]),
            ("no memory available for size (5368709120) current memory usage in kilobytes 1048576", {
                vec![(Requested, 5 * G), (Used, G)]
            }),
            ("pool failed to alloc, name=kv_main, total_size=5368709120 bytes, error=out of memory", {
                vec![(Requested, 5 * G)]
            }),
            ("Cannot reallocate memory (old_size=1073741824 new_size=5368709120)", vec![(Requested, 5 * G)]),
            ("failed to allocate bitmap of size 122340835 from pool of total size 5368709120", {
                vec![(Requested, 122_340_835), (Capacity, 5 * G)]
            }),
            ("failed to alloc, GPU total_size=8589934592 bytes", vec![(Capacity, 8 * G)]),
            ("Heap used bytes: 5368709120 exceeds panic level: 4294967296, killing all queries", {
                vec![(Limit, 4 * G), (Used, 5 * G)]
            }),
            ("Cannot create shared memory segment of size = 5368709120", vec![(Requested, 5 * G)]),
            ("5G JVM heap requested for read phase, 1G available", vec![(Requested, 5 * G), (Free, G)]),
            ("it needs 5.00 GiB but only 1.00 GiB is available. xpu:0 shares memory with the CPU", {
                vec![(Requested, 5 * G), (Free, G)]
            }),
            ("operator can not spill. Memory limit: 4294967296 so far allocated: 1073741824.", {
                vec![(Limit, 4 * G), (Allocated, G)]
            }),
            ("Hunk data failed to allocate 2048 megs", vec![(Requested, 2 * G)]),
            (
                "Can't grow 20250312_081120_00017_b7x2q_4 capacity with 1.00GB. This will exceed its memory pool \
              capacity 8.00GB, current capacity 7.98GB.",
                vec![(Requested, G), (Limit, 8 * G)],
            ),
            ("usage=1073741824, RSS_LIMIT=8589934592, size=5368709120, tag=5", {
                vec![(Requested, 5 * G), (Limit, 8 * G), (Used, G)]
            }),
        ] {
            assert_eq!(read(line), facts, "{line}");
        }
    }

    #[test]
    fn a_figure_at_a_lines_end_is_read_with_the_next_line() {
        let told = |line: &str, next: &str| -> Vec<(Fact, u64)> {
            let told = figures(line, next, Span::line(1), false, Some(0), Base::Binary).figures;
            told.into_iter().map(|(fact, figure)| (fact, figure.bytes)).collect()
        };
        assert_eq!(
            told("heap exhausted during allocation: 1073741824 bytes", "available, 3 requested"),
            [(Fact::Free, G)]
        );
        assert_eq!(told("memory not enough: required size[8598", "119770]."), []);
        assert_eq!(told("failed to allocate 12 G", "iB of memory"), []);
        assert_eq!(told("failed to allocate 12", "MIOpen error"), []);
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
    fn a_unit_of_two_meanings_leaves_both_open_unless_bytes_decide() {
        let told = |line: &str| -> Vec<(Fact, u64, u64)> {
            let told = figures(line, "", Span::line(1), false, Some(0), Base::Binary);
            told.widened().map(|(fact, figure)| (fact, figure.bytes, figure.half_width)).collect()
        };
        let open = told("failed to allocate 5.40 GB, limit 8.00 GiB");
        let (_, bytes, width) = open[0];
        assert!((bytes - width..=bytes + width).contains(&5_400_000_000) && bytes == 5_798_205_850, "{open:?}");
        assert_eq!(open[1], (Fact::Limit, 8 * G, 5_368_710));
        let decimal = told("failed to allocate 5.40 GB (requested 5400000000 bytes), 2.00 GB free");
        assert_eq!(decimal[0], (Fact::Requested, 5_400_000_000, 0));
        assert_eq!(decimal[1].1, 2_000_000_000);
        let binary = told("failed to allocate 5.40 GB (requested 5798205850 bytes), 2.00 GB free");
        assert_eq!((binary[0].1, binary[1].1), (5_798_205_850, 2 * G));
        assert!(binary[1].2 < 10_000_000, "{binary:?}");
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
            "allocation would exceed memory (size=17179869184)",
            "alloc fail, stream 0x55d0 size 17",
            "cannot allocate memory, range 0x10000-0x7fff0000, prot 0x0",
            "ERROR: pool_find_free(0x809132000, 34688): no free fragment",
            "cannot allocate 40000 character matrix",
            "cannot allocate memory for 120000 rows of 4096 bytes",
            "out of memory: block 1024 of 4096",
            "rate(requests_total[5m]) needs more memory",
            "out of memory for MinTime: 1680000000000 MaxTime: 1683023497853: rpc",
            "status: 2 MIOpen Error: out of memory",
            "resident set size > client RAM limit: 14336.12MB > 137",
            "--limitSortRAM 8589934592",
            "allocate failed: 4294967295",
            "0:03:52.411   6 GiB / 8 GiB   ERROR   General  out of memory",
        ] {
            assert_eq!(read(line), vec![], "{line}");
        }
    }
}
