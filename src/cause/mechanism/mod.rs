//! What an incident shows that tells causes apart, whatever the program: one reading for each mechanism.
//!
//! A mechanism looks at the account, the typed facts, the signs and the context, and yields one of a few levels: how
//! large the request is for the device, which phase was under way, whether readings rise. It never looks at a program's
//! name or at a wording. What a level speaks for is data (`weights.json`), learnt from labelled reports and shrunk to
//! stated priors; see [`super::weights`].

mod account;
mod compiled;
mod copies;
mod errors;
mod growth;
mod host;
pub mod limit;
mod need;
mod observed;
mod placement;
pub(crate) mod pool;
mod request;
mod run;
mod serving;
mod shapes;
mod shared;
mod snapshot;
mod steps;
mod strangers;
mod workers;

pub(in crate::cause) use growth::rising;

use crate::domain::number::Unit;
use crate::evidence::{Known, Span, TraceEntry};
use crate::incident::Incident;
use crate::text::Text;
use crate::units::Bytes;

/// One mechanism.
pub struct Mechanism {
    /// The id in JSON and in the file of weights.
    pub id: &'static str,
    /// Every level that it can show.
    pub levels: &'static [&'static str],
    /// Reads it off an incident; `None` where the log shows nothing of it.
    pub read: fn(&Incident) -> Option<Reading>,
}

/// What one incident shows of a mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub level: &'static str,
    /// What was seen, with its figures.
    pub text: Text,
    /// The lines that it rests on.
    pub lines: Vec<u64>,
    /// The entry of a memory snapshot that it rests on.
    pub entry: Option<TraceEntry>,
    /// True where it counts, and is nothing that a reader would take for evidence: it follows from the kind of message.
    pub untold: bool,
}

impl Reading {
    pub fn new(level: &'static str, text: Text) -> Reading {
        Reading { level, text, lines: Vec::new(), entry: None, untold: false }
    }

    /// Counts, and is not told as evidence.
    pub fn untold(mut self) -> Reading {
        self.untold = true;
        self
    }

    /// Adds a place where there is one.
    pub fn at_any(self, span: Option<Span>) -> Reading {
        match span {
            Some(span) => self.at(span),
            None => self,
        }
    }

    /// Adds the place it was seen at; what the user gave has none.
    pub fn at(mut self, span: Span) -> Reading {
        if !span.is_given() {
            // Of a long message its ends: what is printed between them is a dump.
            let within = if span.last - span.first <= 3 { span.first + 1..span.last } else { 0..0 };
            for line in std::iter::once(span.first).chain(within).chain([span.last]) {
                if !self.lines.contains(&line) {
                    self.lines.push(line);
                }
            }
        }
        self
    }

    /// Adds the place of a known value.
    pub fn seen<T>(self, value: &Known<T>) -> Reading {
        match value.span() {
            Some(span) => self.at(span),
            None => self,
        }
    }

    /// Adds the entry of a memory snapshot.
    pub fn recorded(mut self, entry: TraceEntry) -> Reading {
        self.entry = Some(entry);
        self
    }
}

