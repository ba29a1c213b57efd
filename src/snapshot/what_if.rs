//! The same program under other settings, on another device, in another version, with less to hold.

use super::analysis::DeviceAnalysis;
use super::history::{Allocation, History};
use super::holders::{Category, Certainty, Sites};
use super::outcome::{Record, outcome, run};
use super::predict::Program;
use super::store::NONE;
use crate::allocator::SMALL_LIMIT;
use crate::allocator::config::{Config, TorchPlatform};
use crate::allocator::version::Version;
use crate::domain::named_variants;
use crate::gpu::context_size;
use crate::text::Text;
use rayon::prelude::*;
use std::collections::HashSet;
use std::time::{Duration, Instant};

pub use super::outcome::{Doubt, VariationOutcome};

/// The setting that joins free pages.
pub const EXPANDABLE: &str = "expandable_segments:True";
/// Settings that are tried unasked.
const USUAL: [&str; 5] = [
    EXPANDABLE,
    "max_split_size_mb:128",
    "max_split_size_mb:512",
    "roundup_power2_divisions:8",
    "expandable_segments:False",
];

named_variants! {
    /// What is different from the record.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Change {
        /// Other settings of the allocator.
        Settings = "settings",
        /// Another version of PyTorch.
        Torch = "torch",
        /// A device of this many bytes.
        Capacity(u64) = "capacity",
        /// Activations and temporaries of half the size.
        HalfBatch = "half-batch",
        /// Nothing is allocated at one site.
        Without(u32) = "without-holder",
    }
}

/// A variation and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    pub change: Change,
    pub conf: String,
    pub torch: Version,
    pub outcome: VariationOutcome,
    /// Bytes of reserved memory that it saves at the peak; negative when it takes more.
    pub saves: Option<i128>,
}

impl WhatIf {
    /// True when nothing that matters changes: neither the verdict nor the peak by one percent.
    pub fn is_without_effect(&self, recorded_oom: bool, recorded_peak: u64) -> bool {
        let (VariationOutcome::Ran { served, .. }, Some(saves)) = (&self.outcome, self.saves) else { return false };
        let same_verdict = served.is_none_or(|served| served != recorded_oom);
        same_verdict && saves.unsigned_abs() * 100 < u128::from(recorded_peak)
    }
}

/// What to try.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Empty: the usual ones.
    pub confs: Vec<String>,
    pub capacity: Option<u64>,
    /// The share of it that the program lets itself have.
    pub fraction: Option<f64>,
    /// Which batch fits, with that of the recording where it is known.
    pub batch: Option<Option<u64>>,
}

impl Wishes {
    /// True where neither settings nor a device were asked for.
    pub fn are_usual(&self) -> bool {
        self.confs.is_empty() && self.capacity.is_none()
    }
}

/// What came of all variations, and what they are compared with.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    pub base: Option<Base>,
    pub tried: Vec<WhatIf>,
}

/// The recorded program under its own settings, run as the variations are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base {
    pub reserved: u64,
    pub in_use: u64,
    /// True where what was there before the recording had to be packed anew, so that this is not the recorded peak.
    pub packed_anew: bool,
}

#[derive(Clone)]
pub(super) struct Variation {
    pub(super) change: Change,
    conf: String,
    pub(super) torch: Version,
    pub(super) config: Result<Config, Text>,
    pub(super) budget: (u64, Option<u64>),
    /// The most that the program lets itself have (`set_per_process_memory_fraction`), where it does.
    pub(super) own_limit: Option<u64>,
    /// New size of each allocation where it differs; 0 when it is not made.
    pub(super) sizes: Option<Vec<u64>>,
    /// Factor on a failed request, as numerator and denominator.
    failed: (u64, u64),
    /// Failed requests that are not made.
    skip_failed: Vec<u32>,
}

impl Variation {
    /// Bytes of an allocation that was recorded with so many.
    pub(super) fn size_of(&self, id: u32, recorded: u64) -> u64 {
        self.sizes.as_ref().map_or(recorded, |sizes| sizes.get(id as usize).copied().unwrap_or(recorded))
    }

