//! Compute in 16 bit.

use super::prelude::*;
use crate::incident::release;

pub const FIX: Fix = Fix {
    id: "mixed-precision",
    class: Class::Precision,
    title: || text!(en: "Mixed precision (16 bit)", zh: "混合精度（16 位）"),
    doc: || {
        text!(
            en: "Halves most activations; the 32-bit weights stay and gain a 16-bit copy of 2 bytes per parameter, \
                 so a large model at a tiny batch can even grow. bf16 needs Ampere or newer to be fast; fp16 needs \
                 a loss scaler.",
            zh: "大部分激活减半；32 位权重保留，并多出每参数 2 字节的 16 位副本，所以极小批的大模型反而可能变\
                 大。bf16 在 Ampere 及更新的卡上才快；fp16 需要 loss scaler。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::Pass],
    applies: |case| {
        case.learns() && !case.still_beyond(0.5) && case.confidence(CauseId::SingleHugeAllocation) < 0.6
            // Splats are drawn by kernels of 32 bits, without a network.
            && case.subject() != Some(Subject::Gaussians)
    },
    costs: Costs { slows: (-0.6, 0.0), numerics: Numerics::Benign },
    knobs: &[
        line(Target::HfTrainer, "bf16=True")
            .note("fp16=True before Ampere", "Ampere 之前的卡用 fp16=True")
            .when("nvidia"),
        line(Target::HfTrainer, "bf16=True").when("no-nvidia"),
        line(Target::HfTrainer, "fp16=True").when("before-ampere"),
        line(Target::Lightning, "Trainer(precision=\"bf16-mixed\")").unless("before-ampere"),
        line(Target::Lightning, "Trainer(precision=\"16-mixed\")").when("before-ampere"),
        line(Target::Lightning, "Trainer(precision=16)").older(),
        line(Target::Accelerate, "Accelerator(mixed_precision=\"bf16\")").unless("before-ampere"),
        line(Target::Accelerate, "Accelerator(mixed_precision=\"fp16\")").when("before-ampere"),
        line(Target::DeepSpeed, "\"bf16\": {\"enabled\": true}").unless("before-ampere"),
        line(Target::DeepSpeed, "\"fp16\": {\"enabled\": true}").when("before-ampere"),
        line(Target::Ultralytics, "amp=True").when("trains"),
        line(Target::Ultralytics, "half=True").when("answers"),
        line(Target::Axolotl, "bf16: auto").unless("before-ampere"),
        line(Target::Axolotl, "fp16: true").when("before-ampere"),
        line(Target::MmEngine, "optim_wrapper.type=AmpOptimWrapper").when("mmengine"),
        line(Target::MmEngine, "fp16 = dict(loss_scale=512.)").unless("mmengine"),
        line(Target::Fastai, "learn.to_fp16()"),
        line(Target::Diffusers, "torch_dtype=torch.float16"),
        said(Target::SdWebUi, "remove --no-half and --precision full", "去掉 --no-half 和 --precision full"),
        said(Target::ComfyUi, "remove --force-fp32", "去掉 --force-fp32").when("forced"),
        line(Target::TensorFlow, "tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")").when("tf-gpu"),
        line(Target::TensorFlow, "tf.keras.mixed_precision.set_global_policy(\"mixed_bfloat16\")").when("tf-tpu"),
        said(
            Target::Jax,
            "compute in jnp.bfloat16, keep parameters in float32",
            "用 jnp.bfloat16 计算，参数保持 float32",
        )
        .when("jax-network"),
        said(Target::Jax, "a narrower type of numbers, where it is precise enough", "精度足够时，使用更窄的数值类型")
            .when("arrays"),
        said(
            Target::Pytorch,
            "16-bit computation: the program's own option for fp16 or bf16, or torch.autocast in code of your own",
            "16 位计算：程序自带的 fp16 或 bf16 选项；自己的代码中用 torch.autocast",
        )
        .when("unshown"),
        said(
            Target::Pytorch,
            "16-bit weights and inputs: the program's own option for fp16, or model.half() in code of your own",
            "16 位权重与输入：程序自带的 fp16 选项；自己的代码中用 model.half()",
        )
        .when("weights"),
        said(
            Target::Program,
            "16-bit computation, by the program's own option (fp16, bf16, half)",
            "16 位计算：使用程序自带的选项（fp16、bf16、half）",
        )
        .when("installed"),
        said(
            Target::Program,
            "16-bit computation, by the program's own option (fp16, half)",
            "16 位计算：使用程序自带的选项（fp16、half）",
        )
        .when("installed")
        .older(),
        line(Target::Pytorch, "with torch.autocast(\"{device}\", dtype=torch.bfloat16):")
            .note("around the forward pass and the loss", "包住前向与损失")
            .when("trains-elsewhere"),
        line(Target::Pytorch, "with torch.autocast(\"{device}\", dtype=torch.bfloat16):")
            .note(
                "around the forward pass and the loss; before Ampere float16 with a GradScaler",
                "包住前向与损失；Ampere 之前的卡用 float16 加 GradScaler",
            )
            .when("trains-on-nvidia"),
        line(Target::Pytorch, "with torch.autocast(\"{device}\", dtype=torch.bfloat16):")
            .note("around the forward pass", "包住前向")
            .when("elsewhere"),
        line(Target::Pytorch, "with torch.autocast(\"{device}\", dtype=torch.bfloat16):")
            .note("around the forward pass; float16 before Ampere", "包住前向；Ampere 之前的卡用 float16")
            .when("on-nvidia"),
        line(Target::Pytorch, "with torch.autocast(\"{device}\", dtype=torch.float16):")
            .note("around the forward pass and the loss, with a GradScaler", "包住前向与损失，并使用 GradScaler")
            .when("trains-in-fp16"),
        line(Target::Pytorch, "with torch.autocast(\"{device}\", dtype=torch.float16):")
            .note("around the forward pass", "包住前向")
            .when("in-fp16"),
        line(Target::Pytorch, "with torch.cuda.amp.autocast():")
            .note("around the forward pass; in training with a GradScaler", "包住前向；训练时并使用 GradScaler")
            .when("amp")
            .older(),
    ],
    fixtures: &["context/side-tables", "pytorch/cuda-error-old"],
    advise,
};

fn advise(case: &Case) -> Advice {
    match case.precision() {
        Some(Precision::Fp32) => {}
        Some(_) => {
            return Advice::Withheld(
                text!(en: "it computes in 16 bit or less already", zh: "已在 16 位或更低精度下计算"),
            );
        }
        None => {}
    }
    if case.context.origin.buffers_in_16_bit {
        return Advice::Withheld(text!(en: "its buffers are of 16 bits already", zh: "其缓冲区已是 16 位"));
    }
    if case.autocasts() {
        return Advice::Withheld(text!(
            en: "the failing pass runs under autocast already",
            zh: "出错的计算已在 autocast 下运行"
        ));
    }
    if case.quantised() {
        return Advice::Silent;
    }
    if let Some(why) = case.never_fits() {
        return Advice::Withheld(why);
    }
    // Most programs compute in 16 bit by now; of jobs of which the log tells nothing, it cured next to none.
    let known = match case.precision() {
        Some(Precision::Fp32) => 1.0,
        _ if case.training() => 0.6,
        _ => 0.35,
    };
    let (nvidia, trains) =
        (case.accelerator() == Accelerator::Cuda, case.training() && !case.evaluating() && !case.decorated());
    let shown = case.writes_the_pass();
    let network = ["/flax/", "/haiku/", "/optax/", "/equinox/", "/maxtext/"];
    let network = trains || case.context.batch_size.is_known() || network.iter().any(|library| case.frames_of(library));
    let (early, nvidia) = (nvidia && case.clue(Clue::BeforeAmpere), nvidia && !case.clue(Clue::BeforeAmpere));
    // autocast came to Metal with torch 2.5 (torch/amp/autocast_mode.py).
    let alone =
        case.accelerator() == Accelerator::Mps && release::torch(case.incident).is_some_and(|torch| torch < (2, 5));
    let draft = Draft::new(case, &FIX);
    let jax = case.program() == Program::Jax && !network;
    let draft = if jax { draft.titled(text!(en: "Narrower numbers", zh: "更窄的数值类型")) } else { draft };
    draft
        // TensorFlow beside PyTorch holds its own pool; the arrays that were refused are PyTorch's.
        .when("tf-gpu", case.program() != Program::Pytorch && case.accelerator() != Accelerator::Tpu)
        .when("tf-tpu", case.program() != Program::Pytorch && case.accelerator() == Accelerator::Tpu)
        .when("nvidia", nvidia)
        .when("no-nvidia", case.accelerator() != Accelerator::Cuda)
        .when("jax-network", network)
        .when("trains", trains)
        .when("answers", case.inference())
        .when("arrays", !network)
        .when("mmengine", case.on_mmengine())
        .when("forced", case.context.command.get().is_some_and(|command| command.contains("--force-fp32")))
        .when("amp", case.accelerator() == Accelerator::Cuda && release::shows_torch(case.incident, (1, 6)))
        .weight(known)
        .costs(match case.context.origin.slow_in_16_bit {
            // It saves memory there too, and may cost time.
            true => Costs { slows: (0.0, 0.2), ..FIX.costs },
            false => FIX.costs,
        })
        .when("unshown", !shown && !alone && release::knows(case.incident, "torch.autocast("))
        .when("weights", alone)
        .when("trains-on-nvidia", shown && trains && nvidia)
        .when("trains-in-fp16", shown && trains && early)
        .when("in-fp16", shown && !trains && early)
        .when("trains-elsewhere", shown && !alone && trains && !nvidia && !early)
        .when("on-nvidia", shown && !trains && nvidia)
        .when("elsewhere", shown && !alone && !trains && !nvidia && !early)
        .frees_if(
            case.share_of_activations(0.0, 0.45, text!(en: "about half of the activations", zh: "约一半激活")),
            case.ask_for_peak(),
        )
        .because(join(
            text!(
                en: "activations at 16 bit take half; nothing in the log shows that they are",
                zh: "16 位激活只占一半；日志中看不出已经启用"
            ),
            case.situation(),
        ))
}
