//! The simulated device and the libraries that stand in for NVIDIA's, used by a real program through the real loader.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fakes;

use oomdoc::rehearse::elf::{self, Import, Library, Symbols};
use oomdoc::rehearse::launch::{
    Addresses, DeviceCalls, DeviceFigures, DeviceModel, Exit, LaunchRequest, RawOutcome, Values,
};
use oomdoc::rehearse::view::View;
use oomdoc::rehearse::{device, launch, stubs, torch};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const RUNTIME: &str = "libcudart.so.13";

fn shim() -> &'static [u8] {
    static SHIM: OnceLock<Vec<u8>> = OnceLock::new();
    SHIM.get_or_init(|| device::shim().expect("built on Linux x86-64"))
}

fn defined() -> BTreeSet<String> {
    elf::parse_bytes(shim(), Symbols::Exports).unwrap().exports.into_iter().collect()
}

/// Writes the stand-ins for some libraries, and the simulated device, into a folder.
fn write(folder: &Path, importers: &[Library], defined: &BTreeSet<String>) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("liboomdoc_device.so"), shim()).unwrap();
    for (name, stub) in stubs::plan(importers, defined) {
        fs::write(folder.join(&name), stubs::write(&name, "liboomdoc_device.so", &stub).unwrap()).unwrap();
    }
}

/// A library as the reader would describe it, which asks the runtime for these symbols.
fn asking(names: &[&str], version: Option<&str>) -> Library {
    let version = version.map(|version| (version.to_owned(), RUNTIME.to_owned()));
    let imports = names.iter().map(|name| Import { name: (*name).to_owned(), version: version.clone() }).collect();
    Library { needed: vec![RUNTIME.to_owned()], imports, ..Library::default() }
}

/// The names that the client declares in the block that links the runtime.
fn declared(source: &str) -> Vec<&str> {
    let block = source.split_once("kind = \"dylib\"").unwrap().1.split_once("\n}").unwrap().0;
    block.lines().filter_map(|line| line.trim().strip_prefix("fn ")?.split('(').next()).collect()
}

/// The client, linked against stand-ins that define everything it asks for.
fn client() -> &'static Path {
    static CLIENT: OnceLock<PathBuf> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/cuda_client.rs");
        let text = fs::read_to_string(&source).unwrap();
        let link = tempfile::tempdir().unwrap();
        write(link.path(), &[asking(&declared(&text), Some(RUNTIME))], &BTreeSet::new());
        let flags = [OsStr::new("-C"), OsStr::new("opt-level=1"), OsStr::new("-L"), link.path().as_os_str()];
        fakes::compile("cuda_client.rs", Path::new("cuda-client"), &flags)
    })
}

/// A folder with what the client asks for, as it would be laid out for any program, and a folder for reports.
struct Laid {
    folder: TempDir,
}

fn laid() -> Laid {
    let folder = tempfile::tempdir().unwrap();
    let asked = elf::read(client(), Symbols::Imports).unwrap();
    write(&folder.path().join("lib"), &[asked], &defined());
    fs::create_dir(folder.path().join("results")).unwrap();
    Laid { folder }
}

impl Laid {
    fn command(&self, scenario: &str, settings: &[(&str, &str)]) -> Command {
        let mut command = Command::new(client());
        command.arg(scenario).env("LD_LIBRARY_PATH", self.folder.path().join("lib"));
        // Those in capitals are variables of the environment.
        let (variables, settings): (Vec<_>, Vec<_>) =
            settings.iter().partition(|(name, _)| name.starts_with(|first: char| first.is_ascii_uppercase()));
        command.envs(variables.into_iter().copied());
        let usual = format!("total={}\ncuda=13000\n", 100 * MIB);
        let lines = settings.iter().map(|(name, value)| format!("{name}={value}\n"));
        fs::write(self.folder.path().join("settings"), usual + &lines.collect::<String>()).unwrap();
        command
    }
    fn output(&self, scenario: &str, settings: &[(&str, &str)]) -> Output {
        self.command(scenario, settings).output().unwrap()
    }
    fn lines(&self, scenario: &str, settings: &[(&str, &str)]) -> Vec<String> {
        let output = self.output(scenario, settings);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scenario}: {:?} {errors}", output.status);
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
    /// What each process counted.
    fn reports(&self) -> Vec<DeviceCalls> {
        let mut reports: Vec<DeviceCalls> = fs::read_dir(self.folder.path().join("results"))
            .unwrap()
            .map(|entry| DeviceCalls::read(&fs::read(entry.unwrap().path()).unwrap()).expect("a table of counters"))
            .collect();
        reports.sort_by_key(|report| report.pid);
        reports
    }
}

