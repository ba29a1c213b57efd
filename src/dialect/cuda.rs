//! CUDA's own errors in programs that no other dialect knows: `CUDA_ERROR_OUT_OF_MEMORY` and its kin.
//!
//! The last dialect to be asked: whoever knows the program that printed it tells more. Where the lines around the error
//! name the program, the failure is that program's.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Sign};
use crate::evidence::Known;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect {
    name: "cuda",
    triggers: &["out of memory", "ALLOC_FAILED", "OUT_OF_", "cudaErrorMemoryAllocation", "OutOfMemory"],
    read,
};

/// Programs by words that only they or their paths print, the more particular ones first.
const PROGRAMS: [(&str, &[&str]); 27] = [
    ("paddle", &["paddle"]),
    ("mxnet", &["mxnet", "MXNet"]),
    ("cupy", &["cupy", "chainer"]),
    ("numba", &["numba.cuda", "numba/cuda"]),
    ("dask-cuda", &["dask_cuda", "dask-cuda"]),
    ("xgboost", &["xgboost", "XGBoost"]),
    ("lightgbm", &["LightGBM", "lightgbm"]),
    ("catboost", &["catboost", "CatBoost"]),
    ("rapids", &["cudf", "cuml", "cugraph", "/rmm/", "raft/"]),
    ("onnxruntime", &["onnxruntime"]),
    ("tensorrt", &["[TRT]", "tensorrt", "TensorRT", "nvinfer"]),
    ("jax", &["jaxlib", "jax.", "jax/"]),
    ("tensorflow", &["tensorflow", "keras"]),
    ("candle", &["candle_core", "candle-core"]),
    ("burn", &["burn_cuda", "burn-cuda", "cubecl"]),
    ("julia", &["CUDA.jl", "CuArrays", ".julia/"]),
    ("taichi", &["taichi", "Taichi"]),
    ("lammps", &["LAMMPS"]),
    ("gromacs", &["GROMACS", "gromacs", "gmx mdrun"]),
    ("namd", &["NAMD"]),
    ("kokkos", &["Kokkos"]),
    ("opencv", &["cv::Exception", "OpenCV"]),
    ("blender", &["Blender", "Cycles"]),
    ("ffmpeg", &["ffmpeg", "cuvid", "nvenc"]),
    ("openmm", &["openmm", "OpenMM"]),
    ("amber", &["pmemd.cuda", "GpuBuffer::Allocate"]),
    ("colmap", &["COLMAP", "colmap"]),
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
        framework: "faiss",
        sizes: &[(Fact::Requested, "size")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["error==cudaSuccess(2vs.0)outofmemory"],
        dialect: "caffe-check",
        framework: "caffe",
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAError:outofmemory"],
        dialect: "darknet-cuda-error",
        framework: "darknet",
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
    // An encoder's session: a count of sessions as often as memory.
    Phrase {
        words: &["OpenEncodeSessionExfailed:outofmemory"],
        dialect: "nvenc-session",
        framework: "ffmpeg",
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["Cudafailure2'outofmemory'", "Cudafailure'outofmemory'", "Cudafailure2:outofmemory"],
        dialect: "nccl-cuda-failure",
        framework: "cuda",
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
        framework: "cuda",
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    if let Some((mut event, notice)) = first_of(document, position, &PHRASES) {
        if event.framework == "cuda" {
            event.framework = program(document, position).unwrap_or("cuda");
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
    if event.framework == "cuda" {
        if let Some(program) = program(document, position) {
            event.framework = program;
        } else if event.has(Sign::Hip) {
            event.framework = "rocm";
        }
    }
    Some(event)
}

/// The program that shows itself nearest to the error.
fn program(document: &Document, position: usize) -> Option<&'static str> {
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
