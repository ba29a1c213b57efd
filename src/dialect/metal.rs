//! Apple's Metal outside PyTorch: MLX's allocator and command buffers that ran out of the GPU's working set.

use super::notice::{PHRASE, Phrase, first_of, nearby};
use super::{Dialect, Event, Fact, Sign};
use crate::domain::{Number, Program};
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "metal", triggers: &["metal::malloc", "OutOfMemory", "llocate "], read };

const PHRASES: [Phrase; 5] = [
    // One buffer beyond what Metal makes (`mlx/backend/metal/allocator.cpp`).
    Phrase {
        words: &["[metal::malloc]Attemptingtoallocate"],
        dialect: "mlx-buffer-size",
        program: Program::Mlx,
        signs: &[Sign::Mps, Sign::RefusedByLimit, Sign::BufferSizeLimit],
        sizes: &[(Fact::Requested, "Attemptingtoallocate"), (Fact::Limit, "maximumallowedbuffersizeof")],
        ..PHRASE
    },
    // A count of buffers, not of bytes.
    Phrase {
        words: &["[metal::malloc]Resourcelimit("],
        dialect: "mlx-resource-limit",
        program: Program::Mlx,
        signs: &[Sign::Mps, Sign::RefusedByLimit],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["[malloc_or_wait]Unabletoallocate", "[metal::malloc]Unabletoallocate"],
        dialect: "mlx-unable-to-allocate",
        program: Program::Mlx,
        signs: &[Sign::Mps],
        sizes: &[(Fact::Requested, "Unabletoallocate")],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["kIOGPUCommandBufferCallbackErrorOutOfMemory"],
        and: &[],
        dialect: "metal-command-buffer",
        program: Program::Metal,
        signs: &[Sign::Mps],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["InsufficientMemory("],
        and: &["kIOGPUCommandBuffer"],
        dialect: "metal-command-buffer",
        program: Program::Metal,
        signs: &[Sign::Mps],
        lines: 2,
        ..PHRASE
    },
];

/// True where llama.cpp shows around a code of Metal's: its reader tells the failure.
pub(super) fn of_llama_cpp(document: &Document, position: usize) -> bool {
    nearby(document, position, 12, 6, &["ggml_metal", "ggml-metal", "llama_"])
}

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    if event.dialect == "mlx-resource-limit"
        && let Some((count, _)) = notice.count("Resourcelimit(", 0)
    {
        event.facts.numbers.insert(Number::ResourceLimitCount, (count as f64, event.at));
    }
    if event.dialect == "metal-command-buffer" {
        // llama.cpp and PyTorch print the same code below words of their own.
        if of_llama_cpp(document, position) {
            return None;
        }
        if nearby(document, position, 12, 12, &["[METAL]", "mlx"]) {
            event.program = Program::Mlx;
        } else if nearby(document, position, 12, 12, &["torch", "MPS"]) {
            event.program = Program::Pytorch;
        }
    }
    Some(event)
}
