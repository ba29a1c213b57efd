//! Events to incidents: what belongs to one failure, and the context in which it happened.

pub mod context;

use crate::dialect::Event;
use crate::ledger::Ledger;
pub use context::Context;

/// One failure with all that the log tells about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// The failure that the job died of; exactly one incident of a report is primary.
    pub primary: bool,
    pub event: Event,
    /// Events that only followed from it: other ranks, watchdogs, launchers.
    pub followers: Vec<Event>,
    pub context: Context,
    pub ledger: Ledger,
}

/// Groups events into incidents, in the order of the log, and sets aside what is harmless.
/// Exactly one incident is primary when there is any: the failure that came first and that the others followed from.
pub fn assemble(document: &crate::input::Document, events: Vec<Event>) -> (Vec<Incident>, Vec<Event>) {
    use crate::dialect::Standing;
    let mut incidents: Vec<Incident> = Vec::new();
    let mut harmless = Vec::new();
    for event in events {
        match event.standing {
            Standing::Harmless => harmless.push(event),
            Standing::Follower if !incidents.is_empty() => {
                let last = incidents.len() - 1;
                incidents[last].followers.push(event);
            }
            _ => incidents.push(Incident {
                primary: incidents.is_empty(),
                followers: Vec::new(),
                context: context::read(document, event.at),
                ledger: crate::ledger::settle(&event),
                event,
            }),
        }
    }
    (incidents, harmless)
}
