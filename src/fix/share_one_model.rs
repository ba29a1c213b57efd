//! One instance for all.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Clue;
use crate::text;

pub const FIX: Fix = Fix {
    id: "share-one-model",
    class: Class::Loading,
    title: || text!(en: "Keep one instance of the model", zh: "只保留一个模型实例"),
    doc: || {
        text!(
            en: "A model made anew per request, per fold or per worker adds up. Make it once, delete the old one before the next, unload what idles.",
            zh: "每次请求、每折或每个 worker 都新建模型会不断累加。只建一次，新建前删除旧的，卸载闲置的。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_device() {
        return Advice::Silent;
    }
    let module = case.accelerator().torch_module();
    let twice = if case.clue(Clue::LoadedTwice) { 1.2 } else { 1.0 };
    Draft::new(
        case,
        &[
            (CauseId::DuplicateModel, 0.75),
            (CauseId::LeakGrowth, 0.1),
            (CauseId::OtherProcess, if case.engine().is_some() { 0.25 } else { 0.05 }),
        ],
    )
    .weight(twice)
    .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
    .certainty(Certainty::Likely)
    .knob(Target::Ollama, "OLLAMA_MAX_LOADED_MODELS=1 ollama serve")
    .knob(Target::Vllm, "--enable-sleep-mode   # when colocated with training: llm.sleep(level=1) before each step")
    .knob(Target::SdWebUi, "Settings → Checkpoints: maximum number of checkpoints loaded = 1")
    .knob(Target::Pytorch, format!("del model; gc.collect(); {module}.empty_cache()   # before the next one is made"))
    .because(text!(en: "more than one copy of a model holds memory", zh: "不止一份模型副本占用内存"))
}
