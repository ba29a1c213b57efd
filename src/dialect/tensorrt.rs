//! TensorRT, on cards and on Jetson boards (NvMap). Plain bytes.

use super::notice::{Notice, PHRASE, Phrase, first_of, nearby, settle};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;
use crate::text::Text;

pub const DIALECT: Dialect = Dialect {
    name: "tensorrt",
    triggers: &["GPU memory", "OutOfMemory", "out of memory", "NvMapMem", "nsufficient memory"],
    read,
};

const PHRASES: [Phrase; 3] = [
    Phrase {
        words: &["RequestedamountofGPUmemory("],
        dialect: "tensorrt-requested",
        program: Program::TensorRt,
        sizes: &[(Fact::Requested, "RequestedamountofGPUmemory(")],
        lines: 4,
        ..PHRASE
    },
    Phrase {
        words: &["ErrorCode2:OutOfMemory", "ErrorCode2:OutofMemory"],
        dialect: "tensorrt-error-code-2",
        program: Program::TensorRt,
        sizes: &[(Fact::Requested, "Requestedsizewas")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &[
            "ErrorCode1:CudaRuntime(outofmemory)",
            "CudaErrorinallocate:2(outofmemory)",
            "Cudafailure:outofmemory",
            "[TRT]CUDAerror:outofmemory",
        ],
        dialect: "tensorrt-cuda-runtime",
        program: Program::TensorRt,
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
];

/// Lines of one failure: the allocator's, the request's and the context's.
const LINES: usize = 8;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    if line.text.contains("nsufficient memory") {
        return tactic(document, position);
    }
    let nvmap = line.text.contains("NvMapMem") && line.text.contains("error 12");
    let mut event = if nvmap {
        let notice = Notice::at(document, position, LINES)?;
        let end = notice.text.end_of_first_line();
        let mut event = notice.event("tensorrt-nvmap", Program::TensorRt, Resource::Gpu, 0, end);
        event.sign(Sign::ContiguousMemory);
        settle(&mut event);
        event
    } else {
        first_of(document, position, &PHRASES)?.0
    };
    // The lines below say more of the same failure.
    for next in position + 1..(position + LINES).min(document.lines.len()) {
        if let Some((other, _)) = first_of(document, next, &PHRASES) {
            event.at.last = event.at.last.max(other.at.last);
            if let (None, Some(requested)) = (event.facts.get(Fact::Requested), other.facts.get(Fact::Requested)) {
                event.facts.note(Fact::Requested, requested);
                event.signs.remove(&Sign::NoFigures);
                event.signs.remove(&Sign::Disguised);
                event.message = other.message;
            }
        }
    }
    if nvmap || nearby(document, position, 40, 20, &["NvMapMem", "Jetson", "jetson", "Tegra", "tegra", "Orin"]) {
        event.sign(Sign::UnifiedMemory);
    }
    if nearby(document, position, 60, 20, &["tensorrt_llm", "TRT-LLM", "tensorrt-llm"]) {
        event.program = Program::TensorRtLlm;
    }
    settle(&mut event);
    Some(event)
}

/// The builder passes over an implementation that needs more memory than it may use.
fn tactic(document: &Document, position: usize) -> Option<Event> {
    let notice = Notice::at(document, position, 2)?;
    let from = notice.starts("kippingtactic")?;
    let mut event =
        notice.event("tensorrt-tactic", Program::TensorRt, Resource::Gpu, 0, notice.text.end_of_first_line());
    event.sign(Sign::CaughtAndContinued);
    if let Some((requested, _)) = notice.size("requestedsizeof", from) {
        event.facts.note(Fact::Requested, requested);
    }
    event.make_harmless(Text::new(
        "TensorRT's builder skips an implementation that needs too much memory and takes another",
        "TensorRT 构建器跳过了一个内存需求过大的实现（tactic），改用其他实现",
    ));
    Some(event)
}
