//! Split weights over devices.

use super::prelude::*;
use crate::cause::nature::one_piece;
use crate::domain::trainer::Purpose;
use crate::domain::{Accelerator, Library};
use crate::estimate::serving::Budget;

pub const FIX: Fix = Fix {
    id: "more-devices",
    class: Class::Sharding,
    title: || text!(en: "Split the model over more devices, or a larger one", zh: "把模型拆到更多设备，或换更大的设备"),
    doc: || {
        text!(
            en: "Tensor parallelism divides weights and cache by the number of GPUs. It needs fast links and a \
                 number that divides the heads.",
            zh: "张量并行把权重和缓存按 GPU 数平分。需要高速互联，且 GPU 数要能整除注意力头数。"
        )
    },
    helps: &[Work::Serving, Work::Inference, Work::Build],
    needs: &[Need::Device, Need::Short, Need::Tensor, Need::Discrete],
    // What is compared at start is each device's free memory, before anything that could be split is there.
    applies: |case| {
        let planned = !one_piece(case.incident) && case.never_fits().is_some();
        case.on_device()
            && (case.inference() || case.loading() || planned || case.weights_fill())
            && !case.compares_at_start()
    },
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "--tensor-parallel-size {tried}").unless("only"),
        line(Target::Sglang, "--tp {tried}").unless("only"),
        line(Target::Tgi, "--num-shard {tried}").unless("only"),
        line(Target::TensorRtLlm, "--tp_size {tried}").when("by-its-option"),
        line(Target::Lmdeploy, "--tp {tried}").unless("only"),
        line(Target::LlamaCpp, "-sm layer -ts 1,1").unless("only"),
        line(Target::Jax, "state = jax.device_put(state, NamedSharding(mesh, PartitionSpec(\"devices\")))")
            .note("a part on each device of the mesh", "mesh 中每个设备放一部分")
            .unless("only")
            .when("large-state"),
        line(Target::Diffusers, "Pipeline.from_pretrained(..., device_map=\"balanced\")")
            .note("without .to(\"cuda\")", "不再调用 .to(\"cuda\")")
            .unless("only")
            .when("pipe"),
        line(Target::Pytorch, "from_pretrained(..., device_map=\"auto\")").when("pretrained"),
        said(
            Target::Pytorch,
            "a GPU with more memory, or the layers of the model over several GPUs",
            "换显存更大的 GPU，或把模型各层分到多块 GPU",
        )
        .when("larger"),
        said(Target::Program, "a machine or node that has one", "换用配有更大显存的机器或节点").when("larger-alone"),
    ],
    fixtures: &["llama.cpp/pool", "vllm/no-blocks"],
    advise,
};

/// The first build of llama.cpp whose `--split-mode` is `layer` unless it is told otherwise (January 2024).
const SPLITS_BY_LAYERS: u16 = 1842;

/// Devices that a node has, for nearly all nodes.
const OF_A_NODE: u64 = 8;

