//! What to change. One file per fix: when it applies, what it frees (computed from the incident's figures), what it costs,
//! and the exact knob per framework.

use crate::cause::Finding;
use crate::incident::Incident;
use crate::text::Text;
use crate::units::Interval;

/// The kind of change, for grouping and for the `class` of the JSON contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    FreeTheDevice,
    AllocConfig,
    Batch,
    Shapes,
    Activations,
    Precision,
    Optimizer,
    Model,
    Sharding,
    Offload,
    Evaluation,
    Leak,
    Loading,
    Inference,
    Limits,
    Host,
    Libraries,
    Diagnosis,
}

impl Class {
    pub fn id(self) -> &'static str {
        match self {
            Class::FreeTheDevice => "free-the-device",
            Class::AllocConfig => "alloc-config",
            Class::Batch => "batch",
            Class::Shapes => "shapes",
            Class::Activations => "activations",
            Class::Precision => "precision",
            Class::Optimizer => "optimizer",
            Class::Model => "model",
            Class::Sharding => "sharding",
            Class::Offload => "offload",
            Class::Evaluation => "evaluation",
            Class::Leak => "leak",
            Class::Loading => "loading",
            Class::Inference => "inference",
            Class::Limits => "limits",
            Class::Host => "host",
            Class::Libraries => "libraries",
            Class::Diagnosis => "diagnosis",
        }
    }
}

/// How a fix changes results, from harmless to deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numerics {
    /// Bit-equal, or equal up to rounding.
    Same,
    /// Different in a way that is benign in practice.
    Benign,
    /// Changes optimisation: learning dynamics, statistics.
    Optimisation,
    /// Changes the model or its quality.
    Model,
}

/// What a fix frees in this incident.
#[derive(Debug, Clone, PartialEq)]
pub enum Frees {
    /// A range in bytes, with the formula and this incident's figures in it.
    Bytes { range: Interval, formula: Text },
    /// Not computable from this log, and why; names the one figure that would settle it.
    Unknown(Text),
}

/// How sure it is that the fix cures this incident, in words fixed by the basis it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Follows by arithmetic from printed figures.
    Arithmetic,
    /// Follows from printed figures and a model with a stated error.
    Likely,
    /// A rule of thumb for this cause.
    RuleOfThumb,
}

impl Certainty {
    pub fn id(self) -> &'static str {
        match self {
            Certainty::Arithmetic => "arithmetic",
            Certainty::Likely => "likely",
            Certainty::RuleOfThumb => "rule-of-thumb",
        }
    }
}

/// The exact thing to change, for one framework.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// `pytorch`, `hf-trainer`, `lightning`, `deepspeed`, `accelerate`, `ultralytics`, `shell`, `docker`, `vllm` …
    pub target: &'static str,
    /// The line to write, ready to paste.
    pub line: String,
}

/// A fix worth trying in this incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub frees: Frees,
    /// Share of throughput lost, low and high, 0 … 1; negative where it gets faster.
    pub slowdown: (f64, f64),
    pub numerics: Numerics,
    pub certainty: Certainty,
    /// Probability in 0 … 1 that this change alone cures this incident, given the causes found.
    pub cures: f64,
    /// The knob for this incident's framework first.
    pub knobs: Vec<Knob>,
    /// Why it helps here, with figures.
    pub why: Text,
}

/// What a fix has to say about an incident.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    Offer(Offer),
    /// Would not help here although people try it: the folk remedy and why it fails in this case.
    WontHelp(Text),
    /// Not offered: already in force, unsupported here, or pointless; said with `--verbose` only.
    Withheld(Text),
    /// Nothing to do with this incident.
    Silent,
}

/// A fix's file.
pub struct Fix {
    /// Slug, as in the JSON and on the command line of `oomdoc rules`.
    pub id: &'static str,
    pub class: Class,
    pub title: fn() -> Text,
    /// User documentation in Markdown.
    pub doc: fn() -> Text,
    pub advise: fn(&Incident, &[Finding]) -> Advice,
}

/// A fix as the report shows it.
#[derive(Clone)]
pub struct Ranked {
    pub fix: &'static Fix,
    pub offer: Offer,
    /// P(cures) × usefulness ÷ cost; only the order matters.
    pub value: f64,
}

/// All advice for one incident.
#[derive(Clone, Default)]
pub struct Plan {
    pub offers: Vec<Ranked>,
    pub wont_help: Vec<(&'static Fix, Text)>,
    pub withheld: Vec<(&'static Fix, Text)>,
}

/// Every fix.
pub const FIXES: &[&Fix] = &[];

/// Asks every fix and ranks what it offers by expected value.
pub fn plan(_incident: &Incident, _findings: &[Finding]) -> Plan {
    Plan::default()
}
