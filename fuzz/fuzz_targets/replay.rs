//! Memory snapshots, pickled and as JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    oomdoc_fuzz::json(&["replay", "INPUT"], include_str!("../../docs/replay.schema.json"), data);
    oomdoc_fuzz::pages(&["replay", "-v", "INPUT"], data);
    oomdoc_fuzz::run(
        &["replay", "-f", "html", "--conf", "expandable_segments:True", "--capacity", "1GiB", "INPUT"],
        data,
    );
});
