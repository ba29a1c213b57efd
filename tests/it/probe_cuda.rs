//! The CUDA part of `oomdoc probe`, driven as its parent drives it, on a simulated driver that interprets the shipped
//! PTX.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;
use crate::fakes;

use binary::process;
use binary::schema::Schema;
use oomdoc::gpu::cuda::Failure;
use oomdoc::gpu::cuda::protocol::{Finding, Line, ProbeRequest, Which};
use oomdoc::gpu::twin::{Block, FailureMode, Layout, Segment, State, TORCH_PAGE, Ways};
use oomdoc::units::MIB;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The documents of all tests are held against it.
static SCHEMA: LazyLock<Mutex<Schema>> = LazyLock::new(|| Mutex::new(Schema::of("probe")));

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| fakes::build("cuda.rs", "libcuda.so.1", "cuda", &[]));

static NVML: LazyLock<PathBuf> = LazyLock::new(|| fakes::build("nvml.rs", "libnvidia-ml.so.1", "nvml", &[]));

fn request() -> ProbeRequest {
    ProbeRequest {
        which: Which::Ordinal(0),
        free_before: Some(8192 * MIB),
        known_idle: true,
        busy_allowed: false,
        display: false,
        unsuitable: None,
        parent: None,
        bench: false,
        fill: false,
        experiment: Vec::new(),
        buffer: Some(MIB),
        seconds: 60,
    }
}

