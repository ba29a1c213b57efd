//! The one datum that decides.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::{Accelerator, Target};
use crate::text;
use crate::text::Text;

pub const FIX: Fix = Fix {
    id: "record-a-snapshot",
    class: Class::Diagnosis,
    title: || text!(en: "Record what decides", zh: "记录能定案的数据"),
    doc: || {
        text!(
            en: "A memory snapshot of the failing step shows every block with its stack. PyTorch 2.1 or newer can write one when an allocation fails.",
            zh: "失败那一步的内存快照能显示每个块及其调用栈。PyTorch 2.1 或更新可在分配失败时写出。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if let Some(recording) = case.proof() {
        let cite = recording.cite();
        return Advice::Withheld(Text::new(
            format!("there is one of this failure already ({})", cite.en),
            format!("本次失败已有快照（{}）", cite.zh),
        ));
    }
    let draft = Draft::new(
        case,
        &[
            (CauseId::Capacity, 0.1),
            (CauseId::Fragmentation, 0.1),
            (CauseId::TransientPeak, 0.12),
            (CauseId::LeakGrowth, 0.12),
            (CauseId::SingleHugeAllocation, 0.08),
            (CauseId::NonFramework, 0.08),
            (CauseId::HostMemory, 0.1),
            (CauseId::HostWorkers, 0.1),
            (CauseId::OtherProcess, 0.04),
        ],
    )
    .frees_unknown(text!(en: "frees nothing: it settles the cause", zh: "不释放内存：用于确定原因"));
    if case.caching_allocator() && case.engine().is_none() {
        let old = case.torch_version().is_some_and(|version| version < (2, 1));
        if old {
            return draft
                .knob(Target::Pytorch, "print(torch.cuda.memory_summary())   # in an except block around the step")
                .because(text!(en: "the summary separates tensors from cache", zh: "该摘要能区分张量与缓存"));
        }
        return draft
            .knob(Target::Pytorch, "torch.cuda.memory._record_memory_history(); ... ; torch.cuda.memory._dump_snapshot(\"oom.pickle\")   # in an except block")
            .because(text!(
                en: "one snapshot of the failing step tells weights, activations and waste apart",
                zh: "失败步骤的一份快照即可区分权重、激活与浪费"
            ));
    }
    if case.on_host() {
        return draft
            .knob(
                Target::Shell,
                "cat /sys/fs/cgroup/memory.stat /sys/fs/cgroup/memory.events; ps -eo pid,rss,cmd --sort=-rss | head",
            )
            .because(text!(
                en: "anonymous, shared and file memory at the peak tell a leak from a load",
                zh: "峰值时的匿名、共享与文件内存能区分泄漏和正常负载"
            ));
    }
    if !case.discrete_gpu() {
        return Advice::Silent;
    }
    let course = match case.accelerator() {
        Accelerator::Hip => "while sleep 1; do date; rocm-smi --showmeminfo vram; done > gpu.log",
        _ => "nvidia-smi --query-gpu=timestamp,memory.used,memory.total --format=csv -l 1 > gpu.csv",
    };
    draft
        .knob(Target::Shell, course)
        .because(text!(en: "the course of memory tells growth from one jump", zh: "显存曲线能区分缓慢增长与一次跳变"))
}
