//! See `targets::probe`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::probe(&oomdoc_fuzz::Here, data));
