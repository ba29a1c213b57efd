//! Apache MXNet: `cudaMalloc retry failed: out of memory` after its pool was flushed. No figures; being asynchronous,
//! it reports at the first call that waits.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "mxnet", triggers: &["out of memory"], read };

const PHRASES: [Phrase; 2] = [
    Phrase {
        words: &["cudaMallocretryfailed:outofmemory", "cudaMallocretryfailed:", "hipMallocretryfailed:outofmemory"],
        and: &["outofmemory"],
        dialect: "mxnet-cudamalloc-retry",
        program: Program::Mxnet,
        signs: &[Sign::Asynchronous],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["MXNetError:"],
        and: &["outofmemory"],
        dialect: "mxnet-cuda-error",
        program: Program::Mxnet,
        signs: &[Sign::Asynchronous, Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    Some(first_of(document, position, &PHRASES)?.0)
}
