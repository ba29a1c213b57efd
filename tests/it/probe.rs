//! `oomdoc probe` against a library that plays the driver, on machines described by files.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::{binary, fakes};

use assert_cmd::Command;
use binary::schema::Schema;
use binary::{oomdoc, outcome, root};
use serde_json::Value;
use std::io::BufRead;
use std::ops::Add;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn fake() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| fakes::build("nvml.rs", "libnvidia-ml.so.1", "nvml", &[]));
    &FOLDER
}

/// A machine from `fixtures/host`: its files, and the links that its file `links` lists.
fn machine(case: &str) -> TempDir {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let target = to.join(path.file_name().unwrap());
            if path.is_dir() {
                copy(&path, &target);
            } else {
                std::fs::copy(&path, target).unwrap();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("fixtures/host").join(case), folder.path());
    for line in std::fs::read_to_string(folder.path().join("links")).unwrap().lines() {
        let (link, target) = line.split_once(" -> ").unwrap();
        let link = folder.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
    }
    folder
}

/// An idle board but for what a test adds.
const H100: &str = "gpu NVIDIA H100 80GB HBM3
uuid GPU-5d1f0c3e-7a42-9b1e-c0de-0123456789ab
pci 3b
minor 0
memory 81559 559 40007 40993
process compute 7120 40000
";

/// A probe on a machine, with the driver of a scenario, or without one.
struct Probe {
    folder: TempDir,
    command: Command,
}

fn probe(case: &str, scenario: Option<&str>) -> Probe {
    let folder = machine(case);
    let mut command = oomdoc();
    for name in ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    command.env("PATH", folder.path()).arg("probe").arg("--root").arg(folder.path());
    if let Some(scenario) = scenario {
        let path = folder.path().join("scenario");
        std::fs::write(&path, scenario).unwrap();
        command.env("FAKE_NVML", path).env("LD_LIBRARY_PATH", fake());
    }
    Probe { folder, command }
}

impl Probe {
    fn with(mut self, arguments: &[&str]) -> Probe {
        self.command.args(arguments);
        self
    }

    fn env(mut self, name: &str, value: &str) -> Probe {
        self.command.env(name, value);
        self
    }

    fn json(mut self) -> (i32, Value) {
        let (code, out, err) = outcome(self.command.arg("--json"));
        let report = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));
        assert!(!err.contains("panicked"), "{err}");
        (code, report)
    }

    fn screen(mut self) -> (i32, String) {
        let (code, out, err) = outcome(&mut self.command);
        assert_eq!(err, "");
        (code, out)
    }
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

fn verdicts(report: &Value) -> Vec<&str> {
    ids(&report["gpus"][0]["verdicts"])
}

#[test]
fn every_byte_of_a_gpu_is_told() {
    let (code, report) = probe("bare-metal", Some(H100)).json();
    assert_eq!((code, report["source"].as_str()), (0, Some("nvml")));
    let gpu = &report["gpus"][0];
    assert_eq!(gpu["memory"]["total_bytes"], 81559 * MIB);
    assert_eq!(gpu["memory"]["reserved_bytes"], 559 * MIB);
    assert_eq!(gpu["memory"]["free_bytes"], 40993 * MIB);
    assert_eq!(gpu["memory"]["used_holds_reserved"], false);
    assert_eq!(gpu["unexplained_bytes"], 7 * MIB);
    assert_eq!(gpu["multiprocessors"], 132);
    let process = &gpu["processes"][0];
    assert_eq!(process["name"], "python train_unet.py");
    assert_eq!((process["user"].as_str(), process["container"].as_str()), (Some("mei"), Some("docker 4be1c07d9a52")));
    assert_eq!(process["cuda_visible_devices"], "0");
    assert_eq!(process["age_seconds"], 7500 - 4300);
    assert_eq!(report["driver"]["cuda"], "13.0");
    let host = &report["host"];
    assert_eq!(host["processes"][0]["proportional_bytes"], 11_500_000 * 1024_u64);
    assert_eq!(host["processes"][0]["pinned_bytes"], 2 * GIB);
    assert_eq!(host["shm"]["size_bytes"], 65_536_000 * 1024_u64);
    assert!(host["shm"]["used_bytes"]["unavailable"].is_string());
}

/// Scenario, machine, options, and the verdicts of GPU 0 in their order.
#[test]
fn each_row_of_the_verdicts() {
    let with = |lines: &str| format!("{H100}{lines}");
    let orphan = H100.replace("process compute 7120 40000\n", "");
    let cases: &[(&str, String, &[&str], &[&str])] = &[
        ("nobody-holds", with(""), &["--pid", "7120"], &[]),
        ("device-quota", with(""), &["--pid", "7120", "--need", "2GiB"], &["quota"]),
        ("mps-limit", with(""), &["--pid", "7120"], &["quota"]),
        ("bare-metal", with(""), &[], &["neighbour"]),
        ("bare-metal", with(""), &["--need", "50GiB"], &["neighbour"]),
        ("bare-metal", with(""), &["--need", "1GiB"], &["fits-now"]),
        ("bare-metal", orphan.clone(), &[], &["unexplained"]),
        ("nobody-holds", with(""), &["--pid", "7120", "--reserved", "38GiB"], &["overhead"]),
        ("nobody-holds", with("").replace("81559", "79000"), &["--pid", "7120"], &["slice"]),
        ("nobody-holds", with("set nvmlDeviceGetTotalEccErrors 3 4\n"), &["--pid", "7120"], &["hardware"]),
        ("nobody-holds", with("set nvmlDeviceGetRemappedRows 0 1 1 0\n"), &["--pid", "7120"], &["hardware"]),
        ("nobody-holds", with("set nvmlDeviceGetRemappedRows 0 1 0 1\n"), &[], &["hardware", "neighbour"]),
        ("xid", with(""), &["--pid", "7120"], &["hardware"]),
        (
            "nobody-holds",
            "gpu NVIDIA GB10\nuuid GPU-1\nfault nvmlDeviceGetMemoryInfo_v2 3\nfault nvmlDeviceGetMemoryInfo 3\n".into(),
            &[],
            &["unified-memory"],
        ),
        (
            "nobody-holds",
            with(""),
            &["--pid", "7120", "--need", "41GiB", "--reserved", "39GiB", "--idle", "42GiB"],
            &["fragmentation-candidate"],
        ),
        ("nobody-holds", with(""), &["--pid", "7120", "--need", "41GiB"], &["demand"]),
    ];
    for (case, scenario, options, expected) in cases {
        let (code, report) = probe(case, Some(scenario)).with(options).json();
        assert_eq!((code, verdicts(&report)), (0, expected.to_vec()), "{case} {options:?}\n{scenario}");
    }
}

