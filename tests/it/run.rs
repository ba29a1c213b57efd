//! `oomdoc run`: the job must not notice it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{process, skipped};
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Nothing that a test waits for takes so long, however loaded the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Shells start what is to run in the background with some signals ignored, and tests as well; jobs that are sent
/// signals here must not inherit that.
const AS_BY_DEFAULT: [&str; 2] = ["env", "--default-signal"];

/// A command with the default for all signals.
fn bare(job: &[&str]) -> Command {
    let surroundings = process();
    let mut command = Command::new(AS_BY_DEFAULT[0]);
    command.arg(AS_BY_DEFAULT[1]).args(job);
    for (name, value) in surroundings.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The binary under test.
fn program() -> &'static str {
    env!("CARGO_BIN_EXE_oomdoc")
}

/// `oomdoc run -- COMMAND`.
fn run(job: &[&str]) -> Command {
    bare(&[&[program(), "run", "--quiet", "--"], job].concat())
}

/// Waits for the end, but not for ever.
fn ended(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it never ended");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// As a shell tells it.
fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// State of a process as in `/proc/PID/stat`; `None` once it is gone.
fn state(pid: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The first line of what it prints, as a process id.
fn told_pid(out: &mut impl BufRead) -> Pid {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    Pid::from_raw(line.trim().parse().unwrap()).unwrap()
}

#[test]
fn every_end_has_the_code_that_it_has_without() {
    let exits = [0, 1, 2, 3, 77, 126, 127, 128, 137, 255].map(|code| format!("exit {code}"));
    let signals = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS",
    ]
    .map(|signal| format!("kill -{signal} $$; exit 66"));
    for script in exits.iter().chain(&signals) {
        let job = ["sh", "-c", script];
        let of =
            |mut command: Command| ended(&mut command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        assert_eq!(code(of(run(&job))), code(of(bare(&job))), "{script}");
    }
}

#[test]
fn a_job_that_cannot_be_started_has_the_codes_of_a_shell() {
    for (job, expected, reason) in
        [("/no/such/program", 127, "No such file"), ("/etc/passwd", 126, "Permission denied")]
    {
        let output = run(&[job]).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{job}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(job) && told.contains(reason), "{told}");
        let output = process().args(["run", "--die-with-me", "--", job]).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{job}");
    }
    assert_eq!(process().arg("run").output().unwrap().status.code(), Some(2));
}

#[test]
fn a_script_without_a_first_line_is_run_by_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("job");
    std::fs::write(&script, "echo run with $1\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = run(&[script.to_str().unwrap(), "this"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "run with this\n");
}

#[test]
fn output_input_folder_and_environment_are_the_jobs_own() {
    let mut job = run(&["sh", "-c", "cat; pwd; echo \"$WITH\" >&2"]);
    let folder = tempfile::tempdir().unwrap();
    job.current_dir(folder.path()).env("WITH", "its own").stdin(Stdio::piped());
    let mut child = job.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\x00\xff bytes\r\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let mut expected = b"\x00\xff bytes\r\n".to_vec();
    expected.extend_from_slice(folder.path().canonicalize().unwrap().to_str().unwrap().as_bytes());
    expected.push(b'\n');
    assert_eq!((output.stdout, output.stderr), (expected, b"its own\n".to_vec()));
}

#[test]
fn much_output_and_its_last_lines_are_the_same_through_pipes() {
    // More than pipes hold, in pieces of all sizes; a reader that sleeps first, and one with a non-blocking pipe.
    let job = ["sh", "-c", "seq 1 300000; for i in 1 2 3; do printf $i; sleep 0.05; done; head -c 3000000 /dev/zero"];
    let expected = bare(&job).output().unwrap().stdout;
    assert_eq!(expected.len(), 1_988_895 + 3 + 3_000_000);
    for nonblocking in [false, true] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        if nonblocking {
            rustix::io::ioctl_fionbio(&writer, true).unwrap();
        }
        let mut child = run(&job).stdout(writer).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let mut seen = Vec::new();
        reader.read_to_end(&mut seen).unwrap();
        assert!(seen == expected, "{} of {} bytes, non-blocking: {nonblocking}", seen.len(), expected.len());
        assert_eq!(code(ended(&mut child)), 0);
    }
}

#[test]
fn both_outputs_in_one_file_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let file = std::fs::File::create(&path).unwrap();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done";
    let mut job = run(&["sh", "-c", script]);
    assert!(job.stdout(file.try_clone().unwrap()).stderr(file).status().unwrap().success());
    let expected: String = (1..10).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
}

