//! What a change or check can reach: the vendor's own tools, the board's own heap, addresses of 32 bits, the program's own
//! setting.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use oomdoc::input::Document;
use std::process::Command;

fn path_of(fixture: &str) -> String {
    format!("{}/fixtures/logs/{fixture}.log", env!("CARGO_MANIFEST_DIR"))
}

fn log_of(fixture: &str) -> String {
    std::fs::read_to_string(path_of(fixture)).unwrap()
}

/// The terminal's report on a fixture.
fn explain(fixture: &str) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_oomdoc")).args(["explain", "-v", &path_of(fixture)]).output().unwrap();
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn a_device_of_intel_is_looked_at_with_its_own_tool() {
    let report = explain("engines/vllm-on-xpu");
    assert!(report.contains("xpu-smi"), "{report}");
    assert!(!report.contains("nvidia") && !report.contains("CUDA_VISIBLE"), "{report}");
}

#[test]
fn nothing_is_typed_on_a_microcontroller() {
    let report = explain("host/board");
    assert!(report.contains("in pieces") || report.contains("fragmented"), "{report}");
    assert!(report.contains("print the free heap"), "{report}");
    for command in ["free -h", "swap", "ps -", "/proc/", "dmesg", "ulimit", "tracemalloc"] {
        assert!(!report.contains(command), "{command}: {report}");
    }
    let offers = offers_for(&log_of("host/board"));
    assert_eq!(offers.first(), Some(&"smaller-buffers"), "{offers:?}");
    // A script that talks to one runs on a computer, and a compiler for it too.
    let beside =
        "Traceback (most recent call last):\n  File \"C:\\iot\\esp32\\train.py\", line 3, in <module>\nMemoryError\n";
    assert!(offers_for(beside).contains(&"raise-host-limit"));
    let built = "Compiling sketch for arduino:avr\nmake: *** [sketch.o] Killed\n";
    assert!(!offers_for(built).contains(&"smaller-buffers"));
}

#[test]
fn more_memory_is_no_help_to_a_process_of_32_bits() {
    let text = log_of("host/go-32-bit");
    let offers = offers_for(&text);
    assert!(!offers.iter().any(|id| ["swap", "raise-host-limit"].contains(id)), "{offers:?}");
    assert!(lines_of(&text, "raise-runtime-limit").join("\n").contains("64-bit build"));
    // Stacks of 64 bits lie far above.
    let wide = text.replace("fp=0x2111", "fp=0xc0002111").replace("sp=0x2111", "sp=0xc0002111");
    assert!(offers_for(&wide).contains(&"raise-host-limit"));
}

#[test]
fn the_setting_that_a_message_names_is_the_line_to_change() {
    assert_eq!(lines_of(&log_of("host/own-setting"), "raise-runtime-limit"), ["GridCacheSize = <more>"]);
    let php = "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in \
               /srv/a.php on line 7\n";
    assert_eq!(lines_of(php, "raise-runtime-limit"), ["php -d memory_limit=<more> <your command>"]);
    assert!(!offers_for(php).iter().any(|id| ["swap", "raise-host-limit"].contains(id)));
}

#[test]
fn a_bus_error_of_a_job_is_seen_and_claims_no_more_than_it_tells() {
    let report = explain("launcher/bus-error");
    assert!(report.starts_with("A process died of a bus error"), "{report}");
    assert!(report.contains("--shm-size"), "{report}");
    // Of a program that is none in Python it may be anything.
    let other = Document::from_text("-", "$ ./solver grid.in\nstep 3\nsolver exited with code 135\n");
    assert!(oomdoc::dialect::events(&other).is_empty());
}

#[test]
fn trees_have_no_batch() {
    let failed = "xgboost.core.XGBoostError: [09:12:41] /workspace/src/common/device_helpers.cuh:414: Memory allocation \
                  error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: \
                  1048576\n- Requested memory: 734003200\n";
    assert!(!offers_for(&format!("bst.update(dtrain, i)\n{failed}")).contains(&"smaller-batch"));
}

#[test]
fn a_small_request_at_a_replay_buffer_means_the_buffer() {
    let failed = "Traceback (most recent call last):\n  File \"/w/main.py\", line 52, in <module>\n    run(1)\n  File \
                  \"/w/common/replay_buffer.py\", line 67, in sample\n    out[key] = self.buffers[key][idx]\n\
                  numpy.core._exceptions.MemoryError: Unable to allocate 28.9 MiB for an array with shape (32, 420, \
                  282) and data type float64\n";
    assert!(lines_of(failed, "read-less-at-once").join("\n").contains("buffer_size"));
}
