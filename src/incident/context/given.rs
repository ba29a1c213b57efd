//! What the user says about the run, which counts more than what the log seems to say.

use super::{Context, Precision};
use crate::evidence::{Known, Span};
use crate::units::Figure;

/// Values given by the user, each `None` where nothing was given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    /// Samples per step and process.
    pub batch_size: Option<u64>,
    pub accumulation: Option<u64>,
    pub sequence_length: Option<u64>,
    /// Pixels of the larger side.
    pub image_size: Option<u64>,
    /// Data-loading workers per process.
    pub workers: Option<u64>,
    /// Batches that each worker keeps ready.
    pub prefetch: Option<u64>,
    /// Training processes on this node.
    pub processes: Option<u64>,
    pub sample_bytes: Option<u64>,
    pub samples: Option<u64>,
    pub cache_bytes: Option<u64>,
    /// RAM of the machine.
    pub host_bytes: Option<u64>,
    /// Number of parameters of the model.
    pub parameters: Option<f64>,
    pub optimizer: Option<String>,
    pub precision: Option<Precision>,
}

impl Given {
    /// True when the figures describe data loaders against the host's memory, so that there is something to compute
    /// even without a message in the log.
    pub fn describes_loaders(&self) -> bool {
        self.workers.is_some() && self.sample_bytes.is_some() && self.host_bytes.is_some()
    }
}

impl Context {
    /// Puts the user's values in place of those read from the log. They carry [`Span::GIVEN`] as their place.
    pub fn override_with(&mut self, given: &Given) {
        put(&mut self.batch_size, given.batch_size);
        put(&mut self.accumulation, given.accumulation);
        put(&mut self.sequence_length, given.sequence_length);
        put(&mut self.image_size, given.image_size);
        put(&mut self.workers, given.workers);
        put(&mut self.prefetch, given.prefetch);
        put(&mut self.local_processes, given.processes);
        put(&mut self.sample_size, given.sample_bytes.map(exactly));
        put(&mut self.samples, given.samples);
        put(&mut self.cache_size, given.cache_bytes.map(exactly));
        put(&mut self.host_total, given.host_bytes.map(exactly));
        put(&mut self.parameters, given.parameters);
        put(&mut self.optimizer, given.optimizer.clone());
        put(&mut self.precision, given.precision);
    }
}

fn exactly(bytes: u64) -> Figure {
    Figure { bytes, half_width: 0, at: Span::GIVEN }
}

fn put<T>(slot: &mut Known<T>, value: Option<T>) {
    if let Some(value) = value {
        *slot = Known::Seen(value, Span::GIVEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_gives_replaces_what_the_log_says() {
        let mut context = Context { workers: Known::Seen(4, Span::line(7)), ..Context::default() };
        context.batch_size = Known::Seen(16, Span::line(3));
        context.override_with(&Given { workers: Some(36), sample_bytes: Some(1000), ..Given::default() });
        assert_eq!(context.workers, Known::Seen(36, Span::GIVEN));
        assert_eq!(context.batch_size, Known::Seen(16, Span::line(3)));
        assert!(context.sample_size.span().unwrap().is_given());
    }
}
