//! Reports of the Linux kernel's out-of-memory killer (`mm/oom_kill.c`, `mm/memcontrol.c`), 2.6 to 6.x.
//!
//! In order a report has: the line of the task that asked for the last page (not the culprit), its stack, the memory of
//! the machine or the counters of the cgroup, a table of tasks, the `oom-kill:` line (5.0+), the kill itself,
//! `oom_reaper:`. Pastes often hold one of these only, so each is read by itself. Whatever is there becomes one event.

use super::bare::bare as without_prefix;
use super::joined::Joined;
use super::labelled::spoken;
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field};
use crate::domain::{Number, Program};
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::units::{Figure, KIB};
use std::collections::BTreeMap;

pub const DIALECT: Dialect = Dialect {
    name: "kernel",
    triggers: &["oom-kill", "illed", "Out of memory", "out of memory", "total_vm", "oom_kill ", ", failcnt "],
    read,
};

/// A report has at most this many lines: its table has one for each process of the machine or group. A machine may have
/// four million (`kernel.pid_max` of 64-bit systems), but no document keeps more lines in a row.
const LONGEST: usize = 64 << 10;

/// Foreign lines in a row that may stand inside a report: other programs write to the same log.
const INTERLEAVED: usize = 40;

/// The kernel's "no limit" of a cgroup: the largest page count, in kB, is 9007199254740988 on 64-bit systems.
const UNLIMITED_KB: u64 = 9_007_199_254_000_000;

/// The page size where the report gives no way to compute it: right for x86-64 and for most arm64 systems.
const COMMON_PAGE: u64 = 4096;

/// The kernel's words when every task is protected or gone.
const NOT_KILLED: &str = "no killable processes";

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if let Some(event) = counted_kills(document, position).or_else(|| full_group(document, position)) {
        return Some(event);
    }
    if !speaks_of_a_kill(line) && !is_lone_table(document, position) {
        return None;
    }
    let range = extent(document, position)?;
    Some(Report::gather(document, range).into_event(document))
}

/// The report around a line, if its victim is `pid`.
pub fn report_of(document: &Document, position: usize, pid: u64) -> Option<Event> {
    read(document, position).filter(|event| event.facts.pid.value() == Some(pid))
}

/// Gives a program's own event what the kernel's report of the same process tells.
pub fn adopt(event: &mut Event, report: &Event) {
    for (fact, figure) in &report.facts.sizes {
        event.facts.note(*fact, *figure);
    }
    for (number, value) in &report.facts.numbers {
        event.facts.numbers.entry(*number).or_insert(*value);
    }
    for (known, told) in [
        (&mut event.facts.process_name, &report.facts.process_name),
        (&mut event.facts.cgroup, &report.facts.cgroup),
        (&mut event.facts.largest_process, &report.facts.largest_process),
    ] {
        if !known.is_known() {
            *known = told.clone();
        }
    }
    event.signs.remove(&Sign::NoFigures);
}

