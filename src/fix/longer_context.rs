//! A context as long as the requests.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "longer-context",
    class: Class::Inference,
    title: || text!(en: "A longer context, or a shorter prompt", zh: "更长的上下文，或更短的提示"),
    doc: || {
        text!(
            en: "The engine was started with a context shorter than the request: no memory ran out. A longer context \
                 takes memory for its keys and values, in proportion; several slots (`-np`, `OLLAMA_NUM_PARALLEL`) \
                 share llama.cpp's context, so each gets a part of it.",
            zh: "引擎启动时设置的上下文比请求短：并没有耗尽显存。更长的上下文会按比例占用更多键值缓存；llama.cpp 的多个\
                 槽位（`-np`、`OLLAMA_NUM_PARALLEL`）共用一个上下文，每个只分到一部分。"
        )
    },
    helps: &[Work::Serving],
    needs: &[],
    applies: |case| case.sign(Sign::BeyondContext),
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        line(Target::LlamaCpp, "-c <at least the request and its answer>")
            .note("-np 1 gives all of it to one request", "-np 1 可把全部上下文给一个请求"),
        line(Target::Ollama, "OLLAMA_CONTEXT_LENGTH=<at least the request and its answer> ollama serve")
            .note("or num_ctx of the request", "或请求中的 num_ctx"),
        line(Target::Ollama, "PARAMETER num_ctx <at least the request and its answer>").older(),
        said(
            Target::Program,
            "load the model with a context of at least the request and its answer, or shorten the prompt",
            "以不小于请求加回答的上下文长度加载模型，或缩短提示",
        ),
    ],
    fixtures: &["wordings/context"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_unknown(text!(en: "frees nothing: no memory was missing", zh: "不释放内存：缺的不是内存"))
        .certainty(Certainty::Likely)
        .because(text!(
            en: "the request is longer than the context that the engine was started with",
            zh: "请求比引擎启动时设置的上下文更长"
        ))
}
