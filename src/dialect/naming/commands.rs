//! The program of the command lines around a message.

use super::line::of_package;
use super::word::{commonplace, executable, is_file, is_prose, named, unversioned, without_release};
use super::{Way, head};
use crate::domain::Program;
use crate::input::{Document, Needles};
use std::sync::LazyLock;

/// Lines before a message in which its command may stand.
const BEFORE: usize = 400;
/// Lines behind it: a shell, a launcher and a workflow print the command when it has failed.
const AFTER: usize = 15;
/// Of a line only so much is looked at for a prompt.
const FRONT: usize = 90;
/// Commands that are looked at, nearest first.
const MOST: usize = 4;

/// Commands that run others.
const WRAPPERS: &[&str] = &[
    "sudo",
    "srun",
    "sbatch",
    "salloc",
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "ibrun",
    "aprun",
    "jsrun",
    "orterun",
    "nohup",
    "time",
    "env",
    "torchrun",
    "accelerate",
    "python",
    "python2",
    "python3",
    "bash",
    "sh",
    "zsh",
    "docker",
    "podman",
    "conda",
    "mamba",
    "micromamba",
    "uv",
    "poetry",
    "pipenv",
    "apptainer",
    "singularity",
    "timeout",
    "runlim",
    "nice",
    "ionice",
    "kubectl",
    "source",
    "make",
    "cmake",
    "ninja",
    "ssh",
    "watch",
    "exec",
    "numactl",
    "taskset",
    "gdb",
    "valgrind",
    "strace",
    "ltrace",
    "perf",
    "nsys",
    "ncu",
    "cuda-gdb",
    "compute-sanitizer",
    "cuda-memcheck",
    "xvfb-run",
    "parallel",
    "xargs",
    "stdbuf",
    "script",
    "module",
    "systemctl",
    "journalctl",
    "logread",
    "service",
    "run",
    "exec",
    "compose",
    "java",
    "node",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "rscript",
    "julia",
    "perl",
    "ruby",
    "go",
    "cargo",
    "rustc",
    "pixi",
    "-u",
    "snakemake",
    "nextflow",
    "qsub",
    "bsub",
    "condor_submit",
    "screen",
    "tmux",
    "then",
    "do",
    "if",
    "for",
    "while",
    "ipython",
    "jupyter",
    "start",
    "cmd",
    "powershell",
    "pwsh",
    "deepspeed",
];

/// Commands that look at things and put them in order: what stands behind one is no program that was run.
const LOOKS: &[&str] = &[
    "cd",
    "set",
    "export",
    "ls",
    "cat",
    "tail",
    "head",
    "grep",
    "findstr",
    "nvidia-smi",
    "free",
    "dmesg",
    "pip",
    "pip3",
    "echo",
    "sleep",
    "kill",
    "df",
    "du",
    "top",
    "htop",
    "mkdir",
    "rm",
    "cp",
    "mv",
    "chmod",
    "ulimit",
    "which",
    "whereis",
    "pwd",
    "vim",
    "nano",
    "less",
    "apt",
    "apt-get",
    "yum",
    "dnf",
    "brew",
    "unset",
    "alias",
    "history",
    "clear",
    "nvtop",
    "ps",
    "uname",
    "lspci",
    "cut",
    "awk",
    "sed",
    "sort",
    "wc",
    "find",
    "sysctl",
    "umask",
    "jq",
    "yq",
    "vmstat",
    "lscpu",
    "exit",
    "tee",
    "curl",
    "wget",
    "nproc",
    "whoami",
    "id",
    "scp",
    "ln",
    "touch",
    "tree",
    "lsblk",
    "mount",
    "egrep",
    "zcat",
    "xxd",
    "date",
    "hostname",
    "rocm-smi",
    "getconf",
    "stat",
    "sha256sum",
    "md5sum",
    "type",
    "man",
    "lsof",
    "lsmod",
    "modinfo",
    "swapon",
    "fallocate",
    "numastat",
    "sacct",
    "seff",
    "squeue",
    "scontrol",
    "sinfo",
    "scancel",
    "nl",
    "uniq",
    "tr",
    "printf",
    "bc",
    "seq",
    "unzip",
];

/// Of those that run others, programs in their own right.
const WATCHERS: &[&str] = &["perf", "valgrind", "strace", "gdb", "nsys", "ncu", "compute-sanitizer", "cuda-gdb"];

