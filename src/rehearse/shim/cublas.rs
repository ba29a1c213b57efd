//! cuBLAS, cuBLASLt and cuSPARSELt: handles, versions, one algorithm without workspace.

use crate::abi::{SUCCESS, Status, answers, creators, give};
use crate::settings::settings;
use std::ffi::{c_char, c_int, c_void};

creators! { cublasCreate_v2 cublasLtCreate cublasLtMatmulDescCreate cublasLtMatrixLayoutCreate
cublasLtMatmulPreferenceCreate cublasLtMatrixTransformDescCreate }
answers! {
    cublasGetVersion_v2(_) -> c_int = settings().cuda * 10;
    cublasGetPointerMode_v2(_) -> c_int = 0;
    cublasGetAtomicsMode(_) -> c_int = 0;
    cublasGetMathMode(_) -> c_int = 0;
    cublasGetStream_v2(_) -> usize = 0;
    cublasGetProperty(_) -> c_int = 0;
    cublasLtMatmulPreferenceGetAttribute(_ _) -> u64 = 0;
    // handle, plan or descriptors, size
    cusparseLtMatmulGetWorkspace(_ _) -> usize = 0;
    cusparseLtSpMMACompressedSize(_ _) -> usize = 0;
}
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    settings().cuda.max(0) as usize * 10
}
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetCudartVersion() -> usize {
    settings().cuda.max(0) as usize
}
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusString(_status: Status) -> *const c_char {
    c"the library function was refused".as_ptr()
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
pub struct Heuristic {
    algorithm: [u64; 8],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}
/// One algorithm that needs no workspace. Its first word differs from zero: a result full of zeros is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _handle: *mut c_void,
    _operation: *mut c_void,
    _a: *mut c_void,
    _b: *mut c_void,
    _c: *mut c_void,
    _d: *mut c_void,
    _preference: *mut c_void,
    wanted: c_int,
    results: *mut Heuristic,
    returned: *mut c_int,
) -> Status {
    let heuristic =
        Heuristic { algorithm: [1, 0, 0, 0, 0, 0, 0, 0], workspace: 0, state: 0, waves: 1.0, reserved: [0; 4] };
    // SAFETY: room for the wanted number of results, and a place for their number.
    unsafe {
        if wanted > 0 {
            give(results, heuristic);
        }
        give(returned, c_int::from(wanted > 0));
    }
    SUCCESS
}
/// Sizes of a matrix compressed to half its elements, with two bits of position each: (handle, plan, size, buffer).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusparseLtSpMMACompressedSize2(
    _handle: *mut c_void,
    _descriptor: *mut c_void,
    size: *mut usize,
    buffer: *mut usize,
) -> Status {
    // SAFETY: places for two numbers. The descriptor is the library's own and not looked into.
    unsafe {
        give(size, 512);
        give(buffer, 0);
    }
    SUCCESS
}
