//! Why it failed. One file per cause with its texts and its counter-proof; what speaks for each is data.
//!
//! The mechanisms ([`mechanism`]) read an incident; each reading carries natural-log odds for some causes (`weights`),
//! on top of a prior for the kind of failure. All causes are turned into probabilities together ([`rank`]), so that
//! confidence is comparable between causes and sums to at most 1. Only what arithmetic or a replay proves ([`proof`])
//! goes above
//! [`MOST_WITHOUT_PROOF`]; what follows from the probabilities, and what would decide where they do not, is in
//! [`conclusion`] and [`decide`].

mod capacity;
pub mod conclusion;
pub mod decide;
mod driver_or_unrelated;
mod duplicate_model;
mod fragmentation;
mod framework_limit;
mod host_memory;
mod host_workers;
mod kv_cache;
mod leak_growth;
pub mod mechanism;
pub mod nature;
mod non_framework;
mod other_process;
mod preallocation;
pub(crate) mod proof;
pub(crate) mod reading;
mod shared_memory;
mod single_huge_allocation;
mod transient_peak;
#[cfg(test)]
pub(crate) mod trial;
pub(crate) mod weights;
mod wrong_device;

use crate::dialect::Resource;
use crate::domain::{Sign, closed_set};
use crate::estimate::serving::Budget;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::recording::Pieces;
use crate::order::InOrder;
use crate::text;
use crate::text::Text;
use conclusion::Family;
use mechanism::{Mechanism, Reading};
use weights::Weights;

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
    /// True where arithmetic or a replay proves it.
    pub proved: bool,
    pub evidence: Vec<Evidence>,
    pub refute: Text,
}