#[test]
fn the_reader_sees_names_versions_and_libraries() {
    let asked = elf::read(client(), Symbols::Imports).unwrap();
    assert!(asked.needed.contains(&RUNTIME.to_owned()), "{:?}", asked.needed);
    let wanted = Import { name: "cudaMalloc".into(), version: Some((RUNTIME.into(), RUNTIME.into())) };
    assert!(asked.imports.contains(&wanted), "{:?}", asked.imports);
    let c_library = asked.imports.iter().find(|import| import.name == "write").expect("it writes");
    assert_eq!(c_library.version.as_ref().unwrap().1, "libc.so.6");
    assert!(!asked.imports.iter().any(|import| import.name == "main"), "what it defines it does not ask for");
}

#[test]
fn stand_ins_are_read_back_as_they_were_planned() {
    let mut unversioned = asking(&["ncclNew", "cudaKnown", "somethingElse"], None);
    unversioned.needed.push("libnccl.so.2".into());
    unversioned.needed.push("libstdc++.so.6".into());
    let importers = [asking(&["cudaKnown", "cudaOther"], Some(RUNTIME)), unversioned];
    let plan = stubs::plan(&importers, &BTreeSet::from(["cudaKnown".to_owned()]));
    let names: Vec<&str> = plan.keys().map(String::as_str).collect();
    assert_eq!(names, ["libcuda.so.1", RUNTIME, "libnccl.so.2", "libnvidia-ml.so.1"]);
    let bytes = stubs::write(RUNTIME, "libdevice.so", &plan[RUNTIME]).unwrap();
    let read = elf::parse_bytes(&bytes, Symbols::Exports).unwrap();
    assert_eq!(read.soname.as_deref(), Some(RUNTIME));
    assert_eq!(read.needed, ["libdevice.so"]);
    assert_eq!(read.runpath.as_deref(), Some("$ORIGIN"));
    let has = |name: &str| read.exports.iter().any(|export| export == name);
    assert!(has("cudaOther") && !has("cudaKnown"), "what the device defines is not defined twice");
    assert!(has("cudaProfilerStart"), "a function of the runtime that nobody has asked for yet");
    let read = elf::parse_bytes(&stubs::write("libnccl.so.2", "x", &plan["libnccl.so.2"]).unwrap(), Symbols::Exports);
    assert_eq!(read.unwrap().exports, ["ncclNew"]);
}

#[test]
fn broken_libraries_are_errors_and_no_panics() {
    let whole = stubs::write(
        RUNTIME,
        "libdevice.so",
        &stubs::plan(&[asking(&["cudaA"], Some(RUNTIME))], &BTreeSet::new())[RUNTIME],
    )
    .unwrap();
    assert!(elf::parse_bytes(b"\x7fELF", Symbols::Imports).is_err());
    assert!(elf::parse_bytes(&[], Symbols::Imports).is_err());
    // Every byte of the headers and tables wrong in turn, and the file cut everywhere.
    for place in 0..whole.len().min(1024) {
        let mut broken = whole.clone();
        broken[place] = 0xff;
        let _ = elf::parse_bytes(&broken, Symbols::Imports);
        let _ = elf::parse_bytes(&broken, Symbols::Exports);
        let _ = elf::parse_bytes(&whole[..place], Symbols::Exports);
    }
}

