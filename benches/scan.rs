//! What a large log costs: CPU and wall time and peak memory of `oomdoc explain` on 1 GB, against ripgrep that counts
//! the lines with the same literals, in one run on one machine; the search alone with fewer literals; the time that a
//! pasted message takes, and that of a megabyte of unlike failures. Each line is a row of the table of `.ci/bench`.
//!
//! Run with `cargo bench --bench scan`; needs `rg` and GNU time as `/usr/bin/time`. `OOMDOC_BENCH_MIB` sets another
//! size. The goals: at most 1.2 times ripgrep's time, under 32 MiB, under 15 ms for a paste and 5 s for the flood.

// A benchmark that cannot set up fails by panicking, and its figures go to the terminal.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 5;
/// A paste takes less than the clock of a process tells: so many in a row.
const PASTES: usize = 50;

const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 1 has a total capacity of \
    39.56 GiB of which 2.12 GiB is free. Including non-PyTorch memory, this process has 37.42 GiB memory in use. Of the \
    allocated memory 35.08 GiB is allocated by PyTorch, and 1.71 GiB is reserved by PyTorch but unallocated.";

/// CPU and wall seconds of a program and its peak resident memory in KiB.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    wall: f64,
    kibibytes: u64,
}

fn main() {
    let mebibytes: u64 = std::env::var("OOMDOC_BENCH_MIB").ok().and_then(|size| size.parse().ok()).unwrap_or(1024);
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("train.log");
    write_log(&log, mebibytes << 20);
    let literals = directory.path().join("literals");
    // In upper and lower case where oomdoc looks for both.
    let pattern = |literal: &&str| match literal.strip_prefix("(?i)") {
        Some(rest) => format!("(?i:{})", regex::escape(rest)),
        None => regex::escape(literal),
    };
    std::fs::write(&literals, oomdoc::dialect::literals().iter().map(pattern).collect::<Vec<_>>().join("\n")).unwrap();
    let paste = directory.path().join("paste.log");
    std::fs::write(&paste, MESSAGE).unwrap();
    let flood = directory.path().join("flood.log");
    write_flood(&flood, 1 << 20);

    let ripgrep = || {
        let mut command = timed("rg");
        command.args(["--count", "--file"]).arg(&literals).arg(&log);
        command
    };
    let explain = |file: &Path| {
        let mut command = timed(env!("CARGO_BIN_EXE_oomdoc"));
        command.args(["explain", "--format", "json"]).arg(file);
        command
    };
    let pastes = || {
        let mut command = timed("sh");
        let each = format!("for n in $(seq {PASTES}); do \"$0\" explain \"$1\" >/dev/null; done");
        command.args(["-c", &each, env!("CARGO_BIN_EXE_oomdoc")]).arg(&paste);
        command
    };
    let mut costs = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        costs[0].push(cost(ripgrep()));
        costs[1].push(cost(explain(&log)));
        costs[2].push(cost(pastes()));
        costs[3].push(cost(explain(&flood)));
    }
    let [theirs, ours, small, many] = costs.map(|costs| median(&costs));
    let row = |what: &str, measured: String, reference: &str, ratio: f64| {
        println!("| {what} | {measured} | {reference} | {ratio:.2} |");
    };
    let words = oomdoc::dialect::literals();
    let size = format!("a log of {mebibytes} MiB");
    let against = |seconds: f64| format!("ripgrep with the same {} patterns {seconds:.2} s", words.len());
    let seconds = |seconds: f64| format!("{seconds:.2} s");
    let processor = ours.seconds / theirs.seconds;
    row(&format!("{size}, processor"), seconds(ours.seconds), &against(theirs.seconds), processor);
    row(&format!("{size}, wall clock"), seconds(ours.wall), &against(theirs.wall), ours.wall / theirs.wall);
    for (what, cost) in [(size.as_str(), ours), ("a pasted message", small)] {
        let memory = cost.kibibytes as f64 / 1024.0;
        row(&format!("{what}, memory"), format!("{memory:.1} MiB"), "32 MiB at most", memory / 32.0);
    }
    let each = small.seconds / PASTES as f64 * 1e3;
    row("a pasted message, processor", format!("{each:.1} ms"), "15 ms at most", each / 15.0);
    row("a MiB of unlike failures, processor", seconds(many.seconds), "5 s at most", many.seconds / 5.0);
    let all = search(&log, &words);
    for share in [4, 2] {
        let part = words.len() / share;
        let what = format!("searching a GB for {part} of {} patterns", words.len());
        let taken = search(&log, &words[..part]);
        row(&what, seconds(taken), &format!("for all of them {all:.2} s"), taken / all);
    }
}

/// Seconds for each GB of a log, read in pieces that stay in the cache, of the search alone.
fn search(log: &Path, words: &[&str]) -> f64 {
    let literals = oomdoc::input::Literals::new(words.iter().copied());
    let mut file = File::open(log).unwrap();
    let (mut piece, mut bytes, mut time) = (vec![0; 256 << 10], 0.0, std::time::Duration::ZERO);
    loop {
        let length = file.read(&mut piece).unwrap();
        if length == 0 {
            return time.as_secs_f64() / bytes * 1e9;
        }
        let started = std::time::Instant::now();
        let _ = std::hint::black_box(literals.search(&piece[..length], |_| std::ops::ControlFlow::Continue(())));
        time += started.elapsed();
        bytes += length as f64;
    }
}

fn timed(program: &str) -> Command {
    let mut command = Command::new("/usr/bin/time");
    command.args(["--quiet", "--format", "%U %S %e %M", program]).stdout(Stdio::null());
    command
}

/// The middle of each figure by itself.
fn median(costs: &[Cost]) -> Cost {
    let middle = |of: fn(&Cost) -> f64| {
        let mut all: Vec<f64> = costs.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    Cost {
        seconds: middle(|cost| cost.seconds),
        wall: middle(|cost| cost.wall),
        kibibytes: middle(|cost| cost.kibibytes as f64) as u64,
    }
}

fn cost(mut command: Command) -> Cost {
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let figures: Vec<f64> =
        report.lines().last().unwrap_or_default().split(' ').filter_map(|figure| figure.parse().ok()).collect();
    match figures.as_slice() {
        [user, system, wall, peak] => Cost { seconds: user + system, wall: *wall, kibibytes: *peak as u64 },
        _ => panic!("no figures in: {report}"),
    }
}

/// A service of which every eighth line is a failure in words of its own.
fn write_flood(path: &Path, bytes: usize) {
    let mut text = String::new();
    for number in 1u64.. {
        use std::fmt::Write;
        for _ in 0..5 {
            writeln!(text, "worker_{}: step {number} loss 0.{}", number % 97, number * 7919 % 10_000).unwrap();
        }
        let asked = (number * 7_654_321) % (8 << 30) + (256 << 20);
        writeln!(text, "gridtool{number}: out of memory: cannot allocate {asked} bytes for table {number}").unwrap();
        writeln!(text, "{0}\n{0}", format_args!("retry later with other words {number}")).unwrap();
        if text.len() >= bytes {
            break;
        }
    }
    std::fs::write(path, text).unwrap();
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
