//! Files that are made, or damaged, to make a command wrong or to fill memory: each is answered with a sentence within
//! a limit of memory; `docs/hostile-files.md` is the table.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::generated::compare;
use crate::binary::{process, root};
use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// One file and what is asked of it.
struct Case {
    /// For the page.
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    /// Each with `@` where the file stands.
    commands: &'static [&'static str],
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The parts of a gzip file that unpacks to this many MiB of `bytes` over and over.
fn bomb(bytes: &[u8], mebibytes: usize) -> Vec<u8> {
    gzip(&bytes.repeat((1 << 20) / bytes.len())).repeat(mebibytes)
}

/// A pickle of protocol 4.
fn pickle(body: &[&[u8]]) -> Vec<u8> {
    [&b"\x80\x04"[..], &body.concat(), b"."].concat()
}

/// A pickled snapshot whose lists of segments and traces are what these operations leave.
fn snapshot(segments: &[u8], traces: &[u8]) -> Vec<u8> {
    pickle(&[b"}(\x8c\x08segments", segments, b"\x8c\x0ddevice_traces", traces, b"u"])
}

/// A list of ten times the same list, of which each is ten times the same, so many levels deep.
fn laughs(levels: u8) -> Vec<u8> {
    let mut out = b"]\x94(".repeat(usize::from(levels));
    out.extend(b"]\x94");
    for inner in (1..=levels).rev() {
        out.extend([b'h', inner].repeat(9));
        out.push(b'e');
    }
    out
}

fn safetensors(length: u64, header: &str) -> Vec<u8> {
    [&length.to_le_bytes()[..], header.as_bytes()].concat()
}

fn gguf(tensors: u64, entries: u64) -> Vec<u8> {
    [&b"GGUF\x03\0\0\0"[..], &tensors.to_le_bytes(), &entries.to_le_bytes()].concat()
}

/// The readers of every kind of file.
const EVERY_READER: &[&str] = &[
    "explain @",
    "replay @",
    "diff @ @",
    "simulate --capacity 1GiB @",
    "headroom --measurements @ --gpu-memory 24GiB",
    "headroom --model @ --gpu-memory 24GiB",
    "headroom --rehearsal @",
    "headroom --log @",
    "headroom --check --budget @",
    "probe --from @",
];
const REPLAY: &[&str] = &["replay @"];
const MODEL: &[&str] = &["headroom --model @ --gpu-memory 24GiB"];

fn cases() -> Vec<Case> {
    let case = |what, name, bytes, commands| Case { what, name, bytes, commands };
    let header = r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let peaks = |unit: &str| -> String { (1..40).map(|batch| format!("{batch},{}{unit}\n", batch * 512)).collect() };
    let packed = gzip(format!("batch,peak_mib\n{}", peaks("")).as_bytes());
    let two_ranks = "Failed to allocate memory for requested buffer of size 46[rank1]: onnxruntime Failed to allocate \
                     memory for requested buffer of size 4619481926331\n";
    let mut trace = b"]\x94(".to_vec();
    trace.extend(b"}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01\x8c\x04sizeK\x01u".repeat(1000));
    trace.push(b'e');
    let shared_trace = [&b"]("[..], &trace, &b"h\0".repeat(9000), b"e"].concat();
    vec![
        case("nothing", "empty", Vec::new(), EVERY_READER),
        case("64 MiB of zero bytes, packed", "zeros.gz", bomb(&[0], 64), EVERY_READER),
        case("64 MiB of line ends, packed", "lines.gz", bomb(b"\n", 64), EVERY_READER),
        case("64 MiB of empty lists, packed", "lists.pickle.gz", [gzip(b"\x80\x04"), bomb(b"]", 64)].concat(), REPLAY),
        case("64 MiB of nested arrays, packed", "arrays.json.gz", bomb(b"[0],", 64), EVERY_READER),
        case("4 MiB of opening brackets", "deep.json", vec![b'['; 4 << 20], EVERY_READER),
        case("4 MiB of opening tables", "deep.toml", b"a={".repeat(4 << 20 >> 2), EVERY_READER),
        case("a log that was cut while it was packed", "cut.csv.gz", packed[..packed.len() / 2].to_vec(), EVERY_READER),
        case("a pickle of five million marks", "marks.pickle", pickle(&[&vec![b'('; 5_000_000]]), REPLAY),
        case(
            "a pickle of a million lists in lists",
            "deep.pickle",
            pickle(&[&vec![b']'; 1 << 20], &vec![b'a'; (1 << 20) - 1]]),
            REPLAY,
        ),
        case("a pickle of a million tuples in tuples", "tuples.pickle", pickle(&[b")", &vec![0x85; 1 << 20]]), REPLAY),
        case(
            "a pickle with a string of 2^62 bytes",
            "string.pickle",
            pickle(&[b"\x8d", &(1u64 << 62).to_le_bytes(), b"x"]),
            REPLAY,
        ),
        case(
            "a pickle with a frame of 2^63 bytes",
            "frame.pickle",
            pickle(&[b"\x95", &(1u64 << 63).to_le_bytes(), b"]"]),
            REPLAY,
        ),
        case("a pickle that remembers under 2^32 - 1", "memo.pickle", pickle(&[b"]r\xff\xff\xff\xff"]), REPLAY),
        case("9,000 times the same trace of 1,000 entries", "traces.pickle", snapshot(b"]", &shared_trace), REPLAY),
        case("ten lists of ten lists …, sixty deep, as segments", "laughs.pickle", snapshot(&laughs(60), b"]"), REPLAY),
        case(
            "a pickle that calls os.system (REDUCE)",
            "reduce.pickle",
            pickle(&[b"cos\nsystem\n\x8c\x04true\x85R"]),
            REPLAY,
        ),
        case(
            "the same by STACK_GLOBAL",
            "global.pickle",
            pickle(&[b"\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R"]),
            REPLAY,
        ),
        case("the same by OBJ", "obj.pickle", pickle(&[b"(cos\nsystem\n\x8c\x04trueo"]), REPLAY),
        case("a pickle with a persistent identity", "persistent.pickle", pickle(&[b"Pabc\n"]), REPLAY),
        case("a pickle with a registered extension", "extension.pickle", pickle(&[b"\x82\x01"]), REPLAY),
        case("a safetensors file shorter than its header", "short.safetensors", safetensors(99_000_000, header), MODEL),
        case("a safetensors header of 2^63 bytes", "long.safetensors", safetensors(1 << 63, header), MODEL),
        case("a GGUF file of 2^63 tensors", "many.gguf", gguf(1 << 63, 1 << 63), MODEL),
        case(
            "a peak below that of half the batch",
            "fallen.csv",
            b"batch,peak_mib\n8,7000\n16,12500\n32,1100\n".to_vec(),
            &["headroom --measurements @ --gpu-memory 24GiB --batch 64"],
        ),
        case("two ranks that wrote into one figure", "ranks.log", two_ranks.as_bytes().to_vec(), &["explain @"]),
    ]
}

