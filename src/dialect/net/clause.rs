//! Clauses that say that memory ran out, told by the kinds of their words instead of by the words themselves: somebody
//! cannot, failed or refused; to allocate, to grow or to hold; memory, a buffer, so many bytes; a limit was passed.

/// A word of a clause and where it stands in the line.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    at: usize,
    text: &'a str,
}

impl Word<'_> {
    fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.text)
    }

    fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// A call or an act that takes memory.
    fn allocates(&self) -> bool {
        const CALLS: &[&str] = &["mmap", "memalign", "sbrk", "morecore", "getmem", "mmap2", "reserve", "reserving"];
        let text = self.text;
        self.is(CALLS) || text.contains("alloc") && !text.contains("dealloc") && !text.starts_with("unalloc")
    }

    /// A participle says what was or was not done, a count says how often: no act.
    fn is_state(&self) -> bool {
        self.text.ends_with("allocated") || self.text.ends_with("allocs") || self.text.ends_with("allocations")
    }
}

const REFUSES: &[&str] = &[
    "fail",
    "failed",
    "fails",
    "failing",
    "failure",
    "unable",
    "cannot",
    "can't",
    "cant",
    "couldn't",
    "impossible",
    "unsuccessful",
    "refused",
    "refuses",
    "denied",
    "rejected",
    "declined",
    "null",
    "unsuccessfully",
];
/// They fail where they stand beside the act: `error allocating`, `allocation problem`.
const ADJACENT: &[&str] = &["error", "problem", "trouble", "err", "errors"];
/// Behind these a `not` is a refusal: `could not`, `was not`.
const AUXILIARIES: &[&str] = &["can", "could", "did", "was", "were"];

/// What memory is called, whatever else is said.
const MEMORY: &[&str] =
    &["memory", "mem", "vram", "ram", "heap", "arena", "hbm", "bytes", "byte", "workspace", "hunk", "rss", "malloc"];
/// What is made of memory.
const MADE: &[&str] = &[
    "buffer",
    "buffers",
    "matrix",
    "matrices",
    "array",
    "arrays",
    "tensor",
    "tensors",
    "vector",
    "vectors",
    "image",
    "images",
    "frame",
    "frames",
    "texture",
    "textures",
    "surface",
    "page",
    "pages",
    "block",
    "blocks",
    "chunk",
    "chunks",
    "table",
    "tables",
    "pool",
    "cache",
    "string",
    "list",
    "struct",
    "structure",
    "structures",
    "scratch",
    "storage",
    "mesh",
    "grid",
    "hash",
    "index",
    "field",
    "fields",
    "bitmap",
    "queue",
    "stack",
    "slab",
    "zone",
    "region",
    "segment",
    "gpu",
    "device",
    "cuda",
    "host",
    "object",
    "data",
    "space",
    "room",
    "tile",
    "layer",
    "layers",
    "kernel",
    "context",
    "state",
    "map",
    "tree",
];
/// What is made in memory for a thing that is none.
const STRUCTURES: &[&str] = &[
    "structure",
    "structures",
    "struct",
    "structs",
    "buffer",
    "buffers",
    "array",
    "arrays",
    "stack",
    "memory",
    "hash",
    "hashmap",
    "hashtable",
];
/// What is allocated, and is no memory.
const OTHERS: &[&str] = &[
    "port",
    "ports",
    "ip",
    "ips",
    "ipv4",
    "ipv6",
    "address",
    "addresses",
    "subnet",
    "lease",
    "leases",
    "id",
    "ids",
    // Of IPsec: a security association's number.
    "spi",
    "spis",
    "uid",
    "gid",
    "tty",
    "pty",
    "socket",
    "sockets",
    "fd",
    "fds",
    "descriptor",
    "descriptors",
    "inode",
    "inodes",
    "thread",
    "threads",
    "session",
    "license",
    "licence",
    "seat",
    "job",
    "jobs",
    "task",
    "tasks",
    "quota",
    "disk",
    "volume",
    "lun",
    "channel",
    "channels",
    "slot",
    "slots",
    "shard",
    "shards",
    "partition",
    "replica",
    "replicas",
    "register",
    "registers",
    "irq",
    "irqs",
    "interrupt",
    "interrupts",
    "vlan",
    "loopback",
    "worker",
    "workers",
    "container",
    "containers",
    "pod",
    "pods",
    "node",
    "nodes",
    "core",
    "cores",
    "cpus",
    "gpus",
    "cpu",
    "bandwidth",
    "budget",
    "funds",
    "license",
    "connection",
    "connections",
    "number",
    "numbers",
    "file",
    "files",
    "handle",
    "resources",
    "resource",
    "tls",
    "executor",
    "executors",
    "machine",
    "machines",
    "instance",
    "instances",
    "vm",
];

/// Behind these a `than` leads to a bound.
const LARGER: &[&str] = &["more", "larger", "bigger", "greater", "higher"];

