//! The memory of a serving engine from a description: weights, key/value cache, and what the engine itself needs.

use super::architecture::{Architecture, Body, Transformer};
use super::kv_cache::Shape;
use super::peak::Peak;
use crate::units::GIB;

/// A model that is served.
#[derive(Debug, Clone, PartialEq)]
pub struct Serving {
    pub model: Architecture,
    pub width: WeightWidth,
    /// Bytes of an element of the cache.
    pub cache_width: f64,
    /// Tokens of a request, prompt and answer.
    pub context: u64,
}

/// Bytes of a weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightWidth {
    /// Of the matrices inside of layers, which quantisation is about.
    pub in_layers: f64,
    /// Of embeddings, head and norms: least and most. Few ways to quantise touch them.
    pub outside: (f64, f64),
}

impl WeightWidth {
    /// The same for all.
    pub fn of_all(bytes: f64) -> WeightWidth {
        WeightWidth { in_layers: bytes, outside: (bytes, bytes) }
    }
}

/// Tokens that the cache hands out at once (vLLM's default).
const BLOCK: u64 = 16;
/// Tokens that are processed at once while prompts are read (vLLM's usual limit), for activations and logits.
const BATCHED_TOKENS: f64 = 8192.0;
/// CUDA graphs, workspaces and the sampler, not part of any formula: usual and most. A plain loop over `generate` has
/// none of them.
const ENGINE: (f64, f64) = (0.8 * GIB as f64, 2.0 * GIB as f64);

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

    /// Bytes of the weights, least and most.
    pub fn weight_range(&self) -> (f64, f64) {
        let inside = self.model.quantisable();
        let outside = self.model.parameters - inside;
        let of = |width: f64| inside * self.width.in_layers + outside * width;
        (of(self.width.outside.0), of(self.width.outside.1))
    }

    /// Bytes of the weights with embeddings and head as they usually are.
    pub fn weights(&self) -> f64 {
        self.weight_range().1
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

    /// Bytes of the cache for one request of full length, every layer keeping all of it.
    pub fn request(&self) -> f64 {
        let blocks = (self.context as f64 / BLOCK as f64).ceil();
        self.token() * blocks * BLOCK as f64
    }

    /// The same where layers with a sliding window keep no more than that.
    pub fn windowed_request(&self) -> f64 {
        let (Some(stack), context) = (self.stack(), self.context as f64) else { return 0.0 };
        let Some(window) = stack.quirks.window else { return self.request() };
        let kept = window.tokens.min(context) / context.max(1.0);
        let narrow = (window.layers / stack.layers).clamp(0.0, 1.0);
        self.request() * (1.0 - narrow + narrow * kept)
    }

    /// Bytes of the cache for one token.
    pub fn token(&self) -> f64 {
        let latent = self.stack().and_then(|stack| Some(stack.quirks.latent? * stack.layers * self.cache_width));
        latent.or_else(|| self.shape().map(|shape| shape.per_token())).unwrap_or(0.0)
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
        let (least, most) = self.weight_range();
        let requests = requests as f64;
        // Not every engine keeps less of layers with a window.
        let (cache, whole) = (self.windowed_request() * requests, self.request() * requests);
        let fixed = most + self.pass();
        Peak {
            low: least + cache,
            expected: fixed + cache + ENGINE.0,
            high: fixed * 1.03 + self.pass() + whole + ENGINE.1,
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