/// `oom_kill N` of a cgroup's `memory.events`, the kernel's count of deaths there.
fn counted_kills(document: &Document, position: usize) -> Option<Event> {
    let line = without_prefix(field::text(document, position)).trim();
    let kills: u64 = line.strip_prefix("oom_kill ")?.trim().parse().ok().filter(|kills| *kills > 0)?;
    // The file's other lines stand around, or its name does; `/proc/vmstat` counts for the whole machine since its
    // start.
    let counters = field::before(position, 6)
        .map(|at| without_prefix(field::text(document, at)).trim())
        .any(|line| line.starts_with("oom ") || line.contains("memory.events") || line.starts_with("under_oom "));
    if !counters {
        return None;
    }
    let mut event = field::event(document, position, "cgroup-oom-counter", Program::LinuxKernel, Resource::Cgroup);
    event.sign(Sign::KilledWithProof);
    event.sign(Sign::NoFigures);
    field::note_number(&mut event, Number::Kills, Some(kills as f64));
    let near = field::before(position, 200).chain(field::behind(document, position, 200));
    if near.map(|at| field::text(document, at)).any(|line| is_kill(line) || line.contains("OOMKilled")) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// `memory: usage 1048576kB, limit 1048576kB, failcnt 137` of a report of which the lines that name a victim are
/// missing: a group at its limit, in which the kernel looked for one (mm/memcontrol.c, mem_cgroup_print_oom_meminfo).
fn full_group(document: &Document, position: usize) -> Option<Event> {
    const NEAR: usize = 400;
    let line = without_prefix(field::text(document, position)).trim();
    let told = line.strip_prefix("memory: usage ")?;
    let (usage, limit) = (kilobytes_after(line, "usage ")?, kilobytes_after(line, "limit ")?);
    let failed = field::leading_number(field::after(told, "failcnt ")?).is_some_and(|count| count > 0);
    let full = limit < UNLIMITED_KB && usage >= limit - limit / 100;
    let near = field::before(position, NEAR).chain(field::behind(document, position, NEAR));
    if !(failed && full) || near.map(|at| field::text(document, at)).any(speaks_of_a_kill) {
        return None;
    }
    let mut event = field::event(document, position, "kernel-group-full", Program::LinuxKernel, Resource::Cgroup);
    let at = event.at;
    let size = |kb: u64| Figure { bytes: kb.saturating_mul(1024), half_width: 0, at };
    event.facts.note(Fact::Used, size(usage));
    event.facts.note(Fact::Limit, size(limit));
    event.sign(Sign::KilledWithProof);
    Some(event)
}

/// The header of a task table of which the lines that name a victim are missing.
fn is_lone_table(document: &Document, position: usize) -> bool {
    const NEAR: usize = 60;
    let line = field::text(document, position);
    let headed = header(bare(line)).is_some() || spoken(document, position, &["uidtgidtotal_vmrss"]).is_some();
    if !headed || field::before(position, NEAR).any(|at| speaks_of_a_kill(field::text(document, at))) {
        return false;
    }
    let behind = field::behind(document, position, LONGEST).map(|at| field::text(document, at));
    match behind.into_iter().find(|line| !is_piece(line) || speaks_of_a_kill(line)) {
        Some(line) => !speaks_of_a_kill(line),
        // An excerpt of a document ends where it was cut: the victim may stand further on.
        None => document.lines.last().is_none_or(|last| last.number == document.line_count),
    }
}

/// True for the lines that make a report: the others are only read when such a line stands near.
fn speaks_of_a_kill(line: &str) -> bool {
    line.contains("invoked oom-killer")
        || line.contains("oom-killer: gfp_mask")
        || is_scope(line)
        || is_kill(line)
        || is_choice(line)
        || line.contains(NOT_KILLED)
        || already_exiting(line).is_some()
        || line.contains("not syncing: Out of memory")
}

/// `OOM victim PID (NAME) is already exiting. Skip killing the task`, of 5.13 and later.
fn already_exiting(line: &str) -> Option<(u64, &str)> {
    let tail = field::after(line, "OOM victim")?;
    let (front, _) = tail.split_once(") is already exiting")?;
    Some((field::leading_number(tail)?, front.split_once('(')?.1))
}

/// The line that names the process that was killed.
fn is_kill(line: &str) -> bool {
    field::after(line, "Killed process").is_some_and(|tail| {
        tail.starts_with(|c: char| c.is_ascii_digit() || c == '(')
            && (tail.contains('(') || line.contains("ut of memory"))
    })
}

/// The line of kernels before 5.0 that names the chosen process, of which a child may be killed instead.
fn is_choice(line: &str) -> bool {
    ["Kill process", "kill process"]
        .iter()
        .any(|wording| field::after(line, wording).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit())))
        && (line.contains("score") || line.contains("ut of memory"))
}

/// The line of kernels from 5.0 on that names the group or machine that ran out, and the victim.
fn is_scope(line: &str) -> bool {
    line.contains("oom-kill:constraint=")
}

fn is_trigger(line: &str) -> bool {
    line.contains("invoked oom-killer")
        || line.contains("oom-killer: gfp_mask")
        || line.trim_end().ends_with(" invoked")
}

/// A kernel message without what logs put in front: quote marks, syslog or journal header, time stamps, caller ids.
fn bare(line: &str) -> &str {
    let mut rest = without_prefix(line).trim_start_matches(['>', '#', '|', ' ', '\t']);
    if let Some((_, tail)) = rest.split_once("kernel: ") {
        rest = tail.trim_start();
    }
    loop {
        if let Some(tail) = rest.strip_prefix('<')
            && let Some((level, tail)) = tail.split_once('>')
            && level.len() <= 3
            && level.bytes().all(|b| b.is_ascii_digit())
        {
            rest = tail.trim_start();
            continue;
        }
        let Some((stamp, tail)) = rest.strip_prefix('[').and_then(|tail| tail.split_once(']')) else { return rest };
        let stamp = stamp.trim();
        let clock = stamp.len() <= 40 && stamp.contains(|c: char| c.is_ascii_digit()) && stamp.contains(['.', ':']);
        let caller = stamp.len() <= 9
            && stamp.starts_with(['T', 'C'])
            && stamp.len() > 1
            && stamp[1..].bytes().all(|b| b.is_ascii_digit());
        if !(clock || caller) {
            return rest;
        }
        rest = tail.trim_start();
    }
}

/// True where a log put a time stamp or a syslog header in front, so that the line is no continuation of a wrapped one.
fn has_prefix(line: &str) -> bool {
    line.contains("kernel: ") || bare(line).len() != line.trim_start_matches(['>', '#', '|', ' ', '\t']).len()
}

