//! GPUs from the output of `nvidia-smi`: its CSV form, which the probe asks for where the library cannot be loaded, and
//! what people save: CSV, the table, the log of `nvidia-smi -q`.

use super::sensors::{self, Sensors};
use super::{Driver, Gpu, GpuProcess, Kind, Memory, nvidia_smi_log};
use crate::input::gpu_tables::Tables;
use crate::input::smi;
use crate::reading::{Reading, Unavailable, unavailable};
use crate::text::Text;
use crate::units::{Bytes, MIB};

/// The columns asked for, ever fewer; all of the last are known since R450.
pub const COLUMNS: &[&str] = &[
    "index,uuid,name,pci.bus_id,driver_version,memory.total,memory.used,memory.free,memory.reserved,utilization.gpu,\
     utilization.memory,temperature.gpu,fan.speed,power.draw,enforced.power.limit,clocks.sm,clocks.max.sm,clocks.mem",
    "index,uuid,name,pci.bus_id,driver_version,memory.total,memory.used,memory.free,memory.reserved",
    "index,uuid,name,pci.bus_id,driver_version,memory.total,memory.used,memory.free",
];

/// The columns of the process list.
pub const PROCESS_COLUMNS: &str = "gpu_uuid,pid,used_memory,process_name";

/// What one output holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub gpus: Vec<Gpu>,
    pub driver: Driver,
}

pub(super) fn absent(name: &str) -> Unavailable {
    crate::text!(en: "nvidia-smi was not asked for {name}", zh: "没有向 nvidia-smi 查询 {name}").into()
}

impl Gpu {
    /// A GPU of which nothing could be read, for one reason.
    pub fn unread(index: u32, reason: &Unavailable) -> Gpu {
        Gpu {
            index,
            uuid: Err(reason.clone()),
            name: Err(reason.clone()),
            pci: Err(reason.clone()),
            minor: Err(reason.clone()),
            memory: Err(reason.clone()),
            processes: Err(reason.clone()),
            attribution: Err(reason.clone()),
            mig: Err(reason.clone()),
            ecc: Err(reason.clone()),
            remapped: Err(reason.clone()),
            bar1: Err(reason.clone()),
            compute_mode: Err(reason.clone()),
            persistence: Err(reason.clone()),
            display: Err(reason.clone()),
            virtualization: Err(reason.clone()),
            addressing: Err(reason.clone()),
            numa_node: Err(reason.clone()),
            throttling: Err(reason.clone()),
            utilization: Err(reason.clone()),
            sensors: Sensors::unread(reason),
            multiprocessors: Err(reason.clone()),
            cuda_free: Err(reason.clone()),
        }
    }
}

