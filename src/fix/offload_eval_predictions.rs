//! Don't collect predictions on the device.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "offload-eval-predictions",
    class: Class::Evaluation,
    title: || text!(en: "Move predictions off the GPU as they come", zh: "及时把预测结果移出显存"),
    doc: || {
        text!(
            en: "Evaluation loops that collect logits keep samples × sequence × vocabulary × 4 bytes on the GPU. \
                 Move them to the host every few steps, or reduce them (argmax) before they are kept.",
            zh: "收集 logits 的验证循环会在显存中保留 样本数 × 序列长度 × 词表 × 4 字节。每隔几步移到主机，或先归约\
                 （argmax）再保留。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::OwnCode],
    applies: |case| !case.evaluates_within_a_package(),
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "eval_accumulation_steps=1")
            .note(
                "and preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)",
                "以及 preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)",
            )
            .unless("another-loop"),
        line(Target::HfTrainer, "eval_accumulation_steps=1").unless("another-loop").older(),
        line(Target::HfTrainer, "eval_accumulation_steps=1").when("another-loop"),
        line(Target::Pytorch, "group = dist.new_group(backend=\"gloo\")")
            .note("gather the results through it, from tensors on the CPU", "通过它从 CPU 张量汇集结果")
            .when("gathered"),
        line(Target::Pytorch, "predictions.append(output.cpu())")
            .note("instead of append(output)", "代替 append(output)")
            .when("collected"),
    ],
    fixtures: &["context/notebook"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let grows = case.confidence(CauseId::LeakGrowth) >= 0.2;
    let gathered = case.gathers_results();
    let collects = case.clue(Clue::Accumulates) || gathered;
    if !(collects && (case.evaluating() || !case.training()) || case.evaluating() && grows) {
        return Advice::Silent;
    }
    // What keeps activations of many passes alive is a graph, not predictions.
    if case.proof().and_then(|recording| recording.passes_kept()).is_some_and(|(_, passes)| passes >= 5)
        && !case.evaluating()
    {
        return Advice::Silent;
    }
    let sure = if collects { 1.3 } else { 0.7 };
    // A package around the Trainer may have a loop of its own, which does not call what reduces the logits.
    let another_loop = case.context.frames.iter().any(|frame| {
        let called = frame.function.rsplit('.').next().unwrap_or_default();
        called == "evaluation_loop" && !frame.path().contains("/transformers/")
    });
    Draft::new(case, &FIX)
        .when("another-loop", another_loop)
        .when("gathered", gathered)
        // fastai's own loop collects what get_preds() gives back.
        .when("collected", !gathered && case.trainer() != Some(Trainer::Fastai))
        .weight(sure)
        .frees_if(
            case.share_of_allocated(0.0, 0.8, text!(en: "collected outputs", zh: "累积的输出")),
            text!(
                en: "needs the number of evaluated samples times the size of one output",
                zh: "需要知道验证样本数乘以单个输出的大小"
            ),
        )
        .certainty(Certainty::Likely)
        .because(if gathered {
            text!(
                en: "each rank receives the results of all ranks in one buffer on its device",
                zh: "每个 rank 都在自己的设备上用缓冲接收所有 rank 的结果"
            )
        } else {
            text!(
                en: "outputs of all steps are kept on the GPU until the evaluation ends, so it grows with the data set",
                zh: "所有步骤的输出都留在显存直到验证结束，因此随数据集增长"
            )
        })
}
