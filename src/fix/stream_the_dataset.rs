//! A data set that goes to the card as a constant.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::{Number, Target};
use crate::text;

pub const FIX: Fix = Fix {
    id: "stream-the-data",
    class: Class::Loading,
    title: || text!(en: "Feed the data in batches, not as a constant", zh: "分批输入数据，不要整体作为常量"),
    doc: || {
        text!(
            en: "An array given to TensorFlow as a whole becomes a constant on the device, data set and all. A pipeline that reads from files or a generator keeps only a few batches there.",
            zh: "整个数组直接传给 TensorFlow 时，会作为常量整体放到设备上。从文件或生成器读取的数据管道只在设备上保留几个批次。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.incident.event.facts.numbers.contains_key(&Number::ConstantCopied) {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (CauseId::Capacity, 0.6),
            (CauseId::SingleHugeAllocation, 0.75),
            (CauseId::TransientPeak, 0.4),
            (CauseId::LeakGrowth, 0.5),
        ],
    )
    .frees_if(
        case.requested().map(|requested| (requested, text!(en: "the constant itself", zh: "该常量本身"))),
        text!(en: "all of the data set but a few batches", zh: "除几个批次外的整个数据集"),
    )
    .slows(0.0, 0.1)
    .certainty(Certainty::Likely)
    .knob(Target::TensorFlow, "with tf.device(\"CPU\"): ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).prefetch(2)")
    .because(text!(en: "it failed while copying an array to the device as a constant", zh: "失败发生在将数组作为常量拷贝到设备时"))
}
