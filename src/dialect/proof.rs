//! What the surroundings of a killed process say about its killer: a kernel report, a container runtime or a scheduler.

use super::{Resource, field};
use crate::evidence::Span;
use crate::input::Document;

/// Whose word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {
    Kernel,
    Slurm,
    Container,
}

/// A line that proves that memory was the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    pub witness: Witness,
    pub resource: Resource,
    pub at: Span,
    /// Position of that line in the document.
    pub position: usize,
}

/// Lines on either side that are looked at: a kernel report with its stack and tables has about a hundred.
const REACH: usize = 160;

/// Looks for a proof around `position`. With a pid, a kernel line must name it; without one any will do.
pub fn around(document: &Document, position: usize, pid: Option<u64>) -> Option<Proof> {
    field::behind(document, position, REACH)
        .chain(field::before(position, REACH))
        .find_map(|at| on_line(document, at, pid))
}

fn on_line(document: &Document, position: usize, pid: Option<u64>) -> Option<Proof> {
    let line = field::text(document, position);
    // Cheap test first: this runs over hundreds of lines.
    if !(line.contains("illed") || line.contains("oom") || line.contains("OOM") || line.contains("Kill process")) {
        return None;
    }
    let proof = |witness, resource| {
        Some(Proof { witness, resource, at: Span::line(field::number(document, position)), position })
    };
    let kernel_pid = field::number_after(line, "Killed process").or_else(|| field::number_after(line, "Kill process"));
    if kernel_pid.is_some() && (pid.is_none() || pid == kernel_pid) {
        let memcg = field::before(position + 1, 3).any(|at| is_memcg(field::text(document, at)));
        return proof(Witness::Kernel, if memcg { Resource::Cgroup } else { Resource::Host });
    }
    if line.contains("oom-kill:constraint") && pid.is_none_or(|pid| field::number_after(line, ",pid=") == Some(pid)) {
        return proof(Witness::Kernel, if is_memcg(line) { Resource::Cgroup } else { Resource::Host });
    }
    if is_slurm_kill(line) {
        return proof(Witness::Slurm, Resource::Cgroup);
    }
    if line.contains("OOMKilled") && !line.contains("false") && !line.contains("{{")
        || asked_state(document, position) == Some(true)
    {
        return proof(Witness::Container, Resource::Cgroup);
    }
    None
}

fn is_memcg(line: &str) -> bool {
    line.contains("Memory cgroup out of memory")
        || line.contains("oom_memcg=")
        || line.contains("killed as a result of limit")
}

/// True for slurmstepd's report of kills inside a step's cgroup.
pub fn is_slurm_kill(line: &str) -> bool {
    (line.contains("oom-kill event")
        || line.contains("oom_kill event")
        || line.contains("cgroup out-of-memory handler"))
        && !line.contains("Detected 0 ")
}

/// True where somebody asked near `position` whether memory was the reason for an end, and the log holds the answer no:
/// a container's state, counters of a cgroup, a search of the kernel's log that found nothing.
pub fn is_denied(document: &Document, position: usize) -> bool {
    const NEAR: usize = 30;
    field::before(position + 1, NEAR).chain(field::behind(document, position, NEAR)).any(|at| {
        let line = field::text(document, at);
        let state = field::after(line, "OOMKilled").map(|tail| tail.trim_start_matches(['"', '\'', ':', '=', ' ']));
        if state.is_some_and(|state| state.starts_with("false") || state.starts_with("False")) {
            return true;
        }
        if asked_state(document, at) == Some(false) || super::bare::bare(line).trim() == "oom_kill 0" {
            return true;
        }
        let search = ["dmesg", "journalctl", "/var/log/"].iter().any(|place| line.contains(place))
            && line.contains("grep")
            && ["oom", "OOM", "illed", "out of memory"].iter().any(|word| line.contains(word));
        let answer = field::text(document, at + 1).trim();
        search && document.lines.len() > at + 1 && (answer.starts_with('$') || answer.is_empty() || answer == "1")
    })
}

/// The answer to `docker inspect -f '… {{.State.OOMKilled}} …'` in the line below, where the line at `position` asks.
pub fn asked_state(document: &Document, position: usize) -> Option<bool> {
    let line = field::text(document, position);
    let (front, _) = line.split_once(".OOMKilled")?;
    let template = front.rfind(['\'', '"'])?;
    let fields_before = front[template..].matches("{{").count().checked_sub(1)?;
    let answer = super::bare::bare(field::text(document, position + 1))
        .split([' ', '\t', ',', '|'])
        .filter(|word| !word.is_empty())
        .nth(fields_before)?;
    match answer.trim_matches(|c: char| !c.is_ascii_alphabetic()).rsplit(['=', ':']).next()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
