//! Which program a message is of, from how programs show themselves: the class of an exception, a namespace, the prefix
//! of a log line, the innermost frame of a traceback, an executable, a command, a banner.
//!
//! The program whose memory ran out is named, so what stands nearest to the message counts most: the message's own
//! line, then the library of the innermost frame, then what is known to print the lines around, then the command.

use crate::domain::Program;
use crate::input::Document;
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// Lines around the message in which a program may show itself.
const BEFORE: usize = 40;
const AFTER: usize = 15;
/// Lines from the beginning of a log in which a program says who it is.
const BANNER: usize = 40;
/// Of a longer line only this much is looked at.
const LONGEST: usize = 4 << 10;

/// All markers of the listed programs, searched in one pass.
static MARKERS: LazyLock<Markers> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut programs = Vec::new();
    for program in Program::LISTED {
        for marker in program.markers() {
            words.push(*marker);
            programs.push(*program);
        }
    }
    let search = |any_case: bool| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(any_case)
            .build(&words)
            .ok()
    };
    Markers { as_printed: search(false), lowered: search(true), programs }
});

struct Markers {
    as_printed: Option<AhoCorasick>,
    /// For lines that were put in lower case.
    lowered: Option<AhoCorasick>,
    programs: Vec<Program>,
}

/// The program whose message stands at `position`, as far as anything names it.
pub fn program(document: &Document, position: usize) -> Option<Program> {
    let line = head(&document.lines.get(position)?.text);
    on_line(line)
        .or_else(|| frame(document, position))
        .or_else(|| around(document, position))
        .or_else(|| prefix(line))
        .or_else(|| executable(document, position))
        .or_else(|| command(document, position))
        .or_else(|| banner(document, position))
}

/// The program that called the interface whose error stands at `position`, where its own line, the innermost frame or
/// a marker around names it.
pub fn caller(document: &Document, position: usize) -> Option<Program> {
    let line = head(&document.lines.get(position)?.text);
    on_line(line).or_else(|| frame(document, position)).or_else(|| around(document, position))
}

/// The program that the words of a message's own line name.
pub fn on_line(line: &str) -> Option<Program> {
    let line = head(line);
    exception(line).or_else(|| marker(line)).or_else(|| namespace(line))
}

/// The listed program whose marker stands on a line; of several the longest.
pub fn marker(line: &str) -> Option<Program> {
    let line = head(line);
    let lowered = !line.bytes().any(|byte| byte.is_ascii_uppercase());
    let search = if lowered { &MARKERS.lowered } else { &MARKERS.as_printed };
    let found = search.as_ref()?.find_iter(line).max_by_key(|found| found.len())?;
    MARKERS.programs.get(found.pattern().as_usize()).copied()
}

fn head(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// A name that could be a program's, in the spelling of the list.
fn named(word: &str) -> Option<Program> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters < 2 || word.len() > 32 || !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    // Hexadecimal, and words that name a role, a level, a part of any program.
    if NO_NAMES.contains(&lower.as_str()) || lower.bytes().all(|byte| byte.is_ascii_hexdigit()) && letters < lower.len()
    {
        return None;
    }
    let known = |name: &str| Program::named(name).filter(|program| !matches!(program, Program::Unlisted(_)));
    known(&lower).or_else(|| known(&lower.replace('_', "-"))).or_else(|| Program::named(&lower))
}

