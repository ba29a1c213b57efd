//! Kernels: registered, launched, asked about, never run.

use crate::abi::{Dim3, SUCCESS, Status, give};
use crate::counters::LAUNCHES;
use crate::properties::{binary_version, limits};
use crate::report;
use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

type Configuration = (Dim3, Dim3, usize, *mut c_void);
thread_local! {
    static PUSHED: Cell<Configuration> = const {
        let one = Dim3 { x: 1, y: 1, z: 1 };
        Cell::new((one, one, 0, std::ptr::null_mut()))
    };
}

/// A launch.
pub fn launch() -> Status {
    report::add(LAUNCHES, 1);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(_binary: *const c_void) -> *mut *mut c_void {
    static PLACE: [usize; 8] = [0; 8];
    (&raw const PLACE).cast_mut().cast()
}
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd() {}
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary() {}
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFunction() {}
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterVar() {}
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterManagedVar() {}
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule() -> c_int {
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: *mut c_void) -> c_uint {
    PUSHED.set((grid, block, shared, stream));
    0
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut *mut c_void,
) -> Status {
    let pushed = PUSHED.get();
    // SAFETY: all four are places for what was pushed.
    unsafe {
        give(grid, pushed.0);
        give(block, pushed.1);
        give(shared, pushed.2);
        give(stream, pushed.3);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaGetKernel(out: *mut *const c_void, entry: *const c_void) -> Status {
    // SAFETY: the first argument is where the kernel's handle goes.
    unsafe { give(out, entry) };
    SUCCESS
}

macro_rules! launches {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            launch()
        }
    )*};
}
launches! {
    __cudaLaunchKernel __cudaLaunchKernel_ptsz cudaLaunchKernel cudaLaunchKernel_ptsz cudaLaunchKernelExC
    cudaLaunchCooperativeKernel cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel
}

/// `cudaFuncAttributes` begins with three sizes, then come `int`s. CUB chooses its tuning, and with it the temporary
/// storage that it asks for, by the version of the binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncGetAttributes(out: *mut u8, _kernel: *const c_void) -> Status {
    let mut bytes = [0u8; 56];
    let version = binary_version();
    for (place, value) in [1024, 32, version, version, 0, 49_152].into_iter().enumerate() {
        bytes[24 + place * 4..28 + place * 4].copy_from_slice(&i32::to_le_bytes(value));
    }
    if !out.is_null() {
        // SAFETY: the struct is at least as long in every version of CUDA.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) };
    }
    SUCCESS
}

fn blocks_per_processor(threads: c_int) -> c_int {
    let limits = limits();
    (limits.threads / threads.max(1)).clamp(1, limits.blocks)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    out: *mut c_int,
    _kernel: *const c_void,
    threads: c_int,
    _shared: usize,
) -> Status {
    // SAFETY: the first argument is where the number goes.
    unsafe { give(out, blocks_per_processor(threads)) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    out: *mut c_int,
    _kernel: *const c_void,
    threads: c_int,
    _shared: usize,
    _flags: c_uint,
) -> Status {
    // SAFETY: as above.
    unsafe { give(out, blocks_per_processor(threads)) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    out: *mut c_int,
    _kernel: *const c_void,
    threads: c_int,
    _shared: usize,
) -> Status {
    // SAFETY: as above.
    unsafe { give(out, blocks_per_processor(threads)) };
    SUCCESS
}
/// One cluster at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveClusters(
    out: *mut c_int,
    _kernel: *const c_void,
    _launch: *const c_void,
) -> Status {
    // SAFETY: as above.
    unsafe { give(out, crate::settings::settings().processors.max(1)) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveClusters(
    out: *mut c_int,
    _kernel: *const c_void,
    _launch: *const c_void,
) -> Status {
    // SAFETY: as above.
    unsafe { give(out, crate::settings::settings().processors.max(1)) };
    SUCCESS
}

/// All `__device__` variables are at one address; nothing is read or written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetSymbolAddress(out: *mut *mut c_void, _symbol: *const c_void) -> Status {
    // SAFETY: the first argument is where the address goes.
    unsafe { give(out, crate::memory::module_address() as *mut c_void) };
    SUCCESS
}
