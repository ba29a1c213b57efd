//! What a CUDA context takes of a device: measured where the board is known, a range where it is not.

use crate::units::{Interval, MIB};

/// A context with the modules of PyTorch's libraries on a board that is not known: 0.2 to 0.6 GiB are seen. What this
/// process holds outside its framework beyond the upper end is something else than its context.
pub const USUAL: Interval = Interval { low: (200 * MIB) as i128, high: (600 * MIB) as i128 };

/// No context takes less once something has been allocated, on small boards and with old drivers neither.
pub const LEAST: u64 = 64 * MIB;

/// What the context of a process takes: 3.0 MiB per multiprocessor ± 25 %, from three measured boards of 34, 82 and
/// 188 multiprocessors.
pub fn of_board(multiprocessors: u32) -> Interval {
    let middle = i128::from(3 * MIB * u64::from(multiprocessors));
    Interval::between(middle * 3 / 4, middle * 5 / 4)
}

/// What a process with CUDA holds beside PyTorch's cache, low and high: the context, and 100–300 MiB for loaded
/// modules, in an error band of 40 % over all.
pub fn overhead(multiprocessors: u32) -> (u64, u64) {
    let middle = of_board(multiprocessors).middle_bytes() + 200 * MIB;
    (middle * 6 / 10, middle * 14 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_lies_within_a_quarter_of_three_mebibytes_for_each_multiprocessor() {
        let mib = |low: u64, high: u64| Interval::between(i128::from(low * MIB), i128::from(high * MIB));
        assert_eq!(of_board(100), mib(225, 375));
        assert_eq!(of_board(0), mib(0, 0));
        // With 200 MiB for modules, within 40 %.
        assert_eq!(overhead(100), (300 * MIB, 700 * MIB));
    }
}
