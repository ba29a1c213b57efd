//! See `targets::alloc_conf`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| oomdoc_fuzz::targets::alloc_conf(&oomdoc_fuzz::Here, data));