#[test]
fn a_verdict_that_is_asked_for_makes_the_exit_code() {
    let code = |options: &[&str]| probe("bare-metal", Some(H100)).with(options).json().0;
    assert_eq!(code(&["--fail-on", "neighbour"]), 1);
    assert_eq!(code(&["--fail-on", "any"]), 1);
    assert_eq!(code(&["--fail-on", "hardware,shm"]), 0);
    let (code, _, err) = outcome(&mut probe("bare-metal", None).with(&["--fail-on", "nonsense"]).command);
    assert_eq!(code, 2);
    assert!(err.contains("neighbour"), "{err}");
}

/// Machine, scenario, and what nobody explains: how much and why.
#[test]
fn memory_without_an_owner_is_attributed() {
    let empty = H100.replace("process compute 7120 40000\n", "");
    let cases: &[(&str, String, u64, &str)] = &[
        ("bare-metal", H100.into(), 7, "rounding"),
        ("bare-metal", H100.replace("7120 40000", "7120 39500"), 507, "driver"),
        ("bare-metal", empty.clone(), 40007, "orphan"),
        ("nobody-holds", H100.replace("7120 40000", "7120 20000"), 20007, "unreleased"),
        ("container", empty.clone(), 40007, "invisible-processes"),
        ("bare-metal", format!("{empty}grows 500\n"), 40007, "moves"),
        ("bare-metal", format!("{empty}set nvmlDeviceGetNumaNodeId 1\n"), 40007, "numa-node"),
        ("bare-metal", format!("{empty}instance MIG-1 1g.10gb 9728 100\n"), 40007, "mig-instances"),
    ];
    for (case, scenario, unexplained, reason) in cases {
        let (_, report) = probe(case, Some(scenario)).json();
        let gpu = &report["gpus"][0];
        assert_eq!(gpu["attribution"]["reason"], *reason, "{case}\n{scenario}");
        assert_eq!(gpu["unexplained_bytes"], unexplained * MIB, "{case}\n{scenario}");
    }
    let (_, report) = probe("bare-metal", Some(&H100.replace("7120 40000", "7120 na"))).json();
    let gpu = &report["gpus"][0];
    assert!(gpu["unexplained_bytes"]["unavailable"].as_str().unwrap().contains("7120"));
    assert!(gpu["processes"][0]["used_bytes"]["unavailable"].is_string());
}

#[test]
fn who_holds_the_device_without_being_listed_is_named() {
    let empty = H100.replace("process compute 7120 40000\n", "");
    let (_, report) = probe("bare-metal", Some(&empty)).json();
    let found = report["holders"]["found"].as_array().unwrap();
    let stuck = found.iter().find(|holder| holder["pid"] == 7388).unwrap();
    assert_eq!(stuck["state"], "D");
    assert_eq!((stuck["orphaned"].as_bool(), stuck["program_deleted"].as_bool()), (Some(true), Some(true)));
    let (_, screen) = probe("bare-metal", Some(&empty)).screen();
    assert!(screen.contains("7388 (python eval.py, state D)"), "{screen}");
}

#[test]
fn ranks_that_all_sit_on_the_first_gpu_are_noticed() {
    let second = "gpu NVIDIA H100 80GB HBM3\nuuid GPU-2\nmemory 81559 559 20 80980\nprocess compute 81 9\n";
    let scenario = format!("{H100}process compute 81 500\nprocess compute 82 500\n{second}");
    let (_, report) = probe("bare-metal", Some(&scenario)).json();
    assert!(!ids(&report["notes"]).contains(&"contexts-on-first-gpu"), "one may use two GPUs");
    let (_, report) = probe("bare-metal", Some(&format!("{scenario}process compute 82 9\n"))).json();
    assert!(ids(&report["notes"]).contains(&"contexts-on-first-gpu"));
    let (_, report) = probe("bare-metal", Some(H100)).with(&["--pid", "4711"]).json();
    assert!(ids(&report["notes"]).contains(&"job-gone"));
}

#[test]
fn a_container_does_not_put_names_to_the_hosts_numbers() {
    // Process 1 of the container is another than process 1 of the host.
    let (_, report) = probe("container", Some(&H100.replace("7120", "1"))).json();
    let process = &report["gpus"][0]["processes"][0];
    assert!(process["name"]["unavailable"].as_str().unwrap().contains("host"), "{process}");
    assert!(ids(&report["notes"]).contains(&"container"));
    assert_eq!(report["host"]["cgroup"]["groups"][0]["limit_bytes"], 32 * GIB);
    assert_eq!(ids(&report["warnings"]), ["cgroup-limit", "cgroup-kills"]);
}

