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
    "kernel",
    "context",
    "state",
    "map",
    "tree",
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
            .or_else(|| exhausted(&clause))
            .or_else(|| bounded(&clause))
            .or_else(|| above_memory(&clause))
            .or_else(|| no_room(&clause))
            .or_else(|| too_large(&clause))
            .or_else(|| killed(&clause))
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
    for (i, word) in clause.iter().enumerate().filter(|(_, word)| word.allocates()) {
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
        if !memory && other.iter().any(|word| word.is(OTHERS)) {
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

fn is_size(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    matches!(unit, "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" | "tib" | "kbytes" | "mbytes" | "gbytes")
}

/// `exhausted heap space`, `the arena is depleted`.
fn exhausted(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const SPENT: &[&str] = &["exhausted", "exhausts", "exhaustion", "depleted", "exhausting"];
    const SPACES: &[&str] = &["memory", "vram", "ram", "heap", "arena", "hbm", "hunk", "workspace", "swap"];
    let near = |i: usize| {
        let around = clause.get(i.saturating_sub(4)..(i + 4).min(clause.len())).unwrap_or_default();
        around.iter().any(|word| word.is(SPACES))
    };
    // `memory exceeded`, without a limit's name.
    let exceeded = |i: usize, word: &Word<'_>| {
        let before = i.checked_sub(1).and_then(|i| clause.get(i));
        word.text == "exceeded" && before.is_some_and(|word| word.is(SPACES)) && i + 1 == clause.len()
    };
    let spent = |(i, word): &(usize, &Word<'_>)| word.is(SPENT) && near(*i) || exceeded(*i, word);
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
    if clause.iter().any(|word| word.is(WATCHED)) {
        return None;
    }
    clause.iter().enumerate().find_map(|(i, word)| {
        let reaches = word.is(REACHES);
        // `must not exceed`, `so as not to exceed`: it did not.
        let held = i.checked_sub(1).and_then(|i| clause.get(i)).is_some_and(|word| word.is(&["not", "to", "never"]));
        if !(reaches || word.is(EXCEEDS)) || held {
            return None;
        }
        let bound = (0..clause.len())
            .filter(|at| clause.get(*at).is_some_and(|word| word.is(BOUNDS)))
            .min_by_key(|at| at.abs_diff(i))?;
        let (low, high) = (i.min(bound), i.max(bound));
        let between = clause.get(low + 1..high).unwrap_or_default();
        let tight = between.len() <= 6 && between.iter().all(|word| word.is(FILLERS));
        let loose = !reaches && between.len() <= 8;
        // What is said of the memory stands in front of it, or names the limit.
        let about = matter.abs_diff(i).min(matter.abs_diff(bound)) <= 8;
        let from = clause.get(low.min(matter))?;
        (about && (tight || loose)).then_some((from.at, clause.get(high)?.end()))
    })
}

/// `the mesh exceeds the physical memory`, without a limit's name.
fn above_memory(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const ABOVE: &[&str] = &["exceed", "exceeds", "exceeded", "exceeding"];
    const WHICH: &[&str] =
        &["the", "available", "physical", "gpu", "device", "system", "host", "installed", "total", "its"];
    const MATTER: &[&str] = &["memory", "vram", "ram", "hbm"];
    let i = clause.iter().position(|word| word.is(ABOVE))?;
    let rest = clause.get(i + 1..)?;
    let which = rest.iter().take_while(|word| word.is(WHICH)).count();
    let last = rest.get(which).filter(|word| which > 0 && word.is(MATTER))?;
    let behind = rest.get(which + 1);
    // `exceeds the memory threshold`: something else.
    let ends = behind.is_none_or(|word| word.is(&["of", "on", "by", "and", "size", "available", "capacity", "please"]));
    ends.then_some((clause.get(i)?.at, last.end()))
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
    let large = pair(&["too"], &["large", "big", "much", "small", "little", "low"], 1);
    let fits = clause.iter().any(|word| word.is(&["fit", "fits", "memory", "ram", "vram"]));
    let short = pair(MATTER, &["small", "low", "little"], 4)
        .filter(|_| pair(&["too"], &["small", "low", "little"], 1).is_some());
    large
        .filter(|_| fits && clause.iter().any(|word| word.is(&["fit", "fits", "for", "available", "gpu", "device"])))
        .or(short)
        .or_else(|| pair(&["more"], &["than"], 8).filter(|_| pair(&["more"], MATTER, 3).is_some()))
        .or_else(|| pair(&["below", "under", "than"], &["minimum", "required", "requirement", "requirements"], 4))
}

/// `terminating the worker: it used too much memory`.
fn killed(clause: &[Word<'_>]) -> Option<(usize, usize)> {
    const KILLS: &[&str] =
        &["killed", "killing", "terminated", "terminating", "aborted", "aborting", "cancelled", "canceled"];
    const REASONS: &[&str] =
        &["much", "excessive", "exceeded", "exceeding", "exceeds", "limit", "over", "low", "pressure"];
    let kill = clause.iter().position(|word| word.is(KILLS))?;
    let memory = clause.iter().position(|word| word.is(&["memory", "mem", "rss", "ram"]))?;
    let reason = clause.iter().enumerate().find(|(at, word)| word.is(REASONS) && at.abs_diff(memory) <= 5)?;
    let first = clause.get(kill.min(memory).min(reason.0))?;
    Some((first.at, clause.get(kill.max(memory).max(reason.0))?.end()))
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
        at += word.len() + 1;
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
            "this plan needs more memory than the device has",
            "the plan requires more system memory (12 gib) than is available",
            "the mesh exceeds the physical memory of the device",
            "memory is too low for this scene",
            "3.2 gb of ram is below the minimum requirement of 8 gb",
            "terminating worker 3 because it used too much memory",
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
            "using 2 threads to not exceed the memory usage limit of 300 mib",
            "reload on rss limit reached",
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
