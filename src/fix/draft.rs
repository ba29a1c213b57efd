//! Builds an [`Offer`] and decides by arithmetic whether it is one: what cannot cover the shortage is withheld with that reason.

use super::case::{Case, clamp_to, show};
use super::{Advice, Certainty, Frees, Knob, Numerics, Offer};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;
use crate::text::Text;
use crate::units::Interval;

/// Below this probability a fix is nothing to do with the incident.
const FAINTEST: f64 = 0.03;

/// An offer in the making.
pub struct Draft<'a> {
    case: &'a Case<'a>,
    cures: f64,
    frees: Frees,
    slowdown: (f64, f64),
    numerics: Numerics,
    certainty: Certainty,
    knobs: Vec<Knob>,
}

impl<'a> Draft<'a> {
    /// Starts from a table of P(cured | cause) for this fix.
    pub fn new(case: &'a Case<'a>, table: &[(CauseId, f64)]) -> Draft<'a> {
        Draft {
            case,
            cures: case.cures(table),
            frees: Frees::Unknown(Text::default()),
            slowdown: (0.0, 0.0),
            numerics: Numerics::Same,
            certainty: Certainty::RuleOfThumb,
            knobs: Vec::new(),
        }
    }

    /// What it frees, with the formula that has this incident's figures in it.
    pub fn frees(mut self, range: Interval, formula: Text) -> Self {
        self.frees = Frees::Bytes { range: clamp_to(range, self.case.bound()), formula };
        self
    }

    /// What it frees where it may be computable: `None` leaves it unknown for the reason given.
    pub fn frees_if(self, amount: Option<(Interval, Text)>, reason: Text) -> Self {
        match amount {
            Some((range, formula)) => self.frees(range, formula),
            None => self.frees_unknown(reason),
        }
    }

    /// Not computable here, with the figure that would settle it.
    pub fn frees_unknown(mut self, reason: Text) -> Self {
        self.frees = Frees::Unknown(reason);
        self
    }

    /// Share of throughput lost; negative where it gets faster.
    pub fn slows(mut self, low: f64, high: f64) -> Self {
        self.slowdown = (low.min(high), low.max(high));
        self
    }

    pub fn numerics(mut self, numerics: Numerics) -> Self {
        self.numerics = numerics;
        self
    }

    pub fn certainty(mut self, certainty: Certainty) -> Self {
        self.certainty = certainty;
        self
    }

    /// Multiplies the probability, for circumstances that no cause expresses.
    pub fn weight(mut self, factor: f64) -> Self {
        self.cures = (self.cures * factor).clamp(0.0, 1.0);
        self
    }

    pub fn knob(mut self, target: Target, line: impl Into<String>) -> Self {
        self.knobs.push(Knob { target, line: line.into() });
        self
    }

    /// The finished advice. The saving decides where it is known: a maximum below what is missing withholds the fix.
    pub fn because(self, why: Text) -> Advice {
        let mut cures = self.cures;
        let knobs = self.case.order(self.knobs);
        if cures < FAINTEST || knobs.is_empty() {
            return Advice::Silent;
        }
        if let Frees::Bytes { range, .. } = &self.frees {
            let reach = self.case.reach(*range);
            if reach == 0.0 {
                let most = show(range.high);
                return Advice::Withheld(match self.case.missing() {
                    Some(missing) if range.high > 0 => {
                        let least = show(missing.low);
                        text!(
                            en: "frees {most} at most, and {least} at least was missing",
                            zh: "最多释放 {most}，而至少还缺 {least}"
                        )
                    }
                    _ => text!(en: "there is nothing to free here", zh: "此处没有可释放的内存"),
                });
            }
            cures *= reach;
        }
        Advice::Offer(Offer {
            frees: self.frees,
            slowdown: self.slowdown,
            numerics: self.numerics,
            certainty: self.certainty,
            cures: cures.clamp(0.0, 1.0),
            knobs,
            why,
        })
    }
}
