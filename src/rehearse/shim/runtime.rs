//! The CUDA runtime: devices, errors, memory, copies.

use crate::abi::{INVALID_DEVICE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, SUCCESS, Status, constants, give};
use crate::memory::{self, DEFAULT_POOL, HostBlock, device_of};
use crate::settings::{settings, visible_devices};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};

thread_local! {
    static LAST_ERROR: Cell<Status> = const { Cell::new(SUCCESS) };
}

/// A call of the runtime (not of the driver) leaves its error behind.
pub fn failed(status: Status) -> Status {
    LAST_ERROR.set(status);
    status
}
fn given(out: *mut *mut c_void, result: Result<u64, Status>) -> Status {
    match result {
        Ok(address) => {
            // SAFETY: the place for the address, by the contract of every function that allocates.
            unsafe { give(out, address as *mut c_void) };
            SUCCESS
        }
        Err(status) => failed(status),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> Status {
    LAST_ERROR.replace(SUCCESS)
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> Status {
    LAST_ERROR.get()
}
/// Name and text of a status of the runtime or the driver.
pub fn described(status: Status) -> (&'static std::ffi::CStr, &'static std::ffi::CStr) {
    match status {
        SUCCESS => (c"cudaSuccess", c"no error"),
        INVALID_VALUE => (c"cudaErrorInvalidValue", c"invalid argument"),
        OUT_OF_MEMORY => (c"cudaErrorMemoryAllocation", c"out of memory"),
        100 => (c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
        INVALID_DEVICE => (c"cudaErrorInvalidDevice", c"invalid device ordinal"),
        500 => (c"cudaErrorSymbolNotFound", c"named symbol not found"),
        600 => (c"cudaErrorNotReady", c"device not ready"),
        NOT_SUPPORTED => (c"cudaErrorNotSupported", c"operation not supported"),
        _ => (c"cudaErrorUnknown", c"unknown error"),
    }
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(status: Status) -> *const c_char {
    described(status).0.as_ptr()
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(status: Status) -> *const c_char {
    described(status).1.as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceCount(out: *mut c_int) -> Status {
    let count = visible_devices();
    // SAFETY: the place for the number.
    unsafe { give(out, count as c_int) };
    if count == 0 { failed(100) } else { SUCCESS }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDevice(out: *mut c_int) -> Status {
    // SAFETY: the place for the number.
    unsafe { give(out, memory::current() as c_int) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetDevice(device: c_int) -> Status {
    if device < 0 || device as usize >= visible_devices() {
        return failed(INVALID_DEVICE);
    }
    memory::set_current(device as usize);
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaInitDevice(device: c_int) -> Status {
    if device < 0 || device as usize >= visible_devices() { failed(INVALID_DEVICE) } else { SUCCESS }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDriverGetVersion(out: *mut c_int) -> Status {
    // SAFETY: the place for the number.
    unsafe { give(out, settings().cuda) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaRuntimeGetVersion(out: *mut c_int) -> Status {
    // SAFETY: the place for the number.
    unsafe { give(out, settings().cuda) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceCanAccessPeer(out: *mut c_int, from: c_int, to: c_int) -> Status {
    // SAFETY: the place for the number.
    unsafe { give(out, c_int::from(settings().peer && from != to)) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetByPCIBusId(out: *mut c_int, id: *const c_char) -> Status {
    // SAFETY: a C string.
    let id = unsafe { crate::abi::text(id) };
    match crate::nvml::bus_of(id).and_then(|bus| bus.checked_sub(1)) {
        Some(device) if (device as usize) < visible_devices() => {
            // SAFETY: the place for the number.
            unsafe { give(out, device as c_int) };
            SUCCESS
        }
        _ => failed(INVALID_DEVICE),
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> Status {
    let left = memory::with(|memory| memory.free(memory::current()));
    // SAFETY: the places for the two numbers.
    unsafe {
        give(free, left as usize);
        give(total, settings().total as usize);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetLimit(out: *mut usize, which: c_int) -> Status {
    // Stack of a thread, buffer of printf, heap of malloc on the device: the defaults of CUDA.
    let value = match which {
        0 => 1024,
        1 => 1 << 20,
        2 => 8 << 20,
        _ => 0,
    };
    // SAFETY: the place for the number.
    unsafe { give(out, value) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMalloc(out: *mut *mut c_void, size: usize) -> Status {
    given(out, memory::with(|memory| memory.allocate(memory::current(), size as u64)))
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaFree(address: *mut c_void) -> Status {
    // Freeing nothing is the usual way to create the context.
    if address.is_null() {
        return SUCCESS;
    }
    let address = address as u64;
    if device_of(address).is_none() {
        return free_host(address);
    }
    match memory::with(|memory| memory.release(address)) {
        SUCCESS => SUCCESS,
        status => failed(status),
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocPitch(
    out: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> Status {
    let row = width.div_ceil(512).saturating_mul(512);
    // SAFETY: the places for pitch and address.
    unsafe {
        give(pitch, row);
        cudaMalloc(out, row.saturating_mul(height))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocAsync(out: *mut *mut c_void, size: usize, _stream: *mut c_void) -> Status {
    given(out, memory::with(|memory| memory.allocate_from(DEFAULT_POOL + memory::current() as u64, size as u64)))
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocFromPoolAsync(
    out: *mut *mut c_void,
    size: usize,
    pool: *mut c_void,
    _stream: *mut c_void,
) -> Status {
    given(out, memory::with(|memory| memory.allocate_from(pool as u64, size as u64)))
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeAsync(address: *mut c_void, _stream: *mut c_void) -> Status {
    cudaFree(address)
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetDefaultMemPool(out: *mut *mut c_void, device: c_int) -> Status {
    // SAFETY: the place for the handle.
    unsafe { give(out, (DEFAULT_POOL + device.max(0) as u64) as *mut c_void) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetMemPool(out: *mut *mut c_void, device: c_int) -> Status {
    // SAFETY: as above.
    unsafe { cudaDeviceGetDefaultMemPool(out, device) }
}
/// `cudaMemPoolProps` begins with the kind of allocation and of handle, then the kind of place and its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolCreate(out: *mut *mut c_void, properties: *const c_int) -> Status {
    // SAFETY: the properties are at least four `int`s long.
    let device = if properties.is_null() { 0 } else { unsafe { *properties.add(3) } };
    let key = memory::with(|memory| memory.create_pool(device.max(0) as usize));
    // SAFETY: the place for the handle.
    unsafe { give(out, key as *mut c_void) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolDestroy(pool: *mut c_void) -> Status {
    memory::with(|memory| memory.destroy_pool(pool as u64));
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolTrimTo(pool: *mut c_void, keep: usize) -> Status {
    memory::with(|memory| memory.trim_pool(pool as u64, keep as u64));
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolGetAttribute(pool: *mut c_void, which: c_int, out: *mut c_void) -> Status {
    let value = memory::with(|memory| memory.pool(pool as u64).map(|pool| pool.attribute(which)));
    let Some(value) = value else { return failed(INVALID_VALUE) };
    // SAFETY: attributes 1 to 3 are an `int`, the others 64 bits wide.
    unsafe {
        if which < 4 {
            give(out.cast::<c_int>(), 1);
        } else {
            give(out.cast::<u64>(), value);
        }
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemPoolSetAttribute(pool: *mut c_void, which: c_int, value: *const c_void) -> Status {
    if which >= 4 && !value.is_null() {
        // SAFETY: as above.
        let value = unsafe { value.cast::<u64>().read_unaligned() };
        memory::with(|memory| {
            if let Some(pool) = memory.pool(pool as u64) {
                pool.set_attribute(which, value);
            }
        });
    }
    SUCCESS
}

unsafe extern "C" {
    fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
    fn free(pointer: *mut c_void);
}

fn allocate_host(out: *mut *mut c_void, size: usize, managed: bool) -> Status {
    let mut address = std::ptr::null_mut();
    // SAFETY: a place for the address; the alignment is a power of two.
    if unsafe { posix_memalign(&raw mut address, 4096, size.max(1)) } != 0 {
        return failed(OUT_OF_MEMORY);
    }
    let block = HostBlock { size: size as u64, managed, ours: true, device: memory::current() };
    memory::with(|memory| memory.add_host(address as u64, block));
    // SAFETY: the place for the address.
    unsafe { give(out, address) };
    SUCCESS
}
fn free_host(address: u64) -> Status {
    match memory::with(|memory| memory.remove_host(address)) {
        Some(block) if block.ours => {
            // SAFETY: allocated by `posix_memalign` and, as it was in the table, not freed yet.
            unsafe { free(address as *mut c_void) };
            SUCCESS
        }
        _ => failed(INVALID_VALUE),
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaHostAlloc(out: *mut *mut c_void, size: usize, _flags: c_uint) -> Status {
    allocate_host(out, size, false)
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocHost(out: *mut *mut c_void, size: usize) -> Status {
    allocate_host(out, size, false)
}
/// Managed memory must be readable by the host: it is host memory here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMallocManaged(out: *mut *mut c_void, size: usize, _flags: c_uint) -> Status {
    allocate_host(out, size, true)
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeHost(address: *mut c_void) -> Status {
    if address.is_null() { SUCCESS } else { free_host(address as u64) }
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostRegister(address: *mut c_void, size: usize, _flags: c_uint) -> Status {
    let block = HostBlock { size: size as u64, managed: false, ours: false, device: memory::current() };
    memory::with(|memory| memory.add_host(address as u64, block));
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostUnregister(address: *mut c_void) -> Status {
    memory::with(|memory| memory.remove_host(address as u64));
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaHostGetDevicePointer(out: *mut *mut c_void, host: *mut c_void, _flags: c_uint) -> Status {
    // SAFETY: the place for the address.
    unsafe { give(out, host) };
    SUCCESS
}
/// `cudaPointerAttributes`.
#[repr(C)]
pub struct PointerAttributes {
    kind: c_int,
    device: c_int,
    on_device: *mut c_void,
    on_host: *mut c_void,
    reserved: [u8; 0],
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaPointerGetAttributes(out: *mut PointerAttributes, pointer: *mut c_void) -> Status {
    const NULL: *mut c_void = std::ptr::null_mut();
    let (kind, device, on_device, on_host) = match device_of(pointer as u64) {
        Some(device) => (2, device as c_int, pointer, NULL),
        None => match memory::with(|memory| memory.host_block(pointer as u64)) {
            Some((_, block)) => (if block.managed { 3 } else { 1 }, block.device as c_int, pointer, pointer),
            None => (0, -1, NULL, NULL),
        },
    };
    // SAFETY: the place for the attributes.
    unsafe { give(out, PointerAttributes { kind, device, on_device, on_host, reserved: [] }) };
    SUCCESS
}

/// A copy in any direction. The host's side is read or written, the device's side is knowledge.
///
/// # Safety
/// Where an address is not the device's, it is valid for `length` bytes.
pub unsafe fn copy(to: *mut c_void, from: *const c_void, length: usize) -> Status {
    if length == 0 {
        return SUCCESS;
    }
    match (device_of(to as u64), device_of(from as u64)) {
        (Some(_), Some(_)) => memory::with(|memory| memory.contents.copy(to as u64, from as u64, length as u64)),
        (Some(_), None) => memory::with(|memory| {
            if !from.is_null() && memory.contents.keeps(length as u64) {
                // SAFETY: host memory of that length by the contract above.
                let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) };
                memory.contents.write(to as u64, bytes);
            } else {
                memory.contents.forget(to as u64, length as u64);
            }
        }),
        (None, Some(_)) if !to.is_null() => {
            // SAFETY: host memory of that length by the contract above.
            let out = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), length) };
            memory::with(|memory| {
                let block = memory.host_block(to as u64);
                let own =
                    block.is_some_and(|(start, block)| block.ours && to as u64 + length as u64 <= start + block.size);
                memory.contents.read(from as u64, out, own);
            });
        }
        (None, None) if !to.is_null() && !from.is_null() => {
            // SAFETY: both are host memory of that length.
            unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), length) };
        }
        _ => return failed(INVALID_VALUE),
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy(to: *mut c_void, from: *const c_void, length: usize, _kind: c_int) -> Status {
    // SAFETY: the caller's buffers.
    unsafe { copy(to, from, length) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    length: usize,
    _kind: c_int,
    _stream: *mut c_void,
) -> Status {
    // SAFETY: as above.
    unsafe { copy(to, from, length) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyPeerAsync(
    to: *mut c_void,
    _to_device: c_int,
    from: *const c_void,
    _from_device: c_int,
    length: usize,
    _stream: *mut c_void,
) -> Status {
    // SAFETY: as above.
    unsafe { copy(to, from, length) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpyPeer(
    to: *mut c_void,
    _to_device: c_int,
    from: *const c_void,
    _from_device: c_int,
    length: usize,
) -> Status {
    // SAFETY: as above.
    unsafe { copy(to, from, length) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    _kind: c_int,
    _stream: *mut c_void,
) -> Status {
    for row in 0..height {
        let (to_offset, from_offset) = (row.wrapping_mul(to_pitch), row.wrapping_mul(from_pitch));
        // SAFETY: as above, for each row.
        let status = unsafe { copy(to.wrapping_byte_add(to_offset), from.wrapping_byte_add(from_offset), width) };
        if status != SUCCESS {
            return status;
        }
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemcpy2D(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> Status {
    // SAFETY: as above.
    unsafe { cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, std::ptr::null_mut()) }
}

/// A fill with a pattern of `width` bytes.
///
/// # Safety
/// Where the address is not the device's, it is valid for `length` bytes.
pub unsafe fn fill(to: *mut c_void, value: u32, width: usize, length: usize) -> Status {
    if length == 0 || to.is_null() {
        return SUCCESS;
    }
    if device_of(to as u64).is_some() {
        memory::with(|memory| memory.contents.fill(to as u64, length as u64, value, width as u64));
    } else {
        // SAFETY: host memory of that length by the contract above.
        let bytes = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), length) };
        for (byte, pattern) in bytes.iter_mut().zip(value.to_le_bytes()[..width.clamp(1, 4)].iter().cycle()) {
            *byte = *pattern;
        }
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemset(to: *mut c_void, value: c_int, length: usize) -> Status {
    // SAFETY: the caller's buffer.
    unsafe { fill(to, value as u32, 1, length) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaMemsetAsync(to: *mut c_void, value: c_int, length: usize, _stream: *mut c_void) -> Status {
    // SAFETY: as above.
    unsafe { fill(to, value as u32, 1, length) }
}

constants! { NOT_SUPPORTED; cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaIpcGetEventHandle cudaIpcOpenEventHandle }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPoint(
    name: *const c_char,
    out: *mut *mut c_void,
    _flags: u64,
    status: *mut c_int,
) -> Status {
    // SAFETY: a C string and places for the address and its status.
    unsafe { crate::driver::entry_point(name, out, status) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPointByVersion(
    name: *const c_char,
    out: *mut *mut c_void,
    _version: c_uint,
    _flags: u64,
    status: *mut c_int,
) -> Status {
    // SAFETY: as above.
    unsafe { crate::driver::entry_point(name, out, status) }
}
