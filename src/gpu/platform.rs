//! States in which GPUs cannot be read, or only in part, and surroundings that change how their figures are to be read.

use super::{Addressing, Gpu};
use crate::domain::named_variants;
use crate::host::Root;
use crate::text::Text;

named_variants! {
    /// Why the NVIDIA driver tells nothing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Degraded {
        NoDriver = "no-driver",
        LibraryMissing = "library-missing",
        NotLoaded = "driver-not-loaded",
        NoDevice = "no-device",
        Stub = "stub-library",
        /// A program that is linked with nothing can load nothing either.
        StaticProgram = "static-program",
        VersionMismatch = "version-mismatch",
        NoPermission = "no-permission",
        GpuLost = "gpu-lost",
        ResetRequired = "reset-required",
        /// A process that only read it did not come back.
        Hangs = "driver-hangs",
        /// A process that only read it died of it.
        Crashes = "driver-crashes",
        /// Another error of `nvmlInit`.
        Failed(u32) = "nvml-failed",
    }
}

impl Degraded {
    /// What it means and what to do.
    pub fn text(self) -> Text {
        match self {
            Degraded::NoDriver => Text::new(
                "No NVIDIA driver is visible here. On a machine with GPUs this means a container that was started \
                 without them: docker run --gpus all, or the NVIDIA runtime class in Kubernetes.",
                "此处看不到 NVIDIA 驱动。若机器有 GPU，说明容器启动时没有分配 GPU：docker run --gpus all，或在 \
                 Kubernetes 中使用 NVIDIA runtime class。",
            ),
            Degraded::LibraryMissing => Text::new(
                "The NVIDIA kernel driver is loaded, but its library libnvidia-ml.so.1 is not here: add 'utility' to \
                 NVIDIA_DRIVER_CAPABILITIES of the container, or install the driver's user-space package.",
                "NVIDIA 内核驱动已加载，但缺少其库 libnvidia-ml.so.1：请在容器的 NVIDIA_DRIVER_CAPABILITIES 中加入 \
                 utility，或安装驱动的用户态软件包。",
            ),
            Degraded::NotLoaded => Text::new(
                "The NVIDIA library is installed, but the driver is not loaded: the kernel module is missing (modprobe \
                 nvidia; after a kernel update rebuild it), or /dev/nvidia* was not passed into this container.",
                "已安装 NVIDIA 库，但驱动没有加载：缺少内核模块（modprobe nvidia；升级内核后需重新编译），或 \
                 /dev/nvidia* 没有传入此容器。",
            ),
            Degraded::NoDevice => Text::new(
                "The NVIDIA driver is loaded, but shows no GPU: none is installed, or the device cgroup or \
                 NVIDIA_VISIBLE_DEVICES hides all of them from this container.",
                "NVIDIA 驱动已加载，但没有任何 GPU：机器没有 GPU，或者 device cgroup、NVIDIA_VISIBLE_DEVICES 对此容器隐\
                 藏了全部 GPU。",
            ),
            Degraded::Stub => Text::new(
                "The libnvidia-ml that was found is not a driver's: a stub of the CUDA toolkit or a broken file. Take \
                 the toolkit's lib64/stubs out of LD_LIBRARY_PATH.",
                "找到的 libnvidia-ml 不是驱动自带的：它是 CUDA 工具包的 stub 或已损坏的文件。请从 LD_LIBRARY_PATH 中移\
                 除工具包的 lib64/stubs。",
            ),
            Degraded::StaticProgram => Text::new(
                "This oomdoc is linked statically and cannot load the NVIDIA driver's library: build it for glibc, or \
                 save what nvidia-smi prints and give it with --from.",
                "此 oomdoc 为静态链接，无法加载 NVIDIA 驱动的库：请使用 glibc 构建的版本，或保存 nvidia-smi 的输出并用 \
                 --from 读取。",
            ),
            Degraded::VersionMismatch => Text::new(
                "Driver and library are of different versions, as after an upgrade without a reboot: reboot, or unload \
                 and load the nvidia kernel modules; in a container, recreate it.",
                "驱动与库的版本不一致，常见于升级驱动后没有重启：请重启机器，或重新加载 nvidia 内核模块；若在容器中，请\
                 重建容器。",
            ),
            Degraded::NoPermission => Text::new(
                "The driver refuses this user: look at the modes with ls -l /dev/nvidia*, and at the device cgroup of \
                 the container or batch job.",
                "驱动拒绝当前用户访问：请用 ls -l /dev/nvidia* 查看设备权限，并检查容器或作业的 device cgroup。",
            ),
            Degraded::GpuLost => Text::new(
                "A GPU has fallen off the bus: a hardware or Xid fault, not a shortage of memory. Look for 'Xid' in \
                 the kernel's log (dmesg | grep Xid); the machine mostly needs a power cycle.",
                "GPU 已从总线上掉线：这是硬件或 Xid 故障，而非显存不足。请在内核日志中查找 Xid（dmesg | grep Xid）；通\
                 常需要断电重启。",
            ),
            Degraded::ResetRequired => Text::new(
                "A GPU needs a reset before it can be used: a hardware or Xid fault, not a shortage of memory. Look \
                 for 'Xid' in the kernel's log; an administrator has to reset it.",
                "GPU 需要先重置才能使用：这是硬件或 Xid 故障，而非显存不足。请在内核日志中查找 Xid，并由管理员重置。",
            ),
            Degraded::Hangs => Text::new(
                "The NVIDIA driver hangs: a child process that only read it did not come back within 20 seconds. A GPU \
                 that has fallen off the bus, or a fault in the driver: look for 'Xid' and 'NVRM' in the kernel's log \
                 (dmesg | grep -E 'Xid|NVRM'); mostly the machine has to be restarted.",
                "NVIDIA 驱动没有响应：只做读取的子进程 20 秒内没有返回。可能是 GPU 已从总线上掉线或驱动故障：\
                 请在内核日志中查找 Xid 与 NVRM（dmesg | grep -E 'Xid|NVRM'）；通常需要重启机器。",
            ),
            Degraded::Crashes => Text::new(
                "The library of the NVIDIA driver crashes whoever calls it: a child process that only read it died. \
                 Driver and library may be of different builds, or the file damaged: reinstall the driver's user-space \
                 package; in a container, recreate it.",
                "NVIDIA 驱动的库会使调用者崩溃：只做读取的子进程已崩溃。可能是驱动与库的构建不一致或文件损坏：\
                 请重新安装驱动的用户态软件包；若在容器中，请重建容器。",
            ),
            Degraded::Failed(code) => crate::text!(
                en: "The NVIDIA driver could not be asked: its library answers with error {code}. Compare with what \
                     nvidia-smi says.",
                zh: "无法询问 NVIDIA 驱动：其库返回错误 {code}。请对照 nvidia-smi 的输出。"
            ),
        }
    }
}

