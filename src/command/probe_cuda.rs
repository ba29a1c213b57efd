//! The CUDA part of `oomdoc probe`: who may be disturbed, the child, and what watches over it.

use crate::cli::CudaOptions;
use crate::gpu::cuda::parent;
use crate::gpu::cuda::probe::{Request, Which};
use crate::gpu::nvml::Library;
use crate::gpu::twin::Reproduction;
use crate::gpu::{Gpu, Kind};
use crate::host::Root;
use crate::report::probe::cuda::Part;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, MIB};
use std::fs::{File, TryLockError};

/// Unexplained memory below this is the driver's own.
const UNEXPLAINED: u64 = 64 * MIB;

/// Probes one GPU that NVML or nvidia-smi knows.
pub fn of(gpu: &Gpu, options: &CudaOptions, reproduction: Option<&Reproduction>, root: &Root) -> Part {
    let others = others(gpu);
    if let Some(why) = &others
        && !options.busy_allowed
    {
        return Part::Refused(Text::new(
            format!("refused, since the GPU is in use: {}; --allow-busy goes on all the same", why.en),
            format!("已拒绝，GPU 正在使用：{}；可用 --allow-busy 强制继续", why.zh),
        ));
    }
    let which = match &gpu.uuid {
        Ok(uuid) => Which::Uuid(uuid.clone()),
        Err(_) => Which::Ordinal(gpu.index),
    };
    let mut request = request(which, options, reproduction);
    request.free_before = gpu.memory.as_ref().ok().map(|memory| memory.free);
    request.known_idle = others.is_none() && gpu.processes.is_ok();
    let name = gpu.uuid.clone().unwrap_or_else(|_| gpu.index.to_string());
    let library = Library::open(root).ok();
    let margin =
        gpu.memory.as_ref().map_or(0, |memory| crate::gpu::cuda::probe::margin(memory.total, !request.known_idle));
    let known = gpu.processes.as_ref().map_or(0, |list| list.iter().filter(|process| computes(process.kind)).count());
    let mut guard = || {
        let (memory, processes) = library.as_ref()?.again(gpu.index)?;
        // The child itself is one more. Numbers do not tell which: in a container they are the host's.
        if processes.iter().filter(|process| computes(process.kind)).count() > known + 1 {
            return Some("another process came to the GPU".to_string());
        }
        (memory.free < margin / 2 && options.fill).then(|| format!("only {} were left free", Bytes(memory.free)))
    };
    locked(&name, options, &mut || parent::probe(&request, &mut guard))
}

/// Probes CUDA's first device where nobody else can name a GPU.
pub fn alone(options: &CudaOptions, reproduction: Option<&Reproduction>) -> Part {
    let request = request(Which::Ordinal(0), options, reproduction);
    locked("0", options, &mut || parent::probe(&request, &mut || None))
}

fn request(which: Which, options: &CudaOptions, reproduction: Option<&Reproduction>) -> Request {
    let states = reproduction.filter(|_| options.fill).map(|reproduction| &reproduction.cases);
    Request {
        which,
        free_before: None,
        known_idle: false,
        busy_allowed: options.busy_allowed,
        bench: options.bench,
        fill: options.fill,
        experiment: states.into_iter().flatten().map(|(state, _)| state.clone()).collect(),
        buffer: options.buffer,
        seconds: options.seconds,
    }
}

fn computes(kind: Kind) -> bool {
    kind != Kind::Graphics
}

/// Who uses the GPU, as far as the readings tell.
fn others(gpu: &Gpu) -> Option<Text> {
    if let Ok(list) = &gpu.processes {
        let pids: Vec<String> =
            list.iter().filter(|process| computes(process.kind)).map(|process| process.pid.to_string()).collect();
        if !pids.is_empty() {
            let pids = pids.join(", ");
            return Some(text!(en: "by process {pids}", zh: "进程 {pids}"));
        }
    }
    if let Ok(attribution) = &gpu.attribution
        && attribution.unexplained >= UNEXPLAINED
    {
        let bytes = Bytes(attribution.unexplained);
        return Some(text!(en: "{bytes} belong to nobody who is listed", zh: "{bytes} 无归属"));
    }
    match &gpu.utilization {
        Ok(percent) if *percent > 0 => {
            Some(text!(en: "kernels run on it {percent} % of the time", zh: "{percent} % 的时间有内核在运行"))
        }
        _ => None,
    }
}

/// Two probes that fill the same device would each find the other's memory missing.
fn locked(name: &str, options: &CudaOptions, probe: &mut dyn FnMut() -> parent::Findings) -> Part {
    if !options.fill {
        return Part::Read(probe());
    }
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let path = std::env::temp_dir().join(format!("oomdoc-{name}.lock"));
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    match file.as_ref().map(File::try_lock) {
        Ok(Err(TryLockError::WouldBlock)) => {
            let path = path.display();
            Part::Refused(Text::new(
                format!("refused: another oomdoc fills this GPU ({path} is locked)"),
                format!("已拒绝：另一个 oomdoc 正在填充此 GPU（{path} 已锁定）"),
            ))
        }
        // Without a lock file, such as on a read-only system, there is nobody to ask.
        _ => Part::Read(probe()),
    }
}

/// True where a probe was refused because somebody uses the device.
pub fn refused(part: &Part) -> bool {
    match part {
        Part::Refused(_) => true,
        Part::Read(read) => read.busy().is_some(),
    }
}

/// True where CUDA answered with a device.
pub fn answered(part: &Part) -> bool {
    matches!(part, Part::Read(read) if read.device().is_ok())
}
