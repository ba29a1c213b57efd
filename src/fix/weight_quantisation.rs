//! Narrower weights.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Precision;
use crate::text;

pub const FIX: Fix = Fix {
    id: "weight-quantisation",
    class: Class::Model,
    title: || text!(en: "Quantised weights", zh: "量化权重"),
    doc: || {
        text!(
            en: "16-bit weights take 2 bytes per parameter, 8-bit about 1, 4-bit about 0.52–0.63 (rule of thumb, with scales). Changes the model's outputs.",
            zh: "16 位权重每参数 2 字节，8 位约 1，4 位约 0.52–0.63（经验值，含缩放因子）。会改变模型输出。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !(case.on_device() || case.model_beyond_ram()) || case.diffusion() && !case.loading() {
        return Advice::Silent;
    }
    let inference = case.inference() || (case.loading() && case.learns());
    if !inference {
        return Advice::Silent;
    }
    if case.context.quantized.value() == Some(true) || matches!(case.precision(), Some(Precision::Int4)) {
        return Advice::Withheld(text!(en: "the weights are quantised already", zh: "权重已经量化"));
    }
    Draft::new(case, &[(CauseId::HostMemory, if case.model_beyond_ram() { 0.6 } else { 0.0 }), (CauseId::OtherProcess, if case.model_beyond_ram() { 0.4 } else { 0.0 }), (CauseId::Capacity, 0.5), (CauseId::KvCache, 0.35), (CauseId::FrameworkLimit, 0.1)])
        .frees_if(case.of_parameters(1.0, 1.45), text!(en: "1 to 1.45 bytes per parameter; the log does not tell their number", zh: "每参数 1 到 1.45 字节；日志没有给出参数量"))
        .slows(-0.3, 0.3)
        .numerics(Numerics::Model)
        .knob(Target::Vllm, "--quantization fp8   # or a checkpoint in AWQ/GPTQ")
        .knob(Target::Sglang, "--quantization fp8")
        .knob(Target::Tgi, "--quantize bitsandbytes-nf4")
        .knob(Target::LlamaCpp, "-m model-Q4_K_M.gguf   # a smaller quantisation")
        .knob(Target::Ollama, "ollama run MODEL:q4_K_M   # a smaller quantisation")
        .knob(Target::HfTrainer, "from_pretrained(..., quantization_config=BitsAndBytesConfig(load_in_4bit=True))")
        .knob(Target::Pytorch, "from_pretrained(..., quantization_config=BitsAndBytesConfig(load_in_4bit=True))")
        .because(join(text!(en: "weights in 4 bit take a quarter to a third of 16 bit", zh: "4 位权重只需 16 位的四分之一到三分之一"), case.situation()))
}
