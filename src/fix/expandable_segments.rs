//! Let PyTorch grow its segments instead of cutting new ones.

use super::alloc_conf::AllocConf;
use super::prelude::*;
use super::replayed::{self, Replayed};

pub const FIX: Fix = Fix {
    id: "expandable-segments",
    class: Class::AllocConfig,
    title: || text!(en: "Turn on expandable segments", zh: "开启 expandable_segments"),
    doc: || {
        text!(
            en: "PyTorch then maps memory in 20 MiB granules into growing segments, so that free pieces join \
                 instead of staying apart. PyTorch 2.1 or newer on Linux; on Windows the option is accepted and \
                 does nothing. A live tensor still pins its own granule. Together with `max_split_size_mb` PyTorch \
                 up to 2.4 fails an internal assertion at the next shortage: drop that option.",
            zh: "PyTorch 以 20 MiB 为粒度把物理显存映射进可增长的段，空闲块可以合并而不再各自孤立。需要 Linux 上的 \
                 PyTorch 2.1 或更新；Windows 上接受该选项但不起作用。仍存活的张量会占住自己所在的粒度。与 \
                 `max_split_size_mb` 同用时，PyTorch 2.4 及更早版本在显存不足时会触发内部断言：请去掉后者。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Running],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.03), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "export {variable}={kept}expandable_segments:True"),
        line(Target::Shell, "export {variable}={kept}expandable_segments:True"),
        line(Target::Pytorch, "os.environ[\"{variable}\"] = \"{kept}expandable_segments:True\"")
            .note("before importing torch", "在导入 torch 之前"),
    ],
    fixtures: &["context/ultralytics", "pytorch/capacty-wrapped"],
    advise,
};

/// Below this share pieces of the cache are no cause worth a change.
const WORTH_A_TRY: f64 = 0.05;

fn advise(case: &Case) -> Advice {
    if case.on_host() && case.context.alloc_conf.is_known() {
        return Advice::WontHelp(text!(
            en: "the allocator's settings are about GPU memory; what ran out is RAM",
            zh: "分配器选项只影响显存，而耗尽的是主机内存"
        ));
    }
    if case.resource() == Resource::KvCache && case.engine().is_some_and(|engine| engine.sizes_pool_by_device()) {
        return Advice::WontHelp(text!(
            en: "the cache is planned from sizes before it is allocated: no fragment is in its way, so no allocator \
                 option makes it fit",
            zh: "KV cache 在分配前就按大小计算：与碎片无关，任何分配器选项都无法让它放得下"
        ));
    }
    if !case.caching_allocator() {
        return Advice::Silent;
    }
    let conf = AllocConf::of(case);
    if conf.expandable() || case.sign(Sign::ExpandableSegmentsOn) {
        return Advice::Withheld(
            text!(en: "expandable_segments:True is already set", zh: "已设置 expandable_segments:True"),
        );
    }
    // No piece of the cache is in the way of what the device has free.
    if case.short_of_commit() && !case.windows() {
        return Advice::Silent;
    }
    if case.windows() {
        return Advice::Withheld(text!(
            en: "Windows builds accept expandable segments and ignore them",
            zh: "Windows 版接受 expandable_segments 但不起作用"
        ));
    }
    // c10/cuda/CUDACachingAllocator.cpp, up to 2.12.
    if case.accelerator() == Accelerator::Hip {
        return Advice::Withheld(text!(
            en: "builds for ROCm accept expandable segments and leave them off, up to PyTorch 2.12 at least",
            zh: "ROCm 版接受 expandable_segments 但不启用（至少到 PyTorch 2.12）"
        ));
    }
    if case.torch_version().is_some_and(|version| version < (2, 1)) {
        return Advice::Withheld(text!(
            en: "expandable segments need PyTorch 2.1; this is an older one",
            zh: "expandable_segments 需要 PyTorch 2.1，当前版本更旧"
        ));
    }
    let replayed = replayed::settings(case, |conf| conf.contains("expandable_segments:True"));
    if let Some(Replayed::Fails(why)) = replayed {
        return Advice::WontHelp(why);
    }
    if let (Some(cached), Some(requested)) = (case.cached(), case.requested()) {
        let free = case.free().unwrap_or(Interval::exactly(0)).at_least_zero();
        if (cached + free).high < requested.low {
            let (c, f, r) = (about(cached), show(free.middle()), show(requested.middle()));
            return Advice::WontHelp(text!(
                en: "even all {c} cached and {f} free together are less than the {r} requested: no allocator option \
                     can serve it",
                zh: "缓存的 {c} 加空闲的 {f} 全部合起来也不到申请的 {r}：任何分配器选项都无法满足"
            ));
        }
    }
    if case.confidence(CauseId::Fragmentation) < WORTH_A_TRY && replayed.is_none() && !little_is_missing(case) {
        return Advice::Withheld(text!(
            en: "nothing in the log shows memory in pieces",
            zh: "日志中看不出内存碎片"
        ));
    }
    let conf = match case.torch_version() {
        Some(version) if version >= (2, 5) => conf,
        _ => conf.without("max_split_size_mb"),
    }
    .without("expandable_segments");
    if let Some(Replayed::Serves { saves, formula, why, certainty, .. }) = replayed {
        // The recording ends with the failure: where the job fills the device anyway, later requests may fail.
        return Draft::new(case, &FIX)
            .when("replayed", true)
            .fill("variable", conf.variable())
            .fill("kept", conf.kept())
            .frees(saves, formula)
            .certainty(certainty)
            .because(why);
    }
    Draft::new(case, &FIX)
        // Where a small part of the cache would do, joining pieces serves this request even if the job is merely large.
        .when("little-missing", little_is_missing(case))
        .fill("variable", conf.variable())
        .fill("kept", conf.kept())
    .frees_if(
        case.of_the_cache(),
        text!(
            en: "the message does not print how much is cached; torch.cuda.memory_reserved() − memory_allocated() does",
            zh: "报错没有给出缓存量；torch.cuda.memory_reserved() − memory_allocated() 可得"
        ),
    )
    .certainty(Certainty::Likely)
    .because(join(reserve(case), case.situation()))
}

/// True when a quarter of what is cached, in whatever pieces, would have served the request together with what is free.
fn little_is_missing(case: &Case) -> bool {
    match (case.cached(), case.requested(), case.free()) {
        (Some(cached), Some(requested), Some(free)) => (requested - free).high * 4 <= cached.low,
        _ => false,
    }
}

/// The comparison that speaks for the option.
fn reserve(case: &Case) -> Text {
    match case.cached() {
        Some(cached) => {
            let shown = about(cached);
            text!(
                en: "{shown} is cached in pieces; growing segments let the pieces join",
                zh: "有 {shown} 以碎片形式留在缓存中；可增长的段能让碎片合并"
            )
        }
        None => text!(
            en: "pieces of the cache can join when segments grow",
            zh: "段可以增长后，缓存中的碎片能够合并"
        ),
    }
}
