//! macOS: jetsam and the kernel's memorystatus kill what is largest when compressed memory and swap are full
//! (`bsd/kern/kern_memorystatus.c`).

use super::wording::{self, Means, Unit, WORDING, Wording};
use super::{Dialect, Fact, Sign};
use crate::domain::Program;
use crate::units::{Base, KIB, MIB};

pub const DIALECT: Dialect = Dialect {
    name: "macos",
    triggers: &[
        "(?i)memorystatus:",
        "(?i)largestprocess",
        "(?i)exceeded mem limit",
        "(?i)run out of application memory",
        "(?i)system is out of application",
    ],
    read: |document, position| wording::read(document, position, TABLE),
};

const TABLE: &[Wording] = &[
    Wording {
        says: &[
            "memorystatus:killing_top_process",
            "memorystatus:killing_specific_process",
            "memorystatus:killing_highwater_process",
        ],
        not: &["idle-exit"],
        slug: "macos-jetsam",
        program: Program::MacOs,
        signs: &[Sign::KilledWithProof],
        figures: &[(Fact::Process, ")", Unit::Printed(Base::Binary))],
        pid: &["_processpid"],
        name: &[("[", ']')],
        ..WORDING
    },
    Wording {
        says: &["memorystatus:killinglargestcompressedprocess"],
        slug: "macos-jetsam",
        program: Program::MacOs,
        signs: &[Sign::KilledWithProof],
        // The figure is what its compressed memory would take uncompressed: more than the machine has, at times.
        pid: &["["],
        name: &[("compressedprocess", '[')],
        ..WORDING
    },
    Wording {
        says: &["memorystatus:killingprocess", "memorystatus:killingidleprocess"],
        and: &["per-process-limit"],
        slug: "macos-process-limit",
        program: Program::MacOs,
        signs: &[Sign::KilledWithProof, Sign::RefusedByLimit],
        pid: &["killingprocess"],
        ..WORDING
    },
    Wording {
        says: &["exceededmemlimit:"],
        and: &["(fatal)"],
        slug: "macos-process-limit",
        program: Program::MacOs,
        signs: &[Sign::KilledWithProof, Sign::RefusedByLimit],
        figures: &[(Fact::Limit, "activehard", Unit::Of(MIB)), (Fact::Limit, "activesoft", Unit::Of(MIB))],
        pid: &["["],
        ..WORDING
    },
    Wording {
        says: &["memorystatus:killing"],
        and: &["idle-exit"],
        slug: "macos-idle-exit",
        program: Program::MacOs,
        means: Means::Harmless(
            "an idle process was let go to make room: what jetsam does all day",
            "系统为腾出内存结束了空闲进程：这是 jetsam 的日常行为",
        ),
        ..WORDING
    },
    Wording {
        says: &["\"largestprocess\":"],
        and: &["\"reason\":\"vm-compressor-space-shortage\""],
        slug: "macos-jetsam-report",
        program: Program::MacOs,
        signs: &[Sign::KilledWithProof],
        // Pages of Apple silicon.
        figures: &[(Fact::Process, "\"rpages\":", Unit::Of(16 * KIB))],
        name: &[("\"largestprocess\":\"", '"')],
        lines: 40,
        ..WORDING
    },
    Wording {
        says: &["hasrunoutofapplicationmemory", "systemisoutofapplicationmemory"],
        slug: "macos-out-of-application-memory",
        program: Program::MacOs,
        ..WORDING
    },
];
