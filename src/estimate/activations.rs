//! What forward keeps for backward in a transformer layer.
//!
//! Measured with saved-tensor hooks on torch 2.11 and in agreement with Korthikanti et al. 2022. ±3 % when the modules of the
//! model are known, ±20 % when only the family is.

/// Bytes per (token × hidden unit) that a 16-bit GPT layer without dropout keeps under fused (SDPA, flash) attention.
pub const GPT_FUSED_ATTENTION: f64 = 32.08;

/// Bytes per (token × hidden unit) that full recomputation of a layer keeps: its input in 16 bit.
pub const RECOMPUTED: f64 = 2.0;

/// Bytes per (token × hidden unit) of a 16-bit Llama-type layer with fused attention and RMSNorm in 32 bit.
/// `kv_share` is key/value heads over heads, `mlp_ratio` the width of the MLP over the hidden size.
pub fn llama_layer(kv_share: f64, mlp_ratio: f64) -> f64 {
    16.0 + 2.0 + 4.0 * kv_share + 2.0 + 8.0 * mlp_ratio + 0.08
}

/// Bytes that one layer keeps for a number of tokens (batch × sequence).
pub fn layer(factor: f64, tokens: u64, hidden: u64) -> f64 {
    factor * tokens as f64 * hidden as f64
}

/// Bytes of eager attention's score matrices in one layer: 2 (without dropout) to 5 (with) per score at 16 bit.
/// batch · heads · sequence² is the number of scores.
pub fn eager_scores(batch: u64, heads: u64, sequence: u64) -> (f64, f64) {
    let scores = batch as f64 * heads as f64 * (sequence as f64).powi(2);
    (2.0 * scores, 5.0 * scores)
}

/// Share of the activations that recomputing every layer saves, low and high: measured 80 % for a 6-layer model,
/// 60–90 % across models.
pub const RECOMPUTE_SAVES: (f64, f64) = (0.6, 0.9);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    #[test]
    fn a_gpt_layer_keeps_what_was_measured() {
        // 256 tokens × 2 samples, hidden 512, 16 bit.
        assert!((layer(GPT_FUSED_ATTENTION, 512, 512) / 1e6 - 8.41).abs() < 0.01);
    }

    #[test]
    fn a_llama_3_8b_step_at_8192_tokens() {
        let factor = llama_layer(0.25, 14336.0 / 4096.0);
        let layers = 32.0 * layer(factor, 8192, 4096) / GIB as f64;
        assert!((layers - 49.0).abs() < 0.15, "{layers}");
        let boundaries = 32.0 * layer(RECOMPUTED, 8192, 4096) / GIB as f64;
        assert!((boundaries - 2.0).abs() < 0.01);
        let one = layer(factor, 8192, 4096) / GIB as f64;
        assert!((one - 1.53).abs() < 0.01);
        // With recomputation the logits are what is left to shrink.
        assert!(crate::estimate::logits::peak(8192, 128_256) / GIB as f64 > 3.0 * (boundaries + one));
    }

    #[test]
    fn eager_attention_grows_with_the_square_of_the_sequence() {
        assert_eq!(eager_scores(1, 8, 2048).0, 4.0 * eager_scores(1, 8, 1024).0);
    }
}
