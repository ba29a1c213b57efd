//! The CUDA driver API as far as the probe needs it: an own table of functions, wrapped so that the rest is safe code.
//!
//! cudarc finds the library and lends the types. Its own calls are not used: they panic where a driver lacks a symbol,
//! and an error code that its `CUresult` does not know is undefined behaviour. Here every function may be absent and
//! every code is an integer.
//!
//! The wrappers hold what they took and give it back when dropped; nothing outlives its context.

#![allow(unsafe_code, reason = "calls into the driver")]

use super::Failure;
use cudarc::driver::sys;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

type Handle = u64;
type Address = u64;
type Opaque = *mut c_void;

macro_rules! functions {
    ($($field:ident = $symbol:literal ($($argument:ty),* $(,)?);)*) => {
        /// The functions of the library that was loaded; `None` where it lacks one.
        struct Functions {
            $($field: Option<unsafe extern "C" fn($($argument),*) -> c_int>,)*
        }

        impl Functions {
            fn find() -> Functions {
                // SAFETY: the caller has made sure that the library is present, so `culib` does not panic; it stays
                // loaded for the life of the process. The signatures are those of cuda.h for these very symbols.
                unsafe {
                    let library = sys::culib();
                    Functions {
                        $($field: library
                            .get::<unsafe extern "C" fn($($argument),*) -> c_int>(concat!($symbol, "\0").as_bytes())
                            .ok()
                            .map(|symbol| *symbol),)*
                    }
                }
            }
        }

        /// The symbol behind each field, for messages.
        mod symbol {
            #![allow(non_upper_case_globals, reason = "named as the fields they belong to")]
            $(pub const $field: &str = $symbol;)*
        }
    };
}

functions! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device_get = "cuDeviceGet"(*mut c_int, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    device_uuid_v2 = "cuDeviceGetUuid_v2"(*mut [u8; 16], c_int);
    device_uuid = "cuDeviceGetUuid"(*mut [u8; 16], c_int);
    device_total = "cuDeviceTotalMem_v2"(*mut usize, c_int);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
    context_retain = "cuDevicePrimaryCtxRetain"(*mut Opaque, c_int);
    context_release = "cuDevicePrimaryCtxRelease_v2"(c_int);
    context_current = "cuCtxSetCurrent"(Opaque);
    synchronize = "cuCtxSynchronize"();
    memory_info = "cuMemGetInfo_v2"(*mut usize, *mut usize);
    alloc = "cuMemAlloc_v2"(*mut Address, usize);
    free = "cuMemFree_v2"(Address);
    alloc_async = "cuMemAllocAsync"(*mut Address, usize, Opaque);
    free_async = "cuMemFreeAsync"(Address, Opaque);
    copy_to_host = "cuMemcpyDtoH_v2"(*mut c_void, Address, usize);
    copy_to_device = "cuMemcpyHtoD_v2"(Address, *const c_void, usize);
    module_load = "cuModuleLoadData"(*mut Opaque, *const c_void);
    module_unload = "cuModuleUnload"(Opaque);
    module_function = "cuModuleGetFunction"(*mut Opaque, Opaque, *const c_char);
    launch = "cuLaunchKernel"(
        Opaque, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Opaque, *mut *mut c_void, *mut *mut c_void,
    );
    event_create = "cuEventCreate"(*mut Opaque, c_uint);
    event_record = "cuEventRecord"(Opaque, Opaque);
    event_synchronize = "cuEventSynchronize"(Opaque);
    event_elapsed = "cuEventElapsedTime"(*mut f32, Opaque, Opaque);
    event_destroy = "cuEventDestroy_v2"(Opaque);
    granularity = "cuMemGetAllocationGranularity"(*mut usize, *const sys::CUmemAllocationProp, c_int);
    create = "cuMemCreate"(*mut Handle, usize, *const sys::CUmemAllocationProp, u64);
    release = "cuMemRelease"(Handle);
    reserve = "cuMemAddressReserve"(*mut Address, usize, usize, Address, u64);
    unreserve = "cuMemAddressFree"(Address, usize);
    map = "cuMemMap"(Address, usize, usize, Handle, u64);
    unmap = "cuMemUnmap"(Address, usize);
    set_access = "cuMemSetAccess"(Address, usize, *const sys::CUmemAccessDesc, usize);
}

