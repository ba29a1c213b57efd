//! An error that only looks like, or hides, an out-of-memory.

use super::reading::{Kind, kind, limited, place, refused_although_free, size};
use super::single_huge_allocation::GARBAGE;
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::DriverOrUnrelated,
    title: || text!(en: "an error that only looks like a lack of memory", zh: "看似内存不足的其他错误"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["cause/refused-with-room"],
};

fn doc() -> Text {
    Text::new(
        r#"The error only looks like a lack of memory, or hides its true reason: an earlier device-side assertion, a size that overflowed, a driver or address-space matter, on-chip shared memory.

**How it shows.** Far more was free than was asked for and no limit is printed; the size asked for is 2^50 bytes or more, or just below 2^64; a kernel's tile exceeds the shared memory of the chip; a library's handle fails although the device is empty.

**Told from its neighbours.** `CUBLAS_STATUS_ALLOC_FAILED` is mostly a true shortage, but follows an index out of range as well: earlier lines decide. On-chip shared memory is counted in KiB per block; batch size and device memory do not touch it.

**Example.** `out of resource: shared memory, Required: 147456, Hardware limit: 101376`: the kernel's blocks are too large for this chip."#,
        r#"该错误只是看起来像内存不足，或掩盖了真正原因：此前的设备端断言、溢出的大小、驱动或地址空间问题、片上共享内存。

**表现。** 空闲远多于请求且没有打印任何上限；请求大小达到 2^50 字节以上或接近 2^64；kernel 的分块超过片上共享内存；设备空着而库句柄创建失败。

**与相近原因的区别。** `CUBLAS_STATUS_ALLOC_FAILED` 多半确是显存不足，但越界索引之后也会出现，要看更早的行。片上共享内存按每个线程块的 KiB 计，与批大小和显存无关。

**示例。** `out of resource: shared memory, Required: 147456, Hardware limit: 101376`：kernel 的块对该芯片来说太大。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    Some(match kind(incident) {
        Kind::OnChip => 2.5,
        Kind::Host => -2.8,
        Kind::Shm => -3.5,
        _ => -2.8,
    })
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    if kind(incident) == Kind::OnChip {
        let (want, limit) = (event.facts.get(Fact::Requested), event.facts.get(Fact::Limit));
        let text = match (want, limit) {
            (Some(want), Some(limit)) => {
                let (want, limit) = (size(want.interval()), size(limit.interval()));
                text!(en: "a kernel wants {want} of on-chip shared memory per block, the chip has {limit}: batch size and device memory have nothing to do with it", zh: "kernel 每个线程块需要 {want} 片上共享内存，而芯片只有 {limit}：与批大小和显存无关")
            }
            _ => {
                text!(en: "a kernel's tile does not fit on-chip shared memory: batch size and device memory have nothing to do with it", zh: "kernel 的分块放不进片上共享内存：与批大小和显存无关")
            }
        };
        found.push(Evidence::new(1.0, text).at(event.at));
    }
    if let Some(requested) = event.facts.get(Fact::Requested)
        && requested.bytes >= GARBAGE
    {
        let bytes = requested.bytes;
        found.push(
            Evidence::new(9.0, text!(en: "{bytes} bytes are no need of any program: a size that overflowed or was never set", zh: "{bytes} 字节不可能是真实需求：大小溢出或未初始化"))
                .at(requested.at),
        );
    }
    if refused_although_free(incident)
        && !limited(incident)
        && let (Some(free), Some(requested)) = (ledger.free, ledger.requested)
    {
        let (free, want) = (size(free), size(requested));
        found.push(
            Evidence::new(3.2, text!(en: "{want} were refused with {free} free and no limit printed: the driver, its address space or another moment is to blame", zh: "空闲 {free} 且没有打印任何上限，却拒绝了 {want}：问题在驱动、地址空间，或发生在另一时刻"))
                .at(place(event, Fact::Free)),
        );
    }
    if let Some((_, at)) = event.facts.numbers.get(&Number::NoKillableProcess)
        && event.facts.number(Number::TableTasks).unwrap_or(0.0) < 5.0
    {
        found.push(
            Evidence::new(4.5, text!(en: "the kernel found no process to kill: memory is gone before any workload runs", zh: "内核找不到可杀的进程：在任何负载运行之前内存就已耗尽"))
                .at(*at),
        );
    }
    if event.has(Sign::OtherCudaError) {
        found.push(
            Evidence::new(
                3.0,
                text!(en: "the error is another CUDA error than out-of-memory", zh: "这是内存不足以外的 CUDA 错误"),
            )
            .at(event.at),
        );
    }
    if let Some(span) = context.clues.get(&Clue::DeviceAssert) {
        found.push(
            Evidence::new(2.5, text!(en: "an assertion failed on the device before: later calls then fail with any error", zh: "此前设备端断言已失败：之后的调用会以任意错误失败")).at(*span),
        );
    }
    if event.has(Sign::Disguised) && event.has(Sign::NoFigures) {
        found.push(
            Evidence::new(0.6, text!(en: "a library reports it without a figure; the same words follow an index out of range or a broken context", zh: "库报错且没有任何数字；越界索引或损坏的上下文也会产生同样的文字")).at(event.at),
        );
    }
    found
}

fn refute(incident: &Incident) -> Text {
    if kind(incident) == Kind::OnChip {
        return text!(
            en: "Run once with smaller tiles (`num_stages=1`, half the block sizes): if the same figures are printed, another kernel is at fault.",
            zh: "用更小的分块（`num_stages=1`、块大小减半）运行一次：若打印的数字不变，则是另一个 kernel 的问题。"
        );
    }
    let accelerator = incident.event.accelerator();
    let tool = accelerator.tool();
    let Some(variable) = accelerator.blocking_launches() else {
        return text!(
            en: "Run once with the smallest batch: if the same message comes at the same line while `{tool}` shows the device nearly full, it is a true lack of memory.",
            zh: "用最小批大小运行一次：若在同一行出现同样报错且 `{tool}` 显示显存几乎占满，则确实是显存不足。"
        );
    };
    text!(
        en: "Run once with `{variable}` and the smallest batch: if the same message comes at the same line while `{tool}` shows the device nearly full, it is a true lack of memory.",
        zh: "用 `{variable}` 和最小批大小运行一次：若在同一行出现同样报错且 `{tool}` 显示显存几乎占满，则确实是显存不足。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;

    #[test]
    fn on_chip_memory_is_not_device_memory() {
        let figures = [(Fact::Requested, "144.00 KiB"), (Fact::Limit, "99.00 KiB")];
        let incident = settled(event(Program::Triton, Resource::CudaSharedMemory, &figures));
        assert!(confidence(&incident, CauseId::DriverOrUnrelated) > 0.8);
    }

    #[test]
    fn a_garbage_size_is_no_need() {
        let figures = [(Fact::Requested, "18446744071562067968"), (Fact::Free, "60.00 GiB")];
        let incident = settled(event(Program::Xgboost, Resource::Gpu, &figures));
        assert_eq!(first(&incident), CauseId::DriverOrUnrelated);
    }

    #[test]
    fn refused_with_plenty_free_is_the_drivers_matter() {
        let incident = torch(&[
            (Fact::Requested, "1.20 GiB"),
            (Fact::Capacity, "23.69 GiB"),
            (Fact::Allocated, "2.00 GiB"),
            (Fact::Free, "20.00 GiB"),
            (Fact::Reserved, "2.10 GiB"),
        ]);
        assert_eq!(first(&incident), CauseId::DriverOrUnrelated);
        assert!(confidence(&torch(&FULL_CARD), CauseId::DriverOrUnrelated) < 0.05);
    }
}
