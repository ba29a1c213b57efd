//! NVML: which processes use a device, for the text of an out-of-memory error, and what monitors ask.
//!
//! The handle of device `d` is `d + 1`, which is also its PCI bus.

use crate::abi::{SUCCESS, Status, constants, give, give_text, text};
use crate::memory;
use crate::settings::{settings, visible_devices};
use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

const INVALID_ARGUMENT: Status = 2;
const NOT_SUPPORTED: Status = 3;
const INSUFFICIENT_SIZE: Status = 7;

constants! { SUCCESS; nvmlInit nvmlInit_v2 nvmlInitWithFlags nvmlShutdown
// Success with the caller's struct untouched means that there is no NVLink fabric.
nvmlDeviceGetGpuFabricInfoV }
constants! { NOT_SUPPORTED; nvmlDeviceGetNvLinkRemoteDeviceType nvmlDeviceGetNvLinkRemotePciInfo_v2
nvmlDeviceGetNvLinkState nvmlDeviceGetNvLinkCapability nvmlDeviceGetGpuFabricInfo nvmlDeviceGetMigMode
nvmlDeviceGetTopologyCommonAncestor nvmlDeviceGetP2PStatus }

/// The bus of a PCI address like `00000000:01:00.0`.
pub fn bus_of(id: &str) -> Option<u32> {
    u32::from_str_radix(id.split(':').nth(1)?, 16).ok()
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(status: Status) -> *const c_char {
    if status == SUCCESS { c"The operation was successful".as_ptr() } else { c"Not Supported".as_ptr() }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion(out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, settings().cuda) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, settings().cuda) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(out: *mut c_char, room: c_uint) -> Status {
    // SAFETY: a buffer of that length.
    unsafe { give_text(out, room as usize, "580.00") };
    SUCCESS
}
/// NVML does not know `CUDA_VISIBLE_DEVICES`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(out: *mut c_uint) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, settings().devices as c_uint) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, out: *mut usize) -> Status {
    if index as usize >= settings().devices.max(visible_devices()) {
        return INVALID_ARGUMENT;
    }
    // SAFETY: a place for the handle.
    unsafe { give(out, index as usize + 1) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(id: *const c_char, out: *mut usize) -> Status {
    // SAFETY: a C string and a place for the handle.
    match bus_of(unsafe { text(id) }) {
        Some(bus) => {
            // SAFETY: as above.
            unsafe { give(out, bus as usize) };
            SUCCESS
        }
        None => INVALID_ARGUMENT,
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(_device: usize, out: *mut c_char, room: c_uint) -> Status {
    // SAFETY: a buffer of that length.
    unsafe { give_text(out, room as usize, &settings().name) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(device: usize, out: *mut c_char, room: c_uint) -> Status {
    let uuid = format!("GPU-{device:02x}000000-0000-0000-0000-000000000000");
    // SAFETY: a buffer of that length.
    unsafe { give_text(out, room as usize, &uuid) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetIndex(device: usize, out: *mut c_uint) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, device.saturating_sub(1) as c_uint) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(
    _device: usize,
    major: *mut c_int,
    minor: *mut c_int,
) -> Status {
    // SAFETY: places for two numbers.
    unsafe {
        give(major, settings().major);
        give(minor, settings().minor);
    }
    SUCCESS
}

/// Bytes of a device: total, free, used by anyone.
fn account(device: usize) -> [c_ulonglong; 3] {
    let index = device.saturating_sub(1);
    let mut free = memory::with(|memory| memory.free(index));
    if !settings().shared {
        free = crate::neighbours::known(index).iter().fold(free, |free, (_, bytes)| free.saturating_sub(*bytes));
    }
    let total = settings().total;
    [total, free, total.saturating_sub(free)]
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(device: usize, out: *mut [c_ulonglong; 3]) -> Status {
    // SAFETY: the struct is these three numbers.
    unsafe { give(out, account(device)) };
    SUCCESS
}
/// The second version begins with its own version, which the caller sets, and has the reserved bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: usize, out: *mut [c_ulonglong; 5]) -> Status {
    if out.is_null() {
        return INVALID_ARGUMENT;
    }
    let [total, free, used] = account(device);
    // SAFETY: the struct is five words long, the first holds the version.
    unsafe {
        let version = (*out)[0];
        give(out, [version, total, 0, free, used]);
    }
    SUCCESS
}
macro_rules! zeros {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_device: usize, out: *mut c_uint) -> Status {
            // SAFETY: a place for a number.
            unsafe { give(out, 0) };
            SUCCESS
        }
    )*};
}
zeros! { nvmlDeviceGetPowerUsage nvmlDeviceGetPerformanceState }
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(_device: usize, out: *mut [c_uint; 2]) -> Status {
    // SAFETY: the struct is these two numbers.
    unsafe { give(out, [0, 0]) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(_device: usize, _sensor: c_int, out: *mut c_uint) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, 40) };
    SUCCESS
}

/// Processes on a device, as rows of 16 bytes (version 1) or 24 (later versions): pid, bytes, two instance numbers.
unsafe fn processes(device: usize, count: *mut c_uint, out: *mut u8, row: usize) -> Status {
    if count.is_null() {
        return INVALID_ARGUMENT;
    }
    let settings = settings();
    let used = memory::with(|memory| memory.used(device.saturating_sub(1)));
    let mut list = vec![(std::process::id(), used.saturating_add(settings.context))];
    list.extend(crate::neighbours::on(device.saturating_sub(1)));
    // SAFETY: the caller's count, and room for that many rows.
    unsafe {
        let room = *count as usize;
        *count = list.len() as c_uint;
        if list.len() > room || out.is_null() {
            return INSUFFICIENT_SIZE;
        }
        for (place, (pid, bytes)) in list.into_iter().enumerate() {
            let target = out.add(place * row);
            target.cast::<u32>().write_unaligned(pid);
            target.add(8).cast::<u64>().write_unaligned(bytes);
            if row > 16 {
                target.add(16).cast::<u64>().write_unaligned(u64::MAX);
            }
        }
    }
    SUCCESS
}
macro_rules! process_lists {
    ($($name:ident $row:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(device: usize, count: *mut c_uint, out: *mut u8) -> Status {
            // SAFETY: the caller's count and rows.
            unsafe { processes(device, count, out, $row) }
        }
    )*};
}
process_lists! {
    nvmlDeviceGetComputeRunningProcesses 16;
    nvmlDeviceGetComputeRunningProcesses_v2 24;
    nvmlDeviceGetComputeRunningProcesses_v3 24;
}
