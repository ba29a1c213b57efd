//! Budgets, and every form that continuous integration takes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for format in ["terminal", "markdown", "github", "junit", "sarif", "json"] {
        oomdoc_fuzz::run(&["headroom", "--check", "--budget", "INPUT", "-f", format], data);
    }
});
