//! Measured peaks, as CSV or the log of a training.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let line = ["headroom", "--measurements", "INPUT", "--gpu-memory", "24GiB"];
    oomdoc_fuzz::json(&line, include_str!("../../docs/headroom.schema.json"), data);
    oomdoc_fuzz::pages(&line, data);
});
