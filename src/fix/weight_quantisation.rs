//! Narrower weights.

use super::prelude::*;
use crate::cause::nature::takes_share_of_free;
use crate::domain::trainer::Purpose;
use crate::incident::release;

pub const FIX: Fix = Fix {
    id: "weight-quantisation",
    class: Class::Model,
    title: || text!(en: "Weights of fewer bits (quantised)", zh: "降低权重位宽（量化）"),
    doc: || {
        text!(
            en: "16-bit weights take 2 bytes per parameter, 8-bit about 1, 4-bit about 0.52–0.63 (rule of thumb, \
                 with scales). Changes the model's outputs.",
            zh: "16 位权重每参数 2 字节，8 位约 1，4 位约 0.52–0.63（经验值，含缩放因子）。会改变模型输出。"
        )
    },
    helps: &[Work::Serving, Work::Inference, Work::Training, Work::Build],
    needs: &[Need::Short],
    applies: |case| {
        (case.on_device() || case.model_beyond_ram())
            && (!case.diffusion() || case.loading())
            // Variables in the making come from no checkpoint that could be narrower.
            && !case.sign(Sign::Initializer)
            && !case.compares_at_start()
            // In the midst of requests a pool holds what the weights leave: narrower ones make it larger.
            && !(case.on_gpu() && case.phase() == Some(Phase::Inference) && pools(case))
            // What it draws in has nothing to do with the weights' width.
            && !(case.clue(Clue::StableDiffusionCpp) && case.phase() == Some(Phase::Inference))
            // Of what narrower weights leave free a pool takes the same share.
            && !takes_share_of_free(case.incident)
            // A network of the script's own class has no form of fewer bits to load.
            && !case.placed().is_some_and(|made| made != "from_pretrained" && !case.pretrained())
            // Nor has one that is made anew, to be trained.
            && !(case.builds_a_model() && case.training())
            && (case.comes_in_forms() || case.loads_by_name())
            // What a script trains as a whole has no quantised form.
            && (!case.named_for_training() || case.adapters() || case.engine().is_some())
            // One request beyond the device, while a model answers, is no weight's.
            && (case.loading() || case.engine().is_some() || !case.still_beyond(1.0))
            // Weights whose optimizer is put back are trained on.
            && !case.restores_an_optimizer()
    },
    costs: Costs { slows: (-0.3, 0.3), numerics: Numerics::Model },
    knobs: &[
        line(Target::Vllm, "--quantization fp8")
            .note("or a checkpoint in AWQ/GPTQ", "或使用 AWQ/GPTQ 检查点")
            .unless("before-ampere"),
        // Its kernels computed in float16 alone.
        line(Target::Vllm, "--quantization awq --dtype half")
            .note("with a checkpoint in AWQ", "配合 AWQ 检查点")
            .when("early"),
        line(Target::Vllm, "--quantization gptq")
            .note("with a checkpoint in GPTQ", "配合 GPTQ 检查点")
            .when("before-ampere"),
        line(Target::Sglang, "--quantization fp8").unless("before-ampere"),
        line(Target::Sglang, "--quantization gptq")
            .note("with a checkpoint in GPTQ", "配合 GPTQ 检查点")
            .when("before-ampere"),
        line(Target::Tgi, "--quantize bitsandbytes-nf4"),
        line(Target::LlamaCpp, "{gguf} model-{narrower}.gguf").note("a smaller quantisation", "更小的量化版本"),
        line(Target::Ollama, "ollama run MODEL:{tag}").note("a smaller quantisation", "更小的量化版本"),
        said(
            Target::Ollama,
            "run a tag of fewer bits, such as q4_K_M: the weights have 16",
            "换位数更少的标签（例如 q4_K_M）：现在的权重是 16 位",
        )
        .when("sixteen"),
        line(Target::Ollama, "ollama show MODEL")
            .note(
                "prints the quantisation, 4 bits unless chosen otherwise; then run a tag with fewer",
                "显示当前量化（默认 4 位）；再换位数更少的标签",
            )
            .unless("width"),
        line(Target::Ollama, "ollama show --modelfile MODEL")
            .note("names the file; then run a tag with fewer bits", "显示所用文件；再换位数更少的标签")
            .unless("width")
            .older(),
        said(
            Target::Program,
            "a smaller or narrower variant of the model, where the program offers one",
            "更小的模型或更低位宽的版本（若程序提供）",
        )
        .when("installed"),
        said(Target::Program, "a narrower quantisation of the same model", "同一模型的更小量化版本")
            .unless("installed")
            .when("forms"),
        line(
            Target::Diffusers,
            "PipelineQuantizationConfig(quant_backend=\"bitsandbytes_4bit\", quant_kwargs={\"load_in_4bit\": True})",
        )
        .note(
            "as quantization_config of Pipeline.from_pretrained()",
            "作为 Pipeline.from_pretrained() 的 quantization_config",
        )
        .when("recent-pipeline"),
        said(
            Target::Diffusers,
            "load the largest parts in 8 or 4 bits: the transformer or U-Net and the text encoder",
            "以 8 或 4 位加载最大的部分：transformer 或 U-Net，以及文本编码器",
        ),
        line(Target::HfTrainer, "from_pretrained(..., quantization_config=BitsAndBytesConfig(load_in_4bit=True))"),
        line(Target::Pytorch, "from_pretrained(..., quantization_config=BitsAndBytesConfig(load_in_4bit=True))")
            .when("pretrained"),
        said(
            Target::Pytorch,
            "load the weights in fewer bits: 16 instead of 32, or 8 or 4 where the model has such a form",
            "以更低位宽加载权重：用 16 位代替 32 位；模型有 8 位或 4 位版本时用之",
        )
        .when("own-model"),
        said(
            Target::Pytorch,
            "load the weights in 8 or 4 bits instead of 16, where the model has such a form, or a smaller model",
            "模型有 8 位或 4 位版本时用其代替 16 位，或换更小的模型",
        )
        .when("own-model-in-16"),
        said(Target::Pytorch, "a smaller model, where the library has one", "库中有更小的模型时换用").when("by-name"),
        said(Target::Pytorch, "a form of the same model with fewer bits per weight", "同一模型每权重位数更少的版本")
            .when("narrower"),
    ],
    fixtures: &["pytorch/private-pools", "sglang/fraction"],
    advise,
};