/// Calls a function of the table: an absent one and every code but 0 are failures that name the symbol.
macro_rules! call {
    ($driver:expr, $field:ident($($argument:expr),* $(,)?)) => {
        match $driver.functions.$field {
            None => Err(Failure::MissingSymbol { call: symbol::$field.to_string() }),
            // SAFETY: the signature is that of cuda.h; pointers passed point to live locals or slices of the stated
            // length, device addresses and handles come from the driver and are still held by their wrapper.
            Some(function) => match unsafe { function($($argument),*) } {
                0 => Ok(()),
                code => Err(Failure::code(symbol::$field, code)),
            },
        }
    };
}

/// Attributes of a device (`CUdevice_attribute`, cuda.h). Asked for by number, so that an old driver can only refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Attribute {
    Multiprocessors = 16,
    Integrated = 18,
    /// Peak memory clock in kHz; 0 on unified parts.
    MemoryClock = 36,
    /// Width of the memory bus in bits; 0 on unified parts.
    BusWidth = 37,
    L2Bytes = 38,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
    /// Pageable memory through the host's page tables: the GPU's memory is part of the machine's (GH200, GB200).
    HostPageTables = 100,
    /// `cuMemCreate` and its kin.
    VirtualMemory = 102,
    MemoryPools = 115,
}

/// The loaded and initialised library.
pub struct Driver {
    functions: Functions,
}

impl Driver {
    /// Loads the library and initialises it.
    ///
    /// # Errors
    /// [`Failure::NoLibrary`], [`Failure::StubLibrary`], or the code of `cuInit`.
    pub fn load() -> Result<Driver, Failure> {
        // SAFETY: loading a library runs its initialisers; this is the process that exists to bear that.
        if !unsafe { sys::is_culib_present() } {
            return Err(Failure::NoLibrary);
        }
        let driver = Driver { functions: Functions::find() };
        match call!(driver, init(0)) {
            Ok(()) => Ok(driver),
            Err(Failure::Code { code: 34, .. }) => Err(Failure::StubLibrary),
            Err(failure) => Err(failure),
        }
    }

    /// The CUDA version that the driver serves, as 1000 × major + 10 × minor.
    pub fn version(&self) -> Result<i32, Failure> {
        let mut version = 0;
        call!(self, driver_version(&mut version))?;
        Ok(version)
    }

    pub fn device_count(&self) -> Result<u32, Failure> {
        let mut count = 0;
        call!(self, device_count(&mut count))?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// The device with this number in CUDA's own order.
    pub fn device(&self, ordinal: u32) -> Result<CudaDevice<'_>, Failure> {
        let mut handle = 0;
        call!(self, device_get(&mut handle, ordinal as c_int))?;
        Ok(CudaDevice { driver: self, handle })
    }
}

/// A device, before any context.
#[derive(Clone, Copy)]
pub struct CudaDevice<'d> {
    driver: &'d Driver,
    handle: c_int,
}

impl<'d> CudaDevice<'d> {
    pub fn name(&self) -> Result<String, Failure> {
        let mut name: [c_char; 256] = [0; 256];
        call!(self.driver, device_name(name.as_mut_ptr(), 255, self.handle))?;
        // SAFETY: the last byte was never handed to the driver and is 0.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// As NVML and nvidia-smi write it: `GPU-` and 8-4-4-4-12 digits. Of a MIG device it is the instance's, whose
    /// prefix there is `MIG-`, so compare without prefix.
    pub fn uuid(&self) -> Result<String, Failure> {
        let mut bytes = [0; 16];
        // Only where the second version is absent: of a MIG instance the first one tells the whole GPU's.
        call!(self.driver, device_uuid_v2(&mut bytes, self.handle)).or_else(|failure| match failure {
            Failure::MissingSymbol { .. } => call!(self.driver, device_uuid(&mut bytes, self.handle)),
            other => Err(other),
        })?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("GPU-{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]))
    }

    pub fn total(&self) -> Result<u64, Failure> {
        let mut bytes = 0;
        call!(self.driver, device_total(&mut bytes, self.handle))?;
        Ok(bytes as u64)
    }

    pub fn attribute(&self, attribute: Attribute) -> Result<i32, Failure> {
        let mut value = 0;
        call!(self.driver, device_attribute(&mut value, attribute as c_int, self.handle))?;
        Ok(value)
    }

    /// Creates the primary context, or joins it, and makes it current on this thread.
    pub fn context(&self) -> Result<Context<'d>, Failure> {
        let mut raw = ptr::null_mut();
        call!(self.driver, context_retain(&mut raw, self.handle))?;
        let context = Context { driver: self.driver, device: self.handle };
        call!(self.driver, context_current(raw))?;
        Ok(context)
    }
}

/// A context, current on the thread that made it.
pub struct Context<'d> {
    driver: &'d Driver,
    device: c_int,
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        let _ = call!(self.driver, context_release(self.device));
    }
}

