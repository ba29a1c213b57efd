//! The averaged weights elsewhere.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "ema-on-cpu",
    class: Class::Offload,
    title: || text!(en: "Keep EMA weights on the CPU", zh: "把 EMA 权重放在 CPU"),
    doc: || {
        text!(
            en: "An exponential moving average is one more copy of the weights, 2 or 4 bytes per parameter; a reference model for DPO or distillation likewise.",
            zh: "指数滑动平均是又一份权重，每参数 2 或 4 字节；DPO 或蒸馏的参考模型同理。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    let mentions = |word: &str| {
        case.context.command.get().is_some_and(|command| command.to_ascii_lowercase().contains(word))
            || case.context.frames.iter().any(|frame| frame.function.to_ascii_lowercase().contains(word))
    };
    if !case.on_gpu()
        || !case.learns()
        || !mentions("ema")
        || case
            .context
            .frames
            .iter()
            .any(|frame| frame.function.contains("embed") || frame.function.contains("semantic"))
    {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::Capacity, 0.2), (CauseId::DuplicateModel, 0.5)])
        .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
        .slows(0.01, 0.05)
        .knob(Target::Diffusers, "remove --use_ema, or add --offload_ema")
        .knob(Target::Pytorch, "ema_model = copy.deepcopy(model).cpu()   # and update every 10 steps")
        .because(text!(en: "the averaged copy is used rarely and need not lie on the GPU", zh: "平均副本很少用到，不必放在显存"))
}