/// Rows under given columns, comma-separated, with or without units.
pub fn csv(text: &str, columns: &str) -> Told {
    let columns: Vec<&str> = columns.split(',').map(|name| name.split_whitespace().next().unwrap_or("")).collect();
    let mut told = Told { gpus: Vec::new(), driver: no_driver() };
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            continue;
        }
        let cell = |name: &str| -> Reading<&str> {
            let value = columns.iter().position(|column| *column == name).and_then(|at| cells.get(at).copied());
            match value {
                None => Err(absent(name)),
                // `[N/A]`, `[Not Supported]`, `[Unknown Error]`.
                Some(value) if value.is_empty() || value.starts_with('[') || value == "N/A" => unavailable(
                    format!("nvidia-smi says {} for {name}", if value.is_empty() { "nothing" } else { value }),
                    format!("nvidia-smi 对 {name} 给出 {}", if value.is_empty() { "空值" } else { value }),
                ),
                Some(value) => Ok(value),
            }
        };
        let size = |name: &str| -> Reading<u64> {
            let value = cell(name)?;
            let number = value.trim_end_matches("MiB").trim();
            match number.parse::<u64>().ok().and_then(|mib| mib.checked_mul(MIB)) {
                Some(bytes) => Ok(bytes),
                None => unavailable(format!("{value} is no size"), format!("{value} 不是大小")),
            }
        };
        // Figures with or without a unit behind them, in parts of it.
        let number = |name: &str, parts: u32, most: u32| -> Reading<u32> {
            let value = cell(name)?;
            match value.split_whitespace().next().and_then(|figure| figure.trim_end_matches('%').parse::<f64>().ok()) {
                Some(figure) if figure >= 0.0 => sensors::possible((figure * f64::from(parts)).round() as u32, most),
                _ => unavailable(format!("{value} is no number"), format!("{value} 不是数字")),
            }
        };
        let Some(index) =
            cell("index").ok().and_then(|value| value.parse().ok()).or_else(|| u32::try_from(told.gpus.len()).ok())
        else {
            continue;
        };
        let mut gpu = Gpu::unread(index, &absent("it"));
        gpu.uuid = cell("uuid").map(str::to_string);
        gpu.name = cell("name").map(str::to_string);
        gpu.pci = cell("pci.bus_id").map(str::to_string);
        gpu.memory =
            figures(size("memory.total"), size("memory.used"), size("memory.free"), size("memory.reserved").ok());
        gpu.processes = Err(absent("processes"));
        gpu.utilization = number("utilization.gpu", 1, 100);
        gpu.sensors = Sensors {
            temperature: number("temperature.gpu", 1, sensors::HOTTEST),
            fan: number("fan.speed", 1, sensors::FASTEST_FAN),
            power: number("power.draw", 1000, sensors::MOST_POWER),
            power_limit: number("enforced.power.limit", 1000, sensors::MOST_POWER)
                .or_else(|_| number("power.limit", 1000, sensors::MOST_POWER)),
            clock: number("clocks.sm", 1, sensors::FASTEST)
                .or_else(|_| number("clocks.current.sm", 1, sensors::FASTEST)),
            clock_most: number("clocks.max.sm", 1, sensors::FASTEST),
            memory_clock: number("clocks.mem", 1, sensors::FASTEST)
                .or_else(|_| number("clocks.current.memory", 1, sensors::FASTEST)),
            memory_busy: number("utilization.memory", 1, 100),
        };
        if let Ok(version) = cell("driver_version") {
            told.driver.version = Ok(version.to_string());
        }
        // A line of words under a header is no row.
        if gpu.memory.is_ok() || gpu.uuid.as_ref().is_ok_and(|uuid| uuid.starts_with("GPU-")) {
            told.gpus.push(gpu);
        }
    }
    told
}

/// Device memory from whole MiB. Without free memory it is what is not used.
pub(super) fn figures(
    total: Reading<u64>,
    used: Reading<u64>,
    free: Reading<u64>,
    reserved: Option<u64>,
) -> Reading<Memory> {
    let total = total?;
    let used = used?;
    // Whole MiB: rounding may make the parts larger than the whole.
    let free = free.unwrap_or(total.saturating_sub(used)).min(total);
    Memory::new(total, reserved.map(|reserved| reserved.min(total - free)), used.min(total), free)
}

/// Adds the process list to the GPUs.
pub fn add_processes(told: &mut Told, text: &str) {
    for gpu in &mut told.gpus {
        gpu.processes = Ok(Vec::new());
    }
    for line in text.lines() {
        let cells: Vec<&str> = line.splitn(4, ',').map(str::trim).collect();
        let [uuid, pid, used, name] = cells.as_slice() else { continue };
        let Ok(pid) = pid.parse() else { continue };
        let bytes = match used.trim_end_matches("MiB").trim().parse::<u64>().ok().and_then(|mib| mib.checked_mul(MIB)) {
            Some(bytes) => Ok(bytes),
            None => unavailable(format!("nvidia-smi says {used}"), format!("nvidia-smi 给出 {used}")),
        };
        let gpu = told.gpus.iter_mut().find(|gpu| gpu.uuid.as_ref().is_ok_and(|known| known == uuid));
        if let Some(Ok(processes)) = gpu.map(|gpu| gpu.processes.as_mut()) {
            processes.push(process(pid, bytes, Some(name.to_string())));
        }
    }
}

