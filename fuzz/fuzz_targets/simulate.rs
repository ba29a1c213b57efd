//! Lists of requests to the allocator.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for conf in ["", "expandable_segments:True", "max_split_size_mb:64,garbage_collection_threshold:0.8"] {
        oomdoc_fuzz::run(&["simulate", "--capacity", "2GiB", "--conf", conf, "INPUT"], data);
    }
});
