//! The PyTorch that a command would use: found by asking the command's own interpreter, without importing it.

use super::elf::{self, Library, Symbols};
use super::stubs;
use crate::order::InOrder;
use crate::system::is_executable;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An installed PyTorch built for CUDA.
#[derive(Debug, Clone)]
pub struct Torch {
    /// CUDA that it was built for: 13000 for 13.0.
    pub cuda: u32,
    /// cuDNN that it asks for, as `cudnnGetVersion` counts: 91900.
    pub cudnn: u32,
    /// What its libraries, and those of the extensions beside it, ask of NVIDIA's.
    pub importers: Vec<Library>,
    /// Packages beside it that have libraries of their own which use CUDA.
    pub extensions: Vec<String>,
}

/// Why there is no PyTorch to rehearse with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No interpreter was found for the command.
    Interpreter,
    /// The interpreter did not answer: what it said.
    Failed { interpreter: String, message: String },
    /// The interpreter has no `torch`.
    Torch { interpreter: String },
    /// Built without CUDA.
    CpuBuild { version: String },
    /// Built for AMD's ROCm.
    Rocm { version: String },
    /// The interpreter is told to ignore the environment or `site`, and with it the agent: by this option.
    Isolated { option: String },
    /// An interpreter for musl; NVIDIA's libraries exist for the GNU C library only.
    Musl { interpreter: String },
    /// The CUDA runtime is linked into PyTorch itself (up to 1.13), where it can't be replaced.
    StaticRuntime { version: String },
    /// The folder has no readable PyTorch.
    Unreadable { folder: PathBuf, message: String },
}

/// What the interpreter says of itself.
#[derive(Deserialize)]
struct Answer {
    executable: String,
    torch: Option<String>,
    path: Vec<String>,
    musl: bool,
}

/// Prints where `torch` is without importing it.
const QUESTION: &str = "\
import sys, json, sysconfig, importlib.util as u
try: s = u.find_spec('torch')
except Exception: s = None
l = list(s.submodule_search_locations or []) if s else []
m = any('musl' in str(sysconfig.get_config_var(name) or '') for name in ('SOABI', 'HOST_GNU_TYPE'))
print('\\n' + json.dumps({'executable': sys.executable, 'torch': l[0] if l else None, 'path': sys.path, 'musl': m}))
";

pub fn is_interpreter(word: &OsStr) -> bool {
    let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or("");
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// The file that a word of a command line starts, as a shell would find it.
pub fn on_path(word: &OsStr) -> Option<PathBuf> {
    let path = Path::new(word);
    if path.components().count() > 1 {
        return is_executable(path).then(|| path.to_path_buf());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(path)).find(|path| is_executable(path))
}

/// The interpreter of a script: the first line, or the second where installers had to wrap a long path in `/bin/sh`.
fn shebang(path: &Path) -> Option<Vec<OsString>> {
    let mut text = String::new();
    let file = BufReader::new(fs::File::open(path).ok()?.take(4096));
    for line in file.lines().take(2).map_while(Result::ok) {
        text.push_str(&line);
        text.push('\n');
    }
    let first = text.lines().next()?.strip_prefix("#!")?.trim();
    let words: Vec<&str> = first.split_whitespace().collect();
    let found: Vec<&str> = match words.as_slice() {
        [shell] if shell.ends_with("/sh") => {
            let second = text.lines().nth(1)?.strip_prefix("'''exec'")?.trim();
            let quoted = second.strip_prefix('"').and_then(|rest| rest.split('"').next());
            vec![quoted.or_else(|| second.split_whitespace().next())?]
        }
        [env, rest @ ..] if env.ends_with("/env") => rest.iter().copied().filter(|word| *word != "-S").collect(),
        words => words.to_vec(),
    };
    let interpreter = found.iter().position(|word| is_interpreter(OsStr::new(word)))?;
    Some(found.get(..=interpreter)?.iter().map(OsString::from).collect())
}

/// Whether a command is a Python interpreter, or a script for one: what it does goes through the agent.
pub fn starts_python(command: &[OsString]) -> bool {
    let Some(first) = command.first() else { return false };
    is_interpreter(first) || on_path(first).is_some_and(|path| shebang(&path).is_some())
}

/// How to start the interpreter that a command uses: `python`, `uv run python`, the one that a console script names,
/// or the first on the path for commands that hide it, such as shell scripts.
fn interpreter(command: &[OsString]) -> Option<Vec<OsString>> {
    if let Some(place) = command.iter().position(|word| is_interpreter(word)) {
        return Some(command.get(..=place)?.to_vec());
    }
    let first = command.first()?;
    let runs = command.get(1).is_some_and(|word| word == "run");
    let runner = ["uv", "poetry", "pipenv", "pdm", "rye", "pixi", "hatch"].iter().any(|runner| first == runner);
    if runner && runs {
        return Some(vec![first.clone(), "run".into(), "python".into()]);
    }
    on_path(first).and_then(|path| shebang(&path)).or_else(|| {
        ["python3", "python"].iter().find_map(|name| on_path(OsStr::new(name))).map(|path| vec![path.into()])
    })
}

/// The words of a command that decide which PyTorch it uses: up to the script, where the interpreter is named.
pub fn deciding_words(command: &[OsString]) -> Vec<OsString> {
    let Some(place) = command.iter().position(|word| is_interpreter(word)) else { return command.to_vec() };
    let options = command.iter().skip(place + 1).take_while(|word| word.as_encoded_bytes().starts_with(b"-"));
    command.iter().take(place + 2 + options.count()).cloned().collect()
}

/// The programs that a shell script starts, as far as they are Python or written in it: `python`, `torchrun`.
fn in_script(command: &[OsString]) -> Vec<OsString> {
    const MOST: usize = 8;
    const LONGEST: u64 = 1 << 20;
    let shell = |word: &OsString| {
        let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or("");
        ["sh", "bash", "dash", "zsh", "ksh"].contains(&name)
    };
    // `bash train.sh`, `bash -c "python train.py"`, `./train.sh`.
    let texts = command.iter().take(4).filter(|word| !shell(word)).map(|word| {
        let mut text = String::new();
        let file = on_path(word).or_else(|| Some(PathBuf::from(word)).filter(|path| path.is_file()));
        match file.and_then(|path| fs::File::open(path).ok()) {
            // What is no text is a program.
            Some(file) => match file.take(LONGEST).read_to_string(&mut text) {
                Ok(_) => text,
                Err(_) => String::new(),
            },
            None => word.to_string_lossy().into_owned(),
        }
    });
    let mut found: Vec<OsString> = Vec::new();
    for text in texts {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        for word in lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || ";|&()\"'`".contains(c))) {
            let word = OsString::from(word);
            let python = || is_interpreter(&word) || on_path(&word).is_some_and(|path| shebang(&path).is_some());
            if found.len() < MOST && !word.is_empty() && !found.contains(&word) && python() {
                found.push(word);
            }
        }
    }
    found
}

