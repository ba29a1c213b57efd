//! What the functions of all libraries share: status codes, opaque handles, C strings.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// `cudaError_t`, `CUresult`, `nvmlReturn_t` and the others are all `int` with 0 for success.
pub type Status = c_int;
pub const SUCCESS: Status = 0;
pub const INVALID_VALUE: Status = 1;
pub const OUT_OF_MEMORY: Status = 2;
pub const INVALID_DEVICE: Status = 101;
pub const SYMBOL_NOT_FOUND: Status = 500;
pub const NOT_SUPPORTED: Status = 801;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// A handle that nobody but us looks behind: a number that is unique in the process. Nothing is mapped there, so a
/// program that does look behind it is found out at once.
pub fn new_handle() -> *mut c_void {
    static NEXT: AtomicU64 = AtomicU64::new(0x0d00_0000_0000);
    NEXT.fetch_add(64, Ordering::Relaxed) as *mut c_void
}

/// Stores a value where the caller wants it; a null pointer means that he does not.
///
/// # Safety
/// `out` is null or valid for a write of `T`.
pub unsafe fn give<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not null, so valid by the contract above; unaligned pointers are allowed.
        unsafe { out.write_unaligned(value) };
    }
}

/// The text behind a C string, empty for a null pointer.
///
/// # Safety
/// `text` is null or a C string that lives as long as the result is used.
pub unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: not null, so a C string by the contract above.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

/// Writes a text with its final zero into a buffer of the caller's, cut to its length.
///
/// # Safety
/// `out` is null or valid for `room` bytes.
pub unsafe fn give_text(out: *mut c_char, room: usize, value: &str) {
    if out.is_null() || room == 0 {
        return;
    }
    let length = value.len().min(room - 1);
    // SAFETY: `length + 1 <= room` bytes are written.
    unsafe {
        std::ptr::copy_nonoverlapping(value.as_ptr().cast(), out, length);
        *out.add(length) = 0;
    }
}

/// Functions that create something opaque: they store a fresh handle through their first argument.
macro_rules! creators {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(out: *mut *mut std::ffi::c_void) -> $crate::abi::Status {
            // SAFETY: the first argument of this function is where the handle goes.
            unsafe { $crate::abi::give(out, $crate::abi::new_handle()) };
            $crate::abi::SUCCESS
        }
    )*};
}
/// Functions that always give the same status and write nothing.
macro_rules! constants {
    ($status:expr; $($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> $crate::abi::Status {
            $status
        }
    )*};
}
/// Functions that give a number through one of their arguments: `name(ignored…, out)`. `_` stands for an argument of
/// pointer size or smaller that is not looked at.
macro_rules! answers {
    ($($name:ident($($skip:tt)*) -> $type:ty = $value:expr;)*) => {$(
        answers!(@ $name [$($skip)*] [] $type, $value);
    )*};
    (@ $name:ident [_ $($rest:tt)*] [$($done:tt)*] $type:ty, $value:expr) => {
        answers!(@ $name [$($rest)*] [$($done)* _: usize,] $type, $value);
    };
    (@ $name:ident [] [$($done:tt)*] $type:ty, $value:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($done)* out: *mut $type) -> $crate::abi::Status {
            // SAFETY: the argument at this place is where the number goes.
            unsafe { $crate::abi::give(out, $value) };
            $crate::abi::SUCCESS
        }
    };
}
pub(crate) use {answers, constants, creators};
