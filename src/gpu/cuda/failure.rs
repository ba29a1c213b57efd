//! Why a reading of the CUDA level could not be taken.

use crate::text;
use crate::text::Text;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The reason in the place of a value. It crosses the pipe from the child, so it carries data and no wording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Failure {
    /// A call returned this code. Codes that this program has no name for stay integers.
    Code { call: String, code: i32 },
    /// The driver is older than the call.
    MissingSymbol { call: String },
    /// No libcuda on the library path.
    NoLibrary,
    /// `cuInit` returned 34: the libcuda found is a toolkit's stub for linking.
    StubLibrary,
    /// The device asked for is not among those that CUDA shows.
    NoSuchDevice { wanted: String, visible: u32 },
    /// The step belongs to a level that was not asked for.
    NotAsked { flag: String },
    /// The step would not leave the margin.
    TooLittleFree { free: u64, margin: u64 },
    /// The time limit ended the step.
    TimeUp { seconds: u64 },
    /// The step was left out or ended because memory changed that this process had not touched.
    OthersMoved { before: u64, after: u64 },
    /// The step ended because what was to stay free was being used by others.
    MarginUsed { free: u64, margin: u64 },
    /// At a scale that fits the device the arithmetic gives another answer.
    NotScalable,
    /// The step cannot be done on this device: a virtual GPU slice, unified memory, no virtual memory management.
    Unsuitable { property: Property },
    /// A call succeeded and gave something that cannot be.
    Implausible { what: String },
    /// The probe's process ended before the step was done.
    Died { during: Step, how: Ending },
    /// An earlier step ended the probe.
    NotReached,
    /// The probe's process could not be started.
    NotStarted { error: String },
}

/// How the child ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "kebab-case")]
pub enum Ending {
    Signal {
        signal: i32,
    },
    Exit {
        code: i32,
    },
    /// Stopped by its parent: time, a guard's objection, or an interrupt.
    Killed {
        seconds: u64,
    },
    Stopped {
        why: Objection,
    },
}

/// Why the parent stops a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "objection", rename_all = "kebab-case")]
pub enum Objection {
    /// A process that was not there before uses the device; its number as the driver tells it.
    Came { pid: u32 },
    /// Less than half of the margin is free.
    LittleLeft { free: u64 },
}

impl Objection {
    fn text(self) -> Text {
        match self {
            Objection::Came { pid } => {
                text!(en: "process {pid} came to the GPU", zh: "进程 {pid} 开始使用此 GPU")
            }
            Objection::LittleLeft { free } => {
                let free = Bytes(free);
                text!(
                    en: "only {free} were left free, so others are taking memory",
                    zh: "仅剩 {free} 空闲，说明有其他进程在占用显存"
                )
            }
        }
    }
}

/// What the child is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    Start,
    Driver,
    Device,
    Context,
    Granularity,
    Bandwidth,
    MemoryCheck,
    Latencies,
    Largest,
    Experiment,
}

impl Step {
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Step::Start => ("the start", "启动"),
            Step::Driver => ("the loading of the driver", "加载驱动"),
            Step::Device => ("the look at the device", "查看设备"),
            Step::Context => ("the creation of the context", "创建上下文"),
            Step::Granularity => ("the query of the granularity", "查询分配粒度"),
            Step::Bandwidth => ("the measurement of the bandwidth", "测量带宽"),
            Step::MemoryCheck => ("the check of the memory", "检查显存"),
            Step::Latencies => ("the timing of allocations", "测量分配耗时"),
            Step::Largest => ("the search for the largest block", "查找最大块"),
            Step::Experiment => ("the fragmentation experiment", "碎片化实验"),
        }
    }
}

/// A property of a device on which a step would harm or prove nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// Its memory is the machine's: filling it would invite the kernel's out-of-memory killer.
    Integrated,
    /// No `cuMemCreate` and its kin (attribute 102).
    NoVirtualMemory,
    /// Windows or WSL: the driver swaps to host memory instead of failing.
    SpillsToHost,
    /// CUDA's multi-process service shares the device.
    MultiProcessService,
    /// The processor addresses the device's memory as its own (GH200, GB200): filling it takes the system's pages.
    Coherent,
    /// A virtual GPU: a slice of a board whose other slices are not visible here.
    VirtualSlice,
}