    /// Bytes of a request that failed when it was recorded; `None` where it is not made.
    pub(super) fn size_of_failed(&self, event: u32, recorded: u64) -> Option<u64> {
        let (times, parts) = self.failed;
        let bytes = (u128::from(recorded) * u128::from(times)).div_ceil(u128::from(parts.max(1)));
        (!self.skip_failed.contains(&event)).then(|| u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Runs all variations. `done` is called after each.
pub fn sweep(
    analysis: &DeviceAnalysis,
    program: &Program,
    recorded_conf: &str,
    sites: &mut Sites<'_>,
    wishes: &Wishes,
    done: &(dyn Fn(usize) + Sync),
) -> Sweep {
    let base = |change: Change| Variation {
        change,
        conf: recorded_conf.to_string(),
        torch: program.version,
        config: Ok(program.config.clone()),
        budget: (program.budget.low, program.budget.high),
        own_limit: None,
        sizes: None,
        failed: (1, 1),
        skip_failed: Vec::new(),
    };
    let mut variations: Vec<Variation> = Vec::new();
    let confs: Vec<String> = if wishes.confs.is_empty() {
        USUAL.iter().map(|conf| conf.to_string()).collect()
    } else {
        wishes.confs.clone()
    };
    for conf in confs {
        let parsed = Config::parse(&conf, program.version, TorchPlatform::Linux);
        let config = parsed.map(|(config, _)| config).map_err(|error| error.remark.text);
        if wishes.confs.is_empty() && config.as_ref().is_ok_and(|config| *config == program.config) {
            continue;
        }
        variations.push(Variation { conf, config, ..base(Change::Settings) });
    }
    if wishes.confs.is_empty() && Version::NEWEST != program.version {
        let config = Config::parse(recorded_conf, Version::NEWEST, TorchPlatform::Linux);
        let mut config = config.map(|(config, _)| config).map_err(|error| error.remark.text);
        if let Ok(config) = &mut config {
            config.expandable_segments = program.config.expandable_segments;
        }
        variations.push(Variation { torch: Version::NEWEST, config, ..base(Change::Torch) });
    }
    if let Some(capacity) = wishes.capacity {
        let own_limit = wishes.fraction.map(|fraction| (fraction * capacity as f64) as u64);
        let budget = left_of(capacity, wishes.fraction);
        let budget = (budget.0, Some(budget.1));
        // Settings that were asked about, on the device that was asked about.
        let together: Vec<Variation> = variations
            .iter()
            .filter(|variation| !wishes.confs.is_empty() && variation.config.is_ok())
            .map(|asked| Variation {
                conf: asked.conf.clone(),
                config: asked.config.clone(),
                budget,
                own_limit,
                ..base(Change::Capacity(capacity))
            })
            .collect();
        variations.push(Variation { budget, own_limit, ..base(Change::Capacity(capacity)) });
        variations.extend(together);
    }
    if wishes.confs.is_empty() {
        variations.extend(smaller(analysis, sites, &base));
    }
    // The state before the trace can only be packed anew; then what it is compared with must be packed anew too.
    let fresh_start = analysis.history.begins_late();
    let recorded = Base {
        reserved: analysis.history.peak_reserved.0,
        in_use: analysis.peak_active.map_or(0, |(bytes, _)| bytes),
        packed_anew: false,
    };
    let history = &analysis.history;
    let anew = fresh_start.then(|| run(history, program, &base(Change::Settings), program.certain_budget())).flatten();
    let compared = anew.map_or(recorded, |ran| Base {
        reserved: ran.peak_reserved,
        in_use: ran.peak_active,
        packed_anew: ran.peak_reserved != recorded.reserved,
    });
    let baseline = compared.reserved;
    let record = Record::of(analysis);
    let tried = variations
        .par_iter()
        .enumerate()
        .map(|(i, variation)| {
            let outcome = match &variation.config {
                Err(why) => VariationOutcome::Refused(why.clone()),
                Ok(_) => outcome(history, program, variation, &record),
            };
            let saves = match &outcome {
                // What was reserved before a request failed is no peak of the whole program.
                VariationOutcome::Ran { peak_reserved, served: Some(true), .. } => {
                    Some(i128::from(baseline) - i128::from(*peak_reserved))
                }
                _ => None,
            };
            done(i);
            WhatIf {
                change: variation.change.clone(),
                conf: variation.conf.clone(),
                torch: variation.torch,
                outcome,
                saves,
            }
        })
        .collect();
    Sweep { base: Some(compared), tried }
}

/// What a device leaves to the allocator, least and most: how much its CUDA context takes is not known. A program that
/// lets itself have a share of it has no more.
fn left_of(capacity: u64, fraction: Option<f64>) -> (u64, u64) {
    let own = fraction.map_or(u64::MAX, |fraction| (fraction * capacity as f64) as u64);
    let left = |context: i128| capacity.saturating_sub(u64::try_from(context).unwrap_or(0)).min(own);
    (left(context_size::USUAL.high), left(context_size::USUAL.low))
}

/// The same program with less to hold.
fn smaller(analysis: &DeviceAnalysis, sites: &mut Sites<'_>, base: &dyn Fn(Change) -> Variation) -> Vec<Variation> {
    let mut out = Vec::new();
    let history = &analysis.history;
    let categories: Vec<Category> =
        history.allocations.iter().map(|allocation| super::holders::category_of(sites, allocation)).collect();
    let scales = |category: Category| matches!(category, Category::Activations | Category::Temporary);
    if categories.contains(&Category::Activations) {
        let sizes = history.allocations.iter().zip(&categories).map(|(allocation, category)| {
            if scales(*category) { allocation.requested.div_ceil(2) } else { allocation.requested }
        });
        out.push(Variation { sizes: Some(sizes.collect()), failed: (1, 2), ..base(Change::HalfBatch) });
    }
    let holding = analysis.ooms.first().map_or(&analysis.holding, |oom| &oom.holding);
    // Nobody does without the model or its optimizer.
    let spared = |category: Category| matches!(category, Category::Parameters | Category::Optimizer);
    let largest = holding.holders.iter().filter(|holder| !spared(holder.category)).find(|holder| {
        sites.get(holder.site).is_some_and(|site| !super::holders::is_silent(site) && !site.label.is_empty())
    });
    if let Some(holder) = largest.filter(|holder| holder.bytes < holding.bytes) {
        let gone: Vec<bool> = history.allocations.iter().map(|a| sites.of(a.stack) == holder.site).collect();
        let sizes = history.allocations.iter().zip(&gone).map(|(a, gone)| if *gone { 0 } else { a.requested });
        let sizes = sizes.collect();
        let failed = analysis.ooms.iter().filter(|oom| sites.of(oom.stack) == holder.site && oom.stack != NONE);
        let skip_failed = failed.map(|oom| oom.event).collect();
        out.push(Variation { sizes: Some(sizes), skip_failed, ..base(Change::Without(holder.site)) });
    }
    out
}

/// Which batch fits, as far as a recording of one batch tells: its requests are run again with those that grow with the
/// batch made larger or smaller.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchScale {
    /// Batch size of the recording, where the user gave it.
    pub recorded: Option<u64>,
    /// The device that was asked about.
    pub capacity: Option<u64>,
    pub fits: Result<Fits, Text>,
    /// Bytes in use at the peak that surely grow with the batch, and those that may.
    pub grows: (u64, u64),
    /// What the recording lacks, so that the batch is an upper bound.
    pub open: Option<Unrecorded>,
}

/// A part of a program that a recording lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrecorded {
    /// What came before it: its allocator held free memory when it began.
    Start,
    /// What follows on the failed request that it ends with.
    End,
}

/// The largest batch that fits, in parts of the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fits {
    /// So many parts are one recorded batch.
    pub parts: u64,
    /// Parts that fit whatever of the undecided memory grows; 0 where not even one does.
    pub low: u64,
    /// Parts that fit at best.
    pub high: u64,
}

