//! A size that nobody meant.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "fix-the-shape",
    class: Class::Shapes,
    title: || text!(en: "Correct the size of the request that failed", zh: "改正失败申请的尺寸"),
    doc: || {
        text!(
            en: "A request larger than the device, or beyond any machine, comes from a wrong dimension: \
                 broadcasting (n,1) against (n,), a missing reduction, a swapped axis, garbage in a size, labels \
                 or ids used as sizes.",
            zh: "超过设备甚至任何机器的申请通常来自错误的维度：(n,1) 与 (n,) 广播、缺少归约、轴写反、尺寸变量是垃圾\
                 值、把标签或 id 当作尺寸。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::NoEngine, Need::Tensor, Need::LargeRequest, Need::OwnCode],
    applies: |case| {
        case.resource() != Resource::CudaSharedMemory
            && case.resource() != Resource::Shm
            && (!case.loading() || case.confidence(CauseId::SingleHugeAllocation) >= 0.6)
            && !case.is_state_vector()
            && !case.context.exchanges_objects()
            && (!case.leaves_it_to_a_library() || case.absurd())
            && (!case.grows_trees() || case.absurd())
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        said(
            Target::Pytorch,
            "build the rasterizer anew for this GPU: pip install --force-reinstall --no-cache-dir \
             --no-build-isolation of its sources, with TORCH_CUDA_ARCH_LIST set to the GPU's compute capability",
            "为这块 GPU 重新编译光栅化扩展：把 TORCH_CUDA_ARCH_LIST 设为其计算能力，再对其源码执行 pip install \
             --force-reinstall --no-cache-dir --no-build-isolation",
        )
        .when("rasterized"),
        line(Target::Pytorch, "print(x.shape, x.dtype)").note("before {place}", "放在 {place} 之前"),
        said(Target::Pytorch, "print the shapes that go into the failing operation", "打印出错操作各输入的形状")
            .unless("placed"),
        line(Target::Python, "np.array(texts, dtype=object)")
            .note("each text then takes its own length", "每条文本只占自身长度")
            .when("texts"),
        said(Target::Python, "print the shapes that go into the failing operation", "打印出错操作各输入的形状")
            .unless("shape-told"),
        said(
            Target::Python,
            "find where the sides of ({sides}) come from: the one that nobody meant is too large",
            "查明 ({sides}) 各边长的来源：有一边是无意中变大的",
        ),
        said(
            Target::Program,
            "the largest array is padded to {factor} times its data: put a side of 128 or a multiple last (and of 8 \
             before it), by a transpose or by merging the small sides",
            "最大的数组被填充到其数据的 {factor} 倍：通过转置或合并小的维度，使最后一维为 128 的倍数（倒数第二维为 8 \
             的倍数）",
        )
        .when("blown-up"),
        said(
            Target::Program,
            "find the size that nobody meant: in the inputs, the settings, or a library built for another version",
            "找出无意中变大的尺寸：在输入、设置中，或来自为其他版本编译的库",
        ),
    ],
    fixtures: &["pytorch/more-than-1eb"],
    advise,
};

/// True where an array is padded or cut to sides that the program computed: its size is those sides, and no data.
fn pads(case: &Case) -> bool {
    let calls = ["np.pad(", "numpy.pad(", "F.pad(", "copyMakeBorder("];
    case.context.frames.iter().rev().take(3).any(|frame| {
        frame.function == "pad"
            || frame.code.as_deref().is_some_and(|code| calls.iter().any(|call| code.contains(call)))
    })
}

/// Bytes below which a vector of R's may hold somebody's data.
const PLAUSIBLE: i128 = 128 * GIB as i128;

fn advise(case: &Case) -> Advice {
    // As large as the file or the samples that it is made of.
    let texts = case.incident.event.pads_texts();
    if case.on_host() && case.context.takes_in_data() && !case.absurd() && !texts {
        return Advice::Silent;
    }
    // R's vectors are as large as the data, such as a matrix that is dense. Of 17 reports the five in which a side was
    // not meant asked for 260 GiB and more.
    let plausible = case.requested().is_some_and(|requested| requested.high < PLAUSIBLE);
    if case.program() == Program::R && plausible && !case.absurd() {
        return Advice::Silent;
    }
    let absurd = case.sign(Sign::AbsurdRequest)
        || case.requested().zip(case.capacity()).is_some_and(|(requested, capacity)| requested.low > capacity.high);
    // The number of pairs to sort, which one kernel counts and the next call asks for: where they were built for
    // another GPU it stays unset (graphdeco-inria/diff-gaussian-rasterization, rasterize_points.cu). No shape is wrong.
    let rasterized = absurd && case.frames_of("diff_gaussian_rasterization");
    let draft = Draft::new(case, &FIX);
    let draft = match case.failing_line().filter(|_| !rasterized) {
        Some(place) if case.shows_own_code() && case.works_on_tensors() => {
            draft.when("placed", true).fill("place", place)
        }
        _ => draft,
    };
    let draft = match case.incident.event.shape() {
        Some(sides) => draft.when("shape-told", true).fill("sides", sides),
        None => draft,
    };
    let draft = match case.incident.event.padded() {
        Some((factor, _)) => draft.when("blown-up", true).fill("factor", format!("{factor:.0}")),
        None => draft,
    };
    // No line that looks for a shape.
    let draft = match rasterized {
        true => ["rasterized", "placed", "shape-told"].into_iter().fold(draft, |draft, told| draft.when(told, true)),
        false => draft,
    };
    draft
        .when("texts", texts)
        .when("shape-told", texts)
        .when("absurd", absurd)
        .when("padded", pads(case))
        // The sides were computed: there is nothing of which a part could be read.
        .weight(if pads(case) { 1.3 } else { 1.0 })
        .of_request()
        .frees_if(
            // Of a number that went wrong no part is memory.
            case.requested().filter(|requested| requested.low > 0 && !case.absurd()).map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(requested.scale(0.9).low, requested.high),
                    text!(
                        en: "nearly all of the {shown} requested, if a dimension is wrong",
                        zh: "若维度有误，几乎全部 {shown}"
                    ),
                )
            }),
            text!(en: "all of the request, if a dimension is wrong", zh: "若维度有误，即全部申请量"),
        )
        .certainty(if absurd { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(join(
            text!(
                en: "one request is far larger than the rest of the job",
                zh: "单次申请远超任务的其余部分"
            ),
            case.situation(),
        ))
}
