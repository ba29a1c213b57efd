//! A rehearsed program and the user's files: whatever it writes, renames and removes, and however, they stay as they were,
//! and it sees its own writes. With namespaces, with Landlock alone, and with neither.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{oomdoc, outcome, process, skipped};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The ways, each a function of the script, and what it does to the files that it finds.
const WAYS: &str = r##"
import builtins, contextlib, glob, io, json, mmap, os, pathlib, pickle, shutil, sqlite3, subprocess, sys, tempfile

def plain():
    with open("plain.txt", "w") as file: file.write("bad")
    assert open("plain.txt").read() == "bad"

def append():
    with open("append.txt", "a") as file: file.write("bad")
    assert open("append.txt").read() == "goodbad"

def in_place():
    with open("in_place.txt", "r+b") as file: file.seek(1); file.write(b"x")
    assert open("in_place.txt", "rb").read() == b"gxod"

def in_memory_first():
    held = io.BytesIO(); pickle.dump({"w": 0}, held)
    pathlib.Path("in_memory.pkl").write_bytes(held.getvalue())
    assert pickle.loads(pathlib.Path("in_memory.pkl").read_bytes()) == {"w": 0}

def descriptor():
    file = os.open("descriptor.txt", os.O_WRONLY | os.O_TRUNC); os.write(file, b"bad"); os.close(file)
    assert pathlib.Path("descriptor.txt").read_text() == "bad"

def temporary_then_replace():
    with open("best.txt.tmp", "w") as file: file.write("bad")
    os.replace("best.txt.tmp", "best.txt")
    assert open("best.txt").read() == "bad" and not os.path.exists("best.txt.tmp")

def rename_existing():
    os.rename("renamed.txt", "renamed.bak")
    assert os.path.exists("renamed.bak") and not os.path.exists("renamed.txt")
    open("renamed.txt", "w").write("bad")

def remove():
    os.remove("removed.txt")
    assert not os.path.exists("removed.txt") and "removed.txt" not in os.listdir(".")

def rotation():
    for step in (1, 2, 3):
        os.makedirs("runs/checkpoint-%d" % step, exist_ok=True)
        pathlib.Path("runs/checkpoint-%d/model" % step).write_text("bad")
        for old in sorted(glob.glob("runs/checkpoint-*"))[:-2]: shutil.rmtree(old)
    assert sorted(os.listdir("runs")) == ["checkpoint-2", "checkpoint-3"], os.listdir("runs")

def tree():
    shutil.rmtree("tree"); os.makedirs("tree/new"); open("tree/new/f", "w").write("bad")
    assert os.listdir("tree") == ["new"], os.listdir("tree")
    assert [name for _, _, names in os.walk("tree") for name in names] == ["f"]

def truncation():
    os.truncate("truncated.txt", 0)
    assert os.path.getsize("truncated.txt") == 0

def move_and_copy():
    shutil.copy("source.txt", "copied.txt"); shutil.move("moved.txt", "elsewhere.txt")
    assert open("copied.txt").read() == "good" and open("elsewhere.txt").read() == "good"
    assert not os.path.exists("moved.txt")

def rights_and_links():
    os.chmod("rights.txt", 0o600); os.utime("rights.txt", (1, 1)); os.symlink("rights.txt", "link")
    with open("linked", "w") as file: file.write("bad")
    assert os.stat("rights.txt").st_mtime == 1 and os.path.islink("link")

def absolute_home():
    path = os.path.join(os.environ["HOME"], "notes.txt")
    open(path, "w").write("bad")
    assert open(path).read() == "bad"

def python_child():
    code = "open('child.txt', 'w').write('bad'); import os; os.remove('child_removed.txt')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert open("child.txt").read() == "bad" and not os.path.exists("child_removed.txt")

def shell_child():
    done = subprocess.run("echo bad > shell.txt; rm shell_removed.txt; mv shell_moved.txt m.txt", shell=True)

def memory_map():
    with open("mapped.bin", "r+b") as file:
        with mmap.mmap(file.fileno(), 4) as mapped: mapped[0:4] = b"baad"
    assert open("mapped.bin", "rb").read() == b"baad"

def database():
    with contextlib.closing(sqlite3.connect("data.db")) as base: base.execute("create table t (x)"); base.commit()

import traceback
for name in sys.argv[1:]:
    try:
        globals()[name]()
        sys.stderr.write(f"saw its own {name}\n")
    except Exception:
        sys.stderr.write(traceback.format_exc())
"##;

/// Ways that reach the disk past Python's own functions: without namespaces they are refused, not redirected.
const REFUSED_WITHOUT_NAMESPACES: [&str; 2] = ["shell_child", "database"];

/// What is said of each way, with the levels as columns.
const TABLE: &str = include_str!("../rehearse/writing.md");
const LEVELS: [&str; 3] = ["overlay", "landlock", "agent"];

