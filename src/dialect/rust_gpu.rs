//! Rust programs on a GPU: candle, burn and cudarc below them.

use super::notice::{PHRASE, Phrase, first_of, nearby};
use super::{Dialect, Event, Sign};
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "candle", triggers: &["OUT_OF_", "ALLOC_FAILED"], read };

const PHRASES: [Phrase; 2] = [
    Phrase {
        words: &["DriverError(CUDA_ERROR_OUT_OF_MEMORY"],
        dialect: "candle-driver-error",
        framework: "candle",
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["CublasError(CUBLAS_STATUS_ALLOC_FAILED", "CublasError(CUBLAS_STATUS_NOT_INITIALIZED"],
        dialect: "candle-cublas-error",
        framework: "candle",
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        lines: 1,
        ..PHRASE
    },
];

/// Lines of a backtrace that are looked at.
const BACKTRACE: usize = 40;

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, _) = first_of(document, position, &PHRASES)?;
    if nearby(document, position, BACKTRACE, BACKTRACE, &["burn_", "burn-", "burn::", "cubecl", "CubeCL"])
        && !nearby(document, position, BACKTRACE, BACKTRACE, &["candle_core", "candle_nn", "candle_transformers"])
    {
        event.framework = "burn";
    }
    if nearby(document, position, 0, BACKTRACE, &["safetensors::load", "Safetensors::load", "VarBuilder", "::load("]) {
        event.sign(Sign::EngineStartup);
    }
    Some(event)
}
