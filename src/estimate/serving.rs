//! The account of a serving engine: what its share of the device must hold, and the settings that make it fit.
//!
//! vLLM: `cache = share · total − weights − peak of profiling − graphs`. SGLang: `cache = free after weights − free
//! before · (1 − fraction)`. The figures are the engine's own.

use crate::dialect::{Event, Fact, Facts, Resource};
use crate::domain::{Number, Program};
use crate::units::GIB;

/// What MLC LLM holds against its share of the device before it loads (`cpp/serve/engine.cc`), in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartCheck {
    /// The share.
    pub limit: f64,
    pub weights: f64,
    /// Buffers that go with the chunk of a prompt.
    pub buffers: f64,
}

impl StartCheck {
    /// The comparison that a message prints whole.
    pub fn of(facts: &Facts) -> Option<StartCheck> {
        let figure = |fact| facts.get(fact).map(|figure| figure.bytes as f64);
        let buffers = facts.number(Number::TemporaryBuffer)?;
        Some(StartCheck { limit: figure(Fact::Limit)?, weights: figure(Fact::Weights)?, buffers })
    }
}

/// The account as far as the log tells it. Bytes, except where a field says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// The device.
    pub total: Option<f64>,
    /// Free on it when the engine looked.
    pub free: Option<f64>,
    /// The share of the device that the engine may take, 0 … 1.
    pub share: Option<f64>,
    /// Weights on one device, as loaded.
    pub weights: Option<f64>,
    /// What is left for the cache; negative where weights and peak exceed the share.
    pub room: Option<f64>,
    /// What one request of full length needs.
    pub needed: Option<f64>,
    /// Tokens of a request of full length.
    pub length: Option<u64>,
    /// Tokens that the cache holds.
    pub tokens: Option<u64>,
    /// The length that the engine itself says would fit, in tokens.
    pub estimated: Option<u64>,
    /// Devices that the weights are split over.
    pub ranks: u64,
}

/// The highest share that leaves a card room for a context and what libraries take beside the engine's account.
pub const HIGHEST_SHARE: f64 = 0.97;

impl Budget {
    pub fn of(facts: &Facts) -> Budget {
        let size = |fact| facts.get(fact).map(|figure| figure.bytes as f64);
        // Need is taken at the upper end of what its printed digits allow, room at the lower: what is offered must fit.
        let most = |fact| facts.get(fact).map(|figure| figure.interval().high as f64);
        let least = |fact| facts.get(fact).map(|figure| figure.interval().low as f64);
        let count = |name| facts.number(name).filter(|n| *n >= 1.0 && *n < 1e12).map(|n| n as u64);
        Budget {
            total: size(Fact::Capacity).filter(|total| *total > 0.0),
            free: least(Fact::Free),
            share: facts.number(Number::GpuMemoryUtilization).filter(|share| *share > 0.0 && *share <= 1.0),
            weights: size(Fact::Weights),
            room: least(Fact::Available).or_else(|| facts.number(Number::KvAvailable)),
            needed: most(Fact::Needed),
            length: count(Number::MaxModelLen),
            tokens: count(Number::KvCacheTokens),
            estimated: count(Number::EstimatedMaxModelLen),
            ranks: count(Number::TensorParallelSize).unwrap_or(1),
        }
    }

    /// The longest request that fits, by the engine's own estimate, by the tokens the cache holds, or by need and room.
    /// Rounded down to whole blocks of 16 tokens, to 256 where that costs less than a sixteenth.
    pub fn longest(&self) -> Option<u64> {
        let exact = match (self.estimated, self.tokens, self.length) {
            (Some(tokens), ..) => tokens,
            (None, Some(tokens), Some(length)) if tokens < length => tokens,
            (None, _, Some(length)) => {
                let (needed, room) = (self.needed?, self.room?);
                super::kv_cache::longest(length, needed as u64, room.max(0.0) as u64, 16)
            }
            _ => return None,
        };
        let step = if exact >= 4096 { 256 } else { 16 };
        Some(exact / step * step).filter(|tokens| *tokens > 0)
    }

    /// Bytes missing for one request of full length; for a small cache where nothing is left and no need is printed.
    pub fn missing(&self) -> Option<f64> {
        match (self.needed, self.room, self.tokens, self.length) {
            (Some(needed), Some(room), ..) => Some(needed - room),
            (None, Some(room), Some(tokens), Some(length)) if tokens > 0 => {
                Some(room / tokens as f64 * length as f64 - room)
            }
            (None, Some(room), ..) if room < 0.0 => Some(SMALLEST_POOL - room),
            _ => None,
        }
        .filter(|missing| *missing > 0.0)
    }

    /// The device, or the least that it can be: a share of it holds the weights and what is left of it.
    pub fn least_total(&self) -> Option<f64> {
        self.total.or_else(|| Some((self.weights? + self.room?) / self.share?).filter(|total| *total > 0.0))
    }

    /// The share at which a request of full length fits, rounded up to a hundredth; above [`HIGHEST_SHARE`] where none
    /// does. Needs the share that was set.
    pub fn share_for_cache(&self) -> Option<f64> {
        let more = self.missing()? / self.least_total()?;
        Some(((self.share? + more) * 100.0 - 1e-9).ceil() / 100.0)
    }

