//! The simulated device, compiled by `build.rs` from `shim/` and carried in the program.

/// The shared object; `None` in a program for another system than Linux on x86-64.
#[cfg(simulated_device)]
pub const SHIM: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/simulated_device.so")));
#[cfg(not(simulated_device))]
pub const SHIM: Option<&[u8]> = None;
