//! Two snapshots, of which one is the fuzzer's.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/snapshots/private-pool.pickle");
    oomdoc_fuzz::json(&["diff", "INPUT", other], include_str!("../../docs/diff.schema.json"), data);
    oomdoc_fuzz::pages(&["diff", other, "INPUT"], data);
});