/// True for a line that is part of a report when it stands in one.
fn is_piece(line: &str) -> bool {
    const WORDS: [&str; 26] = [
        "oom-kill",
        "illed process",
        "ill process",
        "emory cgroup",
        "usage ",
        "Mem-Info",
        "pages RAM",
        "pages reserved",
        " swap ",
        "swap  =",
        "total_vm",
        "Tasks state",
        "Task in ",
        "Tasks in ",
        "killable",
        "oom_reaper",
        "Call Trace",
        "+0x",
        "Comm:",
        "comm:",
        "active_anon",
        "cpuset=",
        "slab",
        "Node ",
        "pagecache",
        "HighMem",
    ];
    let of_group = || counter(bare(line)).is_some_and(|(name, _)| name.contains('_') || OF_ONE_WORD.contains(&name));
    WORDS.iter().any(|word| line.contains(word)) || Row::of(bare(line), None).is_some() || of_group()
}

/// The names in `memory.stat` of both versions that are one word; `step 3` is none of them.
const OF_ONE_WORD: &[&str] = &[
    "anon",
    "cache",
    "dirty",
    "file",
    "kernel",
    "pagetables",
    "percpu",
    "pgactivate",
    "pgdeactivate",
    "pgfault",
    "pglazyfree",
    "pglazyfreed",
    "pgmajfault",
    "pgpgin",
    "pgpgout",
    "pgrefill",
    "pgscan",
    "pgsteal",
    "rss",
    "shmem",
    "slab",
    "sock",
    "swap",
    "swapcached",
    "unevictable",
    "vmalloc",
    "writeback",
    "zswap",
    "zswapped",
    "zswpin",
    "zswpout",
    "zswpwb",
];

/// A line of `memory.stat`: a lower-case name and a number.
fn counter(text: &str) -> Option<(&str, u64)> {
    let (name, value) = text.trim().split_once(' ')?;
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit());
    if plain { Some((name, value.trim().parse().ok()?)) } else { None }
}

/// The positions of the report that the line at `position` belongs to.
fn extent(document: &Document, position: usize) -> Option<std::ops::RangeInclusive<usize>> {
    let first = start(document, position);
    let mut last = position;
    let mut killed = false;
    let mut chosen = false;
    let mut group = false;
    let mut asked = false;
    let mut scoped = false;
    let mut foreign = 0;
    for at in first..document.lines.len().min(position.saturating_add(LONGEST)) {
        let line = field::text(document, at);
        if line.trim().is_empty() {
            continue;
        }
        if is_trigger(line) && !(at > first && is_trigger(field::text(document, at - 1))) {
            if asked || killed && kill_follows(document, at) {
                break;
            }
            asked = true;
        }
        if is_scope(line) {
            if scoped || killed {
                break;
            }
            scoped = true;
        }
        if is_choice(line) {
            if killed || chosen {
                break;
            }
            chosen = true;
        }
        if is_kill(line) {
            if killed && !group {
                break;
            }
            killed = true;
        }
        group |= line.contains("memory.oom.group");
        if is_piece(line) || is_trigger(line) {
            last = at;
            foreign = 0;
        } else if at > position || at > last {
            foreign += if has_prefix(line) && !killed { 0 } else { 1 };
            if foreign > if killed { 3 } else { INTERLEAVED } && at > position {
                break;
            }
        }
    }
    (first <= position && position <= last).then_some(first..=last)
}

/// Where the report of the line at `position` begins, looking back.
fn start(document: &Document, position: usize) -> usize {
    let mut first = position;
    if is_trigger(field::text(document, position))
        && !field::text(document, position).trim_start().starts_with("oom-killer")
    {
        return first;
    }
    let own_choice = !is_choice(field::text(document, position));
    // A report has one line of each kind: an earlier one belongs to the report before.
    let mut scoped = is_scope(field::text(document, position));
    let mut foreign = 0;
    for at in field::before(position, LONGEST) {
        let line = field::text(document, at);
        if line.trim().is_empty() {
            continue;
        }
        if is_kill(line) || line.contains("oom_reaper") || line.contains(NOT_KILLED) || is_choice(line) && !own_choice {
            break;
        }
        if is_scope(line) && std::mem::replace(&mut scoped, true) {
            break;
        }
        if is_trigger(line) {
            return at;
        }
        if is_piece(line) {
            first = at;
            foreign = 0;
        } else if !has_prefix(line) {
            foreign += 1;
            if foreign > INTERLEAVED {
                break;
            }
        }
        if is_choice(line) {
            first = at;
        }
    }
    first
}

/// True when the report whose trigger line stands at `position` names a victim of its own.
fn kill_follows(document: &Document, position: usize) -> bool {
    field::behind(document, position, 400)
        .map(|at| field::text(document, at))
        .take_while(|line| !is_trigger(line))
        .any(|line| is_kill(line) || is_choice(line))
}