/// Scenario or none, machine, and the state that the driver is in.
#[test]
fn a_driver_that_cannot_be_read_says_why() {
    let cases: &[(&str, Option<&str>, &str)] = &[
        ("bare-metal", None, "no-driver"),
        ("kernel-driver-only", None, "library-missing"),
        ("bare-metal", Some("init 9"), "driver-not-loaded"),
        ("bare-metal", Some("init 4"), "no-permission"),
        ("bare-metal", Some("init 18"), "version-mismatch"),
        ("bare-metal", Some("init 15"), "gpu-lost"),
        ("bare-metal", Some("init 16"), "reset-required"),
        ("bare-metal", Some("init 12"), "stub-library"),
        ("bare-metal", Some("init 999"), "nvml-failed"),
        ("bare-metal", Some("init 4242"), "nvml-failed"),
        ("bare-metal", Some("init 0"), "no-device"),
        ("bare-metal", Some("fault nvmlDeviceGetCount_v2 4"), "no-permission"),
    ];
    for (case, scenario, id) in cases {
        let (code, report) = probe(case, *scenario).json();
        assert_eq!((code, report["degraded"]["id"].as_str()), (3, Some(*id)), "{scenario:?}");
        assert!(report["host"]["memory"]["total_bytes"].is_u64(), "the host is read all the same");
        let (_, zh) = probe(case, *scenario).with(&["--lang", "zh"]).json();
        let text = zh["degraded"]["text"].as_str().unwrap();
        assert!(text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{text}");
    }
}

#[test]
fn a_stub_and_a_broken_file_are_told_from_a_driver() {
    let with_stub = fakes::build("nvml_stub.rs", "libnvidia-ml.so.1", "nvml-stub", &[]);
    let broken = tempfile::tempdir().unwrap();
    std::fs::write(broken.path().join("libnvidia-ml.so.1"), "no library").unwrap();
    for folder in [with_stub.as_path(), broken.path()] {
        let (code, report) = probe("bare-metal", None).env("LD_LIBRARY_PATH", folder.to_str().unwrap()).json();
        assert_eq!((code, report["degraded"]["id"].as_str()), (3, Some("stub-library")));
    }
}

#[test]
fn a_driver_that_hangs_or_crashes_is_told_and_takes_nobody_along() {
    for (flags, id) in [(&[][..], "driver-hangs"), (&["--cfg", "crashes"][..], "driver-crashes")] {
        let folder = fakes::build("nvml_in_trouble.rs", "libnvidia-ml.so.1", id, flags);
        let (code, report) = probe("bare-metal", None).env("LD_LIBRARY_PATH", folder.to_str().unwrap()).json();
        assert_eq!((code, report["degraded"]["id"].as_str()), (3, Some(id)));
        assert!(report["host"]["memory"]["total_bytes"].is_u64(), "the host is read all the same");
    }
}

/// Every call that the probe makes of a GPU, and the readings that rest on it alone.
const CALLS: &[(&str, &[&str])] = &[
    ("nvmlSystemGetNVMLVersion", &[]),
    ("nvmlSystemGetCudaDriverVersion_v2", &[]),
    ("nvmlDeviceGetHandleByIndex_v2", &["name", "uuid", "memory", "processes", "ecc", "mig"]),
    ("nvmlDeviceGetName", &["name"]),
    ("nvmlDeviceGetUUID", &["uuid"]),
    ("nvmlDeviceGetPciInfo_v3", &["pci"]),
    ("nvmlDeviceGetMinorNumber", &["minor"]),
    ("nvmlDeviceGetMemoryInfo_v2", &[]),
    ("nvmlDeviceGetComputeRunningProcesses_v3", &["processes", "unexplained_bytes"]),
    ("nvmlDeviceGetGraphicsRunningProcesses_v3", &[]),
    ("nvmlDeviceGetMPSComputeRunningProcesses_v3", &[]),
    ("nvmlDeviceGetMigMode", &["mig"]),
    ("nvmlDeviceGetEccMode", &["ecc"]),
    ("nvmlDeviceGetTotalEccErrors", &[]),
    ("nvmlDeviceGetRemappedRows", &["remapped_rows"]),
    ("nvmlDeviceGetBAR1MemoryInfo", &["bar1"]),
    ("nvmlDeviceGetComputeMode", &["compute_mode"]),
    ("nvmlDeviceGetPersistenceMode", &["persistence_mode"]),
    ("nvmlDeviceGetDisplayActive", &["display_active"]),
    ("nvmlDeviceGetVirtualizationMode", &["virtualization"]),
    ("nvmlDeviceGetAddressingMode", &["addressing"]),
    ("nvmlDeviceGetNumaNodeId", &["numa_node"]),
    ("nvmlDeviceGetCurrentClocksThrottleReasons", &["throttling"]),
    ("nvmlDeviceGetUtilizationRates", &["utilization_percent", "memory_utilization_percent"]),
    ("nvmlDeviceGetTemperature", &["temperature_celsius"]),
    ("nvmlDeviceGetFanSpeed", &["fan_percent"]),
    ("nvmlDeviceGetPowerUsage", &["power_watts"]),
    ("nvmlDeviceGetEnforcedPowerLimit", &["power_limit_watts"]),
    ("nvmlDeviceGetClockInfo", &["clock_mhz", "memory_clock_mhz"]),
    ("nvmlDeviceGetMaxClockInfo", &["clock_limit_mhz"]),
    ("nvmlDeviceGetProcessUtilization", &[]),
    ("nvmlDeviceGetNumGpuCores", &["multiprocessors"]),
    ("nvmlDeviceGetCudaComputeCapability", &["multiprocessors"]),
];

#[test]
fn a_fault_of_any_call_leaves_the_others_standing_and_is_told() {
    for (call, readings) in CALLS {
        for code in [1, 2, 3, 4, 7, 15, 16, 25, 999, 31337] {
            let scenario = format!("{H100}fault {call} {code}\n");
            let (exit, report) = probe("bare-metal", Some(&scenario)).json();
            assert_eq!(exit, 0, "{call} {code}");
            let gpu = &report["gpus"][0];
            for reading in *readings {
                let why = gpu[*reading]["unavailable"].as_str();
                assert!(why.is_some_and(|why| !why.is_empty()), "{call} {code}: {reading} is {}", gpu[*reading]);
            }
        }
    }
}

#[test]
fn garbage_from_any_call_is_no_reading() {
    // Handles of ones are pointers to nowhere: no library gives them.
    for (call, _) in CALLS.iter().filter(|(call, _)| *call != "nvmlDeviceGetHandleByIndex_v2") {
        let scenario = format!("{H100}garbage {call}\n");
        let (exit, report) = probe("bare-metal", Some(&scenario)).json();
        assert_eq!(exit, 0, "{call}");
        let memory = &report["gpus"][0]["memory"];
        let impossible = *call == "nvmlDeviceGetMemoryInfo_v2";
        assert_eq!(memory["unavailable"].is_string(), impossible, "{call}: {memory}");
        let _ = probe("bare-metal", Some(&scenario)).with(&["-v"]).screen();
    }
}

#[test]
fn an_old_driver_is_asked_with_the_first_version_of_its_calls() {
    let scenario = format!(
        "{H100}fault nvmlDeviceGetMemoryInfo_v2 13\nfault nvmlDeviceGetComputeRunningProcesses_v3 13\n\
         fault nvmlDeviceGetComputeRunningProcesses_v2 13\n"
    );
    let (code, report) = probe("bare-metal", Some(&scenario)).json();
    let gpu = &report["gpus"][0];
    assert_eq!((code, &gpu["memory"]["used_bytes"]), (0, &Value::from((81559 - 40993) * MIB)));
    assert!(gpu["memory"]["reserved_bytes"]["unavailable"].is_string());
    assert_eq!(gpu["processes"][0]["used_bytes"], 40000 * MIB);
    assert!(ids(&report["notes"]).contains(&"old-memory-call"));
}

#[test]
fn more_processes_than_there_is_room_for_are_all_read() {
    let mut scenario = H100.to_string();
    (0..300).for_each(|at| scenario += &format!("process compute {} 1\n", 20_000 + at));
    let (_, report) = probe("nobody-holds", Some(&scenario)).json();
    assert_eq!(report["gpus"][0]["processes"].as_array().unwrap().len(), 301);
}

#[test]
fn instances_of_a_divided_gpu_have_their_own_limits() {
    let scenario = format!("{H100}instance MIG-aa11 3g.40gb 40448 39000\ninstance MIG-bb22 1g.10gb 9728 12\n");
    let (_, report) = probe("bare-metal", Some(&scenario)).env("CUDA_VISIBLE_DEVICES", "MIG-aa11,MIG-bb22").json();
    let instances = report["gpus"][0]["mig"]["instances"].as_array().unwrap();
    assert_eq!(instances[0]["memory"]["free_bytes"], (40448 - 39000) * MIB);
    assert!(verdicts(&report).contains(&"wrong-device"));
    let (_, report) = probe("bare-metal", Some(&scenario)).env("CUDA_VISIBLE_DEVICES", "0").json();
    assert!(verdicts(&report).contains(&"wrong-device"));
    let (_, report) = probe("bare-metal", Some(&scenario)).env("CUDA_VISIBLE_DEVICES", "MIG-bb22").json();
    assert!(!verdicts(&report).contains(&"wrong-device"));
}

/// `CUDA_VISIBLE_DEVICES`, the GPUs in the program's order, and the entry at which the list ends.
#[test]
fn the_numbers_of_a_program_are_mapped() {
    let scenario = format!(
        "{H100}{}",
        H100.replace("GPU-5d1f", "GPU-77aa").replace("pci 3b", "pci 5e").replace("minor 0", "minor 1")
    );
    let cases: &[(&str, &[u64], Option<&str>)] = &[
        ("1,0", &[1, 0], None),
        ("1", &[1], None),
        ("", &[], None),
        ("0,7,1", &[0], Some("7")),
        ("-1,0", &[], Some("-1")),
        ("GPU-77", &[1], None),
        ("GPU-", &[], Some("GPU-")),
        ("1,1", &[1], Some("1")),
    ];
    for (list, expected, stopped) in cases {
        let (_, report) = probe("bare-metal", Some(&scenario)).env("CUDA_VISIBLE_DEVICES", list).json();
        let visibility = &report["visibility"];
        let gpus: Vec<u64> =
            visibility["devices"].as_array().unwrap().iter().map(|entry| entry["index"].as_u64().unwrap()).collect();
        assert_eq!((gpus.as_slice(), visibility["stopped_at"].as_str()), (*expected, *stopped), "{list:?}");
    }
    let mixed = scenario.replacen("NVIDIA H100 80GB HBM3", "NVIDIA L4", 1);
    let (_, report) = probe("bare-metal", Some(&mixed)).json();
    assert_eq!(report["visibility"]["order_uncertain"], true);
    let (_, report) = probe("bare-metal", Some(&mixed)).env("CUDA_DEVICE_ORDER", "PCI_BUS_ID").json();
    assert_eq!(report["visibility"]["order_uncertain"], false);
}

#[test]
fn gpus_are_chosen_by_number_and_uuid() {
    let scenario = format!("{H100}{}", H100.replace("GPU-5d1f", "GPU-77aa"));
    let chosen = |names: &str| -> Vec<u64> {
        let (_, report) = probe("bare-metal", Some(&scenario)).with(&["--gpu", names]).json();
        report["gpus"].as_array().unwrap().iter().map(|gpu| gpu["index"].as_u64().unwrap()).collect()
    };
    assert_eq!(chosen("1"), [1]);
    assert_eq!(chosen("1,0"), [1, 0]);
    assert_eq!(chosen("GPU-77aa"), [1]);
    assert_eq!(chosen("all"), [0, 1]);
    let (code, _, err) = outcome(&mut probe("bare-metal", Some(&scenario)).with(&["--gpu", "5"]).command);
    assert_eq!(code, 2);
    assert!(err.contains("'5'"), "{err}");
}

#[test]
fn other_surroundings_are_told() {
    let (_, report) = probe("wsl", Some(H100)).json();
    assert!(ids(&report["notes"]).contains(&"wsl"));
    assert!(report["gpus"][0]["unexplained_bytes"]["unavailable"].is_string());
    let (code, report) = probe("amd", None).json();
    let card = &report["others"][0];
    assert_eq!((code, card["maker"].as_str(), card["name"].as_str()), (0, Some("amd"), Some("card1")));
    assert_eq!(card["memory"]["used_bytes"], 21 * GIB);
    assert_eq!(report["others"].as_array().unwrap().len(), 1);
}

#[test]
fn a_host_that_is_nearly_full_is_warned_of() {
    let (_, report) = probe("nearly-full", None).json();
    let expected = ["host-memory", "swap", "commit-limit", "host-pressure", "kernel-kills"];
    assert_eq!(ids(&report["warnings"]), expected);
    assert_eq!(report["host"]["memory"]["overcommit"], "never");
    let (_, report) = probe("slurm-v1", None).json();
    let groups = &report["host"]["cgroup"];
    assert_eq!((groups["version"].as_u64(), groups["groups"].as_array().unwrap().len()), (Some(1), 4));
    assert_eq!(groups["groups"][0]["limit_bytes"], 64 * GIB);
    assert_eq!(groups["groups"][1]["limit_bytes"], 48 * GIB, "a parent's limit may be the tighter one");
    assert_eq!(groups["groups"][3]["limit_bytes"], Value::Null);
    let (_, screen) = probe("slurm-v1", None).screen();
    assert!(screen.contains("of 48.00 GiB held (/slurm/uid_1003)"), "{screen}");
}

#[test]
fn files_that_are_missing_or_broken_are_readings_with_a_reason() {
    for case in ["unreadable", "garbage"] {
        let (code, report) = probe(case, Some(H100)).json();
        assert_eq!(code, 0, "{case}");
        for reading in ["memory", "pressure", "cgroup", "shm"] {
            assert!(report["host"][reading]["unavailable"].is_string(), "{case}: {}", report["host"][reading]);
        }
        let _ = probe(case, Some(H100)).with(&["-v"]).screen();
    }
}

const CSV: &str = "index, name, uuid, memory.total [MiB], memory.used [MiB], memory.free [MiB]
0, NVIDIA L4, GPU-aa, 23034 MiB, 21000 MiB, 1574 MiB
1, NVIDIA L4, GPU-bb, 23034 MiB, [N/A], [N/A]
";

const TABLE: &str = "\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA A10                     On  |   00000000:17:00.0 Off |                    0 |
|  0%   41C    P0             58W /  150W |   18202MiB /  23028MiB |     34%      Default |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|    0   N/A  N/A            9911      C   python3                               17700MiB |
+-----------------------------------------------------------------------------------------+
";

#[test]
fn a_saved_output_of_nvidia_smi_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        outcome(oomdoc().args(["probe", "--json", "--from"]).arg(path))
    };
    let (code, out, _) = saved("table", TABLE);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, report["source"].as_str()), (0, Some("file")));
    let gpu = &report["gpus"][0];
    assert_eq!(gpu["memory"]["used_bytes"], 18202 * MIB);
    assert_eq!(gpu["processes"][0]["name"], "python3");
    assert_eq!(gpu["unexplained_bytes"], (18202 - 17700) * MIB);
    assert_eq!(report["driver"]["version"], "570.124.06");
    let (code, out, _) = saved("csv", CSV);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["gpus"][0]["memory"]["free_bytes"]), (0, &Value::from(1574 * MIB)));
    assert!(report["gpus"][1]["memory"]["unavailable"].as_str().unwrap().contains("[N/A]"));
    let log = "==============NVSMI LOG==============\n\nDriver Version                            : 575.51.03\n\
        Attached GPUs                             : 1\nGPU 00000000:5E:00.0\n    Product Name                          : NVIDIA A30\n\
        \x20   FB Memory Usage\n        Total                             : 24576 MiB\n        Reserved                          : 332 MiB\n\
        \x20       Used                              : 9000 MiB\n        Free                              : 15243 MiB\n\
        \x20   Remapped Rows\n        Correctable Error                 : 0\n        Uncorrectable Error               : 2\n\
        \x20       Pending                           : Yes\n        Remapping Failure Occurred        : No\n\
        \x20   Processes                             : None\n";
    let (code, out, _) = saved("log", log);
    let report: Value = serde_json::from_str(&out).unwrap();
    let gpu = &report["gpus"][0];
    assert_eq!(
        (code, &gpu["memory"]["reserved_bytes"], &gpu["unexplained_bytes"]),
        (0, &(332 * MIB).into(), &(9001 * MIB).into())
    );
    assert_eq!(gpu["verdicts"][0]["id"], "hardware", "{gpu}");
    let (code, _, err) = saved("other", "nothing of the kind\n");
    assert_eq!(code, 2);
    assert!(err.contains("no table of GPUs"), "{err}");
}

