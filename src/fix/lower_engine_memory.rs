//! Less for the pool, more for what comes on top.

use super::prelude::*;
use crate::cause::nature::{Asker, asker};
use crate::estimate::serving::Budget;

pub const FIX: Fix = Fix {
    id: "lower-engine-memory",
    class: Class::Inference,
    title: || text!(en: "Give the engine a smaller share of the GPU", zh: "降低推理引擎的显存比例"),
    doc: || {
        text!(
            en: "Activations of long prompts, graphs, sampling over the vocabulary and other processes live outside \
                 the pool that the engine reserves. When the failure is there, or when the start-up check finds \
                 less free than asked, lower the share.",
            zh: "长提示的激活、CUDA graph、词表采样以及其他进程都在引擎预留的池之外。如果失败发生在这里，或启动检查\
                 发现空闲少于要求，就降低份额。"
        )
    },
    helps: &[Work::Serving],
    needs: &[Need::Short],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.15), numerics: Numerics::Same },
    knobs: &[
        line(Target::Trl, "GRPOConfig(vllm_gpu_memory_utilization={tried})")
            .note("of the engine that the trainer keeps", "训练器内部的推理引擎"),
        line(Target::Vllm, "--gpu-memory-utilization {tried}"),
        line(Target::Sglang, "--mem-fraction-static {tried}"),
        line(Target::Tgi, "--cuda-memory-fraction {tried}"),
        line(Target::Lmdeploy, "--cache-max-entry-count {tried}").unless("counted"),
        said(
            Target::Lmdeploy,
            "half of cache_max_entry_count, in the config.ini of the model's workspace",
            "把模型 workspace 中 config.ini 的 cache_max_entry_count 减半",
        )
        .when("counted"),
        line(Target::TensorRtLlm, "kv_cache_config: {free_gpu_memory_fraction: {tried}}").unless("in-pbtxt"),
        said(
            Target::TensorRtLlm,
            "kv_cache_free_gpu_mem_fraction: {tried}, a parameter in config.pbtxt of the model tensorrt_llm",
            "在模型 tensorrt_llm 的 config.pbtxt 中设参数 kv_cache_free_gpu_mem_fraction 为 {tried}",
        )
        .when("in-pbtxt"),
    ],
    fixtures: &["engines/turbomind", "sglang/serving"],
    advise,
};

/// vLLM's share unless set: what is computed above it from what is held is none below the share in force.
const USUAL: f64 = 0.9;
/// A first try where the figures do not tell.
const USUAL_LOW: f64 = 0.85;
/// The same of an engine that a trainer keeps beside its own model: TRL's own default.
const BESIDE_A_TRAINER: f64 = 0.3;
/// A share below this is no plan for serving a model.
const LOWEST: f64 = 0.1;

