//! The packages that a traceback's frames lie in, in the languages that print one.

use super::line::of_package;
use super::word::{executable, is_common, is_prose, named, unversioned};
use super::{AFTER, BEFORE, Way, head};
use crate::domain::Program;
use crate::input::Document;
use std::sync::Arc;

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
    "contextlib2",
    "six",
    "cloudpickle",
    "dill",
    "multiprocess",
    "billiard",
    "greenlet",
    "gevent",
    "eventlet",
    "tornado",
    "rich",
    "pydantic",
    "pydantic_core",
    "attr",
    "attrs",
    "cachetools",
    "toolz",
    "fsspec",
    "pip",
    "setuptools",
    "importlib_metadata",
    "express",
    "react",
    "webpack-cli",
    "tokio",
    "rayon",
    "rayon-core",
    "hyper",
    "backtrace",
    "std",
    "core",
    "alloc",
    "threadpoolctl",
    "lazy_loader",
    "line_profiler",
    "memory_profiler",
    "timeit",
    "nbclient",
    "nbconvert",
    "papermill",
    "jupyter_client",
    "traitlets",
    "sympy_printing",
    "pyqt5",
    "pyside2",
    "pyside6",
];

/// Packages that are an interface to the device, or an array's: whoever calls them is the program.
const INTERFACES: &[&str] = &[
    "numpy",
    "scipy",
    "pycuda",
    "pyopencl",
    "cffi",
    "cython",
    "pybind11",
    "cuda",
    "numba",
    "cupy",
    "cupyx",
    "cupy_backends",
    "skcuda",
    "vulkan",
    "wgpu",
    "moderngl",
    "pyglet",
    "glfw",
    "llvmlite",
    "zarr",
    "numcodecs",
    "h5py",
    "pil",
    "imageio",
];

/// What the frames around the message name: the innermost package that is no interface, and the others.
pub(super) fn all(document: &Document, position: usize, found: &mut dyn FnMut(Way, Program)) {
    let from = position.saturating_sub(BEFORE);
    let above = document.lines.get(from..position).unwrap_or_default();
    // A traceback of Python's ends at the message: its innermost frame is the last. What stands above the cause of
    // another exception is that one's.
    let caused = document.lines.get(position).is_some_and(|line| line.text.trim_start().starts_with("Caused by:"));
    let above = if caused { &[] } else { above };
    let mut frames = Vec::new();
    let mut project = None;
    for line in above.iter().rev() {
        let text = head(&line.text);
        if text.starts_with("Traceback") && (!frames.is_empty() || project.is_some()) {
            break;
        }
        frames.extend_from_slice(&Frame::of(document, text).0);
        project = project.or_else(|| file_of(text).and_then(checkout));
    }
    tell(&frames, found);
    project.into_iter().for_each(|(way, program)| found(way, program));
    // Stacks of other languages stand below it, innermost first.
    let end = position.saturating_add(BEFORE).min(document.lines.len());
    let below = document.lines.get(position..end).unwrap_or_default();
    let mut frames = Vec::new();
    // A logger prints its line, and the traceback of the same failure behind it.
    let mut checkouts = below.iter().take(AFTER).filter_map(|line| checkout(file_of(head(&line.text))?));
    if project.is_none() {
        checkouts.next_back().into_iter().for_each(|(way, program)| found(way, program));
    }
    for (at, line) in below.iter().enumerate() {
        let frame = Frame::of(document, head(&line.text)).0;
        if frame.is_empty() && at > AFTER && frames.is_empty() {
            break;
        }
        frames.extend_from_slice(&frame);
    }
    tell(&frames, found);
}

/// True for what programs call: where a traceback shows another package, that one is the program.
pub(super) fn is_interface(program: Program) -> bool {
    INTERFACES.contains(&program.id())
}

/// Hands over frames, innermost first.
fn tell(frames: &[Program], found: &mut dyn FnMut(Way, Program)) {
    let interface = |program: &&Program| is_interface(**program);
    let innermost = frames.iter().find(|program| !interface(program)).or(frames.first());
    let Some(innermost) = innermost else { return };
    found(Way::Frame, *innermost);
    let mut told = vec![*innermost];
    for program in frames {
        if !told.contains(program) && told.len() < 4 && !interface(&program) {
            found(Way::OuterFrame, *program);
            told.push(*program);
        }
    }
}