/// One row of the task table, in the units it is printed in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    pid: u64,
    name: String,
    /// Values of the columns between `[pid]` and the name, by the header's words.
    values: BTreeMap<&'static str, i64>,
}

/// The columns that matter, by the words of the header.
const COLUMNS: [&str; 13] = [
    "uid",
    "tgid",
    "total_vm",
    "rss",
    "rss_anon",
    "rss_file",
    "rss_shmem",
    "nr_ptes",
    "nr_pmds",
    "nr_puds",
    "pgtables_bytes",
    "swapents",
    "oom_score_adj",
];

/// The tables without a header, by their number of columns between pid and name.
fn usual_columns(count: usize) -> &'static [&'static str] {
    match count {
        7 => &["uid", "tgid", "total_vm", "rss", "pgtables", "swapents", "oom_score_adj"],
        8 => &["uid", "tgid", "total_vm", "rss", "nr_ptes", "nr_pmds", "swapents", "oom_score_adj"],
        10 => &[
            "uid",
            "tgid",
            "total_vm",
            "rss",
            "rss_anon",
            "rss_file",
            "rss_shmem",
            "pgtables_bytes",
            "swapents",
            "oom_score_adj",
        ],
        _ => &[],
    }
}

impl Row {
    fn of(text: &str, columns: Option<&[&'static str]>) -> Option<Row> {
        let (pid, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
        let pid = pid.trim().parse().ok()?;
        let mut numbers = Vec::new();
        let mut rest = rest.trim_start();
        let wanted = columns.map_or(10, <[_]>::len);
        while numbers.len() < wanted {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let Ok(number) = rest[..end].parse::<i64>() else { break };
            numbers.push(number);
            rest = rest[end..].trim_start();
        }
        let columns = match columns {
            Some(columns) if columns.len() == numbers.len() => columns,
            Some(_) => return None,
            None => usual_columns(numbers.len()),
        };
        if columns.is_empty() {
            return None;
        }
        let values = columns.iter().copied().zip(numbers).collect();
        Some(Row { pid, name: rest.trim().to_string(), values })
    }

    fn value(&self, column: &str) -> Option<u64> {
        self.values.get(column).and_then(|value| u64::try_from(*value).ok())
    }

    /// Pages in RAM and swap that this task alone keeps, as far as the table tells.
    fn own_pages(&self) -> u64 {
        let resident = self.value("rss_anon").or_else(|| self.value("rss")).unwrap_or(0);
        resident.saturating_add(self.value("swapents").unwrap_or(0))
    }
}

/// The columns of a header line: the words between `[ pid ]` and `name`.
fn header(text: &str) -> Option<Vec<&'static str>> {
    let (_, words) = text.split_once(']')?;
    let words = words.split_once("name").map_or(words, |(words, _)| words);
    let columns: Vec<&'static str> = words
        .split_whitespace()
        .map(|word| COLUMNS.iter().find(|column| **column == word).copied().unwrap_or("other"))
        .collect();
    (columns.contains(&"total_vm") && columns.contains(&"rss")).then_some(columns)
}

/// What a report told, in the units printed.
#[derive(Debug, Default)]
struct Report {
    first: usize,
    last: usize,
    message: Option<usize>,
    /// Where the group and the task are named: quoted where nothing else of the report is.
    scope: Option<usize>,
    trigger: Option<(String, Span)>,
    order: Option<(u64, Span)>,
    memcg: bool,
    cgroup: Known<String>,
    pid: Known<u64>,
    name: Known<String>,
    chosen: Option<(u64, Span)>,
    score: Option<(u64, Span)>,
    adjustment: Option<(i64, Span)>,
    kills: u64,
    /// kB of the kill line.
    kill_kb: BTreeMap<&'static str, (u64, Span)>,
    limit_kb: Option<(u64, Span)>,
    usage_kb: Option<(u64, Span)>,
    memsw_limit_kb: Option<(u64, Span)>,
    /// Bytes of the cgroup's `memory.stat`, of the whole subtree where both are printed.
    counters: BTreeMap<Number, (u64, Span)>,
    machine_pages: Option<(u64, Span)>,
    swap_free_kb: Option<(u64, Span)>,
    swap_total_kb: Option<(u64, Span)>,
    slab_unreclaimable_pages: Option<(u64, Span)>,
    rows: Vec<(Row, Span)>,
    no_victim: bool,
}

/// The figures of a kill line and the labels they had over the versions.
const KILL_FIGURES: [(&str, &str); 6] = [
    ("total-vm:", "total_vm"),
    ("vsz:", "total_vm"),
    ("anon-rss:", "anon_rss"),
    ("file-rss:", "file_rss"),
    ("shmem-rss:", "shmem_rss"),
    ("pgtables:", "pgtables"),
];

/// Counters of a cgroup that a diagnosis weighs: as printed, and the number that each is.
const COUNTERS: [(&str, Number); 8] = [
    ("shmem", Number::Shmem),
    ("anon", Number::Anon),
    ("rss", Number::Anon),
    ("file", Number::File),
    ("cache", Number::File),
    ("pagetables", Number::Pagetables),
    ("slab_unreclaimable", Number::SlabUnreclaimable),
    ("swap", Number::Swap),
];

impl Report {
    fn gather(document: &Document, range: std::ops::RangeInclusive<usize>) -> Report {
        let mut report = Report { first: *range.start(), last: *range.end(), ..Report::default() };
        let mut columns: Option<Vec<&'static str>> = None;
        let mut in_counters = false;
        for at in range {
            let line = field::text(document, at);
            // Mail archives escape the equals sign.
            let decoded = line.contains("=3D").then(|| line.replace("=3D", "="));
            let text = bare(decoded.as_deref().unwrap_or(line));
            let span = Span::line(field::number(document, at));
            if let Some(row) = Row::of(text, columns.as_deref()) {
                report.rows.push((row, span));
                continue;
            }
            if text.contains("total_vm") && text.contains("rss") {
                columns = header(text);
                // A wrapped header goes on in the next line.
                if !text.contains(" name") {
                    columns = header(&format!("{text} {}", bare(field::text(document, at + 1)))).or(columns);
                }
                continue;
            }
            if let Some((name, value)) = counter(text).filter(|_| in_counters) {
                report.count(name, value, span);
                continue;
            }
            report.trigger_line(document, at, text, span);
            report.scope_line(text, span);
            report.machine_line(text, span);
            if text.contains("emory cgroup stats") {
                in_counters = true;
                report.old_counters(text, span);
            }
            if is_choice(line) {
                report.choice(line, span);
                report.message.get_or_insert(at);
            }
            if is_kill(line) {
                report.kill(document, at);
            }
            if let Some((pid, name)) = already_exiting(line) {
                report.pid.note(pid, span);
                report.name.note(name.to_string(), span);
                report.message.get_or_insert(at);
            }
            if line.contains(NOT_KILLED) {
                report.no_victim = true;
                report.message.get_or_insert(at);
            }
            if is_scope(text) {
                report.scope = Some(at);
            }
        }
        report
    }

