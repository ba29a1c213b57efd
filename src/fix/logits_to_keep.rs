//! Only the logits that are used.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "logits-to-keep",
    class: Class::Inference,
    title: || text!(en: "Compute only the logits that are needed", zh: "只计算需要的 logits"),
    doc: || {
        text!(
            en: "Generation needs the last position's logits. Asking for log-probabilities of the whole prompt \
                 makes tokens × vocabulary × 4 bytes.",
            zh: "生成只需要最后一个位置的 logits。请求整个提示的 logprob 会产生 token 数 × 词表 × 4 字节。"
        )
    },
    helps: &[Work::Serving, Work::Inference, Work::Training],
    needs: &[Need::Gpu],
    applies: |case| {
        case.clue(Clue::VocabularyLogits)
            && !case.training()
            && !case.evaluating()
            && (case.engine().is_some() || case.pretrained())
    },
    costs: Costs { slows: (-0.1, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "SamplingParams(prompt_logprobs=None, logprobs=None)")
            .note("or --max-num-batched-tokens 2048", "或 --max-num-batched-tokens 2048"),
        line(Target::Sglang, "return_logprob=False"),
        line(Target::Pytorch, "model(input_ids, logits_to_keep=1)")
            .note("older: num_logits_to_keep", "旧版为 num_logits_to_keep"),
    ],
    fixtures: &["fix/prompt-logits"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .of_request()
        .frees_if(
            case.requested().filter(|requested| requested.low > 0).map(|requested| {
                let shown = show(requested.middle());
                (requested.scale(0.9), text!(en: "nearly all of the {shown} requested", zh: "几乎全部所申请的 {shown}"))
            }),
            text!(en: "tokens × vocabulary × 4 bytes", zh: "token 数 × 词表 × 4 字节"),
        )
        .certainty(Certainty::Likely)
        .because(join(
            text!(
                en: "logits of every position are made though few are used",
                zh: "计算了所有位置的 logits，但只用到少数"
            ),
            case.situation(),
        ))
}
