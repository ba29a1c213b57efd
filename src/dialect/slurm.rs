//! Slurm: kills inside a step's cgroup, the older accounting limit, and what `sacct`, `seff` and `scontrol` say of a
//! job.

use super::joined::Joined;
use super::labelled::{Labelled, Unit};
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, proof, shells};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{self, Base, Figure, KIB, MIB};

pub const DIALECT: Dialect = Dialect {
    name: "slurm",
    triggers: &["oom-kill", "oom_kill", "illed", "Out Of Memory", "OUT_OF_", "emory limit"],
    read,
};

/// Lines around a report in which the same failure is told in other words.
const NEAR: usize = 12;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if proof::is_slurm_kill(line) && !line.contains("oom-killer") {
        return Some(cgroup_kill(document, position));
    }
    if line.contains("Out Of Memory") && (line.contains("task ") || line.contains("tasks ")) {
        return Some(task(document, position));
    }
    if line.contains("memory limit") {
        return accounting(document, position);
    }
    if line.contains("OUT_OF_ME") {
        return state(document, position);
    }
    None
}

fn start(document: &Document, position: usize, dialect: &'static str) -> Event {
    let mut event = field::event(document, position, dialect, Program::Slurm, Resource::Cgroup);
    event.sign(Sign::KilledWithProof);
    let line = field::text(document, position);
    let job = ["StepId=", "step ", "JobId=", "Job ", "JOB ", "job "]
        .iter()
        .find_map(|label| field::number_after(line, label));
    field::note_number(&mut event, Number::JobId, job.map(|job| job as f64));
    event
}

fn cgroup_kill(document: &Document, position: usize) -> Event {
    let line = field::text(document, position);
    let mut event = start(document, position, "slurm-cgroup-oom");
    field::note_number(&mut event, Number::OomEvents, field::number_after(line, "Detected").map(|n| n as f64));
    if told_before(document, position, proof::is_slurm_kill) {
        event.standing = Standing::Follower;
        return event;
    }
    surroundings(document, position, &mut event);
    accounts(document, position, &mut event);
    event
}

/// `srun: error: NODE: task R: Out Of Memory`.
fn task(document: &Document, position: usize) -> Event {
    let line = field::text(document, position);
    let mut event = start(document, position, "slurm-task-oom");
    event.rank = field::number_after(line, "task ").and_then(|task| u32::try_from(task).ok()).or(event.rank);
    let told = |line: &str| proof::is_slurm_kill(line) || line.contains("Out Of Memory");
    if told_before(document, position, told)
        || field::behind(document, position, NEAR).any(|at| proof::is_slurm_kill(field::text(document, at)))
    {
        event.standing = Standing::Follower;
        return event;
    }
    surroundings(document, position, &mut event);
    accounts(document, position, &mut event);
    event
}

/// The limit that slurmd enforces by sampling (`jobacct_gather`), and the notes that its cgroup plugin leaves at the
/// end.
fn accounting(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    // Reclaim at the limit: what it led to, if anything, is told elsewhere. Version 17.11 and before say the same of a
    // step that was killed, and `srun` then says so.
    let touched = line.contains("memory limit at least once") || line.contains("swap limit at least once");
    let at_some_point = line.contains("emory limit at some point");
    let died = |at: usize| {
        let line = field::text(document, at);
        line.contains("Out Of Memory") || line.contains("illed") || line.contains("CANCELLED") || line.contains("oom")
    };
    let near = || field::before(position, NEAR).chain(field::behind(document, position, NEAR));
    if touched || at_some_point && !near().any(died) && went_on(document, position) {
        let mut event = start(document, position, "slurm-memory-limit");
        event.signs.clear();
        event.make_harmless(text!(
            en: "the job touched its limit and the kernel made room; by itself this killed nothing",
            zh: "作业触及内存上限，内核回收了内存；仅此一条并不说明有进程被杀"
        ));
        return Some(event);
    }
    // Wrapped lines are read together; a line of its own begins with a word of Slurm's or a time.
    let message = field::joined(document, position, 3);
    let at_limit =
        ["exceededvirtualmemorylimit", "exceededmemorylimit", "xceededjobmemorylimit", "xceededstepmemorylimit"]
            .iter()
            .find_map(|words| {
                message.after(words, 0).filter(|_| message.find(words, 0) < Some(message.end_of_first_line()))
            })
            // `exceeded memory limit of 33554432 bytes`: any other program's.
            .filter(|at| {
                let lower = line.to_ascii_lowercase();
                let own = ["slurm", "srun", "job", "step"].iter().any(|word| lower.contains(word));
                own || message.squeezed.get(*at..).is_some_and(|rest| rest.starts_with('('))
            })?;
    let mut event = start(document, position, "slurm-memory-limit");
    if let Some((used, limit)) = two_counts(&message, at_limit) {
        let of_virtual = message.squeezed[..at_limit].ends_with("virtualmemorylimit");
        if of_virtual {
            event.sign(Sign::AddressSpaceLimit);
        }
        let unit = unit_of_accounting(&message, used.0, limit.0);
        let figure = |count: u64, at| field::exactly(count, unit, at);
        if let Some(used) = figure(used.0, used.1) {
            event.facts.note(if of_virtual { Fact::TotalVm } else { Fact::Used }, used);
        }
        if let Some(limit) = figure(limit.0, limit.1) {
            event.facts.note(Fact::Limit, limit);
        }
    }
    if told_before(document, position, |line| line.contains("memory limit") || proof::is_slurm_kill(line)) {
        event.standing = Standing::Follower;
        return Some(event);
    }
    surroundings(document, position, &mut event);
    accounts(document, position, &mut event);
    Some(event)
}