    fn trigger_line(&mut self, document: &Document, at: usize, text: &str, span: Span) {
        if !(text.contains("oom-killer") && self.trigger.is_none()) {
            return;
        }
        let comm = match text.split_once("invoked oom-killer") {
            Some((comm, _)) => comm.trim().to_string(),
            // Wrapped between the two words.
            None if at > 0 => {
                bare(field::text(document, at - 1)).trim_end().trim_end_matches("invoked").trim().to_string()
            }
            None => return,
        };
        if !comm.is_empty() {
            self.trigger = Some((comm, span));
        }
        self.order = field::number_after(text, "order=").map(|order| (order, span));
    }

    /// Which group or machine ran out.
    fn scope_line(&mut self, text: &str, span: Span) {
        if text.contains("Memory cgroup out of memory") || text.contains("mem_cgroup_out_of_memory") {
            self.memcg = true;
        }
        if is_scope(text) {
            if let Some(path) = between(text, "oom_memcg=", ",task_memcg=").or_else(|| between(text, "oom_memcg=", ","))
            {
                self.memcg = true;
                self.cgroup.note(path.to_string(), span);
            }
            // A name may hold commas: what follows it is fixed.
            if let Some(name) = between(text, ",task=", ",pid=") {
                self.name.note(name.to_string(), span);
            }
            let pid = field::after(text, ",task=").and_then(|tail| between(tail, ",pid=", ",uid="));
            if let Some(pid) = pid.and_then(|pid| pid.trim().parse().ok()) {
                self.pid.note(pid, span);
            }
        }
        if let Some((_, path)) = text.split_once("killed as a result of limit of ") {
            self.memcg = true;
            self.cgroup.note(path.trim().to_string(), span);
        }
        if let Some(path) = between(text, "emory cgroup stats for ", ":") {
            self.memcg = true;
            self.cgroup.note(path.trim().to_string(), span);
        }
        if let Some(usage) = kilobytes_after(text, ": usage ") {
            let limit = kilobytes_after(text, "limit ").filter(|kb| *kb < UNLIMITED_KB);
            if text.starts_with("memory: usage") {
                self.memcg = true;
                self.usage_kb = Some((usage, span));
                self.limit_kb = limit.map(|kb| (kb, span));
            } else if text.starts_with("memory+swap: usage") {
                self.memsw_limit_kb = limit.map(|kb| (kb, span));
            } else if text.starts_with("kmem: usage") {
                self.counters.insert(Number::Kmem, (usage.saturating_mul(KIB), span));
            } else if text.starts_with("swap: usage") {
                self.counters.insert(Number::Swap, (usage.saturating_mul(KIB), span));
            }
        }
    }