/// Runs the child against the library in `folder`; its lines and whether it ended well.
fn child_in(folder: &Path, settings: &str, request: &ProbeRequest) -> (Vec<Line>, std::process::ExitStatus) {
    let mut child = process()
        .arg("cuda-child")
        .env("LD_LIBRARY_PATH", folder)
        .env("FAKE_CUDA", settings)
        .env_remove("CUDA_MPS_PIPE_DIRECTORY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(request).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), output.status)
}

/// What the child found with the complete library; it must come to its end.
fn found(settings: &str, request: &ProbeRequest) -> Vec<Finding> {
    let (lines, status) = child_in(&LIBRARY, settings, request);
    assert!(status.success(), "{status} {lines:?}");
    assert_eq!(lines.last(), Some(&Line::Done));
    findings(lines)
}

fn findings(lines: Vec<Line>) -> Vec<Finding> {
    lines.into_iter().filter_map(|line| if let Line::Found(finding) = line { Some(finding) } else { None }).collect()
}

macro_rules! pick {
    ($findings:expr, $variant:ident) => {{
        let findings = $findings;
        findings
            .iter()
            .find_map(|finding| if let Finding::$variant(value) = finding { Some(value.clone()) } else { None })
            .unwrap_or_else(|| panic!("no {} in {findings:?}", stringify!($variant)))
    }};
}

#[test]
fn a_context_is_priced_and_the_rest_not_asked_for() {
    let findings = found("context=412", &request());
    let device = pick!(&findings, Device).unwrap();
    assert_eq!((device.name.as_str(), device.capability), ("Simulated GPU", (9, 0)));
    assert_eq!(device.uuid.unwrap(), "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
    assert_eq!(device.peak_bandwidth, Some(2.048e12));
    let memory = pick!(&findings, Memory).unwrap();
    assert_eq!((memory.context, memory.margin), (Some(412 * MIB), 512 * MIB));
    assert_eq!(pick!(&findings, Granularity), Ok(2 * MIB));
    assert_eq!(pick!(&findings, Largest), Err(Failure::NotAsked { flag: "--allow-fill".into() }));
    assert_eq!(pick!(&findings, Check), Err(Failure::NotAsked { flag: "--bench".into() }));
}

#[test]
fn the_device_is_found_by_its_uuid() {
    let mut wanted = request();
    wanted.which = Which::Uuid("GPU-10111213-1415-1617-1819-1A1B1C1D1E1F".into());
    assert!(pick!(found("", &wanted), Device).is_ok());
    wanted.which = Which::Uuid("GPU-00000000-0000-0000-0000-000000000000".into());
    assert!(matches!(pick!(found("", &wanted), Device), Err(Failure::NoSuchDevice { visible: 1, .. })));
}

#[test]
fn the_shipped_kernels_fill_verify_and_move_memory() {
    let mut wanted = request();
    wanted.bench = true;
    let findings = found("", &wanted);
    let check = pick!(&findings, Check).unwrap();
    assert_eq!((check.bytes, check.wrong_words, check.sums_agree), (MIB, 0, true));
    // The simulated device moves 1.6 TB/s and takes 5 µs to start a kernel.
    let bandwidth = pick!(&findings, Bandwidth).unwrap();
    let expected = |bytes: u64| bytes as f64 / (bytes as f64 / 1.6e12 + 5e-6);
    for (measured, bytes) in [(bandwidth.read, MIB), (bandwidth.write, MIB), (bandwidth.copy, 2 * MIB)] {
        assert!((measured / expected(bytes) - 1.0).abs() < 1e-3, "{measured} {}", expected(bytes));
    }
    let latencies = pick!(&findings, Latencies).unwrap();
    assert_eq!(latencies.iter().map(|latency| latency.bytes / MIB).collect::<Vec<_>>(), [2, 32, 256, 1024]);
    assert!(latencies.iter().all(|latency| latency.map.is_some() && latency.pool_alloc.is_some()));
}

#[test]
fn a_planted_wrong_bit_is_found_at_its_place() {
    let mut wanted = request();
    wanted.bench = true;
    let check = pick!(found("flip=777:400", &wanted), Check).unwrap();
    // Wrong in both passes: the pattern and its complement.
    assert_eq!((check.wrong_words, check.first), (2, vec![(777 * 8, 0x400), (777 * 8, 0x400)]));
    assert!(!check.sums_agree || check.wrong_words > 0);
}

#[test]
fn the_largest_block_leaves_the_margin() {
    let mut wanted = request();
    wanted.fill = true;
    let largest = pick!(found("total=8192 context=400", &wanted), Largest).unwrap();
    assert_eq!(largest.single, (8192 - 400 - 512) * MIB);
    assert_eq!(largest.mapped, Some(largest.single));
    assert_eq!(largest.physically_fragmented(), Some(false));
}

#[test]
fn physical_fragmentation_shows_between_one_call_and_mapped_pages() {
    let mut wanted = request();
    wanted.fill = true;
    let largest = pick!(found("single=1234", &wanted), Largest).unwrap();
    assert_eq!(largest.single, 1234 * MIB);
    assert_eq!(largest.mapped, Some(largest.bound));
    assert_eq!(largest.physically_fragmented(), Some(true));
}

#[test]
fn somebody_who_comes_meanwhile_ends_the_search() {
    let mut wanted = request();
    wanted.fill = true;
    // Past the calls of the start, amid the bisection.
    let largest = pick!(found("single=1234 arrive=40:1024", &wanted), Largest);
    assert!(matches!(largest, Err(Failure::OthersMoved { .. })), "{largest:?}");
}

#[test]
fn a_device_in_use_is_left_alone_where_nobody_vouches_for_it() {
    let mut wanted = request();
    wanted.known_idle = false;
    wanted.fill = true;
    let findings = found("others=5000", &wanted);
    assert!(pick!(&findings, Busy) > 4000 * MIB);
    assert!(!findings.iter().any(|finding| matches!(finding, Finding::Largest(_))), "{findings:?}");
    wanted.busy_allowed = true;
    let findings = found("others=3000", &wanted);
    assert_eq!(pick!(&findings, Memory).unwrap().margin, 2048 * MIB);
    assert_eq!(pick!(&findings, Largest).unwrap().single, (8192 - 3000 - 400 - 2048) * MIB);
}

#[test]
fn every_call_may_fail_and_the_child_still_tells() {
    let mut wanted = request();
    wanted.bench = true;
    wanted.fill = true;
    wanted.experiment = vec![holes(40, 60)];
    wanted.free_before = Some(6144 * MIB);
    let log = tempfile::tempdir().unwrap();
    let log = log.path().join("calls");
    found(&format!("total=6144 log={}", log.display()), &wanted);
    let mut symbols: Vec<String> = std::fs::read_to_string(&log).unwrap().lines().map(str::to_string).collect();
    symbols.sort();
    symbols.dedup();
    assert!(symbols.len() > 30, "{symbols:?}");
    for symbol in &symbols {
        // From the second call on, so that each is refused with something at hand; a code that no header knows.
        let findings = found(&format!("total=6144 fail={symbol}:123456:2"), &wanted);
        assert!(matches!(findings[0], Finding::Driver(_)), "{symbol}");
    }
    for symbol in ["cuMemAlloc_v2", "cuMemAllocAsync", "cuMemCreate"] {
        found(&format!("total=6144 fail={symbol}:2:9"), &wanted);
    }
    let failed = pick!(found("fail=cuDevicePrimaryCtxRetain:123456", &wanted), Memory).unwrap_err();
    assert_eq!(failed, Failure::code("cuDevicePrimaryCtxRetain", 123_456));
}

#[test]
fn a_stub_is_a_finding_of_its_own() {
    assert_eq!(pick!(found("fail=cuInit:34", &request()), Driver), Err(Failure::StubLibrary));
}

#[test]
fn no_library_is_told() {
    let empty = tempfile::tempdir().unwrap();
    let (lines, status) = child_in(empty.path(), "", &request());
    if Path::new("/dev/nvidiactl").exists() {
        return; // A driver of the machine's own is found all the same.
    }
    assert!(status.success());
    assert_eq!(pick!(findings(lines), Driver), Err(Failure::NoLibrary));
}

#[test]
fn a_driver_without_virtual_memory_lacks_only_what_needs_it() {
    let old = fakes::build("cuda.rs", "libcuda.so.1", "cuda-old", &["--cfg", "missing"]);
    let mut wanted = request();
    wanted.fill = true;
    let (lines, status) = child_in(&old, "", &wanted);
    assert!(status.success());
    let findings = findings(lines);
    assert!(matches!(pick!(&findings, Granularity), Err(Failure::MissingSymbol { .. })));
    let largest = pick!(&findings, Largest).unwrap();
    assert_eq!((largest.mapped, largest.physically_fragmented()), (None, None));
}

#[test]
fn unified_memory_is_never_filled() {
    let mut wanted = request();
    wanted.fill = true;
    wanted.experiment = vec![holes(30, 80)];
    for memory in ["integrated", "coherent"] {
        let findings = found(memory, &wanted);
        assert!(matches!(pick!(&findings, Largest), Err(Failure::Unsuitable { .. })), "{memory}");
        assert!(matches!(pick!(&findings, Experiment), Err(Failure::Unsuitable { .. })), "{memory}");
    }
}

/// `count` segments of 128 MiB, each with a hole of `hole` MiB between live blocks; 200 MiB free; 900 MiB asked for.
fn holes(count: usize, hole: u64) -> State {
    let block = |mib: u64, live| Block { bytes: mib * MIB, live };
    let segment = Segment {
        blocks: vec![block(22, true), block(hole, false), block(128 - 22 - hole, true)],
        page: TORCH_PAGE,
        pinned: false,
    };
    State { segments: vec![segment; count], requested: 900 * MIB, free: 200 * MIB, layout: Layout::Known }
}

#[test]
fn the_experiment_proves_fragmentation() {
    let mut wanted = request();
    wanted.experiment = vec![holes(30, 80)];
    let outcome = pick!(found("total=12288", &wanted), Experiment).unwrap().remove(0).unwrap();
    assert_eq!(outcome.observed, [Ways { plain: false, torch: true, small: true }; 3]);
    assert_eq!((outcome.verdict, outcome.agrees), (Some(FailureMode::Fragmentation), true));
    assert!(outcome.control && outcome.returned);
    assert_eq!(outcome.halvings, 0);
}

#[test]
fn the_experiment_refutes_fragmentation_where_the_holes_are_crumbs() {
    let block = |live| Block { bytes: MIB, live };
    let crumbs = Segment { blocks: [block(true), block(false)].repeat(64), page: TORCH_PAGE, pinned: false };
    let mut wanted = request();
    wanted.experiment =
        vec![State { segments: vec![crumbs; 30], requested: 900 * MIB, free: 200 * MIB, layout: Layout::Known }];
    let outcome = pick!(found("total=12288", &wanted), Experiment).unwrap().remove(0).unwrap();
    assert_eq!(outcome.observed, [Ways::default(); 3]);
    assert_eq!((outcome.verdict, outcome.agrees), (Some(FailureMode::Exhaustion), true));
}

/// The least that was free on the device, in MiB, over a whole run.
fn lowest(settings: &str, request: &ProbeRequest) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lowest");
    found(&format!("{settings} lowest={}", file.display()), request);
    std::fs::read_to_string(file).unwrap().trim().parse::<u64>().unwrap() / MIB
}

#[test]
fn the_margin_stays_free() {
    let mut wanted = request();
    wanted.fill = true;
    wanted.bench = true;
    assert_eq!(lowest("", &wanted), 512);
    // A request that goes through leaves it as well.
    wanted.fill = false;
    wanted.bench = false;
    wanted.experiment = vec![holes(30, 80)];
    let while_served = lowest("total=12288", &wanted);
    assert!((512..528).contains(&while_served), "{while_served}");
    wanted.experiment = vec![State { requested: 150 * MIB, ..holes(30, 80) }];
    assert!(lowest("total=12288", &wanted) >= 512);
    // A display has a share of its own, and a device that may be shared a larger margin.
    wanted.experiment.clear();
    wanted.fill = true;
    wanted.display = true;
    assert_eq!(lowest("", &wanted), 512 + 1024);
    wanted.known_idle = false;
    assert_eq!(lowest("", &wanted), 2048 + 1024);
}

#[test]
fn a_state_too_large_for_the_device_is_scaled() {
    let mut wanted = request();
    wanted.experiment = vec![holes(60, 80)];
    wanted.free_before = Some(6144 * MIB);
    let outcome = pick!(found("total=6144", &wanted), Experiment).unwrap().remove(0).unwrap();
    assert!(outcome.halvings >= 1, "{outcome:?}");
    assert_eq!((outcome.verdict, outcome.agrees), (Some(FailureMode::Fragmentation), true), "{outcome:?}");
}

#[test]
fn somebody_who_comes_amid_the_experiment_makes_it_void() {
    let log = tempfile::tempdir().unwrap();
    let log = log.path().join("calls");
    let mut wanted = request();
    wanted.experiment = vec![holes(30, 80)];
    found(&format!("total=12288 log={}", log.display()), &wanted);
    let calls = std::fs::read_to_string(&log).unwrap().lines().count();
    // At many moments, by more than noise: never is an answer given, or less left than they took.
    for at in (calls / 10..calls).step_by(calls / 6) {
        let outcome = pick!(found(&format!("total=12288 arrive={at}:900"), &wanted), Experiment);
        let void = match &outcome {
            Err(_) => true,
            Ok(outcomes) => match &outcomes[0] {
                Err(failure) => matches!(failure, Failure::OthersMoved { .. } | Failure::MarginUsed { .. }),
                Ok(outcome) => outcome.verdict.is_none() || outcome.verdict == Some(FailureMode::Fragmentation),
            },
        };
        assert!(void, "{at} of {calls}: {outcome:?}");
    }
    assert!(lowest(&format!("total=12288 arrive={}:400", calls / 3), &wanted) >= 112);
}

#[test]
fn a_device_on_which_the_control_fails_proves_nothing() {
    let mut wanted = request();
    wanted.experiment = vec![holes(30, 80)];
    // No single allocation above 600 MiB: the plain way fails for another reason than the one under test.
    let outcome = pick!(found("total=12288 single=600", &wanted), Experiment).unwrap().remove(0).unwrap();
    assert_eq!((outcome.control, outcome.verdict), (false, None));
}

// ---- The command -----------------------------------------------------------------------------------------------------

/// A message of PyTorch 2.x: 24.6 GiB allocated in a device of 31.4 GiB, 5.1 GiB cached.
const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.12 GiB. GPU 0 has a total capacity \
of 31.36 GiB of which 905.94 MiB is free. Including non-PyTorch memory, this process has 30.46 GiB memory in use. Of the \
allocated memory 24.64 GiB is allocated by PyTorch, and 5.11 GiB is reserved by PyTorch but unallocated.";

/// An idle board as NVML tells of it, the one that the fake driver of CUDA shows.
const IDLE: &str = "gpu Simulated GPU\nuuid GPU-10111213-1415-1617-1819-1a1b1c1d1e1f\npci 3b\nminor 0\nmemory 8192 0 0 8192\nset nvmlDeviceGetUtilizationRates 0 0\n";

/// Exit code and the JSON of `oomdoc probe` on the fake driver. `nvml` is what NVML tells; without, there is none.
fn probe_beside(nvml: Option<&str>, settings: &str, arguments: &[&str], input: &str) -> (i32, Value) {
    probe_with(nvml, settings, arguments, input, &[])
}

/// The same with further variables of the environment.
fn probe_with(nvml: Option<&str>, settings: &str, arguments: &[&str], input: &str, variables: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = process();
    let mut libraries = LIBRARY.as_os_str().to_owned();
    if let Some(scenario) = nvml {
        let path = folder.path().join("scenario");
        std::fs::write(&path, scenario).unwrap();
        command.env("FAKE_NVML", path);
        libraries.push(":");
        libraries.push(&*NVML);
    }
    for variable in variables {
        let (name, value) = variable.split_once('=').unwrap();
        command.env(name, value);
    }
    let mut child = command
        .args(["probe", "--json", "--lang", "en", "--root", "/nonexistent"])
        .args(arguments)
        .current_dir(binary::root())
        .env("LD_LIBRARY_PATH", libraries)
        .env("FAKE_CUDA", settings)
        .env("TMPDIR", folder.path())
        .env("PATH", "/nonexistent")
        .env_remove("CUDA_MPS_PIPE_DIRECTORY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if report.is_object() {
        SCHEMA.lock().unwrap_or_else(PoisonError::into_inner).check(&report, &arguments.join(" "));
    }
    (output.status.code().unwrap(), report)
}

fn probe(settings: &str, arguments: &[&str], input: &str) -> (i32, Value) {
    probe_beside(None, settings, arguments, input)
}

fn unavailable(value: &Value) -> &str {
    value["unavailable"].as_str().unwrap_or_else(|| panic!("available: {value}"))
}

#[test]
fn without_the_flag_no_context_is_made() {
    let log = tempfile::tempdir().unwrap();
    let calls = log.path().join("calls");
    let (_, report) = probe(&format!("log={}", calls.display()), &[], "");
    assert!(report.get("cuda").is_none());
    // The host's part may ask CUDA for nothing that takes memory.
    let calls = std::fs::read_to_string(&calls).unwrap_or_default();
    assert!(!calls.contains("Retain") && !calls.contains("cuMem"), "{calls}");
}

#[test]
fn what_cuda_tells_is_in_the_report() {
    let (code, report) = probe("context=398 noise", &["--cuda"], "");
    assert_eq!(code, 0);
    let cuda = &report["cuda"];
    assert_eq!(cuda["free_bytes"], (8192 - 398) * MIB);
    assert_eq!(cuda["granularity_bytes"], 2 * MIB);
    assert_eq!(unavailable(&cuda["largest_block_bytes"]), "not asked for; --allow-fill does");
    assert!(unavailable(&cuda["context_bytes"]).contains("NVML"));
}

#[test]
fn a_driver_that_hangs_costs_only_what_comes_after() {
    let (code, report) = probe("hang=cuMemGetAllocationGranularity", &["--cuda", "--time-limit", "1"], "");
    assert_eq!((code, &report["cuda"]["free_bytes"]), (0, &((8192 - 400) * MIB).into()));
    let why = unavailable(&report["cuda"]["granularity_bytes"]);
    assert!(why.contains("within 1 s") && why.contains("granularity"), "{why}");
}

#[test]
fn a_driver_that_dies_is_reported_with_the_signal() {
    let (code, report) = probe("crash=cuLaunchKernel", &["--bench", "--buffer", "1MiB"], "");
    assert_eq!(code, 0);
    let why = unavailable(&report["cuda"]["bandwidth"]);
    assert!(why.contains("signal 6") && why.contains("bandwidth"), "{why}");
    assert!(report["cuda"]["cut_short"].is_string());
    assert_eq!(report["cuda"]["granularity_bytes"], 2 * MIB);
}

#[test]
fn a_gpu_in_use_is_refused() {
    let (code, report) = probe("others=6000", &["--bench"], "");
    assert_eq!(code, 4, "{report}");
    assert!(report["cuda"]["refused"].as_str().unwrap().contains("--allow-busy"));
    // Without NVML nobody sees who comes while it is filled.
    let (code, report) = probe("", &["--allow-fill"], "");
    assert_eq!(code, 4, "{report}");
    assert!(unavailable(&report["cuda"]).contains("NVML"));
    let (code, report) = probe("others=3000", &["--allow-fill", "--allow-busy"], "");
    assert_eq!(code, 0);
    assert_eq!(report["cuda"]["largest_block_bytes"], (8192 - 3000 - 400 - 2048) * MIB);
}

#[test]
fn without_a_gpu_arithmetic_answers_alone() {
    let (code, report) = probe("fail=cuInit:100", &["--reproduce", "-"], MESSAGE);
    assert_eq!(code, 3);
    let answer = &report["reproduction"];
    assert_eq!((answer["basis"].as_str(), answer["verdict"].as_str()), (Some("arithmetic"), Some("open")));
    let cases = answer["cases"].as_array().unwrap();
    assert_eq!(cases[1]["verdict"], "exhaustion");
    let cached = cases[0]["cached_bytes"].as_u64().unwrap() as f64 / (1u64 << 30) as f64;
    assert!((cached - 5.11).abs() < 0.01, "{cached}");
}

#[test]
fn a_request_beyond_all_memory_refutes_fragmentation() {
    let (_, report) = probe("", &["--reproduce", "-"], &MESSAGE.replace("1.12 GiB", "7.50 GiB"));
    let answer = &report["reproduction"];
    assert_eq!(answer["verdict"], "exhaustion");
    assert!(answer["text"].as_str().unwrap().starts_with("refuted"), "{answer}");
}

#[test]
fn the_experiment_and_its_twin_stand_side_by_side() {
    let (code, report) = probe_beside(
        Some(&IDLE.replace("8192", "49152")),
        "total=49152",
        &["--allow-fill", "--buffer", "1MiB", "--reproduce", "-", "--time-limit", "300"],
        MESSAGE,
    );
    assert_eq!(code, 0);
    assert_eq!(report["reproduction"]["basis"], "device");
    assert_eq!(report["reproduction"]["measured"], "confirmed");
    let cuda = &report["gpus"][0]["cuda"];
    let tried = cuda["experiment"].as_array().unwrap_or_else(|| panic!("{cuda}"));
    let cases = report["reproduction"]["cases"].as_array().unwrap();
    assert_eq!(tried.len(), 2);
    for (tried, case) in tried.iter().zip(cases) {
        assert_eq!(tried["agrees"], true, "{tried}");
        assert_eq!(tried["verdict"], case["verdict"]);
        assert_eq!(tried["observed"][2], case["predicted"]);
    }
}

#[test]
fn a_log_without_figures_cannot_be_worked_out() {
    assert_eq!(probe("", &["--reproduce", "-"], "RuntimeError: CUDA error: out of memory").0, 2);
    assert_eq!(probe("", &["--reproduce", "-"], "all is well").0, 2);
}

#[test]
fn beside_nvml_the_context_has_a_price() {
    let (code, report) = probe_beside(Some(IDLE), "context=430", &["--cuda"], "");
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["gpus"][0]["cuda"]["context_bytes"], 430 * MIB);
    assert!(report.get("cuda").is_none());
}

