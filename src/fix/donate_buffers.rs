//! A compiled program whose outputs take the place of its inputs.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "donate-buffers",
    class: Class::Activations,
    title: || text!(en: "Donate the inputs of the step", zh: "将训练步的输入缓冲区捐出（donate）"),
    doc: || {
        text!(
            en: "A jitted training step takes the state and returns a new one: both are alive at once unless the \
                 inputs are donated. Donation lets XLA write the outputs over the inputs; the old state must not \
                 be used afterwards.",
            zh: "jit 编译的训练步接收旧状态并返回新状态：若不捐出输入，两份会同时存在。捐出后 XLA 可将输出写在输入之\
                 上；之后不能再使用旧状态。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    // A step that is trained, or a program of which the report says what goes in and out.
    applies: |case| {
        let numbers = &case.incident.event.facts.numbers;
        let reported = numbers.contains_key(&Number::Parameter) && numbers.contains_key(&Number::Output);
        // A library's solver compiles its steps itself.
        let elsewhere = case.leaves_it_to_a_library() || case.of_a_tool();
        !case.inference() && (case.training() || reported) && !elsewhere
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[line(Target::Jax, "step = jax.jit(step, donate_argnums=(0,))")
        .note("the state; do not use the old one afterwards", "捐出旧状态；之后不要再使用它")
        // A packaged program compiles its steps by itself.
        .unless("installed")],
    fixtures: &["jax/buffer-assignment"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.incident.event.of_donated_arguments() {
        return Advice::Withheld(text!(en: "outputs lie over the inputs already", zh: "输出已经复用输入的内存"));
    }
    let facts = &case.incident.event.facts;
    let (inputs, outputs) = (facts.number(Number::Parameter), facts.number(Number::Output));
    let shared = inputs.zip(outputs).map(|(inputs, outputs)| inputs.min(outputs).max(0.0) as u64);
    Draft::new(case, &FIX)
        .frees_if(
            shared.filter(|bytes| *bytes > 0).map(|bytes| {
                let shown = show(bytes as i128);
                (
                    Interval::between(0, bytes as i128),
                    text!(
                        en: "at most min(inputs, outputs) = {shown}, unless already donated",
                        zh: "最多 min(输入, 输出) = {shown}，已捐出的除外"
                    ),
                )
            }),
            text!(
                en: "the smaller of the program's inputs and outputs; XLA's report of the failure prints both",
                zh: "程序输入与输出中较小者；XLA 的报告会打印两者"
            ),
        )
        .certainty(Certainty::Likely)
        .because(text!(
            en: "inputs and outputs of the step are held at the same time",
            zh: "训练步的输入与输出会同时占用内存"
        ))
}
