//! What a training step needs by the number of parameters, now and after changes: states and activations apart, so that
//! changes which act on the same bytes are not counted twice.

use super::case::{Case, show};
use crate::domain::{Number, Trainer};
use crate::estimate::states::{Optimizer, Regime};
use crate::incident::context::{Phase, Precision};
use crate::text;
use crate::text::Text;
use crate::units::Interval;

/// A model is named by a rounded number of parameters: "7B" has 6.3 to 7.7 billion.
const ROUNDED_NAME: f64 = 0.1;
/// Bytes of each adapter parameter's states over all parameters of the base: adapters are some hundredths of it.
const ADAPTERS: (f64, f64) = (0.01, 0.3);
/// Bytes per parameter of a base in 4 bit, embeddings and scales included.
const FOUR_BIT: (f64, f64) = (0.52, 0.75);
/// Share of the activations that stays when each block is computed again in the backward pass.
const CHECKPOINTED: (f64, f64) = (0.1, 0.4);

/// Bytes per parameter of one way to train, and the parts of the run that changes act on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Number of parameters, low and high.
    parameters: (f64, f64),
    /// The leanest and the fullest regime that the log leaves possible.
    regimes: (Regime, Regime),
    stage: u8,
    ranks: u64,
    /// Activations and everything else that no parameter has, as far as the failing moment shows.
    activations: Interval,
}

/// A change that acts on the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    EightBitOptimizer,
    Checkpointing,
    /// Activations of the smaller batch as a share of those of the batch now.
    Batch(f64),
    Lora,
    Qlora,
    /// Weights, gradients and states over all ranks.
    ShardAll,
    /// Optimizer state and master weights in host memory.
    OptimizerToHost,
    /// An optimizer without state.
    NoOptimizerState,
    /// Weights, gradients and states in 16 bit.
    SixteenBitStates,
}

impl Budget {
    /// The budget of the step that failed; `None` where it is no full training, or its parameters are not known.
    pub fn of(case: &Case) -> Option<Budget> {
        let context = case.context;
        let count = context.parameters.value().filter(|count| (1e6..1e14).contains(count))?;
        let adapters = context.lora.value() == Some(true) || context.quantized.value() == Some(true);
        if !case.on_gpu() || !case.training() || adapters || context.cpu_offload.value() == Some(true) {
            return None;
        }
        let optimizer = context.optimizer.get().and_then(|name| Optimizer::named(name)).unwrap_or(Optimizer::Adam);
        let full = Regime::full_precision(optimizer);
        let masters = Regime::with_master_weights(optimizer);
        let lean =
            Regime { weights: 2.0, gradients: 2.0, optimizer: (optimizer.state() / 2.0).max(lean_state(optimizer)) };
        let regimes = match context.precision.value() {
            // Autocast keeps 32-bit weights; a launcher's mixed precision 16-bit ones and 32-bit masters: the same sum.
            Some(Precision::Fp32 | Precision::Mixed) => (full, full),
            _ if matches!(case.trainer(), Some(Trainer::DeepSpeed | Trainer::Megatron)) => (masters, masters),
            _ => (lean, full),
        };
        let stage = case.sharding_stage();
        // What is sharded over nobody knows how many devices may fit each of them.
        let several = case.incident.event.rank.or(context.rank.value()).is_some();
        if stage > 0 && several && !context.world_size.is_known() {
            return None;
        }
        let ranks = context.world_size.value().unwrap_or(1).max(1);
        let margin = if count % 1e7 == 0.0 { ROUNDED_NAME } else { 0.0 };
        let parameters = match context.parameters.span().is_some_and(|span| span.is_given()) {
            true => (count, count),
            false => (count * (1.0 - margin), count * (1.0 + margin)),
        };
        let mut budget = Budget { parameters, regimes, stage, ranks, activations: Interval::exactly(0) };
        let demand = case.demand().unwrap_or(Interval::exactly(0));
        let states = budget.states();
        // States of Adam come with the first step; until then only weights and gradients can be among what is held.
        let least = if context.step.value().is_some_and(|step| step > 1) { states.low } else { budget.weights().low };
        let least = if case.phase() == Some(Phase::OptimizerStep) { budget.held_before_states() } else { least };
        budget.activations = Interval::between((demand.low - states.high).max(0), (demand.high - least).max(0));
        Some(budget)
    }

