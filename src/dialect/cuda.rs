//! CUDA's own errors in programs that no other dialect knows: `CUDA_ERROR_OUT_OF_MEMORY` and its kin.
//!
//! The last dialect to be asked: whoever knows the program that printed it tells more.

use super::Dialect;

pub const DIALECT: Dialect = Dialect {
    name: "cuda",
    triggers: &["out of memory", "ALLOC_FAILED", "OUT_OF_ME", "cudaErrorMemoryAllocation", "OutOfMemory"],
    read: super::pytorch::library::read,
};
