//! Layers in host memory.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::{Fact, Sign};
use crate::domain::program::DeviceUse;
use crate::domain::{Number, Target};
use crate::estimate::serving::Budget;
use crate::text;
use crate::text::Text;
use crate::units::{GIB, Interval};

pub const FIX: Fix = Fix {
    id: "weight-offload",
    class: Class::Offload,
    title: || text!(en: "Keep some layers in host memory", zh: "部分层放到主机内存"),
    doc: || {
        text!(
            en: "Layers that do not fit run on the CPU or are streamed in, at 2 to 50 times their time.",
            zh: "放不下的层在 CPU 上运行或按需搬入，这些层会慢 2 到 50 倍。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_device() || !(case.inference() || case.loading() && case.learns()) {
        return Advice::Silent;
    }
    let layers = Layers::of(case);
    let fitting = layers.as_ref().and_then(Layers::fitting);
    let budget = Budget::of(&case.incident.event.facts);
    let beyond = budget.room.filter(|room| *room < 0.0).map(|room| ((GIB as f64 - room) / GIB as f64).ceil() as u64);
    let vllm = beyond.unwrap_or(8);
    if case.engine().is_some_and(|engine| engine.sizes_pool_by_device())
        && case.sign(Sign::EngineStartup)
        && case.on_gpu()
    {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (
                CauseId::Capacity,
                if case.engine().is_some_and(|engine| engine.device_use() == DeviceUse::FixedBuffers)
                    || case.diffusion()
                {
                    0.75
                } else {
                    0.35
                },
            ),
            (CauseId::KvCache, 0.2),
            // An estimate that put too many layers on the device is mended by naming fewer.
            (CauseId::FrameworkLimit, if fewer_on_gpu(case).is_some() { 0.7 } else { 0.0 }),
        ],
    )
    .frees_if(
        layers.as_ref().and_then(|layers| layers.saved(fitting?)),
        text!(en: "as many bytes as are moved; needs the size of a layer", zh: "等于移出的字节数；需要单层大小"),
    )
    .certainty(if fitting.is_some() || beyond.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
    .slows(0.2, 0.95)
    .knob(
        Target::LlamaCpp,
        fitting.map_or("--fit on   # instead of a fixed -ngl; for MoE models: --n-cpu-moe N".to_string(), |layers| {
            format!("-ngl {layers}   # or --fit on; for MoE models rather --n-cpu-moe N")
        }),
    )
    .knob(
        Target::Ollama,
        fewer_on_gpu(case).or(fitting).map_or("PARAMETER num_gpu <fewer layers>".to_string(), |layers| {
            format!("PARAMETER num_gpu {layers}   # or options: {{\"num_gpu\": {layers}}}")
        }),
    )
    .knob(Target::Vllm, format!("--cpu-offload-gb {vllm}"))
    .knob(
        Target::Diffusers,
        "pipe.enable_model_cpu_offload()   # or enable_sequential_cpu_offload(): least memory, slow",
    )
    .knob(Target::ComfyUi, "--lowvram")
    .knob(Target::SdWebUi, "--medvram   # or --lowvram")
    .knob(
        Target::Pytorch,
        "from_pretrained(..., device_map=\"auto\", max_memory={0: \"<GPU>GiB\", \"cpu\": \"<RAM>GiB\"})",
    )
    .because(join(
        text!(en: "what the GPU cannot hold can stay in host memory", zh: "显存放不下的可以留在主机内存"),
        case.situation(),
    ))
}

/// Layers that llama.cpp put on one device, with the buffer of weights that it refused.
struct Layers {
    count: f64,
    weights: f64,
    free: f64,
}

impl Layers {
    fn of(case: &Case) -> Option<Layers> {
        let event = &case.incident.event;
        let facts = &event.facts;
        let refused = event.has(Sign::WeightsBuffer);
        let weights = facts.get(Fact::Weights).or(facts.get(Fact::Requested).filter(|_| refused))?;
        let count = facts.number(Number::LayersOffloaded).or(facts.number(Number::NGpuLayers))?;
        if facts.numbers.contains_key(&Number::SplitOverDevices) {
            return None;
        }
        // All repeating layers and the output layer.
        let whole =
            facts.number(Number::LayersModel).or(facts.number(Number::LayersRepeating).map(|layers| layers + 1.0));
        let whole = whole.unwrap_or(f64::MAX);
        let free = facts.number(Number::DeviceFreeAtStart)?;
        // `-ngl 99` means all there are; how many that is must be known.
        let count = if count > whole { whole } else { count };
        (1.0..99.0).contains(&count).then_some(Layers { count, weights: weights.bytes as f64, free })
    }

    /// Layers that leave a fifth of what is free, and a GiB at least, to cache and computation.
    fn fitting(&self) -> Option<u64> {
        let room = self.free - (self.free / 5.0).max(GIB as f64);
        let fit = (room / (self.weights / self.count)).floor();
        (fit >= 1.0 && fit < self.count).then_some(fit as u64)
    }

    fn saved(&self, fitting: u64) -> Option<(Interval, Text)> {
        let saved = self.weights * (1.0 - fitting as f64 / self.count);
        let (weights, count) = (show(self.weights as i128), self.count as u64);
        Some((
            Interval::exactly(saved.max(0.0) as u64),
            text!(en: "{weights} × (1 − {fitting}/{count} layers)", zh: "{weights} × (1 − {fitting}/{count} 层)"),
        ))
    }
}

/// A tenth fewer layers than Ollama's estimate had put on the device, where that estimate proved too low.
fn fewer_on_gpu(case: &Case) -> Option<u64> {
    let facts = &case.incident.event.facts;
    facts.number(Number::RequiredPartial)?;
    let put = facts.number(Number::LayersOffloaded).filter(|put| (2.0..1e4).contains(put))?;
    Some((put * 0.9).floor() as u64)
}