/// True where an engine fills with its pool what weights leave of the device.
fn pools(case: &Case) -> bool {
    let of_free = |engine: Program| matches!(engine.device_use(), DeviceUse::PoolOfFree { .. });
    case.engine().is_some_and(|engine| engine.sizes_pool_by_device() || of_free(engine))
}

/// The option that names the model's file in the command: `-m` of llama.cpp's own programs, `-ml` of others made of it.
fn option_of_the_model<'a>(case: &Case<'a>) -> &'a str {
    let command = case.context.command.get().map(String::as_str).unwrap_or_default();
    let words: Vec<&str> = command.split_whitespace().collect();
    let named = words.windows(2).find(|pair| pair[0].starts_with('-') && pair[1].trim_matches('"').ends_with(".gguf"));
    named.map_or("-m", |pair| pair[0])
}

fn advise(case: &Case) -> Advice {
    let fills = case.weights_fill() && !case.training();
    let inference = case.inference()
        || fills
        || (case.loading() && case.learns() && (case.pretrained() || !case.named_for_training()));
    if !inference || case.brings_weights_back() {
        return Advice::Silent;
    }
    // A trainer quantises the base under its adapters.
    if case.trainer().is_some_and(|trainer| trainer.purpose() == Purpose::Training)
        || case.phase() == Some(Phase::Decode)
    {
        return Advice::Silent;
    }
    let narrower = case.in_several_widths();
    if case.quantised() && !narrower
        || case.in_its_narrowest_width()
        || matches!(case.precision(), Some(Precision::Int4))
    {
        return Advice::Withheld(text!(en: "the weights are quantised already", zh: "权重已经量化"));
    }
    let width = case.context.gguf_bits();
    if width.is_some_and(|bits| bits <= 2) {
        return Advice::Withheld(text!(en: "the weights have 2 bits already", zh: "权重已是 2 位"));
    }
    // bitsandbytes has no kernels for Apple's devices.
    let pretrained = case.pretrained() && !case.apple() && !case.builds_a_model() && !narrower && !case.pipeline();
    let by_name = case.loads_by_name() && !case.pretrained();
    let in_16 = matches!(case.precision(), Some(Precision::Fp16 | Precision::Bf16));
    let next = match width {
        Some(3) => "Q2_K",
        Some(4) => "Q3_K_M",
        _ => "Q4_K_M",
    };
    let draft = Draft::new(case, &FIX)
        .fill("narrower", next)
        .fill("gguf", option_of_the_model(case))
        .when("width", width.is_some() || case.context.origin.weights_in_16_bit);
    let draft = if width.is_some() { draft.fill("tag", next.replacen('Q', "q", 1)) } else { draft };
    draft
        .when("sixteen", case.context.origin.weights_in_16_bit && width.is_none())
        .when("recent-pipeline", !case.apple() && release::shows(case.incident, "PipelineQuantizationConfig"))
        .when("pretrained", pretrained)
        .when("narrower", narrower)
        .when("forms", case.engine().is_some() || case.quantised() || narrower || case.of_a_language_model())
        .when("own-model", !pretrained && !narrower && !in_16 && !by_name)
        .when("own-model-in-16", !pretrained && !narrower && in_16 && !by_name)
        .when("by-name", by_name)
        .when("fills", fills)
        .when("beyond-ram", case.model_beyond_ram())
        // AWQ's kernels need more than Volta has.
        .when("early", case.clue(Clue::EarlyVllm) && !case.clue(Clue::BeforeAmpere))
        .frees_if(
            // From which width it comes is known of whole weights only.
            case.of_parameters(1.0, 1.45).filter(|_| !narrower),
            text!(
                en: "1 to 1.45 bytes per parameter of 16 bit; the log does not tell their number, or they are \
                     narrower",
                zh: "每个 16 位参数 1 到 1.45 字节；日志没有给出参数量，或权重位宽已更窄"
            ),
        )
        .because(join(
            text!(
                en: "weights in 4 bit take a quarter to a third of 16 bit",
                zh: "4 位权重只需 16 位的四分之一到三分之一"
            ),
            case.situation(),
        ))
}