impl Failure {
    pub fn code(call: &str, code: i32) -> Failure {
        Failure::Code { call: call.to_string(), code }
    }

    /// True for CUDA's own answer that memory does not suffice, which several steps ask for.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Failure::Code { code: 2, .. })
    }

    /// One sentence for the report.
    pub fn text(&self) -> Text {
        match self {
            Failure::Code { call, code } => {
                let name = code_name(*code).unwrap_or("unknown code");
                let mut text = text!(en: "{call} returned {code} ({name})", zh: "{call} 返回 {code}（{name}）");
                if let Some(hint) = code_hint(*code) {
                    text.en.push_str(&format!(": {}", hint.en));
                    text.zh.push_str(&format!("：{}", hint.zh));
                }
                text
            }
            Failure::MissingSymbol { call } => {
                text!(en: "this driver has no {call}: it is older than the call", zh: "此驱动没有 {call}：驱动版本过旧")
            }
            Failure::NoLibrary => {
                text!(
                    en: "no libcuda on the library path: no NVIDIA driver here, or a container started without GPU \
                         access",
                    zh: "库路径上没有 libcuda：没有 NVIDIA 驱动，或容器启动时未挂载 GPU"
                )
            }
            Failure::StubLibrary => {
                text!(
                    en: "the libcuda found is a toolkit's stub, meant for linking (error 34): take the toolkit's \
                         `stubs` folder out of LD_LIBRARY_PATH",
                    zh: "找到的 libcuda 是工具包用于链接的 stub（错误 34）：请从 LD_LIBRARY_PATH 中去掉工具包的 \
                         `stubs` 目录"
                )
            }
            Failure::NoSuchDevice { wanted, visible } => {
                text!(
                    en: "CUDA shows {visible} device(s), and {wanted} is not among them; see CUDA_VISIBLE_DEVICES",
                    zh: "CUDA 可见设备 {visible} 个，其中没有 {wanted}；请检查 CUDA_VISIBLE_DEVICES"
                )
            }
            Failure::NotAsked { flag } => text!(en: "not asked for; {flag} does", zh: "未要求；可加 {flag}"),
            Failure::TooLittleFree { free, margin } => {
                let (free, margin) = (Bytes(*free), Bytes(*margin));
                text!(
                    en: "only {free} are free, and {margin} are always left to others",
                    zh: "仅空闲 {free}，而始终要为其他进程留出 {margin}"
                )
            }
            Failure::TimeUp { seconds } => {
                text!(en: "not done within the time limit of {seconds} s", zh: "未能在 {seconds} 秒的时限内完成")
            }
            Failure::OthersMoved { before, after } => {
                let (before, after) = (Bytes(*before), Bytes(*after));
                text!(
                    en: "another process came: free memory went from {before} to {after} meanwhile",
                    zh: "期间有其他进程介入：空闲显存从 {before} 变为 {after}"
                )
            }
            Failure::MarginUsed { free, margin } => {
                let (free, margin) = (Bytes(*free), Bytes(*margin));
                text!(
                    en: "stopped, since somebody else took memory meanwhile: only {free} were free, and {margin} are \
                         always left to others",
                    zh: "已停止：期间有其他进程占用显存，仅剩 {free} 空闲，而始终要为其他进程留出 {margin}"
                )
            }
            Failure::NotScalable => {
                text!(
                    en: "the state does not fit this device, and at any scale that fits the arithmetic gives another \
                         answer",
                    zh: "该状态放不进此设备，而缩小到放得下的比例后推算结论会改变"
                )
            }
            Failure::Unsuitable { property } => property.text(),
            Failure::Implausible { what } => text!(en: "implausible answer: {what}", zh: "结果不合理：{what}"),
            Failure::Died { during, how } => {
                let (during, zh_during) = during.text();
                match how {
                    Ending::Signal { signal } => {
                        text!(
                            en: "the probe's own process died of signal {signal} during {during}; nothing else was \
                                 harmed",
                            zh: "探测子进程在“{zh_during}”期间因信号 {signal} 终止；未影响其他进程"
                        )
                    }
                    Ending::Exit { code } => {
                        text!(
                            en: "the probe's own process ended with code {code} during {during}",
                            zh: "探测子进程在“{zh_during}”期间以代码 {code} 退出"
                        )
                    }
                    Ending::Killed { seconds } => {
                        text!(
                            en: "no answer within {seconds} s: the probe's own process was stopped during {during}",
                            zh: "{seconds} 秒内没有响应：探测子进程在“{zh_during}”期间被停止"
                        )
                    }
                    Ending::Stopped { why } => {
                        let why = why.text();
                        Text::new(
                            format!("stopped during {during}: {}", why.en),
                            format!("在“{zh_during}”期间停止：{}", why.zh),
                        )
                    }
                }
            }
            Failure::NotReached => text!(en: "an earlier step ended the probe", zh: "探测在更早的步骤已结束"),
            Failure::NotStarted { error } => {
                text!(en: "the probe's process could not be started: {error}", zh: "无法启动探测子进程：{error}")
            }
        }
    }
}

