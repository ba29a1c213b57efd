//! Hand-made incidents for the tests of the causes.

use super::{CauseId, Finding, rank};
use crate::dialect::{Event, Fact, ProcessUse, Resource};
use crate::domain::Program;
use crate::evidence::Span;
use crate::incident::recording::{Recording, Standing, Trial, Verdict};
use crate::incident::{Context, Incident};
use crate::snapshot::what_if::Change;
use crate::text::Text;
use crate::units::{self, Base, Figure, MIB};

pub fn figure(text: &str) -> Figure {
    units::parse(text, Base::Binary).expect("a size").at(Span::line(7))
}

pub fn event(program: Program, resource: Resource, figures: &[(Fact, &str)]) -> Event {
    let mut event = Event::new("test", program, resource, Span::line(7));
    for (fact, text) in figures {
        event.facts.note(*fact, figure(text));
    }
    event
}

pub fn settled(event: Event) -> Incident {
    Incident::alone(event, Context::default())
}

/// A failure of PyTorch on a GPU with these figures.
pub fn torch(figures: &[(Fact, &str)]) -> Incident {
    settled(event(Program::Pytorch, Resource::Gpu, figures))
}

/// The same, with other processes named.
pub fn torch_among(figures: &[(Fact, &str)], others: &[(u64, &str)]) -> Incident {
    let mut event = event(Program::Pytorch, Resource::Gpu, figures);
    for (pid, text) in others {
        event.facts.other_processes.push(ProcessUse { pid: *pid, figure: figure(text) });
    }
    settled(event)
}

/// A failure of the machine's memory.
pub fn host(figures: &[(Fact, &str)]) -> Incident {
    settled(event(Program::Pytorch, Resource::Host, figures))
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

/// A snapshot of a failure: 1000 MiB asked for, 500 MiB free, 3500 MiB cached in pieces, `active` bytes in use. One
/// variation of the settings was replayed, and serves the request with `served` bytes reserved or fails too.
pub fn recording(active: u64, served: Option<u64>) -> Recording {
    let verdict = match served {
        Some(peak_reserved) => Verdict::Serves { peak_reserved, to_the_end: true },
        None => Verdict::Fails { bytes: 1000 * MIB },
    };
    let reserved = active + 3500 * MIB;
    Recording {
        source: "runs/oom.pickle".into(),
        device: 0,
        standing: Standing::SameFailure,
        event: Some(41),
        events: 42,
        requested: Some(1000 * MIB),
        device_free: Some(500 * MIB),
        active,
        reserved,
        cached: 3500 * MIB,
        cached_in_private_pools: 0,
        pieces: 35,
        largest_piece: 100 * MIB,
        budget: Some((reserved + 500 * MIB, Some(reserved + 500 * MIB))),
        least: active + 1000 * MIB,
        peak_reserved: Some(reserved),
        from_the_start: true,
        steps: 0,
        conf: None,
        expandable: false,
        faithful: true,
        trials: vec![Trial {
            change: Change::Settings,
            name: Text::same("expandable_segments:True"),
            conf: "expandable_segments:True".into(),
            saves: served.map(|peak| i128::from(reserved + 1000 * MIB) - i128::from(peak)),
            verdict,
        }],
        growth: None,
        holders: Vec::new(),
        categories: Vec::new(),
        notes: Vec::new(),
    }
}

/// The log's message that belongs to [`recording`] with 3500 MiB in use.
pub const RECORDED: [(Fact, &str); 5] = [
    (Fact::Requested, "1000.00 MiB"),
    (Fact::Capacity, "8.00 GiB"),
    (Fact::Free, "500.00 MiB"),
    (Fact::Allocated, "3.42 GiB"),
    (Fact::ReservedUnallocated, "3.42 GiB"),
];
