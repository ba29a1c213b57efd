//! What kind of error it is, and whether it prints any figure.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker, first_touch, on_gpu};
use crate::cause::reading::size;
use crate::dialect::{Fact, Sign};
use crate::domain::Accelerator;
use crate::incident::context::Clue;
use crate::text;

/// An error that hides, or only resembles, a lack of memory.
pub const ERROR: Mechanism = Mechanism {
    id: "error",
    levels: &[
        "device-assertion",
        "another-error",
        "sessions",
        "handles",
        "allocations",
        "mappings",
        "thread",
        "thread-forbidden",
        "locked",
        "fixed-buffer",
        "pinned-memory",
        "no-context",
        "first-touch",
        "library-bare",
        "library",
        "disguised",
        "asynchronous",
        "asynchronous-pool",
    ],
    read: |incident| {
        let event = &incident.event;
        let bare = event.facts.sizes.is_empty();
        if let Some(span) = incident.context.clues.get(&Clue::DeviceAssert) {
            return Some(
                Reading::new(
                    "device-assertion",
                    text!(
                        en: "an assertion failed on the device before: later calls then fail with any error",
                        zh: "此前设备端断言已失败：之后的调用会以任意错误失败"
                    ),
                )
                .at(*span),
            );
        }
        let (level, text) = if event.has(Sign::OtherCudaError) {
            (
                "another-error",
                text!(
                    en: "the error is another one of the driver's than out-of-memory",
                    zh: "这是驱动报告的内存不足以外的错误"
                ),
            )
        } else if event.has(Sign::SessionsRanOut) {
            (
                "sessions",
                text!(
                    en: "a driver that allows no further session refuses it with the code for memory",
                    zh: "驱动不再允许新的会话时，也会返回内存不足的错误码"
                ),
            )
        } else if event.has(Sign::HandlesRanOut) {
            (
                "handles",
                text!(
                    en: "what could not be made is a handle, made anew with each call: it takes next to no memory",
                    zh: "无法创建的是每次调用都会新建的句柄：它几乎不占内存"
                ),
            )
        } else if event.has(Sign::AllocationsRanOut) {
            (
                "allocations",
                text!(
                    en: "VK_ERROR_TOO_MANY_OBJECTS: the driver keeps so many allocations at a time, whatever \
                         their size and whatever is free",
                    zh: "VK_ERROR_TOO_MANY_OBJECTS：驱动同时保留的分配数量有限，与大小和空闲量无关"
                ),
            )
        } else if event.has(Sign::MappingsRanOut) {
            (
                "mappings",
                text!(
                    en: "what was refused is a mapping: the kernel allows a process so many (vm.max_map_count), \
                         whatever their size",
                    zh: "被拒绝的是内存映射：内核限制每个进程的映射数量（vm.max_map_count），与大小无关"
                ),
            )
        } else if event.forbids_a_thread() && asker(incident) == Asker::Host {
            (
                "thread-forbidden",
                text!(
                    en: "making a thread was not permitted (EPERM), which want of memory never is: a filter of the \
                         container's, older than the system library in it, does that",
                    zh: "创建线程被拒绝的原因是没有权限（EPERM），内存不足不会报这个错误：通常是容器的安全过滤\
                         早于其中的系统库"
                ),
            )
        } else if event.refuses_to_lock() && asker(incident) == Asker::Host {
            (
                "locked",
                text!(
                    en: "pages were to be locked into RAM, of which each user may have so many (ulimit -l), however \
                         much is free",
                    zh: "要把内存页锁定在物理内存中，而每个用户可锁定的量有上限（ulimit -l），与空闲内存多少无关"
                ),
            )
        } else if event.refuses_a_thread() && asker(incident) == Asker::Host {
            (
                "thread",
                text!(
                    en: "what was refused is a thread: their number is limited, and each takes a few MiB of addresses",
                    zh: "被拒绝的是线程：线程数量有上限，每个线程只占几 MiB 地址空间"
                ),
            )
        } else if event.has(Sign::FixedBuffer) {
            (
                "fixed-buffer",
                text!(
                    en: "a buffer whose size the program itself had fixed was too small: the machine was not asked",
                    zh: "程序自己设定大小的缓冲区不够用：并未向系统申请内存"
                ),
            )
        } else if event.has(Sign::PinnedHost) && on_gpu(incident) {
            (
                "pinned-memory",
                text!(en: "pinned memory is the machine's RAM, not the device's", zh: "锁页内存是主机内存，不是显存"),
            )
        } else if event.has(Sign::ContextCreation) && !event.has(Sign::ForeignLibrary) {
            (
                "no-context",
                text!(
                    en: "not even a context could be created, which takes a few hundred MiB",
                    zh: "连几百 MiB 的上下文都无法创建"
                ),
            )
        } else if let Some(place) = first_touch(incident) {
            let text = text!(
                en: "CUDA itself refused the job's first touch of the device; PyTorch's allocator, which tells its \
                     figures, had not been asked yet",
                zh: "任务首次使用该设备时即被 CUDA 拒绝；会报告数字的 PyTorch 分配器尚未参与"
            );
            return Some(Reading::new("first-touch", text).at(event.at).at(place));
        } else if event.has(Sign::ForeignLibrary) {
            // Such a library gets nothing from a framework's pool, however much of it lies idle.
            let text = text!(
                en: "what failed is a library, which takes its memory from the driver and none from a framework's pool",
                zh: "失败的是某个库：它直接向驱动申请显存，不使用框架的内存池"
            );
            let level = if bare { "library-bare" } else { "library" };
            let reading = Reading::new(level, text).at(event.at);
            // A pool that grows with the job leaves a library nothing for the reason for which it leaves a tensor
            // nothing.
            return Some(if asker(incident) == Asker::Tensor { reading.untold() } else { reading });
        } else if event.has(Sign::Disguised) && !event.says_out_of_memory() {
            (
                "disguised",
                text!(
                    en: "a library reports it without saying out of memory; the same words follow an index out of \
                         range or a broken context",
                    zh: "库没有直说内存不足；越界索引或损坏的上下文也会产生同样的文字"
                ),
            )
        } else if event.has(Sign::Asynchronous) {
            (
                "asynchronous",
                text!(
                    en: "the error may be an earlier operation's: kernels run behind the program",
                    zh: "错误可能来自更早的操作：kernel 是异步执行的"
                ),
            )
        } else if event.has(Sign::AsyncBackend) && incident.ledger.allocated.is_some() {
            (
                "asynchronous-pool",
                text!(
                    en: "the driver's own pool serves the program; its figures are the driver's",
                    zh: "由驱动自带的内存池提供显存，数字来自驱动"
                ),
            )
        } else {
            return None;
        };
        Some(Reading::new(level, text).at(event.at))
    },
};

