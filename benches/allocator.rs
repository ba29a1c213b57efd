//! Requests per second of the simulated allocator, without output: a million requests of random sizes and lifetimes,
//! in the default settings and with expandable segments. Each line is a row of the table of `.ci/bench`.
//!
//! Run with `cargo bench --bench allocator`. `OOMDOC_BENCH_TRACE` names another trace. PyTorch's own allocator does 1.3
//! to 1.5 million a second on the trace of `tests/oracle/generate.py --profile chaos --seed 7 --ops 1000000`; the goal
//! is five times that.

// A benchmark that cannot set up fails by panicking, and its figures go to the terminal.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use oomdoc::allocator::config::{Config, TorchPlatform};
use oomdoc::allocator::device::{SimulatedDevice, Surroundings};
use oomdoc::allocator::replay::{self, Setup};
use oomdoc::allocator::trace::Trace;
use oomdoc::allocator::version::Version;
use std::time::Instant;

const ROUNDS: usize = 5;
/// Million requests a second of PyTorch's own allocator.
const PYTORCH: f64 = 1.4;

fn main() {
    let text = match std::env::var("OOMDOC_BENCH_TRACE") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => chaos(1_000_000),
    };
    let trace = Trace::parse(&text, 4).unwrap();
    for conf in ["", "expandable_segments:True"] {
        let (config, _) = Config::parse(conf, Version::NEWEST, TorchPlatform::Linux).unwrap();
        let setup = Setup {
            device: SimulatedDevice::new(8 << 30, 0),
            surroundings: Surroundings::default(),
            config,
            version: Version::NEWEST,
            fraction: None,
            no_caching: false,
        };
        let best = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                let outcome = replay::run_silently(&trace, &setup).unwrap();
                assert_eq!(outcome.requests, trace.ops.len());
                start.elapsed()
            })
            .min()
            .unwrap();
        let rate = trace.ops.len() as f64 / best.as_secs_f64() / 1e6;
        let name = if conf.is_empty() { "default" } else { conf };
        let ratio = rate / PYTORCH;
        println!("| allocator, {name} | {rate:.2} M requests/s | PyTorch's own {PYTORCH} M/s | {ratio:.1} |");
    }
}

/// Random sizes from 4 bytes to 1 GiB; live bytes stay below 6000 MiB, and one of the last 200 is freed as often as
/// one is added.
fn chaos(requests: usize) -> String {
    const MIB: u64 = 1 << 20;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below.max(1)
    };
    let mut live: Vec<(usize, u64)> = Vec::new();
    let (mut out, mut total, mut next) = (String::new(), 0, 0);
    let mut lines = 0;
    while lines < requests {
        if random(100) < 52 || live.is_empty() {
            let bytes = match random(100) {
                0..45 => 1 + random(MIB),
                45..75 => MIB + random(9 * MIB),
                75..97 => 10 * MIB + random(190 * MIB),
                _ => 200 * MIB + random(824 * MIB),
            };
            while total + bytes > 6000 * MIB && !live.is_empty() {
                let (id, size) = live.remove(0);
                total -= size;
                lines += 1;
                out.push_str(&format!("f {id}\n"));
            }
            live.push((next, bytes));
            total += bytes;
            out.push_str(&format!("a {next} {bytes}\n"));
            next += 1;
        } else {
            let from = live.len().saturating_sub(200);
            let (id, size) = live.remove(from + random((live.len() - from) as u64) as usize);
            total -= size;
            out.push_str(&format!("f {id}\n"));
        }
        lines += 1;
    }
    out
}
