//! GPUs from a saved `nvidia-smi -q`: its indented log of `name : value` lines, a section for each GPU.

use super::nvidia_smi::{Told, absent, figures, no_driver, process};
use super::{Addressing, ComputeMode, Ecc, Gpu, GpuProcess, Kind, Mig, RemappedRows, Virtualization, Window};
use crate::reading::{Reading, Unavailable, unavailable};
use crate::text::Text;
use crate::units::MIB;

/// Sections lie no deeper in any version of the log.
const DEEPEST: usize = 12;

/// True of a text that holds such a log.
pub fn is_log(text: &str) -> bool {
    text.contains("NVSMI LOG") || (text.contains("FB Memory Usage") && text.contains("Attached GPUs"))
}

/// One line of a GPU's section: the headers above it and its own name, joined by `/`, and the value.
struct Field<'a> {
    path: String,
    value: &'a str,
}

/// Reads the log. A section cut off at its end tells what it has.
pub fn log(text: &str) -> Told {
    let mut told = Told { gpus: Vec::new(), driver: no_driver() };
    let mut sections: Vec<(&str, Vec<Field>)> = Vec::new();
    let mut above: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        if indent == 0
            && let Some(address) = bare.strip_prefix("GPU ").filter(|address| address.contains(':'))
        {
            sections.push((address, Vec::new()));
            above.clear();
            continue;
        }
        above.retain(|(depth, _)| *depth < indent);
        let (name, value) = match bare.split_once(" : ") {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (bare, None),
        };
        if let (Some(value), Some((_, fields))) = (value, sections.last_mut()) {
            let mut path: String = above.iter().map(|(_, header)| format!("{header}/")).collect();
            path.push_str(name);
            fields.push(Field { path, value });
        } else if let Some(value) = value {
            match name {
                "Driver Version" => told.driver.version = Ok(value.to_string()),
                "CUDA Version" => told.driver.cuda = Ok(value.to_string()),
                _ => {}
            }
        }
        // A process's number heads what is told of it.
        if above.len() < DEEPEST && !name.is_empty() {
            above.push((indent, name));
        }
    }
    for (index, (address, fields)) in sections.iter().enumerate() {
        told.gpus.push(gpu(u32::try_from(index).unwrap_or(u32::MAX), address, fields));
    }
    told
}

