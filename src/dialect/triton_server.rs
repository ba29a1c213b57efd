//! NVIDIA's Triton inference server: its own pools. What its back ends print is theirs to read.

use super::notice::{Notice, PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Resource, Sign, Standing};
use crate::domain::Program;
use crate::input::Document;
use crate::text::Text;

pub const DIALECT: Dialect = Dialect { name: "triton-server", triggers: &["llocate ", "out of memory"], read };

const PHRASES: [Phrase; 2] = [
    Phrase {
        words: &["failedtoallocateCUDAmemorywithbytesize", "failedtoallocateGPUmemorywithbytesize"],
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
        event.standing = Standing::Harmless;
        event.sign(Sign::CaughtAndContinued);
        event.harmless_because = Some(Text::new(
            "the pinned pool is used up and the server goes on with ordinary memory, which is slower",
            "锁页内存池已用尽，服务改用普通内存继续运行，仅速度变慢",
        ));
        return Some(event);
    }
    Some(first_of(document, position, &PHRASES)?.0)
}
