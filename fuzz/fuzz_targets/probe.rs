//! Saved outputs of the drivers' tools.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    oomdoc_fuzz::json(&["probe", "--from", "INPUT"], include_str!("../../docs/probe.schema.json"), data);
    oomdoc_fuzz::pages(&["probe", "--from", "INPUT"], data);
});
