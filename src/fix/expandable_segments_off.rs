//! Let PyTorch cut segments as it does by default, where growing ones come out worse.

use super::alloc_conf::AllocConf;
use super::prelude::*;
use super::replayed::{self, Replayed};

pub const FIX: Fix = Fix {
    id: "expandable-segments-off",
    class: Class::AllocConfig,
    title: || text!(en: "Turn off expandable segments", zh: "关闭 expandable_segments"),
    doc: || {
        text!(
            en: "Expandable segments give memory back in granules of 20 MiB only, and a live tensor pins its \
                 granule. A program whose buffers grow a little with every step, such as a key/value cache that is \
                 concatenated, can need more with them than without. Offered only where the replay of a memory \
                 snapshot proves it (`oomdoc explain LOG --snapshot FILE`), or where a request exceeds the address \
                 space set aside for them.",
            zh: "expandable_segments 只能以 20 MiB 的粒度归还显存，存活的张量会占住所在粒度。缓冲区逐步增大的程序\
                 （例如不断拼接的 KV cache）开启后反而可能需要更多显存。仅在重放显存快照证实时才推荐（`oomdoc \
                 explain LOG --snapshot FILE`），或请求超过为其预留的地址空间时才推荐。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::PytorchCache],
    applies: |case| {
        case.caching_allocator()
            && (AllocConf::of(case).expandable()
                || case.sign(Sign::ExpandableReserve)
                || faulty(case)
                || case.proof().is_some_and(|recording| recording.expandable))
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "export {variable}={kept}expandable_segments:False"),
        line(Target::Pytorch, "os.environ[\"{variable}\"] = \"{kept}expandable_segments:False\"")
            .note("before importing torch", "在导入 torch 之前"),
    ],
    fixtures: &["context/hf-trainer", "pytorch/expandable-reserve"],
    advise,
};

/// True where the code of expandable segments itself failed, whatever it failed of.
fn faulty(case: &Case) -> bool {
    case.sign(Sign::Disguised) && case.sign(Sign::ExpandableSegmentsOn)
}

fn advise(case: &Case) -> Advice {
    if faulty(case) {
        let conf = AllocConf::of(case).without("expandable_segments");
        return Draft::new(case, &FIX)
            .when("faulty", true)
            .fill("variable", conf.variable())
            .fill("kept", conf.kept())
            .frees_unknown(text!(
                en: "frees nothing: another code of the allocator serves the request",
                zh: "不释放显存：改由分配器的另一段代码处理请求"
            ))
            .because(text!(
                en: "an assertion of the code for expandable segments failed: without them, the next run tells \
                     whether memory is short",
                zh: "expandable segments 的代码断言失败：关闭后再运行一次，即可知道是否真的缺显存"
            ));
    }
    if case.sign(Sign::ExpandableReserve) {
        let conf = AllocConf::of(case).without("expandable_segments");
        return Draft::new(case, &FIX)
            .when("reserve", true)
            .fill("variable", conf.variable())
            .fill("kept", conf.kept())
            .frees_unknown(text!(
                en: "frees nothing: ordinary segments are not taken from the address space set aside",
                zh: "不释放显存：普通 segment 不占用预留的地址空间"
            ))
            .certainty(Certainty::Likely)
            .because(join(
                text!(
                    en: "the request exceeds the address space set aside for expandable segments",
                    zh: "请求超过了为 expandable segments 预留的地址空间"
                ),
                case.situation(),
            ));
    }
    if case.proof().is_none() {
        return Advice::Withheld(text!(
            en: "only the replay of a memory snapshot can show that they cost more than they save",
            zh: "只有重放显存快照才能证明开启后得不偿失"
        ));
    }
    let off = replayed::settings(case, |conf| conf == "expandable_segments:False");
    let Some(Replayed::Serves { saves, formula, why, certainty, .. }) = off else { return Advice::Silent };
    let conf = AllocConf::of(case).without("expandable_segments");
    Draft::new(case, &FIX)
        .fill("variable", conf.variable())
        .fill("kept", conf.kept())
        .frees(saves, formula)
        .certainty(certainty)
        .because(why)
}
