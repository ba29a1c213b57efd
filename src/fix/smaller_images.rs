//! Fewer pixels.

use super::prelude::*;
use crate::incident::context::subject;

pub const FIX: Fix = Fix {
    id: "smaller-images",
    class: Class::Shapes,
    title: || text!(en: "Smaller images or inputs", zh: "减小图像或输入尺寸"),
    doc: || {
        text!(
            en: "Activations of a convolutional net grow with the square of the side; a vision transformer's \
                 attention with its fourth power unless it is fused.",
            zh: "卷积网络的激活随边长平方增长；视觉 Transformer 的注意力若未融合则随边长四次方增长。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Compute],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::Tensor, Need::Pass],
    applies: |case| !case.sign(Sign::AbsurdRequest),
    costs: Costs { slows: (-0.4, 0.0), numerics: Numerics::Model },
    knobs: &[
        line(Target::Ultralytics, "imgsz={shown}"),
        line(Target::Fastai, "src.transform(tfms, size={shown})").when("fastai-1"),
        line(Target::Fastai, "item_tfms=Resize({shown})").when("fastai-2"),
        line(Target::Diffusers, "pipe(..., height={shown}, width={shown})").when("pipe"),
        said(
            Target::Program,
            "smaller pictures or inputs, by the program's own settings",
            "用程序自带的设置缩小图片或输入",
        )
        .when("installed"),
        said(
            Target::ComfyUi,
            "the node that makes the latent: width {shown}, height {shown}",
            "生成 latent 的节点：width {shown}，height {shown}",
        ),
        said(
            Target::SdWebUi,
            "width {shown}, height {shown}; upscale afterwards with tiling",
            "width {shown}, height {shown}；之后用分块放大",
        ),
        said(Target::Program, "a smaller input, or a part of it at a time", "缩小输入，或一次只处理一部分")
            .when("one-sample"),
        said(Target::Program, "smaller pictures, or tiles of them", "缩小图片，或分块处理").when("pictures"),
        said(Target::Program, "pictures of a lower resolution", "降低图片分辨率").when("trained-on"),
        line(Target::Swift, "MAX_PIXELS=<smaller>").note("before the command", "放在命令之前").when("qwen-tower"),
        said(
            Target::Program,
            "fewer or smaller images in each sample: a smaller limit of pixels, where the processor has one",
            "减少或缩小每个样本中的图像：处理器若有像素上限就调低",
        )
        .when("tower"),
        said(Target::Program, "frames of a lower resolution", "降低画面分辨率").when("video"),
        line(Target::Program, "-W 512 -H 512")
            .note(
                "or what the model was made for; --diffusion-fa and --vae-tiling where the release has them",
                "或模型原本的尺寸；版本支持时加 --diffusion-fa 和 --vae-tiling",
            )
            .when("by-ggml"),
        line(Target::Pytorch, "transforms.Resize({shown})").when("fed"),
        said(
            Target::Pytorch,
            "a smaller picture: its memory grows with the square of the side, or faster",
            "缩小图片：占用随边长平方或更快增长",
        )
        .when("drawn"),
        said(Target::Pytorch, "generate at {shown} pixels a side", "以边长 {shown} 像素生成").when("made"),
    ],
    fixtures: &["context/two-runs", "pytorch/malloc-async-cut"],
    advise,
};

/// True for the collections of tiny pictures that everybody begins with: 28 or 32 pixels a side leave nothing to save.
fn tiny(case: &Case) -> bool {
    let told = [case.context.program.get(), case.context.command.get()].into_iter().flatten().map(String::as_str);
    let files = case.context.frames.iter().filter(|frame| frame.is_user_code()).map(|frame| frame.file.as_str());
    told.chain(files).any(|text| subject::speaks(text, &["cifar*", "mnist*", "*mnist", "svhn"]))
}

fn advise(case: &Case) -> Advice {
    let side = case.context.image_size.value();
    let by_ggml = case.clue(Clue::StableDiffusionCpp);
    if !case.on_gpu() || case.engine().is_some() && !by_ggml || case.loading() {
        return Advice::Silent;
    }
    if tiny(case) {
        return Advice::Silent;
    }
    let drawn = case.draws_pictures();
    let tower = case.in_a_vision_tower();
    let vision = side.is_some()
        || by_ggml
        || drawn
        || tower
        || matches!(case.subject(), Some(Subject::Pictures | Subject::Video))
        || case.diffusion()
        || matches!(case.trainer(), Some(Trainer::Ultralytics | Trainer::MmEngine))
        || case.clue(Clue::ConvWorkspace);
    // A tensor of one sample is large by its sides.
    let first = case.incident.event.facts.number(Number::FirstDimension);
    let one_sample = (first.is_some_and(|first| first <= 1.0) || case.clue(Clue::OneSample)) && case.one_at_a_time();
    let another = case.subject().is_some_and(|subject| !matches!(subject, Subject::Pictures | Subject::Video));
    // What is drawn from a text is pictures.
    let drawn_from_text = case.diffusion() && case.subject() == Some(Subject::Text);
    if another && !drawn_from_text && !tower || !vision && !one_sample {
        return Advice::Silent;
    }
    let tried = side.map(|side| (side * 3 / 4 / 32 * 32).max(32));
    // Of 32 pixels a side there is no smaller half.
    if side.zip(tried).is_some_and(|(side, tried)| tried >= side) {
        return Advice::Silent;
    }
    let shown = tried.map_or("<smaller>".to_string(), |side| side.to_string());
    let share = match (side, tried) {
        (Some(side), Some(tried)) if side > tried => 1.0 - (tried as f64 / side as f64).powi(2),
        _ => 0.44,
    };
    if case.still_beyond(1.0 - share) {
        return Advice::Silent;
    }
    let transforms = case.shows_call(&["transforms.", "Resize("]);
    let option = side.zip(tried).and_then(|(side, tried)| case.own_option_with(Quantity::Image, side, tried));
    let spelled = option.is_some();
    let video = case.subject() == Some(Subject::Video) && (side.is_none() || !transforms);
    // What a loader feeds goes through transforms; what a program is given as a picture does not.
    let loaded = super::need::loader(case) && case.training() || side.is_some();
    let fed = vision && !drawn && !video && !case.diffusion() && loaded && !tower && transforms;
    let plain = vision && !one_sample && !drawn && !video && !case.diffusion() && !tower;
    let qwen = tower && case.context.frames.iter().any(|frame| frame.path().contains("qwen"));
    let draft = Draft::new(case, &FIX)
        .when("fed", fed)
        .when("by-ggml", by_ggml)
        .when("pictures", plain && !by_ggml && !fed && !case.training())
        .when("trained-on", plain && !fed && case.training())
        .when("tower", tower)
        .when("qwen-tower", qwen)
        .when("video", video)
        .when("drawn", drawn && !case.diffusion());
    draft
        .own(option.or_else(|| case.fewer_frames().filter(|_| side.is_none())))
        .when("fastai-1", case.first_fastai())
        .when("fastai-2", !case.first_fastai())
        .when("one-sample", one_sample)
        .when("made", case.diffusion())
        .frees_if(
            case.share_of_activations(0.3 * share, share, text!(en: "pixels saved", zh: "减少的像素")),
            case.ask_for_peak(),
        )
        .fill("shown", shown)
        .was(side.filter(|_| spelled || fed || case.diffusion() || case.trainer() == Some(Trainer::Ultralytics)))
        .because(text!(
            en: "activations grow with the number of pixels",
            zh: "激活随像素数增长"
        ))
}
