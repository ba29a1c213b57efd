//! The CUDA part of `oomdoc probe`: who may be disturbed, the child, and what watches over it.

use crate::cli::CudaOptions;
use crate::gpu::attribution::{self, DRIVERS_OWN};
use crate::gpu::cuda::limits::margin;
use crate::gpu::cuda::parent::{self, Guard};
use crate::gpu::cuda::protocol::{ProbeRequest, Which};
use crate::gpu::cuda::{Objection, Property};
use crate::gpu::nvml::Library;
use crate::gpu::twin::Reproduction;
use crate::gpu::visibility::Mapping;
use crate::gpu::{Gpu, GpuProcess, Instance, Kind, Memory, Survey, Virtualization, platform};
use crate::host::Root;
use crate::report::probe::cuda::Part;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, MIB};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// Unexplained memory below this is the driver's own.
const UNEXPLAINED: u64 = 64 * MIB;

/// Before a device is filled it is watched for two seconds: kernels of others come in bursts.
const WATCHED: (u32, Duration) = (10, Duration::from_millis(200));

/// What came of the probe of one GPU.
pub struct Probed {
    pub part: Part,
    /// Bytes that the driver calls free and CUDA does not offer, beyond what any context costs, while nobody else came:
    /// the sign of a limit.
    pub kept_back: Option<u64>,
}

impl From<Part> for Probed {
    fn from(part: Part) -> Probed {
        Probed { part, kept_back: None }
    }
}

/// The GPU, or the instance of a divided one, that a program of this environment would use.
struct Target<'a> {
    gpu: &'a Gpu,
    instance: Option<&'a Instance>,
}

impl Target<'_> {
    fn memory(&self) -> Option<Memory> {
        match self.instance {
            Some(instance) => instance.memory.clone().ok(),
            None => self.gpu.memory.clone().ok(),
        }
    }

    /// Those who compute. `None` where the driver does not list them.
    fn processes(&self) -> Option<Vec<&GpuProcess>> {
        let here = |process: &&GpuProcess| match self.instance.map(|instance| &instance.gpu_instance) {
            Some(Ok(id)) => process.instance.is_none_or(|instance| instance == *id),
            _ => true,
        };
        Some(self.gpu.processes.as_ref().ok()?.iter().filter(here).collect())
    }

    /// In use by nobody that is listed.
    fn unexplained(&self) -> Option<u64> {
        let listed: Vec<GpuProcess> = self.processes()?.into_iter().cloned().collect();
        attribution::sample(&self.memory()?, &listed).ok().map(|bytes| u64::try_from(bytes).unwrap_or(0))
    }

    fn which(&self) -> Which {
        let uuid = self.instance.map_or(&self.gpu.uuid, |instance| &instance.uuid);
        uuid.clone().map_or(Which::Ordinal(self.gpu.index), Which::Uuid)
    }
}

/// Probes one GPU that NVML or nvidia-smi knows.
pub fn of(
    known: &Gpu,
    survey: &Survey,
    mapping: &Mapping,
    options: &CudaOptions,
    reproduction: Option<&Reproduction>,
    root: &Root,
) -> Probed {
    let library = Library::open(root).ok();
    // The survey is older by as long as the GPUs before this one took.
    let read = |library: &Library| Some(library.gpu_again(known.index)).filter(|now| now.uuid == known.uuid);
    let now = library.as_ref().and_then(read).unwrap_or_else(|| known.clone());
    let instance = if now.mig.as_ref().is_ok_and(|mig| mig.enabled) {
        match instance(&now, mapping) {
            Some(instance) => Some(instance),
            None => return Part::Unsuited(divided()).into(),
        }
    } else {
        None
    };
    let target = Target { gpu: &now, instance };
    let others = others(&target, known, survey).or_else(|| {
        let library = library.as_ref().filter(|_| options.fill)?;
        came_within_a_while(library, &target, known, survey)
    });
    if let Some(why) = &others
        && !options.busy_allowed
    {
        return refused(why).into();
    }
    if options.fill && library.is_none() && !options.busy_allowed {
        return unwatched().into();
    }
    let memory = target.memory();
    let request = ProbeRequest {
        which: target.which(),
        free_before: memory.map(|memory| memory.free),
        // In a container a process of another one is not listed when it comes.
        known_idle: others.is_none() && target.unexplained().is_some() && survey.host_pids,
        display: now.display == Ok(true),
        unsuitable: unsuitable(&now, survey, root),
        ..request(Which::Ordinal(0), options, reproduction)
    };
    let guard = library.map(|library| guard(library, &target, &request, options.fill));
    let name = match &request.which {
        Which::Uuid(uuid) => uuid.clone(),
        Which::Ordinal(ordinal) => ordinal.to_string(),
    };
    let part = locked(&name, options, &mut |guard| parent::probe(&request, guard), guard);
    let kept_back = match (&part, memory) {
        (Part::Read(found), Some(memory)) => found.memory().ok().map(|seen| seen.beyond).filter(|beyond| {
            let after = Library::open(root).ok().and_then(|library| library.again(known.index));
            *beyond > 0
                && instance.is_none()
                && after.is_some_and(|(after, _)| after.free.saturating_add(UNEXPLAINED) >= memory.free)
        }),
        _ => None,
    };
    Probed { part, kept_back }
}

