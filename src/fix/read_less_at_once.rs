//! Pieces instead of the whole.

use super::Knob;
use super::prelude::*;
use super::work::runs_python;

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
    needs: &[Need::Ram, Need::Process, Need::Tensor, Need::Loaded, Need::NoOwnLimit],
    // A service that is none of the user's making reads what it reads.
    applies: |case| {
        (case.works() != [Work::Host] || case.requested().is_some())
            && (runs_python(case) || !case.alone_in_its_container())
            && (case.holds_data() || case.refuses_an_input())
            && !case.installs()
            && !case.context.imports()
            && !matches!(case.phase(), Some(Phase::Checkpoint | Phase::Resume | Phase::OptimizerSetup))
            && !case.builds_a_model()
            && (!case.handles_weights() || case.requested().is_some())
            && !case.sign(Sign::PinnedHost)
    },
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[
        said(
            Target::OnnxRuntime,
            "fewer samples in each session.run(), or a smaller input",
            "每次 session.run() 的样本更少，或缩小输入",
        ),
        line(Target::Jax, "jax.lax.map(f, xs, batch_size=1024)")
            .note(
                "over blocks of rows, each reduced at once, instead of one broadcast",
                "按行分块并立即归约，代替一次广播",
            )
            .when("mapped"),
        line(Target::Jax, "jax.lax.map(f, xs.reshape(-1, 1024, *xs.shape[1:]))")
            .note("f works on a block of 1024 rows", "f 每次处理 1024 行的块")
            .when("mapped")
            .older(),
        said(
            Target::Jax,
            "a smaller batch: the message is of the CPU's memory; jax.devices() shows whether a GPU is used",
            "每步样本数减半：该消息指的是 CPU 的内存；用 jax.devices() 查看是否用上了 GPU",
        )
        .when("jax-step"),
        said(
            Target::Program,
            "if it holds its data as a whole: a part at a time, or a memory map",
            "若整体持有数据：每次只处理一部分，或使用内存映射",
        )
        .unless("array"),
        said(
            Target::Program,
            "keep it sparse, or work on a part of the rows or samples at a time: never one dense matrix of all",
            "保持稀疏，或每次只处理部分行或样本：不要生成包含全部数据的稠密矩阵",
        )
        .when("of-r"),
        said(Target::Program, "work on a part of the array at a time", "每次只处理数组的一部分").when("of-data"),
        said(
            Target::Program,
            "a smaller input at once: fewer samples, or a smaller or divided picture",
            "一次处理更小的输入：更少的样本，或缩小、切分图片",
        )
        .when("of-pictures"),
        said(
            Target::Program,
            "half as much at once: a smaller batch where there is one, else a smaller input",
            "一次处理减半：有批大小就减小批大小，否则缩小输入",
        )
        .when("of-anything"),
        line(Target::Numpy, "np.load(path, mmap_mode=\"r\")")
            .note("or blocks of rows", "或按行分块")
            .when("array-file"),
        said(
            Target::Numpy,
            "join, merge or sort a part of the rows at a time, with the columns that are needed",
            "每次只对部分行做连接、合并或排序，并只保留需要的列",
        )
        .when("table"),
        said(
            Target::Numpy,
            "work on blocks of rows, in {narrow} where that is precise enough",
            "按行分块处理；精度足够时用 {narrow}",
        ),
        said(
            Target::Numpy,
            "work on blocks of rows: never the whole array at once",
            "按行分块处理，不要一次生成整个数组",
        )
        .when("block"),
        line(Target::Python, "for chunk in pd.read_csv(path, chunksize=100_000): ...").when("table-file"),
        said(
            Target::Python,
            "if it holds its data as a whole: make, read and work on a part at a time",
            "若整体持有数据：每次只生成、读取和处理一部分",
        )
        .when("untold"),
        said(
            Target::Python,
            "read each sample when it is asked for, instead of all at the start; or a memory map",
            "样本用到时再读取，而不是开始时全部读入；或使用内存映射",
        )
        .when("reads-samples"),
        said(
            Target::Pytorch,
            "read each sample when it is asked for, instead of all at the start; or a memory map",
            "样本用到时再读取，而不是开始时全部读入；或使用内存映射",
        )
        .when("reads-samples"),
        said(
            Target::Pytorch,
            "half as many samples in each step: on the CPU the batch's activations lie in RAM",
            "每步样本数减半：在 CPU 上训练时，批的激活位于内存中",
        )
        .when("of-the-pass"),
        said(
            Target::Pytorch,
            "a smaller input at once: fewer samples, or tiles of a large image",
            "一次处理更小的输入：更少的样本，或把大图切块",
        )
        .when("of-pictures"),
        said(
            Target::Pytorch,
            "fewer nodes and edges at once: sampled neighbours, or a part of the graph",
            "一次处理更少的节点和边：邻居采样，或只取图的一部分",
        )
        .when("of-a-graph"),
        line(Target::Pytorch, "for block in x.split(1024): ...").note("at {place}", "位于 {place}"),
        said(
            Target::Pytorch,
            "half as much at once: a smaller batch where there is one, else a smaller input",
            "一次处理减半：有批大小就减小批大小，否则缩小输入",
        )
        .when("of-anything"),
        said(
            Target::Pytorch,
            "if it holds its data as a whole: read and work on a part at a time",
            "若整体持有数据：每次只读取和处理一部分",
        )
        .when("unread"),
    ],
    fixtures: &["host/dense-kernel-matrix", "jax/cpu"],
    advise,
};