    /// Bytes of one part per parameter, at the least and at the most.
    fn sized(&self, each: impl Fn(&Regime) -> f64) -> Interval {
        let (low, high) = (each(&self.regimes.0), each(&self.regimes.1));
        Interval::between((self.parameters.0 * low.min(high)) as i128, (self.parameters.1 * low.max(high)) as i128)
    }

    fn weights(&self) -> Interval {
        self.sized(|regime| Regime { gradients: 0.0, optimizer: 0.0, ..*regime }.sharded(self.stage, self.ranks))
    }

    fn held_before_states(&self) -> i128 {
        self.sized(|regime| Regime { optimizer: 0.0, ..*regime }.sharded(self.stage, self.ranks)).low
    }

    /// Weights, gradients and optimizer states on one device.
    pub fn states(&self) -> Interval {
        self.sized(|regime| regime.sharded(self.stage, self.ranks))
    }

    /// States and activations.
    pub fn need(&self) -> Interval {
        self.states() + self.activations
    }

    /// The budget after a change.
    pub fn with(mut self, change: Change) -> Budget {
        let both = |budget: &mut Budget, act: &dyn Fn(&mut Regime)| {
            act(&mut budget.regimes.0);
            act(&mut budget.regimes.1);
        };
        let adapters = |budget: &mut Budget, base: (f64, f64)| {
            let regime = |base, rest| Regime { weights: base, gradients: 0.0, optimizer: rest };
            budget.regimes = (regime(base.0, ADAPTERS.0), regime(base.1, ADAPTERS.1));
        };
        match change {
            Change::EightBitOptimizer => {
                let small = Optimizer::Adam8bit.state();
                // Master weights stay: only what Adam keeps shrinks.
                both(&mut self, &|regime| {
                    let masters = if regime.weights < 4.0 && regime.optimizer > 8.0 { 4.0 } else { 0.0 };
                    regime.optimizer = regime.optimizer.min(masters + small);
                });
            }
            Change::Checkpointing => self.activations = scaled(self.activations, CHECKPOINTED),
            Change::Batch(share) => self.activations = scaled(self.activations, (share, share)),
            Change::Lora => {
                let most = self.regimes.1.weights.max(2.0);
                adapters(&mut self, (2.0, most));
            }
            Change::Qlora => adapters(&mut self, FOUR_BIT),
            Change::ShardAll => self.stage = 3,
            Change::OptimizerToHost | Change::NoOptimizerState => both(&mut self, &|regime| regime.optimizer = 0.0),
            Change::SixteenBitStates => both(&mut self, &|regime| {
                *regime = Regime { weights: 2.0, gradients: 2.0, optimizer: (regime.optimizer / 2.0).min(4.0) };
            }),
        }
        self
    }

    /// The fewest devices over which everything is sharded so that the states leave a fifth of each to activations, and
    /// what they then take on each.
    pub fn devices_that_hold(&self, room: i128) -> Option<(u64, Interval)> {
        (2..=1024).find_map(|ranks| {
            let states = Budget { stage: 3, ranks, ..*self }.states();
            (states.high <= room / 5 * 4).then_some((ranks, states))
        })
    }

    /// "7.00 G parameters × 16 bytes = 104.31 GiB", at the least where the log leaves the regime open.
    pub fn reckoned(&self) -> Text {
        let (count, each) = (self.parameters.0 / 1e9, self.regimes.0.sharded(self.stage, self.ranks));
        let (each, bytes) = ((each * 100.0).round() / 100.0, show(self.states().low));
        let least = if self.states().low < self.states().high { ("at least ", "至少 ") } else { ("", "") };
        let (en, zh) = least;
        text!(
            en: "{count:.2} G parameters × {each} bytes = {en}{bytes}",
            zh: "{count:.2} G 参数 × {each} 字节 = {zh}{bytes}"
        )
    }
}

/// 8-bit and factored states do not halve with the weights.
fn lean_state(optimizer: Optimizer) -> f64 {
    if optimizer.state() < 4.0 { optimizer.state() } else { 0.0 }
}

