//! Compute in 16 bit.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Precision;
use crate::text;

pub const FIX: Fix = Fix {
    id: "mixed-precision",
    class: Class::Precision,
    title: || text!(en: "Mixed precision (bf16 autocast)", zh: "混合精度（bf16 autocast）"),
    doc: || {
        text!(
            en: "Halves most activations; the 32-bit weights stay and gain a 16-bit copy of 2 bytes per parameter, so a large model at a tiny batch can even grow. bf16 needs Ampere or newer to be fast; fp16 needs a loss scaler.",
            zh: "大部分激活减半；32 位权重保留，并多出每参数 2 字节的 16 位副本，所以极小批的大模型反而可能变大。bf16 在 Ampere 及更新的卡上才快；fp16 需要 loss scaler。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.learns() || case.loading() || case.engine().is_some() {
        return Advice::Silent;
    }
    match case.precision() {
        Some(Precision::Fp32) => {}
        Some(_) => {
            return Advice::Withheld(
                text!(en: "it computes in 16 bit or less already", zh: "已在 16 位或更低精度下计算"),
            );
        }
        None => {}
    }
    if case.context.quantized.value() == Some(true) {
        return Advice::Silent;
    }
    let known = if case.precision() == Some(Precision::Fp32) { 1.0 } else { 0.6 };
    Draft::new(case, &[(CauseId::Capacity, 0.5), (CauseId::TransientPeak, 0.35), (CauseId::SingleHugeAllocation, 0.2), (CauseId::Fragmentation, 0.1)])
        .weight(known)
        .frees_if(
            case.share_of_allocated(0.0, 0.45, text!(en: "about half of the activations", zh: "约一半激活")),
            case.ask_for_peak(),
        )
        .slows(-0.6, 0.0)
        .numerics(Numerics::Benign)
        .knob(Target::HfTrainer, "bf16=True   # fp16=True before Ampere")
        .knob(Target::Lightning, "Trainer(precision=\"bf16-mixed\")")
        .knob(Target::Accelerate, "Accelerator(mixed_precision=\"bf16\")")
        .knob(Target::DeepSpeed, "\"bf16\": {\"enabled\": true}")
        .knob(Target::Ultralytics, "amp=True")
        .knob(Target::MmEngine, "optim_wrapper.type=AmpOptimWrapper")
        .knob(Target::Fastai, "learn.to_fp16()")
        .knob(Target::Diffusers, "torch_dtype=torch.float16")
        .knob(Target::SdWebUi, "remove --no-half and --precision full")
        .knob(Target::ComfyUi, "remove --force-fp32")
        .knob(Target::TensorFlow, "tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")")
        .knob(Target::Jax, "compute in jnp.bfloat16, keep parameters in float32")
        .knob(Target::Pytorch, format!("with torch.autocast(\"{}\", dtype=torch.bfloat16):   # around the forward pass and the loss", case.accelerator().torch_device()))
        .because(join(
            text!(en: "activations at 16 bit take half; nothing in the log shows that they are", zh: "16 位激活只占一半；日志中看不出已经启用"),
            case.situation(),
        ))
}
