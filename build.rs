//! Compiles the simulated CUDA device (`src/rehearse/shim`) into the shared object that the program carries with it,
//! and packs the other files that it carries.
//!
//! The device runs inside other programs, so it is a library of its own: with the same compiler, without a dependency,
//! without the flags of this build. Only Linux on x86-64 has one.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "src/domain/name.rs"]
mod name;

use name::{Name, SHORT};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/rehearse/shim");
    println!("cargo::rerun-if-changed=src/rehearse/counters.rs");
    println!("cargo::rustc-check-cfg=cfg(simulated_device)");
    pack().unwrap_or_else(|error| panic!("the files to carry are not packed: {error}"));
    // It is loaded by programs that use the GNU C library, also where this program itself is linked with another.
    const DEVICE: &str = "x86_64-unknown-linux-gnu";
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let (target, host) = (variable("TARGET"), variable("HOST"));
    let linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    if linux {
        let release = variable("PROFILE") == "release";
        ask_the_linker(&target, target == host, release)
            .unwrap_or_else(|error| panic!("the linker is not asked: {error}"));
    }
    let linux = linux && variable("CARGO_CFG_TARGET_ARCH") == "x86_64";
    if !linux || (target != DEVICE && host != DEVICE) {
        return;
    }
    let output = Path::new(&variable("OUT_DIR")).join("simulated_device.so");
    let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler.args(["--crate-type", "cdylib", "--crate-name", "simulated_device", "--edition", "2024"]);
    compiler.args(["--target", DEVICE, "-C", "opt-level=s", "-C", "panic=abort", "-C", "strip=symbols"]);
    if variable("PROFILE") == "release" {
        compiler.args(["-C", "codegen-units=1", "-C", "lto=fat"]);
    }
    if target == DEVICE
        && let Some(linker) = env::var_os("RUSTC_LINKER")
    {
        compiler.arg("-C").arg(assignment("linker", &linker));
    }
    compiler.arg("-o").arg(&output).arg("src/rehearse/shim/lib.rs");
    match compiler.status() {
        Ok(status) if status.success() => {
            compress(&output).unwrap_or_else(|error| panic!("the simulated device is not compressed: {error}"));
            println!("cargo::rustc-cfg=simulated_device");
        }
        Ok(status) => panic!("the simulated device does not compile: {status}"),
        Err(error) => panic!("the compiler {compiler:?} does not start: {error}"),
    }
}

/// What a linker does for the program where it can, so that each is asked first, with the flags of this build.
///
/// The program stands at one address, so that the loader has none to write: of the 715 pages that a log's diagnosis
/// touched 180 were tables of such addresses, and it starts in three quarters of the time (2.7 in place of 3.8 ms). What
/// another address at each start hides a program from, an overflow, takes unsafe code, of which there is little here but
/// the calls to drivers.
///
/// Out of a release it leaves the tables for unwinding, 6 % of it, which Rust keeps for backtraces alone where nothing
/// catches a panic, and in a program without symbols they name nothing; and functions that equal another one.
fn ask_the_linker(target: &str, runs_here: bool, release: bool) -> std::io::Result<()> {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (script, source, program) = (folder.join("thin.ld"), folder.join("thin.rs"), folder.join("thin"));
    std::fs::write(&script, "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table*) } } INSERT AFTER .text;\n")?;
    std::fs::write(&source, "fn main() { println!(\"{}\", std::env::args().count()); }\n")?;
    let mut arguments = Vec::new();
    // Others link a program that is static and moves itself.
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu") {
        arguments.push("-no-pie".to_string());
    }
    if release {
        arguments.extend([format!("-Wl,-T,{}", script.display()), "-Wl,--icf=all".to_string()]);
    }
    for argument in arguments {
        let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
        compiler.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
        if let Some(linker) = env::var_os("RUSTC_LINKER") {
            compiler.arg("-C").arg(assignment("linker", &linker));
        }
        compiler.args(["--target", target, "-C", "panic=abort", "-C", "strip=symbols", "-C"]);
        compiler.arg(assignment("link-arg", argument.as_ref())).arg("-o").arg(&program).arg(&source);
        let links = compiler.output().is_ok_and(|output| output.status.success());
        if links && (!runs_here || Command::new(&program).output().is_ok_and(|output| output.stdout == *b"1\n")) {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
    Ok(())
}

/// `NAME=VALUE` for the compiler's `-C`.
fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(value);
    text
}

/// Writes `FILE.so.gz` beside a file.
fn compress(file: &Path) -> std::io::Result<()> {
    write(&file.with_extension("so.gz"), &std::fs::read(file)?)
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // A new file, so that a copy of the build folder that shares its files by hard links keeps its own.
    if file.exists() {
        std::fs::remove_file(file)?;
    }
    let mut out = GzEncoder::new(std::fs::File::create(file)?, Compression::best());
    out.write_all(bytes)?;
    out.finish()?.sync_all()
}

