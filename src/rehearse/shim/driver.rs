//! The driver: virtual memory management, contexts, modules, and what extensions find through `cuGetProcAddress`.

use crate::abi::{
    INVALID_VALUE, NOT_SUPPORTED, SUCCESS, SYMBOL_NOT_FOUND, Status, constants, creators, give, give_text, text,
};
use crate::memory::{self, PAGE, device_of};
use crate::settings::{settings, visible_devices};
use crate::{properties, report, runtime};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

constants! { SUCCESS;
cuInit cuCtxSetCurrent cuCtxPushCurrent cuCtxPushCurrent_v2 cuCtxSynchronize cuCtxDestroy cuCtxDestroy_v2
cuCtxEnablePeerAccess cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxSetFlags
cuDevicePrimaryCtxSetFlags_v2 cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2 cuStreamSynchronize cuStreamQuery
cuStreamWaitEvent cuStreamDestroy cuStreamDestroy_v2 cuEventRecord cuEventQuery cuEventSynchronize cuEventDestroy
cuEventDestroy_v2 cuModuleUnload cuLibraryUnload cuFuncSetAttribute cuFuncSetCacheConfig cuMemSetAccess
cuMemPrefetchAsync cuMemAdvise cuGraphLaunch cuGraphDestroy cuGraphExecDestroy cuTensorMapEncodeTiled
cuTensorMapEncodeIm2col cuLinkAddData cuLinkAddData_v2 cuLinkDestroy cuCtxSetLimit cuCtxSetCacheConfig
cuProfilerStart cuProfilerStop cuFuncLoad }
constants! { NOT_SUPPORTED;
cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemGetAllocationPropertiesFromHandle
cuMulticastAddDevice cuMulticastBindMem cuMulticastBindAddr cuMulticastCreate cuMulticastUnbind
cuMulticastGetGranularity cuIpcGetMemHandle cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 cuGreenCtxCreate
cuGreenCtxDestroy cuGreenCtxStreamCreate cuDevSmResourceSplitByCount cuDeviceGetDevResource
cuDevResourceGenerateDesc cuCtxFromGreenCtx cuStreamWriteValue32 cuStreamWriteValue32_v2 cuStreamWaitValue32
cuStreamWaitValue32_v2 cuLogsRegisterCallback cuLogsUnregisterCallback cuMemGetHandleForAddressRange }
creators! { cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary cuModuleGetFunction cuLibraryLoadData
cuLibraryGetKernel cuLibraryGetModule cuKernelGetFunction cuLibraryLoadFromFile }

const CONTEXT: usize = 0xc0;

