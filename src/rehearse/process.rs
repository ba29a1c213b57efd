//! What a rehearsed process tells about itself: the file `process-<pid>.json` that the agent in it leaves behind.
//!
//! Everything may be missing: a process can end before it knows. Files are small; longer ones are refused.

use crate::order::InOrder;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Result files larger than this were not written by the agent.
const LARGEST: u64 = 16 << 20;
/// Result files that are read at most.
const FILES: usize = 4096;

/// One process that used CUDA.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ProcessReport {
    /// `2.11.0+cu130`.
    pub torch: Option<String>,
    pub python: Option<String>,
    pub pid: u64,
    pub rank: Option<u32>,
    pub world_size: Option<u32>,
    pub argv: Vec<String>,
    pub seconds: Option<f64>,
    /// Of those, until torch was imported.
    pub import_seconds: Option<f64>,
    pub ended: Option<Ended>,
    pub exit_code: Option<i32>,
    /// Optimizer steps that were finished.
    pub steps: u64,
    pub devices: Vec<DevicePeak>,
    pub steps_peak: Vec<StepPeak>,
    pub peak: Option<PeakPlace>,
    pub oom: Option<OomReport>,
    pub error: Option<ErrorReport>,
    pub traps: Vec<Trap>,
    pub batch: Option<Batch>,
    pub settings: serde_json::Map<String, serde_json::Value>,
    pub optimizers: Vec<OptimizerReport>,
    /// Backward passes.
    pub micro_steps: Option<u64>,
    /// Where it stood when the time was up.
    pub stopped_at: Option<PeakPlace>,
    /// Things that the agent could not hook into.
    pub failures: Vec<String>,
    /// File name of the snapshot, in the same folder.
    pub snapshot: Option<String>,
    /// A checkpoint was written.
    pub saved: bool,
    /// The model was switched to evaluation after a backward pass.
    pub evaluated: bool,
    /// The peaks until the steps asked for were done, where the program went on.
    pub complete: Option<CompletePeak>,
    /// Since when, and until when it was last known to, the process uses a device: seconds since 1970.
    pub used_from: Option<f64>,
    pub used_until: Option<f64>,
}

/// Why a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// All steps asked for were done.
    Steps,
    /// The program ended by itself before that.
    Exit,
    /// An out-of-memory error that the program did not catch.
    Oom,
    /// Another error.
    Error,
    /// The time limit.
    Time,
}

/// What the allocator of one device counted.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct DevicePeak {
    pub device: u32,
    pub total_bytes: Option<u64>,
    pub peak_allocated_bytes: u64,
    pub peak_reserved_bytes: u64,
    pub allocated_bytes: Option<u64>,
    pub reserved_bytes: Option<u64>,
    /// Out-of-memory errors, caught ones too.
    pub ooms: u64,
    /// Times that the cache was given back because the device was full.
    pub retries: u64,
    /// The last steps, each with the most in use during it.
    pub last_steps: Vec<(u64, u64)>,
}

/// The peaks of the fullest device at the end of the steps asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct CompletePeak {
    pub allocated_bytes: u64,
    pub reserved_bytes: u64,
}

/// The peak up to the end of one step.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct StepPeak {
    pub step: u64,
    pub device: u32,
    pub peak_allocated_bytes: u64,
    pub peak_reserved_bytes: u64,
    pub phase: Option<String>,
}

/// Where the peak was.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct PeakPlace {
    pub step: Option<u64>,
    /// `forward`, `backward`, `optimizer`, `setup` or `evaluation`.
    pub phase: Option<String>,
    /// `train.py:88 train_step`, innermost first.
    pub stack: Vec<String>,
}

/// The first out-of-memory error.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct OomReport {
    pub message: String,
    pub step: Option<u64>,
    pub phase: Option<String>,
    pub stack: Vec<String>,
    /// The program handled it itself.
    pub caught: bool,
    pub count: Option<u64>,
}

/// An error that is no lack of memory.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ErrorReport {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub stack: Vec<String>,
}

/// Something that a device without values cannot do as a real one does.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Trap {
    pub kind: String,
    /// `train.py:88 train`.
    #[serde(rename = "where")]
    pub place: Option<String>,
    pub count: Option<u64>,
    pub detail: Option<String>,
    /// What it does to the memory seen; absent where the kind decides.
    pub memory: Option<Effect>,
}

/// What a trap does to the memory seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// A real device may need more.
    Lower,
    /// Nothing.
    Same,
}

impl Trap {
    /// False where a real device may need more memory than was seen. Kinds that are not known are not trusted.
    pub fn keeps_memory(&self) -> bool {
        match self.memory {
            Some(effect) => effect == Effect::Same,
            None => matches!(self.kind.as_str(), "value-read" | "synchronised-values"),
        }
    }

    /// A selection by unknown values that kept nothing: the most that it can keep is known.
    pub fn is_empty_selection(&self) -> bool {
        self.kind == "zero-rows"
    }
}

/// An optimizer of the program.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct OptimizerReport {
    /// `AdamW`.
    pub class: String,
    pub steps: u64,
}

/// The batch that the program was seen to use.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Batch {
    pub observed: Option<u64>,
    pub from: Option<String>,
}

/// The result files in a folder, ordered by rank and process id. Files that cannot be read or understood are left out:
/// their process was killed while it wrote.
pub fn read_all(folder: &Path) -> Vec<ProcessReport> {
    let mut reports: Vec<ProcessReport> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("process-") && name.ends_with(".json")
        })
        .take(FILES)
        .filter_map(|entry| read(&entry.path()))
        .collect();
    reports.order_by_key(|report| (report.rank.unwrap_or(0), report.pid));
    reports
}

fn read(path: &Path) -> Option<ProcessReport> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut text).ok()?;
    if text.len() as u64 > LARGEST {
        return None;
    }
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_may_lack_everything_and_hold_more_than_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("process-7.json", r#"{"schema": "oomdoc.rehearsal-process/1", "pid": 7, "rank": 1, "news": [1]}"#);
        write(
            "process-9.json",
            r#"{"pid": 9, "rank": 0, "ended": "oom", "devices": [{"device": 0, "peak_reserved_bytes": 5}],
                "traps": [{"kind": "isfinite", "where": "train.py:9 train"}]}"#,
        );
        write("process-8.json", r#"{"pid": 8, "ran"#);
        write("device-9.json", "{}");
        let reports = read_all(folder.path());
        assert_eq!(reports.iter().map(|report| report.pid).collect::<Vec<_>>(), [9, 7]);
        assert_eq!(reports[0].ended, Some(Ended::Oom));
        assert_eq!(reports[0].devices[0].peak_reserved_bytes, 5);
        assert_eq!(reports[0].traps[0].place.as_deref(), Some("train.py:9 train"));
    }
}
