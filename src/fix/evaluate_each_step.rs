//! MLX: lazy graphs that hold every buffer of the past.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::{Number, Target};
use crate::text;

pub const FIX: Fix = Fix {
    id: "evaluate-each-step",
    class: Class::Leak,
    title: || text!(en: "Evaluate the graph in every step", zh: "每一步都求值计算图"),
    doc: || {
        text!(
            en: "MLX computes lazily: what is never evaluated keeps all that led to it, as a number of Metal buffers that has a limit of its own, whatever the bytes. Evaluate once per step and bound the cache of freed buffers.",
            zh: "MLX 是惰性求值：未求值的结果会持有其全部上游，占用的 Metal 缓冲区数量有独立上限，与字节数无关。每步求值一次，并限制空闲缓冲区缓存。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() {
        return Advice::Silent;
    }
    let count = case.incident.event.facts.number(Number::ResourceLimitCount);
    let factor = if count.is_some() { 1.0 } else { 0.3 };
    Draft::new(
        case,
        &[(CauseId::FrameworkLimit, 0.7), (CauseId::LeakGrowth, 0.7), (CauseId::Capacity, 0.25), (CauseId::TransientPeak, 0.2)],
    )
    .weight(factor)
    .frees_unknown(text!(en: "buffers of earlier steps; their number is limited, not their bytes", zh: "之前各步的缓冲区；受限的是数量而不是字节"))
    .slows(0.0, 0.05)
    .certainty(if count.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
    .knob(Target::Mlx, "mx.eval(model.parameters(), optimizer.state, loss)   # once per step")
    .knob(Target::Mlx, "mx.set_cache_limit(2 << 30)   # bytes of freed buffers that are kept")
    .because(match count {
        Some(count) => {
            let count = count as u64;
            text!(en: "{count} is a number of buffers, not of bytes", zh: "{count} 是缓冲区的个数，而不是字节数")
        }
        None => text!(en: "what is not evaluated keeps its inputs alive", zh: "未求值的结果会一直持有其输入"),
    })
}