macro_rules! contexts {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(out: *mut usize) -> Status {
            // SAFETY: the first argument is where the context goes.
            unsafe { give(out, CONTEXT) };
            SUCCESS
        }
    )*};
}
contexts! { cuCtxGetCurrent cuCtxPopCurrent cuCtxPopCurrent_v2 cuDevicePrimaryCtxRetain cuCtxCreate cuCtxCreate_v2
cuCtxCreate_v3 cuCtxCreate_v4 }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(_device: c_int, flags: *mut c_uint, active: *mut c_int) -> Status {
    // SAFETY: places for two numbers.
    unsafe {
        give(flags, 0);
        give(active, 1);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, settings().cuda) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(out: *mut c_int) -> Status {
    // SAFETY: as above.
    unsafe { give(out, memory::current() as c_int) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetApiVersion(_context: usize, out: *mut c_uint) -> Status {
    // SAFETY: as above.
    unsafe { give(out, 3020) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(out: *mut c_int, ordinal: c_int) -> Status {
    if ordinal < 0 || ordinal as usize >= visible_devices() {
        return crate::abi::INVALID_DEVICE;
    }
    // SAFETY: as above.
    unsafe { give(out, ordinal) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(out: *mut c_int) -> Status {
    // SAFETY: as above.
    unsafe { give(out, visible_devices() as c_int) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(out: *mut c_char, room: c_int, _device: c_int) -> Status {
    // SAFETY: a buffer of `room` bytes.
    unsafe { give_text(out, room.max(0) as usize, &settings().name) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid(out: *mut [u8; 16], device: c_int) -> Status {
    let mut uuid = [0; 16];
    uuid[0] = device as u8 + 1;
    // SAFETY: a place for 16 bytes.
    unsafe { give(out, uuid) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(out: *mut [u8; 16], device: c_int) -> Status {
    // SAFETY: as above.
    unsafe { cuDeviceGetUuid(out, device) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem(out: *mut usize, _device: c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, settings().total as usize) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(out: *mut usize, device: c_int) -> Status {
    // SAFETY: as above.
    unsafe { cuDeviceTotalMem(out, device) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(out: *mut c_int, which: c_int, device: c_int) -> Status {
    // SAFETY: as above.
    unsafe { properties::cudaDeviceGetAttribute(out, which, device) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, _device: c_int) -> Status {
    // SAFETY: places for two numbers.
    unsafe {
        give(major, settings().major);
        give(minor, settings().minor);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(out: *mut c_int, from: c_int, to: c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { runtime::cudaDeviceCanAccessPeer(out, from, to) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Status {
    // SAFETY: places for two numbers.
    unsafe { crate::streams::cudaDeviceGetStreamPriorityRange(least, greatest) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetLimit(out: *mut usize, which: c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { runtime::cudaDeviceGetLimit(out, which) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(status: Status, out: *mut *const c_char) -> Status {
    // SAFETY: a place for the text.
    unsafe { give(out, runtime::described(status).1.as_ptr()) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(status: Status, out: *mut *const c_char) -> Status {
    // SAFETY: a place for the text.
    unsafe { give(out, runtime::described(status).0.as_ptr()) };
    SUCCESS
}

// Memory.

fn given(out: *mut u64, result: Result<u64, Status>) -> Status {
    match result {
        Ok(value) => {
            // SAFETY: the place for the address or handle, by the contract of the functions below.
            unsafe { give(out, value) };
            SUCCESS
        }
        Err(status) => status,
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAllocationGranularity(
    out: *mut usize,
    _properties: *const c_void,
    _option: c_int,
) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, PAGE as usize) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressReserve(
    out: *mut u64,
    size: usize,
    _alignment: usize,
    _hint: u64,
    _flags: u64,
) -> Status {
    given(out, memory::with(|memory| memory.reserve(memory::current(), size as u64)))
}
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressFree(address: u64, _size: usize) -> Status {
    memory::with(|memory| memory.unreserve(address))
}
/// `CUmemAllocationProp` begins with the kind of allocation and of handle, then the kind of place and its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemCreate(out: *mut u64, size: usize, properties: *const c_int, _flags: u64) -> Status {
    if properties.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the properties are longer than four `int`s.
    let device = unsafe { properties.add(3).read_unaligned() };
    given(out, memory::with(|memory| memory.create(device.max(0) as usize, size as u64)))
}
#[unsafe(no_mangle)]
pub extern "C" fn cuMemRelease(handle: u64) -> Status {
    memory::with(|memory| memory.release_handle(handle))
}
#[unsafe(no_mangle)]
pub extern "C" fn cuMemMap(address: u64, size: usize, _offset: usize, handle: u64, _flags: u64) -> Status {
    memory::with(|memory| memory.map(address, size as u64, handle))
}
#[unsafe(no_mangle)]
pub extern "C" fn cuMemUnmap(address: u64, size: usize) -> Status {
    memory::with(|memory| memory.unmap(address, size as u64))
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRetainAllocationHandle(out: *mut u64, address: u64) -> Status {
    given(out, memory::with(|memory| memory.retain(address)))
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange(start: *mut u64, size: *mut usize, address: u64) -> Status {
    let Some((first, length)) = memory::with(|memory| memory.block(address)) else { return INVALID_VALUE };
    // SAFETY: places for the two, or null.
    unsafe {
        give(start, first);
        give(size, length as usize);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange_v2(start: *mut u64, size: *mut usize, address: u64) -> Status {
    // SAFETY: as above.
    unsafe { cuMemGetAddressRange(start, size, address) }
}
macro_rules! same_as_runtime {
    ($($name:ident($($argument:ident: $type:ty),*) = $runtime:path;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> Status {
            #[allow(unused_unsafe, reason = "some of the functions are safe to call")]
            // SAFETY: the driver's function has the same arguments as the runtime's.
            unsafe { $runtime($($argument),*) }
        }
    )*};
}
same_as_runtime! {
    cuMemAlloc(out: *mut *mut c_void, size: usize) = runtime::cudaMalloc;
    cuMemAlloc_v2(out: *mut *mut c_void, size: usize) = runtime::cudaMalloc;
    cuMemAllocAsync(out: *mut *mut c_void, size: usize, stream: *mut c_void) = runtime::cudaMallocAsync;
    cuMemAllocManaged(out: *mut *mut c_void, size: usize, flags: c_uint) = runtime::cudaMallocManaged;
    cuMemFree(address: *mut c_void) = runtime::cudaFree;
    cuMemFree_v2(address: *mut c_void) = runtime::cudaFree;
    cuMemFreeAsync(address: *mut c_void, stream: *mut c_void) = runtime::cudaFreeAsync;
    cuMemAllocHost(out: *mut *mut c_void, size: usize) = runtime::cudaMallocHost;
    cuMemAllocHost_v2(out: *mut *mut c_void, size: usize) = runtime::cudaMallocHost;
    cuMemHostAlloc(out: *mut *mut c_void, size: usize, flags: c_uint) = runtime::cudaHostAlloc;
    cuMemFreeHost(address: *mut c_void) = runtime::cudaFreeHost;
    cuMemHostRegister(address: *mut c_void, size: usize, flags: c_uint) = runtime::cudaHostRegister;
    cuMemHostRegister_v2(address: *mut c_void, size: usize, flags: c_uint) = runtime::cudaHostRegister;
    cuMemHostUnregister(address: *mut c_void) = runtime::cudaHostUnregister;
    cuMemHostGetDevicePointer(out: *mut *mut c_void, host: *mut c_void, flags: c_uint) =
        runtime::cudaHostGetDevicePointer;
    cuMemHostGetDevicePointer_v2(out: *mut *mut c_void, host: *mut c_void, flags: c_uint) =
        runtime::cudaHostGetDevicePointer;
    cuMemGetInfo(free: *mut usize, total: *mut usize) = runtime::cudaMemGetInfo;
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) = runtime::cudaMemGetInfo;
    cuMemcpy(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyHtoD(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyHtoD_v2(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyHtoDAsync(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyHtoDAsync_v2(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoH(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoH_v2(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoHAsync(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoD(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoD_v2(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoDAsync(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyDtoDAsync_v2(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuMemcpyAsync(to: *mut c_void, from: *const c_void, length: usize) = runtime::copy;
    cuStreamGetPriority(stream: *mut c_void, out: *mut c_int) = crate::streams::cudaStreamGetPriority;
    cuStreamIsCapturing(stream: *mut c_void, out: *mut c_int) = crate::streams::cudaStreamIsCapturing;
}
macro_rules! fills {
    ($($name:ident $width:expr, $value:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(to: *mut c_void, value: $value, count: usize) -> Status {
            // SAFETY: `count` elements of that width at the caller's address.
            unsafe { runtime::fill(to, u32::from(value), $width, count.saturating_mul($width)) }
        }
    )*};
}
fills! {
    cuMemsetD8 1, u8; cuMemsetD8_v2 1, u8; cuMemsetD8Async 1, u8;
    cuMemsetD16 2, u16; cuMemsetD16_v2 2, u16; cuMemsetD16Async 2, u16;
    cuMemsetD32 4, u32; cuMemsetD32_v2 4, u32; cuMemsetD32Async 4, u32;
}
/// Attributes of a pointer: 1 context, 2 kind of memory, 3 on the device, 4 on the host, 8 managed, 9 device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttribute(out: *mut c_void, which: c_int, pointer: u64) -> Status {
    let device = device_of(pointer);
    let host = if device.is_none() { memory::with(|memory| memory.host_block(pointer)) } else { None };
    if device.is_none() && host.is_none() {
        return INVALID_VALUE;
    }
    // SAFETY: the place for the attribute, of the width that it has.
    unsafe {
        match which {
            1 => give(out.cast::<usize>(), CONTEXT),
            2 => give(out.cast::<c_uint>(), if device.is_some() { 2 } else { 1 }),
            3 | 4 => give(out.cast::<u64>(), pointer),
            8 => give(out.cast::<c_uint>(), c_uint::from(host.is_some_and(|(_, block)| block.managed))),
            9 => give(out.cast::<c_int>(), device.unwrap_or(0) as c_int),
            7 => give(out.cast::<u64>(), memory::with(|memory| memory.block(pointer)).map_or(pointer, |(at, _)| at)),
            _ => give(out.cast::<c_uint>(), 0),
        }
    }
    SUCCESS
}

// Modules and functions.

/// Attributes of a kernel: 0 threads per block, 4 registers, 5 and 6 versions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(out: *mut c_int, which: c_int, _function: *mut c_void) -> Status {
    let value = match which {
        0 => 1024,
        4 => 32,
        5 | 6 => properties::binary_version(),
        _ => 0,
    };
    // SAFETY: a place for a number.
    unsafe { give(out, value) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal(
    address: *mut u64,
    size: *mut usize,
    _module: *mut c_void,
    _name: *const c_char,
) -> Status {
    // SAFETY: places for address and size, or null.
    unsafe {
        give(address, memory::module_address());
        give(size, 8);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut u64,
    size: *mut usize,
    module: *mut c_void,
    name: *const c_char,
) -> Status {
    // SAFETY: as above.
    unsafe { cuModuleGetGlobal(address, size, module, name) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(
    _options: c_uint,
    _names: *mut c_int,
    _values: *mut *mut c_void,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: the last argument is where the handle goes.
    unsafe { give(out, crate::abi::new_handle()) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(_link: *mut c_void, out: *mut *const u8, size: *mut usize) -> Status {
    static BINARY: [u8; 16] = [0; 16];
    // SAFETY: places for the binary and its length.
    unsafe {
        give(out, BINARY.as_ptr());
        give(size, BINARY.len());
    }
    SUCCESS
}

// Entry points by name.

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dladdr(address: *const c_void, out: *mut Located) -> c_int;
}
/// `Dl_info`.
#[repr(C)]
struct Located {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

/// This object, whatever scope it was loaded into.
fn own_handle() -> *mut c_void {
    const LAZY_AND_LOADED: c_int = 1 | 4;
    let mut located = Located {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: an address of this object and a place for what is found; the name it gives is the loader's own.
    unsafe {
        if dladdr(own_handle as *const c_void, &raw mut located) == 0 || located.file.is_null() {
            return std::ptr::null_mut();
        }
        dlopen(located.file, LAZY_AND_LOADED)
    }
}

/// What an entry point that is not simulated does: it refuses.
extern "C" fn refused() -> Status {
    NOT_SUPPORTED
}

/// Finds a function of the driver. Its newest revision is meant by its plain name. One that is not simulated is
/// answered with a function that refuses, and its name is noted.
///
/// # Safety
/// `name` is a C string; `out` and `status` are places for an address and a number, or null.
pub unsafe fn entry_point(name: *const c_char, out: *mut *mut c_void, status: *mut c_int) -> Status {
    // SAFETY: as promised.
    let name = unsafe { text(name) };
    let own = own_handle();
    let found = ["_v2", ""].iter().find_map(|revision| {
        let symbol = CString::new(format!("{name}{revision}")).ok()?;
        // SAFETY: a handle of the loader's and a C string.
        let address = if own.is_null() { std::ptr::null_mut() } else { unsafe { dlsym(own, symbol.as_ptr()) } };
        (!address.is_null()).then_some(address)
    });
    let known = name.starts_with("cu") && !name.is_empty();
    let address = found.unwrap_or_else(|| {
        memory::with(|_| {
            report::open();
            report::note_name(name);
        });
        if known { refused as *mut c_void } else { std::ptr::null_mut() }
    });
    // SAFETY: as promised.
    unsafe {
        give(out, address);
        give(status, c_int::from(address.is_null()));
    }
    if address.is_null() { SYMBOL_NOT_FOUND } else { SUCCESS }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(
    name: *const c_char,
    out: *mut *mut c_void,
    _version: c_int,
    _flags: u64,
) -> Status {
    // SAFETY: the caller's name and place.
    unsafe { entry_point(name, out, std::ptr::null_mut()) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    out: *mut *mut c_void,
    _version: c_int,
    _flags: u64,
    status: *mut c_int,
) -> Status {
    // SAFETY: as above.
    unsafe { entry_point(name, out, status) }
}
