//! What a GPU's name says: memory as sold and as CUDA reports it, compute capability, multiprocessors.

use crate::units::{GIB, Interval, MIB};

/// Where the memory that CUDA reports of a product is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Printed by CUDA on such boards under Linux, in public reports. A range where drivers differ.
    Reported,
    /// What is sold less what boards of the same generation and memory type lose to the driver and to ECC.
    Derived,
}

/// One product, or one slice of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// As people call it.
    pub name: &'static str,
    /// Other names, beside those that follow from leaving out the vendor and the series.
    pub aliases: &'static [&'static str],
    /// GB as sold (2^30 bytes).
    pub sold: u64,
    /// MiB that `cudaMemGetInfo` gives as the total, lowest and highest. Windows (WDDM) shows more.
    pub total_mib: (u64, u64),
    pub known: Provenance,
    /// Major and minor compute capability.
    pub compute: (u8, u8),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// The memory is the computer's own: other programs and the page cache take from it.
    pub unified: bool,
}

impl Product {
    pub fn total(&self) -> Interval {
        Interval::between(i128::from(self.total_mib.0 * MIB), i128::from(self.total_mib.1 * MIB))
    }
}

use Provenance::{Derived, Reported};

const fn product(
    name: &'static str,
    aliases: &'static [&'static str],
    sold: u64,
    total_mib: (u64, u64),
    known: Provenance,
    compute: (u8, u8),
    multiprocessors: u32,
) -> Product {
    Product { name, aliases, sold, total_mib, known, compute, multiprocessors, unified: false }
}

const fn unified(product: Product) -> Product {
    Product { unified: true, ..product }
}

