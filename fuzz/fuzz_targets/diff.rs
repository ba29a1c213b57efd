//! See `targets::diff`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::diff(&oomdoc_fuzz::Here, data));