/// The styles and the program of a page, in the order of use.
const PAGE: [(&str, &[&str]); 2] = [
    ("page.css", &["replay/report.css", "replay/page/explorer.css", "timeline/timeline.css"]),
    (
        "page.js",
        &[
            "replay/page/model.js",
            "replay/page/pickle.js",
            "replay/page/paint.js",
            "replay/page/explorer.js",
            "replay/report.js",
        ],
    ),
];

/// The files of which the program carries the text: each by itself, those of a page one behind the other, and the agent
/// of rehearsals as one archive, in which each file is its name, its length and its text.
fn pack() -> std::io::Result<()> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for file in ["src/rehearse/functions.txt", "src/dialect/naming/names.json", "src/dialect/net/likely.json"] {
        println!("cargo::rerun-if-changed={file}");
        let name = file.rsplit('/').next().unwrap_or_default();
        write(&folder.join(format!("{name}.gz")), &std::fs::read(file)?)?;
    }
    weights(&folder)?;
    programs(&folder)?;
    for (name, parts) in PAGE {
        let mut text = Vec::new();
        for part in parts {
            let file = Path::new("src/report").join(part);
            println!("cargo::rerun-if-changed={}", file.display());
            text.extend(std::fs::read(file)?);
        }
        write(&folder.join(format!("{name}.gz")), &text)?;
    }
    let agent = Path::new("src/rehearse/agent");
    println!("cargo::rerun-if-changed={}", agent.display());
    let mut names = Vec::new();
    for place in ["", "oomdoc_rehearsal"] {
        for entry in std::fs::read_dir(agent.join(place))? {
            let name = Path::new(place).join(entry?.file_name());
            if name.extension().is_some_and(|extension| extension == "py") {
                names.push(name.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    names.sort();
    let mut archive = Vec::new();
    for name in names {
        let text = std::fs::read(agent.join(&name))?;
        write!(archive, "{name}\n{}\n", text.len())?;
        archive.extend(text);
    }
    write(&folder.join("agent.gz"), &archive)
}

/// The well-known programs as they are looked up: a line for each identifier, in the order of bytes. Read at each start,
/// the list took a quarter of the time of a pasted message, and packed it is 60 KB shorter.
fn programs(folder: &Path) -> std::io::Result<()> {
    const LIST: &str = "src/dialect/naming/programs.txt";
    println!("cargo::rerun-if-changed={LIST}");
    let text = std::fs::read_to_string(LIST)?;
    let (list, signs) = text.split_once("[signs]\n").ok_or_else(|| std::io::Error::other("no signs"))?;
    let mut names: BTreeMap<String, (&str, String)> = BTreeMap::new();
    let mut section = "";
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            continue;
        }
        for entry in line.split_ascii_whitespace() {
            // The letters are those of `Mark`.
            let mark = match (section, entry.as_bytes().first()) {
                ("words", _) | (_, Some(b'~')) => "w",
                ("blocks", _) | (_, Some(b'.')) => "b",
                _ => "p",
            };
            let aliases = entry.trim_start_matches(['~', '.']).split('=').filter_map(Name::new);
            let aliases: Vec<String> = aliases.map(|name| name.as_str().to_string()).collect();
            let Some(head) = aliases.first() else { continue };
            if matches!(section, "words" | "blocks") {
                names.entry(head.clone()).or_insert((mark, head.clone())).0 = mark;
                continue;
            }
            for alias in &aliases {
                let mark = if mark == "p" && alias.len() <= SHORT { "w" } else { mark };
                names.entry(alias.clone()).or_insert((mark, head.clone()));
            }
        }
    }
    let mut table = String::new();
    for (name, (mark, head)) in &names {
        let head = if head == name { "" } else { head };
        table.push_str(&format!("{name} {mark}{head}\n"));
    }
    std::fs::write(folder.join("programs.txt"), table)?;
    std::fs::write(folder.join("signs.txt"), signs)
}

/// What was learnt of each level, a line for each: the temperature, then `MECHANISM LEVEL CAUSE WEIGHT …`. In the file each
/// level is three lines: why and of how many, what was stated, what was learnt.
fn weights(folder: &Path) -> std::io::Result<()> {
    const WEIGHTS: &str = "src/cause/weights.json";
    println!("cargo::rerun-if-changed={WEIGHTS}");
    let text = std::fs::read_to_string(WEIGHTS)?;
    let (mut temperature, mut mechanism, mut level) = ("", "", "");
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.trim_start().strip_prefix('"').and_then(|line| line.split_once("\": ")) else {
            continue;
        };
        match name {
            "temperature" => temperature = rest.trim_end_matches(','),
            "priors" => mechanism = "prior",
            "mechanisms" | "learnt_from" | "stated" => {}
            "learnt" => {
                let weights = rest.split(['{', '}']).nth(1).unwrap_or_default().replace(['"', ':', ','], "");
                lines.push(format!("{mechanism} {level} {weights}"));
            }
            _ if rest.starts_with("{\"why\"") => level = name,
            _ if rest.starts_with('{') => mechanism = name,
            _ => {}
        }
    }
    lines.sort();
    lines.insert(0, temperature.to_string());
    std::fs::write(folder.join("weights.txt"), lines.join("\n"))
}