impl Finding {
    /// What speaks for it, the strongest first; empty where only its frequency does.
    pub fn supporting(&self) -> Vec<&Evidence> {
        let mut list: Vec<&Evidence> = self.evidence.iter().filter(|item| item.weight > 0.0).collect();
        list.order_by(|a, b| b.weight.total_cmp(&a.weight));
        list
    }
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

/// The share of confidence that all causes together get: the rest stands for what no log tells.
const OF_ALL: f64 = 0.97;

/// No cause is told with more than this unless it is proved: of what was said with more, one in eight was wrong on
/// reports that nobody had read before.
pub const MOST_WITHOUT_PROOF: f64 = 0.9;

/// What a proved cause is told with.
const WITH_PROOF: f64 = 0.96;

/// Of a message that no reader knows, the share of confidence that no cause gets besides: a judgement, since no
/// labelled set has enough of them to learn it from.
const UNFAMILIAR: f64 = 0.25;

/// Causes less likely than this are not worth a reader's time. It also decides whether a cause stands alone: with 2 %,
/// four of twelve logs that cannot tell the cause were no longer said to be open at the temperature of today.
const WORTH_TELLING: f64 = 0.012;

/// Evidence below this says nothing for or against.
const WORTH_CITING: f64 = 0.15;

/// Natural-log odds by which a reading told as evidence speaks for its cause before every cause that may be printed
/// beside it: it makes the cause twice as likely as each of them. What says less is true of both.
pub const TELLS_APART: f64 = std::f64::consts::LN_2;

/// Weighs all causes for an incident; most likely first. Confidences add up to less than 1: the rest stands for what no
/// log tells.
pub fn rank(incident: &Incident) -> Vec<Finding> {
    let proof = proof::proof(incident);
    let mut weighed = weigh(incident);
    let top = weighed.iter().map(|weighed| weighed.score).fold(f64::MIN, f64::max);
    let odds = |score: f64| ((score - top) / Weights::get().temperature).exp();
    let known = if incident.event.has(Sign::Generic) { OF_ALL - UNFAMILIAR } else { OF_ALL };
    let all = weighed.iter().map(|weighed| odds(weighed.score)).sum::<f64>().max(f64::MIN_POSITIVE) / known;
    for weighed in &mut weighed {
        weighed.share = odds(weighed.score) / all;
    }
    speak_against_rivals(&mut weighed);
    let proved = proof.as_ref().map(|proof| proof.cause);
    let others: f64 = weighed.iter().filter(|weighed| Some(weighed.cause.id) != proved).map(|w| w.share).sum();
    let mut findings: Vec<Finding> = weighed
        .into_iter()
        .map(|Weighed { cause, mut evidence, share, .. }| {
            let is_proved = proved == Some(cause.id);
            let confidence = match proved {
                Some(_) if is_proved => WITH_PROOF,
                // What is left is shared as the evidence has it.
                Some(_) => share / others.max(f64::MIN_POSITIVE) * (OF_ALL - WITH_PROOF),
                None => share.min(MOST_WITHOUT_PROOF),
            };
            evidence.order_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
            if let Some(proof) = proof.as_ref().filter(|_| is_proved) {
                evidence.retain(|evidence| evidence.id != proof.evidence.id);
                evidence.insert(0, proof.evidence.clone());
            }
            let evidence = presentable(cause, evidence, incident);
            let refute = if incident.on_a_board() { on_a_board(cause.id) } else { (cause.refute)(incident) };
            Finding { cause, confidence, proved: is_proved, evidence, refute }
        })
        .filter(|finding| finding.confidence >= WORTH_TELLING)
        .collect();
    findings.order_by(|a, b| b.confidence.total_cmp(&a.confidence));
    findings
}

/// What tells the kind of failure and never why: it counts, and is no evidence that a reader would accept. Whatever
/// filled the memory, a process is killed for it, and the request that fails is the last straw.
const BACKGROUND: [&str; 5] = ["job", "figures", "kill", "bound", "last-straw"];

/// True where a reading can be told as evidence for a cause. How large a request was says something of the job that
/// made it, and nothing of others, of a device chosen wrongly or of a second copy.
fn is_evidence_for(cause: CauseId, mechanism: &str) -> bool {
    let of_the_request =
        matches!(mechanism, "request-share" | "request-size" | "request-against-held" | "host-request");
    let of_the_job = matches!(
        cause,
        CauseId::Capacity
            | CauseId::SingleHugeAllocation
            | CauseId::TransientPeak
            | CauseId::Fragmentation
            | CauseId::Preallocation
            | CauseId::KvCache
            | CauseId::HostMemory
            | CauseId::SharedMemory
            | CauseId::DriverOrUnrelated
    ) || cause == CauseId::DuplicateModel && mechanism == "request-against-held";
    let bare = match mechanism {
        // That nobody else is on the device, or that a program runs for long, is the same for most causes.
        "strangers" => matches!(cause, CauseId::LeakGrowth | CauseId::TransientPeak | CauseId::DuplicateModel),
        "long-lived" => !matches!(cause, CauseId::LeakGrowth | CauseId::OtherProcess | CauseId::HostMemory),
        // One model that is too large fails in loading as two do.
        "phase" => cause == CauseId::DuplicateModel,
        _ if conclusion::is_of_others(cause, mechanism) => true,
        // That something failed at start-up says of an engine which memory it was, not why.
        "warm-up" => cause == CauseId::Capacity,
        // The words for an error that may be something else's say nothing of who holds the memory.
        "error" => cause == CauseId::Capacity,
        _ => false,
    };
    !BACKGROUND.contains(&mechanism) && !bare && (of_the_job || !of_the_request)
}

/// Mechanisms that tell that this process's own tensors fill the device, and nothing of why they do: a job that is too
/// large, one that grows and one that holds a second model print the same.
fn is_of_the_account(mechanism: &str) -> bool {
    matches!(
        mechanism,
        "own-tensors"
            | "request-share"
            | "request-size"
            | "request-against-held"
            | "cache"
            | "outside-the-allocator"
            | "strangers"
    )
}

/// Mechanisms that only say what the message is about. The priors of its kind of failure carry what they speak for, so
/// that these count with them.
const OF_THE_ASKER: [&str; 2] = ["shared-memory", "on-chip"];

/// Drops what says nothing: readings without weight, those that speak for a cause that may stand beside this one nearly
/// as much as for this one, under which they would be no evidence, and those that speak for another one still more.
fn speak_against_rivals(weighed: &mut [Weighed]) {
    let temperature = Weights::get().temperature;
    let mut likeliest: Vec<(usize, CauseId, f64)> =
        weighed.iter().enumerate().map(|(at, cause)| (at, cause.cause.id, cause.share)).collect();
    likeliest.order_by(|a, b| b.2.total_cmp(&a.2));
    let shares: Vec<(CauseId, f64)> = likeliest.iter().map(|(_, cause, share)| (*cause, *share)).collect();
    let printed = conclusion::printable(&shares);
    let beside: Vec<usize> = likeliest.iter().take(printed).map(|(at, ..)| *at).collect();
    // With the prior, where a reading only says which prior it is.
    let of_evidence = |weighed: &Weighed, evidence: &Evidence| {
        evidence.weight + if OF_THE_ASKER.contains(&evidence.id) { weighed.prior } else { 0.0 }
    };
    let weights: Vec<Vec<f64>> = weighed
        .iter()
        .map(|weighed| weighed.evidence.iter().map(|evidence| of_evidence(weighed, evidence)).collect())
        .collect();
    let causes: Vec<CauseId> = weighed.iter().map(|weighed| weighed.cause.id).collect();
    for (at, cause) in weighed.iter_mut().enumerate() {
        // One that is listed below those is held against all.
        let all: Vec<usize> = (0..weights.len()).collect();
        let others = if beside.contains(&at) { &beside } else { &all };
        let rivals = || others.iter().copied().filter(|rival| *rival != at);
        let of_own_need = |rival: usize| causes.get(rival).copied().map(Family::of) == Some(Family::OwnNeed);
        let why_is_open = cause.cause.id == CauseId::Capacity && rivals().any(of_own_need);
        let (mut row, untold, own) = (0, &cause.untold, weights.get(at));
        cause.evidence.retain(|evidence| {
            let of = |rival: usize| weights.get(rival).and_then(|weights| weights.get(row)).copied().unwrap_or(0.0);
            let most = |all: &mut dyn Iterator<Item = usize>| all.map(of).fold(f64::MIN, f64::max);
            let of_rivals = most(&mut rivals());
            let of_any = most(&mut (0..weights.len()).filter(|rival| *rival != at));
            let told = !untold.get(row).copied().unwrap_or(false);
            let weight = own.and_then(|own| own.get(row)).copied().unwrap_or(0.0);
            row += 1;
            let before = |other: f64| (weight - other) / temperature;
            evidence.weight.abs() >= WORTH_CITING
                && (evidence.weight < 0.0
                    || told
                        && before(of_rivals) >= TELLS_APART
                        && before(of_any) > -TELLS_APART
                        && is_evidence_for(cause.cause.id, evidence.id)
                        && !(why_is_open && is_of_the_account(evidence.id)))
        });
    }
}

/// A cause with all that speaks for and against it.
struct Weighed {
    cause: &'static Cause,
    /// Of every mechanism that was read, in one order for all causes.
    evidence: Vec<Evidence>,
    /// Of each of those, whether it is only counted.
    untold: Vec<bool>,
    prior: f64,
    score: f64,
    /// Its share of all causes' odds.
    share: f64,
}

/// Prior and evidence of every cause that can apply.
fn weigh(incident: &Incident) -> Vec<Weighed> {
    let weights = Weights::get();
    let asker = nature::asker(incident);
    let readings = mechanism::readings(incident);
    let priors = weights.priors(asker);
    let rows: Vec<_> = readings
        .iter()
        .filter_map(|(mechanism, reading)| Some((*mechanism, reading, weights.row(mechanism, reading.level)?)))
        .collect();
    CAUSES
        .iter()
        .filter(|cause| applies(cause.id, incident))
        .filter_map(|cause| {
            let of = |row: &weights::Row| row.get(cause.id as usize).copied().flatten();
            let prior = of(&priors)?;
            let of = |row: &weights::Row| of(row).unwrap_or(0.0);
            Some(Weighed {
                cause,
                evidence: rows.iter().map(|(mechanism, reading, row)| evidence(mechanism, of(row), reading)).collect(),
                untold: rows.iter().map(|(_, reading, _)| reading.untold).collect(),
                prior,
                score: prior + rows.iter().map(|(.., row)| of(row)).sum::<f64>(),
                share: 0.0,
            })
        })
        .collect()
}

fn evidence(mechanism: &Mechanism, weight: f64, reading: &Reading) -> Evidence {
    let mut evidence = Evidence::new(mechanism.id, weight, reading.text.clone());
    evidence.lines.clone_from(&reading.lines);
    evidence.lines.sort_unstable();
    evidence.entry.clone_from(&reading.entry);
    evidence
}

/// What logic rules out, whatever the evidence: a GPU failure is none of RAM's, except for pinned memory and for
/// Windows, which charges GPU memory to its commit limit.
fn applies(cause: CauseId, incident: &Incident) -> bool {
    match cause {
        // An engine weighed the model against the RAM before it read it: nothing ran that could grow or multiply.
        CauseId::LeakGrowth | CauseId::HostWorkers if incident.event.has(Sign::ModelBeyondRam) => false,
        // What was refused are weights: the cache is made behind them.
        CauseId::KvCache if incident.event.has(Sign::WeightsBuffer) => false,
        CauseId::HostMemory if nature::on_gpu(incident) => {
            incident.event.has(crate::dialect::Sign::PinnedHost)
                || reading::looks_like_wddm(incident) && reading::refused_although_free(incident)
        }
        // Before the first token nothing is left: no length of the context is the matter.
        CauseId::KvCache => {
            incident.event.resource != Resource::KvCache
                || Budget::of(&incident.event.facts).room.is_none_or(|room| room >= 0.0)
        }
        CauseId::Fragmentation => {
            incident.proof().is_none_or(|recording| recording.pieces() != Some(Pieces::TooLittle))
        }
        _ => true,
    }
}

/// What is said of a message that no reader knows.
fn unfamiliar(incident: &Incident) -> Evidence {
    Evidence::new(
        "unfamiliar",
        0.0,
        text!(
            en: "no rule knows this program's message: what ran out and what the figures are was told by the words \
                 around them, so the confidence is low",
            zh: "没有规则认识该程序的这条消息：耗尽的是什么、各数字的含义均由其周围的词语推断，因此置信度较低"
        ),
    )
    .at(incident.event.at)
}

/// A cause that nothing speaks for says so, since no finding goes without evidence.
fn presentable(cause: &Cause, mut evidence: Vec<Evidence>, incident: &Incident) -> Vec<Evidence> {
    if !evidence.iter().any(|evidence| evidence.weight > 0.0) {
        let title = (cause.title)();
        let resource = incident.event.resource.id();
        evidence.insert(
            0,
            Evidence::new(
                "prior",
                0.0,
                // That it ran short is no guess; what filled it is.
                if cause.id == CauseId::HostMemory && incident.event.proves_that_ram_ran_short() {
                    text!(
                        en: "the killer's own line says that RAM ran short; nothing around it tells what filled it",
                        zh: "杀手自己的日志说明内存不足；其周围没有说明是什么占满的"
                    )
                } else {
                    Text::new(
                        format!(
                            "nothing in the log points to it in particular; it is listed because {} in a fair share of \
                             such {resource} failures",
                            title.en
                        ),
                        format!(
                            "日志中没有特别指向它的迹象；列出它是因为此类 {resource} 故障中有相当一部分是“{}”",
                            title.zh
                        ),
                    )
                },
            )
            .at(incident.event.at),
        );
    }
    if incident.event.has(Sign::Generic) {
        evidence.push(unfamiliar(incident));
    }
    evidence
}

/// How to prove a cause wrong where nothing can be typed: by what the firmware itself prints.
fn on_a_board(cause: CauseId) -> Text {
    match cause {
        CauseId::Fragmentation => text!(
            en: "Print the largest free block before the call that fails: if it is larger than what is asked for, the \
                 heap is not in pieces.",
            zh: "在失败的调用之前打印最大空闲块：若大于请求，则堆没有碎片化。"
        ),
        CauseId::LeakGrowth => text!(
            en: "Print the free heap after each round: if it stays level, nothing leaks.",
            zh: "每轮之后打印空闲堆：若保持平稳，则没有泄漏。"
        ),
        _ => text!(
            en: "Print the free heap before the call that fails: if it is larger than what is asked for, the heap was \
                 not short.",
            zh: "在失败的调用之前打印空闲堆：若大于请求，则堆并不缺少空间。"
        ),
    }
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
    fn nothing_goes_above_nine_tenths_without_proof() {
        let mut beyond = FULL_CARD;
        beyond[0].1 = "40.00 GiB";
        for incident in [torch(&FULL_CARD), torch(&[]), torch(&beyond)] {
            for finding in rank(&incident) {
                assert_eq!(finding.confidence > MOST_WITHOUT_PROOF, finding.proved, "{}", finding.cause.id.id());
            }
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
        let findings = rank(&torch(&[]));
        assert!(findings[0].confidence < conclusion::STANDS_OUT, "{}", findings[0].confidence);
    }

    #[test]
    fn every_cause_of_the_contract_is_registered_once() {
        let ids: std::collections::BTreeSet<CauseId> = CAUSES.iter().map(|cause| cause.id).collect();
        assert_eq!((ids.len(), CAUSES.len()), (16, 16));
        for cause in CAUSES {
            let doc = (cause.doc)();
            let shown = doc.en.contains("**Example.**") && doc.zh.contains("**示例。**");
            assert!(shown, "the page of {} has no example", cause.id.id());
        }
    }
}