#[test]
fn a_gpu_with_processes_is_not_even_given_a_context() {
    let log = tempfile::tempdir().unwrap();
    let calls = log.path().join("calls");
    let busy = format!("{}process compute 4242 3000\n", IDLE.replace("0 8192", "3000 5192"));
    let settings = format!("log={}", calls.display());
    let (code, report) = probe_beside(Some(&busy), &settings, &["--cuda"], "");
    assert_eq!(code, 4);
    let why = unavailable(&report["gpus"][0]["cuda"]);
    assert!(why.contains("4242") && why.contains("--allow-busy"), "{why}");
    assert!(!std::fs::read_to_string(&calls).unwrap_or_default().contains("Retain"));
    let (code, report) = probe_beside(Some(&busy), "others=3000", &["--cuda", "--allow-busy"], "");
    assert_eq!((code, &report["gpus"][0]["cuda"]["margin_bytes"]), (0, &(2048 * MIB).into()));
    // A container sees no processes of others, but the kernels that they run.
    let unseen = IDLE.replace("Rates 0 0", "Rates 63 5");
    assert_eq!(probe_beside(Some(&unseen), "", &["--cuda"], "").0, 4);
    // What draws the screen is no job.
    let drawn = format!("{}process graphics 900 60\n", IDLE.replace("0 8192", "60 8132"));
    assert_eq!(probe_beside(Some(&drawn), "", &["--cuda"], "").0, 0);
}