/// Commands of tmux's own, which are no programs that it runs.
const OF_TMUX: &[&str] =
    &["attach", "attach-session", "kill-server", "kill-session", "ls", "list-sessions", "show", "-V"];

/// What a container is run by: its image is named behind it.
const CONTAINERS: &[&str] =
    &["docker", "podman", "nerdctl", "singularity", "apptainer", "enroot", "shifter", "kubectl", "crictl", "udocker"];

/// True for a command that runs or looks at others.
pub fn is_wrapper(name: &str) -> bool {
    let name = without_release(name).to_ascii_lowercase();
    WRAPPERS.contains(&name.as_str()) || LOOKS.contains(&name.as_str())
}

/// What a line runs.
#[derive(Clone)]
struct Run(Option<(Way, Program)>);

/// What the commands around the message name: the last before it, and others.
pub(super) fn all(document: &Document, position: usize, found: &mut dyn FnMut(Way, Program)) {
    let from = position.saturating_sub(BEFORE);
    let end = position.saturating_add(AFTER + 1).min(document.lines.len());
    let at_line = |at: usize| {
        let text = head(&document.lines.get(at)?.text);
        let run = document.memo.of(text, || Run(of_line(text))).0;
        run.or_else(|| of_line(&format!("$ {}", headed(document, at)?)))
    };
    let commands = (from..=position).rev().chain(position + 1..end).filter_map(at_line);
    for (at, (way, program)) in commands.take(MOST).enumerate() {
        found(if at == 0 { way } else { Way::Mention }, program);
    }
    echoed(document, position).into_iter().for_each(|program| found(Way::Echo, program));
}

/// The command that stands below its heading, as workflows print it: `Command executed:`, `shell:`.
fn headed(document: &Document, at: usize) -> Option<&str> {
    const HEADINGS: &[&str] = &["Command executed:", "shell:", "Command:", "command:", "Command line:", "script:"];
    if !HEADINGS.contains(&document.lines.get(at)?.text.trim()) {
        return None;
    }
    let mut below = document.lines.get(at + 1..)?.iter().take(4).map(|line| head(&line.text).trim());
    below.find(|text| !text.is_empty() && !text.starts_with('#'))
}

/// The program that a command above runs and whose message begins with its name: of a pipeline the one that failed. Its
/// name may be a common word, `sort: memory exhausted`.
fn echoed(document: &Document, position: usize) -> Option<Program> {
    let name = head(&document.lines.get(position)?.text).split_once(": ")?.0;
    if name.len() > 32 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
        return None;
    }
    let from = position.saturating_sub(BEFORE);
    let runs = |line: &crate::input::Line| {
        let text = head(&line.text).trim_start();
        let command = text.contains(name).then(|| typed(text)).flatten().unwrap_or_default();
        let mut stages = command.split(['|', ';', '&']).take(16);
        stages.any(|stage| {
            let mut words = stage.split_whitespace().skip_while(|word| word.contains('='));
            words.next().and_then(|word| word.rsplit('/').next()) == Some(name)
        })
    };
    let run = gnu(document, position, name) || document.lines.get(from..position)?.iter().rev().any(runs);
    run.then(|| named(name).or_else(|| Program::named(name))).flatten()
}

/// True for what GNU's tools print when memory runs out: their name, and nothing but this sentence behind it, in any
/// language. A tool's name may be any word.
fn gnu(document: &Document, position: usize, name: &str) -> bool {
    const SENTENCES: &[&str] = &[
        "memory exhausted",
        "virtual memory exhausted",
        "mémoire épuisée",
        "Speicher erschöpft",
        "Speicher ist erschöpft",
        "der Speicher ist erschöpft",
        "memoria agotada",
        "memoria esaurita",
        "memória esgotada",
        "memória exaurida",
        "память исчерпана",
        "pamięć wyczerpana",
        "paměť vyčerpána",
        "minnet slut",
        "minnet är slut",
        "hukommelsen opbrugt",
        "geheugen is op",
        "onvoldoende geheugen",
        "muisti lopussa",
        "内存已耗尽",
        "内存耗尽",
        "内存用尽",
        "記憶體耗盡",
        "メモリを使い果たしました",
        "메모리가 바닥남",
    ];
    let text = field_text(document, position);
    let said = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
    let lower = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    lower && said.is_some_and(|said| SENTENCES.contains(&said.trim_end_matches(['.', ' '])))
}

