//! CuPy and what is built on it: its pool's message, in plain bytes with thousands separators (`cupy/cuda/memory.pyx`).

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "cupy", triggers: &["Out of memory", "out of memory", "cudaErrorMemoryAllocation"], read };

const PHRASES: [Phrase; 3] = [
    Phrase {
        words: &["Outofmemoryallocating"],
        and: &["allocatedsofar:"],
        dialect: "cupy-pool",
        program: Program::Cupy,
        sizes: &[
            (Fact::Requested, "Outofmemoryallocating"),
            (Fact::Allocated, "allocatedsofar:"),
            (Fact::FractionLimit, "limitsetto:"),
            (Fact::Limit, "limitsetto:"),
        ],
        ..PHRASE
    },
    // Before 7.0: `out of memory to allocate N bytes (total M bytes)`.
    Phrase {
        words: &["outofmemorytoallocate", "Outofmemoryallocating"],
        // Without the total it is any program's: `CPLMalloc(): Out of memory allocating 4096 bytes`.
        and: &["bytes(total"],
        dialect: "cupy-pool",
        program: Program::Cupy,
        sizes: &[
            (Fact::Requested, "outofmemorytoallocate"),
            (Fact::Requested, "Outofmemoryallocating"),
            (Fact::Allocated, "(total"),
        ],
        ..PHRASE
    },
    Phrase {
        words: &["CUDARuntimeError:cudaErrorMemoryAllocation", "CUDADriverError:CUDA_ERROR_OUT_OF_MEMORY"],
        dialect: "cupy-runtime",
        program: Program::Cupy,
        signs: &[Sign::Disguised],
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, _) = first_of(document, position, &PHRASES)?;
    // XLA on the CPU says `Out of memory allocating N bytes.` too, OpenACC's runtime `… bytes of device memory`.
    let others = ["RESOURCE_EXHAUSTED", "of device memory"];
    if event.dialect == "cupy-pool" && others.iter().any(|words| event.message.contains(words)) {
        return None;
    }
    for fact in [Fact::Limit, Fact::FractionLimit] {
        // 0 stands for no limit.
        if event.facts.get(fact).is_some_and(|limit| limit.bytes == 0) {
            event.facts.sizes.remove(&fact);
        }
    }
    Some(event)
}
