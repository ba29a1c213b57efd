//! `nvidia-smi` as it answers beside the simulated device: the list, the table and the queries that programs make.
//!
//! A script of that name stands first on the command's `PATH` and starts this program as a hidden subcommand, which
//! reads the device from the rehearsal's settings and what is in use from the counters of the processes that run.

use super::counters;
use super::launch::DeviceCalls;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The argument with which the program starts itself to answer.
pub const NAME: &str = "rehearse-smi";
/// What the simulated NVML says too.
const DRIVER: &str = "580.00";
const MIB: u64 = 1 << 20;

/// What is asked about.
struct Machine {
    name: String,
    compute: String,
    cuda: u64,
    total: u64,
    devices: usize,
    /// Of each device: bytes in use, and by which process.
    used: Vec<Vec<(u64, u64)>>,
    others: u64,
}

impl Machine {
    fn read(folder: &Path) -> Machine {
        let text = fs::read_to_string(folder.join("settings")).unwrap_or_default();
        let values: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
        let text = |name: &str| values.get(name).copied().unwrap_or_default().to_owned();
        let number = |name: &str| text(name).parse::<u64>().unwrap_or(0);
        let devices = (number("devices") as usize).clamp(1, counters::DEVICES);
        let mut used = vec![Vec::new(); devices];
        for entry in fs::read_dir(folder.join("results")).into_iter().flatten().flatten() {
            if !entry.file_name().to_string_lossy().starts_with("device-") {
                continue;
            }
            let mut bytes = Vec::new();
            let read = fs::File::open(entry.path())
                .and_then(|file| file.take(counters::LENGTH as u64).read_to_end(&mut bytes));
            let calls = read.ok().and_then(|_| DeviceCalls::read(&bytes));
            let Some(calls) = calls.filter(|calls| Path::new(&format!("/proc/{}", calls.pid)).exists()) else {
                continue;
            };
            for (device, figures) in calls.devices.iter().enumerate().filter(|(_, figures)| figures.peak > 0) {
                if let Some(list) = used.get_mut(device) {
                    list.push((calls.pid, figures.used.saturating_add(number("context"))));
                }
            }
        }
        Machine {
            name: text("name"),
            compute: text("cc"),
            cuda: number("cuda"),
            total: number("total"),
            devices,
            used,
            others: number("others"),
        }
    }

    fn used(&self, device: usize) -> u64 {
        let processes = self.used.get(device).into_iter().flatten().map(|(_, bytes)| bytes).sum::<u64>();
        processes.saturating_add(self.others).min(self.total)
    }

    /// The value of a query's field and its unit; `None` for a field that is not known here.
    fn field(&self, device: usize, name: &str) -> Option<(String, &'static str)> {
        let mib = |bytes: u64| Some(((bytes / MIB).to_string(), "MiB"));
        let plain = |text: String| Some((text, ""));
        match name {
            "index" | "module_id" => plain(device.to_string()),
            "count" => plain(self.devices.to_string()),
            "name" | "gpu_name" => plain(self.name.clone()),
            "uuid" | "gpu_uuid" => plain(uuid(device)),
            "pci.bus_id" | "gpu_bus_id" => plain(format!("00000000:{:02X}:00.0", device + 1)),
            "driver_version" => plain(DRIVER.into()),
            "compute_cap" => plain(self.compute.clone()),
            "memory.total" => mib(self.total),
            "memory.used" => mib(self.used(device)),
            "memory.free" => mib(self.total - self.used(device)),
            "memory.reserved" => mib(0),
            "utilization.gpu" | "utilization.memory" => Some(("0".into(), "%")),
            "temperature.gpu" => plain("40".into()),
            "power.draw" | "power.draw.instant" | "power.draw.average" => Some(("0.00".into(), "W")),
            "pstate" => plain("P0".into()),
            "compute_mode" => plain("Default".into()),
            "persistence_mode" => plain("Enabled".into()),
            _ => None,
        }
    }
}

/// As the simulated NVML has it.
fn uuid(device: usize) -> String {
    format!("GPU-{:02x}000000-0000-0000-0000-000000000000", device + 1)
}

/// Answers; the exit code is that of the real program.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> (String, u8) {
    let Some(folder) = arguments.next() else { return ("not for use by hand\n".into(), 2) };
    let machine = Machine::read(Path::new(&folder));
    let arguments: Vec<String> = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    answer(&machine, &arguments)
}

/// An option's value, written as `--name=value` or as two words.
fn value<'a>(arguments: &'a [String], names: &[&str]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, argument)| match argument.split_once('=') {
        Some((name, value)) if names.contains(&name) => Some(value),
        None if names.contains(&argument.as_str()) => arguments.get(at + 1).map(String::as_str),
        _ => None,
    })
}

