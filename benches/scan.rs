//! What a large log costs: CPU time and peak memory of `oomdoc explain` on 1 GB, against ripgrep that counts the lines
//! with the same literals, in one run on one machine; and the time that a pasted message takes.
//!
//! Run with `cargo bench --bench scan`; needs `rg` and GNU time as `/usr/bin/time`. `OOMDOC_BENCH_MIB` sets another size.
//! The goals: at most twice ripgrep's CPU time, under 32 MiB, and under 15 ms for a paste.

// A benchmark that cannot set up fails by panicking, and its figures go to the terminal.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 5;

const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 1 has a total capacity of \
    39.56 GiB of which 2.12 GiB is free. Including non-PyTorch memory, this process has 37.42 GiB memory in use. Of the \
    allocated memory 35.08 GiB is allocated by PyTorch, and 1.71 GiB is reserved by PyTorch but unallocated.";

/// CPU seconds of a program and its peak resident memory in KiB.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    kibibytes: u64,
}

fn main() {
    let mebibytes: u64 = std::env::var("OOMDOC_BENCH_MIB").ok().and_then(|size| size.parse().ok()).unwrap_or(1024);
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("train.log");
    write_log(&log, mebibytes << 20);
    let literals = directory.path().join("literals");
    std::fs::write(&literals, oomdoc::input::scan::literals().join("\n")).unwrap();
    let paste = directory.path().join("paste.log");
    std::fs::write(&paste, MESSAGE).unwrap();

    let ripgrep = || {
        let mut command = timed("rg");
        command.args(["--count", "--fixed-strings", "--no-mmap", "--file"]).arg(&literals).arg(&log);
        command
    };
    let explain = |file: &Path| {
        let mut command = timed(env!("CARGO_BIN_EXE_oomdoc"));
        command.args(["explain", "--format", "json"]).arg(file);
        command
    };
    let theirs = best(ripgrep);
    let ours = best(|| explain(&log));
    let small = best(|| explain(&paste));
    println!("log of {mebibytes} MiB, {} literals, best of {ROUNDS}", oomdoc::input::scan::literals().len());
    println!("ripgrep  {:6.2} s CPU", theirs.seconds);
    println!("explain  {:6.2} s CPU  {:6.1} MiB", ours.seconds, ours.kibibytes as f64 / 1024.0);
    println!("ratio    {:6.2}", ours.seconds / theirs.seconds);
    println!("a paste  {:6.2} s CPU  {:6.1} MiB", small.seconds, small.kibibytes as f64 / 1024.0);
}

fn timed(program: &str) -> Command {
    let mut command = Command::new("/usr/bin/time");
    command.args(["--quiet", "--format", "%U %S %M", program]).stdout(Stdio::null());
    command
}

fn best(command: impl Fn() -> Command) -> Cost {
    (0..ROUNDS).map(|_| cost(command())).min_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap()
}

fn cost(mut command: Command) -> Cost {
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let figures: Vec<f64> =
        report.lines().last().unwrap_or_default().split(' ').filter_map(|figure| figure.parse().ok()).collect();
    match figures.as_slice() {
        [user, system, peak] => Cost { seconds: user + system, kibibytes: *peak as u64 },
        _ => panic!("no figures in: {report}"),
    }
}

/// The log of a long run: eight ranks that write at once, progress bars, NCCL's chatter; three ranks fail at the end.
fn write_log(path: &Path, bytes: u64) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut line = String::new();
    let (mut written, mut step) = (0u64, 0u64);
    while written < bytes {
        use std::fmt::Write;
        line.clear();
        let rank = random(8);
        match random(10) {
            0..6 => {
                step += 1;
                let (hour, minute, second) = (random(24), random(60), random(60));
                writeln!(
                    line,
                    "2026-11-21 {hour:02}:{minute:02}:{second:02} [rank{rank}] INFO train.py:{} step {step} loss 0.{:04} \
                     grad_norm 1.{:03} allocated {}.{:02} GiB tokens/s {}",
                    random(900),
                    random(10_000),
                    random(1000),
                    20 + random(15),
                    random(100),
                    9000 + random(6000)
                )
            }
            6..8 => write!(line, "\rEpoch {}: {:3}%|{:<20}| {}/5000", random(9), random(100), "#".repeat(9), random(5000)),
            8 => writeln!(line, "node{rank}:{}:{} [{rank}] NCCL INFO Channel {:02}/0 via P2P", random(9999), random(9999), random(32)),
            _ => writeln!(line, "[rank{rank}]:   File \"/opt/train/layers.py\", line {}, in forward", random(2000)),
        }
        .unwrap();
        out.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
    }
    for rank in [1, 4, 6] {
        writeln!(out, "\n[rank{rank}]: {MESSAGE}").unwrap();
    }
    out.flush().unwrap();
}
