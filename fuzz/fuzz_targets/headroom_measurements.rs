//! See `targets::headroom_measurements`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::headroom_measurements(&oomdoc_fuzz::Here, data));