/// What the table says of a way under a level.
fn listed(way: &str, level: &str) -> Option<&'static str> {
    let row = TABLE.lines().find(|line| line.starts_with(&format!("| `{way}` |")))?;
    let column = LEVELS.iter().position(|known| *known == level)?;
    row.split(" | ").nth(2 + column).map(|cell| cell.trim_end_matches(" |"))
}

fn ways() -> Vec<&'static str> {
    let names = WAYS.lines().filter_map(|line| line.strip_prefix("def ")?.strip_suffix("():"));
    names.collect()
}

fn user_files(folder: &Path) {
    let good = [
        "plain.txt",
        "append.txt",
        "in_place.txt",
        "in_memory.pkl",
        "descriptor.txt",
        "best.txt",
        "renamed.txt",
        "removed.txt",
        "truncated.txt",
        "source.txt",
        "copied.txt",
        "moved.txt",
        "rights.txt",
        "child.txt",
        "child_removed.txt",
        "shell.txt",
        "shell_removed.txt",
        "shell_moved.txt",
        "mapped.bin",
        "data.db",
        "home/notes.txt",
        "runs/checkpoint-0/model",
        "tree/old/f",
        "tree/g",
    ];
    for name in good {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, if name == "data.db" { "" } else { "good" }).unwrap();
    }
    std::fs::write(folder.join("way.py"), WAYS).unwrap();
}

/// Every path below a folder with its rights, its time and its content.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        for entry in std::fs::read_dir(path).unwrap().flatten() {
            let data = entry.metadata().unwrap();
            let content = if data.is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
            if data.is_dir() {
                open.push(entry.path());
            }
            found.insert(entry.path(), (data.mode(), data.mtime_nsec(), content));
        }
    }
    found
}

fn python() -> Option<&'static str> {
    let works = |name: &&str| {
        let check = "import sys; sys.exit(sys.version_info < (3, 8))";
        std::process::Command::new(name).args(["-c", check]).status().is_ok_and(|status| status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(works);
    if found.is_none() {
        skipped("no python3 (3.8 or later) on this machine");
    }
    found
}

/// Runs all ways under a level of protection; the report.
fn try_all(level: &str) -> Option<Value> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    user_files(folder.path());
    let before = state(folder.path());
    let mut command = oomdoc();
    command.current_dir(folder.path()).env("HOME", folder.path().join("home"));
    command.args([
        "rehearse",
        "--gpu-memory",
        "1GiB",
        "--addresses",
        "up",
        "--show-output",
        "--json",
        "--view",
        level,
        "--",
    ]);
    command.args([python, "way.py"]).args(ways());
    let (_, out, err) = outcome(&mut command);
    if err.contains("private view") {
        skipped(&format!("no {level} on this machine: {err}"));
        return None;
    }
    assert_eq!(state(folder.path()), before, "{level}: the user's files were changed\n{err}");
    for way in ways() {
        let may_be_refused = level != "overlay" && REFUSED_WITHOUT_NAMESPACES.contains(&way);
        assert!(err.contains(&format!("saw its own {way}\n")) || may_be_refused, "{level}, {way}: {err}");
        assert_eq!(listed(way, level), Some(if may_be_refused { "refused" } else { "kept off" }), "{level}, {way}");
    }
    Some(serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}")))
}

/// The names of what would have been done to files that existed, or of what is new.
fn names(report: &Value, what: &str, existed: bool) -> Vec<String> {
    let list = report["withheld"].as_array().unwrap().iter();
    let list = list.filter(|change| change["what"] == what && change["existed"] == existed);
    list.map(|change| change["path"].as_str().unwrap().rsplit('/').next().unwrap().to_string()).collect()
}

/// What is told of the ways is the same, whoever kept the files.
fn told(report: &Value, more_removed: &[&str], more_replaced: &[&str]) {
    let sorted = |list: &[&str], more: &[&str]| {
        let mut list: Vec<String> = list.iter().chain(more).map(|name| name.to_string()).collect();
        list.sort();
        list
    };
    let mut removed = names(report, "removed", true);
    removed.sort();
    let expected = ["removed.txt", "checkpoint-0", "g", "old", "moved.txt", "child_removed.txt"];
    assert_eq!(removed, sorted(&expected, more_removed));
    let mut replaced = names(report, "written", true);
    replaced.sort();
    let expected = [
        "append.txt",
        "best.txt",
        "child.txt",
        "descriptor.txt",
        "in_memory.pkl",
        "in_place.txt",
        "mapped.bin",
        "notes.txt",
        "plain.txt",
        "renamed.txt",
        "rights.txt",
        "truncated.txt",
    ];
    assert_eq!(replaced, sorted(&expected, more_replaced));
    let mut written = names(report, "written", false);
    written.retain(|name| name != "m.txt");
    written.sort();
    let expected = ["checkpoint-2", "checkpoint-3", "elsewhere.txt", "link", "linked", "new", "renamed.bak"];
    assert_eq!(written, sorted(&expected, &[]));
}