#[test]
fn a_gpu_that_must_not_be_filled_is_not() {
    let display = format!("{IDLE}set nvmlDeviceGetDisplayActive 1\n");
    let (_, report) = probe_beside(Some(&display), "", &["--cuda"], "");
    assert_eq!(report["gpus"][0]["cuda"]["margin_bytes"], (2048 + 1024) * MIB, "{report}");
    for (set, word) in [("nvmlDeviceGetVirtualizationMode 2", "virtual GPU"), ("nvmlDeviceGetNumaNodeId 1", "NUMA")] {
        let scenario = format!("{IDLE}set {set}\n");
        let (code, report) = probe_beside(Some(&scenario), "", &["--allow-fill", "--allow-busy"], "");
        let why = unavailable(&report["gpus"][0]["cuda"]["largest_block_bytes"]);
        assert!(code == 0 && why.contains(word), "{code} {why}");
    }
}

#[test]
fn of_a_divided_gpu_only_the_own_instance_is_probed() {
    let divided = format!(
        "{IDLE}instance MIG-20111213-1415-1617-1819-1a1b1c1d1e1f 1g.2gb 2048 0\n\
         instance MIG-30111213-1415-1617-1819-1a1b1c1d1e1f 1g.2gb 2048 900\n"
    );
    let (code, report) = probe_beside(Some(&divided), "", &["--allow-fill"], "");
    assert_eq!(code, 0);
    assert!(unavailable(&report["gpus"][0]["cuda"]).contains("CUDA_VISIBLE_DEVICES=MIG-"), "{report}");
    let on = |instance: &str, digits: &str| {
        let scenario = divided.clone();
        let variable = format!("CUDA_VISIBLE_DEVICES=MIG-{instance}");
        probe_with(Some(&scenario), &format!("uuid={digits} total=2048 context=60"), &["--cuda"], "", &[&variable])
    };
    let (code, report) = on("20111213", "2011");
    assert_eq!((code, &report["gpus"][0]["cuda"]["context_bytes"]), (0, &(60 * MIB).into()), "{report}");
    let (code, report) = on("30111213", "3011");
    assert_eq!(code, 4, "{report}");
    assert!(unavailable(&report["gpus"][0]["cuda"]).contains("900.00 MiB"), "{report}");
}

