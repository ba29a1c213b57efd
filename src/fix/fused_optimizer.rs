//! Step without temporaries.

use super::prelude::*;
use crate::incident::context::Frame;

pub const FIX: Fix = Fix {
    id: "fused-optimizer",
    class: Class::Optimizer,
    title: || text!(en: "Fused optimizer step", zh: "融合优化器（fused=True）"),
    doc: || {
        text!(
            en: "On CUDA, Adam and AdamW run in the foreach form unless told otherwise, which needs temporaries of \
                 about the parameters' size: 4 bytes per 32-bit parameter. The fused form needs none; \
                 `foreach=False` needs a few times the largest tensor. It matters only where the optimizer's step \
                 is the peak.",
            zh: "CUDA 上 Adam/AdamW 默认以 foreach 形式执行，需要约等于参数大小的临时内存：每个 32 位参数 4 字\
                 节。fused 形式不需要；`foreach=False` 只需最大张量的几倍。只有峰值出现在优化器步进时才有意义。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training],
    applies: |_| true,
    costs: Costs { slows: (-0.05, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "optim=\"adamw_torch_fused\""),
        line(Target::Pytorch, "torch.optim.AdamW(params, fused=True)").note("or foreach=False", "或 foreach=False"),
    ],
    fixtures: &["fix/temporaries-of-the-step"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // States of their own are made by every form of the step; only the temporaries go.
    let foreach = |frame: &Frame| {
        let code = frame.code.as_deref().unwrap_or_default();
        code.contains("_foreach_") || frame.function.starts_with("_multi_tensor")
    };
    if !case.on_gpu() || !case.pytorch() || !case.context.frames.iter().rev().take(3).any(foreach) {
        return Advice::Silent;
    }
    Draft::new(case, &FIX)
        .when("foreach", true)
        .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
        .certainty(Certainty::Likely)
        .because(text!(
            en: "it failed in the optimizer's step, whose foreach form makes temporaries of the parameters' size",
            zh: "失败发生在优化器步进，foreach 形式会产生与参数同样大小的临时张量"
        ))
}