pub(super) fn process(pid: u32, bytes: Reading<u64>, name: Option<String>) -> GpuProcess {
    GpuProcess {
        pid,
        bytes,
        busy: unavailable("not looked up", "未查询"),
        kind: Kind::Unknown,
        instance: None,
        process: unavailable("not looked up", "未查询"),
        told_name: name.filter(|name| !name.is_empty()),
        mps_limit: None,
        visible_devices: unavailable("not looked up", "未查询"),
    }
}

pub(super) fn no_driver() -> Driver {
    Driver { version: Err(absent("the driver's version")), nvml: Err(absent("NVML")), cuda: Err(absent("CUDA")) }
}

/// GPUs of a saved output: the log of `nvidia-smi -q`, CSV with its header, or one of the tables.
pub fn saved(text: &str) -> Told {
    if nvidia_smi_log::is_log(text) {
        return nvidia_smi_log::log(text);
    }
    let header = text.lines().position(|line| line.contains("memory.total") && line.contains(','));
    if let Some(at) = header
        && let Some(columns) = text.lines().nth(at)
    {
        let rows: Vec<&str> = text.lines().skip(at + 1).collect();
        let told = csv(&rows.join("\n"), columns);
        if !told.gpus.is_empty() {
            return told;
        }
    }
    let mut told = Told { gpus: Vec::new(), driver: no_driver() };
    let reason: Unavailable = Text::new("the table does not say", "表格中没有").into();
    let after = |mark: &str| {
        let (_, rest) = text.split_once(mark)?;
        rest.split([' ', '|']).map(str::trim).find(|word| !word.is_empty()).map(str::to_string)
    };
    if let Some(version) = after("Driver Version:") {
        told.driver.version = Ok(version);
    }
    if let Some(version) = after("CUDA Version:") {
        told.driver.cuda = Ok(version);
    }
    let tables = Tables::of(text);
    let mut rows = tables.near(u64::MAX);
    if rows.is_empty() {
        rows = smi::of_json(text);
    }
    // Tools that print what is in use and not the size.
    for known in tables.uses().iter().filter(|_| rows.is_empty()) {
        let mut gpu = Gpu::unread(known.index, &reason);
        let used = Bytes(known.used.bytes);
        gpu.memory = unavailable(
            format!("the table does not print the size; {used} are in use"),
            format!("表格没有给出总量；已用 {used}"),
        );
        told.gpus.push(gpu);
    }
    if rows.is_empty() && told.gpus.is_empty() {
        told.gpus = process_list(text);
    }
    for row in rows {
        let mut gpu = Gpu::unread(row.index, &reason);
        gpu.name = row.name.ok_or_else(|| reason.clone());
        gpu.memory = figures(Ok(row.total.bytes), Ok(row.used.bytes), Err(reason.clone()), None);
        gpu.utilization = row.utilization.map(u32::from).ok_or_else(|| reason.clone());
        // An empty list in a table may also mean that none may be shown.
        let mut processes = Vec::new();
        for (pid, name, used) in row.processes {
            let Ok(pid) = u32::try_from(pid) else { continue };
            processes.push(process(pid, used.map(|figure| figure.bytes).ok_or_else(|| reason.clone()), name));
        }
        gpu.processes = Ok(processes);
        told.gpus.push(gpu);
    }
    told
}

