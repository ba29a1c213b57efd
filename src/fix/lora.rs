//! Train adapters only.

use super::budget::Change;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "lora",
    class: Class::Model,
    title: || text!(en: "Train LoRA adapters instead of all weights", zh: "用 LoRA 只训练适配器"),
    doc: || {
        text!(
            en: "Frozen weights need no gradient and no optimizer state: 14 to 16 bytes per parameter become 2. \
                 Activations shrink only where few layers have adapters: with adapters on all linear layers they \
                 equal full fine-tuning.",
            zh: "冻结的权重不需要梯度和优化器状态：每参数 14 到 16 字节降到 2。只有少数层带适配器时激活才减少：所有\
                 线性层都带适配器时激活与全量微调相同。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::NoEngine, Need::Loaded],
    applies: |case| case.large_model(),
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Model },
    knobs: &[
        line(Target::Trl, "peft_config=LoraConfig(r=16, target_modules=\"all-linear\")")
            .note("an argument of the trainer that it makes", "作为所建 trainer 的参数"),
        line(Target::LlamaFactory, "finetuning_type: lora"),
        line(Target::Axolotl, "adapter: lora"),
        line(Target::Swift, "--train_type lora"),
        line(Target::Swift, "--sft_type lora").older(),
        line(Target::Pytorch, "model = get_peft_model(model, LoraConfig(r=16, target_modules=\"all-linear\"))")
            .when("own"),
        line(Target::Pytorch, "model = get_peft_model(model, LoraConfig(r=16, task_type=\"CAUSAL_LM\"))")
            .note("with target_modules where PEFT does not know the model", "PEFT 不认识该模型时指定 target_modules")
            .when("own")
            .older(),
        said(
            Target::Pytorch,
            "adapters (LoRA): the program's own option, or PEFT's get_peft_model() where it makes the model",
            "适配器（LoRA）：使用程序自带的选项，或在创建模型处使用 PEFT 的 get_peft_model()",
        )
        .unless("own"),
        said(
            Target::Program,
            "adapters (LoRA), by the program's own option where it has one",
            "适配器（LoRA）：使用程序自带的选项（若有）",
        )
        .when("installed"),
    ],
    fixtures: &["context/ranks", "context/hf-trainer"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.adapters() {
        return Advice::Withheld(text!(en: "it trains LoRA adapters already", zh: "已经在用 LoRA 训练"));
    }
    // Theirs is to train adapters unless they are told otherwise.
    let by_default = matches!(case.trainer(), Some(Trainer::Swift | Trainer::LlamaFactory));
    if by_default && case.context.lora.value() != Some(false) {
        return Advice::Withheld(text!(
            en: "adapters are what this trainer makes unless it is told to train all weights",
            zh: "除非指定训练全部权重，这个训练器默认就训练适配器"
        ));
    }
    if case.pretrains() {
        return Advice::Withheld(text!(
            en: "it pre-trains: adapters need a model that is trained already",
            zh: "这是预训练：adapter 需要已训练好的模型"
        ));
    }
    if let Some(why) = case.still_too_large(Change::Lora).filter(|_| !case.composing()) {
        return Advice::Withheld(why);
    }
    let draft = Draft::new(case, &FIX).when("own", case.may_write("get_peft_model("));
    if let Some(why) = case.no_states_yet() {
        // In the first backward pass the gradients alone are among what is held, as far as it came.
        if case.phase() != Some(Phase::Backward) {
            return Advice::Withheld(why);
        }
        return draft.frees_if(case.of_parameters(0.0, 4.0), case.ask_for_parameters()).because(text!(
            en: "without gradients for the base the backward pass needs less; the optimizer's states come later",
            zh: "基座不再需要梯度，反向所需减少；优化器状态此时尚未产生"
        ));
    }
    draft.frees_if(case.of_parameters(6.0, 14.0), case.ask_for_parameters()).because(text!(
        en: "without gradients and optimizer state for the base, most of the fixed memory goes",
        zh: "基座不再需要梯度和优化器状态，固定占用大部分消失"
    ))
}