/// That much may be taken by however little, and ten times as much as the file has. The program itself takes some.
fn allowed(bytes: usize) -> usize {
    (256 << 10).max(bytes / 1024 * 10)
}

/// Exit code and what is said first, without the folder.
fn answer(folder: &Path, case: &Case, line: &str) -> (i32, String) {
    let file = folder.join(case.name);
    let plain = process();
    let mut shell = Command::new("bash");
    // Of data, which counts what was asked for, used or not; a stack that grows stays below 8 MiB.
    let script = format!("ulimit -d {}; exec \"$@\"", allowed(case.bytes.len()));
    shell.args(["-c", &script, "bash"]).arg(plain.get_program());
    shell.args(line.split(' ').map(|word| if word == "@" { file.as_os_str() } else { word.as_ref() }));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.env("COLUMNS", "200").current_dir(root()).stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let code = output.status.code().unwrap_or_else(|| panic!("{line} of {}: {} {err}", case.name, output.status));
    assert!(!err.contains("panicked") && !err.contains("memory allocation"), "{line} of {}: {err}", case.name);
    let said = if err.is_empty() { out } else { err };
    let said = said.trim().lines().next().unwrap_or_default().replace(&format!("{}/", folder.display()), "");
    (code, said)
}

#[test]
fn every_file_is_answered_within_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let cases = cases();
    for case in &cases {
        std::fs::write(folder.path().join(case.name), &case.bytes).unwrap();
    }
    let asked: Vec<(&Case, &str)> =
        cases.iter().flat_map(|case| case.commands.iter().map(move |line| (case, *line))).collect();
    let answers: Vec<(i32, String)> = asked.par_iter().map(|(case, line)| answer(folder.path(), case, line)).collect();
    let mut page = PAGE.to_string();
    for ((case, line), (code, said)) in asked.iter().zip(answers) {
        assert!(!said.is_empty(), "{line} of {}", case.name);
        let (line, said) = (line.replace('@', case.name), said.replace('|', "\\|"));
        page += &format!("| {} ({} B) | `{line}` | {code} | {said} |\n", case.what, case.bytes.len());
    }
    compare("docs", [("hostile-files.md".into(), page)].into(), |name| name == Path::new("hostile-files.md"));
}

const PAGE: &str = "# What hostile and damaged files give\n\n\
    Each file, made by the tests (`tests/it/hostile_files.rs`, which writes this page) and given to the commands that\n\
    read such files, with a limit of 256 MiB, or of ten times the file, to their data. Nothing panics, runs out of\n\
    memory or executes what a file says.\n\n\
    | file | command | exit code | what is said first |\n| --- | --- | --- | --- |\n";
