//! Every command under every fault of the machine around it: a full disk, closed streams, few descriptors, little memory,
//! no home, input that cannot be read on, and signals. Each ends at once with the code it earned or with a sentence;
//! `docs/faults.md` is the table.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::generated::compare;
use super::rehearse::{PRELUDE, TRAINING};
use crate::binary::{self, process};
use rayon::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Nothing here takes so long, however loaded the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Each command by the head of its column, with what it needs to do its work. A word may begin with WORK, a folder of
/// the cell's own; where it begins with INPUT, the file behind it is what the command reads.
const COMMANDS: [(&str, &[&str]); 15] = [
    ("explain", &["explain", "INPUT/logs/pytorch/epoch-five.log"]),
    ("explain --json", &["explain", "--json", "INPUT/logs/pytorch/epoch-five.log"]),
    (
        "explain -s",
        &[
            "explain",
            "fixtures/logs/pytorch/snapshot-fragmentation.log",
            "-s",
            "INPUT/snapshots/fragmentation-oom.pickle",
        ],
    ),
    ("replay", &["replay", "INPUT/snapshots/leak-oom.pickle"]),
    ("replay -f html", &["replay", "-f", "html", "INPUT/snapshots/leak-oom.pickle"]),
    ("diff", &["diff", "INPUT/snapshots/leak-oom.pickle", "fixtures/snapshots/private-pool.pickle"]),
    ("simulate", &["simulate", "--capacity", "1GiB", "INPUT/traces/train.trace"]),
    ("headroom", &["headroom", "--measure", "8=6GiB", "--measure", "16=10GiB", "--gpu-memory", "24GiB"]),
    ("headroom --check", &["headroom", "--check", "--budget", "INPUT/../examples/ci/oomdoc.toml"]),
    ("headroom --update", &["headroom", "--update", "--budget", "WORK/oomdoc.toml"]),
    ("rules", &["rules", "fragmentation"]),
    ("probe", &["probe", "--root", "fixtures/host/bare-metal"]),
    ("run", &["run", "--quiet", "--", "echo", "over"]),
    ("run --record", &["run", "--quiet", "--record", "WORK/a.record", "--", "echo", "over"]),
    ("rehearse", &["rehearse", "--gpu-memory", "24GiB", "--addresses", "up", "--", "sh", "WORK/train.sh"]),
];

/// What is done to a command.
#[derive(Clone, Copy)]
enum Fault {
    /// A shell prepares the surroundings and becomes the command.
    Shell(&'static str),
    /// As [`Fault::Shell`] with nothing prepared, where the file that is read, or written, is this one.
    Instead(&'static str, &'static str),
    /// A signal while nobody reads what it writes.
    Signal(Signal),
}

/// The faults by the head of their rows.
const FAULTS: [(&str, Fault); 18] = [
    ("standard input closed", Fault::Shell("exec \"$@\" <&-")),
    ("standard output closed", Fault::Shell("exec \"$@\" >&-")),
    ("standard error closed", Fault::Shell("exec \"$@\" 2>&-")),
    ("a reader that has gone away", Fault::Shell("\"$@\" | true; exit ${PIPESTATUS[0]}")),
    ("a full disk behind standard output", Fault::Shell("exec \"$@\" >/dev/full")),
    ("a full disk behind the file it writes", Fault::Instead("WORK/a.record", "/dev/full")),
    ("no file may grow", Fault::Shell("trap '' XFSZ; ulimit -f 0; exec \"$@\"")),
    // It opens, and the first read fails.
    ("an I/O error in what it reads", Fault::Instead("INPUT", "/proc/self/mem")),
    ("folders in which nothing can be made", Fault::Shell("cd /proc; export HOME=/proc TMPDIR=/proc; exec \"$@\"")),
    ("neither HOME nor TMPDIR", Fault::Shell("unset HOME TMPDIR; exec \"$@\"")),
    ("a TMPDIR that is not there", Fault::Shell("TMPDIR=/nonexistent exec \"$@\"")),
    ("a working folder that was removed", Fault::Shell("d=$(mktemp -d); cd \"$d\"; rmdir \"$d\"; exec \"$@\"")),
    ("20 file descriptors", Fault::Shell("ulimit -n 20; exec \"$@\"")),
    ("64 MiB of addresses", Fault::Shell("ulimit -v 65536; exec \"$@\"")),
    ("SIGINT", Fault::Signal(Signal::INT)),
    ("SIGTERM", Fault::Signal(Signal::TERM)),
    ("SIGHUP", Fault::Signal(Signal::HUP)),
    ("SIGKILL", Fault::Signal(Signal::KILL)),
];

/// The folder of one cell of the matrix: what the command needs, and where its temporary files go.
struct Cell {
    folder: TempDir,
    arguments: Vec<String>,
}

impl Cell {
    fn new(words: &[&str], replaced: Option<(&str, &str)>) -> Cell {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        for made in [&work, &folder.path().join("tmp")] {
            std::fs::create_dir(made).unwrap();
        }
        budget_to_be_updated(&work);
        std::fs::write(work.join("train.sh"), format!("{PRELUDE}{TRAINING}")).unwrap();
        let argument = |word: &str| {
            if let Some((_, other)) = replaced.filter(|(which, _)| word.starts_with(which)) {
                return other.to_string();
            }
            match word.split_once('/') {
                Some(("WORK", name)) => work.join(name).display().to_string(),
                Some(("INPUT", name)) => binary::root().join("fixtures").join(name).display().to_string(),
                Some(("fixtures", _)) => binary::root().join(word).display().to_string(),
                _ => word.to_string(),
            }
        };
        let arguments = words.iter().map(|word| argument(word)).collect();
        Cell { folder, arguments }
    }

