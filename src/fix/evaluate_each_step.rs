//! MLX: lazy graphs that hold every buffer of the past.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "evaluate-each-step",
    class: Class::Leak,
    title: || text!(en: "Evaluate the graph in every step", zh: "每一步都求值计算图"),
    doc: || {
        text!(
            en: "MLX computes lazily: what is never evaluated keeps all that led to it, as a number of Metal \
                 buffers that has a limit of its own, whatever the bytes. Evaluate once per step and bound the \
                 cache of freed buffers.",
            zh: "MLX 是惰性求值：未求值的结果会持有其全部上游，占用的 Metal 缓冲区数量有独立上限，与字节数无关。每步\
                 求值一次，并限制空闲缓冲区缓存。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.05), numerics: Numerics::Same },
    knobs: &[
        line(Target::Mlx, "mx.eval(model.parameters(), optimizer.state, loss)")
            .note("once per step", "每步一次")
            .when("trains"),
        line(Target::Mlx, "mx.eval(result)")
            .note("of each step, once it is made", "每步的结果得出后立即求值")
            .unless("trains"),
        line(Target::Mlx, "mx.set_cache_limit(2 << 30)")
            .note("bytes of freed buffers that are kept", "保留的空闲缓冲区字节数"),
    ],
    fixtures: &["metal/count"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let count = case.incident.event.facts.number(Number::ResourceLimitCount);
    if count.is_none() && case.confidence(CauseId::LeakGrowth) < 0.3 {
        return Advice::Silent;
    }
    // Who runs a server or a tool has no step to write into; a later release of it may evaluate more often.
    let released = case.has_a_setting_of_its_own(FIX.id);
    if (case.of_a_tool() || case.clue(Clue::Serves)) && !released {
        return Advice::Silent;
    }
    // mlx_lm's trainer does, and its frame shows the call.
    if case.context.frames.iter().any(|frame| frame.code.as_deref().is_some_and(|code| code.contains("mx.eval("))) {
        return Advice::Withheld(text!(
            en: "the traceback shows that each step is evaluated",
            zh: "调用栈显示每一步都已求值"
        ));
    }
    let factor = if count.is_some() { 1.0 } else { 0.3 };
    let draft = Draft::new(case, &FIX);
    let draft = match released {
        true => draft.titled(text!(en: "A later release, which keeps fewer buffers", zh: "升级到保留更少缓冲区的版本")),
        false => draft,
    };
    draft
        .weight(factor)
        .frees_unknown(text!(
            en: "buffers of earlier steps; their number is limited, not their bytes",
            zh: "之前各步的缓冲区；受限的是数量而不是字节"
        ))
        .certainty(if count.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(match count {
            Some(count) => {
                let count = count as u64;
                text!(en: "{count} is a number of buffers, not of bytes", zh: "{count} 是缓冲区的个数，而不是字节数")
            }
            None => text!(en: "what is not evaluated keeps its inputs alive", zh: "未求值的结果会一直持有其输入"),
        })
}
