//! One buffer instead of millions of objects.

use super::need::torch_loader;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "no-python-lists-in-dataset",
    class: Class::Host,
    title: || text!(en: "Keep samples in one array, not in Python lists", zh: "样本用一个数组存放，不用 Python 列表"),
    doc: || {
        text!(
            en: "After fork, reading a Python object writes its reference count and copies the page: measured half \
                 of a list of dicts per worker after one epoch, against 1 MiB for one array. Store samples as \
                 NumPy or Arrow, or serialised in one buffer with offsets, or memory-map them.",
            zh: "fork 之后读取 Python 对象会改写引用计数并复制内存页：实测字典列表一个 epoch 后每个 worker 复制约一\
                 半，而单个数组只有 1 MiB。把样本存为 NumPy/Arrow，或序列化到一个缓冲加偏移，或用内存映射。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Ram, Need::Loader],
    // Ultralytics' users have no data set of their own making.
    applies: |case| {
        few_samples(case).is_none()
            && case.context.workers.value() != Some(0)
            && torch_loader(case)
            // What asks for gigabytes at once is one array already.
            && case.requested().is_none_or(|asked| asked.low < i128::from(GIB))
            && case.trainer() != Some(Trainer::Ultralytics)
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "self.samples = np.array(paths)")
            .note(
                "or datasets.Dataset / pyarrow memory map, not list[dict]",
                "或用 datasets.Dataset / pyarrow 内存映射，不要用 list[dict]",
            )
            .when("own"),
        line(Target::Pytorch, "self.samples = np.array(paths)")
            .note("or np.memmap, not a list of dict", "或用 np.memmap，不要用 dict 的列表")
            .when("own")
            .older(),
        said(
            Target::Pytorch,
            "where its Dataset keeps a Python list of samples: one array of NumPy's or Arrow's instead",
            "若其 Dataset 用 Python 列表保存样本：改为一个 NumPy 或 Arrow 数组",
        )
        .unless("own"),
    ],
    fixtures: &["kernel/memcg-workers", "pytorch-host/worker-killed-with-report"],
    advise,
};

/// Fewer samples than this are no memory, however often they are copied.
const FEW: u64 = 10_000;

fn few_samples(case: &Case) -> Option<u64> {
    case.context.samples.value().filter(|count| *count < FEW)
}

fn advise(case: &Case) -> Advice {
    let loader = case.sign(Sign::DataLoaderWorker) || case.context.workers.is_known() || case.clue(Clue::SampleCache);
    Draft::new(case, &FIX)
        .when("loader", loader)
        .when("own", case.may_write("Dataset("))
        // Where the settings alone outgrow memory, copies of Python objects are the lesser part.
        .weight(if case.ledger.loader.is_some_and(|account| !account.fits()) { 0.4 } else { 1.0 })
        .frees_unknown(text!(en: "needs the size of the sample list in the parent", zh: "需要主进程中样本列表的大小"))
        .because(text!(
            en: "each worker copies the Python objects it reads; one array stays shared",
            zh: "每个 worker 都会复制读到的 Python 对象；单个数组则保持共享"
        ))
}
