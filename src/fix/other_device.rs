//! Run on a device that has room.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "other-device",
    class: Class::FreeTheDevice,
    title: || text!(en: "Run on a GPU that has room", zh: "换到空闲的 GPU 上运行"),
    doc: || {
        text!(
            en: "`CUDA_VISIBLE_DEVICES` chooses the devices a process may see; inside, they are numbered from 0. \
                 Set it before Python starts. Prefer it to `cuda:1` in the code, because libraries still open a \
                 context on the first visible device.",
            zh: "`CUDA_VISIBLE_DEVICES` 决定进程能看到哪些 GPU，进程内从 0 重新编号。要在 Python 启动前设置。比在代\
                 码里写 `cuda:1` 可靠，因为各种库仍会在第一块可见 GPU 上建立上下文。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::ListedProcesses, Need::Running, Need::OthersHold],
    applies: |case| !case.only_device() && !case.by_vulkan(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "{there}"),
        line(Target::Shell, "{free}").note("then: {start}", "然后：{start}").unless("known"),
        line(Target::Ollama, "{visible}=<index> ollama serve").unless("known"),
    ],
    fixtures: &["cuda/darknet"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let (Some(visible), tool) = (case.accelerator().visible_devices(), case.accelerator().tool()) else {
        return Advice::Silent;
    };
    if case.ranks_on_one_device() {
        return Advice::WontHelp(text!(
            en: "every rank would follow: each needs a device of its own",
            zh: "所有 rank 会一起搬过去：应让每个 rank 使用自己的设备"
        ));
    }
    // A job of a batch system has the devices that it was given: another index is none of them.
    if case.clue(Clue::SlurmJob) && case.context.gpus.len() < 2 {
        return Advice::Withheld(text!(
            en: "the batch system chose the device: another one comes with another job or node",
            zh: "设备由批处理系统分配：换设备需要换作业或节点"
        ));
    }
    let used = case.incident.event.facts.device.value();
    let emptiest = case
        .context
        .gpus
        .iter()
        .filter(|row| Some(row.index) != used)
        .max_by_key(|row| row.total.bytes.saturating_sub(row.used.bytes));
    match emptiest.filter(|_| case.context.gpus.len() > 1 && !case.needs_several()) {
        Some(row) => {
            let room = row.total.interval() - row.used.interval();
            let (index, shown) = (row.index, show(room.middle()));
            Draft::new(case, &FIX)
                .when("known", true)
                .fill_text("there", case.on_another_device(visible, &Text::same(index.to_string())))
                .frees(room, text!(en: "GPU {index} has {shown} free", zh: "GPU {index} 还有 {shown} 空闲"))
                .certainty(Certainty::Arithmetic)
                .because(text!(
                    en: "nvidia-smi in the log shows {shown} free on GPU {index}",
                    zh: "日志里的 nvidia-smi 显示 GPU {index} 还有 {shown} 空闲"
                ))
        }
        None => {
            let free = match case.accelerator() {
                Accelerator::Cuda => "nvidia-smi --query-gpu=index,memory.free --format=csv",
                other => other.driver_meter().now,
            };
            Draft::new(case, &FIX)
                .fill("visible", visible)
                .fill("free", free)
                .fill_text("start", case.on_another_device(visible, &case.indices()))
                .frees_unknown(text!(
                    en: "the log does not show how full the other GPUs are; {tool} does",
                    zh: "日志没有显示其他 GPU 的占用；用 {tool} 查看"
                ))
                .because(match used {
                    Some(index) => text!(
                        en: "if the machine has another device than GPU {index}, it may be idle",
                        zh: "如果机器上除 GPU {index} 外还有其他设备，它可能空闲"
                    ),
                    None => text!(
                        en: "if the machine has a second GPU, it may be idle",
                        zh: "如果机器上有第二块 GPU，它可能空闲"
                    ),
                })
        }
    }
}