/// Words between a call and what says that it failed; more where the noun begins the sentence: `allocation of …
/// failed`.
const REACH: usize = 9;
const FAR_REACH: usize = 18;
/// Words of a line that are looked at.
const MOST: usize = 160;

/// Where a line in lower case says that memory ran out, if a clause of it does.
pub(super) fn spoken(lower: &str) -> Option<(usize, usize)> {
    clauses(lower).find_map(|clause| {
        refused(lower, &clause)
            .or_else(|| exhausted(lower, &clause))
            .or_else(|| bounded(&clause))
            .or_else(|| above_memory(&clause))
            .or_else(|| below_its_floor(&clause))
            .or_else(|| no_room(&clause))
            .or_else(|| too_large(&clause))
            .or_else(|| killed(&clause))
            .or_else(|| uncreated(&clause))
            .or_else(|| unobtained(&clause))
            .or_else(|| lacking(&clause))
    })
}

/// The words of each clause of a line.
fn clauses(lower: &str) -> impl Iterator<Item = Vec<Word<'_>>> {
    let mut clauses: Vec<Vec<Word<'_>>> = vec![Vec::new()];
    let within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'');
    let (mut start, mut count) = (None, 0);
    for (at, c) in lower.char_indices().chain([(lower.len(), ' ')]) {
        match (within(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let text = lower.get(from..at).unwrap_or_default().trim_matches('\'');
                if let Some(clause) = clauses.last_mut().filter(|_| count < MOST && !text.is_empty()) {
                    clause.push(Word { at: from, text });
                    count += 1;
                }
                start = None;
            }
            _ => {}
        }
        let ends = matches!(c, ';' | '!' | '|') || c == '.' && lower.get(at + 1..).is_some_and(|r| r.starts_with(' '));
        if ends {
            clauses.push(Vec::new());
        }
    }
    clauses.into_iter().filter(|clause| clause.len() >= 2)
}

