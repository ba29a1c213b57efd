//! Configurations of models. What the end of the name says is a configuration, GGUF or safetensors; here the readers are
//! asked one by one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let line = ["headroom", "--model", "INPUT", "--gpu-memory", "24GiB", "--seq-len", "512", "--no-rehearsal"];
    oomdoc_fuzz::json(&line, include_str!("../../docs/headroom.schema.json"), data);
    oomdoc_fuzz::pages(&line, data);
    let _ = oomdoc::headroom::model_file::safetensors(data);
    let _ = oomdoc::headroom::model_file::gguf(data);
});