#[test]
fn the_loader_takes_symbols_of_the_right_version_only() {
    let laid = laid();
    let runtime = laid.folder.path().join("lib").join(RUNTIME);
    assert!(laid.output("devices", &[]).status.success());
    let other = BTreeMap::from([("libcudart.so.12".to_owned(), BTreeSet::from(["cudaProfilerStart".to_owned()]))]);
    fs::write(&runtime, stubs::write(RUNTIME, "liboomdoc_device.so", &stubs::Stub { symbols: other }).unwrap())
        .unwrap();
    let output = laid.output("devices", &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let missing = "undefined symbol: cudaProfilerStart, version libcudart.so.13";
    assert!(!output.status.success() && errors.contains(missing), "{errors}");
}

#[test]
fn processes_share_a_device_where_they_are_told_to_and_the_ended_hold_nothing() {
    let laid = laid();
    let together = [("context", "10485760"), ("shared", "1")];
    let mut holder = laid.command("holds", &together);
    let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    let first = |settings| laid.lines("memory", settings).swap_remove(0);
    assert_eq!(first(&together), "free 72", "100 less two contexts of 10 and the 8 that the other holds");
    assert_eq!(first(&together[..1]), "free 90", "each for itself");
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    assert_eq!(first(&together), "free 90", "the other has ended");
}

#[test]
fn memory_is_counted_in_pages_and_refused_when_it_is_full() {
    let laid = laid();
    let lines = laid.lines("memory", &[("context", "10485760"), ("others", "6291456")]);
    assert_eq!(
        lines,
        [
            "free 84",
            "after 3 MiB 80",
            "after a byte 78",
            "refused Some(2)",
            "error 2 then 0: out of memory",
            "full 0",
            "freed 84",
            "twice 1",
            "nothing 0",
            "stub 0",
            "later addresses are higher"
        ]
    );
    let [report] = laid.reports().try_into().unwrap();
    let figures = DeviceFigures { used: 2 * MIB, peak: 84 * MIB, refused: 1, served: 4 };
    assert_eq!(report.devices, [figures]);
    let down = laid.lines("memory", &[("addresses", "down")]);
    assert_eq!(down.last().unwrap(), "later addresses are lower");
}

#[test]
fn properties_lie_where_each_version_of_cuda_has_them() {
    let laid = laid();
    let settings = [("name", "NVIDIA Test 1"), ("cc", "8.9"), ("sms", "77")];
    // Multiprocessors at byte 388, since CUDA 13 at 384; the length of the struct.
    for (cuda, places) in [("11070", "0|77|728"), ("12040", "0|77|1032"), ("13000", "77|0|1008")] {
        let mut settings = settings.to_vec();
        settings.push(("cuda", cuda));
        let lines = laid.lines("properties", &settings);
        assert_eq!(lines[0], format!("NVIDIA Test 1|104857600|8.9|{places}"), "CUDA {cuda}");
        assert_eq!(lines[1], "device 7: 101");
    }
}

#[test]
fn virtual_memory_is_held_by_handles_and_mappings() {
    assert_eq!(
        laid().lines("virtual", &[]),
        [
            "reserved 0 free 100",
            "unaligned 1",
            "created 0 free 80",
            "too much 2",
            "mapped 0",
            "mapped over it 1",
            "released 0 free 80",
            "unmapped 0 free 100",
            "unmapped again 1"
        ]
    );
}

#[test]
fn copies_give_back_what_is_known() {
    let laid = laid();
    let known = [
        "back true",
        "a part true",
        "back after a kernel true",
        "a part after a kernel true",
        "on the device true",
        "filled true",
        "large true",
    ];
    let lines = laid.lines("copies", &[]);
    assert_eq!(lines[..7], known);
    assert_eq!(lines[7..], ["never written [0, 0, 0, 0]", "after it was freed [0, 0, 0, 0]"]);
    let [report] = laid.reports().try_into().unwrap();
    assert_eq!((report.unknown_reads, report.launches), (4, 1), "the part, the large copy, and the last two");
    let lines = laid.lines("copies", &[("values", "ones")]);
    assert_eq!(lines[7], "never written [1, 0, 0, 0]");
    // Large numbers, each smaller than the one before: the third and the fourth that are read.
    let lines = laid.lines("copies", &[("values", "large")]);
    assert_eq!(lines[7..], ["never written [255, 247, 255, 66]", "after it was freed [255, 243, 255, 66]"]);
    // About one, and never zero.
    let lines = laid.lines("copies", &[("values", "unit")]);
    assert_eq!(lines[7..], ["never written [255, 247, 255, 63]", "after it was freed [255, 243, 255, 63]"]);
}

#[test]
fn offloading_takes_no_memory_of_the_host() {
    assert_eq!(laid().lines("offload", &[]), ["small true", "before 7 then 0"]);
}

#[test]
fn pools_keep_what_is_freed() {
    assert_eq!(
        laid().lines("pools", &[]),
        [
            "reserved 32 used 20 free 68",
            "kept 32 used 0 free 68",
            "trimmed 0 free 100",
            "nearly all 0 free 2",
            "too much 2"
        ]
    );
}

#[test]
fn streams_join_the_capture_that_they_wait_for() {
    assert_eq!(
        laid().lines("graphs", &[]),
        ["before [0, 0, 0]", "begun [1, 0, 0]", "joined [1, 1, 0]", "ended 0 [0, 0, 0] true", "ended twice 1"]
    );
}

#[test]
fn entry_points_that_are_not_simulated_refuse_and_are_told() {
    let laid = laid();
    let lines = laid.lines("entry points", &[]);
    assert_eq!(lines[..2], ["known 0 0 0 100", "unknown 0 0 801"]);
    assert!(lines[2].starts_with("no driver function (500, 1,"), "{}", lines[2]);
    let [report] = laid.reports().try_into().unwrap();
    assert_eq!(report.unknown_entry_points, ["cuFrobnicate", "frobnicate"]);
}

#[test]
fn devices_have_accounts_of_their_own() {
    let laid = laid();
    let lines = laid.lines("devices", &[("devices", "2")]);
    assert_eq!(
        lines,
        [
            "count 2 status 0",
            "second 0 100",
            "second 80",
            "places (2, 0) (2, 1) (1, 1) (0, -1)",
            "first 0 90",
            "third 101"
        ]
    );
    let [report] = laid.reports().try_into().unwrap();
    let peaks: Vec<u64> = report.devices.iter().map(|figures| figures.peak / MIB).collect();
    assert_eq!((peaks, report.pinned_peak), (vec![10, 20], 3 * MIB));
    for (visible, count) in [("1", "count 1 status 0"), ("0,1,2", "count 2 status 0"), ("-1", "count 0 status 100")] {
        let settings = [("devices", "2"), ("CUDA_VISIBLE_DEVICES", visible)];
        assert_eq!(laid.lines("devices", &settings)[0], count);
    }
}

#[test]
fn threads_share_one_account() {
    let laid = laid();
    assert_eq!(laid.lines("threads", &[]), ["free 100"]);
    let [report] = laid.reports().try_into().unwrap();
    assert_eq!((report.devices[0].used, report.devices[0].served), (0, 8 * 500));
}

#[test]
fn forked_children_neither_hang_nor_write_into_their_parents_report() {
    let laid = laid();
    let lines = laid.lines("forks", &[]);
    let parent: u64 = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    assert!(lines[0].ends_with("free 90"), "{}", lines[0]);
    let reports = laid.reports();
    assert_eq!(reports.len(), 201);
    for report in reports {
        let figures = report.devices[0];
        if report.pid == parent {
            assert_eq!(figures.used, 10 * MIB);
            // Three threads hold a page each at most.
            assert!(figures.peak <= 16 * MIB, "{figures:?}");
        } else {
            assert_eq!(figures.served, 1);
            // What the parent held then, and 4 MiB.
            assert!((14 * MIB..=20 * MIB).contains(&figures.used), "{figures:?}");
        }
    }
}

#[test]
fn a_killed_process_leaves_its_figures() {
    let laid = laid();
    let output = laid.output("killed", &[]);
    assert!(output.status.code().is_none());
    let [report] = laid.reports().try_into().unwrap();
    assert_eq!(report.devices, [DeviceFigures { used: 6 * MIB, peak: 30 * MIB, refused: 1, served: 2 }]);
    assert_eq!(report.launches, 1);
}

#[test]
fn counters_are_not_read_from_anything_else() {
    assert_eq!(DeviceCalls::read(&[]), None);
    assert_eq!(DeviceCalls::read(&vec![0; oomdoc::rehearse::counters::LENGTH]), None);
    let mut table = vec![0; oomdoc::rehearse::counters::LENGTH];
    table[..8].copy_from_slice(&oomdoc::rehearse::counters::MAGIC.to_le_bytes());
    // A length of names beyond the table.
    table[oomdoc::rehearse::counters::NAMES * 8..][..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(DeviceCalls::read(&table).is_some());
    table.pop();
    assert_eq!(DeviceCalls::read(&table), None);
}

// The launcher.

fn request(command: &[&str]) -> LaunchRequest {
    LaunchRequest {
        command: command.iter().map(Into::into).collect(),
        device: DeviceModel {
            name: "NVIDIA Test 1".into(),
            total: 100 * MIB,
            context: 0,
            others: 0,
            compute: (8, 0),
            multiprocessors: 108,
            cudnn_workspace: 0,
        },
        devices: 1,
        ahead: Duration::ZERO,
        steps: 3,
        world_size: None,
        rank: 0,
        addresses: Addresses::Up,
        time_limit: Duration::from_secs(60),
        snapshot: false,
        values: Values::Zeros,
        answers: true,
        quiet: true,
        env: Vec::new(),
        view: View::none(),
        base: None,
        remedy: None,
        torch: None,
        torch_python: None,
    }
}
fn shell(script: &str) -> RawOutcome {
    launch::run(&request(&["sh", "-c", script]), None).unwrap()
}

#[test]
fn a_command_finds_the_device_and_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;
    let outcome = launch::run(&request(&[client().to_str().unwrap(), "killed"]), None).unwrap();
    assert_eq!(outcome.exit, Exit::Signal(9), "{}", outcome.stderr_tail);
    let [calls] = outcome.device_calls.as_slice() else { panic!("{:?}", outcome.device_calls) };
    assert_eq!((calls.devices[0].peak, calls.host_touch), (30 * MIB, None));
    let outcome = launch::run(&request(&[client().to_str().unwrap(), "touch"]), None).unwrap();
    assert_eq!(outcome.exit, Exit::Signal(11), "{}", outcome.stderr_tail);
    assert_eq!(outcome.device_calls[0].host_touch, Some(0x1000_0000_0010));
    let outcome = shell("ls ${LD_LIBRARY_PATH%%:*} >&2; exit 7");
    assert_eq!(outcome.exit, Exit::Code(7), "{}", outcome.stderr_tail);
    let folder = outcome.folder().to_path_buf();
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(outcome.stderr_tail.contains("libcuda.so.1\n"), "{}", outcome.stderr_tail);
    drop(outcome);
    assert!(!folder.exists());
}

#[test]
fn time_that_is_up_ends_every_process_of_the_command() {
    let marker = tempfile::tempdir().unwrap();
    let file = marker.path().join("pids");
    // One in the command's group, and one in a session of its own, as launchers start their workers.
    let file_name = file.display();
    let script = format!(
        "sleep 1000 & echo $! > {file_name}; setsid sh -c 'echo $$ >> {file_name}; exec sleep 1000' & trap '' TERM; wait; wait"
    );
    let mut request = request(&["sh", "-c", &script]);
    request.time_limit = Duration::from_millis(300);
    let outcome = launch::run(&request, None).unwrap();
    assert_eq!(outcome.exit, Exit::Stopped);
    let pids = fs::read_to_string(file).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let alive = || {
            let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z")
        };
        let started = Instant::now();
        while alive() && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!alive(), "{pid} is still there");
    }
}

