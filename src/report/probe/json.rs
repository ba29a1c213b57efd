//! The probe's JSON (`docs/probe.schema.json`). Bytes are integers; what could not be read is `{"unavailable": "why"}`.

use super::{Findings, cuda};
use crate::gpu::attribution::{self, Reason};
use crate::gpu::platform::Degraded;
use crate::gpu::{self, Addressing, ComputeMode, Identity, Kind, Survey, Throttle, Virtualization, amd};
use crate::host::meminfo::{self, Overcommit};
use crate::host::{self, cgroup, processes};
use crate::report::view::{Read, Said, Tool};
use crate::text::{Lang, Text};
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes are integers. A reading that could not be taken is an object with the reason: never 0, never missing without a
/// word.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc probe --format json")]
pub struct Document<'a> {
    #[schemars(extend("const" = "oomdoc.probe/1"))]
    schema: &'static str,
    tool: Tool,
    /// Who told about the GPUs.
    #[schemars(with = "gpu::Source")]
    source: &'a str,
    /// Why the NVIDIA driver tells nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DegradedSaid>")]
    degraded: Option<Said<'a>>,
    driver: Driver,
    /// Circumstances that change how figures are to be read.
    notes: Vec<Said<'a>>,
    visibility: Visibility<'a>,
    gpus: Vec<Gpu<'a>>,
    /// CUDA's first device, where nobody else could name a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    cuda: Option<Read<cuda::json::Cuda>>,
    /// A failure worked out (--reproduce).
    #[serde(skip_serializing_if = "Option::is_none")]
    reproduction: Option<cuda::json::Reproduction>,
    /// GPUs that NVML does not know.
    others: Vec<Other<'a>>,
    /// Who has device files of GPUs open.
    holders: Read<Holders>,
    host: Host,
    warnings: Vec<Said<'a>>,
}

/// A state of the driver, and prose in the language of the report.
#[derive(Debug, Serialize, JsonSchema)]
struct DegradedSaid {
    id: Degraded,
    text: String,
}

/// Versions.
#[derive(Debug, Serialize, JsonSchema)]
struct Driver {
    version: Read<String>,
    nvml: Read<String>,
    /// Newest CUDA version that the driver supports.
    cuda: Read<String>,
}

/// What the environment of the probe makes of the GPUs' numbers.
#[derive(Debug, Serialize, JsonSchema)]
struct Visibility<'a> {
    /// null: not set.
    cuda_visible_devices: Option<&'a str>,
    /// The container runtime's list; null: not set.
    nvidia_visible_devices: Option<&'a str>,
    /// The node's numbers; null: not set.
    slurm_gpus: Option<&'a str>,
    /// CUDA_DEVICE_ORDER is PCI_BUS_ID, so that numbers count as nvidia-smi does.
    pci_bus_order: bool,
    /// Numbers may count the fastest GPU first rather than as the driver does.
    order_uncertain: bool,
    devices: Vec<VisibleDevice<'a>>,
    /// The entry at which the list ends because it names nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_at: Option<&'a str>,
}

/// A device that programs see.
#[derive(Debug, Serialize, JsonSchema)]
struct VisibleDevice<'a> {
    /// The number that the program gives it.
    cuda_index: u32,
    /// Index of the GPU as the driver counts.
    index: u32,
    /// UUID of the MIG instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
}

