//! ONNX Runtime: its arena (`core/framework/bfc_arena.cc`), in plain bytes, and the CUDA provider's calls.
//!
//! The arena prints the same for the CPU and for CUDA, so the memory is told from the surroundings; where they are
//! silent, from a request that no accelerator could serve.

use super::notice::{PHRASE, Phrase, Words, first_of};
use super::{Dialect, Event, Fact, Resource, Sign, naming};
use crate::domain::Program;
use crate::evidence::Known;
use crate::input::Document;
use aho_corasick::AhoCorasick;

pub const DIALECT: Dialect = Dialect {
    name: "onnxruntime",
    triggers: &["llocate ", "out of memory", "ALLOC_FAILED", "smaller than requested"],
    read,
};

/// More than any accelerator has (the largest have 288 GB), and less than what only a bug can ask for.
const BEYOND_ACCELERATORS: std::ops::Range<u64> = (512 << 30)..(1 << 50);

const PHRASES: [Phrase; 4] = [
    Phrase {
        words: &["Failedtoallocatememoryforrequestedbufferofsize"],
        dialect: "onnxruntime-arena",
        program: Program::OnnxRuntime,
        sizes: &[(Fact::Requested, "requestedbufferofsize")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["Availablememoryof"],
        and: &["smallerthanrequestedbytesof"],
        dialect: "onnxruntime-arena-limit",
        program: Program::OnnxRuntime,
        signs: &[Sign::RefusedByLimit],
        sizes: &[(Fact::Requested, "requestedbytesof"), (Fact::Available, "Availablememoryof")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAfailure2:outofmemory", "CUDAerrorcudaErrorMemoryAllocation:outofmemory", "HIPfailure2:"],
        dialect: "onnxruntime-cuda",
        program: Program::OnnxRuntime,
        signs: &[Sign::Disguised],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["CUBLASfailure3:CUBLAS_STATUS_ALLOC_FAILED", "CUDNNfailure", "CUBLASfailure"],
        and: &["ALLOC_FAILED"],
        dialect: "onnxruntime-library",
        program: Program::OnnxRuntime,
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        lines: 3,
        ..PHRASE
    },
];

/// Lines around a message in which a provider may be named.
const BEFORE: usize = 60;
const AFTER: usize = 20;

static CUDA: Words = Words::new(|| {
    AhoCorasick::new([
        "CUDAExecutionProvider",
        "TensorrtExecutionProvider",
        "ROCMExecutionProvider",
        "MIGraphXExecutionProvider",
        "DmlExecutionProvider",
        "CUDA failure",
        "CUDA error",
        "cuda_call",
        "onnxruntime-gpu",
        "onnxruntime_gpu",
        "nvidia-smi",
        "GPU",
        "KIND_GPU",
        "device: cuda",
    ])
    .ok()
});

static CPU: Words = Words::new(|| {
    AhoCorasick::new([
        "CPUExecutionProvider",
        "device: cpu",
        "onnxruntime-node",
        // Wheels built there have no provider of a GPU that this arena serves.
        "/Users/runner/work",
        // Operators that only the CPU provider has.
        "TfIdfVectorizer",
        "TreeEnsemble",
        "LabelEncoder",
        "StringNormalizer",
        // The layout into which the CPU provider turns convolutions (`core/optimizer/nchwc_transformer.cc`).
        "_nchwc'",
    ])
    .ok()
});

static OWN: Words =
    Words::new(|| AhoCorasick::new(["onnxruntime", "ONNXRuntime", "OnnxRuntime", "onnx_runtime", "ORT_"]).ok());

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    // CNTK, from which the macro comes, and others print the same.
    if event.dialect == "onnxruntime-cuda" && !OWN.nearby(document, position, BEFORE, AFTER) {
        event.program = naming::caller(document, position).unwrap_or(Program::Cuda);
        event.rename("cuda-call");
    }
    if let Some((index, _)) = notice.count(";GPU=", 0)
        && let Ok(index) = u32::try_from(index)
    {
        event.facts.device = Known::Seen(index, event.at);
    }
    if event.dialect.starts_with("onnxruntime-arena") && !CUDA.nearby(document, position, BEFORE, AFTER) {
        let requested = event.facts.get(Fact::Requested).map_or(0, |figure| figure.bytes);
        if CPU.nearby(document, position, BEFORE, AFTER) || BEYOND_ACCELERATORS.contains(&requested) {
            event.resource = Resource::Host;
        }
    }
    Some(event)
}
