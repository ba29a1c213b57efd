//! What the device says of itself: `cudaDeviceProp` by byte offset, and the table of attributes.
//!
//! Offsets after NVIDIA's headers of CUDA 11.7, 12.8 and 13.0: CUDA 11's struct is the beginning of CUDA 12's; CUDA 13
//! dropped the clock rates and a few flags, and everything after them moved. Limits per compute capability after the
//! CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".

use crate::abi::{INVALID_DEVICE, SUCCESS, Status, give};
use crate::runtime::failed;
use crate::settings::{settings, visible_devices};
use std::ffi::{c_char, c_int};

/// Limits of one multiprocessor.
pub struct Limits {
    pub threads: i32,
    pub blocks: i32,
    /// Shared memory of a multiprocessor, and what one block may ask for.
    pub shared: i32,
    pub shared_per_block: i32,
    /// The level-2 cache of the largest device of that capability, in MiB; the real one may be smaller.
    pub cache: i32,
}

/// Limits of the configured compute capability.
pub fn limits() -> Limits {
    let settings = settings();
    let (threads, blocks, shared_kib, cache) = match (settings.major, settings.minor) {
        (..=6, _) => (2048, 32, 96, 4),
        (7, 0 | 2) => (2048, 32, 96, 6),
        (7, _) => (1024, 16, 64, 6),
        (8, 0) => (2048, 32, 164, 40),
        (8, 9) => (1536, 24, 100, 72),
        (8, _) => (1536, 16, 100, 6),
        (9, _) => (2048, 32, 228, 50),
        (10 | 11, _) => (2048, 32, 228, 126),
        _ => (1536, 24, 100, 96),
    };
    let shared = shared_kib * 1024;
    // One KiB per block is the system's own from 8.0 on.
    let shared_per_block = if settings.major >= 8 { shared - 1024 } else { shared };
    Limits { threads, blocks, shared, shared_per_block, cache }
}

/// Kernels in the wheels are built for these; the newest that the device can run is taken.
pub fn binary_version() -> i32 {
    let capability = settings().major * 10 + settings().minor;
    [120, 100, 90, 86, 80, 75, 70, 60, 50].into_iter().find(|built| *built <= capability).unwrap_or(50)
}

fn fill(out: *mut u8, device: c_int) -> Status {
    if out.is_null() || device < 0 || device as usize >= visible_devices() {
        return failed(INVALID_DEVICE);
    }
    let settings = settings();
    let limits = limits();
    let new = settings.cuda >= 13_000;
    let length = match settings.cuda {
        13_000.. => 1008,
        12_000.. => 1032,
        _ => 728,
    };
    let mut bytes = vec![0u8; length];
    let mut put = |offset: usize, value: &[u8]| {
        if let Some(place) = bytes.get_mut(offset..offset + value.len()) {
            place.copy_from_slice(value);
        }
    };
    let name = settings.name.as_bytes();
    put(0, &name[..name.len().min(255)]);
    put(256, &[device as u8 + 1]);
    for (offset, value) in [
        (288, settings.total),
        (296, 49_152),
        (312, 2_147_483_647),
        (352, 65_536),
        (368, 512),
        (if new { 624 } else { 640 }, limits.shared as u64),
        (if new { 672 } else { 696 }, limits.shared_per_block as u64),
        (if new { 696 } else { 720 }, if settings.major >= 8 { 1024 } else { 0 }),
    ] {
        put(offset, &value.to_le_bytes());
    }
    for (old_offset, new_offset, value) in [
        (304, 304, 65_536),
        (308, 308, 32),
        (320, 320, 1024),
        (324, 324, 1024),
        (328, 328, 1024),
        (332, 332, 64),
        (336, 336, i32::MAX),
        (340, 340, 65_535),
        (344, 344, 65_535),
        (360, 360, settings.major),
        (364, 364, settings.minor),
        (388, 384, settings.processors),
        (400, 392, 1),
        (576, 560, 1),
        (584, 568, device + 1),
        (600, 584, 3),
        (604, 588, 1),
        (612, 592, 5120),
        (616, 596, limits.cache << 20),
        (624, 604, limits.threads),
        (628, 608, 1),
        (632, 612, 1),
        (636, 616, 1),
        (648, 632, 65_536),
        (652, 636, 1),
        (688, 668, 1),
        (712, 688, limits.blocks),
    ] {
        put(if new { new_offset } else { old_offset }, &value.to_le_bytes());
    }
    if settings.cuda >= 12_000 {
        // memoryPoolsSupported
        put(if new { 720 } else { 744 }, &1i32.to_le_bytes());
    }
    // SAFETY: the caller's struct has the length of his CUDA version, which is the one configured.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceProperties(out: *mut u8, device: c_int) -> Status {
    fill(out, device)
}
/// The name that CUDA 12 gave it when the struct grew.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceProperties_v2(out: *mut u8, device: c_int) -> Status {
    fill(out, device)
}

/// `cudaDeviceAttr` and `CUdevice_attribute` share their numbers.
pub fn attribute(which: c_int) -> c_int {
    let settings = settings();
    let limits = limits();
    match which {
        1..=3 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65_535,
        8 => 49_152,
        9 => 65_536,
        10 => 32,
        11 => i32::MAX,
        12 => 65_536,
        // clock rates in kHz
        13 => 1_410_000,
        14 => 512,
        16 => settings.processors,
        // overlap, integrated: no; host mapping, concurrent kernels, unified addressing
        15 | 19 | 31 | 41 => 1,
        36 => 1_215_000,
        37 => 5120,
        38 => limits.cache << 20,
        39 => limits.threads,
        40 => 3,
        75 => settings.major,
        76 => settings.minor,
        // stream priorities, L1 caching, managed memory, host atomics, concurrent managed, cooperative launch
        78..=80 | 83 | 89 | 95 => 1,
        81 => limits.shared,
        82 => 65_536,
        97 => limits.shared_per_block,
        // virtual memory management, and its handles as file descriptors
        102 | 103 => 1,
        106 => limits.blocks,
        111 if settings.major >= 8 => 1024,
        // stream-ordered pools
        115 => 1,
        _ => 0,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetAttribute(out: *mut c_int, which: c_int, device: c_int) -> Status {
    if device < 0 || device as usize >= visible_devices() {
        return failed(INVALID_DEVICE);
    }
    let value = match which {
        // PCI bus: the number that the properties and NVML give
        33 => device + 1,
        _ => attribute(which),
    };
    // SAFETY: the first argument is where the number goes.
    unsafe { give(out, value) };
    SUCCESS
}

/// The PCI bus of device `d` is `d + 1`; NVML finds the device by it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetPCIBusId(out: *mut c_char, room: c_int, device: c_int) -> Status {
    // SAFETY: `out` has `room` bytes.
    unsafe { crate::abi::give_text(out, room.max(0) as usize, &format!("0000:{:02x}:00.0", device + 1)) };
    SUCCESS
}
