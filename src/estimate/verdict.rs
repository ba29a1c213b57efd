//! Whether a need, known up to an interval, fits a device with room to spare.

use crate::domain::closed_set;
use crate::text::Text;
use crate::units::Interval;

closed_set! {
    /// The answer of everything that asks "does it fit?".
    pub enum Verdict {
        /// Even the high end of the need leaves the headroom asked for.
        Fits = "fits",
        /// It may well run, but with less headroom than asked for, or only if the estimates are kind.
        Tight = "tight",
        /// Even the low end of the need is more than there is.
        DoesNotFit = "does-not-fit",
        /// What is known does not allow an answer.
        Unknown = "unknown",
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

    pub fn text(self) -> Text {
        match self {
            Verdict::Fits => Text::new("fits", "放得下"),
            Verdict::Tight => Text::new("tight", "很紧张"),
            Verdict::DoesNotFit => Text::new("does not fit", "放不下"),
            Verdict::Unknown => Text::new("cannot tell", "无法判断"),
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

    #[test]
    fn the_unfavourable_end_decides() {
        let of = |low, high| Verdict::of(Interval::between(low, high), 1000, 0.05);
        assert_eq!(of(900, 950), Verdict::Fits);
        assert_eq!(of(900, 951), Verdict::Tight);
        assert_eq!(of(1000, 1100), Verdict::Tight);
        assert_eq!(of(1001, 1100), Verdict::DoesNotFit);
    }
}
