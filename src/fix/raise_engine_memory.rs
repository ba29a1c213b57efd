//! More of the device for the KV cache.

use super::prelude::*;
use crate::estimate::serving::{Budget, Fraction, HIGHEST_SHARE, StartCheck, static_fraction_needed};
use crate::units::percent;

pub const FIX: Fix = Fix {
    id: "raise-engine-memory",
    class: Class::Inference,
    title: || text!(en: "Give the engine a larger share of the GPU", zh: "提高推理引擎的显存比例"),
    doc: || {
        text!(
            en: "Weights, activations and the cache must fit into the share that the engine may take. A larger \
                 share leaves more for the cache and less for graphs, other processes and spikes. The engine's own \
                 message advises it in every case; it helps only where the rest of the device is free and the \
                 weights fit.",
            zh: "权重、激活和 KV 缓存都要放进引擎可用的份额里。份额越大，缓存越多，但留给 CUDA graph、其他进程和峰值\
                 的余量越少。引擎的报错总是这样建议；但只有在设备其余部分空闲且权重放得下时才有用。"
        )
    },
    helps: &[Work::Serving],
    needs: &[Need::Device, Need::Short],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "--gpu-memory-utilization {tried}"),
        line(Target::Tgi, "--cuda-memory-fraction {tried}"),
        line(Target::Lmdeploy, "--cache-max-entry-count 0.9"),
        line(Target::Sglang, "--mem-fraction-static {static_share}"),
    ],
    fixtures: &["engines/lmdeploy", "sglang/fraction"],
    advise,
};

/// What a share is raised to where its figures do not tell how much is missing.
const USUAL_HIGH: f64 = 0.95;

/// The share of the device that MLC LLM takes unless it is set (`python/mlc_llm/serve/config.py`, March 2024 on).
const OF_MLC: f64 = 0.85;

/// MLC LLM compares weights and temporary buffers with its share at the start: the share that holds them follows.
fn share_of_mlc(case: &Case) -> Advice {
    let Some(StartCheck { limit, weights, buffers }) = StartCheck::of(&case.incident.event.facts) else {
        return Advice::Silent;
    };
    let set = case.own_option(Quantity::Share).map(|share| share.value() as f64 / 1000.0);
    let now = set.filter(|share| (0.05..1.0).contains(share)).unwrap_or(OF_MLC);
    // A hundredth more than the sum, as the share is rounded.
    let wanted = ((now * (weights + buffers) / limit) * 100.0).ceil() / 100.0 + 0.01;
    let needed = show((weights + buffers) as i128);
    if wanted > HIGHEST_SHARE {
        let most = percent(HIGHEST_SHARE);
        return Advice::WontHelp(text!(
            en: "weights and buffers come to {needed}, more than {most} of the device",
            zh: "权重与缓冲区共需 {needed}，超过设备的 {most}"
        ));
    }
    Draft::new(case, &FIX)
        .when("exact", true)
        .frees_unknown(text!(en: "5 % of the device for each 0.05", zh: "每提高 0.05 即设备的 5 %"))
        .certainty(Certainty::Arithmetic)
        .fill("tried", format!("{wanted:.2}"))
        .because(text!(
            en: "weights and buffers come to {needed}, which a share of {wanted:.2} holds",
            zh: "权重与缓冲区共需 {needed}，份额 {wanted:.2} 即可容纳"
        ))
}

