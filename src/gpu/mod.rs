//! GPUs of this machine: what a live probe reads of them, and what the readings mean.

pub mod amd;
pub mod attribution;
pub mod context_size;
pub mod cuda;
pub mod nvidia_smi;
mod nvidia_smi_log;
pub mod nvml;
pub mod platform;
pub mod products;
pub mod sensors;
pub mod trial;
pub mod twin;
pub mod verdict;
pub mod visibility;

use crate::domain::{closed_set, named_variants};
use crate::host::Host;
use crate::host::processes::Holders;
use crate::reading::Reading;
use crate::text::Text;
use visibility::Visibility;

/// One reading of all devices and of the host.
#[derive(Debug, Clone)]
pub struct Survey {
    pub source: Source,
    pub driver: Driver,
    pub gpus: Vec<Gpu>,
    /// Why no NVIDIA GPU, or only a part, could be read.
    pub degraded: Option<platform::Degraded>,
    /// GPUs of other makers.
    pub others: Vec<amd::Other>,
    pub host: Host,
    pub visibility: Visibility,
    /// Who has device files of GPUs open.
    pub holders: Reading<Holders>,
    /// Process ids of the driver are also `/proc`'s.
    pub host_pids: bool,
    /// Circumstances that change how figures are to be read.
    pub notes: Vec<platform::Note>,
}

named_variants! {
    /// Who told about the GPUs.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Source {
        Nvml = "nvml",
        /// `nvidia-smi`, because NVML could not be loaded.
        NvidiaSmi = "nvidia-smi",
        /// A file with the output of `nvidia-smi`.
        File(String) = "file",
        /// Nobody.
        None = "none",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    pub version: Reading<String>,
    pub nvml: Reading<String>,
    /// Newest CUDA version that the driver supports, such as `13.0`.
    pub cuda: Reading<String>,
}

/// One GPU, or one instance of a GPU that is divided into several.
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    /// As NVML and `nvidia-smi` count.
    pub index: u32,
    pub uuid: Reading<String>,
    pub name: Reading<String>,
    /// Such as `00000000:3B:00.0`.
    pub pci: Reading<String>,
    /// The N of `/dev/nvidiaN`.
    pub minor: Reading<u32>,
    pub memory: Reading<Memory>,
    pub processes: Reading<Vec<GpuProcess>>,
    pub attribution: Reading<attribution::Attribution>,
    pub mig: Reading<Mig>,
    pub ecc: Reading<Ecc>,
    pub remapped: Reading<RemappedRows>,
    pub bar1: Reading<Window>,
    pub compute_mode: Reading<ComputeMode>,
    pub persistence: Reading<bool>,
    pub display: Reading<bool>,
    pub virtualization: Reading<Virtualization>,
    pub addressing: Reading<Addressing>,
    /// NUMA node of the GPU's own memory, on machines where that is one.
    pub numa_node: Reading<u32>,
    pub throttling: Reading<Vec<Throttle>>,
    /// Percent of the last sampling period in which a kernel ran.
    pub utilization: Reading<u32>,
    pub sensors: sensors::Sensors,
    /// Streaming multiprocessors.
    pub multiprocessors: Reading<u32>,
    /// Free memory as CUDA offers it, its own context counted as free; a limit may make it smaller than the driver's
    /// figure.
    pub cuda_free: Reading<u64>,
}

/// Device memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub total: u64,
    /// Kept by driver and firmware; unknown to drivers without the second version of the call.
    pub reserved: Option<u64>,
    /// As the driver prints it.
    pub used: u64,
    pub free: u64,
    /// Whether `used` holds `reserved`.
    pub identity: Identity,
}

/// How the driver's figures add up. Sources disagree on whether `used` holds `reserved`, so it is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// total = used + reserved + free
    Excludes,
    /// total = used + free
    Includes,
    /// Neither, by this many bytes of the first.
    Unclear(i128),
}

/// Figures that differ by no more than this agree.
const AGREES: i128 = 4 << 20;

impl Memory {
    /// # Errors
    /// Where the figures cannot be a device's: a total of 0, or parts larger than the whole.
    pub fn new(total: u64, reserved: Option<u64>, used: u64, free: u64) -> Reading<Memory> {
        let kept = reserved.unwrap_or(0);
        if total == 0 || total > 1 << 50 || free > total || used > total || kept > total - free {
            return Err(crate::text!(
                en: "the driver's figures cannot be: total {total}, reserved {kept}, used {used}, free {free} bytes",
                zh: "驱动给出的数值不可能成立：总量 {total}、保留 {kept}、已用 {used}、空闲 {free} 字节"
            )
            .into());
        }
        let beyond = i128::from(used) + i128::from(free) - i128::from(total);
        let excess = beyond + i128::from(kept);
        let identity = if excess.abs() <= AGREES {
            Identity::Excludes
        } else if beyond.abs() <= AGREES {
            Identity::Includes
        } else {
            Identity::Unclear(excess)
        };
        Ok(Memory { total, reserved, used, free, identity })
    }

