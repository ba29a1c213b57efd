//! What a large log costs: CPU and wall time and peak memory of `oomdoc explain` on 1 GB, against ripgrep that counts
//! the lines with the same literals, in one run on one machine; the search alone with many more literals; and the time
//! that a pasted message takes.
//!
//! Run with `cargo bench --bench scan`; needs `rg` and GNU time as `/usr/bin/time`. `OOMDOC_BENCH_MIB` sets another
//! size. The goals: at most 1.2 times ripgrep's time, under 32 MiB, and under 15 ms for a paste.

// A benchmark that cannot set up fails by panicking, and its figures go to the terminal.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 5;

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
    let mut costs = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        costs[0].push(cost(ripgrep()));
        costs[1].push(cost(explain(&log)));
        costs[2].push(cost(explain(&paste)));
    }
    let [theirs, ours, small] = costs.map(|costs| median(&costs));
    println!("log of {mebibytes} MiB, {} literals, medians of {ROUNDS}", oomdoc::dialect::literals().len());
    println!("ripgrep  {:6.2} s CPU  {:6.2} s wall", theirs.seconds, theirs.wall);
    println!("explain  {:6.2} s CPU  {:6.2} s wall  {:6.1} MiB", ours.seconds, ours.wall, mebi(ours));
    println!("ratio    {:6.2}        {:6.2}", ours.seconds / theirs.seconds, ours.wall / theirs.wall);
    println!("a paste  {:6.2} s CPU  {:6.2} s wall  {:6.1} MiB", small.seconds, small.wall, mebi(small));
    for count in [16, 64, 128, 192, 240] {
        let words: Vec<&str> = oomdoc::dialect::literals().into_iter().chain(OTHER_WORDS.lines()).take(count).collect();
        println!("search   {:6.3} s for each GB with {} literals", search(&log, &words), words.len());
    }
}

fn mebi(cost: Cost) -> f64 {
    cost.kibibytes as f64 / 1024.0
}

/// Seconds for each GB of a log, read in pieces that stay in the cache, of the search alone.
fn search(log: &Path, words: &[&str]) -> f64 {
    let literals = oomdoc::input::Literals::new(words.iter().copied());
    let mut file = File::open(log).unwrap();
    let (mut piece, mut bytes, mut time) = (vec![0; 256 << 10], 0, std::time::Duration::ZERO);
    loop {
        let length = file.read(&mut piece).unwrap();
        if length == 0 {
            return time.as_secs_f64() / f64::from(bytes) * 1e9;
        }
        let started = std::time::Instant::now();
        let _ = std::hint::black_box(literals.search(&piece[..length], |_| std::ops::ControlFlow::Continue(())));
        time += started.elapsed();
        bytes += length as u32;
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

/// Words of other programs that fail for want of memory, to see what more literals cost.
const OTHER_WORDS: &str = "\
hipErrorOutOfMemory\n\
HSA_STATUS_ERROR\n\
PI_ERROR_OUT\n\
UR_RESULT_ERROR\n\
ZE_RESULT_ERROR\n\
CL_MEM_OBJECT\n\
VK_ERROR_OUT\n\
D3D12\n\
DXGI_ERROR\n\
E_OUTOFMEMORY\n\
rtMalloc\n\
aclrtMalloc\n\
EZ9999\n\
MLU memory\n\
cnrtMalloc\n\
musaError\n\
XPU out\n\
insufficient resources\n\
Resource exhausted\n\
OutOfResources\n\
out of resource\n\
Evicted\n\
OOMKilled\n\
exit code 137\n\
MemoryPressure\n\
kubelet\n\
std::bad_array\n\
std::length_error\n\
vector::_M\n\
Cannot allocate\n\
cannot allocate\n\
ENOMEM\n\
errno 12\n\
Errno 12\n\
mmap failed\n\
page allocation failure\n\
swap space\n\
No space left\n\
hugepage\n\
vm.overcommit\n\
fork: retry\n\
heap out of memory\n\
Java heap\n\
GC overhead\n\
Container killed\n\
exceeded physical\n\
exceeded memory\n\
memory exceeded\n\
StepMemory\n\
Exceeded job memory\n\
PBS: job killed\n\
TERM_MEMLIMIT\n\
SIGBUS\n\
Bus error\n\
signal 7\n\
signal 9\n\
signal: 9\n\
earlyoom\n\
systemd-oomd\n\
oomd:\n\
lmkd:\n\
jetsam\n\
memorystatus\n\
MTLBuffer\n\
kIOGPU\n\
MPS backend\n\
MPSGraph\n\
ggml_backend\n\
ggml_gallocr\n\
llama_kv_cache\n\
failed to allocate\n\
unable to allocate\n\
Unable to allocate\n\
could not allocate\n\
Could not allocate\n\
failed to reserve\n\
kv cache\n\
KV cache\n\
No available blocks\n\
max_model_len\n\
preempted\n\
preemption\n\
RuntimeError: NVML\n\
CUBLAS_STATUS\n\
CUDNN_STATUS\n\
CUSOLVER_STATUS\n\
CUSPARSE_STATUS\n\
CURAND_STATUS\n\
CUFFT_ALLOC\n\
NCCL error\n\
ncclUnhandled\n\
ncclSystem\n\
shm_open\n\
/dev/shm/nccl\n\
thrust::system\n\
cudaMalloc\n\
cuMemAlloc\n\
cuMemCreate\n\
cuMemMap\n\
memory pool\n\
memory_pool\n\
arena\n\
BFCArena\n\
workspace\n\
Requested size\n\
requested size\n\
tensor is too large\n\
too large tensor\n\
size overflow\n\
integer overflow\n\
INT_MAX\n\
32-bit index\n\
SIGABRT\n\
SIGSEGV\n\
core dumped\n\
worker died\n\
Worker died\n\
actor died\n\
raylet\n\
object store\n\
ObjectStoreFull\n\
spilled\n\
plasma\n\
WorkerLost\n\
BrokenProcessPool\n\
TerminatedWorker\n\
polars\n\
arrow::Status\n\
DefaultCPUAllocator\n\
posix_memalign\n\
NVRM: Xid\n\
hipMalloc\n\
hsa_amd_memory\n\
aclnnMatmul\n\
torch_npu.npu\n\
cnmlMalloc\n\
gcuMalloc\n\
XlaRuntimeError\n\
PjRt\n\
libtpu\n\
HBM exhausted\n\
allocate more than\n\
exceeds the limit\n\
Memory cgroup\n\
oom_reaper\n\
oom_score_adj\n\
Killed by signal\n\
memory.max\n\
memory.events\n\
swapoff\n\
mmap: \n\
VirtualAlloc\n\
commit limit\n\
page file\n\
paging file\n\
0xC0000017\n\
0x8007000E\n\
std::system_error\n\
terminate called\n\
Aborted (core\n\
segfault at\n\
stack smashing\n\
thread panicked\n\
memory allocation of\n\
alloc::handle_alloc\n\
java.lang.OutOf\n\
Metaspace\n\
DirectByteBuffer\n\
ExecutorLostFailure\n\
YarnAllocator\n\
spark.executor\n\
dask.distributed\n\
distributed.nanny\n\
distributed.worker.memory\n\
loky.process_exec\n\
joblib.externals\n\
modin\n\
cudf::\n\
rmm::bad";