/// One GPU, or one instance of a GPU that is divided into several.
#[derive(Debug, Serialize, JsonSchema)]
struct Gpu<'a> {
    /// As NVML and nvidia-smi count.
    index: u32,
    uuid: Read<String>,
    name: Read<String>,
    pci: Read<String>,
    /// The N of /dev/nvidiaN.
    minor: Read<u32>,
    /// The number that a program with the probe's environment gives it; absent where it is not visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    cuda_index: Option<u32>,
    memory: Read<Memory>,
    processes: Read<Vec<GpuProcess>>,
    /// In use by no process that the driver names; the least of all samples.
    unexplained_bytes: Read<u64>,
    attribution: Read<Attribution>,
    mig: Read<Mig>,
    ecc: Read<Ecc>,
    remapped_rows: Read<RemappedRows>,
    bar1: Read<Window>,
    compute_mode: Read<ComputeMode>,
    persistence_mode: Read<bool>,
    display_active: Read<bool>,
    virtualization: Read<Virtualization>,
    addressing: Read<Addressing>,
    /// Of the GPU's own memory, on machines where that is a node.
    numa_node: Read<u32>,
    /// Why clocks are lower than asked for.
    throttling: Read<Vec<Throttle>>,
    /// Share of the last sampling period in which a kernel ran.
    utilization_percent: Read<u32>,
    /// Share of it in which the memory was read or written.
    memory_utilization_percent: Read<u32>,
    /// Of the chip.
    temperature_celsius: Read<u32>,
    /// Of the fan's full speed.
    fan_percent: Read<u32>,
    power_watts: Read<f64>,
    power_limit_watts: Read<f64>,
    /// Of the multiprocessors.
    clock_mhz: Read<u32>,
    clock_limit_mhz: Read<u32>,
    memory_clock_mhz: Read<u32>,
    multiprocessors: Read<u32>,
    /// What a process with a context of its own found out; on request.
    cuda: Read<cuda::json::Cuda>,
    /// What the readings mean.
    verdicts: Vec<Said<'a>>,
}

/// Device memory.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeviceMemory")]
struct Memory {
    total_bytes: u64,
    /// Kept by driver and firmware.
    reserved_bytes: Read<u64>,
    /// As the driver prints it.
    used_bytes: u64,
    free_bytes: u64,
    /// What programs hold: total - free - reserved.
    allocated_bytes: u64,
    /// Whether used_bytes holds reserved_bytes; null where neither adds up.
    used_holds_reserved: Option<bool>,
}

/// A process that the driver names, by the host's number.
#[derive(Debug, Serialize, JsonSchema)]
struct GpuProcess {
    pid: u32,
    name: Read<String>,
    user: Read<String>,
    /// null: in none.
    container: Read<Option<String>>,
    /// The letter of /proc.
    state: Read<String>,
    age_seconds: Read<u64>,
    used_bytes: Read<u64>,
    /// Share of the last second in which a kernel of it ran.
    utilization_percent: Read<u32>,
    kind: Kind,
    /// Of its environment; null: not set.
    cuda_visible_devices: Read<Option<String>>,
    /// The GPU instance of a divided GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_instance: Option<u32>,
    /// CUDA_MPS_PINNED_DEVICE_MEM_LIMIT of its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    mps_limit: Option<String>,
}

/// Who holds what no process that the driver names holds.
#[derive(Debug, Serialize, JsonSchema)]
struct Attribution {
    reason: Reason,
    text: String,
    /// Bytes of each sample; negative where the processes' sum exceeds what is in use.
    samples: Vec<i64>,
}

