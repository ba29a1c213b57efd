//! Readings of the NVIDIA driver through its management library, loaded at run time. It creates no CUDA context and
//! changes nothing.
//!
//! Each function is looked up by its name when it is called: an older driver lacks some of them, and what a call
//! returned has to be known exactly to say why a reading is missing. The bindings give the types; their own table of
//! several hundred functions would be the largest function of the program, 130 KB for the forty that are called.

#![allow(unsafe_code, reason = "NVML is a C library")]

use super::platform::Degraded;
use super::sensors::{FASTEST, FASTEST_FAN, HOTTEST, MOST_POWER, Sensors, possible};
use super::*;
use crate::order::InOrder;
use crate::reading::{Unavailable as Unread, unavailable};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper_sys::bindings as raw;
use std::ffi::{CStr, c_char, c_uint};
use std::mem::ManuallyDrop;

/// `NVML_ERROR_INSUFFICIENT_SIZE`.
const TOO_SMALL: u32 = 7;
/// `NVML_ERROR_FUNCTION_NOT_FOUND`, also used for a symbol that the library lacks.
const NO_FUNCTION: u32 = 13;
/// `NVML_VALUE_NOT_AVAILABLE` of 64-bit values.
const NOT_AVAILABLE: u64 = u64::MAX;
/// Neither GPUs of a machine nor processes on one are more; what a broken library says beyond is cut.
const MOST_GPUS: u32 = 256;
const MOST_PROCESSES: usize = 1 << 14;
const MOST_INSTANCES: u32 = 64;
/// Microseconds that samples of processes may be old.
const SAMPLED: u64 = 1_000_000;

/// What a call returned where it did not succeed (`nvmlReturn_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fault(u32);

impl Fault {
    fn of(self, call: &str) -> Unread {
        let (en, zh) = match self.0 {
            1 => ("the library is not initialised", "库未初始化"),
            2 => ("the driver does not know this argument", "驱动不认识该参数"),
            3 => ("not supported on this GPU", "此 GPU 不支持"),
            4 => ("no permission", "没有权限"),
            6 => ("not found", "未找到"),
            TOO_SMALL => ("the answer kept growing while it was read", "读取期间结果不断变大"),
            9 => ("the driver is not loaded", "驱动未加载"),
            10 => ("the driver timed out", "驱动超时"),
            12 => ("a library is missing", "缺少依赖库"),
            NO_FUNCTION => ("this driver is too old for it", "驱动版本过旧，没有该接口"),
            14 => ("the GPU's information memory is corrupted", "GPU 的 infoROM 已损坏"),
            15 => ("the GPU is lost: it has fallen off the bus", "GPU 已丢失：从总线上掉线"),
            16 => ("the GPU needs a reset", "GPU 需要重置"),
            17 => ("the operating system refused", "操作系统拒绝"),
            18 => ("driver and library are of different versions", "驱动与库版本不一致"),
            20 => ("out of memory in the driver", "驱动内部内存不足"),
            21 => ("no data", "没有数据"),
            25 => ("the library does not know this version of the structure", "库不支持该版本的结构体"),
            999 => ("an unknown error of the driver", "驱动返回未知错误"),
            _ => ("an error code that is not documented", "未记录的错误码"),
        };
        let code = self.0;
        crate::text!(en: "{en} ({call}: NVML error {code})", zh: "{zh}（{call}：NVML 错误 {code}）").into()
    }
}

/// Calls a function of the library; a missing symbol is a fault like any other.
macro_rules! ask {
    ($library:expr, $call:ident($($argument:expr),*)) => {
        match $library.function(stringify!($call), |table| &table.$call) {
            // SAFETY: the arguments are live pointers to what NVML declares for this function.
            Some(function) => match unsafe { function($($argument),*) } {
                0 => Ok(()),
                code => Err(Fault(code)),
            },
            None => Err(Fault(NO_FUNCTION)),
        }
    };
}