/// Probes CUDA's first device where nobody else can name a GPU.
pub fn alone(options: &CudaOptions, reproduction: Option<&Reproduction>) -> Part {
    if options.fill && !options.busy_allowed {
        return unwatched();
    }
    let request = request(Which::Ordinal(0), options, reproduction);
    locked("0", options, &mut |guard| parent::probe(&request, guard), None)
}

fn request(which: Which, options: &CudaOptions, reproduction: Option<&Reproduction>) -> ProbeRequest {
    let states = reproduction.filter(|_| options.fill).map(|reproduction| &reproduction.cases);
    ProbeRequest {
        which,
        free_before: None,
        known_idle: false,
        busy_allowed: options.busy_allowed,
        display: false,
        unsuitable: None,
        parent: None,
        bench: options.bench,
        fill: options.fill,
        experiment: states.into_iter().flatten().map(|(state, _)| state.clone()).collect(),
        buffer: options.buffer,
        seconds: options.seconds,
    }
}

/// The instance that `CUDA_VISIBLE_DEVICES` names first.
fn instance<'a>(gpu: &'a Gpu, mapping: &Mapping) -> Option<&'a Instance> {
    let wanted = mapping.entries.first().filter(|entry| entry.gpu == gpu.index)?.instance.as_ref()?;
    gpu.mig.as_ref().ok()?.instances.iter().find(|instance| instance.uuid.as_ref() == Ok(wanted))
}

fn divided() -> Text {
    Text::new(
        "not probed: this GPU is divided into MIG instances, and programs use one of these; name it in CUDA_VISIBLE_DEVICES=MIG-… (nvidia-smi -L) and probe again",
        "未探测：此 GPU 已划分为 MIG 实例，程序只能使用其中之一；请用 CUDA_VISIBLE_DEVICES=MIG-…（见 nvidia-smi -L）指定实例后重新探测",
    )
}

fn unsuitable(gpu: &Gpu, survey: &Survey, root: &Root) -> Option<Property> {
    let host = survey.host.memory.as_ref().ok().map(|memory| memory.total);
    let shared = gpu.processes.iter().flatten().any(|process| process.kind == Kind::Mps);
    [
        (platform::is_wsl(root), Property::SpillsToHost),
        (gpu.virtualization == Ok(Virtualization::VGpu), Property::VirtualSlice),
        (gpu.numa_node.is_ok(), Property::Coherent),
        (platform::is_unified(gpu, host), Property::Integrated),
        (shared, Property::MultiProcessService),
    ]
    .into_iter()
    .find_map(|(is, property)| is.then_some(property))
}

fn computes(process: &GpuProcess) -> bool {
    process.kind != Kind::Graphics
}

/// Who uses the GPU, as far as the readings tell. `known` has the names of processes.
fn others(target: &Target, known: &Gpu, survey: &Survey) -> Option<Text> {
    let listed = target.processes();
    let busy: Vec<String> = listed
        .iter()
        .flatten()
        .filter(|process| computes(process))
        .map(|process| {
            let told = known.processes.iter().flatten().find(|told| told.pid == process.pid);
            let name = told.and_then(|told| told.name().ok()).map(|name| format!(" ({name})")).unwrap_or_default();
            format!("{}{name}", process.pid)
        })
        .collect();
    if !busy.is_empty() {
        let (host, zh_host) = if survey.host_pids { ("", "") } else { ("the host's ", "宿主机") };
        let list = busy.join(", ");
        return Some(text!(en: "by {host}process {list}", zh: "{zh_host}进程 {list}"));
    }
    let unexplained = target.unexplained();
    // Where processes are not listed, or not with what they hold, all that is in use speaks for itself.
    let (bytes, most) = match (unexplained, target.memory()) {
        (Some(bytes), _) => (bytes, UNEXPLAINED),
        (None, Some(memory)) => (memory.allocated(), DRIVERS_OWN),
        (None, None) => (0, 0),
    };
    if bytes > most {
        let old = target.memory().is_some_and(|memory| memory.reserved.is_none());
        let (also, zh_also) = if old {
            (", or to the driver, which here does not say how much that is", "，或属于驱动自身（此处驱动不给出数值）")
        } else {
            ("", "")
        };
        let bytes = Bytes(bytes);
        return Some(
            text!(en: "{bytes} belong to nobody who is listed{also}", zh: "{bytes} 不属于任何已列出的进程{zh_also}"),
        );
    }
    match &target.gpu.utilization {
        Ok(percent) if *percent > 0 && target.instance.is_none() => {
            Some(text!(en: "kernels run on it {percent} % of the time", zh: "{percent} % 的时间有内核在运行"))
        }
        _ => None,
    }
}

