//! The state of the memory as a program printed it before it failed: what its device or machine has, what was free,
//! what was held. A figure counts where everything that was printed agrees on it and it bears the failure out.

use super::{clipped, device, roles, words};
use crate::dialect::{Event, Fact, Resource, field};
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::units::{Base, Figure};

/// Lines before a message in which its program may have printed the state of the memory.
const LINES: usize = 12;
/// Lines before it in which it may have said at its start what the device has.
const START: usize = 40;
/// Lines before a message that belong to it.
const BEGUN: usize = 2;

/// Whose memory a line speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Device,
    Host,
    /// The line names neither.
    Unsaid,
}

/// What one line says of memory, `Free memory on the default device : 812 MiB`.
#[derive(Debug, Clone, Copy)]
struct Labelled<'a> {
    label: &'a str,
    fact: Fact,
    whose: Whose,
    /// Nothing where the number can be read in two ways: no other line's figure is this one.
    figure: Option<Figure>,
}

/// Adds what the lines before a message tell of the memory's state, and on which device it was.
pub(super) fn complete(document: &Document, position: usize, event: &mut Event) {
    if event.resource.on_device()
        && let Some(total) = heap_of_the_device(document, position)
    {
        event.facts.note(Fact::Capacity, total);
    }
    of_its_own(document, position, event);
    on_one_line(document, position, event);
    on_lines_of_their_own(document, position, event);
    if event.resource.on_device() && event.facts.device.value().is_none() {
        which_device(document, position).into_iter().for_each(|(index, at)| event.facts.device.note(index, at));
    }
}

/// Notes what a program says of its own before its message, on lines that are whole: the table that it puts on each
/// device, and the heap that its collector says is full, where the message prints no limit.
fn of_its_own(document: &Document, position: usize, event: &mut Event) {
    // lolMiner: `Done (2698 ms), size of new DAG: 4112 MByte`.
    if event.resource.on_device() {
        let table = before(document, position, LINES).find_map(|at| {
            let size = field::size_after(field::text(document, at), "size of new DAG: ", Base::Binary)?;
            Some(size.at(Span::line(field::number(document, at))))
        });
        table.into_iter().for_each(|size| event.facts.note(Fact::Requested, size));
    }
    if event.resource == Resource::Host && event.facts.get(Fact::Limit).is_none() {
        full_heap(document, position).into_iter().for_each(|limit| event.facts.note(Fact::Limit, limit));
    }
}

/// The size of a heap that its collector, on the lines before a message, says is nearly all in use, in bytes: nvc's
/// `GC: allocated 15515232/16777216; fragmentation 2.1%`.
fn full_heap(document: &Document, position: usize) -> Option<Figure> {
    let told = before(document, position, LINES).find_map(|at| {
        let (_, pair) = field::text(document, at).split_once("GC: allocated ")?;
        let (used, rest) = pair.split_once('/')?;
        let size = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some((used.parse::<u64>().ok()?, size.parse::<u64>().ok()?, at))
    });
    let (used, size, at) = told?;
    let full = used <= size && used >= size - size / 4;
    full.then(|| Figure { bytes: size, half_width: 0, at: Span::line(field::number(document, at)) })
}

/// A heap as libplacebo lists it, `0: flags 0x1 size 8018M`: whether it is local to the device
/// (`VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`, 1), and its size.
fn vulkan_heap(line: &str, at: Span) -> Option<(bool, Figure)> {
    let (_, rest) = line.split_once(": flags 0x")?;
    let (flags, size) = rest.split_once(" size ")?;
    let flags = u32::from_str_radix(flags, 16).ok()?;
    Some((flags & 1 == 1, crate::units::parse(size, Base::Binary)?.at(at)))
}

/// What a list of Vulkan's heaps says that the device has: the largest one that is local to it.
fn heap_of_the_device(document: &Document, position: usize) -> Option<Figure> {
    let listed = field::before(position, LINES).chain(field::behind(document, position, LINES));
    let heaps = listed
        .filter_map(|at| vulkan_heap(clipped(field::text(document, at)), Span::line(field::number(document, at))));
    heaps.filter(|(local, _)| *local).map(|(_, size)| size).max_by_key(|size| size.bytes)
}

