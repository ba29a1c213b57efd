//! Which GPU is rehearsed on: a product of the table, found under the names that people use, or a bare amount of
//! memory.

use crate::gpu::context_size;
use crate::gpu::products::{PRODUCTS, Product, Provenance};
use crate::order::InOrder;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval, MIB};

/// The GPU of a rehearsal.
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    pub name: String,
    /// Bytes that CUDA reports as the total.
    pub total: Interval,
    /// Where `total` is from; `None` when the user gave it.
    pub known: Option<Provenance>,
    pub compute: (u8, u8),
    pub multiprocessors: u32,
    /// What the CUDA context of a process takes.
    pub context: Interval,
    /// The memory is shared with the processor.
    pub unified: bool,
    /// False when compute capability and multiprocessors are assumed.
    pub named: bool,
}

/// Compute capability and multiprocessors where only an amount of memory was given. The capability decides which
/// attention kernels PyTorch picks; 8.0 has all that current programs use.
const UNNAMED: ((u8, u8), u32) = ((8, 0), 108);

impl Gpu {
    /// A product, with the memory that the user gave in place of the table's.
    pub fn of(product: &Product, total: Option<u64>) -> Gpu {
        Gpu {
            name: product.name.to_string(),
            total: total.map_or_else(|| product.total(), Interval::exactly),
            known: if total.is_some() { None } else { Some(product.known) },
            compute: product.compute,
            multiprocessors: product.multiprocessors,
            context: context_size::of_board(product.multiprocessors),
            unified: product.unified,
            named: true,
        }
    }

    /// A GPU of which only the memory is given.
    pub fn of_size(total: u64) -> Gpu {
        let (compute, multiprocessors) = UNNAMED;
        let small = context_size::of_board(30);
        Gpu {
            name: format!("{} GPU", Bytes(total)),
            total: Interval::exactly(total),
            known: None,
            compute,
            multiprocessors,
            // Of a board with 30 multiprocessors up to one with 148.
            context: Interval { low: small.low, high: context_size::of_board(148).high },
            unified: false,
            named: false,
        }
    }

    /// The memory that decides: the least that drivers leave.
    pub fn capacity(&self) -> u64 {
        self.total.low.clamp(0, i128::from(u64::MAX)) as u64
    }
}

/// Why no single product was found.
#[derive(Debug, Clone, PartialEq)]
pub enum NotFound {
    /// Several are called so.
    Several(Vec<&'static str>),
    /// None is; these come near.
    Unknown(Vec<&'static str>),
}

impl NotFound {
    pub fn text(&self, wanted: &str) -> Text {
        let names = |list: &[&str]| list.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        match self {
            NotFound::Several(list) => {
                let names = names(list);
                text!(en: "GPU {wanted}: which one? {names}", zh: "GPU {wanted}：是哪一款？{names}")
            }
            NotFound::Unknown(list) if list.is_empty() => text!(
                en: "GPU {wanted}: not in the table (oomdoc rehearse --like list prints it); give --gpu-memory instead",
                zh: "GPU {wanted}：表中没有（oomdoc rehearse --like list 可列出）；也可改用 --gpu-memory"
            ),
            NotFound::Unknown(list) => {
                let names = names(list);
                text!(
                    en: "GPU {wanted}: not in the table; did you mean {names}? (oomdoc rehearse --like list prints \
                         all)",
                    zh: "GPU {wanted}：表中没有；是否指 {names}？（oomdoc rehearse --like list 可列出全部）"
                )
            }
        }
    }
}

/// Words that people and drivers add or leave out.
const NOISE: &[&str] = &["nvidia", "geforce", "tesla", "graphics", "device", "gpu", "generation", "laptop"];
/// Words that a second look leaves out too.
const LOOSE: &[&str] =
    &["rtx", "gtx", "quadro", "sxm", "sxm2", "sxm4", "sxm5", "pcie", "hbm2", "hbm2e", "hbm3", "hbm3e"];

/// The words of a name, without separators: `A100-SXM4-80GB` → `a100 sxm4 80gb`.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let spaced: String = lower.chars().map(|c| if c.is_alphanumeric() || c == '.' { c } else { ' ' }).collect();
    spaced.split_whitespace().filter(|word| !NOISE.contains(word)).map(str::to_string).collect()
}

fn key(words: &[String], loose: bool) -> String {
    words.iter().filter(|word| !loose || !LOOSE.contains(&word.as_str())).map(String::as_str).collect()
}

/// The product that a user means.
///
/// # Errors
/// When none or several are called so.
pub fn find(wanted: &str) -> Result<&'static Product, NotFound> {
    let asked = words(wanted);
    let names = |product: &'static Product| std::iter::once(product.name).chain(product.aliases.iter().copied());
    for loose in [false, true] {
        let asked = key(&asked, loose);
        if asked.is_empty() {
            break;
        }
        let hits: Vec<&'static Product> =
            PRODUCTS.iter().filter(|product| names(product).any(|name| key(&words(name), loose) == asked)).collect();
        match hits[..] {
            [] => {}
            [only] => return Ok(only),
            _ => return Err(NotFound::Several(hits.iter().map(|product| product.name).collect())),
        }
    }
    let asked = key(&asked, true);
    // "A100" begins the names of several.
    let begins: Vec<&'static Product> = PRODUCTS
        .iter()
        .filter(|product| {
            let own = key(&words(product.name), true);
            asked.len() >= 2
                && own.strip_prefix(&asked).is_some_and(|rest| {
                    let sized = rest.strip_suffix("gb").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
                    sized && !asked.ends_with(|c: char| c.is_ascii_digit() && rest.len() <= 2)
                })
        })
        .collect();
    match begins[..] {
        [] => {}
        [only] => return Ok(only),
        _ => return Err(NotFound::Several(begins.iter().map(|product| product.name).collect())),
    }
    let mut near: Vec<(usize, &'static str)> = PRODUCTS
        .iter()
        .filter_map(|product| {
            let nearest = names(product).map(|name| distance(&key(&words(name), true), &asked)).min()?;
            (nearest <= 1 + asked.chars().count() / 4).then_some((nearest, product.name))
        })
        .collect();
    near.order_by(Ord::cmp);
    Err(NotFound::Unknown(near.into_iter().take(4).map(|(_, name)| name).collect()))
}

/// Edits from one word to the other: insertions, deletions, replacements. Long input is cut: no product is called so.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(48).collect(), b.chars().take(48).collect());
    // Digits in the wrong order are one slip.
    let sorted = |word: &[char]| {
        let mut word = word.to_vec();
        word.sort_unstable();
        word
    };
    if a != b && sorted(&a) == sorted(&b) {
        return 1;
    }
    strsim::generic_levenshtein(&a, &b)
}