/// True where the word at `i` says that something did not come about.
fn refuses(clause: &[Word<'_>], i: usize) -> bool {
    let Some(word) = clause.get(i) else { return false };
    let before = i.checked_sub(1).and_then(|i| clause.get(i));
    let after = clause.get(i + 1);
    word.is(REFUSES)
        || word.text == "not"
            && (before.is_some_and(|word| word.is(AUXILIARIES))
                || after.is_some_and(|word| word.is(&["able", "possible", "be", "succeed", "successful"])))
}

/// `could not allocate the matrix`, `allocation of the index … failed`, `xalloc(12) returned NULL`.
fn refused(lower: &str, clause: &[Word<'_>]) -> Option<(usize, usize)> {
    let has = |words: &[&str]| clause.iter().any(|word| word.is(words));
    let memory = has(MEMORY) || clause.iter().any(|word| is_size(word.text));
    let made = has(MADE) || clause.iter().any(|word| word.text.contains("malloc") || word.text.contains("mmap"));
    // The name of what is allocated stands beside the act; what is allocated on a node or for a job is no node.
    let asks = |i: usize, word: &Word<'_>| {
        let before = i.checked_sub(1).and_then(|i| clause.get(i));
        // `request for 12 mb of memory`
        let behind = clause.get(i + 1..(i + 7).min(clause.len())).unwrap_or_default();
        let for_memory = word.text == "request"
            && behind.first().is_some_and(|word| word.is(&["for", "of"]))
            && behind.iter().any(|word| word.is(&["memory", "vram", "ram"]));
        word.allocates()
            || word.text == "request" && before.is_some_and(|word| word.is(&["memory", "allocation"]))
            || word.text == "reservation" && memory
            || for_memory
    };
    for (i, word) in clause.iter().enumerate().filter(|(i, word)| asks(*i, word)) {
        let from = i.saturating_sub(REACH);
        let noun = word.text == "allocation" && i <= 2;
        let to = (i + if noun { FAR_REACH } else { REACH } + 1).min(clause.len());
        let beside = |at: usize| at.abs_diff(i) <= 1;
        let refusal = (from..to).find(|at| {
            *at != i
                && (refuses(clause, *at)
                    || beside(*at) && clause.get(*at).is_some_and(|word| word.is(ADJACENT)) && (memory || made))
        });
        let Some(refusal) = refusal else { continue };
        let between = clause.get(refusal).and_then(|end| lower.get(word.at.min(end.at)..word.at.max(end.at)));
        if refusal.abs_diff(i) > REACH && between.is_none_or(|between| between.contains(", ")) {
            continue;
        }
        let be = i.checked_sub(1).and_then(|i| clause.get(i)).is_some_and(|word| word.is(&["be", "been", "not"]));
        if word.is_state() && !be {
            continue;
        }
        let other = clause.get(i.saturating_sub(2)..(i + 4).min(clause.len())).unwrap_or_default();
        // `connection structures`, `the socket's buffer`: what is made for it.
        let apart = |at: usize| other.get(at + 1).is_none_or(|next| !next.is(STRUCTURES));
        if !memory && other.iter().enumerate().any(|(at, word)| word.is(OTHERS) && apart(at)) {
            continue;
        }
        // `allocation of psi failed with stat = 5014`: a program's own name for what it needed.
        let own = if noun { 10 } else { 6 };
        if memory || made || clause.len() <= own && !lower.contains("reserv") {
            let first = clause.get(i.min(refusal))?;
            let last = clause.get(i.max(refusal))?;
            return Some((first.at, last.end()));
        }
    }
    None
}

/// True for a number of five digits and more, such as one of bytes.
fn is_large_number(word: &str) -> bool {
    word.len() >= 5 && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_size(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    matches!(unit, "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" | "tib" | "kbytes" | "mbytes" | "gbytes")
}

/// `exhausted heap space`, `the arena is depleted`.
fn exhausted(lower: &str, clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const SPENT: &[&str] = &["exhausted", "exhausts", "exhaustion", "depleted", "exhausting"];
    const SPACES: &[&str] = &["memory", "vram", "ram", "heap", "arena", "hbm", "hunk", "workspace", "swap"];
    const FULL: &[&str] = &["full", "insufficient", "overflow", "overflowed", "shortage"];
    let near = |i: usize| {
        let around = clause.get(i.saturating_sub(4)..(i + 4).min(clause.len())).unwrap_or_default();
        let spent = clause.get(i).map_or(0, |word| word.at);
        // `the budget is exhausted, heap at 12 %`: of something else.
        let apart =
            |word: &Word<'_>| lower.get(word.at.min(spent)..word.at.max(spent)).is_none_or(|text| text.contains(", "));
        around.iter().any(|word| word.is(SPACES) && !apart(word))
    };
    // `the heap is full`, `GPU memory used up`, `memory ran out`: directly behind the noun, and at the clause's end.
    let full = |i: usize, word: &Word<'_>| {
        let after = clause.get(i + 1);
        let said = word.is(FULL)
            || after.is_some_and(|after| {
                word.text == "used" && after.text == "up" || word.text == "ran" && after.text == "out"
            });
        let last = if word.is(FULL) { i } else { i + 1 };
        let ends = clause.get(last + 1).is_none_or(|word| {
            word.is(&[
                "error", "while", "when", "during", "on", "at", "for", "in", "cannot", "could", "unable", "failed",
            ])
        });
        let lead = clause.get(i.saturating_sub(3)..i).unwrap_or_default();
        let between = |word: &&Word<'_>| word.is(&["is", "was", "has", "pool", "space", "completely", "almost"]);
        let noun = lead.iter().rev().find(|word| !between(word));
        said && ends
            && noun.is_some_and(|noun| noun.is(SPACES))
            && !lead.iter().any(|word| word.is(&["almost", "nearly", "not", "if", "when"]))
    };
    // `memory exceeded`, without a limit's name.
    let exceeded = |i: usize, word: &Word<'_>| {
        let before = i.checked_sub(1).and_then(|i| clause.get(i));
        word.text == "exceeded" && before.is_some_and(|word| word.is(SPACES)) && i + 1 == clause.len()
    };
    let spent = |(i, word): &(usize, &Word<'_>)| word.is(SPENT) && near(*i) || exceeded(*i, word) || full(*i, word);
    let (i, word) = clause.iter().enumerate().find(spent)?;
    let from = i.checked_sub(4).and_then(|from| clause.get(from)).or(clause.first())?;
    Some((from.at, word.end()))
}

/// `memory usage of the process has exceeded the limit`, `the heap limit was reached`.
fn bounded(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const EXCEEDS: &[&str] = &["exceed", "exceeds", "exceeded", "exceeding", "surpassed", "surpasses", "overran"];
    const REACHES: &[&str] = &["reached", "reaches", "hit", "hits", "reach"];
    const BOUNDS: &[&str] = &[
        "limit",
        "limits",
        "quota",
        "budget",
        "cap",
        "ceiling",
        "maximum",
        "max",
        "allowance",
        "capacity",
        "available",
    ];
    const MATTER: &[&str] = &["memory", "mem", "heap", "rss", "vram", "ram", "hbm", "arena"];
    const FILLERS: &[&str] = &[
        "the",
        "its",
        "a",
        "has",
        "have",
        "been",
        "was",
        "is",
        "of",
        "memory",
        "mem",
        "heap",
        "ram",
        "vram",
        "usage",
        "use",
        "configured",
        "maximum",
        "max",
        "hard",
        "process",
        "query",
        "user",
        "total",
        "for",
        "gpu",
        "rss",
        "resident",
        "allowed",
        "global",
        "hits",
        "size",
        "available",
    ];
    const HOLDERS: &[&str] = &["device", "card", "machine", "node", "system", "host", "computer", "gpu", "process"];
    // What somebody watches, or sets, or has time and requests of.
    const WATCHED: &[&str] = &[
        "threshold",
        "soft",
        "watermark",
        "rate",
        "token",
        "tokens",
        "time",
        "retries",
        "retry",
        "disk",
        "file",
        "connections",
        "log",
        "message",
        "upload",
        "storage",
        "length",
        "context",
        "depth",
        "warn",
        "reload",
        "restart",
        "recycle",
    ];
    let matter = clause.iter().position(|word| word.is(MATTER))?;
    // `due to overflowing the storage cache`: why, and not what.
    let mut stated = clause.iter().take_while(|word| !word.is(&["due", "because"]));
    if stated.any(|word| word.is(WATCHED)) {
        return None;
    }
    // `is over`, `went above`, `grew beyond`.
    const OVER: &[&str] = &["over", "above", "beyond"];
    const BECAME: &[&str] =
        &["is", "was", "went", "grew", "got", "now", "rose", "usage", "are", "mb", "gb", "mib", "gib"];
    clause.iter().enumerate().find_map(|(i, word)| {
        let before = i.checked_sub(1).and_then(|i| clause.get(i));
        let more = word.text == "than" && before.is_some_and(|word| word.is(LARGER));
        let over = word.is(OVER) && before.is_some_and(|word| word.is(BECAME)) || more;
        let reaches = word.is(REACHES) || over;
        // `must not exceed`, `so as not to exceed`: it did not.
        let held = before.is_some_and(|word| word.is(&["not", "to", "never"]));
        if !(reaches || word.is(EXCEEDS)) || held {
            return None;
        }
        let bound = (0..clause.len())
            .filter(|at| clause.get(*at).is_some_and(|word| word.is(BOUNDS)))
            .min_by_key(|at| at.abs_diff(i))?;
        let (low, high) = (i.min(bound), i.max(bound));
        let between = clause.get(low + 1..high).unwrap_or_default();
        // `limit (104857600) reached`: its size.
        let filler = |word: &Word<'_>| {
            let holder = word.text.strip_suffix("'s").is_some_and(|of| HOLDERS.contains(&of));
            word.is(FILLERS) || holder || is_size(word.text) || is_large_number(word.text)
        };
        // `reached operation memory limit`: one word may say of what.
        let named = between.windows(2).filter(|pair| !filler(&pair[0]) && pair[1].is(MATTER)).count();
        let tight = between.len() <= 6 && between.iter().filter(|word| !filler(word)).count() <= named.min(1);
        let loose = !reaches && between.len() <= 8;
        // What is said of the memory stands in front of it, or names the limit.
        let about = matter.abs_diff(i).min(matter.abs_diff(bound)) <= 8;
        let from = clause.get(low.min(matter))?;
        (about && (tight || loose)).then_some((from.at, clause.get(high)?.end()))
    })
}

