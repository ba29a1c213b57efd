//! The memory of a serving engine from a description: weights, key/value cache, and what the engine itself needs.

use super::architecture::{Architecture, Body, Transformer};
use super::kv_cache::Shape;
use super::peak::Peak;
use crate::units::GIB;

/// A model that is served.
#[derive(Debug, Clone, PartialEq)]
pub struct Serving {
    pub model: Architecture,
    /// Bytes of a weight, quantised or not.
    pub weight_width: f64,
    /// Bytes of an element of the cache.
    pub cache_width: f64,
    /// Tokens of a request, prompt and answer.
    pub context: u64,
}

/// Tokens that the cache hands out at once (vLLM's default).
const BLOCK: u64 = 16;
/// Tokens that are processed at once while prompts are read (vLLM's usual limit), for activations and logits.
const BATCHED_TOKENS: f64 = 8192.0;
/// CUDA graphs, workspaces and the sampler: 0.3 to 2 GiB, not part of any formula.
const ENGINE: (f64, f64, f64) = (0.3 * GIB as f64, 0.8 * GIB as f64, 2.0 * GIB as f64);

impl Serving {
    fn stack(&self) -> Option<&Transformer> {
        match &self.model.body {
            Body::Transformer(stack) if stack.language_head => Some(stack),
            _ => None,
        }
    }

    /// False for models that keep no cache of keys and values.
    pub fn is_generative(&self) -> bool {
        self.stack().is_some()
    }

    pub fn weights(&self) -> f64 {
        self.model.parameters * self.weight_width
    }

    fn shape(&self) -> Option<Shape> {
        let stack = self.stack()?;
        Some(Shape {
            layers: stack.layers as u64,
            kv_heads: stack.kv_heads as u64,
            head_size: stack.head_size as u64,
            element: self.cache_width,
        })
    }

    /// Bytes of the cache for one request of full length.
    pub fn request(&self) -> f64 {
        self.shape().map_or(0.0, |shape| shape.sequence(self.context, BLOCK))
    }

    /// Bytes of the cache for one token.
    pub fn token(&self) -> f64 {
        self.shape().map_or(0.0, |shape| shape.per_token())
    }

    /// Activations and logits of one pass while prompts are read.
    pub fn pass(&self) -> f64 {
        let Some(stack) = self.stack() else { return 0.0 };
        let tokens = BATCHED_TOKENS.min(self.context as f64);
        // Nothing is kept for backward: the MLP's intermediates of one layer and the residual, in 16 bit.
        tokens * (2.0 * stack.mlp + 6.0 * stack.hidden) * 2.0
    }

    /// The peak with that many requests of full length at once.
    pub fn peak(&self, requests: u64) -> Peak {
        let fixed = self.weights() + self.pass();
        let cache = self.request() * requests as f64;
        Peak {
            low: self.weights() + cache + ENGINE.0,
            expected: fixed + cache + ENGINE.1,
            high: fixed * 1.03 + self.pass() + cache + ENGINE.2,
        }
    }

    /// The longest context of one request that stays within `bytes`, by the high end; `None` where not even a block does.
    pub fn longest_context(&self, bytes: f64) -> Option<u64> {
        let fixed = self.peak(0).high;
        let tokens = (bytes - fixed) / self.token();
        let whole = (tokens / BLOCK as f64).floor() * BLOCK as f64;
        // No longer than the model was made for.
        let most = self.model.max_positions.unwrap_or(f64::INFINITY);
        (tokens.is_finite() && whole >= BLOCK as f64).then_some(whole.min(most) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;
    use proptest::prelude::*;

    fn served(context: u64) -> Serving {
        let config = serde_json::json!({
            "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
            "max_position_embeddings": 131072,
        });
        let model = crate::estimate::architecture::read(&config).expect("a description");
        Serving { model, weight_width: 2.0, cache_width: 2.0, context }
    }

    #[test]
    fn a_request_takes_keys_and_values_of_every_layer() {
        let serving = served(8192);
        // Two of 8 heads of 128 in 32 layers, 2 bytes each.
        assert_eq!(serving.token(), 2.0 * 8.0 * 128.0 * 32.0 * 2.0);
        assert_eq!(serving.request(), GIB as f64);
        assert!((serving.weights() / 1e9 - 16.06).abs() < 0.01, "{}", serving.weights());
    }

    proptest! {
        #[test]
        fn each_request_more_takes_its_cache(requests in 0u64..512) {
            let serving = served(8192);
            let (few, more) = (serving.peak(requests), serving.peak(requests + 1));
            for grown in [more.low - few.low, more.expected - few.expected, more.high - few.high] {
                prop_assert_eq!(grown.round(), GIB as f64);
            }
            prop_assert!(few.low < few.expected && few.expected < few.high);
        }

        #[test]
        fn the_longest_context_fits_and_a_block_more_does_not(gib in 20u64..80) {
            let serving = served(4096);
            let bytes = (gib * GIB) as f64;
            let longest = serving.longest_context(bytes);
            let fits = |tokens: u64| serving.peak(0).high + serving.token() * tokens as f64 <= bytes;
            match longest {
                Some(131_072) => prop_assert!(fits(131_072)),
                Some(tokens) => prop_assert!(fits(tokens) && !fits(tokens + BLOCK)),
                None => prop_assert!(!fits(BLOCK)),
            }
        }
    }
}