fn gpu(index: u32, address: &str, fields: &[Field]) -> Gpu {
    let reason: Unavailable = Text::new("the log does not say", "日志中没有").into();
    let field = |path: &str| -> Reading<&str> {
        match fields.iter().find(|field| field.path == path).map(|field| field.value) {
            None => Err(absent(path)),
            Some(value) if value.is_empty() || value == "N/A" || value.starts_with('[') => {
                unavailable(format!("nvidia-smi says {value} for {path}"), format!("nvidia-smi 对 {path} 给出 {value}"))
            }
            Some(value) => Ok(value),
        }
    };
    let size = |path: &str| field(path).and_then(bytes);
    let number = |path: &str| -> Reading<u32> {
        let value = field(path)?;
        value.trim_end_matches('%').trim().parse().or_else(|_| no_number(value))
    };
    let one_of = |path: &str| field(path).map(str::to_ascii_lowercase);
    let enabled = |path: &str| -> Reading<bool> {
        match one_of(path)?.as_str() {
            "enabled" | "yes" => Ok(true),
            "disabled" | "no" => Ok(false),
            other => no_number(other),
        }
    };
    let mut gpu = Gpu::unread(index, &reason);
    gpu.uuid = field("GPU UUID").map(str::to_string);
    gpu.name = field("Product Name").map(str::to_string);
    gpu.pci = Ok(address.to_string());
    gpu.minor = number("Minor Number");
    gpu.memory = figures(
        size("FB Memory Usage/Total"),
        size("FB Memory Usage/Used"),
        size("FB Memory Usage/Free"),
        size("FB Memory Usage/Reserved").ok(),
    );
    gpu.bar1 = size("BAR1 Memory Usage/Total")
        .and_then(|total| Ok(Window { total, used: size("BAR1 Memory Usage/Used")?.min(total) }));
    gpu.utilization = number("Utilization/Gpu").or_else(|_| number("Utilization/GPU"));
    gpu.persistence = enabled("Persistence Mode");
    gpu.display = enabled("Display Active");
    // The log lists instances without their memory.
    gpu.mig = enabled("MIG Mode/Current").map(|enabled| Mig { enabled, instances: Vec::new() });
    gpu.compute_mode = one_of("Compute Mode").and_then(|mode| match mode.as_str() {
        "default" => Ok(ComputeMode::Default),
        "exclusive_process" => Ok(ComputeMode::ExclusiveProcess),
        "exclusive_thread" => Ok(ComputeMode::ExclusiveThread),
        "prohibited" => Ok(ComputeMode::Prohibited),
        other => no_number(other),
    });
    gpu.virtualization = one_of("GPU Virtualization Mode/Virtualization Mode").and_then(|mode| match mode.as_str() {
        "none" => Ok(Virtualization::None),
        "pass-through" => Ok(Virtualization::PassThrough),
        "vgpu" => Ok(Virtualization::VGpu),
        "host vgpu" | "host vsga" => Ok(Virtualization::Host),
        other => no_number(other),
    });
    gpu.addressing = one_of("Addressing Mode").and_then(|mode| match mode.as_str() {
        "none" => Ok(Addressing::None),
        "hmm" => Ok(Addressing::Hmm),
        "ats" => Ok(Addressing::Ats),
        other => no_number(other),
    });
    let uncorrected = |since: &str| -> Reading<u64> {
        // Older logs count double-bit errors by unit and in all, newer ones name memory and kind in each line.
        if let Ok(total) = field(&format!("ECC Errors/{since}/Double Bit/Total")) {
            return total.parse().or_else(|_| no_number(total));
        }
        let head = format!("ECC Errors/{since}/");
        let counts = fields
            .iter()
            .filter(|field| field.path.strip_prefix(&head).is_some_and(|name| name.contains(" Uncorrectable")))
            .filter_map(|field| field.value.parse::<u64>().ok());
        counts.reduce(u64::saturating_add).ok_or_else(|| absent(&head))
    };
    gpu.ecc = enabled("ECC Mode/Current").map(|enabled| Ecc {
        enabled,
        volatile_uncorrected: uncorrected("Volatile"),
        aggregate_uncorrected: uncorrected("Aggregate"),
    });
    gpu.remapped = number("Remapped Rows/Correctable Error").and_then(|correctable| {
        Ok(RemappedRows {
            correctable,
            uncorrectable: number("Remapped Rows/Uncorrectable Error")?,
            pending: enabled("Remapped Rows/Pending")?,
            failed: enabled("Remapped Rows/Remapping Failure Occurred")?,
        })
    });
    gpu.processes = processes(fields);
    gpu
}

/// The list under `Processes`; `None` there is an empty one.
fn processes(fields: &[Field]) -> Reading<Vec<GpuProcess>> {
    let mut listed = None;
    for Field { path, value } in fields {
        if path == "Processes" {
            listed = (*value == "None").then(Vec::new);
        }
        let Some(name) = path.strip_prefix("Processes/") else { continue };
        let list: &mut Vec<GpuProcess> = listed.get_or_insert_default();
        let name = name.rsplit('/').next().unwrap_or(name);
        match (name, list.last_mut()) {
            ("Process ID", _) => {
                if let Ok(pid) = value.parse() {
                    list.push(process(pid, Err(absent("its memory")), None));
                }
            }
            ("Type", Some(last)) => {
                last.kind = match *value {
                    "G" => Kind::Graphics,
                    "C" | "C+G" => Kind::Compute,
                    "M" | "M+C" | "M+C+G" => Kind::Mps,
                    _ => Kind::Unknown,
                }
            }
            ("Name", Some(last)) => last.told_name = (!value.is_empty()).then(|| value.to_string()),
            ("Used GPU Memory", Some(last)) => last.bytes = bytes(value),
            _ => {}
        }
    }
    listed.ok_or_else(|| absent("processes"))
}