/// The same over a while.
fn came_within_a_while(library: &Library, target: &Target, known: &Gpu, survey: &Survey) -> Option<Text> {
    let (times, pause) = WATCHED;
    (0..times).find_map(|_| {
        std::thread::sleep(pause);
        let now = library.gpu_again(target.gpu.index);
        let instance = target
            .instance
            .and_then(|wanted| now.mig.as_ref().ok()?.instances.iter().find(|instance| instance.uuid == wanted.uuid));
        if target.instance.is_some() && instance.is_none() {
            return Some(Text::new("its division into instances has just changed", "MIG 实例划分刚刚发生变化"));
        }
        others(&Target { gpu: &now, instance }, known, survey)
    })
}

fn refused(why: &Text) -> Part {
    Part::Refused(Text::new(
        format!("refused, since the GPU is in use: {}; --allow-busy goes on all the same", why.en),
        format!("已拒绝，GPU 正在使用：{}；可用 --allow-busy 强制继续", why.zh),
    ))
}

/// Nobody sees who comes while the device is filled.
fn unwatched() -> Part {
    Part::Refused(Text::new(
        "refused: without NVML nobody can tell who uses the GPU while it is filled; --allow-busy goes on all the same",
        "已拒绝：没有 NVML 就无从得知填充期间还有谁在使用此 GPU；可用 --allow-busy 强制继续",
    ))
}

/// Objects when somebody comes or memory runs low. The child is one more process; its number is the driver's own, in a
/// container another than here, so one newcomer is taken for it.
fn guard(library: Library, target: &Target, request: &ProbeRequest, fill: bool) -> Guard {
    let index = target.gpu.index;
    let before: Vec<u32> = target.gpu.processes.iter().flatten().map(|process| process.pid).collect();
    // The figures of a divided GPU are the sum of its instances.
    let floor = target.memory().filter(|_| fill && target.instance.is_none());
    let floor = floor.map(|memory| margin(memory.total, request.known_idle, request.display) / 2);
    let mut taken_for_child = None;
    Box::new(move |child| {
        let (memory, processes) = library.again(index)?;
        let newcomers = processes.iter().filter(|process| computes(process) && !before.contains(&process.pid));
        let newcomers: Vec<u32> = newcomers.map(|process| process.pid).collect();
        if newcomers.contains(&child) {
            taken_for_child = Some(child);
        }
        for pid in newcomers {
            if *taken_for_child.get_or_insert(pid) != pid {
                return Some(Objection::Came { pid });
            }
        }
        floor.filter(|floor| memory.free < *floor).map(|_| Objection::LittleLeft { free: memory.free })
    })
}

/// Two probes that fill the same device would each find the other's memory missing.
fn locked(
    name: &str,
    options: &CudaOptions,
    probe: &mut dyn FnMut(Option<Guard>) -> parent::Findings,
    guard: Option<Guard>,
) -> Part {
    if !options.fill {
        return Part::Read(probe(guard));
    }
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let path = std::env::temp_dir().join(format!("oomdoc-{name}.lock"));
    match lock_file(&path).as_ref().map(File::try_lock) {
        Some(Err(TryLockError::WouldBlock)) => {
            let path = path.display();
            Part::Refused(Text::new(
                format!("refused: another oomdoc fills this GPU ({path} is locked)"),
                format!("已拒绝：另一个 oomdoc 正在填充此 GPU（{path} 已锁定）"),
            ))
        }
        // Without a lock file, such as on a read-only system, there is nobody to ask.
        _ => Part::Read(probe(guard)),
    }
}

/// The file that all users of the machine lock, where it can be had. Anybody may have put something else in its place:
/// a link is not followed, a FIFO not waited for, and only a regular file is locked.
fn lock_file(path: &Path) -> Option<File> {
    let open = |create: bool| {
        let mut options = File::options();
        options.read(!create).write(create).create(create).truncate(false);
        crate::system::only_itself(&mut options);
        options.open(path)
    };
    // Another user's file can't be written, and need not be.
    let file = open(true).or_else(|_| open(false)).ok()?;
    file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
}

/// True where a probe was refused because somebody uses the device.
pub fn is_refused(part: &Part) -> bool {
    match part {
        Part::Refused(_) => true,
        Part::Unsuited(_) => false,
        Part::Read(read) => read.busy().is_some(),
    }
}

/// True where CUDA answered with a device.
pub fn answered(part: &Part) -> bool {
    matches!(part, Part::Read(read) if read.device().is_ok())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};

    /// A FIFO in the place of the lock made the probe wait for ever, and a link was followed to make a file elsewhere.
    #[test]
    fn only_a_regular_file_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        mkfifoat(CWD, at("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("link")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for planted in ["fifo", "link", "folder"] {
            assert!(lock_file(&at(planted)).is_none(), "{planted}");
        }
        assert!(!at("elsewhere").exists());
        let first = lock_file(&at("lock")).unwrap();
        first.try_lock().unwrap();
        assert!(matches!(lock_file(&at("lock")).unwrap().try_lock(), Err(TryLockError::WouldBlock)));
    }
}