fn advise(case: &Case) -> Advice {
    let Some(engine) = case.engine() else { return Advice::Silent };
    let pools = engine.sizes_pool_by_device();
    let of_free = matches!(engine.device_use(), DeviceUse::PoolOfFree { .. });
    let cache_of_free = of_free && case.resource() == Resource::KvCache;
    // Devices that are held against each other have as much free under any share.
    if !(case.on_gpu() && (pools || of_free) || cache_of_free) || case.sign(Sign::UnevenDevices) {
        return Advice::Silent;
    }
    if engine.warms_up_before_its_pool() && !case.sign(Sign::EngineStartup) {
        return Advice::WontHelp(text!(
            en: "its share bounds the whole process, warm-up included: a smaller one leaves less for what failed",
            zh: "它的份额限制整个进程（包括预热）：份额越小，失败的部分可用的越少"
        ));
    }
    if case.loading() && (of_free || engine == Program::Lmdeploy) && !case.sign(Sign::EngineStartup) {
        return Advice::WontHelp(text!(
            en: "the pool is made of what the weights leave: no share of it makes room for them",
            zh: "池用的是权重加载后剩余的显存：改变它的份额不能为权重腾出空间"
        ));
    }
    let budget = Budget::of(&case.incident.event.facts);
    let at_start = case.sign(Sign::EngineStartup) && budget.share.is_some();
    let computed = if at_start { budget.share_of_free() } else { share_beside(case, &budget) };
    let computed = computed.filter(|share| (LOWEST..0.99).contains(share));
    if let (true, Some(share), Some(total), Some(weights)) = (at_start, computed, budget.total, budget.weights)
        && weights > share * total
    {
        let (weights, free) = (show(weights as i128), show((share * total) as i128));
        return Advice::WontHelp(text!(
            en: "the weights take {weights}; a share that fits what is free holds {free}",
            zh: "权重占 {weights}，而按空闲量设置的份额只有 {free}"
        ));
    }
    if at_start && computed.is_none() && budget.free.is_some() {
        return Advice::WontHelp(text!(
            en: "too little is free for any share to hold a model",
            zh: "空闲过少：任何份额都放不下模型"
        ));
    }
    let within = case.engine_around().is_none();
    let tried = computed.unwrap_or(if within {
        BESIDE_A_TRAINER
    } else if cache_of_free {
        0.7
    } else if engine == Program::Lmdeploy {
        0.5
    } else {
        USUAL_LOW
    });
    let facts = &case.incident.event.facts;
    let of_device = budget.share.or(facts.number(Number::MemFractionStatic));
    let of_what_is_free = [Number::CacheMaxEntryCount, Number::FreeGpuMemoryFraction];
    let before = of_device.or_else(|| of_what_is_free.iter().find_map(|number| facts.number(*number)));
    // SGLang chooses its share by the card: a first try might be a larger one. How far to go down is what is known.
    let above_usual = engine == Program::Vllm && tried >= USUAL;
    let by_card = computed.is_none() && engine == Program::Sglang && !within;
    let untold = before.is_none() && (by_card || above_usual);
    // A first try lies below what is set.
    let tried = match before {
        Some(before) if computed.is_none() && before > 0.0 && before <= tried => (before * 80.0).floor() / 100.0,
        _ => tried,
    };
    let gain = of_device.zip(budget.total).filter(|(before, _)| *before > tried).map(|(before, total)| {
        let shown = show(total as i128);
        (
            Interval::exactly(((before - tried) * total) as u64),
            text!(en: "({before:.2} − {tried:.2}) × {shown}", zh: "({before:.2} − {tried:.2}) × {shown}"),
        )
    });
    let own = case.own_option(Quantity::Share).filter(|share| tried * 1000.0 < share.value() as f64);
    Draft::new(case, &FIX)
        .when("in-pbtxt", case.context.origin.triton_backend)
        .when("counted", case.context.origin.counts_cache_entries)
        .own(own.map(|share| share.with(format!("{tried:.2}"))))
        .when("at-start", at_start)
        .when("computed", computed.is_some())
        .when("cache", cache_of_free)
        .when("within", within)
        .when("beside", beside_its_pool(case))
        .frees_if(gain, text!(en: "5 % of the device for each 0.05", zh: "每降低 0.05 即设备的 5 %"))
        .certainty(match (computed, at_start) {
            (Some(_), true) => Certainty::Arithmetic,
            (Some(_), false) => Certainty::Likely,
            _ => Certainty::RuleOfThumb,
        })
        .fill_text(
            "tried",
            if untold {
                text!(en: "<the share now − 0.05>", zh: "<现在的份额 − 0.05>")
            } else {
                Text::same(format!("{tried:.2}"))
            },
        )
        .because(match (computed, at_start, budget.free, budget.total) {
            _ if untold => text!(
                en: "{engine} reserves its pool first; what failed needs room beside it",
                zh: "{engine} 先预留缓存池；失败的部分需要池外空间"
            ),
            (Some(_), true, Some(free), Some(total)) => {
                let (free, total) = (show(free as i128), show(total as i128));
                text!(
                    en: "{free} of {total} were free at start: a share of {tried:.2} asks for no more than that",
                    zh: "启动时 {total} 中空闲 {free}：份额 {tried:.2} 不会超过它"
                )
            }
            (Some(_), ..) => text!(
                en: "{engine} reserves its pool first; a share of {tried:.2} leaves what was missing beside it, with 1 \
                     % of the device as margin",
                zh: "{engine} 先预留缓存池；份额 {tried:.2} 可在池外留出缺少的部分，并留 1 % 余量"
            ),
            _ => text!(
                en: "{engine} reserves its pool first; what failed needs room beside it: try {tried:.2}",
                zh: "{engine} 先预留缓存池；失败的部分需要池外空间：先试 {tried:.2}"
            ),
        })
}

/// True where an engine asked for a tensor beside the pool that it had made.
pub(super) fn beside_its_pool(case: &Case) -> bool {
    case.on_gpu() && asker(case.incident) == Asker::Engine
}

/// The share that leaves the failed request its room beside the pool, with a hundredth of the device as margin. The
/// share set is the one printed; where none is, what the framework holds is about the share.
fn share_beside(case: &Case, budget: &Budget) -> Option<f64> {
    let total = budget.total?;
    let short = (case.requested()?.high - case.free()?.low).max(0) as f64;
    let set = budget.share.or(case.incident.event.facts.number(Number::MemFractionStatic));
    let set = set.or_else(|| Some(case.allocated()?.middle() as f64 / total))?;
    let share = set - short / total - 0.01;
    Some((share * 100.0 + 1e-9).floor() / 100.0)
}