/// Division of a GPU into instances.
#[derive(Debug, Serialize, JsonSchema)]
struct Mig {
    enabled: bool,
    instances: Vec<Instance>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Instance {
    uuid: Read<String>,
    name: Read<String>,
    gpu_instance: Read<u32>,
    memory: Read<Memory>,
}

/// Errors of the memory.
#[derive(Debug, Serialize, JsonSchema)]
struct Ecc {
    enabled: bool,
    /// Since the driver was loaded.
    volatile_uncorrected: Read<u64>,
    aggregate_uncorrected: Read<u64>,
}

/// Rows of the memory that were replaced by spare ones.
#[derive(Debug, Serialize, JsonSchema)]
struct RemappedRows {
    correctable: u32,
    uncorrectable: u32,
    /// Takes effect after a reset.
    pending: bool,
    failed: bool,
}

/// The window through which others reach the memory.
#[derive(Debug, Serialize, JsonSchema)]
struct Window {
    total_bytes: u64,
    used_bytes: u64,
}

/// A GPU that NVML does not know.
#[derive(Debug, Serialize, JsonSchema)]
struct Other<'a> {
    maker: amd::Maker,
    /// Such as card1.
    name: &'a str,
    memory: Usage,
    /// RAM that the GPU may map.
    mapped_ram: Usage,
    /// What is read of it, and what is not.
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Usage {
    total_bytes: Read<u64>,
    used_bytes: Read<u64>,
}

/// Who has device files open.
#[derive(Debug, Serialize, JsonSchema)]
struct Holders {
    found: Vec<Holder>,
    /// Processes whose files could not be looked at.
    unseen_processes: usize,
}

/// A process that has a GPU's device file open.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FileHolder")]
struct Holder {
    #[serde(flatten)]
    process: Process,
    /// The N of each /dev/nvidiaN.
    minors: Vec<u32>,
    /// Its program was deleted or replaced meanwhile.
    program_deleted: bool,
    /// Its parent is gone.
    orphaned: bool,
}

/// A process of this machine.
#[derive(Debug, Serialize, JsonSchema)]
struct Process {
    pid: u32,
    name: Read<String>,
    user: Read<String>,
    /// null: in none.
    container: Read<Option<String>>,
    /// The letter of /proc.
    state: Read<String>,
    parent: Read<u32>,
    age_seconds: Read<u64>,
    resident_bytes: Read<u64>,
    /// Shared pages divided among those that share them.
    proportional_bytes: Read<u64>,
    locked_bytes: Read<u64>,
    pinned_bytes: Read<u64>,
    swapped_bytes: Read<u64>,
}

/// The machine's memory and who uses it.
#[derive(Debug, Serialize, JsonSchema)]
struct Host {
    memory: Read<HostMemory>,
    pressure: Read<Pressure>,
    cgroup: Read<Groups>,
    shm: Read<Shm>,
    /// Those that hold most.
    processes: Read<Vec<Process>>,
    kernel_log: Read<KernelLog>,
}

/// /dev/shm.
#[derive(Debug, Serialize, JsonSchema)]
struct Shm {
    size_bytes: u64,
    used_bytes: Read<u64>,
}

/// What the kernel logged about GPUs and memory.
#[derive(Debug, Serialize, JsonSchema)]
struct KernelLog {
    source: String,
    /// Errors of the NVIDIA driver.
    xids: Vec<Xid>,
    /// Lines of the OOM killer.
    kills: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Xid {
    number: u32,
    pci: String,
    meaning: String,
    message: String,
}

/// RAM.
#[derive(Debug, Serialize, JsonSchema)]
struct HostMemory {
    total_bytes: u64,
    available_bytes: Read<u64>,
    free_bytes: Read<u64>,
    file_cache_bytes: Read<u64>,
    /// tmpfs, /dev/shm and anonymous shared mappings.
    shared_bytes: Read<u64>,
    swap_total_bytes: Read<u64>,
    swap_free_bytes: Read<u64>,
    /// Held in RAM by mlock.
    locked_bytes: Read<u64>,
    committed_bytes: Read<u64>,
    commit_limit_bytes: Read<u64>,
    overcommit: Read<Overcommit>,
}

/// From the process's own group outwards.
#[derive(Debug, Serialize, JsonSchema)]
struct Groups {
    version: u8,
    groups: Vec<Group>,
}

/// A control group.
#[derive(Debug, Serialize, JsonSchema)]
struct Group {
    path: String,
    /// null: none.
    limit_bytes: Read<Option<u64>>,
    /// The mark from which the group is slowed down; null: none.
    high_bytes: Read<Option<u64>>,
    current_bytes: Read<u64>,
    peak_bytes: Read<u64>,
    oom_kills: Read<u64>,
    anonymous_bytes: Read<u64>,
    shared_bytes: Read<u64>,
    file_bytes: Read<u64>,
    pressure: Read<Pressure>,
    /// Limits on device memory.
    devices: Vec<DeviceLimit>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DeviceLimit {
    region: String,
    limit_bytes: u64,
    current_bytes: Read<u64>,
}

/// Percent of time in which some or all tasks waited for memory.
#[derive(Debug, Serialize, JsonSchema)]
struct Pressure {
    some: Averages,
    full: Averages,
}

/// Over the last 10, 60 and 300 seconds.
#[derive(Debug, Serialize, JsonSchema)]
struct Averages {
    avg10: f64,
    avg60: f64,
    avg300: f64,
}

/// The findings as one JSON document, its prose in `lang`.
pub fn document(findings: &Findings, lang: Lang) -> Document<'_> {
    let survey = &findings.survey;
    let driver = &survey.driver;
    let gpus = findings.shown.iter().zip(&findings.verdicts).enumerate().map(|(at, (gpu, verdicts))| {
        let part = findings.cuda.get(at).and_then(Option::as_ref);
        Gpu {
            cuda_index: findings.mapping.cuda_index(gpu.index),
            cuda: part.map_or_else(|| not_asked(lang), |part| cuda::json::part(part, lang)),
            verdicts: verdicts.iter().map(|verdict| Said::new(verdict.id, &verdict.text, lang)).collect(),
            ..Gpu::of(gpu, lang)
        }
    });
    Document {
        schema: "oomdoc.probe/1",
        tool: Tool::this(),
        source: survey.source.id(),
        degraded: survey.degraded.as_ref().map(|degraded| Said::new(degraded.id(), &degraded.text(), lang)),
        driver: Driver {
            version: Read::same(&driver.version, lang),
            nvml: Read::same(&driver.nvml, lang),
            cuda: Read::same(&driver.cuda, lang),
        },
        notes: survey.notes.iter().map(|note| Said::new(note.id, &note.text, lang)).collect(),
        visibility: Visibility::of(findings),
        gpus: gpus.collect(),
        cuda: findings.cuda_alone.as_ref().map(|part| cuda::json::part(part, lang)),
        reproduction: findings
            .reproduction
            .as_ref()
            .map(|reproduction| cuda::json::Reproduction::of(reproduction, findings.measured(), lang)),
        others: survey.others.iter().map(|other| Other::of(other, lang)).collect(),
        holders: Read::of(&survey.holders, lang, |holders| Holders {
            found: holders.found.iter().map(|holder| Holder::of(holder, lang)).collect(),
            unseen_processes: holders.unseen,
        }),
        host: Host::of(&survey.host, lang),
        warnings: findings.warnings.iter().map(|warning| Said::new(warning.id, &warning.text, lang)).collect(),
    }
}

fn not_asked<T>(lang: Lang) -> Read<T> {
    Read::missing(&Text::new("not asked: the probe used no GPU memory", "未读取：本次探测没有使用显存"), lang)
}

impl Visibility<'_> {
    fn of(findings: &Findings) -> Visibility<'_> {
        let Survey { visibility, .. } = &findings.survey;
        let mapping = &findings.mapping;
        let devices = mapping.entries.iter().map(|entry| VisibleDevice {
            cuda_index: entry.cuda,
            index: entry.gpu,
            instance: entry.instance.as_deref(),
        });
        Visibility {
            cuda_visible_devices: visibility.list.as_deref(),
            nvidia_visible_devices: visibility.container.as_deref(),
            slurm_gpus: visibility.slurm.as_deref(),
            pci_bus_order: visibility.by_bus,
            order_uncertain: mapping.order_uncertain,
            devices: devices.collect(),
            stopped_at: mapping.stopped_at.as_deref(),
        }
    }
}

