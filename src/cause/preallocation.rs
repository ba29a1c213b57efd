//! A framework took (almost) the whole device up front.

use super::reading::{Kind, kind, on_gpu, place, ramp, request_share, short_of_desired, size};
use super::{Cause, CauseId, engine};
use crate::account::Holder;
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::domain::program::DeviceUse;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::{Clue, Trainer};
use crate::text;
use crate::text::Text;
use crate::units::{GIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::Preallocation,
    title: || text!(en: "a pool took the device up front", zh: "内存池预先占满了设备"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["vllm/startup-wrapped", "vllm/sampler", "sglang/graph"],
};

fn doc() -> Text {
    Text::new(
        r#"A framework or engine took (almost) the whole device at start: JAX and TensorFlow their pool, vLLM and SGLang their fraction, RMM its pool, a JVM its heap. The victim is a later, small request, or the pool itself.

**How it shows.** A request of 75 % or 90 % of the device at start; a failure in warm-up or graph capture with nearly no free memory and no slack in the cache; a library beside the framework that finds nothing left.

**Told from its neighbours.** From *capacity* by choice: the pool would be smaller if told so, and the program would still run. From *other processes*: there the pool belongs to another pid.

**Example.** `failed to allocate 11.83GiB` at start on a 16 GB card is JAX's 75 %; `XLA_PYTHON_CLIENT_MEM_FRACTION` sets it."#,
        r#"框架或引擎在启动时占走了（几乎）整个设备：JAX 和 TensorFlow 的内存池、vLLM 和 SGLang 的占比、RMM 内存池、JVM 堆。受害者是之后的小请求，或内存池自身。

**表现。** 启动时请求设备的 75 % 或 90 %；在预热或图捕获时失败，几乎没有空闲且缓存没有余量；框架之外的库分配不到显存。

**与相近原因的区别。** 与*容量不足*的区别在于可选：调小内存池程序仍可运行。与*其他进程*的区别：那时内存池属于另一个 pid。

**示例。** 16 GB 卡上启动时 `failed to allocate 11.83GiB` 正是 JAX 的 75 %；由 `XLA_PYTHON_CLIENT_MEM_FRACTION` 设置。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(-3.0),
        Kind::PooledTensor => Some(-1.3),
        Kind::Engine => Some(0.2),
        Kind::KvCache => Some(-2.0),
        Kind::Host => Some(-4.0),
        Kind::WeightBuffers => Some(-3.0),
        Kind::Shm | Kind::OnChip => None,
    }
}

/// The share of the device's memory that XLA and TensorFlow reserve at start: 0.75 of the total since jaxlib 0.4.1, 0.9 of
/// what is free before.
const POOL_SHARES: [f64; 2] = [0.75, 0.9];

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    let engine =
        kind(incident) == Kind::Engine || matches!(context.trainer.value(), Some(Trainer::Vllm | Trainer::Sglang));
    if engine && kind(incident) == Kind::Tensor {
        found.push(
            Evidence::new(1.8, text!(en: "an inference engine runs here, which takes a fixed share of the device for weights and cache", zh: "这里运行的是推理引擎，它按固定比例为权重和缓存占用设备"))
                .seen(&context.trainer),
        );
    }
    if let Some(at) = event.signs.get(&Sign::ForeignLibrary)
        && event.facts.sizes.is_empty()
    {
        // Such a library gets nothing from the framework's pool, however much of it lies idle: NCCL, a renderer or a
        // second framework is refused by the driver as soon as the first one's pool has taken the device.
        found.push(
            Evidence::new(1.6, text!(en: "a library that asks the driver itself was refused; it cannot use what the framework's pool holds, idle or not", zh: "被拒绝的是直接向驱动申请显存的库；框架内存池持有的显存即使空闲也不能给它用"))
                .at(*at),
        );
    }
    if event.has(Sign::EngineWarmup) {
        found.push(
            Evidence::new(1.5, text!(en: "the pools had been set up; what failed is the memory left beside them for warm-up and graphs", zh: "内存池已建好；失败的是池外留给预热和计算图的部分"))
                .at(event.at),
        );
    }
    if let (Some(short), Some(capacity), Some(desired)) =
        (short_of_desired(incident), ledger.capacity, event.facts.get(Fact::Desired))
        && short.middle() > 0
    {
        let share = short.middle() as f64 / capacity.middle().max(1) as f64;
        let (short, want) = (size(short), size(desired.interval()));
        // A few percent short is a fraction set a little too high; more is somebody's memory.
        let weight = ramp(share, &[(0.01, 2.2), (0.05, 0.0), (0.15, -1.5)]);
        found.push(
            Evidence::new(weight, text!(en: "the engine wants {want} at start; {short} were missing", zh: "引擎启动时要占 {want}，差 {short}"))
                .at(desired.at),
        );
    }
    if let Some(pools) = ledger.amount(Holder::PrivatePools)
        && let (Some(pools_share), Some(request)) = (ledger.share(Some(pools)), request_share(incident))
        && pools_share < 0.1
        && pools.middle() > 0
        && request < 0.02
        && ledger.share(ledger.reserved).is_some_and(|share| share >= 0.85)
        && ledger.share(ledger.cached).is_some_and(|share| share < 0.03)
    {
        let held = ledger.reserved.map_or_else(String::new, |reserved| size(reserved).to_string());
        found.push(
            Evidence::new(3.2, text!(en: "CUDA graphs and {held} reserved with hardly any slack: a server that sized its pools to the device, and a small request that comes after", zh: "存在 CUDA Graph，已保留 {held} 且几乎没有余量：服务程序按设备大小建池，之后的小请求无处可放"))
                .at(place(event, Fact::PrivatePools)),
        );
    }
    if on_gpu(incident)
        && kind(incident) == Kind::PooledTensor
        && let Some(share) = request_share(incident)
        && POOL_SHARES.iter().any(|pool| (share - pool).abs() < 0.01)
    {
        let part = percent(share);
        let want = ledger.requested.map_or_else(String::new, |requested| size(requested).to_string());
        found.push(
            Evidence::new(3.0, text!(en: "{want} is {part} of the device: the pool that is taken at start, not a tensor", zh: "{want} 恰为设备的 {part}：这是启动时预占的内存池，而不是张量"))
                .at(place(event, Fact::Requested)),
        );
    }
    if event.has(Sign::PoolGrowthRefused) {
        found.push(
            Evidence::new(1.8, text!(en: "it is the driver that refused the pool's own growth, not an operation that found the pool full", zh: "被驱动拒绝的是内存池自身的增长，而不是某个算子发现内存池已满"))
                .at(event.at),
        );
    }
    if event.has(Sign::PoolCreation) {
        found.push(
            Evidence::new(6.5, text!(en: "the pool itself was being made: its configured size is more than the device can give", zh: "失败发生在创建内存池时：配置的池大小超过设备所能提供"))
                .at(event.at),
        );
    } else if let Some((_, at)) = event.facts.numbers.get(&Number::PoolConfigured)
        && !event.has(Sign::RefusedByLimit)
    {
        found.push(
            Evidence::new(3.8, text!(en: "a memory pool is switched on and it was CUDA beneath it that refused: the pool holds the device, or grows in steps too large for it", zh: "已启用内存池，而拒绝请求的是其下层的 CUDA：设备已被内存池占住，或池的增长步长过大"))
                .at(*at),
        );
    }
    if event.has(Sign::ForeignLibrary) {
        found.push(
            Evidence::new(if kind(incident) == Kind::PooledTensor { 2.6 } else { 0.8 }, text!(en: "a library beside the framework found nothing left for itself: the framework's pool holds the device", zh: "框架之外的库分配不到显存：设备被框架的内存池占满"))
                .at(event.at),
        );
    }
    if event.has(Sign::HeapCommit)
        && let Some(requested) = event.facts.get(Fact::Requested).filter(|requested| requested.bytes >= GIB)
    {
        let want = size(requested.interval());
        found.push(
            Evidence::new(5.5, text!(en: "the virtual machine commits its heap of {want} at start, before the program needs it", zh: "虚拟机在启动时就提交 {want} 的堆，而程序此时并不需要"))
                .at(requested.at),
        );
    }
    if let Some(span) = context.clues.get(&Clue::SecondFramework) {
        found.push(
            Evidence::new(1.2, text!(en: "another framework in the same process may have taken its share first", zh: "同一进程中的另一个框架可能先占走了它的份额"))
                .at(*span),
        );
    }
    found.extend(engine::pool_took_it(incident));
    found
}

fn refute(incident: &Incident) -> Text {
    match incident.event.program.device_use() {
        DeviceUse::SizedPool { share } | DeviceUse::PoolOfFree { share } => text!(
            en: "Start once with `{share}` lowered by 0.05: if the same step fails with as little free as before, the pool is not what is in its way.",
            zh: "将 `{share}` 降低 0.05 启动一次：若同一步骤仍以同样少的空闲量失败，则与内存池无关。"
        ),
        DeviceUse::Preallocated { off: Some(setting) } => text!(
            en: "Run once with `{setting}`: if it fails all the same, the pool was not in the way.",
            zh: "设置 `{setting}` 运行一次：若照样失败，则与预占内存池无关。"
        ),
        _ => text!(
            en: "Lower the pool or memory fraction of whatever starts first by a tenth and run again: if the same request fails with as little free as before, no pool is in its way.",
            zh: "把最先启动的程序的内存池或显存占比降低一成再运行：若同一请求仍以同样少的空闲量失败，则与内存池无关。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::{Known, Span};

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
