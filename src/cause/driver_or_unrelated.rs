//! An error that only looks like, or hides, an out-of-memory.

use super::nature::{Asker, asker};
use super::{Cause, CauseId};
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::DriverOrUnrelated,
    title: || text!(en: "an error that only looks like a lack of memory", zh: "看似内存不足的其他错误"),
    doc,
    refute,
    fixtures: &["cause/refused-with-room"],
};

fn doc() -> Text {
    Text::new(
        "The error only looks like a lack of memory, or hides its true reason: an earlier device-side assertion, a \
         size that overflowed, a driver or address-space matter, on-chip shared memory.\n\n\
         **How it shows.** Far more was free than was asked for and no limit is printed; the size asked for is 2^50 \
         bytes or more, or just below 2^64; a kernel's tile exceeds the shared memory of the chip; a library's handle \
         fails although the device is empty.\n\n\
         **Told from its neighbours.** `CUBLAS_STATUS_ALLOC_FAILED` is mostly a true shortage, but follows an index \
         out of range as well: earlier lines decide. On-chip shared memory is counted in KiB per block; batch size and \
         device memory do not touch it.\n\n\
         **Example.** `out of resource: shared memory, Required: 147456, Hardware limit: 101376`: the kernel's blocks \
         are too large for this chip.",
        "该错误只是看起来像内存不足，或掩盖了真正原因：此前的设备端断言、溢出的大小、驱动或地址空间问题、片上共享内存。\
         \n\n\
         **表现。** 空闲远多于请求且没有打印任何上限；请求大小达到 2^50 字节以上或接近 2^64；kernel 的分块超过片上共享\
         内存；设备空着而库句柄创建失败。\n\n\
         **与相近原因的区别。** `CUBLAS_STATUS_ALLOC_FAILED` 多半确是显存不足，但越界索引之后也会出现，要看更早的行。片\
         上共享内存按每个线程块的 KiB 计，与批大小和显存无关。\n\n\
         **示例。** `out of resource: shared memory, Required: 147456, Hardware limit: 101376`：kernel 的块对该芯片来说\
         太大。",
    )
}

fn refute(incident: &Incident) -> Text {
    if asker(incident) == Asker::OnChip {
        return text!(
            en: "Run once with smaller tiles (`num_stages=1`, half the block sizes): if the same figures are printed, \
                 another kernel is at fault.",
            zh: "用更小的分块（`num_stages=1`、块大小减半）运行一次：若打印的数字不变，则是另一个 kernel 的问题。"
        );
    }
    let accelerator = incident.event.accelerator();
    let tool = accelerator.tool();
    let Some(variable) = accelerator.blocking_launches() else {
        return text!(
            en: "Run once with the smallest batch: if the same message comes at the same line while `{tool}` shows the \
                 device nearly full, it is a true lack of memory.",
            zh: "用最小批大小运行一次：若在同一行出现同样报错且 `{tool}` 显示显存几乎占满，则确实是显存不足。"
        );
    };
    if !incident.event.on_pytorch() {
        return text!(
            en: "Run once with `{variable}` and the smallest input: if the same message comes while `{tool}` shows the \
                 device nearly full, it is a true lack of memory.",
            zh: "用 `{variable}` 和最小的输入运行一次：若出现同样报错且 `{tool}` 显示显存几乎占满，则确实是显存不足。"
        );
    }
    text!(
        en: "Run once with `{variable}` and the smallest batch: if the same message comes at the same line while `\
             {tool}` shows the device nearly full, it is a true lack of memory.",
        zh: "用 `{variable}` 和最小批大小运行一次：若在同一行出现同样报错且 `{tool}` 显示显存几乎占满，则确实是显存不足\
             。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Fact;
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
        // Whose size it was is open: the program's, which went below zero, or a library's, which never set it.
        assert_eq!(first(&incident), CauseId::DriverOrUnrelated);
        let own = confidence(&incident, CauseId::SingleHugeAllocation);
        assert!(own > 0.2 && own + confidence(&incident, CauseId::DriverOrUnrelated) > 0.9, "{own}");
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
