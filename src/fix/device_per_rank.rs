//! Ranks that all took the same device.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "device-per-rank",
    class: Class::Sharding,
    title: || text!(en: "Give each rank a device of its own", zh: "让每个 rank 使用自己的设备"),
    doc: || {
        text!(
            en: "A rank that never chooses a device gets the first visible one, like all others: `.cuda()` and \
                 `torch.device(\"cuda\")` mean device 0. The launcher sets `LOCAL_RANK`; choose by it before anything \
                 moves to a device.",
            zh: "没有选择设备的 rank 与其他 rank 一样落在第一块可见设备上：`.cuda()` 和 `torch.device(\"cuda\")` 都指\
                 设备 0。启动器会设置 `LOCAL_RANK`；在任何张量移到设备之前按它选择设备。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::OwnCode],
    applies: |case| case.pytorch() && case.ranks_on_one_device(),
    costs: Costs { slows: (-0.5, 0.0), numerics: Numerics::Same },
    knobs: &[line(Target::Pytorch, "{module}.set_device(int(os.environ[\"LOCAL_RANK\"]))").note(
        "before anything moves to the device; where it is not set, args.local_rank or the worker's own index",
        "在任何张量移到设备之前；若未设置该变量，用 args.local_rank 或 worker 自己的编号",
    )],
    fixtures: &["fix/ranks-on-one-card"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // `torch.load` returns tensors to the device they were saved from, whichever one the rank has chosen.
    if case.accelerator().visible_devices().is_none() || case.reads_a_checkpoint() {
        return Advice::Silent;
    }
    Draft::new(case, &FIX)
        .frees_unknown(text!(
            en: "all that the other ranks hold on this device; the log does not separate it",
            zh: "其他 rank 在这块设备上占用的全部；日志没有分开给出"
        ))
        .certainty(Certainty::Likely)
        .because(text!(
            en: "several ranks of this job sit on one device",
            zh: "本任务的多个 rank 落在同一块设备上"
        ))
}