fn field_text(document: &Document, at: usize) -> &str {
    document.lines.get(at).map(|line| head(&line.text).trim()).unwrap_or_default()
}

/// The interpreter that runs a command's script, of those languages whose runtime says of itself that memory ran out,
/// without a name before it: their scripts seldom catch that, and can't print anything of their own then.
fn interpreter(command: &str) -> Option<Program> {
    const LANGUAGES: &[(&str, &str)] = &[("perl", ".pl"), ("ruby", ".rb"), ("lua", ".lua"), ("php", ".php")];
    command.split_whitespace().take_while(|word| !matches!(*word, "|" | "&&" | ";")).take(6).find_map(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let found = LANGUAGES.iter().find(|(language, ending)| name == *language || name.ends_with(ending));
        found.and_then(|(language, _)| Program::named(language))
    })
}

/// The program that a command line runs; nothing where the line is none.
fn of_line(text: &str) -> Option<(Way, Program)> {
    let text = text.trim_start();
    prompt(text).or_else(|| {
        let Some(command) = typed(text).or_else(|| killed(text)) else { return unprompted(text) };
        let run = run(command).or_else(|| ended(killed(text)?));
        let script = run.is_none_or(|(way, program)| way == Way::Script && matches!(program, Program::Unlisted(_)));
        interpreter(command).filter(|_| script).map(|program| (Way::Script, program)).or(run)
    })
}

/// The program whose own prompt it is: `octave:15> …`, `sqlite> …`.
fn prompt(text: &str) -> Option<(Way, Program)> {
    // psql's, with the database: `sales=# select …`, `sales-> from …`.
    let base = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if base > 0 && ["=# ", "-# ", "=> ", "-> "].iter().any(|mark| text[base..].starts_with(mark)) {
        let statement = text[base + 3..].trim_start().split(' ').next().unwrap_or_default().to_ascii_lowercase();
        if ["select", "insert", "update", "create", "delete", "with", "explain", "copy", "set", "from", "where", "join"]
            .contains(&statement.as_str())
        {
            return Program::named("postgresql").map(|program| (Way::Command, program));
        }
    }
    let (name, _) = text.split_once("> ").or_else(|| text.trim_end().strip_suffix('>').map(|name| (name, "")))?;
    let (name, number) = name.split_once([':', '(', '[']).unwrap_or((name, ""));
    let number = number.trim_end_matches([')', ']']);
    // `cypher@cypher> …`, `trino:tpch> …`: with the database.
    let name = name.split_once('@').filter(|(user, base)| user == base).map_or(name, |(user, _)| user);
    let plain = name.len() >= 3
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let counted = number.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let program = (plain && counted && !SHELLS.contains(&name)).then(|| named(name)).flatten();
    program.map(|program| (Way::Command, program))
}

/// Shells and consoles that begin their lines with their own names.
const SHELLS: &[&str] = &["nsh", "msh", "ash", "dash", "bash", "shell", "console", "uart", "router", "switch"];

/// The program of a command line that stands alone, as copied from a script: `gridtool --cores 16 --memory 8`.
fn unprompted(text: &str) -> Option<(Way, Program)> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let plain =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'));
    let option = |word: &str| {
        let long = word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
        let short = word.len() == 2 && word.starts_with('-') && word.ends_with(|c: char| c.is_ascii_alphabetic());
        (long, short)
    };
    let (mut long, mut short, mut first) = (0, 0, None);
    for (at, word) in words.take(24).enumerate() {
        let (is_long, is_short) = option(word);
        long += usize::from(is_long);
        short += usize::from(is_short);
        first = first.or((is_long || is_short).then_some(at));
    }
    // An option behind the name or its subcommand, and another: advice names one.
    let commands = first.is_some_and(|at| at <= 1) && (long + short >= 2);
    let known = (plain && commands && !is_prose(name) && !is_wrapper(name)).then(|| named(name)).flatten()?;
    Some((Way::Executable, known))
}

