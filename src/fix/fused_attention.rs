//! Never store the score matrix.

use super::prelude::*;
use crate::incident::release;

pub const FIX: Fix = Fix {
    id: "fused-attention",
    class: Class::Activations,
    title: || text!(en: "Fused attention (SDPA, flash)", zh: "使用融合注意力（SDPA、flash）"),
    doc: || {
        text!(
            en: "Eager attention keeps scores of batch × heads × length² elements, 2 to 5 bytes each per layer; \
                 fused kernels never store them. Results differ by rounding only. Some models and masks fall back \
                 to eager without saying so.",
            zh: "eager 注意力每层保留 批 × 头数 × 长度² 个分数，每个 2 到 5 字节；融合 kernel 不存储。结果只有舍入差\
                 别。某些模型和掩码会悄悄退回 eager。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::Pass],
    applies: |case| Need::Attention.met(case) || may_be_scores(case),
    costs: Costs { slows: (-0.5, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "AutoModelForCausalLM.from_pretrained(..., attn_implementation=\"sdpa\")")
            .note("or \"flash_attention_2\"", "或 \"flash_attention_2\"")
            .unless("before-ampere"),
        line(Target::HfTrainer, "AutoModelForCausalLM.from_pretrained(..., attn_implementation=\"sdpa\")")
            .when("before-ampere"),
        line(Target::Axolotl, "flash_attention: true").unless("before-ampere"),
        line(Target::Axolotl, "sdp_attention: true").when("before-ampere"),
        line(Target::LlamaFactory, "flash_attn: fa2").unless("before-ampere"),
        line(Target::LlamaFactory, "flash_attn: sdpa").when("before-ampere"),
        line(Target::Swift, "--use_flash_attn true").when("swift-2"),
        line(Target::Swift, "--attn_impl flash_attn").when("swift-3"),
        line(Target::Swift, "--attn_impl sdpa").when("swift-3-before-ampere"),
        line(Target::SdWebUi, "--opt-sdp-attention").note("or --xformers", "或 --xformers"),
        line(Target::ComfyUi, "--use-pytorch-cross-attention")
            .note("or --use-split-cross-attention", "或 --use-split-cross-attention")
            .unless("fused"),
        line(Target::ComfyUi, "--use-split-cross-attention")
            .note("a part of the scores at a time", "每次只算一部分分数")
            .when("fused"),
        line(Target::Diffusers, "pipe.enable_attention_slicing()")
            .note("PyTorch 2 uses fused attention by itself", "PyTorch 2 会自动使用融合注意力"),
        line(Target::Pytorch, "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)")
            .note("instead of softmax(q @ k.T) @ v", "代替 softmax(q @ k.T) @ v")
            .when("written"),
        line(Target::Pytorch, "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)")
            .note("instead of softmax(q @ k.T) @ v; PyTorch 2.0 on", "代替 softmax(q @ k.T) @ v；PyTorch 2.0 起")
            .when("written-of-any-age"),
        said(
            Target::Pytorch,
            "fp16 or bf16 inputs and no dense mask, on a GPU whose fused kernels take them",
            "使用 fp16 或 bf16 输入且不带稠密掩码，并在支持融合核的 GPU 上运行",
        )
        .when("plain"),
        said(
            Target::Pytorch,
            "if the tensor is attention's score matrix: F.scaled_dot_product_attention(q, k, v), which never makes it",
            "若该张量是注意力分数矩阵：改用 F.scaled_dot_product_attention(q, k, v)，它从不生成该矩阵",
        )
        .when("untold"),
        said(
            Target::Pytorch,
            "if the tensor is attention's score matrix: F.scaled_dot_product_attention(q, k, v), which never makes it",
            "若该张量是注意力分数矩阵：改用 F.scaled_dot_product_attention(q, k, v)，它从不生成该矩阵",
        )
        .when("untold-of-any-age"),
    ],
    fixtures: &["pytorch/mps-buffer-size"],
    advise,
};

/// True where one tensor is larger than anything else by far, and no line tells what it is.
fn may_be_scores(case: &Case) -> bool {
    case.pytorch()
        && case.context.frames.is_empty()
        && case.confidence(CauseId::SingleHugeAllocation) >= 0.6
        && !case.absurd()
        && !case.clue(Clue::ConvWorkspace)
        && !case.of_sound()
}

fn advise(case: &Case) -> Advice {
    let untold = !Need::Attention.met(case);
    let set = case.context.attention.get().map(|name| name.to_ascii_lowercase());
    if let Some(name) = set.as_deref().filter(|name| name.contains("flash") || name.contains("xformers")) {
        return Advice::Withheld(text!(en: "attention is {name} already", zh: "注意力实现已是 {name}"));
    }
    // A request of that size is the scores themselves: the fused operation fell back to the plain one.
    let plain = case.attention_is_fused() && Need::LargeRequest.met(case) && case.requested().is_some();
    if case.attention_is_fused() && !plain {
        return Advice::Withheld(text!(en: "the fused operation is the one that ran", zh: "运行的就是融合算子"));
    }
    let quadratic = case.clue(Clue::Quadratic) || case.multiplies_queries() && Need::LargeRequest.met(case);
    let eager = set.as_deref().is_some_and(|name| name.contains("eager"));
    if !(untold || quadratic || eager || plain || case.language_model() || case.diffusion()) {
        return Advice::Silent;
    }
    let recent = release::shows(case.incident, "scaled_dot_product_attention");
    let weight = if quadratic || eager || plain { 1.0 } else { 0.4 };
    // Its second generation has a switch, the third the name of an implementation.
    let second = case.context.command.get().is_some_and(|command: &String| {
        ["--use_flash_attn", "--sft_type", "--model_id_or_path"].iter().any(|option| command.contains(option))
    });
    let older_card = case.clue(Clue::BeforeAmpere);
    Draft::new(case, &FIX)
        .when("swift-2", second && !older_card)
        .when("swift-3", !second && !older_card)
        .when("swift-3-before-ampere", !second && older_card)
        .when("plain", plain)
        .when("fused", plain || set.as_deref().is_some_and(|name| name.contains("pytorch") || name.contains("sdp")))
        .when("untold", untold && recent)
        .when("untold-of-any-age", untold && !recent)
        .when("written", !plain && !untold && recent)
        .when("written-of-any-age", !plain && !untold && !recent)
        .weight(weight)
        .frees_unknown(text!(
            en: "2–5 bytes × batch × heads × length² per layer; the log does not give all of these",
            zh: "每层 2–5 字节 × 批 × 头数 × 长度²；日志没有给全这些数值"
        ))
        .certainty(if quadratic || eager { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(join(
            text!(
                en: "score matrices grow with the square of the length; fused kernels never store them",
                zh: "分数矩阵随长度平方增长；融合 kernel 从不存储它"
            ),
            case.situation(),
        ))
}
