//! RAPIDS: RMM's resources below cuDF, cuML, cuGraph and Dask's CUDA workers.
//!
//! A `MemoryError` or `std::bad_alloc` of these is the card's memory when the path is `rmm/mr/device`. Sizes, where
//! printed, are binary (`rmm::detail::format_bytes`).

use super::notice::{Notice, PHRASE, Phrase, first_of, nearby};
use super::{Dialect, Event, Fact, Sign};
use crate::domain::{Number, Program};
use crate::input::Document;
use crate::text;

pub const DIALECT: Dialect = Dialect {
    name: "rapids",
    triggers: &["bad_alloc", "pool size exceeded", "cudaErrorMemoryAllocation", "out of memory", "llocate "],
    read,
};

const PHRASES: [Phrase; 5] = [
    Phrase {
        words: &["Maximumpoolsizeexceeded"],
        dialect: "rapids-pool",
        program: Program::Rapids,
        signs: &[Sign::RefusedByLimit],
        sizes: &[(Fact::Requested, "(failedtoallocate"), (Fact::Requested, "failedtoallocate")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["Exceededmemorylimit(failedtoallocate"],
        dialect: "rapids-limit",
        program: Program::Rapids,
        signs: &[Sign::RefusedByLimit],
        sizes: &[(Fact::Requested, "(failedtoallocate")],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["std::bad_alloc", "rmm::out_of_memory", "rmm::bad_alloc"],
        and: &["rmm/"],
        dialect: "rapids-bad-alloc",
        program: Program::Rapids,
        sizes: &[(Fact::Requested, "(failedtoallocate")],
        lines: 3,
        ..PHRASE
    },
    // cuML and raft beside the pool.
    Phrase {
        words: &["call='cudaMalloc"],
        and: &["cudaErrorMemoryAllocation"],
        dialect: "rapids-outside-pool",
        program: Program::Rapids,
        signs: &[Sign::ForeignLibrary],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAerrorat:", "CUDAerrorencounteredat:"],
        and: &["cudaErrorMemoryAllocation"],
        dialect: "rapids-cuda-error",
        program: Program::Rapids,
        signs: &[Sign::Disguised],
        lines: 3,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    let dask = ["dask-cuda", "dask_cuda", "LocalCUDACluster", "dask cuda"];
    if nearby(document, position, 60, 20, &dask) {
        event.program = Program::DaskCuda;
    }
    let another =
        ["cudaErrorNotSupported", "cudaErrorNoDevice", "cudaErrorInitializationError", "cudaErrorInsufficientDriver"];
    if event.dialect == "rapids-bad-alloc" && another.iter().any(|code| notice.text.contains(code)) {
        event.sign(Sign::OtherCudaError);
        event.make_harmless(text!(
            en: "the driver refused the call for another reason than want of memory: its code says so",
            zh: "驱动拒绝该调用的原因不是内存不足，错误码已说明"
        ));
    }
    if event.dialect == "rapids-bad-alloc" && pinned(&notice) {
        event.sign(Sign::PinnedHost);
        event.resource = super::Resource::Host;
    }
    // The pool itself is being made, as large as its setting says.
    let setting_up =
        [".reinitialize(", "plugin.setup", "initial_pool_size=", "PoolMemoryResource(", "pool_memory_resource("];
    if nearby(document, position, 12, 12, &setting_up) && !nearby(document, position, 3, 0, &[".DeviceBuffer("]) {
        event.sign(Sign::EngineStartup);
        event.sign(Sign::PoolCreation);
    }
    let asked = ["pool_allocator=True", "rmm-pool-size", "rmm_pool_size", "rmm_pool", "PoolMemoryResource"];
    if nearby(document, position, 200, 30, &asked) {
        event.facts.numbers.insert(Number::PoolConfigured, (1.0, event.at));
    }
    Some(event)
}

fn pinned(notice: &Notice) -> bool {
    notice.text.contains("rmm/mr/host/") || notice.text.contains("pinned_memory_resource")
}
