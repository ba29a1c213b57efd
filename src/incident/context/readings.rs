//! Readings of memory that programs print as they run, gathered into series.

use super::Phase;
use super::pairs::pairs;
use super::progress::Progress;
use super::series::{Measure, Reading, Series, StepUnit};
use super::settings::sized;
use crate::evidence::Span;
use crate::thin;
use std::collections::BTreeMap;

/// Different quantities and ranks followed at most.
const SERIES_AT_MOST: usize = 512;
/// A series with more readings is thinned to half, again and again.
const READINGS_AT_MOST: usize = 4096;

/// Pairs of one line that are looked at.
const PAIRS_AT_MOST: usize = 512;

/// One reading found in a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub name: &'static str,
    pub measure: Measure,
    pub running_maximum: bool,
    pub bytes: u64,
}

impl Found {
    /// The `GPU_mem` column of an Ultralytics row.
    pub(super) fn gpu_memory_column(bytes: u64) -> Found {
        Found { name: "GPU_mem", measure: Measure::GpuUsed, running_maximum: false, bytes }
    }
}

/// Where a reading belongs on the abscissa.
#[derive(Debug, Clone, Copy)]
struct Sample {
    line: u64,
    epoch: Option<f64>,
    step: Option<u64>,
    steps: Option<u64>,
    bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Readings {
    tracks: BTreeMap<(&'static str, Option<u32>), Track>,
}

/// The readings of one quantity on one rank so far.
#[derive(Debug)]
struct Track {
    measure: Measure,
    running_maximum: bool,
    /// A reading of validation is among those so far.
    validated: bool,
    samples: Vec<Sample>,
}

impl Readings {
    /// Takes the readings of a line, with the progress that this line or the last one before it told.
    pub(super) fn take(&mut self, found: &[Found], line: u64, rank: Option<u32>, progress: &Progress) {
        for reading in found {
            let key = (reading.name, rank);
            if self.tracks.len() >= SERIES_AT_MOST && !self.tracks.contains_key(&key) {
                continue;
            }
            let Track { samples, validated, .. } = self.tracks.entry(key).or_insert_with(|| Track {
                measure: reading.measure,
                running_maximum: reading.running_maximum,
                validated: false,
                samples: Vec::new(),
            });
            // A maximum so far that jumps as the first validation begins has not grown: another phase needs more.
            if reading.running_maximum && !*validated && progress.phase == Some(Phase::Validation) {
                *validated = true;
                samples.clear();
            }
            if samples.len() >= READINGS_AT_MOST {
                thin::halve(samples);
            }
            samples.push(Sample {
                line,
                epoch: progress.epoch,
                step: progress.step,
                steps: progress.steps,
                bytes: reading.bytes,
            });
        }
    }

    /// The last reading of a device's memory between two lines, and its line.
    pub(super) fn last_of_device(&self, first: u64, last: u64, rank: Option<u32>) -> Option<(u64, u64)> {
        self.tracks
            .iter()
            .filter(|((_, of), track)| {
                track.measure.on_device() && (rank.is_none() || of.is_none() || *of == rank) && !track.running_maximum
            })
            .filter_map(|(_, track)| track.samples.iter().rev().find(|sample| (first..last).contains(&sample.line)))
            .max_by_key(|sample| sample.line)
            .map(|sample| (sample.line, sample.bytes))
    }

    /// The series between two lines, for one rank or for lines that name none.
    pub(super) fn between(&self, first: u64, last: u64, rank: Option<u32>) -> Vec<Series> {
        self.tracks
            .iter()
            .filter(|((_, of), _)| rank.is_none() || of.is_none() || *of == rank)
            .filter_map(|((_, of), track)| {
                let from = track.samples.partition_point(|sample| sample.line < first);
                let to = track.samples.partition_point(|sample| sample.line <= last);
                let samples = track.samples.get(from..to).filter(|samples| samples.len() >= 2)?;
                let (per, abscissae) = abscissae(samples);
                let readings = samples
                    .iter()
                    .zip(abscissae)
                    .map(|(sample, step)| Reading { line: sample.line, step, bytes: sample.bytes })
                    .collect();
                let running_maximum = track.running_maximum;
                Some(Series { measure: track.measure, rank: *of, per, running_maximum, readings })
            })
            .collect()
    }
}

/// Steps of the whole run where they rise, else epochs, else the order of the lines.
fn abscissae(samples: &[Sample]) -> (StepUnit, Vec<Option<f64>>) {
    let steps: Vec<Option<f64>> = samples
        .iter()
        .map(|sample| {
            let step = sample.step? as f64;
            Some(match (sample.epoch, sample.steps) {
                (Some(epoch), Some(steps)) if epoch.fract() == 0.0 => epoch * steps as f64 + step,
                _ => step,
            })
        })
        .collect();
    let epochs: Vec<Option<f64>> = samples.iter().map(|sample| sample.epoch).collect();
    for (unit, values) in [(StepUnit::Step, steps), (StepUnit::Epoch, epochs)] {
        let rising = values.windows(2).all(|pair| matches!((pair[0], pair[1]), (Some(a), Some(b)) if a < b));
        if rising {
            return (unit, values);
        }
    }
    (StepUnit::Line, vec![None; samples.len()])
}

/// Reads the readings of a line.
pub(super) fn read(text: &str, line: u64) -> Vec<Found> {
    let at = Span::line(line);
    let mut found: Vec<Found> = Vec::new();
    // The dump of an allocator is one state, not a reading over time.
    if text.contains("Chunk") || text.contains("chunks") || text.contains("bfc_") {
        return found;
    }
    let mut add = |name: &'static str, measure, running_maximum, bytes: Option<u64>| {
        if let Some(bytes) = bytes.filter(|bytes| *bytes > 0)
            && !found.iter().any(|other: &Found| other.name == name)
        {
            found.push(Found { name, measure, running_maximum, bytes });
        }
    };
    for pair in pairs(text).take(PAIRS_AT_MOST) {
        let key = pair.key.rsplit(['/', '.']).next().unwrap_or(pair.key).to_ascii_lowercase().replace('-', "_");
        let follows = |word: &str| follows(&text[..pair.start], word);
        let bytes = |default| sized(pair.rest, default, at).map(|figure| figure.bytes);
        match key.as_str() {
            "mem" if follows("max") => add("max mem", Measure::GpuAllocated, true, bytes(Some("MB"))),
            "max_mem" | "max_memory" | "max_memory_allocated" => {
                add("max_mem", Measure::GpuAllocated, true, bytes(Some("MB")).filter(|_| !is_bytes(&pair)))
            }
            "peak_memory_bytes" | "peak_allocated_bytes" => {
                add("peak_memory_bytes", Measure::GpuAllocated, true, bytes(Some("B")))
            }
            "peak_reserved_memory_bytes" => {
                add("peak_reserved_memory_bytes", Measure::GpuReserved, true, bytes(Some("B")))
            }
            "memory(gib)" | "memory(gb)" => add("memory(GiB)", Measure::GpuUsed, false, bytes(Some("GiB"))),
            "mem_alloc" | "memory_allocated" | "mem_allocated" | "allocated" | "alloc" | "gpu_mem_alloc"
            | "allocated_gb" | "gpu_allocated" => {
                let default = if key.ends_with("_gb") { Some("GB") } else { None };
                add("allocated", Measure::GpuAllocated, false, bytes(default));
            }
            "mem_reserved" | "memory_reserved" | "reserved" | "gpu_reserved" | "reserved_gb" => {
                let default = if key.ends_with("_gb") { Some("GB") } else { None };
                add("reserved", Measure::GpuReserved, false, bytes(default));
            }
            "memory" | "mem" if follows("cuda") || follows("gpu") => {
                add("gpu memory", Measure::GpuUsed, false, bytes(None))
            }
            "gpu_mem" | "gpu_memory" | "vram" | "cuda_mem" | "cuda_memory" | "gpu_mem_used" | "gpu_memory_used" => {
                add("gpu_mem", Measure::GpuUsed, false, bytes(None))
            }
            "gpu_mem_gb" | "gpu_memory_gb" => add("gpu_mem", Measure::GpuUsed, false, bytes(Some("GB"))),
            "gpu_mem_mb" | "gpu_memory_mb" => add("gpu_mem", Measure::GpuUsed, false, bytes(Some("MB"))),
            "rss" | "vmrss" | "process_memory" | "cpu_mem" | "cpu_memory" | "ram_used" | "rss_gb" | "rss_mb" => {
                let default = if key.ends_with("_gb") {
                    Some("GB")
                } else if key.ends_with("_mb") {
                    Some("MB")
                } else {
                    None
                };
                add("rss", Measure::HostProcess, false, bytes(default));
            }
            "process" if text.contains("emory") => add("rss", Measure::HostProcess, false, bytes(None)),
            // `System: 48.3/256.0GB`: the unit stands after the total.
            "system" if text.contains("emory") => {
                let used = pair.rest.split_once('/').and_then(|(used, total)| {
                    let unit: String = total.chars().skip_while(|c| !c.is_ascii_alphabetic()).take(3).collect();
                    let unit: String = unit.chars().take_while(char::is_ascii_alphabetic).collect();
                    sized(used, Some(&unit), at).map(|figure| figure.bytes)
                });
                add("system", Measure::HostUsed, false, used);
            }
            _ => {}
        }
    }
    // DeepSpeed: `CPU Virtual Memory:  used = 207.41 GB, percent = 41.2%`, of the whole machine.
    if let Some(used) = text.split_once("CPU Virtual Memory:").and_then(|(_, rest)| rest.split_once("used = ")) {
        add("virtual memory", Measure::HostUsed, false, sized(used.1, None, at).map(|figure| figure.bytes));
    }
    // `8192.0MB allocated, 9216.0MB reserved`, `mem_alloc 12.3GiB`, `RSS 12.3 GB`.
    for (word, name, measure) in
        [(" allocated", "allocated", Measure::GpuAllocated), (" reserved", "reserved", Measure::GpuReserved)]
    {
        if let Some(end) = text.find(word) {
            add(name, measure, false, size_ending_at(text, end));
        }
    }
    for (word, name, measure) in [
        ("mem_alloc ", "allocated", Measure::GpuAllocated),
        ("allocated ", "allocated", Measure::GpuAllocated),
        ("mem_reserved ", "reserved", Measure::GpuReserved),
        ("reserved ", "reserved", Measure::GpuReserved),
        ("RSS ", "rss", Measure::HostProcess),
        ("rss ", "rss", Measure::HostProcess),
    ] {
        if let Some(start) = text.find(word) {
            add(name, measure, false, sized(&text[start + word.len()..], None, at).map(|figure| figure.bytes));
        }
    }
    found
}

/// True where the text ends with a word, whatever its case and the space behind it.
fn follows(before: &str, word: &str) -> bool {
    let bytes = before.trim_end().as_bytes();
    bytes.len() >= word.len() && bytes[bytes.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
}

/// True for a bare number too large to count megabytes.
fn is_bytes(pair: &super::pairs::Pair<'_>) -> bool {
    pair.value.len() > 7
}

/// The size that ends right before a position: the `2048.0MB` of `2048.0MB allocated`.
fn size_ending_at(text: &str, end: usize) -> Option<u64> {
    let head = text.get(..end)?.trim_end();
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ',');
    let start = head.trim_end_matches(kept).len();
    let mut word = head.get(start..)?;
    // `12.3 GiB allocated` has a space in it.
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        let number = head.get(..start)?.trim_end();
        let from = number.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        word = head.get(from..)?;
    }
    sized(word, None, Span::line(1)).map(|figure| figure.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{GIB, MIB};

    fn one(text: &str) -> Vec<(&'static str, u64)> {
        read(text, 1).into_iter().map(|found| (found.name, found.bytes)).collect()
    }

    #[test]
    fn readings_of_many_programs_are_read() {
        assert_eq!(one("loss: 6.9  max mem: 3344"), [("max mem", 3344 * MIB)]);
        assert_eq!(one("{'loss': 1.1, 'memory(GiB)': 61.5}"), [("memory(GiB)", 61 * GIB + GIB / 2)]);
        assert_eq!(
            one("GPU: 2048.0MB allocated, 2560.0MB reserved"),
            [("allocated", 2 * GIB), ("reserved", 2560 * MIB)]
        );
        assert_eq!(one("step 7 loss 2 mem_alloc 12.5GiB"), [("allocated", 12 * GIB + GIB / 2)]);
        assert_eq!(one("peak_memory_bytes: 1,048,576"), [("peak_memory_bytes", MIB)]);
        assert_eq!(
            one("Memory - Process: 1024.0MB (4.8%), System: 48.0/256.0GB (18.9%)"),
            [("rss", GIB), ("system", 48 * GIB)]
        );
        assert_eq!(one("allocated slots: 12"), []);
    }
}