/// Every mechanism.
pub const MECHANISMS: &[&Mechanism] = &[
    &run::JOB,
    &request::SHARE,
    &request::AGAINST_HELD,
    &request::SIZE,
    &request::ABSURD,
    &request::SQUARE,
    &account::OWN_TENSORS,
    &account::UNDIVIDED,
    &account::CACHE,
    &account::PIECES,
    &account::ALTHOUGH_FREE,
    &account::OUTSIDE,
    &account::PRIVATE_POOLS,
    &strangers::SHARE,
    &strangers::LIKE_SIZED,
    &strangers::FIRST_REQUEST,
    &strangers::NEIGHBOUR_LISTED,
    &strangers::AFTERWARDS,
    &limit::LIMIT,
    &limit::ADDRESS_SPACE,
    &pool::POOL,
    &pool::START_SHARE,
    &pool::WARM_UP,
    &pool::SECOND_FRAMEWORK,
    &run::PHASE,
    &run::APART,
    &run::PROGRESS,
    &run::LONG_LIVED,
    &run::ANSWERED,
    &run::ROUNDS,
    &run::LIFETIME,
    &run::RESTARTS,
    &run::DUE,
    &growth::READINGS,
    &growth::KEPT_THINGS,
    &growth::FIRST_READING,
    &growth::ACCUMULATES,
    &growth::SAMPLE_CACHE,
    &shapes::QUADRATIC,
    &shapes::VOCABULARY,
    &shapes::WORKSPACE,
    &shapes::KEPT,
    &shapes::VARIABLE,
    &shapes::SMALLER_TRIED,
    &placement::RANKS,
    &placement::IDLE_NEIGHBOURS,
    &placement::CHOSEN,
    &copies::LOADED_TWICE,
    &copies::RESUMED,
    &copies::HELD_AGAIN,
    &errors::ERROR,
    &errors::FIGURES,
    &errors::ON_CHIP,
    &need::WEIGHTS,
    &serving::CACHE_NEED,
    &serving::ENGINE_SHARE,
    &serving::POOL_SIZED,
    &serving::KEYS_AND_VALUES,
    &serving::ESTIMATE,
    &compiled::PLAN,
    &compiled::LARGEST_BUFFER,
    &host::KILL,
    &host::BOUND,
    &host::VICTIM,
    &host::REQUEST,
    &host::LISTED,
    &host::KERNEL,
    &host::CHECKED,
    &host::LAST_STRAW,
    &workers::DIED,
    &workers::COUNT,
    &workers::TABLE,
    &workers::LOADERS,
    &workers::PROCESSES,
    &shared::SEGMENT,
    &snapshot::REPLAY,
    &snapshot::GROWTH,
    &snapshot::TAKEN,
    &steps::BEFORE,
    &steps::STATES,
    &observed::HOST,
    &observed::DEVICE,
    &observed::KILL,
    &observed::PRESSURE,
    &observed::LOCKED,
    &observed::ADDRESSES,
    &observed::VICTIM,
];

/// All that an incident shows, in the order of [`MECHANISMS`].
pub fn readings(incident: &Incident) -> Vec<(&'static Mechanism, Reading)> {
    let read = |mechanism: &&'static Mechanism| Some((*mechanism, cited(incident, (mechanism.read)(incident)?)));
    MECHANISMS.iter().filter_map(read).collect()
}

/// A reading with the lines of all printed figures that its sentence names: what is compared often stands apart.
pub(super) fn cited(incident: &Incident, reading: Reading) -> Reading {
    if reading.lines.is_empty() {
        return reading;
    }
    let facts = &incident.event.facts;
    let others = facts.other_processes.iter().map(|other| other.figure);
    let figures = facts.sizes.values().copied().chain(others).chain(incident.context.memory_limit.get().copied());
    let counted = facts.numbers.iter().filter(|(number, _)| number.unit() == Unit::Bytes);
    let figures = figures.map(|figure| (figure.bytes, figure.at));
    let figures = figures.chain(counted.map(|(_, (value, at))| (*value as u64, *at)));
    let named: Vec<Span> = figures.filter(|(bytes, _)| names(&reading.text.en, *bytes)).map(|(_, at)| at).collect();
    named.into_iter().fold(reading, Reading::at)
}

/// True where a sentence prints a figure, as a whole word.
fn names(sentence: &str, bytes: u64) -> bool {
    let shown = Bytes(bytes).to_string();
    let alone = |at: usize| {
        let end = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '.');
        let behind = sentence.get(at + shown.len()..).unwrap_or_default();
        end(sentence.get(..at).unwrap_or_default().chars().next_back())
            && end(behind.trim_start_matches('.').chars().next())
    };
    bytes > 0 && sentence.match_indices(shown.as_str()).any(|(at, _)| alone(at))
}

#[cfg(test)]
pub(crate) fn level(mechanism: &Mechanism, incident: &Incident) -> Option<&'static str> {
    (mechanism.read)(incident).map(|reading| reading.level)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn a_figure_is_named_as_a_whole_word() {
        let four = 4 << 30;
        assert!(super::names("4.00 GiB are free", four) && super::names("of 4.00 GiB.", four));
        assert!(!super::names("14.00 GiB are free", four) && !super::names("nothing", four));
    }

    #[test]
    fn no_mechanism_looks_at_a_program_or_a_wording() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cause/mechanism");
        let mut files = 0;
        for file in std::fs::read_dir(folder).expect("the folder of mechanisms") {
            let path = file.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a source file");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for forbidden in [".dialect", ".framework", ".trainer"] {
                assert!(!code.contains(forbidden), "{}: {forbidden}", path.display());
            }
            files += 1;
        }
        assert!(files > 15, "{files}");
    }
}