/// True where the lines behind show that the job went on to its end.
fn went_on(document: &Document, position: usize) -> bool {
    const DONE: [&str; 7] =
        ["exit code 0", "exited with code 0", "completed", "COMPLETED", "saved", "finished", "done"];
    // What is collected after the job's end stands below the word of it.
    const ENDED: [&str; 4] = ["finished normally", "completed successfully", "ExitCode=0:0", "exit code 0"];
    let says = |at: usize, words: &[&str]| words.iter().any(|word| field::text(document, at).contains(word));
    field::behind(document, position, NEAR).any(|at| says(at, &DONE))
        || field::before(position, NEAR).any(|at| says(at, &ENDED))
}

/// `(USED > LIMIT)`, with the lines that each stands on.
fn two_counts(message: &Joined, from: usize) -> Option<((u64, Span), (u64, Span))> {
    let open = from + usize::from(message.squeezed[from..].starts_with('('));
    let (used, end) = message.count_at(open).filter(|_| open > from)?;
    let rest = message.squeezed.get(end..)?;
    let second = end + 1;
    let (limit, close) = message.count_at(second).filter(|_| rest.starts_with('>'))?;
    // Without the bracket behind it the figure may have been cut.
    message.squeezed[close..].starts_with(')').then_some(())?;
    Some(((used, message.span(open, end)), (limit, message.span(second, close))))
}

/// What Slurm counted in. `StepId=` (20.11 and later) are bytes, slurmd's `(U>L), cancelling` MiB. `Step` and `Job` are
/// KiB up to 17.11 and bytes from 18.08 on, word for word alike. A limit is set in MiB and a use is whole pages: where
/// both figures are multiples of these in bytes, they are bytes, unless that makes a limit of a few MiB.
fn unit_of_accounting(message: &Joined, used: u64, limit: u64) -> u64 {
    const SMALLEST: u64 = 32 * MIB;
    const LARGEST_KIB: u64 = 64 << 30;
    if message.contains("StepId=") {
        1
    } else if message.contains("),cancellingit") {
        MIB
    } else if limit >= LARGEST_KIB || limit >= SMALLEST && limit.is_multiple_of(MIB) && used.is_multiple_of(4096) {
        1
    } else {
        KIB
    }
}

