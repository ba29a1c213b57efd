//! Adapters on a 4-bit base.

use super::budget::Change;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "qlora",
    class: Class::Model,
    title: || text!(en: "QLoRA: a 4-bit base under the adapters", zh: "QLoRA：适配器加 4 位基座"),
    doc: || {
        text!(
            en: "The frozen base takes about 0.52–0.56 instead of 2 bytes per parameter (rule of thumb); \
                 embeddings, head and norms stay at 16 bit. A step takes a third longer.",
            zh: "冻结的基座每参数约 0.52–0.56 字节而不是 2（经验值）；embedding、输出头和归一化层仍为 16 位。每步约\
                 慢三分之一。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::NoEngine],
    // bitsandbytes has no kernels for Apple's devices.
    applies: |case| case.on_gpu() && !case.apple() && (case.training() || case.adapters()) && case.large_model(),
    costs: Costs { slows: (0.25, 0.4), numerics: Numerics::Model },
    knobs: &[
        line(Target::LlamaFactory, "quantization_bit: 4"),
        line(Target::Axolotl, "adapter: qlora\nload_in_4bit: true"),
        line(Target::Swift, "--quant_method bnb --quant_bits 4").unless("swift-2"),
        line(Target::Swift, "--quantization_bit 4").when("swift-2"),
        line(
            Target::HfTrainer,
            "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"nf4\", bnb_4bit_use_double_quant=True)",
        ),
        line(
            Target::Pytorch,
            "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"nf4\", bnb_4bit_use_double_quant=True)",
        )
        .when("pretrained"),
    ],
    fixtures: &["context/hf-trainer"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // Adapters that are merged into a copy are trained; an optimizer's state that is put back is of these parameters.
    let put_back = case.restores_an_optimizer() && case.phase() == Some(Phase::Resume);
    if case.copies_a_model() || put_back {
        return Advice::Silent;
    }
    if case.quantised() {
        return Advice::Withheld(text!(en: "the base is quantised already", zh: "基座已经量化"));
    }
    let adapters = case.adapters();
    if let Some(why) = case.still_too_large(Change::Qlora).filter(|_| !case.composing()) {
        return Advice::Withheld(why);
    }
    // Weights of 32 bit at the most, and before the first update nothing of the rest but gradients.
    let most = match case.no_states_yet() {
        _ if adapters => 1.5,
        Some(_) if case.phase() == Some(Phase::Backward) => 7.5,
        Some(_) => 3.5,
        None => 15.0,
    };
    Draft::new(case, &FIX)
        // Its second release has another name for the way of training: `--sft_type`, `--train_type` since 3.0.
        .when("swift-2", case.context.command.get().is_some_and(|command| command.contains("--sft_type")))
        // Who loads weights by code of his own has no such argument.
        .when("pretrained", case.pretrained() || case.frames_of("/peft/") || !case.shows_own_code())
        .when("adapters", adapters)
        .frees_if(case.of_parameters(1.4, most), case.ask_for_parameters())
        .because(text!(
            en: "the frozen base shrinks from 2 to about 0.52–0.56 bytes per parameter",
            zh: "冻结的基座从每参数 2 字节降到约 0.52–0.56 字节"
        ))
}
