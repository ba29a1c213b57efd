//! OpenCV: `(-217:Gpu API call) out of memory in function 'allocate'` (any CUDA error has that number), and its host
//! allocator's `(-4:Insufficient memory) Failed to allocate N bytes`.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "opencv", triggers: &["out of memory", "nsufficient memory", "llocate "], read };

const PHRASES: [Phrase; 4] = [
    Phrase {
        words: &["(-217:GpuAPIcall)outofmemory", "(-217)outofmemory"],
        and: &["cuda_host_mem.cpp"],
        dialect: "opencv-pinned",
        program: Program::OpenCv,
        resource: Resource::Host,
        signs: &[Sign::PinnedHost],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["(-217:GpuAPIcall)outofmemory", "(-217)outofmemory", "GpuAPIcall(outofmemory)"],
        dialect: "opencv-gpu",
        program: Program::OpenCv,
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["(-4:Insufficientmemory)", "OpenCVError:Insufficientmemory"],
        dialect: "opencv-host",
        program: Program::OpenCv,
        resource: Resource::Host,
        sizes: &[(Fact::Requested, "Failedtoallocate")],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["error:(-215"],
        and: &["outofmemory"],
        dialect: "opencv-gpu",
        program: Program::OpenCv,
        lines: 1,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, _) = first_of(document, position, &PHRASES)?;
    // roslaunch's word on the node that it was: `[node-2] process has died [pid 4711, exit code -6, …`
    for line in document.lines.get(position + 1..).unwrap_or_default().iter().take(REACH) {
        if let Some(pid) = super::field::number_after(&line.text, "process has died [pid ") {
            event.facts.pid.note(pid, crate::evidence::Span::line(line.number));
        }
    }
    Some(event)
}

/// How far below the message a launcher's notice of the death may stand.
const REACH: usize = 12;
