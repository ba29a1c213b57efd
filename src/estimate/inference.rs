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

    /// The longest context of one request that stays within `bytes`, by the high end; `None` where not even a block
    /// does.
    pub fn longest_context(&self, bytes: f64) -> Option<u64> {
        let fixed = self.peak(0).high;
        let tokens = (bytes - fixed) / self.token();
        let whole = (tokens / BLOCK as f64).floor() * BLOCK as f64;
        // No longer than the model was made for.
        let most = self.model.max_positions.unwrap_or(f64::INFINITY);
        (tokens.is_finite() && whole >= BLOCK as f64).then_some(whole.min(most) as u64)
    }
}
