//! Every command under every fault of the machine around it: a full disk, closed streams, few descriptors, little memory,
//! no home, input that cannot be read on, and signals. Each ends at once with the code it earned or with a sentence.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::{self, process};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Each command with what it needs to do its work; `-` stands for its input where it has one.
const COMMANDS: &[&[&str]] = &[
    &["explain", "fixtures/logs/pytorch/epoch-five.log"],
    &["explain", "--json", "fixtures/logs/pytorch/epoch-five.log"],
    &[
        "explain",
        "fixtures/logs/pytorch/snapshot-fragmentation.log",
        "-s",
        "fixtures/snapshots/fragmentation-oom.pickle",
    ],
    &["replay", "fixtures/snapshots/leak-oom.pickle"],
    &["replay", "-f", "html", "fixtures/snapshots/leak-oom.pickle"],
    &["diff", "fixtures/snapshots/leak-oom.pickle", "fixtures/snapshots/private-pool.pickle"],
    &["simulate", "--capacity", "1GiB", "fixtures/traces/train.trace"],
    &["headroom", "--measure", "8=6GiB", "--measure", "16=10GiB", "--measure", "24=14GiB", "--gpu-memory", "24GiB"],
    &["rules", "fragmentation"],
    &["probe", "--root", "fixtures/host/bare-metal"],
    &["run", "--", "true"],
];

/// Faults that no command needs to notice: it does the same work and earns the same code.
const UNNOTICED: &[(&str, &str)] = &[
    ("standard input closed", "exec \"$@\" <&-"),
    ("standard error closed", "exec \"$@\" 2>&-"),
    ("a reader that has gone away", "\"$@\" | true; exit ${PIPESTATUS[0]}"),
    ("20 file descriptors", "ulimit -n 20; exec \"$@\""),
    ("1 GiB of addresses", "ulimit -v 1048576; exec \"$@\""),
    ("no files may grow", "trap '' XFSZ; ulimit -f 0; exec \"$@\""),
    ("no home, no folder for temporary files", "unset HOME XDG_RUNTIME_DIR; TMPDIR=/nonexistent exec \"$@\""),
    ("half a megabyte of stack", "ulimit -s 512; exec \"$@\""),
    ("a working folder that was removed", "d=$(mktemp -d); ROOT=$PWD; cd \"$d\"; rmdir \"$d\"; exec \"$@\""),
];

fn under(fault: &str, arguments: &[&str]) -> Output {
    let root = binary::root();
    // A fault may change the folder.
    let absolute = arguments.iter().map(|argument| match argument.starts_with("fixtures/") {
        true => root.join(argument).display().to_string(),
        false => (*argument).to_string(),
    });
    let plain = process();
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(fault).arg("bash").arg(plain.get_program()).args(absolute);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(root).stdin(Stdio::null()).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn faults_that_need_not_be_noticed_change_no_exit_code() {
    for arguments in COMMANDS {
        let earned = under("exec \"$@\"", arguments);
        assert!(earned.status.code().is_some_and(|code| code < 4), "{arguments:?}: {earned:?}");
        for (name, fault) in UNNOTICED {
            let output = under(fault, arguments);
            assert_eq!(output.status.code(), earned.status.code(), "{arguments:?} with {name}: {}", told(&output));
            assert!(!told(&output).contains("panicked"), "{arguments:?} with {name}: {}", told(&output));
        }
    }
}

#[test]
fn a_full_disk_behind_standard_output_is_told() {
    for arguments in COMMANDS.iter().filter(|arguments| arguments[0] != "run") {
        let output = under("exec \"$@\" >/dev/full", arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains("No space left"), "{arguments:?}: {}", told(&output));
    }
}

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
            let output = under("exec \"$@\"", &arguments);
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

/// `--update` left an empty file behind when the disk was full.
#[test]
fn a_full_disk_leaves_the_budget_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["oomdoc.toml", "peaks.csv"] {
        std::fs::copy(binary::root().join("examples/ci").join(name), at(name)).unwrap();
    }
    // A peak that `--update` has to write down.
    let peaks = std::fs::read_to_string(at("peaks.csv")).unwrap().replace("14909702144", "14909702656");
    std::fs::write(at("peaks.csv"), peaks).unwrap();
    let before = std::fs::read_to_string(at("oomdoc.toml")).unwrap();
    let budget = at("oomdoc.toml").display().to_string();
    let arguments = ["headroom", "--update", "--budget", &budget];

    let failed = under("trap '' XFSZ; ulimit -f 0; exec \"$@\"", &arguments);
    assert_eq!(failed.status.code(), Some(2), "{}", told(&failed));
    assert_eq!(std::fs::read_to_string(at("oomdoc.toml")).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "something is left beside it");

    let done = under("exec \"$@\"", &arguments);
    assert!(told(&done).is_empty(), "{}", told(&done));
    assert_ne!(std::fs::read_to_string(at("oomdoc.toml")).unwrap(), before);
}