/// The GPUs that a list of processes names (`--query-compute-apps`), by their UUID where it is a column; what else they
/// hold, and their size, it does not tell.
fn process_list(text: &str) -> Vec<Gpu> {
    let mut lines = text.lines().skip_while(|line| !(line.contains("pid") && line.contains("used_")));
    let Some(header) = lines.next() else { return Vec::new() };
    let columns: Vec<&str> = header.split(',').map(|name| name.split_whitespace().next().unwrap_or("")).collect();
    let at = |names: &[&str]| columns.iter().position(|column| names.contains(column));
    let (Some(pid), Some(used)) = (at(&["pid"]), at(&["used_gpu_memory", "used_memory"])) else { return Vec::new() };
    let (uuid, name) = (at(&["gpu_uuid"]), at(&["process_name", "name"]));
    let reason: Unavailable =
        Text::new("a list of processes says nothing of the GPU itself", "进程列表没有给出 GPU 本身的信息").into();
    let mut gpus: Vec<Gpu> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).copied();
        let Some(number) = cell(Some(pid)).and_then(|pid| pid.parse().ok()) else { continue };
        let said = cell(Some(used)).unwrap_or_default();
        let bytes = said.trim_end_matches("MiB").trim().parse::<u64>().ok().and_then(|mib| mib.checked_mul(MIB));
        let bytes =
            bytes.map_or_else(|| unavailable(format!("nvidia-smi says {said}"), format!("nvidia-smi 给出 {said}")), Ok);
        let of = cell(uuid).map(str::to_string);
        let known = gpus.iter().position(|gpu| gpu.uuid.as_ref().ok() == of.as_ref());
        let slot = known.unwrap_or(gpus.len());
        if known.is_none() {
            let mut gpu = Gpu::unread(u32::try_from(slot).unwrap_or(u32::MAX), &reason);
            gpu.uuid = of.ok_or_else(|| reason.clone());
            gpu.processes = Ok(Vec::new());
            gpus.push(gpu);
        }
        if let Some(Ok(processes)) = gpus.get_mut(slot).map(|gpu| gpu.processes.as_mut()) {
            processes.push(process(number, bytes, cell(name).map(str::to_string)));
        }
    }
    gpus
}

/// Why an output of `nvidia-smi` names no GPU, where it says so itself.
pub fn why_none(text: &str) -> Option<Text> {
    let says = |words: &str| text.contains(words);
    if says("Driver/library version mismatch") {
        return Some(Text::new(
            "nvidia-smi failed: the driver in the kernel and its library are of different versions, as after an \
             update; no CUDA program can start until the machine is rebooted or the nvidia modules are reloaded",
            "nvidia-smi 失败：内核中的驱动与用户态库版本不一致（通常在更新之后）；重启机器或重新加载 nvidia 模块之前，\
             任何 CUDA 程序都无法启动",
        ));
    }
    if says("couldn't communicate with the NVIDIA driver") {
        return Some(Text::new(
            "nvidia-smi failed: no NVIDIA driver answers in this kernel: is it installed and loaded, and was the \
             kernel updated since?",
            "nvidia-smi 失败：内核中没有 NVIDIA 驱动应答：驱动是否已安装并加载？之后是否更新过内核？",
        ));
    }
    if says("No devices were found") {
        return Some(Text::new(
            "nvidia-smi found no GPU: the driver runs, but no GPU answers it or none is passed to this container",
            "nvidia-smi 未找到 GPU：驱动正在运行，但没有 GPU 应答，或没有 GPU 传入此容器",
        ));
    }
    if says("Unable to determine the device handle") || says("GPU is lost") {
        return Some(Text::new(
            "nvidia-smi failed: a GPU has fallen off the bus (Xid 79): see the kernel's log; it needs a reboot",
            "nvidia-smi 失败：有 GPU 已从总线掉线（Xid 79）：请查看内核日志；需要重启",
        ));
    }
    if says("Failed to initialize NVML") {
        return Some(Text::new(
            "nvidia-smi failed to initialise the driver's library (NVML): in a container the GPU may have been taken \
             away since its start",
            "nvidia-smi 无法初始化驱动库（NVML）：在容器中，GPU 可能在启动之后被收回",
        ));
    }
    if says("VRAM%") && says("ROCm System Management Interface") {
        return Some(Text::new(
            "rocm-smi's short table gives shares of the memory, not bytes: save `rocm-smi --showmeminfo vram`",
            "rocm-smi 的简表只给出显存占比，没有字节数：请保存 `rocm-smi --showmeminfo vram` 的输出",
        ));
    }
    let bare = |line: &str| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let sizes = cells.iter().filter(|cell| cell.trim_end_matches("MiB").trim().parse::<u64>().is_ok()).count();
        cells.len() >= 2 && sizes >= 2
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    (lines.peek().is_some() && lines.all(bare)).then(|| {
        Text::new(
            "CSV without its header, so that which figure is used and which is free is not known: leave out noheader",
            "CSV 缺少表头，无法得知哪个是已用、哪个是空闲：请去掉 noheader",
        )
    })
}
