//! Ids beyond the table.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "check-ids",
    class: Class::Shapes,
    title: || text!(en: "Check ids against the embedding's size", zh: "检查 id 是否超出 embedding 大小"),
    doc: || {
        text!(
            en: "An index beyond an embedding or a class count trips an assertion on the device; the next library \
                 call then fails with \"allocation failed\" or a cuBLAS error. Run on the CPU for the true message.",
            zh: "超出 embedding 或类别数的索引会触发设备断言；随后的库调用以 \"allocation failed\" 或 cuBLAS 错误失\
                 败。在 CPU 上运行即可看到真实错误。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "model.resize_token_embeddings(len(tokenizer))"),
        line(
            Target::Pytorch,
            "assert input_ids.max() < model.get_input_embeddings().num_embeddings and labels.min() >= -100",
        )
        .when("pretrained"),
        line(Target::Pytorch, "assert labels.max() < classes")
            .note(
                "before the failing line; none below 0 but ignore_index; of an embedding, ids.max() < num_embeddings",
                "放在出错行之前；除 ignore_index 外不得小于 0；若有 embedding，则检查 ids.max() < num_embeddings",
            )
            .unless("pretrained"),
    ],
    fixtures: &["pytorch/cublas"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let echo = case.clue(Clue::DeviceAssert) || case.sign(Sign::Cublas);
    if !case.on_gpu() || !(echo || case.sign(Sign::OtherCudaError)) {
        return Advice::Silent;
    }
    Draft::new(case, &FIX)
        .when("pretrained", case.pretrained())
        .frees_unknown(text!(en: "frees nothing: memory may not be the matter", zh: "不释放显存：问题可能不在显存"))
        .certainty(Certainty::Likely)
        .because(text!(
            en: "an index out of range shows as a failed allocation or library error at the next call",
            zh: "索引越界会在下一次调用中表现为分配失败或库错误"
        ))
}
