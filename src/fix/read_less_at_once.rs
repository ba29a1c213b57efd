//! Pieces instead of the whole.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "read-less-at-once",
    class: Class::Host,
    title: || text!(en: "Read and process the data in pieces", zh: "分块读取和处理数据"),
    doc: || {
        text!(
            en: "Chunked readers, memory maps, streaming data sets and 32-bit or sparse arrays keep only a part in \
                 memory.",
            zh: "分块读取、内存映射、流式数据集，以及 32 位或稀疏数组，只在内存中保留一部分。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Data, Work::Host],
    needs: &[Need::Ram, Need::Process, Need::Tensor],
    // A service that is none of the user's making reads what it reads.
    applies: |case| (case.works() != [Work::Host] || case.requested().is_some()) && !case.sign(Sign::MappedFile),
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[
        said(
            Target::Program,
            "read the input in blocks or through a memory map; keep float32 instead of float64",
            "分块或通过内存映射读取输入；用 float32 代替 float64",
        ),
        line(Target::Numpy, "np.load(path, mmap_mode=\"r\")")
            .note("or dtype=np.float32, or blocks of rows", "或 dtype=np.float32，或按行分块"),
        line(Target::Python, "for chunk in pd.read_csv(path, chunksize=100_000): ...")
            .note("or a memory map: np.load(path, mmap_mode=\"r\")", "或内存映射：np.load(path, mmap_mode=\"r\")")
            .unless("trains"),
        said(
            Target::Python,
            "read each sample when it is asked for, instead of all at the start; or a memory map",
            "样本用到时再读取，而不是开始时全部读入；或使用内存映射",
        )
        .when("trains"),
        line(Target::Pytorch, "datasets.load_dataset(..., streaming=True)")
            .note("or np.load(path, mmap_mode=\"r\")", "或 np.load(path, mmap_mode=\"r\")")
            .when("trains"),
        said(
            Target::Pytorch,
            "a smaller input at once: fewer samples, or tiles of a large image",
            "一次处理更小的输入：更少的样本，或把大图切块",
        )
        .unless("trains"),
    ],
    fixtures: &["host/dense-kernel-matrix", "jax/cpu"],
    advise,
};

/// A smaller request than this only found memory full already; half of it is no measure of what reading in pieces
/// saves.
const LAST_STRAW: i128 = 256 * MIB as i128;

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .of_request()
        .frees_if(
            case.requested().filter(|requested| requested.low >= LAST_STRAW).map(|requested| {
                let shown = show(requested.middle());
                (
                    requested.scale(0.5),
                    text!(en: "half or more of the {shown} requested at once", zh: "一次申请的 {shown} 的一半以上"),
                )
            }),
            text!(en: "needs the size of what is read at once", zh: "需要一次读取的数据大小"),
        )
        .because(join(
            text!(en: "only a part of the data is needed at any time", zh: "任何时刻只需要数据的一部分"),
            case.situation(),
        ))
}
