//! What to change. One file per fix: when it applies, what it frees (computed from the incident's figures), what it costs,
//! and the exact knob per framework.
//!
//! A fix sees the incident through [`case::Case`] and speaks through [`draft::Draft`], which withholds what the arithmetic
//! rules out. [`plan`] asks all of [`FIXES`] and ranks what they offer.

mod activation_offload;
pub mod alloc_conf;
mod arena_growth;
mod bf16_states;
mod bound_the_cache;
mod buffer_the_dataset;
mod carve_out;
pub mod case;
mod check_vocab_ids;
mod choose_the_victim;
mod chunk_the_operation;
mod chunked_loss;
mod clear_shared_files;
mod cpu_offload;
mod cudnn_workspace;
mod data_parallel;
mod ddp_bucket_view;
mod detach_logged_tensors;
mod donate_buffers;
pub mod draft;
mod eight_bit_optimizer;
mod ema_on_cpu;
mod empty_cache;
mod engine_fraction_down;
mod engine_fraction_up;
mod evaluate_each_step;
mod expandable_segments;
mod expandable_segments_off;
mod fewer_at_once;
mod fewer_graphs;
mod fewer_qubits;
mod fewer_sequences;
mod fewer_workers;
mod find_the_leak;
mod fix_the_shape;
mod free_the_device;
mod freeze_layers;
mod fused_attention;
mod fused_optimizer;
mod garbage_collection_threshold;
mod gc_collect;
mod gradient_accumulation;
mod gradient_checkpointing;
mod group_by_length;
mod half_in_training;
mod host_load_less;
mod kill_zombies;
mod kv_cache_dtype;
mod launch_blocking;
mod lighter_optimizer;
mod load_to_cpu;
mod load_weights_once;
mod logits_to_keep;
mod lora;
mod max_split_size;
mod memory_fraction_cap;
mod memory_request;
mod mixed_precision;
mod mps_watermark;
mod narrower_profile;
mod nccl_buffers;
mod no_grad_in_eval;
mod offload_eval_predictions;
mod one_region;
mod other_device;
mod persistent_workers_off;
mod pin_memory_off;
mod preallocation_fraction;
mod qlora;
mod quantised_features;
mod raise_fraction;
mod raise_host_limit;
mod raise_runtime_limit;
mod raise_ulimit;
mod record_a_snapshot;
mod release_boosters;
pub mod replayed;
mod rmm_pool;
mod sample_cache_off;
mod shape_bucketing;
mod sharded_checkpoint;
mod sharding;
mod share_one_model;
mod shared_cache;
mod shm_size;
mod shorter_context;
mod shorter_sequences;
mod smaller_batch;
mod smaller_eval_batch;
mod smaller_images;
mod smaller_tiles;
mod spill_to_host;
mod stream_the_dataset;
mod swap;
mod tensor_parallel;
mod vae_tiling;
mod weight_offload;
mod weight_quantisation;

use crate::cause::Finding;
use crate::domain::{Target, closed_set};
use crate::incident::Incident;
use crate::text::Text;
use crate::units::Interval;

closed_set! {
    /// The kind of change, for grouping and for the `class` of the JSON contract.
    pub enum Class {
        FreeTheDevice = "free-the-device",
        AllocConfig = "alloc-config",
        Batch = "batch",
        Shapes = "shapes",
        Activations = "activations",
        Precision = "precision",
        Optimizer = "optimizer",
        Model = "model",
        Sharding = "sharding",
        Offload = "offload",
        Evaluation = "evaluation",
        Leak = "leak",
        Loading = "loading",
        Inference = "inference",
        Limits = "limits",
        Host = "host",
        Libraries = "libraries",
        Diagnosis = "diagnosis",
    }
}

closed_set! {
    /// How a fix changes results, from harmless to deep.
    pub enum Numerics {
        /// Bit-equal, or equal up to rounding.
        Same = "same",
        /// Different in a way that is benign in practice.
        Benign = "benign",
        /// Changes optimisation: learning dynamics, statistics.
        Optimisation = "optimisation",
        /// Changes the model or its quality.
        Model = "model",
    }
}

/// What a fix frees in this incident.
#[derive(Debug, Clone, PartialEq)]
pub enum Frees {
    /// A range in bytes, with the formula and this incident's figures in it.
    Bytes { range: Interval, formula: Text },
    /// Not computable from this log, and why; names the one figure that would settle it.
    Unknown(Text),
}

closed_set! {
    /// How sure it is that the fix cures this incident, in words fixed by the basis it rests on.
    pub enum Certainty {
        /// Follows by arithmetic from printed figures.
        Arithmetic = "arithmetic",
        /// Follows from printed figures and a model with a stated error.
        Likely = "likely",
        /// A rule of thumb for this cause.
        RuleOfThumb = "rule-of-thumb",
    }
}

/// The exact thing to change, for one framework.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// Whose setting it is.
    pub target: Target,
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

