//! What a GPU's name says about its memory.

use crate::units::{GIB, MIB};

/// Memory of products whose name does not say it, in units of 2^30 bytes: what vendors print as GB, for boards with HBM the
/// smaller figure where sources give two. Longer names stand before shorter ones that they contain. Models sold with
/// different memory under one name are left out.
const NOMINAL: &[(&str, u64)] = &[
    ("GB200", 186),
    ("B200", 180),
    ("H200", 141),
    ("H100 NVL", 94),
    ("H100", 80),
    ("H800", 80),
    ("H20", 96),
    ("L40S", 48),
    ("L40", 48),
    ("L20", 48),
    ("L4", 24),
    ("L2", 24),
    ("A10G", 24),
    ("A10", 24),
    ("A16", 16),
    ("A30", 24),
    ("A40", 48),
    ("A2", 16),
    ("T4", 16),
    ("RTX PRO 6000", 96),
    ("RTX PRO 4500", 32),
    ("RTX PRO 4000", 24),
    ("RTX 6000 Ada", 48),
    ("RTX 5000 Ada", 32),
    ("RTX 4500 Ada", 24),
    ("RTX 4000 Ada", 20),
    ("RTX A6000", 48),
    ("RTX A5500", 24),
    ("RTX A5000", 24),
    ("RTX A4500", 20),
    ("RTX A4000", 16),
    ("Quadro RTX 8000", 48),
    ("Quadro RTX 6000", 24),
    ("TITAN RTX", 24),
    ("RTX 5090", 32),
    ("RTX 5080", 16),
    ("RTX 5070 Ti", 16),
    ("RTX 5070", 12),
    ("RTX 4090", 24),
    ("RTX 4080", 16),
    ("RTX 4070 Ti SUPER", 16),
    ("RTX 4070", 12),
    ("RTX 3090", 24),
    ("RTX 3080 Ti", 12),
    ("RTX 3080", 10),
    ("RTX 2080 Ti", 11),
];

/// Names that say less, or something else: laptop boards have less memory than the desktop ones of the same number, the
/// second edition of the RTX 5090 D too, and the figure in a GH200's name is its processor's memory.
const MISLEADING: &[&str] = &["Laptop", "Max-Q", "5090 D", "GH200"];

/// The memory that a product or an instance nominally has: from its own name (`80GB`, `1g.10gb`), else from the table.
pub fn nominal(name: &str) -> Option<u64> {
    let workstation = name.contains("RTX PRO");
    if MISLEADING.iter().any(|part| name.contains(part)) && !workstation {
        return None;
    }
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
    NOMINAL.iter().find(|(product, _)| is_whole_word(product)).map(|(_, gb)| gb * GIB)
}

/// Memory types that store ECC in the ordinary memory, so that the total is smaller with it.
pub fn ecc_costs_memory(name: &str) -> bool {
    ["T4", "A2", "A10", "A10G", "A16", "A40", "L2", "L4", "L20", "L40", "L40S", "RTX"]
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
        assert_eq!(nominal("NVIDIA H200"), Some(141 * GIB));
        assert_eq!(nominal("NVIDIA H100 NVL"), Some(94 * GIB));
        assert_eq!(nominal("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"), Some(96 * GIB));
        assert_eq!(nominal("NVIDIA GeForce RTX 5070 Ti"), Some(16 * GIB));
        for misleading in ["NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 5090 D v2", "NVIDIA GH200 480GB"] {
            assert_eq!(nominal(misleading), None, "{misleading}");
        }
    }

    #[test]
    fn whole_boards_are_no_slices() {
        // Totals that drivers printed, in MiB.
        for (name, mib) in [
            ("NVIDIA H100 80GB HBM3", 81559),
            ("NVIDIA H200", 143_771),
            ("NVIDIA H20", 97871),
            ("NVIDIA B200", 183_359),
            ("NVIDIA GeForce RTX 4090", 24564),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887),
        ] {
            let nominal = nominal(name).unwrap_or(u64::MAX);
            assert!((mib * MIB) as f64 >= 0.97 * nominal as f64, "{name}");
        }
    }
}
