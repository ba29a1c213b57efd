//! See `targets::headroom_model`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::headroom_model(&oomdoc_fuzz::Here, data));
