//! Apache MXNet: `cudaMalloc retry failed: out of memory` after its pool was flushed. No figures; being asynchronous,
//! it reports at the first call that waits.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Sign};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect { name: "mxnet", triggers: &["out of memory"], read };

const PHRASES: [Phrase; 3] = [
    Phrase {
        words: &["cudaMallocretryfailed:outofmemory", "cudaMallocretryfailed:", "hipMallocretryfailed:outofmemory"],
        and: &["outofmemory"],
        dialect: "mxnet-cudamalloc-retry",
        program: Program::Mxnet,
        signs: &[Sign::Asynchronous],
        lines: 2,
        ..PHRASE
    },
    // Before 1.0 the pool gave up at once.
    Phrase {
        words: &["storage_manager.h:"],
        and: &["cudaMallocfailed:outofmemory"],
        dialect: "mxnet-cudamalloc-retry",
        program: Program::Mxnet,
        signs: &[Sign::Asynchronous],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["MXNetError:"],
        and: &["outofmemory"],
        dialect: "mxnet-cuda-error",
        program: Program::Mxnet,
        signs: &[Sign::Asynchronous, Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    Some(first_of(document, position, &PHRASES)?.0)
}

#[cfg(test)]
mod tests {
    use crate::dialect::events;
    use crate::domain::Program;
    use crate::input::Document;

    #[test]
    fn an_old_pool_that_gives_up_at_once_is_mxnets_and_no_engines() {
        let log = "[08:12:55] /opt/mx/logging.h:304: [08:12:55] src/storage/./pooled_storage_manager.h:84: \
            cudaMalloc failed: out of memory\n";
        let programs: Vec<Program> =
            events(&Document::from_text("-", log)).into_iter().map(|event| event.program).collect();
        assert_eq!(programs, [Program::Mxnet]);
    }
}