/// Words in the place of a name that name no program.
const NO_NAMES: &[&str] = &[
    "error",
    "errors",
    "err",
    "warning",
    "warn",
    "info",
    "debug",
    "trace",
    "notice",
    "fatal",
    "critical",
    "crit",
    "panic",
    "exception",
    "exceptions",
    "failed",
    "failure",
    "fail",
    "abort",
    "aborted",
    "killed",
    "what",
    "why",
    "note",
    "hint",
    "help",
    "usage",
    "tip",
    "cause",
    "caused",
    "reason",
    "message",
    "msg",
    "status",
    "state",
    "result",
    "code",
    "errno",
    "main",
    "thread",
    "worker",
    "workers",
    "rank",
    "process",
    "pid",
    "tid",
    "job",
    "task",
    "node",
    "host",
    "localhost",
    "server",
    "client",
    "service",
    "app",
    "application",
    "program",
    "module",
    "core",
    "common",
    "utils",
    "util",
    "lib",
    "libs",
    "src",
    "bin",
    "root",
    "user",
    "stdout",
    "stderr",
    "stdin",
    "log",
    "logger",
    "logging",
    "console",
    "output",
    "gpu",
    "cpu",
    "cuda",
    "cudart",
    "hip",
    "rocm",
    "opencl",
    "vulkan",
    "device",
    "driver",
    "nvidia",
    "amd",
    "intel",
    "memory",
    "mem",
    "malloc",
    "alloc",
    "allocator",
    "allocation",
    "buffer",
    "cache",
    "pool",
    "heap",
    "oom",
    "ram",
    "vram",
    "epoch",
    "step",
    "iter",
    "batch",
    "train",
    "training",
    "test",
    "tests",
    "eval",
    "model",
    "loading",
    "load",
    "init",
    "start",
    "stop",
    "run",
    "runner",
    "exec",
    "engine",
    "runtime",
    "kernel",
    "system",
    "std",
    "builtins",
    "exit",
    "signal",
    "traceback",
    "file",
    "line",
    "frame",
    "stack",
    "backtrace",
    "type",
    "value",
    "name",
    "path",
    "http",
    "https",
    "time",
    "date",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "utc",
    "runtimeerror",
    "memoryerror",
    "valueerror",
    "oserror",
    "systemerror",
    "assertionerror",
    "python",
    "python3",
];

/// `cupy.cuda.memory.OutOfMemoryError: …`: the first part of an exception's class, where a package stands before it.
pub fn exception(line: &str) -> Option<Program> {
    const NO_PACKAGES: &[&str] = &[
        "builtins",
        "__main__",
        "concurrent",
        "multiprocessing",
        "subprocess",
        "java",
        "javax",
        "System",
        "errors",
        "core",
        "std",
        "org",
        "com",
        "exceptions",
    ];
    const ENDINGS: &[&str] = &["Error", "Exception", "OutOfMemory", "OOM", "Exhausted", "Failure"];
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).take(64).find_map(|word| {
        let word = word.trim_matches('.');
        let (package, class) = word.rsplit_once('.')?;
        let is_class = class.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && ENDINGS.iter().any(|ending| class.contains(ending));
        let first = package.split('.').next()?;
        let plain = first.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        if !is_class || !plain || NO_PACKAGES.contains(&first) {
            return None;
        }
        named(first.trim_start_matches('_'))
    })
}

/// `faiss::gpu::…`: the first part of a C++ or Rust path that is no language's own.
fn namespace(line: &str) -> Option<Program> {
    const LANGUAGES: &[&str] = &[
        "std",
        "__gnu_cxx",
        "boost",
        "core",
        "alloc",
        "sycl",
        "cl",
        "vk",
        "cuda",
        "hip",
        "absl",
        "google",
        "detail",
        "fmt",
        "spdlog",
        "tokio",
        "ze",
        "ur",
        "gpu",
        "nv",
        "anyhow",
        "Error",
    ];
    line.match_indices("::").take(16).find_map(|(at, _)| {
        let before = &line[..at];
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |i| i + 1);
        // The first part only: what stands behind another `::` is inside it.
        if before[..start].ends_with("::") || start == at {
            return None;
        }
        let word = &before[start..];
        if LANGUAGES.contains(&word) || !word.starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        named(word)
    })
}

/// The package of the innermost frame of the traceback that ends at the message, or of a stack printed below it.
fn frame(document: &Document, position: usize) -> Option<Program> {
    let from = position.saturating_sub(BEFORE);
    let before = document.lines.get(from..position)?.iter().rev();
    let mut frames = 0;
    for line in before {
        let text = head(&line.text);
        let is_frame = text.trim_start().starts_with("File \"")
            || text.contains(", line ")
            || text.trim_start().starts_with("at ");
        if is_frame {
            frames += 1;
            if let Some(program) = package(text) {
                return Some(program);
            }
        }
        if text.starts_with("Traceback") && frames > 0 {
            break;
        }
    }
    let behind = document.lines.get(position..position.saturating_add(AFTER + 1).min(document.lines.len()))?;
    behind.iter().find_map(|line| package(head(&line.text)))
}