fn advise(case: &Case) -> Advice {
    let Some(engine) = case.engine() else { return Advice::Silent };
    if engine == Program::MlcLlm {
        return share_of_mlc(case);
    }
    if !case.on_device() || !engine.sizes_pool_by_device() {
        return Advice::Silent;
    }
    let budget = Budget::of(&case.incident.event.facts);
    if case.resource() == Resource::Gpu {
        if case.sign(Sign::EngineStartup) && budget.free.is_some() && budget.share.is_some() {
            return Advice::WontHelp(text!(
                en: "a larger share asks for even more than is free on the device",
                zh: "更高的份额要求的显存比当前空闲的更多"
            ));
        }
        if case.sign(Sign::EngineWarmup) && engine.warms_up_before_its_pool() {
            return Advice::Withheld(text!(
                en: "its share is the whole device unless it is set lower",
                zh: "除非另行设低，它的份额就是整个设备"
            ));
        }
        if case.sign(Sign::EngineWarmup) {
            return Advice::WontHelp(text!(
                en: "what failed lives outside of the share: a larger one leaves it less",
                zh: "失败的部分在份额之外：份额越大，留给它的越少"
            ));
        }
        return Advice::Silent;
    }
    let static_fraction = static_fraction_needed(&case.incident.event);
    if static_fraction == Some(Fraction::Impossible) {
        return Advice::WontHelp(text!(
            en: "the weights leave too little of the device for any fraction to hold a cache beside them, whatever \
                 the message advises",
            zh: "权重之后剩余太少：无论报错怎样建议，任何占比都放不下缓存"
        ));
    }
    let wanted = budget.share_for_cache();
    if let Some(wanted) = wanted.filter(|wanted| *wanted > HIGHEST_SHARE) {
        let (wanted, most) = (percent(wanted), percent(HIGHEST_SHARE));
        return Advice::WontHelp(text!(
            en: "it would take {wanted} of the device, and {most} is the most that can work",
            zh: "需要把份额提高到设备的 {wanted}，而最多只能用到 {most}"
        ));
    }
    if budget.weights_exceed()
        && budget.share.is_none_or(|share| share >= 0.85)
        && let (Some(weights), Some(room)) = (budget.weights, budget.room)
    {
        let (weights, room) = (show(weights as i128), show(room as i128));
        return Advice::WontHelp(text!(
            en: "the weights take {weights} and leave {room} for the cache: what is missing is more than a larger \
                 share can add",
            zh: "权重占 {weights}，留给缓存的是 {room}：缺口超过提高份额所能增加的量"
        ));
    }
    if let Some(share) = budget.share.filter(|share| *share >= USUAL_HIGH && wanted.is_none()) {
        return Advice::Withheld(
            text!(en: "the share is {share} already, near its useful maximum", zh: "份额已是 {share}，接近可用上限"),
        );
    }
    let computed = match static_fraction {
        Some(Fraction::Possible(fraction)) => Some(fraction),
        _ => wanted,
    };
    let tried = computed.unwrap_or(USUAL_HIGH);
    let more = budget.share.zip(budget.least_total()).map(|(share, total)| {
        let gain = (tried - share).max(0.0) * total;
        (Interval::exactly(gain as u64), (share, total))
    });
    // Beside a trainer on the same device a share is low by intent: a step up leaves the rest to it.
    let beside = case.own_option(Quantity::Share).filter(|share| share.name().contains('.'));
    let tried = match beside {
        Some(share) if computed.is_none() => tried.min(share.value() as f64 * 1.5 / 1000.0),
        _ => tried,
    };
    let own = case.own_option(Quantity::Share).filter(|share| tried * 1000.0 > share.value() as f64);
    Draft::new(case, &FIX)
        .own(own.map(|share| share.with(format!("{tried:.2}"))))
        .when("computed", computed.is_some())
        .frees_if(
            more.map(|(gain, (share, total))| {
                let total = show(total as i128);
                (gain, text!(en: "({tried:.2} − {share:.2}) × {total}", zh: "({tried:.2} − {share:.2}) × {total}"))
            }),
            text!(en: "5 % of the device for each 0.05", zh: "每提高 0.05 即设备的 5 %"),
        )
        .certainty(if computed.is_some() { Certainty::Arithmetic } else { Certainty::RuleOfThumb })
        .fill("static_share", format!("{:.2}", computed.unwrap_or(0.9)))
        .fill("tried", format!("{tried:.2}"))
        .because(match computed {
            Some(_) => text!(
                en: "by the printed figures a share of {tried:.2} holds weights, peak and cache, if nobody else \
                     needs the rest of the device",
                zh: "按打印的数字计算，份额 {tried:.2} 即可容纳权重、峰值和缓存，前提是设备其余部分没有别的程序占用"
            ),
            None => text!(
                en: "{engine} sizes its cache from the share it may take",
                zh: "{engine} 按可用份额决定缓存大小"
            ),
        })
}
