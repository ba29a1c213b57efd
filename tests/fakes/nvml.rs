//! A libnvidia-ml that tells what a scenario says. Compiled by the tests with `rustc --crate-type cdylib`; needs std
//! alone.
//!
//! `FAKE_NVML` names the scenario, a text of one statement a line:
//!
//! ```text
//! init CODE                                  what nvmlInit returns
//! gpu NAME                                   begins a GPU; statements below belong to it
//! uuid UUID | pci BUS | minor N
//! memory TOTAL RESERVED USED FREE            MiB
//! grows MIB                                  added to what is in use with every reading
//! hangs N                                    the Nth reading of the memory never comes back
//! process compute|graphics|mps PID MIB|na    PID@3: in instance 3 of a divided GPU
//! comes compute|graphics|mps PID MIB N        the same, from the Nth reading of the memory on
//! set CALL VALUE…                            the numbers that a call gives back
//! instance UUID NAME TOTAL USED              MiB; the GPU is divided
//! fault CALL CODE                            of any call, for all GPUs
//! garbage CALL                               succeeds and fills its answer with ones
//! ```

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const MIB: u64 = 1 << 20;

#[derive(Default)]
struct Gpu {
    name: String,
    uuid: String,
    bus: u32,
    minor: u32,
    memory: [u64; 4],
    grows: u64,
    hangs: Option<u64>,
    processes: Vec<(String, u32, u64, u64)>,
    values: Vec<(String, Vec<u64>)>,
    instances: Vec<(String, String, u64, u64)>,
}

#[derive(Default)]
struct Scenario {
    init: c_uint,
    gpus: Vec<Gpu>,
    faults: Vec<(String, c_uint)>,
    garbage: Vec<String>,
}

static SCENARIO: OnceLock<Scenario> = OnceLock::new();
static READINGS: AtomicU64 = AtomicU64::new(0);

fn scenario() -> &'static Scenario {
    SCENARIO.get_or_init(|| {
        let path = std::env::var("FAKE_NVML").expect("FAKE_NVML");
        let text = std::fs::read_to_string(path).expect("a scenario");
        let mut scenario = Scenario::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some((verb, rest)) = words.split_first() else { continue };
            let number = |at: usize| -> u64 { rest.get(at).and_then(|word| word.parse().ok()).unwrap_or(u64::MAX) };
            match *verb {
                "init" => scenario.init = number(0) as c_uint,
                "fault" => scenario.faults.push((rest[0].into(), number(1) as c_uint)),
                "garbage" => scenario.garbage.push(rest[0].into()),
                "gpu" => scenario.gpus.push(Gpu { name: rest.join(" "), ..Gpu::default() }),
                verb => {
                    let gpu = scenario.gpus.last_mut().expect("a gpu first");
                    match verb {
                        "uuid" => gpu.uuid = rest[0].into(),
                        "pci" => gpu.bus = u32::from_str_radix(rest[0], 16).expect("a bus"),
                        "minor" => gpu.minor = number(0) as u32,
                        "memory" => gpu.memory = [number(0), number(1), number(2), number(3)],
                        "grows" => gpu.grows = number(0),
                        "hangs" => gpu.hangs = Some(number(0)),
                        "process" => gpu.processes.push((rest[0].into(), placed(rest[1]), number(2), 0)),
                        "comes" => gpu.processes.push((rest[0].into(), number(1) as u32, number(2), number(3))),
                        "set" => {
                            gpu.values.push((rest[0].into(), rest[1..].iter().map(|w| w.parse().unwrap()).collect()))
                        }
                        "instance" => gpu.instances.push((rest[0].into(), rest[1].into(), number(2), number(3))),
                        other => panic!("{other}?"),
                    }
                }
            }
        }
        scenario
    })
}

enum Answer {
    Told,
    Garbage,
    Fault(c_uint),
}

fn answer(call: &str) -> Answer {
    let scenario = scenario();
    if let Some((_, code)) = scenario.faults.iter().find(|(name, _)| name == call) {
        return Answer::Fault(*code);
    }
    if scenario.garbage.iter().any(|name| name == call) { Answer::Garbage } else { Answer::Told }
}

