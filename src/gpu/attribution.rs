//! Memory that no listed process holds: how much it is, and what it most likely is.

use super::{Gpu, GpuProcess, Kind, Memory};
use crate::domain::closed_set;
use crate::host::processes::Holders;
use crate::reading::{Reading, unavailable};
use crate::text::Text;
use crate::units::{Bytes, MIB};

/// Less than this is rounding and the driver's own.
pub const ROUNDING: u64 = 32 * MIB;

/// Up to this much the driver's structures, a display or a service may hold.
pub const DRIVERS_OWN: u64 = 800 * MIB;

/// Samples that differ by more than this show memory that comes and goes.
const MOVES: u64 = 64 * MIB;

/// What nobody explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// The least of all samples, at least 0.
    pub unexplained: u64,
    /// Each sample in bytes, negative where the processes' sum exceeds what is in use.
    pub samples: Vec<i128>,
    pub reason: Reason,
    pub text: Text,
}

closed_set! {
    pub enum Reason {
        Rounding = "rounding",
        Instances = "mig-instances",
        Moves = "moves",
        InvisibleProcesses = "invisible-processes",
        Orphan = "orphan",
        OwnNode = "numa-node",
        DriversOwn = "driver",
        Unreleased = "unreleased",
        OpenFilesUnseen = "open-files-unseen",
    }
}

/// One sample: in use − Σ(processes).
///
/// # Errors
/// Where memory, the process list or the memory of one process is not known.
pub fn sample(memory: &Memory, processes: &[GpuProcess]) -> Reading<i128> {
    let mut left = i128::from(memory.allocated());
    for process in processes {
        match &process.bytes {
            Ok(bytes) => left -= i128::from(*bytes),
            Err(_) => {
                let pid = process.pid;
                return unavailable(
                    format!("the memory of process {pid} is not known"),
                    format!("进程 {pid} 的显存占用未知"),
                );
            }
        }
    }
    Ok(left)
}

/// What the surroundings tell about memory without an owner.
pub struct Surroundings<'a> {
    pub host_pids: bool,
    pub wsl: bool,
    /// Whether open device files were looked for on this machine.
    pub holders: &'a Reading<Holders>,
}

impl Attribution {
    /// Judges the samples of one GPU.
    ///
    /// # Errors
    /// Where nothing can be subtracted: see [`sample`].
    pub fn of(gpu: &Gpu, samples: Vec<i128>, around: &Surroundings) -> Reading<Attribution> {
        let memory = gpu.memory.as_ref().map_err(Clone::clone)?;
        let processes = gpu.processes.as_ref().map_err(Clone::clone)?;
        if around.wsl {
            return unavailable("Windows lists no processes to Linux programs", "Windows 不向 Linux 程序提供进程列表");
        }
        let samples = if samples.is_empty() { vec![sample(memory, processes)?] } else { samples };
        let least = samples.iter().copied().min().unwrap_or(0);
        let most = samples.iter().copied().max().unwrap_or(0);
        let unexplained = least.clamp(0, i128::from(memory.total)) as u64;
        let moves = most - least > i128::from(MOVES);
        let moves = moves.then_some((least, most));
        let (reason, text) = reason(gpu, processes, unexplained, moves, around);
        Ok(Attribution { unexplained, samples, reason, text })
    }
}

