//! The first device does more.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "data-parallel",
    class: Class::Sharding,
    title: || {
        text!(
            en: "One process for each GPU instead of torch.nn.DataParallel",
            zh: "每块 GPU 一个进程，不用 torch.nn.DataParallel"
        )
    },
    doc: || {
        text!(
            en: "DataParallel copies the model at every step and gathers all outputs on its first GPU, whose peak \
                 rises. DistributedDataParallel keeps each process's outputs where they are.",
            zh: "DataParallel 每步复制模型，并把所有输出汇集到第一块 GPU，使其峰值更高。DistributedDataParallel 的输\
                 出留在各自进程。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu],
    applies: |case| case.clue(Clue::DataParallel),
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Same },
    knobs: &[said(
        Target::Pytorch,
        "DistributedDataParallel instead of DataParallel, started with one process for each GPU",
        "用 DistributedDataParallel 代替 DataParallel，每块 GPU 启动一个进程",
    )],
    fixtures: &["fix/gathered-outputs"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_if(
            case.share_of_allocated(
                0.0,
                0.3,
                text!(
                    en: "outputs gathered on the first GPU",
                    zh: "汇集到第一块 GPU 的输出"
                ),
            ),
            text!(en: "the size of the gathered outputs is not in the log", zh: "日志没有给出汇集输出的大小"),
        )
        .because(text!(
            en: "DataParallel gathers outputs and losses on its first GPU",
            zh: "DataParallel 把输出和损失汇集到第一块 GPU"
        ))
}
