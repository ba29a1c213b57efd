//! Logits in pieces.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "chunked-loss",
    class: Class::Activations,
    title: || text!(en: "Chunked or fused cross-entropy", zh: "分块或融合的交叉熵"),
    doc: || {
        text!(
            en: "The usual path holds 12 bytes per logit: tokens × vocabulary. 8192 tokens of a vocabulary of \
                 128256 take 11.7 GiB. Liger or cut cross-entropy compute the loss in pieces with equal results up \
                 to rounding.",
            zh: "常规路径每个 logit 占 12 字节：token 数 × 词表。8192 个 token、词表 128256 需 11.7 GiB。Liger 或 \
                 cut cross-entropy 分块计算损失，结果只有舍入差别。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::NoEngine, Need::Pass],
    // Twelve bytes per logit are at stake where logits or their loss are what failed.
    applies: |case| {
        let logits = case.clue(Clue::VocabularyLogits);
        case.training_step() && case.language_model() && case.pytorch() && logits
    },
    costs: Costs { slows: (-0.2, 0.05), numerics: Numerics::Same },
    knobs: &[
        line(Target::LlamaFactory, "enable_liger_kernel: true")
            .note("liger-kernel {since} or newer", "liger-kernel {since} 或更新"),
        line(Target::Swift, "--use_liger_kernel true")
            .note("liger-kernel {since} or newer", "liger-kernel {since} 或更新"),
        line(Target::HfTrainer, "use_liger_kernel=True")
            .note("liger-kernel {since} or newer", "liger-kernel {since} 或更新"),
        said(
            Target::HfTrainer,
            "use_liger_kernel=True, where liger-kernel knows the type of the model",
            "若 liger-kernel 支持该模型类型：use_liger_kernel=True",
        )
        .when("type-untold"),
        line(Target::Pytorch, "loss = cut_cross_entropy.linear_cross_entropy(hidden, lm_head.weight, labels)")
            .when("own-loop"),
    ],
    fixtures: &["context/hf-trainer"],
    advise,
};

/// Types of models that Liger patches, and its first release that does (the table `MODEL_TYPE_TO_APPLY_LIGER_FN` of
/// each of its releases, up to 0.8).
const LIGER: &[(&str, &[&str])] = &[
    ("0.1", &["gemma", "llama", "mistral", "mixtral"]),
    ("0.2", &["gemma2", "qwen2", "phi3"]),
    ("0.3", &["qwen2_vl"]),
    ("0.4", &["mllama"]),
    ("0.5.4", &["granite", "olmo2"]),
    ("0.5.5", &["qwen2_5_vl"]),
    ("0.5.6", &["llava", "paligemma"]),
    ("0.5.7", &["gemma3"]),
    ("0.5.9", &["glm4", "qwen3"]),
    ("0.5.10", &["qwen3_moe"]),
    ("0.6.0", &["llama4"]),
    ("0.6.1", &["smollm3"]),
    ("0.6.2", &["glm4v"]),
    ("0.6.3", &["glm4v_moe", "internvl", "qwen3_next", "falcon_h1", "smolvlm"]),
    ("0.6.4", &["olmo3", "qwen3_vl", "qwen3_vl_moe", "hunyuan_v1_dense", "hunyuan_v1_moe"]),
    ("0.6.5", &["gpt_oss", "exaone4"]),
    ("0.7.0", &["pixtral"]),
    ("0.8.0", &["gemma4", "ministral", "nemotron", "qwen3_5", "qwen3_5_moe"]),
];

/// The release of Liger that patches the model of the traceback, by the file its code lies in (`modeling_qwen2.py`).
fn patched_since(case: &Case) -> Option<&'static str> {
    let of_file = |file: &str| {
        let model = file.rsplit('/').next()?.strip_prefix("modeling_")?.strip_suffix(".py")?.to_string();
        LIGER.iter().find(|(_, types)| types.contains(&model.as_str())).map(|(since, _)| *since)
    };
    case.context.frames.iter().rev().find_map(|frame| of_file(&frame.path()))
}

fn advise(case: &Case) -> Advice {
    let logits = case.clue(Clue::VocabularyLogits);
    let own_loop = case.trainer().is_none_or(|trainer| !trainer.trains_language_models());
    let draft = Draft::new(case, &FIX);
    let draft = match patched_since(case) {
        Some(since) => draft.fill("since", since),
        None => draft,
    };
    draft
        .when("own-loop", own_loop)
        .when("type-untold", !own_loop && !case.context.frames.iter().any(|frame| frame.file.contains("modeling_")))
        .when("logits", logits)
        .frees_if(
            case.requested().filter(|requested| logits && requested.low > 0).map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(requested.low, requested.scale(3.0).high),
                    text!(
                        en: "one to three tensors like the {shown} requested",
                        zh: "一到三个与所申请 {shown} 同样大小的张量"
                    ),
                )
            }),
            text!(
                en: "12 bytes × tokens × vocabulary; the log does not give all of these",
                zh: "12 字节 × token 数 × 词表；日志没有给全"
            ),
        )
        .certainty(if logits { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(join(
            text!(
                en: "logits and their gradient over the whole vocabulary need not exist at once",
                zh: "整个词表的 logits 及其梯度不必同时存在"
            ),
            case.situation(),
        ))
}