/// A handle is the GPU's number + 1, of an instance with the instance's number + 1 in the upper half.
fn gpu(handle: usize) -> Option<&'static Gpu> {
    scenario().gpus.get((handle & 0xffff).wrapping_sub(1))
}

fn instance(handle: usize) -> Option<&'static (String, String, u64, u64)> {
    gpu(handle)?.instances.get((handle >> 16).wrapping_sub(1))
}

unsafe fn put<T: Copy>(call: &str, out: *mut T, value: impl FnOnce() -> Option<T>) -> c_uint {
    match answer(call) {
        Answer::Fault(code) => code,
        Answer::Garbage => {
            unsafe { std::ptr::write_bytes(out, 0xff, 1) };
            0
        }
        Answer::Told => match value() {
            Some(value) => {
                unsafe { *out = value };
                0
            }
            None => 3,
        },
    }
}

unsafe fn put_text(call: &str, out: *mut c_char, room: c_uint, text: &str) -> c_uint {
    match answer(call) {
        Answer::Fault(code) => code,
        Answer::Garbage => {
            unsafe { std::ptr::write_bytes(out, 0xff, room as usize) };
            0
        }
        Answer::Told if text.len() >= room as usize => 7,
        Answer::Told => {
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr().cast(), out, text.len());
                *out.add(text.len()) = 0;
            }
            0
        }
    }
}

