//! Whether a need, known up to an interval, fits a device with room to spare: the four answers, which of two weighs
//! more, and the exit code of each.

use super::closed_set;
use crate::text::Text;
use crate::units::Interval;

closed_set! {
    /// The answer of everything that asks "does it fit?", from the best to the worst: of two demands that must both
    /// hold the larger answers. A demand that is known to fail settles that whatever the other is, so `Unknown` stands
    /// below `Tight`.
    pub enum Verdict {
        /// Even the high end of the need leaves the headroom asked for.
        Fits = "fits",
        /// What is known does not allow an answer.
        Unknown = "unknown",
        /// It may well run, but with less headroom than asked for, or only if the estimates are kind.
        Tight = "tight",
        /// Even the low end of the need is more than there is.
        DoesNotFit = "does-not-fit",
    }
}

/// Nothing is known until something is.
impl Default for Verdict {
    fn default() -> Verdict {
        Verdict::Unknown
    }
}

impl Verdict {
    /// `needed` against a device of `capacity` bytes of which the share `headroom` (0 to 1) is to stay free.
    pub fn of(needed: Interval, capacity: u64, headroom: f64) -> Verdict {
        let usable = Interval::exactly(capacity).scale((1.0 - headroom).clamp(0.0, 1.0)).low;
        match needed {
            Interval { high, .. } if high <= usable => Verdict::Fits,
            Interval { low, .. } if low > i128::from(capacity) => Verdict::DoesNotFit,
            _ => Verdict::Tight,
        }
    }

    /// The answer to demands that must all hold; `None` of none.
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
        verdicts.into_iter().max()
    }

    pub fn text(self) -> Text {
        match self {
            Verdict::Fits => Text::new("fits", "放得下"),
            Verdict::Unknown => Text::new("cannot tell", "无法判断"),
            Verdict::Tight => Text::new("tight", "很紧张"),
            Verdict::DoesNotFit => Text::new("does not fit", "放不下"),
        }
    }

    /// The exit code of `headroom` and `rehearse` (`docs/exit-codes.md`).
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Fits => 0,
            Verdict::Tight | Verdict::DoesNotFit => 1,
            Verdict::Unknown => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_unfavourable_end_decides() {
        let of = |low, high| Verdict::of(Interval::between(low, high), 1000, 0.05);
        assert_eq!(of(900, 950), Verdict::Fits);
        assert_eq!(of(900, 951), Verdict::Tight);
        assert_eq!(of(1000, 1100), Verdict::Tight);
        assert_eq!(of(1001, 1100), Verdict::DoesNotFit);
    }

    #[test]
    fn a_demand_that_fails_settles_what_another_leaves_open() {
        use Verdict::{DoesNotFit, Fits, Tight, Unknown};
        for (demands, answer) in [
            ([Fits, Fits], Fits),
            ([Fits, Unknown], Unknown),
            ([Tight, Unknown], Tight),
            ([DoesNotFit, Unknown], DoesNotFit),
            ([Tight, DoesNotFit], DoesNotFit),
        ] {
            let [a, b] = demands;
            assert_eq!(Verdict::of_all(demands), Some(answer));
            assert_eq!(Verdict::of_all([b, a]), Some(answer));
        }
        assert_eq!(Verdict::of_all([]), None);
    }

    fn any() -> impl Strategy<Value = Verdict> {
        proptest::sample::select(Verdict::ALL)
    }

    proptest! {
        #[test]
        fn the_exit_code_of_several_is_1_if_one_fails_else_3_if_one_is_open(
            verdicts in proptest::collection::vec(any(), 1..6),
        ) {
            let codes: Vec<u8> = verdicts.iter().map(|verdict| verdict.exit_code()).collect();
            let wanted = [1, 3].into_iter().find(|code| codes.contains(code)).unwrap_or(0);
            prop_assert_eq!(Verdict::of_all(verdicts).map(Verdict::exit_code), Some(wanted));
        }

        #[test]
        fn a_larger_need_a_smaller_device_and_more_headroom_never_help(
            low in 0i128..2000, wide in 0i128..500, more in 0i128..500,
            capacity in 0u64..2000, headroom in 0.0f64..0.99, stricter in 0.0f64..0.5,
        ) {
            let at = |extra: i128, capacity, headroom| {
                Verdict::of(Interval::between(low + extra, low + wide + extra), capacity, headroom)
            };
            let verdict = at(0, capacity, headroom);
            prop_assert!(at(more, capacity, headroom) >= verdict);
            prop_assert!(at(0, capacity, (headroom + stricter).min(1.0)) >= verdict);
            prop_assert!(at(0, capacity + 100, headroom) <= verdict);
        }
    }
}
