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
    if line.contains("OOMKilled") && !line.contains("false") {
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
