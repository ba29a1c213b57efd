//! The largest batch that fits, in few runs.
//!
//! Rests on one assumption, which the report states: a larger batch never needs less. Peaks lie close to a line over
//! the batch, so each guess is where the line through the measured peaks meets what may be used; where guesses do not
//! help, the interval is halved.

/// Runs at most in one search.
pub const MOST_RUNS: usize = 20;
/// The first batch to try, where the range allows: at one or two samples the optimizer's step can be the peak, which
/// says nothing of the slope.
const FIRST: u64 = 4;
/// The search ends when what is left open is this small a part of the batch.
const FINE: u64 = 64;

/// What a run told the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    pub fits: bool,
    /// Bytes needed; `None` where it ran out of memory.
    pub needed: Option<f64>,
}

/// A search between two batches, both included.
#[derive(Debug, Clone)]
pub struct Search {
    low: u64,
    high: u64,
    first: u64,
    /// Bytes that may be used.
    usable: f64,
    /// Batch and what came of it, sorted by batch.
    trials: Vec<(u64, Trial)>,
    /// Whether the run before was at an end of what was open: two of those in a row creep.
    at_end: bool,
    /// A guess beyond the upper end has led nowhere: only halving is left.
    misled: bool,
}

impl Search {
    /// `low` and `high` are at least 1 and in order.
    pub fn new(low: u64, high: u64, usable: f64) -> Search {
        let (low, high) = (low.max(1), high.max(low.max(1)));
        Search { low, high, first: FIRST, usable, trials: Vec::new(), at_end: false, misled: false }
    }

    /// Begins with this batch, which is asked about whether it fits or not.
    pub fn starting_with(self, batch: Option<u64>) -> Search {
        Search { first: batch.unwrap_or(self.first), ..self }
    }

    fn best(&self) -> Option<u64> {
        self.trials.iter().rev().find(|(_, trial)| trial.fits).map(|(batch, _)| *batch)
    }

    /// The smallest batch above all that fit which did not.
    fn worst(&self) -> Option<u64> {
        let best = self.best().unwrap_or(0);
        self.trials.iter().find(|(batch, trial)| !trial.fits && *batch > best).map(|(batch, _)| *batch)
    }

    /// Batches still open, from the one above the best to the one below the worst.
    fn open(&self) -> (u64, u64) {
        let from = self.best().map_or(self.low, |best| best + 1);
        let to = self.worst().map_or(self.high, |worst| worst - 1);
        (from, to.min(self.high))
    }

    /// Takes the result of a run.
    pub fn note(&mut self, batch: u64, trial: Trial) {
        let (from, to) = self.open();
        self.at_end = batch == to || (batch == from && self.best().is_some());
        self.misled |= batch == to && batch > from && !trial.fits;
        let at = self.trials.partition_point(|(other, _)| *other < batch);
        self.trials.insert(at, (batch, trial));
    }

    /// The batch to run next; `None` when the answer is known.
    pub fn next(&self) -> Option<u64> {
        let (from, to) = self.open();
        if from > to || self.trials.len() >= MOST_RUNS {
            return None;
        }
        let Some(best) = self.best() else {
            // Nothing fitted yet.
            return Some(match self.worst() {
                None => self.first.clamp(from, to),
                Some(_) if to <= 2 => from,
                Some(_) => self.guess().unwrap_or(to / 2).clamp(from, to),
            });
        };
        if let Some(worst) = self.worst()
            && worst - best <= (best / FINE).max(1)
        {
            return None;
        }
        let guess = self.guess().unwrap_or(best.saturating_mul(2)).clamp(from, to);
        let creeping = (self.at_end && (guess == from || guess == to)) || (self.misled && guess == to);
        let guess = match self.worst() {
            _ if !creeping => guess,
            Some(_) => from + (to - from) / 2,
            None if guess == from => best + (best / 8).max(2),
            None => guess,
        };
        Some(guess.clamp(from, to))
    }

    /// Where the line through the two largest measured peaks meets what may be used.
    fn guess(&self) -> Option<u64> {
        let measured: Vec<(f64, f64)> =
            self.trials.iter().filter_map(|(batch, trial)| Some((*batch as f64, trial.needed?))).collect();
        let (&(x2, y2), rest) = measured.split_last()?;
        // Neighbours differ by the allocator's rounding as much as by the sample.
        let &(x1, y1) = rest.iter().rev().find(|(x, _)| x2 >= 1.25 * x).or(rest.first())?;
        let slope = (y2 - y1) / (x2 - x1);
        if slope.is_nan() || slope <= 0.0 {
            return None;
        }
        Some((x2 + (self.usable - y2) / slope).floor().clamp(0.0, self.high as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where a batch needs `needed(batch)` of 1000 and runs out of memory above 1050; the runs it took and the
    /// largest batch that fitted.
    fn search(low: u64, high: u64, needed: impl Fn(u64) -> f64) -> (Vec<u64>, Option<u64>) {
        let mut search = Search::new(low, high, 1000.0);
        let mut runs = Vec::new();
        while let Some(batch) = search.next() {
            assert!((low..=high).contains(&batch) && !runs.contains(&batch), "{runs:?} {batch}");
            runs.push(batch);
            let needed = needed(batch);
            search.note(batch, Trial { fits: needed <= 1000.0, needed: (needed <= 1050.0).then_some(needed) });
        }
        (runs, search.best())
    }

    #[test]
    fn a_straight_line_takes_four_runs() {
        let (runs, best) = search(1, 64, |batch| 100.0 + 33.0 * batch as f64);
        assert_eq!(best, Some(27));
        assert!(runs.len() <= 4, "{runs:?}");
    }

    #[test]
    fn nothing_fits_or_everything() {
        assert_eq!(search(1, 64, |_| 2000.0).1, None);
        assert_eq!(search(1, 64, |batch| batch as f64).1, Some(64));
        assert_eq!(search(1, 1, |_| 10.0), (vec![1], Some(1)));
        assert_eq!(search(1, 64, |batch| 999.0 * batch as f64).1, Some(1));
        assert_eq!(search(32, 64, |batch| 100.0 * batch as f64), (vec![32], None));
    }

    #[test]
    fn every_threshold_of_every_shape_is_found() {
        for limit in 1..=128u64 {
            let steps = |batch: u64| if batch <= limit { 500.0 } else { 2000.0 };
            let line = |batch: u64| 200.0 + 800.0 / limit as f64 * batch as f64;
            let square = |batch: u64| 1000.0 * (batch * batch) as f64 / (limit * limit) as f64;
            let floor = |batch: u64| f64::max(900.0, 1000.0 / limit as f64 * batch as f64);
            for (name, shape) in
                [("steps", &steps as &dyn Fn(u64) -> f64), ("line", &line), ("square", &square), ("floor", &floor)]
            {
                let (runs, best) = search(1, 128, shape);
                let exact = (1..=128).rev().find(|batch| shape(*batch) <= 1000.0).unwrap();
                let best = best.unwrap();
                assert!(best <= exact && exact - best <= best / FINE, "{name} {limit}: {runs:?}");
                assert!(runs.len() <= 14, "{name} {limit}: {runs:?}");
            }
        }
    }
}
