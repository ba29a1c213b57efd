//! A pool or workspace that a program of the user's own reserves at the start.

use super::prelude::*;
use crate::incident::context::AnnouncedPool;

pub const FIX: Fix = Fix {
    id: "smaller-pool",
    class: Class::Limits,
    title: || text!(en: "Reserve a smaller pool", zh: "减小预留的内存池"),
    doc: || {
        text!(
            en: "A pool, workspace or cache that a script reserves before its work leaves the rest of the device to \
                 everything else. Where the rest is what ran out, reserve less: at least what was missing, and what \
                 the later steps need on top.",
            zh: "脚本在开始工作前预留的内存池、工作区或缓存，会把设备的其余部分留给其他所有用途。如果耗尽的是其余部分，\
                 就少预留一些：至少是缺少的量，再加上后续步骤的需要。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu, Need::NoEngine],
    applies: |case| {
        case.confidence(CauseId::Preallocation) >= 0.3 && (announced(case).is_some() || share(case).is_some())
    },
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        said(
            Target::Program,
            "gpu_memory_utilization {lower}, where it is set",
            "在设置处改为 gpu_memory_utilization {lower}",
        ),
        said(
            Target::Program,
            "less than the {size} of line {line}: by {short} at least",
            "少于第 {line} 行的 {size}：至少减少 {short}",
        ),
    ],
    fixtures: &["fix/reserved-workspace"],
    advise,
};

/// The largest pool that was announced above the failure.
fn announced<'a>(case: &Case<'a>) -> Option<&'a AnnouncedPool> {
    // TensorFlow's has a setting of its own.
    let pools = case.context.pools.iter().filter(|pool| !pool.of_tensorflow);
    pools.max_by(|a, b| a.bytes.total_cmp(&b.bytes)).filter(|pool| pool.bytes >= MIB as f64)
}

/// The share of the device that the program says its pool takes.
fn share(case: &Case) -> Option<f64> {
    case.incident.event.facts.number(Number::GpuMemoryUtilization).filter(|share| (0.1..=1.0).contains(share))
}

fn advise(case: &Case) -> Advice {
    let short = case.missing().map_or(0, |missing| missing.high.max(0));
    let draft = Draft::new(case, &FIX).certainty(Certainty::Likely);
    let lower = share(case).zip(case.capacity()).and_then(|(share, all)| {
        let lower = ((share - short as f64 / all.middle().max(1) as f64 - 0.02) * 100.0).floor() / 100.0;
        (lower >= 0.1).then_some(lower)
    });
    let draft = match (lower, announced(case)) {
        (Some(lower), _) => draft.fill("lower", format!("{lower:.2}")),
        (None, Some(pool)) => {
            let size = show(pool.bytes as i128);
            draft
                .frees(
                    Interval::between(0, pool.bytes as i128),
                    text!(en: "at most the {size} that are reserved", zh: "最多为预留的 {size}"),
                )
                .fill("size", &size)
                .fill("line", pool.line)
                .fill("short", show(short.max(MIB as i128)))
        }
        (None, None) => return Advice::Silent,
    };
    draft.because(text!(
        en: "what was reserved at the start leaves too little for what comes on top",
        zh: "开始时预留的部分没有给后续需要留下足够的余量"
    ))
}
