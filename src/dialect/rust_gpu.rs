//! Rust programs on a GPU: candle, burn and cudarc below them.

use super::notice::{PHRASE, Phrase, Words, first_of};
use super::{Dialect, Event, Sign};
use crate::domain::Program;
use crate::input::Document;
use aho_corasick::AhoCorasick;

pub const DIALECT: Dialect = Dialect { name: "candle", triggers: &["OUT_OF_", "ALLOC_FAILED"], read };

const PHRASES: [Phrase; 2] = [
    Phrase {
        words: &["DriverError(CUDA_ERROR_OUT_OF_MEMORY"],
        dialect: "candle-driver-error",
        program: Program::Candle,
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["CublasError(CUBLAS_STATUS_ALLOC_FAILED", "CublasError(CUBLAS_STATUS_NOT_INITIALIZED"],
        dialect: "candle-cublas-error",
        program: Program::Candle,
        signs: &[Sign::Disguised, Sign::ForeignLibrary, Sign::Cublas],
        lines: 1,
        ..PHRASE
    },
];

static BURN: Words = Words::new(|| AhoCorasick::new(["burn_", "burn-", "burn::", "cubecl", "CubeCL"]).ok());
static CANDLE: Words = Words::new(|| AhoCorasick::new(["candle_core", "candle_nn", "candle_transformers"]).ok());
static LOADING: Words =
    Words::new(|| AhoCorasick::new(["safetensors::load", "Safetensors::load", "VarBuilder", "::load("]).ok());

/// Lines of a backtrace that are looked at.
const BACKTRACE: usize = 25;

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, _) = first_of(document, position, &PHRASES)?;
    if BURN.nearby(document, position, BACKTRACE, BACKTRACE) && !CANDLE.nearby(document, position, BACKTRACE, BACKTRACE)
    {
        event.program = Program::Burn;
    }
    if LOADING.nearby(document, position, 0, BACKTRACE) {
        event.sign(Sign::EngineStartup);
    }
    Some(event)
}
