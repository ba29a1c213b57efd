//! Swap and page file.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "swap",
    class: Class::Host,
    title: || text!(en: "Add swap or a larger page file", zh: "增加 swap 或页面文件"),
    doc: || {
        text!(
            en: "Absorbs a short peak on the host, slowly. On Windows the page file bounds what may be committed \
                 even while RAM is free. It does nothing for GPU memory, and little inside a container with its \
                 own limit.",
            zh: "能缓慢吸收主机上的短时峰值。在 Windows 上，即使内存空闲，页面文件也限制可提交的总量。对显存无效，在\
                 有独立上限的容器内作用也很小。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Process, Need::NoOwnLimit],
    applies: |case| {
        case.confidence(CauseId::SingleHugeAllocation) < 0.8
            && !case.asks_beyond_machines()
            && !case.filled_by_the_kernel()
            && !case.kept_to_a_budget()
            && !case.incident.event.of_a_count()
    },
    costs: Costs { slows: (0.05, 0.8), numerics: Numerics::Same },
    knobs: &[
        said(
            Target::Windows,
            "System → Advanced → Performance → Virtual memory: a page file of at least the RAM's size",
            "系统 → 高级 → 性能 → 虚拟内存：页面文件至少与内存一样大",
        ),
        said(
            Target::Program,
            "on Windows: System → Advanced → Performance → Virtual memory: a page file of at least the RAM's size",
            "Windows：系统 → 高级 → 性能 → 虚拟内存：页面文件至少与内存一样大",
        )
        .when("commit"),
        line(
            Target::Shell,
            "sudo fallocate -l {size}G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon \
                 /swapfile",
        )
        .unless("commit"),
    ],
    fixtures: &["ollama/ram"],
    advise,
};

/// GiB of swap where nothing tells how much the machine has: a small one with a card for a disk has room for no more.
const USUAL: u64 = 8;

fn advise(case: &Case) -> Advice {
    if let Some(why) = case.beyond_its_addresses() {
        return Advice::WontHelp(why);
    }
    if case.short_of_commit() {
        return Draft::new(case, &FIX)
            .titled(text!(en: "A larger page file", zh: "加大页面文件"))
            .when("commit", !case.windows())
            .frees_unknown(text!(en: "as much as the page file grows", zh: "等于页面文件的增量"))
            .because(text!(
                en: "Windows backs device memory by RAM and page file: free memory of the device is no use without it",
                zh: "Windows 用内存和页面文件支撑显存：没有它们，空闲的显存也无法使用"
            ));
    }
    // Of ten miners that could not make their tables four needed a larger page file, and no larger card.
    let told = [Fact::Requested, Fact::Limit].iter().any(|fact| case.incident.event.facts.get(*fact).is_some());
    let without_a_limit = !told && !case.sign(Sign::BufferSizeLimit);
    if case.on_gpu() && case.context.origin.mines && without_a_limit {
        return Draft::new(case, &FIX)
            .titled(text!(en: "A larger page file", zh: "加大页面文件"))
            .when("commit", !case.windows())
            .weight(if case.windows() { 1.0 } else { 0.4 })
            .frees_unknown(text!(en: "as much as the page file grows", zh: "等于页面文件的增量"))
            .because(text!(
                en: "on Windows what all cards hold together is backed by RAM and page file",
                zh: "在 Windows 上，所有显卡占用的显存之和都由内存和页面文件支撑"
            ));
    }
    if case.on_gpu() {
        // Where RAM is among the candidates a larger page file is no folk remedy.
        if case.pytorch() && case.windows() && case.confidence(CauseId::HostMemory) < 0.1 {
            return Advice::WontHelp(text!(
                en: "swap and more RAM do not extend what PyTorch may allocate on the GPU",
                zh: "swap 或更多内存并不能增加 PyTorch 可用的显存"
            ));
        }
        return Advice::Silent;
    }
    if !case.on_host() || case.resource() == Resource::Shm || case.resource() == Resource::Cgroup {
        return Advice::Silent;
    }
    if case.program().own_limit().is_some() && case.confidence(CauseId::FrameworkLimit) > 0.5 {
        return Advice::Silent;
    }
    if case.of_a_java_heap() || case.refused_far_below_all().is_some() {
        return Advice::Silent;
    }
    // A kubelet refuses to start beside swap by default, and in a container, a cloud's notebook or a cluster's node
    // nobody may switch it on.
    // macOS makes its swap files itself.
    if case.macos() || case.bsd() || !case.windows() && !case.on_a_machine_of_ones_own() {
        return Advice::Silent;
    }
    // What is asked for at once must have room there: beside that a few GiB are nothing.
    let asked = case.requested().and_then(|requested| u64::try_from(requested.low).ok()).map_or(0, |asked| asked / GIB);
    if asked > 2 * USUAL && !case.windows() {
        return Advice::Silent;
    }
    let commit = if case.windows() || case.sign(Sign::AddressSpaceLimit) { 1.3 } else { 1.0 };
    // As much as the machine has, where that is told.
    let machine = case.context.host_total.get().map(|total| total.bytes / GIB + 1);
    Draft::new(case, &FIX)
        .fill("size", machine.unwrap_or(USUAL).clamp(2, 2 * USUAL).max(asked + 1))
        .weight(commit)
        .frees_unknown(text!(en: "as much as the swap added", zh: "等于新增的 swap"))
        .because(text!(
            en: "a short peak can go to disk instead of killing the job",
            zh: "短时峰值可以落到磁盘而不是杀死任务"
        ))
}
