//! Numba's and PyCUDA's driver calls: `[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY`. No figures.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "numba", triggers: &["OUT_OF_", "out of memory"], read };

const PHRASES: [Phrase; 5] = [
    Phrase {
        words: &["CalltocuMemHostAlloc", "CalltocuMemAllocHost", "CalltocuMemHostRegister"],
        and: &["OUT_OF_MEMORY"],
        dialect: "numba-pinned",
        program: Program::Numba,
        resource: Resource::Host,
        signs: &[Sign::PinnedHost],
        ..PHRASE
    },
    Phrase {
        words: &["CalltocuDevicePrimaryCtxRetain", "CalltocuCtxCreate", "CalltocuCtxPushCurrent"],
        and: &["OUT_OF_MEMORY"],
        dialect: "numba-context",
        program: Program::Numba,
        signs: &[Sign::ContextCreation, Sign::Disguised],
        ..PHRASE
    },
    Phrase {
        words: &["Calltocu"],
        and: &["resultsinCUDA_ERROR_OUT_OF_MEMORY"],
        dialect: "numba-driver",
        program: Program::Numba,
        ..PHRASE
    },
    Phrase {
        words: &["Calltocu"],
        and: &["OUT_OF_MEMORY"],
        dialect: "numba-driver",
        program: Program::Numba,
        ..PHRASE
    },
    Phrase {
        words: &["pycuda._driver.MemoryError"],
        and: &["outofmemory"],
        dialect: "pycuda-driver",
        program: Program::PyCuda,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    Some(first_of(document, position, &PHRASES)?.0)
}