/// What other tools save is read by the same readers as in a log; what they do not tell is said to be so.
#[test]
fn saved_outputs_of_other_tools_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let gpus = |text: &str| {
        let path = folder.path().join("saved.txt");
        std::fs::write(&path, text).unwrap();
        let (code, out, err) = outcome(oomdoc().args(["probe", "--json", "--lang", "en", "--from"]).arg(path));
        assert_eq!(code, 0, "{text}: {err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        report["gpus"].as_array().unwrap().clone()
    };
    let memory = |gpu: &Value| (gpu["memory"]["used_bytes"].as_u64(), gpu["memory"]["total_bytes"].as_u64());
    let lines = "GPU[0]\t\t: VRAM Total Memory (B): 68702699520\nGPU[0]\t\t: VRAM Total Used Memory (B): 4294967296\n";
    let rocm = r#"{"card1": {"VRAM Total Memory (B)": "1073741824", "VRAM Total Used Memory (B)": "1048576"},
        "card0": {"Card Series": "MI", "VRAM Total Memory (B)": "68702699520",
        "VRAM Total Used Memory (B)": "4294967296"}, "system": {}}"#;
    let list = r#"[{"gpu": 0, "mem_usage": {"total_vram": {"value": 65520, "unit": "MB"},
        "used_vram": {"value": 4096, "unit": "MB"}}}]"#;
    let wrapped = format!(r#"{{"gpu_data": {list}}}"#);
    for (text, total, count) in
        [(lines, 68_702_699_520, 1), (rocm, 68_702_699_520, 2), (list, 65_520 * MIB, 1), (&wrapped, 65_520 * MIB, 1)]
    {
        let found = gpus(text);
        assert_eq!((found.len(), memory(&found[0])), (count, (Some(4 * GIB), Some(total))), "{text}");
    }
    // Of a list of processes, the processes; of nothing else there is a figure.
    let apps = gpus(
        "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\nGPU-a, 41, python, 20000 MiB\nGPU-b, 42, sh, [N/A]\n",
    );
    assert_eq!((apps.len(), &apps[0]["uuid"]), (2, &"GPU-a".into()), "{apps:?}");
    assert_eq!(apps[0]["processes"][0]["used_bytes"], 20_000 * MIB, "{apps:?}");
    assert!(apps[1]["processes"][0]["used_bytes"]["unavailable"].is_string(), "{apps:?}");
    assert!(apps[0]["memory"]["unavailable"].as_str().unwrap().contains("list of processes"), "{apps:?}");
}

