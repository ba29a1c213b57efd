//! Hand-made incidents for the tests of the causes.

use super::{CauseId, Finding, rank};
use crate::dialect::{Event, Fact, ProcessUse, Resource};
use crate::evidence::Span;
use crate::incident::{Context, Incident};
use crate::ledger;
use crate::units::{self, Base, Figure};

pub fn figure(text: &str) -> Figure {
    units::parse(text, Base::Binary).expect("a size").at(Span::line(7))
}

pub fn event(framework: &'static str, resource: Resource, figures: &[(Fact, &str)]) -> Event {
    let mut event = Event::new("test", framework, resource, Span::line(7));
    for (fact, text) in figures {
        event.facts.note(*fact, figure(text));
    }
    event
}

pub fn settled(event: Event) -> Incident {
    let ledger = ledger::settle(&event);
    Incident {
        primary: true,
        event,
        followers: Vec::new(),
        ranks: Vec::new(),
        clock: None,
        context: Context::default(),
        ledger,
        recording: None,
    }
}

/// A failure of PyTorch on a GPU with these figures.
pub fn torch(figures: &[(Fact, &str)]) -> Incident {
    settled(event("pytorch", Resource::Gpu, figures))
}

/// The same, with other processes named.
pub fn torch_among(figures: &[(Fact, &str)], others: &[(u64, &str)]) -> Incident {
    let mut event = event("pytorch", Resource::Gpu, figures);
    for (pid, text) in others {
        event.facts.other_processes.push(ProcessUse { pid: *pid, figure: figure(text) });
    }
    settled(event)
}

/// A failure of the machine's memory.
pub fn host(figures: &[(Fact, &str)]) -> Incident {
    settled(event("pytorch", Resource::Host, figures))
}

pub fn first(incident: &Incident) -> CauseId {
    rank(incident).first().expect("a finding").cause.id
}

pub fn confidence(incident: &Incident, id: CauseId) -> f64 {
    rank(incident).iter().find(|finding| finding.cause.id == id).map_or(0.0, |finding| finding.confidence)
}

pub fn finding(incident: &Incident, id: CauseId) -> Finding {
    rank(incident).into_iter().find(|finding| finding.cause.id == id).expect("the cause is ranked")
}

/// A card that its own job fills: 15.77 GiB, 14.90 allocated, little slack, a small request.
pub const FULL_CARD: [(Fact, &str); 5] = [
    (Fact::Requested, "64.00 MiB"),
    (Fact::Capacity, "15.77 GiB"),
    (Fact::Allocated, "14.90 GiB"),
    (Fact::Free, "21.00 MiB"),
    (Fact::Reserved, "15.05 GiB"),
];
