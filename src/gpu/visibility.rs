//! Which GPU is "GPU 0": the driver's index, the UUID and what `CUDA_VISIBLE_DEVICES` makes of them.

use super::Gpu;
use crate::text::Text;

/// The variables that decide which GPUs a program sees, and how it numbers them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visibility {
    /// `CUDA_VISIBLE_DEVICES`; `None` = not set.
    pub list: Option<String>,
    /// `CUDA_DEVICE_ORDER` is `PCI_BUS_ID`, so that numbers count as `nvidia-smi` does.
    pub by_bus: bool,
    /// `NVIDIA_VISIBLE_DEVICES`, the container runtime's list.
    pub container: Option<String>,
    /// `SLURM_STEP_GPUS` or `SLURM_JOB_GPUS`: the node's numbers.
    pub slurm: Option<String>,
}

impl Visibility {
    /// Of this process's environment. That of the failed job may have been another.
    pub fn of_environment() -> Visibility {
        let variable = |name: &str| std::env::var(name).ok();
        Visibility {
            list: variable("CUDA_VISIBLE_DEVICES"),
            by_bus: variable("CUDA_DEVICE_ORDER").as_deref() == Some("PCI_BUS_ID"),
            container: variable("NVIDIA_VISIBLE_DEVICES"),
            slurm: variable("SLURM_STEP_GPUS").or_else(|| variable("SLURM_JOB_GPUS")),
        }
    }
}

/// One entry of `CUDA_VISIBLE_DEVICES` and what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number that the program gives it.
    pub cuda: u32,
    pub written: String,
    /// Index of the GPU as the driver counts.
    pub gpu: u32,
    /// The MIG instance's UUID.
    pub instance: Option<String>,
}

/// What a list makes visible, and where it stops being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub entries: Vec<Entry>,
    /// The entry at which the list ends because it names nothing.
    pub stopped_at: Option<String>,
    /// Numbers may count the fastest GPU first rather than as the driver does.
    pub order_uncertain: bool,
}

impl Mapping {
    /// Reads a list as CUDA does: from left to right, up to the first entry that names no device.
    pub fn of(visibility: &Visibility, gpus: &[Gpu]) -> Mapping {
        let same_model = gpus.windows(2).all(|pair| pair[0].name.is_ok() && pair[0].name == pair[1].name);
        let mut mapping = Mapping { entries: Vec::new(), stopped_at: None, order_uncertain: false };
        let Some(list) = &visibility.list else {
            mapping.order_uncertain = gpus.len() > 1 && !visibility.by_bus && !same_model;
            for (cuda, gpu) in gpus.iter().enumerate() {
                let entry = Entry { cuda: cuda as u32, written: String::new(), gpu: gpu.index, instance: None };
                mapping.entries.push(entry);
            }
            return mapping;
        };
        for written in list.split(',').map(str::trim) {
            let Some((gpu, instance)) = named(written, gpus) else {
                if !list.trim().is_empty() {
                    mapping.stopped_at = Some(written.to_string());
                }
                break;
            };
            let twice = mapping.entries.iter().any(|entry| entry.gpu == gpu && entry.instance == instance);
            if twice {
                mapping.stopped_at = Some(written.to_string());
                break;
            }
            if written.parse::<u32>().is_ok() && !visibility.by_bus && !same_model && gpus.len() > 1 {
                mapping.order_uncertain = true;
            }
            let cuda = mapping.entries.len() as u32;
            mapping.entries.push(Entry { cuda, written: written.to_string(), gpu, instance });
        }
        mapping
    }

    /// What the program calls a GPU.
    pub fn cuda_index(&self, gpu: u32) -> Option<u32> {
        self.entries.iter().find(|entry| entry.gpu == gpu).map(|entry| entry.cuda)
    }

    /// What is odd about the list.
    pub fn text(&self) -> Option<Text> {
        if let Some(entry) = &self.stopped_at {
            let left = self.entries.len();
            return Some(crate::text!(
                en: "CUDA_VISIBLE_DEVICES ends at '{entry}', which names no GPU here or one twice: {left} of its GPUs \
                     are visible",
                zh: "CUDA_VISIBLE_DEVICES 在 '{entry}' 处中止（该项不存在或重复）：可见 GPU {left} 个"
            ));
        }
        self.order_uncertain.then(|| {
            Text::new(
                "the GPUs differ, and without CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA typically counts the fastest first: \
                 its numbers need not be these",
                "各 GPU 型号不同；未设置 CUDA_DEVICE_ORDER=PCI_BUS_ID 时 CUDA 通常把最快的排在前面，其编号不一定与此一\
                 致",
            )
        })
    }
}

/// The GPU or instance that an entry names: a number, a UUID or the beginning of one that fits no other.
fn named(written: &str, gpus: &[Gpu]) -> Option<(u32, Option<String>)> {
    if let Ok(number) = written.parse::<u32>() {
        return gpus.iter().find(|gpu| gpu.index == number).map(|gpu| (gpu.index, None));
    }
    if written.starts_with("MIG-") {
        return gpus.iter().find_map(|gpu| {
            let mig = gpu.mig.as_ref().ok()?;
            let uuids = mig.instances.iter().filter_map(|instance| instance.uuid.clone().ok());
            let uuid = uuids.into_iter().find(|uuid| uuid.starts_with(written))?;
            Some((gpu.index, Some(uuid)))
        });
    }
    if !written.starts_with("GPU-") {
        return None;
    }
    let mut fitting = gpus.iter().filter(|gpu| gpu.uuid.as_ref().is_ok_and(|uuid| uuid.starts_with(written)));
    match (fitting.next(), fitting.next()) {
        (Some(gpu), None) => Some((gpu.index, None)),
        _ => None,
    }
}
