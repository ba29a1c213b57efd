//! The simulated device, compiled by `build.rs` from `shim/` and carried in the program.

/// The shared object, compressed: of half a megabyte two fifths remain.
#[cfg(simulated_device)]
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/simulated_device.so.gz"));

/// The shared object; `None` in a program for another system than Linux on x86-64.
#[cfg(simulated_device)]
pub fn shim() -> Option<Vec<u8>> {
    Some(crate::packed::bytes(COMPRESSED)).filter(|bytes| !bytes.is_empty())
}

/// The shared object; `None` in a program for another system than Linux on x86-64.
#[cfg(not(simulated_device))]
pub fn shim() -> Option<Vec<u8>> {
    None
}

/// Whether this program can rehearse at all.
pub const CARRIED: bool = cfg!(simulated_device);