/// A smaller request than this only found memory full already; half of it is no measure of what reading in pieces
/// saves.
const LAST_STRAW: i128 = 256 * MIB as i128;

/// Where nothing shows data that is read or held, they are a guess.
const GUESS: f64 = 0.6;

/// The half-width type of the one that the message names.
fn narrower(case: &Case) -> Option<&'static str> {
    case.incident.event.wide_type().map(|wide| match wide {
        "float64" => "float32",
        "complex128" => "complex64",
        "int64" => "int32",
        _ => "a numeric type",
    })
}

/// Fewer places in it: what it holds is made by the program, not read.
fn smaller_replay_buffer(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .titled(text!(en: "A smaller replay buffer", zh: "更小的回放缓冲区"))
        .of_request()
        .frees_if(
            // A small request is one sample of it, or its last straw.
            case.requested().filter(|asked| asked.low > LAST_STRAW).map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(requested.scale(0.5).low, requested.scale(0.99).high),
                    text!(
                        en: "half of the {shown} with half the places, and more with fewer",
                        zh: "容量减半即省去 {shown} 的一半，更少则省更多"
                    ),
                )
            }),
            text!(en: "as much as it has fewer places", zh: "与减少的容量成比例"),
        )
        .certainty(Certainty::Arithmetic)
        .line(Knob {
            target: Target::Program,
            line: text!(
                en: "a smaller buffer_size (capacity), or smaller pictures in it",
                zh: "减小 buffer_size（容量），或缩小其中的图片"
            ),
        })
        .because(join(
            text!(
                en: "it takes its number of places times the size of one, at the start or by the time it is full",
                zh: "它占用位置数乘以单个大小，在开始时或写满时"
            ),
            case.situation(),
        ))
}

fn advise(case: &Case) -> Advice {
    if case.requested().is_some() && case.context.keeps_a_replay_buffer() {
        return smaller_replay_buffer(case);
    }
    let frames = || case.context.frames.iter();
    let says = |words: &[&str]| {
        frames().any(|frame| frame.code.as_deref().is_some_and(|code| words.iter().any(|word| code.contains(word))))
    };
    let array_file = says(&["np.load(", "numpy.load(", "fromfile", "loadtxt", "genfromtxt"]);
    let table = frames().any(|frame| {
        let file = frame.path();
        file.contains("pandas/core")
            || file.contains("pandas._libs")
            || frame.function.starts_with("pandas.")
            || frame.function.contains("join") && file.contains("pandas")
    });
    let (narrow, array) = (narrower(case), case.requested().is_some());
    // A tensor that a pass over the model was refused in RAM is one of the batch, whatever the loaders hold.
    // So is one that PyTorch's own allocator was asked for in a step, where no frame reads anything.
    let step = case.pytorch() && !case.context.reads_a_file() && !case.holds_data();
    let of_the_pass = array
        && match case.phase() {
            Some(Phase::Forward | Phase::Backward | Phase::Loss) => true,
            Some(Phase::Train | Phase::Validation) => step,
            _ => false,
        };
    let (reads, data) = (case.context.reads_a_file(), case.holds_data() && !of_the_pass);
    let draft = Draft::new(case, &FIX);
    let draft = match narrow.filter(|_| !array_file && !table) {
        Some(narrow) => draft.fill("narrow", narrow),
        None => draft,
    };
    let pass = array && !reads && !data;
    let r = case.program() == Program::R;
    let pictures = matches!(case.subject(), Some(Subject::Pictures | Subject::Video));
    let graph = case.subject() == Some(Subject::Graph);
    // What is made of another type is all that is read: its parts are those of the data.
    let converts =
        [".float()", ".double()", ".half()", ".astype("].iter().any(|call| case.failing_code().contains(call));
    let operation = pass
        && !converts
        && case.pytorch()
        && !graph
        && !case.training()
        && case.shows_own_code()
        && case.works_on_tensors();
    let draft = match case.failing_line().filter(|_| operation) {
        Some(place) => draft.fill("place", place),
        None => draft,
    };
    let draft = match pass && (of_the_pass || !case.training()) {
        true => draft.titled(text!(en: "Less at once", zh: "减少一次处理的量")),
        false => draft,
    };
    draft
        .when("mapped", array && !reads && !case.training())
        .when("jax-step", array && case.training())
        .when("reads-samples", case.training() && !of_the_pass)
        .when("of-the-pass", case.training() && of_the_pass)
        .when("of-pictures", pass && pictures && !operation)
        .when("of-a-graph", pass && graph)
        .when("of-anything", pass && !pictures && !graph && !operation)
        .when("array", array && !reads)
        .when("of-r", r && array)
        .when("of-data", array && !reads && data && !r && Need::OwnCode.met(case))
        .when("array-file", array_file)
        .when("table", table && !array_file)
        .when("block", !array_file && !table && narrow.is_none())
        .when("table-file", says(&["read_csv", "read_table"]))
        .when("untold", !case.training())
        .when("unread", !case.training() && !array)
        .weight(match reads || array || case.phase() == Some(Phase::DataLoading) {
            true if case.forks_loaders() => GUESS,
            true => 1.0,
            false => GUESS,
        })
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
