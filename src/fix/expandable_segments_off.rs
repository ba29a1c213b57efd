//! Let PyTorch cut segments as it does by default, where growing ones come out worse.

use super::alloc_conf::AllocConf;
use super::case::Case;
use super::draft::Draft;
use super::replayed::{self, Replayed};
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "expandable-segments-off",
    class: Class::AllocConfig,
    title: || text!(en: "Turn off expandable segments", zh: "关闭 expandable_segments"),
    doc: || {
        text!(
            en: "Expandable segments give memory back in granules of 20 MiB only, and a live tensor pins its granule. A program whose buffers grow a little with every step, such as a key/value cache that is concatenated, can need more with them than without. Offered only where the replay of a memory snapshot proves it (`oomdoc explain LOG --snapshot FILE`).",
            zh: "expandable_segments 只能以 20 MiB 的粒度归还显存，存活的张量会占住所在粒度。缓冲区逐步增大的程序（例如不断拼接的 KV cache）开启后反而可能需要更多显存。仅在重放显存快照证实时才推荐（`oomdoc explain LOG --snapshot FILE`）。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.proof().is_some_and(|recording| recording.expandable) {
        return Advice::Silent;
    }
    let off = replayed::settings(case, |conf| conf == "expandable_segments:False");
    let Some(Replayed::Serves { saves, formula, why, .. }) = off else { return Advice::Silent };
    let conf = AllocConf::of(case).with("expandable_segments", "False");
    Draft::new(case, &[(CauseId::Fragmentation, 0.9), (CauseId::Capacity, 0.25), (CauseId::TransientPeak, 0.25)])
        .frees(saves, formula)
        .certainty(Certainty::Arithmetic)
        .knob(Target::Pytorch, conf.export())
        .knob(Target::Pytorch, conf.python())
        .because(why)
}