#[test]
fn no_way_of_writing_reaches_the_users_files_with_namespaces() {
    let Some(report) = try_all("overlay") else { return };
    told(&report, &["shell_moved.txt", "shell_removed.txt"], &["data.db", "shell.txt"]);
}

#[test]
fn no_way_of_writing_reaches_the_users_files_with_landlock() {
    let Some(report) = try_all("landlock") else { return };
    told(&report, &[], &[]);
}

#[test]
fn no_way_of_writing_reaches_the_users_files_with_the_agent_alone() {
    let Some(report) = try_all("agent") else { return };
    told(&report, &[], &[]);
}

#[test]
fn jobs_credentials_and_the_network_stay_outside() {
    let script = "env > env.txt; cat env.txt";
    let folder = tempfile::tempdir().unwrap();
    let rehearse = |options: &[&str]| {
        let mut command = oomdoc();
        command.current_dir(folder.path()).env("RANK", "3").env("MASTER_ADDR", "node-1").env("HF_TOKEN", "hf_secret");
        command.env("SLURM_JOB_ID", "77").env("PLAIN", "kept").env_remove("HF_HUB_OFFLINE");
        command
            .args(["rehearse", "--gpu-memory", "1GiB", "--addresses", "up", "--show-output", "--json"])
            .args(options);
        command.args(["--", "sh", "-c", script]);
        let (_, out, err) = outcome(&mut command);
        (serde_json::from_str::<Value>(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}")), err)
    };
    let (report, said) = rehearse(&[]);
    for hidden in ["RANK=3", "node-1", "hf_secret", "SLURM_JOB_ID"] {
        assert!(!said.contains(hidden), "{hidden}: {said}");
    }
    assert!(said.contains("PLAIN=kept") && said.contains("HF_HUB_OFFLINE=1"), "{said}");
    let kept_back: Vec<&str> = report["files"]["environment_kept_back"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    for name in ["HF_TOKEN", "MASTER_ADDR", "RANK", "SLURM_JOB_ID"] {
        assert!(kept_back.contains(&name), "{kept_back:?}");
    }
    let (_, said) = rehearse(&["--env", "RANK", "--env", "HF_TOKEN=other", "--env", "HF_HUB_OFFLINE=0"]);
    assert!(said.contains("RANK=3") && said.contains("HF_TOKEN=other") && said.contains("HF_HUB_OFFLINE=0"), "{said}");
    let (report, said) = rehearse(&["--allow-network", "--allow-writes"]);
    assert!(!said.contains("HF_HUB_OFFLINE=1"), "{said}");
    assert_eq!((report["files"]["view"].as_str(), report["files"]["offline"].as_bool()), (Some("off"), Some(false)));
    assert!(folder.path().join("env.txt").exists(), "writes are allowed");
}

#[test]
fn no_server_of_this_machine_is_reached() {
    let Some(python) = python() else { return };
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    let code = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 5)");
    let rehearse = |options: &[&str]| {
        let mut command = oomdoc();
        command.args(["rehearse", "--gpu-memory", "1GiB", "--addresses", "up", "--json"]).args(options);
        command.args(["--", python, "-c", &code]);
        outcome(&mut command)
    };
    let (_, out, err) = rehearse(&[]);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));
    if report["files"]["view"] != "overlay" {
        return skipped("no namespaces on this machine");
    }
    assert!(server.accept().is_err(), "a rehearsed program spoke to a server");
    rehearse(&["--allow-network"]);
    assert!(server.accept().is_ok(), "the server is reached where that is allowed");
}

#[test]
fn a_killed_rehearsal_takes_its_program_along_and_the_next_one_sweeps() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!("echo $$ > {}; exec sleep 60", seen.display());
    let rehearse = || {
        let mut command = process();
        command.args(["rehearse", "--gpu-memory", "1GiB", "--addresses", "up", "--allow-writes", "--", "sh", "-c"]);
        command.env("TMPDIR", temporary.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut child = rehearse().arg(&script).spawn().unwrap();
    let started = Instant::now();
    let program = loop {
        assert!(started.elapsed() < Duration::from_secs(60), "the program did not start");
        match std::fs::read_to_string(&seen) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_string(),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let process = PathBuf::from(format!("/proc/{program}"));
    let runs = || {
        // One that nobody waited for is dead all the same.
        std::fs::read_to_string(process.join("stat")).is_ok_and(|line| !line.contains(") Z"))
    };
    while runs() {
        assert!(started.elapsed() < Duration::from_secs(60), "the program outlived the rehearsal");
        std::thread::sleep(Duration::from_millis(10));
    }
    let left = || std::fs::read_dir(temporary.path()).unwrap().count();
    assert_eq!(left(), 1, "nobody could remove it");
    rehearse().arg("exit 0").status().unwrap();
    assert_eq!(left(), 0);
}
