//! The same program under other settings, on another device, in another version, with less to hold.

use super::analysis::DeviceAnalysis;
use super::history::{Allocation, History};
use super::holders::{Category, Certainty, Sites};
use super::predict::{self, Program, RecordedDevice, RecordedRequest};
use super::store::NONE;
use crate::allocator::SMALL_LIMIT;
use crate::allocator::block::{self, BlockId};
use crate::allocator::caching::CachingAllocator;
use crate::allocator::config::{Config, TorchPlatform};
use crate::allocator::device::Surroundings;
use crate::allocator::version::Version;
use crate::domain::named_variants;
use crate::gpu::context_size;
use crate::text::Text;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

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
/// One simulation takes no longer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Limits that are tried below the most that the device can have had.
const BETWEEN: u64 = 4;
/// Requests between two looks at the clock.
const CLOCK: usize = 4096;

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

/// How a variation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum VariationOutcome {
    /// All requests were served, or one failed.
    Ran {
        /// To be expected.
        peak_reserved: u64,
        /// Surely not less, and not more (`u64::MAX` where that can't be said): the same as the expected where nothing
        /// is open, such as the limit of the device, or how memory from before the recording would have lain.
        least_reserved: u64,
        most_reserved: u64,
        /// Most bytes of blocks in use.
        peak_active: u64,
        /// The entry whose request failed, and its bytes.
        oom: Option<(u32, u64)>,
        /// `None` where the limit of the device is known too roughly to say.
        served: Option<bool>,
        retries: u64,
    },
    /// PyTorch refuses these settings.
    Refused(Text),
    /// It took too long.
    GivenUp,
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
struct Variation {
    change: Change,
    conf: String,
    torch: Version,
    config: Result<Config, Text>,
    budget: (u64, Option<u64>),
    /// The most that the program lets itself have (`set_per_process_memory_fraction`), where it does.
    own_limit: Option<u64>,
    /// New size of each allocation where it differs; 0 when it is not made.
    sizes: Option<Vec<u64>>,
    /// Factor on a failed request, as numerator and denominator.
    failed: (u64, u64),
    /// Failed requests that are not made.
    skip_failed: Vec<u32>,
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
    let fresh_start = analysis.history.initial_requested > 0 || !analysis.history.initial.is_empty();
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
    let doubt = Doubt::of(analysis);
    let tried = variations
        .par_iter()
        .enumerate()
        .map(|(i, variation)| {
            let outcome = match &variation.config {
                Err(why) => VariationOutcome::Refused(why.clone()),
                Ok(_) => outcome(history, program, variation, doubt),
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
    /// True where the recording ends with the failed request: what comes after it is not known, so that the batch is an
    /// upper bound.
    pub open_end: bool,
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
    let complete = analysis.ooms.is_empty();
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
    BatchScale { recorded: batch, capacity, fits, grows, open_end: !complete }
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

fn outcome(history: &History, program: &Program, variation: &Variation, doubt: Doubt) -> VariationOutcome {
    if as_recorded(history, program, variation) {
        let reserved = history.peak_reserved.0;
        return VariationOutcome::Ran {
            peak_reserved: reserved,
            least_reserved: reserved,
            most_reserved: reserved,
            peak_active: doubt.recorded_active,
            oom: None,
            served: Some(true),
            retries: 0,
        };
    }
    let (low, high) = variation.budget;
    let generous = high.unwrap_or(1 << 44).max(low);
    let Some(most) = run(history, program, variation, generous) else { return VariationOutcome::GivenUp };
    if let Some(collected) = collected(history, program, variation, &most, doubt) {
        return collected;
    }
    let open = doubt.of_device(&variation.change);
    let served = |all: bool| if all && open { None } else { Some(all) };
    let served_all = served(true);
    let low = low.saturating_sub(doubt.stuck);
    // What never came to a limit goes the same way under every larger one.
    let at_any_limit = most.oom.is_none() && most.retries == 0 && most.peak_reserved <= low;
    if high.is_none_or(|high| high == low) || at_any_limit {
        let (mut least_reserved, most_reserved) = doubt.around(most.peak_reserved, most.peak_active);
        if high.is_none() && !at_any_limit {
            // Where the device has as much; with less the cache is given back before.
            least_reserved = most.peak_active;
        }
        return VariationOutcome::Ran {
            peak_reserved: most.peak_reserved,
            least_reserved,
            most_reserved: most_reserved.min(high.unwrap_or(u64::MAX)),
            peak_active: most.peak_active,
            oom: most.oom,
            served: served(most.oom.is_none()),
            retries: most.retries,
        };
    }
    let limits = (0..BETWEEN).map(|part| low + (generous - low) / BETWEEN * part);
    let mut all: Vec<Ran> = limits.filter_map(|limit| run(history, program, variation, limit)).collect();
    if (all.len() as u64) < BETWEEN {
        return VariationOutcome::GivenUp;
    }
    // Where the cache is given back, and so what is reserved at most, changes with the limit, up and down: sure are
    // only the ends, what is in use and what there is.
    let most_reserved = match most.retries {
        0 => doubt.around(most.peak_reserved, 0).1.min(generous),
        _ => generous,
    };
    let oom = most.oom;
    all.push(most);
    let served: Vec<&Ran> = all.iter().filter(|ran| ran.oom.is_none()).collect();
    let of = if served.is_empty() { all.iter().collect() } else { served.clone() };
    let Some(expected) = of.get(of.len() / 2) else { return VariationOutcome::GivenUp };
    VariationOutcome::Ran {
        peak_reserved: expected.peak_reserved,
        least_reserved: of.iter().map(|ran| ran.peak_active).min().unwrap_or(0),
        most_reserved,
        peak_active: expected.peak_active,
        oom: oom.or(all.iter().find_map(|ran| ran.oom)),
        served: match served.len() {
            0 => Some(false),
            all_of if all_of == all.len() => served_all,
            _ => None,
        },
        retries: expected.retries,
    }
}

/// What a recording leaves open of any run of its requests.
#[derive(Debug, Clone, Copy, Default)]
struct Doubt {
    /// Bytes that the allocator held and that were not in use when the recording began: how they lay would have been
    /// another under other settings, which the recording does not tell.
    idle: u64,
    /// Of these, those between blocks in use, which cannot be given back.
    stuck: u64,
    /// The simulator did not foresee the segments of the record: something is not in it, such as the pools of segments
    /// that came and went.
    astray: bool,
    /// Most bytes in use in the record.
    recorded_active: u64,
}

impl Doubt {
    fn of(analysis: &DeviceAnalysis) -> Doubt {
        let history = &analysis.history;
        let mut live: BTreeMap<u64, u64> = BTreeMap::new();
        for allocation in history.allocations.iter().filter(|allocation| allocation.born == NONE) {
            live.insert(allocation.address, allocation.size);
        }
        let mut doubt = Doubt {
            astray: analysis.fidelity.as_ref().is_some_and(|fidelity| fidelity.same_size != fidelity.segments),
            recorded_active: analysis.peak_active.map_or(0, |(bytes, _)| bytes),
            ..Doubt::default()
        };
        for range in &history.initial {
            let used = live.range(range.address..range.address.saturating_add(range.size));
            let used = used.fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
            let idle = range.size.saturating_sub(used);
            doubt.idle = doubt.idle.saturating_add(idle);
            doubt.stuck = doubt.stuck.saturating_add(if used > 0 { idle } else { 0 });
        }
        doubt
    }

    /// True of another device where something came before the recording: what it would have done with that is not
    /// known.
    fn of_device(self, change: &Change) -> bool {
        self.idle > 0 && matches!(change, Change::Capacity(_))
    }

    /// Least and most that may be reserved where a run reserves so much, and has so much in use.
    fn around(self, reserved: u64, active: u64) -> (u64, u64) {
        // What the allocator had got before the recording began may have been more than ever after.
        if self.astray || self.idle > 0 { (active, u64::MAX) } else { (reserved, reserved) }
    }
}

/// True where nothing goes differently than in the record: settings that differ in the rounding of sizes alone, and
/// round none of the requests differently.
fn as_recorded(history: &History, program: &Program, variation: &Variation) -> bool {
    let Ok(config) = &variation.config else { return false };
    let plain = variation.change == Change::Settings && variation.torch == program.version && variation.sizes.is_none();
    if !plain || config.with_rounding_of(&program.config) != program.config {
        return false;
    }
    let (theirs, ours) =
        (predict::rounding(&program.config, program.version), predict::rounding(config, program.version));
    let failed = program.requests.iter().any(|request| matches!(request, RecordedRequest::Failed { .. }));
    !failed && history.allocations.iter().all(|made| theirs(made.requested) == ours(made.requested))
}

/// With a threshold of garbage collection: PyTorch collects only where the program limits itself by
/// `set_per_process_memory_fraction`, which a recording does not tell. The range of what it would come to, from the
/// least limit that the record admits to one at which nothing is collected.
fn collected(
    history: &History,
    program: &Program,
    variation: &Variation,
    most: &Ran,
    doubt: Doubt,
) -> Option<VariationOutcome> {
    let threshold = variation.config.as_ref().ok()?.garbage_collection_threshold?;
    let known = variation.own_limit.is_some() || program.config.garbage_collection_threshold.is_some();
    if known || threshold <= 0.0 || most.oom.is_some() {
        return None;
    }
    let limits = (history.peak_reserved.0, (most.peak_reserved as f64 / threshold) as u64);
    let at = |part: u64| limits.0 + limits.1.saturating_sub(limits.0) / BETWEEN * part;
    let of_limit = |limit: u64| Variation { own_limit: Some(limit), ..variation.clone() };
    let ran: Vec<Ran> = (0..=BETWEEN)
        .map(|part| run(history, program, &of_limit(at(part)), variation.budget.1.unwrap_or(1 << 44)))
        .collect::<Option<_>>()?;
    let all = || ran.iter().chain([most]);
    let active = all().map(|ran| ran.peak_active).min().unwrap_or(0);
    Some(VariationOutcome::Ran {
        peak_reserved: most.peak_reserved,
        least_reserved: active,
        most_reserved: doubt.around(all().map(|ran| ran.peak_reserved).max().unwrap_or(0), active).1,
        peak_active: most.peak_active,
        oom: all().find_map(|ran| ran.oom),
        served: (all().all(|ran| ran.oom.is_none()) && !doubt.of_device(&variation.change)).then_some(true),
        retries: most.retries,
    })
}

struct Ran {
    peak_reserved: u64,
    peak_active: u64,
    oom: Option<(u32, u64)>,
    retries: u64,
}

/// Runs the program from an empty device, what was there before the trace allocated first. `None` when it takes too
/// long.
fn run(history: &History, program: &Program, variation: &Variation, budget: u64) -> Option<Ran> {
    let config = variation.config.as_ref().ok()?.clone();
    let started = Instant::now();
    let total = variation.own_limit.map_or(budget, |limit| limit.saturating_mul(2));
    let device = RecordedDevice::of_total(budget, total);
    let mut simulator = CachingAllocator::new(device, Surroundings::default(), config, variation.torch);
    if variation.own_limit.is_some() {
        simulator.set_memory_fraction(0.5).ok()?;
    }
    let mut ids: Vec<BlockId> = vec![block::NONE; history.allocations.len()];
    let size_of = |id: u32, recorded: u64| match &variation.sizes {
        Some(sizes) => sizes.get(id as usize).copied().unwrap_or(recorded),
        None => recorded,
    };
    let mut oom = None;
    let mut before: Vec<u32> = (0..history.allocations.len() as u32)
        .filter(|id| history.allocations.get(*id as usize).is_some_and(|a| a.born == NONE))
        .collect();
    before.sort_by_key(|id| history.allocations.get(*id as usize).map(|a| a.address));
    for id in before {
        let Some(allocation) = history.allocations.get(id as usize) else { continue };
        let bytes = size_of(id, allocation.requested);
        let stream = program.stream(allocation.stream);
        if bytes == 0 {
            continue;
        }
        match predict::serve(&mut simulator, bytes, stream, 0) {
            Some(block) => ids[id as usize] = block,
            None => oom = oom.or(Some((NONE, bytes))),
        }
    }
    for (i, request) in program.requests.iter().enumerate() {
        if oom.is_some() {
            break;
        }
        if i % CLOCK == CLOCK - 1 && started.elapsed() > PATIENCE {
            return None;
        }
        match *request {
            RecordedRequest::Alloc { event, id, bytes, stream, pool } => {
                let bytes = size_of(id, bytes);
                if bytes == 0 {
                    continue;
                }
                match predict::serve(&mut simulator, bytes, stream, pool) {
                    Some(block) => {
                        if let Some(slot) = ids.get_mut(id as usize) {
                            *slot = block;
                        }
                    }
                    None => oom = Some((event, bytes)),
                }
            }
            RecordedRequest::Free { id } => {
                if let Some(block) = ids.get_mut(id as usize)
                    && *block != block::NONE
                {
                    simulator.free(*block);
                    *block = block::NONE;
                }
            }
            RecordedRequest::Failed { event, bytes, stream } => {
                if variation.skip_failed.contains(&event) {
                    continue;
                }
                let (times, parts) = variation.failed;
                let bytes = (u128::from(bytes) * u128::from(times)).div_ceil(u128::from(parts.max(1)));
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                match predict::serve(&mut simulator, bytes, stream, 0) {
                    // The record goes on without it.
                    Some(block) => simulator.free(block),
                    None => oom = Some((event, bytes)),
                }
            }
            RecordedRequest::EmptyCache => {
                let _ = simulator.empty_cache();
            }
        }
        simulator.device.grown.clear();
    }
    let peak = |counter: i64| u64::try_from(counter).unwrap_or(0);
    Some(Ran {
        peak_reserved: peak(simulator.stats.reserved_bytes.all.peak),
        peak_active: peak(simulator.stats.active_bytes.all.peak),
        oom,
        retries: simulator.stats.num_alloc_retries,
    })
}