/// `the mesh exceeds the physical memory`, without a limit's name.
fn above_memory(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const ABOVE: &[&str] = &["exceed", "exceeds", "exceeded", "exceeding", "than"];
    const WHICH: &[&str] = &[
        "the",
        "available",
        "physical",
        "gpu",
        "device",
        "system",
        "host",
        "installed",
        "total",
        "its",
        "your",
        "this",
        "computer",
        "machine",
        "node",
        "permitted",
        "allowed",
        "allotted",
        "assigned",
        "configured",
        "maximum",
        "max",
    ];
    const MATTER: &[&str] = &["memory", "vram", "ram", "hbm"];
    let larger = |i: usize| {
        i.checked_sub(1).and_then(|i| clause.get(i)).is_some_and(|word| word.is(LARGER) && word.text != "more")
    };
    let i = clause.iter().enumerate().position(|(i, word)| word.is(ABOVE) && (word.text != "than" || larger(i)))?;
    let rest = clause.get(i + 1..)?;
    let which = rest.iter().take_while(|word| word.is(WHICH)).count();
    let last = rest.get(which).filter(|word| word.is(MATTER))?;
    let behind = rest.get(which + 1);
    // `exceeds memory setting`: what memory is set to.
    let set = behind.is_some_and(|word| word.is(&["setting", "settings", "size", "capacity", "available"]));
    if which == 0 && !set {
        return None;
    }
    // `exceeds the memory threshold`: something else.
    let ends =
        set || behind.is_none_or(|word| word.is(&["of", "on", "by", "and", "size", "available", "capacity", "please"]));
    ends.then_some((clause.get(i)?.at, last.end()))
}

/// `total free memory (2.1 GB) is below the threshold (4.0 GB)`: what is left, under what has to be.
fn below_its_floor(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const LEFT: &[&str] = &["free", "available", "remaining"];
    const FLOORS: &[&str] = &["threshold", "limit", "minimum", "reserve", "requirement"];
    let memory = clause.iter().position(|word| word.is(&["memory", "ram", "vram"]))?;
    clause.get(memory.saturating_sub(2)..memory)?.iter().find(|word| word.is(LEFT))?;
    let below = clause.iter().skip(memory).position(|word| word.is(&["below", "under"]))? + memory;
    let floor = clause.get(below + 1..(below + 4).min(clause.len()))?.iter().find(|word| word.is(FLOORS))?;
    Some((clause.get(memory.saturating_sub(1))?.at, floor.end()))
}

