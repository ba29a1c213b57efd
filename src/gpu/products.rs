//! What a GPU's name says about its memory.

use crate::units::{GIB, MIB};

/// Memory of products whose name does not say it, in GB as sold (2^30 bytes).
const SOLD: &[(&str, u64)] = &[
    ("RTX 5090", 32),
    ("RTX 5080", 16),
    ("RTX 4090", 24),
    ("RTX 4080", 16),
    ("RTX 3090", 24),
    ("RTX 3080", 10),
    ("RTX A6000", 48),
    ("RTX A5000", 24),
    ("RTX 6000 Ada", 48),
    ("RTX PRO 6000", 96),
    ("L40S", 48),
    ("L40", 48),
    ("L4", 24),
    ("A10G", 24),
    ("A10", 24),
    ("A30", 24),
    ("A40", 48),
    ("T4", 16),
];

/// The memory that a product or an instance is sold with: from its own name (`80GB`, `1g.10gb`), else from the table.
pub fn nominal(name: &str) -> Option<u64> {
    let lower = name.to_ascii_lowercase();
    for (at, _) in lower.rmatch_indices("gb") {
        let before = lower[..at].trim_end();
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        if let Ok(number) = before[before.len() - digits..].parse::<u64>()
            && (1..=1024).contains(&number)
        {
            return Some(number * GIB);
        }
    }
    let is_whole_word = |part: &str| {
        name.match_indices(part).any(|(at, _)| {
            let after = name[at + part.len()..].chars().next();
            let before = name[..at].chars().next_back();
            !after.is_some_and(|c| c.is_ascii_alphanumeric()) && !before.is_some_and(|c| c.is_ascii_alphanumeric())
        })
    };
    SOLD.iter().find(|(product, _)| is_whole_word(product)).map(|(_, gb)| gb * GIB)
}

/// Memory types that store ECC in the ordinary memory, so that the total is smaller with it.
pub fn ecc_costs_memory(name: &str) -> bool {
    ["T4", "A10", "A10G", "A40", "L4", "L40", "L40S", "RTX"]
        .iter()
        .any(|part| name.split([' ', '-']).any(|word| word == *part))
}

/// What a process with CUDA holds beside PyTorch's cache, low and high: 3.0 MiB per multiprocessor ± 25 % for the context,
/// 100–300 MiB for loaded modules, in an error band of 40 % over all.
pub fn overhead(multiprocessors: u32) -> (u64, u64) {
    let context = 3 * MIB * u64::from(multiprocessors);
    let middle = context + 200 * MIB;
    (middle * 6 / 10, middle * 14 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_memory() {
        assert_eq!(nominal("NVIDIA A100-SXM4-80GB"), Some(80 * GIB));
        assert_eq!(nominal("NVIDIA A100-SXM4-80GB MIG 1g.10gb").map(|bytes| bytes / GIB), Some(10));
        assert_eq!(nominal("MIG 3g.40gb"), Some(40 * GIB));
        assert_eq!(nominal("Tesla T4"), Some(16 * GIB));
        assert_eq!(nominal("NVIDIA L40S"), Some(48 * GIB));
        assert_eq!(nominal("NVIDIA GB10"), None);
        assert_eq!(nominal("NVIDIA H200"), None);
    }
}