impl Property {
    fn text(self) -> Text {
        match self {
            Property::Integrated => {
                text!(
                    en: "the device's memory is the machine's: filling it would make the kernel kill processes",
                    zh: "显存就是系统内存：填满会触发内核 OOM killer"
                )
            }
            Property::NoVirtualMemory => {
                text!(
                    en: "the device has no virtual memory management (attribute 102 is 0)",
                    zh: "设备不支持虚拟内存管理（属性 102 为 0）"
                )
            }
            Property::SpillsToHost => {
                text!(
                    en: "on Windows and WSL the driver spills to host memory instead of failing",
                    zh: "在 Windows 与 WSL 上驱动会溢出到主机内存而不报错"
                )
            }
            Property::MultiProcessService => {
                text!(en: "the device is shared through CUDA's multi-process service", zh: "设备通过 CUDA MPS 共享")
            }
            Property::Coherent => {
                text!(
                    en: "the device's memory is part of the machine's (a NUMA node of its own): filling it would take \
                         the system's pages",
                    zh: "显存是机器内存的一部分（独立 NUMA 节点）：填满会占用系统页"
                )
            }
            Property::VirtualSlice => {
                text!(
                    en: "a virtual GPU is a slice of a board that others use, unseen from here: it is never filled",
                    zh: "vGPU 只是显卡的一部分，其余部分的使用者在此不可见：从不填充"
                )
            }
        }
    }
}

impl From<Failure> for crate::reading::Unavailable {
    fn from(failure: Failure) -> Self {
        failure.text().into()
    }
}

/// The name of a code of the driver API (`cuda.h`), for those that a probe can meet.
pub fn code_name(code: i32) -> Option<&'static str> {
    Some(match code {
        0 => "CUDA_SUCCESS",
        1 => "CUDA_ERROR_INVALID_VALUE",
        2 => "CUDA_ERROR_OUT_OF_MEMORY",
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        4 => "CUDA_ERROR_DEINITIALIZED",
        34 => "CUDA_ERROR_STUB_LIBRARY",
        46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
        100 => "CUDA_ERROR_NO_DEVICE",
        101 => "CUDA_ERROR_INVALID_DEVICE",
        102 => "CUDA_ERROR_DEVICE_NOT_LICENSED",
        200 => "CUDA_ERROR_INVALID_IMAGE",
        201 => "CUDA_ERROR_INVALID_CONTEXT",
        205 => "CUDA_ERROR_MAP_FAILED",
        206 => "CUDA_ERROR_UNMAP_FAILED",
        209 => "CUDA_ERROR_NO_BINARY_FOR_GPU",
        214 => "CUDA_ERROR_ECC_UNCORRECTABLE",
        218 => "CUDA_ERROR_INVALID_PTX",
        220 => "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        221 => "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
        222 => "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        223 => "CUDA_ERROR_JIT_COMPILATION_DISABLED",
        226 => "CUDA_ERROR_CONTAINED",
        304 => "CUDA_ERROR_OPERATING_SYSTEM",
        400 => "CUDA_ERROR_INVALID_HANDLE",
        401 => "CUDA_ERROR_ILLEGAL_STATE",
        500 => "CUDA_ERROR_NOT_FOUND",
        600 => "CUDA_ERROR_NOT_READY",
        700 => "CUDA_ERROR_ILLEGAL_ADDRESS",
        701 => "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        702 => "CUDA_ERROR_LAUNCH_TIMEOUT",
        709 => "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        716 => "CUDA_ERROR_MISALIGNED_ADDRESS",
        718 => "CUDA_ERROR_INVALID_PC",
        719 => "CUDA_ERROR_LAUNCH_FAILED",
        800 => "CUDA_ERROR_NOT_PERMITTED",
        801 => "CUDA_ERROR_NOT_SUPPORTED",
        802 => "CUDA_ERROR_SYSTEM_NOT_READY",
        803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        805 => "CUDA_ERROR_MPS_CONNECTION_FAILED",
        806 => "CUDA_ERROR_MPS_RPC_FAILURE",
        807 => "CUDA_ERROR_MPS_SERVER_NOT_READY",
        808 => "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
        809 => "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
        810 => "CUDA_ERROR_MPS_CLIENT_TERMINATED",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => return None,
    })
}