/// Name, labels and value.
type Sample = (String, Vec<(String, String)>, f64);

/// Samples of the text format of Prometheus. Panics where a line is against its grammar.
fn samples(text: &str) -> Vec<Sample> {
    let mut found: Vec<Sample> = Vec::new();
    let mut typed = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let (kind, rest) = rest.split_once(' ').unwrap();
            let (name, said) = rest.split_once(' ').unwrap();
            match kind {
                "HELP" => assert!(!said.is_empty(), "{line}"),
                "TYPE" => {
                    assert!(found.iter().all(|(of, ..)| of != name), "{name} is told in two places");
                    assert_eq!(said, "gauge", "{line}");
                    typed = name.to_string();
                }
                other => panic!("{other}: {line}"),
            }
            continue;
        }
        let end = line.find(['{', ' ']).unwrap();
        let (name, mut rest) = line.split_at(end);
        assert!(name == typed && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
        let mut labels = Vec::new();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside;
            loop {
                let (label, after) = rest.split_once("=\"").unwrap();
                assert!(label.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
                let (mut value, mut escaped, mut length) = (String::new(), false, None);
                for (at, c) in after.char_indices() {
                    match (escaped, c) {
                        (true, '\\' | '"' | 'n') => {
                            value.push(if c == 'n' { '\n' } else { c });
                            escaped = false;
                        }
                        (true, _) => panic!("\\{c} is no escape: {line}"),
                        (false, '\\') => escaped = true,
                        (false, '"') => {
                            length = Some(at + 1);
                            break;
                        }
                        (false, c) => value.push(c),
                    }
                }
                labels.push((label.to_string(), value));
                rest = &after[length.unwrap()..];
                match rest.strip_prefix(',') {
                    Some(more) => rest = more,
                    None => break,
                }
            }
            rest = rest.strip_prefix('}').unwrap();
        }
        assert!(!found.iter().any(|(of, known, _)| of == name && *known == labels), "told twice: {line}");
        found.push((name.to_string(), labels, rest.strip_prefix(' ').unwrap().parse().unwrap()));
    }
    found
}

