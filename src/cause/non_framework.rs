//! This process holds the memory outside the framework's allocator.

use super::{Cause, CauseId};
use crate::domain::Accelerator;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::NonFramework,
    title: || {
        text!(
            en: "this process holds it outside the framework's allocator",
            zh: "本进程在框架分配器之外占用了显存"
        )
    },
    doc,
    refute,
    fixtures: &["cause/simulator-beside"],
};

fn doc() -> Text {
    Text::new(
        "This process holds the memory, but outside the framework's allocator: CUDA contexts, NCCL buffers, TensorRT \
         engines, cuDNN workspaces, a simulator or renderer, Metal's graphs.\n\n\
         **How it shows.** What the driver counts for this process exceeds what the framework reserved by more than a \
         gigabyte and by 8 % or more of the device. On Apple devices it is printed as “other allocations”.\n\n\
         **Told from its neighbours.** A context with cuBLAS and cuDNN takes 0.3 … 1 GiB and is no cause by itself. \
         `empty_cache()` and allocator settings do not touch this memory. If the surplus belongs to another pid it is \
         *another process*.\n\n\
         **Example.** `this process has 14.20 GiB in use … 12.30 GiB allocated, 240.00 MiB reserved but unallocated`: \
         1.7 GiB of a 16 GB card belong to a library.",
        "显存由本进程占用，但不在框架的分配器里：CUDA 上下文、NCCL 缓冲区、TensorRT 引擎、cuDNN 工作区、仿真器或渲染器\
         、Metal 计算图。\n\n\
         **表现。** 驱动统计的本进程用量比框架保留量多出 1 GiB 以上，并占设备的 8 % 以上。在 Apple 设备上打印为 “other \
         allocations”。\n\n\
         **与相近原因的区别。** 带 cuBLAS 和 cuDNN 的上下文需要 0.3 … 1 GiB，本身不是原因。`empty_cache()` 和分配器设置\
         对这部分无效。若多出的部分属于另一个 pid，则是*其他进程*。\n\n\
         **示例。** `this process has 14.20 GiB in use … 12.30 GiB allocated, 240.00 MiB reserved but unallocated`：16 \
         GB 的卡上有 1.7 GiB 属于某个库。",
    )
}

fn refute(incident: &Incident) -> Text {
    let event = &incident.event;
    let accelerator = event.accelerator();
    let driver = accelerator.driver_meter().now;
    if event.on_pytorch() {
        if accelerator == Accelerator::Mps {
            return text!(
                en: "Print `torch.mps.driver_allocated_memory() - torch.mps.current_allocated_memory()` before the \
                     failing step: if it stays below 1 GiB, Metal's own memory is not the matter.",
                zh: "在失败步骤之前打印 `torch.mps.driver_allocated_memory() - torch.mps.current_allocated_memory()`：\
                     若低于 1 GiB，则不是 Metal 自身占用的问题。"
            );
        }
        let module = accelerator.torch_module();
        let of_device = incident.context.asked_of(event.facts.device.value());
        let driver = match accelerator {
            Accelerator::Cuda => {
                format!("nvidia-smi --query-compute-apps=pid,used_memory --format=csv{of_device}")
            }
            _ => driver.to_string(),
        };
        return text!(
            en: "Just before the failing step compare `{driver}` with `{module}.memory_reserved()`: if they differ by \
                 less than 1 GiB, nothing outside the allocator is to blame.",
            zh: "在失败步骤之前，比较 `{driver}` 与 `{module}.memory_reserved()`：若相差不到 1 GiB，则与分配器之外的占\
                 用无关。"
        );
    }
    let own = incident.meter().now;
    if own == driver {
        return text!(
            en: "Just before the failing step hold `{driver}` against what the program itself says that it holds: if \
                 they differ by less than 1 GiB, nothing beside its own memory is to blame.",
            zh: "在失败步骤之前，比较 `{driver}` 与程序自己报告的占用：若相差不到 1 GiB，则与其自身之外的占用无关。"
        );
    }
    text!(
        en: "Just before the failing step compare `{driver}` with `{own}`: if they differ by less than 1 GiB, nothing \
             outside the program's own memory is to blame.",
        zh: "在失败步骤之前，比较 `{driver}` 与 `{own}`：若相差不到 1 GiB，则与程序自身之外的占用无关。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Resource;
    use crate::dialect::{Fact, Sign};
    use crate::domain::Program;

    fn beside(process: &str) -> Incident {
        torch(&[
            (Fact::Requested, "96.00 MiB"),
            (Fact::Capacity, "15.77 GiB"),
            (Fact::Free, "31.00 MiB"),
            (Fact::Process, process),
            (Fact::Allocated, "10.60 GiB"),
            (Fact::ReservedUnallocated, "240.00 MiB"),
        ])
    }

    #[test]
    fn gigabytes_outside_the_allocator_count() {
        assert_eq!(first(&beside("15.70 GiB")), CauseId::NonFramework);
    }

    #[test]
    fn a_usual_context_does_not() {
        assert!(confidence(&beside("11.30 GiB"), CauseId::NonFramework) < 0.05);
    }

    #[test]
    fn metals_own_memory_counts_when_it_outweighs_tensors() {
        let mut event = event(
            Program::Pytorch,
            Resource::Gpu,
            &[
                (Fact::Allocated, "5.00 GiB"),
                (Fact::OtherAllocations, "30.50 GiB"),
                (Fact::FractionLimit, "36.00 GiB"),
                (Fact::Requested, "600.00 MiB"),
            ],
        );
        event.sign(Sign::Mps);
        assert_eq!(first(&settled(event)), CauseId::NonFramework);
    }
}
