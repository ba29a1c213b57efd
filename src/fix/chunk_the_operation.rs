//! Never make the whole intermediate.

use super::prelude::*;
use crate::cause::nature::one_piece;
use crate::domain::program::Kind;

pub const FIX: Fix = Fix {
    id: "chunk-the-operation",
    class: Class::Shapes,
    title: || text!(en: "Compute the large intermediate in blocks", zh: "分块计算大的中间结果"),
    doc: || {
        text!(
            en: "Pairwise distances, masks, attention without fusion, interpolation of all masks and one-hot \
                 tensors grow with a product of sizes. Loop over blocks of rows, reduce each at once, cast before \
                 expanding, or use a sparse form.",
            zh: "成对距离、掩码、未融合的注意力、对全部掩码插值以及 one-hot 张量的大小都是若干维度的乘积。按行分块循\
                 环并立即归约，先转换类型再扩展，或使用稀疏形式。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::Tensor, Need::Pass, Need::LargeRequest, Need::OwnCode],
    // A state vector is one array: no part of it can be left out of a gate.
    applies: |case| {
        !case.is_state_vector()
            && !case.incident.event.of_an_index()
            && !case.context.exchanges_objects()
            && case.program().kind() != Kind::Application
            && !case.grows_trees()
            && !case.of_an_installed_program()
            && !case.leaves_it_to_a_library()
            && case.program() != Program::OnnxRuntime
            // What is moved is there as a whole already, and the passes of a graph have no rows.
            && case.data_moved().is_none()
            && !case.failing_code().contains(".backward(")
            && !is_the_result(case.failing_code())
            // A copy of what is whole has no blocks that are reduced.
            && !case.failing_code().trim_end().ends_with(".contiguous()")
            && (case.shows_own_code() || !case.pytorch() || case.confidence(CauseId::SingleHugeAllocation) >= SURE)
            && may_be_divided(case)
    },
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "for q_block in q.split(1024, dim=-2): ...")
            .note("the scores of some queries at a time, at {place}", "每次只算部分 query 的分数，位于 {place}")
            .when("scores"),
        line(Target::Pytorch, "for block in x.split(1024): ...").note("at {place}", "位于 {place}").unless("scores"),
        said(
            Target::Pytorch,
            "the large tensor in blocks, e.g. 1024 rows at a time, each reduced at once",
            "把大张量分块计算（例如每次 1024 行），逐块归约",
        )
        .unless("placed"),
        said(
            Target::Program,
            "the input in parts, one after the other, where it can be divided",
            "若输入可以划分，逐部分处理",
        ),
        line(Target::Jax, "jax.lax.map(f, xs, batch_size=1024)")
            .note("instead of jax.vmap(f)(xs)", "代替 jax.vmap(f)(xs)")
            .when("vmaps"),
        line(Target::Jax, "jax.lax.map(f, xs.reshape(-1, 1024, *xs.shape[1:]))")
            .note("f works on a block of 1024 rows", "f 每次处理 1024 行的块")
            .when("vmaps")
            .older(),
        said(Target::Jax, "the large array in blocks of rows, each reduced at once", "按行分块计算大数组，逐块归约")
            .unless("vmaps"),
        line(Target::TensorFlow, "tf.map_fn(f, xs)")
            .note("over blocks, instead of one broadcast", "按块处理，代替一次广播")
            .when("calls-tf"),
    ],
    fixtures: &["jax/buffer-assignment", "jax/request-device"],
    advise,
};

/// Where no line of the operation is shown, only a request that is surely too large speaks of one.
const SURE: f64 = 0.5;

/// True for a line that hands on element by element what it was given: `return corr / torch.sqrt(torch.tensor(d))`.
/// What was asked for is the result itself, which has to be there as a whole.
fn is_the_result(code: &str) -> bool {
    let Some(value) = code.trim().strip_prefix("return ") else { return false };
    let by_elements = [" / ", " * ", " + ", " - "].iter().any(|operator| value.contains(operator));
    let makes = ["matmul", "einsum", " @ ", "bmm(", "cdist", "softmax", "exp(", ".mean(", ".sum(", ".max(", "conv"];
    by_elements && !makes.iter().any(|call| value.contains(call))
}

/// True where the traceback ends in an operation on tensors, or there is none and what is worked on has no smaller form
/// of its own: a picture, film or recording is itself made smaller or cut.
fn may_be_divided(case: &Case) -> bool {
    if case.context.frames.iter().any(|frame| frame.is_user_code()) {
        return if case.pytorch() { case.works_on_tensors() } else { !(case.calls_a_whole() || case.of_sessions()) };
    }
    // Of a whole program that XLA compiled the log shows no operation.
    if case.shows_jax() && case.context.frames.iter().any(|frame| frame.is_user_code()) {
        return case.shows_call(&["vmap(", "jnp.", "lax."]);
    }
    if case.context.frames.is_empty() && case.clue(Clue::OneSample) {
        return false;
    }
    let cut = [Subject::Pictures, Subject::Video, Subject::Sound, Subject::Speech, Subject::Proteins];
    !case.context.frames.is_empty() || !case.subject().is_some_and(|subject| cut.contains(&subject))
}

fn advise(case: &Case) -> Advice {
    let requested = case.requested().filter(|requested| requested.low > 0);
    let huge = requested.zip(case.capacity()).is_some_and(|(r, c)| r.middle() * 4 > c.middle());
    // Blocks of a size that nobody meant would be as many.
    if case.absurd() {
        return Advice::WontHelp(text!(
            en: "a request that no device could hold comes from a wrong size: correct the shape instead",
            zh: "任何设备都放不下的申请源于错误的尺寸：应改正形状"
        ));
    }
    let draft = Draft::new(case, &FIX);
    let draft = match case.failing_line() {
        Some(place) if case.shows_own_code() && !case.makes_a_tensor() && case.works_on_tensors() => {
            draft.when("placed", true).fill("place", place)
        }
        _ => draft,
    };
    let weight = if case.clue(Clue::Quadratic) { 1.2 } else { 1.0 };
    draft
        .when("scores", case.multiplies_queries() || case.failing_code().contains("softmax("))
        .own(case.own_option_halved(Quantity::Chunk))
        .when("huge", huge)
        .when("vmaps", case.shows_call(&["vmap("]))
        // A session's call names no operation, and blocks of rows are for those that broadcast.
        .when("calls-tf", !case.of_sessions() && case.shows_call(&["tf.", "K."]))
        .weight(weight)
        .of_request()
        // What a compiler plans is the whole program, and nothing tells which part of it one array is.
        .frees_if(
            requested.filter(|_| one_piece(case.incident)).map(|requested| {
                let shown = show(requested.middle());
                (
                    Interval::between(requested.low * 3 / 4, requested.high),
                    text!(
                        en: "3/4 or more of the {shown} requested at once, with 4 blocks or more",
                        zh: "分 4 块或更多时，省去一次申请的 {shown} 的 3/4 以上"
                    ),
                )
            }),
            text!(en: "needs the size of the intermediate", zh: "需要中间结果的大小"),
        )
        .certainty(if requested.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(join(
            text!(
                en: "one operation makes an intermediate that need not exist as a whole",
                zh: "某个操作产生了不必整体存在的中间结果"
            ),
            case.situation(),
        ))
}
