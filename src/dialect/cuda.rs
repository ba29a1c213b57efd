//! CUDA's own errors in programs that no other dialect knows: `CUDA_ERROR_OUT_OF_MEMORY` and its kin.
//!
//! The last dialect to be asked: whoever knows the program that printed it tells more. Where the lines around the error
//! name the program, the failure is that program's.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Sign};
use crate::domain::Program;
use crate::evidence::Known;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect {
    name: "cuda",
    triggers: &["out of memory", "ALLOC_FAILED", "OUT_OF_", "cudaErrorMemoryAllocation", "OutOfMemory"],
    read,
};

/// Programs by words that only they or their paths print, the more particular ones first.
const PROGRAMS: [(Program, &[&str]); 27] = [
    (Program::Paddle, &["paddle"]),
    (Program::Mxnet, &["mxnet", "MXNet"]),
    (Program::Cupy, &["cupy", "chainer"]),
    (Program::Numba, &["numba.cuda", "numba/cuda"]),
    (Program::DaskCuda, &["dask_cuda", "dask-cuda"]),
    (Program::Xgboost, &["xgboost", "XGBoost"]),
    (Program::LightGbm, &["LightGBM", "lightgbm"]),
    (Program::Catboost, &["catboost", "CatBoost"]),
    (Program::Rapids, &["cudf", "cuml", "cugraph", "/rmm/", "raft/"]),
    (Program::OnnxRuntime, &["onnxruntime"]),
    (Program::TensorRt, &["[TRT]", "tensorrt", "TensorRT", "nvinfer"]),
    (Program::Jax, &["jaxlib", "jax.", "jax/"]),
    (Program::Tensorflow, &["tensorflow", "keras"]),
    (Program::Candle, &["candle_core", "candle-core"]),
    (Program::Burn, &["burn_cuda", "burn-cuda", "cubecl"]),
    (Program::Julia, &["CUDA.jl", "CuArrays", ".julia/"]),
    (Program::Taichi, &["taichi", "Taichi"]),
    (Program::Lammps, &["LAMMPS"]),
    (Program::Gromacs, &["GROMACS", "gromacs", "gmx mdrun"]),
    (Program::Namd, &["NAMD"]),
    (Program::Kokkos, &["Kokkos"]),
    (Program::OpenCv, &["cv::Exception", "OpenCV"]),
    (Program::Blender, &["Blender", "Cycles"]),
    (Program::Ffmpeg, &["ffmpeg", "cuvid", "nvenc"]),
    (Program::OpenMm, &["openmm", "OpenMM"]),
    (Program::Amber, &["pmemd.cuda", "GpuBuffer::Allocate"]),
    (Program::Colmap, &["COLMAP", "colmap"]),
];

/// Lines around the error in which a program may show itself.
const BEFORE: usize = 40;
const AFTER: usize = 15;

/// Wordings of single programs around the driver's words.
const PHRASES: [Phrase; 6] = [
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
    // An encoder's session: a count of sessions as often as memory.
    Phrase {
        words: &["OpenEncodeSessionExfailed:outofmemory"],
        dialect: "nvenc-session",
        program: Program::Ffmpeg,
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
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
        if event.program == Program::Cuda {
            event.program = program(document, position).unwrap_or(Program::Cuda);
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
    if event.program == Program::Cuda {
        if let Some(program) = program(document, position) {
            event.program = program;
        } else if event.has(Sign::Hip) {
            event.program = Program::Rocm;
        }
    }
    Some(event)
}

/// The program that shows itself nearest to the error.
fn program(document: &Document, position: usize) -> Option<Program> {
    let named = |text: &str| {
        PROGRAMS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word))).map(|(program, _)| *program)
    };
    let from = position.saturating_sub(BEFORE);
    let to = position.saturating_add(AFTER + 1).min(document.lines.len());
    let before = document.lines.get(from..=position).unwrap_or_default().iter().rev();
    let after = document.lines.get(position + 1..to).unwrap_or_default().iter();
    before.chain(after).find_map(|line| named(&line.text))
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
