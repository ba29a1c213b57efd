//! Intel's SYCL, Level Zero and OpenCL runtimes: `UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY` and its forerunners. No
//! figures of their own; the program around them may print the size.

use super::notice::{PHRASE, Phrase, first_of, nearby};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;
use crate::units::{Base, Figure, size};

pub const DIALECT: Dialect = Dialect { name: "sycl", triggers: &["OUT_OF_", "malloc_device", "llocate "], read };

const PHRASES: [Phrase; 8] = [
    Phrase {
        words: &[
            "UR_RESULT_ERROR_OUT_OF_HOST_MEMORY",
            "PI_ERROR_OUT_OF_HOST_MEMORY",
            "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY",
        ],
        dialect: "sycl-out-of-host-memory",
        program: Program::Sycl,
        resource: Resource::Host,
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &[
            "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
            "UR_RESULT_ERROR_OUT_OF_RESOURCES",
            "PI_ERROR_OUT_OF_RESOURCES",
            "PI_ERROR_OUT_OF_DEVICE_MEMORY",
            "PI_OUT_OF_RESOURCES",
            "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
            "UR_ERROR_OUT_OF_DEVICE_MEMORY",
        ],
        dialect: "sycl-out-of-device-memory",
        program: Program::Sycl,
        signs: &[Sign::Xpu, Sign::Disguised],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["can'tallocate"],
        and: &["Bytesofmemoryondevice"],
        dialect: "sycl-buffer",
        program: Program::Sycl,
        signs: &[Sign::Xpu],
        sizes: &[(Fact::Requested, "can'tallocate")],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["malloc_device"],
        and: &["failed"],
        dialect: "sycl-malloc-device",
        program: Program::Sycl,
        signs: &[Sign::Xpu],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["CL_OUT_OF_HOST_MEMORY"],
        dialect: "opencl-out-of-host-memory",
        program: Program::OpenCl,
        resource: Resource::Host,
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["VK_ERROR_OUT_OF_POOL_MEMORY", "VK_ERROR_FRAGMENTED_POOL"],
        dialect: "vulkan-out-of-pool",
        program: Program::Vulkan,
        // A pool of descriptors, which its program made for so many.
        signs: &[Sign::FixedBuffer],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["VK_ERROR_OUT_OF_DEVICE_MEMORY"],
        dialect: "vulkan-out-of-device-memory",
        program: Program::Vulkan,
        signs: &[Sign::Disguised],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["CL_MEM_OBJECT_ALLOCATION_FAILURE", "CL_OUT_OF_RESOURCES"],
        dialect: "opencl-allocation",
        program: Program::OpenCl,
        lines: 1,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    let at = event.at;
    match event.dialect {
        "sycl-malloc-device" => {
            let from = notice.starts("malloc_device")? + "malloc_device".len();
            let rest = notice.text.squeezed.get(from..)?;
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            let unit: String = rest.get(end..)?.chars().take(2).collect();
            if let Some(size) = size(rest.get(..end)?, &unit, Base::Binary) {
                event.facts.note(Fact::Requested, size.at(at));
                event.signs.remove(&Sign::NoFigures);
            }
            device(document, position, &mut event);
        }
        "sycl-out-of-device-memory" | "sycl-buffer" => {
            buffer(document, position, &mut event);
            device(document, position, &mut event);
            if nearby(document, position, 40, 10, &["torch", "ipex", "intel_extension_for_pytorch"]) {
                event.program = Program::Pytorch;
            }
        }
        _ => {}
    }
    Some(event)
}

/// ggml prints the size of the refused buffer on a line of its own, in front of or behind the runtime's.
fn buffer(document: &Document, position: usize, event: &mut Event) {
    let from = position.saturating_sub(6);
    for line in document.lines.get(from..(position + 6).min(document.lines.len())).unwrap_or_default() {
        if let Some((front, _)) = line.text.split_once(" Bytes of memory on device")
            && let Some(number) = front.rsplit(' ').next()
            && let Ok(bytes) = number.parse::<u64>()
        {
            let at = crate::evidence::Span::line(line.number);
            event.facts.note(Fact::Requested, Figure { bytes, half_width: 0, at });
            event.signs.remove(&Sign::NoFigures);
            event.at.first = event.at.first.min(line.number);
        }
        if line.text.contains("Native API returns:") {
            event.at.last = event.at.last.max(line.number);
        }
    }
}

/// What a listing of the device says of its memory, within the twenty lines before.
fn device(document: &Document, position: usize, event: &mut Event) {
    let from = position.saturating_sub(20);
    for line in document.lines.get(from..position).unwrap_or_default() {
        let at = crate::evidence::Span::line(line.number);
        let labels = [
            (Fact::Limit, "Max memory allocation:"),
            (Fact::Free, "Free memory:"),
            (Fact::Capacity, "Global memory size:"),
        ];
        for (fact, label) in labels {
            if let Some(size) = super::field::size_after(&line.text, label, Base::Binary) {
                event.facts.note(fact, size.at(at));
            }
        }
    }
}
