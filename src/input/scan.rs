//! The trigger literals of all dialects, and where they stand in a text.

use crate::dialect::DIALECTS;
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// The vectorised search takes at most this many literals; one more and it is nine times slower (4.5 → 0.49 GB/s).
pub const MOST_LITERALS: usize = 64;

/// The literals that no dialect names, but that mark a failure in any program's text.
const ALWAYS: [&str; 3] = ["out of memory", "OutOfMemoryError", "Killed process"];

/// Every trigger once. A literal that contains another is found through it.
pub fn literals() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = DIALECTS
        .iter()
        .flat_map(|dialect| dialect.triggers.iter().copied())
        .chain(ALWAYS)
        .filter(|l| !l.is_empty())
        .collect();
    all.sort_unstable_by_key(|literal| (literal.len(), *literal));
    let mut distinct: Vec<&'static str> = Vec::with_capacity(all.len());
    for literal in all {
        if !distinct.iter().any(|shorter| literal.contains(shorter)) {
            distinct.push(literal);
        }
    }
    distinct
}

static SEARCH: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(literals()).ok());

/// True when a text carries the trigger of any dialect.
pub(super) fn hits(text: &str) -> bool {
    SEARCH.as_ref().is_some_and(|search| search.is_match(text))
}

/// Where triggers stand in some bytes: offset, length and number of the literal.
pub(super) fn find(bytes: &[u8]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    SEARCH
        .as_ref()
        .into_iter()
        .flat_map(move |search| search.find_iter(bytes).map(|hit| (hit.start(), hit.len(), hit.pattern().as_usize())))
}

/// Length of the longest literal in bytes: what a search must look back at the border of two pieces.
pub(super) fn longest() -> usize {
    SEARCH.as_ref().map_or(0, AhoCorasick::max_pattern_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_fit_the_vectorised_search() {
        let literals = literals();
        assert!(literals.len() <= MOST_LITERALS, "{} distinct triggers: {literals:?}", literals.len());
    }

    #[test]
    fn every_trigger_is_found() {
        for trigger in DIALECTS.iter().flat_map(|dialect| dialect.triggers) {
            assert!(hits(trigger), "{trigger}");
        }
        assert!(hits("torch.cuda.OutOfMemoryError: x") && !hits("all is well"));
    }
}