/// Packages that only pass calls on.
const CALLERS: &[&str] = &[
    "click",
    "typer",
    "uvicorn",
    "starlette",
    "fastapi",
    "flask",
    "werkzeug",
    "gradio",
    "streamlit",
    "anyio",
    "asyncio",
    "tqdm",
    "joblib",
    "_pytest",
    "pluggy",
    "pytest",
    "requests",
    "urllib3",
    "ipython",
    "ipykernel",
    "tenacity",
    "hydra",
    "fire",
    "absl",
    "wrapt",
    "decorator",
    "typing_extensions",
    "gunicorn",
    "celery",
    "loguru",
];

/// The package in which a file lies, by the folder that its language installs packages in.
fn package(text: &str) -> Option<Program> {
    const FOLDERS: &[&str] = &[
        "site-packages/",
        "dist-packages/",
        "site-packages\\",
        "node_modules/",
        ".julia/packages/",
        "registry/src/",
        "/go/pkg/mod/github.com/",
        "R/library/",
    ];
    FOLDERS.iter().find_map(|folder| {
        let at = text.rfind(folder)?;
        let mut rest = &text[at + folder.len()..];
        // `registry/src/index-…/name-1.2.3/`, `github.com/owner/name@v1`
        if folder.starts_with("registry") || folder.starts_with("/go") {
            rest = rest.split_once('/')?.1;
        }
        let (name, _) = rest.split_once(['/', '\\', '@']).or_else(|| rest.split_once('.'))?;
        let version = name.rfind('-').filter(|at| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let name = &name[..version.unwrap_or(name.len())];
        if CALLERS.contains(&name.to_ascii_lowercase().as_str()) {
            return None;
        }
        match name {
            "AMDGPU" => Some(Program::AmdGpu),
            _ if folder.starts_with(".julia") => Some(Program::Julia),
            "torch" | "torch_npu" | "torchvision" => Some(Program::Pytorch),
            _ => named(name),
        }
    })
}

/// The listed program whose marker stands nearest.
fn around(document: &Document, position: usize) -> Option<Program> {
    let from = position.saturating_sub(BEFORE);
    let to = position.saturating_add(AFTER + 1).min(document.lines.len());
    let before = document.lines.get(from..position).unwrap_or_default().iter().rev();
    let after = document.lines.get(position + 1..to).unwrap_or_default().iter();
    before.chain(after).find_map(|line| marker(&line.text))
}

/// The name in front of a log line's text: `[FooServer] …`, `foo: error: …`, `ERROR:foo.bar:…`, `… - foo.bar - ERROR -
/// …`.
fn prefix(line: &str) -> Option<Program> {
    const LEVELS: &[&str] = &[
        "error", "err", "e", "fatal", "f", "critical", "c", "panic", "warning", "warn", "w", "info", "i", "debug", "d",
        "notice", "trace", "severe", "crit", "fail",
    ];
    let is_level = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
        LEVELS.contains(&word.as_str())
    };
    let mut rest = line.trim_start();
    for _ in 0..8 {
        let Some(word) = rest.split_whitespace().next() else { break };
        let body = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits = body.bytes().filter(u8::is_ascii_digit).count();
        let behind = rest.get(word.len()..).unwrap_or_default().trim_start();
        // A path to an executable: `./bin/solver: out of memory`.
        if word.ends_with(':') && (word.starts_with("./") || word.starts_with('/')) {
            return named(body.rsplit('/').next()?.trim_end_matches(".exe"));
        }
        // `ERROR:foo.bar:…`
        if let Some((level, logger)) = word.split_once(':')
            && is_level(level)
            && !logger.is_empty()
        {
            return named(logger.split(['.', ':']).next()?);
        }
        if body.is_empty() || digits * 2 > body.len() || is_level(word) || body.contains(':') || digits >= 6 {
            rest = behind;
            continue;
        }
        // `foo.cc:123] …` and `[file.py:12]` name no program, and no name follows them.
        if word.ends_with(']') && !word.starts_with('[') && word.contains(".c") {
            return None;
        }
        let bracketed = word.starts_with('[') && (word.ends_with(']') || word.ends_with("]:"));
        let logger = behind.starts_with('-') || behind.starts_with('|');
        if bracketed || logger {
            let name = body.split(['.', '/', ':']).next()?;
            match named(name).filter(|_| !body.contains(".py") && !body.contains(".cpp")) {
                Some(program) => return Some(program),
                None => {
                    rest = behind.trim_start_matches(['-', '|', ' ']);
                    continue;
                }
            }
        }
        if word.ends_with(':') {
            let name = body.split('[').next()?;
            let is_class = ["Error", "Exception", "OutOfMemory"].iter().any(|end| name.contains(end));
            let call = name.contains('(') || word.contains("()");
            return if is_class || call { None } else { own_name(name) };
        }
        break;
    }
    None
}