/// What is free of what total, on one line. Two lines that tell of different totals are of several devices, and tell
/// nothing; and a state that leaves room for what was refused is an earlier one.
fn on_one_line(document: &Document, position: usize, event: &mut Event) {
    let known = |event: &Event, fact| event.facts.get(fact).is_some();
    if known(event, Fact::Free) {
        return;
    }
    listed(document, position, event);
    if known(event, Fact::Free) {
        return;
    }
    let on_device = event.resource.on_device();
    let mut found: Option<(Figure, Figure)> = None;
    let mut told_alone: Vec<Figure> = Vec::new();
    let mut unclear = false;
    for at in before(document, position, LINES) {
        let text = clipped(field::text(document, at));
        let lower = text.to_lowercase();
        let named = if on_device { names_device(&lower) } else { names_host(&lower) };
        // `pool 3, free/total blocks 46135/524288`: a count.
        let counts = ["blocks ", "pages ", "chunks ", "slots "].iter().any(|word| lower.contains(word));
        if !named || counts || words::spoken(text, &lower).is_some() {
            continue;
        }
        let told = roles::figures(text, "", Span::line(field::number(document, at)), false, None, Base::Binary);
        let get = |fact| told.figures.iter().find(|(known, _)| *known == fact).map(|(_, figure)| *figure);
        let (Some(free), Some(total)) = (get(Fact::Free), get(Fact::Capacity)) else {
            // Two totals on one line are of two things.
            unclear |= told.unreadable.contains(&Fact::Capacity);
            told_alone.extend(get(Fact::Capacity));
            continue;
        };
        if free.bytes > total.bytes {
            continue;
        }
        match &found {
            Some((_, known)) if known.bytes != total.bytes => return,
            Some(_) => {}
            None => found = Some((free, total)),
        }
    }
    // `total_device_ram: 24 GiB` beside `pool: … unused: 1 GiB total: 23 GiB`: neither is known to be the device's.
    let Some((free, total)) =
        found.filter(|(_, total)| !unclear && !told_alone.iter().any(|other| roles::apart(other, total)))
    else {
        return;
    };
    if event.facts.get(Fact::Capacity).is_some_and(|known| roles::apart(&known, &total)) {
        return;
    }
    event.facts.note(Fact::Capacity, total);
    if !leaves_room(event, &free) {
        event.facts.note(Fact::Free, free);
    }
}

/// Lines before a message, nearest first, that no other rank printed.
fn before(document: &Document, position: usize, count: usize) -> impl Iterator<Item = usize> {
    let rank = |at: usize| document.lines.get(at).and_then(|line| line.rank);
    let own = rank(position);
    field::before(position, count).filter(move |at| own.is_none() || rank(*at).is_none_or(|other| own == Some(other)))
}

/// True for a state in which there was room for what was refused: an earlier one.
fn leaves_room(event: &Event, free: &Figure) -> bool {
    match (event.facts.get(Fact::Requested), event.facts.get(Fact::Capacity)) {
        (Some(asked), _) => asked.interval().low <= free.interval().high,
        (None, Some(total)) => free.bytes > total.bytes / 8,
        (None, None) => false,
    }
}

