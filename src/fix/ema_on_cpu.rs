//! The averaged weights elsewhere.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "ema-on-cpu",
    class: Class::Offload,
    title: || text!(en: "Keep EMA weights on the CPU", zh: "把 EMA 权重放在 CPU"),
    doc: || {
        text!(
            en: "An exponential moving average is one more copy of the weights, 2 or 4 bytes per parameter; a \
                 reference model for DPO or distillation likewise.",
            zh: "指数滑动平均是又一份权重，每参数 2 或 4 字节；DPO 或蒸馏的参考模型同理。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training],
    applies: |_| true,
    costs: Costs { slows: (0.01, 0.05), numerics: Numerics::Same },
    knobs: &[
        said(Target::Diffusers, "remove --use_ema, or add --offload_ema", "去掉 --use_ema，或加上 --offload_ema")
            .when("example-script"),
        line(Target::Pytorch, "ema = {name: value.detach().cpu() for name, value in model.state_dict().items()}")
            .note("and update every 10 steps", "每 10 步更新一次"),
    ],
    fixtures: &["fix/averaged-weights"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let named = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "ema") || text.contains("moving_average")
    };
    let frames = || case.context.frames.iter();
    let mentioned = case.context.command.get().is_some_and(|command| named(command))
        || frames().any(|frame| named(&frame.function) || frame.code.as_deref().is_some_and(named));
    // A copy that is nothing beside the device frees nothing.
    let small =
        case.of_parameters(4.0, 4.0).zip(case.capacity()).is_some_and(|((copy, _), all)| copy.high * 100 < all.low);
    // Under FSDP it is `state_dict()` itself that gathers the whole weights on the device.
    let gathers = case.frames_of("/fsdp/") && frames().any(|frame| frame.function.contains("state_dict"));
    if !case.on_gpu() || !case.learns() || !mentioned || small || gathers {
        return Advice::Silent;
    }
    Draft::new(case, &FIX)
        .when("example-script", case.runs_an_example_of_diffusers())
        .when("updating", case.averaging())
        .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
        .because(text!(
            en: "the averaged copy is used rarely and need not lie on the GPU",
            zh: "平均副本很少用到，不必放在显存"
        ))
}
