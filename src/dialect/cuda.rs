//! CUDA's own errors in programs that no other dialect knows: `CUDA_ERROR_OUT_OF_MEMORY` and its kin.
//!
//! The last dialect to be asked: whoever knows the program that printed it tells more. Where the lines around the error
//! name the program, the failure is that program's.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Sign, naming};
use crate::domain::Program;
use crate::evidence::Known;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect {
    name: "cuda",
    triggers: &["out of memory", "ALLOC_FAILED", "OUT_OF_", "cudaErrorMemoryAllocation", "OutOfMemory"],
    read,
};

/// Wordings of single programs around the driver's words.
const PHRASES: [Phrase; 7] = [
    Phrase {
        words: &["StandardGpuResources:allocfail", "allocfailtype"],
        and: &["outofmemory"],
        dialect: "faiss-alloc-fail",
        program: Program::Faiss,
        sizes: &[(Fact::Requested, "size")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["error==cudaSuccess(2vs.0)outofmemory"],
        dialect: "caffe-check",
        program: Program::Caffe,
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAError:outofmemory"],
        dialect: "darknet-cuda-error",
        program: Program::Darknet,
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
    // xla/stream_executor/cuda: what a kernel takes for itself comes from the driver, beside XLA's pool.
    Phrase {
        words: &["FailedtolaunchCUDAkernel:"],
        and: &["withblockdimensions:", "CUDA_ERROR_OUT_OF_MEMORY"],
        dialect: "xla-launch",
        program: Program::Jax,
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        lines: 3,
        ..PHRASE
    },
    // An encoder's session: drivers that allow no further one refuse it with the code for memory, by public reports in
    // which lifting that limit was the cure.
    Phrase {
        words: &["OpenEncodeSessionExfailed:outofmemory"],
        dialect: "nvenc-session",
        program: Program::Ffmpeg,
        signs: &[Sign::Disguised, Sign::ForeignLibrary, Sign::SessionsRanOut],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["Cudafailure2'outofmemory'", "Cudafailure'outofmemory'", "Cudafailure2:outofmemory"],
        dialect: "nccl-cuda-failure",
        program: Program::Cuda,
        signs: &[Sign::Disguised, Sign::ForeignLibrary, Sign::Nccl],
        lines: 2,
        ..PHRASE
    },
    // Macros that many programs copy around each call.
    Phrase {
        words: &[
            "GPUassert:outofmemory",
            "cudaMallocfailed:outofmemory",
            "cudaMallocfailed(outofmemory)",
            "CUDAmallocfailed:outofmemory",
            "hipMallocfailed:outofmemory",
            "CUDAfailure:outofmemory",
            "CUDAruntimeerror:outofmemory",
            "CUDARuntimeError:outofmemory",
            "parallel_forfailed:outofmemory",
            "Allocatefailedoutofmemory",
            "thrust::system::system_error",
        ],
        and: &["outofmemory"],
        dialect: "cuda-call",
        program: Program::Cuda,
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    if let Some((mut event, notice)) = first_of(document, position, &PHRASES) {
        // Others copied darknet's words: its line ends with them.
        let others = || naming::caller(document, position);
        if event.program == Program::Darknet
            && let Some(program) = others().or_else(|| (!ends_with_words(document, position)).then_some(Program::Cuda))
            && program != Program::Darknet
        {
            event.program = program;
            event.rename("cuda-call");
        }
        if event.dialect == "faiss-alloc-fail"
            && let Some((index, _)) = notice.count("dev", notice.text.find("type", 0).unwrap_or(0))
            && let Ok(index) = u32::try_from(index)
        {
            event.facts.device = Known::Seen(index, event.at);
        }
        return Some(event);
    }
    let mut event = super::pytorch::library::read(document, position)?;
    if event.program == Program::Cuda && event.has(Sign::Hip) {
        event.program = Program::Rocm;
    }
    Some(event)
}

/// True where the words begin the line and the driver's end it. Behind an exception's name they are another's.
fn ends_with_words(document: &Document, position: usize) -> bool {
    let line = super::field::text(document, position).trim_end();
    let before = line.split_once("CUDA Error").map_or("", |(before, _)| before.trim_end());
    line.ends_with("out of memory") && !before.ends_with("Exception:")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors of CUDA are found on a line by PyTorch's triggers.
    #[test]
    fn triggers_are_among_those_of_pytorch() {
        let known = crate::dialect::pytorch::DIALECT.triggers;
        assert!(DIALECT.triggers.iter().all(|trigger| known.contains(trigger)));
    }
}
