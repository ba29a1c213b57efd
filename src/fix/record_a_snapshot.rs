//! The one datum that decides.

use super::prelude::*;
use crate::incident::release;

pub const FIX: Fix = Fix {
    id: "record-a-snapshot",
    class: Class::Diagnosis,
    title: || text!(en: "Record what the memory holds", zh: "记录内存中的内容"),
    doc: || {
        text!(
            en: "A memory snapshot of the failing step shows every block with its stack. PyTorch 2.1 or newer can \
                 write one when an allocation fails.",
            zh: "失败那一步的显存快照能显示每个块及其调用栈。PyTorch 2.1 或更新可在分配失败时写出。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Running],
    // One request that no device holds is in no recording: it was refused.
    applies: |case| case.confidence(CauseId::SingleHugeAllocation) < 0.8,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "print(torch.cuda.memory_summary())")
            .note("in an except block around the step", "放在包住该步的 except 块中")
            .when("old"),
        line(
            Target::Pytorch,
            "torch.cuda.memory._record_memory_history(); ... ; torch.cuda.memory._dump_snapshot(\"oom.pickle\")",
        )
        .note("in an except block", "放在 except 块中")
        .when("new"),
        line(
            Target::Shell,
            "cat /sys/fs/cgroup/memory.stat /sys/fs/cgroup/memory/memory.stat; ps -eo pid,rss,cmd --sort=-rss | head",
        )
        .note("the first of cgroup v2, the second of v1", "前者属于 cgroup v2，后者属于 v1")
        .when("group"),
        line(
            Target::Shell,
            "cat /sys/fs/cgroup/memory/memory.stat /sys/fs/cgroup/memory/memory.failcnt; ps -eo pid,rss,cmd \
                 --sort=-rss | head",
        )
        .when("group-v1"),
        line(Target::Shell, "sstat -a -j {job} --format=JobID,MaxRSS,AveRSS")
            .note("again and again while it runs", "运行期间反复执行")
            .when("slurm"),
        line(Target::Shell, "qstat -f {job} | grep resources_used")
            .note("again and again while it runs", "运行期间反复执行")
            .when("pbs"),
        line(Target::Shell, "qstat -j {job} | grep usage")
            .note("again and again while it runs", "运行期间反复执行")
            .when("sge"),
        line(Target::Shell, "bjobs -l {job} | grep MEM")
            .note("again and again while it runs", "运行期间反复执行")
            .when("lsf"),
        line(Target::Kubernetes, "kubectl top pod --containers")
            .note("again and again until it is killed", "反复执行，直到被终止")
            .when("contained"),
        line(Target::Shell, "cat /proc/meminfo; ps -eo pid,rss,cmd --sort=-rss | head").when("machine"),
        line(Target::Shell, "vm_stat; top -l 1 -o mem -n 10 -stats pid,command,mem").when("mac"),
        line(Target::Shell, "top -b | head; ps -axm -o pid,rss,command | head").when("bsd"),
        line(Target::Shell, "while sleep 1; do date; rocm-smi --showmeminfo vram; done > gpu.log").when("hip"),
        line(Target::Shell, "nvidia-smi --query-gpu=timestamp,memory.used,memory.total --format=csv -l 1 > gpu.csv")
            .when("cuda"),
    ],
    fixtures: &["julia/allocated-cached"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if let Some(recording) = case.proof() {
        let cite = recording.cite();
        return Advice::Withheld(Text::new(
            format!("there is one of this failure already ({})", cite.en),
            format!("本次失败已有快照（{}）", cite.zh),
        ));
    }
    let draft = Draft::new(case, &FIX)
        .frees_unknown(text!(en: "frees nothing: it settles the cause", zh: "不释放内存：用于确定原因"));
    if case.caching_allocator() && case.engine().is_none() {
        if !release::knows(case.incident, "_record_memory_history") {
            return draft
                .when("old", true)
                .because(text!(en: "the summary separates tensors from cache", zh: "该摘要能区分张量与缓存"));
        }
        return draft.when("new", true).because(text!(
            en: "one snapshot of the failing step tells weights, activations and waste apart",
            zh: "失败步骤的一份快照即可区分权重、激活与浪费"
        ));
    }
    if case.on_host() {
        // Nothing can be typed in a build's step, or before the first process runs.
        let event = &case.incident.event;
        let began = !event.no_process_to_kill() && !event.never_began();
        if case.clue(Clue::ImageBuild) || !began {
            return Advice::Silent;
        }
        // A job's node is not where its user types.
        let batch = match case.warden() {
            Some(Program::Slurm) => Some("slurm"),
            Some(Program::Pbs) => Some("pbs"),
            Some(Program::Sge) => Some("sge"),
            Some(Program::Lsf) => Some("lsf"),
            _ => None,
        };
        // Where the machine itself ran short, no group's account tells of it.
        let whole = matches!(case.program(), Program::LinuxKernel | Program::EarlyOom);
        let group = case.resource() == Resource::Cgroup || !whole && case.in_a_container();
        let v1 = of_cgroup_v1(case);
        let draft = batch.into_iter().fold(draft.fill("job", case.job()), |draft, batch| draft.when(batch, true));
        let typed = batch.is_none();
        let draft = draft
            .when("group", typed && group && !v1)
            .when("group-v1", typed && group && v1)
            .when("contained", typed && group)
            .when("machine", typed && !group && !case.macos() && !case.bsd())
            .when("mac", case.macos())
            .when("bsd", case.bsd());
        return draft.because(text!(
            en: "anonymous, shared and file memory at the peak tell a leak from a load",
            zh: "峰值时的匿名、共享与文件内存能区分泄漏和正常负载"
        ));
    }
    let tool = if case.accelerator() == Accelerator::Hip { "hip" } else { "cuda" };
    draft
        .when(tool, case.discrete_gpu())
        .because(text!(en: "memory over time tells growth from one jump", zh: "显存曲线能区分缓慢增长与一次跳变"))
}

/// True where control groups are those of version 1: the log shows them, or it comes from before any distribution had
/// the second by default, which was Fedora 31 in October 2019 (Debian and Ubuntu with their kernels 5.10 and 5.13).
fn of_cgroup_v1(case: &Case) -> bool {
    let (origin, dated) = (&case.context.origin, case.context.dated.value());
    origin.cgroup_v1
        || origin.kernel.is_some_and(|kernel| kernel < (5, 8))
        || dated.is_some_and(|dated| dated < (2019, 10))
}