fn answer(machine: &Machine, arguments: &[String]) -> (String, u8) {
    let chosen = value(arguments, &["-i", "--id"]);
    let is_chosen = |device: &usize| {
        chosen
            .is_none_or(|list| list.split(',').any(|id| id.trim() == device.to_string() || id.trim() == uuid(*device)))
    };
    let devices: Vec<usize> = (0..machine.devices).filter(is_chosen).collect();
    if devices.is_empty() {
        return ("No devices were found\n".into(), 6);
    }
    let format = value(arguments, &["--format", "-f"]).unwrap_or_default();
    let format: Vec<&str> = format.split(',').map(str::trim).collect();
    let units = !format.contains(&"nounits");
    let heading = !format.contains(&"noheader");
    let mut out = String::new();
    let write_row = |out: &mut String, row: Vec<String>| out.push_str(&format!("{}\n", row.join(", ")));
    let with_unit = |(text, unit): (String, &str)| match unit {
        "" => text,
        unit if units => format!("{text} {unit}"),
        _ => text,
    };
    if let Some(fields) = value(arguments, &["--query-gpu"]) {
        let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
        let unit_of = |field: &str| machine.field(0, field).map_or("", |(_, unit)| unit);
        if heading {
            let named = |field: &&str| match unit_of(field) {
                "" => (*field).to_owned(),
                unit => format!("{field} [{unit}]"),
            };
            write_row(&mut out, fields.iter().map(named).collect());
        }
        for device in devices {
            let cell = |field: &&str| machine.field(device, field).map_or("[N/A]".into(), with_unit);
            write_row(&mut out, fields.iter().map(cell).collect());
        }
    } else if let Some(fields) = value(arguments, &["--query-compute-apps", "--query-accounted-apps"]) {
        let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
        if heading {
            write_row(&mut out, fields.iter().map(|field| (*field).to_owned()).collect());
        }
        for device in devices {
            for (pid, bytes) in machine.used.get(device).into_iter().flatten() {
                let cell = |field: &&str| match *field {
                    "pid" => pid.to_string(),
                    "process_name" | "name" => program(*pid),
                    "used_memory" | "used_gpu_memory" => with_unit(((bytes / MIB).to_string(), "MiB")),
                    field => machine.field(device, field).map_or("[N/A]".into(), with_unit),
                };
                write_row(&mut out, fields.iter().map(cell).collect());
            }
        }
    } else if arguments.iter().any(|argument| matches!(argument.as_str(), "-L" | "--list-gpus")) {
        for device in devices {
            let _ = writeln!(out, "GPU {device}: {} (UUID: {})", machine.name, uuid(device));
        }
    } else {
        table(machine, &devices, &mut out);
    }
    (out, 0)
}

fn program(pid: u64) -> String {
    fs::read_link(format!("/proc/{pid}/exe")).map_or("[N/A]".into(), |path| path.display().to_string())
}

/// The screen that the bare command prints.
fn table(machine: &Machine, devices: &[usize], out: &mut String) {
    let rule = |mark: char| format!("+{0}+{1}+{1}+\n", mark.to_string().repeat(41), mark.to_string().repeat(24));
    let line = "-".repeat(91);
    let cuda = format!("{}.{}", machine.cuda / 1000, machine.cuda % 1000 / 10);
    let _ = writeln!(out, "+{line}+");
    let versions = format!("NVIDIA-SMI {DRIVER:<21} Driver Version: {DRIVER:<16} CUDA Version: {cuda}");
    let _ = writeln!(out, "| {versions:<90}|");
    out.push_str(&rule('-'));
    let _ = writeln!(out, "| {:<40}| {:<23}| {:<23}|", "GPU  Name", "Bus-Id", "Memory-Usage");
    out.push_str(&rule('='));
    for device in devices {
        let memory = format!("{}MiB / {}MiB", machine.used(*device) / MIB, machine.total / MIB);
        let bus = format!("00000000:{:02X}:00.0", device + 1);
        let _ = writeln!(out, "| {device:>3}  {:<35}| {bus:<23}| {memory:>22} |", machine.name);
    }
    out.push_str(&rule('-'));
    let _ = writeln!(out, "\n+{line}+\n| {:<90}|\n|{}|", "Processes:", "=".repeat(91));
    for device in devices {
        for (pid, bytes) in machine.used.get(*device).into_iter().flatten() {
            let memory = format!("{}MiB", bytes / MIB);
            let _ = writeln!(out, "| {device:>4} {pid:>9}  C   {:<55} {memory:>14} |", program(*pid));
        }
    }
    let _ = writeln!(out, "+{line}+");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_answered_from_the_settings_and_the_counters() {
        let folder = tempfile::tempdir().unwrap();
        let settings = format!("name=NVIDIA Test 1\ntotal={}\ndevices=2\ncontext={}\ncc=8.6\n", 100 * MIB, 4 * MIB);
        fs::write(folder.path().join("settings"), settings).unwrap();
        fs::create_dir(folder.path().join("results")).unwrap();
        let mut words = vec![0u64; counters::WORDS];
        words[0] = counters::MAGIC;
        words[counters::PID] = u64::from(std::process::id());
        words[counters::ROWS + counters::ROW + counters::USED] = 10 * MIB;
        words[counters::ROWS + counters::ROW + counters::PEAK] = 30 * MIB;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(counters::LENGTH, 0);
        fs::write(folder.path().join("results/device-1.bin"), bytes).unwrap();
        let ask = |arguments: &str| {
            let words = arguments.split_whitespace().map(OsString::from);
            run([folder.path().into()].into_iter().chain(words))
        };
        let query = "--query-gpu=index,name,memory.used,memory.free,fan.speed --format=csv,noheader,nounits";
        let both = "0, NVIDIA Test 1, 0, 100, [N/A]\n1, NVIDIA Test 1, 14, 86, [N/A]\n";
        assert_eq!(ask(query), (both.into(), 0));
        let with_units = "memory.total [MiB]\n100 MiB\n";
        assert_eq!(ask("-i 1 --query-gpu memory.total --format csv").0, with_units);
        assert_eq!(ask("-L").0.lines().nth(1), Some(format!("GPU 1: NVIDIA Test 1 (UUID: {})", uuid(1)).as_str()));
        let processes = ask("--query-compute-apps=pid,used_memory --format=csv,noheader").0;
        assert_eq!(processes, format!("{}, 14 MiB\n", std::process::id()));
        assert!(ask("").0.contains("14MiB / 100MiB"));
        assert_eq!(ask("-i 7").1, 6);
    }
}
