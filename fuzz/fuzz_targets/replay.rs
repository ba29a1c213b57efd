//! See `targets::replay`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::replay(&oomdoc_fuzz::Here, data));
