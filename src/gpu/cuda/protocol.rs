//! What parent and child say to each other: the request, and the findings line by line.

use super::failure::{Failure, Property, Step};
use crate::gpu::twin::{self, FailureMode, Layout, Prediction, Ways};
use crate::units::MIB;
use serde::{Deserialize, Serialize};

/// A value, or why there is none.
pub type Taken<T> = Result<T, Failure>;

/// Which device to probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// As NVML names it. CUDA's own numbers need not agree with those of nvidia-smi.
    Uuid(String),
    /// CUDA's number, where no UUID is known.
    Ordinal(u32),
}

/// What the parent asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeRequest {
    pub which: Which,
    /// Free memory by NVML before the context exists, which gives the context's cost.
    pub free_before: Option<u64>,
    /// True where NVML has seen that no other process uses the device, and would see one that comes. Else the margin is
    /// the larger one.
    pub known_idle: bool,
    /// True where the user lets it go on a device in use.
    pub busy_allowed: bool,
    /// A display is drawn from the device: its share stays free beside the margin.
    #[serde(default)]
    pub display: bool,
    /// Why it must not be filled, where NVML or the host tell.
    #[serde(default)]
    pub unsuitable: Option<Property>,
    /// The process that asks. Without it there is nobody to find anything for.
    #[serde(default)]
    pub parent: Option<u32>,
    /// Bandwidth, latencies and the memory check.
    pub bench: bool,
    /// The largest block.
    pub fill: bool,
    /// The fragmentation experiment on each of these states.
    pub experiment: Vec<twin::State>,
    /// Upper bound of the buffer for bandwidth and memory check.
    pub buffer: Option<u64>,
    /// Seconds for all of it.
    pub seconds: u64,
}

/// One line of the child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    Begin(Step),
    Found(Finding),
    /// All that was asked for was tried.
    Done,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    Driver(Taken<DriverFacts>),
    Device(Taken<DeviceFacts>),
    Memory(Taken<MemoryFacts>),
    /// The device is in use by somebody, or limited: bytes that this process can't account for.
    Busy(u64),
    Granularity(Taken<u64>),
    Bandwidth(Taken<Bandwidth>),
    Check(Taken<MemoryCheck>),
    Latencies(Taken<Vec<Latency>>),
    Largest(Taken<Largest>),
    /// One outcome for each state that was asked for.
    Experiment(Taken<Vec<Taken<ExperimentOutcome>>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverFacts {
    /// 1000 × major + 10 × minor of the newest CUDA that the driver serves.
    pub cuda_version: i32,
    pub devices: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub ordinal: u32,
    pub name: String,
    pub uuid: Taken<String>,
    pub total: u64,
    pub multiprocessors: u32,
    pub capability: (i32, i32),
    pub l2_bytes: Option<u64>,
    pub integrated: bool,
    /// The device's memory is part of the machine's.
    pub coherent: bool,
    pub virtual_memory: bool,
    pub memory_pools: bool,
    /// Bytes per second of bus width × memory clock × 2 (double data rate); unknown on unified parts.
    pub peak_bandwidth: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFacts {
    /// With this process's context present.
    pub free: u64,
    pub total: u64,
    /// What the context took, by NVML before and CUDA after; unknown without NVML, and where the difference is more
    /// than a context can cost.
    pub context: Option<u64>,
    /// By how much the difference is more than any context costs: a limit that NVML does not show, or somebody came.
    pub beyond: u64,
    /// Left to others whatever the probe does.
    pub margin: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    pub buffer: u64,
    /// Bytes per second; a copy counts both directions.
    pub read: f64,
    pub write: f64,
    pub copy: f64,
    pub peak: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryCheck {
    pub bytes: u64,
    pub wrong_words: u64,
    /// Byte offset and wrong bits of the first ones.
    pub first: Vec<(u64, u64)>,
    /// Whether the sums of both passes agree with each other, which they do only if every word was read as written.
    pub sums_agree: bool,
}

/// Medians in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub bytes: u64,
    pub alloc: f64,
    pub free: f64,
    /// `cuMemAllocAsync`, the pool warm.
    pub pool_alloc: Option<f64>,
    pub pool_free: Option<f64>,
    /// Create, map and give access.
    pub map: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Largest {
    /// By one `cuMemAlloc`.
    pub single: u64,
    /// By physical pieces mapped to one range of addresses.
    /// `None` where the device has no virtual memory management.
    pub mapped: Option<u64>,
    /// The search never asked for more: free less the margin.
    pub bound: u64,
    pub free_before: u64,
}

impl Largest {
    /// On a quiet device the only proof that the device's own memory is in pieces: mapping gets more than one call.
    pub fn physically_fragmented(&self) -> Option<bool> {
        self.mapped.map(|mapped| self.single.saturating_add(64 * MIB) < mapped)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentOutcome {
    pub layout: Layout,
    /// The state was re-created at 1 / 2^halvings of its size.
    pub halvings: u32,
    /// As planned on this device: what is left free beside the state, and the request.
    pub free: u64,
    pub requested: u64,
    /// By how much both of them were raised, so that the margin stays free.
    pub raised: u64,
    /// What the driver did, once for each repetition.
    pub observed: Vec<Ways>,
    /// On the device without the state: refused when it must be, granted when it must be.
    pub control: bool,
    /// What the arithmetic said before.
    pub predicted: Prediction,
    /// `None` where the control failed or the repetitions differ.
    pub verdict: Option<FailureMode>,
    /// Whether the driver did in every repetition what the arithmetic said.
    pub agrees: bool,
    /// Free memory came back to within 16 MiB of what it was.
    pub returned: bool,
}
