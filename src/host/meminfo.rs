//! RAM, swap and commit charge (`/proc/meminfo`, `/proc/sys/vm`), memory pressure (`/proc/pressure/memory`).

use super::Root;
use crate::domain::closed_set;
use crate::reading::{Reading, unavailable};
use crate::text::Text;

/// `/proc/meminfo` in bytes; the file counts in units of 1024 (`kB`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    pub total: u64,
    /// What new programs can get without swapping (kernel 3.14+).
    pub available: Reading<u64>,
    pub free: Reading<u64>,
    /// Page cache, less the shared memory that `Cached` also counts.
    pub file_cache: Reading<u64>,
    /// tmpfs, `/dev/shm` and anonymous shared mappings.
    pub shared: Reading<u64>,
    pub swap_total: Reading<u64>,
    pub swap_free: Reading<u64>,
    /// Pages held in RAM by `mlock`; memory pinned by drivers for the GPU is counted per process as `VmPin`.
    pub locked: Reading<u64>,
    pub committed: Reading<u64>,
    pub commit_limit: Reading<u64>,
    pub overcommit: Reading<Overcommit>,
}

closed_set! {
    /// `vm.overcommit_memory`.
    pub enum Overcommit {
        Heuristic = "heuristic",
        Always = "always",
        /// Allocations beyond the commit limit fail at once.
        Never = "never",
    }
}

impl Memory {
    pub fn read(root: &Root) -> Reading<Memory> {
        let text = root.text("proc/meminfo")?;
        let field = |name: &str| -> Reading<u64> {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            match value.map(|value| value.trim().trim_end_matches("kB").trim().parse::<u64>()) {
                Some(Ok(kib)) => Ok(kib.saturating_mul(1024)),
                Some(Err(_)) => unavailable(
                    format!("{name} in /proc/meminfo is no number"),
                    format!("/proc/meminfo 中的 {name} 不是数字"),
                ),
                None => unavailable(
                    format!("this kernel's /proc/meminfo has no {name}"),
                    format!("该内核的 /proc/meminfo 没有 {name}"),
                ),
            }
        };
        let shared = field("Shmem");
        let cached = field("Cached")?.saturating_add(field("Buffers").unwrap_or(0));
        let mode = root.number("proc/sys/vm/overcommit_memory");
        Ok(Memory {
            total: field("MemTotal")?,
            available: field("MemAvailable"),
            free: field("MemFree"),
            file_cache: shared.clone().map(|shared| cached.saturating_sub(shared)),
            shared,
            swap_total: field("SwapTotal"),
            swap_free: field("SwapFree"),
            locked: field("Mlocked"),
            committed: field("Committed_AS"),
            commit_limit: field("CommitLimit"),
            overcommit: mode.and_then(|mode| match mode {
                0 => Ok(Overcommit::Heuristic),
                1 => Ok(Overcommit::Always),
                2 => Ok(Overcommit::Never),
                other => unavailable(
                    format!("vm.overcommit_memory has the unknown value {other}"),
                    format!("vm.overcommit_memory 的值 {other} 未知"),
                ),
            }),
        })
    }

    /// What is in use and cannot simply be taken back.
    pub fn used(&self) -> Reading<u64> {
        self.available.clone().map(|available| self.total.saturating_sub(available))
    }
}

/// Share of time in which some or all tasks waited for memory, in percent (PSI, kernel 4.20+).
#[derive(Debug, Clone, PartialEq)]
pub struct Pressure {
    pub some: Averages,
    pub full: Averages,
}

/// Over the last 10, 60 and 300 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Averages {
    pub ten: f64,
    pub minute: f64,
    pub five_minutes: f64,
}

impl Pressure {
    pub fn read(root: &Root, relative: &str) -> Reading<Pressure> {
        let text = root.text(relative)?;
        let averages = |kind: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
            let average = |name: &str| -> Option<f64> {
                let word = line.split_whitespace().find_map(|word| word.strip_prefix(name))?;
                word.parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share))
            };
            Some(Averages { ten: average("avg10=")?, minute: average("avg60=")?, five_minutes: average("avg300=")? })
        };
        match (averages("some"), averages("full")) {
            (Some(some), Some(full)) => Ok(Pressure { some, full }),
            _ => Err(Text::new(
                format!("/{relative} does not have the known form"),
                format!("/{relative} 的格式无法识别"),
            )
            .into()),
        }
    }
}

/// Microseconds in which all tasks waited for memory at once, by a file of pressure (kernel 4.20).
pub fn stalled(root: &Root, relative: &str) -> Option<u64> {
    let text = root.text(relative).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("full "))?;
    line.split(' ').find_map(|word| word.strip_prefix("total=")?.parse().ok())
}