/// `81920 MiB`.
fn bytes(value: &str) -> Reading<u64> {
    let mib = value.strip_suffix("MiB").and_then(|number| number.trim().parse::<u64>().ok());
    match mib.and_then(|mib| mib.checked_mul(MIB)) {
        Some(bytes) => Ok(bytes),
        None => unavailable(format!("nvidia-smi says {value}"), format!("nvidia-smi 给出 {value}")),
    }
}

fn no_number<T>(value: &str) -> Reading<T> {
    unavailable(format!("nvidia-smi says {value}"), format!("nvidia-smi 给出 {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 10:21:07 2025
Driver Version                            : 570.124.06
CUDA Version                              : 12.8

Attached GPUs                             : 2
GPU 00000000:1A:00.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    Persistence Mode                      : Enabled
    Addressing Mode                       : None
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    GPU UUID                              : GPU-5c2b7d10-0f44-9a31-6d02-1f0f4a7c9e55
    Minor Number                          : 3
    GPU Virtualization Mode
        Virtualization Mode               : None
    FB Memory Usage
        Total                             : 40960 MiB
        Reserved                          : 524 MiB
        Used                              : 38120 MiB
        Free                              : 2316 MiB
    BAR1 Memory Usage
        Total                             : 65536 MiB
        Used                              : 5 MiB
        Free                              : 65531 MiB
    Compute Mode                          : Default
    Utilization
        Gpu                               : 97 %
        Memory                            : 40 %
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 1
            SRAM Uncorrectable SEC-DED    : 0
            DRAM Correctable              : 4
            DRAM Uncorrectable            : 2
        Aggregate
            SRAM Uncorrectable            : 7
            DRAM Uncorrectable            : N/A
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Processes
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 88121
            Type                          : C
            Name                          : python train.py
            Used GPU Memory               : 37500 MiB
        Process ID                        : 2210
            Type                          : G
            Name                          : /usr/lib/xorg/Xorg
            Used GPU Memory               : N/A
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    FB Memory Usage
        Total                             : N/A
    Processes                             : None
";

    #[test]
    fn the_log_of_a_query_is_read() {
        assert!(is_log(LOG));
        let told = log(LOG);
        assert_eq!(told.driver.version.as_deref(), Ok("570.124.06"));
        let gpu = &told.gpus[0];
        let memory = gpu.memory.clone().unwrap_or_else(|reason| panic!("{reason:?}"));
        assert_eq!((memory.reserved, memory.used, memory.free), (Some(524 * MIB), 38120 * MIB, 2316 * MIB));
        assert_eq!((gpu.minor.clone(), gpu.utilization.clone(), gpu.display.is_err()), (Ok(3), Ok(97), true));
        let ecc = gpu.ecc.clone().unwrap_or_else(|reason| panic!("{reason:?}"));
        assert_eq!((ecc.enabled, ecc.volatile_uncorrected, ecc.aggregate_uncorrected), (true, Ok(3), Ok(7)));
        let rows = RemappedRows { correctable: 0, uncorrectable: 1, pending: true, failed: false };
        assert_eq!(gpu.remapped, Ok(rows));
        let processes = gpu.processes.clone().unwrap_or_default();
        assert_eq!(
            (processes[0].pid, processes[0].kind, processes[0].bytes.clone()),
            (88121, Kind::Compute, Ok(37500 * MIB))
        );
        assert_eq!(
            (processes[1].told_name.as_deref(), processes[1].kind),
            (Some("/usr/lib/xorg/Xorg"), Kind::Graphics)
        );
        assert!(processes.len() == 2 && processes[1].bytes.is_err());
        let other = &told.gpus[1];
        assert!(other.memory.is_err() && other.ecc.is_err());
        assert_eq!((other.pci.as_deref(), other.processes.as_deref()), (Ok("00000000:1B:00.0"), Ok(&[][..])));
    }

    #[test]
    fn a_log_cut_anywhere_is_read_as_far_as_it_goes() {
        for end in (0..LOG.len()).step_by(37) {
            assert!(log(&LOG[..end]).gpus.len() <= 2);
        }
    }
}