/// The command that a shell quotes behind its end: `line 3: 4711 Killed   solver -i a`, `zsh: killed     solver -i a`,
/// `line 3: 4711 Aborted    (core dumped) solver -i a`.
fn killed(text: &str) -> Option<&str> {
    let ends = [" Killed  ", " killed  ", " Aborted  ", " Segmentation fault  ", " Bus error  "];
    let (before, command) = ends.iter().find_map(|end| text.split_once(end))?;
    let command = command.trim_start();
    let command = command.strip_prefix("(core dumped)").unwrap_or(command);
    let pid = before.split_whitespace().next_back()?;
    let shell = pid == "zsh:" || pid.bytes().all(|byte| byte.is_ascii_digit());
    shell.then(|| command.trim_start_matches([' ', '(', '{']))
}

/// What looks at things is a program like any other where it is what was killed.
fn ended(command: &str) -> Option<(Way, Program)> {
    let name = command.split_whitespace().next()?.rsplit('/').next()?;
    Program::named(name).filter(|_| LOOKS.contains(&name)).map(|program| (Way::Command, program))
}

/// True for a line that somebody typed.
pub(super) fn is_typed(line: &str) -> bool {
    let line = line.trim_start();
    let shell = line.split_once("$ ").is_some_and(|(prompt, _)| prompt.is_empty() || prompt.contains('@'));
    shell && typed(line).is_some()
}

/// Words with which programs quote a command.
const SAID: &[&str] = &[
    "Command: ",
    "command: ",
    "Command line: ",
    "command line: ",
    "Running: ",
    "Running command: ",
    "CMD: ",
    "cmd: ",
    "Command line was: ",
    "Command being timed: ",
    "Executing: ",
    "Command executed: ",
    "Command exited: ",
    "Run command: ",
    "running command ",
    "COMMAND: ",
    "[CMD] ",
    "[cmd] ",
    "system call for: ",
    "Command '",
    "command '",
    "Program call: ",
    "Called as: ",
    "Invoked as: ",
    "Invocation: ",
    "Call: ",
    "Arguments: ",
    "[main] CMD: ",
    "Command line arguments: ",
    "Working command: ",
    "Command line: \t",
    "ommandline - ",
    "ommandline: ",
    "ommand line - ",
    "ommand line is ",
    "mdline: ",
    "shell: ",
    "Running `",
];

/// The command behind a shell's prompt or a launcher's words.
fn typed(text: &str) -> Option<&str> {
    const PROMPTS: &[&str] = &["(initramfs) ", "$ ", "% ", "❯ ", "> ", "+ ", "# ./", "! ", "!", "➜  ~ "];
    if let Some(mark) = PROMPTS.iter().find(|mark| text.starts_with(**mark)) {
        let rest = &text[mark.len()..];
        // `!` at a line's start is a notebook's, but also an exclamation.
        // A line in a frame of them is none.
        let command =
            rest.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '/'));
        let exclaims = mark.starts_with('!') && (!command || text.trim_end().ends_with('!'));
        // `% given 1000, kept 48110`: a prover's comment. csh's prompt has a path, a file or an option behind it.
        let comments = mark.starts_with('%') && !rest.contains(['/', '.', '=']) && !rest.contains(" -");
        return Some(rest).filter(|_| !exclaims && !comments);
    }
    // `# GRID_CACHE=0 solver …`: root's plain prompt is a comment's mark too, but a comment sets no variable.
    let set = |word: &str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        name.len() >= 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    if let Some(rest) = text.strip_prefix("# ").filter(|rest| rest.split(' ').next().is_some_and(set)) {
        return Some(rest);
    }
    let front = (0..=text.len().min(FRONT)).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    // `user@host:~/work$ solver …`, `[user@host work]$ …`, `root@3f1c:/app# …`, `(env) C:\work>solver.exe …`
    for mark in ["$ ", "# ", "% ", "> "] {
        if let Some(at) = front.as_bytes().windows(mark.len()).position(|bytes| bytes == mark.as_bytes()) {
            let prompt = text[..at].trim_end();
            let last = prompt.rsplit(' ').next().unwrap_or_default();
            let shell = last.contains('@') && last.contains(':') && mark != "> "
                || prompt.contains('@') && !prompt.contains(' ')
                // `~/work$ solver …`
                || mark == "$ " && prompt.starts_with('~') && !prompt.contains(' ')
                // `login01:~/work> solver …`
                || [":~", ":/"].iter().any(|home| prompt.contains(home)) && !prompt.contains([' ', '"', '\''])
                || prompt.contains('@') && prompt.starts_with(['[', '('])
                || prompt.ends_with(')') && prompt.starts_with('(')
                || prompt.starts_with("PS ")
                // `openwrt# free`, `nsh> solver`: root's on a small system, and a shell's own.
                || mark == "# " && of_a_host(prompt) && text[at + mark.len()..].starts_with(|c: char| c.is_ascii_lowercase())
                || mark == "> " && SHELLS.contains(&prompt);
            if shell {
                return Some(&text[at + mark.len()..]);
            }
        }
    }
    if let Some((prompt, rest)) = text.split_once('>')
        && prompt.len() < 80
        && (prompt.get(1..3) == Some(":\\") || prompt.contains(") ") && prompt.contains(":\\"))
    {
        return Some(rest);
    }
    // gdb: `Core was generated by …`, `Starting program: …`
    for words in ["Core was generated by `", "Starting program: "] {
        if let Some(rest) = text.strip_prefix(words) {
            return Some(rest);
        }
    }
    // Hundreds of lines are asked for forty words, each of which is hardly ever there.
    static WORDS: LazyLock<Needles> = LazyLock::new(|| Needles::new(SAID));
    let said = WORDS.all(front.as_bytes()).min_by_key(|said| (said.number, said.start))?;
    Some(text[said.end..].trim_start_matches(['[', '\'', '"', '`', ' ', '\\', '(']))
}

