//! The same model or data is loaded twice.

use super::reading::{Kind, kind, on_gpu, place, request_share, size};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::{Clue, Phase};
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::DuplicateModel,
    title: || text!(en: "the model or data is loaded twice", zh: "模型或数据被加载了两份"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["cause/second-copy"],
};

fn doc() -> Text {
    Text::new(
        r#"The same model or data is held twice: a second load, a checkpoint that stays beside the model it was copied into, an EMA or reference copy on the same device.

**How it shows.** The request equals what is already allocated, to the digit; the log shows the same weights loaded twice; it fails only when resuming.

**Told from its neighbours.** A copy has the size of the original: a request that is merely large is *far too large* or *a peak*.

**Example.** `Tried to allocate 26.02 GiB … 26.02 GiB allocated`: `.to(device)` or a conversion makes a second whole copy before the first is dropped."#,
        r#"同一个模型或数据占了两份：第二次加载、检查点在拷入模型后仍未释放、EMA 或参考模型与之同在一个设备。

**表现。** 请求与已分配量在数字上完全相等；日志显示同一权重加载了两次；只有恢复训练时才失败。

**与相近原因的区别。** 拷贝与原件大小相等：仅仅是很大的请求属于*单次请求过大*或*峰值*。

**示例。** `Tried to allocate 26.02 GiB … 26.02 GiB allocated`：`.to(device)` 或类型转换在释放原件之前产生了完整的第二份。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    if on_gpu(incident) {
        Some(-3.5)
    } else if kind(incident) == Kind::Host {
        Some(-4.0)
    } else {
        None
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    if let (Some(requested), Some(allocated), Some(share)) =
        (ledger.requested, ledger.allocated, request_share(incident))
        && share >= 0.15
        && (requested.middle() - allocated.middle()).unsigned_abs() <= (allocated.middle().unsigned_abs() / 200).max(1)
    {
        let (want, held) = (size(requested), size(allocated));
        found.push(
            Evidence::new(6.5, text!(en: "the {want} asked for equal the {held} already held: a second whole copy", zh: "请求的 {want} 与已占用的 {held} 相等：这是完整的第二份拷贝"))
                .at(place(event, Fact::Requested))
                .at(place(event, Fact::Allocated)),
        );
    }
    if let Some(span) = context.clues.get(&Clue::LoadedTwice) {
        found.push(
            Evidence::new(2.5, text!(en: "the log shows it loaded more than once", zh: "日志显示被加载了不止一次"))
                .at(*span),
        );
    }
    if context.phase.value() == Some(Phase::Resume) {
        found.push(
            Evidence::new(1.2, text!(en: "a checkpoint was being restored: its tensors lie beside the model's until they are dropped", zh: "正在恢复检查点：在释放之前，检查点的张量与模型并存"))
                .seen(&context.phase),
        );
    }
    if event.has(Sign::MinimumSegment) && found.is_empty() {
        found.push(
            Evidence::new(
                -0.5,
                text!(en: "the last request was tiny, not a copy of a model", zh: "最后的请求很小，不是模型的拷贝"),
            )
            .at(place(event, Fact::Requested)),
        );
    }
    found
}

fn refute(incident: &Incident) -> Text {
    let now = incident.event.meter().now;
    text!(
        en: "Print `{now}` before and after each load of a model or checkpoint: if it rises once only, there is one copy.",
        zh: "在每次加载模型或检查点前后打印 `{now}`：若只上升一次，则只有一份。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, first, torch};
    use super::*;

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
        assert_eq!(first(&copying("26.02 GiB")), CauseId::DuplicateModel);
    }

    #[test]
    fn a_request_that_is_merely_large_is_not() {
        assert!(confidence(&copying("22.00 GiB"), CauseId::DuplicateModel) < 0.1);
        assert!(confidence(&torch(&FULL_CARD), CauseId::DuplicateModel) < 0.05);
    }
}
