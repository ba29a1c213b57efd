//! RAPIDS beyond the card: managed memory and spilling.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "spill-to-host",
    class: Class::Offload,
    title: || text!(en: "Let data frames spill to the host", zh: "允许数据溢出到主机内存"),
    doc: || {
        text!(
            en: "RAPIDS can keep data in managed memory, which the driver pages between card and host, or spill whole columns itself. Data far above the card's size then thrashes.",
            zh: "RAPIDS 可将数据放入统一内存（managed memory，由驱动在显卡与主机间换页），或自行按列溢出。数据远大于显存时会频繁换页。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() {
        return Advice::Silent;
    }
    Draft::new(
        case,
        &[
            (CauseId::Capacity, 0.55),
            (CauseId::TransientPeak, 0.55),
            (CauseId::SingleHugeAllocation, 0.3),
            (CauseId::FrameworkLimit, 0.25),
            (CauseId::Preallocation, 0.3),
        ],
    )
    .frees_unknown(text!(en: "what is not in use at the moment moves to RAM; the log does not say how much", zh: "暂不使用的数据移到内存；日志未给出数量"))
    .slows(0.1, 0.9)
    .knob(Target::Rapids, "rmm.reinitialize(managed_memory=True)   # or cudf.set_option(\"spill\", True)")
    .knob(Target::DaskCuda, "LocalCUDACluster(enable_cudf_spill=True, rmm_managed_memory=True)")
    .because(join(
        text!(en: "the data of the step is larger than the card", zh: "该步骤的数据超过显存"),
        case.situation(),
    ))
}
