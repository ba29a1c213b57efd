//! What `oomdoc probe` reads as metrics in the text format of Prometheus, for its textfile collector. A reading that
//! could not be taken has no sample: absent is not 0.

use super::Findings;
use crate::gpu::Gpu;
use crate::reading::Reading;
use std::fmt::Write;

/// One metric: its samples under one help and one type.
struct Metric {
    name: &'static str,
    help: &'static str,
    samples: Vec<(Vec<(&'static str, String)>, f64)>,
}

impl Metric {
    fn new(name: &'static str, help: &'static str) -> Metric {
        Metric { name, help, samples: Vec::new() }
    }

    fn add(&mut self, labels: &[(&'static str, &str)], value: Option<f64>) {
        if let Some(value) = value {
            self.samples.push((labels.iter().map(|(name, text)| (*name, text.to_string())).collect(), value));
        }
    }
}

/// All metrics. The collector takes a file as a whole: write it under another name and rename it.
pub fn render(findings: &Findings) -> String {
    let mut total = Metric::new("oomdoc_gpu_memory_total_bytes", "Memory of the GPU.");
    let mut used = Metric::new("oomdoc_gpu_memory_used_bytes", "Memory in use, as the driver counts it.");
    let mut free = Metric::new("oomdoc_gpu_memory_free_bytes", "Memory that is free.");
    let mut reserved = Metric::new("oomdoc_gpu_memory_reserved_bytes", "Memory that driver and firmware keep.");
    let mut unexplained = Metric::new("oomdoc_gpu_memory_unexplained_bytes", "Memory in use by no listed process.");
    let mut busy = Metric::new("oomdoc_gpu_utilization_ratio", "Share of time in which a kernel ran.");
    let mut memory_busy =
        Metric::new("oomdoc_gpu_memory_utilization_ratio", "Share of time in which the memory was read or written.");
    let mut temperature = Metric::new("oomdoc_gpu_temperature_celsius", "Temperature of the chip.");
    let mut fan = Metric::new("oomdoc_gpu_fan_ratio", "Speed of the fan as a share of its full one.");
    let mut power = Metric::new("oomdoc_gpu_power_watts", "Power that the board draws.");
    let mut power_limit = Metric::new("oomdoc_gpu_power_limit_watts", "Power that the board may draw.");
    let mut clock = Metric::new("oomdoc_gpu_clock_hertz", "Clock of the multiprocessors.");
    let mut memory_clock = Metric::new("oomdoc_gpu_memory_clock_hertz", "Clock of the memory.");
    let mut process_busy =
        Metric::new("oomdoc_gpu_process_utilization_ratio", "Share of time in which a kernel of the process ran.");
    let mut held = Metric::new("oomdoc_gpu_process_memory_bytes", "Memory that a process holds on the GPU.");
    let mut verdict = Metric::new("oomdoc_gpu_verdict", "1 for each verdict on the GPU.");
    let mut readable = Metric::new("oomdoc_gpu_readable", "1 where the memory of the GPU could be read, else 0.");
    for (gpu, verdicts) in findings.shown.iter().zip(&findings.verdicts) {
        let named = labels_of(gpu);
        let labels: Vec<(&'static str, &str)> = named.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let memory = gpu.memory.as_ref().ok();
        let bytes = |bytes: u64| bytes as f64;
        total.add(&labels, memory.map(|memory| bytes(memory.total)));
        used.add(&labels, memory.map(|memory| bytes(memory.used)));
        free.add(&labels, memory.map(|memory| bytes(memory.free)));
        reserved.add(&labels, memory.and_then(|memory| memory.reserved).map(bytes));
        unexplained.add(&labels, gpu.attribution.as_ref().ok().map(|attribution| bytes(attribution.unexplained)));
        busy.add(&labels, gpu.utilization.as_ref().ok().map(|percent| f64::from(*percent) / 100.0));
        let sensors = &gpu.sensors;
        let of = |reading: &Reading<u32>, unit: f64| reading.as_ref().ok().map(|value| f64::from(*value) * unit);
        memory_busy.add(&labels, of(&sensors.memory_busy, 0.01));
        temperature.add(&labels, of(&sensors.temperature, 1.0));
        fan.add(&labels, of(&sensors.fan, 0.01));
        power.add(&labels, of(&sensors.power, 1e-3));
        power_limit.add(&labels, of(&sensors.power_limit, 1e-3));
        clock.add(&labels, of(&sensors.clock, 1e6));
        memory_clock.add(&labels, of(&sensors.memory_clock, 1e6));
        readable.add(&labels, Some(f64::from(u8::from(memory.is_some()))));
        for process in gpu.processes.iter().flatten() {
            let pid = process.pid.to_string();
            let name = process.name().unwrap_or_default();
            let instance = process.instance.map(|instance| instance.to_string());
            // A process may hold memory in several instances of a divided GPU: a line for each.
            let instance = instance.as_deref().map(|instance| ("gpu_instance", instance));
            let more: Vec<_> = labels
                .iter()
                .copied()
                .chain([("pid", pid.as_str()), ("process", name.as_str())])
                .chain(instance)
                .collect();
            held.add(&more, process.bytes.as_ref().ok().map(|of| bytes(*of)));
            process_busy.add(&more, of(&process.busy, 0.01));
        }
        for judgement in verdicts {
            verdict.add(&[labels.as_slice(), &[("verdict", judgement.id)]].concat(), Some(1.0));
        }
    }
    let mut ram = Metric::new("oomdoc_host_memory_total_bytes", "Memory of the host.");
    let mut available = Metric::new("oomdoc_host_memory_available_bytes", "Memory of the host that programs can have.");
    if let Ok(memory) = &findings.survey.host.memory {
        ram.add(&[], Some(memory.total as f64));
        available.add(&[], memory.available.as_ref().ok().map(|bytes| *bytes as f64));
    }
    let mut out = String::new();
    let memory = [total, used, free, reserved, unexplained, held];
    let state = [busy, memory_busy, temperature, fan, power, power_limit, clock, memory_clock, process_busy];
    for metric in memory.iter().chain(&state).chain(&[verdict, readable, ram, available]) {
        written(&mut out, metric);
    }
    out
}

fn labels_of(gpu: &Gpu) -> Vec<(&'static str, String)> {
    let mut labels = vec![("gpu", gpu.index.to_string())];
    labels.extend(gpu.uuid.as_ref().ok().map(|uuid| ("uuid", uuid.clone())));
    labels.extend(gpu.name.as_ref().ok().map(|name| ("name", name.clone())));
    labels
}

/// Nothing is written of a metric without samples.
fn written(out: &mut String, metric: &Metric) {
    if metric.samples.is_empty() {
        return;
    }
    let name = metric.name;
    let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} gauge", metric.help);
    for (labels, value) in &metric.samples {
        let labels: Vec<String> = labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(out, "{name}{labels} {value}");
    }
}

/// A label's value may hold anything but a bare quote, backslash or end of line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_metrics_without_samples_left_out() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
        let mut metric = Metric::new("m", "Something.");
        let mut out = String::new();
        metric.add(&[], None);
        written(&mut out, &metric);
        assert_eq!(out, "");
        metric.add(&[("gpu", "0"), ("name", "a \"b\"")], Some(1.5));
        metric.add(&[], Some(85_899_345_920.0));
        written(&mut out, &metric);
        let wanted = "# HELP m Something.\n# TYPE m gauge\nm{gpu=\"0\",name=\"a \\\"b\\\"\"} 1.5\nm 85899345920\n";
        assert_eq!(out, wanted);
    }
}
