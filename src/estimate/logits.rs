//! Logits and their loss: often the highest point of a language model's step.

/// Peak bytes of the usual path (16-bit logits, upcast to 32 bit, cross-entropy) for tokens × vocabulary, forward and
/// backward together: 12 bytes per logit (12.25 measured on torch 2.11).
pub fn peak(tokens: u64, vocabulary: u64) -> f64 {
    12.0 * tokens as f64 * vocabulary as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    #[test]
    fn llama_3_logits_at_8192_tokens() {
        assert!((peak(8192, 128_256) / GIB as f64 - 11.74).abs() < 0.01);
    }
}
