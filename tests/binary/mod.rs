//! What the tests of the binary share: how it is started, and the fixtures.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod schema;

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The binary with nothing of the caller's surroundings that changes its output.
pub fn oomdoc() -> Command {
    Command::from_std(process())
}

/// The same as a process of the standard library, for tests that talk to it while it runs.
pub fn process() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_oomdoc"));
    for name in
        ["LC_ALL", "LC_MESSAGES", "LANGUAGE", "OOMDOC_LANG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TZ"]
    {
        command.env_remove(name);
    }
    // Answers must not hang on what Python this machine has.
    command.env("OOMDOC_NO_REHEARSAL", "1");
    command.env("LANG", "en_US.UTF-8").current_dir(root());
    command
}

/// Says on the terminal that this test was left out, and why; `println!` would be kept back by the harness, which takes
/// the test for passed. With `CI=true` it fails instead: such a machine should have what it takes.
pub fn skipped(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}, and CI=true asks for every test");
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Asserts that the work for `n` of something grows with `n` and not with its square, whatever else the machine does:
/// time on the processor counts, and only its ratio. Four times as much is done in four times as long, or in 16 times
/// if quadratic.
pub fn grows_linearly(name: &str, mut work: impl FnMut(usize)) {
    const MEASURABLE: Duration = Duration::from_millis(25);
    const MOST: usize = 1 << 20;
    let mut took = |n: usize| {
        let (before, started) = (time_on_processor(), Instant::now());
        work(n);
        match (before, time_on_processor()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => started.elapsed(),
        }
    };
    let mut n = 256;
    while n < MOST && took(n) < MEASURABLE {
        n *= 2;
    }
    // Once is enough: no quadratic work looks linear by chance.
    let linear = (0..3).any(|_| took(4 * n) < 8 * took(n));
    assert!(linear, "{name}: four times of {n} took more than eight times as long");
}

/// What this thread has had of a processor, where the system tells.
fn time_on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every log fixture, relative to the root, sorted.
pub fn logs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("fixtures/logs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "log") {
                found.push(path.strip_prefix(root()).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no fixtures");
    found
}

/// Runs the binary and returns its exit code, standard output and standard error.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    (
        output.status.code().expect("no signal"),
        String::from_utf8(output.stdout).expect("UTF-8"),
        String::from_utf8(output.stderr).expect("UTF-8"),
    )
}

/// What `explain --format json` prints of a log, in a language. A dozen tests look at the same documents: each is made
/// once.
pub fn json_of(log: &Path, lang: &str) -> Arc<str> {
    type Documents = Mutex<BTreeMap<(PathBuf, String), Arc<str>>>;
    static MADE: Documents = Mutex::new(BTreeMap::new());
    let key = (log.to_path_buf(), lang.to_string());
    if let Some(made) = MADE.lock().unwrap().get(&key) {
        return Arc::clone(made);
    }
    let document = outcome(oomdoc().args(["explain", "--format", "json", "--lang", lang]).arg(log)).1;
    let made: Arc<str> = document.into();
    MADE.lock().unwrap().insert(key, Arc::clone(&made));
    made
}

/// A message of PyTorch 2.x in which the cache would have held the request.
pub const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total \
capacity of 31.36 GiB of which 1.91 GiB is free. Including non-PyTorch memory, this process has 29.44 GiB memory in use. \
Of the allocated memory 24.18 GiB is allocated by PyTorch, and 4.73 GiB is reserved by PyTorch but unallocated. If \
reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid \
fragmentation.";