/// The loaded library. It is neither shut down nor unloaded: the process ends.
pub struct Library {
    loaded: ManuallyDrop<libloading::Library>,
}

impl Library {
    /// # Errors
    /// The state that the driver is in where nothing can be read.
    pub fn open(root: &crate::host::Root) -> Result<Library, Degraded> {
        if cfg!(all(unix, target_feature = "crt-static")) {
            return Err(Degraded::StaticProgram);
        }
        for path in ["libnvidia-ml.so.1", "libnvidia-ml.so", "/usr/lib/wsl/lib/libnvidia-ml.so.1", "nvml.dll"] {
            let on_windows = path.ends_with(".dll");
            if on_windows != cfg!(windows) {
                continue;
            }
            // SAFETY: what the driver's own library does when it is loaded is the driver's business; a child has loaded
            // it before.
            match unsafe { libloading::Library::new(path) } {
                Ok(library) => {
                    let library = Library { loaded: ManuallyDrop::new(library) };
                    return match ask!(library, nvmlInit_v2()) {
                        Ok(()) => Ok(library),
                        Err(fault) => Err(state(NvmlError::from(fault.0))),
                    };
                }
                Err(error) => {
                    // A file that is there and is no library is more telling than one that is missing.
                    let message = error.to_string();
                    if !message.contains("No such file") && !message.contains("cannot open shared object file") {
                        return Err(Degraded::Stub);
                    }
                }
            }
        }
        Err(if root.exists("proc/driver/nvidia/version") { Degraded::LibraryMissing } else { Degraded::NoDriver })
    }

    /// A function of the library by its name. `like` shows the compiler the type that the bindings give it, and is
    /// never called.
    fn function<F: Copy, E>(&self, name: &str, like: fn(&raw::NvmlLib) -> &Result<F, E>) -> Option<F> {
        let _ = like;
        // SAFETY: the type is the one that the bindings, made from NVML's own header, give the function of this name.
        unsafe { self.loaded.get::<F>(name.as_bytes()) }.ok().map(|symbol| *symbol)
    }

    pub fn driver(&self) -> Driver {
        let mut cuda = 0;
        let cuda = ask!(self, nvmlSystemGetCudaDriverVersion_v2(&mut cuda))
            .map(|()| format!("{}.{}", cuda / 1000, cuda % 1000 / 10));
        Driver {
            version: text("nvmlSystemGetDriverVersion", |buffer, size| {
                ask!(self, nvmlSystemGetDriverVersion(buffer, size))
            }),
            nvml: text("nvmlSystemGetNVMLVersion", |buffer, size| ask!(self, nvmlSystemGetNVMLVersion(buffer, size))),
            cuda: cuda.map_err(|fault| fault.of("nvmlSystemGetCudaDriverVersion")),
        }
    }

    /// All GPUs that the driver shows.
    ///
    /// # Errors
    /// The state in which not even their number can be read, or in which there are none.
    pub fn gpus(&self) -> Result<Vec<Gpu>, Degraded> {
        let mut count: c_uint = 0;
        let counted = ask!(self, nvmlDeviceGetCount_v2(&mut count)).or_else(|fault| {
            if fault.0 == NO_FUNCTION { ask!(self, nvmlDeviceGetCount(&mut count)) } else { Err(fault) }
        });
        if let Err(fault) = counted {
            return Err(state(NvmlError::from(fault.0)));
        }
        if count == 0 {
            return Err(Degraded::NoDevice);
        }
        Ok((0..count.min(MOST_GPUS)).map(|index| self.gpu(index)).collect())
    }

