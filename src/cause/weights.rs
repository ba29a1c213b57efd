//! What each reading speaks for, in natural-log odds: the data of `weights.json`, which `tests/corpus/learn.py` writes.
//!
//! Every level of every mechanism has a stated prior for some causes, with its reason, and the value learnt from
//! labelled reports, shrunk towards it. A level seen in fewer than three sources stays at what is stated. A cause that
//! an asker's priors do not name cannot apply there at all.

use super::CauseId;
use super::mechanism::{MECHANISMS, Mechanism};
use super::nature::Asker;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;

/// The file as it is written.
#[derive(Debug, Deserialize)]
pub(crate) struct File<'f> {
    /// Divides log-odds before they become probabilities; fitted on out-of-fold predictions.
    pub temperature: f64,
    #[serde(borrow)]
    pub priors: Pairs<'f, Level<'f>>,
    #[serde(borrow)]
    pub mechanisms: Pairs<'f, Levels<'f>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Levels<'f> {
    #[serde(borrow)]
    pub levels: Pairs<'f, Level<'f>>,
}

/// One level, or the priors of one asker.
#[derive(Debug, Deserialize)]
pub(crate) struct Level<'f> {
    #[cfg(test)]
    #[serde(borrow, default)]
    pub stated: Pairs<'f, f64>,
    #[serde(borrow)]
    pub learnt: Pairs<'f, f64>,
    #[cfg(test)]
    pub sources: u32,
}

/// The entries of an object in their order. Each is asked for once and most have a handful: maps of strings of their
/// own took three times as long to read.
#[derive(Debug, Default)]
pub(crate) struct Pairs<'f, V>(Vec<(&'f str, V)>);

impl<V> Pairs<'_, V> {
    fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

impl<'de: 'f, 'f, V: Deserialize<'de>> Deserialize<'de> for Pairs<'f, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Pairs<'de, V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Pairs(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// `weights.json` without what is stated.
const LEARNT: &str = include_str!(concat!(env!("OUT_DIR"), "/weights.json"));

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

/// Read once, on the first failure that is explained.
static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    // The file is part of the program and a test reads it; without it nothing would be known and everything be open.
    let file = serde_json::from_str::<File>(LEARNT).unwrap_or(File {
        temperature: 1.0,
        priors: Pairs(Vec::new()),
        mechanisms: Pairs(Vec::new()),
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

    fn file() -> File<'static> {
        serde_json::from_str(include_str!("weights.json")).expect("the weights can be read")
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
            .0
            .iter()
            .flat_map(|(id, levels)| levels.levels.0.iter().map(move |(level, _)| (id.to_string(), level.to_string())))
            .collect();
        assert_eq!(of_code, of_file);
        let askers: BTreeSet<&str> = Asker::ALL.iter().map(|asker| asker.id()).collect();
        assert_eq!(askers, file.priors.0.iter().map(|(asker, _)| *asker).collect());
    }

    #[test]
    fn what_is_carried_has_every_learnt_weight_of_the_file() {
        let learnt = |file: &File<'static>| {
            let levels =
                file.mechanisms.0.iter().flat_map(|(id, levels)| levels.levels.0.iter().map(move |of| (*id, of)));
            let all = levels.chain(file.priors.0.iter().map(|of| ("", of)));
            all.map(|(id, (level, row))| format!("{id} {level} {:?}", row.learnt)).collect::<Vec<_>>()
        };
        let carried: File<'static> = serde_json::from_str(LEARNT).expect("what is carried can be read");
        assert_eq!(learnt(&carried), learnt(&file()));
        assert_eq!(carried.temperature.to_string(), file().temperature.to_string());
    }

    #[test]
    fn every_weight_is_of_a_cause_and_within_reason() {
        let file = file();
        let causes: BTreeSet<&str> = CauseId::ALL.iter().map(|cause| cause.id()).collect();
        let levels = file.mechanisms.0.iter().flat_map(|(_, levels)| &levels.levels.0).chain(&file.priors.0);
        for (_, level) in levels {
            for (cause, weight) in level.learnt.0.iter().chain(&level.stated.0) {
                assert!(causes.contains(cause), "{cause}");
                assert!(weight.abs() <= 8.0, "{cause}: {weight}");
            }
        }
    }

    #[test]
    fn a_level_of_fewer_than_three_sources_stays_at_what_is_stated() {
        for (id, levels) in file().mechanisms.0 {
            for (name, level) in levels.levels.0.iter().filter(|(_, level)| level.sources < 3) {
                let sorted = |pairs: &Pairs<'static, f64>| {
                    BTreeMap::from_iter(pairs.0.iter().map(|(cause, weight)| (*cause, weight.to_string())))
                };
                assert_eq!(sorted(&level.learnt), sorted(&level.stated), "{id} {name}");
            }
        }
    }
}
