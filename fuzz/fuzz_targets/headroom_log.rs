//! The log of a run that ran out of memory, as the evidence of headroom.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    oomdoc_fuzz::pages(&["headroom", "--log", "INPUT", "--batch", "4"], data);
});
