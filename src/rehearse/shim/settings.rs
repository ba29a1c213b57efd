//! What the simulated device is like: the file `settings` in the folder above the one that this object lies in, read
//! when the device is first asked, and again in a process that was forked for another rehearsal.

use crate::counters::DEVICES;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

/// The device. Sizes in bytes.
pub struct Settings {
    pub total: u64,
    /// What the CUDA context of this process takes on each device.
    pub context: u64,
    /// In use by other processes on each device.
    pub others: u64,
    /// The processes of one run share the devices; otherwise each has them for itself.
    pub shared: bool,
    pub devices: usize,
    pub major: i32,
    pub minor: i32,
    pub processors: i32,
    pub name: String,
    /// Device addresses decrease from allocation to allocation.
    pub down: bool,
    /// Devices can reach each other's memory.
    pub peer: bool,
    /// 13000 for CUDA 13.0.
    pub cuda: i32,
    /// 91900 for cuDNN 9.19.0.
    pub cudnn: i32,
    /// What a convolution's plan asks for.
    pub cudnn_workspace: u64,
    /// Unknown device memory reads as ones, not zeros.
    pub ones: bool,
    /// The highest byte of the numbers, of every type, that unknown device memory reads as.
    pub highest: Option<u8>,
    /// About half of them are zero all the same.
    pub mixed: bool,
    /// The folder of the counters.
    pub report: Option<PathBuf>,
}

/// `Dl_info` of the C library.
#[repr(C)]
struct Object {
    path: *const c_char,
    base: *mut c_void,
    name: *const c_char,
    address: *mut c_void,
}
unsafe extern "C" {
    fn dladdr(address: *const c_void, out: *mut Object) -> c_int;
}

/// The rehearsal's folder: two levels above this object's file.
fn own_folder() -> Option<PathBuf> {
    let null = std::ptr::null_mut();
    let mut object = Object { path: null as *const c_char, base: null, name: null as *const c_char, address: null };
    // SAFETY: an address in this object, and room for the answer, whose path lives as long as the object.
    let path = unsafe {
        if dladdr(own_folder as *const c_void, &raw mut object) == 0 || object.path.is_null() {
            return None;
        }
        CStr::from_ptr(object.path)
    };
    let file = Path::new(OsStr::from_bytes(path.to_bytes())).canonicalize().ok()?;
    Some(file.parent()?.parent()?.to_path_buf())
}

fn read(folder: Option<&Path>) -> Settings {
    let text = folder.and_then(|folder| std::fs::read_to_string(folder.join("settings")).ok()).unwrap_or_default();
    let values: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let text = |name: &str| values.get(name).copied().unwrap_or_default();
    let number = |name: &str, default: u64| text(name).trim().parse().unwrap_or(default);
    let (major, minor) = text("cc").split_once('.').unwrap_or(("8", "0"));
    Settings {
        total: number("total", 24 << 30),
        context: number("context", 0),
        others: number("others", 0),
        shared: number("shared", 0) != 0,
        devices: (number("devices", 1) as usize).clamp(1, DEVICES),
        major: major.trim().parse().unwrap_or(8),
        minor: minor.trim().parse().unwrap_or(0),
        processors: number("sms", 108) as i32,
        name: values.get("name").copied().unwrap_or("Simulated GPU").to_owned(),
        down: text("addresses") == "down",
        peer: number("peer", 0) != 0,
        cuda: number("cuda", 12_080) as i32,
        cudnn: number("cudnn", 91_900) as i32,
        cudnn_workspace: number("cudnn_workspace", 0),
        ones: text("values") == "ones",
        mixed: text("values") == "mixed",
        highest: match text("values") {
            // 32 to 128 as a float of 32 or (brain) 16 bits, more than 8e9 as one of 64, and than 1e9 as an integer.
            "large" => Some(0x42),
            // -128 to -32 as a float of 32 or (brain) 16 bits, less than -1e9 as an integer.
            "negative" => Some(0xc2),
            // More than any loss or count: 5e8 to 2e9 as a float of 32 or brain 16 bits.
            "huge" => Some(0x4e),
            // About one.
            "mixed" | "unit" => Some(0x3f),
            _ => None,
        },
        report: folder.map(|folder| folder.join("results")).filter(|folder| folder.is_dir()),
    }
}

/// Null until the device is first asked. What it points to is never freed: others may be reading it.
static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(std::ptr::null_mut());

pub fn settings() -> &'static Settings {
    let known = SETTINGS.load(Acquire);
    if !known.is_null() {
        // SAFETY: not null means settings that are never freed.
        return unsafe { &*known };
    }
    let fresh = Box::into_raw(Box::new(read(own_folder().as_deref())));
    match SETTINGS.compare_exchange(std::ptr::null_mut(), fresh, AcqRel, Acquire) {
        // SAFETY: as above.
        Ok(_) => unsafe { &*fresh },
        Err(known) => {
            // SAFETY: nobody else has seen the fresh ones; the known ones are never freed.
            unsafe {
                drop(Box::from_raw(fresh));
                &*known
            }
        }
    }
}

/// Takes the settings of another rehearsal's folder: called by the agent in a process that was forked for it, before
/// the process uses the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomdoc_rehearse_in(folder: *const c_char) {
    if folder.is_null() {
        return;
    }
    // SAFETY: a C string.
    let folder = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(folder) }.to_bytes()));
    SETTINGS.store(Box::into_raw(Box::new(read(Some(folder)))), std::sync::atomic::Ordering::Release);
    VISIBLE.store(usize::MAX, Relaxed);
}

/// How many devices the process sees; `usize::MAX` until it is first asked.
static VISIBLE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Devices that the process sees: `CUDA_VISIBLE_DEVICES` hides some, as the driver has it, when it is first asked. A
/// list that names devices beyond the simulated ones still counts its entries: a program that chose the third of
/// eight devices for itself means the one device that is simulated.
pub fn visible_devices() -> usize {
    match VISIBLE.load(Relaxed) {
        usize::MAX => {
            let count = count_visible();
            VISIBLE.store(count, Relaxed);
            count
        }
        known => known,
    }
}

fn count_visible() -> usize {
    let devices = settings().devices;
    let Ok(list) = std::env::var("CUDA_VISIBLE_DEVICES") else { return devices };
    let named = list.split(',').take_while(|entry| !entry.trim().is_empty() && !entry.trim().starts_with('-'));
    named.count().min(devices)
}