/// True for the plain name of a machine.
fn of_a_host(prompt: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (2..=24).contains(&prompt.len())
        && prompt.starts_with(|c: char| c.is_ascii_lowercase())
        && prompt.bytes().all(plain)
}

/// The program that a command runs, behind all that only runs others.
fn run(command: &str) -> Option<(Way, Program)> {
    let sure = |program: Option<Program>| program.map(|program| (Way::Command, program));
    // `"C:\Program Files\grid\bin\grid.exe" -n 4`: blanks in the path.
    let quoted = command.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
    if let Some((path, _)) = quoted.filter(|(path, _)| path.contains(' ') && path.contains(['\\', '/'])) {
        let name = path.rsplit(['/', '\\']).next()?;
        let short = || Program::named(name.strip_suffix(".exe")?);
        return sure(executable(name).or_else(short)).filter(|_| !is_wrapper(name));
    }
    let mut watcher = None;
    let mut raw = command
        .split_whitespace()
        // `(ulimit -v 3145728; grid -r /data)`
        .map(|word| (word.trim_matches(['\'', '"', '`', ',', '[', ']', ';', '(', ')']), word.ends_with(';')))
        .filter(|(word, ends)| !word.is_empty() || *ends)
        .take(40)
        .skip_while(|(word, _)| word.contains('=') || word.starts_with('-'))
        .peekable();
    let (mut wrapped, mut contained, mut java) = (false, false, false);
    while let Some((word, ends)) = raw.next() {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        match word {
            // `python -m grid.train`
            "-m" if wrapped => return sure(named(raw.next()?.0.split('.').next()?)),
            // `java -jar grid-1.2.jar`
            "-jar" => return sure(executable(raw.next()?.0)),
            // `java -cp grid.jar:lib/* org.grid.Main`
            "-cp" | "-classpath" | "--class-path" if wrapped => {
                raw.next();
                continue;
            }
            "" | "&&" | "||" | "|" | "--" | "\\" => continue,
            _ => {}
        }
        // `cat a.txt | grid`: behind the pipe another command begins.
        if LOOKS.contains(&name) {
            let mut ended = ends;
            while !ended && let Some((word, ends)) = raw.next() {
                ended = ends || matches!(word, "|" | "&&" | "||");
            }
            continue;
        }
        if name.ends_with(".jar") {
            return sure(executable(name));
        }
        if is_wrapper(name) {
            wrapped = true;
            java |= matches!(name, "java" | "java.exe" | "javaw.exe");
            contained |= CONTAINERS.contains(&name);
            // `docker inspect grid`: only some of its commands run anything.
            const RUNS: &[&str] = &["run", "exec", "start", "up", "compose", "container", "shell", "instance"];
            let acts = raw.peek().is_none_or(|(next, _)| next.starts_with('-') || RUNS.contains(next));
            if matches!(name, "docker" | "podman" | "nerdctl") && !acts {
                let mut ended = ends;
                while !ended && let Some((word, ends)) = raw.next() {
                    ended = ends || matches!(word, "|" | "&&" | "||");
                }
                continue;
            }
            if name == "tmux" && raw.peek().is_some_and(|(next, _)| OF_TMUX.contains(next)) {
                return sure(Program::named(name));
            }
            if matches!(name, "kubectl" | "oc") && raw.peek().is_some_and(|(next, _)| is_kubectls(next)) {
                let mut before = "";
                return raw.find_map(|(word, _)| {
                    // The value of an option is no pod: `-n store-1`.
                    let value = std::mem::replace(&mut before, word).starts_with('-');
                    pod(word).filter(|_| !value).map(|program| (Way::Command, program))
                });
            }
            watcher = watcher.or(Some(name).filter(|name| WATCHERS.contains(name)));
            continue;
        }
        if word.starts_with('-') {
            // An option of a wrapper's, whose value may be the next word.
            let takes = word.len() == 2 && raw.peek().is_some_and(|(next, _)| next.bytes().all(|b| b.is_ascii_digit()));
            if takes {
                raw.next();
            }
            continue;
        }
        if word.contains('=') || word.bytes().all(|byte| byte.is_ascii_digit()) || word.starts_with(['<', '{', '$']) {
            continue;
        }
        // An image: `docker run … quay.io/biocontainers/grid:1.2 …`, `grid.sif`
        if wrapped && (name.ends_with(".sif") || name.ends_with(".simg")) {
            return sure(named(unversioned(name.split('.').next()?)));
        }
        if contained && name.contains(':') && !name.contains('\\') {
            match named(name.split(':').next()?) {
                Some(program) => return Some((Way::Command, program)),
                None => continue,
            }
        }
        // The value of a wrapper's option: `--gpus all`.
        if wrapped && super::word::is_common(name) {
            continue;
        }
        if java && of_a_class(word) {
            return sure(of_package(word));
        }
        return script(word, name).or_else(|| sure(watcher.and_then(Program::named)));
    }
    // `perf record -- sleep 5`: nothing else was run.
    sure(watcher.and_then(Program::named))
}