/// What a code means for somebody who looks for memory.
fn code_hint(code: i32) -> Option<Text> {
    Some(match code {
        46 => Text::new("the device is in exclusive or prohibited compute mode", "设备处于独占或禁止计算模式"),
        100 => Text::new(
            "the driver is there and shows no device; see CUDA_VISIBLE_DEVICES and the container's devices",
            "驱动存在但没有可见设备；请检查 CUDA_VISIBLE_DEVICES 与容器设备",
        ),
        101 => Text::new(
            "no device of that number is visible; see CUDA_VISIBLE_DEVICES",
            "没有该编号的可见设备；请检查 CUDA_VISIBLE_DEVICES",
        ),
        304 | 999 => Text::new(
            "usually a device file that cannot be opened (ls -l /dev/nvidia*, nvidia-uvm among them), or a driver that \
             needs a reboot",
            "通常是设备文件无法打开（检查 ls -l /dev/nvidia*，包括 nvidia-uvm），或驱动需要重启",
        ),
        802 => Text::new(
            "the system is not ready: on machines with NVSwitch usually the fabric manager is not running",
            "系统未就绪：带 NVSwitch 的机器通常是 fabric manager 没有运行",
        ),
        804 => Text::new(
            "the CUDA compatibility package in use does not serve this device: take its folder out of LD_LIBRARY_PATH",
            "所用的 CUDA 兼容包不支持此设备：请从 LD_LIBRARY_PATH 中移除其目录",
        ),
        214 | 226 => Text::new("a memory fault of the hardware, no lack of memory", "硬件显存故障，并非显存不足"),
        222 => Text::new("the probe's kernels are newer than the driver", "探测内核的 PTX 比驱动新"),
        803 => Text::new(
            "library and kernel module of the driver differ in version: reload the module or reboot",
            "驱动库与内核模块版本不一致：请重新加载模块或重启",
        ),
        805..=810 => Text::new("CUDA's multi-process service refused", "CUDA MPS 拒绝"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_without_a_name_is_told_as_its_number() {
        let text = Failure::code("cuInit", 4711).text();
        assert!(text.en.contains("4711") && text.zh.contains("4711"), "{}", text.en);
        assert!(Failure::code("cuMemAlloc", 2).text().en.contains("CUDA_ERROR_OUT_OF_MEMORY"));
    }

    #[test]
    fn reasons_survive_the_pipe() {
        for failure in [
            Failure::code("cuInit", 999),
            Failure::NoLibrary,
            Failure::Died { during: Step::Context, how: Ending::Signal { signal: 11 } },
            Failure::Died { during: Step::Largest, how: Ending::Stopped { why: Objection::Came { pid: 7 } } },
            Failure::Unsuitable { property: Property::Integrated },
        ] {
            let line = serde_json::to_string(&failure).unwrap_or_default();
            assert_eq!(serde_json::from_str::<Failure>(&line).ok(), Some(failure), "{line}");
        }
    }
}
