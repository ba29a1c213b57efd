//! The most tried remedy.

use super::prelude::*;
use crate::account::Holder;

pub const FIX: Fix = Fix {
    id: "empty-cache",
    class: Class::AllocConfig,
    title: || text!(en: "empty_cache()", zh: "empty_cache()"),
    doc: || {
        text!(
            en: "Returns whole unused segments to the driver. PyTorch does exactly that by itself before it raises \
                 an out-of-memory error, so it cannot prevent one; calling it every step costs time. It helps \
                 another process or library on the same GPU, or once between two phases.",
            zh: "把整段未用的缓存还给驱动。PyTorch 在抛出显存不足之前本来就会做同样的事，所以它无法避免报错；每步调\
                 用还会变慢。它有用的场合是同一块 GPU 上有其他进程或库需要显存，或在两个阶段之间调用一次。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Running],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[line(Target::Pytorch, "{module}.empty_cache()")
        .note("once, before the other library allocates", "在另一个库分配之前调用一次")],
    fixtures: &["pytorch/mps-gb", "pytorch/mps-gib-torn"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.on_host() && case.clue(Clue::EmptyCacheTried) {
        return Advice::WontHelp(text!(
            en: "it gives back GPU memory; what ran out is RAM",
            zh: "它归还的是显存，而耗尽的是主机内存"
        ));
    }
    if !case.on_gpu() {
        return Advice::Silent;
    }
    if case.sign(Sign::Mps) && case.may_be_pytorch() {
        // MPSAllocator.mm: release_cached_buffers(), and a second try, before the error.
        return Advice::WontHelp(text!(
            en: "PyTorch gives back what Metal's cache holds unused before it raises this error",
            zh: "PyTorch 在报错前已归还 Metal 缓存中未用的部分"
        ));
    }
    // A compiled program that prints the allocator's figures has that allocator; Torch 7 has another one.
    let of_another = case.native_program() && case.allocated().is_none();
    if !case.pytorch() && case.trainer().is_none() || of_another {
        return Advice::Silent;
    }
    if case.clue(Clue::SecondFramework) || case.sign(Sign::ForeignLibrary) {
        return Draft::new(case, &FIX)
            .frees_if(
                case.of_the_cache(),
                text!(en: "the log does not show the cache's size", zh: "日志没有给出缓存大小"),
            )
            .because(text!(
                en: "a library beside PyTorch asks the driver for memory that PyTorch's cache holds",
                zh: "PyTorch 之外的库要向驱动申请被 PyTorch 缓存占住的显存"
            ));
    }
    if case.sign(Sign::AsyncBackend) {
        return Advice::WontHelp(text!(
            en: "the driver's pool, from which PyTorch takes its memory here, gives out what is free in it before it \
                 refuses",
            zh: "此处 PyTorch 使用驱动的内存池；它在拒绝之前会先用尽池内的空闲部分"
        ));
    }
    // A call that CUDA itself refused was none of the allocator's, which had not been asked; nor was it where a
    // library's own check tells of CUDA's number.
    if case.sign(Sign::Disguised) || case.incident.event.tells_a_code() {
        return Advice::Silent;
    }
    // The free blocks of private pools have a figure of their own.
    let default_pools = case.ledger.amount(Holder::Cached).or(case.cached());
    Advice::WontHelp(match default_pools {
        Some(cached) if cached.high == 0 => {
            text!(en: "PyTorch has nothing cached here", zh: "此处 PyTorch 没有任何缓存")
        }
        Some(cached) => {
            let shown = about(cached);
            text!(
                en: "PyTorch already released every unused segment before it raised this error; the {shown} still \
                     cached belong to segments with live tensors",
                zh: "PyTorch 在报错前已归还所有完全空闲的段；仍缓存的 {shown} 位于含有存活张量的段内"
            )
        }
        None => text!(
            en: "PyTorch releases unused segments by itself before it raises this error",
            zh: "PyTorch 在抛出该错误之前会自行归还未用的段"
        ),
    })
}