    fn handle(&self, index: u32) -> Result<raw::nvmlDevice_t, Unread> {
        let mut handle: raw::nvmlDevice_t = std::ptr::null_mut();
        ask!(self, nvmlDeviceGetHandleByIndex_v2(index, &mut handle))
            .or_else(|fault| match fault.0 {
                NO_FUNCTION => ask!(self, nvmlDeviceGetHandleByIndex(index, &mut handle)),
                _ => Err(fault),
            })
            .map_err(|fault| fault.of("nvmlDeviceGetHandleByIndex"))?;
        if handle.is_null() {
            return unavailable("the driver gave no handle for this GPU", "驱动没有给出此 GPU 的句柄");
        }
        Ok(handle)
    }

    fn gpu(&self, index: u32) -> Gpu {
        match self.handle(index) {
            Ok(handle) => self.read(index, handle),
            Err(reason) => Gpu::unread(index, &reason),
        }
    }

    fn read(&self, index: u32, gpu: raw::nvmlDevice_t) -> Gpu {
        let number = |call: &str, read: &dyn Fn(&mut c_uint) -> Result<(), Fault>| -> Reading<u32> {
            let mut value = 0;
            read(&mut value).map(|()| value).map_err(|fault| fault.of(call))
        };
        let flag = |call: &str, read: &dyn Fn(&mut c_uint) -> Result<(), Fault>| -> Reading<bool> {
            match number(call, read)? {
                0 => Ok(false),
                1 => Ok(true),
                other => unknown(call, other),
            }
        };
        let rates = self.rates(gpu);
        Gpu {
            index,
            uuid: self.uuid(gpu),
            name: self.name(gpu),
            pci: self.pci(gpu),
            minor: number("nvmlDeviceGetMinorNumber", &|value| ask!(self, nvmlDeviceGetMinorNumber(gpu, value))),
            memory: self.memory(gpu),
            processes: self.processes(gpu),
            attribution: unavailable("not computed yet", "尚未计算"),
            mig: self.mig(gpu),
            ecc: self.ecc(gpu),
            remapped: self.remapped(gpu),
            bar1: self.bar1(gpu),
            compute_mode: number("nvmlDeviceGetComputeMode", &|value| ask!(self, nvmlDeviceGetComputeMode(gpu, value)))
                .and_then(|mode| match mode {
                    0 => Ok(ComputeMode::Default),
                    1 => Ok(ComputeMode::ExclusiveThread),
                    2 => Ok(ComputeMode::Prohibited),
                    3 => Ok(ComputeMode::ExclusiveProcess),
                    other => unknown("nvmlDeviceGetComputeMode", other),
                }),
            persistence: flag("nvmlDeviceGetPersistenceMode", &|value| {
                ask!(self, nvmlDeviceGetPersistenceMode(gpu, value))
            }),
            display: flag("nvmlDeviceGetDisplayActive", &|value| ask!(self, nvmlDeviceGetDisplayActive(gpu, value))),
            virtualization: number("nvmlDeviceGetVirtualizationMode", &|value| {
                ask!(self, nvmlDeviceGetVirtualizationMode(gpu, value))
            })
            .and_then(|mode| match mode {
                0 => Ok(Virtualization::None),
                1 => Ok(Virtualization::PassThrough),
                2 => Ok(Virtualization::VGpu),
                3 | 4 => Ok(Virtualization::Host),
                other => unknown("nvmlDeviceGetVirtualizationMode", other),
            }),
            addressing: self.addressing(gpu),
            numa_node: number("nvmlDeviceGetNumaNodeId", &|value| ask!(self, nvmlDeviceGetNumaNodeId(gpu, value)))
                .and_then(|node| if node < 4096 { Ok(node) } else { unknown("nvmlDeviceGetNumaNodeId", node) }),
            throttling: self.throttling(gpu),
            utilization: rates.clone().and_then(|rates| possible(rates.gpu, 100)),
            sensors: self.sensors(gpu, rates),
            multiprocessors: self.multiprocessors(gpu),
            cuda_free: unavailable("not asked", "未读取"),
        }
    }

    fn uuid(&self, gpu: raw::nvmlDevice_t) -> Reading<String> {
        text("nvmlDeviceGetUUID", |buffer, size| ask!(self, nvmlDeviceGetUUID(gpu, buffer, size)))
    }