#[test]
fn metrics_are_valid_for_prometheus_and_say_what_the_report_says() {
    let (code, report) = probe("bare-metal", Some(H100)).json();
    let (_, text) = probe("bare-metal", Some(H100)).with(&["--format", "prometheus"]).screen();
    assert_eq!(code, 0);
    let found = samples(&text);
    let gpus = report["gpus"].as_array().unwrap();
    for gpu in gpus {
        let index = gpu["index"].to_string();
        let of = |name: &str| {
            let wanted =
                |labels: &[(String, String)]| labels.iter().any(|(key, value)| key == "gpu" && *value == index);
            found.iter().find(|(metric, labels, _)| metric == name && wanted(labels)).map(|(.., value)| *value)
        };
        for (metric, key) in [("total", "total_bytes"), ("used", "used_bytes"), ("free", "free_bytes")] {
            let told = of(&format!("oomdoc_gpu_memory_{metric}_bytes"));
            assert_eq!(told, gpu["memory"][key].as_u64().map(|bytes| bytes as f64), "{metric}: {text}");
        }
        assert_eq!(of("oomdoc_gpu_readable"), Some(1.0));
    }
    let processes: usize = gpus.iter().map(|gpu| gpu["processes"].as_array().map_or(0, Vec::len)).sum();
    let held = found.iter().filter(|(metric, ..)| metric == "oomdoc_gpu_process_memory_bytes").count();
    assert!(processes > 0 && held <= processes && held > 0, "{text}");
    // One line for collectors of lines.
    let (_, line) = probe("bare-metal", Some(H100)).with(&["--format", "jsonl"]).screen();
    assert_eq!(line.trim_end().lines().count(), 1);
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["gpus"], report["gpus"]);
}

/// A collector refuses a file that tells one thing twice.
#[test]
fn a_process_in_two_instances_is_two_lines() {
    let both = "process compute 7200@1 500\nprocess compute 7200@2 700\n";
    let scenario = format!("{H100}instance MIG-aa11 3g.40gb 40448 39000\n{both}");
    let (_, text) = probe("bare-metal", Some(&scenario)).with(&["--format", "prometheus"]).screen();
    let found = samples(&text);
    let of = |instance: &str| {
        let wanted = ("gpu_instance".to_string(), instance.to_string());
        let held =
            found.iter().find(|(of, labels, _)| of.ends_with("process_memory_bytes") && labels.contains(&wanted));
        held.map(|(.., bytes)| *bytes / MIB as f64)
    };
    assert_eq!((of("1"), of("2")), (Some(500.0), Some(700.0)), "{text}");
}

#[test]
fn nvidia_smi_answers_where_the_library_does_not() {
    let probe = probe("bare-metal", None);
    let program = probe.folder.path().join("nvidia-smi");
    // A driver without memory.reserved refuses the whole query.
    std::fs::write(
        &program,
        "#!/bin/sh\ncase \"$1\" in\n*reserved*) exit 2;;\n\
         --query-gpu*) echo '0, GPU-aa, NVIDIA L4, 00000000:3B:00.0, 570.1, 23034, 21000, 2034';;\n\
         --query-compute*) echo 'GPU-aa, 7120, 20500, /opt/env/bin/python'; echo 'GPU-aa, 88, [N/A], x';;\nesac\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let (code, report) = probe.json();
    assert_eq!(
        (code, report["source"].as_str(), report["degraded"]["id"].as_str()),
        (0, Some("nvidia-smi"), Some("no-driver"))
    );
    let gpu = &report["gpus"][0];
    assert_eq!(gpu["memory"]["used_bytes"], 21000 * MIB);
    assert_eq!(gpu["processes"][0]["name"], "python train_unet.py");
    assert!(gpu["processes"][1]["used_bytes"]["unavailable"].is_string());
}

#[test]
fn every_format_and_language_prints() {
    for format in ["terminal", "markdown", "json"] {
        for lang in ["en", "zh"] {
            let mut probe = probe("xid", Some(H100)).with(&["--format", format, "--lang", lang, "-v"]);
            let (code, out, _) = outcome(&mut probe.command);
            assert_eq!(code, 0);
            let chinese = out.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert_eq!(chinese, lang == "zh", "{format} {lang}: {out}");
            assert!(out.contains("H100") && out.contains("94"), "{out}");
        }
    }
}

#[test]
fn no_line_of_the_screen_is_wider_than_asked() {
    for width in ["40", "60", "100"] {
        for lang in ["en", "zh"] {
            let (_, screen) = probe("bare-metal", Some(H100)).with(&["-v", "--width", width, "--lang", lang]).screen();
            let widest = screen.lines().map(oomdoc::report::layout::columns).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "{widest} > {width}\n{screen}");
        }
    }
}

