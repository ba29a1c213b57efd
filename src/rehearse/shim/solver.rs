//! cuSOLVER: workspaces of the size that LAPACK's blocked algorithms ask for.
//!
//! The real sizes are the library's own. These are of their order: a panel of 64 columns for factorisations, a few
//! copies of the matrix for eigenvalues and singular values.

use crate::abi::{SUCCESS, Status, creators, give};
use std::ffi::{c_int, c_void};

creators! { cusolverDnCreate cusolverDnCreateParams cusolverDnCreateGesvdjInfo cusolverDnCreateSyevjInfo }

/// Columns that a blocked factorisation works on at once.
const PANEL: i64 = 64;

fn panel(columns: i64) -> i64 {
    columns.max(1).saturating_mul(PANEL)
}
fn square(rows: i64, columns: i64) -> i64 {
    rows.max(1).saturating_mul(columns.max(1)).saturating_mul(2).saturating_add(panel(columns))
}
fn as_int(elements: i64) -> c_int {
    c_int::try_from(elements).unwrap_or(c_int::MAX)
}

/// `name(arguments…, out: *mut c_int, …)`: the number of elements of the workspace.
macro_rules! workspaces {
    ($($($name:ident)+ ($($argument:ident: $type:ty),*; $($after:ident),*) = $elements:expr;)*) => {$(
        workspaces!(@ [$($name)+] [$($argument: $type),*] [$($after),*] $elements);
    )*};
    (@ [$name:ident $($more:ident)*] [$($argument:ident: $type:ty),*] [$($after:ident),*] $elements:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type,)* out: *mut c_int $(, $after: usize)*) -> Status {
            $(let _ = $argument;)*
            $(let _ = $after;)*
            // SAFETY: a place for the number of elements.
            unsafe { give(out, as_int($elements)) };
            SUCCESS
        }
        workspaces!(@ [$($more)*] [$($argument: $type),*] [$($after),*] $elements);
    };
    (@ [] [$($argument:ident: $type:ty),*] [$($after:ident),*] $elements:expr) => {};
}
workspaces! {
    cusolverDnSgeqrf_bufferSize cusolverDnDgeqrf_bufferSize cusolverDnCgeqrf_bufferSize cusolverDnZgeqrf_bufferSize
    cusolverDnSgetrf_bufferSize cusolverDnDgetrf_bufferSize cusolverDnCgetrf_bufferSize cusolverDnZgetrf_bufferSize
        (h: usize, m: c_int, n: c_int, a: usize, lda: c_int;) = panel(m.max(n).into());
    cusolverDnSpotrf_bufferSize cusolverDnDpotrf_bufferSize cusolverDnCpotrf_bufferSize cusolverDnZpotrf_bufferSize
        (h: usize, uplo: c_int, n: c_int, a: usize, lda: c_int;) = panel(n.into());
    cusolverDnSorgqr_bufferSize cusolverDnDorgqr_bufferSize cusolverDnCungqr_bufferSize cusolverDnZungqr_bufferSize
        (h: usize, m: c_int, n: c_int, k: c_int, a: usize, lda: c_int, tau: usize;) = panel(m.max(n).into());
    cusolverDnSormqr_bufferSize cusolverDnDormqr_bufferSize cusolverDnCunmqr_bufferSize cusolverDnZunmqr_bufferSize
        (h: usize, side: c_int, op: c_int, m: c_int, n: c_int, k: c_int, a: usize, lda: c_int, tau: usize, c: usize,
         ldc: c_int;) = panel(m.max(n).into());
    cusolverDnSgesvd_bufferSize cusolverDnDgesvd_bufferSize cusolverDnCgesvd_bufferSize cusolverDnZgesvd_bufferSize
        (h: usize, m: c_int, n: c_int;) = square(m.into(), n.into());
    cusolverDnSgesvdj_bufferSize cusolverDnDgesvdj_bufferSize cusolverDnCgesvdj_bufferSize cusolverDnZgesvdj_bufferSize
        (h: usize, job: c_int, econ: c_int, m: c_int, n: c_int, a: usize, lda: c_int, s: usize, u: usize, ldu: c_int,
         v: usize, ldv: c_int; params) = square(m.into(), n.into());
    cusolverDnSgesvdjBatched_bufferSize cusolverDnDgesvdjBatched_bufferSize cusolverDnCgesvdjBatched_bufferSize
    cusolverDnZgesvdjBatched_bufferSize
        (h: usize, job: c_int, m: c_int, n: c_int, a: usize, lda: c_int, s: usize, u: usize, ldu: c_int, v: usize,
         ldv: c_int; params, batch) = square(m.into(), n.into());
    cusolverDnSgesvdaStridedBatched_bufferSize cusolverDnDgesvdaStridedBatched_bufferSize
    cusolverDnCgesvdaStridedBatched_bufferSize cusolverDnZgesvdaStridedBatched_bufferSize
        (h: usize, job: c_int, rank: c_int, m: c_int, n: c_int, a: usize, lda: c_int, sa: usize, s: usize, ss: usize,
         u: usize, ldu: c_int, su: usize, v: usize, ldv: c_int, sv: usize; batch) = square(m.into(), n.into());
    cusolverDnSsyevd_bufferSize cusolverDnDsyevd_bufferSize cusolverDnCheevd_bufferSize cusolverDnZheevd_bufferSize
        (h: usize, job: c_int, uplo: c_int, n: c_int, a: usize, lda: c_int, w: usize;) = square(n.into(), n.into());
    cusolverDnSsyevj_bufferSize cusolverDnDsyevj_bufferSize cusolverDnCheevj_bufferSize cusolverDnZheevj_bufferSize
        (h: usize, job: c_int, uplo: c_int, n: c_int, a: usize, lda: c_int, w: usize; params) =
            square(n.into(), n.into());
    cusolverDnSsyevjBatched_bufferSize cusolverDnDsyevjBatched_bufferSize cusolverDnCheevjBatched_bufferSize
    cusolverDnZheevjBatched_bufferSize
        (h: usize, job: c_int, uplo: c_int, n: c_int, a: usize, lda: c_int, w: usize; params, batch) =
            square(n.into(), n.into());
    cusolverDnSsytrf_bufferSize cusolverDnDsytrf_bufferSize cusolverDnCsytrf_bufferSize cusolverDnZsytrf_bufferSize
        (h: usize, n: c_int, a: usize, lda: c_int;) = panel(n.into());
}

