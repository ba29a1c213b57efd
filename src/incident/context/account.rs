//! What the account takes from the surroundings of a failure: the loaders' settings and what a model's states need.

use super::{Clue, Context, Phase, Platform, Precision};
use crate::account::LoaderSettings;
use crate::account::proof::ModelStates;
use crate::dialect::{Event, Resource};
use crate::estimate::states::{Optimizer, Regime};
use crate::evidence::Span;
use crate::text;

/// A model is named by a rounded number of parameters: "7B" has 6.3 to 7.7 billion.
const ROUNDED_NAME: f64 = 0.1;

impl Context {
    /// The settings of the data loaders.
    pub fn loader_settings(&self) -> LoaderSettings {
        let total = self.host_total.get();
        // Who gives the number of samples beside the size of one asks what keeping them would take.
        let asked = self.samples.span() == Some(Span::GIVEN);
        LoaderSettings {
            sample: self.sample_size.get().map(|figure| figure.interval()),
            samples: self.samples.value(),
            workers: self.workers.value(),
            processes: self.local_processes.value().or(self.world_size.value()),
            prefetch: self.prefetch.value(),
            batch: self.batch_size.value(),
            pinned: self.pin_memory.value() == Some(true),
            spawned: matches!(self.platform.value(), Some(Platform::Windows | Platform::MacOs)),
            cache: self.cache_size.get().map(|figure| figure.bytes),
            keeps_samples: self.has(Clue::SampleCache) || asked,
            given_total: total.filter(|figure| figure.at.is_given()).map(|figure| figure.interval()),
            job_limit: self.memory_limit.get().map(|figure| figure.interval()),
            machine_total: total.map(|figure| figure.interval()),
        }
    }

    /// Bytes that the model's states take on the failing device at the least and at the most, by what the log and the
    /// user tell of it. `None` where nothing tells how many parameters there are, or over how many devices they are
    /// spread.
    pub fn model_states(&self, event: &Event) -> Option<ModelStates> {
        let count = self.parameters.value().filter(|count| *count >= 1e6 && *count < 1e14)?;
        if event.resource != Resource::Gpu || self.cpu_offload.value() == Some(true) {
            return None;
        }
        let named_devices = self.visible_devices.get().map(|list| list.split(',').count());
        let devices = [
            self.world_size.value(),
            self.parallel.value(),
            named_devices.map(|count| count as u64),
            Some(self.gpus.len() as u64).filter(|count| *count > 0),
        ];
        let devices = match devices.into_iter().flatten().max() {
            Some(count) => count.max(1),
            // A second device is named, and nobody says how many there are.
            None if event.facts.device.value().unwrap_or(0) > 0 || event.rank.or(self.rank.value()).is_some() => {
                return None;
            }
            None => 1,
        };
        let adapters = self.lora.value() == Some(true);
        let named_width = self.quantised_width();
        let quantized = self.quantized.value() == Some(true) || named_width.is_some();
        let weights = match self.precision.value() {
            _ if quantized => named_width.unwrap_or((0.5, 1.2)),
            Some(Precision::Fp32) => (4.0, 4.0),
            // Autocast keeps 32-bit weights; a launcher's "mixed" keeps 16-bit ones and 32-bit masters.
            Some(Precision::Mixed) => (2.0, 4.0),
            Some(Precision::Fp16 | Precision::Bf16) => (2.0, 4.0),
            Some(Precision::Int8 | Precision::Fp8) => (1.0, 2.0),
            Some(Precision::Int4) => (0.5, 1.0),
            None => (0.5, 4.0),
        };
        let learning = matches!(self.phase.value(), Some(Phase::Backward | Phase::OptimizerStep | Phase::Train));
        let optimizer = self.optimizer.get().and_then(|name| Optimizer::named(name));
        let (each, made_of, spans) = match optimizer.filter(|_| learning && !adapters && !quantized) {
            Some(optimizer) => {
                // Weights, gradients and states of 16 bit are the least; with 32-bit weights or masters they are the
                // most.
                let most = Regime::full_precision(optimizer).sum();
                let least = match self.precision.value() {
                    Some(Precision::Fp32) => most,
                    // Its state is of 8 bit whatever the weights are.
                    _ if optimizer == Optimizer::Adam8bit => 4.0 + optimizer.state(),
                    _ => 4.0 + optimizer.state() / 2.0,
                };
                let of = text!(en: "weights, gradients, optimizer states", zh: "权重、梯度、优化器状态");
                ((least, most), of, self.optimizer.span())
            }
            None => (weights, text!(en: "weights", zh: "权重"), self.precision.span()),
        };
        let margin = if count % 1e7 == 0.0 { ROUNDED_NAME } else { 0.0 };
        let mut lines: Vec<u64> = [self.parameters.span(), spans]
            .into_iter()
            .flatten()
            .filter(|span| !span.is_given())
            .map(|span| span.first)
            .collect();
        lines.sort_unstable();
        lines.dedup();
        Some(ModelStates {
            parameters: (count * (1.0 - margin), count * (1.0 + margin)),
            // Spread evenly over the devices, which sharding, pipelines and tensor parallelism at best do.
            bytes_each: (each.0 / devices as f64, each.1),
            made_of,
            lines,
        })
    }
}