/// Ordered by generation and, in it, by size. Multiprocessors and compute capability are the vendor's published
/// figures.
#[rustfmt::skip]
pub const PRODUCTS: &[Product] = &[
    // Pascal
    product("GTX 1060 6GB", &["1060"], 6, (6065, 6080), Derived, (6, 1), 10),
    product("GTX 1070", &[], 8, (8105, 8120), Derived, (6, 1), 15),
    product("GTX 1080", &[], 8, (8112, 8119), Reported, (6, 1), 20),
    product("GTX 1080 Ti", &[], 11, (11160, 11178), Reported, (6, 1), 28),
    product("TITAN Xp", &[], 12, (12180, 12200), Derived, (6, 1), 30),
    product("P100 16GB", &["p100", "tesla p100-pcie-16gb", "p100-sxm2-16gb"], 16, (16276, 16280), Reported, (6, 0), 56),
    product("P40", &[], 24, (22890, 22950), Derived, (6, 1), 30),
    // Volta
    product("V100 16GB", &["v100-sxm2-16gb", "v100-pcie-16gb"], 16, (16130, 16160), Reported, (7, 0), 80),
    product("V100 32GB", &["v100-sxm2-32gb", "v100-pcie-32gb", "v100s"], 32, (32480, 32510), Derived, (7, 0), 80),
    product("TITAN V", &[], 12, (12035, 12070), Derived, (7, 0), 80),
    // Turing
    product("GTX 1650", &[], 4, (3890, 3915), Derived, (7, 5), 14),
    product("GTX 1660 Ti", &[], 6, (5920, 5944), Reported, (7, 5), 24),
    product("RTX 2060 6GB", &["rtx 2060"], 6, (5905, 5940), Derived, (7, 5), 30),
    product("RTX 2070", &[], 8, (7950, 7985), Derived, (7, 5), 36),
    product("RTX 2080", &[], 8, (7950, 7985), Derived, (7, 5), 46),
    product("RTX 2080 Ti", &[], 11, (10980, 11019), Reported, (7, 5), 68),
    product("TITAN RTX", &[], 24, (24150, 24220), Derived, (7, 5), 72),
    product("Quadro RTX 6000", &[], 24, (24150, 24220), Derived, (7, 5), 72),
    product("Quadro RTX 8000", &["rtx 8000"], 48, (48540, 48601), Reported, (7, 5), 72),
    product("T4", &[], 16, (14902, 15109), Reported, (7, 5), 40),
    // Ampere
    product("RTX 3050 8GB", &["rtx 3050"], 8, (7850, 7985), Derived, (8, 6), 20),
    product("RTX 3060 12GB", &["rtx 3060"], 12, (11906, 12053), Reported, (8, 6), 28),
    product("RTX 3060 Ti", &[], 8, (7850, 7985), Derived, (8, 6), 38),
    product("RTX 3070", &[], 8, (7850, 7985), Derived, (8, 6), 46),
    product("RTX 3070 Ti", &[], 8, (7850, 7985), Derived, (8, 6), 48),
    product("RTX 3080 10GB", &["rtx 3080"], 10, (9870, 10020), Derived, (8, 6), 68),
    product("RTX 3080 12GB", &[], 12, (11890, 12053), Derived, (8, 6), 70),
    product("RTX 3080 Ti", &[], 12, (11890, 12053), Derived, (8, 6), 80),
    product("RTX 3090", &[], 24, (24122, 24268), Reported, (8, 6), 82),
    product("RTX 3090 Ti", &[], 24, (24110, 24260), Derived, (8, 6), 84),
    product("RTX A2000 12GB", &["rtx a2000", "a2000"], 12, (11890, 12053), Derived, (8, 6), 26),
    product("RTX A4000", &["a4000"], 16, (15950, 16117), Derived, (8, 6), 48),
    product("RTX A4500", &["a4500"], 20, (20020, 20180), Derived, (8, 6), 56),
    product("RTX A5000", &["a5000"], 24, (24110, 24260), Derived, (8, 6), 64),
    product("RTX A5500", &["a5500"], 24, (24110, 24260), Derived, (8, 6), 80),
    product("RTX A6000", &["a6000"], 48, (48530, 48685), Reported, (8, 6), 84),
    product("A2", &[], 16, (14850, 15110), Derived, (8, 6), 10),
    product("A10", &[], 24, (22480, 22600), Derived, (8, 6), 72),
    product("A10G", &[], 24, (22500, 22740), Reported, (8, 6), 80),
    product("A16", &[], 16, (14850, 15110), Derived, (8, 6), 10),
    product("A30", &[], 24, (24060, 24170), Derived, (8, 0), 56),
    product("A40", &[], 48, (45416, 45634), Reported, (8, 6), 84),
    product("A100 40GB", &["a100-sxm4-40gb", "a100-pcie-40gb"], 40, (40326, 40536), Reported, (8, 0), 108),
    product(
        "A100 80GB",
        &["a100-sxm4-80gb", "a100 80gb pcie", "a100-pcie-80gb"],
        80,
        (81038, 81252),
        Reported,
        (8, 0),
        108,
    ),
    product("A800 80GB", &["a800", "a800-sxm4-80gb", "a800 80gb pcie"], 80, (81038, 81252), Derived, (8, 0), 108),
    // Ada
    product("RTX 4060", &[], 8, (7800, 7970), Derived, (8, 9), 24),
    product("RTX 4060 Ti 8GB", &[], 8, (7800, 7970), Derived, (8, 9), 34),
    product("RTX 4060 Ti 16GB", &["rtx 4060 ti"], 16, (15930, 16080), Derived, (8, 9), 34),
    product("RTX 4070", &[], 12, (11840, 12010), Derived, (8, 9), 46),
    product("RTX 4070 SUPER", &[], 12, (11840, 12010), Derived, (8, 9), 56),
    product("RTX 4070 Ti", &[], 12, (11840, 12010), Derived, (8, 9), 60),
    product("RTX 4070 Ti SUPER", &[], 16, (15930, 16080), Derived, (8, 9), 66),
    product("RTX 4080", &[], 16, (15930, 16080), Derived, (8, 9), 76),
    product("RTX 4080 SUPER", &[], 16, (15930, 16080), Derived, (8, 9), 80),
    product("RTX 4090", &[], 24, (24080, 24217), Derived, (8, 9), 128),
    product("RTX 4090 D", &[], 24, (24080, 24217), Derived, (8, 9), 114),
    product("RTX 4000 Ada", &["rtx 4000 ada generation"], 20, (19980, 20150), Derived, (8, 9), 48),
    product("RTX 4500 Ada", &["rtx 4500 ada generation"], 24, (24000, 24260), Derived, (8, 9), 60),
    product("RTX 5000 Ada", &["rtx 5000 ada generation"], 32, (32080, 32250), Derived, (8, 9), 100),
    product("RTX 6000 Ada", &["rtx 6000 ada generation", "6000 ada"], 48, (48500, 48660), Derived, (8, 9), 142),
    product("L4", &[], 24, (22480, 22700), Derived, (8, 9), 58),
    product("L20", &[], 48, (45400, 45640), Derived, (8, 9), 92),
    product("L40", &[], 48, (45370, 45600), Derived, (8, 9), 142),
    product("L40S", &[], 48, (45370, 45600), Reported, (8, 9), 142),
    // Hopper
    product("H100 PCIe 80GB", &["h100 pcie"], 80, (80990, 81100), Derived, (9, 0), 114),
    product(
        "H100 SXM 80GB",
        &["h100", "h100 80gb", "h100 80gb hbm3", "h100-sxm5-80gb", "h100 sxm"],
        80,
        (81004, 81230),
        Reported,
        (9, 0),
        132,
    ),
    product("H100 NVL 94GB", &["h100 nvl"], 94, (95230, 95380), Derived, (9, 0), 132),
    product("H800 80GB", &["h800"], 80, (81004, 81230), Derived, (9, 0), 132),
    product("H20 96GB", &["h20"], 96, (97230, 97420), Derived, (9, 0), 78),
    product("H200 141GB", &["h200", "h200 sxm", "h200 nvl"], 141, (143070, 143170), Reported, (9, 0), 132),
    product("GH200 96GB", &["gh200"], 96, (96700, 97420), Derived, (9, 0), 132),
    // Blackwell
    product("RTX 5060 Ti 16GB", &["rtx 5060 ti"], 16, (15800, 15930), Derived, (12, 0), 36),
    product("RTX 5070", &[], 12, (11740, 11870), Derived, (12, 0), 48),
    product("RTX 5070 Ti", &[], 16, (15800, 15930), Derived, (12, 0), 70),
    product("RTX 5080", &[], 16, (15800, 15930), Derived, (12, 0), 84),
    product("RTX 5090", &[], 32, (32106, 32120), Reported, (12, 0), 170),
    product("RTX PRO 4000 Blackwell", &["rtx pro 4000"], 24, (23800, 24250), Derived, (12, 0), 70),
    product("RTX PRO 4500 Blackwell", &["rtx pro 4500"], 32, (31900, 32250), Derived, (12, 0), 82),
    product("RTX PRO 5000 Blackwell", &["rtx pro 5000"], 48, (48150, 48700), Derived, (12, 0), 110),
    product(
        "RTX PRO 6000 Blackwell",
        &["rtx pro 6000", "rtx pro 6000 blackwell workstation edition", "rtx pro 6000 blackwell server edition"],
        96,
        (97240, 97255),
        Reported,
        (12, 0),
        188,
    ),
    product("B200", &["b200 180gb"], 180, (182620, 182640), Reported, (10, 0), 148),
    // Memory shared with the processor
    unified(product("Jetson AGX Orin 32GB", &[], 32, (30200, 30700), Reported, (8, 7), 14)),
    unified(product(
        "Jetson AGX Orin 64GB",
        &["agx orin", "jetson agx orin", "orin"],
        64,
        (62500, 63000),
        Derived,
        (8, 7),
        16,
    )),
    unified(product("GB10", &["dgx spark"], 128, (121500, 123000), Derived, (12, 1), 48)),
    // Slices (MIG)
    product("A100 40GB MIG 1g.5gb", &["a100 mig 1g.5gb", "1g.5gb"], 5, (4750, 4864), Derived, (8, 0), 14),
    product("A100 40GB MIG 3g.20gb", &["a100 mig 3g.20gb", "3g.20gb"], 20, (19900, 20096), Derived, (8, 0), 42),
    product(
        "A100 80GB MIG 1g.10gb",
        &["a100 80gb pcie mig 1g.10gb", "a100-sxm4-80gb mig 1g.10gb"],
        10,
        (9700, 9728),
        Reported,
        (8, 0),
        14,
    ),
    product("A100 80GB MIG 2g.20gb", &["2g.20gb"], 20, (19900, 19968), Derived, (8, 0), 28),
    product("A100 80GB MIG 3g.40gb", &[], 40, (40100, 40320), Derived, (8, 0), 42),
    product("H100 80GB MIG 1g.10gb", &[], 10, (9900, 10080), Derived, (9, 0), 16),
    product("H100 80GB MIG 3g.40gb", &[], 40, (40200, 40450), Derived, (9, 0), 60),
];