    /// Through a shell, with the surroundings of the tests.
    fn command(&self, script: &str) -> Command {
        let plain = process();
        // Whoever starts the tests may ignore signals, which is inherited.
        let mut shell = Command::new("env");
        shell.args(["--default-signal", "bash", "-c", script, "bash"]).arg(plain.get_program()).args(&self.arguments);
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("TMPDIR", self.folder.path().join("tmp"));
        shell.env_remove("XDG_RUNTIME_DIR").env_remove("GITHUB_STEP_SUMMARY");
        shell.current_dir(binary::root()).stdin(Stdio::null());
        shell
    }

    fn ended(&self, mut child: Child) -> Output {
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{:?} goes on", self.arguments);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }

    fn output(&self, script: &str) -> Output {
        let mut command = self.command(script);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        self.ended(command.spawn().unwrap())
    }

    /// The command is sent a signal where it waits for somebody who reads what it has written.
    fn signalled(&self, signal: Signal) -> Output {
        let (unread, mut full) = std::io::pipe().unwrap();
        full.write_all(&[b' '; 64 << 10]).unwrap();
        let mut command = self.command("exec \"$@\"");
        let mut child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let started = Instant::now();
        while !waits_to_write(child.id()) && child.try_wait().unwrap().is_none() && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Of those that write nothing there may be nobody left.
        let _ = kill_process(Pid::from_child(&child), signal);
        let output = self.ended(child);
        drop(unread);
        output
    }

    /// What lies in the folder for temporary files.
    fn left_behind(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("tmp")).unwrap().count()
    }
}

/// Whether a process is in a call that hands on what it has to say: `write` to standard output, or the `splice` by which
/// `run` passes on what the job writes. They have other numbers on 64-bit Arm.
fn waits_to_write(process: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let calls = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("syscall")).ok());
    calls.into_iter().any(|call| ["1 0x1 ", "64 0x1 ", "275 ", "76 "].iter().any(|start| call.starts_with(start)))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(output: &Output) -> usize {
    told(output).lines().count()
}

/// What a command does under a fault, for the page; `earned` is what it does without one.
fn outcome(words: &[&str], earned: &Output, fault: Fault) -> &'static str {
    let replaced = match fault {
        Fault::Instead(which, other) => Some((which, other)),
        _ => None,
    };
    if replaced.is_some_and(|(which, _)| !words.iter().any(|word| word.starts_with(which))) {
        return "";
    }
    let cell = Cell::new(words, replaced);
    let output = match fault {
        Fault::Shell(script) => cell.output(script),
        Fault::Instead(..) => cell.output("exec \"$@\""),
        Fault::Signal(signal) => cell.signalled(signal),
    };
    let said = told(&output);
    let case = || format!("{words:?}: {} {said}", output.status);
    assert!(!said.contains("panicked"), "{}", case());
    let signal = match fault {
        Fault::Signal(signal) => Some(signal.as_raw()),
        _ => None,
    };
    if signal != Some(9) {
        assert_eq!(cell.left_behind(), 0, "{}", case());
    }
    match output.status.code() {
        code if code == earned.status.code() => {
            if lines(&output) > lines(earned) {
                "✓, told"
            } else {
                "✓"
            }
        }
        Some(2) => {
            assert!(said.starts_with("error: ") && said.trim_end().lines().count() == 1, "{}", case());
            "told"
        }
        Some(code) if signal.is_some_and(|signal| [130, 128 + signal].contains(&code)) => "ends",
        None if signal.is_some() && output.status.signal() == signal => "ends",
        _ => panic!("{}, and {} without the fault", case(), earned.status),
    }
}

/// The page tells each cell, so that a command that begins to fail under a fault shows, and one that no longer does.
#[test]
fn every_command_under_every_fault() {
    let earned: Vec<Output> =
        COMMANDS.par_iter().map(|(_, words)| Cell::new(words, None).output("exec \"$@\"")).collect();
    assert!(earned.iter().all(|output| matches!(output.status.code(), Some(0 | 1 | 3))), "{earned:?}");
    let rows = FAULTS.par_iter().map(|(name, fault)| {
        let cells = COMMANDS.par_iter().zip(&earned).map(|((_, words), earned)| outcome(words, earned, *fault));
        let cells: Vec<&str> = cells.collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    });
    let rows: Vec<String> = rows.collect();
    let heads: Vec<String> = COMMANDS.iter().map(|(name, _)| format!("`{name}`")).collect();
    let page =
        format!("{PAGE}| | {} |\n|{}\n{}", heads.join(" | "), " --- |".repeat(COMMANDS.len() + 1), rows.concat());
    compare("docs", [("faults.md".into(), page)].into(), |name| name == Path::new("faults.md"));
}

