//! The memory account of a failure: every byte of the device or the machine named, or marked as unexplained, with its
//! error bounds.
//!
//! [`device`] and [`host`] divide what a message prints, [`identity`] finds out under which pid the failing process is
//! listed, [`invariant`] holds the result to arithmetic, [`proof`] says what follows from it by logic alone, and
//! [`loader`] computes what data loaders take by their settings. The account reads one event's figures; it knows no
//! log.

mod device;
mod host;
pub mod identity;
pub mod invariant;
pub mod loader;
pub mod proof;
#[cfg(test)]
mod property_tests;

use crate::dialect::{Event, Fact};
use crate::domain::named_variants;
use crate::gpu::products;
use crate::text::Text;
use crate::units::Interval;
pub(crate) use device::looks_like_wddm;
pub use identity::Identity;
pub use invariant::{Contradiction, Invariant, Part};
pub use loader::{LoaderAccount, LoaderSettings};

named_variants! {
    /// Whom a part of the device belongs to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Holder {
        /// Allocated by the framework: tensors, workspaces.
        Allocated = "allocated",
        /// Held by the framework's allocator, free inside its default pools.
        Cached = "cached",
        /// Free blocks inside private pools (CUDA graphs, MemPool).
        PrivatePools = "private-pools",
        /// This process, outside the framework's allocator: context, NCCL, other libraries.
        NonFramework = "non-framework",
        /// All of this process, where the message does not say what of it the framework holds.
        ThisProcess = "this-process",
        /// Another process that the message names.
        OtherProcess(u64) = "other-process",
        /// Context, libraries and other processes together, where the message does not separate them.
        Outside = "outside",
        /// Free.
        Free = "free",
        /// Neither free nor held by anyone the message names.
        Unexplained = "unexplained",
        /// Host: the process that was killed or failed, its private pages.
        Victim = "victim",
        /// Host: private pages of all tasks that share the limit, where nothing tells which of them was killed.
        Tasks = "tasks",
        /// Host: private pages of the other tasks that share the limit.
        OtherTasks = "other-tasks",
        /// Host: files in /dev/shm and tmpfs.
        SharedFiles = "shared-files",
        /// Host: page tables and kernel objects.
        Kernel = "kernel",
        /// Host: file pages that can be dropped.
        FileCache = "file-cache",
        /// Host: in use, but by none of the processes listed.
        Unlisted = "unlisted",
        /// Host, computed: the training processes that the loaders belong to.
        TrainingProcesses = "training-processes",
        /// Host, computed: private pages of the loaders' workers.
        Workers = "workers",
        /// Host, computed: prefetched batches in shared memory.
        PrefetchedBatches = "prefetched-batches",
        /// Host, computed: pinned copies of batches.
        PinnedBatches = "pinned-batches",
        /// Host, computed: samples kept by the processes that read them.
        SampleCaches = "sample-caches",
    }
}

/// One line of the account.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub holder: Holder,
    pub amount: Interval,
    /// How it was arrived at, with the figures.
    pub basis: Text,
}

/// A device of which the log gives the name alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// As the log spells it.
    pub name: String,
    /// The total that such a board can show as it is sold.
    pub total: Interval,
    pub line: u64,
}

impl Board {
    /// The most that a board of this name can have, rebuilt ones with it.
    pub fn most(&self) -> i128 {
        self.total.high * if products::may_be_rebuilt(&self.name) { 2 } else { 1 }
    }
}