/// Products of which only the nominal memory is known here, in units of 2^30 bytes.
const NOMINAL: &[(&str, u64)] = &[("GB200", 186), ("L2", 24)];

/// Names that say less, or something else: laptop boards have less memory than the desktop ones of the same number, the
/// second edition of the RTX 5090 D too, and the figure in a GH200's name is its processor's memory.
const MISLEADING: &[&str] = &["Laptop", "Max-Q", "5090 D", "GH200"];

/// The memory that a product or an instance nominally has: from its own name (`80GB`, `1g.10gb`), else from the table.
/// Models sold with different memory under one name have none.
pub fn nominal(name: &str) -> Option<u64> {
    sold_as(name).map(|(sold, _)| sold)
}

/// The same, and the product of the table that the name is one of.
fn sold_as(name: &str) -> Option<(u64, Option<&'static Product>)> {
    let workstation = name.contains("RTX PRO");
    if MISLEADING.iter().any(|part| name.contains(part)) && !workstation {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let product = named(&lower);
    for (at, _) in lower.rmatch_indices("gb") {
        let before = lower[..at].trim_end();
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        if let Ok(number) = before[before.len() - digits..].parse::<u64>()
            && (1..=1024).contains(&number)
        {
            return Some((number * GIB, product.filter(|product| product.sold == number)));
        }
    }
    if let Some((_, gb)) = NOMINAL.iter().find(|(product, _)| is_whole_word(&lower, &product.to_ascii_lowercase())) {
        return Some((gb * GIB, None));
    }
    let best = product?;
    // "RTX 3060" is sold with 8 GB too: the drivers' name does not say.
    let of_several_sizes =
        best.name.ends_with("GB") && ["RTX", "GTX", "V100", "P100"].iter().any(|s| best.name.starts_with(s));
    (!of_several_sizes).then_some((best.sold * GIB, product))
}

/// True where a name stands as a word of its own in a text in lower case.
fn is_whole_word(lower: &str, part: &str) -> bool {
    lower.match_indices(part).any(|(at, _)| {
        let after = lower[at + part.len()..].chars().next();
        let before = lower[..at].chars().next_back();
        !after.is_some_and(|c| c.is_ascii_alphanumeric()) && !before.is_some_and(|c| c.is_ascii_alphanumeric())
    })
}

/// The product whose name fits a text in lower case best, the longest: "RTX 4070 Ti SUPER" is no "RTX 4070".
fn named(lower: &str) -> Option<&'static Product> {
    let length = |product: &Product| {
        let names = std::iter::once(product.name).chain(product.aliases.iter().copied());
        names.map(str::to_ascii_lowercase).filter(|own| is_whole_word(lower, own)).map(|own| own.len()).max()
    };
    let fitting = PRODUCTS.iter().filter(|product| !product.unified);
    let best = fitting.filter_map(|product| Some((length(product)?, product))).max_by_key(|(length, _)| *length);
    best.map(|(_, product)| product)
}

