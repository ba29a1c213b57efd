//! PaddlePaddle: `Out of memory error on GPU 0. Cannot allocate 1.0GB memory on GPU 0, …`. Its GB and MB are binary
//! (`paddle/fluid/string/printf`, `HumanReadableSize`), and units may differ within one sentence.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::evidence::Known;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect {
    name: "paddle",
    triggers: &[
        "Out of memory",
        "out of memory",
        "llocate ",
        "ail to alloc memory",
        "ALLOC_FAILED",
        "shared memory",
        "specified length failed",
        "enforce allocating <= available failed",
    ],
    read,
};

const PHRASES: [Phrase; 6] = [
    // platform/gpu_info.cc, GpuMaxChunkSize() (0.11 to 1.3): FLAGS_fraction_of_gpu_memory_to_use of the device, what
    // the pool takes at its first request and whenever it is full, whatever that request was.
    Phrase {
        words: &["enforceallocating<=availablefailed"],
        dialect: "paddle-chunk",
        program: Program::Paddle,
        signs: &[Sign::PoolCreation],
        sizes: &[(Fact::Requested, "availablefailed,"), (Fact::Free, ">")],
        lines: 2,
        ..PHRASE
    },
    // A batch on its way from a worker (memory/allocation/mmap_allocator.cc, 2020 on); no code is printed.
    Phrase {
        words: &[
            "Memorymapfailedwhencreatesharedmemory",
            "Memorymapfailedwhenrebuildsharedmemory",
            "Truncateafiletoaspecifiedlengthfailed",
        ],
        dialect: "paddle-shared-memory",
        program: Program::Paddle,
        resource: Resource::Shm,
        signs: &[Sign::DataLoaderWorker, Sign::NoFigures],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["OutofmemoryerroronGPU", "OutofmemoryerroronXPU", "OutofmemoryerroronNPU", "Outofmemoryerroronnpu"],
        dialect: "paddle-out-of-memory",
        program: Program::Paddle,
        sizes: &[
            (Fact::Requested, "Cannotallocate"),
            (Fact::Free, "availablememoryisonly"),
            (Fact::FractionLimit, "maxlimitis"),
        ],
        lines: 4,
        ..PHRASE
    },
    Phrase {
        words: &["Failtoallocmemoryof"],
        dialect: "paddle-host",
        program: Program::Paddle,
        resource: Resource::Host,
        sizes: &[(Fact::Requested, "Failtoallocmemoryof")],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAerror(2),outofmemory", "ExternalError:CUDAerror(2)"],
        dialect: "paddle-cuda-error",
        program: Program::Paddle,
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["CUBLASerror(3)", "CUDNNerror(2)"],
        and: &["ALLOC_FAILED"],
        dialect: "paddle-library",
        program: Program::Paddle,
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    if event.dialect == "paddle-out-of-memory" {
        // `7.084717GB memory has been allocated` is the card's use, by whomever: Paddle asks the driver.
        // The index of the GPU and a comma stand in front of it; a comma may stand in the figure as well.
        if let Some(at) = notice.text.find("memoryhasbeenallocated", 0)
            && let Some(gpu) = notice.text.squeezed.get(..at).and_then(|text| text.rfind("onGPU"))
            && let Some(comma) = notice.text.squeezed.get(gpu..at).and_then(|text| text.find(','))
            && let Some((figure, _)) = notice.size_at(gpu + comma + 1)
        {
            event.facts.note(Fact::Allocated, figure);
            event.facts.note(Fact::Used, figure);
        }
        if let Some((index, _)) = notice.count("memoryerroronGPU", 0)
            && let Ok(index) = u32::try_from(index)
        {
            event.facts.device = Known::Seen(index, event.at);
        }
        // Advice in its own words, the last of which speak of the failure again.
        const ADVICE: usize = 8;
        let advice = field::behind(document, position, ADVICE)
            .find(|at| field::text(document, *at).starts_with("If the above ways do not solve"));
        if let Some(at) = advice {
            event.at.last = event.at.last.max(field::number(document, at));
        }
        if notice.text.contains("availablememoryisonly") && event.facts.get(Fact::Free).is_none() {
            event.sign(Sign::Cut);
        }
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use crate::dialect::{Fact, events};
    use crate::input::Document;

    #[test]
    fn a_figure_with_a_decimal_comma_is_not_read_from_its_middle() {
        let log = "Out of memory error on GPU 1. Cannot allocate 512,000000MB memory on GPU 1, 10,500000GB memory has \
            been allocated and available memory is only 245,250000MB.\n";
        let events = events(&Document::from_text("-", log));
        let facts = &events.first().expect("a failure").facts;
        let bytes = |fact| facts.get(fact).map(|figure| figure.bytes);
        assert_eq!(bytes(Fact::Allocated), Some(21 << 29));
        assert_eq!(bytes(Fact::Requested), Some(512 << 20));
    }
}
