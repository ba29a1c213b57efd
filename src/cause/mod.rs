//! Why it failed. One file per cause: its test on the facts, its evidence, its texts.
//!
//! A cause weighs evidence in natural-log odds on top of a prior. The weights of all causes are turned into
//! probabilities together ([`rank`]), so that confidence is comparable between causes and sums to at most 1.

use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text::Text;

/// The ids of the JSON contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseId {
    Capacity,
    Fragmentation,
    OtherProcess,
    NonFramework,
    LeakGrowth,
    TransientPeak,
    SingleHugeAllocation,
    KvCache,
    FrameworkLimit,
    Preallocation,
    HostMemory,
    HostWorkers,
    SharedMemory,
    WrongDevice,
    DuplicateModel,
    DriverOrUnrelated,
}

impl CauseId {
    pub fn id(self) -> &'static str {
        match self {
            CauseId::Capacity => "capacity",
            CauseId::Fragmentation => "fragmentation",
            CauseId::OtherProcess => "other_process",
            CauseId::NonFramework => "non_framework",
            CauseId::LeakGrowth => "leak_growth",
            CauseId::TransientPeak => "transient_peak",
            CauseId::SingleHugeAllocation => "single_huge_allocation",
            CauseId::KvCache => "kv_cache",
            CauseId::FrameworkLimit => "framework_limit",
            CauseId::Preallocation => "preallocation",
            CauseId::HostMemory => "host_memory",
            CauseId::HostWorkers => "host_workers",
            CauseId::SharedMemory => "shared_memory",
            CauseId::WrongDevice => "wrong_device",
            CauseId::DuplicateModel => "duplicate_model",
            CauseId::DriverOrUnrelated => "driver_or_unrelated",
        }
    }
}

/// A cause's file.
pub struct Cause {
    pub id: CauseId,
    /// A few words for a heading: "the cache is fragmented".
    pub title: fn() -> Text,
    /// The user documentation, in Markdown: what it means, how it shows, how to tell it from its neighbours.
    pub doc: fn() -> Text,
    /// Log-odds before any evidence of this kind of incident, or `None` where the cause cannot apply at all
    /// (a full /dev/shm is no matter of the GPU).
    pub prior: fn(&Incident) -> Option<f64>,
    /// Evidence for (positive weight) and against (negative weight).
    pub weigh: fn(&Incident) -> Vec<Evidence>,
    /// How to prove this diagnosis wrong for this incident: a command and the result that would refute it.
    pub refute: fn(&Incident) -> Text,
    /// Fixtures below `fixtures/logs` in which this is the first cause.
    pub fixtures: &'static [&'static str],
}

/// A cause found for an incident, with its confidence in 0 … 1.
#[derive(Clone)]
pub struct Finding {
    pub cause: &'static Cause,
    pub confidence: f64,
    pub evidence: Vec<Evidence>,
    pub refute: Text,
}

/// Every cause, in the order of the contract.
pub const CAUSES: &[&Cause] = &[];

/// Weighs all causes for an incident; most likely first.
pub fn rank(_incident: &Incident) -> Vec<Finding> {
    Vec::new()
}
