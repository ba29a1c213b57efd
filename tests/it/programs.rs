//! Nobody is told to type commands of a program that the log is not about: over every fixture, in both languages and
//! all formats.

use crate::binary;

use binary::oomdoc;
use oomdoc::domain::program::PytorchAllocator;
use oomdoc::domain::{Accelerator, Program};
use std::path::{Path, PathBuf};

/// Words of PyTorch's users: its calls, its variables, its options.
const PYTORCH: [&str; 7] = [
    "torch.",
    "PYTORCH_",
    "torchrun",
    "torch_dtype",
    "expandable_segments",
    "set_per_process_memory_fraction",
    "p.numel",
];
/// Words of a program, for the programs whose user may read them.
const OWN: [(&str, &[Program]); 6] = [
    ("tf.", &[Program::Tensorflow]),
    ("TF_", &[Program::Tensorflow]),
    ("jax.", &[Program::Jax]),
    ("XLA_", &[Program::Jax, Program::Exla, Program::Tensorflow]),
    ("mx.", &[Program::Mlx]),
    ("--gpu-memory-utilization", &[Program::Vllm]),
];
/// What only holds on NVIDIA's and AMD's devices, where PyTorch calls both `cuda`.
const CUDA_ONLY: [&str; 4] = ["torch.cuda.", "PYTORCH_CUDA_ALLOC_CONF", "autocast(\"cuda\"", "nvidia-smi"];

fn fixtures() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("fixtures/logs")];
    let mut logs = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of fixtures").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "log") => logs.push(path),
                false => {}
            }
        }
    }
    logs.sort();
    logs
}

fn explained(log: &Path, format: &str, lang: &str) -> String {
    if format == "json" {
        return binary::json_of(log, lang).to_string();
    }
    let arguments = ["explain", "--color", "never", "--verbose", "--format", format, "--lang", lang];
    let output = oomdoc().args(arguments).arg(log).output().expect("a run");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Words that the report holds and the log does not: what oomdoc itself says.
fn told<'a>(report: &str, log: &str, words: &[&'a str]) -> Vec<&'a str> {
    words.iter().copied().filter(|word| report.contains(word) && !log.contains(word)).collect()
}

/// What the reports about one log say that they should not, and how many reports of programs outside PyTorch were read.
fn foreign_words(path: &Path) -> (Vec<String>, usize) {
    let bytes = std::fs::read(path).expect("a fixture");
    let log = String::from_utf8_lossy(&bytes);
    let first = explained(path, "json", "en");
    let json: serde_json::Value = serde_json::from_str(&first).expect("JSON");
    // A report about several programs has a place for the words of each.
    let Some([incident]) = json["incidents"].as_array().map(Vec::as_slice) else { return (Vec::new(), 0) };
    let Some(program) = incident["framework"].as_str().and_then(Program::named) else { return (Vec::new(), 0) };
    // A trainer of PyTorch in the log is a reason to speak of it.
    if incident["context"]["trainer"].is_object() {
        return (Vec::new(), 0);
    }
    let outside = program.pytorch_allocator() == PytorchAllocator::No;
    let mut reports = vec![("json en".to_string(), first.clone()), ("json zh".into(), explained(path, "json", "zh"))];
    if outside {
        for (format, lang) in [("markdown", "en"), ("markdown", "zh"), ("terminal", "en"), ("terminal", "zh")] {
            reports.push((format!("{format} {lang}"), explained(path, format, lang)));
        }
    }
    let mut wrong = Vec::new();
    for (name, report) in &reports {
        assert!(!report.is_empty(), "{path:?}: {name}");
        let mut words: Vec<&str> = OWN.iter().filter(|(_, users)| !users.contains(&program)).map(|own| own.0).collect();
        if outside {
            words.extend(PYTORCH);
        }
        let words = told(report, &log, &words);
        wrong.extend(words.iter().map(|word| format!("{path:?} ({program}), {name}: {word}")));
    }
    (wrong, if outside { reports.len() } else { 0 })
}

#[test]
fn nobody_reads_the_commands_of_another_program() {
    let logs = fixtures();
    let (wrong, held) = std::thread::scope(|scope| {
        let halves: Vec<_> = logs
            .chunks(logs.len().div_ceil(4))
            .map(|part| scope.spawn(move || part.iter().map(|path| foreign_words(path)).collect::<Vec<_>>()))
            .collect();
        let found = halves.into_iter().flat_map(|half| half.join().expect("a part of the fixtures"));
        found.fold((Vec::new(), 0), |(mut wrong, held), (more, count)| {
            wrong.extend(more);
            (wrong, held + count)
        })
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(held > 300, "only {held} reports of programs outside PyTorch");
}

#[test]
fn pytorch_on_another_device_is_told_that_devices_words() {
    let signs = [("mps", Accelerator::Mps), ("npu", Accelerator::Npu), ("xpu", Accelerator::Xpu)];
    let mut held = [0; 3];
    let mut wrong = Vec::new();
    for path in fixtures() {
        let bytes = std::fs::read(&path).expect("a fixture");
        let log = String::from_utf8_lossy(&bytes);
        let report = explained(&path, "json", "en");
        let json: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let Some([incident]) = json["incidents"].as_array().map(Vec::as_slice) else { continue };
        let has =
            |id: &str| incident["signs"].as_array().is_some_and(|signs| signs.iter().any(|sign| sign["id"] == id));
        for (number, (id, accelerator)) in signs.into_iter().enumerate() {
            if !has(id) {
                continue;
            }
            held[number] += 1;
            for lang in ["en", "zh"] {
                let report = explained(&path, "json", lang);
                let words = told(&report, &log, &CUDA_ONLY);
                wrong.extend(words.iter().map(|word| format!("{path:?}, {lang}: {word}")));
                if incident["framework"] == "pytorch" && !report.contains(accelerator.torch_module()) {
                    wrong.push(format!("{path:?}, {lang}: never speaks of {accelerator}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(held.iter().all(|count| *count > 0), "{held:?}");
}