    fn name(&self, gpu: raw::nvmlDevice_t) -> Reading<String> {
        text("nvmlDeviceGetName", |buffer, size| ask!(self, nvmlDeviceGetName(gpu, buffer, size)))
    }

    fn pci(&self, gpu: raw::nvmlDevice_t) -> Reading<String> {
        let mut pci = raw::nvmlPciInfo_t {
            busIdLegacy: [0; 16],
            domain: 0,
            bus: 0,
            device: 0,
            pciDeviceId: 0,
            pciSubSystemId: 0,
            busId: [0; 32],
        };
        ask!(self, nvmlDeviceGetPciInfo_v3(gpu, &mut pci))
            .map(|()| format!("{:08X}:{:02X}:{:02X}.0", pci.domain, pci.bus & 0xff, pci.device & 0xff))
            .map_err(|fault| fault.of("nvmlDeviceGetPciInfo"))
    }

    /// The second version of the call, which tells what is reserved, else the first.
    fn memory(&self, gpu: raw::nvmlDevice_t) -> Reading<Memory> {
        let mut memory = raw::nvmlMemory_v2_t {
            version: size_of::<raw::nvmlMemory_v2_t>() as c_uint | 2 << 24,
            total: 0,
            reserved: 0,
            free: 0,
            used: 0,
        };
        match ask!(self, nvmlDeviceGetMemoryInfo_v2(gpu, &mut memory)) {
            Ok(()) => return Memory::new(memory.total, Some(memory.reserved), memory.used, memory.free),
            // Drivers before R510 have no second version, some answer so although they have the function.
            Err(Fault(2 | 3 | NO_FUNCTION | 25)) => {}
            Err(fault) => return Err(fault.of("nvmlDeviceGetMemoryInfo_v2")),
        }
        let mut memory = raw::nvmlMemory_t { total: 0, free: 0, used: 0 };
        match ask!(self, nvmlDeviceGetMemoryInfo(gpu, &mut memory)) {
            Ok(()) => Memory::new(memory.total, None, memory.used, memory.free),
            Err(fault) => Err(fault.of("nvmlDeviceGetMemoryInfo")),
        }
    }

    /// Programs that compute, that draw, and clients of the multi-process service, each once.
    fn processes(&self, gpu: raw::nvmlDevice_t) -> Reading<Vec<GpuProcess>> {
        let compute = listed(&mut [
            &mut |count, rows| ask!(self, nvmlDeviceGetComputeRunningProcesses_v3(gpu, count, rows)),
            &mut |count, rows| ask!(self, nvmlDeviceGetComputeRunningProcesses_v2(gpu, count, rows)),
        ])
        .or_else(|fault| match fault.0 {
            NO_FUNCTION => self.first_version_processes(gpu),
            _ => Err(fault),
        })
        .map_err(|fault| fault.of("nvmlDeviceGetComputeRunningProcesses"))?;
        // Gaps here leave the main list standing.
        let graphics = listed(&mut [
            &mut |count, rows| ask!(self, nvmlDeviceGetGraphicsRunningProcesses_v3(gpu, count, rows)),
            &mut |count, rows| ask!(self, nvmlDeviceGetGraphicsRunningProcesses_v2(gpu, count, rows)),
        ])
        .unwrap_or_default();
        let mps =
            listed(&mut [&mut |count, rows| ask!(self, nvmlDeviceGetMPSComputeRunningProcesses_v3(gpu, count, rows))])
                .unwrap_or_default();
        let mut out: Vec<GpuProcess> = Vec::new();
        for (kind, rows) in [(Kind::Compute, compute), (Kind::Mps, mps), (Kind::Graphics, graphics)] {
            for row in rows {
                let known = out.iter_mut().find(|known| known.pid == row.pid && known.instance == instance(&row));
                match known {
                    // A program that computes and draws is listed twice with the same figure.
                    Some(known) => {
                        if kind == Kind::Mps {
                            known.kind = kind;
                        }
                    }
                    None => out.push(process(&row, kind)),
                }
            }
        }
        let samples = self.busy(gpu);
        for process in &mut out {
            process.busy = match &samples {
                Err(reason) => Err(reason.clone()),
                Ok(samples) => match samples.iter().find(|sample| sample.pid == process.pid) {
                    Some(sample) => possible(sample.smUtil, 100),
                    None => unavailable("the driver has no sample of it", "驱动没有该进程的采样"),
                },
            };
        }
        Ok(out)
    }

