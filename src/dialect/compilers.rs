//! Compilers and linkers, whose parallel jobs need gigabytes each: GCC, Clang, CUDA's, Microsoft's, and the builds
//! around.

use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Sign, field, shells};
use crate::domain::Program;
use crate::input::Document;
use crate::units::Base;

pub const DIALECT: Dialect = Dialect {
    name: "compilers",
    triggers: &[
        "(?i)signal terminated program",
        "(?i)compiler error: killed",
        "(?i)terminated with signal 9",
        "(?i)command: killed",
        "(?i)virtual memory exhausted",
        "(?i)memory exhausted",
        "(?i)out of memory allocating",
        "(?i)memory allocation failure",
        "(?i)c1060",
        "(?i)c1076",
        "(?i)c3859",
        "(?i)lnk1102",
        "(?i)failed: signal: 9",
    ],
    read,
};

const KILLED: &[Sign] = &[Sign::CompilerKilled, Sign::KilledWithoutProof];
const REFUSED: &[Sign] = &[Sign::CompilerKilled];

const TABLE: &[Wording] = &[
    Wording {
        says: &[
            "signalterminatedprogram",
            "internalcompilererror:killed",
            "ldterminatedwithsignal9",
            "linkingwith`cc`failed:signal:9",
        ],
        slug: "compiler-killed",
        program: Program::Gcc,
        signs: KILLED,
        ..WORDING
    },
    Wording {
        says: &["unabletoexecutecommand:killed"],
        slug: "compiler-killed",
        program: Program::Clang,
        signs: KILLED,
        ..WORDING
    },
    Wording {
        says: &["virtualmemoryexhausted", "finallinkfailed:memoryexhausted", "ld:memoryexhausted"],
        slug: "compiler-killed",
        program: Program::Gcc,
        signs: REFUSED,
        ..WORDING
    },
    Wording {
        says: &[":outofmemoryallocating"],
        and: &["bytesafteratotalof"],
        slug: "compiler-killed",
        program: Program::Gcc,
        signs: REFUSED,
        figures: &[
            (Fact::Requested, "outofmemoryallocating", Unit::Printed(Base::Binary)),
            (Fact::Allocated, "afteratotalof", Unit::Printed(Base::Binary)),
        ],
        ..WORDING
    },
    Wording {
        says: &["ptxasfatal:memoryallocationfailure"],
        slug: "compiler-killed",
        program: Program::Nvcc,
        signs: REFUSED,
        ..WORDING
    },
    Wording {
        says: &["errorc1060", "errorc1076", "errorc3859", "errorlnk1102"],
        slug: "msvc-out-of-heap",
        program: Program::Msvc,
        signs: &[Sign::CompilerKilled, Sign::Windows],
        ..WORDING
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    // GNU's allocation function in its other programs: `gdb/utils.c:683: internal-error: virtual memory exhausted`.
    // Cyrus and Emacs begin theirs with a capital.
    let text = field::text(document, position);
    if text.contains("internal-error: virtual memory exhausted") || text.contains("Virtual memory exhausted") {
        return None;
    }
    // GCC gives the signal's name in the user's language, and other signals are no sign of memory.
    if let Some((signal, _)) = field::text(document, position).to_lowercase().split_once(" signal terminated program")
        && !shells::KILLED.iter().any(|killed| signal.ends_with(&killed.to_lowercase()))
    {
        return None;
    }
    let mut event = wording::read(document, position, TABLE)?;
    // `make[2]: *** virtual memory exhausted`: make's own (src/misc.c).
    if field::text(document, position).contains("*** virtual memory exhausted") {
        event.program = Program::named("make").unwrap_or(event.program);
    }
    // The linker of another language's build.
    let near = |words: &[&str]| {
        field::before(position + 1, 6).any(|at| words.iter().any(|word| field::text(document, at).contains(word)))
    };
    if event.program == Program::Gcc && near(&["linking with `", "rustc", "cargo", "error: could not compile"]) {
        event.program = Program::Rust;
    } else if event.program == Program::Gcc && near(&["/pkg/tool/"]) {
        event.program = Program::Go;
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(log: &str) -> Option<Event> {
        crate::dialect::testing::first(read, log)
    }

    #[test]
    fn compilers_and_linkers_of_every_language() {
        for (log, program) in [
            ("c++: fatal error: Killed signal terminated program cc1plus", Program::Gcc),
            ("c++: fatal error: Morto signal terminated program lto1", Program::Gcc),
            ("gcc: 致命错误：已杀死 signal terminated program cc1", Program::Gcc),
            ("collect2: fatal error: ld terminated with signal 9 [Killed]", Program::Gcc),
            ("error: linking with `cc` failed: signal: 9 (SIGKILL)", Program::Rust),
            ("clang: error: unable to execute command: Killed", Program::Clang),
            ("ptxas fatal   : Memory allocation failure", Program::Nvcc),
            ("fatal error C1060: compiler is out of heap space", Program::Msvc),
            (
                "/opt/go/pkg/tool/link: running gcc failed\ncollect2: fatal error: ld terminated with signal 9",
                Program::Go,
            ),
        ] {
            assert_eq!(first(log).map(|event| event.program), Some(program), "{log}");
        }
        assert_eq!(first("gcc: fatal error: Segmentation fault signal terminated program cc1"), None);
        let event = first("cc1plus: out of memory allocating 65536 bytes after a total of 4194304 bytes").unwrap();
        let bytes = |fact| event.facts.get(fact).map(|figure| figure.bytes);
        assert_eq!((bytes(Fact::Requested), bytes(Fact::Allocated)), (Some(65_536), Some(4 << 20)));
    }
}
