//! NVIDIA's Triton inference server: its own pools. What its back ends print is theirs to read.

use super::notice::{Notice, PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::input::Document;
use crate::text::Text;

pub const DIALECT: Dialect = Dialect { name: "triton-server", triggers: &["llocate ", "out of memory"], read };

const PHRASES: [Phrase; 2] = [
    Phrase {
        words: &[
            "failedtoallocateCUDAmemorywithbytesize",
            "failedtoallocateGPUmemorywithbytesize",
            "FailedtoallocateCUDAmemorywithbytesize",
        ],
        dialect: "triton-server-pool",
        program: Program::TritonServer,
        sizes: &[(Fact::Requested, "withbytesize")],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["unabletocreatestream:outofmemory", "unabletocreateCUDAstream:outofmemory"],
        dialect: "triton-server-stream",
        program: Program::TritonServer,
        signs: &[Sign::Disguised, Sign::ContextCreation],
        lines: 1,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    if line.text.contains("falling back to non-pinned") {
        let notice = Notice::at(document, position, 1)?;
        let end = notice.text.squeezed.len();
        let mut event = notice.event("triton-server-pinned", Program::TritonServer, Resource::Host, 0, end);
        event.sign(Sign::CaughtAndContinued);
        event.make_harmless(Text::new(
            "the pinned pool is used up and the server goes on with ordinary memory, which is slower",
            "锁页内存池已用尽，服务改用普通内存继续运行，仅速度变慢",
        ));
        return Some(event);
    }
    let mut event = first_of(document, position, &PHRASES)?.0;
    if let Some(device) = field::number_after(&line.text, " on GPU ").and_then(|device| u32::try_from(device).ok()) {
        event.facts.device.note(device, event.at);
    }
    // Its pool of CUDA memory, one of 64 MiB unless it is told otherwise; the driver refuses in other words.
    if line.text.contains("CNMEM") {
        event.sign(Sign::RefusedByLimit);
    }
    // A back end that cannot read what lies in ordinary memory says so at once.
    let falls_back = line.text.contains("falling back to pinned");
    let refused = |at: usize| {
        let next = field::text(document, at);
        next.starts_with('E') && ["error", "failed"].iter().any(|word| next.to_ascii_lowercase().contains(word))
    };
    if falls_back && !field::behind(document, position, 2).any(refused) {
        event.sign(Sign::CaughtAndContinued);
        event.make_harmless(Text::new(
            "the pool of CUDA memory is used up and the server goes on with pinned memory, which is slower",
            "CUDA 内存池已用尽，服务改用锁页内存继续运行，仅速度变慢",
        ));
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Standing;

    #[test]
    fn a_pool_that_is_used_up_is_a_failure_where_the_back_end_says_so() {
        let warning = "W0414 08:19:07.310442 1 memory.cc:212] Failed to allocate CUDA memory with byte size 104448000 \
                       on GPU 0: CNMEM_STATUS_OUT_OF_MEMORY, falling back to pinned system memory";
        let first = |log: &str| crate::dialect::testing::first(read, log).unwrap();
        assert_eq!(first(warning).standing, Standing::Harmless);
        let event = first(&format!(
            "{warning}\nE0414 08:19:07.338815 1 pb_stub.cc:402] An error occurred: failed to copy data"
        ));
        assert_eq!((event.standing, event.facts.device.value()), (Standing::Failure, Some(0)));
        let of_the_driver = first("failed to allocate GPU memory with byte size 4000000000: out of memory");
        assert!(event.has(Sign::RefusedByLimit) && !of_the_driver.has(Sign::RefusedByLimit));
        assert_eq!(event.facts.get(Fact::Requested).map(|asked| asked.bytes), Some(104_448_000));
    }
}
