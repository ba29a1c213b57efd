//! NVRTC: compiles to nothing. Used by ATen for kernels that it generates, and by libraries with templates of kernels.

use crate::abi::{SUCCESS, Status, creators, give};
use crate::settings::settings;
use std::ffi::{c_char, c_int, c_void};

creators! { nvrtcCreateProgram }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> Status {
    let cuda = settings().cuda;
    // SAFETY: places for two numbers.
    unsafe {
        give(major, cuda / 1000);
        give(minor, cuda % 1000 / 10);
    }
    SUCCESS
}
macro_rules! sizes {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_program: *mut c_void, out: *mut usize) -> Status {
            // SAFETY: a place for a number: the final zero of a text.
            unsafe { give(out, 1) };
            SUCCESS
        }
    )*};
}
macro_rules! texts {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_program: *mut c_void, out: *mut u8) -> Status {
            // SAFETY: a buffer of the size that was given before, which is one byte.
            unsafe { give(out, 0) };
            SUCCESS
        }
    )*};
}
sizes! { nvrtcGetPTXSize nvrtcGetCUBINSize nvrtcGetProgramLogSize nvrtcGetLTOIRSize }
texts! { nvrtcGetPTX nvrtcGetCUBIN nvrtcGetProgramLog nvrtcGetLTOIR }
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetLoweredName(
    _program: *mut c_void,
    name: *const c_char,
    out: *mut *const c_char,
) -> Status {
    // SAFETY: a place for the name.
    unsafe { give(out, name) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(_status: Status) -> *const c_char {
    c"NVRTC_SUCCESS".as_ptr()
}
