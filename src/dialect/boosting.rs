//! Gradient boosting: XGBoost, LightGBM, CatBoost on a GPU.
//!
//! XGBoost prints free and requested memory below its first line, in bytes before 2.0 and with binary units labelled
//! `GB`, `MB`, `KB` since (`src/common/device_helpers`); inside an exception's repr the line ends are literal `\n`.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Sign};
use crate::domain::{Number, Program};
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "boosting", triggers: &["emory allocation", "out of memory", "Out of memory"], read };

const PHRASES: [Phrase; 4] = [
    Phrase {
        words: &["Memoryallocationerroronworker"],
        dialect: "xgboost-memory-allocation",
        program: Program::Xgboost,
        sizes: &[(Fact::Free, "-Freememory:"), (Fact::Requested, "-Requestedmemory:")],
        lines: 6,
        ..PHRASE
    },
    Phrase {
        words: &["[LightGBM][Fatal]", "[CUDA]outofmemory"],
        and: &["[CUDA]outofmemory"],
        dialect: "lightgbm-cuda",
        program: Program::LightGbm,
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["Outofmemory.Requested"],
        dialect: "catboost-pool",
        program: Program::Catboost,
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["catboost/cuda/", "TCudaException"],
        and: &["outofmemory"],
        dialect: "catboost-cuda",
        program: Program::Catboost,
        signs: &[Sign::Disguised],
        lines: 3,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    if event.dialect == "catboost-pool" {
        // Bare numbers of MiB: `Requested 5083.25; Free 2340.5`.
        for (fact, words) in [(Fact::Requested, "Outofmemory.Requested"), (Fact::Free, ";Free")] {
            let Some(at) = notice.text.after(words, 0) else { continue };
            if let Some((figure, _)) = notice.text.number_of(at, "MiB", crate::units::Base::Binary) {
                event.facts.note(fact, figure);
            }
        }
        super::notice::settle(&mut event);
        event.signs.remove(&Sign::NoFigures);
    }
    if event.dialect == "xgboost-memory-allocation"
        && let Some((worker, _)) = notice.count("onworker", 0)
    {
        event.facts.numbers.insert(Number::Worker, (worker as f64, event.at));
    }
    Some(event)
}