    fn machine_line(&mut self, text: &str, span: Span) {
        if let Some((pages, _)) = text.split_once(" pages RAM") {
            self.machine_pages = field::leading_number(pages.trim()).map(|pages| (pages, span)).or(self.machine_pages);
        }
        if text.starts_with("Free swap") {
            self.swap_free_kb = swap_kb(text).map(|kb| (kb, span));
        }
        if text.starts_with("Total swap") {
            self.swap_total_kb = swap_kb(text).map(|kb| (kb, span));
        }
        if let Some(pages) = field::number_after(text, "slab_unreclaimable:") {
            self.slab_unreclaimable_pages.get_or_insert((pages, span));
        }
    }

    /// Kernels up to 5.2 print a group's counters on one line, in KB, and repeat them for each child.
    fn old_counters(&mut self, text: &str, span: Span) {
        for word in text.split_whitespace() {
            if let Some((name, value)) = word.rsplit_once(':')
                && let Some(kb) = value.strip_suffix("KB").and_then(|kb| kb.parse::<u64>().ok())
            {
                self.count(name, kb.saturating_mul(KIB), span);
            }
        }
    }

    fn count(&mut self, name: &str, bytes: u64, span: Span) {
        // Version 1 prints the group's own and then, as `total_…`, those of its whole subtree.
        let (subtree, name) = name.strip_prefix("total_").map_or((false, name), |name| (true, name));
        if let Some((_, id)) = COUNTERS.iter().find(|(printed, _)| *printed == name) {
            if subtree {
                self.counters.insert(*id, (bytes, span));
            } else {
                self.counters.entry(*id).or_insert((bytes, span));
            }
        }
    }

    fn choice(&mut self, line: &str, span: Span) {
        let pid = field::number_after(line, "Kill process").or_else(|| field::number_after(line, "kill process"));
        self.chosen = pid.map(|pid| (pid, span));
        self.score = field::number_after(line, "score").map(|score| (score, span));
        self.memcg |= line.contains("Memory cgroup");
    }

    fn kill(&mut self, document: &Document, at: usize) {
        self.kills += 1;
        if self.kills > 1 {
            return;
        }
        // The kill line is what a reader would quote.
        self.message = Some(at);
        // An editor may have wrapped the line: its continuations have no prefix of their own.
        let mut lines = 1;
        while lines < 4 {
            let next = field::text(document, at + lines);
            if next.trim().is_empty() || has_prefix(next) || speaks_of_a_kill(next) || next.contains("oom_reaper") {
                break;
            }
            lines += 1;
        }
        let line = field::text(document, at);
        let span = Span::line(field::number(document, at));
        let squeezed = field::joined(document, at, lines);
        let from = squeezed.find("Killedprocess", 0).unwrap_or(0);
        for (label, name) in KILL_FIGURES {
            let Some(offset) = squeezed.after(label, from) else { continue };
            if let Some((kb, end)) = marked_kilobytes(&squeezed, offset) {
                self.kill_kb.entry(name).or_insert((kb, squeezed.span(offset, end)));
                self.last = self.last.max(document.position(squeezed.line_at(end.saturating_sub(1))).unwrap_or(at));
            }
        }
        if let Some(offset) = squeezed.after("oom_score_adj:", from) {
            let adjustment = field::signed_after(&squeezed.squeezed[offset..], "");
            self.adjustment = adjustment.map(|adjustment| (adjustment, span));
        }
        // The name follows in brackets, or a comma: what ends elsewhere was cut.
        let named = |end: usize| squeezed.squeezed[end..].starts_with(['(', ',']);
        let pid = squeezed.after("Killedprocess", from).and_then(|offset| squeezed.count_at(offset));
        if let Some((pid, end)) = pid.filter(|(_, end)| named(*end)) {
            self.pid = Known::Seen(pid, squeezed.span(from, end));
        }
        if let Some(name) = victim_name(line) {
            self.name = Known::Seen(name.to_string(), span);
        }
    }

    /// The size of a page: the victim's resident memory in kB against the same in pages.
    fn page_size(&self) -> Option<u64> {
        let pid = self.pid.value()?;
        let (row, _) = self.rows.iter().find(|(row, _)| row.pid == pid)?;
        let pages = row.value("rss").filter(|pages| *pages > 0)?;
        let kb =
            ["anon_rss", "file_rss", "shmem_rss"].iter().filter_map(|name| self.kill_kb.get(name)).map(|(kb, _)| kb);
        let size = kb.sum::<u64>().checked_mul(KIB)? / pages;
        // The row is taken a moment before the kill, so round to a page size that exists.
        [4096u64, 16384, 65536].into_iter().find(|page| size.abs_diff(*page) * 4 < *page)
    }