    /// The first version of the list has no instances; its entries are shorter.
    fn first_version_processes(&self, gpu: raw::nvmlDevice_t) -> Result<Vec<raw::nvmlProcessInfo_t>, Fault> {
        let empty = raw::nvmlProcessInfo_v1_t { pid: 0, usedGpuMemory: 0 };
        let rows = grown(empty, |count, rows| ask!(self, nvmlDeviceGetComputeRunningProcesses(gpu, count, rows)))?;
        Ok(rows
            .into_iter()
            .map(|row| raw::nvmlProcessInfo_t {
                pid: row.pid,
                usedGpuMemory: row.usedGpuMemory,
                gpuInstanceId: u32::MAX,
                computeInstanceId: u32::MAX,
            })
            .collect())
    }

    fn mig(&self, gpu: raw::nvmlDevice_t) -> Reading<Mig> {
        let (mut current, mut pending) = (0, 0);
        match ask!(self, nvmlDeviceGetMigMode(gpu, &mut current, &mut pending)) {
            Ok(()) => {}
            Err(fault) => return Err(fault.of("nvmlDeviceGetMigMode")),
        }
        match current {
            0 => return Ok(Mig { enabled: false, instances: Vec::new() }),
            1 => {}
            other => return unknown("nvmlDeviceGetMigMode", other),
        }
        let mut most = 0;
        let counted = ask!(self, nvmlDeviceGetMaxMigDeviceCount(gpu, &mut most));
        counted.map_err(|fault| fault.of("nvmlDeviceGetMaxMigDeviceCount"))?;
        let mut instances = Vec::new();
        for index in 0..most.min(MOST_INSTANCES) {
            let mut handle: raw::nvmlDevice_t = std::ptr::null_mut();
            // Places without an instance answer NOT_FOUND.
            if ask!(self, nvmlDeviceGetMigDeviceHandleByIndex(gpu, index, &mut handle)).is_err() || handle.is_null() {
                continue;
            }
            let mut id = 0;
            instances.push(Instance {
                uuid: self.uuid(handle),
                name: self.name(handle),
                gpu_instance: ask!(self, nvmlDeviceGetGpuInstanceId(handle, &mut id))
                    .map(|()| id)
                    .map_err(|fault| fault.of("nvmlDeviceGetGpuInstanceId")),
                memory: self.memory(handle),
            });
        }
        Ok(Mig { enabled: true, instances })
    }

    fn ecc(&self, gpu: raw::nvmlDevice_t) -> Reading<Ecc> {
        let (mut current, mut pending) = (0, 0);
        ask!(self, nvmlDeviceGetEccMode(gpu, &mut current, &mut pending))
            .map_err(|fault| fault.of("nvmlDeviceGetEccMode"))?;
        let errors = |counter| {
            let mut count = 0;
            match ask!(self, nvmlDeviceGetTotalEccErrors(gpu, 1, counter, &mut count)) {
                Ok(()) if count == NOT_AVAILABLE => unavailable("the driver has no count", "驱动没有计数"),
                Ok(()) => Ok(count),
                Err(fault) => Err(fault.of("nvmlDeviceGetTotalEccErrors")),
            }
        };
        match current {
            0 | 1 => {
                Ok(Ecc { enabled: current == 1, volatile_uncorrected: errors(0), aggregate_uncorrected: errors(1) })
            }
            other => unknown("nvmlDeviceGetEccMode", other),
        }
    }

