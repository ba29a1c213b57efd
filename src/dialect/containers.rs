//! Containers and functions that were stopped at their memory limit: Kubernetes, Docker, AWS Lambda, and Kubernetes'
//! evictions from a node that ran short.

use super::joined::Printed;
use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, mention, proof};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{Base, Figure};

pub const DIALECT: Dialect = Dialect {
    name: "kubernetes",
    triggers: &[
        "illed",
        "(?i)low on resource",
        "(?i)outofmemory",
        "(?i)taskoom",
        "(?i)container oom",
        "(?i)tasks/oom",
        "(?i)oom received",
        "(?i)memory limit could be",
        "(?i)systemoom",
        "(?i)emptydir volume",
        "(?i)resourceexhausted",
        "did not complete success",
    ],
    read,
};

const PROOF: &[Sign] = &[Sign::KilledWithProof];

const TABLE: &[Wording] = &[
    Wording {
        says: &["taskoomevent"],
        slug: "containerd-task-oom",
        program: Program::Containerd,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["containeroom"],
        and: &["image="],
        slug: "docker-oom-event",
        program: Program::Docker,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["topic=/tasks/oom"],
        slug: "docker-oom-event",
        program: Program::Docker,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["<ninfo>:oomreceived"],
        slug: "podman-oom-event",
        program: Program::Podman,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["crun:oom:thememorylimitcouldbetoolow", "crun:thememorylimitcouldbetoolow"],
        slug: "container-start-memory",
        program: Program::Crun,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["containerinitwasoom-killed", "(possiblyoom-killed)"],
        and: &["kubelet"],
        slug: "container-start-memory",
        program: Program::Kubernetes,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["containerinitwasoom-killed"],
        slug: "container-start-memory",
        program: Program::Runc,
        resource: Resource::Cgroup,
        signs: PROOF,
        ..WORDING
    },
    Wording {
        says: &["(possiblyoom-killed)"],
        slug: "container-start-memory",
        program: Program::Runc,
        resource: Resource::Cgroup,
        signs: &[Sign::KilledWithoutProof],
        ..WORDING
    },
    Wording {
        says: &["systemoomencountered,victimprocess:"],
        slug: "kubernetes-system-oom",
        program: Program::Kubernetes,
        signs: PROOF,
        pid: &["pid:"],
        name: &[("victimprocess:", ',')],
        ..WORDING
    },
    // pkg/kubelet/lifecycle/predicate.go: the pods on the node ask for all that it gives.
    Wording {
        says: &["nodedidn'thaveenoughresource:memory,"],
        slug: "kubernetes-node-requests",
        program: Program::Kubernetes,
        figures: &[
            (Fact::Requested, "requested:", Unit::Of(1)),
            (Fact::Used, "used:", Unit::Of(1)),
            (Fact::Capacity, "capacity:", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["usageofemptydirvolume"],
        and: &["exceedsthelimit"],
        slug: "kubernetes-empty-dir",
        program: Program::Kubernetes,
        resource: Resource::Shm,
        signs: &[Sign::KilledWithProof, Sign::RefusedByLimit],
        figures: &[(Fact::Limit, "exceedsthelimit", Unit::Printed(Base::Decimal))],
        ..WORDING
    },
    Wording {
        says: &["didnotcompletesuccessfully:cannotallocatememory"],
        slug: "docker-build-memory",
        program: Program::Docker,
        ..WORDING
    },
];

/// Lines of one container's section in `kubectl describe pod`, on either side of its state.
const SECTION: usize = 45;
/// Lines around a message in which the same death is told.
const NEAR: usize = 25;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("OOMKilled") {
        return oom_killed(document, position);
    }
    if line.contains("low on resource:") {
        return eviction(document, position);
    }
    if line.contains("signal: killed") && line.contains("Runtime") || line.contains("Runtime.OutOfMemory") {
        return Some(function(document, position));
    }
    let mut event = wording::read(document, position, TABLE)?;
    let told =
        |at: usize| field::text(document, at).contains("OOM") || field::text(document, at).contains("container oom");
    if event.wording() == "docker-oom-event" && field::before(position, 3).any(told) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// A state that names the reason: `Reason: OOMKilled`, a row of `kubectl get pods`, `"OOMKilled": true` of `docker
/// inspect`.
fn oom_killed(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let tail = field::after(line, "OOMKilled")?.trim_start_matches(['"', '\'', ':', '=', ' ']);
    if tail.starts_with("false") || tail.starts_with("False") {
        return None;
    }
    // `>>> model.save("small")   # loads in a container of 4 GB now, before it was OOMKilled`; a banner has no code.
    let remark = line.split_once("OOMKilled").and_then(|(before, _)| before.rsplit_once('#'));
    if line.starts_with(">>> ") && remark.is_some_and(|(code, _)| code.contains('(')) {
        return None;
    }
    // The user's question is no answer: that stands in the next line.
    let asked = line.contains("{{");
    if asked && proof::asked_state(document, position) != Some(true) {
        return None;
    }
    if mention::is_code_or_advice(line, line.find("OOMKilled").unwrap_or(0)) && !line.contains("Reason:") {
        return None;
    }
    let lines = || field::before(position, SECTION).chain(field::behind(document, position, SECTION));
    let docker = asked || tail.starts_with("true") || tail.starts_with("True");
    let program = match (docker, line.contains("podman")) {
        (_, true) => Program::Podman,
        (true, false) => Program::Docker,
        (false, false) => Program::Kubernetes,
    };
    let mut event = field::event(document, position, "container-oom-killed", program, Resource::Cgroup);
    event.sign(Sign::KilledWithProof);
    let told = |at: usize| {
        let earlier = field::text(document, at);
        earlier.contains("OOMKilled") && !earlier.contains("false")
    };
    if field::before(position, NEAR).any(told) {
        event.standing = Standing::Follower;
        return Some(event);
    }
    if let Some(limit) = memory_limit(document, position) {
        event.facts.note(Fact::Limit, limit);
    }
    let labelled = |labels: &[&str]| {
        lines().find_map(|at| {
            let line = field::text(document, at);
            let value = labels.iter().find_map(|label| field::number_after(line, label))?;
            Some((value as f64, Span::line(field::number(document, at))))
        })
    };
    for (name, labels) in [
        (Number::ExitCode, &["Exit Code:", "exitCode:", "\"ExitCode\":"][..]),
        (Number::RestartCount, &["Restart Count:", "restartCount:", "\"RestartCount\":"][..]),
    ] {
        if let Some(value) = labelled(labels) {
            event.facts.numbers.insert(name, value);
        }
    }
    if let Some(lived) = lifetime(document, position) {
        event.facts.numbers.insert(Number::LifetimeSeconds, lived);
    }
    Some(event)
}

/// The container's limit: `Limits:` with `memory:` below it, Docker's `"Memory": N` or `--memory`.
fn memory_limit(document: &Document, position: usize) -> Option<Figure> {
    // In `describe` the limits follow the state; a manifest stands before it.
    let places = field::behind(document, position, SECTION).chain(field::before(position, SECTION));
    for at in places {
        let line = field::text(document, at);
        let headed = line.contains("Limits:") || line.contains("limits:");
        if headed {
            for below in at..(at + 6).min(document.lines.len()) {
                let text = field::text(document, below);
                if below > at && (text.contains("equests:") || text.contains("Environment")) {
                    break;
                }
                if let Some(figure) = quantity(text, "memory:", Base::Decimal, field::number(document, below)) {
                    return Some(figure);
                }
            }
        }
        if let Some(bytes) = field::number_after(line, "\"Memory\":").filter(|bytes| *bytes > 0) {
            return Some(Figure { bytes, half_width: 0, at: Span::line(field::number(document, at)) });
        }
        // Docker counts in powers of 1024.
        for option in ["--memory=", "--memory ", "mem_limit:"] {
            if let Some(figure) = quantity(line, option, Base::Binary, field::number(document, at)) {
                return Some(figure);
            }
        }
    }
    None
}

/// A configured quantity is exact, however few digits it has.
fn quantity(text: &str, label: &str, base: Base, line: u64) -> Option<Figure> {
    let value = field::after(text, label)?.trim_start_matches(['"', '\'', ' ']);
    // Nothing runs in less, so a smaller one is a figure whose end is missing.
    const SMALLEST: u64 = 4 << 20;
    let size = field::leading_size(value, base).filter(|size| size.bytes >= SMALLEST)?;
    Some(Figure { bytes: size.bytes, half_width: 0, at: Span::line(line) })
}

/// Seconds between `Started` and `Finished` of the state that ended, where both are on the same day of `kubectl`'s
/// format.
fn lifetime(document: &Document, position: usize) -> Option<(f64, Span)> {
    let stamp = |label: &str| {
        field::behind(document, position, 6).find_map(|at| {
            let told = field::text(document, at).trim_start().strip_prefix(label)?;
            Some((seconds(told.trim())?, field::number(document, at)))
        })
    };
    let ((started, from), (finished, to)) = (stamp("Started:")?, stamp("Finished:")?);
    (finished >= started).then(|| (finished - started, Span::lines(from, to)))
}

/// `Sat, 17 May 2025 09:04:36 +0300` as seconds on a scale on which differences are right.
fn seconds(stamp: &str) -> Option<f64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = stamp.split_once(", ").map_or(stamp, |(_, rest)| rest).split_whitespace();
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since 0000-03-01 in the proleptic Gregorian calendar.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
    ((0..10_000).contains(&year)).then_some((days * 86_400 + hour * 3600 + minute * 60 + second) as f64)
}

/// The node ran short, and the pod that was over its request had to go.
fn eviction(document: &Document, position: usize) -> Option<Event> {
    let message = field::joined(document, position, 3);
    let start = message.after("lowonresource:", 0)?;
    let mut event = field::event(document, position, "kubernetes-eviction", Program::Kubernetes, Resource::Host);
    if !message.squeezed.get(start..).is_some_and(|what| what.starts_with("memory") || what.starts_with("[memory")) {
        event.make_harmless(text!(
            en: "the node was short of something else than memory: disk, inodes or process ids",
            zh: "节点缺少的不是内存，而是磁盘、inode 或进程号"
        ));
        return Some(event);
    }
    event.sign(Sign::KilledWithProof);
    for (label, fact) in [("wasusing", Fact::Process), ("available:", Fact::Free), ("Thresholdquantity:", Fact::Limit)]
    {
        let Some(offset) = message.after(label, start) else { continue };
        if let Some((Printed::Size(figure), _)) = message.size_at(offset, Base::Decimal) {
            event.facts.note(fact, figure);
        }
    }
    if let Some(offset) = message.after("itsrequestof", start).or_else(|| message.after("requestis", start))
        && let Some(size) = field::leading_size(&message.squeezed[offset..], Base::Decimal)
    {
        field::note_number(&mut event, Number::MemoryRequest, Some(size.bytes as f64));
    }
    if field::before(position, NEAR).any(|at| field::text(document, at).contains("low on resource: memory")) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// AWS Lambda: the runtime was killed; the REPORT line tells the size, in MiB though it says MB.
fn function(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "lambda-killed", Program::AwsLambda, Resource::Cgroup);
    let report = field::behind(document, position, NEAR)
        .chain(field::before(position + 1, NEAR))
        .find(|at| field::text(document, *at).contains("Memory Size:"));
    let mut full = field::text(document, position).contains("OutOfMemory");
    if let Some(at) = report {
        let report = field::joined(document, at, 1);
        let size = |label| {
            let (printed, _) = report.size_at(report.after(label, 0)?, Base::Binary)?;
            if let Printed::Size(figure) = printed { Some(figure) } else { None }
        };
        let (limit, peak) = (size("MemorySize:"), size("MaxMemoryUsed:"));
        if let Some(limit) = limit {
            event.facts.note(Fact::Limit, limit);
        }
        if let Some(peak) = peak {
            event.facts.note(Fact::Peak, peak);
        }
        full |= matches!((limit, peak), (Some(limit), Some(peak)) if peak.bytes >= limit.bytes);
    }
    event.sign(if full { Sign::KilledWithProof } else { Sign::KilledWithoutProof });
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(log: &str) -> Option<Event> {
        crate::dialect::testing::first(read, log)
    }

    #[test]
    fn a_described_pod_tells_its_limit_and_how_long_it_lived() {
        let event = first(
            "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n      Started:      Fri, 28 Feb 2025 23:59:30 +0000\n      Finished:     Sat, 01 Mar 2025 00:00:30 +0000\n    Restart Count:  4\n    Limits:\n      cpu:     2\n      memory:  3Gi\n    Requests:\n      memory:     1Gi",
        )
        .unwrap();
        assert_eq!(event.facts.get(Fact::Limit).map(|figure| figure.bytes), Some(3 << 30));
        assert_eq!(event.facts.number(Number::LifetimeSeconds), Some(60.0));
        assert_eq!(event.facts.number(Number::RestartCount), Some(4.0));
        assert_eq!(event.resource, Resource::Cgroup);
    }

    #[test]
    fn docker_says_true_or_false() {
        assert_eq!(first("            \"OOMKilled\": true,").unwrap().program, Program::Docker);
        assert_eq!(first("            \"OOMKilled\": false,"), None);
    }

    #[test]
    fn an_eviction_is_the_nodes_shortage() {
        let event = first("The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container main was\nusing 2048Ki, which exceeds its request of 0.").unwrap();
        assert_eq!(event.facts.get(Fact::Process).map(|figure| figure.bytes), Some(2 << 20));
        assert_eq!(event.facts.get(Fact::Free).map(|figure| figure.bytes), Some(80 << 20));
        assert_eq!(event.facts.number(Number::MemoryRequest), Some(0.0));
        let disk = first("The node was low on resource: ephemeral-storage.").unwrap();
        assert_eq!(disk.standing, Standing::Harmless);
    }

    #[test]
    fn a_function_is_proved_by_its_report() {
        let event = first("RequestId: 1 Error: Runtime exited with error: signal: killed\nREPORT RequestId: 1 Memory Size: 512 MB Max Memory Used: 512 MB").unwrap();
        assert!(event.has(Sign::KilledWithProof));
        assert_eq!(event.facts.get(Fact::Limit).map(|figure| figure.bytes), Some(512 << 20));
    }
}