/// A circumstance that changes how figures are to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub id: &'static str,
    pub text: Text,
}

/// True on the Windows Subsystem for Linux.
pub fn is_wsl(root: &Root) -> bool {
    root.text("proc/version").is_ok_and(|version| version.to_ascii_lowercase().contains("microsoft"))
}

/// The circumstances of a reading.
pub fn notes(root: &Root, gpus: &[Gpu], host_pids: bool, job: Option<u32>) -> Vec<Note> {
    let mut out = Vec::new();
    let mut note = |id, en: &str, zh: &str| out.push(Note { id, text: Text::new(en, zh) });
    if is_wsl(root) {
        note(
            "wsl",
            "Windows Subsystem for Linux: Windows manages the GPU's memory, lists no processes here, and may move \
             memory into RAM (slow) where Linux would report out of memory.",
            "WSL：显存由 Windows 管理，这里没有进程列表；在 Linux 会报显存不足的情况下，Windows 可能把显存换到内存（很\
             慢）。",
        );
    }
    if !gpus.is_empty() && !host_pids {
        note(
            "container",
            "This is a container: the driver names processes by the host's numbers and need not list those of other \
             containers. Run on the host, or with --pid=host (Kubernetes: hostPID), to name them.",
            "当前在容器中：驱动使用宿主机的进程号，且可能不列出其他容器的进程。请在宿主机上运行，或使用 --pid=host（\
             Kubernetes：hostPID）。",
        );
    }
    if gpus.iter().any(|gpu| gpu.memory.as_ref().is_ok_and(|memory| memory.reserved.is_none())) {
        note(
            "old-memory-call",
            "The source of these figures does not report what the driver reserves (drivers before R510, tables of \
             nvidia-smi): a few hundred MiB of 'used' may be the driver's own.",
            "该数据来源不给出驱动保留的显存（R510 之前的驱动、nvidia-smi 表格）：“已用”中可能有几百 MiB 属于驱动本身。",
        );
    }
    if gpus.iter().any(|gpu| gpu.mig.as_ref().is_ok_and(|mig| mig.enabled)) {
        note(
            "mig-parent",
            "A GPU is divided into MIG instances: its own line is their sum, each instance has a limit of its own.",
            "有 GPU 划分为 MIG 实例：GPU 本身的一行为各实例之和，每个实例有自己的上限。",
        );
    }
    if let Some(job) = job
        && !gpus.iter().any(|gpu| gpu.processes.iter().flatten().any(|process| process.pid == job))
    {
        note(
            "job-gone",
            "The process of --pid is on no GPU now: the figures below are of now, not of when it failed.",
            "--pid 指定的进程当前不在任何 GPU 上：以下内容并非其失败时刻的状态。",
        );
    }
    if on_first_gpu_too(gpus) >= 2 {
        note(
            "contexts-on-first-gpu",
            "Several processes of other GPUs also hold memory on the first: typically each rank touches CUDA before \
             torch.cuda.set_device(local_rank).",
            "多个使用其他 GPU 的进程同时占用第一块 GPU：通常是各 rank 在 torch.cuda.set_device(local_rank) \
             之前就使用了 CUDA。",
        );
    }
    out
}

/// Processes on the first GPU that are also on another.
fn on_first_gpu_too(gpus: &[Gpu]) -> usize {
    let Some((first, others)) = gpus.split_first() else { return 0 };
    let elsewhere = |pid| others.iter().any(|gpu| gpu.processes.iter().flatten().any(|process| process.pid == pid));
    first.processes.iter().flatten().filter(|process| elsewhere(process.pid)).count()
}

/// True where GPU and processor share memory, so that the host's figures decide.
pub fn is_unified(gpu: &Gpu, host_total: Option<u64>) -> bool {
    const INTEGRATED: &[&str] = &["GB10", "Orin", "Xavier", "Tegra", "Thor", "Jetson"];
    let by_name = gpu.name.as_ref().is_ok_and(|name| INTEGRATED.iter().any(|part| name.contains(part)));
    let same_size = match (&gpu.memory, host_total) {
        (Ok(memory), Some(host)) => memory.total.abs_diff(host) <= host / 10 && gpu.addressing == Ok(Addressing::Ats),
        _ => false,
    };
    by_name || same_size
}