fn quoted(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// `python_path` is the variable that the command will have.
fn ask(command: &[OsString], python_path: Option<&OsStr>) -> Result<Answer, Missing> {
    let words = interpreter(command).ok_or(Missing::Interpreter)?;
    let (program, arguments) = words.split_first().ok_or(Missing::Interpreter)?;
    let failed = |message: String| Missing::Failed { interpreter: quoted(&words), message };
    let output = Command::new(program)
        .envs(python_path.map(|path| ("PYTHONPATH", path)))
        .args(arguments)
        .args(["-c", QUESTION])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().rev().find_map(|line| serde_json::from_str(line).ok()).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        failed(said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").to_owned())
    })
}

/// The option by which a command's interpreter is told not to look at `PYTHONPATH` or not to import `site`.
fn isolation(command: &[OsString]) -> Option<String> {
    let place = command.iter().position(|word| is_interpreter(word))?;
    let options = command.get(place + 1..)?.iter().map(|word| word.to_string_lossy());
    // Options end at the script, and at the module or text that `-m` or `-c` brings.
    let options = options.take_while(|word| word.starts_with('-') && word.len() > 1 && !word.starts_with("--"));
    for word in options {
        let letters = word.get(1..).unwrap_or("");
        let own = letters.split(['c', 'm', 'W', 'X']).next().unwrap_or("");
        if own.contains(['I', 'E', 'S']) {
            return Some(word.into_owned());
        }
        if letters.contains(['c', 'm']) {
            break;
        }
    }
    None
}

/// What a program that is no script asks for itself.
pub fn asked_by(program: &OsStr) -> Option<Library> {
    elf::read(&on_path(program)?, Symbols::Imports).ok()
}

/// `name = 'value'`, with or without a type in between.
fn assigned<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let line =
        source.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', ':', '='])))?;
    let value = line.split_once('=')?.1.trim();
    value.strip_prefix('\'')?.strip_suffix('\'')
}

