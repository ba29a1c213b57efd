//! NCCL's own memory.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "nccl-buffers",
    class: Class::Libraries,
    title: || text!(en: "Leave room for NCCL, or shrink its buffers", zh: "给 NCCL 留余量，或缩小其缓冲"),
    doc: || {
        text!(
            en: "Each communicator takes buffers per channel and peer outside PyTorch's pool (rule of thumb: some \
                 hundred MiB to above 1 GiB). Fewer channels cost bandwidth.",
            zh: "每个通信器按通道和对端在 PyTorch 池外分配缓冲（经验值：几百 MiB 到 1 GiB 以上）。减少通道会损失带宽。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Serving],
    needs: &[Need::Gpu],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "NCCL_CUMEM_ENABLE=0 NCCL_NVLS_ENABLE=0 <your command>"),
        line(Target::Vllm, "NCCL_MAX_NCHANNELS=8 NCCL_BUFFSIZE=2097152 <your command>").older(),
        line(Target::Shell, "export NCCL_MAX_NCHANNELS=8 NCCL_BUFFSIZE=2097152").unless("switched"),
        line(Target::Shell, "export NCCL_NVLS_ENABLE=0 NCCL_MAX_NCHANNELS=8 NCCL_BUFFSIZE=2097152").when("switched"),
    ],
    fixtures: &["pytorch/nccl-calloc", "pytorch/nccl-unhandled"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let nccl = case.sign(Sign::Nccl);
    let many = case.context.world_size.value().is_some_and(|ranks| ranks > 1);
    if !case.on_gpu() || !(nccl || many) {
        return Advice::Silent;
    }
    let amount = case.ledger.non_framework.map(|held| held.at_least_zero()).filter(|held| held.high > 0).map(|held| {
        let shown = show(held.middle());
        (
            Interval::between(0, held.scale(0.7).high),
            text!(en: "a part of the {shown} outside the framework", zh: "框架之外 {shown} 的一部分"),
        )
    });
    Draft::new(case, &FIX)
        .when("nccl", nccl)
        // Multicast over the switch takes memory on Hopper and later, and only where several of them are in use.
        .when("switched", case.context.origin.nvls)
        .frees_if(amount, text!(en: "the log does not separate NCCL's memory", zh: "日志没有单独给出 NCCL 的占用"))
        .because(text!(
            en: "the communication library asks the driver for memory beside the framework's pool",
            zh: "通信库在框架的池之外向驱动申请显存"
        ))
}
