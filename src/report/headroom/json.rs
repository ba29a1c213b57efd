//! The answer for programs: `docs/headroom.schema.json`.

use super::{Checked, View};
use crate::domain::Verdict;
use crate::estimate::training;
use crate::estimate::{inference, peak};
use crate::headroom::host::HostAnswer;
use crate::headroom::{Assessment, Basis, remedies};
use crate::report::view::{Bounds, texts};
use crate::text::Lang;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// Bytes are integers; what is not known is absent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc headroom --format json")]
#[serde(untagged)]
pub enum Document<'a> {
    Answer(Box<One<'a>>),
    Check(Budgets<'a>),
}

/// One question answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct One<'a> {
    #[schemars(extend("const" = "oomdoc.headroom/1"))]
    schema: &'static str,
    #[serde(flatten)]
    answer: Answer<'a>,
}

/// With --check: every budget of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Budgets<'a> {
    #[schemars(extend("const" = "oomdoc.headroom-check/1"))]
    schema: &'static str,
    /// The worst.
    verdict: Verdict,
    /// The same, but `grown` where what fits fails for its growth alone.
    outcome: &'static str,
    budgets: Vec<Budget<'a>>,
}

/// A budget answered, and held against its baseline.
#[derive(Debug, Serialize, JsonSchema)]
struct Budget<'a> {
    #[serde(flatten)]
    answer: Answer<'a>,
    name: &'a str,
    /// Absent where there is none, or one of another batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Baseline<'a>>,
}

/// The peak against the baseline of the same batch.
#[derive(Debug, Serialize, JsonSchema)]
struct Baseline<'a> {
    /// The baseline's peak.
    peak_bytes: u64,
    growth_fraction: f64,
    /// Growth that is allowed.
    tolerance_fraction: f64,
    exceeded: bool,
    /// Places that grew, where snapshots tell.
    grown: Vec<Cow<'a, str>>,
}

/// An answer with what it rests on.
#[derive(Debug, Serialize, JsonSchema)]
struct Answer<'a> {
    /// fits: even the high end leaves the headroom. tight: the headroom is not assured. does-not-fit: even the low end is
    /// too much, or it failed there. unknown: the range reaches from one to the other.
    verdict: Verdict,
    /// Name of the GPU where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<&'a str>,
    /// Memory of the GPU as CUDA counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity_bytes: Option<u64>,
    /// The same less the CUDA context and other processes, in the middle of what is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    usable_bytes: Option<u64>,
    /// Share of the GPU that is to stay free.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_headroom_fraction: Option<f64>,
    /// The batch that the peak is for; the largest safe one where none was asked about. Concurrent requests where a model
    /// is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_size: Option<u64>,
    /// The peak of what PyTorch's allocator needs, without the CUDA context.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_bytes: Option<Peak>,
    /// What stays free at the expected peak; negative where it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    headroom_bytes: Option<i64>,
    /// The same as a share of the GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    headroom_fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_batch_size: Option<Largest>,
    /// With --inference.
    #[serde(skip_serializing_if = "Option::is_none")]
    serving: Option<Serving>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Host<'a>>,
    /// What a description takes for granted; pieces that nobody gave are marked as assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<&'a str>,
    /// What the answer rests on.
    basis: Basis,
    /// What was known, in words.
    because: Vec<Cow<'a, str>>,
    /// Changes, one by one or together, and what they make of the peak; what fits first.
    fixes: Vec<Fix<'a>>,
    /// The points that were measured.
    measured: Vec<Measured>,
    /// With --explain: the moments of a step and what each holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<Vec<Phase<'a>>>,
}

/// A peak between its bounds.
#[derive(Debug, Serialize, JsonSchema)]
struct Peak {
    /// What the allocator must hand out at least.
    low: u64,
    /// What it will probably have reserved.
    expected: u64,
    /// Safe to plan with; absent where nothing bounds the peak from above.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<u64>,
}

/// The largest batches that keep the headroom: by the high end of the peak and by the expected one; 0 where not even one
/// sample does.
#[derive(Debug, Serialize, JsonSchema)]
struct Largest {
    safe: u64,
    expected: u64,
}

/// A model that is served.
#[derive(Debug, Serialize, JsonSchema)]
struct Serving {
    /// Tokens of one request.
    context_length: u64,
    weights_bytes: u64,
    kv_cache_bytes_per_token: u64,
    /// Tokens of the longest single request that is sure to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_context_length: Option<u64>,
}

/// The data loaders against the host's memory.
#[derive(Debug, Serialize, JsonSchema)]
struct Host<'a> {
    verdict: Verdict,
    limit_bytes: u64,
    needed_bytes: Bounds,
    parts: Vec<HostPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_workers: Option<u64>,
    /// Of each process that reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_cache_bytes: Option<u64>,
    /// Of one cache that all share.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_shared_cache_bytes: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HostPart<'a> {
    what: Cow<'a, str>,
    bytes: Bounds,
}

/// A change, or several, and the answer with it.
#[derive(Debug, Serialize, JsonSchema)]
struct Fix<'a> {
    /// As in oomdoc rules; several joined by " + " where they are needed together.
    id: String,
    title: &'a str,
    peak_bytes: Peak,
    verdict: Verdict,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Measured {
    batch_size: u64,
    bytes: u64,
}

/// A moment of a step.
#[derive(Debug, Serialize, JsonSchema)]
struct Phase<'a> {
    moment: Cow<'a, str>,
    bytes: u64,
    terms: Vec<Term<'a>>,
}

