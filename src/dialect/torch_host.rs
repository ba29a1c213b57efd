//! PyTorch's allocations of host memory: the CPU allocator and pinned memory.
//!
//! The texts stand in `c10/core/impl/alloc_cpu.cpp` (before 1.11 `c10/core/CPUAllocator.cpp`): `can't allocate memory`
//! on POSIX, `not enough memory` on Windows and Android, with `Buy new RAM!` up to 1.x, and whole `GB` up to 1.1.

use super::field;
use super::joined::{Joined, Printed};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{Base, Figure, GIB};

pub const DIALECT: Dialect =
    Dialect { name: "pytorch-host", triggers: &["enforce fail", "llocate ", "out of memory"], read };

/// A message of the CPU allocator spans at most this many lines of a narrow terminal.
const LINES: usize = 4;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("inline_container.cc") && line.contains("enforce fail") {
        return Some(unfinished_checkpoint(document, position));
    }
    if line.contains("CUDA error: out of memory") || line.contains("CUDA error (2)") {
        return pinned(document, position);
    }
    // PyTorch until 1.4 named the file of its pool of pinned memory.
    if line.contains("runtime error (2)") && line.contains("THCCachingHostAllocator") {
        return Some(page_locked(document, position));
    }
    if line.contains("DefaultCPUAllocator") || line.contains("enforce fail") || line.contains("not enough memory") {
        return cpu_allocator(document, position);
    }
    None
}

fn cpu_allocator(document: &Document, position: usize) -> Option<Event> {
    let message = field::joined(document, position, LINES);
    let start = ["DefaultCPUAllocator", "Torch:notenoughmemory", "alloc_cpu.cpp", "CPUAllocator.cpp"]
        .iter()
        .filter_map(|name| message.find(name, 0))
        .min()
        .filter(|start| message.line_at(*start) <= field::number(document, position) + 1)?;
    // An overflow or a wrong shape: no machine would have been large enough.
    if message.find("negativenumber", start).is_some() {
        let mut event = field::event(document, position, "pytorch-cpu-allocator", Program::Pytorch, Resource::Host);
        event.sign(Sign::AbsurdRequest);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    let windows = message.find("notenoughmemory", start);
    let wording = windows
        .or_else(|| message.find("can'tallocatememory", start))
        // 1.0 prints the call that failed with ENOMEM instead.
        .or_else(|| message.find("posix_memalign(", start).and_then(|from| message.find("12vs0", from)));
    let asked = ["youtriedtoallocate", "youtriedtoreallocate"].iter().find_map(|words| message.after(words, start));
    // The name of the allocator alone is no failure: it stands in build logs and stack traces too.
    if wording.is_none() && asked.is_none() {
        return None;
    }
    let mut event = field::event(document, position, "pytorch-cpu-allocator", Program::Pytorch, Resource::Host);
    let mut end = wording.unwrap_or(start) + 1;
    // Up to 1.1 it counted whole GB: `0GB` is anything below one.
    match asked.and_then(|offset| request(&message, offset)).filter(|(figure, _)| figure.bytes > 0) {
        Some((figure, after)) => {
            event.facts.note(Fact::Requested, figure);
            end = end.max(after);
            // No machine has a PiB of RAM: such a request is a wrong size.
            if figure.bytes >= 1 << 50 {
                event.sign(Sign::AbsurdRequest);
            }
        }
        None => event.sign(if asked.is_some() { Sign::Cut } else { Sign::NoFigures }),
    }
    // THGeneral.c says so on any system.
    if windows.is_some() && message.find("THGeneral", start).is_none() {
        event.sign(Sign::Windows);
    }
    if message.find("Errorcode12", start).is_some() {
        field::note_number(&mut event, Number::Errno, Some(12.0));
    }
    event.at = Span::lines(event.at.first, message.line_at(end.saturating_sub(1)));
    if event.at.last > event.at.first {
        event.message = message.readable(0, end, 600);
    }
    Some(event)
}

/// The request: exact bytes, or whole GiB as 1.1 and older print it (integer division, so up to one GiB more).
fn request(message: &Joined, offset: usize) -> Option<(Figure, usize)> {
    if let Some((Printed::Size(figure), end)) = message.size_at(offset, Base::Binary) {
        let whole_gib = message.squeezed.get(offset..end).is_some_and(|text| text.ends_with("GB"));
        if !whole_gib {
            return Some((figure, end));
        }
        return Some((Figure { half_width: GIB, ..figure }, end));
    }
    // 1.1 forgot to put the number into its text, so that it stands behind it: `%dGB. Buy new RAM!13`.
    if let Some(offset) = message.after("%dGB.BuynewRAM!", offset) {
        let (gib, end) = message.count_at(offset)?;
        return Some((Figure { bytes: gib.checked_mul(GIB)?, half_width: GIB, at: message.span(offset, end) }, end));
    }
    let (bytes, end) = message.count_at(offset).filter(|(_, end)| !message.torn_at(*end))?;
    Some((Figure { bytes, half_width: 0, at: message.span(offset, end) }, end))
}

/// `CUDA error: out of memory` raised while host memory was being page-locked
/// (`aten/src/ATen/cuda/CachingHostAllocator.cpp`).
fn pinned(document: &Document, position: usize) -> Option<Event> {
    // ComfyUI and ai-toolkit tell the error first, and its traceback, which ends in it, below.
    const INTRODUCED: usize = 16;
    let last = || {
        field::behind(document, position, 60)
            .find(|at| field::text(document, *at).contains("Error: CUDA error: out of"))
    };
    let begins = |at: usize| field::text(document, at).trim_start().starts_with("Traceback (most recent");
    let above = field::text(document, position).contains("!!! Exception during processing !!!")
        || field::text(document, position).contains("Error running job: ")
            && field::behind(document, position, INTRODUCED).any(begins);
    let below = above.then(last).flatten().map_or(position..position, |last| last.saturating_sub(14)..last);
    let pinning = field::before(position, 14).chain(below).find(|at| {
        let frame = field::text(document, *at);
        let makes = ["empty(", "zeros(", "ones(", "full(", "rand(", "randn(", "tensor(", "empty_like(", "zeros_like("];
        frame.contains("cudaHostAlloc")
            || frame.contains(".pin_memory(") && !frame.contains("def ")
            || frame.contains("pin_memory=True") && makes.iter().any(|make| frame.contains(make))
            // A copy to the host that does not wait is made into locked pages.
            || frame.contains("non_blocking=") && !frame.contains("=False")
                && [".to(\"cpu\"", ".to('cpu'", ".to(self.offload_device", ".to(offload_device"]
                    .iter()
                    .any(|copy| frame.contains(copy))
    })?;
    // A new traceback between the two would make them strangers.
    if (pinning..position).any(|at| field::text(document, at).starts_with("Traceback (most recent")) {
        return None;
    }
    Some(page_locked(document, position))
}

fn page_locked(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "pytorch-pinned-host", Program::Pytorch, Resource::Host);
    event.sign(Sign::PinnedHost);
    event.sign(Sign::NoFigures);
    event
}

