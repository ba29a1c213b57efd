//! See `targets::headroom_rehearsal`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::headroom_rehearsal(&oomdoc_fuzz::Here, data));
