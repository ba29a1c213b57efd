//! Cap the length.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "shorter-sequences",
    class: Class::Shapes,
    title: || text!(en: "Cap the sequence length", zh: "限制序列长度"),
    doc: || {
        text!(
            en: "Activations grow with the length, with its square under eager attention, and logits take length × \
                 vocabulary × 12 bytes. One long sample in a padded batch makes all as long.",
            zh: "激活随长度增长，eager 注意力下随长度平方增长；logits 需要 长度 × 词表 × 12 字节。填充批中一条长样本\
                 会让所有样本一样长。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::Pass],
    applies: |case| case.language_model(),
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Optimisation },
    knobs: &[
        said(Target::Program, "sequence length {tried}", "序列长度 {tried}"),
        said(Target::Pytorch, "fewer new tokens, or a shorter prompt", "减少新生成的 token，或缩短提示")
            .when("generates"),
        line(Target::Trl, "SFTConfig(max_length={tried})"),
        line(Target::LlamaFactory, "cutoff_len: {tried}"),
        line(Target::Swift, "--max_length {tried}"),
        line(Target::Megatron, "--seq-length {tried}"),
        line(Target::HfTrainer, "tokenizer(..., truncation=True, max_length={tried})"),
        line(Target::Pytorch, "tokenizer(..., truncation=True, max_length={tried})").when("tokenizer"),
        said(
            Target::Pytorch,
            "texts or sequences of {tried_in_words} tokens at the most",
            "文本或序列最长 {tried_in_words} 个 token",
        )
        .when("told"),
        said(Target::Pytorch, "shorter texts or sequences", "缩短文本或序列").when("untold"),
    ],
    fixtures: &["context/hf-trainer", "fix/prompt-logits"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.still_beyond(0.5) {
        return Advice::Silent;
    }
    let length = case.context.sequence_length.value();
    let tried = length.map_or("<shorter>".to_string(), |length| (length / 2).max(1).to_string());
    // transformers' own, where its user calls it: in code of theirs beside frames of the library.
    let library = case.context.frames.iter().any(|frame| super::moment::path(frame).contains("/transformers/"));
    let tokenizes = case.shows_own_code() && library;
    let generates = case.clue(Clue::ServesWithCache) && !case.training();
    // A prompt that is cut changes what is answered.
    let numerics = if case.training() { Numerics::Optimisation } else { Numerics::Model };
    Draft::new(case, &FIX)
        .costs(Costs { numerics, ..FIX.costs })
        .frees_if(case.share_of_allocated(0.05, 0.5, text!(en: "half the length", zh: "长度减半")), case.ask_for_peak())
        .when("generates", generates)
        .own(length.and_then(|length| case.own_option_with(Quantity::Sequence, length, (length / 2).max(1))))
        .when("tokenizer", tokenizes)
        .when("told", !tokenizes && length.is_some() && !generates)
        .when("untold", !tokenizes && length.is_none() && !generates)
        .fill("tried_in_words", &tried)
        .fill("tried", tried)
        .was(length)
        .because(text!(
            en: "activations and logits grow with the length of the longest sample",
            zh: "激活和 logits 随最长样本的长度增长"
        ))
}
