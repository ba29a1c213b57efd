//! Batches of similar length, or packing.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "group-by-length",
    class: Class::Shapes,
    title: || text!(en: "Group or pack samples by length", zh: "按长度分组或打包样本"),
    doc: || {
        text!(
            en: "Grouping puts samples of similar length together, so that a batch is padded less; packing joins \
                 short ones. The longest batch stays as long as the longest sample: let it come first, so that a \
                 shortage shows at once.",
            zh: "分组让长度相近的样本同批，减少填充；打包把短样本拼接。最长的一批仍取决于最长样本：让它最先出现，显\
                 存不足立刻暴露。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training, Need::NoEngine, Need::Batch, Need::Pass],
    // A corpus for pre-training is cut into pieces of one length, as Megatron's data sets are.
    applies: |case| {
        case.training_step()
            && case.language_model()
            && !case.pretrains()
            && !matches!(case.trainer(), Some(Trainer::Megatron))
    },
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Benign },
    knobs: &[
        line(Target::Trl, "SFTConfig(packing=True)"),
        line(Target::HfTrainer, "group_by_length=True").note(
            "transformers 5: train_sampling_strategy=\"group_by_length\"",
            "transformers 5 为 train_sampling_strategy=\"group_by_length\"",
        ),
        line(Target::Pytorch, "batch_sampler=<sort by length within windows, then shuffle the batches>"),
    ],
    fixtures: &["context/hf-trainer"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let weight = if case.clue(Clue::VariableShapes) { 1.5 } else { 0.7 };
    Draft::new(case, &FIX)
        .weight(weight)
        .frees_unknown(text!(en: "needs the spread of the sample lengths", zh: "需要样本长度的分布"))
        .because(text!(
            en: "a batch is padded to its longest sample: similar lengths together waste less",
            zh: "一批会填充到最长样本：长度相近的放一起浪费更少"
        ))
}
