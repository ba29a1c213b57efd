//! Slurm: kills inside a step's cgroup, the older accounting limit, and what `sacct`, `seff` and `scontrol` say of a job.

use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, proof};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{self, Base, Figure, KIB, MIB};

pub const DIALECT: Dialect =
    Dialect { name: "slurm", triggers: &["oom-kill", "illed", "Out Of Memory", "OUT_OF_", "emory limit"], read };

/// Lines around a report in which the same failure is told in other words.
const NEAR: usize = 12;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if proof::is_slurm_kill(line) && !line.contains("oom-killer") {
        return Some(cgroup_kill(document, position));
    }
    if line.contains("Out Of Memory") && line.contains("task ") {
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
    event
}

/// The limit that slurmd enforces by sampling: figures are KiB (`jobacct_gather`).
fn accounting(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    // Reclaim at the limit: what it led to, if anything, is told elsewhere.
    if line.contains("hit memory limit at least once") {
        let mut event = start(document, position, "slurm-memory-limit");
        event.signs.clear();
        event.standing = Standing::Harmless;
        event.harmless_because = Some(text!(
            en: "the job touched its limit and the kernel made room; by itself this killed nothing",
            zh: "作业触及内存上限，内核回收了内存；仅此一条并不说明有进程被杀"
        ));
        return Some(event);
    }
    let exceeded = line.contains("exceeded virtual memory limit")
        || line.contains("exceeded memory limit")
        || line.contains("xceeded job memory limit")
        || line.contains("xceeded step memory limit");
    if !exceeded {
        return None;
    }
    let mut event = start(document, position, "slurm-memory-limit");
    let at = event.at;
    if let Some((used, limit)) = field::after(line, "memory limit (").and_then(|tail| tail.split_once('>')) {
        let kib = |text: &str| field::leading_number(text.trim()).and_then(|n| field::exactly(n, KIB, at));
        if let Some(figure) = kib(used) {
            event.facts.note(Fact::Used, figure);
        }
        if let Some(figure) = kib(limit) {
            event.facts.note(Fact::Limit, figure);
        }
    }
    if told_before(document, position, |line| line.contains("memory limit") || proof::is_slurm_kill(line)) {
        event.standing = Standing::Follower;
        return Some(event);
    }
    surroundings(document, position, &mut event);
    Some(event)
}

/// `OUT_OF_MEMORY` as a job's state, in a table of `sacct` (cut to `OUT_OF_ME+`) or a line of `seff` or `scontrol`.
fn state(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let place = line.find("OUT_OF_ME")?;
    let word =
        line[place..].split(|c: char| !(c.is_ascii_alphabetic() || c == '_' || c == '+')).next().unwrap_or_default();
    let state = matches!(word, "OUT_OF_MEMORY" | "OUT_OF_ME+") || word.starts_with("OUT_OF_ME") && word.ends_with('+');
    let front = &line[..place];
    let labelled =
        front.ends_with("JobState=") || front.trim_end().ends_with("State:") || front.trim_end().ends_with("state");
    let row = front.trim_start().starts_with(|c: char| c.is_ascii_digit())
        && (line.contains("0:125")
            || line.contains("0:0")
            || line.contains('|')
            || word.ends_with('+')
            || front.contains(".batch"));
    if !state || !(labelled || row) {
        return None;
    }
    let mut event = start(document, position, "slurm-state");
    if row && event.facts.number(Number::JobId).is_none() {
        field::note_number(&mut event, Number::JobId, field::leading_number(line.trim_start()).map(|n| n as f64));
    }
    let told = |line: &str| proof::is_slurm_kill(line) || line.contains("OUT_OF_ME") || line.contains("Out Of Memory");
    if told_before(document, position, told) {
        event.standing = Standing::Follower;
        return Some(event);
    }
    surroundings(document, position, &mut event);
    Some(event)
}

fn told_before(document: &Document, position: usize, told: impl Fn(&str) -> bool) -> bool {
    field::before(position, NEAR).any(|at| told(field::text(document, at)))
}

/// The process that the shell saw die, and the memory that the job had asked for.
fn surroundings(document: &Document, position: usize, event: &mut Event) {
    let pid = field::before(position, NEAR).find_map(|at| shell_kill(field::text(document, at)));
    field::note_pid(event, pid);
    if let Some(limit) = requested_memory(document, position) {
        event.facts.note(Fact::Limit, limit);
    }
}

/// The pid in the shell's `SCRIPT: line N: PID Killed COMMAND`.
pub fn shell_kill(line: &str) -> Option<u64> {
    let (front, tail) = line.split_once(" Killed").or_else(|| line.split_once(" 已杀死"))?;
    if !(tail.is_empty() || tail.starts_with(char::is_whitespace)) {
        return None;
    }
    let pid = front.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?;
    let front = front.trim_end().strip_suffix(pid)?;
    // `[1]+` of an interactive shell has no pid.
    (front.trim_end().ends_with(':') || front.trim().is_empty()).then(|| pid.parse().ok())?
}

/// Lines before a report in which a job script or a rule's resources may stand, and lines of the head of the log.
const SCRIPT: usize = 300;

/// The memory that the job asked for on each node. Slurm counts in powers of 1024, and in MiB without a suffix (`sbatch`, --mem).
fn requested_memory(document: &Document, position: usize) -> Option<Figure> {
    let mut per_cpu: Option<(u64, Span)> = None;
    let (mut cpus, mut tasks, mut tasks_per_node, mut nodes) = (1u64, None, None, None);
    let head = 0..SCRIPT.min(position.saturating_sub(SCRIPT));
    for at in field::before(position, SCRIPT).chain(head).chain(field::behind(document, position, NEAR)) {
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
        if let Some(bytes) = option(options, "--mem").and_then(slurm_size).filter(|bytes| *bytes > 0) {
            return Some(Figure { bytes, half_width: 0, at: span });
        }
        if let Some(bytes) = option(options, "--mem-per-cpu").and_then(slurm_size) {
            per_cpu = Some((bytes, span));
        }
        cpus = number("--cpus-per-task").or_else(|| number("-c")).unwrap_or(cpus);
        tasks = number("--ntasks").or_else(|| number("-n")).or(tasks);
        tasks_per_node = number("--ntasks-per-node").or(tasks_per_node);
        nodes = number("--nodes").or_else(|| number("-N")).or(nodes);
    }
    let (bytes, at) = per_cpu?;
    let on_a_node =
        tasks_per_node.or_else(|| tasks.and_then(|tasks| tasks.checked_div(nodes.unwrap_or(1)))).unwrap_or(1).max(1);
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

fn slurm_size(value: &str) -> Option<u64> {
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
        let document = Document::from_text("-", log);
        (0..document.lines.len()).find_map(|position| read(&document, position))
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
            first("slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***"),
            None
        );
    }

    #[test]
    fn the_shell_names_the_victim() {
        assert_eq!(shell_kill("/var/spool/job9/slurm_script: line 12: 40112 Killed      python train.py"), Some(40112));
        assert_eq!(shell_kill("train.sh: 行 3: 40112 已杀死               python train.py"), Some(40112));
        assert_eq!(shell_kill("[1]+  Killed                  python train.py"), None);
        assert_eq!(shell_kill("process 7 Killedly"), None);
    }
}
