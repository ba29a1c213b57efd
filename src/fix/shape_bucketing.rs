//! Few different shapes instead of many.

use super::alloc_conf::AllocConf;
use super::prelude::*;
use super::replayed::{self, Replayed};

pub const FIX: Fix = Fix {
    id: "shape-bucketing",
    class: Class::Shapes,
    title: || {
        text!(
            en: "Few sizes: round shapes, or let the allocator round",
            zh: "减少尺寸种类：归并形状，或由分配器取整"
        )
    },
    doc: || {
        text!(
            en: "Every new shape needs blocks of new sizes; the old ones stay cached. Pad lengths to multiples (64, \
                 128), bucket images by size, or let the allocator round with `roundup_power2_divisions`. Costs \
                 some padding.",
            zh: "每种新形状都需要新尺寸的块，而旧块留在缓存中。把长度填充到 64 或 128 的倍数、按尺寸分桶，或用 \
                 `roundup_power2_divisions` 让分配器取整。代价是少量填充。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::PytorchCache],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        // TRL's trainers collate in their own way.
        line(Target::HfTrainer, "data_collator=DataCollatorWithPadding(tokenizer, pad_to_multiple_of=64)")
            .unless("collates"),
        line(Target::Pytorch, "export {variable}={kept}roundup_power2_divisions:8"),
    ],
    fixtures: &["pytorch/epoch-five", "pytorch/snapshot-fragmentation"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if let Some(Replayed::Fails(why)) = replayed::settings(case, |conf| conf.starts_with("roundup_power2_divisions")) {
        return Advice::Withheld(why);
    }
    let conf = AllocConf::of(case).without("roundup_power2_divisions");
    let weight = if case.clue(Clue::VariableShapes) { 1.5 } else { 1.0 };
    Draft::new(case, &FIX)
        .of_the_whole()
        .when("collates", case.trainer() == Some(Trainer::Trl))
        .fill("variable", conf.variable())
        .fill("kept", conf.kept())
        .weight(weight)
        .frees_if(case.of_the_cache(), text!(en: "the log does not show the cache's size", zh: "日志没有给出缓存大小"))
        .because(text!(
            en: "changing shapes leave cached blocks that fit no later request",
            zh: "不断变化的形状会留下后续申请用不上的缓存块"
        ))
}
