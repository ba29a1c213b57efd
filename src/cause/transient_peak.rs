//! One phase needs far more than the steady state.

use super::{Cause, CauseId};
use crate::domain::System;
use crate::incident::{Incident, release};
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::TransientPeak,
    title: || text!(en: "one phase needs far more than the rest", zh: "某个阶段的需求远高于其他阶段"),
    doc,
    refute,
    fixtures: &["context/hf-trainer", "context/ultralytics", "sglang/serving", "cause/save-in-a-box"],
};

fn doc() -> Text {
    Text::new(
        "One phase needs far more than the steady state: validation, the loss over a large vocabulary, the first \
         optimizer step, saving a checkpoint, an engine's warm-up.\n\n\
         **How it shows.** A request of a tenth to a half of the device on top of a job that is already in place; a \
         traceback in one of those phases; a failure at the first validation or the first checkpoint.\n\n\
         **Told from its neighbours.** From *one request far too large* by proportion: a peak is large but could fit \
         if the rest were smaller. From *growth* by the first occurrence of the phase. From *capacity* by what the \
         other phases need.\n\n\
         **Example.** `Tried to allocate 5.86 GiB … 31.74 GiB total … 24.10 GiB allocated, 4.90 GiB free` in a decoder \
         that makes all logits at once.",
        "某个阶段所需远超稳态：验证、大词表上的损失、第一次优化器更新、保存检查点、引擎预热。\n\n\
         **表现。** 任务已就位的情况下，又请求设备的十分之一到一半；回溯指向上述某个阶段；在第一次验证或第一次保存时失\
         败。\n\n\
         **与相近原因的区别。** 与*单次请求过大*看比例：峰值虽大，但其余部分小一些就能放下。与*增长*看该阶段是否首次出\
         现。与*容量不足*看其他阶段需要多少。\n\n\
         **示例。** `Tried to allocate 5.86 GiB … 31.74 GiB total … 24.10 GiB allocated, 4.90 GiB free`：解码器一次产生\
         全部 logits。",
    )
}

fn refute(incident: &Incident) -> Text {
    if incident.event.resource.on_host() {
        let now = match incident.system() {
            System::Linux => "while sleep 1; do grep VmRSS /proc/PID/status; done",
            other => other.process().now,
        };
        return text!(
            en: "Sample the resident memory once a second (`{now}`): if it climbs evenly instead of jumping before the \
                 end, it is no peak.",
            zh: "每秒采样一次常驻内存（`{now}`）：若是平缓上升而不是结尾突增，则不是瞬时峰值。"
        );
    }
    let accelerator = incident.event.accelerator();
    let meter = incident.meter();
    if !incident.event.program.reads_pytorch() || !accelerator.torch_keeps_a_peak() {
        let now = meter.now;
        return text!(
            en: "Sample `{now}` before and after each phase, and once a second within the failing one: if it climbs \
                 evenly instead of jumping, it is the steady state that does not fit.",
            zh: "在每个阶段前后以及失败阶段内每秒采样一次 `{now}`：若是平缓上升而不是突增，则是稳态放不下。"
        );
    }
    let (peak, module) = (meter.peak, accelerator.torch_module());
    // The name until 1.3.
    let renamed = release::knows(incident, "reset_peak_memory_stats");
    let reset = if renamed { "reset_peak_memory_stats" } else { "reset_max_memory_allocated" };
    text!(
        en: "Print `{peak}` after each phase, with `{module}.{reset}()` in front of it: if the failing \
             phase's peak is within 10 % of the others, it is the steady state that does not fit.",
        zh: "在每个阶段前调用 `{module}.{reset}()`，阶段后打印 `{peak}`：若失败阶段的峰值与其他阶段相差\
             不到 10 %，则是稳态放不下。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::rank;
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::dialect::Resource;
    use crate::domain::{Number, Program};
    use crate::evidence::{Known, Span};
    use crate::incident::context::Phase;

    #[test]
    fn a_big_step_on_top_of_a_big_job_is_a_peak() {
        let incident = torch(&[
            (Fact::Requested, "8.10 GiB"),
            (Fact::Capacity, "31.74 GiB"),
            (Fact::Allocated, "24.10 GiB"),
            (Fact::Free, "6.40 GiB"),
            (Fact::Reserved, "24.60 GiB"),
        ]);
        assert!(rank(&incident)[..2].iter().any(|finding| finding.cause.id == CauseId::TransientPeak));
    }

    #[test]
    fn the_phase_counts() {
        let plain = torch(&[]);
        let mut validation = torch(&[]);
        validation.context.phase = Known::Seen(Phase::Validation, Span::line(4));
        assert!(confidence(&validation, CauseId::TransientPeak) > 2.0 * confidence(&plain, CauseId::TransientPeak));
    }

    #[test]
    fn a_small_request_shows_no_peak() {
        assert!(confidence(&torch(&FULL_CARD), CauseId::TransientPeak) < 0.1);
    }

    #[test]
    fn what_a_compiled_program_asks_for_at_once_is_temporary() {
        let mut event = event(Program::Jax, Resource::Gpu, &[(Fact::Requested, "9.00 GiB")]);
        event.facts.numbers.insert(Number::WholeProgram, (1.0, Span::line(1)));
        assert_eq!(first(&settled(event)), CauseId::TransientPeak);
    }
}