/// `no room in the pool`, `no free fragment`, `not enough space left in the heap`.
fn no_room(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const LACKS: &[&str] = &["no", "insufficient", "lack", "lacking", "without"];
    const SPACE: &[&str] = &["space", "room", "bytes", "memory"];
    const PLACES: &[&str] = &["heap", "arena", "hunk", "memory", "mempool", "slab", "nursery", "vram", "ram", "stack"];
    const PIECES: &[&str] =
        &["fragment", "fragments", "block", "blocks", "chunk", "chunks", "page", "pages", "segment"];
    for (i, word) in clause.iter().enumerate() {
        let rest = clause.get(i + 1..(i + 8).min(clause.len())).unwrap_or_default();
        let enough = word.text == "enough"
            && i.checked_sub(1)
                .and_then(|i| clause.get(i))
                .is_some_and(|word| word.text == "not" || word.text.ends_with("n't"));
        let lacks = word.is(LACKS) || enough;
        if lacks && let Some(space) = rest.iter().take(3).position(|word| word.is(SPACE)) {
            let behind = rest.get(space + 1..).unwrap_or_default();
            let within =
                behind.first().is_some_and(|word| word.is(&["in", "on", "left", "within", "available", "for"]));
            if within && behind.iter().any(|word| word.is(PLACES)) {
                return Some((word.at, behind.last()?.end()));
            }
        }
        // `no free fragment available`, `free fragment not found`
        let piece = rest.first().filter(|piece| word.text == "free" && piece.is(PIECES));
        let Some(piece) = piece else { continue };
        let before = clause.get(i.saturating_sub(4)..i).unwrap_or_default();
        let missing =
            |words: &[Word<'_>]| words.iter().any(|word| word.is(&["no", "not", "couldn't", "cannot", "can't"]));
        if missing(before) || missing(rest.get(..3.min(rest.len())).unwrap_or_default()) {
            return Some((before.first().map_or(word.at, |word| word.at), piece.end()));
        }
    }
    None
}

/// `would be too large to fit into the available memory`, `needs more memory than there is`, `is below the minimum
/// requirement of 8 GB of RAM`.
fn too_large(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const MATTER: &[&str] = &["memory", "vram", "ram", "hbm", "heap"];
    clause.iter().position(|word| word.is(MATTER))?;
    let pair = |first: &[&str], second: &[&str], apart: usize| {
        clause.iter().enumerate().find_map(|(i, word)| {
            let rest = clause.get(i + 1..(i + 1 + apart).min(clause.len())).unwrap_or_default();
            let last = rest.iter().find(|word| word.is(second)).filter(|_| word.is(first))?;
            // `would be too large`: the whole of what is said.
            let lead = clause.get(i.saturating_sub(2)..i).unwrap_or_default();
            let from = lead.first().filter(|word| word.is(&["would", "will", "is", "are"])).unwrap_or(word);
            Some((from.at, last.end()))
        })
    };
    // `more memory than is available`: to the end, or what is available would be said of the words.
    let more = pair(&["more"], &["than"], 8).filter(|_| pair(&["more"], MATTER, 3).is_some());
    let more = more.and_then(|(from, _)| Some((from, clause.last()?.end())));
    let large = pair(&["too"], &["large", "big", "much", "small", "little", "low"], 1);
    // `too many k-mers to fit into available memory`
    let many = pair(&["too"], &["many"], 1).filter(|_| pair(&["fit"], MATTER, 4).is_some());
    let fits = clause.iter().any(|word| word.is(&["fit", "fits", "memory", "ram", "vram"]));
    let short = pair(MATTER, &["small", "low", "little"], 4)
        .filter(|_| pair(&["too"], &["small", "low", "little"], 1).is_some());
    large
        .filter(|_| fits && clause.iter().any(|word| word.is(&["fit", "fits", "for", "available", "gpu", "device"])))
        .or(many)
        .or(short)
        .or(more)
        .or_else(|| pair(&["below", "under", "than"], &["minimum", "required", "requirement", "requirements"], 4))
}

/// `terminating the worker: it used too much memory`.
fn killed(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const KILLS: &[&str] = &[
        "killed",
        "killing",
        "terminated",
        "terminating",
        "aborted",
        "aborting",
        "cancelled",
        "canceled",
        "cancelling",
        "canceling",
    ];
    const REASONS: &[&str] =
        &["much", "excessive", "exceeded", "exceeding", "exceeds", "limit", "over", "low", "pressure", "high"];
    // Refused for its own reasons, unless memory is said to be the reason.
    const TURNED_AWAY: &[&str] = &["refused", "rejected", "evicted"];
    let kill = clause.iter().position(|word| word.is(KILLS) || word.is(TURNED_AWAY))?;
    let strong = clause.get(kill)?.is(KILLS);
    let memory = clause.iter().position(|word| word.is(&["memory", "mem", "vmem", "rss", "ram", "vram"]))?;
    // `killed due to memory usage`: what it was killed for.
    let due = clause.get(memory.saturating_sub(3)..memory);
    let due = due.is_some_and(|words| words.iter().any(|word| word.is(&["due", "because", "for"]))).then_some(memory);
    let mut words = clause.iter().enumerate();
    let reason = words.find(|(at, word)| strong && word.is(REASONS) && at.abs_diff(memory) <= 5);
    let reason = reason.or_else(|| due.and_then(|at| Some((at, clause.get(at)?))))?;
    let first = clause.get(kill.min(memory).min(reason.0))?;
    Some((first.at, clause.get(kill.max(memory).max(reason.0))?.end()))
}

/// `can't create buffer of size: 268435456, error -2`: what is made of memory and was not, with its size.
fn uncreated(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const CREATES: &[&str] = &["create", "creating", "creation"];
    const MEMORY: &[&str] = &["buffer", "texture", "image", "surface", "framebuffer", "array", "tensor", "bitmap"];
    const OTHER_REASONS: &[&str] =
        &["unsupported", "invalid", "exists", "exist", "permission", "format", "missing", "unknown", "denied"];
    let number = |word: &Word<'_>| is_large_number(word.text);
    if clause.iter().any(|word| word.is(OTHER_REASONS)) {
        return None;
    }
    let sized = clause.windows(2).any(|pair| match pair {
        [first, second] => first.text == "size" && number(second) || number(first) && second.text == "bytes",
        _ => false,
    }) || clause.iter().any(|word| is_size(word.text));
    let (i, create) = clause.iter().enumerate().find(|(_, word)| word.is(CREATES)).filter(|_| sized)?;
    let around = clause.get(i.saturating_sub(3)..(i + 6).min(clause.len()))?;
    let first = (i.saturating_sub(3)..(i + 6).min(clause.len())).find(|at| refuses(clause, *at))?;
    let made = around.iter().find(|word| word.is(MEMORY))?;
    let from = clause.get(first)?.at.min(create.at);
    Some((from, made.end().max(create.end())))
}

/// True for what is said of memory and is no memory: `unable to get GPU memory info`.
fn tells_of_memory(word: &Word<'_>) -> bool {
    word.is(&[
        "info",
        "information",
        "usage",
        "use",
        "stats",
        "statistics",
        "type",
        "clock",
        "dump",
        "address",
        "addresses",
        "utilization",
        "status",
        "state",
        "details",
        "profile",
        "snapshot",
        "report",
        "controller",
        "cgroup",
        "leak",
        "leaks",
        "policy",
        "settings",
        "properties",
        "property",
        "counters",
        "counter",
        "bandwidth",
        "layout",
    ])
}

/// `failed to secure GPU memory`, `was unable to grow the heap`, `the table cannot be held in memory`: a verb of taking
/// or holding behind a refusal, and memory as what is taken, grown or held in.
fn unobtained(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const TAKES: &[&str] = &[
        "obtain", "get", "acquire", "secure", "claim", "commit", "map", "provide", "satisfy", "pin", "find", "fulfil",
        "fulfill", "reserve", "grant", "grab", "fetch", "set",
    ];
    const GROWS: &[&str] = &["grow", "extend", "expand", "enlarge", "resize", "increase"];
    const HOLDS: &[&str] = &["hold", "held", "fit", "kept", "keep"];
    const GROWN: &[&str] = &["heap", "arena", "memory", "workspace", "pool", "hunk", "mempool", "memtable"];
    const OTHER_REASONS: &[&str] = &["permission", "permitted", "invalid", "exist", "exists", "unsupported", "mapped"];
    if clause.iter().any(|word| word.is(OTHER_REASONS)) {
        return None;
    }
    let memory =
        |word: &Word<'_>| word.is(&["memory", "mem", "vram", "ram", "heap", "hbm", "bytes"]) || is_size(word.text);
    clause.iter().enumerate().find_map(|(i, word)| {
        let rest = clause.get(i + 1..(i + 9).min(clause.len())).unwrap_or_default();
        let first = (i.saturating_sub(4)..i).find(|at| refuses(clause, *at) || clause.get(*at).is_some_and(tries))?;
        // The noun of what is taken, and what is said of it.
        let object = if word.is(TAKES) {
            rest.iter().position(memory)
        } else if word.is(GROWS) {
            rest.iter().take(4).position(|word| word.is(GROWN))
        } else if word.is(HOLDS) {
            let place = rest.iter().position(|word| word.is(&["in", "into", "within", "on"]));
            place.and_then(|place| {
                rest.iter()
                    .skip(place)
                    .take(4)
                    .position(|word| word.is(&["memory", "ram", "vram"]))
                    .map(|at| at + place)
            })
        } else {
            None
        }?;
        let behind = rest.get(object + 1);
        let ahead = object.checked_sub(1).and_then(|at| rest.get(at));
        let told = |word: Option<&Word<'_>>| word.is_some_and(tells_of_memory);
        // `limit`, `size` behind it: a setting, unless that is what grows.
        let setting = word.is(TAKES)
            && !word.is(&["satisfy"])
            && behind.is_some_and(|word| word.is(&["limit", "limits", "size", "from"]));
        if told(behind) || told(ahead) || setting {
            return None;
        }
        Some((clause.get(first)?.at, rest.get(object)?.end()))
    })
}

/// True for the noun of an attempt that came to nothing: `error while trying to secure`.
fn tries(word: &Word<'_>) -> bool {
    word.is(&["error", "trying"])
}

/// `too little GPU memory`, `short of memory`, `no more heap space`: memory is what there is too little of.
fn lacking(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const MEMORY: &[&str] = &["memory", "vram", "ram", "heap", "hbm"];
    const KINDS: &[&str] = &[
        "gpu",
        "device",
        "host",
        "system",
        "free",
        "available",
        "more",
        "video",
        "graphics",
        "physical",
        "virtual",
        "main",
        "usable",
        "contiguous",
        "shared",
        "unified",
        "local",
        "cuda",
        "dedicated",
        "working",
    ];
    /// What leads to the noun, in one word and in two.
    const ONE: &[&str] = &["insufficient", "lacking", "lacks", "scarce"];
    const TWO: &[(&str, &[&str])] = &[
        ("too", &["little", "less", "few"]),
        ("lack", &["of"]),
        ("no", &["more", "free", "available"]),
        ("short", &["of", "on"]),
        ("shortage", &["of"]),
        ("low", &["on"]),
        ("not", &["sufficient", "enough"]),
    ];
    let starts = |i: usize| {
        let word = clause.get(i)?;
        if word.is(ONE) {
            return Some(i + 1);
        }
        let next = clause.get(i + 1)?;
        if TWO.iter().any(|(first, seconds)| word.text == *first && next.is(seconds)) {
            return Some(i + 2);
        }
        // `no GPU memory left`: alone it may be of anything.
        (word.text == "no").then_some(i + 1)
    };
    (0..clause.len()).find_map(|i| {
        let noun = starts(i)?;
        let kinds = clause.get(noun..)?.iter().take_while(|word| word.is(KINDS) && !word.is(MEMORY)).count().min(3);
        let memory = clause.get(noun + kinds).filter(|word| word.is(MEMORY))?;
        let mut behind = clause.get(noun + kinds + 1..)?.iter();
        let next = behind.next().filter(|word| !word.is(&["space"])).or_else(|| behind.next());
        let bare = clause.get(i)?.text == "no" && noun == i + 1;
        let ends = next.is_none_or(|word| word.is(&["left", "available", "remaining", "to", "for", "on", "at"]));
        if next.is_some_and(|word| {
            tells_of_memory(word) || word.is(&["mode", "killer", "error", "errors", "limit", "limits", "pressure"])
        }) || bare && !ends
        {
            return None;
        }
        Some((clause.get(i)?.at, memory.end()))
    })
}

/// The name of an error that memory ran out, as codes and classes are made: `DB_MEM_LIMIT_EXCEEDED`,
/// `InsufficientMemoryException`.
pub(super) fn code(line: &str) -> Option<(usize, usize)> {
    const MATTER: &[&str] = &["MEM", "ALLOC", "HEAP", "OOM", "ARENA"];
    const FAILS: &[&str] =
        &["EXCEED", "EXHAUST", "FAIL", "INSUFFICIENT", "NOT_ENOUGH", "NOTENOUGH", "OUT_OF", "OUTOF", "NO_MEM", "FULL"];
    let within = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut at = 0;
    line.split(|c: char| !within(c)).take(MOST).find_map(|word| {
        let from = at;
        // The separator of one byte is the common case; others move the place.
        let from = line.get(from..).and_then(|rest| rest.find(word)).map_or(from, |more| from + more);
        at = from + word.len() + 1;
        if !(8..=64).contains(&word.len()) {
            return None;
        }
        let upper = word.to_ascii_uppercase();
        let capitals = !word.bytes().any(|byte| byte.is_ascii_lowercase()) && word.contains('_');
        let class = word.starts_with(|c: char| c.is_ascii_uppercase())
            && ["Error", "Exception", "Exceeded", "Failure"].iter().any(|end| word.ends_with(end))
            && !word.contains('_');
        let holds = |parts: &[&str]| parts.iter().any(|part| upper.contains(part));
        let member = ["MEMBER", "MEMO_", "REMEMBER", "DEALLOC"].iter().any(|part| upper.contains(part));
        (capitals || class).then_some(())?;
        (holds(MATTER) && holds(FAILS) && !member).then_some((from, from + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_in_the_words_of_no_list_are_heard() {
        for line in [
            "allocation of scratch space for the amplitudes was unsuccessful",
            "attempted allocation of the matrix memory (a total of 12 bytes in ram) failed",
            "cuda allocation failed",
            "error stop allocation of psi failed with stat = 5014",
            "matrix a could not be allocated",
            "the index can not be allocated in device memory",
            "error allocating the field array",
            "mempool_alloc(4096) returned null",
            "exhausted heap space, trying to grow",
            "the nursery of the heap is exhausted",
            "memory of process exceed limit",
            "mem usage has exceed the limit of single query",
            "global rss memory limit exceeded",
            "the memory limit has been reached",
            "no space left in heap",
            "there is not enough room in the arena",
            "free fragment not found",
            "no free chunk available in zone 3",
            "the register of 40 qubits would be too large to fit into the available memory",
            "the reads contain too many k-mers to fit into available memory",
            "this plan needs more memory than the device has",
            "the plan requires more system memory (12 gib) than is available",
            "the mesh exceeds the physical memory of the device",
            "memory is too low for this scene",
            "3.2 gb of ram is below the minimum requirement of 8 gb",
            "terminating worker 3 because it used too much memory",
            "data refused due to high memory usage",
            "can't create buffer of size: 268435456, error -2",
            "failed to create a texture (67108864 bytes)",
            "memory required exceeds your computer ram size",
            "error: request exceeds memory setting",
            "exceeded the permitted memory",
            "failed to secure gpu memory",
            "memory request of 1234567 bytes was refused",
            "reservation of memory for the mesh failed",
            "was not able to obtain 12.5 gb of memory",
            "unable to get 1234567 bytes",
            "cannot grow the heap to 2.0 gib",
            "the table cannot be held in memory",
            "error while trying to commit a buffer of 1234567 bytes",
            "too little gpu memory",
            "we are short of memory",
            "no more heap space",
            "no vram left",
            "the memory pool is full",
            "gpu memory used up",
            "heap is insufficient",
            "memory usage is above the limit",
            "usage manager memory limit (104857600) reached",
            "exceeds max memory",
            "total free memory (2.1 gb) is below the threshold (4.0 gb) at rank 3",
            "can't satisfy the specified gpu memory limit",
            "rss grew beyond its limit",
            "memory use went over the budget",
            "the mesh is larger than the available memory",
            "the problem requires more memory than is available",
            "worker evicted due to memory pressure",
            "canceling query because of high vmem usage",
            "request rejected for memory",
            "request for 12 mb of memory denied",
            "process uses 1234567 bytes of memory, more than the limit of 1230000",
            "total needed memory is bigger than device's capacity (4294967296)",
            "the collect phase reached operation memory limit",
        ] {
            assert!(spoken(line).is_some(), "{line}");
        }
    }

    #[test]
    fn clauses_of_other_matters_are_left_alone() {
        for line in [
            "port allocation failed: 8080",
            "could not allocate ip address from pool",
            "failed to allocate 4 gpus for job 12",
            "register allocation failed for kernel",
            "allocated 12 gb, 3 requests failed",
            "peak memory 12 gb, limit 16 gb, reached step 400",
            "rate limit exceeded: 60 requests",
            "context length exceeds the maximum of 4096 tokens",
            "connection pool exhausted",
            "memory usage is over the soft threshold",
            "the disk quota was exceeded, memory is fine",
            "0 failed, 12 allocations",
            "no space left on device",
            "unable to reserve a seat",
            "failed to create texture 4096x4096",
            "failed to create the image: 404",
            "cannot create buffer: invalid size",
            "reservation of the seat failed",
            "http request failed, memory at 41 %",
            "unable to get gpu memory info",
            "failed to obtain memory statistics",
            "cannot map memory: permission denied",
            "failed to set memory limit",
            "could not get memory limit of the cgroup",
            "low memory mode",
            "no memory leaks found",
            "no gpu memory needed",
            "connection pool is full",
            "heap full gc took 12 ms",
            "memory almost full",
            "free heap space 12 mb",
            "3 jobs are above the time limit, memory is fine",
            "unable to find a free port",
            "cannot fit the window on the screen",
            "using 2 threads to not exceed the memory usage limit of 300 mib",
            "reload on rss limit reached",
            "memory is fine, it reached the operation time limit",
        ] {
            assert_eq!(spoken(line), None, "{line}");
        }
    }

    #[test]
    fn codes_and_classes_are_read_by_their_parts() {
        for line in [
            "status=errorCode MEM_LIMIT_EXCEEDED Memory of process",
            "NVXPEG_STATUS_ALLOCATOR_FAILURE a.jpg",
            "com.grid.InsufficientMemoryException: x",
            "raised GridMemoryLimitExceeded",
        ] {
            assert!(code(line).is_some(), "{line}");
        }
        for line in ["MAX_MEMBERS_EXCEEDED", "DEALLOC_FAILED", "MEMORY_LIMIT=4", "heap_full_gc", "é_MEM_ok"] {
            assert_eq!(code(line), None, "{line}");
        }
    }
}