/// A quantity on each line, as reports of memory are printed. Of lines with one label the last counts, as it is the
/// nearest to the failure; where two labels tell different figures of one quantity, none does.
fn on_lines_of_their_own(document: &Document, position: usize, event: &mut Event) {
    let on_device = event.resource.on_device();
    let own = |whose: Whose| if on_device { whose == Whose::Device } else { whose != Whose::Device };
    let mut told: Vec<Labelled<'_>> = Vec::new();
    let mut contradicted: Vec<Fact> = Vec::new();
    for at in before(document, position, START) {
        let line = clipped(field::text(document, at));
        let span = Span::line(field::number(document, at));
        if vulkan_heap(line, span).is_some() {
            continue;
        }
        let told_here = Labels::of(document, line)
            .then(|| labelled(line, span))
            .flatten()
            .or_else(|| below_a_heading(document, at, line, span));
        let Some(one) = told_here.filter(|one| own(one.whose)) else {
            continue;
        };
        // Another message's figure.
        if words::spoken(line, &line.to_lowercase()).is_some() {
            continue;
        }
        let near = position - at <= LINES;
        // What a device or machine has doesn't change, nor what a program was set to; everything else does.
        if !(near || matches!(one.fact, Fact::Capacity | Fact::Limit) && one.whose != Whose::Unsaid) {
            continue;
        }
        match told.iter().find(|known| known.fact == one.fact) {
            Some(known) if known.label == one.label && one.fact != Fact::Capacity => {}
            Some(known) => {
                let agree = known.figure.zip(one.figure).is_some_and(|(a, b)| !roles::apart(&a, &b));
                contradicted.extend((!agree).then_some(one.fact));
            }
            None => told.push(one),
        }
    }
    told.retain(|one| !contradicted.contains(&one.fact) && event.facts.get(one.fact).is_none());
    let get = |fact| told.iter().find(|one| one.fact == fact).and_then(|one| one.figure);
    let total = get(Fact::Capacity).or(event.facts.get(Fact::Capacity));
    let fits = |part: &Figure| total.is_none_or(|total| part.interval().low <= total.interval().high);
    // `available` of as much as the device has: all of it, where that would have been room enough.
    if let (Some(free), Some(total)) = (event.facts.get(Fact::Free), total)
        && free.bytes == total.bytes
        && leaves_room(event, &free)
    {
        event.facts.sizes.remove(&Fact::Free);
        on_one_line(document, position, event);
    }
    // A plan is what failed where it is above what there is.
    let there =
        [Fact::Free, Fact::Limit, Fact::Capacity].into_iter().filter_map(|fact| get(fact).or(event.facts.get(fact)));
    let least = there.map(|figure| figure.interval().high).min();
    if let Some(needed) = get(Fact::Needed).filter(|needed| least.is_some_and(|least| needed.interval().low > least)) {
        event.facts.note(Fact::Needed, needed);
    }
    for fact in [Fact::Capacity, Fact::Limit, Fact::Used, Fact::Allocated, Fact::Peak, Fact::Free] {
        let Some(figure) = get(fact).filter(fits) else { continue };
        if fact != Fact::Free || !leaves_room(event, &figure) {
            event.facts.note(fact, figure);
        }
    }
}

/// The device that the lines before a message name, where they name one only.
fn which_device(document: &Document, position: usize) -> Option<(u32, Span)> {
    let mut told: Option<(u32, Span)> = None;
    for at in before(document, position, LINES) {
        let span = Span::line(field::number(document, at));
        let mut known = Known::default();
        device(&mut known, clipped(field::text(document, at)), span);
        let Some(index) = known.value() else { continue };
        if told.is_some_and(|(other, _)| other != index) {
            return None;
        }
        told = told.or(Some((index, span)));
    }
    told
}

/// A list of needs and of what is there, shortly before a message that says that it is too little: `- available: 9 MB`,
/// `- requirement: 2000 MB`. It counts where it bears that out.
fn listed(document: &Document, position: usize, event: &mut Event) {
    let mut told: Vec<(Fact, Figure)> = Vec::new();
    let items = field::before(position, LINES)
        .skip_while(|at| !is_item(field::text(document, *at)) && position - at <= BEGUN)
        .take_while(|at| is_item(field::text(document, *at)));
    for at in items {
        let line = clipped(field::text(document, at));
        let own = roles::figures(line, "", Span::line(field::number(document, at)), false, None, Base::Binary);
        told.extend(own.figures);
    }
    let one = |wanted: &[Fact]| {
        let mut of = told.iter().filter(|(fact, _)| wanted.contains(fact));
        of.next().filter(|_| of.next().is_none()).copied()
    };
    if let (Some((asks, asked)), Some((_, free))) = (one(&[Fact::Requested, Fact::Needed]), one(&[Fact::Free]))
        && asked.interval().low > free.interval().high
    {
        event.facts.note(asks, asked);
        event.facts.note(Fact::Free, free);
    }
}

/// True for an item of a list.
fn is_item(text: &str) -> bool {
    ["- ", "* ", "• "].iter().any(|mark| text.trim_start().starts_with(mark))
}

fn names_device(lower: &str) -> bool {
    // Products are named in place of the word: `GeForce GTX 1060 3GB with 3019 MB`.
    const WORDS: &[&str] =
        &["gpu", "device", "vram", "cuda", "geforce", "radeon", "quadro", "tesla", "nvidia", "instinct"];
    WORDS.iter().any(|word| lower.contains(word))
}

fn names_host(lower: &str) -> bool {
    ["system", "physical", "host", "ram"].iter().any(|word| lower.contains(word))
}

