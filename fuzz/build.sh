#!/usr/bin/env bash
# Builds all targets with coverage for libFuzzer. Needs a nightly compiler; `cargo fuzz` does the same where it is installed.
set -euo pipefail
cd "$(dirname "$0")"
passes="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
export RUSTFLAGS="$passes -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
exec cargo +nightly build --locked --release --target x86_64-unknown-linux-gnu --bins
