//! Several changes together, where none is enough alone.

use super::budget::{Budget, Change};
use super::case::clamp_to;
use super::prelude::*;
use super::{
    Frees, Knob, Offer, bf16_states, cpu_offload, eight_bit_optimizer, gradient_checkpointing, lora, qlora,
    shard_states, smaller_batch,
};

pub const FIX: Fix = Fix {
    id: "combination",
    class: Class::Model,
    title: || text!(en: "Several changes together", zh: "多项改动合用"),
    doc: || {
        text!(
            en: "Where no single change covers what the step needs, the cheapest two or three that do, reckoned \
                 together: weights, gradients and optimizer states by the number of parameters, activations by what \
                 the failing moment held beside them. Nothing is counted twice: an optimizer whose state is in the \
                 host's memory gains nothing from 8 bit.",
            zh: "当任何单项改动都不足以满足该步所需时，给出合起来足够、代价最小的两三项：权重、梯度和优化器状态按参数量\
                 计算，激活按失败时其余的占用计算。同样的字节不会重复计算：优化器状态已在主机内存时，8-bit 不再节省显存\
                 。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Gpu, Need::Training, Need::Loaded],
    applies: |case| !case.composing(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[],
    fixtures: &["fix/same-states-on-four-ranks"],
    advise,
};

/// Most changes of one combination.
const MOST: usize = 3;

/// A change that may be part of one, with its own costs and lines.
struct Part {
    fix: &'static Fix,
    change: Change,
    offer: Offer,
}

fn advise(case: &Case) -> Advice {
    let (Some(budget), Some(room)) = (Budget::of(case), case.capacity()) else { return Advice::Silent };
    // What a context and the cache's rounding take beside the tensors.
    let room = room.low - room.low / 20;
    let known: [(&'static Fix, Change); 8] = [
        (&eight_bit_optimizer::FIX, Change::EightBitOptimizer),
        (&gradient_checkpointing::FIX, Change::Checkpointing),
        (&smaller_batch::FIX, Change::Batch(smaller_batch::share(case))),
        (&shard_states::FIX, Change::ShardAll),
        (&cpu_offload::FIX, Change::OptimizerToHost),
        (&bf16_states::FIX, Change::SixteenBitStates),
        (&lora::FIX, Change::Lora),
        (&qlora::FIX, Change::Qlora),
    ];
    let alone = case.for_combinations();
    let parts: Vec<Part> = known
        .into_iter()
        .filter_map(|(fix, change)| match fix.advice(&alone) {
            Advice::Offer(offer) => Some(Part { fix, change, offer }),
            _ => None,
        })
        .collect();
    let fits = |chosen: &[&Part]| {
        let after = chosen.iter().fold(budget, |budget, part| budget.with(part.change));
        Some(after.need()).filter(|need| need.high <= room)
    };
    if budget.need().high <= room {
        return Advice::Silent;
    }
    let best = subsets(&parts)
        .into_iter()
        .filter(|chosen| !chosen.is_empty())
        .filter_map(|chosen| Some((fits(&chosen)?, cost(&chosen), chosen)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((need, _, chosen)) = best else { return Advice::Silent };
    if let [part] = chosen.as_slice() {
        let title = (part.fix.title)();
        return Advice::Withheld(Text::new(
            format!("one change is enough by the figures: {}", title.en),
            format!("按数字计算一项改动即可：{}", title.zh),
        ));
    }
    let Some(knobs) = lines(&chosen) else { return Advice::Silent };
    let titles: Vec<Text> = chosen.iter().map(|part| (part.fix.title)()).collect();
    let names = |lang: fn(&Text) -> &str, between: &str| titles.iter().map(lang).collect::<Vec<_>>().join(between);
    let (en, zh) = (names(|text| &text.en, " + "), names(|text| &text.zh, " + "));
    let (before, after) = (show(budget.need().high), show(need.high));
    let device = case.capacity().map(|all| show(all.middle())).unwrap_or_default();
    // Together they free no more than the screen says of each.
    let each = |part: &&Part| match &part.offer.frees {
        Frees::Bytes { range, .. } => Some(range.high),
        Frees::Unknown(_) => None,
    };
    let together = chosen.iter().map(each).sum::<Option<i128>>();
    let draft = Draft::new(case, &FIX)
        .frees(
            clamp_to(budget.need() - need, together.map(|most| Interval::between(most, most))),
            text!(
                en: "needed at most: {before} now, {after} with {en}",
                zh: "至多需要：现在 {before}，改为 {zh} 后 {after}"
            ),
        )
        .costs(Costs {
            slows: chosen.iter().fold((0.0, 0.0), |(low, high), part| {
                let (from, to) = part.offer.costs.slows;
                (low + from.max(0.0), high + to.max(0.0))
            }),
            numerics: chosen.iter().map(|part| part.offer.costs.numerics).max().unwrap_or(Numerics::Same),
        })
        .certainty(Certainty::Likely);
    let draft = knobs.into_iter().fold(draft, |draft, knob| draft.line(knob));
    draft.because(text!(
        en: "{en}: {after} of {device}; less would not be enough",
        zh: "{zh}：{after}，设备共 {device}；更少的改动不够"
    ))
}

/// All sets of at most [`MOST`] changes.
fn subsets(parts: &[Part]) -> Vec<Vec<&Part>> {
    let mut sets: Vec<Vec<&Part>> = vec![Vec::new()];
    for part in parts {
        let longer: Vec<Vec<&Part>> =
            sets.iter().filter(|set| set.len() < MOST).map(|set| set.iter().copied().chain([part]).collect()).collect();
        sets.extend(longer);
    }
    sets
}

/// What a set costs in results and speed, a little for each change, so that fewer are preferred.
fn cost(chosen: &[&Part]) -> f64 {
    chosen.iter().map(|part| 0.05 - super::kept(&part.offer.costs).ln()).sum()
}

/// The lines of all changes for each target that all of them have; else each change's first.
fn lines(chosen: &[&Part]) -> Option<Vec<Knob>> {
    let first = chosen.first()?;
    let of = |part: &Part, target: Target| part.offer.knobs.iter().find(|knob| knob.target == target).cloned();
    let together = |knobs: Vec<Knob>| {
        let line = |lang: fn(&Text) -> &str| knobs.iter().map(|knob| lang(&knob.line)).collect::<Vec<_>>().join("\n");
        Some(Knob { target: knobs.first()?.target, line: Text::new(line(|text| &text.en), line(|text| &text.zh)) })
    };
    let shared: Vec<Knob> = first
        .offer
        .knobs
        .iter()
        .filter_map(|knob| chosen.iter().map(|part| of(part, knob.target)).collect::<Option<Vec<Knob>>>())
        .filter_map(together)
        .collect();
    if !shared.is_empty() {
        return Some(shared);
    }
    let each: Option<Vec<Knob>> = chosen.iter().map(|part| part.offer.knobs.first().cloned()).collect();
    Some(vec![together(each?)?])
}
