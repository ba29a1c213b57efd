//! Only the logits that are used.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Clue;
use crate::text;

pub const FIX: Fix = Fix {
    id: "logits-to-keep",
    class: Class::Inference,
    title: || text!(en: "Compute only the logits that are needed", zh: "只计算需要的 logits"),
    doc: || {
        text!(
            en: "Generation needs the last position's logits. Asking for log-probabilities of the whole prompt makes tokens × vocabulary × 4 bytes.",
            zh: "生成只需要最后一个位置的 logits。请求整个提示的 logprob 会产生 token 数 × 词表 × 4 字节。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.clue(Clue::VocabularyLogits) || case.training() && !case.evaluating() {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::TransientPeak, 0.65), (CauseId::SingleHugeAllocation, 0.65), (CauseId::Capacity, 0.4)])
        .frees_if(
            case.requested().filter(|requested| requested.low > 0).map(|requested| {
                let shown = show(requested.middle());
                (requested.scale(0.9), text!(en: "nearly all of the {shown} asked for", zh: "几乎全部所申请的 {shown}"))
            }),
            text!(en: "tokens × vocabulary × 4 bytes", zh: "token 数 × 词表 × 4 字节"),
        )
        .slows(-0.1, 0.0)
        .certainty(Certainty::Likely)
        .knob(Target::Vllm, "SamplingParams(prompt_logprobs=None, logprobs=None)   # or --max-num-batched-tokens 2048")
        .knob(Target::Sglang, "return_logprob=False")
        .knob(Target::Pytorch, "model(input_ids, logits_to_keep=1)   # older: num_logits_to_keep")
        .because(join(text!(en: "logits of every position are made though few are used", zh: "计算了所有位置的 logits，但只用到少数"), case.situation()))
}