/// Whether the message prints any figure.
pub const FIGURES: Mechanism = Mechanism {
    id: "figures",
    levels: &["none", "request-only"],
    read: |incident| {
        let event = &incident.event;
        if event.facts.sizes.is_empty() && event.facts.numbers.is_empty() {
            return Some(
                Reading::new("none", text!(en: "the message prints no figure", zh: "报错没有任何数字")).at(event.at),
            );
        }
        (on_gpu(incident) && event.facts.sizes.len() == 1 && event.facts.get(Fact::Requested).is_some()).then(|| {
            Reading::new(
                "request-only",
                text!(en: "the message prints nothing but the request", zh: "报错只打印了请求量"),
            )
            .at(event.at)
        })
    },
};

/// On-chip memory of a kernel.
pub const ON_CHIP: Mechanism = Mechanism {
    id: "on-chip",
    levels: &["tile-too-large"],
    read: |incident| {
        if asker(incident) != Asker::OnChip {
            return None;
        }
        let event = &incident.event;
        let text = match (event.facts.get(Fact::Requested), event.facts.get(Fact::Limit)) {
            (Some(want), Some(limit)) if event.accelerator() == Accelerator::Tpu => {
                let (want, limit) = (size(want.interval()), size(limit.interval()));
                text!(
                    en: "a kernel wants {want} of the TPU's vector memory, of which the compiler grants {limit}: batch \
                         size and device memory have nothing to do with it",
                    zh: "kernel 需要 {want} 的 TPU 向量内存，而编译器只给 {limit}：与批大小和显存无关"
                )
            }
            (Some(want), Some(limit)) => {
                let (want, limit) = (size(want.interval()), size(limit.interval()));
                text!(
                    en: "a kernel wants {want} of on-chip shared memory per block, the limit is {limit}: batch size \
                         and device memory have nothing to do with it",
                    zh: "kernel 每个线程块需要 {want} 片上共享内存，而上限为 {limit}：与批大小和显存无关"
                )
            }
            _ => {
                text!(
                    en: "a kernel's tile does not fit on-chip shared memory: batch size and device memory have nothing \
                         to do with it",
                    zh: "kernel 的分块放不进片上共享内存：与批大小和显存无关"
                )
            }
        };
        Some(Reading::new("tile-too-large", text).at(event.at))
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, settled, torch};
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::Span;

    #[test]
    fn each_kind_of_error_has_its_level() {
        for (sign, figures, want) in [
            (Sign::OtherCudaError, false, "another-error"),
            (Sign::PinnedHost, false, "pinned-memory"),
            (Sign::ContextCreation, false, "no-context"),
            (Sign::ForeignLibrary, false, "library-bare"),
            (Sign::ForeignLibrary, true, "library"),
            (Sign::Disguised, false, "disguised"),
            (Sign::Asynchronous, false, "asynchronous"),
            (Sign::AsyncBackend, true, "asynchronous-pool"),
        ] {
            let mut incident = torch(if figures { &[(Fact::Allocated, "1.00 GiB")] } else { &[] });
            incident.event.sign(sign);
            assert_eq!(level(&ERROR, &incident), Some(want));
        }
        let mut assertion = torch(&[]);
        assertion.context.clues.insert(Clue::DeviceAssert, Span::line(2));
        assert_eq!(level(&ERROR, &assertion), Some("device-assertion"));
        assert_eq!(level(&ERROR, &torch(&[])), None);
    }

    #[test]
    fn figures_and_chips() {
        assert_eq!(level(&FIGURES, &torch(&[])), Some("none"));
        assert_eq!(level(&FIGURES, &torch(&[(Fact::Requested, "1.00 GiB")])), Some("request-only"));
        assert_eq!(level(&FIGURES, &torch(&[(Fact::Requested, "1.00 GiB"), (Fact::Free, "1.00 MiB")])), None);
        let tile = settled(event(Program::Triton, Resource::CudaSharedMemory, &[(Fact::Requested, "100.00 KiB")]));
        assert_eq!(level(&ON_CHIP, &tile), Some("tile-too-large"));
    }
}