impl Gpu<'_> {
    /// What the driver told of it.
    fn of(gpu: &gpu::Gpu, lang: Lang) -> Gpu<'_> {
        Gpu {
            index: gpu.index,
            uuid: Read::same(&gpu.uuid, lang),
            name: Read::same(&gpu.name, lang),
            pci: Read::same(&gpu.pci, lang),
            minor: Read::same(&gpu.minor, lang),
            cuda_index: None,
            memory: Read::of(&gpu.memory, lang, |memory| Memory::of(memory, lang)),
            processes: Read::of(&gpu.processes, lang, |list| {
                list.iter().map(|process| GpuProcess::of(process, lang)).collect()
            }),
            unexplained_bytes: Read::of(&gpu.attribution, lang, |attribution| attribution.unexplained),
            attribution: Read::of(&gpu.attribution, lang, |attribution| Attribution::of(attribution, lang)),
            mig: Read::of(&gpu.mig, lang, |mig| Mig::of(mig, lang)),
            ecc: Read::of(&gpu.ecc, lang, |ecc| Ecc {
                enabled: ecc.enabled,
                volatile_uncorrected: Read::same(&ecc.volatile_uncorrected, lang),
                aggregate_uncorrected: Read::same(&ecc.aggregate_uncorrected, lang),
            }),
            remapped_rows: Read::of(&gpu.remapped, lang, |rows| RemappedRows {
                correctable: rows.correctable,
                uncorrectable: rows.uncorrectable,
                pending: rows.pending,
                failed: rows.failed,
            }),
            bar1: Read::of(&gpu.bar1, lang, |bar1| Window { total_bytes: bar1.total, used_bytes: bar1.used }),
            compute_mode: Read::same(&gpu.compute_mode, lang),
            persistence_mode: Read::same(&gpu.persistence, lang),
            display_active: Read::same(&gpu.display, lang),
            virtualization: Read::same(&gpu.virtualization, lang),
            addressing: Read::same(&gpu.addressing, lang),
            numa_node: Read::same(&gpu.numa_node, lang),
            throttling: Read::same(&gpu.throttling, lang),
            utilization_percent: Read::same(&gpu.utilization, lang),
            memory_utilization_percent: Read::same(&gpu.sensors.memory_busy, lang),
            temperature_celsius: Read::same(&gpu.sensors.temperature, lang),
            fan_percent: Read::same(&gpu.sensors.fan, lang),
            power_watts: Read::of(&gpu.sensors.power, lang, |milliwatts| f64::from(*milliwatts) / 1e3),
            power_limit_watts: Read::of(&gpu.sensors.power_limit, lang, |milliwatts| f64::from(*milliwatts) / 1e3),
            clock_mhz: Read::same(&gpu.sensors.clock, lang),
            clock_limit_mhz: Read::same(&gpu.sensors.clock_most, lang),
            memory_clock_mhz: Read::same(&gpu.sensors.memory_clock, lang),
            multiprocessors: Read::same(&gpu.multiprocessors, lang),
            cuda: not_asked(lang),
            verdicts: Vec::new(),
        }
    }
}

