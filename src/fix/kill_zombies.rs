//! End leftovers of an earlier run.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "kill-zombies",
    class: Class::FreeTheDevice,
    title: || text!(en: "End leftover processes of an earlier run", zh: "清理上一次运行残留的进程"),
    doc: || {
        text!(
            en: "A run that died can leave workers behind that keep their CUDA context; a notebook keeps the \
                 tensors of a failed cell alive through its traceback. They show as memory in use that no listed \
                 process explains.",
            zh: "异常退出的任务可能留下仍持有 CUDA 上下文的子进程；notebook 会因 traceback 一直引用出错单元的张量。\
                 表现为显存已用但找不到对应进程。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::ListedProcesses, Need::Running, Need::OthersHold],
    // Ranks of the job itself are nobody's leftovers.
    applies: |case| !case.ranks_on_one_device(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "sudo fuser -v {nodes}").note(
            "lists every process that has a GPU open, hidden ones too; end leftovers of yours, not this job",
            "列出所有打开 GPU 的进程，包括隐藏的；只结束自己残留的进程，不要结束本任务",
        ),
        line(Target::Shell, "fuser -v {nodes}")
            .note(
                "lists those of your processes that have a GPU open; end leftovers, not this job",
                "列出你打开 GPU 的进程；只结束残留的进程，不要结束本任务",
            )
            .when("guest"),
    ],
    fixtures: &["context/neighbour", "tensorflow/device-full"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let tool = case.accelerator().tool();
    let nodes = match case.accelerator() {
        Accelerator::Hip => "/dev/kfd /dev/dri/renderD*",
        _ => "/dev/nvidia*",
    };
    let hidden = case.ledger.unexplained.map(|held| held.at_least_zero()).filter(|held| held.high > 0);
    let weight = if case.clue(Clue::LongLived) { 1.5 } else { 1.0 };
    let mut draft = Draft::new(case, &FIX).weight(weight);
    draft = match hidden.or(case.others()) {
        Some(held) => {
            let shown = show(held.middle());
            draft.frees(
                Interval::between(0, held.high),
                text!(en: "up to {shown} if it belongs to leftovers", zh: "若属于残留进程，最多 {shown}"),
            )
        }
        None => draft.frees_unknown(text!(
            en: "how much leftovers hold shows only in {tool}",
            zh: "残留进程占用多少只能在 {tool} 中看到"
        )),
    };
    draft.when("guest", case.is_a_guest()).fill("nodes", nodes).because(text!(
        en: "processes of an earlier run may still hold the GPU, listed or not",
        zh: "上一次运行的进程可能仍占着 GPU，不一定会被列出"
    ))
}
