//! Which batch to try, and how many of it keep the effective batch.

/// How far beyond what was in use and asked for when a batch failed its peak is taken to lie: a quarter more, since the
/// step would have gone on from there.
pub const BEYOND_A_FAILURE: f64 = 1.25;

/// A batch and the accumulation that keeps the effective batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    pub batch: u64,
    pub accumulation: u64,
}

/// The largest batch up to `most` that divides the effective batch, with its accumulation. `None` when `most` is 0.
/// A divisor below half of `most` would waste the device: then the batch itself is kept and the effective batch rounds
/// up.
pub fn split(effective: u64, most: u64) -> Option<Split> {
    if most == 0 || effective == 0 {
        return None;
    }
    let most = most.min(effective);
    // Divisors come in pairs, so the search ends at the root; batches are small numbers in any case.
    let mut best = 1;
    let mut small = 1u64;
    while small <= effective / small && small <= 1 << 20 {
        if effective.is_multiple_of(small) {
            for divisor in [small, effective / small] {
                if divisor <= most {
                    best = best.max(divisor);
                }
            }
        }
        small += 1;
    }
    if best * 2 < most {
        return Some(Split { batch: most, accumulation: effective.div_ceil(most) });
    }
    Some(Split { batch: best, accumulation: effective / best })
}

/// What to try after one failure at batch `b`, from the failing moment alone: it had `allocated` and asked for
/// `requested`, could use `usable` bytes in all and keeps `constant` bytes whatever the batch.
///
/// The peak lies at or beyond allocated + requested, so the ratio is optimistic: [`BEYOND_A_FAILURE`]. Where the demand
/// was below what seems usable although the request failed, the difference was blocked (a neighbour, fragmentation, a
/// quota) and is not counted as usable. `None` when the batch is 1 already or the constant part alone does not fit.
pub fn first_try(batch: u64, allocated: f64, requested: f64, usable: f64, constant: f64) -> Option<u64> {
    let demand = allocated + requested;
    let usable = usable.min(demand);
    if batch <= 1 || demand <= constant || usable <= constant || requested <= 0.0 {
        return None;
    }
    let optimistic = batch as f64 * (usable - constant) / (demand - constant);
    let tried = (optimistic / BEYOND_A_FAILURE).floor() as u64;
    Some(tried.clamp(1, batch - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (1u64 << 30) as f64;

    #[test]
    fn a_failure_below_the_capacity_counts_the_difference_as_blocked() {
        // 70 + 2 of 79 GiB failed at 16: the naive ratio would allow 18.
        assert_eq!(first_try(16, 70.0 * GIB, 2.0 * GIB, 79.0 * GIB, 20.0 * GIB), Some(12));
    }

    #[test]
    fn a_failure_shrinks_the_batch_by_what_does_not_fit() {
        assert_eq!(first_try(16, 10.0 * GIB, 4.0 * GIB, 12.0 * GIB, 0.0), Some(10));
        assert_eq!(first_try(2, 10.0 * GIB, 0.1 * GIB, 12.0 * GIB, 0.0), Some(1));
        assert_eq!(first_try(1, 10.0 * GIB, 4.0 * GIB, 12.0 * GIB, 0.0), None);
        // States of 95 % of the device leave nothing for any batch.
        assert_eq!(first_try(8, 22.0 * GIB, 2.0 * GIB, 22.8 * GIB, 22.8 * GIB), None);
    }

    #[test]
    fn effective_batches_are_kept_where_they_divide() {
        assert_eq!(split(256, 53), Some(Split { batch: 32, accumulation: 8 }));
        assert_eq!(split(16, 12), Some(Split { batch: 8, accumulation: 2 }));
        assert_eq!(split(7, 5), Some(Split { batch: 5, accumulation: 2 }));
        assert_eq!(split(8, 100), Some(Split { batch: 8, accumulation: 1 }));
        assert_eq!(split(8, 0), None);
    }

    /// No sample of the effective batch is lost, whatever its divisors.
    #[test]
    fn a_split_trains_every_sample() {
        for effective in 1..200 {
            for most in 1..=effective + 1 {
                let split = split(effective, most).expect("both are positive");
                assert!(split.batch <= most && split.batch * split.accumulation >= effective, "{effective}: {split:?}");
                assert!(
                    split.batch * (split.accumulation - 1) < effective,
                    "{effective}: {split:?} has a step too many"
                );
                assert!(2 * split.batch >= most.min(effective), "{effective}: {split:?} wastes half of {most}");
            }
        }
    }
}