#[test]
fn the_end_of_the_errors_is_kept_and_the_users_paths_stay() {
    let mut request = request(&[
        "sh",
        "-c",
        "echo $PYTHONPATH; yes line | head -n 100000 >&2; echo $PYTHONPATH $LD_LIBRARY_PATH >&2; env | grep -c OOMDOC_ >&2",
    ]);
    request.env =
        vec![("PYTHONPATH".into(), Some("/own/python".into())), ("LD_LIBRARY_PATH".into(), Some("/own/lib".into()))];
    let outcome = launch::run(&request, None).unwrap();
    assert_eq!(outcome.stderr_tail.len(), 64 << 10);
    let mut lines = outcome.stderr_tail.lines().rev();
    assert_eq!(lines.next(), Some("0"), "nothing of ours shows in the environment");
    let last = lines.next().unwrap();
    let words: Vec<&str> = last.split(' ').collect();
    assert!(words[0].ends_with("/agent:/own/python") && words[1].ends_with("/lib:/own/lib"), "{last}");
}

#[test]
fn commands_that_do_not_start_are_errors() {
    assert!(matches!(launch::run(&request(&[]), None), Err(launch::LaunchError::NoCommand)));
    let missing = launch::run(&request(&["/no/such/program"]), None).unwrap_err();
    assert!(missing.text().en.contains("/no/such/program does not start"), "{}", missing.text().en);
}