/// Words of a label, and what they say.
const FREE: &[&str] = &["free", "available", "avail", "unused", "remaining", "left"];
const USED: &[&str] = &["used", "usage", "use", "occupied", "consumed", "footprint", "rss", "resident"];
const PEAK: &[&str] = &["peak", "maximum", "max", "highest"];
const WHOLE: &[&str] = &["total", "capacity", "size", "installed", "global", "physical", "real"];
const NEED: &[&str] = &["required", "require", "requires", "need", "needs", "needed"];
const LIMIT: &[&str] = &["limit", "budget", "quota", "ceiling"];
/// With one of these a maximum is what was set, and no peak.
const SET: &[&str] = &["target", "allowed", "permitted", "configured", "processing"];
const MEMORY: &[&str] = &["memory", "mem", "vram", "ram", "hbm", "footprint", "rss"];
/// With one of these a label is of something else: a part, a plan, another store.
const OTHERS: &[&str] = &[
    "requested",
    "request",
    "estimated",
    "estimate",
    "expected",
    "predicted",
    "reserved",
    "cached",
    "cache",
    "constant",
    "const",
    "shared",
    "local",
    "register",
    "registers",
    "l1",
    "l2",
    "l3",
    "stack",
    "block",
    "blocks",
    "chunk",
    "chunks",
    "threshold",
    "per",
    "swap",
    "disk",
    "bandwidth",
    "clock",
    "page",
    "pages",
    "alloc",
    "allocation",
    "bus",
    "width",
    "texture",
    "pitch",
    "file",
    "model",
    "other",
    "pool",
    "arena",
    "heap",
    "tree",
    "buffer",
    "queue",
    "save",
    "saved",
    "freed",
    "spike",
    "soft",
];
const DEVICE: &[&str] =
    &["gpu", "device", "vram", "cuda", "hip", "hbm", "global", "opencl", "vulkan", "video", "graphics", "card"];
const HOST: &[&str] = &["host", "system", "cpu", "node", "machine", "physical", "ram", "process", "rank", "program"];

/// Whether a line says anything of a quantity behind a label.
#[derive(Clone)]
struct Labels(bool);

impl Labels {
    fn of(document: &Document, line: &str) -> bool {
        document.memo.of(line, || Labels(labelled(line, Span::line(0)).is_some())).0
    }
}

/// What a line says of one quantity behind its label, tied by a colon, an equals sign or a column. A line that tells of
/// several is no report's.
fn labelled(line: &str, at: Span) -> Option<Labelled<'_>> {
    let sets = roles::sizes(line, at);
    let mut told = sets.iter().filter_map(|set| of_set(set));
    let one = told.next().filter(|_| told.next().is_none());
    one.or_else(|| sets.iter().find_map(|set| of_product(line, set)))
        .or_else(|| of_machine(line, sets.first().filter(|_| sets.len() == 1)?))
}

/// What a machine has, in a banner: `Host: node22 (AVX2, FMA3, 250 GB RAM)`, `1 x 8 cores; 15.9GiB RAM; Linux`.
fn of_machine<'a>(line: &'a str, set: &roles::Set<'a>) -> Option<Labelled<'a>> {
    const MACHINES: &[&str] = &["host", "machine", "node", "system", "computer", "cpu", "cores", "server"];
    const OTHER: &[&str] =
        &["free", "avail", "used", "left", "need", "requir", "limit", "least", "alloc", "max", "swap"];
    let lower = line.to_ascii_lowercase();
    let rest = set.after.trim_start().trim_start_matches("of ").trim_start();
    let named = ["RAM", "memory", "Memory"].iter().find_map(|word| rest.strip_prefix(word));
    let told = named.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        && MACHINES.iter().any(|word| lower.contains(word))
        && !OTHER.iter().any(|word| lower.contains(word))
        && !["gpu", "vram", "device", "cuda"].iter().any(|word| lower.contains(word));
    told.then_some(Labelled { label: set.before, fact: Fact::Capacity, whose: Whose::Host, figure: set.figure })
}

/// Lines above one that are looked at for its headings, and headings above each other.
const HEADINGS: usize = 16;
const DEEP: usize = 3;

/// A quantity below a heading that says of what it is: `Memory:`, and indented below it `Total : 23.99 GB`.
fn below_a_heading<'a>(document: &'a Document, at: usize, line: &'a str, span: Span) -> Option<Labelled<'a>> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut deepest = indent(line);
    if deepest == 0 {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let mut headings = 0;
    for above in field::before(at, HEADINGS) {
        let text = clipped(field::text(document, above));
        if text.trim().is_empty() || indent(text) >= deepest {
            continue;
        }
        // The nearest says what is listed.
        if headings == 0 && !text.trim_end().ends_with(':') {
            return None;
        }
        (deepest, headings) = (indent(text), headings + 1);
        words.extend(words_of(text));
        if deepest == 0 || headings == DEEP {
            break;
        }
    }
    let sets = roles::sizes(line, span);
    let [set] = sets.as_slice() else { return None };
    of_set_below(set, &words)
}

