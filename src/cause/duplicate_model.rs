//! The same model or data is loaded twice.

use super::{Cause, CauseId};
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::DuplicateModel,
    title: || text!(en: "the model or data is loaded twice", zh: "模型或数据被加载了两份"),
    doc,
    refute,
    fixtures: &["cause/second-copy"],
};

fn doc() -> Text {
    Text::new(
        "The same model or data is held twice: a second load, a checkpoint that stays beside the model it was copied \
         into, an EMA or reference copy on the same device.\n\n\
         **How it shows.** The request equals what is already allocated, to the digit; the log shows the same weights \
         loaded twice; it fails only when resuming.\n\n\
         **Told from its neighbours.** A copy has the size of the original: a request that is merely large is *far too \
         large* or *a peak*.\n\n\
         **Example.** `Tried to allocate 26.02 GiB … 26.02 GiB allocated`: `.to(device)` or a conversion makes a \
         second whole copy before the first is dropped.",
        "同一个模型或数据占了两份：第二次加载、检查点在拷入模型后仍未释放、EMA 或参考模型与之同在一个设备。\n\n\
         **表现。** 请求与已分配量在数字上完全相等；日志显示同一权重加载了两次；只有恢复训练时才失败。\n\n\
         **与相近原因的区别。** 拷贝与原件大小相等：仅仅是很大的请求属于*单次请求过大*或*峰值*。\n\n\
         **示例。** `Tried to allocate 26.02 GiB … 26.02 GiB allocated`：`.to(device)` 或类型转换在释放原件之前产生了完\
         整的第二份。",
    )
}

fn refute(incident: &Incident) -> Text {
    let now = incident.meter().now;
    text!(
        en: "Print `{now}` before and after each load of a model or checkpoint: if it rises once only, there is one \
             copy.",
        zh: "在每次加载模型或检查点前后打印 `{now}`：若只上升一次，则只有一份。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, finding, torch};
    use super::*;
    use crate::dialect::Fact;

    fn copying(requested: &'static str) -> Incident {
        torch(&[
            (Fact::Requested, requested),
            (Fact::Capacity, "47.40 GiB"),
            (Fact::Free, "20.60 GiB"),
            (Fact::Allocated, "26.02 GiB"),
            (Fact::ReservedUnallocated, "18.00 MiB"),
        ])
    }

    #[test]
    fn a_request_equal_to_what_is_held_is_a_second_copy() {
        // Or a buffer that doubles: the log leaves it open, so it is named and not more.
        let shown = finding(&copying("26.02 GiB"), CauseId::DuplicateModel);
        assert!(shown.confidence > 0.1 && shown.evidence[0].id == "request-against-held", "{}", shown.confidence);
    }

    #[test]
    fn a_request_that_is_merely_large_is_not() {
        assert!(confidence(&copying("22.00 GiB"), CauseId::DuplicateModel) < 0.1);
        assert!(confidence(&torch(&FULL_CARD), CauseId::DuplicateModel) < 0.05);
    }
}
