//! Ray's memory monitor, which kills the task or actor scheduled last when its node runs low
//! (`src/ray/raylet/node_manager.cc`, `worker_killing_policy`). Its `GB` are 2^30 bytes.

use super::joined::{Joined, Printed};
use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field};
use crate::domain::{Number, Program};
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::units::{Base, Figure, GIB};

pub const DIALECT: Dialect = Dialect {
    name: "ray",
    triggers: &[
        "MemoryError",
        "(?i)low on memory",
        "illed",
        "SIGKILL",
        "(?i)% of the memory on node",
        "(?i)system memory low at node",
        "(?i)objectstorefullerror",
        "(?i)configured object store size",
        "available for tasks and actors (",
    ],
    read,
};

const TABLE: &[Wording] = &[
    // python/ray/_private/services.py: a check before anything is stored, in units of 10^9 bytes.
    Wording {
        says: &["configuredobjectstoresize("],
        and: &["exceeds/dev/shmsize("],
        slug: "ray-object-store-size",
        program: Program::Ray,
        resource: Resource::Shm,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Requested, "objectstoresize(", Unit::Printed(Base::Decimal)),
            (Fact::Limit, "/dev/shmsize(", Unit::Printed(Base::Decimal)),
        ],
        lines: 3,
        ..WORDING
    },
    // python/ray/_private/resource_spec.py, at the start: what the machine has left beside the store.
    Wording {
        says: &["availablefortasksandactors("],
        and: &["islessthan", "oftotal"],
        slug: "ray-no-memory-for-tasks",
        program: Program::Ray,
        lines: 3,
        ..WORDING
    },
    // Up to version 1.x the driver watched the node.
    Wording {
        says: &["%ofthememoryonnode"],
        and: &["isused("],
        slug: "ray-memory-monitor",
        program: Program::Ray,
        signs: &[Sign::KilledWithProof],
        figures: &[(Fact::Used, "isused(", Unit::In("GiB")), (Fact::Capacity, "/", Unit::Printed(Base::Binary))],
        lines: 2,
        ..WORDING
    },
    // Ray 2.0's monitor, before it killed anything by itself (src/ray/raylet/node_manager.cc).
    Wording {
        says: &["systemmemorylowatnode"],
        and: &["usedmemory("],
        slug: "ray-memory-monitor",
        program: Program::Ray,
        figures: &[
            (Fact::Used, "usedmemory(", Unit::Printed(Base::Binary)),
            (Fact::Capacity, "totalcapacity(", Unit::Printed(Base::Binary)),
        ],
        lines: 2,
        ..WORDING
    },
    Wording {
        says: &["objectstorefullerror:"],
        and: &["becauseitisfull"],
        slug: "ray-object-store-full",
        program: Program::Ray,
        resource: Resource::Shm,
        signs: &[Sign::RefusedByLimit],
        figures: &[(Fact::Requested, "objectsizeis", Unit::Printed(Base::Binary))],
        ..WORDING
    },
];

/// Lines of a message that a terminal wrapped.
const LINES: usize = 8;
/// Lines in which the same kill is told again.
const NEAR: usize = 30;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let monitor = line.contains("node running low on memory")
        || line.contains("Memory on the node")
        || line.contains("ray.exceptions.OutOfMemoryError")
        || line.contains("OOM kill reason:");
    if monitor {
        return Some(monitor_kill(document, position));
    }
    // A count that the driver prints now and then, and the guess of a lost worker.
    if line.contains("killed due to memory pressure (OOM)") && !line.contains(" 0 Workers (tasks / actors) killed") {
        let mut event = field::event(document, position, "ray-killed-count", Program::Ray, Resource::Host);
        event.sign(Sign::KilledWithProof);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    if line.contains("killed by SIGKILL by OOM killer due to high memory usage") {
        let mut event = field::event(document, position, "ray-worker-lost", Program::Ray, Resource::Host);
        event.sign(Sign::KilledWithoutProof);
        // A kill is the first of three possible causes that it lists.
        event.sign(Sign::EndUntold);
        event.sign(Sign::NoFigures);
        let pid = field::before(position, 6).find_map(|at| {
            let line = field::text(document, at).trim();
            line.strip_prefix("pid:").and_then(|tail| tail.trim().parse().ok())
        });
        field::note_pid(&mut event, pid);
        return Some(event);
    }
    wording::read(document, position, TABLE)
}

fn monitor_kill(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "ray-memory-monitor", Program::Ray, Resource::Host);
    event.sign(Sign::KilledWithProof);
    let message = field::joined(document, position, LINES);
    let mut end = 1;
    if let Some(start) = message.find("Memoryonthenode", 0) {
        // The first `was` that a size follows: `… was running was 27.71GB / 28.80GB`.
        let mut from = start;
        while let Some(offset) = message.after("was", from) {
            from = offset;
            let Some((used, next)) = figure(&message, offset) else { continue };
            event.facts.note(Fact::Used, used);
            end = next;
            let rest = message.squeezed.get(next..).unwrap_or_default();
            let slash = rest.find('/').filter(|at| *at <= "used".len());
            if let Some((total, next)) = slash.and_then(|at| figure(&message, next + at + 1)) {
                event.facts.note(Fact::Capacity, total);
                end = next;
            }
            break;
        }
        task(&message, start, &mut event);
    }
    exact_figures(&message, &mut event);
    if let Some((threshold, _)) = message.after("thresholdof", 0).and_then(|offset| message.decimal_at(offset)) {
        field::note_number(&mut event, Number::Threshold, Some(threshold));
    }
    top_users(document, position, &mut event);
    if let Some(last) = message.find("whichexceeds", 0) {
        end = end.max(last + 1);
    }
    event.at.last = event.at.last.max(message.line_at(end.saturating_sub(1)));
    if let (Some(from), true) = (message.find("Memoryonthenode", 0), event.at.last > event.at.first) {
        event.message = message.readable(from, message.squeezed.len(), 400);
    }
    let told = |at: usize| field::text(document, at).contains("Memory on the node");
    if field::before(position, NEAR).any(told) && event.facts.sizes.is_empty() {
        event.standing = Standing::Follower;
    }
    event
}

