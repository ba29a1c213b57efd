//! Decode in tiles.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

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
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.diffusion() {
        return Advice::Silent;
    }
    Draft::new(case, &[(CauseId::Capacity, 0.45), (CauseId::TransientPeak, 0.6), (CauseId::SingleHugeAllocation, 0.55)])
        .frees_unknown(text!(en: "the decoder's peak divided by the number of tiles; its size is not in the log", zh: "解码峰值除以块数；日志没有给出其大小"))
        .slows(0.0, 0.3)
        .numerics(Numerics::Benign)
        .knob(Target::Diffusers, "pipe.vae.enable_tiling(); pipe.vae.enable_slicing()")
        .knob(Target::ComfyUi, "use the node VAE Decode (Tiled)")
        .knob(Target::SdWebUi, "--medvram, and the Tiled VAE extension")
        .because(join(text!(en: "the decoder's activations grow with the number of pixels", zh: "解码器激活随像素数增长"), case.situation()))
}