fn reason(
    gpu: &Gpu,
    processes: &[GpuProcess],
    unexplained: u64,
    moves: Option<(i128, i128)>,
    around: &Surroundings,
) -> (Reason, Text) {
    if unexplained < ROUNDING {
        return (
            Reason::Rounding,
            Text::new("all of it is accounted for, within rounding", "除舍入误差外，每个字节都有归属"),
        );
    }
    if gpu.mig.as_ref().is_ok_and(|mig| mig.enabled) {
        return (
            Reason::Instances,
            Text::new("memory of the MIG instances; each is accounted for by itself", "属于各 MIG 实例，分别核算"),
        );
    }
    if let Ok(node) = gpu.numa_node {
        return (
            Reason::OwnNode,
            crate::text!(
                en: "the GPU's memory is NUMA node {node} of the machine: the system's own pages and file cache may \
                     lie in it (numastat; /sys/devices/system/node/node{node}/meminfo)",
                zh: "此 GPU 的显存是机器的 NUMA 节点 {node}：系统页与文件缓存可能位于其中（numastat；\
                     /sys/devices/system/node/node{node}/meminfo）"
            ),
        );
    }
    if let Some((least, most)) = moves {
        let (least, most) = (crate::units::signed(least), crate::units::signed(most));
        return (
            Reason::Moves,
            crate::text!(
                en: "it moved between {least} and {most} within a second: a job that is not listed is at work",
                zh: "一秒内在 {least} 与 {most} 之间变化：有未列出的作业正在运行"
            ),
        );
    }
    if unexplained <= DRIVERS_OWN && (!processes.is_empty() || gpu.display == Ok(true)) {
        let display = gpu.display == Ok(true);
        let mps = processes.iter().any(|process| process.kind == Kind::Mps);
        let (en, zh) = match (display, mps) {
            (true, _) => ("the driver's structures and the display of this GPU", "驱动自身的结构以及此 GPU 的显示输出"),
            (_, true) => {
                ("the driver's structures and the MPS server's own context", "驱动自身的结构以及 MPS 服务自身的上下文")
            }
            _ => ("the driver's structures beside the listed processes", "已列出进程之外驱动自身的结构"),
        };
        return (Reason::DriversOwn, Text::new(en, zh));
    }
    if !around.host_pids {
        return (
            Reason::InvisibleProcesses,
            Text::new(
                "processes outside this container, which the driver does not show here; ask on the host (nvidia-smi) \
                 or with hostPID",
                "此容器之外的进程，驱动在这里不显示；请在宿主机上查看（nvidia-smi）或使用 hostPID",
            ),
        );
    }
    let holders = match around.holders {
        Ok(holders) => holders,
        Err(reason) => {
            let (en, zh) = (&reason.why.en, &reason.why.zh);
            return (
                Reason::OpenFilesUnseen,
                crate::text!(
                    en: "who has the GPU's device file open is not known: {en}",
                    zh: "无法得知谁打开了 GPU 设备文件：{zh}"
                ),
            );
        }
    };
    let orphans: Vec<String> = orphans(gpu, processes, holders)
        .map(|holder| {
            let name = holder.process.name.clone().unwrap_or_default();
            let state = holder.process.state.clone().map_or_else(|_| "?".to_string(), |state| state.to_string());
            format!("{} ({name}, state {state})", holder.process.pid)
        })
        .collect();
    if !orphans.is_empty() {
        let list = orphans.join(", ");
        return (
            Reason::Orphan,
            crate::text!(
                en: "not listed by the driver, yet holding the device file open: {list}; end them if they are yours \
                     (fuser -v /dev/nvidia*); one in state D is stuck in the kernel until its file system answers",
                zh: "驱动没有列出、但仍打开着设备文件的进程：{list}；若属于你，请结束它们（fuser -v /dev/nvidia*）；状\
                     态为 D 的进程卡在内核中，需等其文件系统恢复"
            ),
        );
    }
    if unexplained <= DRIVERS_OWN {
        return (
            Reason::DriversOwn,
            Text::new(
                "the driver's structures; without persistence mode they come and go with the first user",
                "驱动自身的结构；未开启 persistence mode 时会随第一个使用者出现和消失",
            ),
        );
    }
    let unseen = holders.unseen;
    if unseen > 0 {
        return (
            Reason::OpenFilesUnseen,
            crate::text!(
                en: "none of the processes that may be looked at holds it; {unseen} others may only be looked at by \
                     root: sudo oomdoc probe",
                zh: "可查看的进程都不持有；另有 {unseen} 个进程仅 root 可查看：sudo oomdoc probe"
            ),
        );
    }
    let amount = Bytes(unexplained);
    (
        Reason::Unreleased,
        crate::text!(
            en: "no process has the device open: {amount} were not released by a dead process, or the driver is at \
                 fault; an administrator can reset the GPU",
            zh: "没有进程打开该设备：{amount} 未被已死亡的进程释放，或驱动异常；可由管理员重置 GPU"
        ),
    )
}

/// Who has this GPU open without being listed.
pub fn orphans<'a>(
    gpu: &'a Gpu,
    processes: &'a [GpuProcess],
    holders: &'a Holders,
) -> impl Iterator<Item = &'a crate::host::processes::Holder> {
    holders.found.iter().filter(move |holder| {
        let here = match &gpu.minor {
            Ok(minor) => holder.minors.contains(minor),
            Err(_) => true,
        };
        // Services of the driver keep all devices open and hold nothing.
        let name = holder.process.name.clone().unwrap_or_default();
        let service = ["nvidia-persiste", "nv-hostengine", "dcgm", "nvidia-smi", "nvtop", "nvitop", "oomdoc"]
            .iter()
            .any(|service| name.starts_with(service));
        here && !service && processes.iter().all(|process| process.pid != holder.process.pid)
    })
}