    /// What programs hold: total − free − reserved, right in both readings of `used`.
    pub fn allocated(&self) -> u64 {
        self.total.saturating_sub(self.free).saturating_sub(self.reserved.unwrap_or(0))
    }
}

/// A process that the driver names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuProcess {
    /// The host's number, also where a container numbers its processes differently.
    pub pid: u32,
    pub bytes: Reading<u64>,
    /// Percent of the last second in which a kernel of it ran.
    pub busy: Reading<u32>,
    pub kind: Kind,
    /// The GPU instance of a divided GPU.
    pub instance: Option<u32>,
    /// Who it is, where `/proc` can tell.
    pub process: Reading<crate::host::processes::Process>,
    /// A name that the source of the readings gave.
    pub told_name: Option<String>,
    /// `CUDA_MPS_PINNED_DEVICE_MEM_LIMIT` of its environment.
    pub mps_limit: Option<String>,
    /// `CUDA_VISIBLE_DEVICES` of its environment; `None` = not set.
    pub visible_devices: Reading<Option<String>>,
}

impl GpuProcess {
    /// The best name that is known.
    pub fn name(&self) -> Reading<String> {
        match (&self.process, &self.told_name) {
            (Ok(process), _) if process.name.is_ok() => process.name.clone(),
            (_, Some(name)) => Ok(name.clone()),
            (Ok(process), None) => process.name.clone(),
            (Err(reason), None) => Err(reason.clone()),
        }
    }
}

closed_set! {
    pub enum Kind {
        Compute = "compute",
        Graphics = "graphics",
        /// A client of the multi-process service.
        Mps = "mps",
        Unknown = "unknown",
    }
}

/// Division of a GPU into instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Mig {
    pub enabled: bool,
    pub instances: Vec<Instance>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub uuid: Reading<String>,
    pub name: Reading<String>,
    pub gpu_instance: Reading<u32>,
    pub memory: Reading<Memory>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ecc {
    pub enabled: bool,
    /// Since the driver was loaded.
    pub volatile_uncorrected: Reading<u64>,
    pub aggregate_uncorrected: Reading<u64>,
}

/// Rows of the memory that were replaced by spare ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemappedRows {
    pub correctable: u32,
    pub uncorrectable: u32,
    /// Takes effect after a reset.
    pub pending: bool,
    pub failed: bool,
}

/// BAR1, the window through which others reach the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub total: u64,
    pub used: u64,
}

closed_set! {
    pub enum ComputeMode {
        Default = "default",
        ExclusiveThread = "exclusive-thread",
        Prohibited = "prohibited",
        ExclusiveProcess = "exclusive-process",
    }
}

closed_set! {
    pub enum Virtualization {
        None = "none",
        PassThrough = "pass-through",
        /// A slice of a GPU in a virtual machine.
        VGpu = "vgpu",
        Host = "host",
    }
}

closed_set! {
    /// Whether ordinary host memory can be addressed by the GPU.
    pub enum Addressing {
        None = "none",
        Hmm = "hmm",
        Ats = "ats",
    }
}

closed_set! {
    /// Why clocks are lower than asked for.
    pub enum Throttle {
        PowerCap = "power-cap",
        HardwareSlowdown = "hardware-slowdown",
        Thermal = "thermal",
        HardwareThermal = "hardware-thermal",
        PowerBrake = "power-brake",
    }
}

impl Throttle {
    pub fn text(self) -> Text {
        match self {
            Throttle::PowerCap => Text::new("power limit reached", "达到功耗上限"),
            Throttle::HardwareSlowdown => Text::new("slowed down by the hardware", "硬件降频"),
            Throttle::Thermal => Text::new("too hot (software limit)", "温度过高（软件限制）"),
            Throttle::HardwareThermal => Text::new("too hot (hardware limit)", "温度过高（硬件限制）"),
            Throttle::PowerBrake => Text::new("power brake of the machine", "整机电源制动"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::MIB;

    #[test]
    fn whether_used_holds_reserved_is_computed() {
        let both = |reserved, used, free| Memory::new(81559 * MIB, Some(reserved * MIB), used * MIB, free * MIB);
        assert_eq!(both(559, 7, 80993).map(|memory| memory.identity), Ok(Identity::Excludes));
        assert_eq!(both(559, 566, 80993).map(|memory| memory.identity), Ok(Identity::Includes));
        assert_eq!(both(559, 566, 80993).map(|memory| memory.allocated()), Ok(7 * MIB));
        assert!(matches!(both(559, 300, 80993).map(|memory| memory.identity), Ok(Identity::Unclear(_))));
        assert!(Memory::new(0, None, 0, 0).is_err() && Memory::new(10, None, 0, 11).is_err());
        assert!(Memory::new(u64::MAX, Some(u64::MAX), u64::MAX, u64::MAX).is_err());
    }
}