    fn into_event(self, document: &Document) -> Event {
        let resource = if self.memcg { Resource::Cgroup } else { Resource::Host };
        let quoted = self.message.or(self.scope).unwrap_or(self.first);
        let mut event = field::event(document, quoted, "kernel-oom-kill", Program::LinuxKernel, resource);
        event.message = field::quoted(bare(field::text(document, quoted)));
        event.at = Span::lines(field::number(document, self.first), field::number(document, self.last));
        event.quoted_at = (quoted != self.first).then(|| field::number(document, quoted));
        event.sign(Sign::KilledWithProof);
        let known_page = self.page_size();
        let page = known_page.unwrap_or(COMMON_PAGE);
        let kilobytes = |(kb, at): (u64, Span)| field::exactly(kb, KIB, at);

        for (name, fact) in [
            ("total_vm", Fact::TotalVm),
            ("anon_rss", Fact::AnonRss),
            ("file_rss", Fact::FileRss),
            ("shmem_rss", Fact::ShmemRss),
        ] {
            if let Some(figure) = self.kill_kb.get(name).copied().and_then(kilobytes) {
                event.facts.note(fact, figure);
            }
        }
        let limit = self.limit_kb.or(self.memsw_limit_kb).and_then(kilobytes);
        if let Some(limit) = limit {
            event.facts.note(Fact::Limit, limit);
        }
        if let Some(usage) = self.usage_kb.and_then(kilobytes) {
            event.facts.note(Fact::Used, usage);
        }
        let machine = self.machine_pages.and_then(|(pages, at)| field::exactly(pages, page, at));
        if let Some(machine) = machine {
            event.facts.note(Fact::Capacity, machine);
        }
        let mut number = |number: Number, value: Option<(f64, Span)>| {
            if let Some(value) = value {
                event.facts.numbers.entry(number).or_insert(value);
            }
        };
        let count = |value: Option<(u64, Span)>| value.map(|(value, at)| (value as f64, at));
        let bytes =
            |value: Option<(u64, Span)>| value.and_then(kilobytes).map(|figure| (figure.bytes as f64, figure.at));
        number(Number::PageSize, known_page.map(|page| (page as f64, event.at)));
        number(Number::Ram, machine.map(|figure| (figure.bytes as f64, figure.at)));
        number(Number::Order, count(self.order));
        number(Number::ChosenPid, count(self.chosen));
        number(Number::Score, count(self.score));
        number(Number::OomScoreAdj, self.adjustment.map(|(value, at)| (value as f64, at)));
        number(Number::SwapFree, bytes(self.swap_free_kb));
        number(Number::SwapTotal, bytes(self.swap_total_kb));
        number(Number::MemswLimit, bytes(self.memsw_limit_kb));
        number(Number::VictimPagetables, bytes(self.kill_kb.get("pgtables").copied()));
        let slab = self.slab_unreclaimable_pages.map(|(pages, at)| (pages.saturating_mul(page) as f64, at));
        number(Number::SlabUnreclaimable, slab);
        for (counter, value) in &self.counters {
            number(*counter, count(Some(*value)));
        }
        number(Number::Kills, (self.kills > 1).then_some((self.kills as f64, event.at)));
        number(Number::NoKillableProcess, self.no_victim.then_some((1.0, event.at)));
        if let Some((comm, at)) = &self.trigger {
            event.facts.trigger_process.note(comm.clone(), *at);
        }
        self.table(&mut event, page, limit.or(machine));
        event.facts.pid = self.pid;
        event.facts.process_name = self.name;
        event.facts.cgroup = self.cgroup;
        event
    }