/// The packages that a line's frame is of.
#[derive(Clone)]
struct Frame(Arc<[Program]>);

impl Frame {
    fn of(document: &Document, line: &str) -> Frame {
        document.memo.of(line, || Frame(frame(line).into()))
    }
}

/// The packages of one frame; nothing where a line is none.
fn frame(text: &str) -> Vec<Program> {
    // `…/site-packages/grid/mesh.py:1: FutureWarning: …`: printed where it is deprecated, and no frame.
    if text.contains("Warning: ") && !text.contains("File \"") {
        return Vec::new();
    }
    if let Some(program) = package(text) {
        return vec![program];
    }
    let start = text.trim_start();
    // Java, Scala: `at org.grid.mesh.Mesh.grow(Mesh.java:12)`; .NET: `at Grid.Mesh.Grow() in …`
    if let Some(call) = start.strip_prefix("at ").map(|call| call.rsplit('@').next().unwrap_or(call)) {
        let path = call.split(['(', ' ']).next().unwrap_or_default();
        let path = path.rsplit('/').next().unwrap_or(path);
        if path.matches('.').count() >= 2 {
            let first = path.split('.').next().unwrap_or_default();
            let script = [".js", ".ts", "node:", "<anonymous>"].iter().any(|mark| text.contains(mark));
            if script && !first.starts_with(char::is_lowercase) {
                return Vec::new();
            }
            let method = path.rsplit_once('.').map_or(path, |(class, _)| class);
            let other = || named(first).filter(|_| text.contains(" in ") && first.starts_with(char::is_lowercase));
            return of_package(method).or_else(other).into_iter().collect();
        }
    }
    // MATLAB: `Error using grid_mex`, `Error in gridtool (line 61)`
    let failed = start.strip_prefix("Error using ").or_else(|| start.strip_prefix("Error in "));
    if let Some(name) = failed.and_then(|rest| rest.split_whitespace().next())
        && (start.contains(" (line ") || start.split_whitespace().count() == 3)
    {
        let library = name.split('_').next().filter(|library| library.len() >= 3).unwrap_or(name);
        return named(library).filter(|_| !is_prose(library)).into_iter().collect();
    }
    // Intel's Fortran: `solver  0000000001E3A2F4  Unknown  Unknown  Unknown` under `Image PC Routine Line Source`.
    let columns: Vec<&str> = text.split_whitespace().take(6).collect();
    if let [image, counter, _, _, ..] = columns.as_slice()
        && counter.len() == 16
        && counter.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return executable(image).filter(|_| !image.contains(".so")).into_iter().collect();
    }
    // Cython: `File "_grid.pyx", line 5, in _grid.Mesh.grow`
    let module = file_of(text).and_then(|path| path.strip_suffix(".pyx"));
    if let Some(name) = module.and_then(|path| path.rsplit(['/', '\\']).next()) {
        return named(name.trim_start_matches('_')).into_iter().collect();
    }
    if let Some(program) = windows_module(start) {
        return vec![program];
    }
    if let Some(cause) = start.strip_prefix("Caused by: ") {
        return super::line::exception(cause).into_iter().collect();
    }
    // C++: `#3 0x… in grid::Mesh::grow()`, `./grid(_ZN4grid4growEv+0x12) [0x…]`, Rust: `12: grid::mesh::grow`
    let numbered = start.trim_start_matches('#').split_once([' ', ':']).filter(|(number, _)| {
        !number.is_empty() && number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let native = text.contains("[0x") || text.contains("(+0x") || numbered.is_some() && text.contains("::");
    if native {
        if let Some(at) = text.find("_ZN") {
            let mangled = text[at + 3..].trim_start_matches('K');
            let digits = mangled.bytes().take_while(u8::is_ascii_digit).count();
            let length: usize = mangled[..digits].parse().unwrap_or_default();
            let name = mangled.get(digits..digits.saturating_add(length)).unwrap_or_default();
            let known = ["std", "c10", "at", "torch", "boost", "tbb", "core", "alloc"];
            return if known.contains(&name) { Vec::new() } else { named(name).into_iter().collect() };
        }
        let mut names = Vec::new();
        super::line::all(text, false, &mut |way, program| {
            if way == Way::Namespace {
                names.push(program);
            }
        });
        names.truncate(1);
        return names;
    }
    // Elixir: `(grid 1.2.3) lib/grid/mesh.ex:12: …`
    if let Some((name, version)) = start.strip_prefix('(').and_then(|inner| inner.split_once(')')?.0.split_once(' '))
        && version.starts_with(|c: char| c.is_ascii_digit())
        && !matches!(name, "elixir" | "stdlib" | "kernel" | "erts")
    {
        return named(name).into_iter().collect();
    }
    // A script that an installer wrote: `File "/usr/local/bin/grid", line 8, in <module>`
    let path = file_of(text);
    path.filter(|path| path.contains("/bin/") && !path.ends_with(".py")).and_then(executable).into_iter().collect()
}

/// The module of a frame of Windows: `0x00007ff… Grid-Core.dll!Mesh::grow()`, `Grid.exe!main`.
fn windows_module(text: &str) -> Option<Program> {
    const SYSTEM: &[&str] = &[
        "ntdll",
        "kernel32",
        "kernelbase",
        "ucrtbase",
        "user32",
        "msvcrt",
        "vcruntime140",
        "msvcp140",
        "d3d12",
        "dxgi",
    ];
    let at = text.find(".dll!").or_else(|| text.find(".exe!"))?;
    let name = text[..at].rsplit(|c: char| c.is_whitespace() || matches!(c, '\\' | '/' | '[' | ']')).next()?;
    let lower = name.to_ascii_lowercase();
    let system = SYSTEM.contains(&lower.as_str()) || lower.starts_with("nv") || lower.starts_with("cu");
    named(name.split('-').next()?).filter(|_| !system)
}

/// The file of a frame as Python prints it.
fn file_of(text: &str) -> Option<&str> {
    text.split_once("File \"").and_then(|(_, rest)| rest.split_once('"')).map(|(path, _)| path)
}

/// The project in whose checkout a frame's file lies: `/home/NAME/gridnet/train/loop.py`, `/opt/gridnet/main.py`. A
/// program that is run from its sources shows in no other way, and its folder keeps the repository's name.
pub(super) fn checkout(path: &str) -> Option<(Way, Program)> {
    /// Below these, one folder for each person or volume.
    const OF_EACH: &[&str] = &["home", "Users", "users", "mnt", "media", "scratch", "gpfs", "lustre"];
    /// Folders that hold projects, and those of a system, in which no checkout lies.
    const HOLDERS: &[&str] = &[
        "workspaces",
        "repos",
        "git",
        "github",
        "gitlab",
        "srv",
        "working",
        "kaggle",
        "research",
        "documents",
        "downloads",
        "dev",
        "develop",
        "development",
        "ws",
        "code",
        "codes",
        "my",
        "proj",
        "extra",
    ];
    const SYSTEM: &[&str] = &["usr", "lib", "lib64", "proc", "tmp", "var", "etc", "bin", "run", "nix", "snap"];
    const INSTALLED: &[&str] = &["site-packages", "dist-packages", "/lib/python", "\\Lib\\", "ipykernel", "<"];
    if INSTALLED.iter().any(|mark| path.contains(mark)) {
        return None;
    }
    let drive = path.get(1..3).is_some_and(|mark| mark == ":\\" || mark == ":/");
    if !path.starts_with('/') && !drive {
        return None;
    }
    let mut folders: Vec<&str> =
        path.split(['/', '\\']).filter(|part| !part.is_empty() && !part.ends_with(':')).collect();
    folders.pop();
    // `C:\Users\NAME\AppData\Local\gridtool\app-1.2\…`: where an installer put it.
    if let Some(at) = folders.iter().position(|folder| *folder == "AppData") {
        let own = folders.get(at + 2..)?.iter().find(|folder| !matches!(**folder, "Programs" | "Temp" | "Packages"))?;
        return named(unversioned(own)).filter(|_| !is_common(own)).map(|program| (Way::Frame, program));
    }
    // `…/Grid-master/grid/mesh.py`, `…/grid/grid/mesh.py`: a package in its own repository, as sure as an
    // installed one.
    let repository = |name: &str| {
        let name = name.strip_suffix("-master").or_else(|| name.strip_suffix("-main")).unwrap_or(name);
        unversioned(name).to_ascii_lowercase()
    };
    let again = |at: usize, name: &str| folders.iter().skip(at + 1).find(|inner| repository(inner) == repository(name));
    let own = folders.iter().enumerate().filter(|(_, name)| name.len() >= 4).find_map(|(at, name)| again(at, name));
    if let Some(program) = own.and_then(|own| named(unversioned(own))).filter(|program| !is_common(program.id())) {
        return Some((Way::Frame, program));
    }
    let mut folders = folders.into_iter().peekable();
    if folders.peek().is_some_and(|first| SYSTEM.contains(first)) {
        return None;
    }
    if folders.next_if(|first| OF_EACH.contains(first)).is_some() {
        folders.next();
    }
    let holds = |folder: &&str| is_common(folder) || HOLDERS.contains(&folder.to_ascii_lowercase().as_str());
    // `C:\\a\\_work\\1\\s\\grid`: what a build server's folders are called names nothing.
    let names = |folder: &&str| !folder.starts_with('_') || named(folder).is_some();
    let project = folders.find(|folder| !holds(folder) && folder.len() >= 3 && names(folder))?;
    let project = project.strip_suffix("-master").or_else(|| project.strip_suffix("-main")).unwrap_or(project);
    named(unversioned(project)).map(|program| (Way::Folder, program))
}

/// The package in which a file lies, by the folder that its language installs packages in.
fn package(text: &str) -> Option<Program> {
    const FOLDERS: &[&str] = &[
        "site-packages/",
        "dist-packages/",
        "site-packages\\",
        "node_modules/",
        "node_modules\\",
        ".julia/packages/",
        "registry/src/",
        "/go/pkg/mod/github.com/",
        "R/library/",
        "/gems/",
        "git/checkouts/",
    ];
    if let Some(rest) = text.trim_start().strip_prefix("github.com/") {
        let name = rest.split('/').nth(1)?.split(['.', '(', '@']).next()?;
        return named(name);
    }
    // A module of Go's under a name of its own: `grid.dev/grid/pkg/mesh.grow(0xc000…)`.
    if let Some((host, rest)) = text.split_once('/').filter(|_| text.ends_with(')'))
        && let Some((name, domain)) = host.rsplit_once('.')
        && matches!(domain, "dev" | "io" | "com" | "org" | "net" | "sh" | "tech" | "cloud")
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-') || byte.is_ascii_digit())
        && !matches!(name, "google.golang" | "golang" | "cloud.google")
        && rest.contains('/')
        && rest.split_once('(').is_some_and(|(path, _)| path.contains('.'))
    {
        return named(rest.split('/').next()?);
    }
    FOLDERS.iter().find_map(|folder| {
        let at = text.rfind(folder)?;
        let mut rest = &text[at + folder.len()..];
        // `registry/src/index-…/name-1.2.3/`, `github.com/owner/name@v1`, `node_modules/@owner/name`
        if folder.starts_with("registry") || folder.starts_with("/go") || rest.starts_with('@') {
            rest = rest.split_once(['/', '\\'])?.1;
        }
        let (name, _) = rest.split_once(['/', '\\', '@', '"']).or_else(|| rest.split_once('.'))?;
        let name = [".py", ".js"].iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name);
        let name = if folder.contains("checkouts") { name.rsplit_once('-')?.0 } else { unversioned(name) };
        if CALLERS.contains(&name.to_ascii_lowercase().as_str()) {
            return None;
        }
        match name {
            "AMDGPU" => Some(Program::AmdGpu),
            _ if folder.starts_with(".julia") => Some(Program::Julia),
            "torch" | "torch_npu" | "torchvision" => Some(Program::Pytorch),
            _ => named(name).or_else(|| super::word::tiny(name)),
        }
    })
}