    /// The share that what is free can serve, rounded down to a hundredth, with a five-hundredth of the device as
    /// margin.
    pub fn share_of_free(&self) -> Option<f64> {
        let share = self.free? / self.total? - 0.002;
        Some((share * 100.0 + 1e-9).floor() / 100.0).filter(|share| *share > 0.0)
    }

    /// True where the weights alone exceed the engine's share.
    pub fn weights_exceed(&self) -> bool {
        match (self.weights, self.share, self.total, self.room) {
            (Some(weights), Some(share), Some(total), _) if weights > share * total => true,
            // Profiling's peak is a small part of the weights; a hole larger than that is the weights' own.
            (Some(weights), .., Some(room)) => room < -0.15 * weights,
            _ => false,
        }
    }

    /// The number of devices, a power of two, over which the weights leave at least 15 % of the share to the rest.
    pub fn devices(&self) -> Option<u64> {
        let whole = self.weights? * self.ranks as f64;
        let share = match (self.total, self.share, self.room) {
            (Some(total), share, _) => total * share.unwrap_or(0.9),
            (None, _, Some(room)) => self.weights? + room,
            _ => return None,
        };
        if share <= 0.0 {
            return None;
        }
        (1..=6)
            .map(|power| 1u64 << power)
            .filter(|devices| *devices > self.ranks)
            .find(|devices| whole / *devices as f64 <= 0.85 * share)
    }
}

/// What SGLang's static fraction would have to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fraction {
    Possible(f64),
    Impossible,
}

/// A static fraction above this leaves nothing for activations and graphs.
const HIGHEST_STATIC: f64 = 0.92;

/// The static fraction that leaves a small cache, where SGLang found no room for any and says what the weights left.
/// Without the figure from before the weights, a few GiB that the default fraction cannot use are taken as too few.
pub fn static_fraction_needed(event: &Event) -> Option<Fraction> {
    if event.program != Program::Sglang || event.resource != Resource::KvCache {
        return None;
    }
    let after = event.facts.number(Number::AvailMem)?;
    match event.facts.number(Number::FreeBeforeWeights).filter(|before| *before > after) {
        Some(before) => {
            let fraction = static_fraction(before, after, SMALLEST_POOL)?;
            Some(if fraction <= HIGHEST_STATIC { Fraction::Possible(fraction) } else { Fraction::Impossible })
        }
        None => (after < 8.0 * GIB as f64).then_some(Fraction::Impossible),
    }
}

/// The static fraction at which `pool` bytes are left for the cache, rounded up to a hundredth: what is free after
/// the weights, less the part of what was free before that stays outside of the fraction.
fn static_fraction(free_before: f64, free_after: f64, pool: f64) -> Option<f64> {
    let fraction = 1.0 - (free_after - pool) / free_before;
    fraction.is_finite().then(|| (fraction * 100.0 - 1e-9).ceil() / 100.0).filter(|fraction| *fraction > 0.0)
}

/// A cache below this is not worth serving from.
const SMALLEST_POOL: f64 = GIB as f64;

#[cfg(test)]
mod tests {
    use super::*;

    const G: f64 = GIB as f64;

    #[test]
    fn the_offered_length_fits_by_the_printed_figures() {
        let budget = Budget { needed: Some(10.0 * G), room: Some(3.7 * G), length: Some(40_960), ..Budget::default() };
        let tokens = budget.longest().unwrap();
        assert_eq!(tokens % 256, 0);
        let takes = tokens as f64 * 10.0 / 40_960.0;
        assert!(takes <= 3.7 && takes > 3.6);
        assert_eq!(Budget { tokens: Some(41_152), length: Some(131_072), ..Budget::default() }.longest(), Some(40_960));
        assert_eq!(Budget { estimated: Some(2368), ..budget }.longest(), Some(2368));
        assert_eq!(Budget { room: Some(-G), ..budget }.longest(), None);
    }

    #[test]
    fn the_offered_share_holds_what_was_missing() {
        let budget = Budget {
            total: Some(24.0 * G),
            share: Some(0.85),
            needed: Some(4.0 * G),
            room: Some(3.2 * G),
            ..Budget::default()
        };
        let share = budget.share_for_cache().unwrap();
        assert_eq!(share, 0.89);
        assert!((share - 0.85) * 24.0 >= 0.8);
        let start = Budget { total: Some(121.69 * G), free: Some(100.94 * G), ..Budget::default() };
        assert_eq!(start.share_of_free(), Some(0.82));
        assert!(start.share_of_free().unwrap() * 121.69 <= 100.94);
    }

    #[test]
    fn weights_that_exceed_the_share_ask_for_devices() {
        let budget =
            Budget { weights: Some(61.0 * G), room: Some(-24.0 * G), share: Some(0.43), ranks: 1, ..Budget::default() };
        assert!(budget.weights_exceed());
        let devices = budget.devices().unwrap();
        assert!(61.0 / devices as f64 <= 0.85 * 37.0 && devices == 2);
        assert!(!Budget { room: Some(-2.0 * G), ..budget }.weights_exceed());
    }

    #[test]
    fn a_static_fraction_leaves_the_pool_asked_for() {
        let fraction = static_fraction(78.0, 18.0, 1.0).unwrap();
        assert!(18.0 - 78.0 * (1.0 - fraction) >= 1.0 && fraction < 0.80);
    }
}