fn advise(case: &Case) -> Advice {
    // Processes that crowd one device of several need their own, not a model over all of them.
    if case.ranks_on_one_device() && case.engine().is_none() {
        return Advice::Silent;
    }
    // A trainer spreads what it trains by its own means.
    let trains = case.trainer().is_some_and(|trainer| trainer.purpose() == Purpose::Training) || case.training();
    if case.brings_weights_back() || trains && case.engine_around().is_none() {
        return Advice::Silent;
    }
    // A board that shares the machine's memory has no larger sister to change to.
    if case.one_memory() {
        return Advice::Silent;
    }
    let given = |command: &String| command.contains(" -ts ") || command.contains("tensor-split");
    let told = case.context.command.get().is_some_and(given);
    // Over all devices that it sees, it splits by layers unless it is told not to.
    // Builds of 2024 and later do so over all devices that they count.
    let origin = &case.context.origin;
    let counts = origin.devices.is_some_and(|devices| devices > 1)
        && origin.releases.get(&Library::LlamaCpp).is_some_and(|build| build.0 >= SPLITS_BY_LAYERS);
    let by_default = counts || case.devices_in_use() > 1 || case.spreads_already() || case.clue(Clue::SeveralDevices);
    if case.engine() == Some(Program::LlamaCpp) && (told || by_default) {
        return Advice::Withheld(text!(en: "the layers are split over devices already", zh: "各层已分到多个设备"));
    }
    let facts = &case.incident.event.facts;
    let budget = Budget::of(facts);
    let spreads = case.pretrained() && !case.dispatched() && !case.builds_a_model() && !case.pipeline();
    let (ranks, only) = (case.devices_in_use(), case.only_device());
    let computed = budget.devices().filter(|devices| case.engine().is_some() && *devices > ranks && !only);
    let tried = computed.unwrap_or(ranks.saturating_mul(2));
    // Several are in force whose number is not told; or a node's are, and another one's are far from them.
    let beyond_a_node = tried > OF_A_NODE && computed.is_none();
    let tried_text = match case.spreads_already() && ranks == 1 && computed.is_none() || beyond_a_node {
        true => text!(en: "<more>", zh: "<更多>"),
        false => Text::same(tried.to_string()),
    };
    let alone = only || case.installed_command() || !spreads && (!case.comes_in_forms() || case.loads_by_name());
    let draft = Draft::new(case, &FIX);
    let larger = alone && case.engine().is_none();
    let draft = match larger {
        true if matches!(case.accelerator(), Accelerator::Npu | Accelerator::Tpu) => {
            draft.titled(text!(en: "A device with more memory", zh: "换内存更大的设备"))
        }
        true => draft.titled(text!(en: "A GPU with more memory", zh: "换显存更大的 GPU")),
        false => draft,
    };
    let draft = if larger { draft.costs(Costs { slows: (0.0, 0.0), ..FIX.costs }) } else { draft };
    // A larger device frees nothing of what is used, and an engine fills its share of each device again.
    let freed = match (larger, case.engine()) {
        (true, _) => None,
        (false, Some(_)) => split(&budget, tried),
        (false, None) => split(&budget, tried).or_else(|| {
            case.share_of_allocated(0.3, 0.5, text!(en: "half of weights and cache", zh: "权重与缓存的一半"))
        }),
    };
    draft
        .when("only", only)
        .when("by-its-option", !only && !case.context.origin.triton_backend)
        .when("pretrained", spreads && !only)
        .when("large-state", case.comes_in_forms() || case.never_fits().is_some())
        .when("larger", !alone && !spreads && !only && case.comes_in_forms())
        .when("larger-alone", alone)
        .weight(if case.engine().is_some() { 1.0 } else { 0.6 })
        .frees_if(
            freed,
            match larger {
                true => text!(en: "its own size, which nobody knows yet", zh: "取决于新设备的容量"),
                false => text!(
                    en: "half of weights and cache; their sizes are not in the log",
                    zh: "权重与缓存的一半；日志没有给出大小"
                ),
            },
        )
        .own(
            case.own_option_with(Quantity::Parallel, ranks, tried)
                .filter(|_| case.engine().is_some() && !beyond_a_node),
        )
        .fill_text("tried", tried_text)
        .certainty(if computed.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(match (computed, budget.weights) {
            (Some(devices), Some(weights)) => {
                let weights = show((weights * budget.ranks as f64) as i128);
                text!(
                    en: "weights of {weights} over {devices} devices leave 15 % of the share and more to cache and \
                         computation",
                    zh: "{weights} 权重分到 {devices} 张卡后，份额中至少 15 % 可留给缓存和计算"
                )
            }
            _ if case.loading() => join(
                text!(en: "weights alone may be more than one GPU holds", zh: "仅权重就可能超过单卡容量"),
                case.situation(),
            ),
            _ => join(
                text!(en: "each of several devices holds a part of it", zh: "多张卡各承担一部分"),
                case.situation(),
            ),
        })
}

/// The weights that leave this device, where their size and the number of devices that they need are known.
fn split(budget: &Budget, devices: u64) -> Option<(Interval, Text)> {
    let weights = budget.weights?;
    let kept = weights * budget.ranks as f64 / devices.max(1) as f64;
    let (all, rest) = (show(weights as i128), show(kept as i128));
    Some((
        Interval::exactly((weights - kept).max(0.0) as u64),
        text!(en: "weights {all} − {rest} over {devices} devices", zh: "权重 {all} − {rest}（分到 {devices} 张卡）"),
    ))
}
