//! A limit set by the framework or its user, below the device's.

use super::nature::{Asker, asker};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::domain::program::{Kind, PytorchAllocator};
use crate::domain::{Accelerator, Program, System};
use crate::incident::context::Clue;
use crate::incident::{Incident, release};
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

pub const CAUSE: Cause = Cause {
    id: CauseId::FrameworkLimit,
    title: || text!(en: "a limit below the hardware's stopped it", zh: "受限于低于硬件容量的人为上限"),
    doc,
    refute,
    fixtures: &[
        "pytorch/allowed",
        "pytorch/expandable-reserve",
        "pytorch/mempool",
        "host/group-of-page-tables",
        "sglang/fraction",
        "ollama/estimate",
    ],
};

fn doc() -> Text {
    Text::new(
        "A limit below the hardware's refused the request: a memory fraction, a watermark, a partition, an \
         address-space limit, a pool's maximum, a carve-out.\n\n\
         **How it shows.** The device or machine has room, yet the request is refused; or the message prints a limit \
         (`allowed`, `max allowed`, `limit set to`) that reserved plus requested memory exceeds. On Apple devices a \
         limit below 9 GiB was set by somebody. An integrated AMD GPU reports a carve-out and mappable memory as one \
         capacity.\n\n\
         **Told from its neighbours.** “Free” is read after the failure, so a few hundred MiB mean nothing on a full \
         device. Without a printed limit and without a sign of one, see *an error that only looks like it*.\n\n\
         **Example.** `MPS allocated: 6.12 GiB … max allowed: 6.00 GiB` on a machine with 16 GB: the watermark was \
         lowered.",
        "低于硬件容量的人为上限拒绝了请求：显存占比、水位线、分区、地址空间限制、内存池上限、划拨显存。\n\n\
         **表现。** 设备或机器仍有空间却拒绝请求；或报错打印了上限（`allowed`、`max allowed`、`limit set to`），而保留\
         量加请求量超过它。Apple 设备上低于 9 GiB 的上限是人为设置的。集成 AMD GPU 会把划拨显存和可映射内存加在一起报告\
         为容量。\n\n\
         **与相近原因的区别。** “free” 在失败之后读取，因此设备占满时几百 MiB 的空闲说明不了什么。若没有打印上限也没有\
         其他迹象，见*看似内存不足的其他错误*。\n\n\
         **示例。** 16 GB 机器上 `MPS allocated: 6.12 GiB … max allowed: 6.00 GiB`：水位线被调低了。",
    )
}

/// True where a watch over containers killed one for its virtual memory: no limit of the shell or a group had a part.
fn counts_addresses(incident: &Incident) -> bool {
    let event = &incident.event;
    event.has(Sign::AddressSpaceLimit)
        && event.facts.get(Fact::TotalVm).is_some()
        && matches!(event.program, Program::Spark | Program::Yarn)
}

