//! Why it failed. One file per cause: its test on the facts, its evidence, its texts.
//!
//! A cause weighs evidence in natural-log odds on top of a prior. The weights of all causes are turned into
//! probabilities together ([`rank`]), so that confidence is comparable between causes and sums to at most 1.

mod capacity;
mod driver_or_unrelated;
mod duplicate_model;
mod engine;
mod fragmentation;
mod framework_limit;
mod host_memory;
mod host_workers;
mod kv_cache;
mod leak_growth;
mod non_framework;
mod other_process;
mod preallocation;
mod reading;
mod shared_memory;
mod single_huge_allocation;
mod transient_peak;
#[cfg(test)]
pub(crate) mod trial;
mod wrong_device;

use crate::domain::{Sign, closed_set};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text::Text;

closed_set! {
    /// The ids of the JSON contract.
    pub enum CauseId {
        Capacity = "capacity",
        Fragmentation = "fragmentation",
        OtherProcess = "other_process",
        NonFramework = "non_framework",
        LeakGrowth = "leak_growth",
        TransientPeak = "transient_peak",
        SingleHugeAllocation = "single_huge_allocation",
        KvCache = "kv_cache",
        FrameworkLimit = "framework_limit",
        Preallocation = "preallocation",
        HostMemory = "host_memory",
        HostWorkers = "host_workers",
        SharedMemory = "shared_memory",
        WrongDevice = "wrong_device",
        DuplicateModel = "duplicate_model",
        DriverOrUnrelated = "driver_or_unrelated",
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
pub const CAUSES: &[&Cause] = &[
    &capacity::CAUSE,
    &fragmentation::CAUSE,
    &other_process::CAUSE,
    &non_framework::CAUSE,
    &leak_growth::CAUSE,
    &transient_peak::CAUSE,
    &single_huge_allocation::CAUSE,
    &kv_cache::CAUSE,
    &framework_limit::CAUSE,
    &preallocation::CAUSE,
    &host_memory::CAUSE,
    &host_workers::CAUSE,
    &shared_memory::CAUSE,
    &wrong_device::CAUSE,
    &duplicate_model::CAUSE,
    &driver_or_unrelated::CAUSE,
];

/// Divides log-odds before they become probabilities; chosen so that stated confidence agrees with how often it was right
/// on real reports (`tests/corpus/calibration.py`). At 1.05 things said at 45 % were right three times in four; at 0.7
/// things said at 74 % were right in 69 %. 0.85 errs on the cautious side, since new reports are harder than known ones.
const TEMPERATURE: f64 = 0.85;

/// Log-odds of "none of these", on the scale of the priors: the share of confidence that no cause gets.
const SOMETHING_ELSE: f64 = -2.3;

/// Added to [`SOMETHING_ELSE`] for a message without figures: of such messages whose first cause was the usual one, half
/// turned out to be something that the log did not show.
const WITHOUT_FIGURES: f64 = 1.7;

/// Causes less likely than this are not worth a reader's time.
const WORTH_TELLING: f64 = 0.02;

/// Weighs all causes for an incident; most likely first. Confidences add up to less than 1: the rest stands for what no
/// log tells.
pub fn rank(incident: &Incident) -> Vec<Finding> {
    let mut weighed: Vec<(&'static Cause, Vec<Evidence>, f64)> = Vec::new();
    for cause in CAUSES {
        if let Some(prior) = (cause.prior)(incident) {
            let evidence = (cause.weigh)(incident);
            let score = prior + evidence.iter().map(|evidence| evidence.weight).sum::<f64>();
            weighed.push((cause, evidence, score));
        }
    }
    let facts = &incident.event.facts;
    let without_figures = facts.sizes.is_empty() && facts.numbers.is_empty();
    // Nor does anybody know what a message that no reader knows says besides.
    let unfamiliar = incident.event.has(Sign::Generic);
    let something_else = SOMETHING_ELSE + if without_figures || unfamiliar { WITHOUT_FIGURES } else { 0.0 };
    let top = weighed.iter().map(|(.., score)| *score).fold(something_else, f64::max);
    let odds = |score: f64| ((score - top) / TEMPERATURE).exp();
    let all = odds(something_else) + weighed.iter().map(|(.., score)| odds(*score)).sum::<f64>();
    let mut findings: Vec<Finding> = weighed
        .into_iter()
        .map(|(cause, evidence, score)| (cause, evidence, odds(score) / all))
        .filter(|(.., confidence)| *confidence >= WORTH_TELLING)
        .map(|(cause, evidence, confidence)| Finding {
            cause,
            confidence,
            evidence: presentable(cause, evidence, incident),
            refute: (cause.refute)(incident),
        })
        .collect();
    findings.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    findings
}

/// What is said of a message that no reader knows.
fn unfamiliar(incident: &Incident) -> Evidence {
    Evidence::new(
        0.0,
        Text::new(
            "no rule knows this program's message: what ran out and what the figures are was told by the words around them, so the confidence is low",
            "没有规则认识该程序的这条消息：耗尽的是什么、各数字的含义均由其周围的词语推断，因此置信度较低",
        ),
    )
    .at(incident.event.at)
}

/// Strongest evidence first. A cause that nothing speaks for says so, since no finding goes without evidence.
fn presentable(cause: &Cause, mut evidence: Vec<Evidence>, incident: &Incident) -> Vec<Evidence> {
    evidence.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    if !evidence.iter().any(|evidence| evidence.weight > 0.0) {
        let title = (cause.title)();
        let resource = incident.event.resource.id();
        evidence.insert(
            0,
            Evidence::new(
                0.0,
                Text::new(
                    format!("nothing in the log points to it in particular; it is listed because {} in a fair share of such {resource} failures", title.en),
                    format!("日志中没有特别指向它的迹象；列出它是因为此类 {resource} 故障中有相当一部分是“{}”", title.zh),
                ),
            )
            .at(incident.event.at),
        );
    }
    if incident.event.has(Sign::Generic) {
        evidence.push(unfamiliar(incident));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::trial::{FULL_CARD, torch};
    use super::*;

    #[test]
    fn confidences_add_up_to_less_than_certainty_and_fall_in_order() {
        for incident in [torch(&FULL_CARD), torch(&[])] {
            let findings = rank(&incident);
            let sum: f64 = findings.iter().map(|finding| finding.confidence).sum();
            assert!(sum < 1.0 && sum > 0.5, "{sum}");
            assert!(findings.is_sorted_by(|a, b| a.confidence >= b.confidence));
        }
    }

    #[test]
    fn no_finding_goes_without_evidence_or_counter_proof() {
        for finding in rank(&torch(&[])).iter().chain(&rank(&torch(&FULL_CARD))) {
            assert!(finding.evidence.iter().any(|evidence| !evidence.lines.is_empty()), "{}", finding.cause.id.id());
            assert!(!finding.refute.en.is_empty() && !finding.refute.zh.is_empty());
        }
    }

    #[test]
    fn a_message_without_figures_is_told_with_little_confidence() {
        assert!(rank(&torch(&[]))[0].confidence < 0.5);
    }

    #[test]
    fn every_cause_of_the_contract_is_registered_once() {
        let ids: std::collections::BTreeSet<CauseId> = CAUSES.iter().map(|cause| cause.id).collect();
        assert_eq!((ids.len(), CAUSES.len()), (16, 16));
        for cause in CAUSES {
            let doc = (cause.doc)();
            assert!(doc.en.contains("**Example.**") && doc.zh.contains("**示例。**"), "{}", cause.id.id());
        }
    }
}
