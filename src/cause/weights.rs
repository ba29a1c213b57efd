//! What each reading speaks for, in natural-log odds: the data of `weights.json`, which `tests/corpus/learn.py` writes.
//!
//! Every level of every mechanism has a stated prior for some causes, with its reason, and the value learnt from
//! labelled reports, shrunk towards it. A level seen in fewer than three sources stays at what is stated. A cause that
//! an asker's priors do not name cannot apply there at all.

use super::CauseId;
use super::mechanism::Mechanism;
use super::nature::Asker;
use std::sync::LazyLock;

/// What is learnt, as `build.rs` lays it out of `weights.json`: the temperature, then a line for each level, in the
/// order of bytes. Every failure that is explained reads it, and a few dozen of its lines are asked for: to read the
/// file itself took an eighth of the time of a pasted message.
const LEARNT: &str = include_str!(concat!(env!("OUT_DIR"), "/weights.txt"));

/// Log-odds by cause, in the order of [`CauseId::ALL`]; `None` of what the level says nothing.
pub(crate) type Row = [Option<f64>; CauseId::ALL.len()];

/// The weights in force.
pub(crate) struct Weights {
    /// Divides log-odds before they become probabilities; fitted on out-of-fold predictions.
    pub temperature: f64,
    /// `MECHANISM LEVEL CAUSE WEIGHT CAUSE WEIGHT …`, and for the priors `prior ASKER …`.
    lines: Vec<&'static str>,
}

/// Laid out once, on the first failure that is explained.
static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    // The text is part of the program and a test reads it; without it nothing would be known and everything be open.
    let (temperature, levels) = LEARNT.split_once('\n').unwrap_or_default();
    Weights { temperature: temperature.parse().unwrap_or(1.0_f64).max(0.1), lines: levels.lines().collect() }
});

impl Weights {
    /// The weights of the program.
    pub fn get() -> &'static Weights {
        &WEIGHTS
    }

    /// Log-odds of the causes before anything was read; `None` of one that cannot apply.
    pub fn priors(&self, asker: Asker) -> Row {
        self.line("prior", asker.id()).unwrap_or_default()
    }

    /// What a level of a mechanism speaks for.
    pub fn row(&self, mechanism: &'static Mechanism, level: &str) -> Option<Row> {
        self.line(mechanism.id, level)
    }

    fn line(&self, mechanism: &str, level: &str) -> Option<Row> {
        let key = format!("{mechanism} {level} ");
        let at = self.lines.partition_point(|line| *line < key.as_str());
        let weights = self.lines.get(at)?.strip_prefix(key.as_str())?;
        let mut row = Row::default();
        let mut words = weights.split(' ');
        while let (Some(cause), Some(weight)) = (words.next(), words.next()) {
            let cause = cause.parse().ok().and_then(|cause: CauseId| row.get_mut(cause as usize));
            if let (Some(place), Ok(weight)) = (cause, weight.parse()) {
                *place = Some(weight);
            }
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mechanism::MECHANISMS;
    use super::*;
    use serde::Deserialize;
    use std::collections::{BTreeMap, BTreeSet};

    /// The file as it is written.
    #[derive(Deserialize)]
    struct File {
        temperature: f64,
        priors: BTreeMap<String, Level>,
        mechanisms: BTreeMap<String, Levels>,
    }

    #[derive(Deserialize)]
    struct Levels {
        levels: BTreeMap<String, Level>,
    }

    /// One level, or the priors of one asker.
    #[derive(Deserialize)]
    struct Level {
        stated: BTreeMap<String, f64>,
        learnt: BTreeMap<String, f64>,
        sources: u32,
    }

    fn file() -> File {
        serde_json::from_str(include_str!("weights.json")).expect("the weights can be read")
    }

    #[test]
    fn every_mechanism_and_level_has_its_weights_and_no_other_is_named() {
        let file = file();
        let of_code: BTreeSet<(&str, &str)> = MECHANISMS
            .iter()
            .flat_map(|mechanism| mechanism.levels.iter().map(|level| (mechanism.id, *level)))
            .collect();
        let of_file: BTreeSet<(&str, &str)> = file
            .mechanisms
            .iter()
            .flat_map(|(id, levels)| levels.levels.keys().map(|level| (id.as_str(), level.as_str())))
            .collect();
        assert_eq!(of_code, of_file);
        let askers: BTreeSet<&str> = Asker::ALL.iter().map(|asker| asker.id()).collect();
        assert_eq!(askers, file.priors.keys().map(String::as_str).collect());
    }

    #[test]
    fn what_is_carried_has_every_learnt_weight_of_the_file() {
        let (file, weights) = (file(), Weights::get());
        assert_eq!(weights.temperature.to_string(), file.temperature.to_string());
        let same = |row: Option<Row>, level: &Level| {
            let row = row.expect("a row");
            let of = |cause: &CauseId| Some((cause.id().to_string(), row[*cause as usize]?));
            assert_eq!(CauseId::ALL.iter().filter_map(of).collect::<BTreeMap<_, _>>(), level.learnt);
        };
        for asker in Asker::ALL {
            same(Some(weights.priors(*asker)), &file.priors[asker.id()]);
        }
        for mechanism in MECHANISMS {
            for level in mechanism.levels {
                same(weights.row(mechanism, level), &file.mechanisms[mechanism.id].levels[*level]);
            }
        }
        let levels: usize = MECHANISMS.iter().map(|mechanism| mechanism.levels.len()).sum();
        assert_eq!(weights.lines.len(), levels + Asker::ALL.len());
    }

    #[test]
    fn every_weight_is_of_a_cause_and_within_reason() {
        let file = file();
        let causes: BTreeSet<&str> = CauseId::ALL.iter().map(|cause| cause.id()).collect();
        let levels = file.mechanisms.values().flat_map(|levels| levels.levels.values()).chain(file.priors.values());
        for level in levels {
            for (cause, weight) in level.learnt.iter().chain(&level.stated) {
                assert!(causes.contains(cause.as_str()), "{cause}");
                assert!(weight.abs() <= 8.0, "{cause}: {weight}");
            }
        }
    }

    #[test]
    fn a_level_of_fewer_than_three_sources_stays_at_what_is_stated() {
        for (id, levels) in file().mechanisms {
            for (name, level) in levels.levels.iter().filter(|(_, level)| level.sources < 3) {
                assert_eq!(level.learnt, level.stated, "{id} {name}");
            }
        }
    }
}
