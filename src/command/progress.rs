//! A progress bar for reads that take long enough to wonder about.

use crate::input::Source;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Reads shorter than this need no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// One bar over all inputs, on standard error, drawn only where that is a terminal and reading takes long.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    wanted: bool,
}

impl Progress {
    pub fn new(sources: &[Source]) -> Progress {
        let pasting = sources.contains(&Source::Stdin) && std::io::stdin().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bytes} {binary_bytes_per_sec}") {
            bar.set_style(style);
        }
        Progress { bar, started: Instant::now(), wanted: !pasting && std::io::stderr().is_terminal() }
    }

    /// The callback for one input.
    pub fn meter(&self) -> impl FnMut(u64, Option<u64>) {
        let mut before = 0;
        let mut length_known = false;
        let (bar, started, wanted) = (self.bar.clone(), self.started, self.wanted);
        move |read: u64, of: Option<u64>| {
            if !wanted {
                return;
            }
            if let Some(of) = of
                && !length_known
            {
                length_known = true;
                bar.inc_length(of);
                if let Ok(style) = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {eta}") {
                    bar.set_style(style);
                }
            }
            bar.inc(read.saturating_sub(before));
            before = read;
            if bar.is_hidden() && started.elapsed() >= PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A count of simulations, drawn only where standard error is a terminal and they take long.
pub struct Sweep {
    bar: ProgressBar,
    started: Instant,
    wanted: bool,
}

impl Sweep {
    pub fn new() -> Sweep {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} what-ifs simulated, {elapsed}") {
            bar.set_style(style);
        }
        Sweep { bar, started: Instant::now(), wanted: std::io::stderr().is_terminal() }
    }

    /// One more is done.
    pub fn step(&self) {
        if self.wanted && self.bar.is_hidden() && self.started.elapsed() >= PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