/// A program's name before a colon: `solver:`. A function's, such as `solver_alloc_grid:`, names its library by the
/// first of its words, unless that is a verb or a part of any program.
fn own_name(name: &str) -> Option<Program> {
    const VERBS: &[&str] = &[
        "get",
        "set",
        "create",
        "make",
        "new",
        "try",
        "do",
        "read",
        "write",
        "open",
        "copy",
        "build",
        "allocate",
        "malloc",
        "calloc",
        "realloc",
        "mmap",
        "free",
        "upload",
        "cudamalloc",
        "hipmalloc",
        "posix",
    ];
    let known = named(name)?;
    if !matches!(known, Program::Unlisted(_)) {
        return Some(known);
    }
    let first = name.split('_').next().unwrap_or(name);
    // camelCase is a function's.
    let camel = name.bytes().zip(name.bytes().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
        && name.starts_with(|c: char| c.is_ascii_lowercase());
    if camel || VERBS.contains(&first.to_ascii_lowercase().as_str()) {
        return None;
    }
    if name.matches('_').count() >= 2 { named(first) } else { Some(known) }
}

/// The executable that a shell, a runtime or a stack names around the message.
fn executable(document: &Document, position: usize) -> Option<Program> {
    let from = position.saturating_sub(AFTER);
    let to = position.saturating_add(AFTER + 1).min(document.lines.len());
    document.lines.get(from..to)?.iter().find_map(|line| {
        let text = head(&line.text);
        let path = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | '\'' | '"' | '`' | ',')).take(64).find(
            |word| {
                let word = word.trim_end_matches(':');
                (word.starts_with("./") && !word.ends_with(".sh") && !word.ends_with(".py") || word.contains("/bin/"))
                    && word
                        .rsplit('/')
                        .next()
                        .is_some_and(|last| !last.is_empty() && !last.contains('.') || last.ends_with(".exe"))
            },
        )?;
        let name = path.trim_end_matches(':').rsplit('/').next()?;
        (!WRAPPERS.contains(&name)).then(|| named(name.trim_end_matches(".exe"))).flatten()
    })
}

/// Commands that run or look at others.
const WRAPPERS: &[&str] = &[
    "sudo",
    "srun",
    "sbatch",
    "mpirun",
    "mpiexec",
    "nohup",
    "time",
    "env",
    "torchrun",
    "accelerate",
    "python",
    "python3",
    "python2",
    "bash",
    "sh",
    "zsh",
    "docker",
    "podman",
    "conda",
    "mamba",
    "uv",
    "poetry",
    "apptainer",
    "singularity",
    "timeout",
    "nice",
    "ionice",
    "cd",
    "export",
    "ls",
    "cat",
    "tail",
    "head",
    "grep",
    "nvidia-smi",
    "free",
    "kubectl",
    "dmesg",
    "git",
    "pip",
    "pip3",
    "source",
    "echo",
    "make",
    "cmake",
    "ninja",
    "ssh",
    "watch",
    "sleep",
    "kill",
    "df",
    "du",
    "top",
    "htop",
    "exec",
    "set",
];

/// The program of the last command line before the message.
fn command(document: &Document, position: usize) -> Option<Program> {
    let from = position.saturating_sub(400);
    document.lines.get(from..=position)?.iter().rev().find_map(|line| {
        let text = head(&line.text).trim_start();
        let prompt = ["$ ", "% ", "❯ ", "> ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)).or_else(|| {
            // `user@host:~/work$ solver …`
            let at = text.find("$ ").filter(|at| *at < 80)?;
            (text[..at].contains('@') || text[..at].ends_with(')')).then(|| &text[at + 2..])
        });
        let prompt = prompt.or_else(|| {
            ["Command: ", "command: ", "Running: ", "CMD: "].iter().find_map(|mark| text.strip_prefix(mark))
        })?;
        let mut words =
            prompt.split_whitespace().take(24).skip_while(|word| word.contains('=') || word.starts_with('-'));
        let mut word = words.next()?;
        while let name = word.rsplit('/').next()?
            && (WRAPPERS.contains(&name)
                || word.starts_with('-')
                || word.contains('=')
                || word.bytes().all(|b| b.is_ascii_digit()))
        {
            if word == "-m" {
                return named(words.next()?.split('.').next()?);
            }
            word = words.next()?;
        }
        let name = word.rsplit('/').next()?;
        let script = [".py", ".sh", ".jl", ".R", ".ipynb"].iter().any(|end| name.ends_with(end));
        if script { None } else { named(name.trim_end_matches(".exe").trim_end_matches(".jar")) }
    })
}