/// True for a class of Java's with its package: `org.grid.mesh.Main`.
fn of_a_class(word: &str) -> bool {
    let class = word.rsplit_once('.').map(|(_, class)| class).unwrap_or_default();
    word.matches('.').count() >= 2 && !word.contains('/') && class.starts_with(|c: char| c.is_ascii_uppercase())
}

/// True for an option or a command of kubectl's that looks at something.
fn is_kubectls(word: &str) -> bool {
    word.starts_with('-') || matches!(word, "logs" | "describe" | "get" | "top" | "delete" | "rollout")
}

/// The program that a pod is named for, without what its controller added: `gridstore-compute-0`,
/// `gridstore-7d9c5b8f4d-x2x7q`, `pod/gridstore-0`.
fn pod(word: &str) -> Option<Program> {
    let name = word.strip_prefix("pod/").unwrap_or(word);
    let (app, added) = name.split_once('-')?;
    let counted = added.bytes().any(|byte| byte.is_ascii_digit());
    (counted && !is_prose(app)).then(|| named(app)).flatten()
}

/// A script's project, or an executable's name.
fn script(path: &str, name: &str) -> Option<(Way, Program)> {
    const SCRIPTS: &[&str] =
        &[".py", ".sh", ".jl", ".R", ".r", ".ipynb", ".js", ".pl", ".rb", ".lua", ".ts", ".php", ".m"];
    let Some(ending) = SCRIPTS.iter().find(|ending| name.ends_with(**ending)) else {
        let file = is_file(name) && !name.ends_with(".exe") && !name.ends_with(".x");
        // An example or a benchmark is built on the program.
        let sample = ["example", "sample", "bench", "demo", "test"].iter().any(|word| name.contains(word));
        let way = if sample { Way::Script } else { Way::Command };
        let common =
            || commonplace(name).filter(|_| path.len() > name.len()).map(|program| (Way::Commonplace, program));
        // A letter and a digit are a name where somebody typed them: `z3`.
        let tiny = || super::word::tiny(path).map(|program| (Way::Command, program));
        return executable(name).filter(|_| !file).map(|program| (way, program)).or_else(tiny).or_else(common);
    };
    // `run_grid.py`, `grid_train.py`: the word that is no verb.
    let stem = name.strip_suffix(ending)?;
    let own: Vec<&str> = stem.split(['_', '-']).filter(|word| named(word).is_some()).collect();
    let folder = path.strip_suffix(name).unwrap_or_default().trim_end_matches(['/', '\\']);
    let folder = folder.rsplit(['/', '\\']).next().and_then(named);
    let project = match own.as_slice() {
        [one] => folder.or_else(|| named(one)),
        _ => folder.or_else(|| named(stem).filter(|_| own.len() == 2)),
    };
    project.map(|program| (Way::Script, program))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<String> {
        of_line(line).map(|(_, program)| program.id().to_string())
    }

    #[test]
    fn what_a_command_runs_is_named_behind_its_wrappers() {
        for (line, name) in [
            ("$ CUDA_VISIBLE_DEVICES=0 mpirun -np 4 gridtool -i a", Some("gridtool")),
            ("$ python -m gridlib.train --n 4", Some("gridlib")),
            ("$ java -Xmx4g -jar /opt/gridtool-2.1.jar Sort", Some("gridtool")),
            ("user@host:~/work$ srun -n 4 ./gridtool_mpi in.txt", Some("gridtool")),
            ("root@3f1c:/app# gridtool run", Some("gridtool")),
            ("(base) C:\\work>gridtool.exe -v", Some("gridtool")),
            ("\tCommand being timed: \"gridtool index a.fa\"", Some("gridtool")),
            ("$ docker run --gpus all quay.io/bio/gridtool:1.2--h3 gridtool x", Some("gridtool")),
            ("$ python run_gridnet.py --n 4", Some("gridnet")),
            ("run.sh: line 3:  4711 Killed                  ./gridtool -i a", Some("gridtool")),
            ("zsh: killed     gridtool -i a", Some("gridtool")),
            ("run.sh: line 3:  4711 Aborted                 (core dumped) ./gridtool -i a", Some("gridtool")),
            ("/opt/run.sh: line 3: 4711 Segmentation fault      (core dumped) ./gridtool", Some("gridtool")),
            ("-- Aborted  after 4 steps", None),
            ("$ python3.11 -m gridlib.train", Some("gridlib")),
            ("Log: Commandline - gridtool -M 12 -s 60", Some("gridtool")),
            ("$ gridscript5.4 index.lua", Some("gridscript")),
            ("gridtool --reads a.fq --cores 16 --memory 8", Some("gridtool")),
            ("gridtool index -t 8 -m 4G a.fa", Some("gridtool")),
            ("$ ./build/build_disk_index --data a", Some("build_disk_index")),
            ("$ ./build/main --data a", None),
            ("rerun gridtool with --cores 16", None),
            ("use --cores 16 --memory 8", None),
            ("$ python train.py", None),
            ("$ nvidia-smi", None),
            ("$ grep -n \"A\\|GRID_COUNT\" grid.h", None),
            ("$ ls -l gridtool.log", None),
            ("~/fpga/dma$ gridtool -n 4", Some("gridtool")),
            ("# GRID_CACHE=0 gridtool -n 4", Some("gridtool")),
            ("# gridtool runs here", None),
            ("$ sacct -j 4711 -o JobID,State", None),
            ("job.sh: line 4: 4711 Killed                  grep -w -f a.txt b.txt", Some("grep")),
            ("$ cat a.txt | gridtool -n 4", Some("gridtool")),
            ("login01:~/cam> gridtool -v U,V a.nc", Some("gridtool")),
            ("% given 1000, kept 48110", None),
            ("% ./gridtool -n 4", Some("gridtool")),
            ("$ tmux attach -t build", Some("tmux")),
            ("$ kubectl describe pod gridstore-compute-0 | grep -A7 State", Some("gridstore")),
            ("$ kubectl -n prod logs gridstore-7d9c5b8f4d-x2x7q --previous", Some("gridstore")),
            ("$ kubectl get pods", None),
            ("$ kubectl -n store-1 logs web", None),
            ("$ cd /work; gridtool -n 4", Some("gridtool")),
            ("$ (ulimit -v 3145728; gridtool -n 4)", Some("gridtool")),
            ("$ sudo gridprof record -e count:P,load -- sleep 5", Some("gridprof")),
            ("! le grid est arrêté                 !", None),
            ("a line of text", None),
        ] {
            assert_eq!(of(line).as_deref(), name, "{line}");
        }
    }
}