#[test]
fn watching_prints_a_line_per_reading_and_ends_with_the_signal() {
    let probe = probe("bare-metal", Some(H100)).with(&["--watch", "0.1"]);
    let mut command = std::process::Command::new(probe.command.get_program());
    command.args(probe.command.get_args()).stdout(std::process::Stdio::piped());
    command.envs(probe.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command.spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut seen: Vec<String> = lines.by_ref().take(2).collect();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    seen.extend(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(seen.len() >= 2, "{seen:?}");
    assert!(seen.iter().all(|line| line.contains("GPU 0: 39.07 GiB / 79.65 GiB") && line.contains("RAM ")), "{seen:?}");
}

/// A command line for a terminal: the probe with what its environment needs.
fn line_of(probe: &Probe, arguments: &[&str]) -> Vec<String> {
    let mut line = vec!["env".to_string()];
    line.extend(
        probe.command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value?.to_str()?))),
    );
    line.push(probe.command.get_program().to_str().unwrap().to_string());
    line.extend(probe.command.get_args().map(|argument| argument.to_str().unwrap().to_string()));
    line.extend(arguments.iter().map(|argument| argument.to_string()));
    line
}

/// A board that is named, with a process and a sample of it.
fn board(index: usize, more: &str) -> String {
    H100.replace("GPU-5d1f", &format!("GPU-{index}{index}{index}{index}"))
        .replace("pci 3b", &format!("pci {}", 10 + index))
        .replace("minor 0", &format!("minor {index}"))
        + more
}