/// Free and total memory as the driver tells this context, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    pub free: u64,
    pub total: u64,
}

impl MemoryInfo {
    /// By anybody, this process included.
    pub fn used(&self) -> u64 {
        self.total.saturating_sub(self.free)
    }
}

impl<'d> Context<'d> {
    pub fn memory(&self) -> Result<MemoryInfo, Failure> {
        let (mut free, mut total) = (0usize, 0usize);
        call!(self.driver, memory_info(&mut free, &mut total))?;
        if free > total || total == 0 {
            return Err(Failure::Implausible { what: format!("cuMemGetInfo: {free} free of {total}") });
        }
        Ok(MemoryInfo { free: free as u64, total: total as u64 })
    }

    pub fn synchronize(&self) -> Result<(), Failure> {
        call!(self.driver, synchronize())
    }

    /// `cuMemAlloc`. Nothing is touched.
    pub fn alloc(&self, bytes: u64) -> Result<Allocation<'_>, Failure> {
        let mut address = 0;
        call!(self.driver, alloc(&mut address, bytes as usize))?;
        Ok(Allocation { context: self, address, bytes })
    }

    /// `cuMemAllocAsync` on the default stream, given back with `cuMemFreeAsync`: from the device's pool.
    pub fn alloc_from_pool(&self, bytes: u64) -> Result<PoolAllocation<'_>, Failure> {
        let mut address = 0;
        call!(self.driver, alloc_async(&mut address, bytes as usize, ptr::null_mut()))?;
        Ok(PoolAllocation { context: self, address })
    }

    fn properties(&self) -> sys::CUmemAllocationProp {
        sys::CUmemAllocationProp {
            type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: sys::CUmemAllocationHandleType(0),
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.device,
            },
            win32HandleMetaData: ptr::null_mut(),
            allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
                compressionType: 0,
                gpuDirectRDMACapable: 0,
                usage: 0,
                reserved: [0; 4],
            },
        }
    }

    /// The smallest unit in which device memory can be created and mapped; 2 MiB on the boards known.
    pub fn granularity(&self) -> Result<u64, Failure> {
        let mut bytes = 0;
        call!(self.driver, granularity(&mut bytes, &self.properties(), 0))?;
        if !bytes.is_power_of_two() {
            return Err(Failure::Implausible { what: format!("granularity of {bytes} bytes") });
        }
        Ok(bytes as u64)
    }

    /// Physical memory without an address. `bytes` must be a multiple of the granularity.
    pub fn create(&self, bytes: u64) -> Result<Physical<'_>, Failure> {
        let mut handle = 0;
        call!(self.driver, create(&mut handle, bytes as usize, &self.properties(), 0))?;
        Ok(Physical { context: self, handle, bytes })
    }

    /// A range of addresses with nothing behind it.
    pub fn reserve(&self, bytes: u64) -> Result<Range<'_>, Failure> {
        let mut address = 0;
        call!(self.driver, reserve(&mut address, bytes as usize, 0, 0, 0))?;
        Ok(Range { context: self, address, bytes, mapped: Vec::new() })
    }

    /// Compiles PTX for the device.
    pub fn load(&self, ptx: &str) -> Result<Module<'_>, Failure> {
        let text = CString::new(ptx).map_err(|_| Failure::Implausible { what: "PTX with a zero byte".into() })?;
        let mut raw = ptr::null_mut();
        call!(self.driver, module_load(&mut raw, text.as_ptr().cast()))?;
        Ok(Module { context: self, raw })
    }

    /// A mark in the default stream.
    pub fn event(&self) -> Result<CudaEvent<'_>, Failure> {
        let mut raw = ptr::null_mut();
        call!(self.driver, event_create(&mut raw, 0))?;
        Ok(CudaEvent { context: self, raw })
    }
}