/// What a card has, behind its name: `GeForce RTX 3070(7959MB)`, `GTX 1060 3GB with 3019MB`, `RTX 3060, 11.8GiB`.
fn of_product<'a>(line: &'a str, set: &roles::Set<'a>) -> Option<Labelled<'a>> {
    const PRODUCTS: &[&str] = &["geforce", "radeon", "quadro", "tesla", "nvidia", "instinct", "titan", "rtx ", "gtx "];
    /// A model's number, and what it is of, stand between.
    const FAR: usize = 72;
    let lower = line.to_ascii_lowercase();
    let named = PRODUCTS.iter().filter_map(|product| lower.find(product)).min()?;
    let at = set.before.as_ptr() as usize - line.as_ptr() as usize + set.before.len();
    let lead = line.get(named..at).filter(|lead| lead.len() <= FAR)?;
    let rest = set.after.trim_start();
    // `NVIDIA GeForce RTX 3050'  Mem: 8192MB  Rev: 8.6`
    let labelled = || {
        let label = lead.trim_end_matches([' ', ':', '=']).to_ascii_lowercase();
        let word = label.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        ["mem", "memory", "vram", "ram"].contains(&word)
    };
    let told = lead.ends_with('(') && rest.starts_with(')')
        || lead.ends_with(" with ") && !rest.starts_with(|c: char| c.is_ascii_alphabetic())
        // The last of several is of something else.
        || lead.ends_with(", ") && rest.is_empty() && !roles::has_size(lead)
        || labelled();
    let other = ["free", "used", "avail", "left", "alloc", "fail", "error"].iter().any(|word| lower.contains(word));
    (told && !other).then_some(Labelled { label: lead, fact: Fact::Capacity, whose: Whose::Device, figure: set.figure })
}

fn of_set<'a>(set: &roles::Set<'a>) -> Option<Labelled<'a>> {
    of_set_below(set, &[])
}

/// The same below headings with these words.
fn of_set_below<'a>(set: &roles::Set<'a>, headings: &[String]) -> Option<Labelled<'a>> {
    /// A label has a few words; what stands before is a stamp or another's.
    const LONGEST: usize = 72;
    let lead = set.before.trim_end();
    let column = set.before.ends_with("  ") || set.before.ends_with('\t');
    let tied = lead.ends_with([':', '=']) && !lead.ends_with("::");
    let behind = set.after.trim();
    let ends =
        matches!(behind.trim_end_matches(['.', ',', '|', '=', ' ']), "" | "total") || tied && behind.starts_with(", ");
    // `step 12 GPU memory: 9 GiB`: what was used then.
    let counts = ["step", "epoch", "iter", "loss"].iter().any(|word| lead.to_ascii_lowercase().contains(word));
    if !(tied || column) || !ends || counts {
        return None;
    }
    let lead = lead.trim_end_matches([':', '=', ' ']);
    let start = lead.rfind(['|', ']', '>', ';', '(']).map_or(0, |at| at + 1);
    let label = lead.get(start..)?.rsplit(". ").next()?.trim();
    // `… memory -- size == 9 MB`, the end of a sentence that was wrapped.
    if label.len() > LONGEST || label.contains("--") {
        return None;
    }
    let (fact, whose) = role(label, headings)?;
    Some(Labelled { label, fact, whose, figure: set.figure })
}

