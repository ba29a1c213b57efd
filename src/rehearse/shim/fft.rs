//! cuFFT: plans without a work area.

use crate::abi::{SUCCESS, Status, answers, give};
use std::ffi::c_int;

answers! {
    cufftGetSize(_) -> usize = 0;
    cufftXtMakePlanMany(_ _ _ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cufftMakePlanMany(_ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cufftMakePlanMany64(_ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cufftGetVersion() -> c_int = 12_000;
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cufftCreate(out: *mut c_int) -> Status {
    // SAFETY: the place for the plan's number.
    unsafe { give(out, 1) };
    SUCCESS
}
