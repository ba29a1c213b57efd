//! What each reading speaks for, in natural-log odds: the data of `weights.json`, which `tests/corpus/learn.py` writes.
//!
//! Every level of every mechanism has a stated prior for some causes, with its reason, and the value learnt from
//! labelled reports, shrunk towards it. A level seen in fewer than three sources stays at what is stated. A cause that
//! an asker's priors do not name cannot apply there at all.

use super::CauseId;
use super::mechanism::{MECHANISMS, Mechanism};
use super::nature::Asker;
use crate::packed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The file as it is written.
#[derive(Debug, Deserialize)]
pub(crate) struct File {
    /// Divides log-odds before they become probabilities; fitted on out-of-fold predictions.
    pub temperature: f64,
    pub priors: BTreeMap<String, Level>,
    pub mechanisms: BTreeMap<String, Levels>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Levels {
    pub levels: BTreeMap<String, Level>,
}

/// One level, or the priors of one asker.
#[derive(Debug, Deserialize)]
pub(crate) struct Level {
    #[cfg(test)]
    pub stated: BTreeMap<String, f64>,
    pub learnt: BTreeMap<String, f64>,
    #[cfg(test)]
    pub sources: u32,
}

/// `weights.json`, packed.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/weights.json.gz"));

/// Log-odds by cause, in the order of [`super::CAUSES`].
pub(crate) type Row = Vec<f64>;

/// The weights in force.
pub(crate) struct Weights {
    pub temperature: f64,
    /// By asker; `None` where the cause cannot apply.
    priors: BTreeMap<Asker, Vec<Option<f64>>>,
    /// By mechanism and level, in the order of [`MECHANISMS`] and of each mechanism's levels.
    rows: Vec<Vec<Row>>,
}

/// Read once, on the first failure that is explained: 70 KB of JSON take well below a millisecond.
static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    // The file is part of the program and a test reads it; without it nothing would be known and everything be open.
    let file = serde_json::from_str::<File>(&packed::text(PACKED)).unwrap_or(File {
        temperature: 1.0,
        priors: BTreeMap::new(),
        mechanisms: BTreeMap::new(),
    });
    let priors = Asker::ALL.iter().map(|asker| {
        let stated = file.priors.get(asker.id());
        let of = |cause: &CauseId| stated.and_then(|level| level.learnt.get(cause.id()).copied());
        (*asker, CauseId::ALL.iter().map(of).collect())
    });
    let row = |mechanism: &Mechanism, level: &str| {
        let learnt =
            file.mechanisms.get(mechanism.id).and_then(|levels| levels.levels.get(level)).map(|row| &row.learnt);
        let of = |cause: &CauseId| learnt.and_then(|row| row.get(cause.id()).copied()).unwrap_or(0.0);
        CauseId::ALL.iter().map(of).collect()
    };
    Weights {
        temperature: file.temperature.max(0.1),
        priors: priors.collect(),
        rows: MECHANISMS
            .iter()
            .map(|mechanism| mechanism.levels.iter().map(|level| row(mechanism, level)).collect())
            .collect(),
    }
});

impl Weights {
    /// The weights of the program.
    pub fn get() -> &'static Weights {
        &WEIGHTS
    }

    /// Log-odds of a cause before anything was read; `None` where it cannot apply.
    pub fn prior(&self, asker: Asker, cause: CauseId) -> Option<f64> {
        self.priors.get(&asker).and_then(|row| row.get(cause as usize).copied().flatten())
    }

    /// What a level of a mechanism speaks for.
    pub fn row(&self, mechanism: &'static Mechanism, level: &str) -> Option<&Row> {
        let at = MECHANISMS.iter().position(|known| known.id == mechanism.id)?;
        let of = mechanism.levels.iter().position(|known| *known == level)?;
        self.rows.get(at)?.get(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn file() -> File {
        serde_json::from_str(&packed::text(PACKED)).expect("the weights can be read")
    }

    #[test]
    fn every_mechanism_and_level_has_its_weights_and_no_other_is_named() {
        let file = file();
        let of_code: BTreeSet<(String, String)> = MECHANISMS
            .iter()
            .flat_map(|mechanism| mechanism.levels.iter().map(|level| (mechanism.id.to_string(), level.to_string())))
            .collect();
        let of_file: BTreeSet<(String, String)> = file
            .mechanisms
            .iter()
            .flat_map(|(id, levels)| levels.levels.keys().map(move |level| (id.clone(), level.clone())))
            .collect();
        assert_eq!(of_code, of_file);
        let askers: BTreeSet<&str> = Asker::ALL.iter().map(|asker| asker.id()).collect();
        assert_eq!(askers, file.priors.keys().map(String::as_str).collect());
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
