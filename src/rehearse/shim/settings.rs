//! What the simulated device is like, from the environment, read once.

use crate::counters::DEVICES;
use std::sync::OnceLock;

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
    /// Unknown device memory reads as large numbers of every type.
    pub large: bool,
    /// The folder of the counters.
    pub report: Option<std::ffi::OsString>,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let capability = std::env::var("OOMDOC_SIM_CC").unwrap_or_default();
        let (major, minor) = capability.split_once('.').unwrap_or(("8", "0"));
        Settings {
            total: number("OOMDOC_SIM_TOTAL", 24 << 30),
            context: number("OOMDOC_SIM_CONTEXT", 0),
            others: number("OOMDOC_SIM_OTHERS", 0),
            shared: number("OOMDOC_SIM_SHARED", 0) != 0,
            devices: (number("OOMDOC_SIM_DEVICES", 1) as usize).clamp(1, DEVICES),
            major: major.trim().parse().unwrap_or(8),
            minor: minor.trim().parse().unwrap_or(0),
            processors: number("OOMDOC_SIM_SMS", 108) as i32,
            name: std::env::var("OOMDOC_SIM_NAME").unwrap_or_else(|_| "Simulated GPU".to_owned()),
            down: std::env::var("OOMDOC_SIM_ADDRESSES").is_ok_and(|order| order == "down"),
            peer: number("OOMDOC_SIM_PEER", 0) != 0,
            cuda: number("OOMDOC_SIM_CUDA", 12_080) as i32,
            cudnn: number("OOMDOC_SIM_CUDNN", 91_900) as i32,
            cudnn_workspace: number("OOMDOC_SIM_CUDNN_WORKSPACE", 0),
            ones: std::env::var("OOMDOC_SIM_VALUES").is_ok_and(|values| values == "ones"),
            large: std::env::var("OOMDOC_SIM_VALUES").is_ok_and(|values| values == "large"),
            report: std::env::var_os("OOMDOC_SIM_REPORT").filter(|folder| !folder.is_empty()),
        }
    })
}

/// Devices that the process sees: `CUDA_VISIBLE_DEVICES` hides some, as the driver has it, when it is first asked. A
/// list that names devices beyond the simulated ones still counts its entries: a program that chose the third of
/// eight devices for itself means the one device that is simulated.
pub fn visible_devices() -> usize {
    static VISIBLE: OnceLock<usize> = OnceLock::new();
    *VISIBLE.get_or_init(|| {
        let devices = settings().devices;
        let Ok(list) = std::env::var("CUDA_VISIBLE_DEVICES") else { return devices };
        let named = list.split(',').take_while(|entry| !entry.trim().is_empty() && !entry.trim().starts_with('-'));
        named.count().min(devices)
    })
}