fn unfinished_checkpoint(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "pytorch-checkpoint-write", Program::Pytorch, Resource::Host);
    event.make_harmless(text!(
        en: "a checkpoint file could not be written or read to its end (disk full, quota, interrupted copy): no memory \
             ran out",
        zh: "检查点文件未能完整写入或读取（磁盘满、配额限制或拷贝中断），并非内存不足"
    ));
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Standing;

    fn event(log: &str) -> Option<Event> {
        crate::dialect::testing::first(read, log)
    }

    fn requested(log: &str) -> Option<u64> {
        event(log)?.facts.get(Fact::Requested).map(|figure| figure.bytes)
    }

    #[test]
    fn every_form_of_the_cpu_allocator() {
        let posix = "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: \
                     you tried to allocate 40960000 bytes. Error code 12 (Cannot allocate memory)";
        assert_eq!(requested(posix), Some(40_960_000));
        let torn = "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllo\ncator: can't allocate memory: you tried to\n allocate 4096\n0000 bytes.";
        let torn = event(torn).unwrap();
        assert_eq!(torn.facts.get(Fact::Requested).unwrap().bytes, 40_960_000);
        assert_eq!(torn.at, Span::lines(1, 4));
        let windows = event("[enforce fail at ..\\c10\\core\\impl\\alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 1327104 bytes. Buy new RAM!").unwrap();
        assert!(windows.has(Sign::Windows));
        assert_eq!(windows.facts.get(Fact::Requested).unwrap().bytes, 1_327_104);
        let old = event(
            "RuntimeError: $ Torch: not enough memory: you tried to allocate 3GB. Buy new RAM! at TH/THGeneral.cpp:204",
        )
        .unwrap();
        let figure = old.facts.get(Fact::Requested).unwrap();
        assert_eq!((figure.bytes, figure.half_width), (3 * GIB, GIB));
        assert!(
            event("[enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: you tried")
                .unwrap()
                .has(Sign::NoFigures)
        );
    }

    #[test]
    fn forms_without_a_plain_number() {
        let unfilled = "[enforce fail at ..\\c10\\core\\CPUAllocator.cpp:72] data. DefaultCPUAllocator: not enough memory: \
                        you tried to allocate %dGB. Buy new RAM!13\n";
        assert_eq!(requested(unfilled), Some(13 * GIB));
        let oldest = "RuntimeError: [enforce fail at CPUAllocator.cpp:56] posix_memalign(&data, gAlignment, nbytes) == 0. 12 vs 0";
        assert!(event(oldest).unwrap().has(Sign::NoFigures));
        let negative = "[enforce fail at alloc_cpu.cpp:70] nbytes >= 0. alloc_cpu() seems to have been called with \
                        negative number: 18446744071562067968";
        assert!(event(negative).unwrap().has(Sign::AbsurdRequest));
    }

    #[test]
    fn a_bad_checkpoint_is_no_memory_matter() {
        let event = event("RuntimeError: [enforce fail at inline_container.cc:471] . PytorchStreamWriter failed writing file data/9: file write failed").unwrap();
        assert_eq!(event.standing, Standing::Harmless);
        assert!(!event.harmless_because.unwrap().zh.is_empty());
    }

    #[test]
    fn pinning_is_a_host_matter_and_a_plain_cuda_error_is_left_to_others() {
        assert!(
            event("    batch = batch.pin_memory()\nRuntimeError: CUDA error: out of memory")
                .unwrap()
                .has(Sign::PinnedHost)
        );
        assert_eq!(event("    model.cuda()\nRuntimeError: CUDA error: out of memory"), None);
        assert_eq!(event("at::DefaultCPUAllocator::allocate(unsigned long)"), None);
    }
}