/// Parts of a batch whose size is not known.
const PARTS: u64 = 64;
/// Times the recorded batch that are looked at.
const MOST_TIMES: u64 = 64;
/// A search for the batch takes no longer.
const SEARCH: Duration = Duration::from_secs(60);

/// Finds the batch that fits the recorded device, or one of `capacity`. `batch` is that of the recording.
pub fn batch_scale(
    analysis: &DeviceAnalysis,
    program: &Program,
    sites: &mut Sites<'_>,
    wishes: &Wishes,
    batch: Option<u64>,
) -> BatchScale {
    let capacity = wishes.capacity;
    let history = &analysis.history;
    let kinds: Vec<(Category, Certainty)> =
        history.allocations.iter().map(|allocation| super::holders::kind_of(sites, allocation)).collect();
    let kept = |allocation: &Allocation| allocation.born == NONE && allocation.freed == NONE;
    let weights = history.allocations.iter().zip(&kinds).filter(|(allocation, (category, _))| {
        let fixed = kept(allocation) || matches!(category, Category::Parameters | Category::Optimizer);
        fixed && allocation.requested > SMALL_LIMIT
    });
    let fixed_sizes: HashSet<u64> = weights.map(|(allocation, _)| allocation.requested).collect();
    let parts = batch.unwrap_or(PARTS).max(1);
    // A tensor with the batch among its dimensions can be divided by it.
    let divisible = |bytes: u64| batch.is_none_or(|batch| bytes.is_multiple_of(batch.max(1)));
    let growths: Vec<Growing> = history
        .allocations
        .iter()
        .zip(&kinds)
        .map(|(allocation, kind)| {
            match *kind {
                _ if kept(allocation) || !divisible(allocation.requested) => Growing::Never,
                (Category::Parameters | Category::Optimizer | Category::Workspace, _) => Growing::Never,
                (Category::Gradients, Certainty::Sure | Certainty::Likely) => Growing::Never,
                (Category::Activations, Certainty::Sure | Certainty::Likely) => Growing::Surely,
                // As large as a weight: most likely its gradient.
                _ if fixed_sizes.contains(&allocation.requested) => Growing::Never,
                _ => Growing::Perhaps,
            }
        })
        .collect();
    let failed = analysis.ooms.first().map(|oom| match super::holders::category_of_stack(sites, oom.stack) {
        Category::Activations => Growing::Surely,
        Category::Parameters | Category::Optimizer => Growing::Never,
        _ => Growing::Perhaps,
    });
    let growths = Growths { of: growths, failed: failed.unwrap_or(Growing::Never) };
    let at_peak = analysis.ooms.first().map(|oom| oom.event).or(analysis.peak_active.map(|(_, event)| event));
    let live = |wanted: Growing| {
        let grown = history.allocations.iter().zip(&growths.of).filter(|(_, growing)| **growing == wanted);
        let there = grown.filter(|(allocation, _)| at_peak.is_some_and(|event| allocation.is_live(event)));
        there.fold(0u64, |sum, (allocation, _)| sum.saturating_add(allocation.size))
    };
    let grows = (live(Growing::Surely), live(Growing::Perhaps));
    let open = match analysis.ooms.is_empty() {
        false => Some(Unrecorded::End),
        true => (history.initial_reserved() > history.initial_requested).then_some(Unrecorded::Start),
    };
    let budget = match capacity {
        Some(capacity) => Some(left_of(capacity, wishes.fraction)),
        None => program.budget.high.map(|high| (program.budget.low, high)),
    };
    let fits = match budget {
        _ if grows == (0, 0) => Err(Text::new(
            "nothing in the recording is known to grow with the batch: it has no stacks, or no forward pass",
            "记录中没有已知随批大小增长的显存：没有调用栈，或没有前向过程",
        )),
        None => Err(Text::new(
            "the recording never came to the device's limit: --capacity SIZE says which device is meant",
            "记录中从未触及设备上限：请用 --capacity SIZE 指定设备",
        )),
        Some((low, high)) => {
            let started = Instant::now();
            let most = |perhaps: bool, budget: u64| {
                let grown = |growing: Growing| growing == Growing::Surely || perhaps && growing == Growing::Perhaps;
                largest(history, program, parts, budget, &growths, &grown, started)
            };
            let ends: Vec<Option<u64>> = [(false, high), (true, high), (false, low), (true, low)]
                .par_iter()
                .map(|(p, b)| most(*p, *b))
                .collect();
            let known: Vec<u64> = ends.iter().copied().flatten().collect();
            match (known.iter().min(), known.iter().max()) {
                (Some(low), Some(high)) if known.len() == ends.len() => Ok(Fits { parts, low: *low, high: *high }),
                _ => Err(Text::new("the simulation took too long", "模拟耗时过长")),
            }
        }
    };
    BatchScale { recorded: batch, capacity, fits, grows, open }
}