#[test]
fn who_comes_while_it_is_filled_stops_the_probe() {
    // The first newcomer may be the child itself, by the host's number.
    let busy = format!("{IDLE}comes compute 5001 400 15\ncomes compute 5002 700 18\n");
    let (code, report) = probe_beside(Some(&busy), "hang=cuMemCreate", &["--allow-fill"], "");
    assert_eq!(code, 0, "{report}");
    let why = unavailable(&report["gpus"][0]["cuda"]["largest_block_bytes"]);
    assert!(why.starts_with("stopped during") && why.contains("process 5002"), "{why}");
    // Who comes in the two seconds before is seen by the readings.
    let (code, report) = probe_beside(Some(&format!("{IDLE}comes compute 5001 400 6\n")), "", &["--allow-fill"], "");
    assert_eq!(code, 4, "{report}");
}

#[test]
fn a_limit_that_the_driver_does_not_show_is_a_verdict() {
    let (code, report) = probe_beside(Some(IDLE), "others=3000", &["--cuda", "--fail-on", "hidden-limit"], "");
    assert_eq!(code, 1, "{report}");
    assert!(unavailable(&report["gpus"][0]["cuda"]["context_bytes"]).contains("NVML"));
    // It may be somebody who came: nothing is filled then.
    let (code, report) = probe_beside(Some(IDLE), "others=3000", &["--allow-fill"], "");
    assert_eq!(code, 4, "{report}");
}