/// True for `OUT_OF_MEMORY` as a job's state, in a row of `sacct` (cut to `OUT_OF_ME+`) or a line of `seff` or
/// `scontrol`; of a row, with its job.
fn failed(line: &str) -> Option<Option<u64>> {
    let place = line.find("OUT_OF_ME")?;
    let word =
        line[place..].split(|c: char| !(c.is_ascii_alphabetic() || c == '_' || c == '+')).next().unwrap_or_default();
    let state = matches!(word, "OUT_OF_MEMORY" | "OUT_OF_ME+") || word.starts_with("OUT_OF_ME") && word.ends_with('+');
    let front = &line[..place];
    let labelled =
        front.ends_with("JobState=") || front.trim_end().ends_with("State:") || front.trim_end().ends_with("state");
    // A table of chosen columns may begin with the state, which its width cuts.
    let first = front.trim().is_empty() && word.ends_with('+');
    let row = first
        || front.trim_start().starts_with(|c: char| c.is_ascii_digit())
            && (line.contains("0:125")
                || line.contains("0:0")
                || line.contains('|')
                || word.ends_with('+')
                || front.contains(".batch"));
    // `CUDA_ERROR_OUT_OF_MEMORY` is an error's name.
    let within = front.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (state && !within && (labelled || row)).then(|| job_of_row(line).filter(|_| row))
}

/// A job's state.
fn state(document: &Document, position: usize) -> Option<Event> {
    let job = failed(field::text(document, position))?;
    let of_another = |line: &str| failed(line).flatten().zip(job).is_some_and(|(other, job)| other != job);
    let mut event = start(document, position, "slurm-state");
    // Of several jobs that ended so, the last is asked about.
    if field::behind(document, position, NEAR).any(|at| of_another(field::text(document, at))) {
        event.standing = Standing::Follower;
        return Some(event);
    }
    if event.facts.number(Number::JobId).is_none() {
        field::note_number(&mut event, Number::JobId, job.map(|n| n as f64));
    }
    state_figures(document, position, &mut event);
    accounts(document, position, &mut event);
    let told = |line: &str| {
        proof::is_slurm_kill(line) || line.contains("OUT_OF_ME") && !of_another(line) || line.contains("Out Of Memory")
    };
    if told_before(document, position, told) {
        event.standing = Standing::Follower;
        return Some(event);
    }
    surroundings(document, position, &mut event);
    Some(event)
}

/// The job that a row of `sacct` is about: `8811730`, `8811730.batch`, `8811730_4`.
fn job_of_row(line: &str) -> Option<u64> {
    field::leading_number(line.trim_start())
}

/// What stands beside the state: lines of `seff` and `scontrol`.
fn state_figures(document: &Document, position: usize, event: &mut Event) {
    let span = |at: usize| Span::line(field::number(document, at));
    for at in field::before(position, NEAR).chain(field::behind(document, position, NEAR)) {
        let line = field::text(document, at);
        if line.contains("Memory Utilized:") || line.contains("Memory Efficiency:") {
            // GB are 2^30 here.
            let labelled = Labelled::at(document, at, 1);
            for (label, fact) in [("memoryutilized:", Fact::Peak), ("%of", Fact::Limit)] {
                if let Some(figure) = labelled.figure(label, Unit::Printed(Base::Binary)) {
                    event.facts.note(fact, figure);
                }
            }
        }
        if let Some(bytes) = field::after(line, "MinMemoryNode=").and_then(|value| size(word(value))) {
            event.facts.note(Fact::Limit, Figure { bytes, half_width: 0, at: span(at) });
        }
    }
}

/// Lines behind a report in which somebody asks `sacct` what became of the job.
const ASKED: usize = 30;

/// What `sacct` accounts of the job: `MaxRSS` and `ReqMem`, in the columns under its heading, or, of `-P`, between
/// strokes; where the heading was left out (`-n`), in the order of the format that the command names.
fn accounts(document: &Document, position: usize, event: &mut Event) {
    let text = |at: usize| field::text(document, at);
    let heading = |at: usize| {
        let tells = ["MaxRSS", "ReqMem"].iter().any(|name| text(at).contains(name));
        tells.then(|| columns(text(at))).flatten().map(|columns| (at, columns))
    };
    let before = field::before(position, NEAR).find_map(heading);
    let behind = || std::iter::once(position).chain(field::behind(document, position, ASKED)).find_map(heading);
    let Some((header, columns)) = before.or_else(behind) else { return };
    let job = event.facts.number(Number::JobId).map(|job| job as u64);
    // Each step has its own; the batch script's is the one of what runs in it.
    let mut peak = None;
    for at in header + 1..=header + ROWS {
        let row = text(at);
        if row.trim().is_empty() || row.starts_with(['$', '#', '[', '%']) {
            break;
        }
        let of_a_job = columns.value(row, "JobID").or_else(|| columns.value(row, "JobIDRaw"));
        if job.zip(of_a_job.and_then(job_of_row)).is_some_and(|(job, other)| job != other) {
            continue;
        }
        let span = Span::line(field::number(document, at));
        if let Some(size) = columns.value(row, "MaxRSS").and_then(field_size) {
            let larger = peak.is_none_or(|peak: Figure| peak.bytes < size.bytes);
            peak = if larger { Some(size.at(span)) } else { peak };
        }
        // `n` and `c` behind it: for each node, for each core.
        let asked = columns.value(row, "ReqMem");
        if let Some(bytes) = asked.map(|value| value.trim_end_matches('n')).and_then(size).filter(|bytes| *bytes > 0) {
            event.facts.note(Fact::Limit, Figure { bytes, half_width: 0, at: span });
        }
    }
    if let Some(peak) = peak {
        event.facts.note(Fact::Peak, peak);
    }
}

