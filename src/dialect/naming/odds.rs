//! What each way in which a name shows is worth, in natural-log odds against nobody's being named: the data of
//! `names.json`, learnt from messages whose program is known.

use super::{Mark, Place, Shown, Way};
use crate::packed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// `names.json`, packed.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/names.json.gz"));

/// Each time after the first that a way shows counts for so much of the first.
const AGAIN: f64 = 0.25;

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
struct File {
    marks: BTreeMap<Mark, f64>,
    ways: BTreeMap<Way, BTreeMap<Place, f64>>,
    /// By how many ways a name shows, from one on; the last is that of more.
    several: Vec<f64>,
}

static FILE: LazyLock<File> = LazyLock::new(|| serde_json::from_str(&packed::text(PACKED)).unwrap_or_default());

/// The odds of a name that shows so.
pub(super) fn of(shown: &Shown) -> f64 {
    let worth = |(way, place, times): &(Way, Place, u32)| {
        let weight = FILE.ways.get(way).and_then(|places| places.get(place)).copied().unwrap_or_default();
        weight * (1.0 + AGAIN * f64::from(times.saturating_sub(1)))
    };
    let mut ways: Vec<Way> = shown.ways.iter().map(|(way, ..)| *way).collect();
    ways.sort_unstable();
    ways.dedup();
    let several = FILE.several.get(ways.len().saturating_sub(1)).or(FILE.several.last());
    let mark = FILE.marks.get(&shown.mark).copied().unwrap_or_default();
    mark + several.copied().unwrap_or_default() + shown.ways.iter().map(worth).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_and_the_ways_that_decide_are_weighed() {
        assert!(Mark::ALL.iter().all(|mark| FILE.marks.contains_key(mark)));
        let own = |way: Way| FILE.ways[&way][&Place::Own];
        assert!(own(Way::Command) > own(Way::Script), "a script's name tells less than a command");
        assert!(FILE.ways[&Way::Prefix][&Place::Own] > FILE.ways[&Way::Prefix][&Place::Far]);
        assert_eq!(FILE.several.len(), 4);
    }
}