/// Finds the PyTorch of a command.
///
/// # Errors
/// What is missing.
pub fn find(command: &[OsString], folder: Option<&Path>, python_path: Option<&OsStr>) -> Result<Torch, Missing> {
    match folder {
        // The folder itself or the one that it lies in.
        Some(folder) => {
            let inner = folder.join("torch");
            let folder = if inner.join("version.py").is_file() { inner } else { folder.to_path_buf() };
            let beside = folder.parent().map(Path::to_path_buf).into_iter().collect();
            read(&folder, beside)
        }
        None => {
            if let Some(option) = isolation(command) {
                return Err(Missing::Isolated { option });
            }
            // A shell may start another Python than the first one here.
            let first = command.first().filter(|_| !command.iter().any(|word| is_interpreter(word)));
            let hides = first.is_some_and(|first| on_path(first).is_some_and(|path| shebang(&path).is_none()));
            let candidates = if hides { in_script(command) } else { Vec::new() };
            let mut asked = candidates.into_iter().filter_map(|word| ask(&[word], python_path).ok());
            let answer = match asked.find(|answer| answer.torch.is_some()) {
                Some(answer) => answer,
                None => ask(command, python_path)?,
            };
            if answer.musl {
                return Err(Missing::Musl { interpreter: answer.executable });
            }
            let folder = answer.torch.ok_or(Missing::Torch { interpreter: answer.executable })?;
            read(Path::new(&folder), answer.path.into_iter().map(PathBuf::from).collect())
        }
    }
}

fn read(folder: &Path, path: Vec<PathBuf>) -> Result<Torch, Missing> {
    let unreadable =
        |error: std::io::Error| Missing::Unreadable { folder: folder.to_path_buf(), message: error.to_string() };
    let source = fs::read_to_string(folder.join("version.py")).map_err(unreadable)?;
    let version = assigned(&source, "__version__").unwrap_or("unknown").to_owned();
    if assigned(&source, "hip").is_some() {
        return Err(Missing::Rocm { version });
    }
    let Some(cuda) = assigned(&source, "cuda").and_then(cuda_number) else {
        return Err(Missing::CpuBuild { version });
    };
    let mut importers = Vec::new();
    for entry in fs::read_dir(folder.join("lib")).map_err(unreadable)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(".so") && !stubs::replaced(&name) {
            // A file that only looks like a library asks for nothing.
            importers.extend(elf::read(&entry.path(), Symbols::Imports));
        }
    }
    let asks =
        |family: &str| importers.iter().flat_map(|library| &library.needed).find(|name| name.starts_with(family));
    if asks("libcudart").is_none() {
        return Err(Missing::StaticRuntime { version });
    }
    let metadata = folder.with_file_name(format!("torch-{version}.dist-info")).join("METADATA");
    let metadata = fs::read_to_string(&metadata)
        .or_else(|_| {
            // A file name has no local version where the index dropped it.
            let plain = version.split('+').next().unwrap_or(&version);
            fs::read_to_string(folder.with_file_name(format!("torch-{plain}.dist-info")).join("METADATA"))
        })
        .unwrap_or_default();
    let cudnn = cudnn_of(&metadata).unwrap_or(if asks("libcudnn.so.8").is_some() { 8902 } else { NEWEST_CUDNN });
    let mut extensions = Vec::new();
    for folder in path.iter().filter(|folder| folder.file_name().is_some_and(|name| name != "lib-dynload")) {
        find_extensions(folder, &mut importers, &mut extensions);
    }
    extensions.order_by(Ord::cmp);
    extensions.dedup();
    Ok(Torch { cuda, cudnn, importers, extensions })
}

/// PyTorch refuses a cuDNN that is older than the one that it was built with.
const NEWEST_CUDNN: u32 = 99_900;

/// The cuDNN that a wheel asks for, as `cudnnGetVersion` counts: 91900 for 9.19.0, but 8902 for 8.9.2.
fn cudnn_of(metadata: &str) -> Option<u32> {
    let package = metadata.lines().find_map(|line| line.strip_prefix("Requires-Dist: nvidia-cudnn-cu"))?;
    let mut numbers = package.split_once("==")?.1.split(|character: char| !character.is_ascii_digit());
    let mut number = || numbers.next()?.parse::<u32>().ok().filter(|number| *number < 100);
    let (major, minor, patch) = (number()?, number()?, number()?);
    Some(if major >= 9 { major * 10_000 } else { major * 1000 } + minor * 100 + patch)
}

/// 13000 for `13.0`.
fn cuda_number(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let minor = minor.split('.').next().unwrap_or("0");
    Some(major.parse::<u32>().ok()? * 1000 + minor.parse::<u32>().ok()? * 10)
}

/// Packages with many libraries that have nothing to do with CUDA, and those that are read elsewhere.
const SKIPPED: [&str; 14] = [
    "torch",
    "nvidia",
    "numpy",
    "scipy",
    "pandas",
    "sklearn",
    "pyarrow",
    "cv2",
    "PIL",
    "matplotlib",
    "skimage",
    "cmake",
    "polars",
    "pip",
];
/// Files looked at in all packages together, and how deep.
const MOST_FILES: usize = 200_000;
const DEEPEST: usize = 7;

