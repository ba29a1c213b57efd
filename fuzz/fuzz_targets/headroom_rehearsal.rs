//! Answers of `oomdoc rehearse`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    oomdoc_fuzz::pages(&["headroom", "--rehearsal", "INPUT"], data);
});
