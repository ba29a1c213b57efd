//! The probe's JSON (`docs/probe.schema.json`). Bytes are integers; what could not be read is `{"unavailable": "why"}`.

use super::Findings;
use crate::gpu::attribution::Attribution;
use crate::gpu::{Ecc, Gpu, GpuProcess, Identity, Memory, Mig, RemappedRows, amd};
use crate::host::processes::{Holder, Process};
use crate::host::{Host, cgroup, meminfo};
use crate::reading::Reading;
use crate::text::{Lang, Text};
use serde_json::{Map, Value, json};

/// The findings as one JSON document, its prose in `lang`.
pub fn render(findings: &Findings, lang: Lang) -> Value {
    let writer = Writer { lang };
    let survey = &findings.survey;
    let mut out = Map::new();
    out.insert("schema".into(), "oomdoc.probe/1".into());
    out.insert("tool".into(), json!({"name": "oomdoc", "version": env!("CARGO_PKG_VERSION")}));
    out.insert("source".into(), survey.source.id().into());
    if let Some(degraded) = survey.degraded {
        out.insert("degraded".into(), writer.said(degraded.id(), &degraded.text()));
    }
    let driver = &survey.driver;
    out.insert(
        "driver".into(),
        json!({
            "version": writer.read(&driver.version, |text| text.as_str().into()),
            "nvml": writer.read(&driver.nvml, |text| text.as_str().into()),
            "cuda": writer.read(&driver.cuda, |text| text.as_str().into()),
        }),
    );
    out.insert("notes".into(), survey.notes.iter().map(|note| writer.said(note.id, &note.text)).collect());
    out.insert("visibility".into(), writer.visibility(findings));
    let gpus = findings.shown.iter().zip(&findings.verdicts).enumerate().map(|(at, (gpu, verdicts))| {
        let mut value = writer.gpu(gpu, findings.mapping.cuda_index(gpu.index));
        if let Some(Some(part)) = findings.cuda.get(at) {
            value["cuda"] = super::cuda::json(part, lang);
        }
        value["verdicts"] = verdicts.iter().map(|verdict| writer.said(verdict.id, &verdict.text)).collect();
        value
    });
    out.insert("gpus".into(), gpus.collect());
    if let Some(part) = &findings.cuda_alone {
        out.insert("cuda".into(), super::cuda::json(part, lang));
    }
    if let Some(reproduction) = &findings.reproduction {
        out.insert("reproduction".into(), super::cuda::reproduction_json(reproduction, findings.measured(), lang));
    }
    out.insert("others".into(), survey.others.iter().map(|other| writer.other(other)).collect());
    out.insert(
        "holders".into(),
        writer.read(&survey.holders, |holders| {
            json!({
                "found": holders.found.iter().map(|holder| writer.holder(holder)).collect::<Vec<_>>(),
                "unseen_processes": holders.unseen,
            })
        }),
    );
    out.insert("host".into(), writer.host(&survey.host));
    out.insert(
        "warnings".into(),
        findings.warnings.iter().map(|warning| writer.said(warning.id, &warning.text)).collect(),
    );
    Value::Object(out)
}

struct Writer {
    lang: Lang,
}

impl Writer {
    fn said(&self, id: &str, text: &Text) -> Value {
        json!({"id": id, "text": text.in_lang(self.lang)})
    }

    fn read<T>(&self, reading: &Reading<T>, value: impl FnOnce(&T) -> Value) -> Value {
        match reading {
            Ok(read) => value(read),
            Err(reason) => json!({"unavailable": reason.why.in_lang(self.lang)}),
        }
    }

    fn number<T: Copy + Into<Value>>(&self, reading: &Reading<T>) -> Value {
        self.read(reading, |number| (*number).into())
    }

    fn text(&self, reading: &Reading<String>) -> Value {
        self.read(reading, |text| text.as_str().into())
    }

    fn visibility(&self, findings: &Findings) -> Value {
        let visibility = &findings.survey.visibility;
        let mapping = &findings.mapping;
        let entries = mapping.entries.iter().map(|entry| {
            let mut value = json!({"cuda_index": entry.cuda, "index": entry.gpu});
            if let Some(instance) = &entry.instance {
                value["instance"] = instance.as_str().into();
            }
            value
        });
        let mut out = json!({
            "cuda_visible_devices": visibility.list,
            "nvidia_visible_devices": visibility.container,
            "slurm_gpus": visibility.slurm,
            "pci_bus_order": visibility.by_bus,
            "order_uncertain": mapping.order_uncertain,
            "devices": entries.collect::<Vec<_>>(),
        });
        if let Some(entry) = &mapping.stopped_at {
            out["stopped_at"] = entry.as_str().into();
        }
        out
    }