/// A number that the scenario sets for a call, else a usual one; a missing usual one is "not supported".
fn value(handle: usize, call: &str, at: usize, usual: Option<u64>) -> Option<u64> {
    let set = gpu(handle)?.values.iter().find(|(name, _)| name == call);
    set.map_or(usual, |(_, values)| values.get(at).copied())
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_uint {
    scenario().init
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> c_uint {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(out: *mut c_char, room: c_uint) -> c_uint {
    // Called by the wrapper's own start too, which takes the text to end: no garbage here.
    match answer("nvmlSystemGetDriverVersion") {
        Answer::Fault(code) => code,
        _ => unsafe { put_text("", out, room, "580.95.05") },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetNVMLVersion(out: *mut c_char, room: c_uint) -> c_uint {
    unsafe { put_text("nvmlSystemGetNVMLVersion", out, room, "13.580.95.05") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(out: *mut c_int) -> c_uint {
    unsafe { put("nvmlSystemGetCudaDriverVersion_v2", out, || Some(13000)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(out: *mut c_uint) -> c_uint {
    unsafe { put("nvmlDeviceGetCount_v2", out, || Some(scenario().gpus.len() as c_uint)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, out: *mut usize) -> c_uint {
    unsafe { put("nvmlDeviceGetHandleByIndex_v2", out, || Some(index as usize + 1)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(handle: usize, out: *mut c_char, room: c_uint) -> c_uint {
    let Some(gpu) = gpu(handle) else { return 15 };
    let name = instance(handle).map_or(gpu.name.clone(), |(_, profile, _, _)| format!("{} MIG {profile}", gpu.name));
    unsafe { put_text("nvmlDeviceGetName", out, room, &name) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(handle: usize, out: *mut c_char, room: c_uint) -> c_uint {
    let Some(gpu) = gpu(handle) else { return 15 };
    let uuid = instance(handle).map_or(&gpu.uuid, |(uuid, ..)| uuid);
    unsafe { put_text("nvmlDeviceGetUUID", out, room, uuid) }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pci {
    legacy: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    ids: [c_uint; 2],
    bus_id: [u8; 32],
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(handle: usize, out: *mut Pci) -> c_uint {
    unsafe {
        put("nvmlDeviceGetPciInfo_v3", out, || {
            let bus = gpu(handle)?.bus;
            Some(Pci { legacy: [0; 16], domain: 0, bus, device: 0, ids: [0; 2], bus_id: [0; 32] })
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemoryV2 {
    version: c_uint,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

/// Who holds what now: the files `job` and `stranger` of FAKE_GPU_DIR, "PID MIB".
fn shared() -> Vec<(u32, u64)> {
    let Ok(folder) = std::env::var("FAKE_GPU_DIR") else { return Vec::new() };
    ["job", "stranger"]
        .iter()
        .filter_map(|name| {
            let text = std::fs::read_to_string(format!("{folder}/{name}")).ok()?;
            let mut words = text.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
            let (pid, mib) = (words.next()? as u32, words.next()?);
            std::path::Path::new(&format!("/proc/{pid}")).exists().then_some((pid, mib))
        })
        .collect()
}

fn figures(handle: usize) -> Option<[u64; 4]> {
    if let Some((_, _, total, used)) = instance(handle) {
        return Some([total * MIB, 0, used * MIB, (total - used) * MIB]);
    }
    let gpu = gpu(handle)?;
    let readings = READINGS.fetch_add(1, Ordering::Relaxed);
    if gpu.hangs.is_some_and(|from| readings >= from) {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    let grown = gpu.grows * readings + shared().iter().map(|(_, mib)| mib).sum::<u64>();
    let [total, reserved, used, free] = gpu.memory;
    Some([total * MIB, reserved * MIB, (used + grown) * MIB, free.saturating_sub(grown) * MIB])
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(handle: usize, out: *mut MemoryV2) -> c_uint {
    let version = unsafe { (*out).version };
    if version != 0x0200_0028 {
        return 25;
    }
    unsafe {
        put("nvmlDeviceGetMemoryInfo_v2", out, || {
            let [total, reserved, used, free] = figures(handle)?;
            Some(MemoryV2 { version, total, reserved, free, used })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(handle: usize, out: *mut [u64; 3]) -> c_uint {
    unsafe {
        put("nvmlDeviceGetMemoryInfo", out, || {
            // The first version counts what is reserved as used.
            let [total, _, _, free] = figures(handle)?;
            Some([total, free, total - free])
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Row {
    pid: c_uint,
    used: u64,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RowV1 {
    pid: c_uint,
    used: u64,
}

unsafe fn list<T>(
    call: &str,
    kind: &str,
    handle: usize,
    count: *mut c_uint,
    out: *mut T,
    row: fn(u32, u64) -> T,
) -> c_uint {
    let room = unsafe { *count } as usize;
    let garbage = match answer(call) {
        Answer::Fault(code) => return code,
        Answer::Garbage => true,
        Answer::Told => false,
    };
    if garbage {
        unsafe {
            std::ptr::write_bytes(out, 0xff, room);
            *count = u32::MAX;
        }
        return 0;
    }
    let Some(gpu) = gpu(handle) else { return 15 };
    let now = READINGS.load(Ordering::Relaxed);
    let mut rows: Vec<(String, u32, u64, u64)> =
        gpu.processes.iter().filter(|(of, _, _, from)| of == kind && *from <= now).cloned().collect();
    if kind == "compute" {
        rows.extend(shared().into_iter().map(|(pid, mib)| (kind.to_string(), pid, mib, 0)));
    }
    unsafe { *count = rows.len() as c_uint };
    if rows.len() > room {
        return 7;
    }
    for (at, (_, pid, mib, _)) in rows.into_iter().enumerate() {
        let used = if mib == u64::MAX { mib } else { mib * MIB };
        unsafe { *out.add(at) = row(pid, used) };
    }
    0
}

fn row(placed: u32, used: u64) -> Row {
    let gpu_instance = if placed >> INSTANCE == 0 { u32::MAX } else { placed >> INSTANCE };
    Row { pid: placed & ((1 << INSTANCE) - 1), used, gpu_instance, compute_instance: u32::MAX }
}

/// A process's number, with that of its instance above it: no process has one of so many bits.
const INSTANCE: u32 = 24;

fn placed(text: &str) -> u32 {
    let (pid, instance) = text.split_once('@').unwrap_or((text, "0"));
    pid.parse::<u32>().expect("a pid") | instance.parse::<u32>().expect("an instance") << INSTANCE
}

macro_rules! lists {
    ($($call:ident $kind:literal),*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $call(handle: usize, count: *mut c_uint, out: *mut Row) -> c_uint {
            unsafe { list(stringify!($call), $kind, handle, count, out, row) }
        }
    )* };
}

lists!(
    nvmlDeviceGetComputeRunningProcesses_v3 "compute",
    nvmlDeviceGetComputeRunningProcesses_v2 "compute",
    nvmlDeviceGetGraphicsRunningProcesses_v3 "graphics",
    nvmlDeviceGetMPSComputeRunningProcesses_v3 "mps"
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses(
    handle: usize,
    count: *mut c_uint,
    out: *mut RowV1,
) -> c_uint {
    let row = |pid, used| RowV1 { pid, used };
    unsafe { list("nvmlDeviceGetComputeRunningProcesses", "compute", handle, count, out, row) }
}

/// Calls that give back one number, with the usual one.
macro_rules! numbers {
    ($($call:ident $usual:expr),*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $call(handle: usize, out: *mut c_uint) -> c_uint {
            unsafe { put(stringify!($call), out, || value(handle, stringify!($call), 0, $usual).map(|n| n as c_uint)) }
        }
    )* };
}

numbers!(
    nvmlDeviceGetComputeMode Some(0),
    nvmlDeviceGetPersistenceMode Some(1),
    nvmlDeviceGetDisplayActive Some(0),
    nvmlDeviceGetVirtualizationMode Some(0),
    nvmlDeviceGetNumaNodeId None,
    nvmlDeviceGetNumGpuCores Some(16896),
    // This board is cooled by the fans of its machine.
    nvmlDeviceGetFanSpeed None,
    nvmlDeviceGetPowerUsage Some(512_340),
    nvmlDeviceGetEnforcedPowerLimit Some(700_000)
);

/// Calls of one number for each kind of sensor or clock; the first of two is of the multiprocessors.
macro_rules! kinds {
    ($($call:ident $usual:expr),*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $call(handle: usize, kind: c_uint, out: *mut c_uint) -> c_uint {
            let at = usize::from(kind == 2);
            let usual = $usual.get(at).copied();
            unsafe { put(stringify!($call), out, || value(handle, stringify!($call), at, usual).map(|n| n as c_uint)) }
        }
    )* };
}

kinds!(
    nvmlDeviceGetTemperature [64],
    nvmlDeviceGetClockInfo [1755, 2619],
    nvmlDeviceGetMaxClockInfo [1980, 2619]
);

#[repr(C)]
pub struct Sample {
    pid: c_uint,
    at: c_ulonglong,
    multiprocessors: c_uint,
    others: [c_uint; 3],
}

/// Samples as `set` gives them, pairs of a process and its percent, the oldest first; without any, "not found".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetProcessUtilization(
    handle: usize,
    out: *mut Sample,
    count: *mut c_uint,
    _since: c_ulonglong,
) -> c_uint {
    let call = "nvmlDeviceGetProcessUtilization";
    let room = unsafe { *count } as usize;
    match answer(call) {
        Answer::Fault(code) => return code,
        Answer::Garbage => {
            unsafe {
                std::ptr::write_bytes(out, 0xff, room);
                *count = u32::MAX;
            }
            return 0;
        }
        Answer::Told => {}
    }
    let numbers: Vec<u64> = (0..).map_while(|at| value(handle, call, at, None)).collect();
    unsafe { *count = (numbers.len() / 2) as c_uint };
    match numbers.len() / 2 {
        0 => return 6,
        samples if samples > room => return 7,
        _ => {}
    }
    for (at, pair) in numbers.chunks_exact(2).enumerate() {
        let sample = Sample {
            pid: pair[0] as c_uint,
            at: 1_000_000 + at as u64,
            multiprocessors: pair[1] as c_uint,
            others: [0; 3],
        };
        unsafe { std::ptr::write(out.add(at), sample) };
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMinorNumber(handle: usize, out: *mut c_uint) -> c_uint {
    unsafe { put("nvmlDeviceGetMinorNumber", out, || Some(gpu(handle)?.minor)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(handle: usize, major: *mut c_int, minor: *mut c_int) -> c_uint {
    let call = "nvmlDeviceGetCudaComputeCapability";
    unsafe {
        put(call, major, || value(handle, call, 0, Some(9)).map(|n| n as c_int))
            | put(call, minor, || value(handle, call, 1, Some(0)).map(|n| n as c_int))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigMode(handle: usize, current: *mut c_uint, pending: *mut c_uint) -> c_uint {
    let call = "nvmlDeviceGetMigMode";
    let usual = || gpu(handle).map(|gpu| u64::from(!gpu.instances.is_empty()));
    unsafe {
        put(call, current, || value(handle, call, 0, usual()).map(|n| n as c_uint))
            | put(call, pending, || value(handle, call, 0, usual()).map(|n| n as c_uint))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxMigDeviceCount(handle: usize, out: *mut c_uint) -> c_uint {
    unsafe { put("nvmlDeviceGetMaxMigDeviceCount", out, || gpu(handle).map(|_| 7)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(handle: usize, index: c_uint, out: *mut usize) -> c_uint {
    let instance = handle | (index as usize + 1) << 16;
    if gpu(handle).is_none_or(|gpu| index as usize >= gpu.instances.len()) {
        return 6;
    }
    unsafe { put("nvmlDeviceGetMigDeviceHandleByIndex", out, || Some(instance)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuInstanceId(handle: usize, out: *mut c_uint) -> c_uint {
    unsafe { put("nvmlDeviceGetGpuInstanceId", out, || instance(handle).map(|_| (handle >> 16) as c_uint)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetBAR1MemoryInfo(handle: usize, out: *mut [u64; 3]) -> c_uint {
    let call = "nvmlDeviceGetBAR1MemoryInfo";
    unsafe {
        put(call, out, || {
            let total = value(handle, call, 0, Some(65536))? * MIB;
            let used = value(handle, call, 1, Some(2))? * MIB;
            Some([total, total - used, used])
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    handle: usize,
    correctable: *mut c_uint,
    uncorrectable: *mut c_uint,
    pending: *mut c_uint,
    failed: *mut c_uint,
) -> c_uint {
    let call = "nvmlDeviceGetRemappedRows";
    [correctable, uncorrectable, pending, failed].into_iter().enumerate().fold(0, |code, (at, out)| {
        code | unsafe { put(call, out, || value(handle, call, at, Some(0)).map(|n| n as c_uint)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEccMode(handle: usize, current: *mut c_uint, pending: *mut c_uint) -> c_uint {
    let call = "nvmlDeviceGetEccMode";
    unsafe {
        put(call, current, || value(handle, call, 0, Some(1)).map(|n| n as c_uint))
            | put(call, pending, || value(handle, call, 0, Some(1)).map(|n| n as c_uint))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    handle: usize,
    _kind: c_uint,
    counter: c_uint,
    out: *mut c_ulonglong,
) -> c_uint {
    let call = "nvmlDeviceGetTotalEccErrors";
    unsafe { put(call, out, || value(handle, call, counter as usize, Some(0))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(handle: usize, out: *mut c_ulonglong) -> c_uint {
    let call = "nvmlDeviceGetCurrentClocksThrottleReasons";
    unsafe { put(call, out, || value(handle, call, 0, Some(0))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(handle: usize, out: *mut [c_uint; 2]) -> c_uint {
    let call = "nvmlDeviceGetUtilizationRates";
    unsafe { put(call, out, || Some([value(handle, call, 0, Some(97))? as c_uint, 40])) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetAddressingMode(handle: usize, out: *mut [c_uint; 2]) -> c_uint {
    let call = "nvmlDeviceGetAddressingMode";
    if unsafe { (*out)[0] } != 0x0100_0008 {
        return 25;
    }
    unsafe { put(call, out, || Some([0x0100_0008, value(handle, call, 0, Some(0))? as c_uint])) }
}

/// PyTorch asks for these three by name and gives up when one is missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(_: *const c_char, out: *mut usize) -> c_uint {
    unsafe { *out = 1 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetNvLinkRemoteDeviceType(_: usize, _: c_uint, _: *mut c_uint) -> c_uint {
    3
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(_: usize, _: c_uint, _: *mut Pci) -> c_uint {
    3
}
