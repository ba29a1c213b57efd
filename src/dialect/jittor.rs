//! Jittor: what it prints of its memory where an operator fails (`src/executor.cc`, `src/mem/mem_info.cc`, 1.2 to 1.3).
//! The exception's own words stand behind it, or are lost with the end of the log.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "jittor", triggers: &["display_memory_info"], read };

const PHRASES: [Phrase; 1] = [Phrase {
    words: &["===display_memory_info==="],
    and: &["free:cpu("],
    dialect: "jittor-memory-info",
    sizes: &[(Fact::Capacity, "total_device_ram:"), (Fact::Free, "gpu(")],
    lines: 16,
    ..PHRASE
}];

/// Of a device that is full this much is free at most: of more, the operator failed for another reason.
const FULL: u64 = 100;

fn read(document: &Document, position: usize) -> Option<Event> {
    // `[e 0926 16:20:41.731904 44 executor.cc:585]` is a failed operator's; anybody may have it printed on the way.
    let above = position.saturating_sub(1)..=position;
    let of_a_failure = above
        .filter_map(|at| document.lines.get(at))
        .any(|line| line.text.contains("[e ") && line.text.contains("executor.cc:"));
    let (mut event, _) = first_of(document, position, &PHRASES).filter(|_| of_a_failure)?;
    let (free, all) = (event.facts.get(Fact::Free)?.bytes, event.facts.get(Fact::Capacity)?.bytes);
    event.program = Program::named("jittor")?;
    event.sign(Sign::Disguised);
    (free <= all / FULL).then_some(event)
}

#[cfg(test)]
mod tests {
    use crate::dialect::{Fact, events};
    use crate::input::Document;

    fn told(level: &str, free: &str) -> Vec<(u64, u64)> {
        let log = format!(
            "[{level} 0926 16:20:41.7 44 executor.cc:585]\n=== display_memory_info ===\n total_cpu_ram: 62.50GB \
             total_device_ram: 24.00GB\n hold_vars: 7 lived_vars: 19 lived_ops: 31\n name: sfrl is_device: 1 used: \
             30.00GB(86.1%) unused: 5.000GB(13.9%) total: 35.00GB\n cpu&gpu: 41.00GB gpu: 40.50GB cpu: 512.0MB\n free: \
             cpu(306.0MB) gpu({free})\n===========================\n"
        );
        let told = events(&Document::from_text("-", &log));
        let bytes = |event: &crate::dialect::Event, fact| event.facts.get(fact).map_or(1, |figure| figure.bytes);
        told.iter().map(|event| (bytes(event, Fact::Capacity), bytes(event, Fact::Free))).collect()
    }

    #[test]
    fn a_full_device_in_the_words_of_a_failed_operator_is_a_failure() {
        assert_eq!(told("e", "    0 B"), [(24 << 30, 0)]);
        assert_eq!(told("e", "9.500GB"), [], "there was room");
        assert_eq!(told("i", "    0 B"), [], "somebody had it printed");
    }
}