/// Device memory that kernels and copies may use.
pub trait Memory {
    fn address(&self) -> u64;
    fn bytes(&self) -> u64;
}

/// Memory of `cuMemAlloc`.
pub struct Allocation<'c> {
    context: &'c Context<'c>,
    address: Address,
    bytes: u64,
}

impl Memory for Allocation<'_> {
    fn address(&self) -> u64 {
        self.address
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Allocation<'_> {
    /// Copies the beginning into `words`.
    pub fn read(&self, words: &mut [u64]) -> Result<(), Failure> {
        let bytes = size_of_val(words).min(self.bytes as usize);
        call!(self.context.driver, copy_to_host(words.as_mut_ptr().cast(), self.address, bytes))
    }

    /// Copies `words` to the beginning.
    pub fn write(&self, words: &[u64]) -> Result<(), Failure> {
        let bytes = size_of_val(words).min(self.bytes as usize);
        call!(self.context.driver, copy_to_device(self.address, words.as_ptr().cast(), bytes))
    }

    /// Gives it back, and says whether that worked.
    pub fn free(self) -> Result<(), Failure> {
        let outcome = call!(self.context.driver, free(self.address));
        std::mem::forget(self);
        outcome
    }
}

impl Drop for Allocation<'_> {
    fn drop(&mut self) {
        let _ = call!(self.context.driver, free(self.address));
    }
}

/// Memory of `cuMemAllocAsync`.
pub struct PoolAllocation<'c> {
    context: &'c Context<'c>,
    address: Address,
}

impl PoolAllocation<'_> {
    pub fn free(self) -> Result<(), Failure> {
        let outcome = call!(self.context.driver, free_async(self.address, ptr::null_mut()));
        std::mem::forget(self);
        outcome
    }
}

impl Drop for PoolAllocation<'_> {
    fn drop(&mut self) {
        let _ = call!(self.context.driver, free_async(self.address, ptr::null_mut()));
    }
}

/// Physical memory.
pub struct Physical<'c> {
    context: &'c Context<'c>,
    handle: Handle,
    bytes: u64,
}

impl Physical<'_> {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Physical<'_> {
    fn drop(&mut self) {
        let _ = call!(self.context.driver, release(self.handle));
    }
}

/// Addresses, and the physical memory mapped there.
pub struct Range<'c> {
    context: &'c Context<'c>,
    address: Address,
    bytes: u64,
    mapped: Vec<(u64, Physical<'c>)>,
}

