//! Decode in tiles.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "vae-tiling",
    class: Class::Inference,
    title: || text!(en: "Tile or slice the VAE", zh: "VAE 分块（tiling/slicing）"),
    doc: || {
        text!(
            en: "Decoding to pixels often needs more than denoising; tiles bound it, with faint seams at worst.",
            zh: "解码到像素往往比去噪更耗显存；分块可以限制峰值，最坏只有轻微接缝。"
        )
    },
    helps: &[Work::Inference, Work::Compute],
    needs: &[Need::Gpu, Need::Loaded],
    applies: |case| {
        case.phase() == Some(Phase::Decode) || case.diffusion() && case.phase().is_none() && !case.constructs()
    },
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Benign },
    knobs: &[
        line(Target::Diffusers, "pipe.vae.enable_tiling(); pipe.vae.enable_slicing()").when("pipe"),
        said(Target::ComfyUi, "use the node VAE Decode (Tiled)", "使用节点 VAE Decode (Tiled)").when("core-node"),
        said(
            Target::ComfyUi,
            "tiling in the settings of the decoding node, where it has that",
            "在解码节点的设置中启用分块（若有）",
        )
        .when("other-node"),
        said(
            Target::ComfyUi,
            "the decoding node's own tile size, where it has one, or a shorter duration",
            "解码节点自带的分块大小（若有），或更短的时长",
        )
        .when("sound"),
        said(
            Target::Pytorch,
            "decode the latents in tiles: vae.enable_tiling() where the decoder has it",
            "对潜变量分块解码：解码器支持时调用 vae.enable_tiling()",
        )
        .when("code"),
        said(
            Target::Pytorch,
            "decode the latents in tiles, where the decoder has that setting",
            "对潜变量分块解码（若解码器有此设置）",
        )
        .unless("code"),
        said(Target::Program, "decode in tiles, where the program has that setting", "若程序有此设置，分块解码"),
        said(Target::SdWebUi, "--medvram, and the Tiled VAE extension", "--medvram，并安装 Tiled VAE 扩展"),
    ],
    fixtures: &["pytorch/malloc-async-cut"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.clue(Clue::TilesDecoding) {
        return Advice::Withheld(text!(en: "it decodes in tiles already", zh: "已在分块解码"));
    }
    // Nodes of an extension have decoders of their own, which the program's node does not take.
    let (sound, other) = (case.of_sound(), case.frames_of("/custom_nodes/"));
    Draft::new(case, &FIX)
        .when("core-node", !sound && !other)
        .when("other-node", !sound && other)
        .own(case.own_option_halved(Quantity::Tile))
        .frees_unknown(text!(
            en: "the decoder's peak divided by the number of tiles; its size is not in the log",
            zh: "解码峰值除以块数；日志没有给出其大小"
        ))
        .because(join(
            text!(
                en: "the decoder's activations grow with the number of pixels",
                zh: "解码器激活随像素数增长"
            ),
            case.situation(),
        ))
}