/// Rows of a job and its steps below a heading of `sacct`.
const ROWS: usize = 8;

/// Where the values of a row of `sacct` stand.
enum Columns<'a> {
    /// Under right-justified headings.
    Under(&'a str),
    /// Between strokes, in this order.
    Between(Vec<&'a str>),
}

/// The columns that a line announces: a heading of `sacct`, or its command with `-P` or `-n`, which print no such
/// heading or none that is aligned.
fn columns(line: &str) -> Option<Columns<'_>> {
    let command = line.find("sacct ").map(|at| &line[at..]);
    if let Some(command) = command {
        let bare = |option: &str| command.split_whitespace().any(|word| word == option);
        if !bare("-P") && !bare("-p") && !bare("-nP") && !bare("--parsable2") && !bare("--parsable") {
            return None;
        }
        // With a heading of its own, that one tells.
        if !(bare("-n") || bare("--noheader") || bare("-nP")) {
            return None;
        }
        let names = option(command, "--format").or_else(|| option(command, " -o"))?;
        return Some(Columns::Between(names.split(',').map(|name| name.split('%').next().unwrap_or(name)).collect()));
    }
    if line.contains('|') {
        let names: Vec<&str> = line.trim().split('|').map(str::trim).collect();
        let known = names.iter().any(|name| matches!(*name, "JobID" | "JobIDRaw" | "State" | "JobName"));
        return known.then_some(Columns::Between(names));
    }
    let headings = line.split_whitespace().filter(|word| HEADINGS.contains(word)).count();
    (headings >= 2 && headings * 2 >= line.split_whitespace().count()).then_some(Columns::Under(line))
}

/// Headings of `sacct` that stand beside those of its memory.
const HEADINGS: [&str; 14] = [
    "JobID",
    "JobIDRaw",
    "JobName",
    "State",
    "ReqMem",
    "MaxRSS",
    "AveRSS",
    "MaxVMSize",
    "Elapsed",
    "ExitCode",
    "ReqCPUS",
    "AllocCPUS",
    "NCPUS",
    "Timelimit",
];

impl Columns<'_> {
    fn value<'r>(&self, row: &'r str, name: &str) -> Option<&'r str> {
        match self {
            Columns::Under(header) => column(header, row, name),
            Columns::Between(names) => {
                let place = names.iter().position(|of| of.eq_ignore_ascii_case(name))?;
                let value = row.trim().split('|').nth(place)?.trim();
                (row.contains('|') && !value.is_empty()).then_some(value)
            }
        }
    }
}

fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// A size with its suffix; a number without one is none.
fn field_size(value: &str) -> Option<units::Size> {
    let digits = value.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    units::size(&value[..digits], &value[digits..], Base::Binary).map(|size| units::Size { half_width: 0, ..size })
}

/// The value under a right-justified heading: the word of the row that stands where the heading does, and under no
/// other one. A paste may have moved it by some columns.
fn column<'a>(header: &str, row: &'a str, name: &str) -> Option<&'a str> {
    let places = |line: &str| -> Vec<(usize, usize)> {
        let start = |word: &str| word.as_ptr().addr() - line.as_ptr().addr();
        line.split_whitespace().map(|word| (start(word), start(word) + word.len())).collect()
    };
    let start = header.find(name)?;
    let of_heading = (start, start + name.len());
    let headings = places(header);
    let apart = |a: (usize, usize), b: (usize, usize)| a.1.abs_diff(b.1);
    let mut under = places(row).into_iter().filter(|word| {
        let overlaps = word.0 < of_heading.1 && of_heading.0 < word.1;
        overlaps && headings.iter().all(|other| apart(*other, *word) >= apart(of_heading, *word))
    });
    let (from, to) = under.next()?;
    under.next().is_none().then(|| row.get(from..to)).flatten()
}

