//! Allocators of C and C++ programs that say themselves that they found nothing: jemalloc, tcmalloc, mimalloc, bash's
//! own.

use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Fact, Sign};
use crate::domain::Program;
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
    ],
    read: |document, position| wording::read(document, position, TABLE),
};

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