/// `cudaDataType`: real and complex numbers of 32 and 64 bits.
fn width(kind: c_int) -> i64 {
    match kind {
        5 => 16,
        1 | 4 => 8,
        _ => 4,
    }
}
unsafe fn give_bytes(device: *mut usize, host: *mut usize, elements: i64, kind: c_int) -> Status {
    // SAFETY: places for the bytes on the device and on the host.
    unsafe {
        give(device, elements.saturating_mul(width(kind)).max(0) as usize);
        give(host, 0);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXgeqrf_bufferSize(
    _handle: *mut c_void,
    _params: *mut c_void,
    m: i64,
    n: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _tau_kind: c_int,
    _tau: *mut c_void,
    _compute: c_int,
    device: *mut usize,
    host: *mut usize,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, panel(m.max(n)), kind) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXgetrf_bufferSize(
    _handle: *mut c_void,
    _params: *mut c_void,
    m: i64,
    n: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _compute: c_int,
    device: *mut usize,
    host: *mut usize,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, panel(m.max(n)), kind) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXpotrf_bufferSize(
    _handle: *mut c_void,
    _params: *mut c_void,
    _uplo: c_int,
    n: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _compute: c_int,
    device: *mut usize,
    host: *mut usize,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, panel(n), kind) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXsyevd_bufferSize(
    _handle: *mut c_void,
    _params: *mut c_void,
    _job: c_int,
    _uplo: c_int,
    n: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _w_kind: c_int,
    _w: *mut c_void,
    _compute: c_int,
    device: *mut usize,
    host: *mut usize,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, square(n, n), kind) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXsyevBatched_bufferSize(
    _handle: *mut c_void,
    _params: *mut c_void,
    _job: c_int,
    _uplo: c_int,
    n: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _w_kind: c_int,
    _w: *mut c_void,
    _compute: c_int,
    device: *mut usize,
    host: *mut usize,
    batch: i64,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, square(n, n).saturating_mul(batch.max(1)), kind) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXgeev_bufferSize(
    _handle: *mut c_void,
    _params: *mut c_void,
    _left: c_int,
    _right: c_int,
    n: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _w_kind: c_int,
    _w: *mut c_void,
    _vl_kind: c_int,
    _vl: *mut c_void,
    _ldvl: i64,
    _vr_kind: c_int,
    _vr: *mut c_void,
    _ldvr: i64,
    _compute: c_int,
    device: *mut usize,
    host: *mut usize,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, square(n, n), kind) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnXsytrs_bufferSize(
    _handle: *mut c_void,
    _uplo: c_int,
    n: i64,
    _columns: i64,
    kind: c_int,
    _a: *mut c_void,
    _lda: i64,
    _pivots: *mut i64,
    _b_kind: c_int,
    _b: *mut c_void,
    _ldb: i64,
    device: *mut usize,
    host: *mut usize,
) -> Status {
    // SAFETY: as in `give_bytes`.
    unsafe { give_bytes(device, host, panel(n), kind) }
}
