//! Layers in host memory.

use super::prelude::*;
use crate::estimate::serving::Budget;

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
    helps: &[Work::Serving, Work::Inference, Work::Training],
    needs: &[Need::Device, Need::Short],
    applies: |case| {
        let learns_later = case.loading()
            && case.learns()
            && (case.pretrained() || case.sign(Sign::Initializer) || !case.named_for_training());
        // What Metal lets one device use is less than the memory that it shares: weights alone go past that.
        let apart = !case.apple() || case.sign(Sign::WeightsBuffer);
        case.on_device()
            && (case.inference() || learns_later)
            && !case.in_exllamas_form()
            // CTranslate2 converts models to a form of its own, which is on one device as a whole.
            && case.incident.event.program != Program::FasterWhisper
            && [Number::LayersOffloaded, Number::NGpuLayers]
                .iter()
                .all(|layers| case.incident.event.facts.number(*layers) != Some(0.0))
            && !case.context.origin.loaded_in_parts
            // What is kept of the data before training is made by the smallest of the models.
            && !case.context.caches_data()
            // The networks that predict structures are small beside what they make of a chain.
            && case.subject() != Some(Subject::Proteins)
            // All of what a script trains takes part in each step.
            && (!case.named_for_training() || case.adapters() || case.engine().is_some())
            && apart
            && !case.ranks_read_one_device()
    },
    costs: Costs { slows: (0.2, 0.95), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "--cpu-offload-gb {vllm}"),
        line(Target::Diffusers, "pipe.enable_model_cpu_offload()")
            .note(
                "or enable_sequential_cpu_offload(): least memory, slow",
                "或 enable_sequential_cpu_offload()：最省显存，但慢",
            )
            .when("pipe"),
        line(Target::ComfyUi, "--lowvram").unless("forge"),
        line(Target::ComfyUi, "--always-low-vram").when("forge"),
        line(Target::SdWebUi, "--medvram").note("or --lowvram", "或 --lowvram").unless("forge"),
        line(Target::SdWebUi, "--always-low-vram").when("forge"),
        line(
            Target::Pytorch,
            "from_pretrained(..., device_map=\"auto\", max_memory={0: \"<GPU>GiB\", \"cpu\": \"<RAM>GiB\"})",
        )
        .when("pretrained"),
        said(
            Target::Pytorch,
            "keep some layers on the CPU, and move each to the device while it runs",
            "把部分层留在 CPU，运行时再移到设备",
        )
        .when("own-model"),
        said(
            Target::Program,
            "weights that wait in host memory, by the program's own option where it has one",
            "让部分权重留在主机内存：使用程序自带的选项（若有）",
        )
        .when("installed"),
        line(Target::TensorFlow, "with tf.device(\"/cpu:0\"):")
            .note(
                "around the variable that does not fit; its optimizer's slots follow it",
                "包住放不下的变量；优化器为它建的槽也随之放在主机",
            )
            .when("initializer"),
        line(Target::LlamaCpp, "-ngl {layers}")
            .note("for MoE models rather --n-cpu-moe N", "MoE 模型宜用 --n-cpu-moe N"),
        line(Target::LlamaCpp, "-ngl <fewer layers>").unless("fitting"),
        line(Target::Ollama, "PARAMETER num_gpu {ollama_layers}")
            .note("or options: {\"num_gpu\": {ollama_layers}}", "或 options: {\"num_gpu\": {ollama_layers}}"),
        line(Target::Ollama, "PARAMETER num_gpu <fewer layers>").unless("ollama-layers"),
    ],
    fixtures: &["llama.cpp/model", "ollama/estimate", "fix/variable-slot"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.brings_weights_back() {
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
    let fixed = case.engine().is_some_and(|engine| engine.device_use() == DeviceUse::FixedBuffers);
    let ollama = fewer_on_gpu(case).or(fitting);
    let draft = Draft::new(case, &FIX)
        .when("fixed-buffers", fixed || case.diffusion())
        // Forge has parts of ComfyUI within, and options of its own.
        .when("forge", case.context.frames.iter().any(|frame| frame.path().to_ascii_lowercase().contains("forge")))
        .when("fitting", fitting.is_some())
        // An engine's cache has no layers, and its model none that transformers would place.
        .when("pretrained", case.pretrained() && !case.builds_a_model() && !case.pipeline() && !case.within_an_engine())
        .when(
            "own-model",
            (!case.pretrained() || case.builds_a_model()) && case.comes_in_forms() && !case.loads_by_name(),
        )
        .when("ollama-layers", ollama.is_some())
        .when("overfull", fewer_on_gpu(case).is_some())
        .when("initializer", case.sign(Sign::Initializer))
        .frees_if(
            layers.as_ref().and_then(|layers| layers.saved(fitting?)),
            text!(en: "as many bytes as are moved; needs the size of a layer", zh: "等于移出的字节数；需要单层大小"),
        )
        .certainty(if fitting.is_some() || beyond.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .fill("vllm", vllm);
    let draft = fitting.into_iter().fold(draft, |draft, layers| draft.fill("layers", layers));
    let draft = ollama.into_iter().fold(draft, |draft, layers| draft.fill("ollama_layers", layers));
    draft.because(join(
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