/// What a program says of itself when it starts: `foo version 2.1`, `Foo v1.0.3`.
fn banner(document: &Document, position: usize) -> Option<Program> {
    let end = position.min(BANNER);
    document.lines.get(..end)?.iter().find_map(|line| {
        let text = head(&line.text);
        let words: Vec<&str> = text.split_whitespace().take(12).collect();
        let number = |word: &str| {
            let word = word.trim_start_matches(['v', 'V', '(']);
            word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && !word.contains(':')
        };
        let at = words.iter().position(|word| {
            word.trim_end_matches(':').eq_ignore_ascii_case("version") || word.starts_with(['v', 'V']) && number(word)
        })?;
        if words[at].len() >= 7 && !words.get(at + 1).is_some_and(|word| number(word)) {
            return None;
        }
        const OTHERS: [&str; 14] = [
            "cuda",
            "driver",
            "nvidia-smi",
            "python",
            "gcc",
            "kernel",
            "linux",
            "torch",
            "compiler",
            "nccl",
            "cudnn",
            "runtime",
            "api",
            "opencl",
        ];
        let name = words.get(at.checked_sub(1)?)?.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if OTHERS.contains(&name.to_ascii_lowercase().as_str()) { None } else { named(name) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        let document = Document::from_text("-", text);
        program(&document, document.lines.len().saturating_sub(1)).map(|program| program.id().to_string())
    }

    #[test]
    fn an_exceptions_package_names_its_program() {
        assert_eq!(of("cupy.cuda.memory.OutOfMemoryError: x").as_deref(), Some("cupy"));
        assert_eq!(of("fieldsolver.errors.DeviceOOM: x").as_deref(), Some("fieldsolver"));
        assert_eq!(of("concurrent.futures.BrokenError: x"), None);
        assert_eq!(of("MemoryError: x"), None);
    }

    #[test]
    fn prefixes_of_log_lines_name_their_program() {
        assert_eq!(of("2025-03-01 10:00:00,123 [GridServer] ERROR cannot allocate").as_deref(), Some("gridserver"));
        assert_eq!(of("gridtool: error: out of memory").as_deref(), Some("gridtool"));
        assert_eq!(of("ERROR:gridlib.mesh:out of memory").as_deref(), Some("gridlib"));
        assert_eq!(of("2025-03-01 10:00:00,123 - gridlib.mesh - ERROR - out of memory").as_deref(), Some("gridlib"));
        assert_eq!(of("./build/gridtool: out of memory").as_deref(), Some("gridtool"));
        assert_eq!(of("grid_mesh_alloc: out of memory").as_deref(), Some("grid"));
        for nobody in ["ERROR: out of memory", "cudaMalloc: out of memory", "[rank 3] boom", "[2025-01-01] main: boom"]
        {
            assert_eq!(of(nobody), None, "{nobody}");
        }
    }

    #[test]
    fn the_innermost_package_of_a_traceback_is_named() {
        let log = "Traceback (most recent call last):\n  File \"/v/site-packages/click/core.py\", line 1, in main\n  \
                   File \"/v/site-packages/gridlib/mesh.py\", line 5, in grow\nRuntimeError: out of memory";
        assert_eq!(of(log).as_deref(), Some("gridlib"));
        let rust = "thread 'main' panicked at /r/.cargo/registry/src/index.io-1/gridcrate-0.4.2/src/lib.rs:9:1: oom";
        assert_eq!(of(rust).as_deref(), Some("gridcrate"));
    }

    #[test]
    fn commands_and_banners_name_their_program() {
        assert_eq!(
            of("$ CUDA_VISIBLE_DEVICES=0 mpirun -np 4 gridtool -i a\nout of memory").as_deref(),
            Some("gridtool")
        );
        assert_eq!(of("$ python -m gridlib.train\nout of memory").as_deref(), Some("gridlib"));
        assert_eq!(of("Gridtool version 3.1\nout of memory").as_deref(), Some("gridtool"));
        assert_eq!(of("$ python train.py\nout of memory"), None);
    }
}