    /// What the task table says: who holds most, and how many tasks of one name hold how much together.
    fn table(&self, event: &mut Event, page: u64, bound: Option<Figure>) {
        let victim = self.pid.value().and_then(|pid| self.rows.iter().find(|(row, _)| row.pid == pid));
        if let Some((row, at)) = victim {
            let pages = |column: &str| row.value(column).and_then(|pages| field::exactly(pages, page, *at));
            for (column, fact) in [
                ("total_vm", Fact::TotalVm),
                ("rss_anon", Fact::AnonRss),
                ("rss_file", Fact::FileRss),
                ("rss_shmem", Fact::ShmemRss),
            ] {
                // Only where the kill line is missing: its figures are a moment younger.
                if let Some(figure) = pages(column).filter(|_| self.kill_kb.is_empty()) {
                    event.facts.note(fact, figure);
                }
            }
            if let Some(swap) = pages("swapents") {
                event.facts.numbers.insert(Number::VictimSwap, (swap.bytes as f64, swap.at));
            }
            let tables = row.value("pgtables_bytes").map(|bytes| (bytes as f64, *at));
            if let Some(tables) = tables {
                event.facts.numbers.insert(Number::VictimPagetables, tables);
            }
        }
        let own = |row: &Row| row.own_pages().saturating_mul(page) as f64;
        let resident = victim.map(|(row, _)| own(row)).or_else(|| {
            let kb = self.kill_kb.get("anon_rss")?.0.saturating_add(self.kill_kb.get("file_rss")?.0);
            Some(kb.saturating_mul(KIB) as f64)
        });
        let mut number = |number: Number, value: f64, at: Span| event.facts.numbers.insert(number, (value, at));
        if let (Some(resident), Some(bound)) = (resident, bound)
            && bound.bytes > 0
        {
            number(Number::VictimShareOfLimit, resident / bound.bytes as f64, bound.at);
        }
        let Some((top, top_at)) = self.rows.iter().max_by_key(|(row, _)| row.own_pages()) else { return };
        let table_at = Span::lines(
            self.rows.first().map_or(top_at.first, |(_, at)| at.first),
            self.rows.last().map_or(top_at.last, |(_, at)| at.last),
        );
        let mut by_name: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (row, _) in &self.rows {
            let (tasks, pages) = by_name.entry(row.name.as_str()).or_default();
            *tasks += 1;
            *pages = pages.saturating_add(row.own_pages());
        }
        let like_named = by_name.iter().max_by_key(|(_, (_, pages))| *pages);
        let (name, (tasks, pages)) = like_named.map(|(name, sums)| (*name, *sums)).unwrap_or_default();
        let rows = || self.rows.iter().filter(|(row, _)| row.name == name).map(|(_, at)| *at);
        let like_named_at =
            Span::lines(rows().next().unwrap_or(*top_at).first, rows().next_back().unwrap_or(*top_at).last);
        number(Number::TableTasks, self.rows.len() as f64, table_at);
        number(Number::TableSum, self.rows.iter().map(|(row, _)| own(row)).sum(), table_at);
        let swapped: u64 = self.rows.iter().filter_map(|(row, _)| row.value("swapents")).fold(0, u64::saturating_add);
        number(Number::TableSwap, swapped.saturating_mul(page) as f64, table_at);
        number(Number::TableTopRss, own(top), *top_at);
        number(Number::TableTopPid, top.pid as f64, *top_at);
        number(Number::TableLikeNamedCount, tasks as f64, like_named_at);
        number(Number::TableLikeNamedSum, pages.saturating_mul(page) as f64, like_named_at);
        event.facts.largest_process = Known::Seen(top.name.clone(), *top_at);
    }
}

/// The number of kB at an offset, with where it ends. The kernel prints no marks between digits, so that those which an
/// editor or a spreadsheet put there only have to go; digits that no unit follows may go on.
fn marked_kilobytes(text: &Joined, offset: usize) -> Option<(u64, usize)> {
    let rest = text.squeezed.get(offset..)?;
    let length = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.' | '\'' | '_')))?;
    let unit = rest.get(length..length + 2)?;
    let digits: String = rest[..length].chars().filter(char::is_ascii_digit).collect();
    unit.eq_ignore_ascii_case("kb").then(|| digits.parse().ok())?.map(|kb| (kb, offset + length))
}

/// The whole number of kB behind `=`: with its unit, for without it a wrap or a cut may have taken digits.
fn swap_kb(text: &str) -> Option<u64> {
    let tail = field::after(text, "=")?;
    let end = tail.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = tail.split_at(end);
    let number = number.trim_end();
    let mut groups = number.split(['.', ',', '\'', '\u{202f}', '\u{a0}']);
    let first = groups.next()?;
    let grouped = first.len() <= 3 && !first.is_empty();
    let mut digits = first.to_string();
    for group in groups {
        if !grouped || group.len() != 3 {
            return None;
        }
        digits.push_str(group);
    }
    unit.starts_with("kB").then(|| digits.parse().ok())?
}

/// The number of kB behind a label, with marks between its groups of digits or without.
fn kilobytes_after(text: &str, label: &str) -> Option<u64> {
    let (_, tail) = text.split_once(label)?;
    let (number, _) = tail.split_once("kB")?;
    let number: String = number.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | '.' | '\'')).collect();
    number.parse().ok()
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, tail) = text.split_once(from)?;
    tail.split_once(to).map(|(inside, _)| inside)
}

/// The name in a kill line, which may itself hold blanks and brackets.
fn victim_name(line: &str) -> Option<&str> {
    let tail = field::after(line, "Killed process")?;
    let (_, tail) = tail.split_once('(')?;
    let end = [") total-vm", ") vsz", ") score", "),"]
        .iter()
        .filter_map(|mark| tail.find(mark))
        .min()
        .or_else(|| tail.rfind(')'))?;
    Some(&tail[..end])
}
