//! Pieces instead of the whole.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::dialect::Resource;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "read-less-at-once",
    class: Class::Host,
    title: || text!(en: "Read and process the data in pieces", zh: "分块读取和处理数据"),
    doc: || {
        text!(
            en: "Chunked readers, memory maps, streaming data sets and 32-bit or sparse arrays keep only a part in memory.",
            zh: "分块读取、内存映射、流式数据集，以及 32 位或稀疏数组，只在内存中保留一部分。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_host() || case.resource() == Resource::Shm {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (CauseId::HostMemory, 0.4),
            (CauseId::SingleHugeAllocation, 0.75),
            (CauseId::Capacity, 0.4),
            (CauseId::TransientPeak, 0.4),
            (CauseId::HostWorkers, 0.1),
        ],
    )
    .frees_if(
        case.requested().filter(|requested| requested.low > 0).map(|requested| {
            let shown = show(requested.middle());
            (
                requested.scale(0.5),
                text!(en: "half or more of the {shown} asked for at once", zh: "一次申请的 {shown} 的一半以上"),
            )
        }),
        text!(en: "needs the size of what is read at once", zh: "需要一次读取的数据大小"),
    )
    .slows(0.0, 0.2)
    .numerics(Numerics::Same)
    .knob(Target::Program, "read the input in blocks or through a memory map; keep float32 instead of float64")
    .knob(Target::Numpy, "np.load(path, mmap_mode=\"r\")   # or dtype=np.float32, or blocks of rows")
    .knob(Target::Python, "for chunk in pd.read_csv(path, chunksize=100_000): ...")
    .knob(Target::Pytorch, "datasets.load_dataset(..., streaming=True)   # or np.load(path, mmap_mode=\"r\")")
    .because(join(
        text!(en: "only a part of the data is needed at any time", zh: "任何时刻只需要数据的一部分"),
        case.situation(),
    ))
}
