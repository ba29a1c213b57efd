//! Texts that only sound like an out-of-memory: other CUDA errors, refusals that the program worked around, warnings.

use super::LONGEST_TEXT;
use crate::dialect::joined::Joined;
use crate::dialect::{Event, Resource, Sign};
use crate::domain::Program;
use crate::evidence::Span;
use crate::input::Line;
use crate::text::Text;

/// What a harmless text shows and why it is no failure of memory.
struct Known {
    /// All of these stand on the line.
    words: &'static [&'static str],
    slug: &'static str,
    program: Program,
    sign: Sign,
    en: &'static str,
    zh: &'static str,
}

const KNOWN: [Known; 7] = [
    Known {
        words: &["device-side assert", "CUDA error"],
        slug: "pytorch-device-assert",
        program: Program::Pytorch,
        sign: Sign::OtherCudaError,
        en: "a kernel's assertion failed (usually an index out of range); memory did not run out",
        zh: "GPU 内核断言失败（通常是索引越界），并非显存不足",
    },
    Known {
        words: &["illegal memory access was"],
        slug: "cuda-illegal-access",
        program: Program::Cuda,
        sign: Sign::OtherCudaError,
        en: "a kernel touched memory that is not its own: a bug in a kernel, not a lack of memory",
        zh: "内核访问了非法地址：属于内核缺陷，并非显存不足",
    },
    Known {
        words: &["no kernel image is"],
        slug: "cuda-no-kernel-image",
        program: Program::Cuda,
        sign: Sign::OtherCudaError,
        en: "the build has no code for this GPU's architecture; memory did not run out",
        zh: "该构建不包含此 GPU 架构的代码，并非显存不足",
    },
    Known {
        words: &["OutOfMemoryError", "using CPU"],
        slug: "pytorch-cpu-fallback",
        program: Program::Pytorch,
        sign: Sign::CaughtAndContinued,
        en: "the step was repeated on the CPU, and the run went on",
        zh: "该步骤已改在 CPU 上重算，任务继续运行",
    },
    Known {
        words: &["Ran out of memory", "retrying with tiled"],
        slug: "pytorch-tiled-retry",
        program: Program::Pytorch,
        sign: Sign::CaughtAndContinued,
        en: "the program retried with tiles, which need less memory, and went on",
        zh: "程序改用分块（tiled）方式重试并继续运行",
    },
    Known {
        words: &["expandable_segments:", "failed with OOM"],
        slug: "pytorch-mapping-warning",
        program: Program::Pytorch,
        sign: Sign::CaughtAndContinued,
        en: "one attempt to map memory failed; without an exception after it the allocator found another way",
        zh: "一次显存映射尝试失败；其后若无异常，说明分配器已用其他方式满足请求",
    },
    Known {
        words: &["memory allocation failed with OOM"],
        slug: "pytorch-mapping-warning",
        program: Program::Pytorch,
        sign: Sign::CaughtAndContinued,
        en: "one attempt to allocate memory failed; without an exception after it the allocator found another way",
        zh: "一次显存分配尝试失败；其后若无异常，说明分配器已用其他方式满足请求",
    },
];

pub fn read(line: &Line) -> Option<Event> {
    let known = KNOWN.iter().find(|known| known.words.iter().all(|word| line.text.contains(word)))?;
    let mut event = Event::new(known.slug, known.program, Resource::Gpu, Span::line(line.number));
    event.sign(known.sign);
    event.message = Joined::of([line], 0).readable(0, usize::MAX, LONGEST_TEXT);
    event.make_harmless(Text::new(known.en, known.zh));
    Some(event)
}
