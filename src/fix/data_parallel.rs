//! The first device does more.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "data-parallel",
    class: Class::Sharding,
    title: || {
        text!(
            en: "One process for each GPU (DistributedDataParallel)",
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
    needs: &[Need::Gpu, Need::Discrete],
    // Gradients are what it exchanges: an evaluation has none.
    applies: |case| {
        let gathers = case.clue(Clue::DataParallel) && !case.parallel_on_one_device();
        gathers && !case.evaluating() && !case.inference() || others_idle(case)
    },
    costs: Costs { slows: (-0.3, 0.0), numerics: Numerics::Same },
    knobs: &[
        said(
            Target::Pytorch,
            "DistributedDataParallel instead of DataParallel, started with one process for each GPU",
            "用 DistributedDataParallel 代替 DataParallel，每块 GPU 启动一个进程",
        )
        .unless("idle"),
        said(
            Target::Pytorch,
            "DistributedDataParallel, one process for each GPU, and the batch divided over them",
            "用 DistributedDataParallel，每块 GPU 一个进程，并把批大小平分",
        )
        .when("idle"),
    ],
    fixtures: &["fix/gathered-outputs"],
    advise,
};

/// True where a single process trains on one of several devices, and the others are of no use to it.
fn others_idle(case: &Case) -> bool {
    case.pytorch()
        && case.works().contains(&Work::Training)
        && case.confidence(CauseId::WrongDevice) >= 0.2
        && !case.several_devices()
        && !case.ranks_on_one_device()
        && !case.loading()
        && !case.context.visible_devices.is_known()
        && case.others().is_none()
        // What fills the device is this process's own.
        && case.allocated().zip(case.capacity()).is_some_and(|(held, all)| held.low * 2 > all.high)
}

fn advise(case: &Case) -> Advice {
    if !case.clue(Clue::DataParallel) {
        return Draft::new(case, &FIX)
            .when("idle", true)
            .frees_if(
                case.share_of_allocated(0.0, 0.5, text!(en: "half of the batch", zh: "一半的批")),
                case.ask_for_peak(),
            )
            .because(text!(
                en: "the program sees several devices and works on one: the batch can be divided over them",
                zh: "程序能看到多块设备却只用一块：批可以平分到各卡"
            ));
    }
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
