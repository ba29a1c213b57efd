//! RAPIDS beyond the card: managed memory and spilling.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "spill-to-host",
    class: Class::Offload,
    title: || text!(en: "Let data frames spill to the host", zh: "允许数据溢出到主机内存"),
    doc: || {
        text!(
            en: "RAPIDS can keep data in managed memory, which the driver pages between card and host, or spill \
                 whole columns itself. Data far above the card's size then thrashes.",
            zh: "RAPIDS 可将数据放入统一内存（managed memory，由驱动在显卡与主机间换页），或自行按列溢出。数据远大于\
                 显存时会频繁换页。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    applies: |_| true,
    costs: Costs { slows: (0.1, 0.9), numerics: Numerics::Same },
    knobs: &[
        line(Target::Rapids, "rmm.reinitialize(managed_memory=True)").note(
            "or, in cuDF 22.12 and later, cudf.set_option(\"spill\", True)",
            "或（cuDF 22.12 及更新）cudf.set_option(\"spill\", True)",
        ),
        line(Target::Rapids, "rmm.reinitialize(managed_memory=True)").older(),
        line(Target::DaskCuda, "LocalCUDACluster(enable_cudf_spill=True, rmm_managed_memory=True)")
            .unless("spills-already"),
        line(Target::DaskCuda, "LocalCUDACluster(rmm_managed_memory=True)").unless("spills-already").older(),
        line(Target::DaskCuda, "LocalCUDACluster(device_memory_limit=0.5)")
            .note(
                "it spills already (0.8 of the device): let it begin earlier",
                "已启用溢出（默认设备的 0.8）：让它更早开始",
            )
            .when("spills-already"),
    ],
    fixtures: &["rapids/dask", "rapids/outside"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .when("spills-already", case.clue(Clue::JitUnspill))
        .frees_unknown(text!(
            en: "what is not in use at the moment moves to RAM; the log does not say how much",
            zh: "暂不使用的数据移到内存；日志未给出数量"
        ))
        .because(join(
            text!(en: "the data of the step is larger than the card", zh: "该步骤的数据超过显存"),
            case.situation(),
        ))
}