/// Kernels and modules of CUDA's libraries that are loaded at their first use, outside of PyTorch's count: tens to
/// hundreds of MiB once warm. CUDA 11 loads eagerly where the program does not ask otherwise; CUDA 12 does not, and 20
/// of 24 transformers on an RTX 3060 took between 2 MiB less and 128 MiB more than their tensors after the context was
/// there (docs/rehearse-accuracy.md).
pub fn libraries(cuda_major: Option<u32>) -> Interval {
    let high = if cuda_major.is_some_and(|major| major < 12) { 450 } else { 250 };
    Interval::between(0, i128::from(high * MIB))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn found(name: &str) -> &'static str {
        find(name).unwrap_or_else(|error| panic!("{name}: {error:?}")).name
    }

    #[test]
    fn names_are_matched_forgivingly() {
        assert_eq!(found("3090"), "RTX 3090");
        assert_eq!(found("rtx 3090"), "RTX 3090");
        assert_eq!(found("NVIDIA GeForce RTX 3090"), "RTX 3090");
        assert_eq!(found("rtx3090ti"), "RTX 3090 Ti");
        assert_eq!(found("A100-80GB"), "A100 80GB");
        assert_eq!(found("NVIDIA A100-SXM4-80GB"), "A100 80GB");
        assert_eq!(found("H100"), "H100 SXM 80GB");
        assert_eq!(found("NVIDIA H100 80GB HBM3"), "H100 SXM 80GB");
        assert_eq!(found("h100 pcie"), "H100 PCIe 80GB");
        assert_eq!(found("Tesla T4"), "T4");
        assert_eq!(found("4060 ti 8gb"), "RTX 4060 Ti 8GB");
        assert_eq!(found("A100 80GB MIG 1g.10gb"), "A100 80GB MIG 1g.10gb");
        assert_eq!(found("L40s"), "L40S");
    }

    #[test]
    fn every_product_is_found_by_its_own_names() {
        for product in PRODUCTS {
            for name in std::iter::once(&product.name).chain(product.aliases) {
                assert_eq!(find(name).map(|p| p.name), Ok(product.name), "{name}");
            }
        }
        let mut keys: BTreeMap<String, &str> = BTreeMap::new();
        for product in PRODUCTS {
            assert_eq!(keys.insert(key(&words(product.name), false), product.name), None, "{}", product.name);
        }
    }

    #[test]
    fn what_is_not_clear_is_asked_back() {
        assert_eq!(find("A100"), Err(NotFound::Several(vec!["A100 40GB", "A100 80GB"])));
        assert_eq!(find("V100"), Err(NotFound::Several(vec!["V100 16GB", "V100 32GB"])));
        let Err(NotFound::Unknown(near)) = find("RTX 3009") else { panic!("a typo") };
        assert!(near.contains(&"RTX 3090"), "{near:?}");
        assert!(matches!(find("abacus"), Err(NotFound::Unknown(near)) if near.is_empty()));
        assert!(matches!(find(""), Err(NotFound::Unknown(_))));
        assert!(matches!(find(&"9".repeat(100_000)), Err(NotFound::Unknown(_))));
    }
}
