//! Cap the length.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix, Numerics};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "shorter-sequences",
    class: Class::Shapes,
    title: || text!(en: "Cap the sequence length", zh: "限制序列长度"),
    doc: || {
        text!(
            en: "Activations grow with the length, with its square under eager attention, and logits take length × vocabulary × 12 bytes. One long sample in a padded batch makes all as long.",
            zh: "激活随长度增长，eager 注意力下随长度平方增长；logits 需要 长度 × 词表 × 12 字节。填充批中一条长样本会让所有样本一样长。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || case.engine().is_some() || case.loading() || !case.language_model() {
        return Advice::Silent;
    }
    let length = case.context.sequence_length.value();
    let tried = length.map_or("<shorter>".to_string(), |length| (length / 2).max(1).to_string());
    let from = length.map_or(String::new(), |length| format!("   # was {length}"));
    Draft::new(
        case,
        &[
            (CauseId::Capacity, 0.5),
            (CauseId::TransientPeak, 0.5),
            (CauseId::SingleHugeAllocation, 0.45),
            (CauseId::Fragmentation, 0.1),
        ],
    )
    .frees_if(case.share_of_allocated(0.05, 0.5, text!(en: "half the length", zh: "长度减半")), case.ask_for_peak())
    .slows(-0.3, 0.0)
    .numerics(Numerics::Optimisation)
    .knob(Target::Program, format!("sequence length {tried}{from}"))
    .knob(Target::Trl, format!("SFTConfig(max_length={tried}){from}"))
    .knob(Target::LlamaFactory, format!("cutoff_len: {tried}{from}"))
    .knob(Target::Swift, format!("--max_length {tried}{from}"))
    .knob(Target::Megatron, format!("--seq-length {tried}{from}"))
    .knob(Target::HfTrainer, format!("tokenizer(..., truncation=True, max_length={tried}){from}"))
    .knob(Target::Pytorch, format!("tokenizer(..., truncation=True, max_length={tried}){from}"))
    .because(text!(
        en: "activations and logits grow with the length of the longest sample",
        zh: "激活和 logits 随最长样本的长度增长"
    ))
}
