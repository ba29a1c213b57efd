//! The peak as a function of batch and sequence, from points that differ in both.
//!
//! ```text
//! peak(b, s) = c + k₁·b·s + k₂·b·s²
//! ```
//!
//! Fused attention has k₂ = 0; written-out scores make it positive. Least squares tell the two apart where at least
//! three points with two lengths are given.

use super::peak::{HELD_BEYOND, HELD_FLOOR, Peak};
use crate::units::MIB;

/// A peak measured at a batch and a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub batch: u64,
    /// Tokens.
    pub sequence: u64,
    /// Bytes allocated.
    pub bytes: f64,
}

/// The fitted peak at one sequence length.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    pub samples: Vec<Sample>,
    /// Bytes whatever batch and length.
    pub constant: f64,
    /// Bytes per token.
    pub linear: f64,
    /// Bytes per token and token of the sequence.
    pub quadratic: f64,
    /// Largest distance of a sample from the fit, as a share.
    scatter: f64,
    /// Tokens of the question.
    pub sequence: u64,
}

/// Solves three equations by elimination with pivoting; `None` where they are not independent.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for at in 0..3 {
        let pivot = (at..3).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-9 {
            return None;
        }
        for other in 0..3 {
            if other != at {
                let factor = rows[other][at] / rows[at][at];
                let pivot = rows[at];
                for (value, of_pivot) in rows[other].iter_mut().zip(pivot) {
                    *value -= factor * of_pivot;
                }
            }
        }
    }
    Some([rows[0][3] / rows[0][0], rows[1][3] / rows[1][1], rows[2][3] / rows[2][2]])
}

impl Surface {
    /// Fits the samples for questions about `sequence`. `None` with fewer than three, a single length, or where they do
    /// not determine a growing peak.
    pub fn fit(samples: Vec<Sample>, sequence: u64) -> Option<Surface> {
        let lengths: std::collections::BTreeSet<u64> = samples.iter().map(|sample| sample.sequence).collect();
        if samples.len() < 3 || lengths.len() < 2 {
            return None;
        }
        // In units of the largest values, so that the equations are of one size.
        let most = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(of).fold(0.0, f64::max);
        let tokens = |sample: &Sample| sample.batch as f64 * sample.sequence as f64;
        let (t, s, p) = (most(&tokens), most(&|sample| sample.sequence as f64), most(&|sample| sample.bytes));
        let with = |square: f64| {
            let mut rows = [[0.0; 4]; 3];
            for sample in &samples {
                let x = [1.0, tokens(sample) / t, square * tokens(sample) / t * sample.sequence as f64 / s];
                for (i, row) in rows.iter_mut().enumerate() {
                    for (j, other) in x.iter().enumerate() {
                        row[j] += x[i] * other;
                    }
                    row[3] += x[i] * sample.bytes / p;
                }
            }
            if square == 0.0 {
                rows[2] = [0.0, 0.0, 1.0, 0.0];
            }
            solve(rows)
        };
        let whole = with(1.0).filter(|[_, linear, square]| *square > 0.0 && *linear >= 0.0);
        let [c, linear, square] = whole.or_else(|| with(0.0))?;
        if !(linear >= 0.0 && linear + square > 0.0) {
            return None;
        }
        let mut out = Surface {
            constant: c.max(0.0) * p,
            linear: linear * p / t,
            quadratic: square * p / (t * s),
            scatter: 0.0,
            sequence,
            samples,
        };
        let off = |sample: &Sample| (out.at(sample.batch, sample.sequence) / sample.bytes - 1.0).abs();
        out.scatter = out.samples.iter().map(off).fold(0.0, f64::max);
        Some(out)
    }

    fn at(&self, batch: u64, sequence: u64) -> f64 {
        let (b, s) = (batch as f64, sequence as f64);
        self.constant + b * s * (self.linear + self.quadratic * s)
    }

    /// True where written-out attention shows: at the longest sample its part exceeds a twentieth.
    pub fn is_quadratic(&self) -> bool {
        let longest = self.samples.iter().max_by_key(|sample| sample.sequence);
        longest.is_some_and(|sample| {
            let s = sample.sequence as f64;
            self.quadratic * s * s * sample.batch as f64 > 0.05 * sample.bytes
        })
    }

    /// The peak at a batch of sequences of the length asked about.
    pub fn peak(&self, batch: u64) -> Peak {
        let expected = self.at(batch, self.sequence);
        let largest = self.samples.iter().map(|sample| sample.bytes).fold(1.0, f64::max);
        // Three points determine the three numbers whatever their noise; beyond them it is enlarged.
        let least = if self.samples.len() > 3 { 0.02 } else { 0.05 };
        let beyond = (expected / largest).max(1.0);
        let share = (least + self.scatter) * beyond.min(10.0);
        Peak::ordered(
            expected * (1.0 - share).max(0.1),
            expected * HELD_BEYOND + HELD_FLOOR,
            expected * (1.2 + share) + 400.0 * MIB as f64,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: impl Fn(f64, f64) -> f64) -> Vec<Sample> {
        [(1, 512), (2, 512), (1, 2048), (4, 1024)]
            .map(|(batch, sequence)| Sample { batch, sequence, bytes: of(batch as f64, sequence as f64) })
            .to_vec()
    }

    #[test]
    fn linear_and_quadratic_growth_are_told_apart() {
        let flash = Surface::fit(samples(|b, s| 2e9 + 1e6 * b * s), 4096).expect("a fit");
        assert!(!flash.is_quadratic());
        assert!((flash.at(1, 4096) / (2e9 + 1e6 * 4096.0) - 1.0).abs() < 1e-6);
        let eager = Surface::fit(samples(|b, s| 2e9 + 1e6 * b * s + 2e3 * b * s * s), 4096).expect("a fit");
        assert!(eager.is_quadratic());
        assert!((eager.quadratic / 2e3 - 1.0).abs() < 1e-6);
        assert!(eager.peak(1).high > flash.peak(1).high * 2.0);
    }

    #[test]
    fn too_little_is_no_fit() {
        assert!(Surface::fit(samples(|_, _| 1e9), 512).is_none_or(|fit| fit.peak(1).high.is_finite()));
        let one_length = vec![Sample { batch: 1, sequence: 8, bytes: 1e9 }; 4];
        assert_eq!(Surface::fit(one_length, 8), None);
    }

    const MEBIBYTE: f64 = MIB as f64;

    #[test]
    fn the_high_end_holds_what_libraries_take_even_of_the_smallest() {
        let small = Surface::fit(samples(|b, s| MEBIBYTE + b * s), 512).expect("a fit");
        assert!(small.peak(1).high > 400.0 * MEBIBYTE, "{:?}", small.peak(1));
    }

    #[test]
    fn what_was_measured_is_known_to_a_fiftieth_and_what_lies_far_beyond_to_a_fifth() {
        let surface = Surface::fit(samples(|b, s| 2e9 + 1e6 * b * s), 2048).expect("a fit");
        let down = |batch: u64| 1.0 - surface.peak(batch).low / surface.at(batch, 2048);
        assert!((down(1) - 0.02).abs() < 1e-6, "{}", down(1));
        assert!((down(10_000) - 0.2).abs() < 1e-6, "{}", down(10_000));
    }
}
