//! The key/value cache of an inference engine.

/// The shape of one model's cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    pub layers: u64,
    pub kv_heads: u64,
    pub head_size: u64,
    /// Bytes of an element: 2 at 16 bit, 1 at fp8, 34/32 for llama.cpp's `q8_0`.
    pub element: f64,
}

impl Shape {
    /// Bytes that one token takes: keys and values of every layer.
    pub fn per_token(&self) -> f64 {
        2.0 * self.layers as f64 * self.kv_heads as f64 * self.head_size as f64 * self.element
    }

    /// Bytes of one sequence whose length is rounded up to blocks (16 tokens in vLLM).
    pub fn sequence(&self, tokens: u64, block: u64) -> f64 {
        let block = block.max(1);
        self.per_token() * (tokens.div_ceil(block) as f64 * block as f64)
    }
}

/// The longest sequence that fits, from what one sequence of `length` tokens needs and what is available: the need is
/// proportional to the length, so the ratio decides. Rounded down to whole blocks; 0 when nothing is available.
pub fn longest(length: u64, needed: u64, available: u64, block: u64) -> u64 {
    if needed == 0 {
        return length;
    }
    let tokens = (length as u128 * available as u128 / needed as u128).min(length as u128) as u64;
    tokens / block.max(1) * block.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    #[test]
    fn llama_3_8b_takes_128_kib_a_token() {
        let bf16 = Shape { layers: 32, kv_heads: 8, head_size: 128, element: 2.0 };
        assert_eq!(bf16.per_token(), 128.0 * 1024.0);
        assert_eq!(bf16.sequence(131_072, 16), 16.0 * GIB as f64);
        assert_eq!(Shape { element: 1.0, ..bf16 }.sequence(131_072, 16), 8.0 * GIB as f64);
        assert_eq!(bf16.sequence(17, 16), bf16.per_token() * 32.0);
    }

    #[test]
    fn the_longest_sequence_follows_from_need_and_room() {
        assert_eq!(longest(32_768, 4 * GIB, 3 * GIB, 16), 24_576);
        assert_eq!(longest(1000, 3, 2, 16), 656);
        assert_eq!(longest(1000, 0, 2, 16), 1000);
        assert_eq!(longest(1000, 5, 0, 16), 0);
    }
}