/// The total that a board can show as its own, by its name alone: CUDA's figure under Linux at least, what is sold at
/// most, which Windows shows. Nothing for a name that is sold with different memory.
pub fn total_of(name: &str) -> Option<Interval> {
    let (sold, product) = sold_as(name)?;
    let sold = i128::from(sold);
    let (low, high) = product.map_or((sold * 89 / 100, sold), |product| (product.total().low, product.total().high));
    Some(Interval::between(low, high.max(sold)))
}

/// True for boards that are rebuilt with twice their memory and keep their name: RTX 2080 Ti of 22 GB, RTX 3080 of 20,
/// RTX 4090 of 48.
pub fn may_be_rebuilt(name: &str) -> bool {
    ["GeForce", "TITAN"].iter().any(|series| name.contains(series))
}

/// Memory types that store ECC in the ordinary memory, so that the total is smaller with it.
pub fn ecc_costs_memory(name: &str) -> bool {
    ["T4", "A2", "A10", "A10G", "A16", "A40", "L2", "L4", "L20", "L40", "L40S", "RTX"]
        .iter()
        .any(|part| name.split([' ', '-']).any(|word| word == *part))
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
        assert_eq!(nominal("NVIDIA GeForce RTX 4070 Ti SUPER"), Some(16 * GIB));
        assert_eq!(nominal("NVIDIA GB10"), None);
        assert_eq!(nominal("NVIDIA L400"), None);
        assert_eq!(nominal("NVIDIA GeForce RTX 3060"), None);
        assert_eq!(nominal("NVIDIA H200"), Some(141 * GIB));
        assert_eq!(nominal("NVIDIA H100 NVL"), Some(94 * GIB));
        assert_eq!(nominal("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"), Some(96 * GIB));
        assert_eq!(nominal("NVIDIA GeForce RTX 5070 Ti"), Some(16 * GIB));
        for misleading in ["NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 5090 D v2", "NVIDIA GH200 480GB"] {
            assert_eq!(nominal(misleading), None, "{misleading}");
        }
    }

    #[test]
    fn a_name_bounds_the_total() {
        let mib = |name: &str| total_of(name).map(|total| (total.low / i128::from(MIB), total.high / i128::from(MIB)));
        assert_eq!(mib("GeForce RTX 3090"), Some((24122, 24576)));
        assert_eq!(mib("Tesla V100-SXM2-32GB").map(|(_, high)| high), Some(32768));
        assert_eq!(mib("NVIDIA A100-SXM4-40GB").map(|(_, high)| high), Some(40960));
        for open in ["NVIDIA GeForce RTX 3060", "NVIDIA GeForce RTX 4090 Laptop GPU", "Quadro K4200"] {
            assert_eq!(mib(open), None, "{open}");
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

    #[test]
    fn the_table_is_plausible() {
        assert!(PRODUCTS.len() >= 40);
        for product in PRODUCTS {
            let (low, high) = product.total_mib;
            let sold = product.sold * 1024;
            assert!(low <= high, "{}", product.name);
            // 141 and 180 GB are sold as decimal GB of a part of the memory: CUDA shows up to 0.2 % less or 2 % more.
            assert!((high as f64) < sold as f64 * 1.02 && low as f64 > sold as f64 * 0.89, "{}", product.name);
            assert!((high - low) as f64 <= high as f64 * 0.025, "{}: too wide", product.name);
            assert!((5..=12).contains(&product.compute.0) && product.compute.1 < 10, "{}", product.name);
            assert!((4..=200).contains(&product.multiprocessors), "{}", product.name);
        }
    }

    #[test]
    fn contexts_are_those_measured() {
        for (multiprocessors, mib) in [(34, 107), (82, 256), (188, 555)] {
            let estimate = crate::gpu::context_size::of_board(multiprocessors);
            assert!((estimate.low..=estimate.high).contains(&i128::from(mib * MIB)), "{multiprocessors}");
        }
    }
}