fn told_before(document: &Document, position: usize, told: impl Fn(&str) -> bool) -> bool {
    field::before(position, NEAR).any(|at| told(field::text(document, at)))
}

/// The process that the shell saw die, and the memory that the job had asked for.
fn surroundings(document: &Document, position: usize, event: &mut Event) {
    let pid = field::before(position, NEAR).find_map(|at| shells::kill(field::text(document, at))?.pid);
    field::note_pid(event, pid);
    if let Some(limit) = requested_memory(document, position) {
        event.facts.note(Fact::Limit, limit);
    }
}

/// Lines before a report in which a job script or a rule's resources may stand, and lines of the head of the log.
const SCRIPT: usize = 300;
/// Lines behind it, where somebody shows the script below the report.
const BELOW: usize = 40;

/// The memory that the job asked for on each node. Slurm counts in powers of 1024, and in MiB without a suffix
/// (`sbatch`, --mem).
fn requested_memory(document: &Document, position: usize) -> Option<Figure> {
    let mut per_cpu: Option<(u64, Span)> = None;
    let (mut cpus, mut tasks, mut tasks_per_node, mut nodes) = (1u64, None, None, None);
    let head = 0..SCRIPT.min(position.saturating_sub(SCRIPT));
    for at in field::before(position, SCRIPT).chain(head).chain(field::behind(document, position, BELOW)) {
        let line = field::text(document, at);
        let span = Span::line(field::number(document, at));
        if let Some(mib) = field::number_after(line, "mem_mib=") {
            return field::exactly(mib, MIB, span);
        }
        // A workflow manager's megabytes are decimal.
        if let Some(mb) = field::number_after(line, "mem_mb=") {
            return field::exactly(mb, 1_000_000, span);
        }
        let Some(options) = field::after(line, "#SBATCH")
            .or_else(|| ["srun ", "sbatch ", "salloc "].iter().find_map(|command| field::after(line, command)))
        else {
            continue;
        };
        let number = |name: &str| {
            field::number_after(options, &format!("{name}="))
                .or_else(|| field::number_after(options, &format!("{name} ")))
        };
        if let Some(bytes) = option(options, "--mem").and_then(size).filter(|bytes| *bytes > 0) {
            return Some(Figure { bytes, half_width: 0, at: span });
        }
        if let Some(bytes) = option(options, "--mem-per-cpu").and_then(size) {
            per_cpu = Some((bytes, span));
        }
        cpus = number("--cpus-per-task").or_else(|| number("-c")).unwrap_or(cpus);
        tasks = number("--ntasks").or_else(|| number("-n")).or(tasks);
        tasks_per_node = number("--ntasks-per-node").or(tasks_per_node);
        nodes = number("--nodes").or_else(|| number("-N")).or(nodes);
    }
    let (bytes, at) = per_cpu?;
    // Of several tasks Slurm may put as few on a node as it likes, unless it is told.
    let on_a_node = match (tasks_per_node, tasks, nodes) {
        (Some(tasks), ..) => tasks,
        (None, None | Some(0 | 1), _) => 1,
        (None, Some(tasks), nodes) => tasks.checked_div(nodes?)?.max(1),
    };
    field::exactly(bytes.checked_mul(cpus.max(1))?, on_a_node, at)
}

/// The value of a long option, set off by `=` or a blank; `--mem` is not `--mem-per-cpu`.
fn option<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = options;
    while let Some((_, tail)) = rest.split_once(name) {
        if let Some(value) = tail.strip_prefix('=').or_else(|| tail.strip_prefix(' ')) {
            return value.split_whitespace().next();
        }
        rest = tail;
    }
    None
}

