//! What the kernel counts and refuses with the word for memory: a process's mappings (`vm.max_map_count`), and before
//! Linux 5.12 the pages of io_uring's rings among those that a user may lock (`ulimit -l`).

use super::{Event, Fact, Resource, Sign, field};
use crate::input::Document;

/// Lines around a message that may tell of the same.
const AROUND: usize = 40;
/// A larger file may be refused for its size, where it is mapped to be written to.
const SMALL: u64 = 256 << 20;

/// True for a small file that could not be mapped: `failed to mmap file 'items.169.spa': Cannot allocate memory
/// (length=4526572)`.
fn refused(line: &str) -> bool {
    if !(line.contains("mmap") && line.contains("file") && line.contains("Cannot allocate memory")) {
        return false;
    }
    let length = ["length=", "length ", "size=", "size "].iter().find_map(|name| field::number_after(line, name));
    length.is_some_and(|bytes| bytes > 0 && bytes <= SMALL)
}

/// True for a ring that could not be made: `Creating UringReader`, `io_uring_setup(2) failed`.
fn makes_a_ring(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("io_uring")
        || lower.contains(" uring") && ["creat", "setup", "init"].iter().any(|word| lower.contains(word))
}

/// Lines above a refusal that name what was to be made.
const ABOVE: usize = 2;

/// True for a line that counts what was done up to the default of `vm.max_map_count`, 65530, of which a program has
/// some dozens for itself: `65478th iteration, Error number: 12`.
fn counts_to_the_default(line: &str) -> bool {
    let words = line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '(' | ')'));
    let numbers = words.filter_map(|word| word.strip_suffix("th").unwrap_or(word).parse::<u32>().ok());
    numbers.into_iter().any(|number| (65_400..=65_531).contains(&number))
        && ["iteration", "map", "file", "segment", "region"].iter().any(|word| line.to_ascii_lowercase().contains(word))
}

/// Tells a refusal of the host's by what ran out, where the lines around it show that.
pub fn complete(document: &Document, position: usize, event: &mut Event) {
    let limited = event.has(Sign::RefusedByLimit) || event.facts.get(Fact::Limit).is_some();
    if event.resource != Resource::Host || event.killed() || limited || event.has(Sign::MappedFile) {
        return;
    }
    let last = position.saturating_add(AROUND).min(document.lines.len());
    let around = document.lines.get(position.saturating_sub(AROUND)..last).unwrap_or_default();
    if around.iter().any(|line| refused(&line.text)) {
        event.sign(Sign::MappingsRanOut);
        return;
    }
    let own = document.lines.get(position.saturating_sub(ABOVE)..=position).unwrap_or_default();
    let number = event.facts.get(Fact::Requested).is_none() && own.iter().any(|line| counts_to_the_default(&line.text));
    if number {
        event.sign(Sign::MappingsRanOut);
        return;
    }
    if event.facts.get(Fact::Requested).is_none() && own.iter().any(|line| makes_a_ring(&line.text)) {
        event.sign(Sign::RingRefused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_small_file_tells_of_the_number_of_mappings() {
        assert!(refused("prealloc failed: failed to mmap file 'items.1.spa': Cannot allocate memory (length=4526572)"));
        assert!(!refused("failed to mmap file 'model.bin': Cannot allocate memory (length=45265720000)"));
        assert!(!refused("mmap failed: Cannot allocate memory (length=4526572)"), "no file: plain memory");
        assert!(counts_to_the_default("65478th iteration, Error number: 12"));
        assert!(!counts_to_the_default("40211th iteration, Error number: 12") && !counts_to_the_default("port 65500"));
        assert!(makes_a_ring("Error while: Creating UringReader"));
        assert!(!makes_a_ring("measuring the initial state: out of memory"));
    }
}