    fn remapped(&self, gpu: raw::nvmlDevice_t) -> Reading<RemappedRows> {
        let (mut correctable, mut uncorrectable, mut pending, mut failed) = (0, 0, 0, 0);
        ask!(self, nvmlDeviceGetRemappedRows(gpu, &mut correctable, &mut uncorrectable, &mut pending, &mut failed))
            .map(|()| RemappedRows { correctable, uncorrectable, pending: pending != 0, failed: failed != 0 })
            .map_err(|fault| fault.of("nvmlDeviceGetRemappedRows"))
    }

    fn bar1(&self, gpu: raw::nvmlDevice_t) -> Reading<Window> {
        let mut bar1 = raw::nvmlBAR1Memory_t { bar1Total: 0, bar1Free: 0, bar1Used: 0 };
        ask!(self, nvmlDeviceGetBAR1MemoryInfo(gpu, &mut bar1))
            .map_err(|fault| fault.of("nvmlDeviceGetBAR1MemoryInfo"))?;
        if bar1.bar1Used > bar1.bar1Total || bar1.bar1Total > 1 << 50 {
            return unavailable("the driver's figures for BAR1 cannot be", "驱动给出的 BAR1 数值不可能成立");
        }
        Ok(Window { total: bar1.bar1Total, used: bar1.bar1Used })
    }

    fn addressing(&self, gpu: raw::nvmlDevice_t) -> Reading<Addressing> {
        let version = size_of::<raw::nvmlDeviceAddressingMode_t>() as c_uint | 1 << 24;
        let mut mode = raw::nvmlDeviceAddressingMode_t { version, value: 0 };
        ask!(self, nvmlDeviceGetAddressingMode(gpu, &mut mode))
            .map_err(|fault| fault.of("nvmlDeviceGetAddressingMode"))?;
        match mode.value {
            0 => Ok(Addressing::None),
            1 => Ok(Addressing::Hmm),
            2 => Ok(Addressing::Ats),
            other => unknown("nvmlDeviceGetAddressingMode", other),
        }
    }

    fn throttling(&self, gpu: raw::nvmlDevice_t) -> Reading<Vec<Throttle>> {
        let mut reasons = 0;
        ask!(self, nvmlDeviceGetCurrentClocksThrottleReasons(gpu, &mut reasons))
            .map_err(|fault| fault.of("nvmlDeviceGetCurrentClocksThrottleReasons"))?;
        let bits = [
            (0x04, Throttle::PowerCap),
            (0x08, Throttle::HardwareSlowdown),
            (0x20, Throttle::Thermal),
            (0x40, Throttle::HardwareThermal),
            (0x80, Throttle::PowerBrake),
        ];
        Ok(bits.iter().filter(|(bit, _)| reasons & bit != 0).map(|(_, reason)| *reason).collect())
    }

    fn rates(&self, gpu: raw::nvmlDevice_t) -> Reading<raw::nvmlUtilization_t> {
        let mut rates = raw::nvmlUtilization_t { gpu: 0, memory: 0 };
        ask!(self, nvmlDeviceGetUtilizationRates(gpu, &mut rates))
            .map(|()| rates)
            .map_err(|fault| fault.of("nvmlDeviceGetUtilizationRates"))
    }

