//! Cap the length.

use super::prelude::*;
use crate::incident::context::Frame;

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
    applies: |case| match case.subject() {
        _ if case.in_a_vision_tower() => false,
        // No text is convolved in two dimensions and three: pictures have tokens and tokenizers, too.
        Some(Subject::Text) | None if convolves(case) => false,
        Some(Subject::Text | Subject::Speech | Subject::Sound | Subject::Proteins) => true,
        None => case.language_model(),
        // Pictures are tokens too where a language model sees them.
        Some(Subject::Pictures | Subject::Video) => case.language_model() && case.trains_on_text(),
        _ => false,
    },
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Optimisation },
    knobs: &[
        said(Target::Program, "sequence length {tried}", "序列长度 {tried}").when("length"),
        said(Target::Program, "shorter texts, or a smaller limit of their length", "更短的文本，或更小的长度上限")
            .when("texts"),
        said(
            Target::Program,
            "shorter pieces of sound: cut long recordings, or leave the longest out",
            "更短的音频片段：切分长录音，或去掉最长的",
        )
        .when("recordings"),
        said(Target::Program, "a shorter text in each call: sentence by sentence", "缩短每次调用的文本：逐句合成")
            .when("sentences"),
        said(Target::Program, "a shorter duration", "缩短时长").when("duration"),
        said(
            Target::Program,
            "a shorter chain, or one domain of it; of several, the longest by itself",
            "更短的链，或只取一个结构域；有多条时，最长的单独处理",
        )
        .when("chains"),
        said(Target::Pytorch, "fewer new tokens, or a shorter prompt", "减少新生成的 token，或缩短提示")
            .when("generates"),
        line(Target::Trl, "SFTConfig(max_length={tried})"),
        line(Target::LlamaFactory, "cutoff_len: {tried}"),
        line(Target::Axolotl, "sequence_len: {tried}"),
        line(Target::Swift, "--max_length {tried}"),
        line(Target::Megatron, "--seq-length {tried}"),
        line(Target::HfTrainer, "tokenizer(..., truncation=True, max_length={tried})").when("tokenized"),
        line(Target::Pytorch, "tokenizer(..., truncation=True, max_length={tried})").when("tokenizer"),
    ],
    fixtures: &["context/hf-trainer", "fix/prompt-logits"],
    advise,
};

/// False where the log shows that the texts are cut by somebody else's lines: a script that is set by its command, or a
/// package around transformers' Trainer with a trainer of its own.
fn reads_texts(case: &Case) -> bool {
    let around = |frame: &Frame| {
        let file = frame.path();
        !frame.is_user_code() && file.ends_with("/trainer.py") && !file.contains("/transformers/")
    };
    !case.set_by_its_command() && !case.context.frames.iter().any(around)
}

/// True where the operation that failed is a convolution of pictures or of video.
fn convolves(case: &Case) -> bool {
    let code =
        |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.contains("conv2d(") || code.contains("conv3d("));
    case.context.frames.iter().rev().take(2).any(code)
}

fn advise(case: &Case) -> Advice {
    if case.still_beyond(0.5) {
        return Advice::Silent;
    }
    let length = case.context.sequence_length.value();
    let tried = length.map_or("<shorter>".to_string(), |length| (length / 2).max(1).to_string());
    // transformers' own, where its user calls it: in code of theirs beside frames of the library.
    let library = case.context.frames.iter().any(|frame| frame.path().contains("/transformers/"));
    let tokenizes = case.shows_own_code() && library && case.shows_a_tokenizer();
    let generates = case.clue(Clue::ServesWithCache) && !case.training();
    // A prompt that is cut changes what is answered.
    let numerics = if case.training() { Numerics::Optimisation } else { Numerics::Model };
    let subject = case.subject();
    let tokenized =
        case.language_model() && case.pretrained() && !case.pipeline() && case.shows_own_code() && reads_texts(case);
    let draft = Draft::new(case, &FIX);
    let draft = match subject {
        Some(Subject::Speech | Subject::Sound | Subject::Proteins) => {
            draft.titled(text!(en: "Shorter inputs", zh: "缩短输入"))
        }
        _ => draft,
    };
    draft
        .when("length", length.is_some())
        .when(
            "tokenized",
            tokenized
                && case.shows_a_tokenizer()
                && !matches!(subject, Some(Subject::Speech | Subject::Sound | Subject::Proteins)),
        )
        .when("texts", length.is_none() && matches!(subject, Some(Subject::Text) | None))
        .when("sentences", subject == Some(Subject::Speech))
        .when("recordings", subject == Some(Subject::Sound) && !case.diffusion())
        .when("duration", subject == Some(Subject::Sound) && case.diffusion())
        .when("chains", subject == Some(Subject::Proteins))
        .costs(Costs { numerics, ..FIX.costs })
        .frees_if(
            case.share_of_activations(0.05, 0.5, text!(en: "half the length", zh: "长度减半")),
            case.ask_for_peak(),
        )
        .when("generates", generates)
        .own(length.and_then(|length| case.own_option_with(Quantity::Sequence, length, (length / 2).max(1))))
        .when("tokenizer", tokenizes && tokenized)
        .fill("tried", tried)
        .was(length)
        .because(text!(
            en: "activations and logits grow with the length of the longest sample",
            zh: "激活和 logits 随最长样本的长度增长"
        ))
}
