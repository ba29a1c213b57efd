//! Run on a device that has room.

use super::case::{Case, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::{Accelerator, Target};
use crate::text;

pub const FIX: Fix = Fix {
    id: "other-device",
    class: Class::FreeTheDevice,
    title: || text!(en: "Run on a GPU that has room", zh: "换到空闲的 GPU 上运行"),
    doc: || {
        text!(
            en: "`CUDA_VISIBLE_DEVICES` chooses the devices a process may see; inside, they are numbered from 0. Set it before Python starts. Prefer it to `cuda:1` in the code, because libraries still open a context on the first visible device.",
            zh: "`CUDA_VISIBLE_DEVICES` 决定进程能看到哪些 GPU，进程内从 0 重新编号。要在 Python 启动前设置。比在代码里写 `cuda:1` 可靠，因为各种库仍会在第一块可见 GPU 上建立上下文。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.discrete_gpu() {
        return Advice::Silent;
    }
    let (Some(visible), tool) = (case.accelerator().visible_devices(), case.accelerator().tool()) else {
        return Advice::Silent;
    };
    let used = case.incident.event.facts.device.value();
    let emptiest = case
        .context
        .gpus
        .iter()
        .filter(|row| Some(row.index) != used)
        .max_by_key(|row| row.total.bytes.saturating_sub(row.used.bytes));
    let table = [(CauseId::WrongDevice, 0.85), (CauseId::OtherProcess, 0.6), (CauseId::Preallocation, 0.2)];
    match emptiest {
        Some(row) => {
            let room = row.total.interval() - row.used.interval();
            let (index, shown) = (row.index, show(room.middle()));
            Draft::new(case, &table)
                .frees(room, text!(en: "GPU {index} has {shown} free", zh: "GPU {index} 还有 {shown} 空闲"))
                .certainty(Certainty::Arithmetic)
                .knob(Target::Shell, format!("{visible}={index} <your command>"))
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
            let device = used.map_or(String::new(), |index| format!(" {index}"));
            Draft::new(case, &table)
                .frees_unknown(text!(
                    en: "the log does not show how full the other GPUs are; {tool} does",
                    zh: "日志没有显示其他 GPU 的占用；用 {tool} 查看"
                ))
                .knob(Target::Shell, format!("{free}   # then: {visible}=<index> <your command>"))
                .knob(Target::Ollama, format!("{visible}=<index> ollama serve"))
                .because(text!(
                    en: "GPU{device} is taken; where the machine has another, it may be idle",
                    zh: "GPU{device} 已被占用；机器上的其他 GPU 可能空闲"
                ))
        }
    }
}