/// What a moment holds.
#[derive(Debug, Serialize, JsonSchema)]
struct Term<'a> {
    what: &'a str,
    formula: &'a str,
    bytes: u64,
}

/// One question answered, as a document.
pub fn document(assessment: &Assessment, view: View) -> Document<'_> {
    Document::Answer(Box::new(One { schema: "oomdoc.headroom/1", answer: Answer::of(assessment, view) }))
}

/// What `--check` found, as a document.
pub fn budgets(all: &[Checked], view: View) -> Document<'_> {
    Document::Check(Budgets {
        schema: "oomdoc.headroom-check/1",
        verdict: Verdict::of_all(all.iter().map(Checked::verdict)).unwrap_or(Verdict::Fits),
        outcome: outcome(all),
        budgets: all.iter().map(|checked| Budget::of(checked, view)).collect(),
    })
}

/// Of the worst budget; growth alone is less than anything that may not fit.
fn outcome(all: &[Checked]) -> &'static str {
    let of = |checked: &&Checked| (checked.verdict(), !checked.is_grown());
    all.iter().max_by_key(of).map_or(Verdict::Fits.id(), Checked::outcome)
}

fn whole(value: f64) -> u64 {
    // A conversion of a float saturates.
    value.max(0.0) as u64
}

fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_string())
}

impl Budget<'_> {
    fn of(checked: &Checked, view: View) -> Budget<'_> {
        let baseline = checked.growth.as_ref().map(|growth| Baseline {
            peak_bytes: growth.before,
            growth_fraction: rounded(growth.share),
            tolerance_fraction: growth.tolerance,
            exceeded: growth.exceeded(),
            grown: texts(&growth.places, view.style.lang),
        });
        let answer = Answer { verdict: checked.verdict(), ..Answer::of(&checked.assessment, view) };
        Budget { answer, name: &checked.name, baseline }
    }
}

impl Answer<'_> {
    fn of(assessment: &Assessment, view: View) -> Answer<'_> {
        let lang = view.style.lang;
        let device = assessment.question.device.as_ref();
        let measured = assessment.measured.iter();
        Answer {
            verdict: assessment.verdict,
            gpu: device.map(|device| device.name.as_str()).filter(|name| !name.is_empty()),
            capacity_bytes: device.map(|device| device.capacity),
            usable_bytes: device.map(|device| device.usable()),
            asked_headroom_fraction: device.map(|device| rounded(assessment.question.headroom.share(device.capacity))),
            batch_size: assessment.batch,
            peak_bytes: assessment.peak.map(Peak::from),
            headroom_bytes: assessment.headroom.map(|left| i64::try_from(left).unwrap_or(i64::MIN)),
            headroom_fraction: assessment.headroom_share().map(rounded),
            max_batch_size: assessment
                .largest
                .map(|largest| Largest { safe: largest.safe, expected: largest.expected }),
            serving: assessment.serving.as_ref().map(|serving| Serving::of(serving, assessment.longest_context)),
            host: assessment.host.as_ref().map(|host| Host::of(host, lang)),
            taken: assessment.question.taken.as_ref().map(|taken| taken.in_lang(lang)),
            basis: assessment.basis,
            because: texts(assessment.question.source.iter().chain(&assessment.because), lang),
            fixes: assessment.remedies.iter().map(|remedy| Fix::of(remedy, lang)).collect(),
            measured: measured.map(|(batch, bytes)| Measured { batch_size: *batch, bytes: whole(*bytes) }).collect(),
            phases: view.explain.then(|| assessment.phases.iter().map(|phase| Phase::of(phase, lang)).collect()),
        }
    }
}

impl From<peak::Peak> for Peak {
    fn from(peak: peak::Peak) -> Peak {
        Peak {
            low: whole(peak.low),
            expected: whole(peak.expected),
            high: peak.high.is_finite().then(|| whole(peak.high)),
        }
    }
}

impl Serving {
    fn of(serving: &inference::Serving, longest: Option<u64>) -> Serving {
        Serving {
            context_length: serving.context,
            weights_bytes: whole(serving.weights()),
            kv_cache_bytes_per_token: whole(serving.token()),
            max_context_length: longest,
        }
    }
}

impl Host<'_> {
    fn of(host: &HostAnswer, lang: Lang) -> Host<'_> {
        let parts = host.parts().into_iter();
        Host {
            verdict: host.verdict,
            limit_bytes: host.limit,
            needed_bytes: host.need.in_the_end().into(),
            parts: parts
                .map(|(what, bytes)| HostPart { what: owned(what.in_lang(lang)), bytes: bytes.into() })
                .collect(),
            max_workers: host.workers,
            max_cache_bytes: host.cache,
            max_shared_cache_bytes: host.shared_cache,
        }
    }
}

impl Fix<'_> {
    fn of(remedy: &remedies::Remedy, lang: Lang) -> Fix<'_> {
        Fix {
            id: remedy.id(),
            title: remedy.what.in_lang(lang),
            peak_bytes: remedy.peak.into(),
            verdict: remedy.verdict,
        }
    }
}

impl Phase<'_> {
    fn of(phase: &training::Phase, lang: Lang) -> Phase<'_> {
        let terms = phase.terms.iter().map(|term| Term {
            what: term.what.in_lang(lang),
            formula: &term.formula,
            bytes: whole(term.bytes),
        });
        Phase { moment: owned(phase.moment.text().in_lang(lang)), bytes: whole(phase.bytes()), terms: terms.collect() }
    }
}