    fn gpu(&self, gpu: &Gpu, cuda_index: Option<u32>) -> Value {
        let mut out = json!({
            "index": gpu.index,
            "uuid": self.text(&gpu.uuid),
            "name": self.text(&gpu.name),
            "pci": self.text(&gpu.pci),
            "minor": self.number(&gpu.minor),
        });
        if let Some(index) = cuda_index {
            out["cuda_index"] = index.into();
        }
        let rest = json!({
            "memory": self.read(&gpu.memory, |memory| self.memory(memory)),
            "processes": self.read(&gpu.processes, |list| list.iter().map(|process| self.gpu_process(process)).collect()),
            "unexplained_bytes": self.read(&gpu.attribution, |attribution| attribution.unexplained.into()),
            "attribution": self.read(&gpu.attribution, |attribution| self.attribution(attribution)),
            "mig": self.read(&gpu.mig, |mig| self.mig(mig)),
            "ecc": self.read(&gpu.ecc, |ecc| self.ecc(ecc)),
            "remapped_rows": self.read(&gpu.remapped, remapped),
            "bar1": self.read(&gpu.bar1, |bar1| json!({"total_bytes": bar1.total, "used_bytes": bar1.used})),
            "compute_mode": self.read(&gpu.compute_mode, |mode| mode.id().into()),
            "persistence_mode": self.number(&gpu.persistence),
            "display_active": self.number(&gpu.display),
            "virtualization": self.read(&gpu.virtualization, |mode| mode.id().into()),
            "addressing": self.read(&gpu.addressing, |mode| mode.id().into()),
            "numa_node": self.number(&gpu.numa_node),
            "throttling": self.read(&gpu.throttling, |reasons| reasons.iter().map(|reason| Value::from(reason.id())).collect()),
            "utilization_percent": self.number(&gpu.utilization),
            "multiprocessors": self.number(&gpu.multiprocessors),
            "cuda": {"unavailable": Text::new("not asked: the probe used no GPU memory", "未读取：本次探测没有使用显存").in_lang(self.lang)},
        });
        if let (Value::Object(out), Value::Object(rest)) = (&mut out, rest) {
            out.extend(rest);
        }
        out
    }

    fn memory(&self, memory: &Memory) -> Value {
        let reserved = match memory.reserved {
            Some(bytes) => bytes.into(),
            None => {
                let why = Text::new(
                    "the source does not tell it (driver before R510, or a table)",
                    "数据来源不提供（R510 之前的驱动，或表格）",
                );
                json!({"unavailable": why.in_lang(self.lang)})
            }
        };
        json!({
            "total_bytes": memory.total,
            "reserved_bytes": reserved,
            "used_bytes": memory.used,
            "free_bytes": memory.free,
            "allocated_bytes": memory.allocated(),
            "used_holds_reserved": match memory.identity {
                _ if memory.reserved.is_none() => Value::Null,
                Identity::Excludes => false.into(),
                Identity::Includes => true.into(),
                Identity::Unclear(_) => Value::Null,
            },
        })
    }

    fn gpu_process(&self, process: &GpuProcess) -> Value {
        let known = |read: fn(&Process) -> Reading<String>| -> Value {
            self.text(&process.process.clone().and_then(|process| read(&process)))
        };
        let mut out = json!({
            "pid": process.pid,
            "name": self.text(&process.name()),
            "user": known(|process| process.user.clone()),
            "container": self.read(
                &process.process.clone().and_then(|process| process.container),
                |container| container.as_deref().into(),
            ),
            "state": known(|process| process.state.clone().map(String::from)),
            "age_seconds": self.number(&process.process.clone().and_then(|process| process.age_seconds)),
            "used_bytes": self.number(&process.bytes),
            "kind": process.kind.id(),
            "cuda_visible_devices": self.read(&process.visible_devices, |list| list.as_deref().into()),
        });
        if let Some(instance) = process.instance {
            out["gpu_instance"] = instance.into();
        }
        if let Some(limit) = &process.mps_limit {
            out["mps_limit"] = limit.as_str().into();
        }
        out
    }

    fn attribution(&self, attribution: &Attribution) -> Value {
        let samples: Vec<i64> =
            attribution.samples.iter().map(|left| i64::try_from(*left).unwrap_or(i64::MAX)).collect();
        json!({
            "reason": attribution.reason.id(),
            "text": attribution.text.in_lang(self.lang),
            "samples": samples,
        })
    }

    fn mig(&self, mig: &Mig) -> Value {
        let instances = mig.instances.iter().map(|instance| {
            json!({
                "uuid": self.text(&instance.uuid),
                "name": self.text(&instance.name),
                "gpu_instance": self.number(&instance.gpu_instance),
                "memory": self.read(&instance.memory, |memory| self.memory(memory)),
            })
        });
        json!({"enabled": mig.enabled, "instances": instances.collect::<Vec<_>>()})
    }