#[test]
fn a_reader_that_goes_away_ends_the_job_as_it_would_without() {
    let mut child = run(&["yes"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "y");
    drop(lines);
    assert_eq!(code(ended(&mut child)), 141);
}

#[test]
fn what_a_process_left_behind_still_writes_arrives() {
    let output = run(&["sh", "-c", "(sleep 1; echo late) & echo early"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "early\nlate\n");
}

/// A job that says when it is ready, a line for each signal, and ends by SIGTERM with code 9.
const COUNTS: &str = "trap 'echo got' USR1; trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done";

/// What that job tells after `send`.
fn counted(send: impl FnOnce(Pid)) -> (Vec<String>, i32) {
    let mut child = run(&["sh", "-c", COUNTS]).process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    send(pid(&child));
    let mut lines = Vec::new();
    // A shell notices a signal when its command ends.
    let mut next = String::new();
    out.read_line(&mut next).unwrap();
    lines.push(next.trim().to_string());
    kill_process(pid(&child), Signal::TERM).unwrap();
    lines.extend(out.lines().map(Result::unwrap));
    (lines, code(ended(&mut child)))
}

#[test]
fn a_signal_for_oomdoc_is_one_for_the_job() {
    assert_eq!(counted(|oomdoc| kill_process(oomdoc, Signal::USR1).unwrap()), (vec!["got".to_string()], 9));
}

#[test]
fn a_signal_for_the_group_reaches_the_job_once() {
    assert_eq!(counted(|oomdoc| kill_process_group(oomdoc, Signal::USR1).unwrap()), (vec!["got".to_string()], 9));
}

#[test]
fn every_signal_that_is_sent_ends_the_job_as_it_would_without() {
    for signal in [
        Signal::HUP,
        Signal::INT,
        Signal::QUIT,
        Signal::TERM,
        Signal::USR1,
        Signal::USR2,
        Signal::ALARM,
        Signal::ABORT,
        Signal::VTALARM,
        Signal::PROF,
        Signal::XCPU,
        Signal::XFSZ,
        Signal::IO,
        Signal::POWER,
        Signal::STKFLT,
    ] {
        let mut child = run(&["sh", "-c", "echo $$; exec sleep 600"]).stdout(Stdio::piped()).spawn().unwrap();
        let job = told_pid(&mut BufReader::new(child.stdout.take().unwrap()));
        // Not before it is what it is to be: a shell may handle signals while it starts.
        until("the job is sleep", || {
            std::fs::read_to_string(format!("/proc/{}/comm", job.as_raw_pid())).is_ok_and(|name| name == "sleep\n")
        });
        kill_process(pid(&child), signal).unwrap();
        assert_eq!(code(ended(&mut child)), 128 + signal.as_raw(), "{signal:?}");
    }
}

#[test]
fn what_was_ignored_stays_ignored() {
    let look = "trap '' HUP INT USR2; exec \"$@\"";
    let of = |job: &[&str]| {
        let output = bare(&[&["sh", "-c", look, "sh"], job].concat()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let job = ["grep", "-E", "SigIgn|SigBlk", "/proc/self/status"];
    let program = program();
    assert_eq!(of(&[&[program, "run", "--"][..], &job].concat()), of(&job));
    let output = Command::new("nohup").args([program, "run", "--", "sh", "-c", "kill -HUP $$; echo alive"]).output();
    assert!(String::from_utf8(output.unwrap().stdout).unwrap().contains("alive"));
}

#[test]
fn a_job_that_is_stopped_alone_stops_oomdoc_and_goes_on_alone() {
    let mut child = run(&["sh", "-c", "echo $$; read line; echo $line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let job = told_pid(&mut out);
    kill_process(job, Signal::STOP).unwrap();
    until("oomdoc stops", || state(pid(&child)) == Some('T'));
    kill_process(job, Signal::CONT).unwrap();
    until("oomdoc goes on", || state(pid(&child)) != Some('T'));
    child.stdin.take().unwrap().write_all(b"went on\n").unwrap();
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), code(ended(&mut child))), ("went on\n", 0));
}

#[test]
fn killing_oomdoc_leaves_the_job_and_its_output() {
    let mut child = run(&["sh", "-c", "trap 'echo still here; exit 0' USR1; echo $$; while :; do sleep 0.02; done"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let job = told_pid(&mut out);
    child.kill().unwrap();
    child.wait().unwrap();
    kill_process(job, Signal::USR1).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "still here\n");
}

#[test]
fn on_request_the_job_dies_with_oomdoc() {
    let mut command = bare(&[program(), "run", "--die-with-me", "--", "sh", "-c", "echo $$; exec sleep 600"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let job = told_pid(&mut BufReader::new(child.stdout.take().unwrap()));
    child.kill().unwrap();
    ended(&mut child);
    until("the job is gone", || state(job).is_none_or(|state| state == 'Z'));
}

#[test]
fn as_process_1_it_reaps_what_the_job_leaves() {
    let unshare = |job: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc"]).args(job);
        command
    };
    if !unshare(&["true"]).output().is_ok_and(|output| output.status.success()) {
        skipped("no new process namespace can be had here");
        return;
    }
    // Each `sh` in the background leaves its `sleep` to process 1.
    let script = "for i in 1 2 3 4 5; do sh -c 'sleep 0.05 &'; done; sleep 0.1; \
                  while ps -e -o ppid=,comm= | grep -q '^ *1 sleep *$'; do sleep 0.05; done; \
                  ps -e -o ppid=,stat= | grep -c '^ *1 Z'; exit 5";
    let program = program();
    let output = unshare(&[program, "run", "--", "sh", "-c", script]).output().unwrap();
    let zombies = String::from_utf8(output.stdout).unwrap();
    assert_eq!((zombies.trim(), output.status.code()), ("0", Some(5)));
}

/// A terminal whose other end the test holds.
pub(crate) struct Terminal {
    master: OwnedFd,
    pub(crate) slave: OwnedFd,
    shown: Arc<Mutex<Vec<u8>>>,
    child: Child,
}

impl Terminal {
    /// Runs a command with this terminal as its controlling one; `None` where there is no `setsid`.
    pub(crate) fn start(job: &[&str]) -> Option<Terminal> {
        Terminal::sized(job, 24, 80)
    }

    /// The same, of so many lines and columns.
    pub(crate) fn sized(job: &[&str], lines: u16, columns: u16) -> Option<Terminal> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        resize(&master, lines, columns);
        let own = || Stdio::from(slave.try_clone().unwrap());
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait"])
            .args(AS_BY_DEFAULT)
            .args(job)
            .env("PS1", "$ ")
            .stdin(own())
            .stdout(own())
            .stderr(own());
        let Ok(child) = command.spawn() else {
            skipped("there is no setsid");
            return None;
        };
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (reader, into) = (master.try_clone().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = rustix::io::read(&reader, &mut buffer) {
                into.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        Some(Terminal { master, slave, shown, child })
    }

    /// `oomdoc run -- COMMAND` in it.
    fn run(job: &[&str]) -> Option<Terminal> {
        Terminal::start(&[&[program(), "run", "--quiet", "--"], job].concat())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Waits for a text behind what was seen before.
    pub(crate) fn sees(&self, text: &str) {
        let started = Instant::now();
        while !self.text().contains(text) {
            assert!(started.elapsed() < PATIENCE, "never {text:?} in {:?}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn types(&self, text: &str) {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            // It takes what it has room for.
            let written = rustix::io::write(&self.master, left).unwrap();
            left = &left[written..];
        }
    }

    /// Everything that was shown, and the exit code.
    pub(crate) fn end(mut self) -> (String, i32) {
        let status = ended(&mut self.child);
        // What was written comes in order: this is the end of it.
        rustix::io::write(&self.slave, b"<end>").unwrap();
        self.sees("<end>");
        (self.text().replace("<end>", ""), code(status))
    }
}

fn resize(master: &OwnedFd, rows: u16, columns: u16) {
    tcsetwinsize(master.as_fd(), Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// As less does: the terminal of standard error, opened by its name, put into modes of its own and read from.
#[test]
fn a_program_that_opens_its_terminal_by_name_gets_what_is_typed() {
    if python().is_none() {
        return;
    }
    let script = "import os, sys, termios, tty
fd = os.open(os.ttyname(2), os.O_RDONLY)
before = termios.tcgetattr(fd)
tty.setcbreak(fd)
os.write(1, b'ready ')
key = os.read(fd, 1)
termios.tcsetattr(fd, termios.TCSADRAIN, before)
print('got', key.decode(), flush=True)
print('line', sys.stdin.readline().strip(), flush=True)
";
    let Some(terminal) = Terminal::run(&["python3", "-c", script]) else { return };
    terminal.sees("ready ");
    std::thread::sleep(Duration::from_millis(200));
    terminal.types("k");
    terminal.sees("got k");
    std::thread::sleep(Duration::from_millis(200));
    terminal.types("after\n");
    let (shown, code) = terminal.end();
    assert!(code == 0 && shown.contains("line after"), "{shown}");
}

#[test]
fn a_terminal_shows_what_it_shows_without() {
    let script = "for fd in 0 1 2; do test -t $fd && echo tty $fd; done; stty size <&1; stty size <&2; \
                  printf '\\033[1;31mred\\033[0m\\n'; \
                  for i in 10 55 100; do printf '\\r%3d%%|#####| it/s' $i >&2; done; printf '\\n' >&2; \
                  printf 'tab\\there\\n'; printf 'name? '; read name; echo \"hello $name\"; exit 3";
    let job = ["sh", "-c", script];
    let show = |terminal: Option<Terminal>| {
        let terminal = terminal?;
        terminal.sees("name? ");
        terminal.types("Ada\n");
        Some(terminal.end())
    };
    let Some(with) = show(Terminal::run(&job)) else { return };
    assert!(
        with.0.contains("tty 1\r\ntty 2\r\n24 80\r\n24 80\r\n") && with.0.contains("name? Ada\r\n"),
        "{:?}",
        with.0
    );
    assert_eq!(Some(with), show(Terminal::start(&job)));
}

#[test]
fn one_output_in_a_pipe_leaves_the_other_a_terminal() {
    let program = program();
    let script = format!("{program} run -- sh -c 'test -t 1 || echo pipe; test -t 2 && echo tty >&2' | cat; exit 0");
    let Some(terminal) = Terminal::start(&["sh", "-c", &script]) else { return };
    let (text, _) = terminal.end();
    assert!(text.contains("pipe\r\n") && text.contains("tty\r\n"), "{text:?}");
}

#[test]
fn a_new_window_size_reaches_the_job() {
    let script = "trap 'stty size <&1' WINCH; trap 'exit 0' USR1; echo ready; while :; do sleep 0.02; done";
    let Some(terminal) = Terminal::run(&["sh", "-c", script]) else { return };
    terminal.sees("ready");
    resize(&terminal.master, 40, 100);
    terminal.sees("40 100");
    terminal.types("\x03");
    assert_eq!(terminal.end().1, 130);
}

#[test]
fn ctrl_c_reaches_the_job_once() {
    let script = "trap 'echo interrupted' INT; trap 'exit 4' QUIT; echo ready; while :; do sleep 0.02; done";
    let Some(terminal) = Terminal::run(&["sh", "-c", script]) else { return };
    terminal.sees("ready");
    terminal.types("\x03");
    terminal.sees("interrupted");
    terminal.types("\x1c");
    let (text, code) = terminal.end();
    assert_eq!((text.matches("interrupted").count(), code), (1, 4), "{text:?}");
}

#[test]
fn modes_that_the_job_sets_on_its_output_are_those_of_the_terminal() {
    let script = "stty raw -echo <&1; printf go; dd bs=1 count=1 2>/dev/null | od -c | head -1; stty sane <&1; \
                  printf 'ended'; read line; exit 0";
    let Some(terminal) = Terminal::run(&["sh", "-c", script]) else { return };
    let initial = tcgetattr(&terminal.slave).unwrap();
    terminal.sees("go");
    until("the terminal is raw", || !tcgetattr(&terminal.slave).unwrap().local_modes.contains(LocalModes::ICANON));
    // Without a line feed, and not the carriage return that a terminal makes one of.
    terminal.types("\r");
    terminal.sees("\\r");
    terminal.sees("ended");
    until("it is as it was", || tcgetattr(&terminal.slave).unwrap().local_modes.contains(LocalModes::ICANON));
    terminal.types("\n");
    let slave = terminal.slave.try_clone().unwrap();
    assert_eq!(terminal.end().1, 0);
    let modes = tcgetattr(&slave).unwrap();
    assert_eq!((modes.local_modes, modes.input_modes), (initial.local_modes, initial.input_modes));
    assert_eq!(modes.output_modes, initial.output_modes);
}

#[test]
fn modes_are_restored_where_the_job_left_them_changed() {
    let Some(terminal) = Terminal::run(&["sh", "-c", "stty raw -echo <&1; printf go; kill -KILL $$"]) else { return };
    let initial = tcgetattr(&terminal.slave).unwrap();
    let slave = terminal.slave.try_clone().unwrap();
    assert_eq!(terminal.end().1, 137);
    let modes = tcgetattr(&slave).unwrap();
    assert_eq!((modes.local_modes, modes.output_modes), (initial.local_modes, initial.output_modes));
}

#[test]
fn a_shell_can_stop_it_and_bring_it_back() {
    let Some(terminal) = Terminal::start(&["bash", "--norc", "--noediting", "-i"]) else { return };
    let program = program();
    terminal.types(&format!("{program} run -- sh -c 'echo rea''dy; read line; echo got $line'\n"));
    terminal.sees("ready");
    terminal.types("\x1a");
    terminal.sees("Stopped");
    terminal.types("fg\n");
    // The shell says what it brings back.
    until("the job is back", || terminal.text().matches("run -- sh").count() >= 3);
    terminal.types("it\n");
    terminal.sees("got it");
    terminal.types("exit 6\n");
    assert_eq!(terminal.end().1, 6);
}

/// `oomdoc run OPTIONS -- sh -c SCRIPT`: code, standard output, standard error.
fn watched(options: &[&str], script: &str) -> (i32, String, String) {
    let mut command = bare(&[&[program(), "run"], options, &["--", "sh", "-c", script]].concat());
    let output = command.output().unwrap();
    (
        code(output.status),
        String::from_utf8(output.stdout).unwrap(),
        anstream::adapter::strip_str(&String::from_utf8_lossy(&output.stderr)).to_string(),
    )
}

/// Keeps 10 MiB more with each of 60 steps, and ends as its argument says.
const GROWS: &str = "import os, sys, time
kept = []
for step in range(60):
    kept.append(b'x' * (10 << 20))
    print('step', step, flush=True)
    time.sleep(0.05)
";

fn python() -> Option<&'static str> {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        skipped("there is no python3");
    }
    found.then_some("python3")
}

#[test]
fn a_good_end_is_told_in_one_line_and_on_request_in_none() {
    let (code, out, err) = watched(&[], "sleep 0.3; echo done");
    assert_eq!((code, out.as_str(), err.lines().count()), (0, "done\n", 1), "{err}");
    assert!(err.starts_with("oomdoc: the job's peak ") && err.contains("of headroom"), "{err}");
    assert_eq!(watched(&["--quiet"], "sleep 0.3; echo done").2, "");
    let (_, _, err) = watched(&["--lang", "zh"], "sleep 0.3");
    assert!(err.contains("作业峰值"), "{err}");
}

/// Of 300 MiB that it held for a moment, as measured; the same from its record, for whoever asks later.
#[test]
fn a_job_that_ended_well_tells_its_peak_and_headroom_and_so_does_its_record() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("run.record");
    let script = "held = bytearray(300 << 20)\nfor at in range(0, len(held), 4096):\n    held[at] = 1\n\
                  import time\ntime.sleep(1.2)\ndel held\ntime.sleep(0.3)\n";
    let mut command = process();
    let job = ["--", python, "-I", "-c", script];
    let output = command.arg("run").arg("--record").arg(&record).args(job).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    let told = told.trim().strip_prefix("oomdoc: the job's peak ").unwrap_or_else(|| panic!("{told}"));
    let peak: f64 = told.split(" MiB").next().unwrap().parse().unwrap();
    assert!((300.0..400.0).contains(&peak), "{told}");
    assert!(told.contains(" of headroom"), "{told}");
    let explained = process().arg("explain").arg(&record).output().unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(explained.contains(&line), "{line}\n{explained}");
}

#[test]
fn a_failure_that_is_none_of_memory_is_left_alone() {
    assert_eq!(watched(&[], "echo 'ValueError: no such file' >&2; exit 1").2, "ValueError: no such file\n");
}

#[test]
fn a_kill_that_the_kernel_did_not_count_is_not_blamed_on_memory() {
    let vmstat = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    if !vmstat.contains("oom_kill ") {
        skipped("this kernel counts no kills");
        return;
    }
    let (code, _, err) = watched(&[], "kill -9 $$");
    assert_eq!(code, 137);
    // Another test's control group may have been shot in meanwhile.
    assert!(err.contains("not for want of memory") || err.contains("the kernel counted"), "{err}");
}

#[test]
fn a_full_disk_stops_the_record_and_not_the_job() {
    let (code, out, err) =
        watched(&["--record", "/dev/full", "--quiet"], "for i in 1 2 3; do echo $i; sleep 0.6; done");
    assert_eq!((code, out.as_str()), (0, "1\n2\n3\n"));
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("the record is not whole"), "{err}");
    let (code, _, err) = watched(&["--record", "/no/such/folder/record", "--quiet"], "exit 3");
    assert_eq!(code, 3);
    assert!(err.contains("the record is not whole"), "{err}");
}

/// More than this is in use on any machine that runs.
const FULL_ALREADY: [&str; 4] = ["--warn", "0.01%", "--stop-at", "0.02%"];

fn warned_once_and_asked_once(told: &str) {
    assert_eq!(told.matches("RAM: ").count() - told.matches("SIGTERM").count(), 1, "{told}");
    assert_eq!(told.matches("SIGTERM").count(), 1, "{told}");
}

/// It may come before the job is ready to be asked, where the machine is full already.
#[test]
fn a_warning_is_given_once_and_a_job_is_asked_to_end_once() {
    let (code, _, err) = watched(&FULL_ALREADY, "while :; do sleep 0.02; done");
    assert_eq!(code, 143, "{err}");
    warned_once_and_asked_once(&err);
}

#[test]
fn a_job_that_is_asked_to_end_saves_and_ends_as_it_likes() {
    let script = "trap 'echo saving; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    let mut job = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = std::io::BufReader::new(job.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(out.next().unwrap(), "ready");
    let attached = process().arg("attach").args(FULL_ALREADY).arg(job.id().to_string()).output().unwrap();
    assert_eq!((out.collect::<Vec<_>>(), job.wait().unwrap().code()), (vec!["saving".to_string()], Some(5)));
    warned_once_and_asked_once(&String::from_utf8_lossy(&attached.stderr));
}

#[test]
fn memory_that_rises_with_the_steps_is_a_leak_and_the_record_tells_it_again() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("{rank}-{pid}.record");
    let mut command = process();
    command.args(["run", "--record", record.to_str().unwrap(), "--", python, "-c"]);
    let error = "raise MemoryError('Unable to allocate 1.00 GiB for an array')";
    let output = command.arg(format!("{GROWS}{error}")).env("RANK", "3").output().unwrap();
    let told = anstream::adapter::strip_str(&String::from_utf8_lossy(&output.stderr)).to_string();
    assert!(told.contains("usage grows over time") && told.contains(" a step over "), "{told}");
    let written: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(written.len(), 1);
    assert!(written[0].file_name().unwrap().to_str().unwrap().starts_with("3-"), "{written:?}");
    let (code, out, _) = binary::outcome(binary::oomdoc().args(["explain", "--json"]).arg(folder.path()));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["incidents"][0]["causes"][0]["id"]), (0, &"leak_growth".into()), "{out}");
    let job = &report["timeline"]["jobs"][0];
    assert_eq!((&job["rank"], &job["end"]["code"]), (&3.into(), &1.into()));
    let curves = job["curves"].as_array().unwrap();
    let peak = curves.iter().find(|curve| curve["of"] == "job").unwrap()["peak_bytes"].as_u64().unwrap();
    // The last look may be some steps before the end.
    assert!((300 << 20..900 << 20).contains(&peak), "{peak}");
}

/// A record of a job that ended so many seconds after 1970.
fn record(rank: u32, ended: f64, end: &str) -> String {
    let mut text = format!(
        "{{\"schema\":\"oomdoc.record/1\",\"began\":{},\"pid\":{},\"rank\":{rank},\"host\":\"node{rank:03}\",\
         \"ram\":1000000000,\"devices\":[]}}\n",
        ended - 100.0,
        100 + rank
    );
    for second in 0..100u32 {
        let held = 100_000_000 + second * 8_500_000;
        text.push_str(&format!("{{\"t\":{second},\"j\":{held},\"h\":{held},\"n\":{second}}}\n"));
    }
    text + end
}

#[test]
fn many_records_are_one_report_that_says_who_fell_first() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..40 {
        let ended = if rank == 17 { 5000.0 } else { 5010.0 + f64::from(rank) };
        let killed = "{\"t\":100,\"end\":{\"signal\":9,\"machine_kills\":1}}\n";
        // One rank ended well, of one the record breaks off, one is damaged.
        let end = match rank {
            3 => "{\"t\":100,\"end\":{\"code\":0}}\n",
            4 => "{\"t\":100,\"j\":17",
            5 => "\u{0}\u{0}not json\n{\"t\":\"x\"}\n{\"t\":100,\"end\":{\"signal\":9,\"machine_kills\":1}}\n",
            _ => killed,
        };
        std::fs::write(folder.path().join(format!("{rank}.record")), record(rank, ended, end)).unwrap();
    }
    let (code, out, err) = binary::outcome(binary::oomdoc().arg("explain").arg(folder.path()));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("40 records, 39 of jobs that failed"), "{out}");
    assert!(out.contains("rank 17 on node017 fell first"), "{out}");
    let (_, out, _) = binary::outcome(binary::oomdoc().args(["explain", "--json"]).arg(folder.path()));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["timeline"]["records"], &report["timeline"]["failed"]), (&40.into(), &39.into()));
    assert_eq!(report["timeline"]["jobs"][0]["rank"], 17);
}