/// The account. Every quantity that the message does not determine is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    pub capacity: Option<Interval>,
    /// The device's name, where nothing prints its size.
    pub board: Option<Board>,
    /// The parts of the capacity, largest meaning first; they add up to it within their bounds.
    pub entries: Vec<Entry>,
    pub contradictions: Vec<Contradiction>,

    pub requested: Option<Interval>,
    pub free: Option<Interval>,
    /// Truly allocated (private pools' free blocks taken off).
    pub allocated: Option<Interval>,
    /// Held by the framework's allocator in all.
    pub reserved: Option<Interval>,
    /// Held by the framework's allocator and not allocated, private pools included.
    pub cached: Option<Interval>,
    /// What the driver counts for this process, under whatever pid, where that can be.
    pub process: Option<Interval>,
    /// This process outside the framework's allocator.
    pub non_framework: Option<Interval>,
    /// Everything on the device that is neither free nor this framework's: context, libraries, other processes, hidden.
    pub outside: Option<Interval>,
    /// Named other processes, this one taken off where it was listed under a host pid. Where it may be any of several,
    /// the lower bound leaves out the largest that it can be.
    pub others: Option<Interval>,
    /// Neither free nor held by anyone named.
    pub unexplained: Option<Interval>,
    /// The pid under which this very process is listed as another one (a container without the host's pid namespace).
    pub self_listed_as: Option<u64>,
    /// What is known of which listed process is this one.
    pub identity: Identity,
    /// Request − free: what was missing if no cached memory could serve.
    pub short_of_free: Option<Interval>,
    /// Request − (free + cached): what was missing even if all cached memory could have served; negative when it would
    /// have sufficed.
    pub short_of_free_and_cached: Option<Interval>,
    /// The cap of a memory fraction or watermark, where one applies.
    pub cap: Option<Interval>,
    /// What the entries of a failure on the host are held against: the limit that was hit, or the machine's RAM.
    pub bound: Option<Interval>,
    /// What the data loaders take by their settings, where these are known.
    pub loader: Option<LoaderAccount>,
}

/// Bytes that a framework which takes the device up front leaves to the system.
const LEFT_TO_THE_SYSTEM: u64 = 300 << 20;

impl Ledger {
    /// What is free beside the pool that the request went to. A program that takes its pool at its start tells before
    /// what is free: the pool is a part of that, and so is what it leaves to the system (TensorFlow, from 225 MiB on:
    /// `MinSystemMemory` in gpu_device.cc).
    pub fn free_beside(&self, event: &Event) -> Option<Interval> {
        let (free, left) = (self.free?, Interval::exactly(LEFT_TO_THE_SYSTEM));
        Some(self.cap.filter(|_| event.program.preallocates()).map_or(free, |pool| free - pool - left))
    }

    pub fn amount(&self, holder: Holder) -> Option<Interval> {
        self.entries.iter().find(|entry| entry.holder == holder).map(|entry| entry.amount)
    }

    /// False where figures contradict each other and nothing tells which of them is right. What is in doubt is unknown
    /// here.
    pub fn consistent(&self) -> bool {
        self.contradictions.iter().all(|contradiction| contradiction.resolved)
    }

    /// The parts of the message that must not be relied upon.
    pub fn in_doubt(&self) -> Vec<Part> {
        let unresolved = self.contradictions.iter().filter(|contradiction| !contradiction.resolved);
        let mut parts: Vec<Part> = unresolved.flat_map(|contradiction| contradiction.in_doubt).copied().collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// True where a printed figure is not in doubt.
    pub fn trusts(&self, fact: Fact) -> bool {
        let part = match fact {
            Fact::Free | Fact::Used => Part::Free,
            Fact::Allocated | Fact::Reserved | Fact::ReservedUnallocated | Fact::Cached | Fact::PrivatePools => {
                Part::Framework
            }
            Fact::Process => Part::Process,
            _ => return true,
        };
        !self.in_doubt().contains(&part)
    }

    /// What the entries are parts of: the device, or on the host the limit or the machine's RAM.
    pub fn whole(&self) -> Option<Interval> {
        self.bound.or(self.capacity)
    }

    /// Puts in what the data loaders take by the settings in the log and those that the user gave. Where the failure
    /// itself tells no parts, these are the account.
    pub fn add_loader(&mut self, event: &Event, settings: &LoaderSettings) {
        let Some(account) = loader::account(event, settings) else { return };
        if self.entries.iter().all(|entry| entry.holder == Holder::Free) {
            self.entries = loader::entries(&account);
            self.bound = Some(account.limit);
        }
        self.loader = Some(account);
    }

    /// An amount as a share of [`Ledger::whole`], by the middles of both; `None` without one.
    pub fn share(&self, amount: Option<Interval>) -> Option<f64> {
        let capacity = self.whole()?.middle();
        if capacity <= 0 { None } else { Some(amount?.middle() as f64 / capacity as f64) }
    }
}

/// Makes the account of an event and holds it to the invariants of [`Invariant`].
pub fn settle(event: &Event) -> Ledger {
    let mut ledger = device::settle(event);
    if event.resource.on_host()
        && let Some((bound, entries)) = host::settle(event)
    {
        ledger.bound = Some(bound);
        ledger.entries = entries;
    }
    invariant::check(event, &mut ledger);
    // What a snapshot or the user tells stands on no line.
    ledger.contradictions.iter_mut().for_each(|told| told.lines.retain(|line| *line > 0));
    ledger
}