impl Memory {
    fn of(memory: &gpu::Memory, lang: Lang) -> Memory {
        let untold = Text::new(
            "the source does not report it (driver before R510, or a table)",
            "数据来源不提供（R510 之前的驱动，或表格）",
        );
        Memory {
            total_bytes: memory.total,
            reserved_bytes: memory.reserved.map_or_else(|| Read::missing(&untold, lang), Read::Value),
            used_bytes: memory.used,
            free_bytes: memory.free,
            allocated_bytes: memory.allocated(),
            used_holds_reserved: match memory.identity {
                _ if memory.reserved.is_none() => None,
                Identity::Excludes => Some(false),
                Identity::Includes => Some(true),
                Identity::Unclear(_) => None,
            },
        }
    }
}

impl GpuProcess {
    fn of(process: &gpu::GpuProcess, lang: Lang) -> GpuProcess {
        let known = &process.process;
        GpuProcess {
            pid: process.pid,
            name: Read::same(&process.name(), lang),
            user: Read::same(&known.clone().and_then(|known| known.user), lang),
            container: Read::same(&known.clone().and_then(|known| known.container), lang),
            state: Read::of(&known.clone().and_then(|known| known.state), lang, char::to_string),
            age_seconds: Read::same(&known.clone().and_then(|known| known.age_seconds), lang),
            used_bytes: Read::same(&process.bytes, lang),
            utilization_percent: Read::same(&process.busy, lang),
            kind: process.kind,
            cuda_visible_devices: Read::same(&process.visible_devices, lang),
            gpu_instance: process.instance,
            mps_limit: process.mps_limit.clone(),
        }
    }
}

impl Attribution {
    fn of(attribution: &attribution::Attribution, lang: Lang) -> Attribution {
        let samples = attribution.samples.iter().map(|left| i64::try_from(*left).unwrap_or(i64::MAX));
        Attribution {
            reason: attribution.reason,
            text: attribution.text.in_lang(lang).to_string(),
            samples: samples.collect(),
        }
    }
}

impl Mig {
    fn of(mig: &gpu::Mig, lang: Lang) -> Mig {
        let instances = mig.instances.iter().map(|instance| Instance {
            uuid: Read::same(&instance.uuid, lang),
            name: Read::same(&instance.name, lang),
            gpu_instance: Read::same(&instance.gpu_instance, lang),
            memory: Read::of(&instance.memory, lang, |memory| Memory::of(memory, lang)),
        });
        Mig { enabled: mig.enabled, instances: instances.collect() }
    }
}

impl Other<'_> {
    fn of(other: &amd::Other, lang: Lang) -> Other<'_> {
        let usage = |total, used| Usage { total_bytes: Read::same(total, lang), used_bytes: Read::same(used, lang) };
        Other {
            maker: other.maker,
            name: &other.name,
            memory: usage(&other.total, &other.used),
            mapped_ram: usage(&other.mapped_total, &other.mapped_used),
            text: other.maker.text().in_lang(lang).to_string(),
        }
    }
}