    fn sensors(&self, gpu: raw::nvmlDevice_t, rates: Reading<raw::nvmlUtilization_t>) -> Sensors {
        let number = |call: &str, most: u32, read: &dyn Fn(&mut c_uint) -> Result<(), Fault>| -> Reading<u32> {
            let mut value = 0;
            read(&mut value).map_err(|fault| fault.of(call))?;
            possible(value, most)
        };
        let (chip, cores, memory) = (0, raw::nvmlClockType_enum_NVML_CLOCK_SM, raw::nvmlClockType_enum_NVML_CLOCK_MEM);
        Sensors {
            temperature: number("nvmlDeviceGetTemperature", HOTTEST, &|value| {
                ask!(self, nvmlDeviceGetTemperature(gpu, chip, value))
            }),
            fan: number("nvmlDeviceGetFanSpeed", FASTEST_FAN, &|value| ask!(self, nvmlDeviceGetFanSpeed(gpu, value))),
            power: number("nvmlDeviceGetPowerUsage", MOST_POWER, &|value| {
                ask!(self, nvmlDeviceGetPowerUsage(gpu, value))
            }),
            power_limit: number("nvmlDeviceGetEnforcedPowerLimit", MOST_POWER, &|value| {
                ask!(self, nvmlDeviceGetEnforcedPowerLimit(gpu, value))
            }),
            clock: number("nvmlDeviceGetClockInfo", FASTEST, &|value| {
                ask!(self, nvmlDeviceGetClockInfo(gpu, cores, value))
            }),
            clock_most: number("nvmlDeviceGetMaxClockInfo", FASTEST, &|value| {
                ask!(self, nvmlDeviceGetMaxClockInfo(gpu, cores, value))
            }),
            memory_clock: number("nvmlDeviceGetClockInfo", FASTEST, &|value| {
                ask!(self, nvmlDeviceGetClockInfo(gpu, memory, value))
            }),
            memory_busy: rates.and_then(|rates| possible(rates.memory, 100)),
        }
    }

    /// How busy each process kept the GPU in the last second: the newest sample of each.
    fn busy(&self, gpu: raw::nvmlDevice_t) -> Reading<Vec<raw::nvmlProcessUtilizationSample_t>> {
        let empty =
            raw::nvmlProcessUtilizationSample_t { pid: 0, timeStamp: 0, smUtil: 0, memUtil: 0, encUtil: 0, decUtil: 0 };
        // Microseconds since 1970, as the driver counts.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_micros();
        let since = u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(SAMPLED);
        let mut samples =
            grown(empty, |count, rows| ask!(self, nvmlDeviceGetProcessUtilization(gpu, rows, count, since)))
                .map_err(|fault| fault.of("nvmlDeviceGetProcessUtilization"))?;
        samples.order_by_key(|sample| std::cmp::Reverse(sample.timeStamp));
        Ok(samples)
    }

    /// Cores divided by the cores that a multiprocessor of this generation has.
    fn multiprocessors(&self, gpu: raw::nvmlDevice_t) -> Reading<u32> {
        let (mut cores, mut major, mut minor) = (0, 0, 0);
        ask!(self, nvmlDeviceGetNumGpuCores(gpu, &mut cores)).map_err(|fault| fault.of("nvmlDeviceGetNumGpuCores"))?;
        ask!(self, nvmlDeviceGetCudaComputeCapability(gpu, &mut major, &mut minor))
            .map_err(|fault| fault.of("nvmlDeviceGetCudaComputeCapability"))?;
        let each = match (major, minor) {
            (6, 0) | (7, _) | (8, 0) => 64,
            (5, _) | (6, _) | (8..=12, _) => 128,
            _ => {
                return unavailable(
                    format!("the cores of a multiprocessor of compute capability {major}.{minor} are not known"),
                    format!("未知计算能力 {major}.{minor} 的每个 SM 的核心数"),
                );
            }
        };
        Ok(cores / each)
    }

    /// All readings of one GPU once more.
    pub fn gpu_again(&self, index: u32) -> Gpu {
        self.gpu(index)
    }

    /// Memory and processes alone, for another sample.
    pub fn again(&self, index: u32) -> Option<(Memory, Vec<GpuProcess>)> {
        let handle = self.handle(index).ok()?;
        Some((self.memory(handle).ok()?, self.processes(handle).ok()?))
    }
}