fn refute(incident: &Incident) -> Text {
    let event = &incident.event;
    // A compiled program has no line of Python to ask by, and Spark's executors are Java's.
    let native = incident.context.has(Clue::NativeProgram) || incident.context.origin.spark_rapids;
    let own_limit = event.program.own_limit().filter(|told| !native && release::knows(incident, told));
    if event.has(Sign::ExpandableReserve) {
        return text!(
            en: "Run once with `expandable_segments:False`: if the same request is refused, the address space set \
                 aside is not the limit.",
            zh: "设置 `expandable_segments:False` 运行一次：若同样的请求仍被拒绝，则与预留的地址空间无关。"
        );
    }
    if let (None, Some((_, option))) = (event.facts.get(Fact::Limit), event.java_area()) {
        let flag = option.trim_start_matches("-XX:");
        return text!(
            en: "Look at `jcmd PID VM.flags | grep -o {flag}=[0-9]*`: if it is far above what was held, no limit of \
                 its own refused; where none is printed the default holds.",
            zh: "查看 `jcmd PID VM.flags | grep -o {flag}=[0-9]*`：若远大于已占用量，则拒绝请求的不是它自身的上限；\
                 未打印时采用默认值。"
        );
    }
    if let (Asker::Host, Some(limit), Some(_)) =
        (asker(incident), event.facts.get(Fact::Limit), event.program.own_limit())
    {
        let set = Bytes(limit.bytes);
        return text!(
            en: "Run once with the limit raised from {set} by half: if it ends at the new limit as well, it is the \
                 need that is too large, not the limit that is low.",
            zh: "将上限从 {set} 提高一半运行一次：若同样用到新的上限，则是需求过大而不是上限过低。"
        );
    }
    match asker(incident) {
        Asker::Host if counts_addresses(incident) => text!(
            en: "Run once with `yarn.nodemanager.vmem-check-enabled=false`: if the container is killed all the same, \
                 the limit on its addresses was not in the way.",
            zh: "设置 `yarn.nodemanager.vmem-check-enabled=false` 运行一次：若容器照样被杀，则与地址空间上限无关。"
        ),
        Asker::Host if event.kept_to_a_budget() => text!(
            en: "Look up what each worker was given: if it held far less when it was ended, no limit of its own \
                 did that.",
            zh: "查看分配给每个 worker 的内存：若它被终止时的占用远低于该值，则不是其自身上限所致。"
        ),
        Asker::Host if event.has(Sign::MappingsRanOut) => text!(
            en: "Compare `cat /proc/sys/vm/max_map_count` with `wc -l < /proc/PID/maps` just before it fails: if the \
                 process has far fewer mappings, their number was not the limit.",
            zh: "在失败前比较 `cat /proc/sys/vm/max_map_count` 与 `wc -l < /proc/PID/maps`：若进程的映射数远低于上限，\
                 则不是映射数量的限制。"
        ),
        Asker::Host if event.refuses_to_lock() => text!(
            en: "Run `ulimit -l` where it starts: if it says unlimited, or well above what it locks, the limit on \
                 locked pages did not refuse.",
            zh: "在启动处运行 `ulimit -l`：若为 unlimited 或远高于要锁定的量，则不是锁定页上限拒绝的。"
        ),
        Asker::Host if incident.on_windows() => text!(
            en: "Look at “Committed” in the Task Manager (Performance, Memory) when it fails: if it is well below the \
                 limit shown behind it, the commit limit did not refuse.",
            zh: "失败时查看任务管理器（性能—内存）中的“已提交”：若明显低于其后的上限，则不是提交上限拒绝的。"
        ),
        Asker::Host
            if event.program.own_limit().is_none()
                && event.has(Sign::RefusedByLimit)
                && !event.has(Sign::AddressSpaceLimit)
                && event.program.kind() != Kind::Scheduler =>
        {
            text!(
                en: "Look up the limit in the program's own settings: if none is set, or one above what was held and \
                     asked for together, no limit of its own refused.",
                zh: "在程序自身的设置中查看该上限：若未设置，或高于已占用与请求之和，则拒绝请求的不是程序自身的上限。"
            )
        }
        Asker::Host if incident.system() == System::Bsd => text!(
            en: "Run `ulimit -d` where it starts: if it says unlimited, or well above what the process held, the \
                 limit on its data did not refuse.",
            zh: "在启动处运行 `ulimit -d`：若为 unlimited 或远高于进程的占用，则不是数据大小上限拒绝的。"
        ),
        Asker::Host if event.program.own_limit().is_none() || event.has(Sign::AddressSpaceLimit) => text!(
            en: "Run `ulimit -v; cat /sys/fs/cgroup/memory.max` in the job's own shell: if both say unlimited, no \
                 limit below the machine's RAM was in force.",
            zh: "在任务自己的 shell 中运行 `ulimit -v; cat /sys/fs/cgroup/memory.max`：若都显示不受限，则没有低于物理内\
                 存的上限。"
        ),
        Asker::KvCache | Asker::Engine => text!(
            en: "Start once with the memory fraction at 0.95: if it fails as before, this fraction is not to blame.",
            zh: "将显存占比设为 0.95 启动一次：若同样失败，则问题不在该占比。"
        ),
        _ if own_limit.is_some() => {
            let told = own_limit.unwrap_or_default();
            text!(
                en: "Look at `{told}`: if it shows no limit, or one above what was asked for, no limit of the \
                     program's own refused.",
                zh: "查看 `{told}`：若没有上限，或上限高于请求量，则拒绝请求的不是程序自身的上限。"
            )
        }
        _ if event.accelerator() == Accelerator::Mps && !event.on_pytorch() => text!(
            en: "Run `sysctl iogpu.wired_limit_mb` and search the program's settings for a limit on its memory: if \
                 none is set, the limit is the machine's own.",
            zh: "查看 `sysctl iogpu.wired_limit_mb`，并在程序设置中查找显存上限：若都未设置，则上限来自机器本身。"
        ),
        _ if !event.on_pytorch() && event.accelerator() != Accelerator::Cuda => text!(
            en: "Search the program's settings and its environment for a limit on its memory: if there is none, no \
                 limit below the device's was in force.",
            zh: "在程序设置和环境中查找显存上限：若没有，则不存在低于设备容量的上限。"
        ),
        _ if !event.on_pytorch()
            && (event.program.names_itself() || event.program.pytorch_allocator() == PytorchAllocator::No) =>
        {
            text!(
                en: "Search the program's settings and its environment for a limit on its memory, and the device for a \
                     partition (`nvidia-smi -L` shows MIG profiles): if there is none, no limit below the device's was \
                     in force.",
                zh: "在程序设置和环境中查找显存上限，并查看设备是否被切分（`nvidia-smi -L` 显示 MIG 配置）：若都没有，\
                     则不存在低于设备容量的上限。"
            )
        }
        _ if event.has(Sign::Mps) => text!(
            en: "Run `echo $PYTORCH_MPS_HIGH_WATERMARK_RATIO` and `sysctl iogpu.wired_limit_mb`, and search the \
                 program for `set_per_process_memory_fraction`: if none is set, the limit is the machine's own.",
            zh: "查看 `echo $PYTORCH_MPS_HIGH_WATERMARK_RATIO`、`sysctl iogpu.wired_limit_mb`，并在程序中搜索 \
                 `set_per_process_memory_fraction`：若都未设置，则上限来自机器本身。"
        ),
        _ if event.accelerator() != Accelerator::Cuda => text!(
            en: "Search the program and its environment for `set_per_process_memory_fraction`: if there is none, no \
                 limit below the device's was in force.",
            zh: "在程序和环境中查找 `set_per_process_memory_fraction`：若没有，则不存在低于设备容量的上限。"
        ),
        _ => text!(
            en: "Search the program and its environment for `set_per_process_memory_fraction`, \
                 `per_process_memory_fraction` and a MIG profile (`nvidia-smi -L`): if there is none, no limit below \
                 the device's was in force.",
            zh: "在程序和环境中查找 `set_per_process_memory_fraction`、`per_process_memory_fraction` 以及 MIG 配置（\
                 `nvidia-smi -L`）：若都没有，则不存在低于设备容量的上限。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::dialect::Resource;
    use crate::domain::Program;

    #[test]
    fn a_fraction_that_refuses_while_the_device_has_room() {
        let incident = torch(&[
            (Fact::Requested, "1.00 GiB"),
            (Fact::Capacity, "79.15 GiB"),
            (Fact::Free, "47.00 GiB"),
            (Fact::FractionLimit, "31.66 GiB"),
            (Fact::Allocated, "30.50 GiB"),
            (Fact::ReservedUnallocated, "600.00 MiB"),
        ]);
        assert!(confidence(&incident, CauseId::FrameworkLimit) > 0.8);
    }

    #[test]
    fn an_unused_fraction_does_not() {
        let mut figures = FULL_CARD.to_vec();
        figures.push((Fact::FractionLimit, "15.77 GiB"));
        assert!(confidence(&torch(&figures), CauseId::FrameworkLimit) < 0.1);
    }

    fn metal(limit: &'static str, allocated: &'static str) -> Incident {
        let figures = [(Fact::Requested, "300.00 MiB"), (Fact::FractionLimit, limit), (Fact::Allocated, allocated)];
        let mut event = event(Program::Pytorch, Resource::Gpu, &figures);
        event.sign(Sign::Mps);
        settled(event)
    }

    #[test]
    fn a_watermark_below_any_machines_was_set_by_somebody() {
        assert_eq!(first(&metal("6.00 GiB", "5.90 GiB")), CauseId::FrameworkLimit);
        assert_ne!(first(&metal("27.20 GiB", "27.00 GiB")), CauseId::FrameworkLimit);
    }

    #[test]
    fn an_integrated_amd_gpu_adds_two_pools() {
        let mut event = event(
            Program::Pytorch,
            Resource::Gpu,
            &[
                (Fact::Requested, "12.00 GiB"),
                (Fact::Capacity, "111.50 GiB"),
                (Fact::Free, "10.00 GiB"),
                (Fact::Allocated, "0 bytes"),
                (Fact::ReservedUnallocated, "0 bytes"),
            ],
        );
        event.sign(Sign::Hip);
        assert_eq!(first(&settled(event)), CauseId::FrameworkLimit);
    }

    #[test]
    fn a_custom_allocator_that_refuses_is_a_limit_of_its_own() {
        let mut event = event(
            Program::Pytorch,
            Resource::Gpu,
            &[(Fact::Requested, "256.00 MiB"), (Fact::Capacity, "79.25 GiB"), (Fact::Free, "61.00 GiB")],
        );
        event.sign(Sign::CustomAllocator);
        assert_eq!(first(&settled(event)), CauseId::FrameworkLimit);
    }
}