/// Every fix, in the order in which equals are shown: what costs nothing first.
pub const FIXES: &[&Fix] = &[
    &free_the_device::FIX,
    &other_device::FIX,
    &kill_zombies::FIX,
    &expandable_segments::FIX,
    &expandable_segments_off::FIX,
    &one_region::FIX,
    &garbage_collection_threshold::FIX,
    &max_split_size::FIX,
    &shape_bucketing::FIX,
    &smaller_batch::FIX,
    &gradient_accumulation::FIX,
    &smaller_eval_batch::FIX,
    &no_grad_in_eval::FIX,
    &offload_eval_predictions::FIX,
    &detach_logged_tensors::FIX,
    &find_the_leak::FIX,
    &shorter_sequences::FIX,
    &group_by_length::FIX,
    &smaller_images::FIX,
    &fused_attention::FIX,
    &gradient_checkpointing::FIX,
    &mixed_precision::FIX,
    &fused_optimizer::FIX,
    &eight_bit_optimizer::FIX,
    &lighter_optimizer::FIX,
    &empty_cache::FIX,
    &gc_collect::FIX,
    &memory_fraction_cap::FIX,
    &launch_blocking::FIX,
    &record_a_snapshot::FIX,
    &shm_size::FIX,
    &clear_shared_files::FIX,
    &bound_the_cache::FIX,
    &shared_cache::FIX,
    &fewer_workers::FIX,
    &persistent_workers_off::FIX,
    &buffer_the_dataset::FIX,
    &raise_host_limit::FIX,
    &memory_request::FIX,
    &sharded_checkpoint::FIX,
    &choose_the_victim::FIX,
    &host_load_less::FIX,
    &swap::FIX,
    &raise_ulimit::FIX,
    &load_weights_once::FIX,
    &fewer_at_once::FIX,
    &raise_runtime_limit::FIX,
    &raise_fraction::FIX,
    &mps_watermark::FIX,
    &engine_fraction_up::FIX,
    &engine_fraction_down::FIX,
    &shorter_context::FIX,
    &fewer_sequences::FIX,
    &kv_cache_dtype::FIX,
    &fewer_graphs::FIX,
    &weight_quantisation::FIX,
    &tensor_parallel::FIX,
    &weight_offload::FIX,
    &donate_buffers::FIX,
    &spill_to_host::FIX,
    &rmm_pool::FIX,
    &narrower_profile::FIX,
    &quantised_features::FIX,
    &release_boosters::FIX,
    &stream_the_dataset::FIX,
    &evaluate_each_step::FIX,
    &arena_growth::FIX,
    &fewer_qubits::FIX,
    &preallocation_fraction::FIX,
    &chunk_the_operation::FIX,
    &fix_the_shape::FIX,
    &activation_offload::FIX,
    &bf16_states::FIX,
    &half_in_training::FIX,
    &lora::FIX,
    &qlora::FIX,
    &freeze_layers::FIX,
    &chunked_loss::FIX,
    &logits_to_keep::FIX,
    &sharding::FIX,
    &cpu_offload::FIX,
    &ddp_bucket_view::FIX,
    &nccl_buffers::FIX,
    &cudnn_workspace::FIX,
    &load_to_cpu::FIX,
    &share_one_model::FIX,
    &ema_on_cpu::FIX,
    &vae_tiling::FIX,
    &smaller_tiles::FIX,
    &carve_out::FIX,
    &check_vocab_ids::FIX,
    &data_parallel::FIX,
    &pin_memory_off::FIX,
    &sample_cache_off::FIX,
];

/// Most offers of one class among the first [`HEAD`].
const MOST_OF_A_CLASS: usize = 2;
/// Length of the part of the list that people read.
const HEAD: usize = 5;

/// Asks every fix and ranks what it offers by expected value: the probability of a cure, less for what it costs.
/// Among the first five no class appears more than twice, so that near-duplicates don't crowd out other ways.
pub fn plan(incident: &Incident, findings: &[Finding]) -> Plan {
    let mut plan = Plan::default();
    for fix in FIXES {
        match (fix.advise)(incident, findings) {
            Advice::Offer(offer) => {
                let value = value(fix, &offer);
                plan.offers.push(Ranked { fix, offer, value });
            }
            Advice::WontHelp(why) => plan.wont_help.push((fix, why)),
            Advice::Withheld(why) => plan.withheld.push((fix, why)),
            Advice::Silent => {}
        }
    }
    // The sort is stable: equals stay in the order of the list.
    plan.offers.sort_by(|a, b| b.value.total_cmp(&a.value));
    plan.offers = spread(plan.offers);
    plan
}

/// Expected value of an offer: P(cures) × what is kept of results and speed. Costs weigh mildly, because a job that
/// runs slower beats one that dies; a change of the model weighs most.
fn value(fix: &Fix, offer: &Offer) -> f64 {
    let kept_results = match offer.numerics {
        Numerics::Same => 1.0,
        Numerics::Benign => 0.97,
        Numerics::Optimisation => 0.88,
        Numerics::Model => 0.75,
    };
    let slowdown = ((offer.slowdown.0 + offer.slowdown.1) / 2.0).clamp(-0.1, 1.0);
    let kept_speed = 1.0 - 0.5 * slowdown;
    // A look at the memory frees nothing by itself; it stands behind everything that might.
    let kind = if fix.class == Class::Diagnosis { 0.2 } else { 1.0 };
    offer.cures * kept_results * kept_speed * kind
}

/// Moves what would be a class's third entry among the first [`HEAD`] behind them; the order is kept otherwise.
fn spread(offers: Vec<Ranked>) -> Vec<Ranked> {
    let mut head: Vec<Ranked> = Vec::new();
    let mut tail = Vec::new();
    for ranked in offers {
        let alike = head.iter().filter(|other| other.fix.class == ranked.fix.class).count();
        if head.len() < HEAD && alike < MOST_OF_A_CLASS {
            head.push(ranked);
        } else {
            tail.push(ranked);
        }
    }
    head.extend(tail);
    head
}

#[cfg(test)]
mod tests;
