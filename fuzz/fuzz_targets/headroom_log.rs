//! See `targets::headroom_log`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::headroom_log(&oomdoc_fuzz::Here, data));