/// Whether a process is there and no zombie.
fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_probe_that_is_killed_leaves_no_child_behind() {
    for signal in ["KILL", "INT", "TERM"] {
        let mut parent = process()
            .args(["probe", "--cuda", "--root", "/nonexistent"])
            .env("LD_LIBRARY_PATH", &*LIBRARY)
            .env("FAKE_CUDA", "hang=cuMemGetAllocationGranularity")
            .env("PATH", "/nonexistent")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let children = format!("/proc/{0}/task/{0}/children", parent.id());
        let wait = |done: &dyn Fn() -> bool| {
            let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !done() {
                assert!(std::time::Instant::now() < end, "{signal}");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        };
        let child = || std::fs::read_to_string(&children).ok()?.split_whitespace().next()?.parse::<u32>().ok();
        // Read once: the first child may be gone at the second look.
        let seen = std::cell::Cell::new(None);
        wait(&|| {
            seen.set(child());
            seen.get().is_some()
        });
        let child = seen.get().unwrap();
        let killed = Command::new("/bin/sh").arg("-c").arg(format!("kill -{signal} {}", parent.id())).status();
        assert!(killed.unwrap().success());
        parent.wait().unwrap();
        wait(&|| !alive(child));
    }
}

#[test]
fn memory_that_vanishes_under_the_probe_stops_it() {
    let vanishing = format!("{IDLE}grows 900\n");
    let (code, report) = probe_beside(Some(&vanishing), "hang=cuMemCreate", &["--allow-fill", "--allow-busy"], "");
    assert_eq!(code, 0);
    let why = unavailable(&report["gpus"][0]["cuda"]["largest_block_bytes"]);
    assert!(why.starts_with("stopped during"), "{why}");
}

#[test]
fn a_snapshot_is_worked_out_and_tried() {
    let snapshot = "fixtures/snapshots/fragmentation-oom.pickle";
    let (code, report) = probe_beside(
        Some(&IDLE.replace("8192", "24576")),
        "total=24576",
        &["--allow-fill", "--buffer", "1MiB", "--reproduce", snapshot],
        "",
    );
    assert_eq!(code, 0);
    let answer = &report["reproduction"];
    assert_eq!((answer["verdict"].as_str(), answer["basis"].as_str()), (Some("fragmentation"), Some("device")));
    let tried = &report["gpus"][0]["cuda"]["experiment"][0];
    assert_eq!((tried["verdict"].as_str(), tried["agrees"].as_bool()), (Some("fragmentation"), Some(true)), "{tried}");
    assert_eq!(probe("", &["--reproduce", "fixtures/snapshots/kv-growth-fits.pickle.gz"], "").0, 2);
}

#[test]
fn every_property_of_the_schema_is_in_a_document() {
    what_cuda_tells_is_in_the_report();
    a_driver_that_dies_is_reported_with_the_signal();
    a_gpu_in_use_is_refused();
    without_a_gpu_arithmetic_answers_alone();
    the_experiment_and_its_twin_stand_side_by_side();
    beside_nvml_the_context_has_a_price();
    probe_beside(Some(IDLE), "flip=777:400", &["--allow-fill", "--bench", "--buffer", "1MiB"], "");
    let told = ["Bandwidth", "Case", "Cuda", "Latency", "MemoryCheck", "Outcome", "Reproduction", "Ways", "WrongWord"];
    SCHEMA.lock().unwrap_or_else(PoisonError::into_inner).complete_among(|name| told.contains(&name), &[]);
}
