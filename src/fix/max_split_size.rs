//! Keep large blocks whole, or stop doing so where it harms.

use super::alloc_conf::AllocConf;
use super::prelude::*;
use super::replayed::{self, Replayed};

pub const FIX: Fix = Fix {
    id: "max-split-size",
    class: Class::AllocConfig,
    title: || text!(en: "Set or drop max_split_size_mb", zh: "设置或去掉 max_split_size_mb"),
    doc: || {
        text!(
            en: "Blocks above the limit are not split and serve only requests of about their size. It is for \
                 PyTorch before 2.1 or on Windows, where expandable segments are not to be had, and for few large \
                 requests beside many small ones. A small value from a forum can make the cache grow: smaller \
                 requests may no longer use large cached blocks. The value must exceed 20.",
            zh: "大于该值的块不再拆分，只服务于大小相近的申请。适用于没有 expandable_segments 的环境（PyTorch 2.1 之\
                 前或 Windows），以及少量大块与大量小块并存的情况。照搬论坛上的小数值反而会让缓存膨胀：小申请不能再\
                 使用大的缓存块。取值必须大于 20。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::PytorchCache],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.05), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "export {variable}={kept}max_split_size_mb:{limit}"),
        line(Target::Shell, "export {variable}={rest}").when("set"),
        line(Target::Shell, "unset {variable}").when("alone"),
    ],
    fixtures: &["pytorch/reserved-hint"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let conf = AllocConf::of(case);
    if let Some(set) = conf.get("max_split_size_mb").map(str::to_string) {
        let rest = conf.without("max_split_size_mb");
        return rest_of(Draft::new(case, &FIX).fill("variable", rest.variable()), &rest)
            .frees_unknown(text!(
                en: "what the limit wastes shows only in a memory snapshot",
                zh: "该限制浪费了多少只有显存快照能显示"
            ))
            .because(text!(
                en: "max_split_size_mb:{set} is set: requests below {set} MiB cannot use larger cached blocks, so \
                     the pool can only grow",
                zh: "已设置 max_split_size_mb:{set}：小于 {set} MiB 的申请不能使用更大的缓存块，缓存池只会增长"
            ));
    }
    match replayed::settings(case, |conf| conf.starts_with("max_split_size_mb:")) {
        Some(Replayed::Fails(why)) => return Advice::WontHelp(why),
        Some(Replayed::Serves { trial, saves, formula, why, certainty }) => {
            let limit = trial.conf.trim_start_matches("max_split_size_mb:");
            return Draft::new(case, &FIX)
                .when("replayed", true)
                .fill("variable", conf.variable())
                .fill("kept", conf.kept())
                .fill("limit", limit)
                .frees(saves, formula)
                .certainty(certainty)
                .because(why);
        }
        None => {}
    }
    let (Some(cached), Some(requested)) = (case.cached(), case.requested()) else { return Advice::Silent };
    let (c, r) = (about(cached), show(requested.middle()));
    let free = case.free().unwrap_or(Interval::exactly(0)).at_least_zero();
    if (cached + free).high < requested.low {
        return Advice::WontHelp(text!(
            en: "a split limit rearranges the cache; {c} cached is less than the {r} requested, however it is split",
            zh: "拆分上限只是重新安排缓存；缓存只有 {c}，少于申请的 {r}，怎么拆都不够"
        ));
    }
    let other_way = !case.windows() && case.torch_version().is_none_or(|version| version >= (2, 1));
    let limit = (requested.middle_bytes() / MIB / 2).clamp(64, 512).next_power_of_two().min(512);
    Draft::new(case, &FIX)
        .when("expandable", other_way)
        .fill("variable", conf.variable())
        .fill("kept", conf.kept())
        .fill("limit", limit)
        .frees(Interval::between(0, cached.high), text!(en: "at most the {c} cached", zh: "最多为缓存的 {c}"))
        .because(text!(
            en: "{c} is cached while {r} could not be served: keeping blocks above {limit} MiB whole leaves them \
                 for requests of that size",
            zh: "缓存有 {c} 却无法满足 {r}：让大于 {limit} MiB 的块保持完整，留给这类大申请"
        ))
}

/// The line without the option: the others, or none at all.
fn rest_of<'a>(draft: Draft<'a>, rest: &AllocConf) -> Draft<'a> {
    match rest.value() {
        none if none.is_empty() => draft.when("set", true).when("alone", true),
        others => draft.when("set", true).fill("rest", others),
    }
}
