//! cuSPARSE: descriptors, and buffers of no size. What a product of sparse matrices holds cannot be known without its
//! values: it has no elements here.

use crate::abi::{SUCCESS, Status, answers, creators, give};
use std::ffi::{c_char, c_int, c_void};

creators! { cusparseCreate cusparseCreateCsr cusparseCreateCsc cusparseCreateCoo cusparseCreateBsr cusparseCreateDnMat
cusparseCreateDnVec cusparseCreateConstCsr cusparseCreateConstDnMat cusparseCreateConstDnVec
cusparseCreateMatDescr cusparseSpGEMM_createDescr cusparseSpSM_createDescr cusparseSpSV_createDescr
cusparseCreateBsrsm2Info cusparseCreateBsrsv2Info }
answers! {
    cusparseSpMM_bufferSize(_ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSDDMM_bufferSize(_ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSpSM_bufferSize(_ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSpMV_bufferSize(_ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSpSV_bufferSize(_ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSpGEMM_workEstimation(_ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSpGEMM_compute(_ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseXcoosort_bufferSizeExt(_ _ _ _ _ _) -> usize = 0;
    cusparseXcsrsort_bufferSizeExt(_ _ _ _ _ _) -> usize = 0;
    cusparseScsrgeam2_bufferSizeExt(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseDcsrgeam2_bufferSizeExt(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseCcsrgeam2_bufferSizeExt(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseZcsrgeam2_bufferSizeExt(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cusparseSbsrsv2_bufferSize(_ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseDbsrsv2_bufferSize(_ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseCbsrsv2_bufferSize(_ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseZbsrsv2_bufferSize(_ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseSbsrsm2_bufferSize(_ _ _ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseDbsrsm2_bufferSize(_ _ _ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseCbsrsm2_bufferSize(_ _ _ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseZbsrsm2_bufferSize(_ _ _ _ _ _ _ _ _ _ _ _ _) -> c_int = 0;
    cusparseXbsrsm2_zeroPivot(_ _) -> c_int = -1;
    cusparseXbsrsv2_zeroPivot(_ _) -> c_int = -1;
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusparseSpMatGetSize(
    _matrix: *mut c_void,
    rows: *mut i64,
    columns: *mut i64,
    elements: *mut i64,
) -> Status {
    // SAFETY: places for three numbers.
    unsafe {
        give(rows, 0);
        give(columns, 0);
        give(elements, 0);
    }
    SUCCESS
}
/// The sum of two sparse matrices has at most the elements of both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusparseXcsrgeam2Nnz(
    _handle: *mut c_void,
    _rows: c_int,
    _columns: c_int,
    _a: *mut c_void,
    elements_a: c_int,
    _rows_a: *mut c_void,
    _columns_a: *mut c_void,
    _b: *mut c_void,
    elements_b: c_int,
    _rows_b: *mut c_void,
    _columns_b: *mut c_void,
    _c: *mut c_void,
    _rows_c: *mut c_void,
    out: *mut c_int,
    _workspace: *mut c_void,
) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, elements_a.saturating_add(elements_b)) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cusparseGetErrorString(_status: Status) -> *const c_char {
    c"no error".as_ptr()
}