/// Libraries of the packages in a folder that ask for NVIDIA's.
fn find_extensions(site: &Path, importers: &mut Vec<Library>, extensions: &mut Vec<String>) {
    let mut left = MOST_FILES;
    let Ok(entries) = fs::read_dir(site) else { return };
    for package in entries.flatten() {
        let name = package.file_name().to_string_lossy().into_owned();
        if SKIPPED.contains(&name.as_str()) || name.ends_with(".dist-info") {
            continue;
        }
        let before = importers.len();
        let mut folders = vec![(package.path(), 0)];
        while let Some((path, depth)) = folders.pop() {
            let Some(next) = left.checked_sub(1) else { return };
            left = next;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.contains(".so") && !stubs::replaced(&file) {
                let asks = |library: &Library| library.needed.iter().any(|name| stubs::replaced(name));
                if elf::read(&path, Symbols::None).is_ok_and(|library| asks(&library)) {
                    importers.extend(elf::read(&path, Symbols::Imports));
                }
            } else if depth < DEEPEST
                && !file.contains('.')
                && file != "__pycache__"
                && let Ok(entries) = fs::read_dir(&path)
            {
                let inner = entries.flatten();
                folders.extend(
                    inner
                        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
                        .map(|entry| (entry.path(), depth + 1)),
                );
            }
        }
        if importers.len() > before {
            extensions.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_interpreter_is_seen_behind_launchers() {
        let seen = |line: &str| interpreter(&words(line)).map(|words| quoted(&words));
        assert_eq!(seen("/opt/env/bin/python3.11 train.py").as_deref(), Some("/opt/env/bin/python3.11"));
        assert_eq!(seen("env A=1 uv run python train.py").as_deref(), Some("env A=1 uv run python"));
        assert_eq!(seen("uv run train.py").as_deref(), Some("uv run python"));
        assert_eq!(seen("poetry run accelerate launch x.py").as_deref(), Some("poetry run python"));
    }

    #[test]
    fn a_shell_script_shows_the_programs_that_it_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("train.sh");
        fs::write(&path, "#!/bin/bash\n# python2 old.py\nset -e\ncd x && /srv/env/bin/python3.11 train.py\n")
            .expect("written");
        let seen = |words: &[&OsStr]| {
            let words: Vec<OsString> = words.iter().map(|word| word.to_os_string()).collect();
            in_script(&words)
        };
        assert_eq!(seen(&[OsStr::new("bash"), path.as_os_str()]), ["/srv/env/bin/python3.11"]);
        assert_eq!(seen(&["sh", "-c", "exec /a/python -m train"].map(OsStr::new)), ["/a/python"]);
        assert!(seen(&[OsStr::new("true")]).is_empty());
    }

    #[test]
    fn console_scripts_name_their_interpreter() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("written");
            crate::system::set_mode(&path, 0o755).expect("made runnable");
            interpreter(&[path.into_os_string(), "train.py".into()]).map(|words| quoted(&words))
        };
        assert_eq!(script("a", "#!/srv/env/bin/python\nimport x\n").as_deref(), Some("/srv/env/bin/python"));
        assert_eq!(script("b", "#!/usr/bin/env -S python3 -u\n").as_deref(), Some("python3"));
        let wrapped = "#!/bin/sh\n'''exec' \"/a long path/bin/python3\" \"$0\" \"$@\"\n' '''\n";
        assert_eq!(script("c", wrapped).as_deref(), Some("/a long path/bin/python3"));
    }

    #[test]
    fn an_interpreter_without_the_agent_is_refused() {
        let seen = |line: &str| isolation(&words(line));
        assert_eq!(seen("python -I train.py").as_deref(), Some("-I"));
        assert_eq!(seen("env A=1 python3 -u -sE train.py").as_deref(), Some("-sE"));
        for fine in
            ["python train.py -I", "python -u -m train -E", "python -cIES", "python -Wignore::ES x.py", "torchrun -I"]
        {
            assert_eq!(seen(fine), None, "{fine}");
        }
    }

    #[test]
    fn versions_are_read_from_the_file() {
        let source = "__version__ = '2.11.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\nhip = None\n";
        assert_eq!(assigned(source, "__version__"), Some("2.11.0+cu130"));
        assert_eq!(assigned(source, "cuda").and_then(cuda_number), Some(13_000));
        assert_eq!(assigned(source, "hip"), None);
        assert_eq!(cuda_number("12.4"), Some(12_040));
        assert_eq!(cuda_number("none"), None);
        let wheel =
            |cudnn: &str| format!("Name: torch\nRequires-Dist: nvidia-cudnn-{cudnn}; platform_system == 'Linux'\n");
        assert_eq!(cudnn_of(&wheel("cu13==9.26.0.33")), Some(92_600));
        assert_eq!(cudnn_of(&wheel("cu12==8.9.2.26")), Some(8902));
        assert_eq!(cudnn_of(&wheel("cu12 (==9.1.0.70) ")), Some(90_100));
        assert_eq!(cudnn_of(&wheel("cu12>=9")), None);
        assert_eq!(cudnn_of(""), None);
    }
}
