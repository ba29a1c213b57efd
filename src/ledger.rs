//! The memory account of a failure: every byte of the device named, or marked as unexplained, with its error bounds.

use crate::dialect::Event;
use crate::text::Text;
use crate::units::Interval;

/// Whom a part of the device belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Handed out by the framework's allocator: tensors, workspaces.
    Allocated,
    /// Held by the framework's allocator, free inside its default pools.
    Cached,
    /// Free blocks inside private pools (CUDA graphs, MemPool).
    PrivatePools,
    /// This process, outside the framework's allocator: context, NCCL, other libraries.
    NonFramework,
    /// Another process that the message names.
    OtherProcess(u64),
    /// Context, libraries and other processes together, where the message does not separate them.
    Outside,
    /// Free.
    Free,
    /// Neither free nor held by anyone the message names.
    Unexplained,
}

/// One line of the account.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub holder: Holder,
    pub amount: Interval,
    /// How it was arrived at, with the figures.
    pub basis: Text,
}

/// Something in the message that contradicts itself or does not mean what it seems to.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    pub text: Text,
    pub lines: Vec<u64>,
}

/// The account. Every quantity that the message does not determine is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    pub capacity: Option<Interval>,
    /// The parts of the capacity, largest meaning first; they add up to it within their bounds.
    pub entries: Vec<Entry>,
    pub contradictions: Vec<Contradiction>,

    pub requested: Option<Interval>,
    pub free: Option<Interval>,
    /// Truly handed out (private pools' free blocks taken off).
    pub allocated: Option<Interval>,
    /// Held by the framework's allocator in all.
    pub reserved: Option<Interval>,
    /// Held by the framework's allocator and not handed out, private pools included.
    pub cached: Option<Interval>,
    /// This process outside the framework's allocator.
    pub non_framework: Option<Interval>,
    /// Everything on the device that is neither free nor this framework's: context, libraries, other processes, hidden.
    pub outside: Option<Interval>,
    /// Named other processes, this one taken off where it was listed under a host pid.
    pub others: Option<Interval>,
    /// Neither free nor held by anyone named.
    pub unexplained: Option<Interval>,
    /// The pid under which this very process is listed as another one (a container without the host's pid namespace).
    pub self_listed_as: Option<u64>,
    /// Request − free: what was missing if no cached memory could serve.
    pub short_of_free: Option<Interval>,
    /// Request − (free + cached): what was missing even if all cached memory could have served; negative when it would have sufficed.
    pub short_of_free_and_cached: Option<Interval>,
    /// The cap of a memory fraction or watermark, where one applies.
    pub cap: Option<Interval>,
}

impl Ledger {
    pub fn amount(&self, holder: Holder) -> Option<Interval> {
        self.entries.iter().find(|entry| entry.holder == holder).map(|entry| entry.amount)
    }

    /// An amount as a share of the capacity, by the middles of both; `None` without a capacity.
    pub fn share(&self, amount: Option<Interval>) -> Option<f64> {
        let capacity = self.capacity?.middle();
        if capacity <= 0 { None } else { Some(amount?.middle() as f64 / capacity as f64) }
    }
}

/// Makes the account of an event.
pub fn settle(_event: &Event) -> Ledger {
    Ledger::default()
}