impl Process {
    fn of(process: &processes::Process, lang: Lang) -> Process {
        Process {
            pid: process.pid,
            name: Read::same(&process.name, lang),
            user: Read::same(&process.user, lang),
            container: Read::same(&process.container, lang),
            state: Read::of(&process.state, lang, char::to_string),
            parent: Read::same(&process.parent, lang),
            age_seconds: Read::same(&process.age_seconds, lang),
            resident_bytes: Read::same(&process.resident, lang),
            proportional_bytes: Read::same(&process.proportional, lang),
            locked_bytes: Read::same(&process.locked, lang),
            pinned_bytes: Read::same(&process.pinned, lang),
            swapped_bytes: Read::same(&process.swapped, lang),
        }
    }
}

impl Holder {
    fn of(holder: &processes::Holder, lang: Lang) -> Holder {
        Holder {
            process: Process::of(&holder.process, lang),
            minors: holder.minors.clone(),
            program_deleted: holder.deleted,
            orphaned: holder.orphaned(),
        }
    }
}

impl Host {
    fn of(host: &host::Host, lang: Lang) -> Host {
        Host {
            memory: Read::of(&host.memory, lang, |memory| HostMemory::of(memory, lang)),
            pressure: Read::of(&host.pressure, lang, Pressure::of),
            cgroup: Read::of(&host.groups, lang, |groups| Groups {
                version: groups.version,
                groups: groups.groups.iter().map(|group| Group::of(group, lang)).collect(),
            }),
            shm: Read::of(&host.shm, lang, |shm| Shm { size_bytes: shm.size, used_bytes: Read::same(&shm.used, lang) }),
            processes: Read::of(&host.processes, lang, |list| {
                list.iter().map(|process| Process::of(process, lang)).collect()
            }),
            kernel_log: Read::of(&host.kernel, lang, |log| KernelLog {
                source: log.source.clone(),
                xids: log
                    .xids
                    .iter()
                    .map(|xid| Xid {
                        number: xid.number,
                        pci: xid.pci.clone(),
                        meaning: xid.meaning().in_lang(lang).to_string(),
                        message: xid.message.clone(),
                    })
                    .collect(),
                kills: log.kills.clone(),
            }),
        }
    }
}

impl HostMemory {
    fn of(memory: &meminfo::Memory, lang: Lang) -> HostMemory {
        HostMemory {
            total_bytes: memory.total,
            available_bytes: Read::same(&memory.available, lang),
            free_bytes: Read::same(&memory.free, lang),
            file_cache_bytes: Read::same(&memory.file_cache, lang),
            shared_bytes: Read::same(&memory.shared, lang),
            swap_total_bytes: Read::same(&memory.swap_total, lang),
            swap_free_bytes: Read::same(&memory.swap_free, lang),
            locked_bytes: Read::same(&memory.locked, lang),
            committed_bytes: Read::same(&memory.committed, lang),
            commit_limit_bytes: Read::same(&memory.commit_limit, lang),
            overcommit: Read::same(&memory.overcommit, lang),
        }
    }
}

impl Group {
    fn of(group: &cgroup::Group, lang: Lang) -> Group {
        let devices = group.devices.iter().map(|device| DeviceLimit {
            region: device.region.clone(),
            limit_bytes: device.limit,
            current_bytes: Read::same(&device.current, lang),
        });
        Group {
            path: group.path.clone(),
            limit_bytes: Read::same(&group.limit, lang),
            high_bytes: Read::same(&group.high, lang),
            current_bytes: Read::same(&group.current, lang),
            peak_bytes: Read::same(&group.peak, lang),
            oom_kills: Read::same(&group.oom_kills, lang),
            anonymous_bytes: Read::same(&group.anonymous, lang),
            shared_bytes: Read::same(&group.shared, lang),
            file_bytes: Read::same(&group.files, lang),
            pressure: Read::of(&group.pressure, lang, Pressure::of),
            devices: devices.collect(),
        }
    }
}

impl Pressure {
    fn of(pressure: &meminfo::Pressure) -> Pressure {
        let averages = |averages: meminfo::Averages| Averages {
            avg10: averages.ten,
            avg60: averages.minute,
            avg300: averages.five_minutes,
        };
        Pressure { some: averages(pressure.some), full: averages(pressure.full) }
    }
}