/// Bytes of a size as Slurm takes and prints them: megabytes unless a letter says otherwise, all of them binary.
pub(crate) fn size(value: &str) -> Option<u64> {
    let value = value.trim_matches(|c| c == '"' || c == '\'');
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let suffix = value[digits..].trim_end_matches(['b', 'B']);
    let suffix = if suffix.is_empty() { "M" } else { suffix };
    units::size(&value[..digits], suffix, Base::Binary).map(|size| size.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(log: &str) -> Option<Event> {
        crate::dialect::testing::first(read, log)
    }

    fn limit(script: &str) -> Option<u64> {
        let log = format!(
            "{script}\nslurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed."
        );
        first(&log)?.facts.get(Fact::Limit).map(|figure| figure.bytes)
    }

    #[test]
    fn the_limit_comes_from_the_script() {
        assert_eq!(limit("#SBATCH --mem=48Gb"), Some(48 << 30));
        assert_eq!(limit("#SBATCH --mem 2000"), Some(2000 << 20));
        assert_eq!(limit("#SBATCH --cpus-per-task=6\n#SBATCH --mem-per-cpu=4G"), Some(24 << 30));
        assert_eq!(limit("#SBATCH --ntasks=8 --nodes=2\n#SBATCH --mem-per-cpu=1G"), Some(4 << 30));
        assert_eq!(limit("    resources: mem_mb=2000, mem_mib=1908"), Some(1908 << 20));
        assert_eq!(limit("    resources: mem_mb=2000, disk_mb=5"), Some(2_000_000_000));
        assert_eq!(limit("#SBATCH --time=2:00"), None);
    }

    #[test]
    fn what_sacct_accounts_is_read_however_it_was_asked() {
        let killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=77.batch. Some of the step tasks have \
            been OOM Killed.";
        let told = |asked: &str| {
            let event = first(&format!("{killed}\n{asked}")).unwrap();
            let bytes = |fact| event.facts.get(fact).map(|figure| figure.bytes);
            (bytes(Fact::Limit), bytes(Fact::Peak))
        };
        let both = (Some(8 << 30), Some(7 << 30));
        let right = "$ sacct -j 77 --format=JobID,State,ReqMem,MaxRSS\n\
            JobID             State     ReqMem     MaxRSS\n\
            ------------ ---------- ---------- ----------\n\
            77           OUT_OF_ME+         8G\n\
            77.batch     OUT_OF_ME+              7340032K";
        assert_eq!(told(right), both);
        let moved = right.replace("        8G", "     8G").replace("             7340032K", "           7340032K");
        assert_eq!(told(&moved), both);
        assert_eq!(told("$ sacct -j 77 -o ReqMem,MaxRSS -n -P\n8192M|\n8192M|7340032K"), both);
        assert_eq!(
            told("$ sacct -j 77 -P -o JobID,ReqMem,MaxRSS\nJobID|ReqMem|MaxRSS\n77|8G|\n77.0|8G|7340032K"),
            both
        );
        let other = "$ sacct -P -o JobID,ReqMem,MaxRSS\nJobID|ReqMem|MaxRSS\n76|9G|\n77|8G|7340032K";
        assert_eq!(told(other), both, "another job's row");
    }

    #[test]
    fn figures_of_the_accounting_limit_are_kib() {
        let event =
            first("slurmstepd: error: Job 4711 exceeded memory limit (9437184 > 8388608), being killed").unwrap();
        assert_eq!(event.facts.get(Fact::Used).unwrap().bytes, 9 << 30);
        assert_eq!(event.facts.get(Fact::Limit).unwrap().bytes, 8 << 30);
        assert_eq!(event.facts.number(Number::JobId), Some(4711.0));
    }

    #[test]
    fn states_are_read_in_tables_and_not_in_error_names() {
        assert!(first("4711.batch        batch            OUT_OF_ME+    0:125").is_some());
        assert!(first("State: OUT_OF_MEMORY (exit code 0)").is_some());
        assert!(first("   JobState=OUT_OF_MEMORY Reason=OutOfMemory Dependency=(null)").is_some());
        assert_eq!(first("CUDA_ERROR_OUT_OF_MEMORY: out of memory"), None);
        assert_eq!(
            first("0:00:02.118 4711 0x7f3e WARN alloc.c:331: failed: CUDA_ERROR_OUT_OF_MEMORY, no memory"),
            None
        );
        assert_eq!(first("Sort exceeded memory limit of 33554432 bytes, but did not opt in to spilling"), None);
        assert_eq!(
            first("slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***"),
            None
        );
    }
}
