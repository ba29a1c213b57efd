//! Kernels that ask for more on-chip shared memory than a block may have: Triton, TorchInductor, ptxas, XLA's kernels.
//! Device memory has nothing to do with it.

use super::notice::{PHRASE, Phrase, first_of, nearby};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::input::Document;
use crate::units::Figure;

pub const DIALECT: Dialect = Dialect {
    name: "triton",
    triggers: &["shared memory", "too much shared", "RESOURCE_EXHAUSTED", "out of resource: triton_"],
    read,
};

const PHRASES: [Phrase; 3] = [
    Phrase {
        words: &["outofresource:"],
        and: &["Required:"],
        dialect: "triton-out-of-resource",
        program: Program::Triton,
        resource: Resource::CudaSharedMemory,
        sizes: &[(Fact::Requested, "Required:"), (Fact::Limit, "Hardwarelimit:")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["Sharedmemorysizelimitexceeded:", "sharedmemorysizelimitexceeded:"],
        dialect: "xla-shared-memory",
        program: Program::Jax,
        resource: Resource::CudaSharedMemory,
        sizes: &[(Fact::Requested, "requested"), (Fact::Limit, "available:")],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["usestoomuchshareddata("],
        dialect: "ptxas-shared-data",
        program: Program::Cuda,
        resource: Resource::CudaSharedMemory,
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    match event.dialect {
        "ptxas-shared-data" => {
            let at = notice.text.after("shareddata(", 0)?;
            let rest = notice.text.squeezed.get(at..)?;
            let (required, rest) = hexadecimal(rest)?;
            event.facts.note(Fact::Requested, Figure { bytes: required, half_width: 0, at: event.at });
            if let Some((limit, _)) = rest.strip_prefix("bytes,").and_then(hexadecimal) {
                event.facts.note(Fact::Limit, Figure { bytes: limit, half_width: 0, at: event.at });
            }
            event.signs.remove(&Sign::NoFigures);
            if nearby(document, position, 40, 10, &["triton"]) {
                event.program = Program::Triton;
            }
        }
        "triton-out-of-resource" => {
            // `registers`, `tensor memory`, `threads` are counts of something else than bytes.
            // TorchInductor names the kernel instead (runtime/triton_heuristics.py).
            let shared = ["outofresource:sharedmemory", "outofresource:triton_"];
            if !shared.iter().any(|words| notice.text.contains(words)) {
                for (fact, name) in [(Fact::Requested, Number::Required), (Fact::Limit, Number::HardwareLimit)] {
                    if let Some(figure) = event.facts.sizes.remove(&fact) {
                        event.facts.numbers.insert(name, (figure.bytes as f64, figure.at));
                    }
                }
            }
            if nearby(document, position, 40, 10, &["flag_gems", "FlagGems", "flaggems"]) {
                event.program = Program::FlagGems;
            }
        }
        _ => {}
    }
    Some(event)
}

/// `0x1a000…` as a number, and what follows it.
fn hexadecimal(text: &str) -> Option<(u64, &str)> {
    let digits = text.strip_prefix("0x")?;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    // `0xc000max`: the word behind it does not start with a hexadecimal digit, but `bytes` does.
    // Where nothing follows, the number may have been cut.
    let (number, rest) = digits.split_at(end);
    if rest.is_empty() {
        return None;
    }
    let (number, rest) = match number.strip_suffix('b').filter(|_| rest.starts_with("ytes")) {
        Some(number) => (number, &digits[number.len()..]),
        None => (number, rest),
    };
    Some((u64::from_str_radix(number, 16).ok()?, rest))
}