/// What state the driver is in when it cannot be used at all.
fn state(error: NvmlError) -> Degraded {
    match error {
        NvmlError::DriverNotLoaded => Degraded::NotLoaded,
        NvmlError::NoPermission => Degraded::NoPermission,
        NvmlError::LibRmVersionMismatch => Degraded::VersionMismatch,
        NvmlError::GpuLost => Degraded::GpuLost,
        NvmlError::ResetRequired => Degraded::ResetRequired,
        NvmlError::NotFound => Degraded::NoDevice,
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound | NvmlError::LibraryNotFound => Degraded::Stub,
        other => Degraded::Failed(u32::from(other)),
    }
}

fn unknown<T>(call: &str, value: u32) -> Reading<T> {
    unavailable(format!("{call} gave the unknown value {value}"), format!("{call} 返回未知值 {value}"))
}

/// A string of the library, which need not end where it should.
fn text(call: &str, read: impl FnOnce(*mut c_char, c_uint) -> Result<(), Fault>) -> Reading<String> {
    let mut buffer = [0u8; 128];
    // One byte less than there is, so that the text ends in any case.
    read(buffer.as_mut_ptr().cast(), 127).map_err(|fault| fault.of(call))?;
    let text = CStr::from_bytes_until_nul(&buffer).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.is_empty() {
        return unavailable(format!("{call} gave an empty text"), format!("{call} 返回空文本"));
    }
    Ok(text)
}

type List<'a> = &'a mut dyn FnMut(*mut c_uint, *mut raw::nvmlProcessInfo_t) -> Result<(), Fault>;

/// The newest version of a list that this driver has.
fn listed(versions: &mut [List]) -> Result<Vec<raw::nvmlProcessInfo_t>, Fault> {
    let empty =
        raw::nvmlProcessInfo_t { pid: 0, usedGpuMemory: 0, gpuInstanceId: u32::MAX, computeInstanceId: u32::MAX };
    let mut last = Err(Fault(NO_FUNCTION));
    for version in versions {
        last = grown(empty, &mut **version);
        if last.as_ref().err() != Some(&Fault(NO_FUNCTION)) {
            break;
        }
    }
    last
}

/// Asks with ever more room while the list grows between two calls.
fn grown<T: Copy>(empty: T, mut read: impl FnMut(*mut c_uint, *mut T) -> Result<(), Fault>) -> Result<Vec<T>, Fault> {
    let mut room = 64usize;
    for _ in 0..4 {
        let mut rows = vec![empty; room];
        let mut count = room as c_uint;
        match read(&mut count, rows.as_mut_ptr()) {
            Ok(()) => {
                rows.truncate(count as usize);
                return Ok(rows);
            }
            Err(Fault(TOO_SMALL)) => room = (count as usize).saturating_add(8).clamp(room * 2, MOST_PROCESSES),
            Err(fault) => return Err(fault),
        }
    }
    Err(Fault(TOO_SMALL))
}

fn instance(row: &raw::nvmlProcessInfo_t) -> Option<u32> {
    (row.gpuInstanceId != u32::MAX).then_some(row.gpuInstanceId)
}

fn process(row: &raw::nvmlProcessInfo_t, kind: Kind) -> GpuProcess {
    let bytes = match row.usedGpuMemory {
        NOT_AVAILABLE => unavailable(
            "this driver does not report the memory of single processes (Windows, some R570 drivers)",
            "该驱动不提供单个进程的显存占用（Windows 与部分 R570 驱动）",
        ),
        bytes if bytes > 1 << 50 => unavailable("the driver's figure cannot be", "驱动给出的数值不可能成立"),
        bytes => Ok(bytes),
    };
    GpuProcess {
        pid: row.pid,
        bytes,
        busy: unavailable("not looked up", "未查询"),
        kind,
        instance: instance(row),
        process: unavailable("not looked up", "未查询"),
        told_name: None,
        mps_limit: None,
        visible_devices: unavailable("not looked up", "未查询"),
    }
}