const PAGE: &str = "# What faults of the machine do to a command\n\n\
    Each command, run by the tests under each fault (`tests/it/faults.rs`, which writes this page). Nothing panics,\n\
    nothing goes on for more than a moment, and nothing but SIGKILL leaves a file behind in the folder for temporary\n\
    files; what SIGKILL leaves there of `rehearse`, the next one sweeps.\n\n\
    - ✓: it does its work and exits as it does without the fault\n\
    - ✓, told: the same, and a line on standard error says what is missing\n\
    - told: exit code 2, with one line on standard error that says what is wrong\n\
    - ends: at once, by the signal or with its exit code; the signal is sent where nobody reads what it has written\n\
    - empty: the command reads, or writes, no file of which that could be true\n\n";

/// Where the input stands in each command that reads one.
const READERS: &[&[&str]] = &[
    &["explain", "INPUT"],
    &["replay", "INPUT"],
    &["diff", "INPUT", "fixtures/snapshots/leak-oom.pickle"],
    &["simulate", "--capacity", "1GiB", "INPUT"],
    &["headroom", "--measurements", "INPUT", "--gpu-memory", "24GiB"],
    &["headroom", "--model", "INPUT", "--gpu-memory", "24GiB"],
    &["headroom", "--rehearsal", "INPUT"],
    &["headroom", "--log", "INPUT"],
    &["probe", "--from", "INPUT"],
];

/// `/proc/self/mem` opens and answers the first read with EIO.
#[test]
fn input_that_cannot_be_read_is_named_in_a_sentence() {
    for reader in READERS {
        for input in ["/proc/self/mem", "/nonexistent/file", "/proc/1/environ/x", "tests/fakes"] {
            if reader[0] == "explain" && input == "tests/fakes" {
                continue; // a folder of logs is an input
            }
            let arguments: Vec<&str> = reader.iter().map(|word| if *word == "INPUT" { input } else { word }).collect();
            let output = Cell::new(&arguments, None).output("exec \"$@\"");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
            let file = Path::new(input).file_name().unwrap().to_str().unwrap();
            assert!(told(&output).contains(file), "{arguments:?}: {}", told(&output));
            assert!(!told(&output).contains("panicked"), "{arguments:?}: {}", told(&output));
        }
    }
}

/// The signals that this process ignores, one bit each.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

#[test]
fn a_signal_ends_whoever_waits_for_input() {
    for reader in READERS {
        // In the background of a script SIGINT is ignored, under nohup SIGHUP: by whoever is started there, too.
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9)] {
            if ignored() & 1 << (number - 1) != 0 {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let fifo = folder.path().join("input");
            assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
            let input = fifo.display().to_string();
            let arguments: Vec<&str> =
                reader.iter().map(|word| if *word == "INPUT" { input.as_str() } else { word }).collect();
            // Opened for both ends, it keeps whoever reads waiting.
            let mut both = std::fs::File::options().read(true).write(true).open(&fifo).unwrap();
            both.write_all(b"x").unwrap();
            let mut child = process().args(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(30));
            // One that takes no FIFO may have ended already.
            let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).stderr(Stdio::null()).status();
            let started = Instant::now();
            while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let ended_by_itself = child.try_wait().unwrap().is_some();
            child.kill().unwrap();
            let status = child.wait().unwrap();
            assert!(ended_by_itself, "{arguments:?} goes on after SIG{signal}");
            assert!(!status.success(), "{arguments:?}: {status}");
        }
    }
}

/// The example's budget with a peak that `--update` has to write down.
fn budget_to_be_updated(folder: &Path) {
    let example = |name: &str| std::fs::read_to_string(binary::root().join("examples/ci").join(name)).unwrap();
    let peaks = example("peaks.csv").replace("14909702144", "14909702656");
    std::fs::write(folder.join("peaks.csv"), peaks).unwrap();
    std::fs::write(folder.join("oomdoc.toml"), example("oomdoc.toml")).unwrap();
}

/// `--update` left an empty file behind when the disk was full.
#[test]
fn a_full_disk_leaves_the_budget_as_it_was() {
    let cell = Cell::new(&["headroom", "--update", "--budget", "WORK/oomdoc.toml"], None);
    let work = cell.folder.path().join("work");
    let budget = || std::fs::read_to_string(work.join("oomdoc.toml")).unwrap();
    let files = || std::fs::read_dir(&work).unwrap().count();
    let before = (budget(), files());

    let failed = cell.output("trap '' XFSZ; ulimit -f 0; exec \"$@\"");
    assert_eq!(failed.status.code(), Some(2), "{}", told(&failed));
    assert_eq!((budget(), files()), before, "something is left beside it");

    let done = cell.output("exec \"$@\"");
    assert!(told(&done).is_empty(), "{}", told(&done));
    assert_ne!(budget(), before.0);
}