fn figure(message: &Joined, offset: usize) -> Option<(Figure, usize)> {
    match message.size_at(offset, Base::Binary)? {
        (Printed::Size(figure), end) => Some((figure, end)),
        (Printed::Unreadable(_), _) => None,
    }
}

/// The task, actor or lease that was killed.
fn task(message: &Joined, start: usize, event: &mut Event) {
    if let Some((pid, end)) = message.after("pid=", start).and_then(|offset| message.count_at(offset)) {
        event.facts.pid = Known::Seen(pid, message.span(end.saturating_sub(1), end));
    }
    if let Some((used, _)) = message.after("memoryused=", start).and_then(|offset| figure(message, offset)) {
        event.facts.note(Fact::Process, used);
    }
    if let (Some(from), Some(to)) = (message.after("name=", start), message.find(",pid=", start))
        && from < to
    {
        event.facts.process_name = Known::Seen(message.readable(from, to, 200), message.span(from, to));
    }
}

/// Ray 2.50 and later give the figures of the decision in bytes.
fn exact_figures(message: &Joined, event: &mut Event) {
    let Some(start) = message.after("Memoryusage", 0) else { return };
    let Some((used, end)) = figure(message, start) else { return };
    event.facts.note(Fact::Used, used);
    let Some((threshold, end)) = message.after("exceededthresholdof", end).and_then(|offset| figure(message, offset))
    else {
        return;
    };
    event.facts.note(Fact::Limit, threshold);
    if let Some((total, _)) = message.after("%of", end).and_then(|offset| figure(message, offset)) {
        event.facts.note(Fact::Capacity, total);
    }
}

/// The table of the ten processes that held most; they may hold far less than the node.
fn top_users(document: &Document, position: usize, event: &mut Event) {
    let Some(title) =
        field::behind(document, position, NEAR).find(|at| field::text(document, *at).contains("memory users"))
    else {
        return;
    };
    let (mut sum, mut top): (f64, Option<(f64, String, Span)>) = (0.0, None);
    for at in field::behind(document, title, 12) {
        let mut words = field::text(document, at).split_whitespace();
        let (Some(pid), Some(used), Some(first)) = (words.next(), words.next(), words.next()) else { break };
        if pid == "PID" {
            continue;
        }
        let (Ok(_), Ok(gib)) = (pid.parse::<u64>(), used.parse::<f64>()) else { break };
        let bytes = gib * GIB as f64;
        sum += bytes;
        let name = words.fold(first.to_string(), |name, word| name + " " + word);
        if top.as_ref().is_none_or(|(most, ..)| bytes > *most) {
            top = Some((bytes, name, Span::line(field::number(document, at))));
        }
    }
    if let Some((bytes, name, at)) = top {
        event.facts.numbers.insert(Number::TopUsersSum, (sum, at));
        event.facts.numbers.insert(Number::TopUsersMax, (bytes, at));
        event.facts.largest_process = Known::Seen(field::quoted(&name), at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(log: &str) -> Event {
        crate::dialect::testing::first(read, log).unwrap()
    }

    #[test]
    fn the_node_and_the_task() {
        let event = first(
            "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.1.2.3, ID: ab) where the task (task ID: cd, name=Trainer.step, pid=4321, memory used=3.50GB) was running was\n30.50GB / 32.00GB (0.953125), which exceeds the memory usage threshold of 0.95. Ray killed this worker",
        );
        let bytes = |fact| event.facts.get(fact).map(|figure| figure.bytes);
        assert_eq!(bytes(Fact::Capacity), Some(32 << 30));
        assert_eq!(bytes(Fact::Process), Some(7 << 29));
        assert_eq!(event.facts.pid.value(), Some(4321));
        assert_eq!(event.facts.process_name.get().map(String::as_str), Some("Trainer.step"));
        assert_eq!(event.facts.number(Number::Threshold), Some(0.95));
        assert_eq!(event.at, Span::lines(1, 3));
    }

    #[test]
    fn newer_versions_give_bytes() {
        let event = first(
            "OOM kill reason: Memory usage 31000000000B exceeded threshold of 30000000000B (95.00% of 32000000000B limit).\n1 worker(s) were killed due to the node running low on memory",
        );
        assert_eq!(event.facts.get(Fact::Limit).map(|figure| figure.bytes), Some(30_000_000_000));
        assert_eq!(event.facts.get(Fact::Capacity).map(|figure| figure.bytes), Some(32_000_000_000));
    }
}
