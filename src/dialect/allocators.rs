//! Allocators of C and C++ programs that say themselves that they found nothing: jemalloc, tcmalloc, mimalloc, bash's
//! own; compilers and frameworks with one sentence.

use super::notice::nearby;
use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;
use crate::units::Base;

pub const DIALECT: Dialect = Dialect {
    name: "allocators",
    triggers: &[
        "(?i)zsh: fatal error",
        "(?i)<jemalloc>:",
        "(?i)tcmalloc",
        "(?i)mimalloc",
        "(?i)xmalloc",
        "(?i)xrealloc",
        "(?i)llvm error",
        "is more than total mem size",
    ],
    read,
};

/// What shows that a compiler works for a build, which runs several at once. LLVM compiles within drivers as well.
const BUILDS: &[&str] =
    &["clang", "gcc", "g++", "ninja", "make", "cargo", "rustc", "bazel", ".cpp", ".cc", ".o ", "Building", "ompiling"];

fn read(document: &Document, position: usize) -> Option<Event> {
    /// Lines around in which a build shows.
    const AROUND: usize = 200;
    let mut event = wording::read(document, position, TABLE)?;
    if event.has(Sign::CompilerKilled) && !nearby(document, position, AROUND, AROUND, BUILDS) {
        event.signs.remove(&Sign::CompilerKilled);
    }
    Some(event)
}

const TABLE: &[Wording] = &[
    Wording {
        says: &["<jemalloc>:errorinmunmap", "<jemalloc>:(malloc)number", "<jemalloc>:unsupportedsystempagesize"],
        slug: "jemalloc-warning",
        program: Program::Jemalloc,
        means: super::wording::Means::Harmless(
            "jemalloc could not give memory back or found an odd page size; the program goes on",
            "jemalloc 归还内存失败或页大小异常；程序继续运行",
        ),
        ..WORDING
    },
    Wording {
        says: &["<jemalloc>:errorin"],
        and: &["outofmemory"],
        slug: "jemalloc-out-of-memory",
        program: Program::Jemalloc,
        // What an application's own handler adds: SPAdes.
        figures: &[(Fact::Requested, "outofmemory.requested:", Unit::Of(1)), (Fact::Allocated, "active:", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["tcmalloc:allocationfailed"],
        slug: "tcmalloc-allocation-failed",
        program: Program::Tcmalloc,
        figures: &[(Fact::Requested, "allocationfailed", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["outofmemorytryingtoallocateinternaltcmallocdata"],
        slug: "tcmalloc-metadata",
        program: Program::Tcmalloc,
        figures: &[(Fact::Requested, "vsslimitations)?", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["mimalloc:error:unabletoallocatememory", "mimalloc:error:outofmemory"],
        slug: "mimalloc-out-of-memory",
        program: Program::Mimalloc,
        figures: &[(Fact::Requested, "unabletoallocatememory", Unit::Printed(Base::Binary))],
        ..WORDING
    },
    Wording {
        says: &["xmalloc:cannotallocate", "xrealloc:cannotallocate", "xmalloc:无法分配", "xrealloc:无法分配"],
        slug: "shell-allocation",
        program: Program::Generic,
        figures: &[
            (Fact::Requested, "cannotallocate", Unit::Printed(Base::Binary)),
            (Fact::Requested, "无法分配", Unit::Printed(Base::Binary)),
            (Fact::Allocated, "bytes(", Unit::Printed(Base::Binary)),
            (Fact::Allocated, "已分配", Unit::Printed(Base::Binary)),
        ],
        ..WORDING
    },
    // mindspore/ccsrc/backend/common/mem_reuse/mem_dynamic_allocator.cc, 2.x: bytes.
    Wording {
        says: &["totalusedmemstatistics:"],
        and: &["ismorethantotalmemsize"],
        slug: "mindspore-total-mem",
        program: Program::Mindspore,
        resource: Resource::Gpu,
        figures: &[
            (Fact::Allocated, "totalusedmemstatistics:", Unit::Of(1)),
            (Fact::Requested, "allocsize:", Unit::Of(1)),
            (Fact::Limit, "totalmemsize:", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording { says: &["zsh:fatalerror:outofmemory"], slug: "shell-allocation", program: Program::Generic, ..WORDING },
    Wording {
        says: &["rustc-llvmerror:outofmemory"],
        slug: "llvm-out-of-memory",
        program: Program::Rust,
        signs: &[Sign::CompilerKilled],
        ..WORDING
    },
    Wording {
        says: &["llvmerror:outofmemory"],
        slug: "llvm-out-of-memory",
        program: Program::Clang,
        signs: &[Sign::CompilerKilled],
        ..WORDING
    },
];
