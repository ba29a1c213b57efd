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
    fixtures: &[],
};

fn doc() -> Text {
    text!(en: "The same thing is held twice.", zh: "同样的内容存了两份。")
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

fn refute(_incident: &Incident) -> Text {
    text!(
        en: "Print `torch.cuda.memory_allocated()` before and after each load of a model or checkpoint: if it rises once only, there is one copy.",
        zh: "在每次加载模型或检查点前后打印 `torch.cuda.memory_allocated()`：若只上升一次，则只有一份。"
    )
}