#[test]
fn each_kind_of_torch_that_cannot_be_rehearsed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let torch = folder.path().join("torch");
    fs::create_dir_all(torch.join("lib")).unwrap();
    let find = |source: &str| {
        fs::write(torch.join("version.py"), source).unwrap();
        torch::find(&[], Some(folder.path()), None)
    };
    let cpu = find("__version__ = '2.11.0+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n");
    assert_eq!(cpu.unwrap_err(), torch::Missing::CpuBuild { version: "2.11.0+cpu".into() });
    let rocm = find("__version__ = '2.5.0+rocm6.2'\ncuda = None\nhip = '6.2.41133'\n");
    assert_eq!(rocm.unwrap_err(), torch::Missing::Rocm { version: "2.5.0+rocm6.2".into() });
    let source = "__version__ = '2.7.1+cu128'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n";
    assert_eq!(find(source).unwrap_err(), torch::Missing::StaticRuntime { version: "2.7.1+cu128".into() });
    fs::copy(client(), torch.join("lib/libc10_cuda.so")).unwrap();
    let extension = folder.path().join("own_kernels");
    fs::create_dir(&extension).unwrap();
    fs::copy(client(), extension.join("_C.so")).unwrap();
    fs::write(folder.path().join("text.so"), "no library").unwrap();
    let found = find(source).unwrap();
    assert_eq!((found.cuda, found.cudnn, found.extensions), (12_080, 99_900, vec!["own_kernels".to_owned()]));
    let wheel = folder.path().join("torch-2.7.1.dist-info");
    fs::create_dir(&wheel).unwrap();
    fs::write(wheel.join("METADATA"), "Requires-Dist: nvidia-cudnn-cu12==9.7.1.26; platform_system == 'Linux'\n")
        .unwrap();
    assert_eq!(find(source).unwrap().cudnn, 90_701);
}
