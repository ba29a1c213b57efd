//! A framework took (almost) the whole device up front.

use super::nature::warms_up_before_its_pool;
use super::reading::pool_off;
use super::{Cause, CauseId};
use crate::dialect::Sign;
use crate::domain::program::DeviceUse;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::Preallocation,
    title: || text!(en: "a pool took the memory up front", zh: "内存池预先占满了内存"),
    doc,
    refute,
    fixtures: &["vllm/startup-wrapped", "vllm/sampler", "sglang/graph"],
};

fn doc() -> Text {
    Text::new(
        "A framework or engine took (almost) the whole device at start: JAX and TensorFlow their pool, vLLM and SGLang \
         their fraction, RMM its pool, a JVM its heap. The victim is a later, small request, or the pool itself.\n\n\
         **How it shows.** A request of 75 % or 90 % of the device at start; a failure in warm-up or graph capture \
         with nearly no free memory and no slack in the cache; a library beside the framework that finds nothing left.\
         \n\n\
         **Told from its neighbours.** From *capacity* by choice: the pool would be smaller if told so, and the \
         program would still run. From *other processes*: there the pool belongs to another pid.\n\n\
         **Example.** `failed to allocate 11.83GiB` at start on a 16 GB card is JAX's 75 %; \
         `XLA_PYTHON_CLIENT_MEM_FRACTION` sets it.",
        "框架或引擎在启动时占走了（几乎）整个设备：JAX 和 TensorFlow 的内存池、vLLM 和 SGLang 的占比、RMM 内存池、JVM \
         堆。受害者是之后的小请求，或内存池自身。\n\n\
         **表现。** 启动时请求设备的 75 % 或 90 %；在预热或图捕获时失败，几乎没有空闲且缓存没有余量；框架之外的库分配不\
         到显存。\n\n\
         **与相近原因的区别。** 与*容量不足*的区别在于可选：调小内存池程序仍可运行。与*其他进程*的区别：那时内存池属于\
         另一个 pid。\n\n\
         **示例。** 16 GB 卡上启动时 `failed to allocate 11.83GiB` 正是 JAX 的 75 %；由 \
         `XLA_PYTHON_CLIENT_MEM_FRACTION` 设置。",
    )
}

fn refute(incident: &Incident) -> Text {
    if let Some(setting) = pool_off(incident) {
        return text!(
            en: "Run once with `{setting}`: if it fails all the same, the pool was not in the way.",
            zh: "设置 `{setting}` 运行一次：若照样失败，则与预占内存池无关。"
        );
    }
    // Before the pool is sized a smaller share leaves the warm-up no more.
    if incident.event.has(Sign::EngineWarmup) && warms_up_before_its_pool(incident) {
        return text!(
            en: "Start once with half of the largest batch that the settings allow: if it fails with the same figures, \
                 the warm-up is not what filled the device.",
            zh: "把设置允许的最大批次减半启动一次：若以同样的数字失败，则占满设备的不是预热。"
        );
    }
    match incident.event.program.device_use() {
        DeviceUse::SizedPool { share } | DeviceUse::PoolOfFree { share } => text!(
            en: "Start once with `{share}` lowered by 0.05: if the same step fails with as little free as before, the \
                 pool is not what is in its way.",
            zh: "将 `{share}` 降低 0.05 启动一次：若同一步骤仍以同样少的空闲量失败，则与内存池无关。"
        ),
        _ => text!(
            en: "Lower the pool or memory fraction by a tenth and run again: if the same request fails with as little \
                 free as before, no pool is in its way.",
            zh: "把内存池或显存占比降低一成再运行：若同一请求仍以同样少的空闲量失败，则与内存池无关。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::{Known, Span};
    use crate::incident::context::Trainer;

    #[test]
    fn an_engine_that_fails_in_warm_up_took_too_much() {
        let mut event = event(Program::Vllm, Resource::Gpu, &[(Fact::Requested, "1.10 GiB")]);
        event.sign(Sign::EngineWarmup);
        assert_eq!(first(&settled(event)), CauseId::Preallocation);
    }

    #[test]
    fn three_quarters_of_the_device_at_start_are_a_pool() {
        let share = |requested| {
            let figures = [(Fact::Requested, requested), (Fact::Capacity, "16.00 GiB")];
            confidence(&settled(event(Program::Jax, Resource::Gpu, &figures)), CauseId::Preallocation)
        };
        assert!(share("12.00 GiB") > 5.0 * share("9.00 GiB"));
        assert!(share("16.00 GiB") > 5.0 * share("9.00 GiB"), "all of the device is no tensor");
    }

    #[test]
    fn a_training_job_that_fills_its_card_is_no_pool() {
        let plain = confidence(&torch(&FULL_CARD), CauseId::Preallocation);
        assert!(plain < 0.05);
        let mut engine = torch(&FULL_CARD);
        engine.context.trainer = Known::Seen(Trainer::Vllm, Span::line(1));
        assert!(confidence(&engine, CauseId::Preallocation) > plain);
    }

    /// An engine that wants 90 % of a 40 GiB device at start, of which some is free.
    fn starting(free: &'static str) -> Incident {
        let figures = [(Fact::Capacity, "40.00 GiB"), (Fact::Free, free), (Fact::Desired, "36.00 GiB")];
        let mut event = event(Program::Vllm, Resource::Gpu, &figures);
        event.sign(Sign::EngineStartup);
        settled(event)
    }

    #[test]
    fn a_fraction_a_little_above_what_is_free_is_set_too_high() {
        assert_eq!(first(&starting("35.80 GiB")), CauseId::Preallocation);
    }

    #[test]
    fn a_device_half_full_at_start_is_somebody_elses() {
        assert_eq!(first(&starting("18.00 GiB")), CauseId::OtherProcess);
    }

    #[test]
    fn a_pool_that_cannot_be_made_is_too_large() {
        let mut refused = event(Program::Rapids, Resource::Gpu, &[]);
        refused.sign(Sign::RefusedByLimit);
        assert_eq!(first(&settled(refused.clone())), CauseId::FrameworkLimit);
        refused.sign(Sign::PoolCreation);
        assert_eq!(first(&settled(refused)), CauseId::Preallocation);
    }
}