#[test]
fn the_live_table_shows_sensors_processes_and_their_users() {
    let scenario = board(0, "set nvmlDeviceGetProcessUtilization 7120 55 7120 88\n");
    let probe = probe("bare-metal", Some(&scenario));
    let line = line_of(&probe, &["--watch", "0.1", "--color", "never", "--lang", "en"]);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let Some(terminal) = crate::run::Terminal::sized(&line, 30, 140) else { return };
    // Redrawn in place.
    terminal.sees("\x1b[J");
    let text = terminal.text();
    let shown = text.split("\x1b[").next().unwrap();
    for part in [
        "H100 80GB HBM3",
        "39.07 / 79.65 GiB",
        "97 %",
        "64 °C",
        "512 / 700 W",
        "1755 / 1980 MHz",
        "39.06 GiB",
        "88 %",
        "7120",
        "mei",
        "53m",
        "python train_unet.py",
        "driver 580.95.05",
        "CUDA 13.0",
        "RAM ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("55 %"), "the newest sample counts: {shown}");
    terminal.types("\x03");
    assert_eq!(terminal.end().1, 0);
}

/// What a driver lacks is a dash on every screen and no sample, never 0.
#[test]
fn readings_that_a_driver_lacks_are_shown_as_unknown() {
    let lacking: String = CALLS
        .iter()
        .filter(|(_, readings)| readings.iter().any(|name| name.contains("clock") || name.contains("power")))
        .chain(CALLS.iter().filter(|(call, _)| call.contains("Temperature") || call.contains("Utilization")))
        .map(|(call, _)| format!("fault {call} 13\n"))
        .collect();
    let scenario = board(0, &lacking);
    let (_, report) = probe("bare-metal", Some(&scenario)).json();
    let gpu = &report["gpus"][0];
    // A fan that is not there is no fan that stands still.
    assert!(gpu["fan_percent"]["unavailable"].as_str().unwrap().contains("not supported"), "{gpu}");
    for name in ["temperature_celsius", "power_watts", "clock_mhz", "utilization_percent"] {
        assert!(gpu[name]["unavailable"].as_str().unwrap().contains("too old"), "{name}: {gpu}");
    }
    assert!(gpu["processes"][0]["utilization_percent"]["unavailable"].is_string(), "{gpu}");
    let (_, text) = probe("bare-metal", Some(&scenario)).with(&["--format", "prometheus"]).screen();
    let absent = ["temperature", "power", "clock", "fan", "_gpu_utilization", "process_utilization"];
    assert!(absent.iter().all(|part| !text.contains(part)), "{text}");
    let (_, many) = probe("bare-metal", Some(&(0..4).map(|at| board(at, "")).collect::<String>().add(&lacking)))
        .with(&["--width", "140", "--lang", "en"])
        .screen();
    let row = many.lines().find(|line| line.starts_with("3 ")).unwrap();
    assert_eq!(row.split_whitespace().filter(|cell| *cell == "-").count(), 4, "{many}");
}

#[test]
fn many_gpus_are_a_line_each() {
    let scenario: String =
        (0..8).map(|at| board(at, if at == 5 { "process compute 4242 900\n" } else { "" })).collect();
    let (_, screen) = probe("bare-metal", Some(&scenario)).with(&["--width", "110", "--lang", "en"]).screen();
    for index in 0..8 {
        let rows =
            screen.lines().filter(|line| line.starts_with(&format!("{index} ")) && line.contains("H100")).count();
        assert_eq!(rows, 1, "{index}: {screen}");
    }
    assert!(screen.lines().count() < 50, "{screen}");
    let (_, all) = probe("bare-metal", Some(&scenario)).with(&["-v", "--width", "110", "--lang", "en"]).screen();
    assert!(all.lines().count() > 2 * screen.lines().count(), "{all}");
}

/// A terminal of twelve lines and eight GPUs: what is redrawn in place must not scroll.
#[test]
fn the_live_table_keeps_to_the_terminals_height() {
    let scenario: String = (0..8).map(|at| board(at, "")).collect();
    let probe = probe("bare-metal", Some(&scenario));
    let line = line_of(&probe, &["--watch", "0.1", "--color", "never", "--lang", "en"]);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let Some(terminal) = crate::run::Terminal::sized(&line, 12, 100) else { return };
    terminal.sees("\x1b[J");
    let text = terminal.text();
    let shown = text.split("\x1b[").next().unwrap();
    assert!(shown.lines().count() < 12, "{shown}");
    assert!(shown.contains("more"), "{shown}");
    terminal.types("\x03");
    assert_eq!(terminal.end().1, 0);
}

/// A driver that hangs in the middle of a reading keeps nobody from ending it.
#[test]
fn watching_ends_though_the_driver_hangs() {
    for signal in ["-INT", "-TERM"] {
        let scenario = board(0, "hangs 2\n");
        let probe = probe("bare-metal", Some(&scenario)).with(&["--watch", "0.1"]);
        let mut command = std::process::Command::new(probe.command.get_program());
        command.args(probe.command.get_args()).stdout(std::process::Stdio::piped());
        command.envs(probe.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = command.spawn().unwrap();
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.next().unwrap().contains("64 °C, 512 / 700 W"));
        std::thread::sleep(std::time::Duration::from_millis(300));
        let pid = child.id().to_string();
        let asked = std::time::Instant::now();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert!(asked.elapsed().as_secs() < 30, "{signal}");
    }
}

/// What it holds after the first readings it holds after many.
#[test]
fn watching_for_long_holds_no_more_memory() {
    let probe = probe("bare-metal", Some(H100)).with(&["--watch", "0.01"]);
    let mut command = std::process::Command::new(probe.command.get_program());
    command.args(probe.command.get_args()).stdout(std::process::Stdio::piped());
    command.envs(probe.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command.spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let status = format!("/proc/{}/status", child.id());
    let mut held_after = |readings: usize| -> u64 {
        assert_eq!(lines.by_ref().take(readings).count(), readings);
        let text = std::fs::read_to_string(&status).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let first = held_after(100);
    let last = held_after(500);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(last < first + 1024, "{first} KiB after 100 readings, {last} KiB after 600");
}

#[test]
fn reports_follow_the_schema() {
    let mut schema = Schema::of("probe");
    let divided = format!("{H100}instance MIG-aa11 3g.40gb 40448 39000\n");
    let lost = format!("{H100}fault nvmlDeviceGetHandleByIndex_v2 15\n");
    let cases = [
        ("bare-metal", Some(H100)),
        ("bare-metal", None),
        ("container", Some(H100)),
        ("device-quota", Some(divided.as_str())),
        ("mps-limit", Some(lost.as_str())),
        ("xid", Some(H100)),
        ("slurm-v1", None),
        ("amd", None),
        ("garbage", Some(H100)),
    ];
    for (case, scenario) in cases {
        let (_, report) = probe(case, scenario).env("CUDA_VISIBLE_DEVICES", "9").json();
        schema.check(&report, case);
    }
    for visible in ["0", "MIG-aa11"] {
        let (_, report) = probe("mps-limit", Some(&divided)).env("CUDA_VISIBLE_DEVICES", visible).json();
        schema.check(&report, visible);
    }
    let cuda = "what only CUDA can tell: tests/probe_cuda.rs";
    schema.complete(&[
        ("GpuProcess.gpu_instance", "processes of the simulated driver belong to no instance"),
        (".cuda", cuda),
        (".reproduction", cuda),
        ("Bandwidth.*", cuda),
        ("Case.*", cuda),
        ("Cuda.*", cuda),
        ("Latency.*", cuda),
        ("MemoryCheck.*", cuda),
        ("Outcome.*", cuda),
        ("Reproduction.*", cuda),
        ("Ways.*", cuda),
        ("WrongWord.*", cuda),
    ]);
}

/// A failure of nvidia-smi is told as what it is, not as a missing table.
#[test]
fn a_saved_failure_of_nvidia_smi_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    for (text, part) in [
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n", "rebooted"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", "no NVIDIA driver answers"),
        ("No devices were found\n", "no GPU answers"),
        (
            "==== ROCm System Management Interface ====\nDevice  Temp  VRAM%  GPU%\n0  36.0c  37%  0%\n",
            "--showmeminfo vram",
        ),
        ("0, NVIDIA GeForce RTX 3090, 24576 MiB, 1024 MiB\n1, NVIDIA GeForce RTX 3090, 24576 MiB, 3 MiB\n", "noheader"),
        ("loss 3.1\n", "no table"),
    ] {
        let path = folder.path().join("saved.txt");
        std::fs::write(&path, text).unwrap();
        let done = binary::process().args(["probe", "--lang", "en", "--from"]).arg(&path).output().unwrap();
        let error = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{text}: {error}");
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// `--need` answers where it fits, and claims nothing about processes whose memory is not told.
#[test]
fn a_need_is_answered_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.txt");
    let table = "\
|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |
|  0%   45C    P8             25W /  350W |   20480MiB /  24576MiB |      3%      Default |
| Processes:                                                                              |
|    0   N/A  N/A            4242      C   python train.py                           N/A |
";
    std::fs::write(&path, table).unwrap();
    let ask = |need: &str| {
        let done = binary::process()
            .args(["probe", "--lang", "en", "--width", "200", "--fail-on", "any", "--need", need, "--from"])
            .arg(&path)
            .output()
            .unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    let (code, fits) = ask("2GiB");
    assert!(code == Some(0) && fits.contains("2.00 GiB fit now: 4.00 GiB are free"), "{fits}");
    let (code, not) = ask("8GiB");
    assert!(code == Some(1) && not.contains("the memory of process 4242 is not reported"), "{not}");
    assert!(!not.contains("no limit, neighbour or leftover"), "{not}");
    let (_, never) = ask("40GiB");
    assert!(never.contains("more than the 24.00 GiB of this GPU"), "{never}");
}
