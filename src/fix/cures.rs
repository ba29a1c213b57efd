//! How likely each fix cures each cause: the data of `cures.json`.
//!
//! A fix's row names the causes that it may cure. Under `when` stand circumstances of an incident in which other
//! probabilities hold; a fix says with [`super::draft::Draft::when`] whether one is given.

use crate::cause::CauseId;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

/// P(cured | cause) by cause.
pub type Table = BTreeMap<CauseId, f64>;

/// What the file says of one fix.
#[derive(Debug, Default, Deserialize)]
pub struct Row {
    #[serde(deserialize_with = "table")]
    pub cures: Table,
    /// Circumstances and what holds in them instead.
    #[serde(default, deserialize_with = "tables")]
    pub when: BTreeMap<String, Table>,
}

#[derive(Debug, Deserialize)]
struct File {
    fixes: BTreeMap<String, Row>,
}

const TEXT: &str = include_str!("cures.json");

/// Read once, for the first failure that is explained.
static ROWS: LazyLock<BTreeMap<String, Row>> = LazyLock::new(|| {
    // The file is part of the program and a test reads it.
    serde_json::from_str::<File>(TEXT).map(|file| file.fixes).unwrap_or_default()
});

/// The row of a fix; an empty one for a fix that cures nothing and only says so.
pub fn of(id: &str) -> &'static Row {
    static NONE: Row = Row { cures: BTreeMap::new(), when: BTreeMap::new() };
    ROWS.get(id).unwrap_or(&NONE)
}

fn causes<E: serde::de::Error>(named: BTreeMap<String, f64>) -> Result<Table, E> {
    let known = |name: String| CauseId::from_str(&name).map_err(|_| E::custom(format!("no cause is called {name}")));
    named.into_iter().map(|(name, cured)| Ok((known(name)?, cured))).collect()
}

fn table<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Table, D::Error> {
    causes(BTreeMap::deserialize(from)?)
}

fn tables<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Table>, D::Error> {
    let named = BTreeMap::<String, BTreeMap<String, f64>>::deserialize(from)?;
    named.into_iter().map(|(when, table)| Ok((when, causes(table)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::FIXES;

    #[test]
    fn the_file_holds_probabilities_of_known_fixes_only() {
        let file: File = serde_json::from_str(TEXT).expect("cures.json");
        for (id, row) in &file.fixes {
            assert!(FIXES.iter().any(|fix| fix.id == id), "no fix is called {id}");
            for table in row.when.values().chain([&row.cures]) {
                assert!(table.values().all(|cured| (0.0..1.0).contains(cured)), "{id}: {table:?}");
            }
        }
        for fix in FIXES {
            assert!(file.fixes.contains_key(fix.id), "{} has no row", fix.id);
        }
    }
}