/// Its record has no end yet, and memory may well be nearly full; it was told to have been killed.
#[test]
fn a_job_that_still_runs_has_not_failed() {
    let mut job = Command::new("sleep").arg("600").spawn().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("run.record");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let header = serde_json::json!({"schema": "oomdoc.record/1", "began": now, "pid": job.id(), "host": host.trim(),
                                    "ram": 1_000_000_000, "devices": []});
    std::fs::write(&record, format!("{header}\n{}\n", r#"{"t":1,"j":990000000,"h":990000000}"#)).unwrap();
    let explain = || binary::outcome(binary::oomdoc().args(["explain", "--lang", "en"]).arg(&record));
    let (code, out, _) = explain();
    assert_eq!(code, 1, "{out}");
    job.kill().unwrap();
    job.wait().unwrap();
    let (code, out, _) = explain();
    assert_eq!(code, 0, "{out}");
    assert!(out.starts_with("The record of the job breaks off") && !out.contains("SIGKILL"), "{out}");
}

#[test]
fn a_job_that_runs_already_can_be_watched() {
    let mut job = Command::new("sleep").arg("600").spawn().unwrap();
    let mut command = process();
    let mut oomdoc = command.args(["attach", &job.id().to_string()]).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    job.kill().unwrap();
    job.wait().unwrap();
    let mut told = String::new();
    oomdoc.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(oomdoc.wait().unwrap().code(), Some(0));
    assert!(told.contains("the job's peak"), "{told}");
    assert_eq!(process().args(["attach", "999999999"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn two_runs_that_were_given_one_name_leave_two_whole_records() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("run.record");
    let start = || {
        let mut command = process();
        command.args(["run", "-q", "--record"]).arg(&record).args(["--", "sleep", "0.7"]).spawn().unwrap()
    };
    let jobs = [start(), start()];
    for mut job in jobs {
        assert_eq!(job.wait().unwrap().code(), Some(0));
    }
    let records: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(records.len(), 2, "{records:?}");
    for record in records {
        let text = std::fs::read_to_string(&record).unwrap();
        let whole = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert!(text.lines().all(whole) && text.contains("\"end\""), "{text}");
    }
}

#[test]
fn top_writes_a_line_for_each_look_and_ends_with_the_job() {
    let mut job = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = job.id().to_string();
    let (code, out, err) = binary::outcome(binary::oomdoc().args(["top", "--count", "2", &pid]));
    assert_eq!((code, err.as_str(), out.lines().count()), (0, "", 2), "{out}");
    assert!(out.lines().all(|line| line.contains(" s · memory of the job ")), "{out}");
    let shown = process().args(["top", &pid]).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    job.kill().unwrap();
    job.wait().unwrap();
    assert_eq!(shown.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(process().args(["top", "999999999"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn top_draws_over_its_screen_and_gives_the_cursor_back() {
    let script = format!("{} top --count 2 $$; echo after", program());
    let Some(terminal) = Terminal::start(&["sh", "-c", &script]) else { return };
    let (shown, code) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown.matches("\x1b[H").count(), 2, "{shown}");
    assert!(shown.contains("memory of the job") && shown.contains("holds alone"), "{shown}");
    assert!(shown.contains("\x1b[?25l") && shown.ends_with("\x1b[?25hafter\r\n"), "{shown:?}");
}

#[test]
fn top_keeps_within_a_small_window() {
    let script = format!("{} top --count 1 $$; echo after", program());
    let Some(terminal) = Terminal::sized(&["sh", "-c", &script], 4, 20) else { return };
    let (shown, code) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let frame = shown.split("\x1b[H").nth(1).and_then(|rest| rest.split("\x1b[J").next()).unwrap();
    assert_eq!(frame.matches("\r\n").count(), 3, "{shown:?}");
    assert!(shown.contains("\x1b[?7l") && shown.contains("\x1b[?7h"), "long lines are cut: {shown:?}");
}

#[test]
fn a_record_becomes_a_page_with_its_curves() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("run.record");
    let job = ["--", "sh", "-c", "sleep 1.5; kill -9 $$"];
    let output = process().args(["run", "-q", "--record"]).arg(&record).args(job).output().unwrap();
    assert_eq!(output.status.code(), Some(137));
    let (_, page, err) = binary::outcome(binary::oomdoc().args(["explain", "--format", "html"]).arg(&record));
    assert_eq!(err, "");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<polyline class=\"k0\""), "{page}");
    assert!(page.contains("Memory of the machine") && page.contains("prefers-color-scheme: dark"), "{page}");
}

#[test]
fn what_a_fork_shares_is_counted_once() {
    if python().is_none() {
        return;
    }
    let script = "import os, time
held = [bytearray(4096) for i in range(50000)]
time.sleep(0.5)
if os.fork() == 0:
    time.sleep(1)
    os._exit(0)
time.sleep(1)
os.wait()
";
    let (code, _, told) = binary::outcome(binary::oomdoc().args(["run", "--", "python3", "-c", script]));
    assert_eq!(code, 0, "{told}");
    let peak = told.split("the job's peak ").nth(1).and_then(|rest| rest.split_once(" MiB")).map(|(peak, _)| peak);
    let peak: f64 = peak.unwrap_or_else(|| panic!("{told}")).parse().unwrap();
    assert!((200.0..300.0).contains(&peak), "{peak} MiB: {told}");
}

/// A control group of version 1 with a limit, removed when it is dropped.
struct Group(std::path::PathBuf);

impl Group {
    fn limited(mib: u64) -> Option<Group> {
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let path = own.lines().find_map(|line| line.split_once(":memory:")).map(|(_, path)| path.to_string());
        let folder = path.map(|path| {
            let name = format!("oomdoc-test-{}-{mib}", std::process::id());
            std::path::Path::new("/sys/fs/cgroup/memory").join(path.trim_start_matches('/')).join(name)
        });
        let folder = folder.filter(|folder| std::fs::create_dir(folder).is_ok());
        let Some(folder) = folder else {
            skipped("no control group can be made here");
            return None;
        };
        let group = Group(folder);
        if std::fs::write(group.0.join("memory.limit_in_bytes"), (mib << 20).to_string()).is_err() {
            skipped("control groups cannot be limited here");
            return None;
        }
        Some(group)
    }

    /// `oomdoc run -- python3 -c SCRIPT` in it.
    fn run(&self, script: &str) -> (i32, String) {
        let enter = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", self.0.display());
        let mut command = Command::new("sh");
        command.args(["-c", &enter, "sh", program(), "run", "--lang", "en", "--", "python3", "-c", script]);
        let output = command.stdout(Stdio::null()).output().unwrap();
        (code(output.status), anstream::adapter::strip_str(&String::from_utf8_lossy(&output.stderr)).to_string())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_kill_in_the_jobs_control_group_is_proved_by_its_counter() {
    let (Some(_), Some(group)) = (python(), Group::limited(300)) else { return };
    let (code, told) = group.run(GROWS);
    assert_eq!(code, 137, "{told}");
    assert!(told.contains("the kernel counted 1 kill for want of memory"), "{told}");
    assert!(told.contains("300.00 MiB"), "{told}");
}

#[test]
fn workers_that_grow_together_are_named_although_the_trainer_only_says_that_one_died() {
    let (Some(_), Some(group)) = (python(), Group::limited(400)) else { return };
    let script = "import multiprocessing, time
def work(number):
    kept = []
    while True:
        kept.append(b'x' * (2 << 20))
        time.sleep(0.05)
context = multiprocessing.get_context('fork')
workers = [context.Process(target=work, args=(i,)) for i in range(6)]
[worker.start() for worker in workers]
while all(worker.is_alive() for worker in workers):
    time.sleep(0.02)
[worker.kill() for worker in workers]
raise RuntimeError('a worker died')
";
    let (code, told) = group.run(script);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("worker processes fill the RAM") && told.contains(" workers held "), "{told}");
}