impl Memory for Range<'_> {
    fn address(&self) -> u64 {
        self.address
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A part of a [`Range`].
pub struct Part {
    address: Address,
    bytes: u64,
}

impl Memory for Part {
    fn address(&self) -> u64 {
        self.address
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<'c> Range<'c> {
    /// The part at `offset`, cut to what the range has.
    pub fn part(&self, offset: u64, bytes: u64) -> Part {
        let offset = offset.min(self.bytes);
        Part { address: self.address.wrapping_add(offset), bytes: bytes.min(self.bytes - offset) }
    }

    /// Maps `physical` at `offset`. What cannot be mapped is released.
    pub fn map(&mut self, offset: u64, physical: Physical<'c>) -> Result<(), Failure> {
        let end = offset.checked_add(physical.bytes);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(Failure::Implausible { what: format!("mapping at {offset} of {}", self.bytes) });
        }
        call!(
            self.context.driver,
            map(self.address.wrapping_add(offset), physical.bytes as usize, 0, physical.handle, 0)
        )?;
        self.mapped.push((offset, physical));
        Ok(())
    }

    /// Lets the device read and write all of the range; every part must be mapped.
    pub fn allow_access(&self) -> Result<(), Failure> {
        let access = sys::CUmemAccessDesc {
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.context.device,
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        call!(self.context.driver, set_access(self.address, self.bytes as usize, &access, 1))
    }

    /// Unmaps every piece that lies wholly inside one of `spans` (offset and end, ascending, apart) and hands out its
    /// physical memory.
    pub fn recover(&mut self, spans: &[(u64, u64)]) -> Result<Vec<Physical<'c>>, Failure> {
        let mut recovered = Vec::new();
        let mut kept = Vec::with_capacity(self.mapped.len());
        let mut outcome = Ok(());
        for (offset, physical) in std::mem::take(&mut self.mapped) {
            let at = spans.partition_point(|(_, end)| *end <= offset);
            let inside = spans
                .get(at)
                .is_some_and(|(start, end)| *start <= offset && offset.saturating_add(physical.bytes) <= *end);
            if inside && outcome.is_ok() {
                let address = self.address.wrapping_add(offset);
                match call!(self.context.driver, unmap(address, physical.bytes as usize)) {
                    Ok(()) => recovered.push(physical),
                    Err(failure) => {
                        outcome = Err(failure);
                        kept.push((offset, physical));
                    }
                }
            } else {
                kept.push((offset, physical));
            }
        }
        self.mapped = kept;
        outcome.map(|()| recovered)
    }
}

impl Drop for Range<'_> {
    fn drop(&mut self) {
        for (offset, physical) in std::mem::take(&mut self.mapped) {
            let address = self.address.wrapping_add(offset);
            let _ = call!(self.context.driver, unmap(address, physical.bytes as usize));
        }
        let _ = call!(self.context.driver, unreserve(self.address, self.bytes as usize));
    }
}

/// Compiled kernels.
pub struct Module<'c> {
    context: &'c Context<'c>,
    raw: Opaque,
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        let _ = call!(self.context.driver, module_unload(self.raw));
    }
}

impl Module<'_> {
    pub fn kernel(&self, name: &CStr) -> Result<Kernel<'_>, Failure> {
        let mut raw = ptr::null_mut();
        call!(self.context.driver, module_function(&mut raw, self.raw, name.as_ptr()))?;
        Ok(Kernel { context: self.context, raw })
    }
}

/// A kernel all of whose parameters are 64 bits wide.
pub struct Kernel<'c> {
    context: &'c Context<'c>,
    raw: Opaque,
}

impl Kernel<'_> {
    /// Starts it on `blocks` blocks of 256 threads in the default stream.
    ///
    /// # Safety
    /// The arguments must be those that the kernel takes, with addresses of live device memory as long as it will
    /// touch.
    pub unsafe fn launch<const N: usize>(&self, blocks: u32, mut arguments: [u64; N]) -> Result<(), Failure> {
        let mut pointers = arguments.each_mut().map(|argument| ptr::from_mut(argument).cast::<c_void>());
        call!(
            self.context.driver,
            launch(self.raw, blocks, 1, 1, 256, 1, 1, 0, ptr::null_mut(), pointers.as_mut_ptr(), ptr::null_mut())
        )
    }
}

/// A mark in the stream.
pub struct CudaEvent<'c> {
    context: &'c Context<'c>,
    raw: Opaque,
}

impl Drop for CudaEvent<'_> {
    fn drop(&mut self) {
        let _ = call!(self.context.driver, event_destroy(self.raw));
    }
}

impl CudaEvent<'_> {
    pub fn record(&self) -> Result<(), Failure> {
        call!(self.context.driver, event_record(self.raw, ptr::null_mut()))
    }

    /// Waits for it and returns the seconds since `earlier`.
    pub fn seconds_since(&self, earlier: &CudaEvent<'_>) -> Result<f64, Failure> {
        call!(self.context.driver, event_synchronize(self.raw))?;
        let mut milliseconds = 0f32;
        call!(self.context.driver, event_elapsed(&mut milliseconds, earlier.raw, self.raw))?;
        Ok(f64::from(milliseconds) / 1000.0)
    }
}
