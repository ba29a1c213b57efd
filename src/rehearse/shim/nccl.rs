//! NCCL: every rank is alone with its buffers, and the others have what it has.

use crate::abi::{SUCCESS, Status, answers, creators, give, new_handle};
use crate::memory;
use crate::runtime::copy;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// Ranks and own rank of each communicator.
static COMMUNICATORS: Mutex<BTreeMap<usize, (c_int, c_int)>> = Mutex::new(BTreeMap::new());

/// The lock, to be held while a thread forks.
pub fn held() -> Box<dyn std::any::Any> {
    Box::new(COMMUNICATORS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn communicator(handle: *mut c_void) -> (c_int, c_int) {
    let table = COMMUNICATORS.lock().unwrap_or_else(PoisonError::into_inner);
    table.get(&(handle as usize)).copied().unwrap_or((1, 0))
}
unsafe fn create(out: *mut *mut c_void, ranks: c_int, rank: c_int) -> Status {
    let handle = new_handle();
    COMMUNICATORS.lock().unwrap_or_else(PoisonError::into_inner).insert(handle as usize, (ranks, rank));
    // SAFETY: the place for the communicator.
    unsafe { give(out, handle) };
    SUCCESS
}

creators! { ncclRedOpCreatePreMulSum }
answers! {
    ncclCommGetAsyncError(_) -> c_int = 0;
    ncclCommRegister(_ _ _) -> usize = 1;
    ncclCommWindowRegister(_ _ _) -> usize = 1;
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, 22_809) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(_status: Status) -> *const c_char {
    c"no error".as_ptr()
}
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_communicator: *mut c_void) -> *const c_char {
    c"".as_ptr()
}
/// `ncclUniqueId`, which goes by value.
#[repr(C)]
pub struct UniqueId([u8; 128]);
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(out: *mut UniqueId) -> Status {
    // SAFETY: a place for the 128 bytes.
    unsafe { give(out, UniqueId([7; 128])) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(out: *mut *mut c_void, ranks: c_int, _id: UniqueId, rank: c_int) -> Status {
    // SAFETY: the place for the communicator.
    unsafe { create(out, ranks, rank) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRankConfig(
    out: *mut *mut c_void,
    ranks: c_int,
    _id: UniqueId,
    rank: c_int,
    _configuration: *mut c_void,
) -> Status {
    // SAFETY: as above.
    unsafe { create(out, ranks, rank) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRankScalable(
    out: *mut *mut c_void,
    ranks: c_int,
    rank: c_int,
    _ids: c_int,
    _id: *const UniqueId,
    _configuration: *mut c_void,
) -> Status {
    // SAFETY: as above.
    unsafe { create(out, ranks, rank) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitAll(out: *mut *mut c_void, devices: c_int, _list: *const c_int) -> Status {
    for rank in 0..devices.max(0) {
        // SAFETY: room for as many communicators as there are devices.
        unsafe { create(out.wrapping_add(rank as usize), devices, rank) };
    }
    SUCCESS
}
/// A part of a communicator; without the others' colours, all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommSplit(
    parent: *mut c_void,
    color: c_int,
    _key: c_int,
    out: *mut *mut c_void,
    _configuration: *mut c_void,
) -> Status {
    let (ranks, rank) = communicator(parent);
    // SAFETY: the place for the communicator, or for the null of a rank without colour.
    unsafe {
        if color < 0 {
            give(out, std::ptr::null_mut());
            SUCCESS
        } else {
            create(out, ranks, rank)
        }
    }
}
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommDestroy(handle: *mut c_void) -> Status {
    COMMUNICATORS.lock().unwrap_or_else(PoisonError::into_inner).remove(&(handle as usize));
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommAbort(handle: *mut c_void) -> Status {
    ncclCommDestroy(handle)
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommCount(handle: *mut c_void, out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, communicator(handle).0) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommUserRank(handle: *mut c_void, out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, communicator(handle).1) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommCuDevice(_handle: *mut c_void, out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, memory::current() as c_int) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclMemAlloc(out: *mut *mut c_void, size: usize) -> Status {
    // SAFETY: the place for the address. NCCL's own code for a refusal is 1.
    c_int::from(unsafe { crate::runtime::cudaMalloc(out, size) } != SUCCESS)
}
#[unsafe(no_mangle)]
pub extern "C" fn ncclMemFree(address: *mut c_void) -> Status {
    crate::runtime::cudaFree(address)
}

/// `ncclDataType_t`.
fn width(kind: c_int) -> usize {
    match kind {
        0 | 1 | 10 | 11 => 1,
        6 | 9 => 2,
        4 | 5 | 8 => 8,
        _ => 4,
    }
}
unsafe fn moved(to: *mut c_void, from: *const c_void, bytes: usize) -> Status {
    // Ranks that only send, or only receive, have nothing on the other side.
    if to.cast_const() == from || to.is_null() || from.is_null() {
        return SUCCESS;
    }
    // SAFETY: the caller's buffers.
    unsafe { copy(to, from, bytes) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllReduce(from: *const c_void, to: *mut c_void, count: usize, kind: c_int) -> Status {
    // SAFETY: buffers of `count` elements.
    unsafe { moved(to, from, count.saturating_mul(width(kind))) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclBroadcast(from: *const c_void, to: *mut c_void, count: usize, kind: c_int) -> Status {
    // SAFETY: as above.
    unsafe { moved(to, from, count.saturating_mul(width(kind))) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclReduce(from: *const c_void, to: *mut c_void, count: usize, kind: c_int) -> Status {
    // SAFETY: as above.
    unsafe { moved(to, from, count.saturating_mul(width(kind))) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclReduceScatter(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    kind: c_int,
    _operation: c_int,
    handle: *mut c_void,
) -> Status {
    let bytes = count.saturating_mul(width(kind));
    let own = bytes.saturating_mul(communicator(handle).1.max(0) as usize);
    // SAFETY: as above; the source has as many parts as there are ranks.
    unsafe { moved(to, from.wrapping_byte_add(own), bytes) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllGather(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    kind: c_int,
    handle: *mut c_void,
) -> Status {
    let bytes = count.saturating_mul(width(kind));
    for rank in 0..communicator(handle).0.max(0) as usize {
        // SAFETY: as above; the target has as many parts as there are ranks.
        unsafe { moved(to.wrapping_byte_add(bytes.saturating_mul(rank)), from, bytes) };
    }
    SUCCESS
}