fn scaled(range: Interval, (low, high): (f64, f64)) -> Interval {
    Interval::between((range.low as f64 * low) as i128, (range.high as f64 * high) as i128)
}

impl Case<'_> {
    /// Why no change of activations, cache or neighbours can be enough: the states alone exceed the device. `None`
    /// where they may fit or are not known.
    pub fn never_fits(&self) -> Option<Text> {
        let room = self.capacity()?;
        // What a compiled program is given lies on the device before it computes anything.
        let given = self.incident.event.facts.number(Number::Parameter).map_or(0, |bytes| bytes as i128);
        if given > room.high && self.incident.event.resource.on_device() {
            let (given, device) = (show(given), show(room.middle()));
            return Some(text!(
                en: "the arguments of the program never fit: {given} of {device}",
                zh: "程序的参数本身就放不下：{given}，而设备只有 {device}"
            ));
        }
        if let Some(budget) = Budget::of(self).filter(|budget| budget.states().low > room.high) {
            let (reckoned, device) = (budget.reckoned(), show(room.middle()));
            return Some(Text::new(
                format!("weights, gradients and optimizer states never fit: {} of {device}", reckoned.en),
                format!("权重、梯度和优化器状态本身就放不下：{}，而设备只有 {device}", reckoned.zh),
            ));
        }
        let states = self.context.model_states(&self.incident.event)?;
        if states.need().low <= room.high {
            return None;
        }
        let (need, device) = (show(states.need().low), show(room.middle()));
        let (what, count) = (states.made_of.clone(), format!("{:.2}", states.parameters.0 / 1e9));
        Some(Text::new(
            format!("the {} of {count} G parameters never fit: at least {need} of {device}", what.en),
            format!("{count} G 参数的{}本身就放不下：至少 {need}，而设备只有 {device}", what.zh),
        ))
    }

    /// What the step still needs at the least after a change of its states, where that is more than the device has.
    pub fn still_too_large(&self, change: Change) -> Option<Text> {
        let room = self.capacity()?;
        let after = Budget::of(self)?.with(change);
        if after.states().low <= room.high {
            return None;
        }
        let (states, device) = (show(after.states().low), show(room.middle()));
        Some(text!(
            en: "even then the states take at least {states} of {device}",
            zh: "即便如此，状态仍至少占 {states}，而设备只有 {device}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    fn budget(parameters: f64, regime: Regime, activations: u64) -> Budget {
        Budget {
            parameters: (parameters, parameters),
            regimes: (regime, regime),
            stage: 0,
            ranks: 4,
            activations: Interval::exactly(activations),
        }
    }

    #[test]
    fn changes_of_states_and_of_activations_add_up_and_never_count_twice() {
        let adam = Regime::full_precision(Optimizer::Adam);
        let now = budget(1e9, adam, 10 * GIB);
        assert_eq!(now.states(), Interval::exactly(16_000_000_000));
        let smaller = now.with(Change::EightBitOptimizer);
        assert_eq!(smaller.states().low, 10_031_250_000);
        // The optimizer is in the host's memory already: making it smaller frees nothing more.
        let away = now.with(Change::OptimizerToHost);
        assert_eq!(away.with(Change::EightBitOptimizer).states(), away.states());
        let both = smaller.with(Change::Checkpointing);
        assert_eq!(both.states(), smaller.states());
        assert_eq!((both.need() - both.states()).high, (4 * GIB) as i128);
        assert_eq!(now.with(Change::ShardAll).states(), Interval::exactly(4_000_000_000));
        assert!(now.with(Change::Qlora).states().high < 1_100_000_000);
    }

    #[test]
    fn master_weights_stay_when_the_optimizer_shrinks() {
        let masters = budget(1e9, Regime::with_master_weights(Optimizer::Adam), 0);
        assert_eq!(masters.with(Change::EightBitOptimizer).states().low, 10_031_250_000);
        let lean = budget(1e9, Regime { weights: 2.0, gradients: 2.0, optimizer: 4.0 }, 0);
        assert_eq!(lean.with(Change::EightBitOptimizer).states().low, 6_031_250_000);
    }
}