/// Whether an allocation is larger where the batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growing {
    Never,
    Perhaps,
    Surely,
}

struct Growths {
    /// Of each allocation.
    of: Vec<Growing>,
    /// Of the failed request.
    failed: Growing,
}

/// The most parts of a batch with which all requests are served; `None` where that takes too long to find out.
fn largest(
    history: &History,
    program: &Program,
    parts: u64,
    budget: u64,
    growths: &Growths,
    grown: &dyn Fn(Growing) -> bool,
    started: Instant,
) -> Option<u64> {
    let served = |times: u64| {
        if started.elapsed() > SEARCH {
            return None;
        }
        let scaled = |bytes: u64| {
            u64::try_from((u128::from(bytes) * u128::from(times)).div_ceil(u128::from(parts))).unwrap_or(u64::MAX)
        };
        let sizes = history.allocations.iter().zip(&growths.of).map(|(allocation, growing)| {
            if grown(*growing) { scaled(allocation.requested) } else { allocation.requested }
        });
        let variation = Variation {
            change: Change::HalfBatch,
            conf: String::new(),
            torch: program.version,
            config: Ok(program.config.clone()),
            budget: (budget, Some(budget)),
            own_limit: None,
            sizes: Some(sizes.collect()),
            failed: if grown(growths.failed) { (times, parts) } else { (1, 1) },
            skip_failed: Vec::new(),
        };
        Some(run(history, program, &variation, budget)?.oom.is_none())
    };
    // Between what fits and what does not.
    let (mut low, mut high) = (0, parts);
    while served(high)? {
        low = high;
        if high >= parts.saturating_mul(MOST_TIMES) {
            return Some(high);
        }
        high = high.saturating_mul(2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if served(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// For a test: the courses between two limits, and what each limit in steps comes to.
#[cfg(test)]
#[expect(clippy::type_complexity, reason = "a limit with peak and success, twice")]
pub(super) fn every_limit(
    history: &History,
    program: &Program,
    conf: &str,
    low: u64,
    high: u64,
    step: usize,
) -> (Vec<(u64, (u64, bool))>, Vec<(u64, (u64, bool))>) {
    let config = Config::parse(conf, program.version, TorchPlatform::Linux).map(|(config, _)| config);
    let variation = Variation {
        change: Change::Settings,
        conf: conf.into(),
        torch: program.version,
        config: config.map_err(|error| error.remark.text),
        budget: (low, Some(high)),
        own_limit: None,
        sizes: None,
        failed: (1, 1),
        skip_failed: Vec::new(),
    };
    let of = |ran: &super::outcome::Ran| (ran.peak_reserved, ran.oom.is_none());
    let courses = super::outcome::courses(history, program, &variation, low, high).expect("in time");
    let told = courses.all.iter().map(|course| (course.from, of(&course.ran))).collect();
    let limits = (low..=high).step_by(step);
    let tried = limits.map(|limit| (limit, of(&run(history, program, &variation, limit).expect("in time"))));
    (told, tried.collect())
}
