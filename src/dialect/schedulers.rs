//! Schedulers other than Slurm and Kubernetes that enforce a memory limit: YARN with Spark, LSF, PBS, hosted notebooks.

use super::joined::Printed;
use super::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::input::Document;
use crate::units::{Base, Figure};

pub const DIALECT: Dialect = Dialect { name: "schedulers", triggers: &["emory limit", "illed", "llocate "], read };

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let start = |dialect, program| {
        let mut event = field::event(document, position, dialect, program, Resource::Cgroup);
        event.sign(Sign::KilledWithProof);
        event.sign(Sign::RefusedByLimit);
        event
    };
    if line.contains("memory limits") {
        return yarn(document, position, start);
    }
    if line.contains("TERM_MEMLIMIT") {
        let mut event = start("lsf-memory-limit", Program::Lsf);
        let report = field::before(position, 30).chain(field::behind(document, position, 30));
        let peak = report.into_iter().find_map(|at| {
            let message = field::joined(document, at, 1);
            let (printed, _) = message.size_at(message.after("MaxMemory:", 0)?, Base::Binary)?;
            if let Printed::Size(figure) = printed { Some(figure) } else { None }
        });
        if let Some(peak) = peak {
            event.facts.note(Fact::Peak, peak);
        }
        return Some(event);
    }
    // A hosted Space tells its limit, a hosted notebook only that it had one.
    if line.contains("Memory limit exceeded (") {
        let mut event = start("space-memory-limit", Program::HuggingFace);
        let at = event.at;
        if let Some(size) = field::size_after(line, "Memory limit exceeded (", Base::Binary) {
            event.facts.note(Fact::Limit, Figure { bytes: size.bytes, half_width: 0, at });
        }
        return Some(event);
    }
    if line.contains("tried to allocate more memory than is available") {
        return Some(start("notebook-memory-limit", Program::Python));
    }
    // `=>> PBS: job killed: mem 16805504kb exceeded limit 16777216kb`; the kilobytes are 1024 bytes.
    if line.contains("PBS: job killed:") && line.contains("mem ") && line.contains("exceeded limit") {
        let mut event = start("pbs-memory-limit", Program::Pbs);
        let at = event.at;
        for (label, fact) in [("mem ", Fact::Used), ("exceeded limit", Fact::Limit)] {
            if let Some(size) = field::size_after(line, label, Base::Binary) {
                event.facts.note(fact, size.at(at));
            }
        }
        return Some(event);
    }
    None
}

/// `Container killed by YARN for exceeding memory limits. A GB of B GB physical memory used`, or NodeManager's own words.
/// The figures are 2^30 bytes (`TraditionalBinaryPrefix`).
fn yarn(document: &Document, position: usize, start: impl Fn(&'static str, Program) -> Event) -> Option<Event> {
    let line = field::text(document, position);
    let limit_words = line.contains("exceeding") || line.contains("running beyond");
    if !(limit_words && (line.contains("YARN") || line.contains("ontainer"))) {
        return None;
    }
    let mut event = start("yarn-container-killed", Program::Spark);
    let message = field::joined(document, position, 3);
    let which = if line.contains("virtual memory limits") { "virtualmemoryused" } else { "physicalmemoryused" };
    if let Some(end) = message.find(which, 0)
        && let Some((Printed::Size(limit), from)) = message.size_before(end, Base::Binary)
    {
        event.facts.note(Fact::Limit, limit);
        let used = message.squeezed.get(..from).and_then(|text| text.strip_suffix("of")).map(str::len);
        if let Some((Printed::Size(used), _)) = used.and_then(|end| message.size_before(end, Base::Binary)) {
            event.facts.note(Fact::Used, used);
        }
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(log: &str) -> (Option<u64>, Option<u64>) {
        let document = Document::from_text("-", log);
        let event = (0..document.lines.len()).find_map(|position| read(&document, position)).unwrap();
        let bytes = |fact| event.facts.get(fact).map(|figure| figure.bytes);
        (bytes(Fact::Used).or(bytes(Fact::Peak)), bytes(Fact::Limit))
    }

    #[test]
    fn each_scheduler_in_its_units() {
        assert_eq!(facts("Memory limit exceeded (16Gi)"), (None, Some(16 << 30)));
        assert_eq!(
            facts(
                "Container killed by YARN for exceeding memory limits. 5.5 GB of 5 GB physical memory used. Consider boosting"
            ),
            (Some(11 << 29), Some(5 << 30))
        );
        assert_eq!(
            facts(
                "Container [pid=9,containerID=c] is running beyond physical memory limits. Current usage: 2.5 GB of 2 GB physical memory used; 4.0 GB of 4.2 GB virtual memory used. Killing container."
            ),
            (Some(5 << 29), Some(2 << 30))
        );
        assert_eq!(
            facts("=>> PBS: job killed: mem 2097152kb exceeded limit 1048576kb"),
            (Some(2 << 30), Some(1 << 30))
        );
        assert_eq!(
            facts(
                "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n    Max Memory :             512 MB"
            ),
            (Some(512 << 20), None)
        );
    }
}
