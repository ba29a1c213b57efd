//! Databases and servers with limits and words of their own: PostgreSQL, Redis, Elasticsearch, RStudio's sessions.

use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Fact, Resource, Sign};
use crate::domain::Program;
use crate::units::{Base, MIB};

pub const DIALECT: Dialect = Dialect {
    name: "services",
    triggers: &[
        "(?i)memory context",
        "(?i)invalid memory alloc request",
        "(?i)shared memory segment",
        "(?i)anonymous shared memory",
        "(?i)out of memory allocating",
        "(?i)used memory > 'maxmemory'",
        "(?i)can't save in background",
        "(?i)data too large",
        "(?i)its memory limit",
        "(?i)r session aborted",
    ],
    read: |document, position| wording::read(document, position, TABLE),
};

const TABLE: &[Wording] = &[
    Wording {
        says: &["failedonrequestofsize"],
        and: &["inmemorycontext"],
        slug: "postgresql-memory-context",
        program: Program::Postgres,
        figures: &[(Fact::Requested, "failedonrequestofsize", Unit::Of(1))],
        pid: &["utc["],
        ..WORDING
    },
    Wording {
        says: &["couldnotresizesharedmemorysegment"],
        and: &["nospaceleftondevice"],
        slug: "postgresql-shared-segment",
        program: Program::Postgres,
        resource: Resource::Shm,
        figures: &[(Fact::Requested, "\"to", Unit::Printed(Base::Binary))],
        ..WORDING
    },
    Wording {
        says: &["couldnotmapanonymoussharedmemory", "couldnotcreatesharedmemorysegment"],
        and: &["cannotallocatememory"],
        slug: "postgresql-shared-memory",
        program: Program::Postgres,
        figures: &[(Fact::Requested, "(currently", Unit::Printed(Base::Binary))],
        lines: 2,
        ..WORDING
    },
    Wording {
        says: &["outofmemoryallocating"],
        and: &["bytes!"],
        slug: "redis-out-of-memory",
        program: Program::Redis,
        figures: &[(Fact::Requested, "outofmemoryallocating", Unit::Printed(Base::Binary))],
        ..WORDING
    },
    Wording {
        says: &["commandnotallowedwhenusedmemory>'maxmemory'"],
        slug: "redis-maxmemory",
        program: Program::Redis,
        signs: &[Sign::RefusedByLimit],
        ..WORDING
    },
    // palloc.c: above 1 GB - 1 nothing is given in one piece, whatever there is. pg_bulkload rejects the record and
    // goes on to the next.
    Wording {
        says: &["invalidmemoryallocrequestsize"],
        and: &["rejected-"],
        slug: "postgresql-request-size",
        program: Program::Postgres,
        signs: &[Sign::RefusedByLimit],
        figures: &[(Fact::Requested, "invalidmemoryallocrequestsize", Unit::Of(1))],
        ..WORDING
    },
    // EAGAIN is the limit on processes.
    Wording {
        says: &["can'tsaveinbackground:fork"],
        not: &["resourcetemporarilyunavailable"],
        slug: "redis-fork",
        program: Program::Redis,
        ..WORDING
    },
    Wording {
        says: &["datatoolarge,datafor"],
        and: &["largerthanthelimitof"],
        slug: "elasticsearch-circuit-breaker",
        program: Program::Elasticsearch,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Needed, "wouldbe[", Unit::Of(1)),
            (Fact::Limit, "thelimitof[", Unit::Of(1)),
            (Fact::Used, "realusage:[", Unit::Of(1)),
            (Fact::Requested, "newbytesreserved:[", Unit::Of(1)),
        ],
        ..WORDING
    },
    // 2.0 to 5.x: no figure of what was asked for.
    Wording {
        says: &["datatoolarge,datafor"],
        and: &["wouldbelargerthanlimitof["],
        slug: "elasticsearch-circuit-breaker",
        program: Program::Elasticsearch,
        signs: &[Sign::RefusedByLimit],
        figures: &[(Fact::Limit, "largerthanlimitof[", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["sessionhasreacheditsmemorylimit"],
        slug: "rstudio-session-limit",
        program: Program::RStudio,
        resource: Resource::Cgroup,
        signs: &[Sign::KilledWithProof, Sign::RefusedByLimit],
        figures: &[
            (Fact::Used, "memoryused:", Unit::Counted(MIB, "mib")),
            (Fact::Limit, "limit:", Unit::Counted(MIB, "mib")),
        ],
        ..WORDING
    },
    // No word on memory, and nothing else ends a session without one so often.
    Wording {
        says: &["rsessionaborted"],
        and: &["encounteredafatalerror"],
        slug: "rstudio-session-aborted",
        program: Program::RStudio,
        signs: &[Sign::KilledWithoutProof],
        lines: 2,
        ..WORDING
    },
];