/// The words of a label in lower case; those of `totalGlobalMem` are three.
fn words_of(label: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in label.chars() {
        if !c.is_alphanumeric() || small && c.is_uppercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.iter_mut().last().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Which quantity a label names, and whose: by its own words, or by those of the headings above it.
fn role(label: &str, headings: &[String]) -> Option<(Fact, Whose)> {
    let words = words_of(label);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let said = |list: &[&str]| has(list) || headings.iter().any(|word| list.contains(&word.as_str()));
    // `memory required per process`; what there is of a thing each is another quantity.
    let other = |word: &String| OTHERS.contains(&word.as_str()) && !(word == "per" && has(NEED));
    if !said(MEMORY) || words.iter().any(other) {
        return None;
    }
    let whose = match (said(DEVICE), said(HOST)) {
        (true, _) => Whose::Device,
        (false, true) => Whose::Host,
        (false, false) => Whose::Unsaid,
    };
    let (free, used, allocated, peak) = (has(FREE), has(USED), has(&["allocated"]), has(PEAK));
    if has(NEED) {
        return (!free && !used && !allocated && !peak).then_some((Fact::Needed, whose));
    }
    let fact = match (free, used, allocated) {
        // `Total available memory` is all that may be had as often as what is left of it.
        (true, false, false) if has(&["total"]) && !has(&["free"]) || peak => return None,
        (true, false, false) => Fact::Free,
        (false, true, _) | (false, _, true) if peak => Fact::Peak,
        (false, _, true) => Fact::Allocated,
        (false, true, false) => Fact::Used,
        (false, false, false) if has(LIMIT) => Fact::Limit,
        (false, false, false) if peak && has(SET) => Fact::Limit,
        (false, false, false) if peak => return None,
        (false, false, false) if has(WHOLE) || whose == Whose::Device && has(MEMORY) => Fact::Capacity,
        _ => return None,
    };
    Some((fact, whose))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Option<(Fact, Whose, u64)> {
        labelled(line, Span::line(1)).and_then(|one| Some((one.fact, one.whose, one.figure?.bytes >> 20)))
    }

    #[test]
    fn a_heading_says_of_what_the_lines_below_it_are() {
        let log = "Selected cuda device 1 : a card\n SM count : 82\n Memory:\n  Total : 24 GB\n  Free : 500 MB\n";
        let document = Document::from_text("-", log);
        let told = |at: usize| {
            let one = below_a_heading(&document, at, field::text(&document, at), Span::line(1))?;
            Some((one.fact, one.whose))
        };
        assert_eq!(told(3), Some((Fact::Capacity, Whose::Device)));
        assert_eq!(told(4), Some((Fact::Free, Whose::Device)));
        assert_eq!(told(1), None);
    }

    #[test]
    fn a_label_tells_which_quantity_and_whose() {
        use Fact::{Allocated, Capacity, Free, Limit, Peak, Used};
        use Whose::{Device, Host, Unsaid};
        for (line, said) in [
            ("Free memory on the default device : 812 MiB", (Free, Device, 812)),
            ("Available memory on node 0, free + buffers :  512 MiB", (Free, Host, 512)),
            ("Memory footprint by rank 0 on node 0       : 5127 MiB", (Used, Host, 5127)),
            ("Device memory allocated by the offload :    6031 MiB", (Allocated, Device, 6031)),
            ("totalGlobalMem      2147483648", (Capacity, Device, 2048)),
            (
                "[04/18/2025 09:22:13] Device name=grid, global memory size=2147483648, serial=12",
                (Capacity, Device, 2048),
            ),
            ("2026-03-02 10:11:12 [info] VRAM: 8192 MiB", (Capacity, Device, 8192)),
            ("//GPU info: NVIDIA GeForce RTX 3070(7959MB), CUDA Driver 12.2", (Capacity, Device, 7959)),
            ("GeForce GTX 1060 3GB with 3019MB @ 192 bits x 4004MHz", (Capacity, Device, 3019)),
            ("Pe 4 binding to device 0 on n14: 'NVIDIA RTX 3050'  Mem: 8192MB  Rev: 8.6", (Capacity, Device, 8192)),
            ("Host:    node22 (AVX2, FMA3, 250 GB RAM)", (Capacity, Host, 250 << 10)),
            ("Maximum memory usage: 900 MiB", (Peak, Unsaid, 900)),
            ("memory limit = 700 MiB", (Limit, Unsaid, 700)),
            ("Maximum memory for processing :    12 GiB", (Limit, Unsaid, 12 << 10)),
            ("Memory required per process   :  700 MiB", (Fact::Needed, Host, 700)),
        ] {
            assert_eq!(told(line), Some(said), "{line}");
        }
        for line in [
            "Host: at least 250 GB RAM are needed",
            "Shared Memory:  48.0 KiB",
            "Total available memory: 16 GiB",
            "L2 cache memory: 4 MiB",
            "GPU memory: 12 GiB of 24 GiB",
            "20260302 10:11:12 memory ok",
            "wrote memory map: 12 MiB/s",
            "Max memory allocation size: 4096 MiB",
        ] {
            assert_eq!(told(line), None, "{line}");
        }
    }
}
