//! Layers in host memory.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::text;

pub const FIX: Fix = Fix {
    id: "weight-offload",
    class: Class::Offload,
    title: || text!(en: "Keep some layers in host memory", zh: "部分层放到主机内存"),
    doc: || {
        text!(
            en: "Layers that do not fit run on the CPU or are streamed in, at 2 to 50 times their time.",
            zh: "放不下的层在 CPU 上运行或按需搬入，这些层会慢 2 到 50 倍。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_device() || !(case.inference() || case.loading() && case.learns()) {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (
                CauseId::Capacity,
                if matches!(case.engine(), Some("llama.cpp" | "ollama")) || case.diffusion() { 0.75 } else { 0.35 },
            ),
            (CauseId::KvCache, 0.2),
        ],
    )
    .frees_unknown(
        text!(en: "as many bytes as are moved; needs the size of a layer", zh: "等于移出的字节数；需要单层大小"),
    )
    .slows(0.2, 0.95)
    .knob("llama.cpp", "--fit on   # instead of a fixed -ngl; for MoE models: --n-cpu-moe N")
    .knob("ollama", "PARAMETER num_gpu <fewer layers>")
    .knob("vllm", "--cpu-offload-gb 8")
    .knob("diffusers", "pipe.enable_model_cpu_offload()   # or enable_sequential_cpu_offload(): least memory, slow")
    .knob("comfyui", "--lowvram")
    .knob("sd-webui", "--medvram   # or --lowvram")
    .knob("pytorch", "from_pretrained(..., device_map=\"auto\", max_memory={0: \"<GPU>GiB\", \"cpu\": \"<RAM>GiB\"})")
    .because(join(
        text!(en: "what the GPU cannot hold can stay in host memory", zh: "显存放不下的可以留在主机内存"),
        case.situation(),
    ))
}