    fn ecc(&self, ecc: &Ecc) -> Value {
        json!({
            "enabled": ecc.enabled,
            "volatile_uncorrected": self.number(&ecc.volatile_uncorrected),
            "aggregate_uncorrected": self.number(&ecc.aggregate_uncorrected),
        })
    }

    fn other(&self, other: &amd::Other) -> Value {
        json!({
            "maker": other.maker.id(),
            "name": other.name,
            "memory": {"total_bytes": self.number(&other.total), "used_bytes": self.number(&other.used)},
            "mapped_ram": {"total_bytes": self.number(&other.mapped_total), "used_bytes": self.number(&other.mapped_used)},
            "text": other.maker.text().in_lang(self.lang),
        })
    }

    fn process(&self, process: &Process) -> Value {
        json!({
            "pid": process.pid,
            "name": self.text(&process.name),
            "user": self.text(&process.user),
            "container": self.read(&process.container, |container| container.as_deref().into()),
            "state": self.read(&process.state, |state| state.to_string().into()),
            "parent": self.number(&process.parent),
            "age_seconds": self.number(&process.age_seconds),
            "resident_bytes": self.number(&process.resident),
            "proportional_bytes": self.number(&process.proportional),
            "locked_bytes": self.number(&process.locked),
            "pinned_bytes": self.number(&process.pinned),
            "swapped_bytes": self.number(&process.swapped),
        })
    }

    fn holder(&self, holder: &Holder) -> Value {
        let mut out = self.process(&holder.process);
        out["minors"] = holder.minors.clone().into();
        out["program_deleted"] = holder.deleted.into();
        out["orphaned"] = holder.orphaned().into();
        out
    }

    fn host(&self, host: &Host) -> Value {
        json!({
            "memory": self.read(&host.memory, |memory| self.host_memory(memory)),
            "pressure": self.read(&host.pressure, pressure),
            "cgroup": self.read(&host.groups, |groups| json!({
                "version": groups.version,
                "groups": groups.groups.iter().map(|group| self.group(group)).collect::<Vec<_>>(),
            })),
            "shm": self.read(&host.shm, |shm| json!({"size_bytes": shm.size, "used_bytes": self.number(&shm.used)})),
            "processes": self.read(&host.processes, |list| list.iter().map(|process| self.process(process)).collect()),
            "kernel_log": self.read(&host.kernel, |log| json!({
                "source": log.source,
                "xids": log.xids.iter().map(|xid| json!({
                    "number": xid.number,
                    "pci": xid.pci,
                    "meaning": xid.meaning().in_lang(self.lang),
                    "message": xid.message,
                })).collect::<Vec<_>>(),
                "kills": log.kills,
            })),
        })
    }

    fn host_memory(&self, memory: &meminfo::Memory) -> Value {
        json!({
            "total_bytes": memory.total,
            "available_bytes": self.number(&memory.available),
            "free_bytes": self.number(&memory.free),
            "file_cache_bytes": self.number(&memory.file_cache),
            "shared_bytes": self.number(&memory.shared),
            "swap_total_bytes": self.number(&memory.swap_total),
            "swap_free_bytes": self.number(&memory.swap_free),
            "locked_bytes": self.number(&memory.locked),
            "committed_bytes": self.number(&memory.committed),
            "commit_limit_bytes": self.number(&memory.commit_limit),
            "overcommit": self.read(&memory.overcommit, |mode| mode.id().into()),
        })
    }

    fn group(&self, group: &cgroup::Group) -> Value {
        json!({
            "path": group.path,
            "limit_bytes": self.read(&group.limit, |limit| (*limit).into()),
            "high_bytes": self.read(&group.high, |limit| (*limit).into()),
            "current_bytes": self.number(&group.current),
            "peak_bytes": self.number(&group.peak),
            "oom_kills": self.number(&group.oom_kills),
            "anonymous_bytes": self.number(&group.anonymous),
            "shared_bytes": self.number(&group.shared),
            "file_bytes": self.number(&group.files),
            "pressure": self.read(&group.pressure, pressure),
            "devices": group.devices.iter().map(|device| json!({
                "region": device.region,
                "limit_bytes": device.limit,
                "current_bytes": self.number(&device.current),
            })).collect::<Vec<_>>(),
        })
    }
}

fn remapped(rows: &RemappedRows) -> Value {
    json!({
        "correctable": rows.correctable,
        "uncorrectable": rows.uncorrectable,
        "pending": rows.pending,
        "failed": rows.failed,
    })
}

fn pressure(pressure: &meminfo::Pressure) -> Value {
    let averages = |averages: meminfo::Averages| json!({"avg10": averages.ten, "avg60": averages.minute, "avg300": averages.five_minutes});
    json!({"some": averages(pressure.some), "full": averages(pressure.full)})
}
